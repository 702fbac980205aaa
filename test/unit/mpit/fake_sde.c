/* SPDX-License-Identifier: BSD-3-Clause */
/* PAPI's interface for software-defined events, as far as a library uses it: remembers what was
   registered, and reads it from the addresses as PAPI does. */
#include <stdio.h>
#include <string.h>

#define MAX 1000

static struct {
    char name[64], text[256];
    int mode, type;
    const void *word;
    long long (*fn)(void *context);
    void *context;
} counters[MAX];
static int n_counters;
static char library[64];

#pragma GCC visibility push(default)
void *papi_sde_init(const char *name);
int papi_sde_register_counter(void *handle, const char *name, int mode, int type, void *word);
int papi_sde_register_counter_cb(void *handle, const char *name, int mode, int type,
                                 long long (*fn)(void *context), void *context);
int papi_sde_describe_counter(void *handle, const char *name, const char *text);
/* For the test: the present number, and its mode; -1: there is none of that name. */
int fake_sde_read(const char *name, int *out_mode, long long *out_value);
int fake_sde_count(const char **out_library);
#pragma GCC visibility pop

void *papi_sde_init(const char *name)
{
    snprintf(library, sizeof(library), "%s", name);
    return library;
}

int papi_sde_register_counter(void *handle, const char *name, int mode, int type, void *word)
{
    if (handle != library || n_counters == MAX) {
        return -1;
    }
    snprintf(counters[n_counters].name, sizeof(counters[0].name), "%s", name);
    counters[n_counters].mode = mode;
    counters[n_counters].type = type;
    counters[n_counters++].word = word;
    return 0;
}

int papi_sde_register_counter_cb(void *handle, const char *name, int mode, int type,
                                 long long (*fn)(void *context), void *context)
{
    if (papi_sde_register_counter(handle, name, mode, type, NULL) != 0) {
        return -1;
    }
    counters[n_counters - 1].fn = fn;
    counters[n_counters - 1].context = context;
    return 0;
}

int papi_sde_describe_counter(void *handle, const char *name, const char *text)
{
    for (int k = 0; handle == library && k < n_counters; k++) {
        if (strcmp(counters[k].name, name) == 0) {
            snprintf(counters[k].text, sizeof(counters[k].text), "%s", text);
            return 0;
        }
    }
    return -1;
}

int fake_sde_read(const char *name, int *out_mode, long long *out_value)
{
    double real;

    for (int k = 0; k < n_counters; k++) {
        if (strcmp(counters[k].name, name) != 0 || !counters[k].text[0]) {
            continue;
        }
        *out_mode = counters[k].mode;
        if (counters[k].fn) {
            *out_value = counters[k].fn(counters[k].context);
        } else {
            memcpy(out_value, counters[k].word, sizeof(*out_value));
        }
        if (counters[k].type == 2) { /* double */
            memcpy(&real, out_value, sizeof(real));
            *out_value = (long long)real;
        }
        return 0;
    }
    return -1;
}

int fake_sde_count(const char **out_library)
{
    *out_library = library;
    return n_counters;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Software-defined events of PAPI: where its library (libsde) is in the process, or is asked for,
 * the numbers of the process are registered with it: by their addresses, which PAPI reads when its
 * user asks, or by a function where they are sums or shares, or counted on demand. That costs
 * nothing else.
 *
 * Registered are scalars that are bound to nothing: of a level its value, of a high watermark the
 * highest since the process began. Names are those of the variables.
 */
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "mpit/mpit_live.h"

/* Of sde_lib.h, which need not be installed. */
enum { SDE_DELTA = 0x00, SDE_INSTANT = 0x10 }; /* of a counter that is only read */
enum { SDE_LONG_LONG = 0, SDE_DOUBLE = 2 };

struct sde {
    void *(*init)(const char *library);
    int (*add)(void *handle, const char *name, int mode, int type, void *word);
    int (*add_function)(void *handle, const char *name, int mode, int type,
                        long long (*fn)(void *context), void *context);
    int (*describe)(void *handle, const char *name, const char *text);
};

/* Once found it stays, as what is registered does: the page lives as long as the process. Guarded
   by the registry's lock. */
static struct sde sde;

static void find(void *so, const char *name, void *out_fn)
{
    *(void **)out_fn = dlsym(so, name);
}

/* Its functions, of the process or of a library. */
static bool look_up(void *so)
{
    find(so, "papi_sde_init", &sde.init);
    find(so, "papi_sde_register_counter", &sde.add);
    find(so, "papi_sde_describe_counter", &sde.describe);
    find(so, "papi_sde_register_counter_cb", &sde.add_function);
    if (!sde.add_function) { /* as it was called in PAPI 6 */
        find(so, "papi_sde_register_fp_counter", &sde.add_function);
    }
    return sde.init && sde.add && sde.add_function && sde.describe;
}

/* The library stays loaded: PAPI may read at any time. */
static bool load(const char *name)
{
    static const char *const names[] = {"libsde.so.1.0", "libsde.so.1", "libsde.so"};
    void *so = name[0] ? dlopen(name, RTLD_NOW | RTLD_GLOBAL) : NULL;
    char text[512];

    for (int k = 0; !name[0] && !so && k < 3; k++) {
        so = dlopen(names[k], RTLD_NOW | RTLD_GLOBAL);
    }
    if (so && look_up(so)) {
        return true;
    }
    snprintf(text, sizeof(text),
             "mpit_papi is load, but %s of PAPI's library for software-defined events (%s)",
             so ? "functions are missing" : "there is no file", name[0] ? name : names[0]);
    fm_t_warn("%s", text);
    return false;
}

static bool is_instant(enum fathom_class klass)
{
    return klass != FATHOM_COUNTER && klass != FATHOM_AGGREGATE && klass != FATHOM_TIMER;
}

/* Names need to be unique over all classes. */
static void name_of(const struct fm_t_pvar *v, char *out, size_t len)
{
    bool is_taken = false;

    for (const struct fm_t_pvar *w = fm_t_root.pvars; w < fm_t_root.pvars + fm_t_root.n_pvars;
         w++) {
        is_taken |= w != v && strcmp(w->row->name, v->row->name) == 0;
    }
    snprintf(out, len, "%s%s", v->row->name,
             is_taken && v->klass == FATHOM_HIGHWATERMARK ? "_high" : "");
}

static long long look(void *context)
{
    return (long long)fm_t_pvar_peek(context);
}

static void add(void *handle, struct fm_t_pvar *v)
{
    char *word = v->table->block + v->word_at;
    int mode = is_instant(v->klass) ? SDE_INSTANT : SDE_DELTA;
    int type = v->type == FATHOM_DOUBLE ? SDE_DOUBLE : SDE_LONG_LONG;
    char name[FM_T_NAME_LEN + 8];
    int rc;

    if (v->bind != FATHOM_BIND_NONE || v->count != 1 || v->klass == FATHOM_LOWWATERMARK) {
        return;
    }
    if (v->klass == FATHOM_HIGHWATERMARK) {
        word += offsetof(struct fathom_level, high);
    }
    name_of(v, name, sizeof(name));
    rc = v->is_derived || v->row->on_at ? sde.add_function(handle, name, mode, type, look, v)
                                        : sde.add(handle, name, mode, type, word);
    if (rc == 0) {
        sde.describe(handle, name, v->desc ? v->desc : v->row->desc);
    }
}

void fm_t_sde_open(void)
{
    enum fm_t_sde_choice choice = (enum fm_t_sde_choice)fm_t_counters->papi;
    void *handle;

    if (choice == FM_T_SDE_OFF || !fm_t_root.host) {
        return;
    }
    if (!look_up(RTLD_DEFAULT) && (choice != FM_T_SDE_LOAD || !load(fm_t_counters->papi_library))) {
        return;
    }
    handle = sde.init(fm_t_root.host->name);
    for (int k = 0; handle && k < fm_t_root.n_pvars; k++) {
        add(handle, &fm_t_root.pvars[k]);
    }
}

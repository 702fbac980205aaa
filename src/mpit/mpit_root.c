/* SPDX-License-Identifier: BSD-3-Clause */
/* The root of the registry and what all files of the room use: locks, warnings, names of the host,
   growing arrays. */
#include "mpit/mpit_internal.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct fm_t_root fm_t_root = {
    .enums = {.slot_len = sizeof(struct fm_t_enum), .kind = FM_T_SLOT_ENUM},
};

/* Counters in private memory until those in the page exist. Guarded as fm_t_root. */
static struct fm_t_counters private_counters;
struct fm_t_counters *fm_t_counters = &private_counters;

/* Guards fm_t_root and all that hangs from it; always taken after the host's lock. */
static pthread_mutex_t mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

void fm_t_lock(void)
{
    if (fm_t_root.host && fm_t_root.host->lock) {
        fm_t_root.host->lock();
    }
    pthread_mutex_lock(&mutex);
}

void fm_t_unlock(void)
{
    pthread_mutex_unlock(&mutex);
    if (fm_t_root.host && fm_t_root.host->unlock) {
        fm_t_root.host->unlock();
    }
}

/* The host's lock is its own affair: it may be held for long, and it comes before this one. */
void fm_t_lock_before_fork(void)
{
    pthread_mutex_lock(&mutex);
}

void fm_t_lock_after_fork(bool is_child)
{
    if (is_child) { /* its thread has another id than the one that holds the lock */
        mutex = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    } else {
        pthread_mutex_unlock(&mutex);
    }
}

int fathom_mpit_host(const struct fathom_host *host)
{
    if (!host || (fm_t_root.host && fm_t_root.host != host)) {
        return -1;
    }
    fm_t_root.host = host;
    return 0;
}

const char *fm_t_host_name(void)
{
    return fm_t_root.host && fm_t_root.host->name ? fm_t_root.host->name : "fathom";
}

void fm_t_env_name(char *out, size_t len, const char *name)
{
    size_t i;

    snprintf(out, len, "%s_%s", fm_t_host_name(), name);
    for (i = 0; out[i]; i++) {
        out[i] = (char)toupper((unsigned char)out[i]);
    }
}

void fm_t_warn(const char *format, ...)
{
    char text[1024];
    va_list ap;

    if (fm_t_root.host && fm_t_root.host->is_quiet && fm_t_root.host->is_quiet()) {
        return;
    }
    va_start(ap, format);
    vsnprintf(text, sizeof(text), format, ap);
    va_end(ap);
    for (char *c = text; *c; c++) { /* a file that is none of ours must not speak to a terminal */
        *c = iscntrl((unsigned char)*c) ? '?' : *c;
    }
    if (fm_t_root.host && fm_t_root.host->warn) {
        fm_t_root.host->warn(text);
        return;
    }
    fprintf(stderr, "%s: %s\n", fm_t_host_name(), text);
}

uint64_t fathom_mpit_clock(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

void *fm_t_got(void *memory)
{
    fm_t_root.is_short = fm_t_root.is_short || !memory;
    return memory;
}

int fm_t_grow(void *array, int n, size_t elem_len)
{
    char *old, *bigger;

    memcpy(&old, array, sizeof(old));
    /* Powers of two: room is made when n reaches one. */
    if (n == 0 || (n >= 8 && (n & (n - 1)) == 0)) {
        size_t room = n == 0 ? 8 : (size_t)n * 2;

        bigger = fm_t_got(realloc(old, room * elem_len));
        if (!bigger) {
            return -1;
        }
        memcpy(array, &bigger, sizeof(bigger));
        old = bigger;
    }
    memset(old + (size_t)n * elem_len, 0, elem_len);
    return 0;
}

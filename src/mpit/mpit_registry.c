/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The root of the registry: who uses it, its locks, its warnings, its enumerations.
 *
 * When the last tool leaves, every handle ends; variables and their numbers stay until the process
 * does, so a tool may come again, before MPI_Init and after MPI_Finalize as well.
 */
#include "mpit/mpit_internal.h"

#include <ctype.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "mpit/mpit_live.h"

struct fm_t_root fm_t_root = {
    .enums = {.slot_len = sizeof(struct fm_t_enum), .kind = FM_T_SLOT_ENUM},
};

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

/* Called locked. The first user ever adds the tables; after that the set does not change. */
static int first_start(void)
{
    if (fm_t_root.is_fixed) {
        return fm_t_root.is_short ? -1 : 0;
    }
    if (!fm_t_root.is_started_once) {
        fm_t_root.is_started_once = true;
        /* The host first: it may bring the page, which must be there before any table. */
        if (fm_t_root.host && fm_t_root.host->start) {
            fm_t_root.host->start();
        }
        fm_t_self_add();
    }
    fm_t_fix();
    fm_t_root.default_queue = (unsigned)fm_t_counters->queue_len;
    if (fm_t_page_open() != 0 || fm_t_root.is_short) {
        return -1;
    }
    fm_t_sde_open();
    return 0;
}

int fathom_mpit_start(void)
{
    int rc;

    fm_t_lock();
    rc = first_start();
    if (rc == 0 && fm_t_root.page->state == FATHOM_PAGE_EMPTY) {
        fm_t_root.page->state = FATHOM_PAGE_STARTED;
    }
    fm_t_unlock();
    return rc;
}

int fm_t_tool_start(void)
{
    int rc;

    fm_t_lock();
    rc = fathom_mpit_start();
    if (rc == 0) {
        atomic_fetch_add_explicit(&fm_t_root.n_tools, 1, memory_order_release);
    }
    fm_t_unlock();
    return rc == 0 ? FM_T_OK : FM_T_CANNOT_INIT;
}

int fm_t_tool_stop(void)
{
    fm_t_lock();
    if (!fm_t_is_ready()) {
        fm_t_unlock();
        return FM_T_NOT_INITIALIZED;
    }
    if (atomic_fetch_sub_explicit(&fm_t_root.n_tools, 1, memory_order_release) == 1) {
        fm_t_event_finish();
        fm_t_pvar_finish();
        fm_t_session_finish();
        fm_t_cvar_finish();
    }
    fm_t_unlock();
    return FM_T_OK;
}

/* Called locked. */
static uint64_t enum_handle(const struct fathom_enum *from, const struct fathom_event *event)
{
    struct fm_t_enum *e;
    uint32_t i;

    for (i = 0; (e = fm_t_slots_at(&fm_t_root.enums, i)) != NULL; i++) {
        if (e->from == from && e->event == event) {
            return fm_t_slots_value(&fm_t_root.enums, e);
        }
    }
    e = fm_t_got(fm_t_slots_take(&fm_t_root.enums));
    if (!e) {
        return 0;
    }
    e->name = from ? from->name : event->name;
    e->from = from;
    e->event = event;
    fm_t_slots_publish(&fm_t_root.enums, e);
    return fm_t_slots_value(&fm_t_root.enums, e);
}

uint64_t fm_t_enum_handle(const struct fathom_enum *from)
{
    return from ? enum_handle(from, NULL) : 0;
}

uint64_t fm_t_enum_handle_of_event(const struct fathom_event *event)
{
    return event->n_data > 0 ? enum_handle(NULL, event) : 0;
}

const struct fm_t_enum *fm_t_enum_find(uint64_t handle)
{
    return fm_t_slots_find(&fm_t_root.enums, handle);
}

int fm_t_enum_count(const struct fm_t_enum *e)
{
    return e->from ? e->from->n_items : e->event->n_data;
}

void fm_t_enum_item(const struct fm_t_enum *e, int i, int *out_value, const char **out_name)
{
    *out_value = e->from ? e->from->items[i].value : i;
    *out_name = e->from ? e->from->items[i].name : e->event->data[i].name;
}

bool fm_t_enum_has(const struct fathom_enum *from, int64_t value)
{
    int i;

    for (i = 0; i < from->n_items; i++) {
        if (from->items[i].value == value) {
            return true;
        }
    }
    return false;
}

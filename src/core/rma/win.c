/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows as objects: their list, names, attached memory, and whom to wake. */
#include "core/rma/win.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/p2p/channel.h"
#include "core/p2p/credit.h"
#include "core/rma/win_vars.h"
#include "util/status.h"

/* All windows of the process, and the number of the next; guarded by the library lock. */
static struct fm_list wins = {&wins, &wins};
static uint64_t next_id = 1;

void fm_win_forget_all(void)
{
    fm_list_init(&wins);
}

/* The error handler of a new window is the initial one (MPI-5.0 9.3.2). */
struct fm_win *fm_win_new(void)
{
    struct fm_win *w = fm_object_new(FM_KIND_WIN);

    if (w) {
        w->id = next_id++;
        w->segment.fd = -1; /* 0 would be the standard input */
        fm_list_init(&w->lock_queue);
        fm_list_push(&wins, &w->link);
    }
    return w;
}

struct fm_win *fm_win_of_context(uint32_t context)
{
    fm_list_each(l, next, &wins)
    {
        struct fm_win *w = fm_container_of(l, struct fm_win, link);

        if (w->comm && w->comm->context == context) {
            return w;
        }
    }
    return NULL;
}

int fm_win_set_name(struct fm_win *w, const char *name)
{
    snprintf(w->name, sizeof(w->name), "%s", name);
    if (!w->has_own_counters) {
        fathom_mpit_object_rename(w, w->name);
    }
    return 0;
}

void fm_win_wake(struct fm_win *w, int rank)
{
    FM_STAT(fm_rma_counters->n_wakes++);
    fm_peer_wake(w->comm->ch, w->targets[rank].proc);
}

void fm_win_wake_waiting(struct fm_win *w)
{
    for (int r = 0; r < w->comm->size; r++) {
        const struct fm_win_ctl *c = w->targets[r].ctl;

        if (r != w->comm->rank && c &&
            atomic_load_explicit(&c->n_sleeping, memory_order_seq_cst) != 0) { /* W */
            fm_win_wake(w, r);
        }
    }
}

/* ---- dynamic windows ---- */

/* The first region that ends behind `at`. */
static int find_region(const struct fm_win *w, uintptr_t at)
{
    int k = 0;

    while (k < w->n_regions && (uintptr_t)w->regions[k].base + (size_t)w->regions[k].len <= at) {
        k++;
    }
    return k;
}

bool fm_win_is_attached(const struct fm_win *w, uint64_t at, uint64_t len)
{
    int k = find_region(w, (uintptr_t)at);

    while (len && k < w->n_regions && (uintptr_t)w->regions[k].base <= at) {
        uint64_t end = (uintptr_t)w->regions[k].base + (uint64_t)w->regions[k].len;
        uint64_t part = end - at < len ? end - at : len;

        at += part;
        len -= part;
        k++;
    }
    return len == 0;
}

static int grow_regions(struct fm_win *w)
{
    int n = w->n_region_room ? 2 * w->n_region_room : 8;
    struct fm_win_region *more;

    if (w->n_regions < w->n_region_room) {
        return 0;
    }
    more = realloc(w->regions, (size_t)n * sizeof(*more));
    if (!more) {
        return fm_fail(-FM_E_NOMEM, "no memory to attach to a window");
    }
    w->regions = more;
    w->n_region_room = n;
    return 0;
}

int fm_win_attach(struct fm_win *w, void *base, MPI_Aint size)
{
    int at = find_region(w, (uintptr_t)base), rc;

    if (size == 0) {
        return 0;
    }
    if (at < w->n_regions && (uintptr_t)w->regions[at].base < (uintptr_t)base + (size_t)size) {
        return fm_fail(MPI_ERR_RMA_ATTACH, "the memory overlaps with memory that is attached: "
                                           "detach that first");
    }
    rc = grow_regions(w);
    if (rc != 0) {
        return rc;
    }
    memmove(&w->regions[at + 1], &w->regions[at],
            (size_t)(w->n_regions - at) * sizeof(w->regions[0]));
    w->regions[at] = (struct fm_win_region){base, size};
    w->n_regions++;
    return 0;
}

int fm_win_detach(struct fm_win *w, const void *base)
{
    for (int k = 0; k < w->n_regions; k++) {
        if (w->regions[k].base == base) {
            w->n_regions--;
            memmove(&w->regions[k], &w->regions[k + 1],
                    (size_t)(w->n_regions - k) * sizeof(w->regions[0]));
            return 0;
        }
    }
    return fm_fail(MPI_ERR_RMA_ATTACH, "no memory that begins at this address is attached");
}

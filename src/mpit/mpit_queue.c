/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events whose callbacks may not run where they were raised: a bounded ring, one for the process,
 * so that events of the ordered sources stay in order over all registrations.
 *
 * Each cell has a turn: it is free for the writer with ticket t when turn == t, and full for the
 * reader when turn == t + 1; the reader then sets it to t + room. Writers take tickets with
 * compare-and-swap; a writer that is interrupted by another (signal handler) only delays the
 * reader.
 *
 * The ring is opened, filled before it can be seen, while others look for it; it is closed only
 * when no writer is left and the right to read is taken (fm_t_event_finish).
 */
#include <stdlib.h>
#include <string.h>

#include "mpit/mpit_live.h"

struct cell {
    _Atomic uint64_t turn;
    struct fm_t_raised raised; /* its values are those below */
    uint64_t values[FM_T_EVENT_MAX];
};

/* Part of the registry's root. `head` belongs to the reader, `tail` to all writers. `room` is set
   before `cells` and read by any thread; the release store of `cells` pairs with the acquire loads
   of writers and reader. */
static struct {
    _Atomic(struct cell *) cells;
    _Atomic uint64_t room; /* power of two */
    _Atomic uint64_t head, tail;
} queue;

/* Read by hosts through fathom_mpit_poll(). */
uint32_t fathom_mpit_waiting;

int fm_t_queue_open(unsigned n_entries)
{
    struct cell *cells = atomic_load_explicit(&queue.cells, memory_order_relaxed);
    uint64_t i, room = 16;

    if (cells) {
        return 0;
    }
    while (room < n_entries) {
        room *= 2;
    }
    cells = calloc(room, sizeof(*cells));
    if (!cells) {
        return -1;
    }
    for (i = 0; i < room; i++) {
        atomic_store_explicit(&cells[i].turn, i, memory_order_relaxed);
    }
    atomic_store_explicit(&queue.room, room, memory_order_relaxed);
    fathom_level_set(&fm_t_counters->queue_free, room);
    atomic_store_explicit(&queue.cells, cells, memory_order_release);
    return 0;
}

static struct cell *cell_at(struct cell *cells, uint64_t ticket)
{
    return &cells[ticket & (atomic_load_explicit(&queue.room, memory_order_relaxed) - 1)];
}

bool fm_t_queue_push(const struct fm_t_raised *raised)
{
    struct cell *cells = atomic_load_explicit(&queue.cells, memory_order_acquire), *c;
    uint64_t ticket = atomic_load_explicit(&queue.tail, memory_order_relaxed), turn;

    for (;;) {
        c = cell_at(cells, ticket);
        /* Pairs with the release store in fm_t_queue_pop: the reader is done with the cell. */
        turn = atomic_load_explicit(&c->turn, memory_order_acquire);
        if (turn < ticket) {
            return false;
        }
        if (turn > ticket) {
            ticket = atomic_load_explicit(&queue.tail, memory_order_relaxed);
        } else if (atomic_compare_exchange_weak_explicit(&queue.tail, &ticket, ticket + 1,
                                                         memory_order_relaxed,
                                                         memory_order_relaxed)) {
            break;
        }
    }
    c->raised = *raised;
    if (raised->n_values > 0) {
        memcpy(c->values, raised->values, (size_t)raised->n_values * sizeof(*c->values));
    }
    /* Pairs with the acquire load in fm_t_queue_peek. */
    atomic_store_explicit(&c->turn, ticket + 1, memory_order_release);
    __atomic_store_n(&fathom_mpit_waiting, 1, __ATOMIC_RELEASE);
    return true;
}

bool fm_t_queue_peek(struct fm_t_raised *out_raised, uint64_t *out_values)
{
    struct cell *cells = atomic_load_explicit(&queue.cells, memory_order_acquire), *c;
    uint64_t head = atomic_load_explicit(&queue.head, memory_order_relaxed);

    if (!cells) {
        return false;
    }
    c = cell_at(cells, head);
    if (atomic_load_explicit(&c->turn, memory_order_acquire) != head + 1) {
        return false;
    }
    *out_raised = c->raised;
    memcpy(out_values, c->values, (size_t)c->raised.n_values * sizeof(*out_values));
    out_raised->values = out_values;
    return true;
}

void fm_t_queue_pop(void)
{
    uint64_t head = atomic_load_explicit(&queue.head, memory_order_relaxed);
    struct cell *c = cell_at(atomic_load_explicit(&queue.cells, memory_order_relaxed), head);

    /* Writers only take places: fewest are free when the reader is about to free one. */
    fathom_level_set(&fm_t_counters->queue_free, fm_t_queue_room() - fm_t_queue_len());
    atomic_store_explicit(&c->turn, head + fm_t_queue_room(), memory_order_release);
    atomic_store_explicit(&queue.head, head + 1, memory_order_release);
    fathom_level_set(&fm_t_counters->queue_free, fm_t_queue_room() - fm_t_queue_len());
}

unsigned fm_t_queue_len(void)
{
    /* Head first: it never passes the tail that is read after it. */
    uint64_t head = atomic_load_explicit(&queue.head, memory_order_acquire);

    return (unsigned)(atomic_load_explicit(&queue.tail, memory_order_acquire) - head);
}

unsigned fm_t_queue_room(void)
{
    return (unsigned)atomic_load_explicit(&queue.room, memory_order_relaxed);
}

void fm_t_queue_close(void)
{
    free(atomic_exchange_explicit(&queue.cells, NULL, memory_order_acq_rel));
    atomic_store_explicit(&queue.room, 0, memory_order_relaxed);
    atomic_store_explicit(&queue.head, 0, memory_order_relaxed);
    atomic_store_explicit(&queue.tail, 0, memory_order_relaxed);
    __atomic_store_n(&fathom_mpit_waiting, 0, __ATOMIC_RELEASE);
}

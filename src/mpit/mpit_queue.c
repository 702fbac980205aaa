/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events that wait for a place where their callbacks may run: a bounded ring, one for the process,
 * so that events of the ordered source stay in order over all registrations.
 *
 * Each cell has a turn: it is free for the writer with ticket t when turn == t, and full for the
 * reader when turn == t + 1; the reader then sets it to t + room. Writers take tickets with
 * compare-and-swap; a writer that is interrupted by another (signal handler) only delays the
 * reader.
 */
#include <stdlib.h>

#include "mpit/mpit_live.h"

struct cell {
    _Atomic uint64_t turn;
    struct fm_raised raised;
};

/* Part of the registry's root. `head` belongs to the reader, `tail` to all writers. */
static struct {
    struct cell *cells;
    uint64_t room; /* power of two */
    _Atomic uint64_t head, tail;
} queue;

/* Read by hosts through fathom_mpit_poll(). */
uint32_t fathom_mpit_waiting;

int fm_queue_open(unsigned n_entries)
{
    uint64_t i, room = 16;

    if (queue.cells) {
        return 0;
    }
    while (room < n_entries) {
        room *= 2;
    }
    queue.cells = calloc(room, sizeof(*queue.cells));
    if (!queue.cells) {
        return -1;
    }
    for (i = 0; i < room; i++) {
        atomic_store_explicit(&queue.cells[i].turn, i, memory_order_relaxed);
    }
    atomic_store_explicit(&queue.head, 0, memory_order_relaxed);
    atomic_store_explicit(&queue.tail, 0, memory_order_relaxed);
    queue.room = room;
    return 0;
}

bool fm_queue_push(const struct fm_raised *raised)
{
    uint64_t ticket = atomic_load_explicit(&queue.tail, memory_order_relaxed), turn;
    struct cell *c;

    for (;;) {
        c = &queue.cells[ticket & (queue.room - 1)];
        /* Pairs with the release store in fm_queue_pop: the reader is done with the cell. */
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
    /* Pairs with the acquire load in fm_queue_peek. */
    atomic_store_explicit(&c->turn, ticket + 1, memory_order_release);
    __atomic_store_n(&fathom_mpit_waiting, 1, __ATOMIC_RELEASE);
    return true;
}

const struct fm_raised *fm_queue_peek(void)
{
    uint64_t head = atomic_load_explicit(&queue.head, memory_order_relaxed);
    struct cell *c;

    if (!queue.cells) {
        return NULL;
    }
    c = &queue.cells[head & (queue.room - 1)];
    return atomic_load_explicit(&c->turn, memory_order_acquire) == head + 1 ? &c->raised : NULL;
}

void fm_queue_pop(void)
{
    uint64_t head = atomic_load_explicit(&queue.head, memory_order_relaxed);
    struct cell *c = &queue.cells[head & (queue.room - 1)];

    atomic_store_explicit(&c->turn, head + queue.room, memory_order_release);
    atomic_store_explicit(&queue.head, head + 1, memory_order_release);
}

unsigned fm_queue_len(void)
{
    /* Head first: it never passes the tail that is read after it. */
    uint64_t head = atomic_load_explicit(&queue.head, memory_order_acquire);

    return (unsigned)(atomic_load_explicit(&queue.tail, memory_order_acquire) - head);
}

unsigned fm_queue_room(void)
{
    return (unsigned)queue.room;
}

void fm_queue_close(void)
{
    free(queue.cells);
    queue.cells = NULL;
    queue.room = 0;
    atomic_store_explicit(&queue.head, 0, memory_order_relaxed);
    atomic_store_explicit(&queue.tail, 0, memory_order_relaxed);
    __atomic_store_n(&fathom_mpit_waiting, 0, __ATOMIC_RELEASE);
}

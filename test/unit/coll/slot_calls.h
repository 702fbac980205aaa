/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The calls of coll_shm_call.c on bare entries (coll_shm_slot.h): what each rank gives follows from
 * call and rank, what comes out is checked. The includer defines before, for its own way to sleep:
 *     void wake(const struct fm_coll_slots *v, uint32_t rank)    all that sleep, but this rank
 *     void wait_for(const struct fm_coll_slots *v, uint32_t n, uint32_t rank, ready_fn *is_ready)
 *     void linger(void)    others may go on before what was waited for is read
 */
#pragma once

#include <stdlib.h>

#define TO_ALL UINT32_MAX

typedef bool ready_fn(const struct fm_coll_slots *v, uint32_t n);

static inline void must(bool is_right)
{
    if (!is_right) {
        abort();
    }
}

static inline uint64_t part(uint32_t n, uint32_t rank)
{
    return (uint64_t)n * 100 + rank;
}

static inline void publish(const struct fm_coll_slots *v, uint32_t n, uint32_t rank)
{
    if (fm_coll_slot_publish(v, n)) {
        wake(v, rank);
    }
}

static inline void call_bcast(struct fm_coll_slots *v, uint32_t rank, uint32_t root)
{
    uint32_t n = ++v->n;

    if (rank == root) {
        fm_coll_slot_result(v, n)->stamp = part(n, root);
        publish(v, n, rank);
    } else {
        wait_for(v, n, rank, fm_coll_slot_is_done);
        linger();
        must(fm_coll_slot_result(v, n)->stamp == part(n, root));
    }
}

/* Each rank that wants the result adds the entries. */
static inline void call_flat(struct fm_coll_slots *v, uint32_t rank, uint32_t root)
{
    uint32_t n = ++v->n;

    fm_coll_slot_entry(v, n, rank)->stamp = part(n, rank);
    if (fm_coll_slot_mark(v, n, rank)) {
        wake(v, rank);
    }
    if (root == TO_ALL || root == rank) {
        wait_for(v, n, rank, fm_coll_slot_all_marked);
        linger();
        for (uint32_t r = 0; r < v->size; r++) {
            must(fm_coll_slot_entry(v, n, r)->stamp == part(n, r));
        }
        v->last_all = root == TO_ALL ? n : v->last_all;
    }
}

static inline void call_reduce(struct fm_coll_slots *v, uint32_t rank, uint32_t root)
{
    uint32_t n;
    uint64_t sum = 0, want = 0;

    if (v->is_flat) {
        call_flat(v, rank, root);
        return;
    }
    n = ++v->n;
    fm_coll_slot_entry(v, n, rank)->stamp = part(n, rank);
    if (fm_coll_slot_arrive(v, n)) {
        for (uint32_t r = 0; r < v->size; r++) {
            sum += fm_coll_slot_entry(v, n, r)->stamp;
        }
        fm_coll_slot_result(v, n)->stamp = sum;
        publish(v, n, rank);
    }
    if (root == TO_ALL || root == rank) {
        wait_for(v, n, rank, fm_coll_slot_is_done);
        linger();
        for (uint32_t r = 0; r < v->size; r++) {
            want += part(n, r);
            /* An allgather takes what it wants from the lines. */
            must(root != TO_ALL || fm_coll_slot_entry(v, n, r)->stamp == part(n, r));
        }
        must(fm_coll_slot_result(v, n)->stamp == want);
        v->last_all = root == TO_ALL ? n : v->last_all;
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Changes of a handle's state: the slow half of mpit_state.h. */
#include "mpit/mpit_state.h"

#include <sched.h>
#include <stdlib.h>

#define ALL_COPIES ((1u << FM_T_STATE_COPIES) - 1)
#define N_CHANGES  (UINT64_C(1) << 24)
#define CHANGES    ((N_CHANGES - 1) << FM_T_STATE_CHANGES)

static uint64_t claim(unsigned copy)
{
    return UINT64_C(1) << (FM_T_STATE_FILLED + copy);
}

/* The number of the change that comes after ctl, in its place. */
static uint64_t next_change(uint64_t ctl)
{
    return ((ctl >> FM_T_STATE_CHANGES) + 1) % N_CHANGES << FM_T_STATE_CHANGES;
}

int fm_t_state_begin(struct fm_t_state *s, size_t count, uint64_t flags)
{
    s->count = count;
    s->copies = s->one;
    if (count > 1) {
        s->copies = calloc(count * FM_T_STATE_COPIES, sizeof(*s->copies));
        if (!s->copies) {
            s->copies = s->one;
            return -1;
        }
    }
    atomic_store_explicit(&s->ctl, flags, memory_order_relaxed);
    return 0;
}

void fm_t_state_finish(struct fm_t_state *s)
{
    if (s->copies != s->one) {
        free(s->copies);
    }
    s->copies = s->one;
}

struct fm_t_state_change fm_t_state_change_begin(struct fm_t_state *s)
{
    uint64_t ctl = atomic_load_explicit(&s->ctl, memory_order_relaxed);
    unsigned unused, copy;
    int n = 0;

    for (;;) {
        unused =
            ALL_COPIES & ~((unsigned)(ctl >> FM_T_STATE_FILLED) | 1u << (ctl & FM_T_STATE_LIVE));
        if (!unused) {
            if (++n % 64 == 0) {
                sched_yield(); /* a thread that fills a copy may have lost the processor */
            }
            ctl = atomic_load_explicit(&s->ctl, memory_order_relaxed);
            continue;
        }
        copy = (unsigned)__builtin_ctz(unused);
        /* Acquire: pairs with the release in fm_t_state_change_end; the live copy is seen filled.
         */
        if (atomic_compare_exchange_weak_explicit(&s->ctl, &ctl, ctl | claim(copy),
                                                  memory_order_acquire, memory_order_relaxed)) {
            return (struct fm_t_state_change){.from = ctl | claim(copy), .copy = copy};
        }
    }
}

bool fm_t_state_change_end(struct fm_t_state *s, struct fm_t_state_change *c, uint64_t flags)
{
    uint64_t ctl = c->from, next;

    do {
        next = next_change(ctl) | flags | c->copy;
        next |= ctl & (uint64_t)ALL_COPIES << FM_T_STATE_FILLED & ~claim(c->copy);
        /* Release: pairs with the acquire loads of readers and of fm_t_state_change_begin. */
        if (atomic_compare_exchange_weak_explicit(&s->ctl, &ctl, next, memory_order_acq_rel,
                                                  memory_order_acquire)) {
            return true;
        }
    } while (!fm_t_state_has_changed(c->from, ctl)); /* only claims came and went */
    c->from = ctl;
    return false;
}

void fm_t_state_give_up(struct fm_t_state *s, const struct fm_t_state_change *c)
{
    atomic_fetch_and_explicit(&s->ctl, ~claim(c->copy), memory_order_release);
}

bool fm_t_state_touch(struct fm_t_state *s, uint64_t ctl)
{
    return atomic_compare_exchange_strong_explicit(&s->ctl, &ctl,
                                                   (ctl & ~CHANGES) | next_change(ctl),
                                                   memory_order_acq_rel, memory_order_relaxed);
}

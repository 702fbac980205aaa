/* SPDX-License-Identifier: BSD-3-Clause */
/* Context ids in use, and the rounds of an agreement. */
#include "core/comm/agree.h"

#include <stdlib.h>
#include <string.h>

#include "core/coll/coll.h"
#include "core/p2p/recv.h"
#include "util/status.h"

#define BITS      64
#define IMPATIENT 4 /* rounds after which acts that meet again and again are set apart */
#define MAX_WORDS (1 << 20)
#define FIRST_BIT (FM_CONTEXT_FIRST / 2)

/* A bit per id (half a context) that is in use here; guarded by the library lock. */
static struct {
    uint64_t *counters;
    uint32_t n_words;
    uint32_t n_full;  /* words at the beginning in which no id is free */
    uint64_t n_taken; /* ids in use */
} used;

static int grow(uint32_t n_words)
{
    uint64_t *counters;

    if (n_words > MAX_WORDS) {
        return fm_fail(-FM_E_NOMEM, "no id below %u is free for another communicator: free some",
                       used.n_words * BITS);
    }
    counters = realloc(used.counters, n_words * sizeof(*counters));
    if (!counters) {
        return fm_fail(-FM_E_NOMEM, "no memory for the ids of communicators");
    }
    memset(counters + used.n_words, 0, (n_words - used.n_words) * sizeof(*counters));
    if (used.n_words == 0) {
        counters[0] = (UINT64_C(1) << FIRST_BIT) - 1; /* never given out */
    }
    used.counters = counters;
    used.n_words = n_words;
    return 0;
}

/* The lowest free id from `floor` on, taken. */
static int take(uint32_t floor, uint32_t *out_id)
{
    uint32_t at = floor / BITS;
    uint64_t below = (UINT64_C(1) << (floor % BITS)) - 1;

    if (used.n_taken >= fm_comm_limit()) {
        return fm_fail(-FM_E_NOMEM,
                       "%llu communicators are alive, and comm_limit allows no more: free some",
                       (unsigned long long)used.n_taken);
    }
    while (used.n_full < used.n_words && used.counters[used.n_full] == UINT64_MAX) {
        used.n_full++;
    }
    if (at < used.n_full) {
        at = used.n_full;
        below = 0;
    }
    while (at < used.n_words && (used.counters[at] | below) == UINT64_MAX) {
        below = 0;
        at++;
    }
    if (at >= used.n_words) {
        int rc = grow(at * 2 + 1);

        if (rc != 0) {
            return rc;
        }
    }
    *out_id = at * BITS + (uint32_t)__builtin_ctzll(~(used.counters[at] | below));
    used.counters[at] |= UINT64_C(1) << (*out_id % BITS);
    used.n_taken++;
    return 0;
}

void fm_agree_release(uint32_t context)
{
    uint32_t id = context / 2;

    fm_assert(id / BITS < used.n_words);
    used.counters[id / BITS] &= ~(UINT64_C(1) << (id % BITS));
    used.n_taken--;
    used.n_full = id / BITS < used.n_full ? id / BITS : used.n_full;
}

/* Highest and lowest proposal, the latter as the highest complement. */
struct proposals {
    uint64_t high, not_low;
};

static uint64_t highest(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int exchange_leaders(const struct fm_agree *who, struct proposals *p)
{
    struct proposals other = {0, 0};
    struct fm_msg out = {.buf = p,
                         .count = sizeof(*p),
                         .dtype = fm_dtype_byte(),
                         .peer = who->remote_leader,
                         .tag = who->tag,
                         .comm = who->peer,
                         .space = FM_SPACE_COLL};
    struct fm_msg in = out;
    int rc;

    in.buf = &other;
    rc = fm_sendrecv(&out, &in, NULL);
    p->high = highest(p->high, other.high);
    p->not_low = highest(p->not_low, other.not_low);
    return rc;
}

static int all_proposals(const struct fm_agree *who, struct proposals *p)
{
    const struct fm_buf both = {p, 2, fm_dtype_get(MPI_UINT64_T)};
    int rc = fm_allreduce(MPI_IN_PLACE, &both, fm_op_get(MPI_MAX), who->local);

    if (rc == 0 && who->peer) {
        int leader_rc = 0;

        if (who->local->rank == who->local_leader) {
            leader_rc = exchange_leaders(who, p);
        }
        rc = fm_bcast(&both, who->local_leader, who->local);
        rc = leader_rc != 0 ? leader_rc : rc;
    }
    return rc;
}

/* A process without room for another id says so with a proposal that nobody can meet. */
#define NO_ROOM UINT32_MAX

int fm_agree_context(const struct fm_agree *who, uint32_t *out_context)
{
    uint32_t floor = FIRST_BIT;

    for (int round = 0;; round++) {
        uint32_t mine = NO_ROOM;
        int no_room = who->status != 0 ? who->status : take(floor, &mine);
        struct proposals p = {mine, ~(uint64_t)mine};
        int rc = all_proposals(who, &p);

        if (rc == 0 && no_room == 0 && p.high == ~p.not_low) {
            *out_context = mine * 2;
            return 0;
        }
        if (no_room == 0) {
            fm_agree_release(mine * 2);
        }
        if (no_room != 0 || rc != 0) {
            return no_room != 0 ? no_room : rc;
        }
        if (p.high == NO_ROOM) {
            return fm_fail(-FM_E_NOMEM, "another process has no room for a further communicator");
        }
        floor = (uint32_t)p.high;
        /* Same on all members, different for acts on different communicators. */
        floor += round > IMPATIENT ? who->local->context / 2 % 61 : 0;
    }
}

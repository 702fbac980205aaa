/* SPDX-License-Identifier: BSD-3-Clause */
/* Context ids in use, and the rounds of an agreement. */
#include "core/comm/agree.h"

#include <stdlib.h>
#include <string.h>

#include "core/coll/coll.h"
#include "core/p2p/recv.h"
#include "util/status.h"

#define BITS          64
#define PATIENT       4 /* rounds after which agreements that meet again and again are spread */
#define MAX_DOUBLINGS 12
#define MAX_WORDS     (1 << 20)
#define FIRST_BIT     (FM_CONTEXT_FIRST / 2)

/* A bit per id (half a context) that is in use here; guarded by the library lock. */
static struct {
    uint64_t *counters;
    uint32_t n_words;
    uint32_t n_full;  /* leading words of the bitmap in which no id is free */
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

static int exchange_leaders(const struct fm_agree *who, uint64_t numbers[FM_AGREE_N])
{
    uint64_t theirs[FM_AGREE_N] = {0};
    struct fm_msg out = {.buf = numbers,
                         .count = sizeof(theirs),
                         .dtype = fm_dtype_byte(),
                         .peer = who->remote_leader,
                         .tag = who->tag,
                         .comm = who->peer,
                         .space = FM_SPACE_COLL};
    struct fm_msg in = out;
    int rc;

    in.buf = theirs;
    rc = fm_sendrecv(&out, &in, NULL);
    for (int i = 0; i < FM_AGREE_N; i++) {
        numbers[i] = numbers[i] > theirs[i] ? numbers[i] : theirs[i];
    }
    return rc;
}

static int find_maxima(const struct fm_agree *who, uint64_t numbers[FM_AGREE_N])
{
    const struct fm_buf all = {numbers, FM_AGREE_N, fm_dtype_get(MPI_UINT64_T)};
    int rc = fm_allreduce(MPI_IN_PLACE, &all, fm_op_get(MPI_MAX), who->local);

    if (rc == 0 && who->peer) {
        int leader_rc = 0;

        if (who->local->rank == who->local_leader) {
            leader_rc = exchange_leaders(who, numbers);
        }
        rc = fm_bcast(&all, who->local_leader, who->local);
        rc = leader_rc != 0 ? leader_rc : rc;
    }
    return rc;
}

/* The proposal of a process without room for another id, which cannot be met. */
#define NO_ROOM UINT32_MAX

void fm_agree_propose(struct fm_agree_round *r)
{
    r->floor = r->floor > FIRST_BIT ? r->floor : FIRST_BIT;
    r->mine = 0;
    if (r->status == 0) {
        r->status = take(r->floor, &r->mine);
    }
    r->numbers[0] = r->status == 0 ? r->mine : NO_ROOM;
    r->numbers[1] = ~r->numbers[0];
    r->numbers[2] = fm_now_ns() * UINT64_C(0x9e3779b97f4a7c15);
}

/*
 * How far beyond the highest proposal the next round begins. Agreements that meet again and again
 * on the same ids spread over a range that doubles with each further round, as in exponential
 * backoff, until each finds an id that is free in all its processes.
 */
static uint32_t spread(const struct fm_agree_round *r)
{
    int n_doublings = r->n - PATIENT;

    if (n_doublings < 0) {
        return 0;
    }
    n_doublings = n_doublings < MAX_DOUBLINGS ? n_doublings : MAX_DOUBLINGS;
    return (uint32_t)(r->numbers[2] >> 32) % (UINT32_C(64) << n_doublings);
}

int fm_agree_decide(struct fm_agree_round *r, int rc)
{
    if (rc == 0 && r->status == 0 && r->numbers[0] == ~r->numbers[1]) {
        return 0;
    }
    if (r->status != 0) {
        return r->status;
    }
    fm_agree_drop(r);
    if (rc != 0) {
        return rc;
    }
    if (r->numbers[0] == NO_ROOM) {
        return fm_fail(-FM_E_NOMEM, "another process has no room for a further communicator");
    }
    r->floor = (uint32_t)r->numbers[0] + spread(r);
    r->n++;
    return FM_AGAIN;
}

void fm_agree_drop(struct fm_agree_round *r)
{
    if (r->mine != 0) {
        fm_agree_release(r->mine * 2);
        r->mine = 0;
    }
}

int fm_agree_context(const struct fm_agree *who, uint32_t *out_context)
{
    struct fm_agree_round round = {.status = who->status};
    int rc;

    do {
        fm_agree_propose(&round);
        rc = fm_agree_decide(&round, find_maxima(who, round.numbers));
    } while (rc == FM_AGAIN);
    if (rc == 0) {
        *out_context = round.mine * 2;
    }
    return rc;
}

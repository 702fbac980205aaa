/* SPDX-License-Identifier: BSD-3-Clause */
/* Which communicators get shared memory for collectives, and how their ranks agree on it. */
#include <stdlib.h>

#include "core/coll/coll_algo.h"
#include "core/coll/coll_shm.h"
#include "core/coll/coll_shm_sync.h"
#include "core/coll/coll_shm_vars.h"
#include "core/p2p/channel.h"
#include "core/p2p/wait.h"
#include "util/status.h"

/* The part of a communicator that asked for such memory in vain. */
static const struct fm_coll_shm refused;

/* What rank 0 sends to the others; all 0: there will be no memory. */
struct offer {
    struct fm_segment_address address;
    uint64_t stride;
    uint64_t is_flat;
};

static bool is_worthwhile(const struct fm_comm *comm)
{
    return fm_progress_is_crowded(comm->ch) || (uint64_t)comm->size <= fm_coll_shm_counters->spread;
}

static bool all_near(const struct fm_comm *comm)
{
    const struct fm_channel *ch = comm->ch;

    for (int r = 0; r < comm->size; r++) {
        if (!ch->is_near || !ch->is_near(ch->resolve_ctx, fm_comm_proc(comm, r))) {
            return false;
        }
    }
    return true;
}

/* An odd number of cache lines, so that the entries do not all lie in the same sets of a cache. */
static uint64_t stride_for(const struct fm_comm *comm)
{
    uint64_t len = fm_coll_shm_counters->max + offsetof(struct fm_coll_entry, data);
    uint64_t n_lines = (len + FM_CACHE_LINE - 1) / FM_CACHE_LINE | 1;
    uint64_t room = fm_coll_shm_counters->memory / FM_COLL_SLOTS / ((uint64_t)comm->size + 1);

    if (n_lines * FM_CACHE_LINE > room) {
        n_lines = (room / FM_CACHE_LINE + 1) / 2 * 2 - 1;
        n_lines = n_lines > room ? 1 : n_lines; /* 0 - 1 */
    }
    return n_lines * FM_CACHE_LINE;
}

static struct offer offer_one(const struct fm_comm *comm, bool is_wanted, struct fm_coll_shm *shm)
{
    struct offer offer = {.stride = stride_for(comm),
                          .is_flat = !fm_progress_is_crowded(comm->ch) &&
                                     (uint64_t)comm->size <= fm_coll_shm_counters->flat};

    if ((!is_wanted && !is_worthwhile(comm)) ||
        fm_coll_shm_counters->n_live.now >= fm_coll_shm_counters->max_comms || !all_near(comm) ||
        fm_segment_create(fm_coll_slots_len((uint32_t)comm->size, offer.stride), &shm->segment) !=
            0) {
        return (struct offer){.stride = 0};
    }
    offer.address = fm_segment_address(&shm->segment);
    return offer;
}

/* Can this rank use it, too? */
static bool accept_one(const struct fm_comm *comm, const struct offer *offer,
                       struct fm_coll_shm *shm)
{
    return shm && fm_coll_shm_counters->n_live.now < fm_coll_shm_counters->max_comms &&
           offer->address.len == fm_coll_slots_len((uint32_t)comm->size, offer->stride) &&
           fm_segment_attach(&offer->address, &shm->segment) == 0;
}

static int by_messages(const struct fm_coll *c, fm_coll_algo_fn algo)
{
    struct fm_sched s;

    fm_sched_init(&s, c->comm, true);
    algo(&s, c);
    return fm_sched_finish(&s);
}

/* Rank 0 offers, all accept or none has it. 1: they have; 0; a failure of the messages. */
static int agree(struct fm_comm *comm, struct offer *offer, struct fm_coll_shm *shm)
{
    struct fm_coll tell = {
        .kind = FM_COLL_BCAST,
        .comm = comm,
        .recv = {.buf = offer, .count = sizeof(*offer), .dtype = fm_dtype_byte()}};
    int is_there = 0;
    struct fm_coll ask = {.kind = FM_COLL_ALLREDUCE,
                          .comm = comm,
                          .send = {.buf = MPI_IN_PLACE},
                          .recv = {.buf = &is_there, .count = 1, .dtype = fm_dtype_get(MPI_INT)},
                          .op = fm_op_get(MPI_MIN)};
    int rc = by_messages(&tell, fm_algo_bcast_binomial);

    if (rc != 0 || offer->stride == 0) {
        return rc;
    }
    is_there = comm->rank == 0 || accept_one(comm, offer, shm);
    rc = by_messages(&ask, fm_algo_allreduce_doubling);
    return rc ? rc : is_there;
}

static void drop(void *state)
{
    struct fm_coll_shm *shm = state;

    FM_STAT(fathom_level_add(&fm_coll_shm_counters->bytes, -(int64_t)shm->segment.len));
    fathom_level_add(&fm_coll_shm_counters->n_live, -1);
    fm_segment_finish(&shm->segment);
    free(shm);
}

static int make(struct fm_comm *comm, bool is_wanted)
{
    struct fm_coll_shm *shm = calloc(1, sizeof(*shm));
    struct offer offer = {.stride = 0};
    int rc;

    if (comm->rank == 0 && shm) {
        offer = offer_one(comm, is_wanted, shm);
    }
    rc = agree(comm, &offer, shm);
    if (rc != 1) {
        FM_STAT(fm_coll_shm_counters->n_refused += rc == 0);
        if (shm) {
            fm_segment_finish(&shm->segment);
        }
        free(shm);
        return rc;
    }
    fm_segment_hide(&shm->segment);
    shm->view = fm_coll_slots(shm->segment.base, (uint32_t)comm->size, offer.stride);
    shm->view.is_flat = offer.is_flat;
    shm->comm = comm;
    comm->parts[FM_COMM_COLL] = (struct fm_comm_part){.state = shm, .drop = drop};
    fathom_level_add(&fm_coll_shm_counters->n_live, 1);
    FM_STAT(fathom_level_add(&fm_coll_shm_counters->bytes, (int64_t)shm->segment.len));
    FM_STAT(fm_coll_shm_counters->n_made++);
    return 0;
}

int fm_coll_shm_find(struct fm_comm *comm, bool is_wanted, struct fm_coll_shm **out_shm)
{
    enum fm_comm_coll_shm mode = fm_comm_coll_shm(comm);
    struct fm_comm_part *part = &comm->parts[FM_COMM_COLL];
    int rc = 0;

    is_wanted |= mode == FM_COMM_COLL_SHM_ALWAYS;
    if (mode == FM_COMM_COLL_SHM_NEVER || comm->is_inter || comm->base || comm->size < 2) {
        return 0;
    }
    if (!part->state && (is_wanted || comm->coll_seq >= fm_coll_shm_counters->after)) {
        part->state = (void *)&refused;
        rc = make(comm, is_wanted);
    }
    *out_shm = part->state == &refused ? NULL : part->state;
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single copy between processes: the transfers that this process starts.
 *
 * A short transfer is one system call inside rma(). A long one goes chunk by chunk from poll(), so
 * that messages flow meanwhile; and the peer, which is most often waiting in a call of its own, is
 * requested to assist (shm_assist.c). Both sides claim the next chunk from a ticket in the
 * initiator's segment, so neither waits for a peer that comes late or never. That costs smaller
 * chunks, and the ticket's way between the caches: a process assists only while it has no transfer
 * of its own, and after some requests in vain a peer is left alone for a while (backoff).
 *
 * A transfer may consist of pieces at many places on both sides; chunks are cut by bytes all the
 * same.
 */
#include <string.h>

#include "transport/shm/shm.h"
#include "util/sync.h"

#define GEN_MASK ((UINT32_C(1) << 24) - 1)

/* Polls in which only the helper is waited for, between two checks whether it still lives. */
#define IDLE_POLLS (1u << 14)

/* The kernel lets processes of one user reach all of each other's memory: nothing to register. */
int fm_shm_copy_expose(struct fm_transport *tp, void *addr, size_t len, unsigned rights,
                       enum fm_mem_life life, struct fm_mem *out_mem)
{
    (void)rights;
    *out_mem =
        (struct fm_mem){.addr = addr, .len = len, .life = life, .rkey.addr = (uintptr_t)addr};
    return 0;
}

void fm_shm_copy_unexpose(struct fm_transport *tp, struct fm_mem *mem)
{
    mem->addr = NULL; /* nothing was registered */
}

static uint64_t ticket_of(uint32_t generation, uint64_t n_chunks)
{
    return (uint64_t)generation << 2 * FM_SHM_CHUNK_BITS | n_chunks << FM_SHM_CHUNK_BITS;
}

static struct fm_shm_sides sides_of(const struct fm_rma *rma)
{
    if (rma->n_pieces) {
        return (struct fm_shm_sides){
            .target = rma->remote.addr, .pieces = rma->pieces, .n_pieces = rma->n_pieces};
    }
    return (struct fm_shm_sides){.initiator = (uintptr_t)rma->local,
                                 .target = rma->remote.addr + rma->remote_at};
}

/* All requests with this peer fail, for this reason. */
FM_COLD static int ended(struct fm_shm_ep *ep)
{
    return fm_shm_gone_report(ep, "the process has ended during a transfer");
}

static int copy_own(struct fm_shm_job *job, uint64_t k)
{
    const struct fm_rma *rma = job->rma;
    struct fm_shm_sides s = sides_of(rma);
    int rc = fm_shm_cma_move(job->ep, rma->op == FM_RMA_GET, &s, k * job->chunk,
                             fm_shm_cma_chunk_len(rma->len, job->chunk, k));

    return rc == -FM_E_PEER ? ended(job->ep) : rc;
}

static void end(struct fm_shm_transport *t, struct fm_shm_job *job)
{
    struct fm_rma *rma = job->rma;

    job->rma = NULL;
    t->n_jobs--;
    FM_STAT(t->counters->n_cma_transfers++);
    rma->done(rma, job->status);
}

/* Two processes that assist each other at the same time are slower than two that do not: back off
   from a peer that does not assist. */
static void note_assist(const struct fm_shm_job *job, uint32_t n_assisted)
{
    struct fm_shm_ep *ep = job->ep;

    if (n_assisted) {
        ep->n_failed_assists = ep->n_backoff = 0;
    } else if (job->is_requested && ++ep->n_failed_assists >= FM_SHM_FAILED_ASSISTS) {
        ep->n_backoff = FM_SHM_ASSIST_BACKOFF;
    }
}

/* The ticket or what the helper wrote beside it is not what any helper of ours writes. */
FM_COLD static int broken(struct fm_shm_transport *t, struct fm_shm_job *job)
{
    job->status = fm_fail(-FM_E_PROTO, "process %d has overwritten a transfer in shared memory",
                          job->ep->ep.peer);
    end(t, job);
    return 1;
}

/* Copy the chunk that the helper claimed and could not copy; it has stopped. */
static int take_lost(struct fm_shm_job *job, struct fm_shm_copy *c, uint32_t lost)
{
    if (job->has_lost || lost > job->n_chunks) {
        return -FM_E_PROTO;
    }
    job->has_lost = true;
    job->ep->can_assist = false;
    if (job->status == 0) {
        job->status = copy_own(job, lost - 1);
    }
    job->n_own++;
    atomic_store_explicit(&c->n_lost, 0, memory_order_relaxed);
    return 0;
}

/* All chunks are claimed: are they copied, too? How many things happened. */
static int settle(struct fm_shm_transport *t, struct fm_shm_job *job, struct fm_shm_copy *c)
{
    uint32_t n_assisted = atomic_load_explicit(&c->n_assisted, memory_order_acquire);
    uint32_t lost = atomic_load_explicit(&c->n_lost, memory_order_acquire);

    if ((lost && take_lost(job, c, lost)) || n_assisted > job->n_chunks - job->n_own) {
        return broken(t, job);
    }
    if (job->n_own + n_assisted == job->n_chunks) {
        FM_STAT(t->counters->n_chunks_assisted += n_assisted);
        note_assist(job, n_assisted);
        end(t, job);
        return 1;
    }
    if (++job->n_idle % IDLE_POLLS == 0 && fm_shm_gone_is(job->ep)) {
        job->status = ended(job->ep);
        end(t, job);
        return 1;
    }
    return 0;
}

static int advance(struct fm_shm_transport *t, unsigned slot)
{
    struct fm_shm_job *job = &t->jobs[slot];
    struct fm_shm_copy *c = &t->header->copies[slot];
    int64_t k = fm_shm_cma_claim(c, job->generation);

    if (k < 0) {
        return settle(t, job, c);
    }
    if (k >= job->n_chunks || job->n_own >= job->n_chunks) {
        return broken(t, job);
    }
    /* After a failure the rest is claimed, so that the helper ends too, but not copied. */
    if (job->status == 0) {
        job->status = copy_own(job, (uint64_t)k);
    }
    job->n_own++;
    return 1;
}

/* Request assistance of the peer, if it is awake and there is space for the request. Done? */
static bool request(struct fm_shm_transport *t, struct fm_shm_ep *ep, unsigned slot)
{
    struct fm_shm_request p = {
        .from = t->self, .slot = slot, .generation = t->jobs[slot].generation};

    return atomic_load_explicit(&ep->header->doorbell, memory_order_relaxed) == 0 &&
           fm_shm_send_internal(ep, &p, sizeof(p)) == 0;
}

static bool is_shared(const struct fm_shm_transport *t, const struct fm_shm_ep *ep, size_t len)
{
    return ep->can_assist && !t->is_crowded && len >= t->assist_min;
}

/* Chunk size of a shared transfer: a half for each process while that is short. */
static size_t shared_chunk(const struct fm_shm_transport *t, size_t len)
{
    size_t half = (len / 2 + 4095) & ~(size_t)4095;

    return half < t->chunk ? half : t->chunk;
}

/* The start of a transfer that goes on in poll(). */
static int start(struct fm_shm_transport *t, struct fm_shm_ep *ep, struct fm_rma *rma, size_t chunk,
                 bool may_request)
{
    struct fm_shm_sides s = sides_of(rma);
    struct fm_shm_job *job = NULL;
    struct fm_shm_copy *c;
    unsigned slot;

    for (slot = 0; slot < FM_SHM_COPIES && !job; slot++) {
        job = t->jobs[slot].rma ? NULL : &t->jobs[slot];
    }
    if (!job) {
        return FM_AGAIN;
    }
    c = &t->header->copies[--slot];
    while ((rma->len - 1) / chunk >= FM_SHM_CHUNK_MASK) { /* beyond the ticket */
        chunk *= 2;
    }
    t->generation = (t->generation + 1) & GEN_MASK;
    *job = (struct fm_shm_job){.rma = rma,
                               .ep = ep,
                               .generation = t->generation,
                               .chunk = chunk,
                               .n_chunks = (uint32_t)((rma->len + chunk - 1) / chunk)};
    c->op = rma->op;
    c->target = ep->ep.peer;
    c->initiator_addr = s.initiator;
    c->target_addr = s.target;
    c->pieces_addr = (uintptr_t)s.pieces;
    c->n_pieces = s.n_pieces;
    c->len = rma->len;
    c->chunk = chunk;
    atomic_store_explicit(&c->n_assisted, 0, memory_order_relaxed);
    atomic_store_explicit(&c->n_lost, 0, memory_order_relaxed);
    atomic_store_explicit(&c->ticket, ticket_of(job->generation, job->n_chunks),
                          memory_order_release); /* with the claim of a helper */
    t->n_jobs++;
    job->is_requested = may_request && request(t, ep, slot);
    return 0;
}

int fm_shm_copy_rma(struct fm_ep *fep, struct fm_rma *rma)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    struct fm_shm_transport *t = (struct fm_shm_transport *)fep->tp;
    struct fm_shm_sides s = sides_of(rma);
    bool can_share;
    int rc;

    if (fep->no_rma || rma->op > FM_RMA_PUT) {
        return fm_fail(-FM_E_UNSUPPORTED,
                       fep->no_rma ? "single copy with process %d is forbidden here"
                                   : "no atomic operations by system call with process %d",
                       fep->peer);
    }
    if (ep->is_dead) {
        return fm_fail(-FM_E_PEER, "process %d has ended", fep->peer);
    }
    can_share = !rma->is_own_work && is_shared(t, ep, rma->len);
    if (can_share && ep->n_backoff == 0) {
        return start(t, ep, rma, shared_chunk(t, rma->len), true);
    }
    if (rma->len > 8 * t->chunk) { /* let messages flow from time to time */
        rc = start(t, ep, rma, 8 * t->chunk, false);
        ep->n_backoff -= can_share && rc == 0;
        return rc;
    }
    ep->n_backoff -= can_share;
    rc = fm_shm_cma_move(ep, rma->op == FM_RMA_GET, &s, 0, rma->len);
    FM_STAT(t->counters->n_cma_transfers++);
    rma->done(rma, rc);
    if (FM_UNLIKELY(rc == -FM_E_PEER)) {
        (void)ended(ep);
    }
    return 0;
}

int fm_shm_copy_poll(struct fm_shm_transport *t)
{
    int n = 0;

    for (unsigned k = 0; k < FM_SHM_COPIES; k++) {
        n += t->jobs[k].rma ? advance(t, k) : 0;
    }
    return n;
}

void fm_shm_copy_finish(struct fm_shm_transport *t, struct fm_shm_ep *ep)
{
    for (unsigned k = 0; k < FM_SHM_COPIES; k++) {
        while (t->jobs[k].rma && (!ep || t->jobs[k].ep == ep)) {
            if (advance(t, k) == 0) {
                fm_cpu_relax();
            }
        }
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Single copy between processes by process_vm_readv(2) and process_vm_writev(2), on one processor
 * or on two.
 *
 * A short transfer is one system call inside rma(). A long one goes chunk by chunk from poll(), so
 * that messages flow meanwhile; and the peer, who is most often waiting in a call of its own, is
 * asked to help. Who helps is left to the moment: both sides claim the next chunk from a ticket in
 * the initiator's segment, so nobody waits for a peer that comes late or never. It does cost
 * smaller chunks, and the ticket's way: a process helps while it has no transfer of its own, and
 * one that was asked in vain several times is left alone for a while.
 *
 * A transfer may consist of pieces at many places on both sides; chunks are cut by bytes all the
 * same. The helper reads the initiator's list of pieces the way it reads anything there.
 *
 * What a peer says in a request for help is used only as arguments of these system calls, which the
 * kernel checks.
 */
#include "transport/shm/shm.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "util/sync.h"

#define N_BITS   20 /* of a number of chunks */
#define GEN_MASK ((UINT32_C(1) << 24) - 1)
#define N_MASK   ((UINT64_C(1) << N_BITS) - 1)

/* Polls in which only the helper is waited for, between two looks whether it still lives. */
#define IDLE_POLLS (1u << 14)

/* A request for help, as it travels. */
struct plea {
    int32_t from;
    uint32_t slot;
    uint32_t generation;
};

/* Both sides of a transfer, as the initiator names them. */
struct sides {
    uint64_t initiator, target;        /* addresses of the first byte of each */
    const struct fm_rma_piece *pieces; /* then `initiator` is 0 */
    uint32_t n_pieces;                 /* 0: one run */
    bool is_target;                    /* this process is the target */
};

struct vectors {
    struct iovec initiator[FM_SHM_PIECES], target[FM_SHM_PIECES];
    unsigned long n;
};

static void *address(uint64_t a)
{
    return (void *)(uintptr_t)a; // NOLINT
}

/* Where the bytes [at, at + len) of the transfer lie. */
static void find(const struct sides *s, uint64_t at, size_t len, struct vectors *out)
{
    out->n = 0;
    if (s->n_pieces == 0) {
        out->initiator[0] = (struct iovec){address(s->initiator + at), len};
        out->target[0] = (struct iovec){address(s->target + at), len};
        out->n = 1;
        return;
    }
    for (uint32_t k = 0; k < s->n_pieces && len; k++) {
        const struct fm_rma_piece *p = &s->pieces[k];
        size_t n = p->len - at < len ? p->len - at : len;

        if (at >= p->len) {
            at -= p->len;
            continue;
        }
        out->initiator[out->n] = (struct iovec){(char *)p->local + at, n};
        out->target[out->n++] = (struct iovec){address(s->target + p->remote_at + at), n};
        at = 0;
        len -= n;
    }
}

FM_COLD static int refused(const struct fm_shm_ep *ep, bool is_read, int error)
{
    return fm_fail(error == ESRCH    ? -FM_E_PEER
                   : error == EFAULT ? -FM_E_PROTO
                                     : -FM_E_SYSTEM,
                   "single copy %s process %d: %s", is_read ? "from" : "to", ep->ep.peer,
                   strerror(error));
}

/*
 * Move the bytes [at, at + len) of a transfer with the process of the endpoint. 0 or a failure;
 * part of the bytes may have moved then.
 */
static int copy(struct fm_shm_ep *ep, bool is_read, const struct sides *s, uint64_t at, size_t len)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)ep->ep.tp;
    pid_t pid = ep->address.pid;
    struct vectors v;

    while (len) {
        struct iovec *here = s->is_target ? v.target : v.initiator;
        struct iovec *there = s->is_target ? v.initiator : v.target;
        ssize_t n;

        find(s, at, len, &v);
        n = is_read ? process_vm_readv(pid, here, v.n, there, v.n, 0)
                    : process_vm_writev(pid, here, v.n, there, v.n, 0);
        FM_STAT(t->counters->n_cma++);
        if (n <= 0) {
            return refused(ep, is_read, n ? errno : EFAULT);
        }
        at += (uint64_t)n;
        len -= (size_t)n;
        FM_STAT(t->counters->n_cma_bytes += (uint64_t)n);
    }
    return 0;
}

bool fm_shm_copy_probe(struct fm_shm_ep *ep)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)ep->ep.tp;
    uint64_t nonce = 0;
    struct iovec l = {&nonce, sizeof(nonce)};
    struct iovec r = {(char *)(uintptr_t)ep->address.base + offsetof(struct fm_shm_header, nonce),
                      sizeof(nonce)};
    int error = EPERM;

    if (t->counters->cma) {
        if (process_vm_readv(ep->address.pid, &l, 1, &r, 1, 0) == (ssize_t)sizeof(nonce) &&
            nonce == ep->address.nonce) {
            return true;
        }
        error = errno;
    }
    FM_STAT(t->counters->n_cma_refused++);
    FM_STAT(if (t->counters->on_cma_refused) fm_shm_event_refused(ep, error));
    return false;
}

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

/* ---- Claiming chunks ------------------------------------------------------------------------ */

static uint64_t ticket_of(uint32_t generation, uint64_t n_chunks)
{
    return (uint64_t)generation << 2 * N_BITS | n_chunks << N_BITS;
}

/* The next chunk of this generation, or -1 when none is left. */
static int64_t claim(struct fm_shm_copy *c, uint32_t generation)
{
    uint64_t t = atomic_load_explicit(&c->ticket, memory_order_acquire);

    do {
        if (t >> 2 * N_BITS != generation || (t & N_MASK) >= (t >> N_BITS & N_MASK)) {
            return -1;
        }
    } while (!atomic_compare_exchange_weak_explicit(&c->ticket, &t, t + 1, memory_order_acq_rel,
                                                    memory_order_acquire));
    return (int64_t)(t & N_MASK);
}

static size_t chunk_len(const struct fm_shm_copy *c, uint64_t k)
{
    uint64_t left = c->len - k * c->chunk;

    return left < c->chunk ? left : c->chunk;
}

/* ---- The initiator -------------------------------------------------------------------------- */

static struct sides sides_of(const struct fm_rma *rma)
{
    if (rma->n_pieces) {
        return (struct sides){
            .target = rma->remote.addr, .pieces = rma->pieces, .n_pieces = rma->n_pieces};
    }
    return (struct sides){.initiator = (uintptr_t)rma->local,
                          .target = rma->remote.addr + rma->remote_at};
}

/* Whoever has a request with this peer is to know why it fails. */
FM_COLD static int ended(struct fm_shm_ep *ep)
{
    return fm_shm_msg_fail(ep, "the process has ended during a transfer");
}

static int copy_own(struct fm_shm_job *job, struct fm_shm_copy *c, uint64_t k)
{
    struct sides s = sides_of(job->rma);
    int rc = copy(job->ep, c->op == FM_RMA_GET, &s, k * c->chunk, chunk_len(c, k));

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

/* Two that copy for each other at the same time are slower than two that copy for themselves. */
static void note_help(const struct fm_shm_job *job, uint32_t n_helped)
{
    struct fm_shm_ep *ep = job->ep;

    if (n_helped) {
        ep->n_misses = ep->n_alone = 0;
    } else if (job->is_asked && ++ep->n_misses >= FM_SHM_MISSES) {
        ep->n_alone = FM_SHM_ALONE;
    }
}

/* All chunks are claimed: have they come, too? How many things happened. */
static int settle(struct fm_shm_transport *t, struct fm_shm_job *job, struct fm_shm_copy *c)
{
    uint64_t n_chunks = atomic_load_explicit(&c->ticket, memory_order_relaxed) >> N_BITS & N_MASK;
    uint32_t n_helped = atomic_load_explicit(&c->n_helped, memory_order_acquire);
    uint32_t lost = atomic_load_explicit(&c->n_lost, memory_order_acquire);

    if (lost) { /* what the helper could not copy; it does not come back */
        int rc = copy_own(job, c, lost - 1);

        job->status = job->status ? job->status : rc;
        job->n_own++;
        job->ep->can_help = false;
        atomic_store_explicit(&c->n_lost, 0, memory_order_relaxed);
    }
    if (job->n_own + n_helped == n_chunks) {
        FM_STAT(t->counters->n_chunks_helped += n_helped);
        note_help(job, n_helped);
        end(t, job);
        return 1;
    }
    if (++job->n_idle % IDLE_POLLS == 0 && fm_shm_open_is_gone(job->ep)) {
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
    int64_t k = claim(c, job->generation);

    if (k < 0) {
        return settle(t, job, c);
    }
    /* After a failure the rest is claimed, so that the helper ends too, but not copied. */
    if (job->status == 0) {
        job->status = copy_own(job, c, (uint64_t)k);
    }
    job->n_own++;
    return 1;
}

/* Ask the peer, if it is awake; when there is no room for the question, do without. Asked? */
static bool ask(struct fm_shm_transport *t, struct fm_shm_ep *ep, unsigned slot)
{
    struct plea p = {.from = t->self, .slot = slot, .generation = t->jobs[slot].generation};

    return atomic_load_explicit(&ep->header->bell, memory_order_relaxed) == 0 &&
           fm_shm_msg_send_private(ep, &p, sizeof(p)) == 0;
}

static bool is_shared(const struct fm_shm_transport *t, const struct fm_shm_ep *ep, size_t len)
{
    return ep->can_help && !t->is_crowded && len >= t->help_len;
}

/* The pieces of a shared transfer: a half for each while that is short. */
static size_t shared_chunk(const struct fm_shm_transport *t, size_t len)
{
    size_t half = (len / 2 + 4095) & ~(size_t)4095;

    return half < t->chunk ? half : t->chunk;
}

/* The start of a transfer that goes on in poll(). */
static int start(struct fm_shm_transport *t, struct fm_shm_ep *ep, struct fm_rma *rma, size_t chunk,
                 bool may_ask)
{
    struct sides s = sides_of(rma);
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
    while ((rma->len - 1) / chunk >=
           N_MASK) { /* far beyond any memory that a default chunk meets */
        chunk *= 2;
    }
    t->generation = (t->generation + 1) & GEN_MASK;
    *job = (struct fm_shm_job){.rma = rma, .ep = ep, .generation = t->generation};
    c->op = rma->op;
    c->target = ep->ep.peer;
    c->initiator_addr = s.initiator;
    c->target_addr = s.target;
    c->pieces_addr = (uintptr_t)s.pieces;
    c->n_pieces = s.n_pieces;
    c->len = rma->len;
    c->chunk = chunk;
    atomic_store_explicit(&c->n_helped, 0, memory_order_relaxed);
    atomic_store_explicit(&c->n_lost, 0, memory_order_relaxed);
    atomic_store_explicit(&c->ticket, ticket_of(job->generation, (rma->len + chunk - 1) / chunk),
                          memory_order_release); /* with the claim of a helper */
    t->n_jobs++;
    job->is_asked = may_ask && ask(t, ep, slot);
    return 0;
}

int fm_shm_copy_rma(struct fm_ep *fep, struct fm_rma *rma)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    struct fm_shm_transport *t = (struct fm_shm_transport *)fep->tp;
    struct sides s = sides_of(rma);
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
    can_share = is_shared(t, ep, rma->len);
    if (can_share && ep->n_alone == 0) {
        return start(t, ep, rma, shared_chunk(t, rma->len), true);
    }
    if (rma->len > 8 * t->chunk) { /* let messages flow from time to time */
        rc = start(t, ep, rma, 8 * t->chunk, false);
        ep->n_alone -= can_share && rc == 0;
        return rc;
    }
    ep->n_alone -= can_share;
    rc = copy(ep, rma->op == FM_RMA_GET, &s, 0, rma->len);
    FM_STAT(t->counters->n_cma_transfers++);
    rma->done(rma, rc);
    if (FM_UNLIKELY(rc == -FM_E_PEER)) {
        (void)ended(ep);
    }
    return 0;
}

/* ---- The helper ----------------------------------------------------------------------------- */

void fm_shm_copy_asked(struct fm_shm_transport *t, const void *data, size_t len)
{
    struct plea p;
    struct fm_shm_ep *ep = t->eps;
    struct fm_shm_help *place = NULL;

    if (len != sizeof(p)) {
        return;
    }
    memcpy(&p, data, sizeof(p));
    while (ep && ep->ep.peer != p.from) {
        ep = ep->next;
    }
    if (!ep || ep->ep.no_rma || p.slot >= FM_SHM_COPIES) {
        return;
    }
    for (unsigned k = 0; k < FM_SHM_COPIES; k++) {
        struct fm_shm_help *h = &t->helps[k];

        if (h->ep == ep && h->slot == p.slot) { /* that transfer is over, this one took its place */
            place = h;
            break;
        }
        place = h->ep ? place : h;
    }
    if (place) {
        t->n_helps += !place->ep;
        place->ep = ep;
        place->slot = p.slot;
        place->generation = p.generation;
        place->has_pieces = false;
    }
}

/* The initiator's list of pieces, which stays while one of its chunks is claimed here. Read once:
   what comes after the first chunk is not looked at. */
static int read_pieces(struct fm_shm_help *h, const struct fm_shm_copy *c)
{
    struct sides s = {.initiator = (uintptr_t)h->pieces, .target = c->pieces_addr};
    uint32_t n = c->n_pieces;
    int rc = 0;

    if (!h->has_pieces) {
        rc = n > FM_SHM_PIECES ? -FM_E_PROTO
                               : copy(h->ep, true, &s, 0, n * sizeof(struct fm_rma_piece));
        h->n_pieces = n;
        h->has_pieces = rc == 0;
    }
    return rc;
}

/* Copy chunk k of a transfer of the peer's. */
static int help_with(struct fm_shm_transport *t, struct fm_shm_help *h, struct fm_shm_copy *c,
                     uint64_t k)
{
    struct sides s = {.initiator = c->initiator_addr,
                      .target = c->target_addr,
                      .pieces = h->pieces,
                      .is_target = true};
    int rc;

    /* A transfer that has nothing to do with this process (a plea that lay here for 2^24 others) is
       not touched. */
    if (c->target != t->self) {
        return -FM_E_PROTO;
    }
    rc = read_pieces(h, c);
    s.n_pieces = h->n_pieces;
    /* Seen from here a GET of the initiator is a write. */
    return rc ? rc : copy(h->ep, c->op != FM_RMA_GET, &s, k * c->chunk, chunk_len(c, k));
}

/* One chunk for a peer. 1, or 0 when there is none left. */
static int help(struct fm_shm_transport *t, struct fm_shm_help *h)
{
    struct fm_shm_copy *c = &h->ep->header->copies[h->slot];
    int64_t k = claim(c, h->generation);

    if (k < 0) {
        h->ep = NULL;
        t->n_helps--;
        return 0;
    }
    if (help_with(t, h, c, (uint64_t)k) < 0) {
        atomic_store_explicit(&c->n_lost, (uint32_t)k + 1, memory_order_release);
        h->ep = NULL;
        t->n_helps--;
        return 0;
    }
    atomic_fetch_add_explicit(&c->n_helped, 1, memory_order_release);
    FM_STAT(t->counters->n_chunks_given++);
    return 1;
}

/* ---- Progress ------------------------------------------------------------------------------- */

/* Own transfers first; in the meantime those who asked go on alone. */
int fm_shm_copy_poll(struct fm_shm_transport *t)
{
    int n = 0;

    for (unsigned k = 0; k < FM_SHM_COPIES; k++) {
        n += t->jobs[k].rma ? advance(t, k) : 0;
    }
    for (unsigned k = 0; k < FM_SHM_COPIES && t->n_helps && !t->n_jobs; k++) {
        n += t->helps[k].ep ? help(t, &t->helps[k]) : 0;
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
        while (t->helps[k].ep && (!ep || t->helps[k].ep == ep)) {
            help(t, &t->helps[k]);
        }
    }
}

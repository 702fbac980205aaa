/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Copy assist: chunks of a peer's transfer that this process copies, on request (shm_copy.c).
 *
 * The helper reads the initiator's list of pieces as it reads anything there, by a system call.
 */
#include <string.h>
#include <sys/prctl.h>

#include "transport/shm/shm.h"

void fm_shm_assist_requested(struct fm_shm_transport *t, const void *data, size_t len)
{
    struct fm_shm_request p;
    struct fm_shm_ep *ep = t->eps;
    struct fm_shm_assist *place = NULL;

    /* A process whose memory the kernel keeps from its peers does not open it by assisting. */
    if (len != sizeof(p) || prctl(PR_GET_DUMPABLE) != 1) {
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
        struct fm_shm_assist *h = &t->assists[k];

        if (h->ep == ep && h->slot == p.slot) { /* that transfer is over, this one took its place */
            place = h;
            break;
        }
        place = h->ep ? place : h;
    }
    if (place) {
        t->n_assists += !place->ep;
        place->ep = ep;
        place->slot = p.slot;
        place->generation = p.generation;
        place->has_pieces = false;
    }
}

/* What the initiator wrote of its transfer, read once. It stays while a chunk is claimed here,
   unless the initiator is broken: so it is used only as arguments of system calls. */
struct transfer {
    uint64_t initiator_addr, target_addr, len, chunk, pieces_addr;
    uint32_t op, n_pieces;
    int32_t target;
};

static struct transfer read_transfer(const struct fm_shm_copy *copy)
{
    const volatile struct fm_shm_copy *c = copy;

    return (struct transfer){.initiator_addr = c->initiator_addr,
                             .target_addr = c->target_addr,
                             .len = c->len,
                             .chunk = c->chunk,
                             .pieces_addr = c->pieces_addr,
                             .op = c->op,
                             .n_pieces = c->n_pieces,
                             .target = c->target};
}

/* The initiator's list of pieces, read with the first chunk. */
static int read_pieces(struct fm_shm_assist *h, const struct transfer *x)
{
    struct fm_shm_sides s = {.initiator = (uintptr_t)h->pieces, .target = x->pieces_addr};
    int rc = 0;

    if (!h->has_pieces) {
        rc = x->n_pieces > FM_SHM_PIECES
                 ? -FM_E_PROTO
                 : fm_shm_cma_move(h->ep, true, &s, 0, x->n_pieces * sizeof(struct fm_rma_piece));
        h->n_pieces = x->n_pieces;
        h->has_pieces = rc == 0;
    }
    return rc;
}

/* Copy chunk k of a transfer of the peer's. */
static int copy_chunk(struct fm_shm_transport *t, struct fm_shm_assist *h,
                      const struct fm_shm_copy *c, uint64_t k)
{
    struct transfer x = read_transfer(c);
    size_t len = fm_shm_cma_chunk_len(x.len, x.chunk, k);
    struct fm_shm_sides s = {.initiator = x.initiator_addr,
                             .target = x.target_addr,
                             .pieces = h->pieces,
                             .is_target = true};
    int rc;

    /* Another target: the request is 2^24 transfers old, and its place holds one with another
       process. */
    if (x.target != t->self || x.op > FM_RMA_PUT || len == 0) {
        return -FM_E_PROTO;
    }
    rc = read_pieces(h, &x);
    s.n_pieces = h->n_pieces;
    /* Seen from here a GET of the initiator is a write. */
    return rc ? rc : fm_shm_cma_move(h->ep, x.op == FM_RMA_PUT, &s, k * x.chunk, len);
}

/* One chunk for a peer. 1, or 0 when there is none left. */
static int assist(struct fm_shm_transport *t, struct fm_shm_assist *h)
{
    struct fm_shm_copy *c = &h->ep->header->copies[h->slot];
    int64_t k = fm_shm_cma_claim(c, h->generation);

    if (k < 0) {
        h->ep = NULL;
        t->n_assists--;
        return 0;
    }
    if (copy_chunk(t, h, c, (uint64_t)k) < 0) {
        atomic_store_explicit(&c->n_lost, (uint32_t)k + 1, memory_order_release);
        h->ep = NULL;
        t->n_assists--;
        return 0;
    }
    atomic_fetch_add_explicit(&c->n_assisted, 1, memory_order_release);
    FM_STAT(t->counters->n_chunks_for_peers++);
    return 1;
}

int fm_shm_assist_poll(struct fm_shm_transport *t)
{
    int n = 0;

    for (unsigned k = 0; k < FM_SHM_COPIES && t->n_assists; k++) {
        n += t->assists[k].ep ? assist(t, &t->assists[k]) : 0;
    }
    return n;
}

void fm_shm_assist_finish(struct fm_shm_transport *t, struct fm_shm_ep *ep)
{
    for (unsigned k = 0; k < FM_SHM_COPIES; k++) {
        while (t->assists[k].ep && (!ep || t->assists[k].ep == ep)) {
            assist(t, &t->assists[k]);
        }
    }
}

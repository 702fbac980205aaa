/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Cross-memory attach (CMA): process_vm_readv(2) and process_vm_writev(2), and the ticket by which
 * two processes share the chunks of one transfer.
 *
 * What a peer names in a transfer is used only as arguments of these system calls, which the kernel
 * checks.
 */
#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "transport/shm/shm.h"

struct vectors {
    struct iovec initiator[FM_SHM_PIECES], target[FM_SHM_PIECES];
    unsigned long n;
};

static void *address(uint64_t a)
{
    return (void *)(uintptr_t)a; // NOLINT
}

/* Where the bytes [at, at + len) of the transfer lie. */
static void find(const struct fm_shm_sides *s, uint64_t at, size_t len, struct vectors *out)
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

int fm_shm_cma_move(struct fm_shm_ep *ep, bool is_read, const struct fm_shm_sides *s, uint64_t at,
                    size_t len)
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

bool fm_shm_cma_probe(struct fm_shm_ep *ep)
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

int64_t fm_shm_cma_claim(struct fm_shm_copy *c, uint32_t generation)
{
    uint64_t t = atomic_load_explicit(&c->ticket, memory_order_acquire);

    do {
        if (t >> 2 * FM_SHM_CHUNK_BITS != generation ||
            (t & FM_SHM_CHUNK_MASK) >= (t >> FM_SHM_CHUNK_BITS & FM_SHM_CHUNK_MASK)) {
            return -1;
        }
    } while (!atomic_compare_exchange_weak_explicit(&c->ticket, &t, t + 1, memory_order_acq_rel,
                                                    memory_order_acquire));
    return (int64_t)(t & FM_SHM_CHUNK_MASK);
}

size_t fm_shm_cma_chunk_len(uint64_t len, uint64_t chunk, uint64_t k)
{
    uint64_t left;

    if (chunk == 0 || len == 0 || k > (len - 1) / chunk) {
        return 0;
    }
    left = len - k * chunk;
    return left < chunk ? left : chunk;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory over libfabric: expose, get, put; atomics are in ofi_atomic.c.
 *
 * A transfer goes in pieces of at most the provider's max_msg_size, one after the other; providers
 * give 1 GiB or more, so nearly all have one piece. Atomics have pieces of a few KiB. A refused
 * first piece refuses the transfer; a refused later one waits for poll().
 *
 * What a put or an atomic did must be visible at the target when the transfer is done.
 * FI_DELIVERY_COMPLETE says so (fi_cq(3)). Where a provider refuses that flag (verbs), one more
 * transfer reads the last byte back: the completion of a read means that all earlier writes of this
 * endpoint have reached memory, since the channel adapter orders reads behind writes.
 */
#include <string.h>

#include "transport/ofi/ofi.h"

static struct fm_ofi *ofi_of(struct fm_transport *tp)
{
    return fm_container_of(tp, struct fm_ofi, tp);
}

/* Who may write may read, too: see the reading back above. */
static uint64_t access_of(unsigned rights)
{
    uint64_t access = FI_READ | FI_WRITE;

    if (rights & (FM_MEM_WRITE | FM_MEM_ATOMIC)) {
        return access | FI_REMOTE_READ | FI_REMOTE_WRITE;
    }
    return rights & FM_MEM_READ ? access | FI_REMOTE_READ : access;
}

int fm_ofi_expose(struct fm_transport *tp, void *addr, size_t len, unsigned rights,
                  enum fm_mem_life life, struct fm_mem *out_mem)
{
    struct fm_ofi *ofi = ofi_of(tp);
    struct fid_mr *mr;
    int rc;

    if (!tp->has_rma) {
        return fm_fail(-FM_E_UNSUPPORTED, "libfabric provider %s is used without RMA",
                       ofi->info->fabric_attr->prov_name);
    }
    rc = fm_ofi_register(ofi, addr, len, access_of(rights), &mr);
    if (rc) {
        return rc;
    }
    *out_mem = (struct fm_mem){.addr = addr, .len = len, .life = life, .priv = mr};
    out_mem->rkey.addr = ofi->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)addr : 0;
    out_mem->rkey.key = fi_mr_key(mr);
    FM_STAT(fathom_level_add(&ofi->w->windows, life == FM_MEM_WINDOW));
    return 0;
}

static void unregister(struct fm_ofi *ofi, struct fid_mr *mr, size_t len)
{
    fi_close(&mr->fid);
    FM_STAT(fathom_level_add(&ofi->w->registered, -1));
    FM_STAT(fathom_level_add(&ofi->w->registered_bytes, -(int64_t)len));
}

void fm_ofi_unexpose(struct fm_transport *tp, struct fm_mem *mem)
{
    struct fm_ofi *ofi = ofi_of(tp);

    if (mem->priv) {
        unregister(ofi, mem->priv, mem->len);
        mem->priv = NULL;
        FM_STAT(fathom_level_add(&ofi->w->windows, -(mem->life == FM_MEM_WINDOW)));
    }
}

static uint64_t remote_addr(const struct fm_ofi_transfer *t)
{
    return t->rma->remote.addr + t->rma->remote_at + t->at;
}

static ssize_t write_piece(struct fm_ofi *ofi, struct fm_ofi_transfer *t, uint64_t flags)
{
    struct iovec iov = {.iov_base = (char *)t->rma->local + t->at, .iov_len = t->in_piece};
    struct fi_rma_iov rma_iov = {
        .addr = remote_addr(t), .len = t->in_piece, .key = t->rma->remote.key};
    struct fi_msg_rma msg = {.msg_iov = &iov,
                             .desc = &t->desc[FM_OFI_LOCAL],
                             .iov_count = 1,
                             .addr = t->ep->addr,
                             .rma_iov = &rma_iov,
                             .rma_iov_count = 1,
                             .context = &t->op.ctx};

    return fi_writemsg(ofi->fi_ep, &msg, flags);
}

static ssize_t update_piece(struct fm_ofi *ofi, struct fm_ofi_transfer *t, uint64_t flags)
{
    return t->rma->op == FM_RMA_PUT ? write_piece(ofi, t, flags)
                                    : fm_ofi_atomic_post(ofi, t, flags);
}

/* A put or an atomic, whose completion means that it is visible at the target. */
static ssize_t update_visibly(struct fm_ofi *ofi, struct fm_ofi_transfer *t)
{
    ssize_t rc;

    if (!ofi->lacks_delivery) {
        rc = update_piece(ofi, t, FI_COMPLETION | FI_DELIVERY_COMPLETE);
        if (rc == 0 || rc == -FI_EAGAIN) {
            return rc;
        }
        ofi->lacks_delivery =
            rc == -FI_EOPNOTSUPP || rc == -FI_EINVAL || rc == -FI_ENOSYS || rc == -FI_EBADFLAGS;
    }
    return update_piece(ofi, t, FI_COMPLETION);
}

/* Read the last byte that was written. */
static ssize_t read_back(struct fm_ofi *ofi, struct fm_ofi_transfer *t)
{
    void *desc = ofi->read_back_mr ? fi_mr_desc(ofi->read_back_mr) : NULL;

    return fi_read(ofi->fi_ep, &ofi->read_back, 1, desc, t->ep->addr, remote_addr(t) - 1,
                   t->rma->remote.key, &t->op.ctx);
}

static size_t max_piece(const struct fm_ofi *ofi, const struct fm_rma *rma)
{
    return rma->op > FM_RMA_PUT ? fm_ofi_atomic_max(ofi, rma->type)
                                : ofi->info->ep_attr->max_msg_size;
}

/* Hand the next piece to the provider: 0 or its refusal. */
static ssize_t next_piece(struct fm_ofi *ofi, struct fm_ofi_transfer *t)
{
    const struct fm_rma *rma = t->rma;
    size_t max = max_piece(ofi, rma);

    if (t->is_read_back) {
        return read_back(ofi, t);
    }
    t->in_piece = rma->len - t->at < max ? rma->len - t->at : max;
    if (rma->op != FM_RMA_GET) {
        return update_visibly(ofi, t);
    }
    return fi_read(ofi->fi_ep, (char *)rma->local + t->at, t->in_piece, t->desc[FM_OFI_LOCAL],
                   t->ep->addr, remote_addr(t), rma->remote.key, &t->op.ctx);
}

static void close_own_mrs(struct fm_ofi *ofi, struct fm_ofi_transfer *t)
{
    for (int k = 0; k < FM_OFI_N_LOCALS; k++) {
        if (t->own_mr[k]) {
            unregister(ofi, t->own_mr[k], t->rma->len);
        }
    }
}

static void transfer_end(struct fm_ofi *ofi, struct fm_ofi_transfer *t, int status)
{
    struct fm_rma *rma = t->rma;
    struct fm_ofi_ep *e = t->ep;

    close_own_mrs(ofi, t);
    fm_list_remove(&t->link);
    fm_pool_put(&ofi->transfers, t);
    FM_STAT(fathom_level_add(&ofi->w->transfers, -1));
    rma->priv = NULL;
    rma->done(rma, status);
    fm_ofi_ep_landed(e);
}

/* The provider did not take a later piece. */
FM_COLD static void piece_refused(struct fm_ofi *ofi, struct fm_ofi_transfer *t, ssize_t rc)
{
    if (rc == -FI_EAGAIN) {
        FM_STAT(ofi->w->n_again++);
        fm_list_remove(&t->link);
        fm_list_push(&ofi->transfers_waiting, &t->link);
        return;
    }
    transfer_end(ofi, t,
                 fm_fail(-FM_E_PEER, "cannot reach the memory of process %d: %s", t->ep->ep.peer,
                         ofi->lib->strerror((int)-rc)));
}

void fm_ofi_rma_landed(struct fm_ofi *ofi, struct fm_ofi_transfer *t, int err)
{
    ssize_t rc;

    if (FM_UNLIKELY(err)) {
        transfer_end(ofi, t,
                     fm_fail(-FM_E_PEER, "transfer of %zu bytes with process %d failed: %s",
                             t->rma->len, t->ep->ep.peer, ofi->lib->strerror(err)));
        return;
    }
    t->at += t->in_piece;
    t->in_piece = 0;
    if (t->at == t->rma->len) {
        if (t->is_read_back || !ofi->lacks_delivery || t->rma->op == FM_RMA_GET || t->rma->result) {
            transfer_end(ofi, t, 0);
            return;
        }
        t->is_read_back = true;
    }
    rc = next_piece(ofi, t);
    if (rc) {
        piece_refused(ofi, t, rc);
    }
}

void fm_ofi_rma_resume(struct fm_ofi *ofi)
{
    struct fm_list *l;

    while ((l = fm_list_first(&ofi->transfers_waiting))) {
        struct fm_ofi_transfer *t = fm_container_of(l, struct fm_ofi_transfer, link);
        ssize_t rc = t->ep->is_dead ? -FI_ECONNABORTED : next_piece(ofi, t);

        if (rc == -FI_EAGAIN) {
            return;
        }
        fm_list_remove(&t->link);
        fm_list_push(&ofi->transfers_flying, &t->link);
        if (rc) {
            piece_refused(ofi, t, rc);
        }
    }
}

/* Descriptors of the local memory where the provider wants them (FI_MR_LOCAL). */
static int describe_local(struct fm_ofi *ofi, struct fm_ofi_transfer *t)
{
    const struct fm_rma *rma = t->rma;
    const void *buffers[FM_OFI_N_LOCALS] = {rma->local, rma->result, rma->compare};
    int rc = 0;

    memset(t->desc, 0, sizeof(t->desc));
    memset(t->own_mr, 0, sizeof(t->own_mr));
    if (rma->mem && rma->mem->priv) {
        t->desc[FM_OFI_LOCAL] = fi_mr_desc(rma->mem->priv);
        buffers[FM_OFI_LOCAL] = NULL;
    }
    for (int k = 0; k < FM_OFI_N_LOCALS && (ofi->mr_mode & FI_MR_LOCAL) && rc == 0; k++) {
        if (buffers[k]) {
            rc = fm_ofi_register(ofi, (void *)(uintptr_t)buffers[k], rma->len, FI_READ | FI_WRITE,
                                 &t->own_mr[k]);
            t->desc[k] = rc ? NULL : fi_mr_desc(t->own_mr[k]);
        }
    }
    return rc;
}

static void count_transfer(struct fm_ofi *ofi, const struct fm_rma *rma)
{
    if (rma->op == FM_RMA_GET) {
        FM_STAT(ofi->w->n_reads++);
        FM_STAT(ofi->w->bytes_read += rma->len);
    } else if (rma->op == FM_RMA_PUT) {
        FM_STAT(ofi->w->n_writes++);
        FM_STAT(ofi->w->bytes_written += rma->len);
    } else {
        FM_STAT(ofi->w->n_atomics++);
        FM_STAT(ofi->w->atomic_bytes += rma->len);
    }
    FM_STAT(fathom_level_add(&ofi->w->transfers, 1));
}

static bool can_do(const struct fm_transport *tp, const struct fm_rma *rma)
{
    return rma->op <= FM_RMA_PUT ? tp->has_rma : fm_transport_has_atomic(tp, rma->op, rma->type);
}

/* The provider did not take the first piece. */
FM_COLD static int transfer_refused(struct fm_ofi *ofi, const struct fm_ofi_ep *e, ssize_t rc)
{
    if (rc == -FI_EAGAIN) {
        FM_STAT(ofi->w->n_again++);
        ofi->was_refused = true;
        return FM_AGAIN;
    }
    return fm_fail(-FM_E_PEER, "cannot reach the memory of process %d: %s", e->ep.peer,
                   ofi->lib->strerror((int)-rc));
}

int fm_ofi_rma(struct fm_ep *ep, struct fm_rma *rma)
{
    struct fm_ofi_ep *e = fm_container_of(ep, struct fm_ofi_ep, ep);
    struct fm_ofi *ofi = ofi_of(ep->tp);
    struct fm_ofi_transfer *t;
    int rc;

    if (e->is_dead || !can_do(ep->tp, rma)) {
        return fm_fail(e->is_dead ? -FM_E_PEER : -FM_E_UNSUPPORTED,
                       "no such transfer of memory with process %d", ep->peer);
    }
    if (rma->len == 0) {
        rma->done(rma, 0);
        return 0;
    }
    t = fm_pool_get(&ofi->transfers);
    if (!t) {
        return FM_AGAIN;
    }
    t->op.kind = FM_OFI_RMA;
    t->ep = e;
    t->rma = rma;
    t->at = 0;
    t->is_read_back = false;
    rc = describe_local(ofi, t);
    if (rc == 0) {
        ssize_t refusal = next_piece(ofi, t);

        rc = refusal ? transfer_refused(ofi, e, refusal) : 0;
    }
    if (rc) {
        close_own_mrs(ofi, t);
        fm_pool_put(&ofi->transfers, t);
        return rc;
    }
    rma->priv = t;
    e->n_flying++;
    fm_list_push(&ofi->transfers_flying, &t->link);
    count_transfer(ofi, rma);
    return 0;
}

void fm_ofi_rma_finish(struct fm_ofi *ofi)
{
    struct fm_list *l;

    while ((l = fm_list_first(&ofi->transfers_waiting)) ||
           (l = fm_list_first(&ofi->transfers_flying))) {
        transfer_end(ofi, fm_container_of(l, struct fm_ofi_transfer, link), -FM_E_CANCELLED);
    }
}

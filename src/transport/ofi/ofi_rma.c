/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory over libfabric: expose, get, put.
 *
 * A transfer goes in pieces of at most the provider's max_msg_size, one after the other; providers
 * give 1 GiB or more, so nearly all have one piece. A refused first piece refuses the transfer; a
 * refused later one waits for poll().
 */
#include <string.h>

#include "transport/ofi/ofi.h"

static struct fm_ofi *ofi_of(struct fm_transport *tp)
{
    return fm_container_of(tp, struct fm_ofi, tp);
}

int fm_ofi_expose(struct fm_transport *tp, void *addr, size_t len, struct fm_mem *out_mem)
{
    struct fm_ofi *ofi = ofi_of(tp);
    struct fid_mr *mr;
    int rc;

    if (!tp->has_rma) {
        return fm_fail(-FM_E_UNSUPPORTED, "libfabric provider %s is used without RMA",
                       ofi->info->fabric_attr->prov_name);
    }
    rc =
        fm_ofi_register(ofi, addr, len, FI_REMOTE_READ | FI_REMOTE_WRITE | FI_READ | FI_WRITE, &mr);
    if (rc) {
        return rc;
    }
    *out_mem = (struct fm_mem){.addr = addr, .len = len, .priv = mr};
    out_mem->rkey.addr = ofi->mr_mode & FI_MR_VIRT_ADDR ? (uintptr_t)addr : 0;
    out_mem->rkey.key = fi_mr_key(mr);
    return 0;
}

void fm_ofi_unexpose(struct fm_transport *tp, struct fm_mem *mem)
{
    struct fid_mr *mr = mem->priv;

    (void)tp;
    if (mr) {
        fi_close(&mr->fid);
        mem->priv = NULL;
        FM_STAT(fathom_level_add(&ofi_of(tp)->w->registered, -1));
        FM_STAT(fathom_level_add(&ofi_of(tp)->w->registered_bytes, -(int64_t)mem->len));
    }
}

/* Write so that the completion means: it can be seen over there. */
static ssize_t write_piece(struct fm_ofi *ofi, struct fm_ofi_transfer *t, char *local,
                           uint64_t remote)
{
    struct iovec iov = {.iov_base = local, .iov_len = t->in_piece};
    struct fi_rma_iov rma_iov = {.addr = remote, .len = t->in_piece, .key = t->rma->remote.key};
    struct fi_msg_rma msg = {.msg_iov = &iov,
                             .desc = t->desc ? &t->desc : NULL,
                             .iov_count = 1,
                             .addr = t->ep->addr,
                             .rma_iov = &rma_iov,
                             .rma_iov_count = 1,
                             .context = &t->op.ctx};
    ssize_t rc;

    if (!ofi->lacks_delivery) {
        rc = fi_writemsg(ofi->fi_ep, &msg, FI_COMPLETION | FI_DELIVERY_COMPLETE);
        if (rc == 0 || rc == -FI_EAGAIN) {
            return rc;
        }
        ofi->lacks_delivery =
            rc == -FI_EOPNOTSUPP || rc == -FI_EINVAL || rc == -FI_ENOSYS || rc == -FI_EBADFLAGS;
    }
    return fi_writemsg(ofi->fi_ep, &msg, FI_COMPLETION);
}

/* Hand the next piece to the provider: 0 or its refusal. */
static ssize_t next_piece(struct fm_ofi *ofi, struct fm_ofi_transfer *t)
{
    const struct fm_rma *rma = t->rma;
    char *local = (char *)rma->local + t->at;
    uint64_t remote = rma->remote.addr + rma->remote_at + t->at;
    size_t max = ofi->info->ep_attr->max_msg_size;

    t->in_piece = rma->len - t->at < max ? rma->len - t->at : max;
    if (rma->op == FM_RMA_PUT) {
        return write_piece(ofi, t, local, remote);
    }
    return fi_read(ofi->fi_ep, local, t->in_piece, t->desc, t->ep->addr, remote, rma->remote.key,
                   &t->op.ctx);
}

static void close_own_mr(struct fm_ofi *ofi, struct fm_ofi_transfer *t)
{
    if (t->own_mr) {
        fi_close(&t->own_mr->fid);
        FM_STAT(fathom_level_add(&ofi->w->registered, -1));
        FM_STAT(fathom_level_add(&ofi->w->registered_bytes, -(int64_t)t->rma->len));
    }
}

static void transfer_end(struct fm_ofi *ofi, struct fm_ofi_transfer *t, int status)
{
    struct fm_rma *rma = t->rma;
    struct fm_ofi_ep *e = t->ep;

    close_own_mr(ofi, t);
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
    if (t->at == t->rma->len) {
        transfer_end(ofi, t, 0);
        return;
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

/* A descriptor of the local memory where the provider wants one (FI_MR_LOCAL). */
static int describe_local(struct fm_ofi *ofi, struct fm_ofi_transfer *t)
{
    const struct fm_rma *rma = t->rma;
    int rc;

    t->desc = NULL;
    t->own_mr = NULL;
    if (rma->mem && rma->mem->priv) {
        t->desc = fi_mr_desc(rma->mem->priv);
        return 0;
    }
    if (!(ofi->mr_mode & FI_MR_LOCAL)) {
        return 0;
    }
    rc = fm_ofi_register(ofi, rma->local, rma->len, FI_READ | FI_WRITE, &t->own_mr);
    if (rc == 0) {
        t->desc = fi_mr_desc(t->own_mr);
    }
    return rc;
}

static void count_transfer(struct fm_ofi *ofi, const struct fm_rma *rma)
{
    if (rma->op == FM_RMA_GET) {
        FM_STAT(ofi->w->n_reads++);
        FM_STAT(ofi->w->bytes_read += rma->len);
    } else {
        FM_STAT(ofi->w->n_writes++);
        FM_STAT(ofi->w->bytes_written += rma->len);
    }
    FM_STAT(fathom_level_add(&ofi->w->transfers, 1));
}

int fm_ofi_rma(struct fm_ep *ep, struct fm_rma *rma)
{
    struct fm_ofi_ep *e = fm_container_of(ep, struct fm_ofi_ep, ep);
    struct fm_ofi *ofi = ofi_of(ep->tp);
    struct fm_ofi_transfer *t;
    ssize_t rc;

    if (!ep->tp->has_rma || e->is_dead) {
        return fm_fail(e->is_dead ? -FM_E_PEER : -FM_E_UNSUPPORTED,
                       "no transfer of memory with process %d", ep->peer);
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
    rc = describe_local(ofi, t);
    if (rc) {
        goto err_put;
    }
    rc = next_piece(ofi, t);
    if (rc) {
        goto err_close;
    }
    rma->priv = t;
    e->n_flying++;
    fm_list_push(&ofi->transfers_flying, &t->link);
    count_transfer(ofi, rma);
    return 0;

err_close:
    close_own_mr(ofi, t);
    if (rc == -FI_EAGAIN) {
        FM_STAT(ofi->w->n_again++);
        ofi->was_refused = true;
        rc = FM_AGAIN;
    } else {
        rc = fm_fail(-FM_E_PEER, "cannot reach the memory of process %d: %s", ep->peer,
                     ofi->lib->strerror((int)-rc));
    }
err_put:
    fm_pool_put(&ofi->transfers, t);
    return (int)rc;
}

void fm_ofi_rma_finish(struct fm_ofi *ofi)
{
    struct fm_list *l;

    while ((l = fm_list_first(&ofi->transfers_waiting)) ||
           (l = fm_list_first(&ofi->transfers_flying))) {
        transfer_end(ofi, fm_container_of(l, struct fm_ofi_transfer, link), -FM_E_CANCELLED);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Atomic operations over libfabric.
 *
 * Providers say for each operation and type how many elements one call takes, separately for calls
 * that return the old elements (fetch), that do not (write), and that compare. An operation is
 * offered when the provider has all the forms of it that fm_rma allows.
 */
#include <string.h>

#include "transport/ofi/ofi.h"

static const struct {
    enum fi_datatype type;
    size_t len;
} types[FM_RMA_N_TYPES] = {
    [FM_RMA_INT8] = {FI_INT8, 1},   [FM_RMA_UINT8] = {FI_UINT8, 1},
    [FM_RMA_INT16] = {FI_INT16, 2}, [FM_RMA_UINT16] = {FI_UINT16, 2},
    [FM_RMA_INT32] = {FI_INT32, 4}, [FM_RMA_UINT32] = {FI_UINT32, 4},
    [FM_RMA_INT64] = {FI_INT64, 8}, [FM_RMA_UINT64] = {FI_UINT64, 8},
    [FM_RMA_FLOAT] = {FI_FLOAT, 4}, [FM_RMA_DOUBLE] = {FI_DOUBLE, 8},
};

static const enum fi_op ops[FM_RMA_N_OPS] = {
    [FM_RMA_SUM] = FI_SUM,     [FM_RMA_PROD] = FI_PROD,         [FM_RMA_MIN] = FI_MIN,
    [FM_RMA_MAX] = FI_MAX,     [FM_RMA_LAND] = FI_LAND,         [FM_RMA_LOR] = FI_LOR,
    [FM_RMA_LXOR] = FI_LXOR,   [FM_RMA_BAND] = FI_BAND,         [FM_RMA_BOR] = FI_BOR,
    [FM_RMA_BXOR] = FI_BXOR,   [FM_RMA_NO_OP] = FI_ATOMIC_READ, [FM_RMA_REPLACE] = FI_ATOMIC_WRITE,
    [FM_RMA_CSWAP] = FI_CSWAP,
};

/* Elements that every form of this operation takes; 0: the provider lacks one. */
static size_t n_elements(struct fid_ep *ep, enum fm_rma_op op, enum fi_datatype type)
{
    size_t n = 0, n_fetch = 0;

    switch (op) {
    case FM_RMA_CSWAP:
        return fi_compare_atomicvalid(ep, type, ops[op], &n) == 0 ? n : 0;
    case FM_RMA_NO_OP:
        return fi_fetch_atomicvalid(ep, type, ops[op], &n) == 0 ? n : 0;
    default:
        if (fi_atomicvalid(ep, type, ops[op], &n) ||
            fi_fetch_atomicvalid(ep, type, ops[op], &n_fetch)) {
            return 0;
        }
        return n < n_fetch ? n : n_fetch;
    }
}

void fm_ofi_atomic_init(struct fm_ofi *ofi)
{
    if (!ofi->tp.has_rma || !(ofi->info->caps & FI_ATOMIC)) {
        return;
    }
    ofi->max_atomic = SIZE_MAX;
    for (int op = FM_RMA_SUM; op < FM_RMA_N_OPS; op++) {
        for (int k = 0; k < FM_RMA_N_TYPES; k++) {
            size_t len = types[k].len * n_elements(ofi->fi_ep, (enum fm_rma_op)op, types[k].type);

            if (len) {
                ofi->tp.atomics[op] |= UINT32_C(1) << k;
                ofi->max_atomic = len < ofi->max_atomic ? len : ofi->max_atomic;
            }
        }
    }
}

size_t fm_ofi_atomic_max(const struct fm_ofi *ofi, enum fm_rma_type type)
{
    return ofi->max_atomic / types[type].len * types[type].len;
}

static struct fi_ioc elements(const void *first, size_t at, size_t count)
{
    return (struct fi_ioc){.addr = (char *)(uintptr_t)first + at, .count = count};
}

ssize_t fm_ofi_atomic_post(struct fm_ofi *ofi, struct fm_ofi_transfer *t, uint64_t flags)
{
    const struct fm_rma *rma = t->rma;
    size_t count = t->in_piece / types[rma->type].len;
    struct fi_ioc local = elements(rma->local, t->at, count);
    struct fi_ioc result = elements(rma->result, t->at, count);
    struct fi_ioc compare = elements(rma->compare, t->at, count);
    struct fi_rma_ioc remote = {
        .addr = rma->remote.addr + rma->remote_at + t->at, .count = count, .key = rma->remote.key};
    struct fi_msg_atomic msg = {.msg_iov = &local,
                                .desc = &t->desc[FM_OFI_LOCAL],
                                .iov_count = 1,
                                .addr = t->ep->addr,
                                .rma_iov = &remote,
                                .rma_iov_count = 1,
                                .datatype = types[rma->type].type,
                                .op = ops[rma->op],
                                .context = &t->op.ctx};

    if (rma->op == FM_RMA_CSWAP) {
        return fi_compare_atomicmsg(ofi->fi_ep, &msg, &compare, &t->desc[FM_OFI_COMPARE], 1,
                                    &result, &t->desc[FM_OFI_RESULT], 1, flags);
    }
    if (rma->result) {
        return fi_fetch_atomicmsg(ofi->fi_ep, &msg, &result, &t->desc[FM_OFI_RESULT], 1, flags);
    }
    return fi_atomicmsg(ofi->fi_ep, &msg, flags);
}

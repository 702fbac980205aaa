/* SPDX-License-Identifier: BSD-3-Clause */
/* Open and close the libfabric transport. */
#include "transport/ofi/ofi_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "transport/ofi/ofi.h"
#include "transport/ofi/ofi_signals.h"

#define MAX_TRANSFERS 16384

static struct fm_ofi *ofi_of(struct fm_transport *tp)
{
    return fm_container_of(tp, struct fm_ofi, tp);
}

/* A call of libfabric failed: say which. */
FM_COLD static int failed(const struct fm_ofi *ofi, const char *call, int64_t rc)
{
    return fm_fail(-FM_E_SYSTEM, "libfabric provider %s: %s: %s",
                   ofi->info ? ofi->info->fabric_attr->prov_name : "?", call,
                   ofi->lib->strerror((int)-rc));
}

static int ofi_arm(struct fm_transport *tp, struct fm_sleep *out_sleep)
{
    struct fm_ofi *ofi = ofi_of(tp);
    struct fid *fids[] = {&ofi->cq->fid};
    bool is_busy = ofi->was_refused || ofi->waiting || ofi->n_unposted ||
                   !fm_list_is_empty(&ofi->transfers_waiting);

    /* What the provider refused may become possible without anything that wakes us. */
    ofi->was_refused = false;
    if (is_busy) {
        return FM_AGAIN;
    }
    /* Without a wait object (provider shm) the caller sleeps shortly and polls. */
    if (ofi->cq_fd < 0 || fi_trywait(ofi->fabric, fids, 1) != 0) {
        return FM_AGAIN;
    }
    *out_sleep = (struct fm_sleep){.fd = ofi->cq_fd};
    return 0;
}

static void close_fid(struct fid *fid)
{
    if (fid) {
        fi_close(fid);
    }
}

static void close_mr(struct fid_mr *mr)
{
    if (mr) {
        fi_close(&mr->fid);
    }
}

/* Takes apart what is there, in the reverse order of its making. */
static void destroy(struct fm_ofi *ofi)
{
    close_fid(ofi->fi_ep ? &ofi->fi_ep->fid : NULL);
    fm_ofi_rma_finish(ofi);
    fm_list_each(l, next, &ofi->eps)
    {
        free(fm_container_of(l, struct fm_ofi_ep, link));
    }
    close_mr(ofi->send_mr);
    close_mr(ofi->recv_mr);
    close_mr(ofi->read_back_mr);
    close_fid(ofi->cq ? &ofi->cq->fid : NULL);
    close_fid(ofi->av ? &ofi->av->fid : NULL);
    close_fid(ofi->domain ? &ofi->domain->fid : NULL);
    close_fid(ofi->fabric ? &ofi->fabric->fid : NULL);
    if (ofi->send_mem) {
        munmap(ofi->send_mem, ofi->send_mem_len);
    }
    if (ofi->recv_mem) {
        munmap(ofi->recv_mem, ofi->recv_mem_len);
    }
    free(ofi->slots);
    free(ofi->bounces);
    fm_pool_finish(&ofi->transfers);
    fm_ofi_order_finish(&ofi->order);
    if (ofi->info) {
        ofi->lib->freeinfo(ofi->info);
    }
    free(ofi);
}

static void ofi_close(struct fm_transport *tp)
{
    struct fm_ofi *ofi;

    if (!tp) {
        return;
    }
    ofi = ofi_of(tp);
    ofi->is_closing = true;
    fm_ofi_drain(ofi, ofi->w->drain_ms);
    destroy(ofi);
}

static const struct fm_transport_ops ofi_ops = {
    .name = "ofi",
    .close = ofi_close,
    .address = fm_ofi_peer_address,
    .connect = fm_ofi_peer_connect,
    .disconnect = fm_ofi_peer_disconnect,
    .send = fm_ofi_send,
    .reserve = fm_ofi_reserve,
    .commit = fm_ofi_commit,
    .rma = fm_ofi_rma,
    .expose = fm_ofi_expose,
    .unexpose = fm_ofi_unexpose,
    .poll = fm_ofi_poll,
    .arm = ofi_arm,
};

/* One mapping for n buffers of buf_len bytes, 64-byte aligned; untouched parts cost nothing. */
static int map_buffers(size_t n, size_t *buf_len, char **out_mem, size_t *out_len)
{
    /* An odd number of lines apart, so that the buffers' heads fall into different cache sets. */
    size_t stride = (*buf_len + FM_CACHE_LINE - 1) / FM_CACHE_LINE * FM_CACHE_LINE;
    void *mem;

    stride += stride / FM_CACHE_LINE % 2 ? 0 : FM_CACHE_LINE;
    mem = mmap(NULL, n * stride, PROT_READ | PROT_WRITE,
               MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (mem == MAP_FAILED) {
        return fm_fail(-FM_E_NOMEM, "cannot map %zu bytes for message buffers", n * stride);
    }
    *buf_len = stride;
    *out_mem = mem;
    *out_len = n * stride;
    return 0;
}

static int make_buffers(struct fm_ofi *ofi)
{
    size_t wire_max = ((ofi->tp.max_send + 7) & ~(size_t)7) + sizeof(struct fm_ofi_tail);
    size_t send_stride = wire_max, recv_stride = wire_max;
    int rc;

    ofi->slot_len = wire_max;
    ofi->slots = calloc(ofi->n_slots, sizeof(*ofi->slots));
    ofi->bounces = calloc(ofi->n_bounces, sizeof(*ofi->bounces));
    if (!ofi->slots || !ofi->bounces) {
        return fm_fail(-FM_E_NOMEM, "no memory for message buffers");
    }
    rc = map_buffers(ofi->n_bounces, &send_stride, &ofi->send_mem, &ofi->send_mem_len);
    rc = rc ? rc : map_buffers(ofi->n_slots, &recv_stride, &ofi->recv_mem, &ofi->recv_mem_len);
    if (rc) {
        return rc;
    }
    for (size_t k = 0; k < ofi->n_slots; k++) {
        ofi->slots[k].op.kind = FM_OFI_RECV;
        ofi->slots[k].buf = ofi->recv_mem + k * recv_stride;
    }
    for (size_t k = ofi->n_bounces; k-- > 0;) {
        ofi->bounces[k].op.kind = FM_OFI_SEND;
        ofi->bounces[k].buf = ofi->send_mem + k * send_stride;
        ofi->bounces[k].next = ofi->bounce_free;
        ofi->bounce_free = &ofi->bounces[k];
    }
    ofi->n_unposted = ofi->n_slots;
    FM_STAT(ofi->w->n_bounce = ofi->n_bounces);
    return fm_pool_init(&ofi->transfers, sizeof(struct fm_ofi_transfer), MAX_TRANSFERS);
}

static int register_buffers(struct fm_ofi *ofi)
{
    int rc;

    if (!(ofi->mr_mode & FI_MR_LOCAL)) {
        return 0;
    }
    rc = fm_ofi_register(ofi, ofi->send_mem, ofi->send_mem_len, FI_SEND, &ofi->send_mr);
    rc = rc ? rc : fm_ofi_register(ofi, ofi->recv_mem, ofi->recv_mem_len, FI_RECV, &ofi->recv_mr);
    if (rc == 0 && ofi->tp.has_rma) {
        rc = fm_ofi_register(ofi, &ofi->read_back, sizeof(ofi->read_back), FI_READ,
                             &ofi->read_back_mr);
    }
    return rc;
}

static int open_cq(struct fm_ofi *ofi)
{
    struct fi_cq_attr attr = {.format = FI_CQ_FORMAT_MSG, .wait_obj = FI_WAIT_FD};
    int rc = -FI_ENOSYS;

    attr.size = ofi->n_slots + ofi->n_bounces + ofi->info->tx_attr->size;
    ofi->cq_fd = -1;
    if (ofi->w->can_sleep) {
        rc = fi_cq_open(ofi->domain, &attr, &ofi->cq, NULL);
    }
    if (rc == 0 && fi_control(&ofi->cq->fid, FI_GETWAIT, &ofi->cq_fd)) {
        ofi->cq_fd = -1;
    }
    if (rc) {
        attr.wait_obj = FI_WAIT_NONE;
        rc = fi_cq_open(ofi->domain, &attr, &ofi->cq, NULL);
    }
    return rc ? failed(ofi, "fi_cq_open", rc) : 0;
}

static int open_domain(struct fm_ofi *ofi)
{
    struct fi_av_attr av = {.type = ofi->info->domain_attr->av_type};
    int rc = ofi->lib->fabric(ofi->info->fabric_attr, &ofi->fabric, NULL);

    if (rc) {
        return failed(ofi, "fi_fabric", rc);
    }
    rc = fi_domain(ofi->fabric, ofi->info, &ofi->domain, NULL);
    if (rc) {
        return failed(ofi, "fi_domain", rc);
    }
    if (av.type == FI_AV_UNSPEC) {
        av.type = FI_AV_TABLE;
    }
    rc = fi_av_open(ofi->domain, &av, &ofi->av, NULL);
    return rc ? failed(ofi, "fi_av_open", rc) : open_cq(ofi);
}

static int open_endpoint(struct fm_ofi *ofi)
{
    int rc = fi_endpoint(ofi->domain, ofi->info, &ofi->fi_ep, NULL);

    if (rc) {
        return failed(ofi, "fi_endpoint", rc);
    }
    rc = fi_ep_bind(ofi->fi_ep, &ofi->av->fid, 0);
    rc = rc ? rc : fi_ep_bind(ofi->fi_ep, &ofi->cq->fid, FI_TRANSMIT | FI_RECV);
    rc = rc ? rc : fi_enable(ofi->fi_ep);
    return rc ? failed(ofi, "fi_enable", rc) : 0;
}

static size_t smaller(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* From wishes and the provider's limits to what this transport does. */
static void set_limits(struct fm_ofi *ofi)
{
    const struct fi_info *info = ofi->info;
    const struct fm_ofi_counters *w = ofi->w;
    size_t tail = sizeof(struct fm_ofi_tail);
    bool has_rma = w->use_rma && (info->caps & FI_RMA);

    ofi->has_flush = !fm_ofi_is_local(info->fabric_attr->prov_name);
    ofi->mr_mode = (uint64_t)info->domain_attr->mr_mode;
    ofi->cq_batch = smaller(w->cq_batch, FM_OFI_CQ_MAX);
    ofi->n_slots = smaller(w->n_recv_buffers, info->rx_attr->size ? info->rx_attr->size : 64);
    ofi->n_bounces = smaller(w->n_send_buffers, info->tx_attr->size ? info->tx_attr->size : 64);
    ofi->inject_len = smaller(info->tx_attr->inject_size, FM_OFI_SCRATCH_LEN);
    ofi->tp.max_send =
        w->max_send ? w->max_send : fm_ofi_best_wire(ofi->lib, info->fabric_attr->prov_name) - tail;
    ofi->tp.max_send = ofi->tp.max_send < 4096 ? 4096 : ofi->tp.max_send;
    ofi->tp.max_send = smaller(ofi->tp.max_send, info->ep_attr->max_msg_size - tail - 8);
    ofi->tp.best_inline = ofi->inject_len > tail ? (ofi->inject_len - tail) & ~(size_t)7 : 0;
    ofi->tp.eager_len =
        w->eager_len ? w->eager_len : fm_ofi_best_eager(info->fabric_attr->prov_name);
    ofi->tp.has_rma = has_rma;
    ofi->tp.is_unbounded = true;
    ofi->tp.needs_expose = true;
    ofi->tp.wants_local_mem = has_rma && (ofi->mr_mode & FI_MR_LOCAL);
}

static void tell_choice(struct fm_ofi *ofi)
{
    char text[FM_OFI_NAME_LEN];
    const char *domain = ofi->info->domain_attr->name;

    fm_ofi_address_text(ofi->info, text, sizeof(text));
    snprintf(ofi->w->provider_used, FM_OFI_NAME_LEN, "%s", ofi->info->fabric_attr->prov_name);
    snprintf(ofi->w->interface_used, FM_OFI_NAME_LEN, "%.15s%s%.46s", domain ? domain : "",
             text[0] && domain ? " " : "", text);
}

static int draw_secret(struct fm_ofi *ofi)
{
    ofi->secret.k[0] = fm_ofi_random(ofi);
    ofi->secret.k[1] = fm_ofi_random(ofi);
    ofi->next_nonce = (uint32_t)fm_ofi_random(ofi);
    if (!ofi->secret.k[0]) {
        return fm_fail(-FM_E_SYSTEM, "getrandom gives no random number");
    }
    return fm_ofi_order_init(&ofi->order, &ofi->secret);
}

static int open_ofi(const struct fm_transport_args *args, void *counters,
                    struct fm_transport **out_tp)
{
    const struct fm_ofi_lib *lib;
    struct fm_ofi *ofi;
    int rc = fm_ofi_load(&lib);

    if (rc) {
        return rc;
    }
    ofi = aligned_alloc(FM_CACHE_LINE, sizeof(*ofi));
    if (!ofi) {
        return fm_fail(-FM_E_NOMEM, "no memory for the libfabric transport");
    }
    memset(ofi, 0, sizeof(*ofi));
    ofi->tp = (struct fm_transport){.ops = &ofi_ops, .sink = args->sink};
    ofi->lib = lib;
    ofi->w = counters;
    ofi->self = (uint32_t)args->self;
    ofi->waiting_end = &ofi->waiting;
    fm_list_init(&ofi->eps);
    fm_list_init(&ofi->transfers_flying);
    fm_list_init(&ofi->transfers_waiting);
    rc = fm_ofi_choose(lib, ofi->w->provider, ofi->w->interface, args->is_one_host, &ofi->info);
    if (rc) {
        goto err_destroy;
    }
    set_limits(ofi);
    if ((rc = fm_transport_check(&ofi->tp)) || (rc = draw_secret(ofi)) || (rc = open_domain(ofi)) ||
        (rc = open_endpoint(ofi)) || (rc = make_buffers(ofi)) || (rc = register_buffers(ofi)) ||
        (rc = fm_ofi_post(ofi))) {
        goto err_destroy;
    }
    fm_ofi_atomic_init(ofi);
    tell_choice(ofi);
    *out_tp = &ofi->tp;
    return 0;

err_destroy:
    destroy(ofi);
    return rc;
}

int fm_ofi_open(const struct fm_transport_args *args, void *counters, struct fm_transport **out_tp)
{
    struct sigaction kept[FM_OFI_SIGNALS];
    int rc;

    fm_ofi_signals_keep(kept);
    rc = open_ofi(args, counters, out_tp);
    fm_ofi_signals_restore(kept);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Open and close the libfabric transport; addresses, endpoints, registrations. */
#include "transport/ofi/ofi_open.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>

#include "transport/ofi/ofi.h"

#define ADDRESS_MAGIC UINT32_C(0x324f464d) /* "MFO2" */
#define MAX_TRANSFERS 16384

/* An address as it is published; raw_len bytes of the provider's own follow. */
struct address {
    uint32_t magic;
    uint32_t raw_len;
    char provider[32]; /* both sides must use the same */
    struct fm_ofi_secret secret;
};

_Static_assert(sizeof(struct address) + FM_OFI_ADDR_LEN <= FM_ADDRESS_MAX, "fits");

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

uint64_t fm_ofi_random(struct fm_ofi *ofi)
{
    if (ofi->n_random == 0) {
        if (getrandom(ofi->random, sizeof(ofi->random), 0) != (ssize_t)sizeof(ofi->random)) {
            return 0;
        }
        ofi->n_random = FM_OFI_N_RANDOM;
    }
    return ofi->random[--ofi->n_random] | 1;
}

/* A key that cannot be guessed, of as many bits as the provider takes. */
static uint64_t draw_key(struct fm_ofi *ofi)
{
    size_t bits = 8 * ofi->info->domain_attr->mr_key_size;
    uint64_t key = fm_ofi_random(ofi);

    return bits < 64 ? key & ((UINT64_C(1) << bits) - 1) : key;
}

/* Keys of few bits may be in use already. */
static int register_mr(struct fm_ofi *ofi, void *addr, size_t len, uint64_t access,
                       struct fid_mr **out_mr)
{
    int rc = -FI_ENOKEY;

    for (int k = 0; k < 16 && rc == -FI_ENOKEY; k++) {
        rc = fi_mr_reg(ofi->domain, addr, len, access, 0, draw_key(ofi), 0, out_mr, NULL);
    }
    return rc;
}

int fm_ofi_register(struct fm_ofi *ofi, void *addr, size_t len, uint64_t access,
                    struct fid_mr **out_mr)
{
    struct fid_mr *mr = NULL;
    int rc = register_mr(ofi, addr, len, access, &mr);

    if (rc == 0 && (ofi->mr_mode & FI_MR_ENDPOINT)) {
        rc = fi_mr_bind(mr, &ofi->fi_ep->fid, 0);
        rc = rc ? rc : fi_mr_enable(mr);
    }
    if (rc) {
        if (mr) {
            fi_close(&mr->fid);
        }
        return fm_fail(-FM_E_SYSTEM, "libfabric provider %s cannot register %zu bytes: %s",
                       ofi->info->fabric_attr->prov_name, len, ofi->lib->strerror(-rc));
    }
    FM_STAT(ofi->w->n_registrations++);
    FM_STAT(fathom_level_add(&ofi->w->registered, 1));
    FM_STAT(fathom_level_add(&ofi->w->registered_bytes, (int64_t)len));
    *out_mr = mr;
    return 0;
}

static int ofi_address(struct fm_transport *tp, void *out_addr, size_t *out_len)
{
    struct fm_ofi *ofi = ofi_of(tp);
    struct address a = {.magic = ADDRESS_MAGIC, .secret = ofi->secret};
    size_t len = FM_OFI_ADDR_LEN;
    int rc = fi_getname(&ofi->fi_ep->fid, (char *)out_addr + sizeof(a), &len);

    if (rc || len > FM_OFI_ADDR_LEN) {
        return failed(ofi, "fi_getname", rc ? rc : -FI_ETOOSMALL);
    }
    a.raw_len = (uint32_t)len;
    snprintf(a.provider, sizeof(a.provider), "%s", ofi->info->fabric_attr->prov_name);
    memcpy(out_addr, &a, sizeof(a));
    *out_len = sizeof(a) + len;
    return 0;
}

/* Is this an address that our own provider can have made? */
static int check_address(const struct fm_ofi *ofi, int peer, const void *addr, size_t addr_len)
{
    const char *ours = ofi->info->fabric_attr->prov_name;
    struct address a;

    if (addr_len < sizeof(a) || addr_len > FM_ADDRESS_MAX) {
        return fm_fail(-FM_E_PROTO, "process %d published an address of %zu bytes", peer, addr_len);
    }
    memcpy(&a, addr, sizeof(a));
    if (a.magic != ADDRESS_MAGIC || a.raw_len < 1 || a.raw_len > addr_len - sizeof(a)) {
        return fm_fail(-FM_E_PROTO, "process %d published an address of another version", peer);
    }
    if (strncmp(a.provider, ours, sizeof(a.provider) - 1) != 0) {
        return fm_fail(-FM_E_PEER,
                       "process %d uses libfabric provider %.31s and this one %s: set "
                       "FATHOM_OFI_PROVIDER to the same for all",
                       peer, a.provider, ours);
    }
    if (ofi->info->addr_format == FI_ADDR_STR &&
        !memchr((const char *)addr + sizeof(a), '\0', a.raw_len)) {
        return fm_fail(-FM_E_PROTO, "process %d published an address without an end", peer);
    }
    return 0;
}

static int ofi_connect(struct fm_transport *tp, int peer, const void *addr, size_t addr_len,
                       struct fm_ep **out_ep)
{
    struct fm_ofi *ofi = ofi_of(tp);
    int rc = check_address(ofi, peer, addr, addr_len);
    char raw[FM_ADDRESS_MAX] FM_ALIGNED(16);
    struct fm_ofi_secret secret;
    struct fm_ofi_ep *e;
    uint32_t sender;

    if (rc) {
        return rc;
    }
    memcpy(raw, (const char *)addr + sizeof(struct address), addr_len - sizeof(struct address));
    e = calloc(1, sizeof(*e));
    if (!e) {
        return fm_fail(-FM_E_NOMEM, "no memory for an endpoint");
    }
    rc = fi_av_insert(ofi->av, raw, 1, &e->addr, 0, NULL);
    if (rc != 1) {
        free(e);
        return fm_fail(-FM_E_PEER, "libfabric provider %s does not take the address of process %d",
                       ofi->info->fabric_attr->prov_name, peer);
    }
    e->ep = (struct fm_ep){.tp = tp, .ops = tp->ops, .peer = peer};
    memcpy(&secret, (const char *)addr + offsetof(struct address, secret), sizeof(secret));
    sender = fm_ofi_proof_sender(ofi->self, ofi->next_nonce++);
    e->stream = fm_ofi_proof_stream(&secret, sender);
    e->sender = sender << 3;
    e->flush.kind = FM_OFI_FLUSH;
    fm_list_push(&ofi->eps, &e->link);
    *out_ep = &e->ep;
    return 0;
}

static void ep_free(struct fm_ofi_ep *e)
{
    fi_av_remove(ofi_of(e->ep.tp)->av, &e->addr, 1, 0);
    fm_list_remove(&e->link);
    free(e);
}

/*
 * The last operation of a disconnected endpoint has ended. What was sent is followed by a flush; if
 * the provider refuses that now, the endpoint stays until close.
 */
FM_COLD static void ep_end(struct fm_ofi_ep *e)
{
    if (!e->is_dead && e->needs_flush && (!fm_ofi_flush(e) || e->n_flying)) {
        return;
    }
    ep_free(e);
}

void fm_ofi_ep_landed(struct fm_ofi_ep *e)
{
    e->n_flying--;
    if (FM_UNLIKELY(e->is_closed) && e->n_flying == 0) {
        ep_end(e);
    }
}

static void ofi_disconnect(struct fm_ep *ep)
{
    struct fm_ofi_ep *e = fm_container_of(ep, struct fm_ofi_ep, ep);

    e->is_closed = true;
    if (e->n_flying == 0) {
        ep_end(e);
    }
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
    /* A provider without a wait object (shm) wakes nobody: the caller is to nap and look again. */
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
    .address = ofi_address,
    .connect = ofi_connect,
    .disconnect = ofi_disconnect,
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

int fm_ofi_open(const struct fm_transport_args *args, void *counters, struct fm_transport **out_tp)
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

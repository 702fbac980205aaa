/* SPDX-License-Identifier: BSD-3-Clause */
/* Addresses and endpoints. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "transport/ofi/ofi.h"

#define ADDRESS_MAGIC UINT32_C(0x324f464d) /* "MFO2" */

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

int fm_ofi_peer_address(struct fm_transport *tp, void *out_addr, size_t *out_len)
{
    struct fm_ofi *ofi = ofi_of(tp);
    struct address a = {.magic = ADDRESS_MAGIC, .secret = ofi->secret};
    size_t len = FM_OFI_ADDR_LEN;
    int rc = fi_getname(&ofi->fi_ep->fid, (char *)out_addr + sizeof(a), &len);

    if (rc || len > FM_OFI_ADDR_LEN) {
        return fm_fail(-FM_E_SYSTEM, "libfabric provider %s: fi_getname: %s",
                       ofi->info->fabric_attr->prov_name,
                       ofi->lib->strerror(rc ? -rc : FI_ETOOSMALL));
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

int fm_ofi_peer_connect(struct fm_transport *tp, int peer, const void *addr, size_t addr_len,
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

bool fm_ofi_flush(struct fm_ofi_ep *e)
{
    struct fm_ofi *ofi = ofi_of(e->ep.tp);
    void *desc = ofi->send_mr ? fi_mr_desc(ofi->send_mr) : NULL;
    ssize_t rc;

    if (e->is_dead || e->n_flying || !e->needs_flush) {
        return true;
    }
    rc = fi_send(ofi->fi_ep, ofi->send_mem, 0, desc, e->addr, &e->flush.ctx);
    if (rc == -FI_EAGAIN) {
        return false;
    }
    e->needs_flush = false;
    e->n_flying += rc == 0;
    return true;
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

void fm_ofi_peer_disconnect(struct fm_ep *ep)
{
    struct fm_ofi_ep *e = fm_container_of(ep, struct fm_ofi_ep, ep);

    e->is_closed = true;
    if (e->n_flying == 0) {
        ep_end(e);
    }
}

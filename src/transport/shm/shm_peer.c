/* SPDX-License-Identifier: BSD-3-Clause */
/* Endpoints: connect, disconnect. */
#include <stdlib.h>
#include <string.h>

#include "transport/shm/shm.h"
#include "transport/shm/shm_doorbell.h"

int fm_shm_peer_connect(struct fm_transport *tp, int peer, const void *addr, size_t addr_len,
                        struct fm_ep **out_ep)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;
    struct fm_shm_ep *ep;
    int rc;

    ep = aligned_alloc(FM_CACHE_LINE, fm_shm_round_up(sizeof(*ep), FM_CACHE_LINE));
    if (!ep) {
        return fm_fail(-FM_E_NOMEM, "no memory for an endpoint");
    }
    memset(ep, 0, sizeof(*ep));
    if (addr_len != sizeof(ep->address)) {
        rc = fm_fail(-FM_E_PROTO, "the shared-memory address of process %d is broken", peer);
        goto err_ep;
    }
    memcpy(&ep->address, addr, sizeof(ep->address));
    if (ep->address.magic != FM_SHM_MAGIC || ep->address.version != FM_SHM_VERSION) {
        rc = fm_fail(-FM_E_UNSUPPORTED, "process %d runs another version of the library", peer);
        goto err_ep;
    }
    ep->ep = (struct fm_ep){.tp = tp, .ops = tp->ops, .peer = peer};
    rc = fm_shm_segment_attach(t, ep);
    if (rc < 0) {
        goto err_ep;
    }
    rc = fm_shm_doorbell_attach(ep);
    if (rc < 0) {
        goto err_map;
    }
    ep->claimed = -1;
    ep->fast_after = (uint32_t)t->counters->fast_after;
    ep->fast_max = t->counters->bulk_min < tp->max_send ? t->counters->bulk_min : tp->max_send;
    ep->ep.pushes = ep->geometry.bulk_len && ep->geometry.n_fast ? FM_PUSH_ALWAYS : FM_PUSH_NEVER;
    ep->must_fence = ep->geometry.fences;
    ep->ep.no_rma = !fm_shm_cma_probe(ep);
    ep->can_assist = !ep->ep.no_rma;
    ep->next = t->eps;
    t->eps = ep;
    fathom_level_add(&t->counters->n_peers, 1);
    FM_STAT(if (t->counters->on_connected) fm_shm_event_connected(ep));
    *out_ep = &ep->ep;
    return 0;

err_map:
    fm_shm_segment_detach(ep);
err_ep:
    free(ep);
    return rc;
}

void fm_shm_peer_disconnect(struct fm_ep *fep)
{
    struct fm_shm_ep *ep = (struct fm_shm_ep *)fep;
    struct fm_shm_transport *t;
    struct fm_shm_ep **at;

    if (!ep) {
        return;
    }
    t = (struct fm_shm_transport *)fep->tp;
    fm_shm_copy_finish(t, ep);
    fm_shm_assist_finish(t, ep);
    at = &t->eps;
    while (*at != ep) {
        at = &(*at)->next;
    }
    *at = ep->next;
    fm_shm_doorbell_detach(ep);
    fm_shm_segment_detach(ep);
    fathom_level_add(&t->counters->n_peers, -1);
    free(ep);
}

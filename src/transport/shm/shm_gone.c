/* SPDX-License-Identifier: BSD-3-Clause */
/* Peers that have ended. */
#include <errno.h>
#include <poll.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "transport/shm/shm.h"

/* Refused sends between two checks whether the peer still lives. */
#define REFUSALS (1u << 14)

bool fm_shm_gone_is(struct fm_shm_ep *ep)
{
    struct pollfd p = {.events = POLLIN};
    bool is_gone;

    if (atomic_load_explicit(&ep->header->closed, memory_order_acquire)) {
        return true;
    }
    p.fd = (int)syscall(SYS_pidfd_open, ep->address.pid, 0);
    if (p.fd < 0) { /* ENOSYS: an old kernel cannot tell */
        return errno == ESRCH;
    }
    is_gone = poll(&p, 1, 0) > 0; /* also for a zombie */
    close(p.fd);
    return is_gone;
}

int fm_shm_gone_report(struct fm_shm_ep *ep, const char *why)
{
    struct fm_shm_transport *t = fm_shm_of(ep);

    if (!ep->is_dead) {
        ep->is_dead = true;
        ep->tx = (struct fm_shm_fast_end){0};
        t->tp.sink.failed(t->tp.sink.ctx, ep->ep.peer, why);
    }
    return fm_fail(-FM_E_PEER, "%s", why);
}

int fm_shm_gone_or_full(struct fm_shm_ep *ep)
{
    FM_STAT(fm_shm_of(ep)->counters->n_full++);
    if (++ep->n_refused % REFUSALS == 0 && fm_shm_gone_is(ep)) {
        return fm_shm_gone_report(ep, "the process has ended");
    }
    return FM_AGAIN;
}

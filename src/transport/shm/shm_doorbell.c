/* SPDX-License-Identifier: BSD-3-Clause */
/* Waking peers, and the pipe on which a process sleeps that has another transport, too. */
#include "transport/shm/shm_doorbell.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/futex.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "util/segment.h"

int fm_shm_doorbell_open(struct fm_shm_transport *t, bool is_wanted)
{
    t->wakeup[0] = t->wakeup[1] = -1;
    if (is_wanted && pipe2(t->wakeup, O_CLOEXEC | O_NONBLOCK) < 0) {
        return fm_fail(-FM_E_SYSTEM, "no pipe to sleep on: %s", strerror(errno));
    }
    return 0;
}

static void close_one(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void fm_shm_doorbell_close(struct fm_shm_transport *t)
{
    close_one(t->wakeup[0]);
    close_one(t->wakeup[1]);
}

/* For reading, too: writing to a pipe without a reader would raise SIGPIPE. */
int fm_shm_doorbell_attach(struct fm_shm_ep *ep)
{
    ep->wakeup = -1;
    if (ep->address.wakeup_fd < 0) {
        return 0;
    }
    ep->wakeup = fm_segment_open(ep->address.pid, ep->address.wakeup_fd, O_RDWR | O_NONBLOCK,
                                 S_IFIFO, ep->address.wakeup_ino);
    if (ep->wakeup < 0) {
        return fm_fail(-FM_E_UNSUPPORTED, "the pipe of process %d cannot be opened: %s",
                       ep->ep.peer, strerror(errno));
    }
    return 0;
}

void fm_shm_doorbell_detach(struct fm_shm_ep *ep)
{
    close_one(ep->wakeup);
}

static void write_byte(const struct fm_shm_ep *ep)
{
    ssize_t n;

    do { /* a full pipe (EAGAIN) wakes as well */
        n = write(ep->wakeup, "", 1);
    } while (n < 0 && errno == EINTR);
}

int fm_shm_doorbell_wake(struct fm_shm_ep *ep)
{
    _Atomic uint32_t *doorbell = &ep->header->doorbell;

    /* Only one of many senders calls the kernel. Pairs with the relaxed store in announce(): the
       futex, or the pipe, orders the rest. */
    switch (atomic_exchange_explicit(doorbell, FM_SHM_AWAKE, memory_order_acq_rel)) {
    case FM_SHM_AWAKE:
        return 0;
    case FM_SHM_ASLEEP_PIPE:
        write_byte(ep);
        break;
    default:
        syscall(SYS_futex, doorbell, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
    }
    FM_STAT(fm_shm_of(ep)->counters->n_wakeups++);
    return 0;
}

void fm_shm_doorbell_drain(const struct fm_shm_transport *t)
{
    char bytes[64];

    while (read(t->wakeup[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes)) {
    }
}

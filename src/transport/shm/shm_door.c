/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The door: a pipe that makes the bell of shm.h something that poll(2) can wait for, beside the
 * descriptor of another transport. The owner makes it at open, peers open it at connect, through
 * /proc as they do the segment; who cannot open it goes by the other transport instead.
 *
 * No wake-up is lost. Going to sleep is: clear the pipe, set the bell, barrier, look at ring and
 * boxes, poll(2). A sender publishes, looks at the bell, and if it was set takes it back and writes
 * a byte. A message that was published before the barrier is seen by the look. One published after
 * it meets a bell that is set, unless another sender has taken it back since; whoever takes it back
 * writes its byte after the clearing, and it stays in the pipe until the next clearing, which has a
 * look behind it as well. So whenever there is something unseen, the bell is set and its sender
 * has yet to look at it, or a byte is in the pipe or about to be. That holds for several sleeping
 * threads, too: poll(2) returns to all of them while the byte is there, and the one that clears it
 * looks, and wakes the others for what it finds (core/p2p/sleeper.h).
 */
#include "transport/shm/shm.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "util/segment.h"

int fm_shm_door_make(struct fm_shm_transport *t, bool is_wanted)
{
    t->door[0] = t->door[1] = -1;
    if (is_wanted && pipe2(t->door, O_CLOEXEC | O_NONBLOCK) < 0) {
        return fm_fail(-FM_E_SYSTEM, "no pipe to sleep on: %s", strerror(errno));
    }
    t->header->door = t->door[1];
    return 0;
}

static void close_one(int fd)
{
    if (fd >= 0) {
        close(fd);
    }
}

void fm_shm_door_close(struct fm_shm_transport *t)
{
    close_one(t->door[0]);
    close_one(t->door[1]);
}

/* For reading, too: writing to a pipe that nobody can read any more would be a SIGPIPE. */
int fm_shm_door_find(struct fm_shm_ep *ep)
{
    ep->door = -1;
    if (ep->header->door < 0) {
        return 0;
    }
    ep->door = fm_segment_open(ep->address.pid, ep->header->door, O_RDWR | O_NONBLOCK);
    if (ep->door < 0) {
        return fm_fail(-FM_E_UNSUPPORTED, "process %d could not be woken: %s", ep->ep.peer,
                       strerror(errno));
    }
    return 0;
}

void fm_shm_door_leave(struct fm_shm_ep *ep)
{
    close_one(ep->door);
}

void fm_shm_door_knock(const struct fm_shm_ep *ep)
{
    ssize_t n;

    do { /* a full pipe (EAGAIN) wakes as well */
        n = write(ep->door, "", 1);
    } while (n < 0 && errno == EINTR);
}

void fm_shm_door_clear(const struct fm_shm_transport *t)
{
    char bytes[64];

    while (read(t->door[0], bytes, sizeof(bytes)) == (ssize_t)sizeof(bytes)) {
    }
}

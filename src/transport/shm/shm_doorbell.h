/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The doorbell: how a sender wakes a receiver that sleeps.
 *
 * The owner of a segment announces in header.doorbell that it is about to sleep, orders that before
 * its last poll of inbox and fast rings, and sleeps (shm_sleep.c). A sender reads the doorbell
 * after it has published a message, and wakes the owner when a sleep was announced. Each side
 * writes its own word and then reads the other's: at least one of them must see the other's write.
 * There are two ways to ensure that (fm_shm_transport.fences, published in the header):
 * - Both sides fence between the two. For jobs with more processes than processors, which sleep
 *   often.
 * - Only the owner fences, so senders see the announcement from then on. A sender that read the
 *   doorbell before that has published, but its store may still be in its store buffer. A store
 *   leaves it within nanoseconds (C11 7.17.3p16: in finite time), so the owner lets it settle: it
 *   polls for another FM_SHM_SETTLE_NS, and its first sleep on an announcement is a short one,
 *   FM_SHM_SHORT_US, after which it polls again. A sender pays nothing; only the compiler must keep
 *   the order. For jobs with a processor for each process. (membarrier(2) would do what the time
 *   does, but Linux forgets processors on which a process ran before it registered:
 *   bench/micro/membarrier.c shows it.)
 *
 * Where another transport is open beside this one, the owner sleeps in poll(2) on the descriptors
 * of both. For that it has a pipe, which it makes at open and peers open at connect through /proc,
 * as they do the segment; a peer that cannot open it uses the other transport instead.
 *
 * No wake-up is lost through the pipe. The owner drains the pipe, sets the doorbell, fences, polls
 * inbox and rings, and calls poll(2). A sender publishes, reads the doorbell, and if it is set
 * resets it and writes a byte. A message published before the fence is found by the poll. One
 * published after it meets a doorbell that is set, unless another sender has reset it since. That
 * sender writes its byte after the drain, so the byte stays in the pipe until the next drain, which
 * is followed by a poll as well. So while a message is unseen, the doorbell is set and its sender
 * has yet to read it, or a byte is in the pipe or about to be. That holds for several sleeping
 * threads, too: poll(2) returns to all of them while the byte is there, and the one that drains the
 * pipe polls, and wakes the others for what it finds (core/p2p/sleeper.h).
 */
#pragma once

#include "transport/shm/shm.h"
#include "util/sync.h"

/* shm_doorbell.c */

/* Make the own pipe, if one is wanted. 0 or a failure. */
int fm_shm_doorbell_open(struct fm_shm_transport *t, bool is_wanted);
void fm_shm_doorbell_close(struct fm_shm_transport *t);
/* Open the peer's pipe. 0, or -FM_E_UNSUPPORTED: it could not be woken. */
int fm_shm_doorbell_attach(struct fm_shm_ep *ep);
void fm_shm_doorbell_detach(struct fm_shm_ep *ep);
/* Empty the own pipe; to be called before the doorbell is set anew. */
void fm_shm_doorbell_drain(const struct fm_shm_transport *t);
/* Slow half of fm_shm_doorbell_ring(). Returns 0. */
FM_COLD int fm_shm_doorbell_wake(struct fm_shm_ep *ep);

/* Wake the peer if it has announced a sleep, after a message was published. Returns 0, which the
   sender returns in turn: so the fast path keeps nothing across a call. */
static FM_INLINE int fm_shm_doorbell_ring(struct fm_shm_ep *ep)
{
    if (FM_UNLIKELY(ep->must_fence)) {
        fm_sync_fence(); /* with the fence in announce() */
    } else {
        atomic_signal_fence(memory_order_seq_cst); /* the owner waits: settle() */
    }
    if (FM_UNLIKELY(atomic_load_explicit(&ep->header->doorbell, memory_order_relaxed))) {
        return fm_shm_doorbell_wake(ep);
    }
    return 0;
}

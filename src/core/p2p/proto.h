/* SPDX-License-Identifier: BSD-3-Clause */
/* A protocol: how a message travels. Each is a file that ends in its table. */
#pragma once

#include <string.h>

#include "core/p2p/msg.h"
#include "core/p2p/peer.h"
#include "core/p2p/wire.h"

struct fm_send_req;

struct fm_proto {
    const char *name;
    /* Send the first packet. 0, FM_AGAIN (nothing happened), or a failure of the peer. */
    int (*start)(struct fm_channel *ch, struct fm_send_req *s);
    /* The receiver has answered: 0 or -FM_E_PROTO and why. NULL where no answer names the send. */
    int (*on_reply)(struct fm_channel *ch, struct fm_send_req *s, const struct fm_wire_reply *h);
    /* Try to cancel a send that has started (MPI-5.0 3.8.4): complete it as cancelled, now or
       later, if the receiver has not matched it. */
    void (*cancel)(struct fm_channel *ch, struct fm_send_req *s);
    /* The send will not complete: release what start() acquired. The request is completed by the
       caller. NULL: nothing to release. */
    void (*abort)(struct fm_channel *ch, struct fm_send_req *s);
};

extern const struct fm_proto fm_eager; /* eager.c */
extern const struct fm_proto fm_rndv;  /* rndv.c */
extern const struct fm_proto fm_self;  /* self.c */

/* Two halves of a word in memory order. */
static FM_INLINE uint64_t fm_wire_pair(uint32_t first, uint32_t second)
{
    return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? first | (uint64_t)second << 32
                                                     : (uint64_t)first << 32 | second;
}

/* The whole base of a packet, in 8-byte stores, as util/copy.h loads them. */
static FM_INLINE void fm_wire_base_set(struct fm_wire_base *b, int kind, const struct fm_peer *peer,
                                       const struct fm_msg *m)
{
    struct fm_wire_head h = {.kind = (uint8_t)kind, .version = FM_WIRE_VERSION};
    uint32_t first;

    memcpy(&first, &h, sizeof(first));
    memcpy(b,
           (uint64_t[]){fm_wire_pair(first, (uint32_t)peer->remote_id),
                        fm_wire_pair(peer->released, fm_msg_context(m)),
                        fm_wire_pair((uint32_t)m->comm->rank, (uint32_t)m->tag)},
           sizeof(*b));
}

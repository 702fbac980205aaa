/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What travels between processes: small packed headers in the sender's byte order (all processes of
 * a job have the same).
 *
 *     EAGER       base | payload                        data travels with the header
 *     EAGER_SYNC  base | sreq | payload                 ... and the receiver answers FIN on match
 *     RTS         base | len | sreq | key | runs...     "may I send?", data waits at the sender
 *     CTS         reply: sreq, rreq, want               "send me `want` bytes as DATA for rreq"
 *     DATA        reply: rreq, at | payload             one fragment
 *     FIN         reply: sreq                           the data is there, or was matched
 *     CREDIT      reply: more                           room freed; further RTS allowed
 *     CANCEL      reply: sreq                           take the RTS or EAGER_SYNC back if nobody
 *     CANCELLED   reply: sreq, yes or no                matched it yet; and the answer
 *
 * Nothing here is trusted: deliver.c checks lengths and every field; requests are named by index
 * and generation (ids.h), never by address. `proc` is the process index of the sender at the
 * receiver. A message that breaks these rules makes its sender a failed peer. Other rooms have
 * kinds of their own, which begin with struct fm_wire_head, too (packet.h).
 */
#pragma once

#include <stdint.h>

#include "transport/transport.h"

#define FM_WIRE_VERSION 2

enum fm_wire_kind {
    FM_WIRE_EAGER = 1,
    FM_WIRE_EAGER_SYNC,
    FM_WIRE_RTS,
    FM_WIRE_CTS,
    FM_WIRE_DATA,
    FM_WIRE_FIN,
    FM_WIRE_CREDIT,
    FM_WIRE_CANCEL,
    FM_WIRE_CANCELLED,
    FM_WIRE_KINDS,
    /* First kinds of other rooms, which define theirs themselves and install them (packet.h). */
    FM_WIRE_RMA = 16,
    FM_WIRE_DYNAMIC = 48,
    FM_WIRE_KIND_MAX = 64,
};

enum fm_wire_flag {
    FM_WIRE_HAS_KEY = 1, /* RTS: the data may be fetched with `key`; where there are runs (struct
                            fm_pack_run), they say where in that memory it lies */
    FM_WIRE_LAST = 2,    /* RTS: the sender may send no further one until it gets CREDIT.more */
    FM_WIRE_YES = 4,     /* CANCELLED: it was taken back */
    FM_WIRE_PUSH = 8, /* RTS: its DATA come faster than they are fetched, while the sender is awake;
                            CTS: the sender waits for FIN, since the receiver may fetch after all */
};

/* First part of all packets; version, proc and released are filled in by the engine. */
struct fm_wire_head {
    uint8_t kind;
    uint8_t version;
    uint16_t flags;
    int32_t proc;
    uint32_t
        released; /* credit: blocks of the receiver's messages that the sender has released since
                         start, mod 2^32 */
};

/* EAGER, and the beginning of all that is matched. */
struct fm_wire_base {
    struct fm_wire_head head;
    uint32_t context;
    int32_t source; /* rank of the sender in the communicator */
    int32_t tag;
};

struct fm_wire_sync {
    struct fm_wire_base base;
    uint64_t sreq;
};

struct fm_wire_rts {
    struct fm_wire_base base;
    uint64_t len;
    uint64_t sreq;
    struct fm_rkey key;
};

/* All others. What a kind does not use is 0. */
struct fm_wire_reply {
    struct fm_wire_head head;
    uint32_t more; /* CREDIT: RTS beyond the window that were allowed since start, mod 2^32 */
    uint64_t sreq;
    uint64_t rreq;
    uint64_t at; /* DATA: offset of the fragment; CTS: bytes wanted */
};

/* The longest header. */
#define FM_WIRE_MAX sizeof(struct fm_wire_rts)

_Static_assert(sizeof(struct fm_wire_base) == 24, "no padding");
_Static_assert(sizeof(struct fm_wire_sync) == 32, "no padding");
_Static_assert(sizeof(struct fm_wire_rts) == 64, "no padding");
_Static_assert(sizeof(struct fm_wire_reply) == 40, "no padding");

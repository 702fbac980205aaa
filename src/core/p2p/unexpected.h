/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory for messages that nobody waits for yet: chains of blocks of one size, from one pool, so
 * that what a message costs is known to its sender (flow control, peer.h) and nothing fragments.
 *
 *     +------------------+----------+     +------+-----------------+
 *     | struct fm_unexp  | data ... | --> | next | data ...        | --> NULL
 *     +------------------+----------+     +------+-----------------+
 */
#pragma once

#include "core/p2p/match.h"
#include "transport/transport.h"

#define FM_BLOCK_LEN 512

struct fm_channel;
struct fm_dtype;
struct fm_recv_req;
struct fm_send_req;

struct fm_block {
    struct fm_block *next;
    char data[FM_BLOCK_LEN - sizeof(void *)];
};

/* A message that has arrived and waits for its receive. */
struct fm_unexp {
    struct fm_unexpected u; /* key and queues */
    struct fm_block *next;
    uint64_t len;             /* bytes of the message, also if they are not here */
    uint64_t sreq;            /* the sender's name of it; 0: it waits for no answer */
    struct fm_send_req *self; /* from the process itself, data still there; NULL otherwise */
    int32_t proc;
    uint8_t kind; /* enum fm_wire_kind: EAGER, EAGER_SYNC, RTS */
    bool has_key;
    bool can_push;
    uint16_t n_runs; /* RTS: of the layout, which is the data here */
    uint32_t n_blocks;
    struct fm_rkey key; /* RTS with a key */
};

#define FM_UNEXP_ROOM (FM_BLOCK_LEN - sizeof(struct fm_unexp))
#define FM_BLOCK_ROOM (FM_BLOCK_LEN - sizeof(void *))

/* Blocks that a message of len bytes takes. */
static FM_INLINE uint32_t fm_unexp_blocks(uint64_t len)
{
    return len <= FM_UNEXP_ROOM
               ? 1
               : 1 + (uint32_t)((len - FM_UNEXP_ROOM + FM_BLOCK_ROOM - 1) / FM_BLOCK_ROOM);
}

/* Room for a message with data_len bytes of payload here; all but the data zeroed. NULL: none. */
struct fm_unexp *fm_unexp_new(struct fm_channel *ch, size_t data_len);
void fm_unexp_free(struct fm_channel *ch, struct fm_unexp *u);

/* Payload in and out, from the beginning on. */
void fm_unexp_fill(struct fm_unexp *u, const void *data, size_t len);
struct fm_pack;
void fm_unexp_fill_typed(struct fm_unexp *u, struct fm_pack *from);
void fm_unexp_read(const struct fm_unexp *u, void *dst, size_t len);
void fm_unexp_read_typed(const struct fm_unexp *u, struct fm_pack *to, size_t len);

/* Into the queues and out of them, with the counts of the communicator. */
int fm_unexp_keep(struct fm_channel *ch, struct fm_unexp *u);
/* The match took it out already: count that. */
void fm_unexp_taken(struct fm_channel *ch, struct fm_unexp *u);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Streams: the order of arriving messages, per sender.
 *
 * A sender numbers the messages of each of its endpoints (a stream, named as ofi_proof.h says) from
 * 0. The receiver keeps the next number of each stream that has proved to be of this job. A message
 * that comes early is copied and kept until those before it have come; one that is late or not well
 * formed is dropped, for no correct peer sends it.
 *
 *     streams: open addressing, power of two     early: sorted by number, per stream
 *     +------+------+---------+
 *     | id   | next | early --+--> seq 7 --> seq 9
 *     +------+------+---------+
 *
 * Bounds: processes of other jobs make no stream. A hostile process of this one can make at most
 * FM_OFI_STREAMS_MAX streams and FM_OFI_EARLY_MAX bytes of early messages.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/ofi/ofi_proof.h"
#include "util/compiler.h"

#define FM_OFI_STREAMS_MAX ((size_t)1 << 20)
#define FM_OFI_EARLY_MAX   ((size_t)256 << 20)

/* The last 16 bytes of each message on the wire. */
struct fm_ofi_tail {
    uint64_t stream;
    uint32_t seq;
    uint32_t sender_pad; /* fm_ofi_proof_sender() << 3 | zero bytes before the tail, 0..7 */
};

/* A message that came before its time; len bytes follow. */
struct fm_ofi_early {
    struct fm_ofi_early *next;
    uint32_t seq;
    size_t len;
    char data[] FM_ALIGNED(16);
};

struct fm_ofi_stream {
    uint64_t id; /* 0: free entry */
    struct fm_ofi_early *early;
    uint32_t next;
};

struct fm_ofi_order {
    struct fm_ofi_stream *streams;
    size_t n_entries, n_used;    /* entries: a power of two, at least half of them free */
    size_t last;                 /* where the last stream was found: the next message's guess */
    size_t early_len;            /* bytes kept */
    uint64_t n_early;            /* messages that ever came early */
    struct fm_ofi_secret secret; /* of this process */
};

int fm_ofi_order_init(struct fm_ofi_order *o, const struct fm_ofi_secret *secret);
void fm_ofi_order_finish(struct fm_ofi_order *o);

/* Slow half of fm_ofi_order_find(): search; make a new stream if it proves to be of this job. */
FM_COLD struct fm_ofi_stream *fm_ofi_order_search(struct fm_ofi_order *o, uint64_t id,
                                                  uint32_t sender);

/* The stream with this id and sender, valid until the next call. NULL: it is not of this job, or
   there is no memory. */
static inline struct fm_ofi_stream *fm_ofi_order_find(struct fm_ofi_order *o, uint64_t id,
                                                      uint32_t sender)
{
    struct fm_ofi_stream *s = &o->streams[o->last];

    return FM_LIKELY(s->id == id && id) ? s : fm_ofi_order_search(o, id, sender);
}

/* Keep a copy of a message that came early. 0; -FM_E_PROTO when it is late, known already, or
   beyond all bounds; -FM_E_NOMEM. */
FM_COLD int fm_ofi_order_keep(struct fm_ofi_order *o, struct fm_ofi_stream *s, uint32_t seq,
                              const void *data, size_t len);

/* Take out the early message whose turn it is, and count it as come; NULL if there is none. The
   caller frees it. */
struct fm_ofi_early *fm_ofi_order_take(struct fm_ofi_order *o, uint64_t id);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What lies in the memory that processes of a host share. For this folder only.
 *
 * Every process owns one segment, which the others map. Into it the others write what is for the
 * owner:
 *
 *     0          inbox_at              fast_at    + fast_stride
 *     +----------+---------------------+----------+----------+-- --+
 *     | header   | inbox: many senders | ring 0   | ring 1   | ... |
 *     +----------+---------------------+----------+----------+-- --+
 *      reserved at open                 each reserved when a sender claims it
 *
 * Behind each fast ring lies the bulk ring of the same pair (shm_bulk.h), for messages longer than
 * shm_bulk_min.
 */
#pragma once

#include "transport/shm/shm_bulk.h"
#include "transport/shm/shm_fast.h"
#include "transport/shm/shm_inbox.h"

#define FM_SHM_MAGIC      UINT64_C(0x31474d534853464d)
#define FM_SHM_VERSION    6
#define FM_SHM_COPIES     8   /* transfers that a process may have in progress at one time */
#define FM_SHM_PIECES     128 /* of one transfer, at most */
#define FM_SHM_FAST_RINGS 256 /* of a process, at most */

/* Sizes and places in a segment, as its owner chose them; constant after open. */
struct fm_shm_geometry {
    uint64_t segment_len;
    uint64_t inbox_at, inbox_len;
    uint64_t fast_at, fast_stride;
    uint64_t bulk_at, bulk_len; /* within the stride; a power of two, or 0: no bulk rings */
    uint32_t n_fast, n_slots;   /* fast rings; slots of each */
    uint32_t max_send;
    uint32_t fences; /* senders must fence before they read the doorbell */
};

/* A transfer whose chunks two processes may copy, in the segment of its initiator. */
struct fm_shm_copy {
    /*
     * generation:24 | number of chunks:20 | next chunk:20. Chunks are claimed by compare and swap
     * (acq_rel) on both sides. The initiator's release store that starts a generation makes the
     * fields below visible to a claim of that generation. They stay until all claimed chunks are
     * accounted for.
     */
    _Atomic uint64_t ticket;
    _Atomic uint32_t n_assisted; /* helper's release add -> initiator's acquire load: copied */
    _Atomic uint32_t n_lost;     /* chunk + 1 that the helper claimed and could not copy */
    uint64_t initiator_addr, target_addr, len, chunk;
    uint32_t op;          /* enum fm_rma_op, as the initiator sees it */
    int32_t target;       /* process index of the helper */
    uint64_t pieces_addr; /* of n_pieces entries in the initiator's memory; 0: one run */
    uint32_t n_pieces;
} FM_ALIGNED(FM_CACHE_LINE);

#define FM_SHM_CHUNK_BITS 20 /* of a number of chunks in a ticket */
#define FM_SHM_CHUNK_MASK ((UINT64_C(1) << FM_SHM_CHUNK_BITS) - 1)

/* Values of the doorbell: the owner is awake; it sleeps or is about to, on the word (futex), or in
   poll(2) on its pipe. */
enum { FM_SHM_AWAKE, FM_SHM_ASLEEP_FUTEX, FM_SHM_ASLEEP_PIPE };

/* The beginning of a segment. */
struct fm_shm_header {
    uint64_t magic;
    uint64_t nonce; /* random: tells that this is the segment that the address meant */
    struct fm_shm_geometry geometry;
    void *base; /* address of the segment in the owner */
    /* Owner's release store at close -> acquire load of a sender that finds no space. */
    _Atomic uint32_t closed;
    _Atomic uint32_t doorbell FM_ALIGNED(FM_CACHE_LINE); /* shm_doorbell.h */
    /* Fast rings; relaxed add: a number, it publishes no data. */
    _Atomic uint32_t n_claimed FM_ALIGNED(FM_CACHE_LINE);
    struct fm_shm_copy copies[FM_SHM_COPIES];
};

/* What address() publishes. */
struct fm_shm_address {
    uint64_t magic;
    uint64_t nonce;
    uint64_t segment_len;
    uint64_t base;
    uint32_t version;
    int32_t pid;
    int32_t fd;
    uint32_t pid_space; /* namespace of pid: low bits of its inode */
    uint64_t ino;       /* of the segment; in the arena 0 */
    uint64_t at;        /* place of the segment in the arena; 0: it is a file of its own */
    uint64_t wakeup_ino;
    int32_t wakeup_fd; /* of the pipe; -1: the owner sleeps on the futex */
    uint32_t reserved;
};

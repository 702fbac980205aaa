/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Transfers of memory between processes, as a transport does them.
 *
 * expose() makes a piece of this process's memory reachable and gives a key (struct
 * fm_rkey) that may travel in a message; rma() reads, writes or updates a peer's exposed memory and
 * calls back when that is done. A transport without has_rma leaves the engine to send fragments.
 *
 * A key opens what its owner said and no more: the piece, the rights, and for as long as its
 * request or window lives. Memory that the program has freed and mapped anew is never reached
 * through an old key, and a key cannot be guessed where the provider lets us choose it. Keeping
 * registrations is left to libfabric, whose providers that pin pages (verbs, efa, cxi) have a cache
 * that watches the address space (FI_MR_CACHE_MONITOR); the others (tcp, shm, net) register in
 * 0.1 us whatever the length.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A key to exposed memory, as it travels in messages. Meaning belongs to the transport. */
struct fm_rkey {
    uint64_t addr; /* where the exposed piece begins, in the terms of the transport */
    uint64_t key;
    uint64_t aux;
};

/* What a peer may do with exposed memory; 0: nothing, it is for transfers of this process. */
enum fm_mem_right {
    FM_MEM_READ = 1,
    FM_MEM_WRITE = 2,
    FM_MEM_ATOMIC = 4,
};

/* How long memory stays exposed. */
enum fm_mem_life {
    FM_MEM_REQUEST, /* until one request is complete */
    FM_MEM_WINDOW,  /* until a window is freed */
};

/* Exposed memory. Owned by the caller, filled by expose(). */
struct fm_mem {
    void *addr;
    size_t len;
    struct fm_rkey rkey;
    enum fm_mem_life life;
    void *priv; /* the transport's registration */
};

/*
 * What a transfer does at the target. Those from FM_RMA_SUM on are the predefined operations of
 * MPI-5.0 12.3.4 and its compare-and-swap: each element of the target becomes `target op operand`,
 * atomically to all other such operations that reach it through the same transport.
 */
enum fm_rma_op {
    FM_RMA_GET,
    FM_RMA_PUT,
    FM_RMA_SUM,
    FM_RMA_PROD,
    FM_RMA_MIN,
    FM_RMA_MAX,
    FM_RMA_LAND,
    FM_RMA_LOR,
    FM_RMA_LXOR,
    FM_RMA_BAND,
    FM_RMA_BOR,
    FM_RMA_BXOR,
    FM_RMA_REPLACE, /* the operand */
    FM_RMA_NO_OP,   /* the target stays; `result` is read */
    FM_RMA_CSWAP,   /* the operand where the target equals `compare` */
    FM_RMA_N_OPS,
};

/* Elements of atomics, in the representation of the processor. */
enum fm_rma_type {
    FM_RMA_INT8,
    FM_RMA_UINT8,
    FM_RMA_INT16,
    FM_RMA_UINT16,
    FM_RMA_INT32,
    FM_RMA_UINT32,
    FM_RMA_INT64,
    FM_RMA_UINT64,
    FM_RMA_FLOAT,
    FM_RMA_DOUBLE,
    FM_RMA_N_TYPES,
};

/* One run of a transfer that goes from many places to many. */
struct fm_rma_piece {
    void *local;
    uint64_t remote_at; /* offset into the exposed piece, bytes */
    size_t len;         /* not 0 */
};

/* One transfer of memory. Owned by the caller and untouched by it until `done` was called. */
struct fm_rma {
    enum fm_rma_op op;
    enum fm_rma_type type; /* atomics: of each element */
    void *local;           /* GET: destination; PUT: source; atomics: operands, NO_OP: not used */
    size_t len;            /* bytes; atomics: whole elements */
    struct fm_rkey remote;
    size_t remote_at;    /* offset into the exposed piece, bytes; atomics: at a whole element */
    struct fm_mem *mem;  /* registration of `local` if the caller has one, else NULL */
    void *result;        /* atomics: gets the old elements, len bytes; NULL: they are not wanted,
                           which NO_OP and CSWAP do not allow */
    const void *compare; /* CSWAP: len bytes */
    /* n_pieces > 0, at most tp->max_pieces: these instead of `local` and `remote_at`; len is their
       sum. The list belongs to the caller, too. Not for atomics. */
    const struct fm_rma_piece *pieces;
    uint32_t n_pieces;
    bool is_own_work; /* the peer copies for itself meanwhile: its assistance is not requested */
    /*
     * From inside poll(), or before rma() returns. Status 0 says: GET and `result` have their
     * bytes; what PUT and atomics did is visible at the target, to its processors and to all later
     * transfers (MPI-5.0 12.5.4, completion at the target by MPI_Win_flush). Transfers in flight
     * together are not ordered.
     */
    void (*done)(struct fm_rma *rma, int status);
    void *priv; /* the transport's, while in flight */
};

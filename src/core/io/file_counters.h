/* SPDX-License-Identifier: BSD-3-Clause */
/* What this process counts of its files; the rows over these are in io_vars.c. */
#pragma once

#include <fathom/mpit.h>
#include <stdint.h>

struct fm_io_counters {
    uint64_t n_opens, n_closes, n_syncs;
    uint64_t n_reads, n_writes;                     /* accesses: calls that move data */
    uint64_t read_bytes, written_bytes;             /* of the program's data */
    uint64_t n_read_calls, n_write_calls;           /* system calls */
    uint64_t moved_read_bytes, moved_written_bytes; /* between this process and the file */
    uint64_t n_two_phase, n_direct;                 /* collective accesses, by the way they went */
    uint64_t exchanged_bytes;                       /* sent to aggregators or by them */
    uint64_t n_locks;                               /* record locks taken (atomic mode) */
    /* Control variables. */
    uint64_t cb_buffer_size, cb_nodes, sieve_stride;
};

/* Never NULL: the block in the page, or private ones. */
extern struct fm_io_counters *fm_io_counters;
void fm_io_counters_init(void *block);

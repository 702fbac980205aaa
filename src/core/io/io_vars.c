/* SPDX-License-Identifier: BSD-3-Clause */
/* The variables of files, as rows over the counters of file_counters.h. */
#include "core/io/file.h"
#include "core/io/file_counters.h"
#include "util/compiler.h"

#define AT(f)          offsetof(struct fm_io_counters, f)
#define DEFAULT_BUFFER (1 << 20)
#define DEFAULT_STRIDE 4096

/* clang-format off */
static const struct fathom_cvar cvars[] = {
    {.name = "io_cb_buffer_size", .desc = "Bytes that an aggregator of a collective file access "
     "holds at a time; the hint cb_buffer_size of a file takes precedence. Raise it for large "
     "interleaved accesses, lower it where memory is short.", .unit = "bytes",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_ALL_EQ,
     .verbosity = FATHOM_TUNER_BASIC,
     .at = AT(cb_buffer_size), .def = DEFAULT_BUFFER, .min = 4096, .max = INT64_C(1) << 32,
     .category = "io"},
    {.name = "io_cb_nodes", .desc = "Processes that aggregate a collective file access; 0 takes "
     "one per processor of the host. The hint cb_nodes of a file takes precedence.",
     .unit = "processes", .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_ALL_EQ,
     .verbosity = FATHOM_TUNER_BASIC, .at = AT(cb_nodes), .def = 0, .min = 0, .max = 1 << 20,
     .category = "io"},
    {.name = "io_sieve_stride", .desc = "Bytes of file per run of the view below which a read of "
     "many runs is one system call for all of them (data sieving) instead of one each; 0 never "
     "sieves. Lower it where reading the gaps costs more than the calls.", .unit = "bytes",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_BASIC,
     .at = AT(sieve_stride), .def = DEFAULT_STRIDE, .min = 0, .max = 1 << 30, .category = "io"},
};

static const struct fathom_pvar pvars[] = {
    {.name = "io_opens", .desc = "Files opened.", .unit = "files", .klass = FATHOM_COUNTER,
     .at = AT(n_opens), .category = "io"},
    {.name = "io_closes", .desc = "Files closed.", .unit = "files", .klass = FATHOM_COUNTER,
     .at = AT(n_closes), .category = "io"},
    {.name = "io_syncs", .desc = "Times that written data was forced to the storage device "
     "(fsync), by MPI_File_sync and MPI_File_close.", .unit = "calls", .klass = FATHOM_COUNTER,
     .at = AT(n_syncs), .category = "io"},
    {.name = "io_reads", .desc = "Accesses that read from a file.", .unit = "calls",
     .klass = FATHOM_COUNTER, .at = AT(n_reads), .category = "io"},
    {.name = "io_writes", .desc = "Accesses that wrote to a file.", .unit = "calls",
     .klass = FATHOM_COUNTER, .at = AT(n_writes), .category = "io"},
    {.name = "io_read_bytes", .desc = "Bytes of the program that were read from files.",
     .unit = "bytes", .klass = FATHOM_AGGREGATE, .at = AT(read_bytes), .category = "io"},
    {.name = "io_written_bytes", .desc = "Bytes of the program that were written to files.",
     .unit = "bytes", .klass = FATHOM_AGGREGATE, .at = AT(written_bytes), .category = "io"},
    {.name = "io_read_calls", .desc = "System calls that read from files (pread, preadv).",
     .unit = "calls", .klass = FATHOM_COUNTER, .at = AT(n_read_calls), .category = "io"},
    {.name = "io_write_calls", .desc = "System calls that wrote to files (pwrite, pwritev).",
     .unit = "calls", .klass = FATHOM_COUNTER, .at = AT(n_write_calls), .category = "io"},
    {.name = "io_moved_read_bytes", .desc = "Bytes that this process read from files, for itself, "
     "for other processes as an aggregator, and gaps that data sieving read along.",
     .unit = "bytes", .klass = FATHOM_AGGREGATE, .at = AT(moved_read_bytes), .category = "io"},
    {.name = "io_moved_written_bytes", .desc = "Bytes that this process wrote to files, for itself "
     "and for other processes as an aggregator.", .unit = "bytes", .klass = FATHOM_AGGREGATE,
     .at = AT(moved_written_bytes), .category = "io"},
    {.name = "io_coll_two_phase", .desc = "Collective accesses that went through aggregators.",
     .unit = "calls", .klass = FATHOM_COUNTER, .at = AT(n_two_phase), .category = "io"},
    {.name = "io_coll_direct", .desc = "Collective accesses in which each process moved its own "
     "data, since the parts do not interleave or a hint said so.", .unit = "calls",
     .klass = FATHOM_COUNTER, .at = AT(n_direct), .category = "io"},
    {.name = "io_exchanged_bytes", .desc = "Bytes of data that this process exchanged with others "
     "in collective accesses, as the one that sends.", .unit = "bytes", .klass = FATHOM_AGGREGATE,
     .at = AT(exchanged_bytes), .category = "io"},
    {.name = "io_locks", .desc = "Record locks taken on files in atomic mode.", .unit = "locks",
     .klass = FATHOM_COUNTER, .at = AT(n_locks), .category = "io"},
};

static const struct fathom_category categories[] = {
    {.name = "io", .desc = "Files: accesses, system calls, aggregation."},
};
/* clang-format on */

const struct fathom_table fm_io_vars = {
    .room = "io",
    .block_len = sizeof(struct fm_io_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

/* Private counters with the defaults, until fm_io_counters_init() names those in the page. */
static struct fm_io_counters no_page = {.cb_buffer_size = DEFAULT_BUFFER,
                                        .sieve_stride = DEFAULT_STRIDE};
struct fm_io_counters *fm_io_counters = &no_page;

void fm_io_counters_init(void *block)
{
    fm_io_counters = block ? block : &no_page;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by algorithm against the calls that this program makes. The names are taken from the
 * library: coll_<kind>_<algorithm>_calls, in the order of the values of coll_<kind>_algorithm; an
 * algorithm that comes in later is checked without a change here.
 */
#include "../coll/force.h"
#include "oracle.h"

enum { N = 64, TIMES = 3, MAX_RANKS = 64 };

static long out[N * MAX_RANKS], in[N * MAX_RANKS];
static int rank, size;
static MPI_Comm comm;

#define BYTES (N * (ull)sizeof(long))

/* One call each, and the bytes that it counts: of the vector or of one block, of all blocks in
   allgather and reduce_scatter. */
static ull barrier(int is_now)
{
    MPI_Request q;

    if (is_now) {
        OK(MPI_Barrier(comm));
    } else {
        OK(MPI_Ibarrier(comm, &q));
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    }
    return 0;
}

#define KIND(name, n_bytes, now, later)                                                            \
    static ull name(int is_now)                                                                    \
    {                                                                                              \
        MPI_Request q;                                                                             \
                                                                                                   \
        if (is_now) {                                                                              \
            OK(now);                                                                               \
        } else {                                                                                   \
            OK(later);                                                                             \
            OK(MPI_Wait(&q, MPI_STATUS_IGNORE));                                                   \
        }                                                                                          \
        return n_bytes;                                                                            \
    }

/* clang-format off */
KIND(bcast, BYTES, MPI_Bcast(out, N, MPI_LONG, 0, comm), MPI_Ibcast(out, N, MPI_LONG, 0, comm, &q))
KIND(reduce, BYTES, MPI_Reduce(out, in, N, MPI_LONG, MPI_SUM, 0, comm),
     MPI_Ireduce(out, in, N, MPI_LONG, MPI_SUM, 0, comm, &q))
KIND(allreduce, BYTES, MPI_Allreduce(out, in, N, MPI_LONG, MPI_SUM, comm),
     MPI_Iallreduce(out, in, N, MPI_LONG, MPI_SUM, comm, &q))
KIND(gather, BYTES, MPI_Gather(out, N, MPI_LONG, in, N, MPI_LONG, 0, comm),
     MPI_Igather(out, N, MPI_LONG, in, N, MPI_LONG, 0, comm, &q))
KIND(scatter, BYTES, MPI_Scatter(out, N, MPI_LONG, in, N, MPI_LONG, 0, comm),
     MPI_Iscatter(out, N, MPI_LONG, in, N, MPI_LONG, 0, comm, &q))
KIND(allgather, BYTES * (ull)size, MPI_Allgather(out, N, MPI_LONG, in, N, MPI_LONG, comm),
     MPI_Iallgather(out, N, MPI_LONG, in, N, MPI_LONG, comm, &q))
KIND(alltoall, BYTES, MPI_Alltoall(out, N, MPI_LONG, in, N, MPI_LONG, comm),
     MPI_Ialltoall(out, N, MPI_LONG, in, N, MPI_LONG, comm, &q))
KIND(reduce_scatter, BYTES * (ull)size,
     MPI_Reduce_scatter_block(out, in, N, MPI_LONG, MPI_SUM, comm),
     MPI_Ireduce_scatter_block(out, in, N, MPI_LONG, MPI_SUM, comm, &q))
KIND(scan, BYTES, MPI_Scan(out, in, N, MPI_LONG, MPI_SUM, comm),
     MPI_Iscan(out, in, N, MPI_LONG, MPI_SUM, comm, &q))
KIND(exscan, BYTES, MPI_Exscan(out, in, N, MPI_LONG, MPI_SUM, comm),
     MPI_Iexscan(out, in, N, MPI_LONG, MPI_SUM, comm, &q))
/* clang-format on */

static const struct {
    const char *name;
    ull (*call)(int is_now);
} kinds[] = {{"barrier", barrier},     {"bcast", bcast},       {"reduce", reduce},
             {"allreduce", allreduce}, {"gather", gather},     {"scatter", scatter},
             {"allgather", allgather}, {"alltoall", alltoall}, {"reduce_scatter", reduce_scatter},
             {"scan", scan},           {"exscan", exscan}};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), MAX_ALGOS = 16 };

/* Is this coll_<kind>_<algorithm>_<what> of a kind? "reduce" is also the beginning of another. */
static int is_of(const char *name, const char *kind, const char *what)
{
    char begin[64];
    size_t len = strlen(name), n = strlen(what);
    int length = snprintf(begin, sizeof(begin), "coll_%s_", kind);

    if (strncmp(name, begin, (size_t)length) != 0 || len < n || strcmp(name + len - n, what) != 0) {
        return 0;
    }
    return strcmp(kind, "reduce") != 0 || strncmp(name, "coll_reduce_scatter_", 20) != 0;
}

static int list(const char *kind, const char *what, const char **names)
{
    int n = 0;

    for (int i = 0; i < oracle_n; i++) {
        if (is_of(oracle_vars[i].name, kind, what)) {
            CHECK(n < MAX_ALGOS);
            names[n++] = oracle_vars[i].name;
        }
    }
    return n;
}

static ull reason_of(const char *variable, const char *wanted)
{
    int index, n, value, len;
    MPI_T_enum items;
    char name[64];

    OK(MPI_T_pvar_get_index(variable, MPI_T_PVAR_CLASS_STATE, &index));
    OK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL,
                           NULL, NULL));
    OK(MPI_T_enum_get_info(items, &n, NULL, NULL));
    for (int i = 0; i < n; i++) {
        len = sizeof(name);
        OK(MPI_T_enum_get_item(items, i, &value, name, &len));
        if (strcmp(name, wanted) == 0) {
            return (ull)value;
        }
    }
    CHECK(!"a known reason");
    return 0;
}

/* Calls of one form, and what has been counted for which algorithm. One that is forced but does not
   serve this form or so many ranks says so. */
static void check_kind(int k, int forced, int is_now)
{
    const char *calls[MAX_ALGOS], *bytes[MAX_ALGOS];
    int n = list(kinds[k].name, "_calls", calls), used = -1;
    char last[64], why[64];
    ull expected = 0;

    CHECK_EQ(list(kinds[k].name, "_bytes", bytes), n);
    snprintf(last, sizeof(last), "coll_%s_last", kinds[k].name);
    snprintf(why, sizeof(why), "coll_%s_reason", kinds[k].name);
    mark();
    for (int i = 0; i < TIMES; i++) {
        expected += kinds[k].call(is_now);
    }
    used = (int)value(last, 0) - 1;
    CHECK(used >= 0 && used < n);
    if (forced && value(why, 0) != reason_of(why, "unfit")) {
        now_is(why, reason_of(why, "forced"));
        now_is(last, forced);
    } else {
        CHECK(value(why, 0) != reason_of(why, "none"));
    }
    for (int i = 0; i < n; i++) {
        same(calls[i], i == used ? TIMES : 0);
        same(bytes[i], i == used ? expected : 0);
    }
    same("progress_hooks", 0); /* no schedule is left */
}

int main(int argc, char **argv)
{
    MPI_T_pvar_handle handle;
    int index, count, n_calls = 0;
    ull counted;

    oracle_open();
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size <= MAX_RANKS);
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_T_pvar_get_index("comm_collectives", MPI_T_PVAR_CLASS_COUNTER, &index));
    OK(MPI_T_pvar_handle_alloc(oracle_session, index, &comm, &handle, &count));
    OK(MPI_T_pvar_start(oracle_session, handle));
    for (int k = 0; k < N_KINDS; k++) {
        char variable[64];
        int n;

        snprintf(variable, sizeof(variable), "coll_%s_algorithm", kinds[k].name);
        n = n_algorithms(variable);
        CHECK(n > 1);
        for (int algo = n - 1; algo >= 0; algo--) {
            force(variable, algo);
            check_kind(k, algo, 1);
            check_kind(k, algo, 0);
            n_calls += 2 * TIMES;
        }
    }
    OK(MPI_T_pvar_read(oracle_session, handle, &counted));
    ORACLE("comm_collectives", 0, counted, ==, n_calls);
    OK(MPI_T_pvar_handle_free(oracle_session, &handle));
    OK(MPI_Comm_free(&comm));
    oracle_close();
    OK(MPI_Finalize());
    return 0;
}

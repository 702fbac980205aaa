/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Collectives by algorithm against the calls that this program makes. The names are taken from the
 * library: coll_<kind>_<algorithm>_calls, in the order of the values of coll_<kind>_algorithm; an
 * algorithm that comes in later is checked without a change here. Times are those between the first
 * and the last look at the clock that the library takes in a call. Those on an intercommunicator
 * are coll_<kind>_inter_calls, and element 0 of the arrays.
 */
#include "../coll/force.h"
#include "clock.h"
#include "oracle.h"

enum { N = 64, TIMES = 3, MAX_RANKS = 64 };

static long out[N * MAX_RANKS], in[N * MAX_RANKS];
static int rank, size;
static MPI_Comm comm;

#define BYTES (N * (ull)sizeof(long))

enum form { NOW, LATER, PERSISTENT, N_FORMS };

static ull least_ns, most_ns; /* what the calls of a stretch took */

static void clock_looked_at(void)
{
}

static void run_now(int rc)
{
    OK(rc);
    least_ns += clock_last - clock_first;
    most_ns += clock_last - clock_first;
}

/* The clock jumps between start and end: what was not over at the start (there is one look then) is
   looked for in the wait only. */
static void run_later(int rc, MPI_Request *q)
{
    OK(rc);
    least_ns += clock_n_looks == 1 ? SECOND : 0;
    clock_ahead += SECOND;
    OK(MPI_Wait(q, MPI_STATUS_IGNORE));
    most_ns += clock_last - clock_first;
}

/* Calls of one form, and the bytes that each of them counts: of the vector or of one block, of all
   blocks in allgather, reduce_scatter and neighborhood collectives, those of two neighbors. */
#define KIND(kind, n_bytes, Name, iname, ...)                                                      \
    static ull kind(enum form form)                                                                \
    {                                                                                              \
        MPI_Request q;                                                                             \
                                                                                                   \
        if (form == PERSISTENT) {                                                                  \
            OK(MPI_##Name##_init(__VA_ARGS__, MPI_INFO_NULL, &q));                                 \
        }                                                                                          \
        for (int k = 0; k < TIMES; k++) {                                                          \
            clock_begin(0, 0);                                                                     \
            if (form == NOW) {                                                                     \
                run_now(MPI_##Name(__VA_ARGS__));                                                  \
            } else if (form == LATER) {                                                            \
                run_later(MPI_##iname(__VA_ARGS__, &q), &q);                                       \
            } else {                                                                               \
                run_later(MPI_Start(&q), &q);                                                      \
            }                                                                                      \
        }                                                                                          \
        if (form == PERSISTENT) {                                                                  \
            OK(MPI_Request_free(&q));                                                              \
        }                                                                                          \
        return n_bytes;                                                                            \
    }

/* clang-format off */
KIND(barrier, 0, Barrier, Ibarrier, comm)
KIND(bcast, BYTES, Bcast, Ibcast, out, N, MPI_LONG, 0, comm)
KIND(reduce, BYTES, Reduce, Ireduce, out, in, N, MPI_LONG, MPI_SUM, 0, comm)
KIND(allreduce, BYTES, Allreduce, Iallreduce, out, in, N, MPI_LONG, MPI_SUM, comm)
KIND(gather, BYTES, Gather, Igather, out, N, MPI_LONG, in, N, MPI_LONG, 0, comm)
KIND(scatter, BYTES, Scatter, Iscatter, out, N, MPI_LONG, in, N, MPI_LONG, 0, comm)
KIND(allgather, BYTES * (ull)size, Allgather, Iallgather, out, N, MPI_LONG, in, N, MPI_LONG, comm)
KIND(alltoall, BYTES, Alltoall, Ialltoall, out, N, MPI_LONG, in, N, MPI_LONG, comm)
KIND(reduce_scatter, BYTES * (ull)size, Reduce_scatter_block, Ireduce_scatter_block, out, in, N,
     MPI_LONG, MPI_SUM, comm)
KIND(scan, BYTES, Scan, Iscan, out, in, N, MPI_LONG, MPI_SUM, comm)
KIND(exscan, BYTES, Exscan, Iexscan, out, in, N, MPI_LONG, MPI_SUM, comm)
KIND(neighbor_allgather, 2 * BYTES, Neighbor_allgather, Ineighbor_allgather, out, N, MPI_LONG, in,
     N, MPI_LONG, comm)
KIND(neighbor_alltoall, 2 * BYTES, Neighbor_alltoall, Ineighbor_alltoall, out, N, MPI_LONG, in, N,
     MPI_LONG, comm)
/* clang-format on */

static const struct {
    const char *name;
    ull (*call)(enum form form); /* TIMES of them */
} kinds[] = {{"barrier", barrier},
             {"bcast", bcast},
             {"reduce", reduce},
             {"allreduce", allreduce},
             {"gather", gather},
             {"scatter", scatter},
             {"allgather", allgather},
             {"alltoall", alltoall},
             {"reduce_scatter", reduce_scatter},
             {"scan", scan},
             {"exscan", exscan},
             {"neighbor_allgather", neighbor_allgather},
             {"neighbor_alltoall", neighbor_alltoall}};
enum { N_KINDS = sizeof(kinds) / sizeof(kinds[0]), MAX_ALGOS = 16 };

/* Is this coll_<kind>_<algorithm>_<what> of a kind? "reduce" is also the beginning of another. */
static int is_of(const char *name, const char *kind, const char *what)
{
    char begin[64];
    size_t len = strlen(name), n = strlen(what);
    int length = snprintf(begin, sizeof(begin), "coll_%s_", kind);

    if (strncmp(name, begin, (size_t)length) != 0 || len < n + (size_t)length ||
        strcmp(name + len - n, what) != 0) {
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

static MPI_T_enum items_of(const char *variable)
{
    MPI_T_enum items;
    int index;

    OK(MPI_T_pvar_get_index(variable, MPI_T_PVAR_CLASS_STATE, &index));
    OK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, NULL, &items, NULL, NULL, NULL, NULL,
                           NULL, NULL));
    return items;
}

static ull value_of(MPI_T_enum items, const char *wanted)
{
    int n, item, len;
    char name[64];

    OK(MPI_T_enum_get_info(items, &n, NULL, NULL));
    for (int i = 0; i < n; i++) {
        len = sizeof(name);
        OK(MPI_T_enum_get_item(items, i, &item, name, &len));
        if (strcmp(name, wanted) == 0) {
            return (ull)item;
        }
    }
    CHECK(!"a known item");
    return 0;
}

static void name_of(MPI_T_enum items, int wanted, char *name)
{
    int n, item, len;

    OK(MPI_T_enum_get_info(items, &n, NULL, NULL));
    for (int i = 0; i < n; i++) {
        len = 64;
        OK(MPI_T_enum_get_item(items, i, &item, name, &len));
        if (item == wanted) {
            return;
        }
    }
    CHECK(!"a value that has a name");
}

static ull reason_of(const char *variable, const char *wanted)
{
    return value_of(items_of(variable), wanted);
}

/* ---- what the event says ---- */

static struct {
    int n, kind, algorithm, reason;
    ull comm, bytes;
} chosen;

static void on_chosen(MPI_T_event_instance instance, MPI_T_event_registration registration,
                      MPI_T_cb_safety safety, void *user_data)
{
    ull id;

    (void)registration;
    (void)safety;
    (void)user_data;
    OK(MPI_T_event_read(instance, 0, &id));
    OK(MPI_T_event_read(instance, 1, &chosen.kind));
    OK(MPI_T_event_read(instance, 2, &chosen.algorithm));
    OK(MPI_T_event_read(instance, 3, &chosen.bytes));
    OK(MPI_T_event_read(instance, 4, &chosen.reason));
    CHECK(chosen.comm == 0 || chosen.comm == id); /* always the same */
    chosen.comm = id;
    chosen.n++;
}

static MPI_T_event_registration watch(void)
{
    MPI_T_event_registration r;
    int index;

    OK(MPI_T_event_get_index("coll_chosen_event", &index));
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &r));
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL,
                                     on_chosen));
    return r;
}

static void check_chosen(int k, int used, enum form form, ull bytes)
{
    static const char *const names[] = {
        "inter", "dissem", "binomial", "scatterring", "halving", "doubling", "linear", "bruck",
        "ring",  "window", "pairwise", "by_reduce",   "shm",     "direct",   "edges"};
    char variable[64], name[64], why[64];

    snprintf(variable, sizeof(variable), "coll_%s_last", kinds[k].name);
    snprintf(why, sizeof(why), "coll_%s_reason", kinds[k].name);
    name_of(items_of(variable), used, name);
    ORACLE("coll_chosen_event", 0, chosen.n, ==, form == PERSISTENT ? 1 : TIMES);
    CHECK_EQ(chosen.kind, k);
    CHECK(chosen.algorithm >= 0 && chosen.algorithm < (int)(sizeof(names) / sizeof(names[0])));
    CHECK(strcmp(names[chosen.algorithm], name) == 0);
    CHECK_EQ(chosen.bytes * TIMES, bytes);
    CHECK_EQ(chosen.reason, value(why, 0));
}

/* ---- one kind, by one algorithm or the automatic choice ---- */

static void check_array(int k, const char *what, int used, ull least, ull most)
{
    char variable[64];

    snprintf(variable, sizeof(variable), "coll_%s_%s", kinds[k].name, what);
    for (int i = 0; i < oracle_find(variable)->count; i++) {
        ORACLE(variable, i, since(variable, i), >=, i == used ? least : 0);
        ORACLE(variable, i, since(variable, i), <=, i == used ? most : 0);
    }
}

/* Calls of one form, and what has been counted for which algorithm. One that is forced but does not
   serve this form or so many ranks says so. An event looks at the clock itself, so times are
   compared where none is raised. */
static void check_kind(int k, int forced, enum form form, int is_watched)
{
    const char *calls[MAX_ALGOS], *bytes[MAX_ALGOS], *times[MAX_ALGOS];
    int n = list(kinds[k].name, "_calls", calls), used = -1;
    char last[64], why[64];
    ull expected;

    CHECK_EQ(list(kinds[k].name, "_bytes", bytes), n);
    CHECK_EQ(list(kinds[k].name, "_time", times), n);
    snprintf(last, sizeof(last), "coll_%s_last", kinds[k].name);
    snprintf(why, sizeof(why), "coll_%s_reason", kinds[k].name);
    mark();
    chosen.n = 0;
    least_ns = most_ns = 0;
    expected = kinds[k].call(form) * TIMES;
    least_ns = is_watched ? 0 : least_ns;
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
        at_least(times[i], i == used ? least_ns : 0);
        at_most(times[i], i == used ? most_ns : 0);
    }
    check_array(k, "calls", used + 1, TIMES, TIMES);
    check_array(k, "bytes", used + 1, expected, expected);
    check_array(k, "time", used + 1, least_ns, most_ns);
    if (is_watched) {
        check_chosen(k, used + 1, form, expected);
    }
    same("progress_hooks", 0); /* no schedule is left */
}

/* ---- intercommunicators ---- */

static MPI_Comm inter;
static int root;

static void make_inter(void)
{
    int is_right = rank >= (size + 1) / 2;
    MPI_Comm half;

    OK(MPI_Comm_split(MPI_COMM_WORLD, is_right, rank, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, is_right ? 0 : (size + 1) / 2, 1, &inter));
    /* Data of the rooted ones goes from or to the first of the left group. */
    root = is_right ? 0 : rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
    OK(MPI_Comm_free(&half));
}

/* Of a vector or block that leaves this rank and of one that comes to it, of reductions once. */
#define ROOTED (root == MPI_PROC_NULL ? 0 : BYTES)

/* clang-format off */
KIND(inter_barrier, 0, Barrier, Ibarrier, inter)
KIND(inter_bcast, ROOTED, Bcast, Ibcast, out, N, MPI_LONG, root, inter)
KIND(inter_reduce, ROOTED, Reduce, Ireduce, out, in, N, MPI_LONG, MPI_SUM, root,
     inter)
KIND(inter_allreduce, BYTES, Allreduce, Iallreduce, out, in, N, MPI_LONG, MPI_SUM, inter)
KIND(inter_gather, ROOTED, Gather, Igather, out, N, MPI_LONG, in, N, MPI_LONG,
     root, inter)
KIND(inter_scatter, ROOTED, Scatter, Iscatter, out, N, MPI_LONG, in, N, MPI_LONG,
     root, inter)
KIND(inter_allgather, 2 * BYTES, Allgather, Iallgather, out, N, MPI_LONG, in, N, MPI_LONG,
     inter)
KIND(inter_reduce_scatter, BYTES, Reduce_scatter_block,
     Ireduce_scatter_block, out, in, N, MPI_LONG, MPI_SUM, inter)
KIND(inter_alltoall, 2 * BYTES, Alltoall, Ialltoall, out, N, MPI_LONG, in, N, MPI_LONG, inter)
/* clang-format on */

static const struct {
    const char *name;
    ull (*call)(enum form form);
} inter_kinds[] = {{"barrier", inter_barrier},
                   {"bcast", inter_bcast},
                   {"reduce", inter_reduce},
                   {"allreduce", inter_allreduce},
                   {"gather", inter_gather},
                   {"scatter", inter_scatter},
                   {"allgather", inter_allgather},
                   {"alltoall", inter_alltoall},
                   {"reduce_scatter", inter_reduce_scatter}};
enum { N_INTER_KINDS = sizeof(inter_kinds) / sizeof(inter_kinds[0]) };

/* Nothing of the other algorithms moves, nor what is said of the last choice. */
static void check_inter(int k, enum form form)
{
    const char *kind = inter_kinds[k].name, *what[] = {"_calls", "_bytes"}, *names[MAX_ALGOS];
    char mine[64], last[64];
    ull expected[2] = {TIMES, 0};

    snprintf(last, sizeof(last), "coll_%s_last", kind);
    mark();
    least_ns = most_ns = 0;
    expected[1] = inter_kinds[k].call(form) * TIMES;
    for (int j = 0; j < 2; j++) {
        int n = list(kind, what[j], names);

        snprintf(mine, sizeof(mine), "coll_%s_inter%s", kind, what[j]);
        for (int i = 0; i < n; i++) {
            same(names[i], strcmp(names[i], mine) == 0 ? expected[j] : 0);
        }
        CHECK_EQ(since(mine, 0), expected[j]);
        check_array(k, &what[j][1], 0, expected[j], expected[j]);
    }
    snprintf(mine, sizeof(mine), "coll_%s_inter_time", kind);
    at_least(mine, least_ns);
    at_most(mine, most_ns);
    same(last, 0);
}

static void check_inters(void)
{
    make_inter();
    for (int k = 0; k < N_INTER_KINDS; k++) {
        for (enum form form = NOW; form < N_FORMS; form++) {
            check_inter(k, form);
        }
    }
    OK(MPI_Comm_free(&inter));
}

/* Alone a call looks at the clock for the timers only, and only when somebody wants them. */
static void check_wanted(void)
{
    clock_begin(0, 0);
    OK(MPI_Barrier(comm));
    CHECK_EQ(clock_n_looks, 2);
    OK(MPI_T_pvar_stop(oracle_session, MPI_T_PVAR_ALL_HANDLES));
    clock_begin(0, 0);
    OK(MPI_Barrier(comm));
    CHECK_EQ(clock_n_looks, 0);
    force("coll_timing", 1);
    OK(MPI_Barrier(comm));
    CHECK_EQ(clock_n_looks, 2);
    force("coll_timing", 0);
    OK(MPI_T_pvar_start(oracle_session, MPI_T_PVAR_ALL_HANDLES));
}

int main(int argc, char **argv)
{
    MPI_T_pvar_handle handle;
    int index, count, n_calls = 0, is_ring = 1;
    MPI_T_event_registration registration;
    ull counted;

    oracle_open();
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK(size <= MAX_RANKS);
    OK(MPI_Cart_create(MPI_COMM_WORLD, 1, &size, &is_ring, 0, &comm));
    /* Memory is set up now, and not in a call that is timed. */
    force("coll_barrier_algorithm", (int)value_of(items_of("coll_barrier_last"), "shm"));
    OK(MPI_Barrier(comm));
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
            for (enum form form = NOW; form < N_FORMS; form++) {
                check_kind(k, algo, form, 0);
                registration = watch();
                check_kind(k, algo, form, 1);
                OK(MPI_T_event_handle_free(registration, NULL, NULL));
                n_calls += 2 * TIMES;
            }
        }
    }
    OK(MPI_T_pvar_read(oracle_session, handle, &counted));
    ORACLE("comm_collectives", 0, counted, ==, n_calls);
    OK(MPI_T_pvar_handle_free(oracle_session, &handle));
    if (size == 1) {
        check_wanted();
    } else {
        check_inters();
    }
    OK(MPI_Comm_free(&comm));
    oracle_close();
    OK(MPI_Finalize());
    return 0;
}

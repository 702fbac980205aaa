/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking and persistent collectives: many under way at once, completed in any order and mixed
   with blocking ones and with messages; persistent ones started again with other data. */
#include "force.h"

#include <string.h>

#define MAX_OPEN 24

static int rank, size;

static long value(int r, long i, int salt)
{
    return (r * 7 + i * 3 + salt * 13) % 101;
}

static long sum(long i, int salt)
{
    long s = 0;

    for (int r = 0; r < size; r++) {
        s += value(r, i, salt);
    }
    return s;
}

enum kind {
    BARRIER,
    BCAST,
    REDUCE,
    ALLREDUCE,
    GATHER,
    SCATTER,
    ALLGATHER,
    ALLTOALL,
    SCAN,
    EXSCAN,
    REDUCE_SCATTER_BLOCK,
    GATHERV,
    SCATTERV,
    ALLGATHERV,
    ALLTOALLV,
    ALLTOALLW,
    REDUCE_SCATTER,
    N_KINDS
};

/* One operation: n elements per rank; in and out hold n * size. */
struct op {
    enum kind kind;
    int n, root, salt;
    long *in, *out;
    int *counts, *displs, *bytes, *places;
    MPI_Datatype *types;
};

static void set_input(struct op *o, int salt)
{
    o->salt = salt;
    for (long i = 0; i < (long)o->n * size; i++) {
        o->in[i] = value(rank, i, salt);
        o->out[i] = -1;
    }
    if (o->kind == BCAST && rank == o->root) {
        memcpy(o->out, o->in, (size_t)o->n * sizeof(long));
    }
}

static struct op make(enum kind kind, int n, int root, int salt)
{
    size_t total = (size_t)n * (size_t)size + 1;
    struct op o = {kind,
                   n,
                   root,
                   salt,
                   malloc(total * sizeof(long)),
                   malloc(total * sizeof(long)),
                   malloc((size_t)size * 4 * sizeof(int))};

    o.displs = o.counts + size;
    o.bytes = o.displs + size;
    o.places = o.bytes + size;
    o.types = malloc((size_t)size * sizeof(MPI_Datatype));
    for (int r = 0; r < size; r++) {
        o.counts[r] = n;
        o.displs[r] = r * n;
        o.bytes[r] = n * (r % 2 ? (int)sizeof(long) : 1);
        o.types[r] = r % 2 ? MPI_BYTE : MPI_LONG;
        o.places[r] = r * n * (int)sizeof(long);
    }
    set_input(&o, salt);
    return o;
}

static void forget(struct op *o)
{
    free(o->in);
    free(o->out);
    free(o->counts);
    free(o->types);
}

/* Arrays of arguments are needed until the operation is complete: they live in the op. */
static void start(struct op *o, MPI_Comm c, MPI_Request *r)
{
    const MPI_Datatype t = MPI_LONG;

    switch (o->kind) {
    case BARRIER:
        OK(MPI_Ibarrier(c, r));
        break;
    case BCAST:
        OK(MPI_Ibcast(o->out, o->n, t, o->root, c, r));
        break;
    case REDUCE:
        OK(MPI_Ireduce(o->in, o->out, o->n, t, MPI_SUM, o->root, c, r));
        break;
    case ALLREDUCE:
        OK(MPI_Iallreduce(o->in, o->out, o->n, t, MPI_SUM, c, r));
        break;
    case GATHER:
        OK(MPI_Igather(o->in, o->n, t, o->out, o->n, t, o->root, c, r));
        break;
    case SCATTER:
        OK(MPI_Iscatter(o->in, o->n, t, o->out, o->n, t, o->root, c, r));
        break;
    case ALLGATHER:
        OK(MPI_Iallgather(o->in, o->n, t, o->out, o->n, t, c, r));
        break;
    case ALLTOALL:
        OK(MPI_Ialltoall(o->in, o->n, t, o->out, o->n, t, c, r));
        break;
    case SCAN:
        OK(MPI_Iscan(o->in, o->out, o->n, t, MPI_SUM, c, r));
        break;
    case EXSCAN:
        OK(MPI_Iexscan(o->in, o->out, o->n, t, MPI_SUM, c, r));
        break;
    case REDUCE_SCATTER_BLOCK:
        OK(MPI_Ireduce_scatter_block(o->in, o->out, o->n, t, MPI_SUM, c, r));
        break;
    case GATHERV:
        OK(MPI_Igatherv(o->in, o->n, t, o->out, o->counts, o->displs, t, o->root, c, r));
        break;
    case SCATTERV:
        OK(MPI_Iscatterv(o->in, o->counts, o->displs, t, o->out, o->n, t, o->root, c, r));
        break;
    case ALLGATHERV:
        OK(MPI_Iallgatherv(o->in, o->n, t, o->out, o->counts, o->displs, t, c, r));
        break;
    case ALLTOALLV:
        OK(MPI_Ialltoallv(o->in, o->counts, o->displs, t, o->out, o->counts, o->displs, t, c, r));
        break;
    case ALLTOALLW:
        OK(MPI_Ialltoallw(o->in, o->bytes, o->places, o->types, o->out, o->bytes, o->places,
                          o->types, c, r));
        break;
    default:
        OK(MPI_Ireduce_scatter(o->in, o->out, o->counts, t, MPI_SUM, c, r));
    }
}

static void start_persistent(struct op *o, MPI_Comm c, MPI_Request *r)
{
    const MPI_Datatype t = MPI_LONG;
    const MPI_Info i = MPI_INFO_NULL;

    switch (o->kind) {
    case BARRIER:
        OK(MPI_Barrier_init(c, i, r));
        break;
    case BCAST:
        OK(MPI_Bcast_init(o->out, o->n, t, o->root, c, i, r));
        break;
    case REDUCE:
        OK(MPI_Reduce_init(o->in, o->out, o->n, t, MPI_SUM, o->root, c, i, r));
        break;
    case ALLREDUCE:
        OK(MPI_Allreduce_init(o->in, o->out, o->n, t, MPI_SUM, c, i, r));
        break;
    case GATHER:
        OK(MPI_Gather_init(o->in, o->n, t, o->out, o->n, t, o->root, c, i, r));
        break;
    case SCATTER:
        OK(MPI_Scatter_init(o->in, o->n, t, o->out, o->n, t, o->root, c, i, r));
        break;
    case ALLGATHER:
        OK(MPI_Allgather_init(o->in, o->n, t, o->out, o->n, t, c, i, r));
        break;
    case ALLTOALL:
        OK(MPI_Alltoall_init(o->in, o->n, t, o->out, o->n, t, c, i, r));
        break;
    case SCAN:
        OK(MPI_Scan_init(o->in, o->out, o->n, t, MPI_SUM, c, i, r));
        break;
    case EXSCAN:
        OK(MPI_Exscan_init(o->in, o->out, o->n, t, MPI_SUM, c, i, r));
        break;
    case REDUCE_SCATTER_BLOCK:
        OK(MPI_Reduce_scatter_block_init(o->in, o->out, o->n, t, MPI_SUM, c, i, r));
        break;
    case GATHERV:
        OK(MPI_Gatherv_init(o->in, o->n, t, o->out, o->counts, o->displs, t, o->root, c, i, r));
        break;
    case SCATTERV:
        OK(MPI_Scatterv_init(o->in, o->counts, o->displs, t, o->out, o->n, t, o->root, c, i, r));
        break;
    case ALLGATHERV:
        OK(MPI_Allgatherv_init(o->in, o->n, t, o->out, o->counts, o->displs, t, c, i, r));
        break;
    case ALLTOALLV:
        OK(MPI_Alltoallv_init(o->in, o->counts, o->displs, t, o->out, o->counts, o->displs, t, c, i,
                              r));
        break;
    case ALLTOALLW:
        OK(MPI_Alltoallw_init(o->in, o->bytes, o->places, o->types, o->out, o->bytes, o->places,
                              o->types, c, i, r));
        break;
    default:
        OK(MPI_Reduce_scatter_init(o->in, o->out, o->counts, t, MPI_SUM, c, i, r));
    }
}

/* What must be in out[i], -1: untouched. */
static long wanted(const struct op *o, long i)
{
    int n = o->n, block = (int)(i / n);
    long at = i % n, s = 0;

    switch (o->kind) {
    case BARRIER:
        return -1;
    case BCAST:
        return i < n ? value(o->root, i, o->salt) : -1;
    case REDUCE:
        return rank == o->root && i < n ? sum(i, o->salt) : -1;
    case ALLREDUCE:
        return i < n ? sum(i, o->salt) : -1;
    case GATHER:
    case GATHERV:
        return rank == o->root ? value(block, at, o->salt) : -1;
    case SCATTER:
    case SCATTERV:
        return i < n ? value(o->root, (long)rank * n + i, o->salt) : -1;
    case ALLGATHER:
    case ALLGATHERV:
        return value(block, at, o->salt);
    case ALLTOALL:
    case ALLTOALLV:
    case ALLTOALLW:
        return value(block, (long)rank * n + at, o->salt);
    case SCAN:
    case EXSCAN:
        for (int r = 0; r < rank + (o->kind == SCAN); r++) {
            s += value(r, i, o->salt);
        }
        return i >= n || (o->kind == EXSCAN && rank == 0) ? -1 : s;
    default:
        return i < n ? sum((long)rank * n + i, o->salt) : -1;
    }
}

static void check(const struct op *o)
{
    for (long i = 0; i < (long)o->n * size; i++) {
        CHECK_EQ(o->out[i], wanted(o, i));
    }
}

static void one_by_one(int n)
{
    for (int kind = 0; kind < N_KINDS; kind++) {
        struct op o = make(kind, n, (kind + n) % size, kind);
        MPI_Request r;

        start(&o, MPI_COMM_WORLD, &r);
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        CHECK(r == MPI_REQUEST_NULL);
        check(&o);
        forget(&o);
    }
}

/* All ranks start the same operations in the same order; each completes them in its own. */
static void many_at_once(uint64_t seed)
{
    struct op ops[MAX_OPEN];
    MPI_Request r[MAX_OPEN];
    uint64_t own = seed * 31 + (uint64_t)rank;
    int in = -1, out = rank;
    MPI_Request message;

    OK(MPI_Irecv(&in, 1, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &message));
    for (int k = 0; k < MAX_OPEN; k++) {
        int n = fewer(1 + random_below(&seed, k % 5 == 0 ? 5000 : 20), size);

        ops[k] = make(random_below(&seed, N_KINDS), n, random_below(&seed, size), k);
        start(&ops[k], MPI_COMM_WORLD, &r[k]);
        if (k == MAX_OPEN / 2) {
            OK(MPI_Barrier(MPI_COMM_WORLD)); /* a blocking one in between */
            OK(MPI_Send(&out, 1, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD));
        }
    }
    for (int left = MAX_OPEN; left > 0; left--) {
        int k = random_below(&own, MAX_OPEN), flag = 0;

        if (left % 3 == 0) {
            OK(MPI_Waitany(MAX_OPEN, r, &k, MPI_STATUS_IGNORE));
        } else {
            while (r[k] == MPI_REQUEST_NULL) {
                k = (k + 1) % MAX_OPEN;
            }
            while (!flag) {
                OK(MPI_Test(&r[k], &flag, MPI_STATUS_IGNORE));
            }
        }
        check(&ops[k]);
        forget(&ops[k]);
    }
    OK(MPI_Wait(&message, MPI_STATUS_IGNORE));
    CHECK_EQ(in, (rank + size - 1) % size);
}

static void again_and_again(int n)
{
    struct op ops[N_KINDS];
    MPI_Request r[N_KINDS];

    for (int kind = 0; kind < N_KINDS; kind++) {
        ops[kind] = make(kind, n, (kind + n) % size, kind);
        start_persistent(&ops[kind], MPI_COMM_WORLD, &r[kind]);
    }
    for (int round = 0; round < 5; round++) {
        for (int kind = 0; kind < N_KINDS; kind++) {
            set_input(&ops[kind], kind + 17 * round);
        }
        OK(MPI_Startall(N_KINDS, r));
        OK(MPI_Waitall(N_KINDS, r, MPI_STATUSES_IGNORE));
        for (int kind = 0; kind < N_KINDS; kind++) {
            CHECK(r[kind] != MPI_REQUEST_NULL);
            check(&ops[kind]);
        }
    }
    for (int kind = 0; kind < N_KINDS; kind++) {
        OK(MPI_Request_free(&r[kind]));
        forget(&ops[kind]);
    }
}

/* The objects of a call may be freed while it is under way. */
static void freed_meanwhile(void)
{
    long in[4] = {rank, 1, 2, 3}, out[4];
    MPI_Comm comm;
    MPI_Datatype pair;
    MPI_Request r[2];

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Type_contiguous(2, MPI_LONG, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Ibcast(in, 2, pair, 0, comm, &r[0]));
    OK(MPI_Iallreduce(&in[3], out, 1, MPI_LONG, MPI_SUM, comm, &r[1]));
    OK(MPI_Type_free(&pair));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    CHECK_EQ(in[0], 0);
    CHECK_EQ(out[0], 3 * size);
}

int main(int argc, char **argv)
{
    static const int counts[] = {1, 3, 50, 6000};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int c = 0; c < 4; c++) {
        one_by_one(fewer(counts[c], size));
        again_and_again(fewer(counts[c], size));
    }
    for (uint64_t seed = 1; seed <= 20; seed++) {
        many_at_once(seed);
    }
    for (int i = 0; i < 20; i++) {
        freed_meanwhile();
    }
    MPI_Finalize();
    return 0;
}

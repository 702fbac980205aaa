/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The same signature, another layout on every rank. Collectives demand that what is sent and what
 * is received agree in signature, not in count and type (MPI-5.0 6.1); so nothing that all ranks
 * must decide alike may hang on these. Every algorithm, lengths on both sides of their cut-offs.
 */
#include "force.h"

#include <string.h>

/* How n ints lie: one by one, at every second place, three apart, backwards below the origin, or in
   two runs. */
enum kind { DENSE, VECTOR, SPREAD, BACKWARDS, HALVES, N_KINDS };

static int rank, size;
static MPI_Comm world;

/* Ints from one block to the next where a block is one element. */
static long stretch(int n)
{
    return 2L * n + 16;
}

/* Where int i of block r lies, in ints from the origin. */
static long place(enum kind kind, int n, int r, int i)
{
    switch (kind) {
    case DENSE:
        return (long)r * n + i;
    case SPREAD:
        return ((long)r * n + i) * 3;
    case VECTOR:
        return r * stretch(n) + 2L * i;
    case BACKWARDS:
        return r * stretch(n) - 2L * i;
    default:
        return r * stretch(n) + (i < n / 2 ? i : i + 5);
    }
}

/* A buffer for `blocks` of them; its origin. */
struct memory {
    int *all, *origin;
    size_t n;
};

static struct memory take(int n, int blocks)
{
    struct memory m;

    m.n = (size_t)(blocks + 2) * (size_t)(3L * n + 16);
    m.all = malloc(m.n * sizeof(int));
    CHECK(m.all);
    memset(m.all, 0xff, m.n * sizeof(int));
    m.origin = m.all + stretch(n);
    return m;
}

/* One block as a type and a count. */
struct layout {
    enum kind kind;
    int n, count;
    MPI_Datatype type;
};

static MPI_Datatype backwards(int n)
{
    int *at = malloc(((size_t)n + 1) * sizeof(int));
    MPI_Datatype t;

    for (int i = 0; i < n; i++) {
        at[i] = -2 * i;
    }
    OK(MPI_Type_create_indexed_block(n, 1, at, MPI_INT, &t));
    free(at);
    return t;
}

static struct layout lay(enum kind kind, int n)
{
    struct layout l = {.kind = kind, .n = n, .count = 1, .type = MPI_INT};
    int lens[2] = {n / 2, n - n / 2}, at[2] = {0, n / 2 + 5};
    MPI_Aint extent = stretch(n) * (MPI_Aint)sizeof(int);
    MPI_Datatype t = MPI_INT;

    if (kind == DENSE || kind == SPREAD) {
        l.count = n;
        extent = 3 * sizeof(int);
    } else if (kind == VECTOR) {
        OK(MPI_Type_vector(n, 1, 2, MPI_INT, &t));
    } else if (kind == BACKWARDS) {
        t = backwards(n);
    } else {
        OK(MPI_Type_indexed(2, lens, at, MPI_INT, &t));
    }
    if (kind != DENSE) {
        OK(MPI_Type_create_resized(t, 0, extent, &l.type));
        OK(MPI_Type_commit(&l.type));
    }
    if (t != MPI_INT) {
        OK(MPI_Type_free(&t));
    }
    return l;
}

static void forget(struct layout *l)
{
    if (l->type != MPI_INT) {
        OK(MPI_Type_free(&l->type));
    }
}

static int value(int from, int to, int i)
{
    return from * 1000003 + to * 1009 + i * 7;
}

static void fill(struct memory m, const struct layout *l, int r, int from, int to)
{
    for (int i = 0; i < l->n; i++) {
        m.origin[place(l->kind, l->n, r, i)] = value(from, to, i);
    }
}

static void expect(struct memory m, const struct layout *l, int r, int from, int to)
{
    for (int i = 0; i < l->n; i++) {
        CHECK_EQ(m.origin[place(l->kind, l->n, r, i)], value(from, to, i));
    }
}

/* A call, blocking or not. */
#define CALL(name, nonblocking, ...)                                                               \
    do {                                                                                           \
        if (is_blocking) {                                                                         \
            OK(name(__VA_ARGS__, world));                                                          \
        } else {                                                                                   \
            MPI_Request call_request;                                                              \
            OK(nonblocking(__VA_ARGS__, world, &call_request));                                    \
            OK(MPI_Wait(&call_request, MPI_STATUS_IGNORE));                                        \
        }                                                                                          \
    } while (0)

static enum kind kind_of(int a, int salt)
{
    return (enum kind)((a + salt) % N_KINDS);
}

static void bcast(int n, int salt, int is_blocking)
{
    int root = salt % size;
    struct layout l = lay(kind_of(rank, salt), n);
    struct memory m = take(n, 1);

    if (rank == root) {
        fill(m, &l, 0, root, salt);
    }
    CALL(MPI_Bcast, MPI_Ibcast, m.origin, l.count, l.type, root);
    expect(m, &l, 0, root, salt);
    free(m.all);
    forget(&l);
}

/* Gather and scatter: the root's side differs from all others, which differ among themselves. */
static void rooted(int n, int salt, int is_blocking, int is_in_place)
{
    int root = salt % size;
    struct layout one = lay(kind_of(rank, salt), n), all = lay(kind_of(rank, salt + 2), n);
    struct memory mine = take(n, 1), whole = take(n, size);
    void *in_place = rank == root && is_in_place ? MPI_IN_PLACE : mine.origin;

    fill(mine, &one, 0, rank, root);
    fill(whole, &all, root, root, root);
    CALL(MPI_Gather, MPI_Igather, in_place, one.count, one.type, rank == root ? whole.origin : NULL,
         all.count, all.type, root);
    for (int r = 0; rank == root && r < size; r++) {
        expect(whole, &all, r, r, root);
    }
    for (int r = 0; r < size; r++) {
        fill(whole, &all, r, root, r);
    }
    memset(mine.all, 0xff, mine.n * sizeof(int));
    CALL(MPI_Scatter, MPI_Iscatter, rank == root ? whole.origin : NULL, all.count, all.type,
         in_place, one.count, one.type, root);
    if (in_place != MPI_IN_PLACE) {
        expect(mine, &one, 0, root, rank);
    }
    free(mine.all);
    free(whole.all);
    forget(&one);
    forget(&all);
}

static void allgather(int n, int salt, int is_blocking, int is_in_place)
{
    struct layout one = lay(kind_of(rank, salt), n), all = lay(kind_of(rank, salt + 1), n);
    struct memory mine = take(n, 1), whole = take(n, size);
    void *send = is_in_place ? MPI_IN_PLACE : mine.origin;

    fill(mine, &one, 0, rank, 0);
    fill(whole, &all, rank, rank, 0);
    CALL(MPI_Allgather, MPI_Iallgather, send, one.count, one.type, whole.origin, all.count,
         all.type);
    for (int r = 0; r < size; r++) {
        expect(whole, &all, r, r, 0);
    }
    free(mine.all);
    free(whole.all);
    forget(&one);
    forget(&all);
}

static void alltoall(int n, int salt, int is_blocking, int is_in_place)
{
    struct layout out = lay(kind_of(rank, salt), n), in = lay(kind_of(rank, salt + 3), n);
    struct memory from = take(n, size), to = take(n, size);
    void *send = is_in_place ? MPI_IN_PLACE : from.origin;

    for (int r = 0; r < size; r++) {
        fill(from, &out, r, rank, r);
        fill(to, &in, r, rank, r);
    }
    CALL(MPI_Alltoall, MPI_Ialltoall, send, out.count, out.type, to.origin, in.count, in.type);
    for (int r = 0; r < size; r++) {
        expect(to, &in, r, r, rank);
    }
    free(from.all);
    free(to.all);
    forget(&out);
    forget(&in);
}

/* ---- forms with lengths that differ ---------------------------------------------------------- */

/* Ints that rank a has for rank b; some have none. */
static int n_for(int a, int b, int n)
{
    return (a + 2 * b) % 3 * n + (a % 3 == 2) * b;
}

/* Blocks r of n_for(r, b) ints each, every int three apart on odd ranks: counts and places. */
struct blocks {
    int *counts, *displs, total;
    int step;
    MPI_Datatype type;
};

static struct blocks arrange(int n, int fixed, int is_sent, int step)
{
    struct blocks b = {malloc((size_t)size * sizeof(int)), malloc((size_t)size * sizeof(int)), 0,
                       step, MPI_INT};

    for (int r = 0; r < size; r++) {
        b.counts[r] = is_sent ? n_for(fixed, r, n) : n_for(r, fixed, n);
        b.displs[r] = b.total;
        b.total += b.counts[r];
    }
    if (step > 1) {
        OK(MPI_Type_create_resized(MPI_INT, 0, step * (MPI_Aint)sizeof(int), &b.type));
        OK(MPI_Type_commit(&b.type));
    }
    return b;
}

static void disband(struct blocks *b)
{
    free(b->counts);
    free(b->displs);
    if (b->type != MPI_INT) {
        OK(MPI_Type_free(&b->type));
    }
}

static int *room_for(const struct blocks *b)
{
    int *a = malloc(((size_t)b->total * (size_t)b->step + 1) * sizeof(int));

    CHECK(a);
    memset(a, 0xff, ((size_t)b->total * (size_t)b->step + 1) * sizeof(int));
    return a;
}

static void check_block(const int *a, const struct blocks *b, int r, int from, int to)
{
    for (int i = 0; i < b->counts[r]; i++) {
        CHECK_EQ(a[(b->displs[r] + i) * b->step], value(from, to, i));
    }
}

static void fill_block(int *a, const struct blocks *b, int r, int from, int to)
{
    for (int i = 0; i < b->counts[r]; i++) {
        a[(b->displs[r] + i) * b->step] = value(from, to, i);
    }
}

static void gatherv(int n, int salt)
{
    int root = salt % size, own = n_for(rank, 0, n);
    struct blocks b = arrange(n, 0, 0, 1 + (rank + salt) % 2 * 2);
    struct layout one = lay(kind_of(rank, salt), own);
    struct memory mine = take(own, 1);
    int *all = room_for(&b);

    fill(mine, &one, 0, rank, 0);
    OK(MPI_Gatherv(mine.origin, one.count, one.type, all, b.counts, b.displs, b.type, root, world));
    for (int r = 0; rank == root && r < size; r++) {
        check_block(all, &b, r, r, 0);
    }
    memset(all, 0xff, (size_t)b.total * (size_t)b.step * sizeof(int));
    OK(MPI_Allgatherv(mine.origin, one.count, one.type, all, b.counts, b.displs, b.type, world));
    for (int r = 0; r < size; r++) {
        check_block(all, &b, r, r, 0);
    }
    memset(mine.all, 0xff, mine.n * sizeof(int));
    OK(MPI_Scatterv(all, b.counts, b.displs, b.type, mine.origin, one.count, one.type, root,
                    world));
    expect(mine, &one, 0, rank, 0);
    free(all);
    free(mine.all);
    forget(&one);
    disband(&b);
}

static void alltoallv(int n, int salt)
{
    struct blocks out = arrange(n, rank, 1, 1 + (rank + salt) % 3);
    struct blocks in = arrange(n, rank, 0, 1 + (rank + salt) % 2);
    int *from = room_for(&out), *to = room_for(&in);

    for (int r = 0; r < size; r++) {
        fill_block(from, &out, r, rank, r);
    }
    OK(MPI_Alltoallv(from, out.counts, out.displs, out.type, to, in.counts, in.displs, in.type,
                     world));
    for (int r = 0; r < size; r++) {
        check_block(to, &in, r, r, rank);
    }
    free(from);
    free(to);
    disband(&out);
    disband(&in);
}

/* Another layout for every pair, and on both sides of it. */
static void alltoallw(int n, int salt)
{
    int *numbers = calloc(4 * (size_t)size, sizeof(int));
    int *out_counts = numbers, *in_counts = numbers + size;
    int *out_at = numbers + 2 * size, *in_at = numbers + 3 * size;
    MPI_Datatype *out_types = malloc(2 * (size_t)size * sizeof(*out_types));
    MPI_Datatype *in_types = out_types + size;
    struct layout *outs = malloc(2 * (size_t)size * sizeof(*outs)), *ins = outs + size;
    int n_max = 2 * n + size;
    struct memory from = take(2 * n_max + 16, size), to = take(2 * n_max + 16, size);
    long apart = 5L * n_max + 32; /* room for blocks that lie below their origin */

    for (int r = 0; r < size; r++) {
        struct memory block = from;

        outs[r] = lay(kind_of(rank + r, salt), n_for(rank, r, n));
        ins[r] = lay(kind_of(rank + 2 * r, salt), n_for(r, rank, n));
        out_counts[r] = outs[r].count;
        in_counts[r] = ins[r].count;
        out_types[r] = outs[r].type;
        in_types[r] = ins[r].type;
        out_at[r] = in_at[r] = (int)(r * apart * (long)sizeof(int));
        block.origin += r * apart;
        fill(block, &outs[r], 0, rank, r);
    }
    OK(MPI_Alltoallw(from.origin, out_counts, out_at, out_types, to.origin, in_counts, in_at,
                     in_types, world));
    for (int r = 0; r < size; r++) {
        struct memory block = to;

        block.origin += r * apart;
        expect(block, &ins[r], 0, r, rank);
        forget(&outs[r]);
        forget(&ins[r]);
    }
    free(numbers);
    free(out_types);
    free(outs);
    free(from.all);
    free(to.all);
}

int main(int argc, char **argv)
{
    /* Bytes at, or on both sides of, 256, 4096, 32768 and 65536. */
    static const int lengths[] = {0, 1, 64, 65, 1024, 8192, 16384};
    int provided;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &world));
    OK(MPI_Comm_rank(world, &rank));
    OK(MPI_Comm_size(world, &size));
    for (int i = 0; i < (int)(sizeof(lengths) / sizeof(*lengths)); i++) {
        int n = lengths[i], small = fewer(n, size);

        for (int how = 0; how < 2; how++) {
            EACH_ALGORITHM("coll_bcast_algorithm", bcast(n, i, how));
            EACH_ALGORITHM("coll_gather_algorithm", rooted(small, i, how, i % 2));
            EACH_ALGORITHM("coll_scatter_algorithm", rooted(small, i, how, i % 2));
            EACH_ALGORITHM("coll_allgather_algorithm", allgather(small, i, how, i % 2));
            EACH_ALGORITHM("coll_alltoall_algorithm", alltoall(small, i, how, i % 2));
        }
        EACH_ALGORITHM("coll_allgather_algorithm", gatherv(small, i));
        EACH_ALGORITHM("coll_alltoall_algorithm", alltoallv(small / 4, i));
        EACH_ALGORITHM("coll_alltoall_algorithm", alltoallw(small / 4, i));
    }
    OK(MPI_Comm_free(&world));
    OK(MPI_T_finalize());
    OK(MPI_Finalize());
    return 0;
}

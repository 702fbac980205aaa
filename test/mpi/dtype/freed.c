/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Types that are freed while communication uses them, which then completes normally (MPI-5.0
 * 5.1.9), though others have taken their memory since: messages of all kinds, expected or not, and
 * the nonblocking and persistent ones that start only later.
 */
#include "../check.h"

#include <stdbool.h>
#include <string.h>

enum { N_OTHERS = 80, LONG = 1 << 17, N_PARTS = 4 };

static int rank, size, to, from, n_ints, salt;
static int *out, *in; /* room for 2 n_ints each */
static MPI_Datatype outs, ins;

/* Many others, of shapes that want memory of many lengths. */
static void take_memory(void)
{
    MPI_Datatype others[N_OTHERS];
    int lens[N_OTHERS], at[N_OTHERS];

    for (int i = 0; i < N_OTHERS; i++) {
        for (int k = 0; k <= i; k++) {
            lens[k] = 1 + k % 3;
            at[k] = 7 * k + i % 5;
        }
        OK(i % 2 ? MPI_Type_indexed(i + 1, lens, at, MPI_SHORT, &others[i])
                 : MPI_Type_vector(3 + i, 1, -9, MPI_CHAR, &others[i]));
        OK(MPI_Type_commit(&others[i]));
    }
    for (int i = 0; i < N_OTHERS; i++) {
        OK(MPI_Type_free(&others[i]));
    }
}

static int value_at(int i, int of_rank)
{
    return i * 31 + of_rank * 1000003 + salt * 77;
}

/* Every second int goes out, of each four the first two come in. */
static void begin(int n)
{
    n_ints = n;
    salt++;
    OK(MPI_Type_vector(n, 1, 2, MPI_INT, &outs));
    OK(MPI_Type_vector(n / 2, 2, 4, MPI_INT, &ins));
    OK(MPI_Type_commit(&outs));
    OK(MPI_Type_commit(&ins));
    for (int i = 0; i < 2 * n; i++) {
        out[i] = i % 2 ? -1 : value_at(i / 2, rank);
        in[i] = -7;
    }
}

static void forget(MPI_Datatype *t)
{
    OK(MPI_Type_free(t));
    CHECK(*t == MPI_DATATYPE_NULL);
    take_memory();
}

static void check(int of_rank)
{
    for (int i = 0; i < 2 * n_ints; i++) {
        CHECK_EQ(in[i], i % 4 < 2 ? value_at(i / 4 * 2 + i % 4, of_rank) : -7);
        in[i] = -7;
    }
}

static void messages(int n)
{
    MPI_Request r[2];

    begin(n); /* expected */
    OK(MPI_Irecv(in, 1, ins, from, 5, MPI_COMM_WORLD, &r[0]));
    forget(&ins);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Isend(out, 1, outs, to, 5, MPI_COMM_WORLD, &r[1]));
    forget(&outs);
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    check(from);
    begin(n); /* not expected, and synchronous */
    OK(MPI_Issend(out, 1, outs, to, 6, MPI_COMM_WORLD, &r[1]));
    forget(&outs);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Irecv(in, 1, ins, from, 6, MPI_COMM_WORLD, &r[0]));
    forget(&ins);
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    check(from);
    begin(n); /* both at once */
    OK(MPI_Isendrecv(out, 1, outs, to, 7, in, 1, ins, from, 7, MPI_COMM_WORLD, &r[0]));
    forget(&outs);
    forget(&ins);
    OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
    check(from);
}

/* Started again and again after their types were freed. */
static void persistent(int n)
{
    MPI_Request r[2];

    begin(n);
    OK(MPI_Recv_init(in, 1, ins, from, 8, MPI_COMM_WORLD, &r[0]));
    OK(MPI_Send_init(out, 1, outs, to, 8, MPI_COMM_WORLD, &r[1]));
    forget(&ins);
    forget(&outs);
    for (int i = 0; i < 2; i++) {
        OK(MPI_Startall(2, r));
        take_memory();
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        check(from);
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

/* The same shape on both sides: a partition is a vector of its own. */
static void partitioned(int n)
{
    MPI_Request r[2];
    MPI_Datatype t, part;

    begin(n);
    OK(MPI_Type_vector(n / N_PARTS, 1, 2, MPI_INT, &t));
    OK(MPI_Type_create_resized(t, 0, (MPI_Aint)sizeof(int) * 2 * n / N_PARTS, &part));
    OK(MPI_Type_free(&t));
    OK(MPI_Type_commit(&part));
    OK(MPI_Precv_init(in, N_PARTS, 1, part, from, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[0]));
    OK(MPI_Psend_init(out, N_PARTS, 1, part, to, 9, MPI_COMM_WORLD, MPI_INFO_NULL, &r[1]));
    forget(&part);
    forget(&ins);
    forget(&outs);
    OK(MPI_Startall(2, r));
    OK(MPI_Pready_range(0, N_PARTS - 1, r[1]));
    take_memory();
    OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
    for (int i = 0; i < 2 * n; i++) {
        CHECK_EQ(in[i], i % 2 ? -7 : value_at(i / 2, from));
    }
    OK(MPI_Request_free(&r[0]));
    OK(MPI_Request_free(&r[1]));
}

/* From the last rank to all; once, and persistent. */
static void collective(int n)
{
    bool is_root = rank == size - 1;
    MPI_Request r;

    begin(n);
    OK(MPI_Ibcast(is_root ? out : in, 1, is_root ? outs : ins, size - 1, MPI_COMM_WORLD, &r));
    forget(&outs);
    forget(&ins);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    if (!is_root) {
        check(size - 1);
    }
    begin(n);
    OK(MPI_Bcast_init(is_root ? out : in, 1, is_root ? outs : ins, size - 1, MPI_COMM_WORLD,
                      MPI_INFO_NULL, &r));
    forget(&outs);
    forget(&ins);
    for (int i = 0; i < 2; i++) {
        OK(MPI_Start(&r));
        take_memory();
        OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
        if (!is_root) {
            check(size - 1);
        }
    }
    OK(MPI_Request_free(&r));
}

int main(int argc, char **argv)
{
    static const int lens[] = {4, 600, LONG};

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    out = malloc(2 * LONG * sizeof(*out));
    in = malloc(2 * LONG * sizeof(*in));
    CHECK(out && in);
    for (int i = 0; i < 3; i++) {
        messages(lens[i]);
        persistent(lens[i]);
        partitioned(lens[i]);
        collective(lens[i]);
    }
    free(out);
    free(in);
    OK(MPI_Finalize());
    return 0;
}

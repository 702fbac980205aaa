/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What older tools and libraries do, compiled unchanged by `mpicc --compat`: Fortran handles and
 * statuses (FFTW, mpiP), functions that MPI-3.0 removed (PTScotch, HPCC), and a profiling layer
 * that wraps one of them. It includes nothing for that by itself.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            printf("line %d: not true: %s\n", __LINE__, #cond);                                    \
            exit(1);                                                                               \
        }                                                                                          \
    } while (0)

static int n_wrapped;

/* As a profiler does, calling the real one. */
int MPI_Errhandler_set(MPI_Comm comm, MPI_Errhandler errhandler)
{
    n_wrapped++;
    return PMPI_Errhandler_set(comm, errhandler);
}

/* Of a handle of the library's Fortran interface, and back. */
static int size_of_fortran_comm(MPI_Fint *comm)
{
    int size = -1;

    MPI_Comm_size(MPI_Comm_f2c(*comm), &size);
    return size;
}

#define ROUND_TRIP(name, handle) CHECK(MPI_##name##_f2c(MPI_##name##_c2f(handle)) == (handle))

static void handles(void)
{
    MPI_Comm dup;
    MPI_Fint f;
    MPI_Request r;
    MPI_Datatype t;
    int x = 0;

    ROUND_TRIP(Comm, MPI_COMM_WORLD);
    ROUND_TRIP(Comm, MPI_COMM_NULL);
    ROUND_TRIP(Errhandler, MPI_ERRORS_RETURN);
    ROUND_TRIP(File, MPI_FILE_NULL);
    ROUND_TRIP(Group, MPI_GROUP_EMPTY);
    ROUND_TRIP(Info, MPI_INFO_NULL);
    ROUND_TRIP(Message, MPI_MESSAGE_NO_PROC);
    ROUND_TRIP(Op, MPI_SUM);
    ROUND_TRIP(Request, MPI_REQUEST_NULL);
    ROUND_TRIP(Session, MPI_SESSION_NULL);
    ROUND_TRIP(Type, MPI_DOUBLE);
    ROUND_TRIP(Win, MPI_WIN_NULL);
    MPI_Comm_dup(MPI_COMM_WORLD, &dup);
    f = MPI_Comm_c2f(dup);
    CHECK(size_of_fortran_comm(&f) == 1 && PMPI_Comm_f2c(f) == dup);
    MPI_Irecv(&x, 1, MPI_INT, 0, 1, dup, &r);
    ROUND_TRIP(Request, r);
    MPI_Cancel(&r);
    MPI_Wait(&r, MPI_STATUS_IGNORE);
    MPI_Type_contiguous(3, MPI_INT, &t);
    ROUND_TRIP(Type, t);
    MPI_Type_free(&t);
    MPI_Comm_free(&dup);
}

static void statuses(void)
{
    MPI_Status st, back;
    MPI_F08_status f08;
    MPI_Fint f[MPI_F_STATUS_SIZE];
    int in = 0, out = 5, n = 0;

    MPI_Sendrecv(&out, 1, MPI_INT, 0, 9, &in, 1, MPI_INT, 0, 9, MPI_COMM_SELF, &st);
    st.MPI_ERROR = 0;
    CHECK(MPI_Status_c2f(&st, f) == MPI_SUCCESS);
    CHECK(f[MPI_F_SOURCE] == 0 && f[MPI_F_TAG] == 9 && f[MPI_F_ERROR] == 0);
    CHECK(MPI_Status_f2c(f, &back) == MPI_SUCCESS);
    MPI_Get_count(&back, MPI_INT, &n);
    CHECK(n == 1 && back.MPI_TAG == 9);
    CHECK(MPI_Status_f2f08(f, &f08) == MPI_SUCCESS && MPI_Status_f082c(&f08, &back) == MPI_SUCCESS);
    CHECK(memcmp(&back, &st, sizeof(st)) == 0);
    CHECK(MPI_Status_c2f(MPI_STATUS_IGNORE, f) == MPI_ERR_ARG);
}

struct pair {
    double value;
    char mark;
};

static void removed(void)
{
    struct pair pairs[2] = {{1.5, 'a'}, {2.5, 'b'}}, out[2];
    int lengths[3] = {1, 1, 1}, position = 0;
    MPI_Aint disps[3], base, extent, lb, ub;
    MPI_Datatype types[3] = {MPI_DOUBLE, MPI_CHAR, MPI_UB}, t, v;
    char packed[64];

    CHECK(MPI_Address(&pairs[0], &base) == MPI_SUCCESS);
    MPI_Address(&pairs[0].value, &disps[0]);
    MPI_Address(&pairs[0].mark, &disps[1]);
    MPI_Address(&pairs[1], &disps[2]);
    for (int i = 0; i < 3; i++) {
        disps[i] -= base;
    }
    CHECK(MPI_Type_struct(3, lengths, disps, types, &t) == MPI_SUCCESS);
    MPI_Type_extent(t, &extent);
    MPI_Type_lb(t, &lb);
    MPI_Type_ub(t, &ub);
    CHECK(extent == sizeof(struct pair) && lb == 0 && ub == sizeof(struct pair));
    MPI_Type_commit(&t);
    memset(out, 0, sizeof(out));
    MPI_Pack(pairs, 2, t, packed, sizeof(packed), &position, MPI_COMM_SELF);
    position = 0;
    MPI_Unpack(packed, sizeof(packed), &position, out, 2, t, MPI_COMM_SELF);
    CHECK(out[1].value == 2.5 && out[1].mark == 'b');
    CHECK(MPI_Type_hvector(2, 1, 64, t, &v) == MPI_SUCCESS);
    MPI_Type_extent(v, &extent);
    CHECK(extent == 64 + sizeof(struct pair));
    MPI_Type_free(&v);
    CHECK(MPI_Type_hindexed(2, lengths, disps, t, &v) == MPI_SUCCESS);
    MPI_Type_free(&v);
    MPI_Type_free(&t);
}

static int n_errors;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    n_errors += *comm == MPI_COMM_WORLD && *code == MPI_ERR_RANK;
}

static void handlers(void)
{
    MPI_Handler_function *fn = on_error;
    MPI_Errhandler eh, now;
    int x = 0;

    CHECK(MPI_Errhandler_create(fn, &eh) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_set(MPI_COMM_WORLD, eh) == MPI_SUCCESS);
    CHECK(MPI_Errhandler_get(MPI_COMM_WORLD, &now) == MPI_SUCCESS && now == eh);
    MPI_Send(&x, 1, MPI_INT, 99, 0, MPI_COMM_WORLD);
    CHECK(n_wrapped == 1 && n_errors == 1);
    MPI_Errhandler_free(&eh);
    MPI_Errhandler_free(&now);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    handles();
    statuses();
    removed();
    handlers();
    MPI_Finalize();
    puts("compatible");
    return 0;
}

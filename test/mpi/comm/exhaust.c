/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * No room for another communicator, in one process of several: all that would be in it get the
 * error, by the handler of the one they make it from; those that live go on, and as soon as one is
 * freed one can be made. With an argument: all that a process can have, a million of them.
 */
#include "../check.h"

#include <string.h>

enum { LIMIT = 60, AGAIN = 20, TAG = 5 };

static int rank, size, n_errors, last_class;
static MPI_Comm home, half, comms[LIMIT];
static MPI_Group everyone;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    CHECK(*comm == home || *comm == half || *comm == MPI_COMM_SELF);
    MPI_Error_class(*code, &last_class);
    n_errors++;
}

static void handle(MPI_Comm comm)
{
    MPI_Errhandler handler;

    OK(MPI_Comm_create_errhandler(on_error, &handler));
    OK(MPI_Comm_set_errhandler(comm, handler));
    OK(MPI_Errhandler_free(&handler));
}

static void allow(unsigned long long n)
{
    MPI_T_cvar_handle h;
    int index, count, provided;

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_index("comm_limit", &index));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &h, &count));
    OK(MPI_T_cvar_write(h, &n));
    OK(MPI_T_cvar_handle_free(&h));
    OK(MPI_T_finalize());
}

static int make_dup(MPI_Comm *c)
{
    return MPI_Comm_dup(home, c);
}

static int make_dup_with_info(MPI_Comm *c)
{
    return MPI_Comm_dup_with_info(home, MPI_INFO_NULL, c);
}

static int make_split(MPI_Comm *c)
{
    return MPI_Comm_split(home, rank % 2, 0, c);
}

static int make_split_type(MPI_Comm *c)
{
    return MPI_Comm_split_type(home, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, c);
}

static int make_create(MPI_Comm *c)
{
    return MPI_Comm_create(home, everyone, c);
}

static int make_create_group(MPI_Comm *c)
{
    return MPI_Comm_create_group(home, everyone, TAG, c);
}

/* Takes two. */
static int make_inter(MPI_Comm *c)
{
    return MPI_Intercomm_create(half, 0, home, rank < size / 2 ? size / 2 : 0, TAG, c);
}

static int (*const makers[])(MPI_Comm *) = {make_dup,    make_dup_with_info, make_split,
                                            make_create, make_split_type,    make_create_group,
                                            make_inter};
enum { N_MAKERS = sizeof(makers) / sizeof(makers[0]) };

static void fails(int (*make)(MPI_Comm *))
{
    int n = n_errors, class;
    MPI_Comm c = MPI_COMM_NULL;

    MPI_Error_class(make(&c), &class);
    CHECK_EQ(class, MPI_ERR_NO_MEM);
    CHECK_EQ(n_errors, n + 1);
    CHECK_EQ(last_class, MPI_ERR_NO_MEM);
    CHECK(c == MPI_COMM_NULL);
}

static void all_fail(void)
{
    for (int k = 0; k < AGAIN * N_MAKERS; k++) {
        if (makers[k % N_MAKERS] != make_inter || size > 1) {
            fails(makers[k % N_MAKERS]);
        }
    }
}

static MPI_Request posted[LIMIT];
static int got[LIMIT];

static void post(int i)
{
    got[i] = -1;
    OK(MPI_Irecv(&got[i], 1, MPI_INT, (rank + size - 1) % size, TAG, comms[i], &posted[i]));
}

static void deliver(int i)
{
    int value = 1000 * i + rank;

    OK(MPI_Send(&value, 1, MPI_INT, (rank + 1) % size, TAG, comms[i]));
    OK(MPI_Wait(&posted[i], MPI_STATUS_IGNORE));
    CHECK_EQ(got[i], 1000 * i + (rank + size - 1) % size);
}

static void fill(int n_own)
{
    int n = LIMIT - n_own, hole;

    for (int i = 0; i < n; i++) {
        OK(MPI_Comm_dup(home, &comms[i]));
        post(i);
    }
    all_fail();
    for (hole = 0; hole < n; hole += 13) {
        deliver(hole);
        OK(MPI_Comm_free(&comms[hole]));
        if (size > 1) {
            fails(make_inter);
        }
        OK(makers[hole % (N_MAKERS - 1)](&comms[hole]));
        OK(MPI_Comm_free(&comms[hole]));
        OK(MPI_Comm_dup(home, &comms[hole]));
        fails(make_dup);
        post(hole);
    }
    for (int i = 0; i < n; i++) { /* 7 has no factor in common with 58 and 59 */
        hole = i * 7 % n;
        deliver(hole);
        OK(MPI_Comm_free(&comms[hole]));
    }
}

static void one_short(void)
{
    int is_last = rank == size - 1;
    MPI_Comm c;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &home));
    handle(home);
    OK(MPI_Comm_split(home, rank < size / 2, rank, &half));
    OK(MPI_Comm_group(home, &everyone));
    if (is_last) {
        allow(LIMIT);
    }
    for (int round = 0; round < 3; round++) {
        fill(2);
    }
    if (is_last) {
        allow(1); /* fewer than there are */
    }
    OK(MPI_Barrier(home));
    all_fail();
    if (is_last) {
        allow(3);
    }
    OK(MPI_Comm_dup(home, &c));
    OK(MPI_Comm_free(&c));
    OK(MPI_Group_free(&everyone));
    OK(MPI_Comm_free(&half));
    OK(MPI_Comm_free(&home));
}

static void a_million(void)
{
    enum { MILLION = 1 << 20 };
    MPI_Comm *all = malloc((MILLION + 1) * sizeof(MPI_Comm));
    int n, result;

    CHECK(all);
    handle(MPI_COMM_SELF);
    for (n = 0; n <= MILLION; n++) {
        if (MPI_Comm_dup(MPI_COMM_SELF, &all[n]) != MPI_SUCCESS) {
            break;
        }
    }
    CHECK_EQ(n, MILLION);
    CHECK_EQ(n_errors, 1);
    CHECK_EQ(last_class, MPI_ERR_NO_MEM);
    OK(MPI_Comm_free(&all[MILLION / 3]));
    OK(MPI_Comm_dup(MPI_COMM_SELF, &all[MILLION / 3]));
    OK(MPI_Comm_compare(all[MILLION / 3], all[MILLION / 3 + 1], &result));
    CHECK_EQ(result, MPI_CONGRUENT);
    for (int i = 0; i < n; i++) { /* 1237 is odd */
        OK(MPI_Comm_free(&all[(int)((long long)i * 1237 % MILLION)]));
    }
    free(all);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    if (argc > 1) {
        a_million();
    } else {
        one_short();
    }
    OK(MPI_Finalize());
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Eight threads per rank in mixed calls at MPI_THREAD_MULTIPLE (MPI-5.0 11.6): each talks to the
   thread of the same number on the next rank, in a communicator that all share. Then all of them
   fill, and look for, partitions of one message (4.3.1); and while one waits for a message, another
   frees what that one has named (5.1.9, 7.4.3). */
#include "../check.h"

#include <pthread.h>
#include <string.h>

enum { N_THREADS = 8, N_ROUNDS = 40, N_PARTS = 4 * N_THREADS, LONG = 5000 };

static int rank, size, to, from;

struct thread {
    pthread_t id;
    int number;
    int out[LONG], in[LONG];
};

static void check(const struct thread *t, int n, int round)
{
    for (int k = 0; k < n; k++) {
        CHECK_EQ(t->in[k], from * 1000 + t->number * 100 + round);
    }
}

static void one_round(struct thread *t, int round)
{
    int n = round % 3 == 2 ? LONG : 10, tag = t->number, flag = 0;
    int indices[2], index;
    MPI_Request r[2];
    MPI_Message message;
    MPI_Status st;

    for (int k = 0; k < n; k++) {
        t->out[k] = rank * 1000 + t->number * 100 + round;
    }
    switch ((round + t->number) % 8) {
    case 0:
        OK(MPI_Sendrecv(t->out, n, MPI_INT, to, tag, t->in, n, MPI_INT, from, tag, MPI_COMM_WORLD,
                        &st));
        break;
    case 1:
        OK(MPI_Irecv(t->in, n, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Issend(t->out, n, MPI_INT, to, tag, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        break;
    case 2:
        OK(MPI_Isend(t->out, n, MPI_INT, to, tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Mprobe(from, tag, MPI_COMM_WORLD, &message, &st));
        OK(MPI_Mrecv(t->in, n, MPI_INT, &message, &st));
        OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        break;
    case 3:
        OK(MPI_Isend(t->out, n, MPI_INT, to, tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Recv(t->in, n, MPI_INT, from, tag, MPI_COMM_WORLD, &st));
        while (!flag) {
            OK(MPI_Test(&r[0], &flag, MPI_STATUS_IGNORE));
        }
        break;
    case 4:
        OK(MPI_Recv_init(t->in, n, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Send_init(t->out, n, MPI_INT, to, tag, MPI_COMM_WORLD, &r[1]));
        OK(MPI_Startall(2, r));
        OK(MPI_Waitall(2, r, MPI_STATUSES_IGNORE));
        OK(MPI_Request_free(&r[0]));
        OK(MPI_Request_free(&r[1]));
        break;
    case 5:
        OK(MPI_Isend(t->out, n, MPI_INT, to, tag, MPI_COMM_WORLD, &r[1]));
        while (!flag) {
            OK(MPI_Iprobe(from, tag, MPI_COMM_WORLD, &flag, &st));
        }
        OK(MPI_Irecv(t->in, n, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Waitany(2, r, &index, &st));
        OK(MPI_Waitany(2, r, &index, &st));
        break;
    case 6:
        OK(MPI_Irecv(t->in, n, MPI_INT, from, N_THREADS + tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Cancel(&r[0]));
        OK(MPI_Wait(&r[0], MPI_STATUS_IGNORE));
        OK(MPI_Irecv(t->in, n, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Isend(t->out, n, MPI_INT, to, tag, MPI_COMM_WORLD, &r[1]));
        for (int n_done = 0; n_done<2; n_done += flag> 0 ? flag : 0) {
            OK(MPI_Waitsome(2, r, &flag, indices, MPI_STATUSES_IGNORE));
        }
        break;
    default:
        OK(MPI_Irecv(t->in, n, MPI_INT, from, tag, MPI_COMM_WORLD, &r[0]));
        OK(MPI_Bsend(t->out, n, MPI_INT, to, tag, MPI_COMM_WORLD));
        OK(MPI_Wait(&r[0], &st));
        break;
    }
    check(t, n, round);
}

static void *run(void *arg)
{
    for (int round = 0; round < N_ROUNDS; round++) {
        one_round(arg, round);
    }
    return NULL;
}

/* Of all threads: one message, in partitions that are ready at any time. */
static MPI_Request parts[2];
static int parts_out[N_PARTS], parts_in[N_PARTS];

static void *run_parts(void *arg)
{
    const struct thread *t = arg;
    int has_come = 0;

    for (int k = t->number; k < N_PARTS; k += N_THREADS) {
        parts_out[k] = rank * 1000 + k;
        OK(MPI_Pready(k, parts[0]));
    }
    for (int k = N_THREADS - 1 - t->number; k < N_PARTS; k += N_THREADS, has_come = 0) {
        while (!has_come) {
            OK(MPI_Parrived(parts[1], k, &has_come));
        }
        CHECK_EQ(parts_in[k], from * 1000 + k);
    }
    return NULL;
}

static void with_threads(struct thread *threads, void *(*fn)(void *))
{
    for (int k = 0; k < N_THREADS; k++) {
        threads[k].number = k;
        CHECK_EQ(pthread_create(&threads[k].id, NULL, fn, &threads[k]), 0);
    }
    for (int k = 0; k < N_THREADS; k++) {
        CHECK_EQ(pthread_join(threads[k].id, NULL), 0);
    }
}

static void partitioned(struct thread *threads)
{
    OK(MPI_Psend_init(parts_out, N_PARTS, 1, MPI_INT, to, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &parts[0]));
    OK(MPI_Precv_init(parts_in, N_PARTS, 1, MPI_INT, from, 1, MPI_COMM_WORLD, MPI_INFO_NULL,
                      &parts[1]));
    for (int round = 0; round < 5; round++) {
        memset(parts_in, 0, sizeof(parts_in));
        OK(MPI_Startall(2, parts));
        with_threads(threads, run_parts);
        OK(MPI_Waitall(2, parts, MPI_STATUSES_IGNORE));
    }
    OK(MPI_Request_free(&parts[0]));
    OK(MPI_Request_free(&parts[1]));
}

/* A receive with a datatype and a communicator that are freed before its message comes. */
static MPI_Datatype column;
static MPI_Comm doomed;
static int matrix[3][3];

static void *receive_column(void *arg)
{
    MPI_Status st;

    OK(MPI_Recv(matrix, 1, column, 0, 7, doomed, &st));
    CHECK_EQ(st.MPI_TAG, 7);
    return NULL;
}

/* Until a receive is posted in `doomed`. */
static void wait_for_receive(void)
{
    unsigned long long n = 0;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    int level, index, count;

    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &level));
    OK(MPI_T_pvar_session_create(&session));
    OK(MPI_T_pvar_get_index("comm_posted_length", MPI_T_PVAR_CLASS_LEVEL, &index));
    OK(MPI_T_pvar_handle_alloc(session, index, &doomed, &handle, &count));
    OK(MPI_T_pvar_start(session, handle));
    while (n == 0) {
        OK(MPI_T_pvar_read(session, handle, &n));
    }
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize());
}

static void freed_meanwhile(void)
{
    int values[3] = {1, 2, 3};
    MPI_Request request;
    MPI_Datatype row;
    MPI_Comm alone;
    pthread_t thread;

    OK(MPI_Type_vector(3, 1, 3, MPI_INT, &column));
    OK(MPI_Type_commit(&column));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &doomed));
    if (rank == 0) {
        OK(MPI_Send_init(values, 3, MPI_INT, 1, 7, doomed, &request));
    } else if (rank == 1) {
        CHECK_EQ(pthread_create(&thread, NULL, receive_column, NULL), 0);
        wait_for_receive();
    }
    OK(MPI_Type_free(&column));
    OK(MPI_Comm_free(&doomed));
    /* In the place of what is gone, if it is. */
    OK(MPI_Type_contiguous(3, MPI_INT, &row));
    OK(MPI_Type_commit(&row));
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank, 0, &alone));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_Start(&request));
        OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
        OK(MPI_Request_free(&request));
    } else if (rank == 1) {
        CHECK_EQ(pthread_join(thread, NULL), 0);
        for (int k = 0; k < 9; k++) {
            CHECK_EQ(matrix[k / 3][k % 3], k % 3 ? 0 : k / 3 + 1);
        }
    }
    OK(MPI_Type_free(&row));
    OK(MPI_Comm_free(&alone));
}

int main(int argc, char **argv)
{
    static struct thread threads[N_THREADS];
    int level, len;
    void *addr;

    OK(MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level));
    CHECK_EQ(level, MPI_THREAD_MULTIPLE);
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, 0));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;
    with_threads(threads, run);
    partitioned(threads);
    if (size > 1) {
        freed_meanwhile();
    }
    OK(MPI_Buffer_detach(&addr, &len));
    OK(MPI_Finalize());
    return 0;
}

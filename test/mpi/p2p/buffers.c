/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers of the process and of communicators, flushed and detached (MPI-5.0 3.6). */
#include "../check.h"

#include <stdlib.h>
#include <string.h>

enum { N = 20, LEN = 3000 };

static int rank, size, to, from;
static char data[LEN];

/* All ranks send before anybody receives. */
static void exchange(MPI_Comm comm)
{
    MPI_Status st;

    for (int k = 0; k < N; k++) {
        memset(data, rank + k, LEN);
        OK(MPI_Bsend(data, LEN, MPI_CHAR, to, k, comm));
    }
    for (int k = N - 1; k >= 0; k--) {
        OK(MPI_Recv(data, LEN, MPI_CHAR, from, k, comm, &st));
        CHECK_EQ(data[0], (char)(from + k));
        CHECK_EQ(data[LEN - 1], (char)(from + k));
    }
}

/* The size of an automatic buffer says nothing; one that is no int is MPI_UNDEFINED. Of so large a
   buffer no byte is there, and none is sent from it. */
static void sizes(void)
{
    MPI_Count size_c = (MPI_Count)1 << 40;
    void *addr;
    int n;

    OK(MPI_Buffer_attach(MPI_BUFFER_AUTOMATIC, -1));
    OK(MPI_Bsend(data, LEN, MPI_CHAR, MPI_PROC_NULL, 0, MPI_COMM_WORLD));
    OK(MPI_Buffer_detach(&addr, &n));
    CHECK(addr == MPI_BUFFER_AUTOMATIC);
    OK(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, MPI_BUFFER_AUTOMATIC, -size_c));
    exchange(MPI_COMM_WORLD);
    OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &addr, &n));
    CHECK(addr == MPI_BUFFER_AUTOMATIC);
    FAILS(MPI_Buffer_attach(data, -1), MPI_ERR_ARG);

    OK(MPI_Buffer_attach_c(data, size_c));
    OK(MPI_Buffer_detach(&addr, &n));
    CHECK(addr == data);
    CHECK_EQ(n, MPI_UNDEFINED);
    FAILS(MPI_Buffer_detach(&addr, &n), MPI_ERR_BUFFER); /* it is off all the same */
    OK(MPI_Comm_attach_buffer_c(MPI_COMM_WORLD, data, size_c));
    OK(MPI_Comm_detach_buffer_c(MPI_COMM_WORLD, &addr, &size_c));
    CHECK_EQ(size_c, (MPI_Count)1 << 40);
}

int main(int argc, char **argv)
{
    int len = N * (LEN + MPI_BSEND_OVERHEAD);
    char *memory = malloc((size_t)len);
    MPI_Request r;
    MPI_Count len_c;
    void *addr;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    to = (rank + 1) % size;
    from = (rank + size - 1) % size;

    OK(MPI_Buffer_attach(memory, len));
    for (int round = 0; round < 5; round++) {
        exchange(MPI_COMM_WORLD);
        OK(MPI_Buffer_flush()); /* the last round's messages may still wait for their receiver */
    }
    OK(MPI_Buffer_iflush(&r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Buffer_detach_c(&addr, &len_c));
    CHECK(addr == memory);
    CHECK_EQ(len_c, len);

    OK(MPI_Comm_attach_buffer(MPI_COMM_WORLD, memory, len));
    exchange(MPI_COMM_WORLD);
    OK(MPI_Comm_flush_buffer(MPI_COMM_WORLD));
    OK(MPI_Comm_iflush_buffer(MPI_COMM_WORLD, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Comm_detach_buffer(MPI_COMM_WORLD, &addr, &len));
    CHECK(addr == memory);

    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_Bsend(data, 1, MPI_CHAR, to, 0, MPI_COMM_WORLD), MPI_ERR_BUFFER);
    FAILS(MPI_Buffer_detach(&addr, &len), MPI_ERR_BUFFER);
    OK(MPI_Buffer_attach_c(memory, 100));
    FAILS(MPI_Buffer_attach(memory, 100), MPI_ERR_BUFFER);
    OK(MPI_Buffer_detach(&addr, &len));
    sizes();
    OK(MPI_Finalize());
    free(memory);
    return 0;
}

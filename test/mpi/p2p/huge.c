/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Messages beyond 2 GiB: through a count that does not fit an int, through an int count of a large
 * type, in large pieces, and to oneself. Their bytes are checked at places that lie close around
 * powers of two and everywhere a megabyte apart; and what the int and the _c functions tell of
 * them. Skipped (77) where less than 6 GiB of memory are available.
 */
#include "../check.h"

#include <string.h>
#include <sys/mman.h>

#define LEN    ((MPI_Count)BLOCK * N_BLOCKS) /* 2.1 GiB, and odd */
#define STEP   ((MPI_Count)(1 << 20))
#define PIECE  ((MPI_Count)450000001)
#define STRIDE (PIECE + 65536)
#define ROOM   (6 * STRIDE)

enum { N_PIECES = 5, BLOCK = (1 << 20) + 1, N_BLOCKS = 2151 };

static long long available_kib(void)
{
    FILE *f = fopen("/proc/meminfo", "r");
    char line[256];
    long long kib = -1;

    while (f && fgets(line, sizeof(line), f) && sscanf(line, "MemAvailable: %lld", &kib) != 1) {
    }
    if (f) {
        fclose(f);
    }
    return kib;
}

/* What is written as a whole gets large pages, the other side stays sparse. */
static unsigned char *map(int is_written)
{
    void *p = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
                   -1, 0);

    CHECK(p != MAP_FAILED);
    if (is_written) {
        madvise(p, ROOM, MADV_HUGEPAGE);
    }
    return p;
}

static unsigned char value_at(MPI_Count k)
{
    return (unsigned char)(1 + (k / 7 + k / STEP) % 255);
}

/* Calls `what` with each place of a message of len bytes that is looked at. */
static void each_place(MPI_Count len, void (*what)(unsigned char *p, MPI_Count k),
                       unsigned char *buf)
{
    for (MPI_Count k = 0; k < len; k += STEP) {
        what(buf, k);
    }
    for (int bit = 12; bit < 32; bit++) {
        for (MPI_Count k = ((MPI_Count)1 << bit) - 1; k < len && k <= (MPI_Count)1 << bit; k++) {
            what(buf, k);
        }
    }
    what(buf, len - 1);
}

static void put(unsigned char *buf, MPI_Count k)
{
    buf[k] = value_at(k);
}

static void look(unsigned char *buf, MPI_Count k)
{
    CHECK_EQ(buf[k], value_at(k));
}

static void put_piece(unsigned char *buf, MPI_Count k)
{
    buf[k / PIECE * STRIDE + k % PIECE] = value_at(k);
}

/* MPI-5.0 3.2.5: what does not fit is MPI_UNDEFINED; 5.1.11 for elements. */
static void check_status(const MPI_Status *st, MPI_Datatype t, MPI_Count n, MPI_Count n_bytes)
{
    MPI_Count many = -1;
    int few = -1;

    OK(MPI_Get_count(st, t, &few));
    CHECK_EQ(few, n > INT32_MAX ? MPI_UNDEFINED : n);
    OK(MPI_Get_count_c(st, t, &many));
    CHECK_EQ(many, n);
    OK(MPI_Get_elements(st, t, &few));
    CHECK_EQ(few, MPI_UNDEFINED);
    OK(MPI_Get_elements_c(st, t, &many));
    CHECK_EQ(many, n_bytes);
    OK(MPI_Get_elements_x(st, t, &many));
    CHECK_EQ(many, n_bytes);
    OK(MPI_Get_count(st, MPI_BYTE, &few));
    CHECK_EQ(few, MPI_UNDEFINED);
}

/* A large count of bytes is received as an int count of a large type. */
static void large_count(int rank)
{
    unsigned char *buf = map(rank == 1);
    MPI_Datatype t;
    MPI_Request r;
    MPI_Status st;

    OK(MPI_Type_contiguous(BLOCK, MPI_BYTE, &t));
    OK(MPI_Type_commit(&t));
    if (rank == 0) {
        each_place(LEN, put, buf);
        OK(MPI_Send_c(buf, LEN, MPI_BYTE, 1, 1, MPI_COMM_WORLD));
    } else {
        OK(MPI_Probe(0, 1, MPI_COMM_WORLD, &st));
        check_status(&st, MPI_BYTE, LEN, LEN);
        OK(MPI_Irecv(buf, N_BLOCKS, t, 0, 1, MPI_COMM_WORLD, &r));
        OK(MPI_Wait(&r, &st));
        check_status(&st, MPI_BYTE, LEN, LEN);
        check_status(&st, t, N_BLOCKS, LEN);
        each_place(LEN, look, buf);
        CHECK_EQ(buf[LEN], 0);
    }
    OK(MPI_Type_free(&t));
    munmap(buf, ROOM);
}

/* Out of large pieces into one run. */
static void large_pieces(int rank)
{
    unsigned char *buf = map(rank == 1);
    MPI_Datatype t;
    MPI_Status st;

    OK(MPI_Type_create_hvector_c(N_PIECES, PIECE, STRIDE, MPI_BYTE, &t));
    OK(MPI_Type_commit(&t));
    if (rank == 0) {
        each_place(N_PIECES * PIECE, put_piece, buf);
        OK(MPI_Send(buf, 1, t, 1, 4, MPI_COMM_WORLD));
    } else {
        OK(MPI_Recv_c(buf, N_PIECES * PIECE, MPI_BYTE, 0, 4, MPI_COMM_WORLD, &st));
        check_status(&st, MPI_BYTE, N_PIECES * PIECE, N_PIECES * PIECE);
        check_status(&st, t, 1, N_PIECES * PIECE);
        each_place(N_PIECES * PIECE, look, buf);
    }
    OK(MPI_Type_free(&t));
    munmap(buf, ROOM);
}

static void to_self(int rank)
{
    unsigned char *from, *to;
    MPI_Status st;

    if (rank == 0) {
        from = map(0);
        to = map(1);
        each_place(LEN, put, from);
        OK(MPI_Sendrecv_c(from, LEN, MPI_BYTE, 0, 5, to, LEN, MPI_BYTE, 0, 5, MPI_COMM_WORLD, &st));
        check_status(&st, MPI_BYTE, LEN, LEN);
        each_place(LEN, look, to);
        munmap(from, ROOM);
        munmap(to, ROOM);
    }
}

int main(int argc, char **argv)
{
    long long kib = available_kib();
    int rank, size;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_EQ(size, 2);
    OK(MPI_Bcast(&kib, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD));
    if (kib < 6 << 20) {
        if (rank == 0) {
            printf("only %lld KiB of memory are available: 6 GiB are needed\n", kib);
        }
        OK(MPI_Finalize());
        return 77;
    }
    large_count(rank);
    large_pieces(rank);
    to_self(rank);
    OK(MPI_Finalize());
    return 0;
}

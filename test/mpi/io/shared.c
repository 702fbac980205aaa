/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared file pointer: each record lands once and whole, ordered accesses lie in the order of
 * ranks, and the pointer moves as MPI-5.0 14.4.4 says.
 *
 * usage: shared DIRECTORY
 */
#include "../check.h"

#include <string.h>
#include <unistd.h>

enum { N_RECORDS = 40 };

static int rank, size;
static char path[512];

static MPI_Offset position(MPI_File fh)
{
    MPI_Offset at;

    OK(MPI_File_get_position_shared(fh, &at));
    return at;
}

static void settle(MPI_File fh)
{
    OK(MPI_File_sync(fh));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

/* All write records of their own as fast as they can; then all records are read, each once. */
static void records(MPI_File fh)
{
    int record[2], seen = 0, total = 0, of_rank[64] = {0};
    MPI_Request r;
    MPI_Status st;

    for (int k = 0; k < N_RECORDS; k++) {
        record[0] = rank;
        record[1] = k;
        if (k % 2) {
            OK(MPI_File_iwrite_shared(fh, record, 2, MPI_INT, &r));
            OK(MPI_Wait(&r, &st));
        } else {
            OK(MPI_File_write_shared(fh, record, 2, MPI_INT, &st));
        }
    }
    settle(fh);
    CHECK_EQ(position(fh), 2 * size * N_RECORDS);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    for (int k = 0; k < N_RECORDS; k++) {
        if (k % 2) {
            OK(MPI_File_iread_shared(fh, record, 2, MPI_INT, &r));
            OK(MPI_Wait(&r, &st));
        } else {
            OK(MPI_File_read_shared(fh, record, 2, MPI_INT, &st));
        }
        CHECK(record[0] >= 0 && record[0] < size && record[1] >= 0 && record[1] < N_RECORDS);
        seen += record[0] * N_RECORDS + record[1];
        of_rank[record[0]]++;
    }
    OK(MPI_Allreduce(&seen, &total, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(total, size * N_RECORDS * (size * N_RECORDS - 1) / 2);
    OK(MPI_Allreduce(MPI_IN_PLACE, of_rank, size, MPI_INT, MPI_SUM, MPI_COMM_WORLD));
    CHECK_EQ(of_rank[rank], N_RECORDS);
}

/* Rank r writes r + 1 numbers; they lie in the order of ranks. */
static void ordered(MPI_File fh)
{
    int mine[64], all[64 * 64];
    MPI_Status st;
    int n = size * (size + 1) / 2, at = 0, got;

    for (int k = 0; k <= rank; k++) {
        mine[k] = 1000 * rank + k;
    }
    OK(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET));
    OK(MPI_File_write_ordered(fh, mine, rank + 1, MPI_INT, &st));
    CHECK_EQ(position(fh), n);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_write_ordered_begin(fh, mine, rank + 1, MPI_INT));
    OK(MPI_File_write_ordered_end(fh, mine, &st));
    settle(fh);
    OK(MPI_File_read_at(fh, n, all, n, MPI_INT, &st));
    for (int r = 0; r < size; r++) {
        for (int k = 0; k <= r; k++) {
            CHECK_EQ(all[at++], 1000 * r + k);
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_seek_shared(fh, -n, MPI_SEEK_CUR));
    memset(mine, 0, sizeof(mine));
    OK(MPI_File_read_ordered(fh, mine, rank + 1, MPI_INT, &st));
    OK(MPI_Get_count(&st, MPI_INT, &got));
    CHECK_EQ(got, rank + 1);
    CHECK_EQ(mine[rank], 1001 * rank);
    OK(MPI_File_read_ordered_begin(fh, mine, rank + 1, MPI_INT)); /* behind the last one */
    OK(MPI_File_read_ordered_end(fh, mine, &st));
}

static void errors(MPI_File fh)
{
    MPI_Status st;
    MPI_Offset at = position(fh);
    int x[2];

    OK(MPI_Barrier(MPI_COMM_WORLD));
    FAILS(MPI_File_write_shared(fh, x, -1, MPI_INT, &st), MPI_ERR_COUNT);
    FAILS(MPI_File_read_shared(fh, x, 3, MPI_BYTE, &st), MPI_ERR_ARG);
    FAILS(MPI_File_iread_shared(fh, x, 1, MPI_INT, NULL), MPI_ERR_ARG);
    /* Wrong in one process, told to all; the pointer moves by what the others asked for. */
    FAILS(MPI_File_write_ordered(fh, x, rank == 0 ? -1 : 0, MPI_INT, &st), MPI_ERR_COUNT);
    CHECK_EQ(position(fh), at);
    FAILS(MPI_File_seek_shared(fh, -1, MPI_SEEK_SET), MPI_ERR_ARG);
    FAILS(MPI_File_seek_shared(fh, 0, 12), MPI_ERR_ARG);
    if (size > 1) {
        FAILS(MPI_File_seek_shared(fh, rank, MPI_SEEK_SET), MPI_ERR_NOT_SAME);
    }
    FAILS(MPI_File_get_position_shared(fh, NULL), MPI_ERR_ARG);
    FAILS(MPI_File_read_ordered_end(fh, x, &st), MPI_ERR_OTHER);
}

/* Sequential files have the shared pointer only; in appended ones it begins at the end. */
static void sequential(void)
{
    MPI_File fh;
    MPI_Offset len;
    MPI_Status st;
    int x = rank;

    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL,
                     &fh));
    OK(MPI_File_write_shared(fh, &x, 1, MPI_INT, &st));
    FAILS(MPI_File_write(fh, &x, 1, MPI_INT, &st), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek_shared(fh, 0, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    OK(MPI_File_close(&fh));
    OK(MPI_File_open(MPI_COMM_WORLD, path,
                     MPI_MODE_RDWR | MPI_MODE_APPEND | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                     &fh));
    OK(MPI_File_get_size(fh, &len));
    CHECK_EQ(position(fh), len);
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_set_view(fh, 4, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    CHECK_EQ(position(fh), 0);
    OK(MPI_File_close(&fh));
}

int main(int argc, char **argv)
{
    MPI_File fh;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK(size <= 64);
    snprintf(path, sizeof(path), "%s/shared.%d", argc > 1 ? argv[1] : ".", (int)getpid());
    OK(MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    records(fh);
    ordered(fh);
    errors(fh);
    OK(MPI_File_close(&fh));
    sequential();
    MPI_Finalize();
    return 0;
}

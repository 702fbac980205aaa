/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Files: bandwidth of all ranks together, over a file of 64 MiB that is in the page cache.
 *
 *     posix        pwrite and pread of each rank's half, without MPI
 *     contiguous   the same by MPI_File_write_at, read_at
 *     block_N      blocks of N bytes, the ranks in turn, by a vector as filetype; collective, and
 *                  independent (ind) but for the shortest
 *     cube         a cube of 256^3 floats cut into slabs of its fastest dimension, collective
 *
 * The directory is $BENCH_DIR, or /dev/shm.
 */
#include "../harness/bench.h"

enum { FILE_LEN = 64 << 20, CUBE = 256, ROUNDS = 5 };

static int rank, size;
static char path[512], *data;

/* Runs both directions ROUNDS times and reports the better round, MB/s of all ranks. */
static void measure(const char *name, int parameter, MPI_Datatype filetype, MPI_Offset disp,
                    MPI_Offset at, int len, int is_coll, double total)
{
    double best[2] = {1e18, 1e18}, began, took;
    char row[64];
    MPI_File fh;

    MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh);
    MPI_File_set_view(fh, disp, MPI_BYTE, filetype, "native", MPI_INFO_NULL);
    for (int round = 0; round < 2 * ROUNDS; round++) {
        int is_write = round % 2 == 0;

        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        if (is_write && is_coll) {
            MPI_File_write_at_all(fh, at, data, len, MPI_BYTE, MPI_STATUS_IGNORE);
        } else if (is_write) {
            MPI_File_write_at(fh, at, data, len, MPI_BYTE, MPI_STATUS_IGNORE);
        } else if (is_coll) {
            MPI_File_read_at_all(fh, at, data, len, MPI_BYTE, MPI_STATUS_IGNORE);
        } else {
            MPI_File_read_at(fh, at, data, len, MPI_BYTE, MPI_STATUS_IGNORE);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        took = now_ns() - began;
        best[round % 2] = took < best[round % 2] ? took : best[round % 2];
    }
    MPI_File_close(&fh);
    if (rank == 0) {
        snprintf(row, sizeof(row), "write_%s", name);
        report(row, parameter, total / best[0] * 1e3, "MB/s");
        snprintf(row, sizeof(row), "read_%s", name);
        report(row, parameter, total / best[1] * 1e3, "MB/s");
    }
}

static void move_posix(int fd, int is_write, int len)
{
    long moved = is_write ? pwrite(fd, data, (size_t)len, (off_t)rank * len)
                          : pread(fd, data, (size_t)len, (off_t)rank * len);

    if (moved != len) {
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

static void posix(int len)
{
    double best[2] = {1e18, 1e18}, began, took;
    int fd = open(path, O_RDWR | O_CREAT, 0600);

    for (int round = 0; round < 2 * ROUNDS; round++) {
        MPI_Barrier(MPI_COMM_WORLD);
        began = now_ns();
        move_posix(fd, round % 2 == 0, len);
        MPI_Barrier(MPI_COMM_WORLD);
        took = now_ns() - began;
        best[round % 2] = took < best[round % 2] ? took : best[round % 2];
    }
    close(fd);
    if (rank == 0) {
        report("write_posix", size, FILE_LEN / best[0] * 1e3, "MB/s");
        report("read_posix", size, FILE_LEN / best[1] * 1e3, "MB/s");
    }
}

static void blocks(int block, int is_coll)
{
    int total = block < 4096 ? FILE_LEN / 4 : FILE_LEN;
    MPI_Datatype t;
    char name[32];

    MPI_Type_vector(total / size / block, block, block * size, MPI_BYTE, &t);
    MPI_Type_commit(&t);
    snprintf(name, sizeof(name), "block%s_%d", is_coll ? "" : "_ind", block);
    measure(name, size, t, (MPI_Offset)rank * block, 0, total / size, is_coll, total);
    MPI_Type_free(&t);
}

static void cube(void)
{
    int sizes[] = {CUBE, CUBE, CUBE}, sub[] = {CUBE, CUBE, CUBE / size}, starts[] = {0, 0, 0};
    MPI_Datatype t;

    starts[2] = rank * sub[2];
    MPI_Type_create_subarray(3, sizes, sub, starts, MPI_ORDER_C, MPI_FLOAT, &t);
    MPI_Type_commit(&t);
    measure("cube", size, t, 0, 0, CUBE * CUBE * sub[2] * 4, 1, (double)CUBE * CUBE * CUBE * 4);
    MPI_Type_free(&t);
}

int main(int argc, char **argv)
{
    const char *dir = getenv("BENCH_DIR");
    int len;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    pin(rank);
    snprintf(path, sizeof(path), "%s/bench_file.%d", dir ? dir : "/dev/shm", (int)getpid());
    MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD);
    len = FILE_LEN / size;
    data = malloc((size_t)len);
    memset(data, rank + 1, (size_t)len);
    posix(len);
    measure("contiguous", size, MPI_BYTE, 0, (MPI_Offset)rank * len, len, 0, FILE_LEN);
    blocks(64, 1);
    blocks(4096, 1);
    blocks(4096, 0);
    blocks(65536, 1);
    cube();
    if (rank == 0) {
        unlink(path);
    }
    MPI_Finalize();
    return 0;
}

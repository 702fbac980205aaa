/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The variables of files against what the program asked for, and against the kernel's own count of
 * system calls and bytes (/proc/self/io). Two processes; exact, call by call.
 */
#include "oracle.h"

#include <fcntl.h>
#include <unistd.h>

static int rank, size;
static char path[256], buf[200000];

/* The kernel's counts of this process, and how long their text was. */
struct kernel {
    ull rchar, wchar, syscr, syscw, len;
};

static struct kernel kernel_now(void)
{
    char text[512];
    struct kernel k;
    int fd = open("/proc/self/io", O_RDONLY);
    ssize_t n = read(fd, text, sizeof(text) - 1);

    CHECK(n > 0 && close(fd) == 0);
    text[n] = '\0';
    CHECK_EQ(sscanf(text, "rchar: %llu wchar: %llu syscr: %llu syscw: %llu", &k.rchar, &k.wchar,
                    &k.syscr, &k.syscw),
             4);
    k.len = (ull)n;
    return k;
}

/* What happened since, less the read that looked then. */
static struct kernel kernel_since(const struct kernel *then)
{
    struct kernel now = kernel_now();

    return (struct kernel){.rchar = now.rchar - then->rchar - then->len,
                           .wchar = now.wchar - then->wchar,
                           .syscr = now.syscr - then->syscr - 1,
                           .syscw = now.syscw - then->syscw};
}

static MPI_File open_one(MPI_Comm comm)
{
    MPI_File fh;

    OK(MPI_File_open(comm, path, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &fh));
    return fh;
}

/* Every second kilobyte of the file. */
static MPI_Datatype strided(int disp, int extent)
{
    MPI_Datatype block, t;
    int len = 100;

    OK(MPI_Type_create_indexed_block(1, len, &disp, MPI_BYTE, &block));
    OK(MPI_Type_create_resized(block, 0, extent, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_free(&block));
    return t;
}

/* The kernel saw what the variables say, and the program had what it asked for. */
static void check_moved(const struct kernel *then, ull n_writes, ull n_reads, ull bytes_out,
                        ull bytes_in)
{
    struct kernel k = kernel_since(then);

    same("io_write_calls", k.syscw);
    same("io_read_calls", k.syscr);
    same("io_moved_written_bytes", k.wchar);
    same("io_moved_read_bytes", k.rchar);
    same("io_writes", n_writes);
    same("io_reads", n_reads);
    same("io_written_bytes", bytes_out);
    same("io_read_bytes", bytes_in);
}

static void alone(void)
{
    MPI_File fh;
    MPI_Datatype t = strided(0, 1000);
    struct kernel then;

    mark();
    fh = open_one(MPI_COMM_SELF);
    same("io_opens", 1);
    then = kernel_now();
    OK(MPI_File_write_at(fh, 0, buf, 100000, MPI_BYTE, MPI_STATUS_IGNORE));
    OK(MPI_File_read_at(fh, 50000, buf, 100000, MPI_BYTE, MPI_STATUS_IGNORE)); /* half is there */
    check_moved(&then, 1, 1, 100000, 50000);
    mark();
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
    then = kernel_now();
    OK(MPI_File_write_at(fh, 0, buf, 1000, MPI_BYTE, MPI_STATUS_IGNORE)); /* ten runs */
    OK(MPI_File_read_at(fh, 0, buf, 1000, MPI_BYTE, MPI_STATUS_IGNORE));  /* one sieve */
    check_moved(&then, 1, 1, 1000, 1000);
    mark();
    OK(MPI_File_sync(fh));
    OK(MPI_File_sync(fh)); /* nothing was written since */
    same("io_syncs", 1);
    OK(MPI_File_set_atomicity(fh, 1));
    for (int k = 0; k < 7; k++) {
        OK(MPI_File_write_at(fh, 0, buf, 10, MPI_BYTE, MPI_STATUS_IGNORE));
    }
    same("io_locks", 7);
    OK(MPI_File_close(&fh));
    same("io_closes", 1);
    OK(MPI_Type_free(&t));
    OK(MPI_File_delete(path, MPI_INFO_NULL));
}

static void set_hints(MPI_File fh, const char *mode)
{
    MPI_Info info;

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_nodes", "1"));
    OK(MPI_Info_set(info, "romio_cb_write", mode));
    OK(MPI_Info_set(info, "romio_cb_read", mode));
    OK(MPI_File_set_info(fh, info));
    OK(MPI_Info_free(&info));
}

/* Two processes, whose bytes go through the first one, or do not. */
static void together(void)
{
    MPI_File fh = open_one(MPI_COMM_WORLD);
    MPI_Datatype t = strided(100 * rank, 200);

    OK(MPI_File_set_view(fh, 0, MPI_BYTE, t, "native", MPI_INFO_NULL));
    set_hints(fh, "enable");
    mark();
    OK(MPI_File_write_at_all(fh, 0, buf, 3000, MPI_BYTE, MPI_STATUS_IGNORE));
    same("io_coll_two_phase", 1);
    same("io_exchanged_bytes", rank == 0 ? 0 : 3000);
    same("io_write_calls", rank == 0);
    same("io_moved_written_bytes", rank == 0 ? 6000 : 0);
    same("io_written_bytes", 3000);
    mark();
    OK(MPI_File_read_at_all(fh, 0, buf, 3000, MPI_BYTE, MPI_STATUS_IGNORE));
    same("io_coll_two_phase", 1);
    same("io_exchanged_bytes", rank == 0 ? 3000 : 0);
    same("io_read_calls", rank == 0);
    set_hints(fh, "disable");
    mark();
    OK(MPI_File_write_at_all(fh, 0, buf, 3000, MPI_BYTE, MPI_STATUS_IGNORE));
    same("io_coll_direct", 1);
    same("io_coll_two_phase", 0);
    same("io_exchanged_bytes", 0);
    same("io_write_calls", 30);
    OK(MPI_File_close(&fh));
    OK(MPI_Type_free(&t));
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    CHECK_EQ(size, 2);
    oracle_open();
    snprintf(path, sizeof(path), "oracle_io.%d", (int)getpid());
    alone();
    OK(MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD));
    together();
    if (rank == 0) {
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    }
    oracle_close();
    MPI_Finalize();
    return 0;
}

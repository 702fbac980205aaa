/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Calls of MPI-5.0 chapter 14 one by one: results, and the classes of what is refused.
 *
 * usage: calls DIRECTORY
 */
#include "../check.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

static int rank, size;
static char path[512], other[600];

static MPI_File open_new(int more)
{
    MPI_File fh;

    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | more,
                     MPI_INFO_NULL, &fh));
    return fh;
}

static void close_and_delete(MPI_File *fh)
{
    OK(MPI_File_close(fh));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    if (rank == 0) {
        OK(MPI_File_delete(path, MPI_INFO_NULL));
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void open_errors(void)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_File fh;

    FAILS(MPI_File_open(world, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_NO_SUCH_FILE);
    FAILS(MPI_File_open(world, path, 0, MPI_INFO_NULL, &fh), MPI_ERR_AMODE);
    FAILS(MPI_File_open(world, path, MPI_MODE_RDONLY | MPI_MODE_RDWR, MPI_INFO_NULL, &fh),
          MPI_ERR_AMODE);
    FAILS(MPI_File_open(world, path, MPI_MODE_RDONLY | MPI_MODE_CREATE, MPI_INFO_NULL, &fh),
          MPI_ERR_AMODE);
    FAILS(MPI_File_open(world, path, MPI_MODE_RDWR | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL, &fh),
          MPI_ERR_AMODE);
    FAILS(MPI_File_open(world, path, MPI_MODE_RDWR | 1 << 20, MPI_INFO_NULL, &fh), MPI_ERR_AMODE);
    FAILS(MPI_File_open(world, "/", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_BAD_FILE);
    FAILS(MPI_File_open(world, "/dev/null/x", MPI_MODE_RDONLY, MPI_INFO_NULL, &fh),
          MPI_ERR_BAD_FILE);
    FAILS(MPI_File_open(MPI_COMM_NULL, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_COMM);
    FAILS(MPI_File_open(world, NULL, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh), MPI_ERR_ARG);
    FAILS(MPI_File_open(world, path, MPI_MODE_RDONLY, MPI_INFO_NULL, NULL), MPI_ERR_ARG);
    FAILS(MPI_File_delete(path, MPI_INFO_NULL), MPI_ERR_NO_SUCH_FILE);
    if (size > 1) {
        FAILS(MPI_File_open(world, path, rank ? MPI_MODE_RDONLY : MPI_MODE_WRONLY, MPI_INFO_NULL,
                            &fh),
              MPI_ERR_NOT_SAME);
        /* One process cannot open it: none does. */
        FAILS(MPI_File_open(world, rank == size - 1 ? "/nowhere/x" : "/dev/null", MPI_MODE_RDONLY,
                            MPI_INFO_NULL, &fh),
              MPI_ERR_NO_SUCH_FILE);
    }
    fh = open_new(0);
    FAILS(MPI_File_open(world, path, MPI_MODE_RDWR | MPI_MODE_CREATE | MPI_MODE_EXCL, MPI_INFO_NULL,
                        &fh),
          MPI_ERR_FILE_EXISTS);
    close_and_delete(&fh);
}

static void handles(void)
{
    MPI_File none = MPI_FILE_NULL;
    MPI_Offset n;
    int x = 0;
    MPI_Status st;

    FAILS(MPI_File_close(&none), MPI_ERR_FILE);
    FAILS(MPI_File_close(NULL), MPI_ERR_ARG);
    FAILS(MPI_File_get_size(MPI_FILE_NULL, &n), MPI_ERR_FILE);
    FAILS(MPI_File_get_size((MPI_File)&x, &n), MPI_ERR_FILE);
    FAILS(MPI_File_read(MPI_FILE_NULL, &x, 1, MPI_INT, &st), MPI_ERR_FILE);
}

static int n_raised, last_code;

static void note_error(MPI_File *fh, int *code, ...)
{
    (void)fh;
    n_raised++;
    last_code = *code;
}

static void error_handlers(void)
{
    MPI_Errhandler mine, now;
    MPI_File fh;
    MPI_Offset n;

    OK(MPI_File_get_errhandler(MPI_FILE_NULL, &now));
    CHECK(now == MPI_ERRORS_RETURN);
    OK(MPI_File_create_errhandler(note_error, &mine));
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, mine));
    fh = open_new(0); /* has the handler of MPI_FILE_NULL */
    OK(MPI_File_set_errhandler(MPI_FILE_NULL, MPI_ERRORS_RETURN));
    FAILS(MPI_File_get_size(fh, NULL), MPI_ERR_ARG);
    CHECK_EQ(n_raised, 1);
    CHECK_EQ(last_code, MPI_ERR_ARG);
    OK(MPI_File_call_errhandler(fh, MPI_ERR_IO));
    CHECK_EQ(last_code, MPI_ERR_IO);
    OK(MPI_File_set_errhandler(fh, MPI_ERRORS_RETURN));
    FAILS(MPI_File_get_size(fh, NULL), MPI_ERR_ARG);
    CHECK_EQ(n_raised, 2);
    FAILS(MPI_File_get_size(MPI_FILE_NULL, &n), MPI_ERR_FILE);
    CHECK_EQ(n_raised, 2);
    OK(MPI_Errhandler_free(&mine));
    close_and_delete(&fh);
}

static void sizes(void)
{
    MPI_File fh = open_new(0);
    MPI_Offset n;

    OK(MPI_File_set_size(fh, 1000));
    OK(MPI_File_get_size(fh, &n));
    CHECK_EQ(n, 1000);
    OK(MPI_File_preallocate(fh, 5000));
    OK(MPI_File_get_size(fh, &n));
    CHECK_EQ(n, 5000);
    OK(MPI_File_preallocate(fh, 10));
    OK(MPI_File_get_size(fh, &n));
    CHECK_EQ(n, 5000);
    FAILS(MPI_File_set_size(fh, -1), MPI_ERR_ARG);
    if (size > 1) {
        FAILS(MPI_File_set_size(fh, rank), MPI_ERR_NOT_SAME);
        FAILS(MPI_File_preallocate(fh, rank ? -1 : 10), MPI_ERR_ARG);
    }
    OK(MPI_File_close(&fh));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY | MPI_MODE_APPEND, MPI_INFO_NULL, &fh));
    OK(MPI_File_get_position(fh, &n));
    CHECK_EQ(n, 5000);
    OK(MPI_File_close(&fh));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    FAILS(MPI_File_set_size(fh, 1), MPI_ERR_READ_ONLY);
    close_and_delete(&fh);
}

static void queries(void)
{
    MPI_File fh = open_new(MPI_MODE_UNIQUE_OPEN);
    MPI_Group group, world;
    MPI_Info info;
    int amode, flag, relation, len = 64;
    char text[64];

    OK(MPI_File_get_amode(fh, &amode));
    CHECK_EQ(amode, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_UNIQUE_OPEN);
    OK(MPI_File_get_group(fh, &group));
    OK(MPI_Comm_group(MPI_COMM_WORLD, &world));
    OK(MPI_Group_compare(group, world, &relation));
    CHECK_EQ(relation, MPI_IDENT);
    OK(MPI_Group_free(&group));
    OK(MPI_Group_free(&world));
    OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_File_set_atomicity(fh, 1));
    OK(MPI_File_get_atomicity(fh, &flag));
    CHECK_EQ(flag, 1);
    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "cb_buffer_size", "65536"));
    OK(MPI_Info_set(info, "cb_nodes", "no number"));
    OK(MPI_Info_set(info, "unheard_of", "x"));
    OK(MPI_File_set_info(fh, info));
    OK(MPI_Info_free(&info));
    OK(MPI_File_get_info(fh, &info));
    OK(MPI_Info_get_string(info, "cb_buffer_size", &len, text, &flag));
    CHECK(flag && strcmp(text, "65536") == 0);
    OK(MPI_Info_get_string(info, "cb_nodes", &len, text, &flag));
    CHECK(!flag);
    OK(MPI_Info_get_string(info, "unheard_of", &len, text, &flag));
    CHECK(!flag);
    OK(MPI_Info_free(&info));
    close_and_delete(&fh);
}

static void view_errors(MPI_File fh)
{
    MPI_Datatype back, raw;
    int lens[] = {1, 1}, disps[] = {3, 0};

    OK(MPI_Type_indexed(2, lens, disps, MPI_INT, &raw));
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, raw, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    back = raw;
    OK(MPI_Type_commit(&back));
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, back, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    OK(MPI_Type_free(&back));
    FAILS(MPI_File_set_view(fh, -5, MPI_INT, MPI_INT, "native", MPI_INFO_NULL), MPI_ERR_ARG);
    FAILS(
        MPI_File_set_view(fh, MPI_DISPLACEMENT_CURRENT, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
        MPI_ERR_ARG);
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_SHORT, "native", MPI_INFO_NULL), MPI_ERR_TYPE);
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_DATATYPE_NULL, "native", MPI_INFO_NULL),
          MPI_ERR_TYPE);
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "roman", MPI_INFO_NULL),
          MPI_ERR_UNSUPPORTED_DATAREP);
    FAILS(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, NULL, MPI_INFO_NULL), MPI_ERR_ARG);
    if (size > 1) {
        FAILS(MPI_File_set_view(fh, 0, rank ? MPI_INT : MPI_SHORT, rank ? MPI_INT : MPI_SHORT,
                                "native", MPI_INFO_NULL),
              MPI_ERR_NOT_SAME);
        FAILS(MPI_File_set_view(fh, rank ? 0 : -1, MPI_INT, MPI_INT, "native", MPI_INFO_NULL),
              MPI_ERR_ARG);
    }
}

static void views(void)
{
    MPI_File fh = open_new(0);
    MPI_Datatype t, e, f;
    MPI_Offset disp, n;
    MPI_Aint extent;
    char rep[MPI_MAX_DATAREP_STRING];

    view_errors(fh);
    OK(MPI_Type_vector(2, 1, 3, MPI_INT, &t));
    OK(MPI_Type_commit(&t));
    OK(MPI_File_set_view(fh, 8, MPI_INT, t, "native", MPI_INFO_NULL));
    OK(MPI_File_get_byte_offset(fh, 0, &n));
    CHECK_EQ(n, 8);
    OK(MPI_File_get_byte_offset(fh, 1, &n));
    CHECK_EQ(n, 20);
    OK(MPI_File_get_byte_offset(fh, 2, &n));
    CHECK_EQ(n, 24);
    FAILS(MPI_File_get_byte_offset(fh, -1, &n), MPI_ERR_ARG);
    OK(MPI_File_get_view(fh, &disp, &e, &f, rep));
    CHECK_EQ(disp, 8);
    CHECK(e == MPI_INT && f != t && strcmp(rep, "native") == 0);
    OK(MPI_Type_free(&f));
    OK(MPI_Type_free(&t));
    OK(MPI_File_get_type_extent(fh, MPI_DOUBLE, &extent));
    CHECK_EQ(extent, 8);
    /* The first etype of the view behind the end of the file. */
    OK(MPI_File_set_size(fh, 21));
    OK(MPI_File_seek(fh, 0, MPI_SEEK_END));
    OK(MPI_File_get_position(fh, &n));
    CHECK_EQ(n, 2);
    OK(MPI_File_seek(fh, -1, MPI_SEEK_CUR));
    FAILS(MPI_File_seek(fh, -2, MPI_SEEK_CUR), MPI_ERR_ARG);
    FAILS(MPI_File_seek(fh, 0, 77), MPI_ERR_ARG);
    OK(MPI_File_get_position(fh, &n));
    CHECK_EQ(n, 1);
    close_and_delete(&fh);
}

static void access_errors(void)
{
    MPI_File fh = open_new(0);
    MPI_Status st;
    MPI_Request r;
    int x[4] = {0};

    FAILS(MPI_File_read_at(fh, -1, x, 1, MPI_INT, &st), MPI_ERR_ARG);
    FAILS(MPI_File_read_at(fh, 0, x, -1, MPI_INT, &st), MPI_ERR_COUNT);
    FAILS(MPI_File_read_at(fh, 0, x, 1, MPI_DATATYPE_NULL, &st), MPI_ERR_TYPE);
    FAILS(MPI_File_read_at(fh, 0, NULL, 1, MPI_INT, &st), MPI_ERR_BUFFER);
    FAILS(MPI_File_iread_at(fh, 0, x, 1, MPI_INT, NULL), MPI_ERR_ARG);
    FAILS(MPI_File_iread_at(fh, 0, x, -1, MPI_INT, &r), MPI_ERR_COUNT);
    /* Collective: what is wrong in one process fails in all. */
    FAILS(MPI_File_write_at_all(fh, rank == size - 1 ? -1 : 0, x, 1, MPI_INT, &st), MPI_ERR_ARG);
    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "native", MPI_INFO_NULL));
    FAILS(MPI_File_read_at(fh, 0, x, 3, MPI_BYTE, &st), MPI_ERR_ARG);
    /* Split collectives. */
    FAILS(MPI_File_read_all_end(fh, x, &st), MPI_ERR_OTHER);
    OK(MPI_File_read_all_begin(fh, x, 1, MPI_INT));
    FAILS(MPI_File_read_all_begin(fh, x, 1, MPI_INT), MPI_ERR_OTHER);
    FAILS(MPI_File_write_all_end(fh, x, &st), MPI_ERR_OTHER);
    FAILS(MPI_File_read_all_end(fh, x + 1, &st), MPI_ERR_BUFFER);
    FAILS(MPI_File_close(&fh), MPI_ERR_OTHER);
    OK(MPI_File_read_all_end(fh, x, &st));
    OK(MPI_File_close(&fh));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_WRONLY, MPI_INFO_NULL, &fh));
    FAILS(MPI_File_read(fh, x, 1, MPI_INT, &st), MPI_ERR_ACCESS);
    OK(MPI_File_close(&fh));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY, MPI_INFO_NULL, &fh));
    FAILS(MPI_File_write(fh, x, 1, MPI_INT, &st), MPI_ERR_READ_ONLY);
    OK(MPI_File_close(&fh));
    OK(MPI_File_open(MPI_COMM_WORLD, path, MPI_MODE_RDONLY | MPI_MODE_SEQUENTIAL, MPI_INFO_NULL,
                     &fh));
    FAILS(MPI_File_read(fh, x, 1, MPI_INT, &st), MPI_ERR_UNSUPPORTED_OPERATION);
    FAILS(MPI_File_seek(fh, 1, MPI_SEEK_SET), MPI_ERR_UNSUPPORTED_OPERATION);
    close_and_delete(&fh);
}

/* A file that may grow no further: the status says how much was written. */
static void out_of_space(void)
{
    struct rlimit old, small = {.rlim_cur = 10000};
    MPI_File fh = open_new(0);
    MPI_Status st;
    char *buf = calloc(1, 20000);
    int code, klass, got;

    CHECK(signal(SIGXFSZ, SIG_IGN) != SIG_ERR && getrlimit(RLIMIT_FSIZE, &old) == 0);
    small.rlim_max = old.rlim_max;
    OK(MPI_Barrier(MPI_COMM_WORLD));
    CHECK(setrlimit(RLIMIT_FSIZE, &small) == 0);
    code = MPI_File_write_at(fh, 0, buf, 20000, MPI_BYTE, &st);
    CHECK(setrlimit(RLIMIT_FSIZE, &old) == 0);
    OK(MPI_Error_class(code, &klass));
    CHECK_EQ(klass, MPI_ERR_NO_SPACE);
    OK(MPI_Get_count(&st, MPI_BYTE, &got));
    CHECK_EQ(got, 10000);
    free(buf);
    close_and_delete(&fh);
}

/* Values in external32 are big-endian in the file and come back as they were. */
static void external32(void)
{
    MPI_File fh = open_new(MPI_MODE_DELETE_ON_CLOSE);
    int x[3] = {1, -2, 0x01020304}, y[3] = {0};
    unsigned char raw[12];
    MPI_Status st;

    OK(MPI_File_set_view(fh, 0, MPI_INT, MPI_INT, "external32", MPI_INFO_NULL));
    OK(MPI_File_write_at_all(fh, 3 * rank, x, 3, MPI_INT, &st));
    OK(MPI_File_read_at_all(fh, 3 * rank, y, 3, MPI_INT, &st));
    CHECK(memcmp(x, y, sizeof(x)) == 0);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(fh, 12 * rank, raw, 12, MPI_BYTE, &st));
    CHECK(raw[3] == 1 && raw[4] == 0xff && raw[8] == 1 && raw[11] == 4);
    FAILS(MPI_File_set_view(fh, 0, MPI_WCHAR, MPI_WCHAR, "external32", MPI_INFO_NULL),
          MPI_ERR_UNSUPPORTED_DATAREP);
    OK(MPI_File_close(&fh));
}

/* Prefixes that name a file system, and many files one after another. */
static void many(void)
{
    MPI_File fh;

    snprintf(other, sizeof(other), "ufs:%s", path);
    for (int k = 0; k < 300; k++) {
        OK(MPI_File_open(MPI_COMM_WORLD, other,
                         MPI_MODE_CREATE | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE, MPI_INFO_NULL,
                         &fh));
        OK(MPI_File_close(&fh));
    }
    CHECK(access(path, F_OK) != 0);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    snprintf(path, sizeof(path), "%s/calls.%d", argc > 1 ? argv[1] : ".", (int)getpid());
    OK(MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD));
    open_errors();
    handles();
    error_handlers();
    sizes();
    queries();
    views();
    access_errors();
    out_of_space();
    external32();
    many();
    MPI_Finalize();
    return 0;
}

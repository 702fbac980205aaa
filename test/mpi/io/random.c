/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random accesses to one file against a serial model, byte by byte.
 *
 * All processes draw the same numbers, so each knows what every process does and keeps a model of
 * the whole file. In a step all processes set a view, whose filetypes interleave without overlap,
 * and read or write through it in one of the forms of MPI-5.0 14.4. Writes are compared when the
 * step is over.
 *
 * usage: random DIRECTORY [STEPS [SEED]]
 */
#include "../check.h"

#include <stdbool.h>
#include <string.h>
#include <unistd.h>

enum { MAX_BLOCKS = 6, MAX_FILE = 1 << 20, MAX_DATA = 1 << 15 };

/* A filetype: blocks in bytes, ascending, within `extent`. */
struct pattern {
    int n;
    int disp[MAX_BLOCKS], len[MAX_BLOCKS];
    int extent, size, base; /* base: where the view begins in the file */
    int unit;               /* bytes of the etype */
};

enum form {
    EXPLICIT,
    INDIVIDUAL,
    EXPLICIT_ALL,
    INDIVIDUAL_ALL,
    IMMEDIATE,
    IMMEDIATE_ALL,
    SPLIT,
    N_FORMS
};

static int rank, size;
static unsigned char model[MAX_FILE];
static long model_len;
static uint64_t state;

static MPI_Datatype etype_of(int unit)
{
    return unit == 1 ? MPI_BYTE : unit == 4 ? MPI_INT32_T : MPI_DOUBLE;
}

/* The part of process r in tiles of `size` areas. */
static struct pattern draw_pattern(int unit, int area, int base, int r)
{
    struct pattern p = {.unit = unit, .extent = area * unit * size, .base = base};
    int at = r * area, end = at + area;

    while (p.n < MAX_BLOCKS && at < end) {
        int gap = random_below(&state, 3), len = 1 + random_below(&state, 7);

        at += gap;
        len = at + len > end ? end - at : len;
        if (len <= 0) {
            break;
        }
        p.disp[p.n] = at * unit;
        p.len[p.n] = len * unit;
        p.size += len * unit;
        p.n++;
        at += len;
    }
    if (p.n == 0) {
        p.disp[0] = r * area * unit;
        p.len[0] = p.size = unit;
        p.n = 1;
    }
    return p;
}

static long offset_of(const struct pattern *p, long at)
{
    long tile = at / p->size, rest = at % p->size;
    int k = 0;

    while (rest >= p->len[k]) {
        rest -= p->len[k++];
    }
    return p->base + tile * p->extent + p->disp[k] + rest;
}

static MPI_Datatype filetype_of(const struct pattern *p)
{
    MPI_Datatype blocks, t;
    int lens[MAX_BLOCKS];
    MPI_Aint disps[MAX_BLOCKS];

    for (int k = 0; k < p->n; k++) {
        lens[k] = p->len[k] / p->unit;
        disps[k] = p->disp[k];
    }
    OK(MPI_Type_create_hindexed(p->n, lens, disps, etype_of(p->unit), &blocks));
    OK(MPI_Type_create_resized(blocks, 0, p->extent, &t));
    OK(MPI_Type_free(&blocks));
    OK(MPI_Type_commit(&t));
    return t;
}

/* One access of one process. */
struct access {
    long at;  /* in etypes */
    long len; /* bytes */
    bool is_strided;
    unsigned char seed;
};

static unsigned char byte_of(const struct access *a, long k)
{
    return (unsigned char)(a->seed + k * 7 + k / 251);
}

/* Memory: one run, or every second unit. */
static MPI_Datatype memtype_of(const struct pattern *p, const struct access *a, int *out_count)
{
    MPI_Datatype t;

    if (!a->is_strided) {
        *out_count = (int)(a->len / p->unit);
        OK(MPI_Type_dup(etype_of(p->unit), &t));
        return t;
    }
    *out_count = a->len > 0;
    OK(MPI_Type_vector((int)(a->len / p->unit), 1, 2, etype_of(p->unit), &t));
    OK(MPI_Type_commit(&t));
    return t;
}

static long mem_of(const struct pattern *p, const struct access *a, long k)
{
    return a->is_strided ? k / p->unit * p->unit * 2 + k % p->unit : k;
}

static void read_or_write(MPI_File fh, enum form form, bool is_write, MPI_Offset at, void *buf,
                          int count, MPI_Datatype t, MPI_Status *st)
{
    MPI_Request r;

    switch (form) {
    case EXPLICIT:
        OK(is_write ? MPI_File_write_at(fh, at, buf, count, t, st)
                    : MPI_File_read_at(fh, at, buf, count, t, st));
        break;
    case INDIVIDUAL:
        OK(is_write ? MPI_File_write(fh, buf, count, t, st) : MPI_File_read(fh, buf, count, t, st));
        break;
    case EXPLICIT_ALL:
        OK(is_write ? MPI_File_write_at_all(fh, at, buf, count, t, st)
                    : MPI_File_read_at_all(fh, at, buf, count, t, st));
        break;
    case INDIVIDUAL_ALL:
        OK(is_write ? MPI_File_write_all(fh, buf, count, t, st)
                    : MPI_File_read_all(fh, buf, count, t, st));
        break;
    case IMMEDIATE:
        OK(is_write ? MPI_File_iwrite_at(fh, at, buf, count, t, &r)
                    : MPI_File_iread_at(fh, at, buf, count, t, &r));
        OK(MPI_Wait(&r, st));
        break;
    case IMMEDIATE_ALL:
        OK(is_write ? MPI_File_iwrite_all(fh, buf, count, t, &r)
                    : MPI_File_iread_all(fh, buf, count, t, &r));
        OK(MPI_Wait(&r, st));
        break;
    default:
        OK(is_write ? MPI_File_write_at_all_begin(fh, at, buf, count, t)
                    : MPI_File_read_at_all_begin(fh, at, buf, count, t));
        OK(is_write ? MPI_File_write_at_all_end(fh, buf, st)
                    : MPI_File_read_at_all_end(fh, buf, st));
    }
}

static bool has_pointer(enum form form)
{
    return form == INDIVIDUAL || form == INDIVIDUAL_ALL || form == IMMEDIATE_ALL;
}

/* What a read gets: bytes up to the end of the file. */
static long expected_len(const struct pattern *p, const struct access *a)
{
    long n = 0;

    while (n < a->len && offset_of(p, a->at * p->unit + n) < model_len) {
        n++;
    }
    return n;
}

static void check_read(const struct pattern *p, const struct access *a, const unsigned char *buf,
                       const MPI_Status *st)
{
    long n = expected_len(p, a);
    int got;

    OK(MPI_Get_count(st, MPI_BYTE, &got));
    CHECK_EQ(got, n);
    for (long k = 0; k < n; k++) {
        CHECK_EQ(buf[mem_of(p, a, k)], model[offset_of(p, a->at * p->unit + k)]);
    }
}

static void note_write(const struct pattern *p, const struct access *a)
{
    for (long k = 0; k < a->len; k++) {
        long off = offset_of(p, a->at * p->unit + k);

        CHECK(off < MAX_FILE);
        model[off] = byte_of(a, k);
        model_len = off + 1 > model_len ? off + 1 : model_len;
    }
}

static void do_access(MPI_File fh, enum form form, bool is_write, const struct pattern *p,
                      const struct access *a)
{
    unsigned char *buf = calloc(1, 2 * MAX_DATA + 16);
    MPI_Offset position;
    MPI_Datatype t;
    MPI_Status st;
    int count, got;

    t = memtype_of(p, a, &count);
    for (long k = 0; is_write && k < a->len; k++) {
        buf[mem_of(p, a, k)] = byte_of(a, k);
    }
    OK(MPI_File_seek(fh, has_pointer(form) ? a->at : 0, MPI_SEEK_SET));
    read_or_write(fh, form, is_write, a->at, buf, count, t, &st);
    OK(MPI_File_get_position(fh, &position));
    CHECK_EQ(position, has_pointer(form) ? a->at + a->len / p->unit : 0);
    if (is_write) {
        OK(MPI_Get_count(&st, MPI_BYTE, &got));
        CHECK_EQ(got, a->len);
    } else {
        check_read(p, a, buf, &st);
    }
    OK(MPI_Type_free(&t));
    free(buf);
}

/* The file as it is, against the model. */
static void check_file(MPI_File fh)
{
    unsigned char *buf = malloc(MAX_FILE);
    MPI_Offset len;
    MPI_Status st;
    int got;

    OK(MPI_File_sync(fh));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_File_sync(fh));
    OK(MPI_File_get_size(fh, &len));
    CHECK_EQ(len, model_len);
    OK(MPI_File_set_view(fh, 0, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL));
    OK(MPI_File_read_at(fh, 0, buf, MAX_FILE, MPI_BYTE, &st));
    OK(MPI_Get_count(&st, MPI_BYTE, &got));
    CHECK_EQ(got, model_len);
    for (long k = 0; k < model_len; k++) {
        CHECK_EQ(buf[k], model[k]);
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
    free(buf);
}

static void set_mode(MPI_File fh, int step)
{
    static const char *const modes[] = {"enable", "disable", "automatic"};
    MPI_Info info;

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "romio_cb_write", modes[random_below(&state, 3)]));
    OK(MPI_Info_set(info, "romio_cb_read", modes[random_below(&state, 3)]));
    OK(MPI_Info_set(info, "cb_buffer_size", step % 3 ? "16777216" : "5000"));
    OK(MPI_Info_set(info, "cb_nodes", step % 2 ? "1" : "3"));
    OK(MPI_File_set_info(fh, info));
    OK(MPI_Info_free(&info));
    OK(MPI_File_set_atomicity(fh, random_below(&state, 4) == 0));
}

static void step(MPI_File fh, int n)
{
    static const int units[] = {1, 4, 8};
    int unit = units[random_below(&state, 3)], area = 1 + random_below(&state, 24);
    int base = random_below(&state, 3) ? 0 : random_below(&state, 1000);
    enum form form = (enum form)random_below(&state, N_FORMS);
    bool is_write = random_below(&state, 2) == 0;
    struct pattern mine = {0};
    struct access my_access = {0};

    set_mode(fh, n);
    for (int r = 0; r < size; r++) {
        struct pattern p = draw_pattern(unit, area, base, r);
        struct access a = {.at = random_below(&state, 200),
                           .len = random_below(&state, 1 + MAX_DATA / size / 8) / unit * unit,
                           .is_strided = random_below(&state, 2),
                           .seed = (unsigned char)next_random(&state)};

        if (offset_of(&p, a.at * unit + a.len) >= MAX_FILE) {
            a.at = a.len = 0;
        }
        if (r == rank) {
            mine = p;
            my_access = a;
        }
        if (is_write) {
            note_write(&p, &a);
        }
    }
    MPI_Datatype t = filetype_of(&mine);

    OK(MPI_File_set_view(fh, base, etype_of(unit), t, "native", MPI_INFO_NULL));
    do_access(fh, form, is_write, &mine, &my_access);
    OK(MPI_Type_free(&t));
    if (is_write) {
        check_file(fh);
    }
}

int main(int argc, char **argv)
{
    char path[512];
    MPI_File fh;
    int n_steps = argc > 2 ? atoi(argv[2]) : 120;

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    state = argc > 3 ? strtoull(argv[3], NULL, 10) : 1;
    snprintf(path, sizeof(path), "%s/random.%d", argc > 1 ? argv[1] : ".", (int)getpid());
    OK(MPI_Bcast(path, sizeof(path), MPI_CHAR, 0, MPI_COMM_WORLD));
    OK(MPI_File_open(MPI_COMM_WORLD, path,
                     MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_RDWR | MPI_MODE_DELETE_ON_CLOSE,
                     MPI_INFO_NULL, &fh));
    for (int n = 0; n < n_steps; n++) {
        step(fh, n);
    }
    OK(MPI_File_close(&fh));
    CHECK(fh == MPI_FILE_NULL);
    CHECK(access(path, F_OK) != 0);
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Heat spreading over a plate: the 2-D heat equation, one strip of rows per rank.
 *
 *     heat IN.pgm OUT.png [STEPS]
 *
 * IN.pgm is a greyscale picture (Netpbm P2 or P5): how hot each point of the plate is at the start.
 * Points that are white in it are heaters and stay hot; the rim stays as it is. OUT.png shows the
 * plate after STEPS steps (default 2000).
 *
 * Per step each rank swaps one row with each neighbour (nonblocking) and computes its own inner
 * rows meanwhile; every 100 steps all agree on how much still changes, and the last ones stop
 * early.
 */
#include <mpi.h>

#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct plate {
    int width, height; /* of the whole picture */
    int first, rows; /* this rank's strip; rows 0 and rows + 1 of the arrays are the neighbours' */
    double *now, *next;
    unsigned char *is_fixed;
};

static void fail(const char *what, const char *name)
{
    fprintf(stderr, "heat: %s: %s\n", name, what);
    MPI_Abort(MPI_COMM_WORLD, 2);
}

static int next_number(FILE *f, int *out)
{
    int c = fgetc(f);

    while (c == '#' || c == ' ' || c == '\n' || c == '\r' || c == '\t') {
        if (c == '#') {
            while (c != '\n' && c != EOF) {
                c = fgetc(f);
            }
        }
        c = fgetc(f);
    }
    ungetc(c, f);
    return fscanf(f, "%d", out) == 1;
}

/* The whole picture as values 0..1, on rank 0. */
static double *read_picture(const char *name, int *width, int *height)
{
    FILE *f = fopen(name, "rb");
    char kind[3] = "";
    int max = 0;
    double *pixels;

    if (!f) {
        fail("cannot be opened", name);
    }
    if (fscanf(f, "%2s", kind) != 1 || (strcmp(kind, "P2") != 0 && strcmp(kind, "P5") != 0) ||
        !next_number(f, width) || !next_number(f, height) || !next_number(f, &max) || *width < 3 ||
        *height < 3 || *width > 20000 || *height > 20000 || max < 1 || max > 255) {
        fail("is not a greyscale Netpbm picture (P2 or P5, 8 bits)", name);
    }
    fgetc(f);
    pixels = malloc(sizeof(*pixels) * (size_t)*width * (size_t)*height);
    if (!pixels) {
        fail("too large for the memory", name);
    }
    for (size_t i = 0; i < (size_t)*width * (size_t)*height; i++) {
        int v = 0;

        if (kind[1] == '5') {
            v = fgetc(f);
        } else if (!next_number(f, &v)) {
            v = EOF;
        }
        if (v == EOF || v > max) {
            fail("ends early or has a value over its maximum", name);
        }
        pixels[i] = (double)v / max;
    }
    fclose(f);
    return pixels;
}

/* Hand out the strips. Rank r gets rows first .. first + rows - 1. */
static void share_out(struct plate *p, const double *picture, int rank, int size)
{
    size_t w = (size_t)p->width;

    if (p->height < size) {
        fail("has fewer rows than there are ranks", "picture");
    }
    p->first = (int)((long long)p->height * rank / size);
    p->rows = (int)((long long)p->height * (rank + 1) / size) - p->first;
    p->now = calloc((size_t)(p->rows + 2) * w, sizeof(double));
    p->next = calloc((size_t)(p->rows + 2) * w, sizeof(double));
    p->is_fixed = calloc((size_t)(p->rows + 2) * w, 1);
    if (!p->now || !p->next || !p->is_fixed) {
        fail("too large for the memory", "plate");
    }
    if (rank == 0) {
        for (int r = size - 1; r >= 0; r--) {
            int first = (int)((long long)p->height * r / size);
            int rows = (int)((long long)p->height * (r + 1) / size) - first;

            if (r == 0) {
                memcpy(p->now + w, picture, sizeof(double) * (size_t)rows * w);
            } else {
                MPI_Send(picture + (size_t)first * w, rows * p->width, MPI_DOUBLE, r, 1,
                         MPI_COMM_WORLD);
            }
        }
    } else {
        MPI_Recv(p->now + w, p->rows * p->width, MPI_DOUBLE, 0, 1, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
    }
    for (int y = 1; y <= p->rows; y++) {
        for (int x = 0; x < p->width; x++) {
            size_t i = (size_t)y * w + (size_t)x;
            int row = p->first + y - 1;

            p->is_fixed[i] =
                x == 0 || x == p->width - 1 || row == 0 || row == p->height - 1 || p->now[i] >= 1.0;
        }
    }
    memcpy(p->next, p->now, sizeof(double) * (size_t)(p->rows + 2) * w);
}

/* One step for rows from..to; returns the largest change. */
static double step_rows(struct plate *p, int from, int to)
{
    double most = 0;
    size_t w = (size_t)p->width;

    for (int y = from; y <= to; y++) {
        for (int x = 0; x < p->width; x++) {
            size_t i = (size_t)y * w + (size_t)x;
            double change;

            if (p->is_fixed[i]) {
                continue;
            }
            change =
                0.25 * (p->now[i - 1] + p->now[i + 1] + p->now[i - w] + p->now[i + w]) - p->now[i];
            p->next[i] = p->now[i] + change;
            most = fabs(change) > most ? fabs(change) : most;
        }
    }
    return most;
}

/* Swap the rim rows with both neighbours while the inner rows are computed. */
static double step(struct plate *p, int up, int down)
{
    MPI_Request requests[4];
    size_t w = (size_t)p->width;
    double inner, rim;
    double *swap;

    MPI_Irecv(p->now, p->width, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(p->now + (size_t)(p->rows + 1) * w, p->width, MPI_DOUBLE, down, 2, MPI_COMM_WORLD,
              &requests[1]);
    MPI_Isend(p->now + w, p->width, MPI_DOUBLE, up, 2, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(p->now + (size_t)p->rows * w, p->width, MPI_DOUBLE, down, 2, MPI_COMM_WORLD,
              &requests[3]);
    inner = step_rows(p, 2, p->rows - 1);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
    rim = step_rows(p, 1, 1);
    if (p->rows > 1) {
        double last = step_rows(p, p->rows, p->rows);

        rim = last > rim ? last : rim;
    }
    swap = p->now;
    p->now = p->next;
    p->next = swap;
    return rim > inner ? rim : inner;
}

/* PNG needs no library when nothing is compressed: stored deflate blocks, two checksums. */
static uint32_t crc_of(uint32_t crc, const unsigned char *data, size_t len)
{
    crc = ~crc;
    for (size_t i = 0; i < len; i++) {
        crc ^= data[i];
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (crc & 1 ? 0xedb88320u : 0);
        }
    }
    return ~crc;
}

static void put32(unsigned char *to, uint32_t v)
{
    to[0] = (unsigned char)(v >> 24);
    to[1] = (unsigned char)(v >> 16);
    to[2] = (unsigned char)(v >> 8);
    to[3] = (unsigned char)v;
}

static void put_chunk(FILE *f, const char *type, unsigned char *data, size_t len)
{
    unsigned char head[8], tail[4];

    put32(head, (uint32_t)len);
    memcpy(head + 4, type, 4);
    put32(tail, crc_of(crc_of(0, head + 4, 4), data, len));
    fwrite(head, 1, 8, f);
    fwrite(data, 1, len, f);
    fwrite(tail, 1, 4, f);
}

/* Black, red, yellow, white as it gets hotter. */
static void colour(double heat, unsigned char *rgb)
{
    double h = heat < 0 ? 0 : heat > 1 ? 1 : heat;

    for (int c = 0; c < 3; c++) {
        double v = 3 * h - c;

        rgb[c] = (unsigned char)(255 * (v < 0 ? 0 : v > 1 ? 1 : v));
    }
}

static void write_picture(const char *name, const double *heat, int width, int height)
{
    size_t row_len = 1 + 3 * (size_t)width;
    size_t raw_len = row_len * (size_t)height;
    size_t n_blocks = (raw_len + 65534) / 65535;
    unsigned char *raw = calloc(raw_len, 1);
    unsigned char *z = malloc(2 + raw_len + 5 * n_blocks + 4);
    unsigned char ihdr[13] = {0};
    size_t at = 2;
    uint32_t a = 1, b = 0;
    FILE *f = fopen(name, "wb");

    if (!f || !raw || !z) {
        fail("cannot be written", name);
    }
    for (int y = 0; y < height; y++) {
        for (int x = 0; x < width; x++) {
            colour(heat[(size_t)y * (size_t)width + (size_t)x],
                   raw + (size_t)y * row_len + 1 + 3 * (size_t)x);
        }
    }
    z[0] = 0x78;
    z[1] = 0x01;
    for (size_t done = 0; done < raw_len;) {
        size_t n = raw_len - done < 65535 ? raw_len - done : 65535;

        z[at++] = done + n == raw_len;
        z[at++] = (unsigned char)n;
        z[at++] = (unsigned char)(n >> 8);
        z[at++] = (unsigned char)~n;
        z[at++] = (unsigned char)(~n >> 8);
        memcpy(z + at, raw + done, n);
        at += n;
        done += n;
    }
    for (size_t i = 0; i < raw_len; i++) {
        a = (a + raw[i]) % 65521;
        b = (b + a) % 65521;
    }
    put32(z + at, b << 16 | a);
    put32(ihdr, (uint32_t)width);
    put32(ihdr + 4, (uint32_t)height);
    ihdr[8] = 8;
    ihdr[9] = 2;
    fwrite("\x89PNG\r\n\x1a\n", 1, 8, f);
    put_chunk(f, "IHDR", ihdr, sizeof(ihdr));
    put_chunk(f, "IDAT", z, at + 4);
    put_chunk(f, "IEND", ihdr, 0);
    if (fclose(f) != 0) {
        fail("cannot be written", name);
    }
    free(raw);
    free(z);
}

/* All strips to rank 0, in whatever order they come. */
static void collect(struct plate *p, double *picture, int rank, int size)
{
    size_t w = (size_t)p->width;

    if (rank != 0) {
        MPI_Send(p->now + w, p->rows * p->width, MPI_DOUBLE, 0, 3, MPI_COMM_WORLD);
        return;
    }
    memcpy(picture, p->now + w, sizeof(double) * (size_t)p->rows * w);
    for (int n = 1; n < size; n++) {
        MPI_Status status;
        int first, count;

        MPI_Probe(MPI_ANY_SOURCE, 3, MPI_COMM_WORLD, &status);
        MPI_Get_count(&status, MPI_DOUBLE, &count);
        first = (int)((long long)p->height * status.MPI_SOURCE / size);
        MPI_Recv(picture + (size_t)first * w, count, MPI_DOUBLE, status.MPI_SOURCE, 3,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
}

int main(int argc, char **argv)
{
    struct plate p = {0};
    double *picture = NULL;
    double change = 0, sum, total, began;
    int rank, size, up, down, steps, done = 0;
    int shape[2] = {0, 0};

    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (argc < 3) {
        fail("usage: heat IN.pgm OUT.png [STEPS]", "arguments");
    }
    steps = argc > 3 ? atoi(argv[3]) : 2000;
    if (rank == 0) {
        picture = read_picture(argv[1], &shape[0], &shape[1]);
    }
    MPI_Bcast(shape, 2, MPI_INT, 0, MPI_COMM_WORLD);
    p.width = shape[0];
    p.height = shape[1];
    share_out(&p, picture, rank, size);
    up = rank > 0 ? rank - 1 : MPI_PROC_NULL;
    down = rank < size - 1 ? rank + 1 : MPI_PROC_NULL;

    MPI_Barrier(MPI_COMM_WORLD);
    began = MPI_Wtime();
    while (done < steps) {
        change = step(&p, up, down);
        done++;
        if (done % 100 == 0) {
            MPI_Allreduce(MPI_IN_PLACE, &change, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
            if (change < 1e-7) {
                break;
            }
        }
    }
    sum = 0;
    for (int y = 1; y <= p.rows; y++) {
        for (int x = 0; x < p.width; x++) {
            sum += p.now[(size_t)y * (size_t)p.width + (size_t)x];
        }
    }
    MPI_Reduce(&sum, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    collect(&p, picture, rank, size);
    if (rank == 0) {
        printf("heat: %d x %d points, %d ranks, %d steps in %.2f s, mean heat %.6f, wrote %s\n",
               p.width, p.height, size, done, MPI_Wtime() - began,
               total / ((double)p.width * p.height), argv[2]);
        write_picture(argv[2], picture, p.width, p.height);
    }
    free(picture);
    free(p.now);
    free(p.next);
    free(p.is_fixed);
    MPI_Finalize();
    return 0;
}

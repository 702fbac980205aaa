/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * MPI_Pack and MPI_Unpack of the usual shapes beside loops that a programmer would write, and how
 * long types of a million blocks take to make, to commit, and to use first. One rank. A loop's
 * figure stands under the name of its shape with "loop_" in front; the parameter is the number of
 * bytes packed.
 */
#include "../harness/bench.h"

#include <stddef.h>

enum { N_SAMPLES = 25, N_WAYS = 4, EDGE = 128, N_BLOCKS = 100000, N_MIXED = 20000 };

struct mixed {
    char c;
    double d;
    int i;
    short s[3];
};

/* What a shape is: typed memory, and how a programmer would move it. */
struct shape {
    const char *name;
    void *typed;
    MPI_Datatype type;
    int count;
    void (*out)(const struct shape *s, char *packed);
    void (*in)(const struct shape *s, const char *packed);
    long n; /* for the loops */
    const int *at;
    const int *lens;
};

static char *packed;

/* ---------------------------------------------------------------- loops */

static void out_stride2(const struct shape *s, char *to)
{
    const double *from = s->typed;
    double *d = (double *)to;

    for (long i = 0; i < s->n; i++) {
        d[i] = from[2 * i];
    }
}

static void in_stride2(const struct shape *s, const char *from)
{
    const double *d = (const double *)from;
    double *to = s->typed;

    for (long i = 0; i < s->n; i++) {
        to[2 * i] = d[i];
    }
}

/* Faces of a cube of doubles: planes of constant x (fastest), y, z. */
static void out_face_x(const struct shape *s, char *to)
{
    const double *from = s->typed;
    double *d = (double *)to;

    for (long i = 0; i < (long)EDGE * EDGE; i++) {
        d[i] = from[i * EDGE + 1];
    }
}

static void in_face_x(const struct shape *s, const char *from)
{
    const double *d = (const double *)from;
    double *to = s->typed;

    for (long i = 0; i < (long)EDGE * EDGE; i++) {
        to[i * EDGE + 1] = d[i];
    }
}

static void out_face_y(const struct shape *s, char *to)
{
    const double *from = s->typed;

    for (long z = 0; z < EDGE; z++) {
        memcpy(to + z * EDGE * 8, from + (z * EDGE + 1) * EDGE, EDGE * 8);
    }
}

static void in_face_y(const struct shape *s, const char *from)
{
    double *to = s->typed;

    for (long z = 0; z < EDGE; z++) {
        memcpy(to + (z * EDGE + 1) * EDGE, from + z * EDGE * 8, EDGE * 8);
    }
}

static void out_face_z(const struct shape *s, char *to)
{
    memcpy(to, (const double *)s->typed + EDGE * EDGE, EDGE * EDGE * 8);
}

static void in_face_z(const struct shape *s, const char *from)
{
    memcpy((double *)s->typed + EDGE * EDGE, from, EDGE * EDGE * 8);
}

/* A ghost layer of three cells in x. */
static void out_ghost_x(const struct shape *s, char *to)
{
    const double *from = s->typed;
    double *d = (double *)to;

    for (long i = 0; i < (long)EDGE * EDGE; i++) {
        for (int k = 0; k < 3; k++) {
            d[i * 3 + k] = from[i * EDGE + 1 + k];
        }
    }
}

static void in_ghost_x(const struct shape *s, const char *from)
{
    const double *d = (const double *)from;
    double *to = s->typed;

    for (long i = 0; i < (long)EDGE * EDGE; i++) {
        for (int k = 0; k < 3; k++) {
            to[i * EDGE + 1 + k] = d[i * 3 + k];
        }
    }
}

static void out_mixed(const struct shape *s, char *to)
{
    const struct mixed *m = s->typed;

    for (long i = 0; i < s->n; i++, to += 19) {
        memcpy(to, &m[i].c, 1);
        memcpy(to + 1, &m[i].d, 8);
        memcpy(to + 9, &m[i].i, 4);
        memcpy(to + 13, m[i].s, 6);
    }
}

static void in_mixed(const struct shape *s, const char *from)
{
    struct mixed *m = s->typed;

    for (long i = 0; i < s->n; i++, from += 19) {
        memcpy(&m[i].c, from, 1);
        memcpy(&m[i].d, from + 1, 8);
        memcpy(&m[i].i, from + 9, 4);
        memcpy(m[i].s, from + 13, 6);
    }
}

static void out_indexed(const struct shape *s, char *to)
{
    const double *from = s->typed;
    double *d = (double *)to;

    for (long i = 0; i < s->n; i++) {
        for (int k = 0; k < s->lens[i]; k++) {
            *d++ = from[s->at[i] + k];
        }
    }
}

static void in_indexed(const struct shape *s, const char *from)
{
    const double *d = (const double *)from;
    double *to = s->typed;

    for (long i = 0; i < s->n; i++) {
        for (int k = 0; k < s->lens[i]; k++) {
            to[s->at[i] + k] = *d++;
        }
    }
}

static void out_gather(const struct shape *s, char *to)
{
    const double *from = s->typed;
    double *d = (double *)to;

    for (long i = 0; i < s->n; i++) {
        d[i] = from[s->at[i]];
    }
}

static void in_gather(const struct shape *s, const char *from)
{
    const double *d = (const double *)from;
    double *to = s->typed;

    for (long i = 0; i < s->n; i++) {
        to[s->at[i]] = d[i];
    }
}

/* ---------------------------------------------------------------- measuring */

enum how { MPI_OUT, MPI_IN, LOOP_OUT, LOOP_IN };

static void once(const struct shape *s, enum how how, int bytes)
{
    int position = 0;

    switch (how) {
    case MPI_OUT:
        MPI_Pack(s->typed, s->count, s->type, packed, bytes, &position, MPI_COMM_SELF);
        return;
    case MPI_IN:
        MPI_Unpack(packed, bytes, &position, s->typed, s->count, s->type, MPI_COMM_SELF);
        return;
    case LOOP_OUT:
        s->out(s, packed);
        return;
    case LOOP_IN:
        s->in(s, packed);
    }
}

/* All four ways in turn, so that whatever happens to the machine happens to all of them. */
static void measure(struct shape *s)
{
    static const char *const how_names[] = {"pack", "unpack", "loop_pack", "loop_unpack"};
    double samples[N_WAYS][N_SAMPLES];
    char name[64];
    int bytes, rounds;

    MPI_Type_commit(&s->type);
    MPI_Type_size(s->type, &bytes);
    bytes *= s->count;
    rounds = 1 + 2000000 / bytes;
    for (int b = -1; b < N_SAMPLES; b++) {
        for (int how = 0; how < N_WAYS; how++) {
            double began = now_ns();

            for (int r = 0; r < rounds; r++) {
                once(s, (enum how)how, bytes);
            }
            if (b >= 0) {
                samples[how][b] = (now_ns() - began) / rounds;
            }
        }
    }
    for (int how = 0; how < N_WAYS; how++) {
        snprintf(name, sizeof(name), "%s_%s", how_names[how], s->name);
        report(name, bytes, bytes / quiet(samples[how], N_SAMPLES) * 1e3, "MB/s");
    }
    MPI_Type_free(&s->type);
}

static void *filled(size_t len)
{
    char *p = aligned_alloc(64, (len + 63) / 64 * 64);

    for (size_t i = 0; i < len; i++) {
        p[i] = (char)i;
    }
    return p;
}

static void vectors(void)
{
    for (long n = 128; n <= 1 << 21; n *= 16) {
        struct shape s = {.name = "stride2",
                          .typed = filled((size_t)n * 16),
                          .count = 1,
                          .out = out_stride2,
                          .in = in_stride2,
                          .n = n};

        MPI_Type_vector((int)n, 1, 2, MPI_DOUBLE, &s.type);
        measure(&s);
        free(s.typed);
    }
}

static void faces(void)
{
    int sizes[3] = {EDGE, EDGE, EDGE};
    static const struct {
        const char *name;
        int subs[3], starts[3];
        void (*out)(const struct shape *s, char *packed);
        void (*in)(const struct shape *s, const char *packed);
    } rows[] = {
        {"face_x", {EDGE, EDGE, 1}, {0, 0, 1}, out_face_x, in_face_x},
        {"face_y", {EDGE, 1, EDGE}, {0, 1, 0}, out_face_y, in_face_y},
        {"face_z", {1, EDGE, EDGE}, {1, 0, 0}, out_face_z, in_face_z},
        {"ghost_x", {EDGE, EDGE, 3}, {0, 0, 1}, out_ghost_x, in_ghost_x},
    };

    for (int i = 0; i < 4; i++) {
        struct shape s = {.name = rows[i].name,
                          .typed = filled((size_t)EDGE * EDGE * EDGE * 8),
                          .count = 1,
                          .out = rows[i].out,
                          .in = rows[i].in};

        MPI_Type_create_subarray(3, sizes, rows[i].subs, rows[i].starts, MPI_ORDER_C, MPI_DOUBLE,
                                 &s.type);
        measure(&s);
        free(s.typed);
    }
}

static void structs(void)
{
    int lens[4] = {1, 1, 1, 3};
    MPI_Aint at[4] = {offsetof(struct mixed, c), offsetof(struct mixed, d),
                      offsetof(struct mixed, i), offsetof(struct mixed, s)};
    MPI_Datatype types[4] = {MPI_CHAR, MPI_DOUBLE, MPI_INT, MPI_SHORT}, one;

    for (int n = 50; n <= N_MIXED; n *= 20) {
        struct shape s = {.name = "mixed",
                          .typed = filled(sizeof(struct mixed) * (size_t)n),
                          .count = n,
                          .out = out_mixed,
                          .in = in_mixed,
                          .n = n};

        MPI_Type_create_struct(4, lens, at, types, &one);
        MPI_Type_create_resized(one, 0, sizeof(struct mixed), &s.type);
        measure(&s);
        MPI_Type_free(&one);
        free(s.typed);
    }
}

static unsigned next_random(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

/* Blocks that do not overlap, in random order. */
static void random_blocks(int n, int *at, int *lens)
{
    unsigned state = 12345;

    for (int i = 0; i < n; i++) {
        at[i] = i;
    }
    for (int i = n - 1; i > 0; i--) {
        int j = (int)(next_random(&state) % (unsigned)(i + 1)), k = at[i];

        at[i] = at[j];
        at[j] = k;
    }
    for (int i = 0; i < n; i++) {
        at[i] *= 8;
        lens[i] = 1 + (int)(next_random(&state) % 4);
    }
}

static void indexed(void)
{
    int *at = malloc(N_BLOCKS * sizeof(int)), *lens = malloc(N_BLOCKS * sizeof(int));
    struct shape s = {.name = "indexed",
                      .typed = filled((size_t)N_BLOCKS * 64),
                      .count = 1,
                      .out = out_indexed,
                      .in = in_indexed,
                      .n = N_BLOCKS,
                      .at = at,
                      .lens = lens};

    random_blocks(N_BLOCKS, at, lens);
    MPI_Type_indexed(N_BLOCKS, lens, at, MPI_DOUBLE, &s.type);
    measure(&s);
    s.name = "gather";
    s.out = out_gather;
    s.in = in_gather;
    MPI_Type_create_indexed_block(N_BLOCKS, 1, at, MPI_DOUBLE, &s.type);
    measure(&s);
    free(s.typed);
    free(at);
    free(lens);
}

/* ---------------------------------------------------------------- making types */

/* Arguments for n blocks, as the constructors want them. */
struct blocks {
    int n;
    int *at, *lens;
    MPI_Aint *bytes;
    MPI_Datatype *types;
};

static void make_indexed(const struct blocks *b, MPI_Datatype *t)
{
    MPI_Type_indexed(b->n, b->lens, b->at, MPI_DOUBLE, t);
}

static void make_hindexed(const struct blocks *b, MPI_Datatype *t)
{
    MPI_Type_create_hindexed(b->n, b->lens, b->bytes, MPI_DOUBLE, t);
}

static void make_struct(const struct blocks *b, MPI_Datatype *t)
{
    MPI_Type_create_struct(b->n, b->lens, b->bytes, b->types, t);
}

static void make_vector(const struct blocks *b, MPI_Datatype *t)
{
    MPI_Type_vector(b->n, 3, 8, MPI_DOUBLE, t);
}

/* What does it cost to make a type and to commit it? Some libraries do the work in the one, some in
   the other, and some when the type is used first: so with that use, of all bytes, too. */
static void commit_one(const char *name, const struct blocks *b, char *typed,
                       void (*make)(const struct blocks *b, MPI_Datatype *t))
{
    enum { MADE, COMMITTED, USED, N_STEPS };
    static const char *const steps[] = {"make", "commit", "first_pack"};
    double samples[N_STEPS][5], began[N_STEPS + 1];
    char text[64];

    for (int i = 0; i < 5; i++) {
        MPI_Datatype t;
        int position = 0;

        began[0] = now_ns();
        make(b, &t);
        began[1] = now_ns();
        MPI_Type_commit(&t);
        began[2] = now_ns();
        MPI_Pack(typed, 1, t, packed, 32 << 20, &position, MPI_COMM_SELF);
        began[3] = now_ns();
        for (int step = 0; step < N_STEPS; step++) {
            samples[step][i] = (began[step + 1] - began[step]) / 1e6;
        }
        MPI_Type_free(&t);
    }
    for (int step = 0; step < N_STEPS; step++) {
        snprintf(text, sizeof(text), "%s_%s", steps[step], name);
        report(text, b->n, quiet(samples[step], 5), "ms");
    }
}

static void commit(void)
{
    int n = 1000000;
    struct blocks b = {.n = n,
                       .at = malloc((size_t)n * sizeof(int)),
                       .lens = malloc((size_t)n * sizeof(int)),
                       .bytes = malloc((size_t)n * sizeof(MPI_Aint)),
                       .types = malloc((size_t)n * sizeof(MPI_Datatype))};
    char *typed = filled((size_t)n * 64);

    random_blocks(n, b.at, b.lens);
    for (int i = 0; i < n; i++) {
        b.bytes[i] = (MPI_Aint)b.at[i] * 8;
        b.types[i] = i % 2 ? MPI_DOUBLE : MPI_INT;
    }
    commit_one("indexed", &b, typed, make_indexed);
    commit_one("hindexed", &b, typed, make_hindexed);
    commit_one("struct", &b, typed, make_struct);
    commit_one("vector", &b, typed, make_vector);
    free(b.at);
    free(b.lens);
    free(b.bytes);
    free(b.types);
    free(typed);
}

int main(int argc, char **argv)
{
    MPI_Init(&argc, &argv);
    pin(0);
    packed = filled(32 << 20);
    vectors();
    faces();
    structs();
    indexed();
    commit();
    free(packed);
    MPI_Finalize();
    return 0;
}

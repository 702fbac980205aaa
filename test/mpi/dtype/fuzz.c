/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random types (nesting 6) against a byte-wise model: packed and unpacked by each rank, and sent to
 * the next rank, which receives them as another random type of the same signature. Where the
 * library has control variables for that, they are sent again with no message short enough for
 * the eager protocol, and every piece long enough to be fetched from where it lies.
 */
#include "../../support/type_model.h"
#include "../check.h"

#include <string.h>

enum { N_LOCAL = 400, N_SENT = 150, MAX_ELEMENTS = 120 };

static MPI_Datatype make(const struct tm_type *m);

/* Values as the constructors without _c want them. */
static int *ints(const int64_t *v, int n, int *to)
{
    for (int i = 0; i < n; i++) {
        to[i] = (int)v[i];
    }
    return to;
}

static MPI_Datatype make_blocks(const struct tm_type *m, MPI_Datatype *kids)
{
    int n = (int)m->values[0];
    int lens[64], at[64];
    MPI_Aint bytes[64];
    const int64_t *disps = m->values + 1 + n;
    MPI_Datatype t = MPI_DATATYPE_NULL;

    for (int i = 0; i < n; i++) {
        bytes[i] = (MPI_Aint)disps[i];
    }
    ints(m->values + 1, n, lens);
    if (m->combiner == MPI_COMBINER_INDEXED) {
        OK(MPI_Type_indexed(n, lens, ints(disps, n, at), kids[0], &t));
    } else if (m->combiner == MPI_COMBINER_HINDEXED) {
        OK(MPI_Type_create_hindexed(n, lens, bytes, kids[0], &t));
    } else {
        OK(MPI_Type_create_struct(n, lens, bytes, kids, &t));
    }
    return t;
}

static MPI_Datatype make_one_length(const struct tm_type *m, MPI_Datatype kid)
{
    int n = (int)m->values[0], at[64];
    MPI_Aint bytes[64];
    MPI_Datatype t;

    for (int i = 0; i < n; i++) {
        bytes[i] = (MPI_Aint)m->values[2 + i];
    }
    if (m->combiner == MPI_COMBINER_INDEXED_BLOCK) {
        OK(MPI_Type_create_indexed_block(n, (int)m->values[1], ints(m->values + 2, n, at), kid,
                                         &t));
    } else {
        OK(MPI_Type_create_hindexed_block(n, (int)m->values[1], bytes, kid, &t));
    }
    return t;
}

static MPI_Datatype make_array(const struct tm_type *m, MPI_Datatype kid)
{
    int v[64];
    int n = (int)(m->combiner == MPI_COMBINER_SUBARRAY ? m->values[0] : m->values[2]);
    MPI_Datatype t;

    ints(m->values, m->n_values, v);
    if (m->combiner == MPI_COMBINER_SUBARRAY) {
        OK(MPI_Type_create_subarray(n, v + 1, v + 1 + n, v + 1 + 2 * n, v[1 + 3 * n], kid, &t));
    } else {
        OK(MPI_Type_create_darray(v[0], v[1], n, v + 3, v + 3 + n, v + 3 + 2 * n, v + 3 + 3 * n,
                                  v[3 + 4 * n], kid, &t));
    }
    return t;
}

static MPI_Datatype make_of(const struct tm_type *m, MPI_Datatype *kids)
{
    const int64_t *v = m->values;
    MPI_Datatype t;

    switch (m->combiner) {
    case MPI_COMBINER_DUP:
        OK(MPI_Type_dup(kids[0], &t));
        return t;
    case MPI_COMBINER_CONTIGUOUS:
        OK(MPI_Type_contiguous((int)v[0], kids[0], &t));
        return t;
    case MPI_COMBINER_VECTOR:
        OK(MPI_Type_vector((int)v[0], (int)v[1], (int)v[2], kids[0], &t));
        return t;
    case MPI_COMBINER_HVECTOR:
        OK(MPI_Type_create_hvector_c(v[0], v[1], v[2], kids[0], &t));
        return t;
    case MPI_COMBINER_RESIZED:
        OK(MPI_Type_create_resized(kids[0], (MPI_Aint)v[0], (MPI_Aint)v[1], &t));
        return t;
    case MPI_COMBINER_SUBARRAY:
    case MPI_COMBINER_DARRAY:
        return make_array(m, kids[0]);
    case MPI_COMBINER_INDEXED_BLOCK:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return make_one_length(m, kids[0]);
    default:
        return make_blocks(m, kids);
    }
}

/* The type that the model describes. Parts are freed at once. */
static MPI_Datatype make(const struct tm_type *m)
{
    MPI_Datatype kids[64], t;

    if (m->combiner == MPI_COMBINER_NAMED) {
        return m->basic;
    }
    for (int i = 0; i < m->n_kids; i++) {
        kids[i] = make(m->kids[i]);
    }
    t = make_of(m, kids);
    for (int i = 0; i < m->n_kids; i++) {
        if (m->kids[i]->combiner != MPI_COMBINER_NAMED) {
            OK(MPI_Type_free(&kids[i]));
        }
    }
    return t;
}

static void fill(struct tm_rng *r, char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        p[i] = (char)tm_next(r);
    }
}

static void check_extents(const struct tm_type *m, MPI_Datatype t)
{
    MPI_Count size, lb, extent;

    OK(MPI_Type_size_c(t, &size));
    CHECK_EQ(size, m->size);
    OK(MPI_Type_get_extent_c(t, &lb, &extent));
    CHECK_EQ(lb, m->lb);
    CHECK_EQ(extent, m->ub - m->lb);
    OK(MPI_Type_get_true_extent_c(t, &lb, &extent));
    CHECK_EQ(lb, m->true_lb);
    CHECK_EQ(extent, m->true_ub - m->true_lb);
}

/* Whole, and byte by byte the same; nothing beside the type is touched. */
static void check_pack(struct tm_rng *r, const struct tm_type *m, MPI_Datatype t, int count)
{
    int64_t lo, hi;
    size_t len = (size_t)(count * m->size), room;
    char *buf, *want, *got;
    int size, position = 0;

    tm_span(m, count, &lo, &hi);
    room = (size_t)(hi - lo) + 1;
    buf = malloc(room);
    want = malloc(room + len + 1);
    got = malloc(room + len + 1);
    fill(r, buf, room);
    CHECK_EQ(tm_pack(m, count, buf - lo, want), len);
    OK(MPI_Pack_size(count, t, MPI_COMM_WORLD, &size));
    CHECK((size_t)size >= len);
    OK(MPI_Pack(buf - lo, count, t, got, (int)len, &position, MPI_COMM_WORLD));
    CHECK_EQ(position, len);
    CHECK(memcmp(got, want, len) == 0);
    if (!tm_overlaps(m, count)) {
        memset(want, 0x5a, room);
        memset(got, 0x5a, room);
        tm_unpack(m, count, want - lo, buf, len < room ? len : 0);
        position = 0;
        if (len < room) {
            OK(MPI_Unpack(buf, (int)len, &position, got - lo, count, t, MPI_COMM_WORLD));
        }
        CHECK(memcmp(got, want, room) == 0);
    }
    free(buf);
    free(want);
    free(got);
}

/*
 * Another type with the same elements in the same order: runs of them as blocks of a struct, at
 * places that grow, of a random grain.
 */
static struct tm_type *equivalent(struct tm_rng *r, const struct tm_type *m)
{
    int64_t v[129];
    struct tm_type *kids[64];
    int64_t at = tm_range(r, -30, 30);
    int n = 0, i = 0;

    while (i < m->n && n < 63) {
        int most = (int)tm_range(r, 1, 8), run = 0;

        while (i + run < m->n && run < most && m->map[i + run].basic == m->map[i].basic) {
            run++;
        }
        kids[n] = tm_basic(m->map[i].basic);
        at += tm_range(r, 0, 2) == 0 ? tm_range(r, 0, 9) : 0;
        v[1 + n] = run;
        v[65 + n] = at;
        at += run * m->map[i].len;
        i += run;
        n++;
    }
    v[0] = n;
    memmove(v + 1 + n, v + 65, (size_t)n * sizeof(*v));
    if (i < m->n) { /* too many blocks: this one is no equivalent */
        while (n > 0) {
            tm_free(kids[--n]);
        }
        return NULL;
    }
    return tm_make(MPI_COMBINER_STRUCT, v, 1 + 2 * n, kids, n);
}

/* Every rank knows both models from the seed; each sends and receives. */
static void check_send(uint64_t seed, int rank, int size)
{
    struct tm_rng r = {.state = seed * 0x9e3779b97f4a7c15ull + 7};
    struct tm_type *m = tm_random(&r, (int)tm_range(&r, 1, 6), 60);
    int count = (int)tm_range(&r, 1, 4), got;
    struct tm_type *other = equivalent(&r, m);
    struct tm_rng data = {.state = seed + 99};
    int64_t lo, hi, other_lo, other_hi;
    char *from, *to, *want, *packed;
    MPI_Datatype t, u;
    MPI_Status status;
    size_t len = (size_t)(count * m->size), room;

    if (!other) {
        tm_free(m);
        return;
    }
    t = make(m);
    u = make(other);
    OK(MPI_Type_commit(&t));
    OK(MPI_Type_commit(&u));
    tm_span(m, count, &lo, &hi);
    tm_span(other, count, &other_lo, &other_hi);
    room = (size_t)(other_hi - other_lo) + 1;
    from = malloc((size_t)(hi - lo) + 1);
    to = calloc(1, room);
    want = calloc(1, room);
    packed = malloc(len + 1);
    fill(&data, from, (size_t)(hi - lo));
    tm_pack(m, count, from - lo, packed);
    tm_unpack(other, count, want - other_lo, packed, len);
    OK(MPI_Sendrecv(from - lo, count, t, (rank + 1) % size, 3, to - other_lo, count, u,
                    (rank + size - 1) % size, 3, MPI_COMM_WORLD, &status));
    CHECK(memcmp(to, want, room) == 0);
    OK(MPI_Get_count(&status, u, &got));
    CHECK_EQ(got, m->n > 0 ? count : 0);
    OK(MPI_Get_elements(&status, u, &got));
    CHECK_EQ(got, count * m->n);
    free(from);
    free(to);
    free(want);
    free(packed);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&u));
    tm_free(m);
    tm_free(other);
}

static void set(const char *variable, unsigned long long value)
{
    MPI_T_cvar_handle handle;
    int index, count;

    if (MPI_T_cvar_get_index(variable, &index) == MPI_SUCCESS) {
        OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
        OK(MPI_T_cvar_write(handle, &value));
        OK(MPI_T_cvar_handle_free(&handle));
    }
}

int main(int argc, char **argv)
{
    uint64_t times = argc > 1 ? strtoull(argv[1], NULL, 10) : 1; /* longer, by hand */
    int rank, size, provided;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    for (uint64_t seed = 1; seed <= N_LOCAL * times; seed++) {
        struct tm_rng r = {.state = (seed + ((uint64_t)rank << 32)) * 0x9e3779b97f4a7c15ull};
        struct tm_type *m = tm_random(&r, 1 + (int)(seed % 6), MAX_ELEMENTS);
        MPI_Datatype t = make(m);

        check_extents(m, t);
        OK(MPI_Type_commit(&t));
        check_pack(&r, m, t, (int)tm_range(&r, 0, 5));
        OK(MPI_Type_free(&t));
        tm_free(m);
    }
    for (uint64_t seed = 1; seed <= N_SENT * times; seed++) {
        check_send(seed, rank, size);
    }
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    set("p2p_eager_limit", 0);
    set("p2p_short_limit", 0);
    set("p2p_piece_min", 1);
    set("p2p_piece_rma_min", 1);
    OK(MPI_T_finalize());
    for (uint64_t seed = 1; seed <= N_SENT * times; seed++) {
        check_send(seed, rank, size);
    }
    OK(MPI_Finalize());
    return 0;
}

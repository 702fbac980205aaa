/* SPDX-License-Identifier: BSD-3-Clause */
/* Random types against the model: sizes, extents, packing whole and at random split points. */
#include "core/dtype/dtype_make.h"
#include "core/dtype/pack_runs.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "support/type_model.h"
#include "util/status.h"

static void setup(void)
{
    ck_assert_int_eq(fm_dtype_init(), 0);
}

static void teardown(void)
{
    fm_dtype_finish();
    fm_handle_finish();
}

/* The type that the model describes, made by the code under test. */
static struct fm_dtype *make(const struct tm_type *m)
{
    struct fm_dtype *t, *kid;

    if (m->combiner == MPI_COMBINER_NAMED) {
        return fm_object_ref(fm_dtype_get(m->basic));
    }
    t = fm_dtype_begin(m->combiner, false, m->n_values, m->n_kids);
    ck_assert_ptr_nonnull(t);
    memcpy(t->env->values, m->values, (size_t)m->n_values * sizeof(*m->values));
    for (int i = 0; i < m->n_kids; i++) {
        kid = make(m->kids[i]);
        fm_dtype_take(t, i, kid);
        fm_dtype_unref(kid);
    }
    ck_assert_int_eq(fm_dtype_end(t), 0);
    return t;
}

static void print(const struct tm_type *m, int indent)
{
    fprintf(stderr, "%*s%d:", indent, "", m->combiner);
    for (int i = 0; i < m->n_values; i++) {
        fprintf(stderr, " %lld", (long long)m->values[i]);
    }
    fprintf(stderr, " (size %lld lb %lld ub %lld)\n", (long long)m->size, (long long)m->lb,
            (long long)m->ub);
    for (int i = 0; i < m->n_kids; i++) {
        print(m->kids[i], indent + 2);
    }
}

static uint64_t failing_seed;
static const struct tm_type *failing;

#define expect(x)                                                                                  \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            print(failing, 2);                                                                     \
            ck_abort_msg("seed %llu: %s", (unsigned long long)failing_seed, #x);                   \
        }                                                                                          \
    } while (0)

/* Every program keeps what dtype_prog.h promises. */
static int check_prog(const struct fm_dtype_prog *p, int depth)
{
    int deepest = depth;

    expect(p->size > 0);
    if (p->kind == FM_PROG_LOOP) {
        expect(p->u.loop.n >= 2);
        expect(p->size == p->u.loop.n * p->u.loop.body->size);
        return check_prog(p->u.loop.body, depth + 1);
    }
    if (p->kind == FM_PROG_SEQ) {
        MPI_Count pos = 0;

        expect(p->u.seq.n >= 2);
        for (MPI_Count i = 0; i < p->u.seq.n; i++) {
            const struct fm_dtype_part *part = &p->u.seq.parts[i];
            int d = check_prog(part->body, depth + 1);

            deepest = d > deepest ? d : deepest;
            expect(part->pos == pos);
            expect(part->body->kind != FM_PROG_SEQ);
            pos += part->body->size;
        }
        expect(p->size == pos);
    }
    return deepest;
}

static void fill(struct tm_rng *r, char *p, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        p[i] = (char)tm_next(r);
    }
}

/* Out in pieces of random size; now and then jump back or forth. */
static void check_out(struct tm_rng *r, struct fm_dtype *t, int count, char *buf, const char *want,
                      size_t len)
{
    char *got = calloc(1, len + 1);
    struct fm_pack p;
    void *addr;
    size_t n;

    fm_pack_all(got, buf, count, t);
    expect(memcmp(got, want, len) == 0);
    memset(got, 0x55, len);
    fm_pack_begin(&p, buf, count, t);
    expect((size_t)p.len == len);
    for (size_t at = 0; at < len; at += n) {
        n = fm_pack_out(&p, got + at, (size_t)tm_range(r, 1, 1 + (int64_t)len / 3));
        expect(n > 0 && (size_t)p.at == at + n);
    }
    expect(fm_pack_out(&p, got, 1) == 0);
    expect(memcmp(got, want, len) == 0);
    for (int i = 0; i < 4 && len > 0; i++) {
        size_t at = (size_t)tm_range(r, 0, (int64_t)len - 1);
        char b[16];

        fm_pack_seek(&p, (MPI_Count)at);
        n = fm_pack_out(&p, b, sizeof(b));
        expect(n == (len - at < sizeof(b) ? len - at : sizeof(b)));
        expect(memcmp(b, want + at, n) == 0);
    }
    fm_pack_seek(&p, 0);
    for (size_t at = 0; at < len; at += n) {
        n = fm_pack_piece(&p, (size_t)tm_range(r, 1, 64), &addr);
        expect(n > 0 && n <= len - at);
        expect(memcmp(addr, want + at, n) == 0);
    }
    expect(fm_pack_piece(&p, 1, &addr) == 0);
    free(got);
}

/* In, whole and in pieces; bytes outside of the type must stay. */
static void check_in(struct tm_rng *r, const struct tm_type *m, struct fm_dtype *t, int count,
                     size_t room, ptrdiff_t origin)
{
    size_t len = (size_t)(count * m->size);
    char *packed = malloc(len + 1);
    char *got = malloc(room);
    char *want = malloc(room);
    size_t part = (size_t)tm_range(r, 0, (int64_t)len);
    struct fm_pack p;
    size_t n;

    fill(r, packed, len);
    fill(r, got, room);
    memcpy(want, got, room);
    tm_unpack(m, count, want + origin, packed, part);
    fm_unpack_all(got + origin, count, t, packed, (MPI_Count)part);
    expect(memcmp(got, want, room) == 0);
    tm_unpack(m, count, want + origin, packed, len);
    fm_pack_begin(&p, got + origin, count, t);
    for (size_t at = 0; at < len; at += n) {
        n = fm_pack_in(&p, packed + at, (size_t)tm_range(r, 1, 1 + (int64_t)len / 3));
        expect(n > 0);
    }
    expect(memcmp(got, want, room) == 0);
    free(packed);
    free(got);
    free(want);
}

/* What its description says of the buffer is where its bytes lie. */
static void check_described(struct tm_rng *r, const struct fm_dtype *t, int count)
{
    static struct fm_pack_layout layout;
    struct fm_pack_run runs[FM_PACK_RUNS_MAX];
    int max = (int)tm_range(r, 1, FM_PACK_RUNS_MAX);
    MPI_Count first = 0, end = 0, len = count * t->size, lowest = INT64_MAX, highest = INT64_MIN;
    int n = fm_pack_describe(count, t, max, runs, &first, &end);
    struct fm_pack p;

    expect(n <= max);
    expect(n > 0 || len == 0 || fm_pack_n_pieces(count, t) > max);
    if (n == 0) {
        return;
    }
    expect(fm_pack_layout_begin(&layout, NULL, runs, n, len));
    fm_pack_begin(&p, NULL, count, t);
    for (MPI_Count at = 0; at < len; at++) {
        void *a = NULL, *b = NULL;

        if (tm_range(r, 0, 3) == 0) { /* stay in step, or find the place anew */
            fm_pack_seek(&layout.pack, at);
        }
        expect(fm_pack_piece(&p, 1, &a) == 1 && fm_pack_piece(&layout.pack, 1, &b) == 1);
        expect(a == b);
        lowest = (intptr_t)a < lowest ? (intptr_t)a : lowest;
        highest = (intptr_t)a > highest ? (intptr_t)a : highest;
    }
    expect(lowest == first && highest + 1 == end);
}

static void check_one(uint64_t seed)
{
    struct tm_rng r = {.state = seed * 0x9e3779b97f4a7c15ull + 1};
    struct tm_type *m = tm_random(&r, (int)tm_range(&r, 1, 6), 300);
    int count = (int)tm_range(&r, 0, 5);
    struct fm_dtype *t = make(m);
    int64_t lo, hi;
    size_t room, len;
    char *buf, *want;

    failing = m;
    failing_seed = seed;
    expect(t->size == m->size);
    expect(t->n_basic == m->n);
    expect(t->lb == m->lb && t->extent == m->ub - m->lb);
    expect(t->true_lb == m->true_lb && t->true_extent == m->true_ub - m->true_lb);
    expect(fm_dtype_commit(t) == 0);
    if (t->prog) {
        expect(check_prog(t->prog, 0) < FM_DTYPE_PROG_DEPTH);
    }
    tm_span(m, count, &lo, &hi);
    room = (size_t)(hi - lo) + 1;
    buf = malloc(room);
    len = (size_t)(count * m->size);
    want = malloc(len + 1);
    fill(&r, buf, room);
    tm_pack(m, count, buf - lo, want);
    check_out(&r, t, count, buf - lo, want, len);
    check_described(&r, t, count);
    if (!tm_overlaps(m, count)) {
        check_in(&r, m, t, count, room, -lo);
    }
    free(buf);
    free(want);
    fm_dtype_unref(t);
    tm_free(m);
}

START_TEST(agrees_with_the_model)
{
    const char *text = getenv("FM_FUZZ_COUNT");
    uint64_t n = text ? strtoull(text, NULL, 10) : 3000;
    const char *first = getenv("FM_FUZZ_SEED");
    uint64_t live = *fm_root.pools[FM_KIND_DTYPE].n_live;

    for (uint64_t i = 0, seed = first ? strtoull(first, NULL, 10) : 1; i < n; i++, seed++) {
        check_one(seed);
    }
    ck_assert_uint_eq(*fm_root.pools[FM_KIND_DTYPE].n_live, live);
}
END_TEST

/* Two random types with as many bytes: from one straight into the other. */
START_TEST(copies_between_types)
{
    for (uint64_t seed = 1; seed <= 500; seed++) {
        struct tm_rng r = {.state = seed * 77777 + 5};
        struct tm_type *a = tm_random(&r, 4, 60);
        struct tm_type *b = tm_random(&r, 4, 60);
        struct fm_dtype *ta = make(a);
        struct fm_dtype *tb = make(b);
        int64_t lo_a, hi_a, lo_b, hi_b;
        char *from, *got, *want, *packed;
        size_t len;

        failing = a;
        failing_seed = seed;
        fm_dtype_commit(ta);
        fm_dtype_commit(tb);
        tm_span(a, 40, &lo_a, &hi_a);
        tm_span(b, 40, &lo_b, &hi_b);
        from = malloc((size_t)(hi_a - lo_a) + 1);
        got = calloc(1, (size_t)(hi_b - lo_b) + 1);
        want = calloc(1, (size_t)(hi_b - lo_b) + 1);
        packed = malloc((size_t)a->size * 40 + 1);
        fill(&r, from, (size_t)(hi_a - lo_a));
        len = tm_pack(a, 40, from - lo_a, packed);
        if (!tm_overlaps(b, 40)) {
            tm_unpack(b, 40, want - lo_b, packed, len);
            fm_copy_typed(got - lo_b, 40, tb, from - lo_a, 40, ta);
            expect(memcmp(got, want, (size_t)(hi_b - lo_b)) == 0);
        }
        free(from);
        free(got);
        free(want);
        free(packed);
        fm_dtype_unref(ta);
        fm_dtype_unref(tb);
        tm_free(a);
        tm_free(b);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("dtype_fuzz");
    TCase *t = tcase_create("dtype_fuzz");

    tcase_set_timeout(t, 60);
    tcase_add_checked_fixture(t, setup, teardown);
    tcase_add_test(t, agrees_with_the_model);
    tcase_add_test(t, copies_between_types);
    suite_add_tcase(s, t);
    return suite_run(s);
}

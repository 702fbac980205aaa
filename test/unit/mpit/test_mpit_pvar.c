/* SPDX-License-Identifier: BSD-3-Clause */
/* Performance variables: all classes and datatypes, sessions, bound objects, watermarks. */
#include "unit/mpit/mpit_test.h"

START_TEST(counters_count_since_start)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, "fake_done", MPI_T_PVAR_CLASS_COUNTER);

    fake->n_done = 100;
    ck_assert_uint_eq(pvar_u64(s, h), 0);
    OK(MPI_T_pvar_start(s, h));
    ck_assert_uint_eq(pvar_u64(s, h), 0);
    fake->n_done += 5;
    ck_assert_uint_eq(pvar_u64(s, h), 5);
    OK(MPI_T_pvar_start(s, h)); /* it runs already: nothing changes */
    ck_assert_uint_eq(pvar_u64(s, h), 5);
    OK(MPI_T_pvar_stop(s, h));
    fake->n_done += 7;
    ck_assert_uint_eq(pvar_u64(s, h), 5);
    OK(MPI_T_pvar_start(s, h));
    fake->n_done += 1;
    ck_assert_uint_eq(pvar_u64(s, h), 6);
    OK(MPI_T_pvar_reset(s, h));
    ck_assert_uint_eq(pvar_u64(s, h), 0);
    fake->n_done += 2;
    ck_assert_uint_eq(pvar_u64(s, h), 2);
    OK(MPI_T_pvar_stop(s, h));
    OK(MPI_T_pvar_reset(s, h));
    ck_assert_uint_eq(pvar_u64(s, h), 0);
    OK(MPI_T_pvar_session_free(&s));
    ck_assert_ptr_null(s);
}
END_TEST

START_TEST(sums_are_counters_like_others)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, "fake_sum", MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long v = 1000;

    fake->n_done = 100;
    fake->n_bytes = 7;
    OK(MPI_T_pvar_start(s, h));
    ck_assert_uint_eq(pvar_u64(s, h), 0);
    fake->n_done += 20;
    fake->counts[0] += 1;
    fake->counts[2] += 4;
    fake->n_bytes += 5;
    ck_assert_uint_eq(pvar_u64(s, h), 30);
    OK(MPI_T_pvar_readreset(s, h, &v));
    ck_assert_uint_eq(v, 30);
    fake->counts[1] += 2;
    OK(MPI_T_pvar_stop(s, h));
    fake->counts[1] += 2;
    ck_assert_uint_eq(pvar_u64(s, h), 2);
    v = 1000;
    OK(MPI_T_pvar_start(s, h));
    OK(MPI_T_pvar_write(s, h, &v));
    fake->n_bytes += 1;
    fake->pairs[0][0] += 16; /* between those that belong to it */
    fake->pairs[0][1] += 32;
    fake->pairs[1][0] += 64;
    fake->pairs[1][1] += 128;
    ck_assert_uint_eq(pvar_u64(s, h), 1001 + 32 + 128);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

/* Whatever it was when the handle was made and started. */
START_TEST(levels_and_sizes_are_shown_as_they_are)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle depth, size;

    fathom_level_set(&fake->depth, 70);
    fake->size = 700;
    depth = pvar_open(s, "fake_depth", MPI_T_PVAR_CLASS_LEVEL);
    size = pvar_open(s, "fake_size", MPI_T_PVAR_CLASS_SIZE); /* always runs */
    fathom_level_set(&fake->depth, 60);
    OK(MPI_T_pvar_start(s, depth));
    ck_assert_uint_eq(pvar_u64(s, depth), 60);
    ck_assert_uint_eq(pvar_u64(s, size), 700);
    fathom_level_set(&fake->depth, 90);
    fake->size = 800;
    ck_assert_uint_eq(pvar_u64(s, depth), 90);
    ck_assert_uint_eq(pvar_u64(s, size), 800);
    OK(MPI_T_pvar_stop(s, depth));
    fathom_level_set(&fake->depth, 0);
    ck_assert_uint_eq(pvar_u64(s, depth), 90);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(counters_are_written_and_read_reset)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, "fake_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    unsigned long long v = 40;

    OK(MPI_T_pvar_start(s, h));
    OK(MPI_T_pvar_write(s, h, &v));
    fake->n_bytes += 2;
    ck_assert_uint_eq(pvar_u64(s, h), 42);
    OK(MPI_T_pvar_readreset(s, h, &v));
    ck_assert_uint_eq(v, 42);
    ck_assert_uint_eq(pvar_u64(s, h), 0);
    fake->n_bytes += 3;
    OK(MPI_T_pvar_stop(s, h));
    OK(MPI_T_pvar_readreset(s, h, &v));
    ck_assert_uint_eq(v, 3);
    v = 9;
    OK(MPI_T_pvar_write(s, h, &v));
    fake->n_bytes += 100;
    ck_assert_uint_eq(pvar_u64(s, h), 9);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

/* What was taken since the last start is kept in 32 bits while it fits. */
START_TEST(any_amount_is_taken)
{
    enum { N_STEPS = 13 };
    static const uint64_t steps[N_STEPS] = {
        1, 0, UINT32_MAX - 1, 1, UINT32_MAX, 1, 1ull << 32, 7, 1ull << 40, 0, 3, UINT64_MAX, 5};
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, "fake_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle other = pvar_open(s, "fake_bytes", MPI_T_PVAR_CLASS_AGGREGATE);
    unsigned long long v, sum = 0;

    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    for (size_t i = 0; i < 4 * N_STEPS; i++) {
        uint64_t step = steps[i % N_STEPS];

        fake->n_bytes += step;
        sum += step;
        ck_assert_uint_eq(pvar_u64(s, h), step);
        OK(MPI_T_pvar_readreset(s, h, &v));
        ck_assert_uint_eq(v, step);
        ck_assert_uint_eq(pvar_u64(s, h), 0);
        ck_assert_uint_eq(pvar_u64(s, other), sum); /* of its own */
    }
    /* And every other change goes on from there. */
    fake->n_bytes += 10;
    OK(MPI_T_pvar_readreset(s, h, &v));
    fake->n_bytes += 4;
    OK(MPI_T_pvar_stop(s, h));
    fake->n_bytes += 100;
    ck_assert_uint_eq(pvar_u64(s, h), 4);
    OK(MPI_T_pvar_start(s, h));
    fake->n_bytes += 2;
    ck_assert_uint_eq(pvar_u64(s, h), 6);
    OK(MPI_T_pvar_readreset(s, h, &v));
    ck_assert_uint_eq(v, 6);
    v = 50;
    OK(MPI_T_pvar_write(s, h, &v));
    fake->n_bytes += 5;
    OK(MPI_T_pvar_readreset(s, h, &v));
    ck_assert_uint_eq(v, 55);
    fake->n_bytes += 8;
    OK(MPI_T_pvar_reset(s, h));
    fake->n_bytes += 9;
    ck_assert_uint_eq(pvar_u64(s, h), 9);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(doubles_and_narrow_types)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle real = pvar_open(s, "fake_real", MPI_T_PVAR_CLASS_AGGREGATE);
    MPI_T_pvar_handle wait = pvar_open(s, "fake_wait", MPI_T_PVAR_CLASS_TIMER);
    MPI_T_pvar_handle plain = pvar_open(s, "fake_plain", MPI_T_PVAR_CLASS_LEVEL);
    struct {
        unsigned value, guard;
    } small = {0, 0xdeadbeef};
    unsigned long ns;
    double v, word = 1.5;

    memcpy(&fake->real_sum, &word, sizeof(word));
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    word = 4.75;
    memcpy(&fake->real_sum, &word, sizeof(word));
    OK(MPI_T_pvar_read(s, real, &v));
    ck_assert_double_eq(v, 3.25);
    OK(MPI_T_pvar_readreset(s, real, &v));
    ck_assert_double_eq(v, 3.25);
    OK(MPI_T_pvar_read(s, real, &v));
    ck_assert_double_eq(v, 0);
    fake->wait_ns += 1000;
    OK(MPI_T_pvar_read(s, wait, &ns));
    ck_assert_uint_eq(ns, 1000);
    fake->plain = 77;
    OK(MPI_T_pvar_read(s, plain, &small));
    ck_assert_uint_eq(small.value, 77);
    ck_assert_uint_eq(small.guard, 0xdeadbeef);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(states_levels_sizes_and_percentages_show_the_word)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle state = pvar_open(s, "fake_state", MPI_T_PVAR_CLASS_STATE);
    MPI_T_pvar_handle depth = pvar_open(s, "fake_depth", MPI_T_PVAR_CLASS_LEVEL);
    MPI_T_pvar_handle size = pvar_open(s, "fake_size", MPI_T_PVAR_CLASS_SIZE);
    MPI_T_pvar_handle share = pvar_open(s, "fake_share", MPI_T_PVAR_CLASS_PERCENTAGE);
    MPI_T_pvar_handle generic = pvar_open(s, "fake_generic", MPI_T_PVAR_CLASS_GENERIC);
    unsigned long long v;
    double d;
    int i;

    fake->state = FAKE_RED;
    fake->size = 512;
    fake->n_done = 128;
    fake->generic = (uint64_t)-7;
    fathom_level_set(&fake->depth, 3);
    OK(MPI_T_pvar_start(s, state));
    OK(MPI_T_pvar_start(s, depth));
    OK(MPI_T_pvar_start(s, share));
    OK(MPI_T_pvar_start(s, generic));
    OK(MPI_T_pvar_read(s, state, &i));
    ck_assert_int_eq(i, FAKE_RED);
    fake->state = FAKE_BLUE;
    OK(MPI_T_pvar_read(s, state, &i));
    ck_assert_int_eq(i, FAKE_BLUE);
    OK(MPI_T_pvar_stop(s, state));
    fake->state = FAKE_GREEN;
    OK(MPI_T_pvar_read(s, state, &i));
    ck_assert_int_eq(i, FAKE_BLUE);
    ck_assert_uint_eq(pvar_u64(s, depth), 3);
    ck_assert_uint_eq(pvar_u64(s, size), 512); /* continuous: it runs from the beginning */
    OK(MPI_T_pvar_read(s, share, &d));
    ck_assert_double_eq(d, 0.25);
    OK(MPI_T_pvar_read(s, generic, &i));
    ck_assert_int_eq(i, -7);
    GIVES(MPI_T_pvar_reset(s, depth), MPI_T_ERR_PVAR_NO_WRITE);
    GIVES(MPI_T_pvar_write(s, depth, &v), MPI_T_ERR_PVAR_NO_WRITE);
    GIVES(MPI_T_pvar_readreset(s, depth, &v), MPI_T_ERR_PVAR_NO_ATOMIC);
    OK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES)); /* read-only ones are passed over */
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

static double pvar_real(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
    double v;

    OK(MPI_T_pvar_read(s, h, &v));
    return v;
}

START_TEST(percentages_are_shares)
{
    static const double half = 0.5;
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle share = pvar_open(s, "fake_share", MPI_T_PVAR_CLASS_PERCENTAGE);
    MPI_T_pvar_handle word = pvar_open(s, "fake_ratio_now", MPI_T_PVAR_CLASS_PERCENTAGE);
    MPI_T_pvar_handle sum;
    MPI_Comm comm = fake_comm_handle(1);
    int i, count;

    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    memcpy(&fake->real_sum, &half, sizeof(half));
    ck_assert_double_eq(pvar_real(s, word), 0.5);
    fake->n_done = 7;
    fake->size = 0;
    ck_assert_double_eq(pvar_real(s, share), 0); /* of nothing */
    fake->size = 28;
    ck_assert_double_eq(pvar_real(s, share), 0.25);
    fake->size = 7;
    ck_assert_double_eq(pvar_real(s, share), 1);
    fake->n_done = 8;
    ck_assert_double_eq(pvar_real(s, share), 1); /* never more */
    fake->n_done = 0;
    OK(MPI_T_pvar_stop(s, share));
    fake->n_done = 7;
    ck_assert_double_eq(pvar_real(s, share), 0); /* as it was */
    fake_comm_make(1);
    OK(MPI_T_pvar_get_index("fake_got_share", MPI_T_PVAR_CLASS_PERCENTAGE, &i));
    OK(MPI_T_pvar_handle_alloc(s, i, &comm, &sum, &count));
    OK(MPI_T_pvar_start(s, sum));
    fathom_level_set(&fake_comms[1].words->umq, 1000);
    fake_comms[1].words->n_msgs = 100;
    fake_comms[1].words->members[0].n_got = 20;
    fake_comms[1].words->members[FAKE_SIZE - 1].n_got = 5;
    ck_assert_double_eq(pvar_real(s, sum), 0.125);
    OK(MPI_T_pvar_session_free(&s));
    fake_comm_free(1);
}
END_TEST

START_TEST(what_is_left_begins_with_all)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, "fake_rest", MPI_T_PVAR_CLASS_LOWWATERMARK);

    ck_assert_uint_ge(fake->bound, 7);
    ck_assert_uint_eq(fake->rest.now, fake->bound);
    ck_assert_uint_eq(fake->rest.low, fake->bound);
    OK(MPI_T_pvar_start(s, h));
    ck_assert_uint_eq(pvar_u64(s, h), fake->bound);
    fathom_level_add(&fake->rest, -7);
    fathom_level_add(&fake->rest, 5);
    ck_assert_uint_eq(pvar_u64(s, h), fake->bound - 7);
    ck_assert_uint_eq(fake->rest.low, fake->bound - 7);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(generic_can_be_writable)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, "fake_generic_rw", MPI_T_PVAR_CLASS_GENERIC);
    unsigned long long v = 11;

    OK(MPI_T_pvar_start(s, h));
    OK(MPI_T_pvar_write(s, h, &v));
    fake->generic_rw += 4;
    ck_assert_uint_eq(pvar_u64(s, h), 15);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(continuous_variables_cannot_be_started)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, "fake_running", MPI_T_PVAR_CLASS_COUNTER);
    int continuous = -1;

    fake->running += 3;
    ck_assert_uint_eq(pvar_u64(s, h), 3);
    GIVES(MPI_T_pvar_start(s, h), MPI_T_ERR_PVAR_NO_STARTSTOP);
    GIVES(MPI_T_pvar_stop(s, h), MPI_T_ERR_PVAR_NO_STARTSTOP);
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    fake->running += 1;
    ck_assert_uint_eq(pvar_u64(s, h), 4);
    OK(MPI_T_pvar_get_info(pvar_named("fake_running", MPI_T_PVAR_CLASS_COUNTER), NULL, NULL, NULL,
                           NULL, NULL, NULL, NULL, NULL, NULL, NULL, &continuous, NULL));
    ck_assert_int_eq(continuous, 1);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(sessions_do_not_touch_each_other)
{
    static const struct {
        const char *name;
        int klass;
        size_t at;
    } vars[] = {
        {"fake_done", MPI_T_PVAR_CLASS_COUNTER, offsetof(struct fake_words, n_done)},
        {"fake_bytes", MPI_T_PVAR_CLASS_AGGREGATE, offsetof(struct fake_words, n_bytes)},
        {"fake_running", MPI_T_PVAR_CLASS_COUNTER, offsetof(struct fake_words, running)},
        {"fake_generic_rw", MPI_T_PVAR_CLASS_GENERIC, offsetof(struct fake_words, generic_rw)},
    };
    MPI_T_pvar_session a = session_open(), b = session_open();
    MPI_T_pvar_handle in_a, in_b;
    uint64_t *word;
    size_t i;

    for (i = 0; i < sizeof(vars) / sizeof(vars[0]); i++) {
        word = (uint64_t *)(void *)((char *)fake + vars[i].at);
        in_a = pvar_open(a, vars[i].name, vars[i].klass);
        in_b = pvar_open(b, vars[i].name, vars[i].klass);
        OK(MPI_T_pvar_start(a, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_T_pvar_start(b, MPI_T_PVAR_ALL_HANDLES));
        *word += 10;
        OK(MPI_T_pvar_reset(a, in_a));
        *word += 1;
        ck_assert_uint_eq(pvar_u64(a, in_a), 1);
        ck_assert_uint_eq(pvar_u64(b, in_b), 11);
        GIVES(MPI_T_pvar_read(a, in_b, &word), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_start(b, in_a), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_handle_free(b, &in_a), MPI_T_ERR_INVALID_HANDLE);
        OK(MPI_T_pvar_stop(b, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_T_pvar_handle_free(a, &in_a));
        ck_assert_ptr_null(in_a);
    }
    OK(MPI_T_pvar_session_free(&a));
    GIVES(MPI_T_pvar_session_free(&a), MPI_T_ERR_INVALID_SESSION);
    OK(MPI_T_pvar_session_free(&b));
}
END_TEST

START_TEST(watermarks_are_independent)
{
    MPI_T_pvar_session a = session_open(), b = session_open();
    MPI_T_pvar_handle hi_a, hi_b, lo_a, lo_b;
    unsigned long long v;

    fathom_level_set(&fake->depth, 5);
    hi_a = pvar_open(a, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    lo_a = pvar_open(a, "fake_depth", MPI_T_PVAR_CLASS_LOWWATERMARK);
    ck_assert_uint_eq(pvar_u64(a, hi_a), 5); /* not started: the level at its allocation */
    OK(MPI_T_pvar_start(a, MPI_T_PVAR_ALL_HANDLES));
    fathom_level_set(&fake->depth, 9);
    fathom_level_set(&fake->depth, 6);
    ck_assert_uint_eq(pvar_u64(a, hi_a), 9);
    ck_assert_uint_eq(pvar_u64(a, lo_a), 5);
    hi_b = pvar_open(b, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    lo_b = pvar_open(b, "fake_depth", MPI_T_PVAR_CLASS_LOWWATERMARK);
    fathom_level_set(&fake->depth, 4);
    OK(MPI_T_pvar_start(b, MPI_T_PVAR_ALL_HANDLES));
    ck_assert_uint_eq(pvar_u64(b, hi_b),
                      4); /* the level when it was started, not at its allocation */
    fathom_level_set(&fake->depth, 7);
    fathom_level_set(&fake->depth, 2);
    ck_assert_uint_eq(pvar_u64(a, hi_a), 9);
    ck_assert_uint_eq(pvar_u64(b, hi_b), 7);
    ck_assert_uint_eq(pvar_u64(a, lo_a), 2);
    ck_assert_uint_eq(pvar_u64(b, lo_b), 2);
    OK(MPI_T_pvar_readreset(a, hi_a, &v));
    ck_assert_uint_eq(v, 9);
    ck_assert_uint_eq(pvar_u64(a, hi_a), 2);
    fathom_level_set(&fake->depth, 3);
    ck_assert_uint_eq(pvar_u64(a, hi_a), 3);
    ck_assert_uint_eq(pvar_u64(b, hi_b), 7);
    OK(MPI_T_pvar_stop(a, hi_a));
    fathom_level_set(&fake->depth, 30);
    ck_assert_uint_eq(pvar_u64(a, hi_a), 3);
    ck_assert_uint_eq(pvar_u64(b, hi_b), 30);
    fathom_level_set(&fake->depth, 1);
    OK(MPI_T_pvar_start(a, hi_a)); /* goes on from what it had */
    ck_assert_uint_eq(pvar_u64(a, hi_a), 3);
    OK(MPI_T_pvar_reset(a, lo_a));
    ck_assert_uint_eq(pvar_u64(a, lo_a), 1);
    v = 100;
    OK(MPI_T_pvar_write(a, hi_a, &v));
    ck_assert_uint_eq(pvar_u64(a, hi_a), 100);
    ck_assert_uint_eq(fake->depth.high, 30); /* of the process, as seen from outside */
    OK(MPI_T_pvar_session_free(&a));
    OK(MPI_T_pvar_session_free(&b));
    /* Nobody looks any more: only a new record of the process calls. */
    ck_assert_uint_eq(fake->depth.hi_mark, 30);
    ck_assert_uint_eq(fake->depth.lo_mark, 0);
}
END_TEST

START_TEST(watermarks_agree_with_a_slow_count)
{
    enum { N = 6 };
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle hi[N], lo[N];
    unsigned long long want_hi[N], want_lo[N];
    unsigned seed = 12345;
    int i, step;

    for (i = 0; i < N; i++) {
        hi[i] = pvar_open(s, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
        lo[i] = pvar_open(s, "fake_depth", MPI_T_PVAR_CLASS_LOWWATERMARK);
        want_hi[i] = want_lo[i] = fake->depth.now;
    }
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    for (step = 0; step < 20000; step++) {
        unsigned long long now = (unsigned long long)(rand_r(&seed) % 1000);

        fathom_level_set(&fake->depth, now);
        for (i = 0; i < N; i++) {
            want_hi[i] = now > want_hi[i] ? now : want_hi[i];
            want_lo[i] = now < want_lo[i] ? now : want_lo[i];
        }
        i = rand_r(&seed) % (N * 8);
        if (i < N) {
            OK(MPI_T_pvar_reset(s, hi[i]));
            OK(MPI_T_pvar_reset(s, lo[i]));
            want_hi[i] = want_lo[i] = now;
        }
        i = rand_r(&seed) % N;
        ck_assert_uint_eq(pvar_u64(s, hi[i]), want_hi[i]);
        ck_assert_uint_eq(pvar_u64(s, lo[i]), want_lo[i]);
    }
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(arrays_and_members)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle counts, sums, sent, got, all_got;
    unsigned long long v[FAKE_SIZE];
    int n = -1;

    OK(MPI_T_pvar_handle_alloc(s, pvar_named("fake_counts", MPI_T_PVAR_CLASS_COUNTER), NULL,
                               &counts, &n));
    ck_assert_int_eq(n, 3);
    fake_comm_make(2);
    sent = pvar_open_on(s, "fake_sent", MPI_T_PVAR_CLASS_COUNTER, 2, &n);
    ck_assert_int_eq(n, FAKE_SIZE);
    got = pvar_open_on(s, "fake_got", MPI_T_PVAR_CLASS_AGGREGATE, 2, &n);
    all_got = pvar_open_on(s, "fake_all_got", MPI_T_PVAR_CLASS_AGGREGATE, 2, &n);
    ck_assert_int_eq(n, 1);
    OK(MPI_T_pvar_handle_alloc(s, pvar_named("fake_sums", MPI_T_PVAR_CLASS_COUNTER), NULL, &sums,
                               &n));
    ck_assert_int_eq(n, 2);
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    fake->counts[2] += 6;
    fake->pairs[1][1] += 7;
    fake_comms[2].words->members[1].n_sent += 8;
    fake_comms[2].words->members[3].n_got += 9;
    fake_comms[2].words->members[0].n_got += 10;
    fake_comms[2].words->n_msgs += 100;
    OK(MPI_T_pvar_read(s, counts, v));
    ck_assert(v[0] == 0 && v[1] == 0 && v[2] == 6);
    OK(MPI_T_pvar_read(s, sent, v));
    ck_assert(v[0] == 0 && v[1] == 8 && v[2] == 0 && v[3] == 0);
    OK(MPI_T_pvar_readreset(s, got, v));
    ck_assert(v[0] == 10 && v[1] == 0 && v[2] == 0 && v[3] == 9);
    OK(MPI_T_pvar_read(s, got, v));
    ck_assert(v[3] == 0);
    OK(MPI_T_pvar_read(s, all_got, v));
    ck_assert_uint_eq(v[0], 119);
    OK(MPI_T_pvar_read(s, sums, v));
    ck_assert(v[0] == 0 && v[1] == 7);
    fake_comm_free(2);
    ck_assert_int_eq(MPI_T_pvar_read(s, all_got, v), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(a_sum_over_members_is_a_counter)
{
    MPI_T_pvar_session s = session_open();
    struct fake_comm_words *words;
    MPI_T_pvar_handle h;
    unsigned long long v;
    int n = -1;

    fake_comm_make(2);
    words = fake_comms[2].words;
    words->n_msgs = 1000;
    words->members[0].n_got = 50;
    words->members[FAKE_SIZE - 1].n_got = 60;
    h = pvar_open_on(s, "fake_each_got", MPI_T_PVAR_CLASS_AGGREGATE, 2, &n);
    ck_assert_int_eq(n, 1);
    OK(MPI_T_pvar_start(s, h));
    ck_assert_uint_eq(pvar_u64(s, h), 0);
    words->members[0].n_got += 3;
    words->members[FAKE_SIZE - 1].n_got += 4;
    ck_assert_uint_eq(pvar_u64(s, h), 7);
    OK(MPI_T_pvar_readreset(s, h, &v));
    ck_assert_uint_eq(v, 7);
    words->members[1].n_got += 5;
    OK(MPI_T_pvar_stop(s, h));
    words->members[1].n_got += 6;
    ck_assert_uint_eq(pvar_u64(s, h), 5);
    OK(MPI_T_pvar_session_free(&s));
    fake_comm_free(2);
}
END_TEST

START_TEST(bound_variables_follow_their_object)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle one, two, high;
    struct {
        int value, guard;
    } length = {-1, 0x5a5a5a5a};
    MPI_Comm none = (MPI_Comm)0x1234, unmade = fake_comm_handle(5);
    int n = -1, umq = pvar_named("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL);
    MPI_Datatype type;
    int bind;

    OK(MPI_T_pvar_get_info(umq, NULL, NULL, NULL, NULL, &type, NULL, NULL, NULL, &bind, NULL, NULL,
                           NULL));
    ck_assert_ptr_eq(type, MPI_INT);
    ck_assert_int_eq(bind, MPI_T_BIND_MPI_COMM);
    fake_comm_make(0);
    fake_comm_make(1);
    one = pvar_open_on(s, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, 0, &n);
    ck_assert_int_eq(n, 1);
    two = pvar_open_on(s, "MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, 1, &n);
    high = pvar_open_on(s, "fake_umq_high", MPI_T_PVAR_CLASS_HIGHWATERMARK, 1, &n);
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    fathom_level_set(&fake_comms[0].words->umq, 3);
    fathom_level_set(&fake_comms[1].words->umq, 40);
    OK(MPI_T_pvar_read(s, one, &length));
    ck_assert_int_eq(length.value, 3);
    ck_assert_int_eq(length.guard, 0x5a5a5a5a);
    OK(MPI_T_pvar_read(s, two, &length));
    ck_assert_int_eq(length.value, 40);
    fathom_level_set(&fake_comms[1].words->umq, UINT64_C(1) << 40);
    OK(MPI_T_pvar_read(s, two, &length));
    ck_assert_int_eq(length.value, 0x7fffffff);
    GIVES(MPI_T_pvar_handle_alloc(s, umq, NULL, &high, &n), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_handle_alloc(s, umq, &none, &high, &n), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_handle_alloc(s, umq, &unmade, &high, &n), MPI_T_ERR_INVALID);
    fake_comm_free(1);
    GIVES(MPI_T_pvar_read(s, two, &length), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_stop(s, two), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_read(s, one, &length));
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_handle_free(s, &two)); /* the handle of a gone object can still be freed */
    fake_comm_make(1);                   /* the same place again: old handles stay invalid */
    GIVES(MPI_T_pvar_read(s, high, &length), MPI_T_ERR_INVALID_HANDLE);
    fake_comm_free(0);
    fake_comm_free(1);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(bad_handles_are_refused)
{
    MPI_T_pvar_session s = session_open(), bad_s = (MPI_T_pvar_session)0x5555;
    MPI_T_pvar_handle h = pvar_open(s, "fake_done", MPI_T_PVAR_CLASS_COUNTER), old = h;
    MPI_T_pvar_handle bad[] = {MPI_T_PVAR_HANDLE_NULL, (MPI_T_pvar_handle)0xdeadbeef,
                               (MPI_T_pvar_handle)(uintptr_t)-1, (MPI_T_pvar_handle)(void *)&s,
                               (MPI_T_pvar_handle)(void *)s};
    unsigned long long v;
    size_t i;
    int n;

    for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        GIVES(MPI_T_pvar_read(s, bad[i], &v), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_write(s, bad[i], &v), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_start(s, bad[i]), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_stop(s, bad[i]), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_reset(s, bad[i]), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_readreset(s, bad[i], &v), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_handle_free(s, &bad[i]), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_read(bad_s, bad[i], &v), MPI_T_ERR_INVALID_SESSION);
    }
    GIVES(MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, &v), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_write(s, MPI_T_PVAR_ALL_HANDLES, &v), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_readreset(s, MPI_T_PVAR_ALL_HANDLES, &v), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_start(bad_s, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    GIVES(MPI_T_pvar_read(s, h, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_handle_alloc(bad_s, 0, NULL, &h, &n), MPI_T_ERR_INVALID_SESSION);
    GIVES(MPI_T_pvar_handle_alloc(s, -1, NULL, &h, &n), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_pvar_handle_alloc(s, 100000, NULL, &h, &n), MPI_T_ERR_INVALID_INDEX);
    OK(MPI_T_pvar_handle_free(s, &h));
    GIVES(MPI_T_pvar_read(s, old, &v), MPI_T_ERR_INVALID_HANDLE);
    h = pvar_open(s, "fake_done", MPI_T_PVAR_CLASS_COUNTER); /* takes the same slot */
    ck_assert_ptr_ne(h, old);
    GIVES(MPI_T_pvar_read(s, old, &v), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_session_free(&s));
    GIVES(MPI_T_pvar_read(s, h, &v), MPI_T_ERR_INVALID_SESSION);
}
END_TEST

START_TEST(scalars_come_first_and_classes_share_names)
{
    int n, i, bind, place, last = 0, klass, readonly, atomic, index;
    MPI_T_pvar_session s = session_open();
    char name[64];
    int len;

    fake_comm_make(0);
    OK(MPI_T_pvar_get_num(&n));
    for (i = 0; i < n; i++) {
        MPI_Comm c = fake_comm_handle(0);
        MPI_T_pvar_handle h;
        int count;

        len = sizeof(name);
        OK(MPI_T_pvar_get_info(i, name, &len, NULL, &klass, NULL, NULL, NULL, NULL, &bind,
                               &readonly, NULL, &atomic));
        ck_assert_int_eq(len, (int)strlen(name) + 1);
        ck_assert_ptr_null(strpbrk(name, ":; "));
        OK(MPI_T_pvar_get_index(name, klass, &index));
        ck_assert_int_eq(index, i);
        ck_assert_int_ne(readonly, atomic);
        OK(MPI_T_pvar_handle_alloc(s, i, &c, &h, &count));
        place = strcmp(name, "fake_counts") == 0 || strcmp(name, "fake_sent") == 0 ||
                        strcmp(name, "fake_got") == 0 || strcmp(name, "fake_asked_both") == 0 ||
                        strcmp(name, "fake_sums") == 0
                    ? 2
                    : bind != MPI_T_BIND_NO_OBJECT;
        ck_assert_int_ge(place, last);
        last = place;
    }
    GIVES(MPI_T_pvar_get_index("fake_depth", MPI_T_PVAR_CLASS_TIMER, &index),
          MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_pvar_get_index("fake", MPI_T_PVAR_CLASS_TIMER, &index), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_TIMER, &index), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_get_index("fake_done", MPI_T_PVAR_CLASS_COUNTER, NULL), MPI_T_ERR_INVALID);
    fake_comm_free(0);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

/* The host sees how many handles are started, however they were and however they end. */
START_TEST(started_handles_are_counted)
{
    MPI_T_pvar_session s = session_open(), t = session_open();
    MPI_T_pvar_handle a = pvar_open(s, "fake_asked", MPI_T_PVAR_CLASS_TIMER);
    MPI_T_pvar_handle b = pvar_open(s, "fake_asked_both", MPI_T_PVAR_CLASS_TIMER);
    MPI_T_pvar_handle c = pvar_open(t, "fake_asked", MPI_T_PVAR_CLASS_TIMER);
    MPI_T_pvar_handle other = pvar_open(t, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    unsigned long long both[2];
    int provided;

    ck_assert_uint_eq(fake->n_asking, 0);
    OK(MPI_T_pvar_start(s, a));
    OK(MPI_T_pvar_start(s, a)); /* it is started already */
    ck_assert_uint_eq(fake->n_asking, 1);
    OK(MPI_T_pvar_start(t, MPI_T_PVAR_ALL_HANDLES));
    ck_assert_uint_eq(fake->n_asking, 2);
    OK(MPI_T_pvar_start(s, b));
    ck_assert_uint_eq(fake->n_asking, 3);
    fake->asked[0] += 5;
    fake->asked[1] += 7;
    ck_assert_uint_eq(pvar_u64(s, a), 5);
    OK(MPI_T_pvar_reset(s, a));
    OK(MPI_T_pvar_readreset(s, b, both));
    ck_assert_uint_eq(both[1], 7);
    ck_assert_uint_eq(fake->n_asking, 3);
    OK(MPI_T_pvar_stop(s, a));
    OK(MPI_T_pvar_stop(s, a));
    ck_assert_uint_eq(fake->n_asking, 2);
    OK(MPI_T_pvar_handle_free(s, &a)); /* a stopped one */
    OK(MPI_T_pvar_handle_free(t, &c)); /* a started one */
    OK(MPI_T_pvar_handle_free(t, &other));
    ck_assert_uint_eq(fake->n_asking, 1);
    OK(MPI_T_pvar_session_free(&s));
    ck_assert_uint_eq(fake->n_asking, 0);
    c = pvar_open(t, "fake_asked", MPI_T_PVAR_CLASS_TIMER);
    OK(MPI_T_pvar_start(t, c));
    ck_assert_uint_eq(fake->n_asking, 1);
    OK(MPI_T_finalize()); /* the last tool goes */
    ck_assert_uint_eq(fake->n_asking, 0);
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
}
END_TEST

START_TEST(many_handles_come_and_go)
{
    enum { N = 5000 };
    static MPI_T_pvar_handle h[N];
    MPI_T_pvar_session s = session_open();
    int i, round;

    for (round = 0; round < 3; round++) {
        for (i = 0; i < N; i++) {
            h[i] = pvar_open(s, "fake_depth", MPI_T_PVAR_CLASS_LEVEL + 3 * (i & 1));
            ck_assert(i == 0 || h[i] != h[i - 1]);
        }
        for (i = round; i < N; i += 2) {
            OK(MPI_T_pvar_handle_free(s, &h[i]));
        }
    }
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

int main(void)
{
    const TTest *tests[] = {counters_count_since_start,
                            sums_are_counters_like_others,
                            counters_are_written_and_read_reset,
                            any_amount_is_taken,
                            doubles_and_narrow_types,
                            states_levels_sizes_and_percentages_show_the_word,
                            percentages_are_shares,
                            what_is_left_begins_with_all,
                            generic_can_be_writable,
                            continuous_variables_cannot_be_started,
                            sessions_do_not_touch_each_other,
                            watermarks_are_independent,
                            watermarks_agree_with_a_slow_count,
                            arrays_and_members,
                            a_sum_over_members_is_a_counter,
                            bound_variables_follow_their_object,
                            bad_handles_are_refused,
                            scalars_come_first_and_classes_share_names,
                            started_handles_are_counted,
                            many_handles_come_and_go,
                            levels_and_sizes_are_shown_as_they_are};

    return suite_run(suite_of("mpit_pvar", tests, (int)(sizeof(tests) / sizeof(tests[0]))));
}

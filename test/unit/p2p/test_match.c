/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching against a plain list model: after every random operation both must name the same entry.
 * Entries are numbered; the model keeps them in two arrays in the order in which they came.
 */
#include "core/p2p/match.h"

#include <check.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

#include "support/oracle_row.h"
#include "support/suite.h"

#define N_NODES 600 /* of each sort, queued or not */

/* The registry is not linked: marks and events are counted here. */
static uint64_t n_marks, n_events, last_values[4];
static const char *last_event;

void fathom_mpit_mark(struct fathom_level *level)
{
    n_marks++;
    if (level->now > level->hi_mark) {
        level->high = level->hi_mark = level->now;
    }
}

void fathom_mpit_emit(const struct fathom_event *event, const void *block, const void *object,
                      const uint64_t *values)
{
    n_events++;
    last_event = event->name;
    memcpy(last_values, values, sizeof(last_values));
}

/* Cheaper than ck_assert, which notes each place where it passes. */
#define must(x)                                                                                    \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            ck_abort_msg("not true: %s", #x);                                                      \
        }                                                                                          \
    } while (0)

/* ---- The model ------------------------------------------------------------------------------ */

struct model {
    int posted[N_NODES], unexpected[N_NODES]; /* numbers of nodes, oldest first */
    int n_posted, n_unexpected;
    /* What steps follow from where no two keys share a chain. */
    int single;     /* number of the receive that is kept aside; -1: none */
    int n_wild[4];  /* receives in queues by kind: bit 0 any source, bit 1 any tag */
    unsigned filed; /* kinds for which messages are filed since there are any; bit 0: always */
};

static struct fm_match_counters counters;
static struct fm_match *m;
static struct model model;
static struct fm_posted posted[N_NODES];
static struct fm_unexpected unexpected[N_NODES];
static uint64_t seed;

/* The model's own counts. */
static struct {
    uint64_t n_attempts, n_steps, n_posted_hits, n_unexpected_hits, n_wildcards;
    int posted_high, unexpected_high;
} counts;

static unsigned random_below(unsigned n)
{
    seed ^= seed << 13;
    seed ^= seed >> 7;
    seed ^= seed << 17;
    return (unsigned)((seed >> 11) % n);
}

static bool fits(const struct fm_match_key *r, const struct fm_match_key *msg)
{
    return r->context == msg->context && (r->source < 0 || r->source == msg->source) &&
           (r->tag < 0 || r->tag == msg->tag);
}

static void take(int *list, int *n, int at)
{
    memmove(list + at, list + at + 1, (size_t)(*n - at - 1) * sizeof(*list));
    --*n;
}

static int model_find_posted(const struct fm_match_key *msg)
{
    for (int k = 0; k < model.n_posted; k++) {
        if (fits(&posted[model.posted[k]].key, msg)) {
            return k;
        }
    }
    return -1;
}

static int model_find_unexpected(const struct fm_match_key *r)
{
    for (int k = 0; k < model.n_unexpected; k++) {
        if (fits(r, &unexpected[model.unexpected[k]].key)) {
            return k;
        }
    }
    return -1;
}

static int kind_of(const struct fm_match_key *key)
{
    return (key->source < 0) + 2 * (key->tag < 0);
}

/* A receive came into the model's queue, or left it. */
static void model_post(int k)
{
    counts.n_steps++;
    if (model.n_posted == 0) {
        model.single = k;
    } else {
        model.n_wild[kind_of(&posted[k].key)]++;
    }
    model.posted[model.n_posted++] = k;
}

static void model_unpost(int at)
{
    int k = model.posted[at];

    if (model.single == k) {
        model.single = -1;
    } else {
        model.n_wild[kind_of(&posted[k].key)]--;
    }
    take(model.posted, &model.n_posted, at);
}

/* Queues that an arrival looks at: the receive aside, then one for each kind that there is. */
static void model_arrival_steps(const struct fm_match_key *msg)
{
    counts.n_steps += model.single >= 0;
    if (model.single >= 0 && fits(&posted[model.single].key, msg)) {
        return;
    }
    if (model.n_posted == (model.single >= 0)) {
        return;
    }
    if (model.n_wild[1] + model.n_wild[2] + model.n_wild[3] == 0) {
        counts.n_steps++;
        return;
    }
    for (int kind = 0; kind < 4; kind++) {
        counts.n_steps += model.n_wild[kind] > 0;
    }
}

/* A search for a message: the first of its kind files all of them. */
static void model_search_steps(const struct fm_match_key *r)
{
    unsigned bit = 1u << kind_of(r);

    if (model.n_unexpected == 0) {
        return;
    }
    counts.n_steps += model.filed & bit ? 0 : (uint64_t)model.n_unexpected;
    model.filed |= bit;
    counts.n_steps++;
}

static void model_keep(int k)
{
    counts.n_steps += (uint64_t)__builtin_popcount(model.filed);
    model.unexpected[model.n_unexpected++] = k;
}

static void model_drop(int at)
{
    take(model.unexpected, &model.n_unexpected, at);
    model.filed = model.n_unexpected ? model.filed : 1;
}

static void start(uint64_t buckets_first, uint64_t buckets_max)
{
    memset(&counters, 0, sizeof(counters));
    memset(&model, 0, sizeof(model));
    model.single = -1;
    model.filed = 1;
    memset(posted, 0, sizeof(posted));
    memset(unexpected, 0, sizeof(unexpected));
    memset(&counts, 0, sizeof(counts));
    n_marks = n_events = 0;
    counters.buckets_first = buckets_first;
    counters.buckets_max = buckets_max;
    seed = 88172645463325252u;
    ck_assert_int_eq(fm_match_create(&counters, &m), 0);
}

static void setup(void)
{
    start(0, 0);
}

static void teardown(void)
{
    fm_match_destroy(m);
    m = NULL;
}

/* ---- One random operation on both ----------------------------------------------------------- */

struct mix {
    unsigned n_contexts, n_sources, n_tags;
    unsigned any_source_pct, any_tag_pct;
    unsigned arrive_pct; /* of arrivals among arrivals and receives */
};

static struct fm_match_key message_key(const struct mix *mix)
{
    return (struct fm_match_key){.context = random_below(mix->n_contexts) * 2,
                                 .source = (int32_t)random_below(mix->n_sources),
                                 .tag = (int32_t)random_below(mix->n_tags)};
}

static struct fm_match_key receive_key(const struct mix *mix)
{
    struct fm_match_key key = message_key(mix);

    if (random_below(100) < mix->any_source_pct) {
        key.source = FM_ANY_SOURCE;
    }
    if (random_below(100) < mix->any_tag_pct) {
        key.tag = FM_ANY_TAG;
    }
    return key;
}

static void arrive(const struct mix *mix)
{
    struct fm_match_key key = message_key(mix);
    int at = model_find_posted(&key);
    struct fm_posted *got = fm_match_arrival(m, &key);

    counts.n_attempts++;
    counts.n_posted_hits += at >= 0;
    model_arrival_steps(&key);
    if (at >= 0) {
        must(got == &posted[model.posted[at]]);
        must(!got->queue);
        model_unpost(at);
        return;
    }
    must(!got);
    for (int k = 0; k < N_NODES; k++) {
        if (!unexpected[k].queue[0]) {
            unexpected[k].key = key;
            must(fm_match_keep(m, &unexpected[k]) == 0);
            model_keep(k);
            return;
        }
    }
}

/* One that is not queued; -1: all are. */
static int free_posted(void)
{
    int k = 0;

    while (k < N_NODES && posted[k].queue) {
        k++;
    }
    return k < N_NODES ? k : -1;
}

/* By two calls, or by the one that does both. */
static void receive(const struct mix *mix)
{
    struct fm_match_key key = receive_key(mix);
    int at = model_find_unexpected(&key), k = free_posted();
    bool is_one_call = k >= 0 && random_below(2);
    struct fm_unexpected *got;

    if (is_one_call) {
        posted[k].key = key;
        must(fm_match_take_or_post(m, &posted[k], &got) == 0);
    } else {
        got = fm_match_receive(m, &key);
    }
    counts.n_attempts++;
    counts.n_unexpected_hits += at >= 0;
    counts.n_wildcards += key.source < 0 || key.tag < 0;
    model_search_steps(&key);
    if (at >= 0) {
        must(got == &unexpected[model.unexpected[at]]);
        must(k < 0 || !posted[k].queue);
        model_drop(at);
        return;
    }
    must(!got);
    if (!is_one_call && k >= 0) {
        posted[k].key = key;
        must(fm_match_post(m, &posted[k]) == 0);
    }
    if (k >= 0) {
        model_post(k);
    }
}

static void probe(const struct mix *mix)
{
    struct fm_match_key key = receive_key(mix);
    int at = model_find_unexpected(&key);

    counts.n_attempts++;
    model_search_steps(&key);
    ck_assert_ptr_eq(fm_match_probe(m, &key), at >= 0 ? &unexpected[model.unexpected[at]] : NULL);
}

/* Cancel a receive or drop a message, queued or not. */
static void take_back(void)
{
    int k = (int)random_below(N_NODES);
    bool was_queued = false;

    if (random_below(2)) {
        for (int at = 0; at < model.n_posted; at++) {
            if (model.posted[at] == k) {
                model_unpost(at);
                was_queued = true;
            }
        }
        must(fm_match_unpost(m, &posted[k]) == was_queued);
        return;
    }
    for (int at = 0; at < model.n_unexpected; at++) {
        if (model.unexpected[at] == k) {
            model_drop(at);
            was_queued = true;
        }
    }
    must(fm_match_drop(m, &unexpected[k]) == was_queued);
}

static int each_at;

static void check_posted(struct fm_posted *p, void *ctx)
{
    must(each_at < model.n_posted);
    must(p == &posted[model.posted[each_at++]]);
    if (ctx) {
        ck_assert(fm_match_unpost(m, p));
    }
}

static void check_unexpected(struct fm_unexpected *u, void *ctx)
{
    must(each_at < model.n_unexpected);
    must(u == &unexpected[model.unexpected[each_at++]]);
    if (ctx) {
        ck_assert(fm_match_drop(m, u));
    }
}

static void check_each(bool take_out)
{
    void *ctx = take_out ? &each_at : NULL;

    each_at = 0;
    fm_match_each_posted(m, check_posted, ctx);
    ck_assert_int_eq(each_at, model.n_posted);
    each_at = 0;
    fm_match_each_unexpected(m, check_unexpected, ctx);
    ck_assert_int_eq(each_at, model.n_unexpected);
}

static int larger(int a, int b)
{
    return a > b ? a : b;
}

#define SAME(name, should) ORACLE_ROW(&fm_match_vars, &counters, name, 0, ==, should)

static void check_counts(void)
{
#if FM_STATS
    SAME("match_attempts", counts.n_attempts);
    SAME("match_posted_hits", counts.n_posted_hits);
    SAME("match_unexpected_hits", counts.n_unexpected_hits);
    SAME("match_wildcards", counts.n_wildcards);
    SAME("match_posted_length", model.n_posted);
    SAME("match_posted_length_high", counts.posted_high);
    SAME("match_unexpected_length", model.n_unexpected);
    SAME("match_unexpected_length_high", counts.unexpected_high);
#endif
}

static void check_levels(void)
{
    counts.posted_high = larger(counts.posted_high, model.n_posted);
    counts.unexpected_high = larger(counts.unexpected_high, model.n_unexpected);
#if FM_STATS
    must(counters.prq_len.now == (uint64_t)model.n_posted);
    must(counters.umq_len.now == (uint64_t)model.n_unexpected);
#endif
}

static void run(struct mix mix, int n)
{
    for (int k = 0; k < n; k++) {
        unsigned dice = random_below(100);

        if (dice < 8) {
            probe(&mix);
        } else if (dice < 14) {
            take_back();
        } else if (random_below(100) < mix.arrive_pct) {
            arrive(&mix);
        } else {
            receive(&mix);
        }
        check_levels();
        if (k % 8192 == 0) {
            check_each(false);
            check_counts();
        }
        if (k % 1000 == 0) { /* lean to the other side for a while: queues fill and drain */
            mix.arrive_pct = 25 + random_below(51);
        }
    }
    check_each(true);
    model.n_posted = model.n_unexpected = 0;
    check_each(false);
}

#define N_EACH 170000

/* A million operations in all. */
static const struct mix mixes[] = {
    {1, 2, 2, 30, 30, 50},    {1, 8, 8, 10, 10, 50}, {3, 100, 100, 0, 0, 50},
    {2, 40, 10000, 5, 5, 50}, {2, 5, 5, 50, 50, 50}, {4, 1, 1, 100, 100, 50},
};

START_TEST(a_million_operations_as_in_the_model)
{
    run(mixes[_i], N_EACH);
}
END_TEST

START_TEST(the_same_when_all_keys_collide)
{
    teardown();
    start(2, 2);
    run(mixes[_i], N_EACH / 5);
    ck_assert_uint_le(counters.table_bytes, 2 * 2 * sizeof(void *) + 64 * 4096);
}
END_TEST

#if FM_STATS
/* So many buckets that no two of these few keys have the same. */
START_TEST(steps_as_in_the_model)
{
    struct mix mix = mixes[_i];

    mix.n_sources = mix.n_sources < 8 ? mix.n_sources : 8;
    mix.n_tags = mix.n_tags < 8 ? mix.n_tags : 8;
    teardown();
    start(1 << 20, 1 << 20);
    for (int k = 0; k < 20; k++) {
        run(mix, 1000);
        SAME("match_steps", counts.n_steps);
        SAME("match_attempts", counts.n_attempts);
        model.n_wild[0] = model.n_wild[1] = model.n_wild[2] = model.n_wild[3] = 0;
        model.single = -1;
        model.filed = 1;
    }
}
END_TEST

START_TEST(nothing_waits_when_all_is_over)
{
    posted[0].key = (struct fm_match_key){.source = 1, .tag = 1};
    unexpected[0].key = (struct fm_match_key){.source = 1, .tag = 2};
    ck_assert_int_eq(fm_match_post(m, &posted[0]), 0);
    ck_assert_int_eq(fm_match_keep(m, &unexpected[0]), 0);
    SAME("match_posted_length", 1);
    SAME("match_unexpected_length", 1);
    teardown();
    SAME("match_posted_length", 0);
    SAME("match_unexpected_length", 0);
    SAME("match_table_bytes", 0);
}
END_TEST
#endif

START_TEST(contexts_are_apart)
{
    struct fm_match_key a = {.context = 2, .source = 1, .tag = 7};
    struct fm_match_key wild = {.context = 3, .source = FM_ANY_SOURCE, .tag = FM_ANY_TAG};

    unexpected[0].key = a;
    ck_assert_int_eq(fm_match_keep(m, &unexpected[0]), 0);
    ck_assert_ptr_null(fm_match_receive(m, &wild));
    posted[0].key = wild;
    ck_assert_int_eq(fm_match_post(m, &posted[0]), 0);
    ck_assert_ptr_null(fm_match_arrival(m, &a));
    wild.context = 2;
    ck_assert_ptr_eq(fm_match_receive(m, &wild), &unexpected[0]);
}
END_TEST

/* Wildcards make messages be filed anew once in a busy time, not for every receive. */
START_TEST(wildcards_file_messages_once)
{
    struct fm_match_key wild = {.context = 0, .source = FM_ANY_SOURCE, .tag = 3};

    for (int round = 1; round <= 3; round++) {
        for (int k = 0; k < N_NODES; k++) {
            unexpected[k].key = (struct fm_match_key){.source = k, .tag = k % 4};
            ck_assert_int_eq(fm_match_keep(m, &unexpected[k]), 0);
        }
        ck_assert_ptr_null(unexpected[0].queue[1]);
        for (int k = 3; k < N_NODES; k += 4) {
            ck_assert_ptr_eq(fm_match_receive(m, &wild), &unexpected[k]);
        }
        ck_assert_ptr_null(fm_match_receive(m, &wild));
        ck_assert_ptr_nonnull(unexpected[0].queue[1]);
        ck_assert_ptr_null(unexpected[0].queue[2]);
#if FM_STATS
        SAME("match_indexings", round);
#endif
        for (int k = 0; k < N_NODES; k++) {
            fm_match_drop(m, &unexpected[k]);
        }
    }
}
END_TEST

/* Keys that never come back must not pile up queues. */
START_TEST(tables_do_not_grow_with_time)
{
    uint64_t bytes = 0;

    for (int k = 0; k < 100000; k++) {
        posted[0].key = (struct fm_match_key){.source = k % 7, .tag = k};
        ck_assert_int_eq(fm_match_post(m, &posted[0]), 0);
        ck_assert_ptr_eq(fm_match_arrival(m, &posted[0].key), &posted[0]);
        bytes = k == 1000 ? counters.table_bytes : bytes;
    }
    ck_assert_uint_eq(counters.table_bytes, bytes);
}
END_TEST

/* Of the sanitizers, which have heaps of their own; gcc has no header that declares it. */
size_t __sanitizer_get_current_allocated_bytes(void);

/* What the heap has given. */
static uint64_t heap_bytes(void)
{
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
    return __sanitizer_get_current_allocated_bytes();
#else
    struct mallinfo2 now = mallinfo2();

    return now.uordblks + now.hblkhd;
#endif
}

/* Memory of the tables is what the heap has given for them. */
START_TEST(table_bytes_are_those_of_the_heap)
{
    uint64_t before, given;

    teardown();
    before = heap_bytes();
    start(0, 0);
    for (int k = 0; k < N_NODES; k++) {
        posted[k].key = (struct fm_match_key){.source = k % 7, .tag = k};
        ck_assert_int_eq(fm_match_post(m, &posted[k]), 0);
    }
    given = heap_bytes() - before;
    ORACLE_ROW(&fm_match_vars, &counters, "match_table_bytes", 0, <=, given);
    ORACLE_ROW(&fm_match_vars, &counters, "match_table_bytes", 0, >=, given - given / 8 - 1024);
    for (int k = 0; k < N_NODES; k++) {
        ck_assert(fm_match_unpost(m, &posted[k]));
    }
}
END_TEST

#if FM_STATS
/*
 * Keys in two chains, of a and b queues. Making them looks at every queue that is there, or at an
 * empty chain: 1 + a(a-1)/2 and 1 + b(b-1)/2. Finding them in the same order, each moving to the
 * front, looks at whole chains: a*a and b*b. Before all of them stands one more receive, which is
 * kept aside, and looked at first by each arrival.
 */
START_TEST(steps_and_rehashes_are_counted)
{
    enum { N = 50 };
    uint64_t making, at = 1, n_rehashes = 0;

    teardown();
    start(2, 2);
    posted[N].key = (struct fm_match_key){.source = 2};
    ck_assert_int_eq(fm_match_post(m, &posted[N]), 0);
    SAME("match_steps", 1);
    for (int k = 0; k < N; k++) {
        posted[k].key = (struct fm_match_key){.source = 1, .tag = k};
        ck_assert_int_eq(fm_match_post(m, &posted[k]), 0);
        if ((uint64_t)k >= at) { /* as many queues as the table likes, then twice as many */
            n_rehashes++;
            at = 2 * (uint64_t)k;
        }
    }
    SAME("match_rehashes", n_rehashes);
    making = oracle_value(&fm_match_vars, &counters, "match_steps", 0) - 1;
    for (int k = 0; k < N; k++) {
        ck_assert_ptr_eq(fm_match_arrival(m, &posted[k].key), &posted[k]);
    }
    SAME("match_steps", 1 + making + 2 * (making - 2) + N + N);
}
END_TEST

START_TEST(gone_wildcards_cost_nothing)
{
    uint64_t before;

    for (int k = 0; k < 4; k++) {
        posted[k].key = (struct fm_match_key){.source = k & 1 ? FM_ANY_SOURCE : 5,
                                              .tag = k & 2 ? FM_ANY_TAG : 6};
        ck_assert_int_eq(fm_match_post(m, &posted[k]), 0);
    }
    for (int k = 1; k < 4; k++) {
        ck_assert(fm_match_unpost(m, &posted[k]));
    }
    before = oracle_value(&fm_match_vars, &counters, "match_steps", 0);
    ck_assert_ptr_eq(fm_match_arrival(m, &posted[0].key), &posted[0]);
    SAME("match_steps", before + 1);
    ck_assert_ptr_null(fm_match_arrival(m, &posted[0].key));
    SAME("match_steps", before + 1);
}
END_TEST

START_TEST(words_tell_what_happened)
{
    struct fm_match_key key = {.context = 4, .source = 2, .tag = 9};
    struct fm_match_key wild = {.context = 4, .source = FM_ANY_SOURCE, .tag = 9};

    counters.on_umq_in = counters.on_umq_out = counters.on_posted = counters.on_matched = 1;
    posted[0].key = wild;
    ck_assert_ptr_null(fm_match_receive(m, &wild));
    ck_assert_int_eq(fm_match_post(m, &posted[0]), 0);
    ck_assert_str_eq(last_event, "match_receive_posted");
    ck_assert_int_eq((int)last_values[1], FM_ANY_SOURCE);
    ck_assert_ptr_eq(fm_match_arrival(m, &key), &posted[0]);
    ck_assert_str_eq(last_event, "match_receive_matched");
    ck_assert_uint_eq(last_values[1], 2);
    ck_assert_ptr_null(fm_match_arrival(m, &key));
    unexpected[0].key = key;
    ck_assert_int_eq(fm_match_keep(m, &unexpected[0]), 0);
    ck_assert_str_eq(last_event, "match_unexpected_queued");
    ck_assert_uint_eq(last_values[3], 1);
    ck_assert_ptr_eq(fm_match_probe(m, &wild), &unexpected[0]);
    ck_assert_uint_eq(n_events, 3); /* each of them once, and none for a probe */
    ck_assert_ptr_eq(fm_match_receive(m, &key), &unexpected[0]);
    ck_assert_str_eq(last_event, "match_unexpected_matched");
    ck_assert_uint_eq(last_values[0], 4);
    ck_assert_uint_eq(last_values[3], 0);
    ck_assert_uint_eq(n_events, 4);

    SAME("match_attempts", 5);
    SAME("match_posted_hits", 1);
    ck_assert_uint_eq(counters.n_unexpected_hits, 1);
    ck_assert_uint_eq(counters.n_wildcards, 1);
    ck_assert_uint_eq(counters.prq_len.high, 1);
    ck_assert_uint_eq(counters.umq_len.high, 1);
    ck_assert_uint_eq(n_marks, 2);
}
END_TEST
#endif

int main(void)
{
    Suite *suite = suite_create("match");
    TCase *tc = tcase_create("model");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, a_million_operations_as_in_the_model, 0, FM_ARRAY_LEN(mixes));
    tcase_add_loop_test(tc, the_same_when_all_keys_collide, 0, FM_ARRAY_LEN(mixes));
    tcase_add_test(tc, contexts_are_apart);
    tcase_add_test(tc, wildcards_file_messages_once);
    tcase_add_test(tc, table_bytes_are_those_of_the_heap);
    tcase_add_test(tc, tables_do_not_grow_with_time);
#if FM_STATS
    tcase_add_loop_test(tc, steps_as_in_the_model, 0, FM_ARRAY_LEN(mixes));
    tcase_add_test(tc, nothing_waits_when_all_is_over);
    tcase_add_test(tc, gone_wildcards_cost_nothing);
    tcase_add_test(tc, words_tell_what_happened);
    tcase_add_test(tc, steps_and_rehashes_are_counted);
#endif
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

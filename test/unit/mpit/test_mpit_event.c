/* SPDX-License-Identifier: BSD-3-Clause */
/* Events: sources, registrations, safety levels, waiting, dropping, and callbacks that act. */
#include <time.h>

#include "unit/mpit/mpit_test.h"

/* What callbacks saw, in order. */
#define N_SEEN 4096
static struct seen {
    int number, level, source;
    double real;
    MPI_Count when;
    void *user_data;
    MPI_T_event_registration reg;
} seen[N_SEEN];
static int n_seen, n_freed, n_dropped_calls, freed_level;
static MPI_Count n_dropped;
static MPI_T_event_instance old_instance;

static void forget(void)
{
    n_seen = n_freed = n_dropped_calls = 0;
    n_dropped = 0;
    freed_level = -1;
}

static void see(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                void *user_data)
{
    struct seen *s = &seen[n_seen++ % N_SEEN];

    old_instance = in;
    s->level = (int)level;
    s->user_data = user_data;
    s->reg = reg;
    OK(MPI_T_event_read(in, 0, &s->number));
    OK(MPI_T_event_read(in, 1, &s->real));
    OK(MPI_T_event_get_timestamp(in, &s->when));
    OK(MPI_T_event_get_source(in, &s->source));
}

static void see_freed(MPI_T_event_registration reg, MPI_T_cb_safety level, void *user_data)
{
    (void)reg;
    n_freed++;
    freed_level = (int)level;
    ck_assert_ptr_eq(user_data, &n_freed);
}

static void see_dropped(MPI_Count n, MPI_T_event_registration reg, int source,
                        MPI_T_cb_safety level, void *user_data)
{
    (void)reg;
    (void)level;
    ck_assert(source >= 0);
    ck_assert_ptr_eq(user_data, &seen);
    n_dropped += n;
    n_dropped_calls++;
    ck_assert_int_eq(n_seen, 0); /* before the next event */
}

static MPI_T_event_registration event_open(const char *name)
{
    MPI_T_event_registration r = NULL;

    OK(MPI_T_event_handle_alloc(event_named(name), NULL, MPI_INFO_NULL, &r));
    return r;
}

static void event_on(MPI_T_event_registration r, MPI_T_cb_safety level, void *user_data)
{
    OK(MPI_T_event_register_callback(r, level, MPI_INFO_NULL, user_data, see));
}

START_TEST(sources_have_a_true_clock)
{
    MPI_Count ticks, max, a, b;
    MPI_T_source_order order;
    struct timespec t;
    int n, i, len;
    char name[32];
    MPI_Info info;

    OK(MPI_T_source_get_num(&n));
    ck_assert_int_ge(n, 1);
    for (i = 0; i < n; i++) {
        len = sizeof(name);
        OK(MPI_T_source_get_info(i, name, &len, NULL, NULL, &order, &ticks, &max, &info));
        ck_assert(order == (i == 1 ? MPI_T_SOURCE_UNORDERED : MPI_T_SOURCE_ORDERED));
        ck_assert_int_eq(ticks, 1000000000);
        OK(MPI_T_source_get_timestamp(i, &a));
        clock_gettime(CLOCK_MONOTONIC, &t);
        OK(MPI_T_source_get_timestamp(i, &b));
        ck_assert(a <= (MPI_Count)t.tv_sec * 1000000000 + t.tv_nsec);
        ck_assert(b >= (MPI_Count)t.tv_sec * 1000000000 + t.tv_nsec && b <= max);
    }
    OK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    GIVES(MPI_T_source_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
          MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_source_get_timestamp(-1, &a), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_source_get_timestamp(0, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_source_get_num(NULL), MPI_T_ERR_INVALID);
}
END_TEST

START_TEST(elements_are_described_and_copied)
{
    MPI_Datatype types[3] = {0};
    MPI_Aint at[3] = {-1, -1, -1};
    int n = 3, i = event_named("fake_plain"), bind, verbosity;

    OK(MPI_T_event_get_info(i, NULL, NULL, &verbosity, types, at, &n, NULL, NULL, NULL, NULL,
                            &bind));
    ck_assert_int_eq(n, 3);
    ck_assert_ptr_eq(types[0], MPI_INT);
    ck_assert_ptr_eq(types[1], MPI_DOUBLE);
    ck_assert(at[0] == 0 && at[1] == 8 && at[2] == 16);
    ck_assert_int_eq(bind, MPI_T_BIND_NO_OBJECT);
    n = 1;
    types[1] = MPI_CHAR;
    OK(MPI_T_event_get_info(i, NULL, NULL, NULL, types, at, &n, NULL, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(n, 3); /* what would be needed; only one was filled */
    ck_assert_ptr_eq(types[1], MPI_CHAR);
    n = 2;
    OK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, &n, NULL, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(n, 3);
    OK(MPI_T_event_get_info(i, NULL, NULL, NULL, types, at, NULL, NULL, NULL, NULL, NULL, NULL));
    GIVES(
        MPI_T_event_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
        MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_get_index("nothing", &i), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_event_get_num(NULL), MPI_T_ERR_INVALID);
}
END_TEST

static struct {
    int number;
    double real;
    int colour, guard;
} copied;

static void copy(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                 void *user_data)
{
    int i;

    (void)reg;
    (void)level;
    (void)user_data;
    copied.guard = 99;
    OK(MPI_T_event_copy(in, &copied));
    GIVES(MPI_T_event_read(in, 3, &i), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_read(in, -1, &i), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_read(in, 0, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_copy(in, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_get_timestamp(in, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_get_source(in, NULL), MPI_T_ERR_INVALID);
}

START_TEST(callbacks_see_the_event)
{
    MPI_T_event_registration r = event_open("fake_plain");
    MPI_Count before, after;
    int i;

    forget();
    ck_assert_uint_eq(fake->on_plain, 0);
    event_on(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, &seen);
    ck_assert_uint_ne(fake->on_plain, 0);
    OK(MPI_T_source_get_timestamp(0, &before));
    fake_raise(-42, 2.5, FATHOM_SAFE_RESTRICTED);
    OK(MPI_T_source_get_timestamp(0, &after));
    ck_assert_int_eq(n_seen, 1);
    ck_assert_int_eq(seen[0].number, -42);
    ck_assert_double_eq(seen[0].real, 2.5);
    ck_assert_int_eq(seen[0].level, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    ck_assert_int_eq(seen[0].source, 0);
    ck_assert_ptr_eq(seen[0].user_data, &seen);
    ck_assert_ptr_eq(seen[0].reg, r);
    ck_assert(seen[0].when >= before && seen[0].when <= after);
    /* The instance ended with its callback. */
    GIVES(MPI_T_event_read(old_instance, 0, &i), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_copy(old_instance, &copied), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_get_timestamp(old_instance, &after), MPI_T_ERR_INVALID_HANDLE);
    ck_assert(after >= before && after <= before + 3600 * INT64_C(1000000000)); /* as it was */
    GIVES(MPI_T_event_get_source(NULL, &i), MPI_T_ERR_INVALID_HANDLE);
    /* The callback is replaced. */
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL,
                                     copy));
    fake_raise(7, -1.25, FATHOM_SAFE_RESTRICTED);
    ck_assert_int_eq(n_seen, 1);
    ck_assert_int_eq(copied.number, 7);
    ck_assert_double_eq(copied.real, -1.25);
    ck_assert_int_eq(copied.colour, FAKE_BLUE);
    ck_assert_int_eq(copied.guard, 99);
    /* And removed. */
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL,
                                     NULL));
    ck_assert_uint_eq(fake->on_plain, 0);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
}
END_TEST

START_TEST(the_lowest_sufficient_level_is_called)
{
    static const int levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                 MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
    int have, need, i, lowest;

    for (have = 1; have < 16; have++) {
        for (need = 0; need < 4; need++) {
            MPI_T_event_registration r = event_open("fake_plain");

            forget();
            lowest = -1;
            for (i = 3; i >= 0; i--) {
                if (have & 1 << i) {
                    event_on(r, (MPI_T_cb_safety)levels[i], (void *)&levels[i]);
                    lowest = i >= need ? i : lowest;
                }
            }
            fake_raise(1, 0, levels[need]);
            ck_assert_int_eq(n_seen, lowest >= 0);
            if (lowest >= 0) {
                ck_assert_ptr_eq(seen[0].user_data, &levels[lowest]);
                ck_assert_int_eq(seen[0].level, levels[need]);
                ck_assert_int_eq(seen[0].source, need >= 2);
            } else {
                ck_assert_uint_ne(fathom_mpit_waiting, 0);
                fathom_mpit_poll();
                ck_assert_int_eq(n_seen, 1);
                ck_assert_int_eq(seen[0].level, MPI_T_CB_REQUIRE_NONE);
            }
            ck_assert_uint_eq(fathom_mpit_waiting, 0);
            OK(MPI_T_event_handle_free(r, NULL, NULL));
        }
    }
}
END_TEST

START_TEST(waiting_events_keep_their_order)
{
    MPI_T_event_registration late = event_open("fake_plain"), soon = event_open("fake_plain");
    int i;

    forget();
    event_on(late, MPI_T_CB_REQUIRE_NONE, NULL);
    event_on(soon, MPI_T_CB_REQUIRE_MPI_RESTRICTED, NULL);
    for (i = 0; i < 100; i++) {
        fake_raise(i, 0, FATHOM_SAFE_RESTRICTED);
    }
    fathom_mpit_poll();
    ck_assert_int_eq(n_seen, 200);
    for (i = 1; i < 200; i++) {
        ck_assert(seen[i].when >= seen[i - 1].when);
        ck_assert_int_ge(seen[i].number, seen[i - 1].number);
    }
    OK(MPI_T_event_handle_free(late, NULL, NULL));
    OK(MPI_T_event_handle_free(soon, NULL, NULL));
}
END_TEST

START_TEST(a_full_queue_drops_and_says_so)
{
    MPI_T_event_registration r = event_open("fake_plain");
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle dropped = pvar_open(s, "mpit_events_dropped", MPI_T_PVAR_CLASS_COUNTER);
    MPI_Info info;
    int i, room;

    forget();
    OK(MPI_T_pvar_start(s, dropped));
    OK(MPI_T_event_handle_get_info(r, &info));
    room = atoi(fake_info_value(info, "fathom_event_queue"));
    ck_assert_int_gt(room, 0);
    OK(MPI_T_event_set_dropped_handler(r, see_dropped));
    event_on(r, MPI_T_CB_REQUIRE_NONE, &seen);
    for (i = 0; i < room + 10; i++) {
        fake_raise(i, 0, FATHOM_SAFE_RESTRICTED);
    }
    ck_assert_int_eq(n_dropped_calls, 0);
    fathom_mpit_poll();
    ck_assert_int_eq(n_dropped_calls, 1);
    ck_assert_int_eq(n_dropped, 10);
    ck_assert_int_eq(n_seen, room);
    ck_assert_uint_eq(pvar_u64(s, dropped), 10);
    n_seen = 0;
    fake_raise(1, 0, FATHOM_SAFE_RESTRICTED);
    fathom_mpit_poll();
    ck_assert_int_eq(n_seen, 1);
    ck_assert_int_eq(n_dropped_calls, 1);
    OK(MPI_T_event_set_dropped_handler(r, NULL));
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    GIVES(MPI_T_event_set_dropped_handler(r, NULL), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_session_free(&s));
}
END_TEST

START_TEST(free_tells_when_it_is_over)
{
    MPI_T_event_registration r = event_open("fake_plain"), again;

    forget();
    event_on(r, MPI_T_CB_REQUIRE_NONE, NULL);
    fake_raise(1, 0, FATHOM_SAFE_RESTRICTED); /* waits */
    OK(MPI_T_event_handle_free(r, &n_freed, see_freed));
    ck_assert_int_eq(n_freed, 1);
    ck_assert_int_eq(freed_level, MPI_T_CB_REQUIRE_NONE);
    fathom_mpit_poll();
    ck_assert_int_eq(n_seen, 0); /* never after the free callback */
    GIVES(MPI_T_event_handle_free(r, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, see),
          MPI_T_ERR_INVALID_HANDLE);
    again = event_open("fake_plain"); /* takes the same slot */
    ck_assert_ptr_ne(r, again);
    event_on(again, MPI_T_CB_REQUIRE_NONE, NULL);
    fake_raise(2, 0, FATHOM_SAFE_ANY);
    ck_assert_int_eq(n_seen, 1);
    OK(MPI_T_event_handle_free(again, NULL, NULL));
}
END_TEST

static void free_itself(MPI_T_event_instance in, MPI_T_event_registration reg,
                        MPI_T_cb_safety level, void *user_data)
{
    int number;

    (void)level;
    n_seen++;
    OK(MPI_T_event_handle_free(reg, user_data, see_freed));
    ck_assert_int_eq(n_freed, 0); /* not while its callback runs */
    OK(MPI_T_event_read(in, 0, &number));
    fake_raise(number + 1, 0, FATHOM_SAFE_RESTRICTED); /* nobody listens any more */
}

START_TEST(a_callback_may_free_its_registration)
{
    MPI_T_event_registration r = event_open("fake_plain");

    forget();
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, &n_freed,
                                     free_itself));
    fake_raise(1, 0, FATHOM_SAFE_RESTRICTED);
    ck_assert_int_eq(n_seen, 1);
    ck_assert_int_eq(n_freed, 1);
    ck_assert_int_eq(freed_level, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    ck_assert_uint_eq(fake->on_plain, 0);
}
END_TEST

static int depth, deepest;

static void use_the_interface(MPI_T_event_instance in, MPI_T_event_registration reg,
                              MPI_T_cb_safety level, void *user_data)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_cvar_handle c = cvar_open("fake_limit");
    unsigned long long v = 2000;
    int number;

    (void)reg;
    (void)level;
    (void)user_data;
    depth++;
    deepest = depth > deepest ? depth : deepest;
    n_seen++;
    OK(MPI_T_event_read(in, 0, &number));
    OK(MPI_T_cvar_write(c, &v));                       /* raises mpit_cvar_written */
    fake_raise(number - 1, 0, FATHOM_SAFE_RESTRICTED); /* raises itself */
    OK(MPI_T_cvar_handle_free(&c));
    OK(MPI_T_pvar_session_free(&s));
    depth--;
}

static void count_writes(MPI_T_event_instance in, MPI_T_event_registration reg,
                         MPI_T_cb_safety level, void *user_data)
{
    int index;

    (void)reg;
    (void)level;
    OK(MPI_T_event_read(in, 0, &index));
    ck_assert_int_eq(index, cvar_named("fake_limit"));
    ++*(int *)user_data;
}

/* Also where what a callback raises may run at once: it waits until the callback has returned. */
static void callbacks_call_mpit(MPI_T_cb_safety level)
{
    MPI_T_event_registration r = event_open("fake_plain"), w = event_open("mpit_cvar_written");
    int n_writes = 0, i;

    forget();
    deepest = 0;
    OK(MPI_T_event_register_callback(r, level, MPI_INFO_NULL, NULL, use_the_interface));
    OK(MPI_T_event_register_callback(w, level, MPI_INFO_NULL, &n_writes, count_writes));
    fake_raise(10, 0, FATHOM_SAFE_ANY);
    for (i = 0; i < 20; i++) {
        fathom_mpit_poll(); /* each time what the time before caused: it does not go on for ever */
    }
    ck_assert_int_ge(n_seen, 10);
    ck_assert_int_eq(deepest, 1); /* a callback is not called inside itself */
    ck_assert_int_ge(n_writes, 10);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    OK(MPI_T_event_handle_free(w, NULL, NULL));
}

START_TEST(callbacks_may_call_mpit)
{
    callbacks_call_mpit(MPI_T_CB_REQUIRE_NONE);
    callbacks_call_mpit(MPI_T_CB_REQUIRE_MPI_RESTRICTED);
}
END_TEST

static void count_bound(MPI_T_event_instance in, MPI_T_event_registration reg,
                        MPI_T_cb_safety level, void *user_data)
{
    unsigned long long n;

    (void)reg;
    (void)level;
    OK(MPI_T_event_read(in, 0, &n));
    *(unsigned long long *)user_data += n;
}

START_TEST(bound_events_are_of_one_object)
{
    MPI_Comm c0 = fake_comm_handle(0), c1 = fake_comm_handle(1), none = fake_comm_handle(6);
    MPI_T_event_registration r0, r1;
    unsigned long long n0 = 0, n1 = 0;
    int i = event_named("fake_bound");

    fake_comm_make(0);
    fake_comm_make(1);
    OK(MPI_T_event_handle_alloc(i, &c0, MPI_INFO_NULL, &r0));
    OK(MPI_T_event_handle_alloc(i, &c1, MPI_INFO_NULL, &r1));
    GIVES(MPI_T_event_handle_alloc(i, &none, MPI_INFO_NULL, &r1), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &r1), MPI_T_ERR_INVALID);
    OK(MPI_T_event_register_callback(r0, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &n0,
                                     count_bound));
    OK(MPI_T_event_register_callback(r1, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &n1,
                                     count_bound));
    fake_raise_on(0, 5);
    fake_raise_on(1, 7);
    fake_raise_on(2, 100);
    ck_assert_uint_eq(n0, 5);
    ck_assert_uint_eq(n1, 7);
    fake_comm_free(1);
    fake_raise_on(1, 7);
    ck_assert_uint_eq(n1, 7);
    fake_raise_on(0, 1);
    ck_assert_uint_eq(n0, 6);
    OK(MPI_T_event_handle_free(r1, NULL, NULL));
    OK(MPI_T_event_handle_free(r0, NULL, NULL));
    ck_assert_uint_eq(fake->on_bound, 0);
    fake_comm_free(0);
}
END_TEST

START_TEST(hints_and_bad_arguments)
{
    MPI_Info info = fake_info_make("fathom_event_queue", "64"), bad = (MPI_Info)0x3;
    MPI_T_event_registration r = NULL, none = (MPI_T_event_registration)0x99;
    int i = event_named("fake_empty");

    GIVES(MPI_T_event_handle_alloc(i, NULL, bad, &r), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_event_handle_alloc(i, NULL, info, &r));
    OK(MPI_T_event_handle_get_info(r, &info));
    ck_assert_str_eq(fake_info_value(info, "fathom_event_queue"), "64");
    OK(MPI_T_event_handle_set_info(r, info));
    GIVES(MPI_T_event_handle_set_info(r, bad), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_handle_set_info(none, info), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_handle_get_info(none, &info), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_handle_get_info(r, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_register_callback(r, (MPI_T_cb_safety)0x7, MPI_INFO_NULL, NULL, copy),
          MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_register_callback(none, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, copy),
          MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, bad, NULL, copy),
          MPI_T_ERR_INVALID);
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, info, NULL, copy));
    OK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info));
    OK(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, info));
    GIVES(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_THREAD_SAFE, info), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_handle_free(none, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
}
END_TEST

/* The first registration says how many events can wait; what is no such number is no hint. */
START_TEST(hints_are_numbers_of_events)
{
    static const struct {
        const char *hint, *room;
    } cases[] = {{"16", "16"},   {"17", "32"},     {"1", "16"},  {"2000", "2048"},   {"0", "1024"},
                 {"-5", "1024"}, {"some", "1024"}, {"", "1024"}, {"1048577", "1024"}};
    MPI_T_event_registration r;
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    unsigned long long n_free;
    MPI_Info info;
    size_t i;
    int provided;

    for (i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        OK(MPI_T_finalize());
        OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
        info = fake_info_make("fathom_event_queue", cases[i].hint);
        OK(MPI_T_event_handle_alloc(event_named("fake_plain"), NULL, info, &r));
        OK(MPI_T_event_handle_get_info(r, &info));
        ck_assert_str_eq(fake_info_value(info, "fathom_event_queue"), cases[i].room);
        s = session_open();
        h = pvar_open(s, "mpit_event_queue_free_low", MPI_T_PVAR_CLASS_LOWWATERMARK);
        OK(MPI_T_pvar_read(s, h, &n_free));
        ck_assert_uint_eq(n_free, (unsigned long long)atoi(cases[i].room));
        OK(MPI_T_pvar_session_free(&s));
    }
    info = fake_info_make("fathom_event_queue", "16"); /* comes too late */
    OK(MPI_T_event_handle_alloc(event_named("fake_plain"), NULL, info, &r));
    OK(MPI_T_event_handle_get_info(r, &info));
    ck_assert_str_eq(fake_info_value(info, "fathom_event_queue"), "1024");
}
END_TEST

/* A registration that nobody freed ends with the last tool, and its slot serves the next one. */
START_TEST(registrations_end_with_the_tool)
{
    const uintptr_t number = 0xfffffff; /* of the slot */
    MPI_T_event_registration first = event_open("fake_empty"), second;
    int provided;

    OK(MPI_T_finalize());
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    second = event_open("fake_empty");
    ck_assert_ptr_ne(first, second);
    ck_assert_uint_eq((uintptr_t)first & number, (uintptr_t)second & number);
    GIVES(MPI_T_event_handle_free(first, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_event_handle_free(second, NULL, NULL));
}
END_TEST

static void end_the_tool(MPI_T_event_instance in, MPI_T_event_registration reg,
                         MPI_T_cb_safety level, void *user_data)
{
    (void)in;
    (void)reg;
    (void)level;
    (void)user_data;
    OK(MPI_T_finalize());
}

START_TEST(a_callback_may_end_the_tool)
{
    MPI_T_event_registration r = event_open("fake_plain");
    int provided;

    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, end_the_tool));
    fake_raise(1, 0, FATHOM_SAFE_ANY);
    fake_raise(1, 0, FATHOM_SAFE_ANY);
    ck_assert_uint_eq(fake->on_plain, 0);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    r = event_open("fake_plain");
    forget();
    event_on(r, MPI_T_CB_REQUIRE_NONE, NULL);
    fake_raise(1, 0, FATHOM_SAFE_ANY);
    ck_assert_int_eq(n_seen, 1);
}
END_TEST

START_TEST(callbacks_are_replaced_without_end)
{
    MPI_T_event_registration r = event_open("fake_plain");
    int i;

    forget();
    for (i = 0; i < 100000; i++) {
        event_on(r, MPI_T_CB_REQUIRE_NONE, NULL);
    }
    fake_raise(1, 0, FATHOM_SAFE_ANY);
    ck_assert_int_eq(n_seen, 1);
    /* The fixture ends the tool with the registration alive: it is cleaned up. */
}
END_TEST

static struct {
    MPI_Count first, second, clock;
    int n;
} late;

/* The first event causes a second one, and asks when it was itself only then. */
static void ask_late(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                     void *user_data)
{
    (void)reg, (void)level, (void)user_data;
    if (late.n++ > 0) {
        OK(MPI_T_event_get_timestamp(in, &late.second));
        return;
    }
    fake_raise(2, 0, FATHOM_SAFE_RESTRICTED);
    OK(MPI_T_event_get_timestamp(in, &late.first));
}

static void ask_after_the_clock(MPI_T_event_instance in, MPI_T_event_registration reg,
                                MPI_T_cb_safety level, void *user_data)
{
    (void)reg, (void)level, (void)user_data;
    OK(MPI_T_source_get_timestamp(0, &late.clock));
    OK(MPI_T_event_get_timestamp(in, &late.first));
}

/* A stamp that is taken when it is asked for is still the earlier one. */
START_TEST(time_stamps_that_are_asked_for_late)
{
    MPI_T_event_registration r = event_open("fake_plain");

    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL,
                                     ask_late));
    late.n = 0;
    fake_raise(1, 0, FATHOM_SAFE_RESTRICTED);
    fathom_mpit_poll();
    ck_assert_int_eq(late.n, 2);
    ck_assert_int_gt(late.first, 0);
    ck_assert_int_le(late.first, late.second);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    r = event_open("fake_plain");
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, NULL,
                                     ask_after_the_clock));
    for (int i = 0; i < 3; i++) {
        fake_raise(1, 0, FATHOM_SAFE_RESTRICTED);
        ck_assert_int_le(late.first, late.clock);
    }
    OK(MPI_T_event_handle_free(r, NULL, NULL));
}
END_TEST

int main(void)
{
    const TTest *tests[] = {
        time_stamps_that_are_asked_for_late,   sources_have_a_true_clock,
        elements_are_described_and_copied,     callbacks_see_the_event,
        the_lowest_sufficient_level_is_called, waiting_events_keep_their_order,
        a_full_queue_drops_and_says_so,        free_tells_when_it_is_over,
        a_callback_may_free_its_registration,  callbacks_may_call_mpit,
        bound_events_are_of_one_object,        hints_and_bad_arguments,
        hints_are_numbers_of_events,           registrations_end_with_the_tool,
        a_callback_may_end_the_tool,           callbacks_are_replaced_without_end};

    return suite_run(suite_of("mpit_event", tests, (int)(sizeof(tests) / sizeof(tests[0]))));
}

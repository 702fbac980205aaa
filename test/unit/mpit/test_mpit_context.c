/* SPDX-License-Identifier: BSD-3-Clause */
/* Where callbacks run and what they are told of it (MPI-5.0 15.3.8.2, 15.3.8.4); who hears of
   events that were dropped, and when (15.3.8.5). */
#include <signal.h>

#include "unit/mpit/mpit_test.h"

static MPI_T_event_registration event_open(const char *name)
{
    MPI_T_event_registration r = NULL;

    OK(MPI_T_event_handle_alloc(event_named(name), NULL, MPI_INFO_NULL, &r));
    return r;
}

static void event_on(MPI_T_event_registration r, MPI_T_cb_safety level, void *user_data,
                     MPI_T_event_cb_function fn)
{
    OK(MPI_T_event_register_callback(r, level, MPI_INFO_NULL, user_data, fn));
}

static void count(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                  void *user_data)
{
    (void)in, (void)reg, (void)level;
    ++*(int *)user_data;
}

/* ---- dropped events ---- */

/* A registration that loses what it cannot queue, and one of another event of the same source. */
static struct {
    MPI_T_event_registration loser, other;
    int n_lost_events, n_other_events, n_calls, source, calls_at_first_other;
    MPI_Count n_lost;
    MPI_T_event_registration reg;
    void *user_data;
    MPI_T_cb_safety level;
} loss;

static void on_loss(MPI_Count n, MPI_T_event_registration reg, int source, MPI_T_cb_safety level,
                    void *user_data)
{
    loss.n_calls++;
    loss.n_lost += n;
    loss.reg = reg;
    loss.source = source;
    loss.level = level;
    loss.user_data = user_data;
}

static void on_second_handler(MPI_Count n, MPI_T_event_registration reg, int source,
                              MPI_T_cb_safety level, void *user_data)
{
    (void)reg, (void)source, (void)level, (void)user_data;
    loss.n_lost += 1000 * n;
}

static void on_other(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                     void *user_data)
{
    (void)in, (void)reg, (void)level, (void)user_data;
    if (loss.n_other_events++ == 0) {
        loss.calls_at_first_other = loss.n_calls;
    }
}

static void on_thread_event(MPI_T_event_instance in, MPI_T_event_registration reg,
                            MPI_T_cb_safety level, void *user_data)
{
    (void)in, (void)reg, (void)level;
    ck_assert_int_eq(loss.n_calls, 1);
    ++*(int *)user_data;
}

static void loss_open(void)
{
    MPI_Comm comm = fake_comm_handle(0);

    memset(&loss, 0, sizeof(loss));
    fake_comm_make(0);
    loss.loser = event_open("fake_plain");
    OK(MPI_T_event_handle_alloc(event_named("fake_bound"), &comm, MPI_INFO_NULL, &loss.other));
    event_on(loss.loser, MPI_T_CB_REQUIRE_NONE, &loss.n_lost_events, count);
    event_on(loss.other, MPI_T_CB_REQUIRE_NONE, NULL, on_other);
}

static void loss_close(void)
{
    OK(MPI_T_event_handle_free(loss.loser, NULL, NULL));
    OK(MPI_T_event_handle_free(loss.other, NULL, NULL));
    fathom_mpit_poll();
    fake_comm_free(0);
}

/* One event of the other registration first, then as many as find place, and n more. How many find
   place. */
static int lose(int n)
{
    MPI_Info info;
    int i, room;

    OK(MPI_T_event_handle_get_info(loss.loser, &info));
    room = atoi(fake_info_value(info, "fathom_event_queue"));
    fake_raise_on(0, 1);
    for (i = 0; i < room - 1 + n; i++) {
        fake_raise(i, 0, FATHOM_SAFE_RESTRICTED);
    }
    return room;
}

START_TEST(losses_are_told_before_the_next_event_of_the_source)
{
    loss_open();
    OK(MPI_T_event_set_dropped_handler(loss.loser, on_loss));
    lose(7);
    ck_assert_int_eq(loss.n_calls, 0);
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_other_events, 1);
    ck_assert_int_eq(loss.calls_at_first_other, 1); /* though that event is of another type */
    ck_assert_int_eq(loss.n_calls, 1);
    ck_assert_int_eq(loss.n_lost, 7);
    ck_assert_ptr_eq(loss.reg, loss.loser);
    ck_assert_int_eq(loss.source, 0);
    ck_assert_int_eq(loss.level, MPI_T_CB_REQUIRE_NONE);
    ck_assert_ptr_eq(loss.user_data, &loss.n_lost_events); /* of the event callback */
    ck_assert_uint_eq(fathom_mpit_waiting, 0);
    loss_close();
}
END_TEST

START_TEST(without_a_handler_no_loss_is_recorded)
{
    loss_open();
    lose(7);
    OK(MPI_T_event_set_dropped_handler(loss.loser, on_loss));
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_calls, 0);
    lose(3);
    OK(MPI_T_event_set_dropped_handler(loss.loser, NULL)); /* forgets them */
    OK(MPI_T_event_set_dropped_handler(loss.loser, on_loss));
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_calls, 0);
    lose(3);
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_lost, 3);
    lose(2);
    OK(MPI_T_event_set_dropped_handler(loss.loser, on_second_handler));
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_calls, 1);
    ck_assert_int_eq(loss.n_lost, 2003);
    loss_close();
}
END_TEST

/* The handler is called as the event callback would be, with its user_data. */
START_TEST(a_handler_needs_a_callback_that_may_run)
{
    int data = 0;

    loss_open();
    OK(MPI_T_event_set_dropped_handler(loss.loser, on_loss));
    lose(4);
    event_on(loss.loser, MPI_T_CB_REQUIRE_NONE, NULL, NULL);
    fathom_mpit_poll(); /* nobody is there to be told */
    ck_assert_int_eq(loss.n_calls, 0);
    event_on(loss.loser, MPI_T_CB_REQUIRE_THREAD_SAFE, &data, count);
    lose(1);
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_calls, 1);
    ck_assert_int_eq(loss.n_lost, 5);
    ck_assert_ptr_eq(loss.user_data, &data);
    loss_close();
}
END_TEST

static void swap_other(MPI_T_cb_safety from, MPI_T_cb_safety to)
{
    event_on(loss.other, from, NULL, NULL);
    event_on(loss.other, to, NULL, on_other);
}

/* Where the handler may not be called it is not forgotten, whether events still wait or not. */
START_TEST(losses_are_kept_until_they_can_be_told)
{
    int i, room;

    loss_open();
    OK(MPI_T_event_set_dropped_handler(loss.loser, on_loss));
    room = lose(4);
    swap_other(MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    fake_raise_on(0, 1);
    ck_assert_int_eq(loss.n_other_events, 1); /* the oldest: it may run here */
    ck_assert_int_eq(loss.n_calls, 0);
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_calls, 1);
    ck_assert_int_eq(loss.n_lost, 4);
    swap_other(MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_NONE);
    for (i = 0; i < room; i++) {
        fake_raise_on(0, 1);
    }
    fake_raise(1, 0, FATHOM_SAFE_SIGNAL); /* is lost */
    swap_other(MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED);
    loss.n_other_events = 0;
    fake_raise_on(0, 1);
    ck_assert_int_eq(loss.n_other_events, room); /* nothing waits any more */
    ck_assert_int_eq(loss.n_calls, 1);
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_calls, 2);
    ck_assert_int_eq(loss.n_lost, 5);
    ck_assert_int_eq(loss.source, 1);
    loss_close();
}
END_TEST

/* Of the source without order: told where it is next raised, or where the host delivers. */
START_TEST(losses_in_signal_handlers_are_told_outside)
{
    MPI_T_event_registration newest;
    int n_thread = 0, n_newest = 0, k;

    loss_open();
    newest = event_open("fake_plain"); /* comes first */
    for (k = 0; k < 2; k++) {
        lose(0);
        event_on(loss.loser, MPI_T_CB_REQUIRE_NONE, NULL, NULL);
        event_on(loss.loser, MPI_T_CB_REQUIRE_THREAD_SAFE, &n_thread, count);
        OK(MPI_T_event_set_dropped_handler(loss.loser, on_loss));
        fake_raise(1, 0, FATHOM_SAFE_SIGNAL); /* nobody may be called, and the queue is full */
        ck_assert_int_eq(loss.n_calls, k);
        if (k == 0) {
            event_on(newest, MPI_T_CB_REQUIRE_THREAD_SAFE, &n_newest, on_thread_event);
            fake_raise(2, 0, FATHOM_SAFE_THREAD);
            ck_assert_int_eq(n_newest, 1); /* the first loss was told before: see there */
            event_on(newest, MPI_T_CB_REQUIRE_THREAD_SAFE, NULL, NULL);
        }
        fathom_mpit_poll();
        ck_assert_int_eq(loss.n_calls, k + 1);
        ck_assert_int_eq(loss.n_lost, k + 1);
        ck_assert_int_eq(loss.source, 1);
        ck_assert_int_eq(loss.level, k == 0 ? MPI_T_CB_REQUIRE_THREAD_SAFE : MPI_T_CB_REQUIRE_NONE);
        event_on(loss.loser, MPI_T_CB_REQUIRE_NONE, &loss.n_lost_events, count);
        event_on(loss.loser, MPI_T_CB_REQUIRE_THREAD_SAFE, NULL, NULL);
        OK(MPI_T_event_set_dropped_handler(loss.loser, NULL));
    }
    OK(MPI_T_event_handle_free(newest, NULL, NULL));
    loss_close();
}
END_TEST

static void handler_frees(MPI_Count n, MPI_T_event_registration reg, int source,
                          MPI_T_cb_safety level, void *user_data)
{
    (void)n, (void)source, (void)level, (void)user_data;
    loss.n_calls++;
    OK(MPI_T_event_handle_free(reg, NULL, NULL));
    loss.n_lost_events = 0;
}

START_TEST(a_handler_may_free_its_registration)
{
    loss_open();
    OK(MPI_T_event_set_dropped_handler(loss.loser, handler_frees));
    lose(5);
    fathom_mpit_poll();
    ck_assert_int_eq(loss.n_calls, 1);
    ck_assert_int_eq(loss.n_other_events, 1);
    ck_assert_int_eq(loss.n_lost_events, 0); /* nothing of it after that */
    ck_assert_uint_eq(fathom_mpit_waiting, 0);
    loss.loser = event_open("fake_plain");
    loss_close();
}
END_TEST

/* ---- where callbacks run ---- */

static int freed_level;

static void on_freed(MPI_T_event_registration reg, MPI_T_cb_safety level, void *user_data)
{
    (void)reg, (void)user_data;
    freed_level = (int)level;
}

static void free_another(MPI_T_event_instance in, MPI_T_event_registration reg,
                         MPI_T_cb_safety level, void *user_data)
{
    MPI_T_event_registration *another = user_data;

    (void)in, (void)reg, (void)level;
    OK(MPI_T_event_handle_free(*another, NULL, on_freed));
}

static void on_freed_frees(MPI_T_event_registration reg, MPI_T_cb_safety level, void *user_data)
{
    MPI_T_event_registration *another = user_data;

    (void)reg, (void)level;
    OK(MPI_T_event_handle_free(*another, NULL, on_freed));
}

static void free_oneself(MPI_T_event_instance in, MPI_T_event_registration reg,
                         MPI_T_cb_safety level, void *user_data)
{
    (void)in, (void)level;
    OK(MPI_T_event_handle_free(reg, user_data, on_freed_frees));
}

/* A free callback that runs inside of a callback must bear what that one must. */
START_TEST(free_callbacks_know_where_they_run)
{
    static const int levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                 MPI_T_CB_REQUIRE_THREAD_SAFE};
    MPI_T_event_registration r = event_open("fake_plain"), another;
    int i;

    event_on(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &another, free_another);
    for (i = 0; i < 3; i++) {
        another = event_open("fake_empty");
        freed_level = -1;
        fake_raise(1, 0, levels[i]);
        ck_assert_int_eq(freed_level, levels[i]);
    }
    /* So must one that is called because of a free callback, which runs after its callback. */
    event_on(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, &another, free_oneself);
    another = event_open("fake_empty");
    fake_raise(1, 0, FATHOM_SAFE_THREAD);
    ck_assert_int_eq(freed_level, MPI_T_CB_REQUIRE_THREAD_SAFE);
    r = event_open("fake_plain");
    another = event_open("fake_empty");
    OK(MPI_T_event_handle_free(another, NULL, on_freed));
    ck_assert_int_eq(freed_level, MPI_T_CB_REQUIRE_NONE); /* outside again */
    OK(MPI_T_event_handle_free(r, NULL, NULL));
}
END_TEST

static int written_level;

static void on_written(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                       void *user_data)
{
    (void)in, (void)reg, (void)user_data;
    written_level = (int)level;
}

static void write_a_variable(MPI_T_event_instance in, MPI_T_event_registration reg,
                             MPI_T_cb_safety level, void *user_data)
{
    MPI_T_cvar_handle c = cvar_open("fake_limit");
    unsigned long long v = 2000;

    (void)in, (void)reg, (void)level, (void)user_data;
    OK(MPI_T_cvar_write(c, &v)); /* raises mpit_cvar_written */
    OK(MPI_T_cvar_handle_free(&c));
}

/* An event that a callback causes is raised where that callback runs. */
START_TEST(events_inside_callbacks_know_where_they_are)
{
    MPI_T_event_registration r = event_open("fake_plain"), w = event_open("mpit_cvar_written");

    event_on(r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, NULL, write_a_variable);
    event_on(w, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, NULL, on_written);
    written_level = -1;
    fake_raise(1, 0, FATHOM_SAFE_THREAD);
    ck_assert_int_eq(written_level, MPI_T_CB_REQUIRE_THREAD_SAFE);
    /* One that may not run there waits, and is not delivered by the write itself. */
    event_on(w, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, NULL, NULL);
    event_on(w, MPI_T_CB_REQUIRE_NONE, NULL, on_written);
    written_level = -1;
    fake_raise(1, 0, FATHOM_SAFE_THREAD);
    ck_assert_int_eq(written_level, -1);
    fathom_mpit_poll();
    ck_assert_int_eq(written_level, MPI_T_CB_REQUIRE_NONE);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    OK(MPI_T_event_handle_free(w, NULL, NULL));
}
END_TEST

static struct {
    int depth, deepest, n_dropped;
} nest;

static void raise_inside(MPI_T_event_instance in, MPI_T_event_registration reg,
                         MPI_T_cb_safety level, void *user_data)
{
    int number;

    (void)reg, (void)level, (void)user_data;
    nest.deepest = ++nest.depth > nest.deepest ? nest.depth : nest.deepest;
    if (nest.depth < 100) {
        fake_raise(nest.depth, 0, FATHOM_SAFE_THREAD);
    }
    OK(MPI_T_event_read(in, 0, &number)); /* its own data, whatever was shown meanwhile */
    ck_assert_int_eq(number, --nest.depth);
}

static void on_nested_loss(MPI_Count n, MPI_T_event_registration reg, int source,
                           MPI_T_cb_safety level, void *user_data)
{
    (void)reg, (void)source, (void)level, (void)user_data;
    nest.n_dropped += (int)n;
}

/* Of the source without order, callbacks may run inside of each other; as deep as there are
   instances to show, and what comes deeper is dropped. */
START_TEST(callbacks_inside_callbacks)
{
    MPI_T_event_registration r = event_open("fake_plain");

    event_on(r, MPI_T_CB_REQUIRE_THREAD_SAFE, NULL, raise_inside);
    OK(MPI_T_event_set_dropped_handler(r, on_nested_loss));
    for (int i = 1; i <= 2; i++) {
        nest.deepest = 0;
        fake_raise(0, 0, FATHOM_SAFE_THREAD);
        ck_assert_int_eq(nest.depth, 0);
        ck_assert_int_eq(nest.deepest, 64);
        fathom_mpit_poll();
        ck_assert_int_eq(nest.n_dropped, i);
    }
    OK(MPI_T_event_handle_free(r, NULL, NULL));
}
END_TEST

/* ---- in a signal handler ---- */

static struct {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle counter, mark;
    int n_calls;
} in_signal;

/* What takes a lock or memory is not accessible, and says so (15.3.8.2). */
static void locked_calls(MPI_T_event_registration reg)
{
    MPI_T_cvar_handle c = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_session s = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle p = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_event_registration r = NULL;
    MPI_Info info = MPI_INFO_NULL;
    unsigned long long v = 1;
    int n;

#define AWAY(call) GIVES(call, MPI_T_ERR_NOT_ACCESSIBLE)
    AWAY(MPI_T_init_thread(MPI_THREAD_SINGLE, &n));
    AWAY(MPI_T_finalize());
    AWAY(MPI_T_cvar_handle_alloc(0, NULL, &c, &n));
    AWAY(MPI_T_cvar_handle_free(&c));
    AWAY(MPI_T_cvar_read(c, &v));
    AWAY(MPI_T_cvar_write(c, &v));
    AWAY(MPI_T_pvar_session_create(&s));
    AWAY(MPI_T_pvar_session_free(&s));
    AWAY(MPI_T_pvar_handle_alloc(s, 0, NULL, &p, &n));
    AWAY(MPI_T_pvar_handle_free(s, &p));
    AWAY(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &r));
    AWAY(MPI_T_event_handle_set_info(reg, MPI_INFO_NULL));
    AWAY(MPI_T_event_handle_get_info(reg, &info));
    AWAY(MPI_T_event_register_callback(reg, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, count));
    AWAY(MPI_T_event_callback_set_info(reg, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    AWAY(MPI_T_event_callback_get_info(reg, MPI_T_CB_REQUIRE_NONE, &info));
    AWAY(MPI_T_event_handle_free(reg, NULL, NULL));
    AWAY(MPI_T_event_set_dropped_handler(reg, on_loss));
    AWAY(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &info));
    AWAY(
        MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &info, NULL, NULL, NULL));
#undef AWAY
}

/* These always are (15.3.8.2's table), and what only looks up as well. */
static void free_calls(MPI_T_event_instance in)
{
    MPI_T_pvar_handle hs[] = {in_signal.counter, in_signal.mark};
    MPI_T_pvar_session s = in_signal.session;
    unsigned long long v = 5;
    char data[64];
    MPI_Count when;
    int n, i;

    OK(MPI_T_event_read(in, 0, data));
    OK(MPI_T_event_copy(in, data));
    OK(MPI_T_event_get_timestamp(in, &when));
    OK(MPI_T_event_get_source(in, &n));
    ck_assert_int_eq(n, 1);
    OK(MPI_T_source_get_timestamp(n, &when));
    for (i = 0; i < 2; i++) {
        OK(MPI_T_pvar_stop(s, hs[i]));
        OK(MPI_T_pvar_write(s, hs[i], &v));
        OK(MPI_T_pvar_read(s, hs[i], &v));
        ck_assert_uint_eq(v, 5);
        OK(MPI_T_pvar_start(s, hs[i]));
        OK(MPI_T_pvar_reset(s, hs[i]));
        OK(MPI_T_pvar_readreset(s, hs[i], &v));
        v = 5;
    }
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_cvar_get_num(&n));
    OK(MPI_T_pvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                           NULL));
}

static void on_signal_event(MPI_T_event_instance in, MPI_T_event_registration reg,
                            MPI_T_cb_safety level, void *user_data)
{
    (void)user_data;
    ck_assert_int_eq(level, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
    in_signal.n_calls++;
    locked_calls(reg);
    free_calls(in);
}

static void on_signal(int number)
{
    (void)number;
    fake_raise(3, 0, FATHOM_SAFE_SIGNAL);
}

static void signal_open(MPI_T_event_cb_function fn, MPI_T_event_registration *out_r)
{
    struct sigaction action = {.sa_handler = on_signal};

    in_signal.n_calls = 0;
    in_signal.session = session_open();
    in_signal.counter = pvar_open(in_signal.session, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    in_signal.mark = pvar_open(in_signal.session, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    *out_r = event_open("fake_plain");
    event_on(*out_r, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, NULL, fn);
    sigaction(SIGUSR1, &action, NULL);
}

START_TEST(a_signal_handler_may_raise_events)
{
    MPI_T_event_registration r;
    int i;

    signal_open(on_signal_event, &r);
    for (i = 0; i < 100; i++) {
        raise(SIGUSR1);
    }
    ck_assert_int_eq(in_signal.n_calls, 100);
    OK(MPI_T_event_handle_free(r, NULL, NULL)); /* and out of it all is as before */
    OK(MPI_T_pvar_session_free(&in_signal.session));
}
END_TEST

START_TEST(an_event_type_tells_the_default_hints)
{
    MPI_Info info = MPI_INFO_NULL;
    int i, n;

    OK(MPI_T_event_get_num(&n));
    for (i = 0; i < n; i++) {
        OK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &info, NULL, NULL,
                                NULL));
        ck_assert_str_eq(fake_info_value(info, "fathom_event_queue"), "1024");
    }
}
END_TEST

int main(void)
{
    const TTest *tests[] = {losses_are_told_before_the_next_event_of_the_source,
                            without_a_handler_no_loss_is_recorded,
                            a_handler_needs_a_callback_that_may_run,
                            losses_are_kept_until_they_can_be_told,
                            losses_in_signal_handlers_are_told_outside,
                            a_handler_may_free_its_registration,
                            free_callbacks_know_where_they_run,
                            events_inside_callbacks_know_where_they_are,
                            callbacks_inside_callbacks,
                            a_signal_handler_may_raise_events,
                            an_event_type_tells_the_default_hints};

    return suite_run(suite_of("mpit_context", tests, (int)(sizeof(tests) / sizeof(tests[0]))));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Events against what tools do on other threads, below MPI_THREAD_MULTIPLE: one thread is the
 * engine, another raises what helper threads see, others are tools. Under ThreadSanitizer as well.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

#include "support/race.h"
#include "unit/mpit/mpit_test.h"

static atomic_int is_over;

int __real_clock_gettime(clockid_t clock, struct timespec *t);
int __wrap_clock_gettime(clockid_t clock, struct timespec *t);

/* The registry's clock (the linker's --wrap): others run between a time stamp and what follows. */
int __wrap_clock_gettime(clockid_t clock, struct timespec *t)
{
    static _Thread_local unsigned n;
    int rc = __real_clock_gettime(clock, t);

    if (++n % 8 == 0) {
        sched_yield();
    }
    return rc;
}

/* The engine: the one thread that raises events of its source, and that lets waiting ones go. */
static void *engine_thread(void *arg)
{
    uint64_t seed = 1;
    int i;

    race_pin(0);
    for (i = 0; !atomic_load(&is_over); i++) {
        fake_raise(i, 1, FATHOM_SAFE_RESTRICTED);
        race_delay(&seed);
        fathom_mpit_poll();
    }
    return arg;
}

/* ---- the order of sources (15.3.8.1) ---- */

/* Callbacks of ordered sources exclude each other: no atomics. */
static MPI_Count last[8];
static int n_seen[8], n_disordered;

static void on_ordered(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                       void *user_data)
{
    MPI_Count when;
    int source;

    (void)reg;
    (void)level;
    (void)user_data;
    OK(MPI_T_event_get_source(in, &source));
    OK(MPI_T_event_get_timestamp(in, &when));
    n_disordered += when < last[source];
    last[source] = when;
    n_seen[source]++;
}

static MPI_T_event_registration watch(const char *event, int level, MPI_T_event_cb_function *fn,
                                      void *user_data)
{
    MPI_T_event_registration r;

    OK(MPI_T_event_handle_alloc(event_named(event), NULL, MPI_INFO_NULL, &r));
    OK(MPI_T_event_register_callback(r, (MPI_T_cb_safety)level, MPI_INFO_NULL, user_data, fn));
    return r;
}

#define N_WRITES RACE_ROUNDS(20000)

static void *writing_thread(void *arg)
{
    MPI_T_cvar_handle h = cvar_open("fake_limit");
    unsigned long long v;
    uint64_t seed = 2;

    race_pin(*(int *)arg);
    for (v = 0; v < N_WRITES; v++) {
        OK(MPI_T_cvar_write(h, &v));
        race_delay(&seed);
    }
    OK(MPI_T_cvar_handle_free(&h));
    return NULL;
}

START_TEST(time_stamps_of_a_source_rise)
{
    int levels[2] = {MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_T_CB_REQUIRE_THREAD_SAFE},
        where[2] = {1, 2};
    MPI_T_event_registration r[2];
    pthread_t engine, writers[2];
    int i, n_sources, n_used = 0;

    memset(last, 0, sizeof(last));
    n_disordered = 0;
    r[0] = watch("fake_plain", levels[0], on_ordered, NULL);
    r[1] = watch("mpit_cvar_written", levels[1], on_ordered, NULL);
    atomic_store(&is_over, 0);
    pthread_create(&engine, NULL, engine_thread, NULL);
    for (i = 0; i < 2; i++) {
        pthread_create(&writers[i], NULL, writing_thread, &where[i]);
    }
    for (i = 0; i < 2; i++) {
        pthread_join(writers[i], NULL);
    }
    atomic_store(&is_over, 1);
    pthread_join(engine, NULL);
    fathom_mpit_poll();
    OK(MPI_T_source_get_num(&n_sources));
    for (i = 0; i < n_sources; i++) {
        n_used += n_seen[i] > 0;
    }
    ck_assert_int_eq(n_disordered, 0);
    ck_assert_int_eq(n_used, 2); /* that of the engine, that of the registry */
    for (i = 0; i < 2; i++) {
        OK(MPI_T_event_handle_free(r[i], NULL, NULL));
    }
}
END_TEST

/* ---- the end of registrations and of the tool ---- */

/* What callbacks of one registration use; the free callback ends it (15.3.8.4). */
struct watched {
    atomic_ulong n_calls;
    unsigned long magic;
};

#define MAGIC 0x5eadbed5ul

static atomic_int n_lived, n_wrong;

static void on_watched(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                       void *user_data)
{
    struct watched *w = user_data;
    int number, rc = MPI_T_event_read(in, 0, &number);

    (void)reg;
    (void)level;
    atomic_fetch_add(&n_wrong, w->magic != MAGIC);
    atomic_fetch_add(&n_wrong, rc != MPI_SUCCESS && rc != MPI_T_ERR_NOT_INITIALIZED);
    atomic_fetch_add(&w->n_calls, 1);
}

static void on_freed(MPI_T_event_registration reg, MPI_T_cb_safety level, void *user_data)
{
    struct watched *w = user_data;

    (void)reg;
    (void)level;
    atomic_fetch_add(&n_wrong, w->magic != MAGIC);
    w->magic = 0;
    free(w);
    atomic_fetch_sub(&n_lived, 1);
}

/* What helper threads see: another source, at a level that most callbacks here may not run at. */
static void *helper_thread(void *arg)
{
    uint64_t seed = 3;
    int i;

    race_pin(1);
    for (i = 0; !atomic_load(&is_over); i++) {
        fake_raise(i, 1, FATHOM_SAFE_THREAD);
        race_delay(&seed);
    }
    return arg;
}

static struct watched *watched_make(void)
{
    struct watched *w = calloc(1, sizeof(*w));

    w->magic = MAGIC;
    atomic_fetch_add(&n_lived, 1);
    return w;
}

#define N_ENDS RACE_ROUNDS(20000)

/* Registers and frees, now and then leaves the rest to its MPI_T_finalize: then the memory stays
   until all threads have ended. */
static void *tool_thread(void *arg)
{
    static const int levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                 MPI_T_CB_REQUIRE_THREAD_SAFE};
    static struct watched lasting = {.magic = MAGIC};
    MPI_T_event_registration r;
    struct watched *w;
    uint64_t seed = 4;
    int i, provided;

    race_pin(*(int *)arg);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    for (i = 0; i < N_ENDS; i++) {
        if (i % 8 == 7) {
            watch("fake_plain", levels[i / 8 % 3], on_watched, &lasting);
            race_delay(&seed);
            OK(MPI_T_finalize());
            OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
            continue;
        }
        w = watched_make();
        r = watch("fake_plain", levels[i % 3], on_watched, w);
        race_delay(&seed);
        OK(MPI_T_event_handle_free(r, w, on_freed));
    }
    OK(MPI_T_finalize());
    return NULL;
}

/* One tool: each of its MPI_T_finalize is the last. Two: the other's handles must not end. */
static void race_ends(int n_tools)
{
    pthread_t engine, helper, tools[2];
    int i, where[2] = {1, 0};

    atomic_store(&is_over, 0);
    pthread_create(&engine, NULL, engine_thread, NULL);
    pthread_create(&helper, NULL, helper_thread, NULL);
    for (i = 0; i < n_tools; i++) {
        pthread_create(&tools[i], NULL, tool_thread, &where[i]);
    }
    for (i = 0; i < n_tools; i++) {
        pthread_join(tools[i], NULL);
    }
    atomic_store(&is_over, 1);
    pthread_join(engine, NULL);
    pthread_join(helper, NULL);
    ck_assert_int_eq(atomic_load(&n_wrong), 0);
    ck_assert_int_eq(atomic_load(&n_lived), 0); /* each free callback was called, once */
}

START_TEST(one_tool_ends_while_others_raise)
{
    int provided;

    OK(MPI_T_finalize()); /* that of the fixture */
    race_ends(1);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
}
END_TEST

START_TEST(two_tools_end_while_others_raise)
{
    race_ends(2);
}
END_TEST

int main(void)
{
    const TTest *tests[] = {time_stamps_of_a_source_rise, one_tool_ends_while_others_raise,
                            two_tools_end_while_others_raise};

    return suite_run(suite_of("mpit_race", tests, 3));
}

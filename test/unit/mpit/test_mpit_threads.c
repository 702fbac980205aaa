/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tools on many threads and the host's own threads at once; for ThreadSanitizer as well. What must
 * hold: counters that are read and reset from several threads add up to what was counted,
 * watermarks never lie below the level, no event is lost beyond those that were counted as dropped.
 */
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <time.h>

#include "unit/mpit/mpit_test.h"

#define N_TOOLS 13

static atomic_int is_over;
static atomic_ullong n_taken;
static MPI_T_pvar_session shared_session;
static MPI_T_pvar_handle shared_done;

/* The owner of the words: the only one that writes them. */
static void *host_thread(void *arg)
{
    unsigned seed = 7;
    long n = *(long *)arg, i;

    for (i = 0; i < n; i++) {
        fathom_word_add(&fake->n_done, 1);
        fathom_level_set(&fake->depth, (uint64_t)(rand_r(&seed) % 1000));
        if (i % 16 == 0) {
            fake_raise((int)i, 1, FATHOM_SAFE_RESTRICTED);
        }
        if (i % 64 == 0) {
            fathom_mpit_poll();
        }
    }
    fathom_mpit_poll();
    atomic_store(&is_over, 1);
    return NULL;
}

static void *taking_thread(void *arg)
{
    unsigned long long v;

    (void)arg;
    while (!atomic_load(&is_over)) {
        OK(MPI_T_pvar_readreset(shared_session, shared_done, &v));
        ck_assert(v < 1ull << 40); /* never below zero */
        atomic_fetch_add(&n_taken, v);
        OK(MPI_T_pvar_read(shared_session, shared_done, &v));
        ck_assert(v < 1ull << 40);
    }
    return NULL;
}

static void *session_thread(void *arg)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle hi, lo, done;
    unsigned long long before, after, high;

    (void)arg;
    while (!atomic_load(&is_over)) {
        s = session_open();
        hi = pvar_open(s, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
        lo = pvar_open(s, "fake_depth", MPI_T_PVAR_CLASS_LOWWATERMARK);
        done = pvar_open(s, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
        OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
        before = pvar_u64(s, hi);
        OK(MPI_T_pvar_readreset(s, hi, &high));
        ck_assert_uint_ge(high, before);
        ck_assert_uint_lt(pvar_u64(s, hi), 1000);
        ck_assert_uint_lt(pvar_u64(s, lo), 1000);
        before = pvar_u64(s, done);
        after = pvar_u64(s, done);
        ck_assert_uint_ge(after, before);
        OK(MPI_T_pvar_stop(s, done));
        after = pvar_u64(s, done);
        ck_assert_uint_eq(pvar_u64(s, done), after);
        OK(MPI_T_pvar_session_free(&s));
    }
    return NULL;
}

static atomic_long n_called, n_dropped_here;

static void count(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                  void *user_data)
{
    int number;

    (void)reg;
    (void)level;
    OK(MPI_T_event_read(in, 0, &number));
    atomic_fetch_add((atomic_long *)user_data, 1);
}

static void count_dropped(MPI_Count n, MPI_T_event_registration reg, int source,
                          MPI_T_cb_safety level, void *user_data)
{
    (void)reg;
    (void)source;
    (void)level;
    (void)user_data;
    atomic_fetch_add(&n_dropped_here, (long)n);
}

static void freed(MPI_T_event_registration reg, MPI_T_cb_safety level, void *user_data)
{
    (void)reg;
    (void)level;
    atomic_fetch_add((atomic_long *)user_data, 1);
}

static void *event_thread(void *arg)
{
    static const int levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};
    atomic_long n_mine = 0, n_freed = 0;
    MPI_T_event_registration r;
    long n = 0;

    (void)arg;
    while (!atomic_load(&is_over)) {
        OK(MPI_T_event_handle_alloc(event_named("fake_plain"), NULL, MPI_INFO_NULL, &r));
        OK(MPI_T_event_register_callback(r, (MPI_T_cb_safety)levels[n % 2], MPI_INFO_NULL, &n_mine,
                                         count));
        fake_raise(1, 2, FATHOM_SAFE_THREAD);
        OK(MPI_T_event_handle_free(r, &n_freed, freed));
        n++;
        /* The free callback may come from the thread that is in the callback now. */
        while (atomic_load(&n_freed) != n) {
            sched_yield();
        }
    }
    return NULL;
}

/* The value of one object, which all of them give it, and that of the process. */
static void *cvar_thread(void *arg)
{
    int n, index = cvar_named("fake_bound_comm");
    MPI_Comm comm = fake_comm_handle(0);
    MPI_T_cvar_handle whole, one;
    MPI_Count v = 7, back;

    (void)arg;
    while (!atomic_load(&is_over)) {
        whole = cvar_open("fake_bound");
        OK(MPI_T_cvar_handle_alloc(index, &comm, &one, &n));
        OK(MPI_T_cvar_write(one, &v));
        OK(MPI_T_cvar_read(one, &back));
        ck_assert_int_eq(back, 7);
        OK(MPI_T_cvar_read(whole, &back));
        ck_assert_int_eq(back, 10);
        OK(MPI_T_cvar_handle_free(&one));
        OK(MPI_T_cvar_handle_free(&whole));
    }
    return NULL;
}

/* Objects come and go, and handles become invalid with them. */
static void *object_thread(void *arg)
{
    static atomic_int n_threads;
    int n, number = atomic_fetch_add(&n_threads, 1) + 1, index = cvar_named("fake_bound_comm");
    MPI_Comm comm = fake_comm_handle(number);
    MPI_T_cvar_handle one;
    MPI_Count v;

    (void)arg;
    while (!atomic_load(&is_over)) {
        fake_comm_make(number);
        fathom_mpit_object_rename(&fake_comms[number], "one of many");
        OK(MPI_T_cvar_handle_alloc(index, &comm, &one, &n));
        OK(MPI_T_cvar_read(one, &v));
        fake_comm_free(number);
        GIVES(MPI_T_cvar_read(one, &v), MPI_T_ERR_INVALID_HANDLE);
        OK(MPI_T_cvar_handle_free(&one));
    }
    return NULL;
}

static void *start_thread(void *arg)
{
    int n;

    (void)arg;
    while (!atomic_load(&is_over)) {
        OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &n));
        OK(MPI_T_cvar_get_num(&n));
        OK(MPI_T_finalize());
    }
    return NULL;
}

START_TEST(tools_at_once)
{
    void *(*const jobs[N_TOOLS])(void *) = {
        taking_thread, taking_thread, session_thread, session_thread, session_thread,
        event_thread,  event_thread,  taking_thread,  cvar_thread,    cvar_thread,
        object_thread, object_thread, start_thread};
    MPI_T_event_registration r;
    pthread_t threads[N_TOOLS], host;
    unsigned long long rest;
    long n = 200000, n_raised = n / 16;
    int i;

    fake_comm_make(0);
    fake->n_done = 0;
    shared_session = session_open();
    shared_done = pvar_open(shared_session, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    OK(MPI_T_pvar_start(shared_session, shared_done));
    OK(MPI_T_event_handle_alloc(event_named("fake_plain"), NULL, MPI_INFO_NULL, &r));
    OK(MPI_T_event_set_dropped_handler(r, count_dropped));
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &n_called, count));
    for (i = 0; i < N_TOOLS; i++) {
        ck_assert_int_eq(pthread_create(&threads[i], NULL, jobs[i], NULL), 0);
    }
    ck_assert_int_eq(pthread_create(&host, NULL, host_thread, &n), 0);
    pthread_join(host, NULL);
    for (i = 0; i < N_TOOLS; i++) {
        pthread_join(threads[i], NULL);
    }
    OK(MPI_T_pvar_readreset(shared_session, shared_done, &rest));
    ck_assert_uint_eq(atomic_load(&n_taken) + rest, (unsigned long long)n);
    /* At least the host's own; the event threads raise more. One that was dropped is known. */
    fathom_mpit_poll();
    fake_raise(0, 0, FATHOM_SAFE_ANY);
    fathom_mpit_poll();
    ck_assert_int_ge(atomic_load(&n_called) + atomic_load(&n_dropped_here), n_raised + 1);
    OK(MPI_T_event_handle_free(r, NULL, NULL));
    OK(MPI_T_pvar_session_free(&shared_session));
    fake_comm_free(0);
}
END_TEST

/* ---- two changes of one watermark ---- */

#define N_PEAKS 4000

static MPI_T_pvar_handle peak;
static atomic_int turn; /* of the taking thread: so many times */
static atomic_int n_done;
static unsigned long long taken;

static void *peak_thread(void *arg)
{
    (void)arg;
    for (int k = 1; k <= N_PEAKS; k++) {
        while (atomic_load(&turn) < k) {
            sched_yield();
        }
        OK(MPI_T_pvar_readreset(shared_session, peak, &taken));
        atomic_store(&n_done, k);
    }
    return NULL;
}

/* While one thread stops the watermark another takes it: in either order that one gets the peak,
   and nobody sees it again. */
START_TEST(a_peak_is_taken_once)
{
    pthread_t thread;

    fathom_level_set(&fake->depth, 0);
    shared_session = session_open();
    peak = pvar_open(shared_session, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    atomic_store(&turn, 0);
    ck_assert_int_eq(pthread_create(&thread, NULL, peak_thread, NULL), 0);
    for (int k = 1; k <= N_PEAKS; k++) {
        OK(MPI_T_pvar_start(shared_session, peak));
        fathom_level_set(&fake->depth, (uint64_t)k + 10);
        fathom_level_set(&fake->depth, 1);
        atomic_store(&turn, k);
        for (volatile int i = 0; i < k % 300; i++) {
            /* the two meet in all places */
        }
        OK(MPI_T_pvar_stop(shared_session, peak));
        while (atomic_load(&n_done) < k) {
            sched_yield();
        }
        ck_assert_uint_eq(taken, (uint64_t)k + 10);
        ck_assert_uint_eq(pvar_u64(shared_session, peak), 1);
    }
    pthread_join(thread, NULL);
    OK(MPI_T_pvar_session_free(&shared_session));
    fathom_level_set(&fake->depth, 0);
}
END_TEST

/* ---- a reader in a signal handler ---- */

static MPI_T_pvar_session sig_session;
static MPI_T_pvar_handle sig_done, sig_high;
static volatile sig_atomic_t n_signals, n_bad; /* of the handler that runs */

/* SIGUSR1 again and again, in the thread that tests. */
struct interrupts {
    timer_t timer;
    struct sigaction before;
};

static void interrupts_begin(struct interrupts *i, void (*handler)(int sig), long every_ns)
{
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec often = {{0, every_ns}, {0, every_ns}};
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART};

    n_signals = n_bad = 0;
    sigaction(SIGUSR1, &action, &i->before);
    ck_assert_int_eq(timer_create(CLOCK_MONOTONIC, &how, &i->timer), 0);
    ck_assert_int_eq(timer_settime(i->timer, 0, &often, NULL), 0);
}

/* ... none of which has found anything bad. */
static void interrupts_end(struct interrupts *i)
{
    timer_delete(i->timer);
    sigaction(SIGUSR1, &i->before, NULL);
    ck_assert_int_eq(n_bad, 0);
}

static void on_signal(int sig)
{
    unsigned long long a, b, high;

    (void)sig;
    n_signals = n_signals + 1;
    if (MPI_T_pvar_read(sig_session, sig_done, &a) != MPI_SUCCESS ||
        MPI_T_pvar_read(sig_session, sig_done, &b) != MPI_SUCCESS || b < a || b > 1ull << 40 ||
        MPI_T_pvar_read(sig_session, sig_high, &high) != MPI_SUCCESS || high >= 1000) {
        n_bad = n_bad + 1;
    }
}

START_TEST(a_signal_handler_reads)
{
    struct interrupts interrupts;
    unsigned seed = 3;

    sig_session = session_open();
    sig_done = pvar_open(sig_session, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    sig_high = pvar_open(sig_session, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    fathom_level_set(&fake->depth, 0);
    OK(MPI_T_pvar_start(sig_session, MPI_T_PVAR_ALL_HANDLES));
    interrupts_begin(&interrupts, on_signal, 200000);
    while (n_signals < 3000) {
        /* The handler interrupts all of these. */
        fathom_word_add(&fake->n_done, 1);
        fathom_level_set(&fake->depth, (uint64_t)(rand_r(&seed) % 1000));
        OK(MPI_T_pvar_stop(sig_session, sig_done));
        OK(MPI_T_pvar_start(sig_session, sig_done));
        OK(MPI_T_pvar_stop(sig_session, sig_high));
        OK(MPI_T_pvar_start(sig_session, sig_high));
        OK(MPI_T_pvar_reset(sig_session, sig_high));
    }
    interrupts_end(&interrupts);
    OK(MPI_T_pvar_session_free(&sig_session));
}
END_TEST

/* ---- one that changes what the interrupted thread is just changing (15.3.7.6) ---- */

static volatile unsigned long long n_sig_taken;

static void on_signal_change(int sig)
{
    unsigned long long v = 0, five = 5;
    int is_bad;

    (void)sig;
    n_signals = n_signals + 1;
    is_bad = MPI_T_pvar_readreset(sig_session, sig_done, &v) != MPI_SUCCESS || v > 1ull << 40;
    n_sig_taken += v;
    is_bad |= MPI_T_pvar_stop(sig_session, sig_high) != MPI_SUCCESS;
    is_bad |= MPI_T_pvar_write(sig_session, sig_high, &five) != MPI_SUCCESS;
    is_bad |= MPI_T_pvar_read(sig_session, sig_high, &v) != MPI_SUCCESS || v != 5;
    is_bad |= MPI_T_pvar_start(sig_session, sig_high) != MPI_SUCCESS;
    is_bad |= MPI_T_pvar_reset(sig_session, sig_high) != MPI_SUCCESS;
    n_bad = n_bad + is_bad;
}

START_TEST(a_signal_handler_changes)
{
    struct interrupts interrupts;
    unsigned long long n_counted = 0, n_mine = 0, v;

    sig_session = session_open();
    sig_done = pvar_open(sig_session, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    sig_high = pvar_open(sig_session, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    fathom_level_set(&fake->depth, 0);
    OK(MPI_T_pvar_start(sig_session, sig_done));
    interrupts_begin(&interrupts, on_signal_change, 200000);
    while (n_signals < 3000) {
        fathom_word_add(&fake->n_done, 1);
        n_counted++;
        OK(MPI_T_pvar_readreset(sig_session, sig_done, &v));
        n_mine += v;
        OK(MPI_T_pvar_start(sig_session, sig_high));
        OK(MPI_T_pvar_reset(sig_session, sig_high));
        OK(MPI_T_pvar_stop(sig_session, sig_high));
    }
    interrupts_end(&interrupts);
    OK(MPI_T_pvar_readreset(sig_session, sig_done, &v));
    ck_assert_uint_eq(n_counted, n_mine + n_sig_taken + v); /* each was taken once */
    OK(MPI_T_pvar_session_free(&sig_session));
}
END_TEST

static void on_signal_stop(int sig)
{
    const unsigned long long five = 5;
    bool is_bad;

    (void)sig;
    n_signals = n_signals + 1;
    if (n_signals % 2) {
        is_bad = MPI_T_pvar_stop(sig_session, sig_done) != MPI_SUCCESS;
        is_bad |= MPI_T_pvar_write(sig_session, sig_done, &five) != MPI_SUCCESS;
    } else {
        is_bad = MPI_T_pvar_start(sig_session, sig_done) != MPI_SUCCESS;
    }
    n_bad = n_bad + is_bad;
}

/* In the middle of a read its handle is stopped and written: what was found as the start of a
   running one is the value of a stopped one by then. */
START_TEST(a_signal_handler_stops_what_is_read)
{
    struct interrupts interrupts;
    unsigned long long v;

    fake->n_done = 1ull << 50;
    sig_session = session_open();
    sig_done = pvar_open(sig_session, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    OK(MPI_T_pvar_start(sig_session, sig_done));
    interrupts_begin(&interrupts, on_signal_stop, 100000);
    while (n_signals < 4000) {
        OK(MPI_T_pvar_read(sig_session, sig_done, &v));
        ck_assert_uint_le(v, 5);
    }
    interrupts_end(&interrupts);
    OK(MPI_T_pvar_session_free(&sig_session));
    fake->n_done = 0;
}
END_TEST

/* ThreadSanitizer keeps signals back. */
#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define CAN_STEP 1
#define TRAP     0x100 /* in the flags of the processor: a signal after each instruction */

static volatile sig_atomic_t n_left; /* instructions until the handle changes */

static void on_step(int sig, siginfo_t *info, void *context)
{
    const unsigned long long five = 5;

    (void)sig;
    (void)info;
    if (--n_left > 0) {
        return;
    }
    ((ucontext_t *)context)->uc_mcontext.gregs[REG_EFL] &= ~TRAP;
    n_bad = n_bad + (MPI_T_pvar_stop(sig_session, sig_done) != MPI_SUCCESS);
    n_bad = n_bad + (MPI_T_pvar_write(sig_session, sig_done, &five) != MPI_SUCCESS);
}

static void step(bool is_on)
{
    long flags = is_on ? TRAP : 0;

    __asm__ volatile("lea -128(%%rsp), %%rsp\n\t" /* what lies below belongs to the function */
                     "pushfq\n\t"
                     "andq %1, (%%rsp)\n\t"
                     "orq %0, (%%rsp)\n\t"
                     "popfq\n\t"
                     "lea 128(%%rsp), %%rsp"
                     :
                     : "r"(flags), "r"(~(long)TRAP)
                     : "memory", "cc");
}

/* Of sig_done, which has come to 2^50. */
static void read_in_steps(void)
{
    unsigned long long v;
    int k = 0;

    do {
        OK(MPI_T_pvar_start(sig_session, sig_done));
        n_left = ++k;
        step(true);
        MPI_T_pvar_read(sig_session, sig_done, &v);
        step(false);
        ck_assert_uint_le(v, 5);
    } while (n_left <= 0); /* else the read was over before */
    ck_assert_int_gt(k, 20);
}

/* The same after each single instruction of a read: of one word, of some, of one of each member. */
START_TEST(a_read_is_interrupted_everywhere)
{
    struct sigaction action = {.sa_sigaction = on_step, .sa_flags = SA_SIGINFO}, old;
    int n;

    n_bad = 0;
    fake_comm_make(2);
    fake->n_done = fake_comms[2].words->members[1].n_got = 1ull << 50;
    sig_session = session_open();
    sigaction(SIGTRAP, &action, &old);
    sig_done = pvar_open(sig_session, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    read_in_steps();
    sig_done = pvar_open(sig_session, "fake_sum", MPI_T_PVAR_CLASS_COUNTER);
    read_in_steps();
    sig_done = pvar_open_on(sig_session, "fake_each_got", MPI_T_PVAR_CLASS_AGGREGATE, 2, &n);
    read_in_steps();
    sigaction(SIGTRAP, &old, NULL);
    ck_assert_int_eq(n_bad, 0);
    OK(MPI_T_pvar_session_free(&sig_session));
    fake_comm_free(2);
    fake->n_done = 0;
}
END_TEST
#endif

static volatile unsigned long long sig_peak;
static volatile sig_atomic_t is_high; /* the level: who takes its peak finds it again */

static void on_signal_take(int sig)
{
    unsigned long long v;

    (void)sig;
    n_signals = n_signals + 1;
    if (is_high) {
        return;
    }
    if (MPI_T_pvar_readreset(sig_session, sig_high, &v) != MPI_SUCCESS) {
        n_bad = n_bad + 1;
    } else if (v > sig_peak) {
        sig_peak = v;
    }
}

/* In the middle of a stop its watermark is taken: who has the peak, the handler or the stopped
   handle, has it alone. */
START_TEST(a_signal_handler_takes_what_is_stopped)
{
    struct interrupts interrupts;
    unsigned long long peak_now = 10, v, taken_before;

    sig_peak = 0;
    fathom_level_set(&fake->depth, 1);
    sig_session = session_open();
    sig_high = pvar_open(sig_session, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    interrupts_begin(&interrupts, on_signal_take, 100000);
    while (n_signals < 6000) {
        peak_now++;
        OK(MPI_T_pvar_start(sig_session, sig_high));
        is_high = 1;
        fathom_level_set(&fake->depth, peak_now);
        fathom_level_set(&fake->depth, 1);
        is_high = 0;
        OK(MPI_T_pvar_stop(sig_session, sig_high));
        taken_before = sig_peak;
        OK(MPI_T_pvar_read(sig_session, sig_high, &v));
        ck_assert(taken_before != peak_now || v < peak_now);
        ck_assert(sig_peak == peak_now || v == peak_now);
    }
    interrupts_end(&interrupts);
    fathom_level_set(&fake->depth, 0);
    OK(MPI_T_pvar_session_free(&sig_session));
}
END_TEST

int main(void)
{
    const TTest *tests[] = {tools_at_once,
                            a_peak_is_taken_once,
                            a_signal_handler_reads,
                            a_signal_handler_changes,
                            a_signal_handler_stops_what_is_read,
#ifdef CAN_STEP
                            a_read_is_interrupted_everywhere,
#endif
                            a_signal_handler_takes_what_is_stopped};

    return suite_run(suite_of("mpit_threads", tests, (int)(sizeof(tests) / sizeof(tests[0]))));
}

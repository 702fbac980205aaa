/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the registry costs: the calls of a tool, the words of a host, events, and a reader in a
 * signal handler. One line per figure: NAME PARAMETER VALUE UNIT. The lower quartile of 41 samples.
 */
#include <fathom/mpit.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define N_SAMPLES 41
#define N_CALLS   20000

struct words {
    uint64_t n, on, array[64];
    struct fathom_level level;
};
static struct words *words;
static uint64_t sink;

static const struct fathom_pvar pvars[] = {
    {.name = "bench_n",
     .desc = "A count.",
     .klass = FATHOM_COUNTER,
     .at = offsetof(struct words, n)},
    {.name = "bench_level",
     .desc = "A level.",
     .klass = FATHOM_LEVEL,
     .is_level = true,
     .at = offsetof(struct words, level)},
    {.name = "bench_high",
     .desc = "Its highest.",
     .klass = FATHOM_HIGHWATERMARK,
     .at = offsetof(struct words, level)},
    {.name = "bench_array",
     .desc = "Counts.",
     .klass = FATHOM_COUNTER,
     .count = 64,
     .at = offsetof(struct words, array)},
};
static const struct fathom_event_item data[] = {
    {.name = "n", .desc = "A number.", .type = FATHOM_UNSIGNED_LONG_LONG}};
static const struct fathom_event events[] = {{.name = "bench_event",
                                              .desc = "Nothing.",
                                              .at = offsetof(struct words, on),
                                              .data = data,
                                              .n_data = 1}};
static const struct fathom_table table = {.room = "bench",
                                          .block_len = sizeof(struct words),
                                          .pvars = pvars,
                                          .n_pvars = 4,
                                          .events = events,
                                          .n_events = 1};

static void start(void)
{
    if (fathom_mpit_add(&table, (void **)&words) != 0) {
        exit(1);
    }
}
static const struct fathom_host host = {.name = "bench", .start = start};

static MPI_T_pvar_session session;
static MPI_T_pvar_handle counter, level, high, array;
static int index_of_counter;

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static void measure(const char *name, long long parameter, void (*body)(int n))
{
    double samples[N_SAMPLES];
    uint64_t began;
    int i;

    body(N_CALLS);
    for (i = 0; i < N_SAMPLES; i++) {
        began = fathom_mpit_clock();
        body(N_CALLS);
        samples[i] = (double)(fathom_mpit_clock() - began) / N_CALLS;
    }
    qsort(samples, N_SAMPLES, sizeof(samples[0]), by_value);
    printf("%s %lld %.3g ns\n", name, parameter, samples[N_SAMPLES / 4]);
    fflush(stdout);
}

static void read_counter(int n)
{
    unsigned long long v;

    while (n-- > 0) {
        MPI_T_pvar_read(session, counter, &v);
        sink += v;
    }
}

static void read_level(int n)
{
    unsigned long long v;

    while (n-- > 0) {
        MPI_T_pvar_read(session, level, &v);
        sink += v;
    }
}

static void read_high(int n)
{
    unsigned long long v;

    while (n-- > 0) {
        MPI_T_pvar_read(session, high, &v);
        sink += v;
    }
}

static void read_array(int n)
{
    unsigned long long v[64];

    while (n-- > 0) {
        MPI_T_pvar_read(session, array, v);
        sink += v[0];
    }
}

static void readreset_counter(int n)
{
    unsigned long long v;

    while (n-- > 0) {
        MPI_T_pvar_readreset(session, counter, &v);
        sink += v;
    }
}

static void start_stop(int n)
{
    while (n-- > 0) {
        MPI_T_pvar_stop(session, counter);
        MPI_T_pvar_start(session, counter);
    }
}

static void alloc_free(int n)
{
    MPI_T_pvar_handle h;
    int count;

    while (n-- > 0) {
        MPI_T_pvar_handle_alloc(session, index_of_counter, NULL, &h, &count);
        MPI_T_pvar_handle_free(session, &h);
    }
}

static void get_index(int n)
{
    int i = 0;

    while (n-- > 0) {
        MPI_T_pvar_get_index("bench_n", MPI_T_PVAR_CLASS_COUNTER, &i);
        sink += (uint64_t)i;
    }
}

static void move_level(int n)
{
    while (n-- > 0) {
        fathom_level_set(&words->level, (uint64_t)(n & 63));
    }
}

static void count_word(int n)
{
    while (n-- > 0) {
        fathom_word_add(&words->n, 1);
        __asm__ volatile("" ::: "memory");
    }
}

static void raise_event(int n)
{
    uint64_t value;

    while (n-- > 0) {
        value = (uint64_t)n;
        if (__atomic_load_n(&words->on, __ATOMIC_RELAXED)) {
            fathom_mpit_emit(&events[0], words, NULL, &value);
        }
        __asm__ volatile("" ::: "memory");
    }
}

static void count_event(MPI_T_event_instance in, MPI_T_event_registration reg,
                        MPI_T_cb_safety safety, void *user_data)
{
    ++*(uint64_t *)user_data;
}

static void measure_events(void)
{
    MPI_T_event_registration reg;
    int i;

    measure("event_off", 0, raise_event);
    MPI_T_event_get_index("bench_event", &i);
    MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &reg);
    MPI_T_event_register_callback(reg, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL, &sink,
                                  count_event);
    measure("event_callback", 1, raise_event);
    MPI_T_event_handle_free(reg, NULL, NULL);
}

/* ---- a reader in a signal handler at 10 kHz, while the words move and handles change ---- */

static volatile sig_atomic_t n_signals, n_torn;

static void on_signal(int sig)
{
    static unsigned long long last;
    unsigned long long a = 0, b = 0, h = 0;

    n_signals++;
    if (MPI_T_pvar_read(session, counter, &a) || MPI_T_pvar_read(session, level, &b) ||
        MPI_T_pvar_read(session, high, &h) || a < last || b > 63 || h > 63) {
        n_torn++;
    }
    last = a;
}

static void measure_signals(int seconds)
{
    struct sigevent how = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGUSR1};
    struct itimerspec often = {{0, 100000}, {0, 100000}}, never = {{0, 0}, {0, 0}};
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    uint64_t end = fathom_mpit_clock() + (uint64_t)seconds * 1000000000u;
    timer_t timer;

    sigaction(SIGUSR1, &action, NULL);
    if (timer_create(CLOCK_MONOTONIC, &how, &timer) != 0) {
        exit(1);
    }
    timer_settime(timer, 0, &often, NULL);
    while (fathom_mpit_clock() < end) {
        count_word(100);
        move_level(100);
        start_stop(1);
        MPI_T_pvar_reset(session, high);
    }
    timer_settime(timer, 0, &never, NULL);
    timer_delete(timer);
    printf("signal_reads %d %d signals\n", seconds, (int)n_signals);
    printf("signal_torn %d %d values\n", seconds, (int)n_torn);
}

static MPI_T_pvar_handle open_pvar(const char *name, int klass)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int i = -1, count;

    if (MPI_T_pvar_get_index(name, klass, &i) ||
        MPI_T_pvar_handle_alloc(session, i, NULL, &h, &count) || MPI_T_pvar_start(session, h)) {
        exit(1);
    }
    return h;
}

int main(int argc, char **argv)
{
    int provided;

    fathom_mpit_host(&host);
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        return 1;
    }
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_index("bench_n", MPI_T_PVAR_CLASS_COUNTER, &index_of_counter);
    measure("word_add", 0, count_word);
    measure("level_set", 0, move_level);
    counter = open_pvar("bench_n", MPI_T_PVAR_CLASS_COUNTER);
    level = open_pvar("bench_level", MPI_T_PVAR_CLASS_LEVEL);
    high = open_pvar("bench_high", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    array = open_pvar("bench_array", MPI_T_PVAR_CLASS_COUNTER);
    measure("level_set_followed", 1, move_level);
    measure("pvar_read_counter", 1, read_counter);
    measure("pvar_read_level", 1, read_level);
    measure("pvar_read_watermark", 1, read_high);
    measure("pvar_read_array", 64, read_array);
    measure("pvar_readreset", 1, readreset_counter);
    measure("pvar_stop_start", 1, start_stop);
    measure("pvar_handle_alloc_free", 1, alloc_free);
    measure("pvar_get_index", 1, get_index);
    measure_events();
    measure_signals(argc > 1 ? atoi(argv[1]) : 2);
    MPI_T_finalize();
    return sink == 42 || n_torn != 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Waiting: what the variables say of time and of steps, against a clock around each blocked call,
 * the events of going to sleep and waking, and the calls of sched_yield(2), which this program
 * takes on their way to libc. Rank 0 is kept waiting by rank 1 in calls of every kind. When it goes
 * to sleep, its clock jumps by more than an hour: times have that once, and who waits for so long
 * asks once which processes have ended, the time between such questions being an hour.
 *
 * Nothing here expects a wait to be long: where it was too short to leave the spin, the variables
 * must say so, and the call is tried again.
 */
#include "../knob.h"
#include "clock.h"
#include "oracle.h"

#include <sched.h>
#include <sys/mman.h>

#define JUMP (3601 * SECOND)

enum { TRIES = 2000, TOKEN = 7, HOUR_MS = 3600000 };

static int rank;
static MPI_Comm comm;
static char out[1 << 20], in[1 << 20];
static int is_watching;

/* ---- what the library does meanwhile ---- */

enum { OUTSIDE, SPIN, YIELD, SLEEP, N_STATES }; /* in the order of progress_state */
static ull n_yields, n_slept, n_woke, woke_ns;
static int seen[N_STATES];

static void look(void)
{
    if (is_watching) {
        ull state = value("progress_state", 0);

        CHECK(state < N_STATES);
        seen[state]++;
    }
}

CLOCK_TAKEN int sched_yield(void)
{
    if (is_watching) {
        n_yields++;
        look();
        CHECK_EQ(value("progress_state", 0) == SLEEP, 0);
    }
    return (int)syscall(SYS_sched_yield);
}

/* The spin of a wait looks at the clock. */
static void clock_looked_at(void)
{
    look();
}

static void on_slept(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *user_data)
{
    (void)instance;
    (void)registration;
    (void)safety;
    (void)user_data;
    n_slept++;
    CHECK_EQ(value("progress_state", 0), SLEEP);
    look();
    if (n_slept == 1) {
        clock_ahead += JUMP; /* seen before it wakes: the time asleep has it */
    }
}

static void on_woke(MPI_T_event_instance instance, MPI_T_event_registration registration,
                    MPI_T_cb_safety safety, void *user_data)
{
    ull ns;

    (void)registration;
    (void)safety;
    (void)user_data;
    OK(MPI_T_event_read(instance, 0, &ns));
    n_woke++;
    woke_ns += ns;
}

static ull n_stalled, stalled_ns;
static int stalled_call; /* in the order of `kinds` */

static void on_stalled(MPI_T_event_instance instance, MPI_T_event_registration registration,
                       MPI_T_cb_safety safety, void *user_data)
{
    (void)registration;
    (void)safety;
    (void)user_data;
    OK(MPI_T_event_read(instance, 0, &stalled_call));
    OK(MPI_T_event_read(instance, 5, &stalled_ns));
    n_stalled++;
}

static MPI_T_event_registration registrations[3];

static void watch_sleep(void)
{
    int index;

    OK(MPI_T_event_get_index("progress_slept_event", &index));
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registrations[0]));
    OK(MPI_T_event_register_callback(registrations[0], MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                     MPI_INFO_NULL, NULL, on_slept));
    OK(MPI_T_event_get_index("progress_woke_event", &index));
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registrations[1]));
    OK(MPI_T_event_register_callback(registrations[1], MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                     MPI_INFO_NULL, NULL, on_woke));
    OK(MPI_T_event_get_index("progress_stalled_event", &index));
    OK(MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registrations[2]));
    OK(MPI_T_event_register_callback(registrations[2], MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                     MPI_INFO_NULL, NULL, on_stalled));
}

/* ---- calls that wait, each with what rank 1 does to end it ---- */

static void in_send(void)
{
    OK(MPI_Ssend(out, 10, MPI_CHAR, 1, TOKEN, comm));
}

static void let_send(void)
{
    OK(MPI_Recv(in, 10, MPI_CHAR, 0, TOKEN, comm, MPI_STATUS_IGNORE));
}

static void in_recv(void)
{
    OK(MPI_Recv(in, 10, MPI_CHAR, 1, TOKEN, comm, MPI_STATUS_IGNORE));
}

static void let_recv(void)
{
    OK(MPI_Send(out, 10, MPI_CHAR, 0, TOKEN, comm));
}

static void in_sendrecv(void)
{
    OK(MPI_Sendrecv(out, 10, MPI_CHAR, 1, TOKEN, in, 10, MPI_CHAR, 1, TOKEN, comm,
                    MPI_STATUS_IGNORE));
}

static void let_sendrecv(void)
{
    OK(MPI_Sendrecv(out, 10, MPI_CHAR, 0, TOKEN, in, 10, MPI_CHAR, 0, TOKEN, comm,
                    MPI_STATUS_IGNORE));
}

static void in_probe(void)
{
    OK(MPI_Probe(1, TOKEN, comm, MPI_STATUS_IGNORE));
}

static void after_probe(void)
{
    OK(MPI_Recv(in, 10, MPI_CHAR, 1, TOKEN, comm, MPI_STATUS_IGNORE));
}

static MPI_Request request;

static void before_wait(void)
{
    OK(MPI_Irecv(in, 10, MPI_CHAR, 1, TOKEN, comm, &request));
}

static void in_wait(void)
{
    OK(MPI_Wait(&request, MPI_STATUS_IGNORE));
}

static void in_coll(void)
{
    OK(MPI_Barrier(comm));
}

static MPI_Comm made;

static void in_comm(void)
{
    OK(MPI_Comm_dup(comm, &made));
}

static void after_comm(void)
{
    OK(MPI_Comm_free(&made));
}

static void let_comm(void)
{
    in_comm();
    after_comm();
}

static char attached[sizeof(out) + 2 * MPI_BSEND_OVERHEAD];

static void before_detach(void)
{
    OK(MPI_Buffer_attach(attached, sizeof(attached)));
    OK(MPI_Bsend(out, sizeof(out), MPI_CHAR, 1, TOKEN, comm));
}

static void in_detach(void)
{
    void *addr;
    int len;

    OK(MPI_Buffer_detach(&addr, &len));
}

static void let_detach(void)
{
    OK(MPI_Recv(in, sizeof(in), MPI_CHAR, 0, TOKEN, comm, MPI_STATUS_IGNORE));
}

static const struct {
    const char *variable;
    void (*before)(void), (*call)(void), (*after)(void);
    void (*let)(void);
    int n_waits; /* 0: more than one */
} kinds[] = {
    {"progress_blocked_send", NULL, in_send, NULL, let_send, 1},
    {"progress_blocked_recv", NULL, in_recv, NULL, let_recv, 1},
    {"progress_blocked_sendrecv", NULL, in_sendrecv, NULL, let_sendrecv, 1},
    {"progress_blocked_probe", NULL, in_probe, after_probe, let_recv, 1},
    {"progress_blocked_wait", before_wait, in_wait, NULL, let_recv, 1},
    {"progress_blocked_coll", NULL, in_coll, NULL, in_coll, 0},
    {"progress_blocked_comm", NULL, in_comm, after_comm, let_comm, 0},
    {"progress_blocked_other", before_detach, in_detach, NULL, let_detach, 1},
};
enum { N_WAIT_KINDS = sizeof(kinds) / sizeof(kinds[0]) };

static unsigned bin_of(ull x)
{
    unsigned bin = 0;

    for (; x; x >>= 1) {
        bin++;
    }
    return bin;
}

/* An hour is over when it went to sleep; the question comes when it wakes in vain, perhaps in the
   next wait only: whoever sleeps for the third time (naps are told as sleeps) has asked. */
static void check_gone(void)
{
    static ull is_due = 1; /* nobody has asked yet */
    ull n_asked = since("progress_gone_checks", 0), has_jumped = n_slept > 0;

    at_most("progress_gone_checks", is_due + has_jumped);
    at_least("progress_gone_checks", n_slept >= 3);
    is_due = is_due + has_jumped > n_asked;
}

static void check(int k, ull took)
{
    ull blocked = since("progress_time_blocked", 0), n_slow = since("progress_slow_waits", 0);
    ull n_in_bins = 0;

    at_most("progress_time_blocked", took);
    at_least("progress_time_blocked", since("progress_time_slept", 0));
    at_least("progress_time_slept", n_slept ? JUMP : 0);
    /* One wait of the call has slept through an hour; the others are over in less than 10 s. */
    same("progress_stalls", n_slept > 0);
    ORACLE("progress_stalled_event", 0, n_stalled, ==, n_slept > 0);
    CHECK(n_slept == 0 || (stalled_call == k && stalled_ns >= JUMP && stalled_ns <= took));
    check_gone();
    for (int i = 0; i < N_WAIT_KINDS; i++) {
        same(kinds[i].variable, i == k ? blocked : 0);
    }
    at_least("progress_waits", n_slow);
    if (kinds[k].n_waits) { /* none when what is waited for was there */
        at_most("progress_waits", kinds[k].n_waits);
        at_most("progress_slow_waits", kinds[k].n_waits);
    }
    same("progress_yields", n_yields);
    same("progress_sleeps", n_slept);
    same("progress_sleeps", n_woke);
    ORACLE("progress_slept_event", 0, n_slept, ==, since("progress_sleeps", 0));
    ORACLE("progress_woke_event", 0, n_woke, ==, n_slept);
    same("progress_time_slept", woke_ns);
    for (int bin = 0; bin < ORACLE_ITEMS; bin++) {
        n_in_bins += since("progress_wait_times", bin);
    }
    ORACLE("progress_slow_waits", 0, n_slow, ==, n_in_bins);
    if (n_slow == 1) {
        same_item("progress_wait_times", bin_of(blocked), 1);
    }
    now_is("progress_state", OUTSIDE);
}

/* One call. Did it leave the spin, and sleep? */
static int wait_once(int k)
{
    ull began, took;

    if (kinds[k].before) {
        kinds[k].before();
    }
    mark();
    n_yields = n_slept = n_woke = woke_ns = n_stalled = 0;
    is_watching = 1;
    began = clock_now();
    kinds[k].call();
    took = clock_now() - began;
    is_watching = 0;
    check(k, took);
    if (kinds[k].call == in_detach) {
        same("p2p_bsend_waits", 1); /* what it sent nobody has asked for yet */
    }
    if (kinds[k].after) {
        kinds[k].after();
    }
    return n_slept > 0 && since("progress_gone_checks", 0) > 0;
}

/* Rank 1 lets rank 0 wait longer from try to try, up to what a sleep takes. */
static void dawdle(int n)
{
    ull end = clock_real() + (ull)(n < 30 ? n : 30) * 100000;

    while (clock_real() < end) {
        syscall(SYS_sched_yield);
    }
}

static void run(int k)
{
    int is_over = 0;

    for (int n = 0; !is_over; n++) {
        CHECK(n < TRIES);
        if (rank == 0) {
            is_over = wait_once(k);
        } else {
            dawdle(n);
            kinds[k].let();
        }
        OK(MPI_Bcast(&is_over, 1, MPI_INT, 0, comm));
    }
}

/* With all time for it a wait spins, where every rank has a processor. */
static void spin(void)
{
    int is_over = sysconf(_SC_NPROCESSORS_ONLN) < 2;

    for (int n = 0; !is_over; n++) {
        CHECK(n < TRIES);
        if (rank == 0) {
            wait_once(1);
            is_over = seen[SPIN] != 0;
        } else {
            dawdle(n);
            let_recv();
        }
        OK(MPI_Bcast(&is_over, 1, MPI_INT, 0, comm));
    }
}

/* ---- collectives through memory that the ranks share ---- */

enum { N_SHARED = 3, MAX_SHARED = 12, NEVER = 1, ALWAYS = 2 };

/* The library's own calls of mmap(2) for such memory, on their way to libc: as long as it asks
   them to be, not as the kernel rounds them. Before the first byte of each lies a line that tells
   whose it is. */
enum { SEGMENT_HEAD = 64 };
static ull n_mapped, mapped_bytes;

CLOCK_TAKEN void *mmap(void *addr, size_t len, int prot, int flags, int fd, off_t at)
{
    if (fd >= 0 && flags == MAP_SHARED) {
        n_mapped++;
        mapped_bytes += len;
    }
    return (void *)syscall(SYS_mmap, addr, len, prot, flags, fd, at);
}

/* What the kernel says of such memory in this process. */
static ull segments(ull *out_bytes)
{
    FILE *maps = fopen("/proc/self/maps", "r");
    unsigned long long from, to, n = 0;
    char line[512];

    CHECK(maps);
    *out_bytes = 0;
    while (fgets(line, sizeof(line), maps)) {
        /* A file of its own, or a piece of the job's. */
        int is_shared = strstr(line, "memfd:fathom-segment") || strstr(line, "memfd:fathom-job");

        if (is_shared && sscanf(line, "%llx-%llx", &from, &to) == 2) {
            *out_bytes += to - from;
            n++;
        }
    }
    fclose(maps);
    return n;
}

static MPI_Comm sharing(int how)
{
    MPI_Comm c;
    MPI_T_cvar_handle h;
    int index, count;

    OK(MPI_Comm_dup(comm, &c));
    OK(MPI_T_cvar_get_index("coll_shm_comm", &index));
    OK(MPI_T_cvar_handle_alloc(index, &c, &h, &count));
    OK(MPI_T_cvar_write(h, &how));
    OK(MPI_T_cvar_handle_free(&h));
    OK(MPI_Barrier(c));
    return c;
}

static void check_shared(ull n, ull n_asked, ull before)
{
    ull bytes, grown = segments(&bytes) - n;

    CHECK_EQ(n_mapped, grown);
    ORACLE("coll_shm_bytes", 0, since("coll_shm_bytes", 0), ==,
           mapped_bytes - grown * SEGMENT_HEAD);

    same("coll_shm_made", grown);
    same("coll_shm_live", grown);
    now_is_share("coll_shm_utilization", grown, MAX_SHARED);
    same("coll_shm_refused", n_asked - grown);
    bytes -= before;
    ORACLE("coll_shm_bytes", 0, since("coll_shm_bytes", 0), <=, bytes);
    ORACLE("coll_shm_bytes", 0, since("coll_shm_bytes", 0), >=, bytes - grown * 4096);
}

/* Rank 0 comes first and sleeps, rank 1 wakes it. */
static int shared_once(MPI_Comm c)
{
    ull n_wakeups, is_asleep, n_announced;

    mark();
    n_slept = 0;
    OK(MPI_Barrier(c));
    is_asleep = n_slept;
    n_announced = since("coll_shm_sleeps", 0);
    n_wakeups = since("coll_shm_wakeups", 0);
    at_most("coll_shm_wakeups", 1); /* there is only one other */
    if (rank == 1) {
        OK(MPI_Send(&n_wakeups, 1, MPI_UNSIGNED_LONG_LONG, 0, TOKEN, comm));
        return 0;
    }
    ORACLE("coll_shm_sleeps", 0, since("coll_shm_sleeps", 0), >=, is_asleep);
    OK(MPI_Recv(&n_wakeups, 1, MPI_UNSIGNED_LONG_LONG, 1, TOKEN, comm, MPI_STATUS_IGNORE));
    ORACLE("coll_shm_sleeps", 0, since("coll_shm_sleeps", 0), >=, n_wakeups);
    return is_asleep && n_wakeups && n_announced == is_asleep; /* none was for nothing */
}

static void shared(void)
{
    MPI_Comm c[N_SHARED], one_more;
    ull n, before, bytes;
    int is_over;

    knob("coll_shm_comms", MAX_SHARED);
    mark();
    n = segments(&before);
    n_mapped = mapped_bytes = 0;
    for (int k = 0; k < N_SHARED; k++) {
        c[k] = sharing(ALWAYS);
        check_shared(n, (ull)k + 1, before);
    }
    is_over = since("coll_shm_made", 0) == 0; /* not here, or not over this transport */
    for (int i = 0; !is_over; i++) {
        CHECK(i < TRIES);
        if (rank == 1) {
            dawdle(i);
        }
        is_over = shared_once(c[0]);
        OK(MPI_Bcast(&is_over, 1, MPI_INT, 0, comm));
    }
    mark();
    knob("coll_shm_comms", value("coll_shm_live", 0));
    one_more = sharing(ALWAYS);
    same("coll_shm_refused", 1);
    same("coll_shm_made", 0);
    OK(MPI_Comm_free(&one_more));
    for (int k = 0; k < N_SHARED; k++) {
        OK(MPI_Comm_free(&c[k]));
    }
    CHECK_EQ(segments(&bytes), n);
    CHECK_EQ(bytes, before);
    now_is("coll_shm_bytes", 0); /* no page of the kernel's is left either */
    ORACLE("coll_shm_live", 0, value("coll_shm_live", 0), ==, 0);
}

/* The first message makes the connection. Meanwhile nothing else looks at the clock, which jumps
   between the first look and the second. */
static void connect(void)
{
    MPI_Request q;

    now_is("runtime_connections", 0);
    now_is("runtime_connect_time", 0);
    if (rank == 0) {
        clock_begin(2, JUMP);
        OK(MPI_Isend(out, 10, MPI_CHAR, 1, TOKEN, MPI_COMM_WORLD, &q));
        CHECK(clock_n_looks >= 2);
        now_is_at_least("runtime_connect_time", JUMP);
        now_is_at_most("runtime_connect_time", clock_last - clock_first);
        clock_begin(0, 0);
        OK(MPI_Wait(&q, MPI_STATUS_IGNORE));
    } else {
        OK(MPI_Recv(in, 10, MPI_CHAR, 0, TOKEN, MPI_COMM_WORLD, MPI_STATUS_IGNORE));
    }
}

/* The library's reports of stalls go nowhere, those of this test where they went before. */
static void hide_reports(void)
{
    int own = dup(STDERR_FILENO), none = open("/dev/null", O_WRONLY);

    CHECK(own >= 0 && none >= 0);
    stderr = fdopen(own, "w");
    CHECK(stderr && setvbuf(stderr, NULL, _IONBF, 0) == 0 && dup2(none, STDERR_FILENO) >= 0);
    close(none);
}

int main(int argc, char **argv)
{
    hide_reports();
    oracle_open();
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    knob("progress_gone_interval", HOUR_MS);
    knob("progress_stall_time", HOUR_MS); /* no other wait is that long */
    connect();
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    now_is("runtime_connections", 1);
    now_is("runtime_fallbacks", 0); /* launch_stat has ranks that need them */
    now_is("p2p_peers", 1);
    knob("coll_shm_after", INT32_MAX); /* only where it is asked for */
    knob("progress_spin", 0);
    if (rank == 0) {
        watch_sleep();
    }
    for (int k = 0; k < N_WAIT_KINDS; k++) {
        run(k);
    }
    shared();
    CHECK(!seen[SPIN]);
    knob("progress_spin", 60000000);
    spin();
    if (rank == 0) {
        CHECK(seen[YIELD] && seen[SLEEP]);
        OK(MPI_T_event_handle_free(registrations[0], NULL, NULL));
        OK(MPI_T_event_handle_free(registrations[1], NULL, NULL));
        OK(MPI_T_event_handle_free(registrations[2], NULL, NULL));
    }
    OK(MPI_Comm_free(&comm));
    oracle_close();
    OK(MPI_Finalize());
    return 0;
}

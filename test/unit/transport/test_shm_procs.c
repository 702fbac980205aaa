/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared-memory transport between real processes: exchange, single copy with assistance, peers
 * that are killed, single copy forbidden. Each test forks its job; the first process of it is the
 * test.
 */
#include "shm_side.h"

#include <check.h>
#include <dirent.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"

#define MAX_PROCS 4

struct common {
    _Atomic uint32_t n_arrived;
    _Atomic uint32_t flag;
    char address[MAX_PROCS][FM_ADDRESS_MAX];
    char *memory[MAX_PROCS];
};

static struct common *common;
static struct side side; /* this process's */
static pid_t children[MAX_PROCS];
static int n_procs;

/* Fail in any process of the job: children tell it by their status. */
#define must(x)                                                                                    \
    do {                                                                                           \
        if (!(x)) {                                                                                \
            fprintf(stderr, "process %d, line %d: not true: %s (%s)\n", side.self, __LINE__, #x,   \
                    fm_why());                                                                     \
            exit(2);                                                                               \
        }                                                                                          \
    } while (0)

/* All come here, and messages flow meanwhile. */
static void meet(void)
{
    uint32_t n = (uint32_t)n_procs;
    uint32_t to = (atomic_fetch_add(&common->n_arrived, 1) / n + 1) * n;

    while (atomic_load(&common->n_arrived) < to) {
        if (side.tp) {
            must(fm_transport_poll(side.tp) >= 0);
        }
        sched_yield();
    }
}

static void open_side(int self)
{
    size_t len;

    must(side_open(&side) == 0);
    must(side.tp->ops->address(side.tp, common->address[self], &len) == 0);
    meet();
    for (int k = 0; k < n_procs; k++) {
        must(k == self || side_connect(&side, k, common->address[k]) == 0);
    }
    meet();
}

typedef void (*body_fn)(int arg);

/* Run the body in n processes; `prepare` sees the side before it is opened. */
static void run(int n, body_fn prepare, body_fn body, int arg)
{
    int self = 0;

    common = mmap(NULL, sizeof(*common), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    must(common != MAP_FAILED);
    n_procs = n;
    fflush(NULL);
    for (int k = 1; k < n && self == 0; k++) {
        children[k] = fork();
        must(children[k] >= 0);
        if (children[k] == 0) {
            (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
            self = k;
        }
    }
    side_init(&side, self, n);
    if (prepare) {
        prepare(arg);
    }
    open_side(self);
    body(arg);
    side_close(&side);
    if (self) {
        _exit(0);
    }
    for (int k = 1; k < n; k++) {
        int status;

        must(waitpid(children[k], &status, 0) == children[k]);
        ck_assert_msg(status == 0 || WIFSIGNALED(status), "process %d ended with status %x", k,
                      (unsigned)status);
        ck_assert(!WIFSIGNALED(status) || WTERMSIG(status) == SIGKILL);
    }
    munmap(common, sizeof(*common));
}

/* ---- Exchange ------------------------------------------------------------------------------- */

#define N_MESSAGES 4000

static bool has_all(void)
{
    for (int k = 0; k < n_procs; k++) {
        if (k != side.self && side.seen[k] < N_MESSAGES) {
            return false;
        }
    }
    return true;
}

static void exchange(int arg)
{
    int n_left = N_MESSAGES * (n_procs - 1);

    while (n_left) {
        int to = (int)side_random(&side, (uint64_t)n_procs);
        size_t max = side_random(&side, 4) ? 100 : side.tp->max_send;
        int rc;

        if (to == side.self || side.sent[to] == N_MESSAGES) {
            continue;
        }
        rc = side_random(&side, 2)
                 ? side_send(&side, to, 16 + side_random(&side, max - 15))
                 : side_send_in_place(&side, to, 16 + side_random(&side, max - 15), 0);
        must(rc == 0 || rc == FM_AGAIN);
        n_left -= rc == 0;
        if (rc == FM_AGAIN) {
            must(fm_transport_poll(side.tp) >= 0);
            sched_yield();
        }
    }
    while (!has_all()) {
        if (fm_transport_poll(side.tp) == 0) {
            side_sleep(&side);
        }
    }
    must(side.n_wrong == 0 && side.n_lost == 0);
    meet();
}

static void few_boxes(int arg)
{
    side.counters.fast_rings = (uint64_t)arg;
}

START_TEST(processes_exchange)
{
    run(_i & 1 ? 2 : 4, few_boxes, exchange, _i & 2 ? 1 : 16);
}
END_TEST

/* ---- Single copy ---------------------------------------------------------------------------- */

#define BIG (8u << 20)

static unsigned char pattern(int owner, size_t k)
{
    return (unsigned char)(k * 31 + k / 4096 + (size_t)owner * 101);
}

static char *make_memory(void)
{
    char *p = malloc(BIG);

    must(p);
    for (size_t k = 0; k < BIG; k++) {
        p[k] = (char)pattern(side.self, k);
    }
    common->memory[side.self] = p;
    meet();
    return p;
}

static bool is_pattern(const char *p, int owner, size_t at, size_t len)
{
    for (size_t k = 0; k < len; k++) {
        if ((unsigned char)p[k] != pattern(owner, at + k)) {
            return false;
        }
    }
    return true;
}

static void share_work(int arg)
{
    side.counters.assist_min = 20000;
    side.counters.cma_chunk = 16384;
}

/* Every second one gets from its neighbour, which helps meanwhile; then the others. */
static void get_from_neighbour(int arg)
{
    char *memory, *into = malloc(BIG);
    int peer = (side.self + 1) % n_procs;

    must(into);
    ((struct fm_shm_transport *)side.tp)->is_crowded = false;
    memory = make_memory();
    for (int turn = 0; turn < 2; turn++) {
        int n = side.self % 2 == turn && !side.ep[peer]->no_rma ? 60 : 0;

        for (int k = 0; k < n; k++) {
            size_t at = side_random(&side, BIG / 2);
            size_t len = 1 + side_random(&side, side_random(&side, 2) ? 100000 : BIG / 2 - 1);
            uint64_t from = (uintptr_t)common->memory[peer] + at;

            must(side_rma(&side, peer, FM_RMA_GET, into, from, len) == 0);
            must(is_pattern(into, peer, at, len));
        }
        meet();
    }
    must(is_pattern(memory, side.self, 0, BIG));
    free(memory);
    free(into);
}

START_TEST(neighbours_help_each_other)
{
    run(_i ? 4 : 2, share_work, get_from_neighbour, 0);
}
END_TEST

static void forbid_copy(int arg)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {.len = FM_ARRAY_LEN(code), .filter = code};

    if (side.self == 0) {
        return; /* the test goes on after this job */
    }
    must(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0);
    must(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0);
}

static void without_copy(int arg)
{
    if (side.self) {
        for (int k = 0; k < n_procs; k++) {
            must(k == side.self || side.ep[k]->no_rma);
        }
        must(!FM_STATS || side.counters.n_cma_refused == (uint64_t)n_procs - 1);
        must(side_rma(&side, 0, FM_RMA_GET, &arg, (uintptr_t)&arg, 4) == -FM_E_UNSUPPORTED);
    }
    exchange(0);
}

START_TEST(copying_may_be_forbidden)
{
    run(3, forbid_copy, without_copy, 0);
}
END_TEST

/* ---- Death ---------------------------------------------------------------------------------- */

static void get_from_victim(int how)
{
    char *memory = make_memory(), *into = malloc(BIG);
    int rc = 0, n = 0;

    must(into);
    ((struct fm_shm_transport *)side.tp)->is_crowded = false;
    if (side.self == 1) {
        for (;;) { /* until killed */
            fm_transport_poll(side.tp);
            atomic_fetch_add(&common->flag, 1);
        }
    }
    while (atomic_load(&common->flag) < 100) {
        sched_yield();
    }
    if (side.ep[1]->no_rma) {
        kill(children[1], SIGKILL);
    } else {
        while (rc == 0) {
            if (++n == 20) {
                kill(children[1], SIGKILL);
            }
            rc = side_rma(&side, 1, FM_RMA_GET, into, (uintptr_t)common->memory[1], BIG);
            must(rc || is_pattern(into, 1, 0, BIG));
        }
        /* Memory of a process on its way out may be gone before the process is. */
        must(rc == -FM_E_PEER || rc == -FM_E_PROTO);
        must(n >= 20);
    }
    free(memory);
    free(into);
}

START_TEST(a_victim_ends_a_transfer)
{
    run(2, _i ? share_work : NULL, get_from_victim, 0);
}
END_TEST

static void send_to_victim(int arg)
{
    int rc = 0;

    if (side.self == 1) {
        for (;;) {
            fm_transport_poll(side.tp);
            atomic_fetch_add(&common->flag, 1);
        }
    }
    for (int k = 0; rc >= 0; k++) {
        if (k == 5000) {
            kill(children[1], SIGKILL);
        }
        rc = side_send(&side, 1, 16 + side_random(&side, 1000));
    }
    must(rc == -FM_E_PEER);
    must(side.failed_peer == 1);
}

START_TEST(a_victim_fills_up)
{
    run(2, few_boxes, send_to_victim, _i ? 16 : 0);
}
END_TEST

/* Names of ours in /dev/shm; other programs come and go there. */
static int count_names(void)
{
    DIR *d = opendir("/dev/shm");
    const struct dirent *e;
    int n = 0;

    while (d && (e = readdir(d))) {
        n += strstr(e->d_name, "fathom") != NULL;
    }
    if (d) {
        closedir(d);
    }
    return n;
}

/* All are killed in the middle of everything. */
static void die(int arg)
{
    if (side.self) {
        for (;;) {
            (void)side_send(&side, 0, 16 + side_random(&side, 6000));
            (void)side_send(&side, 3 - side.self, 40);
            atomic_fetch_add(&common->flag, 1);
            fm_transport_poll(side.tp);
        }
    }
    while (atomic_load(&common->flag) < 3000) {
        must(fm_transport_poll(side.tp) >= 0);
    }
    kill(children[1], SIGKILL);
    kill(children[2], SIGKILL);
}

START_TEST(nothing_is_left)
{
    run(3, NULL, die, 0);
    ck_assert_int_eq(count_names(), 0);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_procs");
    TCase *tc = tcase_create("jobs");

    tcase_set_timeout(tc, 120);
    tcase_add_loop_test(tc, processes_exchange, 0, 4);
    tcase_add_loop_test(tc, neighbours_help_each_other, 0, 2);
    tcase_add_test(tc, copying_may_be_forbidden);
    tcase_add_loop_test(tc, a_victim_ends_a_transfer, 0, 2);
    tcase_add_loop_test(tc, a_victim_fills_up, 0, 2);
    tcase_add_test(tc, nothing_is_left);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

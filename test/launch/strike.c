/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 sends a long message to rank 1. The observer sees it come to a certain phase, says so, and
 * kills the victim in that very moment: itself, or the other, whose end it waits for before it goes
 * on. `strike PHASE OBSERVER VICTIM`, the latter two are ranks:
 *
 *     sent      0  the RTS has left, nobody answers
 *     arrived   1  it lies there, nobody has posted the receive
 *     answered     the data is about to move
 *     copying      half of a single copy is done: process_vm_readv() of the receiver, or
 *                  process_vm_writev() of the sender that helps
 *     placing      memcpy() is amid the message: into the bulk ring, or out of it
 *     streaming    half of the message has gone through sockets
 *     recvd     1  all is there, the FIN has not left
 *     told      1  the FIN has left
 *     done      0  the FIN has come, or all fragments have left
 *
 * The events of the library tell the phases without a name of a system call, functions of this
 * program that stand before those of libc the others, and a page without access the copying. A run
 * that does not come to its phase ends with status 3.
 */
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

/* By the library, which looks in the program first. */
#define SEEN __attribute__((visibility("default")))

enum { LEN = 8 << 20, TAG = 77 };

static int rank, observer, victim;
static const char *phase = "";
static long pids[2], flags[2]; /* of both ranks; addresses of is_there */
static char *data;
static atomic_bool is_armed, is_struck;
static MPI_T_pvar_session session;
static MPI_T_pvar_handle fins;
static int has_fins;
static volatile int is_there; /* the observer has come to the phase; the other reads it */

static int is_phase(const char *name)
{
    return strcmp(phase, name) == 0;
}

static int is_alive(long pid)
{
    char path[64], text[256] = "";
    const char *end;
    int fd;

    snprintf(path, sizeof(path), "/proc/%ld/stat", pid);
    fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return 0;
    }
    (void)!syscall(SYS_read, fd, text, sizeof(text) - 1);
    close(fd);
    end = strrchr(text, ')');
    return end && end[2] != 'Z' && end[2] != 'X';
}

/* FINs that this rank has sent: a pvar. */
static unsigned long long n_fins(void)
{
    unsigned long long n = 0;

    if (has_fins && MPI_T_pvar_read(session, fins, &n) != MPI_SUCCESS) {
        n = 0;
    }
    return n;
}

/* The phase is there, `n` bytes of the message have moved. */
static void strike(size_t n)
{
    char text[100];
    int len;

    if (!atomic_load(&is_armed) || atomic_exchange(&is_struck, true)) {
        return;
    }
    is_there = 1;
    len = snprintf(text, sizeof(text), "reached %s at %d with %zu of %d, %llu FIN\n", phase, rank,
                   n, LEN, n_fins());
    (void)!write(STDOUT_FILENO, text, (size_t)len);
    kill((pid_t)pids[victim], SIGKILL);
    while (victim == rank || is_alive(pids[victim])) {
        sched_yield();
    }
}

/* ---- what stands before libc ---- */

static size_t length_of(const struct iovec *v, unsigned long n)
{
    size_t len = 0;

    while (n--) {
        len += v[n].iov_len;
    }
    return len;
}

/* Both ranks copy: leave something to the one that observes. Ends when that one has died. */
static void wait_for_observer(void)
{
    int there = 0;
    struct iovec l = {&there, sizeof(there)}, r = {(void *)flags[observer], sizeof(there)};

    while (syscall(SYS_process_vm_readv, pids[observer], &l, 1, &r, 1, 0) > 0 && !there) {
        sched_yield();
    }
}

/* Half of it, the blow, and the rest. One run on both sides, as this message is. */
static ssize_t in_two(long number, pid_t pid, const struct iovec *here, const struct iovec *there)
{
    struct iovec h[2] = {*here, *here}, t[2] = {*there, *there};
    size_t half = here->iov_len / 2;
    long rest;

    for (int k = 0; k < 2; k++) {
        h[k].iov_base = (char *)here->iov_base + (k ? half : 0);
        t[k].iov_base = (char *)there->iov_base + (k ? half : 0);
        h[k].iov_len = t[k].iov_len = k ? here->iov_len - half : half;
    }
    if (syscall(number, pid, &h[0], 1, &t[0], 1, 0) != (long)half) {
        return -1;
    }
    strike(half);
    rest = syscall(number, pid, &h[1], 1, &t[1], 1, 0);
    return rest < 0 ? (ssize_t)half : (ssize_t)half + rest;
}

static ssize_t copy(long number, pid_t pid, const struct iovec *here, unsigned long n_here,
                    const struct iovec *there, unsigned long n_there)
{
    if (is_phase("copying") && length_of(here, n_here) > 4096) {
        if (atomic_load(&is_armed) && !atomic_load(&is_struck) && n_here == 1 && n_there == 1) {
            return in_two(number, pid, here, there);
        }
        if (observer != rank) {
            wait_for_observer();
        }
    }
    return syscall(number, pid, here, n_here, there, n_there, 0);
}

SEEN ssize_t process_vm_readv(pid_t pid, const struct iovec *here, unsigned long n_here,
                              const struct iovec *there, unsigned long n_there, unsigned long how)
{
    return copy(SYS_process_vm_readv, pid, here, n_here, there, n_there);
}

SEEN ssize_t process_vm_writev(pid_t pid, const struct iovec *here, unsigned long n_here,
                               const struct iovec *there, unsigned long n_there, unsigned long how)
{
    return copy(SYS_process_vm_writev, pid, here, n_here, there, n_there);
}

enum { GULP = 64 << 10 };

static int is_streaming(void)
{
    return is_phase("streaming") && atomic_load(&is_armed);
}

/* Bytes that went through sockets since the message began. */
static ssize_t streamed(ssize_t n)
{
    static atomic_size_t sum;

    if (n > 0 && is_streaming() && atomic_fetch_add(&sum, (size_t)n) + (size_t)n >= LEN / 2) {
        strike(atomic_load(&sum));
    }
    return n;
}

/* Little at a time, as from a slow network. */
static size_t gulp(size_t len)
{
    return is_streaming() && len > GULP ? GULP : len;
}

static ssize_t stream(long number, int fd, const struct msghdr *m, int how)
{
    struct msghdr one = *m;
    struct iovec v;

    if (is_streaming() && m->msg_iovlen && length_of(m->msg_iov, m->msg_iovlen) > GULP) {
        while (one.msg_iov->iov_len == 0) {
            one.msg_iov++;
        }
        v = (struct iovec){one.msg_iov->iov_base, gulp(one.msg_iov->iov_len)};
        one.msg_iov = &v;
        one.msg_iovlen = 1;
    }
    return streamed(syscall(number, fd, &one, how));
}

SEEN ssize_t send(int fd, const void *from, size_t len, int how)
{
    return streamed(syscall(SYS_sendto, fd, from, gulp(len), how, NULL, 0));
}

SEEN ssize_t sendmsg(int fd, const struct msghdr *m, int how)
{
    return stream(SYS_sendmsg, fd, m, how);
}

SEEN ssize_t recv(int fd, void *to, size_t len, int how)
{
    return streamed(syscall(SYS_recvfrom, fd, to, gulp(len), how, NULL, NULL));
}

SEEN ssize_t recvmsg(int fd, struct msghdr *m, int how)
{
    return stream(SYS_recvmsg, fd, m, how);
}

/* ---- a page without access ---- */

static void on_fault(int sig, siginfo_t *info, void *context)
{
    char *page = data + LEN / 2;

    if ((char *)info->si_addr < page || (char *)info->si_addr >= page + 4096) {
        signal(sig, SIG_DFL);
        return;
    }
    strike(LEN / 2);
    mprotect(page, 4096, PROT_READ | PROT_WRITE);
}

static void guard(void)
{
    struct sigaction a = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO};

    sigaction(SIGSEGV, &a, NULL);
    mprotect(data + LEN / 2, 4096, PROT_NONE);
}

/* ---- events ---- */

/* Called on the spot: those of a lower level come when the library returns. */
static void on_event(MPI_T_event_instance instance, MPI_T_event_registration registration,
                     MPI_T_cb_safety safety, void *user_data)
{
    int tag = 0;

    if (MPI_T_event_read(instance, 2, &tag) == MPI_SUCCESS && tag == TAG) {
        strike(0);
    }
}

static void listen_to(const char *name)
{
    MPI_T_event_registration registration;
    int index;

    if (MPI_T_event_get_index(name, &index) != MPI_SUCCESS ||
        MPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) != MPI_SUCCESS ||
        MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
                                      MPI_INFO_NULL, NULL, on_event) != MPI_SUCCESS) {
        fprintf(stderr, "there is no event %s\n", name);
        MPI_Abort(MPI_COMM_WORLD, 2);
    }
}

static void count_fins(void)
{
    int index, count;

    has_fins =
        MPI_T_pvar_session_create(&session) == MPI_SUCCESS &&
        MPI_T_pvar_get_index("p2p_fin_sent", MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS &&
        MPI_T_pvar_handle_alloc(session, index, NULL, &fins, &count) == MPI_SUCCESS &&
        MPI_T_pvar_start(session, fins) == MPI_SUCCESS;
}

static void arm(void)
{
    static const char *const events[][2] = {
        {"sent", "p2p_rts_event"},         {"answered", "p2p_data_start_event"},
        {"recvd", "p2p_data_recvd_event"}, {"told", "request_completed_event"},
        {"done", "p2p_data_done_event"},
    };

    for (size_t k = 0; k < sizeof(events) / sizeof(events[0]); k++) {
        if (is_phase(events[k][0])) {
            listen_to(events[k][1]);
        }
    }
    count_fins();
    if (is_phase("placing")) {
        guard();
    }
    atomic_store(&is_armed, true);
}

/* ---- both sides ---- */

/* Memory that has no name anywhere, for who looks what is left. */
static void say_memory(void)
{
    FILE *f = fopen("/proc/self/maps", "re");
    char line[512];
    long inode;

    while (f && fgets(line, sizeof(line), f)) {
        if (strstr(line, "/memfd:") && sscanf(line, "%*s %*s %*s %*s %ld", &inode) == 1) {
            printf("memfd %ld\n", inode);
        }
    }
    fflush(stdout);
    if (f) {
        fclose(f);
    }
}

static void receive(MPI_Request *r)
{
    int is_here = 0;

    while (is_phase("sent")) {
        pause();
    }
    while (is_phase("arrived") && !is_here) {
        MPI_Iprobe(0, TAG, MPI_COMM_WORLD, &is_here, MPI_STATUS_IGNORE);
    }
    if (is_here) {
        strike(0);
    }
    MPI_Irecv(data, LEN, MPI_CHAR, 0, TAG, MPI_COMM_WORLD, r);
}

int main(int argc, char **argv)
{
    long pid = getpid(), flag = (long)&is_there;
    MPI_Request r;
    int provided, is_over = 0;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    phase = argv[1];
    observer = atoi(argv[2]);
    victim = atoi(argv[3]);
    data = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    memset(data, 1, LEN);
    MPI_Allgather(&pid, 1, MPI_LONG, pids, 1, MPI_LONG, MPI_COMM_WORLD);
    MPI_Allgather(&flag, 1, MPI_LONG, flags, 1, MPI_LONG, MPI_COMM_WORLD);
    if (rank == observer) {
        arm();
    }
    say_memory();
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) {
        MPI_Isend(data, LEN, MPI_CHAR, 1, TAG, MPI_COMM_WORLD, &r);
    } else {
        receive(&r);
    }
    while (!is_over) { /* awake, so that it can be asked to help */
        MPI_Test(&r, &is_over, MPI_STATUS_IGNORE);
    }
    if (rank == observer && !atomic_load(&is_struck)) {
        fprintf(stderr, "%s: the message was not seen there\n", phase);
        MPI_Abort(MPI_COMM_WORLD, 3);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

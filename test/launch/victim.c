/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the tests of faults need beside long messages (strike.c).
 *
 *     victim short      the last rank dies amid short collectives
 *     victim lock       the last rank dies while it holds the lock of a window
 *     victim nobody     messages of many lengths arrive as they were sent
 *     victim forbidden  the same, where the system forbids single copy (seccomp); says what counted
 */
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <mpi.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

static int rank, size;

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

static void short_ones(void)
{
    double x = 1, sum;

    for (int i = 0;; i++) {
        if (i == 50 && rank == size - 1) {
            die();
        }
        MPI_Allreduce(&x, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    }
}

/* The others ask for the lock when its holder may be dead already; each of them is to get an error.
   They do not let themselves be ended before that. */
static void lock_holder(void)
{
    int home = 0, code, klass, dummy = 0;
    MPI_Win win;
    void *base;

    signal(SIGTERM, SIG_IGN);
    MPI_Win_allocate(64, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &base, &win);
    MPI_Win_set_errhandler(win, MPI_ERRORS_RETURN);
    if (rank == size - 1) {
        MPI_Win_lock(MPI_LOCK_EXCLUSIVE, home, 0, win);
        for (int k = 0; k < size - 1; k++) {
            MPI_Send(&dummy, 1, MPI_INT, k, 0, MPI_COMM_WORLD);
        }
        for (int k = 0; k < size - 1; k++) {
            MPI_Recv(&dummy, 1, MPI_INT, k, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
        die();
    }
    MPI_Recv(&dummy, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Send(&dummy, 1, MPI_INT, size - 1, 0, MPI_COMM_WORLD);
    code = MPI_Win_lock(rank % 2 ? MPI_LOCK_SHARED : MPI_LOCK_EXCLUSIVE, home, 0, win);
    MPI_Error_class(code, &klass);
    printf("rank %d: %s\n", rank, klass == MPI_ERR_PROC_ABORTED ? "refused" : "wrong");
    fflush(stdout);
    _exit(0);
}

/* ---- nobody dies ---- */

static void forbid(void)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_writev, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0) {
        exit(77);
    }
}

static void exchange(int len, int seed)
{
    char *out = malloc((size_t)len + 1), *in = calloc((size_t)len + 1, 1);

    for (int i = 0; i < len; i++) {
        out[i] = (char)(i * 7 + seed);
    }
    MPI_Sendrecv(out, len, MPI_CHAR, (rank + 1) % size, 0, in, len, MPI_CHAR,
                 (rank + size - 1) % size, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (memcmp(in, out, (size_t)len) != 0) {
        fprintf(stderr, "rank %d: a message of %d bytes is not what was sent\n", rank, len);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    free(in);
    free(out);
}

static void all_lengths(void)
{
    for (int len = 1; len <= 8 << 20; len *= 2) {
        exchange(len - 1, len);
        exchange(len + 13, len);
    }
    printf("all is well\n");
}

int main(int argc, char **argv)
{
    const char *phase = argc > 1 ? argv[1] : "nobody";

    if (strcmp(phase, "forbidden") == 0) {
        forbid();
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    if (strcmp(phase, "nobody") == 0 || strcmp(phase, "forbidden") == 0) {
        all_lengths();
    } else if (strcmp(phase, "lock") == 0) {
        lock_holder();
    } else {
        short_ones();
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Rank 0 sends a long message to rank 1 while the others wait in a barrier, and one of them dies in
 * a certain phase:
 *
 *     victim asked      rank 0, the RTS is sent, nobody has answered
 *     victim posted     rank 1, its receive is there, nothing has come
 *     victim reader     rank 1, a part of the message is there
 *     victim writer     rank 0, a part of the message is there
 *     victim last       rank 1, all is there, before it does anything else
 *     victim short      the last rank, amid short collectives
 *
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

#define LEN (64 << 20)

static int rank, size;
static volatile char *data;

static void die(void)
{
    kill(getpid(), SIGKILL);
    pause();
}

static int is_under_way(void)
{
    return data[0] && !data[LEN - 1];
}

static void sender(const char *phase)
{
    MPI_Request r, go;
    int flag = 0, is_writer = strcmp(phase, "writer") == 0;

    memset((char *)data, 1, LEN);
    MPI_Irecv(NULL, 0, MPI_CHAR, 1, 1, MPI_COMM_WORLD, &go);
    MPI_Isend((char *)data, LEN, MPI_CHAR, 1, 0, MPI_COMM_WORLD, &r);
    if (strcmp(phase, "asked") == 0) {
        die();
    }
    while (is_writer && !flag) {
        int is_sent;

        MPI_Test(&r, &is_sent, MPI_STATUS_IGNORE);
        MPI_Test(&go, &flag, MPI_STATUS_IGNORE);
    }
    if (is_writer) {
        die();
    }
    MPI_Wait(&r, MPI_STATUS_IGNORE);
}

static void receiver(const char *phase)
{
    int flag = 0, is_told = 0;
    MPI_Request r, go = MPI_REQUEST_NULL;

    MPI_Irecv((char *)data, LEN, MPI_CHAR, 0, 0, MPI_COMM_WORLD, &r);
    if (strcmp(phase, "posted") == 0) {
        die();
    }
    while (!flag) {
        MPI_Test(&r, &flag, MPI_STATUS_IGNORE);
        if (strcmp(phase, "reader") == 0 && (is_under_way() || flag)) {
            die();
        }
        if (!is_told && data[0]) {
            MPI_Isend(NULL, 0, MPI_CHAR, 0, 1, MPI_COMM_WORLD, &go);
            is_told = 1;
        }
    }
    if (strcmp(phase, "last") == 0) {
        die();
    }
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
        MPI_Finalize();
        return 0;
    }
    data = calloc(LEN, 1);
    if (!data) {
        return 1;
    }
    if (strcmp(phase, "short") == 0) {
        short_ones();
    } else if (rank == 0) {
        sender(phase);
    } else if (rank == 1) {
        receiver(phase);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Finalize();
    return 0;
}

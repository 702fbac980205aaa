/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two ranks beside foreign processes that compute: mean times over a second each of an 8-byte
 * ping-pong (one way), allreduce and barrier. The parameter of a figure is the load: 1 or 2 busy
 * processes that run all the time, or 12: one, and another that computes for 20 ms and sleeps for
 * 30 ms. Means, not quartiles, since what is looked for is time that is lost in a few long waits.
 */
#include "../harness/bench.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { SECOND = 1000000000, MAX_BUSY = 2 };

/* A foreign process: off_ms 0: it never sleeps. */
static void compute(long on_ms, long off_ms)
{
    struct timespec off = {.tv_nsec = off_ms * 1000000};

    prctl(PR_SET_PDEATHSIG, SIGKILL);
    for (;;) {
        double since = now_ns();

        while (!off_ms || now_ns() - since < 1e6 * (double)on_ms) {
        }
        nanosleep(&off, NULL);
    }
}

/* It is another program, so that nothing of the MPI library runs in it. */
static pid_t start_busy(const char *program, const char *on_ms, const char *off_ms)
{
    pid_t pid = fork();

    if (pid == 0) {
        cpu_set_t all;

        CPU_ZERO(&all);
        for (int k = 0; k < (int)sysconf(_SC_NPROCESSORS_ONLN); k++) {
            CPU_SET(k, &all);
        }
        sched_setaffinity(0, sizeof(all), &all);
        execl(program, program, "busy", on_ms, off_ms, (char *)NULL);
        _exit(1);
    }
    return pid;
}

static void pingpong(int rank)
{
    char bytes[8] = "";

    if (rank == 0) {
        MPI_Send(bytes, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        MPI_Recv(bytes, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    } else {
        MPI_Recv(bytes, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        MPI_Send(bytes, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD);
    }
}

static void allreduce(int rank)
{
    double value = rank, sum;

    MPI_Allreduce(&value, &sum, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

static void barrier(int rank)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Mean of one call over about a second, the same number on both ranks. */
static double mean_us(void (*work)(int rank), int rank)
{
    double began = now_ns(), took = 0;
    long n = 0;

    for (int more = 1; more;) {
        for (int k = 0; k < 100; k++) {
            work(rank);
        }
        n += 100;
        took = now_ns() - began;
        more = took < SECOND;
        MPI_Bcast(&more, 1, MPI_INT, 0, MPI_COMM_WORLD);
    }
    return took / (double)n / 1e3;
}

static void measure(int rank, int load)
{
    double us[3] = {mean_us(pingpong, rank) / 2, mean_us(allreduce, rank), mean_us(barrier, rank)};

    if (rank == 0) {
        report("busy_latency_8B", load, us[0], "us");
        report("busy_allreduce_8B", load, us[1], "us");
        report("busy_barrier", load, us[2], "us");
    }
}

int main(int argc, char **argv)
{
    static const int loads[] = {1, 12, 2};
    char path[PATH_MAX] = "";
    int rank;

    if (argc == 4 && strcmp(argv[1], "busy") == 0) {
        compute(atol(argv[2]), atol(argv[3]));
    }
    if (readlink("/proc/self/exe", path, sizeof(path) - 1) < 0) {
        return 1;
    }
    MPI_Init(&argc, &argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    for (int k = 0; k < 3; k++) {
        pid_t busy[MAX_BUSY] = {0};

        if (rank == 0) {
            busy[0] = start_busy(path, "0", "0");
            busy[1] = loads[k] == 1 ? 0 : start_busy(path, "20", loads[k] == 12 ? "30" : "0");
        }
        MPI_Barrier(MPI_COMM_WORLD);
        measure(rank, loads[k]);
        for (int b = 0; b < MAX_BUSY; b++) {
            if (busy[b] > 0) {
                kill(busy[b], SIGKILL);
                waitpid(busy[b], NULL, 0);
            }
        }
    }
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Why shm's sleepers do not use membarrier(2): a process runs on processor 1, registers on 0 and
 * goes back to 1, where nothing else has run since. If the kernel then interrupts it for the
 * membarrier of another process, that takes microseconds; if it has forgotten the processor, no
 * time. Prints how often it was forgotten, and the same for processes that never left processor 1.
 */
#include <linux/membarrier.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/sync.h"

#define N_PROCESSES 200
#define N_CALLS     50
#define NO_IPI_NS   1000

static void pin(int cpu)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)cpu, &set);
    if (sched_setaffinity(0, sizeof(set), &set) < 0) {
        perror("membarrier: two processors are needed");
        exit(1);
    }
}

static void run_for(uint64_t ns)
{
    uint64_t end = fm_now_ns() + ns;

    while (fm_now_ns() < end) {
    }
}

static void child(bool is_moved, _Atomic int *is_ready)
{
    pin(1);
    run_for(1000000);
    if (is_moved) {
        pin(0);
    }
    if (syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_GLOBAL_EXPEDITED, 0, 0) < 0) {
        perror("membarrier");
        _exit(1);
    }
    pin(1);
    run_for(1000000);
    atomic_store(is_ready, 1);
    for (;;) {
        fm_cpu_relax();
    }
}

static bool is_forgotten(bool is_moved, _Atomic int *is_ready)
{
    uint64_t best = UINT64_MAX;
    pid_t pid;

    atomic_store(is_ready, 0);
    pid = fork();
    if (pid == 0) {
        child(is_moved, is_ready);
    }
    while (!atomic_load(is_ready)) {
        usleep(100);
    }
    for (int k = 0; k < N_CALLS; k++) {
        uint64_t t0 = fm_now_ns();

        syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL_EXPEDITED, 0, 0);
        best = fm_now_ns() - t0 < best ? fm_now_ns() - t0 : best;
    }
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
    return best < NO_IPI_NS;
}

int main(void)
{
    _Atomic int *is_ready =
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (is_ready == MAP_FAILED) {
        perror("membarrier");
        return 1;
    }
    pin(0);
    for (int is_moved = 0; is_moved < 2; is_moved++) {
        int n = 0;

        for (int k = 0; k < N_PROCESSES; k++) {
            n += is_forgotten(is_moved, is_ready);
        }
        printf("%s: forgotten %d of %d\n", is_moved ? "registered elsewhere" : "registered there",
               n, N_PROCESSES);
    }
    return 0;
}

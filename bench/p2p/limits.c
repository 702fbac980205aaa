/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the machine itself can do, without any MPI: a cache line that goes to the other processor
 * and back (half a round trip), and memcpy within one processor's caches and memory. No message
 * between two processes can be quicker than the one; one copy of a message is as quick as the
 * other. `limits line` takes only the line, a few milliseconds: which state the machine is in.
 */
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { N_BATCHES = 21, N_BOUNCES = 20000, N_GLANCE = 200 };

static double now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return 1e9 * (double)t.tv_sec + (double)t.tv_nsec;
}

static void pin(long core)
{
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)(core % sysconf(_SC_NPROCESSORS_ONLN)), &set);
    sched_setaffinity(0, sizeof(set), &set);
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

static double quiet(double *samples)
{
    qsort(samples, N_BATCHES, sizeof(*samples), by_value);
    return samples[N_BATCHES / 4];
}

/* The side that is `odd` waits for odd numbers and answers with the even ones after them. */
static double bounce(atomic_long *line, int odd, long n)
{
    double samples[N_BATCHES];

    for (int b = 0; b < N_BATCHES; b++) {
        double began = now_ns();

        for (long i = 2 * b * n + odd; i < 2 * (b + 1) * n; i += 2) {
            while (atomic_load_explicit(line, memory_order_acquire) != i) {
            }
            atomic_store_explicit(line, i + 1, memory_order_release);
        }
        samples[b] = (now_ns() - began) / (double)n / 2;
    }
    return quiet(samples);
}

static void cache_line(long n)
{
    void *page = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    pid_t child;

    if (page == MAP_FAILED || sysconf(_SC_NPROCESSORS_ONLN) < 2) {
        return;
    }
    child = fork();
    pin(child != 0);
    if (child == 0) {
        bounce(page, 1, n);
        _exit(0);
    }
    if (child > 0) {
        printf("cacheline 8 %.6g ns\n", bounce(page, 0, n));
        waitpid(child, NULL, 0);
    }
    munmap(page, 4096);
}

static void copy(size_t len)
{
    char *from = aligned_alloc(4096, (len + 4095) & ~(size_t)4095);
    char *to = aligned_alloc(4096, (len + 4095) & ~(size_t)4095);
    int n = len <= 65536 ? 2000 : 40;
    double samples[N_BATCHES];

    if (!from || !to) {
        exit(1);
    }
    memset(from, 1, len);
    memset(to, 2, len);
    for (int b = 0; b < N_BATCHES; b++) {
        double began = now_ns();

        for (int i = 0; i < n; i++) {
            memcpy(to, from, len);
            __asm__ volatile("" : : "r"(to), "r"(from) : "memory");
        }
        samples[b] = (now_ns() - began) / n;
    }
    printf("memcpy %zu %.6g MB/s\n", len, 1e3 * (double)len / quiet(samples));
    free(from);
    free(to);
}

int main(int argc, char **argv)
{
    static const size_t lengths[] = {64, 1024, 8192, 65536, 262144, 1 << 20, 4 << 20};

    if (argc > 1 && strcmp(argv[1], "line") == 0) {
        cache_line(N_GLANCE);
        return 0;
    }
    cache_line(N_BOUNCES);
    pin(0);
    for (size_t i = 0; i < sizeof(lengths) / sizeof(lengths[0]); i++) {
        copy(lengths[i]);
    }
    return 0;
}

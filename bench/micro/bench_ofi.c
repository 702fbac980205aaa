/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The libfabric transport alone, between two processes of this host: half a round trip of a message
 * of the given sizes, messages per second one way, and what registering costs.
 *
 *     bench_ofi [SIZE...]        the provider is taken from FATHOM_OFI_PROVIDER
 *
 * bench/ofi_beside runs it next to libfabric's own fi_pingpong.
 */
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "transport/ofi/ofi_open.h"
#include "util/sync.h"

enum { N_BATCHES = 21, MAX_LEN = 1 << 20, N_RATE = 200000, N_REGISTER = 2000 };

struct side {
    struct fm_transport *tp;
    struct fm_ep *to_other;
    uint64_t n_got;
};

static void deliver(void *ctx, const void *data, size_t len)
{
    struct side *s = ctx;

    (void)data;
    (void)len;
    s->n_got++;
}

static void failed(void *ctx, int peer, const char *why)
{
    (void)ctx;
    fprintf(stderr, "bench_ofi: peer %d: %s\n", peer, why);
    exit(1);
}

static void must(int rc)
{
    if (rc) {
        fprintf(stderr, "bench_ofi: %s: %s\n", fm_status_name(rc), fm_why());
        exit(1);
    }
}

static void send_surely(struct side *s, const void *data, size_t len)
{
    int rc;

    while ((rc = fm_ep_send(s->to_other, data, len, NULL, 0)) == FM_AGAIN) {
        fm_transport_poll(s->tp);
    }
    must(rc);
}

static void wait_for(struct side *s, uint64_t n)
{
    while (s->n_got < n) {
        fm_transport_poll(s->tp);
    }
}

static int by_value(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Half a round trip in ns, the lower quartile of the batches. */
static double ping_pong(struct side *s, int me, const char *buf, size_t len)
{
    double samples[N_BATCHES];
    int n = len <= 4096 ? 2000 : 300;
    uint64_t base = s->n_got;

    for (int b = -1; b < N_BATCHES; b++) {
        uint64_t began = fm_now_ns();

        for (int k = 0; k < n; k++) {
            if (me == 0) {
                send_surely(s, buf, len);
            }
            wait_for(s, ++base);
            if (me == 1) {
                send_surely(s, buf, len);
            }
        }
        if (b >= 0) {
            samples[b] = (double)(fm_now_ns() - began) / n / 2;
        }
    }
    qsort(samples, N_BATCHES, sizeof(*samples), by_value);
    return samples[N_BATCHES / 4];
}

static double rate(struct side *s, int me, const char *buf, size_t len)
{
    uint64_t base = s->n_got, began = fm_now_ns();

    if (me == 0) {
        for (int k = 0; k < N_RATE; k++) {
            send_surely(s, buf, len);
        }
        wait_for(s, base + 1);
    } else {
        wait_for(s, base + N_RATE);
        send_surely(s, buf, len);
    }
    return N_RATE / ((double)(fm_now_ns() - began) * 1e-9);
}

/* Mean ns of expose and unexpose of len bytes. */
static double registering(struct side *s, char *buf, size_t len)
{
    uint64_t began = fm_now_ns();
    struct fm_mem mem;

    for (int k = 0; k < N_REGISTER; k++) {
        must(s->tp->ops->expose(s->tp, buf, len, FM_MEM_READ | FM_MEM_WRITE, FM_MEM_REQUEST, &mem));
        s->tp->ops->unexpose(s->tp, &mem);
    }
    return (double)(fm_now_ns() - began) / N_REGISTER;
}

static void connect_sides(struct side *s, int me, int fd)
{
    struct fm_transport_args args = {.self = me, .n_procs = 2, .tag = "bench", .is_one_host = true};
    char addr[FM_ADDRESS_MAX];
    size_t len;
    void *counters;

    if (fathom_mpit_add(&fm_ofi_vars, &counters)) {
        exit(1);
    }
    args.sink = (struct fm_sink){.ctx = s, .deliver = deliver, .failed = failed};
    must(fm_ofi_open(&args, counters, &s->tp));
    must(s->tp->ops->address(s->tp, addr, &len));
    if (write(fd, addr, len) != (ssize_t)len) {
        exit(1);
    }
    len = (size_t)read(fd, addr, sizeof(addr));
    must(s->tp->ops->connect(s->tp, 1 - me, addr, len, &s->to_other));
}

static void run(int me, int fd, int n_sizes, char **sizes)
{
    struct side s = {0};
    char *buf = aligned_alloc(64, MAX_LEN);
    cpu_set_t set;

    CPU_ZERO(&set);
    CPU_SET((size_t)me % (size_t)sysconf(_SC_NPROCESSORS_ONLN), &set);
    sched_setaffinity(0, sizeof(set), &set);
    memset(buf, 1, MAX_LEN);
    connect_sides(&s, me, fd);
    for (int k = 0; k < n_sizes; k++) {
        size_t len = (size_t)atol(sizes[k]);
        double ns;

        len = len < 1 ? 1 : len > s.tp->max_send ? s.tp->max_send : len;
        ns = ping_pong(&s, me, buf, len);
        if (me == 0) {
            printf("latency %zu %.6g ns\n", len, ns);
        }
    }
    if (n_sizes > 0) {
        double per_s = rate(&s, me, buf, 8);

        if (me == 0) {
            printf("rate 8 %.6g msg/s\n", per_s);
        }
    }
    if (me == 0 && s.tp->has_rma) {
        printf("register 65536 %.6g ns\n", registering(&s, buf, 65536));
        printf("register %d %.6g ns\n", MAX_LEN, registering(&s, buf, MAX_LEN));
    }
    fflush(stdout);
    s.tp->ops->close(s.tp);
    free(buf);
}

int main(int argc, char **argv)
{
    static char *usual[] = {"8", "40", "64", "256", "1024", "4096", "16384", "65536"};
    int fds[2], status = 0;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds)) {
        return 1;
    }
    child = fork();
    if (child < 0) {
        return 1;
    }
    run(child ? 0 : 1, fds[child ? 0 : 1], argc > 1 ? argc - 1 : (int)FM_ARRAY_LEN(usual),
        argc > 1 ? argv + 1 : usual);
    if (child) {
        waitpid(child, &status, 0);
    }
    return status ? 1 : 0;
}

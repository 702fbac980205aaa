/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The end of a peer in another process. Killed in the middle of traffic: the transport goes on,
 * refuses or reports the peer once, never crashes, and closes in time. Closed properly: what it
 * sent before arrives, even if the receiver was not listening then.
 *
 *     test_ofi_end PROVIDER kill|leave
 */
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/mpit_double.h"
#include "transport/ofi/ofi.h"
#include "util/sync.h"

#define SECOND UINT64_C(1000000000)

struct side {
    struct fm_transport *tp;
    struct fm_ep *ep;
    uint64_t n_got, n_failed;
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
    struct side *s = ctx;

    (void)peer;
    (void)why;
    s->n_failed++;
}

static void done(struct fm_rma *rma, int status)
{
    (void)status;
    rma->priv = NULL;
    free(rma);
}

static int give_up(const char *what)
{
    fprintf(stderr, "%s: %s\n", what, fm_why());
    return EXIT_FAILURE;
}

/* 0; 77 when the provider is not here. */
static int open_side(struct side *s, int me, int fd, const char *provider, void *counters)
{
    struct fm_transport_args args = {.self = me, .n_procs = 2, .tag = "kill", .is_one_host = true};
    struct fm_ofi_counters *w = counters;
    char addr[FM_ADDRESS_MAX];
    size_t len;
    ssize_t n;

    snprintf(w->provider, sizeof(w->provider), "%s", provider);
    w->drain_ms = 500;
    args.sink = (struct fm_sink){.ctx = s, .deliver = deliver, .failed = failed};
    if (fm_ofi_open(&args, counters, &s->tp)) {
        return 77;
    }
    if (s->tp->ops->address(s->tp, addr, &len) || write(fd, addr, len) != (ssize_t)len ||
        (n = read(fd, addr, sizeof(addr))) <= 0) {
        return give_up("address");
    }
    return s->tp->ops->connect(s->tp, 1 - me, addr, (size_t)n, &s->ep) ? give_up("connect") : 0;
}

/* Sends messages of both kinds as fast as they go, for ever. */
static int victim(int fd, const char *provider)
{
    static char buf[4096];
    struct side s = {0};
    int rc = open_side(&s, 1, fd, provider, fm_double_block(&fm_ofi_vars));

    for (uint64_t n = 0; rc >= 0 && rc != 77; n++) {
        rc = fm_ep_send(s.ep, buf, n % 2 ? 24 : 3000, NULL, 0);
        fm_transport_poll(s.tp);
    }
    return rc == 77 ? 77 : EXIT_FAILURE;
}

/* Sends injected messages until the pipe is full, reports how many, and closes. */
static int leaver(int fd, const char *provider)
{
    static char buf[16];
    struct side s = {0};
    void *w = fm_double_block(&fm_ofi_vars);
    int rc = open_side(&s, 1, fd, provider, w);
    uint64_t n_sent = 0, until = 0;

    while (rc == 0 && (!n_sent || fm_now_ns() < until)) {
        int sent = fm_ep_send(s.ep, buf, sizeof(buf), NULL, 0);

        if (sent < 0 || fm_transport_poll(s.tp) < 0) {
            return give_up("send");
        }
        n_sent += sent == 0;
        until = sent == 0 ? fm_now_ns() + SECOND / 10 : until;
    }
    if (rc == 0 && write(fd, &n_sent, sizeof(n_sent)) == (ssize_t)sizeof(n_sent)) {
        ((struct fm_ofi_counters *)w)->drain_ms = 20000;
        s.tp->ops->close(s.tp);
    }
    free(w);
    return rc;
}

/* One round of messages, and a get from memory that may be gone. */
static void traffic(struct side *s, uint64_t n, const struct fm_rkey *key, char *local)
{
    static const char buf[4096];
    struct fm_rma *rma;

    fm_ep_send(s->ep, buf, n % 2 ? 24 : 3000, NULL, 0);
    fm_transport_poll(s->tp);
    if (!s->tp->has_rma || n % 64) {
        return;
    }
    rma = calloc(1, sizeof(*rma));
    *rma = (struct fm_rma){.op = FM_RMA_GET, .local = local, .len = 4096, .remote = *key};
    rma->done = done;
    if (s->ep->ops->rma(s->ep, rma)) {
        free(rma);
    }
}

/* The peer is killed while both sides send. */
static int watch_killed(struct side *s, pid_t child)
{
    struct fm_rkey nowhere = {.key = 1u << 30};
    static char local[4096];
    uint64_t until, began;

    for (until = fm_now_ns() + 40 * SECOND; s->n_got < 2000 && fm_now_ns() < until;) {
        traffic(s, 1, &nowhere, local);
    }
    kill(child, SIGKILL);
    until = fm_now_ns() + SECOND / 2;
    for (uint64_t n = 0; fm_now_ns() < until; n++) {
        traffic(s, n, &nowhere, local);
    }
    began = fm_now_ns();
    s->tp->ops->close(s->tp);
    printf("%lu messages, %lu failures reported, closed in %lu ms\n", (unsigned long)s->n_got,
           (unsigned long)s->n_failed, (unsigned long)((fm_now_ns() - began) / 1000000));
    return s->n_got >= 2000 && s->n_failed <= 1 && fm_now_ns() - began < 15 * SECOND ? EXIT_SUCCESS
                                                                                     : EXIT_FAILURE;
}

/* The peer closes while the pipe is full; only then are its messages prefetched. */
static int watch_leave(struct side *s, int fd)
{
    uint64_t until = fm_now_ns() + 40 * SECOND, n_sent = 0;

    while (s->n_got < 1 && fm_now_ns() < until) {
        fm_transport_poll(s->tp);
    }
    if (read(fd, &n_sent, sizeof(n_sent)) != (ssize_t)sizeof(n_sent)) {
        return give_up("count");
    }
    while (s->n_got < n_sent && fm_now_ns() < until) {
        fm_transport_poll(s->tp);
    }
    printf("%lu of %lu messages came\n", (unsigned long)s->n_got, (unsigned long)n_sent);
    s->tp->ops->close(s->tp);
    return s->n_got == n_sent ? EXIT_SUCCESS : EXIT_FAILURE;
}

int main(int argc, char **argv)
{
    const char *provider = argc > 1 ? argv[1] : "tcp";
    bool is_leave = argc > 2 && strcmp(argv[2], "leave") == 0;
    struct fm_ofi_counters *w = fm_double_block(&fm_ofi_vars);
    struct side s = {0};
    int fds[2], rc;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) || (child = fork()) < 0) {
        return give_up("fork");
    }
    if (child == 0) {
        close(fds[0]);
        _exit(is_leave ? leaver(fds[1], provider) : victim(fds[1], provider));
    }
    close(fds[1]);
    rc = open_side(&s, 0, fds[0], provider, w);
    if (rc) {
        kill(child, SIGKILL);
        printf("%s\n", rc == 77 ? fm_why() : "no start");
    } else {
        rc = is_leave ? watch_leave(&s, fds[0]) : watch_killed(&s, child);
    }
    waitpid(child, NULL, 0);
    close(fds[0]);
    free(w);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A peer in another process is killed in the middle of traffic: the transport goes on, refuses or
 * reports the peer once, never crashes, and closes in time.
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
static int open_side(struct side *s, int me, int fd, const char *provider, void *words)
{
    struct fm_transport_args args = {.self = me, .n_procs = 2, .tag = "kill", .is_one_host = true};
    struct fm_ofi_words *w = words;
    char addr[FM_ADDRESS_MAX];
    size_t len;
    ssize_t n;

    snprintf(w->provider, sizeof(w->provider), "%s", provider);
    w->drain_ms = 500;
    args.sink = (struct fm_sink){.ctx = s, .deliver = deliver, .failed = failed};
    if (fm_ofi_open(&args, words, &s->tp)) {
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

int main(int argc, char **argv)
{
    const char *provider = argc > 1 ? argv[1] : "tcp";
    struct fm_ofi_words *w = fm_double_block(&fm_ofi_vars);
    struct fm_rkey nowhere = {.key = 1u << 30};
    static char local[4096];
    struct side s = {0};
    uint64_t until, began;
    int fds[2], rc;
    pid_t child;

    if (socketpair(AF_UNIX, SOCK_SEQPACKET, 0, fds) || (child = fork()) < 0) {
        return give_up("fork");
    }
    if (child == 0) {
        close(fds[0]);
        _exit(victim(fds[1], provider));
    }
    close(fds[1]);
    rc = open_side(&s, 0, fds[0], provider, w);
    if (rc) {
        kill(child, SIGKILL);
        waitpid(child, NULL, 0);
        free(w);
        printf("%s\n", rc == 77 ? fm_why() : "no start");
        return rc;
    }
    for (until = fm_now_ns() + 20 * SECOND; s.n_got < 2000 && fm_now_ns() < until;) {
        traffic(&s, 1, &nowhere, local);
    }
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    until = fm_now_ns() + SECOND / 2;
    for (uint64_t n = 0; fm_now_ns() < until; n++) {
        traffic(&s, n, &nowhere, local);
    }
    began = fm_now_ns();
    s.tp->ops->close(s.tp);
    printf("%lu messages, told %lu times, closed in %lu ms\n", (unsigned long)s.n_got,
           (unsigned long)s.n_failed, (unsigned long)((fm_now_ns() - began) / 1000000));
    rc = s.n_got >= 2000 && s.n_failed <= 1 && fm_now_ns() - began < 5 * SECOND ? EXIT_SUCCESS
                                                                                : EXIT_FAILURE;
    close(fds[0]);
    free(w);
    return rc;
}

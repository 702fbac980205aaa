/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A process of another job, where possible of another user, attacks a process through the provider
 * whose name is the argument: it forges messages, and reads and writes memory by the keys that it
 * guesses. The address of the victim, which any user can find out, is all that it has.
 */
#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/mpit_double.h"
#include "support/suite.h"
#include "transport/ofi/ofi.h"
#include "util/sync.h"

#define N_FORGED      50
#define N_KEYS        64
#define SECRET_AT     40 /* of the address: behind magic, length and provider */
#define NOBODY        65534
#define TIME_LIMIT_NS (30 * UINT64_C(1000000000))

static const char *provider;
static uint64_t n_delivered;
static volatile int n_ended, status;

static void deliver(void *ctx, const void *data, size_t len)
{
    n_delivered++;
}

static void failed(void *ctx, int peer, const char *why)
{
}

static struct fm_transport *open_one(int self, struct fm_ofi_counters **out_w)
{
    struct fm_transport_args args = {.self = self, .n_procs = 2, .tag = "t", .is_one_host = true};
    struct fm_ofi_counters *w = fm_double_block(&fm_ofi_vars);
    struct fm_transport *tp = NULL;

    args.sink = (struct fm_sink){.deliver = deliver, .failed = failed};
    snprintf(w->provider, sizeof(w->provider), "%s", provider);
    w->drain_ms = 1000;
    if (fm_ofi_open(&args, w, &tp) != 0) {
        printf("skipped: %s\n", fm_why());
        exit(77);
    }
    *out_w = w;
    return tp;
}

static void done(struct fm_rma *rma, int rc)
{
    n_ended++;
    status = rc;
}

/* Try one key: 0 when the transfer succeeded. */
static int try_key(struct fm_transport *tp, struct fm_ep *ep, struct fm_rma *rma)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS / N_KEYS;
    int before = n_ended, rc;

    rma->done = done;
    while ((rc = ep->ops->rma(ep, rma)) == FM_AGAIN && fm_now_ns() < until) {
        fm_transport_poll(tp);
    }
    while (rc == 0 && n_ended == before && fm_now_ns() < until) {
        fm_transport_poll(tp);
    }
    return rc == 0 && n_ended != before ? status : -1;
}

/* The attacker. Exit status: how many transfers succeeded, at most 100; 101: not all was tried. */
static int attack(int address_fd, void *victim_at)
{
    char address[FM_ADDRESS_MAX] = {0}, loot[16] = {0};
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;
    struct fm_ofi_counters *w;
    struct fm_transport *tp;
    struct fm_ep *ep;
    int n_stolen = 0, rc;
    size_t len = (size_t)read(address_fd, address, sizeof(address));

    if (getuid() == 0 && setuid(NOBODY) != 0) {
        return 101;
    }
    tp = open_one(1, &w);
    if (tp->ops->connect(tp, 0, address, len, &ep) != 0) {
        return 101;
    }
    for (int k = 0; k < N_FORGED;) {
        rc = fm_ep_send(ep, "forged message of a foreigner...", 32, NULL, 0);
        k += rc == 0;
        fm_transport_poll(tp);
        if (rc < 0 || fm_now_ns() > until) {
            return 101;
        }
    }
    for (uint64_t key = 0; key < N_KEYS && tp->has_rma; key++) {
        struct fm_rma get = {.op = FM_RMA_GET, .local = loot, .len = sizeof(loot)};
        struct fm_rma put = {.op = FM_RMA_PUT, .local = loot, .len = sizeof(loot)};
        bool is_virtual = fm_container_of(tp, struct fm_ofi, tp)->mr_mode & FI_MR_VIRT_ADDR;

        get.remote = put.remote =
            (struct fm_rkey){.addr = is_virtual ? (uintptr_t)victim_at : 0, .key = key};
        n_stolen += try_key(tp, ep, &get) == 0;
        n_stolen += try_key(tp, ep, &put) == 0;
    }
    return n_stolen < 100 ? n_stolen : 100;
}

static void poll_until_exit(struct fm_transport *tp, pid_t child, int *out_status)
{
    uint64_t until = fm_now_ns() + 2 * TIME_LIMIT_NS;

    while (waitpid(child, out_status, WNOHANG) == 0) {
        ck_assert(fm_now_ns() < until);
        ck_assert_int_ge(fm_transport_poll(tp), 0);
    }
    for (int k = 0; k < 1000; k++) { /* what it has left on the way */
        ck_assert_int_ge(fm_transport_poll(tp), 0);
    }
}

START_TEST(a_foreign_process_is_ignored)
{
    static char memory[16] = "as it was before";
    char address[FM_ADDRESS_MAX];
    struct fm_ofi_counters *w;
    struct fm_transport *tp = open_one(0, &w);
    struct fm_mem mem = {0};
    int pipes[2], exited;
    size_t len;
    pid_t child;

    ck_assert_int_eq(tp->ops->address(tp, address, &len), 0);
    memset(address + SECRET_AT, 0, sizeof(struct fm_ofi_secret)); /* this is not public */
    if (tp->has_rma) {
        ck_assert_int_eq(tp->ops->expose(tp, memory, sizeof(memory), FM_MEM_READ | FM_MEM_WRITE,
                                         FM_MEM_WINDOW, &mem),
                         0);
    }
    ck_assert_int_eq(pipe(pipes), 0);
    child = fork();
    if (child == 0) {
        _exit(attack(pipes[0], memory));
    }
    ck_assert_int_eq(write(pipes[1], address, len), (ssize_t)len);
    poll_until_exit(tp, child, &exited);
    ck_assert(WIFEXITED(exited));
    ck_assert_int_eq(WEXITSTATUS(exited), 0);
    ck_assert_uint_eq(n_delivered, 0);
    ck_assert_int_eq(memcmp(memory, "as it was before", sizeof(memory)), 0);
#if FM_STATS
    ck_assert_uint_eq(w->n_foreign, N_FORGED);
    ck_assert_uint_eq(w->n_recvs, 0);
#endif
    if (tp->has_rma) {
        tp->ops->unexpose(tp, &mem);
    }
    tp->ops->close(tp);
    free(w);
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("ofi_attack");
    TCase *tc = tcase_create("foreign process");

    provider = argc > 1 ? argv[1] : "tcp";
    if (getuid() != 0) {
        printf("not root: the attacker is of the same user\n");
    }
    tcase_set_timeout(tc, 80);
    tcase_add_test(tc, a_foreign_process_is_ignored);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

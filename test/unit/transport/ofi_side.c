/* SPDX-License-Identifier: BSD-3-Clause */
/* Two libfabric transports in one process; see the header. */
#include "ofi_side.h"

#include <check.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "support/mpit_double.h"
#include "util/sync.h"

struct side side[2];
const char *provider;
char pattern[MAX_SEND + 256];

/* The bytes that message `count` of length len must have. */
const char *body_of(uint32_t count, size_t len)
{
    (void)len;
    return pattern + count % 251;
}

void deliver(void *ctx, const void *data, size_t len)
{
    struct side *s = ctx;
    uint32_t count;

    ck_assert_uint_eq((uintptr_t)data % 8, 0);
    ck_assert_uint_ge(len, 1);
    if (len >= sizeof(count)) {
        memcpy(&count, data, sizeof(count));
        ck_assert_uint_eq(count, (uint32_t)s->n_got);
        ck_assert_mem_eq((const char *)data + 4, body_of(count, len), len - 4);
    } else {
        ck_assert_mem_eq(data, body_of((uint32_t)s->n_got, len), len);
    }
    s->n_got++;
    s->bytes_got += len;
    s->last_len = len;
    if (s->answers) {
        uint32_t answer = s->n_sent;

        if (fm_ep_send(s->to_other, &answer, 4, body_of(answer, 0), 36) == 0) {
            s->n_sent++;
        }
    }
}

void failed(void *ctx, int peer, const char *why)
{
    struct side *s = ctx;

    ck_assert_int_eq(peer, s == &side[0] ? 1 : 0);
    ck_assert_ptr_nonnull(why);
    s->n_failed++;
}

void transfer_done(struct fm_rma *rma, int status)
{
    struct side *s = &side[0];

    (void)rma;
    s->n_done++;
    s->status = status;
}

int open_side(int k)
{
    struct fm_transport_args args = {.self = k, .n_procs = 2, .tag = "t", .is_one_host = true};

    memset(&side[k], 0, sizeof(side[k]));
    side[k].w = fm_double_block(&fm_ofi_vars);
    snprintf(side[k].w->provider, sizeof(side[k].w->provider), "%s", provider);
    side[k].w->on_connected = 1;
    side[k].w->drain_ms = 1000;
    side[k].w->max_send = MAX_SEND;
    args.sink = (struct fm_sink){.ctx = &side[k], .deliver = deliver, .failed = failed};
    return fm_ofi_open(&args, side[k].w, &side[k].tp);
}

void close_side(int k)
{
    if (side[k].tp) {
        side[k].tp->ops->close(side[k].tp);
    }
    free(side[k].w);
    memset(&side[k], 0, sizeof(side[k]));
}

void sides_open(void)
{
    for (size_t k = 0; k < sizeof(pattern); k++) {
        pattern[k] = (char)(k * 7 + k / 256);
    }
    fm_double_events_clear();
    ck_assert_int_eq(open_side(0), 0);
    ck_assert_int_eq(open_side(1), 0);
    for (int k = 0; k < 2; k++) {
        char addr[FM_ADDRESS_MAX];
        size_t len;
        struct fm_transport *far = side[1 - k].tp;

        ck_assert_int_eq(far->ops->address(far, addr, &len), 0);
        ck_assert_uint_le(len, FM_ADDRESS_MAX);
        ck_assert_int_eq(side[k].tp->ops->connect(side[k].tp, 1 - k, addr, len, &side[k].to_other),
                         0);
    }
}

void sides_close(void)
{
    close_side(0);
    close_side(1);
}

void poll_both(void)
{
    ck_assert_int_ge(fm_transport_poll(side[0].tp), 0);
    ck_assert_int_ge(fm_transport_poll(side[1].tp), 0);
}

/* Send message number n_sent of len bytes; room: by reserve and commit. */
int send_one(struct side *s, size_t len, bool room)
{
    uint32_t count = s->n_sent;
    size_t head = len < 4 ? 0 : 4;
    const char *body = body_of(count, len);
    void *at;
    int rc;

    if (!room) {
        rc = head ? fm_ep_send(s->to_other, &count, 4, body, len - 4)
                  : fm_ep_send(s->to_other, body, len, NULL, 0);
    } else {
        rc = s->to_other->ops->reserve(s->to_other, len + 8 <= MAX_SEND ? len + 8 : len, &at);
        if (rc == 0) {
            ck_assert_uint_eq((uintptr_t)at % 16, 0);
            memcpy(at, &count, head);
            memcpy((char *)at + head, body, len - head);
            rc = s->to_other->ops->commit(s->to_other, at, len);
            ck_assert_int_eq(rc, 0);
        }
    }
    s->n_sent += rc == 0;
    return rc;
}

void send_surely(struct side *s, size_t len, bool room)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;
    int rc;

    while ((rc = send_one(s, len, room)) == FM_AGAIN) {
        ck_assert(fm_now_ns() < until);
        poll_both();
    }
    ck_assert_msg(rc == 0, "%s", fm_why());
}

void wait_got(struct side *s, uint64_t n)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;

    while (s->n_got < n) {
        ck_assert_msg(fm_now_ns() < until, "%lu of %lu messages came", (unsigned long)s->n_got,
                      (unsigned long)n);
        poll_both();
    }
}

void transfer(struct fm_rma *rma)
{
    uint64_t until = fm_now_ns() + TIME_LIMIT_NS;
    int rc;

    side[0].n_done = 0;
    rma->done = transfer_done;
    while ((rc = side[0].to_other->ops->rma(side[0].to_other, rma)) == FM_AGAIN) {
        ck_assert(fm_now_ns() < until);
        poll_both();
    }
    ck_assert_int_eq(rc, 0);
    while (!side[0].n_done) {
        ck_assert(fm_now_ns() < until);
        poll_both();
    }
    ck_assert_int_eq(side[0].n_done, 1);
}

bool sides_can_open(const char *name)
{
    int rc;

    provider = name;
    rc = open_side(0);
    if (rc == -FM_E_NOENT || rc == -FM_E_UNSUPPORTED) {
        printf("skipped: %s\n", fm_why());
        free(side[0].w);
        return false;
    }
    close_side(0);
    return true;
}

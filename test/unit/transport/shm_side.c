/* SPDX-License-Identifier: BSD-3-Clause */
/* See the header. */
#include "shm_side.h"

#include <poll.h>
#include <string.h>

#include "support/race.h"

struct head {
    uint32_t from, len;
    uint64_t number;
};

static unsigned char byte_of(uint32_t from, uint64_t number, size_t at)
{
    return (unsigned char)(from * 31 + number * 7 + at);
}

static bool is_right(struct side *s, const struct head *h, size_t len)
{
    const unsigned char *body = (const unsigned char *)(h + 1);

    if (len < sizeof(*h) || h->len != len || h->from >= (uint32_t)s->n ||
        h->number != s->seen[h->from] || (uintptr_t)h % 8) {
        return false;
    }
    for (size_t k = 0; k < len - sizeof(*h); k++) {
        if (body[k] != byte_of(h->from, h->number, k)) {
            return false;
        }
    }
    return true;
}

static void deliver(void *ctx, const void *data, size_t len)
{
    struct side *s = ctx;
    struct head h;

    if (!is_right(s, data, len)) {
        s->n_wrong++;
        return;
    }
    memcpy(&h, data, sizeof(h));
    s->seen[h.from]++;
}

static void failed(void *ctx, int peer, const char *why)
{
    ((struct side *)ctx)->failed_peer = peer;
}

static void done(struct fm_rma *rma, int status)
{
    struct side *s = rma->priv;

    s->is_done = true;
    s->status = status;
}

void side_init(struct side *s, int self, int n)
{
    memset(s, 0, sizeof(*s));
    s->self = self;
    s->n = n;
    s->random = 88172645463325252u + (uint64_t)self * 977;
    s->failed_peer = -1;
    for (int k = 0; k < fm_shm_vars.n_cvars; k++) {
        const struct fathom_cvar *c = &fm_shm_vars.cvars[k];

        *(uint64_t *)((char *)&s->counters + c->at) = (uint64_t)c->def;
    }
}

int side_open(struct side *s)
{
    struct fm_transport_args args = {
        .self = s->self, .n_procs = s->n, .has_company = s->has_company, .tag = "test"};

    args.sink = (struct fm_sink){.ctx = s, .deliver = deliver, .failed = failed};
    return fm_shm_open(&args, &s->counters, &s->tp);
}

int side_connect(struct side *s, int peer, const void *address)
{
    return s->tp->ops->connect(s->tp, peer, address, sizeof(struct fm_shm_address), &s->ep[peer]);
}

void side_close(struct side *s)
{
    if (s->tp) {
        s->tp->ops->close(s->tp);
        s->tp = NULL;
    }
}

int sides_open(struct side *sides, int n)
{
    char address[FM_ADDRESS_MAX];
    size_t len;
    int rc = 0;

    for (int k = 0; k < n && rc == 0; k++) {
        rc = side_open(&sides[k]);
    }
    for (int k = 0; k < n * n && rc == 0; k++) {
        struct fm_transport *to = sides[k / n].tp;

        rc = to->ops->address(to, address, &len);
        rc = rc || len == sizeof(struct fm_shm_address) ? rc : -FM_E_PROTO;
        rc = rc ? rc : side_connect(&sides[k % n], k / n, address);
    }
    return rc;
}

void sides_disconnect(struct side *sides, int n)
{
    for (int k = 0; k < n * n; k++) {
        struct fm_ep **ep = &sides[k / n].ep[k % n];

        if (*ep) {
            (*ep)->ops->disconnect(*ep);
            *ep = NULL;
        }
    }
}

uint64_t side_random(struct side *s, uint64_t below)
{
    s->random ^= s->random << 13;
    s->random ^= s->random >> 7;
    s->random ^= s->random << 17;
    return (s->random >> 11) % below;
}

static void fill(struct side *s, int peer, unsigned char *to, size_t len)
{
    struct head h = {(uint32_t)s->self, (uint32_t)len, s->sent[peer]};

    memcpy(to, &h, sizeof(h));
    for (size_t k = 0; k < len - sizeof(h); k++) {
        to[sizeof(h) + k] = byte_of(h.from, h.number, k);
    }
}

int side_send(struct side *s, int peer, size_t len)
{
    unsigned char message[1 << 16];
    size_t head_len = 16 + side_random(s, len - 15); /* any cut will do */
    int rc;

    fill(s, peer, message, len);
    rc = fm_ep_send(s->ep[peer], message, head_len, message + head_len, len - head_len);
    s->sent[peer] += rc == 0;
    return rc;
}

int side_send_in_place(struct side *s, int peer, size_t len, size_t more)
{
    struct fm_ep *ep = s->ep[peer];
    void *room;
    int rc = ep->ops->reserve(ep, len + more, &room);

    if (rc == 0) {
        if ((uintptr_t)room % 8) {
            s->n_wrong++;
        }
        memset(room, 0xee, len + more);
        fill(s, peer, room, len);
        rc = ep->ops->commit(ep, room, len);
        s->sent[peer] += rc == 0;
    }
    return rc;
}

int side_rma_start(struct side *s, int peer, struct fm_rma *rma)
{
    rma->done = done;
    rma->priv = s;
    s->is_done = false;
    return s->ep[peer]->ops->rma(s->ep[peer], rma);
}

int side_rma(struct side *s, int peer, enum fm_rma_op op, void *local, uint64_t remote, size_t len)
{
    struct fm_rma rma = {.op = op, .local = local, .len = len, .remote_at = 16};
    int rc;

    rma.remote.addr = remote - 16;
    rc = side_rma_start(s, peer, &rma);
    if (rc) {
        return rc;
    }
    while (!s->is_done) {
        fm_transport_poll(s->tp);
    }
    return s->status;
}

/* False: no wake-up came in time. */
static bool sleep_on(const struct fm_sleep *sleep)
{
    uint64_t us = sleep->max_us ? sleep->max_us : 10000000;
    struct timespec limit = {(time_t)(us / 1000000), (long)(us % 1000000) * 1000};
    struct pollfd p = {.fd = sleep->fd, .events = POLLIN};

    return sleep->word ? race_sleep(sleep->word, sleep->seen, us) : ppoll(&p, 1, &limit, NULL) != 0;
}

void side_sleep(struct side *s)
{
    struct fm_sleep sleep;

    s->n_arms++;
    if (s->tp->ops->arm(s->tp, &sleep) != 0 || sleep_on(&sleep)) {
        return;
    }
    /* Not woken although something has come. A peer that had no processor meanwhile is no loss, and
       a short sleep is there to find it. */
    if (fm_transport_poll(s->tp) > 0) {
        *(sleep.max_us ? &s->n_late : &s->n_lost) += 1;
    }
}

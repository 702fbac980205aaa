/* SPDX-License-Identifier: BSD-3-Clause */
/* The scripted transport; see the header. One thread, everything in ordinary memory. */
#include "support/mock_transport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util/list.h"

struct message {
    struct fm_list link;
    unsigned wait; /* polls of the receiver before it is due */
    size_t len;
    char *data; /* exactly len bytes */
};

struct transfer {
    struct fm_list link;
    unsigned wait;
    int peer;
    struct fm_rma *rma;
};

/* An exposed piece. rkey.key is the entry's number + 1, rkey.addr its address. */
struct exposure {
    char *addr; /* NULL: free entry */
    size_t len;
    unsigned rights;
};

struct node {
    struct fm_transport tp; /* first: a transport is its node */
    struct fm_mock_net *net;
    int self;
    bool is_open, is_polling;
    struct fm_mock_endpoint *eps;
    struct fm_list transfers;
    struct exposure *exposures;
    size_t n_exposures;
    char *room; /* between reserve() and commit() */
    size_t room_len;
    struct fm_ep *room_ep;
    _Atomic uint32_t arrivals; /* the futex word of arm(); one thread, so it pairs with nothing */
    const char **failing;      /* per peer: reason not yet reported */
    bool *is_dead;             /* per peer */
};

struct fm_mock_endpoint {
    struct fm_ep ep; /* first */
    struct fm_mock_endpoint *next;
};

struct fm_mock_net {
    int n_nodes;
    uint64_t random;
    struct fm_mock_script script;
    size_t max_send, best_inline;
    bool has_rma, needs_expose;
    struct node *nodes;
    struct fm_list *queues; /* [from * n_nodes + to] */
    size_t *queue_len;
    struct fm_mock_record *records;
    size_t n_records;
};

static void die(const char *what)
{
    fprintf(stderr, "mock transport: %s\n", what);
    abort();
}

static void *must(void *p)
{
    if (!p) {
        die("out of memory");
    }
    return p;
}

static void *zeroed(size_t n, size_t len)
{
    return must(calloc(n ? n : 1, len));
}

/* splitmix64 */
uint32_t fm_mock_random(struct fm_mock_net *net, uint32_t n)
{
    uint64_t z = net->random += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return (uint32_t)((z ^ (z >> 31)) >> 32) % n;
}

static unsigned draw_wait(struct fm_mock_net *net)
{
    return net->script.delay_max ? fm_mock_random(net, net->script.delay_max + 1) : 0;
}

static struct node *node_of(struct fm_transport *tp)
{
    return fm_container_of(tp, struct node, tp);
}

static struct fm_list *queue_of(struct fm_mock_net *net, int from, int to, size_t **out_len)
{
    size_t at = (size_t)from * (size_t)net->n_nodes + (size_t)to;

    *out_len = &net->queue_len[at];
    return &net->queues[at];
}

static void queue_drop(struct fm_mock_net *net, int from, int to)
{
    size_t *n;
    struct fm_list *q = queue_of(net, from, to, &n);
    struct fm_list *l;

    while ((l = fm_list_pop(q))) {
        struct message *m = fm_container_of(l, struct message, link);

        free(m->data);
        free(m);
    }
    *n = 0;
}

/* Takes `data` over. */
static void queue_push(struct fm_mock_net *net, int from, int to, char *data, size_t len)
{
    size_t *n;
    struct fm_list *q = queue_of(net, from, to, &n);
    struct message *m = zeroed(1, sizeof(*m));

    if (net->script.record) {
        struct fm_mock_record *r;

        net->records = must(realloc(net->records, (net->n_records + 1) * sizeof(*net->records)));
        r = &net->records[net->n_records++];
        *r = (struct fm_mock_record){.from = from, .to = to, .len = len};
        r->data = memcpy(must(malloc(len ? len : 1)), data, len);
    }
    m->data = data;
    m->len = len;
    m->wait = draw_wait(net);
    fm_list_push(q, &m->link);
    ++*n;
    net->nodes[to].arrivals++;
}

/* Common to all calls that begin something: dead peers, the script's refusals and failures. */
static int admit(struct fm_ep *ep, bool may_refuse, bool may_fail)
{
    struct node *node = node_of(ep->tp);
    struct fm_mock_net *net = node->net;
    size_t *n;

    if (node->room) {
        die("a call between reserve() and commit()");
    }
    if (node->is_dead[ep->peer]) {
        return fm_fail(-FM_E_PEER, "mock peer %d is dead", ep->peer);
    }
    if (may_fail && net->script.fail_next) {
        net->script.fail_next--;
        return fm_fail(-FM_E_SYSTEM, "the mock's script says so");
    }
    if (!may_refuse) {
        return 0;
    }
    if (net->script.refuse_next) {
        net->script.refuse_next--;
        return FM_AGAIN;
    }
    if (net->script.refuse_pct && fm_mock_random(net, 100) < net->script.refuse_pct) {
        return FM_AGAIN;
    }
    queue_of(net, node->self, ep->peer, &n);
    return net->script.queue_max && *n >= net->script.queue_max ? FM_AGAIN : 0;
}

static int mock_address(struct fm_transport *tp, void *out_addr, size_t *out_len)
{
    int32_t self = node_of(tp)->self;

    memcpy(out_addr, &self, sizeof(self));
    *out_len = sizeof(self);
    return 0;
}

static int mock_connect(struct fm_transport *tp, int peer, const void *addr, size_t addr_len,
                        struct fm_ep **out_ep)
{
    struct node *node = node_of(tp);
    struct fm_mock_endpoint *e;
    int32_t number;

    if (addr_len != sizeof(number)) {
        return fm_fail(-FM_E_INVAL, "a mock address has %zu bytes, not %zu", sizeof(number),
                       addr_len);
    }
    memcpy(&number, addr, sizeof(number));
    if (number != peer || peer < 0 || peer >= node->net->n_nodes) {
        return fm_fail(-FM_E_INVAL, "peer %d has no mock address %d", peer, (int)number);
    }
    e = zeroed(1, sizeof(*e));
    e->ep = (struct fm_ep){.tp = tp, .ops = tp->ops, .peer = peer};
    e->next = node->eps;
    node->eps = e;
    *out_ep = &e->ep;
    return 0;
}

static void mock_disconnect(struct fm_ep *ep)
{
    struct fm_mock_endpoint *e = fm_container_of(ep, struct fm_mock_endpoint, ep);
    struct fm_mock_endpoint **at = &node_of(ep->tp)->eps;

    while (*at && *at != e) {
        at = &(*at)->next;
    }
    if (!*at) {
        die("disconnect of what is not connected");
    }
    *at = e->next;
    free(e);
}

static int mock_send(struct fm_ep *ep, const void *head, size_t head_len, const void *body,
                     size_t body_len)
{
    struct node *node = node_of(ep->tp);
    size_t len = head_len + body_len;
    int rc = admit(ep, true, true);
    char *data;

    if (rc) {
        return rc;
    }
    if (len < 1 || len > ep->tp->max_send) {
        die("send() of 0 bytes or more than max_send");
    }
    data = must(malloc(len));
    memcpy(data, head, head_len);
    if (body_len) {
        memcpy(data + head_len, body, body_len);
    }
    queue_push(node->net, node->self, ep->peer, data, len);
    return 0;
}

static int mock_reserve(struct fm_ep *ep, size_t len, void **out_room)
{
    struct node *node = node_of(ep->tp);
    int rc = admit(ep, true, false);

    if (rc) {
        return rc;
    }
    if (len < 1 || len > ep->tp->max_send) {
        die("reserve() of 0 bytes or more than max_send");
    }
    node->room = must(malloc(len));
    node->room_len = len;
    node->room_ep = ep;
    *out_room = node->room;
    return 0;
}

static int mock_commit(struct fm_ep *ep, void *room, size_t len)
{
    struct node *node = node_of(ep->tp);
    int rc;

    if (!room || room != node->room || ep != node->room_ep || len > node->room_len) {
        die("commit() of a room that was not reserved, or of more than was reserved");
    }
    node->room = NULL;
    rc = admit(ep, false, len > 0);
    if (rc || len == 0) {
        free(room);
        return rc;
    }
    queue_push(node->net, node->self, ep->peer, must(realloc(room, len)), len);
    return 0;
}

static int mock_rma(struct fm_ep *ep, struct fm_rma *rma)
{
    struct node *node = node_of(ep->tp);
    struct transfer *t;
    int rc;

    if (!ep->tp->has_rma || rma->op > FM_RMA_PUT) {
        return fm_fail(-FM_E_UNSUPPORTED, "this mock has no RMA, or no atomics");
    }
    rc = admit(ep, true, true);
    if (rc) {
        return rc;
    }
    if (ep->tp->wants_local_mem && !rma->mem) {
        die("rma() without the local registration that wants_local_mem asks for");
    }
    t = zeroed(1, sizeof(*t));
    t->rma = rma;
    t->peer = ep->peer;
    t->wait = draw_wait(node->net);
    fm_list_push(&node->transfers, &t->link);
    return 0;
}

static int mock_expose(struct fm_transport *tp, void *addr, size_t len, unsigned rights,
                       enum fm_mem_life life, struct fm_mem *out_mem)
{
    struct node *node = node_of(tp);
    size_t k = 0;

    if (!tp->has_rma) {
        return fm_fail(-FM_E_UNSUPPORTED, "this mock has no RMA");
    }
    while (k < node->n_exposures && node->exposures[k].addr) {
        k++;
    }
    if (k == node->n_exposures) {
        node->exposures = must(realloc(node->exposures, (k + 1) * sizeof(*node->exposures)));
        node->n_exposures++;
    }
    node->exposures[k] = (struct exposure){.addr = addr, .len = len, .rights = rights};
    *out_mem = (struct fm_mem){.addr = addr, .len = len, .life = life, .priv = tp};
    out_mem->rkey = (struct fm_rkey){.addr = (uintptr_t)addr, .key = k + 1};
    return 0;
}

static void mock_unexpose(struct fm_transport *tp, struct fm_mem *mem)
{
    struct node *node = node_of(tp);
    uint64_t key = mem->rkey.key;

    if (mem->priv != tp || key < 1 || key > node->n_exposures ||
        node->exposures[key - 1].addr != mem->addr) {
        die("unexpose() of what is not exposed");
    }
    node->exposures[key - 1].addr = NULL;
    mem->priv = NULL;
}

/* The remote piece, or NULL when nothing of that kind is exposed there. */
static char *remote_of(struct node *far, const struct fm_rma *rma)
{
    const struct fm_rkey *k = &rma->remote;
    const struct exposure *x;

    if (!far->tp.needs_expose) {
        return (char *)(uintptr_t)k->addr + rma->remote_at;
    }
    if (k->key < 1 || k->key > far->n_exposures) {
        return NULL;
    }
    x = &far->exposures[k->key - 1];
    if (!x->addr || (uintptr_t)x->addr != k->addr || rma->remote_at > x->len ||
        !(x->rights & (rma->op == FM_RMA_GET ? FM_MEM_READ : FM_MEM_WRITE)) ||
        rma->len > x->len - rma->remote_at) {
        return NULL;
    }
    return x->addr + rma->remote_at;
}

static void transfer_end(struct node *node, struct transfer *t)
{
    struct fm_rma *rma = t->rma;
    struct node *far = &node->net->nodes[t->peer];
    char *remote = NULL;
    int status = 0;

    if (node->is_dead[t->peer] || !far->is_open) {
        status = fm_fail(-FM_E_PEER, "mock peer %d is dead", t->peer);
    } else if (!(remote = remote_of(far, rma))) {
        status = fm_fail(-FM_E_PROTO, "mock peer %d exposes no such memory", t->peer);
    } else if (rma->len) {
        bool is_get = rma->op == FM_RMA_GET;

        memcpy(is_get ? rma->local : remote, is_get ? remote : rma->local, rma->len);
    }
    fm_list_remove(&t->link);
    free(t);
    rma->done(rma, status);
}

static int poll_transfers(struct node *node)
{
    struct fm_list due;
    struct fm_list *l;
    int n = 0;

    fm_list_init(&due);
    fm_list_each(at, next, &node->transfers)
    {
        struct transfer *t = fm_container_of(at, struct transfer, link);

        if (t->wait && !node->is_dead[t->peer]) {
            t->wait--;
            continue;
        }
        fm_list_remove(at);
        fm_list_push(&due, at);
    }
    while ((l = fm_list_first(&due))) {
        transfer_end(node, fm_container_of(l, struct transfer, link));
        n++;
    }
    return n;
}

static int poll_failures(struct node *node)
{
    int n = 0;

    for (int peer = 0; peer < node->net->n_nodes; peer++) {
        const char *why = node->failing[peer];

        if (why) {
            node->failing[peer] = NULL;
            node->tp.sink.failed(node->tp.sink.ctx, peer, why);
            n++;
        }
    }
    return n;
}

/* The first message from `from` that is due, out of its queue; NULL if none is. */
static struct message *take_due(struct node *node, int from)
{
    size_t *n;
    struct fm_list *q = queue_of(node->net, from, node->self, &n);
    struct fm_list *l = fm_list_first(q);
    struct message *m = l ? fm_container_of(l, struct message, link) : NULL;

    if (!m || m->wait) {
        return NULL;
    }
    fm_list_remove(l);
    --*n;
    return m;
}

/* A message from a random peer among those that have one due. */
static struct message *take_any(struct node *node)
{
    int n_nodes = node->net->n_nodes;
    int at = (int)fm_mock_random(node->net, (uint32_t)n_nodes);

    for (int k = 0; k < n_nodes; k++) {
        struct message *m = take_due(node, (at + k) % n_nodes);

        if (m) {
            return m;
        }
    }
    return NULL;
}

static void messages_age(struct node *node)
{
    for (int from = 0; from < node->net->n_nodes; from++) {
        size_t *n;
        struct fm_list *l = fm_list_first(queue_of(node->net, from, node->self, &n));

        if (l && fm_container_of(l, struct message, link)->wait) {
            fm_container_of(l, struct message, link)->wait--;
        }
    }
}

/* Delivers what was there when it began: sends made by the sink wait for the next poll. */
static int poll_messages(struct node *node)
{
    unsigned most = node->net->script.per_poll;
    size_t left = 0;
    int n = 0;

    for (int from = 0; from < node->net->n_nodes; from++) {
        size_t *len;

        queue_of(node->net, from, node->self, &len);
        left += *len;
    }
    while (left-- && (!most || (unsigned)n < most)) {
        struct message *m = take_any(node);

        if (!m) {
            break;
        }
        node->tp.sink.deliver(node->tp.sink.ctx, m->data, m->len);
        free(m->data);
        free(m);
        n++;
    }
    messages_age(node);
    return n;
}

static int mock_poll(struct fm_transport *tp)
{
    struct node *node = node_of(tp);
    int n;

    if (node->is_polling || node->room) {
        die("poll() called from inside poll(), or between reserve() and commit()");
    }
    node->is_polling = true;
    n = poll_failures(node);
    if (!node->net->script.hold) {
        n += poll_transfers(node);
        n += poll_messages(node);
    }
    node->is_polling = false;
    return n;
}

static int mock_arm(struct fm_transport *tp, struct fm_sleep *out_sleep)
{
    struct node *node = node_of(tp);

    if (!node->net->script.hold && fm_mock_pending(node->net, node->self)) {
        return FM_AGAIN;
    }
    *out_sleep = (struct fm_sleep){.fd = -1, .word = &node->arrivals, .seen = node->arrivals};
    return 0;
}

static void mock_close(struct fm_transport *tp)
{
    struct node *node;
    struct fm_list *l;

    if (!tp) {
        return;
    }
    node = node_of(tp);
    if (node->is_polling) {
        die("close() called from inside poll()");
    }
    while (node->eps) {
        mock_disconnect(&node->eps->ep);
    }
    while ((l = fm_list_first(&node->transfers))) {
        transfer_end(node, fm_container_of(l, struct transfer, link));
    }
    for (int from = 0; from < node->net->n_nodes; from++) {
        queue_drop(node->net, from, node->self);
    }
    free(node->room);
    free(node->exposures);
    free(node->failing);
    node->room = NULL;
    free(node->is_dead);
    node->exposures = NULL;
    node->failing = NULL;
    node->is_dead = NULL;
    node->n_exposures = 0;
    node->is_open = false;
}

static const struct fm_transport_ops mock_ops = {
    .name = "mock",
    .close = mock_close,
    .address = mock_address,
    .connect = mock_connect,
    .disconnect = mock_disconnect,
    .send = mock_send,
    .reserve = mock_reserve,
    .commit = mock_commit,
    .rma = mock_rma,
    .expose = mock_expose,
    .unexpose = mock_unexpose,
    .poll = mock_poll,
    .arm = mock_arm,
};

int fm_mock_open(struct fm_mock_net *net, const struct fm_transport_args *args,
                 struct fm_transport **out_tp)
{
    struct node *node;
    int rc;

    if (args->self < 0 || args->self >= net->n_nodes || net->nodes[args->self].is_open) {
        return fm_fail(-FM_E_INVAL, "mock node %d is open or not there", args->self);
    }
    node = &net->nodes[args->self];
    node->tp = (struct fm_transport){.ops = &mock_ops,
                                     .sink = args->sink,
                                     .max_send = net->max_send,
                                     .best_inline = net->best_inline,
                                     .has_rma = net->has_rma,
                                     .is_unbounded = true,
                                     .needs_expose = net->needs_expose};
    rc = fm_transport_check(&node->tp);
    if (rc) {
        return rc;
    }
    node->net = net;
    node->self = args->self;
    node->is_open = true;
    fm_list_init(&node->transfers);
    node->failing = zeroed((size_t)net->n_nodes, sizeof(*node->failing));
    node->is_dead = zeroed((size_t)net->n_nodes, sizeof(*node->is_dead));
    *out_tp = &node->tp;
    return 0;
}

struct fm_mock_net *fm_mock_net_create(int n_nodes, uint64_t seed)
{
    struct fm_mock_net *net = zeroed(1, sizeof(*net));
    size_t n_pairs = (size_t)n_nodes * (size_t)n_nodes;

    net->n_nodes = n_nodes;
    net->random = seed;
    net->nodes = zeroed((size_t)n_nodes, sizeof(*net->nodes));
    net->queues = zeroed(n_pairs, sizeof(*net->queues));
    net->queue_len = zeroed(n_pairs, sizeof(*net->queue_len));
    for (size_t k = 0; k < n_pairs; k++) {
        fm_list_init(&net->queues[k]);
    }
    fm_mock_limits(net, 8192, 64, true, true);
    return net;
}

void fm_mock_net_destroy(struct fm_mock_net *net)
{
    if (!net) {
        return;
    }
    for (int k = 0; k < net->n_nodes; k++) {
        if (net->nodes[k].is_open) {
            mock_close(&net->nodes[k].tp);
        }
    }
    for (int k = 0; k < net->n_nodes * net->n_nodes; k++) {
        queue_drop(net, k / net->n_nodes, k % net->n_nodes);
    }
    fm_mock_sent_clear(net);
    free(net->nodes);
    free(net->queues);
    free(net->queue_len);
    free(net);
}

struct fm_mock_script *fm_mock_script(struct fm_mock_net *net)
{
    return &net->script;
}

void fm_mock_limits(struct fm_mock_net *net, size_t max_send, size_t best_inline, bool has_rma,
                    bool needs_expose)
{
    net->max_send = max_send;
    net->best_inline = best_inline;
    net->has_rma = has_rma;
    net->needs_expose = needs_expose;
}

void fm_mock_inject(struct fm_mock_net *net, int from, int to, const void *data, size_t len)
{
    queue_push(net, from, to, memcpy(must(malloc(len ? len : 1)), data, len), len);
}

void fm_mock_fail(struct fm_mock_net *net, int node, int peer, const char *why)
{
    net->nodes[node].is_dead[peer] = true;
    net->nodes[node].failing[peer] = why;
    queue_drop(net, peer, node);
    queue_drop(net, node, peer);
    net->nodes[node].arrivals++;
}

size_t fm_mock_sent_count(const struct fm_mock_net *net)
{
    return net->n_records;
}

const struct fm_mock_record *fm_mock_sent(const struct fm_mock_net *net, size_t k)
{
    return k < net->n_records ? &net->records[k] : NULL;
}

void fm_mock_sent_clear(struct fm_mock_net *net)
{
    for (size_t k = 0; k < net->n_records; k++) {
        free((void *)(uintptr_t)net->records[k].data);
    }
    free(net->records);
    net->records = NULL;
    net->n_records = 0;
}

size_t fm_mock_pending(const struct fm_mock_net *net, int node)
{
    size_t n = 0;

    for (int from = 0; from < net->n_nodes; from++) {
        n += net->queue_len[(size_t)from * (size_t)net->n_nodes + (size_t)node];
    }
    for (const struct fm_list *l = net->nodes[node].transfers.next;
         l && l != &net->nodes[node].transfers; l = l->next) {
        n++;
    }
    return n;
}

size_t fm_mock_exposed(const struct fm_mock_net *net, int node)
{
    size_t n = 0;

    for (size_t k = 0; k < net->nodes[node].n_exposures; k++) {
        n += net->nodes[node].exposures[k].addr != NULL;
    }
    return n;
}

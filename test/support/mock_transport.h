/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A scripted transport inside one process, for unit tests of what stands above transports.
 *
 * A net joins n nodes; fm_mock_open() opens the transport of node args->self, whose address is its
 * number. Messages lie in one queue per ordered pair of nodes, so the order of a pair always holds;
 * between pairs the script decides: poll() takes from the non-empty queues in a random order that
 * follows from the net's seed alone, and a message may have to wait for some polls of its receiver.
 * Each message travels in memory of exactly its length that is freed after delivery, and RMA
 * touches memory only inside the initiator's poll(): what the contract forbids is found by ASan.
 * Breaking the contract of reserve() and commit(), or calling poll() from the sink, aborts.
 *
 *     struct fm_mock_net *net = fm_mock_net_create(2, 42);
 *     fm_mock_script(net)->refuse_pct = 30;
 *     fm_mock_open(net, &args0, &tp0);
 *     fm_mock_open(net, &args1, &tp1);
 *     ...
 *     tp0->ops->close(tp0);
 *     tp1->ops->close(tp1);
 *     fm_mock_net_destroy(net);
 */
#pragma once

#include "transport/transport.h"

struct fm_mock_net;

/* What the net does to its traffic; may be changed at any time. All zero: nothing special. */
struct fm_mock_script {
    unsigned refuse_pct;  /* chance in 100 that send, reserve or rma answers FM_AGAIN */
    unsigned refuse_next; /* so many of the next sends, reserves and rmas answer FM_AGAIN */
    unsigned fail_next;   /* so many of the next sends, commits and rmas answer -FM_E_SYSTEM */
    unsigned delay_max;   /* a message or transfer waits 0..delay_max polls (at random) */
    unsigned per_poll;    /* messages that one poll() delivers at most; 0: all that are due */
    size_t queue_max;     /* messages waiting between a pair before FM_AGAIN; 0: no bound */
    bool hold;            /* nothing arrives and no transfer ends until this is false again */
    bool record;          /* keep a copy of what is sent, see fm_mock_sent() */
};

/* One recorded message. */
struct fm_mock_record {
    int from, to;
    size_t len;
    const void *data;
};

/* A net of n nodes without any transport yet; aborts when memory is out. */
struct fm_mock_net *fm_mock_net_create(int n_nodes, uint64_t seed);

/* Close what is still open, drop what is still under way. NULL is fine. */
void fm_mock_net_destroy(struct fm_mock_net *net);

struct fm_mock_script *fm_mock_script(struct fm_mock_net *net);

/* What later fm_mock_open() calls offer. Defaults: max_send 8192, best_inline 64, has_rma,
   needs_expose. */
void fm_mock_limits(struct fm_mock_net *net, size_t max_send, size_t best_inline, bool has_rma,
                    bool needs_expose);

/* Open the transport of node args->self. Same contract as fm_ofi_open(). */
int fm_mock_open(struct fm_mock_net *net, const struct fm_transport_args *args,
                 struct fm_transport **out_tp);

/* A message that no send() made: put len bytes into the queue from -> to, as a hostile or an older
   peer could. `from` needs no open transport. */
void fm_mock_inject(struct fm_mock_net *net, int from, int to, const void *data, size_t len);

/*
 * Node `peer` dies for the transport of `node`: its next poll() calls sink.failed(peer, why), its
 * transfers with that peer end with -FM_E_PEER, what is queued between the two is lost, and later
 * calls on the endpoint answer -FM_E_PEER. The other side does not notice.
 */
void fm_mock_fail(struct fm_mock_net *net, int node, int peer, const char *why);

/* Messages recorded since the script's `record` was set; the k-th, or NULL beyond the end. */
size_t fm_mock_sent_count(const struct fm_mock_net *net);
const struct fm_mock_record *fm_mock_sent(const struct fm_mock_net *net, size_t k);
void fm_mock_sent_clear(struct fm_mock_net *net);

/* Messages that wait for `node`, and transfers that it has under way. */
size_t fm_mock_pending(const struct fm_mock_net *net, int node);

/* Pieces of memory that `node` has exposed now: 0 at the end of a test, or the engine leaks. */
size_t fm_mock_exposed(const struct fm_mock_net *net, int node);

/* A number of the net's own random sequence, below n. */
uint32_t fm_mock_random(struct fm_mock_net *net, uint32_t n);

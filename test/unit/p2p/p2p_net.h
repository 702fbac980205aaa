/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Several channels in one process, joined by the scripted transport, with a communicator each: for
 * tests of the engine without a launcher. net_progress() runs one round of every node.
 */
#pragma once

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "core/object/group.h"
#include "core/dtype/pack.h"
#include "core/dtype/pack_runs.h"
#include "core/p2p/bsend.h"
#include "core/p2p/channel_open.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/recv.h"
#include "core/p2p/send.h"
#include "core/p2p/unexpected.h"
#include "core/p2p/wait.h"
#include "support/mock_transport.h"
#include "support/suite.h"

#define NET_MAX     8
#define NET_CONTEXT 4

struct net {
    struct fm_mock_net *mock;
    int n;
    struct fm_transport *tp[NET_MAX];
    struct fm_channel *ch[NET_MAX];
    struct fm_comm *comm[NET_MAX];
    bool gone[NET_MAX]; /* what is_gone() answers */
};

extern struct net net;

/* What a test may ask for; zero: the mock's defaults. */
struct net_options {
    uint64_t seed;
    size_t max_send;
    bool no_rma, no_expose;
    uint64_t unexpected_limit; /* 0: the default */
};

void net_start(int n, const struct net_options *options);
/* Ends all, and checks that nothing was left behind: requests, blocks, exposed memory, ids. */
void net_stop(void);
/* The same after a test in which a peer has failed, where messages may be left. */
void net_stop_broken(void);
/* The same where requests that nobody holds may be left, too. */
void net_stop_forgetful(void);

/* One round of every node; how many things happened. */
int net_progress(void);
/* Rounds until the request is complete; fails the test when it takes too many. */
void net_until_done(struct fm_request *r);
/* Rounds until nothing happens any more. */
void net_settle(void);

struct fm_msg net_msg(int node, const void *buf, MPI_Count count, struct fm_dtype *t, int peer,
                      int tag);
struct fm_request *net_isend(int node, const void *buf, size_t len, int dest, int tag,
                             enum fm_send_mode mode);
struct fm_request *net_irecv(int node, void *buf, size_t len, int source, int tag);
/* Harvest a complete request; returns its error class. */
int net_end(struct fm_request *r, struct fm_status *out_status);

/* What a node has sent without a request. */
struct fm_traffic net_short_sent(int node);

/* Bytes that tell their place and their message. */
void net_fill(void *buf, size_t len, unsigned salt);
void net_check(const void *buf, size_t len, unsigned salt);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One process's (or thread's) side of a job over the shared-memory transport, for tests: numbered
 * messages with a content that follows from sender, number and length, checked on arrival.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "transport/shm/shm.h"

#define SIDE_MAX 8

struct side {
    int self, n;
    bool has_company; /* another transport: it sleeps in poll(2) */
    struct fm_shm_counters counters;
    struct fm_transport *tp;
    struct fm_ep *ep[SIDE_MAX];
    uint64_t sent[SIDE_MAX]; /* numbers given out, per peer */
    uint64_t seen[SIDE_MAX]; /* messages that came, per peer */
    uint64_t n_wrong;        /* messages that were not what had to come next */
    uint64_t random;
    /* Calls of side_sleep(); of them, not woken in time; in a short sleep, which ends by itself. */
    uint64_t n_arms, n_lost, n_late;
    int failed_peer;
    bool is_done; /* of the transfer in progress */
    int status;
};

/* Control variables as without settings; change them before side_open(). */
void side_init(struct side *s, int self, int n);
int side_open(struct side *s);
/* Addresses are given in the order of process indices, FM_ADDRESS_MAX bytes each. */
int side_connect(struct side *s, int peer, const void *address);
void side_close(struct side *s);
/* All n in one process: open, and each to each. 0 or the first failure. */
int sides_open(struct side *sides, int n);
/* First the endpoints: in one process they use the owner's mapping. */
void sides_disconnect(struct side *sides, int n);

uint64_t side_random(struct side *s, uint64_t below);
/* The next message to a peer, of len bytes (at least 16). As send(). */
int side_send(struct side *s, int peer, size_t len);
/* The same by reserve() and commit(), with `more` bytes reserved beyond. */
int side_send_in_place(struct side *s, int peer, size_t len, size_t more);
/* Start a transfer; s->is_done and s->status tell when it is over. */
int side_rma_start(struct side *s, int peer, struct fm_rma *rma);
/* Start a transfer and poll until it is done. Its status. */
int side_rma(struct side *s, int peer, enum fm_rma_op op, void *local, uint64_t remote, size_t len);
/* Sleep as the engine does. After 10 s it was a lost wake-up: then n_lost is one more. */
void side_sleep(struct side *s);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Two libfabric transports in one process that talk over a real provider. Every message carries its
 * number and a pattern of its length, so that loss, disorder and damage are seen.
 */
#pragma once

#include "transport/ofi/ofi.h"

#define TIME_LIMIT_NS (20 * UINT64_C(1000000000))
#define MAX_SEND      65536

struct side {
    struct fm_transport *tp;
    struct fm_ep *to_other;
    struct fm_ofi_counters *w;
    uint64_t n_got, bytes_got, n_failed;
    uint32_t n_sent;
    size_t last_len;
    bool answers;
    int n_done, status;
};

extern struct side side[2];
extern const char *provider;
extern char pattern[MAX_SEND + 256];

/* Can the provider of this name be opened here? Prints the reason if not. Sets `provider`. */
bool sides_can_open(const char *name);
/* The fixture: both sides open and connected. */
void sides_open(void);
void sides_close(void);
int open_side(int k);
void close_side(int k);

/* The sink: checks number and pattern of what arrives. */
void deliver(void *ctx, const void *data, size_t len);
void failed(void *ctx, int peer, const char *why);

void poll_both(void);
/* The bytes that message `count` of length len must have. */
const char *body_of(uint32_t count, size_t len);
/* Send message number n_sent of len bytes; room: by reserve and commit. */
int send_one(struct side *s, size_t len, bool room);
void send_surely(struct side *s, size_t len, bool room);
/* Poll both sides until n messages have arrived. */
void wait_got(struct side *s, uint64_t n);
/* Run one transfer of side 0 with side 1 to its end; its status is side[0].status. */
void transfer(struct fm_rma *rma);
void transfer_done(struct fm_rma *rma, int status);

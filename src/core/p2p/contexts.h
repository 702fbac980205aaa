/* SPDX-License-Identifier: BSD-3-Clause */
/* Live communicators by context id: a small open-addressing table, so that any number that a peer
   may send can be looked up. */
#pragma once

#include <stdint.h>

struct fm_comm;

/* Zeroed before first use. */
struct fm_contexts {
    struct fm_comm **slots; /* n_slots, a power of two; NULL: free */
    uint32_t n_slots;
    uint32_t n_used;
};

/* 0 or -FM_E_NOMEM. */
int fm_contexts_add(struct fm_contexts *t, struct fm_comm *comm);
void fm_contexts_remove(struct fm_contexts *t, struct fm_comm *comm);
/* The communicator that this context (of either message space) belongs to, or NULL. */
struct fm_comm *fm_contexts_find(const struct fm_contexts *t, uint32_t context);
void fm_contexts_finish(struct fm_contexts *t);

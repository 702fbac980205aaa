/* SPDX-License-Identifier: BSD-3-Clause */
/* A message as its sender or its receiver describes it. */
#pragma once

#include "core/dtype/dtype.h"
#include "core/object/comm.h"

/* Buffered mode has entries of its own (bsend.h). */
enum fm_send_mode { FM_SEND_STANDARD, FM_SEND_SYNC, FM_SEND_READY, FM_SEND_BUFFERED };

/* The message spaces of a communicator, added to its context id: messages of the user, of
   collectives, and the two of partitioned communication (initialisations and partitions). */
enum fm_space {
    FM_SPACE_USER = 0,
    FM_SPACE_COLL = 1,
    FM_SPACE_PART = 1 << 29,
    FM_SPACE_DATA = 1 << 30,
};
#define FM_SPACE_MASK (FM_SPACE_COLL | FM_SPACE_PART | FM_SPACE_DATA)

/* What is sent or received. Passed by address, copied where it must last. */
struct fm_msg {
    void *buf; /* sends do not write to it */
    MPI_Count count;
    struct fm_dtype *dtype;
    int peer; /* rank in comm (remote group of an intercommunicator), MPI_PROC_NULL, MPI_ANY_SOURCE
               */
    int tag;
    struct fm_comm *comm;
    enum fm_space space;
};

static FM_INLINE uint32_t fm_msg_context(const struct fm_msg *m)
{
    return m->comm->context + (uint32_t)m->space;
}

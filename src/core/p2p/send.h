/* SPDX-License-Identifier: BSD-3-Clause */
/* Entry of all send modes. Arguments are checked already; dest may be MPI_PROC_NULL. */
#pragma once

#include "core/dtype/dtype.h"
#include "core/object/comm.h"
#include "core/object/request.h"

enum fm_send_mode { FM_SEND_STANDARD, FM_SEND_SYNC, FM_SEND_READY, FM_SEND_BUFFERED };

/* The message spaces of a communicator, added to its context: users, collectives, and what makes up
   partitioned messages: their initialisations and their parts. */
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

/* Send and return when the buffer may be used again. 0, a failure, or the positive MPI_ERR_BUFFER
   (buffered mode: no room). */
int fm_send(const struct fm_msg *m, enum fm_send_mode mode);
/* Start; *out_req holds the handle's reference, to be given to fm_wait() or fm_request_unref(). */
int fm_isend(const struct fm_msg *m, enum fm_send_mode mode, struct fm_request **out_req);
/* A persistent request, inactive; started with fm_request_start(). */
int fm_send_init(const struct fm_msg *m, enum fm_send_mode mode, struct fm_request **out_req);

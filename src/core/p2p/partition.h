/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Partitioned communication (MPI-5.0 4): one message whose parts become ready one by one.
 *
 * Every send partition travels as a message of its own as soon as it is ready, by whatever protocol
 * fits its length. Initialisations are matched by a setup message in a message space of their own
 * (FM_SPACE_PART), in the order of the calls; it tells the receiver how the sender divides the data
 * and the first of a run of tags, one per partition, under which the parts come in FM_SPACE_DATA.
 */
#pragma once

#include "core/p2p/recv.h"

/* Persistent, inactive. m describes one partition; dest or source is a rank or MPI_PROC_NULL. */
int fm_partition_send_init(const struct fm_msg *m, int n_parts, struct fm_request **out_req);
int fm_partition_recv_init(const struct fm_msg *m, int n_parts, struct fm_request **out_req);

bool fm_partition_is_send(const struct fm_request *r);
bool fm_partition_is_recv(const struct fm_request *r);
int fm_partition_count(const struct fm_request *r);

/* The partition may leave. 0, or a failure: it is ready already (-FM_E_INVAL). */
int fm_partition_ready(struct fm_request *r, int part);
/* Has all of the receiver's partition come? */
bool fm_partition_has_arrived(const struct fm_request *r, int part);

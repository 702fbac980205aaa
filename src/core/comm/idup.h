/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Duplicates without waiting (MPI-5.0 7.4.2): the agreement on the context is a schedule, so any
 * number of duplicates may be under way at a time.
 */
#pragma once

#include "core/object/comm.h"

struct fm_request;

/* A duplicate, of an intercommunicator as well, that has no context yet: its handle is refused. Its
   attributes are copied now. 0, a failure, or what a copy callback returned. */
int fm_idup_make(struct fm_comm *comm, struct fm_comm **out_made);
/* It shall not be used after all; its attributes are deleted. */
void fm_idup_drop(struct fm_comm *made);
/* Collective over comm: agree on the context of its duplicate. *out_req holds the handle's
   reference; once it is complete, the duplicate may be used. If it fails, or cannot be started, the
   duplicate is dropped. */
int fm_idup_start(struct fm_comm *comm, struct fm_comm *made, struct fm_request **out_req);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Ranks that have ended or have aborted: what each end means, and which one was the first cause. */
#pragma once

#include "launch/local_state.h"

/* Reap ended ranks, report failures, terminate the job where it cannot go on. On SIGCHLD. */
void fm_reap(struct fm_local *l);
/* The same when l->blame_ns has passed. */
void fm_reap_check(struct fm_local *l);

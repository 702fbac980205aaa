/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports on the ranks, from their shared pages and exit statuses. */
#pragma once

#include "launch/local_state.h"

/* Print for each rank the call that it is blocked in, and for how long. */
void fm_report_state(const struct fm_local *l);
/* Print for each rank its exit status or signal. */
void fm_report_exits(const struct fm_local *l);
/* Send the page of each rank to the `fathom stat` that runs mpiexec. */
void fm_report_send_pages(const struct fm_local *l);

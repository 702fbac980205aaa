/* SPDX-License-Identifier: BSD-3-Clause */
/* What the ranks of a job are doing, from their shared pages; and handing these pages on. */
#pragma once

#include <stdio.h>

#include "launch/job.h"

/* A line for each rank: what it is blocked in, and since when. */
void fm_report_state(const struct fm_job *job, FILE *to);
/* A line for each rank: how it has ended. */
void fm_report_exits(const struct fm_job *job, FILE *to);
/* Send the page of each rank to `fathom stat`, if it runs us: it reads them after the job. */
void fm_report_send_pages(const struct fm_job *job);

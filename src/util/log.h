/* SPDX-License-Identifier: BSD-3-Clause */
/* Warnings and errors on stderr, in whole lines with the rank as prefix. */
#pragma once

#include <stdbool.h>

#include "util/compiler.h"

/*
 * The prefix of all further lines: "fathom: rank 3 of 8 (pid 4711): ". Before it is set, lines
 * begin with "fathom: ". rank < 0 takes the prefix away.
 */
void fm_log_identify(int rank, int size);

/* One line, written with a single write(2), so that lines of several ranks do not mix. */
FM_COLD void fm_log_warn(const char *fmt, ...) FM_PRINTF(1, 2);
FM_COLD void fm_log_error(const char *fmt, ...) FM_PRINTF(1, 2);

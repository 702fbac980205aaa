/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What functions return: 0 is success; -FM_E... is a failure that is handed up unchanged; a
 * positive value is a condition that the function's own header comment names (most often FM_AGAIN).
 *
 * The first function to notice a failure gives the reason with fm_fail(); its callers do not. The
 * text waits in a buffer of the thread until core/api raises the MPI error and prints it.
 */
#pragma once

#include "util/compiler.h"

/* Positive: no room now, nothing was done, come back after progress. */
#define FM_AGAIN 1

enum fm_error {
    FM_E_NOMEM = 1,   /* memory could not be had */
    FM_E_INVAL,       /* a value is out of its range */
    FM_E_TRUNCATE,    /* the message is longer than the buffer */
    FM_E_PEER,        /* the other process is gone or cannot be reached */
    FM_E_PROTO,       /* a peer sent what no peer may send */
    FM_E_SYSTEM,      /* a system call or a library refused */
    FM_E_UNSUPPORTED, /* this build, provider or kernel cannot do it */
    FM_E_NOENT,       /* no such name */
    FM_E_TIMEOUT,     /* waited as long as was allowed */
    FM_E_CANCELLED,   /* ended before it was done, on request */
    FM_E_INTERNAL,    /* our own mistake, noticed */
    FM_E_COUNT
};

/* "out of memory" and the like; for any value, of either sign. Static text. */
const char *fm_status_name(int status);

/*
 * Note why something failed and return `status` (a negative one), so that one can write
 * `return fm_fail(-FM_E_NOMEM, "...")`. The text of the calling thread is replaced.
 */
FM_COLD int fm_fail(int status, const char *fmt, ...) FM_PRINTF(2, 3);

/* The text of the last fm_fail() of this thread, "" if none; cleared by fm_why_clear(). */
const char *fm_why(void);
void fm_why_clear(void);

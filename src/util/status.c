/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of failures, and the reason of the last one. */
#include "util/status.h"

#include <stdarg.h>
#include <stdio.h>

/* Per thread, so it needs no guard: the reason of the last failure, until the api raises it. */
static _Thread_local char last_why[512];

static const char *const names[FM_E_COUNT] = {
    [0] = "success",
    [FM_E_NOMEM] = "out of memory",
    [FM_E_INVAL] = "invalid value",
    [FM_E_TRUNCATE] = "message truncated",
    [FM_E_PEER] = "peer is gone",
    [FM_E_PROTO] = "peer broke the protocol",
    [FM_E_SYSTEM] = "system call failed",
    [FM_E_UNSUPPORTED] = "not supported here",
    [FM_E_NOENT] = "no such name",
    [FM_E_TIMEOUT] = "timed out",
    [FM_E_CANCELLED] = "cancelled",
    [FM_E_INTERNAL] = "internal error",
};

const char *fm_status_name(int status)
{
    int code = status < 0 ? -status : status;

    if (code >= FM_E_COUNT) {
        return "unknown status";
    }
    return names[code];
}

int fm_fail(int status, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vsnprintf(last_why, sizeof(last_why), fmt, args);
    va_end(args);
    return status;
}

const char *fm_why(void)
{
    return last_why;
}

void fm_why_clear(void)
{
    last_why[0] = '\0';
}

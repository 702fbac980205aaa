/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines on stderr. */
#include "util/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* The prefix of all lines; set by the runtime before there is a second thread. */
static char prefix[64] = "fathom: ";

void fm_log_identify(int rank, int size)
{
    if (rank < 0) {
        snprintf(prefix, sizeof(prefix), "fathom: ");
        return;
    }
    snprintf(prefix, sizeof(prefix), "fathom: rank %d of %d (pid %d): ", rank, size, (int)getpid());
}

static void line(const char *kind, const char *fmt, va_list args)
{
    char text[2048];
    size_t at = (size_t)snprintf(text, sizeof(text), "%s%s", prefix, kind);
    int n = vsnprintf(text + at, sizeof(text) - at - 1, fmt, args);
    ssize_t written;

    if (n > 0) {
        at += (size_t)n < sizeof(text) - at - 1 ? (size_t)n : sizeof(text) - at - 2;
    }
    text[at++] = '\n';
    written = write(STDERR_FILENO, text, at);
    (void)written; /* there is nowhere to report it */
}

void fm_log_warn(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    line("warning: ", fmt, args);
    va_end(args);
}

void fm_log_error(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    line("error: ", fmt, args);
    va_end(args);
}

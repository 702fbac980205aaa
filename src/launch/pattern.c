/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns in names of files and in labels of output. */
#include "launch/pattern.h"

#include <stdio.h>

/* Print the escape `c`; returns its length as snprintf(3) does, -1: no escape. */
static int print_escape(const struct fm_pattern *values, char c, char *out_text, size_t len)
{
    switch (c) {
    case 'r':
        return snprintf(out_text, len, "%d", values->rank);
    case 'h':
        return snprintf(out_text, len, "%s", values->host);
    case 'p':
        return snprintf(out_text, len, "%d", (int)values->pid);
    case '%':
        return snprintf(out_text, len, "%%");
    default:
        return -1;
    }
}

void fm_pattern_expand(const struct fm_pattern *values, const char *text, char *out_text,
                       size_t len)
{
    size_t at = 0;

    for (const char *p = text; *p != '\0' && at + 1 < len; p++) {
        int n = *p == '%' ? print_escape(values, p[1], out_text + at, len - at) : -1;

        if (n < 0) {
            out_text[at++] = *p;
            continue;
        }
        p++;
        at += (size_t)n < len - at ? (size_t)n : len - at - 1;
    }
    out_text[at] = '\0';
}

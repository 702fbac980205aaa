/* SPDX-License-Identifier: BSD-3-Clause */
/* Patterns in names of files and in labels of output. */
#pragma once

#include <stddef.h>
#include <sys/types.h>

/* Values of the escapes: %r rank, %h host, %p process id; %% is a percent sign. */
struct fm_pattern {
    int rank;
    pid_t pid;
    const char *host;
};

/* Expand the escapes of a text into `len` bytes; cut off what does not fit. */
void fm_pattern_expand(const struct fm_pattern *values, const char *text, char *out_text,
                       size_t len);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Nonblocking writers for the standard output and standard error of mpiexec. What a reader does not
 * accept now is buffered and written when it does; signals and ranks are served meanwhile.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fm_writer {
    int fd;
    char *text; /* buffered */
    size_t len, capacity;
    int error;          /* errno of a write whose text was lost; 0: none */
    bool has_no_reader; /* a write failed with EPIPE */
};

void fm_writer_init(struct fm_writer *w, int fd);
void fm_writer_finish(struct fm_writer *w);

/* Write the text; buffer what cannot be written now. */
void fm_writer_put(struct fm_writer *w, const char *text, size_t len);
/* For poll(): ready when buffered text can be written. */
struct pollfd fm_writer_poll(const struct fm_writer *w);
/* Write buffered text as far as possible. */
void fm_writer_serve(struct fm_writer *w);
/* Has the reader closed the pipe? Ranks may write to it, too, so poll(2) is asked. */
bool fm_writer_is_broken(const struct fm_writer *w);

/* A line-buffered stream to the writer; the caller closes it. NULL: no memory. */
FILE *fm_writer_stream(struct fm_writer *w);

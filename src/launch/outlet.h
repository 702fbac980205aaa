/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Our standard output and standard error, as ways out that never hold us up: what their readers do
 * not take now is kept and goes out when they do, so that signals and ranks are served meanwhile.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

struct fm_outlet {
    int fd;
    char *text; /* what is kept */
    size_t len, room;
    int error;    /* why something was lost, 0: nothing was */
    bool is_deaf; /* a write has met no reader */
};

void fm_outlet_init(struct fm_outlet *o, int fd);
void fm_outlet_finish(struct fm_outlet *o);

/* Write the text, or keep what cannot go out now. */
void fm_outlet_put(struct fm_outlet *o, const char *text, size_t len);
/* For poll(): when something is kept, and can go out. */
struct pollfd fm_outlet_poll(const struct fm_outlet *o);
/* Write what is kept, as far as it goes. */
void fm_outlet_serve(struct fm_outlet *o);
/* Has its reader gone? Asked of the pipe: ranks may write there too. */
bool fm_outlet_is_deserted(const struct fm_outlet *o);

/* A stream of lines that ends in the outlet; the caller closes it. NULL: no memory. */
FILE *fm_outlet_stream(struct fm_outlet *o);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * How the shared pages of ranks come to the tool that watches them: as descriptors over a datagram
 * socket, whose name stands in the environment. Whoever started the ranks need not pass anything
 * on, and the tool holds the pages whatever ends the ranks.
 */
#pragma once

#include <stdbool.h>

/* Names the box; set by the tool for the command that it runs. */
#define FM_PAGEPOST_ENV "FATHOM_STAT_BOX"

enum { FM_PAGEPOST_NAME_LEN = 32 };

/*
 * Open a box to which processes of this user may send. out_name: room for FM_PAGEPOST_NAME_LEN
 * characters, what FM_PAGEPOST_ENV is to be set to. Returns the socket, the caller's to close, or
 * -1 with errno set.
 */
int fm_pagepost_open(char *out_name);

/*
 * Take a page from the box, without waiting. out_rank: -1 when the sender did not know it.
 * Returns its descriptor, the caller's to close; -1: none is there (any more).
 */
int fm_pagepost_take(int box, int *out_rank);

/* Send a page to the box of that name (NULL: none). False: nobody reads it (any more). */
bool fm_pagepost_send(const char *name, int rank, int page_fd);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The socket through which shared pages of ranks reach `fathom stat`: descriptors in datagrams of a
 * Unix socket, whose name is in the environment. A launcher between tool and ranks need not pass on
 * more than the environment, and the tool holds the pages whatever ends the ranks.
 */
#pragma once

#include <stdbool.h>

/* The name of the socket; the tool sets it for the command that it runs. */
#define FM_PAGE_SOCKET_ENV "FATHOM_STAT_SOCKET"

enum { FM_PAGE_SOCKET_NAME_LEN = 32 };

/*
 * Open a socket for processes of this user. out_name has FM_PAGE_SOCKET_NAME_LEN bytes and is the
 * value for FM_PAGE_SOCKET_ENV. Returns the socket, to be closed by the caller, or -1 and errno.
 */
int fm_page_socket_open(char *out_name);

/*
 * Receive a page, without waiting. out_rank is -1 where the sender did not know it. Returns its
 * descriptor, to be closed by the caller; -1: there is none.
 */
int fm_page_socket_take(int sock, int *out_rank);

/* Send a page to the socket of that name (NULL: none). False: there is no reader. */
bool fm_page_socket_send(const char *name, int rank, int page_fd);

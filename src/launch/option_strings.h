/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of strings and what a command line needs of text. */
#pragma once

#include "launch/options.h"
#include "util/compiler.h"

/* Append, keeping a NULL behind the last. The string is not copied. 0 or -FM_E_NOMEM. */
int fm_strings_add(struct fm_strings *s, char *text);
/* Append the parts of a text, copies of which go into `owner`. */
int fm_strings_add_parts(struct fm_strings *s, struct fm_strings *owner, const char *text,
                         char divider);
/* A formatted string that `owner` holds, NULL when out of memory. */
char *fm_strings_own(struct fm_strings *owner, const char *fmt, ...) FM_PRINTF(2, 3);
/* The content of a file, held by `owner`. NULL, and the reason. */
char *fm_strings_read_file(struct fm_strings *owner, const char *path);
/*
 * Divide the text of a configuration file into words, in place: quotes and backslashes as in a
 * shell, "#" begins a comment, a newline without a backslash before it ends a program (a ":" is
 * put between). `path` is for messages. 0 or a failure.
 */
int fm_strings_split(struct fm_strings *s, char *text, const char *path);
/* Number of single-letter changes between two words. */
int fm_strings_distance(const char *a, const char *b);
/* Drop the list; free_all drops its strings too. */
void fm_strings_finish(struct fm_strings *s);
void fm_strings_free_all(struct fm_strings *s);

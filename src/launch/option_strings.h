/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of strings, and functions on text for the command line. */
#pragma once

#include "util/status.h"

/* A list of strings that grows at its end. */
struct fm_strings {
    char **items;
    int n;
};

/* Append a string, which is not copied; the list ends with NULL. 0 or -FM_E_NOMEM. */
int fm_strings_add(struct fm_strings *s, char *text);
/* Append the parts of a text between dividers; `owner` holds the copies. */
int fm_strings_add_parts(struct fm_strings *s, struct fm_strings *owner, const char *text,
                         char divider);
/* A formatted string that `owner` holds; NULL: out of memory. */
char *fm_strings_own(struct fm_strings *owner, const char *fmt, ...) FM_PRINTF(2, 3);
/* The content of a file, held by `owner`; NULL: a failure with its reason. */
char *fm_strings_read_file(struct fm_strings *owner, const char *path);
/*
 * Divide the text of a configuration file into words, in place: quotes and backslashes as in a
 * shell; "#" begins a comment; a newline without a backslash before it ends a program, for which a
 * ":" is inserted. `path` is for error texts. 0 or a failure.
 */
int fm_strings_split(struct fm_strings *s, char *text, const char *path);
/* The edit distance (Levenshtein) of two words. */
int fm_strings_distance(const char *a, const char *b);
/* Free the list; free_all frees its strings, too. */
void fm_strings_finish(struct fm_strings *s);
void fm_strings_free_all(struct fm_strings *s);

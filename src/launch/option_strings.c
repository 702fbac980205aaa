/* SPDX-License-Identifier: BSD-3-Clause */
/* Lists of strings, and functions on text for the command line. */
#include "launch/option_strings.h"

#include <errno.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fm_strings_add(struct fm_strings *s, char *text)
{
    char **items = realloc(s->items, (size_t)(s->n + 2) * sizeof(*items));

    if (!items) {
        return fm_fail(-FM_E_NOMEM, "no memory for the options");
    }
    items[s->n] = text;
    items[s->n + 1] = NULL;
    s->items = items;
    s->n++;
    return 0;
}

int fm_strings_add_parts(struct fm_strings *s, struct fm_strings *owner, const char *text,
                         char divider)
{
    char *copy = fm_strings_own(owner, "%s", text);
    int rc = copy ? 0 : -FM_E_NOMEM;

    while (copy && !rc) {
        char *next = strchr(copy, divider);

        if (next) {
            *next++ = '\0';
        }
        if (copy[0] != '\0') {
            rc = fm_strings_add(s, copy);
        }
        copy = next;
    }
    return rc;
}

char *fm_strings_own(struct fm_strings *owner, const char *fmt, ...)
{
    char *text = NULL;
    va_list args;
    int n;

    va_start(args, fmt);
    n = vasprintf(&text, fmt, args);
    va_end(args);
    if (n < 0) {
        fm_fail(-FM_E_NOMEM, "no memory for the options");
        return NULL;
    }
    if (fm_strings_add(owner, text)) {
        free(text);
        return NULL;
    }
    return text;
}

char *fm_strings_read_file(struct fm_strings *owner, const char *path)
{
    FILE *f = fopen(path, "re");
    char *text = NULL;
    size_t room = 0;
    ssize_t n;

    if (!f) {
        fm_fail(-FM_E_INVAL, "cannot read %s: %s", path, strerror(errno));
        return NULL;
    }
    n = getdelim(&text, &room, '\0', f);
    if (n < 0 && ferror(f)) {
        fm_fail(-FM_E_INVAL, "cannot read %s: %s", path, strerror(errno));
    } else if (n < 0) {
        fm_fail(-FM_E_INVAL, "%s is empty", path);
    }
    fclose(f);
    if (n < 0 || fm_strings_add(owner, text)) {
        free(text);
        return NULL;
    }
    return text;
}

/* The word at *p, unquoted in place. Moves *p to the character after it. */
static char *take_word(char **p, const char *path, int *rc)
{
    char *in = *p;
    char *word = in;
    char *out = in;
    char quote = '\0';

    for (; *in != '\0' && (quote || !strchr(" \t\r\n", *in)); in++) {
        if (quote && *in == quote) {
            quote = '\0';
        } else if (!quote && (*in == '"' || *in == '\'')) {
            quote = *in;
        } else if (*in == '\\' && quote != '\'' && in[1] == '\n') {
            in++; /* the word continues on the next line */
        } else {
            if (*in == '\\' && quote != '\'' && in[1] != '\0') {
                in++;
            }
            *out++ = *in;
        }
    }
    if (quote) {
        *rc = fm_fail(-FM_E_INVAL, "%s: unterminated quote (%c)", path, quote);
    }
    *p = in;
    if (out < in) {
        *out = '\0';
    }
    return word;
}

int fm_strings_split(struct fm_strings *s, char *text, const char *path)
{
    bool is_line_open = false; /* the current line has words */
    int rc = 0;
    char *p = text;

    while (*p != '\0' && !rc) {
        char *word;
        bool ends_line;

        if (*p == '\\' && p[1] == '\n') {
            p += 2;
            continue;
        }
        if (*p == '#') {
            p += strcspn(p, "\n");
            continue;
        }
        if (strchr(" \t\r\n", *p)) {
            is_line_open = is_line_open && *p != '\n';
            p++;
            continue;
        }
        if (!is_line_open && s->n > 0) {
            rc = fm_strings_add(s, (char *)":");
        }
        is_line_open = true;
        word = take_word(&p, path, &rc);
        ends_line = *p == '\n';
        if (*p != '\0') {
            *p++ = '\0';
        }
        if (ends_line) {
            is_line_open = false;
        }
        if (!rc) {
            rc = fm_strings_add(s, word);
        }
    }
    return rc;
}

int fm_strings_distance(const char *a, const char *b)
{
    int row[64];
    int n = (int)strlen(b);

    if (n >= (int)FM_ARRAY_LEN(row)) {
        return n;
    }
    for (int j = 0; j <= n; j++) {
        row[j] = j;
    }
    for (int i = 1; a[i - 1] != '\0'; i++) {
        int diagonal = row[0];

        row[0] = i;
        for (int j = 1; j <= n; j++) {
            int change = diagonal + (a[i - 1] != b[j - 1]);
            int drop = row[j] + 1;
            int insert = row[j - 1] + 1;

            diagonal = row[j];
            row[j] = change < drop ? change : drop;
            row[j] = row[j] < insert ? row[j] : insert;
        }
    }
    return row[n];
}

void fm_strings_finish(struct fm_strings *s)
{
    free(s->items);
    *s = (struct fm_strings){0};
}

void fm_strings_free_all(struct fm_strings *s)
{
    for (int i = 0; i < s->n; i++) {
        free(s->items[i]);
    }
    fm_strings_finish(s);
}

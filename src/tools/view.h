/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared pages of other processes, mapped read-only. A page is not trusted, for its process may be
 * faulty or hostile: offsets and counts are checked against the length of the file, and control
 * characters in texts are replaced by "?".
 */
#pragma once

#include <fathom/page.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fm_view {
    const struct fathom_page *page;
    size_t len;
    int rank;    /* as numbered by the launcher; -1: a program without one */
    bool is_own; /* memory of this process, not a mapping of the view's */
};

struct fm_views {
    struct fm_view *items; /* in the order of ranks */
    int n;
};

/* What a rank is doing. */
enum fm_view_state {
    FM_VIEW_EMPTY,     /* before MPI_Init */
    FM_VIEW_COMPUTING, /* in MPI, not blocked */
    FM_VIEW_BLOCKED,
    FM_VIEW_DONE,  /* after MPI_Finalize */
    FM_VIEW_GONE,  /* the process is dead */
    FM_VIEW_ALIEN, /* its page is corrupt or of another version */
};

/* Map and add the page of a descriptor, which the caller closes. -1: it is no sealed page. */
int fm_view_add(struct fm_views *v, int fd, int rank);
/* Sort by rank. */
void fm_view_sort(struct fm_views *v);
void fm_view_finish(struct fm_views *v);
/* Are all pages that were written to readable? If not, prints why and returns -1. */
int fm_view_check(const struct fm_views *v);

/*
 * All pages of a job, given by the process id of its mpiexec, of a rank, or of a program without
 * mpiexec; 0: of the only job of this user. On failure prints why and returns -1.
 */
int fm_view_job(pid_t pid, struct fm_views *out_views);

/* A copy of row i. False: there is none. */
bool fm_view_row(const struct fm_view *v, int i, struct fathom_page_row *out_row);
/* The row of that name and kind (and class, unless 0). */
bool fm_view_find(const struct fm_view *v, uint32_t kind, const char *name, uint32_t klass,
                  struct fathom_page_row *out_row);
/* Value k of a row, for an unbound one (o is NULL), or for a bound one and its object. */
bool fm_view_word(const struct fm_view *v, const struct fathom_page_row *row,
                  const struct fathom_page_object *o, uint32_t k, uint64_t *out_word);
/* The value of a text, at most len bytes. */
bool fm_view_text(const struct fm_view *v, const struct fathom_page_row *row, char *out_text,
                  size_t len);
/* A copy of object entry i; free entries have block 0. False: there is none. */
bool fm_view_object(const struct fm_view *v, int i, struct fathom_page_object *out_object);
/* The names of the program and of its host. */
#define FM_VIEW_TEXT_LEN 160
const char *fm_view_program(const struct fm_view *v, char out_text[FM_VIEW_TEXT_LEN]);
const char *fm_view_host(const struct fm_view *v, char out_text[FM_VIEW_TEXT_LEN]);
/* Value of an unbound performance variable, 0 if there is none. */
uint64_t fm_view_value(const struct fm_view *v, const char *name);

enum fm_view_state fm_view_state(const struct fm_view *v, struct fathom_page_blocked *out_blocked);
const char *fm_view_state_name(enum fm_view_state state);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Shared pages of processes, mapped read-only and never trusted: every offset and count is checked
 * against the length of the file before it is followed, because a page belongs to a program that
 * may have gone wrong.
 */
#pragma once

#include <fathom/page.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

struct fm_view {
    const struct fathom_page *page;
    size_t len;
    int rank; /* as the launcher numbered it, -1: a program on its own */
};

struct fm_views {
    struct fm_view *items; /* in the order of ranks */
    int n;
};

/* What a rank is doing, as one can tell from outside. */
enum fm_view_state {
    FM_VIEW_EMPTY,     /* has not started MPI */
    FM_VIEW_COMPUTING, /* in MPI, not blocked */
    FM_VIEW_BLOCKED,
    FM_VIEW_DONE,  /* behind MPI_Finalize */
    FM_VIEW_GONE,  /* the process is dead */
    FM_VIEW_ALIEN, /* its page is damaged or of another version */
};

/* Add the page behind a descriptor, which stays the caller's. -1: it is none, or may be cut. */
int fm_view_add(struct fm_views *v, int fd, int rank);
/* Sort by rank. */
void fm_view_sort(struct fm_views *v);
void fm_view_finish(struct fm_views *v);
/* Can all that has been written be read? Prints why not: -1. */
int fm_view_check(const struct fm_views *v);

/*
 * All pages of a job, named by the process id of its mpiexec, of a rank, or of a program on its
 * own; 0: of the only job that runs here. Prints why when it cannot: -1.
 */
int fm_view_job(pid_t pid, struct fm_views *out_views);

/* A copy of row i, its texts terminated. False when there is none. */
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
/* A copy of object entry i. False behind the last; free entries have block 0. */
bool fm_view_object(const struct fm_view *v, int i, struct fathom_page_object *out_object);
/* Value of an unbound performance variable, 0 if there is none. */
uint64_t fm_view_value(const struct fm_view *v, const char *name);

enum fm_view_state fm_view_state(const struct fm_view *v, struct fathom_page_blocked *out_blocked);
const char *fm_view_state_name(enum fm_view_state state);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups out of groups (MPI-5.0 7.3.2), in time linear in their sizes. */
#include <stdlib.h>

#include "core/object/group.h"
#include "util/status.h"

/* Process index -> rank in a group, -1 for no member. */
struct index {
    int n;
    int *rank_of;
};

static int no_memory(int n)
{
    return fm_fail(-FM_E_NOMEM, "no memory for a group of %d processes", n);
}

static int index_make(struct index *x, const struct fm_group *group)
{
    x->n = 0;
    for (int i = 0; i < group->size; i++) {
        int proc = fm_group_proc(group, i);

        x->n = proc >= x->n ? proc + 1 : x->n;
    }
    x->rank_of = malloc(((size_t)x->n + 1) * sizeof(int));
    if (!x->rank_of) {
        return no_memory(x->n);
    }
    for (int i = 0; i < x->n; i++) {
        x->rank_of[i] = -1;
    }
    for (int i = 0; i < group->size; i++) {
        x->rank_of[fm_group_proc(group, i)] = i;
    }
    return 0;
}

static bool has(const struct index *x, int proc)
{
    return proc < x->n && x->rank_of[proc] >= 0;
}

static int self_of(const struct fm_group *group)
{
    return group->rank >= 0 ? fm_group_proc(group, group->rank) : -1;
}

/* What comes of groups of a session is of that session. */
static int make(int size, const int *procs, int self, const void *session,
                struct fm_group **out_group)
{
    int rc = fm_group_create(size, procs, self, out_group);

    if (rc == 0) {
        (*out_group)->session = session;
    }
    return rc;
}

/* The members of a that are in b (or not), then, for a union, those of b that are not in a. */
static int combine(const struct fm_group *a, const struct fm_group *b, bool want_in_b,
                   bool want_rest, struct fm_group **out_group)
{
    int self = self_of(a) >= 0 ? self_of(a) : self_of(b);
    struct index in_a = {0}, in_b = {0};
    int n = 0, rc = -FM_E_NOMEM;
    int *procs = malloc(((size_t)a->size + (size_t)b->size + 1) * sizeof(int));

    if (!procs || index_make(&in_a, a) != 0 || index_make(&in_b, b) != 0) {
        rc = no_memory(a->size + b->size);
        goto out;
    }
    for (int i = 0; i < a->size; i++) {
        int proc = fm_group_proc(a, i);

        if (want_rest || has(&in_b, proc) == want_in_b) {
            procs[n++] = proc;
        }
    }
    for (int i = 0; want_rest && i < b->size; i++) {
        if (!has(&in_a, fm_group_proc(b, i))) {
            procs[n++] = fm_group_proc(b, i);
        }
    }
    rc = make(n, procs, self, a->session ? a->session : b->session, out_group);
out:
    free(in_a.rank_of);
    free(in_b.rank_of);
    free(procs);
    return rc;
}

int fm_group_union(const struct fm_group *a, const struct fm_group *b, struct fm_group **out_group)
{
    return combine(a, b, true, true, out_group);
}

int fm_group_intersection(const struct fm_group *a, const struct fm_group *b,
                          struct fm_group **out_group)
{
    return combine(a, b, true, false, out_group);
}

int fm_group_difference(const struct fm_group *a, const struct fm_group *b,
                        struct fm_group **out_group)
{
    return combine(a, b, false, false, out_group);
}

int fm_group_incl(const struct fm_group *group, int n, const int *ranks,
                  struct fm_group **out_group)
{
    int *procs = malloc(((size_t)n + 1) * sizeof(int));
    int rc;

    if (!procs) {
        return no_memory(n);
    }
    for (int i = 0; i < n; i++) {
        procs[i] = fm_group_proc(group, ranks[i]);
    }
    rc = make(n, procs, self_of(group), group->session, out_group);
    free(procs);
    return rc;
}

int fm_group_excl(const struct fm_group *group, int n, const int *ranks,
                  struct fm_group **out_group)
{
    int *procs = malloc(((size_t)group->size + 1) * sizeof(int));
    bool *is_out = calloc((size_t)group->size + 1, sizeof(bool));
    int n_left = 0, rc;

    if (!procs || !is_out) {
        rc = no_memory(group->size);
        goto out;
    }
    for (int i = 0; i < n; i++) {
        is_out[ranks[i]] = true;
    }
    for (int i = 0; i < group->size; i++) {
        if (!is_out[i]) {
            procs[n_left++] = fm_group_proc(group, i);
        }
    }
    rc = make(n_left, procs, self_of(group), group->session, out_group);
out:
    free(is_out);
    free(procs);
    return rc;
}

int fm_group_compare(const struct fm_group *a, const struct fm_group *b, int *out_result)
{
    bool is_same = a->size == b->size;
    struct index in_b;
    int rc;

    for (int i = 0; is_same && i < a->size; i++) {
        is_same = fm_group_proc(a, i) == fm_group_proc(b, i);
    }
    if (is_same || a->size != b->size) {
        *out_result = is_same ? MPI_IDENT : MPI_UNEQUAL;
        return 0;
    }
    rc = index_make(&in_b, b);
    if (rc != 0) {
        return rc;
    }
    *out_result = MPI_SIMILAR;
    for (int i = 0; i < a->size; i++) {
        if (!has(&in_b, fm_group_proc(a, i))) {
            *out_result = MPI_UNEQUAL;
        }
    }
    free(in_b.rank_of);
    return 0;
}

int fm_group_translate(const struct fm_group *from, int n, const int *ranks,
                       const struct fm_group *to, int *out_ranks)
{
    struct index in_to;
    int rc = index_make(&in_to, to);

    if (rc != 0) {
        return rc;
    }
    for (int i = 0; i < n; i++) {
        if (ranks[i] == MPI_PROC_NULL) {
            out_ranks[i] = MPI_PROC_NULL;
        } else {
            int proc = fm_group_proc(from, ranks[i]);

            out_ranks[i] = has(&in_to, proc) ? in_to.rank_of[proc] : MPI_UNDEFINED;
        }
    }
    free(in_to.rank_of);
    return 0;
}

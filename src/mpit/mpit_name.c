/* SPDX-License-Identifier: BSD-3-Clause */
/* Names to numbers: one hash table per kind of thing, so that MPI_T_*_get_index does not search. */
#include "mpit/mpit_internal.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct entry {
    const char *name; /* the thing's own; NULL: free */
    int klass;
    int number;
};

/* Open addressing, at most half full. Guarded by the registry's lock while names are added; the set
   does not change after that. */
static struct names {
    struct entry *entries;
    size_t room, n;
} names[FM_T_NAME_KINDS];

static size_t hash(const char *name, int klass)
{
    uint64_t h = UINT64_C(0xcbf29ce484222325) ^ (uint64_t)klass;

    for (; *name; name++) {
        h = (h ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    }
    return (size_t)(h ^ h >> 32);
}

static struct entry *place(const struct names *t, const char *name, int klass)
{
    size_t i = hash(name, klass) & (t->room - 1);

    while (t->entries[i].name &&
           (t->entries[i].klass != klass || strcmp(t->entries[i].name, name) != 0)) {
        i = (i + 1) & (t->room - 1);
    }
    return &t->entries[i];
}

int fm_t_name_find(enum fm_t_name_kind kind, const char *name, int klass)
{
    const struct names *t = &names[kind];
    const struct entry *e;

    if (t->room == 0) {
        return -1;
    }
    e = place(t, name, klass);
    return e->name ? e->number : -1;
}

static int grow(struct names *t)
{
    struct names bigger = {.room = t->room ? t->room * 2 : 64, .n = t->n};
    size_t i;

    bigger.entries = fm_t_got(calloc(bigger.room, sizeof(*bigger.entries)));
    if (!bigger.entries) {
        return -1;
    }
    for (i = 0; i < t->room; i++) {
        if (t->entries[i].name) {
            *place(&bigger, t->entries[i].name, t->entries[i].klass) = t->entries[i];
        }
    }
    free(t->entries);
    *t = bigger;
    return 0;
}

int fm_t_name_add(enum fm_t_name_kind kind, const char *name, int klass, int number)
{
    struct names *t = &names[kind];
    struct entry *e;

    if (t->n * 2 >= t->room && grow(t) != 0) {
        return -1;
    }
    e = place(t, name, klass);
    if (e->name) {
        return 1;
    }
    *e = (struct entry){.name = name, .klass = klass, .number = number};
    t->n++;
    return 0;
}

void fm_t_name_clear(enum fm_t_name_kind kind)
{
    free(names[kind].entries);
    names[kind] = (struct names){0};
}

const char *fathom_mpit_successor(const char *name)
{
    const char *formerly;
    int i;

    for (i = 0; name && i < fm_t_root.n_cvars; i++) {
        formerly = fm_t_root.cvars[i].row->formerly;
        if (formerly && strcasecmp(formerly, name) == 0) {
            return fm_t_root.cvars[i].row->name;
        }
    }
    for (i = 0; name && i < fm_t_root.n_pvars; i++) {
        formerly = fm_t_root.pvars[i].row->formerly;
        if (formerly && strcasecmp(formerly, name) == 0) {
            return fm_t_root.pvars[i].row->name;
        }
    }
    for (i = 0; name && i < fm_t_root.n_events; i++) {
        formerly = fm_t_root.events[i].row->formerly;
        if (formerly && strcasecmp(formerly, name) == 0) {
            return fm_t_root.events[i].row->name;
        }
    }
    return NULL;
}

int fm_t_name_distance(const char *a, const char *b)
{
    int row[FM_T_NAME_LEN + 1], diagonal, above, best;
    int i, j, n_b = (int)strnlen(b, FM_T_NAME_LEN);

    for (j = 0; j <= n_b; j++) {
        row[j] = j;
    }
    for (i = 0; a[i]; i++) {
        diagonal = row[0];
        row[0] = i + 1;
        for (j = 1; j <= n_b; j++) {
            above = row[j];
            best = diagonal + (tolower((unsigned char)a[i]) != tolower((unsigned char)b[j - 1]));
            best = above + 1 < best ? above + 1 : best;
            row[j] = row[j - 1] + 1 < best ? row[j - 1] + 1 : best;
            diagonal = above;
        }
    }
    return row[n_b];
}

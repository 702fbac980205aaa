/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The set is complete: order it, number it, hang it into the tree of categories, write the texts
 * that tools show.
 *
 * Order of performance variables: scalars of the process, scalars of objects, arrays; inside these
 * as they were added. Tools that take only the first ones, or only scalars, get the most of them,
 * and all processes of a job have the same numbers.
 */
#include "mpit/mpit_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int fm_t_category_update_number(void)
{
    /* The tree is made once, when the set is fixed (MPI-5.0 15.3.9). */
    return fm_t_root.is_fixed ? 1 : 0;
}

static int category_find(const char *name)
{
    int i;

    for (i = 0; i < fm_t_root.n_categories; i++) {
        if (strcmp(fm_t_root.categories[i].name, name) == 0) {
            return i;
        }
    }
    return -1;
}

/* The category with this name, made if need be; a later description fills in a missing one. */
static int category_get(const char *name, const char *desc, const char *parent)
{
    struct fm_t_category *c;
    int i = category_find(name);

    if (i < 0) {
        if (fm_t_grow(&fm_t_root.categories, fm_t_root.n_categories, sizeof(*c)) != 0) {
            return -1;
        }
        i = fm_t_root.n_categories++;
        c = &fm_t_root.categories[i];
        snprintf(c->name, sizeof(c->name), "%s", name);
        c->parent = -1;
    }
    c = &fm_t_root.categories[i];
    if (!c->desc) {
        c->desc = desc;
        c->parent_name = parent;
    }
    return i;
}

static void list_add(int **list, int *n, int value)
{
    if (fm_t_grow(list, *n, sizeof(int)) == 0) {
        (*list)[(*n)++] = value;
    }
}

static void declared_categories(void)
{
    const struct fathom_table *t;
    int i, k;

    for (i = 0; i < fm_t_root.n_tables; i++) {
        t = fm_t_root.tables[i]->from;
        for (k = 0; k < t->n_categories; k++) {
            category_get(t->categories[k].name, t->categories[k].desc, t->categories[k].parent);
        }
    }
}

/* Is `i` at or above `of` in the tree? Then `of` cannot be its parent. */
static bool is_above(int i, int of)
{
    while (of >= 0 && of != i) {
        of = fm_t_root.categories[of].parent;
    }
    return of == i;
}

static void hang_tree(void)
{
    int i, parent;

    /* Undeclared parents are made when a category names them: n_categories may grow here. */
    for (i = 0; i < fm_t_root.n_categories; i++) {
        const char *name = fm_t_root.categories[i].parent_name;

        parent = name ? category_get(name, NULL, NULL) : -1;
        if (parent < 0 || is_above(i, parent)) {
            continue;
        }
        fm_t_root.categories[i].parent = parent;
        list_add(&fm_t_root.categories[parent].categories,
                 &fm_t_root.categories[parent].n_categories, i);
    }
}

/* The category of a row of this table; NULL: there is no memory for it. */
static struct fm_t_category *category_for(const struct fm_t_table *table, const char *name)
{
    int i = category_get(name ? name : table->from->room, NULL, NULL);

    return i >= 0 ? &fm_t_root.categories[i] : NULL;
}

static void hang_variables(void)
{
    struct fm_t_category *c;
    int i;

    for (i = 0; i < fm_t_root.n_cvars; i++) {
        c = category_for(fm_t_root.cvars[i].table, fm_t_root.cvars[i].row->category);
        if (c) {
            list_add(&c->cvars, &c->n_cvars, i);
        }
    }
    for (i = 0; i < fm_t_root.n_pvars; i++) {
        c = category_for(fm_t_root.pvars[i].table, fm_t_root.pvars[i].row->category);
        if (c) {
            list_add(&c->pvars, &c->n_pvars, i);
        }
    }
    for (i = 0; i < fm_t_root.n_events; i++) {
        c = category_for(fm_t_root.events[i].table, fm_t_root.events[i].row->category);
        if (c) {
            list_add(&c->events, &c->n_events, i);
        }
    }
}

static int place_of(const struct fm_t_pvar *v)
{
    return v->count != 1 ? 2 : v->bind != FATHOM_BIND_NONE ? 1 : 0;
}

/* Stable: three passes over the order of adding. */
static void order_pvars(void)
{
    struct fm_t_pvar *sorted = fm_t_got(calloc((size_t)fm_t_root.n_pvars + 1, sizeof(*sorted)));
    int place, i, n = 0;

    if (!sorted) {
        return;
    }
    for (place = 0; place < 3; place++) {
        for (i = 0; i < fm_t_root.n_pvars; i++) {
            if (place_of(&fm_t_root.pvars[i]) == place) {
                sorted[n++] = fm_t_root.pvars[i];
            }
        }
    }
    free(fm_t_root.pvars);
    fm_t_root.pvars = sorted;
}

static void number_names(void)
{
    int i;

    for (i = 0; i < FM_T_NAME_KINDS; i++) {
        fm_t_name_clear((enum fm_t_name_kind)i);
    }
    for (i = 0; i < fm_t_root.n_cvars; i++) {
        fm_t_name_add(FM_T_NAME_CVAR, fm_t_root.cvars[i].name, 0, i);
    }
    for (i = 0; i < fm_t_root.n_pvars; i++) {
        fm_t_name_add(FM_T_NAME_PVAR, fm_t_root.pvars[i].row->name, (int)fm_t_root.pvars[i].klass,
                      i);
    }
    for (i = 0; i < fm_t_root.n_events; i++) {
        fm_t_name_add(FM_T_NAME_EVENT, fm_t_root.events[i].row->name, 0, i);
    }
    for (i = 0; i < fm_t_root.n_categories; i++) {
        fm_t_name_add(FM_T_NAME_CATEGORY, fm_t_root.categories[i].name, 0, i);
    }
}

/* What setting the variable requires, which the description must say (MPI-5.0 15.3.6.1). */
static const char *requirement(enum fathom_scope scope)
{
    switch (scope) {
    case FATHOM_SCOPE_CONSTANT:
        return "not written by tools";
    case FATHOM_SCOPE_READONLY:
        return "read-only";
    case FATHOM_SCOPE_LOCAL:
        return "each process for itself";
    case FATHOM_SCOPE_GROUP:
        return "consistent values in the group";
    case FATHOM_SCOPE_GROUP_EQ:
        return "the same value in the group";
    case FATHOM_SCOPE_ALL:
        return "consistent values in all connected processes";
    default:
        return "the same value in all connected processes";
    }
}

/* "Sentence. [0..65536 bytes; default 4096; FATHOM_P2P_EAGER; each process for itself]": what the
 * standard has no place for. */
static void write_cvar_text(struct fm_t_cvar *v)
{
    char text[2048], bounds[512], env[FM_T_NAME_LEN + 64], def[FM_T_TEXT_MAX];
    const struct fathom_cvar *r = v->row;

    fm_t_param_bounds(r, bounds, sizeof(bounds));
    fm_t_env_name(env, sizeof(env), r->name);
    if (r->type == FATHOM_CHAR) {
        snprintf(def, sizeof(def), "\"%s\"", r->def_text);
    } else if (r->type == FATHOM_DOUBLE) {
        snprintf(def, sizeof(def), "%g", r->def_real);
    } else {
        snprintf(def, sizeof(def), "%" PRId64, r->def);
    }
    snprintf(text, sizeof(text), "%s%s [%s; default %s; %s; %s%s]", r->desc,
             v->bind == FATHOM_BIND_NONE ? "" : " This is the value of one object.", bounds, def,
             env, requirement(r->scope), r->fixed_after_init ? "; fixed after MPI_Init" : "");
    v->desc = fm_t_got(strdup(text));
}

static void write_texts(void)
{
    char text[2048];
    int i;

    for (i = 0; i < fm_t_root.n_cvars; i++) {
        write_cvar_text(&fm_t_root.cvars[i]);
    }
    for (i = 0; i < fm_t_root.n_pvars; i++) {
        const struct fathom_pvar *r = fm_t_root.pvars[i].row;

        if (r->unit) {
            snprintf(text, sizeof(text), "%s [%s]", r->desc, r->unit);
        }
        fm_t_root.pvars[i].desc = fm_t_got(strdup(r->unit ? text : r->desc));
    }
}

void fm_t_fix(void)
{
    if (fm_t_root.is_fixed) {
        return;
    }
    order_pvars();
    declared_categories();
    hang_variables();
    hang_tree();
    number_names();
    write_texts();
    fm_t_root.is_fixed = true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Tables become entries: rows are checked against the rules of their class, get their words and
 * their line in the page. A table that breaks a rule is refused as a whole, before anything of it
 * is in.
 */
#include "mpit/mpit_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static bool is_name(const char *name)
{
    size_t n;

    if (!name) {
        return false;
    }
    n = strlen(name);
    /* MPI_T_UMQ_LENGTH has its name from the standard's example; "_session" must fit behind. */
    if (strncmp(name, "MPI_T_", 6) == 0) {
        return n < FM_T_NAME_LEN;
    }
    return n > 0 && n + sizeof("_session") <= FM_T_NAME_LEN && name[0] >= 'a' && name[0] <= 'z' &&
           strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == n;
}

static const char *check_enum(const struct fathom_enum *e)
{
    int i;

    if (!e) {
        return NULL;
    }
    if (!e->name || e->n_items < 1) {
        return "has an enumeration without name or items";
    }
    for (i = 0; i < e->n_items; i++) {
        if (!e->items[i].name || strlen(e->items[i].name) > 11) {
            return "has an enumeration with an item name of more than 11 characters";
        }
    }
    return NULL;
}

static const char *check_bind(const struct fathom_table *t, enum fathom_bind bind, size_t at,
                              size_t len)
{
    if (bind <= FATHOM_BIND_NONE) {
        return at + len <= t->block_len ? NULL : "lies outside of its block";
    }
    if (bind != t->object_bind) {
        return "is bound to another kind of object than its table";
    }
    return at + len <= t->object_block_len ? NULL : "lies outside of its object's block";
}

static bool is_default_good(const struct fathom_cvar *r)
{
    if (r->type == FATHOM_DOUBLE) {
        return r->def_real >= r->min_real && r->def_real <= r->max_real;
    }
    return r->items || r->type == FATHOM_CHAR || (r->def >= r->min && r->def <= r->max);
}

static const char *check_cvar(const struct fathom_table *t, const struct fathom_cvar *r)
{
    size_t len = r->type == FATHOM_CHAR ? (size_t)r->count : sizeof(uint64_t);

    if (!is_name(r->name) || (r->formerly && !is_name(r->formerly)) || !r->desc) {
        return "has a malformed name or no description";
    }
    if (r->type < FATHOM_INT || r->type > FATHOM_CHAR || r->scope < FATHOM_SCOPE_CONSTANT ||
        r->scope > FATHOM_SCOPE_ALL_EQ) {
        return "has no type or no scope";
    }
    if (r->type == FATHOM_CHAR && (r->count < 2 || r->count > FM_T_TEXT_MAX || !r->def_text ||
                                   strlen(r->def_text) >= (size_t)r->count)) {
        return "is a string without a default that fits into 2 to 256 bytes";
    }
    if (r->items && (r->type != FATHOM_INT || !fm_t_enum_has(r->items, r->def))) {
        return "has an enumeration, but is no int with a default from it";
    }
    if (!is_default_good(r)) {
        return "has a default out of its bounds";
    }
    if (r->bind > FATHOM_BIND_NONE) {
        if (r->type >= FATHOM_DOUBLE || (!r->items && r->min < 0)) {
            return "is bound, but no integer from 0 on";
        }
        if (check_bind(t, r->bind, r->object_at, sizeof(uint64_t))) {
            return check_bind(t, r->bind, r->object_at, sizeof(uint64_t));
        }
    }
    return check_bind(t, FATHOM_BIND_NONE, r->at, len) ? "lies outside of its block"
                                                       : check_enum(r->items);
}

static enum fathom_type pvar_type(const struct fathom_pvar *r)
{
    if (r->type) {
        return r->type;
    }
    if (r->klass == FATHOM_STATE) {
        return FATHOM_INT;
    }
    return r->klass == FATHOM_PERCENTAGE ? FATHOM_DOUBLE : FATHOM_UNSIGNED_LONG_LONG;
}

/* MPI-5.0 15.3.7: which datatypes a class may have. */
static bool type_fits_class(const struct fathom_pvar *r)
{
    enum fathom_type type = pvar_type(r);

    switch (r->klass) {
    case FATHOM_STATE:
        return type == FATHOM_INT;
    case FATHOM_PERCENTAGE:
        return type == FATHOM_DOUBLE;
    case FATHOM_COUNTER:
        return type >= FATHOM_UNSIGNED && type <= FATHOM_UNSIGNED_LONG_LONG;
    case FATHOM_HIGHWATERMARK:
    case FATHOM_LOWWATERMARK:
        return type >= FATHOM_UNSIGNED && type <= FATHOM_UNSIGNED_LONG_LONG;
    case FATHOM_GENERIC:
        return type >= FATHOM_INT && type < FATHOM_CHAR;
    case FATHOM_LEVEL:
        /* The standard's example reads this one as an int. */
        if (strcmp(r->name, "MPI_T_UMQ_LENGTH") == 0) {
            return type == FATHOM_INT;
        }
        /* fallthrough */
    default:
        return type == FATHOM_DOUBLE ||
               (type >= FATHOM_UNSIGNED && type <= FATHOM_UNSIGNED_LONG_LONG);
    }
}

static bool is_watermark(const struct fathom_pvar *r)
{
    return r->klass == FATHOM_HIGHWATERMARK || r->klass == FATHOM_LOWWATERMARK;
}

static const char *check_member(const struct fathom_table *t, enum fathom_bind bind, size_t at)
{
    if (bind != t->object_bind || bind <= FATHOM_BIND_NONE) {
        return "counts per member, but is not bound to its table's object";
    }
    return at + sizeof(uint64_t) <= t->member_block_len && t->member_block_len % 8 == 0
               ? NULL
               : "lies outside of a member's record";
}

/* A term of a sum of so many elements. */
static const char *check_term(const struct fathom_table *t, const struct fathom_pvar *r,
                              const struct fathom_term *term, size_t n)
{
    size_t step = term->step ? term->step : 1;

    if (n > 1 && (term->count < 0 || term->count > 1)) {
        return "is an array of sums over more than one word";
    }
    if (term->count == FATHOM_PER_MEMBER) {
        return check_member(t, r->bind, term->at);
    }
    n = term->count > 1 ? (size_t)term->count : n;
    return check_bind(t, r->bind, term->at, ((n - 1) * step + 1) * sizeof(uint64_t));
}

/* Check a row with `whole_at`: the whole must be a word of the same block. */
static const char *check_whole(const struct fathom_table *t, const struct fathom_pvar *r)
{
    bool is_rest = r->klass == FATHOM_LOWWATERMARK && r->bind <= FATHOM_BIND_NONE;

    if ((r->klass != FATHOM_PERCENTAGE && !is_rest) || r->count > 1 || r->count < 0) {
        return "is a part, but no single percentage or rest";
    }
    return check_bind(t, r->bind, r->whole_at, sizeof(uint64_t));
}

/* Check a sum: integers without marks, all of them in the block. */
static const char *check_terms(const struct fathom_table *t, const struct fathom_pvar *r)
{
    const char *why = NULL;
    int i;

    if (r->n_terms < 1 || r->items || is_watermark(r) || r->is_level || r->is_writable ||
        r->count < 0 || r->at || (pvar_type(r) == FATHOM_DOUBLE && !r->whole_at)) {
        return "is a sum of what cannot be added";
    }
    for (i = 0; i < r->n_terms && !why; i++) {
        why = check_term(t, r, &r->terms[i], r->count > 1 ? (size_t)r->count : 1);
    }
    return why;
}

static const char *check_pvar(const struct fathom_table *t, const struct fathom_pvar *r)
{
    size_t n = r->count > 1 ? (size_t)r->count : 1;
    size_t len =
        is_watermark(r) || r->is_level ? sizeof(struct fathom_level) : n * sizeof(uint64_t);

    if (!is_name(r->name) || (r->formerly && !is_name(r->formerly)) || !r->desc) {
        return "has a malformed name or no description";
    }
    if (r->klass < FATHOM_STATE || r->klass > FATHOM_GENERIC || !type_fits_class(r)) {
        return "has no class, or a type that its class may not have";
    }
    if ((r->klass == FATHOM_STATE) != (r->items != NULL) && r->klass != FATHOM_GENERIC) {
        return "is a state without enumeration, or an enumeration that is no state";
    }
    if (len == sizeof(struct fathom_level) && (is_watermark(r) || r->is_level) && n != 1) {
        return "is an array of levels";
    }
    if (r->whole_at && check_whole(t, r)) {
        return check_whole(t, r);
    }
    if (r->terms) {
        return check_terms(t, r);
    }
    if (r->count == FATHOM_PER_MEMBER) {
        return check_member(t, r->bind, r->at);
    }
    if (r->on_at && (r->bind > FATHOM_BIND_NONE ||
                     check_bind(t, FATHOM_BIND_NONE, r->on_at, sizeof(uint64_t)))) {
        return "has its handles counted where that cannot be";
    }
    return check_bind(t, r->bind, r->at, len) ? check_bind(t, r->bind, r->at, len)
                                              : check_enum(r->items);
}

static const char *check_event(const struct fathom_table *t, const struct fathom_event *r)
{
    int i;

    if (!is_name(r->name) || (r->formerly && !is_name(r->formerly)) || !r->desc) {
        return "has a malformed name or no description";
    }
    if (r->n_data < 0 || r->n_data > FM_T_EVENT_MAX) {
        return "has more than 8 elements";
    }
    for (i = 0; i < r->n_data; i++) {
        if (r->data[i].type < FATHOM_INT || r->data[i].type >= FATHOM_CHAR || !r->data[i].name ||
            check_enum(r->data[i].items)) {
            return "has an element without name or with a type that is none";
        }
    }
    return check_bind(t, FATHOM_BIND_NONE, r->at, sizeof(uint64_t));
}

static const char *bind_suffix(enum fathom_bind bind)
{
    switch (bind) {
    case FATHOM_BIND_NONE:
        return "";
    case FATHOM_BIND_COMM:
        return "_comm";
    case FATHOM_BIND_FILE:
        return "_file";
    case FATHOM_BIND_WIN:
        return "_win";
    default:
        return "_session";
    }
}

/* Is the name of cvar row `i`, with or without what a bound one adds, in use by another? */
static bool is_cvar_taken(const struct fathom_table *t, int i)
{
    const struct fathom_cvar *r = &t->cvars[i];
    char bound[FM_T_NAME_LEN];
    int k;

    for (k = 0; k < i; k++) {
        if (strcmp(t->cvars[k].name, r->name) == 0) {
            return true;
        }
    }
    snprintf(bound, sizeof(bound), "%s%s", r->name, r->bind > 1 ? bind_suffix(r->bind) : "");
    return fm_t_name_find(FM_T_NAME_CVAR, r->name, 0) >= 0 ||
           fm_t_name_find(FM_T_NAME_CVAR, bound, 0) >= 0;
}

static bool is_pvar_taken(const struct fathom_table *t, int i)
{
    const struct fathom_pvar *r = &t->pvars[i];
    int k;

    for (k = 0; k < i; k++) {
        if (t->pvars[k].klass == r->klass && strcmp(t->pvars[k].name, r->name) == 0) {
            return true;
        }
    }
    return fm_t_name_find(FM_T_NAME_PVAR, r->name, (int)r->klass) >= 0;
}

static bool is_event_taken(const struct fathom_table *t, int i)
{
    int k;

    for (k = 0; k < i; k++) {
        if (strcmp(t->events[k].name, t->events[i].name) == 0) {
            return true;
        }
    }
    return fm_t_name_find(FM_T_NAME_EVENT, t->events[i].name, 0) >= 0;
}

/* Check every row; warn about the first that breaks a rule. */
static int check_table(const struct fathom_table *t)
{
    const char *name = "", *why = NULL;
    int i;

    for (i = 0; !why && i < t->n_cvars; i++) {
        name = t->cvars[i].name;
        why = check_cvar(t, &t->cvars[i]);
        if (!why && is_cvar_taken(t, i)) {
            why = "has a name that is taken";
        }
    }
    for (i = 0; !why && i < t->n_pvars; i++) {
        name = t->pvars[i].name;
        why = check_pvar(t, &t->pvars[i]);
        if (!why && is_pvar_taken(t, i)) {
            why = "has a name that is taken";
        }
    }
    for (i = 0; !why && i < t->n_events; i++) {
        name = t->events[i].name;
        why = check_event(t, &t->events[i]);
        if (!why && is_event_taken(t, i)) {
            why = "has a name that is taken";
        }
    }
    if (why) {
        fm_t_warn("table %s refused: %s %s", t->room, name ? name : "a row", why);
    }
    return why ? -1 : 0;
}

/* "name_comm" in memory that is never freed. */
static const char *bound_name(const char *name, enum fathom_bind bind)
{
    const char *suffix = bind_suffix(bind);
    size_t len = strlen(name) + strlen(suffix) + 1;
    char *out = fm_t_got(malloc(len));

    if (out) {
        snprintf(out, len, "%s%s", name, suffix);
    }
    return out;
}

static void cvar_row_outside(struct fm_t_cvar *v)
{
    const struct fathom_cvar *r = v->row;
    struct fathom_page_row *p = fm_t_page_row_new(v->name, r->unit);

    if (!p) {
        return;
    }
    p->kind = FATHOM_PAGE_CVAR;
    p->type = r->type;
    p->bind = v->bind;
    p->count = r->type == FATHOM_CHAR ? (uint32_t)r->count : 1;
    p->step = 1;
    p->source = v->source;
    p->block = v->bind == FATHOM_BIND_NONE ? 0 : v->table->number;
    p->at = p->block ? r->object_at : fm_t_page_offset(v->table->block + r->at);
    v->page_row = p;
    fm_t_page_row_publish();
}

static int cvar_add(const struct fm_t_table *table, const struct fathom_cvar *r,
                    enum fathom_bind bind)
{
    struct fm_t_cvar *v;

    if (fm_t_grow(&fm_t_root.cvars, fm_t_root.n_cvars, sizeof(*v)) != 0) {
        return -1;
    }
    v = &fm_t_root.cvars[fm_t_root.n_cvars];
    v->name = bind == FATHOM_BIND_NONE ? r->name : bound_name(r->name, bind);
    if (!v->name) {
        return -1;
    }
    v->row = r;
    v->table = table;
    v->bind = bind;
    v->enum_handle = fm_t_enum_handle(r->items);
    if (bind == FATHOM_BIND_NONE) {
        fm_t_param_load(v);
    }
    cvar_row_outside(v);
    fm_t_root.n_cvars++;
    return fm_t_name_add(FM_T_NAME_CVAR, v->name, 0, 0) < 0 ? -1 : 0;
}

/* The terms of a sum, as entries of their own. Where they begin; 0: the page had no room. */
static uint64_t terms_outside(const struct fm_t_pvar *v)
{
    const struct fathom_pvar *r = v->row;
    uint64_t begin = 0;
    int i;

    for (i = 0; i < r->n_terms; i++) {
        const struct fathom_term *t = &r->terms[i];
        bool is_member = t->count == FATHOM_PER_MEMBER;
        const struct fathom_table *from = v->table->from;
        struct fathom_page_row *p = fm_t_page_row_new("", NULL);

        if (!p) {
            return 0;
        }
        p->kind = FATHOM_PAGE_TERM;
        p->type = v->type;
        p->bind = v->bind;
        p->count = is_member ? 0 : t->count ? (uint32_t)t->count : 1;
        p->step = is_member ? (uint32_t)(from->member_block_len / 8) : t->step ? t->step : 1;
        p->block = v->bind == FATHOM_BIND_NONE ? 0 : v->table->number;
        p->at = p->block ? t->at + (is_member ? from->object_block_len : 0)
                         : fm_t_page_offset(v->table->block + t->at);
        begin = begin ? begin : fm_t_page_offset(p);
        fm_t_page_row_publish();
    }
    return begin;
}

static void pvar_row_outside(const struct fm_t_pvar *v)
{
    const struct fathom_pvar *r = v->row;
    uint64_t terms_at = r->terms ? terms_outside(v) : 0;
    bool is_seen = !r->terms || terms_at;
    struct fathom_page_row *p = is_seen ? fm_t_page_row_new(r->name, r->unit) : NULL;

    if (!p) {
        return;
    }
    p->kind = FATHOM_PAGE_PVAR;
    p->klass = v->klass;
    p->type = v->type;
    p->bind = v->bind;
    p->count = (uint32_t)v->count;
    p->step = v->step;
    p->block = v->bind == FATHOM_BIND_NONE ? 0 : v->table->number;
    p->at = p->block ? v->word_at : fm_t_page_offset(v->table->block + v->word_at);
    if (terms_at) {
        p->at = terms_at;
        p->terms = (uint32_t)r->n_terms;
    } else if (v->mode == FM_T_PVAR_HIGH) {
        p->at += offsetof(struct fathom_level, high);
    } else if (v->mode == FM_T_PVAR_LOW) {
        p->at += offsetof(struct fathom_level, low);
    }
    if (r->whole_at && v->is_derived) {
        p->whole_at = p->block ? r->whole_at : fm_t_page_offset(v->table->block + r->whole_at);
    }
    fm_t_page_row_publish();
}

static enum fm_t_pvar_mode mode_of(const struct fathom_pvar *r)
{
    switch (r->klass) {
    case FATHOM_HIGHWATERMARK:
        return FM_T_PVAR_HIGH;
    case FATHOM_LOWWATERMARK:
        return FM_T_PVAR_LOW;
    case FATHOM_COUNTER:
    case FATHOM_AGGREGATE:
    case FATHOM_TIMER:
        return FM_T_PVAR_SINCE;
    case FATHOM_GENERIC:
        return r->is_writable ? FM_T_PVAR_SINCE : FM_T_PVAR_AS_IS;
    default:
        return FM_T_PVAR_AS_IS;
    }
}

/* Places of the counters of a sum that is one value and has no counter per member, so that frequent
   reads need not walk the terms. NULL for other sums, and when memory is out. */
static uint32_t *flat_of(const struct fathom_pvar *r)
{
    uint32_t n = 0, *flat;
    int k, i;

    for (k = 0; k < r->n_terms; k++) {
        if (r->count > 1 || r->terms[k].count == FATHOM_PER_MEMBER) {
            return NULL;
        }
        n += (uint32_t)(r->terms[k].count ? r->terms[k].count : 1);
    }
    flat = n ? calloc(n + 1, sizeof(*flat)) : NULL;
    for (k = 0; flat && k < r->n_terms; k++) {
        const struct fathom_term *t = &r->terms[k];

        for (i = 0; i < (t->count ? t->count : 1); i++) {
            flat[++flat[0]] =
                (uint32_t)(t->at / sizeof(uint64_t)) + (uint32_t)i * (t->step ? t->step : 1);
        }
    }
    return flat;
}

/* A low watermark over the rest of something finite begins with all of it. */
static void begin_with_all(const struct fm_t_pvar *v)
{
    char *block = v->table->block;
    uint64_t all = *(const uint64_t *)(const void *)(block + v->row->whole_at);

    *(struct fathom_level *)(void *)(block + v->word_at) =
        (struct fathom_level){.now = all, .hi_mark = all, .lo_mark = all, .high = all, .low = all};
}

static int pvar_add(struct fm_t_table *table, const struct fathom_pvar *r)
{
    struct fm_t_pvar *v;

    if (fm_t_grow(&fm_t_root.pvars, fm_t_root.n_pvars, sizeof(*v)) != 0) {
        return -1;
    }
    v = &fm_t_root.pvars[fm_t_root.n_pvars++];
    v->row = r;
    v->table = table;
    v->klass = r->klass;
    v->type = pvar_type(r);
    v->bind = r->bind > FATHOM_BIND_NONE ? r->bind : FATHOM_BIND_NONE;
    v->mode = mode_of(r);
    v->is_readonly = v->mode == FM_T_PVAR_AS_IS;
    v->is_atomic = !v->is_readonly;
    v->count = r->count == FATHOM_PER_MEMBER ? 0 : r->count > 1 ? r->count : 1;
    v->is_derived = r->terms || (r->whole_at && r->klass == FATHOM_PERCENTAGE);
    v->word_at = r->at;
    v->flat = r->whole_at ? NULL : flat_of(r);
    v->step = 1;
    if (v->count == 0) {
        v->step = (uint32_t)(table->from->member_block_len / sizeof(uint64_t));
        v->word_at = table->from->object_block_len + r->at;
    }
    v->enum_handle = fm_t_enum_handle(r->items);
    if (r->whole_at && v->mode == FM_T_PVAR_LOW) {
        begin_with_all(v);
    }
    pvar_row_outside(v);
    return fm_t_name_add(FM_T_NAME_PVAR, r->name, (int)r->klass, 0) < 0 ? -1 : 0;
}

static int event_add(struct fm_t_table *table, const struct fathom_event *r)
{
    struct fm_t_event *e;
    size_t len;
    int i;

    if (fm_t_grow(&fm_t_root.events, fm_t_root.n_events, sizeof(*e)) != 0) {
        return -1;
    }
    e = &fm_t_root.events[fm_t_root.n_events++];
    e->row = r;
    e->table = table;
    e->on = (uint64_t *)(void *)(table->block + r->at);
    e->enum_handle = fm_t_enum_handle_of_event(r);
    for (i = 0; i < r->n_data; i++) {
        len = fm_t_type_len(r->data[i].type);
        e->displacements[i] = (e->len + len - 1) / len * len;
        e->len = e->displacements[i] + len;
    }
    return fm_t_name_add(FM_T_NAME_EVENT, r->name, 0, 0) < 0 ? -1 : 0;
}

static int rows_add(struct fm_t_table *t)
{
    const struct fathom_table *from = t->from;
    int i, rc = 0;

    for (i = 0; rc == 0 && i < from->n_cvars; i++) {
        rc = cvar_add(t, &from->cvars[i], FATHOM_BIND_NONE);
        if (rc == 0 && from->cvars[i].bind > FATHOM_BIND_NONE) {
            rc = cvar_add(t, &from->cvars[i], from->cvars[i].bind);
        }
    }
    for (i = 0; rc == 0 && i < from->n_pvars; i++) {
        rc = pvar_add(t, &from->pvars[i]);
    }
    for (i = 0; rc == 0 && i < from->n_events; i++) {
        rc = event_add(t, &from->events[i]);
    }
    return rc;
}

/* Called locked. */
static int table_add(const struct fathom_table *from, void **out_block)
{
    struct fm_t_table *t;

    if (check_table(from) != 0 || fm_t_page_open() != 0) {
        return -1;
    }
    if (fm_t_grow(&fm_t_root.tables, fm_t_root.n_tables, sizeof(*fm_t_root.tables)) != 0) {
        return -1;
    }
    t = fm_t_got(calloc(1, sizeof(*t)));
    if (!t) {
        return -1;
    }
    t->from = from;
    t->number = (uint32_t)fm_t_root.n_tables + 1;
    t->block = from->block_len ? fm_t_page_take(from->block_len) : NULL;
    if (from->block_len && !t->block) {
        fm_t_warn("table %s refused: no room for %zu bytes of words in the page", from->room,
                  from->block_len);
        free(t);
        return -1;
    }
    fm_t_root.tables[fm_t_root.n_tables++] = t;
    *out_block = t->block;
    return rows_add(t);
}

int fathom_mpit_add(const struct fathom_table *table, void **out_block)
{
    void *block = NULL;
    int i, rc = 1;

    fm_t_lock();
    for (i = 0; i < fm_t_root.n_tables; i++) {
        if (fm_t_root.tables[i]->from == table) {
            block = fm_t_root.tables[i]->block;
            rc = 0;
        }
    }
    if (rc == 1 && fm_t_root.is_fixed) {
        fm_t_warn("table %s refused: the set of variables is fixed", table->room);
        rc = -1;
    } else if (rc == 1) {
        rc = table_add(table, &block);
    }
    fm_t_unlock();
    if (rc == 0 && out_block) {
        *out_block = block;
    }
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Live objects of the host with words of their own, found by (table, host pointer).
 *
 * What a tool hands in as an MPI object is only compared with the pointers that are in here, so a
 * freed or made-up one is refused without looking at it.
 */
#include "mpit/mpit_internal.h"

#include <stdlib.h>
#include <string.h>

/* Part of the registry's root, by host pointer; guarded by its lock. */
static struct fm_t_hash live;

/* The link is an object's first member. */
struct fm_t_object *fm_t_object_first(const void *object)
{
    return (struct fm_t_object *)fm_t_hash_find(&live, object);
}

static struct fm_t_object *next_of(const struct fm_t_object *o)
{
    return (struct fm_t_object *)fm_t_hash_next(&o->link);
}

static struct fm_t_table *table_of(const struct fathom_table *from)
{
    int i;

    for (i = 0; i < fm_t_root.n_tables; i++) {
        if (fm_t_root.tables[i]->from == from) {
            return fm_t_root.tables[i];
        }
    }
    return NULL;
}

struct fm_t_object *fm_t_object_find(const struct fm_t_table *table, const void *object)
{
    struct fm_t_object *o;

    for (o = fm_t_object_first(object); o && o->table != table; o = next_of(o)) {
    }
    return o;
}

/* obj_handle must be the address of a handle (15.3.6.2), or NULL. A tool that passes a predefined
   handle itself passes a number in the page that is never mapped (20.3.3). */
static bool is_address(const void *obj_handle)
{
    return !obj_handle || (uintptr_t)obj_handle >= 4096;
}

/* An object on which nothing happens. Tools as TAU pass no object for what is not bound to a
   communicator, and give up all variables if one cannot be had. NULL: memory is out. */
static struct fm_t_object *none_of(struct fm_t_table *table)
{
    struct fm_t_object *o = table->none ? table->none : calloc(1, sizeof(*o));

    if (o && !o->block) {
        o->table = table;
        o->block_len = table->from->object_block_len + sizeof(uint64_t);
        o->block = calloc(1, o->block_len);
        table->none = o;
    }
    return o && o->block ? o : NULL;
}

struct fm_t_object *fm_t_object_of_handle(const struct fm_t_table *table, enum fathom_bind bind,
                                          const void *obj_handle)
{
    void *object;

    if (!is_address(obj_handle) || !fm_t_root.host || !fm_t_root.host->object) {
        return NULL;
    }
    object = fm_t_root.host->object(bind, obj_handle);
    if (!object && !obj_handle && bind != FATHOM_BIND_COMM) {
        return none_of(fm_t_root.tables[table->number - 1]);
    }
    return object ? fm_t_object_find(table, object) : NULL;
}

const void *fm_t_object_host(enum fathom_bind bind, const void *obj_handle)
{
    const struct fm_t_object *o;
    void *object;

    if (!is_address(obj_handle) || !fm_t_root.host || !fm_t_root.host->object) {
        return NULL;
    }
    object = fm_t_root.host->object(bind, obj_handle);
    for (o = fm_t_object_first(object); o; o = next_of(o)) {
        if (o->table->from->object_bind == bind) {
            return object;
        }
    }
    return NULL;
}

static void show_outside(struct fm_t_object *o, uint64_t id, const char *name)
{
    struct fathom_page_object *e = fm_t_page_object_new();

    if (!e) {
        return;
    }
    e->bind = o->table->from->object_bind;
    e->id = id;
    e->at = fm_t_page_offset(o->block);
    e->n_members = (uint32_t)o->n_members;
    memset(e->name, 0, sizeof(e->name));
    strncpy(e->name, name ? name : "", sizeof(e->name) - 1);
    /* Pairs with the acquire load of a reader from outside: the entry is seen filled. */
    __atomic_store_n(&e->block, o->table->number, __ATOMIC_RELEASE);
    o->entry = e;
}

/* Called locked. Returns 1 when the words are not in the page. */
static int take_block(struct fm_t_object *o)
{
    size_t len =
        o->table->from->object_block_len + o->table->from->member_block_len * (size_t)o->n_members;

    o->block_len = len ? len : sizeof(uint64_t);
    o->block = fm_t_page_take(o->block_len);
    if (o->block) {
        o->is_in_page = true;
        return 0;
    }
    o->block = calloc(1, o->block_len);
    return o->block ? 1 : -1;
}

static int object_add(struct fm_t_table *table, void *object, uint64_t id, const char *name,
                      int n_members, void **out_block)
{
    struct fm_t_object *o = calloc(1, sizeof(*o));
    int rc;

    if (!o) {
        return -1;
    }
    o->link.key = object;
    o->table = table;
    o->n_members = n_members > 0 ? n_members : 0;
    rc = take_block(o);
    if (rc < 0) {
        free(o);
        return -1;
    }
    if (rc == 0) {
        show_outside(o, id, name);
    }
    fm_t_hash_add(&live, &o->link);
    *out_block = o->block;
    return rc == 0 ? 0 : -1;
}

int fathom_mpit_object_add(const struct fathom_table *table, void *object, uint64_t id,
                           const char *name, int n_members, void **out_block)
{
    struct fm_t_table *t;
    struct fm_t_object *known;
    int rc = -1;

    *out_block = NULL;
    fm_t_lock();
    t = table_of(table);
    if (t && object) {
        known = fm_t_object_find(t, object);
        if (known) {
            *out_block = known->block;
            rc = 0;
        } else {
            rc = object_add(t, object, id, name, n_members, out_block);
        }
    }
    fm_t_unlock();
    return rc;
}

void fathom_mpit_object_rename(void *object, const char *name)
{
    struct fm_t_object *o;

    fm_t_lock();
    for (o = fm_t_object_first(object); o; o = next_of(o)) {
        if (o->entry) {
            memset(o->entry->name, 0, sizeof(o->entry->name));
            strncpy(o->entry->name, name ? name : "", sizeof(o->entry->name) - 1);
        }
    }
    fm_t_unlock();
}

void fm_t_object_end(struct fm_t_object *o)
{
    fm_t_hash_remove(&live, &o->link);
    fm_t_page_object_give(o->entry);
    if (o->is_in_page) {
        fm_t_page_give(o->block, o->block_len);
    } else {
        free(o->block);
    }
    free(o);
}

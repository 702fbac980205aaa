/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects. Small sets: a linear search over the keys is the fastest there is. */
#include "core/object/info.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

#define MAX_INFOS (1 << 20)

/* MPI_INFO_ENV: filled by the runtime, read by the user; guarded as all infos are. */
static struct fm_info env = {.head = {.kind = FM_KIND_INFO, .refs = 1}};

__attribute__((constructor)) static void before_main(void)
{
    fm_info_init();
}

int fm_info_init(void)
{
    fm_handle_predefine(MPI_INFO_ENV, &env);
    return 0;
}

struct fm_info *fm_info_create(void)
{
    struct fm_info *info = NULL;

    fm_handle_lock_lasting();
    if (fm_handle_pool(FM_KIND_INFO, sizeof(struct fm_info), MAX_INFOS) == 0) {
        info = fm_object_new(FM_KIND_INFO);
    }
    fm_handle_unlock_lasting();
    return info;
}

struct fm_info *fm_info_dup(const struct fm_info *info)
{
    struct fm_info *copy;

    fm_handle_lock_lasting();
    copy = fm_info_create();
    for (int i = 0; copy && i < info->n_items; i++) {
        if (fm_info_set(copy, info->items[i].key, info->items[i].value) != 0) {
            fm_info_unref(copy);
            copy = NULL;
        }
    }
    fm_handle_unlock_lasting();
    return copy;
}

static void free_item(struct fm_info_item *item)
{
    free(item->key);
    free(item->value);
}

static void destroy(struct fm_info *info)
{
    for (int i = 0; i < info->n_items; i++) {
        free_item(&info->items[i]);
    }
    free(info->items);
    fm_object_free(info);
}

void fm_info_unref(struct fm_info *info)
{
    fm_handle_lock_lasting();
    if (info && --info->head.refs == 0) {
        destroy(info);
    }
    fm_handle_unlock_lasting();
}

static struct fm_info_item *find(const struct fm_info *info, const char *key)
{
    for (int i = 0; i < info->n_items; i++) {
        if (strcmp(info->items[i].key, key) == 0) {
            return &info->items[i];
        }
    }
    return NULL;
}

const char *fm_info_find(const struct fm_info *info, const char *key)
{
    const struct fm_info_item *item;
    const char *value;

    fm_handle_lock_lasting();
    item = find(info, key);
    value = item ? item->value : NULL;
    fm_handle_unlock_lasting();
    return value;
}

static int no_memory(void)
{
    return fm_fail(-FM_E_NOMEM, "no memory for an item of an info object");
}

static int make_room(struct fm_info *info)
{
    int n_room = info->n_room ? 2 * info->n_room : 8;
    struct fm_info_item *items;

    if (info->n_items < info->n_room) {
        return 0;
    }
    items = realloc(info->items, (size_t)n_room * sizeof(*items));
    if (!items) {
        return no_memory();
    }
    info->items = items;
    info->n_room = n_room;
    return 0;
}

static int set(struct fm_info *info, const char *key, const char *value)
{
    struct fm_info_item *old = find(info, key);
    struct fm_info_item item = {.value = strdup(value)};

    if (!item.value) {
        return no_memory();
    }
    if (old) {
        free(old->value);
        old->value = item.value;
        return 0;
    }
    item.key = strdup(key);
    if (!item.key || make_room(info) != 0) {
        free_item(&item);
        return no_memory();
    }
    info->items[info->n_items++] = item;
    return 0;
}

int fm_info_set(struct fm_info *info, const char *key, const char *value)
{
    int rc;

    fm_handle_lock_lasting();
    rc = set(info, key, value);
    fm_handle_unlock_lasting();
    return rc;
}

static int delete (struct fm_info *info, const char *key)
{
    struct fm_info_item *item = find(info, key);
    int at;

    if (!item) {
        return fm_fail(-FM_E_NOENT, "the info object has no key '%s'", key);
    }
    at = (int)(item - info->items);
    free_item(item);
    info->n_items--;
    memmove(item, item + 1, (size_t)(info->n_items - at) * sizeof(*item));
    return 0;
}

int fm_info_delete(struct fm_info *info, const char *key)
{
    int rc;

    fm_handle_lock_lasting();
    rc = delete (info, key);
    fm_handle_unlock_lasting();
    return rc;
}

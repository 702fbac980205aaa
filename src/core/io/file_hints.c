/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of files (MPI-5.0 14.2.8): those that are known are checked, kept and reported. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/io/file.h"
#include "core/io/file_counters.h"
#include "core/object/info.h"
#include "util/status.h"

/* Kept and reported, without effect: a local file system has nothing that they could steer. */
static const char *const kept[] = {
    "access_style", "chunked", "chunked_item", "chunked_size",    "file_perm",     "filename",
    "io_node_list", "nb_proc", "num_io_nodes", "striping_factor", "striping_unit", "cb_block_size"};

static int bad_value(const char *key, const char *value, const char *wanted)
{
    return fm_fail(MPI_ERR_INFO_VALUE, "the hint %s is \"%.64s\": it must be %s", key, value,
                   wanted);
}

static int number_of(const char *key, const char *value, long long least, long long *out)
{
    char *end;
    long long n = strtoll(value, &end, 10);

    if (end == value || *end || n < least) {
        return bad_value(key, value, least ? "a number above 0" : "a number from 0 on");
    }
    *out = n;
    return 0;
}

static int cb_of(const char *key, const char *value, enum fm_file_cb *out)
{
    static const char *const names[] = {"automatic", "enable", "disable"};

    for (int k = 0; k < 3; k++) {
        if (strcmp(value, names[k]) == 0) {
            *out = (enum fm_file_cb)k;
            return 0;
        }
    }
    return bad_value(key, value, "enable, disable or automatic");
}

static int set_collective(struct fm_file_hints *h, const char *value)
{
    if (strcmp(value, "true") != 0 && strcmp(value, "false") != 0) {
        return bad_value("collective_buffering", value, "true or false");
    }
    h->cb_read = h->cb_write = *value == 't' ? FM_FILE_CB_AUTO : FM_FILE_CB_DISABLE;
    return 0;
}

/* 0 when taken over, 1 when the key is unknown, or an error class. */
static int set_one(struct fm_file_hints *h, const char *key, const char *value)
{
    long long n = 0;
    int rc;

    if (strcmp(key, "cb_buffer_size") == 0) {
        rc = number_of(key, value, 1, &n);
        h->cb_buffer_size = rc ? h->cb_buffer_size : n;
        return rc;
    }
    if (strcmp(key, "cb_nodes") == 0) {
        rc = number_of(key, value, 1, &n);
        h->cb_nodes = rc ? h->cb_nodes : n > 1 << 30 ? 1 << 30 : (int)n;
        return rc;
    }
    if (strcmp(key, "collective_buffering") == 0) {
        return set_collective(h, value);
    }
    if (strcmp(key, "romio_cb_read") == 0) {
        return cb_of(key, value, &h->cb_read);
    }
    if (strcmp(key, "romio_cb_write") == 0) {
        return cb_of(key, value, &h->cb_write);
    }
    for (size_t k = 0; k < FM_ARRAY_LEN(kept); k++) {
        if (strcmp(key, kept[k]) == 0) {
            return 0;
        }
    }
    return FM_AGAIN;
}

/* Hints of the wrong form are ignored: they may not change what a program computes (10.1). */
int fm_file_hints_set(struct fm_file *f, const struct fm_info *info)
{
    if (!f->hints.cb_buffer_size) {
        f->hints =
            (struct fm_file_hints){.cb_nodes = (int)fm_io_counters->cb_nodes,
                                   .cb_buffer_size = (MPI_Count)fm_io_counters->cb_buffer_size};
    }
    for (int k = 0; info && k < info->n_items; k++) {
        const struct fm_info_item *item = &info->items[k];

        if (set_one(&f->hints, item->key, item->value) == 0 &&
            fm_info_set(f->info, item->key, item->value) != 0) {
            return -FM_E_NOMEM;
        }
        fm_why_clear();
    }
    return 0;
}

static int set_number(struct fm_info *info, const char *key, long long value)
{
    char text[32];

    snprintf(text, sizeof(text), "%lld", value);
    return fm_info_set(info, key, text);
}

struct fm_info *fm_file_hints_get(const struct fm_file *f)
{
    static const char *const modes[] = {"automatic", "enable", "disable"};
    struct fm_info *info = fm_info_dup(f->info);
    int rc;

    if (!info) {
        return NULL;
    }
    rc = set_number(info, "cb_buffer_size", f->hints.cb_buffer_size);
    rc = rc ? rc : fm_info_set(info, "romio_cb_read", modes[f->hints.cb_read]);
    rc = rc ? rc : fm_info_set(info, "romio_cb_write", modes[f->hints.cb_write]);
    if (!rc && f->hints.cb_nodes) {
        rc = set_number(info, "cb_nodes", f->hints.cb_nodes);
    }
    if (rc) {
        fm_info_unref(info);
        return NULL;
    }
    return info;
}

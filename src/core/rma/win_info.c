/* SPDX-License-Identifier: BSD-3-Clause */
/* Hints of windows (MPI-5.0 12.2.7). */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/object/info.h"
#include "core/rma/win.h"
#include "util/status.h"

/* The hints of MPI-5.0 12.2.1, 12.2.2, 12.2.3 and their defaults. */
static const struct {
    const char *key, *value;
} hints[] = {
    {"no_locks", "false"},
    {"accumulate_ordering", "rar,raw,war,waw"},
    {"accumulate_ops", "same_op_no_op"},
    {"mpi_accumulate_granularity", "0"},
    {"same_size", "false"},
    {"same_disp_unit", "false"},
    {"alloc_shared_noncontig", "false"},
    {"mpi_minimum_memory_alignment", NULL},
};

static bool is_one_of(const char *value, const char *a, const char *b)
{
    return strcmp(value, a) == 0 || strcmp(value, b) == 0;
}

/* "none", or some of rar, raw, war, waw between commas. */
static bool is_ordering(const char *value)
{
    static const char *const words[] = {"rar", "raw", "war", "waw"};

    if (strcmp(value, "none") == 0) {
        return true;
    }
    for (;;) {
        bool is_word = false;

        for (size_t k = 0; k < FM_ARRAY_LEN(words); k++) {
            is_word |= strncmp(value, words[k], 3) == 0;
        }
        if (!is_word || (value[3] && value[3] != ',')) {
            return false;
        }
        if (!value[3]) {
            return true;
        }
        value += 4;
    }
}

static bool is_number(const char *value)
{
    return *value && strspn(value, "0123456789") == strlen(value) && strlen(value) < 19;
}

static bool is_legal(const char *key, const char *value)
{
    if (strcmp(key, "accumulate_ordering") == 0) {
        return is_ordering(value);
    }
    if (strcmp(key, "accumulate_ops") == 0) {
        return is_one_of(value, "same_op", "same_op_no_op");
    }
    if (strncmp(key, "mpi_", 4) == 0) {
        return is_number(value);
    }
    return is_one_of(value, "true", "false");
}

MPI_Aint fm_win_alignment(const struct fm_info *info)
{
    const char *value = info ? fm_info_find(info, "mpi_minimum_memory_alignment") : NULL;
    MPI_Aint want = value && is_number(value) ? (MPI_Aint)strtoll(value, NULL, 10) : 0;
    MPI_Aint align = FM_CACHE_LINE;

    while (align < want && align < FM_WIN_MAX_ALIGNMENT) {
        align *= 2;
    }
    return align;
}

static int set_hint(struct fm_win *w, const char *key, const char *value)
{
    char text[24];

    if (strcmp(key, "mpi_minimum_memory_alignment") == 0) {
        if (w->flavor != MPI_WIN_FLAVOR_ALLOCATE && w->flavor != MPI_WIN_FLAVOR_SHARED) {
            return 0;
        }
        snprintf(text, sizeof(text), "%lld", (long long)w->alignment);
        value = text;
    }
    return value ? fm_info_set(w->info, key, value) : 0;
}

int fm_win_set_hints(struct fm_win *w, const struct fm_info *info)
{
    int rc = 0;

    w->info = w->info ? w->info : fm_info_create();
    if (!w->info) {
        return fm_fail(-FM_E_NOMEM, "no memory for the hints of a window");
    }
    for (size_t k = 0; rc == 0 && k < FM_ARRAY_LEN(hints); k++) {
        const char *value = info ? fm_info_find(info, hints[k].key) : NULL;

        if (value && is_legal(hints[k].key, value)) {
            rc = set_hint(w, hints[k].key, value);
        } else if (!fm_info_find(w->info, hints[k].key)) {
            rc = set_hint(w, hints[k].key, hints[k].value);
        }
    }
    w->no_locks = rc == 0 && strcmp(fm_info_find(w->info, "no_locks"), "true") == 0;
    return rc;
}

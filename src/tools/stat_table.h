/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of `fathom stat`: variables down, ranks across, totals at the right. */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "tools/view.h"

struct fm_stat_table {
    const struct fm_views *views;
    FILE *to;
    bool is_json;
    bool is_all; /* every variable that is not 0, by its own name */
    int exit_status;
    uint64_t elapsed_ns;
};

void fm_stat_table_print(const struct fm_stat_table *t);

/* SPDX-License-Identifier: BSD-3-Clause */
/* For unit tests: the word of a variable, found by its name in the table of its room, against what
   the test has counted. */
#pragma once

#include <check.h>
#include <fathom/mpit.h>
#include <string.h>

#include "support/oracle_log.h"

static inline const struct fathom_pvar *oracle_row(const struct fathom_table *t, const char *name)
{
    for (int k = 0; k < t->n_pvars; k++) {
        if (strcmp(t->pvars[k].name, name) == 0) {
            return &t->pvars[k];
        }
    }
    ck_abort_msg("no variable %s", name);
    return NULL;
}

/* What a tool reads, with a handle since the beginning. */
static inline uint64_t oracle_value(const struct fathom_table *t, const void *block,
                                    const char *name, int item)
{
    const struct fathom_pvar *row = oracle_row(t, name);
    const char *at = (const char *)block + row->at;
    uint64_t sum = 0;
    double share;

    for (int k = 0; k < row->n_terms; k++) {
        const struct fathom_term *term = &row->terms[k];
        const uint64_t *counters = (const uint64_t *)((const char *)block + term->at);

        for (int i = item; i < item + (term->count ? term->count : 1); i++) {
            sum += counters[(size_t)i * (term->step ? term->step : 1)];
        }
    }
    if (row->terms) {
        return sum;
    }
    switch (row->klass) {
    case FATHOM_HIGHWATERMARK:
        return ((const struct fathom_level *)at)->high;
    case FATHOM_LOWWATERMARK:
        return ((const struct fathom_level *)at)->low;
    case FATHOM_PERCENTAGE:
        share = fathom_page_share(
            *(const uint64_t *)at,
            *(const uint64_t *)(const void *)((const char *)block + row->whole_at));
        memcpy(&sum, &share, sizeof(sum));
        return sum;
    default:
        return ((const uint64_t *)at)[item];
    }
}

/* As oracle_value() gives it. */
static inline uint64_t oracle_share(double part, double whole)
{
    double share = part / whole;
    uint64_t bits;

    memcpy(&bits, &share, sizeof(bits));
    return bits;
}

#define ORACLE_ROW(t, block, name, item, op, should)                                               \
    do {                                                                                           \
        uint64_t oracle_is = oracle_value(t, block, name, item);                                   \
        uint64_t oracle_should = (uint64_t)(should);                                               \
                                                                                                   \
        oracle_log(name);                                                                          \
        ck_assert_msg(oracle_is op oracle_should, "%s[%d] is %llu, must be %s %llu", name,         \
                      (int)(item), (unsigned long long)oracle_is, #op,                             \
                      (unsigned long long)oracle_should);                                          \
    } while (0)

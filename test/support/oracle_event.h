/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For unit tests: how many events of each type were raised, by the real registry's or the double's
 * fathom_mpit_emit, which the linker wraps (--wrap=fathom_mpit_emit), against what the test has
 * counted. Set the `on` words first: oracle_events_on().
 */
#pragma once

#include <check.h>
#include <fathom/mpit.h>
#include <string.h>

#include "support/oracle_log.h"

/* Of all blocks that a program ever has: a sanitizer gives no address out again. */
enum { ORACLE_EVENTS = 4096 };

static struct {
    const struct fathom_event *event;
    const void *block;
    uint64_t n;
} oracle_events[ORACLE_EVENTS];

void __wrap_fathom_mpit_emit(const struct fathom_event *event, const void *block,
                             const void *object, const uint64_t *values);

void __wrap_fathom_mpit_emit(const struct fathom_event *event, const void *block,
                             const void *object, const uint64_t *values)
{
    int k = 0;

    while (oracle_events[k].event &&
           (oracle_events[k].event != event || oracle_events[k].block != block)) {
        k++;
        ck_assert_int_lt(k, ORACLE_EVENTS);
    }
    oracle_events[k].event = event;
    oracle_events[k].block = block;
    oracle_events[k].n++;
}

/* Raise all events of a table whose counters are in this block; their counts restart. */
static inline void oracle_events_on(const struct fathom_table *t, void *block)
{
    for (int k = 0; k < t->n_events; k++) {
        *(uint64_t *)(void *)((char *)block + t->events[k].at) = 1;
    }
    for (int k = 0; k < ORACLE_EVENTS; k++) {
        oracle_events[k].n = oracle_events[k].block == block ? 0 : oracle_events[k].n;
    }
}

static inline uint64_t oracle_event_count(const struct fathom_table *t, const void *block,
                                          const char *name)
{
    uint64_t n = 0;
    int k = 0;

    while (k < t->n_events && strcmp(t->events[k].name, name) != 0) {
        k++;
    }
    ck_assert_msg(k < t->n_events, "no event %s", name);
    for (int i = 0; i < ORACLE_EVENTS; i++) {
        n += oracle_events[i].event == &t->events[k] && oracle_events[i].block == block
                 ? oracle_events[i].n
                 : 0;
    }
    return n;
}

static inline void oracle_event_is(const struct fathom_table *t, const void *block,
                                   const char *name, uint64_t should)
{
    uint64_t n = oracle_event_count(t, block, name);

    oracle_log(name);
    ck_assert_msg(n == should, "%s was raised %llu times, must be %llu", name,
                  (unsigned long long)n, (unsigned long long)should);
}

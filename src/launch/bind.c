/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Binding ranks to processors. hwloc is loaded only where a policy needs it: a job without
 * --bind-to does not pay for it.
 */
#include "launch/bind.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launch/cpusets.h"

static void each_cpu(const cpu_set_t *allowed, cpu_set_t *sets, int *out_n)
{
    int n = 0;

    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET((size_t)cpu, allowed)) {
            CPU_SET((size_t)cpu, &sets[n++]);
        }
    }
    *out_n = n;
}

int fm_bind_init(enum fm_bind_to policy, int n_ranks, struct fm_bind *out_bind)
{
    struct fm_bind b = {0};
    cpu_set_t allowed;
    int rc = 0;

    *out_bind = b;
    if (policy == FM_BIND_NONE || sched_getaffinity(0, sizeof(allowed), &allowed) != 0) {
        return 0;
    }
    b.sets = calloc((size_t)CPU_COUNT(&allowed), sizeof(*b.sets));
    if (!b.sets) {
        return fm_fail(-FM_E_NOMEM, "no memory for the processor sets");
    }
    if (policy == FM_BIND_HWTHREAD) {
        each_cpu(&allowed, b.sets, &b.n_sets);
    } else {
        rc = fm_cpusets_of(policy, &allowed, b.sets, &b.n_sets);
    }
    if (rc == 0 && n_ranks > b.n_sets && (policy == FM_BIND_CORE || policy == FM_BIND_HWTHREAD)) {
        rc = FM_AGAIN;
    }
    if (rc != 0) {
        free(b.sets);
        return rc;
    }
    *out_bind = b;
    return 0;
}

void fm_bind_finish(struct fm_bind *b)
{
    free(b->sets);
    *b = (struct fm_bind){0};
}

const cpu_set_t *fm_bind_of(const struct fm_bind *b, int rank)
{
    return b->n_sets > 0 ? &b->sets[rank % b->n_sets] : NULL;
}

void fm_bind_print(const cpu_set_t *set, char *out_text, size_t len)
{
    size_t at = 0;

    out_text[0] = '\0';
    for (int c = 0; c < CPU_SETSIZE && at < len; c++) {
        int end = c;

        if (!CPU_ISSET((size_t)c, set)) {
            continue;
        }
        while (end + 1 < CPU_SETSIZE && CPU_ISSET((size_t)(end + 1), set)) {
            end++;
        }
        at += (size_t)snprintf(out_text + at, len - at, end > c ? "%s%d-%d" : "%s%d",
                               at > 0 ? "," : "", c, end);
        c = end;
    }
}

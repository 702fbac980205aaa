/* SPDX-License-Identifier: BSD-3-Clause */
/* The choice of a process manager. */
#include "core/runtime/pm.h"

#include <string.h>

/* In the order in which they are tried; the last one accepts every environment. */
static int (*const back_ends[])(struct fm_pm **out_pm) = {
    fm_pm_own_open,
    fm_pm_pmix_open,
    fm_pm_pmi1_open,
    fm_pm_single_open,
};

int fm_pm_open(struct fm_pm **out_pm)
{
    int rc = FM_AGAIN;

    for (size_t i = 0; i < FM_ARRAY_LEN(back_ends) && rc == FM_AGAIN; i++) {
        rc = back_ends[i](out_pm);
    }
    return rc;
}

bool fm_pm_is_own_job(const struct fm_pm *pm, const struct fm_pm_proc *proc)
{
    return strcmp(proc->job, pm->job) == 0;
}

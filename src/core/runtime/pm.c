/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process manager has started us. */
#include "core/runtime/pm.h"

/* In the order in which they are asked; the last one takes everything. */
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

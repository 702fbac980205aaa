/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process gets which rank of a topology. */
#include "core/topo/place.h"

#include <stdlib.h>

#include "core/object/group.h"
#include "util/status.h"

int fm_place_group(const struct fm_comm *comm, int n, const int *placed,
                   struct fm_group **out_group)
{
    int *ranks;
    int rc;

    if (placed) {
        return fm_group_incl(comm->group, n, placed, out_group);
    }
    ranks = malloc(((size_t)n + 1) * sizeof(int));
    if (!ranks) {
        return fm_fail(-FM_E_NOMEM, "no memory for a topology of %d ranks", n);
    }
    for (int i = 0; i < n; i++) {
        ranks[i] = i;
    }
    rc = fm_group_incl(comm->group, n, ranks, out_group);
    free(ranks);
    return rc;
}

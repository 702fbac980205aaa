/* SPDX-License-Identifier: BSD-3-Clause */
/* Topologies of all kinds: life, and their place in a communicator. */
#include "core/topo/topo.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

int fm_topo_create(int kind, size_t n_numbers, struct fm_topo **out_topo)
{
    size_t len;
    struct fm_topo *topo = NULL;

    if (!__builtin_mul_overflow(n_numbers, sizeof(int), &len) &&
        !__builtin_add_overflow(len, sizeof(*topo), &len)) {
        topo = malloc(len);
    }
    if (!topo) {
        return fm_fail(-FM_E_NOMEM, "no memory for a topology of %zu numbers", n_numbers);
    }
    memset(topo, 0, sizeof(*topo));
    topo->n_users = 1;
    topo->kind = kind;
    *out_topo = topo;
    return 0;
}

void fm_topo_unref(struct fm_topo *topo)
{
    if (topo && --topo->n_users == 0) {
        free(topo);
    }
}

struct fm_topo *fm_topo_of(const struct fm_comm *comm)
{
    return comm->parts[FM_COMM_TOPO].state;
}

static void drop(void *topo)
{
    fm_topo_unref(topo);
}

void fm_topo_attach(struct fm_comm *comm, struct fm_topo *topo)
{
    comm->parts[FM_COMM_TOPO] = (struct fm_comm_part){.state = topo, .drop = drop};
    comm->parts[FM_COMM_NEIGHBORS] = (struct fm_comm_part){.state = &topo->neighbors};
}

void fm_topo_share(const struct fm_comm *origin, struct fm_comm *duplicate)
{
    struct fm_topo *topo = fm_topo_of(origin);

    if (topo) {
        topo->n_users++;
        fm_topo_attach(duplicate, topo);
    }
}

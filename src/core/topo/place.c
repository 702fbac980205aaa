/* SPDX-License-Identifier: BSD-3-Clause */
/* Which process gets which rank of a topology: what is known of the processes, and their group. */
#include "core/topo/place.h"

#include <stdlib.h>

#include "core/coll/coll.h"
#include "core/object/group.h"
#include "util/status.h"

/* Set once by the runtime, before there is a communicator, hence guarded by nothing. */
fm_place_cache_fn fm_place_cache;

/* By host; nothing is known of caches. */
static int find_places(const struct fm_comm *comm, struct fm_place **out_places)
{
    struct fm_place *places = malloc(((size_t)comm->size + 1) * sizeof(*places));

    if (!places) {
        return fm_fail(-FM_E_NOMEM, "no memory for the places of %d ranks", comm->size);
    }
    for (int i = 0; i < comm->size; i++) {
        places[i].host = fm_root.node_of ? fm_root.node_of[fm_comm_proc(comm, i)] : 0;
        places[i].cache = -1;
    }
    *out_places = places;
    return 0;
}

int fm_place_local(const struct fm_comm *comm, const struct fm_place_graph *graph, int *out_placed)
{
    struct fm_place *places = NULL;
    int rc = find_places(comm, &places);

    if (rc == 0) {
        rc = fm_place_nodes(graph, comm->size, places, out_placed);
        free(places);
    }
    return rc;
}

/* Rank 0 learns behind which cache each rank is. */
static int gather_caches(struct fm_comm *comm, struct fm_place *places)
{
    int mine = fm_place_cache ? fm_place_cache() : -1;
    int *all = malloc((size_t)comm->size * sizeof(int));
    const struct fm_buf out = {&mine, sizeof(mine), fm_dtype_byte()};
    const struct fm_buf in = {all, sizeof(mine), fm_dtype_byte()};
    int rc = all ? fm_gather(&out, &in, 0, comm)
                 : fm_fail(-FM_E_NOMEM, "no memory for the caches of %d ranks", comm->size);

    for (int i = 0; rc == 0 && comm->rank == 0 && i < comm->size; i++) {
        places[i].cache = all[i];
    }
    free(all);
    return rc;
}

int fm_place_all(struct fm_comm *comm, const struct fm_place_graph *graph, int *out_placed)
{
    const struct fm_buf all = {out_placed, (MPI_Count)graph->n * (MPI_Count)sizeof(int),
                               fm_dtype_byte()};
    struct fm_place *places = NULL;
    int rc = find_places(comm, &places);

    if (rc != 0) {
        return rc;
    }
    rc = gather_caches(comm, places);
    if (rc == 0 && comm->rank == 0 && fm_place_nodes(graph, comm->size, places, out_placed) != 0) {
        for (int i = 0; i < graph->n; i++) {
            out_placed[i] = i; /* without memory for the search */
        }
    }
    free(places);
    return rc == 0 ? fm_bcast(&all, 0, comm) : rc;
}

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

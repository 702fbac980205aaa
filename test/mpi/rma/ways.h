/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of one-sided communication share: windows of each flavor, and each way to the
   memory of others in turn (on libraries that know the variable rma_way; others have one way). */
#ifndef TEST_MPI_RMA_WAYS_H
#define TEST_MPI_RMA_WAYS_H

#include <string.h>

#include "../check.h"
#include "../knob.h"

enum { WAY_AUTO, WAY_COPY, WAY_MESSAGE, N_WAYS };

/* Windows that are made from now on. All ranks alike. */
static inline void set_way(int way)
{
    MPI_Barrier(MPI_COMM_WORLD);
    knob("rma_way", (unsigned long long)way);
    MPI_Barrier(MPI_COMM_WORLD);
}

static const int flavors[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE,
                              MPI_WIN_FLAVOR_DYNAMIC};
enum { N_FLAVORS = 3 };

/* A window of `len` zeroed bytes in each rank. */
struct window {
    MPI_Win win;
    int flavor;
    char *base;   /* ours */
    MPI_Aint *at; /* by rank: displacement of the first byte */
    MPI_Aint len;
};

static inline struct window open_window(int flavor, MPI_Aint len, MPI_Comm comm)
{
    struct window w = {.flavor = flavor, .len = len};
    MPI_Aint mine = 0;
    int size;

    OK(MPI_Comm_size(comm, &size));
    w.at = malloc((size_t)size * sizeof(*w.at));
    switch (flavor) {
    case MPI_WIN_FLAVOR_ALLOCATE:
        OK(MPI_Win_allocate(len, 1, MPI_INFO_NULL, comm, &w.base, &w.win));
        break;
    case MPI_WIN_FLAVOR_SHARED:
        OK(MPI_Win_allocate_shared(len, 1, MPI_INFO_NULL, comm, &w.base, &w.win));
        break;
    case MPI_WIN_FLAVOR_CREATE:
        w.base = malloc((size_t)len + 1);
        OK(MPI_Win_create(w.base, len, 1, MPI_INFO_NULL, comm, &w.win));
        break;
    default:
        w.base = malloc((size_t)len + 1);
        OK(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, &w.win));
        OK(MPI_Win_attach(w.win, w.base, len));
        OK(MPI_Get_address(w.base, &mine));
    }
    memset(w.base, 0, (size_t)len);
    OK(MPI_Allgather(&mine, 1, MPI_AINT, w.at, 1, MPI_AINT, comm));
    return w;
}

static inline void close_window(struct window *w)
{
    int flavor = w->flavor;

    if (flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        MPI_Group group;
        int size;

        OK(MPI_Win_get_group(w->win, &group));
        OK(MPI_Group_size(group, &size));
        OK(MPI_Group_free(&group));
        OK(MPI_Win_detach(w->win, w->base));
    }
    OK(MPI_Win_free(&w->win));
    CHECK(w->win == MPI_WIN_NULL);
    if (flavor == MPI_WIN_FLAVOR_CREATE || flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        free(w->base);
    }
    free(w->at);
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Windows: making, freeing, and what they are (MPI-5.0 12.2). */
#include "core/api/win_args.h"
#include "core/object/comm.h"
#include "core/object/group.h"
#include "core/object/info.h"

/* ---- making ---- */

/* What all makers have; `flavor` and, for MPI_Win_create, `base` are set. */
static int check_maker(const char *call, MPI_Comm comm, MPI_Info info, MPI_Win *win,
                       struct fm_win_args *a)
{
    struct fm_info *i = NULL;
    int rc = fm_find_intracomm(call, comm, "win", win, &a->comm);

    rc = rc == MPI_SUCCESS ? fm_find_info(a->comm, call, info, true, &i) : rc;
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    a->info = i;
    if (a->size < 0) {
        return fm_raise(a->comm, call, MPI_ERR_SIZE, "size is %lld, it must not be negative",
                        (long long)a->size);
    }
    if (a->unit <= 0) {
        return fm_raise(a->comm, call, MPI_ERR_DISP, "disp_unit is %lld, it must be positive",
                        (long long)a->unit);
    }
    if (a->flavor == MPI_WIN_FLAVOR_CREATE && !a->base && a->size > 0) {
        return fm_raise(a->comm, call, MPI_ERR_BASE, "base is NULL, but size is %lld",
                        (long long)a->size);
    }
    return MPI_SUCCESS;
}

static int make(const char *call, struct fm_win_args *a, MPI_Comm comm, MPI_Info info, MPI_Win *win,
                struct fm_win **out_win)
{
    int rc = check_maker(call, comm, info, win, a);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    rc = fm_win_make(a, out_win);
    if (rc != 0) {
        return fm_raise_status(a->comm, call, rc);
    }
    *win = fm_handle_of(*out_win);
    return MPI_SUCCESS;
}

static int create(const char *call, void *base, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                  MPI_Comm comm, MPI_Win *win)
{
    struct fm_win_args a = {
        .flavor = MPI_WIN_FLAVOR_CREATE, .base = base, .size = size, .unit = unit};
    struct fm_win *w;
    int rc;

    fm_api_enter(call);
    rc = make(call, &a, comm, info, win, &w);
    fm_api_leave();
    return rc;
}

int PMPI_Win_create(void *base, MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                    MPI_Win *win)
{
    return create(FM_CALL, base, size, disp_unit, info, comm, win);
}
FM_ALIAS(Win_create)

int PMPI_Win_create_c(void *base, MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                      MPI_Win *win)
{
    return create(FM_CALL, base, size, disp_unit, info, comm, win);
}
FM_ALIAS(Win_create_c)

static int allocate(const char *call, int flavor, MPI_Aint size, MPI_Aint unit, MPI_Info info,
                    MPI_Comm comm, void *baseptr, MPI_Win *win)
{
    struct fm_win_args a = {.flavor = flavor, .size = size, .unit = unit};
    struct fm_comm *c;
    struct fm_win *w;
    int rc;

    fm_api_enter(call);
    rc = fm_find_comm_for(call, comm, "baseptr", baseptr, &c);
    rc = rc == MPI_SUCCESS ? make(call, &a, comm, info, win, &w) : rc;
    if (rc == MPI_SUCCESS) {
        *(void **)baseptr = w->targets[w->comm->rank].base;
    }
    fm_api_leave();
    return rc;
}

int PMPI_Win_allocate(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm, void *baseptr,
                      MPI_Win *win)
{
    return allocate(FM_CALL, MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, baseptr, win);
}
FM_ALIAS(Win_allocate)

int PMPI_Win_allocate_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                        void *baseptr, MPI_Win *win)
{
    return allocate(FM_CALL, MPI_WIN_FLAVOR_ALLOCATE, size, disp_unit, info, comm, baseptr, win);
}
FM_ALIAS(Win_allocate_c)

int PMPI_Win_allocate_shared(MPI_Aint size, int disp_unit, MPI_Info info, MPI_Comm comm,
                             void *baseptr, MPI_Win *win)
{
    return allocate(FM_CALL, MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm, baseptr, win);
}
FM_ALIAS(Win_allocate_shared)

int PMPI_Win_allocate_shared_c(MPI_Aint size, MPI_Aint disp_unit, MPI_Info info, MPI_Comm comm,
                               void *baseptr, MPI_Win *win)
{
    return allocate(FM_CALL, MPI_WIN_FLAVOR_SHARED, size, disp_unit, info, comm, baseptr, win);
}
FM_ALIAS(Win_allocate_shared_c)

int PMPI_Win_create_dynamic(MPI_Info info, MPI_Comm comm, MPI_Win *win)
{
    struct fm_win_args a = {.flavor = MPI_WIN_FLAVOR_DYNAMIC, .unit = 1};
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = make(FM_CALL, &a, comm, info, win, &w);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_create_dynamic)

/* The handle of a window that could not be freed stays: it is still there. */
int PMPI_Win_free(MPI_Win *win)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(NULL, FM_CALL, "win", win);
    rc = rc == MPI_SUCCESS ? fm_find_win(FM_CALL, *win, &w) : rc;
    if (rc == MPI_SUCCESS) {
        bool is_gone = false;

        rc = fm_win_free(w, &is_gone);
        *win = is_gone ? MPI_WIN_NULL : *win;
        rc = rc ? fm_raise_status(is_gone ? NULL : w, FM_CALL, rc) : MPI_SUCCESS;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_free)

/* ---- memory ---- */

static int find_dynamic(const char *call, MPI_Win win, struct fm_win **out_win)
{
    int rc = fm_find_win(call, win, out_win);

    if (rc == MPI_SUCCESS && (*out_win)->flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        return fm_raise(*out_win, call, MPI_ERR_RMA_FLAVOR,
                        "the window was not made by MPI_Win_create_dynamic");
    }
    return rc;
}

int PMPI_Win_attach(MPI_Win win, void *base, MPI_Aint size)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_dynamic(FM_CALL, win, &w);
    if (rc == MPI_SUCCESS && size < 0) {
        rc = fm_raise(w, FM_CALL, MPI_ERR_SIZE, "size is %lld, it must not be negative",
                      (long long)size);
    } else if (rc == MPI_SUCCESS && !base && size > 0) {
        rc = fm_raise(w, FM_CALL, MPI_ERR_BASE, "base is NULL, but size is %lld", (long long)size);
    }
    rc = rc == MPI_SUCCESS ? fm_raise_status(w, FM_CALL, fm_win_attach(w, base, size)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_attach)

int PMPI_Win_detach(MPI_Win win, const void *base)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_dynamic(FM_CALL, win, &w);
    rc = rc == MPI_SUCCESS ? fm_raise_status(w, FM_CALL, fm_win_detach(w, base)) : rc;
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_detach)

/* MPI_PROC_NULL asks for the first rank that has memory (12.2.3). */
static const struct fm_win_target *queried(const struct fm_win *w, int rank)
{
    for (int r = 0; rank == MPI_PROC_NULL && r < w->comm->size; r++) {
        if (w->targets[r].size > 0) {
            rank = r;
        }
    }
    return &w->targets[rank == MPI_PROC_NULL ? 0 : rank];
}

/* Windows of MPI_Win_create and MPI_Win_allocate may be asked, too: memory that cannot be reached
   by loads and stores has size 0 and no address. */
static int query(const char *call, MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *out_unit,
                 void *baseptr)
{
    const struct fm_win_target *t;
    struct fm_win *w;
    int rc = fm_find_win_for(call, win, "size", size, &w);

    rc = rc == MPI_SUCCESS ? fm_find_out(w, call, "baseptr", baseptr) : rc;
    if (rc == MPI_SUCCESS && w->flavor == MPI_WIN_FLAVOR_DYNAMIC) {
        rc = fm_raise(w, call, MPI_ERR_RMA_FLAVOR, "the window was made by MPI_Win_create_dynamic");
    }
    if (rc == MPI_SUCCESS && rank != MPI_PROC_NULL) {
        rc = fm_win_args_check_rank(call, w, rank);
    }
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    t = queried(w, rank);
    *size = t->mapped ? t->size : 0;
    *out_unit = t->unit;
    *(void **)baseptr = t->mapped;
    return MPI_SUCCESS;
}

int PMPI_Win_shared_query(MPI_Win win, int rank, MPI_Aint *size, int *disp_unit, void *baseptr)
{
    MPI_Aint unit = 0;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(fm_win_get(win), FM_CALL, "disp_unit", disp_unit);
    rc = rc == MPI_SUCCESS ? query(FM_CALL, win, rank, size, &unit, baseptr) : rc;
    if (rc == MPI_SUCCESS) {
        *disp_unit = (int)unit;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_shared_query)

int PMPI_Win_shared_query_c(MPI_Win win, int rank, MPI_Aint *size, MPI_Aint *disp_unit,
                            void *baseptr)
{
    MPI_Aint unit = 0;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_out(fm_win_get(win), FM_CALL, "disp_unit", disp_unit);
    rc = rc == MPI_SUCCESS ? query(FM_CALL, win, rank, size, &unit, baseptr) : rc;
    if (rc == MPI_SUCCESS) {
        *disp_unit = unit;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_shared_query_c)

int PMPI_Win_get_group(MPI_Win win, MPI_Group *group)
{
    struct fm_win *w;
    int rc;

    fm_api_enter(FM_CALL);
    rc = fm_find_win_for(FM_CALL, win, "group", group, &w);
    if (rc == MPI_SUCCESS) {
        *group = fm_handle_of(fm_object_ref(w->comm->group));
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Win_get_group)

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * One-sided communication (MPI-5.0 chapter 12): windows, and how the room works.
 *
 * Ways. An origin reaches the memory of a target in one of three ways, which is fixed per target
 * when the window is made:
 *
 *     way       memory of the target               put, get        accumulates
 *     DIRECT    mapped here: allocated windows     load, store     origin, under a stripe
 *               of one host, and our own memory
 *     COPY      another process of this host:      single copy     origin, under a stripe,
 *               MPI_Win_create, _dynamic           by the origin   single copy both ways
 *     MESSAGE   everything else                    active messages, carried out by the target:
 *                                                  under a stripe
 *
 * DIRECT and COPY need no call of MPI at the target. With MESSAGE the target makes progress inside
 * of any of its MPI calls, as for messages.
 *
 * Accumulates (12.7.1). All origins of a target, whatever their way, update an element while they
 * hold the lock of its stripe (win_ctl.h), so every predefined operation on every type is
 * element-wise atomic with all others, MPI_Compare_and_swap and MPI_NO_OP among them. An
 * uncontended stripe costs one atomic instruction, as much as an atomic addition would; and a
 * vector is added by plain vector code, which atomic additions could not do.
 *
 * Ordering (12.7.2). DIRECT and COPY operations are complete when the call returns, except that
 * long single copies may go on; active messages of one origin are carried out in order. So
 * accumulates of one origin to one target are in the order of the program, as
 * accumulate_ordering's default asks for.
 *
 * Synchronization. Locks and the marks of post and complete lie in the control block of the target
 * (win_ctl.h). Ranks on its host read and write it; others send it messages, and it acts for them.
 * A fence is a flush of all targets and a barrier.
 *
 * Memory model. MPI_WIN_UNIFIED: private and public copy are one (12.4). A flush is a full barrier
 * of memory, since what it completes must be seen before what the origin does next.
 *
 * Epochs (12.5). What an operation must check is one byte of its target, `is_open`, in the line
 * that the operation needs anyway.
 */
#pragma once

#include <fathom/mpit.h>

#include "core/object/comm.h"
#include "core/p2p/hook.h"
#include "core/rma/win_ctl.h"
#include "transport/transport.h"
#include "util/segment.h"

struct fm_rma_stream;
struct fm_win_counters;

enum fm_win_way { FM_WIN_DIRECT, FM_WIN_COPY, FM_WIN_MESSAGE, FM_WIN_WAYS };

/* What lets the origin access a target, and what it has of the target's lock. */
enum fm_win_access {
    FM_WIN_CLOSED = 0,
    FM_WIN_OPEN_FENCE,
    FM_WIN_OPEN_START,
    FM_WIN_OPEN_SHARED,
    FM_WIN_OPEN_EXCLUSIVE,
    FM_WIN_OPEN_NOCHECK, /* MPI_MODE_NOCHECK: no lock was taken */
};

/* A rank of the window, as an origin sees it. One line. */
struct FM_ALIGNED(FM_CACHE_LINE) fm_win_target {
    char *base;   /* where displacement 0 is: in this process (DIRECT), else in the target; dynamic
                   windows: NULL, displacements are addresses */
    char *mapped; /* its memory in this process; NULL: not here */
    MPI_Aint size;
    MPI_Aint unit;
    struct fm_win_ctl *ctl;       /* NULL: on another host */
    struct fm_rma_stream *stream; /* active messages to it; NULL: none yet */
    int32_t proc;
    uint8_t is_open; /* enum fm_win_access */
    uint8_t way;     /* enum fm_win_way */
};

/* The access epoch of this process; exposure is apart. */
enum fm_win_epoch {
    FM_WIN_NO_EPOCH,
    FM_WIN_FENCE,
    FM_WIN_STARTED,
    FM_WIN_LOCKED,
    FM_WIN_LOCKED_ALL,
};

/* A piece of memory of a dynamic window (12.2.4). */
struct fm_win_region {
    char *base;
    MPI_Aint len;
};

struct fm_win {
    struct fm_object head;
    uint64_t pool_link;
    struct fm_win_target *targets; /* by rank */
    struct fm_comm *comm;          /* the window's own context; its group is that of the window */
    struct fm_win_counters *counters;
    struct fm_win_ctl *own; /* our control block */
    int n_locks;            /* targets locked by MPI_Win_lock */
    int n_flushes;          /* to make progress now and then */
    int n_copies;           /* single copies that are not complete */
    uint8_t epoch;          /* enum fm_win_epoch */
    bool is_used;           /* an operation was called since the last fence */
    bool is_posted;
    bool no_locks; /* the user's hint */
    int error;     /* MPI error class of an operation that failed after its call; 0 */
    int n_streams; /* that have something under way */
    struct fm_group *start_group, *post_group; /* NULL: no such epoch, or all of its ranks are in */
    bool is_start_nocheck, is_post_nocheck;
    uint32_t *n_started; /* by rank: posts that MPI_Win_start has consumed */
    uint32_t *n_waited;  /* by rank: completes that MPI_Win_wait has consumed */

    struct fm_list link;       /* all windows of the process */
    struct fm_list lock_queue; /* locks that origins of other hosts wait for */
    struct fm_hook lock_hook;  /* while there are any */
    struct fm_segment segment; /* control blocks of this host, and the memory of allocated ones */
    void *private_memory;      /* of this process alone: control block or window; NULL */
    struct fm_win_region *regions; /* dynamic: what is attached, by address */
    int n_regions, n_region_room;
    struct fm_errhandler *errhandler; /* NULL: the initial one */
    struct fm_attrs *attrs;
    struct fm_info *info; /* hints in use; never NULL */
    /* What MPI_Win_get_attr gives the addresses of. */
    int flavor, model, unit_attr;
    MPI_Aint size_attr, alignment;
    uint64_t id; /* unique within the process */
    bool has_own_counters;
    char name[MPI_MAX_OBJECT_NAME];
};

/* Greatest alignment of allocated memory that can be asked for (mpi_minimum_memory_alignment). */
#define FM_WIN_MAX_ALIGNMENT 4096

struct fm_win_args {
    int flavor; /* MPI_WIN_FLAVOR_* */
    struct fm_comm *comm;
    void *base; /* MPI_Win_create */
    MPI_Aint size, unit;
    const struct fm_info *info; /* NULL: none */
};

/* Make the pool, and take the block of fm_rma_vars (NULL: no registry). Twice is fine. */
int fm_win_init(void *block);
/* Install what the windows of a channel need; and the end of the room. */
void fm_win_open(struct fm_channel *ch);
void fm_win_finish(void);

/* A window; collective over args->comm, an intracommunicator. All ranks get it, or all a failure
   (or MPI_ERR_RMA_SHARED: the ranks cannot share memory). */
int fm_win_make(const struct fm_win_args *args, struct fm_win **out_win);

/* MPI_Win_free; collective. 0, a failure, MPI_ERR_RMA_SYNC (an epoch is open) or the code of an
   attribute's callback; *out_gone: the window has gone, which it has not after these two. */
int fm_win_free(struct fm_win *w, bool *out_gone);
/* End what has been made of a window, alone. */
void fm_win_drop(struct fm_win *w);

/* Dynamic windows (12.2.4). 0, -FM_E_NOMEM, or MPI_ERR_RMA_ATTACH. */
int fm_win_attach(struct fm_win *w, void *base, MPI_Aint size);
int fm_win_detach(struct fm_win *w, const void *base);
/* Are these bytes attached? */
bool fm_win_is_attached(const struct fm_win *w, uint64_t at, uint64_t len);

/* An empty one, in the list of all. NULL: no memory. */
struct fm_win *fm_win_new(void);
/* The pool ends, and with it what the program has not freed. */
void fm_win_forget_all(void);
/* The window with this context id, NULL if there is none. */
struct fm_win *fm_win_of_context(uint32_t context);
int fm_win_set_name(struct fm_win *w, const char *name);

/* Take over the hints that the room knows and that have legal values (12.2.7). 0 or -FM_E_NOMEM. */
int fm_win_set_hints(struct fm_win *w, const struct fm_info *info);
/* Alignment of allocated memory that the hint asks for, at least a cache line. */
MPI_Aint fm_win_alignment(const struct fm_info *info);

/* A byte of the target's memory, for loads and stores. */
static FM_INLINE char *fm_win_at(const struct fm_win_target *t, uint64_t at)
{
    return (char *)((uintptr_t)t->base + at); /* dynamic windows have no base */
}

/* Wake a rank of this host that sleeps in the window. */
void fm_win_wake(struct fm_win *w, int rank);
/* Wake all that sleep on the lock in this block. */
void fm_win_wake_waiting(struct fm_win *w);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process manager: rank and size, values that ranks publish, fences, the end of a job (D10).
 *
 * Four back ends: own (Fathom's mpiexec), PMIx, PMI-1, singleton. The first that recognises its
 * environment is used. Keys are short names ("ofi", "shm"); a value has at most FM_PM_VALUE_MAX
 * bytes. A process is named by its job and its rank in it, so that jobs can be joined. Locality
 * comes from here, never from a host name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/status.h"

#define FM_PM_VALUE_MAX 512

struct fm_pm;

/* A process: the unique name of its job (fm_pm.job), and its rank there. */
struct fm_pm_proc {
    const char *job;
    int rank;
};

struct fm_pm_ops {
    const char *name; /* "own", "pmix", "pmi1", "single" */
    /* Publish; visible to others after the next fence at the latest. */
    int (*put)(struct fm_pm *pm, const char *key, const void *value, size_t len);
    /*
     * The value that a process has published under a key. Waits until it is published where the
     * back end can (own); others need a fence before. -FM_E_PEER: the process has ended.
     * -FM_E_NOENT: it published no such key, or its job is not known here.
     */
    int (*get)(struct fm_pm *pm, const struct fm_pm_proc *proc, const char *key, void *out_value,
               size_t *len);
    /*
     * Wait until all ranks of the job are here; what they put can then be got. idle(ctx) is called
     * repeatedly meanwhile, so that peers can be served (NULL: no call). -FM_E_PEER: a rank has
     * ended without entering the fence.
     */
    int (*fence)(struct fm_pm *pm, void (*idle)(void *ctx), void *ctx);
    /* Withdraw all that was put: no rank needs it after the next fence. */
    void (*withdraw)(struct fm_pm *pm);
    /* Has that rank of the job ended? */
    bool (*is_gone)(struct fm_pm *pm, int rank);
    /* MPI_Init, MPI_Finalize are done: a process that exits between the two has failed. */
    int (*started)(struct fm_pm *pm);
    int (*finished)(struct fm_pm *pm);
    /* Request the end of the job with this exit status; the caller then exits. is_by_peer: a peer
       has ended, which is the cause to report. */
    void (*abort)(struct fm_pm *pm, int exit_status, const char *text, bool is_by_peer);
    void (*close)(struct fm_pm *pm);
};

struct fm_pm {
    const struct fm_pm_ops *ops;
    int rank;
    int size;
    int appnum;        /* which executable of an MPMD job, -1 unknown */
    int universe_size; /* -1 unknown */
    int local_rank;    /* among the ranks of this node */
    int n_local;
    bool needs_fence;   /* what was put can be got only after a fence */
    const int *node_of; /* rank -> node number, size entries; NULL: all on one node */
    char job[64];       /* unique name of the job on this host */
};

/* The back end for this environment; closed by ops->close(). */
int fm_pm_open(struct fm_pm **out_pm);

/* Does the process belong to the job of `pm`? */
bool fm_pm_is_own_job(const struct fm_pm *pm, const struct fm_pm_proc *proc);

/* Each back end: 0, a failure, or FM_AGAIN: the environment is that of another one. */
int fm_pm_own_open(struct fm_pm **out_pm);
int fm_pm_pmix_open(struct fm_pm **out_pm);
int fm_pm_pmi1_open(struct fm_pm **out_pm);
int fm_pm_single_open(struct fm_pm **out_pm);

/*
 * Take the place of this process in the job of our mpiexec: MPI_Init does so, before the registry
 * starts, and a process that only uses MPI_T does not. 0, or why it has none: FM_AGAIN (mpiexec did
 * not start it, or another process has the place) or a failure. Once taken it stays.
 */
int fm_pm_own_claim(void);

/*
 * The shared page that our mpiexec made for this place, as a descriptor that the caller closes.
 * FM_AGAIN: there is none.
 */
int fm_pm_own_page(int *out_fd);
/* Has the place been taken? Then the page is this process's to write. */
bool fm_pm_own_is_claimed(void);

/* The rank of this place in the job of our mpiexec, taken or not; -1: none. */
int fm_pm_own_rank(void);

/* Report to Fathom's mpiexec, if there is one, that standard output could not be written. */
void fm_pm_own_lost_output(int error);

/* Request the end of the job before MPI_Init or after MPI_Finalize. Other launchers see the exit
   status. */
void fm_pm_own_abort(int exit_status);

/* Send the page of a process that Fathom's mpiexec did not start to the `fathom stat` above it. */
void fm_pm_single_page(int fd);

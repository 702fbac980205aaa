/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The process manager: who we are, who the others are, what they have published, how a job ends
 * (D10).
 *
 * Four back ends behind one table: own (our mpiexec), PMIx, PMI-1, singleton. The first that
 * recognises its environment is taken. Keys are short names ("ofi", "shm"); values are at most
 * FM_PM_VALUE_MAX bytes. Locality comes from here, never from a host name.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>

#include "util/status.h"

#define FM_PM_VALUE_MAX 512

struct fm_pm;

struct fm_pm_ops {
    const char *name; /* "own", "pmix", "pmi1", "single" */
    /* Publish; visible to others after the next fence at the latest. */
    int (*put)(struct fm_pm *pm, const char *key, const void *value, size_t len);
    /*
     * What a rank has published under key. Waits until it did where the back end can (own),
     * otherwise needs a fence before. -FM_E_PEER when that rank has ended, -FM_E_NOENT when it
     * published no such key.
     */
    int (*get)(struct fm_pm *pm, int rank, const char *key, void *out_value, size_t *len);
    /*
     * All ranks have come here, and what they put can be got. idle(ctx) is called again and again
     * while others are waited for, so that they can be served (NULL: nobody is). -FM_E_PEER when a
     * rank has ended without coming here.
     */
    int (*fence)(struct fm_pm *pm, void (*idle)(void *ctx), void *ctx);
    /* Take back all that was put: we are about to close, and nobody needs it behind the next fence.
     */
    void (*withdraw)(struct fm_pm *pm);
    /* Has that rank ended or died? */
    bool (*is_gone)(struct fm_pm *pm, int rank);
    /* MPI_Init is done / MPI_Finalize is done: leaving before the latter is a failure. */
    int (*started)(struct fm_pm *pm);
    int (*finished)(struct fm_pm *pm);
    /* Tell the launcher to end the job with this exit status; the caller then exits. is_by_peer:
       only since a peer has gone, whose end says more than ours. */
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
    bool needs_fence;   /* what was put can be got behind a fence only */
    const int *node_of; /* rank -> node number, size entries; NULL: all on one node */
    char job[64];       /* unique name of the job on this host */
};

/* The back end that fits the environment; *out_pm ends with ops->close(). */
int fm_pm_open(struct fm_pm **out_pm);

/* Each back end: 0, FM_AGAIN when the environment is not its own, or a failure. */
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

/* Tell our mpiexec, if there is one, that standard output could not be written. At any time. */
void fm_pm_own_lost_output(int error);

/* Send the page of a program that no mpiexec of ours started to `fathom stat`, if it runs us. */
void fm_pm_single_page(int fd);

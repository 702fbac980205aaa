/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job: its programs, its ranks, and the hosts they run on. Nothing here depends on how the ranks
 * of a host are started; see local_state.h for that.
 */
#pragma once

#include "launch/options.h"

/* What all ranks of one executable share. */
struct fm_program {
    char *path; /* to execute, relative to the working directory if it has no leading slash */
    struct fm_strings env;
};

struct fm_host {
    char name[64];
    int n_ranks;
};

struct fm_rank {
    int app;  /* index in programs and in opts->apps */
    int host; /* index in hosts */
};

struct fm_job {
    const struct fm_options *opts;
    struct fm_program *programs; /* opts->n_apps */
    struct fm_rank *ranks;
    int n_ranks;
    struct fm_host *hosts;
    int n_hosts; /* 1: the local host is the only one that mpiexec reaches by itself */
    struct fm_strings texts;
};

/*
 * Find the programs and place the ranks; starts nothing. `from` is the environment to pass on. 0,
 * or a failure with a text for the user; *out_exit is then the exit status for it. The caller
 * finishes the job in both cases.
 */
int fm_job_init(struct fm_job *job, const struct fm_options *opts, char **from, int *out_exit);
void fm_job_finish(struct fm_job *job);

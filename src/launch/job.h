/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A job as it will be started: programs found, environments made, one shared page per rank and the
 * key table. Making it starts nothing.
 */
#pragma once

#include <sys/types.h>

#include "launch/bind.h"
#include "launch/options.h"
#include "util/keytable.h"

/* What all ranks of one executable share. */
struct fm_program {
    char *path; /* to execute, relative to the working directory if it has no leading slash */
    struct fm_strings env;
};

struct fm_rank {
    int app;
    pid_t pid; /* 0: not started */
    int page_fd;
    bool is_ended;
    bool is_judged; /* its end has been looked at */
    int wait_status;
};

struct fm_job {
    const struct fm_options *opts;
    struct fm_program *programs; /* opts->n_apps */
    struct fm_rank *ranks;
    int n_ranks;
    struct fm_keytable *table;
    int table_fd;
    struct fm_bind bind;
    struct fm_strings texts;
    char host[64];
};

/*
 * 0, or a failure with a text for the user; *out_exit is then the exit status that fits. The job
 * is to be finished in both cases. `environ_of_ours` is what is passed on.
 */
int fm_job_init(struct fm_job *job, const struct fm_options *opts, char **environ_of_ours,
                int *out_exit);
void fm_job_finish(struct fm_job *job);

/*
 * The environment of one rank: the program's, and its own place in the job. The new strings belong
 * to `texts`. 0 or -FM_E_NOMEM.
 */
int fm_job_env(struct fm_job *job, int rank, struct fm_strings *texts, struct fm_strings *out_env);

/* Expand %r (rank), %h (host), %p (process id) and %% in a pattern. */
void fm_job_expand(const struct fm_job *job, const char *pattern, int rank, char *out_text,
                   size_t len);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The part of a job that runs on this host: processes, descriptors, shared memory and output.
 *
 * One thread and one poll() loop serve a signalfd and the output pipes. Nothing else may block, for
 * signals are taken there. mpiexec waits for the ranks only, not for processes that they started,
 * and at the end for the readers of its output.
 */
#pragma once

#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>

#include "launch/bind.h"
#include "launch/job.h"
#include "launch/writer.h"
#include "util/keytable.h"

struct fm_output;

/* The process of one rank. */
struct fm_local_rank {
    int rank;
    pid_t pid; /* 0: not started */
    int page_fd;
    bool is_ended;
    bool is_judged; /* what its end means is settled */
    int wait_status;
};

struct fm_local {
    const struct fm_job *job;
    const struct fm_host *host;
    struct fm_local_rank *ranks;
    int n_ranks;
    int n_alive;
    struct fm_keytable *table;
    int table_fd;
    struct fm_bind bind;
    /* Output. Messages of mpiexec go to `err`, which ends in writers[2]. */
    struct fm_writer writers[3];
    FILE *err;
    struct fm_output *output; /* NULL: ranks write to the descriptors of mpiexec */
    /* What mpiexec changes in itself and ranks get back. */
    int signal_fd;
    sigset_t old_mask;
    struct rlimit old_files;
    bool was_sigpipe_default;
    pid_t watchdog;  /* 0: none */
    int watchdog_fd; /* the watchdog reads end of file when mpiexec ends */
    /* The end. Times are of fm_now_ns(); 0: not set. */
    int exit_status;     /* of the first failure */
    int requested_exit;  /* exit status of a request to end soon; 0: none */
    uint64_t forwarded;  /* signals that were passed on, a bit per number */
    bool is_terminating; /* SIGTERM was sent to the ranks because the job cannot go on */
    uint64_t start_ns;
    uint64_t kill_ns;      /* when ranks that have not ended get SIGKILL */
    uint64_t interrupt_ns; /* when the first SIGINT or SIGTERM came */
    uint64_t blame_ns;     /* until when a failure that names a peer waits for the peer's end */
};

/* "mpiexec: rank 3 (pid 4711, host a, ./prog) TEXT" */
void fm_local_say(const struct fm_local *l, const struct fm_local_rank *r, const char *text);

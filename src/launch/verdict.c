/* SPDX-License-Identifier: BSD-3-Clause */
/* What the end of a rank means for its job. */
#include "launch/verdict.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* An exit status that says "failed", whatever the low 8 bits of the given one are. */
static int failing(int status)
{
    return (status & 0xff) != 0 ? status & 0xff : 1;
}

static const char *where(enum fm_place_phase phase)
{
    switch (phase) {
    case FM_PLACE_INIT:
        return " between MPI_Init and MPI_Finalize";
    case FM_PLACE_FINALIZED:
        return " after MPI_Finalize";
    default:
        return " before MPI_Init";
    }
}

static void by_signal(const struct fm_rank_end *end, struct fm_verdict *v)
{
    int sig = WTERMSIG(end->wait_status);

    v->exit_status = 128 + sig;
    v->must_end_job = true;
    snprintf(v->text, sizeof(v->text), "was killed by signal %d (%s)%s%s", sig, strsignal(sig),
             where(end->phase), WCOREDUMP(end->wait_status) ? ", core dumped" : "");
}

static void by_exit(const struct fm_rank_end *end, struct fm_verdict *v)
{
    int status = WEXITSTATUS(end->wait_status);

    switch (end->phase) {
    case FM_PLACE_INIT:
        v->exit_status = failing(status);
        v->must_end_job = true;
        snprintf(v->text, sizeof(v->text), "exited with status %d without calling MPI_Finalize",
                 status);
        break;
    case FM_PLACE_FINALIZED:
        v->exit_status = status;
        break;
    default:
        v->exit_status = end->has_peers_in_mpi ? failing(status) : status;
        v->must_end_job = end->has_peers_in_mpi;
        if (end->has_peers_in_mpi) {
            snprintf(v->text, sizeof(v->text),
                     "exited with status %d without calling MPI_Init, while other ranks are "
                     "between MPI_Init and MPI_Finalize",
                     status);
        }
        break;
    }
}

void fm_verdict_of(const struct fm_rank_end *end, struct fm_verdict *out_verdict)
{
    struct fm_verdict v = {0};

    if (end->is_aborted) {
        v.exit_status = failing(end->abort_status);
        v.must_end_job = true;
        snprintf(v.text, sizeof(v.text), "aborted the job with status %d", end->abort_status);
    } else if (WIFSIGNALED(end->wait_status)) {
        by_signal(end, &v);
    } else {
        by_exit(end, &v);
    }
    *out_verdict = v;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the end of a rank means for its job. */
#include "launch/rank_exit.h"

#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

/* The exit status of a failure: never 0, even if the low 8 bits of the status are. */
static int failing(int status)
{
    return (status & 0xff) != 0 ? status & 0xff : 1;
}

static const char *phase_text(enum fm_place_phase phase)
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

static void by_signal(const struct fm_rank_end *end, struct fm_rank_exit *e)
{
    int sig = WTERMSIG(end->wait_status);

    e->exit_status = 128 + sig;
    e->must_end_job = true;
    snprintf(e->text, sizeof(e->text), "was killed by signal %d (%s)%s%s", sig, strsignal(sig),
             phase_text(end->phase), WCOREDUMP(end->wait_status) ? ", core dumped" : "");
}

static void by_exit(const struct fm_rank_end *end, struct fm_rank_exit *e)
{
    int status = WEXITSTATUS(end->wait_status);

    switch (end->phase) {
    case FM_PLACE_INIT:
        e->exit_status = failing(status);
        e->must_end_job = true;
        snprintf(e->text, sizeof(e->text), "exited with status %d without calling MPI_Finalize",
                 status);
        break;
    case FM_PLACE_FINALIZED:
        e->exit_status = status;
        break;
    default:
        e->exit_status = end->has_peers_in_mpi ? failing(status) : status;
        e->must_end_job = end->has_peers_in_mpi;
        if (end->has_peers_in_mpi) {
            snprintf(e->text, sizeof(e->text),
                     "exited with status %d without calling MPI_Init, while other ranks are "
                     "between MPI_Init and MPI_Finalize",
                     status);
        }
        break;
    }
}

void fm_rank_exit_of(const struct fm_rank_end *end, struct fm_rank_exit *out_exit)
{
    struct fm_rank_exit e = {0};

    if (end->is_aborted) {
        e.exit_status = failing(end->abort_status);
        e.must_end_job = true;
        snprintf(e.text, sizeof(e.text), "aborted the job with status %d", end->abort_status);
    } else if (WIFSIGNALED(end->wait_status)) {
        by_signal(end, &e);
    } else {
        by_exit(end, &e);
    }
    *out_exit = e;
}

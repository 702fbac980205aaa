/* SPDX-License-Identifier: BSD-3-Clause */
/* Signals to the ranks, and the termination of a job. */
#include "launch/terminate.h"

#include <string.h>
#include <unistd.h>

#include "launch/rank_exit.h"
#include "launch/report.h"
#include "util/sync.h"

#define NS_PER_S 1e9

/* A second Ctrl-C kills. One that comes sooner is the first, sent twice. */
#define SECOND_INTERRUPT_NS UINT64_C(200000000)

/* Default grace periods: a job that has failed; one whose ranks were interrupted and may clean up
   once one of them has ended; one that was requested to end (as docker stop does). */
#define GRACE_FAILED_S      0.25
#define GRACE_INTERRUPTED_S 2.0
#define GRACE_REQUESTED_S   10.0

void fm_terminate_status(struct fm_local *l, int exit_status)
{
    if (!l->exit_status) {
        l->exit_status = exit_status;
    }
}

static pid_t parent_of(pid_t pid)
{
    char path[40], line[512];
    char *after_name;
    pid_t parent = 0;
    bool is_read;
    FILE *f;

    snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    f = fopen(path, "re");
    is_read = f && fgets(line, sizeof(line), f);
    if (f) {
        fclose(f);
    }
    after_name = is_read ? strrchr(line, ')') : NULL;
    return after_name && sscanf(after_name + 1, " %*c %d", &parent) == 1 ? parent : 0;
}

/* Was `pid` started by `rank`? Its ancestors then lead to the rank, or to mpiexec if it is an
   orphan. A process id in the job table is not trusted. */
static bool is_descendant(pid_t pid, pid_t rank)
{
    pid_t self = getpid();

    for (int depth = 0; depth < 16 && pid > 1; depth++) {
        if (pid == rank || pid == self) {
            return depth > 0;
        }
        pid = parent_of(pid);
    }
    return false;
}

void fm_terminate_signal(struct fm_local *l, int sig)
{
    for (int i = 0; i < l->n_ranks; i++) {
        const struct fm_local_rank *r = &l->ranks[i];
        pid_t claim = atomic_load(&fm_keytable_slot(l->table, r->rank)->claim);

        if (r->pid > 0 && !r->is_ended) {
            kill(r->pid, sig);
        }
        if (claim > 1 && r->pid > 0 && claim != r->pid && is_descendant(claim, r->pid)) {
            kill(claim, sig);
        }
    }
}

/* --grace, or a default. */
static uint64_t grace_ns(const struct fm_local *l, double default_s)
{
    double s = l->job->opts->grace_s;

    return (uint64_t)((s >= 0 ? s : default_s) * NS_PER_S);
}

void fm_terminate_job(struct fm_local *l)
{
    if (l->is_terminating) {
        return;
    }
    l->is_terminating = true;
    l->kill_ns = fm_now_ns() + grace_ns(l, l->interrupt_ns ? GRACE_INTERRUPTED_S : GRACE_FAILED_S);
    if (!l->interrupt_ns) {
        fm_terminate_signal(l, SIGTERM);
    }
    fm_terminate_signal(l, SIGCONT); /* a stopped process cannot end by SIGTERM */
}

static void interrupt(struct fm_local *l, int sig)
{
    uint64_t now = fm_now_ns();

    if (l->interrupt_ns == 0) {
        l->interrupt_ns = now;
    } else if (now - l->interrupt_ns > SECOND_INTERRUPT_NS) {
        fm_terminate_status(l, 128 + sig);
        l->is_terminating = true;
        fm_terminate_signal(l, SIGKILL);
    }
}

void fm_terminate_request(struct fm_local *l, int sig)
{
    if (sig != SIGINT && sig != SIGTERM && sig != SIGHUP && sig != SIGQUIT) {
        return;
    }
    l->requested_exit = 128 + sig;
    if (sig == SIGINT || sig == SIGTERM) {
        interrupt(l, sig);
    }
    if (sig == SIGTERM && !l->kill_ns) {
        l->kill_ns = fm_now_ns() + grace_ns(l, GRACE_REQUESTED_S);
    }
    fm_terminate_signal(l, SIGCONT);
}

static uint64_t timeout_ns(const struct fm_local *l)
{
    double s = l->job->opts->timeout_s;

    return s > 0 && !l->is_terminating ? l->start_ns + (uint64_t)(s * NS_PER_S) : 0;
}

uint64_t fm_terminate_deadline(const struct fm_local *l)
{
    uint64_t timeout = timeout_ns(l);

    return l->kill_ns && (!timeout || l->kill_ns < timeout) ? l->kill_ns : timeout;
}

/* The grace period is over. */
static void kill_all(struct fm_local *l)
{
    l->kill_ns = 0;
    if (!l->is_terminating) {
        fprintf(l->err, "mpiexec: %d rank%s did not end after SIGTERM; sending SIGKILL\n",
                l->n_alive, l->n_alive == 1 ? "" : "s");
        fm_terminate_status(l, l->requested_exit);
        l->is_terminating = true;
    }
    fm_terminate_signal(l, SIGKILL);
}

static void time_out(struct fm_local *l)
{
    fprintf(l->err, "mpiexec: the timeout of %g s has expired; terminating %d rank%s\n",
            l->job->opts->timeout_s, l->n_alive, l->n_alive == 1 ? "" : "s");
    fm_report_state(l);
    fm_terminate_status(l, FM_EXIT_TIMEOUT);
    l->requested_exit = FM_EXIT_TIMEOUT;
    fm_terminate_job(l);
}

void fm_terminate_check(struct fm_local *l)
{
    uint64_t now = fm_now_ns(), timeout = timeout_ns(l);

    if (l->kill_ns && now >= l->kill_ns) {
        kill_all(l);
    }
    if (timeout && now >= timeout) {
        time_out(l);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting the ranks of this host. */
#include "launch/start_ranks.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "launch/output.h"
#include "launch/pattern.h"
#include "launch/rank_env.h"
#include "launch/rank_exit.h"
#include "launch/spawn_rank.h"
#include "launch/terminate.h"

static void close_streams(int fds[3])
{
    for (int i = 0; i < 3; i++) {
        if (fds[i] >= 0) {
            close(fds[i]);
            fds[i] = -1;
        }
    }
}

/* Open the file of a pattern in the place of *fd. */
static int open_pattern(struct fm_local *l, const char *pattern, int rank, int *fd)
{
    const struct fm_pattern values = {.rank = rank, .host = l->host->name};
    char path[4096];
    sigset_t mask;
    int file;

    if (!pattern) {
        return 0;
    }
    fm_pattern_expand(&values, pattern, path, sizeof(path));
    /* open(2) of a FIFO waits for its reader; signals end mpiexec and its ranks meanwhile. */
    sigprocmask(SIG_SETMASK, &l->old_mask, &mask);
    file = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (file < 0) {
        return fm_fail(-FM_E_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    }
    if (*fd >= 0) {
        close(*fd);
    }
    *fd = file;
    return 0;
}

/* Descriptors for 0, 1 and 2 of a rank, to be closed by mpiexec; -1: that of mpiexec. */
static int open_streams(struct fm_local *l, int i, int fds[3])
{
    const struct fm_options *opts = l->job->opts;
    int rank = l->ranks[i].rank;
    int rc = 0;

    if (rank != opts->stdin_rank) {
        fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (l->output) {
        rc = fm_output_open(l->output, i, fds + 1);
    }
    rc = rc ? rc : open_pattern(l, opts->out_pattern, rank, &fds[1]);
    rc = rc ? rc : open_pattern(l, opts->err_pattern, rank, &fds[2]);
    if (!rc && opts->is_merged) {
        if (fds[2] >= 0) {
            close(fds[2]);
        }
        fds[2] = fcntl(fds[1] >= 0 ? fds[1] : STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    }
    return rc;
}

static int make_env(const struct fm_local *l, int i, struct fm_strings *texts,
                    struct fm_strings *out_env)
{
    const struct fm_local_rank *r = &l->ranks[i];
    struct fm_keytable_place place = {.launcher = getpid(),
                                      .table_fd = l->table_fd,
                                      .page_fd = r->page_fd,
                                      .rank = r->rank,
                                      .token = l->table->head.token};
    char text[96];
    struct fm_rank_env values = {.place = text,
                                 .rank = r->rank,
                                 .size = l->job->n_ranks,
                                 .local_rank = i,
                                 .local_size = l->n_ranks};

    fm_keytable_place_print(&place, text, sizeof(text));
    return fm_rank_env_make(&l->job->programs[l->job->ranks[r->rank].app].env, &values, texts,
                            out_env);
}

/* Start local rank i. 0, a failure of fm_spawn(), or another one. */
static int start_rank(struct fm_local *l, int i)
{
    struct fm_local_rank *r = &l->ranks[i];
    int a = l->job->ranks[r->rank].app;
    const struct fm_app *app = &l->job->opts->apps[a];
    struct fm_strings texts = {0}, env = {0};
    struct fm_spawn s = {.path = l->job->programs[a].path,
                         .argv = app->argv.items,
                         .wdir = app->wdir,
                         .fds = {-1, -1, -1},
                         .keep = {l->table_fd, r->page_fd},
                         .cpus = fm_bind_of(&l->bind, i),
                         .mask = &l->old_mask,
                         .files = l->old_files.rlim_max ? &l->old_files : NULL,
                         .resets_sigpipe = l->was_sigpipe_default};
    int rc = open_streams(l, i, s.fds);

    rc = rc ? rc : make_env(l, i, &texts, &env);
    if (!rc) {
        s.env = env.items;
        rc = fm_spawn(&s, &r->pid);
    }
    if (!rc) {
        fm_keytable_slot(l->table, r->rank)->pid = r->pid;
        l->n_alive++;
    }
    close_streams(s.fds);
    fm_strings_finish(&env);
    fm_strings_free_all(&texts);
    return rc;
}

static void report_binding(const struct fm_local *l, int i)
{
    const cpu_set_t *set = fm_bind_of(&l->bind, i);
    char cpus[256] = "";

    if (set) {
        fm_bind_print(set, cpus, sizeof(cpus));
    }
    fprintf(l->err, "mpiexec: rank %d (pid %d) is %s%s\n", l->ranks[i].rank, (int)l->ranks[i].pid,
            set ? "bound to processors " : "not bound", cpus);
}

/* The exit status of mpiexec for a program that was not started, as a shell has it. */
static int exit_status_of(int rc)
{
    return rc == -FM_E_NOENT ? FM_EXIT_NOT_FOUND : rc == -FM_E_INVAL ? FM_EXIT_NOT_EXECUTABLE : 1;
}

void fm_start_ranks(struct fm_local *l)
{
    for (int i = 0; i < l->n_ranks; i++) {
        int rc = start_rank(l, i);

        if (rc) {
            fprintf(l->err, "mpiexec: rank %d: %s\n", l->ranks[i].rank, fm_why());
            l->ranks[i].is_judged = true;
            fm_terminate_status(l, exit_status_of(rc));
            fm_terminate_job(l);
            return;
        }
        if (l->job->opts->does_report_bindings) {
            report_binding(l, i);
        }
    }
}

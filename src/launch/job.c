/* SPDX-License-Identifier: BSD-3-Clause */
/* A job: programs, ranks, hosts. */
#include "launch/job.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launch/program.h"
#include "launch/rank_env.h"

static int find_programs(struct fm_job *job, char **from, int *out_exit)
{
    int rc = 0;

    job->programs = calloc((size_t)job->opts->n_apps, sizeof(*job->programs));
    if (!job->programs) {
        return fm_fail(-FM_E_NOMEM, "no memory for the job");
    }
    for (int i = 0; i < job->opts->n_apps && !rc; i++) {
        const struct fm_app *app = &job->opts->apps[i];

        rc = fm_program_find(app, &job->texts, &job->programs[i].path, out_exit);
        if (!rc) {
            rc = fm_rank_env_common(job->opts, app, from, &job->texts, &job->programs[i].env);
        }
    }
    return rc;
}

/* Does "name" or "name:slots" name the local host? */
static bool is_local(const char *text, const char *host)
{
    static const char *const loopback[] = {"localhost", "127.0.0.1"};
    size_t len = strcspn(text, ":");

    for (size_t i = 0; i < FM_ARRAY_LEN(loopback); i++) {
        if (len == strlen(loopback[i]) && strncmp(text, loopback[i], len) == 0) {
            return true;
        }
    }
    return strncmp(text, host, len) == 0 && (len == strlen(host) || len == strcspn(host, "."));
}

static int find_hosts(struct fm_job *job)
{
    struct fm_host *local = calloc(1, sizeof(*local));

    if (!local) {
        return fm_fail(-FM_E_NOMEM, "no memory for the job");
    }
    job->hosts = local;
    job->n_hosts = 1;
    if (gethostname(local->name, sizeof(local->name) - 1) != 0) {
        snprintf(local->name, sizeof(local->name), "localhost");
    }
    for (int i = 0; i < job->opts->hosts.n; i++) {
        const char *text = job->opts->hosts.items[i];

        if (!is_local(text, local->name)) {
            return fm_fail(-FM_E_UNSUPPORTED,
                           "host %.*s is not the local host (%s); this mpiexec starts ranks on the "
                           "local host only",
                           (int)strcspn(text, ":"), text, local->name);
        }
    }
    return 0;
}

/* Ranks are numbered in the order of the programs. */
static int place_ranks(struct fm_job *job)
{
    int rank = 0;

    job->ranks = calloc((size_t)job->opts->n_ranks, sizeof(*job->ranks));
    if (!job->ranks) {
        return fm_fail(-FM_E_NOMEM, "no memory for %d ranks", job->opts->n_ranks);
    }
    job->n_ranks = job->opts->n_ranks;
    for (int a = 0; a < job->opts->n_apps; a++) {
        for (int k = 0; k < job->opts->apps[a].n_ranks; k++, rank++) {
            job->ranks[rank] = (struct fm_rank){.app = a, .host = 0};
            job->hosts[0].n_ranks++;
        }
    }
    return 0;
}

int fm_job_init(struct fm_job *job, const struct fm_options *opts, char **from, int *out_exit)
{
    int rc;

    *job = (struct fm_job){.opts = opts};
    *out_exit = 1;
    rc = find_hosts(job);
    rc = rc ? rc : find_programs(job, from, out_exit);
    if (!rc) {
        *out_exit = 1;
        rc = place_ranks(job);
    }
    return rc;
}

void fm_job_finish(struct fm_job *job)
{
    for (int i = 0; job->programs && i < job->opts->n_apps; i++) {
        fm_strings_finish(&job->programs[i].env);
    }
    free(job->programs);
    free(job->ranks);
    free(job->hosts);
    fm_strings_free_all(&job->texts);
    *job = (struct fm_job){0};
}

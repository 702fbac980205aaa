/* SPDX-License-Identifier: BSD-3-Clause */
/* A program that was started without a launcher: a job of one process. */
#include "core/runtime/pm.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "util/log.h"
#include "util/page_socket.h"

struct single_entry {
    char key[24];
    size_t len;
    unsigned char value[FM_PM_VALUE_MAX];
};

struct single {
    struct fm_pm pm; /* first */
    int n_entries;
    struct single_entry entries[8];
};

static int single_put(struct fm_pm *pm, const char *key, const void *value, size_t len)
{
    struct single *s = fm_container_of(pm, struct single, pm);
    struct single_entry *e = &s->entries[s->n_entries];

    if (s->n_entries == (int)FM_ARRAY_LEN(s->entries) || strlen(key) >= sizeof(e->key) ||
        len > sizeof(e->value)) {
        return fm_fail(-FM_E_INVAL, "cannot publish \"%s\" (%zu bytes)", key, len);
    }
    snprintf(e->key, sizeof(e->key), "%s", key);
    memcpy(e->value, value, len);
    e->len = len;
    s->n_entries++;
    return 0;
}

static int single_get(struct fm_pm *pm, const struct fm_pm_proc *proc, const char *key,
                      void *out_value, size_t *len)
{
    struct single *s = fm_container_of(pm, struct single, pm);

    if (!fm_pm_is_own_job(pm, proc)) {
        return fm_fail(-FM_E_NOENT, "the job %.64s is not known here", proc->job);
    }
    for (int i = 0; i < s->n_entries; i++) {
        struct single_entry *e = &s->entries[i];

        if (strcmp(e->key, key) != 0) {
            continue;
        }
        if (e->len > *len) {
            return fm_fail(-FM_E_INVAL, "\"%s\" has %zu bytes, there is room for %zu", key, e->len,
                           *len);
        }
        memcpy(out_value, e->value, e->len);
        *len = e->len;
        return 0;
    }
    return fm_fail(-FM_E_NOENT, "nothing is published as \"%s\"", key);
}

static int single_nothing(struct fm_pm *pm)
{
    return 0;
}

static int single_fence(struct fm_pm *pm, void (*idle)(void *ctx), void *ctx)
{
    return 0;
}

static void single_withdraw(struct fm_pm *pm)
{
    fm_container_of(pm, struct single, pm)->n_entries = 0;
}

static bool single_is_gone(struct fm_pm *pm, int rank)
{
    return false;
}

static void single_abort(struct fm_pm *pm, int exit_status, const char *text, bool is_by_peer)
{
}

static void single_close(struct fm_pm *pm)
{
    free(fm_container_of(pm, struct single, pm));
}

static const struct fm_pm_ops single_ops = {
    .name = "single",
    .put = single_put,
    .get = single_get,
    .fence = single_fence,
    .withdraw = single_withdraw,
    .is_gone = single_is_gone,
    .started = single_nothing,
    .finished = single_nothing,
    .abort = single_abort,
    .close = single_close,
};

/* srun without PMI starts every task as a job of one, which is seldom what was meant. */
static void warn_of_tasks(void)
{
    const char *n = secure_getenv("SLURM_STEP_NUM_TASKS"), *task = secure_getenv("SLURM_PROCID");

    if (n && atoi(n) > 1 && task && strcmp(task, "0") == 0) {
        fm_log_warn(
            "srun has started %d tasks without PMI, so each is a job of one process: use srun "
            "--mpi=pmix or --mpi=pmi2",
            atoi(n));
    }
}

void fm_pm_single_page(int fd)
{
    fm_page_socket_send(secure_getenv(FM_PAGE_SOCKET_ENV), -1, fd);
}

int fm_pm_single_open(struct fm_pm **out_pm)
{
    struct single *s = calloc(1, sizeof(*s));

    if (!s) {
        return fm_fail(-FM_E_NOMEM, "no memory for the process manager");
    }
    s->pm = (struct fm_pm){
        .ops = &single_ops, .size = 1, .appnum = -1, .universe_size = -1, .n_local = 1};
    snprintf(s->pm.job, sizeof(s->pm.job), "fathom-single-%d", (int)getpid());
    warn_of_tasks();
    *out_pm = &s->pm;
    return 0;
}

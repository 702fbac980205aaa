/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMIx: Open MPI's and PRRTE's launchers, Slurm with --mpi=pmix, and others that host a server.
 *
 * The client library is loaded where the environment names a server. It runs a thread of its own,
 * which only sets the completion flag of a fence here.
 *
 * A process that a rank starts inherits the variables. So that it is not taken for the rank, the
 * rank writes its process id beside them.
 */
#include "core/runtime/pm.h"

#include <dlfcn.h>
#include <pmix.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define CLAIM      "FATHOM_PMIX_RANK_PID"
#define JOB_PREFIX "pmix-"

/* The functions of libpmix. */
struct library {
    pmix_status_t (*init)(pmix_proc_t *proc, pmix_info_t info[], size_t n);
    pmix_status_t (*finalize)(const pmix_info_t info[], size_t n);
    pmix_status_t (*abort)(int status, const char msg[], pmix_proc_t procs[], size_t n);
    pmix_status_t (*put)(pmix_scope_t scope, const char key[], pmix_value_t *val);
    pmix_status_t (*commit)(void);
    pmix_status_t (*fence_nb)(const pmix_proc_t procs[], size_t n, const pmix_info_t info[],
                              size_t n_info, pmix_op_cbfunc_t fn, void *ctx);
    pmix_status_t (*get)(const pmix_proc_t *proc, const char key[], const pmix_info_t info[],
                         size_t n, pmix_value_t **val);
    const char *(*error_string)(pmix_status_t status);
};

struct pmix {
    struct fm_pm pm; /* first */
    struct library lib;
    pmix_proc_t me;
    int *nodes;
};

/* Written under the library lock. */
static bool was_finalized;

static int refused(const struct pmix *p, const char *what, pmix_status_t status)
{
    bool is_missing = status == PMIX_ERR_NOT_FOUND || status == PMIX_ERR_UNREACH;

    return fm_fail(is_missing ? -FM_E_NOENT : -FM_E_SYSTEM, "PMIx: %s: %s", what,
                   p->lib.error_string(status));
}

static void name_key(const char *key, char out_name[PMIX_MAX_KEYLEN + 1])
{
    snprintf(out_name, PMIX_MAX_KEYLEN + 1, "fathom.%s", key);
}

static int pmix_put(struct fm_pm *pm, const char *key, const void *value, size_t len)
{
    struct pmix *p = fm_container_of(pm, struct pmix, pm);
    char name[PMIX_MAX_KEYLEN + 1];
    pmix_value_t v = {.type = PMIX_BYTE_OBJECT,
                      .data.bo = {.bytes = (char *)(uintptr_t)value, .size = len}};
    pmix_status_t rc;

    name_key(key, name);
    rc = p->lib.put(PMIX_GLOBAL, name, &v);
    rc = rc == PMIX_SUCCESS ? p->lib.commit() : rc;
    return rc == PMIX_SUCCESS ? 0 : refused(p, key, rc);
}

/* Free a value of the types that are requested here. */
static void drop(pmix_value_t *v)
{
    if (v->type == PMIX_STRING) {
        free(v->data.string);
    } else if (v->type == PMIX_BYTE_OBJECT) {
        free(v->data.bo.bytes);
    }
    free(v);
}

static int pmix_get(struct fm_pm *pm, const struct fm_pm_proc *proc, const char *key,
                    void *out_value, size_t *len)
{
    struct pmix *p = fm_container_of(pm, struct pmix, pm);
    char name[PMIX_MAX_KEYLEN + 1];
    pmix_proc_t who = p->me;
    pmix_value_t *v;
    pmix_status_t rc;
    bool fits;

    if (strncmp(proc->job, JOB_PREFIX, strlen(JOB_PREFIX)) != 0) {
        return fm_fail(-FM_E_NOENT, "the job %.64s is not known here", proc->job);
    }
    if (!fm_pm_is_own_job(pm, proc)) {
        snprintf(who.nspace, sizeof(who.nspace), "%s", proc->job + strlen(JOB_PREFIX));
    }
    who.rank = (pmix_rank_t)proc->rank;
    name_key(key, name);
    rc = p->lib.get(&who, name, NULL, 0, &v);
    if (rc != PMIX_SUCCESS) {
        return refused(p, key, rc);
    }
    fits = v->type == PMIX_BYTE_OBJECT && v->data.bo.size <= *len;
    if (fits) {
        memcpy(out_value, v->data.bo.bytes, v->data.bo.size);
        *len = v->data.bo.size;
    }
    drop(v);
    return fits ? 0 : fm_fail(-FM_E_PROTO, "\"%s\" of rank %d cannot be read", key, proc->rank);
}

struct fence {
    atomic_bool is_done;
    pmix_status_t status;
};

/* On the thread of libpmix. */
static void fence_done(pmix_status_t status, void *ctx)
{
    struct fence *f = ctx;

    f->status = status;
    /* Release: pairs with the acquire load of pmix_fence(), which then reads the status. */
    atomic_store_explicit(&f->is_done, true, memory_order_release);
}

/*
 * Success does not mean that all ranks live: with a dead one the status is PARTIAL_SUCCESS, or even
 * SUCCESS. It is found out when the address of the rank is needed.
 */
static int pmix_fence(struct fm_pm *pm, void (*idle)(void *ctx), void *ctx)
{
    struct pmix *p = fm_container_of(pm, struct pmix, pm);
    pmix_info_t collect = {.key = PMIX_COLLECT_DATA, .value = {.type = PMIX_BOOL}};
    struct timespec nap = {0, 50000};
    struct fence f = {.status = PMIX_SUCCESS};
    pmix_status_t rc;

    collect.value.data.flag = true;
    rc = p->lib.fence_nb(NULL, 0, &collect, 1, fence_done, &f);
    if (rc == PMIX_OPERATION_SUCCEEDED) {
        return 0;
    }
    if (rc != PMIX_SUCCESS) {
        return refused(p, "fence", rc);
    }
    while (!atomic_load_explicit(&f.is_done, memory_order_acquire)) {
        nanosleep(&nap, NULL);
        nap.tv_nsec = nap.tv_nsec < 50000000 ? nap.tv_nsec * 2 : nap.tv_nsec;
        if (idle) {
            idle(ctx);
        }
    }
    return f.status == PMIX_SUCCESS ? 0 : refused(p, "fence", f.status);
}

static void pmix_withdraw(struct fm_pm *pm)
{
}

/* The launcher ends the job when a rank ends before MPI_Finalize. */
static bool pmix_is_gone(struct fm_pm *pm, int rank)
{
    return false;
}

static int pmix_started(struct fm_pm *pm)
{
    return 0;
}

static int pmix_finished(struct fm_pm *pm)
{
    struct pmix *p = fm_container_of(pm, struct pmix, pm);
    pmix_status_t rc;

    was_finalized = true;
    rc = p->lib.finalize(NULL, 0);
    return rc == PMIX_SUCCESS ? 0 : refused(p, "end", rc);
}

static void pmix_abort(struct fm_pm *pm, int exit_status, const char *text, bool is_by_peer)
{
    struct pmix *p = fm_container_of(pm, struct pmix, pm);

    p->lib.abort(exit_status, text, NULL, 0);
}

static void pmix_close(struct fm_pm *pm)
{
    struct pmix *p = fm_container_of(pm, struct pmix, pm);

    free(p->nodes);
    free(p); /* the library stays: its thread may be at its last instructions */
}

static const struct fm_pm_ops pmix_ops = {
    .name = "pmix",
    .put = pmix_put,
    .get = pmix_get,
    .fence = pmix_fence,
    .withdraw = pmix_withdraw,
    .is_gone = pmix_is_gone,
    .started = pmix_started,
    .finished = pmix_finished,
    .abort = pmix_abort,
    .close = pmix_close,
};

static int load(struct library *lib)
{
    static const char *const names[] = {"PMIx_Init", "PMIx_Finalize",    "PMIx_Abort",
                                        "PMIx_Put",  "PMIx_Commit",      "PMIx_Fence_nb",
                                        "PMIx_Get",  "PMIx_Error_string"};
    void *places[] = {&lib->init,   &lib->finalize, &lib->abort, &lib->put,
                      &lib->commit, &lib->fence_nb, &lib->get,   &lib->error_string};
    void *handle = dlopen("libpmix.so.2", RTLD_NOW | RTLD_LOCAL);

    if (!handle) {
        return fm_fail(-FM_E_UNSUPPORTED,
                       "cannot load the PMIx client library of the launcher (Debian package "
                       "libpmix2): %s",
                       dlerror());
    }
    for (size_t i = 0; i < FM_ARRAY_LEN(names); i++) {
        void *symbol = dlsym(handle, names[i]);

        if (!symbol) {
            return fm_fail(-FM_E_UNSUPPORTED, "libpmix.so.2 has no %s", names[i]);
        }
        memcpy(places[i], &symbol, sizeof(symbol));
    }
    return 0;
}

/* A number that the server keeps of a process or, with PMIX_RANK_WILDCARD, of the job. */
static int get_number(struct pmix *p, pmix_rank_t rank, const char *key, int otherwise)
{
    pmix_proc_t who = p->me;
    pmix_value_t *v;
    int n = otherwise;

    who.rank = rank;
    if (p->lib.get(&who, key, NULL, 0, &v) != PMIX_SUCCESS) {
        return otherwise;
    }
    if (v->type == PMIX_UINT32) {
        n = (int)v->data.uint32;
    } else if (v->type == PMIX_UINT16) {
        n = (int)v->data.uint16;
    } else if (v->type == PMIX_INT) {
        n = v->data.integer;
    }
    drop(v);
    return n;
}

/* Ranks of this node are on node 0; the nodes of the others are unknown, each gets its own. */
static int learn_nodes(struct pmix *p)
{
    pmix_proc_t job = p->me;
    pmix_value_t *v;

    p->nodes = malloc((size_t)p->pm.size * sizeof(*p->nodes));
    if (!p->nodes) {
        return fm_fail(-FM_E_NOMEM, "no memory for the nodes of %d ranks", p->pm.size);
    }
    for (int r = 0; r < p->pm.size; r++) {
        p->nodes[r] = r == p->pm.rank ? 0 : r + 1;
    }
    job.rank = PMIX_RANK_WILDCARD;
    if (p->lib.get(&job, PMIX_LOCAL_PEERS, NULL, 0, &v) == PMIX_SUCCESS) {
        char *save = NULL;

        for (char *t = v->type == PMIX_STRING ? strtok_r(v->data.string, ",", &save) : NULL; t;
             t = strtok_r(NULL, ",", &save)) {
            int r = atoi(t);

            if (r >= 0 && r < p->pm.size) {
                p->nodes[r] = 0;
            }
        }
        drop(v);
    }
    for (int r = 0; r < p->pm.size; r++) {
        p->pm.local_rank += p->nodes[r] == 0 && r < p->pm.rank;
        p->pm.n_local += p->nodes[r] == 0;
    }
    p->pm.node_of = p->nodes;
    return 0;
}

static int connect_server(struct pmix *p)
{
    pmix_status_t rc = p->lib.init(&p->me, NULL, 0);

    if (rc != PMIX_SUCCESS) {
        return refused(p, "the server cannot be reached", rc);
    }
    p->pm = (struct fm_pm){.ops = &pmix_ops, .needs_fence = true};
    p->pm.rank = (int)p->me.rank;
    p->pm.size = get_number(p, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 0);
    p->pm.universe_size = get_number(p, PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, -1);
    p->pm.appnum = get_number(p, p->me.rank, PMIX_APPNUM, -1);
    snprintf(p->pm.job, sizeof(p->pm.job), JOB_PREFIX "%.50s", p->me.nspace);
    if (p->pm.size <= p->pm.rank) {
        return fm_fail(-FM_E_PROTO, "PMIx: this is rank %d of a job of %d", p->pm.rank, p->pm.size);
    }
    return learn_nodes(p);
}

int fm_pm_pmix_open(struct fm_pm **out_pm)
{
    const char *claim = secure_getenv(CLAIM);
    struct pmix *p;
    char pid[16];
    int rc;

    if (!secure_getenv("PMIX_NAMESPACE") || !secure_getenv("PMIX_RANK") ||
        (claim && atoi(claim) != getpid())) {
        return FM_AGAIN;
    }
    if (was_finalized) {
        return fm_fail(-FM_E_UNSUPPORTED, "MPI cannot start again in a process under PMIx; it can "
                                          "under Fathom's mpiexec");
    }
    p = calloc(1, sizeof(*p));
    if (!p) {
        return fm_fail(-FM_E_NOMEM, "no memory for the process manager");
    }
    rc = load(&p->lib);
    rc = rc ? rc : connect_server(p);
    if (rc) {
        free(p->nodes);
        free(p);
        return rc;
    }
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv(CLAIM, pid, 1);
    *out_pm = &p->pm;
    return 0;
}

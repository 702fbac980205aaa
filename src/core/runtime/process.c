/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the job and the way to each. */
#include "core/runtime/process.h"

#include <stdlib.h>

#include "core/p2p/channel_open.h"
#include "util/sync.h"

/* clang-format off */
static const struct fathom_enum_item report_items[] = {{0, "no"}, {1, "yes"}};
static const struct fathom_enum reports = {"runtime_report", report_items,
                                           FM_ARRAY_LEN(report_items)};

#define WORD(f) offsetof(struct fm_process_counters, f)

static const struct fathom_cvar cvars[] = {
    {.name = "transport", .type = FATHOM_INT, .scope = FATHOM_SCOPE_ALL_EQ,
     .verbosity = FATHOM_USER_BASIC, .items = &fm_transport_names, .at = WORD(transport),
     .def = 0, .fixed_after_init = true,
     .desc = "How processes talk: auto takes shared memory on one host and libfabric between "
             "hosts; ofi takes libfabric for all, which is what to set when a provider is to be "
             "tested on one host or when containers keep processes apart; shm allows nothing "
             "else."},
    {.name = "transport_cliques", .unit = "groups", .type = FATHOM_INT,
     .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_DEV_DETAIL, .at = WORD(cliques), .def = 1,
     .min = 1, .max = INT32_MAX, .fixed_after_init = true,
     .desc = "Groups into which the processes of a host fall, by rank modulo this number: shared "
             "memory is for those of one group, libfabric for the rest; raise it to try on one "
             "host what happens between several."},
    {.name = "runtime_report_live", .type = FATHOM_INT, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_USER_BASIC, .items = &reports, .at = WORD(report_live),
     .desc = "Whether MPI_Finalize says in one line on stderr which objects the program has made "
             "and not freed, by kind and number; set it to find leaks."},
};
static const struct fathom_pvar pvars[] = {
    {.name = "runtime_connections", .desc = "Processes that this one has talked to, itself not "
     "counted.", .unit = "processes", .klass = FATHOM_COUNTER, .at = WORD(n_connected)},
    {.name = "runtime_fallbacks", .desc = "Processes among runtime_connections that the preferred "
     "transport did not reach, so that another is used, such as libfabric between containers of "
     "one host.", .unit = "processes", .klass = FATHOM_COUNTER, .at = WORD(n_fallbacks)},
    {.name = "runtime_connect_time", .desc = "Time spent in making endpoints, and waiting for "
     "addresses.", .unit = "ns", .klass = FATHOM_TIMER, .at = WORD(connect_ns)},
    {.name = "runtime_init_time", .desc = "Time that MPI_Init took.", .unit = "ns",
     .klass = FATHOM_TIMER, .at = WORD(init_ns)},
    {.name = "runtime_finalize_time", .desc = "Time that MPI_Finalize took, waiting for others "
     "among it.", .unit = "ns", .klass = FATHOM_TIMER, .at = WORD(finalize_ns)},
    {.name = "runtime_lock_contended", .desc = "Times that a thread had to wait for the library "
     "lock, which is there at MPI_THREAD_MULTIPLE only.", .unit = "times", .klass = FATHOM_COUNTER,
     .at = WORD(lock.n_contended)},
    {.name = "runtime_lock_time", .desc = "Time that threads waited for the library lock, over all "
     "threads.", .unit = "ns", .klass = FATHOM_TIMER, .at = WORD(lock.waited_ns)},
};
static const struct fathom_category categories[] = {
    {.name = "runtime", .desc = "Start, end, and the way to other processes."},
};
/* clang-format on */

const struct fathom_table fm_process_vars = {
    .room = "runtime",
    .block_len = sizeof(struct fm_process_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

struct fm_process {
    struct fm_pm *pm;
    struct fm_process_counters *counters;
    struct fm_transport *open[FM_N_TRANSPORTS]; /* NULL: not open */
    int *groups; /* by process: node and group of transport_cliques; NULL: no groups */
};

static int publish(struct fm_process *p, struct fm_transport *tp)
{
    unsigned char address[FM_ADDRESS_MAX];
    size_t len = sizeof(address);
    int rc = tp->ops->address(tp, address, &len);

    return rc ? rc : p->pm->ops->put(p->pm, tp->ops->name, address, len);
}

/* On the same host, as far as shared memory is concerned. */
static bool is_near(const struct fm_process *p, int proc)
{
    const struct fm_pm *pm = p->pm;
    int n_cliques = (int)p->counters->cliques;

    return (!pm->node_of || pm->node_of[proc] == pm->node_of[pm->rank]) &&
           proc % n_cliques == pm->rank % n_cliques;
}

/* May this transport be used for that process? */
static bool is_allowed(const struct fm_process *p, int k, int proc)
{
    uint64_t choice = p->counters->transport;

    return (choice == 0 || choice == 1 + (uint64_t)k) &&
           (!fm_transports[k].is_one_host || is_near(p, proc));
}

static int open_transport(struct fm_process *p, struct fm_channel *ch, int k, bool has_company,
                          void *counters)
{
    struct fm_transport_args args = {.self = p->pm->rank,
                                     .n_procs = p->pm->size,
                                     .n_local = p->pm->n_local,
                                     .is_one_host = p->pm->n_local == p->pm->size,
                                     .has_company = has_company,
                                     .tag = p->pm->job};
    struct fm_transport *tp;
    int rc;

    fm_channel_sink(ch, &args.sink);
    rc = fm_transports[k].open(&args, counters, &tp);
    if (rc) {
        return rc;
    }
    rc = fm_channel_attach(ch, tp);
    if (rc) {
        tp->ops->close(tp);
        return rc;
    }
    p->open[k] = tp;
    return publish(p, tp);
}

/* Which transports the job needs: for each process the first that is allowed. */
static int find_needed(const struct fm_process *p, bool is_needed[FM_N_TRANSPORTS], int *out_n)
{
    int n_unreachable = 0;

    *out_n = 0;
    for (int proc = 0; proc < p->pm->size; proc++) {
        int k = 0;

        while (k < FM_N_TRANSPORTS && !is_allowed(p, k, proc)) {
            k++;
        }
        if (proc == p->pm->rank || k == FM_N_TRANSPORTS) {
            n_unreachable += proc != p->pm->rank;
            continue;
        }
        *out_n += !is_needed[k];
        is_needed[k] = true;
    }
    if (n_unreachable) {
        return fm_fail(-FM_E_INVAL,
                       "FATHOM_TRANSPORT is %s, but %d of %d processes are on "
                       "other hosts%s",
                       fm_transports[p->counters->transport - 1].name, n_unreachable, p->pm->size,
                       p->counters->cliques > 1 ? " or in other groups (FATHOM_TRANSPORT_CLIQUES)"
                                                : "");
    }
    return 0;
}

static int open_all(struct fm_process *p, struct fm_channel *ch,
                    const struct fm_process_blocks *blocks)
{
    bool is_needed[FM_N_TRANSPORTS] = {false};
    int n_needed;
    int rc = find_needed(p, is_needed, &n_needed);

    for (int k = 0; k < FM_N_TRANSPORTS && !rc; k++) {
        if (is_needed[k]) {
            rc = open_transport(p, ch, k, n_needed > 1, blocks->of[k]);
        }
    }
    return rc;
}

/* The name of a process. One job: the index is the rank in it. */
static struct fm_pm_proc name_of(const struct fm_process *p, int proc)
{
    return (struct fm_pm_proc){.job = p->pm->job, .rank = proc};
}

static int connect_by(struct fm_process *p, struct fm_transport *tp, int proc,
                      struct fm_ep **out_ep)
{
    unsigned char address[FM_ADDRESS_MAX];
    size_t len = sizeof(address);
    struct fm_pm_proc name = name_of(p, proc);
    int rc = p->pm->ops->get(p->pm, &name, tp->ops->name, address, &len);

    return rc ? rc : tp->ops->connect(tp, proc, address, len, out_ep);
}

/* The engine talks to a process for the first time. A transport may find that it does not reach the
   process, such as shared memory between the namespaces of containers: then the next is tried. */
static int resolve(void *ctx, int proc, struct fm_ep **out_ep)
{
    struct fm_process *p = ctx;
    uint64_t start = fm_now_ns();
    int rc = -FM_E_UNSUPPORTED;
    int n_tried = 0;

    for (int k = 0; k < FM_N_TRANSPORTS && rc == -FM_E_UNSUPPORTED; k++) {
        if (p->open[k] && is_allowed(p, k, proc)) {
            rc = connect_by(p, p->open[k], proc, out_ep);
            n_tried++;
        }
    }
    if (!n_tried) {
        return fm_fail(-FM_E_INTERNAL, "no transport leads to process %d", proc);
    }
    if (!rc) {
        p->counters->n_connected++;
        p->counters->n_fallbacks += n_tried > 1;
        p->counters->connect_ns += fm_now_ns() - start;
    }
    return rc;
}

static bool is_gone(void *ctx, int proc)
{
    struct fm_process *p = ctx;

    return p->pm->ops->is_gone(p->pm, proc);
}

/* Where libfabric is chosen on one host, collectives use no shared memory either. */
static bool shares_memory(void *ctx, int proc)
{
    const struct fm_process *p = ctx;

    return p->open[FM_TRANSPORT_SHM] && is_allowed(p, FM_TRANSPORT_SHM, proc);
}

int fm_process_open(struct fm_channel *ch, struct fm_pm *pm, struct fm_process_counters *counters,
                    const struct fm_process_blocks *blocks, struct fm_process **out_process)
{
    struct fm_process *p = calloc(1, sizeof(*p));
    int rc = 0;

    if (!p) {
        return fm_fail(-FM_E_NOMEM, "no memory for the table of processes");
    }
    p->pm = pm;
    p->counters = counters;
    ch->resolve = resolve;
    ch->resolve_ctx = p;
    ch->is_gone = is_gone;
    ch->is_near = shares_memory;
    if (pm->size > 1) {
        rc = open_all(p, ch, blocks);
    }
    if (rc) {
        ch->resolve = NULL;
        ch->is_gone = NULL;
        ch->is_near = NULL;
        free(p);
        return rc;
    }
    *out_process = p;
    return 0;
}

/* With groups of processes that stand for hosts, each one counts as a node. */
const int *fm_process_nodes(struct fm_process *p)
{
    const struct fm_pm *pm = p->pm;
    int n_cliques = (int)p->counters->cliques;

    if (n_cliques <= 1) {
        return pm->node_of;
    }
    p->groups = p->groups ? p->groups : malloc((size_t)pm->size * sizeof(int));
    for (int i = 0; p->groups && i < pm->size; i++) {
        p->groups[i] = (pm->node_of ? pm->node_of[i] : 0) * n_cliques + i % n_cliques;
    }
    return p->groups ? p->groups : pm->node_of;
}

void fm_process_close(struct fm_process *p)
{
    if (p) {
        free(p->groups);
    }
    free(p);
}

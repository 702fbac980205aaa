/* SPDX-License-Identifier: BSD-3-Clause */
/* The processes of the job and the way to each. */
#include "core/runtime/process.h"

#include <signal.h>
#include <stdlib.h>

#include "core/p2p/channel_open.h"
#include "transport/ofi/ofi_open.h"
#include "transport/shm/shm_open.h"
#include "util/sync.h"

enum fm_process_choice { CHOICE_AUTO = 0, CHOICE_OFI, CHOICE_SHM };

/* clang-format off */
static const struct fathom_enum_item choice_items[] = {
    {CHOICE_AUTO, "auto"}, {CHOICE_OFI, "ofi"}, {CHOICE_SHM, "shm"},
};
static const struct fathom_enum choices = {"transport", choice_items, FM_ARRAY_LEN(choice_items)};

static const struct fathom_enum_item report_items[] = {{0, "no"}, {1, "yes"}};
static const struct fathom_enum reports = {"runtime_report", report_items,
                                           FM_ARRAY_LEN(report_items)};

#define WORD(f) offsetof(struct fm_process_counters, f)

static const struct fathom_cvar cvars[] = {
    {.name = "transport", .type = FATHOM_INT, .scope = FATHOM_SCOPE_ALL_EQ,
     .verbosity = FATHOM_USER_BASIC, .items = &choices, .at = WORD(transport),
     .def = CHOICE_AUTO, .fixed_after_init = true,
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
    {"runtime_connections", "Processes that this one has talked to, itself not counted.",
     "processes", FATHOM_COUNTER, .at = WORD(n_connected)},
    {"runtime_connect_time", "Time spent in making endpoints, and waiting for addresses.", "ns",
     FATHOM_TIMER, .at = WORD(connect_ns)},
    {"runtime_init_time", "Time that MPI_Init took.", "ns", FATHOM_TIMER, .at = WORD(init_ns)},
    {"runtime_finalize_time", "Time that MPI_Finalize took, waiting for others among it.", "ns",
     FATHOM_TIMER, .at = WORD(finalize_ns)},
    {"runtime_lock_contended", "Times that a thread had to wait for the library lock, which is "
     "there at MPI_THREAD_MULTIPLE only.", "times", FATHOM_COUNTER, .at = WORD(lock.n_contended)},
    {"runtime_lock_time", "Time that threads waited for the library lock, over all threads.", "ns",
     FATHOM_TIMER, .at = WORD(lock.waited_ns)},
};
static const struct fathom_category categories[] = {
    {"runtime", "Start, end, and the way to other processes.", NULL},
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

#define N_SIGNALS 32 /* the classic ones */

struct fm_process {
    struct fm_pm *pm;
    struct fm_process_counters *counters;
    struct fm_transport *ofi; /* NULL: not open */
    struct fm_transport *shm; /* NULL: not open */
    bool uses_ofi, uses_shm;  /* which of them the job needs */
};

static int publish(struct fm_process *p, struct fm_transport *tp)
{
    unsigned char address[FM_ADDRESS_MAX];
    size_t len = sizeof(address);
    int rc = tp->ops->address(tp, address, &len);

    return rc ? rc : p->pm->ops->put(p->pm, tp->ops->name, address, len);
}

/*
 * Libraries below libfabric (libinfinipath) take SIGINT, SIGTERM, SIGSEGV and others for handlers
 * of their own when they are loaded, which makes an exit with status 1 of a death by signal. What
 * a signal does is the affair of the program, so all is put back.
 */
static void keep_signals(struct sigaction dispositions[N_SIGNALS])
{
    for (int sig = 1; sig < N_SIGNALS; sig++) {
        sigaction(sig, NULL, &dispositions[sig]);
    }
}

static void restore_signals(const struct sigaction dispositions[N_SIGNALS])
{
    for (int sig = 1; sig < N_SIGNALS; sig++) {
        struct sigaction now;

        if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != dispositions[sig].sa_handler) {
            sigaction(sig, &dispositions[sig], NULL);
        }
    }
}

static int open_ofi(const struct fm_transport_args *args, void *counters,
                    struct fm_transport **out_tp)
{
    struct sigaction dispositions[N_SIGNALS];
    int rc;

    keep_signals(dispositions);
    rc = fm_ofi_open(args, counters, out_tp);
    restore_signals(dispositions);
    return rc;
}

typedef int (*open_fn)(const struct fm_transport_args *args, void *counters,
                       struct fm_transport **out_tp);

/* By shared memory, where there is any. */
static bool is_near(const struct fm_process *p, int proc)
{
    const struct fm_pm *pm = p->pm;
    int n_cliques = (int)p->counters->cliques;

    return (!pm->node_of || pm->node_of[proc] == pm->node_of[pm->rank]) &&
           proc % n_cliques == pm->rank % n_cliques;
}

/* This one among them. */
static int count_near(const struct fm_process *p)
{
    int n = 0;

    for (int proc = 0; proc < p->pm->size; proc++) {
        n += is_near(p, proc);
    }
    return n;
}

static int open_transport(struct fm_process *p, struct fm_channel *ch, open_fn open, void *counters,
                          struct fm_transport **out_tp)
{
    struct fm_transport_args args = {.self = p->pm->rank,
                                     .n_procs = p->pm->size,
                                     .n_local = p->pm->n_local,
                                     .is_one_host = p->pm->n_local == p->pm->size,
                                     .has_company = p->uses_shm && p->uses_ofi,
                                     .tag = p->pm->job};
    struct fm_transport *tp;
    int rc;

    fm_channel_sink(ch, &args.sink);
    rc = open(&args, counters, &tp);
    if (rc) {
        return rc;
    }
    rc = fm_channel_attach(ch, tp);
    if (rc) {
        tp->ops->close(tp);
        return rc;
    }
    *out_tp = tp;
    return publish(p, tp);
}

/* Shared memory for those of this host, libfabric for the rest; none that nobody will use. */
static int open_all(struct fm_process *p, struct fm_channel *ch,
                    const struct fm_process_blocks *blocks)
{
    enum fm_process_choice choice = (enum fm_process_choice)p->counters->transport;
    int n_near = count_near(p), n_far = p->pm->size - n_near;
    int rc = 0;

    if (choice == CHOICE_SHM && n_far > 0) {
        return fm_fail(-FM_E_INVAL,
                       "FATHOM_TRANSPORT is shm, but %d of %d processes are on "
                       "other hosts%s",
                       n_far, p->pm->size,
                       p->counters->cliques > 1 ? " or in other groups (FATHOM_TRANSPORT_CLIQUES)"
                                                : "");
    }
    p->uses_shm = choice != CHOICE_OFI && n_near > 1;
    p->uses_ofi = choice == CHOICE_OFI || n_far > 0;
    if (p->uses_shm) {
        rc = open_transport(p, ch, fm_shm_open, blocks->shm, &p->shm);
    }
    if (!rc && p->uses_ofi) {
        rc = open_transport(p, ch, open_ofi, blocks->ofi, &p->ofi);
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

/* The engine wants to talk to a process for the first time. */
static int resolve(void *ctx, int proc, struct fm_ep **out_ep)
{
    struct fm_process *p = ctx;
    struct fm_transport *tp = p->shm && is_near(p, proc) ? p->shm : p->ofi;
    uint64_t start = fm_now_ns();
    int rc;

    if (!tp) {
        return fm_fail(-FM_E_INTERNAL, "no transport leads to process %d", proc);
    }
    rc = connect_by(p, tp, proc, out_ep);
    if (rc == -FM_E_UNSUPPORTED && tp == p->shm && p->ofi) { /* namespaces of containers */
        rc = connect_by(p, p->ofi, proc, out_ep);
    }
    if (!rc) {
        p->counters->n_connected++;
        p->counters->connect_ns += fm_now_ns() - start;
    }
    return rc;
}

static bool is_gone(void *ctx, int proc)
{
    struct fm_process *p = ctx;

    return p->pm->ops->is_gone(p->pm, proc);
}

/* Where libfabric is to be taken on one host, too, nothing else goes by memory either. */
static bool shares_memory(void *ctx, int proc)
{
    const struct fm_process *p = ctx;

    return p->shm && is_near(p, proc);
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

void fm_process_close(struct fm_process *p)
{
    free(p);
}

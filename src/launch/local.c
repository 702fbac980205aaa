/* SPDX-License-Identifier: BSD-3-Clause */
/* Running a job on this host. */
#include "launch/local.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/option_strings.h"
#include "launch/outlet.h"
#include "launch/output.h"
#include "launch/report.h"
#include "launch/spawn_rank.h"
#include "launch/sweep.h"
#include "launch/verdict.h"
#include "util/sync.h"

#define NS_PER_S 1e9

/* A second Ctrl-C kills; what comes sooner is the same one, sent twice. */
#define SECOND_INTERRUPT_NS UINT64_C(200000000)
/* A rank that fails since a peer has gone may be heard of before the end of that peer is. */
#define BLAME_GRACE_NS UINT64_C(500000000)
/* After an interrupt ranks may tidy up for so long once one of them has gone. */
#define INTERRUPT_GRACE_S 2.0
/* So long readers of our output may take nothing when we are asked to end. */
#define LAST_WORDS_MS 2000

/* Passed on to the ranks as they are. SIGCHLD stands first: it is for us. */
static const int watched[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                              SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

struct watch {
    struct fm_job *job;
    struct fm_outlet outlets[3]; /* 1 and 2; we say what we say to `err`, which ends in 2 */
    FILE *err;
    struct fm_output *output;
    int signal_fd;
    sigset_t old_mask;
    struct rlimit old_files;
    bool was_sigpipe_default;
    int n_alive;
    int exit_status; /* of the first failure */
    int hurry;       /* with this one we are asked to end soon; 0: nobody asks */
    bool is_ending;
    uint64_t start_ns;
    uint64_t kill_at_ns;      /* 0: not set */
    uint64_t interrupt_at_ns; /* first SIGINT or SIGTERM */
    uint64_t blame_at_ns;     /* until then a rank that names a peer waits for that peer's end */
    uint64_t forwarded;       /* bit per signal number */
};

static void say_rank(const struct watch *w, int rank, const char *text)
{
    const struct fm_rank *r = &w->job->ranks[rank];

    fprintf(w->err, "mpiexec: rank %d (pid %d, host %s, %s) %s\n", rank, (int)r->pid, w->job->host,
            w->job->opts->apps[r->app].argv.items[0], text);
}

/* Is `pid` one of those that `rank` has started? Then its parents lead to the rank or to us. */
static bool is_descendant(pid_t pid, pid_t rank)
{
    pid_t self = getpid();

    for (int depth = 0; depth < 16 && pid > 1; depth++) {
        char path[40];
        char line[512];
        char *behind;
        FILE *f;
        bool is_read;

        if (pid == rank || pid == self) {
            return depth > 0;
        }
        snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
        f = fopen(path, "re");
        is_read = f && fgets(line, sizeof(line), f);
        if (f) {
            fclose(f);
        }
        behind = is_read ? strrchr(line, ')') : NULL;
        if (!behind || sscanf(behind + 1, " %*c %d", &pid) != 1) {
            return false;
        }
    }
    return false;
}

/* To every rank that lives, and to the MPI process below it if that is another one. */
static void signal_ranks(struct watch *w, int sig)
{
    for (int r = 0; r < w->job->n_ranks; r++) {
        struct fm_rank *rank = &w->job->ranks[r];
        pid_t claim = atomic_load(&fm_keytable_slot(w->job->table, r)->claim);

        if (rank->pid > 0 && !rank->is_ended) {
            kill(rank->pid, sig);
        }
        if (claim > 1 && rank->pid > 0 && claim != rank->pid && is_descendant(claim, rank->pid)) {
            kill(claim, sig);
        }
    }
}

/* The job cannot go on: ask the ranks to end, then make them. */
static void end_job(struct watch *w)
{
    uint64_t now = fm_now_ns();
    double grace_s = w->job->opts->grace_s;

    if (w->is_ending) {
        return;
    }
    w->is_ending = true;
    if (w->interrupt_at_ns && grace_s < INTERRUPT_GRACE_S) {
        grace_s = INTERRUPT_GRACE_S;
    }
    w->kill_at_ns = now + (uint64_t)(grace_s * NS_PER_S);
    if (!w->interrupt_at_ns) {
        signal_ranks(w, SIGTERM);
    }
    signal_ranks(w, SIGCONT); /* a stopped one could not end */
}

static void fail(struct watch *w, int exit_status)
{
    if (!w->exit_status) {
        w->exit_status = exit_status;
    }
}

/* Is another rank between MPI_Init and MPI_Finalize? Pairs with own_started() of the ranks. */
static bool has_peers_in_mpi(struct watch *w, int rank)
{
    for (int r = 0; r < w->job->n_ranks; r++) {
        if (r != rank && !w->job->ranks[r].is_ended &&
            atomic_load(&fm_keytable_slot(w->job->table, r)->phase) == FM_PLACE_INIT) {
            return true;
        }
    }
    return false;
}

static void ask_verdict(struct watch *w, int rank, struct fm_verdict *out_verdict)
{
    struct fm_keytable *t = w->job->table;
    struct fm_keytable_slot *slot = fm_keytable_slot(t, rank);
    struct fm_rank_end end = {.wait_status = w->job->ranks[rank].wait_status};

    if (slot) { /* the compiler cannot know */
        end.phase = (enum fm_place_phase)atomic_load(&slot->phase);
        end.is_aborted =
            atomic_load_explicit(&slot->aborted, memory_order_acquire) != FM_PLACE_NO_ABORT;
        end.abort_status = slot->abort_status;
    }
    if (end.phase == FM_PLACE_STARTED && !end.is_aborted) {
        uint32_t none = 0;

        /* Before the look at the phases; see own_started(). */
        atomic_compare_exchange_strong(&t->left_early, &none, (uint32_t)rank + 1);
        fm_keytable_notify(t);
        end.has_peers_in_mpi = has_peers_in_mpi(w, rank);
    }
    fm_verdict_of(&end, out_verdict);
}

/* What the end of a rank, or its wish to end the job, means. */
static void judge(struct watch *w, int rank)
{
    struct fm_rank *r = &w->job->ranks[rank];
    bool is_by_us = w->is_ending;
    struct fm_verdict v;
    bool is_told;
    int sig;

    r->is_judged = true;
    ask_verdict(w, rank, &v);
    sig = r->is_ended && WIFSIGNALED(r->wait_status) ? WTERMSIG(r->wait_status) : 0;
    if (v.exit_status == 0 || is_by_us) {
        return;
    }
    fail(w, v.exit_status);
    /* Whoever sent us the signal, or wants no more of our output, knows. */
    is_told = (sig && (w->forwarded >> sig & 1)) ||
              (sig == SIGPIPE &&
               (fm_outlet_is_deserted(&w->outlets[1]) || fm_outlet_is_deserted(&w->outlets[2])));
    if (v.text[0] != '\0' && !is_told) {
        say_rank(w, rank, v.text);
    }
    if (v.must_end_job && w->n_alive > 0) {
        int n_others = w->n_alive - !r->is_ended;

        if (!is_told && !w->interrupt_at_ns && n_others > 0) {
            fprintf(w->err, "mpiexec: terminating the other %d rank%s\n", n_others,
                    n_others == 1 ? "" : "s");
        }
        end_job(w);
    }
}

/* How much the end of a rank, or its wish to end the job, explains; 0: nothing to judge. */
static int weight(const struct watch *w, int rank)
{
    const struct fm_rank *r = &w->job->ranks[rank];
    /* Acquire: pairs with own_abort() of the rank. */
    uint32_t wish =
        atomic_load_explicit(&fm_keytable_slot(w->job->table, rank)->aborted, memory_order_acquire);

    if (r->pid == 0 || r->is_judged || (!r->is_ended && wish == FM_PLACE_NO_ABORT)) {
        return 0;
    }
    if (wish == FM_PLACE_ABORT_BY_PEER) {
        return 1;
    }
    return wish == FM_PLACE_NO_ABORT && WIFSIGNALED(r->wait_status) ? 3 : 2;
}

/* May a rank be judged that only names another? Not while that other may still be heard of. */
static bool is_blame_due(struct watch *w)
{
    uint64_t now = fm_now_ns();

    if (w->is_ending || w->n_alive == 0) {
        return true;
    }
    if (!w->blame_at_ns) {
        w->blame_at_ns = now + BLAME_GRACE_NS;
    }
    return now >= w->blame_at_ns;
}

/* The rank whose end explains the others: one killed by a signal, else the first of those that do
   not only name another. -1: none. */
static int first_cause(struct watch *w)
{
    int best = -1;
    int best_weight = 0;

    for (int r = 0; r < w->job->n_ranks; r++) {
        int own = weight(w, r);

        if (own > best_weight) {
            best = r;
            best_weight = own;
        }
    }
    return best_weight == 1 && !is_blame_due(w) ? -1 : best;
}

static void note_end(struct watch *w, pid_t pid, int wait_status)
{
    for (int r = 0; r < w->job->n_ranks; r++) {
        struct fm_rank *rank = &w->job->ranks[r];

        if (rank->pid != pid || rank->is_ended) {
            continue;
        }
        rank->is_ended = true;
        rank->wait_status = wait_status;
        w->n_alive--;
        return;
    }
}

/* Tell the ranks who has ended. What they do then must not be taken for the cause of it. */
static void publish_ends(struct watch *w)
{
    for (int r = 0; r < w->job->n_ranks; r++) {
        if (w->job->ranks[r].is_ended) {
            /* Release: pairs with own_is_gone() of the ranks. */
            atomic_store_explicit(&fm_keytable_slot(w->job->table, r)->is_gone, 1,
                                  memory_order_release);
        }
    }
    fm_keytable_notify(w->job->table);
}

/* A rank left without MPI_Init when nobody was in MPI, and somebody is now. */
static void judge_early_leaver(struct watch *w)
{
    uint32_t left = atomic_load(&w->job->table->left_early);

    if (left > 0 && (int)left <= w->job->n_ranks && !w->is_ending &&
        has_peers_in_mpi(w, (int)left - 1)) {
        judge(w, (int)left - 1);
    }
}

static void reap(struct watch *w)
{
    int wait_status;
    pid_t pid;
    int rank;

    while ((pid = waitpid(-1, &wait_status, WNOHANG)) > 0) {
        note_end(w, pid, wait_status);
    }
    while ((rank = first_cause(w)) >= 0) {
        judge(w, rank);
    }
    publish_ends(w);
    judge_early_leaver(w);
}

static void interrupt(struct watch *w, int sig)
{
    uint64_t now = fm_now_ns();

    if (w->interrupt_at_ns == 0) {
        w->interrupt_at_ns = now;
    } else if (now - w->interrupt_at_ns > SECOND_INTERRUPT_NS) {
        fail(w, 128 + sig);
        w->is_ending = true;
        signal_ranks(w, SIGKILL);
    }
}

static void take_signal(struct watch *w, const struct signalfd_siginfo *info)
{
    int sig = (int)info->ssi_signo;

    if (sig == SIGCHLD) {
        reap(w);
        return;
    }
    w->forwarded |= UINT64_C(1) << sig;
    if (sig == SIGINT || sig == SIGTERM) {
        interrupt(w, sig);
    }
    if (sig == SIGINT || sig == SIGTERM || sig == SIGHUP || sig == SIGQUIT) {
        w->hurry = 128 + sig;
    }
    /* What the terminal sends, it has sent to the ranks as well: they are in our group. */
    if (info->ssi_code != SI_KERNEL) {
        signal_ranks(w, sig);
    }
    if (sig == SIGTSTP) {
        raise(SIGSTOP);
    }
}

static void take_signals(struct watch *w)
{
    struct signalfd_siginfo info;

    while (read(w->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        take_signal(w, &info);
    }
}

/* Milliseconds until something is due, -1: nothing. */
static int wait_ms(const struct watch *w)
{
    int ms = fm_output_wait_ms(w->output);
    uint64_t due = w->kill_at_ns ? w->kill_at_ns : w->blame_at_ns;
    uint64_t now;

    if (w->job->opts->timeout_s > 0 && !w->is_ending) {
        uint64_t limit = w->start_ns + (uint64_t)(w->job->opts->timeout_s * NS_PER_S);

        due = due && due < limit ? due : limit;
    }
    if (due) {
        uint64_t left_ms;

        now = fm_now_ns();
        left_ms = due > now ? (due - now) / 1000000 + 1 : 0;
        left_ms = left_ms < 60000 ? left_ms : 60000;
        ms = ms < 0 || left_ms < (uint64_t)ms ? (int)left_ms : ms;
    }
    return ms;
}

static void look_at_clock(struct watch *w)
{
    uint64_t now = fm_now_ns();
    double timeout_s = w->job->opts->timeout_s;

    if (w->kill_at_ns && now >= w->kill_at_ns) {
        w->kill_at_ns = 0;
        signal_ranks(w, SIGKILL);
    }
    if (w->blame_at_ns && now >= w->blame_at_ns) {
        reap(w);
        w->blame_at_ns = 0;
    }
    if (timeout_s > 0 && !w->is_ending && now - w->start_ns >= (uint64_t)(timeout_s * NS_PER_S)) {
        fprintf(w->err, "mpiexec: the timeout of %g s has expired; terminating %d rank%s\n",
                timeout_s, w->n_alive, w->n_alive == 1 ? "" : "s");
        fm_report_state(w->job, w->err);
        fail(w, FM_EXIT_TIMEOUT);
        w->hurry = FM_EXIT_TIMEOUT;
        end_job(w);
    }
}

static int open_pattern(struct watch *w, const char *pattern, int rank, int *out_fd)
{
    char path[4096];
    sigset_t mask;

    fm_job_expand(w->job, pattern, rank, path, sizeof(path));
    /* A FIFO waits for its reader; signals end us meanwhile, and the ranks that run with us. */
    sigprocmask(SIG_SETMASK, &w->old_mask, &mask);
    *out_fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0666);
    sigprocmask(SIG_SETMASK, &mask, NULL);
    if (*out_fd < 0) {
        return fm_fail(-FM_E_SYSTEM, "cannot write %s: %s", path, strerror(errno));
    }
    return 0;
}

/* Descriptors for 0, 1 and 2 of a rank; ours to close, -1: as ours. */
static int open_streams(struct watch *w, int rank, int fds[3])
{
    const struct fm_options *opts = w->job->opts;
    int rc = 0;

    fds[0] = fds[1] = fds[2] = -1;
    if (rank != opts->stdin_rank) {
        fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
    }
    if (w->output) {
        rc = fm_output_open(w->output, rank, fds + 1);
    }
    if (!rc && opts->out_pattern) {
        if (fds[1] >= 0) {
            close(fds[1]);
        }
        rc = open_pattern(w, opts->out_pattern, rank, &fds[1]);
    }
    if (!rc && opts->err_pattern) {
        if (fds[2] >= 0) {
            close(fds[2]);
        }
        rc = open_pattern(w, opts->err_pattern, rank, &fds[2]);
    }
    if (!rc && opts->is_merged) {
        if (fds[2] >= 0) {
            close(fds[2]);
        }
        fds[2] = fcntl(fds[1] >= 0 ? fds[1] : STDOUT_FILENO, F_DUPFD_CLOEXEC, 3);
    }
    return rc;
}

static int start_rank(struct watch *w, int rank)
{
    struct fm_job *job = w->job;
    struct fm_rank *r = &job->ranks[rank];
    const struct fm_app *app = &job->opts->apps[r->app];
    struct fm_strings texts = {0};
    struct fm_strings env = {0};
    struct fm_spawn s = {.path = job->programs[r->app].path,
                         .argv = app->argv.items,
                         .wdir = app->wdir,
                         .keep = {job->table_fd, r->page_fd},
                         .cpus = fm_bind_of(&job->bind, rank),
                         .mask = &w->old_mask,
                         .resets_sigpipe = w->was_sigpipe_default};
    int rc = open_streams(w, rank, s.fds);

    if (!rc) {
        rc = fm_job_env(job, rank, &texts, &env);
    }
    if (!rc) {
        s.env = env.items;
        rc = fm_spawn(&s, &r->pid);
        fm_keytable_slot(job->table, rank)->pid = r->pid;
        w->n_alive += r->pid > 0;
    }
    for (int i = 0; i < 3; i++) {
        if (s.fds[i] >= 0) {
            close(s.fds[i]);
        }
    }
    fm_strings_finish(&env);
    fm_strings_free_all(&texts);
    return rc;
}

static void report_binding(const struct watch *w, int rank)
{
    const cpu_set_t *set = fm_bind_of(&w->job->bind, rank);
    char cpus[256] = "";

    if (set) {
        fm_bind_print(set, cpus, sizeof(cpus));
    }
    fprintf(w->err, "mpiexec: rank %d (pid %d) is %s%s\n", rank, (int)w->job->ranks[rank].pid,
            set ? "bound to processors " : "not bound", cpus);
}

static void start_all(struct watch *w)
{
    for (int r = 0; r < w->job->n_ranks; r++) {
        if (start_rank(w, r)) {
            fprintf(w->err, "mpiexec: rank %d: %s\n", r, fm_why());
            w->job->ranks[r].is_judged = true;
            fail(w, FM_EXIT_NOT_EXECUTABLE);
            end_job(w);
            return;
        }
        if (w->job->opts->does_report_bindings) {
            report_binding(w, r);
        }
    }
}

static int init_watch(struct watch *w)
{
    struct rlimit files;
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < FM_ARRAY_LEN(watched); i++) {
        sigaddset(&set, watched[i]);
    }
    sigprocmask(SIG_BLOCK, &set, &w->old_mask);
    w->was_sigpipe_default = signal(SIGPIPE, SIG_IGN) == SIG_DFL;
    w->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (w->signal_fd < 0) {
        return fm_fail(-FM_E_SYSTEM, "signalfd: %s", strerror(errno));
    }
    /* Orphans of the ranks come to us, so that an MPI process below a dead shell can be found. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    if (getrlimit(RLIMIT_NOFILE, &files) == 0 && files.rlim_cur < files.rlim_max) {
        files.rlim_cur = files.rlim_max;
        setrlimit(RLIMIT_NOFILE, &files);
    }
    w->start_ns = fm_now_ns();
    return fm_output_create(w->job, w->outlets, &w->output);
}

/* Fill fds for poll() with our own descriptors; returns how many. */
static int poll_own(const struct watch *w, struct pollfd *fds)
{
    fds[0] = (struct pollfd){.fd = w->signal_fd, .events = POLLIN};
    fds[1] = fm_outlet_poll(&w->outlets[1]);
    fds[2] = fm_outlet_poll(&w->outlets[2]);
    return 3;
}

static void serve_own(struct watch *w)
{
    fm_outlet_serve(&w->outlets[1]);
    fm_outlet_serve(&w->outlets[2]);
    take_signals(w);
}

static int watch_all(struct watch *w)
{
    struct pollfd *fds = calloc((size_t)fm_output_max(w->output) + 3, sizeof(*fds));

    if (!fds) {
        signal_ranks(w, SIGKILL);
        return fm_fail(-FM_E_NOMEM, "no memory to watch %d ranks", w->job->n_ranks);
    }
    while (w->n_alive > 0) {
        int n = poll_own(w, fds);

        n += fm_output_poll(w->output, fds + n);
        if (poll(fds, (nfds_t)n, wait_ms(w)) > 0 || w->output) {
            fm_output_serve(w->output, fds + 3);
        }
        serve_own(w);
        look_at_clock(w);
    }
    fm_output_drain(w->output);
    free(fds);
    return 0;
}

/* A job whose results are not where they should be has failed, whoever noticed it. */
static void tell_lost_output(struct watch *w)
{
    int error = w->outlets[1].error ? w->outlets[1].error : w->outlets[2].error;

    for (int r = 0; r < w->job->n_ranks && !error; r++) {
        error = atomic_load(&fm_keytable_slot(w->job->table, r)->lost_output);
    }
    if (error) {
        fprintf(w->err, "mpiexec: output of the ranks was lost: %s\n", strerror(error));
        fail(w, 1);
    }
}

/* All has been said; now let it be taken. */
static void wait_for_readers(struct watch *w)
{
    while (w->outlets[1].len + w->outlets[2].len > 0) {
        struct pollfd fds[3];

        poll_own(w, fds);
        if (poll(fds, 3, w->hurry ? LAST_WORDS_MS : -1) == 0) {
            fail(w, w->hurry);
            return;
        }
        serve_own(w);
    }
}

int fm_local_run(struct fm_job *job)
{
    struct watch w = {.job = job, .signal_fd = -1};
    int rc;

    fm_outlet_init(&w.outlets[1], STDOUT_FILENO);
    fm_outlet_init(&w.outlets[2], STDERR_FILENO);
    w.err = fm_outlet_stream(&w.outlets[2]);
    if (!w.err) {
        fprintf(stderr, "mpiexec: no memory for messages\n");
        return 1;
    }
    rc = init_watch(&w);
    if (!rc) {
        start_all(&w);
        rc = watch_all(&w);
    }
    if (rc) {
        fprintf(w.err, "mpiexec: %s\n", fm_why());
        fail(&w, 1);
    }
    if (job->opts->does_print_exits) {
        fm_report_exits(job, w.err);
    }
    if (w.is_ending || w.hurry) {
        fm_sweep_processes(job);
    }
    fm_sweep(job);
    tell_lost_output(&w);
    wait_for_readers(&w);
    fm_output_destroy(w.output);
    fclose(w.err);
    fm_outlet_finish(&w.outlets[1]);
    fm_outlet_finish(&w.outlets[2]);
    if (w.signal_fd >= 0) {
        close(w.signal_fd);
    }
    return w.exit_status;
}

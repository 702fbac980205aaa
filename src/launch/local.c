/* SPDX-License-Identifier: BSD-3-Clause */
/* Running the part of a job that belongs to this host. */
#include "launch/local.h"

#include <errno.h>
#include <fathom/page.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launch/cleanup.h"
#include "launch/output.h"
#include "launch/reap.h"
#include "launch/report.h"
#include "launch/start_ranks.h"
#include "launch/terminate.h"
#include "launch/watchdog.h"
#include "util/segment.h"
#include "util/sync.h"

/* How long the readers of the output may read nothing when mpiexec was requested to end. */
#define LAST_OUTPUT_MS 2000

/* Forwarded to the ranks, but for SIGCHLD. */
static const int watched[] = {SIGCHLD, SIGINT,  SIGTERM, SIGHUP, SIGQUIT,
                              SIGUSR1, SIGUSR2, SIGTSTP, SIGCONT};

void fm_local_say(const struct fm_local *l, const struct fm_local_rank *r, const char *text)
{
    const char *program = l->job->opts->apps[l->job->ranks[r->rank].app].argv.items[0];

    fprintf(l->err, "mpiexec: rank %d (pid %d, host %s, %s) %s\n", r->rank, (int)r->pid,
            l->host->name, program, text);
}

/* A page and up to two pipes for each rank: more descriptors than the usual soft limit. */
static void raise_file_limit(struct fm_local *l)
{
    struct rlimit files;

    if (getrlimit(RLIMIT_NOFILE, &files) != 0) {
        return;
    }
    l->old_files = files;
    files.rlim_cur = files.rlim_max;
    setrlimit(RLIMIT_NOFILE, &files);
}

static int make_page(struct fm_local *l, struct fm_local_rank *r)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(l->table, r->rank);
    char name[32];
    struct stat st;

    snprintf(name, sizeof(name), "fathom-page-%d", r->rank);
    r->page_fd = fm_segment_sealed(name, FATHOM_PAGE_LEN);
    if (r->page_fd < 0 || fstat(r->page_fd, &st) != 0) {
        return fm_fail(-FM_E_SYSTEM, "the shared page of rank %d: %s%s", r->rank, strerror(errno),
                       errno == EFBIG    ? " (see ulimit -f)"
                       : errno == EMFILE ? " (see ulimit -n)"
                                         : "");
    }
    slot->appnum = l->job->ranks[r->rank].app;
    slot->page_ino = st.st_ino;
    return 0;
}

static int make_ranks(struct fm_local *l)
{
    int host = (int)(l->host - l->job->hosts);
    int rc = 0;

    l->ranks = calloc((size_t)l->host->n_ranks, sizeof(*l->ranks));
    if (!l->ranks) {
        return fm_fail(-FM_E_NOMEM, "no memory for %d ranks", l->host->n_ranks);
    }
    for (int rank = 0; rank < l->job->n_ranks && !rc; rank++) {
        if (l->job->ranks[rank].host == host) {
            struct fm_local_rank *r = &l->ranks[l->n_ranks++];

            *r = (struct fm_local_rank){.rank = rank, .page_fd = -1};
            rc = make_page(l, r);
        }
    }
    return rc;
}

int fm_local_init(struct fm_local *l, const struct fm_job *job)
{
    int rc;

    *l = (struct fm_local){.job = job, .host = &job->hosts[0], .table_fd = -1, .signal_fd = -1};
    raise_file_limit(l);
    rc = fm_keytable_create(job->n_ranks, &l->table, &l->table_fd);
    rc = rc ? rc : make_ranks(l);
    rc = rc ? rc : fm_bind_init(job->opts->bind, l->n_ranks, &l->bind);
    if (rc == FM_AGAIN) {
        fprintf(stderr,
                "mpiexec: more ranks (%d) than processors for --bind-to: no rank is bound\n",
                l->n_ranks);
        rc = 0;
    }
    return rc;
}

void fm_local_finish(struct fm_local *l)
{
    for (int i = 0; i < l->n_ranks; i++) {
        if (l->ranks[i].page_fd >= 0) {
            close(l->ranks[i].page_fd);
        }
    }
    free(l->ranks);
    fm_keytable_unmap(l->table);
    if (l->table_fd >= 0) {
        close(l->table_fd);
    }
    fm_bind_finish(&l->bind);
    *l = (struct fm_local){.table_fd = -1, .signal_fd = -1};
}

/* Is the signal to be taken? One that mpiexec was started to ignore (nohup) stays ignored. */
static bool is_wanted(int sig)
{
    struct sigaction action;

    return sig == SIGCHLD || sigaction(sig, NULL, &action) != 0 || action.sa_handler != SIG_IGN;
}

static int watch_signals(struct fm_local *l)
{
    sigset_t set;

    sigemptyset(&set);
    for (size_t i = 0; i < FM_ARRAY_LEN(watched); i++) {
        if (is_wanted(watched[i])) {
            sigaddset(&set, watched[i]);
        }
    }
    /* Ignored by the parent (perl, some CI runners), the kernel would reap the ranks unseen. */
    signal(SIGCHLD, SIG_DFL);
    sigprocmask(SIG_BLOCK, &set, &l->old_mask);
    l->was_sigpipe_default = signal(SIGPIPE, SIG_IGN) == SIG_DFL;
    l->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (l->signal_fd < 0) {
        return fm_fail(-FM_E_SYSTEM, "signalfd: %s", strerror(errno));
    }
    return 0;
}

static int open_run(struct fm_local *l)
{
    int rc = watch_signals(l);

    if (rc) {
        return rc;
    }
    /* Orphans of ranks become children of mpiexec, so that signals reach an MPI process whose
       parent, a shell, was killed. */
    prctl(PR_SET_CHILD_SUBREAPER, 1);
    l->start_ns = fm_now_ns();
    return fm_output_create(l, &l->output);
}

static void take_signal(struct fm_local *l, const struct signalfd_siginfo *info)
{
    int sig = (int)info->ssi_signo;

    if (sig == SIGCHLD) {
        fm_reap(l);
        return;
    }
    l->forwarded |= UINT64_C(1) << sig;
    /* The terminal has sent its signals to the ranks, too: they are in the same process group. */
    if (info->ssi_code != SI_KERNEL) {
        fm_terminate_signal(l, sig);
    }
    fm_terminate_request(l, sig);
    if (sig == SIGTSTP) {
        raise(SIGSTOP);
    }
}

/* Fill fds for poll() with the descriptors of mpiexec itself; returns how many. */
static int poll_own(const struct fm_local *l, struct pollfd *fds)
{
    fds[0] = (struct pollfd){.fd = l->signal_fd, .events = POLLIN};
    fds[1] = fm_writer_poll(&l->writers[1]);
    fds[2] = fm_writer_poll(&l->writers[2]);
    return 3;
}

static void serve_own(struct fm_local *l)
{
    struct signalfd_siginfo info;

    fm_writer_serve(&l->writers[1]);
    fm_writer_serve(&l->writers[2]);
    while (read(l->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        take_signal(l, &info);
    }
}

/* The timeout of poll(2): until the next deadline, -1 if there is none. */
static int wait_ms(const struct fm_local *l)
{
    uint64_t deadline = fm_terminate_deadline(l), now = fm_now_ns(), left_ms;
    int ms = fm_output_wait_ms(l->output);

    if (l->blame_ns && (!deadline || l->blame_ns < deadline)) {
        deadline = l->blame_ns;
    }
    if (!deadline) {
        return ms;
    }
    left_ms = deadline > now ? (deadline - now) / 1000000 + 1 : 0;
    left_ms = left_ms < 60000 ? left_ms : 60000;
    return ms < 0 || left_ms < (uint64_t)ms ? (int)left_ms : ms;
}

static int watch_all(struct fm_local *l)
{
    struct pollfd *fds = calloc((size_t)fm_output_max(l->output) + 3, sizeof(*fds));

    if (!fds) {
        fm_terminate_signal(l, SIGKILL);
        return fm_fail(-FM_E_NOMEM, "no memory to watch %d ranks", l->n_ranks);
    }
    while (l->n_alive > 0) {
        int n = poll_own(l, fds);

        n += fm_output_poll(l->output, fds + n);
        if (poll(fds, (nfds_t)n, wait_ms(l)) > 0 || l->output) {
            fm_output_serve(l->output, fds + 3);
        }
        serve_own(l);
        fm_reap_check(l);
        fm_terminate_check(l);
    }
    fm_output_drain(l->output);
    free(fds);
    return 0;
}

/* Output that was lost makes the job fail, whether mpiexec or a rank noticed it. */
static void check_output(struct fm_local *l)
{
    int error = l->writers[1].error ? l->writers[1].error : l->writers[2].error;

    for (int i = 0; i < l->n_ranks && !error; i++) {
        error = atomic_load(&fm_keytable_slot(l->table, l->ranks[i].rank)->lost_output);
    }
    if (error) {
        fprintf(l->err, "mpiexec: output of the ranks was lost: %s\n", strerror(error));
        fm_terminate_status(l, 1);
    }
}

static void wait_for_readers(struct fm_local *l)
{
    while (l->writers[1].len + l->writers[2].len > 0) {
        struct pollfd fds[3];

        poll_own(l, fds);
        if (poll(fds, 3, l->requested_exit ? LAST_OUTPUT_MS : -1) == 0) {
            fm_terminate_status(l, l->requested_exit);
            return;
        }
        serve_own(l);
    }
}

static void close_run(struct fm_local *l)
{
    fm_output_destroy(l->output);
    fclose(l->err);
    fm_writer_finish(&l->writers[1]);
    fm_writer_finish(&l->writers[2]);
    if (l->signal_fd >= 0) {
        close(l->signal_fd);
    }
}

static void clean_up(struct fm_local *l)
{
    struct fm_cleanup job = fm_cleanup_job(l->table);

    if (l->is_terminating || l->requested_exit) {
        fm_cleanup_processes(&job);
    }
    fm_cleanup_files(l->table);
    fm_watchdog_stop(l);
}

int fm_local_run(struct fm_local *l)
{
    int rc;

    fm_writer_init(&l->writers[1], STDOUT_FILENO);
    fm_writer_init(&l->writers[2], STDERR_FILENO);
    l->err = fm_writer_stream(&l->writers[2]);
    if (!l->err) {
        fprintf(stderr, "mpiexec: no memory for messages\n");
        return 1;
    }
    rc = open_run(l);
    if (!rc) {
        fm_watchdog_start(l);
        fm_start_ranks(l);
        rc = watch_all(l);
    }
    if (rc) {
        fprintf(l->err, "mpiexec: %s\n", fm_why());
        fm_terminate_status(l, 1);
    }
    if (l->job->opts->does_print_exits) {
        fm_report_exits(l);
    }
    clean_up(l);
    check_output(l);
    wait_for_readers(l);
    close_run(l);
    return l->exit_status;
}

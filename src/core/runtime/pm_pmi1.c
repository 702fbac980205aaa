/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * PMI-1 by its wire protocol, without a library: Hydra, and Slurm with --mpi=pmi2.
 *
 * PMI_FD is a socket to the launcher. A request is a line "cmd=... key=value ...", answered by one
 * line; the launcher sends nothing else. Values have no blanks, so bytes are sent in hexadecimal.
 * What was put can be got after the next barrier.
 *
 * A process that a rank starts inherits the variables. So that it is not taken for a rank whose
 * socket was closed, the rank writes its process id beside them.
 */
#include "core/runtime/pm.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#define CLAIM      "FATHOM_PMI_RANK_PID"
#define JOB_PREFIX "pmi-"
#define LINE_LEN   4096
#define MAX_NODE   (1 << 24)

struct pmi1 {
    struct fm_pm pm; /* first */
    int fd;
    int value_max; /* characters of a value, of the launcher */
    int *nodes;    /* what pm.node_of points to */
    char kvs[256]; /* the name of the job's key space */
    char line[LINE_LEN];
};

/* PMI cannot be initialized twice. Written under the library lock. */
static bool was_finalized;

static int lost(const char *what)
{
    return fm_fail(-FM_E_SYSTEM, "the process manager (PMI_FD) %s", what);
}

static int send_line(struct pmi1 *p)
{
    size_t len = strlen(p->line), done = 0;

    while (done < len) {
        ssize_t n = send(p->fd, p->line + done, len - done, MSG_NOSIGNAL);

        if (n < 0 && errno != EINTR) {
            return lost("has closed the connection");
        }
        done += n > 0 ? (size_t)n : 0;
    }
    return 0;
}

/* Read the answer into p->line, without its newline; byte by byte, for the rest belongs to the next
   answer. */
static int read_line(struct pmi1 *p)
{
    size_t at = 0;

    for (;;) {
        ssize_t n = read(p->fd, p->line + at, 1);

        if (n == 0 || (n < 0 && errno != EINTR)) {
            return lost("has closed the connection");
        }
        if (n < 0) {
            continue;
        }
        if (p->line[at] == '\n') {
            p->line[at] = '\0';
            return 0;
        }
        if (++at == LINE_LEN) {
            return fm_fail(-FM_E_PROTO, "the process manager sent a line of more than %d bytes",
                           LINE_LEN);
        }
    }
}

/* The value of a key in p->line, up to a blank. False: there is none, or it is too long. */
static bool take(const struct pmi1 *p, const char *key, char *out_text, size_t len)
{
    size_t key_len = strlen(key), value_len;
    const char *at = p->line;

    while (at && !(strncmp(at, key, key_len) == 0 && at[key_len] == '=')) {
        at = strchr(at, ' ');
        at = at ? at + 1 : NULL;
    }
    if (!at) {
        return false;
    }
    at += key_len + 1;
    value_len = strcspn(at, " ");
    if (value_len >= len) {
        return false;
    }
    memcpy(out_text, at, value_len);
    out_text[value_len] = '\0';
    return true;
}

/* A decimal number that fills the text. False: it is none, or does not fit an int. */
static bool read_int(const char *text, int *out_n)
{
    char *end;
    long n;

    errno = 0;
    n = strtol(text, &end, 10);
    if (errno || end == text || *end != '\0' || n < INT_MIN || n > INT_MAX) {
        return false;
    }
    *out_n = (int)n;
    return true;
}

static int take_int(const struct pmi1 *p, const char *key, int otherwise)
{
    char text[32];
    int n;

    return take(p, key, text, sizeof(text)) && read_int(text, &n) ? n : otherwise;
}

/* Is p->line the expected answer, with rc=0 if it has an rc? */
static int check_answer(const struct pmi1 *p, const char *expected)
{
    char cmd[64];

    if (!take(p, "cmd", cmd, sizeof(cmd)) || strcmp(cmd, expected) != 0) {
        return fm_fail(-FM_E_PROTO, "the process manager answered \"%.80s\", expected %s", p->line,
                       expected);
    }
    if (take_int(p, "rc", 0) != 0) {
        return fm_fail(-FM_E_NOENT, "the process manager refused: %.120s", p->line);
    }
    return 0;
}

/* Send p->line and read the answer. */
static int ask(struct pmi1 *p, const char *expected)
{
    int rc = send_line(p);

    rc = rc ? rc : read_line(p);
    return rc ? rc : check_answer(p, expected);
}

static int pmi1_put(struct fm_pm *pm, const char *key, const void *value, size_t len)
{
    struct pmi1 *p = fm_container_of(pm, struct pmi1, pm);
    const unsigned char *bytes = value;
    int at;

    if ((int)len * 2 >= p->value_max) {
        return fm_fail(-FM_E_INVAL, "\"%s\" has %zu bytes, the limit of the process manager is %d",
                       key, len, p->value_max / 2);
    }
    at = snprintf(p->line, LINE_LEN, "cmd=put kvsname=%s key=%d-%s value=", p->kvs, pm->rank, key);
    for (size_t i = 0; i < len; i++) {
        at += snprintf(p->line + at, (size_t)(LINE_LEN - at), "%02x", bytes[i]);
    }
    snprintf(p->line + at, (size_t)(LINE_LEN - at), "\n");
    return ask(p, "put_result");
}

/* Convert hexadecimal text to bytes. Returns how many; -1: bad text, or too long. */
static int from_hex(const char *text, unsigned char *out, size_t room)
{
    size_t n = strlen(text) / 2;

    if (strlen(text) % 2 != 0 || n > room || strspn(text, "0123456789abcdef") != 2 * n) {
        return -1;
    }
    for (size_t i = 0; i < n; i++) {
        unsigned byte = 0;

        sscanf(text + 2 * i, "%2x", &byte);
        out[i] = (unsigned char)byte;
    }
    return (int)n;
}

static int pmi1_get(struct fm_pm *pm, const struct fm_pm_proc *proc, const char *key,
                    void *out_value, size_t *len)
{
    struct pmi1 *p = fm_container_of(pm, struct pmi1, pm);
    char text[2 * FM_PM_VALUE_MAX + 1];
    int rc, n;

    if (strncmp(proc->job, JOB_PREFIX, strlen(JOB_PREFIX)) != 0) {
        return fm_fail(-FM_E_NOENT, "the job %.64s is not known here", proc->job);
    }
    /* The name of a job is JOB_PREFIX and the name of its key-value space. */
    snprintf(p->line, LINE_LEN, "cmd=get kvsname=%s key=%d-%s\n",
             fm_pm_is_own_job(pm, proc) ? p->kvs : proc->job + strlen(JOB_PREFIX), proc->rank, key);
    rc = ask(p, "get_result");
    if (rc) {
        return rc;
    }
    n = take(p, "value", text, sizeof(text)) ? from_hex(text, out_value, *len) : -1;
    if (n < 0) {
        return fm_fail(-FM_E_PROTO, "rank %d has published a \"%s\" that cannot be read",
                       proc->rank, key);
    }
    *len = (size_t)n;
    return 0;
}

static int pmi1_fence(struct fm_pm *pm, void (*idle)(void *ctx), void *ctx)
{
    struct pmi1 *p = fm_container_of(pm, struct pmi1, pm);
    struct pollfd wait = {.fd = p->fd, .events = POLLIN};
    int wait_ms = 1;
    int rc;

    snprintf(p->line, LINE_LEN, "cmd=barrier_in\n");
    rc = send_line(p);
    while (!rc && idle && poll(&wait, 1, wait_ms) == 0) {
        wait_ms = wait_ms < 64 ? wait_ms * 2 : wait_ms;
        idle(ctx);
    }
    rc = rc ? rc : read_line(p);
    return rc ? rc : check_answer(p, "barrier_out"); /* Slurm adds rc=0 */
}

static void pmi1_withdraw(struct fm_pm *pm)
{
}

/* The launcher ends the job when a rank ends before MPI_Finalize. */
static bool pmi1_is_gone(struct fm_pm *pm, int rank)
{
    return false;
}

static int pmi1_started(struct fm_pm *pm)
{
    return 0;
}

static int pmi1_finished(struct fm_pm *pm)
{
    struct pmi1 *p = fm_container_of(pm, struct pmi1, pm);

    was_finalized = true;
    snprintf(p->line, LINE_LEN, "cmd=finalize\n");
    return ask(p, "finalize_ack");
}

static void pmi1_abort(struct fm_pm *pm, int exit_status, const char *text, bool is_by_peer)
{
    struct pmi1 *p = fm_container_of(pm, struct pmi1, pm);

    snprintf(p->line, LINE_LEN, "cmd=abort exitcode=%d\n", exit_status);
    send_line(p); /* no answer follows */
}

static void pmi1_close(struct fm_pm *pm)
{
    struct pmi1 *p = fm_container_of(pm, struct pmi1, pm);

    close(p->fd);
    free(p->nodes);
    free(p);
}

static const struct fm_pm_ops pmi1_ops = {
    .name = "pmi1",
    .put = pmi1_put,
    .get = pmi1_get,
    .fence = pmi1_fence,
    .withdraw = pmi1_withdraw,
    .is_gone = pmi1_is_gone,
    .started = pmi1_started,
    .finished = pmi1_finished,
    .abort = pmi1_abort,
    .close = pmi1_close,
};

/*
 * Parse "(vector,(0,2,4),(2,1,1))": 2 nodes from number 0 on with 4 ranks each, then node 2 with 1;
 * repeated while ranks are left. False: the text is not of this form.
 */
static bool read_mapping(const char *text, int size, int *nodes)
{
    int rank = 0;

    while (rank < size) {
        const char *at = strncmp(text, "(vector,", 8) == 0 ? text + 8 : "";
        int first, n_nodes, n_ranks, before = rank, end = 0;

        while (sscanf(at, "(%9d,%9d,%9d)%n", &first, &n_nodes, &n_ranks, &end) == 3 && end > 0) {
            if (first < 0 || first > MAX_NODE || n_nodes < 0 || n_nodes > MAX_NODE || n_ranks < 0) {
                return false;
            }
            for (int64_t i = 0; i < (int64_t)n_nodes * n_ranks && rank < size; i++) {
                nodes[rank++] = first + (int)(i / n_ranks);
            }
            at += end;
            at += *at == ',';
            end = 0;
        }
        if (rank == before) {
            return false;
        }
    }
    return true;
}

/* Find the node of each rank. Unknown: each rank is on a node of its own. */
static int learn_nodes(struct pmi1 *p)
{
    char text[1024];
    int *nodes = malloc((size_t)p->pm.size * sizeof(*nodes));

    if (!nodes) {
        return fm_fail(-FM_E_NOMEM, "no memory for the nodes of %d ranks", p->pm.size);
    }
    snprintf(p->line, LINE_LEN, "cmd=get kvsname=%s key=PMI_process_mapping\n", p->kvs);
    if (ask(p, "get_result") != 0 || !take(p, "value", text, sizeof(text)) ||
        !read_mapping(text, p->pm.size, nodes)) {
        for (int r = 0; r < p->pm.size; r++) {
            nodes[r] = r;
        }
    }
    for (int r = 0; r < p->pm.size; r++) {
        p->pm.local_rank += nodes[r] == nodes[p->pm.rank] && r < p->pm.rank;
        p->pm.n_local += nodes[r] == nodes[p->pm.rank];
    }
    p->nodes = nodes;
    p->pm.node_of = nodes;
    return 0;
}

static int greet(struct pmi1 *p)
{
    int rc;

    snprintf(p->line, LINE_LEN, "cmd=init pmi_version=1 pmi_subversion=1\n");
    rc = ask(p, "response_to_init");
    if (!rc) {
        snprintf(p->line, LINE_LEN, "cmd=get_maxes\n");
        rc = ask(p, "maxes");
        p->value_max = take_int(p, "vallen_max", 0);
    }
    if (!rc) {
        snprintf(p->line, LINE_LEN, "cmd=get_my_kvsname\n");
        rc = ask(p, "my_kvsname");
    }
    if (!rc && !take(p, "kvsname", p->kvs, sizeof(p->kvs))) {
        rc = fm_fail(-FM_E_PROTO, "the process manager does not name the job");
    }
    if (!rc) {
        snprintf(p->line, LINE_LEN, "cmd=get_universe_size\n");
        p->pm.universe_size = ask(p, "universe_size") == 0 ? take_int(p, "size", -1) : -1;
        snprintf(p->line, LINE_LEN, "cmd=get_appnum\n");
        p->pm.appnum = ask(p, "appnum") == 0 ? take_int(p, "appnum", -1) : -1;
        rc = learn_nodes(p);
    }
    return rc;
}

/*
 * The place of this process by its environment. FM_AGAIN: PMI did not start it, or a rank did. A
 * failure: a rank with unusable variables or a closed socket, which would else be a job of one.
 */
static int find_place(int *out_fd, int *out_rank, int *out_size)
{
    const char *fd = secure_getenv("PMI_FD"), *rank = secure_getenv("PMI_RANK"),
               *size = secure_getenv("PMI_SIZE");
    const char *claim = secure_getenv(CLAIM);
    struct stat st;

    if (!fd || !rank || !size || (claim && atoi(claim) != getpid())) {
        return FM_AGAIN;
    }
    if (!read_int(rank, out_rank) || !read_int(size, out_size) || *out_size <= 0 || *out_rank < 0 ||
        *out_rank >= *out_size) {
        return fm_fail(-FM_E_INVAL, "PMI_RANK is \"%.20s\" and PMI_SIZE is \"%.20s\"", rank, size);
    }
    if (read_int(fd, out_fd) && fstat(*out_fd, &st) == 0 && S_ISSOCK(st.st_mode)) {
        return 0;
    }
    if (*out_size == 1) {
        return FM_AGAIN;
    }
    return fm_fail(-FM_E_INVAL,
                   "PMI_FD is \"%.20s\", which is no open socket: a parent process has closed it; "
                   "unset PMI_FD, PMI_RANK and PMI_SIZE to run as a job of one",
                   fd);
}

int fm_pm_pmi1_open(struct fm_pm **out_pm)
{
    int fd = -1, rank = 0, size = 1;
    struct pmi1 *p;
    char pid[16];
    int rc = find_place(&fd, &rank, &size);

    if (rc) {
        return rc;
    }
    if (was_finalized) {
        return fm_fail(-FM_E_UNSUPPORTED, "MPI cannot start again in a process under this process "
                                          "manager (PMI-1); it can under Fathom's mpiexec");
    }
    p = calloc(1, sizeof(*p));
    if (!p) {
        return fm_fail(-FM_E_NOMEM, "no memory for the process manager");
    }
    p->fd = fd;
    p->pm = (struct fm_pm){.ops = &pmi1_ops, .rank = rank, .size = size, .needs_fence = true};
    fcntl(p->fd, F_SETFD, FD_CLOEXEC);
    rc = greet(p);
    if (rc) {
        free(p->nodes);
        free(p);
        return rc;
    }
    snprintf(p->pm.job, sizeof(p->pm.job), JOB_PREFIX "%.50s", p->kvs);
    snprintf(pid, sizeof(pid), "%d", (int)getpid());
    setenv(CLAIM, pid, 1);
    *out_pm = &p->pm;
    return 0;
}

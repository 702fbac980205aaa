/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Starting one process.
 *
 * The child reports a failure through a close-on-exec pipe: exec closes it without a byte. A
 * variable of the parent would not do. The child of vfork(2) shares its memory, but the compiler
 * may drop stores that the child never reads again.
 */
#include "launch/spawn_rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "util/status.h"

enum step { STEP_NONE, STEP_STREAMS, STEP_PARENT, STEP_WDIR, STEP_EXEC };

struct failure {
    enum step step;
    int err;
};

/* A script without "#!" goes to the shell, as execvp(3) does. */
static void exec_by_shell(const struct fm_spawn *s, char **argv)
{
    size_t n = 0;

    argv[0] = (char *)"/bin/sh";
    argv[1] = (char *)s->path;
    while (s->argv[n]) {
        n++;
        argv[n + 1] = s->argv[n];
    }
    execve(argv[0], argv, s->env);
}

/* What the child changes in itself before exec. */
static enum step prepare(const struct fm_spawn *s, pid_t parent)
{
    for (int i = 0; i < 3; i++) {
        if (s->fds[i] >= 0 && dup2(s->fds[i], i) < 0) {
            return STEP_STREAMS;
        }
    }
    for (int i = 0; i < 2; i++) {
        fcntl(s->keep[i], F_SETFD, 0);
    }
    if (s->resets_sigpipe) {
        signal(SIGPIPE, SIG_DFL);
    }
    if (s->cpus) {
        sched_setaffinity(0, sizeof(*s->cpus), s->cpus); /* may fail: a smaller cpuset prevails */
    }
    if (s->files) {
        setrlimit(RLIMIT_NOFILE, s->files);
    }
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        return STEP_PARENT;
    }
    if (s->wdir && chdir(s->wdir) != 0) {
        return STEP_WDIR;
    }
    sigprocmask(SIG_SETMASK, s->mask, NULL);
    return STEP_NONE;
}

/* The child: system calls only, for its memory is that of the parent. */
static _Noreturn void become(const struct fm_spawn *s, pid_t parent, char **shell_argv, int report)
{
    struct failure f = {.step = prepare(s, parent)};

    if (f.step == STEP_NONE) {
        f.step = STEP_EXEC;
        execve(s->path, s->argv, s->env);
        if (errno == ENOEXEC) {
            exec_by_shell(s, shell_argv);
        }
    }
    f.err = errno;
    (void)!write(report, &f, sizeof(f));
    _exit(127);
}

static int explain(const struct fm_spawn *s, const struct failure *f)
{
    switch (f->step) {
    case STEP_EXEC:
        if (f->err == ENOENT) {
            return fm_fail(-FM_E_NOENT, "cannot execute %s: %s%s", s->path, strerror(f->err),
                           access(s->path, X_OK) == 0
                               ? " (its interpreter or dynamic loader is missing)"
                               : "");
        }
        return fm_fail(-FM_E_INVAL, "cannot execute %s: %s", s->path, strerror(f->err));
    case STEP_WDIR:
        return fm_fail(-FM_E_NOENT, "cannot change to the directory %s: %s", s->wdir,
                       strerror(f->err));
    case STEP_STREAMS:
        return fm_fail(-FM_E_SYSTEM, "cannot start %s: dup2: %s", s->path, strerror(f->err));
    default:
        return fm_fail(-FM_E_SYSTEM, "cannot start %s: mpiexec has ended", s->path);
    }
}

/* Wait for exec, or for the failure that the child reports. */
static int wait_for_exec(const struct fm_spawn *s, pid_t pid, int report)
{
    struct failure f;
    ssize_t n;

    do {
        n = read(report, &f, sizeof(f));
    } while (n < 0 && errno == EINTR);
    if (n != (ssize_t)sizeof(f)) {
        return 0;
    }
    waitpid(pid, NULL, 0);
    return explain(s, &f);
}

static int spawn(const struct fm_spawn *s, char **shell_argv, const int report[2], pid_t *out_pid)
{
    pid_t parent = getpid();
    pid_t pid = vfork();

    if (pid == 0) {
        become(s, parent, shell_argv, report[1]);
    }
    close(report[1]);
    if (pid < 0) {
        return fm_fail(-FM_E_SYSTEM, "cannot start %s: %s", s->path, strerror(errno));
    }
    *out_pid = pid;
    return 0;
}

int fm_spawn(const struct fm_spawn *s, pid_t *out_pid)
{
    char **shell_argv;
    int report[2];
    size_t n = 0;
    pid_t pid;
    int rc;

    while (s->argv[n]) {
        n++;
    }
    shell_argv = malloc((n + 2) * sizeof(*shell_argv));
    if (!shell_argv) {
        return fm_fail(-FM_E_NOMEM, "no memory to start %s", s->path);
    }
    if (pipe2(report, O_CLOEXEC) != 0) {
        free(shell_argv);
        return fm_fail(-FM_E_SYSTEM, "cannot start %s: pipe: %s", s->path, strerror(errno));
    }
    rc = spawn(s, shell_argv, report, &pid);
    rc = rc ? rc : wait_for_exec(s, pid, report[0]);
    close(report[0]);
    free(shell_argv);
    if (rc == 0) {
        *out_pid = pid;
    }
    return rc;
}

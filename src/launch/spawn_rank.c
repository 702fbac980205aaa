/* SPDX-License-Identifier: BSD-3-Clause */
/* Starting one process. */
#include "launch/spawn_rank.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "util/status.h"

/* What the child leaves in our memory, which it shares until exec. */
struct failure {
    volatile int err;
    const char *volatile what;
};

/* A script without "#!" goes to the shell, as execvp() does it. */
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

/* In the child: system calls only, for the memory is our parent's. */
static void become(const struct fm_spawn *s, pid_t parent, char **shell_argv, struct failure *f)
{
    for (int i = 0; i < 3; i++) {
        if (s->fds[i] >= 0 && dup2(s->fds[i], i) < 0) {
            f->what = "dup2";
            return;
        }
    }
    for (int i = 0; i < 2; i++) {
        fcntl(s->keep[i], F_SETFD, 0);
    }
    if (s->resets_sigpipe) {
        signal(SIGPIPE, SIG_DFL);
    }
    if (s->cpus) {
        sched_setaffinity(0, sizeof(*s->cpus), s->cpus); /* a wish: a smaller cpuset wins */
    }
    if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent) {
        f->what = "the parent has ended";
        return;
    }
    if (s->wdir && chdir(s->wdir) != 0) {
        f->what = "chdir";
        return;
    }
    sigprocmask(SIG_SETMASK, s->mask, NULL);
    execve(s->path, s->argv, s->env);
    if (errno == ENOEXEC) {
        exec_by_shell(s, shell_argv);
    }
    f->what = "exec";
}

int fm_spawn(const struct fm_spawn *s, pid_t *out_pid)
{
    struct failure f = {0};
    pid_t parent = getpid();
    size_t n = 0;
    char **shell_argv;
    pid_t pid;

    while (s->argv[n]) {
        n++;
    }
    shell_argv = malloc((n + 2) * sizeof(*shell_argv));
    if (!shell_argv) {
        return fm_fail(-FM_E_NOMEM, "no memory to start %s", s->path);
    }
    pid = vfork();
    if (pid == 0) {
        become(s, parent, shell_argv, &f);
        f.err = errno;
        _exit(127);
    }
    free(shell_argv);
    if (pid < 0) {
        return fm_fail(-FM_E_SYSTEM, "cannot start %s: %s", s->path, strerror(errno));
    }
    *out_pid = pid;
    if (f.what) {
        return fm_fail(-FM_E_SYSTEM, "cannot start %s: %s: %s", s->path, f.what, strerror(f.err));
    }
    return 0;
}

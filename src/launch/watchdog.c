/* SPDX-License-Identifier: BSD-3-Clause */
/* A child of mpiexec that cleans up when mpiexec is killed. */
#include "launch/watchdog.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launch/cleanup.h"

/* Processes of the job may start others while they are killed: 10 s at most are spent on them. */
#define N_ROUNDS 1000
#define ROUND_MS 10

/* Keep one descriptor, as number 0: the others, among them those of a terminal or pipe that readers
   wait at, would stay open after mpiexec. */
static void keep_only(int fd)
{
    dup2(fd, 0);
    if (close_range(1, ~0U, 0) != 0) { /* before Linux 5.9 */
        for (int other = 1; other < 65536; other++) {
            close(other);
        }
    }
}

static _Noreturn void watch(struct fm_local *l, const struct fm_cleanup *job, int pipe_end)
{
    char byte;

    prctl(PR_SET_NAME, "mpiexec-watch");
    setsid(); /* signals to the process group of mpiexec do not reach it */
    keep_only(pipe_end);
    (void)!chdir("/");
    while (read(0, &byte, 1) < 0 && errno == EINTR) {
    }
    for (int i = 0; i < N_ROUNDS; i++) {
        int n = fm_cleanup_processes(job);

        if (n + fm_cleanup_files(l->table) == 0) {
            break;
        }
        poll(NULL, 0, ROUND_MS);
    }
    _exit(0);
}

void fm_watchdog_start(struct fm_local *l)
{
    struct fm_cleanup job = fm_cleanup_job(l->table);
    int ends[2];
    pid_t pid;

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return;
    }
    pid = fork();
    if (pid == 0) {
        watch(l, &job, ends[0]);
    }
    close(ends[0]);
    if (pid < 0) {
        close(ends[1]);
        return;
    }
    l->watchdog = pid;
    l->watchdog_fd = ends[1]; /* closed by the kernel when mpiexec ends */
}

void fm_watchdog_stop(struct fm_local *l)
{
    if (l->watchdog > 0) {
        kill(l->watchdog, SIGKILL);
        waitpid(l->watchdog, NULL, 0);
        l->watchdog = 0;
    }
    if (l->watchdog_fd > 0) {
        close(l->watchdog_fd);
        l->watchdog_fd = 0;
    }
}

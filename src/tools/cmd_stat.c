/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fathom stat: run a command and print the counters of its ranks.
 *
 * mpiexec, or a program without one, sends the shared page of each rank to a socket that the
 * environment names. The tool holds the pages and reads them after the end, whatever ended the
 * ranks.
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/cmd.h"
#include "tools/stat_table.h"
#include "tools/text.h"
#include "util/page_socket.h"

struct run {
    struct fm_views views;
    int sock;
    int signal_fd;
    sigset_t old_mask;
    pid_t child;
    int wait_status;
    bool is_ended;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* Receive the pages that have arrived. */
static void take_pages(struct run *r)
{
    int rank, fd;

    while ((fd = fm_page_socket_take(r->sock, &rank)) >= 0) {
        fm_view_add(&r->views, fd, rank);
        close(fd);
    }
}

static void take_signal(struct run *r)
{
    struct signalfd_siginfo info;

    while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD) {
            /* The terminal has sent its signals to the command, too. */
            if (info.ssi_code != SI_KERNEL) {
                kill(r->child, (int)info.ssi_signo);
            }
        } else if (waitpid(r->child, &r->wait_status, WNOHANG) == r->child) {
            r->is_ended = true;
        }
    }
}

static void exec_command(const struct run *r, const char *sock, char **command)
{
    setenv(FM_PAGE_SOCKET_ENV, sock, 1);
    sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
    execvp(command[0], command);
    fprintf(stderr, "fathom: cannot run %s: %s\n", command[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

static int start(struct run *r, char **command)
{
    char name[FM_PAGE_SOCKET_NAME_LEN];
    sigset_t set;

    sigemptyset(&set);
    signal(SIGCHLD, SIG_DFL); /* ignored by the parent, the kernel would reap the command */
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGQUIT);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &r->old_mask);
    r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    r->sock = fm_page_socket_open(name);
    if (r->signal_fd < 0 || r->sock < 0) {
        fprintf(stderr, "fathom: cannot monitor a command: %s\n", strerror(errno));
        return -1;
    }
    r->child = fork();
    if (r->child == 0) {
        exec_command(r, name, command);
    }
    if (r->child < 0) {
        fprintf(stderr, "fathom: cannot start %s: %s\n", command[0], strerror(errno));
        return -1;
    }
    return 0;
}

static void follow(struct run *r)
{
    struct pollfd fds[2] = {{.fd = r->signal_fd, .events = POLLIN},
                            {.fd = r->sock, .events = POLLIN}};

    while (!r->is_ended) {
        poll(fds, 2, -1);
        take_pages(r);
        take_signal(r);
    }
    take_pages(r);
    /* The command has ended; from now on signals end the tool, should the table find no reader. */
    sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
}

static int exit_status_of(int wait_status)
{
    return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

int fm_cmd_stat(int argc, char **argv)
{
    struct run r = {.sock = -1, .signal_fd = -1};
    struct fm_stat_table table = {.to = stderr};
    const char *file = NULL;
    uint64_t start_ns = now_ns();
    int at = 1, rc;

    for (; at < argc && argv[at][0] == '-'; at++) {
        if (strcmp(argv[at], "--json") == 0) {
            table.is_json = true;
        } else if (strcmp(argv[at], "--all") == 0) {
            table.is_all = true;
        } else if (strcmp(argv[at], "-o") == 0 && at + 1 < argc) {
            file = argv[++at];
        } else if (strcmp(argv[at], "--") == 0) {
            at++;
            break;
        } else {
            return fm_cmd_usage("stat");
        }
    }
    if (at >= argc) {
        return fm_cmd_usage("stat");
    }
    if (file) {
        table.to = fopen(file, "we");
        if (!table.to) {
            fprintf(stderr, "fathom: cannot write %s: %s\n", file, strerror(errno));
            return 1;
        }
    }
    if (start(&r, argv + at) != 0) {
        return 1;
    }
    follow(&r);
    fm_view_sort(&r.views);
    (void)fm_view_check(&r.views); /* the table shows what can be read */
    table.views = &r.views;
    table.exit_status = exit_status_of(r.wait_status);
    table.elapsed_ns = now_ns() - start_ns;
    fm_stat_table_print(&table);
    rc = table.exit_status;
    if (fflush(table.to) != 0 || ferror(table.to)) {
        fprintf(stderr, "fathom: cannot write %s: %s\n", file ? file : "the table",
                strerror(errno));
        rc = rc ? rc : 1;
    }
    if (file) {
        fclose(table.to);
    }
    fm_view_finish(&r.views);
    close(r.sock);
    close(r.signal_fd);
    return rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fathom stat: run a command and print what its ranks have counted.
 *
 * mpiexec (or a program on its own) sends the shared page of each rank over a socket that we name
 * in FATHOM_STAT_FD. We hold the pages, so they can be read after the end, whatever ended the
 * ranks.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tools/cmd.h"
#include "tools/stat_table.h"
#include "tools/text.h"

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

/* One page from the socket. False when there is none (now). */
static bool take_page(struct run *r)
{
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } control = {0};
    int rank = -1, fd;
    struct iovec body = {.iov_base = &rank, .iov_len = sizeof(rank)};
    struct msghdr msg = {.msg_iov = &body,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = sizeof(control.room)};
    ssize_t n = recvmsg(r->sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
    struct cmsghdr *c = n > 0 ? CMSG_FIRSTHDR(&msg) : NULL;

    if (n <= 0) {
        return false;
    }
    if (n == (ssize_t)sizeof(rank) && c && c->cmsg_type == SCM_RIGHTS &&
        c->cmsg_len == CMSG_LEN(sizeof(int))) {
        memcpy(&fd, CMSG_DATA(c), sizeof(fd));
        fm_view_add(&r->views, fd, rank);
        close(fd);
    }
    return true;
}

static void take_signal(struct run *r)
{
    struct signalfd_siginfo info;

    while (read(r->signal_fd, &info, sizeof(info)) == (ssize_t)sizeof(info)) {
        if (info.ssi_signo != SIGCHLD) {
            /* The terminal has sent it to the command as well. */
            if (info.ssi_code != SI_KERNEL) {
                kill(r->child, (int)info.ssi_signo);
            }
        } else if (waitpid(r->child, &r->wait_status, WNOHANG) == r->child) {
            r->is_ended = true;
        }
    }
}

static void exec_command(const struct run *r, int sock, char **command)
{
    char text[16];

    snprintf(text, sizeof(text), "%d", sock);
    setenv("FATHOM_STAT_FD", text, 1);
    fcntl(sock, F_SETFD, 0);
    sigprocmask(SIG_SETMASK, &r->old_mask, NULL);
    execvp(command[0], command);
    fprintf(stderr, "fathom: cannot run %s: %s\n", command[0], strerror(errno));
    _exit(errno == ENOENT ? 127 : 126);
}

static int start(struct run *r, char **command)
{
    int socks[2];
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGCHLD);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigaddset(&set, SIGUSR1);
    sigaddset(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, &r->old_mask);
    r->signal_fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
    if (r->signal_fd < 0 || socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, socks) != 0) {
        fprintf(stderr, "fathom: cannot watch a command: %s\n", strerror(errno));
        return -1;
    }
    r->sock = socks[0];
    r->child = fork();
    if (r->child == 0) {
        exec_command(r, socks[1], command);
    }
    close(socks[1]);
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
        if (fds[1].revents && !take_page(r) && fds[1].revents & (POLLHUP | POLLERR)) {
            fds[1].fd = -1; /* all who could send have closed it */
        }
        take_signal(r);
    }
    while (take_page(r)) {
    }
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
    int at = 1;

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
    table.views = &r.views;
    table.exit_status = exit_status_of(r.wait_status);
    table.elapsed_ns = now_ns() - start_ns;
    fm_stat_table_print(&table);
    if (file && fclose(table.to) != 0) {
        fprintf(stderr, "fathom: cannot write %s: %s\n", file, strerror(errno));
    }
    fm_view_finish(&r.views);
    close(r.sock);
    close(r.signal_fd);
    return table.exit_status;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages as messages: a datagram is a rank number and a descriptor. */
#include "util/page_socket.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* How long a sender waits for a reader whose queue is full. */
#define SEND_TIMEOUT_S 5

/* A descriptor and the credentials of its sender. Alignment leaves space for a second one. */
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

/* The kernel chooses an abstract name (unix(7)) of 5 digits, so no file is left behind. */
int fm_page_socket_open(char *out_name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(a);
    int yes = 1;
    int sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (sock < 0) {
        return -1;
    }
    if (bind(sock, (struct sockaddr *)&a, sizeof(sa_family_t)) != 0 ||
        setsockopt(sock, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) != 0 ||
        getsockname(sock, (struct sockaddr *)&a, &len) != 0) {
        int error = errno;

        close(sock);
        errno = error;
        return -1;
    }
    snprintf(out_name, FM_PAGE_SOCKET_NAME_LEN, "%.*s",
             (int)(len - offsetof(struct sockaddr_un, sun_path) - 1), a.sun_path + 1);
    return sock;
}

/* Take the descriptors out of a control message; all but the first are closed. */
static void take_rights(const struct cmsghdr *c, int *fd)
{
    size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);

    for (size_t i = 0; i < n; i++) {
        int one;

        memcpy(&one, CMSG_DATA(c) + i * sizeof(one), sizeof(one));
        if (n == 1 && *fd < 0) {
            *fd = one;
        } else {
            close(one);
        }
    }
}

/* The descriptor of a message that has one, sent by this user; -1: another message. */
static int page_of(struct msghdr *msg)
{
    struct ucred cred;
    bool is_own = false;
    int fd = -1;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_type == SCM_RIGHTS) {
            take_rights(c, &fd);
        } else if (c->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&cred, CMSG_DATA(c), sizeof(cred));
            is_own = cred.uid == geteuid();
        }
    }
    if (fd >= 0 && !is_own) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int fm_page_socket_take(int sock, int *out_rank)
{
    for (;;) {
        union control control = {0};
        struct iovec body = {.iov_base = out_rank, .iov_len = sizeof(*out_rank)};
        struct msghdr msg = {.msg_iov = &body,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control.room)};
        ssize_t n = recvmsg(sock, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
        int fd;

        if (n < 0) {
            return -1;
        }
        fd = page_of(&msg);
        if (fd >= 0 && n == (ssize_t)sizeof(*out_rank)) {
            return fd;
        }
        if (fd >= 0) {
            close(fd);
        }
    }
}

bool fm_page_socket_send(const char *name, int rank, int page_fd)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct timeval timeout = {.tv_sec = SEND_TIMEOUT_S};
    size_t len = name ? strlen(name) : 0;
    union control control = {0};
    struct iovec body = {.iov_base = &rank, .iov_len = sizeof(rank)};
    struct msghdr msg = {.msg_name = &a,
                         .msg_iov = &body,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_SPACE(sizeof(int))};
    int sock;
    bool is_sent;

    if (len == 0 || len >= sizeof(a.sun_path)) {
        return false;
    }
    sock = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (sock < 0) {
        return false;
    }
    memcpy(a.sun_path + 1, name, len);
    msg.msg_namelen = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + len);
    control.head.cmsg_level = SOL_SOCKET;
    control.head.cmsg_type = SCM_RIGHTS;
    control.head.cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(&control.head), &page_fd, sizeof(int));
    setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &timeout, sizeof(timeout));
    is_sent = sendmsg(sock, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(rank);
    close(sock);
    return is_sent;
}

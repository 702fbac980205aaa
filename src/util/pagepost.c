/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages as messages: one datagram is a rank number, and a descriptor beside it. */
#include "util/pagepost.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <unistd.h>

/* A reader that does not read for so long loses the page. */
#define SEND_PATIENCE_S 5

/* Room for a descriptor and for who has sent it. */
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(struct ucred))];
};

/* Names without a file (unix(7), abstract): nothing is left behind. The kernel chooses 5 digits. */
int fm_pagepost_open(char *out_name)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    socklen_t len = sizeof(a);
    int yes = 1;
    int box = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);

    if (box < 0) {
        return -1;
    }
    if (bind(box, (struct sockaddr *)&a, sizeof(sa_family_t)) != 0 ||
        setsockopt(box, SOL_SOCKET, SO_PASSCRED, &yes, sizeof(yes)) != 0 ||
        getsockname(box, (struct sockaddr *)&a, &len) != 0) {
        int error = errno;

        close(box);
        errno = error;
        return -1;
    }
    snprintf(out_name, FM_PAGEPOST_NAME_LEN, "%.*s",
             (int)(len - offsetof(struct sockaddr_un, sun_path) - 1), a.sun_path + 1);
    return box;
}

/* The descriptor of a message, if its sender is this user; -1: it has none. */
static int page_of(struct msghdr *msg)
{
    struct ucred cred;
    bool is_ours = false;
    int fd = -1;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(msg); c; c = CMSG_NXTHDR(msg, c)) {
        if (c->cmsg_type == SCM_RIGHTS && c->cmsg_len == CMSG_LEN(sizeof(fd)) && fd < 0) {
            memcpy(&fd, CMSG_DATA(c), sizeof(fd));
        } else if (c->cmsg_type == SCM_CREDENTIALS) {
            memcpy(&cred, CMSG_DATA(c), sizeof(cred));
            is_ours = cred.uid == geteuid();
        }
    }
    if (fd >= 0 && !is_ours) {
        close(fd);
        fd = -1;
    }
    return fd;
}

int fm_pagepost_take(int box, int *out_rank)
{
    for (;;) {
        union control control = {0};
        struct iovec body = {.iov_base = out_rank, .iov_len = sizeof(*out_rank)};
        struct msghdr msg = {.msg_iov = &body,
                             .msg_iovlen = 1,
                             .msg_control = &control,
                             .msg_controllen = sizeof(control.room)};
        ssize_t n = recvmsg(box, &msg, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
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

bool fm_pagepost_send(const char *name, int rank, int page_fd)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    struct timeval patience = {.tv_sec = SEND_PATIENCE_S};
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
    setsockopt(sock, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof(patience));
    is_sent = sendmsg(sock, &msg, MSG_NOSIGNAL) == (ssize_t)sizeof(rank);
    close(sock);
    return is_sent;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the page socket: pages arrive as they were sent; other messages are skipped. */
#include "util/page_socket.h"

#include <check.h>
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"

static char name[FM_PAGE_SOCKET_NAME_LEN];

static int new_page(const char *text)
{
    int fd = memfd_create("page", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    return fd;
}

START_TEST(pages_arrive)
{
    int box = fm_page_socket_open(name);
    int rank = 0, fd;
    char text[16] = "";

    ck_assert_int_ge(box, 0);
    ck_assert_uint_gt(strlen(name), 0);
    ck_assert_int_eq(fm_page_socket_take(box, &rank), -1);
    for (int r = -1; r < 3; r++) {
        fd = new_page(r == 2 ? "third" : "other");
        ck_assert(fm_page_socket_send(name, r, fd));
        close(fd);
    }
    for (int r = -1; r < 3; r++) {
        fd = fm_page_socket_take(box, &rank);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(rank, r);
        ck_assert_int_eq(pread(fd, text, sizeof(text), 0), 5);
        ck_assert_str_eq(text, r == 2 ? "third" : "other");
        close(fd);
    }
    ck_assert_int_eq(fm_page_socket_take(box, &rank), -1);
    close(box);
}
END_TEST

START_TEST(no_reader)
{
    int fd = new_page("page");
    int box = fm_page_socket_open(name);
    char longer[200];

    ck_assert_int_ge(box, 0);
    ck_assert(!fm_page_socket_send(NULL, 0, fd));
    ck_assert(!fm_page_socket_send("", 0, fd));
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    ck_assert(!fm_page_socket_send(longer, 0, fd));
    ck_assert(fm_page_socket_send(name, 0, fd));
    close(box);
    ck_assert(!fm_page_socket_send(name, 0, fd));
    close(fd);
}
END_TEST

/* The lowest free descriptor: equal before and after means that none was leaked. */
static int next_fd(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(fd);
    return fd;
}

/* A message with a page, sent once or twice, and a body of so many bytes. */
static void send_raw(int sock, int fd, int n_fds, size_t body_len, struct sockaddr_un *address)
{
    char room[CMSG_SPACE(2 * sizeof(int))] __attribute__((aligned(8))) = "", body[8] = "";
    int fds[2] = {fd, fd};
    struct iovec iov = {.iov_base = body, .iov_len = body_len};
    struct msghdr msg = {.msg_name = address,
                         .msg_namelen =
                             (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name)),
                         .msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = room,
                         .msg_controllen = CMSG_SPACE((size_t)n_fds * sizeof(int))};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN((size_t)n_fds * sizeof(int));
    memcpy(CMSG_DATA(c), fds, (size_t)n_fds * sizeof(int));
    ck_assert_int_eq(sendmsg(sock, &msg, 0), (ssize_t)body_len);
}

/* Without a page, with two, or with half a number: skipped, and no descriptor stays open. */
START_TEST(malformed_messages_are_skipped)
{
    int box = fm_page_socket_open(name);
    int fd = new_page("page");
    int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    int rank = 7, got, before;

    ck_assert_int_ge(box, 0);
    before = next_fd();
    memcpy(a.sun_path + 1, name, strlen(name));
    ck_assert_int_eq(sendto(sock, "", 0, 0, (struct sockaddr *)&a, len), 0);
    ck_assert_int_eq(sendto(sock, "longer than a number", 20, 0, (struct sockaddr *)&a, len), 20);
    ck_assert_int_eq(sendto(sock, &rank, sizeof(rank), 0, (struct sockaddr *)&a, len), 4);
    send_raw(sock, fd, 1, 3, &a);
    send_raw(sock, fd, 2, sizeof(rank), &a);
    ck_assert(fm_page_socket_send(name, 5, fd));
    got = fm_page_socket_take(box, &rank);
    ck_assert_int_ge(got, 0);
    ck_assert_int_eq(rank, 5);
    ck_assert_int_eq(fm_page_socket_take(box, &rank), -1);
    close(got);
    ck_assert_int_eq(next_fd(), before);
    close(fd);
    close(sock);
    close(box);
}
END_TEST

/* A page of another user is skipped. Only root can become another user. */
START_TEST(pages_of_other_users_are_skipped)
{
    int box = fm_page_socket_open(name);
    int fd = new_page("other"), rank = 0, status, before = next_fd();
    pid_t pid = geteuid() == 0 ? fork() : -1;

    if (pid == 0) {
        _exit(setuid(65534) == 0 && fm_page_socket_send(name, 3, fd) ? 0 : 1);
    }
    if (pid > 0) {
        ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
        ck_assert_int_eq(fm_page_socket_take(box, &rank), -1);
        ck_assert_int_eq(next_fd(), before);
    }
    close(fd);
    close(box);
}
END_TEST

START_TEST(no_descriptor_is_left)
{
    int box = fm_page_socket_open(name), fd = new_page("page");
    struct rlimit limit, none;

    ck_assert_int_ge(box, 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = (rlim_t)next_fd();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    errno = 0;
    ck_assert_int_eq(fm_page_socket_open(name), -1);
    ck_assert_int_eq(errno, EMFILE);
    ck_assert(!fm_page_socket_send(name, 0, fd));
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert(fm_page_socket_send(name, 0, fd));
    close(fd);
    close(box);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("page_socket");
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 15);
    tcase_add_test(t, pages_arrive);
    tcase_add_test(t, no_reader);
    tcase_add_test(t, malformed_messages_are_skipped);
    tcase_add_test(t, pages_of_other_users_are_skipped);
    tcase_add_test(t, no_descriptor_is_left);
    suite_add_tcase(s, t);
    return suite_run(s);
}

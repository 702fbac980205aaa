/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages sent to the tool that watches: what arrives is what was sent, and nothing else does. */
#include "util/pagepost.h"

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

static char name[FM_PAGEPOST_NAME_LEN];

static int new_page(const char *text)
{
    int fd = memfd_create("page", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    return fd;
}

START_TEST(pages_arrive)
{
    int box = fm_pagepost_open(name);
    int rank = 0, fd;
    char text[16] = "";

    ck_assert_int_ge(box, 0);
    ck_assert_uint_gt(strlen(name), 0);
    ck_assert_int_eq(fm_pagepost_take(box, &rank), -1);
    for (int r = -1; r < 3; r++) {
        fd = new_page(r == 2 ? "third" : "other");
        ck_assert(fm_pagepost_send(name, r, fd));
        close(fd);
    }
    for (int r = -1; r < 3; r++) {
        fd = fm_pagepost_take(box, &rank);
        ck_assert_int_ge(fd, 0);
        ck_assert_int_eq(rank, r);
        ck_assert_int_eq(pread(fd, text, sizeof(text), 0), 5);
        ck_assert_str_eq(text, r == 2 ? "third" : "other");
        close(fd);
    }
    ck_assert_int_eq(fm_pagepost_take(box, &rank), -1);
    close(box);
}
END_TEST

START_TEST(nobody_reads)
{
    int fd = new_page("page");
    int box = fm_pagepost_open(name);
    char longer[200];

    ck_assert_int_ge(box, 0);
    ck_assert(!fm_pagepost_send(NULL, 0, fd));
    ck_assert(!fm_pagepost_send("", 0, fd));
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    ck_assert(!fm_pagepost_send(longer, 0, fd));
    ck_assert(fm_pagepost_send(name, 0, fd));
    close(box);
    ck_assert(!fm_pagepost_send(name, 0, fd));
    close(fd);
}
END_TEST

/* The lowest descriptor that is free: the same before and after says that none was left open. */
static int next_fd(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(fd);
    return fd;
}

/* A page with a body of so many bytes. */
static void send_body(int sock, int fd, size_t body_len, void *address, socklen_t address_len)
{
    char room[CMSG_SPACE(sizeof(int))] __attribute__((aligned(8))) = "", body[8] = "";
    struct iovec iov = {.iov_base = body, .iov_len = body_len};
    struct msghdr msg = {.msg_name = address,
                         .msg_namelen = address_len,
                         .msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = room,
                         .msg_controllen = sizeof(room)};
    struct cmsghdr *c = CMSG_FIRSTHDR(&msg);

    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof(int));
    memcpy(CMSG_DATA(c), &fd, sizeof(int));
    ck_assert_int_eq(sendmsg(sock, &msg, 0), (ssize_t)body_len);
}

/* What comes without a page, or with half a number, is passed over. */
START_TEST(rubbish_is_passed_over)
{
    int box = fm_pagepost_open(name);
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
    send_body(sock, fd, 3, &a, len);
    ck_assert(fm_pagepost_send(name, 5, fd));
    got = fm_pagepost_take(box, &rank);
    ck_assert_int_ge(got, 0);
    ck_assert_int_eq(rank, 5);
    ck_assert_int_eq(fm_pagepost_take(box, &rank), -1);
    close(got);
    ck_assert_int_eq(next_fd(), before);
    close(fd);
    close(sock);
    close(box);
}
END_TEST

/* Who is another user could make us read what is no page of this user's. Needs to be root. */
START_TEST(pages_of_others_are_passed_over)
{
    int box = fm_pagepost_open(name);
    int fd = new_page("other"), rank = 0, status, before = next_fd();
    pid_t pid = geteuid() == 0 ? fork() : -1;

    if (pid == 0) {
        _exit(setuid(65534) == 0 && fm_pagepost_send(name, 3, fd) ? 0 : 1);
    }
    if (pid > 0) {
        ck_assert(waitpid(pid, &status, 0) == pid && status == 0);
        ck_assert_int_eq(fm_pagepost_take(box, &rank), -1);
        ck_assert_int_eq(next_fd(), before);
    }
    close(fd);
    close(box);
}
END_TEST

START_TEST(no_descriptor_is_left)
{
    int box = fm_pagepost_open(name), fd = new_page("page");
    struct rlimit limit, none;

    ck_assert_int_ge(box, 0);
    ck_assert_int_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    none = limit;
    none.rlim_cur = (rlim_t)next_fd();
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    errno = 0;
    ck_assert_int_eq(fm_pagepost_open(name), -1);
    ck_assert_int_eq(errno, EMFILE);
    ck_assert(!fm_pagepost_send(name, 0, fd));
    ck_assert_int_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    ck_assert(fm_pagepost_send(name, 0, fd));
    close(fd);
    close(box);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pagepost");
    TCase *t = tcase_create("all");

    tcase_set_timeout(t, 15);
    tcase_add_test(t, pages_arrive);
    tcase_add_test(t, nobody_reads);
    tcase_add_test(t, rubbish_is_passed_over);
    tcase_add_test(t, pages_of_others_are_passed_over);
    tcase_add_test(t, no_descriptor_is_left);
    suite_add_tcase(s, t);
    return suite_run(s);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages sent to the tool that watches: what arrives is what was sent, and nothing else does. */
#include "util/pagepost.h"

#include <check.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
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

/* What comes without a page, or with half a number, is passed over. */
START_TEST(rubbish_is_passed_over)
{
    int box = fm_pagepost_open(name);
    int fd = new_page("page");
    int sock = socket(AF_UNIX, SOCK_DGRAM, 0);
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    socklen_t len = (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + strlen(name));
    int rank = 7, got;

    ck_assert_int_ge(box, 0);
    memcpy(a.sun_path + 1, name, strlen(name));
    ck_assert_int_eq(sendto(sock, "", 0, 0, (struct sockaddr *)&a, len), 0);
    ck_assert_int_eq(sendto(sock, "longer than a number", 20, 0, (struct sockaddr *)&a, len), 20);
    ck_assert_int_eq(sendto(sock, &rank, sizeof(rank), 0, (struct sockaddr *)&a, len), 4);
    ck_assert(fm_pagepost_send(name, 5, fd));
    got = fm_pagepost_take(box, &rank);
    ck_assert_int_ge(got, 0);
    ck_assert_int_eq(rank, 5);
    ck_assert_int_eq(fm_pagepost_take(box, &rank), -1);
    close(got);
    close(fd);
    close(sock);
    close(box);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pagepost");
    TCase *t = tcase_create("all");

    tcase_add_test(t, pages_arrive);
    tcase_add_test(t, nobody_reads);
    tcase_add_test(t, rubbish_is_passed_over);
    suite_add_tcase(s, t);
    return suite_run(s);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the key table of a job: places, claims, publication, waking. */
#include "util/keytable.h"

#include <check.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"

static struct fm_keytable *table;
static int table_fd;

static void setup(void)
{
    ck_assert_int_eq(fm_keytable_create(3, &table, &table_fd), 0);
}

static void teardown(void)
{
    fm_keytable_unmap(table);
    close(table_fd);
}

static struct fm_keytable_place place_of(int rank)
{
    return (struct fm_keytable_place){.launcher = getpid(),
                                      .table_fd = table_fd,
                                      .page_fd = table_fd,
                                      .rank = rank,
                                      .token = table->head.token};
}

START_TEST(place_goes_through_text)
{
    struct fm_keytable_place a = place_of(2), b;
    char text[96];

    fm_keytable_place_print(&a, text, sizeof(text));
    ck_assert_int_eq(fm_keytable_place_parse(text, &b), 0);
    ck_assert_int_eq(b.launcher, a.launcher);
    ck_assert_int_eq(b.table_fd, a.table_fd);
    ck_assert_int_eq(b.rank, 2);
    ck_assert(b.token == a.token);
}
END_TEST

START_TEST(refuses_other_text)
{
    static const char *const bad[] = {"",          "1",           "1:2:3:4",    "1:2:3:4:ff ",
                                      "a:b:c:d:e", "1:-2:3:4:ff", "0:2:3:4:ff", "1:2:3:-4:ff"};
    struct fm_keytable_place p;

    for (size_t i = 0; i < FM_ARRAY_LEN(bad); i++) {
        ck_assert_msg(fm_keytable_place_parse(bad[i], &p) == -FM_E_INVAL, "took \"%s\"", bad[i]);
    }
}
END_TEST

START_TEST(maps_what_was_made)
{
    struct fm_keytable_place p = place_of(1);
    struct fm_keytable *t;

    ck_assert_int_eq(fm_keytable_map(&p, &t), 0);
    ck_assert_ptr_ne(t, table);
    ck_assert_int_eq(t->head.n_ranks, 3);
    ck_assert_int_eq(fcntl(table_fd, F_GETFD), FD_CLOEXEC);
    fm_keytable_unmap(t);
}
END_TEST

START_TEST(finds_table_through_launcher)
{
    struct fm_keytable_place p = place_of(1);
    struct fm_keytable *t = NULL;
    int status;

    /* A child whose parent has closed the descriptor, as Python's subprocess does. */
    if (fork() == 0) {
        close(table_fd);
        _exit(fm_keytable_map(&p, &t) == 0 && t->head.n_ranks == 3 ? 0 : 1);
    }
    wait(&status);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(refuses_what_is_no_table)
{
    struct fm_keytable_place p = place_of(1);
    struct fm_keytable *t = NULL;
    int null = open("/dev/null", O_RDWR);

    p.token++;
    ck_assert_int_eq(fm_keytable_map(&p, &t), -FM_E_PROTO);
    p = place_of(3); /* there are only three */
    ck_assert_int_eq(fm_keytable_map(&p, &t), -FM_E_PROTO);
    p = place_of(1);
    p.table_fd = null;
    ck_assert_int_eq(fm_keytable_map(&p, &t), -FM_E_PROTO);
    close(null);
    ck_assert_int_eq(fm_keytable_map(&p, &t), -FM_E_NOENT);
    ck_assert_ptr_null(t);
}
END_TEST

START_TEST(refuses_wrong_page)
{
    struct fm_keytable_place p = place_of(0);
    struct stat st;
    int fd;

    ck_assert_int_eq(fm_keytable_page_fd(&p, &fd), -FM_E_NOENT);
    fstat(table_fd, &st);
    fm_keytable_slot(table, 0)->page_ino = st.st_ino;
    ck_assert_int_eq(fm_keytable_page_fd(&p, &fd), 0);
    ck_assert_int_eq(fd, table_fd);
}
END_TEST

START_TEST(place_is_claimed_once)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(table, 0);
    pid_t other = fork();

    if (other == 0) {
        pause();
        _exit(0);
    }
    ck_assert_int_eq(fm_keytable_claim(table, 0, other), 0);
    ck_assert_int_eq(fm_keytable_claim(table, 0, other), 0);
    ck_assert_int_eq(fm_keytable_claim(table, 0, getpid()), FM_AGAIN);
    kill(other, SIGKILL);
    waitpid(other, NULL, 0);
    /* It has ended in MPI: no other can follow. */
    atomic_store(&slot->phase, FM_PLACE_INIT);
    ck_assert_int_eq(fm_keytable_claim(table, 0, getpid()), -FM_E_PEER);
    ck_assert_ptr_nonnull(strstr(fm_why(), "ended without MPI_Finalize"));
    /* It had finished, but what it published is still there. */
    atomic_store(&slot->phase, FM_PLACE_FINALIZED);
    atomic_store(&slot->n_entries, 1);
    ck_assert_int_eq(fm_keytable_claim(table, 0, getpid()), -FM_E_PEER);
    /* It was withdrawn by the fence of MPI_Finalize. */
    atomic_store(&slot->leaving, 4);
    atomic_store(&slot->fence, 3);
    ck_assert_int_eq(fm_keytable_claim(table, 0, getpid()), -FM_E_PEER);
    atomic_store(&slot->fence, 4);
    ck_assert_int_eq(fm_keytable_claim(table, 0, getpid()), 0);
    ck_assert_uint_eq(table->n_complete, 4);
    ck_assert_int_eq(atomic_load(&slot->claim), getpid());
    /* The same process after exec: not while it is in MPI. */
    ck_assert_int_eq(fm_keytable_claim(table, 0, getpid()), 0);
    atomic_store(&slot->phase, FM_PLACE_INIT);
    ck_assert_int_eq(fm_keytable_claim(table, 0, getpid()), -FM_E_PEER);
}
END_TEST

START_TEST(finds_what_was_put)
{
    char value[FM_KEYTABLE_VALUE_MAX];
    size_t len = sizeof(value);

    ck_assert_int_eq(fm_keytable_find(table, 1, "ofi", value, &len), FM_AGAIN);
    ck_assert_int_eq(fm_keytable_put(table, 1, "ofi", "abc", 3), 0);
    ck_assert_int_eq(fm_keytable_put(table, 1, "shm", "", 0), 0);
    ck_assert_int_eq(fm_keytable_find(table, 1, "ofi", value, &len), 0);
    ck_assert_uint_eq(len, 3);
    ck_assert_mem_eq(value, "abc", 3);
    ck_assert_int_eq(fm_keytable_find(table, 1, "shm", value, &len), 0);
    ck_assert_uint_eq(len, 0);
    len = sizeof(value);
    ck_assert_int_eq(fm_keytable_find(table, 2, "ofi", value, &len), FM_AGAIN);
    ck_assert_int_eq(fm_keytable_find(table, 1, "of", value, &len), FM_AGAIN);
    ck_assert(fm_keytable_has_entries(table, 1));
    ck_assert(!fm_keytable_has_entries(table, 2));
}
END_TEST

START_TEST(limits_hold)
{
    char big[FM_KEYTABLE_VALUE_MAX + 1] = {0};
    char name[16];
    size_t len = 2;

    ck_assert_int_eq(fm_keytable_put(table, 0, "a", big, sizeof(big)), -FM_E_INVAL);
    ck_assert_int_eq(fm_keytable_put(table, 0, "abcdefghijklmnopqrstuvwxyz", big, 1), -FM_E_INVAL);
    for (int i = 0; i < FM_KEYTABLE_KEYS; i++) {
        snprintf(name, sizeof(name), "key%d", i);
        ck_assert_int_eq(fm_keytable_put(table, 0, name, big, FM_KEYTABLE_VALUE_MAX), 0);
    }
    ck_assert_int_eq(fm_keytable_put(table, 0, "more", big, 1), -FM_E_INVAL);
    ck_assert_int_eq(fm_keytable_find(table, 0, "key3", big, &len), -FM_E_INVAL);
    ck_assert_ptr_null(fm_keytable_slot(table, 3));
    ck_assert_ptr_null(fm_keytable_slot(table, -1));
}
END_TEST

START_TEST(does_not_trust_peers)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(table, 2);
    char value[FM_KEYTABLE_VALUE_MAX];
    size_t len = sizeof(value);

    ck_assert_int_eq(fm_keytable_put(table, 2, "ofi", "abc", 3), 0);
    atomic_store(&slot->n_entries, 4000000000u);
    ck_assert_int_eq(fm_keytable_find(table, 2, "nothing", value, &len), FM_AGAIN);
    slot->entries[0].len = 1u << 30;
    ck_assert_int_eq(fm_keytable_find(table, 2, "ofi", value, &len), -FM_E_INVAL);
}
END_TEST

/* The same table as two processes see it: rank 0 leaves and returns, rank 1 and 2 look. */
START_TEST(values_are_withdrawn_by_a_fence)
{
    struct fm_keytable_place place = place_of(1);
    struct fm_keytable *peer;
    char value[8];
    size_t len = sizeof(value);

    ck_assert_int_eq(fm_keytable_map(&place, &peer), 0);
    ck_assert_int_eq(fm_keytable_put(table, 0, "ofi", "old", 3), 0);
    fm_keytable_withdraw(table, 0);
    fm_keytable_enter(table, 0);
    ck_assert_int_eq(fm_keytable_missing(table, 0), 1);
    ck_assert_int_eq(fm_keytable_find(peer, 0, "ofi", value, &len), 0);
    fm_keytable_enter(peer, 1);
    ck_assert_int_eq(fm_keytable_missing(peer, 1), 2);
    atomic_store(&fm_keytable_slot(table, 2)->fence, 1);
    ck_assert_int_eq(fm_keytable_missing(table, 0), -1);
    ck_assert_int_eq(fm_keytable_find(peer, 0, "ofi", value, &len), 0); /* still in the fence */
    ck_assert_int_eq(fm_keytable_missing(peer, 1), -1);
    ck_assert_int_eq(fm_keytable_find(peer, 0, "ofi", value, &len), FM_AGAIN);
    ck_assert(!fm_keytable_has_entries(peer, 0));
    ck_assert_int_eq(fm_keytable_put(table, 0, "ofi", "new!", 4), 0);
    len = sizeof(value);
    ck_assert_int_eq(fm_keytable_find(peer, 0, "ofi", value, &len), 0);
    ck_assert_uint_eq(len, 4);
    fm_keytable_unmap(peer);
}
END_TEST

START_TEST(ends_are_marked)
{
    atomic_store(&fm_keytable_slot(table, 1)->gone, 1); /* a stray word */
    ck_assert(!fm_keytable_is_gone(table, 1));
    fm_keytable_mark_gone(table, 1);
    ck_assert(fm_keytable_is_gone(table, 1));
}
END_TEST

/* The constants cannot be overwritten by mistake: the process that tries is killed. */
START_TEST(constants_are_read_only)
{
    struct fm_keytable_place p = place_of(1);
    struct fm_keytable *t;
    int status;
    pid_t child = fork();

    if (child == 0) {
        signal(SIGSEGV, SIG_DFL);
        if (fm_keytable_map(&p, &t) == 0) {
            ((volatile struct fm_keytable_head *)t->base)->n_ranks = 1 << 30;
        }
        _exit(0);
    }
    waitpid(child, &status, 0);
    ck_assert(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV);
}
END_TEST

START_TEST(wakes_sleepers)
{
    uint32_t seen = fm_keytable_seen(table);
    int status;
    pid_t child = fork();

    if (child == 0) {
        fm_keytable_sleep(table, seen, 20000); /* the mapping is shared */
        _exit(fm_keytable_seen(table) != seen ? 0 : 1);
    }
    fm_keytable_notify(table);
    waitpid(child, &status, 0);
    ck_assert_int_eq(WEXITSTATUS(status), 0);
    fm_keytable_sleep(table, seen, 20000); /* no longer that: at once */
}
END_TEST

int main(void)
{
    Suite *s = suite_create("keytable");
    TCase *t = tcase_create("keytable");

    tcase_add_checked_fixture(t, setup, teardown);
    tcase_set_timeout(t, 15);
    tcase_add_test(t, place_goes_through_text);
    tcase_add_test(t, refuses_other_text);
    tcase_add_test(t, maps_what_was_made);
    tcase_add_test(t, finds_table_through_launcher);
    tcase_add_test(t, refuses_what_is_no_table);
    tcase_add_test(t, refuses_wrong_page);
    tcase_add_test(t, place_is_claimed_once);
    tcase_add_test(t, finds_what_was_put);
    tcase_add_test(t, limits_hold);
    tcase_add_test(t, does_not_trust_peers);
    tcase_add_test(t, values_are_withdrawn_by_a_fence);
    tcase_add_test(t, ends_are_marked);
    tcase_add_test(t, constants_are_read_only);
    tcase_add_test(t, wakes_sleepers);
    suite_add_tcase(s, t);
    return suite_run(s);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of the PMI-1 back end against a scripted launcher, a child at the other end of a socket. */
#include "core/runtime/pm.h"

#include <check.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"

/* What the launcher says to a question that begins so; NULL: it closes the socket. */
struct line {
    const char *question;
    const char *answer;
};

static const struct line good[] = {
    {"cmd=init pmi_version=1", "cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n"},
    {"cmd=get_maxes", "cmd=maxes kvsname_max=256 keylen_max=64 vallen_max=1024\n"},
    {"cmd=get_my_kvsname", "cmd=my_kvsname kvsname=kvs_1_0\n"},
    {"cmd=get_universe_size", "cmd=universe_size size=8 rc=0\n"},
    {"cmd=get_appnum", "cmd=appnum appnum=2 rc=0\n"},
    {"cmd=get kvsname=kvs_1_0 key=PMI_process_mapping",
     "cmd=get_result rc=0 msg=success value=(vector,(0,2,2),(2,1,1))\n"},
    {"cmd=put kvsname=kvs_1_0 key=1-ofi value=0aff00\n", "cmd=put_result rc=0 msg=success\n"},
    {"cmd=put", "cmd=put_result rc=-1 msg=no_room\n"},
    {"cmd=get kvsname=kvs_1_0 key=3-ofi", "cmd=get_result rc=0 msg=success value=0aff00\n"},
    {"cmd=get kvsname=kvs_1_0 key=4-ofi", "cmd=get_result rc=0 msg=success value=0afz\n"},
    {"cmd=get kvsname=kvs_2_0 key=3-ofi", "cmd=get_result rc=0 msg=success value=77\n"},
    {"cmd=get", "cmd=get_result rc=-1 msg=key_not_found value=unknown\n"},
    {"cmd=barrier_in", "cmd=barrier_out\n"},
    {"cmd=finalize", "cmd=finalize_ack\n"},
};

static pid_t launcher;

static void play(int fd, const struct line *script, size_t n)
{
    FILE *f = fdopen(fd, "r+");
    char question[4096];

    setvbuf(f, NULL, _IONBF, 0);
    while (fgets(question, sizeof(question), f)) {
        size_t i = 0;

        while (i < n && strncmp(question, script[i].question, strlen(script[i].question)) != 0) {
            i++;
        }
        if (i == n || !script[i].answer) {
            _exit(0);
        }
        fputs(script[i].answer, f);
    }
    _exit(0);
}

static int open_with(const struct line *script, size_t n, struct fm_pm **out_pm)
{
    char text[16];
    int socks[2];
    int rc;

    ck_assert_int_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, socks), 0);
    launcher = fork();
    if (launcher == 0) {
        close(socks[0]);
        play(socks[1], script, n);
    }
    close(socks[1]);
    snprintf(text, sizeof(text), "%d", socks[0]);
    setenv("PMI_FD", text, 1);
    setenv("PMI_RANK", "1", 1);
    setenv("PMI_SIZE", "5", 1);
    unsetenv("FATHOM_PMI_RANK_PID");
    rc = fm_pm_pmi1_open(out_pm);
    if (rc) {
        close(socks[0]);
    }
    return rc;
}

static void end_launcher(void)
{
    waitpid(launcher, NULL, 0);
}

START_TEST(goes_through_a_life)
{
    static const int nodes[] = {0, 0, 1, 1, 2};
    static const unsigned char bytes[] = {0x0a, 0xff, 0x00};
    /* Of this job, of another one of the same launcher, and of one that no PMI job is. */
    static const struct fm_pm_proc procs[] = {{"pmi-kvs_1_0", 3},
                                              {"pmi-kvs_1_0", 4},
                                              {"pmi-kvs_1_0", 0},
                                              {"pmi-kvs_2_0", 3},
                                              {"other", 3}};
    unsigned char value[FM_PM_VALUE_MAX];
    size_t len = sizeof(value);
    struct fm_pm *pm;

    ck_assert_int_eq(open_with(good, FM_ARRAY_LEN(good), &pm), 0);
    ck_assert_int_eq(pm->rank, 1);
    ck_assert_int_eq(pm->size, 5);
    ck_assert_int_eq(pm->universe_size, 8);
    ck_assert_int_eq(pm->appnum, 2);
    ck_assert_int_eq(pm->local_rank, 1);
    ck_assert_int_eq(pm->n_local, 2);
    ck_assert_mem_eq(pm->node_of, nodes, sizeof(nodes));
    ck_assert(pm->needs_fence);
    ck_assert_int_eq(pm->ops->put(pm, "ofi", bytes, 3), 0);
    ck_assert_int_eq(pm->ops->put(pm, "shm", bytes, 3), -FM_E_NOENT);
    ck_assert_int_eq(pm->ops->put(pm, "big", value, 512), -FM_E_INVAL);
    ck_assert_int_eq(pm->ops->fence(pm, NULL, NULL), 0);
    ck_assert_int_eq(pm->ops->get(pm, &procs[0], "ofi", value, &len), 0);
    ck_assert_uint_eq(len, 3);
    ck_assert_mem_eq(value, bytes, 3);
    len = 2;
    ck_assert_int_eq(pm->ops->get(pm, &procs[0], "ofi", value, &len), -FM_E_PROTO);
    len = sizeof(value);
    ck_assert_int_eq(pm->ops->get(pm, &procs[1], "ofi", value, &len), -FM_E_PROTO);
    ck_assert_int_eq(pm->ops->get(pm, &procs[2], "ofi", value, &len), -FM_E_NOENT);
    ck_assert_int_eq(pm->ops->get(pm, &procs[3], "ofi", value, &len), 0);
    ck_assert_uint_eq(value[0], 0x77);
    ck_assert_int_eq(pm->ops->get(pm, &procs[4], "ofi", value, &len), -FM_E_NOENT);
    ck_assert_int_eq(pm->ops->finished(pm), 0);
    pm->ops->close(pm);
    end_launcher();
    /* And not again. */
    ck_assert_int_eq(open_with(good, FM_ARRAY_LEN(good), &pm), -FM_E_UNSUPPORTED);
    end_launcher();
}
END_TEST

START_TEST(is_not_for_others)
{
    struct fm_pm *pm;

    unsetenv("PMI_FD");
    ck_assert_int_eq(fm_pm_pmi1_open(&pm), FM_AGAIN);
    setenv("PMI_FD", "900", 1);
    setenv("PMI_RANK", "0", 1);
    setenv("PMI_SIZE", "1", 1);
    ck_assert_int_eq(fm_pm_pmi1_open(&pm), FM_AGAIN);
    setenv("PMI_SIZE", "2", 1);
    setenv("FATHOM_PMI_RANK_PID", "1", 1); /* a process that a rank has started */
    ck_assert_int_eq(fm_pm_pmi1_open(&pm), FM_AGAIN);
    unsetenv("FATHOM_PMI_RANK_PID");
}
END_TEST

START_TEST(bad_environments)
{
    static const struct {
        const char *fd, *rank, *size, *why;
    } rows[] = {
        {"0", "abc", "2", "PMI_RANK is \"abc\""},
        {"0", "", "2", "PMI_RANK is \"\""},
        {"0", "2", "2", "PMI_RANK is \"2\""},
        {"0", "-1", "2", "PMI_RANK is \"-1\""},
        {"0", "4294967296", "2", "PMI_RANK is"},
        {"0", "0", "2x", "PMI_SIZE is \"2x\""},
        {"900", "0", "2", "PMI_FD is \"900\", which is no open socket"},
        {"x", "0", "2", "PMI_FD is \"x\""},
    };
    struct fm_pm *pm;

    for (size_t i = 0; i < FM_ARRAY_LEN(rows); i++) {
        setenv("PMI_FD", rows[i].fd, 1);
        setenv("PMI_RANK", rows[i].rank, 1);
        setenv("PMI_SIZE", rows[i].size, 1);
        ck_assert_msg(fm_pm_pmi1_open(&pm) == -FM_E_INVAL, "row %zu", i);
        ck_assert_msg(strstr(fm_why(), rows[i].why), "row %zu: %s", i, fm_why());
    }
}
END_TEST

static int put_without_launcher(void)
{
    struct fm_pm *pm;

    signal(SIGPIPE, SIG_DFL);
    if (open_with(good, FM_ARRAY_LEN(good), &pm) != 0) {
        return 1;
    }
    kill(launcher, SIGKILL);
    waitpid(launcher, NULL, 0);
    return pm->ops->put(pm, "ofi", "abc", 3) == -FM_E_SYSTEM ? 0 : 2;
}

/* The launcher ends between two requests: an error, not SIGPIPE. */
START_TEST(launcher_that_ends)
{
    pid_t child = fork();
    int status;

    if (child == 0) {
        _exit(put_without_launcher());
    }
    waitpid(child, &status, 0);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}
END_TEST

START_TEST(bad_launchers)
{
    static const char long_line[] = "cmd=response_to_init "
#define X "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define Y X X X X X X X X
        Y Y Y Y Y Y Y Y Y;
    static const struct {
        struct line line;
        int rc;
    } rows[] = {
        {{"cmd=init", NULL}, -FM_E_SYSTEM},
        {{"cmd=init", "cmd=other rc=0\n"}, -FM_E_PROTO},
        {{"cmd=init", "\n"}, -FM_E_PROTO},
        {{"cmd=init", "cmd=response_to_init rc=-1\n"}, -FM_E_NOENT},
        {{"cmd=init", long_line}, -FM_E_PROTO},
    };

    for (size_t i = 0; i < FM_ARRAY_LEN(rows); i++) {
        struct fm_pm *pm;
        int rc = open_with(&rows[i].line, 1, &pm);

        ck_assert_msg(rc == rows[i].rc, "row %zu: %d", i, rc);
        end_launcher();
    }
}
END_TEST

/* Slurm answers a barrier with an rc. */
START_TEST(barrier_with_a_status)
{
    static const struct {
        const char *answer;
        int rc;
    } rows[] = {{"cmd=barrier_out rc=0\n", 0},
                {"cmd=barrier_out rc=-1\n", -FM_E_NOENT},
                {"cmd=other\n", -FM_E_PROTO}};
    struct line script[FM_ARRAY_LEN(good)];

    for (size_t i = 0; i < FM_ARRAY_LEN(rows); i++) {
        struct fm_pm *pm;

        memcpy(script, good, sizeof(good));
        script[12].answer = rows[i].answer;
        ck_assert_int_eq(open_with(script, FM_ARRAY_LEN(script), &pm), 0);
        ck_assert_int_eq(pm->ops->fence(pm, NULL, NULL), rows[i].rc);
        pm->ops->close(pm);
        end_launcher();
    }
}
END_TEST

START_TEST(unknown_places)
{
    static const int nodes[] = {0, 1, 2, 3, 4};
    static const char *const mappings[] = {"(vector,(0,0,0))", "(vector,(0,-1,1))",
                                           "(vector,(-7,5,1))", "(vector,(0,99999999999,9))",
                                           "(vector,(999999999,1,5))"};
    struct line script[FM_ARRAY_LEN(good)];
    char answer[128];
    struct fm_pm *pm;

    for (size_t i = 0; i < FM_ARRAY_LEN(mappings); i++) {
        memcpy(script, good, sizeof(good));
        snprintf(answer, sizeof(answer), "cmd=get_result rc=0 msg=success value=%s\n", mappings[i]);
        script[5].answer = answer;
        ck_assert_int_eq(open_with(script, FM_ARRAY_LEN(script), &pm), 0);
        ck_assert_int_eq(pm->n_local, 1);
        ck_assert_mem_eq(pm->node_of, nodes, sizeof(nodes));
        pm->ops->close(pm);
        end_launcher();
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("pmi1");
    TCase *t = tcase_create("pmi1");

    tcase_set_timeout(t, 15);
    tcase_add_test(t, is_not_for_others);
    tcase_add_test(t, bad_environments);
    tcase_add_test(t, launcher_that_ends);
    tcase_add_test(t, bad_launchers);
    tcase_add_test(t, barrier_with_a_status);
    tcase_add_test(t, unknown_places);
    tcase_add_test(t, goes_through_a_life);
    suite_add_tcase(s, t);
    return suite_run(s);
}

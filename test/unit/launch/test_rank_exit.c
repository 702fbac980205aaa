/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of what the end of a rank means: one row per way to end. */
#include "launch/rank_exit.h"

#include <check.h>
#include <signal.h>
#include <string.h>

#include "support/suite.h"

#define EXITED(n) ((n) << 8)
#define KILLED(n) (n)

static const struct {
    struct fm_rank_end end;
    int exit_status;
    bool must_end_job;
    const char *text;
} rows[] = {
    {{EXITED(0), FM_PLACE_FINALIZED}, 0, false, ""},
    {{EXITED(3), FM_PLACE_FINALIZED}, 3, false, ""},
    {{KILLED(SIGSEGV), FM_PLACE_FINALIZED}, 139, true, "after MPI_Finalize"},
    {{EXITED(0), FM_PLACE_INIT}, 1, true, "without calling MPI_Finalize"},
    {{EXITED(3), FM_PLACE_INIT}, 3, true, "status 3 without calling MPI_Finalize"},
    {{KILLED(SIGKILL), FM_PLACE_INIT}, 137, true, "signal 9 (Killed) between MPI_Init"},
    {{EXITED(0), FM_PLACE_STARTED}, 0, false, ""},
    {{EXITED(3), FM_PLACE_STARTED}, 3, false, ""},
    {{EXITED(0), FM_PLACE_STARTED, .has_peers_in_mpi = true}, 1, true, "without calling MPI_Init"},
    {{EXITED(3), FM_PLACE_STARTED, .has_peers_in_mpi = true}, 3, true, "without calling MPI_Init"},
    {{KILLED(SIGTERM), FM_PLACE_STARTED}, 143, true, "before MPI_Init"},
    {{EXITED(7), FM_PLACE_INIT, true, 7}, 7, true, "status 7"},
    {{EXITED(0), FM_PLACE_INIT, true, 0}, 1, true, "status 0"},
    {{EXITED(0), FM_PLACE_INIT, true, 256}, 1, true, "status 256"},
    {{EXITED(0), FM_PLACE_INIT, true, -1}, 255, true, "status -1"},
    {{KILLED(SIGKILL), FM_PLACE_INIT, true, 5}, 5, true, "status 5"},
};

START_TEST(table)
{
    for (size_t i = 0; i < FM_ARRAY_LEN(rows); i++) {
        struct fm_rank_exit v;

        fm_rank_exit_of(&rows[i].end, &v);
        ck_assert_msg(v.exit_status == rows[i].exit_status, "row %zu: %d", i, v.exit_status);
        ck_assert_msg(v.must_end_job == rows[i].must_end_job, "row %zu", i);
        ck_assert_msg(strstr(v.text, rows[i].text), "row %zu: %s", i, v.text);
        ck_assert_msg((v.text[0] == '\0') == (rows[i].text[0] == '\0'), "row %zu: %s", i, v.text);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("rank_exit");
    TCase *t = tcase_create("rank_exit");

    tcase_add_test(t, table);
    suite_add_tcase(s, t);
    return suite_run(s);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of a Check program: run a suite. */
#pragma once

#include <check.h>
#include <stdlib.h>

/* What main() returns. */
static inline int suite_run(Suite *suite)
{
    SRunner *runner = srunner_create(suite);
    int n_failed;

    srunner_run_all(runner, CK_ENV);
    n_failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return n_failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the tests of the registry share: finding variables, opening handles, running a suite. */
#pragma once

#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "unit/mpit/fake_host.h"

#define OK(call)         ck_assert_int_eq((call), MPI_SUCCESS)
#define GIVES(call, err) ck_assert_int_eq((call), (err))

static inline int cvar_named(const char *name)
{
    int i = -1;

    OK(MPI_T_cvar_get_index(name, &i));
    return i;
}

static inline int pvar_named(const char *name, int klass)
{
    int i = -1;

    OK(MPI_T_pvar_get_index(name, klass, &i));
    return i;
}

static inline int event_named(const char *name)
{
    int i = -1;

    OK(MPI_T_event_get_index(name, &i));
    return i;
}

static inline MPI_T_cvar_handle cvar_open(const char *name)
{
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    int n;

    OK(MPI_T_cvar_handle_alloc(cvar_named(name), NULL, &h, &n));
    return h;
}

static inline MPI_T_pvar_session session_open(void)
{
    MPI_T_pvar_session s = MPI_T_PVAR_SESSION_NULL;

    OK(MPI_T_pvar_session_create(&s));
    return s;
}

static inline MPI_T_pvar_handle pvar_open(MPI_T_pvar_session s, const char *name, int klass)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int n;

    OK(MPI_T_pvar_handle_alloc(s, pvar_named(name, klass), NULL, &h, &n));
    return h;
}

static inline MPI_T_pvar_handle pvar_open_on(MPI_T_pvar_session s, const char *name, int klass,
                                             int comm, int *out_n)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    MPI_Comm c = fake_comm_handle(comm);

    OK(MPI_T_pvar_handle_alloc(s, pvar_named(name, klass), &c, &h, out_n));
    return h;
}

static inline unsigned long long pvar_u64(MPI_T_pvar_session s, MPI_T_pvar_handle h)
{
    unsigned long long v = 0;

    OK(MPI_T_pvar_read(s, h, &v));
    return v;
}

static inline void tool_begin(void)
{
    int provided = -1;

    fake_host_open();
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    ck_assert_int_eq(provided, MPI_THREAD_MULTIPLE);
}

static inline void tool_end(void)
{
    OK(MPI_T_finalize());
    GIVES(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
}

static inline Suite *suite_of(const char *name, const TTest *const *tests, int n)
{
    Suite *suite = suite_create(name);
    TCase *tc = tcase_create(name);
    int i;

    tcase_add_checked_fixture(tc, tool_begin, tool_end);
    for (i = 0; i < n; i++) {
        tcase_add_test(tc, tests[i]);
    }
    suite_add_tcase(suite, tc);
    return suite;
}

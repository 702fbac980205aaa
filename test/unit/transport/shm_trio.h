/* SPDX-License-Identifier: BSD-3-Clause */
/* Fixture: three sides of a job over shared memory in one process and one thread, step by step. */
#pragma once

#include <check.h>

#include "shm_side.h"

#define N 3

static struct side side[N];

static inline void connect_all(void)
{
    ck_assert_int_eq(sides_open(side, N), 0);
}

static inline void setup(void)
{
    for (int k = 0; k < N; k++) {
        side_init(&side[k], k, N);
    }
}

static inline void teardown(void)
{
    sides_disconnect(side, N);
    for (int k = 0; k < N; k++) {
        side_close(&side[k]);
    }
}

static inline int drain(int self)
{
    int n = 0, rc;

    while ((rc = fm_transport_poll(side[self].tp)) > 0) {
        n += rc;
    }
    ck_assert_int_eq(rc, 0);
    return n;
}

/* ---- Messages ------------------------------------------------------------------------------- */

/* SPDX-License-Identifier: BSD-3-Clause */
/* Counts the calls, and finds those that the library makes itself. */
#include "profiler.h"

#include <stdio.h>
#include <stdlib.h>

static _Thread_local const char *outer;
static _Atomic unsigned long n_calls;

void profiler_enter(const char *name)
{
    if (outer) {
        fprintf(stderr, "%s calls %s by the name that tools take over\n", outer, name);
        _Exit(1);
    }
    outer = name;
    n_calls++;
}

void profiler_leave(const char *name)
{
    (void)name;
    outer = NULL;
}

unsigned long profiler_n_calls(void)
{
    return n_calls;
}

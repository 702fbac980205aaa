/* SPDX-License-Identifier: BSD-3-Clause */
/* What the programs of test/mpi share: a check that names the place and ends the job, and random
   numbers that are the same everywhere. Includes nothing but mpi.h and libc, so that they run on
   any MPI. */
#ifndef TEST_MPI_CHECK_H
#define TEST_MPI_CHECK_H

#include <mpi.h>

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#define CHECK(cond)                                                                                \
    do {                                                                                           \
        if (!(cond)) {                                                                             \
            fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #cond);                   \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

#define CHECK_EQ(a, b)                                                                             \
    do {                                                                                           \
        long long check_a = (long long)(a), check_b = (long long)(b);                              \
        if (check_a != check_b) {                                                                  \
            fprintf(stderr, "%s:%d: %s is %lld, expected %s = %lld\n", __FILE__, __LINE__, #a,     \
                    check_a, #b, check_b);                                                         \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* A call that must succeed, with errors returned or fatal. */
#define OK(call) CHECK_EQ((call), MPI_SUCCESS)

/* A call that must fail with this error class (MPI_ERRORS_RETURN must be set on its object). */
#define FAILS(call, klass)                                                                         \
    do {                                                                                           \
        int check_code = (call), check_class = -1;                                                 \
        MPI_Error_class(check_code, &check_class);                                                 \
        if (check_class != (klass)) {                                                              \
            fprintf(stderr, "%s:%d: %s gave class %d, expected %s (%d)\n", __FILE__, __LINE__,     \
                    #call, check_class, #klass, (int)(klass));                                     \
            MPI_Abort(MPI_COMM_WORLD, 1);                                                          \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

/* splitmix64: the state may be any number. */
static inline uint64_t next_random(uint64_t *state)
{
    uint64_t z = (*state += UINT64_C(0x9e3779b97f4a7c15));

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

static inline int random_below(uint64_t *state, int n)
{
    return (int)(next_random(state) % (uint64_t)n);
}

#endif

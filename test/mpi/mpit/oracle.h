/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * For programs that count on their own what they do, and hold the library's variables against that.
 * oracle_open() starts a handle on every variable that is bound to nothing; mark() begins a
 * stretch, same("name", n) says that the variable has grown by exactly n since. Includes nothing
 * but mpi.h.
 */
#ifndef TEST_MPI_MPIT_ORACLE_H
#define TEST_MPI_MPIT_ORACLE_H

#include "../../support/oracle_log.h"
#include "../check.h"

#include <string.h>

#define ORACLE_MAX   1000
#define ORACLE_ITEMS 64

typedef unsigned long long ull;

struct oracle_var {
    char name[64];
    MPI_T_pvar_handle handle;
    int klass, count, is_int;
    ull before[ORACLE_ITEMS];
};
static struct oracle_var oracle_vars[ORACLE_MAX];
static int oracle_n;
static MPI_T_pvar_session oracle_session;

static inline void oracle_read(struct oracle_var *v, ull *out)
{
    int state;

    if (v->is_int) {
        OK(PMPI_T_pvar_read(oracle_session, v->handle, &state));
        out[0] = (ull)(long long)state;
    } else {
        OK(PMPI_T_pvar_read(oracle_session, v->handle, out));
    }
}

static inline void oracle_open(void)
{
    int provided, n, bind, len, continuous;
    MPI_Datatype type;

    OK(PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(PMPI_T_pvar_session_create(&oracle_session));
    OK(PMPI_T_pvar_get_num(&n));
    CHECK(n < ORACLE_MAX);
    for (int i = 0; i < n; i++) {
        struct oracle_var *v = &oracle_vars[oracle_n];

        len = sizeof(v->name);
        OK(PMPI_T_pvar_get_info(i, v->name, &len, NULL, &v->klass, &type, NULL, NULL, NULL, &bind,
                                NULL, &continuous, NULL));
        if (bind != MPI_T_BIND_NO_OBJECT) {
            continue;
        }
        OK(PMPI_T_pvar_handle_alloc(oracle_session, i, NULL, &v->handle, &v->count));
        CHECK(v->count <= ORACLE_ITEMS);
        v->is_int = type == MPI_INT;
        /* progress_time makes the library look at the clock: not here, where looks are counted and
           the clock may jump between them (it is compared in test_p2p_waits.c). */
        if (!continuous && strcmp(v->name, "progress_time") != 0) {
            OK(PMPI_T_pvar_start(oracle_session, v->handle));
        }
        oracle_n++;
    }
}

static inline void oracle_close(void)
{
    OK(PMPI_T_pvar_session_free(&oracle_session));
    OK(PMPI_T_finalize());
}

/* A new stretch; watermarks begin at what holds now. */
static inline void mark(void)
{
    for (int i = 0; i < oracle_n; i++) {
        struct oracle_var *v = &oracle_vars[i];

        if (v->klass == MPI_T_PVAR_CLASS_HIGHWATERMARK ||
            v->klass == MPI_T_PVAR_CLASS_LOWWATERMARK) {
            OK(PMPI_T_pvar_reset(oracle_session, v->handle));
        }
        oracle_read(v, v->before);
    }
}

static inline struct oracle_var *oracle_find(const char *name)
{
    for (int i = 0; i < oracle_n; i++) {
        if (strcmp(oracle_vars[i].name, name) == 0) {
            return &oracle_vars[i];
        }
    }
    fprintf(stderr, "no variable %s\n", name);
    CHECK(!"a name that the library has");
    return NULL;
}

/* As it is now. */
static inline ull value(const char *name, int item)
{
    struct oracle_var *v = oracle_find(name);
    ull now[ORACLE_ITEMS];

    CHECK(item < v->count);
    oracle_read(v, now);
    return now[item];
}

/* A share, as value() gives it. */
static inline ull share_of(double part, double whole)
{
    double share = part / whole;
    ull bits;

    memcpy(&bits, &share, sizeof(bits));
    return bits;
}

/* What came since mark(). */
static inline ull since(const char *name, int item)
{
    return value(name, item) - oracle_find(name)->before[item];
}

static inline void oracle_differs(const char *file, int line, const char *name, int item, ull is,
                                  const char *how, ull should)
{
    fprintf(stderr, "%s:%d: %s[%d] is %llu, must be %s %llu\n", file, line, name, item, is, how,
            should);
    CHECK(!"the library's count is the oracle's");
}

#define ORACLE(name, item, is, op, should)                                                         \
    do {                                                                                           \
        ull oracle_is = (is), oracle_should = (ull)(should);                                       \
        oracle_log(name);                                                                          \
        if (!(oracle_is op oracle_should)) {                                                       \
            oracle_differs(__FILE__, __LINE__, name, item, oracle_is, #op, oracle_should);         \
        }                                                                                          \
    } while (0)

/* Counters and the like since mark(); levels, watermarks and states as they are now. */
#define same(name, should)            ORACLE(name, 0, since(name, 0), ==, should)
#define same_item(name, item, should) ORACLE(name, item, since(name, item), ==, should)
#define at_least(name, should)        ORACLE(name, 0, since(name, 0), >=, should)
#define at_most(name, should)         ORACLE(name, 0, since(name, 0), <=, should)
#define now_is(name, should)          ORACLE(name, 0, value(name, 0), ==, should)
#define now_is_share(name, part, whole)                                                            \
    ORACLE(name, 0, value(name, 0), ==, share_of((double)(part), (double)(whole)))
#define now_is_at_most(name, should)  ORACLE(name, 0, value(name, 0), <=, should)
#define now_is_at_least(name, should) ORACLE(name, 0, value(name, 0), >=, should)

#endif

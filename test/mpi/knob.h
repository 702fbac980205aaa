/* SPDX-License-Identifier: BSD-3-Clause */
/* Control variables and counters of a library, where it has them: with another one these do
   nothing. */
#ifndef TEST_MPI_KNOB_H
#define TEST_MPI_KNOB_H

#include "check.h"

/* Set a control variable that is bound to nothing. 0: there is none of that name. */
static inline int knob(const char *variable, unsigned long long value)
{
    MPI_T_cvar_handle handle;
    MPI_Datatype type;
    int index, count, number = (int)value;

    if (MPI_T_cvar_get_index(variable, &index) != MPI_SUCCESS) {
        return 0;
    }
    OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, &type, NULL, NULL, NULL, NULL, NULL));
    OK(MPI_T_cvar_handle_alloc(index, NULL, &handle, &count));
    OK(MPI_T_cvar_write(handle, type == MPI_INT ? (void *)&number : (void *)&value));
    OK(MPI_T_cvar_handle_free(&handle));
    return 1;
}

/* A counter that is bound to nothing, from now on. */
struct gauge {
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle; /* MPI_T_PVAR_HANDLE_NULL: there is none of that name */
};

static inline struct gauge gauge_open(const char *variable)
{
    struct gauge g = {.handle = MPI_T_PVAR_HANDLE_NULL};
    int index, count;

    if (MPI_T_pvar_get_index(variable, MPI_T_PVAR_CLASS_COUNTER, &index) == MPI_SUCCESS) {
        OK(MPI_T_pvar_session_create(&g.session));
        OK(MPI_T_pvar_handle_alloc(g.session, index, NULL, &g.handle, &count));
        OK(MPI_T_pvar_start(g.session, g.handle));
    }
    return g;
}

static inline int gauge_is_there(const struct gauge *g)
{
    return g->handle != MPI_T_PVAR_HANDLE_NULL;
}

static inline unsigned long long gauge_read(const struct gauge *g)
{
    unsigned long long value = 0;

    if (gauge_is_there(g)) {
        OK(MPI_T_pvar_read(g->session, g->handle, &value));
    }
    return value;
}

static inline void gauge_close(struct gauge *g)
{
    if (gauge_is_there(g)) {
        OK(MPI_T_pvar_session_free(&g->session));
    }
}

#endif

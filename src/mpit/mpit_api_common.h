/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files mpit_api_* share: mpi.h with its names visible, and how they are defined.
 *
 * Each function is the strong PMPI_x with one alias line that makes the weak MPI_x, so a tool may
 * replace MPI_x and call PMPI_x. No function calls another of the standard.
 */
#pragma once

#pragma GCC visibility push(default)
#include <mpi.h>
#pragma GCC visibility pop

#include "mpit/mpit_live.h"

#define FM_T_WEAK(name) extern __typeof__(P##name) name __attribute__((weak, alias("P" #name)))

/* Every function of the chapter but MPI_T_init_thread says this first (MPI-5.0 15.3.4). */
#define FM_T_NEED_READY()                                                                          \
    do {                                                                                           \
        if (__builtin_expect(!fm_t_is_ready(), 0)) {                                               \
            return MPI_T_ERR_NOT_INITIALIZED;                                                      \
        }                                                                                          \
    } while (0)

/* The same for functions that take locks or memory: not in a callback that runs in a signal handler
   (15.3.8.2). Those of the table there use FM_T_NEED_READY. */
#define FM_T_NEED_LOCKS()                                                                          \
    do {                                                                                           \
        FM_T_NEED_READY();                                                                         \
        if (fm_t_event_context() >= FATHOM_SAFE_SIGNAL) {                                          \
            return MPI_T_ERR_NOT_ACCESSIBLE;                                                       \
        }                                                                                          \
    } while (0)

/* Hand out a string by the convention of MPI-5.0 15.3.3. */
void fm_t_string(const char *text, char *buf, int *len);

/* The same for NULL-able outputs of other types. */
#define FM_T_PUT(ptr, value)                                                                       \
    do {                                                                                           \
        if (ptr) {                                                                                 \
            *(ptr) = (value);                                                                      \
        }                                                                                          \
    } while (0)

MPI_Datatype fm_t_datatype(enum fathom_type type);

/* 0, or FM_T_INVALID (15.3.10 knows no code for infos): may `info` be used as hints? */
int fm_t_info_check(MPI_Info info);
/* A new info object with these keys; MPI_INFO_NULL where the host has no info objects. */
int fm_t_info_create(MPI_Info *out_info, int n, const char *const *keys, const char *const *values);

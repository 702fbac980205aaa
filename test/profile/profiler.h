/* SPDX-License-Identifier: BSD-3-Clause */
/* A profiling library as MPI-5.0 15.2 has it in mind: wrappers that gen_profiler.py prints. */
#pragma once

typedef void (*profiler_fn)(void);

/* Both names of a function, as the program that the table is linked into sees them. */
struct profiler_name {
    const char *name;
    profiler_fn mpi, pmpi;
};
extern const struct profiler_name profiler_names[]; /* ends with name NULL */

/* Around each call. A call within a call was made by the library: said on stderr, and the process
   ends with status 1. */
void profiler_enter(const char *name);
void profiler_leave(const char *name);

/* Calls of all functions until now. */
unsigned long profiler_n_calls(void);

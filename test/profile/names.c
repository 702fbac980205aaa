/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The names of the profiling interface (MPI-5.0 15.2.1): linked against a profiling library, a
 * program gets that library's MPI_x and ours for the rest, and all of ours by PMPI_x.
 *
 * usage: names all|none|NAME...   which functions are the profiler's in this link
 */
#include <mpi.h>

#include <stdio.h>
#include <string.h>

#include "profiler.h"

static int n_faults;

static void expect(int is_so, const char *name, const char *what)
{
    if (!is_so) {
        fprintf(stderr, "%s: %s\n", name, what);
        n_faults++;
    }
}

static int is_replaced(int argc, char **argv, const char *name)
{
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "all") == 0 || strcmp(argv[i], name) == 0) {
            return 1;
        }
    }
    return 0;
}

/* How many of the program's own calls the profiler has to have seen. */
static unsigned long call_some(int argc, char **argv)
{
    static const char *const called[] = {"MPI_T_init_thread", "MPI_T_cvar_get_num",
                                         "MPI_T_finalize"};
    unsigned long n_seen = 0;
    int n;

    expect(MPI_T_init_thread(MPI_THREAD_SINGLE, &n) == MPI_SUCCESS, called[0], "fails");
    expect(MPI_T_cvar_get_num(&n) == MPI_SUCCESS && n > 0, called[1], "fails");
    expect(PMPI_T_cvar_get_num(&n) == MPI_SUCCESS && n > 0, called[1], "fails as PMPI_");
    expect(MPI_T_finalize() == MPI_SUCCESS, called[2], "fails");
    for (int i = 0; i < 3; i++) {
        n_seen += (unsigned long)is_replaced(argc, argv, called[i]);
    }
    return n_seen;
}

int main(int argc, char **argv)
{
    unsigned long n_seen = call_some(argc, argv);
    const struct profiler_name *f;

    expect(profiler_n_calls() == n_seen, "profiler", "has seen other calls than were made");
    for (f = profiler_names; f->name; f++) {
        expect(f->mpi && f->pmpi, f->name, "has not both names");
        expect((f->mpi != f->pmpi) == is_replaced(argc, argv, f->name), f->name,
               "is not whose it should be");
    }
    expect(f - profiler_names >= 51, "table", "is too short");
    return n_faults ? 1 : 0;
}

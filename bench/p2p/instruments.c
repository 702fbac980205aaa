/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to be watched: an 8-byte ping-pong in turns without any MPI_T handle and with a
 * started handle on every performance variable that needs no object.
 */
#include "../harness/bench.h"

enum { N_TURNS = 40, N = 4000 };

static double pingpong(int rank)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return pingpong_ns(rank, N);
}

static int watch(MPI_T_pvar_session session)
{
    int n, n_handles = 0;

    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        int name_len = 0, verbosity, class, binding, is_readonly, is_continuous, is_atomic, count;
        MPI_T_pvar_handle handle;
        MPI_Datatype type;
        MPI_T_enum values;

        if (MPI_T_pvar_get_info(i, NULL, &name_len, &verbosity, &class, &type, &values, NULL, NULL,
                                &binding, &is_readonly, &is_continuous, &is_atomic) ||
            binding != MPI_T_BIND_NO_OBJECT ||
            MPI_T_pvar_handle_alloc(session, i, NULL, &handle, &count)) {
            continue;
        }
        n_handles++;
        if (!is_continuous) {
            MPI_T_pvar_start(session, handle);
        }
    }
    return n_handles;
}

int main(int argc, char **argv)
{
    double off[N_TURNS], on[N_TURNS];
    int rank, provided, n_handles = 0;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    pingpong(rank);
    for (int t = 0; t < N_TURNS; t++) {
        MPI_T_pvar_session session;

        off[t] = pingpong(rank);
        MPI_T_pvar_session_create(&session);
        n_handles = watch(session);
        on[t] = pingpong(rank);
        MPI_T_pvar_session_free(&session);
    }
    if (rank == 0) {
        report("instruments_off", 8, quiet(off, N_TURNS), "ns");
        report("instruments_on", 8, quiet(on, N_TURNS), "ns");
        report("instruments", 8, n_handles, "handles");
    }
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}

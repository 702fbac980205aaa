/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * A tool to be compiled with a benchmark program, by PMPI. BENCH_TOOL says what it does in
 * MPI_Init: handles starts one on every performance variable (bound ones for MPI_COMM_WORLD), event
 * counts an event that every eager message raises; else nothing.
 */
#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static unsigned long long n_events;

static void count(MPI_T_event_instance instance, MPI_T_event_registration registration,
                  MPI_T_cb_safety safety, void *user_data)
{
    n_events++;
}

static void start_all(void)
{
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handle;
    MPI_Comm world = MPI_COMM_WORLD;
    int n, bind, continuous, elements;

    PMPI_T_pvar_session_create(&session);
    PMPI_T_pvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        PMPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL,
                             &continuous, NULL);
        if (PMPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &world : NULL,
                                     &handle, &elements) != MPI_SUCCESS ||
            (!continuous && PMPI_T_pvar_start(session, handle) != MPI_SUCCESS)) {
            fprintf(stderr, "variable %d cannot be started\n", i);
            exit(1);
        }
    }
}

static void count_messages(void)
{
    MPI_T_event_registration registration;
    int index;

    if (PMPI_T_event_get_index("p2p_eager_event", &index) != MPI_SUCCESS ||
        PMPI_T_event_handle_alloc(index, NULL, MPI_INFO_NULL, &registration) != MPI_SUCCESS ||
        PMPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
                                       MPI_INFO_NULL, NULL, count) != MPI_SUCCESS) {
        fprintf(stderr, "the event cannot be counted\n");
        exit(1);
    }
}

int MPI_Init(int *argc, char ***argv)
{
    const char *tool = getenv("BENCH_TOOL");
    int provided, rc = PMPI_Init(argc, argv);

    if (tool && *tool) {
        PMPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    }
    if (tool && strcmp(tool, "handles") == 0) {
        start_all();
    } else if (tool && strcmp(tool, "event") == 0) {
        count_messages();
    }
    return rc;
}

int MPI_Finalize(void)
{
    const char *tool = getenv("BENCH_TOOL");

    if (tool && strcmp(tool, "event") == 0 && n_events == 0) {
        fprintf(stderr, "no event was counted\n");
        exit(1);
    }
    return PMPI_Finalize();
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What it costs to be watched: 8-byte ping-pong and message rate in turns without a tool (off),
 * with a started handle on every performance variable, bound ones for MPI_COMM_WORLD (on), and with
 * a callback that counts every message (event). Where jobs take turns the values of each turn are
 * printed, its number in the place of the parameter, so that they can be compared one by one.
 */
#include "../harness/bench.h"

enum { N_TURNS = 30, N = 3000, WINDOW = 64, ROUNDS = 100 };
enum { OFF, ON, EVENT, N_TOOLS };

static MPI_T_pvar_session session;
static MPI_T_event_registration registration;
static int n_handles, event;
static unsigned long long n_events;

static double pingpong(int rank)
{
    MPI_Barrier(MPI_COMM_WORLD);
    return pingpong_ns(rank, N);
}

/* The rates in nanoseconds a message. Rank 1 has received them all. */
static double since(int rank, double began)
{
    if (rank == 1) {
        MPI_Send(NULL, 0, MPI_BYTE, 0, 2, MPI_COMM_WORLD);
    } else {
        MPI_Recv(NULL, 0, MPI_BYTE, 1, 2, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
    return (now_ns() - began) / ROUNDS / WINDOW;
}

static double blocking(int rank)
{
    char bytes[8] = "";
    double began;

    MPI_Barrier(MPI_COMM_WORLD);
    began = now_ns();
    for (int i = 0; i < ROUNDS * WINDOW; i++) {
        if (rank == 0) {
            MPI_Send(bytes, 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD);
        } else {
            MPI_Recv(bytes, 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
    }
    return since(rank, began);
}

static double windows(int rank)
{
    static char buf[WINDOW][8];
    MPI_Request requests[WINDOW];
    double began;

    MPI_Barrier(MPI_COMM_WORLD);
    began = now_ns();
    for (int r = 0; r < ROUNDS; r++) {
        for (int i = 0; i < WINDOW; i++) {
            if (rank == 0) {
                MPI_Isend(buf[i], 8, MPI_BYTE, 1, 1, MPI_COMM_WORLD, &requests[i]);
            } else {
                MPI_Irecv(buf[i], 8, MPI_BYTE, 0, 1, MPI_COMM_WORLD, &requests[i]);
            }
        }
        MPI_Waitall(WINDOW, requests, MPI_STATUSES_IGNORE);
    }
    return since(rank, began);
}

static const struct figure {
    const char *name;
    double (*measure)(int rank);
    int is_rate;
} figures[] = {{"", pingpong, 0}, {"_rate", windows, 1}, {"_blocking", blocking, 1}};
enum { N_FIGURES = sizeof(figures) / sizeof(*figures) };

static void tell(const struct figure *f, const char *tool, double *ns)
{
    const char *unit = f->is_rate ? "M/s" : "ns";
    char name[64];
    double v;

    snprintf(name, sizeof(name), "instruments%s_%s", f->name, tool);
    for (int t = 0; turns.number && t < N_TURNS; t++) {
        report(name, t, f->is_rate ? 1e3 / ns[t] : ns[t], unit);
    }
    if (!turns.number) {
        v = quiet(ns, N_TURNS);
        report(name, 8, f->is_rate ? 1e3 / v : v, unit);
    }
}

static void need(int is_done, const char *what)
{
    if (!is_done) {
        fprintf(stderr, "%s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* ---- the tools ---- */

static void count(MPI_T_event_instance instance, MPI_T_event_registration from,
                  MPI_T_cb_safety safety, void *user_data)
{
    n_events++;
}

static void start_handle(int i)
{
    int bind, continuous, elements;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle handle;

    MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, &continuous,
                        NULL);
    if (bind != MPI_T_BIND_NO_OBJECT && bind != MPI_T_BIND_MPI_COMM) {
        return;
    }
    need(MPI_T_pvar_handle_alloc(session, i, bind == MPI_T_BIND_MPI_COMM ? &world : NULL, &handle,
                                 &elements) == MPI_SUCCESS &&
             (continuous || MPI_T_pvar_start(session, handle) == MPI_SUCCESS),
         "a variable cannot be started");
    n_handles++;
}

static void begin(int tool)
{
    int n;

    if (tool == ON) {
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_get_num(&n);
        n_handles = 0;
        for (int i = 0; i < n; i++) {
            start_handle(i);
        }
    } else if (tool == EVENT) {
        need(MPI_T_event_handle_alloc(event, NULL, MPI_INFO_NULL, &registration) == MPI_SUCCESS &&
                 MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE,
                                               MPI_INFO_NULL, NULL, count) == MPI_SUCCESS,
             "the event cannot be counted");
    }
}

static void end(int tool)
{
    if (tool == ON) {
        MPI_T_pvar_session_free(&session);
    } else if (tool == EVENT) {
        MPI_T_event_handle_free(registration, NULL, NULL);
    }
}

int main(int argc, char **argv)
{
    static const char *const names[] = {"off", "on", "event"};
    static double ns[N_FIGURES][N_TOOLS][N_TURNS];
    int rank, provided, n_tools;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    n_tools = argc > 1 ? atoi(argv[1]) : N_TOOLS; /* 1: a library without instruments */
    need(n_tools < N_TOOLS || MPI_T_event_get_index("p2p_eager_event", &event) == MPI_SUCCESS,
         "there is no event of messages");
    for (int t = 0; t < N_TURNS; t++) {
        take_turn();
        for (int tool = 0; tool < n_tools; tool++) {
            begin(tool);
            windows(rank); /* what others, or begin(), have left in the caches is not ours */
            for (int f = 0; f < N_FIGURES; f++) {
                ns[f][tool][t] = figures[f].measure(rank);
            }
            end(tool);
        }
        MPI_Barrier(MPI_COMM_WORLD);
        if (rank == 0) {
            pass_turn();
        }
    }
    need(n_tools < N_TOOLS || rank == 1 || n_events > 0, "no event was counted");
    for (int f = 0; f < N_FIGURES && rank == 0; f++) {
        for (int tool = 0; tool < n_tools; tool++) {
            tell(&figures[f], names[tool], ns[f][tool]);
        }
    }
    if (rank == 0 && n_tools > 1) {
        report("instruments", 8, n_handles, "handles");
    }
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A job queue that is no MPI, with variables that MPI tools can read: a control variable, a
   counter, a level with its highest value, a timer and an event. Build: cc embed.c $(pkg-config
   --cflags --libs fathom_mpit). Try JOBQ_QUEUE_LIMIT=3 ./a.out, or JOBQ_QUEUE_LIMIT=many. */
#include <fathom/mpit.h>
#include <mpi.h>
#include <stdio.h>

static struct words {                         /* what the queue writes as it works */
    uint64_t limit, n_done, busy_ns, on_full; /* cvar, counter, timer, is the event wanted? */
    struct fathom_level depth;                /* level and watermark */
} * q;
#define AT(member) .at = offsetof(struct words, member)

/* clang-format off */
static const struct fathom_cvar cvars[] = {
    {.name = "queue_limit", .desc = "Jobs that may wait; raise it when queue_full is frequent.",
     .type = FATHOM_UNSIGNED, .scope = FATHOM_SCOPE_LOCAL, AT(limit), .def = 8, .min = 1, .max = 9},
};
static const struct fathom_pvar pvars[] = {
    {.name = "queue_done", .desc = "Jobs that were done.", .klass = FATHOM_COUNTER, AT(n_done)},
    {.name = "queue_busy", .desc = "Time in it.", .unit = "ns", .klass = FATHOM_TIMER, AT(busy_ns)},
    {.name = "queue_depth", .desc = "Jobs that wait.", .klass = FATHOM_LEVEL, AT(depth)},
    {.name = "queue_high", .desc = "Most that waited.", .klass = FATHOM_HIGHWATERMARK, AT(depth)},
};
static const struct fathom_event_item full_data[] = {
    {.name = "job", .desc = "Number of the job that was turned away.", .type = FATHOM_INT}};
static const struct fathom_event events[] = {
    {.name = "queue_full", .desc = "A job found the queue full.", AT(on_full),
     .data = full_data, .n_data = 1},
};
static const struct fathom_table table = {
    .room = "queue", .block_len = sizeof(struct words), .cvars = cvars, .n_cvars = 1,
    .pvars = pvars, .n_pvars = 4, .events = events, .n_events = 1,
};
/* clang-format on */

static void start(void)
{
    fathom_mpit_add(&table, (void **)&q);
}
static const struct fathom_host host = {.name = "jobq", .start = start};

static void put(int job)
{
    uint64_t value = (uint64_t)job;

    if (q->depth.now < q->limit) {
        fathom_level_add(&q->depth, 1);
    } else if (q->on_full) {
        fathom_mpit_emit(&events[0], q, NULL, &value);
    }
}

/* From here on: a tool, which knows MPI_T alone. */
static void on_full(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                    void *user_data)
{
    int job;

    MPI_T_event_read(in, 0, &job);
    printf("job %d was turned away\n", job);
}

int main(void)
{
    MPI_T_event_registration reg;
    MPI_T_pvar_session session;
    MPI_T_pvar_handle handles[64];
    int i, n, klass, count, len;
    unsigned long long value;
    char name[64];
    uint64_t began;

    fathom_mpit_host(&host);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &n);
    MPI_T_event_get_index("queue_full", &i);
    MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &reg);
    MPI_T_event_register_callback(reg, MPI_T_CB_REQUIRE_MPI_RESTRICTED, MPI_INFO_NULL, 0, on_full);
    MPI_T_pvar_session_create(&session);
    MPI_T_pvar_get_num(&n);
    for (i = 0; i < n; i++) {
        MPI_T_pvar_handle_alloc(session, i, NULL, &handles[i], &count);
    }
    MPI_T_pvar_start(session, MPI_T_PVAR_ALL_HANDLES);
    for (i = 0; i < 10; i++) {
        put(i);
    }
    for (began = fathom_mpit_clock(); q->depth.now > 1; q->n_done++) {
        fathom_level_add(&q->depth, -1);
    }
    q->busy_ns += fathom_mpit_clock() - began;
    for (i = 0; i < n; i++) {
        len = sizeof(name);
        MPI_T_pvar_get_info(i, name, &len, NULL, &klass, 0, 0, 0, 0, 0, 0, 0, 0);
        MPI_T_pvar_read(session, handles[i], &value);
        printf("%-20s class %-2d %llu\n", name, klass, value);
    }
    return MPI_T_finalize();
}

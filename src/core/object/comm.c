/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicator as an object: members, counters in the page, life and end. The comm room
 * agrees on its context id.
 */
#include "core/object/comm.h"

#include <fathom/mpit.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/object/attr.h"
#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "core/object/info.h"
#include "util/status.h"

#define MAX_COMMS    (1 << 20)
#define N_PREDEFINED 8 /* room for those that no user made */
#define NO_LIMIT     (1 << 30)

/* Words of the process, one block. */
struct comm_counters {
    uint64_t eager_limit; /* control variable: what new communicators begin with */
    uint64_t coll_shm;    /* control variable: enum fm_comm_coll_shm */
    uint64_t limit;       /* control variable: see fm_comm_limit() */
    struct fathom_level live;
    uint64_t n_created, n_freed;
    uint64_t n_agreed;             /* that live and count for comm_limit */
    uint64_t on_created, on_freed; /* events */
};

#define WORD(f)    offsetof(struct comm_counters, f)
#define OF_COMM(f) FATHOM_BIND_COMM, .at = offsetof(struct fm_comm_counters, f)
#define OF_PEER(f)                                                                                 \
    FATHOM_BIND_COMM, .count = FATHOM_PER_MEMBER, .at = offsetof(struct fm_comm_peer_counters, f)
#define OF_ALL(f)                                                                                  \
    {                                                                                              \
        offsetof(struct fm_comm_peer_counters, f), FATHOM_PER_MEMBER                               \
    }

static const struct fathom_term all_sent = OF_ALL(sent.n), all_sent_bytes = OF_ALL(sent.len);
static const struct fathom_term all_recvd = OF_ALL(recvd.n), all_recvd_bytes = OF_ALL(recvd.len);

/* clang-format off */
static const struct fathom_enum_item coll_shm_items[] = {
    {FM_COMM_COLL_SHM_AUTO, "auto"}, {FM_COMM_COLL_SHM_NEVER, "never"},
    {FM_COMM_COLL_SHM_ALWAYS, "always"},
};
static const struct fathom_enum coll_shm_enum = {"coll_shm", coll_shm_items,
                                                 FM_ARRAY_LEN(coll_shm_items)};

static const struct fathom_cvar cvars[] = {
    {.name = "comm_eager_limit", .desc = "Bytes up to which messages of communicators made from "
     "now on travel with their header, below p2p_eager_limit; lower it for a communicator whose "
     "receives are late.", .unit = "bytes", .type = FATHOM_UNSIGNED_LONG_LONG,
     .scope = FATHOM_SCOPE_LOCAL, .verbosity = FATHOM_TUNER_BASIC, .bind = FATHOM_BIND_COMM,
     .at = WORD(eager_limit), .object_at = offsetof(struct fm_comm_counters, eager_limit),
     .def = NO_LIMIT, .min = 0, .max = NO_LIMIT},
    {.name = "coll_shm", .desc = "When blocking collectives of ranks on one host use memory that "
     "they share: auto for communicators that use collectives often and have more ranks than "
     "processors or at most coll_shm_spread ranks, always where all ranks can attach it, never not "
     "at all.", .type = FATHOM_INT, .scope = FATHOM_SCOPE_ALL_EQ, .verbosity = FATHOM_TUNER_BASIC,
     .bind = FATHOM_BIND_COMM, .items = &coll_shm_enum, .at = WORD(coll_shm),
     .object_at = offsetof(struct fm_comm_counters, coll_shm), .formerly = "coll_node",
     .category = "coll_shm"},
    {.name = "comm_limit", .desc = "Communicators that may be made and not yet freed, those that "
     "serve intercommunicators among them, before making another fails in all its processes; lower "
     "it to find out early where a program forgets to free them.", .unit = "comms",
     .type = FATHOM_UNSIGNED_LONG_LONG, .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_USER_DETAIL, .at = WORD(limit), .def = MAX_COMMS, .min = 0,
     .max = MAX_COMMS},
};
static const struct fathom_pvar pvars[] = {
    {.name = "comm_live", .desc = "Communicators that exist now, the predefined ones among them.",
     .unit = "comms", .klass = FATHOM_LEVEL, .at = WORD(live), .is_level = true},
    {.name = "comm_live_high", .desc = "Most communicators that existed at one time.",
     .unit = "comms", .klass = FATHOM_HIGHWATERMARK, .at = WORD(live)},
    {.name = "comm_created", .desc = "Communicators made since MPI_Init.", .unit = "comms",
     .klass = FATHOM_COUNTER, .at = WORD(n_created)},
    {.name = "comm_freed", .desc = "Communicators whose last user is gone.", .unit = "comms",
     .klass = FATHOM_COUNTER, .at = WORD(n_freed)},
    {.name = "comm_utilization", .desc = "Share of comm_limit that communicators use; it grows "
     "when a program forgets to free some.", .klass = FATHOM_PERCENTAGE,
     .verbosity = FATHOM_USER_DETAIL, .at = WORD(n_agreed), .whole_at = WORD(limit)},
    {.name = "comm_id", .desc = "Number of this communicator, unique within the process; events "
     "and the shared page name it by this number.", .klass = FATHOM_GENERIC, .bind = OF_COMM(id)},
    {.name = "comm_context", .desc = "Context id of this communicator; events of its messages have "
     "this id, those of collectives the id plus 1.", .klass = FATHOM_GENERIC,
     .bind = OF_COMM(context)},
    /* Name, class, type, binding and count are those of the example in MPI-5.0 15.3.10. */
    {.name = "MPI_T_UMQ_LENGTH", .desc = "Unexpected messages that wait for a receive in this "
     "communicator.", .unit = "messages", .klass = FATHOM_LEVEL, .type = FATHOM_INT,
     .verbosity = FATHOM_USER_BASIC, .bind = OF_COMM(umq_len), .count = 1},
    {.name = "comm_posted_length", .desc = "Posted receives that wait for a message in this "
     "communicator.", .unit = "receives", .klass = FATHOM_LEVEL, .bind = OF_COMM(prq_len)},
    {.name = "comm_sent_messages", .desc = "Messages that this process sent in this communicator.",
     .unit = "messages", .klass = FATHOM_COUNTER, .bind = FATHOM_BIND_COMM, .terms = &all_sent,
     .n_terms = 1},
    {.name = "comm_sent_bytes", .desc = "Bytes that this process sent in this communicator.",
     .unit = "bytes", .klass = FATHOM_AGGREGATE, .bind = FATHOM_BIND_COMM, .terms = &all_sent_bytes,
     .n_terms = 1},
    {.name = "comm_received_messages", .desc = "Messages that this process received in this "
     "communicator.", .unit = "messages", .klass = FATHOM_COUNTER, .bind = FATHOM_BIND_COMM,
     .terms = &all_recvd, .n_terms = 1},
    {.name = "comm_received_bytes", .desc = "Bytes that this process received in this "
     "communicator.", .unit = "bytes", .klass = FATHOM_AGGREGATE, .bind = FATHOM_BIND_COMM,
     .terms = &all_recvd_bytes, .n_terms = 1},
    {.name = "comm_collectives", .desc = "Collective calls of this process on this communicator.",
     .unit = "calls", .klass = FATHOM_COUNTER, .bind = OF_COMM(n_coll)},
    {.name = "comm_peer_sent_messages", .desc = "Messages sent in this communicator, by rank of "
     "the receiver.", .unit = "messages", .klass = FATHOM_COUNTER, .bind = OF_PEER(sent.n)},
    {.name = "comm_peer_sent_bytes", .desc = "Bytes sent in this communicator, by rank of the "
     "receiver.", .unit = "bytes", .klass = FATHOM_AGGREGATE, .bind = OF_PEER(sent.len)},
    {.name = "comm_peer_received_messages", .desc = "Messages received in this communicator, by "
     "rank of sender.", .unit = "messages", .klass = FATHOM_COUNTER, .bind = OF_PEER(recvd.n)},
    {.name = "comm_peer_received_bytes", .desc = "Bytes received in this communicator, by rank of "
     "the sender.", .unit = "bytes", .klass = FATHOM_AGGREGATE, .bind = OF_PEER(recvd.len)},
};
static const struct fathom_event_item event_data[] = {
    {.name = "id", .desc = "Number of the communicator, unique within the process.",
     .type = FATHOM_UNSIGNED_LONG_LONG},
    {.name = "context", .desc = "Context id of the communicator.", .type = FATHOM_UNSIGNED},
    {.name = "size", .desc = "Ranks that messages may go to.", .type = FATHOM_INT},
};
enum { EV_CREATED, EV_FREED };
static const struct fathom_event events[] = {
    [EV_CREATED] = {"comm_created_event", "A communicator was made.", FATHOM_USER_DETAIL,
                    FATHOM_BIND_NONE, WORD(on_created), event_data, FM_ARRAY_LEN(event_data)},
    [EV_FREED] = {"comm_freed_event", "The last user of a communicator is gone.",
                  FATHOM_USER_DETAIL, FATHOM_BIND_NONE, WORD(on_freed), event_data,
                  FM_ARRAY_LEN(event_data)},
};
static const struct fathom_category categories[] = {
    {.name = "comm", .desc = "Communicators: how many there are, and the traffic of each."},
};
/* clang-format on */

const struct fathom_table fm_comm_vars = {
    .room = "comm",
    .block_len = sizeof(struct comm_counters),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .events = events,
    .n_events = FM_ARRAY_LEN(events),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
    .object_bind = FATHOM_BIND_COMM,
    .object_block_len = sizeof(struct fm_comm_counters),
    .member_block_len = sizeof(struct fm_comm_peer_counters),
};

/* The counters of the room: private ones until fm_comm_init() names those in the page. Both, and
   the number of the next communicator, are guarded by the library lock. */
static struct comm_counters no_page = {.eager_limit = NO_LIMIT, .limit = MAX_COMMS};
static struct comm_counters *counters = &no_page;
static uint64_t next_id = 1;

int fm_comm_init(void *block)
{
    counters = block ? block : &no_page;
    fm_errhandler_place(FM_KIND_COMM, offsetof(struct fm_comm, errhandler));
    return fm_handle_pool(FM_KIND_COMM, sizeof(struct fm_comm), MAX_COMMS + N_PREDEFINED);
}

uint64_t fm_comm_limit(void)
{
    return counters->limit;
}

static void emit(int which, const struct fm_comm *comm)
{
    const uint64_t values[] = {comm->id, comm->context, (uint64_t)comm->n_remote};

    fathom_mpit_emit(&events[which], counters, NULL, values);
}

/* Without a registry (unit tests) the counters are ordinary memory. */
static int take_counters(struct fm_comm *comm)
{
    size_t len = sizeof(struct fm_comm_counters);
    void *block = NULL;

    if (counters == &no_page) {
        block = calloc(1, len + (size_t)comm->n_remote * fm_comm_vars.member_block_len);
        comm->has_own_counters = true;
    } else {
        fathom_mpit_object_add(&fm_comm_vars, comm, comm->id, comm->name, comm->n_remote, &block);
    }
    if (!block) {
        return fm_fail(-FM_E_NOMEM, "no memory for the counters of a communicator of %d ranks",
                       comm->n_remote);
    }
    comm->counters = block;
    comm->counters->eager_limit = counters->eager_limit < NO_LIMIT ? counters->eager_limit + 1 : 0;
    comm->counters->context = comm->context;
    comm->counters->id = comm->id;
    comm->peer_counters = (struct fm_comm_peer_counters *)((char *)block + len);
    return 0;
}

static void drop_counters(struct fm_comm *comm)
{
    if (comm->has_own_counters) {
        free(comm->counters);
    } else {
        fathom_mpit_object_remove(comm);
    }
}

/* The context is known: messages may come. */
static void begin(struct fm_comm *comm)
{
    counters->n_agreed += comm->context >= FM_CONTEXT_FIRST;
    if (counters->on_created) {
        emit(EV_CREATED, comm);
    }
    if (fm_root.comm_changed) {
        fm_root.comm_changed(comm, true);
    }
}

static void end(struct fm_comm *comm)
{
    if (comm->context == FM_CONTEXT_NONE) {
        comm->head.kind = FM_KIND_COMM; /* whose pool it goes back to */
        return;
    }
    counters->n_agreed -= comm->context >= FM_CONTEXT_FIRST;
    if (counters->on_freed) {
        emit(EV_FREED, comm);
    }
    if (fm_root.comm_changed) {
        fm_root.comm_changed(comm, false);
    }
}

int fm_comm_create(struct fm_channel *ch, struct fm_group *group, struct fm_group *remote_group,
                   int rank, uint32_t context, struct fm_comm **out_comm)
{
    const struct fm_group *others = remote_group ? remote_group : group;
    struct fm_comm *comm;
    int rc;

    if (!fm_root.pools[FM_KIND_COMM].base) {
        rc = fm_comm_init(NULL);
        if (rc != 0) {
            return rc;
        }
    }
    comm = fm_object_new(FM_KIND_COMM);
    if (!comm) {
        return -FM_E_NOMEM;
    }
    comm->ch = ch;
    comm->context = context;
    comm->rank = rank;
    comm->size = group->size;
    comm->n_remote = others->size;
    comm->procs = others->procs;
    comm->is_inter = remote_group != NULL;
    comm->session = group->session;
    comm->id = next_id++;
    rc = take_counters(comm);
    if (rc != 0) {
        fm_object_free(comm);
        return rc;
    }
    comm->group = fm_object_ref(group);
    comm->remote_group = remote_group ? fm_object_ref(remote_group) : NULL;
    fathom_level_add(&counters->live, 1);
    counters->n_created++;
    if (context == FM_CONTEXT_NONE) {
        comm->head.kind = FM_KIND_NONE;
    } else {
        begin(comm);
    }
    *out_comm = comm;
    return 0;
}

void fm_comm_settle(struct fm_comm *comm, uint32_t context)
{
    comm->head.kind = FM_KIND_COMM;
    comm->context = context;
    comm->counters->context = context;
    begin(comm);
}

static void drop_parts(struct fm_comm *comm)
{
    for (int i = FM_COMM_N_PARTS - 1; i >= 0; i--) {
        if (comm->parts[i].drop) {
            comm->parts[i].drop(comm->parts[i].state);
        }
    }
}

void fm_comm_release(struct fm_comm *comm)
{
    fathom_level_add(&counters->live, -1);
    counters->n_freed++;
    end(comm);
    drop_parts(comm);
    drop_counters(comm);
    fm_comm_unref(comm->local_comm);
    fm_group_unref(comm->group);
    fm_group_unref(comm->remote_group);
    fm_info_unref(comm->info);
    fm_errhandler_unref(comm->errhandler);
    fm_object_free(comm);
}

enum fm_comm_coll_shm fm_comm_coll_shm(const struct fm_comm *comm)
{
    const uint64_t own = comm->counters->coll_shm;

    return (enum fm_comm_coll_shm)(own ? own - 1 : counters->coll_shm);
}

int fm_comm_set_name(struct fm_comm *comm, const char *name)
{
    snprintf(comm->name, sizeof(comm->name), "%s", name);
    if (!comm->has_own_counters) {
        fathom_mpit_object_rename(comm, comm->name);
    }
    return 0;
}

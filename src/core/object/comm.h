/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The communicator: its members, and the context that keeps its messages apart.
 *
 * A context id is even; messages between users travel in `context`, those of collectives in
 * `context + 1`. Ranks become process indices (which number the peers of the channel) through
 * `procs`; in an intercommunicator that is the remote group, in an intracommunicator the only one.
 */
#pragma once

#include "core/object/handle.h"
#include "util/traffic.h"

struct fm_channel;
struct fm_group;
struct fm_info;
struct fm_errhandler;
struct fm_attrs;

/* Counters of one communicator in the shared page; rows in comm.c. Those of its peers follow. */
struct fm_comm_counters {
    uint64_t umq_len; /* unexpected messages waiting in this communicator (MPI_T_UMQ_LENGTH) */
    uint64_t prq_len; /* posted receives waiting */
    uint64_t
        eager_limit;   /* override of p2p_eager_limit: value + 1, 0 = follow the process-wide one */
    uint64_t n_coll;   /* collective calls */
    uint64_t coll_shm; /* override of coll_shm: value + 1, 0 = follow the process-wide one */
    uint64_t context, id; /* as in struct fm_comm, for tools */
} FM_ALIGNED(16);

/* Counters of each rank that messages may go to. */
struct fm_comm_peer_counters {
    struct fm_traffic sent;  /* messages of users handed to the engine */
    struct fm_traffic recvd; /* and delivered to users */
};

/* When collectives use memory that the ranks share; items of the enumeration. */
enum fm_comm_coll_shm { FM_COMM_COLL_SHM_AUTO, FM_COMM_COLL_SHM_NEVER, FM_COMM_COLL_SHM_ALWAYS };

/* Rooms above that keep state with a communicator: indices of `parts`. */
enum fm_comm_part_id {
    FM_COMM_CONTEXT,   /* comm: the agreed context id */
    FM_COMM_COLL,      /* coll: memory that the ranks of one host share */
    FM_COMM_TOPO,      /* topo: the virtual topology */
    FM_COMM_NEIGHBORS, /* topo: edges of this rank, for neighborhood collectives */
    FM_COMM_RMA,
    FM_COMM_IO,
    FM_COMM_N_PARTS
};

/* The state of one room; its owner alone writes and reads it. */
struct fm_comm_part {
    void *state;
    void (*drop)(void *state); /* called when the communicator goes; NULL: nothing to do */
};

struct fm_comm {
    struct fm_object head;
    uint64_t pool_link;
    uint32_t context;
    int rank;
    int size;     /* of the local group */
    int n_remote; /* ranks that messages may go to: size, or that of the remote group */
    const int
        *procs; /* rank -> process index, n_remote entries; owned by the group; NULL: identity */
    struct fm_channel *ch;
    struct fm_comm_counters *counters;           /* never NULL */
    struct fm_comm_peer_counters *peer_counters; /* by rank, n_remote of them; never NULL */
    struct fm_errhandler *errhandler;            /* NULL: the initial one */
    struct fm_group *group;
    struct fm_group *remote_group; /* intercommunicators only */
    struct fm_comm *local_comm;    /* intercommunicators only: the local group, for collectives */
    struct fm_attrs *attrs;
    struct fm_info *info;
    const void *session;  /* the session that it comes from; NULL: the world model */
    uint64_t coll_seq;    /* collective calls made on it, the same number in every rank */
    int coll_tag;         /* if not 0: tag of all its collectives, in the place of their number */
    struct fm_comm *base; /* if not NULL: collectives use the context and ranks of this one */
    uint64_t id;          /* unique within the process; names the object in the shared page */
    bool is_inter;
    bool is_freed;         /* MPI_Comm_free was called; lives on for pending operations */
    bool has_own_counters; /* no registry: comm.c only */
    struct fm_comm_part parts[FM_COMM_N_PARTS]; /* dropped last to first */
    char name[MPI_MAX_OBJECT_NAME];
};

/* Contexts of the predefined communicators; those below FM_CONTEXT_FIRST are never agreed on. */
#define FM_CONTEXT_WORLD 0u
#define FM_CONTEXT_SELF  2u
#define FM_CONTEXT_BASE  4u /* agreements of sessions */
#define FM_CONTEXT_FIRST 8u
#define FM_CONTEXT_NONE  UINT32_MAX /* not agreed on yet */

extern const struct fathom_table fm_comm_vars;

/* Take the block of fm_comm_vars (NULL: no registry) and make the pool. Twice is fine. */
int fm_comm_init(void *block);

/*
 * A communicator over a group (one reference of each is taken), with counters in the page.
 * *out_comm has one reference. The errhandler, name, attributes and topology are the caller's to
 * set. With FM_CONTEXT_NONE its handle is refused as one of no communicator until fm_comm_settle().
 */
int fm_comm_create(struct fm_channel *ch, struct fm_group *group, struct fm_group *remote_group,
                   int rank, uint32_t context, struct fm_comm **out_comm);
/* A communicator made with FM_CONTEXT_NONE has its context now, and may be used. */
void fm_comm_settle(struct fm_comm *comm, uint32_t context);
/* The last reference is gone: take the object away. */
FM_COLD void fm_comm_release(struct fm_comm *comm);
/* Drop a reference; the last one takes the object away, attributes being deleted before
   (MPI_Comm_free). NULL is fine. */
static FM_INLINE void fm_comm_unref(struct fm_comm *comm)
{
    if (comm && FM_UNLIKELY(--comm->head.refs <= 0)) {
        fm_comm_release(comm);
    }
}
/* How many communicators, besides the predefined ones, may live at a time. */
uint64_t fm_comm_limit(void);
/* The value of coll_shm for it. */
enum fm_comm_coll_shm fm_comm_coll_shm(const struct fm_comm *comm);
int fm_comm_set_name(struct fm_comm *comm, const char *name);

/* Process index of a rank (0 <= rank < n_remote). */
static FM_INLINE int fm_comm_proc(const struct fm_comm *comm, int rank)
{
    return comm->procs ? comm->procs[rank] : rank;
}

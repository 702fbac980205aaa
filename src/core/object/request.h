/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Requests: an operation that may still be under way, and its result.
 *
 * A request has two users at most: the handle (until MPI_Wait and the like, or MPI_Request_free)
 * and the engine (until it is complete). Each holds a reference. `is_done` is set exactly once,
 * last, by fm_request_complete(). Persistent requests go back to inactive when waited for.
 *
 * Whoever makes a kind of request gives it an op table: the engine for messages, coll for
 * collective schedules, rma and io for theirs.
 */
#pragma once

#include <fathom/mpit.h>

#include "core/object/handle.h"
#include "util/list.h"

struct fm_comm;
struct fm_dtype;
struct fm_request;

/* A status while it is inside the library. */
struct fm_status {
    int source;
    int tag;
    int error; /* MPI error class; MPI_SUCCESS */
    uint32_t is_cancelled;
    MPI_Count n_bytes; /* received */
};

/* What comes from MPI_PROC_NULL (MPI-5.0 3.10). */
#define FM_STATUS_NULL                                                                             \
    ((struct fm_status){.source = MPI_PROC_NULL, .tag = MPI_ANY_TAG, .error = MPI_SUCCESS})

/* What an empty status holds (MPI-5.0 3.7.3). */
#define FM_STATUS_EMPTY                                                                            \
    ((struct fm_status){.source = MPI_ANY_SOURCE, .tag = MPI_ANY_TAG, .error = MPI_SUCCESS})

/* For those who look from outside: the message that a request stands for. */
struct fm_request_about {
    int peer; /* rank in the communicator, or a wildcard */
    int tag;
    uint64_t bytes;
};

struct fm_request_ops {
    const char *name; /* "send", "recv", "ibcast": for those who look from outside */
    /* Start an inactive persistent request; called by fm_request_start(); NULL: not persistent. */
    int (*start)(struct fm_request *r);
    /* Try to cancel; completes the request if that worked; NULL: cannot be cancelled. */
    int (*cancel)(struct fm_request *r);
    /* The last reference is going: release what the request holds. NULL: nothing. */
    void (*release)(struct fm_request *r);
    /* Called when a wait or test harvests the completed request, before its status is read
       (generalized requests' query); NULL: nothing. Returns an MPI error class. */
    int (*query)(struct fm_request *r);
    /* release() stores an MPI error code where `owner` points to, if it points anywhere; the call
       that harvests returns it. Only for kinds that have a query. */
    bool has_release_code;
    /* While it is under way, it may neither be freed nor cancelled (MPI-5.0 4.2.1, 6.12). */
    bool must_complete;
    /* Whom it waits for; NULL: nothing to tell. */
    void (*about)(const struct fm_request *r, struct fm_request_about *out_about);
};

struct fm_request {
    struct fm_object head;
    uint64_t pool_link;
    const struct fm_request_ops *ops;
    bool is_done; /* complete: set last */
    bool is_persistent;
    bool is_active;   /* persistent: started and not yet harvested; others: always */
    bool is_internal; /* no user ever sees it */
    struct fm_status status;
    struct fm_comm *comm; /* holds a reference; NULL when the kind has none */
    /* Called once when complete, after is_done; for schedules and the like. */
    void (*on_done)(struct fm_request *r);
    void *owner; /* of whoever set on_done */
    char *why;   /* reason of status.error, in one sentence; NULL: none. Owned */
    /* The maker's own part follows in its own struct, which begins with this one. */
};

/* Bytes that a maker may use in all, this struct included (the stride of the request pool). */
#define FM_REQUEST_LEN 512

/* Words of all requests, part of the engine's block. */
struct fm_request_counters {
    /* Requests that exist, internal ones among them: the count of their pool. No low mark. */
    struct fathom_level live;
    uint64_t n_taken; /* from the pool */
    uint64_t n_completed, n_failed, n_cancelled;
    uint64_t on_done; /* event */
};

/* Where requests are counted until then and after. */
extern struct fm_request_counters fm_request_nowhere;
/* Make the pool, and count into these words (NULL: nowhere). Twice is fine. */
int fm_request_init(struct fm_request_counters *counters);

/* A request with so many references (the engine's, the handle's: see the maker), active, status
   empty; what is the maker's own is undefined. Holds a reference on comm if given. NULL when out of
   room. */
static FM_INLINE struct fm_request *fm_request_new_bare(const struct fm_request_ops *ops,
                                                        struct fm_comm *comm, int n_refs)
{
    struct fm_request *r = fm_object_new_bare(FM_KIND_REQUEST, n_refs);

    if (FM_UNLIKELY(!r)) {
        return NULL;
    }
    r->ops = ops;
    r->is_done = r->is_persistent = r->is_internal = false;
    r->is_active = true;
    r->status = FM_STATUS_EMPTY;
    r->comm = comm;
    r->on_done = NULL;
    r->owner = NULL;
    r->why = NULL;
    if (comm) {
        fm_object_ref(comm);
    }
    FM_STAT(fm_root.request_counters->n_taken++);
    FM_STAT(fathom_level_raised(&fm_root.request_counters->live));
    return r;
}
/* The same, with the maker's own part zeroed. */
struct fm_request *fm_request_new(const struct fm_request_ops *ops, struct fm_comm *comm);
/* A request that is complete, successful and empty for ever; for operations that are over when they
   are started. Each handle of it takes a reference. It does not count among those that exist. */
struct fm_request *fm_request_new_done(const struct fm_request_ops *ops);
/* Take it away; NULL is fine. */
void fm_request_free_done(struct fm_request *r);

/* It is to be persistent: inactive until started. */
void fm_request_persist(struct fm_request *r);
/* Start it, if it is inactive (persistent ones only). 0 or a failure: it is inactive then. */
int fm_request_start(struct fm_request *r);

/* The last reference is gone. */
void fm_request_release(struct fm_request *r);
/* Drop a reference; the last one releases. NULL is fine. */
static FM_INLINE void fm_request_unref(struct fm_request *r)
{
    if (r && --r->head.refs == 0) {
        fm_request_release(r);
    }
}

/* Drop the last reference, or any: for requests that most often hold nothing but a communicator. */
static FM_INLINE void fm_request_drop(struct fm_request *r)
{
    struct fm_comm *comm = r->comm;

    if (FM_UNLIKELY(r->head.refs != 1 || r->ops->release || r->why || !comm ||
                    ((struct fm_object *)comm)->refs == 1)) {
        fm_request_unref(r);
        return;
    }
    ((struct fm_object *)comm)->refs--;
    r->head = (struct fm_object){.kind = FM_KIND_NONE};
    fm_pool_put(&fm_root.pools[FM_KIND_REQUEST], r);
}

/* Complete and successful, and its harvest is nothing but a look at the status and the end of the
   handle. In whole words where the tests allow it. */
static FM_INLINE bool fm_request_is_plain(const struct fm_request *r)
{
    const bool should[4] = {true, false, true, false};
    uint32_t flags, plain_flags;
    uint64_t result;

    memcpy(&flags, &r->is_done, sizeof(flags));
    memcpy(&plain_flags, should, sizeof(plain_flags));
    memcpy(&result, &r->status.error, sizeof(result)); /* and is_cancelled behind it */
    return flags == plain_flags && result == 0 && !r->ops->query;
}
_Static_assert(sizeof(bool) == 1 && MPI_SUCCESS == 0, "words of fm_request_is_plain");
_Static_assert(offsetof(struct fm_status, is_cancelled) == offsetof(struct fm_status, error) + 4,
               "words of fm_request_is_plain");
_Static_assert(offsetof(struct fm_request, is_internal) == offsetof(struct fm_request, is_done) + 3,
               "words of fm_request_is_plain");

/* It is complete: status.error is final. Calls on_done and drops the engine's reference. Counted by
   the caller. */
static FM_INLINE void fm_request_end(struct fm_request *r)
{
    r->is_done = true;
    if (r->on_done) {
        r->on_done(r);
    }
    fm_request_unref(r);
}

/* The same, and count it. */
static FM_INLINE void fm_request_complete(struct fm_request *r)
{
    FM_STAT(fm_root.request_counters->n_completed++);
    fm_request_end(r);
}

/* The same, with an error (MPI class) and its reason; status.error is set here. */
FM_COLD void fm_request_fail(struct fm_request *r, int klass, const char *fmt, ...) FM_PRINTF(3, 4);

/*
 * The completed request is taken over by the user: its query is made, *out_status gets the result
 * (NULL: not wanted), a persistent one becomes inactive, any other loses the handle's reference.
 * Returns the MPI error class of the result; its reason is then in fm_why().
 */
int fm_request_harvest(struct fm_request *r, struct fm_status *out_status);

/* Try to cancel; does nothing where that is not possible. 0 or a failure. */
int fm_request_cancel(struct fm_request *r);

/* The result of a completed request, which stays as it is (MPI_Request_get_status). Error class. */
int fm_request_peek(struct fm_request *r, struct fm_status *out_status);

/* Put a status into the user's MPI_Status (MPI_ERROR untouched, MPI-5.0 3.2.5); NULL/IGNORE:
 * nothing. */
void fm_status_set(MPI_Status *out, const struct fm_status *s);
/* And back, for MPI_Get_count and the like. */
MPI_Count fm_status_bytes(const MPI_Status *s);
bool fm_status_is_cancelled(const MPI_Status *s);
/* MPI_Status_set_elements and MPI_Status_set_cancelled. */
void fm_status_set_bytes(MPI_Status *s, MPI_Count n_bytes);
void fm_status_set_cancelled(MPI_Status *s, bool is_cancelled);

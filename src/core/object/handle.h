/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Handles of the ABI become pointers to objects here, and nowhere else is a handle looked at.
 *
 * Predefined handles are small constants (MPI-5.0 20.3.2, all below FM_HANDLE_RESERVED): they index
 * a table of objects. Every other handle is the address of an object in the pool of its kind, so a
 * handle that a user made up, or freed, is recognised and refused without following it: the pool
 * must own the address, and the object's head must carry the kind (freeing sets it to
 * FM_KIND_NONE).
 *
 * The table is empty before MPI_Init and after MPI_Finalize, except for objects that may be used at
 * any time (infos, error handlers: MPI-5.0 11.4), so the hot path needs no test of its own for "not
 * initialized".
 *
 * Infos, error handlers and the user's error codes may be used by any thread at any thread level
 * (MPI-5.0 11.4.1). They have a lock of their own, always on and recursive, taken after the library
 * lock: by their functions in this room, and by the functions of the standard that look into them.
 *
 * fm_root is the state of this room and what lower rooms must reach without an argument: the
 * library lock and the way to end the job. Guarded by the lock.
 */
#pragma once

#include <fathom/mpit.h>
#include <mpi.h>
#include <string.h>

#include "util/pool.h"
#include "util/sync.h"

#define FM_HANDLE_RESERVED 0x400

enum fm_kind {
    FM_KIND_NONE = 0,
    FM_KIND_COMM,
    FM_KIND_GROUP,
    FM_KIND_REQUEST,
    FM_KIND_MESSAGE,
    FM_KIND_DTYPE,
    FM_KIND_OP,
    FM_KIND_INFO,
    FM_KIND_ERRHANDLER,
    FM_KIND_WIN,
    FM_KIND_FILE,
    FM_KIND_SESSION,
    FM_KIND_COUNT
};

/* The common head: first member of every object. 8 bytes, kept by fm_pool_put(). */
struct fm_object {
    uint16_t kind;   /* enum fm_kind */
    uint16_t handle; /* predefined: its constant; 0: the handle is the address */
    int32_t refs;    /* users of the object, the handle itself being one */
};

struct fm_comm;
struct fm_request_counters;

enum fm_phase {
    FM_PHASE_BEFORE = 0,
    FM_PHASE_RUNNING,
    FM_PHASE_AFTER,
    FM_PHASE_FORKED, /* a child that fork() made of a process that had called MPI_Init */
};

struct fm_root {
    struct fm_object *predefined[FM_HANDLE_RESERVED];
    struct fm_pool pools[FM_KIND_COUNT];
    struct fm_lock lock;     /* the library lock: on at MPI_THREAD_MULTIPLE only */
    pthread_mutex_t lasting; /* guards what lasts, see above */
    enum fm_phase phase;
    int rank, size; /* in MPI_COMM_WORLD; -1, 0 before MPI_Init */
    /* End the job with this status, installed by the runtime; does not return. NULL: exit().
       is_by_peer: since another process has gone, which is what the user wants to know of. */
    void (*abort)(int exit_status, bool is_by_peer);
    /* The MPI function that the user is in, "MPI_Send"; set on entry by fm_handle_note_call(), for
       those who wait. Relaxed: any thread may start a session. */
    const char *call;
    /* A communicator was made (words and members set), or is about to go: the engine keeps count of
       what waits in it. Installed by the channel, called by comm.c; NULL: nobody cares. */
    void (*comm_changed)(struct fm_comm *comm, bool is_made);
    /* Where requests are counted; never NULL. */
    struct fm_request_counters *request_counters;
    /* There are threads that sleep for something which may have come: look, before the lock is
       dropped. True: some have been woken, and want it. NULL: there are none. Set by
       p2p/sleeper.c. */
    bool (*wake)(void *ctx);
    void *wake_ctx;
    /* How many objects there are of each kind; never NULL. Requests and communicators count their
       own. */
    struct fathom_level *live;
    /* Process index -> number of its node; NULL: all on one node. Installed by the runtime. */
    const int *node_of;
};

extern struct fm_root fm_root;
extern const struct fathom_table fm_object_vars;

static FM_INLINE void fm_handle_note_call(const char *call)
{
    __atomic_store_n(&fm_root.call, call, __ATOMIC_RELAXED); /* with any look at it */
}

/* The end of a call: drop the library lock, and wake who waited for what this thread has done. */
FM_COLD void fm_handle_leave_shared(void);
static FM_INLINE void fm_handle_leave(void)
{
    if (FM_UNLIKELY(fm_root.lock.is_on)) {
        fm_handle_leave_shared();
    }
}

static FM_INLINE void fm_handle_lock_lasting(void)
{
    pthread_mutex_lock(&fm_root.lasting);
}

static FM_INLINE void fm_handle_unlock_lasting(void)
{
    pthread_mutex_unlock(&fm_root.lasting);
}

/* Count the live objects in this block of fm_object_vars from now on (NULL: not in the page). */
void fm_handle_count_in(void *block);
/* The live object of a kind behind `after` (NULL: the first) in its pool, or NULL. Predefined ones
   may be among them. */
struct fm_object *fm_handle_next(enum fm_kind kind, const struct fm_object *after);

/* Make the pools (object sizes are given by the rooms that own the structs). Twice is fine. */
int fm_handle_pool(enum fm_kind kind, size_t obj_len, size_t max_objects);
/* End every pool and forget every predefined object, but those of infos and error handlers, which
   may be used after MPI_Finalize. */
void fm_handle_finish(void);
/* In a forked child: no handle is valid any more, but those of infos and error handlers. What they
   named stays in memory untouched, since pointers to it may be left. */
void fm_handle_abandon(void);

/* A new object of a kind: zeroed, head set, one reference. NULL (and fm_why) when out of room. */
void *fm_object_new(enum fm_kind kind);
/* There was none. */
FM_COLD void *fm_object_no_room(enum fm_kind kind);
/* The same with so many references, but only the head is set, and it is not counted. */
static FM_INLINE void *fm_object_new_bare(enum fm_kind kind, int n_refs)
{
    struct fm_object *o = fm_pool_get(&fm_root.pools[kind]);

    if (FM_UNLIKELY(!o)) {
        return fm_object_no_room(kind);
    }
    *o = (struct fm_object){.kind = (uint16_t)kind, .refs = n_refs};
    return o;
}

/* Make an object known under a predefined handle; NULL: forget the handle. */
void fm_handle_predefine(const void *handle, void *object);

static FM_INLINE void *fm_object_ref(void *object)
{
    ((struct fm_object *)object)->refs++;
    return object;
}

/* Return the memory of an object whose last reference is gone (rooms call it from their unref). */
void fm_object_free(void *object);
/* The same for one that was made by fm_object_new_bare(), and is not counted. */
void fm_object_free_bare(void *object);

/* The object behind a handle of this kind, or NULL when it is none (null handles are none). */
static FM_INLINE void *fm_handle_get(const void *handle, enum fm_kind kind)
{
    uintptr_t v = (uintptr_t)handle;
    struct fm_object *o;

    if (v < FM_HANDLE_RESERVED) {
        o = fm_root.predefined[v];
    } else {
        o = fm_pool_owns(&fm_root.pools[kind], handle) ? (struct fm_object *)handle : NULL;
    }
    return o && o->kind == (uint16_t)kind ? o : NULL;
}

/* The same for those that last, while other threads make some. */
static FM_INLINE void *fm_handle_get_lasting(const void *handle, enum fm_kind kind)
{
    void *o;

    fm_handle_lock_lasting();
    o = fm_handle_get(handle, kind);
    fm_handle_unlock_lasting();
    return o;
}

#define fm_comm_get(h)    ((struct fm_comm *)fm_handle_get((h), FM_KIND_COMM))
#define fm_group_get(h)   ((struct fm_group *)fm_handle_get((h), FM_KIND_GROUP))
#define fm_request_get(h) ((struct fm_request *)fm_handle_get((h), FM_KIND_REQUEST))
#define fm_message_get(h) ((struct fm_message *)fm_handle_get((h), FM_KIND_MESSAGE))
#define fm_dtype_get(h)   ((struct fm_dtype *)fm_handle_get((h), FM_KIND_DTYPE))
#define fm_op_get(h)      ((struct fm_op *)fm_handle_get((h), FM_KIND_OP))
#define fm_info_get(h)    ((struct fm_info *)fm_handle_get_lasting((h), FM_KIND_INFO))
#define fm_errhandler_get(h)                                                                       \
    ((struct fm_errhandler *)fm_handle_get_lasting((h), FM_KIND_ERRHANDLER))
#define fm_win_get(h)     ((struct fm_win *)fm_handle_get((h), FM_KIND_WIN))
#define fm_file_get(h)    ((struct fm_file *)fm_handle_get((h), FM_KIND_FILE))
#define fm_session_get(h) ((struct fm_session *)fm_handle_get((h), FM_KIND_SESSION))

/* The handle of an object: its predefined constant if it has one, else its address. */
static FM_INLINE void *fm_handle_of(const void *object)
{
    uintptr_t constant = ((const struct fm_object *)object)->handle;

    return constant ? (void *)constant : (void *)(uintptr_t)object;
}

/* Why a call cannot be made now: the sentence of an error. Static. */
const char *fm_handle_why_not_running(void);

/* "communicator" and the like, and the name of the kind's null handle. Static texts. */
const char *fm_kind_name(enum fm_kind kind);
const char *fm_kind_null_name(enum fm_kind kind);
/* Is the handle MPI_COMM_NULL (or the like) of this kind, or the NULL pointer? */
bool fm_handle_is_null(enum fm_kind kind, const void *handle);

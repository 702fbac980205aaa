/* SPDX-License-Identifier: BSD-3-Clause */
/* Handles, predefined and dynamic. */
#include "core/object/handle.h"

#include <stdbool.h>
#include <string.h>

#include "core/object/request.h"
#include "util/status.h"

/* Kinds that are counted here: word, name, many of them, where they come from. */
#define COUNTED(X)                                                                                 \
    X(GROUP, "group", "groups", "Groups that exist now, those of communicators among them")        \
    X(DTYPE, "dtype", "types", "Datatypes that exist now, the predefined ones among them")         \
    X(OP, "op", "operations", "Operations that exist now, the predefined ones among them")         \
    X(MESSAGE, "message", "messages", "Matched messages that wait for their receive")              \
    X(INFO, "info", "infos", "Info objects that exist now, those of sessions among them")          \
    X(ERRHANDLER, "errhandler", "errhandlers", "Error handlers of users that exist now")           \
    X(SESSION, "session", "sessions", "Sessions that exist now")

#define AT(KIND) (FM_KIND_##KIND * sizeof(struct fathom_level))
#define ROWS(KIND, name, unit, text)                                                               \
    {name "_live", text ".", unit, FATHOM_LEVEL, .at = AT(KIND), .is_level = true},                \
        {name "_live_high", "Highest value of " name "_live.", unit, FATHOM_HIGHWATERMARK,         \
         .at = AT(KIND)},
static const struct fathom_pvar pvars[] = {COUNTED(ROWS)};
static const struct fathom_category categories[] = {
    {.name = "objects", .desc = "What the program has made: objects that exist now."},
};
const struct fathom_table fm_object_vars = {
    .room = "objects",
    .block_len = FM_KIND_COUNT * sizeof(struct fathom_level),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

/* Where objects are counted before there is a page; each word is guarded as its objects are. */
static struct fathom_level no_page[FM_KIND_COUNT];
struct fm_request_counters fm_request_nowhere; /* guarded by the library lock */

/* The one root of the object room; see handle.h for what guards it. */
struct fm_root fm_root = {.rank = -1,
                          .lock = {.mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP},
                          .lasting = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP,
                          .live = no_page,
                          .request_counters = &fm_request_nowhere};

void fm_handle_count_in(void *block)
{
    struct fathom_level *live = block ? block : no_page;

    fm_handle_lock_lasting();
    for (unsigned kind = 0; live != fm_root.live && kind < FM_KIND_COUNT; kind++) {
        fathom_level_set(&live[kind], fm_root.live[kind].now);
    }
    fm_root.live = live;
    fm_handle_unlock_lasting();
}

struct fm_object *fm_handle_next(enum fm_kind kind, const struct fm_object *after)
{
    const struct fm_pool *pool = &fm_root.pools[kind];
    size_t at = after ? (size_t)((const char *)after - pool->base) + pool->stride : 0;

    for (; at < pool->used_len; at += pool->stride) {
        struct fm_object *o = (struct fm_object *)(void *)(pool->base + at);

        if (o->kind == kind) {
            return o;
        }
    }
    return NULL;
}

void fm_handle_leave_shared(void)
{
    if (fm_root.wake) {
        fm_root.wake(fm_root.wake_ctx);
    }
    fm_lock_drop(&fm_root.lock);
}

int fm_handle_pool(enum fm_kind kind, size_t obj_len, size_t max_objects)
{
    if (fm_root.pools[kind].base) {
        return 0;
    }
    return fm_pool_init(&fm_root.pools[kind], obj_len, max_objects);
}

/* MPI-5.0 11.4: these work before MPI_Init and after MPI_Finalize. */
static bool is_lasting(unsigned kind)
{
    return kind == FM_KIND_INFO || kind == FM_KIND_ERRHANDLER;
}

static void forget_predefined(void)
{
    for (size_t i = 0; i < FM_HANDLE_RESERVED; i++) {
        if (fm_root.predefined[i] && !is_lasting(fm_root.predefined[i]->kind)) {
            fm_root.predefined[i] = NULL;
        }
    }
}

void fm_handle_abandon(void)
{
    fm_root.lasting = (pthread_mutex_t)PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;
    forget_predefined();
    for (unsigned kind = 0; kind < FM_KIND_COUNT; kind++) {
        if (!is_lasting(kind)) {
            fm_root.pools[kind] = (struct fm_pool){0};
        }
    }
}

void fm_handle_finish(void)
{
    forget_predefined(); /* first: what the table names may lie in the pools */
    for (unsigned kind = 0; kind < FM_KIND_COUNT; kind++) {
        if (!is_lasting(kind)) {
            fm_pool_finish(&fm_root.pools[kind]);
            fathom_level_set(&fm_root.live[kind], 0);
        }
    }
}

void *fm_object_new(enum fm_kind kind)
{
    struct fm_object *o = fm_object_new_bare(kind, 1);

    if (o) {
        memset(o + 1, 0, fm_root.pools[kind].stride - sizeof(*o));
        FM_STAT(fathom_level_add(&fm_root.live[kind], 1));
    }
    return o;
}

void *fm_object_no_room(enum fm_kind kind)
{
    const uint64_t *n = fm_root.pools[kind].n_live;

    if (n) {
        fm_fail(-FM_E_NOMEM, "too many live objects of one kind (%llu)", (unsigned long long)*n);
    } else {
        fm_fail(-FM_E_INVAL, "%s", fm_handle_why_not_running());
    }
    return NULL;
}

void fm_object_free(void *object)
{
    FM_STAT(fathom_level_add(&fm_root.live[((struct fm_object *)object)->kind], -1));
    fm_object_free_bare(object);
}

void fm_object_free_bare(void *object)
{
    struct fm_object *o = object;
    struct fm_pool *pool = &fm_root.pools[o->kind];

    o->kind = FM_KIND_NONE;
    o->refs = 0;
    fm_pool_put(pool, o);
}

void fm_handle_predefine(const void *handle, void *object)
{
    fm_assert((uintptr_t)handle < FM_HANDLE_RESERVED);
    fm_root.predefined[(uintptr_t)handle] = object;
    if (object) {
        ((struct fm_object *)object)->handle = (uint16_t)(uintptr_t)handle;
    }
}

const char *fm_handle_why_not_running(void)
{
    switch (fm_root.phase) {
    case FM_PHASE_BEFORE:
        return "it was called before MPI_Init: call MPI_Init or MPI_Init_thread first";
    case FM_PHASE_FORKED:
        return "it was called in a child that fork() made of an MPI process: only the process that "
               "called MPI_Init can use MPI, its children can use MPI_T";
    default:
        return "it was called after MPI_Finalize: nothing may be sent, received or made then";
    }
}

/* What messages say about a kind. */
static const struct {
    const char *name;
    const char *null_name;
    const void *null;
} kinds[FM_KIND_COUNT] = {
    [FM_KIND_NONE] = {"object", "NULL", NULL},
    [FM_KIND_COMM] = {"communicator", "MPI_COMM_NULL", MPI_COMM_NULL},
    [FM_KIND_GROUP] = {"group", "MPI_GROUP_NULL", MPI_GROUP_NULL},
    [FM_KIND_REQUEST] = {"request", "MPI_REQUEST_NULL", MPI_REQUEST_NULL},
    [FM_KIND_MESSAGE] = {"message", "MPI_MESSAGE_NULL", MPI_MESSAGE_NULL},
    [FM_KIND_DTYPE] = {"datatype", "MPI_DATATYPE_NULL", MPI_DATATYPE_NULL},
    [FM_KIND_OP] = {"operation", "MPI_OP_NULL", MPI_OP_NULL},
    [FM_KIND_INFO] = {"info object", "MPI_INFO_NULL", MPI_INFO_NULL},
    [FM_KIND_ERRHANDLER] = {"error handler", "MPI_ERRHANDLER_NULL", MPI_ERRHANDLER_NULL},
    [FM_KIND_WIN] = {"window", "MPI_WIN_NULL", MPI_WIN_NULL},
    [FM_KIND_FILE] = {"file", "MPI_FILE_NULL", MPI_FILE_NULL},
    [FM_KIND_SESSION] = {"session", "MPI_SESSION_NULL", MPI_SESSION_NULL},
};

const char *fm_kind_name(enum fm_kind kind)
{
    return kinds[kind].name;
}

const char *fm_kind_null_name(enum fm_kind kind)
{
    return kinds[kind].null_name;
}

bool fm_handle_is_null(enum fm_kind kind, const void *handle)
{
    return !handle || handle == kinds[kind].null;
}

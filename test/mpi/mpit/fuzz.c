/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random MPI_T calls with random handles, indices, lengths and NULLs: no crash, nothing for a
 * sanitizer, and only codes that the chapter lists for the function. A handle is, by chance, a live
 * one, an ended one, one of another kind, a small constant, or any 64 bits. Buffers are real or
 * NULL, for a buffer cannot be checked. Messages and communicators come and go meanwhile, with the
 * control variables at whatever values they were given. All 51 functions are called, also inside of
 * event, dropped and free callbacks, which free, register and end the tool as they like.
 *
 * usage: fuzz [CALLS [SEED]]
 */
#include "../check.h"

#include <stdarg.h>
#include <string.h>

enum kind { AN_ENUM, A_CVAR, A_SESSION, A_PVAR, AN_EVENT, AN_INSTANCE, N_KINDS };
#define N_KEPT 16

/* Handles that were given out, the last ones of each kind, live or not. */
static uint64_t kept[N_KINDS][N_KEPT];
/* The place of the session of a pvar handle among the sessions that are kept. */
static int session_of[N_KEPT];
static int n_good; /* calls that did something */
static int depth;  /* callbacks that this is in */
static long n_inside, n_freed;
static int n_tools;
static uint64_t state;

static uint64_t any(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state;
}

static int below(int n)
{
    return (int)(any() % (uint64_t)n);
}

static void *any_handle(enum kind kind)
{
    switch (below(24)) {
    case 0:
        return NULL;
    case 1:
        return (void *)(uintptr_t)(uint64_t)below(16);
    case 2:
        return (void *)(uintptr_t)any();
    case 3:
        return (void *)(uintptr_t)(kept[kind][below(N_KEPT)] ^ (UINT64_C(1) << below(64)));
    case 4:
        return (void *)(uintptr_t)kept[below(N_KINDS)][below(N_KEPT)];
    default:
        return (void *)(uintptr_t)kept[kind][below(N_KEPT)];
    }
}

static int keep(enum kind kind, void *handle)
{
    int at = below(N_KEPT);

    if (handle) {
        kept[kind][at] = (uint64_t)(uintptr_t)handle;
    }
    return at;
}

static int any_index(int n)
{
    return below(8) == 0 ? (int)any() : below(n + 2) - 1;
}

static int any_safety(void)
{
    static const int levels[] = {0, 3, 15, 63, 7, -1};

    return levels[below(6)];
}

/* What must be accessible in every callback (15.3.8.2). */
static int is_always_accessible(const char *call)
{
    static const char *const calls[] = {
        "event_copy", "event_get_source", "event_read",          "event_get_timestamp",
        "pvar_read",  "pvar_readreset",   "pvar_reset",          "pvar_start",
        "pvar_stop",  "pvar_write",       "source_get_timestamp"};
    size_t i;

    for (i = 0; i < sizeof(calls) / sizeof(calls[0]); i++) {
        if (strcmp(calls[i], call) == 0) {
            return 1;
        }
    }
    return 0;
}

/* The code is MPI_SUCCESS, MPI_T_ERR_NOT_INITIALIZED, MPI_T_ERR_INVALID or of these (0 ends), in
   callbacks also MPI_T_ERR_NOT_ACCESSIBLE. */
static void gives(int code, const char *call, ...)
{
    va_list ap;
    int allowed,
        ok = code == MPI_SUCCESS || code == MPI_T_ERR_NOT_INITIALIZED || code == MPI_T_ERR_INVALID;

    ok = ok || (code == MPI_T_ERR_NOT_ACCESSIBLE && depth > 0 && !is_always_accessible(call));

    n_good += code == MPI_SUCCESS;
    va_start(ap, call);
    while (!ok && (allowed = va_arg(ap, int)) != 0) {
        ok = code == allowed;
    }
    va_end(ap);
    if (!ok) {
        fprintf(stderr, "%s gave %d\n", call, code);
    }
    CHECK(ok);
}

#define HANDLE  MPI_T_ERR_INVALID_HANDLE
#define INDEX   MPI_T_ERR_INVALID_INDEX
#define SESSION MPI_T_ERR_INVALID_SESSION
#define NAME    MPI_T_ERR_INVALID_NAME

static char text[300];
static int len, numbers[1024];
static uint64_t buf[1 << 15];

static char *a_text(void)
{
    return below(4) ? text : NULL;
}

static int *a_len(void)
{
    len = below(3) ? below((int)sizeof(text)) : below(2) ? 0 : -(int)(any() & 0xffff);
    return below(4) ? &len : NULL;
}

static int *an_int(void)
{
    return below(4) ? &numbers[below(1024)] : NULL;
}

static void *a_buf(void)
{
    int i;

    for (i = 0; i < 64; i++) {
        buf[i] = below(2) ? (uint64_t)below(2000) : any();
    }
    return below(8) ? buf : NULL;
}

static int n_cvars, n_pvars, n_events, n_categories;

/* Names: right ones of any kind, halves of them, others. */
static const char *a_name(void)
{
    static char found[128];
    int room = 1 + below((int)sizeof(found));

    found[0] = '\0';
    switch (below(6)) {
    case 0:
        return NULL;
    case 1:
        MPI_T_cvar_get_info(any_index(n_cvars), found, &room, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL);
        break;
    case 2:
        MPI_T_event_get_info(any_index(n_events), found, &room, NULL, NULL, NULL, NULL, NULL, NULL,
                             NULL, NULL, NULL);
        break;
    case 3:
        MPI_T_category_get_info(any_index(n_categories), found, &room, NULL, NULL, NULL, NULL,
                                NULL);
        break;
    case 4:
        return "MPI_T_UMQ_LENGTH";
    default:
        MPI_T_pvar_get_info(any_index(n_pvars), found, &room, NULL, NULL, NULL, NULL, NULL, NULL,
                            NULL, NULL, NULL, NULL);
    }
    return found;
}

/* Communicators of ours that live or lived. */
static MPI_Comm copies[4] = {MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL, MPI_COMM_NULL};
static MPI_Comm gone = MPI_COMM_NULL;

static MPI_Comm a_comm(void)
{
    switch (below(8)) {
    case 0:
        return MPI_COMM_NULL;
    case 1:
        return (MPI_Comm)(uintptr_t)any();
    case 2:
        return gone;
    case 3:
        return copies[below(4)];
    case 4:
        return MPI_COMM_WORLD;
    default:
        return MPI_COMM_SELF;
    }
}

/* Infos that calls gave out are the caller's (also when MPI is not initialized). In a callback, MPI
   may not be called to free them: none is asked for there. */
static void give_back(MPI_Info info)
{
    if (info != MPI_INFO_NULL) {
        OK(MPI_Info_free(&info));
    }
}

static int wants_info(void)
{
    return depth == 0 && below(2);
}

static void call_list(void)
{
    MPI_T_enum e = NULL;
    MPI_Datatype type, types[4];
    MPI_T_source_order order;
    MPI_Aint at[4];
    MPI_Count count;
    MPI_Info info = MPI_INFO_NULL;

    switch (below(23)) {
    case 0:
        gives(MPI_T_enum_get_info(any_handle(AN_ENUM), an_int(), a_text(), a_len()),
              "enum_get_info", HANDLE, 0);
        break;
    case 1:
        gives(MPI_T_enum_get_item(any_handle(AN_ENUM), any_index(3), an_int(), a_text(), a_len()),
              "enum_get_item", HANDLE, INDEX, 0);
        break;
    case 2:
        gives(MPI_T_cvar_get_num(an_int()), "cvar_get_num", 0);
        break;
    case 3:
        gives(MPI_T_cvar_get_info(any_index(n_cvars), a_text(), a_len(), an_int(),
                                  below(2) ? &type : NULL, below(2) ? &e : NULL, a_text(), NULL,
                                  an_int(), an_int()),
              "cvar_get_info", INDEX, 0);
        keep(AN_ENUM, e);
        break;
    case 4:
        gives(MPI_T_cvar_get_index(a_name(), an_int()), "cvar_get_index", NAME, 0);
        break;
    case 5:
        gives(MPI_T_pvar_get_num(an_int()), "pvar_get_num", 0);
        break;
    case 6:
        gives(MPI_T_pvar_get_info(any_index(n_pvars), a_text(), a_len(), an_int(), an_int(),
                                  below(2) ? &type : NULL, below(2) ? &e : NULL, NULL, a_len(),
                                  an_int(), an_int(), an_int(), an_int()),
              "pvar_get_info", INDEX, 0);
        keep(AN_ENUM, e);
        break;
    case 7:
        gives(MPI_T_pvar_get_index(a_name(), any_index(11), an_int()), "pvar_get_index", NAME, 0);
        break;
    case 8:
        gives(MPI_T_category_get_num(an_int()), "category_get_num", 0);
        break;
    case 9:
        gives(MPI_T_category_get_info(any_index(n_categories), a_text(), a_len(), a_text(), a_len(),
                                      an_int(), an_int(), an_int()),
              "category_get_info", INDEX, 0);
        break;
    case 10:
        gives(MPI_T_category_get_index(a_name(), an_int()), "category_get_index", NAME, 0);
        break;
    case 11:
        gives(MPI_T_category_get_cvars(any_index(n_categories), below(70) - 5,
                                       below(4) ? numbers : NULL),
              "category_get_cvars", INDEX, 0);
        break;
    case 12:
        gives(
            MPI_T_category_get_pvars(any_index(n_categories), below(64), below(4) ? numbers : NULL),
            "category_get_pvars", INDEX, 0);
        break;
    case 13:
        gives(MPI_T_category_get_events(any_index(n_categories), below(64),
                                        below(4) ? numbers : NULL),
              "category_get_events", INDEX, 0);
        break;
    case 14:
        gives(MPI_T_category_get_categories(any_index(n_categories), below(64),
                                            below(4) ? numbers : NULL),
              "category_get_categories", INDEX, 0);
        break;
    case 15:
        gives(MPI_T_category_get_num_events(any_index(n_categories), an_int()),
              "category_get_num_events", INDEX, 0);
        break;
    case 16:
        gives(MPI_T_category_changed(an_int()), "category_changed", 0);
        break;
    case 17:
        gives(MPI_T_source_get_num(an_int()), "source_get_num", 0);
        break;
    case 18:
        gives(MPI_T_source_get_info(any_index(2), a_text(), a_len(), NULL, NULL,
                                    below(2) ? &order : NULL, below(2) ? &count : NULL, NULL,
                                    wants_info() ? &info : NULL),
              "source_get_info", INDEX, 0);
        give_back(info);
        break;
    case 19:
        gives(MPI_T_source_get_timestamp(any_index(2), below(4) ? &count : NULL),
              "source_get_timestamp", INDEX, MPI_T_ERR_NOT_SUPPORTED, 0);
        break;
    case 20:
        len = below(7) - 2;
        len = len > 4 ? 4 : len;
        gives(MPI_T_event_get_info(any_index(n_events), a_text(), NULL, an_int(),
                                   below(2) ? types : NULL, below(2) ? at : NULL,
                                   below(4) ? &len : NULL, below(2) ? &e : NULL,
                                   wants_info() ? &info : NULL, NULL, NULL, an_int()),
              "event_get_info", INDEX, 0);
        give_back(info);
        keep(AN_ENUM, e);
        break;
    case 21:
        gives(MPI_T_event_get_num(an_int()), "event_get_num", 0);
        break;
    default:
        gives(MPI_T_event_get_index(a_name(), an_int()), "event_get_index", NAME, 0);
    }
}

static void call_cvar(void)
{
    MPI_Comm comm = a_comm();
    MPI_T_cvar_handle h = NULL;
    int code;

    switch (below(5)) {
    case 0:
    case 1:
        code = MPI_T_cvar_handle_alloc(any_index(n_cvars), below(4) ? &comm : NULL,
                                       below(8) ? &h : NULL, an_int());
        gives(code, "cvar_handle_alloc", INDEX, MPI_T_ERR_OUT_OF_HANDLES, 0);
        keep(A_CVAR, h);
        break;
    case 2:
        h = any_handle(A_CVAR);
        gives(MPI_T_cvar_handle_free(below(8) ? &h : NULL), "cvar_handle_free", HANDLE, 0);
        break;
    case 3:
        gives(MPI_T_cvar_read(any_handle(A_CVAR), a_buf()), "cvar_read", HANDLE, 0);
        break;
    default:
        gives(MPI_T_cvar_write(any_handle(A_CVAR), a_buf()), "cvar_write", HANDLE,
              MPI_T_ERR_CVAR_SET_NEVER, MPI_T_ERR_CVAR_SET_NOT_NOW, 0);
    }
}

static void call_pvar(void)
{
    MPI_Comm comm = a_comm();
    int at = below(N_KEPT), s_at = session_of[at];
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h = NULL, made = NULL;

    /* Mostly a handle and its own session. */
    if (below(8) == 0) {
        at = s_at = below(N_KEPT);
    }
    s = below(12) ? (void *)(uintptr_t)kept[A_SESSION][s_at] : any_handle(A_SESSION);
    h = below(12) ? (void *)(uintptr_t)kept[A_PVAR][at] : any_handle(A_PVAR);
    if (below(8) == 0) {
        h = MPI_T_PVAR_ALL_HANDLES;
    }
    switch (below(12)) {
    case 0:
        s = NULL;
        gives(MPI_T_pvar_session_create(below(8) ? &s : NULL), "session_create",
              MPI_T_ERR_OUT_OF_SESSIONS, 0);
        keep(A_SESSION, s);
        break;
    case 1:
        if (below(40) == 0) {
            gives(MPI_T_pvar_session_free(below(8) ? &s : NULL), "session_free", SESSION, 0);
        }
        break;
    case 2:
    case 3:
    case 4:
        gives(MPI_T_pvar_handle_alloc(s, any_index(n_pvars), below(4) ? &comm : NULL,
                                      below(8) ? &made : NULL, an_int()),
              "pvar_handle_alloc", SESSION, INDEX, MPI_T_ERR_OUT_OF_HANDLES, 0);
        session_of[keep(A_PVAR, made)] = s_at;
        break;
    case 5:
        if (below(4)) {
            break; /* else they would all be gone soon */
        }
        gives(MPI_T_pvar_handle_free(s, below(8) ? &h : NULL), "pvar_handle_free", SESSION, HANDLE,
              0);
        break;
    case 6:
        gives(MPI_T_pvar_start(s, h), "pvar_start", SESSION, HANDLE, MPI_T_ERR_PVAR_NO_STARTSTOP,
              0);
        break;
    case 7:
        gives(MPI_T_pvar_stop(s, h), "pvar_stop", SESSION, HANDLE, MPI_T_ERR_PVAR_NO_STARTSTOP, 0);
        break;
    case 8:
        gives(MPI_T_pvar_read(s, h, a_buf()), "pvar_read", SESSION, HANDLE, 0);
        break;
    case 9:
        gives(MPI_T_pvar_write(s, h, a_buf()), "pvar_write", SESSION, HANDLE,
              MPI_T_ERR_PVAR_NO_WRITE, 0);
        break;
    case 10:
        gives(MPI_T_pvar_reset(s, h), "pvar_reset", SESSION, HANDLE, MPI_T_ERR_PVAR_NO_WRITE, 0);
        break;
    default:
        gives(MPI_T_pvar_readreset(s, h, a_buf()), "pvar_readreset", SESSION, HANDLE,
              MPI_T_ERR_PVAR_NO_ATOMIC, MPI_T_ERR_PVAR_NO_WRITE, 0);
    }
}

static void inside(void);

static void on_event(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                     void *user_data)
{
    char data[64 + 8 * 16];

    (void)level;
    (void)user_data;
    keep(AN_INSTANCE, in);
    MPI_T_event_read(in, any_index(3), below(4) ? data : NULL);
    MPI_T_event_copy(below(4) ? in : (MPI_T_event_instance)any_handle(AN_INSTANCE), data);
    if (below(16) == 0) {
        MPI_T_event_handle_free(reg, NULL, NULL);
    }
    inside();
}

static void on_free(MPI_T_event_registration reg, MPI_T_cb_safety level, void *user_data)
{
    (void)level;
    (void)user_data;
    n_freed++;
    /* It is over with this one. */
    gives(MPI_T_event_set_dropped_handler(reg, NULL), "set_dropped_handler", HANDLE, 0);
    inside();
}

static void on_dropped(MPI_Count n, MPI_T_event_registration reg, int source, MPI_T_cb_safety level,
                       void *user_data)
{
    (void)source;
    (void)level;
    (void)user_data;
    CHECK(n > 0);
    if (below(4) == 0) {
        MPI_T_event_handle_free(reg, NULL, below(2) ? on_free : NULL);
    }
    inside();
}

static void call_event(void)
{
    MPI_Comm comm = a_comm();
    MPI_Info info = below(4) ? MPI_INFO_NULL : below(2) ? MPI_INFO_ENV : (MPI_Info)(uintptr_t)any();
    MPI_T_event_registration r = any_handle(AN_EVENT), made = NULL;
    MPI_Info used = MPI_INFO_NULL;
    MPI_T_cb_safety level = (MPI_T_cb_safety)any_safety();
    MPI_Count when;

    switch (below(14)) {
    case 0:
    case 1:
    case 2:
        gives(MPI_T_event_handle_alloc(any_index(n_events), below(4) ? &comm : NULL, info,
                                       below(8) ? &made : NULL),
              "event_handle_alloc", INDEX, MPI_T_ERR_OUT_OF_HANDLES, 0);
        keep(AN_EVENT, made);
        break;
    case 3:
        gives(MPI_T_event_handle_set_info(r, info), "event_handle_set_info", HANDLE, 0);
        break;
    case 4:
        gives(MPI_T_event_handle_get_info(r, wants_info() ? &used : NULL), "event_handle_get_info",
              HANDLE, 0);
        break;
    case 5:
    case 6:
        gives(MPI_T_event_register_callback(r, level, info, NULL, below(4) ? on_event : NULL),
              "event_register_callback", HANDLE, 0);
        break;
    case 7:
        gives(MPI_T_event_callback_set_info(r, level, info), "event_callback_set_info", HANDLE, 0);
        break;
    case 8:
        gives(MPI_T_event_callback_get_info(r, level, wants_info() ? &used : NULL),
              "event_callback_get_info", HANDLE, 0);
        break;
    case 9:
        gives(MPI_T_event_handle_free(r, NULL, below(2) ? on_free : NULL), "event_handle_free",
              HANDLE, 0);
        break;
    case 10:
        gives(MPI_T_event_set_dropped_handler(r, below(2) ? on_dropped : NULL),
              "set_dropped_handler", HANDLE, 0);
        break;
    case 11:
        gives(MPI_T_event_read(any_handle(AN_INSTANCE), any_index(3), a_buf()), "event_read",
              HANDLE, INDEX, 0);
        break;
    case 12:
        gives(MPI_T_event_copy(any_handle(AN_INSTANCE), a_buf()), "event_copy", HANDLE, 0);
        break;
    default:
        gives(MPI_T_event_get_timestamp(any_handle(AN_INSTANCE), below(2) ? &when : NULL),
              "event_get_timestamp", HANDLE, 0);
        gives(MPI_T_event_get_source(any_handle(AN_INSTANCE), an_int()), "event_get_source", HANDLE,
              0);
    }
    give_back(used);
}

/* What the program does meanwhile; all of it must work whatever the tool did. */
static void program_acts(void)
{
    static char out[100000], in[100000];
    int n = below(4), size = 1 << below(17), flag, code;

    switch (below(4)) {
    case 0:
        if (copies[n] == MPI_COMM_NULL) {
            code = MPI_Comm_dup(MPI_COMM_SELF, &copies[n]);
            /* The control variables may allow no more. */
            CHECK(code == MPI_SUCCESS || MPI_Error_class(code, &flag) || flag == MPI_ERR_NO_MEM);
            copies[n] = code == MPI_SUCCESS ? copies[n] : MPI_COMM_NULL;
        } else {
            gone = copies[n];
            OK(MPI_Comm_free(&copies[n]));
        }
        break;
    case 1:
        OK(MPI_Iprobe(MPI_PROC_NULL, 0, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
        break;
    default:
        size = size > (int)sizeof(in) ? (int)sizeof(in) : size;
        out[size - 1] = (char)size;
        OK(MPI_Sendrecv(out, size, MPI_CHAR, 0, 1, in, size, MPI_CHAR, 0, 1, MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
        CHECK(memcmp(in, out, (size_t)size) == 0);
    }
}

/* Tools come and go; now and then the last one goes and all handles with it. */
static void tool_acts(void)
{
    int provided;

    if (below(n_tools == 0 ? 50 : 5000) == 0 && n_tools < 4) {
        n_tools += MPI_T_init_thread(below(2) ? MPI_THREAD_SINGLE : below(5000), &provided) == 0;
    } else if (below(5000) == 0) {
        n_tools -= MPI_T_finalize() == 0;
    }
}

static void tool_calls(void)
{
    switch (below(7)) {
    case 0:
        call_list();
        break;
    case 1:
        call_cvar();
        break;
    case 2:
    case 3:
    case 4:
        call_pvar();
        break;
    default:
        call_event();
    }
}

/* What a callback does: MPI_T alone is allowed in all of them. */
static void inside(void)
{
    int n = depth < 3 && below(2) ? below(6) : 0;

    depth++;
    while (n-- > 0) {
        tool_calls();
        tool_acts();
        n_inside++;
    }
    depth--;
}

static void any_call(void)
{
    if (below(8) == 0) {
        program_acts();
    } else {
        tool_calls();
    }
    tool_acts();
}

static void count_all(void)
{
    OK(MPI_T_cvar_get_num(&n_cvars));
    OK(MPI_T_pvar_get_num(&n_pvars));
    OK(MPI_T_event_get_num(&n_events));
    OK(MPI_T_category_get_num(&n_categories));
}

int main(int argc, char **argv)
{
    long n = argc > 1 ? atol(argv[1]) : 1000000, i;
    int provided;

    state = argc > 2 ? strtoull(argv[2], NULL, 0) : UINT64_C(0x9e3779b97f4a7c15);
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    n_tools = 1;
    count_all();
    for (i = 0; i < n; i++) {
        any_call();
    }
    CHECK(n_good > n / 6); /* else this would be a test of refusals alone */
    CHECK(n_inside > n / 100 && n_freed > 0);
    while (MPI_T_finalize() == MPI_SUCCESS) {
    }
    for (i = 0; i < 4; i++) {
        if (copies[i] != MPI_COMM_NULL) {
            OK(MPI_Comm_free(&copies[i]));
        }
    }
    OK(MPI_Finalize());
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0 15.3.3 to 15.3.7: strings, start and end, enumerations, control and performance
   variables; before MPI_Init, between, and after MPI_Finalize. See conform.h. */
#include "conform.h"

#define MAX_VALUE (1 << 20)

static char value_a[MAX_VALUE], value_b[MAX_VALUE], desc[MAX_DESC];

/* ---- 15.3.3: strings; each get_info behind one signature ---- */

typedef int (*string_fn)(int index, char *text, int *len);

static int cvar_name(int i, char *text, int *len)
{
    return MPI_T_cvar_get_info(i, text, len, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int cvar_desc(int i, char *text, int *len)
{
    return MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, text, len, NULL, NULL);
}

static int pvar_name(int i, char *text, int *len)
{
    return MPI_T_pvar_get_info(i, text, len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                               NULL);
}

static int pvar_desc(int i, char *text, int *len)
{
    return MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, text, len, NULL, NULL, NULL,
                               NULL);
}

static int category_name(int i, char *text, int *len)
{
    return MPI_T_category_get_info(i, text, len, NULL, NULL, NULL, NULL, NULL);
}

static int category_desc(int i, char *text, int *len)
{
    return MPI_T_category_get_info(i, NULL, NULL, text, len, NULL, NULL, NULL);
}

static int event_name(int i, char *text, int *len)
{
    return MPI_T_event_get_info(i, text, len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int event_desc(int i, char *text, int *len)
{
    return MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, text, len, NULL);
}

static int source_name(int i, char *text, int *len)
{
    return MPI_T_source_get_info(i, text, len, NULL, NULL, NULL, NULL, NULL, NULL);
}

static int source_desc(int i, char *text, int *len)
{
    return MPI_T_source_get_info(i, NULL, NULL, text, len, NULL, NULL, NULL, NULL);
}

static void test_string(string_fn get, int index, int is_name)
{
    static char full[MAX_DESC], cut[MAX_DESC];
    int len = 0, need, want, step;

    OK(get(index, NULL, &len));
    need = len;
    CHECK(need >= 1 + is_name); /* a name has at least one character */
    len = MAX_DESC;
    OK(get(index, full, &len));
    CHECK((int)strlen(full) + 1 == need);
    CHECK(len == need);
    len = 0;
    strcpy(cut, "untouched");
    OK(get(index, cut, &len));
    CHECK(len == need && strcmp(cut, "untouched") == 0);
    len = MAX_DESC;
    OK(get(index, NULL, &len));
    CHECK(len == need);
    OK(get(index, cut, NULL));
    CHECK(strcmp(cut, "untouched") == 0);
    step = need > 64 ? need / 16 : 1;
    for (want = 1; want <= need && want < MAX_DESC; want += step) {
        memset(cut, '#', sizeof(cut));
        len = want;
        OK(get(index, cut, &len));
        CHECK((int)strlen(cut) == want - 1 && strncmp(cut, full, (size_t)want - 1) == 0);
        CHECK(cut[want] == '#');
        CHECK(len == need);
    }
}

static void test_strings(void)
{
    static const struct {
        int (*num)(int *n);
        string_fn name, desc;
    } kinds_of[] = {
        {MPI_T_cvar_get_num, cvar_name, cvar_desc},
        {MPI_T_pvar_get_num, pvar_name, pvar_desc},
        {MPI_T_category_get_num, category_name, category_desc},
        {MPI_T_event_get_num, event_name, event_desc},
        {MPI_T_source_get_num, source_name, source_desc},
    };
    int k, i, n, len;

    section = "15.3.3";
    for (k = 0; k < 5; k++) {
        n = -1;
        OK(kinds_of[k].num(&n));
        CHECK(n >= 0);
        for (i = 0; i < n; i++) {
            len = MAX_NAME;
            kinds_of[k].name(i, name, &len);
            about = name;
            test_string(kinds_of[k].name, i, 1);
            test_string(kinds_of[k].desc, i, 0);
        }
        about = "";
        GIVES(kinds_of[k].name(n, name, &len), MPI_T_ERR_INVALID_INDEX);
        GIVES(kinds_of[k].name(-1, name, &len), MPI_T_ERR_INVALID_INDEX);
        GIVES(kinds_of[k].desc(0x7fffffff, name, &len), MPI_T_ERR_INVALID_INDEX);
        GIVES(kinds_of[k].num(NULL), MPI_T_ERR_INVALID);
    }
}

/* ---- 15.3.4: nothing works outside of init and finalize ---- */

static void no_callback(MPI_T_event_instance in, MPI_T_event_registration reg,
                        MPI_T_cb_safety level, void *user_data)
{
    (void)in, (void)reg, (void)level, (void)user_data;
}

#define DEAD(call) GIVES(call, MPI_T_ERR_NOT_INITIALIZED)

static void test_dead_lists(void)
{
    int n = 0, v;

    DEAD(MPI_T_finalize());
    DEAD(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL));
    DEAD(MPI_T_enum_get_item(MPI_T_ENUM_NULL, 0, &v, NULL, NULL));
    DEAD(MPI_T_cvar_get_num(&n));
    DEAD(cvar_name(0, NULL, &n));
    DEAD(MPI_T_cvar_get_index("x", &n));
    DEAD(MPI_T_pvar_get_num(&n));
    DEAD(pvar_name(0, NULL, &n));
    DEAD(MPI_T_pvar_get_index("x", MPI_T_PVAR_CLASS_COUNTER, &n));
    DEAD(MPI_T_category_get_num(&n));
    DEAD(category_name(0, NULL, &n));
    DEAD(MPI_T_category_get_index("x", &n));
    DEAD(MPI_T_category_get_cvars(0, 1, &v));
    DEAD(MPI_T_category_get_pvars(0, 1, &v));
    DEAD(MPI_T_category_get_events(0, 1, &v));
    DEAD(MPI_T_category_get_categories(0, 1, &v));
    DEAD(MPI_T_category_get_num_events(0, &n));
    DEAD(MPI_T_category_changed(&n));
}

static void test_dead_handles(void)
{
    MPI_T_cvar_handle c = MPI_T_CVAR_HANDLE_NULL;
    MPI_T_pvar_handle p = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_pvar_session s = MPI_T_PVAR_SESSION_NULL;
    int n = 0, v;

    DEAD(MPI_T_cvar_handle_alloc(0, NULL, &c, &n));
    DEAD(MPI_T_cvar_handle_free(&c));
    DEAD(MPI_T_cvar_read(c, &v));
    DEAD(MPI_T_cvar_write(c, &v));
    DEAD(MPI_T_pvar_session_create(&s));
    DEAD(MPI_T_pvar_session_free(&s));
    DEAD(MPI_T_pvar_handle_alloc(s, 0, NULL, &p, &n));
    DEAD(MPI_T_pvar_handle_free(s, &p));
    DEAD(MPI_T_pvar_start(s, p));
    DEAD(MPI_T_pvar_stop(s, p));
    DEAD(MPI_T_pvar_read(s, p, &v));
    DEAD(MPI_T_pvar_write(s, p, &v));
    DEAD(MPI_T_pvar_reset(s, p));
    DEAD(MPI_T_pvar_readreset(s, p, &v));
}

static void test_dead_events(void)
{
    MPI_T_event_registration r = NULL;
    MPI_T_event_instance in = NULL;
    MPI_Info info = MPI_INFO_NULL;
    MPI_Count count;
    int n = 0, v;

    DEAD(MPI_T_source_get_num(&n));
    DEAD(source_name(0, NULL, &n));
    DEAD(MPI_T_source_get_timestamp(0, &count));
    DEAD(MPI_T_event_get_num(&n));
    DEAD(event_name(0, NULL, &n));
    DEAD(MPI_T_event_get_index("x", &n));
    DEAD(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, &r));
    DEAD(MPI_T_event_handle_set_info(r, MPI_INFO_NULL));
    DEAD(MPI_T_event_handle_get_info(r, &info));
    DEAD(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, no_callback));
    DEAD(MPI_T_event_callback_set_info(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL));
    DEAD(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &info));
    DEAD(MPI_T_event_handle_free(r, NULL, NULL));
    DEAD(MPI_T_event_set_dropped_handler(r, NULL));
    DEAD(MPI_T_event_read(in, 0, &v));
    DEAD(MPI_T_event_copy(in, &v));
    DEAD(MPI_T_event_get_timestamp(in, &count));
    DEAD(MPI_T_event_get_source(in, &v));
}

static void test_dead(void)
{
    section = "15.3.4";
    test_dead_lists();
    test_dead_handles();
    test_dead_events();
}

static void test_init(void)
{
    static const int levels[] = {MPI_THREAD_SINGLE, MPI_THREAD_FUNNELED, MPI_THREAD_SERIALIZED,
                                 MPI_THREAD_MULTIPLE};
    int i, provided, n;

    section = "15.3.4";
    for (i = 0; i < 4; i++) {
        provided = -1;
        OK(MPI_T_init_thread(levels[i], &provided));
        CHECK(provided >= MPI_THREAD_SINGLE && provided <= MPI_THREAD_MULTIPLE);
        OK(MPI_T_cvar_get_num(&n));
    }
    for (i = 0; i < 4; i++) {
        OK(MPI_T_cvar_get_num(&n)); /* as many ends as beginnings */
        OK(MPI_T_finalize());
    }
    test_dead();
}

/* ---- 15.3.6: control variables ---- */

static void test_cvar_write(MPI_T_cvar_handle h, int scope, MPI_Datatype type, MPI_T_enum e)
{
    int rc, wrong = -77777;

    rc = MPI_T_cvar_write(h, value_a);
    if (scope == MPI_T_SCOPE_CONSTANT || scope == MPI_T_SCOPE_READONLY) {
        CHECK(rc == MPI_T_ERR_CVAR_SET_NEVER);
    } else {
        CHECK(rc == MPI_SUCCESS || rc == MPI_T_ERR_CVAR_SET_NOT_NOW);
        if (e != MPI_T_ENUM_NULL && type == MPI_INT && rc == MPI_SUCCESS && !has_value(e, wrong)) {
            CHECK(MPI_T_cvar_write(h, &wrong) != MPI_SUCCESS);
        }
    }
    OK(MPI_T_cvar_read(h, value_b));
    CHECK(memcmp(value_a, value_b, type_len(type)) == 0);
    GIVES(MPI_T_cvar_write(h, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_cvar_read(h, NULL), MPI_T_ERR_INVALID);
}

static void test_cvar_handle(int i, int bind, int scope, MPI_Datatype type, MPI_T_enum e)
{
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL, other = MPI_T_CVAR_HANDLE_NULL, old;
    int count = -1, value;
    void *object;

    if (!object_for(bind, &object)) {
        return;
    }
    if (!OK(MPI_T_cvar_handle_alloc(i, object, &h, &count))) {
        return;
    }
    CHECK(h != MPI_T_CVAR_HANDLE_NULL);
    CHECK(count >= 1 && (size_t)count * type_len(type) < MAX_VALUE);
    OK(MPI_T_cvar_handle_alloc(i, object, &other, &count));
    CHECK(other != h);
    OK(MPI_T_cvar_read(h, value_a));
    OK(MPI_T_cvar_read(other, value_b));
    CHECK(memcmp(value_a, value_b, type == MPI_CHAR ? strlen(value_a) : type_len(type)) == 0);
    if (type == MPI_CHAR) {
        CHECK(memchr(value_a, '\0', (size_t)count) != NULL);
    }
    if (e != MPI_T_ENUM_NULL) {
        memcpy(&value, value_a, sizeof(value));
        CHECK(has_value(e, value));
    }
    test_cvar_write(h, scope, type, e);
    OK(MPI_T_cvar_handle_free(&other));
    CHECK(other == MPI_T_CVAR_HANDLE_NULL);
    OK(MPI_T_cvar_read(h, value_b)); /* the other handle is untouched */
    old = h;
    OK(MPI_T_cvar_handle_free(&h));
    if (!is_mild) {
        GIVES(MPI_T_cvar_read(old, value_b), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_cvar_write(old, value_b), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_cvar_handle_free(&old), MPI_T_ERR_INVALID_HANDLE);
    }
}

static void test_cvar_errors(int n)
{
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    int count, index;

    GIVES(MPI_T_cvar_handle_alloc(n, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_cvar_handle_alloc(-1, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, value_a), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_cvar_write(MPI_T_CVAR_HANDLE_NULL, value_a), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_cvar_handle_free(&h), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_cvar_get_index("no variable has : this name", &index), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_cvar_get_index("", &index), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_cvar_get_index(NULL, &index), MPI_T_ERR_INVALID);
    if (n > 0) {
        GIVES(MPI_T_cvar_handle_alloc(0, NULL, NULL, &count), MPI_T_ERR_INVALID);
        GIVES(MPI_T_cvar_handle_alloc(0, NULL, &h, NULL), MPI_T_ERR_INVALID);
    }
}

static void test_cvars(void)
{
    int i, n = 0, len, verbosity, bind, scope, index;
    MPI_Datatype type;
    MPI_T_enum e;

    MPI_T_cvar_get_num(&n);
    for (i = 0; i < n; i++) {
        section = "15.3.6";
        len = MAX_NAME;
        verbosity = bind = scope = -1;
        type = MPI_DATATYPE_NULL;
        OK(MPI_T_cvar_get_info(i, name, &len, &verbosity, &type, &e, NULL, NULL, &bind, &scope));
        about = name;
        OK(MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
        CHECK(is_verbosity(verbosity));
        CHECK(is_allowed_type(type));
        CHECK(is_bind(bind));
        CHECK(scope >= MPI_T_SCOPE_CONSTANT && scope <= MPI_T_SCOPE_ALL_EQ);
        CHECK(e == MPI_T_ENUM_NULL || type == MPI_INT);
        index = -1;
        OK(MPI_T_cvar_get_index(name, &index));
        CHECK(index == i); /* and so no other has this name */
        GIVES(MPI_T_cvar_get_index(name, NULL), MPI_T_ERR_INVALID);
        test_cvar_handle(i, bind, scope, type, e);
        if (e != MPI_T_ENUM_NULL) {
            test_enum(e);
        }
    }
    about = "";
    section = "15.3.6";
    test_cvar_errors(n);
}

/* ---- 15.3.7: performance variables ---- */

struct pvar {
    int index, klass, bind, readonly, continuous, atomic, count;
    MPI_Datatype type;
    MPI_T_enum e;
    void *object;
};

static int type_fits_class(const struct pvar *v)
{
    int is_unsigned = v->type == MPI_UNSIGNED || v->type == MPI_UNSIGNED_LONG ||
                      v->type == MPI_UNSIGNED_LONG_LONG;

    if (strcmp(name, "MPI_T_UMQ_LENGTH") == 0) {
        return v->klass == MPI_T_PVAR_CLASS_LEVEL && v->type == MPI_INT;
    }
    switch (v->klass) {
    case MPI_T_PVAR_CLASS_STATE:
        return v->type == MPI_INT;
    case MPI_T_PVAR_CLASS_PERCENTAGE:
        return v->type == MPI_DOUBLE;
    case MPI_T_PVAR_CLASS_COUNTER:
        return is_unsigned;
    case MPI_T_PVAR_CLASS_GENERIC:
        return is_allowed_type(v->type);
    default:
        return is_unsigned || v->type == MPI_DOUBLE;
    }
}

static double first_of(const struct pvar *v, const void *value)
{
    unsigned long long u;
    double d;
    int i;

    if (v->type == MPI_DOUBLE) {
        memcpy(&d, value, sizeof(d));
        return d;
    }
    if (type_len(v->type) == sizeof(int)) {
        memcpy(&i, value, sizeof(i));
        return v->type == MPI_INT ? i : (double)(unsigned)i;
    }
    memcpy(&u, value, sizeof(u));
    return (double)u;
}

static size_t value_len(const struct pvar *v)
{
    return (size_t)v->count * type_len(v->type);
}

static int begins_at_zero(const struct pvar *v)
{
    return v->klass == MPI_T_PVAR_CLASS_COUNTER || v->klass == MPI_T_PVAR_CLASS_AGGREGATE ||
           v->klass == MPI_T_PVAR_CLASS_TIMER;
}

static void test_pvar_range(const struct pvar *v)
{
    double d = first_of(v, value_a);
    int value;

    if (v->count < 1) {
        return;
    }
    if (v->klass == MPI_T_PVAR_CLASS_PERCENTAGE) {
        CHECK(d >= 0 && d <= 1);
    } else if (v->klass != MPI_T_PVAR_CLASS_STATE && v->klass != MPI_T_PVAR_CLASS_GENERIC) {
        CHECK(d >= 0);
    }
    if (v->klass == MPI_T_PVAR_CLASS_STATE && v->e != MPI_T_ENUM_NULL) {
        memcpy(&value, value_a, sizeof(value));
        CHECK(has_value(v->e, value));
    }
}

/* A handle that does not run shows the same at any time, and starts from what its class says. */
static void test_pvar_stopped(MPI_T_pvar_session s, MPI_T_pvar_handle h, const struct pvar *v)
{
    OK(MPI_T_pvar_read(s, h, value_a));
    if (begins_at_zero(v) && !v->continuous && v->count > 0) {
        CHECK(first_of(v, value_a) == 0);
    }
    if (v->continuous) {
        GIVES(MPI_T_pvar_start(s, h), MPI_T_ERR_PVAR_NO_STARTSTOP);
        GIVES(MPI_T_pvar_stop(s, h), MPI_T_ERR_PVAR_NO_STARTSTOP);
        return;
    }
    OK(MPI_T_pvar_start(s, h));
    OK(MPI_T_pvar_start(s, h)); /* to start twice is no error */
    OK(MPI_T_pvar_read(s, h, value_a));
    test_pvar_range(v);
    OK(MPI_T_pvar_stop(s, h));
    OK(MPI_T_pvar_stop(s, h));
    OK(MPI_T_pvar_read(s, h, value_a));
    OK(MPI_T_pvar_read(s, h, value_b));
    CHECK(memcmp(value_a, value_b, value_len(v)) == 0);
}

/* Write, reset, readreset, as the flags promise; the handle is stopped unless it is continuous. */
static void test_pvar_change(MPI_T_pvar_session s, MPI_T_pvar_handle h, const struct pvar *v)
{
    int rc;

    if (v->readonly) {
        GIVES(MPI_T_pvar_write(s, h, value_a), MPI_T_ERR_PVAR_NO_WRITE);
        GIVES(MPI_T_pvar_reset(s, h), MPI_T_ERR_PVAR_NO_WRITE);
        rc = MPI_T_pvar_readreset(s, h, value_b);
        CHECK(rc == MPI_T_ERR_PVAR_NO_ATOMIC || rc == MPI_T_ERR_PVAR_NO_WRITE);
        return;
    }
    if (!v->continuous) {
        memset(value_a, 0, value_len(v));
        value_a[0] = v->type == MPI_DOUBLE ? 0 : 42;
        OK(MPI_T_pvar_write(s, h, value_a));
        OK(MPI_T_pvar_read(s, h, value_b));
        CHECK(memcmp(value_a, value_b, value_len(v)) == 0);
    }
    if (v->atomic) {
        OK(MPI_T_pvar_readreset(s, h, value_b));
        if (!v->continuous) {
            CHECK(memcmp(value_a, value_b, value_len(v)) == 0);
        }
    } else {
        GIVES(MPI_T_pvar_readreset(s, h, value_b), MPI_T_ERR_PVAR_NO_ATOMIC);
    }
    OK(MPI_T_pvar_reset(s, h));
    OK(MPI_T_pvar_read(s, h, value_a));
    if (begins_at_zero(v) && !v->continuous && v->count > 0) {
        CHECK(first_of(v, value_a) == 0);
    }
    test_pvar_range(v);
}

static void test_pvar_wrong(MPI_T_pvar_session s, MPI_T_pvar_session other, MPI_T_pvar_handle h)
{
    GIVES(MPI_T_pvar_read(s, h, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_write(s, h, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_readreset(s, h, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_read(other, h, value_b), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_start(other, h), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_stop(other, h), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_reset(other, h), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_handle_free(other, &h), MPI_T_ERR_INVALID_HANDLE);
}

/* Two handles of one variable in two sessions. */
static void test_pvar_pair(const struct pvar *v)
{
    MPI_T_pvar_session one, two;
    MPI_T_pvar_handle h1 = MPI_T_PVAR_HANDLE_NULL, h2 = MPI_T_PVAR_HANDLE_NULL, old;
    int count = -1;

    OK(MPI_T_pvar_session_create(&one));
    OK(MPI_T_pvar_session_create(&two));
    CHECK(one != two && one != MPI_T_PVAR_SESSION_NULL);
    if (!OK(MPI_T_pvar_handle_alloc(one, v->index, v->object, &h1, &count))) {
        return;
    }
    CHECK(h1 != MPI_T_PVAR_HANDLE_NULL && h1 != MPI_T_PVAR_ALL_HANDLES);
    CHECK(count >= 0);
    OK(MPI_T_pvar_handle_alloc(two, v->index, v->object, &h2, &count));
    CHECK(h1 != h2);
    if (!v->continuous && !v->readonly) {
        memset(value_a, 0, value_len(v));
        value_a[0] = v->type == MPI_DOUBLE ? 0 : 9;
        OK(MPI_T_pvar_write(two, h2, value_a));
        OK(MPI_T_pvar_write(one, h1, value_b));
        OK(MPI_T_pvar_reset(one, h1));
        OK(MPI_T_pvar_read(two, h2, value_b));
        CHECK(memcmp(value_a, value_b, value_len(v)) == 0);
    }
    test_pvar_wrong(one, two, h1);
    old = h1;
    OK(MPI_T_pvar_handle_free(one, &h1));
    CHECK(h1 == MPI_T_PVAR_HANDLE_NULL);
    if (!is_mild) {
        GIVES(MPI_T_pvar_read(one, old, value_a), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_handle_free(one, &old), MPI_T_ERR_INVALID_HANDLE);
    }
    OK(MPI_T_pvar_session_free(&one));
    CHECK(one == MPI_T_PVAR_SESSION_NULL);
    OK(MPI_T_pvar_read(two, h2, value_a));
    OK(MPI_T_pvar_session_free(&two)); /* with a handle in it */
}

static void test_pvar(int i)
{
    struct pvar v = {.index = i, .readonly = -1, .continuous = -1, .atomic = -1};
    int len = MAX_NAME, verbosity = -1, index = -1;
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;

    section = "15.3.7";
    OK(MPI_T_pvar_get_info(i, name, &len, &verbosity, &v.klass, &v.type, &v.e, desc, NULL, &v.bind,
                           &v.readonly, &v.continuous, &v.atomic));
    about = name;
    OK(MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
                           NULL));
    CHECK(is_verbosity(verbosity));
    CHECK(v.klass >= MPI_T_PVAR_CLASS_STATE && v.klass <= MPI_T_PVAR_CLASS_GENERIC);
    CHECK(type_fits_class(&v));
    CHECK(is_bind(v.bind));
    CHECK(v.readonly == 0 || v.readonly == 1);
    CHECK(v.continuous == 0 || v.continuous == 1);
    CHECK(v.atomic == 0 || v.atomic == 1);
    CHECK(v.e == MPI_T_ENUM_NULL || v.type == MPI_INT);
    OK(MPI_T_pvar_get_index(name, v.klass, &index));
    CHECK(index == i);
    GIVES(MPI_T_pvar_get_index(name, v.klass, NULL), MPI_T_ERR_INVALID);
    if (v.e != MPI_T_ENUM_NULL) {
        test_enum(v.e);
        section = "15.3.7";
    }
    if (!object_for(v.bind, &v.object)) {
        return;
    }
    OK(MPI_T_pvar_session_create(&s));
    if (OK(MPI_T_pvar_handle_alloc(s, i, v.object, &h, &v.count)) && value_len(&v) < MAX_VALUE) {
        test_pvar_stopped(s, h, &v);
        test_pvar_change(s, h, &v);
        test_pvar_pair(&v);
    }
    OK(MPI_T_pvar_session_free(&s));
}

static void test_pvar_errors(int n)
{
    MPI_T_pvar_session s, none = MPI_T_PVAR_SESSION_NULL;
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    int count, index;

    OK(MPI_T_pvar_session_create(&s));
    GIVES(MPI_T_pvar_handle_alloc(s, n, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_pvar_handle_alloc(s, -1, NULL, &h, &count), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_pvar_handle_alloc(none, 0, NULL, &h, &count), MPI_T_ERR_INVALID_SESSION);
    GIVES(MPI_T_pvar_session_free(&none), MPI_T_ERR_INVALID_SESSION);
    GIVES(MPI_T_pvar_session_free(NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_session_create(NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_handle_free(s, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_pvar_handle_free(s, &h), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_start(s, MPI_T_PVAR_HANDLE_NULL), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_stop(s, MPI_T_PVAR_HANDLE_NULL), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_reset(s, MPI_T_PVAR_HANDLE_NULL), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_read(s, MPI_T_PVAR_HANDLE_NULL, value_a), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_start(none, MPI_T_PVAR_ALL_HANDLES), MPI_T_ERR_INVALID_SESSION);
    GIVES(MPI_T_pvar_read(s, MPI_T_PVAR_ALL_HANDLES, value_a), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_write(s, MPI_T_PVAR_ALL_HANDLES, value_a), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_pvar_readreset(s, MPI_T_PVAR_ALL_HANDLES, value_a), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES)); /* of an empty session */
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES));
    GIVES(MPI_T_pvar_get_index("no variable : has this", MPI_T_PVAR_CLASS_COUNTER, &index),
          MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_pvar_get_index(NULL, MPI_T_PVAR_CLASS_COUNTER, &index), MPI_T_ERR_INVALID);
    if (n > 0) {
        GIVES(MPI_T_pvar_handle_alloc(s, 0, NULL, NULL, &count), MPI_T_ERR_INVALID);
        GIVES(MPI_T_pvar_handle_alloc(s, 0, NULL, &h, NULL), MPI_T_ERR_INVALID);
    }
    OK(MPI_T_pvar_session_free(&s));
}

/* Every variable at once, with MPI_T_PVAR_ALL_HANDLES. */
static void test_all_handles(int n)
{
    int i, bind, count, n_open = 0;
    MPI_T_pvar_handle *h = calloc((size_t)n + 1, sizeof(*h));
    MPI_T_pvar_session s;
    void *object;

    OK(MPI_T_pvar_session_create(&s));
    for (i = 0; h && i < n; i++) {
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                            NULL);
        if (object_for(bind, &object)) {
            OK(MPI_T_pvar_handle_alloc(s, i, object, &h[n_open++], &count));
        }
    }
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_reset(s, MPI_T_PVAR_ALL_HANDLES));
    for (i = 0; i < n_open; i++) {
        OK(MPI_T_pvar_read(s, h[i], value_a));
    }
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_session_free(&s));
    if (n_open && !is_mild) {
        GIVES(MPI_T_pvar_read(s, h[0], value_a), MPI_T_ERR_INVALID_SESSION);
    }
    free(h);
}

static void test_pvars(void)
{
    int i, n = 0;

    MPI_T_pvar_get_num(&n);
    for (i = 0; i < n; i++) {
        test_pvar(i);
    }
    about = "";
    section = "15.3.7";
    test_pvar_errors(n);
    test_all_handles(n);
}

/* The variable of the standard's example. */
static void test_umq(void)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    MPI_Datatype type;
    int index = -1, bind, count = -1, value = -1;

    section = "15.3.7";
    if (!OK(MPI_T_pvar_get_index("MPI_T_UMQ_LENGTH", MPI_T_PVAR_CLASS_LEVEL, &index))) {
        return;
    }
    OK(MPI_T_pvar_get_info(index, NULL, NULL, NULL, NULL, &type, NULL, NULL, NULL, &bind, NULL,
                           NULL, NULL));
    CHECK(type == MPI_INT);
    CHECK(bind == MPI_T_BIND_MPI_COMM);
    OK(MPI_T_pvar_session_create(&s));
    if (is_between) {
        OK(MPI_T_pvar_handle_alloc(s, index, &world, &h, &count));
        CHECK(count == 1);
        OK(MPI_T_pvar_start(s, h));
        OK(MPI_T_pvar_read(s, h, &value));
        CHECK(value >= 0);
        OK(MPI_T_pvar_handle_free(s, &h));
    }
    OK(MPI_T_pvar_session_free(&s));
}

static void test_all(void)
{
    int provided;

    test_dead();
    test_init();
    section = "15.3.4";
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    n_enums = 0;
    test_strings();
    test_cvars();
    test_pvars();
    test_umq();
    section = "15.3.4";
    OK(MPI_T_finalize());
    test_dead();
}

int main(int argc, char **argv)
{
    int provided, n = -1, n_before = -1, rank = 0;

    is_mild = has_option(argc, argv, "--mild");
    test_all();
    /* MPI comes up and goes down inside of the tool's time. */
    section = "15.3.4";
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    OK(MPI_T_pvar_get_num(&n_before));
    OK(MPI_Init(&argc, &argv));
    OK(MPI_T_pvar_get_num(&n));
    CHECK(n >= n_before); /* more may come, none may go */
    OK(MPI_T_finalize());
    is_between = 1;
    world = MPI_COMM_WORLD;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    test_all();
    world = MPI_COMM_SELF;
    test_all();
    is_between = 0;
    OK(MPI_Finalize());
    test_all();
    return rank == 0 || n_failures ? summary() : 0;
}

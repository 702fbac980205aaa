/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What comes when memory or numbers are out (MPI-5.0 15.3.10): each allocation of each call fails
 * once, the call says so, has no other effect, and does its work when it is called again.
 *
 * The registry's calls of malloc, calloc, realloc and mmap come here (the linker's --wrap).
 */
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/mpit/mpit_test.h"

void *__real_malloc(size_t len);
void *__real_calloc(size_t n, size_t len);
void *__real_realloc(void *old, size_t len);
char *__real_strdup(const char *text);
void *__real_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t from);
void *__wrap_malloc(size_t len);
void *__wrap_calloc(size_t n, size_t len);
void *__wrap_realloc(void *old, size_t len);
char *__wrap_strdup(const char *text);
void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t from);

/* The n-th allocation from now on fails, and all after it, or it alone; 0: none does. */
static int fail_at, n_failed;
static bool is_alone;

static int fails(void)
{
    if (fail_at == 0 || --fail_at > 0) {
        return 0;
    }
    fail_at = is_alone ? 0 : 1;
    n_failed++;
    return 1;
}

void *__wrap_malloc(size_t len)
{
    return fails() ? NULL : __real_malloc(len);
}

void *__wrap_calloc(size_t n, size_t len)
{
    return fails() ? NULL : __real_calloc(n, len);
}

void *__wrap_realloc(void *old, size_t len)
{
    return fails() ? NULL : __real_realloc(old, len);
}

char *__wrap_strdup(const char *text)
{
    return fails() ? NULL : __real_strdup(text);
}

void *__wrap_mmap64(void *at, size_t len, int prot, int flags, int fd, off_t from)
{
    return fails() ? MAP_FAILED : __real_mmap64(at, len, prot, flags, fd, from);
}

/* ---- calls that allocate ---- */

/* What fails in the one call of `make` that is under test; Check allocates, too. */
static int starve_at;

static int starved(int rc)
{
    fail_at = 0;
    return rc;
}

#define STARVED(call) (fail_at = starve_at, starved(call))

static MPI_T_pvar_session session;
static MPI_T_event_registration registration;

static void on_event(MPI_T_event_instance instance, MPI_T_event_registration r,
                     MPI_T_cb_safety safety, void *user_data)
{
    (void)instance;
    (void)r;
    (void)safety;
    ++*(int *)user_data;
}

static int make_session(void)
{
    MPI_T_pvar_session s = MPI_T_PVAR_SESSION_NULL;
    int rc = STARVED(MPI_T_pvar_session_create(&s));

    ck_assert((s == MPI_T_PVAR_SESSION_NULL) == (rc != MPI_SUCCESS));
    return rc == MPI_SUCCESS ? MPI_T_pvar_session_free(&s) : rc;
}

static int make_cvar_handle(void)
{
    MPI_T_cvar_handle h = MPI_T_CVAR_HANDLE_NULL;
    int i = cvar_named("fake_limit"), n = -1;
    int rc = STARVED(MPI_T_cvar_handle_alloc(i, NULL, &h, &n));

    ck_assert((h == MPI_T_CVAR_HANDLE_NULL) == (rc != MPI_SUCCESS) && (n == -1) == (rc != 0));
    return rc == MPI_SUCCESS ? MPI_T_cvar_handle_free(&h) : rc;
}

/* The value must be right as well. */
static int make_pvar_handle(const char *name, int klass)
{
    MPI_T_pvar_handle h = MPI_T_PVAR_HANDLE_NULL;
    unsigned long long v[8] = {0};
    int i = pvar_named(name, klass), n = -1;
    int rc = STARVED(MPI_T_pvar_handle_alloc(session, i, NULL, &h, &n));

    ck_assert((h == MPI_T_PVAR_HANDLE_NULL) == (rc != MPI_SUCCESS) && (n == -1) == (rc != 0));
    if (rc != MPI_SUCCESS) {
        return rc;
    }
    OK(MPI_T_pvar_start(session, h));
    fathom_word_add(&fake->counts[2], 5);
    fathom_level_set(&fake->depth, 9);
    fathom_level_set(&fake->depth, 4);
    OK(MPI_T_pvar_read(session, h, v));
    ck_assert_uint_eq(n == 3 ? v[2] : v[0], n == 3 ? 5 : 9);
    fathom_level_set(&fake->depth, 0);
    return MPI_T_pvar_handle_free(session, &h);
}

static int make_array_handle(void)
{
    return make_pvar_handle("fake_counts", MPI_T_PVAR_CLASS_COUNTER);
}

static int make_watermark_handle(void)
{
    return make_pvar_handle("fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
}

static int make_registration(void)
{
    MPI_T_event_registration r = NULL;
    int i = event_named("fake_plain");
    int rc = STARVED(MPI_T_event_handle_alloc(i, NULL, MPI_INFO_NULL, &r));

    ck_assert((r == NULL) == (rc != MPI_SUCCESS));
    return rc == MPI_SUCCESS ? MPI_T_event_handle_free(r, NULL, NULL) : rc;
}

static int make_callback(void)
{
    static int n_events;
    int before = n_events;
    int rc = STARVED(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                                   MPI_INFO_NULL, &n_events, on_event));

    fake_raise(1, 2, FATHOM_SAFE_RESTRICTED);
    ck_assert_int_eq(n_events - before, rc == MPI_SUCCESS);
    if (rc == MPI_SUCCESS) {
        OK(MPI_T_event_register_callback(registration, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                                         MPI_INFO_NULL, NULL, NULL));
    }
    return rc;
}

static unsigned long long level(const char *name)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, name, MPI_T_PVAR_CLASS_LEVEL);
    unsigned long long v = pvar_u64(s, h);

    OK(MPI_T_pvar_session_free(&s));
    return v;
}

static void check_nothing_is_left(const unsigned long long before[3])
{
    ck_assert_uint_eq(level("mpit_handles"), before[0]);
    ck_assert_uint_eq(level("mpit_sessions"), before[1]);
    ck_assert_uint_eq(level("mpit_registrations"), before[2]);
}

/* Every allocation that `make` needs fails in turn, with all after it. */
static void starve(int (*make)(void), int at_least)
{
    unsigned long long before[3];
    int k, rc;

    before[0] = level("mpit_handles");
    before[1] = level("mpit_sessions");
    before[2] = level("mpit_registrations");
    for (k = 1;; k++) {
        n_failed = 0;
        starve_at = k;
        rc = make();
        starve_at = 0;
        if (n_failed == 0) {
            OK(rc);
            break;
        }
        GIVES(rc, MPI_T_ERR_MEMORY);
        check_nothing_is_left(before);
    }
    check_nothing_is_left(before); /* a level is told with the next change of it */
    ck_assert_int_ge(k - 1, at_least);
}

START_TEST(each_allocation_fails_once)
{
    int provided;

    starve(make_cvar_handle, 1);
    starve(make_registration, 2); /* the queue, the registration */
    OK(MPI_T_event_handle_alloc(event_named("fake_plain"), NULL, MPI_INFO_NULL, &registration));
    starve(make_callback, 1);
    OK(MPI_T_event_handle_free(registration, NULL, NULL));
    session = session_open();
    starve(make_array_handle, 1);
    starve(make_watermark_handle, 1);
    OK(MPI_T_pvar_session_free(&session));
    OK(MPI_T_finalize()); /* the chunks of sessions and handles go with the last tool */
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    n_failed = 0;
    starve_at = 1;
    GIVES(make_session(), MPI_T_ERR_MEMORY);
    GIVES(make_registration(), MPI_T_ERR_MEMORY); /* the queue; registrations are there */
    session = session_open();                     /* this one is not starved */
    GIVES(make_array_handle(), MPI_T_ERR_MEMORY);
    starve_at = 0;
    ck_assert_int_eq(n_failed, 3);
    OK(make_session());
    OK(make_array_handle());
    OK(MPI_T_pvar_session_free(&session));
}
END_TEST

/* Objects of the host come and go without memory, too. */
START_TEST(no_memory_for_objects)
{
    static int things[3];
    void *block;
    int k, rc;

    for (k = 1;; k++) {
        n_failed = 0;
        block = &block;
        fail_at = k;
        rc = starved(fathom_mpit_object_add(&fake_table, &things[0], 1, "x", 1 << 20, &block));
        ck_assert_int_eq(rc, -1); /* too long for the page anyway */
        if (n_failed == 0) {
            break;
        }
        ck_assert_ptr_null(block);
    }
    ck_assert_ptr_nonnull(block);
    ck_assert_int_eq(k, 3);    /* the object, its words */
    for (k = 1; k <= 3; k++) { /* of a length that was never given back */
        OK(fathom_mpit_object_add(&fake_table, &things[1], 2, "x", 50 + 8 * k, &block));
        fail_at = k;
        fathom_mpit_object_remove(&things[1]);
        fail_at = 0;
    }
    fathom_mpit_object_remove(&things[0]);
    OK(fathom_mpit_object_add(&fake_table, &things[2], 3, "x", 40, &block));
    ck_assert_ptr_nonnull(block);
    fathom_mpit_object_remove(&things[2]);
}
END_TEST

START_TEST(no_memory_for_an_info)
{
    MPI_T_event_registration r;
    MPI_Info info = MPI_INFO_NULL;

    OK(MPI_T_event_handle_alloc(event_named("fake_plain"), NULL, MPI_INFO_NULL, &r));
    fake_refuse_info = true;
    GIVES(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &info),
          MPI_T_ERR_MEMORY);
    GIVES(
        MPI_T_event_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &info, NULL, NULL, NULL),
        MPI_T_ERR_MEMORY);
    GIVES(MPI_T_event_handle_get_info(r, &info), MPI_T_ERR_MEMORY);
    ck_assert(info == MPI_INFO_NULL);
    fake_refuse_info = false;
    OK(MPI_T_event_handle_get_info(r, &info));
    OK(MPI_T_event_handle_free(r, NULL, NULL));
}
END_TEST

/* ---- numbers ---- */

#define MANY (4096 * 64)

START_TEST(sessions_are_out)
{
    MPI_T_pvar_session *s = calloc(MANY + 1, sizeof(*s)), one_more = MPI_T_PVAR_SESSION_NULL;
    int i;

    for (i = 0; i < MANY; i++) {
        OK(MPI_T_pvar_session_create(&s[i]));
    }
    GIVES(MPI_T_pvar_session_create(&one_more), MPI_T_ERR_OUT_OF_SESSIONS);
    ck_assert(one_more == MPI_T_PVAR_SESSION_NULL);
    for (i = 0; i < 3; i++) {
        OK(MPI_T_pvar_session_free(&s[i * MANY / 3]));
    }
    for (i = 0; i < 3; i++) {
        OK(MPI_T_pvar_session_create(&s[i * MANY / 3]));
    }
    one_more = s[0];
    GIVES(MPI_T_pvar_session_create(&one_more), MPI_T_ERR_OUT_OF_SESSIONS);
    ck_assert(one_more == s[0]);
    for (i = 0; i < MANY; i++) {
        OK(MPI_T_pvar_session_free(&s[i]));
    }
    free(s);
}
END_TEST

START_TEST(handles_are_out)
{
    int done = pvar_named("fake_done", MPI_T_PVAR_CLASS_COUNTER), limit = cvar_named("fake_limit");
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle first, h = MPI_T_PVAR_HANDLE_NULL;
    MPI_T_cvar_handle c, one_more = MPI_T_CVAR_HANDLE_NULL;
    int i, n;

    OK(MPI_T_pvar_handle_alloc(s, done, NULL, &first, &n));
    for (i = 1; i < MANY; i++) {
        OK(MPI_T_pvar_handle_alloc(s, done, NULL, &h, &n));
    }
    n = -1;
    GIVES(MPI_T_pvar_handle_alloc(s, done, NULL, &h, &n), MPI_T_ERR_OUT_OF_HANDLES);
    ck_assert_int_eq(n, -1);
    OK(MPI_T_pvar_handle_free(s, &first));
    OK(MPI_T_pvar_handle_alloc(s, done, NULL, &first, &n));
    OK(MPI_T_pvar_session_free(&s)); /* with all of them */
    for (i = 0; i < MANY; i++) {
        OK(MPI_T_cvar_handle_alloc(limit, NULL, &c, &n));
    }
    GIVES(MPI_T_cvar_handle_alloc(limit, NULL, &one_more, &n), MPI_T_ERR_OUT_OF_HANDLES);
    ck_assert(one_more == MPI_T_CVAR_HANDLE_NULL);
    OK(MPI_T_cvar_handle_free(&c));
    OK(MPI_T_cvar_handle_alloc(limit, NULL, &c, &n));
}
END_TEST

START_TEST(registrations_are_out)
{
    MPI_T_event_registration *r = calloc(MANY, sizeof(*r)), one_more = NULL;
    int plain = event_named("fake_plain"), i, n = 0, rc = MPI_SUCCESS;

    /* Those of other tests are used again, for the event that they were made for only. */
    while (rc == MPI_SUCCESS && n < MANY) {
        rc = MPI_T_event_handle_alloc(plain, NULL, MPI_INFO_NULL, &r[n]);
        n += rc == MPI_SUCCESS;
    }
    GIVES(MPI_T_event_handle_alloc(plain, NULL, MPI_INFO_NULL, &one_more),
          MPI_T_ERR_OUT_OF_HANDLES);
    ck_assert(one_more == NULL);
    ck_assert_int_ge(n, MANY - 64);
    OK(MPI_T_event_handle_free(r[n / 2], NULL, NULL));
    OK(MPI_T_event_handle_alloc(plain, NULL, MPI_INFO_NULL, &r[n / 2]));
    for (i = 0; i < n; i += 2) {
        OK(MPI_T_event_handle_free(r[i], NULL, NULL));
    }
    free(r);
    OK(MPI_T_finalize()); /* with which the rest ends */
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &i));
    OK(MPI_T_event_handle_alloc(plain, NULL, MPI_INFO_NULL, &one_more));
}
END_TEST

/* ---- the first start ---- */

/* No test of Check runs yet. */
static void need(int is_so, const char *what, int k)
{
    if (!is_so) {
        fprintf(stderr, "allocation %d of the first start fails: not so: %s\n", k, what);
        exit(EXIT_FAILURE);
    }
}

#define NEED(what) need((what), #what, k)

/* In a process of its own, which ends with NONE_LEFT if no allocation was left to fail. */
#define NONE_LEFT 77
static void start_starving(int k)
{
    int provided = -1, n = -1;

    fake_host_open();
    setenv("FATHOM_FAKE_LIMIT", "77", 1);
    fail_at = k;
    n = MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided);
    fail_at = 0;
    if (n_failed == 0) {
        NEED(n == MPI_SUCCESS);
        _exit(NONE_LEFT);
    }
    if (is_alone && n == MPI_SUCCESS) {
        _exit(0); /* it only makes sums faster */
    }
    NEED(n == MPI_T_ERR_CANNOT_INIT && provided == -1);
    NEED(MPI_T_cvar_get_num(&n) == MPI_T_ERR_NOT_INITIALIZED);
    NEED(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided) == MPI_T_ERR_CANNOT_INIT);
    NEED(MPI_T_finalize() == MPI_T_ERR_NOT_INITIALIZED);
    _exit(0);
}

static void starve_starts(void)
{
    int k, status = 0;
    pid_t pid;

    for (k = 1; status == 0; k++) {
        pid = fork();
        NEED(pid >= 0);
        if (pid == 0) {
            start_starving(k);
        }
        NEED(waitpid(pid, &status, 0) == pid);
        NEED(status == 0 || status == NONE_LEFT << 8);
    }
    NEED(k > 50);
}

int main(void)
{
    const TTest *tests[] = {
        each_allocation_fails_once, no_memory_for_objects, no_memory_for_an_info,
        sessions_are_out,           handles_are_out,       registrations_are_out};

    starve_starts(); /* while the registry of this process has not started */
    is_alone = true;
    starve_starts();
    is_alone = false;
    return suite_run(suite_of("mpit_limits", tests, 6));
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry in a program that names no host: tables, tools and values from the environment work,
   what needs a host says so. Each case is a process of its own, as the registry starts once. */
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/mpit/mpit_test.h"

struct words {
    uint64_t values[5], on, fixed, n_done;
};

#define WIDE(n, t)                                                                                 \
    {                                                                                              \
        .name = (n), .desc = "As wide as its type.", .type = (t), .scope = FATHOM_SCOPE_LOCAL,     \
        .at = 8 * ((t)-FATHOM_INT), .def = 1, .min = INT64_MIN, .max = INT64_MAX                   \
    }

static const struct fathom_cvar cvars[] = {
    WIDE("alone_int", FATHOM_INT),
    WIDE("alone_unsigned", FATHOM_UNSIGNED),
    WIDE("alone_ulong", FATHOM_UNSIGNED_LONG),
    WIDE("alone_ull", FATHOM_UNSIGNED_LONG_LONG),
    WIDE("alone_count", FATHOM_COUNT),
    {.name = "alone_fixed",
     .desc = "Not after init.",
     .type = FATHOM_INT,
     .scope = FATHOM_SCOPE_LOCAL,
     .at = offsetof(struct words, fixed),
     .max = 9,
     .fixed_after_init = true},
};
static const struct fathom_pvar pvars[] = {{.name = "alone_done",
                                            .desc = "Done.",
                                            .klass = FATHOM_COUNTER,
                                            .at = offsetof(struct words, n_done)},
                                           {.name = "alone_bound",
                                            .desc = "Of a comm.",
                                            .bind = FATHOM_BIND_COMM,
                                            .klass = FATHOM_COUNTER}};
static const struct fathom_event events[] = {
    {.name = "alone_event", .desc = "It happened.", .at = offsetof(struct words, on)},
    {.name = "alone_bound",
     .desc = "It happened.",
     .bind = FATHOM_BIND_COMM,
     .at = offsetof(struct words, on)}};
static const struct fathom_table table = {
    .room = "alone",
    .block_len = sizeof(struct words),
    .cvars = cvars,
    .n_cvars = 6,
    .pvars = pvars,
    .n_pvars = 2,
    .events = events,
    .n_events = 2,
    .object_bind = FATHOM_BIND_COMM,
    .object_block_len = 8,
};

static struct words *words;

static void begin(void)
{
    void *block = NULL;
    int provided;

    ck_assert_int_eq(fathom_mpit_add(&table, &block), 0);
    words = block;
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
}

static char said[4096];

/* What the child writes to stderr is in said. Its assertions end it. */
static void in_a_child(void (*fn)(void))
{
    int fds[2], status;
    size_t n = 0;
    ssize_t got;
    pid_t pid;

    ck_assert_int_eq(pipe(fds), 0);
    pid = fork();
    if (pid == 0) {
        dup2(fds[1], STDERR_FILENO);
        close(fds[0]);
        close(fds[1]);
        fn();
        _exit(0);
    }
    close(fds[1]);
    while ((got = read(fds[0], said + n, sizeof(said) - 1 - n)) > 0) {
        n += (size_t)got;
    }
    said[n] = '\0';
    close(fds[0]);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_msg(status == 0, "status %d\n%s", status, said);
}

static void on_event(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                     void *user_data)
{
    (void)in, (void)reg, (void)level;
    ++*(int *)user_data;
}

static void use(void)
{
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    MPI_T_cvar_handle c;
    MPI_T_event_registration r;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Info info = (MPI_Info)0x77;
    int n, value = 4, n_events = 0;
    static const struct fathom_table late = {.room = "late"};

    begin();
    s = session_open();
    h = pvar_open(s, "alone_done", MPI_T_PVAR_CLASS_COUNTER);
    OK(MPI_T_pvar_start(s, h));
    words->n_done += 3;
    ck_assert_uint_eq(pvar_u64(s, h), 3);
    GIVES(MPI_T_pvar_handle_alloc(s, pvar_named("alone_bound", MPI_T_PVAR_CLASS_COUNTER), &comm, &h,
                                  &n),
          MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_handle_alloc(event_named("alone_bound"), &comm, MPI_INFO_NULL, &r),
          MPI_T_ERR_INVALID);
    c = cvar_open("alone_fixed"); /* nobody knows when MPI_Init was */
    OK(MPI_T_cvar_write(c, &value));
    ck_assert_uint_eq(words->fixed, 4);
    OK(MPI_T_source_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &info));
    ck_assert(info == MPI_INFO_NULL);
    OK(MPI_T_event_handle_alloc(event_named("alone_event"), NULL, (MPI_Info)0x77, &r));
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_MPI_RESTRICTED, (MPI_Info)0x77, &n_events,
                                     on_event));
    fathom_mpit_emit(&events[0], words, NULL, NULL);
    ck_assert_int_eq(n_events, 1);
    ck_assert_int_eq(fathom_mpit_add(&late, NULL), -1);
    tool_end();
}

START_TEST(without_a_host)
{
    in_a_child(use);
    ck_assert_str_eq(said, "fathom: table late refused: the set of variables is fixed\n");
}
END_TEST

/* The page of a host that brings its own, and the first one only. */
static void bring_a_page(void)
{
    static char memory[2 << 16] __attribute__((aligned(64)));
    const size_t least = 1 << 16;
    const struct fathom_page *page = (const void *)memory;

    ck_assert_int_eq(fathom_mpit_page(NULL, least), -1);
    ck_assert_int_eq(fathom_mpit_page(memory, least - 1), -1);
    ck_assert_int_eq(fathom_mpit_page(memory + 8, least), -1);
    ck_assert_uint_eq(page->magic, 0);
    ck_assert_int_eq(fathom_mpit_page(memory, least), 0);
    ck_assert_int_eq(fathom_mpit_page(memory + least, least), -1);
    ck_assert_ptr_eq(fathom_mpit_page_get(), memory);
    begin();
    ck_assert(page->magic == FATHOM_PAGE_MAGIC && page->len == least);
    ck_assert((char *)words > memory && (char *)(words + 1) <= memory + least);
    tool_end();
}

START_TEST(a_page_of_the_host)
{
    in_a_child(bring_a_page);
}
END_TEST

static int type; /* of the case */

static void write_number(MPI_T_cvar_handle c, int64_t value)
{
    unsigned narrow = (unsigned)value;
    void *buf = type <= FATHOM_UNSIGNED ? (void *)&narrow : &value;
    char back[8] = "";

    OK(MPI_T_cvar_write(c, buf));
    ck_assert_int_eq((int64_t)words->values[type - FATHOM_INT], value);
    OK(MPI_T_cvar_read(c, back));
    ck_assert_int_eq(memcmp(back, buf, type <= FATHOM_UNSIGNED ? 4 : 8), 0);
}

/* What came from the environment, then what a tool writes. */
static void look(void)
{
    static const int64_t most[] = {INT32_MAX, UINT32_MAX, INT64_MAX, INT64_MAX, INT64_MAX};
    MPI_T_cvar_handle c;

    begin();
    fprintf(stderr, "value %lld\n", (long long)words->values[type - FATHOM_INT]);
    c = cvar_open(cvars[type - FATHOM_INT].name);
    write_number(c, most[type - FATHOM_INT]);
    write_number(c, 0);
    if (type == FATHOM_INT || type == FATHOM_COUNT) {
        write_number(c, type == FATHOM_INT ? INT32_MIN : INT64_MIN);
    } else if (type != FATHOM_UNSIGNED) {
        GIVES(MPI_T_cvar_write(c, &(int64_t){-1}), MPI_T_ERR_INVALID); /* beyond INT64_MAX */
    }
    tool_end();
}

START_TEST(values_fit_their_type)
{
    static const struct {
        int type;
        const char *environment, *text;
        bool is_good;
    } cases[] = {
        {FATHOM_INT, "FATHOM_ALONE_INT", "2147483647", true},
        {FATHOM_INT, "FATHOM_ALONE_INT", "2147483648", false},
        {FATHOM_INT, "FATHOM_ALONE_INT", "-2147483648", true},
        {FATHOM_INT, "FATHOM_ALONE_INT", "-2147483649", false},
        {FATHOM_UNSIGNED, "FATHOM_ALONE_UNSIGNED", "0", true},
        {FATHOM_UNSIGNED, "FATHOM_ALONE_UNSIGNED", "4294967295", true},
        {FATHOM_UNSIGNED, "FATHOM_ALONE_UNSIGNED", "4294967296", false},
        {FATHOM_UNSIGNED, "FATHOM_ALONE_UNSIGNED", "-1", false},
        {FATHOM_UNSIGNED_LONG, "FATHOM_ALONE_ULONG", "0", true},
        {FATHOM_UNSIGNED_LONG, "FATHOM_ALONE_ULONG", "-1", false},
        {FATHOM_UNSIGNED_LONG_LONG, "FATHOM_ALONE_ULL", "0", true},
        {FATHOM_UNSIGNED_LONG_LONG, "FATHOM_ALONE_ULL", "-1", false},
        {FATHOM_COUNT, "FATHOM_ALONE_COUNT", "-9223372036854775808", true},
        {FATHOM_COUNT, "FATHOM_ALONE_COUNT", "9223372036854775808", false},
    };
    char value[64];

    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        type = cases[i].type;
        setenv(cases[i].environment, cases[i].text, 1);
        in_a_child(look);
        unsetenv(cases[i].environment);
        snprintf(value, sizeof(value), "value %s\n", cases[i].is_good ? cases[i].text : "1");
        ck_assert_msg(strstr(said, value) != NULL, "%s: %s", cases[i].text, said);
        ck_assert_msg((strstr(said, "ignored") == NULL) == cases[i].is_good, "%s: %s",
                      cases[i].text, said);
    }
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mpit_alone");
    TCase *tc = tcase_create("mpit_alone");

    setenv("FATHOM_SYSTEM_PARAM_FILE", "/nonexistent", 1);
    setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
    tcase_add_test(tc, without_a_host);
    tcase_add_test(tc, a_page_of_the_host);
    tcase_add_test(tc, values_fit_their_type);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

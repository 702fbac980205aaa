/* SPDX-License-Identifier: BSD-3-Clause */
/* Control variables: reading, writing, bounds, scopes, binding. Where their values come from is in
   test_mpit_param.c. */
#include "unit/mpit/mpit_test.h"

static unsigned long long cvar_u64(MPI_T_cvar_handle h)
{
    unsigned long long v = 0;

    OK(MPI_T_cvar_read(h, &v));
    return v;
}

START_TEST(integers_are_written_within_bounds)
{
    MPI_T_cvar_handle h = cvar_open("fake_limit");
    unsigned long long v = 8192;

    ck_assert_uint_eq(cvar_u64(h), 4096);
    fake_n_changed = 0;
    OK(MPI_T_cvar_write(h, &v));
    ck_assert_int_eq(fake_n_changed, 1);
    ck_assert_uint_eq(fake->limit, 8192); /* the word that the host reads */
    ck_assert_uint_eq(cvar_u64(h), 8192);
    v = (1 << 20) + 1;
    GIVES(MPI_T_cvar_write(h, &v), MPI_T_ERR_INVALID);
    v = ~0ull;
    GIVES(MPI_T_cvar_write(h, &v), MPI_T_ERR_INVALID);
    ck_assert_uint_eq(cvar_u64(h), 8192);
    fake_refuse = 1;
    v = 1;
    GIVES(MPI_T_cvar_write(h, &v), MPI_T_ERR_CVAR_SET_NOT_NOW);
    ck_assert_uint_eq(fake->limit, 8192);
    ck_assert_int_eq(fathom_mpit_cvar_source(cvar_named("fake_limit"), NULL, NULL),
                     FATHOM_FROM_TOOL);
    v = 4096;
    OK(MPI_T_cvar_write(h, &v));
    OK(MPI_T_cvar_handle_free(&h));
    ck_assert_ptr_null(h);
}
END_TEST

START_TEST(doubles_enums_and_texts)
{
    MPI_T_cvar_handle ratio = cvar_open("fake_ratio"), mode = cvar_open("fake_mode");
    MPI_T_cvar_handle text = cvar_open("fake_text");
    char buf[32], new_text[32] = "storm";
    double d;
    int i, count;

    for (i = 0; i < 2; i++) { /* the bounds themselves are in */
        d = 2 * i;
        OK(MPI_T_cvar_write(ratio, &d));
    }
    d = -0.5;
    GIVES(MPI_T_cvar_write(ratio, &d), MPI_T_ERR_INVALID);
    d = 1.25;
    OK(MPI_T_cvar_write(ratio, &d));
    i = FAKE_BLUE;
    d = 2.5;
    GIVES(MPI_T_cvar_write(ratio, &d), MPI_T_ERR_INVALID);
    d = 0.0 / 0.0;
    GIVES(MPI_T_cvar_write(ratio, &d), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_read(ratio, &d));
    ck_assert_double_eq(d, 1.25);
    OK(MPI_T_cvar_write(mode, &i));
    i = 2; /* between two items */
    GIVES(MPI_T_cvar_write(mode, &i), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_read(mode, &i));
    ck_assert_int_eq(i, FAKE_BLUE);
    OK(MPI_T_cvar_read(text, buf));
    ck_assert_str_eq(buf, "calm sea");
    OK(MPI_T_cvar_write(text, new_text));
    ck_assert_str_eq(fake->text, "storm");
    memset(buf, 'x', sizeof(buf)); /* not terminated */
    GIVES(MPI_T_cvar_write(text, buf), MPI_T_ERR_INVALID);
    fake_refuse = 1;
    GIVES(MPI_T_cvar_write(text, ""), MPI_T_ERR_CVAR_SET_NOT_NOW);
    OK(MPI_T_cvar_read(text, buf));
    ck_assert_str_eq(buf, "storm");
    OK(MPI_T_cvar_handle_free(&text));
    OK(MPI_T_cvar_handle_alloc(cvar_named("fake_text"), NULL, &text, &count));
    ck_assert_int_eq(count, 32);
}
END_TEST

START_TEST(scopes_are_true)
{
    MPI_T_cvar_handle never = cvar_open("fake_never"), fixed = cvar_open("fake_fixed");
    MPI_T_cvar_handle seen = cvar_open("fake_seen");
    unsigned u = 7;
    int i = 4;

    GIVES(MPI_T_cvar_write(never, &u), MPI_T_ERR_CVAR_SET_NEVER);
    GIVES(MPI_T_cvar_write(seen, &u), MPI_T_ERR_CVAR_SET_NEVER);
    OK(MPI_T_cvar_write(fixed, &i));
    i = -11;
    GIVES(MPI_T_cvar_write(fixed, &i), MPI_T_ERR_INVALID);
    fake_is_inited = true;
    i = 5;
    GIVES(MPI_T_cvar_write(fixed, &i), MPI_T_ERR_CVAR_SET_NOT_NOW);
    fake_is_inited = false;
    OK(MPI_T_cvar_read(fixed, &i));
    ck_assert_int_eq(i, 4);
}
END_TEST

START_TEST(bound_ones_override_the_process)
{
    MPI_T_cvar_handle whole, one, two;
    MPI_Comm c0 = fake_comm_handle(0), c1 = fake_comm_handle(1);
    int n, bind, index = cvar_named("fake_bound_comm");
    MPI_Count v;

    OK(MPI_T_cvar_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL));
    ck_assert_int_eq(bind, MPI_T_BIND_MPI_COMM);
    GIVES(MPI_T_cvar_handle_alloc(index, &c0, &one, &n), MPI_T_ERR_INVALID);
    fake_comm_make(0);
    fake_comm_make(1);
    OK(MPI_T_cvar_handle_alloc(index, &c0, &one, &n)); /* the first handle of all */
    whole = cvar_open("fake_bound");
    OK(MPI_T_cvar_handle_alloc(index, &c1, &two, &n));
    GIVES(MPI_T_cvar_handle_alloc(index, NULL, &one, &n), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_read(one, &v));
    ck_assert_int_eq(v, 10);
    v = 0; /* zero is a value of its own, not "follow" */
    OK(MPI_T_cvar_write(one, &v));
    ck_assert_ptr_eq(fake_changed_object, &fake_comms[0]);
    ck_assert_uint_eq(fake_comms[0].words->bound, 1);
    v = 20;
    OK(MPI_T_cvar_write(whole, &v));
    ck_assert_ptr_null(fake_changed_object);
    OK(MPI_T_cvar_read(one, &v));
    ck_assert_int_eq(v, 0);
    OK(MPI_T_cvar_read(two, &v));
    ck_assert_int_eq(v, 20);
    v = 1001;
    GIVES(MPI_T_cvar_write(two, &v), MPI_T_ERR_INVALID);
    fake_comm_free(0);
    GIVES(MPI_T_cvar_read(one, &v), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_cvar_write(one, &v), MPI_T_ERR_INVALID_HANDLE);
    OK(MPI_T_cvar_handle_free(&one));
    fake_comm_free(1);
    v = 10;
    OK(MPI_T_cvar_write(whole, &v));
}
END_TEST

START_TEST(every_index_is_valid)
{
    int n, i, index, len, desc_len, verbosity, bind, scope, count;
    char name[64], desc[1024];
    MPI_T_cvar_handle h;
    MPI_Datatype type;
    MPI_T_enum e;

    OK(MPI_T_cvar_get_num(&n));
    ck_assert_int_ge(n, 8);
    for (i = 0; i < n; i++) {
        len = sizeof(name);
        desc_len = sizeof(desc);
        OK(MPI_T_cvar_get_info(i, name, &len, &verbosity, &type, &e, desc, &desc_len, &bind,
                               &scope));
        ck_assert_int_eq(len, (int)strlen(name) + 1);
        ck_assert_int_eq(desc_len, (int)strlen(desc) + 1);
        OK(MPI_T_cvar_get_index(name, &index));
        ck_assert_int_eq(index, i);
        ck_assert((type == MPI_INT) || e == MPI_T_ENUM_NULL);
        if (bind == MPI_T_BIND_NO_OBJECT) {
            OK(MPI_T_cvar_handle_alloc(i, NULL, &h, &count));
            OK(MPI_T_cvar_handle_free(&h));
        }
    }
    GIVES(MPI_T_cvar_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
          MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_cvar_get_info(-1, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
          MPI_T_ERR_INVALID_INDEX);
    OK(MPI_T_cvar_get_info(0, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    GIVES(MPI_T_cvar_get_index("no_such_variable", &index), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_cvar_get_index(NULL, &index), MPI_T_ERR_INVALID);
    GIVES(MPI_T_cvar_get_num(NULL), MPI_T_ERR_INVALID);
}
END_TEST

/* The text says what the standard has no place for (15.3.6.1). */
START_TEST(descriptions_tell_bounds_default_and_scope)
{
    static const struct {
        const char *name, *desc;
    } texts[] = {
        {"fake_limit",
         "A limit. [0..1048576 bytes; default 4096; FAKE_FAKE_LIMIT; the same value in "
         "all connected processes]"},
        {"fake_ratio", "A ratio. [0..2; default 0.5; FAKE_FAKE_RATIO; each process for itself]"},
        {"fake_mode", "A colour. [red=1, green=5, blue=9; default 5; FAKE_FAKE_MODE; consistent "
                      "values in the group]"},
        {"fake_fixed",
         "Not after init. [-10..10; default -3; FAKE_FAKE_FIXED; consistent values in "
         "all connected processes; fixed after MPI_Init]"},
        {"fake_never", "Never. [0..100; default 7; FAKE_FAKE_NEVER; not written by tools]"},
        {"fake_text", "A text. [at most 31 characters; default \"calm sea\"; FAKE_FAKE_TEXT; each "
                      "process for itself]"},
        {"fake_bound_comm", "Of the process or of one comm. This is the value of one object. "
                            "[0..1000; default 10; FAKE_FAKE_BOUND; each process for itself]"},
        {"fake_weight",
         "A weight. [1..8 tons; default 1.5; FAKE_FAKE_WEIGHT; the same value in the "
         "group]"},
        {"fake_seen", "Seen. [0..4294967295; default 3; FAKE_FAKE_SEEN; read-only]"},
    };
    char desc[1024];
    size_t i;
    int len;

    for (i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        len = sizeof(desc);
        OK(MPI_T_cvar_get_info(cvar_named(texts[i].name), NULL, NULL, NULL, NULL, NULL, desc, &len,
                               NULL, NULL));
        ck_assert_str_eq(desc, texts[i].desc);
    }
}
END_TEST

START_TEST(bad_handles_are_refused)
{
    MPI_T_cvar_handle bad = (MPI_T_cvar_handle)0xabcdef, h = cvar_open("fake_limit"), old = h;
    unsigned long long v;

    GIVES(MPI_T_cvar_read(bad, &v), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_cvar_write(MPI_T_CVAR_HANDLE_NULL, &v), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_cvar_handle_free(&bad), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_cvar_handle_free(NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_cvar_read(h, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_cvar_handle_free(&h));
    GIVES(MPI_T_cvar_read(old, &v), MPI_T_ERR_INVALID_HANDLE);
}
END_TEST

int main(void)
{
    const TTest *tests[] = {
        integers_are_written_within_bounds,        doubles_enums_and_texts, scopes_are_true,
        bound_ones_override_the_process,           every_index_is_valid,    bad_handles_are_refused,
        descriptions_tell_bounds_default_and_scope};

    return suite_run(suite_of("mpit_cvar", tests, (int)(sizeof(tests) / sizeof(tests[0]))));
}

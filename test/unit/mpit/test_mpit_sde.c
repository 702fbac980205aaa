/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Registration with PAPI's library for software-defined events, played by fake_sde.c. A process has
 * one registry, so the case is an argument: off, auto, present, load, old (found by the name that
 * the system knows), part (lacks a function), missing; the second is the library.
 */
#include <dlfcn.h>
#include <stdio.h>

#include "unit/mpit/mpit_test.h"

static int (*read_fn)(const char *name, int *out_mode, long long *out_value);
static int (*count_fn)(const char **out_library);

static void look_up(void)
{
    *(void **)&read_fn = dlsym(RTLD_DEFAULT, "fake_sde_read");
    *(void **)&count_fn = dlsym(RTLD_DEFAULT, "fake_sde_count");
}

static void is_read(const char *name, int mode, long long should)
{
    long long value = -1;
    int is_mode = -1;

    ck_assert_msg(read_fn(name, &is_mode, &value) == 0, "%s is not registered", name);
    ck_assert_msg(is_mode == mode && value == should, "%s: mode %d, %lld", name, is_mode, value);
}

/* Numbers of the process are there, and live, sums as well; bound ones and arrays are not. */
static void numbers_are_seen(void)
{
    const char *name;
    long long value;
    int mode;

    ck_assert_int_gt(count_fn(&name), 10);
    ck_assert_str_eq(name, "fake");
    for (int k = 1; k <= 3; k++) {
        fake->n_done++;
        fathom_level_set(&fake->depth, (uint64_t)(10 - k));
        is_read("fake_done", 0x00, k);
        is_read("fake_depth", 0x10, 10 - k);
        is_read("fake_depth_high", 0x10, 9);
    }
    /* What has no word of its own, and what is counted from the first look on. */
    fake->n_done = fake->size = 400;
    fake->counts[2] = 1000;
    fake->pairs[1][1] = 20000;
    is_read("fake_sum", 0x00, 21400);
    is_read("fake_share", 0x10, 1);
    fathom_level_set(&fake->other, 6);
    is_read("fake_other", 0x10, 6); /* its name is that of no other one */
    fake->asked[0] = 5;
    ck_assert_uint_eq(fake->n_asking, 0);
    is_read("fake_asked", 0x00, 5);
    is_read("fake_asked", 0x00, 5);
    ck_assert_uint_eq(fake->n_asking, 1);
    ck_assert_int_eq(read_fn("fake_counts", &mode, &value), -1);
    ck_assert_int_eq(read_fn("fake_msgs", &mode, &value), -1);
}

static const char *how, *library;

START_TEST(one_case)
{
    bool is_loaded = strcmp(how, "load") == 0 || strcmp(how, "old") == 0;
    bool is_faulty = strcmp(how, "part") == 0 || strcmp(how, "missing") == 0;
    int n;

    if (strcmp(how, "present") == 0 || strcmp(how, "off") == 0) {
        ck_assert_ptr_nonnull(dlopen(library, RTLD_NOW | RTLD_GLOBAL));
    }
    if (strcmp(how, "off") == 0) {
        setenv("FAKE_MPIT_PAPI", "off", 1);
    }
    if (is_loaded || is_faulty) {
        setenv("FAKE_MPIT_PAPI", "load", 1);
        setenv("FAKE_MPIT_PAPI_LIBRARY",
               how[0] == 'o'   ? ""
               : how[0] == 'm' ? "/nowhere/libsde.so"
                               : library,
               1);
    }
    tool_begin();
    look_up();
    if (strcmp(how, "present") == 0 || is_loaded) {
        numbers_are_seen();
        n = count_fn(&library);
        OK(MPI_T_finalize());
        tool_begin(); /* not once more */
        ck_assert_int_eq(count_fn(&library), n);
    } else if (strcmp(how, "off") == 0 || strcmp(how, "part") == 0) {
        ck_assert_int_eq(count_fn(&library), 0);
    } else {
        ck_assert_ptr_null(read_fn);
    }
    ck_assert_msg(fake_n_warnings == is_faulty, "%s", fake_warnings);
    ck_assert(!is_faulty || strstr(fake_warnings, how[0] == 'm' ? "but there is no file of PAPI's"
                                                                : "but functions are missing of"));
    tool_end();
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("mpit_sde");
    TCase *tc = tcase_create("case");

    how = argc > 2 ? argv[1] : "";
    library = argc > 2 ? argv[2] : "";
    tcase_add_test(tc, one_case);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

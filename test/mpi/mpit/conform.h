/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the conformance programs of MPI-5.0 chapter 15 share. They include nothing but
 * mpi.h and find variables by listing them (all but MPI_T_UMQ_LENGTH, which the standard's own
 * example names). For each failed check they say its section and number, and which variable it
 * was about.
 *
 * usage: PROGRAM [--mild]     --mild: no handles that were freed or made up, which the
 *                             standard lets an implementation not notice
 */
#ifndef TEST_MPI_CONFORM_H
#define TEST_MPI_CONFORM_H

#include <mpi.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int is_mild, n_checks, n_failures, n_kinds;
static const char *about = "", *section = "";

/* Numbers of the checks by their lines, in the order in which they were met first. */
static int kinds[2000];

static int kind_of(int line)
{
    int i;

    for (i = 0; i < n_kinds && kinds[i] != line; i++) {
    }
    if (i == n_kinds && n_kinds < 2000) {
        kinds[n_kinds++] = line;
    }
    return i + 1;
}

static inline int check(int line, int is_true, const char *what)
{
    int kind = kind_of(line);

    n_checks++;
    if (!is_true && n_failures++ < 100) {
        printf("FAILED %s check %d (line %d): %s%s%s\n", section, kind, line, what,
               *about ? "  of " : "", about);
    }
    return is_true;
}

#define CHECK(cond)      check(__LINE__, (cond), #cond)
#define OK(call)         check(__LINE__, (call) == MPI_SUCCESS, #call " succeeds")
#define GIVES(call, err) check(__LINE__, (call) == (err), #call " gives " #err)

#define MAX_NAME 512
#define MAX_DESC 8192

static char name[MAX_NAME];

/* MPI_Type_size needs MPI to be initialized; these are all that 15.3.5 allows. */
static inline size_t type_len(MPI_Datatype type)
{
    if (type == MPI_CHAR) {
        return 1;
    }
    if (type == MPI_INT || type == MPI_UNSIGNED || type == MPI_INT32_T || type == MPI_UINT32_T) {
        return sizeof(int);
    }
    return type == MPI_UNSIGNED_LONG ? sizeof(long) : sizeof(long long);
}

/* What this program can bind to: 1, and *out_object; 0 for kinds that it makes no object of. */
static MPI_Comm world;
static int is_between; /* MPI_Init to MPI_Finalize */

static inline int object_for(int bind, void **out_object)
{
    *out_object = NULL;
    if (bind == MPI_T_BIND_MPI_COMM && is_between) {
        *out_object = &world;
    }
    return bind == MPI_T_BIND_NO_OBJECT || *out_object;
}

/* ---- 15.3.5: datatypes and enumerations ---- */

static inline int is_allowed_type(MPI_Datatype t)
{
    return t == MPI_INT || t == MPI_UNSIGNED || t == MPI_UNSIGNED_LONG ||
           t == MPI_UNSIGNED_LONG_LONG || t == MPI_INT32_T || t == MPI_INT64_T ||
           t == MPI_UINT32_T || t == MPI_UINT64_T || t == MPI_COUNT || t == MPI_CHAR ||
           t == MPI_DOUBLE;
}

static inline int is_verbosity(int v)
{
    return v == MPI_T_VERBOSITY_USER_BASIC || v == MPI_T_VERBOSITY_USER_DETAIL ||
           v == MPI_T_VERBOSITY_USER_ALL || v == MPI_T_VERBOSITY_TUNER_BASIC ||
           v == MPI_T_VERBOSITY_TUNER_DETAIL || v == MPI_T_VERBOSITY_TUNER_ALL ||
           v == MPI_T_VERBOSITY_MPIDEV_BASIC || v == MPI_T_VERBOSITY_MPIDEV_DETAIL ||
           v == MPI_T_VERBOSITY_MPIDEV_ALL;
}

static inline int is_bind(int b)
{
    return b >= MPI_T_BIND_NO_OBJECT && b <= MPI_T_BIND_MPI_SESSION;
}

static inline int has_value(MPI_T_enum e, int value)
{
    int i, n = 0, v;

    MPI_T_enum_get_info(e, &n, NULL, NULL);
    for (i = 0; i < n; i++) {
        if (MPI_T_enum_get_item(e, i, &v, NULL, NULL) == MPI_SUCCESS && v == value) {
            return 1;
        }
    }
    return 0;
}

/* 15.3.5: the name of an enumeration is that of no other one. */
#define MAX_ENUMS 256

static MPI_T_enum seen_enums[MAX_ENUMS];
static char enum_names[MAX_ENUMS][64];
static int n_enums; /* set to 0 when handles may have changed */

static inline void test_enum_name(MPI_T_enum e, const char *enum_name)
{
    int i, is_new = 1;

    for (i = 0; i < n_enums; i++) {
        is_new = is_new && seen_enums[i] != e;
        CHECK((seen_enums[i] == e) == (strncmp(enum_names[i], enum_name, 63) == 0));
    }
    if (is_new && n_enums < MAX_ENUMS) {
        seen_enums[n_enums] = e;
        snprintf(enum_names[n_enums++], sizeof(enum_names[0]), "%.63s", enum_name);
    }
}

static inline void test_enum(MPI_T_enum e)
{
    char item[MAX_NAME], again[MAX_NAME];
    int n = -1, i, k, len = 0, value, other;

    section = "15.3.5";
    OK(MPI_T_enum_get_info(e, &n, NULL, &len));
    CHECK(n >= 1);
    CHECK(len >= 2);
    len = MAX_NAME;
    OK(MPI_T_enum_get_info(e, NULL, item, &len));
    CHECK((int)strlen(item) + 1 == len);
    test_enum_name(e, item);
    OK(MPI_T_enum_get_info(e, NULL, NULL, NULL));
    for (i = 0; i < n; i++) {
        len = MAX_NAME;
        OK(MPI_T_enum_get_item(e, i, &value, item, &len));
        CHECK(len >= 2 && (int)strlen(item) + 1 == len);
        OK(MPI_T_enum_get_item(e, i, NULL, NULL, NULL));
        len = 2;
        OK(MPI_T_enum_get_item(e, i, NULL, again, &len));
        CHECK(again[0] == item[0] && again[1] == '\0' && len == (int)strlen(item) + 1);
        for (k = 0; k < i; k++) {
            len = MAX_NAME;
            MPI_T_enum_get_item(e, k, &other, again, &len);
            CHECK(other != value && strcmp(again, item) != 0);
        }
    }
    GIVES(MPI_T_enum_get_item(e, n, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_enum_get_item(e, -1, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
}

static inline int has_option(int argc, char **argv, const char *option)
{
    int i;

    for (i = 1; i < argc; i++) {
        if (strcmp(argv[i], option) == 0) {
            return 1;
        }
    }
    return 0;
}

static inline int summary(void)
{
    printf("%d checks of %d kinds, %d failures\n", n_checks, n_kinds, n_failures);
    return n_failures != 0;
}

#endif

/* A walk before MPI_Init, one while MPI is up, and one after MPI_Finalize. What main() returns. */
static inline int walk_around_mpi(int argc, char **argv, void (*walk)(void))
{
    int rank = 0;

    is_mild = has_option(argc, argv, "--mild");
    walk();
    OK(MPI_Init(&argc, &argv));
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    is_between = 1;
    world = MPI_COMM_SELF;
    walk();
    is_between = 0;
    OK(MPI_Finalize());
    walk();
    return rank == 0 || n_failures ? summary() : 0;
}

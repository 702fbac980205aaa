/* SPDX-License-Identifier: BSD-3-Clause */
/* What a table must be like (fathom/mpit.h): each rule is broken once, which the warning names, and
   once it is just kept. The tables come before the registry starts, as those of a library do. */
#include <stdio.h>

#include "unit/mpit/mpit_test.h"

#define N_MAX 1024

/* What is added stays for good. */
static struct fathom_table tables[N_MAX];
static int n_tables;

/* Add a table; `why`: what the warning says, NULL: it is in. */
static void adds(struct fathom_table table, const char *name, const char *why)
{
    void *block = &block;
    int rc;

    ck_assert_int_lt(n_tables, N_MAX);
    tables[n_tables] = table;
    tables[n_tables].room = "tables";
    fake_warnings[0] = '\0';
    rc = fathom_mpit_add(&tables[n_tables++], &block);
    ck_assert_msg(rc == (why ? -1 : 0), "%s: %s", name, fake_warnings);
    ck_assert_msg(why ? strstr(fake_warnings, why) != NULL : !fake_warnings[0], "%s: %s", name,
                  fake_warnings);
    ck_assert((block == &block) == (why != NULL));
    if (why && name) {
        ck_assert_msg(strstr(fake_warnings, name) != NULL, "%s: %s", name, fake_warnings);
    }
}

/* A row of the table that it shall be in, which is of comms: 16 bytes of the process, 24 of an
   object and 16 of a member, unless it is said. */
#define TABLE .object_bind = FATHOM_BIND_COMM, .object_block_len = 24, .member_block_len = 16

static void adds_pvar(const struct fathom_pvar *row, size_t len, const char *why)
{
    adds((struct fathom_table){TABLE, .block_len = len, .pvars = row, .n_pvars = 1}, row->name,
         why);
}

static void adds_cvar(const struct fathom_cvar *row, size_t len, const char *why)
{
    adds((struct fathom_table){TABLE, .block_len = len, .cvars = row, .n_cvars = 1}, row->name,
         why);
}

static void adds_event(const struct fathom_event *row, size_t len, const char *why)
{
    adds((struct fathom_table){TABLE, .block_len = len, .events = row, .n_events = 1}, row->name,
         why);
}

static char *text(const char *format, int n)
{
    char *out = malloc(128);

    snprintf(out, 128, format, n);
    return out;
}

/* ---- names ---- */

#define BAD_NAME "has a malformed name or no description"

static char *long_name(const char *begin, size_t len)
{
    char *out = malloc(len + 1);

    memset(out, 'x', len);
    memcpy(out, begin, strlen(begin));
    out[len] = '\0';
    return out;
}

/* All kinds of variables are named alike. */
static void name_is(char *name, bool is_good)
{
    struct fathom_pvar *p = calloc(1, sizeof(*p));
    struct fathom_cvar *c = calloc(1, sizeof(*c));
    struct fathom_event *e = calloc(1, sizeof(*e));

    *p = (struct fathom_pvar){.name = name, .desc = "x", .klass = FATHOM_COUNTER};
    *c = (struct fathom_cvar){
        .name = name, .desc = "x", .type = FATHOM_INT, .scope = FATHOM_SCOPE_LOCAL};
    *e = (struct fathom_event){.name = name, .desc = "x"};
    adds_pvar(p, 8, is_good ? NULL : BAD_NAME);
    adds_cvar(c, 8, is_good ? NULL : BAD_NAME);
    adds_event(e, 8, is_good ? NULL : BAD_NAME);
}

START_TEST(names)
{
    static char *const bad[] = {NULL,      "",  "Bad", "bAd",  "9bad",      "_bad",   "bad-one",
                                "bad one", "{", "`",   "bad.", "MPI_t_bad", "xMPI_T_"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        name_is(bad[i], false);
    }
    name_is("a", true);
    name_is("z", true);
    name_is("a_0_9_z", true);
    name_is("MPI_T_Something", true);
    name_is(long_name("b", 55), true); /* "_session" fits behind, and a NUL */
    name_is(long_name("b", 56), false);
    name_is(long_name("MPI_T_", 63), true);
    name_is(long_name("MPI_T_", 64), false);
}
END_TEST

START_TEST(no_description)
{
    static const struct fathom_pvar p = {.name = "nd_p", .klass = FATHOM_COUNTER};
    static const struct fathom_cvar c = {
        .name = "nd_c", .type = FATHOM_INT, .scope = FATHOM_SCOPE_LOCAL};
    static const struct fathom_event e = {.name = "nd_e"};

    adds_pvar(&p, 8, BAD_NAME);
    adds_cvar(&c, 8, BAD_NAME);
    adds_event(&e, 8, BAD_NAME);
}
END_TEST

START_TEST(former_names)
{
    static const struct fathom_pvar p = {
        .name = "fn_p", .formerly = "Fn", .desc = "x", .klass = FATHOM_COUNTER};
    static const struct fathom_cvar c = {.name = "fn_c",
                                         .formerly = "",
                                         .desc = "x",
                                         .type = FATHOM_INT,
                                         .scope = FATHOM_SCOPE_LOCAL};
    static const struct fathom_event e = {.name = "fn_e", .formerly = "f-n", .desc = "x"};

    adds_pvar(&p, 8, BAD_NAME);
    adds_cvar(&c, 8, BAD_NAME);
    adds_event(&e, 8, BAD_NAME);
}
END_TEST

/* ---- enumerations ---- */

static const struct fathom_enum_item items[] = {{3, "elevenchars"}, {-5, "two"}};
static const struct fathom_enum_item long_items[] = {{3, "one"}, {4, "twelve_chars"}};
static const struct fathom_enum_item no_items[] = {{3, "one"}, {4, NULL}};
static const struct fathom_enum_item no_first[] = {{3, NULL}, {4, "one"}};
static const struct fathom_enum good_enum = {"good", items, 2}, small_enum = {"small", items, 1};
static const struct {
    struct fathom_enum e;
    const char *why;
} bad_enums[] = {
    {{NULL, items, 2}, "has an enumeration without name or items"},
    {{"bad", items, 0}, "has an enumeration without name or items"},
    {{"bad", long_items, 2}, "has an enumeration with an item name of more than 11"},
    {{"bad", no_items, 2}, "has an enumeration with an item name of more than 11"},
    {{"bad", no_first, 2}, "has an enumeration with an item name of more than 11"},
};

START_TEST(enumerations)
{
    static struct fathom_cvar c[5];
    static struct fathom_pvar p[5];
    static struct fathom_event e[5];
    static struct fathom_event_item data[5];

    for (int i = 0; i < 5; i++) {
        c[i] = (struct fathom_cvar){.name = text("enum_c%d", i),
                                    .desc = "x",
                                    .type = FATHOM_INT,
                                    .scope = FATHOM_SCOPE_LOCAL,
                                    .items = &bad_enums[i].e,
                                    .def = 3};
        p[i] = (struct fathom_pvar){.name = text("enum_p%d", i),
                                    .desc = "x",
                                    .klass = FATHOM_STATE,
                                    .items = &bad_enums[i].e};
        data[i] =
            (struct fathom_event_item){.name = "one", .type = FATHOM_INT, .items = &bad_enums[i].e};
        e[i] = (struct fathom_event){
            .name = text("enum_e%d", i), .desc = "x", .data = &data[i], .n_data = 1};
        adds_cvar(&c[i], 8, i == 1 ? "is no int with a default from it" : bad_enums[i].why);
        adds_pvar(&p[i], 8, bad_enums[i].why);
        adds_event(&e[i], 8, "has an element without name or with a type that is none");
    }
}
END_TEST

/* ---- control variables ---- */

#define CVAR(t, s, ...)                                                                            \
    {                                                                                              \
        .desc = "x", .type = (t), .scope = (s), __VA_ARGS__                                        \
    }
#define INT(...)  CVAR(FATHOM_INT, FATHOM_SCOPE_LOCAL, __VA_ARGS__)
#define NO_SCOPE  "has no type or no scope"
#define NO_STRING "is a string without a default that fits into 2 to 256 bytes"
#define NO_ENUM   "has an enumeration, but is no int with a default from it"
#define BAD_DEF   "has a default out of its bounds"
#define BAD_BOUND "is bound, but no integer from 0 on"
#define OUTSIDE   "lies outside of its block"

static struct {
    struct fathom_cvar row;
    size_t len;
    const char *why;
} cvars[] = {
    {CVAR(0, FATHOM_SCOPE_LOCAL), 8, NO_SCOPE},
    {CVAR(FATHOM_CHAR + 1, FATHOM_SCOPE_LOCAL), 8, NO_SCOPE},
    {CVAR(FATHOM_INT, 0), 8, NO_SCOPE},
    {CVAR(FATHOM_INT, FATHOM_SCOPE_ALL_EQ + 1), 8, NO_SCOPE},
    {CVAR(FATHOM_INT, FATHOM_SCOPE_CONSTANT), 8, NULL},
    {CVAR(FATHOM_INT, FATHOM_SCOPE_ALL_EQ), 8, NULL},
    {CVAR(FATHOM_DOUBLE, FATHOM_SCOPE_LOCAL), 8, NULL},
    {CVAR(FATHOM_DOUBLE, FATHOM_SCOPE_LOCAL, .def_real = 1), 8, BAD_DEF},
    {CVAR(FATHOM_DOUBLE, FATHOM_SCOPE_LOCAL, .def_real = 1, .min_real = 1, .max_real = 2), 8, NULL},
    {CVAR(FATHOM_DOUBLE, FATHOM_SCOPE_LOCAL, .def_real = 2, .min_real = 1, .max_real = 2), 8, NULL},
    {CVAR(FATHOM_DOUBLE, FATHOM_SCOPE_LOCAL, .def_real = 0, .min_real = 1, .max_real = 2), 8,
     BAD_DEF},
    {CVAR(FATHOM_CHAR, FATHOM_SCOPE_LOCAL, .count = 1, .def_text = ""), 256, NO_STRING},
    {CVAR(FATHOM_CHAR, FATHOM_SCOPE_LOCAL, .count = 2, .def_text = "a"), 8, NULL},
    {CVAR(FATHOM_CHAR, FATHOM_SCOPE_LOCAL, .count = 2, .def_text = "ab"), 8, NO_STRING},
    {CVAR(FATHOM_CHAR, FATHOM_SCOPE_LOCAL, .count = 256, .def_text = "ab"), 256, NULL},
    {CVAR(FATHOM_CHAR, FATHOM_SCOPE_LOCAL, .count = 256, .def_text = "ab"), 248, OUTSIDE},
    {CVAR(FATHOM_CHAR, FATHOM_SCOPE_LOCAL, .count = 257, .def_text = "ab"), 512, NO_STRING},
    {CVAR(FATHOM_CHAR, FATHOM_SCOPE_LOCAL, .count = 8), 8, NO_STRING},
    {INT(.items = &good_enum, .def = 3), 8, NULL},
    {INT(.items = &good_enum, .def = -5), 8, NULL},
    {INT(.items = &good_enum, .def = 4), 8, NO_ENUM},
    {CVAR(FATHOM_UNSIGNED, FATHOM_SCOPE_LOCAL, .items = &good_enum, .def = 3), 8, NO_ENUM},
    {INT(.def = 3, .min = 3, .max = 5), 8, NULL},
    {INT(.def = 5, .min = 3, .max = 5), 8, NULL},
    {INT(.def = 2, .min = 3, .max = 5), 8, BAD_DEF},
    {INT(.def = 6, .min = 3, .max = 5), 8, BAD_DEF},
    {CVAR(FATHOM_COUNT, FATHOM_SCOPE_LOCAL, .def = 6, .max = 5), 8, BAD_DEF},
    {INT(.at = 8), 16, NULL},
    {INT(.at = 8), 15, OUTSIDE},
    {INT(.bind = FATHOM_BIND_NONE), 8, NULL},
    {INT(.bind = FATHOM_BIND_COMM), 8, NULL},
    {INT(.bind = FATHOM_BIND_WIN), 8, "is bound to another kind of object than its table"},
    {CVAR(FATHOM_DOUBLE, FATHOM_SCOPE_LOCAL, .bind = FATHOM_BIND_COMM), 8, BAD_BOUND},
    {INT(.bind = FATHOM_BIND_COMM, .min = -1), 8, BAD_BOUND},
    {INT(.bind = FATHOM_BIND_COMM, .items = &good_enum, .def = 3, .min = -1), 8, NULL},
    {INT(.bind = FATHOM_BIND_COMM, .object_at = 16), 8, NULL},
    {INT(.bind = FATHOM_BIND_COMM, .object_at = 24), 8, "lies outside of its object's block"},
    {INT(.bind = FATHOM_BIND_COMM, .at = 8), 8, OUTSIDE},
};
#define N_CVARS ((int)(sizeof(cvars) / sizeof(cvars[0])))

START_TEST(control_variables)
{
    for (int i = 0; i < N_CVARS; i++) {
        cvars[i].row.name = text("cvar_%d", i);
        adds_cvar(&cvars[i].row, cvars[i].len, cvars[i].why);
    }
}
END_TEST

/* ---- performance variables ---- */

/* MPI-5.0 15.3.7; watermarks are kept of whole numbers only, GENERIC has no strings. */
static bool is_allowed(int klass, int type)
{
    bool is_unsigned = type >= FATHOM_UNSIGNED && type <= FATHOM_UNSIGNED_LONG_LONG;

    switch (klass) {
    case FATHOM_STATE:
        return type == FATHOM_INT;
    case FATHOM_PERCENTAGE:
        return type == FATHOM_DOUBLE;
    case FATHOM_GENERIC:
        return type != FATHOM_CHAR;
    case FATHOM_COUNTER:
    case FATHOM_HIGHWATERMARK:
    case FATHOM_LOWWATERMARK:
        return is_unsigned;
    default:
        return is_unsigned || type == FATHOM_DOUBLE;
    }
}

#define BAD_CLASS "has no class, or a type that its class may not have"
#define LEVEL_LEN sizeof(struct fathom_level)

START_TEST(classes_and_types)
{
    static struct fathom_pvar rows[12][FATHOM_CHAR + 1];

    for (int klass = 0; klass <= FATHOM_GENERIC + 1; klass++) {
        for (int type = FATHOM_INT; type <= FATHOM_CHAR; type++) {
            bool is_class = klass >= FATHOM_STATE && klass <= FATHOM_GENERIC;

            rows[klass][type] =
                (struct fathom_pvar){.name = text("class_%d", 100 * klass + type),
                                     .desc = "x",
                                     .klass = (enum fathom_class)klass,
                                     .items = klass == FATHOM_STATE ? &good_enum : NULL,
                                     .type = (enum fathom_type)type};
            adds_pvar(&rows[klass][type], LEVEL_LEN,
                      is_class && is_allowed(klass, type) ? NULL : BAD_CLASS);
        }
    }
}
END_TEST

#define PVAR(k, ...)                                                                               \
    {                                                                                              \
        .desc = "x", .klass = (k), __VA_ARGS__                                                     \
    }
#define COUNTER(...) PVAR(FATHOM_COUNTER, __VA_ARGS__)
#define NO_STATE     "is a state without enumeration, or an enumeration that is no state"
#define NO_ARRAY     "is an array of levels"
#define NO_SUM       "is a sum of what cannot be added"
#define NO_SHARE     "is a part, but no single percentage or rest"
#define BAD_TERM     "is an array of sums over more than one word"
#define NO_MEMBER    "counts per member, but is not bound to its table's object"
#define BEYOND       "lies outside of a member's record"
#define BAD_ON       "has its handles counted where that cannot be"
#define IN_COMM      .bind = FATHOM_BIND_COMM
#define MEMBERS      .count = FATHOM_PER_MEMBER
#define SUM(t)       .terms = (t), .n_terms = 1

static const struct fathom_term at_0[] = {{.at = 0}}, at_8[] = {{.at = 8}}, at_16[] = {{.at = 16}};
static const struct fathom_term two[] = {{.count = 2}}, far[] = {{.count = 2, .step = 2}};
static const struct fathom_term less[] = {{.count = -2}}, one[] = {{.count = 1, .step = 2}};
static const struct fathom_term member_0[] = {{MEMBERS}}, member_8[] = {{.at = 8, MEMBERS}},
                                member_9[] = {{.at = 9, MEMBERS}};

static struct {
    struct fathom_pvar row;
    size_t len;
    const char *why;
} pvars[] = {
    {PVAR(FATHOM_STATE), 8, NO_STATE},
    {PVAR(FATHOM_STATE, .items = &small_enum), 8, NULL},
    {PVAR(FATHOM_LEVEL, .items = &good_enum), 8, NO_STATE},
    {PVAR(FATHOM_GENERIC, .type = FATHOM_INT, .items = &good_enum), 8, NULL},
    {PVAR(FATHOM_GENERIC, .type = FATHOM_INT), 8, NULL},
    /* arrays */
    {COUNTER(.count = 3), 24, NULL},
    {COUNTER(.count = 3), 23, OUTSIDE},
    {COUNTER(.count = LEVEL_LEN / 8), LEVEL_LEN, NULL}, /* as long as a level, but none */
    {PVAR(FATHOM_HIGHWATERMARK), LEVEL_LEN, NULL},
    {PVAR(FATHOM_LOWWATERMARK), LEVEL_LEN - 1, OUTSIDE},
    {PVAR(FATHOM_HIGHWATERMARK, .count = 2), 2 * LEVEL_LEN, NO_ARRAY},
    {PVAR(FATHOM_LOWWATERMARK, .count = 2), 2 * LEVEL_LEN, NO_ARRAY},
    {PVAR(FATHOM_LEVEL, .is_level = true), LEVEL_LEN, NULL},
    {PVAR(FATHOM_LEVEL, .is_level = true), LEVEL_LEN - 1, OUTSIDE},
    {PVAR(FATHOM_LEVEL, .is_level = true, .count = 2), 2 * LEVEL_LEN, NO_ARRAY},
    {PVAR(FATHOM_LEVEL, .count = 2), 16, NULL},
    /* of objects */
    {COUNTER(IN_COMM, .at = 16), 0, NULL},
    {COUNTER(IN_COMM, .at = 17), 64, "lies outside of its object's block"},
    {COUNTER(.bind = FATHOM_BIND_FILE), 64, "is bound to another kind of object than its table"},
    {COUNTER(IN_COMM, MEMBERS, .at = 8), 0, NULL},
    {COUNTER(IN_COMM, MEMBERS, .at = 9), 64, BEYOND},
    {COUNTER(MEMBERS), 64, NO_MEMBER},
    {COUNTER(.bind = FATHOM_BIND_FILE, MEMBERS), 64, NO_MEMBER},
    /* shares */
    {PVAR(FATHOM_PERCENTAGE, .whole_at = 8), 16, NULL},
    {PVAR(FATHOM_PERCENTAGE, .whole_at = 8), 15, OUTSIDE},
    {PVAR(FATHOM_PERCENTAGE, .whole_at = 8, .count = 1), 16, NULL},
    {PVAR(FATHOM_PERCENTAGE, .whole_at = 8, .count = 2), 64, NO_SHARE},
    {PVAR(FATHOM_PERCENTAGE, IN_COMM, MEMBERS, .whole_at = 8), 64, NO_SHARE},
    {PVAR(FATHOM_PERCENTAGE, IN_COMM, .whole_at = 16), 0, NULL},
    {PVAR(FATHOM_PERCENTAGE, IN_COMM, .whole_at = 17), 64, "lies outside of its object's block"},
    {PVAR(FATHOM_PERCENTAGE, SUM(two), .whole_at = 8), 16, NULL},
    {PVAR(FATHOM_PERCENTAGE, SUM(two)), 16, NO_SUM},
    {PVAR(FATHOM_LEVEL, .whole_at = 8), 16, NO_SHARE},
    {PVAR(FATHOM_LOWWATERMARK, .at = 8, .whole_at = LEVEL_LEN), LEVEL_LEN + 8, NULL},
    {PVAR(FATHOM_LOWWATERMARK, .whole_at = LEVEL_LEN), LEVEL_LEN + 7, OUTSIDE},
    {PVAR(FATHOM_LOWWATERMARK, IN_COMM, .whole_at = 8), 64, NO_SHARE},
    {PVAR(FATHOM_HIGHWATERMARK, .whole_at = 8), 64, NO_SHARE},
    /* counted while somebody asks */
    {COUNTER(.on_at = 8), 16, NULL},
    {COUNTER(.on_at = 8), 15, BAD_ON},
    {COUNTER(IN_COMM, .on_at = 8), 64, BAD_ON},
    /* sums */
    {COUNTER(SUM(at_8)), 16, NULL},
    {COUNTER(SUM(at_8)), 15, OUTSIDE},
    {COUNTER(.terms = at_0), 16, NO_SUM},
    {PVAR(FATHOM_GENERIC, SUM(at_0), .type = FATHOM_INT), 16, NULL},
    {PVAR(FATHOM_GENERIC, SUM(at_0), .type = FATHOM_INT, .items = &good_enum), 16, NO_SUM},
    {PVAR(FATHOM_LOWWATERMARK, SUM(at_0)), LEVEL_LEN, NO_SUM},
    {PVAR(FATHOM_LEVEL, SUM(at_0)), 16, NULL},
    {PVAR(FATHOM_LEVEL, SUM(at_0), .is_level = true), LEVEL_LEN, NO_SUM},
    {PVAR(FATHOM_GENERIC, SUM(at_0), .is_writable = true), 16, NO_SUM},
    {COUNTER(SUM(at_0), IN_COMM, MEMBERS), 16, NO_SUM},
    {COUNTER(SUM(at_0), .at = 8), 16, NO_SUM},
    {PVAR(FATHOM_AGGREGATE, SUM(at_0)), 16, NULL},
    {PVAR(FATHOM_AGGREGATE, SUM(at_0), .type = FATHOM_DOUBLE), 16, NO_SUM},
    {COUNTER(SUM(two)), 16, NULL},
    {COUNTER(SUM(two)), 15, OUTSIDE},
    {COUNTER(SUM(far)), 24, NULL},
    {COUNTER(SUM(far)), 23, OUTSIDE},
    {COUNTER(SUM(at_0), .count = 3), 24, NULL},
    {COUNTER(SUM(at_0), .count = 3), 23, OUTSIDE},
    {COUNTER(SUM(one), .count = 3), 40, NULL},
    {COUNTER(SUM(one), .count = 3), 39, OUTSIDE},
    {COUNTER(SUM(two), .count = 2), 64, BAD_TERM},
    {COUNTER(SUM(less), .count = 2), 64, BAD_TERM},
    {COUNTER(SUM(member_0), IN_COMM, .count = 2), 64, BAD_TERM},
    {COUNTER(SUM(at_16), IN_COMM), 0, NULL},
    {COUNTER(SUM(two), IN_COMM), 0, NULL},
    {COUNTER(SUM(member_8), IN_COMM), 0, NULL},
    {COUNTER(SUM(member_9), IN_COMM), 64, BEYOND},
    {COUNTER(SUM(member_0)), 64, NO_MEMBER},
};
#define N_PVARS ((int)(sizeof(pvars) / sizeof(pvars[0])))

START_TEST(performance_variables)
{
    static struct fathom_pvar odd = {
        .name = "odd", .desc = "x", .klass = FATHOM_COUNTER, IN_COMM, MEMBERS};

    for (int i = 0; i < N_PVARS; i++) {
        pvars[i].row.name = text("pvar_%d", i);
        adds_pvar(&pvars[i].row, pvars[i].len, pvars[i].why);
    }
    adds((struct fathom_table){.object_bind = FATHOM_BIND_COMM,
                               .member_block_len = 12, /* words lie at multiples of 8 */
                               .pvars = &odd,
                               .n_pvars = 1},
         "odd", BEYOND);
}
END_TEST

/* ---- events ---- */

static const struct fathom_event_item data[] = {
    {.name = "a", .type = FATHOM_INT},      {.name = "b", .type = FATHOM_DOUBLE},
    {.name = "c", .type = FATHOM_UNSIGNED}, {.name = "d", .type = FATHOM_COUNT},
    {.name = "e", .type = FATHOM_INT},      {.name = "f", .type = FATHOM_INT},
    {.name = "g", .type = FATHOM_INT},      {.name = "h", .type = FATHOM_INT},
    {.name = "i", .type = FATHOM_INT}};
static const struct fathom_event_item no_type[] = {{.name = "a", .type = FATHOM_INT},
                                                   {.name = "b"}};
static const struct fathom_event_item string[] = {{.name = "a", .type = FATHOM_CHAR}};
static const struct fathom_event_item no_name[] = {{.type = FATHOM_INT}};
static struct {
    struct fathom_event row;
    size_t len;
    const char *why;
} events[] = {
    {{.data = data, .n_data = 8}, 8, NULL},
    {{.data = data, .n_data = 9}, 8, "has more than 8 elements"},
    {{.data = data, .n_data = -1}, 8, "has more than 8 elements"},
    {{.data = no_type, .n_data = 1}, 8, NULL},
    {{.data = no_type, .n_data = 2}, 8, "has an element without name or with a type that is none"},
    {{.data = string, .n_data = 1}, 8, "has an element without name or with a type that is none"},
    {{.data = no_name, .n_data = 1}, 8, "has an element without name or with a type that is none"},
    {{.at = 8}, 16, NULL},
    {{.at = 8}, 15, OUTSIDE},
};
#define N_EVENTS ((int)(sizeof(events) / sizeof(events[0])))

START_TEST(event_types)
{
    for (int i = 0; i < N_EVENTS; i++) {
        events[i].row.name = text("event_%d", i);
        events[i].row.desc = "x";
        adds_event(&events[i].row, events[i].len, events[i].why);
    }
}
END_TEST

/* ---- names that are taken ---- */

#define TAKEN "has a name that is taken"

START_TEST(taken_names)
{
    static const struct fathom_pvar p[] = {{.name = "same", .desc = "x", .klass = FATHOM_COUNTER},
                                           {.name = "same", .desc = "x", .klass = FATHOM_TIMER},
                                           {.name = "same", .desc = "x", .klass = FATHOM_COUNTER}};
    static const struct fathom_cvar c[] = {INT(.name = "same", IN_COMM), INT(.name = "other"),
                                           INT(.name = "same")};
    static const struct fathom_cvar suffixed = INT(.name = "same_comm");
    static const struct fathom_cvar first = INT(.name = "before_comm"),
                                    second = INT(.name = "before", IN_COMM),
                                    third = INT(.name = "before");
    static const struct fathom_event e[] = {{.name = "same", .desc = "x"},
                                            {.name = "other", .desc = "x"},
                                            {.name = "same", .desc = "x"}};

    adds((struct fathom_table){.block_len = 8, .pvars = p, .n_pvars = 3}, "same", TAKEN);
    adds((struct fathom_table){.block_len = 8, .pvars = p, .n_pvars = 2}, "same", NULL);
    adds_pvar(&p[1], 8, TAKEN); /* of its class */
    adds((struct fathom_table){TABLE, .block_len = 8, .cvars = c, .n_cvars = 3}, "same", TAKEN);
    adds((struct fathom_table){TABLE, .block_len = 8, .cvars = c, .n_cvars = 2}, "same", NULL);
    adds_cvar(&c[1], 8, TAKEN);
    adds_cvar(&suffixed, 8, TAKEN);
    adds_cvar(&first, 8, NULL);
    adds_cvar(&second, 8, TAKEN); /* before_comm would come of it */
    adds_cvar(&third, 8, NULL);
    adds((struct fathom_table){.block_len = 8, .events = e, .n_events = 3}, "same", TAKEN);
    adds((struct fathom_table){.block_len = 8, .events = e, .n_events = 2}, "same", NULL);
    adds_event(&e[1], 8, TAKEN);
}
END_TEST

/* ---- then it starts ---- */

/* What was refused is not there, what was not is; and the set is complete. */
START_TEST(the_set_is_what_was_added)
{
    static const struct fathom_pvar unit = {
        .name = "too_long_a_unit", .desc = "x", .unit = "cubic fathoms", .klass = FATHOM_COUNTER};
    const struct fathom_page *page = fathom_mpit_page_get();
    const struct fathom_page_row *row;
    void *block = NULL;
    static struct fathom_pvar many[2000];
    int at, provided;

    adds((struct fathom_table){.block_len = 64 << 20}, "tables", "no room for 67108864 bytes");
    adds_pvar(&unit, 8, NULL);
    row = (const void *)((const char *)page + page->rows_at + (page->n_rows - 1) * page->row_len);
    ck_assert_str_eq(row->name, "too_long_a_unit");
    ck_assert_str_eq(row->unit, "cubic fatho");
    for (int i = 0; i < 2000; i++) {
        many[i] = (struct fathom_pvar){
            .name = text("many_%d", i), .desc = "x", .klass = FATHOM_COUNTER, .at = 8 * (size_t)i};
    }
    adds((struct fathom_table){.block_len = 16000, .pvars = many, .n_pvars = 2000}, "many", NULL);
    ck_assert_uint_le(page->rows_at + page->n_rows * page->row_len, page->objects_at);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_get_index("many_1999", MPI_T_PVAR_CLASS_COUNTER,
                            &at)); /* for tools all the same */
    for (int i = 0; i < N_CVARS; i++) {
        GIVES(MPI_T_cvar_get_index(cvars[i].row.name, &at),
              cvars[i].why ? MPI_T_ERR_INVALID_NAME : MPI_SUCCESS);
    }
    for (int i = 0; i < N_PVARS; i++) {
        GIVES(MPI_T_pvar_get_index(pvars[i].row.name, (int)pvars[i].row.klass, &at),
              pvars[i].why ? MPI_T_ERR_INVALID_NAME : MPI_SUCCESS);
    }
    for (int i = 0; i < N_EVENTS; i++) {
        GIVES(MPI_T_event_get_index(events[i].row.name, &at),
              events[i].why ? MPI_T_ERR_INVALID_NAME : MPI_SUCCESS);
    }
    ck_assert_int_eq(fathom_mpit_add(&tables[n_tables - 1], &block), 0); /* one that is in */
    ck_assert_ptr_nonnull(block);
    ck_assert_int_eq(fathom_mpit_add(&tables[n_tables - 1], NULL), 0);
    adds((struct fathom_table){.block_len = 8}, "tables", "the set of variables is fixed");
    OK(MPI_T_finalize());
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mpit_tables");
    TCase *tc = tcase_create("mpit_tables");

    fake_host_open();
    tcase_add_test(tc, names);
    tcase_add_test(tc, no_description);
    tcase_add_test(tc, former_names);
    tcase_add_test(tc, enumerations);
    tcase_add_test(tc, control_variables);
    tcase_add_test(tc, classes_and_types);
    tcase_add_test(tc, performance_variables);
    tcase_add_test(tc, event_types);
    tcase_add_test(tc, taken_names);
    tcase_add_test(tc, the_set_is_what_was_added);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end, strings, enumerations, categories, and the page. */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>

#include "unit/mpit/mpit_test.h"

/* What a reader from outside does. */
static const struct fathom_page_row *row_named(const struct fathom_page *page, const char *name,
                                               uint32_t klass)
{
    const char *rows = (const char *)page + page->rows_at;
    uint32_t i;

    for (i = 0; i < page->n_rows; i++) {
        const struct fathom_page_row *r = (const void *)(rows + (size_t)i * page->row_len);

        if (strcmp(r->name, name) == 0 && r->klass == klass) {
            return r;
        }
    }
    return NULL;
}

static const struct fathom_page_object *object_with(const struct fathom_page *page, uint64_t id)
{
    const char *objects = (const char *)page + page->objects_at;
    uint32_t i;

    for (i = 0; i < page->n_objects; i++) {
        const struct fathom_page_object *o = (const void *)(objects + (size_t)i * page->object_len);

        if (o->block && o->id == id) {
            return o;
        }
    }
    return NULL;
}

static uint64_t word_at(const struct fathom_page *page, uint64_t at)
{
    return *(const uint64_t *)(const void *)((const char *)page + at);
}

/* The level of that name, which tools cannot read without changing it. */
static uint64_t outside(const char *name)
{
    const struct fathom_page *page = fathom_mpit_page_get();

    return word_at(page, row_named(page, name, MPI_T_PVAR_CLASS_LEVEL)->at);
}

START_TEST(start_and_end_are_counted)
{
    int provided, n;

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize());
    OK(MPI_T_cvar_get_num(&n)); /* the fixture's start still counts */
    OK(MPI_T_finalize());
    GIVES(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    GIVES(MPI_T_pvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    GIVES(MPI_T_event_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    GIVES(MPI_T_category_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    GIVES(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    GIVES(MPI_T_init_thread(77, &provided), MPI_T_ERR_INVALID);
    GIVES(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
}
END_TEST

START_TEST(handles_end_with_the_last_tool)
{
    MPI_T_pvar_session s = session_open();
    MPI_T_pvar_handle h = pvar_open(s, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    MPI_T_cvar_handle c = cvar_open("fake_limit");
    MPI_T_event_registration r;
    unsigned long long v;
    int provided;

    OK(MPI_T_event_handle_alloc(event_named("fake_plain"), NULL, MPI_INFO_NULL, &r));
    ck_assert_uint_eq(outside("mpit_sessions"), 1);
    ck_assert_uint_eq(outside("mpit_handles"), 1);
    ck_assert_uint_eq(outside("mpit_registrations"), 1);
    OK(MPI_T_finalize());
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    GIVES(MPI_T_pvar_read(s, h, &v), MPI_T_ERR_INVALID_SESSION);
    GIVES(MPI_T_cvar_read(c, &v), MPI_T_ERR_INVALID_HANDLE);
    ck_assert_uint_eq(outside("mpit_sessions"), 0);
    ck_assert_uint_eq(outside("mpit_handles"), 0);
    ck_assert_uint_eq(outside("mpit_registrations"), 0);
    ck_assert_ptr_ne(session_open(), s);
    ck_assert_ptr_ne(cvar_open("fake_limit"), c);
}
END_TEST

/* No handle is ever valid again, however often its slot is used by however many tools. */
START_TEST(values_are_never_used_again)
{
    MPI_T_pvar_session seen[100], s;
    int n = 0, i, k, round, provided;

    for (round = 0; round < 5; round++) {
        for (i = 0; i < 10 - round; i++) {
            s = session_open();
            for (k = 0; k < n; k++) {
                ck_assert_ptr_ne(seen[k], s);
            }
            seen[n++] = s;
            if (i < 7) { /* one slot many times, then others */
                OK(MPI_T_pvar_session_free(&s));
            }
        }
        OK(MPI_T_finalize());
        OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
        for (k = 0; k < n; k++) {
            s = seen[k];
            GIVES(MPI_T_pvar_session_free(&s), MPI_T_ERR_INVALID_SESSION);
        }
    }
}
END_TEST

START_TEST(the_host_may_stay_when_tools_go)
{
    int provided;

    ck_assert_int_eq(fathom_mpit_start(), 0);
    OK(MPI_T_finalize());
    fake->n_done++; /* the words stay */
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
}
END_TEST

START_TEST(strings_by_the_convention)
{
    char buf[16];
    int i = cvar_named("fake_limit"), len;

    /* Fits: all of it, and its length with the NUL. */
    len = sizeof(buf);
    OK(MPI_T_cvar_get_info(i, buf, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    ck_assert_str_eq(buf, "fake_limit");
    ck_assert_int_eq(len, 11);
    /* Does not fit: cut, with the length that would be needed. */
    memset(buf, 'x', sizeof(buf));
    len = 5;
    OK(MPI_T_cvar_get_info(i, buf, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    ck_assert_str_eq(buf, "fake");
    ck_assert_int_eq(buf[5], 'x');
    ck_assert_int_eq(len, 11);
    /* No buffer or no room: the length alone. */
    len = 3;
    OK(MPI_T_cvar_get_info(i, NULL, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(len, 11);
    len = 0;
    buf[0] = 'y';
    OK(MPI_T_cvar_get_info(i, buf, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(len, 11);
    ck_assert_int_eq(buf[0], 'y');
    len = -1;
    OK(MPI_T_cvar_get_info(i, buf, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(len, 11);
    ck_assert_int_eq(buf[0], 'y');
    /* No length: the buffer is left alone. */
    OK(MPI_T_cvar_get_info(i, buf, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    ck_assert_int_eq(buf[0], 'y');
    /* What the standard has no place for stands behind the description. */
    len = sizeof(buf);
    OK(MPI_T_pvar_get_info(pvar_named("fake_wait", MPI_T_PVAR_CLASS_TIMER), NULL, NULL, NULL, NULL,
                           NULL, NULL, buf, &len, NULL, NULL, NULL, NULL));
    ck_assert_str_eq(buf, "Time. [ns]");
    len = sizeof(buf);
    OK(MPI_T_pvar_get_info(pvar_named("fake_bytes", MPI_T_PVAR_CLASS_AGGREGATE), NULL, NULL, NULL,
                           NULL, NULL, NULL, buf, &len, NULL, NULL, NULL, NULL));
    ck_assert_str_eq(buf, "Bytes.");
    /* An empty string has length 1. */
    len = sizeof(buf);
    OK(MPI_T_category_get_index("top", &i));
    OK(MPI_T_category_get_info(i, NULL, NULL, buf, &len, NULL, NULL, NULL));
    ck_assert_int_eq(len, 1);
    ck_assert_str_eq(buf, "");
}
END_TEST

START_TEST(enumerations)
{
    MPI_T_enum e = MPI_T_ENUM_NULL, of_event;
    int n, value, len;
    char name[32];

    OK(MPI_T_cvar_get_info(cvar_named("fake_mode"), NULL, NULL, NULL, NULL, &e, NULL, NULL, NULL,
                           NULL));
    len = sizeof(name);
    OK(MPI_T_enum_get_info(e, &n, name, &len));
    ck_assert_int_eq(n, 3);
    ck_assert_str_eq(name, "fake_colour");
    len = sizeof(name);
    OK(MPI_T_enum_get_item(e, 1, &value, name, &len));
    ck_assert_int_eq(value, FAKE_GREEN);
    ck_assert_str_eq(name, "green");
    OK(MPI_T_enum_get_item(e, 2, NULL, NULL, NULL));
    GIVES(MPI_T_enum_get_item(e, 3, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_enum_get_item(e, -1, &value, NULL, NULL), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_enum_get_info(MPI_T_ENUM_NULL, &n, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_enum_get_item((MPI_T_enum)0x77, 0, &n, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    /* Elements of an event have names: values are their numbers. */
    OK(MPI_T_event_get_info(event_named("fake_plain"), NULL, NULL, NULL, NULL, NULL, NULL,
                            &of_event, NULL, NULL, NULL, NULL));
    len = sizeof(name);
    OK(MPI_T_enum_get_item(of_event, 2, &value, name, &len));
    ck_assert_int_eq(value, 2);
    ck_assert_str_eq(name, "colour");
    OK(MPI_T_event_get_info(event_named("fake_empty"), NULL, NULL, NULL, NULL, NULL, NULL,
                            &of_event, NULL, NULL, NULL, NULL));
    ck_assert_ptr_null(of_event);
}
END_TEST

START_TEST(categories_are_a_tree)
{
    int n, i, k, stamp, again, found = 0, cvars, pvars, cats, events, indices[64], total = 0,
                               n_cvars;
    int top, fake_cat, inner, ring;

    OK(MPI_T_category_changed(&stamp));
    OK(MPI_T_category_get_num(&n));
    OK(MPI_T_category_get_index("top", &top));
    OK(MPI_T_category_get_index("fake", &fake_cat));
    OK(MPI_T_category_get_index("fake_inner", &inner));
    OK(MPI_T_category_get_index("ring_a", &ring));
    GIVES(MPI_T_category_get_index("nowhere", &ring), MPI_T_ERR_INVALID_NAME);
    OK(MPI_T_category_get_categories(top, 64, indices));
    ck_assert_int_eq(indices[0], fake_cat);
    OK(MPI_T_category_get_info(fake_cat, NULL, NULL, NULL, NULL, &cvars, &pvars, &cats));
    ck_assert_int_eq(cats, 1);
    OK(MPI_T_category_get_categories(fake_cat, 64, indices));
    ck_assert_int_eq(indices[0], inner);
    OK(MPI_T_category_get_info(inner, NULL, NULL, NULL, NULL, &cvars, &pvars, &cats));
    ck_assert_int_eq(cvars, 1);
    ck_assert_int_eq(pvars, 1);
    ck_assert_int_eq(cats, 1); /* of the first category of all */
    OK(MPI_T_category_get_cvars(inner, 64, indices));
    ck_assert_int_eq(indices[0], cvar_named("fake_mode"));
    OK(MPI_T_category_get_pvars(inner, 64, indices));
    ck_assert_int_eq(indices[0], pvar_named("fake_state", MPI_T_PVAR_CLASS_STATE));
    OK(MPI_T_category_get_num_events(inner, &events));
    ck_assert_int_eq(events, 1);
    OK(MPI_T_category_get_events(inner, 64, indices));
    ck_assert_int_eq(indices[0], event_named("fake_bound"));
    indices[0] = -5;
    OK(MPI_T_category_get_pvars(fake_cat, 0, NULL));
    OK(MPI_T_category_get_pvars(fake_cat, 1, indices)); /* only as many as asked for */
    ck_assert_int_ge(indices[0], 0);
    GIVES(MPI_T_category_get_pvars(fake_cat, -1, indices), MPI_T_ERR_INVALID);
    GIVES(MPI_T_category_get_pvars(fake_cat, 2, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_category_get_cvars(n, 1, indices), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_events(-1, 1, indices), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_categories(n, 1, indices), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_num_events(n, &i), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_num_events(0, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_category_get_info(n, NULL, NULL, NULL, NULL, NULL, NULL, NULL),
          MPI_T_ERR_INVALID_INDEX);
    /* Every variable hangs in one category. */
    for (i = 0; i < n; i++) {
        OK(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, &cvars, NULL, NULL));
        OK(MPI_T_category_get_cvars(i, 64, indices));
        for (k = 0; k < cvars; k++) {
            found += indices[k] == cvar_named("fake_limit");
        }
        total += cvars;
    }
    OK(MPI_T_cvar_get_num(&n_cvars));
    ck_assert_int_eq(total, n_cvars);
    ck_assert_int_eq(found, 1);
    OK(MPI_T_category_changed(&again));
    ck_assert_int_eq(stamp, again);
    GIVES(MPI_T_category_changed(NULL), MPI_T_ERR_INVALID);
}
END_TEST

START_TEST(error_texts)
{
#define NAMED(code)                                                                                \
    {                                                                                              \
        code, #code ": "                                                                           \
    }
    static const struct {
        int code;
        const char *begin;
    } codes[] = {NAMED(MPI_T_ERR_CANNOT_INIT),
                 NAMED(MPI_T_ERR_NOT_ACCESSIBLE),
                 NAMED(MPI_T_ERR_NOT_INITIALIZED),
                 NAMED(MPI_T_ERR_NOT_SUPPORTED),
                 NAMED(MPI_T_ERR_MEMORY),
                 NAMED(MPI_T_ERR_INVALID),
                 NAMED(MPI_T_ERR_INVALID_INDEX),
                 NAMED(MPI_T_ERR_INVALID_ITEM),
                 NAMED(MPI_T_ERR_INVALID_SESSION),
                 NAMED(MPI_T_ERR_INVALID_HANDLE),
                 NAMED(MPI_T_ERR_INVALID_NAME),
                 NAMED(MPI_T_ERR_OUT_OF_HANDLES),
                 NAMED(MPI_T_ERR_OUT_OF_SESSIONS),
                 NAMED(MPI_T_ERR_CVAR_SET_NOT_NOW),
                 NAMED(MPI_T_ERR_CVAR_SET_NEVER),
                 NAMED(MPI_T_ERR_PVAR_NO_WRITE),
                 NAMED(MPI_T_ERR_PVAR_NO_STARTSTOP),
                 NAMED(MPI_T_ERR_PVAR_NO_ATOMIC)};
#undef NAMED
    size_t i;

    for (i = 0; i < sizeof(codes) / sizeof(codes[0]); i++) {
        const char *text = fathom_mpit_error_string(codes[i].code);

        ck_assert_ptr_nonnull(text);
        ck_assert_msg(strncmp(text, codes[i].begin, strlen(codes[i].begin)) == 0, "%s", text);
    }
    ck_assert_ptr_null(fathom_mpit_error_string(MPI_SUCCESS));
    ck_assert_ptr_null(fathom_mpit_error_string(MPI_T_ERR_PVAR_NO_ATOMIC + 1));
}
END_TEST

static const struct fathom_page_row *row_of(const char *name, uint32_t kind, uint32_t klass)
{
    const struct fathom_page_row *r = row_named(fathom_mpit_page_get(), name, klass);

    ck_assert_msg(r != NULL, "%s", name);
    ck_assert_uint_eq(r->kind, kind);
    ck_assert_uint_eq(r->klass, klass);
    return r;
}

static void bound_to(const struct fathom_page_row *r, int bind)
{
    ck_assert_uint_eq(r->bind, bind > FATHOM_BIND_NONE ? (uint32_t)bind : FATHOM_BIND_NONE);
    ck_assert((r->block != 0) == (bind > FATHOM_BIND_NONE));
}

static void terms_are(const struct fathom_page_row *r, const struct fathom_page_row *terms,
                      const struct fathom_pvar *v, int k)
{
    const struct fathom_term *t = &v->terms[k];
    bool is_member = t->count == FATHOM_PER_MEMBER;

    ck_assert_uint_eq(terms[k].kind, FATHOM_PAGE_TERM);
    ck_assert_uint_eq(terms[k].type, r->type);
    bound_to(&terms[k], (int)v->bind);
    ck_assert_uint_eq(terms[k].block, r->block);
    ck_assert_uint_eq(terms[k].count, is_member ? 0 : t->count ? (uint32_t)t->count : 1);
    ck_assert_uint_eq(terms[k].step, is_member ? 2 : t->step ? t->step : 1);
    ck_assert_str_eq(terms[k].name, "");
    ck_assert_str_eq(terms[k].unit, "");
}

/* What the page says of each variable is what its row says. */
START_TEST(rows_are_those_of_the_table)
{
    const struct fathom_page *page = fathom_mpit_page_get();
    const struct fathom_page_row *r;
    const char *unit, *environment;
    char name[FATHOM_PAGE_NAME_LEN + 8];
    MPI_T_cvar_handle c;
    int i;

    for (i = 0; i < fake_table.n_cvars; i++) {
        const struct fathom_cvar *v = &fake_table.cvars[i];

        r = row_of(v->name, FATHOM_PAGE_CVAR, 0);
        bound_to(r, FATHOM_BIND_NONE);
        ck_assert_uint_eq(r->type, v->type);
        ck_assert_uint_eq(r->count, v->type == FATHOM_CHAR ? (uint32_t)v->count : 1);
        ck_assert_str_eq(r->unit, v->unit ? v->unit : "");
        ck_assert_uint_eq(r->step, 1);
        ck_assert_int_eq((int)r->source,
                         fathom_mpit_cvar_source(cvar_named(v->name), &unit, &environment));
        ck_assert_str_eq(r->unit, unit);
        ck_assert_int_eq(strncmp(environment, "FAKE_FAKE_", 10), 0);
        ck_assert_ptr_eq((const char *)page + r->at, (char *)fake + v->at);
        if (v->bind > FATHOM_BIND_NONE) {
            snprintf(name, sizeof(name), "%s_comm", v->name);
            r = row_of(name, FATHOM_PAGE_CVAR, 0);
            bound_to(r, (int)v->bind);
            ck_assert_uint_eq(r->at, v->object_at);
            fathom_mpit_cvar_source(cvar_named(name), NULL, &environment);
            ck_assert_str_eq(environment, "");
        }
    }
    ck_assert_uint_eq(row_of("fake_never", FATHOM_PAGE_CVAR, 0)->source, FATHOM_FROM_ENVIRONMENT);
    c = cvar_open("fake_limit");
    OK(MPI_T_cvar_write(c, &(unsigned long long){5}));
    ck_assert_uint_eq(row_of("fake_limit", FATHOM_PAGE_CVAR, 0)->source, FATHOM_FROM_TOOL);
    ck_assert_int_eq(fathom_mpit_cvar_source(-1, NULL, NULL), -1);
    OK(MPI_T_cvar_get_num(&i));
    ck_assert_int_eq(fathom_mpit_cvar_source(i, NULL, NULL), -1);
    for (i = 0; i < fake_table.n_pvars; i++) {
        const struct fathom_pvar *v = &fake_table.pvars[i];
        enum fathom_type type = v->klass == FATHOM_STATE        ? FATHOM_INT
                                : v->klass == FATHOM_PERCENTAGE ? FATHOM_DOUBLE
                                                                : FATHOM_UNSIGNED_LONG_LONG;

        r = row_of(v->name, FATHOM_PAGE_PVAR, v->klass);
        bound_to(r, (int)v->bind);
        ck_assert_uint_eq(r->type, v->type ? v->type : type);
        ck_assert_uint_eq(r->count, v->count < 0 ? 0 : v->count > 1 ? (uint32_t)v->count : 1);
        ck_assert_str_eq(r->unit, v->unit ? v->unit : "");
        ck_assert_uint_eq(r->terms, (uint32_t)v->n_terms);
        ck_assert((r->whole_at != 0) == (v->whole_at && v->klass == FATHOM_PERCENTAGE));
        for (int k = 0; k < v->n_terms; k++) {
            terms_are(r, (const struct fathom_page_row *)(const void *)((const char *)page + r->at),
                      v, k);
        }
    }
}
END_TEST

START_TEST(the_page_shows_everything)
{
    const struct fathom_page *page = fathom_mpit_page_get();
    const struct fathom_page_row *r, *term;
    const struct fathom_page_object *o;
    char long_name[80] = "";
    uint64_t used;
    int i;

    ck_assert_uint_eq(page->magic, FATHOM_PAGE_MAGIC);
    ck_assert_uint_eq(page->version, FATHOM_PAGE_VERSION);
    ck_assert(page->state >= FATHOM_PAGE_STARTED);
    ck_assert_uint_eq(page->len, FATHOM_PAGE_LEN);
    ck_assert_int_eq(page->pid, getpid());
    ck_assert_int_eq(page->rank, -1);
    ck_assert(page->start_ns > 0 && page->start_ns <= fathom_mpit_clock());
    ck_assert_str_eq(page->program, program_invocation_short_name);
    ck_assert_int_eq(gethostname(long_name, sizeof(long_name)), 0);
    ck_assert_int_eq(strncmp(page->host, long_name, sizeof(page->host) - 1), 0);
    r = row_named(page, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    ck_assert_ptr_nonnull(r);
    fake->n_done = 321;
    ck_assert_uint_eq(word_at(page, r->at), 321);
    ck_assert_str_eq(r->unit, "things");
    r = row_named(page, "fake_limit", 0);
    ck_assert_uint_eq(word_at(page, r->at), fake->limit);
    ck_assert_uint_eq(r->kind, FATHOM_PAGE_CVAR);
    r = row_named(page, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
    fathom_level_set(&fake->depth, 5000);
    fathom_level_set(&fake->depth, 1);
    ck_assert_uint_eq(word_at(page, r->at), 5000);
    r = row_named(page, "fake_sum", MPI_T_PVAR_CLASS_COUNTER);
    ck_assert_uint_eq(r->terms, 4);
    term = (const struct fathom_page_row *)(const void *)((const char *)page + r->at);
    ck_assert_uint_eq(term[0].kind, FATHOM_PAGE_TERM);
    ck_assert_uint_eq(word_at(page, term[0].at), 321);
    ck_assert_uint_eq(term[1].count, 3);
    fake->n_bytes = 77;
    ck_assert_uint_eq(word_at(page, term[2].at), 77);
    r = row_named(page, "fake_share", MPI_T_PVAR_CLASS_PERCENTAGE);
    fake->size = 642;
    ck_assert_double_eq(fathom_page_share(word_at(page, r->at), word_at(page, r->whole_at)), 0.5);
    r = row_named(page, "fake_ratio_now", MPI_T_PVAR_CLASS_PERCENTAGE);
    ck_assert_uint_eq(r->whole_at, 0);
    r = row_named(page, "fake_counts", MPI_T_PVAR_CLASS_COUNTER);
    ck_assert_uint_eq(r->count, 3);
    r = row_named(page, "fake_text", 0);
    ck_assert_uint_eq(r->count, 32);
    ck_assert_str_eq((const char *)page + r->at, fake->text);

    fake_comm_make(3);
    o = object_with(page, 4);
    ck_assert_str_eq(o->name, "fake comm");
    ck_assert_uint_eq(o->bind, MPI_T_BIND_MPI_COMM);
    memset(long_name, 'n', sizeof(long_name) - 1);
    long_name[sizeof(long_name) - 1] = '\0';
    fathom_mpit_object_rename(&fake_comms[3], long_name);
    ck_assert_uint_eq(strlen(o->name), FATHOM_PAGE_NAME_LEN - 1);
    fathom_mpit_object_rename(&fake_comms[3], NULL);
    ck_assert_str_eq(o->name, "");
    fathom_mpit_object_rename(&fake_comms[3], "renamed");
    ck_assert_str_eq(o->name, "renamed");
    ck_assert_uint_eq(o->n_members, FAKE_SIZE);
    r = row_named(page, "fake_msgs", MPI_T_PVAR_CLASS_COUNTER);
    ck_assert_uint_eq(r->block, o->block);
    fake_comms[3].words->n_msgs = 17;
    ck_assert_uint_eq(word_at(page, o->at + r->at), 17);
    r = row_named(page, "fake_got", MPI_T_PVAR_CLASS_AGGREGATE);
    ck_assert_uint_eq(r->count, 0);
    ck_assert_uint_eq(r->step, 2);
    fake_comms[3].words->members[2].n_got = 18;
    ck_assert_uint_eq(word_at(page, o->at + r->at + 2 * 8 * r->step), 18);
    r = row_named(page, "fake_all_got", MPI_T_PVAR_CLASS_AGGREGATE);
    term = (const struct fathom_page_row *)(const void *)((const char *)page + r->at) + 1;
    ck_assert(r->terms == 2 && term->count == 0 && term->block == o->block);
    ck_assert_uint_eq(word_at(page, o->at + term->at + 2 * 8 * term->step), 18);
    r = row_named(page, "fake_got_share", MPI_T_PVAR_CLASS_PERCENTAGE);
    fathom_level_set(&fake_comms[3].words->umq, 70);
    ck_assert(r->terms == 2 && r->block == o->block);
    ck_assert_uint_eq(word_at(page, o->at + r->whole_at), 70);
    r = row_named(page, "fake_sums", MPI_T_PVAR_CLASS_COUNTER);
    term = (const struct fathom_page_row *)(const void *)((const char *)page + r->at) + 1;
    ck_assert(r->count == 2 && term->count == 1 && term->step == 2);
    fake->pairs[1][1] = 19;
    ck_assert_uint_eq(word_at(page, term->at + 8 * term->step), 19);
    fake_comm_free(3);
    ck_assert_ptr_null(object_with(page, 4));
    /* Blocks of ended objects are used again. */
    used = page->used_len;
    for (i = 0; i < 100000; i++) {
        fake_comm_make(3);
        fake_comm_free(3);
    }
    ck_assert_uint_eq(page->used_len, used);
}
END_TEST

START_TEST(a_full_page_still_serves_tools)
{
    static struct fake_comm many[60000];
    const struct fathom_page *page = fathom_mpit_page_get();
    void *block, *last = NULL;
    int i, round, n_outside[2] = {0, 0};

    for (round = 0; round < 2; round++) {
        for (i = 0; i < 60000; i++) {
            n_outside[round] -=
                fathom_mpit_object_add(&fake_table, &many[i], 100 + (uint64_t)i, "", 1, &block);
            ck_assert_ptr_nonnull(block);
            last = block;
        }
        ck_assert_int_gt(n_outside[round], 0);
        ck_assert_uint_le(page->objects_at + page->n_objects * page->object_len, page->words_at);
        ck_assert_uint_le(page->used_len, page->len);
        ((struct fake_comm_words *)last)->n_msgs = 1;
        for (i = 0; i < 60000; i++) {
            fathom_mpit_object_remove(&many[i]);
        }
    }
    ck_assert_int_eq(n_outside[0], n_outside[1]); /* only what lay in the page is used again */
}
END_TEST

/* What is no object of a table that is in. */
START_TEST(unknown_objects_are_refused)
{
    static const struct fathom_table other = {.room = "other"};
    static struct fathom_host host = {.name = "other"};
    char long_name[80] = "";
    void *block = &host, *again;

    ck_assert_int_eq(fathom_mpit_object_add(&other, &host, 1, "x", 1, &block), -1);
    ck_assert_ptr_null(block);
    ck_assert_int_eq(fathom_mpit_object_add(&fake_table, NULL, 1, "x", 1, &block), -1);
    ck_assert_ptr_null(block);
    memset(long_name, 'n', sizeof(long_name) - 1);
    ck_assert_int_eq(fathom_mpit_object_add(&fake_table, &host, 1, long_name, 1, &block), 0);
    ck_assert_uint_eq(strlen(object_with(fathom_mpit_page_get(), 1)->name),
                      FATHOM_PAGE_NAME_LEN - 1);
    ck_assert_int_eq(fathom_mpit_object_add(&fake_table, &host, 1, "x", 1, &again), 0);
    ck_assert_ptr_eq(block, again); /* one that is there already */
    fathom_mpit_object_remove(&host);
    ck_assert_ptr_null(object_with(fathom_mpit_page_get(), 1));
    /* One that is too long for the page has its words, and is not shown outside. */
    ck_assert_int_eq(fathom_mpit_object_add(&fake_table, &host, 77, "x", 1 << 20, &block), -1);
    ck_assert_ptr_nonnull(block);
    ((struct fake_comm_words *)block)->members[FAKE_SIZE - 1].n_got = 1;
    ck_assert_ptr_null(object_with(fathom_mpit_page_get(), 77));
    fathom_mpit_object_remove(&host);
    /* The host is one, for good. */
    ck_assert_int_eq(fathom_mpit_host(NULL), -1);
    ck_assert_int_eq(fathom_mpit_host(&host), -1);
}
END_TEST

static uint32_t n_shown(const struct fathom_page *page)
{
    const char *objects = (const char *)page + page->objects_at;
    uint32_t i, n = 0;

    for (i = 0; i < page->n_objects; i++) {
        const struct fathom_page_object *o = (const void *)(objects + (size_t)i * page->object_len);

        n += o->block != 0;
    }
    return n;
}

/* Entries and blocks of ended objects serve others of the same length, whatever the order in which
   they ended, and those of other lengths meanwhile. */
START_TEST(what_ended_is_used_again)
{
    enum { MANY = 900 };
    static struct fake_comm some[MANY];
    const struct fathom_page *page = fathom_mpit_page_get();
    uint32_t before = n_shown(page), n_objects = 0;
    uint64_t used = 0;
    void *block;
    int i, k, round;

    for (round = 0; round < 4; round++) {
        for (i = 0; i < MANY; i++) {
            k = i % 3 * 8 + 1; /* three lengths */
            ck_assert_int_eq(
                fathom_mpit_object_add(&fake_table, &some[i], 1000 + (uint64_t)i, "", k, &block),
                0);
            ck_assert_ptr_nonnull(object_with(page, 1000 + (uint64_t)i));
        }
        ck_assert_uint_eq(n_shown(page), before + MANY);
        if (round == 0) {
            used = page->used_len;
            n_objects = page->n_objects;
        }
        ck_assert_uint_eq(page->used_len, used);
        ck_assert_uint_eq(page->n_objects, n_objects);
        for (i = 0; i < MANY; i++) { /* 7, 11, 13 and 17 have no factor in common with 900 */
            static const int steps[] = {7, 11, 13, 17};

            k = i * steps[round] % MANY;
            fathom_mpit_object_remove(&some[k]);
            ck_assert_ptr_null(object_with(page, 1000 + (uint64_t)k));
            if (i % 5 == 0) { /* one in between */
                fathom_mpit_object_add(&fake_table, &some[k], 5000, "", k % 3 * 8 + 1, &block);
                fathom_mpit_object_remove(&some[k]);
            }
        }
        ck_assert_uint_eq(n_shown(page), before);
    }
}
END_TEST

START_TEST(renamed_variables_have_successors)
{
    ck_assert_str_eq(fathom_mpit_successor("fake_tint"), "fake_mode");
    ck_assert_str_eq(fathom_mpit_successor("FAKE_FINISHED"), "fake_done");
    ck_assert_str_eq(fathom_mpit_successor("fake_void"), "fake_empty");
    ck_assert_ptr_null(fathom_mpit_successor("fake_mode"));
    ck_assert_ptr_null(fathom_mpit_successor(""));
    ck_assert_ptr_null(fathom_mpit_successor(NULL));
}
END_TEST

int main(void)
{
    const TTest *tests[] = {start_and_end_are_counted,
                            handles_end_with_the_last_tool,
                            values_are_never_used_again,
                            the_host_may_stay_when_tools_go,
                            rows_are_those_of_the_table,
                            strings_by_the_convention,
                            enumerations,
                            categories_are_a_tree,
                            error_texts,
                            renamed_variables_have_successors,
                            the_page_shows_everything,
                            unknown_objects_are_refused,
                            what_ended_is_used_again,
                            a_full_page_still_serves_tools};

    setenv("FAKE_FAKE_NEVER", "8", 1);
    return suite_run(suite_of("mpit_list", tests, (int)(sizeof(tests) / sizeof(tests[0]))));
}

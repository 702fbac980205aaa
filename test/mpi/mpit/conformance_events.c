/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0 15.3.8 to 15.3.10: events and their sources, categories, texts of error codes. Events are
   looked at while this program sends to itself and makes communicators. See conform.h. */
#include "conform.h"

#define MAX_ITEMS 64

/* ---- 15.3.8.1: sources ---- */

static void test_source(int i)
{
    MPI_Count ticks = -1, max = -1, now = -1, later = -1;
    MPI_T_source_order order = (MPI_T_source_order)-1;
    MPI_Info info = MPI_INFO_NULL;
    double before, began, end, after;
    int rc;

    OK(MPI_T_source_get_info(i, NULL, NULL, NULL, NULL, &order, &ticks, &max, &info));
    OK(MPI_T_source_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(order == MPI_T_SOURCE_ORDERED || order == MPI_T_SOURCE_UNORDERED);
    CHECK(ticks > 0);
    CHECK(max > 0);
    if (info != MPI_INFO_NULL) {
        OK(MPI_Info_free(&info));
    }
    rc = MPI_T_source_get_timestamp(i, &now);
    CHECK(rc == MPI_SUCCESS || rc == MPI_T_ERR_NOT_SUPPORTED);
    GIVES(MPI_T_source_get_timestamp(i, NULL), MPI_T_ERR_INVALID);
    if (rc != MPI_SUCCESS || !is_between) {
        return;
    }
    /* The clock keeps the rate that it says, to 0.1 %: each of the two times was taken between two
       of the other clock. */
    before = MPI_Wtime();
    MPI_T_source_get_timestamp(i, &now);
    began = MPI_Wtime();
    do {
        end = MPI_Wtime();
    } while (end < began + 0.05);
    MPI_T_source_get_timestamp(i, &later);
    after = MPI_Wtime();
    CHECK(later > now && later <= max);
    CHECK((double)(later - now) / (double)ticks > (end - began) * 0.999 - 1e-6);
    CHECK((double)(later - now) / (double)ticks < (after - before) * 1.001 + 1e-6);
}

static void test_sources(void)
{
    MPI_Count now;
    int i, n = -1;

    section = "15.3.8.1";
    OK(MPI_T_source_get_num(&n));
    CHECK(n >= 0);
    for (i = 0; i < n; i++) {
        test_source(i);
    }
    GIVES(MPI_T_source_get_timestamp(n, &now), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_source_get_timestamp(-1, &now), MPI_T_ERR_INVALID_INDEX);
}

/* ---- 15.3.8.3: event types ---- */

struct event {
    int index, bind, n_items;
    MPI_Datatype types[MAX_ITEMS];
    MPI_Aint at[MAX_ITEMS];
    MPI_T_enum e;
};

static void test_event_items(struct event *ev)
{
    MPI_Datatype types[MAX_ITEMS];
    MPI_Aint at[MAX_ITEMS];
    int i, n;

    for (i = 0; i < ev->n_items && i < MAX_ITEMS; i++) {
        CHECK(is_allowed_type(ev->types[i]));
        CHECK(ev->at[i] >= 0);
        CHECK(i == 0 || ev->at[i] >= ev->at[i - 1] + (MPI_Aint)type_len(ev->types[i - 1]));
    }
    for (n = 0; n <= ev->n_items; n++) {
        int room = n;

        for (i = 0; i < MAX_ITEMS; i++) {
            types[i] = MPI_DATATYPE_NULL;
            at[i] = -1;
        }
        OK(MPI_T_event_get_info(ev->index, NULL, NULL, NULL, types, at, &room, NULL, NULL, NULL,
                                NULL, NULL));
        CHECK(room == ev->n_items);
        CHECK(types[n] == MPI_DATATYPE_NULL && at[n] == -1);
        CHECK(n == 0 || (types[n - 1] == ev->types[n - 1] && at[n - 1] == ev->at[n - 1]));
    }
    n = ev->n_items;
    OK(MPI_T_event_get_info(ev->index, NULL, NULL, NULL, NULL, NULL, &n, NULL, NULL, NULL, NULL,
                            NULL));
    CHECK(n == ev->n_items);
    OK(MPI_T_event_get_info(ev->index, NULL, NULL, NULL, types, at, NULL, NULL, NULL, NULL, NULL,
                            NULL));
}

static void get_event(int i, struct event *ev)
{
    int len = MAX_NAME, verbosity = -1, index = -1;
    MPI_Info info = MPI_INFO_NULL;

    ev->index = i;
    ev->n_items = MAX_ITEMS;
    OK(MPI_T_event_get_info(i, name, &len, &verbosity, ev->types, ev->at, &ev->n_items, &ev->e,
                            &info, NULL, NULL, &ev->bind));
    about = name;
    OK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    CHECK(is_verbosity(verbosity));
    CHECK(is_bind(ev->bind));
    CHECK(ev->n_items >= 0);
    OK(MPI_T_event_get_index(name, &index));
    CHECK(index == i);
    GIVES(MPI_T_event_get_index(name, NULL), MPI_T_ERR_INVALID);
    if (info != MPI_INFO_NULL) {
        OK(MPI_Info_free(&info));
    }
    if (ev->e != MPI_T_ENUM_NULL) {
        test_enum(ev->e);
        section = "15.3.8.3";
    }
}

/* ---- 15.3.8.4: registrations and callbacks ---- */

static int n_called, n_freed, freed_level, first_source;
static MPI_Count last_time;
static struct event *current;
static MPI_T_event_registration current_reg;
static char user[4];

static void on_event(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                     void *user_data)
{
    char one[16], all[MAX_ITEMS * 8];
    MPI_Count when = -1;
    int i, source = -1;

    n_called++;
    CHECK(reg == current_reg);
    CHECK((char *)user_data >= user && (char *)user_data < user + 4);
    CHECK(level == MPI_T_CB_REQUIRE_NONE || level == MPI_T_CB_REQUIRE_MPI_RESTRICTED ||
          level == MPI_T_CB_REQUIRE_THREAD_SAFE || level == MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
    OK(MPI_T_event_copy(in, all));
    for (i = 0; i < current->n_items; i++) {
        OK(MPI_T_event_read(in, i, one));
        CHECK(memcmp(one, all + current->at[i], type_len(current->types[i])) == 0);
    }
    GIVES(MPI_T_event_read(in, current->n_items, one), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_read(in, -1, one), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_read(in, 0, NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_copy(in, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_event_get_timestamp(in, &when));
    OK(MPI_T_event_get_source(in, &source));
    CHECK(source >= 0);
    if (n_called == 1) {
        first_source = source;
    } else if (source == first_source && source == 0) {
        CHECK(when >= last_time);
    }
    last_time = when;
}

static void on_free(MPI_T_event_registration reg, MPI_T_cb_safety level, void *user_data)
{
    n_freed++;
    freed_level = (int)level;
    CHECK(reg == current_reg);
    CHECK(user_data == &n_freed);
}

static void on_dropped(MPI_Count n, MPI_T_event_registration reg, int source, MPI_T_cb_safety level,
                       void *user_data)
{
    (void)level, (void)user_data;
    CHECK(n > 0);
    CHECK(reg == current_reg);
    CHECK(source >= 0);
}

/* Something to raise events: messages to oneself, a communicator. */
static void traffic(void)
{
    static char in[100000], out[100000];
    MPI_Comm copy;

    if (!is_between) {
        return;
    }
    MPI_Sendrecv(out, 8, MPI_CHAR, 0, 1, in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, sizeof(out), MPI_CHAR, 0, 1, in, sizeof(in), MPI_CHAR, 0, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_free(&copy);
}

static const int levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                             MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

static void test_callback_info(MPI_T_event_registration r, MPI_T_cb_safety level)
{
    MPI_Info info = MPI_INFO_NULL;

    OK(MPI_T_event_callback_set_info(r, level, MPI_INFO_NULL));
    OK(MPI_T_event_callback_get_info(r, level, &info));
    if (info != MPI_INFO_NULL) {
        OK(MPI_Info_free(&info));
    }
    GIVES(MPI_T_event_callback_get_info(r, level, NULL), MPI_T_ERR_INVALID);
}

static void test_event_handle(struct event *ev, void *object)
{
    MPI_T_event_registration r = NULL;
    MPI_Info info = MPI_INFO_NULL;
    int i;

    section = "15.3.8.4";
    n_called = n_freed = 0;
    current = ev;
    if (!OK(MPI_T_event_handle_alloc(ev->index, object, MPI_INFO_NULL, &r))) {
        return;
    }
    current_reg = r;
    OK(MPI_T_event_handle_set_info(r, MPI_INFO_NULL));
    OK(MPI_T_event_handle_get_info(r, &info));
    if (info != MPI_INFO_NULL) {
        OK(MPI_Info_free(&info));
    }
    GIVES(MPI_T_event_handle_get_info(r, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_event_set_dropped_handler(r, on_dropped));
    for (i = 0; i < 4; i++) {
        OK(MPI_T_event_register_callback(r, (MPI_T_cb_safety)levels[i], MPI_INFO_NULL, &user[i],
                                         on_event));
        test_callback_info(r, (MPI_T_cb_safety)levels[i]);
    }
    traffic();
    for (i = 3; i >= 0; i--) {
        OK(MPI_T_event_register_callback(r, (MPI_T_cb_safety)levels[i], MPI_INFO_NULL, NULL, NULL));
    }
    n_called = 0;
    traffic();
    CHECK(n_called == 0); /* all callbacks are gone */
    OK(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, &user[0], on_event));
    OK(MPI_T_event_set_dropped_handler(r, NULL));
    OK(MPI_T_event_handle_free(r, &n_freed, on_free));
    CHECK(n_freed == 1);
    n_called = 0;
    traffic();
    CHECK(n_called == 0);
    if (!is_mild) {
        GIVES(MPI_T_event_handle_free(r, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_event_set_dropped_handler(r, NULL), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_event_handle_get_info(r, &info), MPI_T_ERR_INVALID_HANDLE);
    }
}

static void free_inside(MPI_T_event_instance in, MPI_T_event_registration reg,
                        MPI_T_cb_safety level, void *user_data)
{
    int source = -1, rc = MPI_T_event_handle_free(reg, user_data, on_free);

    /* Only where it cannot be otherwise (15.3.8.2). */
    if (rc == MPI_T_ERR_NOT_ACCESSIBLE && level == MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE) {
        return;
    }
    n_called++;
    CHECK(rc == MPI_SUCCESS);
    CHECK(n_freed == 0); /* not before the callback returned */
    OK(MPI_T_event_get_source(in, &source));
}

static void test_free_inside(struct event *ev, void *object)
{
    n_called = n_freed = 0;
    OK(MPI_T_event_handle_alloc(ev->index, object, MPI_INFO_NULL, &current_reg));
    OK(MPI_T_event_register_callback(current_reg, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE, MPI_INFO_NULL,
                                     &n_freed, free_inside));
    traffic();
    CHECK(n_called <= 1);
    if (n_called == 0) {
        OK(MPI_T_event_handle_free(current_reg, &n_freed, on_free));
    }
    CHECK(n_freed == 1);
}

static void test_event_errors(int n)
{
    MPI_T_event_registration r = NULL;
    MPI_T_event_instance in = NULL;
    MPI_Count when;
    int i, source;
    char buf[64];

    section = "15.3.8";
    GIVES(MPI_T_event_get_index("no event : has this", &i), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_event_get_index(NULL, &i), MPI_T_ERR_INVALID);
    GIVES(MPI_T_event_handle_alloc(n, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_event_handle_alloc(-1, NULL, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID_INDEX);
    if (n > 0) {
        GIVES(MPI_T_event_handle_alloc(0, NULL, MPI_INFO_NULL, NULL), MPI_T_ERR_INVALID);
    }
    if (is_mild) {
        return;
    }
    GIVES(MPI_T_event_handle_free(r, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_register_callback(r, MPI_T_CB_REQUIRE_NONE, MPI_INFO_NULL, NULL, on_event),
          MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_read(in, 0, buf), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_copy(in, buf), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_get_timestamp(in, &when), MPI_T_ERR_INVALID_HANDLE);
    GIVES(MPI_T_event_get_source(in, &source), MPI_T_ERR_INVALID_HANDLE);
}

static void test_events(void)
{
    struct event ev;
    int i, n = 0;
    void *object;

    MPI_T_event_get_num(&n);
    for (i = 0; i < n; i++) {
        section = "15.3.8.3";
        get_event(i, &ev);
        if (ev.n_items < MAX_ITEMS) {
            test_event_items(&ev);
        }
        if (object_for(ev.bind, &object) && ev.n_items < MAX_ITEMS) {
            test_event_handle(&ev, object);
            test_free_inside(&ev, object);
        }
    }
    about = "";
    test_event_errors(n);
}

/* ---- 15.3.9: categories ---- */

typedef int (*list_fn)(int index, int len, int indices[]);

/* The list has n different numbers below max; marks them in seen, NULL: does not. */
static void test_list(list_fn get, int cat, int n, int max, int *seen)
{
    int *list = calloc((size_t)n + 2, sizeof(*list));
    int i, k;

    for (i = 0; i < n + 2; i++) {
        list[i] = -7;
    }
    OK(get(cat, n + 1, list));
    CHECK(list[n] == -7); /* no more than there are */
    for (i = 0; i < n; i++) {
        CHECK(list[i] >= 0 && list[i] < max);
        for (k = 0; k < i; k++) {
            CHECK(list[k] != list[i]);
        }
        if (seen && list[i] >= 0 && list[i] < max) {
            seen[list[i]]++;
        }
    }
    if (n > 1) {
        list[1] = -7;
        OK(get(cat, 1, list));
        CHECK(list[1] == -7); /* no more than asked for */
    }
    OK(get(cat, 0, NULL));
    GIVES(get(cat, 1, NULL), MPI_T_ERR_INVALID);
    GIVES(get(cat, -1, list), MPI_T_ERR_INVALID);
    free(list);
}

static void test_category(int i, int n_cats, int *parents)
{
    int len = MAX_NAME, index = -1, n_cvars = -1, n_pvars = -1, n_subs = -1, n_events = -1;
    int all_cvars = 0, all_pvars = 0, all_events = 0;

    OK(MPI_T_category_get_info(i, name, &len, NULL, NULL, &n_cvars, &n_pvars, &n_subs));
    about = name;
    OK(MPI_T_category_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL));
    OK(MPI_T_category_get_index(name, &index));
    CHECK(index == i);
    GIVES(MPI_T_category_get_index(name, NULL), MPI_T_ERR_INVALID);
    OK(MPI_T_category_get_num_events(i, &n_events));
    GIVES(MPI_T_category_get_num_events(i, NULL), MPI_T_ERR_INVALID);
    CHECK(n_cvars >= 0 && n_pvars >= 0 && n_subs >= 0 && n_events >= 0);
    MPI_T_cvar_get_num(&all_cvars);
    MPI_T_pvar_get_num(&all_pvars);
    MPI_T_event_get_num(&all_events);
    test_list(MPI_T_category_get_cvars, i, n_cvars, all_cvars, NULL);
    test_list(MPI_T_category_get_pvars, i, n_pvars, all_pvars, NULL);
    test_list(MPI_T_category_get_events, i, n_events, all_events, NULL);
    test_list(MPI_T_category_get_categories, i, n_subs, n_cats, parents);
}

/* 15.3.9: a category is not, directly or not, its own part. Depth-first, with a limit. */
static int is_acyclic(int cat, int depth)
{
    int n = 0, i, is_good = 1, *subs;

    if (depth > 64) {
        return 0;
    }
    MPI_T_category_get_info(cat, NULL, NULL, NULL, NULL, NULL, NULL, &n);
    subs = calloc((size_t)n + 1, sizeof(*subs));
    MPI_T_category_get_categories(cat, n, subs);
    for (i = 0; i < n && is_good; i++) {
        is_good = is_acyclic(subs[i], depth + 1);
    }
    free(subs);
    return is_good;
}

static void test_categories(void)
{
    int i, n = 0, stamp = -1, again = -2, index, *parents;

    section = "15.3.9";
    OK(MPI_T_category_changed(&stamp));
    MPI_T_category_get_num(&n);
    parents = calloc((size_t)n + 1, sizeof(*parents));
    for (i = 0; i < n; i++) {
        test_category(i, n, parents);
        CHECK(is_acyclic(i, 0));
    }
    about = "";
    free(parents);
    OK(MPI_T_category_changed(&again));
    CHECK(stamp == again);
    GIVES(MPI_T_category_changed(NULL), MPI_T_ERR_INVALID);
    GIVES(MPI_T_category_get_index("no category : has this", &index), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_category_get_index(NULL, &index), MPI_T_ERR_INVALID);
    GIVES(MPI_T_category_get_num_events(n, &index), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_num_events(-1, &index), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_cvars(n, 1, &index), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_pvars(-1, 1, &index), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_events(n, 1, &index), MPI_T_ERR_INVALID_INDEX);
    GIVES(MPI_T_category_get_categories(n, 1, &index), MPI_T_ERR_INVALID_INDEX);
}

/* ---- 15.3.10: codes and their texts, also when MPI is not initialized ---- */

static void test_texts(void)
{
    static const int codes[] = {MPI_T_ERR_CANNOT_INIT,
                                MPI_T_ERR_NOT_ACCESSIBLE,
                                MPI_T_ERR_NOT_INITIALIZED,
                                MPI_T_ERR_NOT_SUPPORTED,
                                MPI_T_ERR_MEMORY,
                                MPI_T_ERR_INVALID,
                                MPI_T_ERR_INVALID_INDEX,
                                MPI_T_ERR_INVALID_ITEM,
                                MPI_T_ERR_INVALID_SESSION,
                                MPI_T_ERR_INVALID_HANDLE,
                                MPI_T_ERR_INVALID_NAME,
                                MPI_T_ERR_OUT_OF_HANDLES,
                                MPI_T_ERR_OUT_OF_SESSIONS,
                                MPI_T_ERR_CVAR_SET_NOT_NOW,
                                MPI_T_ERR_CVAR_SET_NEVER,
                                MPI_T_ERR_PVAR_NO_WRITE,
                                MPI_T_ERR_PVAR_NO_STARTSTOP,
                                MPI_T_ERR_PVAR_NO_ATOMIC};
    char texts[18][MPI_MAX_ERROR_STRING];
    int i, k, len, klass;

    section = "15.3.10";
    for (i = 0; i < 18; i++) {
        len = -1;
        OK(MPI_Error_string(codes[i], texts[i], &len));
        CHECK(len > 0 && len == (int)strlen(texts[i]));
        OK(MPI_Error_class(codes[i], &klass));
        CHECK(klass == codes[i]);
        for (k = 0; k < i; k++) {
            CHECK(strcmp(texts[k], texts[i]) != 0);
        }
    }
}

static void test_all(void)
{
    int provided;

    section = "15.3.4";
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    n_enums = 0;
    test_sources();
    test_events();
    test_categories();
    test_texts();
    OK(MPI_T_finalize());
}

int main(int argc, char **argv)
{
    return walk_around_mpi(argc, argv, test_all);
}

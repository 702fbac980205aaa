/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * fathom list: variables with their values and the sources of these, and events.
 *
 * Names, descriptions and scopes are those of MPI_T in this process. Values and their sources are
 * read from the shared page of this process or of a rank of a running job.
 */
#include <errno.h>
#include <fathom/mpit.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <json-c/json.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "tools/cmd.h"
#include "tools/text.h"
#include "tools/view.h"

#define TEXT_LEN 2048

struct variable {
    int index;
    char name[FATHOM_PAGE_NAME_LEN];
    char desc[TEXT_LEN];
    int klass; /* 0: a control variable */
    int scope;
    int bind;
    int verbosity;
    MPI_Datatype type;
    MPI_T_enum items;
    struct fathom_page_row row; /* kind 0: the page has no such row */
};

struct list {
    struct fm_views views; /* values are those of the first */
    const char *pattern;
    bool is_foreign; /* values of a job, not of this process */
    bool is_json;
    struct json_object *json;
    int n_shown;
    const char *heading; /* to be printed above the next variable that matches; NULL: none */
};

static bool fits(const struct list *l, const char *name)
{
    return !l->pattern || strstr(name, l->pattern) || fnmatch(l->pattern, name, FNM_CASEFOLD) == 0;
}

/* Print the process whose values follow. */
static void print_owner(const struct list *l)
{
    const struct fm_view *v = &l->views.items[0];
    char program[FM_VIEW_TEXT_LEN], host[FM_VIEW_TEXT_LEN];

    printf("Values of process %d, rank %d of %d, %s on %s\n\n", (int)v->page->pid,
           v->rank < 0 ? 0 : v->rank, (int)v->page->size, fm_view_program(v, program),
           fm_view_host(v, host));
}

static void print_heading(struct list *l)
{
    if (l->is_foreign && l->n_shown == 0) {
        print_owner(l);
    }
    if (l->heading) {
        printf(l->n_shown > 0 ? "\n%s\n" : "%s\n", l->heading);
    }
    l->heading = NULL;
}

static const char *class_name(int klass)
{
    static const char *const names[] = {"",           "state",          "level",         "size",
                                        "percentage", "high watermark", "low watermark", "counter",
                                        "aggregate",  "timer",          "generic"};

    return klass > 0 && klass <= 10 ? names[klass] : "";
}

static const char *scope_name(int scope)
{
    static const char *const names[] = {"",      "constant", "read-only", "local",
                                        "group", "group_eq", "all",       "all_eq"};

    return scope > 0 && scope <= 7 ? names[scope] : "";
}

static const char *source_name(uint32_t source)
{
    static const char *const names[] = {"default",     "system file", "user file", "named file",
                                        "environment", "mpiexec",     "tool"};

    return source < 7 ? names[source] : "unknown";
}

static const char *bind_name(int bind)
{
    switch (bind) {
    case MPI_T_BIND_NO_OBJECT:
        return "process";
    case MPI_T_BIND_MPI_COMM:
        return "communicator";
    case MPI_T_BIND_MPI_FILE:
        return "file";
    case MPI_T_BIND_MPI_WIN:
        return "window";
    case MPI_T_BIND_MPI_SESSION:
        return "session";
    default:
        return "object";
    }
}

/* The name of an enumeration's item. */
static bool item_name(MPI_T_enum items, int value, char *out_text, int len)
{
    char name[64];
    int n = 0, name_len = sizeof(name);

    if (items == MPI_T_ENUM_NULL ||
        MPI_T_enum_get_info(items, &n, name, &name_len) != MPI_SUCCESS) {
        return false;
    }
    for (int i = 0; i < n; i++) {
        int item, item_len = len;

        if (MPI_T_enum_get_item(items, i, &item, out_text, &item_len) == MPI_SUCCESS &&
            item == value) {
            return true;
        }
    }
    return false;
}

/* The value as text; "" for a variable that is bound or an array. */
static void value_text(const struct list *l, const struct variable *v, bool is_raw, char *out_text,
                       size_t len)
{
    const struct fm_view *view = &l->views.items[0];
    uint64_t word;
    double real;

    out_text[0] = '\0';
    if (v->row.kind == 0 || v->row.block != 0 || v->row.at == 0) {
        return;
    }
    if (v->type == MPI_CHAR) {
        fm_view_text(view, &v->row, out_text, len);
    } else if (v->row.count != 1 || !fm_view_word(view, &v->row, NULL, 0, &word)) {
        return;
    } else if (v->type == MPI_DOUBLE) {
        bool is_share = v->klass == MPI_T_PVAR_CLASS_PERCENTAGE && !is_raw;

        memcpy(&real, &word, sizeof(real));
        snprintf(out_text, len, is_share ? "%g %%" : "%g", is_share ? 100 * real : real);
    } else if (item_name(v->items, (int)word, out_text, (int)len)) {
        return;
    } else if (v->type == MPI_INT || v->type == MPI_COUNT || is_raw) {
        snprintf(out_text, len, "%" PRId64, (int64_t)word);
    } else {
        char text[FM_TEXT_LEN];

        snprintf(out_text, len, "%s", fm_text_number(word, "", text));
    }
}

/* A description, wrapped to the width of the terminal. */
static void print_wrapped(const char *text)
{
    struct winsize size;
    int width = 100, at = 0;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= 40) {
        width = size.ws_col;
    }
    while (*text != '\0') {
        int n = (int)strcspn(text, " ");

        if (at > 0 && at + 1 + n > width) {
            printf("\n");
            at = 0;
        }
        at += printf(at == 0 ? "      %.*s" : " %.*s", n, text);
        text += n;
        text += strspn(text, " ");
    }
    printf("\n");
}

static void print_variable(struct list *l, const struct variable *v)
{
    char value[300];

    value_text(l, v, false, value, sizeof(value));
    printf("  %s", v->name);
    if (value[0] != '\0' || v->type == MPI_CHAR) {
        printf(v->type == MPI_CHAR ? " = \"%s\"" : " = %s", value);
    }
    if (v->row.unit[0] != '\0') {
        printf(value[0] != '\0' ? " %s" : " in %s", v->row.unit);
    }
    if (v->klass == 0) {
        printf("  (%s; %s", source_name(v->row.source), scope_name(v->scope));
    } else {
        printf("  (%s", class_name(v->klass));
    }
    if (v->bind != MPI_T_BIND_NO_OBJECT) {
        printf(", of a %s", bind_name(v->bind));
    }
    printf(")\n");
    print_wrapped(v->desc);
}

static void add_text(struct json_object *o, const char *key, const char *text)
{
    json_object_object_add(o, key, json_object_new_string(text));
}

static void add_json(struct list *l, const struct variable *v)
{
    struct json_object *o = json_object_new_object();
    const char *kind = v->klass == 0 ? "cvars" : "pvars";
    struct json_object *array;
    char value[300];

    value_text(l, v, true, value, sizeof(value));
    add_text(o, "name", v->name);
    if (value[0] != '\0' && v->type != MPI_CHAR && v->type != MPI_DOUBLE &&
        strspn(value, "-0123456789") == strlen(value)) {
        json_object_object_add(o, "value", json_object_new_int64(strtoll(value, NULL, 10)));
    } else if (value[0] != '\0' && v->type == MPI_DOUBLE) {
        json_object_object_add(o, "value", json_object_new_double(atof(value)));
    } else if (value[0] != '\0' || v->type == MPI_CHAR) {
        add_text(o, "value", value);
    }
    add_text(o, "unit", v->row.unit);
    add_text(o, "binding", bind_name(v->bind));
    json_object_object_add(o, "verbosity", json_object_new_int(v->verbosity));
    if (v->klass == 0) {
        add_text(o, "source", source_name(v->row.source));
        add_text(o, "scope", scope_name(v->scope));
    } else {
        add_text(o, "class", class_name(v->klass));
    }
    add_text(o, "description", v->desc);
    if (!json_object_object_get_ex(l->json, kind, &array)) {
        array = json_object_new_array();
        json_object_object_add(l->json, kind, array);
    }
    json_object_array_add(array, o);
}

static void show(struct list *l, struct variable *v, uint32_t kind)
{
    if (!fits(l, v->name)) {
        return;
    }
    if (!fm_view_find(&l->views.items[0], kind, v->name, (uint32_t)v->klass, &v->row)) {
        memset(&v->row, 0, sizeof(v->row));
    }
    if (l->is_json) {
        add_json(l, v);
    } else {
        print_heading(l);
        print_variable(l, v);
    }
    l->n_shown++;
}

static void show_cvars(struct list *l)
{
    int n = 0;

    MPI_T_cvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        struct variable v = {.index = i};
        int name_len = sizeof(v.name), desc_len = sizeof(v.desc);

        if (MPI_T_cvar_get_info(i, v.name, &name_len, &v.verbosity, &v.type, &v.items, v.desc,
                                &desc_len, &v.bind, &v.scope) == MPI_SUCCESS) {
            show(l, &v, FATHOM_PAGE_CVAR);
        }
    }
}

static void show_pvars(struct list *l)
{
    int n = 0;

    MPI_T_pvar_get_num(&n);
    for (int i = 0; i < n; i++) {
        struct variable v = {.index = i};
        int name_len = sizeof(v.name), desc_len = sizeof(v.desc);
        int readonly, continuous, atomic;

        if (MPI_T_pvar_get_info(i, v.name, &name_len, &v.verbosity, &v.klass, &v.type, &v.items,
                                v.desc, &desc_len, &v.bind, &readonly, &continuous,
                                &atomic) == MPI_SUCCESS) {
            show(l, &v, FATHOM_PAGE_PVAR);
        }
    }
}

#define MAX_ELEMENTS 8

struct event {
    char name[FATHOM_PAGE_NAME_LEN];
    char desc[TEXT_LEN];
    char elements[MAX_ELEMENTS][FATHOM_PAGE_NAME_LEN];
    int n_elements;
    int bind;
    int verbosity;
};

static void print_event(const struct event *e)
{
    printf("  %s  (", e->name);
    for (int i = 0; i < e->n_elements; i++) {
        printf(i > 0 ? ", %s" : "%s", e->elements[i]);
    }
    printf(e->bind != MPI_T_BIND_NO_OBJECT ? "; of a %s)\n" : ")\n", bind_name(e->bind));
    print_wrapped(e->desc);
}

static void add_event(struct list *l, const struct event *e)
{
    struct json_object *o = json_object_new_object(), *elements = json_object_new_array(), *array;

    for (int i = 0; i < e->n_elements; i++) {
        json_object_array_add(elements, json_object_new_string(e->elements[i]));
    }
    add_text(o, "name", e->name);
    json_object_object_add(o, "elements", elements);
    add_text(o, "binding", bind_name(e->bind));
    json_object_object_add(o, "verbosity", json_object_new_int(e->verbosity));
    add_text(o, "description", e->desc);
    if (!json_object_object_get_ex(l->json, "events", &array)) {
        array = json_object_new_array();
        json_object_object_add(l->json, "events", array);
    }
    json_object_array_add(array, o);
}

/* The names of the elements are items of the enumeration of the event. */
static bool describe_event(int index, struct event *e)
{
    int name_len = sizeof(e->name), desc_len = sizeof(e->desc);
    MPI_T_enum names = MPI_T_ENUM_NULL;

    if (MPI_T_event_get_info(index, e->name, &name_len, &e->verbosity, NULL, NULL, &e->n_elements,
                             &names, NULL, e->desc, &desc_len, &e->bind) != MPI_SUCCESS) {
        return false;
    }
    e->n_elements = e->n_elements < MAX_ELEMENTS ? e->n_elements : MAX_ELEMENTS;
    for (int i = 0; i < e->n_elements; i++) {
        int value, len = FATHOM_PAGE_NAME_LEN;

        MPI_T_enum_get_item(names, i, &value, e->elements[i], &len);
    }
    return true;
}

static void show_events(struct list *l)
{
    int n = 0;

    MPI_T_event_get_num(&n);
    for (int i = 0; i < n; i++) {
        struct event e = {.n_elements = MAX_ELEMENTS};

        if (!describe_event(i, &e) || !fits(l, e.name)) {
            continue;
        }
        if (l->is_json) {
            add_event(l, &e);
        } else {
            print_heading(l);
            print_event(&e);
        }
        l->n_shown++;
    }
}

static void show_all(struct list *l)
{
    l->heading = "Control variables (set with FATHOM_NAME, mpiexec --set name=value, or "
                 "name = value in ~/.config/fathom/fathom.conf)";
    show_cvars(l);
    l->heading = "Performance variables";
    show_pvars(l);
    l->heading = "Events";
    show_events(l);
    if (l->is_json) {
        printf("%s\n", json_object_to_json_string_ext(l->json, JSON_C_TO_STRING_PRETTY));
    }
}

static bool has_values(const struct list *l)
{
    struct fathom_page_row row;

    if (fm_view_row(&l->views.items[0], 0, &row)) {
        return true;
    }
    fprintf(stderr, "fathom: rank %d has not called MPI yet\n",
            l->views.items[0].rank < 0 ? 0 : l->views.items[0].rank);
    return false;
}

/* A variable that was renamed is listed under its new name. */
static void follow_rename(struct list *l)
{
    const char *successor = fathom_mpit_successor(l->pattern);

    if (successor) {
        fprintf(stderr, "fathom: %s was renamed to %s\n", l->pattern, successor);
        l->pattern = successor;
    }
}

/* The page of this process, which no other need see. Prints why when there is none: -1. */
static int view_own(struct fm_views *out_views)
{
    const struct fathom_page *page = fathom_mpit_page_get();

    *out_views = (struct fm_views){0};
    out_views->items = page ? malloc(sizeof(*out_views->items)) : NULL;
    if (!out_views->items) {
        fprintf(stderr, "fathom: no memory for the variables\n");
        return -1;
    }
    out_views->items[0] =
        (struct fm_view){.page = page, .len = page->len, .rank = -1, .is_own = true};
    out_views->n = 1;
    return 0;
}

int fm_cmd_list(int argc, char **argv)
{
    struct list l = {0};
    pid_t job = 0;
    int provided, rc = 1;

    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--json") == 0) {
            l.is_json = true;
        } else if (strcmp(argv[i], "--job") == 0 && i + 1 < argc && fm_cmd_pid(argv[i + 1])) {
            job = fm_cmd_pid(argv[++i]);
            l.is_foreign = true;
        } else if (argv[i][0] != '-' && !l.pattern) {
            l.pattern = argv[i];
        } else {
            return fm_cmd_usage("list");
        }
    }
    if (MPI_T_init_thread(MPI_THREAD_SINGLE, &provided) != MPI_SUCCESS) {
        fprintf(stderr, "fathom: cannot initialize MPI_T\n");
        return 1;
    }
    if (!l.is_foreign) {
        fathom_mpit_warn_unknown();
    }
    follow_rename(&l);
    l.json = json_object_new_object();
    if ((l.is_foreign ? fm_view_job(job, &l.views) : view_own(&l.views)) == 0 && has_values(&l)) {
        show_all(&l);
        rc = 0;
        if (l.n_shown == 0) {
            fprintf(stderr, "fathom: no variable or event matches \"%s\"\n", l.pattern);
            rc = 1;
        }
    }
    json_object_put(l.json);
    fm_view_finish(&l.views);
    MPI_T_finalize();
    return rc;
}

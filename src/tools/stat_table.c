/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of `fathom stat`. */
#include "tools/stat_table.h"

#include <json-c/json.h>
#include <stdlib.h>
#include <string.h>

#include "tools/text.h"

/* MPI_T_PVAR_CLASS_* and types as in the page (fathom/page.h, fathom/mpit.h). */
#define CLASS_STATE         1
#define CLASS_SIZE          3
#define CLASS_PERCENTAGE    4
#define CLASS_HIGHWATERMARK 5
#define CLASS_LOWWATERMARK  6
#define CLASS_COUNTER       7
#define CLASS_AGGREGATE     8
#define CLASS_TIMER         9
#define CLASS_GENERIC       10
#define TYPE_DOUBLE         6

#define N_COLLECTIVES 6 /* lines in the short table */
#define MAX_COLUMNS   8 /* more ranks are shown as minimum, median and maximum */

/* A line of the short table: a sum of variables. Lines of zeros are not printed. */
static const struct line {
    const char *label;
    const char *names[4];
} lines[] = {
    {"messages sent",
     {"p2p_eager_sent_messages", "p2p_rndv_sent_messages", "p2p_self_sent_messages"}},
    {"  eager", {"p2p_eager_sent_messages"}},
    {"    without a request", {"p2p_short_sent_messages"}},
    {"  rendezvous", {"p2p_rndv_sent_messages"}},
    {"  to self", {"p2p_self_sent_messages"}},
    {"bytes sent", {"p2p_eager_sent_bytes", "p2p_rndv_sent_bytes", "p2p_self_sent_bytes"}},
    {"  eager", {"p2p_eager_sent_bytes"}},
    {"  rendezvous", {"p2p_rndv_sent_bytes"}},
    {"  to self", {"p2p_self_sent_bytes"}},
    {"messages received",
     {"p2p_eager_recvd_messages", "p2p_rndv_recvd_messages", "p2p_self_recvd_messages"}},
    {"bytes received", {"p2p_eager_recvd_bytes", "p2p_rndv_recvd_bytes", "p2p_self_recvd_bytes"}},
    {"matched a posted receive", {"match_posted_hits"}},
    {"arrived unexpected", {"match_unexpected_hits"}},
    {"  maximum queued", {"match_unexpected_length_high"}},
    {"  maximum bytes buffered", {"match_unexpected_bytes_high"}},
    {"wildcard receives", {"match_wildcards"}},
    {"sends stalled", {"p2p_credit_stalls", "p2p_rts_stalls"}},
    {"file reads", {"io_reads"}},
    {"file writes", {"io_writes"}},
    {"collective file I/O, two-phase", {"io_coll_two_phase"}},
    {"collective file I/O, direct", {"io_coll_direct"}},
    {"bytes read from files", {"io_read_bytes"}},
    {"bytes written to files", {"io_written_bytes"}},
    {"file system calls", {"io_read_calls", "io_write_calls"}},
    {"time blocked in MPI", {"progress_time_blocked"}},
    {"  sleeping", {"progress_time_slept"}},
    {"polls", {"progress_polls"}},
    {"  empty", {"progress_empty_polls"}},
    {"time in MPI_Init", {"runtime_init_time"}},
    {"time in MPI_Finalize", {"runtime_finalize_time"}},
};

/* One line with its values. */
struct values {
    char label[FATHOM_PAGE_NAME_LEN];
    char unit[FATHOM_PAGE_UNIT_LEN];
    uint32_t klass;
    uint64_t *v; /* one per rank */
};

/* Is the total a sum over the ranks? Else it is the maximum, for low watermarks the minimum. */
static bool is_summed(const struct values *x)
{
    return x->klass == CLASS_COUNTER || x->klass == CLASS_AGGREGATE || x->klass == CLASS_TIMER;
}

static uint64_t total_of(const struct values *x, int n)
{
    uint64_t total = x->v[0];

    for (int r = 1; r < n; r++) {
        if (is_summed(x)) {
            total += x->v[r];
        } else if ((x->v[r] < total) == (x->klass == CLASS_LOWWATERMARK)) {
            total = x->v[r];
        }
    }
    return total;
}

static bool is_zero(const struct values *x, int n)
{
    for (int r = 0; r < n; r++) {
        if (x->v[r] != 0) {
            return false;
        }
    }
    return true;
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

static void print_values(const struct fm_stat_table *t, const struct values *x)
{
    int n = t->views->n;
    int shown = n <= MAX_COLUMNS ? n : 3;
    uint64_t total = total_of(x, n);
    const char *how = is_summed(x) ? "" : x->klass == CLASS_LOWWATERMARK ? " min" : " max";
    char text[FM_TEXT_LEN];

    if (n > MAX_COLUMNS) {
        qsort(x->v, (size_t)n, sizeof(*x->v), by_value);
        x->v[1] = x->v[n / 2];
        x->v[2] = x->v[n - 1];
    }
    fprintf(t->to, "%-30s", x->label);
    for (int c = 0; c < shown; c++) {
        fprintf(t->to, " %11s", fm_text_number(x->v[c], x->unit, text));
    }
    fprintf(t->to, " %12s%s\n", fm_text_number(total, x->unit, text), n > 1 ? how : "");
}

static void print_heads(const struct fm_stat_table *t)
{
    static const char *const three[] = {"min", "median", "max"};
    int n = t->views->n;

    fprintf(t->to, "%-30s", "");
    for (int c = 0; c < (n <= MAX_COLUMNS ? n : 3); c++) {
        char text[FM_TEXT_LEN];

        snprintf(text, sizeof(text), "rank %d",
                 n > MAX_COLUMNS || t->views->items[c].rank < 0 ? 0 : t->views->items[c].rank);
        fprintf(t->to, " %11s", n <= MAX_COLUMNS ? text : three[c]);
    }
    fprintf(t->to, " %12s\n", "total");
}

/* A double is a share between 0 and 1. */
static uint64_t in_thousandths(uint64_t word)
{
    double share;

    memcpy(&share, &word, sizeof(share));
    return (uint64_t)(share * 1000 + 0.5);
}

/* The sum of the variables of a line on each rank. False: no rank has any of them. */
static bool fill(const struct fm_stat_table *t, const struct line *l, struct values *x)
{
    bool is_known = false;

    snprintf(x->label, sizeof(x->label), "%s", l->label);
    memset(x->v, 0, (size_t)t->views->n * sizeof(*x->v));
    for (int r = 0; r < t->views->n; r++) {
        for (int k = 0; k < 4 && l->names[k]; k++) {
            struct fathom_page_row row;
            uint64_t word;

            if (!fm_view_find(&t->views->items[r], FATHOM_PAGE_PVAR, l->names[k], 0, &row) ||
                row.block != 0 || !fm_view_word(&t->views->items[r], &row, NULL, 0, &word)) {
                continue;
            }
            is_known = true;
            x->v[r] += row.type == TYPE_DOUBLE ? in_thousandths(word) : word;
            x->klass = row.klass;
            snprintf(x->unit, sizeof(x->unit), "%s",
                     row.type == TYPE_DOUBLE ? FM_TEXT_SHARE : row.unit);
        }
    }
    return is_known;
}

/* The first rank that has called MPI_Init. All ranks have the same variables. */
static const struct fm_view *any_view(const struct fm_stat_table *t)
{
    struct fathom_page_row row;

    for (int r = 0; r < t->views->n; r++) {
        if (fm_view_row(&t->views->items[r], 0, &row)) {
            return &t->views->items[r];
        }
    }
    return NULL;
}

/* A collective algorithm and the calls of all ranks. */
struct collective {
    char name[FATHOM_PAGE_NAME_LEN];
    uint64_t n_calls;
};

static int by_calls(const void *a, const void *b)
{
    const struct collective *x = a, *y = b;

    return (x->n_calls < y->n_calls) - (x->n_calls > y->n_calls);
}

/* List variables as "coll_allreduce_doubling_calls" that are not 0. Returns how many. */
static int collect(const struct fm_stat_table *t, struct values *x, struct collective *list,
                   int room)
{
    const struct fm_view *v = any_view(t);
    struct fathom_page_row row;
    int n = 0;

    for (int i = 0; v && n < room && fm_view_row(v, i, &row); i++) {
        size_t len = strlen(row.name);
        struct line l = {.label = row.name, .names = {row.name}};

        if (strncmp(row.name, "coll_", 5) != 0 || len < 12 ||
            strcmp(row.name + len - 6, "_calls") != 0 || !fill(t, &l, x)) {
            continue;
        }
        list[n] = (struct collective){.n_calls = 0};
        snprintf(list[n].name, sizeof(list[n].name), "%s", row.name);
        for (int r = 0; r < t->views->n; r++) {
            list[n].n_calls += x->v[r];
        }
        n += list[n].n_calls > 0;
    }
    return n;
}

/* Print the collectives that were called most, by algorithm. */
static void print_collectives(const struct fm_stat_table *t, struct values *x)
{
    struct collective list[64];
    int n = collect(t, x, list, (int)(sizeof(list) / sizeof(list[0])));

    qsort(list, (size_t)n, sizeof(list[0]), by_calls);
    for (int i = 0; i < n && i < N_COLLECTIVES; i++) {
        struct line l = {.label = "", .names = {list[i].name}};

        fill(t, &l, x);
        snprintf(x->label, sizeof(x->label), "%.*s", (int)strlen(list[i].name) - 11,
                 list[i].name + 5);
        for (char *c = x->label; *c != '\0'; c++) {
            *c = *c == '_' ? ' ' : *c;
        }
        if (i == 0) {
            fprintf(t->to, "collectives, by algorithm\n");
        }
        memmove(x->label + 2, x->label, strlen(x->label) + 1);
        memcpy(x->label, "  ", 2);
        print_values(t, x);
    }
}

static void print_short(const struct fm_stat_table *t, struct values *x)
{
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        if (fill(t, &lines[i], x) && !is_zero(x, t->views->n)) {
            print_values(t, x);
        }
    }
    print_collectives(t, x);
}

/* Is the variable an amount that belongs to the process? */
static bool is_plain(const struct fathom_page_row *row)
{
    return row->kind == FATHOM_PAGE_PVAR && row->block == 0 && row->at != 0 &&
           (row->type != TYPE_DOUBLE || row->klass == CLASS_PERCENTAGE) &&
           row->klass != CLASS_STATE && row->klass != CLASS_SIZE && row->klass != CLASS_GENERIC;
}

static void print_all(const struct fm_stat_table *t, struct values *x)
{
    const struct fm_view *v = any_view(t);
    struct fathom_page_row row;

    for (int i = 0; v && fm_view_row(v, i, &row); i++) {
        struct line l = {.label = row.name, .names = {row.name}};

        if (is_plain(&row) && fill(t, &l, x) && !is_zero(x, t->views->n)) {
            print_values(t, x);
        }
    }
}

/* ---- JSON ---- */

static struct json_object *json_words(const struct fm_view *v, const struct fathom_page_row *row,
                                      const struct fathom_page_object *o, uint32_t count)
{
    struct json_object *array = count == 1 ? NULL : json_object_new_array();
    uint64_t word;

    for (uint32_t k = 0; k < count && fm_view_word(v, row, o, k, &word); k++) {
        struct json_object *number;
        double real;

        memcpy(&real, &word, sizeof(real));
        number =
            row->type == TYPE_DOUBLE ? json_object_new_double(real) : json_object_new_uint64(word);
        if (!array) {
            return number;
        }
        json_object_array_add(array, number);
    }
    return array;
}

/* Variables of one communicator, window or file. */
static struct json_object *json_object_of(const struct fm_view *v,
                                          const struct fathom_page_object *o)
{
    struct json_object *out = json_object_new_object();
    struct fathom_page_row row;

    json_object_object_add(out, "name", json_object_new_string(o->name));
    json_object_object_add(out, "id", json_object_new_uint64(o->id));
    json_object_object_add(out, "members", json_object_new_uint64(o->n_members));
    for (int i = 0; fm_view_row(v, i, &row); i++) {
        if (row.kind == FATHOM_PAGE_PVAR && row.block == o->block && row.count > 0) {
            json_object_object_add(out, row.name, json_words(v, &row, o, row.count));
        }
    }
    return out;
}

static struct json_object *json_rank(const struct fm_view *v)
{
    struct json_object *out = json_object_new_object();
    struct json_object *vars = json_object_new_object();
    struct json_object *objects = json_object_new_array();
    struct fathom_page_blocked b;
    struct fathom_page_row row;
    struct fathom_page_object o;

    json_object_object_add(out, "rank", json_object_new_int(v->rank < 0 ? 0 : v->rank));
    json_object_object_add(out, "pid", json_object_new_int(v->page->pid));
    json_object_object_add(out, "state",
                           json_object_new_string(fm_view_state_name(fm_view_state(v, &b))));
    for (int i = 0; fm_view_row(v, i, &row); i++) {
        if (row.kind == FATHOM_PAGE_PVAR && row.block == 0 && row.at != 0) {
            json_object_object_add(vars, row.name, json_words(v, &row, NULL, row.count));
        }
    }
    for (int i = 0; fm_view_object(v, i, &o); i++) {
        if (o.block != 0) {
            json_object_array_add(objects, json_object_of(v, &o));
        }
    }
    json_object_object_add(out, "pvars", vars);
    json_object_object_add(out, "objects", objects);
    return out;
}

static void print_json(const struct fm_stat_table *t)
{
    struct json_object *out = json_object_new_object();
    struct json_object *ranks = json_object_new_array();

    json_object_object_add(out, "exit_status", json_object_new_int(t->exit_status));
    json_object_object_add(out, "elapsed_ns", json_object_new_uint64(t->elapsed_ns));
    for (int r = 0; r < t->views->n; r++) {
        json_object_array_add(ranks, json_rank(&t->views->items[r]));
    }
    json_object_object_add(out, "ranks", ranks);
    fprintf(t->to, "%s\n", json_object_to_json_string_ext(out, JSON_C_TO_STRING_PRETTY));
    json_object_put(out);
}

void fm_stat_table_print(const struct fm_stat_table *t)
{
    const struct fm_view *v = any_view(t);
    struct values x = {.v = calloc((size_t)t->views->n + 1, sizeof(uint64_t))};
    char text[FM_TEXT_LEN], program[FM_VIEW_TEXT_LEN], host[FM_VIEW_TEXT_LEN];

    if (t->is_json) {
        print_json(t);
    } else if (!v || !x.v) {
        fprintf(t->to, "\nfathom stat: no rank has called MPI_Init; exit status %d\n",
                t->exit_status);
    } else {
        fprintf(t->to, "\nfathom stat: %s, %d rank%s on %s, %s, exit status %d\n\n",
                fm_view_program(v, program), t->views->n, t->views->n == 1 ? "" : "s",
                fm_view_host(v, host), fm_text_number(t->elapsed_ns, "ns", text), t->exit_status);
        print_heads(t);
        if (t->is_all) {
            print_all(t, &x);
        } else {
            print_short(t, &x);
        }
    }
    free(x.v);
}

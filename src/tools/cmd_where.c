/* SPDX-License-Identifier: BSD-3-Clause */
/* fathom where: what each rank of a running job is doing. */
#include <fathom/page.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tools/cmd.h"
#include "tools/text.h"
#include "tools/view.h"

/* As in the standard ABI. */
#define ANY_SOURCE (-1)
#define ANY_TAG    (-2)

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* The name of the communicator with an id. */
static void comm_name(const struct fm_view *v, uint64_t id, char *out_text, size_t len)
{
    struct fathom_page_object o;

    snprintf(out_text, len, "communicator %llu", (unsigned long long)id);
    for (int i = 0; fm_view_object(v, i, &o); i++) {
        if (o.block != 0 && o.id == id && o.name[0] != '\0') {
            snprintf(out_text, len, "%s", o.name);
            return;
        }
    }
}

/* "MPI_Recv with rank 3, tag 7 on MPI_COMM_WORLD" */
static void print_call(const struct fm_view *v, const struct fathom_page_blocked *b, char *out_text,
                       size_t len)
{
    char name[FATHOM_PAGE_NAME_LEN];
    size_t at = (size_t)snprintf(out_text, len, "%s", b->call);

    if (b->peer >= 0) {
        at += (size_t)snprintf(out_text + at, len - at, " with rank %d", (int)b->peer);
    } else if (b->peer == ANY_SOURCE) {
        at += (size_t)snprintf(out_text + at, len - at, " with any rank");
    }
    if (b->peer >= ANY_SOURCE && (b->tag >= 0 || b->tag == ANY_TAG)) {
        at += b->tag >= 0 ? (size_t)snprintf(out_text + at, len - at, ", tag %d", (int)b->tag)
                          : (size_t)snprintf(out_text + at, len - at, ", any tag");
    }
    if (b->comm != 0) {
        comm_name(v, b->comm, name, sizeof(name));
        snprintf(out_text + at, len - at, " on %s", name);
    }
}

static void print_rank(const struct fm_view *v)
{
    struct fathom_page_blocked b;
    enum fm_view_state state = fm_view_state(v, &b);
    char call[160] = "";
    char since[FM_TEXT_LEN] = "";

    if (state == FM_VIEW_BLOCKED) {
        uint64_t now = now_ns();

        print_call(v, &b, call, sizeof(call));
        fm_text_number(now > b.since_ns ? now - b.since_ns : 0, "ns", since);
    }
    printf("%4d %8d  %-15s %6llu %6llu  %-9s %s\n", v->rank < 0 ? 0 : v->rank, (int)v->page->pid,
           fm_view_state_name(state),
           (unsigned long long)fm_view_value(v, "match_unexpected_length"),
           (unsigned long long)fm_view_value(v, "match_posted_length"), since, call);
}

int fm_cmd_where(int argc, char **argv)
{
    struct fm_views views;

    if (argc > 2 || (argc == 2 && !fm_cmd_pid(argv[1]))) {
        return fm_cmd_usage("where");
    }
    if (fm_view_job(argc == 2 ? fm_cmd_pid(argv[1]) : 0, &views) != 0) {
        fm_view_finish(&views);
        return 1;
    }
    printf("rank      pid  state            unexp posted  for       in\n");
    for (int i = 0; i < views.n; i++) {
        print_rank(&views.items[i]);
    }
    fm_view_finish(&views);
    return 0;
}

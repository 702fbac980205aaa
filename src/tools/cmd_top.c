/* SPDX-License-Identifier: BSD-3-Clause */
/* fathom top: rates of each rank of a running job, printed periodically. */
#include <errno.h>
#include <fathom/page.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

#include "tools/cmd.h"
#include "tools/text.h"
#include "tools/view.h"

/* The columns; each is a sum of variables. */
static const struct {
    const char *title;
    const char *unit;
    const char *names[5];
} columns[] = {
    {"sent/s",
     "messages",
     {"p2p_eager_sent_messages", "p2p_rndv_sent_messages", "p2p_self_sent_messages"}},
    {"bytes/s", "bytes", {"p2p_eager_sent_bytes", "p2p_rndv_sent_bytes", "p2p_self_sent_bytes"}},
    {"rcvd/s",
     "messages",
     {"p2p_eager_recvd_messages", "p2p_rndv_recvd_messages", "p2p_self_recvd_messages"}},
    {"polls/s", "polls", {"progress_polls"}},
};
#define N_COLUMNS (int)(sizeof(columns) / sizeof(columns[0]))

struct sample {
    uint64_t column[8];
    uint64_t blocked_ns;
    uint64_t at_ns;
};

static uint64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

static void take(const struct fm_view *v, struct sample *out)
{
    struct fathom_page_blocked b;

    memset(out, 0, sizeof(*out));
    out->at_ns = now_ns();
    for (int c = 0; c < N_COLUMNS; c++) {
        for (int k = 0; k < 5 && columns[c].names[k]; k++) {
            out->column[c] += fm_view_value(v, columns[c].names[k]);
        }
    }
    out->blocked_ns = fm_view_value(v, "progress_time_blocked");
    if (fm_view_state(v, &b) == FM_VIEW_BLOCKED && out->at_ns > b.since_ns) {
        out->blocked_ns += out->at_ns - b.since_ns; /* the timer is updated when the call returns */
    }
}

static void print_rank(FILE *to, const struct fm_view *v, const struct sample *before,
                       const struct sample *now)
{
    double s = (double)(now->at_ns - before->at_ns) / 1e9;
    struct fathom_page_blocked b;
    enum fm_view_state state = fm_view_state(v, &b);
    double blocked = now->blocked_ns > before->blocked_ns
                         ? (double)(now->blocked_ns - before->blocked_ns) / 1e7 / s
                         : 0;
    char text[FM_TEXT_LEN];

    fprintf(to, "%4d %8d  %-15s", v->rank < 0 ? 0 : v->rank, (int)v->page->pid,
            fm_view_state_name(state));
    for (int c = 0; c < N_COLUMNS; c++) {
        double rate = (double)(now->column[c] - before->column[c]) / s;

        fprintf(to, " %11s", fm_text_number((uint64_t)rate, columns[c].unit, text));
    }
    fprintf(to, " %6llu %6llu %5.0f%%  %s\n",
            (unsigned long long)fm_view_value(v, "match_unexpected_length"),
            (unsigned long long)fm_view_value(v, "match_posted_length"),
            blocked > 100 ? 100 : blocked, state == FM_VIEW_BLOCKED ? b.call : "");
}

/* Print a full screen: lines are cut at its right edge, and ranks below its last line counted. */
static void print_screen(const char *text, int n_lines)
{
    struct winsize size;

    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row < 3 || size.ws_col < 20) {
        size = (struct winsize){.ws_row = UINT16_MAX, .ws_col = UINT16_MAX};
    }
    printf("\033[H\033[J");
    for (int row = 1; *text != '\0'; row++) {
        int len = (int)strcspn(text, "\n");

        if (row == size.ws_row - 1 && n_lines > row) {
            printf("and %d more ranks\n", n_lines - row + 1);
            break;
        }
        printf("%.*s\n", len < size.ws_col ? len : size.ws_col, text);
        text += len + 1;
    }
}

static void print_table(const struct fm_views *views, const struct sample *before,
                        const struct sample *now, bool is_terminal)
{
    char *text = NULL;
    size_t len = 0;
    FILE *to = is_terminal ? open_memstream(&text, &len) : stdout;

    if (!to) {
        return;
    }
    fprintf(to, "rank      pid  state          ");
    for (int c = 0; c < N_COLUMNS; c++) {
        fprintf(to, " %11s", columns[c].title);
    }
    fprintf(to, "  unexp posted blocked in\n");
    for (int i = 0; i < views->n; i++) {
        print_rank(to, &views->items[i], &before[i], &now[i]);
    }
    if (is_terminal && fclose(to) == 0) {
        print_screen(text, views->n + 1);
    }
    free(text);
    fflush(stdout);
}

/* Is a rank still alive? */
static bool is_running(const struct fm_views *views)
{
    struct fathom_page_blocked b;

    for (int i = 0; i < views->n; i++) {
        enum fm_view_state state = fm_view_state(&views->items[i], &b);

        if (state != FM_VIEW_GONE && state != FM_VIEW_DONE) {
            return true;
        }
    }
    return false;
}

static int watch(struct fm_views *views, double delay_s, long n_rounds)
{
    struct sample *samples = calloc((size_t)views->n * 2, sizeof(*samples));
    struct sample *before = samples, *now = samples ? samples + views->n : NULL;
    bool is_terminal = isatty(STDOUT_FILENO);

    if (!samples) {
        fprintf(stderr, "fathom: no memory for %d ranks\n", views->n);
        return 1;
    }
    for (int i = 0; i < views->n; i++) {
        take(&views->items[i], &before[i]);
    }
    for (long round = 0;
         (n_rounds == 0 || round < n_rounds) && is_running(views) && !ferror(stdout); round++) {
        struct sample *old = before;

        poll(NULL, 0, (int)(delay_s * 1000));
        for (int i = 0; i < views->n; i++) {
            take(&views->items[i], &now[i]);
        }
        print_table(views, before, now, is_terminal);
        before = now;
        now = old;
    }
    free(samples);
    return 0;
}

int fm_cmd_top(int argc, char **argv)
{
    struct fm_views views;
    double delay_s = 1;
    long n_rounds = 0;
    int opt, rc;

    while ((opt = getopt(argc, argv, "+d:n:")) != -1) {
        char *end = "";

        if (opt == 'd') {
            delay_s = strtod(optarg, &end);
        } else if (opt == 'n') {
            n_rounds = strtol(optarg, &end, 10);
        }
        if (opt == '?' || *end || !(delay_s >= 0.01 && delay_s <= 3600) || n_rounds < 0) {
            return fm_cmd_usage("top");
        }
    }
    if (argc - optind > 1 || (argc - optind == 1 && !fm_cmd_pid(argv[optind]))) {
        return fm_cmd_usage("top");
    }
    if (fm_view_job(optind < argc ? fm_cmd_pid(argv[optind]) : 0, &views) != 0) {
        fm_view_finish(&views);
        return 1;
    }
    rc = watch(&views, delay_s, n_rounds);
    fm_view_finish(&views);
    return rc;
}

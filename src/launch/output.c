/* SPDX-License-Identifier: BSD-3-Clause */
/* Labelled output of the ranks. */
#include "launch/output.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "launch/pattern.h"
#include "util/sync.h"

#define LINE_MAX_LEN 16384 /* longer lines are passed on in pieces */
#define QUIET_MS     100

struct stream {
    int fd;     /* read end of the pipe; -1: none, or at end of file */
    int target; /* 1 or 2 */
    const struct fm_local_rank *rank;
    size_t len;        /* bytes of an unfinished line */
    uint64_t since_ns; /* when the last of them came */
    char *buf;         /* LINE_MAX_LEN, allocated at first use */
};

struct fm_output {
    struct fm_local *local;
    struct stream *streams; /* two per rank */
    int n_streams;
    struct stream *open_line[3]; /* per target: the stream whose line is unfinished there */
};

static void add_time(FILE *f)
{
    struct timespec now;
    struct tm tm;
    char text[32];

    clock_gettime(CLOCK_REALTIME, &now);
    localtime_r(&now.tv_sec, &tm);
    strftime(text, sizeof(text), "%H:%M:%S", &tm);
    fprintf(f, "%s.%03ld ", text, now.tv_nsec / 1000000);
}

static void add_label(const struct fm_output *o, const struct stream *s, FILE *f)
{
    const struct fm_options *opts = o->local->job->opts;
    char label[256];

    if (opts->has_timestamp) {
        add_time(f);
    }
    if (opts->prefix) {
        struct fm_pattern values = {s->rank->rank, s->rank->pid, o->local->host->name};

        fm_pattern_expand(&values, opts->prefix, label, sizeof(label));
        fputs(label, f);
    }
    if (opts->has_stream_tag) {
        fputs(s->target == 1 ? "<stdout>: " : "<stderr>: ", f);
    }
}

/* Write the lines of a text that ends with a newline or is a piece of a line. */
static void write_lines(struct fm_output *o, struct stream *s, const char *text, size_t len)
{
    char *out = NULL;
    size_t out_len = 0;
    FILE *f = open_memstream(&out, &out_len);

    if (!f) {
        return;
    }
    if (o->open_line[s->target] && o->open_line[s->target] != s) {
        fputc('\n', f);
        o->open_line[s->target] = NULL;
    }
    while (len > 0) {
        const char *end = memchr(text, '\n', len);
        size_t n = end ? (size_t)(end - text) + 1 : len;

        if (!o->open_line[s->target]) {
            add_label(o, s, f);
        }
        fwrite(text, 1, n, f);
        o->open_line[s->target] = end ? NULL : s;
        text += n;
        len -= n;
    }
    fclose(f);
    fm_writer_put(&o->local->writers[s->target], out, out_len);
    free(out);
}

/* Write the complete lines of the buffer; a piece of one when forced or when the buffer is full. */
static void flush(struct fm_output *o, struct stream *s, bool is_forced)
{
    const char *end = s->len > 0 ? memrchr(s->buf, '\n', s->len) : NULL;
    size_t n = end ? (size_t)(end - s->buf) + 1 : 0;

    if (is_forced || (!end && s->len == LINE_MAX_LEN)) {
        n = s->len;
    }
    if (n > 0) {
        write_lines(o, s, s->buf, n);
        memmove(s->buf, s->buf + n, s->len - n);
        s->len -= n;
    }
}

static void close_stream(struct fm_output *o, struct stream *s)
{
    flush(o, s, true);
    if (o->open_line[s->target] == s) {
        fm_writer_put(&o->local->writers[s->target], "\n", 1);
        o->open_line[s->target] = NULL;
    }
    close(s->fd);
    s->fd = -1;
    free(s->buf);
    s->buf = NULL;
}

/* Read once. False: nothing was read. */
static bool take(struct fm_output *o, struct stream *s)
{
    ssize_t n;

    if (!s->buf) {
        s->buf = malloc(LINE_MAX_LEN);
        if (!s->buf) {
            return false;
        }
    }
    n = read(s->fd, s->buf + s->len, LINE_MAX_LEN - s->len);
    if (n > 0) {
        s->len += (size_t)n;
        s->since_ns = fm_now_ns();
        flush(o, s, false);
        return true;
    }
    if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
        close_stream(o, s);
    }
    return false;
}

int fm_output_create(struct fm_local *l, struct fm_output **out_output)
{
    const struct fm_options *opts = l->job->opts;
    struct fm_output *o;

    *out_output = NULL;
    if (!opts->prefix && !opts->has_timestamp) {
        return 0;
    }
    o = calloc(1, sizeof(*o));
    if (!o) {
        return fm_fail(-FM_E_NOMEM, "no memory for the output of the ranks");
    }
    o->local = l;
    o->streams = calloc((size_t)l->n_ranks * 2, sizeof(*o->streams));
    if (!o->streams) {
        free(o);
        return fm_fail(-FM_E_NOMEM, "no memory for the output of %d ranks", l->n_ranks);
    }
    o->n_streams = l->n_ranks * 2;
    for (int i = 0; i < o->n_streams; i++) {
        o->streams[i] = (struct stream){.fd = -1, .rank = &l->ranks[i / 2], .target = 1 + i % 2};
    }
    *out_output = o;
    return 0;
}

void fm_output_destroy(struct fm_output *o)
{
    if (!o) {
        return;
    }
    for (int i = 0; i < o->n_streams; i++) {
        if (o->streams[i].fd >= 0) {
            close_stream(o, &o->streams[i]);
        }
    }
    free(o->streams);
    free(o);
}

int fm_output_open(struct fm_output *o, int i, int out_fds[2])
{
    int fds[2][2];

    for (int k = 0; k < 2; k++) {
        if (pipe2(fds[k], O_CLOEXEC) != 0) {
            int err = errno;

            for (int j = 0; j < k; j++) {
                close(fds[j][0]);
                close(fds[j][1]);
            }
            return fm_fail(-FM_E_SYSTEM, "a pipe for the output of rank %d: %s",
                           o->streams[2 * i].rank->rank, strerror(err));
        }
    }
    for (int k = 0; k < 2; k++) {
        fcntl(fds[k][0], F_SETFL, O_NONBLOCK);
        o->streams[2 * i + k].fd = fds[k][0];
        out_fds[k] = fds[k][1];
    }
    return 0;
}

int fm_output_max(const struct fm_output *o)
{
    return o ? o->n_streams : 0;
}

/* Is earlier output still buffered? Then no more is read, and the rank blocks in write(2). */
static bool is_blocked(const struct fm_output *o, const struct stream *s)
{
    return o->local->writers[s->target].len > 0;
}

int fm_output_poll(const struct fm_output *o, struct pollfd *fds)
{
    for (int i = 0; o && i < o->n_streams; i++) {
        const struct stream *s = &o->streams[i];

        fds[i] = (struct pollfd){.fd = is_blocked(o, s) ? -1 : s->fd, .events = POLLIN};
    }
    return fm_output_max(o);
}

int fm_output_wait_ms(const struct fm_output *o)
{
    for (int i = 0; o && i < o->n_streams; i++) {
        if (o->streams[i].len > 0) {
            return QUIET_MS;
        }
    }
    return -1;
}

void fm_output_serve(struct fm_output *o, const struct pollfd *fds)
{
    uint64_t now = fm_now_ns();

    for (int i = 0; o && i < o->n_streams; i++) {
        struct stream *s = &o->streams[i];

        if (s->fd < 0) {
            continue;
        }
        if (o->local->writers[s->target].has_no_reader) {
            s->len = 0;
            close_stream(o, s); /* the rank gets SIGPIPE */
        } else if (fds[i].revents) {
            take(o, s);
        } else if (s->len > 0 && !is_blocked(o, s) &&
                   now - s->since_ns >= QUIET_MS * UINT64_C(1000000)) {
            flush(o, s, true);
        }
    }
}

void fm_output_drain(struct fm_output *o)
{
    for (int i = 0; o && i < o->n_streams; i++) {
        struct stream *s = &o->streams[i];

        while (s->fd >= 0 && take(o, s)) {
        }
        if (s->fd >= 0) {
            close_stream(o, s);
        }
    }
}

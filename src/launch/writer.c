/* SPDX-License-Identifier: BSD-3-Clause */
/* Nonblocking writers for standard output and standard error. */
#include "launch/writer.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fm_writer_init(struct fm_writer *w, int fd)
{
    *w = (struct fm_writer){.fd = fd};
}

void fm_writer_finish(struct fm_writer *w)
{
    free(w->text);
    *w = (struct fm_writer){.fd = -1};
}

/* Bytes of the text that need not be written again: written, or lost. */
static size_t write_some(struct fm_writer *w, const char *text, size_t len)
{
    size_t done = 0;

    while (done < len) {
        struct pollfd p = {.fd = w->fd, .events = POLLOUT};
        /* A pipe that is ready accepts PIPE_BUF bytes without blocking. */
        size_t piece = len - done < PIPE_BUF ? len - done : PIPE_BUF;
        ssize_t n;

        if (poll(&p, 1, 0) == 0) {
            return done;
        }
        n = write(w->fd, text + done, piece);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            return done;
        } else if (errno == EPIPE) {
            w->has_no_reader = true;
            return len;
        } else if (errno != EINTR) {
            w->error = errno;
            return len;
        }
    }
    return done;
}

static void buffer(struct fm_writer *w, const char *text, size_t len)
{
    if (w->capacity - w->len < len) {
        size_t capacity = (w->len + len) * 2;
        char *bigger = realloc(w->text, capacity);

        if (!bigger) {
            w->error = ENOMEM;
            return;
        }
        w->text = bigger;
        w->capacity = capacity;
    }
    memcpy(w->text + w->len, text, len);
    w->len += len;
}

void fm_writer_put(struct fm_writer *w, const char *text, size_t len)
{
    size_t done = w->len == 0 ? write_some(w, text, len) : 0;

    if (done < len) {
        buffer(w, text + done, len - done);
    }
}

struct pollfd fm_writer_poll(const struct fm_writer *w)
{
    return (struct pollfd){.fd = w->len > 0 ? w->fd : -1, .events = POLLOUT};
}

void fm_writer_serve(struct fm_writer *w)
{
    size_t done = write_some(w, w->text, w->len);

    if (done > 0) {
        memmove(w->text, w->text + done, w->len - done);
        w->len -= done;
    }
}

bool fm_writer_is_broken(const struct fm_writer *w)
{
    struct pollfd p = {.fd = w->fd};

    return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

static ssize_t put(void *writer, const char *text, size_t len)
{
    fm_writer_put(writer, text, len);
    return (ssize_t)len;
}

FILE *fm_writer_stream(struct fm_writer *w)
{
    FILE *f = fopencookie(w, "w", (cookie_io_functions_t){.write = put});

    if (f) {
        setvbuf(f, NULL, _IOLBF, BUFSIZ);
    }
    return f;
}

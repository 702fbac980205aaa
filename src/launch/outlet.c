/* SPDX-License-Identifier: BSD-3-Clause */
/* Our standard output and standard error. */
#include "launch/outlet.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

void fm_outlet_init(struct fm_outlet *o, int fd)
{
    *o = (struct fm_outlet){.fd = fd};
}

void fm_outlet_finish(struct fm_outlet *o)
{
    free(o->text);
    *o = (struct fm_outlet){.fd = -1};
}

/* How much of the text is done with: written, or lost. */
static size_t write_some(struct fm_outlet *o, const char *text, size_t len)
{
    size_t done = 0;

    while (done < len) {
        struct pollfd p = {.fd = o->fd, .events = POLLOUT};
        /* A pipe that is ready takes so much at once, though its writes may wait. */
        size_t piece = len - done < PIPE_BUF ? len - done : PIPE_BUF;
        ssize_t n;

        if (poll(&p, 1, 0) == 0) {
            return done;
        }
        n = write(o->fd, text + done, piece);
        if (n >= 0) {
            done += (size_t)n;
        } else if (errno == EAGAIN) {
            return done;
        } else if (errno == EPIPE) {
            o->is_deaf = true;
            return len;
        } else if (errno != EINTR) {
            o->error = errno;
            return len;
        }
    }
    return done;
}

static void keep(struct fm_outlet *o, const char *text, size_t len)
{
    if (o->room - o->len < len) {
        size_t room = (o->len + len) * 2;
        char *bigger = realloc(o->text, room);

        if (!bigger) {
            o->error = ENOMEM;
            return;
        }
        o->text = bigger;
        o->room = room;
    }
    memcpy(o->text + o->len, text, len);
    o->len += len;
}

void fm_outlet_put(struct fm_outlet *o, const char *text, size_t len)
{
    size_t done = o->len == 0 ? write_some(o, text, len) : 0;

    if (done < len) {
        keep(o, text + done, len - done);
    }
}

struct pollfd fm_outlet_poll(const struct fm_outlet *o)
{
    return (struct pollfd){.fd = o->len > 0 ? o->fd : -1, .events = POLLOUT};
}

void fm_outlet_serve(struct fm_outlet *o)
{
    size_t done = write_some(o, o->text, o->len);

    if (done > 0) {
        memmove(o->text, o->text + done, o->len - done);
        o->len -= done;
    }
}

bool fm_outlet_is_deserted(const struct fm_outlet *o)
{
    struct pollfd p = {.fd = o->fd};

    return poll(&p, 1, 0) > 0 && (p.revents & POLLERR);
}

static ssize_t put(void *outlet, const char *text, size_t len)
{
    fm_outlet_put(outlet, text, len);
    return (ssize_t)len;
}

FILE *fm_outlet_stream(struct fm_outlet *o)
{
    FILE *f = fopencookie(o, "w", (cookie_io_functions_t){.write = put});

    if (f) {
        setvbuf(f, NULL, _IOLBF, BUFSIZ);
    }
    return f;
}

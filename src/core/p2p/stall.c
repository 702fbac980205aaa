/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports of waits that last. */
#include "core/p2p/stall.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/object/comm.h"
#include "core/object/request.h"
#include "core/p2p/channel.h"
#include "util/log.h"

struct text {
    char at[320];
    size_t len;
};

static void append(struct text *t, const char *fmt, ...) FM_PRINTF(2, 3);
static void append(struct text *t, const char *fmt, ...)
{
    va_list args;
    int n;

    va_start(args, fmt);
    n = vsnprintf(t->at + t->len, sizeof(t->at) - t->len, fmt, args);
    va_end(args);
    if (n > 0) {
        t->len += (size_t)n < sizeof(t->at) - t->len ? (size_t)n : sizeof(t->at) - t->len - 1;
    }
}

/* "recv from rank 1, tag 5, on MPI_COMM_WORLD" */
static void describe(struct text *t, const struct fm_request *r)
{
    struct fm_request_about about;
    bool is_send = strstr(r->ops->name, "send") != NULL;

    append(t, "%s", r->ops->name);
    if (r->ops->about) {
        r->ops->about(r, &about);
        if (about.peer == MPI_ANY_SOURCE) {
            append(t, " from any rank");
        } else {
            append(t, " %s rank %d", is_send ? "to" : "from", about.peer);
        }
        if (!r->is_internal && about.tag != MPI_ANY_TAG) {
            append(t, ", tag %d", about.tag);
        }
        append(t, ", %s%llu bytes", is_send ? "" : "at most ", (unsigned long long)about.bytes);
    }
    if (r->comm) {
        append(t, ", on %s", r->comm->name[0] ? r->comm->name : "an unnamed communicator");
    }
}

/* Operations of the user that are pending, the first of them described. */
static void describe_all(struct text *t)
{
    const struct fm_object *o = NULL;
    int n = 0;

    while ((o = fm_handle_next(FM_KIND_REQUEST, o)) != NULL) {
        const struct fm_request *r = (const struct fm_request *)o;

        if (r->is_done || !r->is_active || r->is_internal) {
            continue;
        }
        if (n++ == 0) {
            describe(t, r);
        }
    }
    if (n == 0) {
        append(t, "other ranks");
    } else if (n > 1) {
        append(t, " and %d more", n - 1);
    }
}

void fm_stall_report(struct fm_channel *ch, const struct fm_request *r, const char *call,
                     uint64_t ns)
{
    struct text t = {.len = 0};

    if (ch->has_reported_stall) {
        return;
    }
    ch->has_reported_stall = true;
    if (r) {
        describe(&t, r);
    } else {
        describe_all(&t);
    }
    fm_log_warn(
        "%s has been waiting for %.1f s: %s (fathom where shows all ranks; control variable "
        "progress_stall_time)",
        call[0] ? call : "a call", (double)ns / 1e9, t.at);
}

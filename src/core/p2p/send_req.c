/* SPDX-License-Identifier: BSD-3-Clause */
/* A send under way: its request, from the pool to completion. */
#include "core/p2p/send_req.h"

#include <stdio.h>

#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/packet.h"

struct fm_send_req *fm_send_req_new(const struct fm_request_ops *ops, const struct fm_msg *m,
                                    enum fm_send_mode mode, MPI_Count len)
{
    struct fm_send_req *s = (struct fm_send_req *)fm_request_new(ops, m->comm);

    if (FM_UNLIKELY(!s)) {
        return NULL;
    }
    s->msg = *m;
    s->mode = (uint8_t)mode;
    s->len = len;
    fm_object_ref(m->dtype);
    return s;
}

/* ---- ops of the request ---- */

void fm_send_req_release(struct fm_request *r)
{
    struct fm_send_req *s = (struct fm_send_req *)r;

    fm_dtype_unref(s->msg.dtype);
}

void fm_send_req_describe(const struct fm_request *r, struct fm_request_about *out_about)
{
    const struct fm_send_req *s = (const struct fm_send_req *)r;

    *out_about = (struct fm_request_about){s->msg.peer, s->msg.tag, (uint64_t)s->len};
}

void fm_send_req_ask_cancel(struct fm_channel *ch, struct fm_send_req *s)
{
    struct fm_wire_reply h = {.head.kind = FM_WIRE_CANCEL, .sreq = s->id};

    s->is_cancelling = true;
    fm_packet_answer(ch, s->peer, &h);
}

int fm_send_req_cancel(struct fm_request *r)
{
    struct fm_send_req *s = (struct fm_send_req *)r;
    struct fm_channel *ch = r->comm->ch;

    FM_STAT(ch->counters->n_cancels++);
    if (r->is_done || s->is_cancelling) {
        return 0;
    }
    if (s->proto) {
        s->proto->cancel(ch, s);
    } else { /* waits in a queue of its peer */
        fm_send_req_cancelled(ch, s);
    }
    return 0;
}

/* ---- completion ---- */

/* Leave the engine, whatever the result is. */
static void leave(struct fm_channel *ch, struct fm_send_req *s)
{
    if (s->peer) {
        fm_peer_unwait(ch, s->peer, &s->out);
        ch->n_sending--;
    }
    fm_ids_drop(&ch->ids, s->id);
    s->id = 0;
    s->is_cancelling = false;
}

static void abort_proto(struct fm_channel *ch, struct fm_send_req *s)
{
    if (s->proto && s->proto->abort) {
        s->proto->abort(ch, s);
    }
}

void fm_send_req_done(struct fm_channel *ch, struct fm_send_req *s)
{
    leave(ch, s);
    if (FM_UNLIKELY(ch->counters->req.on_done)) {
        fm_p2p_emit(ch, FM_EV_COMPLETED, fm_comm_proc(s->msg.comm, s->msg.peer),
                    fm_msg_context(&s->msg), s->msg.tag, (uint64_t)s->len);
    }
    fm_request_complete(&s->req);
}

void fm_send_req_fail(struct fm_channel *ch, struct fm_send_req *s, int klass, const char *why)
{
    abort_proto(ch, s);
    leave(ch, s);
    fm_request_fail(&s->req, klass, "%s", why);
}

void fm_send_req_lost(struct fm_channel *ch, struct fm_send_req *s)
{
    char why[FM_PEER_WHY];

    fm_send_req_fail(ch, s, MPI_ERR_PROC_ABORTED, fm_peer_describe(s->peer, why));
}

void fm_send_req_cancelled(struct fm_channel *ch, struct fm_send_req *s)
{
    abort_proto(ch, s);
    leave(ch, s);
    s->req.status.is_cancelled = true;
    fm_request_complete(&s->req);
}

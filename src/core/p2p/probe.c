/* SPDX-License-Identifier: BSD-3-Clause */
/* Probing for messages. */
#include "core/p2p/probe.h"

#include "core/p2p/credit.h"
#include "core/p2p/recv_req.h"
#include "core/p2p/unexpected.h"
#include "core/p2p/wait.h"

#define MAX_MESSAGES ((size_t)1 << 20)

/* What is looked for, and what was found. */
struct search {
    struct fm_comm *comm;
    struct fm_match_key key;
    bool takes_out;
    struct fm_unexp *found;
};

static struct search search_of(struct fm_comm *comm, int peer, int tag, bool takes_out)
{
    return (struct search){.comm = comm,
                           .key = {.context = comm->context, .source = peer, .tag = tag},
                           .takes_out = takes_out};
}

static bool look(void *ctx)
{
    struct search *s = ctx;
    struct fm_channel *ch = s->comm->ch;
    struct fm_unexpected *x;

    if (s->takes_out && s->found) {
        return true; /* another thread has looked for us (sleeper.h) */
    }
    x = fm_match_probe(ch->match, &s->key);
    if (x && s->takes_out) { /* only now: a look that finds nothing is no receive */
        x = fm_match_receive(ch->match, &s->key);
    }
    s->found = x ? fm_container_of(x, struct fm_unexp, u) : NULL;
    if (s->found && s->takes_out) {
        fm_unexp_taken(ch, s->found);
    }
    if (!s->found && FM_UNLIKELY(ch->n_stalled)) {
        fm_credit_resume(ch, s->comm, s->key.source);
    }
    return s->found;
}

/* Waiting for a process that is lost would never end. */
static int check_peer(const struct search *s)
{
    const struct fm_peer *peer;

    if (s->key.source == FM_ANY_SOURCE) {
        return 0;
    }
    peer = fm_peer_of(s->comm->ch, fm_comm_proc(s->comm, s->key.source));
    if (FM_UNLIKELY(peer->is_gone)) {
        return fm_fail(-FM_E_PEER, "rank %d is gone: %s", s->key.source, fm_peer_why(peer));
    }
    return 0;
}

static bool found_or_lost(void *ctx)
{
    struct search *s = ctx;

    return look(s) || check_peer(s) != 0;
}

/* 0, also when nothing was found, or a failure. */
static int look_once(struct search *s)
{
    int rc;

    if (look(s)) {
        return 0;
    }
    rc = fm_wait_test(s->comm->ch);
    if (rc < 0 || look(s)) {
        return rc < 0 ? rc : 0;
    }
    return check_peer(s);
}

static int look_until(struct search *s)
{
    int rc = fm_wait_until(s->comm->ch, found_or_lost, s);

    if (rc != 0 || s->found) {
        return rc;
    }
    return check_peer(s);
}

static void status_of(const struct fm_unexp *u, struct fm_status *out_status)
{
    *out_status = (struct fm_status){
        .source = u->u.key.source, .tag = u->u.key.tag, .n_bytes = (MPI_Count)u->len};
}

int fm_iprobe(struct fm_comm *comm, int peer, int tag, bool *out_found,
              struct fm_status *out_status)
{
    struct search s = search_of(comm, peer, tag, false);
    int rc;

    FM_STAT(comm->ch->match_counters->n_probes++);
    if (peer == MPI_PROC_NULL) {
        *out_status = FM_STATUS_NULL;
        *out_found = true;
        return 0;
    }
    rc = look_once(&s);
    if (rc != 0) {
        return rc;
    }
    if (s.found) {
        status_of(s.found, out_status);
    }
    *out_found = s.found;
    return 0;
}

int fm_probe(struct fm_comm *comm, int peer, int tag, struct fm_status *out_status)
{
    struct search s = search_of(comm, peer, tag, false);
    int rc;

    FM_STAT(comm->ch->match_counters->n_probes++);
    if (peer == MPI_PROC_NULL) {
        *out_status = FM_STATUS_NULL;
        return 0;
    }
    rc = look_until(&s);
    if (rc == 0) {
        status_of(s.found, out_status);
    }
    return rc;
}

/* ---- messages ---- */

/* What MPI_MESSAGE_NO_PROC stands for; never changed but by the head's count. */
static struct fm_message no_proc;

int fm_message_init(void)
{
    no_proc = (struct fm_message){.head = {.kind = FM_KIND_MESSAGE, .refs = 1}};
    fm_handle_predefine(MPI_MESSAGE_NO_PROC, &no_proc);
    return fm_handle_pool(FM_KIND_MESSAGE, sizeof(struct fm_message), MAX_MESSAGES);
}

static int message_of(const struct search *s, struct fm_message **out_message,
                      struct fm_status *out_status)
{
    struct fm_message *message = fm_object_new(FM_KIND_MESSAGE);

    if (!message) {
        return -FM_E_NOMEM;
    }
    message->u = s->found;
    message->comm = fm_object_ref(s->comm);
    status_of(s->found, out_status);
    *out_message = message;
    return 0;
}

int fm_improbe(struct fm_comm *comm, int peer, int tag, struct fm_message **out_message,
               struct fm_status *out_status)
{
    struct search s = search_of(comm, peer, tag, true);
    int rc;

    FM_STAT(comm->ch->match_counters->n_probes++);
    if (peer == MPI_PROC_NULL) {
        *out_status = FM_STATUS_NULL;
        *out_message = &no_proc;
        return 0;
    }
    rc = look_once(&s);
    if (rc != 0) {
        return rc;
    }
    if (!s.found) {
        *out_message = NULL;
        return 0;
    }
    return message_of(&s, out_message, out_status);
}

int fm_mprobe(struct fm_comm *comm, int peer, int tag, struct fm_message **out_message,
              struct fm_status *out_status)
{
    struct search s = search_of(comm, peer, tag, true);
    int rc;

    FM_STAT(comm->ch->match_counters->n_probes++);
    if (peer == MPI_PROC_NULL) {
        *out_status = FM_STATUS_NULL;
        *out_message = &no_proc;
        return 0;
    }
    rc = look_until(&s);
    return rc ? rc : message_of(&s, out_message, out_status);
}

int fm_imrecv(struct fm_message *message, const struct fm_msg *m, struct fm_request **out_req)
{
    struct fm_msg full = *m;
    struct fm_recv_req *r;
    int rc;

    if (message == &no_proc) {
        full.comm = NULL;
        full.peer = MPI_PROC_NULL;
        return fm_irecv(&full, out_req);
    }
    full.comm = message->comm;
    full.peer = message->u->u.key.source;
    full.tag = message->u->u.key.tag;
    r = fm_recv_new(&full);
    if (!r) {
        return -FM_E_NOMEM;
    }
    fm_object_ref(&r->req);
    rc = fm_recv_unexpected(full.comm->ch, r, message->u);
    fm_comm_unref(message->comm);
    fm_object_free(message);
    if (rc != 0) {
        fm_request_unref(&r->req);
        fm_request_unref(&r->req);
        return rc;
    }
    *out_req = &r->req;
    return 0;
}

int fm_mrecv(struct fm_message *message, const struct fm_msg *m, struct fm_status *out_status)
{
    struct fm_request *r;
    int rc = fm_imrecv(message, m, &r);

    return rc ? rc : fm_recv_wait(r, out_status);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The order of arriving messages; see the header. */
#include "transport/ofi/ofi_order.h"

#include <stdlib.h>
#include <string.h>

#include "util/status.h"

#define FIRST_ENTRIES 16

int fm_ofi_order_init(struct fm_ofi_order *o, const struct fm_ofi_secret *secret)
{
    memset(o, 0, sizeof(*o));
    o->secret = *secret;
    o->streams = calloc(FIRST_ENTRIES, sizeof(*o->streams));
    if (!o->streams) {
        return fm_fail(-FM_E_NOMEM, "no memory for the table of senders");
    }
    o->n_entries = FIRST_ENTRIES;
    return 0;
}

void fm_ofi_order_finish(struct fm_ofi_order *o)
{
    for (size_t k = 0; k < o->n_entries; k++) {
        struct fm_ofi_early *e = o->streams[k].early;

        while (e) {
            struct fm_ofi_early *next = e->next;

            free(e);
            e = next;
        }
    }
    free(o->streams);
    memset(o, 0, sizeof(*o));
}

/* The entry of this id, or the free one where it belongs. */
static size_t probe(const struct fm_ofi_stream *streams, size_t n_entries, uint64_t id)
{
    size_t at = (size_t)((id * UINT64_C(0x9e3779b97f4a7c15)) >> 20) & (n_entries - 1);

    while (streams[at].id && streams[at].id != id) {
        at = (at + 1) & (n_entries - 1);
    }
    return at;
}

static bool grow(struct fm_ofi_order *o)
{
    size_t n = o->n_entries * 2;
    struct fm_ofi_stream *streams = calloc(n, sizeof(*streams));

    if (!streams) {
        return false;
    }
    for (size_t k = 0; k < o->n_entries; k++) {
        if (o->streams[k].id) {
            streams[probe(streams, n, o->streams[k].id)] = o->streams[k];
        }
    }
    free(o->streams);
    o->streams = streams;
    o->n_entries = n;
    return true;
}

struct fm_ofi_stream *fm_ofi_order_search(struct fm_ofi_order *o, uint64_t id, uint32_t sender)
{
    size_t at;

    if (!id) {
        return NULL;
    }
    at = probe(o->streams, o->n_entries, id);
    if (!o->streams[at].id) {
        if (fm_ofi_proof_stream(&o->secret, sender) != id || o->n_used >= FM_OFI_STREAMS_MAX ||
            (2 * (o->n_used + 1) > o->n_entries && !grow(o))) {
            return NULL;
        }
        at = probe(o->streams, o->n_entries, id);
        o->streams[at] = (struct fm_ofi_stream){.id = id};
        o->n_used++;
    }
    o->last = at;
    return &o->streams[at];
}

int fm_ofi_order_keep(struct fm_ofi_order *o, struct fm_ofi_stream *s, uint32_t seq,
                      const void *data, size_t len)
{
    struct fm_ofi_early **at = &s->early;
    struct fm_ofi_early *e;

    /* Numbers wrap around: what lies less than half the circle behind `next` is late. */
    if (seq - s->next >= UINT32_C(1) << 31 || len > FM_OFI_EARLY_MAX - o->early_len) {
        return -FM_E_PROTO;
    }
    while (*at && (*at)->seq - s->next < seq - s->next) {
        at = &(*at)->next;
    }
    if (*at && (*at)->seq == seq) {
        return -FM_E_PROTO;
    }
    e = malloc(sizeof(*e) + len);
    if (!e) {
        return -FM_E_NOMEM;
    }
    *e = (struct fm_ofi_early){.next = *at, .seq = seq, .len = len};
    memcpy(e->data, data, len);
    *at = e;
    o->early_len += len;
    o->n_early++;
    return 0;
}

struct fm_ofi_early *fm_ofi_order_take(struct fm_ofi_order *o, uint64_t id)
{
    const struct fm_ofi_stream *last = &o->streams[o->last];
    struct fm_ofi_stream *s =
        last->id == id ? &o->streams[o->last] : &o->streams[probe(o->streams, o->n_entries, id)];
    struct fm_ofi_early *e = s->early;

    if (!e || e->seq != s->next) {
        return NULL;
    }
    s->early = e->next;
    s->next++;
    o->early_len -= e->len;
    return e;
}

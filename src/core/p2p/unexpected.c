/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of unexpected messages. */
#include "core/p2p/unexpected.h"

#include <string.h>

#include "core/dtype/pack.h"
#include "core/object/comm.h"
#include "core/p2p/channel.h"
#include "core/p2p/p2p_counters.h"
#include "core/p2p/msg.h"
#include "core/p2p/wire.h"

_Static_assert(sizeof(struct fm_block) == FM_BLOCK_LEN, "as charged");
_Static_assert(sizeof(struct fm_unexp) <= FM_BLOCK_LEN / 2, "leaves room for data");

/* Walks over the room of a chain. */
struct walk {
    char *at;
    size_t len;
    struct fm_block *next;
};

static struct walk walk_begin(const struct fm_unexp *u)
{
    return (struct walk){(char *)(u + 1), FM_UNEXP_ROOM, u->next};
}

static void walk_on(struct walk *w)
{
    w->at = w->next->data;
    w->len = FM_BLOCK_ROOM;
    w->next = w->next->next;
}

/* Of the pool's blocks only these: answers that wait for room lie in some, too. */
static void count_blocks(struct fm_channel *ch, int64_t by)
{
    fathom_level_add(&ch->counters->unexpected_bytes, by * FM_BLOCK_LEN);
}

static void give_back(struct fm_channel *ch, struct fm_unexp *u)
{
    struct fm_block *b = u->next;

    while (b) {
        struct fm_block *next = b->next;

        fm_pool_put(&ch->blocks, b);
        b = next;
    }
    fm_pool_put(&ch->blocks, u);
}

struct fm_unexp *fm_unexp_new(struct fm_channel *ch, size_t data_len)
{
    struct fm_unexp *u = fm_pool_get(&ch->blocks);
    struct fm_block **tail;

    if (FM_UNLIKELY(!u)) {
        return NULL;
    }
    memset(u, 0, sizeof(*u));
    u->n_blocks = fm_unexp_blocks(data_len);
    tail = &u->next;
    for (uint32_t k = 1; k < u->n_blocks; k++) {
        struct fm_block *b = fm_pool_get(&ch->blocks);

        if (FM_UNLIKELY(!b)) {
            give_back(ch, u);
            return NULL;
        }
        b->next = NULL;
        *tail = b;
        tail = &b->next;
    }
    FM_STAT(count_blocks(ch, u->n_blocks));
    return u;
}

void fm_unexp_free(struct fm_channel *ch, struct fm_unexp *u)
{
    FM_STAT(count_blocks(ch, -(int64_t)u->n_blocks));
    give_back(ch, u);
}

void fm_unexp_fill(struct fm_unexp *u, const void *data, size_t len)
{
    struct walk w = walk_begin(u);
    const char *from = data;

    while (len > w.len) {
        memcpy(w.at, from, w.len);
        from += w.len;
        len -= w.len;
        walk_on(&w);
    }
    if (len) {
        memcpy(w.at, from, len);
    }
}

void fm_unexp_fill_typed(struct fm_unexp *u, struct fm_pack *from)
{
    struct walk w = walk_begin(u);

    while (fm_pack_out(from, w.at, w.len) == w.len && w.next) {
        walk_on(&w);
    }
}

void fm_unexp_read(const struct fm_unexp *u, void *dst, size_t len)
{
    struct walk w = walk_begin(u);
    char *to = dst;

    while (len > w.len) {
        memcpy(to, w.at, w.len);
        to += w.len;
        len -= w.len;
        walk_on(&w);
    }
    if (len) {
        memcpy(to, w.at, len);
    }
}

void fm_unexp_read_typed(const struct fm_unexp *u, struct fm_pack *to, size_t len)
{
    struct walk w = walk_begin(u);

    while (len > w.len) {
        fm_pack_in(to, w.at, w.len);
        len -= w.len;
        walk_on(&w);
    }
    fm_pack_in(to, w.at, len);
}

/* Messages between users only: those of collectives are the library's own. */
static struct fm_comm *comm_of(const struct fm_channel *ch, const struct fm_unexp *u)
{
    return u->u.key.context & FM_SPACE_MASK ? NULL
                                            : fm_contexts_find(&ch->contexts, u->u.key.context);
}

/* Payload that lies here. */
static int64_t held(const struct fm_unexp *u)
{
    return u->kind == FM_WIRE_RTS || u->self ? 0 : (int64_t)u->len;
}

/* One came (+1) or went (-1): for the communicator and the process. */
static void count(struct fm_channel *ch, const struct fm_unexp *u, int by)
{
    struct fm_comm *comm = comm_of(ch, u);

    if (comm) {
        comm->counters->umq_len += (uint64_t)by;
    }
    fathom_level_add(&ch->match_counters->umq_bytes, by * held(u));
}

int fm_unexp_keep(struct fm_channel *ch, struct fm_unexp *u)
{
    int rc = fm_match_keep(ch->match, &u->u);

    if (FM_UNLIKELY(rc != 0)) {
        return rc;
    }
    FM_STAT(count(ch, u, 1));
    return 0;
}

void fm_unexp_taken(struct fm_channel *ch, struct fm_unexp *u)
{
    FM_STAT(count(ch, u, -1));
}

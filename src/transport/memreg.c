/* SPDX-License-Identifier: BSD-3-Clause */
/* Exposed memory, shared while in use; see the header. */
#include "transport/memreg.h"

#include <stdlib.h>

#include "util/list.h"
#include "util/pool.h"

#define N_BUCKETS  1024 /* a power of two */
#define MAX_PIECES 65536

struct memreg_words {
    uint64_t keep;
    uint64_t n_hits, n_misses, n_evicted;
    struct fathom_level pieces, pinned, idle;
};

#define AT(member) offsetof(struct memreg_words, member)

static const struct fathom_cvar cvars[] = {
    {.name = "memreg_keep",
     .desc = "Bytes of memory that may stay registered after their last use; set it above 0 only "
             "when registering is slow and message buffers are never freed while the program runs.",
     .unit = "bytes",
     .type = FATHOM_UNSIGNED_LONG_LONG,
     .scope = FATHOM_SCOPE_LOCAL,
     .verbosity = FATHOM_TUNER_DETAIL,
     .at = AT(keep),
     .max = INT64_MAX},
};

static const struct fathom_pvar pvars[] = {
    {.name = "memreg_hits",
     .desc = "Requests for registered memory that were served by a registration that existed.",
     .unit = "requests",
     .klass = FATHOM_COUNTER,
     .at = AT(n_hits)},
    {.name = "memreg_misses",
     .desc = "Requests for registered memory that had to register.",
     .unit = "requests",
     .klass = FATHOM_COUNTER,
     .at = AT(n_misses)},
    {.name = "memreg_evicted",
     .desc = "Registrations without user that were ended to stay within memreg_keep.",
     .unit = "pieces",
     .klass = FATHOM_COUNTER,
     .at = AT(n_evicted)},
    {.name = "memreg_pieces",
     .desc = "Pieces of memory that are registered now.",
     .unit = "pieces",
     .klass = FATHOM_LEVEL,
     .is_level = true,
     .at = AT(pieces)},
    {.name = "memreg_pinned",
     .desc = "Bytes of memory that are registered now.",
     .unit = "bytes",
     .klass = FATHOM_LEVEL,
     .is_level = true,
     .at = AT(pinned)},
    {.name = "memreg_pinned_max",
     .desc = "Most bytes of memory that were registered at once.",
     .unit = "bytes",
     .klass = FATHOM_HIGHWATERMARK,
     .is_level = true,
     .at = AT(pinned)},
    {.name = "memreg_idle",
     .desc = "Bytes of memory that stay registered without a user; see memreg_keep.",
     .unit = "bytes",
     .klass = FATHOM_LEVEL,
     .is_level = true,
     .at = AT(idle)},
};

static const struct fathom_category categories[] = {
    {"memreg", "Registration of memory for transfers without the peer's help.", "transport"},
};

const struct fathom_table fm_memreg_vars = {
    .room = "memreg",
    .block_len = sizeof(struct memreg_words),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
    .pvars = pvars,
    .n_pvars = FM_ARRAY_LEN(pvars),
    .categories = categories,
    .n_categories = FM_ARRAY_LEN(categories),
};

struct piece {
    struct fm_mem mem; /* first: what users hold */
    struct piece *next;
    struct fm_list idle; /* in the list of those without user */
    uint32_t n_users;
};

struct fm_memreg {
    struct fm_transport *tp;
    struct memreg_words *w;
    struct fm_pool pieces;
    struct fm_list idle; /* oldest first */
    size_t idle_len;
    struct piece *buckets[N_BUCKETS];
};

static struct piece **bucket_of(struct fm_memreg *reg, const void *addr, size_t len)
{
    uint64_t x = (uint64_t)(uintptr_t)addr ^ ((uint64_t)len << 20);

    return &reg->buckets[(x * UINT64_C(0x9e3779b97f4a7c15)) >> 54];
}

int fm_memreg_create(struct fm_transport *tp, void *words, struct fm_memreg **out_reg)
{
    struct fm_memreg *reg;
    int rc;

    if (!tp->has_rma) {
        return fm_fail(-FM_E_UNSUPPORTED, "transport %s exposes no memory", tp->ops->name);
    }
    reg = calloc(1, sizeof(*reg));
    if (!reg) {
        return fm_fail(-FM_E_NOMEM, "no memory for the table of registrations");
    }
    rc = fm_pool_init(&reg->pieces, sizeof(struct piece), MAX_PIECES);
    if (rc) {
        free(reg);
        return rc;
    }
    reg->tp = tp;
    reg->w = words;
    fm_list_init(&reg->idle);
    *out_reg = reg;
    return 0;
}

/* End a registration that nobody uses and that is in no list any more. */
static void piece_end(struct fm_memreg *reg, struct piece *p)
{
    struct piece **at = bucket_of(reg, p->mem.addr, p->mem.len);

    while (*at != p) {
        at = &(*at)->next;
    }
    *at = p->next;
    FM_STAT(fathom_level_add(&reg->w->pieces, -1));
    FM_STAT(fathom_level_add(&reg->w->pinned, -(int64_t)p->mem.len));
    reg->tp->ops->unexpose(reg->tp, &p->mem);
    fm_pool_put(&reg->pieces, p);
}

static void idle_take(struct fm_memreg *reg, struct piece *p)
{
    fm_list_remove(&p->idle);
    reg->idle_len -= p->mem.len;
    FM_STAT(fathom_level_set(&reg->w->idle, reg->idle_len));
}

/* End idle registrations, oldest first, until at most `keep` bytes of them are left. */
static void shrink(struct fm_memreg *reg, uint64_t keep)
{
    while (reg->idle_len > keep) {
        struct piece *p = fm_container_of(fm_list_first(&reg->idle), struct piece, idle);

        idle_take(reg, p);
        FM_STAT(reg->w->n_evicted++);
        piece_end(reg, p);
    }
}

void fm_memreg_trim(struct fm_memreg *reg)
{
    shrink(reg, 0);
}

void fm_memreg_destroy(struct fm_memreg *reg)
{
    if (!reg) {
        return;
    }
    fm_memreg_trim(reg);
    fm_assert(reg->pieces.n_live == 0);
    fm_pool_finish(&reg->pieces);
    free(reg);
}

int fm_memreg_get(struct fm_memreg *reg, void *addr, size_t len, const struct fm_mem **out_mem)
{
    struct piece **bucket = bucket_of(reg, addr, len);
    struct piece *p = *bucket;
    int rc;

    while (p && (p->mem.addr != addr || p->mem.len != len)) {
        p = p->next;
    }
    if (p) {
        FM_STAT(reg->w->n_hits++);
        if (p->n_users++ == 0) {
            idle_take(reg, p);
        }
        *out_mem = &p->mem;
        return 0;
    }
    p = fm_pool_get(&reg->pieces);
    if (!p) {
        fm_memreg_trim(reg);
        return FM_AGAIN;
    }
    rc = reg->tp->ops->expose(reg->tp, addr, len, &p->mem);
    if (rc) {
        fm_pool_put(&reg->pieces, p);
        return rc;
    }
    FM_STAT(reg->w->n_misses++);
    FM_STAT(fathom_level_add(&reg->w->pieces, 1));
    FM_STAT(fathom_level_add(&reg->w->pinned, (int64_t)len));
    p->n_users = 1;
    fm_list_init(&p->idle);
    p->next = *bucket;
    *bucket = p;
    *out_mem = &p->mem;
    return 0;
}

void fm_memreg_put(struct fm_memreg *reg, const struct fm_mem *mem)
{
    struct piece *p = (struct piece *)(uintptr_t)mem; /* the piece begins with it */

    fm_assert(p->n_users > 0);
    if (--p->n_users) {
        return;
    }
    if (mem->len > reg->w->keep) {
        piece_end(reg, p);
        return;
    }
    fm_list_push(&reg->idle, &p->idle);
    reg->idle_len += mem->len;
    FM_STAT(fathom_level_set(&reg->w->idle, reg->idle_len));
    shrink(reg, reg->w->keep);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching by one queue per distinct key; see the header for the rules.
 *
 *     buckets            queues of one bucket           entries of one key, oldest first
 *     +---+     +---------------------------+
 *     | o-+---->| key, entries o, next o----+--> ...
 *     +---+     +--------------|------------+
 *     |   |                    +--> node <-> node <-> node (back to the head)
 *
 * The first receive that is posted while none waits is kept aside: it needs no queue, and being the
 * oldest it is asked first. Most programs that block never have a second one.
 *
 * Queues are kept when they run empty, because the next message of a program most often has the
 * same key; they are swept up when the table would otherwise have to grow. So the usual message
 * costs one compare (with the queue that was used last) or one hash, and the two ends of a list.
 */
#include "core/p2p/match.h"

#include <stdlib.h>
#include <string.h>

#include "core/p2p/match_vars.h"

/* What is exact in a key: the index of a queue kind. */
enum { EXACT = 0, ANY_SOURCE = 1, ANY_TAG = 2, ANY_BOTH = 3, N_KINDS = 4 };

#define SLAB_LEN 4096

/* All entries of one key. Never moves. */
struct queue {
    struct fm_list entries;
    uint64_t pair; /* source and tag */
    uint32_t context;
    struct queue *next;
} FM_ALIGNED(FM_CACHE_LINE);

struct table {
    struct queue **buckets;
    unsigned shift;     /* 64 - log2 of the number of buckets */
    size_t n_buckets;   /* a power of two */
    size_t n_queues;    /* empty ones among them */
    size_t sweep_at;    /* queues at which the next sweep or growth is due */
    struct queue *last; /* that was found or made last, or NULL: most often the next one, too */
};

/* A piece of memory for queues; its first line is the link. */
struct slab {
    struct slab *next;
} FM_ALIGNED(FM_CACHE_LINE);

struct fm_match {
    struct table posted;
    struct table unexpected;
    struct fm_posted *single; /* older than all in `posted`, and not among them; or NULL */
    uint64_t n_kept;          /* unexpected messages since the start: the stamp of the next one */
    uint64_t n_posted; /* receives since the start: the stamp of the next one. The order of matching
                          rests on it; the page gets a copy */
    uint64_t n_wild[N_KINDS]; /* entries in `posted`, by kind; [EXACT] stays 0 */
    uint64_t n_wilds;         /* sum of n_wild */
    unsigned filed;           /* bit k: unexpected messages are filed under kind k too */
    struct fm_list all_unexpected;
    struct fm_match_counters *counters;
    struct queue *free;
    struct slab *slabs;
    size_t max_buckets;
};

static inline unsigned kind_of(const struct fm_match_key *key)
{
    return (unsigned)(key->source == FM_ANY_SOURCE) | (unsigned)(key->tag == FM_ANY_TAG) << 1;
}

static inline uint64_t pair_of(int32_t source, int32_t tag)
{
    return (uint64_t)(uint32_t)source << 32 | (uint32_t)tag;
}

/* The pair under which a message of this exact pair is filed for receives of kind k. */
static inline uint64_t pair_for(const struct fm_match_key *key, unsigned k)
{
    return pair_of(k & ANY_SOURCE ? FM_ANY_SOURCE : key->source,
                   k & ANY_TAG ? FM_ANY_TAG : key->tag);
}

static inline size_t bucket_of(const struct table *t, uint32_t context, uint64_t pair)
{
    uint64_t h =
        (pair ^ (uint64_t)context * UINT64_C(0xd6e8feb86659fd93)) * UINT64_C(0x9e3779b97f4a7c15);

    h ^= h >> 32; /* what the source alone moved comes down to where the last product spreads it */
    return (size_t)(h * UINT64_C(0xc2b2ae3d27d4eb4f) >> t->shift);
}

static inline bool is_of(const struct queue *q, uint32_t context, uint64_t pair)
{
    return q->pair == pair && q->context == context;
}

/* A queue behind the first of its bucket. It moves to the front: what was used last is used next.
 */
static __attribute__((noinline)) struct queue *
find_behind(const struct fm_match *m, struct queue **bucket, uint32_t context, uint64_t pair)
{
    for (struct queue *last = *bucket, *q = last->next; q; last = q, q = q->next) {
        FM_STAT(m->counters->n_other_steps++);
        if (is_of(q, context, pair)) {
            last->next = q->next;
            q->next = *bucket;
            *bucket = q;
            return q;
        }
    }
    return NULL;
}

static struct queue *find_other(const struct fm_match *m, struct table *t, uint32_t context,
                                uint64_t pair)
{
    struct queue **bucket = &t->buckets[bucket_of(t, context, pair)];
    struct queue *q = *bucket;

    if (q && !is_of(q, context, pair)) {
        q = find_behind(m, bucket, context, pair);
    }
    t->last = q ? q : t->last;
    return q;
}

/* The queue that was used last, if it is that of this key; NULL: another is, or none. */
static inline struct queue *last_of(const struct table *t, uint32_t context, uint64_t pair)
{
    struct queue *q = t->last;

    return q && FM_LIKELY(is_of(q, context, pair)) ? q : NULL;
}

/* A step, which the caller counts. */
static inline struct queue *find(const struct fm_match *m, struct table *t, uint32_t context,
                                 uint64_t pair)
{
    struct queue *q = last_of(t, context, pair);

    return FM_LIKELY(q != NULL) ? q : find_other(m, t, context, pair);
}

#define EMIT(m, word, event, key, length)                                                          \
    FM_STAT(if (FM_UNLIKELY((m)->counters->word)) fm_match_emit((m)->counters, event, key, length))

/* ---- Tables: the cold side ------------------------------------------------------------------ */

static int table_init(struct table *t, size_t n_buckets)
{
    t->buckets = calloc(n_buckets, sizeof(struct queue *));
    if (!t->buckets) {
        return fm_fail(-FM_E_NOMEM, "no memory for a match table of %zu entries", n_buckets);
    }
    t->n_buckets = n_buckets;
    t->shift = 64u - (unsigned)__builtin_ctzll(n_buckets);
    t->n_queues = 0;
    t->sweep_at = n_buckets / 2;
    t->last = NULL;
    return 0;
}

/* Take the empty queues out. */
static void sweep(struct fm_match *m, struct table *t)
{
    t->last = NULL;
    for (size_t b = 0; b < t->n_buckets; b++) {
        struct queue **at = &t->buckets[b];

        while (*at) {
            struct queue *q = *at;

            if (!fm_list_is_empty(&q->entries)) {
                at = &q->next;
                continue;
            }
            *at = q->next;
            q->next = m->free;
            m->free = q;
            t->n_queues--;
        }
    }
}

/* Twice the buckets. Without memory the chains just become longer. */
static void grow(struct fm_match *m, struct table *t)
{
    struct table wide;

    if (t->n_buckets >= m->max_buckets || table_init(&wide, t->n_buckets * 2) < 0) {
        return;
    }
    for (size_t b = 0; b < t->n_buckets; b++) {
        for (struct queue *q = t->buckets[b], *next; q; q = next) {
            struct queue **to = &wide.buckets[bucket_of(&wide, q->context, q->pair)];

            next = q->next;
            q->next = *to;
            *to = q;
        }
    }
    m->counters->table_bytes += t->n_buckets * sizeof(struct queue *);
    wide.n_queues = t->n_queues;
    free(t->buckets);
    *t = wide;
}

/* Too many queues for the buckets: sweep, and grow if most were in use. The work is paid for by the
 * queues that were made since the last time. */
FM_COLD static void make_room(struct fm_match *m, struct table *t)
{
    sweep(m, t);
    if (t->n_queues > t->n_buckets / 4) {
        grow(m, t);
    }
    t->sweep_at = t->n_queues * 2 > t->n_buckets / 2 ? t->n_queues * 2 : t->n_buckets / 2;
    FM_STAT(m->counters->n_rehashes++);
}

FM_COLD static int add_slab(struct fm_match *m)
{
    struct slab *slab = aligned_alloc(FM_CACHE_LINE, SLAB_LEN);
    struct queue *q;

    if (!slab) {
        return fm_fail(-FM_E_NOMEM, "no memory for match queues");
    }
    slab->next = m->slabs;
    m->slabs = slab;
    q = (struct queue *)(slab + 1);
    for (size_t k = 0; k < SLAB_LEN / sizeof(*q) - 1; k++) {
        q[k].next = m->free;
        m->free = &q[k];
    }
    m->counters->table_bytes += SLAB_LEN;
    return 0;
}

/* A new queue for a key that has none, or NULL without memory. */
FM_COLD static struct queue *make_queue(struct fm_match *m, struct table *t, uint32_t context,
                                        uint64_t pair)
{
    struct queue *q, **at;

    if (t->n_queues >= t->sweep_at) {
        make_room(m, t);
    }
    if (!m->free && add_slab(m) < 0) {
        return NULL;
    }
    q = m->free;
    m->free = q->next;
    fm_list_init(&q->entries);
    q->context = context;
    q->pair = pair;
    at = &t->buckets[bucket_of(t, context, pair)];
    q->next = *at;
    *at = q;
    t->n_queues++;
    t->last = q;
    return q;
}

static inline struct queue *find_or_make(struct fm_match *m, struct table *t, uint32_t context,
                                         uint64_t pair)
{
    struct queue *q = find(m, t, context, pair);

    return FM_LIKELY(q != NULL) ? q : make_queue(m, t, context, pair);
}

static size_t power_of_two(uint64_t n, uint64_t otherwise)
{
    size_t p = 2; /* one bucket would need a shift by 64 */

    n = n ? n : otherwise;
    while (p < n) {
        p *= 2;
    }
    return p;
}

int fm_match_create(struct fm_match_counters *counters, struct fm_match **out_match)
{
    struct fm_match *m = calloc(1, sizeof(*m));
    size_t first;
    int rc;

    if (!m) {
        return fm_fail(-FM_E_NOMEM, "no memory for the matching engine");
    }
    m->counters = counters;
    m->max_buckets = power_of_two(counters->buckets_max, FM_MATCH_BUCKETS_MAX);
    first = power_of_two(counters->buckets_first, FM_MATCH_BUCKETS_FIRST);
    first = first > m->max_buckets ? m->max_buckets : first;
    fm_list_init(&m->all_unexpected);
    rc = table_init(&m->posted, first);
    if (rc < 0) {
        goto err_match;
    }
    rc = table_init(&m->unexpected, first);
    if (rc < 0) {
        goto err_posted;
    }
    counters->table_bytes = 2 * first * sizeof(struct queue *);
    *out_match = m;
    return 0;

err_posted:
    free(m->posted.buckets);
err_match:
    free(m);
    return rc;
}

void fm_match_destroy(struct fm_match *m)
{
    if (!m) {
        return;
    }
    for (struct slab *s = m->slabs, *next; s; s = next) {
        next = s->next;
        free(s);
    }
    free(m->unexpected.buckets);
    free(m->posted.buckets);
    fathom_level_set(&m->counters->prq_len, 0);
    fathom_level_set(&m->counters->umq_len, 0);
    m->counters->table_bytes = 0;
    free(m);
}

/* ---- Posted receives ------------------------------------------------------------------------ */

/* Its marks are looked at in the one direction in which it moves. */
static inline uint64_t level_up(struct fathom_level *l)
{
    return FM_STATS ? fathom_level_up(l) : ++l->now;
}

static inline uint64_t level_down(struct fathom_level *l)
{
    return FM_STATS ? fathom_level_down(l) : --l->now;
}

static inline struct fm_posted *first_posted(const struct queue *q)
{
    return fm_container_of(q->entries.next, struct fm_posted, link);
}

static inline void unlink_posted(struct fm_posted *p)
{
    p->link.prev->next = p->link.next;
    p->link.next->prev = p->link.prev;
}

static inline void unqueue(struct fm_match *m, struct fm_posted *p)
{
    unlink_posted(p);
    if (FM_UNLIKELY(m->n_wilds)) {
        unsigned kind = kind_of(&p->key);

        m->n_wild[kind] -= kind != EXACT;
        m->n_wilds -= kind != EXACT;
    }
}

/* Of `best` and the receives with wildcards that match, the oldest. Adds its steps. */
static struct fm_posted *oldest_wild(struct fm_match *m, const struct fm_match_key *key,
                                     struct fm_posted *best, uint64_t *n_steps)
{
    for (unsigned k = ANY_SOURCE; k <= ANY_BOTH; k++) {
        struct queue *q = NULL;

        if (m->n_wild[k]) {
            ++*n_steps;
            q = find(m, &m->posted, key->context, pair_for(key, k));
        }
        if (q && !fm_list_is_empty(&q->entries) &&
            (!best || first_posted(q)->stamp < best->stamp)) {
            best = first_posted(q);
        }
    }
    return best;
}

static inline bool is_match(const struct fm_match_key *receive, const struct fm_match_key *message)
{
    return receive->context == message->context &&
           (receive->source == message->source || receive->source == FM_ANY_SOURCE) &&
           (receive->tag == message->tag || receive->tag == FM_ANY_TAG);
}

/* Among those in queues, some of which have wildcards. Counts its steps but for one where it finds
   something. */
static __attribute__((noinline)) struct fm_posted *
find_mixed(struct fm_match *m, const struct fm_match_key *key, uint64_t n_queued)
{
    struct fm_posted *p = NULL;
    uint64_t n_steps = 0;

    if (n_queued != m->n_wilds) {
        struct queue *q = find(m, &m->posted, key->context, pair_of(key->source, key->tag));

        n_steps++;
        p = q && !fm_list_is_empty(&q->entries) ? first_posted(q) : NULL;
    }
    p = oldest_wild(m, key, p, &n_steps);
    FM_STAT(m->counters->n_other_steps += n_steps - (p != NULL));
    return p;
}

/* The same, whatever they have. */
static inline struct fm_posted *find_posted(struct fm_match *m, const struct fm_match_key *key,
                                            uint64_t n_queued)
{
    struct queue *q;

    if (FM_UNLIKELY(m->n_wilds)) {
        return find_mixed(m, key, n_queued);
    }
    q = find(m, &m->posted, key->context, pair_of(key->source, key->tag));
    if (FM_LIKELY(q && !fm_list_is_empty(&q->entries))) {
        return first_posted(q);
    }
    FM_STAT(m->counters->n_other_steps++);
    return NULL;
}

/* The level went beyond a mark, or a tool wants the event. */
FM_COLD static void note_posted(struct fm_match *m, const struct fm_match_key *key)
{
    fathom_level_set(&m->counters->prq_len, m->counters->prq_len.now);
    EMIT(m, on_posted, FM_MATCH_EV_POSTED, key, m->counters->prq_len.now);
}

/* A tool wants the event. Returns p, so that the straight line has nothing to keep for after the
   call. */
FM_COLD static struct fm_posted *note_matched(struct fm_match *m, const struct fm_match_key *key,
                                              struct fm_posted *p)
{
    fm_match_emit(m->counters, FM_MATCH_EV_MATCHED, key, m->counters->prq_len.now);
    return p;
}

/* Taken out of its queue or place. */
static inline struct fm_posted *hit(struct fm_match *m, const struct fm_match_key *key,
                                    struct fm_posted *p)
{
    struct fm_match_counters *w = m->counters;

    w->prq_len.now--;
    p->queue = NULL;
    FM_STAT(w->n_posted_hits++);
    return FM_STATS && FM_UNLIKELY(w->on_matched) ? note_matched(m, key, p) : p;
}

/* Not for the one that is kept aside, if there is one. */
static __attribute__((noinline)) struct fm_posted *arrival_queued(struct fm_match *m,
                                                                  const struct fm_match_key *key)
{
    uint64_t n_queued = m->counters->prq_len.now - (m->single != NULL);
    struct fm_posted *p = n_queued ? find_posted(m, key, n_queued) : NULL;

    FM_STAT(m->counters->n_other_steps += m->single != NULL);
    if (p) {
        unqueue(m, p);
        return hit(m, key, p);
    }
    FM_STAT(m->counters->n_other_attempts++);
    return NULL;
}

/* The two usual cases are here: what is kept aside, and the next of many alike. */
struct fm_posted *fm_match_arrival(struct fm_match *m, const struct fm_match_key *key)
{
    struct fm_posted *p = m->single;
    struct queue *q;

    if (FM_LIKELY(p && is_match(&p->key, key))) {
        m->single = NULL;
        return hit(m, key, p);
    }
    q = !p && !m->n_wilds ? last_of(&m->posted, key->context, pair_of(key->source, key->tag))
                          : NULL;
    if (FM_LIKELY(q && !fm_list_is_empty(&q->entries))) {
        p = first_posted(q);
        unlink_posted(p);
        return hit(m, key, p);
    }
    return arrival_queued(m, key);
}

static inline int push_posted(struct fm_match *m, struct fm_posted *p)
{
    unsigned kind = kind_of(&p->key);
    struct queue *q =
        find_or_make(m, &m->posted, p->key.context, pair_of(p->key.source, p->key.tag));

    if (FM_UNLIKELY(!q)) {
        return -FM_E_NOMEM;
    }
    fm_list_push(&q->entries, &p->link);
    p->queue = q;
    if (kind != EXACT) {
        m->n_wild[kind]++;
        m->n_wilds++;
    }
    return 0;
}

/* It is queued: so many are now. */
static inline void posted(struct fm_match *m, const struct fm_posted *p, uint64_t now)
{
    struct fm_match_counters *w = m->counters;

    FM_STAT(w->n_posted = m->n_posted);
    __atomic_store_n(&w->prq_len.now, now, __ATOMIC_RELAXED);
    if (FM_STATS &&
        FM_UNLIKELY(now > __atomic_load_n(&w->prq_len.hi_mark, __ATOMIC_RELAXED) || w->on_posted)) {
        note_posted(m, &p->key);
    }
}

static inline int post(struct fm_match *m, struct fm_posted *p)
{
    uint64_t n_queued = m->counters->prq_len.now;

    if (n_queued == 0) {
        m->single = p;
        p->queue = m;
    } else if (FM_UNLIKELY(push_posted(m, p) != 0)) {
        return -FM_E_NOMEM;
    }
    p->stamp = m->n_posted++;
    posted(m, p, n_queued + 1);
    return 0;
}

int fm_match_post(struct fm_match *m, struct fm_posted *p)
{
    int rc = post(m, p);

    FM_STAT(m->counters->n_other_attempts -= rc == 0); /* n_posted counts a search, too */
    return rc;
}

bool fm_match_unpost(struct fm_match *m, struct fm_posted *p)
{
    if (!p->queue) {
        return false;
    }
    if (p == m->single) {
        m->single = NULL;
    } else {
        unqueue(m, p);
    }
    p->queue = NULL;
    level_down(&m->counters->prq_len);
    return true;
}

/* ---- Unexpected messages -------------------------------------------------------------------- */

static inline struct fm_unexpected *first_unexpected(const struct queue *q, unsigned kind)
{
    /* link[0] is the start; all kinds lie at a fixed stride behind it. */
    return fm_container_of(q->entries.next - kind, struct fm_unexpected, link);
}

static inline void unfile(struct fm_unexpected *u, unsigned kind)
{
    fm_list_remove(&u->link[kind]);
    u->queue[kind] = NULL;
}

static inline int file(struct fm_match *m, struct fm_unexpected *u, unsigned kind)
{
    struct queue *q = find_or_make(m, &m->unexpected, u->key.context, pair_for(&u->key, kind));

    FM_STAT(m->counters->n_other_steps++);
    if (FM_UNLIKELY(!q)) {
        return -FM_E_NOMEM;
    }
    fm_list_push(&q->entries, &u->link[kind]);
    u->queue[kind] = q;
    return 0;
}

static void take_unexpected(struct fm_match *m, struct fm_unexpected *u)
{
    for (unsigned k = EXACT; k < N_KINDS; k++) {
        if (u->queue[k]) {
            unfile(u, k);
        }
    }
    fm_list_remove(&u->all);
    if (level_down(&m->counters->umq_len) == 0) {
        m->filed = 0;
    }
}

int fm_match_keep(struct fm_match *m, struct fm_unexpected *u)
{
    if (FM_UNLIKELY(file(m, u, EXACT) < 0)) {
        return -FM_E_NOMEM;
    }
    for (unsigned k = ANY_SOURCE; m->filed >> k; k++) {
        if (m->filed >> k & 1 && FM_UNLIKELY(file(m, u, k) < 0)) {
            goto err_file;
        }
    }
    u->stamp = m->n_kept++;
    fm_list_push(&m->all_unexpected, &u->all);
    level_up(&m->counters->umq_len);
    EMIT(m, on_umq_in, FM_MATCH_EV_UMQ_IN, &u->key, m->counters->umq_len.now);
    return 0;

err_file:
    for (unsigned k = EXACT; k < N_KINDS; k++) {
        if (u->queue[k]) {
            unfile(u, k);
        }
    }
    return -FM_E_NOMEM;
}

/* File all waiting messages under a kind of key that none was filed under. */
FM_COLD static int file_all(struct fm_match *m, unsigned kind)
{
    FM_STAT(m->counters->n_indexings++);
    fm_list_each(l, next, &m->all_unexpected)
    {
        if (file(m, fm_container_of(l, struct fm_unexpected, all), kind) < 0) {
            goto err_filed;
        }
    }
    m->filed |= 1u << kind;
    return 0;

err_filed:
    fm_list_each(l, next, &m->all_unexpected)
    {
        struct fm_unexpected *u = fm_container_of(l, struct fm_unexpected, all);

        if (u->queue[kind]) {
            unfile(u, kind);
        }
    }
    return -FM_E_NOMEM;
}

/* The slow way, when there is no memory to file the messages. */
FM_COLD static struct fm_unexpected *scan(struct fm_match *m, const struct fm_match_key *key)
{
    fm_list_each(l, next, &m->all_unexpected)
    {
        struct fm_unexpected *u = fm_container_of(l, struct fm_unexpected, all);

        if (is_match(key, &u->key)) {
            return u;
        }
    }
    return NULL;
}

/* The oldest message for a receive, or NULL. */
static struct fm_unexpected *search(struct fm_match *m, const struct fm_match_key *key)
{
    unsigned kind = kind_of(key);
    struct queue *q;

    if (kind != EXACT && !(m->filed >> kind & 1) && FM_UNLIKELY(file_all(m, kind) < 0)) {
        return scan(m, key);
    }
    FM_STAT(m->counters->n_other_steps++);
    q = find(m, &m->unexpected, key->context, pair_of(key->source, key->tag));
    return q && !fm_list_is_empty(&q->entries) ? first_unexpected(q, kind) : NULL;
}

/* What is exact is not negative. */
static inline bool is_exact(const struct fm_match_key *key)
{
    return (key->source | key->tag) >= 0;
}

static inline void count_wild(struct fm_match *m, const struct fm_match_key *key)
{
    if (FM_UNLIKELY(!is_exact(key))) {
        FM_STAT(m->counters->n_wildcards++);
    }
}

/* The oldest message for a receive, which is taken out; or NULL. */
static inline struct fm_unexpected *receive(struct fm_match *m, const struct fm_match_key *key)
{
    struct fm_unexpected *u = FM_UNLIKELY(m->counters->umq_len.now) ? search(m, key) : NULL;

    count_wild(m, key);
    if (u) {
        take_unexpected(m, u);
        FM_STAT(m->counters->n_unexpected_hits++);
        EMIT(m, on_umq_out, FM_MATCH_EV_UMQ_OUT, &u->key, m->counters->umq_len.now);
    }
    return u;
}

struct fm_unexpected *fm_match_receive(struct fm_match *m, const struct fm_match_key *key)
{
    FM_STAT(m->counters->n_other_attempts++);
    return receive(m, key);
}

/* While messages wait, or other receives that are not alike. */
static __attribute__((noinline)) int take_or_queue(struct fm_match *m, struct fm_posted *p,
                                                   struct fm_unexpected **out_u)
{
    int rc = 0;

    *out_u = receive(m, &p->key);
    if (*out_u) {
        FM_STAT(m->counters->n_other_attempts++);
    } else {
        rc = post(m, p);
    }
    return rc;
}

int fm_match_take_or_post(struct fm_match *m, struct fm_posted *p, struct fm_unexpected **out_u)
{
    struct fm_match_counters *w = m->counters;
    uint64_t n_queued = w->prq_len.now;
    struct queue *q;

    if (FM_UNLIKELY(w->umq_len.now)) {
        return take_or_queue(m, p, out_u);
    }
    if (n_queued == 0) {
        count_wild(m, &p->key);
        m->single = p;
        p->queue = m;
    } else {
        q = is_exact(&p->key)
                ? last_of(&m->posted, p->key.context, pair_of(p->key.source, p->key.tag))
                : NULL;
        if (FM_UNLIKELY(!q)) {
            return take_or_queue(m, p, out_u);
        }
        fm_list_push(&q->entries, &p->link);
        p->queue = q;
    }
    *out_u = NULL;
    p->stamp = m->n_posted++;
    posted(m, p, n_queued + 1);
    return 0;
}

struct fm_unexpected *fm_match_probe(struct fm_match *m, const struct fm_match_key *key)
{
    FM_STAT(m->counters->n_other_attempts++);
    return m->counters->umq_len.now ? search(m, key) : NULL;
}

bool fm_match_drop(struct fm_match *m, struct fm_unexpected *u)
{
    if (!u->queue[EXACT]) {
        return false;
    }
    take_unexpected(m, u);
    return true;
}

/* ---- Dumps ---------------------------------------------------------------------------------- */

/* The oldest posted receive whose stamp is at least `from`, or NULL. */
static struct fm_posted *next_posted(struct fm_match *m, uint64_t from)
{
    struct fm_posted *best = NULL;

    if (m->single && m->single->stamp >= from) {
        return m->single;
    }
    for (size_t b = 0; b < m->posted.n_buckets; b++) {
        for (struct queue *q = m->posted.buckets[b]; q; q = q->next) {
            fm_list_each(l, next, &q->entries)
            {
                struct fm_posted *p = fm_container_of(l, struct fm_posted, link);

                if (p->stamp >= from && (!best || p->stamp < best->stamp)) {
                    best = p;
                }
            }
        }
    }
    return best;
}

static int by_stamp(const void *a, const void *b)
{
    uint64_t x = (*(struct fm_posted *const *)a)->stamp;
    uint64_t y = (*(struct fm_posted *const *)b)->stamp;

    return (x > y) - (x < y);
}

static void collect_posted(struct fm_match *m, struct fm_posted **out)
{
    if (m->single) {
        *out++ = m->single;
    }
    for (size_t b = 0; b < m->posted.n_buckets; b++) {
        for (struct queue *q = m->posted.buckets[b]; q; q = q->next) {
            fm_list_each(l, next, &q->entries)
            {
                *out++ = fm_container_of(l, struct fm_posted, link);
            }
        }
    }
}

void fm_match_each_posted(struct fm_match *m, void (*fn)(struct fm_posted *p, void *ctx), void *ctx)
{
    size_t n = m->counters->prq_len.now;
    struct fm_posted **sorted = malloc((n ? n : 1) * sizeof(*sorted));

    if (!sorted) { /* square in time, but a dump of a process that is out of memory is worth it */
        for (struct fm_posted *p = next_posted(m, 0); p;) {
            uint64_t from = p->stamp + 1;

            fn(p, ctx);
            p = next_posted(m, from);
        }
        return;
    }
    collect_posted(m, sorted);
    qsort(sorted, n, sizeof(*sorted), by_stamp);
    for (size_t k = 0; k < n; k++) {
        fn(sorted[k], ctx);
    }
    free(sorted);
}

void fm_match_each_unexpected(struct fm_match *m, void (*fn)(struct fm_unexpected *u, void *ctx),
                              void *ctx)
{
    fm_list_each(l, next, &m->all_unexpected)
    {
        fn(fm_container_of(l, struct fm_unexpected, all), ctx);
    }
}

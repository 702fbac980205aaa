/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains by pointer, as many as there are things, within a factor of two (eight while they go). */
#include "mpit/mpit_hash.h"

#include <stdlib.h>

static unsigned bits_of(const struct fm_t_hash *h)
{
    return h->chains ? h->bits : FM_T_HASH_FIRST_BITS;
}

static struct fm_t_hash_link *const *chains_of(const struct fm_t_hash *h)
{
    return h->chains ? h->chains : h->first;
}

/* Objects of pools lie whole cache lines apart; the product's upper bits depend on all of them. */
static size_t place(const void *key, unsigned bits)
{
    return (size_t)((uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

static struct fm_t_hash_link **chain_of(struct fm_t_hash *h, const void *key)
{
    return &(h->chains ? h->chains : h->first)[place(key, bits_of(h))];
}

/* Without memory the chains just get longer. */
static void resize(struct fm_t_hash *h, unsigned bits)
{
    struct fm_t_hash_link **bigger = NULL, **old = h->chains ? h->chains : h->first, *link;
    size_t n_old = (size_t)1 << bits_of(h);

    if (bits > FM_T_HASH_FIRST_BITS) {
        bigger = calloc((size_t)1 << bits, sizeof(*bigger));
        if (!bigger) {
            return;
        }
    }
    for (size_t i = 0; i < n_old; i++) {
        while ((link = old[i]) != NULL) {
            struct fm_t_hash_link **to = &(bigger ? bigger : h->first)[place(link->key, bits)];

            old[i] = link->next;
            link->next = *to;
            *to = link;
        }
    }
    free(h->chains);
    h->chains = bigger;
    h->bits = bits;
}

void fm_t_hash_add(struct fm_t_hash *h, struct fm_t_hash_link *link)
{
    struct fm_t_hash_link **chain;

    if (h->n >> bits_of(h) != 0) {
        resize(h, bits_of(h) + 1);
    }
    chain = chain_of(h, link->key);
    link->next = *chain;
    *chain = link;
    h->n++;
}

void fm_t_hash_remove(struct fm_t_hash *h, struct fm_t_hash_link *link)
{
    struct fm_t_hash_link **at = chain_of(h, link->key);

    while (*at != link) {
        at = &(*at)->next;
    }
    *at = link->next;
    h->n--;
    if (h->chains && h->n < (size_t)1 << (h->bits - 3)) {
        resize(h, h->bits - 1);
    }
}

struct fm_t_hash_link *fm_t_hash_find(const struct fm_t_hash *h, const void *key)
{
    struct fm_t_hash_link *link = chains_of(h)[place(key, bits_of(h))];

    while (link && link->key != key) {
        link = link->next;
    }
    return link;
}

struct fm_t_hash_link *fm_t_hash_next(const struct fm_t_hash_link *link)
{
    const void *key = link->key;

    do {
        link = link->next;
    } while (link && link->key != key);
    return (struct fm_t_hash_link *)link;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Present values of performance variables: counters, sums of counters, shares. */
#include <string.h>

#include "mpit/mpit_pvar.h"

__attribute__((noinline)) uint64_t fm_t_value_added(const void *first, int n, size_t step)
{
    const uint64_t *word = first;
    uint64_t sum = 0;

    for (; n > 0; n--, word += step) {
        sum += fm_t_value_load(word);
    }
    return sum;
}

/* Element i of a sum over this block. */
static uint64_t sum_of(const struct fm_t_pvar_handle *h, const void *block, int i)
{
    const struct fathom_table *table = h->var->table->from;
    const struct fathom_pvar *row = h->var->row;
    uint64_t sum = 0;
    int k;

    for (k = 0; k < row->n_terms; k++) {
        const struct fathom_term *t = &row->terms[k];
        const char *words = (const char *)block + t->at;
        size_t step = t->step ? t->step : 1;

        sum += t->count == FATHOM_PER_MEMBER
                   ? fm_t_value_added(words + table->object_block_len, h->n_members,
                                      table->member_block_len / sizeof(uint64_t))
                   : fm_t_value_added(words + (size_t)i * step * sizeof(uint64_t),
                                      t->count ? t->count : 1, step);
    }
    return sum;
}

__attribute__((noinline)) uint64_t fm_t_value_derived(const struct fm_t_pvar_handle *h,
                                                      const uint64_t *words, int i)
{
    const struct fathom_pvar *row = h->var->row;
    uint64_t v = row->terms ? sum_of(h, words, i) : fm_t_value_load(words), whole;
    const char *block = (const char *)words - h->var->word_at;
    double share;

    if (row->whole_at) {
        whole = fm_t_value_load((const uint64_t *)(const void *)(block + row->whole_at));
        share = fathom_page_share(v, whole);
        memcpy(&v, &share, sizeof(v));
    }
    return v;
}

void fm_t_value_demand(const struct fm_t_pvar *v, int by)
{
    if (v->row->on_at) {
        __atomic_fetch_add((uint64_t *)(void *)(v->table->block + v->row->on_at),
                           (uint64_t)(int64_t)by, __ATOMIC_RELAXED);
    }
}

uint64_t fm_t_pvar_peek(struct fm_t_pvar *v)
{
    const struct fm_t_pvar_handle h = {.var = v};

    /* Relaxed: the second caller need not see it counted yet. */
    if (!atomic_exchange_explicit(&v->is_demanded, true, memory_order_relaxed)) {
        fm_t_value_demand(v, 1);
    }
    return fm_t_value_of(&h, (const uint64_t *)(const void *)(v->table->block + v->word_at), 0);
}

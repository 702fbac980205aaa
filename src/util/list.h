/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * An intrusive circular doubly linked list. The head is a link of its own; an empty list points at
 * itself. A link that is in no list is self-linked after fm_list_remove(), so removing twice is
 * safe.
 *
 *     head <-> first <-> ... <-> last <-> head
 */
#pragma once

#include <stdbool.h>

#include "util/compiler.h"

struct fm_list {
    struct fm_list *next;
    struct fm_list *prev;
};

static inline void fm_list_init(struct fm_list *l)
{
    l->next = l;
    l->prev = l;
}

static inline bool fm_list_is_empty(const struct fm_list *head)
{
    return head->next == head;
}

static inline void fm_list_insert_before(struct fm_list *at, struct fm_list *l)
{
    l->next = at;
    l->prev = at->prev;
    at->prev->next = l;
    at->prev = l;
}

/* Append: the list is then a queue, taken from with fm_list_first(). */
static inline void fm_list_push(struct fm_list *head, struct fm_list *l)
{
    fm_list_insert_before(head, l);
}

static inline void fm_list_remove(struct fm_list *l)
{
    l->prev->next = l->next;
    l->next->prev = l->prev;
    fm_list_init(l);
}

/* First link, or NULL when empty. */
static inline struct fm_list *fm_list_first(const struct fm_list *head)
{
    return head->next == head ? NULL : head->next;
}

/* Take the first link out, or NULL when empty. */
static inline struct fm_list *fm_list_pop(struct fm_list *head)
{
    struct fm_list *l = fm_list_first(head);

    if (l) {
        fm_list_remove(l);
    }
    return l;
}

/* The current link may be removed inside the loop: `next` is read before the body. */
#define fm_list_each(l, n, head)                                                                   \
    for (struct fm_list *l = (head)->next, *n = l->next; l != (head); l = n, n = l->next)

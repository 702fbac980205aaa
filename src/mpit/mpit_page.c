/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The shared page as memory: rows and object entries in fixed arrays, behind them blocks of words.
 *
 * Blocks are taken from the end of what was handed out; one that is given back waits in a list for
 * the next of the same length (objects of one kind mostly have it). All is called with the
 * registry's lock.
 */
#include "mpit/mpit_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define LINE     64u
#define PAGE_MIN (64u << 10)

/* A block that was given back. */
struct hole {
    struct hole *next;
    uint64_t at;
};

/* Blocks of one length that were given back. */
struct holes {
    struct holes *next;
    struct hole *first;
    uint64_t len;
};

/* Part of the registry's root: how the page in use is divided. */
static struct {
    struct holes *holes; /* by length: one entry for each that was ever given back */
    uint32_t max_rows, max_objects;
    uint32_t n_free_objects; /* among the published entries */
    uint32_t free_from;      /* none of them lies before this one */
} room;

static void describe_process(struct fathom_page *page)
{
    page->pid = (int32_t)getpid();
    page->rank = -1;
    page->start_ns = fathom_mpit_clock();
    gethostname(page->host, sizeof(page->host) - 1);
    strncpy(page->program, program_invocation_short_name, sizeof(page->program) - 1);
}

static void lay_out(struct fathom_page *page, size_t len)
{
    /* In a page of the default length: 963 rows and 2730 objects. */
    room.max_rows = (uint32_t)(len / 32 / sizeof(struct fathom_page_row));
    room.max_objects = (uint32_t)(len / 16 / sizeof(struct fathom_page_object));
    page->len = len;
    page->row_len = sizeof(struct fathom_page_row);
    page->object_len = sizeof(struct fathom_page_object);
    page->rows_at = (sizeof(*page) + LINE - 1) / LINE * LINE;
    page->objects_at = page->rows_at + (uint64_t)room.max_rows * page->row_len;
    page->words_at = page->objects_at + (uint64_t)room.max_objects * page->object_len;
    page->words_at = (page->words_at + LINE - 1) / LINE * LINE;
    page->used_len = page->words_at;
    page->version = FATHOM_PAGE_VERSION;
    describe_process(page);
    /* Pairs with the acquire load of a reader from outside: all of the above is seen. */
    __atomic_store_n(&page->magic, FATHOM_PAGE_MAGIC, __ATOMIC_RELEASE);
}

int fathom_mpit_page(void *page, size_t len)
{
    int rc = -1;

    fm_t_lock();
    if (page && !fm_t_root.page && len >= PAGE_MIN && (uintptr_t)page % LINE == 0) {
        lay_out(page, len);
        fm_t_root.page = page;
        rc = 0;
    }
    fm_t_unlock();
    return rc;
}

int fm_t_page_open(void)
{
    void *page;

    if (fm_t_root.page) {
        return 0;
    }
    page = mmap(NULL, FATHOM_PAGE_LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (page == MAP_FAILED) {
        fm_t_got(NULL);
        fm_t_warn("no memory for the page of variables: %s", strerror(errno));
        return -1;
    }
    lay_out(page, FATHOM_PAGE_LEN);
    fm_t_root.page = page;
    fm_t_root.is_own_page = true;
    return 0;
}

struct fathom_page *fathom_mpit_page_get(void)
{
    fm_t_lock();
    fm_t_page_open();
    fm_t_unlock();
    return fm_t_root.page;
}

static struct holes *holes_of(uint64_t len)
{
    struct holes *of;

    for (of = room.holes; of && of->len != len; of = of->next) {
    }
    return of;
}

static uint64_t take_hole(uint64_t len)
{
    struct holes *of = holes_of(len);
    struct hole *h = of ? of->first : NULL;
    uint64_t at;

    if (!h) {
        return 0;
    }
    at = h->at;
    of->first = h->next;
    free(h);
    return at;
}

void *fm_t_page_take(size_t len)
{
    uint64_t rounded = (len + LINE - 1) / LINE * LINE, at;
    struct fathom_page *page = fm_t_root.page;

    at = take_hole(rounded);
    if (!at) {
        if (rounded > page->len - page->used_len) {
            return NULL;
        }
        at = page->used_len;
        page->used_len += rounded;
    }
    return memset((char *)page + at, 0, rounded);
}

void fm_t_page_give(void *block, size_t len)
{
    uint64_t rounded = (len + LINE - 1) / LINE * LINE;
    struct holes *of = holes_of(rounded);
    struct hole *h = malloc(sizeof(*h));

    if (h && !of) {
        of = malloc(sizeof(*of));
        if (of) {
            *of = (struct holes){.next = room.holes, .len = rounded};
            room.holes = of;
        }
    }
    if (!h || !of) {
        free(h);
        return; /* the words are lost until the process ends */
    }
    h->at = fm_t_page_offset(block);
    h->next = of->first;
    of->first = h;
}

uint64_t fm_t_page_offset(const void *at)
{
    return (uint64_t)((const char *)at - (const char *)fm_t_root.page);
}

struct fathom_page_row *fm_t_page_row_new(const char *name, const char *unit)
{
    struct fathom_page *page = fm_t_root.page;
    struct fathom_page_row *row;

    if (page->n_rows >= room.max_rows) {
        return NULL;
    }
    row = (struct fathom_page_row *)(void *)((char *)page + page->rows_at) + page->n_rows;
    memset(row, 0, sizeof(*row));
    strncpy(row->name, name, sizeof(row->name) - 1);
    strncpy(row->unit, unit ? unit : "", sizeof(row->unit) - 1);
    return row;
}

void fm_t_page_row_publish(void)
{
    /* Pairs with the acquire load of n_rows by a reader: the row is seen filled. */
    __atomic_store_n(&fm_t_root.page->n_rows, fm_t_root.page->n_rows + 1, __ATOMIC_RELEASE);
}

static struct fathom_page_object *entries(void)
{
    return (struct fathom_page_object *)(void *)((char *)fm_t_root.page +
                                                 fm_t_root.page->objects_at);
}

struct fathom_page_object *fm_t_page_object_new(void)
{
    struct fathom_page *page = fm_t_root.page;

    if (room.n_free_objects > 0) {
        while (entries()[room.free_from].block != 0) {
            room.free_from++;
        }
        room.n_free_objects--;
        return &entries()[room.free_from++];
    }
    if (page->n_objects >= room.max_objects) {
        return NULL;
    }
    /* Release: pairs with the acquire load of a reader from outside. */
    __atomic_store_n(&page->n_objects, page->n_objects + 1, __ATOMIC_RELEASE);
    return &entries()[page->n_objects - 1];
}

void fm_t_page_object_give(struct fathom_page_object *entry)
{
    uint32_t number;

    if (!entry) {
        return;
    }
    number = (uint32_t)(entry - entries());
    __atomic_store_n(&entry->block, 0, __ATOMIC_RELEASE);
    if (room.n_free_objects++ == 0 || number < room.free_from) {
        room.free_from = number;
    }
}

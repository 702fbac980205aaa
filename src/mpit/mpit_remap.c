/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Other memory under the addresses of the page: the launcher's file, when the process learns that
 * the page there is its own, and private memory in a child after fork().
 *
 * The addresses of counters never change, so that the host and handles need not know of it.
 */
#include "mpit/mpit_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Memory can be put under an address in whole pages only. */
static bool is_whole(const struct fathom_page *page)
{
    size_t unit = (size_t)sysconf(_SC_PAGESIZE);

    return (uintptr_t)page % unit == 0 && page->len % unit == 0;
}

/* Fill the file: a reader from outside that sees the magic number sees all. */
static int fill(int fd, size_t len, const struct fathom_page *from)
{
    struct fathom_page *to = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (to == MAP_FAILED) {
        return -1;
    }
    __atomic_store_n(&to->magic, 0, __ATOMIC_RELEASE);
    memcpy((char *)to + sizeof(to->magic), (const char *)from + sizeof(from->magic),
           from->used_len - sizeof(from->magic));
    memset((char *)to + from->used_len, 0, len - from->used_len);
    __atomic_store_n(&to->magic, from->magic, __ATOMIC_RELEASE);
    munmap(to, len);
    return 0;
}

/* Add what threads counted between the copy and the move. */
static void catch_up(struct fathom_page *page, const uint64_t *copied, const uint64_t *last)
{
    uint64_t *words = (uint64_t *)(void *)page;
    size_t i;

    for (i = page->words_at / sizeof(*words); i < page->used_len / sizeof(*words); i++) {
        uint64_t by = __atomic_load_n(&last[i], __ATOMIC_RELAXED) - copied[i];

        if (by) {
            __atomic_fetch_add(&words[i], by, __ATOMIC_RELAXED);
        }
    }
}

static int move(struct fathom_page *page, int fd, size_t len)
{
    size_t used = page->used_len;
    uint64_t *copied = malloc(used);
    /* The same memory once more, to be read when the page is no longer there. A private mapping
       gives none: what is counted meanwhile by other threads is then not seen. */
    void *last = mremap(page, 0, len, MREMAP_MAYMOVE);
    int rc = -1;

    if (copied) {
        memcpy(copied, page, used);
        rc = fill(fd, len, (const struct fathom_page *)(void *)copied);
    }
    if (rc == 0 &&
        mmap(page, len, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, fd, 0) == MAP_FAILED) {
        rc = -1;
    }
    if (rc == 0 && last != MAP_FAILED) {
        catch_up(page, copied, last);
    }
    if (last != MAP_FAILED) {
        munmap(last, len);
    }
    free(copied);
    return rc;
}

int fathom_mpit_page_move(int fd, size_t len)
{
    int rc = -1;

    fm_t_lock();
    errno = EINVAL;
    if (fm_t_root.page && !fm_t_root.is_own_page && fm_t_root.page->len == len &&
        is_whole(fm_t_root.page)) {
        rc = move(fm_t_root.page, fd, len);
    }
    fm_t_unlock();
    return rc;
}

void fm_t_remap_private(void)
{
    struct fathom_page *page = fm_t_root.page;
    size_t len, used;
    void *copy;

    if (!page || fm_t_root.is_own_page || !is_whole(page)) {
        return;
    }
    len = page->len;
    used = page->used_len;
    copy = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (copy == MAP_FAILED) {
        return;
    }
    memcpy(copy, page, used);
    if (mremap(copy, len, len, MREMAP_MAYMOVE | MREMAP_FIXED, page) == MAP_FAILED) {
        munmap(copy, len);
        return;
    }
    fm_t_root.is_own_page = true;
    page->pid = (int32_t)getpid();
}

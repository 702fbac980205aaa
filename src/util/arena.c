/* SPDX-License-Identifier: BSD-3-Clause */
/* The arena of a job. */
#include "util/arena.h"

#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "util/status.h"

#define PAGE UINT64_C(4096)

/* The first page of the arena. */
struct head {
    _Atomic uint64_t next; /* bytes taken, this page not counted */
};

/* There is one arena per process; set once, when its place in the job is found, under the library
   lock, and never changed after. */
static struct {
    int fd;
    uint64_t at, len;
    struct head *head; /* NULL: there is none */
} arena = {.fd = -1};

static uint64_t round_up(uint64_t len)
{
    return (len + PAGE - 1) / PAGE * PAGE;
}

int fm_arena_use(int fd, uint64_t at, uint64_t len)
{
    void *head;

    if (arena.head || at % PAGE || len < 2 * PAGE) {
        close(fd);
        return arena.head ? 0 : fm_fail(-FM_E_PROTO, "the job table has no sound arena");
    }
    head = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)at);
    if (head == MAP_FAILED) {
        close(fd);
        return fm_fail(-FM_E_NOMEM, "cannot map shared memory of the job: %s", strerror(errno));
    }
    arena.fd = fd;
    arena.at = at;
    arena.len = len;
    arena.head = head;
    return 0;
}

int fm_arena_fd(void)
{
    return arena.fd;
}

bool fm_arena_has(uint64_t at, uint64_t len)
{
    return arena.head && at % PAGE == 0 && at >= arena.at + PAGE && len <= arena.len &&
           at - arena.at <= arena.len - len;
}

bool fm_arena_take(size_t len, size_t n_reserved, uint64_t *out_at)
{
    uint64_t span = round_up(len), at;

    if (!arena.head || span > arena.len) {
        return false;
    }
    at = arena.at + PAGE + atomic_fetch_add_explicit(&arena.head->next, span, memory_order_relaxed);
    if (!fm_arena_has(at, span) ||
        (n_reserved && fallocate(arena.fd, 0, (off_t)at, (off_t)n_reserved) != 0)) {
        return false;
    }
    *out_at = at;
    return true;
}

void fm_arena_give_back(uint64_t at, size_t len)
{
    uint64_t span = round_up(len);

    if (fm_arena_has(at, span)) {
        (void)fallocate(arena.fd, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)at,
                        (off_t)span);
    }
}

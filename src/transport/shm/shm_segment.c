/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The segment of this process, and how it maps those of others.
 *
 * A segment lies in the arena of the job (util/arena.h) where there is one. Else a peer opens
 * /proc/<pid>/fd/<fd> of the owner, which the kernel allows to the same user. It compares a random
 * number in what it mapped with the one in the address: a pid of another namespace or a reused one
 * does not match it, and the peer is left to another transport. A segment has no name in a file
 * system, so none is left when all processes are killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "transport/shm/shm.h"
#include "util/arena.h"
#include "util/segment.h"

/* Bytes that hold the header, in whole pages. */
#define HEAD_LEN 4096
_Static_assert(sizeof(struct fm_shm_header) <= HEAD_LEN, "the header is in the first page");

static uint64_t power_of_two(uint64_t n)
{
    uint64_t p = 1;

    while (p < n) {
        p *= 2;
    }
    return p;
}

/* Memory for bulk rings in one process, while it suffices for the shortest ones. */
#define BULK_BYTES (UINT64_C(8) << 20)

/* Length of a bulk ring, of which n_local - 1 others may each claim one; 0: there are none. */
static uint64_t plan_bulk(const struct fm_shm_counters *w, uint64_t max_send, int n_local)
{
    uint64_t len = power_of_two(w->bulk_bytes);
    uint64_t share = BULK_BYTES / (uint64_t)(n_local > 1 ? n_local - 1 : 1);

    if (w->bulk_bytes == 0) {
        return 0;
    }
    while (len > share && len > 8 * max_send) {
        len /= 2;
    }
    while (len < 8 * max_send) {
        len *= 2;
    }
    return len;
}

/* Sizes as the control variables ask for, made to fit each other. */
static struct fm_shm_geometry plan(const struct fm_shm_counters *w, int n_local)
{
    struct fm_shm_geometry g = {.n_fast = (uint32_t)w->fast_rings,
                                .max_send =
                                    (uint32_t)fm_shm_round_up(w->max_message, FM_CACHE_LINE)};

    /* Half of an inbox must hold the longest message, which does not wrap; a ring holds several. */
    g.inbox_len = power_of_two(w->inbox_bytes);
    g.n_slots = (uint32_t)(power_of_two(w->fast_bytes) / FM_CACHE_LINE);
    while (g.inbox_len < 4 * (uint64_t)g.max_send) {
        g.inbox_len *= 2;
    }
    while (g.n_slots < 4 * fm_shm_fast_span(g.max_send)) {
        g.n_slots *= 2;
    }
    g.inbox_at = fm_shm_round_up(sizeof(struct fm_shm_header), FM_CACHE_LINE);
    g.fast_at = fm_shm_round_up(g.inbox_at + sizeof(struct fm_shm_inbox) + g.inbox_len, 4096);
    g.bulk_at = fm_shm_round_up(fm_shm_fast_size(g.n_slots, g.max_send), 4096);
    g.bulk_len = plan_bulk(w, g.max_send, n_local);
    g.fast_stride = g.bulk_at + g.bulk_len;
    g.segment_len = g.fast_at + g.n_fast * g.fast_stride;
    return g;
}

/* In the arena the first page stays for peers that have yet to see that this process has closed. */
static void close_file(struct fm_shm_transport *t)
{
    if (t->fd >= 0) {
        close(t->fd);
    } else {
        fm_arena_give_back(t->at + HEAD_LEN, t->geometry.segment_len - HEAD_LEN);
    }
}

int fm_shm_segment_make(struct fm_shm_transport *t, int n_local)
{
    struct fm_shm_header *h;

    t->geometry = plan(t->counters, n_local);
    t->geometry.fences = t->fences;
    t->fd = -1;
    if (!fm_arena_take(t->geometry.segment_len, t->geometry.fast_at, &t->at)) {
        t->fd = fm_segment_file("fathom", t->geometry.segment_len, t->geometry.fast_at);
        if (t->fd < 0) {
            return t->fd;
        }
    }
    h = mmap(NULL, t->geometry.segment_len, PROT_READ | PROT_WRITE, MAP_SHARED,
             t->fd < 0 ? fm_arena_fd() : t->fd, (off_t)t->at);
    if (h == MAP_FAILED) {
        close_file(t);
        return fm_fail(-FM_E_NOMEM, "cannot map shared memory: %s", strerror(errno));
    }
    h->magic = FM_SHM_MAGIC;
    h->geometry = t->geometry;
    h->base = h;
    h->nonce = fm_segment_nonce();
    t->header = h;
    t->inbox = (struct fm_shm_inbox *)((char *)h + t->geometry.inbox_at);
    t->inbox_len = t->geometry.inbox_len;
    t->counters->segment_bytes = t->geometry.fast_at;
    return 0;
}

void fm_shm_segment_close(struct fm_shm_transport *t)
{
    munmap(t->header, t->geometry.segment_len);
    close_file(t);
}

/* Do the sizes in the peer's header lie within its segment, and do they agree with ours? */
static bool is_sound(const struct fm_shm_geometry *g, const struct fm_shm_address *a,
                     uint32_t max_send)
{
    uint64_t fast_len = fm_shm_fast_size(g->n_slots, g->max_send);

    return g->segment_len == a->segment_len && g->max_send == max_send &&
           power_of_two(g->inbox_len) == g->inbox_len && g->inbox_len >= 4 * (uint64_t)max_send &&
           power_of_two(g->n_slots) == g->n_slots && g->n_fast <= FM_SHM_FAST_RINGS &&
           g->n_slots >= 4 * fm_shm_fast_span(max_send) && g->n_slots <= g->segment_len &&
           g->inbox_len <= g->segment_len && g->bulk_at >= fast_len &&
           (g->n_fast == 0 || (g->bulk_at <= g->segment_len && g->bulk_len <= g->segment_len)) &&
           g->bulk_at % FM_CACHE_LINE == 0 && g->fast_stride >= g->bulk_at + g->bulk_len &&
           (g->bulk_len == 0 ||
            (power_of_two(g->bulk_len) == g->bulk_len && g->bulk_len >= 8 * (uint64_t)max_send)) &&
           g->inbox_at >= sizeof(struct fm_shm_header) &&
           g->inbox_at + sizeof(struct fm_shm_inbox) + g->inbox_len <= g->fast_at &&
           g->fast_at + g->n_fast * g->fast_stride <= g->segment_len;
}

/* A descriptor of the file in which the segment lies, or -1 and errno. */
static int open_file(const struct fm_shm_address *a)
{
    if (a->at == 0) {
        return fm_segment_open(a->pid, a->fd, O_RDWR, S_IFREG, a->ino);
    }
    if (!fm_arena_has(a->at, a->segment_len)) {
        errno = EXDEV;
        return -1;
    }
    return fcntl(fm_arena_fd(), F_DUPFD_CLOEXEC, 0);
}

static bool is_same_pid_space(const struct fm_shm_address *a)
{
    return a->pid_space && a->pid_space == (uint32_t)fm_segment_pid_space();
}

static void *map(int fd, const struct fm_shm_address *a)
{
    if (a->at == 0 && lseek(fd, 0, SEEK_END) != (off_t)a->segment_len) {
        return MAP_FAILED;
    }
    return mmap(NULL, a->segment_len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)a->at);
}

int fm_shm_segment_attach(struct fm_shm_transport *t, struct fm_shm_ep *ep)
{
    const struct fm_shm_address *a = &ep->address;
    int fd = open_file(a);
    struct fm_shm_header *h;

    if (fd < 0 && errno == ENOENT && is_same_pid_space(a)) {
        return fm_fail(-FM_E_PEER, "process %d (pid %d) has ended", ep->ep.peer, a->pid);
    }
    if (fd < 0) {
        return fm_fail(-FM_E_UNSUPPORTED,
                       "shared memory of process %d (pid %d) cannot be opened: %s", ep->ep.peer,
                       a->pid, strerror(errno));
    }
    h = map(fd, a);
    close(fd);
    if (h == MAP_FAILED) {
        return fm_fail(-FM_E_UNSUPPORTED, "shared memory of process %d cannot be mapped",
                       ep->ep.peer);
    }
    if (h->magic != FM_SHM_MAGIC || h->nonce != a->nonce) {
        munmap(h, a->segment_len);
        return fm_fail(-FM_E_UNSUPPORTED, "pid %d is not process %d here", a->pid, ep->ep.peer);
    }
    ep->geometry = h->geometry;
    if (!is_sound(&ep->geometry, a, (uint32_t)t->tp.max_send)) {
        munmap(h, a->segment_len);
        return fm_fail(-FM_E_INVAL,
                       "shared memory of process %d is laid out otherwise: are its FATHOM_SHM_ "
                       "settings the same?",
                       ep->ep.peer);
    }
    ep->owns_map = a->pid != getpid();
    if (!ep->owns_map) { /* one mapping, so that race detectors see both ends */
        munmap(h, a->segment_len);
        h = (struct fm_shm_header *)(uintptr_t)a->base; // NOLINT
    }
    ep->header = h;
    ep->inbox = (struct fm_shm_inbox *)((char *)h + ep->geometry.inbox_at);
    return 0;
}

void fm_shm_segment_detach(struct fm_shm_ep *ep)
{
    if (ep->owns_map) {
        munmap(ep->header, ep->geometry.segment_len);
    }
}

bool fm_shm_segment_reserve(struct fm_shm_ep *ep, uint64_t at, uint64_t len)
{
    const struct fm_shm_address *a = &ep->address;
    int fd = open_file(a);
    uint64_t nonce = 0;
    bool is_there;

    if (fd < 0) {
        return false;
    }
    /* The owner may have closed its descriptor and opened another file by the same number. */
    is_there =
        pread(fd, &nonce, sizeof(nonce), (off_t)(a->at + offsetof(struct fm_shm_header, nonce))) ==
            (ssize_t)sizeof(nonce) &&
        nonce == a->nonce && fallocate(fd, 0, (off_t)(a->at + at), (off_t)len) == 0;
    close(fd);
    return is_there;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory in memory files. */
#include "util/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/arena.h"
#include "util/status.h"
#include "util/sync.h"

/* The cache line before the memory of the user. */
struct head {
    uint64_t nonce;
    /* In the arena: processes that have it mapped. Each add and subtract is acq_rel, so whatever
       the others did with the memory is over when the last one frees it. */
    _Atomic uint32_t n_users;
} FM_ALIGNED(FM_CACHE_LINE);

static struct head *head_of(const struct fm_segment *s)
{
    return (struct head *)s->base - 1;
}

static int map(int fd, uint64_t place, size_t len, struct fm_segment *out_segment)
{
    void *at =
        mmap(NULL, len + sizeof(struct head), PROT_READ | PROT_WRITE, MAP_SHARED, fd, (off_t)place);

    if (at == MAP_FAILED) {
        return fm_fail(-FM_E_NOMEM, "cannot map %zu bytes of shared memory: %s", len,
                       strerror(errno));
    }
    *out_segment =
        (struct fm_segment){.base = (struct head *)at + 1, .len = len, .fd = -1, .at = place};
    return 0;
}

/* Like ftruncate(2), but without SIGXFSZ. */
static int resize(int fd, size_t len)
{
    const struct timespec now = {0};
    sigset_t xfsz, old;
    int error;

    sigemptyset(&xfsz);
    sigaddset(&xfsz, SIGXFSZ);
    pthread_sigmask(SIG_BLOCK, &xfsz, &old);
    error = ftruncate(fd, (off_t)len) < 0 ? errno : 0;
    if (error == EFBIG) {
        (void)sigtimedwait(&xfsz, NULL, &now); /* it was sent to this thread */
    }
    pthread_sigmask(SIG_SETMASK, &old, NULL);
    return error;
}

int fm_segment_sealed(const char *name, size_t len)
{
    int fd = memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING);
    int error;

    if (fd < 0) {
        return -1;
    }
    error = resize(fd, len);
    if (error) {
        close(fd);
        errno = error;
        return -1;
    }
    /* A process that truncates the file would make others fail with SIGBUS. */
    (void)fcntl(fd, F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW);
    return fd;
}

int fm_segment_file(const char *name, size_t len, size_t n_reserved)
{
    int fd = fm_segment_sealed(name, len);
    int error;

    if (fd < 0) {
        return fm_fail(-FM_E_NOMEM, "no memory file of %zu bytes: %s%s", len, strerror(errno),
                       errno == EFBIG ? " (see ulimit -f)" : "");
    }
    error = posix_fallocate(fd, 0, (off_t)n_reserved);
    if (error) {
        close(fd);
        return fm_fail(-FM_E_NOMEM, "no %zu bytes of shared memory: %s", n_reserved,
                       strerror(error));
    }
    return fd;
}

int fm_segment_open(int pid, int fd, int flags, unsigned type, uint64_t ino)
{
    struct stat st;
    char path[64];
    int at, opened = -1;

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", pid, fd);
    at = open(path, O_PATH | O_CLOEXEC); /* touches nothing yet */
    if (at < 0) {
        return -1;
    }
    if (fstat(at, &st) == 0) {
        if ((st.st_mode & S_IFMT) == type && st.st_ino == ino) {
            snprintf(path, sizeof(path), "/proc/self/fd/%d", at);
            opened = open(path, flags | O_CLOEXEC);
        } else {
            errno = ESTALE;
        }
    }
    close(at);
    return opened;
}

uint64_t fm_segment_inode(int fd)
{
    struct stat st;

    return fstat(fd, &st) == 0 ? st.st_ino : 0;
}

uint64_t fm_segment_pid_space(void)
{
    struct stat st;

    return stat("/proc/self/ns/pid", &st) == 0 ? st.st_ino : 0;
}

uint64_t fm_segment_nonce(void)
{
    uint64_t nonce;

    if (getrandom(&nonce, sizeof(nonce), GRND_NONBLOCK) != (ssize_t)sizeof(nonce)) {
        nonce = fm_now_ns() ^ (uint64_t)getpid() << 40; /* early in boot: a guess will do */
    }
    return nonce;
}

static int create_in_arena(size_t len, struct fm_segment *out_segment)
{
    size_t file_len = len + sizeof(struct head);
    uint64_t at;
    int rc;

    if (!fm_arena_take(file_len, file_len, &at)) {
        return FM_AGAIN;
    }
    rc = map(fm_arena_fd(), at, len, out_segment);
    if (rc) {
        fm_arena_give_back(at, file_len);
        return rc;
    }
    atomic_store(&head_of(out_segment)->n_users, 1);
    return 0;
}

static int create_file(size_t len, struct fm_segment *out_segment)
{
    size_t file_len = len + sizeof(struct head);
    int fd = fm_segment_file("fathom-segment", file_len, file_len);
    int rc;

    if (fd < 0) {
        return fd;
    }
    rc = map(fd, 0, len, out_segment);
    if (rc) {
        close(fd);
        return rc;
    }
    out_segment->fd = fd;
    return 0;
}

int fm_segment_create(size_t len, struct fm_segment *out_segment)
{
    struct fm_segment s;
    int rc = create_in_arena(len, &s);

    rc = rc == FM_AGAIN ? create_file(len, &s) : rc;
    if (rc) {
        return rc;
    }
    head_of(&s)->nonce = fm_segment_nonce();
    *out_segment = s;
    return 0;
}

struct fm_segment_address fm_segment_address(const struct fm_segment *s)
{
    return (struct fm_segment_address){.nonce = head_of(s)->nonce,
                                       .len = s->len,
                                       .ino = s->fd >= 0 ? fm_segment_inode(s->fd) : 0,
                                       .at = s->at,
                                       .pid = getpid(),
                                       .fd = s->fd};
}

/* Is it what the address means? Else it is unmapped. */
static int check(struct fm_segment *s, const struct fm_segment_address *a)
{
    if (head_of(s)->nonce == a->nonce) {
        return 0;
    }
    munmap(head_of(s), s->len + sizeof(struct head));
    return fm_fail(-FM_E_UNSUPPORTED, "pid %d is another process here", a->pid);
}

static int attach_in_arena(const struct fm_segment_address *a, struct fm_segment *out_segment)
{
    struct fm_segment s;
    int rc;

    if (a->len > FM_ARENA_LEN || !fm_arena_has(a->at, a->len + sizeof(struct head))) {
        return fm_fail(-FM_E_UNSUPPORTED, "pid %d shares memory that this process does not have",
                       a->pid);
    }
    rc = map(fm_arena_fd(), a->at, a->len, &s);
    rc = rc ? rc : check(&s, a);
    if (rc == 0) {
        atomic_fetch_add_explicit(&head_of(&s)->n_users, 1, memory_order_acq_rel);
        *out_segment = s;
    }
    return rc;
}

static int attach_file(int fd, const struct fm_segment_address *a, struct fm_segment *out_segment)
{
    struct fm_segment s;
    int rc;

    if (lseek(fd, 0, SEEK_END) != (off_t)(a->len + sizeof(struct head))) {
        return fm_fail(-FM_E_UNSUPPORTED, "descriptor %d of pid %d is something else", a->fd,
                       a->pid);
    }
    rc = map(fd, 0, a->len, &s);
    rc = rc ? rc : check(&s, a);
    if (rc == 0) {
        *out_segment = s;
    }
    return rc;
}

int fm_segment_attach(const struct fm_segment_address *address, struct fm_segment *out_segment)
{
    int fd, rc;

    if (address->at) {
        return attach_in_arena(address, out_segment);
    }
    fd = fm_segment_open(address->pid, address->fd, O_RDWR, S_IFREG, address->ino);
    if (fd < 0) {
        return fm_fail(-FM_E_UNSUPPORTED, "memory of pid %d cannot be opened: %s", address->pid,
                       strerror(errno));
    }
    rc = attach_file(fd, address, out_segment);
    close(fd);
    return rc;
}

void fm_segment_hide(struct fm_segment *s)
{
    if (s->fd >= 0) {
        close(s->fd);
        s->fd = -1;
    }
}

void fm_segment_finish(struct fm_segment *s)
{
    size_t file_len = s->len + sizeof(struct head);

    if (s->base) {
        bool is_last =
            s->at && atomic_fetch_sub_explicit(&head_of(s)->n_users, 1, memory_order_acq_rel) == 1;

        munmap(head_of(s), file_len);
        s->base = NULL;
        fm_segment_hide(s);
        if (is_last) {
            fm_arena_give_back(s->at, file_len);
        }
    }
}

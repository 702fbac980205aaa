/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared memory in memory files. */
#include "util/segment.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/status.h"
#include "util/sync.h"

/* The cache line before the memory of the user. */
struct head {
    uint64_t nonce;
} FM_ALIGNED(FM_CACHE_LINE);

static struct head *head_of(const struct fm_segment *s)
{
    return (struct head *)s->base - 1;
}

static int map(int fd, size_t len, struct fm_segment *out_segment)
{
    void *at = mmap(NULL, len + sizeof(struct head), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);

    if (at == MAP_FAILED) {
        return fm_fail(-FM_E_NOMEM, "cannot map %zu bytes of shared memory: %s", len,
                       strerror(errno));
    }
    *out_segment = (struct fm_segment){(struct head *)at + 1, len, -1};
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

int fm_segment_create(size_t len, struct fm_segment *out_segment)
{
    size_t file_len = len + sizeof(struct head);
    int fd = fm_segment_file("fathom-segment", file_len, file_len);
    struct fm_segment s = {.fd = -1};
    int rc;

    if (fd < 0) {
        return fd;
    }
    rc = map(fd, len, &s);
    if (rc) {
        close(fd);
        return rc;
    }
    head_of(&s)->nonce = fm_segment_nonce();
    s.fd = fd;
    *out_segment = s;
    return 0;
}

struct fm_segment_address fm_segment_address(const struct fm_segment *s)
{
    return (struct fm_segment_address){.nonce = head_of(s)->nonce,
                                       .len = s->len,
                                       .ino = fm_segment_inode(s->fd),
                                       .pid = getpid(),
                                       .fd = s->fd};
}

static int attach(int fd, const struct fm_segment_address *a, struct fm_segment *out_segment)
{
    struct fm_segment s = {.fd = -1};
    int rc;

    if (lseek(fd, 0, SEEK_END) != (off_t)(a->len + sizeof(struct head))) {
        return fm_fail(-FM_E_UNSUPPORTED, "descriptor %d of pid %d is something else", a->fd,
                       a->pid);
    }
    rc = map(fd, a->len, &s);
    if (rc == 0 && head_of(&s)->nonce != a->nonce) {
        fm_segment_finish(&s);
        rc = fm_fail(-FM_E_UNSUPPORTED, "pid %d is another process here", a->pid);
    }
    if (rc == 0) {
        *out_segment = s;
    }
    return rc;
}

int fm_segment_attach(const struct fm_segment_address *address, struct fm_segment *out_segment)
{
    int fd = fm_segment_open(address->pid, address->fd, O_RDWR, S_IFREG, address->ino), rc;

    if (fd < 0) {
        return fm_fail(-FM_E_UNSUPPORTED, "memory of pid %d cannot be opened: %s", address->pid,
                       strerror(errno));
    }
    rc = attach(fd, address, out_segment);
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
    if (s->base) {
        munmap(head_of(s), s->len + sizeof(struct head));
        s->base = NULL;
        fm_segment_hide(s);
    }
}

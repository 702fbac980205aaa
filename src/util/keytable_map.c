/* SPDX-License-Identifier: BSD-3-Clause */
/* Making, finding and mapping the key table of a job. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "util/arena.h"
#include "util/keytable.h"
#include "util/segment.h"

/* Whole pages of any page size. */
#define ARENA_ALIGN 65536

_Static_assert(sizeof(struct fm_keytable_head) <= FM_KEYTABLE_HEAD_LEN, "the head is mapped alone");

void fm_keytable_place_print(const struct fm_keytable_place *place, char *out_text, size_t len)
{
    snprintf(out_text, len, "%d:%d:%d:%d:%" PRIx64, place->launcher, place->table_fd,
             place->page_fd, place->rank, place->token);
}

int fm_keytable_place_parse(const char *text, struct fm_keytable_place *out_place)
{
    struct fm_keytable_place p;
    int end = 0;

    if (sscanf(text, "%d:%d:%d:%d:%" SCNx64 "%n", &p.launcher, &p.table_fd, &p.page_fd, &p.rank,
               &p.token, &end) != 5 ||
        text[end] != '\0' || p.launcher <= 0 || p.table_fd < 0 || p.page_fd < 0 || p.rank < 0) {
        return fm_fail(-FM_E_INVAL, "%s=\"%.80s\" is malformed: mpiexec sets it, programs must not",
                       FM_KEYTABLE_ENV, text);
    }
    *out_place = p;
    return 0;
}

/* Without the arena. */
static uint64_t table_len(int n_ranks)
{
    return FM_KEYTABLE_HEAD_LEN + sizeof(struct fm_keytable_live) +
           (uint64_t)n_ranks * sizeof(struct fm_keytable_slot);
}

/* A handle for a mapped table, whose constants are copied. Takes over the mapping. */
static struct fm_keytable *new_handle(void *base, const struct fm_keytable_head *head)
{
    struct fm_keytable *t = calloc(1, sizeof(*t));

    if (!t) {
        munmap(base, head->len);
        return NULL;
    }
    t->head = *head;
    t->head.name[sizeof(t->head.name) - 1] = '\0';
    t->base = base;
    t->live = (void *)((char *)base + FM_KEYTABLE_HEAD_LEN);
    t->slots = (void *)(t->live + 1);
    t->gone_mark = (uint32_t)(head->token ^ head->token >> 32) | 1;
    /* A stray write into the constants ends the process that makes it. */
    (void)mprotect(base, FM_KEYTABLE_HEAD_LEN, PROT_READ);
    return t;
}

static int out_of_memory(uint64_t len, const char *why)
{
    return fm_fail(-FM_E_NOMEM, "%" PRIu64 " bytes for the table of the job: %s%s", len, why,
                   errno == EFBIG ? " (see ulimit -f)" : "");
}

int fm_keytable_create(int n_ranks, struct fm_keytable **out_table, int *out_fd)
{
    struct fm_keytable_head head = {.magic = FM_KEYTABLE_MAGIC,
                                    .len = table_len(n_ranks),
                                    .arena_len = FM_ARENA_LEN,
                                    .token = fm_segment_nonce(),
                                    .slot_len = sizeof(struct fm_keytable_slot),
                                    .n_ranks = n_ranks,
                                    .universe_size = n_ranks,
                                    .launcher = getpid(),
                                    .pid_space = fm_segment_pid_space()};
    struct fm_keytable *t;
    void *base;
    int fd;

    fm_assert(n_ranks > 0 && n_ranks <= FM_KEYTABLE_MAX_RANKS);
    head.arena_at = (head.len + ARENA_ALIGN - 1) / ARENA_ALIGN * ARENA_ALIGN;
    fd = fm_segment_sealed("fathom-job", head.arena_at + head.arena_len);
    if (fd < 0 && errno == EFBIG) { /* ulimit -f: ranks share memory through /proc instead */
        head.arena_len = 0;
        fd = fm_segment_sealed("fathom-job", head.len);
    }
    if (fd < 0) {
        return out_of_memory(head.len, strerror(errno));
    }
    base = mmap(NULL, head.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (base == MAP_FAILED) {
        out_of_memory(head.len, strerror(errno));
        goto err_fd;
    }
    snprintf(head.name, sizeof(head.name), "fathom-%d-%" PRIx64, (int)getpid(), head.token);
    memcpy(base, &head, sizeof(head));
    t = new_handle(base, &head);
    if (!t) {
        out_of_memory(sizeof(*t), strerror(errno));
        goto err_fd;
    }
    *out_table = t;
    *out_fd = fd;
    return 0;

err_fd:
    close(fd);
    return -FM_E_NOMEM;
}

static bool is_table_of(const struct fm_keytable_head *head, uint64_t file_len,
                        const struct fm_keytable_place *place)
{
    return head->magic == FM_KEYTABLE_MAGIC && head->token == place->token &&
           head->slot_len == sizeof(struct fm_keytable_slot) && head->n_ranks > 0 &&
           head->n_ranks <= FM_KEYTABLE_MAX_RANKS && place->rank < head->n_ranks &&
           head->len == table_len(head->n_ranks) &&
           file_len == (head->arena_len ? head->arena_at + head->arena_len : head->len);
}

/* Map the file of fd if it is the table of this place; does not keep fd. */
static struct fm_keytable *map_checked(int fd, const struct fm_keytable_place *place)
{
    struct fm_keytable_head head;
    struct stat st;
    void *base;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) ||
        pread(fd, &head, sizeof(head), 0) != (ssize_t)sizeof(head) ||
        !is_table_of(&head, (uint64_t)st.st_size, place)) {
        return NULL;
    }
    base = mmap(NULL, head.len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    return base == MAP_FAILED ? NULL : new_handle(base, &head);
}

/* The descriptor of the launcher with the same number, where a parent has closed the inherited. */
static int open_of_launcher(const struct fm_keytable_place *place, int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", place->launcher, fd);
    return open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK);
}

int fm_keytable_map(const struct fm_keytable_place *place, struct fm_keytable **out_table)
{
    struct fm_keytable *t = map_checked(place->table_fd, place);
    int fd;

    if (t) {
        fcntl(place->table_fd, F_SETFD, FD_CLOEXEC);
        *out_table = t;
        return 0;
    }
    fd = open_of_launcher(place, place->table_fd);
    if (fd < 0) {
        return fm_fail(-FM_E_NOENT,
                       "mpiexec (pid %d), which started rank %d, cannot be reached: "
                       "descriptor %d is closed and /proc/%d/fd/%d: %s",
                       place->launcher, place->rank, place->table_fd, place->launcher,
                       place->table_fd, strerror(errno));
    }
    t = map_checked(fd, place);
    close(fd);
    if (!t) {
        return fm_fail(-FM_E_PROTO,
                       "%s names a job table that does not exist, or mpiexec and this library are "
                       "of different versions",
                       FM_KEYTABLE_ENV);
    }
    *out_table = t;
    return 0;
}

int fm_keytable_file(const struct fm_keytable_place *place)
{
    struct fm_keytable *t = map_checked(place->table_fd, place);
    int fd =
        t ? fcntl(place->table_fd, F_DUPFD_CLOEXEC, 0) : open_of_launcher(place, place->table_fd);

    if (!t && fd >= 0 && !(t = map_checked(fd, place))) {
        close(fd);
        fd = -1;
    }
    fm_keytable_unmap(t);
    return fd;
}

void fm_keytable_unmap(struct fm_keytable *t)
{
    if (t) {
        munmap(t->base, t->head.len);
        free(t);
    }
}

int fm_keytable_page_fd(const struct fm_keytable_place *place, int *out_fd)
{
    struct fm_keytable *t;
    struct stat st;
    uint64_t ino;
    int rc = fm_keytable_map(place, &t);
    int fd;

    if (rc) {
        return rc;
    }
    ino = fm_keytable_slot(t, place->rank)->page_ino;
    fm_keytable_unmap(t);
    if (fstat(place->page_fd, &st) == 0 && st.st_ino == ino) {
        fcntl(place->page_fd, F_SETFD, FD_CLOEXEC);
        *out_fd = place->page_fd;
        return 0;
    }
    fd = open_of_launcher(place, place->page_fd);
    if (fd < 0 || fstat(fd, &st) != 0 || st.st_ino != ino) {
        if (fd >= 0) {
            close(fd);
        }
        return fm_fail(-FM_E_NOENT, "the shared page of rank %d cannot be opened", place->rank);
    }
    *out_fd = fd;
    return 0;
}

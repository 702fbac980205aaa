/* SPDX-License-Identifier: BSD-3-Clause */
/* The key table of a job. */
#include "util/keytable.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "util/segment.h"

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

static uint64_t new_token(void)
{
    struct timespec now;

    clock_gettime(CLOCK_REALTIME, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec + ((uint64_t)getpid() << 40);
}

int fm_keytable_create(int n_ranks, struct fm_keytable **out_table, int *out_fd)
{
    size_t len = sizeof(struct fm_keytable) + (size_t)n_ranks * sizeof(struct fm_keytable_slot);
    struct fm_keytable *t;
    int fd;

    fm_assert(n_ranks > 0 && n_ranks <= FM_KEYTABLE_MAX_RANKS);
    fd = fm_segment_sealed("fathom-job", len);
    if (fd < 0) {
        return fm_fail(-FM_E_NOMEM, "%zu bytes for the table of the job: %s%s", len,
                       strerror(errno), errno == EFBIG ? " (see ulimit -f)" : "");
    }
    t = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (t == MAP_FAILED) {
        fm_fail(-FM_E_NOMEM, "mapping the table of the job: %s", strerror(errno));
        goto err_fd;
    }
    t->magic = FM_KEYTABLE_MAGIC;
    t->len = len;
    t->token = new_token();
    t->slot_len = sizeof(struct fm_keytable_slot);
    t->n_ranks = n_ranks;
    t->universe_size = n_ranks;
    t->launcher = getpid();
    t->pid_space = fm_segment_pid_space();
    snprintf(t->name, sizeof(t->name), "fathom-%d-%" PRIx64, (int)getpid(), t->token);
    *out_table = t;
    *out_fd = fd;
    return 0;

err_fd:
    close(fd);
    return -FM_E_NOMEM;
}

/* Map the file behind fd if it is the table of this place; does not keep fd. */
static struct fm_keytable *map_checked(int fd, const struct fm_keytable_place *place)
{
    struct fm_keytable *t;
    struct stat st;

    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size < (off_t)sizeof(*t)) {
        return NULL;
    }
    t = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    if (t == MAP_FAILED) {
        return NULL;
    }
    if (t->magic != FM_KEYTABLE_MAGIC || t->token != place->token ||
        t->len != (uint64_t)st.st_size || t->slot_len != sizeof(struct fm_keytable_slot) ||
        place->rank >= t->n_ranks ||
        t->len != sizeof(*t) + (uint64_t)t->n_ranks * sizeof(struct fm_keytable_slot)) {
        munmap(t, (size_t)st.st_size);
        return NULL;
    }
    return t;
}

/* The launcher's own descriptor of the same number, for processes whose parent closed theirs. */
static int open_of_launcher(const struct fm_keytable_place *place, int fd)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%d/fd/%d", place->launcher, fd);
    return open(path, O_RDWR | O_CLOEXEC);
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

void fm_keytable_unmap(struct fm_keytable *t)
{
    if (t) {
        munmap(t, t->len);
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

struct fm_keytable_slot *fm_keytable_slot(struct fm_keytable *t, int rank)
{
    if (rank < 0 || rank >= t->n_ranks) {
        return NULL;
    }
    return (struct fm_keytable_slot *)((char *)t + sizeof(*t)) + rank;
}

/* Entries that may be read; what a peer wrote there is not trusted. */
static uint32_t n_entries(struct fm_keytable_slot *slot)
{
    uint32_t n = atomic_load_explicit(&slot->n_entries, memory_order_acquire);

    return n < FM_KEYTABLE_KEYS ? n : FM_KEYTABLE_KEYS;
}

int fm_keytable_claim(struct fm_keytable_slot *slot, int pid)
{
    int32_t seen = 0;

    /* Pairs with itself in other processes: exactly one finds 0. */
    if (atomic_compare_exchange_strong(&slot->claim, &seen, pid)) {
        return 0;
    }
    if (seen != pid && (kill(seen, 0) == 0 || errno == EPERM)) {
        return FM_AGAIN;
    }
    if (atomic_load(&slot->phase) == FM_PLACE_INIT || n_entries(slot) > 0) {
        return fm_fail(
            -FM_E_PEER,
            "process %d was this rank of the job and ended without MPI_Finalize: another "
            "MPI program can follow in its place only after all ranks have called it",
            (int)seen);
    }
    /* Of several that follow, one finds the process that was before. */
    return atomic_compare_exchange_strong(&slot->claim, &seen, pid) ? 0 : FM_AGAIN;
}

int fm_keytable_put(struct fm_keytable *t, int rank, const char *key, const void *value, size_t len)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(t, rank);
    uint32_t n = n_entries(slot);
    struct fm_keytable_entry *e = &slot->entries[n];

    if (n == FM_KEYTABLE_KEYS || strlen(key) >= FM_KEYTABLE_KEY_LEN ||
        len > FM_KEYTABLE_VALUE_MAX) {
        return fm_fail(-FM_E_INVAL, "cannot publish \"%s\" (%zu bytes, %u keys already)", key, len,
                       n);
    }
    snprintf(e->key, sizeof(e->key), "%s", key);
    memcpy(e->value, value, len);
    e->len = (uint32_t)len;
    /* Release: whoever sees the new number (n_entries() above) sees the entry. */
    atomic_store_explicit(&slot->n_entries, n + 1, memory_order_release);
    fm_keytable_notify(t);
    return 0;
}

int fm_keytable_find(struct fm_keytable *t, int rank, const char *key, void *out_value, size_t *len)
{
    struct fm_keytable_slot *slot = fm_keytable_slot(t, rank);
    uint32_t n = n_entries(slot);

    for (uint32_t i = 0; i < n; i++) {
        const struct fm_keytable_entry *e = &slot->entries[i];
        size_t e_len = e->len;

        if (strncmp(e->key, key, FM_KEYTABLE_KEY_LEN) != 0) {
            continue;
        }
        if (e_len > *len || e_len > FM_KEYTABLE_VALUE_MAX) {
            return fm_fail(-FM_E_INVAL, "\"%s\" of rank %d has %zu bytes, there is room for %zu",
                           key, rank, e_len, *len);
        }
        memcpy(out_value, e->value, e_len);
        *len = e_len;
        return 0;
    }
    return FM_AGAIN;
}

void fm_keytable_notify(struct fm_keytable *t)
{
    /* Release: pairs with the acquire load that a waiter makes before it looks and sleeps. */
    atomic_fetch_add_explicit(&t->change, 1, memory_order_release);
    syscall(SYS_futex, &t->change, FUTEX_WAKE, INT_MAX, NULL, NULL, 0);
}

void fm_keytable_sleep(struct fm_keytable *t, uint32_t seen, int at_most_ms)
{
    struct timespec limit = {at_most_ms / 1000, (long)(at_most_ms % 1000) * 1000000L};

    syscall(SYS_futex, &t->change, FUTEX_WAIT, seen, &limit, NULL, 0);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared pages of processes. */
#include "tools/view.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "util/printable.h"

#define LINK_NAME "/memfd:fathom-page"

/* Bounds for pages of other processes: a page, and the words of one sum. */
#define MAX_PAGE_LEN  ((off_t)64 << 20)
#define MAX_SUM_WORDS (UINT64_C(1) << 20)

int fm_view_add(struct fm_views *v, int fd, int rank)
{
    struct fm_view *items;
    struct stat st;
    void *page;
    int seals = fcntl(fd, F_GET_SEALS);

    /* Reading a file that its owner can truncate ends in SIGBUS; a hole costs memory when read. */
    if (fstat(fd, &st) != 0 || !S_ISREG(st.st_mode) || st.st_size > MAX_PAGE_LEN ||
        st.st_size < (off_t)sizeof(struct fathom_page) || seals < 0 || !(seals & F_SEAL_SHRINK)) {
        return -1;
    }
    page = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_SHARED, fd, 0);
    if (page == MAP_FAILED) {
        return -1;
    }
    items = realloc(v->items, (size_t)(v->n + 1) * sizeof(*items));
    if (!items) {
        munmap(page, (size_t)st.st_size);
        return -1;
    }
    items[v->n] = (struct fm_view){.page = page, .len = (size_t)st.st_size, .rank = rank};
    v->items = items;
    v->n++;
    return 0;
}

static int by_rank(const void *a, const void *b)
{
    const struct fm_view *x = a, *y = b;

    return (x->rank > y->rank) - (x->rank < y->rank);
}

void fm_view_sort(struct fm_views *v)
{
    /* Other launchers do not number the pages; the ranks write their number into them. */
    for (int i = 0; i < v->n; i++) {
        if (v->items[i].rank < 0 && v->items[i].page->size > 1) {
            v->items[i].rank = v->items[i].page->rank;
        }
    }
    if (v->n > 1) {
        qsort(v->items, (size_t)v->n, sizeof(*v->items), by_rank);
    }
}

void fm_view_finish(struct fm_views *v)
{
    for (int i = 0; i < v->n; i++) {
        if (!v->items[i].is_own) {
            munmap((void *)v->items[i].page, v->items[i].len);
        }
    }
    free(v->items);
    *v = (struct fm_views){0};
}

/* Not written yet. */
static bool is_empty(const struct fm_view *v)
{
    return __atomic_load_n(&v->page->magic, __ATOMIC_ACQUIRE) == 0;
}

/* Is it a page of this version, whose tables lie inside it? */
static bool is_sound(const struct fm_view *v)
{
    const struct fathom_page *p = v->page;

    return __atomic_load_n(&p->magic, __ATOMIC_ACQUIRE) == FATHOM_PAGE_MAGIC &&
           p->version == FATHOM_PAGE_VERSION && p->row_len >= sizeof(struct fathom_page_row) &&
           p->object_len >= sizeof(struct fathom_page_object) && p->rows_at <= v->len &&
           p->objects_at <= v->len;
}

/* Copy entry i of a table in the page. */
static bool copy_entry(const struct fm_view *v, uint64_t at, uint32_t entry_len, uint32_t n, int i,
                       void *out, size_t out_len)
{
    uint64_t place = at + (uint64_t)i * entry_len;

    if (i < 0 || (uint32_t)i >= n || place % 8 != 0 || place > v->len || v->len - place < out_len) {
        return false;
    }
    memcpy(out, (const char *)v->page + place, out_len);
    return true;
}

int fm_view_check(const struct fm_views *v)
{
    for (int i = 0; i < v->n; i++) {
        const struct fathom_page *p = v->items[i].page;

        if (is_empty(&v->items[i]) || is_sound(&v->items[i])) {
            continue;
        }
        if (p->magic == FATHOM_PAGE_MAGIC && p->version != FATHOM_PAGE_VERSION) {
            fprintf(stderr,
                    "fathom: rank %d runs another version of Fathom: its page is of version %u, "
                    "this command reads version %d\n",
                    v->items[i].rank < 0 ? 0 : v->items[i].rank, (unsigned)p->version,
                    FATHOM_PAGE_VERSION);
        } else {
            fprintf(stderr, "fathom: the shared page of rank %d is corrupt\n",
                    v->items[i].rank < 0 ? 0 : v->items[i].rank);
        }
        return -1;
    }
    return 0;
}

bool fm_view_row(const struct fm_view *v, int i, struct fathom_page_row *out_row)
{
    /* Acquire: pairs with the writer's release store of the count; the row is filled. */
    uint32_t n = __atomic_load_n(&v->page->n_rows, __ATOMIC_ACQUIRE);

    if (!is_sound(v) ||
        !copy_entry(v, v->page->rows_at, v->page->row_len, n, i, out_row, sizeof(*out_row))) {
        return false;
    }
    out_row->name[sizeof(out_row->name) - 1] = '\0';
    out_row->unit[sizeof(out_row->unit) - 1] = '\0';
    fm_printable(out_row->name);
    fm_printable(out_row->unit);
    return true;
}

bool fm_view_find(const struct fm_view *v, uint32_t kind, const char *name, uint32_t klass,
                  struct fathom_page_row *out_row)
{
    for (int i = 0; fm_view_row(v, i, out_row); i++) {
        if (out_row->kind == kind && strcmp(out_row->name, name) == 0 &&
            (klass == 0 || out_row->klass == klass)) {
            return true;
        }
    }
    return false;
}

/* The word k words after byte `begin`. */
static bool word_at(const struct fm_view *v, uint64_t begin, uint64_t k, uint64_t *out_word)
{
    uint64_t place = begin + 8 * k;

    if (begin > 2 * v->len || k > v->len || place % 8 != 0 || v->len < 8 || place > v->len - 8) {
        return false;
    }
    *out_word =
        __atomic_load_n((const uint64_t *)((const char *)v->page + place), __ATOMIC_RELAXED);
    return true;
}

/* Byte offset of the first word of a row or term; UINT64_MAX where the sum overflows. */
static uint64_t place_of(const struct fathom_page_object *o, uint64_t offset)
{
    uint64_t at = o ? o->at : 0;

    return at > UINT64_MAX - offset ? UINT64_MAX : at + offset;
}

/* Value k of a row with terms: the sum of their words. */
static bool sum_of(const struct fm_view *v, const struct fathom_page_row *row,
                   const struct fathom_page_object *o, uint32_t k, uint64_t *out_sum)
{
    struct fathom_page_row term;
    uint64_t sum = 0, n_words = 0, word;

    for (uint32_t t = 0; t < row->terms; t++) {
        if (!copy_entry(v, row->at, v->page->row_len, row->terms, (int)t, &term, sizeof(term)) ||
            term.kind != FATHOM_PAGE_TERM || term.step == 0) {
            return false;
        }
        for (uint32_t j = 0; j < (term.count ? term.count : o ? o->n_members : 0); j++) {
            if (++n_words > MAX_SUM_WORDS ||
                !word_at(v, place_of(o, term.at), ((uint64_t)k + j) * term.step, &word)) {
                return false;
            }
            sum += word;
        }
    }
    *out_sum = sum;
    return true;
}

bool fm_view_word(const struct fm_view *v, const struct fathom_page_row *row,
                  const struct fathom_page_object *o, uint32_t k, uint64_t *out_word)
{
    bool is_pvar = row->kind == FATHOM_PAGE_PVAR;
    uint64_t word, whole;
    double share;

    if (is_pvar && row->terms ? !sum_of(v, row, o, k, &word)
                              : !word_at(v, place_of(o, row->at), (uint64_t)k * row->step, &word)) {
        return false;
    }
    if (is_pvar && row->whole_at) {
        if (!word_at(v, place_of(o, row->whole_at), 0, &whole)) {
            return false;
        }
        share = fathom_page_share(word, whole);
        memcpy(&word, &share, sizeof(word));
    }
    *out_word = word;
    return true;
}

bool fm_view_text(const struct fm_view *v, const struct fathom_page_row *row, char *out_text,
                  size_t len)
{
    size_t n = row->count < len - 1 ? row->count : len - 1;

    if (row->at > v->len || v->len - row->at < n) {
        return false;
    }
    memcpy(out_text, (const char *)v->page + row->at, n);
    out_text[n] = '\0';
    fm_printable(out_text);
    return true;
}

bool fm_view_object(const struct fm_view *v, int i, struct fathom_page_object *out_object)
{
    uint32_t n = __atomic_load_n(&v->page->n_objects, __ATOMIC_ACQUIRE);

    if (!is_sound(v) || !copy_entry(v, v->page->objects_at, v->page->object_len, n, i, out_object,
                                    sizeof(*out_object))) {
        return false;
    }
    out_object->name[sizeof(out_object->name) - 1] = '\0';
    fm_printable(out_object->name);
    return true;
}

const char *fm_view_program(const struct fm_view *v, char out_text[FM_VIEW_TEXT_LEN])
{
    snprintf(out_text, FM_VIEW_TEXT_LEN, "%.*s", (int)sizeof(v->page->program), v->page->program);
    fm_printable(out_text);
    return out_text;
}

const char *fm_view_host(const struct fm_view *v, char out_text[FM_VIEW_TEXT_LEN])
{
    snprintf(out_text, FM_VIEW_TEXT_LEN, "%.*s", (int)sizeof(v->page->host), v->page->host);
    fm_printable(out_text);
    return out_text;
}

uint64_t fm_view_value(const struct fm_view *v, const char *name)
{
    struct fathom_page_row row;
    uint64_t word;

    if (fm_view_find(v, FATHOM_PAGE_PVAR, name, 0, &row) && row.block == 0 &&
        fm_view_word(v, &row, NULL, 0, &word)) {
        return word;
    }
    return 0;
}

enum fm_view_state fm_view_state(const struct fm_view *v, struct fathom_page_blocked *out_blocked)
{
    const struct fathom_page *p = v->page;
    uint64_t since;

    memset(out_blocked, 0, sizeof(*out_blocked));
    if (!is_sound(v)) {
        return is_empty(v) ? FM_VIEW_EMPTY : FM_VIEW_ALIEN;
    }
    if (p->state != FATHOM_PAGE_DONE && kill(p->pid, 0) != 0 && errno == ESRCH) {
        return FM_VIEW_GONE;
    }
    if (p->state < FATHOM_PAGE_RUNNING) {
        return FM_VIEW_EMPTY;
    }
    if (p->state == FATHOM_PAGE_DONE) {
        return FM_VIEW_DONE;
    }
    /* Acquire: pairs with the release store of the writer. A record that changes meanwhile is not
       used. */
    since = __atomic_load_n(&p->blocked.since_ns, __ATOMIC_ACQUIRE);
    memcpy(out_blocked, &p->blocked, sizeof(*out_blocked));
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    out_blocked->call[sizeof(out_blocked->call) - 1] = '\0';
    fm_printable(out_blocked->call);
    if (since == 0 || since != __atomic_load_n(&p->blocked.since_ns, __ATOMIC_RELAXED)) {
        return FM_VIEW_COMPUTING;
    }
    return FM_VIEW_BLOCKED;
}

const char *fm_view_state_name(enum fm_view_state state)
{
    static const char *const names[] = {
        [FM_VIEW_EMPTY] = "before MPI_Init",
        [FM_VIEW_COMPUTING] = "computing",
        [FM_VIEW_BLOCKED] = "blocked",
        [FM_VIEW_DONE] = "finalized",
        [FM_VIEW_GONE] = "dead",
        [FM_VIEW_ALIEN] = "unreadable",
    };

    return names[state];
}

/* Open a descriptor of another process if it is a regular file named as a page is; -1: another. */
static int open_page(const char *path, int *out_rank)
{
    char target[64];
    const char *number = target + sizeof(LINK_NAME) - 1;
    ssize_t len = readlink(path, target, sizeof(target) - 1);
    struct stat st;

    target[len > 0 ? len : 0] = '\0';
    if (strncmp(target, LINK_NAME, sizeof(LINK_NAME) - 1) != 0 || stat(path, &st) != 0 ||
        !S_ISREG(st.st_mode)) {
        return -1;
    }
    *out_rank = number[0] == '-' ? atoi(number + 1) : -1;
    return open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
}

/* Call fn for each page among the descriptors of a process, with the rank in its name (-1: none).
   Returns the sum of what fn returns, -1: the process cannot be inspected. */
static int each_page(pid_t pid, int (*fn)(int fd, int rank, void *ctx), void *ctx)
{
    char dir[32];
    struct dirent *e;
    int n = 0;
    DIR *d;

    snprintf(dir, sizeof(dir), "/proc/%d/fd", (int)pid);
    d = opendir(dir);
    if (!d) {
        return -1;
    }
    while ((e = readdir(d)) != NULL) {
        char path[300];
        int fd, rank;

        snprintf(path, sizeof(path), "%s/%s", dir, e->d_name);
        fd = open_page(path, &rank);
        if (fd >= 0) {
            n += fn(fd, rank, ctx);
            close(fd);
        }
    }
    closedir(d);
    return n;
}

static int add_to(int fd, int rank, void *ctx)
{
    return fm_view_add(ctx, fd, rank) == 0;
}

/* 1: the page makes its holder a job, i.e. a launcher or a program without one. A rank holds a
   numbered page of its own. */
static int count_foreign(int fd, int rank, void *ctx)
{
    struct fm_views one = {0};
    int is_job = 0;

    if (fm_view_add(&one, fd, rank) == 0) {
        is_job = rank < 0 || one.items[0].page->pid != *(pid_t *)ctx;
    }
    fm_view_finish(&one);
    return is_job;
}

/* Does the process run as this user? Root, too, finds only its own jobs: a page of another user is
   read only where the job is named. */
static bool is_own_process(pid_t pid)
{
    char path[32];
    struct stat st;

    snprintf(path, sizeof(path), "/proc/%d", (int)pid);
    return stat(path, &st) == 0 && st.st_uid == geteuid();
}

/* The only job of this user; 0, and a message: there is none, or several. */
static pid_t only_job(void)
{
    DIR *d = opendir("/proc");
    pid_t found = 0;
    int n = 0;
    struct dirent *e;

    while (d && (e = readdir(d)) != NULL) {
        pid_t pid = atoi(e->d_name);

        if (pid <= 0 || pid == getpid() || !is_own_process(pid) ||
            each_page(pid, count_foreign, &pid) <= 0) {
            continue;
        }
        if (n++ == 1) {
            fprintf(stderr, "fathom: several jobs are running, name one: %d", (int)found);
        }
        if (n > 1) {
            fprintf(stderr, " %d", (int)pid);
        }
        found = pid;
    }
    if (d) {
        closedir(d);
    }
    if (n == 0) {
        fprintf(stderr, "fathom: no job of this user is running\n");
    } else if (n > 1) {
        fprintf(stderr, "\n");
    }
    return n == 1 ? found : 0;
}

int fm_view_job(pid_t pid, struct fm_views *out_views)
{
    int n;

    *out_views = (struct fm_views){0};
    if (pid == 0) {
        pid = only_job();
        if (pid == 0) {
            return -1;
        }
    }
    n = each_page(pid, add_to, out_views);
    if (n < 0) {
        fprintf(stderr, "fathom: cannot inspect process %d: %s\n", (int)pid,
                errno == ENOENT ? "no such process" : strerror(errno));
        return -1;
    }
    if (n == 0) {
        fprintf(stderr, "fathom: process %d is neither a Fathom mpiexec nor an MPI program\n",
                (int)pid);
        return -1;
    }
    fm_view_sort(out_views);
    return fm_view_check(out_views);
}

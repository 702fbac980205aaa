/* SPDX-License-Identifier: BSD-3-Clause */
/* Pages of other processes, valid and corrupt: no read leaves the bounds of a page. */
#include "tools/view.h"

#include <check.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/suite.h"

/* One page of ours: the head, rows, objects, and words to its end. */
#define LEN        8192u
#define ROWS_AT    512u
#define OBJECTS_AT 4096u
#define WORDS_AT   5120u
#define N_ROWS     7
#define N_OBJECTS  2

static struct fathom_page *page; /* as its owner sees it */
static struct fm_views views;

static struct fathom_page_row *rows(void)
{
    return (void *)((char *)page + ROWS_AT);
}

static struct fathom_page_object *objects(void)
{
    return (void *)((char *)page + OBJECTS_AT);
}

static uint64_t *word(uint64_t at)
{
    return (void *)((char *)page + at);
}

static int new_file(const char *name, size_t len, int seals)
{
    int fd = memfd_create(name, MFD_ALLOW_SEALING | MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, (off_t)len), 0);
    ck_assert_int_eq(fcntl(fd, F_ADD_SEALS, seals), 0);
    return fd;
}

/* The lowest descriptor that is free: the same before and after says that none was left open. */
static int next_fd(void)
{
    int fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

    close(fd);
    return fd;
}

/* What was said to stderr since the last call. */
static const char *said(void)
{
    static char text[1024];
    ssize_t n = pread(STDERR_FILENO, text, sizeof(text) - 1, 0);

    text[n > 0 ? n : 0] = '\0';
    ck_assert_int_eq(ftruncate(STDERR_FILENO, 0), 0);
    lseek(STDERR_FILENO, 0, SEEK_SET);
    return text;
}

static void row_set(int i, uint32_t kind, const char *name, uint64_t at, uint32_t count)
{
    rows()[i] = (struct fathom_page_row){.kind = kind, .at = at, .count = count, .step = 1};
    strcpy(rows()[i].name, name);
}

/* A cvar, pvars with the same name, one of an object, a sum and its terms. */
static void fill(void)
{
    *page = (struct fathom_page){.magic = FATHOM_PAGE_MAGIC,
                                 .version = FATHOM_PAGE_VERSION,
                                 .state = FATHOM_PAGE_RUNNING,
                                 .len = LEN,
                                 .row_len = sizeof(struct fathom_page_row),
                                 .n_rows = N_ROWS,
                                 .rows_at = ROWS_AT,
                                 .object_len = sizeof(struct fathom_page_object),
                                 .n_objects = N_OBJECTS,
                                 .objects_at = OBJECTS_AT,
                                 .words_at = WORDS_AT,
                                 .pid = (int32_t)getpid()};
    row_set(0, FATHOM_PAGE_CVAR, "limit", WORDS_AT, 1);
    row_set(1, FATHOM_PAGE_PVAR, "limit", WORDS_AT + 8, 1);
    rows()[1].klass = 7;
    row_set(2, FATHOM_PAGE_PVAR, "limit", WORDS_AT + 16, 1);
    rows()[2].klass = 5;
    row_set(3, FATHOM_PAGE_PVAR, "bound", 8, 0);
    rows()[3].block = 1;
    rows()[3].step = 2;
    row_set(4, FATHOM_PAGE_PVAR, "sum", ROWS_AT + 5 * sizeof(struct fathom_page_row), 1);
    rows()[4].terms = 2;
    row_set(5, FATHOM_PAGE_TERM, "", WORDS_AT, 2);
    rows()[5].step = 3;
    row_set(6, FATHOM_PAGE_TERM, "", WORDS_AT + 8, 1);
    objects()[0] =
        (struct fathom_page_object){.block = 1, .id = 1, .at = WORDS_AT + 64, .n_members = 3};
    objects()[1] = (struct fathom_page_object){.block = 1, .id = 2, .at = LEN - 32, .n_members = 2};
    for (uint64_t at = WORDS_AT; at < LEN; at += 8) {
        *word(at) = 1000 + at - WORDS_AT;
    }
}

static int stderr_before, said_to;

static void open_page(void)
{
    int fd = new_file("page", LEN, F_SEAL_SHRINK);

    stderr_before = dup(STDERR_FILENO);
    said_to = memfd_create("stderr", MFD_CLOEXEC);
    ck_assert_int_eq(dup2(said_to, STDERR_FILENO), STDERR_FILENO);
    page = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
    ck_assert(page != MAP_FAILED);
    ck_assert_int_eq(fm_view_add(&views, fd, 0), 0);
    close(fd);
    fill();
}

static void close_page(void)
{
    fm_view_finish(&views);
    ck_assert(views.n == 0 && !views.items);
    munmap(page, LEN);
    dup2(stderr_before, STDERR_FILENO);
    close(stderr_before);
    close(said_to);
}

/* A file that its owner may cut short would end the reader. */
START_TEST(only_whole_pages_that_stay_so_are_mapped)
{
    static const struct {
        size_t len;
        int seals;
        bool is_good;
    } files[] = {{LEN, F_SEAL_SHRINK, true},
                 {LEN, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL, true},
                 {sizeof(struct fathom_page), F_SEAL_SHRINK, true},
                 {sizeof(struct fathom_page) - 1, F_SEAL_SHRINK, false},
                 {0, F_SEAL_SHRINK, false},
                 {LEN, 0, false},
                 {LEN, F_SEAL_GROW, false}};
    int n = views.n, fds[2];

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        int fd = new_file("page", files[i].len, files[i].seals);

        ck_assert_int_eq(fm_view_add(&views, fd, (int)i), files[i].is_good ? 0 : -1);
        n += files[i].is_good;
        ck_assert_int_eq(views.n, n);
        ck_assert(!files[i].is_good ||
                  (views.items[n - 1].len == files[i].len && views.items[n - 1].rank == (int)i));
        close(fd);
    }
    ck_assert_int_eq(pipe(fds), 0);
    ck_assert_int_eq(fm_view_add(&views, fds[0], 0), -1); /* has no seals */
    ck_assert_int_eq(views.n, n);
    close(fds[0]);
    close(fds[1]);
}
END_TEST

START_TEST(pages_are_in_the_order_of_ranks)
{
    static const int ranks[] = {5, -1, 3, 4, 3};

    fm_view_finish(&views);
    for (int i = 0; i < 5; i++) {
        int fd = new_file("page", LEN, F_SEAL_SHRINK);

        /* Who does not stand in the name knows it itself, if it is not alone. */
        ck_assert_int_eq(pwrite(fd, &(int32_t){7}, 4, offsetof(struct fathom_page, rank)), 4);
        ck_assert_int_eq(pwrite(fd, &(int32_t){8}, 4, offsetof(struct fathom_page, size)), 4);
        ck_assert_int_eq(fm_view_add(&views, fd, ranks[i]), 0);
        close(fd);
    }
    fm_view_sort(&views);
    ck_assert_int_eq(views.n, 5);
    ck_assert_int_eq(views.items[0].rank, 3);
    ck_assert_int_eq(views.items[1].rank, 3);
    ck_assert_int_eq(views.items[2].rank, 4);
    ck_assert_int_eq(views.items[3].rank, 5);
    ck_assert_int_eq(views.items[4].rank, 7);
    views.items[0].rank = 8; /* two of them */
    views.n = 2;
    fm_view_sort(&views);
    ck_assert_int_eq(views.items[0].rank, 3);
    ck_assert_int_eq(views.items[1].rank, 8);
    views.n = 5;
}
END_TEST

START_TEST(a_program_on_its_own_has_no_rank)
{
    page->size = 2; /* who has a number keeps it */
    page->rank = 9;
    fm_view_sort(&views);
    ck_assert_int_eq(views.items[0].rank, 0);
    page->size = 1;
    views.items[0].rank = -1;
    fm_view_sort(&views);
    ck_assert_int_eq(views.items[0].rank, -1);
    page->size = 2;
    fm_view_sort(&views);
    ck_assert_int_eq(views.items[0].rank, 9);
}
END_TEST

static bool reads(void)
{
    struct fathom_page_row row;
    struct fathom_page_object object;

    return fm_view_row(&views.items[0], 0, &row) && fm_view_object(&views.items[0], 0, &object);
}

static void is_alien(bool is_so)
{
    struct fathom_page_blocked blocked;

    ck_assert(reads() == !is_so);
    ck_assert_int_eq(fm_view_check(&views), is_so ? -1 : 0);
    ck_assert_int_eq(fm_view_state(&views.items[0], &blocked),
                     is_so ? FM_VIEW_ALIEN : FM_VIEW_COMPUTING);
    fill();
}

START_TEST(corrupt_pages_are_not_read)
{
    struct fathom_page_blocked blocked;

    is_alien(false);
    ck_assert_str_eq(said(), "");
    page->magic++;
    is_alien(true);
    ck_assert_str_eq(said(), "fathom: the shared page of rank 0 is corrupt\n");
    page->version++;
    is_alien(true);
    ck_assert(strncmp(said(), "fathom: rank 0 runs another version of Fathom: ", 47) == 0);
    views.items[0].rank = 6;
    page->version++;
    is_alien(true);
    ck_assert(strncmp(said(), "fathom: rank 6 runs another version of Fathom: ", 47) == 0);
    page->magic++;
    is_alien(true);
    ck_assert_str_eq(said(), "fathom: the shared page of rank 6 is corrupt\n");
    views.items[0].rank = -1; /* on its own */
    page->version++;
    is_alien(true);
    ck_assert(strncmp(said(), "fathom: rank 0 runs another version of Fathom: ", 47) == 0);
    page->magic++;
    is_alien(true);
    ck_assert_str_eq(said(), "fathom: the shared page of rank 0 is corrupt\n");
    page->row_len--;
    is_alien(true);
    page->object_len--;
    is_alien(true);
    page->rows_at = LEN + 8;
    is_alien(true);
    page->objects_at = LEN + 8;
    is_alien(true);
    page->n_rows = 1; /* a table may lie at the end, if nothing is read from it */
    page->objects_at = LEN;
    ck_assert_int_eq(fm_view_check(&views), 0);
    ck_assert(!reads());
    page->magic = 0; /* nobody wrote to it */
    ck_assert_int_eq(fm_view_check(&views), 0);
    ck_assert(!reads());
    ck_assert_int_eq(fm_view_state(&views.items[0], &blocked), FM_VIEW_EMPTY);
}
END_TEST

START_TEST(rows_and_objects_are_copied)
{
    const struct fm_view *v = &views.items[0];
    struct fathom_page_row row;
    struct fathom_page_object o;

    ck_assert(fm_view_row(v, N_ROWS - 1, &row));
    ck_assert_uint_eq(row.at, WORDS_AT + 8);
    ck_assert(!fm_view_row(v, N_ROWS, &row));
    ck_assert(!fm_view_row(v, -1, &row));
    ck_assert(fm_view_object(v, 1, &o));
    ck_assert_uint_eq(o.id, 2);
    ck_assert(!fm_view_object(v, 2, &o));
    ck_assert(!fm_view_object(v, -1, &o));
    /* A writer of longer ones is understood. */
    page->row_len += sizeof(struct fathom_page_row);
    ck_assert(fm_view_row(v, 1, &row));
    ck_assert_uint_eq(row.klass, 5);
    fill();
    page->rows_at += 4;
    ck_assert(!fm_view_row(v, 0, &row)); /* words lie at multiples of 8 */
    page->rows_at = LEN - sizeof(row);
    ck_assert(fm_view_row(v, 0, &row));
    ck_assert(!fm_view_row(v, 1, &row));
    page->rows_at += 8;
    ck_assert(!fm_view_row(v, 0, &row));
    fill();
    memset(rows()[0].name, 'n', sizeof(row.name));
    memset(rows()[0].unit, 'u', sizeof(row.unit));
    ck_assert(fm_view_row(v, 0, &row));
    ck_assert_uint_eq(strlen(row.name), sizeof(row.name) - 1);
    ck_assert_uint_eq(strlen(row.unit), sizeof(row.unit) - 1);
    memset(objects()[0].name, 'o', sizeof(o.name));
    ck_assert(fm_view_object(v, 0, &o));
    ck_assert_uint_eq(strlen(o.name), sizeof(o.name) - 1);
}
END_TEST

START_TEST(rows_are_found)
{
    const struct fm_view *v = &views.items[0];
    struct fathom_page_row row;

    ck_assert(fm_view_find(v, FATHOM_PAGE_CVAR, "limit", 0, &row) && row.at == WORDS_AT);
    ck_assert(fm_view_find(v, FATHOM_PAGE_PVAR, "limit", 5, &row) && row.at == WORDS_AT + 16);
    ck_assert(fm_view_find(v, FATHOM_PAGE_PVAR, "limit", 0, &row) && row.at == WORDS_AT + 8);
    ck_assert(!fm_view_find(v, FATHOM_PAGE_PVAR, "limit", 6, &row));
    ck_assert(!fm_view_find(v, FATHOM_PAGE_PVAR, "limi", 0, &row));
    ck_assert(!fm_view_find(v, FATHOM_PAGE_CVAR, "bound", 0, &row));
    ck_assert_uint_eq(fm_view_value(v, "limit"), 1008);
    ck_assert_uint_eq(fm_view_value(v, "sum"), 1000 + 1024 + 1008);
    ck_assert_uint_eq(fm_view_value(v, "bound"), 0); /* is nothing without an object */
    ck_assert_uint_eq(fm_view_value(v, "other"), 0);
    rows()[1].at = LEN;
    ck_assert_uint_eq(fm_view_value(v, "limit"), 0);
}
END_TEST

/* Value k of this row is there, and what it should be; or none is (0). */
static void gives(const struct fathom_page_row *row, const struct fathom_page_object *o, uint32_t k,
                  uint64_t should)
{
    uint64_t value = 0;
    bool is_there = fm_view_word(&views.items[0], row, o, k, &value);

    ck_assert(is_there == (should != 0));
    ck_assert_uint_eq(value, should);
}

START_TEST(words_lie_in_the_page)
{
    struct fathom_page_row row = rows()[0];
    const struct fathom_page_object *o = objects();

    gives(&row, NULL, 0, 1000);
    gives(&row, NULL, 2, 1016);
    gives(&row, NULL, (LEN - WORDS_AT) / 8 - 1, 1000 + LEN - WORDS_AT - 8);
    gives(&row, NULL, (LEN - WORDS_AT) / 8, 0);
    gives(&row, NULL, UINT32_MAX, 0);
    row.at = LEN - 8;
    gives(&row, NULL, 0, 1000 + LEN - WORDS_AT - 8);
    row.at = LEN - 4;
    gives(&row, NULL, 0, 0);
    row.at = WORDS_AT + 4;
    gives(&row, NULL, 0, 0);
    row.at = UINT64_MAX - 7;
    gives(&row, NULL, 0, 0);
    gives(&row, NULL, 1, 0); /* though the sum of both is in the page */
    gives(&row, o, 0, 0);
    row.at = WORDS_AT;
    row.step = UINT32_MAX;
    gives(&row, NULL, UINT32_MAX, 0);
    row = rows()[3];
    gives(&row, &o[0], 0, 1000 + 72);
    gives(&row, &o[0], 2, 1000 + 72 + 32);
    gives(&row, &o[1], 1, 1000 + LEN - WORDS_AT - 8);
    gives(&row, &o[1], 2, 0);
}
END_TEST

START_TEST(sums_are_of_terms_in_the_page)
{
    struct fathom_page_row row = rows()[4];
    const struct fathom_page_object *o = objects();

    gives(&row, NULL, 0, 1000 + 1024 + 1008);
    gives(&row, NULL, 1, 1024 + 1048 + 1016);
    rows()[5].at = rows()[6].at = 0; /* of an object: its words, one per member */
    rows()[5].count = 0;
    gives(&row, &o[0], 0, 1064 + 1088 + 1112 + 1064);
    rows()[5].step = 4;
    gives(&row, &o[1], 0, 0); /* the second member has none */
    rows()[5].step = 1;
    gives(&row, &o[1], 0, 3 * (1000 + LEN - WORDS_AT - 32) + 8);
    rows()[5].count = 1;
    rows()[6].count = 4;
    gives(&row, &o[1], 0, 5 * (1000 + LEN - WORDS_AT - 32) + 8 + 16 + 24);
    rows()[6].count = 5;
    gives(&row, &o[1], 0, 0);
    fill();
    rows()[6].step = 0;
    gives(&row, NULL, 0, 0);
    fill();
    rows()[6].kind = FATHOM_PAGE_PVAR;
    gives(&row, NULL, 0, 0);
    fill();
    row.at = LEN - sizeof(row); /* the second lies outside */
    memcpy((char *)page + row.at, &rows()[5], sizeof(row));
    gives(&row, NULL, 0, 0);
    row.terms = 1;
    gives(&row, NULL, 0, 1000 + 1024);
    row = rows()[4];
    row.kind = FATHOM_PAGE_CVAR; /* has a word */
    rows()[5].name[0] = 'x';
    gives(&row, NULL, 0, 'x');
}
END_TEST

/* Value k of a percentage, as a double. */
static void shares(const struct fathom_page_row *row, const struct fathom_page_object *o,
                   double should)
{
    uint64_t value;
    double share;

    ck_assert(fm_view_word(&views.items[0], row, o, 0, &value));
    memcpy(&share, &value, sizeof(share));
    ck_assert_double_eq(share, should);
}

START_TEST(shares_are_of_words_in_the_page)
{
    struct fathom_page_row row = rows()[1], sum = rows()[4], bound = rows()[3];

    row.whole_at = WORDS_AT + 16;
    shares(&row, NULL, 1008. / 1016);
    row.whole_at = WORDS_AT;
    shares(&row, NULL, 1);
    *word(WORDS_AT) = 0;
    shares(&row, NULL, 0);
    row.whole_at = LEN - 8;
    shares(&row, NULL, 1008. / (1000 + LEN - WORDS_AT - 8));
    row.whole_at = LEN - 4;
    gives(&row, NULL, 0, 0);
    row.whole_at = LEN;
    gives(&row, NULL, 0, 0);
    row.whole_at = UINT64_MAX - 7;
    gives(&row, &objects()[0], 0, 0);
    fill();
    sum.whole_at = LEN - 8;
    shares(&sum, NULL, (1000. + 1024 + 1008) / (1000 + LEN - WORDS_AT - 8));
    bound.whole_at = 24;
    shares(&bound, &objects()[1], (1000. + LEN - WORDS_AT - 24) / (1000 + LEN - WORDS_AT - 8));
    bound.whole_at = 32;
    gives(&bound, &objects()[1], 0, 0);
    row = rows()[0]; /* a control variable has no whole */
    row.whole_at = WORDS_AT;
    gives(&row, NULL, 0, 1000);
}
END_TEST

START_TEST(texts_end)
{
    const struct fm_view *v = &views.items[0];
    struct fathom_page_row row = rows()[0];
    char text[8];

    memcpy(word(WORDS_AT), "fathomless", 10);
    row.count = 6;
    ck_assert(fm_view_text(v, &row, text, sizeof(text)));
    ck_assert_str_eq(text, "fathom");
    row.count = 10;
    ck_assert(fm_view_text(v, &row, text, sizeof(text)));
    ck_assert_str_eq(text, "fathoml");
    ck_assert(fm_view_text(v, &row, text, 7));
    ck_assert_str_eq(text, "fathom");
    row.at = LEN - 3;
    memcpy((char *)page + row.at, "sea", 3);
    row.count = 3;
    ck_assert(fm_view_text(v, &row, text, sizeof(text)));
    ck_assert_str_eq(text, "sea");
    row.count = 4;
    ck_assert(!fm_view_text(v, &row, text, sizeof(text)));
    row.at = LEN + 1;
    row.count = 0;
    ck_assert(!fm_view_text(v, &row, text, sizeof(text)));
}
END_TEST

static void state_is(enum fm_view_state should)
{
    struct fathom_page_blocked blocked;

    ck_assert_int_eq(fm_view_state(&views.items[0], &blocked), should);
    ck_assert(should == FM_VIEW_BLOCKED ||
              (should == FM_VIEW_COMPUTING && blocked.peer == page->blocked.peer) ||
              (blocked.since_ns == 0 && !blocked.call[0] && blocked.peer == 0));
}

START_TEST(states_of_a_process)
{
    struct fathom_page_blocked blocked;
    pid_t pid = fork();

    if (pid == 0) {
        _exit(0);
    }
    ck_assert_int_eq(waitpid(pid, NULL, 0), pid);
    page->blocked = (struct fathom_page_blocked){.peer = 4, .tag = 5, .comm = 6, .bytes = 7};
    memset(page->blocked.call, 'M', sizeof(page->blocked.call));
    state_is(FM_VIEW_COMPUTING);
    page->blocked.since_ns = 99;
    state_is(FM_VIEW_BLOCKED);
    ck_assert_int_eq(fm_view_state(&views.items[0], &blocked), FM_VIEW_BLOCKED);
    ck_assert_uint_eq(strlen(blocked.call), sizeof(blocked.call) - 1);
    ck_assert(blocked.peer == 4 && blocked.tag == 5 && blocked.comm == 6 && blocked.bytes == 7);
    page->pid = pid;
    state_is(FM_VIEW_GONE);
    page->state = FATHOM_PAGE_STARTED;
    state_is(FM_VIEW_GONE);
    page->state = FATHOM_PAGE_DONE; /* it may be gone since */
    state_is(FM_VIEW_DONE);
    page->pid = (int32_t)getpid();
    state_is(FM_VIEW_DONE);
    page->state = FATHOM_PAGE_STARTED;
    state_is(FM_VIEW_EMPTY);
    page->state = FATHOM_PAGE_RUNNING;
    page->pid = 1; /* there, though we may not signal it unless we are root */
    state_is(FM_VIEW_BLOCKED);
    ck_assert_str_eq(fm_view_state_name(FM_VIEW_EMPTY), "before MPI_Init");
    ck_assert_str_eq(fm_view_state_name(FM_VIEW_ALIEN), "unreadable");
}
END_TEST

START_TEST(pages_of_a_process_are_found_by_their_name)
{
    static const char *const names[] = {"fathom-page-12", "other-page-3", "fathom-page",
                                        "fathom-page-2"};
    struct fm_views found;
    int fds[4], cut, before;

    for (int i = 0; i < 4; i++) {
        fds[i] = new_file(names[i], LEN, F_SEAL_SHRINK);
    }
    cut = new_file("fathom-page-1", 0, F_SEAL_SHRINK); /* the last one is no page */
    before = next_fd();
    ck_assert_int_eq(fm_view_job(getpid(), &found), 0);
    ck_assert_int_eq(next_fd(), before);
    ck_assert_int_eq(found.n, 3);
    ck_assert_int_eq(found.items[0].rank, -1);
    ck_assert_int_eq(found.items[1].rank, 2);
    ck_assert_int_eq(found.items[2].rank, 12);
    fm_view_finish(&found);
    ck_assert_int_eq(pwrite(fds[0], "x", 1, 0), 1); /* one is corrupt */
    ck_assert_int_eq(fm_view_job(getpid(), &found), -1);
    ck_assert_str_eq(said(), "fathom: the shared page of rank 12 is corrupt\n");
    fm_view_finish(&found);
    for (int i = 0; i < 4; i++) {
        close(fds[i]);
    }
    ck_assert_int_eq(fm_view_job(getpid(), &found), -1);
    ck_assert_int_eq(found.n, 0);
    ck_assert_ptr_nonnull(strstr(said(), "is neither a Fathom mpiexec nor an MPI program\n"));
    close(cut);
}
END_TEST

/* Escape sequences and forged lines in names do not reach the terminal. */
START_TEST(texts_are_printable)
{
    struct fathom_page_blocked b;
    struct fathom_page_object o;
    struct fathom_page_row row;
    char text[FM_VIEW_TEXT_LEN];

    strcpy(rows()[0].name, "a\033[2J");
    strcpy(rows()[0].unit, "b\nc");
    strcpy(objects()[0].name, "\r0 1 dead");
    strcpy(page->program, "prog\033]0;x\a");
    strcpy(page->host, "host\n");
    strcpy(page->blocked.call, "MPI_\tRecv");
    page->blocked.since_ns = 1;
    strcpy((char *)word(WORDS_AT), "d\177");
    ck_assert(fm_view_row(&views.items[0], 0, &row));
    ck_assert_str_eq(row.name, "a?[2J");
    ck_assert_str_eq(row.unit, "b?c");
    row.count = 4;
    ck_assert(fm_view_text(&views.items[0], &row, text, sizeof(text)));
    ck_assert_str_eq(text, "d?");
    ck_assert(fm_view_object(&views.items[0], 0, &o));
    ck_assert_str_eq(o.name, "?0 1 dead");
    ck_assert_str_eq(fm_view_program(&views.items[0], text), "prog?]0;x?");
    ck_assert_str_eq(fm_view_host(&views.items[0], text), "host?");
    ck_assert_int_eq(fm_view_state(&views.items[0], &b), FM_VIEW_BLOCKED);
    ck_assert_str_eq(b.call, "MPI_?Recv");
}
END_TEST

START_TEST(sums_are_bounded)
{
    struct fathom_page_row row;
    uint64_t sum;

    rows()[5].step = UINT32_MAX; /* invalid words end a sum, valid ones are counted */
    rows()[5].count = UINT32_MAX;
    ck_assert(fm_view_find(&views.items[0], FATHOM_PAGE_PVAR, "sum", 0, &row));
    ck_assert(!fm_view_word(&views.items[0], &row, NULL, 0, &sum));
}
END_TEST

/* A page of this size is none of ours; reading its holes would cost their memory. */
START_TEST(sparse_files_are_refused)
{
    int fd = new_file("page", (size_t)1 << 30, F_SEAL_SHRINK);
    int n = views.n;

    ck_assert_int_eq(fm_view_add(&views, fd, 1), -1);
    ck_assert_int_eq(views.n, n);
    close(fd);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("view");
    TCase *t = tcase_create("all");

    tcase_add_checked_fixture(t, open_page, close_page);
    tcase_add_test(t, only_whole_pages_that_stay_so_are_mapped);
    tcase_add_test(t, pages_are_in_the_order_of_ranks);
    tcase_add_test(t, a_program_on_its_own_has_no_rank);
    tcase_add_test(t, corrupt_pages_are_not_read);
    tcase_add_test(t, texts_are_printable);
    tcase_add_test(t, sums_are_bounded);
    tcase_add_test(t, sparse_files_are_refused);
    tcase_add_test(t, rows_and_objects_are_copied);
    tcase_add_test(t, rows_are_found);
    tcase_add_test(t, words_lie_in_the_page);
    tcase_add_test(t, sums_are_of_terms_in_the_page);
    tcase_add_test(t, shares_are_of_words_in_the_page);
    tcase_add_test(t, texts_end);
    tcase_add_test(t, states_of_a_process);
    tcase_add_test(t, pages_of_a_process_are_found_by_their_name);
    suite_add_tcase(s, t);
    return suite_run(s);
}

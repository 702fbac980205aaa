/* SPDX-License-Identifier: BSD-3-Clause */
/* Other memory under the addresses of the page: moved into a file while threads count, and private
   in children after fork(). */
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "unit/mpit/mpit_test.h"

#define N_TIMES 20
#define LEN     FATHOM_PAGE_LEN

static _Atomic bool is_over;

static void *use_shared_page(void)
{
    void *page = mmap(NULL, LEN, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    ck_assert_ptr_ne(page, MAP_FAILED);
    ck_assert_int_eq(fathom_mpit_page(page, LEN), 0);
    return page;
}

static int new_file(void)
{
    int fd = memfd_create("test-page", MFD_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, LEN), 0);
    return fd;
}

/* Adds until it is over; how often. */
static void *count(void *arg)
{
    uint64_t n = 0;

    while (!is_over) {
        __atomic_fetch_add(&fake->n_bytes, 1, __ATOMIC_RELAXED);
        n++;
    }
    *(uint64_t *)arg = n;
    return NULL;
}

static void moves_lose_nothing(const struct fathom_page *page, MPI_T_pvar_session s,
                               MPI_T_pvar_handle h)
{
    uint64_t n = 0, before = fake->n_bytes;
    const struct fathom_page *outside;
    pthread_t thread;
    int fd;

    is_over = false;
    ck_assert_int_eq(pthread_create(&thread, NULL, count, &n), 0);
    for (int i = 0; i < N_TIMES; i++) {
        fd = new_file();
        ck_assert_int_eq(fathom_mpit_page_move(fd, LEN), 0);
        outside = mmap(NULL, LEN, PROT_READ, MAP_SHARED, fd, 0);
        ck_assert_ptr_ne(outside, MAP_FAILED);
        ck_assert_uint_eq(outside->magic, FATHOM_PAGE_MAGIC);
        ck_assert_uint_eq(outside->n_rows, page->n_rows);
        fake->n_done++;
        ck_assert_int_eq(memcmp((const char *)outside + ((char *)&fake->n_done - (char *)page),
                                &fake->n_done, sizeof(fake->n_done)),
                         0);
        ck_assert_int_eq(munmap((void *)(uintptr_t)outside, LEN), 0);
        close(fd);
    }
    is_over = true;
    pthread_join(thread, NULL);
    ck_assert_uint_eq(fake->n_bytes, before + n);
    ck_assert_uint_eq(pvar_u64(s, h), N_TIMES);
}

static void refuses_what_does_not_fit(void)
{
    int fd = new_file();

    ck_assert_int_eq(fathom_mpit_page_move(fd, LEN - 1), -1);
    ck_assert_int_eq(fathom_mpit_page_move(fd, 2 * LEN), -1);
    ck_assert_int_eq(fathom_mpit_page_move(-1, LEN), -1);
    close(fd);
}

static void child_is_alone(const struct fathom_page *page, MPI_T_pvar_session s)
{
    MPI_T_pvar_handle h;
    uint64_t done = fake->n_done;
    int status;
    pid_t pid = fork();

    if (pid == 0) {
        bool is_right = fake->n_done == done && page->pid == getpid();

        fake->n_done += 1000;
        fathom_level_set(&fake->depth, 70);
        h = pvar_open(s, "fake_depth", MPI_T_PVAR_CLASS_HIGHWATERMARK);
        MPI_T_pvar_start(s, h);
        fathom_level_set(&fake->depth, 80);
        _exit(is_right && pvar_u64(s, h) == 80 ? 0 : 1);
    }
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert_int_eq(status, 0);
    ck_assert_uint_eq(fake->n_done, done);
    ck_assert_uint_eq(fake->depth.now, 0);
    ck_assert_uint_eq(fake->depth.followers, 0);
    ck_assert_int_eq(page->pid, getpid());
}

START_TEST(page_is_moved_and_copied)
{
    const struct fathom_page *page = use_shared_page();
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    char *first;

    tool_begin();
    first = (char *)fake;
    s = session_open();
    h = pvar_open(s, "fake_done", MPI_T_PVAR_CLASS_COUNTER);
    OK(MPI_T_pvar_start(s, h));
    moves_lose_nothing(page, s, h);
    refuses_what_does_not_fit();
    ck_assert_ptr_eq(fake, first);
    ck_assert_ptr_eq(fathom_mpit_page_get(), page);
    for (int i = 0; i < 3; i++) {
        child_is_alone(page, s);
    }
    OK(MPI_T_pvar_session_free(&s));
    tool_end();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("mpit_remap");
    TCase *tc = tcase_create("mpit_remap");

    tcase_add_test(tc, page_is_moved_and_copied);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The library lock at MPI_THREAD_MULTIPLE against what the library's own calls of
 * pthread_mutex_trylock and pthread_mutex_lock say, which this program takes on their way to libc:
 * a try in vain begins a contended acquisition, which the next that is not in vain ends. The time
 * of it is longer than that inside of pthread_mutex_lock, and shorter than that from before the try
 * to pthread_mutex_unlock.
 */
#include "clock.h"
#include "oracle.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>

enum { THREADS = 4, CALLS = 3000, FORCED = 20 };

typedef int mutex_fn(pthread_mutex_t *);

static atomic_ullong n_busy, n_tries, inner_ns, outer_ns;
static _Thread_local int has_failed;                  /* this thread wants it in vain */
static _Thread_local unsigned long long wanted_since; /* 0: it does not, or got it at once */

static mutex_fn *next(const char *name)
{
    void *symbol = dlsym(RTLD_NEXT, name);
    mutex_fn *fn;

    memcpy(&fn, &symbol, sizeof(fn));
    return fn;
}

CLOCK_TAKEN int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
    static mutex_fn *_Atomic fn;
    unsigned long long began = clock_real();
    int rc;

    if (!fn) {
        fn = next("pthread_mutex_trylock");
    }
    rc = fn(mutex);
    n_tries++;
    wanted_since = rc == EBUSY && !has_failed ? began : wanted_since;
    n_busy += rc == EBUSY && !has_failed;
    has_failed = rc == EBUSY;
    return rc;
}

CLOCK_TAKEN int pthread_mutex_lock(pthread_mutex_t *mutex)
{
    static mutex_fn *_Atomic fn;
    unsigned long long began;
    int is_behind = has_failed, rc;

    if (!fn) {
        fn = next("pthread_mutex_lock");
    }
    has_failed = 0;
    began = is_behind ? clock_real() : 0;
    rc = fn(mutex);
    inner_ns += is_behind ? clock_real() - began : 0;
    return rc;
}

CLOCK_TAKEN int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    static mutex_fn *_Atomic fn;

    if (!fn) {
        fn = next("pthread_mutex_unlock");
    }
    outer_ns += wanted_since ? clock_real() - wanted_since : 0;
    wanted_since = 0;
    return fn(mutex);
}

static void clock_looked_at(void)
{
}

/* ---- contention as it comes ---- */

static void *call(void *arg)
{
    int flag;

    (void)arg;
    for (int k = 0; k < CALLS; k++) {
        OK(MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    }
    return NULL;
}

/* ---- a thread that is in the library until another has found the lock taken ---- */

static int keyval;
static atomic_int is_inside;

static int copy(MPI_Comm comm, int key, void *extra, void *value_in, void *value_out, int *flag)
{
    ull before = n_busy;

    (void)comm;
    (void)key;
    (void)extra;
    *(void **)value_out = value_in;
    *flag = 0;
    is_inside = 1;
    while (n_busy == before) {
        sched_yield();
    }
    is_inside = 0;
    return MPI_SUCCESS;
}

static void *come_too(void *arg)
{
    int flag;

    (void)arg;
    while (!is_inside) {
        sched_yield();
    }
    OK(MPI_Iprobe(0, 1, MPI_COMM_SELF, &flag, MPI_STATUS_IGNORE));
    return NULL;
}

static void force_one(void)
{
    pthread_t other;
    MPI_Comm made;

    CHECK_EQ(pthread_create(&other, NULL, come_too, NULL), 0);
    OK(MPI_Comm_dup(MPI_COMM_SELF, &made));
    CHECK_EQ(pthread_join(other, NULL), 0);
    OK(MPI_Comm_free(&made));
}

static ull busy, inner, outer;

static void begin(void)
{
    mark();
    busy = n_busy;
    inner = inner_ns;
    outer = outer_ns;
}

static void check(void)
{
    same("runtime_lock_contended", n_busy - busy);
    at_least("runtime_lock_time", inner_ns - inner);
    at_most("runtime_lock_time", outer_ns - outer);
}

int main(int argc, char **argv)
{
    int level = argc > 1 ? MPI_THREAD_SERIALIZED : MPI_THREAD_MULTIPLE, provided;
    pthread_t threads[THREADS];

    OK(MPI_Init_thread(&argc, &argv, level, &provided));
    CHECK_EQ(provided, level);
    oracle_open();
    begin();
    if (level != MPI_THREAD_MULTIPLE) {
        ull tries = n_tries;

        call(NULL);
        CHECK_EQ(n_tries, tries);
        check();
        oracle_close();
        OK(MPI_Finalize());
        return 0;
    }
    for (int k = 0; k < THREADS; k++) {
        CHECK_EQ(pthread_create(&threads[k], NULL, call, NULL), 0);
    }
    for (int k = 0; k < THREADS; k++) {
        CHECK_EQ(pthread_join(threads[k], NULL), 0);
    }
    CHECK(n_tries >= THREADS * CALLS);
    check();
    OK(MPI_Comm_create_keyval(copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &keyval));
    begin();
    for (int k = 0; k < FORCED; k++) {
        force_one();
    }
    CHECK(n_busy - busy >= FORCED);
    check();
    OK(MPI_Comm_delete_attr(MPI_COMM_SELF, keyval));
    OK(MPI_Comm_free_keyval(&keyval));
    oracle_close();
    OK(MPI_Finalize());
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The cost of one read of a performance variable: MPI_T_pvar_read and MPI_T_pvar_readreset of every
 * scalar one, those of MPI_COMM_WORLD included, and a handle made and ended. Rank 0 measures while
 * the others sleep, and goes round all variables many times: what the machine does for a tenth of a
 * second is not what a variable costs. Prints medians, how many are dearer than they may be, and
 * the slowest by name.
 */
#include "../harness/bench.h"

enum { N_CALLS = 500, N_ROUNDS = 20, N_IN_ROUND = 4, N_SAMPLES = N_ROUNDS * N_IN_ROUND };
enum { MAX_VARS = 2000, N_WORST = 12 };
enum { READ, READRESET, ALLOC, N_VERBS };

static const struct verb {
    const char *name;
    double may_take; /* ns */
} verbs[N_VERBS] = {{"read", 10}, {"readreset", 15}, {"alloc_free", 1000}};

struct var {
    char name[64];
    int index, is_atomic, is_bound;
    MPI_T_pvar_handle handle;
    double samples[N_VERBS][N_SAMPLES]; /* ns */
    double ns[N_VERBS];                 /* the quiet one; below 0: not for this one */
};
static struct var vars[MAX_VARS];
static int n_vars;
static MPI_T_pvar_session session;

static void need(int is_done, const char *what)
{
    if (!is_done) {
        fprintf(stderr, "%s\n", what);
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
}

/* Is it one number, of the process or of a communicator? */
static int describe(int i, struct var *v)
{
    int bind, continuous, len = sizeof(v->name), verbosity, klass;

    MPI_T_pvar_get_info(i, v->name, &len, &verbosity, &klass, NULL, NULL, NULL, NULL, &bind, NULL,
                        &continuous, &v->is_atomic);
    v->index = i;
    v->is_bound = bind == MPI_T_BIND_MPI_COMM;
    return bind == MPI_T_BIND_NO_OBJECT || v->is_bound;
}

static MPI_T_pvar_handle handle_of(const struct var *v, int *out_count)
{
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_handle h;

    need(MPI_T_pvar_handle_alloc(session, v->index, v->is_bound ? &world : NULL, &h, out_count) ==
             MPI_SUCCESS,
         "no handle");
    return h;
}

static void call(const struct var *v, int verb, int n)
{
    unsigned long long value;
    int count, rc = MPI_SUCCESS;

    for (int i = 0; i < n && rc == MPI_SUCCESS; i++) {
        if (verb == READ) {
            rc = MPI_T_pvar_read(session, v->handle, &value);
        } else if (verb == READRESET) {
            rc = MPI_T_pvar_readreset(session, v->handle, &value);
        } else {
            MPI_T_pvar_handle other = handle_of(v, &count);

            rc = MPI_T_pvar_handle_free(session, &other);
        }
    }
    need(rc == MPI_SUCCESS, v->name);
}

static int is_for(const struct var *v, int verb)
{
    return verb != READRESET || v->is_atomic;
}

static void measure_round(struct var *v, int verb, double *samples)
{
    call(v, verb, N_CALLS / 10);
    for (int k = 0; k < N_IN_ROUND; k++) {
        double began = now_ns();

        call(v, verb, N_CALLS);
        samples[k] = (now_ns() - began) / N_CALLS;
    }
}

/* Its handle, if it is one of those to measure. */
static void begin_var(int i)
{
    struct var *v = &vars[n_vars];
    int count;

    if (!describe(i, v)) {
        return;
    }
    v->handle = handle_of(v, &count);
    if (count > 1) {
        MPI_T_pvar_handle_free(session, &v->handle);
        return;
    }
    MPI_T_pvar_start(session, v->handle); /* an error where it always runs */
    n_vars++;
}

static void measure_all(void)
{
    for (int round = 0; round < N_ROUNDS; round++) {
        for (int i = 0; i < n_vars * N_VERBS; i++) {
            struct var *v = &vars[i / N_VERBS];
            int verb = i % N_VERBS;

            if (is_for(v, verb)) {
                measure_round(v, verb, &v->samples[verb][round * N_IN_ROUND]);
            }
        }
    }
    for (int i = 0; i < n_vars * N_VERBS; i++) {
        struct var *v = &vars[i / N_VERBS];
        int verb = i % N_VERBS;

        v->ns[verb] = is_for(v, verb) ? quiet(v->samples[verb], N_SAMPLES) : -1;
    }
}

/* What the machine takes for the one instruction without which nothing can be changed safely. */
static void tell_cas(void)
{
    static unsigned long long word;
    double samples[N_SAMPLES];

    for (int k = 0; k < N_SAMPLES; k++) {
        double began = now_ns();

        for (int i = 0; i < N_CALLS; i++) {
            unsigned long long is = __atomic_load_n(&word, __ATOMIC_RELAXED);

            __atomic_compare_exchange_n(&word, &is, is + 1, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
        }
        samples[k] = (now_ns() - began) / N_CALLS;
    }
    report("bare_compare_and_swap", 1, quiet(samples, N_SAMPLES), "ns");
}

static int by_verb; /* for qsort */

static int dearer(const void *a, const void *b)
{
    return by_value(&((const struct var *)b)->ns[by_verb], &((const struct var *)a)->ns[by_verb]);
}

/* Those that are not for this verb come last. */
static void tell(int verb)
{
    char name[128];
    int n = 0, n_above = 0;

    by_verb = verb;
    qsort(vars, (size_t)n_vars, sizeof(*vars), dearer);
    while (n < n_vars && vars[n].ns[verb] >= 0) {
        n_above += vars[n].ns[verb] > verbs[verb].may_take;
        n++;
    }
    need(n > 0, "no variables");
    snprintf(name, sizeof(name), "%s_median", verbs[verb].name);
    report(name, n, vars[n / 2].ns[verb], "ns");
    snprintf(name, sizeof(name), "%s_above_%.0f_ns", verbs[verb].name, verbs[verb].may_take);
    report(name, n, n_above, "variables");
    for (int k = 0; k < N_WORST; k++) {
        snprintf(name, sizeof(name), "%s_%s", verbs[verb].name, vars[k].name);
        report(name, 1, vars[k].ns[verb], "ns");
    }
}

int main(int argc, char **argv)
{
    int rank, provided, n;

    MPI_Init(&argc, &argv);
    MPI_T_init_thread(MPI_THREAD_SINGLE, &provided);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    pin(rank);
    if (rank == 0) {
        MPI_T_pvar_session_create(&session);
        MPI_T_pvar_get_num(&n);
        need(n >= N_WORST && n <= MAX_VARS, "too few variables, or too many");
        for (int i = 0; i < n; i++) {
            begin_var(i);
        }
        measure_all();
        tell_cas();
        for (int verb = 0; verb < N_VERBS; verb++) {
            tell(verb);
        }
        MPI_T_pvar_session_free(&session);
    }
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_T_finalize();
    MPI_Finalize();
    return 0;
}

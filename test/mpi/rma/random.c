/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Random one-sided programs, compared with a serial model: every rank walks through the operations
 * of all ranks, which are drawn from the same random numbers, and applies them to copies of all
 * windows; its own it also calls. At the end of each epoch the windows must be as in the model, and
 * so must all that was fetched.
 *
 * The window of a rank has a part per origin, for what only that origin does, and a common part, to
 * which all of them accumulate by one operation at a time:
 *
 *     part of origin 0: PUTS slots | UPDATES slots | a long slot || part of 1 ... || common slots
 *
 * In an epoch an origin puts to or gets from a slot at most once (12.7); it updates one of the
 * others as often as it likes, in the order of the program (12.7.2).
 */
#include "ways.h"

enum { SLOT = 64, PUTS = 12, UPDATES = 6, LONG_SLOT = 70000, COMMON = 8, OPS = 24 };
enum { PART = (PUTS + UPDATES) * SLOT + LONG_SLOT + 16 };

static int rank, size;
static MPI_Aint part_len, window_len;
static char **model; /* of each rank */
static struct window w;

/* What was fetched, and what should have been. */
static struct {
    char got[SLOT], want[SLOT];
    char *far, *far_want;
    size_t len;
} fetched[OPS];
static char origins[OPS][2][SLOT]; /* ours stay as they are until the epoch ends */
static char *far_origin;
static int n_fetched;

static MPI_Aint put_slot(int origin, int k)
{
    return origin * part_len + k * SLOT;
}

static MPI_Aint update_slot(int origin, int k)
{
    return put_slot(origin, PUTS + k);
}

static MPI_Aint long_slot(int origin)
{
    return put_slot(origin, PUTS + UPDATES);
}

static MPI_Aint common_slot(int k)
{
    return size * part_len + k * SLOT;
}

/* n ints laid out in one of several ways within 2n ints. */
static MPI_Datatype layout(uint64_t *state, int n)
{
    MPI_Datatype t;
    int at[16], blocks[2] = {1, n - 1}, displs[2] = {n, 0};

    switch (random_below(state, 5)) {
    case 0:
        OK(MPI_Type_contiguous(n, MPI_INT, &t));
        break;
    case 1:
        OK(MPI_Type_vector(n, 1, 2, MPI_INT, &t));
        break;
    case 2: /* backwards */
        for (int k = 0; k < n; k++) {
            at[k] = 2 * (n - 1 - k);
        }
        OK(MPI_Type_create_indexed_block(n, 1, at, MPI_INT, &t));
        break;
    case 3:
        OK(MPI_Type_indexed(2, blocks, displs, MPI_INT, &t));
        break;
    default:
        OK(MPI_Type_create_resized(MPI_INT, 0, 8, &t));
        blocks[0] = n;
        OK(MPI_Type_contiguous(blocks[0], t, &t));
    }
    OK(MPI_Type_commit(&t));
    return t;
}

/* From one layout to another, as the library should do it. */
static void model_copy(void *to, MPI_Datatype to_type, const void *from, MPI_Datatype from_type)
{
    char packed[4 * SLOT];
    int at = 0, len;

    OK(MPI_Pack(from, 1, from_type, packed, sizeof(packed), &at, MPI_COMM_SELF));
    len = at;
    at = 0;
    OK(MPI_Unpack(packed, len, &at, to, 1, to_type, MPI_COMM_SELF));
}

static void fill(uint64_t *state, void *buf, size_t len)
{
    for (size_t k = 0; k < len; k += 4) {
        uint32_t v = (uint32_t)next_random(state);

        memcpy((char *)buf + k, &v, len - k < 4 ? len - k : 4);
    }
}

static void put_or_get(uint64_t *state, int origin, int k, int op, int *slot)
{
    int target = random_below(state, size), n = 1 + random_below(state, 8);
    int is_get = random_below(state, 2), by_request = random_below(state, 4) == 0;
    MPI_Datatype mine = layout(state, n), theirs = layout(state, n);
    MPI_Aint at = put_slot(origin, (*slot)++ % PUTS);
    MPI_Request r;

    (void)op;
    fill(state, origins[k][origin == rank], SLOT);
    if (is_get && origin == rank) {
        memcpy(fetched[n_fetched].got, origins[k][origin == rank], SLOT);
        memcpy(fetched[n_fetched].want, origins[k][origin == rank], SLOT);
        model_copy(fetched[n_fetched].want, mine, model[target] + at, theirs);
        if (by_request && op) {
            OK(MPI_Rget(fetched[n_fetched].got, 1, mine, target, w.at[target] + at, 1, theirs,
                        w.win, &r));
            OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
            CHECK(memcmp(fetched[n_fetched].got, fetched[n_fetched].want, SLOT) == 0);
        } else {
            OK(MPI_Get(fetched[n_fetched].got, 1, mine, target, w.at[target] + at, 1, theirs,
                       w.win));
        }
        n_fetched++;
    } else if (!is_get) {
        model_copy(model[target] + at, theirs, origins[k][origin == rank], mine);
        if (origin == rank) {
            OK(MPI_Put(origins[k][origin == rank], 1, mine, target, w.at[target] + at, 1, theirs,
                       w.win));
        }
    }
    OK(MPI_Type_free(&mine));
    OK(MPI_Type_free(&theirs));
}

/* Elements that updates are made of, with operations that are exact on small numbers. */
static const struct {
    int len, extent, is_pair;
} elems[] = {{4, 4, 0},   {8, 8, 0},   {8, 8, 0}, {1, 1, 0},  {2, 2, 0},
             {16, 16, 0}, {16, 16, 1}, {8, 8, 1}, {16, 16, 0}};
enum { N_ELEMS = sizeof(elems) / sizeof(elems[0]) };

static MPI_Datatype elem_type(int e)
{
    const MPI_Datatype types[N_ELEMS] = {MPI_INT,        MPI_LONG,      MPI_DOUBLE,
                                         MPI_INT8_T,     MPI_UINT16_T,  MPI_LONG_DOUBLE,
                                         MPI_DOUBLE_INT, MPI_SHORT_INT, MPI_C_DOUBLE_COMPLEX};

    return types[e];
}

static MPI_Op draw_op(uint64_t *state, int e)
{
    const MPI_Op integer[] = {MPI_SUM,  MPI_PROD, MPI_MIN, MPI_MAX,  MPI_BXOR,   MPI_BOR,
                              MPI_BAND, MPI_LAND, MPI_LOR, MPI_LXOR, MPI_REPLACE};
    const MPI_Op real[] = {MPI_SUM, MPI_MIN, MPI_MAX, MPI_REPLACE};
    const MPI_Op pair[] = {MPI_MINLOC, MPI_MAXLOC, MPI_REPLACE};
    uint64_t r = next_random(state);

    if (elems[e].is_pair) {
        return pair[r % 3];
    }
    if (e == 8) {
        return r % 2 ? MPI_SUM : MPI_REPLACE;
    }
    return e == 2 || e == 5 ? real[r % 4] : integer[r % 11];
}

/* Small numbers of the type of element e. */
static void fill_elems(uint64_t *state, void *buf, int e, int n)
{
    for (int k = 0; k < n; k++) {
        char *at = (char *)buf + k * elems[e].extent;
        int v = random_below(state, 100);

        memset(at, 0, (size_t)elems[e].extent);
        switch (e) {
        case 2:
        case 6:
            *(double *)at = v;
            break;
        case 5:
            *(long double *)at = v;
            break;
        case 8:
            ((double *)at)[0] = v;
            ((double *)at)[1] = -v;
            break;
        default:
            *at = (char)v;
        }
        if (e == 6) {
            *(int *)(at + 8) = v % 7;
        } else if (e == 7) {
            *(int *)(at + 4) = v % 7;
        }
    }
}

static void model_update(void *to, const void *from, int n, MPI_Datatype type, MPI_Op op)
{
    char packed[4 * SLOT];
    int at = 0, len;

    if (op == MPI_NO_OP) {
        return;
    }
    if (op != MPI_REPLACE) {
        OK(MPI_Reduce_local(from, to, n, type, op));
        return;
    }
    OK(MPI_Pack(from, n, type, packed, sizeof(packed), &at, MPI_COMM_SELF));
    len = at;
    at = 0;
    OK(MPI_Unpack(packed, len, &at, to, n, type, MPI_COMM_SELF));
}

/* Slots of updates keep one kind of element. */
static void update(uint64_t *state, int origin, int k)
{
    int target = random_below(state, size), slot = random_below(state, UPDATES);
    int e = (slot + origin) % N_ELEMS, n = 1 + random_below(state, SLOT / elems[e].extent);
    int how = random_below(state, 4);
    MPI_Aint at = update_slot(origin, slot);
    MPI_Datatype type = elem_type(e);
    MPI_Op op = draw_op(state, e);
    int is_mine = origin == rank;
    char *to = model[target] + at, *buf = origins[k][origin == rank];

    n = how >= 2 && how < 4 && random_below(state, 2) ? 1 : n;
    fill_elems(state, buf, e, n);
    if (how == 0) {
        model_update(to, buf, n, type, op);
        if (is_mine) {
            OK(MPI_Accumulate(buf, n, type, target, w.at[target] + at, n, type, op, w.win));
        }
        return;
    }
    op = random_below(state, 4) ? op : MPI_NO_OP;
    if (is_mine) {
        fetched[n_fetched].len = (size_t)n;
        memcpy(fetched[n_fetched].want, to, SLOT);
        memcpy(fetched[n_fetched].got, to, SLOT); /* what lies in gaps */
        memset(fetched[n_fetched].got, 0x55, elems[e].is_pair ? 0 : (size_t)(n * elems[e].len));
    }
    model_update(to, buf, n, type, op);
    if (is_mine && n == 1) {
        OK(MPI_Fetch_and_op(buf, fetched[n_fetched++].got, type, target, w.at[target] + at, op,
                            w.win));
    } else if (is_mine) {
        OK(MPI_Get_accumulate(buf, n, type, fetched[n_fetched].got, n, type, target,
                              w.at[target] + at, n, type, op, w.win));
        n_fetched++;
    }
}

static void swap(uint64_t *state, int origin, int k)
{
    int target = random_below(state, size), matches = random_below(state, 2);
    MPI_Aint at = update_slot(origin, 0) + 4 * random_below(state, 16);
    int *to, new = random_below(state, 50), old, *buf = (int *)origins[k][origin == rank];
    /* the kind of element of slot 0 must be int for this origin, or 4 bytes of nothing else */
    int is_int = origin % N_ELEMS == 0;

    to = (int *)(model[target] + at);
    old = matches ? *to : *to + 1;
    if (!is_int) {
        return;
    }
    buf[0] = new;
    buf[1] = old;
    if (origin == rank) {
        memset(fetched[n_fetched].want, 0, SLOT);
        memset(fetched[n_fetched].got, 0, SLOT);
        memcpy(fetched[n_fetched].want, to, 4);
        OK(MPI_Compare_and_swap(&buf[0], &buf[1], fetched[n_fetched].got, MPI_INT, target,
                                w.at[target] + at, w.win));
        n_fetched++;
    }
    if (*to == old) {
        *to = new;
    }
}

/* All accumulate to it, in any order. */
static void common(uint64_t *state, int origin, int k, MPI_Op op)
{
    int target = random_below(state, size), n = 1 + random_below(state, SLOT / 8);
    MPI_Aint at = common_slot(random_below(state, COMMON));
    long *buf = (long *)origins[k][origin == rank];

    for (int i = 0; i < n; i++) {
        buf[i] = random_below(state, 1000);
    }
    model_update(model[target] + at, buf, n, MPI_LONG, op);
    if (origin == rank) {
        OK(MPI_Accumulate(buf, n, MPI_LONG, target, w.at[target] + at, n, MPI_LONG, op, w.win));
    }
}

static void far_put(uint64_t *state, int origin)
{
    int target = random_below(state, size), len = 1 + random_below(state, LONG_SLOT);
    uint64_t seed = next_random(state);
    char *to = model[target] + long_slot(origin);

    fill(&seed, to, (size_t)len);
    if (origin == rank) {
        memcpy(far_origin, to, (size_t)len);
        OK(MPI_Put(far_origin, len, MPI_BYTE, target, w.at[target] + long_slot(origin), len,
                   MPI_BYTE, w.win));
    }
}

/* What an origin does in an epoch. */
static void operate(uint64_t seed, int origin, MPI_Op op, int is_passive)
{
    uint64_t state = seed + (uint64_t)origin * 977;
    int slot = 0, n_puts = 0;

    if (random_below(&state, 3) == 0) {
        far_put(&state, origin);
    }
    for (int k = 0; k < OPS; k++) {
        switch (random_below(&state, 5)) {
        case 0:
        case 1:
            if (n_puts++ < PUTS) {
                put_or_get(&state, origin, k, is_passive, &slot);
            }
            break;
        case 2:
            update(&state, origin, k);
            break;
        case 3:
            swap(&state, origin, k);
            break;
        default:
            common(&state, origin, k, op);
        }
    }
}

static void all_operate(uint64_t seed, MPI_Op op, int is_passive)
{
    n_fetched = 0;
    for (int origin = 0; origin < size; origin++) {
        operate(seed, origin, op, is_passive);
    }
}

static void check(int round)
{
    for (MPI_Aint k = 0; k < window_len; k++) {
        if (w.base[k] != model[rank][k]) {
            fprintf(stderr,
                    "rank %d, round %d: byte %ld of the window (part %ld, byte %ld) is %d, "
                    "expected %d\n",
                    rank, round, (long)k, (long)(k / part_len), (long)(k % part_len), w.base[k],
                    model[rank][k]);
            CHECK(0);
        }
    }
    for (int k = 0; k < n_fetched; k++) {
        if (memcmp(fetched[k].got, fetched[k].want, SLOT) != 0) {
            fprintf(stderr, "rank %d, round %d: fetch %d differs\n", rank, round, k);
            CHECK(0);
        }
    }
}

static void epoch(uint64_t seed, int round)
{
    const MPI_Op ops[] = {MPI_SUM, MPI_BXOR, MPI_MAX, MPI_MIN, MPI_BOR};
    MPI_Op op = ops[round % 5];
    MPI_Group all;

    switch (random_below(&seed, 4)) {
    case 0:
        OK(MPI_Win_fence(0, w.win));
        all_operate(seed, op, 0);
        OK(MPI_Win_fence(0, w.win));
        check(round);
        OK(MPI_Win_fence(MPI_MODE_NOSUCCEED, w.win));
        return;
    case 1:
        OK(MPI_Win_get_group(w.win, &all));
        OK(MPI_Win_post(all, 0, w.win));
        OK(MPI_Win_start(all, 0, w.win));
        all_operate(seed, op, 0);
        OK(MPI_Win_complete(w.win));
        OK(MPI_Win_wait(w.win));
        OK(MPI_Group_free(&all));
        check(round);
        break;
    case 2:
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock_all(0, w.win));
        all_operate(seed, op, 1);
        OK(MPI_Win_unlock_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank, 0, w.win));
        check(round);
        OK(MPI_Win_unlock(rank, w.win));
        break;
    default:
        OK(MPI_Barrier(MPI_COMM_WORLD));
        for (int r = 0; r < size; r++) {
            OK(MPI_Win_lock(MPI_LOCK_SHARED, r, 0, w.win));
        }
        all_operate(seed, op, 1);
        OK(MPI_Win_flush_all(w.win));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_Win_sync(w.win));
        check(round);
        for (int r = 0; r < size; r++) {
            OK(MPI_Win_unlock(r, w.win));
        }
    }
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void run(int way, int flavor, uint64_t seed, int n_rounds)
{
    set_way(way);
    w = open_window(flavor, window_len, MPI_COMM_WORLD);
    for (int r = 0; r < size; r++) {
        memset(model[r], 0, (size_t)window_len);
    }
    for (int round = 0; round < n_rounds; round++) {
        epoch(seed + (uint64_t)round * 7919, round);
    }
    close_window(&w);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
    int n_rounds = argc > 2 ? atoi(argv[2]) : 12, provided;
    const int all[] = {MPI_WIN_FLAVOR_CREATE, MPI_WIN_FLAVOR_ALLOCATE, MPI_WIN_FLAVOR_DYNAMIC};

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    part_len = PART;
    window_len = size * part_len + COMMON * SLOT;
    model = malloc((size_t)size * sizeof(*model));
    far_origin = malloc(LONG_SLOT);
    for (int r = 0; r < size; r++) {
        model[r] = malloc((size_t)window_len);
    }
    for (int way = 0; way < N_WAYS; way++) {
        for (int f = 0; f < 3; f++) {
            run(way, all[f], seed + (uint64_t)(10 * way + f), n_rounds);
        }
    }
    for (int r = 0; r < size; r++) {
        free(model[r]);
    }
    free(model);
    free(far_origin);
    OK(MPI_Finalize());
    OK(MPI_T_finalize());
    return 0;
}

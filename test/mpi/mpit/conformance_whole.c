/* SPDX-License-Identifier: BSD-3-Clause */
/* MPI-5.0 15.2, 15.3 and 20.2: what holds for the interface as a whole. What tools are told never
   changes and is the same in all processes; no call invokes an error handler; a profiling library
   may come between; what callbacks may do, and which of them is called. See conform.h. */
#include "conform.h"

static const int levels[] = {MPI_T_CB_REQUIRE_NONE, MPI_T_CB_REQUIRE_MPI_RESTRICTED,
                             MPI_T_CB_REQUIRE_THREAD_SAFE, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE};

/* ---- 15.2: this program's own version of one function, and what is behind it ---- */

static int n_shifted;

int MPI_T_category_get_num(int *num_cat)
{
    n_shifted++;
    return PMPI_T_category_get_num(num_cat);
}

static void test_profiling(void)
{
    int n = -1, m = -2, value;
    char text[MAX_NAME];
    int len = MAX_NAME;

    section = "15.2";
    n_shifted = 0;
    OK(MPI_T_category_get_num(&n));
    CHECK(n_shifted == 1);
    OK(PMPI_T_category_get_num(&m));
    CHECK(n_shifted == 1 && n == m);
    if (n > 0) {
        OK(MPI_T_category_get_info(0, text, &len, NULL, NULL, NULL, NULL, NULL));
        OK(MPI_T_category_get_index(text, &value));
        CHECK(n_shifted == 1); /* the library does not call its own functions by these names */
    }
}

static void test_pcontrol(void)
{
    section = "15.2.7";
    OK(MPI_Pcontrol(0));
    OK(MPI_Pcontrol(1));
    OK(MPI_Pcontrol(2));
    OK(MPI_Pcontrol(-1));
    OK(MPI_Pcontrol(1000, "and", 2, "more"));
    OK(PMPI_Pcontrol(1));
}

/* ---- what tools are told, as a number ---- */

static unsigned long long mix(unsigned long long h, const void *data, size_t len)
{
    const unsigned char *p = data;
    size_t i;

    for (i = 0; i < len; i++) {
        h = (h ^ p[i]) * 0x100000001b3ull;
    }
    return h;
}

static unsigned long long mix_int(unsigned long long h, int value)
{
    return mix(h, &value, sizeof(value));
}

static unsigned long long mix_enum(unsigned long long h, MPI_T_enum e)
{
    int i, n = 0, value, len = MAX_NAME;
    char text[MAX_NAME];

    if (e == MPI_T_ENUM_NULL) {
        return mix_int(h, -1);
    }
    OK(MPI_T_enum_get_info(e, &n, text, &len));
    h = mix(mix_int(h, n), text, strlen(text));
    for (i = 0; i < n; i++) {
        len = MAX_NAME;
        OK(MPI_T_enum_get_item(e, i, &value, text, &len));
        h = mix(mix_int(h, value), text, strlen(text));
    }
    return h;
}

static char desc[MAX_DESC];

/* Each puts the name into `name` and gives a number of all else that 15.3.6 to 15.3.9 want to be
   the same, the description too. */
static unsigned long long cvar_told(int i)
{
    int len = MAX_NAME, desc_len = MAX_DESC, verbosity, bind, scope;
    MPI_Datatype type;
    MPI_T_enum e;
    unsigned long long h = 1;

    OK(MPI_T_cvar_get_info(i, name, &len, &verbosity, &type, &e, desc, &desc_len, &bind, &scope));
    h = mix_enum(mix(mix_int(mix_int(mix_int(h, verbosity), bind), scope), &type, sizeof(type)), e);
    return mix(h, desc, strlen(desc));
}

static int pvar_klass;

static unsigned long long pvar_told(int i)
{
    int len = MAX_NAME, desc_len = MAX_DESC, v[5];
    MPI_Datatype type;
    MPI_T_enum e;
    unsigned long long h = 2;

    OK(MPI_T_pvar_get_info(i, name, &len, &v[0], &pvar_klass, &type, &e, desc, &desc_len, &v[1],
                           &v[2], &v[3], &v[4]));
    h = mix_enum(mix(mix(mix_int(h, pvar_klass), v, sizeof(v)), &type, sizeof(type)), e);
    return mix(h, desc, strlen(desc));
}

#define MAX_ITEMS 64

static unsigned long long event_told(int i)
{
    int len = MAX_NAME, desc_len = MAX_DESC, verbosity, bind, n = MAX_ITEMS;
    MPI_Datatype types[MAX_ITEMS];
    MPI_T_enum e;
    unsigned long long h = 3;

    OK(MPI_T_event_get_info(i, name, &len, &verbosity, types, NULL, &n, &e, NULL, desc, &desc_len,
                            &bind));
    h = mix(mix_int(mix_int(mix_int(h, verbosity), bind), n), types, (size_t)n * sizeof(types[0]));
    return mix(mix_enum(h, e), desc, strlen(desc));
}

static unsigned long long category_told(int i)
{
    int len = MAX_NAME, desc_len = MAX_DESC;

    OK(MPI_T_category_get_info(i, name, &len, desc, &desc_len, NULL, NULL, NULL));
    return mix(4, desc, strlen(desc));
}

static unsigned long long source_told(int i)
{
    int len = MAX_NAME, desc_len = MAX_DESC;
    MPI_T_source_order order;
    MPI_Count ticks, max;

    OK(MPI_T_source_get_info(i, name, &len, desc, &desc_len, &order, &ticks, &max, NULL));
    return mix(mix(mix(5, desc, strlen(desc)), &ticks, sizeof(ticks)), &max, sizeof(max));
}

static int pvar_find(const char *text, int *index)
{
    return MPI_T_pvar_get_index(text, pvar_klass, index);
}

#define N_KINDS  5
#define MAX_TOLD 2000

static const struct {
    const char *section;
    int (*num)(int *n);
    unsigned long long (*told)(int i);
    int (*find)(const char *text, int *index); /* sources have no such function */
} kinds_of[N_KINDS] = {
    {"15.3.6.1", MPI_T_cvar_get_num, cvar_told, MPI_T_cvar_get_index},
    {"15.3.7.2", MPI_T_pvar_get_num, pvar_told, pvar_find},
    {"15.3.8.3", MPI_T_event_get_num, event_told, MPI_T_event_get_index},
    {"15.3.9.1", MPI_T_category_get_num, category_told, MPI_T_category_get_index},
    {"15.3.8.1", MPI_T_source_get_num, source_told, NULL},
};

/* An index keeps what it means, and all that was told of it, as long as the process lives. */
static void test_never_altered(void)
{
    static unsigned long long told[N_KINDS][MAX_TOLD];
    static int n_told[N_KINDS];
    unsigned long long now;
    int k, i, n;

    for (k = 0; k < N_KINDS; k++) {
        section = kinds_of[k].section;
        n = -1;
        OK(kinds_of[k].num(&n));
        CHECK(n >= n_told[k]);
        for (i = 0; i < n && i < MAX_TOLD; i++) {
            now = kinds_of[k].told(i);
            now = mix(now, name, strlen(name));
            about = name;
            CHECK(i >= n_told[k] || now == told[k][i]);
            told[k][i] = now;
        }
        about = "";
        n_told[k] = n;
    }
}

/* What has the same name in two processes means the same: all compare with rank 0. */
static void test_alike(void)
{
    unsigned long long now, first;
    char wanted[MAX_NAME];
    int k, i, n, index, klass;

    for (k = 0; k < N_KINDS; k++) {
        section = kinds_of[k].section;
        n = 0;
        kinds_of[k].num(&n);
        MPI_Bcast(&n, 1, MPI_INT, 0, MPI_COMM_WORLD);
        for (i = 0; i < n && kinds_of[k].find; i++) {
            now = first = kinds_of[k].told(i);
            memcpy(wanted, name, sizeof(wanted));
            klass = pvar_klass;
            MPI_Bcast(&first, 1, MPI_UNSIGNED_LONG_LONG, 0, MPI_COMM_WORLD);
            MPI_Bcast(wanted, MAX_NAME, MPI_CHAR, 0, MPI_COMM_WORLD);
            MPI_Bcast(&klass, 1, MPI_INT, 0, MPI_COMM_WORLD);
            pvar_klass = klass;
            if (kinds_of[k].find(wanted, &index) == MPI_SUCCESS) {
                now = kinds_of[k].told(index);
                about = wanted;
                CHECK(now == first);
                about = "";
            }
        }
    }
}

/* ---- 15.3.2: what need not be bound ---- */

static void test_unbound(void)
{
    void *junk = (void *)&n_shifted;
    MPI_Comm null = MPI_COMM_NULL;
    MPI_T_event_registration r;
    MPI_T_pvar_session s;
    MPI_T_pvar_handle p;
    MPI_T_cvar_handle c;
    int i, n, bind, count;

    section = "15.3.2";
    OK(MPI_T_pvar_session_create(&s));
    MPI_T_cvar_get_num(&n);
    for (i = 0; i < n; i++) {
        MPI_T_cvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL);
        if (bind == MPI_T_BIND_NO_OBJECT) {
            OK(MPI_T_cvar_handle_alloc(i, junk, &c, &count));
            OK(MPI_T_cvar_handle_free(&c));
        } else if (!is_mild) {
            GIVES(MPI_T_cvar_handle_alloc(i, &null, &c, &count), MPI_T_ERR_INVALID);
            /* The handle in the place of its address. */
            GIVES(MPI_T_cvar_handle_alloc(i, MPI_COMM_WORLD, &c, &count), MPI_T_ERR_INVALID);
        }
    }
    MPI_T_pvar_get_num(&n);
    for (i = 0; i < n; i++) {
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind, NULL, NULL,
                            NULL);
        if (bind == MPI_T_BIND_NO_OBJECT) {
            OK(MPI_T_pvar_handle_alloc(s, i, junk, &p, &count));
            OK(MPI_T_pvar_handle_free(s, &p));
        } else if (!is_mild) {
            GIVES(MPI_T_pvar_handle_alloc(s, i, &null, &p, &count), MPI_T_ERR_INVALID);
            GIVES(MPI_T_pvar_handle_alloc(s, i, MPI_COMM_WORLD, &p, &count), MPI_T_ERR_INVALID);
        }
    }
    MPI_T_event_get_num(&n);
    for (i = 0; i < n; i++) {
        MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind);
        if (bind == MPI_T_BIND_NO_OBJECT) {
            OK(MPI_T_event_handle_alloc(i, junk, MPI_INFO_NULL, &r));
            OK(MPI_T_event_handle_free(r, NULL, NULL));
        } else if (!is_mild) {
            GIVES(MPI_T_event_handle_alloc(i, &null, MPI_INFO_NULL, &r), MPI_T_ERR_INVALID);
            GIVES(MPI_T_event_handle_alloc(i, MPI_COMM_WORLD, MPI_INFO_NULL, &r),
                  MPI_T_ERR_INVALID);
        }
    }
    OK(MPI_T_pvar_session_free(&s));
}

/* ---- 15.3.4: calls that fail do not count ---- */

static void test_init(void)
{
    int provided = -1, n;

    section = "15.3.4";
    if (!is_mild) {
        GIVES(MPI_T_init_thread(-77, &provided), MPI_T_ERR_INVALID);
        GIVES(MPI_T_init_thread(MPI_THREAD_SINGLE, NULL), MPI_T_ERR_INVALID);
    }
    GIVES(MPI_T_cvar_get_num(&n), MPI_T_ERR_NOT_INITIALIZED);
    GIVES(MPI_T_finalize(), MPI_T_ERR_NOT_INITIALIZED);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_cvar_get_num(&n));
}

/* ---- 15.3.7.5: all handles of one session, and no other ---- */

#define MAX_PVARS 2000

static void test_all_handles(void)
{
    static MPI_T_pvar_handle h[MAX_PVARS];
    static char before[1 << 16], after[1 << 16];
    MPI_T_pvar_handle all = MPI_T_PVAR_ALL_HANDLES;
    MPI_T_pvar_session s, other;
    int i, n = 0, n_open = 0, bind, count, continuous;
    MPI_Datatype type;

    section = "15.3.7.5";
    OK(MPI_T_pvar_session_create(&s));
    OK(MPI_T_pvar_session_create(&other));
    MPI_T_pvar_get_num(&n);
    for (i = 0; i < n && n_open < MAX_PVARS; i++) {
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, NULL, &type, NULL, NULL, NULL, &bind, NULL,
                            &continuous, NULL);
        if (bind != MPI_T_BIND_NO_OBJECT || continuous) {
            continue;
        }
        OK(MPI_T_pvar_handle_alloc(s, i, NULL, &h[n_open], &count));
        if ((size_t)count * type_len(type) <= sizeof(before)) {
            n_open++;
        }
    }
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES)); /* those that run are passed over */
    OK(MPI_T_pvar_stop(other, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    OK(MPI_T_pvar_stop(s, MPI_T_PVAR_ALL_HANDLES));
    for (i = 0; i < n_open; i++) {
        memset(before, 0, sizeof(before));
        memset(after, 0, sizeof(after));
        OK(MPI_T_pvar_read(s, h[i], before));
        OK(MPI_T_pvar_read(s, h[i], after));
        CHECK(memcmp(before, after, sizeof(before)) == 0);
    }
    if (!is_mild) {
        GIVES(MPI_T_pvar_handle_free(s, &all), MPI_T_ERR_INVALID_HANDLE);
    }
    OK(MPI_T_pvar_session_free(&s));
    OK(MPI_T_pvar_session_free(&other));
}

/* ---- 15.3.8.2 and 15.3.8.4: in callbacks ---- */

static MPI_T_pvar_session in_session;
static MPI_T_pvar_handle in_handle;
static MPI_T_event_instance old_instance;
static MPI_T_event_registration another;
static int n_called, n_freed, freed_level, offered; /* which levels there is a callback for */

static void on_freed(MPI_T_event_registration reg, MPI_T_cb_safety level, void *user_data)
{
    (void)reg, (void)user_data;
    n_freed++;
    freed_level = (int)level;
}

/* MPI_T_ERR_NOT_ACCESSIBLE comes from none of these, in whatever place. */
static void table_22(MPI_T_event_instance in)
{
    unsigned long long v = 0;
    char data[MAX_ITEMS * 8];
    MPI_Count when;
    int source = 0, n = 0, rc;

    rc = MPI_T_event_read(in, 0, data);
    CHECK(rc == MPI_SUCCESS || rc == MPI_T_ERR_INVALID_INDEX);
    OK(MPI_T_event_copy(in, data));
    OK(MPI_T_event_get_timestamp(in, &when));
    OK(MPI_T_event_get_source(in, &source));
    OK(MPI_T_source_get_num(&n));
    CHECK(source >= 0 && source < n);
    rc = MPI_T_source_get_timestamp(source, &when);
    CHECK(rc == MPI_SUCCESS || rc == MPI_T_ERR_NOT_SUPPORTED);
    OK(MPI_T_pvar_stop(in_session, in_handle));
    OK(MPI_T_pvar_write(in_session, in_handle, &v));
    OK(MPI_T_pvar_read(in_session, in_handle, &v));
    CHECK(v == 0);
    OK(MPI_T_pvar_start(in_session, in_handle));
    OK(MPI_T_pvar_reset(in_session, in_handle));
    OK(MPI_T_pvar_readreset(in_session, in_handle, &v));
    CHECK(MPI_Wtime() > 0 && MPI_Wtick() > 0); /* allowed at MPI_RESTRICTED as well */
}

/* user_data is the level that this callback was registered for: the lowest that suffices. */
static void on_event(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                     void *user_data)
{
    const int *mine = user_data;
    int i;

    (void)reg;
    n_called++;
    old_instance = in;
    CHECK(*mine >= (int)level);
    for (i = 0; levels + i != mine; i++) {
        CHECK(!(offered & 1 << i) || levels[i] < (int)level);
    }
    table_22(in);
    if (another && level < MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE) {
        OK(MPI_T_event_handle_free(another, NULL, on_freed));
        CHECK(n_freed == 1 && freed_level >= (int)level); /* it runs inside of this one */
        another = NULL;
    }
}

static void traffic(void)
{
    static char in[100000], out[100000];
    MPI_Comm copy;

    MPI_Sendrecv(out, 8, MPI_CHAR, 0, 1, in, 8, MPI_CHAR, 0, 1, MPI_COMM_SELF, MPI_STATUS_IGNORE);
    MPI_Sendrecv(out, sizeof(out), MPI_CHAR, 0, 1, in, sizeof(in), MPI_CHAR, 0, 1, MPI_COMM_SELF,
                 MPI_STATUS_IGNORE);
    MPI_Comm_dup(MPI_COMM_SELF, &copy);
    MPI_Comm_free(&copy);
}

/* A counter of the process that a callback may handle as it likes. */
static int open_counter(void)
{
    int i, n = 0, klass, bind, readonly, continuous, atomic, count;
    MPI_Datatype type;

    MPI_T_pvar_get_num(&n);
    for (i = 0; i < n; i++) {
        MPI_T_pvar_get_info(i, NULL, NULL, NULL, &klass, &type, NULL, NULL, NULL, &bind, &readonly,
                            &continuous, &atomic);
        if (klass == MPI_T_PVAR_CLASS_COUNTER && type_len(type) == 8 && !readonly && !continuous &&
            atomic && bind == MPI_T_BIND_NO_OBJECT) {
            OK(MPI_T_pvar_session_create(&in_session));
            OK(MPI_T_pvar_handle_alloc(in_session, i, NULL, &in_handle, &count));
            return count == 1;
        }
    }
    return 0;
}

static void test_infos(MPI_T_event_registration r, int index)
{
    MPI_Info a = MPI_INFO_NULL, b = MPI_INFO_NULL;
    int k, n;

    for (k = 0; k < 3; k++) {
        if (k == 0) {
            OK(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &a, NULL, NULL,
                                    NULL));
            OK(MPI_T_event_get_info(index, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &b, NULL, NULL,
                                    NULL));
        } else if (k == 1) {
            OK(MPI_T_event_handle_get_info(r, &a));
            OK(MPI_T_event_handle_get_info(r, &b));
        } else {
            OK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &a));
            OK(MPI_T_event_callback_get_info(r, MPI_T_CB_REQUIRE_NONE, &b));
        }
        /* A new object each time, if need be an empty one, which the caller frees. */
        CHECK(a != MPI_INFO_NULL && b != MPI_INFO_NULL && a != b);
        OK(MPI_Info_get_nkeys(a, &n));
        OK(MPI_Info_free(&a));
        OK(MPI_Info_free(&b));
    }
}

static void test_callbacks(int index, int mask)
{
    MPI_T_event_registration r;
    char data[MAX_ITEMS * 8];
    int k;

    OK(MPI_T_event_handle_alloc(index, &world, MPI_INFO_NULL, &r));
    OK(MPI_T_event_handle_alloc(index, &world, MPI_INFO_NULL, &another));
    for (k = 3; k >= 0; k--) {
        if (mask & 1 << k) {
            OK(MPI_T_event_register_callback(r, (MPI_T_cb_safety)levels[k], MPI_INFO_NULL,
                                             (void *)&levels[k], on_event));
        }
    }
    n_called = n_freed = 0;
    offered = mask;
    traffic();
    if (n_called > 0 && !is_mild) {
        GIVES(MPI_T_event_copy(old_instance, data), MPI_T_ERR_INVALID_HANDLE);
    }
    if (mask & 1) {
        test_infos(r, index);
    }
    if (another) {
        OK(MPI_T_event_handle_free(another, NULL, on_freed));
        CHECK(n_freed == 1 && freed_level == MPI_T_CB_REQUIRE_NONE);
    }
    OK(MPI_T_event_handle_free(r, NULL, NULL));
}

static void test_all_callbacks(void)
{
    MPI_Aint at[MAX_ITEMS];
    int i, n = 0, mask, items;

    section = "15.3.8.4";
    if (!open_counter()) {
        return;
    }
    MPI_T_event_get_num(&n);
    for (i = 0; i < n; i++) {
        items = MAX_ITEMS;
        OK(MPI_T_event_get_info(i, NULL, NULL, NULL, NULL, at, &items, NULL, NULL, NULL, NULL,
                                NULL));
        CHECK(items == 0 || at[0] == 0);
        for (mask = 1; mask < 16; mask++) {
            test_callbacks(i, mask);
        }
    }
    OK(MPI_T_pvar_session_free(&in_session));
}

/* ---- 15.3.8.5: what is not called is told ---- */

#define N_MESSAGES 1500

static long n_lost; /* in all: else this tested nothing */

/* What became of the events of one registration. */
static struct fate {
    MPI_T_event_registration reg;
    long n_called, n_lost;
} at_once, later;

static void count(MPI_T_event_instance in, MPI_T_event_registration reg, MPI_T_cb_safety level,
                  void *user_data)
{
    struct fate *f = user_data;

    (void)in;
    CHECK(reg == f->reg);
    CHECK(f == &at_once || level == MPI_T_CB_REQUIRE_NONE);
    f->n_called++;
}

static void count_lost(MPI_Count n, MPI_T_event_registration reg, int source, MPI_T_cb_safety level,
                       void *user_data)
{
    struct fate *f = user_data; /* that of the event callback */

    CHECK(n > 0 && source >= 0 && reg == f->reg);
    CHECK(f == &at_once || level == MPI_T_CB_REQUIRE_NONE);
    f->n_lost += (long)n;
}

static void watch(struct fate *f, int index, MPI_T_cb_safety level)
{
    f->n_called = f->n_lost = 0;
    OK(MPI_T_event_handle_alloc(index, &world, MPI_INFO_NULL, &f->reg));
    OK(MPI_T_event_set_dropped_handler(f->reg, count_lost));
    OK(MPI_T_event_register_callback(f->reg, level, MPI_INFO_NULL, f, count));
}

/* Many events in one call of MPI, so that not all can wait for its end. */
static void test_dropped(int index)
{
    static MPI_Request requests[2 * N_MESSAGES];
    static char in[N_MESSAGES], out[N_MESSAGES];
    int i;

    watch(&later, index, MPI_T_CB_REQUIRE_NONE);
    watch(&at_once, index, MPI_T_CB_REQUIRE_ASYNC_SIGNAL_SAFE);
    for (i = 0; i < N_MESSAGES; i++) {
        MPI_Recv_init(&in[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &requests[i]);
        MPI_Send_init(&out[i], 1, MPI_CHAR, 0, i, MPI_COMM_SELF, &requests[N_MESSAGES + i]);
    }
    MPI_Startall(2 * N_MESSAGES, requests);
    MPI_Waitall(2 * N_MESSAGES, requests, MPI_STATUSES_IGNORE);
    for (i = 0; i < 2 * N_MESSAGES; i++) {
        MPI_Request_free(&requests[i]);
    }
    traffic(); /* what was dropped is told at the latest with the next event */
    /* The estimate need not be exact, but it is of the same events. */
    CHECK(is_mild || later.n_called + later.n_lost == at_once.n_called + at_once.n_lost);
    OK(MPI_T_event_handle_free(at_once.reg, NULL, NULL));
    OK(MPI_T_event_handle_free(later.reg, NULL, NULL));
    n_lost += later.n_lost;
}

static void test_all_dropped(void)
{
    int i, n = 0, bind;

    section = "15.3.8.5";
    MPI_T_event_get_num(&n);
    for (i = 0; i < n; i++) {
        int len = MAX_NAME;

        MPI_T_event_get_info(i, name, &len, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL, &bind);
        about = name;
        if (bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM) {
            test_dropped(i);
        }
    }
    about = "";
    CHECK(is_mild || n_lost > 0);
}

/* ---- 15.3.10: codes, and error handlers that are not called ---- */

static int n_handled;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    (void)comm, (void)code;
    n_handled++;
}

static const int codes[] = {MPI_T_ERR_CANNOT_INIT,
                            MPI_T_ERR_NOT_ACCESSIBLE,
                            MPI_T_ERR_NOT_INITIALIZED,
                            MPI_T_ERR_NOT_SUPPORTED,
                            MPI_T_ERR_MEMORY,
                            MPI_T_ERR_INVALID,
                            MPI_T_ERR_INVALID_INDEX,
                            MPI_T_ERR_INVALID_ITEM,
                            MPI_T_ERR_INVALID_SESSION,
                            MPI_T_ERR_INVALID_HANDLE,
                            MPI_T_ERR_INVALID_NAME,
                            MPI_T_ERR_OUT_OF_HANDLES,
                            MPI_T_ERR_OUT_OF_SESSIONS,
                            MPI_T_ERR_CVAR_SET_NOT_NOW,
                            MPI_T_ERR_CVAR_SET_NEVER,
                            MPI_T_ERR_PVAR_NO_WRITE,
                            MPI_T_ERR_PVAR_NO_STARTSTOP,
                            MPI_T_ERR_PVAR_NO_ATOMIC};
#define N_CODES ((int)(sizeof(codes) / sizeof(codes[0])))

static void test_codes(void)
{
    int i, k, klass = 0, code = 0;

    section = "15.3.10";
    OK(MPI_Add_error_class(&klass));
    OK(MPI_Add_error_code(klass, &code));
    for (i = 0; i < N_CODES; i++) {
        CHECK(codes[i] > MPI_SUCCESS && codes[i] <= MPI_ERR_LASTCODE);
        CHECK(codes[i] != klass && codes[i] != code);
        for (k = 0; k < i; k++) {
            CHECK(codes[k] != codes[i]);
        }
    }
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(klass));
}

static void test_handlers(void)
{
    MPI_Errhandler counting;
    MPI_T_event_registration r = NULL;
    int n, v;

    section = "15.3.10";
    OK(MPI_Comm_create_errhandler(on_error, &counting));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, counting));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, counting));
    GIVES(MPI_T_cvar_get_index("no such : variable", &n), MPI_T_ERR_INVALID_NAME);
    GIVES(MPI_T_category_get_pvars(-1, 1, &v), MPI_T_ERR_INVALID_INDEX);
    if (!is_mild) {
        GIVES(MPI_T_cvar_read(MPI_T_CVAR_HANDLE_NULL, &v), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_pvar_start(MPI_T_PVAR_SESSION_NULL, MPI_T_PVAR_HANDLE_NULL),
              MPI_T_ERR_INVALID_SESSION);
        GIVES(MPI_T_event_handle_free(r, NULL, NULL), MPI_T_ERR_INVALID_HANDLE);
        GIVES(MPI_T_event_handle_alloc(0, &world, (MPI_Info)&n, &r), MPI_T_ERR_INVALID);
    }
    CHECK(n_handled == 0);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL));
    OK(MPI_Errhandler_free(&counting));
}

/* ---- 20.2: what the ABI says of itself, at any time ---- */

static void test_abi(void)
{
    static const struct {
        const char *key;
        size_t size;
    } sizes[] = {{"mpi_aint_size", sizeof(MPI_Aint)},
                 {"mpi_count_size", sizeof(MPI_Count)},
                 {"mpi_offset_size", sizeof(MPI_Offset)}};
    int i, major = -1, minor = -1, len, flag = 0;
    MPI_Info info = MPI_INFO_NULL;
    char value[16];

    section = "20.2";
    OK(MPI_Abi_get_version(&major, &minor));
    CHECK(major == MPI_ABI_VERSION && minor == MPI_ABI_SUBVERSION);
    OK(MPI_Abi_get_info(&info));
    for (i = 0; i < 3; i++) {
        len = (int)sizeof(value);
        OK(MPI_Info_get_string(info, sizes[i].key, &len, value, &flag));
        CHECK(flag && (size_t)atoi(value) == sizes[i].size);
    }
    OK(MPI_Info_free(&info));
}

static void test_all(void)
{
    int provided;

    test_init();
    test_abi();
    test_profiling();
    test_never_altered();
    test_unbound();
    test_all_handles();
    if (is_between) {
        test_pcontrol();
        test_alike();
        test_all_callbacks();
        test_all_dropped();
        test_codes();
        test_handlers();
    }
    section = "15.3.4";
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_finalize());
    test_never_altered();
    OK(MPI_T_finalize());
}

int main(int argc, char **argv)
{
    return walk_around_mpi(argc, argv, test_all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The scripted host: see fake_host.h. */
#include "unit/mpit/fake_host.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define AT(member)      offsetof(struct fake_words, member)
#define COMM_AT(member) offsetof(struct fake_comm_words, member)

struct fake_words *fake;
struct fake_comm fake_comms[FAKE_N_COMMS];
char fake_warnings[8192];
int fake_n_warnings, fake_n_changed, fake_refuse;
bool fake_refuse_info;
void *fake_changed_object;
bool fake_is_inited;

static const struct fathom_enum_item colours[] = {
    {FAKE_RED, "red"}, {FAKE_GREEN, "green"}, {FAKE_BLUE, "blue"}};
static const struct fathom_enum colour = {"fake_colour", colours, 3};

static int changed(void *block, void *object)
{
    fake_n_changed++;
    fake_changed_object = object;
    if (fake_refuse) {
        fake_refuse = 0;
        return -1;
    }
    return block == fake ? 0 : -1;
}

static const struct fathom_cvar cvars[] = {
    {.name = "fake_limit",
     .desc = "A limit.",
     .unit = "bytes",
     .type = FATHOM_UNSIGNED_LONG_LONG,
     .scope = FATHOM_SCOPE_ALL_EQ,
     .at = AT(limit),
     .def = 4096,
     .min = 0,
     .max = 1 << 20,
     .changed = changed},
    {.name = "fake_ratio",
     .desc = "A ratio.",
     .type = FATHOM_DOUBLE,
     .scope = FATHOM_SCOPE_LOCAL,
     .at = AT(ratio),
     .def_real = 0.5,
     .min_real = 0,
     .max_real = 2},
    {.name = "fake_mode",
     .formerly = "fake_tint",
     .desc = "A colour.",
     .type = FATHOM_INT,
     .scope = FATHOM_SCOPE_GROUP,
     .items = &colour,
     .at = AT(mode),
     .def = FAKE_GREEN,
     .category = "fake_inner"},
    {.name = "fake_fixed",
     .desc = "Not after init.",
     .type = FATHOM_INT,
     .scope = FATHOM_SCOPE_ALL,
     .at = AT(fixed),
     .def = -3,
     .min = -10,
     .max = 10,
     .fixed_after_init = true},
    {.name = "fake_never",
     .desc = "Never.",
     .type = FATHOM_UNSIGNED,
     .scope = FATHOM_SCOPE_CONSTANT,
     .at = AT(never),
     .def = 7,
     .min = 0,
     .max = 100},
    {.name = "fake_seen",
     .desc = "Seen.",
     .type = FATHOM_UNSIGNED,
     .scope = FATHOM_SCOPE_READONLY,
     .at = AT(seen),
     .def = 3,
     .max = UINT32_MAX},
    {.name = "fake_weight",
     .desc = "A weight.",
     .unit = "tons",
     .type = FATHOM_DOUBLE,
     .scope = FATHOM_SCOPE_GROUP_EQ,
     .at = AT(weight),
     .def_real = 1.5,
     .min_real = 1,
     .max_real = 8},
    {.name = "fake_text",
     .desc = "A text.",
     .type = FATHOM_CHAR,
     .scope = FATHOM_SCOPE_LOCAL,
     .at = AT(text),
     .count = 32,
     .def_text = "calm sea",
     .changed = changed},
    {.name = "fake_bound",
     .desc = "Of the process or of one comm.",
     .type = FATHOM_COUNT,
     .scope = FATHOM_SCOPE_LOCAL,
     .bind = FATHOM_BIND_COMM,
     .at = AT(bound),
     .object_at = COMM_AT(bound),
     .def = 10,
     .min = 0,
     .max = 1000,
     .changed = changed},
};

/* done + all counts + bytes + pairs[0][1] + pairs[1][1] */
static const struct fathom_term sum[] = {{.at = AT(n_done)},
                                         {.at = AT(counts), .count = 3},
                                         {.at = AT(n_bytes)},
                                         {.at = AT(pairs[0][1]), .count = 2, .step = 2}};

/* counts[0] + pairs[0][1], counts[1] + pairs[1][1] */
static const struct fathom_term sums[] = {{.at = AT(counts)}, {.at = AT(pairs[0][1]), .step = 2}};

/* n_msgs + all n_got */
static const struct fathom_term all_got[] = {
    {.at = COMM_AT(n_msgs)},
    {.at = offsetof(struct fake_member, n_got), .count = FATHOM_PER_MEMBER}};

static const struct fathom_pvar pvars[] = {
    {.name = "fake_counts",
     .desc = "Three counts.",
     .klass = FATHOM_COUNTER,
     .at = AT(counts),
     .count = 3},
    {.name = "fake_done",
     .formerly = "fake_finished",
     .desc = "Things done.",
     .unit = "things",
     .klass = FATHOM_COUNTER,
     .at = AT(n_done)},
    {.name = "fake_asked",
     .desc = "Counted while somebody asks.",
     .klass = FATHOM_TIMER,
     .at = AT(asked),
     .on_at = AT(n_asking)},
    {.name = "fake_asked_both",
     .desc = "The same as an array.",
     .klass = FATHOM_TIMER,
     .at = AT(asked),
     .count = 2,
     .on_at = AT(n_asking)},
    {.name = "fake_bytes", .desc = "Bytes.", .klass = FATHOM_AGGREGATE, .at = AT(n_bytes)},
    {.name = "fake_real",
     .desc = "A sum.",
     .klass = FATHOM_AGGREGATE,
     .type = FATHOM_DOUBLE,
     .at = AT(real_sum)},
    {.name = "fake_wait",
     .desc = "Time.",
     .unit = "ns",
     .klass = FATHOM_TIMER,
     .type = FATHOM_UNSIGNED_LONG,
     .at = AT(wait_ns)},
    {.name = "fake_state",
     .desc = "A colour.",
     .klass = FATHOM_STATE,
     .items = &colour,
     .at = AT(state),
     .category = "fake_inner"},
    {.name = "fake_size",
     .desc = "A size.",
     .klass = FATHOM_SIZE,
     .at = AT(size),
     .is_continuous = true},
    {.name = "fake_share",
     .desc = "A share.",
     .klass = FATHOM_PERCENTAGE,
     .at = AT(n_done),
     .whole_at = AT(size)},
    {.name = "fake_ratio_now",
     .desc = "A word that is a share.",
     .klass = FATHOM_PERCENTAGE,
     .at = AT(real_sum)},
    {.name = "fake_sum", .desc = "A sum.", .klass = FATHOM_COUNTER, .terms = sum, .n_terms = 4},
    {.name = "fake_sums",
     .desc = "Sums.",
     .klass = FATHOM_COUNTER,
     .count = 2,
     .terms = sums,
     .n_terms = 2},
    {.name = "fake_depth",
     .desc = "A depth.",
     .klass = FATHOM_LEVEL,
     .is_level = true,
     .at = AT(depth)},
    {.name = "fake_depth", .desc = "Its highest.", .klass = FATHOM_HIGHWATERMARK, .at = AT(depth)},
    {.name = "fake_depth", .desc = "Its lowest.", .klass = FATHOM_LOWWATERMARK, .at = AT(depth)},
    {.name = "fake_other",
     .desc = "Another highest.",
     .klass = FATHOM_HIGHWATERMARK,
     .type = FATHOM_UNSIGNED,
     .at = AT(other)},
    {.name = "fake_rest",
     .desc = "Least of what was left.",
     .klass = FATHOM_LOWWATERMARK,
     .at = AT(rest),
     .whole_at = AT(bound)},
    {.name = "fake_plain",
     .desc = "A plain level.",
     .klass = FATHOM_LEVEL,
     .type = FATHOM_UNSIGNED,
     .at = AT(plain)},
    {.name = "fake_generic",
     .desc = "Anything.",
     .klass = FATHOM_GENERIC,
     .type = FATHOM_INT,
     .at = AT(generic)},
    {.name = "fake_generic_rw",
     .desc = "Anything writable.",
     .klass = FATHOM_GENERIC,
     .is_writable = true,
     .at = AT(generic_rw)},
    {.name = "fake_running",
     .desc = "Never stops.",
     .klass = FATHOM_COUNTER,
     .at = AT(running),
     .is_continuous = true},
    {.name = "fake_sent",
     .desc = "Per member.",
     .klass = FATHOM_COUNTER,
     .bind = FATHOM_BIND_COMM,
     .at = offsetof(struct fake_member, n_sent),
     .count = FATHOM_PER_MEMBER},
    {.name = "fake_got",
     .desc = "Per member.",
     .klass = FATHOM_AGGREGATE,
     .bind = FATHOM_BIND_COMM,
     .at = offsetof(struct fake_member, n_got),
     .count = FATHOM_PER_MEMBER},
    {.name = "fake_all_got",
     .desc = "Of all members.",
     .klass = FATHOM_AGGREGATE,
     .bind = FATHOM_BIND_COMM,
     .terms = all_got,
     .n_terms = 2},
    {.name = "fake_each_got",
     .desc = "Of all members, and of nothing else.",
     .klass = FATHOM_AGGREGATE,
     .bind = FATHOM_BIND_COMM,
     .terms = &all_got[1],
     .n_terms = 1},
    {.name = "fake_got_share",
     .desc = "A sum as a share.",
     .klass = FATHOM_PERCENTAGE,
     .bind = FATHOM_BIND_COMM,
     .terms = all_got,
     .n_terms = 2,
     .whole_at = COMM_AT(umq)},
    {.name = "MPI_T_UMQ_LENGTH",
     .desc = "Unexpected messages.",
     .unit = "messages",
     .klass = FATHOM_LEVEL,
     .type = FATHOM_INT,
     .bind = FATHOM_BIND_COMM,
     .is_level = true,
     .at = COMM_AT(umq)},
    {.name = "fake_umq_high",
     .desc = "Most of them.",
     .klass = FATHOM_HIGHWATERMARK,
     .bind = FATHOM_BIND_COMM,
     .at = COMM_AT(umq)},
    {.name = "fake_msgs",
     .desc = "Messages.",
     .klass = FATHOM_COUNTER,
     .bind = FATHOM_BIND_COMM,
     .at = COMM_AT(n_msgs)},
};

static const struct fathom_event_item plain_data[] = {
    {.name = "number", .desc = "A number.", .type = FATHOM_INT},
    {.name = "real", .desc = "A real.", .type = FATHOM_DOUBLE},
    {.name = "colour", .desc = "A colour.", .type = FATHOM_INT, .items = &colour},
};
static const struct fathom_event_item bound_data[] = {
    {.name = "n", .desc = "A number.", .type = FATHOM_UNSIGNED_LONG_LONG},
};

const struct fathom_event fake_events[3] = {
    {.name = "fake_plain",
     .desc = "Something happened.",
     .at = AT(on_plain),
     .data = plain_data,
     .n_data = 3},
    {.name = "fake_bound",
     .desc = "Something happened to a comm.",
     .bind = FATHOM_BIND_COMM,
     .at = AT(on_bound),
     .data = bound_data,
     .n_data = 1,
     .category = "fake_inner"},
    {.name = "fake_empty",
     .formerly = "fake_void",
     .desc = "It tells nothing else.",
     .at = AT(on_empty)},
};

static const struct fathom_category categories[] = {
    {.name = "fake_inner", .desc = "Inside.", .parent = "fake"},
    {.name = "fake", .desc = "All of the fake host.", .parent = "top"},
    {.name = "fake_core", .desc = "The innermost.", .parent = "fake_inner"},
    {.name = "ring_a", .desc = "A ring of parents.", .parent = "ring_b"},
    {.name = "ring_b", .desc = "A ring of parents.", .parent = "ring_a"},
};

const struct fathom_table fake_table = {
    .room = "fake",
    .block_len = sizeof(struct fake_words),
    .cvars = cvars,
    .n_cvars = sizeof(cvars) / sizeof(cvars[0]),
    .pvars = pvars,
    .n_pvars = sizeof(pvars) / sizeof(pvars[0]),
    .events = fake_events,
    .n_events = 3,
    .categories = categories,
    .n_categories = 5,
    .object_bind = FATHOM_BIND_COMM,
    .object_block_len = offsetof(struct fake_comm_words, members),
    .member_block_len = sizeof(struct fake_member),
};

static pthread_mutex_t host_mutex = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

static void start(void)
{
    void *block;

    if (fathom_mpit_add(&fake_table, &block) != 0) {
        return; /* the registry does not start then */
    }
    fake = block;
    fake->state = FAKE_RED;
}

static void lock(void)
{
    pthread_mutex_lock(&host_mutex);
}

static void unlock(void)
{
    pthread_mutex_unlock(&host_mutex);
}

static void *object(enum fathom_bind bind, const void *obj_handle)
{
    MPI_Comm comm = obj_handle ? *(const MPI_Comm *)obj_handle : MPI_COMM_NULL;
    uintptr_t value = (uintptr_t)comm;

    if (bind != FATHOM_BIND_COMM) {
        return NULL;
    }
    if (comm == MPI_COMM_WORLD || comm == MPI_COMM_SELF) {
        return &fake_comms[comm == MPI_COMM_SELF];
    }
    return value >= FAKE_COMM && value < FAKE_COMM + FAKE_N_COMMS ? &fake_comms[value - FAKE_COMM]
                                                                  : NULL;
}

/* Info objects: the last 16 that were made. */
#define N_INFOS   16
#define FAKE_INFO 0x9000
static struct {
    char key[4][64], value[4][64];
    int n;
} infos[N_INFOS];
static int n_infos;

static bool info_is_valid(const void *info)
{
    uintptr_t value = (uintptr_t) * (const MPI_Info *)info;

    return value >= FAKE_INFO && value < FAKE_INFO + N_INFOS;
}

static bool info_get(const void *info, const char *key, char *value, int len)
{
    const char *found = fake_info_value(*(const MPI_Info *)info, key);

    if (found) {
        snprintf(value, (size_t)len, "%s", found);
    }
    return found != NULL;
}

static int info_create(void *info, int n, const char *const *keys, const char *const *values)
{
    int i, at = n_infos++ % N_INFOS;

    if (fake_refuse_info) {
        return -1;
    }
    infos[at].n = n;
    for (i = 0; i < n && i < 4; i++) {
        snprintf(infos[at].key[i], 64, "%s", keys[i]);
        snprintf(infos[at].value[i], 64, "%s", values[i]);
    }
    *(MPI_Info *)info = (MPI_Info)(uintptr_t)(FAKE_INFO + at);
    return 0;
}

const char *fake_info_value(MPI_Info info, const char *key)
{
    int i, at = (int)((uintptr_t)info - FAKE_INFO);

    if (!info_is_valid(&info)) {
        return NULL;
    }
    for (i = 0; i < infos[at].n; i++) {
        if (strcmp(infos[at].key[i], key) == 0) {
            return infos[at].value[i];
        }
    }
    return NULL;
}

MPI_Info fake_info_make(const char *key, const char *value)
{
    MPI_Info info = MPI_INFO_NULL;

    info_create(&info, 1, &key, &value);
    return info;
}

static bool is_before_init(void)
{
    return !fake_is_inited;
}

static void warn(const char *text)
{
    fake_n_warnings++;
    strncat(fake_warnings, text, sizeof(fake_warnings) - strlen(fake_warnings) - 2);
    strcat(fake_warnings, "\n");
}

static const char *const environment[] = {"FAKE_OTHER_THING", "FAKE_JOB", NULL};

static const struct fathom_host host = {
    .name = "fake",
    .start = start,
    .lock = lock,
    .unlock = unlock,
    .object = object,
    .info_is_valid = info_is_valid,
    .info_get = info_get,
    .info_create = info_create,
    .is_before_init = is_before_init,
    .warn = warn,
    .environment = environment,
};

void fake_host_open(void)
{
    if (fathom_mpit_host(&host) != 0) {
        abort();
    }
}

void fake_comm_make(int n)
{
    void *block;

    fake_comms[n].number = n;
    fathom_mpit_object_add(&fake_table, &fake_comms[n], (uint64_t)n + 1, "fake comm",
                           n == 0 ? 1 : FAKE_SIZE, &block);
    fake_comms[n].words = block;
}

void fake_comm_free(int n)
{
    fathom_mpit_object_remove(&fake_comms[n]);
    fake_comms[n].words = NULL;
}

void fake_raise(int a, double b, int safety)
{
    uint64_t values[3] = {(uint64_t)(int64_t)a, 0, FAKE_BLUE};

    memcpy(&values[1], &b, sizeof(b));
    if (__atomic_load_n(&fake->on_plain, __ATOMIC_RELAXED)) {
        fathom_mpit_emit_from(&fake_events[0], fake, NULL, values, (enum fathom_safety)safety);
    }
}

void fake_raise_on(int comm, uint64_t n)
{
    if (__atomic_load_n(&fake->on_bound, __ATOMIC_RELAXED)) {
        fathom_mpit_emit(&fake_events[1], fake, &fake_comms[comm], &n);
    }
}

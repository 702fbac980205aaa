/* SPDX-License-Identifier: BSD-3-Clause */
/* The rows of the table of algorithms, and the choice. */
#include "core/coll/coll_table.h"

#include "core/coll/coll_algo.h"
#include "core/coll/coll_vars.h"

/* ---- predicates: FM_COLL_WHY_NONE, or why the algorithm does not fit or suit the call ---- */

static enum fm_coll_reason all(const struct fm_coll *c)
{
    return FM_COLL_WHY_NONE;
}

static enum fm_coll_reason uniform(const struct fm_coll *c)
{
    return c->is_varying ? FM_COLL_WHY_VARYING : FM_COLL_WHY_NONE;
}

/* Operations of the library on its own types, which all ranks lay out alike. */
static enum fm_coll_reason elementwise(const struct fm_coll *c)
{
    const struct fm_dtype *t = c->recv.dtype;
    bool is_plain = c->op->is_predefined && t->is_predefined && t->is_contig && !t->pair;

    return is_plain ? FM_COLL_WHY_NONE : FM_COLL_WHY_UNFIT;
}

static enum fm_coll_reason pof2_ranks(const struct fm_coll *c)
{
    int size = c->comm->size;

    return fm_coll_pof2_below(size) == size ? FM_COLL_WHY_NONE : FM_COLL_WHY_RANKS;
}

static enum fm_coll_reason four_ranks(const struct fm_coll *c)
{
    return c->comm->size >= 4 ? FM_COLL_WHY_NONE : FM_COLL_WHY_RANKS;
}

static enum fm_coll_reason eight_ranks(const struct fm_coll *c)
{
    return c->comm->size < 8 ? FM_COLL_WHY_RANKS : FM_COLL_WHY_NONE;
}

static enum fm_coll_reason not_in_place(const struct fm_coll *c)
{
    return c->is_varying || c->send.buf == MPI_IN_PLACE ? FM_COLL_WHY_VARYING : FM_COLL_WHY_NONE;
}

/* Each of the ranks that halve the vector gets some of it. */
static enum fm_coll_reason element_each(const struct fm_coll *c)
{
    return c->recv.count < fm_coll_pof2_below(c->comm->size) ? FM_COLL_WHY_SHORT : FM_COLL_WHY_NONE;
}

/*
 * Taken only when the user forces it. A broadcast by messages lets the root go on before the leaves
 * have come; slots of shared memory must be free again, which costs one context switch in three
 * when ranks share a processor.
 */
static enum fm_coll_reason on_request(const struct fm_coll *c)
{
    return FM_COLL_WHY_RANKS;
}

/* ---- rows ---- */

enum range { ANY, FROM, BELOW, UPTO };

struct row {
    enum fm_coll_way way;
    fm_coll_algo_fn write;
    enum fm_coll_reason (*fits)(const struct fm_coll *c);
    enum fm_coll_reason (*suits)(const struct fm_coll *c);
    enum range range;
    size_t cut_at; /* of the cut-off, in struct fm_coll_cutoffs */
};

#define CUT(kind_, name_)  .range = kind_, .cut_at = offsetof(struct fm_coll_cutoffs, name_)
#define RANGE_ANY(name)    .range = ANY
#define RANGE_FROM(name)   CUT(FROM, name)
#define RANGE_BELOW(name)  CUT(BELOW, name)
#define RANGE_UPTO(name)   CUT(UPTO, name)
#define WRITE_MSG(algo)    .write = algo
#define WRITE_SHM(algo)    .write = NULL
#define WRITE_DIRECT(algo) .write = NULL
#define ROW(KIND, kind, name, item, way_, fits_, suits_, range_, what)                             \
    [FM_COLL_##KIND][FM_COLL_##KIND##_##name] = {.way = FM_COLL_WAY_##way_,                        \
                                                 .fits = fits_,                                    \
                                                 .suits = suits_,                                  \
                                                 WRITE_##way_(fm_algo_##kind##_##name),            \
                                                 RANGE_##range_},
static const struct row rows[FM_COLL_COUNT][FM_COLL_MAX_ALGOS] = {FM_COLL_ALGOS(ROW)};

#define FITS_IN(KIND, kind)                                                                        \
    _Static_assert(FM_COLL_##KIND##_END <= FM_COLL_MAX_ALGOS, "raise FM_COLL_MAX_ALGOS");
FM_COLL_KINDS(FITS_IN)

/* ---- the choice ---- */

static bool is_available(const struct row *r, const struct fm_coll *c, MPI_Count len,
                         const struct fm_coll_means *means)
{
    switch (r->way) {
    case FM_COLL_WAY_SHM:
        return fm_coll_contribution_len(c, len) <= means->shm_len;
    case FM_COLL_WAY_DIRECT:
        return means->has_direct;
    default:
        return true;
    }
}

/* FM_COLL_WHY_NONE: the length is in the range. */
static enum fm_coll_reason out_of_range(const struct row *r, uint64_t len)
{
    uint64_t cut =
        *(const uint64_t *)(const void *)((const char *)&fm_coll_counters->cut + r->cut_at);

    switch (r->range) {
    case FROM:
        return len < cut ? FM_COLL_WHY_SHORT : FM_COLL_WHY_NONE;
    case BELOW:
        return len >= cut ? FM_COLL_WHY_LONG : FM_COLL_WHY_NONE;
    case UPTO:
        return len > cut ? FM_COLL_WHY_LONG : FM_COLL_WHY_NONE;
    default:
        return FM_COLL_WHY_NONE;
    }
}

static enum fm_coll_reason merit_of(const struct row *r)
{
    if (r->way != FM_COLL_WAY_MSG) {
        return FM_COLL_WHY_ONE_HOST;
    }
    return r->range == ANY    ? FM_COLL_WHY_ONLY
           : r->range == FROM ? FM_COLL_WHY_LONG
                              : FM_COLL_WHY_SHORT;
}

static struct fm_coll_choice choice_of(const struct row *r, int algo, enum fm_coll_reason why)
{
    return (struct fm_coll_choice){.algo = algo, .why = why, .way = r->way, .write = r->write};
}

/* The reason is what kept a row above from being taken, or what speaks for the row itself. */
static struct fm_coll_choice by_table(const struct fm_coll *c, MPI_Count len,
                                      const struct fm_coll_means *means)
{
    enum fm_coll_reason why = FM_COLL_WHY_NONE;

    for (int i = 1; i < FM_COLL_MAX_ALGOS && rows[c->kind][i].fits; i++) {
        const struct row *r = &rows[c->kind][i];
        enum fm_coll_reason against = FM_COLL_WHY_NONE;

        if (!is_available(r, c, len, means)) {
            continue;
        }
        against = against ? against : out_of_range(r, (uint64_t)len);
        against = against ? against : r->fits(c);
        against = against ? against : r->suits(c);
        if (!against) {
            return choice_of(r, i, why && r->way == FM_COLL_WAY_MSG ? why : merit_of(r));
        }
        why = why ? why : against;
    }
    fm_assert(!"the last row of a kind takes all");
    return (struct fm_coll_choice){.algo = 0};
}

struct fm_coll_choice fm_coll_table_choose(const struct fm_coll *c, MPI_Count len,
                                           const struct fm_coll_means *means)
{
    int forced = (int)fm_coll_counters->forced[c->kind];
    const struct row *r = &rows[c->kind][forced];
    struct fm_coll_choice choice;

    if (forced && is_available(r, c, len, means) && !r->fits(c)) {
        return choice_of(r, forced, FM_COLL_WHY_FORCED);
    }
    /* A choice of the user that is not served leaves shared memory alone, too. */
    choice = by_table(c, len, forced ? &(struct fm_coll_means){.shm_len = -1} : means);
    choice.why = forced ? FM_COLL_WHY_UNFIT : choice.why;
    return choice;
}

bool fm_coll_table_wants_shm(const struct fm_coll *c, bool *out_is_forced)
{
    int forced = (int)fm_coll_counters->forced[c->kind];

    for (int i = 1; i < FM_COLL_MAX_ALGOS && rows[c->kind][i].fits; i++) {
        const struct row *r = &rows[c->kind][i];

        if (r->way == FM_COLL_WAY_MSG || (forced && forced != i) || r->fits(c)) {
            continue;
        }
        if (forced || !r->suits(c)) {
            *out_is_forced = forced != 0;
            return true;
        }
    }
    return false;
}

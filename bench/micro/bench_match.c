/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What matching costs, and that it does not grow with what waits in front.
 *
 * A round is one receive and one message. "posted": the receive comes first; "unexpected": the
 * message does. In front of it stand `depth` entries that do not match it: other tags, other
 * sources, wildcards, or a mix of all of them. Prints nanoseconds per round (best of a few) and the
 * ratio to depth 0; exits 1 when a ratio is above 1.5.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/p2p/match.h"
#include "util/sync.h"

#define N_ROUNDS  200000
#define N_REPEATS 7
#define MAX_DEPTH 16384

/* Nothing is registered for marks and events here. */
void fathom_mpit_mark(struct fathom_level *level)
{
    level->hi_mark = level->now;
}

void fathom_mpit_emit(const struct fathom_event *event, const void *block, const void *object,
                      const uint64_t *values)
{
}

struct shape {
    const char *name;
    int front_kind; /* of the receives in front: 0 exact, 1 any source, 2 any tag, 3 both; -1 a mix
                     */
    int receive_kind; /* of the measured receive */
};

static const struct shape shapes[] = {
    {"exact", 0, 0},        {"any source", 1, 1},         {"any tag", 2, 2},
    {"mixed", -1, 0},       {"mixed, any source", -1, 1}, {"mixed, any tag", -1, 2},
    {"mixed, both", -1, 3},
};

static struct fm_posted posted[MAX_DEPTH];
static struct fm_unexpected unexpected[MAX_DEPTH];

static struct fm_match_key wild(struct fm_match_key key, int kind)
{
    key.source = kind & 1 ? FM_ANY_SOURCE : key.source;
    key.tag = kind & 2 ? FM_ANY_TAG : key.tag;
    return key;
}

/* Entries that the measured message (context 0, source 1, tag 1) does not match. */
static void fill(struct fm_match *m, const struct shape *s, bool is_posted, int depth)
{
    for (int k = 0; k < depth; k++) {
        int kind = s->front_kind < 0 ? k & 3 : s->front_kind;
        struct fm_match_key key = {.context = 0, .source = 2 + k % 64, .tag = 2 + k / 64};

        if (is_posted) {
            key.context = kind == 3 ? 2 : 0; /* one for both would match everything */
            posted[k].key = wild(key, kind);
            fm_match_post(m, &posted[k]);
        } else {
            key.context = s->receive_kind == 3 ? 2 : 0;
            unexpected[k].key = key;
            fm_match_keep(m, &unexpected[k]);
        }
    }
}

static double once(struct fm_match *m, const struct shape *s, bool is_posted)
{
    struct fm_match_key message = {.context = 0, .source = 1, .tag = 1};
    struct fm_posted p = {.key = wild(message, s->receive_kind)};
    struct fm_unexpected u = {.key = message};
    uint64_t t = fm_now_ns();

    for (int k = 0; k < N_ROUNDS; k++) {
        if (is_posted) {
            if (fm_match_receive(m, &p.key) || fm_match_post(m, &p) < 0 ||
                fm_match_arrival(m, &message) != &p) {
                abort();
            }
        } else if (fm_match_arrival(m, &message) || fm_match_keep(m, &u) < 0 ||
                   fm_match_receive(m, &p.key) != &u) {
            abort();
        }
    }
    return (double)(fm_now_ns() - t) / N_ROUNDS;
}

static double measure(const struct shape *s, bool is_posted, int depth)
{
    static struct fm_match_counters words;
    struct fm_match *m;
    double best = 1e9;

    memset(&words, 0, sizeof(words));
    memset(posted, 0, sizeof(posted));
    memset(unexpected, 0, sizeof(unexpected));
    if (fm_match_create(&words, &m) < 0) {
        abort();
    }
    fill(m, s, is_posted, depth);
    for (int k = 0; k < N_REPEATS; k++) {
        double t = once(m, s, is_posted);

        best = t < best ? t : best;
    }
    fm_match_destroy(m);
    return best;
}

int main(void)
{
    static const int depths[] = {0, 1, 16, 256, 4096, MAX_DEPTH};
    double worst = 0;

    printf("%-12s%-20s", "queue", "in front, receive");
    for (size_t d = 0; d < FM_ARRAY_LEN(depths); d++) {
        printf("%9d", depths[d]);
    }
    printf("    ratio\n");
    for (size_t k = 0; k < 2 * FM_ARRAY_LEN(shapes); k++) {
        const struct shape *s = &shapes[k / 2];
        bool is_posted = k % 2 == 0;
        double t = 0, base = 0;

        printf("%-12s%-20s", is_posted ? "posted" : "unexpected", s->name);
        for (size_t d = 0; d < FM_ARRAY_LEN(depths); d++) {
            t = measure(s, is_posted, depths[d]);
            base = d ? base : t;
            printf("%6.1f ns", t);
        }
        printf("  %7.2f\n", t / base);
        worst = t / base > worst ? t / base : worst;
    }
    printf("worst ratio of depth %d to none: %.2f\n", MAX_DEPTH, worst);
    return worst > 1.5;
}

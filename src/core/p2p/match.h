/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Matching of messages and receives (MPI-5.0 3.5), at a cost that does not grow with the depth of
 * the queues.
 *
 * Two sets, posted receives and unexpected messages. A message is (context, source, tag); a receive
 * may have wildcards in place of source and tag. Every distinct key has a queue of its own, found
 * by hashing. An arrival looks into the exact queue and, only while receives with wildcards of some
 * kind are posted, into the one queue of that kind that could match; it takes the entry that was
 * posted first, by its stamp. A receive looks into one queue: unexpected messages are filed
 * under their exact key, and also under a wildcard form of it from the first receive of that form
 * on, until no unexpected message is left. The order of the standard holds: among several that
 * match, the oldest wins.
 *
 * The nodes lie in the caller's objects (requests and unexpected messages); match allocates nothing
 * but its tables. Not thread-safe: under the library lock.
 */
#pragma once

#include <fathom/mpit.h>

#include "util/compiler.h"
#include "util/list.h"
#include "util/status.h"

#define FM_ANY_SOURCE (-1) /* == MPI_ANY_SOURCE */
#define FM_ANY_TAG    (-2) /* == MPI_ANY_TAG */

/* What is matched: for a message all exact. */
struct fm_match_key {
    uint32_t context;
    int32_t source; /* rank in the communicator, or FM_ANY_SOURCE */
    int32_t tag;    /* or FM_ANY_TAG */
};

/* Words of the room in the shared page; rows in match_vars.c. */
struct fm_match_counters {
    /* A message that finds its receive touches this line and the next word or two. */
    struct fathom_level prq_len;    /* posted receives; no low mark */
    uint64_t on_posted, on_matched; /* events */
    struct fathom_level umq_len;    /* unexpected messages */
    uint64_t n_posted_hits;         /* messages that found their receive */
    uint64_t n_posted;              /* receives that were queued, most after a search */
    uint64_t n_other_attempts;      /* searches beyond those of the two, mod 2^64 */
    uint64_t n_other_steps;         /* steps beyond one for each of them */
    uint64_t n_unexpected_hits;     /* receives that found a message */
    uint64_t n_wildcards;           /* receives with a wildcard */
    struct fathom_level umq_bytes;  /* bytes of payload held for them; kept by recv.c */
    uint64_t n_probes;
    uint64_t n_rehashes;                 /* tables swept or grown */
    uint64_t n_indexings;                /* unexpected messages filed anew for a wildcard */
    uint64_t table_bytes;                /* memory of tables and queues */
    uint64_t on_umq_in, on_umq_out;      /* events */
    uint64_t buckets_first, buckets_max; /* cvars; 0: their defaults */
};

extern const struct fathom_table fm_match_vars;

/* A place in a queue of posted receives. Zeroed before first use. */
struct fm_posted {
    struct fm_match_key key;
    struct fm_list link;
    uint64_t stamp;
    void *queue; /* match.c only; NULL: not queued */
};

/* A place of an unexpected message in the queues that receives may look into. Zeroed before first
 * use. */
struct fm_unexpected {
    struct fm_match_key key;
    uint64_t stamp;
    struct fm_list all;     /* all unexpected messages, oldest first */
    struct fm_list link[4]; /* by kind of key: exact, any source, any tag, both */
    void *queue[4];         /* match.c only; NULL: not queued */
};

struct fm_match; /* opaque; match.c */

int fm_match_create(struct fm_match_counters *counters, struct fm_match **out_match);
/* Entries that are still queued are forgotten, not freed. NULL is fine. */
void fm_match_destroy(struct fm_match *m);

/* A message has arrived: take out and return the oldest matching receive, or NULL. */
struct fm_posted *fm_match_arrival(struct fm_match *m, const struct fm_match_key *key);
/* ... nobody waits for it: keep it (u->key is set). 0 or -FM_E_NOMEM. */
int fm_match_keep(struct fm_match *m, struct fm_unexpected *u);

/* A receive is posted (key may have wildcards): take out and return the oldest matching message, or
 * NULL. */
struct fm_unexpected *fm_match_receive(struct fm_match *m, const struct fm_match_key *key);
/* ... nothing is there yet: queue it (p->key is set), or queue it again, as the last. 0 or
 * -FM_E_NOMEM. */
int fm_match_post(struct fm_match *m, struct fm_posted *p);

/* The two in one, for p->key: out comes the message (p is not queued), or NULL (it is). 0 or
 * -FM_E_NOMEM. */
int fm_match_take_or_post(struct fm_match *m, struct fm_posted *p, struct fm_unexpected **out_u);

/* As fm_match_receive, but leave it in place (MPI_Iprobe). */
struct fm_unexpected *fm_match_probe(struct fm_match *m, const struct fm_match_key *key);

/* Take out what may be queued (MPI_Cancel, communicator teardown). False: it was not queued. */
bool fm_match_unpost(struct fm_match *m, struct fm_posted *p);
bool fm_match_drop(struct fm_match *m, struct fm_unexpected *u);

/* Call fn for every entry, oldest first (queue dumps, cleaning a context). fn may take the entry
 * it is given out, and no other. */
void fm_match_each_posted(struct fm_match *m, void (*fn)(struct fm_posted *p, void *ctx),
                          void *ctx);
void fm_match_each_unexpected(struct fm_match *m, void (*fn)(struct fm_unexpected *u, void *ctx),
                              void *ctx);

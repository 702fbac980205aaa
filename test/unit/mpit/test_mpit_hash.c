/* SPDX-License-Identifier: BSD-3-Clause */
/* Chains stay short whatever their number of things and however far apart these lie; several things
   of one pointer; all are found, and none that went. */
#include "mpit/mpit_hash.h"

#include "unit/mpit/mpit_test.h"

enum { N = 100000 };

static struct fm_t_hash hash;
static struct fm_t_hash_link links[N];
static unsigned long long random_state = 88172645463325252ull;

static unsigned long long draw(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

static size_t longest(void)
{
    size_t n = (size_t)1 << (hash.chains ? hash.bits : FM_T_HASH_FIRST_BITS), most = 0, counted = 0;

    for (size_t i = 0; i < n; i++) {
        size_t len = 0;

        for (struct fm_t_hash_link *l = (hash.chains ? hash.chains : hash.first)[i]; l;
             l = l->next) {
            len++;
        }
        most = len > most ? len : most;
        counted += len;
    }
    ck_assert_uint_eq(counted, hash.n);
    return most;
}

static void add(int i, uintptr_t key)
{
    links[i].key = (const void *)key;
    fm_t_hash_add(&hash, &links[i]);
}

START_TEST(chains_stay_short)
{
    static const size_t steps[] = {8, 64, 512, 1024, 4096, 1 << 20};

    for (size_t s = 0; s < sizeof(steps) / sizeof(steps[0]); s++) {
        for (int i = 0; i < N; i++) {
            add(i, 0x7f0012340000 + (uintptr_t)i * steps[s]);
            if ((i & (i + 1)) == 0) { /* just before it grows */
                ck_assert_uint_le(longest(), 8);
            }
        }
        ck_assert_uint_le(longest(), 8);
        for (int i = 0; i < N; i++) { /* 1237 has no factor in common with N */
            int k = (int)((long long)i * 1237 % N);

            ck_assert_ptr_eq(fm_t_hash_find(&hash, links[k].key), &links[k]);
            fm_t_hash_remove(&hash, &links[k]);
            ck_assert_ptr_null(fm_t_hash_find(&hash, links[k].key));
        }
        ck_assert_uint_eq(hash.n, 0);
        ck_assert_ptr_null(hash.chains); /* nothing is left to be freed */
    }
}
END_TEST

/* Against an array that says which things are in. */
START_TEST(as_a_list_would)
{
    enum { KEYS = 300, PER_KEY = 3, OPS = 300000 };
    static bool is_in[KEYS * PER_KEY];

    for (int op = 0; op < OPS; op++) {
        int i = (int)(draw() % (KEYS * PER_KEY)), n = 0;
        uintptr_t key = 64 + (uintptr_t)(i % KEYS) * 8;
        unsigned found = 0;

        if (is_in[i]) {
            fm_t_hash_remove(&hash, &links[i]);
        } else {
            add(i, key);
        }
        is_in[i] = !is_in[i];
        for (struct fm_t_hash_link *l = fm_t_hash_find(&hash, (void *)key); l;
             l = fm_t_hash_next(l)) {
            ck_assert_ptr_eq(l->key, (void *)key);
            found |= 1u << ((l - links) / KEYS);
            n++;
        }
        for (int k = 0; k < PER_KEY; k++) {
            ck_assert_int_eq(found >> k & 1, is_in[i % KEYS + k * KEYS]);
            n -= is_in[i % KEYS + k * KEYS];
        }
        ck_assert_int_eq(n, 0);
    }
    for (int i = 0; i < KEYS * PER_KEY; i++) {
        if (is_in[i]) {
            fm_t_hash_remove(&hash, &links[i]);
        }
    }
    ck_assert_ptr_null(hash.chains);
}
END_TEST

int main(void)
{
    const TTest *tests[] = {chains_stay_short, as_a_list_would};

    return suite_run(suite_of("mpit_hash", tests, 2));
}

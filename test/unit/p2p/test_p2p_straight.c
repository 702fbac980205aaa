/* SPDX-License-Identifier: BSD-3-Clause */
/* Data that is not one run is packed once, right into the room that the transport gives, and
   unpacked once: seen by who stands between the engine and the pack engine (ld --wrap). */
#include "core/dtype/dtype_make.h"
#include "p2p_net.h"

enum { N = 4000, BLK = 12, LEN = N * BLK, ROOM = 2 * LEN };

static char data[ROOM], got[ROOM];

static struct {
    struct fm_transport_ops ops; /* the mock's, but for the two below */
    const struct fm_transport_ops *mock;
    char *room, *end; /* between reserve() and commit() */
    size_t packed, unpacked;
    bool has_strayed; /* packed to somewhere else */
} seen;

size_t __real_fm_pack_out(struct fm_pack *p, void *dst, size_t len);
size_t __wrap_fm_pack_out(struct fm_pack *p, void *dst, size_t len);
size_t __real_fm_pack_in(struct fm_pack *p, const void *src, size_t len);
size_t __wrap_fm_pack_in(struct fm_pack *p, const void *src, size_t len);

size_t __wrap_fm_pack_out(struct fm_pack *p, void *dst, size_t len)
{
    size_t n = __real_fm_pack_out(p, dst, len);

    seen.has_strayed |= !seen.room || (char *)dst < seen.room || (char *)dst + n > seen.end;
    seen.packed += n;
    return n;
}

size_t __wrap_fm_pack_in(struct fm_pack *p, const void *src, size_t len)
{
    size_t n = __real_fm_pack_in(p, src, len);

    seen.unpacked += n;
    return n;
}

static int reserve(struct fm_ep *ep, size_t len, void **out_room)
{
    int rc = seen.mock->reserve(ep, len, out_room);

    if (rc == 0) {
        seen.room = *out_room;
        seen.end = seen.room + len;
    }
    return rc;
}

static int commit(struct fm_ep *ep, void *room, size_t len)
{
    seen.room = seen.end = NULL;
    return seen.mock->commit(ep, room, len);
}

static struct fm_dtype *vector(MPI_Count n, MPI_Count len, MPI_Count stride)
{
    struct fm_dtype *t = fm_dtype_begin(MPI_COMBINER_VECTOR, false, 3, 1);

    memcpy(t->env->values, (MPI_Count[]){n, len, stride}, 3 * sizeof(MPI_Count));
    fm_dtype_take(t, 0, fm_dtype_byte());
    ck_assert_int_eq(fm_dtype_end(t), 0);
    ck_assert_int_eq(fm_dtype_commit(t), 0);
    return t;
}

/* Two nodes that know each other, and one that looks at the endpoint of the first. */
static void start(const struct net_options *options)
{
    struct fm_request *s, *r;
    struct fm_ep *ep;

    net_start(2, options);
    r = net_irecv(1, got, 8, 0, 0);
    s = net_isend(0, data, 8, 1, 0, FM_SEND_STANDARD);
    net_end(r, NULL);
    net_end(s, NULL);
    memset(&seen, 0, sizeof(seen));
    ep = fm_peer_of(net.ch[0], 1)->ep;
    seen.mock = ep->ops;
    seen.ops = *ep->ops;
    seen.ops.reserve = reserve;
    seen.ops.commit = commit;
    ep->ops = &seen.ops;
}

static void stop(void)
{
    fm_peer_of(net.ch[0], 1)->ep->ops = seen.mock;
    net_stop();
}

/* n blocks, expected by then. */
static void check(MPI_Count n, enum fm_send_mode mode)
{
    struct fm_dtype *t = vector(n, BLK, 2 * BLK);
    struct fm_msg to = net_msg(0, data, 1, t, 1, 7), from = net_msg(1, got, 1, t, 0, 7);
    struct fm_request *s, *r;
    int n_wrong = 0;

    for (size_t i = 0; i < ROOM; i++) {
        data[i] = (char)(i * 7 + (i >> 8));
    }
    memset(got, 0x5a, ROOM);
    seen.packed = seen.unpacked = 0;
    ck_assert_int_eq(fm_irecv(&from, &r), 0);
    ck_assert_int_eq(fm_isend(&to, mode, &s), 0);
    ck_assert_int_eq(net_end(r, NULL), MPI_SUCCESS);
    ck_assert_int_eq(net_end(s, NULL), MPI_SUCCESS);
    for (size_t i = 0; i < ROOM; i++) {
        bool is_in = i < (size_t)n * 2 * BLK && i % (2 * BLK) < BLK;

        n_wrong += got[i] != (is_in ? data[i] : 0x5a);
    }
    ck_assert_int_eq(n_wrong, 0);
    ck_assert(!seen.has_strayed);
    ck_assert_uint_eq(seen.packed, (size_t)n * BLK);
    ck_assert_uint_eq(seen.unpacked, (size_t)n * BLK);
    fm_dtype_unref(t);
}

START_TEST(packs_short_ones_in_place)
{
    start(NULL);
    check(2, FM_SEND_STANDARD);
    check(100, FM_SEND_STANDARD);
    check(100, FM_SEND_SYNC);
    stop();
}
END_TEST

START_TEST(packs_fragments_in_place)
{
    start(&(struct net_options){.no_rma = true});
    fm_peer_of(net.ch[0], 1)->eager_limit = fm_peer_of(net.ch[0], 1)->short_limit = 1000;
    check(N, FM_SEND_STANDARD);
    check(N, FM_SEND_SYNC);
    check(N - 1, FM_SEND_STANDARD);
    stop();
}
END_TEST

int main(void)
{
    Suite *s = suite_create("p2p_straight");
    TCase *t = tcase_create("p2p_straight");

    tcase_add_test(t, packs_short_ones_in_place);
    tcase_add_test(t, packs_fragments_in_place);
    suite_add_tcase(s, t);
    return suite_run(s);
}

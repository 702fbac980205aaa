/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffered mode: the user's memory is used as promised, and all of it comes back. */
#include "core/p2p/bsend.h"
#include "p2p_net.h"

enum { N = 40, LEN = 100 };

static char buffer[N * (LEN + MPI_BSEND_OVERHEAD)];
static char data[20000], got[20000];

/* Nothing leaves, so every message has to lie in the buffer. */
static void block(void)
{
    fm_mock_script(net.mock)->refuse_pct = 100;
}

static int bsend(size_t len, int tag)
{
    struct fm_msg m = net_msg(0, data, (MPI_Count)len, fm_dtype_byte(), 1, tag);

    return fm_bsend(&m);
}

static void receive_all(int n)
{
    for (int k = 0; k < n; k++) {
        struct fm_status st;

        ck_assert_int_eq(net_end(net_irecv(1, got, LEN, 0, k), &st), MPI_SUCCESS);
        ck_assert_int_eq(st.n_bytes, LEN);
        net_check(got, LEN, (unsigned)k);
    }
}

START_TEST(as_many_fit_as_promised)
{
    MPI_Count len;
    void *addr;

    for (int round = 0; round < 3; round++) {
        net_start(2, &(struct net_options){.seed = (uint64_t)round});
        ck_assert_int_eq(fm_bsend_attach(net.ch[0], NULL, buffer, sizeof(buffer)), 0);
        ck_assert_int_eq(fm_bsend_attach(net.ch[0], NULL, buffer, 10), MPI_ERR_BUFFER);
        block();
        for (int k = 0; k < N; k++) {
            net_fill(data, LEN, (unsigned)k);
            ck_assert_int_eq(bsend(LEN, k), 0);
        }
        ck_assert_uint_gt(net.ch[0]->counters->bsend_bytes.now, N * LEN);
        ck_assert_int_eq(bsend(sizeof(got), 0), MPI_ERR_BUFFER);
        fm_mock_script(net.mock)->refuse_pct = round ? 50 : 0;
        receive_all(N);
        net_settle();
        ck_assert_uint_eq(net.ch[0]->counters->bsend_bytes.now, 0);
        ck_assert_int_eq(fm_bsend_detach(net.ch[0], NULL, &addr, &len), 0);
        ck_assert_ptr_eq(addr, buffer);
        ck_assert_int_eq(len, sizeof(buffer));
        ck_assert_int_eq(bsend(1, 0), MPI_ERR_BUFFER);
        net_stop();
    }
}
END_TEST

/* After any order of taking and giving back, the buffer is one piece again. */
START_TEST(pieces_are_joined)
{
    net_start(2, NULL);
    ck_assert_int_eq(fm_bsend_attach(net.ch[0], NULL, buffer, sizeof(buffer)), 0);
    for (int round = 0; round < 50; round++) {
        int n = 1 + (int)fm_mock_random(net.mock, N);

        block();
        for (int k = 0; k < n; k++) {
            net_fill(data, LEN, (unsigned)k);
            ck_assert_int_eq(bsend(LEN, k), 0);
        }
        fm_mock_script(net.mock)->refuse_pct = 20;
        receive_all(n);
        net_settle();
    }
    block();
    ck_assert_int_eq(bsend(sizeof(got) / 2, 1), 0);
    fm_mock_script(net.mock)->refuse_pct = 0;
    ck_assert_int_eq(net_end(net_irecv(1, got, sizeof(got), 0, 1), NULL), MPI_SUCCESS);
    fm_bsend_orphan(net.ch[0], NULL);
    net_settle();
    ck_assert_ptr_null(net.ch[0]->buffers);
    net_stop();
}
END_TEST

START_TEST(a_flush_waits_for_the_past_only)
{
    struct fm_request *r;

    net_start(2, NULL);
    ck_assert_int_eq(fm_bsend_attach(net.ch[0], net.comm[0], MPI_BUFFER_AUTOMATIC, 0), 0);
    block();
    net_fill(data, LEN, 0);
    ck_assert_int_eq(bsend(LEN, 0), 0);
    ck_assert_int_eq(fm_bsend_iflush(net.ch[0], net.comm[0], &r), 0);
    net_progress();
    ck_assert(!r->is_done);
    net_fill(data, LEN, 1);
    ck_assert_int_eq(bsend(LEN, 1), 0);
    fm_mock_script(net.mock)->refuse_pct = 0;
    receive_all(2);
    ck_assert_int_eq(net_end(r, NULL), MPI_SUCCESS);
    ck_assert_int_eq(fm_bsend_flush(net.ch[0], net.comm[0]), 0);
    ck_assert_int_eq(fm_bsend_flush(net.ch[0], NULL), MPI_ERR_BUFFER);
    net_stop(); /* the communicator takes its buffer along */
}
END_TEST

/* Only one message fits, and the receiver has it by now, but nobody has looked at its answer. */
START_TEST(what_was_received_takes_no_room)
{
    net_start(2, NULL);
    ck_assert_int_eq(fm_bsend_attach(net.ch[0], NULL, buffer, sizeof(buffer)), 0);
    for (int k = 0; k < 5; k++) {
        struct fm_request *r = net_irecv(1, got, sizeof(got), 0, k);

        net_fill(data, sizeof(data), (unsigned)k);
        ck_assert_int_eq(bsend(sizeof(data), k), 0);
        ck_assert_uint_gt(net.ch[0]->counters->bsend_bytes.now, sizeof(data));
        for (int n = 0; !r->is_done && n < 1000; n++) {
            ck_assert_int_ge(fm_progress(net.ch[1]), 0);
        }
        ck_assert_int_eq(net_end(r, NULL), MPI_SUCCESS);
        net_check(got, sizeof(got), (unsigned)k);
    }
    net_settle();
    net_stop();
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("bsend");
    TCase *tc = tcase_create("buffers");

    tcase_add_test(tc, as_many_fit_as_promised);
    tcase_add_test(tc, pieces_are_joined);
    tcase_add_test(tc, a_flush_waits_for_the_past_only);
    tcase_add_test(tc, what_was_received_takes_no_room);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

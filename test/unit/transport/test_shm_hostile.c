/* SPDX-License-Identifier: BSD-3-Clause */
/* A peer that writes what no correct one does, and files that are not what they were. */
#include "shm_trio.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/suite.h"

/* A broken peer can make us fail, not crash. */
START_TEST(rubbish_is_refused)
{
    struct fm_shm_transport *t;
    struct fm_shm_unit *u;

    connect_all();
    t = (struct fm_shm_transport *)side[1].tp;
    u = fm_shm_inbox_unit(t->inbox, t->inbox_len, t->inbox_head);
    if (_i == 0) {
        fm_shm_inbox_publish(u, 1 << 30, FM_SHM_MESSAGE);
    } else if (_i == 1) {
        u->len = 1 << 20;
        fm_shm_inbox_publish(u, 64, FM_SHM_MESSAGE);
    } else if (_i == 2) {
        fm_shm_inbox_publish(u, 64, (enum fm_shm_kind)77);
    } else if (_i == 3) {
        u->len = 1000;
        fm_shm_inbox_publish(u, 64, FM_SHM_FAST_RING);
    } else {
        for (int k = 0; k < 12; k++) {
            ck_assert_int_eq(side_send(&side[0], 1, 100), 0);
        }
        atomic_store(&t->header->n_claimed, 99); /* and nonsense in the last slot */
        drain(1);
        t->rx[0].ring->slots[t->rx[0].at & t->rx[0].mask].word =
            UINT64_C(0x7fffffff) << 32 | (t->rx[0].at + 1);
    }
    ck_assert_int_eq(fm_transport_poll(side[1].tp), -FM_E_PROTO);
}
END_TEST

/* ---- Files of the user ---------------------------------------------------------------------- */

static char path[] = "/tmp/fathom-test-XXXXXX";

/* A data file of the user, 100 bytes long. */
static int make_file(void)
{
    int fd;

    memcpy(path + strlen(path) - 6, "XXXXXX", 6);
    fd = mkstemp(path);
    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(ftruncate(fd, 100), 0);
    return fd;
}

/* It was neither enlarged nor written to. */
static void check_file(int fd)
{
    struct stat st;

    ck_assert_int_eq(fstat(fd, &st), 0);
    ck_assert_int_eq(st.st_size, 100);
    ck_assert_int_eq(st.st_blocks, 0);
    close(fd);
    unlink(path);
}

/* A program that has closed all descriptors and opened a file of its own finds that as it was. */
START_TEST(a_data_file_is_not_enlarged)
{
    struct fm_shm_transport *t;
    int fd = make_file();

    connect_all();
    t = (struct fm_shm_transport *)side[1].tp;
    ck_assert_int_eq(dup2(fd, t->fd), t->fd);
    for (int k = 0; k < 20; k++) {
        ck_assert_int_eq(side_send(&side[0], 1, 5000), 0);
        drain(1);
    }
    ck_assert_uint_eq(side[1].seen[0], 20);
#if FM_STATS
    ck_assert_uint_eq(side[0].counters.n_fast_refused, 1);
#endif
    check_file(fd);
}
END_TEST

/* Nor is it taken for a segment or for a pipe. */
START_TEST(a_data_file_is_no_segment_and_no_pipe)
{
    char address[FM_ADDRESS_MAX];
    struct fm_shm_transport *t;
    int fd = make_file();
    size_t len;

    for (int k = 0; k < N; k++) {
        side[k].has_company = true;
        ck_assert_int_eq(side_open(&side[k]), 0);
    }
    t = (struct fm_shm_transport *)side[1].tp;
    ck_assert_int_eq(t->tp.ops->address(&t->tp, address, &len), 0);
    ck_assert_int_eq(dup2(fd, _i ? t->wakeup[1] : t->fd), _i ? t->wakeup[1] : t->fd);
    ck_assert_int_eq(side_connect(&side[0], 1, address), -FM_E_UNSUPPORTED);
    check_file(fd);
}
END_TEST

/* ---- Transfers that a peer overwrites ------------------------------------------------------- */

enum { LEN = 600000 };

/* Start a transfer of side 0 that side 1 is asked to assist. False: not here. */
static bool start(struct fm_rma *rma, char *a, char *b)
{
    connect_all();
    *rma = (struct fm_rma){.op = FM_RMA_GET, .local = a, .len = LEN};
    rma->remote.addr = (uintptr_t)b;
    ((struct fm_shm_transport *)side[0].tp)->is_crowded = false;
    if (side[0].ep[1]->no_rma) {
        fprintf(stderr, "not tested: single copy is forbidden here\n");
        return false;
    }
    ck_assert_int_eq(side_rma_start(&side[0], 1, rma), 0);
    ck_assert(!side[0].is_done);
    return true;
}

/* The initiator goes by what it knows itself, and ends. */
START_TEST(an_overwritten_transfer_ends)
{
    char *a = calloc(2, LEN), *b = malloc(LEN);
    struct fm_shm_copy *c;
    struct fm_rma rma;

    memset(b, 7, LEN);
    if (start(&rma, a, b)) {
        c = &((struct fm_shm_transport *)side[0].tp)->header->copies[0];
        switch (_i) {
        case 0: /* harmless */
            c->len = 2 * LEN;
            c->chunk = 1;
            c->op = FM_RMA_PUT;
            break;
        case 1:
            c->n_assisted = 1000;
            break;
        case 2:
            c->n_lost = 1000;
            break;
        default: /* the same generation, and more chunks than there are */
            c->ticket |= FM_SHM_CHUNK_MASK << FM_SHM_CHUNK_BITS;
        }
        for (int k = 0; k < 1000 && !side[0].is_done; k++) {
            fm_transport_poll(side[0].tp);
        }
        ck_assert(side[0].is_done);
        ck_assert_int_eq(side[0].status, _i == 0 ? 0 : -FM_E_PROTO);
        ck_assert_int_eq(memcmp(a, b, _i == 0 ? LEN : 0), 0);
        for (int k = LEN; k < 2 * LEN; k++) {
            ck_assert_int_eq(a[k], 0);
        }
    }
    free(a);
    free(b);
}
END_TEST

/* The helper copies no chunk that does not exist. */
START_TEST(an_overwritten_request_is_refused)
{
    char *a = calloc(1, LEN), *b = malloc(LEN);
    struct fm_shm_copy *c;
    struct fm_rma rma;

    memset(b, 7, LEN);
    if (start(&rma, a, b)) {
        c = &((struct fm_shm_transport *)side[0].tp)->header->copies[0];
        if (_i == 0) {
            c->chunk = 0;
        } else if (_i == 1) {
            c->chunk = UINT64_MAX / 2;
            c->len = 0;
        } else if (_i == 2) {
            c->op = 77;
        } else {
            c->n_pieces = UINT32_MAX;
        }
        fm_transport_poll(side[1].tp);
        fm_transport_poll(side[1].tp);
        ck_assert_uint_eq(((struct fm_shm_transport *)side[1].tp)->n_assists, 0);
#if FM_STATS
        ck_assert_uint_eq(side[1].counters.n_cma, 0);
#endif
        while (!side[0].is_done) { /* the initiator copies what was lost */
            fm_transport_poll(side[0].tp);
        }
        ck_assert_int_eq(side[0].status, 0);
        ck_assert_int_eq(memcmp(a, b, LEN), 0);
    }
    free(a);
    free(b);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("shm_hostile");
    TCase *tc = tcase_create("shm_hostile");

    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_loop_test(tc, rubbish_is_refused, 0, 5);
    tcase_add_test(tc, a_data_file_is_not_enlarged);
    tcase_add_loop_test(tc, a_data_file_is_no_segment_and_no_pipe, 0, 2);
    tcase_add_loop_test(tc, an_overwritten_transfer_ends, 0, 4);
    tcase_add_loop_test(tc, an_overwritten_request_is_refused, 0, 4);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

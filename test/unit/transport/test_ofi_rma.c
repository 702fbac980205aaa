/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory operations of the libfabric transport, over a real provider whose name is the argument. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "ofi_side.h"
#include "support/suite.h"

START_TEST(memory_is_read_and_written)
{
    enum { LEN = 8 << 20, EDGE = 64 };
    char *far = malloc(LEN + EDGE), *near = malloc(LEN + EDGE);
    struct fm_mem mem, local = {0};
    struct fm_transport *tp = side[1].tp;

    if (!side[0].tp->has_rma) {
        ck_assert_int_eq(
            tp->ops->expose(tp, far, LEN, FM_MEM_READ | FM_MEM_WRITE, FM_MEM_REQUEST, &mem),
            -FM_E_UNSUPPORTED);
        goto out;
    }
    ck_assert_int_eq(
        tp->ops->expose(tp, far, LEN, FM_MEM_READ | FM_MEM_WRITE, FM_MEM_REQUEST, &mem), 0);
    if (side[0].tp->wants_local_mem) {
        ck_assert_int_eq(side[0].tp->ops->expose(side[0].tp, near, LEN, FM_MEM_READ | FM_MEM_WRITE,
                                                 FM_MEM_REQUEST, &local),
                         0);
    }
    for (size_t len = 1; len <= LEN; len = len * 3 + 1 < LEN || len == LEN ? len * 3 + 1 : LEN) {
        size_t at = len < LEN ? len % 1000 : 0;
        struct fm_rma rma = {.op = FM_RMA_GET, .local = near, .len = len, .remote = mem.rkey};

        at = at + len > LEN ? 0 : at;
        rma.remote_at = at;
        rma.mem = local.priv ? &local : NULL;
        for (size_t k = 0; k < len; k++) {
            far[at + k] = (char)(k * 31 + len);
        }
        memset(near, 0x55, len + EDGE);
        transfer(&rma);
        ck_assert_int_eq(side[0].status, 0);
        ck_assert_int_eq(memcmp(near, far + at, len), 0);
        ck_assert_int_eq(near[len], 0x55);

        for (size_t k = 0; k < len; k++) {
            near[k] = (char)(k * 13 + len);
        }
        rma.op = FM_RMA_PUT;
        transfer(&rma);
        ck_assert_int_eq(side[0].status, 0);
        ck_assert_int_eq(memcmp(near, far + at, len), 0);
    }
    ck_assert_uint_eq(side[0].w->n_reads, side[0].w->n_writes);
    ck_assert_uint_eq(side[0].w->bytes_read, side[0].w->bytes_written);
    ck_assert_uint_eq(side[0].w->transfers.now, 0);
    tp->ops->unexpose(tp, &mem);
    if (local.priv) {
        side[0].tp->ops->unexpose(side[0].tp, &local);
    }
out:
    free(far);
    free(near);
}
END_TEST

/* Exposed memory of side 1, and a transfer of side 0 to it. */
static struct fm_mem expose(void *addr, size_t len, unsigned rights)
{
    struct fm_mem mem;

    ck_assert_int_eq(side[1].tp->ops->expose(side[1].tp, addr, len, rights, FM_MEM_WINDOW, &mem),
                     0);
    return mem;
}

static void unexpose(struct fm_mem *mem)
{
    side[1].tp->ops->unexpose(side[1].tp, mem);
}

/* Three elements by one operation: the old ones in `old`, the new ones in the target. */
static void update(enum fm_rma_op op, enum fm_rma_type type, void *operand, void *compare,
                   void *target, void *old, size_t len)
{
    struct fm_mem mem = expose(target, len, FM_MEM_READ | FM_MEM_ATOMIC);
    struct fm_rma rma = {.op = op,
                         .type = type,
                         .local = operand,
                         .len = len,
                         .remote = mem.rkey,
                         .result = old,
                         .compare = compare};

    transfer(&rma);
    ck_assert_msg(side[0].status == 0, "op %d type %d: %s", op, type, fm_why());
    unexpose(&mem);
}

/* What the operations make of 6 and 3, element by element. */
static const struct {
    enum fm_rma_op op;
    int64_t is;
} sums[] = {
    {FM_RMA_SUM, 9},  {FM_RMA_PROD, 18}, {FM_RMA_MIN, 3},   {FM_RMA_MAX, 6},
    {FM_RMA_LAND, 1}, {FM_RMA_LOR, 1},   {FM_RMA_LXOR, 0},  {FM_RMA_BAND, 2},
    {FM_RMA_BOR, 7},  {FM_RMA_BXOR, 5},  {FM_RMA_NO_OP, 6}, {FM_RMA_REPLACE, 3},
};

#define EACH_TYPE(X)                                                                               \
    X(FM_RMA_INT8, int8_t)                                                                         \
    X(FM_RMA_UINT8, uint8_t)                                                                       \
    X(FM_RMA_INT16, int16_t)                                                                       \
    X(FM_RMA_UINT16, uint16_t)                                                                     \
    X(FM_RMA_INT32, int32_t)                                                                       \
    X(FM_RMA_UINT32, uint32_t)                                                                     \
    X(FM_RMA_INT64, int64_t)                                                                       \
    X(FM_RMA_UINT64, uint64_t)                                                                     \
    X(FM_RMA_FLOAT, float)                                                                         \
    X(FM_RMA_DOUBLE, double)

#define TRY(type, ctype)                                                                           \
    static void try_##ctype(enum fm_rma_op op, bool with_old, int64_t is)                          \
    {                                                                                              \
        ctype target[3] = {6, 6, 6}, operand[3] = {3, 3, 3}, old[3] = {0};                         \
                                                                                                   \
        update(op, type, operand, NULL, target, with_old ? old : NULL, sizeof(target));            \
        for (int k = 0; k < 3; k++) {                                                              \
            ck_assert_msg(target[k] == (ctype)is, "op %d type %d", op, type);                      \
            ck_assert(old[k] == (ctype)(with_old ? 6 : 0));                                        \
        }                                                                                          \
    }
EACH_TYPE(TRY)

#define ROW(type, ctype) [type] = try_##ctype,
static void (*const tries[FM_RMA_N_TYPES])(enum fm_rma_op op, bool with_old,
                                           int64_t is) = {EACH_TYPE(ROW)};

START_TEST(each_operation_on_each_type)
{
    uint64_t n = 0;

    for (size_t k = 0; k < FM_ARRAY_LEN(sums); k++) {
        for (int type = 0; type < FM_RMA_N_TYPES; type++) {
            if (!fm_transport_has_atomic(side[0].tp, sums[k].op, (enum fm_rma_type)type)) {
                continue;
            }
            tries[type](sums[k].op, true, sums[k].is);
            n++;
            if (sums[k].op != FM_RMA_NO_OP) {
                tries[type](sums[k].op, false, sums[k].is);
                n++;
            }
        }
    }
    if (side[0].tp->has_rma && strcmp(provider, "net") != 0) { /* which has no atomics */
        ck_assert(fm_transport_has_atomic(side[0].tp, FM_RMA_SUM, FM_RMA_INT64));
        ck_assert(fm_transport_has_atomic(side[0].tp, FM_RMA_SUM, FM_RMA_DOUBLE));
    }
    ck_assert_uint_eq(side[0].w->n_atomics, n);
    ck_assert(!fm_transport_has_atomic(side[0].tp, FM_RMA_BAND, FM_RMA_DOUBLE));
}
END_TEST

START_TEST(compare_and_swap)
{
    int64_t target[2] = {5, 6}, operand[2] = {50, 60}, compare[2] = {5, 7}, old[2] = {0};

    if (!fm_transport_has_atomic(side[0].tp, FM_RMA_CSWAP, FM_RMA_INT64)) {
        return;
    }
    update(FM_RMA_CSWAP, FM_RMA_INT64, operand, compare, target, old, sizeof(target));
    ck_assert_int_eq(target[0], 50);
    ck_assert_int_eq(target[1], 6);
    ck_assert_int_eq(old[0], 5);
    ck_assert_int_eq(old[1], 6);
}
END_TEST

/* Far more than the provider takes in one call, at an offset. */
START_TEST(long_updates_go_in_pieces)
{
    enum { N = 30011 };
    int32_t *target = calloc(N + 2, 4), *operand = calloc(N, 4), *old = calloc(N, 4);
    struct fm_mem mem;
    struct fm_rma rma = {.op = FM_RMA_SUM, .type = FM_RMA_INT32, .len = N * 4, .remote_at = 4};

    if (!fm_transport_has_atomic(side[0].tp, FM_RMA_SUM, FM_RMA_INT32)) {
        goto out;
    }
    mem = expose(target, (N + 2) * 4, FM_MEM_READ | FM_MEM_ATOMIC);
    ck_assert_uint_eq(side[1].w->windows.now, 1);
    rma.remote = mem.rkey;
    rma.local = operand;
    for (int k = 0; k < N; k++) {
        operand[k] = k;
    }
    transfer(&rma);
    ck_assert_int_eq(side[0].status, 0);
    rma.result = old;
    transfer(&rma);
    ck_assert_int_eq(side[0].status, 0);
    for (int k = 0; k < N; k++) {
        ck_assert_int_eq(target[k + 1], 2 * k);
        ck_assert_int_eq(old[k], k);
    }
    ck_assert_int_eq(target[0] | target[N + 1], 0);
    ck_assert_uint_eq(side[0].w->atomic_bytes, 2 * rma.len);
    unexpose(&mem);
    ck_assert_uint_eq(side[1].w->windows.now, 0);
out:
    free(target);
    free(operand);
    free(old);
}
END_TEST

/* Where the provider does not confirm visibility, the last byte is read back. */
START_TEST(without_delivery_complete_a_byte_is_read_back)
{
    struct fm_ofi *ofi = fm_container_of(side[0].tp, struct fm_ofi, tp);
    int64_t target = 1, operand = 2;
    struct fm_rma put = {.op = FM_RMA_PUT, .local = &operand, .len = 8};
    struct fm_mem mem;

    if (!side[0].tp->has_rma) {
        return;
    }
    mem = expose(&target, 8, FM_MEM_WRITE);
    put.remote = mem.rkey;
    ofi->lacks_delivery = true;
    ((char *)&ofi->read_back)[0] = 9;
    transfer(&put);
    ck_assert_int_eq(side[0].status, 0);
    ck_assert_int_eq(target, 2);
    ck_assert_int_eq(((char *)&ofi->read_back)[0], ((char *)&target)[7]);
    unexpose(&mem);
}
END_TEST

/* A transfer beyond the rights of its key fails, and no other is affected. */
START_TEST(rights_hold)
{
    static char target[64], near[64];
    struct fm_mem mem;
    struct fm_rma rma = {.op = _i ? FM_RMA_SUM : FM_RMA_PUT,
                         .type = FM_RMA_INT32,
                         .local = near,
                         .len = sizeof(near)};

    if (!side[0].tp->has_rma || (_i && !fm_transport_has_atomic(side[0].tp, rma.op, rma.type)) ||
        strcmp(provider, "shm") ==
            0) { /* its initiator waits for ever (1.17): rights_hold_in_shm */
        return;
    }
    memset(near, 1, sizeof(near));
    mem = expose(target, sizeof(target), FM_MEM_READ);
    rma.remote = mem.rkey;
    transfer(&rma);
    ck_assert_int_lt(side[0].status, 0);
    ck_assert_int_eq(target[0], 0);
    unexpose(&mem);
}
END_TEST

/* The shm provider (1.17) does not tell the initiator that the target has refused. */
START_TEST(rights_hold_in_shm)
{
    static char target[64], near[64] = {1};
    static struct fm_rma rma; /* not on the stack: it ends when the transport is closed */
    struct fm_mem mem;

    if (strcmp(provider, "shm") != 0) {
        return;
    }
    mem = expose(target, sizeof(target), FM_MEM_READ);
    rma = (struct fm_rma){.op = FM_RMA_PUT,
                          .local = near,
                          .len = sizeof(near),
                          .remote = mem.rkey,
                          .done = transfer_done};
    send_surely(&side[0], 100, false); /* the connection is made */
    wait_got(&side[1], 1);
    ck_assert_int_eq(side[0].to_other->ops->rma(side[0].to_other, &rma), 0);
    for (int k = 0; k < 1000; k++) {
        poll_both();
    }
    ck_assert_int_eq(target[0], 0);
    unexpose(&mem);
}
END_TEST

START_TEST(keys_cannot_be_guessed)
{
    static char target[64];
    struct fm_mem mem[64];
    uint64_t all_or = 0, all_and = UINT64_MAX;
    struct fm_ofi *ofi = fm_container_of(side[1].tp, struct fm_ofi, tp);

    if (!side[1].tp->has_rma || (ofi->mr_mode & FI_MR_PROV_KEY) ||
        ofi->info->domain_attr->mr_key_size < 8) {
        return;
    }
    for (size_t k = 0; k < FM_ARRAY_LEN(mem); k++) {
        mem[k] = expose(target, sizeof(target), FM_MEM_READ);
        all_or |= mem[k].rkey.key;
        all_and &= mem[k].rkey.key;
    }
    /* Each bit but the lowest is 0 in one and 1 in another: missed once in 2^57 runs. */
    ck_assert_uint_eq(all_or, UINT64_MAX);
    ck_assert_uint_eq(all_and, 1);
    for (size_t k = 0; k < FM_ARRAY_LEN(mem); k++) {
        unexpose(&mem[k]);
    }
}
END_TEST

int main(int argc, char **argv)
{
    Suite *suite = suite_create("ofi_rma");
    TCase *tc = tcase_create("two sides");

    if (!sides_can_open(argc > 1 ? argv[1] : "tcp")) {
        return 77;
    }
    tcase_set_timeout(tc, 60);
    tcase_add_checked_fixture(tc, sides_open, sides_close);
    tcase_add_test(tc, memory_is_read_and_written);
    tcase_add_test(tc, each_operation_on_each_type);
    tcase_add_test(tc, compare_and_swap);
    tcase_add_test(tc, long_updates_go_in_pieces);
    tcase_add_test(tc, without_delivery_complete_a_byte_is_read_back);
    tcase_add_loop_test(tc, rights_hold, 0, 2);
    tcase_add_test(tc, rights_hold_in_shm);
    tcase_add_test(tc, keys_cannot_be_guessed);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

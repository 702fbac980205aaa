/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Long messages in large pieces, that a library may move without packing: each layout to each other
 * in a ring, several at a time, and into buffers that are too short.
 */
#include "../check.h"

#include <string.h>

enum { LEN = 1 << 20, ROOM = 4 << 20, N_TYPES = 7, N_FLYING = 3 };

static MPI_Datatype types[N_TYPES];

/* Layouts of LEN bytes within [0, ROOM). */
static void make_types(void)
{
    int sizes[3] = {24, 40, 4096}, parts[3] = {16, 16, 4096}, starts[3] = {3, 20, 0};
    int lens[200], at[200];
    MPI_Datatype t;

    OK(MPI_Type_contiguous(LEN, MPI_BYTE, &types[0]));
    OK(MPI_Type_vector(16, LEN / 16, LEN / 8, MPI_BYTE, &types[1]));
    OK(MPI_Type_vector(128, LEN / 128, LEN / 64, MPI_BYTE, &types[2]));
    OK(MPI_Type_create_subarray(3, sizes, parts, starts, MPI_ORDER_C, MPI_BYTE, &types[3]));
    /* Backwards. */
    OK(MPI_Type_vector(8, LEN / 8, -LEN / 4, MPI_BYTE, &t));
    OK(MPI_Type_create_hindexed(1, (int[]){1}, (MPI_Aint[]){7 * LEN / 4}, t, &types[4]));
    OK(MPI_Type_free(&t));
    /* Of many lengths: few blocks, and more than one would describe one by one. */
    for (int i = 0; i < 200; i++) {
        lens[i] = i < 199 ? 5000 + i : LEN - 199 * 5000 - 199 * 198 / 2;
        at[i] = i * 17001;
    }
    OK(MPI_Type_indexed(200, lens, at, MPI_BYTE, &types[5]));
    for (int i = 0; i < 20; i++) {
        lens[i] = i < 19 ? 50000 + i : LEN - 19 * 50000 - 19 * 18 / 2;
        at[i] = (19 - i) * 200003;
    }
    OK(MPI_Type_indexed(20, lens, at, MPI_BYTE, &types[6]));
    for (int i = 0; i < N_TYPES; i++) {
        int size;

        OK(MPI_Type_size(types[i], &size));
        CHECK_EQ(size, LEN);
        OK(MPI_Type_commit(&types[i]));
    }
}

static unsigned char byte_at(size_t k, int salt)
{
    return (unsigned char)(k * 7 + (k >> 9) + (k >> 17) + (size_t)salt * 41);
}

/* A buffer whose packed form is the pattern. */
static void fill(char *buf, MPI_Datatype t, char *packed, int salt)
{
    int at = 0;

    for (size_t k = 0; k < LEN; k++) {
        packed[k] = (char)byte_at(k, salt);
    }
    memset(buf, 0x55, ROOM);
    OK(MPI_Unpack(packed, LEN, &at, buf, 1, t, MPI_COMM_WORLD));
}

/* `len` bytes have come, in the right places and no others. */
static void check(const char *buf, MPI_Datatype t, char *packed, int salt, int len)
{
    static char want[ROOM];
    int at = 0, position = 0;

    memset(want, 0x55, ROOM);
    memset(packed, 0x55, LEN);
    OK(MPI_Pack(want, 1, t, packed, LEN, &at, MPI_COMM_WORLD));
    for (int k = 0; k < len; k++) {
        packed[k] = (char)byte_at((size_t)k, salt);
    }
    OK(MPI_Unpack(packed, LEN, &position, want, 1, t, MPI_COMM_WORLD));
    CHECK(memcmp(buf, want, ROOM) == 0);
}

static void exchange(char **out, char **in, char *packed, int i, int j, int rank, int size)
{
    int to = (rank + 1) % size, from = (rank + size - 1) % size;
    MPI_Request r[2 * N_FLYING];
    MPI_Status st[2 * N_FLYING];

    for (int k = 0; k < N_FLYING; k++) {
        fill(out[k], types[i], packed, rank + k);
        memset(in[k], 0x55, ROOM);
        if (k % 2) { /* expected or not */
            OK(MPI_Irecv(in[k], 1, types[j], from, k, MPI_COMM_WORLD, &r[k]));
        }
        OK(MPI_Isend(out[k], 1, types[i], to, k, MPI_COMM_WORLD, &r[N_FLYING + k]));
    }
    for (int k = 0; k < N_FLYING; k += 2) {
        OK(MPI_Irecv(in[k], 1, types[j], from, k, MPI_COMM_WORLD, &r[k]));
    }
    OK(MPI_Waitall(2 * N_FLYING, r, st));
    for (int k = 0; k < N_FLYING; k++) {
        int n;

        OK(MPI_Get_elements(&st[k], types[j], &n));
        CHECK_EQ(n, LEN);
        check(in[k], types[j], packed, from + k, LEN);
    }
}

/* The receive takes three quarters of the message, within one of its own pieces. */
static void truncate(char *out, char *in, char *packed, int i, int rank, int size)
{
    MPI_Datatype shorter;
    MPI_Request r;

    OK(MPI_Type_vector(3, LEN / 4, LEN / 2, MPI_BYTE, &shorter));
    OK(MPI_Type_commit(&shorter));
    fill(out, types[i], packed, rank);
    memset(in, 0x55, ROOM);
    OK(MPI_Isend(out, 1, types[i], (rank + 1) % size, 9, MPI_COMM_WORLD, &r));
    FAILS(MPI_Recv(in, 1, shorter, (rank + size - 1) % size, 9, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
          MPI_ERR_TRUNCATE);
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    for (size_t k = 0; k < (size_t)3 * LEN / 2; k++) {
        size_t block = k / (LEN / 2), in_block = k % (LEN / 2);
        char want = in_block < LEN / 4
                        ? (char)byte_at(block * (LEN / 4) + in_block, (rank + size - 1) % size)
                        : 0x55;

        CHECK(in[k] == want);
    }
    OK(MPI_Type_free(&shorter));
}

int main(int argc, char **argv)
{
    char *out[N_FLYING], *in[N_FLYING], *packed = malloc(LEN);
    int rank, size;

    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    CHECK(packed);
    for (int k = 0; k < N_FLYING; k++) {
        out[k] = malloc(ROOM);
        in[k] = malloc(ROOM);
        CHECK(out[k] && in[k]);
    }
    make_types();
    for (int i = 0; i < N_TYPES; i++) {
        for (int j = i % 2; j < N_TYPES; j += 2) { /* half of the pairs */
            exchange(out, in, packed, i, j, rank, size);
        }
        truncate(out[0], in[0], packed, i, rank, size);
    }
    for (int i = 0; i < N_TYPES; i++) {
        OK(MPI_Type_free(&types[i]));
    }
    for (int k = 0; k < N_FLYING; k++) {
        free(out[k]);
        free(in[k]);
    }
    free(packed);
    OK(MPI_Finalize());
    return 0;
}

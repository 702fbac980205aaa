/* SPDX-License-Identifier: BSD-3-Clause */
/* Bad arguments to the functions of chapter 5: the class that the standard gives, and no harm. */
#include "../check.h"
#include "../knob.h"

#include <string.h>

static MPI_Datatype t; /* any result; must stay as it is */
static int two[2] = {1, 1};
static int negative[2] = {1, -1};
static MPI_Aint at[2] = {0, 8};
static MPI_Count big[2] = {1, 1};
static MPI_Count big_at[2] = {0, 8};
static MPI_Datatype types[2] = {MPI_INT, MPI_DATATYPE_NULL};

/* The same bad argument in both forms. */
#define BOTH(small, large, klass)                                                                  \
    do {                                                                                           \
        FAILS(small, klass);                                                                       \
        FAILS(large, klass);                                                                       \
    } while (0)

static void simple_constructors(void)
{
    BOTH(MPI_Type_contiguous(-1, MPI_INT, &t), MPI_Type_contiguous_c(-1, MPI_INT, &t),
         MPI_ERR_COUNT);
    BOTH(MPI_Type_contiguous(1, MPI_DATATYPE_NULL, &t),
         MPI_Type_contiguous_c(1, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    BOTH(MPI_Type_contiguous(1, MPI_INT, NULL), MPI_Type_contiguous_c(1, MPI_INT, NULL),
         MPI_ERR_ARG);
    BOTH(MPI_Type_vector(-1, 1, 1, MPI_INT, &t), MPI_Type_vector_c(-1, 1, 1, MPI_INT, &t),
         MPI_ERR_COUNT);
    BOTH(MPI_Type_vector(1, -1, 1, MPI_INT, &t), MPI_Type_vector_c(1, -1, 1, MPI_INT, &t),
         MPI_ERR_ARG);
    BOTH(MPI_Type_vector(1, 1, 1, (MPI_Datatype)two, &t),
         MPI_Type_vector_c(1, 1, 1, (MPI_Datatype)two, &t), MPI_ERR_TYPE);
    BOTH(MPI_Type_create_hvector(-1, 1, 1, MPI_INT, &t),
         MPI_Type_create_hvector_c(-1, 1, 1, MPI_INT, &t), MPI_ERR_COUNT);
    BOTH(MPI_Type_create_hvector(1, -3, 1, MPI_INT, &t),
         MPI_Type_create_hvector_c(1, -3, 1, MPI_INT, &t), MPI_ERR_ARG);
    BOTH(MPI_Type_create_resized(MPI_DATATYPE_NULL, 0, 8, &t),
         MPI_Type_create_resized_c(MPI_DATATYPE_NULL, 0, 8, &t), MPI_ERR_TYPE);
    FAILS(MPI_Type_dup(MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    FAILS(MPI_Type_dup(MPI_INT, NULL), MPI_ERR_ARG);
    /* Beyond MPI_Count. */
    FAILS(MPI_Type_contiguous_c(INT64_MAX / 2, MPI_DOUBLE, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_hvector_c(3, 1, INT64_MAX / 2 + 1, MPI_DOUBLE, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_resized_c(MPI_INT, INT64_MAX, 1, &t), MPI_ERR_ARG);
}

static void lists(void)
{
    BOTH(MPI_Type_indexed(-1, two, two, MPI_INT, &t), MPI_Type_indexed_c(-1, big, big, MPI_INT, &t),
         MPI_ERR_COUNT);
    BOTH(MPI_Type_indexed(2, NULL, two, MPI_INT, &t), MPI_Type_indexed_c(2, big, NULL, MPI_INT, &t),
         MPI_ERR_ARG);
    FAILS(MPI_Type_indexed(2, negative, two, MPI_INT, &t), MPI_ERR_ARG);
    BOTH(MPI_Type_create_hindexed(2, two, NULL, MPI_INT, &t),
         MPI_Type_create_hindexed_c(2, NULL, big_at, MPI_INT, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_hindexed(2, negative, at, MPI_INT, &t), MPI_ERR_ARG);
    BOTH(MPI_Type_create_hindexed(2, two, at, MPI_DATATYPE_NULL, &t),
         MPI_Type_create_hindexed_c(2, big, big_at, MPI_DATATYPE_NULL, &t), MPI_ERR_TYPE);
    BOTH(MPI_Type_create_indexed_block(2, -1, two, MPI_INT, &t),
         MPI_Type_create_indexed_block_c(2, -1, big, MPI_INT, &t), MPI_ERR_ARG);
    BOTH(MPI_Type_create_indexed_block(-2, 1, two, MPI_INT, &t),
         MPI_Type_create_indexed_block_c(-2, 1, big, MPI_INT, &t), MPI_ERR_COUNT);
    BOTH(MPI_Type_create_hindexed_block(2, -1, at, MPI_INT, &t),
         MPI_Type_create_hindexed_block_c(2, -1, big_at, MPI_INT, &t), MPI_ERR_ARG);
    BOTH(MPI_Type_create_hindexed_block(2, 1, NULL, MPI_INT, &t),
         MPI_Type_create_hindexed_block_c(2, 1, NULL, MPI_INT, &t), MPI_ERR_ARG);
    BOTH(MPI_Type_create_struct(2, two, at, types, &t),
         MPI_Type_create_struct_c(2, big, big_at, types, &t), MPI_ERR_TYPE);
    BOTH(MPI_Type_create_struct(2, two, at, NULL, &t),
         MPI_Type_create_struct_c(2, big, big_at, NULL, &t), MPI_ERR_ARG);
    BOTH(MPI_Type_create_struct(-1, two, at, types, &t),
         MPI_Type_create_struct_c(-1, big, big_at, types, &t), MPI_ERR_COUNT);
}

static void arrays(void)
{
    int sizes[2] = {4, 6}, subs[2] = {2, 3}, starts[2] = {1, 2}, late[2] = {3, 0}, none[2] = {0, 1};
    MPI_Count sizes_c[2] = {4, 6}, subs_c[2] = {2, 7}, starts_c[2] = {1, 0};
    int block[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_CYCLIC}, odd[2] = {5, 5};
    int dargs[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG}, small[2] = {1, 1};
    int grid[2] = {2, 3};

    FAILS(MPI_Type_create_subarray(0, sizes, subs, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_DIMS);
    FAILS(MPI_Type_create_subarray(2, sizes, subs, late, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, none, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, none, subs, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, subs, starts, 77, MPI_INT, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, NULL, starts, MPI_ORDER_C, MPI_INT, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray_c(2, sizes_c, subs_c, starts_c, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_ARG);
    FAILS(MPI_Type_create_subarray(2, sizes, subs, starts, MPI_ORDER_C, MPI_DATATYPE_NULL, &t),
          MPI_ERR_TYPE);
    FAILS(MPI_Type_create_darray(6, 6, 2, sizes, block, dargs, grid, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_RANK);
    FAILS(MPI_Type_create_darray(5, 0, 2, sizes, block, dargs, grid, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_ARG);
    FAILS(MPI_Type_create_darray(6, 0, 2, sizes, odd, dargs, grid, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_ARG);
    FAILS(MPI_Type_create_darray(6, 0, 2, sizes, block, small, grid, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_ARG);
    FAILS(MPI_Type_create_darray_c(6, -1, 2, sizes_c, block, dargs, grid, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_RANK);
    FAILS(MPI_Type_create_darray_c(6, 0, -2, sizes_c, block, dargs, grid, MPI_ORDER_C, MPI_INT, &t),
          MPI_ERR_DIMS);
}

static void chosen(void)
{
    FAILS(MPI_Type_create_f90_real(MPI_UNDEFINED, MPI_UNDEFINED, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_real(500, 1, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_complex(6, 100000, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_integer(400, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_integer(3, NULL), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_integer(MPI_UNDEFINED, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_integer(-1, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_real(-1, 3, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_create_f90_complex(3, -1, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_match_size(MPI_TYPECLASS_REAL, 3, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_match_size(-5, 4, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_get_value_index(MPI_DATATYPE_NULL, MPI_INT, &t), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_value_index(MPI_INT, MPI_INT, NULL), MPI_ERR_ARG);
    FAILS(MPI_Get_address(two, NULL), MPI_ERR_ARG);
}

static void life(void)
{
    MPI_Datatype null = MPI_DATATYPE_NULL, byte = MPI_BYTE, v, copy, f;

    FAILS(MPI_Type_commit(NULL), MPI_ERR_ARG);
    FAILS(MPI_Type_commit(&null), MPI_ERR_TYPE);
    FAILS(MPI_Type_free(NULL), MPI_ERR_ARG);
    FAILS(MPI_Type_free(&null), MPI_ERR_TYPE);
    FAILS(MPI_Type_free(&byte), MPI_ERR_TYPE);
    OK(MPI_Type_create_f90_integer(9, &f));
    FAILS(MPI_Type_free(&f), MPI_ERR_TYPE);
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &v));
    copy = v;
    OK(MPI_Type_free(&v));
    CHECK(v == MPI_DATATYPE_NULL);
    FAILS(MPI_Type_free(&copy), MPI_ERR_TYPE); /* freed */
    FAILS(MPI_Type_commit(&copy), MPI_ERR_TYPE);
    /* Freed, but alive as a part. */
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &v));
    OK(MPI_Type_contiguous(2, v, &f));
    copy = v;
    OK(MPI_Type_free(&v));
    FAILS(MPI_Type_free(&copy), MPI_ERR_TYPE);
    OK(MPI_Type_free(&f));
}

static void questions(void)
{
    int i, j, k, c;
    MPI_Aint a, b;
    MPI_Count x, y, z, w;
    MPI_Datatype v, large;

    BOTH(MPI_Type_size(MPI_DATATYPE_NULL, &i), MPI_Type_size_c(MPI_DATATYPE_NULL, &x),
         MPI_ERR_TYPE);
    FAILS(MPI_Type_size_x(MPI_INT, NULL), MPI_ERR_ARG);
    BOTH(MPI_Type_get_extent(MPI_DATATYPE_NULL, &a, &b),
         MPI_Type_get_extent_c(MPI_DATATYPE_NULL, &x, &y), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_extent_x(MPI_INT, NULL, &y), MPI_ERR_ARG);
    BOTH(MPI_Type_get_true_extent(MPI_INT, &a, NULL), MPI_Type_get_true_extent_c(MPI_INT, &x, NULL),
         MPI_ERR_ARG);
    FAILS(MPI_Type_get_true_extent_x(MPI_DATATYPE_NULL, &x, &y), MPI_ERR_TYPE);
    BOTH(MPI_Type_get_envelope(MPI_DATATYPE_NULL, &i, &j, &k, &c),
         MPI_Type_get_envelope_c(MPI_DATATYPE_NULL, &x, &y, &z, &w, &c), MPI_ERR_TYPE);
    BOTH(MPI_Type_get_envelope(MPI_INT, &i, &j, &k, NULL),
         MPI_Type_get_envelope_c(MPI_INT, &x, NULL, &z, &w, &c), MPI_ERR_ARG);
    /* Named types have no contents. */
    BOTH(MPI_Type_get_contents(MPI_INT, 0, 0, 0, NULL, NULL, NULL),
         MPI_Type_get_contents_c(MPI_INT, 0, 0, 0, 0, NULL, NULL, NULL, NULL), MPI_ERR_TYPE);
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &v));
    OK(MPI_Type_vector_c(2, 1, 2, MPI_INT, &large));
    FAILS(MPI_Type_get_contents(v, 2, 0, 1, two, NULL, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_get_contents(v, 3, 0, 1, NULL, NULL, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_get_contents(v, 3, 0, 0, two, NULL, &t), MPI_ERR_ARG);
    FAILS(MPI_Type_get_envelope(large, &i, &j, &k, &c), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_contents(large, 3, 0, 1, two, NULL, &t), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_contents_c(large, 0, 0, 2, 1, NULL, NULL, big, &t), MPI_ERR_ARG);
    OK(MPI_Type_free(&v));
    OK(MPI_Type_free(&large));
}

static void names_and_attributes(void)
{
    char name[MPI_MAX_OBJECT_NAME];
    int len, flag, keyval = MPI_KEYVAL_INVALID;
    void *value;

    FAILS(MPI_Type_set_name(MPI_DATATYPE_NULL, "x"), MPI_ERR_TYPE);
    FAILS(MPI_Type_set_name(MPI_INT, NULL), MPI_ERR_ARG);
    FAILS(MPI_Type_get_name((MPI_Datatype)MPI_COMM_WORLD, name, &len), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_name(MPI_INT, NULL, &len), MPI_ERR_ARG);
    FAILS(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, NULL, NULL),
          MPI_ERR_ARG);
    FAILS(MPI_Type_free_keyval(&keyval), MPI_ERR_KEYVAL);
    FAILS(MPI_Type_set_attr(MPI_INT, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
    FAILS(MPI_Type_get_attr(MPI_INT, MPI_KEYVAL_INVALID, &value, &flag), MPI_ERR_KEYVAL);
    FAILS(MPI_Type_delete_attr(MPI_INT, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &keyval, NULL));
    FAILS(MPI_Type_set_attr(MPI_DATATYPE_NULL, keyval, NULL), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_attr(MPI_DATATYPE_NULL, keyval, &value, &flag), MPI_ERR_TYPE);
    FAILS(MPI_Type_get_attr(MPI_INT, keyval, &value, NULL), MPI_ERR_ARG);
    FAILS(MPI_Type_delete_attr(MPI_DATATYPE_NULL, keyval), MPI_ERR_TYPE);
    OK(MPI_Type_free_keyval(&keyval));
}

static void packing(void)
{
    int pos = 0, in[4] = {0}, n;
    MPI_Count pos_c = 0, n_c;
    MPI_Aint pos_a = 0, n_a;
    char buf[16];
    MPI_Comm self = MPI_COMM_SELF;
    MPI_Datatype v;

    BOTH(MPI_Pack(in, 1, MPI_INT, buf, 16, &pos, MPI_COMM_NULL),
         MPI_Pack_c(in, 1, MPI_INT, buf, 16, &pos_c, MPI_COMM_NULL), MPI_ERR_COMM);
    BOTH(MPI_Pack(in, -1, MPI_INT, buf, 16, &pos, self),
         MPI_Pack_c(in, -1, MPI_INT, buf, 16, &pos_c, self), MPI_ERR_COUNT);
    BOTH(MPI_Pack(in, 1, MPI_DATATYPE_NULL, buf, 16, &pos, self),
         MPI_Pack_c(in, 1, MPI_DATATYPE_NULL, buf, 16, &pos_c, self), MPI_ERR_TYPE);
    BOTH(MPI_Pack(in, 1, MPI_INT, buf, 16, NULL, self),
         MPI_Pack_c(in, 1, MPI_INT, buf, 16, NULL, self), MPI_ERR_ARG);
    BOTH(MPI_Pack(in, 5, MPI_INT, buf, 16, &pos, self),
         MPI_Pack_c(in, 5, MPI_INT, buf, 16, &pos_c, self), MPI_ERR_TRUNCATE);
    BOTH(MPI_Pack(NULL, 1, MPI_INT, buf, 16, &pos, self),
         MPI_Pack_c(NULL, 1, MPI_INT, buf, 16, &pos_c, self), MPI_ERR_BUFFER);
    BOTH(MPI_Unpack(buf, 16, &pos, in, 5, MPI_INT, self),
         MPI_Unpack_c(buf, 16, &pos_c, in, 5, MPI_INT, self), MPI_ERR_TRUNCATE);
    BOTH(MPI_Unpack(NULL, 16, &pos, in, 4, MPI_INT, self),
         MPI_Unpack_c(buf, 16, &pos_c, NULL, 4, MPI_INT, self), MPI_ERR_BUFFER);
    pos = 17;
    FAILS(MPI_Pack(in, 0, MPI_INT, buf, 16, &pos, self), MPI_ERR_ARG);
    CHECK_EQ(pos, 17);
    pos = -1;
    FAILS(MPI_Unpack(buf, 16, &pos, in, 0, MPI_INT, self), MPI_ERR_ARG);
    BOTH(MPI_Pack_size(-1, MPI_INT, self, &n), MPI_Pack_size_c(-1, MPI_INT, self, &n_c),
         MPI_ERR_COUNT);
    BOTH(MPI_Pack_size(1, MPI_INT, MPI_COMM_NULL, &n),
         MPI_Pack_size_c(1, MPI_INT, MPI_COMM_NULL, &n_c), MPI_ERR_COMM);
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &v)); /* not committed */
    pos = 0;
    FAILS(MPI_Pack(in, 1, v, buf, 16, &pos, self), MPI_ERR_TYPE);
    OK(MPI_Type_free(&v));
    BOTH(MPI_Pack_external("native", in, 1, MPI_INT, buf, 16, &pos_a),
         MPI_Pack_external_c("native", in, 1, MPI_INT, buf, 16, &pos_c), MPI_ERR_ARG);
    BOTH(MPI_Pack_external("external32", in, 5, MPI_INT, buf, 16, &pos_a),
         MPI_Pack_external_c("external32", in, 5, MPI_INT, buf, 16, &pos_c), MPI_ERR_TRUNCATE);
    BOTH(MPI_Unpack_external("external32", buf, 16, &pos_a, in, 1, MPI_DATATYPE_NULL),
         MPI_Unpack_external_c("external32", buf, 16, &pos_c, in, 1, MPI_DATATYPE_NULL),
         MPI_ERR_TYPE);
    BOTH(MPI_Unpack_external(NULL, buf, 16, &pos_a, in, 1, MPI_INT),
         MPI_Unpack_external_c("", buf, 16, &pos_c, in, 1, MPI_INT), MPI_ERR_ARG);
    BOTH(MPI_Pack_external_size("x", 1, MPI_INT, &n_a),
         MPI_Pack_external_size_c("x", 1, MPI_INT, &n_c), MPI_ERR_ARG);
    BOTH(MPI_Pack_external_size("external32", -1, MPI_INT, &n_a),
         MPI_Pack_external_size_c("external32", -1, MPI_INT, &n_c), MPI_ERR_COUNT);
}

static void statuses(void)
{
    MPI_Status s;
    int n;
    MPI_Count n_c;

    memset(&s, 0, sizeof(s));
    BOTH(MPI_Get_count(&s, MPI_DATATYPE_NULL, &n), MPI_Get_count_c(&s, MPI_DATATYPE_NULL, &n_c),
         MPI_ERR_TYPE);
    BOTH(MPI_Get_count(MPI_STATUS_IGNORE, MPI_INT, &n), MPI_Get_count_c(&s, MPI_INT, NULL),
         MPI_ERR_ARG);
    BOTH(MPI_Get_elements(&s, MPI_DATATYPE_NULL, &n),
         MPI_Get_elements_c(&s, MPI_DATATYPE_NULL, &n_c), MPI_ERR_TYPE);
    FAILS(MPI_Get_elements_x(MPI_STATUS_IGNORE, MPI_INT, &n_c), MPI_ERR_ARG);
    BOTH(MPI_Status_set_elements(&s, MPI_DATATYPE_NULL, 1),
         MPI_Status_set_elements_c(&s, MPI_DATATYPE_NULL, 1), MPI_ERR_TYPE);
    FAILS(MPI_Status_set_elements_x(&s, MPI_INT, -1), MPI_ERR_COUNT);
}

/* MPI_CHAR is taken as an integer unless op_strict is set; MPI_WCHAR never is (6.9.2). */
static void characters(void)
{
    char in[2] = {1, -2}, inout[2] = {3, 5};
    int provided;

    OK(MPI_Reduce_local(in, inout, 2, MPI_CHAR, MPI_SUM));
    CHECK(inout[0] == 4 && inout[1] == 3);
    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    if (knob("op_strict", 1)) {
        FAILS(MPI_Reduce_local(in, inout, 2, MPI_CHAR, MPI_SUM), MPI_ERR_OP);
        CHECK_EQ(inout[0], 4);
    }
    knob("op_strict", 0);
    OK(MPI_T_finalize());
}

static void operations(void)
{
    MPI_Op op = MPI_OP_NULL, sum = MPI_SUM;
    int n, a[2] = {1, 2}, b[2] = {3, 4};
    MPI_Datatype v;

    BOTH(MPI_Op_create(NULL, 1, &op), MPI_Op_create_c(NULL, 1, &op), MPI_ERR_ARG);
    FAILS(MPI_Op_free(&op), MPI_ERR_OP);
    FAILS(MPI_Op_free(&sum), MPI_ERR_OP);
    FAILS(MPI_Op_free(NULL), MPI_ERR_ARG);
    FAILS(MPI_Op_commutative(MPI_OP_NULL, &n), MPI_ERR_OP);
    FAILS(MPI_Op_commutative(MPI_SUM, NULL), MPI_ERR_ARG);
    BOTH(MPI_Reduce_local(a, b, -1, MPI_INT, MPI_SUM),
         MPI_Reduce_local_c(a, b, -1, MPI_INT, MPI_SUM), MPI_ERR_COUNT);
    BOTH(MPI_Reduce_local(a, b, 2, MPI_DOUBLE, MPI_BAND),
         MPI_Reduce_local_c(a, b, 2, MPI_WCHAR, MPI_SUM), MPI_ERR_OP);
    BOTH(MPI_Reduce_local(a, b, 2, MPI_INT, MPI_OP_NULL),
         MPI_Reduce_local_c(a, b, 2, MPI_INT, MPI_REPLACE), MPI_ERR_OP);
    BOTH(MPI_Reduce_local(a, b, 2, MPI_DATATYPE_NULL, MPI_SUM),
         MPI_Reduce_local_c(a, b, 2, MPI_DATATYPE_NULL, MPI_SUM), MPI_ERR_TYPE);
    BOTH(MPI_Reduce_local(a, a, 2, MPI_INT, MPI_SUM),
         MPI_Reduce_local_c(MPI_IN_PLACE, b, 2, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    FAILS(MPI_Reduce_local(NULL, b, 2, MPI_INT, MPI_SUM), MPI_ERR_BUFFER);
    OK(MPI_Type_contiguous(2, MPI_INT, &v));
    OK(MPI_Type_commit(&v));
    FAILS(MPI_Reduce_local(a, b, 1, v, MPI_SUM), MPI_ERR_OP);
    OK(MPI_Type_free(&v));
    CHECK(b[0] == 3 && b[1] == 4 && a[0] == 1 && a[1] == 2);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    t = MPI_DATATYPE_NULL;
    simple_constructors();
    lists();
    arrays();
    chosen();
    life();
    questions();
    names_and_attributes();
    packing();
    statuses();
    characters();
    operations();
    CHECK(t == MPI_DATATYPE_NULL);
    OK(MPI_Finalize());
    return 0;
}

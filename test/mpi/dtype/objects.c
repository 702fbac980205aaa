/* SPDX-License-Identifier: BSD-3-Clause */
/* Names and attributes of datatypes, operations of the user, reductions within a process
   (MPI-5.0 7.7.4, 7.8, 6.9). */
#include "../check.h"

#include <stdbool.h>
#include <string.h>

static void names(void)
{
    char name[MPI_MAX_OBJECT_NAME], longer[MPI_MAX_OBJECT_NAME + 50];
    int len;
    MPI_Datatype t, u;

    OK(MPI_Type_get_name(MPI_DOUBLE, name, &len));
    CHECK(strcmp(name, "MPI_DOUBLE") == 0 && len == 10);
    /* Two names for one: table 3.2 calls MPI_C_FLOAT_COMPLEX and MPI_LONG_LONG the synonyms. */
    OK(MPI_Type_get_name(MPI_C_FLOAT_COMPLEX, name, &len));
    CHECK(strcmp(name, "MPI_C_COMPLEX") == 0);
    OK(MPI_Type_get_name(MPI_LONG_LONG, name, &len));
    CHECK(strcmp(name, "MPI_LONG_LONG_INT") == 0);
    OK(MPI_Type_get_name(MPI_INTEGER8, name, &len));
    CHECK(strcmp(name, "MPI_INTEGER8") == 0);
    OK(MPI_Type_get_name(MPI_DATATYPE_NULL, name, &len));
    CHECK(strcmp(name, "MPI_DATATYPE_NULL") == 0 && len == 17);
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    OK(MPI_Type_get_name(t, name, &len));
    CHECK(name[0] == '\0' && len == 0);
    OK(MPI_Type_set_name(t, "pair of ints"));
    OK(MPI_Type_get_name(t, name, &len));
    CHECK(strcmp(name, "pair of ints") == 0 && len == 12);
    OK(MPI_Type_dup(t, &u));
    OK(MPI_Type_get_name(u, name, &len));
    CHECK_EQ(len, 0);
    memset(longer, 'x', sizeof(longer));
    longer[sizeof(longer) - 1] = '\0';
    OK(MPI_Type_set_name(t, longer));
    OK(MPI_Type_get_name(t, name, &len));
    CHECK_EQ(len, MPI_MAX_OBJECT_NAME - 1);
    OK(MPI_Type_set_name(MPI_INT, "mine")); /* predefined ones too */
    OK(MPI_Type_get_name(MPI_INT, name, &len));
    CHECK(strcmp(name, "mine") == 0);
    OK(MPI_Type_free(&t));
    OK(MPI_Type_free(&u));
}

static int n_copied, n_deleted;
static MPI_Datatype copied_from;

static int copy_fn(MPI_Datatype old, int keyval, void *extra, void *in, void *out, int *flag)
{
    CHECK(extra == &n_copied);
    n_copied++;
    copied_from = old;
    *(void **)out = (char *)in + 1;
    *flag = 1;
    return MPI_SUCCESS;
}

static int delete_fn(MPI_Datatype t, int keyval, void *value, void *extra)
{
    CHECK(extra == &n_copied && value);
    n_deleted++;
    return MPI_SUCCESS;
}

static void attributes(void)
{
    static char value[8];
    int keyval, keyval_of_free, dup_key, null_key, flag;
    void *got;
    MPI_Datatype t, u, c, part;

    OK(MPI_Type_create_keyval(copy_fn, delete_fn, &keyval, &n_copied));
    OK(MPI_Type_create_keyval(MPI_TYPE_DUP_FN, MPI_TYPE_NULL_DELETE_FN, &dup_key, NULL));
    OK(MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, MPI_TYPE_NULL_DELETE_FN, &null_key, NULL));
    OK(MPI_Type_vector(2, 1, 2, MPI_INT, &t));
    OK(MPI_Type_get_attr(t, keyval, &got, &flag));
    CHECK_EQ(flag, 0);
    OK(MPI_Type_set_attr(t, keyval, value));
    OK(MPI_Type_set_attr(t, dup_key, value + 3));
    OK(MPI_Type_set_attr(t, null_key, value + 4));
    OK(MPI_Type_get_attr(t, keyval, &got, &flag));
    CHECK(flag && got == value);
    OK(MPI_Type_dup(t, &u));
    CHECK(n_copied == 1 && copied_from == t);
    OK(MPI_Type_get_attr(u, keyval, &got, &flag));
    CHECK(flag && got == value + 1);
    OK(MPI_Type_get_attr(u, dup_key, &got, &flag));
    CHECK(flag && got == value + 3);
    OK(MPI_Type_get_attr(u, null_key, &got, &flag));
    CHECK(!flag);
    OK(MPI_Type_set_attr(u, keyval, value + 2)); /* the old one goes */
    CHECK_EQ(n_deleted, 1);
    OK(MPI_Type_delete_attr(u, keyval));
    CHECK_EQ(n_deleted, 2);
    OK(MPI_Type_get_attr(u, keyval, &got, &flag));
    CHECK(!flag);
    OK(MPI_Type_free(&u));
    CHECK_EQ(n_deleted, 2);
    /* They go with the last handle, not with a second one from the contents. */
    OK(MPI_Type_contiguous(1, t, &c));
    OK(MPI_Type_get_contents(c, 1, 0, 1, &flag, NULL, &part));
    CHECK(part == t);
    OK(MPI_Type_free(&part));
    CHECK_EQ(n_deleted, 2);
    keyval_of_free = keyval;
    OK(MPI_Type_free_keyval(&keyval_of_free));
    CHECK_EQ(keyval_of_free, MPI_KEYVAL_INVALID);
    OK(MPI_Type_free(&t));
    CHECK_EQ(n_deleted, 3);
    OK(MPI_Type_free(&c));
    OK(MPI_Type_free_keyval(&dup_key));
    OK(MPI_Type_free_keyval(&null_key));
}

static int refuse_fn(MPI_Datatype old, int keyval, void *extra, void *in, void *out, int *flag)
{
    return MPI_ERR_OTHER;
}

/* A copy that a callback refuses is no copy; what was copied before is deleted again. */
static void refused_copy(void)
{
    static char value[8];
    int good, bad, before = n_deleted;
    MPI_Datatype t, u = MPI_DATATYPE_NULL;

    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    OK(MPI_Type_create_keyval(copy_fn, delete_fn, &good, &n_copied));
    OK(MPI_Type_create_keyval(refuse_fn, MPI_TYPE_NULL_DELETE_FN, &bad, NULL));
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    OK(MPI_Type_set_attr(t, good, value));
    OK(MPI_Type_set_attr(t, bad, value));
    FAILS(MPI_Type_dup(t, &u), MPI_ERR_OTHER);
    CHECK(u == MPI_DATATYPE_NULL);
    CHECK_EQ(n_deleted, before + 1);
    OK(MPI_Type_free(&t));
    CHECK_EQ(n_deleted, before + 2);
    /* Left on a predefined type and on one that is never freed: nothing leaks. */
    OK(MPI_Type_set_attr(MPI_INT, good, value));
    OK(MPI_Type_contiguous(2, MPI_INT, &t));
    OK(MPI_Type_set_attr(t, good, value));
    OK(MPI_Type_free_keyval(&good));
    OK(MPI_Type_free_keyval(&bad));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_ARE_FATAL));
}

static void add_first(void *in, void *inout, int *len, MPI_Datatype *type)
{
    MPI_Aint lb, extent;

    MPI_Type_get_extent(*type, &lb, &extent);
    for (int i = 0; i < *len; i++) {
        *(int *)((char *)inout + i * extent) += *(int *)((char *)in + i * extent);
    }
}

static void minus(void *in, void *inout, MPI_Count *len, MPI_Datatype *type)
{
    CHECK(*type == MPI_INT);
    for (MPI_Count i = 0; i < *len; i++) {
        ((int *)inout)[i] = ((int *)in)[i] - ((int *)inout)[i];
    }
}

static void operations(void)
{
    MPI_Op op, op_c;
    int commute, a[6] = {1, 2, 3, 4, 5, 6}, b[6] = {10, 20, 30, 40, 50, 60};
    MPI_Datatype pair;

    OK(MPI_Op_create(add_first, 1, &op));
    OK(MPI_Op_create_c(minus, 0, &op_c));
    OK(MPI_Op_commutative(op, &commute));
    CHECK_EQ(commute, 1);
    OK(MPI_Op_commutative(op_c, &commute));
    CHECK_EQ(commute, 0);
    OK(MPI_Op_commutative(MPI_SUM, &commute));
    CHECK_EQ(commute, 1);
    OK(MPI_Type_contiguous(2, MPI_INT, &pair));
    OK(MPI_Type_commit(&pair));
    OK(MPI_Reduce_local(a, b, 3, pair, op));
    CHECK(b[0] == 11 && b[1] == 20 && b[2] == 33 && b[4] == 55 && b[5] == 60);
    OK(MPI_Reduce_local_c(a, b, 6, MPI_INT, op_c));
    CHECK(b[0] == -10 && b[5] == -54);
    OK(MPI_Reduce_local(a, b, 0, MPI_INT, MPI_SUM));
    OK(MPI_Reduce_local(a, b, 6, MPI_INT, MPI_MAX));
    CHECK(b[0] == 1 && b[5] == 6);
    OK(MPI_Op_free(&op));
    CHECK(op == MPI_OP_NULL);
    OK(MPI_Op_free(&op_c));
    OK(MPI_Type_free(&pair));
}

struct located {
    double value;
    int64_t at;
};

static void pairs(void)
{
    MPI_Datatype t;
    struct located a[3] = {{1.5, 4}, {2.5, 9}, {7, 1}}, b[3] = {{1.5, 2}, {2.0, 3}, {8, 0}};
    struct {
        uint8_t v;
        uint16_t at;
    } c = {200, 7}, d = {100, 1};

    OK(MPI_Type_get_value_index(MPI_DOUBLE, MPI_INT64_T, &t));
    OK(MPI_Reduce_local(a, b, 3, t, MPI_MAXLOC));
    CHECK(b[0].value == 1.5 && b[0].at == 2 && b[1].value == 2.5 && b[1].at == 9);
    CHECK(b[2].value == 8 && b[2].at == 0);
    OK(MPI_Reduce_local(a, b, 3, t, MPI_MINLOC));
    CHECK(b[1].value == 2.5 && b[1].at == 9 && b[2].value == 7 && b[2].at == 1);
    OK(MPI_Type_get_value_index(MPI_UINT8_T, MPI_UINT16_T, &t));
    OK(MPI_Reduce_local(&c, &d, 1, t, MPI_MAXLOC));
    CHECK(d.v == 200 && d.at == 7);
}

int main(int argc, char **argv)
{
    OK(MPI_Init(&argc, &argv));
    names();
    attributes();
    refused_copy();
    operations();
    pairs();
    OK(MPI_Finalize());
    return 0;
}

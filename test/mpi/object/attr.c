/* SPDX-License-Identifier: BSD-3-Clause */
/* Attributes of communicators (MPI-5.0 7.7), predefined and own; those of MPI_COMM_SELF go first in
   MPI_Finalize. */
#include "../check.h"

static int n_copies, n_deletes, refuse;
static long deleted[16];

static int on_copy(MPI_Comm comm, int keyval, void *extra, void *in, void *out, int *flag)
{
    n_copies++;
    *(long *)out = (long)in + *(long *)extra;
    *flag = 1;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int on_delete(MPI_Comm comm, int keyval, void *value, void *extra)
{
    deleted[n_deletes++ % 16] = (long)value;
    return refuse ? MPI_ERR_OTHER : MPI_SUCCESS;
}

static int at_end(MPI_Comm comm, int keyval, void *value, void *extra)
{
    int done;

    MPI_Finalized(&done);
    CHECK(!done);
    *(int *)value += 1;
    return MPI_SUCCESS;
}

static void *get(MPI_Comm comm, int keyval)
{
    void *value = NULL;
    int flag;

    OK(MPI_Comm_get_attr(comm, keyval, &value, &flag));
    return flag ? value : (void *)-1;
}

static void predefined(void)
{
    int *v, flag, keyval = MPI_TAG_UB;

    v = get(MPI_COMM_WORLD, MPI_TAG_UB);
    CHECK(*v >= 32767);
    v = get(MPI_COMM_WORLD, MPI_WTIME_IS_GLOBAL);
    CHECK(*v == 0 || *v == 1);
    v = get(MPI_COMM_WORLD, MPI_IO);
    CHECK(v != (void *)-1);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_UNIVERSE_SIZE, &v, &flag));
    CHECK(!flag || *v >= 1);
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_APPNUM, &v, &flag));
    CHECK(!flag || *v >= 0);
    FAILS(MPI_Comm_set_attr(MPI_COMM_WORLD, MPI_TAG_UB, &flag), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_delete_attr(MPI_COMM_WORLD, MPI_TAG_UB), MPI_ERR_KEYVAL);
    FAILS(MPI_Comm_free_keyval(&keyval), MPI_ERR_KEYVAL);
}

static void own(void)
{
    MPI_Comm comm, copy = MPI_COMM_NULL;
    long extra = 1000;
    int keyval, null_key, dup_key, gone;
    void *value;
    int flag;

    OK(MPI_Comm_create_keyval(on_copy, on_delete, &keyval, &extra));
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &null_key, NULL));
    OK(MPI_Comm_create_keyval(MPI_COMM_DUP_FN, MPI_COMM_NULL_DELETE_FN, &dup_key, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    CHECK(get(comm, keyval) == (void *)-1);
    OK(MPI_Comm_set_attr(comm, keyval, (void *)5));
    OK(MPI_Comm_set_attr(comm, null_key, (void *)6));
    OK(MPI_Comm_set_attr(comm, dup_key, (void *)7));
    OK(MPI_Comm_set_attr(comm, keyval, (void *)8));
    CHECK(n_deletes == 1 && deleted[0] == 5);
    OK(MPI_Comm_dup(comm, &copy));
    CHECK_EQ(n_copies, 1);
    CHECK(get(copy, keyval) == (void *)1008 && get(copy, null_key) == (void *)-1 &&
          get(copy, dup_key) == (void *)7);
    refuse = 1;
    FAILS(MPI_Comm_free(&copy), MPI_ERR_OTHER);
    CHECK(copy != MPI_COMM_NULL);
    refuse = 0;
    n_deletes = 0;
    gone = keyval;
    OK(MPI_Comm_free_keyval(&keyval));
    CHECK_EQ(keyval, MPI_KEYVAL_INVALID);
    /* The actual free waits for the last attribute that uses it (MPI-5.0 7.7.2). */
    CHECK(get(comm, gone) == (void *)8);
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&comm));
    CHECK(n_deletes == 2 && deleted[0] == 1008 && deleted[1] == 8);
    FAILS(MPI_Comm_get_attr(MPI_COMM_SELF, gone, &value, &flag), MPI_ERR_KEYVAL);
    OK(MPI_Comm_free_keyval(&null_key));
    OK(MPI_Comm_free_keyval(&dup_key));
}

static int no_copy(MPI_Comm comm, int keyval, void *extra, void *value, void *out, int *flag)
{
    return MPI_ERR_OTHER;
}

/* Nothing was made, and the handle says so. The next one is made as ever. */
static void not_copied(void)
{
    MPI_Comm comm, copy = MPI_COMM_WORLD;
    int keyval;

    OK(MPI_Comm_create_keyval(no_copy, MPI_COMM_NULL_DELETE_FN, &keyval, NULL));
    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_set_attr(comm, keyval, &keyval));
    FAILS(MPI_Comm_dup(comm, &copy), MPI_ERR_OTHER);
    CHECK(copy == MPI_COMM_NULL);
    copy = MPI_COMM_WORLD;
    FAILS(MPI_Comm_dup_with_info(comm, MPI_INFO_NULL, &copy), MPI_ERR_OTHER);
    CHECK(copy == MPI_COMM_NULL);
    OK(MPI_Comm_delete_attr(comm, keyval));
    OK(MPI_Comm_dup(comm, &copy));
    OK(MPI_Barrier(copy));
    OK(MPI_Comm_free(&copy));
    OK(MPI_Comm_free(&comm));
    OK(MPI_Comm_free_keyval(&keyval));
}

int main(int argc, char **argv)
{
    static int ends;
    int keyval;

    MPI_Init(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    predefined();
    own();
    not_copied();
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, at_end, &keyval, NULL));
    OK(MPI_Comm_set_attr(MPI_COMM_SELF, keyval, &ends));
    OK(MPI_Comm_free_keyval(&keyval));
    MPI_Finalize();
    if (ends != 1) {
        fprintf(stderr, "the attribute of MPI_COMM_SELF was deleted %d times\n", ends);
        return 1;
    }
    return 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of chapter 12 refuses wrong arguments and calls outside of their epochs with the
   class of the standard, and the window works as before afterwards. */
#include <stdint.h>

#include "ways.h"

static int rank, size;
static MPI_Win bad;
static struct window w;
static int one = 1, two = 2, was;
static MPI_Request r;

/* Windows that are none, and outputs that are missing: every function once. */
static void no_operations(void)
{
    FAILS(MPI_Put(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, bad), MPI_ERR_WIN);
    FAILS(MPI_Put_c(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, bad), MPI_ERR_WIN);
    FAILS(MPI_Get(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, bad), MPI_ERR_WIN);
    FAILS(MPI_Get_c(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, bad), MPI_ERR_WIN);
    FAILS(MPI_Accumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, bad), MPI_ERR_WIN);
    FAILS(MPI_Accumulate_c(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, bad), MPI_ERR_WIN);
    FAILS(MPI_Get_accumulate(&one, 1, MPI_INT, &two, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, bad),
          MPI_ERR_WIN);
    FAILS(MPI_Get_accumulate_c(&one, 1, MPI_INT, &two, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, bad),
          MPI_ERR_WIN);
    FAILS(MPI_Fetch_and_op(&one, &two, MPI_INT, 0, 0, MPI_SUM, bad), MPI_ERR_WIN);
    FAILS(MPI_Compare_and_swap(&one, &one, &two, MPI_INT, 0, 0, bad), MPI_ERR_WIN);
    FAILS(MPI_Rput(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, bad, &r), MPI_ERR_WIN);
    FAILS(MPI_Rput_c(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, bad, &r), MPI_ERR_WIN);
    FAILS(MPI_Rget(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, bad, &r), MPI_ERR_WIN);
    FAILS(MPI_Rget_c(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, bad, &r), MPI_ERR_WIN);
    FAILS(MPI_Raccumulate(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, bad, &r), MPI_ERR_WIN);
    FAILS(MPI_Raccumulate_c(&one, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, bad, &r), MPI_ERR_WIN);
    FAILS(
        MPI_Rget_accumulate(&one, 1, MPI_INT, &two, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, bad, &r),
        MPI_ERR_WIN);
    FAILS(MPI_Rget_accumulate_c(&one, 1, MPI_INT, &two, 1, MPI_INT, 0, 0, 1, MPI_INT, MPI_SUM, bad,
                                &r),
          MPI_ERR_WIN);
}

static void no_synchronization(void)
{
    int flag;

    FAILS(MPI_Win_fence(0, bad), MPI_ERR_WIN);
    FAILS(MPI_Win_post(MPI_GROUP_EMPTY, 0, bad), MPI_ERR_WIN);
    FAILS(MPI_Win_start(MPI_GROUP_EMPTY, 0, bad), MPI_ERR_WIN);
    FAILS(MPI_Win_complete(bad), MPI_ERR_WIN);
    FAILS(MPI_Win_wait(bad), MPI_ERR_WIN);
    FAILS(MPI_Win_test(bad, &flag), MPI_ERR_WIN);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, bad), MPI_ERR_WIN);
    FAILS(MPI_Win_unlock(0, bad), MPI_ERR_WIN);
    FAILS(MPI_Win_lock_all(0, bad), MPI_ERR_WIN);
    FAILS(MPI_Win_unlock_all(bad), MPI_ERR_WIN);
    FAILS(MPI_Win_flush(0, bad), MPI_ERR_WIN);
    FAILS(MPI_Win_flush_all(bad), MPI_ERR_WIN);
    FAILS(MPI_Win_flush_local(0, bad), MPI_ERR_WIN);
    FAILS(MPI_Win_flush_local_all(bad), MPI_ERR_WIN);
    FAILS(MPI_Win_sync(bad), MPI_ERR_WIN);
}

static void no_window(void)
{
    MPI_Aint n;
    int unit, flag, len;
    char name[MPI_MAX_OBJECT_NAME];
    void *p;
    MPI_Group g;
    MPI_Info info;
    MPI_Errhandler eh;
    MPI_Aint unit_c;

    FAILS(MPI_Win_attach(bad, &one, 4), MPI_ERR_WIN);
    FAILS(MPI_Win_detach(bad, &one), MPI_ERR_WIN);
    FAILS(MPI_Win_shared_query(bad, 0, &n, &unit, &p), MPI_ERR_WIN);
    FAILS(MPI_Win_shared_query_c(bad, 0, &n, &unit_c, &p), MPI_ERR_WIN);
    FAILS(MPI_Win_get_group(bad, &g), MPI_ERR_WIN);
    FAILS(MPI_Win_set_name(bad, "x"), MPI_ERR_WIN);
    FAILS(MPI_Win_set_attr(bad, MPI_WIN_BASE, NULL), MPI_ERR_WIN);
    FAILS(MPI_Win_get_attr(bad, MPI_WIN_BASE, &p, &flag), MPI_ERR_WIN);
    FAILS(MPI_Win_delete_attr(bad, MPI_WIN_BASE), MPI_ERR_WIN);
    FAILS(MPI_Win_set_info(bad, MPI_INFO_ENV), MPI_ERR_WIN);
    FAILS(MPI_Win_get_info(bad, &info), MPI_ERR_WIN);
    FAILS(MPI_Win_set_errhandler(bad, MPI_ERRORS_RETURN), MPI_ERR_WIN);
    FAILS(MPI_Win_get_errhandler(bad, &eh), MPI_ERR_WIN);
    FAILS(MPI_Win_call_errhandler(bad, MPI_ERR_OTHER), MPI_ERR_WIN);
    if (bad != MPI_WIN_NULL) {
        FAILS(MPI_Win_get_name(bad, name, &len), MPI_ERR_WIN);
        FAILS(MPI_Win_free(&bad), MPI_ERR_WIN);
    } else {
        OK(MPI_Win_get_name(bad, name, &len));
        CHECK(strcmp(name, "MPI_WIN_NULL") == 0);
        FAILS(MPI_Win_free(&bad), MPI_ERR_WIN);
    }
}

static void windows(void)
{
    no_operations();
    no_synchronization();
    no_window();
}

static void outputs(void)
{
    MPI_Aint n;
    int flag, unit, len;
    char name[MPI_MAX_OBJECT_NAME];
    void *p;

    FAILS(MPI_Win_free(NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_get_group(w.win, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_get_info(w.win, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_get_name(w.win, NULL, &len), MPI_ERR_ARG);
    FAILS(MPI_Win_get_name(w.win, name, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_set_name(w.win, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_get_attr(w.win, MPI_WIN_BASE, NULL, &flag), MPI_ERR_ARG);
    FAILS(MPI_Win_get_attr(w.win, MPI_WIN_BASE, &p, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_get_errhandler(w.win, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_create_keyval(MPI_WIN_NULL_COPY_FN, MPI_WIN_NULL_DELETE_FN, NULL, NULL),
          MPI_ERR_ARG);
    FAILS(MPI_Win_free_keyval(NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_shared_query(w.win, 0, NULL, &unit, &p), MPI_ERR_ARG);
    FAILS(MPI_Win_shared_query(w.win, 0, &n, NULL, &p), MPI_ERR_ARG);
    FAILS(MPI_Win_shared_query(w.win, 0, &n, &unit, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_shared_query(w.win, size, &n, &unit, &p), MPI_ERR_RANK);
    FAILS(MPI_Win_shared_query_c(w.win, -7, &n, &n, &p), MPI_ERR_RANK);
}

static void makers(void)
{
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Win x;
    char *p;

    FAILS(MPI_Win_create(&one, -4, 1, MPI_INFO_NULL, comm, &x), MPI_ERR_SIZE);
    FAILS(MPI_Win_create(&one, 4, 0, MPI_INFO_NULL, comm, &x), MPI_ERR_DISP);
    FAILS(MPI_Win_create_c(&one, 4, -1, MPI_INFO_NULL, comm, &x), MPI_ERR_DISP);
    FAILS(MPI_Win_create(NULL, 4, 1, MPI_INFO_NULL, comm, &x), MPI_ERR_BASE);
    FAILS(MPI_Win_create(&one, 4, 1, MPI_INFO_NULL, comm, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_create(&one, 4, 1, (MPI_Info)&one, comm, &x), MPI_ERR_INFO);
    FAILS(MPI_Win_create(&one, 4, 1, MPI_INFO_NULL, MPI_COMM_NULL, &x), MPI_ERR_COMM);
    FAILS(MPI_Win_allocate(-1, 1, MPI_INFO_NULL, comm, &p, &x), MPI_ERR_SIZE);
    FAILS(MPI_Win_allocate(4, 1, MPI_INFO_NULL, comm, NULL, &x), MPI_ERR_ARG);
    FAILS(MPI_Win_allocate_c(4, 0, MPI_INFO_NULL, comm, &p, &x), MPI_ERR_DISP);
    FAILS(MPI_Win_allocate_shared(-1, 1, MPI_INFO_NULL, comm, &p, &x), MPI_ERR_SIZE);
    FAILS(MPI_Win_allocate_shared_c(1, -1, MPI_INFO_NULL, comm, &p, &x), MPI_ERR_DISP);
    FAILS(MPI_Win_create_dynamic(MPI_INFO_NULL, comm, NULL), MPI_ERR_ARG);
    FAILS(MPI_Win_create_dynamic(MPI_INFO_NULL, MPI_COMM_NULL, &x), MPI_ERR_COMM);
}

static void attributes(void)
{
    MPI_Errhandler eh;
    int key = MPI_WIN_BASE, other;

    FAILS(MPI_Win_free_keyval(&key), MPI_ERR_KEYVAL);
    FAILS(MPI_Win_set_attr(w.win, MPI_WIN_SIZE, &one), MPI_ERR_KEYVAL);
    FAILS(MPI_Win_delete_attr(w.win, MPI_WIN_MODEL), MPI_ERR_KEYVAL);
    FAILS(MPI_Win_delete_attr(w.win, MPI_KEYVAL_INVALID), MPI_ERR_KEYVAL);
    FAILS(MPI_Win_set_attr(w.win, MPI_KEYVAL_INVALID, NULL), MPI_ERR_KEYVAL);
    FAILS(MPI_Win_get_attr(w.win, MPI_KEYVAL_INVALID, &eh, &other), MPI_ERR_KEYVAL);
    OK(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, MPI_COMM_NULL_DELETE_FN, &key, NULL));
    FAILS(MPI_Win_set_attr(w.win, key, NULL), MPI_ERR_KEYVAL);
    FAILS(MPI_Win_free_keyval(&key), MPI_ERR_KEYVAL);
    OK(MPI_Comm_free_keyval(&key));
    FAILS(MPI_Win_set_info(w.win, MPI_INFO_NULL), MPI_ERR_INFO);
    FAILS(MPI_Win_set_errhandler(w.win, MPI_ERRHANDLER_NULL), MPI_ERR_ERRHANDLER);
}

/* Arguments of operations, in an epoch in which they would be allowed. */
static void operations(void)
{
    MPI_Aint at = w.at[0], past = w.at[0] + w.len;
    int is_dynamic = w.flavor == MPI_WIN_FLAVOR_DYNAMIC;
    MPI_Datatype raw, mixed;
    MPI_Datatype types[2] = {MPI_INT, MPI_DOUBLE};
    MPI_Aint displs[2] = {0, 8};
    int blocks[2] = {1, 1};
    MPI_Op op;

    OK(MPI_Type_contiguous(2, MPI_INT, &raw));
    OK(MPI_Type_create_struct(2, blocks, displs, types, &mixed));
    OK(MPI_Type_commit(&mixed));
    OK(MPI_Op_create((MPI_User_function *)(uintptr_t)8, 1, &op));
    FAILS(MPI_Put(&one, -1, MPI_INT, 0, at, 1, MPI_INT, w.win), MPI_ERR_COUNT);
    FAILS(MPI_Put(&one, 1, MPI_INT, 0, at, -1, MPI_INT, w.win), MPI_ERR_COUNT);
    FAILS(MPI_Put(&one, 1, MPI_DATATYPE_NULL, 0, at, 1, MPI_INT, w.win), MPI_ERR_TYPE);
    FAILS(MPI_Put(&one, 1, MPI_INT, 0, at, 1, raw, w.win), MPI_ERR_TYPE);
    FAILS(MPI_Put(&one, 1, MPI_INT, 0, at, 1, MPI_LONG, w.win), MPI_ERR_TYPE);
    FAILS(MPI_Put(NULL, 1, MPI_INT, 0, at, 1, MPI_INT, w.win), MPI_ERR_BUFFER);
    FAILS(MPI_Put(&one, 1, MPI_INT, size, at, 1, MPI_INT, w.win), MPI_ERR_RANK);
    FAILS(MPI_Put(&one, 1, MPI_INT, -5, at, 1, MPI_INT, w.win), MPI_ERR_RANK);
    FAILS(MPI_Get(&was, 1, MPI_INT, MPI_ANY_SOURCE, at, 1, MPI_INT, w.win), MPI_ERR_RANK);
    FAILS(MPI_Get(&was, 1, MPI_INT, 0, at, 2, MPI_INT, w.win), MPI_ERR_TYPE);
    FAILS(MPI_Get(NULL, 1, MPI_INT, 0, at, 1, MPI_INT, w.win), MPI_ERR_BUFFER);
    FAILS(MPI_Accumulate(&one, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_OP_NULL, w.win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&one, 1, MPI_INT, 0, at, 1, MPI_INT, MPI_NO_OP, w.win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&one, 1, MPI_INT, 0, at, 1, MPI_INT, op, w.win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&one, 1, MPI_FLOAT, 0, at, 1, MPI_FLOAT, MPI_BOR, w.win), MPI_ERR_OP);
    FAILS(MPI_Accumulate(&one, 1, MPI_FLOAT, 0, at, 1, MPI_INT, MPI_SUM, w.win), MPI_ERR_TYPE);
    FAILS(MPI_Accumulate(&one, 1, mixed, 0, at, 1, mixed, MPI_SUM, w.win), MPI_ERR_OP);
    FAILS(MPI_Fetch_and_op(&one, &was, mixed, 0, at, MPI_REPLACE, w.win), MPI_ERR_TYPE);
    FAILS(MPI_Fetch_and_op(&one, NULL, MPI_INT, 0, at, MPI_SUM, w.win), MPI_ERR_BUFFER);
    FAILS(MPI_Compare_and_swap(&one, &two, &was, MPI_FLOAT, 0, at, w.win), MPI_ERR_TYPE);
    FAILS(MPI_Compare_and_swap(&one, NULL, &was, MPI_INT, 0, at, w.win), MPI_ERR_BUFFER);
    FAILS(MPI_Rput(&one, 1, MPI_INT, 0, at, 1, MPI_INT, w.win, NULL), MPI_ERR_ARG);
    if (!is_dynamic) {
        FAILS(MPI_Put(&one, 1, MPI_INT, 0, -4, 1, MPI_INT, w.win), MPI_ERR_DISP);
        FAILS(MPI_Put(&one, 1, MPI_INT, 0, past - 3, 1, MPI_INT, w.win), MPI_ERR_RMA_RANGE);
        FAILS(MPI_Get(&was, 1, MPI_INT, 0, past, 1, MPI_INT, w.win), MPI_ERR_RMA_RANGE);
        FAILS(MPI_Get(&was, 1, MPI_INT, 0, PTRDIFF_MAX, 1, MPI_INT, w.win), MPI_ERR_RMA_RANGE);
        FAILS(MPI_Fetch_and_op(&one, &was, MPI_INT, 0, past, MPI_SUM, w.win), MPI_ERR_RMA_RANGE);
    } else if (rank == 0) {
        FAILS(MPI_Put(&one, 1, MPI_INT, 0, past, 1, MPI_INT, w.win), MPI_ERR_RMA_RANGE);
    }
    OK(MPI_Put(&one, 1, MPI_INT, MPI_PROC_NULL, -1, 1, MPI_INT, w.win));
    OK(MPI_Rget(&was, 1, MPI_INT, MPI_PROC_NULL, -1, 1, MPI_INT, w.win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Put(&one, 0, MPI_INT, 0, at, 0, MPI_INT, w.win));
    OK(MPI_Raccumulate(&one, 0, MPI_INT, 0, at, 0, MPI_INT, MPI_SUM, w.win, &r));
    OK(MPI_Wait(&r, MPI_STATUS_IGNORE));
    OK(MPI_Type_free(&raw));
    OK(MPI_Type_free(&mixed));
    OK(MPI_Op_free(&op));
}

static void no_epoch(void)
{
    int flag;

    FAILS(MPI_Put(&one, 1, MPI_INT, 0, w.at[0], 1, MPI_INT, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Get(&was, 1, MPI_INT, rank, w.at[rank], 1, MPI_INT, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_complete(w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_wait(w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_test(w.win, &flag), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_all(w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_local(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush_local_all(w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock(99, 0, 0, w.win), MPI_ERR_LOCKTYPE);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, size, 0, w.win), MPI_ERR_RANK);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, MPI_MODE_NOSTORE, w.win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_lock_all(1, w.win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_fence(MPI_MODE_NOCHECK, w.win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_post(MPI_GROUP_NULL, 0, w.win), MPI_ERR_GROUP);
    FAILS(MPI_Win_start(MPI_GROUP_NULL, 0, w.win), MPI_ERR_GROUP);
    FAILS(MPI_Win_post(MPI_GROUP_EMPTY, MPI_MODE_NOPRECEDE, w.win), MPI_ERR_ASSERT);
    FAILS(MPI_Win_start(MPI_GROUP_EMPTY, MPI_MODE_NOPUT, w.win), MPI_ERR_ASSERT);
}

static void locked(void)
{
    OK(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win));
    operations();
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_start(MPI_GROUP_EMPTY, 0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock_all(w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        FAILS(MPI_Win_flush(1, w.win), MPI_ERR_RMA_SYNC);
        FAILS(MPI_Put(&one, 1, MPI_INT, 1, w.at[1], 1, MPI_INT, w.win), MPI_ERR_RMA_SYNC);
    }
    OK(MPI_Win_unlock(0, w.win));
    OK(MPI_Win_lock_all(MPI_MODE_NOCHECK, w.win));
    FAILS(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_unlock(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_unlock_all(w.win));
}

static void active(void)
{
    MPI_Group self;

    OK(MPI_Comm_group(MPI_COMM_SELF, &self));
    OK(MPI_Win_post(self, 0, w.win));
    FAILS(MPI_Win_post(self, 0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_start(self, 0, w.win));
    FAILS(MPI_Win_start(self, 0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_flush(rank, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Rput(&one, 1, MPI_INT, rank, w.at[rank], 1, MPI_INT, w.win, &r), MPI_ERR_RMA_SYNC);
    if (size > 1) {
        int other = (rank + 1) % size;

        FAILS(MPI_Put(&one, 1, MPI_INT, other, w.at[other], 1, MPI_INT, w.win), MPI_ERR_RMA_SYNC);
    }
    OK(MPI_Put(&one, 1, MPI_INT, rank, w.at[rank], 1, MPI_INT, w.win));
    OK(MPI_Win_complete(w.win));
    OK(MPI_Win_wait(w.win));
    OK(MPI_Group_free(&self));
    OK(MPI_Barrier(MPI_COMM_WORLD));
    OK(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win));
    OK(MPI_Put(&one, 1, MPI_INT, rank, w.at[rank], 1, MPI_INT, w.win));
    FAILS(MPI_Win_lock_all(0, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_free(&w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_fence(MPI_MODE_NOPRECEDE, w.win), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Rput(&one, 1, MPI_INT, rank, w.at[rank], 1, MPI_INT, w.win, &r), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_fence(0, w.win));
    OK(MPI_Win_lock_all(0, w.win)); /* the fence has begun no epoch */
    OK(MPI_Win_unlock_all(w.win));
}

static void memory(void)
{
    char room[16];
    MPI_Aint n;
    int unit;
    void *p;

    if (w.flavor != MPI_WIN_FLAVOR_DYNAMIC) {
        FAILS(MPI_Win_attach(w.win, room, 16), MPI_ERR_RMA_FLAVOR);
        FAILS(MPI_Win_detach(w.win, room), MPI_ERR_RMA_FLAVOR);
        outputs();
        return;
    }
    FAILS(MPI_Win_shared_query(w.win, 0, &n, &unit, &p), MPI_ERR_RMA_FLAVOR);
    FAILS(MPI_Win_attach(w.win, NULL, 16), MPI_ERR_BASE);
    FAILS(MPI_Win_attach(w.win, room, -1), MPI_ERR_SIZE);
    FAILS(MPI_Win_detach(w.win, room), MPI_ERR_RMA_ATTACH);
    OK(MPI_Win_attach(w.win, room, 16));
    FAILS(MPI_Win_attach(w.win, room + 8, 4), MPI_ERR_RMA_ATTACH);
    FAILS(MPI_Win_detach(w.win, room + 8), MPI_ERR_RMA_ATTACH);
    OK(MPI_Win_detach(w.win, room));
}

/* What is found at the target only comes out when the origin synchronizes, if not before. */
static void not_attached(void)
{
    int other = (rank + 1) % size, code, klass;
    MPI_Aint nowhere = 4096 - 8;

    if (w.flavor != MPI_WIN_FLAVOR_DYNAMIC || size == 1) {
        return;
    }
    OK(MPI_Win_lock(MPI_LOCK_SHARED, other, 0, w.win));
    code = MPI_Put(&one, 1, MPI_INT, other, nowhere, 1, MPI_INT, w.win);
    code = code ? code : MPI_Win_flush(other, w.win);
    OK(MPI_Error_class(code, &klass));
    CHECK_EQ(klass, MPI_ERR_RMA_RANGE);
    code = MPI_Get(&one, 1, MPI_INT, other, nowhere, 1, MPI_INT, w.win);
    code = code ? code : MPI_Win_flush(other, w.win);
    OK(MPI_Error_class(code, &klass));
    CHECK_EQ(klass, MPI_ERR_RMA_RANGE);
    code = MPI_Fetch_and_op(&one, &two, MPI_INT, other, nowhere, MPI_SUM, w.win);
    code = code ? code : MPI_Win_flush(other, w.win);
    OK(MPI_Error_class(code, &klass));
    CHECK_EQ(klass, MPI_ERR_RMA_RANGE);
    OK(MPI_Win_unlock(other, w.win));
    OK(MPI_Barrier(MPI_COMM_WORLD));
}

static void hints(void)
{
    MPI_Info info;
    MPI_Win x;
    int value;

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "no_locks", "true"));
    OK(MPI_Win_create(&value, sizeof(value), 1, info, MPI_COMM_WORLD, &x));
    OK(MPI_Win_set_errhandler(x, MPI_ERRORS_RETURN));
    FAILS(MPI_Win_lock(MPI_LOCK_SHARED, 0, 0, x), MPI_ERR_RMA_SYNC);
    FAILS(MPI_Win_lock_all(0, x), MPI_ERR_RMA_SYNC);
    OK(MPI_Win_free(&x));
    OK(MPI_Info_free(&info));
}

int main(int argc, char **argv)
{
    int provided;

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_Init(&argc, &argv));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    bad = MPI_WIN_NULL;
    windows();
    bad = (MPI_Win)&one;
    windows();
    makers();
    hints();
    for (int way = 0; way < N_WAYS; way++) {
        set_way(way);
        for (int f = 0; f < N_FLAVORS; f++) {
            w = open_window(flavors[f], 4096, MPI_COMM_WORLD);
            OK(MPI_Win_set_errhandler(w.win, MPI_ERRORS_RETURN));
            attributes();
            no_epoch();
            locked();
            active();
            memory();
            OK(MPI_Barrier(MPI_COMM_WORLD));
            not_attached();
            close_window(&w);
        }
    }
    OK(MPI_Finalize());
    OK(MPI_T_finalize());
    return 0;
}

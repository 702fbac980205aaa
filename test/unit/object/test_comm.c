/* SPDX-License-Identifier: BSD-3-Clause */
/* The life of a communicator without a registry, and errors raised on it. */
#include "core/object/comm.h"

#include <check.h>
#include <string.h>

#include "core/object/errhandler.h"
#include "core/object/group.h"
#include "support/suite.h"
#include "util/status.h"

static int n_made, n_going, n_gone, n_raised, last_code;
static void *last_handle;

static void changed(struct fm_comm *comm, bool is_made)
{
    ck_assert_ptr_nonnull(comm->counters);
    n_made += is_made;
    n_going += !is_made;
}

static int gone_order[2];

static void drop_part(void *state)
{
    gone_order[n_gone++] = *(int *)state;
}

static void on_error(MPI_Comm *comm, int *code, ...)
{
    n_raised++;
    last_handle = *comm;
    last_code = *code;
}

static struct fm_comm *make(int n, const int *procs)
{
    struct fm_group *g;
    struct fm_comm *comm;

    ck_assert_int_eq(fm_group_create(n, procs, 3, &g), 0);
    ck_assert_int_eq(fm_comm_create(NULL, g, NULL, g->rank, 20, &comm), 0);
    fm_group_unref(g);
    return comm;
}

START_TEST(words_and_references)
{
    struct fm_comm *comm, *other;
    const void *handle;
    int part_state[2] = {10, 11};

    fm_root.comm_changed = changed;
    comm = make(3, (const int[]){7, 3, 1});
    other = make(4, NULL);
    for (int i = FM_COMM_CONTEXT; i <= FM_COMM_COLL; i++) {
        comm->parts[i] = (struct fm_comm_part){.state = &part_state[i], .drop = drop_part};
    }
    comm->parts[FM_COMM_TOPO].state = &part_state[0]; /* without a drop function */
    handle = fm_handle_of(comm);
    ck_assert_int_eq(n_made, 2);
    ck_assert_int_eq(comm->rank, 1);
    ck_assert_int_eq(fm_comm_proc(comm, 2), 1);
    ck_assert_int_eq(fm_comm_proc(other, 2), 2);
    ck_assert_uint_ne(comm->id, other->id);
    for (int i = 0; i < 3; i++) {
        ck_assert_uint_eq(comm->peer_counters[i].sent.n + comm->peer_counters[i].recvd.len, 0);
        comm->peer_counters[i] = (struct fm_comm_peer_counters){{1, 1}, {1, 1}};
    }
    fm_object_ref(comm); /* an operation under way */
    fm_comm_unref(comm);
    ck_assert_ptr_eq(fm_comm_get(handle), comm);
    ck_assert_int_eq(n_gone + n_going, 0);
    fm_comm_unref(comm);
    ck_assert_ptr_null(fm_comm_get(handle));
    ck_assert_int_eq(n_gone, 2);
    ck_assert_int_eq(gone_order[0], 11);
    ck_assert_int_eq(gone_order[1], 10);
    ck_assert_int_eq(n_going, 1);
    fm_comm_unref(other);
    fm_comm_unref(NULL);
    fm_root.comm_changed = NULL;
}
END_TEST

START_TEST(errors_find_the_handler)
{
    struct fm_comm *comm = make(4, NULL);
    struct fm_errhandler *eh = fm_errhandler_create(FM_KIND_COMM, (void (*)(void))on_error);

    ck_assert_int_eq(fm_errhandler_of(comm)->type, FM_ERRHANDLER_FATAL);
    ck_assert_int_eq(fm_errhandler_set(comm, eh), 0);
    fm_errhandler_unref(eh); /* the communicator keeps it */
    ck_assert_int_eq(fm_raise(comm, "MPI_Send", MPI_ERR_RANK, "dest is %d", 9), MPI_ERR_RANK);
    ck_assert_int_eq(n_raised, 1);
    ck_assert_ptr_eq(last_handle, comm);
    fm_fail(-FM_E_TRUNCATE, "too long");
    ck_assert_int_eq(fm_raise_status(comm, "MPI_Recv", -FM_E_TRUNCATE), MPI_ERR_TRUNCATE);
    ck_assert_int_eq(last_code, MPI_ERR_TRUNCATE);
    ck_assert_str_eq(fm_why(), "");
    ck_assert_int_eq(fm_raise_status(comm, "MPI_Recv", 0), MPI_SUCCESS);
    ck_assert_int_eq(n_raised, 2);
    ck_assert_int_eq(fm_errhandler_set(comm, fm_errhandler_get(MPI_ERRORS_RETURN)),
                     0); /* lets go of eh */
    ck_assert_int_eq(fm_raise(comm, "MPI_Send", MPI_ERR_TAG, "no"), MPI_ERR_TAG);
    ck_assert_int_eq(n_raised, 2);
    fm_comm_unref(comm);
}
END_TEST

START_TEST(names_are_cut)
{
    struct fm_comm *comm = make(4, NULL);
    char longest[2 * MPI_MAX_OBJECT_NAME];

    memset(longest, 'n', sizeof(longest));
    longest[sizeof(longest) - 1] = '\0';
    fm_comm_set_name(comm, longest);
    ck_assert_uint_eq(strlen(comm->name), MPI_MAX_OBJECT_NAME - 1);
    fm_comm_unref(comm);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("comm");
    TCase *t = tcase_create("all");

    tcase_add_test(t, words_and_references);
    tcase_add_test(t, errors_find_the_handler);
    tcase_add_test(t, names_are_cut);
    suite_add_tcase(s, t);
    return suite_run(s);
}

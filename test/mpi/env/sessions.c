/* SPDX-License-Identifier: BSD-3-Clause */
/* Sessions before, beside and after the world model, and communicators made of their groups. */
#include "../check.h"

#include <string.h>

static int sum_over(MPI_Comm comm)
{
    int one = 1, sum = 0;

    OK(MPI_Allreduce(&one, &sum, 1, MPI_INT, MPI_SUM, comm));
    return sum;
}

static MPI_Comm comm_of(MPI_Session s, const char *pset, const char *tag)
{
    MPI_Group group;
    MPI_Comm comm;

    OK(MPI_Group_from_session_pset(s, pset, &group));
    OK(MPI_Comm_create_from_group(group, tag, MPI_INFO_NULL, MPI_ERRORS_RETURN, &comm));
    OK(MPI_Group_free(&group));
    CHECK(group == MPI_GROUP_NULL);
    return comm;
}

/* What a session tells of its process sets. */
static void look_at_sets(MPI_Session s)
{
    int n = -1, len = 0, flag = 0, has_world = 0, has_self = 0;
    char name[MPI_MAX_PSET_NAME_LEN], value[32];
    MPI_Info info;

    OK(MPI_Session_get_num_psets(s, MPI_INFO_NULL, &n));
    CHECK(n >= 2);
    for (int i = 0; i < n; i++) {
        len = 0;
        OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, NULL));
        CHECK(len > 1 && len <= MPI_MAX_PSET_NAME_LEN);
        OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name));
        CHECK_EQ(len, strlen(name) + 1);
        has_world |= strcmp(name, "mpi://WORLD") == 0;
        has_self |= strcmp(name, "mpi://SELF") == 0;
        len = 4; /* a part of it */
        OK(MPI_Session_get_nth_pset(s, MPI_INFO_NULL, i, &len, name));
        CHECK_EQ(strlen(name), 3);
        CHECK(len > 4);
    }
    CHECK(has_world && has_self);
    OK(MPI_Session_get_pset_info(s, "mpi://SELF", &info));
    len = sizeof(value);
    OK(MPI_Info_get_string(info, "mpi_size", &len, value, &flag));
    CHECK(flag && strcmp(value, "1") == 0);
    OK(MPI_Info_free(&info));
}

static void refuse(MPI_Session s)
{
    MPI_Group group = MPI_GROUP_EMPTY;
    MPI_Comm comm = MPI_COMM_WORLD;
    MPI_Info info;
    int len = 0;

    OK(MPI_Group_from_session_pset(s, "mpi://NOWHERE", &group));
    CHECK(group == MPI_GROUP_NULL);
    FAILS(MPI_ERR_ARG, MPI_Session_get_nth_pset(s, MPI_INFO_NULL, 99, &len, NULL));
    FAILS(MPI_ERR_ARG, MPI_Session_get_pset_info(s, "mpi://NOWHERE", &info));
    OK(MPI_Comm_create_from_group(MPI_GROUP_EMPTY, "none", MPI_INFO_NULL, MPI_ERRORS_RETURN,
                                  &comm));
    CHECK(comm == MPI_COMM_NULL);
}

static void use_one_session(int round)
{
    MPI_Session s;
    MPI_Comm world, self, other;
    MPI_Errhandler eh;
    int size, rank, flag;

    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &s));
    look_at_sets(s);
    refuse(s);
    OK(MPI_Session_get_errhandler(s, &eh));
    CHECK(eh == MPI_ERRORS_RETURN);
    OK(MPI_Session_set_errhandler(s, MPI_ERRORS_ABORT));
    OK(MPI_Session_set_errhandler(s, MPI_ERRORS_RETURN));
    OK(MPI_Session_call_errhandler(s, MPI_ERR_OTHER));
    world = comm_of(s, "mpi://WORLD", "test of sessions");
    self = comm_of(s, "mpi://SELF", "alone");
    OK(MPI_Comm_size(world, &size));
    OK(MPI_Comm_rank(world, &rank));
    CHECK_EQ(sum_over(world), size);
    CHECK_EQ(sum_over(self), 1);
    other = comm_of(s, "mpi://WORLD", "another one");
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, (rank + 1) % size, round, &flag, 1, MPI_INT,
                    (rank + size - 1) % size, round, other, MPI_STATUS_IGNORE));
    CHECK_EQ(flag, (rank + size - 1) % size);
    OK(MPI_Comm_free(&other));
    OK(MPI_Comm_free(&self));
    OK(MPI_Comm_free(&world));
    OK(MPI_Session_finalize(&s));
    CHECK(s == MPI_SESSION_NULL);
}

static int n_errors;
static MPI_Session last_session;

static void on_error(MPI_Session *session, int *code, ...)
{
    last_session = *session;
    n_errors += *code == MPI_ERR_RANK;
}

/* Errors with a group go to the handler of the session that it comes from (9.3). */
static void errors_of_groups(void)
{
    MPI_Errhandler eh;
    MPI_Session s, other;
    MPI_Group group, part;
    int rank = -5;

    OK(MPI_Session_create_errhandler(on_error, &eh));
    OK(MPI_Session_init(MPI_INFO_NULL, eh, &s));
    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ABORT, &other));
    OK(MPI_Group_from_session_pset(s, "mpi://WORLD", &group));
    FAILS(MPI_ERR_RANK, MPI_Group_incl(group, 1, &rank, &part));
    CHECK(n_errors == 1 && last_session == s);
    OK(MPI_Group_incl(group, 1, &(int){0}, &part));
    FAILS(MPI_ERR_RANK, MPI_Group_excl(part, 1, &rank, &part));
    CHECK_EQ(n_errors, 2);
    OK(MPI_Group_free(&part));
    OK(MPI_Group_free(&group));
    OK(MPI_Errhandler_free(&eh));
    OK(MPI_Session_finalize(&other));
    OK(MPI_Session_finalize(&s));
}

static void ask_for_threads(void)
{
    MPI_Session s;
    MPI_Info info, used;
    char level[64];
    int len = sizeof(level), flag = 0;

    OK(MPI_Info_create(&info));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MULTIPLE"));
    OK(MPI_Session_init(info, MPI_ERRORS_RETURN, &s));
    OK(MPI_Session_get_info(s, &used));
    OK(MPI_Info_get_string(used, "thread_level", &len, level, &flag));
    CHECK(flag && strcmp(level, "MPI_THREAD_MULTIPLE") == 0);
    OK(MPI_Info_free(&used));
    OK(MPI_Session_finalize(&s));
    OK(MPI_Info_set(info, "thread_level", "MPI_THREAD_MANY"));
    FAILS(MPI_ERR_ARG, MPI_Session_init(info, MPI_ERRORS_RETURN, &s));
    OK(MPI_Info_free(&info));
}

int main(void)
{
    MPI_Session outer;
    MPI_Comm comm, parent = MPI_COMM_SELF;
    int flag = -1, size;

    use_one_session(1);
    use_one_session(2); /* the one before has gone */
    errors_of_groups();
    ask_for_threads();
    OK(MPI_Initialized(&flag));
    CHECK_EQ(flag, 0); /* sessions do not count (11.4.1) */

    OK(MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_RETURN, &outer));
    comm = comm_of(outer, "mpi://WORLD", "outlives the world");
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_EQ(sum_over(MPI_COMM_WORLD), size);
    OK(MPI_Comm_get_parent(&parent));
    CHECK(parent == MPI_COMM_NULL);
    use_one_session(3);
    OK(MPI_Finalize());
    OK(MPI_Finalized(&flag));
    CHECK_EQ(flag, 1);
    CHECK_EQ(sum_over(comm), size);
    OK(MPI_Comm_free(&comm));
    OK(MPI_Session_finalize(&outer));
    use_one_session(4); /* after MPI_Finalize */
    return 0;
}

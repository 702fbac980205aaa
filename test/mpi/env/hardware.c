/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What hardware a process is restricted to (MPI-5.0 9.1.2), and communicators by it (7.4.2), held
 * against the affinity that the program sets itself: free, and then rank r on the r-th processor.
 */
#include "../check.h"

#include <sched.h>
#include <string.h>

static int rank, size, n_cpus, my_place;
static cpu_set_t all;

static void bind(void)
{
    cpu_set_t one;
    int nth = 0;

    my_place = rank % n_cpus;
    CPU_ZERO(&one);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (CPU_ISSET((size_t)cpu, &all) && nth++ == my_place) {
            CPU_SET((size_t)cpu, &one);
        }
    }
    CHECK_EQ(sched_setaffinity(0, sizeof(one), &one), 0);
}

static void expect(MPI_Info info, const char *key, const char *expected)
{
    char value[16] = "";
    int len = sizeof(value), has;

    OK(MPI_Info_get_string(info, key, &len, value, &has));
    CHECK(has);
    CHECK(strcmp(value, expected) == 0);
}

static void look(int is_bound)
{
    MPI_Info info = MPI_INFO_NULL;
    int n;

    OK(MPI_Get_hw_resource_info(&info));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK(n >= 3);
    for (int i = 0; i < n; i++) {
        char key[MPI_MAX_INFO_KEY], value[16];
        int len = sizeof(value), has;

        OK(MPI_Info_get_nthkey(info, i, key));
        OK(MPI_Info_get_string(info, key, &len, value, &has));
        CHECK(strncmp(key, "hwloc://", 8) == 0);
        CHECK(strcmp(value, "true") == 0 || (!is_bound && strcmp(value, "false") == 0));
    }
    expect(info, "hwloc://Machine", "true");
    expect(info, "hwloc://Core", is_bound || n_cpus == 1 ? "true" : "false");
    expect(info, "hwloc://PU", is_bound || n_cpus == 1 ? "true" : "false");
    OK(MPI_Info_free(&info));
    CHECK(info == MPI_INFO_NULL);
}

/* Split by a type with key -rank; returns the size of what comes, 0 for MPI_COMM_NULL. */
static int split(int type, const char *key, const char *value)
{
    MPI_Comm part;
    MPI_Info info = MPI_INFO_NULL;
    int n = 0, me, sum = 0;

    if (key) {
        OK(MPI_Info_create(&info));
        OK(MPI_Info_set(info, key, value));
    }
    OK(MPI_Comm_split_type(MPI_COMM_WORLD, type, -rank, info, &part));
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_size(part, &n));
        OK(MPI_Comm_rank(part, &me));
        CHECK(me == 0 || rank < size - 1); /* the last comes first */
        OK(MPI_Allreduce(&(int){1}, &sum, 1, MPI_INT, MPI_SUM, part));
        CHECK_EQ(sum, n);
        OK(MPI_Comm_free(&part));
    }
    if (key) {
        OK(MPI_Info_free(&info));
    }
    return n;
}

static int n_on_my_place(void)
{
    int n = 0;

    for (int r = 0; r < size; r++) {
        n += r % n_cpus == my_place;
    }
    return n;
}

static void guided(int is_bound)
{
    static const int guided_types[] = {MPI_COMM_TYPE_HW_GUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};
    int expected = is_bound ? n_on_my_place() : n_cpus == 1 ? size : 0;

    for (int i = 0; i < 2; i++) {
        int type = guided_types[i];

        CHECK_EQ(split(type, "mpi_hw_resource_type", "hwloc://PU"), expected);
        CHECK_EQ(split(type, "mpi_hw_resource_type", "PU"), expected);
        CHECK_EQ(split(type, "mpi_hw_resource_type", "hwloc://Machine"), size);
        CHECK_EQ(split(type, "mpi_hw_resource_type", "mpi_shared_memory"), size);
        CHECK_EQ(split(type, "mpi_hw_resource_type", "hwloc://Flowerpot"), 0);
        CHECK_EQ(split(type, "mpi_hw_resource_type", "hwloc://"), 0);
        CHECK_EQ(split(type, "color", "red"), 0);
        CHECK_EQ(split(type, NULL, NULL), 0);
    }
    CHECK_EQ(split(MPI_COMM_TYPE_HW_GUIDED, "mpi_pset_name", "mpi://WORLD"), 0);
    CHECK_EQ(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://WORLD"), size);
    CHECK_EQ(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://SELF"), 1);
    CHECK_EQ(split(MPI_COMM_TYPE_RESOURCE_GUIDED, "mpi_pset_name", "mpi://MOON"), 0);
}

/* Level by level: each part is smaller than what it was made of, and the type is told. */
static void unguided(int is_bound)
{
    MPI_Comm comm = MPI_COMM_WORLD, part;
    int n = size, n_part, n_levels = 0;

    do {
        MPI_Info info;
        char value[64] = "";
        int len = sizeof(value), has;

        OK(MPI_Info_create(&info));
        OK(MPI_Comm_split_type(comm, MPI_COMM_TYPE_HW_UNGUIDED, 0, info, &part));
        OK(MPI_Info_get_string(info, "mpi_hw_resource_type", &len, value, &has));
        OK(MPI_Info_free(&info));
        CHECK_EQ(has, part != MPI_COMM_NULL);
        if (comm != MPI_COMM_WORLD) {
            OK(MPI_Comm_free(&comm));
        }
        if (part != MPI_COMM_NULL) {
            CHECK(strncmp(value, "hwloc://", 8) == 0);
            OK(MPI_Comm_size(part, &n_part));
            CHECK(n_part < n);
            n = n_part;
            n_levels++;
        }
        comm = part;
    } while (part != MPI_COMM_NULL);
    if (is_bound) {
        CHECK_EQ(n, n_on_my_place()); /* down to the processor */
    } else {
        CHECK_EQ(n_levels, 0);
    }
}

/* Some ranks take no part (7.4.2): the others are divided as if these were not there. */
static void without_some(void)
{
    static const int all_types[] = {MPI_COMM_TYPE_SHARED, MPI_COMM_TYPE_HW_GUIDED,
                                    MPI_COMM_TYPE_HW_UNGUIDED, MPI_COMM_TYPE_RESOURCE_GUIDED};

    for (size_t i = 0; i < sizeof(all_types) / sizeof(*all_types); i++) {
        MPI_Comm part;
        int n = -1;

        OK(MPI_Comm_split_type(MPI_COMM_WORLD, rank % 2 ? MPI_UNDEFINED : all_types[i], 0,
                               MPI_INFO_NULL, &part));
        CHECK(rank % 2 == 0 || part == MPI_COMM_NULL);
        CHECK(rank % 2 || all_types[i] != MPI_COMM_TYPE_SHARED || part != MPI_COMM_NULL);
        if (part != MPI_COMM_NULL) {
            OK(MPI_Comm_size(part, &n));
            CHECK(n <= (size + 1) / 2);
            OK(MPI_Comm_free(&part));
        }
    }
}

/* Both groups of an intercommunicator are divided; parts of one color are joined. */
static void between_groups(void)
{
    MPI_Comm half, inter, part;
    int n, n_remote, is_inter;

    if (size < 2) {
        return;
    }
    OK(MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half));
    OK(MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, !(rank % 2), 5, &inter));
    OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &part));
    CHECK(part != MPI_COMM_NULL); /* the test runs on one host */
    OK(MPI_Comm_test_inter(part, &is_inter));
    OK(MPI_Comm_size(part, &n));
    OK(MPI_Comm_remote_size(part, &n_remote));
    CHECK(is_inter && n == (size + !(rank % 2)) / 2 && n + n_remote == size);
    OK(MPI_Comm_free(&part));
    OK(MPI_Comm_split_type(inter, MPI_COMM_TYPE_HW_UNGUIDED, 0, MPI_INFO_NULL, &part));
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_split_type(inter, rank ? MPI_COMM_TYPE_HW_UNGUIDED : MPI_UNDEFINED, 0,
                           MPI_INFO_NULL, &part));
    CHECK(rank > 0 || part == MPI_COMM_NULL);
    if (part != MPI_COMM_NULL) {
        OK(MPI_Comm_free(&part));
    }
    OK(MPI_Comm_free(&inter));
    OK(MPI_Comm_free(&half));
}

/* Two types in one call: every rank gets the error. */
static void two_types(void)
{
    MPI_Comm part;

    if (size < 2) {
        return;
    }
    OK(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN));
    FAILS(MPI_Comm_split_type(MPI_COMM_WORLD,
                              rank ? MPI_COMM_TYPE_SHARED : MPI_COMM_TYPE_HW_UNGUIDED, 0,
                              MPI_INFO_NULL, &part),
          MPI_ERR_ARG);
}

int main(void)
{
    OK(MPI_Init(NULL, NULL));
    OK(MPI_Comm_rank(MPI_COMM_WORLD, &rank));
    OK(MPI_Comm_size(MPI_COMM_WORLD, &size));
    CHECK_EQ(sched_getaffinity(0, sizeof(all), &all), 0);
    n_cpus = CPU_COUNT(&all);
    look(0);
    guided(0);
    unguided(0);
    bind();
    look(1);
    guided(1);
    unguided(1);
    without_some();
    between_groups();
    two_types();
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    FAILS(MPI_Get_hw_resource_info(NULL), MPI_ERR_ARG);
    OK(MPI_Finalize());
    return 0;
}

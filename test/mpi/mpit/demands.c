/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What tools demand beyond the letter of the standard, each found in the code of one of them:
 * TAU casts every pvar to unsigned long long, gives up all at the first handle that fails, and
 * passes NULL for objects other than communicators; Caliper takes scalars and binds WORLD and
 * SELF; gyan splits names at : and ; and reduces over ranks by index, passes NULL as the object of
 * every pvar and gives up all at the first that fails; varlist has buffers of 257 characters for
 * strings and 12 for items, and knows seven datatypes. Includes nothing but mpi.h.
 */
#include "../check.h"

#include <string.h>

#define LEN 512

static int n_before;

static void check_name(const char *name)
{
    CHECK(strlen(name) > 0 && strlen(name) < 100);
    CHECK(strpbrk(name, ":; \t,=") == NULL);
}

static void check_items(MPI_T_enum items)
{
    char name[LEN];
    int i, n = 0, len;

    if (items == MPI_T_ENUM_NULL) {
        return;
    }
    OK(MPI_T_enum_get_info(items, &n, NULL, NULL));
    for (i = 0; i < n; i++) {
        len = LEN;
        OK(MPI_T_enum_get_item(items, i, NULL, name, &len));
        CHECK(strlen(name) <= 11);
    }
}

static void check_cvars(void)
{
    char name[LEN], desc[4096];
    int i, n, len, desc_len, bind, count;
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_cvar_handle h;
    MPI_Datatype type;
    MPI_T_enum items;

    OK(MPI_T_cvar_get_num(&n));
    CHECK(n > 0);
    for (i = 0; i < n; i++) {
        len = LEN;
        desc_len = sizeof(desc);
        OK(MPI_T_cvar_get_info(i, name, &len, NULL, &type, &items, desc, &desc_len, &bind, NULL));
        check_name(name);
        check_items(items);
        CHECK(bind == MPI_T_BIND_NO_OBJECT || bind == MPI_T_BIND_MPI_COMM);
        /* Users want to know where a value may come from and what it may be. */
        CHECK(strstr(desc, "default ") != NULL);
        OK(MPI_T_cvar_handle_alloc(i, bind == MPI_T_BIND_MPI_COMM ? &world : NULL, &h, &count));
        CHECK(type == MPI_CHAR ? count <= 256 : count == 1);
        OK(MPI_T_cvar_handle_free(&h));
    }
}

/* One number that is the same on all ranks if all have the same variables in the same order. */
static uint64_t mix(uint64_t sum, const char *name, int a, int b, int c)
{
    for (; *name; name++) {
        sum = (sum ^ (unsigned char)*name) * UINT64_C(0x100000001b3);
    }
    sum = (sum ^ (uint64_t)a) * UINT64_C(0x100000001b3);
    return (sum ^ (uint64_t)b << 20 ^ (uint64_t)c << 40) * UINT64_C(0x100000001b3);
}

static void check_same_everywhere(uint64_t sum)
{
    long long mine = (long long)(sum & 0x7fffffffffffffff), first = mine;

    OK(MPI_Bcast(&first, 1, MPI_LONG_LONG, 0, MPI_COMM_WORLD));
    CHECK(mine == first);
}

static void check_pvars(void)
{
    int i, n, len, klass, bind, count, continuous, k;
    MPI_Comm comms[2] = {MPI_COMM_WORLD, MPI_COMM_SELF};
    uint64_t sum = UINT64_C(0xcbf29ce484222325);
    static char buf[1 << 20];
    MPI_T_pvar_session s;
    MPI_T_pvar_handle h;
    MPI_Datatype type;
    MPI_T_enum items;
    char name[LEN];

    OK(MPI_T_pvar_get_num(&n));
    CHECK(n == n_before); /* tools that listed them before MPI_Init do not look again */
    OK(MPI_T_pvar_session_create(&s));
    for (i = 0; i < n; i++) {
        len = LEN;
        OK(MPI_T_pvar_get_info(i, name, &len, NULL, &klass, &type, &items, NULL, NULL, &bind, NULL,
                               &continuous, NULL));
        check_name(name);
        check_items(items);
        CHECK(type == MPI_UNSIGNED_LONG_LONG || klass == MPI_T_PVAR_CLASS_STATE ||
              klass == MPI_T_PVAR_CLASS_PERCENTAGE || strcmp(name, "MPI_T_UMQ_LENGTH") == 0);
        for (k = 0; k < 1 + (bind == MPI_T_BIND_MPI_COMM); k++) {
            OK(MPI_T_pvar_handle_alloc(s, i, bind == MPI_T_BIND_MPI_COMM ? &comms[k] : NULL, &h,
                                       &count));
            if (!continuous) {
                OK(MPI_T_pvar_start(s, h));
            }
            OK(MPI_T_pvar_read(s, h, buf));
            sum = k == 0 ? mix(sum, name, klass, bind, count) : sum;
        }
    }
    OK(MPI_T_pvar_session_free(&s));
    check_same_everywhere(sum);
}

/* A tool may leave while MPI goes on: the values that MPI works with stay. */
/* A handle on every pvar without a word of its object, as gyan does: MPI_COMM_WORLD is meant, or
   nothing that exists. */
static void check_nameless(int is_between)
{
    unsigned long long values[64] = {0}, same[64] = {0}; /* states are of MPI_INT */
    MPI_Comm world = MPI_COMM_WORLD;
    MPI_T_pvar_session s;
    int i, n, bind, n_bound = 0;

    OK(MPI_T_pvar_session_create(&s));
    OK(MPI_T_pvar_get_num(&n));
    for (i = 0; i < n; i++) {
        MPI_T_pvar_handle h, named;
        int count, klass;

        OK(MPI_T_pvar_get_info(i, NULL, NULL, NULL, &klass, NULL, NULL, NULL, NULL, &bind, NULL,
                               NULL, NULL));
        if (bind == MPI_T_BIND_MPI_COMM && !is_between) {
            CHECK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count) == MPI_T_ERR_INVALID);
            continue;
        }
        OK(MPI_T_pvar_handle_alloc(s, i, NULL, &h, &count));
        if (bind != MPI_T_BIND_MPI_COMM) {
            continue;
        }
        n_bound++;
        OK(MPI_T_pvar_handle_alloc(s, i, &world, &named, &count));
        CHECK(count <= 64);
        OK(MPI_T_pvar_start(s, MPI_T_PVAR_ALL_HANDLES));
        OK(MPI_Sendrecv(NULL, 0, MPI_INT, 0, 1, NULL, 0, MPI_INT, 0, 1, MPI_COMM_SELF,
                        MPI_STATUS_IGNORE));
        OK(MPI_Barrier(MPI_COMM_WORLD));
        OK(MPI_T_pvar_read(s, h, values));
        OK(MPI_T_pvar_read(s, named, same));
        CHECK(memcmp(values, same, sizeof(same)) == 0);
    }
    CHECK(!is_between || n_bound > 0);
    OK(MPI_T_pvar_session_free(&s));
}

static void check_leaving(void)
{
    int rank, size, value = -1, right, left;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    right = (rank + 1) % size;
    left = (rank + size - 1) % size;
    OK(MPI_Sendrecv(&rank, 1, MPI_INT, right, 5, &value, 1, MPI_INT, left, 5, MPI_COMM_WORLD,
                    MPI_STATUS_IGNORE));
    CHECK(value == left);
}

int main(int argc, char **argv)
{
    int provided, again;

    OK(MPI_T_init_thread(MPI_THREAD_SINGLE, &provided));
    OK(MPI_T_pvar_get_num(&n_before));
    OK(MPI_Init(&argc, &argv));
    check_cvars();
    check_pvars();
    check_nameless(1);
    OK(MPI_T_finalize());
    check_leaving();
    OK(MPI_T_init_thread(MPI_THREAD_MULTIPLE, &provided));
    check_pvars();
    OK(MPI_Finalize());
    check_nameless(0);
    OK(MPI_T_pvar_get_num(&again));
    CHECK(again == n_before);
    OK(MPI_T_finalize());
    return 0;
}

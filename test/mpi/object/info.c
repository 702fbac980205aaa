/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects before, during and after MPI (MPI-5.0 10, 11.4). */
#include "../check.h"

#include <string.h>

static void values(void)
{
    char value[64], key[MPI_MAX_INFO_KEY];
    MPI_Info info, copy;
    int n, flag, len;

    OK(MPI_Info_create(&info));
    for (int i = 0; i < 30; i++) {
        sprintf(key, "key %d", i);
        sprintf(value, "value %d", i * i);
        OK(MPI_Info_set(info, key, value));
    }
    OK(MPI_Info_set(info, "key 3", "other"));
    OK(MPI_Info_get_nkeys(info, &n));
    CHECK_EQ(n, 30);
    OK(MPI_Info_dup(info, &copy));
    OK(MPI_Info_delete(info, "key 4"));
    OK(MPI_Info_get_nthkey(info, 4, key));
    CHECK(strcmp(key, "key 5") == 0);
    OK(MPI_Info_get_nthkey(copy, 4, key));
    CHECK(strcmp(key, "key 4") == 0);
    OK(MPI_Info_get(copy, "key 3", 63, value, &flag));
    CHECK(flag && strcmp(value, "other") == 0);
    OK(MPI_Info_get(copy, "key 3", 2, value, &flag));
    CHECK(flag && strcmp(value, "ot") == 0);
    OK(MPI_Info_get_valuelen(copy, "key 3", &len, &flag));
    CHECK(flag && len == 5);
    len = 0;
    strcpy(value, "kept");
    OK(MPI_Info_get_string(copy, "key 3", &len, NULL, &flag));
    CHECK(flag && len == 6);
    OK(MPI_Info_get_string(copy, "key 3", &len, value, &flag));
    CHECK(flag && len == 6 && strcmp(value, "other") == 0);
    len = 3;
    OK(MPI_Info_get_string(copy, "key 3", &len, value, &flag));
    CHECK(flag && len == 6 && strcmp(value, "ot") == 0);
    len = 64;
    OK(MPI_Info_get_string(copy, "no such key", &len, value, &flag));
    CHECK(!flag && len == 64 && strcmp(value, "ot") == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Info_free(&copy));
    CHECK(info == MPI_INFO_NULL);
}

static void misuse(void)
{
    char longest[MPI_MAX_INFO_VAL + 2];
    MPI_Info info, gone, env = MPI_INFO_ENV;
    int n;

    memset(longest, 'x', sizeof(longest));
    longest[MPI_MAX_INFO_VAL + 1] = '\0';
    OK(MPI_Info_create(&info));
    FAILS(MPI_Info_set(info, "", "v"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, longest, "v"), MPI_ERR_INFO_KEY);
    FAILS(MPI_Info_set(info, "k", longest), MPI_ERR_INFO_VALUE);
    FAILS(MPI_Info_delete(info, "k"), MPI_ERR_INFO_NOKEY);
    FAILS(MPI_Info_get_nthkey(info, 0, longest), MPI_ERR_ARG);
    FAILS(MPI_Info_get_nkeys(MPI_INFO_NULL, &n), MPI_ERR_INFO);
    FAILS(MPI_Info_free(&env), MPI_ERR_INFO);
    gone = info;
    OK(MPI_Info_free(&info));
    FAILS(MPI_Info_get_nkeys(gone, &n), MPI_ERR_INFO);
}

int main(int argc, char **argv)
{
    MPI_Info early, env;
    char value[16];
    int flag;

    OK(MPI_Info_create(&early));
    OK(MPI_Info_set(early, "when", "before"));
    values();
    OK(MPI_Info_create_env(argc, argv, &env));
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    values();
    misuse();
    MPI_Finalize();
    OK(MPI_Info_get(early, "when", 15, value, &flag));
    CHECK(flag && strcmp(value, "before") == 0);
    values();
    OK(MPI_Info_free(&early));
    OK(MPI_Info_free(&env));
    return 0;
}

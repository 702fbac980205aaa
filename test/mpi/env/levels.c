/* SPDX-License-Identifier: BSD-3-Clause */
/* The thread level that a session reports: what it asked for, else what is in force (11.3.1). */
#include "../check.h"

#include <string.h>

static void expect(MPI_Info hints, const char *level)
{
    char value[64] = "";
    int len = sizeof(value), has;
    MPI_Session s;
    MPI_Info info;

    OK(MPI_Session_init(hints, MPI_ERRORS_RETURN, &s));
    OK(MPI_Session_get_info(s, &info));
    OK(MPI_Info_get_string(info, "thread_level", &len, value, &has));
    CHECK(has);
    CHECK(strcmp(value, level) == 0);
    OK(MPI_Info_free(&info));
    OK(MPI_Session_finalize(&s));
}

int main(void)
{
    MPI_Info hints;
    int provided;

    expect(MPI_INFO_NULL, "MPI_THREAD_SINGLE");
    OK(MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &provided));
    CHECK_EQ(provided, MPI_THREAD_SERIALIZED);
    expect(MPI_INFO_NULL, "MPI_THREAD_SERIALIZED");
    OK(MPI_Info_create(&hints));
    OK(MPI_Info_set(hints, "thread_level", "MPI_THREAD_FUNNELED"));
    expect(hints, "MPI_THREAD_FUNNELED");
    OK(MPI_Info_set(hints, "thread_level", "MPI_THREAD_MULTIPLE"));
    expect(hints, "MPI_THREAD_MULTIPLE");
    expect(MPI_INFO_NULL, "MPI_THREAD_MULTIPLE");
    OK(MPI_Info_free(&hints));
    OK(MPI_Finalize());
    return 0;
}

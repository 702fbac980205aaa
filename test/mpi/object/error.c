/* SPDX-License-Identifier: BSD-3-Clause */
/* Error handlers, classes, codes and strings (MPI-5.0 9.3 - 9.5), before, during and after MPI. */
#include "../check.h"

#include <string.h>

static int n_called, last_code;
static MPI_Comm last_comm;

static void on_error(MPI_Comm *comm, int *code, ...)
{
    n_called++;
    last_comm = *comm;
    last_code = *code;
}

static void strings(void)
{
    char text[MPI_MAX_ERROR_STRING], other[MPI_MAX_ERROR_STRING];
    const char *name;
    int len, klass;

    for (int code = 0; code <= MPI_ERR_ABI; code++) {
        OK(MPI_Error_string(code, text, &len));
        CHECK(len > 0 && len == (int)strlen(text));
        OK(MPI_Error_class(code, &klass));
        CHECK_EQ(klass, code);
        OK(MPI_Error_string(code == 0 ? 1 : 0, other, &len));
        CHECK(strcmp(text, other) != 0);
    }
    for (int code = MPI_T_ERR_CANNOT_INIT; code <= MPI_T_ERR_PVAR_NO_ATOMIC; code++) {
        OK(MPI_Error_string(code, text, &len));
        CHECK(len > 0 && len == (int)strlen(text));
        name = strstr(text, "MPI_T_ERR_"); /* not twice */
        CHECK(!name || !strstr(name + 1, "MPI_T_ERR_"));
    }
}

static void own_codes(void)
{
    char text[MPI_MAX_ERROR_STRING];
    int klass, code, other, got, len;

    OK(MPI_Add_error_class(&klass));
    CHECK(klass > MPI_ERR_LASTCODE);
    OK(MPI_Add_error_code(klass, &code));
    OK(MPI_Add_error_code(MPI_ERR_IO, &other));
    CHECK(code != other && code > MPI_ERR_LASTCODE);
    OK(MPI_Error_string(code, text, &len));
    CHECK_EQ(len, 0);
    OK(MPI_Add_error_string(code, "the widget is bent"));
    OK(MPI_Error_string(code, text, &len));
    CHECK(strcmp(text, "the widget is bent") == 0);
    OK(MPI_Error_class(code, &got));
    CHECK_EQ(got, klass);
    OK(MPI_Error_class(other, &got));
    CHECK_EQ(got, MPI_ERR_IO);
    OK(MPI_Remove_error_string(code));
    OK(MPI_Error_string(code, text, &len));
    CHECK_EQ(len, 0);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_code(other));
    OK(MPI_Remove_error_class(klass));
}

static void last_used(void)
{
    char text[MPI_MAX_ERROR_STRING + 1] = "";
    int *value, flag, klass, code;

    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag && *value == MPI_ERR_LASTCODE);
    OK(MPI_Add_error_class(&klass));
    OK(MPI_Add_error_code(klass, &code));
    FAILS(MPI_Remove_error_class(klass), MPI_ERR_ARG); /* in use */
    FAILS(MPI_Remove_error_code(MPI_ERR_RANK), MPI_ERR_ARG);
    FAILS(MPI_Add_error_string(MPI_ERR_RANK, "no"), MPI_ERR_ARG);
    FAILS(MPI_Add_error_code(code + 100, &code), MPI_ERR_ARG);
    OK(MPI_Add_error_string(code, "in the way"));
    FAILS(MPI_Remove_error_code(code), MPI_ERR_ARG); /* has a string */
    OK(MPI_Remove_error_string(code));
    FAILS(MPI_Remove_error_string(code), MPI_ERR_ARG);
    memset(text, 'x', sizeof(text) - 1);
    FAILS(MPI_Add_error_string(code, text), MPI_ERR_ARG);
    text[MPI_MAX_ERROR_STRING - 1] = '\0';
    OK(MPI_Add_error_string(code, text));
    OK(MPI_Remove_error_string(code));
    OK(MPI_Comm_get_attr(MPI_COMM_WORLD, MPI_LASTUSEDCODE, &value, &flag));
    CHECK(flag && *value == code);
    OK(MPI_Remove_error_code(code));
    OK(MPI_Remove_error_class(klass));
}

static void handlers(void)
{
    MPI_Errhandler eh, got;
    MPI_Comm comm;
    int n, code;

    OK(MPI_Comm_dup(MPI_COMM_WORLD, &comm));
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == MPI_ERRORS_ARE_FATAL);
    OK(MPI_Errhandler_free(&got));
    CHECK(got == MPI_ERRHANDLER_NULL);
    OK(MPI_Comm_create_errhandler(on_error, &eh));
    OK(MPI_Comm_set_errhandler(comm, eh));
    OK(MPI_Comm_get_errhandler(comm, &got));
    CHECK(got == eh);
    OK(MPI_Errhandler_free(&got));
    OK(MPI_Errhandler_free(&eh)); /* lives on in the communicator */
    code = MPI_Comm_remote_size(comm, &n);
    CHECK_EQ(n_called, 1);
    CHECK(last_comm == comm && last_code == code && code == MPI_ERR_COMM);
    OK(MPI_Comm_call_errhandler(comm, MPI_ERR_IO));
    CHECK_EQ(n_called, 2);
    CHECK_EQ(last_code, MPI_ERR_IO);
    {
        MPI_Comm child;

        OK(MPI_Comm_dup(comm, &child)); /* inherits */
        OK(MPI_Comm_call_errhandler(child, MPI_ERR_TAG));
        CHECK(n_called == 3 && last_comm == child);
        OK(MPI_Comm_free(&child));
    }
    OK(MPI_Comm_free(&comm));
    FAILS(MPI_Comm_call_errhandler(comm, 0), MPI_ERR_COMM); /* to MPI_COMM_SELF's handler */
    CHECK_EQ(n_called, 3);
}

int main(int argc, char **argv)
{
    MPI_Errhandler early;

    strings();
    own_codes();
    OK(MPI_Comm_create_errhandler(on_error, &early));
    MPI_Init(&argc, &argv);
    OK(MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN));
    strings();
    own_codes();
    last_used();
    handlers();
    MPI_Finalize();
    OK(MPI_Errhandler_free(&early));
    strings();
    own_codes();
    return 0;
}

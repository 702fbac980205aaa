/* SPDX-License-Identifier: BSD-3-Clause */
/* Info objects (MPI-5.0 10). Usable before MPI_Init and after MPI_Finalize (11.4). */
#include "core/api/find.h"

#include <stdio.h>
#include <string.h>

#include "core/object/info.h"
#include "util/status.h"

static int find(const char *call, MPI_Info info, struct fm_info **out_info)
{
    return fm_find_info(NULL, call, info, false, out_info);
}

/* One that the user may change. */
static int find_own(const char *call, MPI_Info info, struct fm_info **out_info)
{
    if (info == MPI_INFO_ENV) {
        return fm_raise(NULL, call, MPI_ERR_INFO, "info is MPI_INFO_ENV, which is read-only");
    }
    return find(call, info, out_info);
}

static int check_key(const char *call, const char *key)
{
    if (!key || !*key) {
        return fm_raise(NULL, call, MPI_ERR_INFO_KEY, "key is %s", key ? "empty" : "NULL");
    }
    if (strnlen(key, MPI_MAX_INFO_KEY) >= MPI_MAX_INFO_KEY) {
        return fm_raise(NULL, call, MPI_ERR_INFO_KEY,
                        "key has more than the %d characters of MPI_MAX_INFO_KEY - 1",
                        MPI_MAX_INFO_KEY - 1);
    }
    return MPI_SUCCESS;
}

static int check_value(const char *call, const char *value)
{
    if (!value) {
        return fm_raise(NULL, call, MPI_ERR_INFO_VALUE, "value is NULL");
    }
    if (strnlen(value, MPI_MAX_INFO_VAL) >= MPI_MAX_INFO_VAL) {
        return fm_raise(NULL, call, MPI_ERR_INFO_VALUE,
                        "value has more than the %d characters of MPI_MAX_INFO_VAL - 1",
                        MPI_MAX_INFO_VAL - 1);
    }
    return MPI_SUCCESS;
}

static int finish(const char *call, struct fm_info *made, MPI_Info *info)
{
    if (!made) {
        return fm_raise_status(NULL, call, -FM_E_NOMEM);
    }
    *info = fm_handle_of(made);
    return MPI_SUCCESS;
}

int PMPI_Info_create(MPI_Info *info)
{
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "info", info);
    rc = rc == MPI_SUCCESS ? finish(FM_CALL, fm_info_create(), info) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_create)

/* All arguments but the first, separated by blanks; those that do not fit are left out. */
static void join(char *out, size_t len, int argc, char **argv)
{
    size_t at = 0;

    out[0] = '\0';
    for (int i = 1; i < argc && argv[i]; i++) {
        int n = snprintf(out + at, len - at, "%s%s", i > 1 ? " " : "", argv[i]);

        if (n < 0 || (size_t)n >= len - at) {
            return;
        }
        at += (size_t)n;
    }
}

/* A copy of MPI_INFO_ENV; the arguments provide what is missing there (11.2.1). */
static struct fm_info *make_env(int argc, char **argv)
{
    struct fm_info *info = fm_info_dup(fm_info_get(MPI_INFO_ENV));
    char args[MPI_MAX_INFO_VAL];
    int rc = 0;

    if (!info || argc < 1 || !argv || !argv[0]) {
        return info;
    }
    join(args, sizeof(args), argc, argv);
    if (!fm_info_find(info, "command") && strlen(argv[0]) < MPI_MAX_INFO_VAL) {
        rc = fm_info_set(info, "command", argv[0]);
    }
    if (rc == 0 && !fm_info_find(info, "argv")) {
        rc = fm_info_set(info, "argv", args);
    }
    if (rc != 0) {
        fm_info_unref(info);
        return NULL;
    }
    return info;
}

int PMPI_Info_create_env(int argc, char *argv[], MPI_Info *info)
{
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "info", info);
    rc = rc == MPI_SUCCESS ? finish(FM_CALL, make_env(argc, argv), info) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_create_env)

int PMPI_Info_set(MPI_Info info, const char *key, const char *value)
{
    struct fm_info *i;
    int rc;

    fm_api_enter_any();
    rc = find_own(FM_CALL, info, &i);
    rc = rc == MPI_SUCCESS ? check_key(FM_CALL, key) : rc;
    rc = rc == MPI_SUCCESS ? check_value(FM_CALL, value) : rc;
    rc = rc == MPI_SUCCESS ? fm_raise_status(NULL, FM_CALL, fm_info_set(i, key, value)) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_set)

int PMPI_Info_delete(MPI_Info info, const char *key)
{
    struct fm_info *i;
    int rc;

    fm_api_enter_any();
    rc = find_own(FM_CALL, info, &i);
    rc = rc == MPI_SUCCESS ? check_key(FM_CALL, key) : rc;
    if (rc == MPI_SUCCESS && fm_info_delete(i, key) != 0) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_INFO_NOKEY, "%s", fm_why());
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_delete)

/* The value of a key, NULL if there is none. */
static int look_up(const char *call, MPI_Info info, const char *key, int *flag,
                   const char **out_value)
{
    struct fm_info *i;
    int rc = find(call, info, &i);

    rc = rc == MPI_SUCCESS ? check_key(call, key) : rc;
    rc = rc == MPI_SUCCESS ? fm_find_out(NULL, call, "flag", flag) : rc;
    if (rc == MPI_SUCCESS) {
        *out_value = fm_info_find(i, key);
        *flag = *out_value != NULL;
    }
    return rc;
}

/* buflen: in, the length of the buffer; out, the length of the value with its terminator. */
static int get_string(const char *call, const char *from, int *buflen, char *value)
{
    int rc = fm_find_out(NULL, call, "buflen", buflen);

    if (rc != MPI_SUCCESS) {
        return rc;
    }
    if (*buflen < 0) {
        return fm_raise(NULL, call, MPI_ERR_ARG, "buflen is %d, it must not be negative", *buflen);
    }
    if (*buflen > 0 && !value) {
        return fm_find_out(NULL, call, "value", value);
    }
    if (from && *buflen > 0) {
        snprintf(value, (size_t)*buflen, "%s", from);
    }
    if (from) {
        *buflen = (int)strlen(from) + 1;
    }
    return MPI_SUCCESS;
}

int PMPI_Info_get_string(MPI_Info info, const char *key, int *buflen, char *value, int *flag)
{
    const char *from = NULL;
    int rc;

    fm_api_enter_any();
    rc = look_up(FM_CALL, info, key, flag, &from);
    rc = rc == MPI_SUCCESS ? get_string(FM_CALL, from, buflen, value) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_get_string)

int PMPI_Info_get(MPI_Info info, const char *key, int valuelen, char *value, int *flag)
{
    const char *from = NULL;
    int rc;

    fm_api_enter_any();
    rc = look_up(FM_CALL, info, key, flag, &from);
    if (rc == MPI_SUCCESS && valuelen < 0) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_ARG, "valuelen is %d, it must not be negative",
                      valuelen);
    }
    rc = rc == MPI_SUCCESS ? fm_find_out(NULL, FM_CALL, "value", value) : rc;
    if (rc == MPI_SUCCESS && from) {
        snprintf(value, (size_t)valuelen + 1, "%s", from);
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_get)

int PMPI_Info_get_valuelen(MPI_Info info, const char *key, int *valuelen, int *flag)
{
    const char *from = NULL;
    int rc;

    fm_api_enter_any();
    rc = look_up(FM_CALL, info, key, flag, &from);
    rc = rc == MPI_SUCCESS ? fm_find_out(NULL, FM_CALL, "valuelen", valuelen) : rc;
    if (rc == MPI_SUCCESS && from) {
        *valuelen = (int)strlen(from);
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_get_valuelen)

int PMPI_Info_get_nkeys(MPI_Info info, int *nkeys)
{
    struct fm_info *i;
    int rc;

    fm_api_enter_any();
    rc = find(FM_CALL, info, &i);
    rc = rc == MPI_SUCCESS ? fm_find_out(NULL, FM_CALL, "nkeys", nkeys) : rc;
    if (rc == MPI_SUCCESS) {
        *nkeys = i->n_items;
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_get_nkeys)

int PMPI_Info_get_nthkey(MPI_Info info, int n, char *key)
{
    struct fm_info *i;
    int rc;

    fm_api_enter_any();
    rc = find(FM_CALL, info, &i);
    rc = rc == MPI_SUCCESS ? fm_find_out(NULL, FM_CALL, "key", key) : rc;
    if (rc == MPI_SUCCESS && (n < 0 || n >= i->n_items)) {
        rc = fm_raise(NULL, FM_CALL, MPI_ERR_ARG, "n is %d but the info object has %d keys", n,
                      i->n_items);
    } else if (rc == MPI_SUCCESS) {
        strcpy(key, i->items[n].key); /* checked when it was set */
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_get_nthkey)

int PMPI_Info_dup(MPI_Info info, MPI_Info *newinfo)
{
    struct fm_info *i;
    int rc;

    fm_api_enter_any();
    rc = find(FM_CALL, info, &i);
    rc = rc == MPI_SUCCESS ? fm_find_out(NULL, FM_CALL, "newinfo", newinfo) : rc;
    rc = rc == MPI_SUCCESS ? finish(FM_CALL, fm_info_dup(i), newinfo) : rc;
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_dup)

int PMPI_Info_free(MPI_Info *info)
{
    struct fm_info *i;
    int rc;

    fm_api_enter_any();
    rc = fm_find_out(NULL, FM_CALL, "info", info);
    rc = rc == MPI_SUCCESS ? find_own(FM_CALL, *info, &i) : rc;
    if (rc == MPI_SUCCESS) {
        fm_info_unref(i);
        *info = MPI_INFO_NULL;
    }
    fm_api_leave_any();
    return rc;
}
FM_ALIAS(Info_free)

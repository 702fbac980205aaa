/* SPDX-License-Identifier: BSD-3-Clause */
/* The functions of the ABI chapter, address arithmetic and the clock. */
#include <mpi.h>

#include <check.h>
#include <stdint.h>
#include <stddef.h>

#include "core/dtype/dtype.h"
#include "core/object/comm.h"
#include "core/object/errhandler.h"
#include "core/object/info.h"
#include "support/suite.h"

/* Errors belong to no object, and so to MPI_COMM_SELF: one is made whose handler returns. */
static struct fm_comm self = {.head = {.kind = FM_KIND_COMM, .refs = 1}};

static void set_up(void)
{
    ck_assert_int_eq(fm_errhandler_init(), 0);
    fm_errhandler_place(FM_KIND_COMM, offsetof(struct fm_comm, errhandler));
    self.errhandler = fm_errhandler_get(MPI_ERRORS_RETURN);
    fm_handle_predefine(MPI_COMM_SELF, &self);
    ck_assert_int_eq(fm_dtype_init(), 0);
    fm_root.phase = FM_PHASE_RUNNING;
}

static void tear_down(void)
{
    fm_root.phase = FM_PHASE_AFTER;
    fm_dtype_finish();
}

START_TEST(version)
{
    int major = 0, minor = 7;

    ck_assert_int_eq(PMPI_Abi_get_version(&major, &minor), MPI_SUCCESS);
    ck_assert_int_eq(major, 1);
    ck_assert_int_eq(minor, 0);
    ck_assert_int_eq(PMPI_Abi_get_version(NULL, &minor), MPI_ERR_ARG);
    ck_assert_int_eq(PMPI_Abi_get_version(&major, NULL), MPI_ERR_ARG);
}
END_TEST

static void expect_key(MPI_Info info, const char *key, const char *value)
{
    const struct fm_info *i = fm_info_get(info);

    ck_assert_ptr_nonnull(i);
    ck_assert_str_eq(fm_info_find(i, key), value);
}

START_TEST(abi_info)
{
    MPI_Info info = MPI_INFO_NULL;

    ck_assert_int_eq(PMPI_Abi_get_info(&info), MPI_SUCCESS);
    expect_key(info, "mpi_aint_size", sizeof(void *) == 8 ? "8" : "4");
    expect_key(info, "mpi_count_size", "8");
    expect_key(info, "mpi_offset_size", "8");
    fm_info_unref(fm_info_get(info));
    ck_assert_int_eq(PMPI_Abi_get_info(NULL), MPI_ERR_ARG);
}
END_TEST

START_TEST(fortran)
{
    MPI_Info info = MPI_INFO_NULL;
    int64_t yes = -1, no = -1;
    int is_set = 0;

    ck_assert_int_eq(PMPI_Abi_get_fortran_info(&info), MPI_SUCCESS);
    expect_key(info, "mpi_logical_size", "4");
    expect_key(info, "mpi_integer_size", "4");
    expect_key(info, "mpi_real_size", "4");
    expect_key(info, "mpi_double_precision_size", "8");
    expect_key(info, "mpi_integer8_supported", "true");
    expect_key(info, "mpi_real16_supported", fm_dtype_get(MPI_REAL16) ? "true" : "false");
    ck_assert_int_eq(fm_info_get(info)->n_items, 23);
    ck_assert_int_eq(PMPI_Abi_set_fortran_info(info), MPI_ERR_ABI);
    fm_info_unref(fm_info_get(info));

    ck_assert_int_eq(PMPI_Abi_get_fortran_booleans(8, &yes, &no, &is_set), MPI_SUCCESS);
    ck_assert_int_eq(is_set, 1);
    ck_assert_int_eq(yes, 1);
    ck_assert_int_eq(no, 0);
    yes = no = -1;
    ck_assert_int_eq(PMPI_Abi_get_fortran_booleans(2, &yes, &no, &is_set), MPI_SUCCESS);
    ck_assert_int_eq((int16_t)yes, 1);
    ck_assert_int_eq(yes >> 16, -1); /* nothing behind the two bytes */
    ck_assert_int_eq(PMPI_Abi_get_fortran_booleans(3, &yes, &no, &is_set), MPI_ERR_ARG);
    ck_assert_int_eq(PMPI_Abi_get_fortran_booleans(4, NULL, &no, &is_set), MPI_ERR_ARG);
    ck_assert_int_eq(PMPI_Abi_set_fortran_booleans(8, &yes, &no), MPI_ERR_ABI);
}
END_TEST

START_TEST(integers)
{
    MPI_Info made[3];
    int n[3];

    ck_assert_int_eq(PMPI_Comm_toint(MPI_COMM_WORLD), 0x101);
    ck_assert_int_eq(PMPI_Type_toint(MPI_INT), 0x209);
    ck_assert_int_eq(PMPI_Op_toint(MPI_OP_NULL), 0x20);
    ck_assert_ptr_eq(PMPI_Comm_fromint(0x102), MPI_COMM_SELF);
    ck_assert_ptr_eq(PMPI_Request_fromint(0x180), MPI_REQUEST_NULL);
    for (int i = 0; i < 3; i++) {
        made[i] = fm_handle_of(fm_info_create());
        n[i] = PMPI_Info_toint(made[i]);
        ck_assert_int_ge(n[i], 4096);
        ck_assert(i == 0 || n[i] != n[i - 1]);
        ck_assert_int_eq(PMPI_Info_toint(made[i]), n[i]);
        ck_assert_ptr_eq(PMPI_Info_fromint(n[i]), made[i]);
    }
    /* Of another kind, freed, made up, out of every pool: refused, not followed. */
    ck_assert_ptr_eq(PMPI_Comm_fromint(n[1]), MPI_COMM_NULL);
    fm_info_unref(fm_info_get(made[1]));
    ck_assert_ptr_eq(PMPI_Info_fromint(n[1]), MPI_INFO_NULL);
    ck_assert_int_eq(PMPI_Info_toint(made[1]), 0);
    ck_assert_ptr_eq(PMPI_Info_fromint(INT32_MAX), MPI_INFO_NULL);
    ck_assert_ptr_eq(PMPI_Info_fromint(0), MPI_INFO_NULL);
    ck_assert_ptr_eq(PMPI_Info_fromint(-1), MPI_INFO_NULL);
    ck_assert_int_eq(PMPI_Info_toint((MPI_Info)(uintptr_t)0xdeadbee0), 0);
    ck_assert_int_eq(PMPI_Info_toint(NULL), 0);
    fm_info_unref(fm_info_get(made[0]));
    fm_info_unref(fm_info_get(made[2]));
}
END_TEST

START_TEST(addresses_and_clock)
{
    double before = PMPI_Wtime(), tick = PMPI_Wtick();

    ck_assert_int_eq(PMPI_Aint_diff(PMPI_Aint_add(100, 28), 100), 28);
    ck_assert(PMPI_Aint_add(INTPTR_MAX, 1) == INTPTR_MIN);
    ck_assert(PMPI_Aint_diff(INTPTR_MIN, 1) == INTPTR_MAX);
    ck_assert(tick > 0.0 && tick < 1e-3);
    while (PMPI_Wtime() - before < 2 * tick) {
    }
    ck_assert(PMPI_Wtime() > before);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("mpi_abi");
    TCase *t = tcase_create("mpi_abi");

    tcase_add_checked_fixture(t, set_up, tear_down);
    tcase_add_test(t, version);
    tcase_add_test(t, abi_info);
    tcase_add_test(t, fortran);
    tcase_add_test(t, integers);
    tcase_add_test(t, addresses_and_clock);
    suite_add_tcase(s, t);
    return suite_run(s);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Infos keep order and values; handles of dead ones are refused. */
#include "core/object/info.h"

#include <check.h>
#include <stdio.h>

#include "support/suite.h"
#include "util/status.h"

START_TEST(order_and_values_are_kept)
{
    struct fm_info *info = fm_info_create();
    char key[16];

    for (int i = 0; i < 50; i++) {
        snprintf(key, sizeof(key), "key%d", i);
        ck_assert_int_eq(fm_info_set(info, key, "first"), 0);
        ck_assert_int_eq(fm_info_set(info, key, key + 3), 0);
    }
    ck_assert_int_eq(info->n_items, 50);
    ck_assert_str_eq(fm_info_find(info, "key49"), "49");
    ck_assert_str_eq(info->items[7].key, "key7");
    ck_assert_int_eq(fm_info_delete(info, "key7"), 0);
    ck_assert_int_eq(fm_info_delete(info, "key7"), -FM_E_NOENT);
    ck_assert_str_eq(info->items[7].key, "key8");
    ck_assert_str_eq(info->items[48].value, "49");
    ck_assert_ptr_null(fm_info_find(info, "key7"));
    fm_info_unref(info);
}
END_TEST

START_TEST(copies_are_apart)
{
    struct fm_info *info = fm_info_create(), *copy;

    ck_assert_int_eq(fm_info_set(info, "a", "1"), 0);
    copy = fm_info_dup(info);
    ck_assert_int_eq(fm_info_set(info, "a", "2"), 0);
    ck_assert_str_eq(fm_info_find(copy, "a"), "1");
    fm_info_unref(info);
    ck_assert_str_eq(fm_info_find(copy, "a"), "1");
    fm_info_unref(copy);
}
END_TEST

START_TEST(handles_are_told_apart)
{
    struct fm_info *info = fm_info_create();
    void *handle = fm_handle_of(info);

    ck_assert_ptr_eq(fm_info_get(handle), info);
    ck_assert_ptr_null(fm_info_get(&handle));
    ck_assert_ptr_null(fm_info_get((char *)handle + 8));
    ck_assert_ptr_null(fm_info_get(MPI_INFO_NULL));
    ck_assert_ptr_null(fm_comm_get(handle));
    fm_info_unref(info);
    ck_assert_ptr_null(fm_info_get(handle));
}
END_TEST

/* MPI-5.0 11.4: infos may be used before MPI_Init and after MPI_Finalize. */
START_TEST(they_outlast_the_end)
{
    struct fm_info *info = fm_info_create();

    ck_assert_int_eq(fm_info_set(info, "a", "1"), 0);
    fm_handle_finish();
    ck_assert_ptr_eq(fm_info_get(fm_handle_of(info)), info);
    ck_assert_str_eq(fm_info_find(info, "a"), "1");
    fm_info_unref(info);
    ck_assert_ptr_nonnull(fm_info_get(MPI_INFO_ENV));
    ck_assert_ptr_eq(fm_handle_of(fm_info_get(MPI_INFO_ENV)), MPI_INFO_ENV);
}
END_TEST

int main(void)
{
    Suite *s = suite_create("info");
    TCase *t = tcase_create("all");

    tcase_add_test(t, order_and_values_are_kept);
    tcase_add_test(t, copies_are_apart);
    tcase_add_test(t, handles_are_told_apart);
    tcase_add_test(t, they_outlast_the_end);
    suite_add_tcase(s, t);
    return suite_run(s);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The tables of this room are accepted by the registry, and the environment sets the values. */
#include <check.h>
#include <stdlib.h>
#include <string.h>

#include "support/suite.h"
#include "transport/ofi/ofi.h"

START_TEST(the_registry_takes_the_tables)
{
    struct fm_ofi_counters *w;

    setenv("FATHOM_OFI_PROVIDER", "tcp;ofi_rxm", 1);
    setenv("FATHOM_OFI_MAX_SEND", "16384", 1);
    ck_assert_int_eq(fathom_mpit_add(&fm_ofi_vars, (void **)&w), 0);
    ck_assert_int_eq(fathom_mpit_start(), 0);
    ck_assert_str_eq(w->provider, "tcp;ofi_rxm");
    ck_assert_str_eq(w->interface, "");
    ck_assert_uint_eq(w->max_send, 16384);
    ck_assert_uint_eq(w->n_recv_buffers, 64);
    ck_assert_uint_eq(w->use_rma, 1);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("ofi_vars");
    TCase *tc = tcase_create("vars");

    tcase_add_test(tc, the_registry_takes_the_tables);
    suite_add_tcase(suite, tc);
    return suite_run(suite);
}

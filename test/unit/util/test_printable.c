/* SPDX-License-Identifier: BSD-3-Clause */
/* Tests of what is replaced in text of other processes. */
#include "util/printable.h"

#include <check.h>
#include <stdio.h>
#include <string.h>

#include "support/suite.h"
#include "util/compiler.h"

static const struct {
    const char *text, *printable;
} rows[] = {
    {"", ""},
    {"MPI_COMM_WORLD 1~", "MPI_COMM_WORLD 1~"},
    {"a\033[31mb", "a?[31mb"},
    {"a\nb\tc\r\177", "a?b?c??"},
    {"Gr\303\274\303\237e \342\202\254 \360\237\214\212",
     "Gr\303\274\303\237e \342\202\254 \360\237\214\212"},
    {"\302\233A", "??A"},         /* C1: control sequence introducer */
    {"\233A", "?A"},              /* the same as one byte */
    {"\300\212", "??"},           /* a newline in two bytes */
    {"\342\202", "??"},           /* cut off */
    {"\355\240\200", "???"},      /* a surrogate */
    {"\364\220\200\200", "????"}, /* beyond Unicode */
    {"\377", "?"},
};

START_TEST(table)
{
    for (size_t i = 0; i < FM_ARRAY_LEN(rows); i++) {
        char text[64];

        snprintf(text, sizeof(text), "%s", rows[i].text);
        fm_printable(text);
        ck_assert_msg(strcmp(text, rows[i].printable) == 0, "row %zu: %s", i, text);
    }
}
END_TEST

int main(void)
{
    Suite *s = suite_create("printable");
    TCase *t = tcase_create("printable");

    tcase_add_test(t, table);
    suite_add_tcase(s, t);
    return suite_run(s);
}

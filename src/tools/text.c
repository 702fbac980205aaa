/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in tables. */
#include "tools/text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static void with_commas(uint64_t value, char *out_text)
{
    char digits[24];
    int n = snprintf(digits, sizeof(digits), "%" PRIu64, value);
    int at = 0;

    for (int i = 0; i < n; i++) {
        if (i > 0 && (n - i) % 3 == 0) {
            out_text[at++] = ',';
        }
        out_text[at++] = digits[i];
    }
    out_text[at] = '\0';
}

/* `value` with three significant digits, in the largest unit in which it is at least 1. */
static void scaled(double value, double step, const char *const *units, int n_units, char *out_text)
{
    int i = 0;

    while (i + 1 < n_units && value >= step * 0.9995) {
        value /= step;
        i++;
    }
    snprintf(out_text, FM_TEXT_LEN, "%.*f %s",
             value < 9.995   ? 2
             : value < 99.95 ? 1
                             : 0,
             value, units[i]);
}

const char *fm_text_number(uint64_t value, const char *unit, char *out_text)
{
    static const char *const bytes[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
    static const char *const times[] = {"ns", "us", "ms", "s"};

    if (strcmp(unit, "bytes") == 0 && value >= 10000) {
        scaled((double)value, 1024, bytes, 6, out_text);
    } else if (strcmp(unit, "bytes") == 0) {
        with_commas(value, out_text);
        strcat(out_text, " B");
    } else if (strcmp(unit, "ns") == 0 && value > 0) {
        scaled((double)value, 1000, times, 4, out_text);
    } else if (strcmp(unit, FM_TEXT_SHARE) == 0) {
        snprintf(out_text, FM_TEXT_LEN, "%.1f %%", (double)value / 10);
    } else {
        with_commas(value, out_text);
    }
    return out_text;
}

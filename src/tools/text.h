/* SPDX-License-Identifier: BSD-3-Clause */
/* Numbers in tables. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define FM_TEXT_LEN 32

/* The unit of shares, in thousandths: "12.3 %". */
#define FM_TEXT_SHARE "1/1000"

/* "1,234,567"; "12.3 MiB" for the unit bytes; "1.23 ms" for ns. At most FM_TEXT_LEN - 1. */
const char *fm_text_number(uint64_t value, const char *unit, char *out_text);

/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of other processes on a terminal. */
#include "util/printable.h"

#include <stdint.h>

/* The length of the UTF-8 sequence at `p` if it is valid and printable, else 0. Unicode 15, table
   3-7; U+0080 to U+009F are the C1 control characters. */
static int sequence_len(const unsigned char *p)
{
    static const struct {
        unsigned char mask, lead;
        uint32_t min; /* shorter encodings of the same number are invalid */
    } forms[] = {
        {0x80, 0x00, 0x20}, {0xe0, 0xc0, 0xa0}, {0xf0, 0xe0, 0x800}, {0xf8, 0xf0, 0x10000}};

    for (int n = 1; n <= 4; n++) {
        uint32_t code;

        if ((p[0] & forms[n - 1].mask) != forms[n - 1].lead) {
            continue;
        }
        code = p[0] & (unsigned char)~forms[n - 1].mask;
        for (int k = 1; k < n; k++) {
            if ((p[k] & 0xc0) != 0x80) { /* the end of the text, too */
                return 0;
            }
            code = code << 6 | (p[k] & 0x3f);
        }
        return code >= forms[n - 1].min && code != 0x7f && code <= 0x10ffff &&
                       (code < 0xd800 || code > 0xdfff)
                   ? n
                   : 0;
    }
    return 0;
}

void fm_printable(char *text)
{
    for (unsigned char *p = (unsigned char *)text; *p != '\0';) {
        int n = sequence_len(p);

        if (n == 0) {
            *p = '?';
            n = 1;
        }
        p += n;
    }
}

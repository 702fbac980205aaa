/* SPDX-License-Identifier: BSD-3-Clause */
/* Text of other processes on a terminal: no escape sequence, no forged line. */
#pragma once

/*
 * Replace each byte by "?" that is a control character (C0, DEL, C1) or belongs to no valid UTF-8
 * sequence. In place.
 */
void fm_printable(char *text);

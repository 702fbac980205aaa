/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program has made and not freed. */
#pragma once

/* Tell it in one line on stderr, if there is anything: kinds and numbers. Just before the ground is
   closed, when nothing of the library's own is left but that. */
void fm_leaks_report(void);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Signals around the loading of libfabric.
 *
 * Libraries below libfabric (libinfinipath) take SIGINT, SIGTERM, SIGSEGV and others for handlers
 * of their own when they are loaded, which turns a death by signal into an exit with status 1. What
 * a signal does is the program's decision, so all are restored.
 */
#pragma once

#include <signal.h>

#define FM_OFI_SIGNALS 32 /* the classic ones */

void fm_ofi_signals_keep(struct sigaction out[FM_OFI_SIGNALS]);
void fm_ofi_signals_restore(const struct sigaction kept[FM_OFI_SIGNALS]);

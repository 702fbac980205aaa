/* SPDX-License-Identifier: BSD-3-Clause */
/* Save and restore what signals do; see the header. */
#include "transport/ofi/ofi_signals.h"

#include <stddef.h>

void fm_ofi_signals_keep(struct sigaction out[FM_OFI_SIGNALS])
{
    for (int sig = 1; sig < FM_OFI_SIGNALS; sig++) {
        sigaction(sig, NULL, &out[sig]);
    }
}

void fm_ofi_signals_restore(const struct sigaction kept[FM_OFI_SIGNALS])
{
    for (int sig = 1; sig < FM_OFI_SIGNALS; sig++) {
        struct sigaction now;

        if (sigaction(sig, NULL, &now) == 0 && now.sa_handler != kept[sig].sa_handler) {
            sigaction(sig, &kept[sig], NULL);
        }
    }
}

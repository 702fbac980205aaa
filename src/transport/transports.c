/* SPDX-License-Identifier: BSD-3-Clause */
/* The table of transports. */
#include "transport/transports.h"

#include "transport/ofi/ofi_open.h"
#include "transport/shm/shm_open.h"

const struct fm_transport_kind fm_transports[FM_N_TRANSPORTS] = {
    [FM_TRANSPORT_SHM] = {"shm", &fm_shm_vars, fm_shm_open, .is_one_host = true},
    [FM_TRANSPORT_OFI] = {"ofi", &fm_ofi_vars, fm_ofi_open, .is_one_host = false},
};

static const struct fathom_enum_item names[] = {
    {0, "auto"},
    {1 + FM_TRANSPORT_SHM, "shm"},
    {1 + FM_TRANSPORT_OFI, "ofi"},
};
const struct fathom_enum fm_transport_names = {"transport", names, FM_ARRAY_LEN(names)};

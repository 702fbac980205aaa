/* SPDX-License-Identifier: BSD-3-Clause */
/* In the place of locality.c where this library was built without the headers of hwloc. */
#include "core/runtime/locality.h"

#include "core/object/comm.h"
#include "util/status.h"

int fm_locality_read(int out_instances[FM_LOCALITY_N_TYPES])
{
    return fm_fail(-FM_E_UNSUPPORTED, "this library was built without hwloc: install libhwloc-dev "
                                      "and build again");
}

int fm_locality_cache(void)
{
    return -1;
}

const char *fm_locality_type_name(int type)
{
    return "";
}

int fm_locality_color(const char *type_name)
{
    return MPI_UNDEFINED;
}

int fm_locality_divide(struct fm_comm *comm, bool takes_part, int *out_color,
                       const char **out_type_name)
{
    *out_color = MPI_UNDEFINED;
    *out_type_name = NULL;
    return 0;
}

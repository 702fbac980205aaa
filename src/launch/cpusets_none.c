/* SPDX-License-Identifier: BSD-3-Clause */
/* In the place of cpusets.c where mpiexec was built without the headers of hwloc. */
#include "launch/cpusets.h"

#include "util/status.h"

int fm_cpusets_of(enum fm_bind_to policy, const cpu_set_t *allowed, cpu_set_t *sets, int *out_n)
{
    return fm_fail(-FM_E_UNSUPPORTED, "this mpiexec was built without hwloc, so it can bind ranks "
                                      "to hardware threads only: install libhwloc-dev and build "
                                      "again");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load libfabric when it is needed first (D6): its constructors alone take 200 ms.
 *
 * It stays loaded: providers keep threads and exit handlers.
 */
#include <dlfcn.h>

#include "transport/ofi/ofi.h"

/* There is one libfabric per process; filled once, guarded by the library lock. */
static struct fm_ofi_lib lib;

/* A function of the library; NULL when it has none of that name. */
static void find(void *so, const char *name, void *out_fn)
{
    *(void **)out_fn = dlsym(so, name);
}

int fm_ofi_load(const struct fm_ofi_lib **out_lib)
{
    struct fm_ofi_lib found;
    void *so;

    if (lib.getinfo) {
        *out_lib = &lib;
        return 0;
    }
    so = dlopen("libfabric.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!so) {
        return fm_fail(-FM_E_UNSUPPORTED, "cannot load libfabric (package libfabric1): %s",
                       dlerror());
    }
    find(so, "fi_getinfo", &found.getinfo);
    find(so, "fi_freeinfo", &found.freeinfo);
    find(so, "fi_dupinfo", &found.dupinfo);
    find(so, "fi_fabric", &found.fabric);
    find(so, "fi_strerror", &found.strerror);
    find(so, "fi_version", &found.version);
    if (!found.getinfo || !found.freeinfo || !found.dupinfo || !found.fabric || !found.strerror ||
        !found.version || found.version() < FI_VERSION(1, 10)) {
        dlclose(so);
        return fm_fail(-FM_E_UNSUPPORTED, "the installed libfabric is older than 1.10");
    }
    lib = found;
    *out_lib = &lib;
    return 0;
}

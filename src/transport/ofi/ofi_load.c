/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Load libfabric when it is needed first (D6): of what it and its libraries do at loading and at
 * the first fi_getinfo(), two things can not be avoided by any setting, and take 340 ms in 1.17 as
 * Debian builds it. libinfinipath measures the clock by sleeping twice for 100 ms, and the verbs
 * provider reads /proc/kallsyms from end to end, twice.
 *
 * It stays loaded: providers keep threads and exit handlers.
 */
#include <dlfcn.h>
#include <stdlib.h>
#include <unistd.h>

#include "transport/ofi/ofi.h"

/* ofi_rxm's buffers, as we ask for them and when it is left alone. */
#define RXM_BUFFER      17408
#define RXM_BUFFER_TEXT "17408"
#define RXM_BUFFER_OWN  16384

/* There is one libfabric per process; filled once, guarded by the library lock. */
static struct fm_ofi_lib lib;

/* What libfabric's providers take from the environment alone, where the user has said nothing. */
struct setting {
    const char *name, *value;
};

/* The libraries of PSM and PSM2, which are loaded whatever provider is wanted, would take SIGTERM,
   SIGINT, SIGSEGV and others as their own, and call exit() in the handler, which waits for ever for
   a lock of libfabric that the interrupted call has. */
static const struct setting for_all[] = {
    {"IPATH_NO_BACKTRACE", "1"},
    {"HFI_NO_BACKTRACE", "1"},
};

/* Not where there is InfiniBand, whose depths want to be large. */
static const struct setting for_sockets[] = {
    /* Receive buffers of ofi_rxm over tcp, for all peers together. Its own 4096 make each process
       50 MB larger and its start 60 ms longer; what finds none waits in the socket. */
    {"FI_OFI_RXM_MSG_RX_SIZE", "64"},
    /* Its buffers: 16 KiB, and our headers, so that a message of 16 KiB goes as one. */
    {"FI_OFI_RXM_BUFFER_SIZE", RXM_BUFFER_TEXT},
};

static void set_all(const struct setting *settings, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        setenv(settings[k].name, settings[k].value, 0);
    }
}

/* libfabric takes these from the environment only. Returns the size of ofi_rxm's buffers, if the
   user has not chosen another. */
static size_t set_environment(void)
{
    set_all(for_all, FM_ARRAY_LEN(for_all));
    if (access("/sys/class/infiniband", F_OK) == 0) {
        return RXM_BUFFER_OWN;
    }
    set_all(for_sockets, FM_ARRAY_LEN(for_sockets));
    return RXM_BUFFER;
}

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
    found.rxm_buffer = set_environment();
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

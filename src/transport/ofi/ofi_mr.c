/* SPDX-License-Identifier: BSD-3-Clause */
/* Registrations of memory, by keys that cannot be guessed. */
#include <sys/random.h>

#include "transport/ofi/ofi.h"

uint64_t fm_ofi_random(struct fm_ofi *ofi)
{
    if (ofi->n_random == 0) {
        if (getrandom(ofi->random, sizeof(ofi->random), 0) != (ssize_t)sizeof(ofi->random)) {
            return 0;
        }
        ofi->n_random = FM_OFI_N_RANDOM;
    }
    return ofi->random[--ofi->n_random] | 1;
}

/* A key that cannot be guessed, of as many bits as the provider takes. */
static uint64_t draw_key(struct fm_ofi *ofi)
{
    size_t bits = 8 * ofi->info->domain_attr->mr_key_size;
    uint64_t key = fm_ofi_random(ofi);

    return bits < 64 ? key & ((UINT64_C(1) << bits) - 1) : key;
}

/* Keys of few bits may be in use already. */
static int register_mr(struct fm_ofi *ofi, void *addr, size_t len, uint64_t access,
                       struct fid_mr **out_mr)
{
    int rc = -FI_ENOKEY;

    for (int k = 0; k < 16 && rc == -FI_ENOKEY; k++) {
        rc = fi_mr_reg(ofi->domain, addr, len, access, 0, draw_key(ofi), 0, out_mr, NULL);
    }
    return rc;
}

int fm_ofi_register(struct fm_ofi *ofi, void *addr, size_t len, uint64_t access,
                    struct fid_mr **out_mr)
{
    struct fid_mr *mr = NULL;
    int rc = register_mr(ofi, addr, len, access, &mr);

    if (rc == 0 && (ofi->mr_mode & FI_MR_ENDPOINT)) {
        rc = fi_mr_bind(mr, &ofi->fi_ep->fid, 0);
        rc = rc ? rc : fi_mr_enable(mr);
    }
    if (rc) {
        if (mr) {
            fi_close(&mr->fid);
        }
        return fm_fail(-FM_E_SYSTEM, "libfabric provider %s cannot register %zu bytes: %s",
                       ofi->info->fabric_attr->prov_name, len, ofi->lib->strerror(-rc));
    }
    FM_STAT(ofi->w->n_registrations++);
    FM_STAT(fathom_level_add(&ofi->w->registered, 1));
    FM_STAT(fathom_level_add(&ofi->w->registered_bytes, (int64_t)len));
    *out_mr = mr;
    return 0;
}

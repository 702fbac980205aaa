/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Exposed memory, shared by those who use the same piece at the same time, and kept afterwards only
 * if a cvar says so.
 *
 * Why nothing is kept by default (memreg_keep = 0). A registration outlives the pointer that it was
 * made from: the program may free the memory, and another piece may appear at the same address. A
 * provider that pins pages (FI_MR_ALLOCATED) would then move old pages. libfabric's own cache under
 * such providers watches the address space (FI_MR_CACHE_MONITOR) and drops what was unmapped;
 * registering there again is a look-up. Providers that do not pin (tcp, shm) register in about
 * 0.1 us, and a key that stays valid after its use lets a late or hostile peer read memory that
 * is no longer offered, or crash the process where it is no longer mapped. So keeping is left to
 * users who know that their buffers live as long as the program.
 *
 *     hash of (addr, len) --> piece --> piece          idle: pieces without user, oldest first
 *
 * Pieces are found by exact address and length. Guarded by the library lock.
 */
#pragma once

#include <fathom/mpit.h>

#include "transport/transport.h"

/* Its variables; added to the registry before fm_memreg_create(). */
extern const struct fathom_table fm_memreg_vars;

struct fm_memreg;

/* A table for the memory that `tp` (has_rma) exposes. `words` is the block of fm_memreg_vars. */
int fm_memreg_create(struct fm_transport *tp, void *words, struct fm_memreg **out_reg);

/* Ends all registrations; none may be in use. Before the transport closes. NULL is fine. */
void fm_memreg_destroy(struct fm_memreg *reg);

/* [addr, addr + len) exposed: *out_mem is valid until it is put. 0, FM_AGAIN when too many pieces
   are in use, or a failure of expose(). */
int fm_memreg_get(struct fm_memreg *reg, void *addr, size_t len, const struct fm_mem **out_mem);
void fm_memreg_put(struct fm_memreg *reg, const struct fm_mem *mem);

/* End all registrations that nobody uses now. */
void fm_memreg_trim(struct fm_memreg *reg);

/* SPDX-License-Identifier: BSD-3-Clause */
/* What libmpi_abi says about itself, for tools: which functions of the standard it lacks. */
#ifndef FATHOM_ABI_H
#define FATHOM_ABI_H

#ifdef __cplusplus
extern "C" {
#endif

/* Functions of the MPI 5.0 ABI, built or not. */
#define FATHOM_ABI_FUNCTIONS 664

/*
 * The names ("MPI_...") of the functions that raise MPI_ERR_UNSUPPORTED_OPERATION, sorted without
 * regard to case, with a NULL behind the last. Never fails; may be called at any time.
 */
const char *const *fathom_unsupported(int *out_n);

#ifdef __cplusplus
}
#endif

#endif /* FATHOM_ABI_H */

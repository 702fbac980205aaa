/* SPDX-License-Identifier: BSD-3-Clause */
/* Digests of type signatures (MPI-5.0 5.1), for checks that two sides of a message agree. */
#pragma once

#include "core/dtype/dtype.h"

/*
 * The sequence of basic types of a buffer, as a polynomial hash: digests of parts give that of the
 * whole, so that a count costs its logarithm. Types of the same representation (MPI_INT and
 * MPI_INTEGER) count as one.
 */
struct fm_signature {
    uint64_t hash;
    uint64_t power;  /* of the base, to the number of basic elements */
    bool is_unknown; /* contains MPI_PACKED, which matches anything, or is nested too deeply */
};

/* That of no data. */
#define FM_SIGNATURE_EMPTY ((struct fm_signature){.hash = 0, .power = 1})

/* Append `count` elements of a type. */
void fm_signature_add(struct fm_signature *s, const struct fm_dtype *t, MPI_Count count);
/* One number for it; 0: unknown, else equal for equal signatures. */
uint64_t fm_signature_digest(const struct fm_signature *s);

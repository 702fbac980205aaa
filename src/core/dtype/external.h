/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The portable data format "external32" (MPI-5.0 14.5.2): big-endian, IEEE, sizes of its own, no
 * padding. Bytes of count elements: count * t->ext_size.
 */
#pragma once

#include "core/dtype/dtype.h"

/* 0; -FM_E_NOMEM; -FM_E_INVAL: a value does not fit into its external form
   (MPI_ERR_CONVERSION), what was before it is written. */
int fm_external_pack(void *dst, const void *buf, MPI_Count count, const struct fm_dtype *t);
int fm_external_unpack(void *buf, MPI_Count count, const struct fm_dtype *t, const void *src);

/* SPDX-License-Identifier: BSD-3-Clause */
/* The compiler has no 16-byte integers or no 2- and 16-byte reals: these types do not exist. */
#include "core/dtype/op_kernels.h"

const bool fm_op_has_ext = false;
const fm_op_kernel_fn fm_op_kernels_ext[FM_OP_N_ARITH][FM_BASIC_COUNT];
const fm_op_pair_fn fm_op_pair_kernels_ext[FM_OP_N_LOC][FM_BASIC_COUNT];

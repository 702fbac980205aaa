/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of the predefined operations for 16-byte integers and for 2- and 16-byte reals. */
#include <string.h>

#include "core/dtype/op_kernel_macros.h"
#include "core/dtype/op_kernels.h"

const bool fm_op_has_ext = true;

FM_KERNELS_INT(i128, __int128, unsigned __int128)
FM_KERNELS_REAL(f16, _Float16)
FM_KERNELS_REAL(f128, _Float128)
FM_KERNELS_COMPLEX(cf16, f16)
FM_KERNELS_COMPLEX(cf128, f128)
FM_KERNELS_LOC(i128)
FM_KERNELS_LOC(f16)
FM_KERNELS_LOC(f128)

/* clang-format off */
#define REALS(op) [FM_BASIC_FLOAT16] = op##_f16, [FM_BASIC_FLOAT128] = op##_f128

#define COMPLEXES(op)                                                                              \
    [FM_BASIC_FLOAT16_COMPLEX] = op##_cf16, [FM_BASIC_FLOAT128_COMPLEX] = op##_cf128

#define LOGICALS(op) [FM_BASIC_INT128] = op##_i128, [FM_BASIC_LOGICAL16] = op##_i128

const fm_op_kernel_fn fm_op_kernels_ext[FM_OP_N_ARITH][FM_BASIC_COUNT] = {
    [FM_OP_MAX] = {[FM_BASIC_INT128] = max_i128, REALS(max)},
    [FM_OP_MIN] = {[FM_BASIC_INT128] = min_i128, REALS(min)},
    [FM_OP_SUM] = {[FM_BASIC_INT128] = sum_i128, REALS(sum), COMPLEXES(sum)},
    [FM_OP_PROD] = {[FM_BASIC_INT128] = prod_i128, REALS(prod), COMPLEXES(prod)},
    [FM_OP_LAND] = {LOGICALS(land)},
    [FM_OP_LOR] = {LOGICALS(lor)},
    [FM_OP_LXOR] = {LOGICALS(lxor)},
    [FM_OP_BAND] = {[FM_BASIC_INT128] = band_i128},
    [FM_OP_BOR] = {[FM_BASIC_INT128] = bor_i128},
    [FM_OP_BXOR] = {[FM_BASIC_INT128] = bxor_i128},
};

const fm_op_pair_fn fm_op_pair_kernels_ext[FM_OP_N_LOC][FM_BASIC_COUNT] = {
    {[FM_BASIC_INT128] = maxloc_i128, REALS(maxloc)},
    {[FM_BASIC_INT128] = minloc_i128, REALS(minloc)},
};
/* clang-format on */

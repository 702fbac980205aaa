/* SPDX-License-Identifier: BSD-3-Clause */
/* Loops of the predefined operations for the types that every compiler has (a table file). */
#include "core/dtype/op_kernels.h"

#include <string.h>

#include "core/dtype/op_kernel_macros.h"

FM_KERNELS_INT(i8, int8_t, unsigned)
FM_KERNELS_INT(i16, int16_t, unsigned)
FM_KERNELS_INT(i32, int32_t, uint32_t)
FM_KERNELS_INT(i64, int64_t, uint64_t)
FM_KERNELS_INT(u8, uint8_t, unsigned)
FM_KERNELS_INT(u16, uint16_t, unsigned)
FM_KERNELS_INT(u32, uint32_t, uint32_t)
FM_KERNELS_INT(u64, uint64_t, uint64_t)
FM_KERNELS_REAL(f, float)
FM_KERNELS_REAL(d, double)
FM_KERNELS_REAL(ld, long double)
FM_KERNELS_COMPLEX(cf, f)
FM_KERNELS_COMPLEX(cd, d)
FM_KERNELS_COMPLEX(cld, ld)

FM_KERNELS_LOC(i8)
FM_KERNELS_LOC(i16)
FM_KERNELS_LOC(i32)
FM_KERNELS_LOC(i64)
FM_KERNELS_LOC(u8)
FM_KERNELS_LOC(u16)
FM_KERNELS_LOC(u32)
FM_KERNELS_LOC(u64)
FM_KERNELS_LOC(f)
FM_KERNELS_LOC(d)
FM_KERNELS_LOC(ld)

/* clang-format off */
#define INTS(op)                                                                                   \
    [FM_BASIC_INT8] = op##_i8, [FM_BASIC_INT16] = op##_i16, [FM_BASIC_INT32] = op##_i32,           \
    [FM_BASIC_INT64] = op##_i64, [FM_BASIC_UINT8] = op##_u8, [FM_BASIC_UINT16] = op##_u16,         \
    [FM_BASIC_UINT32] = op##_u32, [FM_BASIC_UINT64] = op##_u64

#define REALS(op)                                                                                  \
    [FM_BASIC_FLOAT] = op##_f, [FM_BASIC_DOUBLE] = op##_d, [FM_BASIC_LONG_DOUBLE] = op##_ld

#define COMPLEXES(op)                                                                              \
    [FM_BASIC_FLOAT_COMPLEX] = op##_cf, [FM_BASIC_DOUBLE_COMPLEX] = op##_cd,                       \
    [FM_BASIC_LONG_DOUBLE_COMPLEX] = op##_cld

#define LOGICALS(op)                                                                               \
    [FM_BASIC_BOOL] = op##_u8, [FM_BASIC_LOGICAL1] = op##_i8, [FM_BASIC_LOGICAL2] = op##_i16,      \
    [FM_BASIC_LOGICAL4] = op##_i32, [FM_BASIC_LOGICAL8] = op##_i64

const fm_op_kernel_fn fm_op_kernels[FM_OP_N_ARITH][FM_BASIC_COUNT] = {
    [FM_OP_MAX] = {INTS(max), REALS(max)},
    [FM_OP_MIN] = {INTS(min), REALS(min)},
    [FM_OP_SUM] = {INTS(sum), REALS(sum), COMPLEXES(sum)},
    [FM_OP_PROD] = {INTS(prod), REALS(prod), COMPLEXES(prod)},
    [FM_OP_LAND] = {INTS(land), LOGICALS(land)},
    [FM_OP_LOR] = {INTS(lor), LOGICALS(lor)},
    [FM_OP_LXOR] = {INTS(lxor), LOGICALS(lxor)},
    [FM_OP_BAND] = {INTS(band), [FM_BASIC_BYTE] = band_u8},
    [FM_OP_BOR] = {INTS(bor), [FM_BASIC_BYTE] = bor_u8},
    [FM_OP_BXOR] = {INTS(bxor), [FM_BASIC_BYTE] = bxor_u8},
};

const fm_op_pair_fn fm_op_pair_kernels[FM_OP_N_LOC][FM_BASIC_COUNT] = {
    {INTS(maxloc), REALS(maxloc)},
    {INTS(minloc), REALS(minloc)},
};
/* clang-format on */

#define INDEX_MIN(basic, name)                                                                     \
    case basic:                                                                                    \
        if (*(const ua_##name *)a < *(const ua_##name *)b) {                                       \
            *(ua_##name *)b = *(const ua_##name *)a;                                               \
        }                                                                                          \
        return;

void fm_op_index_min(const char *a, char *b, enum fm_basic index)
{
    switch (index) {
        INDEX_MIN(FM_BASIC_INT8, i8)
        INDEX_MIN(FM_BASIC_INT16, i16)
        INDEX_MIN(FM_BASIC_INT32, i32)
        INDEX_MIN(FM_BASIC_INT64, i64)
        INDEX_MIN(FM_BASIC_UINT8, u8)
        INDEX_MIN(FM_BASIC_UINT16, u16)
        INDEX_MIN(FM_BASIC_UINT32, u32)
        INDEX_MIN(FM_BASIC_UINT64, u64)
        INDEX_MIN(FM_BASIC_FLOAT, f)  /* MPI_2REAL */
        INDEX_MIN(FM_BASIC_DOUBLE, d) /* MPI_2DOUBLE_PRECISION */
    default:
        fm_assert(!"an index of another type");
    }
}

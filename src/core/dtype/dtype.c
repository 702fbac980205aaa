/* SPDX-License-Identifier: BSD-3-Clause */
/* Predefined datatypes, and the life of all of them (MPI-5.0 3.2.2, 5.1.9, 20.3). */
#include "core/dtype/dtype.h"

#include <float.h>
#include <stdlib.h>
#include <string.h>
#include <wchar.h>

#include "core/dtype/dtype_make.h"
#include "core/dtype/op_kernels.h"
#include "core/object/attr.h"
#include "util/status.h"

#define FM_DTYPE_MAX (1u << 20) /* live datatypes; only address space until used */

struct row {
    MPI_Datatype handle;
    const char *name;
    uint8_t basic;
    uint8_t size;
    uint8_t align;
};

struct pair_row {
    MPI_Datatype handle, value, index;
    const char *name;
    uint8_t value_len;
    struct fm_dtype_pair pair;
    uint8_t align;
};

#define BY_SIZE(type, a1, a2, a4, a8)                                                              \
    (sizeof(type) == 1 ? (a1) : sizeof(type) == 2 ? (a2) : sizeof(type) == 4 ? (a4) : (a8))
#define INT_OF(type) BY_SIZE(type, FM_BASIC_INT8, FM_BASIC_INT16, FM_BASIC_INT32, FM_BASIC_INT64)
#define UINT_OF(type)                                                                              \
    BY_SIZE(type, FM_BASIC_UINT8, FM_BASIC_UINT16, FM_BASIC_UINT32, FM_BASIC_UINT64)

#define ROW(name, type, basic)                                                                     \
    {                                                                                              \
        MPI_##name, "MPI_" #name, basic, sizeof(type), _Alignof(type)                              \
    }
#define EXT(name, basic, size, align)                                                              \
    {                                                                                              \
        MPI_##name, "MPI_" #name, basic, size, align                                               \
    }

/*
 * Fortran types have the sizes of the usual compilers (gfortran, ifx, flang without options that
 * change the default kinds). The optional ones exist as far as the C compiler can calculate with
 * them (op_kernels_ext.c); where it cannot, their handles are not known at all, like
 * MPI_DATATYPE_NULL (MPI-5.0 3.2.2: optional types need not be supported). A type with two names
 * is called by the one of which table 3.2 makes the other a synonym.
 */
static const struct row rows[] = {
    ROW(PACKED, char, FM_BASIC_CHAR),
    ROW(BYTE, unsigned char, FM_BASIC_BYTE),
    ROW(AINT, MPI_Aint, INT_OF(MPI_Aint)),
    ROW(COUNT, MPI_Count, INT_OF(MPI_Count)),
    ROW(OFFSET, MPI_Offset, INT_OF(MPI_Offset)),
    ROW(SHORT, short, INT_OF(short)),
    ROW(INT, int, INT_OF(int)),
    ROW(LONG, long, INT_OF(long)),
    ROW(LONG_LONG_INT, long long, INT_OF(long long)),
    ROW(UNSIGNED_SHORT, unsigned short, UINT_OF(unsigned short)),
    ROW(UNSIGNED, unsigned, UINT_OF(unsigned)),
    ROW(UNSIGNED_LONG, unsigned long, UINT_OF(unsigned long)),
    ROW(UNSIGNED_LONG_LONG, unsigned long long, UINT_OF(unsigned long long)),
    ROW(CHAR, char, FM_BASIC_CHAR),
    ROW(SIGNED_CHAR, signed char, FM_BASIC_INT8),
    ROW(UNSIGNED_CHAR, unsigned char, FM_BASIC_UINT8),
    ROW(WCHAR, wchar_t, FM_BASIC_CHAR),
    ROW(C_BOOL, _Bool, FM_BASIC_BOOL),
    ROW(CXX_BOOL, _Bool, FM_BASIC_BOOL),
    ROW(INT8_T, int8_t, FM_BASIC_INT8),
    ROW(INT16_T, int16_t, FM_BASIC_INT16),
    ROW(INT32_T, int32_t, FM_BASIC_INT32),
    ROW(INT64_T, int64_t, FM_BASIC_INT64),
    ROW(UINT8_T, uint8_t, FM_BASIC_UINT8),
    ROW(UINT16_T, uint16_t, FM_BASIC_UINT16),
    ROW(UINT32_T, uint32_t, FM_BASIC_UINT32),
    ROW(UINT64_T, uint64_t, FM_BASIC_UINT64),
    ROW(FLOAT, float, FM_BASIC_FLOAT),
    ROW(DOUBLE, double, FM_BASIC_DOUBLE),
    ROW(LONG_DOUBLE, long double, FM_BASIC_LONG_DOUBLE),
    ROW(C_COMPLEX, float _Complex, FM_BASIC_FLOAT_COMPLEX),
    ROW(C_DOUBLE_COMPLEX, double _Complex, FM_BASIC_DOUBLE_COMPLEX),
    ROW(C_LONG_DOUBLE_COMPLEX, long double _Complex, FM_BASIC_LONG_DOUBLE_COMPLEX),
    ROW(CXX_FLOAT_COMPLEX, float _Complex, FM_BASIC_FLOAT_COMPLEX),
    ROW(CXX_DOUBLE_COMPLEX, double _Complex, FM_BASIC_DOUBLE_COMPLEX),
    ROW(CXX_LONG_DOUBLE_COMPLEX, long double _Complex, FM_BASIC_LONG_DOUBLE_COMPLEX),
    ROW(LOGICAL, int32_t, FM_BASIC_LOGICAL4),
    ROW(INTEGER, int32_t, FM_BASIC_INT32),
    ROW(REAL, float, FM_BASIC_FLOAT),
    ROW(DOUBLE_PRECISION, double, FM_BASIC_DOUBLE),
    ROW(COMPLEX, float _Complex, FM_BASIC_FLOAT_COMPLEX),
    ROW(DOUBLE_COMPLEX, double _Complex, FM_BASIC_DOUBLE_COMPLEX),
    ROW(CHARACTER, char, FM_BASIC_CHAR),
    ROW(LOGICAL1, int8_t, FM_BASIC_LOGICAL1),
    ROW(LOGICAL2, int16_t, FM_BASIC_LOGICAL2),
    ROW(LOGICAL4, int32_t, FM_BASIC_LOGICAL4),
    ROW(LOGICAL8, int64_t, FM_BASIC_LOGICAL8),
    EXT(LOGICAL16, FM_BASIC_LOGICAL16, 16, 16),
    ROW(INTEGER1, int8_t, FM_BASIC_INT8),
    ROW(INTEGER2, int16_t, FM_BASIC_INT16),
    ROW(INTEGER4, int32_t, FM_BASIC_INT32),
    ROW(INTEGER8, int64_t, FM_BASIC_INT64),
    EXT(INTEGER16, FM_BASIC_INT128, 16, 16),
    EXT(REAL2, FM_BASIC_FLOAT16, 2, 2),
    ROW(REAL4, float, FM_BASIC_FLOAT),
    ROW(REAL8, double, FM_BASIC_DOUBLE),
    EXT(REAL16, FM_BASIC_FLOAT128, 16, 16),
    EXT(COMPLEX4, FM_BASIC_FLOAT16_COMPLEX, 4, 2),
    ROW(COMPLEX8, float _Complex, FM_BASIC_FLOAT_COMPLEX),
    ROW(COMPLEX16, double _Complex, FM_BASIC_DOUBLE_COMPLEX),
    EXT(COMPLEX32, FM_BASIC_FLOAT128_COMPLEX, 32, 16),
};

#define PAIR_AS(name, value, vtype, vbasic, index, itype, ibasic)                                  \
    {                                                                                              \
        MPI_##name, value, index, "MPI_" #name, sizeof(vtype),                                     \
            {vbasic,                                                                               \
             ibasic,                                                                               \
             sizeof(itype),                                                                        \
             offsetof(                                                                             \
                 struct {                                                                          \
                     vtype v;                                                                      \
                     itype i;                                                                      \
                 },                                                                                \
                 i),                                                                               \
             sizeof(struct {                                                                       \
                 vtype v;                                                                          \
                 itype i;                                                                          \
             }),                                                                                   \
             sizeof(itype)},                                                                       \
            _Alignof(struct {                                                                      \
                vtype v;                                                                           \
                itype i;                                                                           \
            })                                                                                     \
    }

static const struct pair_row pair_rows[] = {
    PAIR_AS(FLOAT_INT, MPI_FLOAT, float, FM_BASIC_FLOAT, MPI_INT, int, INT_OF(int)),
    PAIR_AS(DOUBLE_INT, MPI_DOUBLE, double, FM_BASIC_DOUBLE, MPI_INT, int, INT_OF(int)),
    PAIR_AS(LONG_INT, MPI_LONG, long, INT_OF(long), MPI_INT, int, INT_OF(int)),
    PAIR_AS(2INT, MPI_INT, int, INT_OF(int), MPI_INT, int, INT_OF(int)),
    PAIR_AS(SHORT_INT, MPI_SHORT, short, INT_OF(short), MPI_INT, int, INT_OF(int)),
    PAIR_AS(LONG_DOUBLE_INT, MPI_LONG_DOUBLE, long double, FM_BASIC_LONG_DOUBLE, MPI_INT, int,
            INT_OF(int)),
    PAIR_AS(2REAL, MPI_REAL, float, FM_BASIC_FLOAT, MPI_REAL, float, FM_BASIC_FLOAT),
    PAIR_AS(2DOUBLE_PRECISION, MPI_DOUBLE_PRECISION, double, FM_BASIC_DOUBLE, MPI_DOUBLE_PRECISION,
            double, FM_BASIC_DOUBLE),
    PAIR_AS(2INTEGER, MPI_INTEGER, int32_t, FM_BASIC_INT32, MPI_INTEGER, int32_t, FM_BASIC_INT32),
};

/* A predefined type of one or two basic elements: everything but handle and name. */
struct fm_dtype *fm_dtype_new_basic(uint8_t basic, MPI_Count size, MPI_Count align)
{
    struct fm_dtype *t = fm_object_new(FM_KIND_DTYPE);
    struct fm_dtype_prog *prog;

    if (!t) {
        return NULL;
    }
    prog = fm_dtype_alloc(t, sizeof(*prog));
    if (!prog) {
        fm_object_free(t);
        return NULL;
    }
    fm_dtype_prog_run(prog, 0, size);
    t->prog = prog;
    t->basic = basic;
    t->size = t->extent = t->true_extent = size;
    t->align = align;
    t->ext_size = size;
    t->n_basic = 1;
    t->is_contig = t->is_committed = t->is_predefined = true;
    t->elem = t;
    return t;
}

struct fm_dtype *fm_dtype_new_pair(const struct fm_dtype_pair *pair, MPI_Count value_len,
                                   MPI_Count align)
{
    MPI_Count size = value_len + pair->index_len;
    struct fm_dtype *t = fm_dtype_new_basic(FM_BASIC_NONE, size, align);
    struct fm_dtype_pair *copy = t ? fm_dtype_alloc(t, sizeof(*copy)) : NULL;
    struct fm_dtype_prog *prog = copy ? fm_dtype_alloc(t, sizeof(*prog)) : NULL;

    if (!prog) {
        fm_dtype_unref(t);
        return NULL;
    }
    *copy = *pair;
    t->pair = copy;
    t->n_basic = 2;
    t->extent = pair->extent;
    t->true_extent = pair->index_at + pair->index_len;
    t->is_contig = t->extent == size;
    if (t->true_extent != size) { /* a hole between the two */
        MPI_Count *offs = fm_dtype_alloc(t, 5 * sizeof(*offs));

        if (!offs) {
            fm_dtype_unref(t);
            return NULL;
        }
        memcpy(offs, (MPI_Count[]){0, pair->index_at, 0, value_len, size}, 5 * sizeof(*offs));
        *prog = (struct fm_dtype_prog){.kind = FM_PROG_TAB,
                                       .size = size,
                                       .n_runs = 2,
                                       .u.tab = {.n = 2, .n1 = 1, .offs = offs, .pos = offs + 2}};
        t->prog = prog;
    }
    return t;
}

/* In external32 some types are narrower than here, and a long double is always an IEEE binary128
   (MPI-5.0 14.5.2). */
static MPI_Count external_size(const struct fm_dtype *t, MPI_Datatype handle)
{
    if (handle == MPI_LONG || handle == MPI_UNSIGNED_LONG) {
        return 4;
    }
    if (handle == MPI_WCHAR) {
        return 2;
    }
    if (handle == MPI_LONG_INT) {
        return 8;
    }
    if (t->basic == FM_BASIC_LONG_DOUBLE || handle == MPI_LONG_DOUBLE_INT) {
        return handle == MPI_LONG_DOUBLE_INT ? 20 : 16;
    }
    return t->basic == FM_BASIC_LONG_DOUBLE_COMPLEX ? 32 : t->size;
}

static int predefine(struct fm_dtype *t, MPI_Datatype handle, const char *name)
{
    if (!t) {
        return -FM_E_NOMEM;
    }
    t->ext_size = external_size(t, handle);
    t->handle = handle;
    strcpy(t->name, name);
    fm_handle_predefine(handle, t);
    return 0;
}

int fm_dtype_init(void)
{
    int rc = fm_handle_pool(FM_KIND_DTYPE, sizeof(struct fm_dtype), FM_DTYPE_MAX);

    if (rc != 0 || fm_dtype_byte()) {
        return rc;
    }
    for (size_t i = 0; i < FM_ARRAY_LEN(rows) && rc == 0; i++) {
        const struct row *r = &rows[i];

        if (r->basic < FM_BASIC_EXT || fm_op_has_ext) {
            rc = predefine(fm_dtype_new_basic(r->basic, r->size, r->align), r->handle, r->name);
        }
    }
    for (size_t i = 0; i < FM_ARRAY_LEN(pair_rows) && rc == 0; i++) {
        const struct pair_row *r = &pair_rows[i];

        rc = predefine(fm_dtype_new_pair(&r->pair, r->value_len, r->align), r->handle, r->name);
    }
    return rc;
}

void fm_dtype_finish(void)
{
    struct fm_pool *pool = &fm_root.pools[FM_KIND_DTYPE];

    /* What the user forgot to free goes too: its memory would be ours to answer for. */
    for (size_t at = 0; at < pool->used_len; at += pool->stride) {
        struct fm_dtype *t = (struct fm_dtype *)(pool->base + at);

        if (t->head.kind == FM_KIND_DTYPE) {
            fm_attr_drop(&t->attrs);
            fm_dtype_free_mem(t);
            fm_object_free(t);
        }
    }
    for (size_t i = 0; i < FM_HANDLE_RESERVED; i++) {
        if (fm_pool_owns(pool, fm_root.predefined[i])) {
            fm_root.predefined[i] = NULL;
        }
    }
}

struct fm_dtype *fm_dtype_byte(void)
{
    return (struct fm_dtype *)fm_root.predefined[(uintptr_t)MPI_BYTE];
}

/* ---------------------------------------------------------------- unnamed predefined types */

/* They are in a list that begins at MPI_BYTE, and are told apart by their environments. */
static struct fm_dtype *find_unnamed(int combiner, MPI_Count n, const MPI_Count *values,
                                     struct fm_dtype *const *types)
{
    for (struct fm_dtype *t = fm_dtype_byte()->link; t; t = t->link) {
        const struct fm_dtype_env *e = t->env;

        if (e->combiner == combiner &&
            memcmp(e->values, values, (size_t)n * sizeof(*values)) == 0 &&
            (!types || (e->types[0] == types[0] && e->types[1] == types[1]))) {
            return t;
        }
    }
    return NULL;
}

/* Give a predefined type an environment and put it into the list. Frees it on failure. */
static int add_unnamed(struct fm_dtype *t, int combiner, MPI_Count n, const MPI_Count *values,
                       struct fm_dtype *const *types)
{
    struct fm_dtype *byte = fm_dtype_byte();
    struct fm_dtype_env *e = t ? fm_dtype_env_add(t, combiner, n, types ? 2 : 0) : NULL;

    if (!e) {
        fm_dtype_unref(t);
        return -FM_E_NOMEM;
    }
    memcpy(e->values, values, (size_t)n * sizeof(*values));
    for (int i = 0; types && i < 2; i++) {
        fm_dtype_take(t, i, types[i]);
    }
    t->handle = (MPI_Datatype)t;
    t->link = byte->link;
    byte->link = t;
    return 0;
}

/* The Fortran kinds of a usual compiler: decimal digits, exponent range, the type of each. */
static const struct {
    int p, r;
    MPI_Datatype real, complex;
} real_kinds[] = {
    {6, 37, MPI_REAL4, MPI_COMPLEX8},
    {15, 307, MPI_REAL8, MPI_COMPLEX16},
    {LDBL_DIG, LDBL_MAX_10_EXP - 1, MPI_LONG_DOUBLE, MPI_C_LONG_DOUBLE_COMPLEX},
    {33, 4931, MPI_REAL16, MPI_COMPLEX32},
};
static const struct {
    int r;
    MPI_Datatype type;
} int_kinds[] = {
    {2, MPI_INTEGER1},  {4, MPI_INTEGER2},   {9, MPI_INTEGER4},
    {18, MPI_INTEGER8}, {38, MPI_INTEGER16},
};

/* The first kind that has at least p digits and range r, as SELECTED_REAL_KIND and
   SELECTED_INT_KIND choose. NULL: none. */
static struct fm_dtype *model_of(int combiner, int p, int r)
{
    bool is_complex = combiner == MPI_COMBINER_F90_COMPLEX;

    p = p == MPI_UNDEFINED ? 0 : p;
    r = r == MPI_UNDEFINED ? 0 : r;
    for (size_t i = 0; combiner != MPI_COMBINER_F90_INTEGER && i < FM_ARRAY_LEN(real_kinds); i++) {
        if (p <= real_kinds[i].p && r <= real_kinds[i].r) {
            return fm_dtype_get(is_complex ? real_kinds[i].complex : real_kinds[i].real);
        }
    }
    for (size_t i = 0; combiner == MPI_COMBINER_F90_INTEGER && i < FM_ARRAY_LEN(int_kinds); i++) {
        if (r <= int_kinds[i].r) {
            return fm_dtype_get(int_kinds[i].type);
        }
    }
    return NULL;
}

int fm_dtype_f90(int combiner, int p, int r, struct fm_dtype **out)
{
    MPI_Count values[2] = {p, r};
    MPI_Count n = 2;
    const struct fm_dtype *model = model_of(combiner, p, r);
    struct fm_dtype *t;
    int rc;

    if (combiner == MPI_COMBINER_F90_INTEGER) {
        values[0] = r;
        n = 1;
    }
    if (!model) {
        *out = NULL;
        return 0;
    }
    t = find_unnamed(combiner, n, values, NULL);
    if (!t) {
        t = fm_dtype_new_basic(model->basic, model->size, model->align);
        rc = add_unnamed(t, combiner, n, values, NULL);
        if (rc != 0) {
            return rc;
        }
        t->ext_size = model->ext_size;
    }
    *out = t;
    return 0;
}

static MPI_Count round_up(MPI_Count n, MPI_Count align)
{
    return (n + align - 1) / align * align;
}

/* Values that MINLOC and MAXLOC can compare, indexes that they can order (6.9.4). */
static bool can_pair(const struct fm_dtype *value, const struct fm_dtype *index)
{
    const fm_op_pair_fn *kernels =
        value->basic < FM_BASIC_EXT ? fm_op_pair_kernels[0] : fm_op_pair_kernels_ext[0];

    return value->is_predefined && index->is_predefined && kernels[value->basic] &&
           index->basic >= FM_BASIC_INT8 && index->basic <= FM_BASIC_UINT64;
}

int fm_dtype_value_index(struct fm_dtype *value, struct fm_dtype *index, struct fm_dtype **out)
{
    struct fm_dtype *parts[2] = {value, index};
    struct fm_dtype_pair pair;
    MPI_Count align = value->align > index->align ? value->align : index->align;
    MPI_Count at = round_up(value->size, index->align);
    struct fm_dtype *t;
    int rc;

    for (size_t i = 0; i < FM_ARRAY_LEN(pair_rows); i++) {
        if (pair_rows[i].value == value->handle && pair_rows[i].index == index->handle) {
            *out = fm_dtype_get(pair_rows[i].handle);
            return 0;
        }
    }
    if (!can_pair(value, index)) {
        *out = NULL;
        return 0;
    }
    t = find_unnamed(MPI_COMBINER_VALUE_INDEX, 0, &at, parts);
    if (!t) {
        pair = (struct fm_dtype_pair){
            .value = value->basic,
            .index = index->basic,
            .index_len = (uint8_t)index->size,
            .index_at = (uint8_t)at,
            .extent = (uint8_t)round_up(at + index->size, align),
            .index_ext = (uint8_t)index->ext_size,
        };
        t = fm_dtype_new_pair(&pair, value->size, align);
        rc = add_unnamed(t, MPI_COMBINER_VALUE_INDEX, 0, &at, parts);
        if (rc != 0) {
            return rc;
        }
        t->ext_size = value->ext_size + index->ext_size;
    }
    *out = t;
    return 0;
}

struct fm_dtype *fm_dtype_match_size(int typeclass, int size)
{
    static const struct {
        int typeclass, size;
        MPI_Datatype type;
    } sized[] = {
        {MPI_TYPECLASS_INTEGER, 1, MPI_INTEGER1},   {MPI_TYPECLASS_INTEGER, 2, MPI_INTEGER2},
        {MPI_TYPECLASS_INTEGER, 4, MPI_INTEGER4},   {MPI_TYPECLASS_INTEGER, 8, MPI_INTEGER8},
        {MPI_TYPECLASS_INTEGER, 16, MPI_INTEGER16}, {MPI_TYPECLASS_REAL, 2, MPI_REAL2},
        {MPI_TYPECLASS_REAL, 4, MPI_REAL4},         {MPI_TYPECLASS_REAL, 8, MPI_REAL8},
        {MPI_TYPECLASS_REAL, 16, MPI_REAL16},       {MPI_TYPECLASS_COMPLEX, 4, MPI_COMPLEX4},
        {MPI_TYPECLASS_COMPLEX, 8, MPI_COMPLEX8},   {MPI_TYPECLASS_COMPLEX, 16, MPI_COMPLEX16},
        {MPI_TYPECLASS_COMPLEX, 32, MPI_COMPLEX32}, {MPIX_TYPECLASS_LOGICAL, 1, MPI_LOGICAL1},
        {MPIX_TYPECLASS_LOGICAL, 2, MPI_LOGICAL2},  {MPIX_TYPECLASS_LOGICAL, 4, MPI_LOGICAL4},
        {MPIX_TYPECLASS_LOGICAL, 8, MPI_LOGICAL8},  {MPIX_TYPECLASS_LOGICAL, 16, MPI_LOGICAL16},
    };

    for (size_t i = 0; i < FM_ARRAY_LEN(sized); i++) {
        if (sized[i].typeclass == typeclass && sized[i].size == size) {
            return fm_dtype_get(sized[i].type);
        }
    }
    return NULL;
}

/* ---------------------------------------------------------------- memory */

/* Memory that lives and dies with a type: blocks linked through a header. */
struct block {
    struct block *next;
    uint64_t pad; /* what follows is aligned for anything */
};

void *fm_dtype_alloc(struct fm_dtype *t, size_t len)
{
    struct block *b = len < SIZE_MAX - sizeof(*b) ? malloc(sizeof(*b) + len) : NULL;

    if (!b) {
        fm_fail(-FM_E_NOMEM, "a datatype needs %zu bytes that are not to be had", len);
        return NULL;
    }
    b->next = t->mem;
    t->mem = b;
    return b + 1;
}

void fm_dtype_free_mem(struct fm_dtype *t)
{
    struct block *b = t->mem;

    while (b) {
        struct block *next = b->next;

        free(b);
        b = next;
    }
    t->mem = NULL;
}

/* Types that lose their last user wait in a list, so that freeing a deep nest does not recurse. */
void fm_dtype_release(struct fm_dtype *t)
{
    struct fm_dtype *dead = t;

    t->link = NULL;
    while (dead) {
        t = dead;
        dead = t->link;
        for (MPI_Count i = 0; t->env && i < t->env->n_types; i++) {
            struct fm_dtype *part = t->env->types[i];

            if (part && --part->head.refs == 0) {
                part->link = dead;
                dead = part;
            }
        }
        fm_dtype_free_mem(t);
        fm_object_free(t);
    }
}

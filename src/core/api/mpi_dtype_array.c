/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes for parts of arrays, and those that are chosen rather than made: copies, Fortran's
   parameterized types, pairs (MPI-5.0 5.1.3, 5.1.4, 5.1.10, 6.9.4, 19.1.5). */
#include "core/api/dtype_args.h"
#include "core/dtype/dtype_make.h"
#include "core/object/attr.h"

/* An array argument of sizes: int or MPI_Count. */
struct sizes {
    const int *i;
    const MPI_Count *c;
};

static void sizes_copy(MPI_Count *to, const struct sizes *s, MPI_Count n)
{
    for (MPI_Count k = 0; k < n; k++) {
        to[k] = s->i ? s->i[k] : s->c[k];
    }
}

static int check_array(MPI_Count ndims, int order, bool has_null, const MPI_Datatype *newtype)
{
    if (ndims < 1) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_DIMS, "ndims is %lld, but must be positive",
                        (long long)ndims);
    }
    if (order != MPI_ORDER_C && order != MPI_ORDER_FORTRAN) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                        "order is %d, but must be MPI_ORDER_C or MPI_ORDER_FORTRAN", order);
    }
    if (has_null) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "an array argument is NULL");
    }
    return out_arg(newtype, "newtype");
}

static int bad_dim(const char *argument, MPI_Count i, MPI_Count value, const char *rule)
{
    return fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "%s[%lld] is %lld, but %s", argument,
                    (long long)i, (long long)value, rule);
}

/* v: ndims, sizes, subsizes, starts, order */
static int check_subarray(const MPI_Count *v)
{
    MPI_Count n = v[0];

    for (MPI_Count i = 0; i < n; i++) {
        MPI_Count size = v[1 + i], sub = v[1 + n + i], start = v[1 + 2 * n + i];

        if (size < 1) {
            return bad_dim("array_of_sizes", i, size, "must be positive");
        }
        if (sub < 1 || sub > size) {
            return bad_dim("array_of_subsizes", i, sub, "must be from 1 to the size");
        }
        if (start < 0 || start > size - sub) {
            return bad_dim("array_of_starts", i, start,
                           "must be from 0 to size - subsize of its dimension");
        }
    }
    return 0;
}

/* The new type's values and oldtype are there: check them, finish it. */
static int finish(struct fm_dtype *t, int (*check)(const MPI_Count *), MPI_Datatype oldtype,
                  MPI_Datatype *newtype)
{
    struct fm_dtype *old;
    int rc = check(t->env->values);

    rc = rc ? rc : dtype_arg(oldtype, "oldtype", &old);
    if (rc) {
        fm_dtype_unref(t);
        return rc;
    }
    fm_dtype_take(t, 0, old);
    rc = fm_dtype_end(t);
    if (rc) {
        return fm_raise_status(NULL, fm_root.call, rc);
    }
    *newtype = t->handle;
    return MPI_SUCCESS;
}

static int make_subarray(bool is_large, MPI_Count ndims, const struct sizes parts[3], int order,
                         MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    bool has_null = false;
    struct fm_dtype *t;
    int rc;

    for (int i = 0; i < 3; i++) {
        has_null |= !parts[i].i && !parts[i].c;
    }
    rc = check_array(ndims, order, has_null, newtype);
    if (rc) {
        return rc;
    }
    t = fm_dtype_begin(MPI_COMBINER_SUBARRAY, is_large, 2 + 3 * ndims, 1);
    if (!t) {
        return fm_raise_status(NULL, fm_root.call, -FM_E_NOMEM);
    }
    t->env->values[0] = ndims;
    for (int i = 0; i < 3; i++) {
        sizes_copy(t->env->values + 1 + i * ndims, &parts[i], ndims);
    }
    t->env->values[1 + 3 * ndims] = order;
    return finish(t, check_subarray, oldtype, newtype);
}

int PMPI_Type_create_subarray(int ndims, const int array_of_sizes[], const int array_of_subsizes[],
                              const int array_of_starts[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct sizes parts[3] = {
        {.i = array_of_sizes}, {.i = array_of_subsizes}, {.i = array_of_starts}};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_subarray(false, ndims, parts, order, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_subarray)

int PMPI_Type_create_subarray_c(int ndims, const MPI_Count array_of_sizes[],
                                const MPI_Count array_of_subsizes[],
                                const MPI_Count array_of_starts[], int order, MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    struct sizes parts[3] = {
        {.c = array_of_sizes}, {.c = array_of_subsizes}, {.c = array_of_starts}};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_subarray(true, ndims, parts, order, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_subarray_c)

/* One dimension of a darray (5.1.4). */
static int check_distribution(MPI_Count i, MPI_Count gsize, MPI_Count distrib, MPI_Count darg,
                              MPI_Count psize)
{
    MPI_Count reach;

    if (gsize < 1) {
        return bad_dim("array_of_gsizes", i, gsize, "must be positive");
    }
    if (psize < 1) {
        return bad_dim("array_of_psizes", i, psize, "must be positive");
    }
    if (distrib == MPI_DISTRIBUTE_NONE) { /* one block for the first of psize processes */
        return 0;
    }
    if (distrib != MPI_DISTRIBUTE_BLOCK && distrib != MPI_DISTRIBUTE_CYCLIC) {
        return bad_dim("array_of_distribs", i, distrib,
                       "must be MPI_DISTRIBUTE_BLOCK, _CYCLIC or _NONE");
    }
    if (darg == MPI_DISTRIBUTE_DFLT_DARG) {
        return 0;
    }
    if (darg < 1) {
        return bad_dim("array_of_dargs", i, darg, "must be positive, or MPI_DISTRIBUTE_DFLT_DARG");
    }
    if (distrib == MPI_DISTRIBUTE_BLOCK && !__builtin_mul_overflow(darg, psize, &reach) &&
        reach < gsize) {
        return bad_dim("array_of_dargs", i, darg,
                       "blocks of that size do not cover the dimension: darg * psize < gsize");
    }
    return 0;
}

/* v: size, rank, ndims, gsizes, distribs, dargs, psizes, order */
static int check_darray(const MPI_Count *v)
{
    MPI_Count n = v[2];
    MPI_Count product = 1;
    int rc = 0;

    for (MPI_Count i = 0; i < n && rc == 0; i++) {
        rc = check_distribution(i, v[3 + i], v[3 + n + i], v[3 + 2 * n + i], v[3 + 3 * n + i]);
        if (__builtin_mul_overflow(product, v[3 + 3 * n + i], &product)) {
            product = -1;
        }
    }
    if (rc == 0 && product != v[0]) {
        rc = fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                      "array_of_psizes is a grid of %lld processes, but size is %lld",
                      (long long)product, (long long)v[0]);
    }
    return rc;
}

struct darray {
    int size, rank, ndims;
    struct sizes gsizes;
    const int *distribs, *dargs, *psizes;
    int order;
};

static int make_darray(bool is_large, const struct darray *a, MPI_Datatype oldtype,
                       MPI_Datatype *newtype)
{
    MPI_Count n = a->ndims;
    struct sizes ints[3] = {{.i = a->distribs}, {.i = a->dargs}, {.i = a->psizes}};
    bool has_null = (!a->gsizes.i && !a->gsizes.c) || !a->distribs || !a->dargs || !a->psizes;
    struct fm_dtype *t;
    int rc = check_array(n, a->order, has_null, newtype);

    if (!rc && a->size < 1) {
        rc = fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "size is %d, but must be positive", a->size);
    }
    if (!rc && (a->rank < 0 || a->rank >= a->size)) {
        rc = fm_raise(NULL, fm_root.call, MPI_ERR_RANK, "rank is %d, but must be from 0 to %d",
                      a->rank, a->size - 1);
    }
    if (rc) {
        return rc;
    }
    t = fm_dtype_begin(MPI_COMBINER_DARRAY, is_large, 4 + 4 * n, 1);
    if (!t) {
        return fm_raise_status(NULL, fm_root.call, -FM_E_NOMEM);
    }
    t->env->values[0] = a->size;
    t->env->values[1] = a->rank;
    t->env->values[2] = n;
    sizes_copy(t->env->values + 3, &a->gsizes, n);
    for (int i = 0; i < 3; i++) {
        sizes_copy(t->env->values + 3 + (i + 1) * n, &ints[i], n);
    }
    t->env->values[3 + 4 * n] = a->order;
    return finish(t, check_darray, oldtype, newtype);
}

int PMPI_Type_create_darray(int size, int rank, int ndims, const int array_of_gsizes[],
                            const int array_of_distribs[], const int array_of_dargs[],
                            const int array_of_psizes[], int order, MPI_Datatype oldtype,
                            MPI_Datatype *newtype)
{
    struct darray a = {size,
                       rank,
                       ndims,
                       {.i = array_of_gsizes},
                       array_of_distribs,
                       array_of_dargs,
                       array_of_psizes,
                       order};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_darray(false, &a, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_darray)

int PMPI_Type_create_darray_c(int size, int rank, int ndims, const MPI_Count array_of_gsizes[],
                              const int array_of_distribs[], const int array_of_dargs[],
                              const int array_of_psizes[], int order, MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    struct darray a = {size,
                       rank,
                       ndims,
                       {.c = array_of_gsizes},
                       array_of_distribs,
                       array_of_dargs,
                       array_of_psizes,
                       order};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_darray(true, &a, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_darray_c)

/* ---------------------------------------------------------------- copies and choices */

static int type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct fm_dtype *old, *t;
    int rc = dtype_arg(oldtype, "oldtype", &old);

    rc = rc ? rc : out_arg(newtype, "newtype");
    if (rc) {
        return rc;
    }
    rc = fm_dtype_dup(old, &t);
    if (rc == 0) {
        rc = fm_attr_copy_all(FM_KIND_DTYPE, old, old->attrs, &t->attrs);
        if (rc != 0) {
            fm_attr_delete_all(FM_KIND_DTYPE, t, &t->attrs);
            fm_attr_drop(&t->attrs);
            fm_dtype_unref(t);
        }
    }
    if (rc != 0) {
        return fm_raise_status(NULL, fm_root.call, rc);
    }
    *newtype = t->handle;
    return MPI_SUCCESS;
}

int PMPI_Type_dup(MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = type_dup(oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_dup)

static bool is_negative(int digits)
{
    return digits < 0 && digits != MPI_UNDEFINED;
}

static int find_f90(int combiner, int p, int r, MPI_Datatype *newtype)
{
    struct fm_dtype *t;
    int rc = out_arg(newtype, "newtype");

    if (!rc && p == MPI_UNDEFINED && r == MPI_UNDEFINED) {
        rc = fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                      "p and r are both MPI_UNDEFINED: give one of them");
    }
    if (!rc && (is_negative(p) || is_negative(r) ||
                (combiner == MPI_COMBINER_F90_INTEGER && r == MPI_UNDEFINED))) {
        rc = fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                      "p is %d and r is %d: digits and range must not be negative", p, r);
    }
    if (rc) {
        return rc;
    }
    rc = fm_dtype_f90(combiner, p, r, &t);
    if (rc != 0) {
        return fm_raise_status(NULL, fm_root.call, rc);
    }
    if (!t) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                        "no Fortran kind has that precision or range");
    }
    *newtype = t->handle;
    return MPI_SUCCESS;
}

int PMPI_Type_create_f90_real(int p, int r, MPI_Datatype *newtype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_f90(MPI_COMBINER_F90_REAL, p, r, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_f90_real)

int PMPI_Type_create_f90_complex(int p, int r, MPI_Datatype *newtype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_f90(MPI_COMBINER_F90_COMPLEX, p, r, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_f90_complex)

int PMPI_Type_create_f90_integer(int r, MPI_Datatype *newtype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_f90(MPI_COMBINER_F90_INTEGER, 0, r, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_f90_integer)

/* A pair that no operation could take is MPI_DATATYPE_NULL, not an error (6.9.4). */
static int find_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                            MPI_Datatype *pair_type)
{
    struct fm_dtype *value, *index, *pair;
    int rc = dtype_arg(value_type, "value_type", &value);

    rc = rc ? rc : dtype_arg(index_type, "index_type", &index);
    rc = rc ? rc : out_arg(pair_type, "pair_type");
    if (rc) {
        return rc;
    }
    rc = fm_dtype_value_index(value, index, &pair);
    if (rc != 0) {
        return fm_raise_status(NULL, fm_root.call, rc);
    }
    *pair_type = pair ? pair->handle : MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int PMPI_Type_get_value_index(MPI_Datatype value_type, MPI_Datatype index_type,
                              MPI_Datatype *pair_type)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = find_value_index(value_type, index_type, pair_type);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_get_value_index)

static int match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    struct fm_dtype *t;
    int rc = out_arg(datatype, "datatype");

    if (rc) {
        return rc;
    }
    if (typeclass != MPI_TYPECLASS_REAL && typeclass != MPI_TYPECLASS_INTEGER &&
        typeclass != MPI_TYPECLASS_COMPLEX && typeclass != MPIX_TYPECLASS_LOGICAL) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                        "typeclass is %d, but must be MPI_TYPECLASS_REAL, _INTEGER or _COMPLEX",
                        typeclass);
    }
    t = fm_dtype_match_size(typeclass, size);
    if (!t) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "no type of this class has %d bytes",
                        size);
    }
    *datatype = t->handle;
    return MPI_SUCCESS;
}

int PMPI_Type_match_size(int typeclass, int size, MPI_Datatype *datatype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = match_size(typeclass, size, datatype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_match_size)

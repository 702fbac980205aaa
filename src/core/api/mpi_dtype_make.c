/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Constructors of datatypes (MPI-5.0 5.1.2 - 5.1.4, 5.1.8, 5.1.10, 6.9.4, 19.1.5).
 *
 * The int form and the _c form of a constructor share one body, which puts the arguments as
 * MPI_Count into the environment of the new type, in the order of the C prototype.
 */
#include "core/api/dtype_args.h"

#include <stdio.h>

#include "core/dtype/dtype_make.h"

/* An array argument of the user: one of the three is given, or none when the array is NULL. */
struct list {
    const int *i;
    const MPI_Aint *a;
    const MPI_Count *c;
};

static bool list_is_null(const struct list *l)
{
    return !l->i && !l->a && !l->c;
}

static void list_copy(MPI_Count *to, const struct list *l, MPI_Count n)
{
    for (MPI_Count k = 0; k < n; k++) {
        to[k] = l->i ? l->i[k] : l->a ? l->a[k] : l->c[k];
    }
}

static int list_arg(const struct list *l, MPI_Count n, const char *argument)
{
    if (n > 0 && list_is_null(l)) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "%s is NULL, but has %lld elements",
                        argument, (long long)n);
    }
    return 0;
}

static int not_negative(MPI_Count value, const char *argument)
{
    if (value < 0) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "%s is %lld, but must not be negative",
                        argument, (long long)value);
    }
    return 0;
}

/* The new type is complete: hand it over. */
static int done(struct fm_dtype *t, MPI_Datatype *newtype)
{
    int rc = fm_dtype_end(t);

    if (rc != 0) {
        return fm_raise_status(NULL, fm_root.call, rc);
    }
    *newtype = t->handle;
    return MPI_SUCCESS;
}

static struct fm_dtype *begin(int combiner, bool is_large, MPI_Count n_values, MPI_Count n_types)
{
    struct fm_dtype *t = fm_dtype_begin(combiner, is_large, n_values, n_types);

    if (!t) {
        fm_raise_status(NULL, fm_root.call, -FM_E_NOMEM);
    }
    return t;
}

/* Constructors with n numbers and one type. */
static int make_plain(int combiner, bool is_large, const MPI_Count *values, int n,
                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    struct fm_dtype *old, *t;
    int rc = dtype_arg(oldtype, "oldtype", &old);

    rc = rc ? rc : out_arg(newtype, "newtype");
    if (rc) {
        return rc;
    }
    t = begin(combiner, is_large, n, 1);
    if (!t) {
        return MPI_ERR_NO_MEM;
    }
    for (int i = 0; i < n; i++) {
        t->env->values[i] = values[i];
    }
    fm_dtype_take(t, 0, old);
    return done(t, newtype);
}

static int make_contiguous(bool is_large, MPI_Count count, MPI_Datatype oldtype,
                           MPI_Datatype *newtype)
{
    int rc = count_arg(count, "count");

    return rc ? rc : make_plain(MPI_COMBINER_CONTIGUOUS, is_large, &count, 1, oldtype, newtype);
}

int PMPI_Type_contiguous(int count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_contiguous(false, count, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_contiguous)

int PMPI_Type_contiguous_c(MPI_Count count, MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_contiguous(true, count, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_contiguous_c)

/* v: count, blocklength, stride */
static int make_vector(int combiner, bool is_large, const MPI_Count *v, MPI_Datatype oldtype,
                       MPI_Datatype *newtype)
{
    int rc = count_arg(v[0], "count");

    rc = rc ? rc : not_negative(v[1], "blocklength");
    return rc ? rc : make_plain(combiner, is_large, v, 3, oldtype, newtype);
}

int PMPI_Type_vector(int count, int blocklength, int stride, MPI_Datatype oldtype,
                     MPI_Datatype *newtype)
{
    MPI_Count v[3] = {count, blocklength, stride};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_vector(MPI_COMBINER_VECTOR, false, v, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_vector)

int PMPI_Type_vector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                       MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    MPI_Count v[3] = {count, blocklength, stride};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_vector(MPI_COMBINER_VECTOR, true, v, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_vector_c)

int PMPI_Type_create_hvector(int count, int blocklength, MPI_Aint stride, MPI_Datatype oldtype,
                             MPI_Datatype *newtype)
{
    MPI_Count v[3] = {count, blocklength, stride};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_vector(MPI_COMBINER_HVECTOR, false, v, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_hvector)

int PMPI_Type_create_hvector_c(MPI_Count count, MPI_Count blocklength, MPI_Count stride,
                               MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    MPI_Count v[3] = {count, blocklength, stride};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_vector(MPI_COMBINER_HVECTOR, true, v, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_hvector_c)

int PMPI_Type_create_resized(MPI_Datatype oldtype, MPI_Aint lb, MPI_Aint extent,
                             MPI_Datatype *newtype)
{
    MPI_Count v[2] = {lb, extent};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_plain(MPI_COMBINER_RESIZED, false, v, 2, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_resized)

int PMPI_Type_create_resized_c(MPI_Datatype oldtype, MPI_Count lb, MPI_Count extent,
                               MPI_Datatype *newtype)
{
    MPI_Count v[2] = {lb, extent};
    int rc;

    fm_api_enter(FM_CALL);
    rc = make_plain(MPI_COMBINER_RESIZED, true, v, 2, oldtype, newtype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_resized_c)

/* ---------------------------------------------------------------- lists of blocks */

/* What the constructors with an array of displacements get. */
struct blocks {
    int combiner;
    bool is_large;
    MPI_Count count;
    MPI_Count blocklength; /* the _block ones */
    struct list lengths;   /* the others */
    struct list disps;
    const MPI_Datatype *types; /* one, or as many as blocks for a struct */
};

static bool has_one_length(const struct blocks *b)
{
    return b->combiner == MPI_COMBINER_INDEXED_BLOCK || b->combiner == MPI_COMBINER_HINDEXED_BLOCK;
}

static int check_lengths(const MPI_Count *lengths, MPI_Count n)
{
    for (MPI_Count i = 0; i < n; i++) {
        if (lengths[i] < 0) {
            return fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                            "array_of_blocklengths[%lld] is %lld, but must not be negative",
                            (long long)i, (long long)lengths[i]);
        }
    }
    return 0;
}

static int bad_type(const struct blocks *b, MPI_Count i)
{
    char argument[64] = "oldtype";

    if (b->combiner == MPI_COMBINER_STRUCT) {
        snprintf(argument, sizeof(argument), "array_of_types[%lld]", (long long)i);
    }
    return fm_raise_handle(FM_KIND_DTYPE, fm_root.call, b->types[i], argument);
}

static int take_types(struct fm_dtype *t, const struct blocks *b)
{
    for (MPI_Count i = 0; i < t->env->n_types; i++) {
        struct fm_dtype *part = dtype_find(b->types[i]);

        if (!part) {
            return bad_type(b, i);
        }
        fm_dtype_take(t, i, part);
    }
    return 0;
}

static int check_blocks(const struct blocks *b, MPI_Datatype *newtype)
{
    int rc = count_arg(b->count, "count");

    if (!rc && has_one_length(b)) {
        rc = not_negative(b->blocklength, "blocklength");
    } else {
        rc = rc ? rc : list_arg(&b->lengths, b->count, "array_of_blocklengths");
    }
    rc = rc ? rc : list_arg(&b->disps, b->count, "array_of_displacements");
    if (!rc && b->combiner == MPI_COMBINER_STRUCT && b->count > 0 && !b->types) {
        rc = fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "array_of_types is NULL");
    }
    return rc ? rc : out_arg(newtype, "newtype");
}

static int make_blocks(const struct blocks *b, MPI_Datatype *newtype)
{
    MPI_Count n = b->count;
    bool is_one = has_one_length(b);
    struct fm_dtype *t;
    int rc = check_blocks(b, newtype);

    if (rc) {
        return rc;
    }
    t = begin(b->combiner, b->is_large, is_one ? 2 + n : 1 + 2 * n,
              b->combiner == MPI_COMBINER_STRUCT ? n : 1);
    if (!t) {
        return MPI_ERR_NO_MEM;
    }
    t->env->values[0] = n;
    if (is_one) {
        t->env->values[1] = b->blocklength;
        list_copy(t->env->values + 2, &b->disps, n);
    } else {
        list_copy(t->env->values + 1, &b->lengths, n);
        list_copy(t->env->values + 1 + n, &b->disps, n);
        rc = check_lengths(t->env->values + 1, n);
    }
    rc = rc ? rc : take_types(t, b);
    if (rc) {
        fm_dtype_unref(t);
        return rc;
    }
    return done(t, newtype);
}

#define MAKE_BLOCKS(...)                                                                           \
    do {                                                                                           \
        struct blocks make_b = {__VA_ARGS__};                                                      \
        int make_rc;                                                                               \
                                                                                                   \
        fm_api_enter(FM_CALL);                                                                     \
        make_rc = make_blocks(&make_b, newtype);                                                   \
        fm_api_leave();                                                                            \
        return make_rc;                                                                            \
    } while (0)

int PMPI_Type_indexed(int count, const int array_of_blocklengths[],
                      const int array_of_displacements[], MPI_Datatype oldtype,
                      MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_INDEXED, .count = count, .types = &oldtype,
                .lengths.i = array_of_blocklengths, .disps.i = array_of_displacements);
}
FM_ALIAS(Type_indexed)

int PMPI_Type_indexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                        const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                        MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_INDEXED, .is_large = true, .count = count,
                .types = &oldtype, .lengths.c = array_of_blocklengths,
                .disps.c = array_of_displacements);
}
FM_ALIAS(Type_indexed_c)

int PMPI_Type_create_hindexed(int count, const int array_of_blocklengths[],
                              const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                              MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_HINDEXED, .count = count, .types = &oldtype,
                .lengths.i = array_of_blocklengths, .disps.a = array_of_displacements);
}
FM_ALIAS(Type_create_hindexed)

int PMPI_Type_create_hindexed_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                                const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_HINDEXED, .is_large = true, .count = count,
                .types = &oldtype, .lengths.c = array_of_blocklengths,
                .disps.c = array_of_displacements);
}
FM_ALIAS(Type_create_hindexed_c)

int PMPI_Type_create_indexed_block(int count, int blocklength, const int array_of_displacements[],
                                   MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_INDEXED_BLOCK, .count = count, .types = &oldtype,
                .blocklength = blocklength, .disps.i = array_of_displacements);
}
FM_ALIAS(Type_create_indexed_block)

int PMPI_Type_create_indexed_block_c(MPI_Count count, MPI_Count blocklength,
                                     const MPI_Count array_of_displacements[], MPI_Datatype oldtype,
                                     MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_INDEXED_BLOCK, .is_large = true, .count = count,
                .types = &oldtype, .blocklength = blocklength, .disps.c = array_of_displacements);
}
FM_ALIAS(Type_create_indexed_block_c)

int PMPI_Type_create_hindexed_block(int count, int blocklength,
                                    const MPI_Aint array_of_displacements[], MPI_Datatype oldtype,
                                    MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_HINDEXED_BLOCK, .count = count, .types = &oldtype,
                .blocklength = blocklength, .disps.a = array_of_displacements);
}
FM_ALIAS(Type_create_hindexed_block)

int PMPI_Type_create_hindexed_block_c(MPI_Count count, MPI_Count blocklength,
                                      const MPI_Count array_of_displacements[],
                                      MPI_Datatype oldtype, MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_HINDEXED_BLOCK, .is_large = true, .count = count,
                .types = &oldtype, .blocklength = blocklength, .disps.c = array_of_displacements);
}
FM_ALIAS(Type_create_hindexed_block_c)

int PMPI_Type_create_struct(int count, const int array_of_blocklengths[],
                            const MPI_Aint array_of_displacements[],
                            const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_STRUCT, .count = count, .types = array_of_types,
                .lengths.i = array_of_blocklengths, .disps.a = array_of_displacements);
}
FM_ALIAS(Type_create_struct)

int PMPI_Type_create_struct_c(MPI_Count count, const MPI_Count array_of_blocklengths[],
                              const MPI_Count array_of_displacements[],
                              const MPI_Datatype array_of_types[], MPI_Datatype *newtype)
{
    MAKE_BLOCKS(.combiner = MPI_COMBINER_STRUCT, .is_large = true, .count = count,
                .types = array_of_types, .lengths.c = array_of_blocklengths,
                .disps.c = array_of_displacements);
}
FM_ALIAS(Type_create_struct_c)

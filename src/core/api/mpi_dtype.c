/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes: life, sizes and extents, envelope and contents, names, attributes (MPI-5.0 5.1.5 -
   5.1.13, 7.7.4, 7.8). Constructors are in mpi_dtype_make.c and mpi_dtype_array.c. */
#include "core/api/dtype_args.h"

#include <limits.h>
#include <string.h>

#include "core/dtype/dtype_make.h"
#include "core/object/attr.h"

int PMPI_Get_address(const void *location, MPI_Aint *address)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = out_arg(address, "address");
    if (!rc) {
        *address = (MPI_Aint)location;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Get_address)

/* ---------------------------------------------------------------- life */

static int type_commit(MPI_Datatype *datatype)
{
    struct fm_dtype *t;
    int rc = out_arg(datatype, "datatype");

    rc = rc ? rc : dtype_arg(*datatype, "datatype", &t);
    if (rc) {
        return rc;
    }
    rc = fm_dtype_commit(t);
    return rc ? fm_raise_status(NULL, fm_root.call, rc) : MPI_SUCCESS;
}

int PMPI_Type_commit(MPI_Datatype *datatype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = type_commit(datatype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_commit)

static int type_free(MPI_Datatype *datatype)
{
    struct fm_dtype *t;
    int rc = out_arg(datatype, "datatype");

    rc = rc ? rc : dtype_arg(*datatype, "datatype", &t);
    if (rc) {
        return rc;
    }
    if (t->is_predefined) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_TYPE, "%s is predefined and cannot be freed",
                        t->name[0] ? t->name : "an unnamed datatype");
    }
    if (t->n_handles == 1) { /* attributes go with the last handle */
        rc = fm_attr_delete_all(FM_KIND_DTYPE, t, &t->attrs);
        if (rc) {
            return fm_raise_status(NULL, fm_root.call, rc);
        }
    }
    if (--t->n_handles == 0) {
        t->is_committed = false; /* so that the fast tests for communication fail */
    }
    fm_dtype_unref(t);
    *datatype = MPI_DATATYPE_NULL;
    return MPI_SUCCESS;
}

int PMPI_Type_free(MPI_Datatype *datatype)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = type_free(datatype);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_free)

/* ---------------------------------------------------------------- sizes and extents */

/* What an int holds of a number that is MPI_UNDEFINED when too large (5.1.5). */
static int as_int(MPI_Count n)
{
    return n > INT_MAX ? MPI_UNDEFINED : (int)n;
}

static MPI_Aint as_aint(MPI_Count n)
{
    return n == (MPI_Aint)n ? (MPI_Aint)n : MPI_UNDEFINED;
}

static int type_size(MPI_Datatype datatype, const void *size, MPI_Count *out)
{
    struct fm_dtype *t;
    int rc = dtype_arg(datatype, "datatype", &t);

    rc = rc ? rc : out_arg(size, "size");
    if (!rc) {
        *out = t->size;
    }
    return rc;
}

int PMPI_Type_size(MPI_Datatype datatype, int *size)
{
    MPI_Count n;
    int rc;

    fm_api_enter(FM_CALL);
    rc = type_size(datatype, size, &n);
    if (!rc) {
        *size = as_int(n);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_size)

int PMPI_Type_size_c(MPI_Datatype datatype, MPI_Count *size)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = type_size(datatype, size, size);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_size_c)

int PMPI_Type_size_x(MPI_Datatype datatype, MPI_Count *size)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = type_size(datatype, size, size);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_size_x)

struct span {
    MPI_Count from, len;
};

static int type_extent(MPI_Datatype datatype, bool is_true, const void *lb, const void *extent,
                       struct span *out)
{
    struct fm_dtype *t;
    int rc = dtype_arg(datatype, "datatype", &t);

    rc = rc ? rc : out_arg(lb, is_true ? "true_lb" : "lb");
    rc = rc ? rc : out_arg(extent, is_true ? "true_extent" : "extent");
    if (!rc) {
        out->from = is_true ? t->true_lb : t->lb;
        out->len = is_true ? t->true_extent : t->extent;
    }
    return rc;
}

#define EXTENT(type, is_true, convert, lb, extent)                                                 \
    do {                                                                                           \
        struct span extent_s;                                                                      \
        int extent_rc;                                                                             \
                                                                                                   \
        fm_api_enter(FM_CALL);                                                                     \
        extent_rc = type_extent(type, is_true, lb, extent, &extent_s);                             \
        if (!extent_rc) {                                                                          \
            *(lb) = convert(extent_s.from);                                                        \
            *(extent) = convert(extent_s.len);                                                     \
        }                                                                                          \
        fm_api_leave();                                                                            \
        return extent_rc;                                                                          \
    } while (0)

int PMPI_Type_get_extent(MPI_Datatype datatype, MPI_Aint *lb, MPI_Aint *extent)
{
    EXTENT(datatype, false, as_aint, lb, extent);
}
FM_ALIAS(Type_get_extent)

int PMPI_Type_get_extent_c(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    EXTENT(datatype, false, , lb, extent);
}
FM_ALIAS(Type_get_extent_c)

int PMPI_Type_get_extent_x(MPI_Datatype datatype, MPI_Count *lb, MPI_Count *extent)
{
    EXTENT(datatype, false, , lb, extent);
}
FM_ALIAS(Type_get_extent_x)

int PMPI_Type_get_true_extent(MPI_Datatype datatype, MPI_Aint *true_lb, MPI_Aint *true_extent)
{
    EXTENT(datatype, true, as_aint, true_lb, true_extent);
}
FM_ALIAS(Type_get_true_extent)

int PMPI_Type_get_true_extent_c(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    EXTENT(datatype, true, , true_lb, true_extent);
}
FM_ALIAS(Type_get_true_extent_c)

int PMPI_Type_get_true_extent_x(MPI_Datatype datatype, MPI_Count *true_lb, MPI_Count *true_extent)
{
    EXTENT(datatype, true, , true_lb, true_extent);
}
FM_ALIAS(Type_get_true_extent_x)

/* ---------------------------------------------------------------- envelope and contents */

/* Where the contents hold an argument of a constructor: among the integers, addresses or large
   counts; index into this and struct envelope. */
enum place { PLACE_INT, PLACE_ADDRESS, PLACE_COUNT };

struct envelope {
    MPI_Count n[3]; /* by enum place */
    MPI_Count n_types;
    int combiner;
};

/* The types of the arguments in the C prototypes decide (5.1.13). */
static enum place place_of(const struct fm_dtype_env *e, MPI_Count i)
{
    const MPI_Count *v = e->values;
    enum place wide = e->is_large ? PLACE_COUNT : PLACE_ADDRESS;
    enum place narrow = e->is_large ? PLACE_COUNT : PLACE_INT;

    switch (e->combiner) {
    case MPI_COMBINER_RESIZED:
        return wide;
    case MPI_COMBINER_HVECTOR:
    case MPI_COMBINER_HINDEXED_BLOCK:
        return i >= 2 ? wide : narrow;
    case MPI_COMBINER_HINDEXED:
    case MPI_COMBINER_STRUCT:
        return i > v[0] ? wide : narrow;
    case MPI_COMBINER_SUBARRAY:
        return i == 0 || i == e->n_values - 1 ? PLACE_INT : narrow;
    case MPI_COMBINER_DARRAY:
        return i >= 3 && i < 3 + v[2] ? narrow : PLACE_INT;
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
        return PLACE_INT;
    default:
        return narrow;
    }
}

static void envelope_of(const struct fm_dtype *t, struct envelope *out)
{
    *out = (struct envelope){.combiner = MPI_COMBINER_NAMED};
    if (t->env) {
        out->combiner = t->env->combiner;
        out->n_types = t->env->n_types;
        for (MPI_Count i = 0; i < t->env->n_values; i++) {
            out->n[place_of(t->env, i)]++;
        }
    }
}

/* The functions without _c cannot say what a constructor with _c got (5.1.13). */
static int refuse_large(const struct envelope *e)
{
    if (e->n[PLACE_COUNT] > 0) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_TYPE,
                        "the datatype was made with large counts: use %s_c", fm_root.call);
    }
    return 0;
}

static int get_envelope(MPI_Datatype datatype, bool has_null, struct envelope *e)
{
    struct fm_dtype *t;
    int rc = dtype_arg(datatype, "datatype", &t);

    if (!rc && has_null) {
        rc = fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "an output argument is NULL");
    }
    if (!rc) {
        envelope_of(t, e);
    }
    return rc;
}

int PMPI_Type_get_envelope(MPI_Datatype datatype, int *num_integers, int *num_addresses,
                           int *num_datatypes, int *combiner)
{
    struct envelope e;
    int rc;

    fm_api_enter(FM_CALL);
    rc = get_envelope(datatype, !num_integers || !num_addresses || !num_datatypes || !combiner, &e);
    rc = rc ? rc : refuse_large(&e);
    if (!rc) {
        *num_integers = as_int(e.n[PLACE_INT]);
        *num_addresses = as_int(e.n[PLACE_ADDRESS]);
        *num_datatypes = as_int(e.n_types);
        *combiner = e.combiner;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_get_envelope)

int PMPI_Type_get_envelope_c(MPI_Datatype datatype, MPI_Count *num_integers,
                             MPI_Count *num_addresses, MPI_Count *num_large_counts,
                             MPI_Count *num_datatypes, int *combiner)
{
    struct envelope e;
    int rc;

    fm_api_enter(FM_CALL);
    rc = get_envelope(
        datatype,
        !num_integers || !num_addresses || !num_large_counts || !num_datatypes || !combiner, &e);
    if (!rc) {
        *num_integers = e.n[PLACE_INT];
        *num_addresses = e.n[PLACE_ADDRESS];
        *num_large_counts = e.n[PLACE_COUNT];
        *num_datatypes = e.n_types;
        *combiner = e.combiner;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_get_envelope_c)

/* The user's arrays. */
struct contents {
    MPI_Count max[3]; /* by enum place */
    MPI_Count max_types;
    int *integers;
    MPI_Aint *addresses;
    MPI_Count *counts;
    MPI_Datatype *types;
    bool is_large;
};

static int check_room(MPI_Count max, MPI_Count need, const void *array, const char *what)
{
    if (max < need) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG,
                        "the array has %lld elements for %s, but the datatype has %lld",
                        (long long)max, what, (long long)need);
    }
    if (need > 0 && !array) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_ARG, "the array of %s is NULL", what);
    }
    return 0;
}

static int check_contents(const struct fm_dtype *t, const struct contents *c)
{
    struct envelope e;
    int rc;

    if (!t->env) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_TYPE,
                        "%s is a named datatype and has no contents", t->name);
    }
    envelope_of(t, &e);
    rc = c->is_large ? 0 : refuse_large(&e);
    rc = rc ? rc : check_room(c->max[PLACE_INT], e.n[PLACE_INT], c->integers, "integers");
    rc = rc ? rc : check_room(c->max[PLACE_ADDRESS], e.n[PLACE_ADDRESS], c->addresses, "addresses");
    rc = rc ? rc : check_room(c->max[PLACE_COUNT], e.n[PLACE_COUNT], c->counts, "large counts");
    return rc ? rc : check_room(c->max_types, e.n_types, c->types, "datatypes");
}

static int get_contents(MPI_Datatype datatype, const struct contents *c)
{
    MPI_Count at[3] = {0, 0, 0};
    struct fm_dtype *t;
    int rc = dtype_arg(datatype, "datatype", &t);

    rc = rc ? rc : check_contents(t, c);
    if (rc) {
        return rc;
    }
    for (MPI_Count i = 0; i < t->env->n_values; i++) {
        MPI_Count value = t->env->values[i];
        enum place place = place_of(t->env, i);

        if (place == PLACE_INT) {
            c->integers[at[place]++] = (int)value;
        } else if (place == PLACE_ADDRESS) {
            c->addresses[at[place]++] = (MPI_Aint)value;
        } else {
            c->counts[at[place]++] = value;
        }
    }
    for (MPI_Count i = 0; i < t->env->n_types; i++) {
        struct fm_dtype *part = t->env->types[i];

        if (!part->is_predefined) { /* a handle that the user frees */
            fm_object_ref(part);
            part->n_handles++;
        }
        c->types[i] = part->handle;
    }
    return MPI_SUCCESS;
}

int PMPI_Type_get_contents(MPI_Datatype datatype, int max_integers, int max_addresses,
                           int max_datatypes, int array_of_integers[],
                           MPI_Aint array_of_addresses[], MPI_Datatype array_of_datatypes[])
{
    struct contents c = {
        .max = {max_integers, max_addresses, 0},
        .max_types = max_datatypes,
        .integers = array_of_integers,
        .addresses = array_of_addresses,
        .types = array_of_datatypes,
    };
    int rc;

    fm_api_enter(FM_CALL);
    rc = get_contents(datatype, &c);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_get_contents)

int PMPI_Type_get_contents_c(MPI_Datatype datatype, MPI_Count max_integers, MPI_Count max_addresses,
                             MPI_Count max_large_counts, MPI_Count max_datatypes,
                             int array_of_integers[], MPI_Aint array_of_addresses[],
                             MPI_Count array_of_large_counts[], MPI_Datatype array_of_datatypes[])
{
    struct contents c = {
        .max = {max_integers, max_addresses, max_large_counts},
        .max_types = max_datatypes,
        .integers = array_of_integers,
        .addresses = array_of_addresses,
        .counts = array_of_large_counts,
        .types = array_of_datatypes,
        .is_large = true,
    };
    int rc;

    fm_api_enter(FM_CALL);
    rc = get_contents(datatype, &c);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_get_contents_c)

/* ---------------------------------------------------------------- names */

/* Longer names are cut (7.8). */
int PMPI_Type_set_name(MPI_Datatype datatype, const char *type_name)
{
    struct fm_dtype *t;
    int rc;

    fm_api_enter(FM_CALL);
    rc = dtype_arg(datatype, "datatype", &t);
    rc = rc ? rc : out_arg(type_name, "type_name");
    if (!rc) {
        size_t len = strnlen(type_name, sizeof(t->name) - 1);

        memmove(t->name, type_name, len);
        t->name[len] = '\0';
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_set_name)

/* The null handle has a name, as all predefined ones (7.8). */
static int name_of(MPI_Datatype datatype, const char **out_name)
{
    struct fm_dtype *t;
    int rc;

    if (datatype == MPI_DATATYPE_NULL) {
        *out_name = "MPI_DATATYPE_NULL";
        return MPI_SUCCESS;
    }
    rc = dtype_arg(datatype, "datatype", &t);
    if (!rc) {
        *out_name = t->name;
    }
    return rc;
}

int PMPI_Type_get_name(MPI_Datatype datatype, char *type_name, int *resultlen)
{
    const char *name;
    int rc;

    fm_api_enter(FM_CALL);
    rc = name_of(datatype, &name);
    rc = rc ? rc : out_arg(type_name, "type_name");
    rc = rc ? rc : out_arg(resultlen, "resultlen");
    if (!rc) {
        strcpy(type_name, name);
        *resultlen = (int)strlen(name);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_get_name)

/* ---------------------------------------------------------------- attributes */

/* What a function on a keyval returned: the class of a wrong one is MPI_ERR_KEYVAL. */
static int raise_keyval(int rc, int keyval)
{
    if (rc == -FM_E_NOENT) {
        return fm_raise(NULL, fm_root.call, MPI_ERR_KEYVAL,
                        "type_keyval %d is not one that MPI_Type_create_keyval has made", keyval);
    }
    return rc ? fm_raise_status(NULL, fm_root.call, rc) : MPI_SUCCESS;
}

int PMPI_Type_create_keyval(MPI_Type_copy_attr_function *type_copy_attr_fn,
                            MPI_Type_delete_attr_function *type_delete_attr_fn, int *type_keyval,
                            void *extra_state)
{
    struct fm_keyval_fns fns = {(void *)type_copy_attr_fn, (void *)type_delete_attr_fn,
                                extra_state};
    int rc;

    fm_api_enter(FM_CALL);
    rc = out_arg(type_keyval, "type_keyval");
    if (!rc) {
        rc = fm_keyval_create(FM_KIND_DTYPE, &fns, type_keyval);
        rc = rc ? fm_raise_status(NULL, fm_root.call, rc) : MPI_SUCCESS;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_create_keyval)

int PMPI_Type_free_keyval(int *type_keyval)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = out_arg(type_keyval, "type_keyval");
    if (!rc) {
        rc = raise_keyval(fm_keyval_free(FM_KIND_DTYPE, *type_keyval), *type_keyval);
    }
    if (!rc) {
        *type_keyval = MPI_KEYVAL_INVALID;
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_free_keyval)

int PMPI_Type_set_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val)
{
    struct fm_dtype *t;
    int rc;

    fm_api_enter(FM_CALL);
    rc = dtype_arg(datatype, "datatype", &t);
    if (!rc) {
        rc = raise_keyval(fm_attr_set(FM_KIND_DTYPE, t, &t->attrs, type_keyval, attribute_val),
                          type_keyval);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_set_attr)

static int get_attr(MPI_Datatype datatype, int keyval, void *attribute_val, int *flag)
{
    struct fm_dtype *t;
    void *value;
    bool is_found;
    int rc = dtype_arg(datatype, "datatype", &t);

    rc = rc ? rc : out_arg(attribute_val, "attribute_val");
    rc = rc ? rc : out_arg(flag, "flag");
    if (rc) {
        return rc;
    }
    rc = raise_keyval(fm_attr_get(FM_KIND_DTYPE, t->attrs, keyval, &value, &is_found), keyval);
    if (!rc) {
        *flag = is_found;
    }
    if (!rc && is_found) {
        *(void **)attribute_val = value;
    }
    return rc;
}

int PMPI_Type_get_attr(MPI_Datatype datatype, int type_keyval, void *attribute_val, int *flag)
{
    int rc;

    fm_api_enter(FM_CALL);
    rc = get_attr(datatype, type_keyval, attribute_val, flag);
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_get_attr)

int PMPI_Type_delete_attr(MPI_Datatype datatype, int type_keyval)
{
    struct fm_dtype *t;
    int rc;

    fm_api_enter(FM_CALL);
    rc = dtype_arg(datatype, "datatype", &t);
    if (!rc) {
        rc = raise_keyval(fm_attr_delete(FM_KIND_DTYPE, t, &t->attrs, type_keyval), type_keyval);
    }
    fm_api_leave();
    return rc;
}
FM_ALIAS(Type_delete_attr)

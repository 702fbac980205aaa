/* SPDX-License-Identifier: BSD-3-Clause */
/* Predefined and user's operations: which types they take, and how they are applied. */
#include "core/dtype/op.h"

#include <limits.h>
#include <string.h>

#include "core/dtype/op_kernels.h"
#include "util/status.h"

#define FM_OP_MAX_LIVE (1u << 16)

struct op_words {
    uint64_t strict; /* control variable */
};

/* clang-format off */
static const struct fathom_enum_item strict_items[] = {{0, "no"}, {1, "yes"}};
static const struct fathom_enum strict_enum = {"op_strict", strict_items,
                                               FM_ARRAY_LEN(strict_items)};

static const struct fathom_cvar cvars[] = {
    {.name = "op_strict", .type = FATHOM_INT, .scope = FATHOM_SCOPE_ALL_EQ,
     .verbosity = FATHOM_USER_BASIC, .items = &strict_enum, .at = offsetof(struct op_words, strict),
     .desc = "Whether predefined operations refuse MPI_CHAR, as MPI-5.0 6.9.2 asks for: no takes "
             "it as an integer of one byte, as MPICH and Open MPI do; set yes to find such calls "
             "in a program that is to be portable."},
};
/* clang-format on */

const struct fathom_table fm_op_vars = {
    .room = "op",
    .block_len = sizeof(struct op_words),
    .cvars = cvars,
    .n_cvars = FM_ARRAY_LEN(cvars),
};

/* Private, with the defaults, until fm_op_init() names those in the page; library lock. */
static struct op_words no_page;
static struct op_words *words = &no_page;

static const struct {
    MPI_Op handle;
    const char *name;
    uint8_t id;
} rows[] = {
    {MPI_MAX, "MPI_MAX", FM_OP_MAX},
    {MPI_MIN, "MPI_MIN", FM_OP_MIN},
    {MPI_SUM, "MPI_SUM", FM_OP_SUM},
    {MPI_PROD, "MPI_PROD", FM_OP_PROD},
    {MPI_LAND, "MPI_LAND", FM_OP_LAND},
    {MPI_LOR, "MPI_LOR", FM_OP_LOR},
    {MPI_LXOR, "MPI_LXOR", FM_OP_LXOR},
    {MPI_BAND, "MPI_BAND", FM_OP_BAND},
    {MPI_BOR, "MPI_BOR", FM_OP_BOR},
    {MPI_BXOR, "MPI_BXOR", FM_OP_BXOR},
    {MPI_MAXLOC, "MPI_MAXLOC", FM_OP_MAXLOC},
    {MPI_MINLOC, "MPI_MINLOC", FM_OP_MINLOC},
    {MPI_REPLACE, "MPI_REPLACE", FM_OP_REPLACE},
    {MPI_NO_OP, "MPI_NO_OP", FM_OP_NO_OP},
};

int fm_op_init(void *block)
{
    int rc = fm_handle_pool(FM_KIND_OP, sizeof(struct fm_op), FM_OP_MAX_LIVE);

    words = block ? block : &no_page;
    if (rc != 0 || fm_root.predefined[(uintptr_t)MPI_SUM]) {
        return rc;
    }
    for (size_t i = 0; i < FM_ARRAY_LEN(rows); i++) {
        struct fm_op *op = fm_object_new(FM_KIND_OP);

        if (!op) {
            return -FM_E_NOMEM;
        }
        op->is_commutative = op->is_predefined = true;
        op->id = rows[i].id;
        op->handle = rows[i].handle;
        op->name = rows[i].name;
        fm_handle_predefine(op->handle, op);
    }
    return 0;
}

void fm_op_finish(void)
{
    struct fm_pool *pool = &fm_root.pools[FM_KIND_OP];

    for (size_t i = 0; i < FM_HANDLE_RESERVED; i++) {
        if (fm_pool_owns(pool, fm_root.predefined[i])) {
            fm_object_free(fm_root.predefined[i]);
            fm_root.predefined[i] = NULL;
        }
    }
}

static struct fm_op *new_op(bool is_commutative)
{
    struct fm_op *op = fm_object_new(FM_KIND_OP);

    if (op) {
        op->is_commutative = is_commutative;
        op->handle = (MPI_Op)op;
        op->name = "user-defined operation";
    }
    return op;
}

struct fm_op *fm_op_create(MPI_User_function *fn, bool is_commutative)
{
    struct fm_op *op = new_op(is_commutative);

    if (op) {
        op->fn.small = fn;
    }
    return op;
}

struct fm_op *fm_op_create_large(MPI_User_function_c *fn, bool is_commutative)
{
    struct fm_op *op = new_op(is_commutative);

    if (op) {
        op->is_large = true;
        op->fn.large = fn;
    }
    return op;
}

void fm_op_unref(struct fm_op *op)
{
    if (op && --op->head.refs == 0) {
        fm_object_free(op);
    }
}

/* MPI_CHAR is for characters (6.9.2), but widely reduced as if it were an integer. */
static uint8_t basic_of(const struct fm_dtype *t)
{
    if (t->handle == MPI_CHAR && !words->strict) {
        return (char)-1 < 0 ? FM_BASIC_INT8 : FM_BASIC_UINT8;
    }
    return t->basic;
}

static fm_op_kernel_fn kernel_of(const struct fm_op *op, const struct fm_dtype *t)
{
    uint8_t basic = basic_of(t);

    if (op->id >= FM_OP_N_ARITH) {
        return NULL;
    }
    return basic < FM_BASIC_EXT ? fm_op_kernels[op->id][basic] : fm_op_kernels_ext[op->id][basic];
}

static fm_op_pair_fn pair_kernel_of(const struct fm_op *op, const struct fm_dtype_pair *pair)
{
    int i = op->id - FM_OP_MAXLOC;

    if (!pair || i < 0 || i >= FM_OP_N_LOC) {
        return NULL;
    }
    return pair->value < FM_BASIC_EXT ? fm_op_pair_kernels[i][pair->value]
                                      : fm_op_pair_kernels_ext[i][pair->value];
}

/* The reason why an operation does not take a predefined type, with a remedy. */
static int refuse(const struct fm_op *op, const struct fm_dtype *t)
{
    const char *hint = "";

    if (op->id == FM_OP_MAXLOC || op->id == FM_OP_MINLOC) {
        hint = "; it takes pairs of a value and an index, such as MPI_DOUBLE_INT";
    } else if (t->pair) {
        hint = "; pairs go with MPI_MAXLOC and MPI_MINLOC";
    } else if (t->handle == MPI_CHAR) {
        hint = " while op_strict is set; it is for printable characters, use MPI_SIGNED_CHAR or "
               "MPI_UNSIGNED_CHAR";
    }
    return fm_fail(-FM_E_INVAL, "%s is not defined for %s%s", op->name, t->name, hint);
}

int fm_op_check(const struct fm_op *op, const struct fm_dtype *t)
{
    if (!op->is_predefined) {
        return 0;
    }
    if (op->id == FM_OP_REPLACE || op->id == FM_OP_NO_OP) {
        return fm_fail(-FM_E_INVAL, "%s is for MPI_Accumulate and the like only", op->name);
    }
    if (!t->is_predefined) {
        return fm_fail(-FM_E_INVAL,
                       "%s takes predefined datatypes only, not a derived one; create an operation "
                       "with MPI_Op_create, or pass the elements with their own type",
                       op->name);
    }
    if (!kernel_of(op, t) && !pair_kernel_of(op, t->pair)) {
        return refuse(op, t);
    }
    return 0;
}

int fm_op_check_rma(const struct fm_op *op, const struct fm_dtype *t)
{
    if (!op->is_predefined) {
        return fm_fail(-FM_E_INVAL, "only predefined operations may be used on a window");
    }
    if (!t->elem) {
        return fm_fail(-FM_E_INVAL,
                       "%s needs a datatype whose elements are all of one predefined type",
                       op->name);
    }
    if (op->id == FM_OP_REPLACE || op->id == FM_OP_NO_OP) {
        return 0;
    }
    return fm_op_check(op, t->elem);
}

/* The user's function takes an int count: more elements in several calls. */
static void apply_small(const struct fm_op *op, const char *in, char *inout, MPI_Count count,
                        struct fm_dtype *t)
{
    MPI_Datatype handle = t->handle;

    while (count > 0) {
        MPI_Count part = count < INT_MAX ? count : INT_MAX;
        int n = (int)part;

        op->fn.small((void *)in, inout, &n, &handle);
        in += part * t->extent;
        inout += part * t->extent;
        count -= part;
    }
}

/* `count` elements of a predefined type, one behind the other. */
static void apply_elems(const struct fm_op *op, const void *in, void *inout, size_t count,
                        const struct fm_dtype *elem)
{
    fm_op_kernel_fn kernel;

    if (elem->pair) {
        pair_kernel_of(op, elem->pair)(in, inout, count, elem->pair);
        return;
    }
    kernel = kernel_of(op, elem);
    kernel(in, inout, count);
}

void fm_op_apply(const struct fm_op *op, const void *in, void *inout, MPI_Count count,
                 struct fm_dtype *t)
{
    if (count <= 0) {
        return;
    }
    if (op->is_predefined) {
        apply_elems(op, in, inout, (size_t)count, t);
    } else if (op->is_large) {
        MPI_Datatype handle = t->handle;

        op->fn.large((void *)in, inout, &count, &handle);
    } else {
        apply_small(op, in, inout, count, t);
    }
}

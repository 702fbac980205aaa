/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * To external32 and back: native bytes go through the pack engine in chunks of whole elements, each
 * of which is one or two units (complex numbers, pairs) that are converted one by one.
 */
#include "core/dtype/external.h"

#include <float.h>
#include <string.h>

#include "core/dtype/dtype_elem.h"
#include "core/dtype/pack.h"
#include "util/status.h"

#define FM_EXTERNAL_CHUNK 4096

/* How one number becomes another. */
enum how { HOW_SWAP, HOW_SIGNED, HOW_UNSIGNED, HOW_LONG_DOUBLE, HOW_LOGICAL };

struct unit {
    enum how how;
    uint8_t here; /* bytes */
    uint8_t there;
};

static bool is_complex(uint8_t basic)
{
    return basic == FM_BASIC_FLOAT_COMPLEX || basic == FM_BASIC_DOUBLE_COMPLEX ||
           basic == FM_BASIC_LONG_DOUBLE_COMPLEX || basic == FM_BASIC_FLOAT16_COMPLEX ||
           basic == FM_BASIC_FLOAT128_COMPLEX;
}

static bool is_logical(uint8_t basic)
{
    return (basic >= FM_BASIC_BOOL && basic <= FM_BASIC_LOGICAL8) || basic == FM_BASIC_LOGICAL16;
}

static struct unit unit_of(uint8_t basic, MPI_Count here, MPI_Count there)
{
    struct unit u = {.how = HOW_SWAP, .here = (uint8_t)here, .there = (uint8_t)there};

    if (basic == FM_BASIC_LONG_DOUBLE || basic == FM_BASIC_LONG_DOUBLE_COMPLEX) {
        u.how = LDBL_MANT_DIG == 113 ? HOW_SWAP : HOW_LONG_DOUBLE;
    } else if (is_logical(basic)) {
        u.how = HOW_LOGICAL;
    } else if (here != there) {
        u.how = basic >= FM_BASIC_INT8 && basic <= FM_BASIC_INT64 ? HOW_SIGNED : HOW_UNSIGNED;
    }
    return u;
}

/* The units of one predefined element; returns how many. */
static int units_of(const struct fm_dtype *elem, struct unit u[2])
{
    const struct fm_dtype_pair *p = elem->pair;
    int n = is_complex(elem->basic) ? 2 : 1;

    if (p) {
        u[0] = unit_of(p->value, elem->size - p->index_len, elem->ext_size - p->index_ext);
        u[1] = unit_of(p->index, p->index_len, p->index_ext);
        return 2;
    }
    u[0] = u[1] = unit_of(elem->basic, elem->size / n, elem->ext_size / n);
    return n;
}

static void swap_copy(char *to, const char *from, size_t len)
{
    if (__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__) {
        memcpy(to, from, len);
        return;
    }
    for (size_t i = 0; i < len; i++) {
        to[i] = from[len - 1 - i];
    }
}

static void put_big(char *to, uint64_t v, int len)
{
    for (int i = len - 1; i >= 0; i--) {
        to[i] = (char)v;
        v >>= 8;
    }
}

static uint64_t get_big(const char *from, int len)
{
    uint64_t v = 0;

    for (int i = 0; i < len; i++) {
        v = v << 8 | (unsigned char)from[i];
    }
    return v;
}

/* A native integer of 4 or 8 bytes, the top bits filled as the sign asks. */
static uint64_t get_native(const char *from, int len, bool is_signed)
{
    uint64_t v8;
    uint32_t v4;

    if (len == 8) {
        memcpy(&v8, from, 8);
        return v8;
    }
    memcpy(&v4, from, 4);
    return is_signed ? (uint64_t)(int64_t)(int32_t)v4 : v4;
}

static void put_native(char *to, uint64_t v, int len)
{
    uint32_t v4 = (uint32_t)v;

    if (len == 8) {
        memcpy(to, &v, 8);
    } else {
        memcpy(to, &v4, 4);
    }
}

/*
 * The 80 bits of x87 (64-bit mantissa with its leading one written out) and binary128 (112 bits
 * behind the point) have the same exponents, so this is a matter of shifting.
 */
static void long_double_out(char *to, const char *from)
{
    uint64_t mantissa;
    uint16_t exponent;

    memcpy(&mantissa, from, 8);
    memcpy(&exponent, from + 8, 2);
    mantissa <<= 1; /* the leading one goes */
    put_big(to, exponent, 2);
    put_big(to + 2, mantissa >> 16, 6);
    put_big(to + 8, mantissa << 48, 8);
}

static void long_double_in(char *to, const char *from)
{
    uint16_t exponent = (uint16_t)get_big(from, 2);
    uint64_t high = get_big(from + 2, 6);
    uint64_t low = get_big(from + 8, 8);
    uint64_t mantissa = high << 15 | low >> 49;
    uint64_t rest = low << 15; /* what is cut off, its first bit being one half */
    bool is_normal = (exponent & 0x7fff) != 0;
    bool is_finite = (exponent & 0x7fff) != 0x7fff;

    mantissa |= (uint64_t)is_normal << 63;
    if (is_finite && (rest > 1ull << 63 || (rest == 1ull << 63 && (mantissa & 1)))) {
        mantissa++; /* to nearest, ties to even */
        if (mantissa == 0 || (!is_normal && mantissa >> 63)) {
            mantissa |= 1ull << 63;
            exponent++;
        }
    } else if (!is_finite && (high | low) != 0) {
        mantissa |= 1ull << 62; /* a NaN stays one */
    }
    memset(to, 0, sizeof(long double));
    memcpy(to, &mantissa, 8);
    memcpy(to + 8, &exponent, 2);
}

/* Whatever is not zero, in any of its bytes, is true (14.5.2), and true is 1 here: other values
   are none that a program could have in a bool. */
static void logical_in(char *to, const char *from, size_t len)
{
    char any = 0;

    for (size_t i = 0; i < len; i++) {
        any |= from[i];
    }
    memset(to, 0, len);
    to[__BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? len - 1 : 0] = any != 0;
}

/* One number out. False: it does not fit. */
static bool unit_out(const struct unit *u, char *to, const char *from)
{
    uint64_t v;
    int64_t top;

    switch (u->how) {
    case HOW_SWAP:
    case HOW_LOGICAL:
        swap_copy(to, from, u->here);
        return true;
    case HOW_LONG_DOUBLE:
        long_double_out(to, from);
        return true;
    case HOW_SIGNED:
        v = get_native(from, u->here, true);
        top = (int64_t)v >> (8 * u->there - 1);
        put_big(to, v, u->there);
        return top == 0 || top == -1;
    default:
        v = get_native(from, u->here, false);
        put_big(to, v, u->there);
        return v >> (8 * u->there) == 0;
    }
}

static void unit_in(const struct unit *u, char *to, const char *from)
{
    uint64_t v;
    int unused = 64 - 8 * u->there;

    switch (u->how) {
    case HOW_SWAP:
        swap_copy(to, from, u->here);
        return;
    case HOW_LOGICAL:
        logical_in(to, from, u->here);
        return;
    case HOW_LONG_DOUBLE:
        long_double_in(to, from);
        return;
    case HOW_SIGNED:
        v = get_big(from, u->there);
        put_native(to, (uint64_t)((int64_t)(v << unused) >> unused), u->here);
        return;
    default:
        put_native(to, get_big(from, u->there), u->here);
    }
}

/* n elements of one type between a native chunk and the external form. */
static int convert(const struct fm_dtype *elem, MPI_Count n, char *here, char *there, bool is_out)
{
    struct unit u[2];
    int n_units = units_of(elem, u);

    for (MPI_Count i = 0; i < n; i++) {
        for (int j = 0; j < n_units; j++) {
            if (!is_out) {
                unit_in(&u[j], here, there);
            } else if (!unit_out(&u[j], there, here)) {
                return fm_fail(-FM_E_INVAL,
                               "a value of %s does not fit into the %d bytes that external32 has "
                               "for it",
                               elem->name, u[j].there);
            }
            here += u[j].here;
            there += u[j].there;
        }
    }
    return 0;
}

static int convert_all(void *external, const void *buf, MPI_Count count, const struct fm_dtype *t,
                       bool is_out)
{
    struct fm_pack p;
    struct fm_dtype_elem w;
    const struct fm_dtype *elem;
    char chunk[FM_EXTERNAL_CHUNK];
    char *there = external;
    MPI_Count n, m;
    int rc = fm_dtype_elem_begin(&w, t, count);

    fm_pack_begin(&p, buf, count, t);
    while (rc == 0 && (n = fm_dtype_elem_next(&w, &elem)) > 0) {
        for (; rc == 0 && n > 0; n -= m) {
            m = FM_EXTERNAL_CHUNK / elem->size;
            m = n < m ? n : m;
            if (is_out) {
                fm_pack_out(&p, chunk, (size_t)(m * elem->size));
            }
            rc = convert(elem, m, chunk, there, is_out);
            if (!is_out) {
                fm_pack_in(&p, chunk, (size_t)(m * elem->size));
            }
            there += m * elem->ext_size;
        }
    }
    fm_dtype_elem_end(&w);
    return rc;
}

int fm_external_pack(void *dst, const void *buf, MPI_Count count, const struct fm_dtype *t)
{
    return convert_all(dst, buf, count, t, true);
}

int fm_external_unpack(void *buf, MPI_Count count, const struct fm_dtype *t, const void *src)
{
    return convert_all((void *)src, buf, count, t, false);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Words as values of the datatypes that tools see. */
#include "mpit/mpit_live.h"

size_t fm_t_type_len(enum fathom_type type)
{
    return type == FATHOM_INT || type == FATHOM_UNSIGNED ? 4 : 8;
}

uint64_t fm_t_type_load(enum fathom_type type, const void *buf, int i)
{
    int as_int;
    unsigned as_unsigned;
    uint64_t word;

    switch (type) {
    case FATHOM_INT:
        memcpy(&as_int, (const char *)buf + (size_t)i * sizeof(as_int), sizeof(as_int));
        return (uint64_t)(int64_t)as_int;
    case FATHOM_UNSIGNED:
        memcpy(&as_unsigned, (const char *)buf + (size_t)i * sizeof(as_unsigned),
               sizeof(as_unsigned));
        return as_unsigned;
    default:
        memcpy(&word, (const char *)buf + (size_t)i * sizeof(word), sizeof(word));
        return word;
    }
}

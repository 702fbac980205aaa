/* SPDX-License-Identifier: BSD-3-Clause */
/* Words as values of the datatypes that tools see. */
#include <limits.h>
#include <string.h>

#include "mpit/mpit_live.h"

size_t fm_type_len(enum fathom_type type)
{
    return type == FATHOM_INT || type == FATHOM_UNSIGNED ? 4 : 8;
}

void fm_type_store(enum fathom_type type, void *buf, int i, uint64_t word)
{
    int as_int;
    unsigned as_unsigned;

    switch (type) {
    case FATHOM_INT:
        /* A word beyond an int (a queue of 2^31 messages) shows the most that an int can. */
        as_int = (int64_t)word > INT_MAX ? INT_MAX : (int)(int64_t)word;
        memcpy((char *)buf + (size_t)i * sizeof(as_int), &as_int, sizeof(as_int));
        break;
    case FATHOM_UNSIGNED:
        as_unsigned = (unsigned)word;
        memcpy((char *)buf + (size_t)i * sizeof(as_unsigned), &as_unsigned, sizeof(as_unsigned));
        break;
    default:
        memcpy((char *)buf + (size_t)i * sizeof(word), &word, sizeof(word));
    }
}

uint64_t fm_type_load(enum fathom_type type, const void *buf, int i)
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

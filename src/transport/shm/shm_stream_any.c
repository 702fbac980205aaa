/* SPDX-License-Identifier: BSD-3-Clause */
/* Non-temporal copy, for processors without such stores. */
#include <string.h>

#include "transport/shm/shm_bulk.h"

void fm_shm_stream_copy(void *to, const void *from, size_t len)
{
    memcpy(to, from, len);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The channel: the one of the process, and its failure as a whole. */
#include "core/p2p/channel.h"

#include <stdarg.h>
#include <stdio.h>

static struct fm_channel *main_channel; /* the first that was opened; guarded by the library lock */

struct fm_channel *fm_channel_main(void)
{
    return main_channel;
}

void fm_channel_set_main(struct fm_channel *ch)
{
    main_channel = ch;
}

int fm_channel_fail(struct fm_channel *ch, int status, const char *fmt, ...)
{
    va_list args;

    if (!ch->has_failed) {
        va_start(args, fmt);
        vsnprintf(ch->why, sizeof(ch->why), fmt, args);
        va_end(args);
        ch->has_failed = true;
    }
    return fm_fail(status, "%s", ch->why);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* What all transports have in common. */
#include "transport/transport.h"

int fm_transport_check(const struct fm_transport *tp)
{
    const struct fm_transport_ops *o = tp->ops;

    if (!o || !o->name || !o->close || !o->address || !o->connect || !o->disconnect || !o->send ||
        !o->reserve || !o->commit || !o->rma || !o->expose || !o->unexpose || !o->poll || !o->arm) {
        return fm_fail(-FM_E_INTERNAL, "transport %s leaves a slot of its table empty",
                       o && o->name ? o->name : "(no name)");
    }
    if (tp->max_send < 4096 || tp->best_inline > tp->max_send || !tp->sink.deliver ||
        !tp->sink.failed) {
        return fm_fail(-FM_E_INTERNAL, "transport %s has limits or a sink that make no sense",
                       o->name);
    }
    return 0;
}

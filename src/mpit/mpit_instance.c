/* SPDX-License-Identifier: BSD-3-Clause */
/* Event instances: see mpit_instance.h. */
#include "mpit/mpit_instance.h"

#define N_INSTANCES 64 /* for the source without order */

/* A bit of `free_instances` is the right to use the instance with that number. The one behind them
   is for ordered sources and belongs to the thread that has the right to deliver their events. */
static struct fm_t_instance instances[N_INSTANCES + 1];
static _Atomic uint64_t free_instances = ~UINT64_C(0);

static struct fm_t_instance *take_unordered(void)
{
    uint64_t bits = atomic_load_explicit(&free_instances, memory_order_relaxed), lowest;

    do {
        if (bits == 0) {
            return NULL;
        }
        lowest = bits & (~bits + 1);
        /* Pairs with the release in fm_t_instance_give. */
    } while (!atomic_compare_exchange_weak_explicit(&free_instances, &bits, bits & ~lowest,
                                                    memory_order_acquire, memory_order_relaxed));
    return &instances[__builtin_ctzll(lowest)];
}

struct fm_t_instance *fm_t_instance_show(const struct fm_t_event *event, struct fm_t_raised *raised,
                                         _Atomic(bool) *wants_time, bool is_ordered)
{
    struct fm_t_instance *in = is_ordered ? &instances[N_INSTANCES] : take_unordered();

    if (in) {
        in->event = event;
        in->raised = raised;
        in->wants_time = wants_time;
        in->use++;
        atomic_store_explicit(&in->value,
                              in->use << 32 | (uint64_t)FM_T_SLOT_INSTANCE << 28 |
                                  (uint64_t)(in - instances),
                              memory_order_release);
    }
    return in;
}

void fm_t_instance_give(struct fm_t_instance *in)
{
    atomic_store_explicit(&in->value, 0, memory_order_release);
    if (in != &instances[N_INSTANCES]) {
        atomic_fetch_or_explicit(&free_instances, UINT64_C(1) << (in - instances),
                                 memory_order_release);
    }
}

static const struct fm_t_instance *instance_find(uint64_t value)
{
    uint64_t number = value & 0xfffffffu;

    if (value == 0 || number > N_INSTANCES ||
        atomic_load_explicit(&instances[number].value, memory_order_acquire) != value) {
        return NULL;
    }
    return &instances[number];
}

int fm_t_event_read(uint64_t instance, int item, void *buf)
{
    const struct fm_t_instance *in = instance_find(instance);

    if (!in) {
        return FM_T_INVALID_HANDLE;
    }
    if (item < 0 || item >= in->event->row->n_data) {
        return FM_T_INVALID_INDEX;
    }
    fm_t_type_store(in->event->row->data[item].type, buf, 0, in->raised->values[item]);
    return FM_T_OK;
}

int fm_t_event_copy(uint64_t instance, void *buf)
{
    const struct fm_t_instance *in = instance_find(instance);
    int i;

    if (!in) {
        return FM_T_INVALID_HANDLE;
    }
    for (i = 0; i < in->event->row->n_data; i++) {
        fm_t_type_store(in->event->row->data[i].type, (char *)buf + in->event->displacements[i], 0,
                        in->raised->values[i]);
    }
    return FM_T_OK;
}

int fm_t_event_when(uint64_t instance, int64_t *out_timestamp)
{
    const struct fm_t_instance *in = instance_find(instance);

    if (!in) {
        return FM_T_INVALID_HANDLE;
    }
    atomic_store_explicit(in->wants_time, true, memory_order_relaxed);
    *out_timestamp = (int64_t)fm_t_raised_stamp(in->raised);
    return FM_T_OK;
}

int fm_t_event_whence(uint64_t instance, int *out_source)
{
    const struct fm_t_instance *in = instance_find(instance);

    if (!in) {
        return FM_T_INVALID_HANDLE;
    }
    *out_source = in->raised->source;
    return FM_T_OK;
}

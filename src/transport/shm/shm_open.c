/* SPDX-License-Identifier: BSD-3-Clause */
/* Open and close the shared-memory transport. */
#include "transport/shm/shm_open.h"

#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "transport/shm/shm.h"
#include "transport/shm/shm_doorbell.h"
#include "util/segment.h"

static const bool never = false;
static const bool *const never_enough = &never;

/* How senders see that the owner sleeps; see shm_doorbell.h. */
static void choose_barrier(struct fm_shm_transport *t, int n_local)
{
    long n_cpus = sysconf(_SC_NPROCESSORS_ONLN);

    t->is_crowded = n_local > n_cpus;
    t->fences = t->counters->wake == FM_SHM_WAKE_AUTO ? t->is_crowded
                                                      : t->counters->wake == FM_SHM_WAKE_FENCE;
}

static int shm_address(struct fm_transport *tp, void *out_addr, size_t *out_len)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;
    struct fm_shm_address a = {.magic = FM_SHM_MAGIC,
                               .nonce = t->header->nonce,
                               .segment_len = t->geometry.segment_len,
                               .base = (uintptr_t)t->header,
                               .version = FM_SHM_VERSION,
                               .pid = getpid(),
                               .fd = t->fd,
                               .pid_space = (uint32_t)fm_segment_pid_space(),
                               .ino = t->fd >= 0 ? fm_segment_inode(t->fd) : 0,
                               .at = t->at,
                               .wakeup_fd = t->wakeup[1]};

    a.wakeup_ino = a.wakeup_fd >= 0 ? fm_segment_inode(a.wakeup_fd) : 0;
    memcpy(out_addr, &a, sizeof(a));
    *out_len = sizeof(a);
    return 0;
}

static void shm_close(struct fm_transport *tp)
{
    struct fm_shm_transport *t = (struct fm_shm_transport *)tp;

    if (!t) {
        return;
    }
    fm_shm_copy_finish(t, NULL);
    fm_shm_assist_finish(t, NULL);
    while (t->eps) {
        fm_shm_peer_disconnect(&t->eps->ep);
    }
    atomic_store_explicit(&t->header->closed, 1, memory_order_release);
    fm_shm_doorbell_close(t);
    fm_shm_segment_close(t);
    free(t->staging);
    free(t);
}

static const struct fm_transport_ops ops = {
    .name = "shm",
    .close = shm_close,
    .address = shm_address,
    .connect = fm_shm_peer_connect,
    .disconnect = fm_shm_peer_disconnect,
    .send = fm_shm_send,
    .reserve = fm_shm_send_reserve,
    .commit = fm_shm_send_commit,
    .rma = fm_shm_copy_rma,
    .expose = fm_shm_copy_expose,
    .unexpose = fm_shm_copy_unexpose,
    .poll = fm_shm_poll,
    .arm = fm_shm_sleep_arm,
};

int fm_shm_open(const struct fm_transport_args *args, void *counters, struct fm_transport **out_tp)
{
    struct fm_shm_transport *t =
        aligned_alloc(FM_CACHE_LINE, fm_shm_round_up(sizeof(*t), FM_CACHE_LINE));
    int rc;

    if (!t) {
        return fm_fail(-FM_E_NOMEM, "no memory for the shared-memory transport");
    }
    memset(t, 0, sizeof(*t));
    t->counters = counters;
    t->self = args->self;
    t->chunk = t->counters->cma_chunk;
    t->assist_min = t->counters->assist_min ? t->counters->assist_min : SIZE_MAX;
    choose_barrier(t, args->n_local ? args->n_local : args->n_procs);
    rc = fm_shm_segment_make(t, args->n_local ? args->n_local : args->n_procs);
    if (rc < 0) {
        goto err_t;
    }
    rc = fm_shm_doorbell_open(t, args->has_company);
    if (rc < 0) {
        goto err_segment;
    }
    /* Where the Yama module lets only ancestors trace a process, let our launcher's children do
       so too; elsewhere this is refused and not needed. */
    (void)prctl(PR_SET_PTRACER, (unsigned long)getppid(), 0, 0, 0);
    t->tp = (struct fm_transport){.ops = &ops,
                                  .sink = args->sink,
                                  .max_send = t->geometry.max_send,
                                  .best_inline = FM_SHM_INLINE,
                                  .piece_len = t->counters->piece_len,
                                  .has_rma = true,
                                  .max_pieces = FM_SHM_PIECES,
                                  .needs_expose = false};
    t->tp.sink.enough = args->sink.enough ? args->sink.enough : &never_enough;
    rc = fm_transport_check(&t->tp);
    if (rc < 0) {
        goto err_door;
    }
    *out_tp = &t->tp;
    return 0;

err_door:
    fm_shm_doorbell_close(t);
err_segment:
    fm_shm_segment_close(t);
err_t:
    free(t);
    return rc;
}

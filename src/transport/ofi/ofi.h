/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * What the files of the libfabric transport share. For this folder only.
 *
 * On the wire a message is
 *
 *     | head, body: len >= 1 bytes | 0..7 zero bytes | struct fm_ofi_tail: 16 bytes |
 *
 * so that its length is a multiple of 8. The tail has its stream, its number in that stream, its
 * sender, and the number of zero bytes. Streams that do not prove to be of this job are dropped
 * (ofi_proof.h). A provider orders the
 * matching of messages with receive buffers (FI_ORDER_SAS), but may complete a long message after a
 * short one that was sent later; the number puts that right (ofi_order.h). A message of 0 bytes on
 * the wire is a flush: it is sent at close, for its completion alone.
 *
 * Receive buffers take one message each. Multi-receive buffers (FI_MULTI_RECV) are not used: in
 * libfabric 1.17 ofi_rxm reports such a buffer as released while a long message of another peer is
 * still being placed in it, and packs messages at odd addresses.
 *
 * Every operation in flight has a struct fm_ofi_op, whose first member belongs to libfabric. Sends
 * that fit the provider's inject size leave from a scratch buffer and have no completion; longer
 * ones leave from a bounce buffer, which comes back with the completion.
 */
#pragma once

#include <rdma/fabric.h>
#include <rdma/fi_atomic.h>
#include <rdma/fi_cm.h>
#include <rdma/fi_domain.h>
#include <rdma/fi_endpoint.h>
#include <rdma/fi_errno.h>
#include <rdma/fi_rma.h>

#include "transport/ofi/ofi_open.h"
#include "transport/ofi/ofi_order.h"
#include "util/list.h"
#include "util/pool.h"

#define FM_OFI_NAME_LEN    64
#define FM_OFI_ADDR_LEN    (FM_ADDRESS_MAX - 64)
#define FM_OFI_CQ_MAX      64
#define FM_OFI_SCRATCH_LEN 4096
#define FM_OFI_N_RANDOM    32

/* The library's entry points; all else in libfabric is reached through these. */
struct fm_ofi_lib {
    int (*getinfo)(uint32_t version, const char *node, const char *service, uint64_t flags,
                   const struct fi_info *hints, struct fi_info **info);
    void (*freeinfo)(struct fi_info *info);
    struct fi_info *(*dupinfo)(const struct fi_info *info);
    int (*fabric)(struct fi_fabric_attr *attr, struct fid_fabric **fabric, void *context);
    const char *(*strerror)(int errnum);
    uint32_t (*version)(void);
    size_t rxm_buffer; /* bytes on the wire that ofi_rxm carries in one of its buffers */
};

/* Counters and control variables; rows in ofi_vars.c. */
struct fm_ofi_counters {
    /* control variables */
    char provider[FM_OFI_NAME_LEN];
    char interface[FM_OFI_NAME_LEN];
    char provider_used[FM_OFI_NAME_LEN];
    char interface_used[FM_OFI_NAME_LEN];
    uint64_t max_send, eager_len, n_send_buffers, n_recv_buffers, cq_batch, use_rma, can_sleep,
        drain_ms;
    /* messages */
    uint64_t n_sends, n_injects, n_again, bytes_sent, n_recvs, bytes_received;
    uint64_t n_early, n_malformed, n_foreign, n_connections;
    struct fathom_level early_bytes;
    /* completion queue */
    uint64_t n_cq_reads, n_cq_entries, n_cq_errors;
    /* buffers */
    struct fathom_level bounce_used;
    uint64_t n_bounce, n_exhausted;
    struct fathom_level recv_posted; /* receive buffers that the provider took */
    /* memory */
    uint64_t n_reads, n_writes, bytes_read, bytes_written, n_registrations;
    uint64_t n_atomics, atomic_bytes;
    struct fathom_level registered, registered_bytes, transfers, windows;
    /* events */
    uint64_t on_connected, on_cq_error, on_exhausted;
};

enum { FM_OFI_CONNECTED, FM_OFI_CQ_ERROR, FM_OFI_EXHAUSTED, FM_OFI_N_EVENTS };
extern const struct fathom_event fm_ofi_events[FM_OFI_N_EVENTS];

enum fm_ofi_kind { FM_OFI_RECV, FM_OFI_SEND, FM_OFI_FLUSH, FM_OFI_RMA };

struct fm_ofi_op {
    struct fi_context2 ctx; /* libfabric's while the operation is in flight (FI_CONTEXT2) */
    enum fm_ofi_kind kind;
};

/* A receive buffer. */
struct fm_ofi_slot {
    struct fm_ofi_op op;
    bool is_posted;
    char *buf;
};

/* A send buffer: free (in the list), reserved, in flight, or waiting for the provider. */
struct fm_ofi_bounce {
    struct fm_ofi_op op;
    struct fm_ofi_bounce *next; /* free list, or the queue of what waits */
    struct fm_ofi_ep *ep;
    char *buf;
    size_t wire_len;
    bool is_mark; /* its completion says that the endpoint's injected messages have left, too */
};

/* Memory of this process that a transfer uses. */
enum fm_ofi_buffer { FM_OFI_LOCAL, FM_OFI_RESULT, FM_OFI_COMPARE, FM_OFI_N_LOCALS };

/* A transfer of memory, one piece in flight at a time. */
struct fm_ofi_transfer {
    struct fm_ofi_op op;
    struct fm_list link; /* in the transport's list of those in flight or of those that wait */
    struct fm_ofi_ep *ep;
    struct fm_rma *rma;
    struct fid_mr *own_mr[FM_OFI_N_LOCALS]; /* made for this transfer alone, or NULL */
    void *desc[FM_OFI_N_LOCALS];
    size_t at;         /* bytes done */
    size_t in_piece;   /* bytes of the piece in flight */
    bool is_read_back; /* the read that follows a write is in flight */
};

struct fm_ofi_ep {
    struct fm_ep ep;
    struct fm_list link; /* in the transport's list */
    fi_addr_t addr;
    uint64_t stream; /* of the tail */
    uint32_t sender; /* of the tail, shifted */
    uint32_t seq;
    uint32_t n_flying;   /* operations whose completions name this endpoint */
    uint32_t n_injected; /* since the last mark; see ofi_msg.c */
    bool has_mark;       /* a mark is in flight */
    bool is_up;          /* the provider took a message at some time */
    bool is_dead;        /* sink.failed() was called */
    bool is_closed;      /* disconnected: memory goes with the last operation */
    bool needs_flush;    /* something was sent since the last flush */
    struct fm_ofi_op flush;
};

struct fm_ofi {
    struct fm_transport tp;
    const struct fm_ofi_lib *lib;
    struct fm_ofi_counters *w;
    struct fid_ep *fi_ep;
    struct fid_cq *cq;
    size_t inject_len; /* bytes on the wire that fi_inject takes */
    size_t cq_batch;
    bool is_closing; /* what arrives is dropped */
    bool has_flush;  /* a message may be accepted and yet not be on its way; see fm_ofi_drain() */

    struct fm_ofi_bounce *bounce_free;
    struct fm_ofi_bounce *reserved; /* between reserve() and commit() */
    struct fm_ofi_bounce *waiting;  /* committed, not yet taken by the provider: oldest */
    struct fm_ofi_bounce **waiting_end;
    struct fm_ofi_slot *slots;
    size_t n_slots, slot_len, n_unposted;
    struct fm_ofi_order order;
    struct fm_list transfers_flying, transfers_waiting;
    struct fm_pool transfers;
    struct fm_list eps;

    struct fi_info *info;
    struct fid_fabric *fabric;
    struct fid_domain *domain;
    struct fid_av *av;
    int cq_fd;                        /* -1: cannot sleep */
    bool was_refused;                 /* since arm() was last asked */
    bool lacks_delivery;              /* the provider refuses FI_DELIVERY_COMPLETE */
    uint64_t random[FM_OFI_N_RANDOM]; /* numbers not yet used, */
    unsigned n_random;                /* ... so many */
    struct fm_ofi_secret secret;
    uint32_t self;       /* process index */
    uint32_t next_nonce; /* of the next endpoint */
    size_t max_atomic;   /* bytes that one atomic operation of the provider updates */
    uint64_t mr_mode;
    struct fm_ofi_bounce *bounces;
    size_t n_bounces;
    char *send_mem, *recv_mem; /* the buffers' memory, one mapping each */
    size_t send_mem_len, recv_mem_len;
    struct fid_mr *send_mr, *recv_mr, *read_back_mr; /* FI_MR_LOCAL only */
    uint64_t read_back;                              /* destination of such reads; not used */
    char scratch[FM_OFI_SCRATCH_LEN] FM_ALIGNED(FM_CACHE_LINE);
};

/* ofi_load.c: load the library, once per process. 0 or -FM_E_UNSUPPORTED. */
int fm_ofi_load(const struct fm_ofi_lib **out_lib);

/* ofi_choose.c: the best provider and interface for these wishes; *out_info is the caller's. */
int fm_ofi_choose(const struct fm_ofi_lib *lib, const char *provider, const char *interface,
                  bool is_one_host, struct fi_info **out_info);
/* Does this provider put messages straight into the memory of a peer on the same host? */
bool fm_ofi_is_local(const char *provider);
/* The longest message on the wire that this provider carries well; and the payload up to which an
   eager message is faster than a rendezvous. */
size_t fm_ofi_best_wire(const struct fm_ofi_lib *lib, const char *provider);
size_t fm_ofi_best_eager(const char *provider);
/* An interface's address as text ("127.0.0.1"), "" when it is of no known kind. */
void fm_ofi_address_text(const struct fi_info *info, char *out, size_t len);

/* ofi_msg.c */
int fm_ofi_send(struct fm_ep *ep, const void *head, size_t head_len, const void *body,
                size_t body_len);
int fm_ofi_reserve(struct fm_ep *ep, size_t len, void **out_room);
int fm_ofi_commit(struct fm_ep *ep, void *room, size_t len);
int fm_ofi_poll(struct fm_transport *tp);
/* Give all receive buffers that are not posted to the provider. 0 or a failure. */
int fm_ofi_post(struct fm_ofi *ofi);
/* Wait until everything that was accepted has left, at most `ms`. */
void fm_ofi_drain(struct fm_ofi *ofi, uint64_t ms);
/* The peer cannot be reached any more: reports that to the sink, once. */
FM_COLD void fm_ofi_fail_peer(struct fm_ofi_ep *ep, const char *why);

/* ofi_peer.c */
int fm_ofi_peer_address(struct fm_transport *tp, void *out_addr, size_t *out_len);
int fm_ofi_peer_connect(struct fm_transport *tp, int peer, const void *addr, size_t addr_len,
                        struct fm_ep **out_ep);
void fm_ofi_peer_disconnect(struct fm_ep *ep);
/* Send a flush if the endpoint needs one and nothing of it is in flight. False: refused for now. */
bool fm_ofi_flush(struct fm_ofi_ep *ep);
/* One operation less names this endpoint; frees it when it is closed and that was the last. */
void fm_ofi_ep_landed(struct fm_ofi_ep *ep);

/* ofi_rma.c */
int fm_ofi_rma(struct fm_ep *ep, struct fm_rma *rma);
int fm_ofi_expose(struct fm_transport *tp, void *addr, size_t len, unsigned rights,
                  enum fm_mem_life life, struct fm_mem *out_mem);
void fm_ofi_unexpose(struct fm_transport *tp, struct fm_mem *mem);
/* A piece of a transfer has ended, well (err 0) or not (an errno of libfabric). */
void fm_ofi_rma_landed(struct fm_ofi *ofi, struct fm_ofi_transfer *t, int err);
/* Try again what the provider refused. */
FM_COLD void fm_ofi_rma_resume(struct fm_ofi *ofi);
/* End all transfers with -FM_E_CANCELLED; the endpoint is closed already. */
void fm_ofi_rma_finish(struct fm_ofi *ofi);

/* ofi_atomic.c: which operations the provider does; fills tp.atomics. */
void fm_ofi_atomic_init(struct fm_ofi *ofi);
/* Bytes of one piece of a transfer by this operation, at most. */
size_t fm_ofi_atomic_max(const struct fm_ofi *ofi, enum fm_rma_type type);
/* Hand the piece at t->at to the provider: 0 or its refusal. `flags` are libfabric's. */
ssize_t fm_ofi_atomic_post(struct fm_ofi *ofi, struct fm_ofi_transfer *t, uint64_t flags);

/* ofi_mr.c: a number that cannot be guessed, not 0. 0: the system gave none. */
uint64_t fm_ofi_random(struct fm_ofi *ofi);
/* ofi_mr.c: register memory with the provider. 0 or a failure with its reason. */
int fm_ofi_register(struct fm_ofi *ofi, void *addr, size_t len, uint64_t access,
                    struct fid_mr **out_mr);

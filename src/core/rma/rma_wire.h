/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Active messages of one-sided operations: packets of records (win.h, way MESSAGE).
 *
 *     request   packet | record | span | data | span | data ... | record ...
 *     reply     packet | record | data ...
 *
 *     PUT        at each span: bytes to store
 *     ACC        elem, op; at each span: elements
 *     GET        id, at; spans without data                       answer: DATA
 *     GET_ACC    id, at, elem, op; at each span: elements         answer: DATA
 *     CAS        id, elem; one span: what to compare, what to put answer: DATA
 *     LOCK       id, is exclusive (op)                            answer: GRANT, some time
 *     UNLOCK     id                                               answer: ACK
 *     FLUSH      id                                               answer: ACK
 *     POSTED, COMPLETED                                           the origin's mark
 *     DATA       id, at, then its bytes: of the packed form of what was asked for
 *     ACK, GRANT id; GRANT: at is the error class, 0 for success
 *     ERROR      id (0: of no fetching operation), at: error class
 *
 * Records of an origin are carried out in order. Records and data begin at multiples of 8 bytes.
 * Pairs have one span each, and lie packed in the data. Nothing here is trusted.
 */
#pragma once

#include "core/p2p/wire.h"

enum fm_rma_packet_kind { FM_RMA_PACKET_REQUEST = FM_WIRE_RMA, FM_RMA_PACKET_REPLY };

enum fm_rma_rec_kind {
    FM_RMA_REC_PUT = 1,
    FM_RMA_REC_GET,
    FM_RMA_REC_ACC,
    FM_RMA_REC_GET_ACC,
    FM_RMA_REC_CAS,
    FM_RMA_REC_LOCK,
    FM_RMA_REC_UNLOCK,
    FM_RMA_REC_FLUSH,
    FM_RMA_REC_POSTED,
    FM_RMA_REC_COMPLETED,
    FM_RMA_REC_DATA,
    FM_RMA_REC_ACK,
    FM_RMA_REC_GRANT,
    FM_RMA_REC_ERROR,
};

struct fm_rma_packet {
    struct fm_wire_head head;
    uint32_t context; /* of the window's communicator */
    int32_t source;   /* rank of the sender in the window */
    uint32_t owed;    /* request: bytes of answers to what fetches; reply: the same number */
};

struct fm_rma_rec {
    uint8_t kind;
    uint8_t unused;
    uint16_t op;    /* predefined handle */
    uint16_t elem;  /* predefined handle, of the value where there is an index */
    uint16_t index; /* 0, or that of a pair without a name (MPI_Type_get_value_index) */
    uint32_t n_spans;
    uint32_t len; /* DATA: bytes */
    uint64_t id;
    uint64_t at;
};

/* Bytes of the window. */
struct fm_rma_span {
    uint64_t at;
    uint64_t len;
};

#define FM_RMA_PAD(len) (((size_t)(len) + 7) & ~(size_t)7)

_Static_assert(sizeof(struct fm_rma_packet) == 24 && sizeof(struct fm_rma_rec) == 32, "no padding");

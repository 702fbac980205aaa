/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * The lane: room for the long messages of a pair, in the reader's segment behind its fast box, with
 * the same writer and the same reader.
 *
 *     slot: | line 0: the reader's | line 1: body ...              | next slot
 *                      ^ header      ^ `from` = 64
 *
 * A long message takes neighbouring cache lines of the lane, and a cell of the box, which keeps the
 * order, says which (struct fm_shm_note). A short header travels in that cell: the reader puts it
 * in front of the body, into a line that the writer seldom touches, and has both in one run without
 * waiting for one more line. Messages do not wrap; what is left at the end of a lap stays unused.
 *
 * Long messages have a place of their own since their best place is not that of short ones: a lane
 * is four times as large as a box. Messages of 16 KiB move through it at 12 to 20 GB/s, through a
 * box of 128 KiB, of which they leave little free, at 9 to 12. Short messages are as fast or faster
 * in the box.
 *
 * That is so where a line goes quickly from one processor to the other. Where it takes longer, one
 * copy of what may be copied by one is quicker (fm_ep.pushes is FM_PUSH_SELDOM then), and the lane
 * is for what travels with its header. Processors that share no cache (`is_far`) take a modified
 * line from one another many times slower than from memory. For them the writer stores past the
 * caches. It learns all that from the time of its look at a word that the reader has just written,
 * and looks anew all the time: a hypervisor or scheduler moves processes.
 *
 * Atomics, and with what each pairs:
 *   W, R   of the box's cell (shm_box.h): the note and all that it speaks of are there.
 *   L  reader's release store of lane_done -> L' writer's acquire load of it: the reader has left
 *      the lines before the writer uses them again.
 */
#pragma once

#include "transport/shm/shm_box.h"

#define FM_SHM_NOTE_HEAD 44

/* What the cell of a long message says: as long as no other private message. */
struct fm_shm_note {
    uint32_t at;       /* number of the slot's first line in the stream of lines */
    uint32_t len;      /* of the message */
    uint16_t from;     /* where in the slot the bytes begin that lie in the lane */
    uint16_t head_len; /* bytes of the message that are here, and belong in front of these */
    unsigned char head[FM_SHM_NOTE_HEAD];
};

_Static_assert(sizeof(struct fm_shm_note) == FM_SHM_INLINE, "fills a cell");

/* One end of a lane; private to its process. */
struct fm_shm_lane {
    char *lines; /* NULL: not in use */
    uint32_t n_lines;
    uint32_t at;        /* number of the next line */
    uint32_t done;      /* writer: as last seen; reader: as last told */
    uint32_t looked_at; /* writer: `at` of the last look */
    uint32_t n_apart;   /* writer: looks in a row that took longer than shm_apart_ns */
    uint32_t n_slow;    /* ... than shm_far_ns */
    bool is_far;        /* writer: the processors seem to share no cache */
    bool is_bypassed;   /* writer: the longest messages do not come this way, one copy is quicker */
    bool is_tried;      /* writer: asked for its memory */
    bool has_room;      /* writer: between reserve and commit */
    char *staging;      /* ... and where the message is made, or NULL: in the slot */
};

struct fm_shm_ep;

/* shm_lane.c */

/* Begin to use the lane at this endpoint. False: there is none. */
bool fm_shm_lane_open(struct fm_shm_ep *ep);
/* Put a message into the lane, and what is to be said of it into the note. 0 or FM_AGAIN. */
int fm_shm_lane_put(struct fm_shm_ep *ep, struct fm_shm_note *note, const void *head,
                    size_t head_len, const void *body, size_t body_len);
/* The same in two steps. */
int fm_shm_lane_reserve(struct fm_shm_ep *ep, size_t len, void **out_room);
void fm_shm_lane_commit(struct fm_shm_ep *ep, struct fm_shm_note *note, size_t len);
/* After a message of `len` bytes was published: take the lines of the next one, if it is as long
   and they are free, as fm_shm_box_take_lines() does; not the first, which may be the reader's. */
void fm_shm_lane_take_lines(struct fm_shm_lane *lane, size_t len);

/* The message that a note speaks of, its header put in place: NULL if no writer of ours says so.
   *out_end is for fm_shm_lane_advance(). */
const void *fm_shm_lane_find(const struct fm_shm_lane *lane, const void *note, size_t max_len,
                             size_t *out_len, uint32_t *out_end);
/* The reader has left all lines before `end`. */
void fm_shm_lane_advance(struct fm_shm_lane *lane, struct fm_shm_box *box, uint32_t end);

/* shm_past_*.c: copy past the caches, to the beginning of a cache line; done when it returns. */
void fm_shm_past_copy(void *to, const void *from, size_t len);

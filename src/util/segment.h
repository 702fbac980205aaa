/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that processes of one host share.
 *
 * One process makes it and sends the others its address in a message. It lies in the arena of the
 * job (arena.h) where there is one. Else it is a memory file, which the others open through
 * /proc/<pid>/fd/<fd>, as the kernel allows to the same user; when all have it, the maker hides it.
 * A random number in it is compared with the one in the address. Nothing has a name in a file
 * system, so nothing is left when all processes are killed. The memory is reserved before use: a
 * full /dev/shm is an error here, not a SIGBUS later.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* A memory file of len bytes whose size is sealed; the first n_reserved bytes are allocated. Its
   descriptor, or a failure with its reason. */
int fm_segment_file(const char *name, size_t len, size_t n_reserved);
/* The same without allocation: its descriptor, or -1 and errno. A length above RLIMIT_FSIZE (ulimit
   -f) gives EFBIG, not SIGXFSZ. */
int fm_segment_sealed(const char *name, size_t len);
/*
 * Descriptor `fd` of process pid, opened here with open(2)'s flags, if it is this file: its type
 * (S_IFREG, S_IFIFO) and inode. -1 and errno: ESTALE when it is another file, which was not opened
 * then. The number may mean something else by now, a data file of the user among it.
 */
int fm_segment_open(int pid, int fd, int flags, unsigned type, uint64_t ino);
/* The inode of an own descriptor; 0: unknown. */
uint64_t fm_segment_inode(int fd);
/* The PID namespace of this process (its inode); 0: unknown. */
uint64_t fm_segment_pid_space(void);
/* A random number that identifies a segment. */
uint64_t fm_segment_nonce(void);

/* The address of a segment in a message; all 0: none. */
struct fm_segment_address {
    uint64_t nonce;
    uint64_t len;
    uint64_t ino; /* of the file; in the arena 0 */
    uint64_t at;  /* place in the arena; 0: it is a file of its own */
    int32_t pid;
    int32_t fd;
};

struct fm_segment {
    void *base; /* len bytes, 64-byte aligned, zero at first; NULL: none */
    size_t len;
    int fd;      /* -1: hidden, of another process, or in the arena */
    uint64_t at; /* place in the arena; 0: none */
};

/* 0, or a failure with the reason. */
int fm_segment_create(size_t len, struct fm_segment *out_segment);
struct fm_segment_address fm_segment_address(const struct fm_segment *s);
/* Map the segment of another process. 0, or a failure: it cannot be reached. */
int fm_segment_attach(const struct fm_segment_address *address, struct fm_segment *out_segment);
/* No process can attach it any more. */
void fm_segment_hide(struct fm_segment *s);
/* Unmap it; other processes keep it. A zeroed segment is allowed. */
void fm_segment_finish(struct fm_segment *s);

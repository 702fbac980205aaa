/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that processes of one host share.
 *
 * A process creates a segment, a memory file, and sends its address to peers in a message. They
 * open it through /proc/<pid>/fd/<fd>, which the kernel allows to the same user, and compare the
 * nonce in it with that of the address, which detects a pid of another namespace. When all peers
 * have mapped it, the creator hides it. No file system has its name, so nothing is left when all
 * are killed. The memory is allocated before use: a full /dev/shm is an error here, not a SIGBUS
 * later.
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
    uint64_t ino; /* of the file */
    int32_t pid;
    int32_t fd;
};

struct fm_segment {
    void *base; /* len bytes, 64-byte aligned, zero at first; NULL: none */
    size_t len;
    int fd; /* -1: hidden, or created by another process */
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

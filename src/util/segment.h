/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Memory that processes of one host share.
 *
 * One makes it, a memory file, and sends the others its address in a message; they open it through
 * /proc/<pid>/fd/<fd>, which the kernel allows to the same user, and compare a random number in it
 * with the one in the address: a pid of another namespace is thereby told from the right one. When
 * all have it, the maker hides it. Nothing has a name in a file system, so nothing is left when all
 * are killed. The memory is reserved before use: a full /dev/shm is an error here, not a SIGBUS
 * later.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

/* The parts, for who needs them apart. A memory file of len bytes, the first n_reserved of them
   reserved, whose size nobody can change. Its descriptor, or a failure with the reason. */
int fm_segment_file(const char *name, size_t len, size_t n_reserved);
/* A memory file of len bytes, not reserved, whose size nobody can change: its descriptor, or -1 and
   errno. A file over the limit of the process (ulimit -f, which holds for memory files too) is
   EFBIG here, not SIGXFSZ and the end. */
int fm_segment_sealed(const char *name, size_t len);
/*
 * Descriptor `fd` of process pid, opened here with open(2)'s flags, if it is this file: its type
 * (S_IFREG, S_IFIFO) and inode. -1 and errno: ESTALE when it is another file, which was not opened
 * then. The number may mean something else by now, a data file of the user among it.
 */
int fm_segment_open(int pid, int fd, int flags, unsigned type, uint64_t ino);
/* The inode of an own descriptor; 0: unknown. */
uint64_t fm_segment_inode(int fd);
/* The namespace that tells this process the numbers of others (its inode); 0: unknown. */
uint64_t fm_segment_pid_space(void);
/* A number that tells a segment from all others. */
uint64_t fm_segment_nonce(void);

/* As it travels in a message; 0 throughout: there is none. */
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
    int fd; /* -1: hidden, or not ours */
};

/* 0, or a failure with the reason. */
int fm_segment_create(size_t len, struct fm_segment *out_segment);
struct fm_segment_address fm_segment_address(const struct fm_segment *s);
/* What another process has made. 0, or a failure: it cannot be reached from here. */
int fm_segment_attach(const struct fm_segment_address *address, struct fm_segment *out_segment);
/* From now on nobody can attach it. */
void fm_segment_hide(struct fm_segment *s);
/* Those who have it keep it. One that is zero is fine. */
void fm_segment_finish(struct fm_segment *s);

/* SPDX-License-Identifier: BSD-3-Clause */
/*
 * Proof that a sender belongs to the job.
 *
 * Whoever can reach a provider's address can send to it. So each process draws a secret when it
 * opens the transport, and publishes it with its address through the process manager, which only
 * shows it to the processes of the job. A sender names its stream by
 *
 *     stream = SipHash-2-4(secret of the receiver, process index and nonce of the sender)
 *
 * and says index and nonce in each message. The receiver computes the same when it meets a stream
 * for the first time, and drops messages of streams that do not agree, before it reads any more of
 * them. A guess succeeds with a probability of 2^-64. Messages are neither encrypted nor
 * authenticated beyond that: the network itself is trusted.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct fm_ofi_secret {
    uint64_t k[2];
};

/* The sender as it names itself: process index, and a number that differs between two endpoints
   that one process makes for the same peer. */
#define FM_OFI_PROC_BITS  21
#define FM_OFI_NONCE_BITS 8

static inline uint32_t fm_ofi_proof_sender(uint32_t proc, uint32_t nonce)
{
    return proc << FM_OFI_NONCE_BITS | (nonce & ((1u << FM_OFI_NONCE_BITS) - 1));
}

/* The name of the stream from this sender to the process with this secret; not 0. */
uint64_t fm_ofi_proof_stream(const struct fm_ofi_secret *secret, uint32_t sender);

/* SipHash-2-4 of one 64-bit word, little-endian. */
uint64_t fm_ofi_proof_hash(const struct fm_ofi_secret *secret, uint64_t word);

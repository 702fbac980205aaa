/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash-2-4 (Aumasson, Bernstein: "SipHash: a fast short-input PRF", 2012), for one word. */
#include "transport/ofi/ofi_proof.h"

static uint64_t rotate(uint64_t x, int n)
{
    return x << n | x >> (64 - n);
}

static void rounds(uint64_t v[4], int n)
{
    for (int k = 0; k < n; k++) {
        v[0] += v[1];
        v[2] += v[3];
        v[1] = rotate(v[1], 13) ^ v[0];
        v[3] = rotate(v[3], 16) ^ v[2];
        v[0] = rotate(v[0], 32);
        v[2] += v[1];
        v[0] += v[3];
        v[1] = rotate(v[1], 17) ^ v[2];
        v[3] = rotate(v[3], 21) ^ v[0];
        v[2] = rotate(v[2], 32);
    }
}

static void compress(uint64_t v[4], uint64_t block)
{
    v[3] ^= block;
    rounds(v, 2);
    v[0] ^= block;
}

uint64_t fm_ofi_proof_hash(const struct fm_ofi_secret *secret, uint64_t word)
{
    uint64_t v[4] = {
        secret->k[0] ^ UINT64_C(0x736f6d6570736575), secret->k[1] ^ UINT64_C(0x646f72616e646f6d),
        secret->k[0] ^ UINT64_C(0x6c7967656e657261), secret->k[1] ^ UINT64_C(0x7465646279746573)};

    compress(v, word);
    compress(v, UINT64_C(8) << 56); /* the length, in bytes */
    v[2] ^= 0xff;
    rounds(v, 4);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

uint64_t fm_ofi_proof_stream(const struct fm_ofi_secret *secret, uint32_t sender)
{
    uint64_t stream = fm_ofi_proof_hash(secret, sender);

    return stream ? stream : 1;
}

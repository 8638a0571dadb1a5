/* SPDX-License-Identifier: BSD-3-Clause */
/* SipHash: a fast keyed hash for short messages (Aumasson and Bernstein). A process
 * without the key can neither choose colliding messages nor make the code of another
 * message. */
#ifndef PX_BASE_SIP_H
#define PX_BASE_SIP_H

#include <stddef.h>
#include <stdint.h>

#define PX_SIP_KEY_B  16u
#define PX_SIP_CODE_B 16u

static inline uint64_t px_sip_rotl(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

/* Mixes the state once. */
static inline void px_sip_round(uint64_t v[4])
{
    v[0] += v[1];
    v[2] += v[3];
    v[1] = px_sip_rotl(v[1], 13) ^ v[0];
    v[3] = px_sip_rotl(v[3], 16) ^ v[2];
    v[0] = px_sip_rotl(v[0], 32);
    v[2] += v[1];
    v[0] += v[3];
    v[1] = px_sip_rotl(v[1], 17) ^ v[2];
    v[3] = px_sip_rotl(v[3], 21) ^ v[0];
    v[2] = px_sip_rotl(v[2], 32);
}

/* Computes the message authentication code, SipHash-2-4 with 128 bits. */
void px_sip_code(const uint8_t key[PX_SIP_KEY_B], const void *bytes, size_t n,
                 uint8_t code[PX_SIP_CODE_B]);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/sip.h"

/* Reads up to eight bytes, the lowest first. */
static uint64_t load(const uint8_t *bytes, size_t n)
{
    uint64_t word = 0;

    for (size_t i = 0; i < n; i++)
        word |= (uint64_t)bytes[i] << (8 * i);
    return word;
}

static void mix(uint64_t v[4], int rounds)
{
    while (rounds-- > 0)
        px_sip_round(v);
}

static void absorb(uint64_t v[4], uint64_t word)
{
    v[3] ^= word;
    mix(v, 2);
    v[0] ^= word;
}

/* Ends a half of the code. */
static void squeeze(uint64_t v[4], uint8_t *out)
{
    mix(v, 4);
    const uint64_t half = v[0] ^ v[1] ^ v[2] ^ v[3];
    for (int i = 0; i < 8; i++)
        out[i] = (uint8_t)(half >> (8 * i));
}

void px_sip_code(const uint8_t key[PX_SIP_KEY_B], const void *bytes, size_t n,
                 uint8_t code[PX_SIP_CODE_B])
{
    const uint64_t k0 = load(key, 8), k1 = load(key + 8, 8);
    const uint8_t *at = bytes, *last = at + n - n % 8;
    /* the constants are SipHash's; 0xee is for 128 bits */
    uint64_t v[4] = {k0 ^ 0x736f6d6570736575, k1 ^ 0x646f72616e646f6d ^ 0xee,
                     k0 ^ 0x6c7967656e657261, k1 ^ 0x7465646279746573};

    for (; at < last; at += 8)
        absorb(v, load(at, 8));
    absorb(v, (uint64_t)n << 56 | load(last, n % 8));
    v[2] ^= 0xee;
    squeeze(v, code);
    v[1] ^= 0xdd;
    squeeze(v, code + 8);
}

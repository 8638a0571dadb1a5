/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/sip.h"
#include "px_test.h"

#include <string.h>

/* The reference vectors: the key is 00 01 .. 0f, the message 00 01 .. n - 1. */
PX_TEST(codes_are_those_of_the_reference)
{
    static const struct {
        size_t n;
        uint8_t code[PX_SIP_CODE_B];
    } rows[] = {
        {0,
         {0xa3, 0x81, 0x7f, 0x04, 0xba, 0x25, 0xa8, 0xe6, 0x6d, 0xf6, 0x72, 0x14, 0xc7,
          0x55, 0x02, 0x93}},
        {1,
         {0xda, 0x87, 0xc1, 0xd8, 0x6b, 0x99, 0xaf, 0x44, 0x34, 0x76, 0x59, 0x11, 0x9b,
          0x22, 0xfc, 0x45}},
        {15,
         {0x54, 0x93, 0xe9, 0x99, 0x33, 0xb0, 0xa8, 0x11, 0x7e, 0x08, 0xec, 0x0f, 0x97,
          0xcf, 0xc3, 0xd9}},
        {63,
         {0x51, 0x50, 0xd1, 0x77, 0x2f, 0x50, 0x83, 0x4a, 0x50, 0x3e, 0x06, 0x9a, 0x97,
          0x3f, 0xbd, 0x7c}},
    };
    uint8_t key[PX_SIP_KEY_B], message[64], code[PX_SIP_CODE_B];

    for (uint8_t i = 0; i < sizeof(message); i++)
        message[i] = i;
    memcpy(key, message, sizeof(key));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        px_sip_code(key, message, rows[i].n, code);
        ck_assert_mem_eq(code, rows[i].code, sizeof(code));
    }
}

PX_TEST(every_bit_of_key_and_message_counts)
{
    uint8_t key[PX_SIP_KEY_B] = {0}, message[24] = {0}, first[PX_SIP_CODE_B],
            code[PX_SIP_CODE_B];

    px_sip_code(key, message, sizeof(message), first);
    for (size_t bit = 0; bit < 8 * (sizeof(key) + sizeof(message)); bit++) {
        uint8_t *byte = bit < 8 * sizeof(key) ? &key[bit / 8]
                                              : &message[bit / 8 - sizeof(key)];

        *byte ^= (uint8_t)(1 << bit % 8);
        px_sip_code(key, message, sizeof(message), code);
        ck_assert_mem_ne(code, first, sizeof(code));
        *byte ^= (uint8_t)(1 << bit % 8);
    }
    px_sip_code(key, message, sizeof(message) - 1, code);
    ck_assert_mem_ne(code, first, sizeof(code));
}

PX_TEST_MAIN("base/sip", NULL, NULL)

/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Data_*: invalid arguments, types that do not exist, and buffers that end early or have wrong
 * counts. */
#include "rows.h"

#include <stdlib.h>

static pmix_data_buffer_t *view(void *bytes, size_t n)
{
    static pmix_data_buffer_t b;

    b = (pmix_data_buffer_t){.base_ptr = bytes,
                             .pack_ptr = (char *)bytes + n,
                             .unpack_ptr = bytes,
                             .bytes_allocated = n,
                             .bytes_used = n};
    return &b;
}

#define BYTES(text) view((char *)(uintptr_t)(text), sizeof(text) - 1)

/* ---- arguments ----------------------------------------------------------------------------------- */

static void packing(void)
{
    pmix_data_buffer_t b = {0}, broken = {.bytes_used = 4}, ahead, unknown = {0};
    pmix_data_array_t lies = {.type = PMIX_INFO, .size = 3};
    pmix_value_t v = {.type = PMIX_DATA_ARRAY, .data = {.darray = &lies}}, odd = {0};
    int32_t numbers[2] = {1, 2}, n = 1;
    char memory[8];

    ahead = (pmix_data_buffer_t){.base_ptr = memory,
                                 .unpack_ptr = memory + 6,
                                 .bytes_allocated = 8,
                                 .bytes_used = 4};
    BAD(PMIx_Data_pack(NULL, NULL, numbers, 1, PMIX_INT32))
    BAD(PMIx_Data_pack(NULL, &b, NULL, 1, PMIX_INT32))
    BAD(PMIx_Data_pack(NULL, &b, numbers, -1, PMIX_INT32))
    BAD(PMIx_Data_pack(NULL, &b, numbers, INT32_MIN, PMIX_INT32))
    BAD(PMIx_Data_pack(NULL, &broken, numbers, 1, PMIX_INT32))
    BAD(PMIx_Data_pack(NULL, &ahead, numbers, 1, PMIX_INT32))
    BAD(PMIx_Data_pack(NULL, &b, &v, 1, PMIX_VALUE))
    lies.size = SIZE_MAX;
    BAD(PMIx_Data_pack(NULL, &b, &v, 1, PMIX_VALUE))
    UNKNOWN(PMIx_Data_pack(NULL, &b, numbers, 1, PMIX_UNDEF))
    BAD(PMIx_Data_unpack(NULL, NULL, numbers, &n, PMIX_INT32))
    BAD(PMIx_Data_unpack(NULL, &b, NULL, &n, PMIX_INT32))
    BAD(PMIx_Data_unpack(NULL, &b, numbers, NULL, PMIX_INT32))
    BAD(PMIx_Data_unpack(NULL, &broken, numbers, &n, PMIX_INT32))
    BAD(PMIx_Data_unpack(NULL, &ahead, numbers, &n, PMIX_INT32))
    n = -1;
    BAD(PMIx_Data_unpack(NULL, &b, numbers, &n, PMIX_INT32))
    for (size_t i = 0; i < N_NO_TYPES; i++) {
        odd.type = no_types[i];
        n = 1;
        UNKNOWN(PMIx_Data_pack(NULL, &b, numbers, 1, no_types[i]))
        UNKNOWN(PMIx_Data_pack(NULL, &b, &odd, 1, PMIX_VALUE))
        UNKNOWN(PMIx_Data_unpack(NULL, &unknown, numbers, &n, no_types[i]))
        SO(n == 0)
    }
    SO(b.bytes_used == 0)
    free(b.base_ptr);
}

static void copying(void)
{
    pmix_value_t v = {.type = 9999};
    int number = 1;
    void *copy = &copy;
    char *text = (char *)&text;

    BAD(PMIx_Data_copy(NULL, &number, PMIX_INT))
    BAD(PMIx_Data_copy(&copy, NULL, PMIX_INT))
    UNKNOWN(PMIx_Data_copy(&copy, &number, PMIX_UNDEF))
    UNKNOWN(PMIx_Data_copy(&copy, &v, PMIX_VALUE))
    BAD(PMIx_Data_print(NULL, NULL, &number, PMIX_INT))
    BAD(PMIx_Data_print(&text, NULL, NULL, PMIX_INT))
    for (size_t i = 0; i < N_NO_TYPES; i++) {
        copy = &copy;
        text = (char *)&text;
        UNKNOWN(PMIx_Data_copy(&copy, &number, no_types[i]))
        UNKNOWN(PMIx_Data_print(&text, NULL, &number, no_types[i]))
        SO(!copy && !text)
    }
    IS(PMIX_SUCCESS, PMIx_Data_print(&text, NULL, NULL, PMIX_STRING))
    free(text);
    IS(PMIX_SUCCESS, PMIx_Data_print(&text, NULL, &v, PMIX_VALUE))
    free(text);
}

static void payloads(void)
{
    pmix_data_buffer_t b = {0}, broken = {.bytes_used = 4};
    pmix_byte_object_t bo = {0}, lies = {.size = 5};
    uint8_t *out = (uint8_t *)&bo, some[64] = {0};
    size_t n = 7;
    char *bytes = NULL;

    BAD(PMIx_Data_copy_payload(NULL, &b))
    BAD(PMIx_Data_copy_payload(&b, NULL))
    BAD(PMIx_Data_copy_payload(&b, &broken))
    BAD(PMIx_Data_copy_payload(&broken, &b))
    IS(PMIX_SUCCESS, PMIx_Data_copy_payload(&b, &b))
    BAD(PMIx_Data_load(NULL, &bo))
    BAD(PMIx_Data_load(&b, NULL))
    IS(PMIX_SUCCESS, PMIx_Data_load(&b, &lies))
    SO(b.bytes_used == 0)
    BAD(PMIx_Data_unload(NULL, &bo))
    BAD(PMIx_Data_unload(&b, NULL))
    BAD(PMIx_Data_unload(&broken, &bo))
    IS(PMIX_SUCCESS, PMIx_Data_unload(&b, &bo))
    SO(!bo.bytes && bo.size == 0)
    lies = (pmix_byte_object_t){.size = 5};
    BAD(PMIx_Data_embed(NULL, &bo))
    BAD(PMIx_Data_embed(&b, NULL))
    BAD(PMIx_Data_embed(&b, &lies))
    RUNS(PMIx_Data_buffer_load(NULL, NULL, 5))
    RUNS(PMIx_Data_buffer_load(&b, NULL, 5))
    SO(b.bytes_used == 0)
    RUNS(PMIx_Data_buffer_unload(NULL, &bytes, &n))
    RUNS(PMIx_Data_buffer_unload(&b, NULL, &n))
    RUNS(PMIx_Data_buffer_unload(&b, &bytes, NULL))
    SO(n == 7 && !bytes)

    IS(false, PMIx_Data_compress(NULL, 5000, &out, &n))
    SO(!out && n == 0)
    IS(false, PMIx_Data_compress(some, sizeof(some), NULL, &n))
    IS(false, PMIx_Data_compress(some, sizeof(some), &out, NULL))
    IS(false, PMIx_Data_compress(some, 0, &out, &n))
    IS(false, PMIx_Data_decompress(NULL, 10, &out, &n))
    IS(false, PMIx_Data_decompress(some, 0, &out, &n))
    IS(false, PMIx_Data_decompress(some, 3, &out, &n))
    IS(false, PMIx_Data_decompress(some, sizeof(some), &out, &n))
    memset(some, 0xff, sizeof(some)); /* claims four gigabytes of decompressed data */
    IS(false, PMIx_Data_decompress(some, sizeof(some), &out, &n))
    SO(!out && n == 0)
    IS(false, PMIx_Data_decompress(some, sizeof(some), NULL, &n))
    IS(false, PMIx_Data_decompress(some, sizeof(some), &out, NULL))
}

void rows_of_buffers(void)
{
    packing();
    copying();
    payloads();
}

/* ---- damage -------------------------------------------------------------------------------------- */

static bool is_documented(pmix_status_t rc)
{
    return rc == PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER ||
           rc == PMIX_ERR_UNPACK_FAILURE || rc == PMIX_ERR_UNPACK_INADEQUATE_SPACE ||
           rc == PMIX_ERR_UNKNOWN_DATA_TYPE || rc == PMIX_ERR_NOT_SUPPORTED;
}

enum { N_INFOS = 9 };

/* Makes an info of each kind of storage. Their memory is not to be freed. */
static void make(pmix_info_t infos[N_INFOS])
{
    static pmix_proc_t proc = {.nspace = "some.job", .rank = 4};
    static uint32_t numbers[] = {1, 300, 70000};
    static pmix_info_t inner[2];
    static pmix_data_array_t arrays[] = {
        {.type = PMIX_UINT32, .size = 3, .array = numbers},
        {.type = PMIX_INFO, .size = 2, .array = inner}};
    static pmix_regattr_t regattr;

    memset(infos, 0, N_INFOS * sizeof(*infos));
    PMIx_Regattr_load(&regattr, "NAME", "pmix.name", PMIX_INT, "a description");
    for (int i = 0; i < 2; i++) {
        PMIx_Load_key(inner[i].key, "inner");
        inner[i].value.type = PMIX_UINT16;
    }
    for (int i = 0; i < N_INFOS; i++)
        PMIx_Load_key(infos[i].key, "pmix.some.key");
    infos[0].value = (pmix_value_t){.type = PMIX_STRING,
                                    .data = {.string = (char *)"text"}};
    infos[1].value = (pmix_value_t){.type = PMIX_PROC, .data = {.proc = &proc}};
    infos[2].value = (pmix_value_t){.type = PMIX_DATA_ARRAY,
                                    .data = {.darray = arrays}};
    infos[3].value = (pmix_value_t){.type = PMIX_DATA_ARRAY,
                                    .data = {.darray = arrays + 1}};
    infos[4].value = (pmix_value_t){
        .type = PMIX_BYTE_OBJECT,
        .data = {.bo = {.bytes = (char *)"bytes", .size = 5}}};
    infos[5].value = (pmix_value_t){.type = PMIX_DOUBLE, .data = {.dval = 1.25}};
    infos[6].value = (pmix_value_t){.type = PMIX_PID, .data = {.pid = 4711}};
    infos[7].value = (pmix_value_t){
        .type = PMIX_ENVAR,
        .data = {
            .envar = {.envar = (char *)"A", .value = (char *)"b", .separator = ':'}}};
    infos[8].value = (pmix_value_t){.type = PMIX_REGATTR, .data = {.ptr = &regattr}};
}

/* Reads the infos out of these bytes; true if the result is valid. Reads a copy that ends with the bytes,
 * so that a sanitizer detects a read beyond the end. */
static bool survives(const char *bytes, size_t n, bool may_succeed)
{
    pmix_info_t *infos = PMIx_Info_create(N_INFOS);
    char *copy = malloc(n ? n : 1);
    int32_t got = N_INFOS;

    memcpy(copy, bytes, n);
    pmix_status_t rc = PMIx_Data_unpack(NULL, view(copy, n), infos, &got, PMIX_INFO);
    bool good = rc == PMIX_SUCCESS ? may_succeed : is_documented(rc);
    if (rc != PMIX_SUCCESS && rc != PMIX_ERR_UNPACK_INADEQUATE_SPACE)
        good = good && got == 0;
    PMIx_Info_free(infos, N_INFOS);
    free(copy);
    return good;
}

static void truncated_and_changed(void)
{
    static const uint8_t wrong[] = {0x00, 0x01, 0x1d, 0x2c, 0x7f, 0x80, 0xff};
    pmix_data_buffer_t b = {0};
    pmix_info_t infos[N_INFOS];

    make(infos);
    IS(PMIX_SUCCESS, PMIx_Data_pack(NULL, &b, infos, N_INFOS, PMIX_INFO))
    SO(survives(b.base_ptr, b.bytes_used, true))
    for (size_t n = 0; n < b.bytes_used; n++)
        SO(survives(b.base_ptr, n, false))
    for (size_t at = 0; at < b.bytes_used; at++)
        for (size_t i = 0; i < sizeof(wrong); i++) {
            char was = b.base_ptr[at];

            b.base_ptr[at] = (char)wrong[i];
            SO(survives(b.base_ptr, b.bytes_used, true))
            b.base_ptr[at] = was;
        }
    free(b.base_ptr);
    PMIx_Regattr_destruct((pmix_regattr_t *)infos[8].value.data.ptr);
}

#define READ(expected, type, text)                                      \
    n = 2;                                                              \
    IS(expected, PMIx_Data_unpack(NULL, BYTES(text), object, &n, type)) \
    SO(n == 0)

#define PAST_END PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER

static void lies(void)
{
    uint64_t object[300];
    int32_t n;

    READ(PAST_END, PMIX_INT32, "")
    READ(PAST_END, PMIX_INT32, "\x04")                       /* two, none follows */
    READ(PMIX_ERR_UNPACK_FAILURE, PMIX_INT32, "\x01")        /* -1 of them */
    READ(PAST_END, PMIX_STRING, "\x02\xfe\xff\xff\xff\x0f")  /* of two gigabytes */
    READ(PMIX_ERR_UNPACK_FAILURE, PMIX_STRING, "\x02\x03")   /* of -2 */
    READ(PMIX_ERR_UNPACK_FAILURE, PMIX_STRING, "\x02\x04yz") /* that does not end */
    READ(PMIX_ERR_UNPACK_FAILURE, PMIX_UINT16, "\x02\xff\xff\x7f") /* too large */
    READ(PAST_END, PMIX_BYTE_OBJECT, "\x02\xff\xff\xff\xff\xff\xff\xff\xff\xff")
    READ(PAST_END, PMIX_VALUE,
         "\x02\x27\x0e\xff\xff\xff\xff\x0f")                 /* four billion in one */
    READ(PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_VALUE, "\x02\x1d") /* of no type */
    READ(PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_VALUE, "\x02\x2c")
    READ(PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_VALUE, "\x02\xff\xff\x03")
    READ(PMIX_ERR_UNKNOWN_DATA_TYPE, PMIX_DATA_ARRAY, "\x02\x8f\x4e\x01")
    for (size_t i = 0; i < N_NO_TYPES; i++) {
        n = 2;
        UNKNOWN(PMIx_Data_unpack(NULL, BYTES("\x02\x01"), object, &n, no_types[i]))
    }
}

/* Makes forty values, each an array of one value. */
static void too_deep(void)
{
    char bytes[200] = {2};
    uint64_t object[8];
    size_t at = 1;
    int32_t n = 1;

    for (int i = 0; i < 40; i++) {
        bytes[at++] = PMIX_DATA_ARRAY;
        bytes[at++] = PMIX_VALUE;
        bytes[at++] = 1;
    }
    bytes[at++] = PMIX_BOOL;
    bytes[at++] = 1;
    IS(PMIX_ERR_UNPACK_FAILURE,
       PMIx_Data_unpack(NULL, view(bytes, at), object, &n, PMIX_VALUE))
}

void rows_of_damaged_buffers(void)
{
    truncated_and_changed();
    lies();
    too_deep();
}

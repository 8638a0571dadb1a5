/* SPDX-License-Identifier: BSD-3-Clause */
/* Data buffers: bytes handed in and out without copies. */
#include "px_test.h"
#include "sample.h"

#include <string.h>

PX_TEST(a_created_buffer_is_empty)
{
    pmix_data_buffer_t *buffer = PMIx_Data_buffer_create();

    ck_assert_ptr_null(buffer->base_ptr);
    ck_assert_uint_eq(buffer->bytes_used, 0);
    PMIx_Data_buffer_release(buffer);
}

PX_TEST(a_loaded_buffer_owns_the_bytes_and_reads_from_their_start)
{
    char *bytes = strdup("abcdef");
    pmix_data_buffer_t buffer;

    PMIx_Data_buffer_construct(&buffer);
    PMIx_Data_buffer_load(&buffer, bytes, 6);

    ck_assert_ptr_eq(buffer.base_ptr, bytes);
    ck_assert_ptr_eq(buffer.unpack_ptr, bytes);
    ck_assert_ptr_eq(buffer.pack_ptr, bytes + 6);
    ck_assert(buffer.bytes_used == 6 && buffer.bytes_allocated == 6);
    PMIx_Data_buffer_load(&buffer, strdup("other"), 5); /* frees the former */
    PMIx_Data_buffer_destruct(&buffer);
    ck_assert_ptr_null(buffer.base_ptr);
}

PX_TEST(unloading_hands_over_the_memory_itself)
{
    char *bytes = strdup("abcdef"), *out = NULL;
    pmix_data_buffer_t buffer;
    size_t n = 0;

    PMIx_Data_buffer_construct(&buffer);
    PMIx_Data_buffer_load(&buffer, bytes, 6);
    PMIx_Data_buffer_unload(&buffer, &out, &n);

    ck_assert_ptr_eq(out, bytes);
    ck_assert_uint_eq(n, 6);
    ck_assert_ptr_null(buffer.base_ptr);
    ck_assert_uint_eq(buffer.bytes_used, 0);
    free(out);
}

PX_TEST(what_was_unpacked_is_not_unloaded)
{
    char *out = NULL;
    pmix_data_buffer_t buffer;
    size_t n = 0;

    PMIx_Data_buffer_construct(&buffer);
    PMIx_Data_buffer_load(&buffer, strdup("abcdef"), 6);
    buffer.unpack_ptr += 2;
    PMIx_Data_buffer_unload(&buffer, &out, &n);
    ck_assert_uint_eq(n, 4);
    ck_assert_mem_eq(out, "cdef", 4);

    PMIx_Data_buffer_load(&buffer, out, 4);
    buffer.unpack_ptr += 4;
    PMIx_Data_buffer_unload(&buffer, &out, &n);
    ck_assert_uint_eq(n, 0);
    ck_assert_ptr_null(out);
}

PX_TEST(empty_buffers_and_null_are_accepted)
{
    pmix_data_buffer_t buffer;
    char *out = TEXT("x");
    size_t n = 7;

    PMIx_Data_buffer_construct(&buffer);
    PMIx_Data_buffer_load(&buffer, NULL, 5);
    ck_assert_uint_eq(buffer.bytes_used, 0);
    PMIx_Data_buffer_unload(&buffer, &out, &n);
    ck_assert_ptr_null(out);
    ck_assert_uint_eq(n, 0);
    PMIx_Data_buffer_load(NULL, NULL, 0);
    PMIx_Data_buffer_unload(NULL, &out, &n);
    PMIx_Data_buffer_construct(NULL);
    PMIx_Data_buffer_destruct(NULL);
    PMIx_Data_buffer_release(NULL);
}

PX_TEST_MAIN("types/data_buffer", NULL, NULL)

/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Data_buffer_*: the packed bytes a program sends or has received. */
#include "core/types/type.h"
#include "pmix_common.h"

#include <string.h>

PX_EXPORT void PMIx_Data_buffer_construct(pmix_data_buffer_t *b)
{
    px_type_construct(PMIX_DATA_BUFFER, b);
}

PX_EXPORT pmix_data_buffer_t *PMIx_Data_buffer_create(void)
{
    return px_type_create_array(PMIX_DATA_BUFFER, 1);
}

PX_EXPORT void PMIx_Data_buffer_destruct(pmix_data_buffer_t *b)
{
    px_type_destruct(PMIX_DATA_BUFFER, b);
}

PX_EXPORT void PMIx_Data_buffer_release(pmix_data_buffer_t *b)
{
    px_type_free_array(PMIX_DATA_BUFFER, b, 1);
}

/* Takes bytes, which are malloc memory, in place of what the buffer had. */
PX_EXPORT void PMIx_Data_buffer_load(pmix_data_buffer_t *b, char *bytes, size_t n)
{
    if (!b)
        return;
    if (bytes != b->base_ptr)
        PMIx_Data_buffer_destruct(b);
    if (!bytes)
        n = 0;
    *b = (pmix_data_buffer_t){.base_ptr = bytes,
                              .pack_ptr = bytes ? bytes + n : NULL,
                              .unpack_ptr = bytes,
                              .bytes_allocated = n,
                              .bytes_used = n};
}

/* Without a copy: what is left moves to the start, which is what the caller will
 * free. */
PX_EXPORT void PMIx_Data_buffer_unload(pmix_data_buffer_t *b, char **bytes, size_t *n)
{
    size_t done = 0, left = 0;

    if (!b || !bytes || !n)
        return;
    if (b->base_ptr && b->unpack_ptr)
        done = (size_t)(b->unpack_ptr - b->base_ptr);
    if (b->base_ptr && b->bytes_used > done)
        left = b->bytes_used - done;

    if (left && done)
        memmove(b->base_ptr, b->unpack_ptr, left);
    if (!left)
        PMIx_Data_buffer_destruct(b);
    *bytes = b->base_ptr;
    *n = left;
    PMIx_Data_buffer_construct(b);
}

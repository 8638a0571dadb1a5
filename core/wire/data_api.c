/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Data_*: packing for users. Buffers always have this library's own dialect, not
 * described. Every peer of a job that exchanges buffers reads this dialect. */
#include "core/wire/walk.h"

#include "core/base/str.h"

enum { COMPRESS_FROM_B = 4096 }; /* shorter data does not gain */

/* ---- buffers --------------------------------------------------------------------- */

static size_t unpacked_b(const pmix_data_buffer_t *b)
{
    return b->base_ptr ? (size_t)(b->unpack_ptr - b->base_ptr) : 0;
}

/* True if the buffer is consistent. Users also build buffers by hand. */
static bool is_sound(const pmix_data_buffer_t *b)
{
    if (!b || (b->bytes_used && !b->base_ptr))
        return false;
    return !b->base_ptr ||
           (b->unpack_ptr >= b->base_ptr && unpacked_b(b) <= b->bytes_used);
}

/* Returns the buffer's memory as a px_buf, which may move it. give_back stores the
 * memory in the buffer again. */
static px_buf lend(const pmix_data_buffer_t *b)
{
    size_t cap = b->bytes_allocated > b->bytes_used ? b->bytes_allocated
                                                    : b->bytes_used;

    return (px_buf){(uint8_t *)b->base_ptr, b->bytes_used, b->base_ptr ? cap : 0};
}

static void give_back(pmix_data_buffer_t *b, const px_buf *buf, size_t used)
{
    size_t done = unpacked_b(b);

    if (!buf->data)
        return;
    b->base_ptr = (char *)buf->data;
    b->unpack_ptr = b->base_ptr + done;
    b->pack_ptr = b->base_ptr + used;
    b->bytes_used = used;
    b->bytes_allocated = buf->cap;
}

/* ---- regular expressions --------------------------------------------------------- */

/* Packs PMIX_REGEX values, which are char * in this API. Inside a value a PMIX_REGEX is
 * a byte object. */
static void pack_regexes(px_writer *w, char *const *src, int32_t n)
{
    px_put_head(w, n, PMIX_REGEX);
    for (int32_t i = 0; i < n; i++) {
        pmix_byte_object_t bo = {.bytes = src[i],
                                 .size = src[i] ? px_regex_extent(src[i]) : 0};

        px_pack_bare(w, &bo, PMIX_REGEX);
    }
}

/* Unpacks through a temporary array, because the caller's array is too narrow for byte
 * objects. */
static pmix_status_t unpack_regexes(px_reader *r, char **dest, int32_t n)
{
    const struct px_type *t = px_type_find(PMIX_REGEX);
    void *array = NULL;
    pmix_status_t rc = px_get_array(r, &array, (size_t)n, t);

    if (rc)
        return rc;
    for (int32_t i = 0; i < n; i++)
        dest[i] = ((pmix_byte_object_t *)array)[i].bytes;
    free(array);
    return PMIX_SUCCESS;
}

/* ---- packing --------------------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_Data_pack(const pmix_proc_t *target PX_UNUSED,
                                       pmix_data_buffer_t *buffer, void *src,
                                       int32_t num_vals, pmix_data_type_t type)
{
    px_writer w;

    if (!is_sound(buffer) || !src || num_vals < 0)
        return PMIX_ERR_BAD_PARAM;
    px_writer_init(&w, px_codec_default);
    w.buf = lend(buffer);
    if (type == PMIX_REGEX)
        pack_regexes(&w, src, num_vals);
    else
        px_pack(&w, src, num_vals, type);
    give_back(buffer, &w.buf, w.status ? buffer->bytes_used : w.buf.len);
    return w.status;
}

static pmix_status_t unpack_up_to(px_reader *r, void *dest, int32_t *max,
                                  pmix_data_type_t type)
{
    const struct px_type *t;
    int32_t found;
    pmix_status_t rc = px_get_head(r, &found, &t, type);

    if (rc)
        return rc;
    int32_t n = found < *max ? found : *max;
    rc = type == PMIX_REGEX ? unpack_regexes(r, dest, n)
                            : px_get_elements(r, dest, (size_t)n, t);
    if (rc)
        return rc;
    *max = n;
    return found > n ? PMIX_ERR_UNPACK_INADEQUATE_SPACE : PMIX_SUCCESS;
}

/* Unpacks values. If there are more values than room, the caller gets those that fit.
 * The buffer's position does not move, so the caller can repeat the call with more
 * room. */
PX_EXPORT pmix_status_t PMIx_Data_unpack(const pmix_proc_t *source PX_UNUSED,
                                         pmix_data_buffer_t *buffer, void *dest,
                                         int32_t *max_num_values, pmix_data_type_t type)
{
    px_reader r;

    if (!is_sound(buffer) || !dest || !max_num_values || *max_num_values < 0)
        return PMIX_ERR_BAD_PARAM;
    px_reader_init(&r, px_codec_default, buffer->unpack_ptr,
                   buffer->bytes_used - unpacked_b(buffer));
    r.trusted = true; /* the user requests topologies by type */
    pmix_status_t rc = unpack_up_to(&r, dest, max_num_values, type);
    if (rc == PMIX_SUCCESS && buffer->base_ptr)
        buffer->unpack_ptr = (char *)(uintptr_t)r.pos;
    else if (rc != PMIX_ERR_UNPACK_INADEQUATE_SPACE)
        *max_num_values = 0;
    return rc;
}

/* ---- copies and text ------------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_Data_copy(void **dest, void *src, pmix_data_type_t type)
{
    const struct px_type *t = px_type_find(type);

    if (!dest || !src)
        return PMIX_ERR_BAD_PARAM;
    *dest = NULL;
    if (!t || t->store == PX_NONE)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (t->store == PX_STRING || t->store == PX_REGEX)
        return px_dup_bytes(
            src, t->store == PX_STRING ? strlen(src) + 1 : px_regex_extent(src),
            (char **)dest);
    PX_AUTOFREE void *copy = malloc(t->size);
    if (!copy)
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = px_type_copy(type, copy, src);
    if (!rc)
        *dest = px_take(&copy);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Data_print(char **output, char *prefix, void *src,
                                        pmix_data_type_t type)
{
    const struct px_type *t = px_type_find(type);
    pmix_byte_object_t regex;

    if (!output)
        return PMIX_ERR_BAD_PARAM;
    *output = NULL;
    if (!t)
        return PMIX_ERR_UNKNOWN_DATA_TYPE;
    if (!src && t->store != PX_STRING && t->store != PX_NONE)
        return PMIX_ERR_BAD_PARAM;
    const void *object = src;
    if (t->store == PX_STRING) {
        object = &src;
    } else if (t->store == PX_REGEX) {
        regex = (pmix_byte_object_t){.bytes = src, .size = px_regex_extent(src)};
        object = &regex;
    }
    PX_AUTOFREE char *text = px_type_print(type, object);
    if (!text)
        return PMIX_ERR_NOMEM;
    *output = prefix ? px_strf("%s%s", prefix, text) : px_take(&text);
    return *output ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* ---- payloads -------------------------------------------------------------------- */

PX_EXPORT pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t *dest,
                                               pmix_data_buffer_t *src)
{
    if (!is_sound(dest) || !is_sound(src))
        return PMIX_ERR_BAD_PARAM;
    size_t n = src->bytes_used - unpacked_b(src);
    if (!n)
        return PMIX_SUCCESS;
    px_buf buf = lend(dest);
    pmix_status_t rc = px_buf_reserve(&buf, n);
    if (rc)
        return rc;
    if (dest == src) /* dest's memory may have moved */
        give_back(dest, &buf, buf.len);
    memcpy(buf.data + buf.len, src->unpack_ptr, n);
    give_back(dest, &buf, buf.len + n);
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Data_load(pmix_data_buffer_t *buffer,
                                       pmix_byte_object_t *payload)
{
    if (!buffer || !payload)
        return PMIX_ERR_BAD_PARAM;
    PMIx_Data_buffer_load(buffer, px_take(&payload->bytes), payload->size);
    payload->size = 0;
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Data_unload(pmix_data_buffer_t *buffer,
                                         pmix_byte_object_t *payload)
{
    if (!is_sound(buffer) || !payload)
        return PMIX_ERR_BAD_PARAM;
    PMIx_Data_buffer_unload(buffer, &payload->bytes, &payload->size);
    return PMIX_SUCCESS;
}

PX_EXPORT pmix_status_t PMIx_Data_embed(pmix_data_buffer_t *buffer,
                                        const pmix_byte_object_t *payload)
{
    char *copy;

    if (!buffer || !payload || (payload->size && !payload->bytes))
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = px_dup_bytes((const uint8_t *)payload->bytes, payload->size,
                                    &copy);
    if (!rc)
        PMIx_Data_buffer_load(buffer, copy, payload->size);
    return rc;
}

/* ---- compression ----------------------------------------------------------------- */

PX_EXPORT bool PMIx_Data_compress(const uint8_t *inbytes, size_t size,
                                  uint8_t **outbytes, size_t *nbytes)
{
    if (!outbytes || !nbytes)
        return false;
    *outbytes = NULL;
    *nbytes = 0;
    if (!inbytes || size < COMPRESS_FROM_B)
        return false;
    PX_AUTOFREE uint8_t *out = NULL;
    size_t n;
    if (px_deflate(inbytes, size, &out, &n) || n >= size)
        return false;
    *outbytes = px_take(&out);
    *nbytes = n;
    return true;
}

PX_EXPORT bool PMIx_Data_decompress(const uint8_t *inbytes, size_t size,
                                    uint8_t **outbytes, size_t *nbytes)
{
    if (!outbytes || !nbytes)
        return false;
    *outbytes = NULL;
    *nbytes = 0;
    return px_inflate(inbytes, size, outbytes, nbytes) == PMIX_SUCCESS;
}

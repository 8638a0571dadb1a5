/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes read as any operation in one dialect, FUZZ_DIALECT, in both buffer forms. Each value that is
 * read can be written and read again to the same bytes.
 *
 * Input: buffer form (odd: described), operation, type number, then the message. */
#include "fuzz.h"
#include "core/wire/walk.h"
#include "core/wire/ops.h"
#include "wire_test.h"

#include <string.h>

enum { HEAD_B = 3, MAX_N = 4 };

enum operation {
    VALUES,
    ARRAY,
    KVALS,
    INFOS,
    PROCS,
    VIEWS,
    USERS,
    INFLATE,
    N_OPERATIONS
};

/* ---- properties ------------------------------------------------------------------------------ */

static px_writer write_values(struct px_codec codec, const void *values, int32_t n,
                              pmix_data_type_t type)
{
    px_writer w = writer_in(codec);

    px_pack(&w, values, n, type);
    FUZZ_MUST(w.status == PMIX_SUCCESS);
    return w;
}

/* Writes the values, reads them and writes them again, and compares. Zeros follow the written bytes, as
 * many as the input had: a row of pointers claims more bytes than it needs. */
static void comes_back(struct px_codec codec, const void *values, int32_t n,
                       pmix_data_type_t type, size_t zeros)
{
    PX_AUTO(px_writer) first = write_values(codec, values, n, type);
    char *back = calloc(MAX_N, px_type_find(type)->size);
    int32_t n_back = MAX_N;
    px_reader r;
    size_t len = first.buf.len;

    FUZZ_MUST(back && px_buf_reserve(&first.buf, zeros) == PMIX_SUCCESS);
    memset(first.buf.data + len, 0, zeros);
    px_reader_init(&r, codec, first.buf.data, len + zeros);
    FUZZ_MUST(px_unpack(&r, back, &n_back, type) == PMIX_SUCCESS);
    FUZZ_MUST(n_back == n);
    FUZZ_MUST(r.pos == first.buf.data + len);
    PX_AUTO(px_writer) second = write_values(codec, back, n, type);
    FUZZ_MUST(second.buf.len == len &&
              memcmp(second.buf.data, first.buf.data, len) == 0);
    px_type_free_array(type, back, (size_t)n);
}

/* ---- operations ------------------------------------------------------------------------------- */

static void read_values(px_reader *r, pmix_data_type_t type)
{
    const struct px_type *t = px_type_find(type);
    const uint8_t *start = r->pos;
    size_t len = (size_t)(r->end - r->pos);
    int32_t n = MAX_N;

    if (!t || !t->size)
        return;
    char *values = malloc(MAX_N * t->size);
    FUZZ_MUST(values);
    memset(values, 0xa5, MAX_N * t->size);
    if (px_unpack(r, values, &n, type)) {
        FUZZ_MUST(r->pos == start);
        free(values);
        return;
    }
    comes_back(r->codec, values, n, type, len);
    char *text = n ? px_type_print(type, values) : NULL;
    free(text);
    px_type_free_array(type, values, (size_t)n);
}

static void read_array(px_reader *r, pmix_data_type_t type)
{
    px_reader ahead = *r;
    const struct px_type *t;
    int32_t n;
    void *array;

    if (px_get_head(&ahead, &n, &t, type) ||
        px_unpack_array(r, &array, (size_t)n, type))
        return;
    px_type_free_array(type, array, (size_t)n);
}

static void read_kvals(px_reader *r)
{
    struct px_kval kv;

    while (px_unpack_kval(r, &kv) == PMIX_SUCCESS) {
        PX_AUTO(px_writer) w = writer_in(r->codec);

        px_pack_kval(&w, kv.key, &kv.value);
        FUZZ_MUST(w.status == PMIX_SUCCESS);
        px_value_inflate(&kv.value);
        px_kval_fini(&kv);
    }
}

static void read_lists(px_reader *r)
{
    px_reader ahead = *r;
    pmix_info_t *info;
    pmix_proc_t *procs;
    size_t n;

    if (px_unpack_infos(r, &info, &n) == PMIX_SUCCESS)
        px_type_free_array(PMIX_INFO, info, n);
    if (px_unpack_procs(&ahead, &procs, &n) == PMIX_SUCCESS)
        free(procs);
}

static void read_views(px_reader r)
{
    px_reader inside;

    while (px_unpack_view(&r, &inside, PMIX_BUFFER) == PMIX_SUCCESS ||
           px_unpack_view(&r, &inside, PMIX_BYTE_OBJECT) == PMIX_SUCCESS) {
        FUZZ_MUST(inside.end <= r.pos);
        read_kvals(&inside);
    }
}

static void read_as_user(const uint8_t *bytes, size_t n, pmix_data_type_t type)
{
    const struct px_type *t = px_type_find(type);
    pmix_byte_object_t payload = {(char *)(uintptr_t)bytes, n};
    pmix_data_buffer_t buffer = {0};
    int32_t max = MAX_N;

    if (!t || !t->size || PMIx_Data_embed(&buffer, &payload))
        return;
    char *values = calloc(MAX_N, t->size);
    pmix_status_t rc = PMIx_Data_unpack(NULL, &buffer, values, &max, type);
    if (rc == PMIX_SUCCESS || rc == PMIX_ERR_UNPACK_INADEQUATE_SPACE)
        /* a user's regex is a string */
        px_type_free_array(type == PMIX_REGEX ? PMIX_STRING : type, values,
                           (size_t)max);
    else
        free(values);
    free(buffer.base_ptr);
}

static void inflate(const uint8_t *bytes, size_t n)
{
    pmix_value_t v = {.type = PMIX_COMPRESSED_STRING};

    v.data.bo.bytes = n ? malloc(n) : NULL;
    v.data.bo.size = n;
    if (n)
        memcpy(v.data.bo.bytes, bytes, n);
    px_value_inflate(&v);
    px_type_destruct(PMIX_VALUE, &v);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    px_reader r;

    if (size < HEAD_B)
        return 0;
    struct px_codec codec = codec_of(FUZZ_DIALECT, data[0] & 1);
    pmix_data_type_t type = data[2];
    px_reader_init(&r, codec, data + HEAD_B, size - HEAD_B);
    switch (data[1] % N_OPERATIONS) {
    case VALUES:
        read_values(&r, type);
        break;
    case ARRAY:
        read_array(&r, type);
        break;
    case KVALS:
        read_kvals(&r);
        break;
    case INFOS:
    case PROCS:
        read_lists(&r);
        break;
    case VIEWS:
        read_views(r);
        break;
    case USERS:
        read_as_user(data + HEAD_B, size - HEAD_B, type);
        break;
    default:
        inflate(data + HEAD_B, size - HEAD_B);
        break;
    }
    return 0;
}

/* ---- seeds ------------------------------------------------------------------------------------- */

/* Packs an object of a type in the form of the operation. */
static void pack_seed(px_writer *w, struct gen *g, enum operation op,
                      pmix_data_type_t type)
{
    const struct px_type *t = px_type_find(type);
    char *objects = calloc(2, t->size);

    gen_object(g, type, objects);
    gen_object(g, type, objects + t->size);
    if (op == KVALS || op == VIEWS)
        px_pack_kval(w, "key", (pmix_value_t *)(void *)objects);
    else if (op == INFOS)
        px_pack_infos(w, (pmix_info_t *)(void *)objects, 2);
    else if (op == PROCS)
        px_pack_procs(w, (pmix_proc_t *)(void *)objects, 2);
    else
        px_pack(w, objects, type == PMIX_POINTER ? 1 : 2, type);
    px_type_free_array(type, objects, 2);
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const pmix_data_type_t fixed[N_OPERATIONS] = {[KVALS] = PMIX_VALUE,
                                                         [VIEWS] = PMIX_VALUE,
                                                         [INFOS] = PMIX_INFO,
                                                         [PROCS] = PMIX_PROC};
    enum { N_TYPES = 76 };
    enum operation op = (enum operation)(i / 2 / N_TYPES);
    pmix_data_type_t type = (pmix_data_type_t)(i / 2 % N_TYPES);
    struct px_codec codec = codec_of(FUZZ_DIALECT, i & 1);
    struct gen g = {.state = i, .dialect = codec.dialect};
    uint8_t head[HEAD_B] = {i & 1, (uint8_t)op, (uint8_t)type};
    if (op >= INFLATE)
        return false;
    PX_AUTO(px_writer) w = writer_in(codec);
    if (fixed[op])
        type = fixed[op];
    struct px_pack_nest nest = {0};
    if (op == VIEWS)
        nest = px_pack_buffer_begin(&w);
    if (gen_can(&g, type))
        pack_seed(&w, &g, op, type);
    if (op == VIEWS)
        px_pack_buffer_end(&w, nest);
    px_buf_add(out, head, sizeof(head));
    px_buf_add(out, w.buf.data, w.buf.len);
    return true;
}

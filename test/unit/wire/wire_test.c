/* SPDX-License-Identifier: BSD-3-Clause */
/* Messages written as text; implements wire_test.h. */
#include "wire_test.h"

#include <assert.h>
#include <string.h>

const char *const all_dialects[] = {"v21", "v3", "v4", "v41", "v51", "v61"};
const size_t n_dialects = PX_COUNT(all_dialects);

px_buf bytes_of(const char *text)
{
    px_buf b = {0};

    while (*text) {
        if (*text == ' ') {
            text++;
        } else if (*text == '"') {
            const char *end = strchr(text + 1, '"');
            px_buf_add(&b, text + 1, (size_t)(end - text - 1));
            text = end + 1;
        } else {
            char pair[3] = {text[0], text[1], 0};
            uint8_t byte = (uint8_t)strtoul(pair, NULL, 16);
            px_buf_add(&b, &byte, 1);
            text += 2;
        }
    }
    /* exact size, so that a sanitizer detects reads beyond the end */
    uint8_t *exact = malloc(b.len ? b.len : 1);
    if (b.len)
        memcpy(exact, b.data, b.len);
    free(b.data);
    return (px_buf){exact, b.len, b.len ? b.len : 1};
}

void assert_wrote(const px_writer *w, const char *text)
{
    PX_AUTO(px_buf) expected = bytes_of(text);

    assert(w->status == PMIX_SUCCESS && w->buf.len == expected.len);
    assert(memcmp(w->buf.data, expected.data, expected.len) == 0);
}

pmix_status_t read_bytes(const char *dialect, const px_buf *b, void *dst,
                         pmix_data_type_t type)
{
    const struct px_type *t = px_type_find(type);
    px_reader r = reader_of(codec_of(dialect, false), b);

    if (t) /* unpacking must not depend on old content */
        memset(dst, 0xa5, t->size);
    pmix_status_t rc = px_unpack1(&r, dst, type);
    assert(rc == PMIX_SUCCESS || r.pos == b->data);
    return rc;
}

pmix_status_t read_text(const char *dialect, const char *text, void *dst,
                        pmix_data_type_t type)
{
    PX_AUTO(px_buf) b = bytes_of(text);

    return read_bytes(dialect, &b, dst, type);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Text and bytes with a length. Data that is sent as text: floating point numbers and
 * node or process maps ("regex"). */
#include "core/wire/walk.h"

#include "core/base/str.h"

#include <errno.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>

/* ---- text and bytes -------------------------------------------------------------- */

void px_put_text(px_writer *w, const char *s, size_t n)
{
    if (n > INT32_MAX) {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
        return;
    }
    px_put_i32(w, (int32_t)n);
    px_put_raw(w, s, n);
}

void px_put_string(px_writer *w, const char *s)
{
    px_put_text(w, s, s ? strlen(s) + 1 : 0);
}

pmix_status_t px_dup_bytes(const uint8_t *bytes, size_t n, char **out)
{
    *out = NULL;
    if (!n)
        return PMIX_SUCCESS;
    *out = malloc(n);
    if (!*out)
        return PMIX_ERR_NOMEM;
    memcpy(*out, bytes, n);
    return PMIX_SUCCESS;
}

pmix_status_t px_get_text(px_reader *r, const char **s, size_t *len)
{
    int32_t n;
    const char *bytes, *nul;
    pmix_status_t rc = px_get_i32(r, &n);

    if (rc)
        return rc;
    *s = NULL;
    *len = 0;
    if (n < 0)
        return PMIX_ERR_UNPACK_FAILURE;
    if (n == 0)
        return PMIX_SUCCESS;
    bytes = (const char *)px_get_raw(r, (size_t)n);
    if (!bytes)
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    nul = memchr(bytes, '\0', (size_t)n);
    if (!nul)
        return PMIX_ERR_UNPACK_FAILURE;
    *s = bytes;
    *len = (size_t)(nul - bytes);
    return PMIX_SUCCESS;
}

pmix_status_t px_get_bytes(px_reader *r, void *dst, size_t n)
{
    const uint8_t *bytes = px_get_raw(r, n);

    if (!bytes)
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    if (n)
        memcpy(dst, bytes, n);
    return PMIX_SUCCESS;
}

/* ---- floating point -------------------------------------------------------------- */

/* Returns the C locale, because a decimal comma must not reach the wire. newlocale
 * returns libc's constant without allocating. */
static locale_t c_locale(void)
{
    return newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

/* Writes the digits of v, which is below 10^19, backwards from end. */
static char *digits(char *end, uint64_t v, int at_least)
{
    for (; v || at_least > 0; v /= 10, at_least--)
        *--end = (char)('0' + v % 10);
    return end;
}

/* Formats like "%f", correctly rounded, or returns NULL from 2^53 on. The fraction is a
 * multiple of a power of two, so its millionths fit in 73 bits: high * 2^32 + low. */
static char *millionths(char *end, double v)
{
    double size = fabs(v);
    int exponent;

    if (!(size < 0x1p53))
        return NULL;
    uint64_t whole = (uint64_t)size;
    double rest = frexp(size - (double)whole,
                        &exponent); /* fraction = rest * 2^exponent, rest in [0.5, 1) */
    unsigned shift = (unsigned)(53 - exponent) - 32; /* of high; at least 21 */
    uint64_t mantissa = (uint64_t)(rest * 0x1p53);
    uint64_t low = (mantissa & UINT32_MAX) * 1000000u;
    uint64_t high = (mantissa >> 32) * 1000000u + (low >> 32);
    uint64_t part = 0;

    low &= UINT32_MAX;
    if (shift < 64) { /* smaller fractions are far below half a millionth */
        uint64_t below = high & (((uint64_t)1 << shift) - 1);
        uint64_t half = (uint64_t)1 << (shift - 1);

        part = high >> shift;
        part += below > half || (below == half && (low || part & 1));
    }
    if (part == 1000000) {
        part = 0;
        whole++;
    }
    *--end = '\0';
    end = digits(end, part, 6);
    *--end = '.';
    end = digits(end, whole, 1);
    if (signbit(v))
        *--end = '-';
    return end;
}

static void put_any_real(px_writer *w, double v)
{
    char text[DBL_MAX_10_EXP + 16]; /* sign, digits, point, 6 decimals */
    locale_t c = c_locale();
    locale_t old;

    if (!c) {
        px_writer_fail(w, PMIX_ERR_NOMEM);
        return;
    }
    old = uselocale(c);
    snprintf(text, sizeof(text), "%f", v);
    uselocale(old);
    freelocale(c);
    px_put_string(w, text);
}

void px_put_real(px_writer *w, double v)
{
    char room[32];
    char *text = millionths(room + sizeof(room), v);

    if (text)
        px_put_string(w, text);
    else
        put_any_real(w, v);
}

/* Parses a short number such as "-123.456". The result is exact if a double holds all
 * digits as an integer, and also the power of ten. Otherwise returns false. */
static bool short_real(const char *text, size_t len, double *out)
{
    static const double tens[] = {1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8};
    size_t i = text[0] == '-', first = i, point = len;
    uint64_t v = 0;

    if (FLT_EVAL_METHOD != 0 || len > 17)
        return false;
    for (; i < len; i++) {
        if (text[i] >= '0' && text[i] <= '9')
            v = v * 10 + (uint64_t)(text[i] - '0');
        else if (text[i] == '.' && point == len && i > first)
            point = i;
        else
            return false;
    }
    size_t decimals = point < len ? len - point - 1 : 0;
    if (len == first || decimals >= PX_COUNT(tens) || v >> 53)
        return false;
    *out = (double)v / tens[decimals];
    if (first)
        *out = -*out;
    return true;
}

/* Reads a real. Text beyond the range is an error, not infinity; "inf" and "nan" are
 * valid. */
pmix_status_t px_get_real(px_reader *r, enum px_store kind, void *dst)
{
    const char *text;
    size_t len;
    char *end = NULL;
    double wide = 0;
    float narrow = 0;
    int saved = errno;
    bool overflow;
    locale_t c;
    pmix_status_t rc = px_get_text(r, &text, &len);

    if (rc)
        return rc;
    if (!text || !len)
        return PMIX_ERR_UNPACK_FAILURE;
    if (kind == PX_DOUBLE && short_real(text, len, &wide)) {
        memcpy(dst, &wide, sizeof(wide));
        return PMIX_SUCCESS;
    }
    c = c_locale();
    if (!c)
        return PMIX_ERR_NOMEM;
    errno = 0;
    if (kind == PX_FLOAT)
        narrow = strtof_l(text, &end, c);
    else
        wide = strtod_l(text, &end, c);
    overflow = errno == ERANGE && (isinf(narrow) || isinf(wide));
    errno = saved;
    freelocale(c);
    if (*end || overflow)
        return PMIX_ERR_UNPACK_FAILURE;
    if (kind == PX_FLOAT)
        memcpy(dst, &narrow, sizeof(narrow));
    else
        memcpy(dst, &wide, sizeof(wide));
    return PMIX_SUCCESS;
}

/* ---- maps ------------------------------------------------------------------------ */

/* A blob is "blob:" NUL "component=zlib:" NUL "size=<n>:" NUL, then n bytes. */
static const char blob_head[] = "blob:\0component=zlib:\0size=";

/* Returns the length of the regex at the start of bytes[0..max), including the NUL of
 * the text form. 0 if the regex does not end there. */
static size_t regex_len(const char *bytes, size_t max)
{
    const size_t head = sizeof(blob_head) - 1;
    const char *nul;
    size_t n = 0, at;

    if (max < head || memcmp(bytes, blob_head, head) != 0) {
        nul = memchr(bytes, '\0', max);
        return nul ? (size_t)(nul - bytes) + 1 : 0;
    }
    for (at = head; at < max && bytes[at] >= '0' && bytes[at] <= '9'; at++) {
        if (n > max) /* n already exceeds max, so n does not overflow below */
            return 0;
        n = n * 10 + (size_t)(bytes[at] - '0');
    }
    if (at == head || max - at < 2 || bytes[at] != ':' || bytes[at + 1] != '\0')
        return 0;
    at += 2;
    return n <= max - at ? at + n : 0;
}

size_t px_regex_extent(const char *regex)
{
    static const char *const parts[] = {"blob:", "component=zlib:"};
    const char *at = regex;

    for (size_t i = 0; i < PX_COUNT(parts); i++) {
        if (strcmp(at, parts[i]) != 0)
            return strlen(regex) + 1;
        at += strlen(at) + 1;
    }
    if (!px_str_starts(at, "size="))
        return strlen(regex) + 1;
    return (size_t)(at - regex) + strlen(at) + 1 +
           strtoul(at + strlen("size="), NULL, 10);
}

void px_put_regex(px_writer *w, const pmix_byte_object_t *regex)
{
    const char *bytes = regex->bytes ? regex->bytes : "";
    size_t size = regex->bytes ? regex->size : 1;
    size_t len = regex_len(bytes, size);

    /* A size that differs from the text's own length would shift all later data. Text
     * without a counted NUL gets one. */
    if (len == size) {
        px_put_raw(w, bytes, len);
    } else if (len == 0 && !memchr(bytes, '\0', size)) {
        px_put_raw(w, bytes, size);
        px_put_byte(w, 0);
    } else {
        px_writer_fail(w, PMIX_ERR_BAD_PARAM);
    }
}

pmix_status_t px_get_regex(px_reader *r, pmix_byte_object_t *regex)
{
    size_t len = regex_len((const char *)r->pos, px_left(r));
    pmix_status_t rc;

    if (!len)
        return PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER;
    rc = px_dup_bytes(px_get_raw(r, len), len, &regex->bytes);
    if (!rc)
        regex->size = len;
    return rc;
}

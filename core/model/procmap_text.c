/* SPDX-License-Identifier: BSD-3-Clause */
/* Maps as text: from lists to compact forms, to the letter as other implementations
 * parse and compare them where theirs keep the order; and out of forms with a
 * length. */
#include "core/model/procmap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/ranges.h"
#include "core/base/str.h"
#include "core/base/vec.h"
#include "core/types/type.h"
#include "core/wire/codec.h"

/* ---- nodes ----------------------------------------------------------------------- */

#define MAX_NUMBER_DIGITS 9 /* longer ones do not fit the int that other parsers use */

/* A node name taken apart: prefix, number, suffix. */
struct name {
    const char *text;
    size_t len;
    size_t prefix_len, n_digits; /* n_digits 0: has no number, stands for itself */
    uint32_t number;
};

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Only names of letters and digits alone are taken apart. */
static struct name name_split(const char *text, size_t len)
{
    struct name name = {.text = text, .len = len};
    size_t i = 0;
    size_t digits;

    while (i < len && is_letter(text[i]))
        i++;
    digits = i;
    for (; i < len && is_digit(text[i]) && i - digits < MAX_NUMBER_DIGITS; i++)
        name.number = name.number * 10 + (uint32_t)(text[i] - '0');
    if (i < len && is_digit(text[i]))
        return name;
    name.prefix_len = digits;
    name.n_digits = i - digits;
    for (; i < len; i++)
        if (!is_letter(text[i]) && !is_digit(text[i]))
            name.n_digits = 0;
    return name;
}

/* True if both differ in their number at most. */
static bool name_alike(const struct name *a, const struct name *b)
{
    size_t head = a->prefix_len;
    size_t tail = head + a->n_digits;

    return a->n_digits > 0 && a->n_digits == b->n_digits &&
           a->prefix_len == b->prefix_len && a->len == b->len &&
           memcmp(a->text, b->text, head) == 0 &&
           memcmp(a->text + tail, b->text + tail, a->len - tail) == 0;
}

struct packer {
    px_buf out;
    struct name first; /* of the group being collected */
    uint32_t *numbers; /* of that group, in order; none: there is no group yet */
    size_t n, cap;
};

static void packer_cleanup(struct packer *p)
{
    px_buf_cleanup(&p->out);
    free(p->numbers);
}

/* Writes the group collected so far, with a comma behind it. */
static pmix_status_t flush_group(struct packer *p)
{
    const struct name *f = &p->first;
    size_t head = f->n_digits ? f->prefix_len : f->len, tail = head + f->n_digits;

    if (p->n == 0)
        return PMIX_SUCCESS;
    PX_AUTOFREE char *ranges = px_ranges_format(p->numbers, p->n);
    PX_AUTOFREE char *group = !ranges       ? NULL
                              : f->n_digits ? px_strf("[%zu:%s]", f->n_digits, ranges)
                                            : strdup("");
    PX_AUTOFREE char *text = group ? px_strf("%.*s%s%.*s,", (int)head, f->text, group,
                                             (int)(f->len - tail), f->text + tail)
                                   : NULL;
    p->n = 0;
    return text ? px_buf_add(&p->out, text, strlen(text)) : PMIX_ERR_NOMEM;
}

/* A name may join only the group right before it: the order of nodes has a meaning. */
static pmix_status_t add_name(struct packer *p, const struct name *name)
{
    pmix_status_t rc = p->n > 0 && !name_alike(&p->first, name) ? flush_group(p)
                                                                : PMIX_SUCCESS;

    if (rc)
        return rc;
    uint32_t *number = px_vec_add(&p->numbers, &p->n, &p->cap);
    if (!number)
        return PMIX_ERR_NOMEM;
    *number = name->number;
    if (p->n == 1)
        p->first = *name;
    return PMIX_SUCCESS;
}

static pmix_status_t pack_names(struct packer *p, const char *list)
{
    pmix_status_t rc = px_buf_add(&p->out, "pmix[", 5);

    while (!rc && *list) {
        size_t len = strcspn(list, ",");
        struct name name = name_split(list, len);
        if (len > 0)
            rc = add_name(p, &name);
        list += len + (list[len] == ',' ? 1 : 0);
    }
    if (!rc)
        rc = flush_group(p);
    return rc ? rc : px_buf_add(&p->out, "", 1);
}

static pmix_status_t raw(const char *list, char **out)
{
    char *text = px_strf("raw:%s", list);

    if (!text)
        return PMIX_ERR_NOMEM;
    *out = text;
    return PMIX_SUCCESS;
}

pmix_status_t px_map_pack_nodes(const char *list, char **out)
{
    __attribute__((cleanup(packer_cleanup))) struct packer p = {0};

    if (!list || !out)
        return PMIX_ERR_BAD_PARAM;
    pmix_status_t rc = pack_names(&p, list);
    if (rc)
        return rc;
    char *last = (char *)p.out.data + p.out.len - 2;
    if (*last != ',') /* there was no name at all */
        return raw(list, out);
    *last = ']';
    *out = (char *)px_buf_take(&p.out).data;
    return PMIX_SUCCESS;
}

/* ---- ranks ----------------------------------------------------------------------- */

/* Ranges that follow each other become one, so that the text does not get longer. Its
 * end; NULL: that is no list of ranks. */
static char *pack_field(char *out, const char *at, const char *end)
{
    uint32_t first, last, next = 0, next_last = 0;

    if (!px_ranges_next(&at, end, &first, &last))
        return NULL;
    for (bool open = true; open; last = next_last) {
        open = at < end;
        if (open && !px_ranges_next(&at, end, &next, &next_last))
            return NULL;
        if (open && next == (uint64_t)last + 1)
            continue;
        out = px_range_put(out, first, last);
        if (open)
            *out++ = ',';
        first = next;
    }
    return out;
}

pmix_status_t px_map_pack_ranks(const char *list, char **out)
{
    static const char head[] = "pmix[";

    if (!list || !out)
        return PMIX_ERR_BAD_PARAM;
    const char *end = list + strlen(list), *field_end;
    PX_AUTOFREE char *text = malloc((size_t)(end - list) + sizeof(head) + 1);
    if (!text)
        return PMIX_ERR_NOMEM;
    memcpy(text, head, sizeof(head));
    char *at = text + sizeof(head) - 1;
    for (const char *field = list; at && field < end; field = field_end + 1) {
        field_end = memchr(field, ';', (size_t)(end - field));
        field_end = field_end ? field_end : end;
        if (field < field_end)
            at = pack_field(at, field, field_end);
        if (at && field_end < end)
            *at++ = ';';
    }
    /* Anything but a list of ranks passes through as it is: the host may parse its own
     * form. */
    if (!at || at + 1 - text > end - list)
        return raw(list, out);
    memcpy(at, "]", sizeof("]"));
    *out = px_take(&text);
    return PMIX_SUCCESS;
}

/* ---- forms with a length --------------------------------------------------------- */

static const char blob_head[] =
    "blob:\0component=zlib:\0size="; /* then "<n>:", NUL, n bytes */

static pmix_status_t inflate(const void *bytes, size_t n, char **text,
                             struct px_err *err)
{
    /* The bytes are a compressed string as in any value; the codec knows how, and how
     * far. */
    pmix_value_t v = {.type = PMIX_COMPRESSED_STRING};

    v.data.bo.bytes = malloc(n + 1);
    if (!v.data.bo.bytes)
        return px_err_nomem(err, "read a map");
    memcpy(v.data.bo.bytes, bytes, n);
    v.data.bo.size = n;
    pmix_status_t rc = px_value_inflate(&v);
    if (!rc && v.type == PMIX_STRING && v.data.string)
        *text = px_take(&v.data.string);
    else
        rc = px_err_set(err, rc == PMIX_ERR_NOMEM ? rc : PMIX_ERR_BAD_PARAM,
                        "cannot inflate a compressed map");
    px_type_destruct(PMIX_VALUE, &v);
    return rc;
}

static pmix_status_t blob_text(const char *bytes, size_t n, char **text,
                               struct px_err *err)
{
    size_t head = sizeof(blob_head) - 1;
    const char *colon;
    uint64_t size = 0;

    if (n <= head || memcmp(bytes, blob_head, head) != 0)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot read a compressed map");
    bytes += head;
    n -= head;
    for (colon = bytes; colon < bytes + n && is_digit(*colon) && size <= n; colon++)
        size = size * 10 + (uint64_t)(*colon - '0');
    if (colon == bytes || (size_t)(bytes + n - colon) < 2 || colon[0] != ':' ||
        colon[1] != '\0')
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot read a compressed map");
    n -= (size_t)(colon - bytes) + 2;
    if (size > n)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "a compressed map is cut short");
    return inflate(colon + 2, size, text, err);
}

static pmix_status_t copy_text(const void *bytes, size_t n, char **text,
                               struct px_err *err)
{
    char *copy = n > 0 ? strndup(bytes, n) : strdup("");

    if (!copy)
        return px_err_nomem(err, "read a map");
    *text = copy;
    return PMIX_SUCCESS;
}

pmix_status_t px_map_text(const void *bytes, size_t n, char **text, struct px_err *err)
{
    return n >= 5 && memcmp(bytes, blob_head, 5) == 0 ? blob_text(bytes, n, text, err)
                                                      : copy_text(bytes, n, text, err);
}

/* ---- the second kind of regex: "raw" as it is, "compress" where that is shorter -- */

/* The bytes may have come from anywhere: they need not end in a NUL, nor be free of
 * others. */
pmix_status_t px_regex2_text(const pmix_regex2_t *regex, char **text,
                             struct px_err *err)
{
    if (!regex || !regex->type || !regex->bytes || regex->len == 0)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "a map without type or bytes");
    if (strcmp(regex->type, "compress") == 0)
        return inflate(regex->bytes, regex->len, text, err);
    if (strcmp(regex->type, "raw") != 0)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "a map of unknown type");
    if (strnlen((const char *)regex->bytes, regex->len) + 1 < regex->len)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "a map has bytes behind its end");
    return copy_text(regex->bytes, regex->len, text, err);
}

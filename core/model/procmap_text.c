/* SPDX-License-Identifier: BSD-3-Clause */
/* Text forms of maps. Converts lists to compact forms. The text equals that of other
 * implementations where they keep the order. Converts forms with a length to lists. */
#include "core/model/procmap_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/ranges.h"
#include "core/types/type.h"
#include "core/wire/codec.h"

/* ---- nodes ----------------------------------------------------------------------- */

#define MAX_NUMBER_DIGITS 9 /* other parsers use an int */

/* Parts of a node name: prefix, number, suffix. */
struct name {
    const char *text;
    size_t len, prefix_len, n_digits; /* n_digits 0: not split */
};

static bool is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

/* Splits a name that consists of letters and digits only. */
static struct name name_split(const char *text)
{
    struct name name = {.text = text, .len = strcspn(text, ",")};
    size_t digits, at = 0;

    while (is_letter(text[at]))
        at++;
    for (digits = at; px_procmap_is_digit(text[at]);)
        at++;
    name.n_digits = at - digits;
    while (is_letter(text[at]) || px_procmap_is_digit(text[at]))
        at++;
    if (at < name.len || name.n_digits > MAX_NUMBER_DIGITS)
        name.n_digits = 0;
    name.prefix_len = name.n_digits > 0 ? digits : name.len;
    return name;
}

/* True if both names differ at most in their number. */
static bool is_alike(const struct name *name, const char *text, uint32_t *number)
{
    size_t i;

    for (*number = i = 0; i < name->len; i++) {
        bool is_number = i - name->prefix_len < name->n_digits;
        if (is_number ? !px_procmap_is_digit(text[i]) : text[i] != name->text[i])
            return false;
        if (is_number)
            *number = *number * 10 + (uint32_t)(text[i] - '0');
    }
    return name->n_digits > 0 && (text[i] == ',' || text[i] == '\0');
}

static char *put_text(char *at, const char *text, size_t n)
{
    memcpy(at, text, n);
    return at + n;
}

/* Writes the names from *list on that form one group. Keeps their order, which has a
 * meaning. */
static char *pack_group(char *at, const char **list)
{
    const struct name name = name_split(*list);
    size_t tail = name.prefix_len + name.n_digits;
    uint32_t first, last, next;

    (void)is_alike(&name, *list, &first);
    last = first;
    *list += name.len;
    at = put_text(at, name.text, name.prefix_len);
    if (name.n_digits > 0)
        at = put_text(at, (char[]){'[', (char)('0' + name.n_digits), ':'}, 3);
    for (; **list && is_alike(&name, *list + 1, &next); *list += name.len + 1) {
        if (next != last + 1) {
            at = px_range_put(at, first, last);
            *at++ = ',';
            first = next;
        }
        last = next;
    }
    if (name.n_digits > 0) {
        at = px_range_put(at, first, last);
        *at++ = ']';
    }
    return put_text(at, name.text + tail, name.len - tail);
}

static const char head[] = "pmix[";

/* Ends the packed text at that position. NULL: writes the list unchanged as "raw:", for
 * which text has room. */
static char *finish(char *text, char *at, const char *list)
{
    if (at)
        memcpy(at, "]", sizeof("]"));
    else
        put_text(put_text(text, "raw:", 4), list, strlen(list) + 1);
    return text;
}

pmix_status_t px_procmap_pack_nodes(const char *list, char **out)
{
    if (!list || !out)
        return PMIX_ERR_BAD_PARAM;
    /* Each name may become a group of its own, with "[1:" and "],". */
    PX_AUTOFREE char *text = malloc(3 * (strlen(list) + 1) + sizeof(head));
    if (!text)
        return PMIX_ERR_NOMEM;
    char *at = put_text(text, head, sizeof(head) - 1);
    for (const char *rest = list; *rest; rest += *rest == ',')
        if (*rest != ',') {
            at = pack_group(at, &rest);
            *at++ = ',';
        }
    at = at > text + sizeof(head) - 1 ? at - 1 : NULL;
    *out = finish(px_take(&text), at, list);
    return PMIX_SUCCESS;
}

/* ---- ranks ----------------------------------------------------------------------- */

/* Copies a number without leading zeros. */
static char *put_digits(char *out, const char *at)
{
    while (*at == '0' && px_procmap_is_digit(at[1]))
        at++;
    do
        *out++ = *at++;
    while (px_procmap_is_digit(*at));
    return out;
}

static char *put_range(char *out, const char *open, const char *shut)
{
    out = put_digits(out, open);
    if (shut == open)
        return out;
    *out++ = '-';
    return put_digits(out, shut);
}

/* Writes a field of ranks and joins consecutive ranges, so that the text does not grow.
 * Returns the end, or NULL if the field is not a list of ranks. */
static char *pack_field(char *out, const char **at, const char *end)
{
    const char *open = NULL, *shut = NULL; /* positions of the range's ends in the
                                            * list */
    uint32_t first, last, before = 0;

    do {
        const char *low = *at, *high = *at;
        if (!px_ranges_next(at, end, &first, &last))
            return NULL;
        if (first < last)
            for (high = (*at)[-1] == ',' ? *at - 1 : *at;
                 px_procmap_is_digit(high[-1]);)
                high--;
        if (!open || first != (uint64_t)before + 1) {
            if (open) {
                out = put_range(out, open, shut);
                *out++ = ',';
            }
            open = low;
        }
        shut = high;
        before = last;
    } while (*at < end && **at != ';');
    return put_range(out, open, shut);
}

pmix_status_t px_procmap_pack_ranks(const char *list, char **out)
{
    if (!list || !out)
        return PMIX_ERR_BAD_PARAM;
    const char *end = list + strlen(list);
    PX_AUTOFREE char *text = malloc((size_t)(end - list) + sizeof(head) + 1);
    if (!text)
        return PMIX_ERR_NOMEM;
    char *at = put_text(text, head, sizeof(head) - 1);
    for (const char *field = list; at && *field; field += *field == ';') {
        if (*field != ';')
            at = pack_field(at, &field, end);
        if (at && *field == ';')
            *at++ = ';';
    }
    /* Other text than a list of ranks stays unchanged: the host may parse its own
     * form. */
    bool is_longer = !at || at + 1 - text > end - list;
    *out = finish(px_take(&text), is_longer ? NULL : at, list);
    return PMIX_SUCCESS;
}

/* ---- forms with a length --------------------------------------------------------- */

static const char blob_head[] =
    "blob:\0component=zlib:\0size="; /* followed by "<n>:", NUL, n bytes */

static pmix_status_t inflate(const void *bytes, size_t n, char **text,
                             struct px_err *err)
{
    /* The bytes are a compressed string like in any value; px_value_inflate checks
     * them. */
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
    for (colon = bytes; colon < bytes + n && px_procmap_is_digit(*colon) && size <= n;
         colon++)
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

pmix_status_t px_procmap_text(const void *bytes, size_t n, char **text,
                              struct px_err *err)
{
    return n >= 5 && memcmp(bytes, blob_head, 5) == 0 ? blob_text(bytes, n, text, err)
                                                      : copy_text(bytes, n, text, err);
}

/* ---- second kind of regex: "raw" is plain, "compress" is deflated ---------------- */

/* Reads a regex of unknown origin: its bytes may lack a final NUL, or contain
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

pmix_status_t px_procmap_of_value(const pmix_value_t *value, char **text,
                                  struct px_err *err)
{
    if (px_value_string(value))
        return px_procmap_text(value->data.string, strlen(value->data.string), text,
                               err);
    if ((value->type == PMIX_REGEX || value->type == PMIX_BYTE_OBJECT) &&
        (value->data.bo.bytes || value->data.bo.size == 0))
        return px_procmap_text(value->data.bo.bytes, value->data.bo.size, text, err);
    if (value->type == PMIX_REGEX2)
        return px_regex2_text(value->data.regex2, text, err);
    return px_err_set(err, PMIX_ERR_BAD_PARAM, "expected a string or a regex");
}

/* ---- text of a map --------------------------------------------------------------- */

char *px_procmap_all_peers(const struct px_procmap *map)
{
    PX_AUTO(px_buf) text = {0};

    for (uint32_t node = 0; node < map->n_nodes; node++) {
        PX_AUTOFREE char *peers = px_procmap_peers(map, node);

        if (!peers || (node > 0 && px_buf_add(&text, ";", 1)) ||
            px_buf_add(&text, peers, strlen(peers)))
            return NULL;
    }
    return px_buf_add(&text, "", 1) ? NULL : (char *)px_buf_take(&text).data;
}

/* Consecutive nodes that have the same number of consecutive ranks each. */
struct piece {
    uint32_t first, n_nodes, n_ranks;
};

static pmix_status_t add_piece(px_buf *text, const struct piece *p)
{
    char line[sizeof(",(4294967295,4294967295,4294967295)")];
    int n = snprintf(line, sizeof(line), ",(%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")",
                     p->first, p->n_nodes, p->n_ranks);

    return p->n_nodes > 0 ? px_buf_add(text, line, (size_t)n) : PMIX_SUCCESS;
}

char *px_procmap_vector(const struct px_procmap *map)
{
    PX_AUTO(px_buf) text = {0};
    struct piece piece = {0};
    pmix_status_t rc = px_buf_add(&text, "(vector", strlen("(vector"));

    for (uint32_t rank = 0; !rc && rank < map->n_ranks;) {
        const uint32_t node = px_procmap_node_of(map, rank, NULL);
        uint32_t n = 1;

        while (rank + n < map->n_ranks &&
               px_procmap_node_of(map, rank + n, NULL) == node)
            n++;
        if (piece.n_nodes > 0 && node == piece.first + piece.n_nodes &&
            n == piece.n_ranks) {
            piece.n_nodes++;
        } else {
            rc = add_piece(&text, &piece);
            piece = (struct piece){node, 1, n};
        }
        rank += n;
    }
    if (!rc)
        rc = add_piece(&text, &piece);
    if (!rc)
        rc = px_buf_add(&text, ")", sizeof(")"));
    return rc ? NULL : (char *)px_buf_take(&text).data;
}

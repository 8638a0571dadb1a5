/* SPDX-License-Identifier: BSD-3-Clause */
/* Construction of a map's block from text. A short text can name billions of nodes or
 * ranks. Nothing is expanded, except for one bit for each rank to detect
 * repetitions. */
#include "core/model/procmap_impl.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/ranges.h"
#include "core/base/str.h"
#include "core/base/vec.h"

struct stretch {
    uint32_t first, n;
};

typedef struct build {
    struct px_err *err;
    struct px_procmap_head head; /* n is set at the end */
    struct px_procmap_group *groups;
    struct px_procmap_count *counts;
    struct px_procmap_run *runs; /* used when the pieces do not suffice */
    struct px_procmap_piece pieces[PX_MAP_MAX_PIECES];
    struct stretch *node; /* ranks of the current node */
    uint64_t *seen;       /* one bit for each rank */
    px_buf text;
    size_t n_groups, n_counts, n_runs, n_pieces, n_node;
    size_t cap_groups, cap_counts, cap_runs, cap_node, n_seen, cap_seen;
} build;

static void build_cleanup(struct build *b)
{
    free(b->groups);
    free(b->counts);
    free(b->runs);
    free(b->node);
    free(b->seen);
    px_buf_cleanup(&b->text);
}

static pmix_status_t no_memory(struct build *b)
{
    return px_err_nomem(b->err, "read a map");
}

/* Returns the length of the text that an error shows. */
static int shown(const char *text, const char *end)
{
    return end - text < 64 ? (int)(end - text) : 64;
}

/* ---- forms ----------------------------------------------------------------------- */

struct body {
    const char *text, *end;
    bool native; /* the text was in pmix[...] */
};

static pmix_status_t unwrap(const char *text, struct body *out, struct px_err *err)
{
    *out = (struct body){.text = text ? text : ""};
    out->end = out->text + strlen(out->text);
    if (px_str_starts(out->text, "blob:"))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "compressed map of unknown length");
    if (px_str_starts(out->text, "raw:")) {
        out->text += 4;
    } else if (px_str_starts(out->text, "pmix[")) {
        if (out->end[-1] != ']')
            return px_err_set(err, PMIX_ERR_BAD_PARAM, "map does not end in ']'");
        out->text += 5;
        out->end--;
        out->native = true;
    }
    return PMIX_SUCCESS;
}

/* ---- node names ------------------------------------------------------------------ */

static pmix_status_t too_long(struct build *b)
{
    return px_err_set(b->err, PMIX_ERR_BAD_PARAM, "node name longer than %u",
                      PX_MAX_NODE_NAME);
}

static struct px_procmap_name name_of(const struct build *b,
                                      const struct px_procmap_group *g)
{
    const char *text = (const char *)b->text.data + g->text;

    return (struct px_procmap_name){text, text + g->prefix, g->prefix, g->suffix,
                                    g->width};
}

static bool same_parts(const struct px_procmap_name *a, const struct px_procmap_name *b)
{
    return a->n_prefix == b->n_prefix && a->n_suffix == b->n_suffix &&
           a->width == b->width && memcmp(a->prefix, b->prefix, a->n_prefix) == 0 &&
           memcmp(a->suffix, b->suffix, a->n_suffix) == 0;
}

/* Adds n numbered names, beginning with number. */
static pmix_status_t add_names(struct build *b, const struct px_procmap_name *name,
                               uint32_t number, uint32_t n)
{
    struct px_procmap_group *last = b->n_groups ? &b->groups[b->n_groups - 1] : NULL;
    const struct px_procmap_name old = last ? name_of(b, last)
                                            : (struct px_procmap_name){0};
    bool alike = last && name->width > 0 && same_parts(&old, name);
    size_t text = alike ? last->text : b->text.len;

    if (name->n_prefix + name->width + name->n_suffix > PX_MAX_NODE_NAME)
        return too_long(b);
    if (n > PX_MAX_NODES - b->head.n_rows)
        return px_err_set(b->err, PMIX_ERR_OUT_OF_RESOURCE, "more than %u nodes",
                          PX_MAX_NODES);
    uint32_t node = b->head.n_rows;
    b->head.n_rows += n;
    if (alike && last->number + (node - last->node) == number)
        return PMIX_SUCCESS;
    if (!alike && (px_buf_reserve(&b->text, 1) || /* also makes data non-NULL for a row
                                                   * without a name */
                   px_buf_add(&b->text, name->prefix, name->n_prefix) ||
                   px_buf_add(&b->text, name->suffix, name->n_suffix)))
        return no_memory(b);
    struct px_procmap_group *g = px_vec_add(&b->groups, &b->n_groups, &b->cap_groups);
    if (!g)
        return no_memory(b);
    *g = (struct px_procmap_group){.node = node,
                                   .number = number,
                                   .text = (uint32_t)text,
                                   .prefix = (uint8_t)name->n_prefix,
                                   .suffix = (uint8_t)name->n_suffix,
                                   .width = (uint8_t)name->width};
    return PMIX_SUCCESS;
}

/* Splits a name at the number around a position. */
static bool take_apart(const char *text, size_t len, size_t place,
                       struct px_procmap_name *name, uint32_t *number)
{
    size_t begin = place, end = place;
    uint64_t value = 0;

    while (begin > 0 && px_procmap_is_digit(text[begin - 1]))
        begin--;
    for (end = begin; end < len && px_procmap_is_digit(text[end]); end++)
        if (value <= UINT32_MAX)
            value = value * 10 + (uint64_t)(text[end] - '0');
    *name = (struct px_procmap_name){text, text + end, begin, len - end, end - begin};
    *number = (uint32_t)value;
    return end > begin && value <= UINT32_MAX;
}

/* Adds a single name. A number that follows the last group's number extends that
 * group. */
static pmix_status_t add_name(struct build *b, const char *text, size_t len)
{
    const struct px_procmap_name whole = {text, text + len, len, 0, 0};
    struct px_procmap_group *last = b->n_groups ? &b->groups[b->n_groups - 1] : NULL;
    struct px_procmap_name name, old;
    uint32_t number, old_number;
    size_t place = 0;

    if (!last)
        return add_names(b, &whole, 0, 1);
    old = name_of(b, last);
    while (place < len && place < old.n_prefix && text[place] == old.prefix[place])
        place++;
    if (place == len || !take_apart(text, len, place, &name, &number))
        return add_names(b, &whole, 0, 1);
    if (last->width == 0) {
        if (len != old.n_prefix ||
            !take_apart(old.prefix, len, place, &old, &old_number) ||
            !same_parts(&old, &name) || number != (uint64_t)old_number + 1)
            return add_names(b, &whole, 0, 1);
        /* The last group's text is the end of b->text. */
        memmove((char *)b->text.data + last->text + name.n_prefix,
                b->text.data + last->text + name.n_prefix + name.width, name.n_suffix);
        b->text.len = last->text + name.n_prefix + name.n_suffix;
        last->prefix = (uint8_t)name.n_prefix;
        last->suffix = (uint8_t)name.n_suffix;
        last->width = (uint8_t)name.width;
        last->number = old_number;
        old = name;
    }
    return same_parts(&old, &name) ? add_names(b, &name, number, 1)
                                   : add_names(b, &whole, 0, 1);
}

/* Adds the names of a range: numbers of at least width digits between prefix and
 * suffix. A number next to other digits forms a longer number, so such names are added
 * one by one. */
static pmix_status_t add_range(struct build *b, struct px_procmap_name name,
                               uint32_t first, uint32_t last)
{
    bool merges = (name.n_prefix &&
                   px_procmap_is_digit(name.prefix[name.n_prefix - 1])) ||
                  (name.n_suffix && px_procmap_is_digit(name.suffix[0]));
    const size_t width = name.width;
    pmix_status_t rc = PMIX_SUCCESS;

    if (name.n_prefix + width + name.n_suffix > PX_MAX_NODE_NAME)
        return too_long(b);
    for (uint64_t at = first, end; !rc && at <= last; at = end) {
        char text[PX_MAX_NODE_NAME + 24];
        if (merges) {
            int len = snprintf(text, sizeof(text), "%.*s%0*" PRIu64 "%.*s",
                               (int)name.n_prefix, name.prefix, (int)width, at,
                               (int)name.n_suffix, name.suffix);
            end = at + 1;
            rc = (size_t)len > PX_MAX_NODE_NAME ? too_long(b)
                                                : add_name(b, text, (size_t)len);
            continue;
        }
        name.width = 1;
        for (end = 10; end <= at || (name.width < width && end <= last); end *= 10)
            name.width++;
        name.width = name.width < width ? width : name.width;
        end = end <= last ? end : (uint64_t)last + 1;
        uint64_t n = end - at;
        rc = add_names(b, &name, (uint32_t)at,
                       n > UINT32_MAX ? UINT32_MAX : (uint32_t)n);
    }
    return rc;
}

/* Parses prefix "[" digits ":" ranges "]" suffix. Returns false if the item is a plain
 * name. */
static bool parse_group(const char *item, const char *end, struct px_procmap_name *name,
                        struct body *ranges)
{
    const char *open = memchr(item, '[', (size_t)(end - item));
    const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;
    size_t width = 0;

    if (!close)
        return false;
    const char *p = open + 1;
    for (; p < close && px_procmap_is_digit(*p); p++)
        if (width <= PX_MAX_NODE_NAME) /* a larger width is refused later */
            width = width * 10 + (size_t)(*p - '0');
    if (p == open + 1 || *p != ':')
        return false;
    *name = (struct px_procmap_name){item, close + 1, (size_t)(open - item),
                                     (size_t)(end - close - 1), width};
    *ranges = (struct body){.text = p + 1, .end = close};
    return true;
}

static pmix_status_t add_group(struct build *b, const struct px_procmap_name *name,
                               const struct body *ranges)
{
    const char *at = ranges->text;
    uint32_t first, last;
    pmix_status_t rc = PMIX_SUCCESS;

    do
        rc = px_ranges_next(&at, ranges->end, &first, &last)
                 ? add_range(b, *name, first, last)
                 : px_err_set(b->err, PMIX_ERR_BAD_PARAM,
                              "cannot use node numbers '%.*s'",
                              shown(ranges->text, ranges->end), ranges->text);
    while (!rc && at < ranges->end);
    return rc;
}

/* Returns the next comma outside of brackets; NULL if brackets do not match. */
static const char *item_end(const char *s, const char *end, bool native)
{
    int depth = 0;

    for (; s < end && !(*s == ',' && depth == 0); s++) {
        if (native && *s == '[')
            depth++;
        if (native && *s == ']' && --depth < 0)
            return NULL;
    }
    return depth == 0 ? s : NULL;
}

static pmix_status_t read_nodes(struct build *b, const char *text)
{
    struct body all, ranges;
    struct px_procmap_name name;
    pmix_status_t rc = unwrap(text, &all, b->err);

    for (const char *at = all.text, *end; !rc && at < all.end; at = end + 1) {
        end = item_end(at, all.end, all.native);
        if (!end)
            return px_err_set(b->err, PMIX_ERR_BAD_PARAM,
                              "brackets of a node map do not match");
        if (all.native && parse_group(at, end, &name, &ranges))
            rc = add_group(b, &name, &ranges);
        else if ((size_t)(end - at) > PX_MAX_NODE_NAME)
            rc = too_long(b);
        else if (end > at)
            rc = add_name(b, at, (size_t)(end - at));
    }
    return rc;
}

/* ---- ranks ----------------------------------------------------------------------- */

/* Records ranks as used. Returns false if a rank was used before. Sets *rc if memory is
 * exhausted. */
static bool claim_ranks(struct build *b, uint32_t first, uint32_t last,
                        pmix_status_t *rc)
{
    size_t words = last / 64 + 1;
    uint64_t twice = 0;

    if (words > b->n_seen) {
        if (!px_vec_reserve(&b->seen, b->n_seen, &b->cap_seen, words - b->n_seen)) {
            *rc = no_memory(b);
            return true;
        }
        memset(b->seen + b->n_seen, 0, (b->cap_seen - b->n_seen) * sizeof(*b->seen));
        b->n_seen = b->cap_seen;
    }
    for (uint32_t at = first; at <= last; at = (at | 63) + 1) {
        uint64_t bits = UINT64_MAX << at % 64;
        if (at / 64 == last / 64)
            bits &= UINT64_MAX >> (63 - last % 64);
        twice |= b->seen[at / 64] & bits;
        b->seen[at / 64] |= bits;
    }
    return !twice;
}

static pmix_status_t add_stretch(struct build *b, uint32_t first, uint32_t last)
{
    struct stretch *s = b->n_node > 0 ? &b->node[b->n_node - 1] : NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (last >= PX_MAX_RANKS)
        return px_err_set(b->err, PMIX_ERR_OUT_OF_RESOURCE,
                          "rank %" PRIu32 " is too large", last);
    if (!claim_ranks(b, first, last, &rc))
        return px_err_set(b->err, PMIX_ERR_BAD_PARAM,
                          "rank %" PRIu32 " or a rank up to %" PRIu32
                          " is mapped twice",
                          first, last);
    if (!s || s->first + s->n != first) {
        s = px_vec_add(&b->node, &b->n_node, &b->cap_node);
        if (!s)
            return no_memory(b);
        *s = (struct stretch){.first = first};
    }
    s->n += last - first + 1;
    b->head.n_mapped += last - first + 1;
    if (last >= b->head.n_ranks)
        b->head.n_ranks = last + 1;
    return rc;
}

static pmix_status_t add_run(struct build *b, uint32_t place, uint32_t rank, uint32_t n)
{
    struct px_procmap_run *last = b->n_runs > 0 ? &b->runs[b->n_runs - 1] : NULL;

    if (n == 0 || (last && last->rank + (place - last->place) == rank))
        return PMIX_SUCCESS;
    last = px_vec_add(&b->runs, &b->n_runs, &b->cap_runs);
    if (!last)
        return no_memory(b);
    *last = (struct px_procmap_run){place, rank};
    return PMIX_SUCCESS;
}

/* Converts pieces to runs, because too many pieces do not save memory. */
static pmix_status_t pieces_to_runs(struct build *b)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t at = 0; at < b->n_pieces; at++) {
        const struct px_procmap_piece *p = &b->pieces[at];
        uint32_t place = p->place;
        for (uint32_t n = 0; !rc && n < p->n; n++)
            for (uint32_t rep = 0; !rc && rep < p->reps; rep++, place += p->run)
                rc = add_run(b, place, p->base + n * p->step + rep * p->outer, p->run);
    }
    b->n_pieces = 0;
    return rc;
}

/* Extends p by a piece of one node if each rank still maps to one (n, rep). */
static bool piece_extend(struct px_procmap_piece *p,
                         const struct px_procmap_piece *piece)
{
    uint64_t width = p->reps > 1 ? (uint64_t)(p->reps - 1) * p->outer + p->run : p->run;

    if (p->n == 1 && p->reps == 1 && piece->reps == 1 &&
        p->base + p->run == piece->base) {
        p->run += piece->run;
        return true;
    }
    if (p->run != piece->run || p->reps != piece->reps || p->outer != piece->outer ||
        piece->base <= p->base)
        return false;
    uint32_t step = p->n == 1 ? piece->base - p->base : p->step;
    if (p->base + (uint64_t)p->n * step != piece->base ||
        (width > step && (p->run > step || (uint64_t)p->n * step + p->run > p->outer)))
        return false;
    p->step = step;
    p->n++;
    return true;
}

/* Adds a node's ranks. Stretches of equal length and distance become one piece. */
static pmix_status_t add_pieces(struct build *b, uint32_t place)
{
    const struct stretch *s = b->node;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0, end; !rc && i < b->n_node; i = end) {
        struct px_procmap_piece piece = {place, s[i].first, s[i].n,    1,
                                         1,     UINT32_MAX, UINT32_MAX};
        end = i + 1;
        if (end < b->n_node && s[end].first > s[i].first)
            piece.outer = s[end].first - s[i].first;
        while (end < b->n_node && s[end].n == piece.run &&
               s[end].first == (uint64_t)s[end - 1].first + piece.outer &&
               piece.outer > piece.run)
            end++;
        piece.reps = (uint32_t)(end - i);
        piece.outer = piece.reps > 1 ? piece.outer : UINT32_MAX;
        place += piece.reps * piece.run;
        if (b->n_pieces > 0 && piece_extend(&b->pieces[b->n_pieces - 1], &piece))
            continue;
        if (b->n_pieces < PX_MAP_MAX_PIECES && b->n_runs == 0) {
            b->pieces[b->n_pieces++] = piece;
            continue;
        }
        rc = pieces_to_runs(b);
        for (; !rc && i < end; i++, piece.place += piece.run)
            rc = add_run(b, piece.place, s[i].first, piece.run);
    }
    return rc;
}

/* Completes a node after all its ranks are read. */
static pmix_status_t end_node(struct build *b, uint32_t node, uint32_t place)
{
    const struct px_procmap_count *last = b->n_counts ? &b->counts[b->n_counts - 1]
                                                      : NULL;
    uint32_t n = b->head.n_mapped - place;
    struct px_procmap_count *c;

    if (n > UINT16_MAX)
        return px_err_set(b->err, PMIX_ERR_OUT_OF_RESOURCE, "too many ranks on a node");
    if (last && (uint64_t)n * (node - last->node) == place - last->place)
        return add_pieces(b, place);
    c = px_vec_add(&b->counts, &b->n_counts, &b->cap_counts);
    if (!c)
        return no_memory(b);
    *c = (struct px_procmap_count){node, place};
    return add_pieces(b, place);
}

/* Reads a node's field and moves *at behind it. */
static pmix_status_t read_field(struct build *b, const char **at, const char *end)
{
    const char *text = *at;
    uint32_t first, last;
    pmix_status_t rc = PMIX_SUCCESS;

    b->n_node = 0;
    while (!rc && *at < end && **at != ';')
        rc = px_ranges_next(at, end, &first, &last)
                 ? add_stretch(b, first, last)
                 : px_err_set(b->err, PMIX_ERR_BAD_PARAM, "cannot use ranks '%.*s'",
                              shown(text, text + strcspn(text, ";]")), text);
    return rc;
}

static pmix_status_t read_ranks(struct build *b, const char *text)
{
    struct body all;
    uint32_t node = 0;
    pmix_status_t rc = unwrap(text, &all, b->err);

    for (const char *at = all.text; !rc && at < all.end; at++) {
        uint32_t place = b->head.n_mapped;
        if (node >= b->head.n_nodes && *at != ';')
            return px_err_set(b->err, PMIX_ERR_BAD_PARAM,
                              "ranks for more than the %" PRIu32 " nodes given", node);
        if (node >= b->head.n_nodes)
            continue;
        rc = read_field(b, &at, all.end);
        if (!rc)
            rc = end_node(b, node++, place);
    }
    b->n_node = 0;
    return rc || node == b->head.n_nodes ? rc : end_node(b, node, b->head.n_mapped);
}

/* ---- the block ------------------------------------------------------------------- */

struct entry {
    uint64_t key;
    uint32_t at;
};

/* Sorts by key, one byte after another. Returns the array with the result. */
static struct entry *sort(struct entry *v, struct entry *spare, uint32_t n)
{
    for (int shift = 0; shift < 64; shift += 8) {
        uint32_t first[257] = {0};

        for (uint32_t i = 0; i < n; i++)
            first[(v[i].key >> shift & 0xff) + 1]++;
        if (n == 0 || first[(v[0].key >> shift & 0xff) + 1] == n)
            continue; /* all keys have the same byte */
        for (uint32_t i = 1; i < 257; i++)
            first[i] += first[i - 1];
        for (uint32_t i = 0; i < n; i++)
            spare[first[v[i].key >> shift & 0xff]++] = v[i];
        struct entry *sorted = spare;
        spare = v;
        v = sorted;
    }
    return v;
}

/* Returns the length - 1 of the longest chain of groups with common names, see
 * px_procmap_head. */
static uint32_t find_depth(const struct build *b, const struct entry *order)
{
    uint32_t depth = 0, chain = 0;
    uint64_t end = 0;

    for (uint32_t i = 0; i < b->n_groups; i++) {
        const struct px_procmap_group *g = &b->groups[order[i].at];
        uint32_t next = order[i].at + 1 < b->n_groups ? g[1].node : b->head.n_rows;
        if (i == 0 || g->hash != order[i - 1].key >> 32 || g->number >= end) {
            chain = i;
            end = 0;
        }
        if ((uint64_t)g->number + (next - g->node) > end)
            end = (uint64_t)g->number + (next - g->node);
        if (i - chain > depth)
            depth = i - chain;
    }
    return depth;
}

static const struct entry *order_groups(struct build *b, struct entry *v,
                                        struct entry *spare)
{
    for (uint32_t i = 0; i < b->n_groups; i++) {
        struct px_procmap_group *g = &b->groups[i];
        const struct px_procmap_name name = name_of(b, g);
        g->hash = px_procmap_hash(&name);
        v[i] = (struct entry){(uint64_t)g->hash << 32 | g->number, i};
    }
    const struct entry *order = sort(v, spare, (uint32_t)b->n_groups);
    b->head.depth = find_depth(b, order);
    return order;
}

static uint8_t *put(uint8_t *at, const void *bytes, size_t n)
{
    if (n > 0)
        memcpy(at, bytes, n);
    return at + n;
}

static uint8_t *put_order(uint8_t *at, const struct entry *order, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at = put(at, &order[i].at, sizeof(order[i].at));
    return at;
}

/* Writes the head and the parts in order. */
static void write_block(struct build *b, struct entry *v, struct entry *spare,
                        uint8_t *at)
{
    const struct entry *groups = order_groups(b, v, spare);

    at = put(at, &b->head, sizeof(b->head));
    at = put(at, b->groups, b->n_groups * sizeof(*b->groups));
    at = put_order(at, groups, b->n_groups);
    at = put(at, b->counts, b->n_counts * sizeof(*b->counts));
    at = put(at, b->pieces, b->n_pieces * sizeof(*b->pieces));
    at = put(at, b->runs, b->n_runs * sizeof(*b->runs));
    for (uint32_t i = 0; i < b->n_runs; i++)
        v[i] = (struct entry){b->runs[i].rank, i};
    at = put_order(at, sort(v, spare, (uint32_t)b->n_runs), b->n_runs);
    put(at, b->text.data, b->text.len);
}

static pmix_status_t finish(struct build *b, struct px_procmap **out)
{
    const size_t n[PX_MAP_N_PARTS] = {b->n_groups, b->n_groups, b->n_counts,
                                      b->n_pieces, b->n_runs,   b->n_runs,
                                      b->text.len};
    size_t n_entries = b->n_groups > b->n_runs ? b->n_groups : b->n_runs;
    PX_AUTOFREE struct entry *entries = calloc(n_entries + 1, 2 * sizeof(*entries));
    size_t size = sizeof(b->head);
    struct px_procmap *map;

    b->head.magic = PX_MAP_MAGIC;
    for (int i = 0; i < PX_MAP_N_PARTS; i++) {
        b->head.n[i] = (uint32_t)n[i];
        size += n[i] * px_procmap_sizes[i];
    }
    map = malloc(sizeof(*map) + size);
    if (!entries || !map) {
        free(map);
        return no_memory(b);
    }
    write_block(b, entries, entries + n_entries, map->own);
    pmix_status_t rc = px_procmap_open(map, map->own, size);
    if (rc)
        free(map);
    else
        *out = map;
    return rc;
}

pmix_status_t px_procmap_create(const char *nodes, const char *ranks,
                                struct px_procmap **out, struct px_err *err)
{
    PX_AUTO(build) b = {.err = err};
    pmix_status_t rc = read_nodes(&b, nodes);

    b.head.n_nodes = b.head.n_rows;
    if (!rc)
        rc = read_ranks(&b, ranks);
    return rc ? rc : finish(&b, out);
}

/* Copies a part into an empty array. */
static bool load(void *array, size_t *n, size_t *cap,
                 const struct px_procmap_part *part)
{
    if (!px_vec_reserve_of(array, 0, cap, part->n, part->size))
        return false;
    if (part->n > 0)
        memcpy(*(void **)array, part->at, (size_t)part->n * part->size);
    *n = part->n;
    return true;
}

pmix_status_t px_procmap_extend(const struct px_procmap *old, char *const *names,
                                size_t n, struct px_procmap **out)
{
    PX_AUTO(build) b = {0};
    const struct px_procmap_part *parts = old ? old->parts : NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (old) {
        b.head = (struct px_procmap_head){.n_nodes = old->n_nodes,
                                          .n_rows = old->n_rows,
                                          .n_ranks = old->n_ranks,
                                          .n_mapped = old->n_mapped};
        if (!load(&b.groups, &b.n_groups, &b.cap_groups, &parts[PX_MAP_GROUPS]) ||
            !load(&b.counts, &b.n_counts, &b.cap_counts, &parts[PX_MAP_COUNTS]) ||
            !load(&b.runs, &b.n_runs, &b.cap_runs, &parts[PX_MAP_RUNS]) ||
            px_buf_reserve(&b.text, 1) ||
            px_buf_add(&b.text, parts[PX_MAP_TEXT].at, parts[PX_MAP_TEXT].n))
            return PMIX_ERR_NOMEM;
        b.n_pieces = parts[PX_MAP_PIECES].n;
        put((uint8_t *)b.pieces, parts[PX_MAP_PIECES].at,
            b.n_pieces * sizeof(*b.pieces));
    }
    for (size_t i = 0; i < b.n_groups; i++) { /* old may lie in another process's
                                               * memory */
        const struct px_procmap_group *g = &b.groups[i];
        if (g->text > b.text.len ||
            (size_t)g->prefix + g->suffix > b.text.len - g->text)
            return PMIX_ERR_BAD_PARAM;
    }
    for (size_t i = 0; !rc && i < n; i++)
        rc = add_name(&b, names[i] ? names[i] : "", names[i] ? strlen(names[i]) : 0);
    return rc ? rc : finish(&b, out);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Node and process maps: parsing what hosts pass, and the index from ranks to nodes. A
 * few characters can ask for billions of names or ranks, so every range is counted
 * before it is expanded. */
#include "core/model/procmap.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/buf.h"
#include "core/base/ranges.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/base/vec.h"

/* ---- forms ----------------------------------------------------------------------- */

struct body {
    const char *text;
    size_t len;
    bool native; /* came in pmix[...] */
};

static pmix_status_t unwrap(const char *text, struct body *out, struct px_err *err)
{
    *out = (struct body){.text = text ? text : ""};
    out->len = strlen(out->text);
    if (px_str_starts(out->text, "blob:"))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "compressed map of unknown length");
    if (px_str_starts(out->text, "raw:")) {
        out->text += 4;
        out->len -= 4;
    } else if (px_str_starts(out->text, "pmix[")) {
        if (out->text[out->len - 1] != ']')
            return px_err_set(err, PMIX_ERR_BAD_PARAM, "map does not end in ']'");
        out->text += 5;
        out->len -= 6;
        out->native = true;
    }
    return PMIX_SUCCESS;
}

/* ---- node names ------------------------------------------------------------------ */

struct names {
    char **v; /* ends in NULL once there is one */
    size_t n, cap;
};

static pmix_status_t too_long(struct px_err *err)
{
    return px_err_set(err, PMIX_ERR_BAD_PARAM, "node name longer than %u",
                      PX_MAX_NODE_NAME);
}

static pmix_status_t names_reserve(struct names *names, uint64_t more,
                                   struct px_err *err)
{
    if (more > PX_MAX_NODES - names->n)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE, "more than %u nodes",
                          PX_MAX_NODES);
    if (!px_vec_reserve(&names->v, names->n, &names->cap, (size_t)more + 1))
        return px_err_nomem(err, "read a map");
    names->v[names->n] = NULL;
    return PMIX_SUCCESS;
}

/* Takes name, also on failure. */
static pmix_status_t names_add(struct names *names, char *name, struct px_err *err)
{
    pmix_status_t rc = PMIX_SUCCESS;

    if (!name)
        rc = px_err_nomem(err, "read a map");
    else if (strlen(name) > PX_MAX_NODE_NAME)
        rc = too_long(err);
    else
        rc = names_reserve(names, 1, err);
    if (rc) {
        free(name);
        return rc;
    }
    names->v[names->n++] = name;
    names->v[names->n] = NULL;
    return PMIX_SUCCESS;
}

/* prefix "[" digits ":" ranges "]" suffix, all within item[0..len). */
struct group {
    const char *prefix, *ranges, *suffix;
    int prefix_len, suffix_len, width;
    size_t ranges_len;
};

/* False if the item is a plain name. */
static bool parse_group(const char *item, size_t len, struct group *g)
{
    const char *end = item + len;
    const char *open = memchr(item, '[', len);
    const char *close = open ? memchr(open, ']', (size_t)(end - open)) : NULL;

    if (!close)
        return false;
    const char *p = open + 1;
    for (g->width = 0; p < close && *p >= '0' && *p <= '9'; p++)
        if (g->width <= (int)PX_MAX_NODE_NAME) /* more is refused, whatever it is */
            g->width = g->width * 10 + (*p - '0');
    if (p == open + 1 || *p != ':')
        return false;
    *g = (struct group){.prefix = item,
                        .prefix_len = (int)(open - item),
                        .width = g->width,
                        .ranges = p + 1,
                        .ranges_len = (size_t)(close - p - 1),
                        .suffix = close + 1,
                        .suffix_len = (int)(end - close - 1)};
    return true;
}

static pmix_status_t add_group(struct names *names, const struct group *g,
                               struct px_err *err)
{
    PX_AUTOFREE char *text = strndup(g->ranges, g->ranges_len);
    PX_AUTOFREE uint32_t *numbers = NULL;
    size_t n = 0;

    if (!text)
        return px_err_nomem(err, "read a map");
    /* Before the names are made, for each would carry the prefix. */
    if ((size_t)g->prefix_len + (size_t)g->suffix_len + (size_t)g->width >
        PX_MAX_NODE_NAME)
        return too_long(err);
    pmix_status_t rc = px_ranges_parse(text, PX_MAX_NODES - names->n, &numbers, &n);
    if (rc || n == 0)
        return px_err_set(err, rc ? rc : PMIX_ERR_BAD_PARAM,
                          "cannot use node numbers '%.64s'", text);
    rc = names_reserve(names, n, err);
    for (size_t i = 0; !rc && i < n; i++)
        rc = names_add(names,
                       px_strf("%.*s%0*" PRIu32 "%.*s", g->prefix_len, g->prefix,
                               g->width, numbers[i], g->suffix_len, g->suffix),
                       err);
    return rc;
}

/* Length up to the next comma that is not within brackets; SIZE_MAX if they do not
 * match. */
static size_t item_len(const char *s, size_t len, bool native)
{
    int depth = 0;
    size_t i;

    for (i = 0; i < len && !(s[i] == ',' && depth == 0); i++) {
        if (native && s[i] == '[')
            depth++;
        if (native && s[i] == ']' && --depth < 0)
            return SIZE_MAX;
    }
    return depth == 0 ? i : SIZE_MAX;
}

/* On failure *names may hold some, for the caller to free all the same. */
static pmix_status_t expand_nodes(const char *text, struct names *names,
                                  struct px_err *err)
{
    struct body b;
    struct group g;
    pmix_status_t rc = unwrap(text, &b, err);

    while (!rc && b.len > 0) {
        size_t len = item_len(b.text, b.len, b.native);
        if (len == SIZE_MAX)
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "brackets of a node map do not match");
        if (b.native && parse_group(b.text, len, &g))
            rc = add_group(names, &g, err);
        else if (len > PX_MAX_NODE_NAME)
            rc = too_long(err);
        else if (len > 0)
            rc = names_add(names, strndup(b.text, len), err);
        b.text += len;
        b.len -= len;
        if (b.len > 0) {
            b.text++;
            b.len--;
        }
    }
    return rc;
}

pmix_status_t px_map_expand_nodes(const char *text, char ***names, struct px_err *err)
{
    struct names all = {0};
    pmix_status_t rc = expand_nodes(text, &all, err);

    if (rc)
        px_strv_free(all.v);
    else
        *names = all.v;
    return rc;
}

/* ---- ranks ----------------------------------------------------------------------- */

/* Appends one node's ranks and closes its range of the array. */
static pmix_status_t add_ranks(struct px_procmap *map, uint32_t node, const char *text,
                               size_t len, struct px_err *err)
{
    PX_AUTOFREE char *field = strndup(text, len);
    size_t n = map->first[node];

    if (!field)
        return px_err_nomem(err, "read a map");
    pmix_status_t rc = px_ranges_parse(field, PX_MAX_RANKS, &map->ranks, &n);
    if (rc)
        return px_err_set(err, rc, "cannot use ranks '%.64s'", field);
    map->first[node + 1] = (uint32_t)n;
    return PMIX_SUCCESS;
}

static pmix_status_t parse_ranks(struct px_procmap *map, const char *text,
                                 struct px_err *err)
{
    struct body b;
    uint32_t node = 0;
    pmix_status_t rc = unwrap(text, &b, err);

    while (!rc && b.len > 0) {
        const char *semi = memchr(b.text, ';', b.len);
        size_t len = semi ? (size_t)(semi - b.text) : b.len;
        if (node < map->n_nodes)
            rc = add_ranks(map, node++, b.text, len, err);
        else if (len > 0)
            return px_err_set(err, PMIX_ERR_BAD_PARAM,
                              "ranks for more than the %" PRIu32 " nodes given",
                              map->n_nodes);
        b.text += len + (semi ? 1 : 0);
        b.len -= len + (semi ? 1 : 0);
    }
    for (; !rc && node < map->n_nodes; node++)
        map->first[node + 1] = map->first[node];
    return rc;
}

/* From the lists by node to the tables by rank. */
static pmix_status_t index_ranks(struct px_procmap *map, struct px_err *err)
{
    uint32_t total = map->n_nodes ? map->first[map->n_nodes] : 0;

    for (uint32_t i = 0; i < total; i++) {
        if (map->ranks[i] >= PX_MAX_RANKS)
            return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                              "rank %" PRIu32 " is too large", map->ranks[i]);
        if (map->ranks[i] >= map->n_ranks)
            map->n_ranks = map->ranks[i] + 1;
    }
    map->node_of = malloc((map->n_ranks + 1) * sizeof(*map->node_of));
    map->local_of = calloc(map->n_ranks + 1, sizeof(*map->local_of));
    if (!map->node_of || !map->local_of)
        return px_err_nomem(err, "read a map");
    memset(map->node_of, 0xff, (map->n_ranks + 1) * sizeof(*map->node_of));

    for (uint32_t node = 0; node < map->n_nodes; node++) {
        if (map->first[node + 1] - map->first[node] > UINT16_MAX)
            return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE, "too many ranks on %s",
                              map->nodes[node]);
        for (uint32_t i = map->first[node]; i < map->first[node + 1]; i++) {
            uint32_t rank = map->ranks[i];
            if (map->node_of[rank] != UINT32_MAX)
                return px_err_set(err, PMIX_ERR_BAD_PARAM,
                                  "rank %" PRIu32 " is mapped twice", rank);
            map->node_of[rank] = node;
            map->local_of[rank] = (uint16_t)(i - map->first[node]);
        }
    }
    return PMIX_SUCCESS;
}

/* ---- maps ------------------------------------------------------------------------ */

pmix_status_t px_procmap_create(const char *nodes, const char *ranks,
                                struct px_procmap **out, struct px_err *err)
{
    struct px_procmap *map = calloc(1, sizeof(*map));
    struct names names = {0};

    if (!map)
        return px_err_nomem(err, "read a map");
    pmix_status_t rc = expand_nodes(nodes, &names, err);
    map->nodes = names.v;
    map->n_nodes = (uint32_t)names.n;
    map->first = calloc(names.n + 1, sizeof(*map->first));
    if (!rc && !map->first)
        rc = px_err_nomem(err, "read a map");
    if (!rc)
        rc = parse_ranks(map, ranks, err);
    if (!rc)
        rc = index_ranks(map, err);
    if (rc)
        px_procmap_destroy(map);
    else
        *out = map;
    return rc;
}

void px_procmap_destroy(struct px_procmap *map)
{
    if (!map)
        return;
    px_strv_free(map->nodes);
    free(map->first);
    free(map->ranks);
    free(map->node_of);
    free(map->local_of);
    free(map);
}

char *px_procmap_peers(const struct px_procmap *map, uint32_t node)
{
    PX_AUTO(px_buf) text = {0};
    char item[sizeof(",4294967295")];

    if (node >= map->n_nodes)
        return NULL;
    for (uint32_t i = map->first[node]; i < map->first[node + 1]; i++) {
        const char *comma = i > map->first[node] ? "," : "";
        int len = snprintf(item, sizeof(item), "%s%" PRIu32, comma, map->ranks[i]);
        if (px_buf_add(&text, item, (size_t)len))
            return NULL;
    }
    if (px_buf_add(&text, "", 1))
        return NULL;
    return (char *)px_buf_take(&text).data;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Queries to a map. Its block may belong to another process, which may change it. Each
 * access copies a record, checks that the record lies in its part, then checks the
 * copy. */
#include "core/model/procmap_impl.h"

#include <string.h>

#include "core/base/ranges.h"

const uint32_t px_procmap_sizes[PX_MAP_N_PARTS] = {
    [PX_MAP_GROUPS] = sizeof(struct px_procmap_group),
    [PX_MAP_ORDER] = sizeof(uint32_t),
    [PX_MAP_COUNTS] = sizeof(struct px_procmap_count),
    [PX_MAP_PIECES] = sizeof(struct px_procmap_piece),
    [PX_MAP_RUNS] = sizeof(struct px_procmap_run),
    [PX_MAP_BY_RANK] = sizeof(uint32_t),
    [PX_MAP_TEXT] = 1,
};

/* ---- blocks ---------------------------------------------------------------------- */

pmix_status_t px_procmap_open(struct px_procmap *map, const void *bytes, size_t n)
{
    struct px_procmap_head head;
    size_t at = sizeof(head);

    if (n < sizeof(head))
        return PMIX_ERR_BAD_PARAM;
    memcpy(&head, bytes, sizeof(head));
    if (head.magic != PX_MAP_MAGIC || head.n_rows > PX_MAX_NODES ||
        head.n_nodes > head.n_rows || head.n_ranks > PX_MAX_RANKS ||
        head.n_mapped > PX_MAX_RANKS || head.n[PX_MAP_PIECES] > PX_MAP_MAX_PIECES)
        return PMIX_ERR_BAD_PARAM;
    map->n_nodes = head.n_nodes;
    map->n_rows = head.n_rows;
    map->n_ranks = head.n_ranks;
    map->n_mapped = head.n_mapped;
    map->depth = head.depth;
    map->bytes = bytes;
    for (size_t i = 0; i < PX_MAP_N_PARTS; i++) {
        if (head.n[i] > (n - at) / px_procmap_sizes[i])
            return PMIX_ERR_BAD_PARAM;
        map->parts[i] = (struct px_procmap_part){map->bytes + at, head.n[i],
                                                 px_procmap_sizes[i]};
        at += (size_t)head.n[i] * px_procmap_sizes[i];
    }
    map->n_bytes = at;
    return PMIX_SUCCESS;
}

static void swap_word(uint8_t *at)
{
    uint32_t word;

    memcpy(&word, at, sizeof(word));
    word = __builtin_bswap32(word);
    memcpy(at, &word, sizeof(word));
}

void px_procmap_swap(void *bytes, size_t n, bool is_foreign)
{
    const size_t group_words = sizeof(struct px_procmap_group) / sizeof(uint32_t);
    struct px_procmap_head before, after;
    uint8_t *pos = bytes;

    if (n < sizeof(before))
        return;
    memcpy(&before, bytes, sizeof(before));
    for (size_t i = 0; i < sizeof(before) / sizeof(uint32_t);
         i++, pos += sizeof(uint32_t))
        swap_word(pos);
    memcpy(&after, bytes, sizeof(after));
    n -= sizeof(after);
    /* Text, the last part, has no words; neither has the end of a group. */
    for (size_t i = 0; i < PX_MAP_TEXT; i++) {
        const uint32_t n_records = is_foreign ? after.n[i] : before.n[i];

        if (n_records > n / px_procmap_sizes[i])
            return;
        const size_t n_words = (size_t)n_records *
                               (px_procmap_sizes[i] / sizeof(uint32_t));
        n -= n_words * sizeof(uint32_t);
        for (size_t w = 1; w <= n_words; w++, pos += sizeof(uint32_t))
            if (i != PX_MAP_GROUPS || w % group_words != 0)
                swap_word(pos);
    }
}

void px_procmap_take_order(void *bytes, size_t n)
{
    uint32_t magic;

    if (n < sizeof(magic))
        return;
    memcpy(&magic, bytes, sizeof(magic));
    if (magic == __builtin_bswap32(PX_MAP_MAGIC))
        px_procmap_swap(bytes, n, true);
}

pmix_status_t px_procmap_borrow(const void *bytes, size_t n, struct px_procmap **out)
{
    struct px_procmap *map = calloc(1, sizeof(*map));

    if (!map)
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = px_procmap_open(map, bytes, n);
    if (rc)
        free(map);
    else
        *out = map;
    return rc;
}

const void *px_procmap_bytes(const struct px_procmap *map, size_t *n)
{
    *n = map->n_bytes;
    return map->bytes;
}

void px_procmap_destroy(struct px_procmap *map)
{
    free(map);
}

/* Copies record i of a part. Inline, so that the record size is a constant. */
static inline bool record(const struct px_procmap *map, enum px_procmap_part_id id,
                          uint32_t i, void *out)
{
    const struct px_procmap_part *p = &map->parts[id];
    const uint32_t size = px_procmap_sizes[id];

    if (i >= p->n)
        return false;
    memcpy(out, p->at + (size_t)i * size, size);
    return true;
}

/* Returns a word of record i, or of the record at position i of an index. Returns
 * UINT32_MAX if the record does not exist. */
static uint32_t word_at(const struct px_procmap *map, enum px_procmap_part_id id,
                        const enum px_procmap_part_id *index, uint32_t i, size_t word)
{
    const struct px_procmap_part *p = &map->parts[id];
    uint32_t value = UINT32_MAX;

    if ((!index || record(map, *index, i, &i)) && i < p->n)
        memcpy(&value, p->at + (size_t)i * p->size + word * sizeof(value),
               sizeof(value));
    return value;
}

/* Returns the position of the last record, in order, whose word is at most x;
 * UINT32_MAX if there is none. */
static uint32_t search(const struct px_procmap *map, enum px_procmap_part_id id,
                       const enum px_procmap_part_id *index, size_t word, uint32_t x)
{
    uint32_t low = 0, high = map->parts[index ? *index : id].n;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (word_at(map, id, index, middle, word) <= x)
            low = middle + 1;
        else
            high = middle;
    }
    return low - 1;
}

/* ---- names ----------------------------------------------------------------------- */

static uint32_t hash_add(uint32_t hash, const char *s, size_t n)
{
    while (n-- > 0)
        hash = (hash ^ (uint8_t)*s++) * 16777619u;
    return hash;
}

uint32_t px_procmap_hash(const struct px_procmap_name *name)
{
    const char width = (char)name->width;
    uint32_t hash = hash_add(2166136261u, name->prefix, name->n_prefix);

    return hash_add(hash_add(hash, &width, 1), name->suffix, name->n_suffix);
}

/* Reads a group. *n: number of the group's names. */
static bool group_at(const struct px_procmap *map, uint32_t i,
                     struct px_procmap_group *g, struct px_procmap_name *name,
                     uint32_t *n)
{
    const struct px_procmap_part *text = &map->parts[PX_MAP_TEXT];
    struct px_procmap_group next;

    if (!record(map, PX_MAP_GROUPS, i, g))
        return false;
    if (!record(map, PX_MAP_GROUPS, i + 1, &next))
        next.node = map->n_rows;
    if (g->node >= next.node || next.node > map->n_rows || g->text > text->n ||
        (uint32_t)g->prefix + g->suffix > text->n - g->text ||
        (uint32_t)g->prefix + g->suffix + g->width > PX_MAX_NODE_NAME)
        return false;
    *n = next.node - g->node;
    *name = (struct px_procmap_name){.prefix = (const char *)text->at + g->text,
                                     .n_prefix = g->prefix,
                                     .suffix = (const char *)text->at + g->text +
                                               g->prefix,
                                     .n_suffix = g->suffix,
                                     .width = g->width};
    return true;
}

/* Writes a name and returns its end. */
static char *put_name(char *out, const struct px_procmap_name *name, uint32_t number)
{
    memcpy(out, name->prefix, name->n_prefix);
    out += name->n_prefix;
    for (size_t i = name->width; i-- > 0; number /= 10)
        out[i] = (char)('0' + number % 10);
    out += name->width;
    memcpy(out, name->suffix, name->n_suffix);
    return out + name->n_suffix;
}

size_t px_procmap_name(const struct px_procmap *map, uint32_t row,
                       char out[PX_MAX_NODE_NAME + 1])
{
    struct px_procmap_group g;
    struct px_procmap_name name;
    uint32_t n;
    char *end = out;

    if (group_at(map, search(map, PX_MAP_GROUPS, NULL, 0, row), &g, &name, &n) &&
        row - g.node < n)
        end = put_name(out, &name, g.number + (row - g.node));
    *end = '\0';
    return (size_t)(end - out);
}

/* Reads the next group of the map's nodes; limits *n to those nodes. */
static bool next_group(const struct px_procmap *map, uint32_t i, uint32_t node,
                       struct px_procmap_group *g, struct px_procmap_name *name,
                       uint32_t *n)
{
    if (node >= map->n_nodes || !group_at(map, i, g, name, n) || g->node != node)
        return false;
    *n = *n < map->n_nodes - node ? *n : map->n_nodes - node;
    return true;
}

/* Increments a decimal number in place. */
static void count_up(char *digits, size_t width)
{
    while (width-- > 0 && ++digits[width] > '9')
        digits[width] = '0';
}

/* Writes the n names of a group, a comma behind each. */
static char *put_names(char *at, const struct px_procmap_name *name, uint32_t number,
                       uint32_t n)
{
    char text[PX_MAX_NODE_NAME + 1];
    const size_t each = (size_t)(put_name(text, name, number) - text) + 1;

    text[each - 1] = ',';
    for (; n > 0; n--, at += each) {
        memcpy(at, text, each);
        count_up(text + name->n_prefix, name->width);
    }
    return at;
}

char *px_procmap_names(const struct px_procmap *map, size_t *len)
{
    struct px_procmap_group g;
    struct px_procmap_name name;
    uint32_t n, node = 0;
    size_t size = 1;

    for (uint32_t i = 0; next_group(map, i, node, &g, &name, &n); i++, node += n)
        size += n * (name.n_prefix + name.width + name.n_suffix + 1);
    char *text = malloc(size), *at = text;
    node = 0;
    for (uint32_t i = 0; text && next_group(map, i, node, &g, &name, &n);
         i++, node += n)
        if (n * (name.n_prefix + name.width + name.n_suffix + 1) <
            size - (size_t)(at - text)) /* false if the map has changed meanwhile */
            at = put_names(at, &name, g.number, n);
    if (at > text)
        at--;
    if (text)
        *at = '\0';
    if (text && len)
        *len = (size_t)(at - text);
    return text;
}

/* Cuts a name at its first dot; false if there is none. */
static bool cut_at_dot(struct px_procmap_name *name)
{
    const char *dot = memchr(name->prefix, '.', name->n_prefix);

    if (dot) {
        name->n_prefix = (size_t)(dot - name->prefix);
        name->width = name->n_suffix = 0;
        return true;
    }
    dot = memchr(name->suffix, '.', name->n_suffix);
    name->n_suffix = dot ? (size_t)(dot - name->suffix) : 0;
    return dot;
}

/* Returns the group's node with the name, or UINT32_MAX. with_domain: compares the name
 * before the domain. */
static uint32_t match(const struct px_procmap *map, uint32_t group, const char *text,
                      size_t len, bool with_domain)
{
    struct px_procmap_group g;
    struct px_procmap_name name;
    uint32_t n;
    uint64_t number = 0;

    if (!group_at(map, group, &g, &name, &n) || (with_domain && !cut_at_dot(&name)) ||
        len != name.n_prefix + name.width + name.n_suffix ||
        memcmp(text, name.prefix, name.n_prefix) != 0 ||
        memcmp(text + len - name.n_suffix, name.suffix, name.n_suffix) != 0)
        return UINT32_MAX;
    for (size_t i = 0; i < name.width; i++) {
        char c = text[name.n_prefix + i];
        if (!px_procmap_is_digit(c) || number > UINT32_MAX)
            return UINT32_MAX;
        number = number * 10 + (uint64_t)(c - '0');
    }
    if (name.width == 0)
        return g.node;
    return number >= g.number && number - g.number < n
               ? g.node + (uint32_t)(number - g.number)
               : UINT32_MAX;
}

/* Lowers *node to the first node with the name, among groups with this hash and number
 * range. */
static void search_order(const struct px_procmap *map, const char *text, size_t len,
                         uint32_t hash, uint32_t number, uint32_t *node)
{
    uint32_t low = 0, high = map->parts[PX_MAP_ORDER].n, i = 0;
    struct px_procmap_group g;

    while (low < high) {
        uint32_t middle = low + (high - low) / 2;
        if (record(map, PX_MAP_ORDER, middle, &i) &&
            record(map, PX_MAP_GROUPS, i, &g) &&
            (g.hash < hash || (g.hash == hash && g.number <= number)))
            low = middle + 1;
        else
            high = middle;
    }
    for (uint32_t d = 0; d <= map->depth && record(map, PX_MAP_ORDER, low - 1 - d, &i);
         d++) {
        if (!record(map, PX_MAP_GROUPS, i, &g) || g.hash != hash)
            return;
        uint32_t found = match(map, i, text, len, false);
        if (found < *node)
            *node = found;
    }
}

/* Finds a name. Tries each number in the name as the group's number, and the name
 * without a number. */
static uint32_t find(const struct px_procmap *map, const char *text, size_t len)
{
    struct px_procmap_name name = {.prefix = text, .n_prefix = len, .suffix = text};
    uint32_t node = UINT32_MAX;

    if (len == 0 || len > PX_MAX_NODE_NAME)
        return UINT32_MAX;
    search_order(map, text, len, px_procmap_hash(&name), 0, &node);
    for (size_t i = 0, end; i < len; i = end + 1) {
        uint64_t number = 0;
        for (end = i; end < len && px_procmap_is_digit(text[end]); end++)
            if (number <= UINT32_MAX)
                number = number * 10 + (uint64_t)(text[end] - '0');
        if (end == i || number > UINT32_MAX)
            continue;
        name = (struct px_procmap_name){.prefix = text,
                                        .n_prefix = i,
                                        .width = end - i,
                                        .suffix = text + end,
                                        .n_suffix = len - end};
        search_order(map, text, len, px_procmap_hash(&name), (uint32_t)number, &node);
    }
    return node;
}

uint32_t px_procmap_find(const struct px_procmap *map, const char *name)
{
    return find(map, name, strlen(name));
}

uint32_t px_procmap_find_host(const struct px_procmap *map, const char *name)
{
    size_t len = strcspn(name, ".");
    uint32_t node = UINT32_MAX;

    if (name[len])
        return find(map, name, len);
    for (uint32_t i = 0; node == UINT32_MAX && i < map->parts[PX_MAP_GROUPS].n; i++)
        node = match(map, i, name, len, true);
    return node;
}

bool px_procmap_same_nodes(const struct px_procmap *a, const struct px_procmap *b)
{
    char one[PX_MAX_NODE_NAME + 1], other[PX_MAX_NODE_NAME + 1];

    if (a->n_nodes != b->n_nodes)
        return false;
    for (uint32_t i = 0; i < a->n_nodes; i++)
        if (px_procmap_name(a, i, one) != px_procmap_name(b, i, other) ||
            strcmp(one, other) != 0)
            return false;
    return true;
}

/* ---- ranks ----------------------------------------------------------------------- */

/* Returns the number of ranks on each node of a count, 0 if invalid. *end: the node
 * after the last. */
static uint32_t count_at(const struct px_procmap *map, uint32_t i,
                         struct px_procmap_count *c, uint32_t *end)
{
    struct px_procmap_count next;

    if (!record(map, PX_MAP_COUNTS, i, c))
        return 0;
    if (!record(map, PX_MAP_COUNTS, i + 1, &next))
        next = (struct px_procmap_count){map->n_nodes, map->n_mapped};
    if (next.node <= c->node || next.node > map->n_nodes || next.place < c->place ||
        next.place > map->n_mapped)
        return 0;
    *end = next.node;
    uint32_t each = (next.place - c->place) / (next.node - c->node);
    return each <= UINT16_MAX ? each : 0;
}

/* Returns the number of ranks on a node. *place: the place of its first rank. */
static uint32_t span(const struct px_procmap *map, uint32_t node, uint32_t *place)
{
    struct px_procmap_count c;
    uint32_t end;
    uint32_t each = count_at(map, search(map, PX_MAP_COUNTS, NULL, 0, node), &c, &end);

    if (each == 0 || node >= end)
        return 0;
    *place = c.place + (node - c.node) * each;
    return each;
}

uint32_t px_procmap_size(const struct px_procmap *map, uint32_t node)
{
    uint32_t place;

    return span(map, node, &place);
}

/* Finds the rank at a place. Returns the number of consecutive ranks that begin there,
 * 0 if there is none. */
static uint64_t rank_in_piece(const struct px_procmap *map, uint32_t place,
                              uint64_t *rank)
{
    struct px_procmap_piece p;

    if (!record(map, PX_MAP_PIECES, search(map, PX_MAP_PIECES, NULL, 0, place), &p) ||
        p.run == 0 || p.reps == 0)
        return 0;
    uint32_t at = place - p.place;
    uint64_t per_n = (uint64_t)p.reps * p.run, i = at / per_n;
    if (i >= p.n)
        return 0;
    *rank = p.base + i * p.step + (at % per_n / p.run) * p.outer + at % p.run;
    return p.run - at % p.run;
}

/* Reads a run and returns its length; 0 if there is none. */
static uint32_t run_at(const struct px_procmap *map, uint32_t i,
                       struct px_procmap_run *r)
{
    uint32_t end = map->n_mapped;

    if (!record(map, PX_MAP_RUNS, i, r))
        return 0;
    if (i + 1 < map->parts[PX_MAP_RUNS].n)
        end = word_at(map, PX_MAP_RUNS, NULL, i + 1, 0);
    return end > r->place ? end - r->place : 0;
}

uint32_t px_procmap_run(const struct px_procmap *map, uint32_t node, uint32_t local,
                        uint32_t *first)
{
    struct px_procmap_run r = {0};
    uint64_t n, rank = 0;
    uint32_t place;
    uint32_t size = span(map, node, &place);

    if (local >= size)
        return 0;
    place += local;
    if (map->parts[PX_MAP_RUNS].n > 0) {
        n = run_at(map, search(map, PX_MAP_RUNS, NULL, 0, place), &r);
        rank = (uint64_t)r.rank + (place - r.place);
        n = n > place - r.place ? n - (place - r.place) : 0;
    } else {
        n = rank_in_piece(map, place, &rank);
    }
    if (rank >= map->n_ranks)
        return 0;
    *first = (uint32_t)rank;
    n = n < size - local ? n : size - local;
    return (uint32_t)(n < map->n_ranks - rank ? n : map->n_ranks - rank);
}

/* Divides *d by the distance of two parts, leaves the remainder, and returns the
 * quotient. Most maps have one part, and the branch is faster than the division. */
static inline uint32_t part_of(uint32_t *d, uint32_t distance)
{
    const uint32_t n = distance == UINT32_MAX ? 0 : *d / distance;

    *d -= n * distance;
    return n;
}

static bool place_in_pieces(const struct px_procmap *map, uint32_t rank,
                            uint32_t *place)
{
    struct px_procmap_piece p;

    for (uint32_t at = 0; record(map, PX_MAP_PIECES, at, &p); at++) {
        if (rank < p.base || p.step == 0 || p.outer == 0)
            continue;
        uint32_t d = rank - p.base, n, rep;
        if (p.step < p.outer) { /* each rep holds one piece of each n */
            rep = part_of(&d, p.outer);
            n = part_of(&d, p.step);
        } else {
            n = part_of(&d, p.step);
            rep = part_of(&d, p.outer);
        }
        *place = p.place + (n * p.reps + rep) * p.run + d;
        if (n < p.n && rep < p.reps && d < p.run)
            return true;
    }
    return false;
}

static bool place_in_runs(const struct px_procmap *map, uint32_t rank, uint32_t *place)
{
    static const enum px_procmap_part_id by_rank = PX_MAP_BY_RANK;
    uint32_t i = search(map, PX_MAP_RUNS, &by_rank, 1, rank);
    struct px_procmap_run r = {0};
    uint32_t n = record(map, PX_MAP_BY_RANK, i, &i) ? run_at(map, i, &r) : 0;

    *place = r.place + (rank - r.rank);
    return rank - r.rank < n;
}

uint32_t px_procmap_node_of(const struct px_procmap *map, uint32_t rank,
                            uint16_t *local)
{
    struct px_procmap_count c;
    uint32_t place, end;

    if (rank >= map->n_ranks ||
        !(map->parts[PX_MAP_RUNS].n > 0 ? place_in_runs(map, rank, &place)
                                        : place_in_pieces(map, rank, &place)))
        return UINT32_MAX;
    uint32_t each = count_at(map, search(map, PX_MAP_COUNTS, NULL, 1, place), &c, &end);
    if (each == 0 || place < c.place || (place - c.place) / each >= end - c.node)
        return UINT32_MAX;
    if (local)
        *local = (uint16_t)((place - c.place) % each);
    return c.node + (place - c.place) / each;
}

uint32_t px_procmap_lowest(const struct px_procmap *map, uint32_t node)
{
    uint32_t lowest = UINT32_MAX, first, n;

    for (uint32_t i = 0; (n = px_procmap_run(map, node, i, &first)) > 0; i += n)
        if (first < lowest)
            lowest = first;
    return lowest;
}

char *px_procmap_peers(const struct px_procmap *map, uint32_t node)
{
    char number[10];
    size_t width = (size_t)(px_number_put(number, map->n_ranks) - number) + 1;
    uint32_t first, n, size = px_procmap_size(map, node);
    char *text = malloc(size * width + 1), *at = text;

    for (uint32_t i = 0; text && (n = px_procmap_run(map, node, i, &first)) > 0; i += n)
        for (uint32_t k = 0; k < n && i + k < size; k++) {
            at = px_number_put(at, first + k);
            *at++ = ',';
        }
    if (text)
        text[at > text ? at - text - 1 : 0] = '\0';
    return text;
}

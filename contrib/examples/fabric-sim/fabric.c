/* SPDX-License-Identifier: BSD-3-Clause */
#include "fabric.h"

#include <stdlib.h>
#include <string.h>

/* Returns the array with room for one more element, or NULL with the array unchanged.
 * The room is always a power of two. */
static void *room_for_one(void *array, size_t n, size_t size)
{
    return n & (n - 1) ? array : reallocarray(array, n ? 2 * n : 1, size);
}

/* ---- reading one object ---------------------------------------------------------- */

struct object {
    const json_t *json;
    char where[96]; /* "nodes[3].nics[0]."; "" for the whole */
    struct sim_error *error;
};

static pmix_status_t __attribute__((format(printf, 3, 4)))
wants(const struct object *o, const char *member, const char *fmt, ...)
{
    char text[160];
    va_list args;

    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    return sim_fail(o->error, PMIX_ERR_BAD_PARAM, "%s%.40s: expected %s", o->where,
                    member, text);
}

/* Enters an element of a list. Refuses members that are not among the known ones. */
static pmix_status_t enter(struct object *o, const struct object *parent,
                           const char *list, size_t i, const json_t *json,
                           const char *const *known)
{
    const char *key;
    json_t *member;

    *o = (struct object){.json = json, .error = parent->error};
    if (list[0])
        snprintf(o->where, sizeof(o->where) - 1, "%.40s%s[%zu]", parent->where, list,
                 i);
    if (!json_is_object(json))
        return sim_fail(o->error, PMIX_ERR_BAD_PARAM, "%s: expected an object",
                        list[0] ? o->where : "the whole");
    if (list[0])
        o->where[strlen(o->where)] = '.';
    json_object_foreach((json_t *)json, key, member)
    {
        size_t k = 0;

        while (known[k] && strcmp(known[k], key) != 0)
            k++;
        if (!known[k])
            return wants(o, key, "no member of that name");
    }
    return PMIX_SUCCESS;
}

static pmix_status_t get_text(const struct object *o, const char *key, const char **out)
{
    const char *text = json_string_value(json_object_get(o->json, key));
    size_t len = text ? strlen(text) : 0;

    for (size_t i = 0; i < len; i++)
        if ((unsigned char)text[i] <= ' ' || text[i] == 0x7f)
            len = 0;
    if (len == 0 || len > SIM_MAX_NAME)
        return wants(o, key, "a text of at most %d bytes without spaces", SIM_MAX_NAME);
    *out = text;
    return PMIX_SUCCESS;
}

static pmix_status_t get_names(const struct object *o, const char *key,
                               struct sim_names *out)
{
    const char *text = "";
    pmix_status_t rc = get_text(o, key, &text);

    return rc || sim_names_parse(text, out)
               ? rc
               : wants(o, key, "a name or names like n[0-9,20-29]");
}

/* Reads a number. Leaves *out unchanged if the object does not have the member. */
static pmix_status_t get_number(const struct object *o, const char *key, uint32_t min,
                                uint32_t max, uint32_t *out)
{
    const json_t *v = json_object_get(o->json, key);
    const json_int_t n = json_integer_value(v);

    if (v && (!json_is_integer(v) || n < min || n > max))
        return wants(o, key, "a number from %u to %u", min, max);
    if (v)
        *out = (uint32_t)n;
    return PMIX_SUCCESS;
}

/* Reads a list. Sets *out to NULL, an empty list, if the object does not have the
 * member. */
static pmix_status_t get_list(const struct object *o, const char *key, size_t min,
                              size_t max, const json_t **out)
{
    *out = json_object_get(o->json, key);
    if ((*out && !json_is_array(*out)) || json_array_size(*out) < min ||
        json_array_size(*out) > max)
        return wants(o, key, "a list of %zu to %zu", min, max);
    return PMIX_SUCCESS;
}

static pmix_status_t get_numbers(const struct object *o, const char *key, size_t min,
                                 size_t max, uint32_t out[SIM_MAX_DIMS], uint32_t *n)
{
    const json_t *list;
    pmix_status_t rc = get_list(o, key, min, max, &list);

    *n = (uint32_t)json_array_size(list);
    for (size_t i = 0; !rc && i < *n; i++) {
        const json_t *v = json_array_get(list, i);
        const json_int_t number = json_integer_value(v);

        if (!json_is_integer(v) || number < 0 || number > SIM_MAX_DEVICES)
            rc = wants(o, key, "numbers from 0 to %d", SIM_MAX_DEVICES);
        out[i] = (uint32_t)number;
    }
    return rc;
}

/* ---- planes and switches --------------------------------------------------------- */

#define KNOWN(...)        \
    (const char *const[]) \
    {                     \
        __VA_ARGS__, NULL \
    }

static pmix_status_t read_planes(struct sim_fabric *f, const struct object *whole)
{
    struct object o;
    const json_t *list;
    pmix_status_t rc = get_list(whole, "planes", 1, SIM_MAX_PLANES, &list);

    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        struct sim_plane *p = &f->planes[f->n_planes++];

        *p = (struct sim_plane){.speed = 100000, .mtu = 4096};
        rc = enter(&o, whole, "planes", i, json_array_get(list, i),
                   KNOWN("name", "speed", "mtu"));
        if (!rc)
            rc = get_text(&o, "name", &p->name);
        for (size_t k = 0; !rc && k < i; k++)
            if (strcmp(f->planes[k].name, p->name) == 0)
                rc = wants(&o, "name", "one that no other plane has");
        if (!rc)
            rc = get_number(&o, "speed", 1, UINT32_MAX, &p->speed);
        if (!rc)
            rc = get_number(&o, "mtu", 1, UINT32_MAX, &p->mtu);
    }
    return rc;
}

/* Finds the named switches, which must be consecutive in one row. */
static pmix_status_t get_switches(const struct sim_fabric *f, const struct object *o,
                                  const char *key, uint32_t *first, uint32_t *n)
{
    struct sim_names names;
    char from[SIM_MAX_NAME + 1], to[SIM_MAX_NAME + 1];
    pmix_status_t rc = get_names(o, key, &names);
    uint32_t a, b;

    if (rc)
        return rc;
    sim_names_put(&names, 0, from);
    sim_names_put(&names, names.count - 1, to);
    for (size_t i = 0; i < f->n_switch_rows; i++) {
        const struct sim_switches *s = &f->switches[i];

        if (!sim_names_find(&s->names, from, &a) ||
            !sim_names_find(&s->names, to, &b) || b - a + 1 != names.count)
            continue;
        *first = s->first + a;
        *n = names.count;
        return PMIX_SUCCESS;
    }
    return wants(o, key, "switches that one row of \"switches\" names");
}

static pmix_status_t add_links(struct sim_fabric *f, const struct object *o,
                               const struct sim_switches *from)
{
    uint32_t first, n, speed = f->planes[0].speed;
    pmix_status_t rc = get_switches(f, o, "to", &first, &n);

    if (!rc)
        rc = get_number(o, "speed", 1, UINT32_MAX, &speed);
    if (rc)
        return rc;
    if ((size_t)from->names.count * n > SIM_MAX_LINKS - f->n_links)
        return wants(o, "to", "at most %d links in all", SIM_MAX_LINKS);
    struct sim_link *links = reallocarray(
        f->links, f->n_links + (size_t)from->names.count * n, sizeof(*links));
    if (!links)
        return sim_no_memory(o->error);
    f->links = links;
    for (uint32_t a = 0; a < from->names.count; a++)
        for (uint32_t b = 0; b < n; b++)
            f->links[f->n_links++] = (struct sim_link){{from->first + a, first + b},
                                                       speed};
    return PMIX_SUCCESS;
}

static const char *const switch_members[] = {"names", "links", NULL};

static pmix_status_t read_links(struct sim_fabric *f, const struct object *whole,
                                const json_t *rows)
{
    struct object row, link;
    const json_t *list;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < f->n_switch_rows; i++) {
        rc = enter(&row, whole, "switches", i, json_array_get(rows, i), switch_members);
        if (!rc)
            rc = get_list(&row, "links", 0, SIM_MAX_SWITCHES, &list);
        for (size_t k = 0; !rc && k < json_array_size(list); k++) {
            rc = enter(&link, &row, "links", k, json_array_get(list, k),
                       KNOWN("to", "speed"));
            if (!rc)
                rc = add_links(f, &link, &f->switches[i]);
        }
    }
    return rc;
}

static pmix_status_t read_switches(struct sim_fabric *f, const struct object *whole)
{
    struct object o;
    const json_t *rows;
    pmix_status_t rc = get_list(whole, "switches", 0, SIM_MAX_SWITCHES, &rows);

    for (size_t i = 0; !rc && i < json_array_size(rows); i++) {
        struct sim_switches *grown = room_for_one(f->switches, i, sizeof(*grown));

        if (!grown)
            return sim_no_memory(whole->error);
        f->switches = grown;
        struct sim_switches *s = &f->switches[f->n_switch_rows++];
        *s = (struct sim_switches){.first = f->n_switches};
        rc = enter(&o, whole, "switches", i, json_array_get(rows, i), switch_members);
        if (!rc)
            rc = get_names(&o, "names", &s->names);
        if (!rc && s->names.count > SIM_MAX_SWITCHES - f->n_switches)
            rc = wants(&o, "names", "at most %d switches in all", SIM_MAX_SWITCHES);
        f->n_switches += s->names.count;
    }
    return rc ? rc : read_links(f, whole, rows);
}

/* ---- nodes ----------------------------------------------------------------------- */

/* Reads the place of a group's first node. The nodes fill the shape from that place
 * on, the last dimension first. */
static pmix_status_t get_place(const struct sim_fabric *f, const struct object *o,
                               uint32_t n_nodes, uint32_t *out)
{
    uint32_t at[SIM_MAX_DIMS], n;
    uint64_t place = 0, room = f->n_dims > 0;
    pmix_status_t rc = json_object_get(o->json, "at")
                           ? get_numbers(o, "at", f->n_dims, f->n_dims, at, &n)
                           : PMIX_SUCCESS;

    if (rc)
        return rc;
    for (uint32_t d = 0; d < f->n_dims; d++) {
        const uint32_t x = json_object_get(o->json, "at") ? at[d] : 0;

        if (x >= f->shape[d])
            return wants(o, "at", "a place in the fabric's shape");
        place = place * f->shape[d] + x;
        room *= f->shape[d];
    }
    if (f->n_dims > 0 && n_nodes > room - place)
        return wants(o, "at", "a place from where all %u nodes are in the shape",
                     n_nodes);
    *out = (uint32_t)place;
    return PMIX_SUCCESS;
}

static pmix_status_t read_nic(const struct sim_fabric *f, const struct object *o,
                              uint32_t n_nodes, struct sim_nic *nic)
{
    const char *plane = "";
    pmix_status_t rc = get_text(o, "name", &nic->name);

    if (!rc)
        rc = get_text(o, "plane", &plane);
    if (rc)
        return rc;
    while (nic->plane < f->n_planes && strcmp(f->planes[nic->plane].name, plane) != 0)
        nic->plane++;
    if (nic->plane == f->n_planes)
        return wants(o, "plane", "the name of a plane");
    nic->speed = f->planes[nic->plane].speed;
    rc = get_number(o, "speed", 1, UINT32_MAX, &nic->speed);
    if (!rc && json_object_get(o->json, "switch"))
        rc = get_switches(f, o, "switch", &nic->first_switch, &nic->n_switches);
    return rc ? rc : get_place(f, o, n_nodes, &nic->at);
}

static pmix_status_t read_nics(struct sim_group *g, const struct sim_fabric *f,
                               const struct object *node)
{
    struct object o;
    const json_t *list;
    pmix_status_t rc = get_list(node, "nics", 1, SIM_MAX_NICS, &list);

    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        struct sim_nic *nic = &g->nics[g->n_nics++];

        rc = enter(&o, node, "nics", i, json_array_get(list, i),
                   KNOWN("name", "plane", "speed", "switch", "at"));
        if (!rc)
            rc = read_nic(f, &o, g->names.count, nic);
        for (size_t k = 0; !rc && k < i; k++)
            if (strcmp(g->nics[k].name, nic->name) == 0)
                rc = wants(&o, "name", "one that no other of the node has");
    }
    return rc;
}

static pmix_status_t read_nodes(struct sim_fabric *f, const struct object *whole)
{
    struct object o;
    uint32_t next = 0;
    const json_t *list;
    pmix_status_t rc = get_list(whole, "nodes", 1, SIM_MAX_DEVICES, &list);

    for (size_t i = 0; !rc && i < json_array_size(list); i++) {
        struct sim_group *grown = room_for_one(f->groups, i, sizeof(*grown));

        if (!grown)
            return sim_no_memory(whole->error);
        f->groups = grown;
        struct sim_group *g = &f->groups[f->n_groups++];
        *g = (struct sim_group){.first = next,
                                .first_device = f->n_devices,
                                .json = json_array_get(list, i)};
        rc = enter(&o, whole, "nodes", i, g->json, KNOWN("names", "first", "nics"));
        if (!rc)
            rc = get_names(&o, "names", &g->names);
        if (!rc) /* a description for a job has gaps */
            rc = get_number(&o, "first", next, UINT32_MAX - SIM_MAX_DEVICES, &g->first);
        if (!rc)
            rc = read_nics(g, f, &o);
        if (!rc &&
            (uint64_t)g->names.count * g->n_nics > SIM_MAX_DEVICES - f->n_devices)
            rc = wants(&o, "names", "at most %d devices in all", SIM_MAX_DEVICES);
        next = g->first + g->names.count;
        f->n_devices += g->names.count * g->n_nics;
    }
    return rc;
}

/* ---- descriptions for launches --------------------------------------------------- */

/* Shortens the description for launches: removes switches, and gives each group its
 * first number, because groups before it may be left out. */
static pmix_status_t strip(struct sim_fabric *f, struct sim_error *error)
{
    json_object_del(f->json, "switches");
    for (size_t i = 0; i < f->n_groups; i++) {
        const struct sim_group *g = &f->groups[i];
        json_t *nics = json_object_get(g->json, "nics");

        for (size_t k = 0; k < json_array_size(nics); k++)
            json_object_del(json_array_get(nics, k), "switch");
        if (json_object_set_new(g->json, "first", json_integer(g->first)))
            return sim_no_memory(error);
    }
    return PMIX_SUCCESS;
}

char *sim_fabric_text(const struct sim_fabric *f, const bool *used)
{
    json_t *out = json_object(), *nodes = json_array(), *member;
    const char *key;
    char *text = NULL;
    bool whole = out && nodes;

    for (size_t i = 0; whole && i < f->n_groups; i++)
        whole = (used && !used[i]) || !json_array_append(nodes, f->groups[i].json);
    json_object_foreach(f->json, key, member)
        whole = whole &&
                !json_object_set(out, key, strcmp(key, "nodes") ? member : nodes);
    const size_t n = whole ? json_dumpb(out, NULL, 0, JSON_COMPACT) : 0;
    if (n > 0)
        text = calloc(n + 1, 1);
    if (text && json_dumpb(out, text, n, JSON_COMPACT) != n) {
        free(text);
        text = NULL;
    }
    json_decref(nodes);
    json_decref(out);
    return text;
}

/* ---- look-up --------------------------------------------------------------------- */

static int compare_groups(const void *a, const void *b)
{
    const struct sim_group *const *one = a, *const *other = b;
    const int by_name = strcmp((*one)->names.prefix, (*other)->names.prefix);

    return by_name ? by_name : (*one > *other) - (*one < *other);
}

/* Lists the groups of one name for look-up. The groups do not move any more. */
static pmix_status_t sort_single(struct sim_fabric *f, struct sim_error *error)
{
    f->single = calloc(f->n_groups + 1, sizeof(*f->single));
    if (!f->single)
        return sim_no_memory(error);
    for (size_t i = 0; i < f->n_groups; i++)
        if (f->groups[i].names.n_ranges == 0)
            f->single[f->n_single++] = &f->groups[i];
    qsort(f->single, f->n_single, sizeof(*f->single), compare_groups);
    for (size_t i = 1; i < f->n_single; i++)
        if (strcmp(f->single[i]->names.prefix, f->single[i - 1]->names.prefix) == 0)
            return sim_fail(error, PMIX_ERR_BAD_PARAM,
                            "nodes[%zu].names: expected one that no other node has",
                            (size_t)(f->single[i] - f->groups));
    return PMIX_SUCCESS;
}

static int compare_name(const void *name, const void *group)
{
    return strcmp(name, (*(const struct sim_group *const *)group)->names.prefix);
}

struct sim_node sim_fabric_find(const struct sim_fabric *f, const char *host)
{
    const struct sim_group **single = bsearch(host, f->single, f->n_single,
                                              sizeof(*single), compare_name);
    struct sim_node node = {single ? *single : NULL, 0};

    for (size_t g = 0; !node.group && g < f->n_groups; g++)
        if (f->groups[g].names.n_ranges > 0 &&
            sim_names_find(&f->groups[g].names, host, &node.i))
            node.group = &f->groups[g];
    return node;
}

/* ---- the whole ------------------------------------------------------------------- */

static pmix_status_t read_fabric(struct sim_fabric *f, struct sim_error *error)
{
    const struct object above = {.error = error};
    struct object o;
    uint64_t room = 1;
    pmix_status_t rc = enter(
        &o, &above, "", 0, f->json,
        KNOWN("name", "vendor", "shape", "planes", "switches", "nodes"));

    f->vendor = "tenon.sim";
    if (!rc)
        rc = get_text(&o, "name", &f->name);
    if (!rc && json_object_get(f->json, "vendor"))
        rc = get_text(&o, "vendor", &f->vendor);
    if (!rc)
        rc = get_numbers(&o, "shape", 0, SIM_MAX_DIMS, f->shape, &f->n_dims);
    for (uint32_t d = 0; !rc && d < f->n_dims; d++) {
        room *= f->shape[d];
        if (room == 0 || room > UINT32_MAX)
            rc = wants(&o, "shape", "numbers from 1, whose product is below 2^32");
    }
    if (!rc)
        rc = read_planes(f, &o);
    if (!rc)
        rc = read_switches(f, &o);
    if (!rc)
        rc = read_nodes(f, &o);
    if (!rc)
        rc = sort_single(f, error);
    return rc ? rc : strip(f, error);
}

/* Jansson reports some failed allocations as bad syntax. Bad syntax fails the same way
 * a second time. */
static pmix_status_t read_json(const char *text, size_t len, json_t **out,
                               struct sim_error *error)
{
    json_error_t bad = {0}, again = {0};

    *out = json_loadb(text, len, JSON_REJECT_DUPLICATES, &bad);
    if (*out)
        return PMIX_SUCCESS;
    json_decref(json_loadb(text, len, JSON_REJECT_DUPLICATES, &again));
    return json_error_code(&bad) == json_error_out_of_memory || !bad.text[0] ||
                   strcmp(bad.text, again.text) != 0
               ? sim_no_memory(error)
               : sim_fail(error, PMIX_ERR_BAD_PARAM, "line %d, column %d: %s", bad.line,
                          bad.column, bad.text);
}

pmix_status_t sim_fabric_parse(const char *text, size_t len, struct sim_fabric **out,
                               struct sim_error *error)
{
    struct sim_fabric *f = calloc(1, sizeof(*f));
    pmix_status_t rc;

    if (!f)
        return sim_no_memory(error);
    if (len > SIM_MAX_TEXT_B)
        rc = sim_fail(error, PMIX_ERR_BAD_PARAM, "expected at most %d KiB",
                      SIM_MAX_TEXT_B >> 10);
    else
        rc = read_json(text, len, &f->json, error);
    if (!rc)
        rc = read_fabric(f, error);
    if (rc)
        sim_fabric_free(f);
    else
        *out = f;
    return rc;
}

void sim_fabric_free(struct sim_fabric *f)
{
    if (!f)
        return;
    json_decref(f->json);
    free(f->switches);
    free(f->links);
    free(f->groups);
    free(f->single);
    free(f->states);
    free(f);
}

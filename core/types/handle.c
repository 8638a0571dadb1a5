/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc cpusets and topologies, for the walkers and the wire. */
#include "core/types/handle.h"

#include "core/base/dl.h"
#include "core/types/hwloc_api.h"

#include <dlfcn.h>
#include <string.h>
#include <strings.h>

_Static_assert(sizeof(struct px_opaque) == sizeof(pmix_cpuset_t) &&
                   offsetof(struct px_opaque, handle) ==
                       offsetof(pmix_cpuset_t, bitmap),
               "pmix_cpuset_t");
_Static_assert(sizeof(struct px_opaque) == sizeof(pmix_topology_t) &&
                   offsetof(struct px_opaque, handle) ==
                       offsetof(pmix_topology_t, topology),
               "pmix_topology_t");

/* ---- loading hwloc at run time --------------------------------------------------- */

static const struct {
    const char *name;
    size_t offset;
} functions[] = {
#define F(name) {"hwloc_" #name, offsetof(struct px_hwloc, name)},
    PX_HWLOC_FUNCTIONS(F)
#undef F
};

bool px_hwloc_open(struct px_hwloc *h)
{
    /* NODELETE keeps the library loaded, because callers hold its bitmaps and
     * topologies. So closing here only keeps the reference count low. */
    void *library = px_dl_open(PX_HWLOC_FILE, RTLD_LAZY | RTLD_LOCAL | RTLD_NODELETE,
                               NULL);
    bool found = library != NULL;

    for (size_t i = 0; found && i < PX_COUNT(functions); i++) {
        void *function = dlsym(library, functions[i].name);

        memcpy((char *)h + functions[i].offset, &function, sizeof(function));
        found = function != NULL;
    }
    if (library)
        dlclose(library);
    return found;
}

/* ---- the source of a handle ------------------------------------------------------ */

struct px_opaque px_load_opaque(const void *obj)
{
    struct px_opaque o;

    memcpy(&o, obj, sizeof(o));
    return o;
}

/* Accepts "hwloc" and "hwloc:<version>", e.g. "hwloc:2.9.0". */
bool px_source_is_hwloc(const char *source)
{
    size_t n = strlen(PX_HWLOC_SOURCE);

    return source && strncasecmp(source, PX_HWLOC_SOURCE, n) == 0 &&
           (source[n] == '\0' || source[n] == ':');
}

static pmix_status_t open_for(const struct px_opaque *o, struct px_hwloc *h)
{
    if (!o->handle)
        return PMIX_ERR_BAD_PARAM;
    return px_source_is_hwloc(o->source) && px_hwloc_open(h) ? PMIX_SUCCESS
                                                             : PMIX_ERR_NOT_SUPPORTED;
}

/* ---- shared topologies ----------------------------------------------------------- */

/* The user data of a shared topology. Only the address matters, not the text. */
static const char shared_tag[] = "lent by libpmix";

void px_topo_set_shared(void *topology, bool shared)
{
    struct px_hwloc h;

    if (px_hwloc_open(&h))
        h.topology_set_userdata(topology, shared ? shared_tag : NULL);
}

/* ---- copies ---------------------------------------------------------------------- */

static pmix_status_t dup_topology(const struct px_hwloc *h, void *from, void **copy)
{
    hwloc_topology_t to;

    if (h->topology_abi_check(from)) /* another hwloc's structure layout */
        return PMIX_ERR_NOT_SUPPORTED;
    if (h->topology_dup(&to, from))
        return PMIX_ERR_NOMEM;
    if (h->topology_get_userdata(to) == shared_tag)
        h->topology_set_userdata(to, NULL);
    *copy = to;
    return PMIX_SUCCESS;
}

pmix_status_t px_handle_dup(enum px_store store, const struct px_opaque *o, void **copy)
{
    struct px_hwloc h;
    pmix_status_t rc = open_for(o, &h);

    if (rc)
        return rc;
    if (store == PX_TOPO)
        return dup_topology(&h, o->handle, copy);
    hwloc_bitmap_t set = h.bitmap_dup(o->handle);
    if (!set)
        return PMIX_ERR_NOMEM;
    *copy = set;
    return PMIX_SUCCESS;
}

void px_handle_free(enum px_store store, const struct px_opaque *o)
{
    struct px_hwloc h;

    if (open_for(o, &h))
        return;
    if (store == PX_CPUSET)
        h.bitmap_free(o->handle);
    else if (h.topology_get_userdata(o->handle) != shared_tag)
        h.topology_destroy(o->handle);
}

/* ---- text ------------------------------------------------------------------------ */

static pmix_status_t export_xml(const struct px_hwloc *h, void *topology, char **text)
{
    char *xml;
    int n; /* includes the final NUL */

    if (h->topology_abi_check(topology))
        return PMIX_ERR_NOT_SUPPORTED;
    if (h->topology_export_xmlbuffer(topology, &xml, &n, 0))
        return PMIX_ERR_NOMEM;
    *text = strndup(xml, (size_t)n); /* malloc memory, which the caller may free */
    h->free_xmlbuffer(topology, xml);
    return *text ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

pmix_status_t px_handle_text(enum px_store store, const struct px_opaque *o,
                             char **text)
{
    struct px_hwloc h;
    pmix_status_t rc = open_for(o, &h);

    if (rc)
        return rc;
    if (store == PX_TOPO)
        return export_xml(&h, o->handle, text);
    return h.bitmap_list_asprintf(text, o->handle) < 0 ? PMIX_ERR_NOMEM : PMIX_SUCCESS;
}

/* Parses a number without leading zeros, which some readers of lists take for octal. */
static bool take_number(const char **at, uint32_t *n)
{
    const char *start = *at;

    *n = 0;
    if (start[0] == '0' && start[1] >= '0' && start[1] <= '9')
        return false;
    for (; **at >= '0' && **at <= '9'; ++*at) {
        *n = *n * 10 + (uint32_t)(**at - '0');
        if (*n > PX_MAX_CPU)
            return false;
    }
    return *at > start;
}

bool px_cpus_take(const char **list, uint32_t *first, uint32_t *last)
{
    const char *at = *list;

    if (!take_number(&at, first))
        return false;
    *last = *first;
    if (*at == '-') {
        at++;
        if (*at == '\0')
            *last = UINT32_MAX;
        else if (!take_number(&at, last) || *last < *first)
            return false;
    }
    if (*at == ',' && at[1] != '\0')
        at++;
    else if (*at != '\0')
        return false;
    *list = at;
    return true;
}

bool px_cpus_valid(const char *list)
{
    uint32_t first, last;

    while (*list) {
        if (!px_cpus_take(&list, &first, &last))
            return false;
    }
    return true;
}

/* Makes a bitmap from a list. hwloc's parser is not used: it also accepts octal,
 * hexadecimal and negative numbers. The checked list could have another meaning
 * there. */
static pmix_status_t parse_cpus(const struct px_hwloc *h, const char *list, void **set)
{
    uint32_t first, last;
    hwloc_bitmap_t parsed;
    int failed = 0;

    if (!px_cpus_valid(list))
        return PMIX_ERR_BAD_PARAM;
    parsed = h->bitmap_alloc();
    if (!parsed)
        return PMIX_ERR_NOMEM;
    while (!failed && *list && px_cpus_take(&list, &first, &last))
        failed = h->bitmap_set_range(parsed, first,
                                     last == UINT32_MAX ? -1 : (int)last);
    if (failed) {
        h->bitmap_free(parsed);
        return PMIX_ERR_NOMEM;
    }
    *set = parsed;
    return PMIX_SUCCESS;
}

static bool load_xml(const struct px_hwloc *h, hwloc_topology_t t, const char *xml)
{
    /* Use the same flags as the incumbent, so both load a packed topology alike. Users
     * bind themselves with such a topology. */
    const unsigned long flags = HWLOC_TOPOLOGY_FLAG_IS_THISSYSTEM |
                                HWLOC_TOPOLOGY_FLAG_INCLUDE_DISALLOWED;

    return h->topology_set_xmlbuffer(t, xml, (int)strlen(xml) + 1) == 0 &&
           h->topology_set_io_types_filter(t, HWLOC_TYPE_FILTER_KEEP_IMPORTANT) == 0 &&
           h->topology_set_flags(t, flags) == 0 && h->topology_load(t) == 0;
}

static pmix_status_t parse_xml(const struct px_hwloc *h, const char *xml, void **topo)
{
    hwloc_topology_t t;

    if (strlen(xml) >= PX_MAX_TOPO_B || strstr(xml, "<!ENTITY"))
        return PMIX_ERR_BAD_PARAM;
    if (h->topology_init(&t))
        return PMIX_ERR_NOMEM;
    if (!load_xml(h, t, xml)) {
        h->topology_destroy(t);
        return PMIX_ERR_BAD_PARAM;
    }
    *topo = t;
    return PMIX_SUCCESS;
}

pmix_status_t px_handle_parse(enum px_store store, const char *text, void **handle)
{
    struct px_hwloc h;

    if (!px_hwloc_open(&h))
        return PMIX_ERR_NOT_SUPPORTED;
    return store == PX_TOPO ? parse_xml(&h, text, handle)
                            : parse_cpus(&h, text, handle);
}

/* ---- order ----------------------------------------------------------------------- */

static int compare_text(const struct px_opaque *a, const struct px_opaque *b)
{
    PX_AUTOFREE char *left = NULL;
    PX_AUTOFREE char *right = NULL;

    if (px_handle_text(PX_TOPO, a, &left) || px_handle_text(PX_TOPO, b, &right))
        return (a->handle > b->handle) - (a->handle < b->handle);
    return strcmp(left, right);
}

int px_handle_compare(enum px_store store, const struct px_opaque *a,
                      const struct px_opaque *b)
{
    struct px_hwloc h;

    if (a->handle == b->handle)
        return 0;
    if (open_for(a, &h) || open_for(b, &h))
        return (a->handle > b->handle) - (a->handle < b->handle);
    return store == PX_TOPO ? compare_text(a, b)
                            : h.bitmap_compare(a->handle, b->handle);
}

/* ---- support --------------------------------------------------------------------- */

enum {
    DISCOVERY_B = sizeof(struct hwloc_topology_discovery_support),
    CPUBIND_B = sizeof(struct hwloc_topology_cpubind_support),
    MEMBIND_B = sizeof(struct hwloc_topology_membind_support),
};
_Static_assert(DISCOVERY_B + CPUBIND_B + MEMBIND_B <= PX_TOPO_SUPPORT_MAX, "room");

size_t px_topo_support_size(void)
{
    return DISCOVERY_B + CPUBIND_B + MEMBIND_B;
}

bool px_topo_support(void *topology, uint8_t *get, const uint8_t *set)
{
    struct px_hwloc h;

    if (!px_hwloc_open(&h))
        return false;
    const struct hwloc_topology_support *s = h.topology_get_support(topology);
    const struct {
        void *part;
        size_t n;
    } parts[] = {
        {s->discovery, DISCOVERY_B}, {s->cpubind, CPUBIND_B}, {s->membind, MEMBIND_B}};
    for (size_t i = 0, at = 0; i < PX_COUNT(parts); at += parts[i++].n) {
        if (get)
            memcpy(get + at, parts[i].part, parts[i].n);
        if (set)
            memcpy(parts[i].part, set + at, parts[i].n);
    }
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Locality strings: the numbers of the objects that a set of CPUs touches, for each
 * level of the topology. Written without the Standard's prefix "hwloc:". OpenPMIx does
 * not write the prefix, and Open MPI, which parses the text itself, does not expect it.
 * Read with and without. */
#include "core/topo/topo.h"

#include "core/base/str.h"
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"

#include <string.h>

static const struct {
    char name[3];
    hwloc_obj_type_t type;
    pmix_locality_t bit;
} levels[] = {
    {"NM", HWLOC_OBJ_NUMANODE, PMIX_LOCALITY_SHARE_NUMA}, /* not part of the tree */
    {"SK", HWLOC_OBJ_PACKAGE, PMIX_LOCALITY_SHARE_PACKAGE},
    {"L3", HWLOC_OBJ_L3CACHE, PMIX_LOCALITY_SHARE_L3CACHE},
    {"L2", HWLOC_OBJ_L2CACHE, PMIX_LOCALITY_SHARE_L2CACHE},
    {"L1", HWLOC_OBJ_L1CACHE, PMIX_LOCALITY_SHARE_L1CACHE},
    {"CR", HWLOC_OBJ_CORE, PMIX_LOCALITY_SHARE_CORE},
    {"HT", HWLOC_OBJ_PU, PMIX_LOCALITY_SHARE_HWTHREAD},
};

/* ---- writing --------------------------------------------------------------------- */

struct writing {
    struct px_hwloc h;
    hwloc_topology_t topology;
    hwloc_const_bitmap_t set;
    hwloc_bitmap_t touched; /* objects of the current level */
    char *text;
};

static pmix_status_t append(struct writing *w, const char *name)
{
    PX_AUTOFREE char *list = NULL;

    if (w->h.bitmap_list_asprintf(&list, w->touched) < 0)
        return PMIX_ERR_NOMEM;
    char *longer = px_strf("%s%s%s%s", w->text ? w->text : "", w->text ? ":" : "", name,
                           list);
    if (!longer)
        return PMIX_ERR_NOMEM;
    free(w->text);
    w->text = longer;
    return PMIX_SUCCESS;
}

static pmix_status_t add_level(struct writing *w, int depth, const char *name)
{
    unsigned n = w->h.get_nbobjs_by_depth(w->topology, depth);

    w->h.bitmap_zero(w->touched);
    for (unsigned i = 0; i < n; i++) {
        hwloc_obj_t obj = w->h.get_obj_by_depth(w->topology, depth, i);

        if (w->h.bitmap_intersects(obj->cpuset, w->set) &&
            w->h.bitmap_set(w->touched, i))
            return PMIX_ERR_NOMEM;
    }
    return w->h.bitmap_iszero(w->touched) ? PMIX_SUCCESS : append(w, name);
}

/* Adds the levels from the top down. Memory, which is not part of the tree, comes
 * last. */
static pmix_status_t add_levels(struct writing *w)
{
    int depth = w->h.topology_get_depth(w->topology);
    pmix_status_t rc = PMIX_SUCCESS;

    for (int d = 1; d < depth; d++)
        for (size_t i = 0; !rc && i < PX_COUNT(levels); i++)
            if (levels[i].type == w->h.get_depth_type(w->topology, d))
                rc = add_level(w, d, levels[i].name);
    return rc ? rc : add_level(w, HWLOC_TYPE_DEPTH_NUMANODE, levels[0].name);
}

pmix_status_t px_locality_text(void *topology, const void *bitmap, char **text)
{
    struct writing w = {.topology = topology, .set = bitmap};

    if (!px_hwloc_open(&w.h))
        return PMIX_ERR_NOT_SUPPORTED;
    if (!bitmap || w.h.bitmap_isfull(bitmap)) {
        *text = NULL;
        return PMIX_SUCCESS;
    }
    w.touched = w.h.bitmap_alloc();
    pmix_status_t rc = w.touched ? add_levels(&w) : PMIX_ERR_NOMEM;
    w.h.bitmap_free(w.touched);
    if (rc)
        free(w.text);
    else
        *text = w.text;
    return rc;
}

/* ---- comparing ------------------------------------------------------------------- */

/* One part of a text, for example "HT0-1,8". */
struct part {
    char name[3];
    char list[512];
};

/* Reads the next part. Returns false at the end or at an invalid part; *text stays
 * then. */
static bool take_part(const char **text, struct part *p)
{
    size_t n = strcspn(*text, ":");

    if (n < 2 || n - 2 >= sizeof(p->list))
        return false;
    memcpy(p->name, *text, 2);
    p->name[2] = '\0';
    memcpy(p->list, *text + 2, n - 2);
    p->list[n - 2] = '\0';
    if (!px_cpus_valid(p->list))
        return false;
    *text += n;
    if (**text == ':')
        ++*text;
    return true;
}

static bool lists_overlap(const char *a, const char *b)
{
    uint32_t a_first, a_last, b_first, b_last;

    while (*a && px_cpus_take(&a, &a_first, &a_last)) {
        for (const char *at = b; *at && px_cpus_take(&at, &b_first, &b_last);) {
            if (a_first <= b_last && b_first <= a_last)
                return true;
        }
    }
    return false;
}

/* Skips the prefix that names the source, if there is one. */
static pmix_status_t skip_source(const char **text)
{
    size_t n = strcspn(*text, ":");

    if (px_source_is_hwloc(*text)) {
        *text += n + ((*text)[n] == ':');
        return PMIX_SUCCESS;
    }
    /* A part contains digits; a longer name without digits is another source. */
    return (*text)[n] == ':' && strcspn(*text, "0123456789") >= n
               ? PMIX_ERR_NOT_SUPPORTED
               : PMIX_SUCCESS;
}

pmix_status_t px_locality_shared(const char *a, const char *b, pmix_locality_t *bits)
{
    pmix_locality_t shared = PMIX_LOCALITY_SHARE_NODE;
    struct part of_a, of_b;
    pmix_status_t rc = skip_source(&a);
    const char *at;

    if (!rc)
        rc = skip_source(&b);
    if (rc)
        return rc;
    for (at = b; *at && take_part(&at, &of_b);)
        ;
    if (*at)
        return PMIX_ERR_BAD_PARAM;
    while (*a && take_part(&a, &of_a)) {
        for (at = b; *at && take_part(&at, &of_b);) {
            if (strcmp(of_a.name, of_b.name) != 0 ||
                !lists_overlap(of_a.list, of_b.list))
                continue;
            for (size_t i = 0; i < PX_COUNT(levels); i++)
                if (strcmp(levels[i].name, of_a.name) == 0)
                    shared |= levels[i].bit;
        }
    }
    if (*a)
        return PMIX_ERR_BAD_PARAM;
    *bits = shared;
    return PMIX_SUCCESS;
}

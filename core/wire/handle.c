/* SPDX-License-Identifier: BSD-3-Clause */
/* Wire forms of cpusets and topologies. A cpuset is a list of CPUs without its source.
 * A topology is XML and then hwloc's support record. An absent handle is a NULL
 * string. */
#include "core/types/handle.h"

#include "core/wire/walk.h"

static const char made_by[] = "hwloc"; /* source of every unpacked handle */

/* Writes the text of a handle. True if the text is not a NULL string. */
static bool put_text(px_writer *w, enum px_store store, const struct px_opaque *o)
{
    PX_AUTOFREE char *text = NULL;
    pmix_status_t rc = o->handle ? px_handle_text(store, o, &text) : PMIX_SUCCESS;

    if (rc)
        px_writer_fail(w, rc);
    else
        px_put_string(w, text);
    return text && !w->status;
}

void px_put_cpuset(px_writer *w, const pmix_cpuset_t *set)
{
    struct px_opaque o = px_load_opaque(set);

    (void)put_text(w, PX_CPUSET, &o);
}

void px_put_topology(px_writer *w, const pmix_topology_t *topo)
{
    struct px_opaque o = px_load_opaque(topo);
    uint8_t support[PX_TOPO_SUPPORT_MAX];

    if (!put_text(w, PX_TOPO, &o))
        return;
    if (px_topo_support(o.handle, support, NULL))
        px_put_raw(w, support, px_topo_support_size());
    else
        px_writer_fail(w, PMIX_ERR_NOT_SUPPORTED);
}

static pmix_status_t name_source(char **source)
{
    return px_dup_bytes((const uint8_t *)made_by, sizeof(made_by), source);
}

/* Charges a bitmap to the reader's budget like an array. A few bytes of text can
 * request a long bitmap, and can fill it repeatedly. */
static pmix_status_t charge(px_reader *r, const char *list)
{
    uint32_t first, last, highest = 0;
    size_t bytes = 2 * sizeof(uint64_t);

    while (*list && px_cpus_take(&list, &first, &last)) {
        last = last == UINT32_MAX ? first : last;
        highest = last > highest ? last : highest;
        bytes += (last - first) / 8;
    }
    bytes += highest / 8;
    if (*list || bytes > r->budget)
        return PMIX_ERR_UNPACK_FAILURE;
    r->budget -= bytes;
    return PMIX_SUCCESS;
}

pmix_status_t px_get_cpuset(px_reader *r, pmix_cpuset_t *set)
{
    const char *list;
    size_t len;
    pmix_status_t rc = px_get_text(r, &list, &len);

    if (!rc && list)
        rc = charge(r, list);
    if (rc || !list)
        return rc;
    rc = name_source(&set->source);
    if (!rc)
        rc = px_handle_parse(PX_CPUSET, list, &set->bitmap);
    if (rc)
        px_type_destruct(PMIX_PROC_CPUSET, set);
    return rc == PMIX_ERR_BAD_PARAM ? PMIX_ERR_UNPACK_FAILURE : rc;
}

static pmix_status_t get_xml(px_reader *r, const char *xml, pmix_topology_t *topo)
{
    uint8_t support[PX_TOPO_SUPPORT_MAX];
    pmix_status_t rc = px_get_bytes(r, support, px_topo_support_size());

    if (!rc)
        rc = name_source(&topo->source);
    if (!rc)
        rc = px_handle_parse(PX_TOPO, xml, &topo->topology);
    if (!rc && !px_topo_support(topo->topology, NULL, support))
        rc = PMIX_ERR_NOT_SUPPORTED;
    return rc;
}

pmix_status_t px_get_topology(px_reader *r, pmix_topology_t *topo)
{
    const char *xml;
    size_t len;
    pmix_status_t rc = px_get_text(r, &xml, &len);

    if (rc || !xml)
        return rc;
    if (!r->trusted) /* see px_handle_parse */
        return PMIX_ERR_NOT_SUPPORTED;
    rc = get_xml(r, xml, topo);
    if (rc)
        px_type_destruct(PMIX_TOPO, topo);
    return rc == PMIX_ERR_BAD_PARAM ? PMIX_ERR_UNPACK_FAILURE : rc;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The handles behind pmix_cpuset_t and pmix_topology_t. Only the source of a handle can
 * interpret the handle. This file supports hwloc's; handles of other sources are plain
 * addresses. The functions are stateless and thread-safe. `store` is always PX_CPUSET
 * or PX_TOPO. */
#ifndef PX_TYPES_HANDLE_H
#define PX_TYPES_HANDLE_H

#include "core/types/type.h"

/* The common layout of both types. */
struct px_opaque {
    char *source;
    void *handle;
};

struct px_opaque px_load_opaque(const void *obj);

/* True if source names hwloc, in any version. False for NULL. */
bool px_source_is_hwloc(const char *source);

/* Copies a handle. Here and below, handles of other sources than hwloc and a missing
 * hwloc give PMIX_ERR_NOT_SUPPORTED. A NULL handle gives PMIX_ERR_BAD_PARAM. */
pmix_status_t px_handle_dup(enum px_store store, const struct px_opaque *o,
                            void **copy);
/* Writes the wire form, malloc'd: a list ("0-3,8") or XML. */
pmix_status_t px_handle_text(enum px_store store, const struct px_opaque *o,
                             char **text);

/* Frees a handle. Does nothing for handles of other sources and for shared topologies
 * (px_topo_set_shared). */
void px_handle_free(enum px_store store, const struct px_opaque *o);
/* Compares by content if both handles are hwloc's, otherwise by address. */
int px_handle_compare(enum px_store store, const struct px_opaque *a,
                      const struct px_opaque *b);

/* Makes a handle from text. Returns PMIX_ERR_BAD_PARAM if text is invalid or too large,
 * PMIX_ERR_NOMEM, or PMIX_ERR_NOT_SUPPORTED without hwloc.
 *
 * A list is checked before hwloc gets it, so any process may send one. XML is not
 * checked: hwloc trusts its structure, and an inconsistent tree fails an assertion. So
 * XML may only come from a source that may end this process anyway: its server or its
 * own user. Entities and text longer than PX_MAX_TOPO_B are refused, because that check
 * is cheap. */
pmix_status_t px_handle_parse(enum px_store store, const char *text, void **handle);
#define PX_MAX_TOPO_B (16u * 1024u * 1024u)
#define PX_MAX_CPU    (1u << 16) /* highest CPU number in a list */

/* Takes "a", "a-b" or the open "a-" (*last is UINT32_MAX) from a list of CPUs, and the
 * comma after it. False on bad syntax. */
bool px_cpus_take(const char **list, uint32_t *first, uint32_t *last);
/* True if the text is a list with numbers up to PX_MAX_CPU. "" is a list. */
bool px_cpus_valid(const char *list);

/* Declares a topology shared, or not shared any more. A shared topology belongs to this
 * process, and px_handle_free does not destroy the topology. */
void px_topo_set_shared(void *topology, bool shared);
/* Copies the record of hwloc's support for a topology, which travels beside the XML.
 * The bytes are three of hwloc's structures: px_topo_support_size bytes, at most
 * PX_TOPO_SUPPORT_MAX. False without hwloc. */
enum { PX_TOPO_SUPPORT_MAX = 128 };
size_t px_topo_support_size(void);
bool px_topo_support(void *topology, uint8_t *get,
                     const uint8_t *set); /* either may be NULL */

#endif

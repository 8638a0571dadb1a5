/* SPDX-License-Identifier: BSD-3-Clause */
/* hwloc's functions, loaded when a caller first asks for a topology or a cpuset. Most
 * programs never do, and linking to hwloc would cost time at every start. Only
 * core/types, core/topo and core/host/place include this file. */
#ifndef PX_TYPES_HWLOC_API_H
#define PX_TYPES_HWLOC_API_H

#include <hwloc.h>
#include <hwloc/shmem.h>
#include <stdbool.h>

/* The version of the headers determines the structure layout and the library's file. */
#if HWLOC_API_VERSION < 0x00020100 || HWLOC_API_VERSION >= 0x00030000
#error "hwloc 2.1 or a later 2.x is needed"
#endif
#define PX_HWLOC_FILE "libhwloc.so.15"

/* The case-insensitive prefix of sources that are hwloc. */
#define PX_HWLOC_SOURCE "hwloc"

/* clang-format off */
#define PX_HWLOC_FUNCTIONS(F)                                                               \
    F(bitmap_alloc) F(bitmap_and) F(bitmap_compare) F(bitmap_dup) F(bitmap_free)            \
    F(bitmap_intersects) F(bitmap_isfull) F(bitmap_isincluded) F(bitmap_isset)              \
    F(bitmap_iszero) F(bitmap_last) F(bitmap_list_asprintf) F(bitmap_or) F(bitmap_set)      \
    F(bitmap_set_range) F(bitmap_zero) F(free_xmlbuffer) F(get_depth_type)                  \
    F(get_nbobjs_by_depth) F(get_obj_by_depth) F(get_type_depth) F(shmem_topology_adopt)    \
    F(shmem_topology_get_length) F(shmem_topology_write) F(topology_abi_check) F(topology_destroy) F(topology_dup) F(topology_export_xmlbuffer)  \
    F(topology_get_depth) F(topology_get_support) F(topology_get_userdata)                  \
    F(topology_init) F(topology_is_thissystem) F(topology_load) F(topology_set_flags)       \
    F(topology_set_io_types_filter) F(topology_set_userdata) F(topology_set_xmlbuffer)
/* clang-format on */

struct px_hwloc {
#define F(name) __typeof__(&hwloc_##name) name;
    PX_HWLOC_FUNCTIONS(F)
#undef F
};

/* Fills *h with hwloc's functions. False if the library is not installed or lacks a
 * function. The first call loads the library for good. Each caller has its own table,
 * because a shared table would be another writable global. Thread-safe; takes a few
 * microseconds. */
bool px_hwloc_open(struct px_hwloc *h);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* The PMIx_<Type>_construct, create, destruct and free functions. A macro makes all
 * four for each type from the type table. Also a few convenience functions of single
 * types, data arrays and data buffers. */
#include "core/types/walk.h"
#include "pmix_common.h"

#include <string.h>

/* free and release free the contents and the container. */
#define CONSTRUCT_AND_FREE(Type, c_type, ID)                   \
    PX_EXPORT void PMIx_##Type##_construct(c_type *obj)        \
    {                                                          \
        px_type_construct(PMIX_##ID, obj);                     \
    }                                                          \
    PX_EXPORT void PMIx_##Type##_free(c_type *array, size_t n) \
    {                                                          \
        px_type_free_array(PMIX_##ID, array, n);               \
    }

#define DESTRUCT(Type, c_type, ID)                     \
    PX_EXPORT void PMIx_##Type##_destruct(c_type *obj) \
    {                                                  \
        px_type_destruct(PMIX_##ID, obj);              \
        px_type_construct(PMIX_##ID, obj);             \
    }

#define CREATE(Type, c_type, ID)                     \
    PX_EXPORT c_type *PMIx_##Type##_create(size_t n) \
    {                                                \
        return px_type_create_array(PMIX_##ID, n);   \
    }

#define FAMILY(Type, c_type, ID)         \
    CONSTRUCT_AND_FREE(Type, c_type, ID) \
    DESTRUCT(Type, c_type, ID)           \
    CREATE(Type, c_type, ID)

/* A value's empty form is all zero. */
CONSTRUCT_AND_FREE(Value, pmix_value_t, VALUE)
CREATE(Value, pmix_value_t, VALUE)
PX_EXPORT void PMIx_Value_destruct(pmix_value_t *v)
{
    if (v)
        px_value_destruct(v);
}

FAMILY(App, pmix_app_t, APP)
FAMILY(Byte_object, pmix_byte_object_t, BYTE_OBJECT)
CONSTRUCT_AND_FREE(Coord, pmix_coord_t, COORD)
DESTRUCT(Coord, pmix_coord_t, COORD)
FAMILY(Cpuset, pmix_cpuset_t, PROC_CPUSET)
FAMILY(Device, pmix_device_t, DEVICE)
FAMILY(Device_distance, pmix_device_distance_t, DEVICE_DIST)
FAMILY(Disk_stats, pmix_disk_stats_t, DISK_STATS)
FAMILY(Endpoint, pmix_endpoint_t, ENDPOINT)
FAMILY(Envar, pmix_envar_t, ENVAR)
FAMILY(Geometry, pmix_geometry_t, GEOMETRY)
FAMILY(Info, pmix_info_t, INFO)
FAMILY(Net_stats, pmix_net_stats_t, NET_STATS)
FAMILY(Node_pid, pmix_node_pid_t, NODE_PID)
FAMILY(Node_stats, pmix_node_stats_t, NODE_STATS)
FAMILY(Pdata, pmix_pdata_t, PDATA)
FAMILY(Proc, pmix_proc_t, PROC)
FAMILY(Proc_info, pmix_proc_info_t, PROC_INFO)
FAMILY(Proc_stats, pmix_proc_stats_t, PROC_STATS)
FAMILY(Query, pmix_query_t, QUERY)
FAMILY(Regattr, pmix_regattr_t, REGATTR)
FAMILY(Regex2, pmix_regex2_t, REGEX2)
FAMILY(Resource_unit, pmix_resource_unit_t, RESOURCE_UNIT)
FAMILY(Topology, pmix_topology_t, TOPO)

PX_EXPORT void PMIx_App_release(pmix_app_t *app)
{
    PMIx_App_free(app, 1);
}

PX_EXPORT void PMIx_Query_release(pmix_query_t *query)
{
    PMIx_Query_free(query, 1);
}

/* -- members that are arrays; the old contents are not freed ----------------------- */

PX_EXPORT void PMIx_App_info_create(pmix_app_t *app, size_t n)
{
    if (!app)
        return;
    app->info = PMIx_Info_create(n);
    app->ninfo = app->info ? n : 0;
}

PX_EXPORT void PMIx_Query_qualifiers_create(pmix_query_t *query, size_t n)
{
    if (!query)
        return;
    query->qualifiers = PMIx_Info_create(n);
    query->nqual = query->qualifiers ? n : 0;
}

PX_EXPORT pmix_coord_t *PMIx_Coord_create(size_t dims, size_t n)
{
    pmix_coord_t *coords = px_type_create_array(PMIX_COORD, n);

    for (size_t i = 0; coords && dims && i < n; i++) {
        coords[i].coord = calloc(dims, sizeof(*coords[i].coord));
        if (!coords[i].coord) {
            PMIx_Coord_free(coords, n);
            return NULL;
        }
        coords[i].dims = dims;
    }
    return coords;
}

/* -- loading and copying: overwrites *dst without freeing; empty when out of memory  */

PX_EXPORT void PMIx_Byte_object_load(pmix_byte_object_t *dst, char *bytes, size_t n)
{
    if (dst)
        *dst = (pmix_byte_object_t){.bytes = bytes, .size = bytes ? n : 0};
}

PX_EXPORT void PMIx_Envar_load(pmix_envar_t *dst, char *name, char *value,
                               char separator)
{
    const pmix_envar_t src = {.envar = name, .value = value, .separator = separator};

    if (dst && px_type_copy(PMIX_ENVAR, dst, &src))
        PMIx_Envar_construct(dst);
}

PX_EXPORT void PMIx_Regattr_load(pmix_regattr_t *dst, const char *name, const char *key,
                                 pmix_data_type_t type, const char *description)
{
    if (!dst)
        return;
    if (name) {
        free(dst->name);
        dst->name = strdup(name);
    }
    if (key)
        PMIx_Load_key(dst->string, key);
    dst->type = type;
    if (description)
        PMIx_Argv_append_nosize(&dst->description, description);
}

PX_EXPORT void PMIx_Regattr_xfer(pmix_regattr_t *dst, const pmix_regattr_t *src)
{
    if (dst && (!src || px_type_copy(PMIX_REGATTR, dst, src)))
        PMIx_Regattr_construct(dst);
}

PX_EXPORT void PMIx_Pdata_load(pmix_pdata_t *dst, const pmix_proc_t *proc,
                               const char *key, const void *data, pmix_data_type_t type)
{
    pmix_pdata_t src;

    PMIx_Pdata_construct(&src);
    if (proc)
        src.proc = *proc;
    PMIx_Load_key(src.key, key);
    px_value_borrow(&src.value, data, type); /* PMIX_UNDEF for an unknown type */
    PMIx_Pdata_xfer(dst, &src);
}

PX_EXPORT void PMIx_Pdata_xfer(pmix_pdata_t *dst, pmix_pdata_t *src)
{
    if (dst && (!src || px_type_copy(PMIX_PDATA, dst, src)))
        PMIx_Pdata_construct(dst);
}

/* -- data arrays: arrays with a type and a length ---------------------------------- */

PX_EXPORT void PMIx_Data_array_init(pmix_data_array_t *a, pmix_data_type_t type)
{
    if (a)
        *a = (pmix_data_array_t){.type = type};
}

PX_EXPORT void PMIx_Data_array_construct(pmix_data_array_t *a, size_t n,
                                         pmix_data_type_t type)
{
    if (!a)
        return;
    PMIx_Data_array_init(a, type);
    a->array = px_type_create_array(type, n);
    if (a->array)
        a->size = n;
}

PX_EXPORT pmix_data_array_t *PMIx_Data_array_create(size_t n, pmix_data_type_t type)
{
    pmix_data_array_t *a = malloc(sizeof(*a));

    PMIx_Data_array_construct(a, n, type);
    if (a && a->size != n) {
        free(a);
        return NULL;
    }
    return a;
}

PX_EXPORT void PMIx_Data_array_destruct(pmix_data_array_t *a)
{
    px_type_destruct(PMIX_DATA_ARRAY, a);
}

PX_EXPORT void PMIx_Data_array_free(pmix_data_array_t *a)
{
    px_type_free_array(PMIX_DATA_ARRAY, a, 1);
}

/* -- buffers: packed bytes to send or received ------------------------------------- */

PX_EXPORT void PMIx_Data_buffer_construct(pmix_data_buffer_t *b)
{
    px_type_construct(PMIX_DATA_BUFFER, b);
}

PX_EXPORT pmix_data_buffer_t *PMIx_Data_buffer_create(void)
{
    return px_type_create_array(PMIX_DATA_BUFFER, 1);
}

PX_EXPORT void PMIx_Data_buffer_destruct(pmix_data_buffer_t *b)
{
    px_type_destruct(PMIX_DATA_BUFFER, b);
}

PX_EXPORT void PMIx_Data_buffer_release(pmix_data_buffer_t *b)
{
    px_type_free_array(PMIX_DATA_BUFFER, b, 1);
}

PX_EXPORT void PMIx_Data_buffer_load(pmix_data_buffer_t *b, char *bytes, size_t n)
{
    if (!b)
        return;
    if (bytes != b->base_ptr)
        PMIx_Data_buffer_destruct(b);
    if (!bytes)
        n = 0;
    *b = (pmix_data_buffer_t){.base_ptr = bytes,
                              .pack_ptr = bytes ? bytes + n : NULL,
                              .unpack_ptr = bytes,
                              .bytes_allocated = n,
                              .bytes_used = n};
}

/* Moves the bytes to the start of the memory, so that the caller can free it. */
PX_EXPORT void PMIx_Data_buffer_unload(pmix_data_buffer_t *b, char **bytes, size_t *n)
{
    size_t done = 0, left = 0;

    if (!b || !bytes || !n)
        return;
    if (b->base_ptr && b->unpack_ptr)
        done = (size_t)(b->unpack_ptr - b->base_ptr);
    if (b->base_ptr && b->bytes_used > done)
        left = b->bytes_used - done;

    if (left && done)
        memmove(b->base_ptr, b->unpack_ptr, left);
    if (!left)
        PMIx_Data_buffer_destruct(b);
    *bytes = b->base_ptr;
    *n = left;
    PMIx_Data_buffer_construct(b);
}

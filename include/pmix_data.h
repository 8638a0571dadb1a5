/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions on data: make, fill, copy and free each type; pack and unpack buffers. */
#ifndef PMIX_DATA_H
#define PMIX_DATA_H

#include "pmix_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All functions here may be called from any thread, before PMIx_Init too, and never
 * wait. Two threads must not work on one object at a time. Only PMIx_Data_pack, _unpack
 * and _embed use the library's state, to find the encoding of a peer.
 *
 * Memory comes from malloc, so users may free() the strings and arrays they take out.
 *
 * Families, for a type T:
 *   construct(T *)     sets a T to PMIX_T_STATIC_INIT; earlier content is not freed
 *   destruct(T *)      frees the content of the T and constructs it again, but does not
 *                      free the T itself
 *   create(n)          an array of n constructed T; NULL if n is 0 or memory is short
 *   free(T *, n)       destructs n elements and frees the array itself
 * Destruct and free accept NULL. They do not touch the value of an info with the flag
 * PMIX_INFO_PERSISTENT. PMIX_FAMILY declares PMIx_<Type>_construct and the others.
 *
 * Source: PMIx Standard 5.0, ch. Data Structures and Types. It has the families, and
 * the functions that load and test objects, as macros; the draft after it has
 * functions. Names marked (+) are in neither, but in existing libraries. So are the
 * families of node pids, devices, resource units and statistics.
 */

#define PMIX_FAMILY(Type, type)              \
    void PMIx_##Type##_construct(type *obj); \
    void PMIx_##Type##_destruct(type *obj);  \
    type *PMIx_##Type##_create(size_t n);    \
    void PMIx_##Type##_free(type *array, size_t n);

/* -- Processes ------------------------------------------------------------------- */

PMIX_FAMILY(Proc, pmix_proc_t)

/**
 * Set @p proc to a namespace and a rank (+).
 *
 * @param nspace  copied, cut to PMIX_MAX_NSLEN bytes; NULL leaves the namespace empty
 */
void PMIx_Proc_load(pmix_proc_t *proc, const char *nspace, pmix_rank_t rank);

PMIX_FAMILY(Proc_info, pmix_proc_info_t)
PMIX_FAMILY(Node_pid, pmix_node_pid_t)

/* -- Values ---------------------------------------------------------------------- */

PMIX_FAMILY(Value, pmix_value_t)

/**
 * Fill @p val with a copy of @p data.
 *
 * @param val   overwritten; earlier content is not freed
 * @param data  address of an object of the type: a bool * for PMIX_BOOL, and so on. For
 *              PMIX_STRING the char * itself; for PMIX_POINTER the address to store.
 *              NULL gives an empty value, and true for PMIX_BOOL. Stays the caller's
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if val is NULL; PMIX_ERR_NOMEM;
 *         PMIX_ERR_UNKNOWN_DATA_TYPE. On error val is of type PMIX_UNDEF.
 */
pmix_status_t PMIx_Value_load(pmix_value_t *val, const void *data,
                              pmix_data_type_t type);

/**
 * Copy the content of @p val out.
 *
 * @param val   unchanged
 * @param data  address of a pointer. Numbers and other scalars are copied to the place
 *              *data points to, which must not be NULL. A PMIX_PROC, PMIX_PROC_NSPACE
 *              or PMIX_RESOURCE_UNIT is copied there, too, or to new memory if *data is
 *              NULL. Strings, byte objects and all other types ignore the old *data and
 *              are returned as a new copy; a PMIX_POINTER is returned as it is. The
 *              caller frees each new copy
 * @param size  receives the size of the content in bytes
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument and for a scalar with
 *         NULL in *data; PMIX_ERR_NOMEM; PMIX_ERR_UNKNOWN_DATA_TYPE, also for a value
 *         without type; PMIX_ERR_EMPTY for a value that points nowhere. On error *data
 *         and *size are unchanged.
 */
pmix_status_t PMIx_Value_unload(pmix_value_t *val, void **data, size_t *size);

/**
 * Copy a value with all data it points to.
 *
 * @param dest  overwritten; earlier content is not freed
 * @param src   unchanged; must not be dest
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument; PMIX_ERR_NOMEM;
 *         PMIX_ERR_UNKNOWN_DATA_TYPE. On error dest is of type PMIX_UNDEF.
 */
pmix_status_t PMIx_Value_xfer(pmix_value_t *dest, const pmix_value_t *src);

/**
 * Compare two values of the same type, or two whole numbers (+).
 *
 * Every type has an order: that of its members; handles are ordered by address.
 *
 * @param val1, val2  unchanged
 * @return PMIX_EQUAL, PMIX_VALUE1_GREATER, PMIX_VALUE2_GREATER;
 *         PMIX_VALUE_TYPE_DIFFERENT; PMIX_VALUE_COMPARISON_NOT_AVAIL if one is NULL or
 *         of an unknown type
 */
pmix_value_cmp_t PMIx_Value_compare(pmix_value_t *val1, pmix_value_t *val2);

/**
 * Size of a value in memory, with all data it points to.
 *
 * @param val   unchanged
 * @param size  receives bytes
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM for a NULL argument;
 *         PMIX_ERR_UNKNOWN_DATA_TYPE, also of a value without type
 *
 * PMIx Standard, draft after 5.0, ch. Data Structures and Types.
 */
pmix_status_t PMIx_Value_get_size(const pmix_value_t *val, size_t *size);

/**
 * Convert a numeric value to another numeric type.
 *
 * @param val   unchanged
 * @param dest  address of an object of @p type; unchanged on error
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM if either type is not a number;
 *         PMIX_ERR_LOST_PRECISION if the number does not fit; PMIX_ERR_CHANGE_SIGN if
 *         it is negative and the type is not signed
 *
 * PMIx Standard, draft after 5.0, ch. Data Structures and Types.
 */
pmix_status_t PMIx_Value_get_number(const pmix_value_t *val, void *dest,
                                    pmix_data_type_t type);

/**
 * Read a value as a truth value (+).
 *
 * A value without type counts as true; strings are read as words ("yes", "false", "t")
 * and numbers. All other types except PMIX_BOOL are PMIX_NON_BOOL.
 *
 * @return PMIX_BOOL_TRUE (which is 0), PMIX_BOOL_FALSE or PMIX_NON_BOOL
 */
pmix_boolean_t PMIx_Value_true(const pmix_value_t *val);

/* -- Infos ----------------------------------------------------------------------- */

PMIX_FAMILY(Info, pmix_info_t)

/**
 * Fill @p info with a key and a copy of @p data, flags cleared.
 *
 * @param info  overwritten; earlier content is not freed
 * @param key   copied; at most PMIX_MAX_KEYLEN bytes
 * @param data  as for PMIx_Value_load
 * @return as PMIx_Value_load; PMIX_ERR_BAD_PARAM also for a NULL or overlong key
 */
pmix_status_t PMIx_Info_load(pmix_info_t *info, const char *key, const void *data,
                             pmix_data_type_t type);

/**
 * Copy an info: key, flags and value. The value of a persistent info is shared, not
 * copied.
 *
 * @param dest  overwritten; earlier content is not freed
 * @param src   unchanged
 * @return as PMIx_Value_xfer
 */
pmix_status_t PMIx_Info_xfer(pmix_info_t *dest, const pmix_info_t *src);

/**
 * Size of an info in memory, with all data its value points to.
 *
 * @param size  receives bytes
 * @return as PMIx_Value_get_size
 *
 * PMIx Standard, draft after 5.0, ch. Data Structures and Types.
 */
pmix_status_t PMIx_Info_get_size(const pmix_info_t *info, size_t *size);

/** Truth of an info's value: see PMIx_Value_true. An info without a value is true. */
pmix_boolean_t PMIx_Info_true(const pmix_info_t *info);

/**
 * Set or read the flags of an info; a reader returns true if the flag is set.
 *
 * required: the request fails if the attribute cannot be honoured. optional: clears
 * required. processed: marks a required attribute as honoured. qualifier: qualifies the
 * first info of its array. persistent: the value is not freed with the info. end: last
 * of an array of unknown length; its setter is (+).
 */
void PMIx_Info_required(pmix_info_t *info);
void PMIx_Info_optional(pmix_info_t *info);
void PMIx_Info_processed(pmix_info_t *info);
void PMIx_Info_qualifier(pmix_info_t *info);
void PMIx_Info_persistent(pmix_info_t *info);
void PMIx_Info_set_end(pmix_info_t *info);
bool PMIx_Info_is_required(const pmix_info_t *info);
bool PMIx_Info_is_optional(const pmix_info_t *info);
bool PMIx_Info_was_processed(const pmix_info_t *info);
bool PMIx_Info_is_qualifier(const pmix_info_t *info);
bool PMIx_Info_is_persistent(const pmix_info_t *info);
bool PMIx_Info_is_end(const pmix_info_t *info);

/* -- Lists of infos, for arrays of unknown length --------------------------------- */

/**
 * Start and release a list of infos.
 *
 * @return start: an opaque list, empty; NULL if memory is short
 */
void *PMIx_Info_list_start(void);
void PMIx_Info_list_release(void *list);

/**
 * Append, or prepend, an info made from its parts.
 *
 * @param list  from PMIx_Info_list_start
 * @param key, data, type  as for PMIx_Info_load; copied
 * @return as PMIx_Info_load; the list is unchanged on error
 */
pmix_status_t PMIx_Info_list_add(void *list, const char *key, const void *data,
                                 pmix_data_type_t type);
pmix_status_t PMIx_Info_list_prepend(void *list, const char *key, const void *data,
                                     pmix_data_type_t type);

/**
 * Append an info made of a key and a copy of a value (+). Returns PMIX_ERR_BAD_PARAM
 * for a NULL value, otherwise as PMIx_Info_list_add.
 */
pmix_status_t PMIx_Info_list_add_value(void *list, const char *key,
                                       const pmix_value_t *value);

/** Append a copy of an info to @p list. Returns as PMIx_Info_list_add. */
pmix_status_t PMIx_Info_list_xfer(void *list, const pmix_info_t *info);

/**
 * Append an info without copying the data its value points to (+).
 *
 * The caller owns these data, which must outlive the list. The entry is marked
 * persistent, so that neither the list nor an array converted from it frees them.
 * Returns as PMIx_Info_list_add.
 */
pmix_status_t PMIx_Info_list_insert(void *list, pmix_info_t *info);

/**
 * Work like the functions without "_unique". If the list has the key already, the entry
 * is replaced if @p overwrite is true, and kept otherwise (+). @p value is copied.
 * Returns as PMIx_Info_list_add, PMIX_SUCCESS also for an entry that was kept.
 */
pmix_status_t PMIx_Info_list_add_unique(void *list, const char *key, const void *data,
                                        pmix_data_type_t type, bool overwrite);
pmix_status_t PMIx_Info_list_add_value_unique(void *list, const char *key,
                                              const pmix_value_t *value,
                                              bool overwrite);
pmix_status_t PMIx_Info_list_xfer_unique(void *list, const pmix_info_t *info,
                                         bool overwrite);

/**
 * Copy a list into an array of pmix_info_t.
 *
 * @param list   unchanged
 * @param array  overwritten; the caller destructs it
 * @return PMIX_SUCCESS; PMIX_ERR_EMPTY if the list is empty, array then constructed;
 *         PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_Info_list_convert(void *list, pmix_data_array_t *array);

/** Number of entries; 0 for NULL (+). */
size_t PMIx_Info_list_get_size(void *list);

/**
 * Walk a list.
 *
 * @param prev  NULL for the first entry, otherwise the last value of @p next
 * @param next  receives the place to continue; NULL after the last entry
 * @return the entry, owned by the list; NULL after the end
 */
pmix_info_t *PMIx_Info_list_get_info(void *list, void *prev, void **next);

/* -- Published data -------------------------------------------------------------- */

PMIX_FAMILY(Pdata, pmix_pdata_t)

/**
 * Fill @p dest with publisher @p proc, key and a copy of @p data, as PMIx_Info_load.
 *
 * On failure the value has the type PMIX_UNDEF.
 */
void PMIx_Pdata_load(pmix_pdata_t *dest, const pmix_proc_t *proc, const char *key,
                     const void *data, pmix_data_type_t type);

/**
 * Copy published data from @p src; dest is overwritten. On failure its value has the
 * type PMIX_UNDEF.
 */
void PMIx_Pdata_xfer(pmix_pdata_t *dest, pmix_pdata_t *src);

/* -- Applications and queries ---------------------------------------------------- */

PMIX_FAMILY(App, pmix_app_t)

/** Destruct one application and free it. */
void PMIx_App_release(pmix_app_t *app);

/** Give @p app an array of @p n constructed infos; on failure its info is NULL. */
void PMIx_App_info_create(pmix_app_t *app, size_t n);

PMIX_FAMILY(Query, pmix_query_t)

/** Destruct one query and free it. */
void PMIx_Query_release(pmix_query_t *query);

/** Give @p query @p n constructed qualifiers; on failure its qualifiers are NULL. */
void PMIx_Query_qualifiers_create(pmix_query_t *query, size_t n);

PMIX_FAMILY(Regattr, pmix_regattr_t)

/**
 * Fill an attribute's description. A member given as NULL is unchanged.
 *
 * @param attr         constructed before; NULL is ignored
 * @param name         e.g. "PMIX_TIMEOUT"; copied, replaces the former
 * @param key          e.g. "pmix.timeout"; copied
 * @param type         of the attribute's value
 * @param description  one line; copied, appended to the lines
 */
void PMIx_Regattr_load(pmix_regattr_t *attr, const char *name, const char *key,
                       pmix_data_type_t type, const char *description);

/**
 * Copy an attribute's description from @p src; dest is overwritten, and constructed if
 * src is NULL or memory is short.
 */
void PMIx_Regattr_xfer(pmix_regattr_t *dest, const pmix_regattr_t *src);

/* -- Byte objects, arrays, environment variables ---------------------------------- */

PMIX_FAMILY(Byte_object, pmix_byte_object_t)

/** Put @p size bytes of @p data into @p bo. No copy: @p bo owns data from now on. */
void PMIx_Byte_object_load(pmix_byte_object_t *bo, char *data, size_t size);

/**
 * Set up a data array.
 *
 * init makes an empty array of the type. construct and create make room in @p darray
 * for @p n constructed elements, and overwrite its former content. If memory is short
 * or the type is unknown, array is NULL and size 0, and create returns NULL. destruct
 * frees the elements and their content, free also the pmix_data_array_t itself.
 */
void PMIx_Data_array_init(pmix_data_array_t *darray, pmix_data_type_t type);
void PMIx_Data_array_construct(pmix_data_array_t *darray, size_t n,
                               pmix_data_type_t type);
void PMIx_Data_array_destruct(pmix_data_array_t *darray);
pmix_data_array_t *PMIx_Data_array_create(size_t n, pmix_data_type_t type);
void PMIx_Data_array_free(pmix_data_array_t *darray);

PMIX_FAMILY(Envar, pmix_envar_t)

/**
 * Fill @p envar, overwriting it, with copies of @p name and @p value. @p separator
 * separates parts that are added to the value.
 */
void PMIx_Envar_load(pmix_envar_t *envar, char *name, char *value, char separator);

/* -- Hardware and fabric --------------------------------------------------------- */

/** Family of pmix_coord_t. create: @p n of them with room for @p dims numbers each. */
void PMIx_Coord_construct(pmix_coord_t *coord);
void PMIx_Coord_destruct(pmix_coord_t *coord);
pmix_coord_t *PMIx_Coord_create(size_t dims, size_t n);
void PMIx_Coord_free(pmix_coord_t *coords, size_t n);

PMIX_FAMILY(Geometry, pmix_geometry_t)
PMIX_FAMILY(Device, pmix_device_t)
PMIX_FAMILY(Device_distance, pmix_device_distance_t)
PMIX_FAMILY(Endpoint, pmix_endpoint_t)
PMIX_FAMILY(Resource_unit, pmix_resource_unit_t)

/* -- Resource usage (not in OpenPMIx since 6.1; kept for older programs) ---------- */

PMIX_FAMILY(Proc_stats, pmix_proc_stats_t)
PMIX_FAMILY(Disk_stats, pmix_disk_stats_t)
PMIX_FAMILY(Net_stats, pmix_net_stats_t)
PMIX_FAMILY(Node_stats, pmix_node_stats_t)

/* -- Short lists of nodes and ranks ------------------------------------------------ */

/* (+). PMIx_generate_regex2 fills one. */
PMIX_FAMILY(Regex2, pmix_regex2_t)

/* -- Packing and unpacking ------------------------------------------------------- */

/*
 * Source: PMIx Standard 5.0, ch. Data Packing and Unpacking.
 */

/** Family of pmix_data_buffer_t; create makes a single one, release destructs and frees
 * it. */
void PMIx_Data_buffer_construct(pmix_data_buffer_t *buffer);
void PMIx_Data_buffer_destruct(pmix_data_buffer_t *buffer);
pmix_data_buffer_t *PMIx_Data_buffer_create(void);
void PMIx_Data_buffer_release(pmix_data_buffer_t *buffer);

/**
 * Fill @p buffer with @p size received packed bytes, ready to be unpacked.
 *
 * Its former contents are freed. No copy: the buffer owns @p bytes, malloc'd, from now
 * on.
 */
void PMIx_Data_buffer_load(pmix_data_buffer_t *buffer, char *bytes, size_t size);

/**
 * Move the bytes not yet unpacked out of @p buffer, which is empty afterwards.
 *
 * @param bytes  receives malloc'd bytes, which the caller frees; NULL if empty
 * @param size   receives their number
 */
void PMIx_Data_buffer_unload(pmix_data_buffer_t *buffer, char **bytes, size_t *size);

/**
 * Append @p num_vals values to a buffer, in the encoding of @p target.
 *
 * @param target    process that will unpack; NULL for this process's server, or itself
 *                  without a server
 * @param buffer    grows as needed; unchanged on error
 * @param src       array of values of @p type; for PMIX_STRING an array of char *
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_UNKNOWN_DATA_TYPE;
 *         PMIX_ERR_PACK_FAILURE; PMIX_ERR_NOMEM; PMIX_ERR_INIT before initialization
 */
pmix_status_t PMIx_Data_pack(const pmix_proc_t *target, pmix_data_buffer_t *buffer,
                             void *src, int32_t num_vals, pmix_data_type_t type);

/**
 * Unpack the next values of a buffer.
 *
 * @param source          process that packed; NULL as for PMIx_Data_pack
 * @param dest            room for *max_num_values values; data they point to are
 *                        malloc'd and the caller's
 * @param max_num_values  in: room in dest; out: values unpacked
 * @return PMIX_SUCCESS; PMIX_ERR_UNPACK_INADEQUATE_SPACE for more values than room,
 *         dest then holds as many as fit; PMIX_ERR_UNPACK_READ_PAST_END_OF_BUFFER at
 *         the end; PMIX_ERR_TYPE_MISMATCH, after which another type may be tried;
 *         PMIX_ERR_UNPACK_FAILURE; PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_BAD_PARAM;
 *         PMIX_ERR_NOMEM; PMIX_ERR_INIT before initialization
 */
pmix_status_t PMIx_Data_unpack(const pmix_proc_t *source, pmix_data_buffer_t *buffer,
                               void *dest, int32_t *max_num_values,
                               pmix_data_type_t type);

/**
 * Copy one object of any type with all data it points to.
 *
 * @param dest  receives a malloc'd copy, which the caller frees with the type's free
 * @param src   address of the object; for PMIX_STRING the char * itself
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_Data_copy(void **dest, void *src, pmix_data_type_t type);

/**
 * Append the bytes not yet unpacked in @p src to @p dest; src is unchanged.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_Data_copy_payload(pmix_data_buffer_t *dest, pmix_data_buffer_t *src);

/**
 * Write an object as text.
 *
 * @param output  receives a malloc'd string, which the caller frees
 * @param prefix  begins each line; NULL for none
 * @param src     address of an object of @p type; for PMIX_STRING the char * itself
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_Data_print(char **output, char *prefix, void *src,
                              pmix_data_type_t type);

/**
 * Move the bytes of a payload into an empty buffer. The payload is constructed again.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM
 */
pmix_status_t PMIx_Data_load(pmix_data_buffer_t *buffer, pmix_byte_object_t *payload);

/**
 * Move the bytes not yet unpacked into @p payload, which the caller destructs.
 *
 * The buffer is empty afterwards.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_Data_unload(pmix_data_buffer_t *buffer, pmix_byte_object_t *payload);

/**
 * Replace the content of a buffer by a copy of a payload; the caller keeps the
 * payload.
 *
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_NOMEM
 */
pmix_status_t PMIx_Data_embed(pmix_data_buffer_t *buffer,
                              const pmix_byte_object_t *payload);

/**
 * Compress, or expand, bytes without loss.
 *
 * @param inbytes   size bytes; stay the caller's
 * @param outbytes  receives malloc'd bytes, which the caller frees
 * @param nbytes    receives their number
 * @return true if it was done; false, with nothing allocated, if the input is too small
 *         to gain, cannot be expanded, or memory or the means are missing
 */
bool PMIx_Data_compress(const uint8_t *inbytes, size_t size, uint8_t **outbytes,
                        size_t *nbytes);
bool PMIx_Data_decompress(const uint8_t *inbytes, size_t size, uint8_t **outbytes,
                          size_t *nbytes);

#undef PMIX_FAMILY

#ifdef __cplusplus
}
#endif
#endif

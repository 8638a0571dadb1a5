/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that describes every public data type once, and the walkers over it.
 * Everything that copies, destroys, compares, prints, sizes, packs or unpacks a value
 * reads this table. */
#ifndef PX_TYPES_TYPE_H
#define PX_TYPES_TYPE_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>
#include <stdint.h>

/* How a leaf is stored in memory. The wire layer decides from this (and nothing else)
 * how it is written; PX_STRUCT types are written field by field, in table order. */
enum px_store {
    PX_NONE, /* UNDEF: nothing stored, nothing written */
    PX_BOOL,
    PX_BYTE1,  /* any 8-bit scalar, written as one byte */
    PX_INT16,  /* signed */
    PX_INT32,  /* signed: INT32, STATUS */
    PX_INT64,  /* signed */
    PX_UINT16, /* UINT16, DATA_TYPE, IOF_CHANNEL, LOCTYPE, ... */
    PX_UINT32, /* UINT32, PROC_RANK, INFO_DIRECTIVES */
    PX_UINT64, /* UINT64, DEVTYPE, STOR_* */
    PX_INT,    /* C int: tagged in the fixed encoding */
    PX_UINT,   /* C unsigned: likewise, and zigzag in flex */
    PX_SIZE,   /* size_t: tagged in fixed */
    PX_PID,    /* pid_t: tagged in both */
    PX_TIME,   /* time_t as uint64 */
    PX_TIMEVAL,
    PX_FLOAT,
    PX_DOUBLE,
    PX_STRING,  /* char *, NULL allowed */
    PX_POINTER, /* void *: only its presence travels */
    PX_BYTES,   /* pmix_byte_object_t */
    PX_DBUF,    /* pmix_data_buffer_t: its payload as bytes */
    PX_VALUE,   /* pmix_value_t: data type, then the value */
    PX_DARRAY,  /* pmix_data_array_t: data type, size, elements */
    PX_NSPACE,  /* char[PMIX_MAX_NSLEN + 1], written as a string */
    PX_KEY,     /* char[PMIX_MAX_KEYLEN + 1], written as a string */
    PX_REGEX,   /* pmix_byte_object_t whose bytes are written with no length */
    PX_CPUSET,  /* pmix_cpuset_t: see handle.h; wire form is the hwloc list */
    PX_TOPO,    /* pmix_topology_t: see handle.h; wire form is XML */
    PX_STRUCT,
};

enum px_many {
    PX_ONE,      /* the member itself */
    PX_COUNTED,  /* pointer at offset, size_t at count_offset; written SIZE n first */
    PX_STRV_INT, /* char ** ending in NULL, written INT n first */
    PX_STRV_I32, /* char ** ending in NULL, written INT32 n first */
};

struct px_field {
    const char *name;
    pmix_data_type_t type; /* of the member or of one element */
    uint8_t store; /* enum px_store override for char arrays, else that of the type */
    uint8_t many;  /* enum px_many */
    uint16_t offset;
    uint16_t count_offset;
};

enum px_in_value {
    PX_VALUE_NO,      /* not a legal pmix_value_t payload */
    PX_VALUE_INLINE,  /* stored in the union itself */
    PX_VALUE_POINTER, /* the union holds a pointer to a malloc'd object */
};

struct px_type {
    pmix_data_type_t id;
    uint8_t store;     /* enum px_store */
    uint8_t in_value;  /* enum px_in_value */
    uint8_t n_fields;  /* that travel, in wire order */
    uint8_t n_local;   /* further ones after them, of flat types, that never travel */
    bool flat;         /* owns no memory: a struct copy is a copy */
    uint16_t size;     /* bytes in memory */
    uint16_t min_wire; /* least bytes of one element in any encoding: bounds counts */
    const char *name;  /* "PMIX_PROC" */
    const struct px_field *fields;
};

/* The rows by number, and how many there are; the holes have no name. */
extern const struct px_type px_types[];
extern const pmix_data_type_t px_n_types;

/* NULL if there is no such type (holes, deprecated without support, out of range). */
static inline const struct px_type *px_type_find(pmix_data_type_t id)
{
    return id < px_n_types && px_types[id].name ? &px_types[id] : NULL;
}

/* -- walkers: each works on one object of the given type --------------------------- */

/* Sets up an empty object, whatever was there before; its ranks name no process. */
void px_type_construct(pmix_data_type_t id, void *obj);
/* n constructed elements in malloc memory; NULL if n is 0 or memory is out. */
void *px_type_create_array(pmix_data_type_t id, size_t n);
/* Deep copy into uninitialised *dst; on failure *dst holds nothing to destroy.
 * PMIX_ERR_NOMEM, PMIX_ERR_UNKNOWN_DATA_TYPE; PMIX_ERR_NOT_SUPPORTED for a cpuset or
 * topology that is not hwloc's. A copied info owns its value, so it is not
 * PMIX_INFO_PERSISTENT. */
pmix_status_t px_type_copy(pmix_data_type_t id, void *dst, const void *src);
/* Copies n elements into fresh malloc memory. n == 0 gives NULL; *dst is unchanged on
 * failure. */
pmix_status_t px_type_copy_array(pmix_data_type_t id, void **dst, const void *src,
                                 size_t n);
/* Frees what the object owns and zeroes it; not the object itself. The value of an info
 * that is PMIX_INFO_PERSISTENT is not the info's, and stays. */
void px_type_destruct(pmix_data_type_t id, void *obj);
/* destructs n elements, then frees the array itself. */
void px_type_free_array(pmix_data_type_t id, void *array, size_t n);
/* Total order by content: <0, 0, >0. Addresses and
 * handles of unknown sources compare by address, NULL is least. */
int px_type_compare(pmix_data_type_t id, const void *a, const void *b);
/* Bytes of memory the object takes, itself included. */
size_t px_type_size(pmix_data_type_t id, const void *obj);
/* One line (nested data in braces), malloc'd; NULL when out of memory. */
char *px_type_print(pmix_data_type_t id, const void *obj);

/* -- values ------------------------------------------------------------------------ */

/* Address of the payload of v for its type (follows the pointer kind); NULL if none. */
void *px_value_payload(const pmix_value_t *v);
/* Points v at data without copying: v borrows. data is as for PMIx_Value_load. */
pmix_status_t px_value_borrow(pmix_value_t *v, const void *data, pmix_data_type_t type);
/* Numbers of any integer type, converted if the value fits, else false. Hosts vary in
 * the type they use for a key; readers convert, they do not refuse. UNDEF is false. */
bool px_value_to_u64(const pmix_value_t *v, uint64_t *out);
bool px_value_to_u32(const pmix_value_t *v, uint32_t *out);
bool px_value_to_i64(const pmix_value_t *v, int64_t *out);
/* PMIX_BOOL, or any type: UNDEF counts as true (present), numbers by != 0, strings
 * "true/yes/1". */
bool px_value_truth(const pmix_value_t *v);
/* The string of a PMIX_STRING value, else NULL. */
const char *px_value_string(const pmix_value_t *v);
/* Borrows the infos of an array; false if the value is none. */
bool px_value_infos(const pmix_value_t *v, const pmix_info_t **infos, size_t *n);

/* -- info arrays ------------------------------------------------------------------- */

const pmix_info_t *px_info_find(const pmix_info_t *info, size_t n, const char *key);
/* Whether the key is present and true. */
bool px_info_flag(const pmix_info_t *info, size_t n, const char *key);
/* def if absent or of a non-numeric type. */
uint32_t px_info_u32(const pmix_info_t *info, size_t n, const char *key, uint32_t def);
const char *px_info_str(const pmix_info_t *info, size_t n, const char *key);

/* Changes a malloc'd environment as the key wants it: PMIX_SET_ENVAR, PMIX_ADD_ENVAR,
 * PMIX_PREPEND_ENVAR or PMIX_APPEND_ENVAR. PMIX_ERR_BAD_PARAM for no name or no value,
 * too. */
pmix_status_t px_env_change(char ***env, const char *key, const pmix_envar_t *e);

/* A growing info array, for building what goes to hosts and peers. */
typedef struct px_infos {
    pmix_info_t *v;
    size_t n, cap;
} px_infos;

pmix_status_t px_infos_add(px_infos *l, const char *key, const void *data,
                           pmix_data_type_t type); /* as PMIx_Info_load */
pmix_status_t px_infos_add_value(px_infos *l, const char *key,
                                 const pmix_value_t *value);
pmix_status_t px_infos_add_copy(px_infos *l, const pmix_info_t *info, size_t n);
void px_infos_drop(px_infos *l, const char *key);
/* In place of whatever the list holds under key. */
pmix_status_t px_infos_set(px_infos *l, const char *key, const void *data,
                           pmix_data_type_t type);
/* Appends to l a DATA_ARRAY of INFO under key; takes the members, whose list is then
 * empty. On failure both are unchanged. */
pmix_status_t px_infos_add_array(px_infos *l, const char *key, px_infos *members);
void px_infos_cleanup(px_infos *l);

/* -- procs ------------------------------------------------------------------------- */

bool px_proc_same(const pmix_proc_t *a, const pmix_proc_t *b); /* exact */
/* rank WILDCARD on either side matches every rank of that nspace. */
bool px_proc_match(const pmix_proc_t *a, const pmix_proc_t *b);
void px_proc_set(pmix_proc_t *p, const char *nspace, pmix_rank_t rank);

#endif

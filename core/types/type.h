/* SPDX-License-Identifier: BSD-3-Clause */
/* The table that describes every public data type once, and the walkers over it. All
 * code that copies, destroys, compares, prints, sizes, packs or unpacks a value reads
 * this table. */
#ifndef PX_TYPES_TYPE_H
#define PX_TYPES_TYPE_H

#include "core/base/attr.h"
#include "pmix_common.h"

#include <stdbool.h>
#include <stdint.h>

/* Storage forms of leaves in memory. The wire layer chooses the encoding by the form
 * alone. PX_STRUCT types are written field by field, in table order. */
enum px_store {
    PX_NONE, /* UNDEF: stores and writes nothing */
    PX_BOOL,
    PX_BYTE1,  /* any 8-bit scalar, written as one byte */
    PX_INT16,  /* signed */
    PX_INT32,  /* signed: INT32, STATUS */
    PX_INT64,  /* signed */
    PX_UINT16, /* UINT16, DATA_TYPE, IOF_CHANNEL, LOCTYPE, ... */
    PX_UINT32, /* UINT32, PROC_RANK, INFO_DIRECTIVES */
    PX_UINT64, /* UINT64, DEVTYPE, STOR_* */
    PX_INT,    /* C int: tagged in the fixed encoding */
    PX_UINT,   /* C unsigned: tagged, too, and zigzag in flex */
    PX_SIZE,   /* size_t: tagged in fixed */
    PX_PID,    /* pid_t: tagged in both encodings */
    PX_TIME,   /* time_t as uint64 */
    PX_TIMEVAL,
    PX_FLOAT,
    PX_DOUBLE,
    PX_STRING,  /* char *, NULL allowed */
    PX_POINTER, /* void *: only its presence is written */
    PX_BYTES,   /* pmix_byte_object_t */
    PX_DBUF,    /* pmix_data_buffer_t: its payload, as bytes */
    PX_VALUE,   /* pmix_value_t: data type, then the value */
    PX_DARRAY,  /* pmix_data_array_t: data type, size, elements */
    PX_NSPACE,  /* char[PMIX_MAX_NSLEN + 1], written as a string */
    PX_KEY,     /* char[PMIX_MAX_KEYLEN + 1], written as a string */
    PX_REGEX,   /* pmix_byte_object_t, bytes written without a length */
    PX_CPUSET,  /* pmix_cpuset_t (handle.h), written as hwloc's list */
    PX_TOPO,    /* pmix_topology_t (handle.h), written as XML */
    PX_STRUCT,
};

enum px_many {
    PX_ONE,      /* the member itself */
    PX_COUNTED,  /* pointer at offset, size_t at count_offset; SIZE n is written
                  * first */
    PX_STRV_INT, /* char ** ending in NULL; INT n precedes the strings */
    PX_STRV_I32, /* char ** ending in NULL; INT32 n precedes the strings */
};

struct px_field {
    const char *name;
    pmix_data_type_t type; /* of the member or of one element */
    uint8_t store;         /* enum px_store; differs from the type's for char arrays */
    uint8_t many;          /* enum px_many */
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
    uint8_t n_fields;  /* written fields, in wire order */
    uint8_t n_local;   /* fields after those, of flat types, which are never written */
    bool flat;         /* owns no memory: a struct copy suffices */
    uint16_t size;     /* bytes in memory */
    uint16_t min_wire; /* least bytes of an element in any encoding, to bound counts */
    const char *name;  /* "PMIX_PROC" */
    const struct px_field *fields;
};

/* The rows by number, and their count. Unused numbers have no name. */
extern const struct px_type px_types[];
extern const pmix_data_type_t px_n_types;

/* Returns the type, or NULL for unused, unsupported and out-of-range numbers. */
static inline const struct px_type *px_type_find(pmix_data_type_t id)
{
    return id < px_n_types && px_types[id].name ? &px_types[id] : NULL;
}

/* -- walkers: each handles one object of the given type ---------------------------- */

/* Sets up an empty object, whatever obj contained. Ranks are PMIX_RANK_UNDEF. */
void px_type_construct(pmix_data_type_t id, void *obj);
/* Returns n constructed elements in malloc memory. NULL if n is 0 or memory is out. */
void *px_type_create_array(pmix_data_type_t id, size_t n);
/* Copies deeply into uninitialised *dst. On failure *dst owns nothing. Returns
 * PMIX_ERR_NOMEM, PMIX_ERR_UNKNOWN_DATA_TYPE, or PMIX_ERR_NOT_SUPPORTED for a cpuset or
 * topology of another source than hwloc. A copied info owns its value, so
 * PMIX_INFO_PERSISTENT is cleared. */
pmix_status_t px_type_copy(pmix_data_type_t id, void *dst, const void *src);
/* Copies n elements into new malloc memory. n == 0 gives NULL. On failure *dst is
 * unchanged. */
pmix_status_t px_type_copy_array(pmix_data_type_t id, void **dst, const void *src,
                                 size_t n);
/* Frees the memory that the object owns and zeroes the object. The value of a
 * PMIX_INFO_PERSISTENT info has another owner and is not freed. */
void px_type_destruct(pmix_data_type_t id, void *obj);
/* Destructs n elements, then frees the array. */
void px_type_free_array(pmix_data_type_t id, void *array, size_t n);
/* Compares by content; a total order. Returns <0, 0 or >0. Pointers and handles of
 * unknown sources compare by address; NULL is least. */
int px_type_compare(pmix_data_type_t id, const void *a, const void *b);
/* Returns the object's size in memory, including the memory that it owns. */
size_t px_type_size(pmix_data_type_t id, const void *obj);
/* Prints one line (nested data in braces), malloc'd. NULL when out of memory. */
char *px_type_print(pmix_data_type_t id, const void *obj);

/* -- values ------------------------------------------------------------------------ */

/* Returns the address of v's payload, after following the pointer kind. NULL if
 * none. */
void *px_value_payload(const pmix_value_t *v);
/* Makes v refer to data without a copy. data is as for PMIx_Value_load. */
pmix_status_t px_value_borrow(pmix_value_t *v, const void *data, pmix_data_type_t type);
/* Convert a number of any integer type if the value fits, otherwise return false. Hosts
 * use different types for a key, so readers convert. UNDEF gives false. */
bool px_value_to_u64(const pmix_value_t *v, uint64_t *out);
bool px_value_to_u32(const pmix_value_t *v, uint32_t *out);
bool px_value_to_i64(const pmix_value_t *v, int64_t *out);
/* Converts any value to a truth value. UNDEF (key present), numbers other than 0, and
 * strings such as "true", "yes", "1" are true. */
bool px_value_truth(const pmix_value_t *v);
/* Returns the string of a PMIX_STRING value, otherwise NULL. */
const char *px_value_string(const pmix_value_t *v);
/* Borrows the infos of an array of infos. False if the value is of another type. */
bool px_value_infos(const pmix_value_t *v, const pmix_info_t **infos, size_t *n);

/* -- info arrays ------------------------------------------------------------------- */

const pmix_info_t *px_info_find(const pmix_info_t *info, size_t n, const char *key);
/* True if the key is present and true. */
bool px_info_flag(const pmix_info_t *info, size_t n, const char *key);
/* Returns the number, or def if key is absent or not numeric. */
uint32_t px_info_u32(const pmix_info_t *info, size_t n, const char *key, uint32_t def);
const char *px_info_str(const pmix_info_t *info, size_t n, const char *key);

/* A growable info array, for requests to hosts and peers. */
typedef struct px_infos {
    pmix_info_t *v;
    size_t n, cap;
} px_infos;

pmix_status_t px_infos_add(px_infos *l, const char *key, const void *data,
                           pmix_data_type_t type); /* like PMIx_Info_load */
struct px_fact {
    const char *key;
    const void *data; /* NULL: no such fact */
    pmix_data_type_t type;
};
pmix_status_t px_facts_add(px_infos *l, const struct px_fact *facts, size_t n);
pmix_status_t px_infos_add_value(px_infos *l, const char *key,
                                 const pmix_value_t *value);
pmix_status_t px_infos_add_copy(px_infos *l, const pmix_info_t *info, size_t n);
void px_infos_drop(px_infos *l, const char *key);
/* Replaces all infos with this key. */
pmix_status_t px_infos_set(px_infos *l, const char *key, const void *data,
                           pmix_data_type_t type);
/* Appends a DATA_ARRAY of INFO under key and takes over members, which becomes empty.
 * On failure both lists are unchanged. */
pmix_status_t px_infos_add_array(px_infos *l, const char *key, px_infos *members);
void px_infos_cleanup(px_infos *l);

/* -- procs ------------------------------------------------------------------------- */

bool px_proc_same(const pmix_proc_t *a, const pmix_proc_t *b); /* exact */
/* True if both have the same namespace and rank, or one rank is WILDCARD. */
bool px_proc_match(const pmix_proc_t *a, const pmix_proc_t *b);
void px_proc_set(pmix_proc_t *p, const char *nspace, pmix_rank_t rank);

#endif

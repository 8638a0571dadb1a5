/* SPDX-License-Identifier: BSD-3-Clause */
/* Helpers: names of values, text of objects, process identities, string arrays. */
#ifndef PMIX_UTIL_H
#define PMIX_UTIL_H

#include "pmix_types.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * All functions here may be called from any thread, before PMIx_Init too, and never
 * wait.
 *
 * Source: PMIx Standard 5.0, ch. Data Structures and Types. It has the functions on
 * keys, identities and string arrays as macros; the draft after it has functions. Names
 * marked (+) are in neither, but in existing libraries.
 */

/* -- Names of values ------------------------------------------------------------- */

/**
 * Name of a value. Functions for resource block directives, comparisons and group
 * operations are (+).
 *
 * @return a constant string, never NULL; a text of its own for a value without a name
 */
const char *PMIx_Error_string(pmix_status_t status);
const char *PMIx_Proc_state_string(pmix_proc_state_t state);
const char *PMIx_Job_state_string(pmix_job_state_t state);
const char *PMIx_Scope_string(pmix_scope_t scope);
const char *PMIx_Data_range_string(pmix_data_range_t range);
const char *PMIx_Persistence_string(pmix_persistence_t persistence);
const char *PMIx_Data_type_string(pmix_data_type_t type);
const char *PMIx_Alloc_directive_string(pmix_alloc_directive_t directive);
const char *PMIx_Alloc_inheritance_string(pmix_alloc_inheritance_t inheritance);
const char *PMIx_Resource_block_directive_string(
    pmix_resource_block_directive_t directive);
const char *PMIx_IOF_channel_string(pmix_iof_channel_t channel);
const char *PMIx_Link_state_string(pmix_link_state_t state);
const char *PMIx_Device_type_string(pmix_device_type_t type);
const char *PMIx_Value_comparison_string(pmix_value_cmp_t cmp);
const char *PMIx_Group_operation_string(pmix_group_operation_t operation);

/**
 * Names of the flags set, separated by ':'.
 *
 * @return a malloc'd string, which the caller frees; NULL if memory is short
 */
char *PMIx_Info_directives_string(pmix_info_directives_t directives);

/**
 * Status of a name (+), the inverse of PMIx_Error_string.
 *
 * @param name  with or without the leading "PMIX_"; case does not matter
 * @return the status, e.g. PMIX_ERR_NOT_FOUND; INT32_MIN for an unknown name or NULL
 */
pmix_status_t PMIx_Error_code(const char *name);

/**
 * Key of an attribute's name, and name of a key: "PMIX_TIMEOUT" and "pmix.timeout".
 *
 * If several names share a key, the name returned is never an obsolete one. Keys that
 * later releases use for an attribute are known too.
 *
 * @param name, key  case does not matter
 * @return a constant string; @p name or @p key itself if the dictionary does not have
 *         it, and so NULL for NULL
 */
const char *PMIx_Get_attribute_string(const char *name);
const char *PMIx_Get_attribute_name(const char *key);

/**
 * Text of an object for people to read, on one or more lines (+).
 *
 * @return a malloc'd string, which the caller frees; NULL if memory is short
 */
char *PMIx_Value_string(const pmix_value_t *value);
char *PMIx_Info_string(const pmix_info_t *info);
char *PMIx_Proc_string(const pmix_proc_t *proc);
char *PMIx_Resource_unit_string(const pmix_resource_unit_t *unit);
char *PMIx_App_string(const pmix_app_t *app);

/* -- Keys, namespaces, ranks, processes ------------------------------------------- */

/**
 * Copy @p src into @p key or @p nspace.
 *
 * Cut to fit and always terminated; the rest is filled with zero. NULL gives an empty
 * key or namespace.
 */
void PMIx_Load_key(pmix_key_t key, const char *src);
void PMIx_Load_nspace(pmix_nspace_t nspace, const char *src);

/** Set namespace and rank of @p proc; @p nspace as for PMIx_Load_nspace. */
void PMIx_Load_procid(pmix_proc_t *proc, const char *nspace, pmix_rank_t rank);

/** Copy a process's identity from @p src to @p dest; do nothing if either is NULL. */
void PMIx_Xfer_procid(pmix_proc_t *dest, const pmix_proc_t *src);

/** Returns true if @p key1 and @p key2 are equal. False if either is NULL. */
bool PMIx_Check_key(const char *key1, const char *key2);

/** Returns true if the Standard reserves the key: it begins with "pmix". */
bool PMIx_Check_reserved_key(const char *key);

/**
 * Returns true if @p nspace1 and @p nspace2 match: equal, or one of them invalid, which
 * matches all.
 */
bool PMIx_Check_nspace(const char *nspace1, const char *nspace2);

/** Returns true if @p rank1 and @p rank2 match: equal, or one PMIX_RANK_WILDCARD. */
bool PMIx_Check_rank(pmix_rank_t rank1, pmix_rank_t rank2);

/**
 * Returns true if @p proc1 and @p proc2 match by PMIx_Check_nspace and PMIx_Check_rank.
 * False if either is NULL.
 */
bool PMIx_Check_procid(const pmix_proc_t *proc1, const pmix_proc_t *proc2);

/** Returns true if a namespace is NULL or empty. */
bool PMIx_Nspace_invalid(const char *nspace);

/** Returns true if a rank is not a special value. */
bool PMIx_Rank_valid(pmix_rank_t rank);

/** Returns true if the namespace is invalid or the rank is PMIX_RANK_INVALID. */
bool PMIx_Procid_invalid(const pmix_proc_t *proc);

/* -- Arrays of strings, NULL-terminated, all malloc'd ------------------------------ */

/**
 * Add a copy of @p arg at the end, or at the front, of @p *argv.
 *
 * @param argv  *argv may be NULL, which is an empty array; moved as it grows
 * @return PMIX_SUCCESS; PMIX_ERR_BAD_PARAM; PMIX_ERR_OUT_OF_RESOURCE if memory is short
 */
pmix_status_t PMIx_Argv_append_nosize(char ***argv, const char *arg);
pmix_status_t PMIx_Argv_prepend_nosize(char ***argv, const char *arg);

/** Works like PMIx_Argv_append_nosize, but adds nothing if an equal string exists. */
pmix_status_t PMIx_Argv_append_unique_nosize(char ***argv, const char *arg);

/** Free the strings and the array; NULL is accepted. */
void PMIx_Argv_free(char **argv);

/** Number of strings; 0 for NULL. */
int PMIx_Argv_count(char **argv);

/** Copy of the strings and the array; NULL for NULL or if memory is short. */
char **PMIx_Argv_copy(char **argv);

/**
 * Join the strings of @p argv with @p delimiter between them.
 *
 * @return a malloc'd string, which the caller frees: empty for an empty array, NULL if
 *         memory is short
 */
char *PMIx_Argv_join(char **argv, int delimiter);

/**
 * Cut @p src at each @p delimiter.
 *
 * split leaves empty parts out. split_with_empty keeps them, except one at the end.
 * split_inter (+) keeps them if @p include_empty.
 *
 * @return a new array, which the caller frees with PMIx_Argv_free; NULL if there are no
 *         parts or memory is short
 */
char **PMIx_Argv_split(const char *src, int delimiter);
char **PMIx_Argv_split_with_empty(const char *src, int delimiter);
char **PMIx_Argv_split_inter(const char *src, int delimiter, bool include_empty);

/**
 * Set a variable in an environment array.
 *
 * @param name       copied
 * @param value      copied; NULL sets "NAME=", and removes the variable from environ
 * @param overwrite  false leaves an existing variable alone
 * @param env        address of an array of "NAME=value", moved as it grows. The address
 *                   of environ sets the variable in this process
 * @return PMIX_SUCCESS; PMIX_ERR_EXISTS if the variable was left alone;
 *         PMIX_ERR_BAD_PARAM; PMIX_ERR_OUT_OF_RESOURCE if memory is short
 */
pmix_status_t PMIx_Setenv(const char *name, const char *value, bool overwrite,
                          char ***env);

/**
 * Put the name of a cluster before a namespace, and take the two apart again. Do
 * nothing if an argument is NULL.
 *
 * @param target   "<cluster>:<nspace>", received cut to PMIX_MAX_NSLEN characters
 * @param cluster  receives the part before the first colon; empty without one
 * @param nspace   receives the rest; all of it without a colon
 */
void PMIx_Multicluster_nspace_construct(pmix_nspace_t target, pmix_nspace_t cluster,
                                        pmix_nspace_t nspace);
void PMIx_Multicluster_nspace_parse(pmix_nspace_t target, pmix_nspace_t cluster,
                                    pmix_nspace_t nspace);

/** Make a fabric empty and unregistered, like PMIX_FABRIC_STATIC_INIT. NULL is ignored.
 * Any thread, also before init; does not block. */
void PMIx_Fabric_construct(pmix_fabric_t *fabric);

#ifdef __cplusplus
}
#endif
#endif

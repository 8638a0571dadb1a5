/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to PMIX_QUERY_ATTRIBUTE_SUPPORT, in two forms. In OpenPMIx's form, a
 * qualifier like PMIX_CLIENT_ATTRIBUTES names functions, or none for all. The result
 * for a qualifier is an array of infos: functions with their attributes, or the level
 * with its functions. In the Standard's form, the query's other keys are functions. The
 * result for a function is an array of infos: levels with the function's attributes,
 * PMIX_UNDEF if there are none. */
#include "core/role/support.h"

#include "core/base/strv.h"
#include "core/types/keys.h"

#include <string.h>

#include <pmix_tool.h>

static const char *const attribute_keys[PX_N_LEVELS] = {
    [PX_LEVEL_CLIENT] = PMIX_CLIENT_ATTRIBUTES,
    [PX_LEVEL_SERVER] = PMIX_SERVER_ATTRIBUTES,
    [PX_LEVEL_TOOL] = PMIX_TOOL_ATTRIBUTES,
    [PX_LEVEL_HOST] = PMIX_HOST_ATTRIBUTES,
};
static const char *const function_keys[PX_N_LEVELS] = {
    [PX_LEVEL_CLIENT] = PMIX_CLIENT_FUNCTIONS,
    [PX_LEVEL_SERVER] = PMIX_SERVER_FUNCTIONS,
    [PX_LEVEL_TOOL] = PMIX_TOOL_FUNCTIONS,
    [PX_LEVEL_HOST] = PMIX_HOST_FUNCTIONS,
};

/* Limit of items in the answer to one request, far above the real number. A short
 * request that repeats names could otherwise cost gigabytes. */
#define MAX_ITEMS  16384u
#define LIST_ITEMS 256u /* approximate number of functions of a level */

/* Answers, and the number of items (attributes, or functions in a list) that still
 * fit. */
struct answers {
    px_infos *infos;
    size_t left;
};

static pmix_status_t spend(struct answers *a, size_t n)
{
    if (n > a->left)
        return PMIX_ERR_OUT_OF_RESOURCE;
    a->left -= n;
    return PMIX_SUCCESS;
}

/* ---- one function's attributes --------------------------------------------------- */

/* Ranges of valid values. pmix_regattr_t has no member for ranges in any release, so
 * each limit is a line of the description. */
static const struct {
    const char *name, *range;
} ranges[] = {
    {"PMIX_TIMEOUT", "PMIX_MIN_VALUE=0"},
    {"PMIX_MONITOR_HEARTBEAT_TIME", "PMIX_MIN_VALUE=1"},
    {"PMIX_MONITOR_FILE_CHECK_TIME", "PMIX_MIN_VALUE=1"},
    {"PMIX_MONITOR_RESOURCE_RATE", "PMIX_MIN_VALUE=1"},
    {"PMIX_RANGE", "PMIX_MIN_VALUE=0"},
    {"PMIX_RANGE", "PMIX_MAX_VALUE=7"}, /* PMIX_RANGE_PROC_LOCAL */
    {"PMIX_JOB_CTRL_SIGNAL", "PMIX_MIN_VALUE=1"},
    {"PMIX_JOB_CTRL_SIGNAL", "PMIX_MAX_VALUE=64"},
    {"PMIX_LOG_SYSLOG_PRI", "PMIX_MIN_VALUE=0"},
    {"PMIX_LOG_SYSLOG_PRI", "PMIX_MAX_VALUE=7"},
    {"PMIX_TCP_IPV4_PORT", "PMIX_MIN_VALUE=0"},
    {"PMIX_TCP_IPV4_PORT", "PMIX_MAX_VALUE=65535"},
};

/* Describes an attribute. An unknown name may be a host's own key. */
static pmix_status_t describe(pmix_regattr_t *attr, const char *name)
{
    const struct px_key *k = px_key_by_name(name);
    const pmix_data_type_t type = k ? k->type : PMIX_UNDEF;
    size_t n_lines = k ? 1 : 0;

    PMIx_Regattr_load(attr, name, k ? k->key : name, type, k ? k->text : NULL);
    for (size_t i = 0; k && i < PX_COUNT(ranges); i++) {
        if (strcmp(ranges[i].name, name) != 0)
            continue;
        PMIx_Regattr_load(attr, NULL, NULL, type, ranges[i].range);
        n_lines++;
    }
    return attr->name && px_strv_count(attr->description) == n_lines ? PMIX_SUCCESS
                                                                     : PMIX_ERR_NOMEM;
}

static pmix_status_t add_attributes(struct answers *a, px_infos *out, const char *key,
                                    const char *names)
{
    PX_AUTO(px_strv) list = px_strv_split(names, ',', false);
    pmix_data_array_t array = {.type = PMIX_REGATTR, .size = px_strv_count(list)};
    pmix_status_t rc = spend(a, array.size);
    pmix_regattr_t *attrs;

    if (rc)
        return rc;
    array.array = attrs = PMIx_Regattr_create(array.size);
    if (!list || !attrs)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; !rc && i < array.size; i++)
        rc = describe(&attrs[i], list[i]);
    if (!rc)
        rc = px_infos_add(out, key, &array, PMIX_DATA_ARRAY);
    px_type_free_array(PMIX_REGATTR, attrs, array.size);
    return rc;
}

/* ---- OpenPMIx's form ------------------------------------------------------------- */

static pmix_status_t list_functions(const struct px_support_table *t, const char *key,
                                    struct answers *a, px_infos *out)
{
    PX_AUTO(px_strv) names = NULL;
    PX_AUTOFREE char *joined = NULL;
    pmix_status_t rc = spend(a, LIST_ITEMS + t->n);

    if (rc)
        return rc;
    if (t->functions)
        return px_infos_add(out, key, t->functions, PMIX_STRING);
    for (size_t i = 0; i < t->n; i++)
        if (px_strv_append(&names, t->rows[i].function))
            return PMIX_ERR_NOMEM;
    if (!names)
        return PMIX_SUCCESS;
    joined = px_strv_join(names, ',');
    return joined ? px_infos_add(out, key, joined, PMIX_STRING) : PMIX_ERR_NOMEM;
}

/* Adds attributes. which: functions separated by commas; NULL or "all" for all. */
static pmix_status_t list_attributes(const struct px_support_table *t,
                                     const char *which, struct answers *a,
                                     px_infos *out)
{
    PX_AUTO(px_strv) names = NULL;
    pmix_status_t rc = PMIX_SUCCESS;

    if (!which || strcmp(which, "all") == 0) {
        for (size_t i = 0; !rc && i < t->n; i++)
            if (t->rows[i].attributes)
                rc = add_attributes(a, out, t->rows[i].function, t->rows[i].attributes);
        return rc;
    }
    names = px_strv_split(which, ',', false);
    for (size_t i = 0; !rc && names && names[i]; i++) {
        const struct px_support *row;

        rc = spend(a, 1);
        row = rc ? NULL : px_support_find(t->rows, t->n, names[i]);
        if (row)
            rc = add_attributes(a, out, names[i], row->attributes);
    }
    return rc;
}

static pmix_status_t answer_field(const struct px_support_table *t, enum px_level level,
                                  const pmix_info_t *qualifier, struct answers *a)
{
    PX_AUTO(px_infos) found = {0};
    pmix_status_t rc;

    if (PMIx_Check_key(qualifier->key, function_keys[level]))
        rc = list_functions(t, function_keys[level], a, &found);
    else
        rc = list_attributes(t, px_value_string(&qualifier->value), a, &found);
    if (rc || found.n == 0)
        return rc;
    return px_infos_add_array(a->infos, PMIX_QUERY_ATTRIBUTE_SUPPORT, &found);
}

/* ---- the Standard's form --------------------------------------------------------- */

static pmix_status_t answer_standard(const struct px_support_table *t,
                                     enum px_level level, char *const *functions,
                                     struct answers *a)
{
    static const pmix_value_t nothing = {.type = PMIX_UNDEF};
    pmix_status_t rc = PMIX_SUCCESS;

    for (; !rc && *functions; functions++) {
        PX_AUTO(px_infos) found = {0};
        const struct px_support *row = px_support_find(t->rows, t->n, *functions);

        rc = spend(a, 1);
        if (rc)
            break;
        rc = row ? add_attributes(a, &found, attribute_keys[level], row->attributes)
                 : px_infos_add_value(&found, attribute_keys[level], &nothing);
        if (!rc)
            rc = px_infos_add_array(a->infos, *functions, &found);
    }
    return rc;
}

/* ---- queries --------------------------------------------------------------------- */

static bool is_asked(const pmix_query_t *q)
{
    return q->keys && q->keys[0] &&
           strcmp(q->keys[0], PMIX_QUERY_ATTRIBUTE_SUPPORT) == 0;
}

bool px_support_asked(const pmix_query_t *queries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (is_asked(&queries[i]))
            return true;
    return false;
}

/* Returns the level of a qualifier; PX_N_LEVELS for other qualifiers. */
static enum px_level level_of(const pmix_info_t *qualifier)
{
    for (int level = 0; level < PX_N_LEVELS; level++)
        if (PMIx_Check_key(qualifier->key, attribute_keys[level]) ||
            PMIx_Check_key(qualifier->key, function_keys[level]))
            return (enum px_level)level;
    return PX_N_LEVELS;
}

static bool has_level(const pmix_query_t *q)
{
    for (size_t i = 0; i < q->nqual; i++)
        if (level_of(&q->qualifiers[i]) != PX_N_LEVELS)
            return true;
    return false;
}

/* Adds all levels to a query without a level. */
static pmix_status_t name_levels(pmix_query_t *q)
{
    px_infos all = {.v = q->qualifiers, .n = q->nqual, .cap = q->nqual};
    pmix_status_t rc = PMIX_SUCCESS;

    if (has_level(q))
        return PMIX_SUCCESS;
    for (int level = 0; !rc && level < PX_N_LEVELS; level++) {
        rc = px_infos_add(&all, attribute_keys[level], NULL, PMIX_BOOL);
        if (!rc && !q->keys[1])
            rc = px_infos_add(&all, function_keys[level], NULL, PMIX_BOOL);
    }
    q->qualifiers = all.v;
    q->nqual = all.n;
    return rc;
}

/* Answers the levels of this process and removes them from the query. Also removes
 * levels whose value is false. */
static pmix_status_t answer_query(const struct px_support_table *tables,
                                  pmix_query_t *q, struct answers *a)
{
    pmix_status_t rc = name_levels(q);
    size_t kept = 0;

    for (size_t i = 0; i < q->nqual; i++) {
        pmix_info_t *by = &q->qualifiers[i];
        enum px_level level = level_of(by);
        bool here = !rc && level != PX_N_LEVELS && tables[level].here;
        bool wanted = by->value.type != PMIX_BOOL || by->value.data.flag;

        if (here && wanted)
            rc = q->keys[1] && PMIx_Check_key(by->key, attribute_keys[level])
                     ? answer_standard(&tables[level], level, q->keys + 1, a)
                     : answer_field(&tables[level], level, by, a);
        if (here && !rc)
            PMIx_Info_destruct(by);
        else if (kept++ != i) /* moving an info is safe, because it has no pointers into
                               * itself */
            q->qualifiers[kept - 1] = *by;
    }
    q->nqual = kept;
    return rc;
}

pmix_status_t px_support_query(const struct px_support_table tables[PX_N_LEVELS],
                               pmix_query_t *queries, size_t *n, px_infos *answers)
{
    struct answers a = {.infos = answers, .left = MAX_ITEMS};
    pmix_status_t rc = PMIX_SUCCESS;
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        pmix_query_t *q = &queries[i];
        bool asked = is_asked(q);

        if (!rc && asked)
            rc = answer_query(tables, q, &a);
        if (!rc && asked && !has_level(q))
            px_type_destruct(PMIX_QUERY, q);
        else
            queries[kept++] = *q;
    }
    *n = kept;
    return rc;
}

void px_support_library(struct px_support_table tables[PX_N_LEVELS])
{
    for (int level = 0; level < PX_N_LEVELS; level++) {
        const struct px_support_rows *library = &px_support_library_rows[level];

        tables[level] = (struct px_support_table){
            .rows = library->rows,
            .n = library->n,
            .functions = px_support_functions[level],
        };
    }
}

/* ---- queries by key -------------------------------------------------------------- */

static pmix_status_t take_keys(pmix_query_t *q, px_answer_key_fn answer, void *ctx)
{
    pmix_status_t rc = PMIX_ERR_NOT_FOUND;
    size_t kept = 0, i = 0;

    for (; q->keys[i] && (!rc || rc == PMIX_ERR_NOT_FOUND); i++) {
        rc = answer(ctx, q, q->keys[i]);
        if (rc)
            q->keys[kept++] = q->keys[i];
        else
            free(q->keys[i]);
    }
    for (; q->keys[i]; i++)
        q->keys[kept++] = q->keys[i];
    q->keys[kept] = NULL;
    return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
}

pmix_status_t px_query_keys(pmix_query_t *queries, size_t *n, px_answer_key_fn answer,
                            void *ctx)
{
    pmix_status_t rc = PMIX_SUCCESS;
    size_t kept = 0;

    for (size_t i = 0; i < *n; i++) {
        pmix_query_t *q = &queries[i];
        bool asked = q->keys && q->keys[0];

        if (!rc && asked)
            rc = take_keys(q, answer, ctx);
        if (asked && !q->keys[0])
            px_type_destruct(PMIX_QUERY, q);
        else
            queries[kept++] = *q;
    }
    *n = kept;
    return rc;
}

/* ---- versions of the ABI --------------------------------------------------------- */

/* ABI release. 5.0 is the only release that the Standard has published. The headers
 * have all its functions and constants. Where the two differ, strings of attributes and
 * PMIX_LOCALITY_NONLOCAL are OpenPMIx's. */
#define ABI_VERSION "5.0"

pmix_status_t px_abi_answer(void *ctx, const pmix_query_t *q PX_UNUSED, const char *key)
{
    return strcmp(key, PMIX_QUERY_STABLE_ABI_VERSION) == 0 ||
                   strcmp(key, PMIX_QUERY_PROVISIONAL_ABI_VERSION) == 0
               ? px_infos_add(ctx, key, ABI_VERSION, PMIX_STRING)
               : PMIX_ERR_NOT_FOUND;
}

bool px_query_source_asked(const pmix_query_t *queries, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (px_info_flag(queries[i].qualifiers, queries[i].nqual, TENON_QUERY_SOURCE))
            return true;
    return false;
}

pmix_status_t px_query_source(px_infos *answers, const pmix_query_t *queries, size_t n,
                              const char *part)
{
    return answers->n > 0 && px_query_source_asked(queries, n)
               ? px_infos_add(answers, TENON_QUERY_SOURCE, part, PMIX_STRING)
               : PMIX_SUCCESS;
}

pmix_status_t px_support_query_keys(char ***list)
{
    static const char *const keys[] = {
        PMIX_QUERY_ATTRIBUTE_SUPPORT, PMIX_QUERY_AVAIL_SERVERS,
        PMIX_QUERY_STABLE_ABI_VERSION, PMIX_QUERY_PROVISIONAL_ABI_VERSION};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < PX_COUNT(keys); i++)
        rc = px_strv_append(list, keys[i]);
    return rc;
}

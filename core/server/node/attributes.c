/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Register_attributes, and queries for supported attributes. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/role/support.h"
#include "core/server/host.h"
#include "core/server/op.h"
#include "core/server/query/answers.h"
#include "core/server/server.h"
#include "core/types/keys.h"

#include <string.h>

struct registration {
    struct px_list link;
    char *function;
    char *attributes; /* names, separated by commas; NULL if there are none */
};

static void registration_free(struct registration *r)
{
    free(r->function);
    free(r->attributes);
    free(r);
}

/* Returns the user's function for a name that the host registered. Hosts name the slots
 * of their module, users query the functions that they call. */
static const char *user_function(const char *function)
{
    static const struct {
        const char *slot, *function;
    } table[] = {
        {"client_connected", "PMIx_Init"},
        {"client_connected2", "PMIx_Init"},
        {"client_finalized", "PMIx_Finalize"},
        {"abort", "PMIx_Abort"},
        {"fence_nb", "PMIx_Fence"},
        {"direct_modex", "PMIx_Get"},
        {"publish", "PMIx_Publish"},
        {"lookup", "PMIx_Lookup"},
        {"unpublish", "PMIx_Unpublish"},
        {"spawn", "PMIx_Spawn"},
        {"connect", "PMIx_Connect"},
        {"disconnect", "PMIx_Disconnect"},
        {"register_events", "PMIx_Register_event_handler"},
        {"deregister_events", "PMIx_Deregister_event_handler"},
        {"notify_event", "PMIx_Notify_event"},
        {"query", "PMIx_Query_info"},
        {"tool_connected", "PMIx_tool_init"},
        {"tool_connected2", "PMIx_tool_init"},
        {"log", "PMIx_Log"},
        {"log2", "PMIx_Log"},
        {"allocate", "PMIx_Allocation_request"},
        {"job_control", "PMIx_Job_control"},
        {"monitor", "PMIx_Process_monitor"},
        {"get_credential", "PMIx_Get_credential"},
        {"validate_credential", "PMIx_Validate_credential"},
        {"iof_pull", "PMIx_IOF_pull"},
        {"push_stdin", "PMIx_IOF_push"},
        {"group", "PMIx_Group_construct"},
        {"fabric", "PMIx_Fabric_register"},
        {"session_control", "PMIx_Session_control"},
        {"resource_block", "PMIx_Resource_block"},
    };

    for (size_t i = 0; i < PX_COUNT(table); i++)
        if (strcmp(table[i].slot, function) == 0)
            return table[i].function;
    return function;
}

/* ---- PMIx_Register_attributes ---------------------------------------------------- */

static pmix_status_t add(struct px_server *srv, const struct px_server_op *op)
{
    const char *function = user_function(op->api.args.text);
    char *const *attributes = op->api.args.keys;
    struct registration *r;

    PX_LIST_EACH (&srv->part.attributes, struct registration, old, link)
        if (strcmp(old->function, function) == 0)
            return PMIX_ERR_REPEAT_ATTR_REGISTRATION;
    r = calloc(1, sizeof(*r));
    if (!r)
        return PMIX_ERR_NOMEM;
    r->function = strdup(function);
    if (attributes && attributes[0])
        r->attributes = px_strv_join(attributes, ',');
    if (!r->function || (attributes && attributes[0] && !r->attributes)) {
        registration_free(r);
        return PMIX_ERR_NOMEM;
    }
    px_list_append(&srv->part.attributes, &r->link);
    return PMIX_SUCCESS;
}

/* True if the name can be an element of a comma-separated answer. */
static bool is_name(const char *name)
{
    return name[0] && !strchr(name, ',');
}

PX_EXPORT pmix_status_t PMIx_Register_attributes(char *function, char *attrs[])
{
    struct px_server_op op = {.run = add,
                              .api.args = {.text = function, .keys = attrs}};
    bool sound = function && is_name(function);

    for (char **name = attrs; sound && name && *name; name++)
        sound = is_name(*name) && strlen(*name) <= PMIX_MAX_KEYLEN;
    return px_server_submit(&op, sizeof(op), sound);
}

static void destroy(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.attributes, struct registration, r, link) {
        px_list_remove(&r->link);
        registration_free(r);
    }
}

/* ---- queries --------------------------------------------------------------------- */

/* Fills *table with the host's rows, which borrow from the registrations. The caller
 * frees *rows. */
static pmix_status_t fill_host(const struct px_server *srv, struct px_support **rows,
                               struct px_support_table *table)
{
    size_t n = px_list_length(&srv->part.attributes) +
               (srv->host ? srv->host->n_support : 0);

    *rows = calloc(n ? n : 1, sizeof(**rows));
    if (!*rows)
        return PMIX_ERR_NOMEM;
    table->rows = *rows;
    PX_LIST_EACH (&srv->part.attributes, struct registration, r, link)
        (*rows)[table->n++] = (struct px_support){r->function, r->attributes};
    for (size_t i = 0; table->n < n; i++)
        (*rows)[table->n++] = srv->host->support[i];
    return PMIX_SUCCESS;
}

static pmix_status_t query(struct px_server *srv, pmix_query_t *queries, size_t *n,
                           px_infos *answers)
{
    struct px_support_table tables[PX_N_LEVELS];
    PX_AUTOFREE struct px_support *rows = NULL;

    if (!px_support_asked(queries, *n))
        return PMIX_SUCCESS;
    px_support_library(tables);
    tables[PX_LEVEL_SERVER].here = true;
    tables[PX_LEVEL_HOST].here = true;
    pmix_status_t rc = fill_host(srv, &rows, &tables[PX_LEVEL_HOST]);
    return rc ? rc : px_support_query(tables, queries, n, answers);
}

/* Answers with the attributes of PMIx_Spawn that the host supports, or those for
 * debuggers. A host without the function supports none. */
static pmix_status_t answer(struct px_server *srv, const pmix_query_t *q PX_UNUSED,
                            const char *key, struct px_answers *a)
{
    bool debug = strcmp(key, PMIX_QUERY_DEBUG_SUPPORT) == 0;
    PX_AUTOFREE struct px_support *rows = NULL;
    struct px_support_table table = {0};
    pmix_status_t rc = fill_host(srv, &rows, &table);
    const struct px_support *row = rc ? NULL
                                      : px_support_find(rows, table.n, "PMIx_Spawn");
    PX_AUTO(px_strv) names = NULL;
    PX_AUTO(px_strv) keys = NULL;

    if (rc || (!row && srv->module.spawn))
        return rc ? rc : PMIX_ERR_NOT_FOUND;
    names = px_strv_split(row && row->attributes ? row->attributes : "", ',', false);
    for (char **name = names; !rc && name && *name; name++) {
        const struct px_key *k = px_key_by_name(*name);

        if (!debug || px_str_starts(*name, "PMIX_DEBUG"))
            rc = px_strv_append(&keys, k ? k->key : *name);
    }
    PX_AUTOFREE char *text = rc ? NULL : px_strv_join(keys, ',');
    return text ? px_answer_text(a, key, text) : PMIX_ERR_NOMEM;
}

static const struct px_query_key keys[] = {
    {PMIX_QUERY_SPAWN_SUPPORT, answer, NULL, true},
    {PMIX_QUERY_DEBUG_SUPPORT, answer, NULL, true},
    {0},
};

const struct px_server_part px_attributes_part = {
    .name = "attributes",
    .query_keys = keys,
    .query = query,
    .destroy = destroy,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the small host knows of the system around its jobs: allocations, credentials, fabrics,
 * monitoring. Answers say what was asked, so that clients/system.c can see that it arrived. */
#include "host.h"

#include <string.h>
#include <unistd.h>

#define MAX_INFOS 2
#define CRED_B    512

struct answer {
    pmix_status_t status;
    pmix_info_t infos[MAX_INFOS];
    size_t n;
    char cred[CRED_B];
    pmix_info_cbfunc_t info_cb;
    pmix_credential_cbfunc_t cred_cb;
    pmix_validation_cbfunc_t valid_cb;
    void *cbdata;
};

static void forget(void *arg)
{
    struct answer *a = arg;

    for (size_t i = 0; i < a->n; i++)
        PMIX_INFO_DESTRUCT(&a->infos[i]);
    free(a);
}

static void give(void *arg)
{
    struct answer *a = arg;
    pmix_byte_object_t cred;

    if (a->info_cb) {
        a->info_cb(a->status, a->infos, a->n, a->cbdata, forget, a);
        return;
    }
    cred.bytes = a->cred;
    cred.size = strlen(a->cred) + 1;
    if (a->cred_cb)
        a->cred_cb(a->status, a->status ? NULL : &cred, a->infos, a->n, a->cbdata);
    else
        a->valid_cb(a->status, a->infos, a->n, a->cbdata);
    forget(a);
}

static struct answer *make(pmix_status_t status, void *cbdata)
{
    struct answer *a = calloc(1, sizeof *a);

    HOST_CHECK(a);
    a->status = status;
    a->cbdata = cbdata;
    return a;
}

static void add(struct answer *a, const char *key, const void *data,
                pmix_data_type_t type)
{
    HOST_CHECK(a->n < MAX_INFOS);
    PMIX_INFO_LOAD(&a->infos[a->n], key, data, type);
    a->n++;
}

static const pmix_info_t *find(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i];
    return NULL;
}

/* Every request of clients/system.c carries this. */
static bool arrived(const pmix_info_t *info, size_t n)
{
    const pmix_info_t *how = find(info, n, "test.how");

    return how && how->value.type == PMIX_STRING &&
           strcmp(how->value.data.string, "well") == 0;
}

static pmix_status_t with_infos(struct answer *a, pmix_info_cbfunc_t cb)
{
    a->info_cb = cb;
    host_reply(give, a);
    return PMIX_SUCCESS;
}

static pmix_status_t on_allocate(const pmix_proc_t *client,
                                 pmix_alloc_directive_t directive,
                                 const pmix_info_t data[], size_t n,
                                 pmix_info_cbfunc_t cb, void *cbdata)
{
    struct answer *a;

    (void)client;
    if (!arrived(data, n))
        return PMIX_ERR_BAD_PARAM;
    a = make(PMIX_SUCCESS, cbdata);
    add(a, PMIX_ALLOC_ID, "number 17", PMIX_STRING);
    add(a, "test.directive", &directive, PMIX_ALLOC_DIRECTIVE);
    return with_infos(a, cb);
}

static pmix_status_t on_monitor(const pmix_proc_t *requestor,
                                const pmix_info_t *monitor, pmix_status_t error,
                                const pmix_info_t directives[], size_t n,
                                pmix_info_cbfunc_t cb, void *cbdata)
{
    struct answer *a;

    (void)requestor;
    if (!arrived(directives, n) || !PMIX_CHECK_KEY(monitor, "test.monitor"))
        return PMIX_ERR_NOT_SUPPORTED;
    a = make(PMIX_SUCCESS, cbdata);
    add(a, "test.error", &error, PMIX_STATUS);
    return with_infos(a, cb);
}

static pmix_status_t on_get_credential(const pmix_proc_t *proc,
                                       const pmix_info_t directives[], size_t n,
                                       pmix_credential_cbfunc_t cb, void *cbdata)
{
    struct answer *a;

    if (!arrived(directives, n))
        return PMIX_ERR_BAD_PARAM;
    a = make(PMIX_SUCCESS, cbdata);
    snprintf(a->cred, sizeof a->cred, "this is %s.%u", proc->nspace, proc->rank);
    add(a, PMIX_CRED_TYPE, "test", PMIX_STRING);
    a->cred_cb = cb;
    host_reply(give, a);
    return PMIX_SUCCESS;
}

static pmix_status_t on_validate(const pmix_proc_t *proc,
                                 const pmix_byte_object_t *cred,
                                 const pmix_info_t directives[], size_t n,
                                 pmix_validation_cbfunc_t cb, void *cbdata)
{
    char wanted[CRED_B];
    uint32_t uid = getuid();
    struct answer *a;

    snprintf(wanted, sizeof wanted, "this is %s.%u", proc->nspace, proc->rank);
    if (!arrived(directives, n))
        return PMIX_ERR_BAD_PARAM;
    if (cred->size != strlen(wanted) + 1 || strcmp(cred->bytes, wanted) != 0)
        return PMIX_ERR_INVALID_CRED;
    a = make(PMIX_SUCCESS, cbdata);
    add(a, PMIX_USERID, &uid, PMIX_UINT32);
    a->valid_cb = cb;
    host_reply(give, a);
    return PMIX_SUCCESS;
}

static pmix_status_t on_fabric(const pmix_proc_t *requestor, pmix_fabric_operation_t op,
                               const pmix_info_t directives[], size_t n,
                               pmix_info_cbfunc_t cb, void *cbdata)
{
    const pmix_info_t *given = find(directives, n, PMIX_FABRIC_INDEX);
    uint32_t generation = op == PMIX_FABRIC_UPDATE_INFO ? 2 : 1;
    size_t index = 5;
    struct answer *a;

    (void)requestor;
    if (generation == 2 ? !given || given->value.data.size != index
                        : !arrived(directives, n))
        return PMIX_ERR_BAD_PARAM;
    a = make(PMIX_SUCCESS, cbdata);
    add(a, PMIX_FABRIC_INDEX, &index, PMIX_SIZE);
    add(a, "test.generation", &generation, PMIX_UINT32);
    return with_infos(a, cb);
}

#ifdef TENON_SERVER_MODULE_SIZE /* else the slots are not in the header */
static pmix_status_t on_session(const pmix_proc_t *requestor, uint32_t session,
                                const pmix_info_t directives[], size_t n,
                                pmix_info_cbfunc_t cb, void *cbdata)
{
    struct answer *a;

    (void)requestor;
    if (!arrived(directives, n))
        return PMIX_ERR_BAD_PARAM;
    a = make(PMIX_SUCCESS, cbdata);
    add(a, PMIX_SESSION_ID, &session, PMIX_UINT32);
    return with_infos(a, cb);
}

static pmix_status_t on_block(const pmix_proc_t *requestor,
                              pmix_resource_block_directive_t directive,
                              const char *block, const pmix_resource_unit_t *units,
                              size_t n_units, const pmix_info_t *info, size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    (void)requestor, (void)cb, (void)cbdata;
    return arrived(info, n) && directive == 2 && strcmp(block, "mine") == 0 &&
                   n_units == 2 && units[1].count == 9
               ? PMIX_OPERATION_SUCCEEDED
               : PMIX_ERR_BAD_PARAM;
}
#endif

void host_add_system(pmix_server_module_t *module)
{
    module->allocate = on_allocate;
    module->monitor = on_monitor;
    module->get_credential = on_get_credential;
    module->validate_credential = on_validate;
    module->fabric = on_fabric;
#ifdef TENON_SERVER_MODULE_SIZE
    module->session_control = on_session;
    module->resource_block = on_block;
#endif
}

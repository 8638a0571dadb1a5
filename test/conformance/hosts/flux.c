/* SPDX-License-Identifier: BSD-3-Clause */
/* The shell plugin of flux-pmix 0.7. Sources: main.c, infovec.c, fence.c, notify.c. Calls
 * without a callback must return PMIX_OPERATION_SUCCEEDED.
 *
 * OpenPMIx differs: release 4.2.2 has no node id of a rank elsewhere. */
#include "hosts.h"

#define NSPACE "fuzzybunny"

/* Accepts only a fence of the whole job, without unknown required directives. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    pmix_status_t rc = PMIX_SUCCESS;
    bool collect = false;

    HOST_CHECK(cb);
    if (n_procs > 1 || procs[0].rank != PMIX_RANK_WILDCARD)
        rc = PMIX_ERR_NOT_SUPPORTED;
    for (size_t i = 0; !rc && i < n_info; i++) {
        bool is_collect = strcmp(info[i].key, PMIX_COLLECT_DATA) == 0;
        if (is_collect ? info[i].value.type != PMIX_BOOL
                       : info[i].flags & PMIX_INFO_REQD)
            rc = PMIX_ERR_BAD_PARAM;
        collect |= is_collect && info[i].value.data.flag;
    }
    return hosts_fence(rc, data, collect ? n : 0, cb, cbdata);
}

static pmix_status_t on_dmodex(const pmix_proc_t *proc, const pmix_info_t info[],
                               size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    cb(PMIX_ERR_NOT_IMPLEMENTED, NULL, 0, cbdata, NULL, NULL);
    return PMIX_SUCCESS;
}

static pmix_status_t on_abort(const pmix_proc_t *proc, void *object, int status,
                              const char message[], pmix_proc_t procs[], size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    return PMIX_ERR_NOT_IMPLEMENTED;
}

/* Handles the event, and never calls back. */
static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t cb,
                     void *cbdata)
{
}

static void register_job(const char *tmpdir)
{
    void *list = PMIx_Info_list_start();

    hosts_add_text(list, PMIX_JOBID, NSPACE);
    hosts_add_text(list, PMIX_LOCAL_PEERS, hosts_node_ranks(hosts_node));
    hosts_add_maps(list);
    hosts_add_flag(list, PMIX_TDIR_RMCLEAN, true);
    hosts_add_u32(list, PMIX_JOB_NUM_APPS, 1);
    hosts_add_text(list, PMIX_TMPDIR, tmpdir);
    hosts_add_u32(list, PMIX_LOCAL_SIZE, HOSTS_PER_NODE);
    hosts_add_u32(list, PMIX_UNIV_SIZE, HOSTS_N_RANKS);
    hosts_add_u32(list, PMIX_JOB_SIZE, HOSTS_N_RANKS);
    hosts_add_u32(list, PMIX_APPNUM, 0);
    for (pmix_rank_t r = 0; r < HOSTS_N_RANKS; r++) {
        void *members = PMIx_Info_list_start();
        hosts_add_rank(members, PMIX_RANK, r);
        hosts_add_u32(members, PMIX_NODEID, r / HOSTS_PER_NODE);
        hosts_add_u16(members, PMIX_LOCAL_RANK, r % HOSTS_PER_NODE);
        hosts_add_u16(members, PMIX_NODE_RANK, r % HOSTS_PER_NODE);
        hosts_add_array(list, PMIX_PROC_INFO_ARRAY, members);
    }
    pmix_data_array_t infos = hosts_infos(list);
    HOST_EXPECT(PMIx_server_register_nspace(program.nspace, HOSTS_PER_NODE, infos.array,
                                            infos.size, NULL, NULL),
                PMIX_OPERATION_SUCCEEDED);
    PMIx_Data_array_destruct(&infos);
}

static void serve(void)
{
    pmix_server_module_t module = {
        .fence_nb = on_fence, .direct_modex = on_dmodex, .abort = on_abort};
    const char *tmpdir = getenv("TMPDIR");
    const pmix_rank_t rank = (pmix_rank_t)hosts_node;
    pmix_info_t info[2];

    PMIX_INFO_LOAD(&info[0], PMIX_SERVER_TMPDIR, tmpdir, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_SERVER_RANK, &rank, PMIX_PROC_RANK);
    HOST_GOOD(PMIx_server_init(&module, info, 2));
    PMIX_INFO_DESTRUCT(&info[0]);
    pmix_status_t id = PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL,
                                                   NULL);
    HOST_CHECK(id >= 0);
    register_job(tmpdir);
    for (int i = 0; i < HOSTS_PER_NODE; i++) {
        char **environment = NULL;
        pmix_proc_t proc;
        PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)(hosts_first_rank() + i));
        HOST_GOOD(PMIx_server_setup_fork(&proc, &environment));
        HOST_EXPECT(
            PMIx_server_register_client(&proc, getuid(), getgid(), NULL, NULL, NULL),
            PMIX_OPERATION_SUCCEEDED);
        hosts_start((int)proc.rank, environment);
    }
    hosts_wait();
    (void)PMIx_Deregister_event_handler((size_t)id, NULL, NULL);
    HOST_GOOD(PMIx_server_finalize());
}

static const struct hosts_get gets[] = {
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_JOBID, NULL, {NSPACE}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS, NULL, {"1"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, NULL, {"2"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, NULL, {"0,1", "2,3"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_TDIR_RMCLEAN, NULL, {"true"}, NULL},
    {0, PMIX_NODEID, NULL, {"0"}, "4"},
    {3, PMIX_NODEID, NULL, {"1"}, "4"},
    {3, PMIX_NODE_RANK, NULL, {"1"}, NULL},
};

const struct hosts_program program = {.nspace = NSPACE,
                                      .serve = serve,
                                      .gets = gets,
                                      .n_gets = sizeof(gets) / sizeof(*gets),
                                      .refuses_subset = true};

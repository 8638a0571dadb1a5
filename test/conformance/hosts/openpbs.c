/* SPDX-License-Identifier: BSD-3-Clause */
/* pbs_mom of OpenPBS. Source: src/resmom/mom_pmix.c. The daemon waits for the callback of a
 * registration before it looks at what the call returned, and lives for ever: only this test
 * finalizes the server. A fence is answered at once, without any exchange. */
#include "hosts.h"

#define NSPACE "7.server"

/* Memory that the daemon never frees. */
static pmix_data_array_t exit_infos;
static char *volatile fence_data;

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    HOST_CHECK(procs && strcmp(procs[0].nspace, NSPACE) == 0);
    fence_data = data;
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t on_dmodex(const pmix_proc_t *proc, const pmix_info_t info[],
                               size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    return PMIX_ERR_NOT_IMPLEMENTED;
}

static void on_notified(pmix_status_t status, void *cbdata)
{
}

static void register_job(void)
{
    void *list = PMIx_Info_list_start();
    struct hosts_reply reply = {0};

    hosts_add_u32(list, PMIX_UNIV_SIZE, HOSTS_N_RANKS);
    hosts_add_u32(list, PMIX_MAX_PROCS, HOSTS_N_RANKS);
    hosts_add_u32(list, PMIX_JOB_SIZE, HOSTS_N_RANKS);
    hosts_add_maps(list);
    hosts_add_u32(list, PMIX_SPAWNED, 0); /* a number */
    hosts_add_u32(list, PMIX_LOCAL_SIZE, HOSTS_PER_NODE);
    hosts_add_u32(list, PMIX_NODE_SIZE, HOSTS_PER_NODE);
    hosts_add_u32(list, PMIX_NUM_NODES, HOSTS_N_NODES);
    hosts_add_text(list, PMIX_LOCAL_PEERS, hosts_node_ranks(hosts_node));
    hosts_add_rank(list, PMIX_LOCALLDR, (pmix_rank_t)hosts_first_rank());
    hosts_add_u32(list, PMIX_NODEID, (uint32_t)hosts_node);
    hosts_add_text(list, PMIX_JOBID, NSPACE);
    hosts_add_u32(list, PMIX_JOB_NUM_APPS, 1);
    pmix_data_array_t infos = hosts_infos(list);
    pmix_status_t rc = PMIx_server_register_nspace(program.nspace, HOSTS_PER_NODE,
                                                   infos.array, infos.size,
                                                   hosts_on_reply, &reply);
    (void)hosts_await(&reply);
    HOST_GOOD(rc);
    PMIx_Data_array_destruct(&infos);
}

static void start(int rank)
{
    char **environment = host_alloc(sizeof(*environment));
    struct hosts_reply reply = {0};
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)rank);
    pmix_status_t rc = PMIx_server_register_client(&proc, getuid(), getgid(), NULL,
                                                   hosts_on_reply, &reply);
    (void)hosts_await(&reply);
    HOST_GOOD(rc);
    HOST_GOOD(PMIx_server_setup_fork(&proc, &environment));
    hosts_start(rank, environment);
}

/* Notifies handlers of this event alone that the job has ended. */
static void notify_exit(void)
{
    const pmix_status_t status = 0;
    pmix_proc_t affected, source;
    void *list = PMIx_Info_list_start();

    PMIX_LOAD_PROCID(&affected, NSPACE, PMIX_RANK_WILDCARD);
    PMIX_LOAD_PROCID(&source, NSPACE, PMIX_RANK_UNDEF);
    hosts_add_flag(list, PMIX_EVENT_NON_DEFAULT, true);
    hosts_add(list, PMIX_JOB_TERM_STATUS, &status, PMIX_STATUS);
    hosts_add(list, PMIX_EVENT_AFFECTED_PROC, &affected, PMIX_PROC);
    exit_infos = hosts_infos(list);
    pmix_status_t rc = PMIx_Notify_event(PMIX_ERR_JOB_TERMINATED, &source,
                                         PMIX_RANGE_SESSION, exit_infos.array,
                                         exit_infos.size, on_notified, NULL);
    HOST_CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED);
}

static void serve(void)
{
    pmix_server_module_t module = {.client_connected = on_connected,
                                   .client_finalized = on_connected,
                                   .fence_nb = on_fence,
                                   .direct_modex = on_dmodex};
    struct hosts_reply reply = {0};

    HOST_GOOD(PMIx_server_init(&module, NULL, 0));
    register_job();
    for (int i = 0; i < HOSTS_PER_NODE; i++)
        start(hosts_first_rank() + i);
    hosts_wait();
    notify_exit();
    PMIx_server_deregister_nspace(program.nspace, hosts_on_reply, &reply);
    (void)hosts_await(&reply);
    HOST_GOOD(PMIx_server_finalize());
}

static const struct hosts_get gets[] = {
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_MAX_PROCS, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_JOBID, NULL, {NSPACE}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_JOB_NUM_APPS, NULL, {"1"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_NUM_NODES, NULL, {"2"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, NULL, {"2"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_NODE_SIZE, NULL, {"2"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, NULL, {"0,1", "2,3"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCALLDR, NULL, {"0", "2"}, NULL},
    {3, PMIX_HOSTNAME, NULL, {"nodeB"}, NULL},
};

const struct hosts_program program = {.nspace = NSPACE,
                                      .serve = serve,
                                      .gets = gets,
                                      .n_gets = sizeof(gets) / sizeof(*gets),
                                      .is_local = true};

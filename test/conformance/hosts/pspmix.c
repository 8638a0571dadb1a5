/* SPDX-License-Identifier: BSD-3-Clause */
/* ParaStation's PMIx server of psmgmt 6.8. Sources: plugins/pspmix/pspmixserver.c and
 * pspmixservice.c. Left out: locality strings, which need a topology.
 *
 * OpenPMIx differs: releases 4.2.2 and 5.0.7 find nothing of the registered session, whose id is
 * UINT32_MAX for every session; without gds=hash the clients of 5.0.7 fail in PMIx_Init, because
 * the id is not the array's first member. Release 4.2.2 has no node id of a rank elsewhere, and
 * PMIx_server_define_process_set returns another number than a status. */
#include "hosts.h"

#define NSPACE "pspmix_1_7"
#define SERVER "pspmix_1"

static int object; /* of each client */

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *client,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    HOST_CHECK(client == &object);
    hosts_later(cb, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t on_connected(const pmix_proc_t *proc, void *client,
                                  pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                                  void *cbdata)
{
    return on_finalized(proc, client, cb, cbdata);
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    HOST_CHECK(procs && n_procs);
    return hosts_fence(PMIX_SUCCESS, data, n, cb, cbdata);
}

static pmix_status_t on_refused(const pmix_proc_t *proc, const pmix_info_t info[],
                                size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    return PMIX_ERROR; /* the fence has brought all */
}

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t cb,
                     void *cbdata)
{
    if (cb)
        cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void init(pmix_server_module_t *module, const char *tmpdir)
{
    static const char *const not [] = {
        PMIX_SERVER_TOOL_SUPPORT, PMIX_SERVER_SYSTEM_SUPPORT,
        PMIX_SERVER_SESSION_SUPPORT, PMIX_SERVER_GATEWAY, PMIX_SERVER_SCHEDULER};
    void *list = PMIx_Info_list_start();

    hosts_add_text(list, PMIX_SERVER_NSPACE, SERVER);
    hosts_add_rank(list, PMIX_SERVER_RANK, (pmix_rank_t)hosts_node);
    hosts_add_text(list, PMIX_SERVER_TMPDIR, tmpdir);
    hosts_add_text(list, PMIX_SYSTEM_TMPDIR, tmpdir);
    for (size_t i = 0; i < sizeof(not ) / sizeof(*not ); i++)
        hosts_add_flag(list, not [i], false);
    pmix_data_array_t infos = hosts_infos(list);
    HOST_GOOD(PMIx_server_init(module, infos.array, infos.size));
    PMIx_Data_array_destruct(&infos);
}

/* Registers the resources of every session. */
static void register_resources(void)
{
    void *list = PMIx_Info_list_start(), *session = PMIx_Info_list_start();
    struct hosts_reply reply = {0};

    hosts_add_text(session, PMIX_CLUSTER_ID, "cluster");
    hosts_add_u32(session, PMIX_SESSION_ID, UINT32_MAX);
    hosts_add_text(session, PMIX_RM_NAME, "ParaStation");
    hosts_add_text(session, PMIX_RM_VERSION, "6.8.1");
    hosts_add_text(session, PMIX_SERVER_HOSTNAME, hosts_node_name(hosts_node));
    hosts_add_array(list, PMIX_SESSION_INFO_ARRAY, session);
    pmix_data_array_t infos = hosts_infos(list);
    HOST_GOOD(PMIx_server_register_resources(infos.array, infos.size, hosts_on_reply,
                                             &reply));
    HOST_GOOD(hosts_await(&reply));
    PMIx_Data_array_destruct(&infos);
}

static void add_job(void *list)
{
    void *session = PMIx_Info_list_start(), *job = PMIx_Info_list_start();
    void *app = PMIx_Info_list_start();

    hosts_add_u32(session, PMIX_SESSION_ID, 3);
    hosts_add_u32(session, PMIX_UNIV_SIZE, 8);
    hosts_add_u32(session, PMIX_MAX_PROCS, 8);
    hosts_add_array(list, PMIX_SESSION_INFO_ARRAY, session);
    hosts_add_text(job, PMIX_NSPACE, NSPACE);
    hosts_add_text(job, PMIX_JOBID, "7");
    hosts_add_u32(job, PMIX_JOB_SIZE, HOSTS_N_RANKS);
    hosts_add_u32(job, PMIX_MAX_PROCS, HOSTS_N_RANKS);
    hosts_add_maps(job);
    hosts_add_u32(job, PMIX_JOB_NUM_APPS, 1);
    hosts_add_rank(job, PMIX_NPROC_OFFSET, 0);
    hosts_add_array(list, PMIX_JOB_INFO_ARRAY, job);
    hosts_add_u32(app, PMIX_APPNUM, 0);
    hosts_add_u32(app, PMIX_APP_SIZE, HOSTS_N_RANKS);
    hosts_add_rank(app, PMIX_APPLDR, 0);
    hosts_add_text(app, PMIX_WDIR, "/wdir");
    hosts_add_text(app, PMIX_APP_ARGV, "program argument");
    hosts_add_array(list, PMIX_APP_INFO_ARRAY, app);
}

static void add_nodes(void *list, const char *tmpdir, const char *nsdir)
{
    for (int node = 0; node < HOSTS_N_NODES; node++) {
        void *members = PMIx_Info_list_start();
        hosts_add_u32(members, PMIX_NODEID, (uint32_t)node);
        hosts_add_text(members, PMIX_HOSTNAME, hosts_node_name(node));
        hosts_add_u32(members, PMIX_LOCAL_SIZE, HOSTS_PER_NODE);
        hosts_add_rank(members, PMIX_LOCALLDR, (pmix_rank_t)(node * HOSTS_PER_NODE));
        hosts_add_text(members, PMIX_LOCAL_PEERS, hosts_node_ranks(node));
        if (node == hosts_node) {
            hosts_add_text(members, PMIX_TMPDIR, tmpdir);
            hosts_add_text(members, PMIX_NSDIR, nsdir);
        }
        hosts_add_array(list, PMIX_NODE_INFO_ARRAY, members);
    }
}

static void add_ranks(void *list, const char *nsdir)
{
    char path[4096];

    for (pmix_rank_t r = 0; r < HOSTS_N_RANKS; r++) {
        void *members = PMIx_Info_list_start();
        hosts_add_rank(members, PMIX_RANK, r);
        hosts_add_u32(members, PMIX_APPNUM, 0);
        hosts_add_rank(members, PMIX_APP_RANK, r);
        hosts_add_rank(members, PMIX_GLOBAL_RANK, r);
        hosts_add_u16(members, PMIX_LOCAL_RANK, r % HOSTS_PER_NODE);
        hosts_add_u16(members, PMIX_NODE_RANK, r % HOSTS_PER_NODE);
        hosts_add_u32(members, PMIX_NODEID, r / HOSTS_PER_NODE);
        hosts_add_flag(members, PMIX_SPAWNED, false);
        hosts_add_u32(members, PMIX_REINCARNATION, 0);
        if ((int)r / HOSTS_PER_NODE == hosts_node) {
            snprintf(path, sizeof(path), "%.4000s/%u", nsdir, r);
            hosts_add_text(members, PMIX_PROCDIR, path);
            hosts_add_u16(members, PMIX_PACKAGE_RANK, 0);
        }
        hosts_add_array(list, PMIX_PROC_INFO_ARRAY, members);
    }
}

static void register_job(const char *tmpdir)
{
    void *list = PMIx_Info_list_start();
    struct hosts_reply reply = {0}, support = {0};
    pmix_proc_t members[HOSTS_N_RANKS];
    char *nsdir = hosts_folder(NSPACE);

    hosts_add_text(list, PMIX_SERVER_NSPACE, SERVER);
    hosts_add_rank(list, PMIX_SERVER_RANK, (pmix_rank_t)hosts_node);
    hosts_add_u32(list, PMIX_JOB_SIZE, HOSTS_N_RANKS);
    add_job(list);
    add_nodes(list, tmpdir, nsdir);
    add_ranks(list, nsdir);
    free(nsdir);
    pmix_data_array_t infos = hosts_infos(list);
    pmix_status_t rc = PMIx_server_register_nspace(program.nspace, HOSTS_PER_NODE,
                                                   infos.array, infos.size,
                                                   hosts_on_reply, &reply);
    HOST_CHECK(rc == PMIX_OPERATION_SUCCEEDED ||
               (rc == PMIX_SUCCESS && hosts_await(&reply) == PMIX_SUCCESS));
    PMIx_Data_array_destruct(&infos);
    HOST_GOOD(PMIx_server_setup_local_support(program.nspace, NULL, 0, hosts_on_reply,
                                              &support));
    HOST_GOOD(hosts_await(&support));
    for (pmix_rank_t r = 0; r < HOSTS_N_RANKS; r++)
        PMIX_LOAD_PROCID(&members[r], NSPACE, r);
    rc = PMIx_server_define_process_set(members, HOSTS_N_RANKS, (char *)"pspmix:all");
    HOST_CHECK(rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED ||
               hosts_is_other("4"));
}

static void start(int rank)
{
    char **environment = host_alloc(sizeof(*environment));
    struct hosts_reply reply = {0};
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)rank);
    HOST_GOOD(PMIx_server_register_client(&proc, getuid(), getgid(), &object,
                                          hosts_on_reply, &reply));
    HOST_GOOD(hosts_await(&reply));
    HOST_GOOD(PMIx_server_setup_fork(&proc, &environment));
    hosts_start(rank, environment);
}

static void serve(void)
{
    pmix_server_module_t module = {.client_finalized = on_finalized,
                                   .fence_nb = on_fence,
                                   .direct_modex = on_refused,
                                   .client_connected2 = on_connected};
    const char *tmpdir = getenv("TMPDIR");
    struct hosts_reply reply = {0};

    if (hosts_is_other("5"))
        setenv("PMIX_MCA_gds", "hash", 1);
    init(&module, tmpdir);
    register_resources();
    pmix_status_t id = PMIx_Register_event_handler(NULL, 0, NULL, 0, on_event, NULL,
                                                   NULL);
    HOST_CHECK(id >= 0);
    register_job(tmpdir);
    for (int i = 0; i < HOSTS_PER_NODE; i++)
        start(hosts_first_rank() + i);
    hosts_wait();
    PMIx_server_deregister_nspace(program.nspace, hosts_on_reply, &reply);
    HOST_GOOD(hosts_await(&reply));
    (void)PMIx_Deregister_event_handler((size_t)id, NULL, NULL);
    HOST_GOOD(PMIx_server_finalize());
}

static const struct hosts_get gets[] = {
    {PMIX_RANK_WILDCARD, PMIX_CLUSTER_ID, PMIX_SESSION_INFO, {"cluster"}, "45"},
    {PMIX_RANK_WILDCARD, PMIX_RM_NAME, PMIX_SESSION_INFO, {"ParaStation"}, "45"},
    {PMIX_RANK_WILDCARD, PMIX_RM_VERSION, PMIX_SESSION_INFO, {"6.8.1"}, "45"},
    {PMIX_RANK_WILDCARD,
     PMIX_SERVER_HOSTNAME,
     PMIX_SESSION_INFO,
     {"nodeA", "nodeB"},
     "45"},
    {PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, PMIX_SESSION_INFO, {"8"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, NULL, {"8"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_JOBID, NULL, {"7"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_APP_SIZE, PMIX_APP_INFO, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_WDIR, PMIX_APP_INFO, {"/wdir"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, PMIX_NODE_INFO, {"0,1", "2,3"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, NULL, {"2"}, NULL},
    {3, PMIX_NODEID, NULL, {"1"}, "4"},
};

const struct hosts_program program = {.nspace = NSPACE,
                                      .serve = serve,
                                      .gets = gets,
                                      .n_gets = sizeof(gets) / sizeof(*gets)};

/* SPDX-License-Identifier: BSD-3-Clause */
/* slurmstepd's plugin mpi/pmix of Slurm 24.11, built for release 5. Sources: pmixp_client.c,
 * pmixp_client_v2.c, mpi_pmix.c. Left out: PMIX_LOCAL_TOPO.
 *
 * OpenPMIx differs: release 4.2.2 has no node id of a rank elsewhere. */
#include "hosts.h"

#define NSPACE "slurm.pmix.7.0"

static pmix_status_t on_connected(const pmix_proc_t *proc, void *object,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    return PMIX_SUCCESS; /* without a callback */
}

static pmix_status_t on_finalized(const pmix_proc_t *proc, void *object,
                                  pmix_op_cbfunc_t cb, void *cbdata)
{
    if (cb)
        cb(PMIX_SUCCESS, cbdata);
    return PMIX_SUCCESS;
}

/* Accepts any set of processes. Reads only one directive. */
static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    bool collect = false;

    for (size_t i = 0; i < n_info; i++)
        collect |= strncmp(info[i].key, PMIX_COLLECT_DATA, PMIX_MAX_KEYLEN) == 0;
    HOST_CHECK(collect);
    return hosts_fence(PMIX_SUCCESS, data, n, cb, cbdata);
}

static pmix_status_t on_dmodex(const pmix_proc_t *proc, const pmix_info_t info[],
                               size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    return PMIX_ERROR; /* the fence has brought all */
}

/* Kills the job step. */
static void on_error(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t cb,
                     void *cbdata)
{
    HOST_CHECK(!"an event ends the job step");
}

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
}

static void on_deregistered(pmix_status_t status, void *cbdata)
{
}

static void add_ranks(void *list)
{
    const uint32_t here = (uint32_t)hosts_node;
    const int zero = 0;

    for (pmix_rank_t r = 0; r < HOSTS_N_RANKS; r++) {
        int node = (int)r / HOSTS_PER_NODE;
        void *members = PMIx_Info_list_start();
        hosts_add_rank(members, PMIX_RANK, r);
        hosts_add(members, PMIX_APPNUM, &zero, PMIX_INT);
        hosts_add(members, PMIX_APPLDR, &zero, PMIX_INT);
        hosts_add_u32(members, PMIX_GLOBAL_RANK, r);
        hosts_add_u32(members, PMIX_APP_RANK, r);
        if (node == hosts_node) {
            hosts_add_u16(members, PMIX_LOCAL_RANK, r % HOSTS_PER_NODE);
            hosts_add_u16(members, PMIX_NODE_RANK, r % HOSTS_PER_NODE);
        }
        hosts_add_text(members, PMIX_HOSTNAME, hosts_node_name(node));
        hosts_add_u32(members, PMIX_NODEID, here); /* of each rank: this node's */
        hosts_add_array(list, PMIX_PROC_DATA, members);
    }
}

static pmix_data_array_t job_infos(const char *tmpdir)
{
    void *list = PMIx_Info_list_start();
    char *nsdir = hosts_folder("7.0");

    hosts_add_flag(list, PMIX_SPAWNED, false);
    hosts_add_text(list, PMIX_TMPDIR, tmpdir);
    hosts_add_text(list, PMIX_NSDIR, nsdir);
    free(nsdir);
    hosts_add_flag(list, PMIX_TDIR_RMCLEAN, true);
    hosts_add_text(list, PMIX_JOBID, "7.0");
    hosts_add_u32(list, PMIX_NODEID, (uint32_t)hosts_node);
    add_ranks(list);
    hosts_add_u32(list, PMIX_UNIV_SIZE, HOSTS_N_RANKS);
    hosts_add_u32(list, PMIX_JOB_SIZE, HOSTS_N_RANKS);
    hosts_add_u32(list, PMIX_LOCAL_SIZE, HOSTS_PER_NODE);
    hosts_add_u32(list, PMIX_NODE_SIZE, HOSTS_PER_NODE);
    hosts_add_u32(list, PMIX_MAX_PROCS, HOSTS_N_RANKS);
    hosts_add_u32(list, PMIX_USERID, getuid());
    hosts_add_maps(list);
    hosts_add_text(list, PMIX_ANL_MAP, "(vector,(0,2,2))");
    hosts_add_text(list, PMIX_LOCAL_PEERS, hosts_node_ranks(hosts_node));
    hosts_add_u32(list, PMIX_LOCALLDR, (uint32_t)hosts_first_rank());
    return hosts_infos(list);
}

/* Sends all registrations before it waits for the first callback. */
static void register_job(const char *tmpdir)
{
    struct hosts_reply replies[1 + HOSTS_PER_NODE] = {0};
    pmix_data_array_t infos = job_infos(tmpdir);
    pmix_proc_t proc;

    HOST_GOOD(PMIx_server_register_nspace(program.nspace, HOSTS_PER_NODE, infos.array,
                                          infos.size, hosts_on_reply, &replies[0]));
    for (int i = 0; i < HOSTS_PER_NODE; i++) {
        PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)(hosts_first_rank() + i));
        HOST_GOOD(PMIx_server_register_client(&proc, getuid(), getgid(), NULL,
                                              hosts_on_reply, &replies[1 + i]));
    }
    for (int i = 0; i < 1 + HOSTS_PER_NODE; i++)
        HOST_GOOD(hosts_await(&replies[i]));
    PMIx_Data_array_destruct(&infos);
}

static void serve(void)
{
    pmix_server_module_t module = {.client_connected = on_connected,
                                   .client_finalized = on_finalized,
                                   .fence_nb = on_fence,
                                   .direct_modex = on_dmodex};
    const char *tmpdir = getenv("TMPDIR");
    pmix_info_t info;
    pmix_proc_t proc;

    PMIX_INFO_LOAD(&info, PMIX_SERVER_TMPDIR, tmpdir, PMIX_STRING);
    HOST_GOOD(PMIx_server_init(&module, &info, 1));
    PMIX_INFO_DESTRUCT(&info);
    (void)PMIx_Register_event_handler(NULL, 0, NULL, 0, on_error, on_registered, NULL);
    setenv("PMIX_SERVER_TMPDIR", tmpdir, 1);
    register_job(tmpdir);
    for (int i = 0; i < HOSTS_PER_NODE; i++) {
        char **environment = host_alloc(sizeof(*environment));
        PMIX_LOAD_PROCID(&proc, NSPACE, (pmix_rank_t)(hosts_first_rank() + i));
        HOST_GOOD(PMIx_server_setup_fork(&proc, &environment));
        hosts_start((int)proc.rank, environment);
    }
    hosts_wait();
    (void)PMIx_Deregister_event_handler(0, on_deregistered, NULL);
    HOST_GOOD(PMIx_server_finalize());
}

static const struct hosts_get gets[] = {
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_MAX_PROCS, NULL, {"4"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_JOBID, NULL, {"7.0"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_ANL_MAP, NULL, {"(vector,(0,2,2))"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_NUM_NODES, NULL, {"2"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE, NULL, {"2"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_NODE_SIZE, NULL, {"2"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCAL_PEERS, NULL, {"0,1", "2,3"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_LOCALLDR, NULL, {"0", "2"}, NULL},
    {PMIX_RANK_WILDCARD, PMIX_TDIR_RMCLEAN, NULL, {"true"}, NULL},
    {1, PMIX_APPNUM, NULL, {"0"}, NULL},
    {1, PMIX_APP_RANK, NULL, {"1"}, NULL},
    {1, PMIX_GLOBAL_RANK, NULL, {"1"}, NULL},
    {3, PMIX_HOSTNAME, NULL, {"nodeB"}, NULL},
    {3, PMIX_NODEID, NULL, {"0", "1"}, "4"},
};

const struct hosts_program program = {.nspace = NSPACE,
                                      .serve = serve,
                                      .gets = gets,
                                      .n_gets = sizeof(gets) / sizeof(*gets)};

/* SPDX-License-Identifier: BSD-3-Clause */
/* services_host PROGRAM ARGS...: runs a job of two ranks and offers what most hosts do
 * not: process sets, values of every job, forwarding. What is pushed to a rank it
 * delivers as that rank's output; "define" it takes for a wish and defines a set. */
#include "host.h"

#include <string.h>
#include <unistd.h>

static pmix_proc_t pair[2];
static int n_pulls, n_stops, n_pushes;

static pmix_status_t on_pull(const pmix_proc_t procs[], size_t n_procs,
                             const pmix_info_t directives[], size_t n,
                             pmix_iof_channel_t channels, pmix_op_cbfunc_t cb,
                             void *cbdata)
{
    (void)procs, (void)n_procs, (void)cb, (void)cbdata;
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&directives[i], PMIX_IOF_STOP))
            channels = PMIX_FWD_NO_CHANNELS;
    if (channels == PMIX_FWD_NO_CHANNELS)
        n_stops++;
    else
        n_pulls++;
    return PMIX_OPERATION_SUCCEEDED;
}

static bool is_ours(void)
{
    return strstr(PMIx_Get_version(), "Tenon") != NULL;
}

/* Release 4.2.2 returns what happens to be in memory; that it was done the ranks see. */
static void define(const char *name)
{
    pmix_status_t rc = PMIx_server_define_process_set(pair, 2, name);

    HOST_CHECK(rc == PMIX_SUCCESS || !is_ours());
}

/* One piece on its way; stays until the library has called back. */
struct piece {
    pmix_proc_t source;
    pmix_byte_object_t bo;
    pmix_op_cbfunc_t cb;
    void *cbdata;
};

static void piece_delivered(pmix_status_t status, void *arg)
{
    struct piece *p = arg;

    HOST_CHECK(status == PMIX_SUCCESS);
    free(p->bo.bytes);
    free(p);
}

static void serve(void *arg)
{
    struct piece *p = arg;

    p->cb(PMIX_SUCCESS, p->cbdata);
    if (p->bo.size == 6 && memcmp(p->bo.bytes, "define", 6) == 0) {
        define("late");
        piece_delivered(PMIX_SUCCESS, p);
        return;
    }
    HOST_GOOD(PMIx_server_IOF_deliver(&p->source, PMIX_FWD_STDOUT_CHANNEL, &p->bo, NULL,
                                      0, piece_delivered, p));
}

static pmix_status_t on_push(const pmix_proc_t *source, const pmix_proc_t targets[],
                             size_t n_targets, const pmix_info_t directives[], size_t n,
                             const pmix_byte_object_t *bo, pmix_op_cbfunc_t cb,
                             void *cbdata)
{
    struct piece *p = calloc(1, sizeof *p);

    (void)source, (void)directives, (void)n;
    HOST_CHECK(p && n_targets == 1 && bo->size > 0);
    p->source = targets[0];
    p->bo.bytes = malloc(bo->size);
    HOST_CHECK(p->bo.bytes);
    memcpy(p->bo.bytes, bo->bytes, bo->size);
    p->bo.size = bo->size;
    p->cb = cb;
    p->cbdata = cbdata;
    n_pushes++;
    host_reply(serve, p);
    return PMIX_SUCCESS;
}

struct group_call {
    pmix_info_cbfunc_t cb;
    void *cbdata;
};

static void answer_group(void *arg)
{
    struct group_call *g = arg;

    g->cb(PMIX_SUCCESS, NULL, 0, g->cbdata, NULL, NULL);
    free(g);
}

/* All members are here: what the servers ask the host about needs nothing more. */
static pmix_status_t on_group(pmix_group_operation_t op, char grp[],
                              const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t directives[], size_t n,
                              pmix_info_cbfunc_t cb, void *cbdata)
{
    struct group_call *g = calloc(1, sizeof *g);

    (void)op, (void)procs, (void)n_procs, (void)directives, (void)n;
    HOST_CHECK(g && strcmp(grp, "sea") == 0);
    g->cb = cb;
    g->cbdata = cbdata;
    host_reply(answer_group, g);
    return PMIX_SUCCESS;
}

static volatile int told;
static pmix_status_t told_status;

static void on_told(pmix_status_t status, void *arg)
{
    (void)arg;
    told_status = status;
    told = 1;
}

static void tell_cluster(void)
{
    static pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_CLUSTER_ID, "west", PMIX_STRING);
    HOST_GOOD(PMIx_server_register_resources(&info, 1, on_told, NULL));
    for (int i = 0; i < 1000 && !told; i++)
        usleep(5000);
    HOST_CHECK(told && told_status == PMIX_SUCCESS);
    PMIX_INFO_DESTRUCT(&info);
}

int main(int argc, char **argv)
{
    pmix_server_module_t module = host_module;
    struct host_job job;
    int rc;

    HOST_CHECK(argc > 1);
    module.iof_pull = on_pull;
    module.push_stdin = on_push;
    module.group = on_group;
    host_answers(HOST_LATER);
    HOST_GOOD(host_init(&module));
    PMIX_LOAD_PROCID(&pair[0], "services", 0);
    PMIX_LOAD_PROCID(&pair[1], "services", 1);
    define("pair");
    tell_cluster();
    host_register_job(&job, "services", 2);
    host_start_all(&job, argv + 1);
    rc = host_wait(&job, 60);
    host_deregister_nspace(job.nspace);
    host_stop_answering();
    if (rc == 0)
        HOST_CHECK(n_pulls == 1 && n_stops == 1 && n_pushes == 3);
    if (is_ours())
        HOST_GOOD(PMIx_server_finalize());
    if (rc == 0)
        printf("OK services_host\n");
    fflush(NULL);
    if (!is_ours())
        _Exit(rc); /* release 4.2.2 falls over its streams when it ends */
    return rc;
}

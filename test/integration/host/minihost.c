/* SPDX-License-Identifier: BSD-3-Clause */
/* minihost N PROGRAM ARGS...: runs a job of N ranks on this node as a resource manager does.
 * MINIHOST_ANSWERS=later|inside|at-once selects the kind of replies to upcalls. With
 * MINIHOST_UNTIL_GONE=PATH:PATH... the host deregisters the ended job when no PATH exists any more.
 * With MINIHOST_SILENT=some|all the host never answers two requests, or stops at a spawn. With
 * MINIHOST_SERVES the host offers services that most hosts lack, and expects that the ranks use
 * all of them. Exits with the highest status of the ranks, or with the status of an abort. */
#include "host.h"

#include <signal.h>

#define NSPACE    "minihost"
#define GONE_MS   10000
#define MAX_INFOS 2
#define CRED_B    512

/* ---- the system around jobs: allocations, credentials, fabrics, monitoring. Replies repeat values of the
 * request, which clients/system.c checks. ------------------------------------------------------ */

struct answer {
    pmix_info_cbfunc_t info_cb; /* only one of the three callbacks is set */
    pmix_credential_cbfunc_t cred_cb;
    pmix_validation_cbfunc_t valid_cb;
    void *cbdata;
    pmix_info_t infos[MAX_INFOS];
    size_t n;
    char cred[CRED_B];
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
        a->info_cb(PMIX_SUCCESS, a->infos, a->n, a->cbdata, forget, a);
        return;
    }
    cred.bytes = a->cred;
    cred.size = strlen(a->cred) + 1;
    if (a->cred_cb)
        a->cred_cb(PMIX_SUCCESS, &cred, a->infos, a->n, a->cbdata);
    else
        a->valid_cb(PMIX_SUCCESS, a->infos, a->n, a->cbdata);
    forget(a);
}

static struct answer *make(struct answer content)
{
    struct answer *a = host_alloc(sizeof(*a));

    *a = content;
    return a;
}

static void add(struct answer *a, const char *key, const void *data,
                pmix_data_type_t type)
{
    HOST_CHECK(a->n < MAX_INFOS);
    PMIX_INFO_LOAD(&a->infos[a->n], key, data, type);
    a->n++;
}

static pmix_status_t later(struct answer *a)
{
    host_reply(give, a);
    return PMIX_SUCCESS;
}

static const pmix_info_t *find(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i];
    return NULL;
}

/* True if a request has the info that every request of clients/system.c carries. */
static bool arrived(const pmix_info_t *info, size_t n)
{
    const pmix_info_t *how = find(info, n, "test.how");

    return how && how->value.type == PMIX_STRING &&
           strcmp(how->value.data.string, "well") == 0;
}

static pmix_status_t on_allocate(const pmix_proc_t *client,
                                 pmix_alloc_directive_t directive,
                                 const pmix_info_t data[], size_t n,
                                 pmix_info_cbfunc_t cb, void *cbdata)
{
    struct answer *a = make((struct answer){.info_cb = cb, .cbdata = cbdata});

    HOST_CHECK(arrived(data, n));
    add(a, PMIX_ALLOC_ID, "number 17", PMIX_STRING);
    add(a, "test.directive", &directive, PMIX_ALLOC_DIRECTIVE);
    return later(a);
}

static pmix_status_t on_monitor(const pmix_proc_t *requestor,
                                const pmix_info_t *monitor, pmix_status_t error,
                                const pmix_info_t directives[], size_t n,
                                pmix_info_cbfunc_t cb, void *cbdata)
{
    struct answer *a;

    if (!arrived(directives, n) || !PMIX_CHECK_KEY(monitor, "test.monitor"))
        return PMIX_ERR_NOT_SUPPORTED;
    a = make((struct answer){.info_cb = cb, .cbdata = cbdata});
    add(a, "test.error", &error, PMIX_STATUS);
    return later(a);
}

static pmix_status_t on_get_credential(const pmix_proc_t *proc,
                                       const pmix_info_t directives[], size_t n,
                                       pmix_credential_cbfunc_t cb, void *cbdata)
{
    struct answer *a = make((struct answer){.cred_cb = cb, .cbdata = cbdata});

    HOST_CHECK(arrived(directives, n));
    snprintf(a->cred, sizeof(a->cred), "this is %s.%u", proc->nspace, proc->rank);
    add(a, PMIX_CRED_TYPE, "test", PMIX_STRING);
    return later(a);
}

static pmix_status_t on_validate(const pmix_proc_t *proc,
                                 const pmix_byte_object_t *cred,
                                 const pmix_info_t directives[], size_t n,
                                 pmix_validation_cbfunc_t cb, void *cbdata)
{
    char wanted[CRED_B];
    uint32_t uid = getuid();
    struct answer *a;

    HOST_CHECK(arrived(directives, n));
    snprintf(wanted, sizeof(wanted), "this is %s.%u", proc->nspace, proc->rank);
    if (cred->size != strlen(wanted) + 1 || strcmp(cred->bytes, wanted) != 0)
        return PMIX_ERR_INVALID_CRED;
    a = make((struct answer){.valid_cb = cb, .cbdata = cbdata});
    add(a, PMIX_USERID, &uid, PMIX_UINT32);
    return later(a);
}

static pmix_status_t on_fabric(const pmix_proc_t *requestor, pmix_fabric_operation_t op,
                               const pmix_info_t directives[], size_t n,
                               pmix_info_cbfunc_t cb, void *cbdata)
{
    const pmix_info_t *given = find(directives, n, PMIX_FABRIC_INDEX);
    uint32_t generation = op == PMIX_FABRIC_UPDATE_INFO ? 2 : 1;
    size_t index = 5;
    struct answer *a;

    if (generation == 2 ? !given || given->value.data.size != index
                        : !arrived(directives, n))
        return PMIX_ERR_BAD_PARAM;
    a = make((struct answer){.info_cb = cb, .cbdata = cbdata});
    add(a, PMIX_FABRIC_INDEX, &index, PMIX_SIZE);
    add(a, "test.generation", &generation, PMIX_UINT32);
    return later(a);
}

#ifdef TENON_SERVER_MODULE_SIZE /* headers of release 4.2.2 lack these functions */
static pmix_status_t on_session(const pmix_proc_t *requestor, uint32_t session,
                                const pmix_info_t directives[], size_t n,
                                pmix_info_cbfunc_t cb, void *cbdata)
{
    struct answer *a = make((struct answer){.info_cb = cb, .cbdata = cbdata});

    HOST_CHECK(arrived(directives, n));
    add(a, PMIX_SESSION_ID, &session, PMIX_UINT32);
    return later(a);
}

static pmix_status_t on_block(const pmix_proc_t *requestor,
                              pmix_resource_block_directive_t directive,
                              const char *block, const pmix_resource_unit_t *units,
                              size_t n_units, const pmix_info_t *info, size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    return arrived(info, n) && directive == 2 && strcmp(block, "mine") == 0 &&
                   n_units == 2 && units[1].count == 9
               ? PMIX_OPERATION_SUCCEEDED
               : PMIX_ERR_BAD_PARAM;
}
#endif

/* ---- services that most hosts lack: process sets, values of every job, forwarding, groups. The host
 * delivers input for a rank as output of the same rank. The inputs "define" and "delete" make the host
 * define or delete a set. -------------------------------------------------------------------------------------------- */

static pmix_proc_t pair[2];
static int n_pulls, n_stops, n_pushes;

static pmix_status_t on_pull(const pmix_proc_t procs[], size_t n_procs,
                             const pmix_info_t directives[], size_t n,
                             pmix_iof_channel_t channels, pmix_op_cbfunc_t cb,
                             void *cbdata)
{
    if (channels == PMIX_FWD_NO_CHANNELS || find(directives, n, PMIX_IOF_STOP))
        n_stops++;
    else
        n_pulls++;
    return PMIX_OPERATION_SUCCEEDED;
}

static bool is_ours(void)
{
    return strstr(PMIx_Get_version(), "Tenon") != NULL;
}

/* Defines a set, which the ranks check. Release 4.2.2 returns a random status. */
static void define(const char *name)
{
    pmix_status_t rc = PMIx_server_define_process_set(pair, 2, name);

    HOST_CHECK(rc == PMIX_SUCCESS || !is_ours());
}

/* A piece of input, which lives until the library's callback. */
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
    char late[] = "late";

    p->cb(PMIX_SUCCESS, p->cbdata);
    if (p->bo.size == 6 && memcmp(p->bo.bytes, "define", 6) == 0) {
        define("late");
        piece_delivered(PMIX_SUCCESS, p);
        return;
    }
    if (p->bo.size == 6 && memcmp(p->bo.bytes, "delete", 6) == 0) {
        HOST_GOOD(PMIx_server_delete_process_set(late));
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
    struct piece *p = host_alloc(sizeof(*p));

    HOST_CHECK(n_targets == 1 && bo->size > 0);
    *p = (struct piece){targets[0], *bo, cb, cbdata};
    p->bo.bytes = memcpy(host_alloc(bo->size), bo->bytes, bo->size);
    n_pushes++;
    host_reply(serve, p);
    return PMIX_SUCCESS;
}

/* Completes a group operation at once, since all members are on this node. */
static pmix_status_t on_group(pmix_group_operation_t op, char grp[],
                              const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t directives[], size_t n,
                              pmix_info_cbfunc_t cb, void *cbdata)
{
    HOST_CHECK(strcmp(grp, "sea") == 0);
    return later(make((struct answer){.info_cb = cb, .cbdata = cbdata}));
}

/* Registers a value of rank 1 of each job, which the other library does not keep. */
static void register_rank(void)
{
    pmix_rank_t rank = 1;
    pmix_info_t info, *members;
    pmix_data_array_t array = {.type = PMIX_INFO, .size = 2};

    PMIX_INFO_CREATE(members, 2);
    PMIX_INFO_LOAD(&members[0], PMIX_RANK, &rank, PMIX_PROC_RANK);
    PMIX_INFO_LOAD(&members[1], "site.key", "of rank 1", PMIX_STRING);
    array.array = members;
    PMIX_INFO_LOAD(&info, PMIX_PROC_INFO_ARRAY, &array, PMIX_DATA_ARRAY);
    HOST_GOOD(host_register_resources(&info, 1));
    PMIX_INFO_DESTRUCT(&info);
    PMIX_INFO_FREE(members, 2);
}

static void begin_service(void)
{
    pmix_info_t info;

    for (pmix_rank_t r = 0; r < 2; r++)
        PMIX_LOAD_PROCID(&pair[r], NSPACE, r);
    define("pair");
    if (is_ours())
        register_rank();
    PMIX_INFO_LOAD(&info, PMIX_CLUSTER_ID, "west", PMIX_STRING);
    HOST_GOOD(host_register_resources(&info, 1));
    PMIX_INFO_DESTRUCT(&info);
}

static int end_service(int rc)
{
    HOST_CHECK(rc || (n_pulls == 1 && n_stops == 1 && n_pushes == (is_ours() ? 4 : 3)));
    if (rc == 0)
        printf("OK minihost\n");
    fflush(NULL);
    if (!is_ours())
        _Exit(rc); /* release 4.2.2 crashes in finalize after use of streams */
    return rc;
}

/* ---- a host that never answers ------------------------------------------------------------------ */

static pmix_status_t silent_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                    size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    return PMIX_SUCCESS;
}

static pmix_status_t silent_spawn(const pmix_proc_t *proc, const pmix_info_t job_info[],
                                  size_t n, const pmix_app_t apps[], size_t n_apps,
                                  pmix_spawn_cbfunc_t cb, void *cbdata)
{
    if (strcmp(getenv("MINIHOST_SILENT"), "all") == 0)
        raise(SIGSTOP);
    return PMIX_SUCCESS;
}

static void fall_silent(pmix_server_module_t *module)
{
    *module = host_module;
    module->publish = silent_publish;
    module->spawn = silent_spawn;
}

/* ---- a job ------------------------------------------------------------------------------------- */

static enum host_answers how(void)
{
    const char *text = getenv("MINIHOST_ANSWERS");

    if (text && strcmp(text, "inside") == 0)
        return HOST_INSIDE;
    return text && strcmp(text, "at-once") == 0 ? HOST_AT_ONCE : HOST_LATER;
}

static void await_gone(const char *paths)
{
    char *list = strdup(paths ? paths : ""), *rest = list;
    int ms = 0;

    HOST_CHECK(list);
    for (char *path; (path = strtok_r(rest, ":", &rest));)
        for (; access(path, F_OK) == 0; ms += 5) {
            HOST_CHECK(ms < GONE_MS);
            usleep(5000);
        }
    free(list);
}

static int run_job(int n, char *const argv[])
{
    struct host_job job;
    int rc;

    host_register_job(&job, NSPACE, n);
    host_start_all(&job, argv);
    rc = host_wait(&job, 60);
    await_gone(getenv("MINIHOST_UNTIL_GONE"));
    host_deregister_nspace(NSPACE);
    return host_abort_status() >= 0 ? host_abort_status() : rc;
}

int main(int argc, char **argv)
{
    bool serves = getenv("MINIHOST_SERVES") != NULL;
    pmix_server_module_t module = host_module;
    int rc;

    if (argc < 3 || atoi(argv[1]) < 1) {
        fprintf(stderr, "usage: minihost N PROGRAM ARGS...\n");
        return 2;
    }
    module.allocate = on_allocate;
    module.monitor = on_monitor;
    module.get_credential = on_get_credential;
    module.validate_credential = on_validate;
    module.fabric = on_fabric;
#ifdef TENON_SERVER_MODULE_SIZE
    module.session_control = on_session;
    module.resource_block = on_block;
#endif
    if (serves) {
        module.iof_pull = on_pull;
        module.push_stdin = on_push;
        module.group = on_group;
    }
    if (getenv("MINIHOST_SILENT"))
        fall_silent(&module);
    host_answers(how());
    HOST_GOOD(host_init(&module));
    if (serves)
        begin_service();
    rc = run_job(atoi(argv[1]), argv + 2);
    host_stop_answering();
    if (serves)
        rc = end_service(rc);
    HOST_GOOD(PMIx_server_finalize());
    return rc;
}

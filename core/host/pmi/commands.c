/* SPDX-License-Identifier: BSD-3-Clause */
/* The commands of PMI-1 and PMI-2. A process that puts a key commits a value as a PMIx
 * client, so PMIx programs can read the value, too. A barrier is a fence of the job. */
#include "core/host/job.h"
#include "core/host/pmi/link.h"
#include "core/link/channel.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/host.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Prefix of node attributes, which PMI-2 separates from other keys. */
#define NODE_KEY "pmi2.node."

struct px_pmi_command {
    const char *names[2]; /* in PMI-1 and PMI-2; NULL: not there */
    const char *replies[2];
    void (*serve)(struct px_pmi *pmi, const struct px_pmi_message *m);
};

/* ---- replies --------------------------------------------------------------------- */

static void begin(struct px_pmi *pmi)
{
    px_pmi_reply(pmi, pmi->busy->replies[pmi->version - 1]);
}

/* Replies with a result, and its text after a failure. */
static void reply(struct px_pmi *pmi, pmix_status_t rc, const char *why)
{
    begin(pmi);
    px_pmi_add(pmi, "rc", "%d", rc ? -1 : 0);
    if (rc || pmi->version == 1)
        px_pmi_add(pmi, pmi->version == 1 ? "msg" : "errmsg", "%s",
                   rc ? why : "success");
    px_pmi_send(pmi);
}

static const char *word_of(pmix_status_t rc)
{
    return rc == PMIX_ERR_NOT_FOUND         ? "not_found"
           : rc == PMIX_ERR_DUPLICATE_KEY   ? "exists_already"
           : rc == PMIX_ERR_OUT_OF_RESOURCE ? "no_room"
           : rc == PMIX_ERR_NOT_SUPPORTED   ? "not_supported"
           : rc == PMIX_ERR_NO_PERMISSIONS  ? "not_permitted"
           : rc == PMIX_ERR_LOST_CONNECTION ? "a_process_is_lost"
                                            : "failed";
}

/* Replies with one number or text. */
static void reply_with(struct px_pmi *pmi, const char *key, const char *value)
{
    begin(pmi);
    px_pmi_add(pmi, "rc", "0");
    px_pmi_add(pmi, key, "%s", value);
    px_pmi_send(pmi);
}

/* Returns the status of a reply of the server. */
static pmix_status_t status_of(pmix_status_t rc, px_reader *r)
{
    pmix_status_t status = PMIX_SUCCESS;

    if (!rc)
        rc = px_unpack_status(r, &status);
    return rc ? rc : status;
}

static void on_result(void *arg, pmix_status_t status, px_reader *r)
{
    struct px_pmi *pmi = arg;
    pmix_status_t rc = status_of(status, r);

    if (!pmi->busy) /* the link has ended */
        return;
    reply(pmi, rc, word_of(rc));
    px_pmi_go_on(pmi);
}

static void ask(struct px_pmi *pmi, const struct px_request *request,
                const struct px_args *args, px_reply_fn fn)
{
    struct px_channel *channel = px_server_proxy_channel(pmi->proxy);
    pmix_status_t rc = px_channel_ask(channel, request, args, fn, pmi);

    if (rc)
        fn(pmi, rc, NULL);
}

/* ---- begin and end --------------------------------------------------------------- */

static void serve_init(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    const char *version = px_pmi_find(m, "pmi_version");
    const int wanted = version && strcmp(version, "2") == 0 ? 2 : 1;
    const pmix_proc_t proc = px_task_name(pmi->task);
    pmix_status_t rc = pmi->proxy ? PMIX_ERR_INIT : PMIX_SUCCESS;

    if (!rc)
        rc = px_server_proxy_open(pmi->task->job->launcher->server, &proc,
                                  pmi->task->pid, &pmi->proxy);
    if (rc)
        px_log(PX_LOG_WARN, "pmi", "cannot connect rank %u of %s by PMI-%d: %s",
               proc.rank, proc.nspace, wanted, PMIx_Error_string(rc));
    begin(pmi);
    px_pmi_add(pmi, "pmi_version", "%d", wanted);
    px_pmi_add(pmi, "pmi_subversion", "%d", wanted == 1);
    px_pmi_add(pmi, "rc", "%d", rc ? -1 : 0);
    px_pmi_send(pmi);
    pmi->version = rc ? 1 : wanted; /* all further messages have the new form */
}

static void serve_fullinit(struct px_pmi *pmi, const struct px_pmi_message *m PX_UNUSED)
{
    const struct px_task *task = pmi->task;

    begin(pmi);
    px_pmi_add(pmi, "rc", "0");
    px_pmi_add(pmi, "pmi-version", "2");
    px_pmi_add(pmi, "pmi-subversion", "0");
    px_pmi_add(pmi, "rank", "%u", task->rank);
    px_pmi_add(pmi, "size", "%u", task->job->n_tasks);
    px_pmi_add(pmi, "appnum", "%u", task->app);
    px_pmi_add(pmi, "debugged", "FALSE");
    px_pmi_add(pmi, "pmiverbose", "FALSE");
    px_pmi_send(pmi);
}

static void on_finalized(void *arg, pmix_status_t status, px_reader *r)
{
    struct px_pmi *pmi = arg;
    pmix_status_t rc = status_of(status, r);

    if (!pmi->busy)
        return;
    px_server_proxy_close(px_take(&pmi->proxy), PMIX_SUCCESS);
    reply(pmi, rc, word_of(rc));
    pmi->version = 1; /* another program may follow */
    px_pmi_check_waits(pmi->task->job);
    px_pmi_go_on(pmi);
}

static void serve_finalize(struct px_pmi *pmi, const struct px_pmi_message *m PX_UNUSED)
{
    struct px_channel *channel = px_server_proxy_channel(pmi->proxy);
    px_writer w;

    px_channel_begin(channel, &w, PX_OP_FINALIZE);
    pmix_status_t rc = px_channel_request(channel, &w, on_finalized, pmi);
    if (rc)
        on_finalized(pmi, rc, NULL);
}

static void on_aborted(void *arg, pmix_status_t status, px_reader *r)
{
    struct px_pmi *pmi = arg;
    pmix_status_t rc = status_of(status, r);

    if (!pmi->busy)
        return;
    pmi->busy = NULL; /* has no reply */
    if (rc)
        px_pmi_end(pmi, PMIX_SUCCESS, PMIx_Error_string(rc));
    px_pmi_go_on(pmi);
}

static void serve_abort(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    const char *code = px_pmi_find(m, "exitcode");
    const char *text = px_pmi_find(m, pmi->version == 1 ? "message" : "msg");
    const struct px_args args = {.code = code ? (pmix_status_t)strtol(code, NULL, 10)
                                              : 1,
                                 .text = (char *)(text ? text : "")};

    ask(pmi, &px_request_abort, &args, on_aborted);
}

/* ---- facts of the job ------------------------------------------------------------ */

static const struct px_nspace *nspace_of(const struct px_pmi *pmi)
{
    const struct px_launch_job *job = pmi->task->job;

    return px_nspace_find(job->launcher->model, job->proc.nspace);
}

static void universe_size(const struct px_pmi *pmi, char *text, size_t size)
{
    const struct px_nspace *ns = nspace_of(pmi);
    uint32_t n = pmi->task->job->n_tasks;

    if (ns)
        (void)px_store_u32(&ns->store, PX_GDS_JOB, PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE,
                           &n);
    snprintf(text, size, "%u", n);
}

static void serve_maxes(struct px_pmi *pmi, const struct px_pmi_message *m PX_UNUSED)
{
    begin(pmi);
    px_pmi_add(pmi, "rc", "0");
    px_pmi_add(pmi, "kvsname_max", "%u", PX_PMI_NAME_B);
    px_pmi_add(pmi, "keylen_max", "%u", PX_PMI_KEY_B);
    px_pmi_add(pmi, "vallen_max", "%u", PX_PMI_VALUE_B);
    px_pmi_send(pmi);
}

static void serve_appnum(struct px_pmi *pmi, const struct px_pmi_message *m PX_UNUSED)
{
    char text[16];

    snprintf(text, sizeof(text), "%u", pmi->task->app);
    reply_with(pmi, "appnum", text);
}

static void serve_name(struct px_pmi *pmi, const struct px_pmi_message *m PX_UNUSED)
{
    reply_with(pmi, pmi->version == 1 ? "kvsname" : "jobid",
               pmi->task->job->proc.nspace);
}

static void serve_universe(struct px_pmi *pmi, const struct px_pmi_message *m PX_UNUSED)
{
    char text[16];

    universe_size(pmi, text, sizeof(text));
    reply_with(pmi, "size", text);
}

/* Copies the value of a key that the launcher itself provides. */
static bool launchers_value(const struct px_pmi *pmi, const char *key, char *value)
{
    /* All processes are on node 0: one block, from node 0, of 1 node. */
    if (strcmp(key, "PMI_process_mapping") == 0)
        snprintf(value, PX_PMI_VALUE_B, "(vector,(0,1,%u))", pmi->task->job->n_tasks);
    else if (strcmp(key, "universeSize") == 0)
        universe_size(pmi, value, PX_PMI_VALUE_B);
    else
        return false;
    return true;
}

/* ---- keys ------------------------------------------------------------------------ */

/* Copies the value that a process of the job has put. */
static bool fetch(const struct px_pmi *pmi, const char *key, char *value)
{
    const struct px_launch_job *job = pmi->task->job;
    const struct px_nspace *ns = nspace_of(pmi);
    const uintptr_t owner = (uintptr_t)px_map_sget(&job->pmi_keys, key);
    pmix_value_t v;

    if (!ns || !owner ||
        px_store_fetch(&ns->store, PX_GDS_LOCAL, (pmix_rank_t)(owner - 1), key, NULL, 0,
                       &v))
        return false;
    bool is_text = v.type == PMIX_STRING && v.data.string;
    if (is_text)
        snprintf(value, PX_PMI_VALUE_B, "%s", v.data.string);
    px_type_destruct(PMIX_VALUE, &v);
    return is_text;
}

/* Replies with the value of a key, or that there is none. */
static void reply_value(struct px_pmi *pmi, const char *value)
{
    const bool old = pmi->version == 1;

    begin(pmi);
    px_pmi_add(pmi, "rc", "%d", old && !value ? -1 : 0);
    if (old) {
        px_pmi_add(pmi, "msg", "%s", value ? "success" : "key_not_found");
    } else { /* the name differs among releases */
        px_pmi_add(pmi, "flag", "%s", value ? "TRUE" : "FALSE");
        px_pmi_add(pmi, "found", "%s", value ? "TRUE" : "FALSE");
    }
    if (value || old)
        px_pmi_add(pmi, "value", "%s", value ? value : "unknown");
    px_pmi_send(pmi);
}

/* Reads the key of a request into pmi->key, with a prefix. Replies to a bad request. */
static bool take_key(struct px_pmi *pmi, const struct px_pmi_message *m,
                     const char *prefix)
{
    const char *key = px_pmi_find(m, "key");
    const char *space = px_pmi_find(m, pmi->version == 1 ? "kvsname" : "jobid");
    char text[PX_PMI_KEY_B + sizeof(NODE_KEY)];

    if (!key || !*key || strlen(key) >= PX_PMI_KEY_B)
        reply(pmi, PMIX_ERR_BAD_PARAM, "bad_key");
    else if (space && *space && strcmp(space, pmi->task->job->proc.nspace) != 0)
        reply(pmi, PMIX_ERR_NOT_FOUND, "unknown_key_space");
    else if (snprintf(text, sizeof(text), "%s%s", prefix, key) < 0 ||
             !(pmi->key = strdup(text)))
        reply(pmi, PMIX_ERR_NOMEM, "no_memory");
    return pmi->key != NULL;
}

static void reply_waits(struct px_launch_job *job, const char *key, const char *value)
{
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        struct px_pmi *pmi = job->tasks[r].pmi;

        if (!pmi || !pmi->waits || (key && strcmp(pmi->key, key) != 0))
            continue;
        reply_value(pmi, value);
        px_pmi_go_on(pmi);
    }
}

static void on_put(void *arg, pmix_status_t status, px_reader *r)
{
    struct px_pmi *pmi = arg;
    struct px_launch_job *job = pmi->task->job;
    pmix_status_t rc = status_of(status, r);
    char value[PX_PMI_VALUE_B], key[PX_PMI_KEY_B + sizeof(NODE_KEY)] = "";

    if (!pmi->busy)
        return;
    if (!rc)
        rc = px_map_sput(&job->pmi_keys, pmi->key,
                         (void *)((uintptr_t)pmi->task->rank + 1), NULL);
    if (!rc)
        snprintf(key, sizeof(key), "%s", pmi->key);
    reply(pmi, rc, word_of(rc));
    if (!rc && job->n_pmi_waits > 0 && fetch(pmi, key, value))
        reply_waits(job, key, value);
    px_pmi_go_on(pmi);
}

/* Commits a key as a value for processes of this node. The store charges it. */
static void put(struct px_pmi *pmi, const struct px_pmi_message *m, const char *prefix)
{
    const char *text = px_pmi_find(m, "value");
    struct px_channel *channel = px_server_proxy_channel(pmi->proxy);
    pmix_value_t value;
    px_writer w;

    if (!text || strlen(text) >= PX_PMI_VALUE_B) {
        reply(pmi, PMIX_ERR_BAD_PARAM, "bad_value");
        return;
    }
    if (!take_key(pmi, m, prefix))
        return;
    px_value_borrow(&value, text, PMIX_STRING);
    px_channel_begin(channel, &w, PX_OP_COMMIT);
    px_pack_u8(&w, PMIX_LOCAL, PMIX_SCOPE);
    const struct px_pack_nest section = px_pack_buffer_begin(&w);
    px_pack_kval(&w, pmi->key, &value);
    px_pack_buffer_end(&w, section);
    pmix_status_t rc = px_channel_request(channel, &w, on_put, pmi);
    if (rc)
        on_put(pmi, rc, NULL);
}

static void serve_put(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    put(pmi, m, "");
}

static void serve_put_of_node(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    put(pmi, m, NODE_KEY);
}

static void serve_get(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    char value[PX_PMI_VALUE_B];

    if (take_key(pmi, m, ""))
        reply_value(pmi,
                    launchers_value(pmi, pmi->key, value) || fetch(pmi, pmi->key, value)
                        ? value
                        : NULL);
}

/* Waits for a missing key if the request has the flag "wait". */
static void serve_get_of_node(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    const char *wait = px_pmi_find(m, "wait");
    char value[PX_PMI_VALUE_B];

    if (!take_key(pmi, m, NODE_KEY))
        return;
    if (fetch(pmi, pmi->key, value)) {
        reply_value(pmi, value);
    } else if (wait && strcmp(wait, "TRUE") == 0) {
        pmi->waits = true;
        pmi->task->job->n_pmi_waits++;
        px_pmi_check_waits(pmi->task->job);
    } else {
        reply_value(pmi, NULL);
    }
}

/* A process that waits, has finalized or has ended puts no key. */
void px_pmi_check_waits(struct px_launch_job *job)
{
    if (job->n_pmi_waits == 0 || job->n_begun < job->n_tasks)
        return;
    for (uint32_t r = 0; r < job->n_tasks; r++) {
        const struct px_task *task = &job->tasks[r];

        if (task->running && !task->finalized && !(task->pmi && task->pmi->waits))
            return;
    }
    reply_waits(job, NULL, NULL);
}

/* ---- barrier --------------------------------------------------------------------- */

/* Ends a barrier. Clients of PMI-1 ignore the result of a barrier, so a failed barrier
 * ends their link. */
static void on_fence(void *arg, pmix_status_t status, px_reader *r)
{
    struct px_pmi *pmi = arg;
    pmix_status_t rc = status_of(status, r);

    if (!pmi->busy)
        return;
    if (rc && pmi->version == 1)
        px_pmi_end(pmi, PMIX_SUCCESS, "a process of its barrier is lost");
    else
        reply(pmi, rc, word_of(rc));
    px_pmi_go_on(pmi);
}

static void serve_barrier(struct px_pmi *pmi, const struct px_pmi_message *m PX_UNUSED)
{
    pmix_proc_t all = pmi->task->job->proc;
    const struct px_args args = {.procs = &all, .n_procs = 1};

    ask(pmi, &px_request_fence, &args, on_fence);
}

/* ---- names of services ----------------------------------------------------------- */

static const char *service_of(const struct px_pmi *pmi, const struct px_pmi_message *m)
{
    const char *name = px_pmi_find(m, pmi->version == 1 ? "service" : "name");

    return name && *name && strlen(name) <= PMIX_MAX_KEYLEN ? name : NULL;
}

static void serve_publish(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    const char *name = service_of(pmi, m), *port = px_pmi_find(m, "port");
    struct px_args args = {.number = geteuid()};

    pmix_status_t rc = name && port ? px_infos_add(&args.info, name, port, PMIX_STRING)
                                    : PMIX_ERR_BAD_PARAM;
    if (rc)
        reply(pmi, rc, "bad_name");
    else
        ask(pmi, &px_request_publish, &args, on_result);
    px_infos_cleanup(&args.info);
}

/* Asks for a service by its name. */
static void ask_for(struct px_pmi *pmi, const struct px_pmi_message *m,
                    const struct px_request *request, px_reply_fn fn)
{
    char *keys[] = {(char *)service_of(pmi, m), NULL};
    const struct px_args args = {.number = geteuid(), .keys = keys, .n_keys = 1};

    if (keys[0])
        ask(pmi, request, &args, fn);
    else
        reply(pmi, PMIX_ERR_BAD_PARAM, "bad_name");
}

/* PMI-2 clients read the port under either name. */
static void reply_port(struct px_pmi *pmi, const char *port)
{
    begin(pmi);
    px_pmi_add(pmi, "rc", "0");
    px_pmi_add(pmi, "port", "%s", port);
    if (pmi->version == 2)
        px_pmi_add(pmi, "value", "%s", port);
    px_pmi_send(pmi);
}

static void on_found(void *arg, pmix_status_t status, px_reader *r)
{
    struct px_pmi *pmi = arg;
    pmix_status_t rc = status_of(status, r);
    pmix_pdata_t *found = NULL;
    size_t n = 0;

    if (!pmi->busy)
        return;
    if (!rc)
        rc = px_unpack_size(r, &n);
    if (!rc)
        rc = px_unpack_array(r, (void **)&found, n, PMIX_PDATA);
    n = rc ? 0 : n;
    if (!rc && (n == 0 || found[0].value.type != PMIX_STRING))
        rc = PMIX_ERR_NOT_FOUND;
    if (rc)
        reply(pmi, rc, word_of(rc));
    else
        reply_port(pmi, found[0].value.data.string);
    px_type_free_array(PMIX_PDATA, found, n);
    px_pmi_go_on(pmi);
}

static void serve_lookup(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    ask_for(pmi, m, &px_request_lookup, on_found);
}

static void serve_unpublish(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    ask_for(pmi, m, &px_request_unpublish, on_result);
}

/* ---- refused --------------------------------------------------------------------- */

static void serve_refused(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    const struct px_task *task = pmi->task;

    px_log(
        PX_LOG_WARN, "pmi",
        "cannot serve command \"%s\" of rank %u of %s: not supported for programs of "
        "PMI-%d",
        m->name, task->rank, task->job->proc.nspace, pmi->version);
    reply(pmi, PMIX_ERR_NOT_SUPPORTED, "not_supported");
}

/* ---- the table ------------------------------------------------------------------- */

static const struct px_pmi_command commands[] = {
    {{"init", NULL}, {"response_to_init", NULL}, serve_init},
    {{NULL, "fullinit"}, {NULL, "fullinit-response"}, serve_fullinit},
    {{"finalize", "finalize"}, {"finalize_ack", "finalize-response"}, serve_finalize},
    {{"abort", "abort"}, {NULL, NULL}, serve_abort},
    {{"get_maxes", NULL}, {"maxes", NULL}, serve_maxes},
    {{"get_appnum", NULL}, {"appnum", NULL}, serve_appnum},
    {{"get_my_kvsname", "job-getid"}, {"my_kvsname", "job-getid-response"}, serve_name},
    {{"get_universe_size", NULL}, {"universe_size", NULL}, serve_universe},
    {{"put", "kvs-put"}, {"put_result", "kvs-put-response"}, serve_put},
    {{"get", "kvs-get"}, {"get_result", "kvs-get-response"}, serve_get},
    {{NULL, "info-getjobattr"}, {NULL, "info-getjobattr-response"}, serve_get},
    {{NULL, "info-putnodeattr"},
     {NULL, "info-putnodeattr-response"},
     serve_put_of_node},
    {{NULL, "info-getnodeattr"},
     {NULL, "info-getnodeattr-response"},
     serve_get_of_node},
    {{"barrier_in", "kvs-fence"}, {"barrier_out", "kvs-fence-response"}, serve_barrier},
    {{"publish_name", "name-publish"},
     {"publish_result", "name-publish-response"},
     serve_publish},
    {{"lookup_name", "name-lookup"},
     {"lookup_result", "name-lookup-response"},
     serve_lookup},
    {{"unpublish_name", "name-unpublish"},
     {"unpublish_result", "name-unpublish-response"},
     serve_unpublish},
    {{"spawn", "spawn"}, {"spawn_result", "spawn-response"}, serve_refused},
    {{NULL, "ring"}, {NULL, "ring-response"}, serve_refused},
    {{NULL, "job-connect"}, {NULL, "job-connect-response"}, serve_refused},
    {{NULL, "job-disconnect"}, {NULL, "job-disconnect-response"}, serve_refused},
};

void px_pmi_serve(struct px_pmi *pmi, const struct px_pmi_message *m)
{
    const char *thread = px_pmi_find(m, "thrid");
    char why[128];

    snprintf(pmi->thread, sizeof(pmi->thread), "%s", thread ? thread : "");
    for (size_t i = 0; i < PX_COUNT(commands); i++) {
        const struct px_pmi_command *c = &commands[i];
        const char *name = c->names[pmi->version - 1];

        if (!name || strcmp(name, m->name) != 0 ||
            (!pmi->proxy && c->serve != serve_init))
            continue;
        pmi->busy = c;
        c->serve(pmi, m);
        return;
    }
    snprintf(why, sizeof(why), "command \"%.64s\" %s", m->name,
             pmi->proxy ? "is unknown" : "comes before init");
    px_pmi_end(pmi, PMIX_SUCCESS, why);
}

void px_pmi_refuse_spawn(struct px_pmi *pmi)
{
    px_pmi_serve(pmi, &(struct px_pmi_message){.name = "spawn"});
}

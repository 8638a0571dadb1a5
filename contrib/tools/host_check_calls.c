/* SPDX-License-Identifier: BSD-3-Clause */
/* The requests, in the order in which all processes run them. Rank 0 acts where one
 * process is enough, and rank 1 is its partner. */
#include "host_check.h"

#include <pmix_tool.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define UNKNOWN "pmix_host_check.unknown" /* an attribute that nothing supports */
#define EVENT   (PMIX_EXTERNAL_ERR_BASE - 17)

/* ---- helpers --------------------------------------------------------------------- */

/* Fills the directive that limits the time of a request. */
static void limit(const struct check *c, pmix_info_t *info)
{
    const int seconds = (int)c->timeout_s;

    load(info, PMIX_TIMEOUT, &seconds, PMIX_INT);
}

static void unknown(pmix_info_t *info)
{
    const bool yes = true;

    load(info, UNKNOWN, &yes, PMIX_BOOL);
    info->flags |= PMIX_INFO_REQD;
}

/* The Standard: a required attribute without support is PMIX_ERR_NOT_SUPPORTED. So here
 * this status is the answer that is wanted. */
static void settle_unknown(struct result *r, pmix_status_t rc)
{
    if (rc == PMIX_ERR_NOT_SUPPORTED)
        r->verdict = SERVED;
    else if (rc == PMIX_SUCCESS || rc == PMIX_OPERATION_SUCCEEDED)
        wrong(r, "the attribute is ignored");
    else
        wrong(r, "%s, expected %s", PMIx_Error_string(rc),
              PMIx_Error_string(PMIX_ERR_NOT_SUPPORTED));
}

/* For requests with arguments that name nothing: any status but PMIX_ERR_NOT_SUPPORTED
 * shows that the host has looked at them. */
static void settle_answered(struct result *r, pmix_status_t rc)
{
    if (rc == PMIX_ERR_NOT_SUPPORTED) {
        r->verdict = REFUSED;
    } else {
        r->verdict = SERVED;
        snprintf(r->text, sizeof(r->text), "answers %s to an unknown name",
                 PMIx_Error_string(rc));
    }
}

/* Answer to a request with a callback: the blocking forms of some calls hang in older
 * libraries. Static, as an answer may come after its row. */
struct answer {
    sem_t here;
    pmix_status_t status;
    size_t id;
};

static void on_status(pmix_status_t status, void *cbdata)
{
    struct answer *a = cbdata;

    a->status = status;
    sem_post(&a->here);
}

static void on_registered(pmix_status_t status, size_t id, void *cbdata)
{
    struct answer *a = cbdata;

    a->id = id;
    on_status(status, a);
}

/* Waits for a semaphore as long as one request may take. */
static bool await(const struct check *c, sem_t *here)
{
    struct timespec end;

    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += c->timeout_s;
    return sem_timedwait(here, &end) == 0;
}

/* Returns the status of a request whose call has returned rc. */
static pmix_status_t answer_of(const struct check *c, struct answer *a,
                               pmix_status_t rc)
{
    if (rc == PMIX_OPERATION_SUCCEEDED)
        return PMIX_SUCCESS;
    if (rc)
        return rc;
    return await(c, &a->here) ? a->status : PMIX_ERR_TIMEOUT;
}

static void pause_ms(long ms)
{
    const struct timespec t = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

    nanosleep(&t, NULL);
}

/* ---- data ------------------------------------------------------------------------ */

static pmix_status_t put(const struct check *c, const char *key)
{
    pmix_value_t value = {.type = PMIX_UINT32, .data.uint32 = c->me.rank + 100};
    pmix_status_t rc = PMIx_Put(PMIX_GLOBAL, key, &value);

    return rc ? rc : PMIx_Commit();
}

/* Reads the key of every process, and compares the value. */
static void get_all(const struct check *c, struct result *r, const char *key)
{
    for (pmix_rank_t rank = 0; rank < c->size; rank++) {
        pmix_value_t *v = NULL;
        pmix_info_t info;
        pmix_proc_t proc;

        limit(c, &info);
        name_proc(&proc, c->me.nspace, rank);
        if (!settle(r, PMIx_Get(&proc, key, &info, 1, &v)))
            return;
        if (v->type != PMIX_UINT32 || v->data.uint32 != rank + 100)
            wrong(r, "another value of rank %u", rank);
        free_value(v);
    }
}

static void fence(const struct check *c, struct result *r)
{
    pmix_info_t info;

    limit(c, &info);
    settle(r, PMIx_Fence(&c->job, 1, &info, 1));
}

static void fence_collecting(const struct check *c, struct result *r)
{
    const bool yes = true;
    pmix_info_t info[2];

    load(&info[0], PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    limit(c, &info[1]);
    if (settle(r, put(c, "host_check.fenced")) &&
        settle(r, PMIx_Fence(&c->job, 1, info, 2)))
        get_all(c, r, "host_check.fenced");
}

static void fence_unknown(const struct check *c, struct result *r)
{
    pmix_info_t info[2];

    unknown(&info[0]);
    limit(c, &info[1]);
    settle_unknown(r, PMIx_Fence(&c->job, 1, info, 2));
}

static void get_without_fence(const struct check *c, struct result *r)
{
    if (settle(r, put(c, "host_check.direct")))
        get_all(c, r, "host_check.direct");
}

static void get_missing(const struct check *c, struct result *r)
{
    const int seconds = 1;
    pmix_value_t *v = NULL;
    pmix_info_t info;
    pmix_proc_t next;

    load(&info, PMIX_TIMEOUT, &seconds, PMIX_INT);
    name_proc(&next, c->me.nspace, (c->me.rank + 1) % c->size);
    pmix_status_t rc = PMIx_Get(&next, "host_check.missing", &info, 1, &v);
    if (rc == PMIX_ERR_TIMEOUT || rc == PMIX_ERR_NOT_FOUND) {
        r->verdict = SERVED;
        snprintf(r->text, sizeof(r->text), "%s", PMIx_Error_string(rc));
    } else if (settle(r, rc)) {
        wrong(r, "a value of a key that no process has put");
    }
    free_value(v);
}

/* ---- publications ---------------------------------------------------------------- */

static pmix_status_t publish(const char *key)
{
    pmix_info_t info;

    load(&info, key, "published", PMIX_STRING);
    pmix_status_t rc = PMIx_Publish(&info, 1);
    unload(&info, 1);
    return rc;
}

/* Looks up a key, with a directive or NULL. */
static pmix_status_t lookup(const struct check *c, const char *key,
                            const char *directive, pmix_pdata_t *found)
{
    const int one = 1;
    pmix_info_t info[2];

    limit(c, &info[0]);
    if (directive)
        load(&info[1], directive, &one, PMIX_INT);
    memset(found, 0, sizeof(*found));
    snprintf(found->key, sizeof(found->key), "%s", key);
    return PMIx_Lookup(found, 1, info, directive ? 2 : 1);
}

static void settle_found(const struct check *c, struct result *r, pmix_status_t rc,
                         pmix_pdata_t *found)
{
    if (!settle(r, rc))
        return;
    if (found->value.type != PMIX_STRING ||
        strcmp(found->value.data.string, "published") != 0)
        wrong(r, "another value");
    else if (found->proc.rank != 0 || strcmp(found->proc.nspace, c->me.nspace) != 0)
        wrong(r, "another publisher, %.100s.%u", found->proc.nspace, found->proc.rank);
    PMIx_Value_destruct(&found->value);
}

static void publish_first(const struct check *c, struct result *r)
{
    if (c->me.rank == 0)
        settle(r, publish("host_check.name"));
}

static void publish_again(const struct check *c, struct result *r)
{
    if (c->me.rank != 0)
        return;
    pmix_status_t rc = publish("host_check.name");
    if (rc == PMIX_ERR_NOT_SUPPORTED)
        r->verdict = REFUSED;
    else if (rc)
        r->verdict = SERVED,
        snprintf(r->text, sizeof(r->text), "%s", PMIx_Error_string(rc));
    else
        wrong(r, "a second value of one key is accepted");
}

static void lookup_first(const struct check *c, struct result *r)
{
    pmix_pdata_t found;

    if (c->me.rank != 1)
        return;
    pmix_status_t rc = lookup(c, "host_check.name", NULL, &found);
    settle_found(c, r, rc, &found);
}

/* The publication comes after the look-up has begun. */
static void lookup_waiting(const struct check *c, struct result *r)
{
    pmix_pdata_t found;

    if (c->me.rank == 0) {
        pause_ms(200);
        pmix_status_t rc = publish("host_check.later");
        if (rc) /* rank 1 waits in vain */
            settle(r, rc);
    } else if (c->me.rank == 1) {
        pmix_status_t rc = lookup(c, "host_check.later", PMIX_WAIT, &found);
        settle_found(c, r, rc, &found);
    }
}

static void unpublish(const struct check *c, struct result *r)
{
    char first[] = "host_check.name", second[] = "host_check.later";
    char *keys[] = {first, second, NULL};

    if (c->me.rank == 0)
        settle(r, PMIx_Unpublish(keys, NULL, 0));
}

static void lookup_gone(const struct check *c, struct result *r)
{
    pmix_pdata_t found;

    if (c->me.rank != 1)
        return;
    pmix_status_t rc = lookup(c, "host_check.name", NULL, &found);
    if (rc == PMIX_ERR_NOT_FOUND)
        r->verdict = SERVED;
    else if (settle(r, rc))
        wrong(r, "the value is still there");
    PMIx_Value_destruct(&found.value);
}

/* ---- events ---------------------------------------------------------------------- */

static sem_t event_here;
static pmix_proc_t event_source;

static void on_event(size_t id, pmix_status_t status, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n, pmix_info_t results[],
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                     void *cbdata)
{
    (void)id, (void)status, (void)info, (void)n, (void)results, (void)n_results;
    event_source = *source;
    sem_post(&event_here);
    done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

static void notify(const struct check *c, struct result *r)
{
    static struct answer registered, notified, deregistered;
    pmix_status_t code = EVENT, rc;

    sem_init(&event_here, 0, 0);
    sem_init(&registered.here, 0, 0);
    sem_init(&notified.here, 0, 0);
    sem_init(&deregistered.here, 0, 0);
    (void)PMIx_Register_event_handler(&code, 1, NULL, 0, on_event, on_registered,
                                      &registered);
    rc = answer_of(c, &registered, PMIX_SUCCESS);
    const pmix_status_t met = meet_all(c);
    if (!settle(r, rc ? rc : met))
        return;
    if (c->me.rank == 0) {
        rc = PMIx_Notify_event(EVENT, &c->me, PMIX_RANGE_NAMESPACE, NULL, 0, on_status,
                               &notified);
        settle(r, answer_of(c, &notified, rc));
    } else if (!await(c, &event_here)) {
        wrong(r, "the event does not arrive");
    } else if (event_source.rank != 0) {
        wrong(r, "another source, rank %u", event_source.rank);
    }
    rc = PMIx_Deregister_event_handler(registered.id, on_status, &deregistered);
    (void)answer_of(c, &deregistered, rc);
}

/* ---- jobs ------------------------------------------------------------------------ */

static void connect_all(const struct check *c, struct result *r)
{
    pmix_info_t info;

    limit(c, &info);
    settle(r, PMIx_Connect(&c->job, 1, &info, 1));
}

static void disconnect_all(const struct check *c, struct result *r)
{
    pmix_info_t info;

    limit(c, &info);
    settle(r, PMIx_Disconnect(&c->job, 1, &info, 1));
}

static bool has_group;

static void group_construct(const struct check *c, struct result *r)
{
    pmix_info_t info, *results = NULL;
    size_t n = 0;

    limit(c, &info);
    has_group = settle(
        r, PMIx_Group_construct("host_check", &c->job, 1, &info, 1, &results, &n));
    free_infos(results, n);
}

static void group_destruct(const struct check *c, struct result *r)
{
    pmix_info_t info;

    limit(c, &info);
    settle(r, has_group ? PMIx_Group_destruct("host_check", &info, 1)
                        : PMIX_ERR_NOT_SUPPORTED);
}

static pmix_status_t start(const struct check *c, const pmix_info_t *info, size_t n,
                           char *nspace)
{
    char child[] = "--child", program[4096];
    char *argv[] = {program, child, NULL};
    pmix_app_t app = {.cmd = program, .argv = argv, .maxprocs = 1};

    snprintf(program, sizeof(program), "%s", c->program);
    if (strchr(program, '/')) /* the host's folder may be another one */
        (void)!realpath(c->program, program);
    return PMIx_Spawn(info, n, &app, 1, nspace);
}

static void spawn(const struct check *c, struct result *r)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    pmix_value_t *v = NULL;
    pmix_proc_t child;

    if (c->me.rank != 0 || !settle(r, start(c, NULL, 0, nspace)))
        return;
    name_proc(&child, nspace, PMIX_RANK_WILDCARD);
    pmix_status_t rc = PMIx_Get(&child, PMIX_JOB_SIZE, NULL, 0, &v);
    if (rc || v->type != PMIX_UINT32 || v->data.uint32 != 1)
        wrong(r, "the parent finds no PMIX_JOB_SIZE of job %.60s: %s", nspace,
              PMIx_Error_string(rc));
    free_value(v);
}

static void spawn_unknown(const struct check *c, struct result *r)
{
    char nspace[PMIX_MAX_NSLEN + 1] = "";
    pmix_info_t info;

    unknown(&info);
    if (c->me.rank == 0)
        settle_unknown(r, start(c, &info, 1, nspace));
}

static void job_control(const struct check *c, struct result *r)
{
    const int signum = SIGCONT; /* has no effect */
    pmix_info_t info, *results = NULL;
    size_t n = 0;

    if (c->me.rank != 0)
        return;
    load(&info, PMIX_JOB_CTRL_SIGNAL, &signum, PMIX_INT);
    settle(r, PMIx_Job_control(&c->me, 1, &info, 1, &results, &n));
    free_infos(results, n);
}

static void allocate(const struct check *c, struct result *r)
{
    pmix_info_t info, *results = NULL;
    size_t n = 0;

    if (c->me.rank != 0)
        return;
    load(&info, PMIX_ALLOC_ID, UNKNOWN, PMIX_STRING);
    settle_answered(
        r, PMIx_Allocation_request(PMIX_ALLOC_RELEASE, &info, 1, &results, &n));
    free_infos(results, n);
    unload(&info, 1);
}

static void monitor(const struct check *c, struct result *r)
{
    pmix_info_t what, *results = NULL;
    size_t n = 0;

    if (c->me.rank != 0)
        return;
    load(&what, PMIX_MONITOR_CANCEL, UNKNOWN, PMIX_STRING);
    settle_answered(r, PMIx_Process_monitor(&what, EVENT, NULL, 0, &results, &n));
    free_infos(results, n);
    unload(&what, 1);
}

/* ---- queries, log, credentials, output ------------------------------------------- */

static void query(const struct check *c, struct result *r, const char *key,
                  pmix_data_type_t type)
{
    char *keys[] = {(char *)key, NULL};
    pmix_info_t qualifier, *results = NULL;
    pmix_query_t q = {.keys = keys, .qualifiers = &qualifier, .nqual = 1};
    size_t n = 0;
    bool found = false;

    if (c->me.rank != 0)
        return;
    load(&qualifier, PMIX_NSPACE, c->me.nspace, PMIX_STRING);
    if (strcmp(key, PMIX_QUERY_NAMESPACES) == 0) {
        q.qualifiers = NULL;
        q.nqual = 0;
    }
    if (settle(r, PMIx_Query_info(&q, 1, &results, &n))) {
        for (size_t i = 0; i < n; i++)
            found |= strncmp(results[i].key, key, PMIX_MAX_KEYLEN) == 0 &&
                     results[i].value.type == type;
        if (!found)
            wrong(r, "no %s of type %s in the answer", key,
                  PMIx_Data_type_string(type));
    }
    free_infos(results, n);
    unload(&qualifier, 1);
}

static void query_namespaces(const struct check *c, struct result *r)
{
    query(c, r, PMIX_QUERY_NAMESPACES, PMIX_STRING);
}

static void query_processes(const struct check *c, struct result *r)
{
    query(c, r, PMIX_QUERY_PROC_TABLE, PMIX_DATA_ARRAY);
}

static void write_log(const struct check *c, struct result *r)
{
    pmix_info_t info;

    if (c->me.rank != 0)
        return;
    load(&info, PMIX_LOG_STDERR, "pmix_host_check: this line is logged\n", PMIX_STRING);
    settle(r, PMIx_Log(&info, 1, NULL, 0));
    unload(&info, 1);
}

static pmix_byte_object_t credential;

static void get_credential(const struct check *c, struct result *r)
{
    if (c->me.rank == 0)
        settle(r, PMIx_Get_credential(NULL, 0, &credential));
}

static void validate_credential(const struct check *c, struct result *r)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    if (c->me.rank != 0)
        return;
    settle(r, PMIx_Validate_credential(&credential, NULL, 0, &results, &n));
    free_infos(results, n);
    free(credential.bytes);
}

static void on_output(size_t id, pmix_iof_channel_t channel, pmix_proc_t *source,
                      pmix_byte_object_t *bytes, pmix_info_t info[], size_t n)
{
    (void)id, (void)channel, (void)source, (void)bytes, (void)info, (void)n;
}

static void pull(const struct check *c, struct result *r)
{
    static struct answer pulled, ended;
    pmix_proc_t other;

    if (c->me.rank != 0)
        return;
    sem_init(&pulled.here, 0, 0);
    sem_init(&ended.here, 0, 0);
    name_proc(&other, c->me.nspace, 1);
    pmix_status_t rc = PMIx_IOF_pull(&other, 1, NULL, 0, PMIX_FWD_STDOUT_CHANNEL,
                                     on_output, on_registered, &pulled);
    if (!settle(r, answer_of(c, &pulled, rc)))
        return;
    rc = PMIx_IOF_deregister(pulled.id, NULL, 0, on_status, &ended);
    settle(r, answer_of(c, &ended, rc));
}

/* Returns the number of processes of the job on this node, or of the whole job if the
 * host does not list them. */
static uint32_t local_size(const struct check *c)
{
    pmix_value_t *v = NULL;
    uint32_t n = c->size;

    if (PMIx_Get(&c->job, PMIX_LOCAL_PEERS, NULL, 0, &v) == PMIX_SUCCESS &&
        v->type == PMIX_STRING && v->data.string) {
        n = 1;
        for (const char *at = v->data.string; (at = strchr(at, ',')) != NULL; at++)
            n++;
    }
    free_value(v);
    return n;
}

/* NULL is this node. */
static void resolve(const struct check *c, struct result *r)
{
    const uint32_t wanted = local_size(c);
    pmix_proc_t *procs = NULL;
    char *nodes = NULL;
    size_t n = 0;

    if (settle(r, PMIx_Resolve_peers(NULL, c->me.nspace, &procs, &n)) && n != wanted)
        wrong(r, "PMIx_Resolve_peers finds %zu of %u processes", n, wanted);
    free(procs);
    pmix_status_t rc = PMIx_Resolve_nodes(c->me.nspace, &nodes);
    if (rc && r->verdict == SERVED)
        settle(r, rc);
    free(nodes);
}

/* ---- the table ------------------------------------------------------------------- */

const struct row call_rows[] = {
    {.name = "PMIx_Fence", .must = true, .run = fence},
    {.name = "PMIx_Fence, PMIX_COLLECT_DATA", .must = true, .run = fence_collecting},
    {.name = "PMIx_Fence, unknown required attribute",
     .must = true,
     .run = fence_unknown},
    {.name = "PMIx_Get, before a fence", .must = true, .run = get_without_fence},
    {.name = "PMIx_Get, missing key, PMIX_TIMEOUT", .must = true, .run = get_missing},
    {.name = "PMIx_Resolve_peers, PMIx_Resolve_nodes", .must = true, .run = resolve},
    {.name = "PMIx_Publish", .run = publish_first},
    {.name = "PMIx_Publish, the same key again", .run = publish_again},
    {.name = "PMIx_Lookup", .run = lookup_first},
    {.name = "PMIx_Lookup, PMIX_WAIT", .run = lookup_waiting},
    {.name = "PMIx_Unpublish", .run = unpublish},
    {.name = "PMIx_Lookup, after PMIx_Unpublish", .run = lookup_gone},
    {.name = "PMIx_Notify_event, PMIX_RANGE_NAMESPACE", .must = true, .run = notify},
    {.name = "PMIx_Connect", .run = connect_all},
    {.name = "PMIx_Disconnect", .run = disconnect_all},
    {.name = "PMIx_Group_construct", .run = group_construct},
    {.name = "PMIx_Group_destruct", .run = group_destruct},
    {.name = "PMIx_Spawn", .run = spawn},
    {.name = "PMIx_Spawn, unknown required attribute",
     .must = true,
     .run = spawn_unknown},
    {.name = "PMIx_Job_control, PMIX_JOB_CTRL_SIGNAL", .run = job_control},
    {.name = "PMIx_Allocation_request", .run = allocate},
    {.name = "PMIx_Process_monitor", .run = monitor},
    {.name = "PMIx_Query_info, PMIX_QUERY_NAMESPACES", .run = query_namespaces},
    {.name = "PMIx_Query_info, PMIX_QUERY_PROC_TABLE", .run = query_processes},
    {.name = "PMIx_Log, PMIX_LOG_STDERR", .run = write_log},
    {.name = "PMIx_Get_credential", .run = get_credential},
    {.name = "PMIx_Validate_credential", .run = validate_credential},
    {.name = "PMIx_IOF_pull, PMIx_IOF_deregister", .run = pull},
    {0},
};

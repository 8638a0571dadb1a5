/* SPDX-License-Identifier: BSD-3-Clause */
/* two_nodes CLIENT ARGS...: a job of four ranks on two simulated nodes. Each node is a server process on
 * this machine. The servers exchange contributions to fences and data for direct modex over a pair of
 * sockets, as resource managers do over a network. NODE_LIBRARY_0 and NODE_LIBRARY_1 are the folders of
 * libpmix for each node's server and ranks. With TWO_NETWORKS each node has a network namespace of its
 * own. TWO_RANKS is the number of ranks on each node, two by default. With TWO_CLUSTERS the nodes belong
 * to clusters "west" and "east". Each cluster has a job of its own, and both jobs have the same name. */
#include "two_nodes.h"

#include <errno.h>
#include <net/if.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define NSPACE    "two-nodes"
#define CHILD     "spawned" /* job that a rank spawns */
#define FORWARDED "OMPI_MCA_two_nodes"
#define MAX_RANKS 3 /* ranks of a node */
#define BIGGEST   (64u << 20)
#define WAIT_S    60

/* Attributes of RFC 0003, which release 4.2 lacks */
#define EARLY_TERM_ALLOWED "pmix.joint.early"
#define CONNECT_OPTIONAL   "pmix.joint.opt"

struct request {
    pmix_modex_cbfunc_t cb;
    void *cbdata;
};

static const char *const clusters[] = {"west", "east"};

static struct {
    int id, fd, n_ranks;
    bool of_clusters;
    pthread_mutex_t lock;
    struct part *parts;
    bool may_end;                 /* the last connect allows members to end */
    int n_joined;                 /* connected namespaces */
    int n_left[2][MAX_RANKS * 2]; /* namespaces that each rank of each job has left */
    struct host_job child;
    bool has_child; /* a thread of this node runs the child job */
    pthread_t child_runner;
    volatile int other_done; /* the other node has no process any more */
} node = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* ---- between the nodes ----------------------------------------------------------- */

static void write_all(const void *data, size_t n)
{
    const char *p = data;

    while (n > 0) {
        ssize_t k = send(node.fd, p, n, MSG_NOSIGNAL);

        HOST_CHECK(k > 0 || errno == EINTR);
        if (k > 0) {
            p += k;
            n -= (size_t)k;
        }
    }
}

static bool read_all(void *data, size_t n)
{
    char *p = data;

    while (n > 0) {
        ssize_t k = recv(node.fd, p, n, 0);

        if (k == 0 || (k < 0 && errno != EINTR))
            return false;
        if (k > 0) {
            p += k;
            n -= (size_t)k;
        }
    }
    return true;
}

void notify_other(const struct head *h, const void *data)
{
    static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;

    pthread_mutex_lock(&one_at_a_time);
    write_all(h, sizeof(*h));
    write_all(data, h->n);
    pthread_mutex_unlock(&one_at_a_time);
}

/* ---- fences ---------------------------------------------------------------------- */

static struct part *take_part(const char *signature, bool ours)
{
    for (struct part **p = &node.parts; *p; p = &(*p)->next) {
        struct part *found = *p;

        if (!found->cb == !ours && strcmp(found->signature, signature) == 0) {
            *p = found->next;
            return found;
        }
    }
    return NULL;
}

static void keep_part(struct part *part)
{
    struct part **last = &node.parts;

    while (*last)
        last = &(*last)->next;
    *last = part;
}

/* Completes a fence with the contributions in the order of the nodes. */
static void complete(struct part *own, struct part *other)
{
    const struct part *a = node.id == 0 ? own : other, *b = node.id == 0 ? other : own;
    char *whole = host_alloc(a->n + b->n + 1);

    if (a->n)
        memcpy(whole, a->data, a->n);
    if (b->n)
        memcpy(whole + a->n, b->data, b->n);
    own->cb(own->status ? own->status : other->status, whole, a->n + b->n, own->cbdata,
            free, whole);
    free(own->data);
    free(own);
    free(other->data);
    free(other);
}

/* Returns the contribution of a node without processes: no data, or an error. */
static struct part *absent_part(void)
{
    struct part *part = host_alloc(sizeof(*part));

    *part = (struct part){.status = node.may_end ? PMIX_SUCCESS
                                                 : PMIX_ERR_LOST_CONNECTION};
    return part;
}

/* Completes all waiting fences, since the other node has no process any more. */
static void settle_parts(void)
{
    struct part *part, *next;

    pthread_mutex_lock(&node.lock);
    node.other_done = 1;
    part = node.parts;
    node.parts = NULL;
    pthread_mutex_unlock(&node.lock);
    for (; part; part = next) {
        next = part->next;
        part->next = NULL;
        if (part->cb)
            complete(part, absent_part());
        else
            keep_part(part);
    }
}

void add_part(const struct head *h, const char *data, pmix_modex_cbfunc_t cb,
              void *cbdata)
{
    struct part *part = host_alloc(sizeof(*part)), *match;
    size_t n = h->n;

    *part = (struct part){.n = n, .status = h->status, .cb = cb, .cbdata = cbdata};
    snprintf(part->signature, sizeof(part->signature), "%s", h->signature);
    part->data = host_alloc(n + 1);
    if (n)
        memcpy(part->data, data, n);
    pthread_mutex_lock(&node.lock);
    match = take_part(h->signature, cb == NULL);
    if (!match && cb && node.other_done)
        match = absent_part();
    if (!match)
        keep_part(part);
    pthread_mutex_unlock(&node.lock);
    if (match)
        complete(cb ? part : match, cb ? match : part);
}

static int by_text(const void *a, const void *b)
{
    return strcmp(a, b);
}

/* Fills the signature: names of the processes on both nodes, sorted, and the namespace that they share.
 * The signature of a fence in such a namespace is only its name, since one node may learn later that a
 * process left. */
static void sign(struct head *h, const char *what, const pmix_proc_t procs[], size_t n,
                 const pmix_info_t info[], size_t n_info)
{
    char names[16][PMIX_MAX_NSLEN + 32];
    size_t len = (size_t)sprintf(h->signature, "%s ", what);

    HOST_CHECK(n <= 16);
    for (size_t i = 0; i < n; i++)
        sprintf(names[i], "%s%s%s:%d ",
                node.of_clusters && !strchr(procs[i].nspace, ':') ? clusters[node.id]
                                                                  : "",
                node.of_clusters && !strchr(procs[i].nspace, ':') ? ":" : "",
                procs[i].nspace, (int)procs[i].rank);
    qsort(names, n, sizeof(names[0]), by_text);
    for (size_t i = 0; i < n; i++)
        len += (size_t)snprintf(h->signature + len, sizeof(h->signature) - len, "%s",
                                names[i]);
    for (size_t i = 0; i < n_info; i++) {
        if (PMIX_CHECK_KEY(&info[i], PMIX_LOCAL_COLLECTIVE_STATUS))
            h->status = info[i].value.data.status;
        if (!PMIX_CHECK_KEY(&info[i], PMIX_NSPACE))
            continue;
        if (strcmp(what, "fence") == 0)
            len = (size_t)sprintf(h->signature, "%s ", what);
        snprintf(h->signature + len, sizeof(h->signature) - len, "in %s",
                 info[i].value.data.string);
    }
}

static pmix_status_t on_fence(const pmix_proc_t procs[], size_t n_procs,
                              const pmix_info_t info[], size_t n_info, char *data,
                              size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    struct head h = {.kind = FENCE, .n = (uint32_t)n};

    sign(&h, "fence", procs, n_procs, info, n_info);
    notify_other(&h, data);
    add_part(&h, data, cb, cbdata);
    free(data); /* the host frees the data with every library */
    return PMIX_SUCCESS;
}

/* ---- two clusters ---------------------------------------------------------------- */

struct ending {
    pmix_op_cbfunc_t cb;
    void *cbdata;
    bool joins; /* the connect creates a namespace */
};

static bool has(const pmix_info_t info[], size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return true;
    return false;
}

static void on_joined(pmix_status_t status, const char *data, size_t n, void *cbdata,
                      pmix_release_cbfunc_t release, void *release_data)
{
    struct ending *e = cbdata;

    node.n_joined += e->joins && status == PMIX_SUCCESS;
    e->cb(status, e->cbdata);
    release(release_data);
    free(e);
}

/* Connects processes. The connect completes only if both servers choose the same namespace. */
static pmix_status_t on_connect(const pmix_proc_t procs[], size_t n_procs,
                                const pmix_info_t info[], size_t n, pmix_op_cbfunc_t cb,
                                void *cbdata)
{
    struct ending *e = host_alloc(sizeof(*e));
    struct head h = {.kind = FENCE};

    *e = (struct ending){cb, cbdata, false};
    sign(&h, "connect", procs, n_procs, info, n);
    node.may_end = has(info, n, EARLY_TERM_ALLOWED) || has(info, n, CONNECT_OPTIONAL);
    e->joins = has(info, n, PMIX_NSPACE);
    HOST_CHECK(!node.of_clusters || strstr(h.signature, " in connected-"));
    notify_other(&h, NULL);
    add_part(&h, NULL, on_joined, e);
    return PMIX_SUCCESS;
}

/* Returns the number of namespaces that a process has left. */
static int *n_left_by(const pmix_proc_t *proc)
{
    HOST_CHECK(proc->rank < MAX_RANKS * 2u);
    return &node.n_left[PMIX_CHECK_NSPACE(proc->nspace, CHILD)][proc->rank];
}

static pmix_status_t on_disconnect(const pmix_proc_t procs[], size_t n_procs,
                                   const pmix_info_t info[], size_t n,
                                   pmix_op_cbfunc_t cb, void *cbdata)
{
    bool named = false, identified = false;

    for (size_t i = 0; i < n; i++) {
        named |= PMIX_CHECK_KEY(&info[i], PMIX_NSPACE);
        identified |= strcmp(info[i].value.type == PMIX_STRING
                                 ? info[i].value.data.string
                                 : "",
                             "myconnect") == 0;
    }
    if (!named) /* programs here connect only with a namespace */
        return PMIX_ERR_INVALID_OPERATION;
    HOST_CHECK(n_procs == 1 && (identified || !node.of_clusters));
    ++*n_left_by(&procs[0]);
    return PMIX_OPERATION_SUCCEEDED;
}

static void on_ignored(pmix_status_t status, void *cbdata)
{
}

static pmix_status_t on_publish(const pmix_proc_t *proc, const pmix_info_t info[],
                                size_t n, pmix_op_cbfunc_t cb, void *cbdata)
{
    struct head h = {.kind = PUBLISH, .proc = *proc};

    for (size_t i = 0; i < n; i++) {
        if (strncmp(info[i].key, "pmix.", 5) == 0)
            continue;
        snprintf(h.signature, sizeof(h.signature), "%s", info[i].key);
        h.n = (uint32_t)strlen(info[i].value.data.string) + 1;
        notify_other(&h, info[i].value.data.string);
    }
    return host_module.publish(proc, info, n, cb, cbdata);
}

static void publish_for_other(const struct head *h, const char *text)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, h->signature, text, PMIX_STRING);
    HOST_GOOD(host_module.publish(&h->proc, &info, 1, on_ignored, NULL));
    PMIX_INFO_DESTRUCT(&info);
}

static pmix_status_t on_event(pmix_status_t code, const pmix_proc_t *source,
                              pmix_data_range_t range, pmix_info_t info[], size_t n,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    struct head h = {.kind = EVENT, .status = code, .proc = *source};
    pmix_byte_object_t bytes = host_pack_infos(info, n);

    h.n = (uint32_t)bytes.size;
    notify_other(&h, bytes.bytes);
    free(bytes.bytes);
    return PMIX_OPERATION_SUCCEEDED;
}

static void raise_event(const struct head *h, char *data)
{
    size_t n;
    pmix_info_t *info = host_unpack_infos((pmix_byte_object_t){data, h->n}, &n);

    HOST_GOOD(
        PMIx_Notify_event(h->status, &h->proc, PMIX_RANGE_CUSTOM, info, n, NULL, NULL));
    PMIX_INFO_FREE(info, n);
}

/* Reports a member that ends without a disconnect to the first job, on both nodes. */
static void report_end(const pmix_proc_t *proc)
{
    struct head h = {.kind = EVENT, .status = PMIX_ERR_INVALID_TERMINATION};
    pmix_proc_t all;
    pmix_data_array_t range = {.type = PMIX_PROC, .size = 1, .array = &all};
    pmix_info_t info[2];
    pmix_byte_object_t bytes;

    if (!node.of_clusters && !node.may_end && *n_left_by(proc) < node.n_joined) {
        h.proc = *proc;
        PMIX_LOAD_PROCID(&all, NSPACE, PMIX_RANK_WILDCARD);
        PMIX_INFO_LOAD(&info[0], PMIX_EVENT_AFFECTED_PROC, proc, PMIX_PROC);
        PMIX_INFO_LOAD(&info[1], PMIX_EVENT_CUSTOM_RANGE, &range, PMIX_DATA_ARRAY);
        bytes = host_pack_infos(info, 2);
        h.n = (uint32_t)bytes.size;
        notify_other(&h, bytes.bytes);
        HOST_GOOD(
            PMIx_Notify_event(h.status, proc, PMIX_RANGE_CUSTOM, info, 2, NULL, NULL));
        free(bytes.bytes);
        PMIX_INFO_DESTRUCT(&info[0]);
        PMIX_INFO_DESTRUCT(&info[1]);
    }
}

static pmix_status_t on_ended(const pmix_proc_t *proc, void *object,
                              pmix_op_cbfunc_t cb, void *cbdata)
{
    report_end(proc);
    return host_module.client_finalized(proc, object, cb, cbdata);
}

/* Returns the list of a node's ranks, from first on. */
static const char *ranks_from(int first)
{
    static char texts[4][32];
    static int n_texts;
    char *text = texts[n_texts++ % 4];

    for (int i = 0, len = 0; i < node.n_ranks; i++)
        len += sprintf(text + len, "%s%d", i ? "," : "", first + i);
    return text;
}

static void register_clusters(struct host_job *job)
{
    static struct host_job other;
    const char *ranks = ranks_from(0);
    int n = node.n_ranks;
    char name[64];
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, PMIX_CLUSTER_ID, clusters[node.id], PMIX_STRING);
    HOST_GOOD(host_register_resources(&info, 1));
    PMIX_INFO_DESTRUCT(&info);
    host_register_map(
        job, NSPACE, n,
        &(struct host_map){node.id ? "nodeB" : "nodeA", ranks, ranks, 1, n, 0, NULL});
    sprintf(name, "%s:%s", clusters[1 - node.id], NSPACE);
    host_register_map(
        &other, name, n,
        &(struct host_map){node.id ? "nodeA" : "nodeB", ranks, "", 1, 0, 0, NULL});
}

/* ---- spawn: the other node runs a job of the same size. The job kills itself. ------ */

struct spawning {
    struct head h;
    pmix_byte_object_t app;
    pmix_spawn_cbfunc_t cb;
    void *cbdata;
};

/* Registers the child job at this server. This node runs the job if is_here is true. */
static void register_child(const pmix_proc_t *parent, bool is_here)
{
    const int n = node.n_ranks;
    char ranks[64];

    snprintf(ranks, sizeof(ranks), "%s,%s", ranks_from(0), ranks_from(n));
    host_register_map(&node.child, CHILD, 2 * n,
                      &(struct host_map){is_here == (node.id == 1) ? "nodeB" : "nodeA",
                                         ranks, is_here ? ranks : "", 1,
                                         is_here ? 2 * n : 0, 0, parent});
    for (int r = 0; is_here && r < 2 * n; r++)
        HOST_GOOD(host_register_client(CHILD, (pmix_rank_t)r, NULL));
}

/* Registers the job at this server, and passes the application to the other node. Messages arrive in
 * order: the other node registers the job before a process there can name the job. */
static void spawn_there(void *arg)
{
    struct spawning *s = arg;
    pmix_nspace_t name = CHILD;

    register_child(&s->h.proc, false);
    notify_other(&s->h, s->app.bytes);
    s->cb(PMIX_SUCCESS, name, s->cbdata);
    free(s->app.bytes);
    free(s);
}

static pmix_status_t on_spawn(const pmix_proc_t *proc, const pmix_info_t info[],
                              size_t n, const pmix_app_t apps[], size_t n_apps,
                              pmix_spawn_cbfunc_t cb, void *cbdata)
{
    struct spawning *s = host_alloc(sizeof(*s));

    HOST_CHECK(n_apps == 1 && apps[0].maxprocs == 2 * node.n_ranks);
    *s = (struct spawning){
        {.kind = SPAWN, .proc = *proc}, host_pack_app(&apps[0]), cb, cbdata};
    s->h.n = (uint32_t)s->app.size;
    host_reply(spawn_there, s);
    return PMIX_SUCCESS;
}

/* Runs the job in a thread, since the parents wait for the end of the job. */
static void *run_child(void *arg)
{
    pmix_app_t *app = arg;

    free(app->argv[0]);
    app->argv[0] = strdup(app->cmd);
    host_start_all(&node.child, app->argv);
    PMIX_APP_FREE(app, 1);
    host_wait(&node.child, WAIT_S);
    for (int r = 0; r < node.child.size; r++) {
        pmix_proc_t proc;

        HOST_CHECK(node.child.status[r] == 128 + SIGKILL);
        PMIX_LOAD_PROCID(&proc, CHILD, (pmix_rank_t)r);
        report_end(&proc);
    }
    return NULL;
}

static void spawn_here(const struct head *h, char *data)
{
    pmix_app_t *app = host_unpack_app((pmix_byte_object_t){data, h->n});

    register_child(&h->proc, true);
    HOST_CHECK(pthread_create(&node.child_runner, NULL, run_child, app) == 0);
    node.has_child = true;
}

/* Ends the child job, after the ranks of this node. */
static void end_child(void)
{
    if (node.has_child)
        pthread_join(node.child_runner, NULL);
    if (node.child.size > 0)
        host_deregister_nspace(CHILD);
}

/* Adds the functions that connected processes need. */
static void add_connects(pmix_server_module_t *module)
{
    module->connect = on_connect;
    module->disconnect = on_disconnect;
    module->publish = on_publish;
    module->notify_event = on_event;
    module->client_finalized = on_ended;
    module->spawn = on_spawn;
    module->group = nodes_group;
    nodes_group_init(node.id, node.n_ranks);
}

/* ---- direct modex ---------------------------------------------------------------- */

static pmix_status_t on_dmodex(const pmix_proc_t *proc, const pmix_info_t info[],
                               size_t n, pmix_modex_cbfunc_t cb, void *cbdata)
{
    struct request *r = host_alloc(sizeof(*r));
    struct head h = {.kind = REQUEST, .proc = *proc};

    *r = (struct request){cb, cbdata};
    memcpy(&h.id, &r, sizeof(r));
    notify_other(&h, NULL);
    return PMIX_SUCCESS;
}

static void on_data(pmix_status_t status, char *data, size_t n, void *arg)
{
    struct head *h = arg;

    h->kind = DATA;
    h->status = status;
    h->n = status == PMIX_SUCCESS ? (uint32_t)n : 0;
    notify_other(h, data);
    free(h);
}

static void serve_request(const struct head *asked)
{
    struct head *h = host_alloc(sizeof(*h));
    pmix_status_t rc;

    *h = *asked;
    if (node.of_clusters) /* "<our cluster>:<name>" */
        PMIX_LOAD_NSPACE(h->proc.nspace, NSPACE);
    rc = PMIx_server_dmodex_request(&h->proc, on_data, h);
    if (rc != PMIX_SUCCESS)
        on_data(rc, NULL, 0, h);
}

static void hand_over(const struct head *h, char *data)
{
    struct request *r;

    memcpy(&r, &h->id, sizeof(r));
    r->cb(h->status, data, h->n, r->cbdata, free, data);
    free(r);
}

static void *listen_to_other(void *unused)
{
    struct head h;

    while (read_all(&h, sizeof(h))) {
        char *data = malloc(h.n + 1u);

        HOST_CHECK(h.n < BIGGEST && data && read_all(data, h.n));
        switch (h.kind) {
        case FENCE:
            add_part(&h, data, NULL, NULL);
            break;
        case REQUEST:
            serve_request(&h);
            break;
        case DATA:
            hand_over(&h, data); /* frees the data */
            continue;
        case PUBLISH:
            publish_for_other(&h, data);
            break;
        case EVENT:
            raise_event(&h, data);
            continue;
        case SPAWN:
            spawn_here(&h, data);
            continue;
        case DONE:
            settle_parts();
            break;
        }
        free(data);
    }
    node.other_done = 1;
    return NULL;
}

/* ---- launch information (RFC 0029) ----------------------------------------------- */

/* Gathers launch information on node 0, which launches the job. The environment has a variable to
 * forward, which ranks can only get this way. The name of the job differs, since release 4.2.2 expects
 * more information about a job with gathered information. */
static pmix_byte_object_t gather(const struct host_map *map)
{
    const bool yes = true;
    pmix_info_t info[5];
    char *nodes, *ranks;

    HOST_GOOD(PMIx_generate_regex(map->nodes, &nodes));
    HOST_GOOD(PMIx_generate_ppn(map->ranks, &ranks));
    PMIX_INFO_LOAD(&info[0], PMIX_NODE_MAP, nodes, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[1], PMIX_PROC_MAP, ranks, PMIX_REGEX);
    PMIX_INFO_LOAD(&info[2], PMIX_SETUP_APP_NONENVARS, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[3], PMIX_SETUP_APP_ENVARS, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[4], PMIX_PERSONALITY, "ompi", PMIX_STRING); /* for 4.2.2 */
    setenv(FORWARDED, "from node 0", 1);
    pmix_byte_object_t bytes = host_setup_application("launched", info, 5);
    unsetenv(FORWARDED);
    for (int i = 0; i < 5; i++)
        PMIX_INFO_DESTRUCT(&info[i]);
    free(nodes);
    free(ranks);
    return bytes;
}

/* Sends the launch information to each node, as the launch message of a resource manager does. */
static void bring_launch_info(const struct host_map *map)
{
    struct head h = {.kind = LAUNCH};
    pmix_byte_object_t bytes = {NULL, 0};
    pmix_info_t *info;
    size_t n;

    if (node.id == 0) {
        bytes = gather(map);
        h.n = (uint32_t)bytes.size;
        notify_other(&h, bytes.bytes);
    } else { /* the first message */
        HOST_CHECK(read_all(&h, sizeof(h)) && h.kind == LAUNCH && h.n < BIGGEST);
        bytes = (pmix_byte_object_t){host_alloc(h.n + 1u), h.n};
        HOST_CHECK(read_all(bytes.bytes, bytes.size));
    }
    info = host_unpack_infos(bytes, &n);
    HOST_GOOD(host_setup_local_support(NSPACE, info, n));
    if (n)
        PMIX_INFO_FREE(info, n);
}

/* ---- a node ---------------------------------------------------------------------- */

/* Enters a new network namespace that has only a loopback device. */
static void leave_network(void)
{
    struct ifreq lo = {.ifr_name = "lo", .ifr_flags = IFF_UP};
    int fd;

    HOST_CHECK(unshare(CLONE_NEWNET) == 0);
    fd = socket(AF_INET, SOCK_DGRAM, 0);
    HOST_CHECK(fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0);
    close(fd);
}

static int run_node(int id, int fd, char *const argv[])
{
    pmix_server_module_t module = host_module;
    struct head done = {.kind = DONE};
    struct host_job job;
    pthread_t listener;
    int rc, first;

    node.id = id;
    node.fd = fd;
    module.fence_nb = on_fence;
    module.direct_modex = on_dmodex;
    node.of_clusters = getenv("TWO_CLUSTERS") != NULL;
    host_answers(HOST_LATER);
    node.n_ranks = getenv("TWO_RANKS") ? atoi(getenv("TWO_RANKS")) : 2;
    HOST_CHECK(node.n_ranks > 0 && node.n_ranks <= MAX_RANKS);
    if (node.of_clusters || getenv("TWO_RANKS"))
        add_connects(&module);
    HOST_GOOD(host_init(&module));
    if (node.of_clusters) {
        register_clusters(&job);
    } else {
        char ranks[64];
        const int n = node.n_ranks;
        const struct host_map map = {"nodeA,nodeB", ranks, ranks_from(id * n), 2, n, id,
                                     NULL};

        snprintf(ranks, sizeof(ranks), "%s;%s", ranks_from(0), ranks_from(n));
        bring_launch_info(&map);
        host_register_map(&job, NSPACE, 2 * n, &map);
    }
    first = node.of_clusters ? 0 : id * node.n_ranks;
    for (int r = 0; r < node.n_ranks; r++)
        HOST_GOOD(host_register_client(NSPACE, (pmix_rank_t)(first + r), NULL));
    HOST_CHECK(pthread_create(&listener, NULL, listen_to_other, NULL) == 0);
    for (int r = 0; r < node.n_ranks; r++)
        host_start_rank(&job, first + r, argv);
    rc = host_wait(&job, WAIT_S);
    end_child();
    notify_other(&done, NULL);
    for (int i = 0; i < WAIT_S * 100 && !node.other_done; i++)
        usleep(10000);
    host_deregister_nspace(NSPACE);
    shutdown(fd, SHUT_RDWR);
    pthread_join(listener, NULL);
    host_stop_answering();
    HOST_GOOD(PMIx_server_finalize());
    return rc;
}

/* Starts a node as a process of this program. */
static pid_t start_node(int id, const int fds[2], char *argv[])
{
    char name[32], number[16], descriptor[16];
    char *args[64] = {argv[0], (char *)"--node", number, descriptor};
    const char *library;
    pid_t pid = fork();

    if (pid != 0)
        return pid;
    close(fds[1 - id]);
    snprintf(name, sizeof(name), "NODE_LIBRARY_%d", id);
    library = getenv(name);
    if (library)
        setenv("LD_LIBRARY_PATH", library, 1);
    setenv("PMIX_HOSTNAME", id ? "nodeB" : "nodeA", 1);
    if (getenv("TWO_NETWORKS"))
        leave_network();
    snprintf(number, sizeof(number), "%d", id);
    snprintf(descriptor, sizeof(descriptor), "%d", fds[id]);
    for (int i = 1; argv[i] && i < 50; i++)
        args[i + 3] = argv[i];
    execv("/proc/self/exe", args);
    _exit(127);
}

int main(int argc, char **argv)
{
    int fds[2], how, worst = 0;
    pid_t pids[2];

    if (argc > 4 && strcmp(argv[1], "--node") == 0)
        return run_node(atoi(argv[2]), atoi(argv[3]), argv + 4);
    if (argc < 2) {
        fprintf(stderr, "usage: two_nodes CLIENT ARGS...\n");
        return 2;
    }
    HOST_CHECK(socketpair(AF_UNIX, SOCK_STREAM, 0, fds) == 0);
    for (int id = 0; id < 2; id++)
        pids[id] = start_node(id, fds, argv);
    close(fds[0]);
    close(fds[1]);
    for (int id = 0; id < 2; id++) {
        HOST_CHECK(waitpid(pids[id], &how, 0) == pids[id]);
        how = WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
        worst = how > worst ? how : worst;
    }
    return worst;
}

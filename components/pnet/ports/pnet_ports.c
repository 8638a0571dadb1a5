/* SPDX-License-Identifier: BSD-3-Clause */
/* pnet/ports: TCP and UDP ports for the processes of a job, the same on each of its
 * nodes. No other job of the launching server gets them. The launching server lends the
 * ports until the job ends; each node passes them to the processes. */
#include "components/pnet/jobs.h"
#include "components/pnet/request.h"
#include "core/base/list.h"
#include "core/base/ranges.h"
#include "core/base/str.h"
#include "core/base/vec.h"

#include <inttypes.h>
#include <stdlib.h>

enum { PRIORITY = 20, N_PORTS = 65536, WORD = 64 };

struct conf {
    const char *tcp, *udp;
    uint64_t per_process, per_job;
};

static bool next_ports(const char **at, const char *end, uint32_t *first,
                       uint32_t *last)
{
    return px_ranges_next(at, end, first, last) && *first > 0 && *last < N_PORTS;
}

/* Returns the mistake in a list of ports and its byte, or NULL. */
static const char *mistake_in(const char *list, size_t *at)
{
    const char *next = list, *end = list + strlen(list);
    uint32_t first, last;

    while (next < end) {
        *at = (size_t)(next - list);
        if (!next_ports(&next, end, &first, &last))
            return "expected a port from 1 to 65535, or a range such as 32000-32100";
    }
    return NULL;
}

static const struct px_param params[] = {
    PX_PARAM_STRING(struct conf, tcp, "",
                    "Ports of TCP for jobs, on each node: \"32000-32100,33005\". "
                    "Launchers that may run jobs on one node need different ones",
                    .check = mistake_in),
    PX_PARAM_STRING(struct conf, udp, "", "Ports of UDP for jobs, likewise",
                    .check = mistake_in),
    PX_PARAM_UINT(struct conf, per_process, "0", 0, N_PORTS - 1,
                  "Ports of each protocol that each process of a job gets; 0: jobs "
                  "that ask for ports get them"),
    PX_PARAM_UINT(struct conf, per_job, "0", 0, 2 * N_PORTS,
                  "Limit of a job's ports on each node; 0: all"),
    PX_PARAM_END,
};

/* Ports of one protocol. A bit is set for each port that is not lent. */
struct pool {
    const char *type;      /* PMIX_ALLOC_FABRIC_TYPE */
    const char *id;        /* used if the request names no key */
    const char *own, *all; /* variables for one process, for the job */
    uint64_t unlent[N_PORTS / WORD];
    uint32_t n, n_unlent;
    uint32_t next; /* start of the search, so that returned ports rest */
};
enum { TCP, UDP, N_POOLS };

/* Ports of one pool, in the order of the processes. */
struct stretch {
    uint32_t *port;
    size_t n;
    unsigned pool;
    uint32_t per_proc; /* ports of each process; the first process of a node has the
                        * first ports */
    uint32_t per_node; /* last ports, which are for the node */
};

struct place { /* process of this node */
    pmix_rank_t rank;
    uint32_t local;
};

struct job {
    struct px_fabric_job is;
    struct stretch *lent; /* by this server */
    size_t n_lent, cap_lent;
    px_infos answers; /* as received on this node */
    struct stretch *received;
    struct place *places;
    size_t n_places, cap_places;
};

struct ports {
    const struct px_services *services;
    const struct conf *conf;
    struct pool pools[N_POOLS];
    struct px_list jobs;
};

static pmix_status_t log_error(const struct ports *p, pmix_status_t rc,
                               const struct px_err *err)
{
    p->services->log(p->services, PX_LOG_ERROR, "%s", err->text);
    return rc;
}

/* ---- pools ----------------------------------------------------------------------- */

static bool is_unlent(const struct pool *pool, uint32_t port)
{
    return pool->unlent[port / WORD] >> port % WORD & 1;
}

static void give_back(struct pool *pool, const uint32_t *port, size_t n)
{
    for (size_t i = 0; i < n; i++)
        pool->unlent[port[i] / WORD] |= UINT64_C(1) << port[i] % WORD;
    pool->n_unlent += (uint32_t)n;
}

/* Takes n free ports, which must exist. */
static void take(struct pool *pool, uint32_t *port, size_t n)
{
    uint32_t at = pool->next;

    for (size_t i = 0; i < n;) {
        if (at % WORD == 0 && !pool->unlent[at / WORD]) {
            at = (at + WORD) % N_PORTS;
            continue;
        }
        if (is_unlent(pool, at)) {
            pool->unlent[at / WORD] &= ~(UINT64_C(1) << at % WORD);
            port[i++] = at;
        }
        at = (at + 1) % N_PORTS;
    }
    pool->next = at;
    pool->n_unlent -= (uint32_t)n;
}

/* Adds the ports of a list. A repeated port counts once. */
static pmix_status_t fill(struct pool *pool, const char *text, struct px_err *err)
{
    const char *next = text, *end = text + strlen(text);
    uint32_t first, last;
    size_t at;
    const char *mistake = mistake_in(text, &at);

    if (mistake)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot use pnet_ports_%s \"%.200s\": %s, at byte %zu",
                          pool->type, text, mistake, at);
    while (next < end && next_ports(&next, end, &first, &last))
        for (uint32_t port = first; port <= last; port++)
            if (!is_unlent(pool, port))
                give_back(pool, &port, 1);
    pool->n = pool->n_unlent;
    return PMIX_SUCCESS;
}

/* ---- jobs ------------------------------------------------------------------------ */

static struct job *find_job(const struct ports *p, const char *nspace)
{
    return px_fabric_job_find(&p->jobs, nspace);
}

/* Takes back all stretches except the first "kept". */
static void unlend(struct ports *p, struct job *job, size_t kept)
{
    while (job->n_lent > kept) {
        struct stretch *s = &job->lent[--job->n_lent];

        give_back(&p->pools[s->pool], s->port, s->n);
        free(s->port);
    }
}

static void free_stretches(struct stretch *received, px_infos *answers)
{
    for (size_t i = 0; received && i < answers->n; i++)
        free(received[i].port);
    free(received);
    px_infos_cleanup(answers);
}

static void forget(void *self, const char *nspace)
{
    struct job *job = find_job(self, nspace);

    if (!job)
        return;
    unlend(self, job, 0);
    free_stretches(job->received, &job->answers);
    free(job->lent);
    free(job->places);
    px_list_remove(&job->is.link);
    free(job);
}

/* ---- on the launching server ----------------------------------------------------- */

/* Returns the number of processes on the node that has most of them; 0: unknown. */
static uint32_t most_on_a_node(const struct px_pnet_job *job)
{
    return job->most_on_a_node ? job->most_on_a_node
                               : px_info_u32(job->info, job->n_info, PMIX_JOB_SIZE, 0);
}

static pmix_status_t may_lend(const struct ports *p, const struct job *job,
                              const struct pool *pool, uint64_t n, struct px_err *err)
{
    const uint64_t most = p->conf->per_job;
    uint64_t total = n;

    for (size_t i = 0; i < job->n_lent; i++)
        total += job->lent[i].n;
    if (most && total > most)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                          "cannot give job %s %" PRIu64 " ports of %s: it may have "
                          "%" PRIu64 " (pnet_ports_per_job)",
                          job->is.nspace, n, pool->type, most);
    if (n > pool->n_unlent)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                          "cannot give job %s %" PRIu64 " ports of %s: of %u in "
                          "pnet_ports_%s, %u are left",
                          job->is.nspace, n, pool->type, pool->n, pool->type,
                          pool->n_unlent);
    return PMIX_SUCCESS;
}

/* Lends the ports of a request to the job, and adds an allocation to out. */
static pmix_status_t lend(struct ports *p, struct job *job, unsigned number,
                          const struct px_fabric_request *r, uint32_t n_procs,
                          px_infos *out, struct px_err *err)
{
    struct pool *pool = &p->pools[number];
    const uint64_t n = (uint64_t)r->per_proc * n_procs + r->per_node;
    uint8_t key[PX_FABRIC_KEY_B];
    pmix_status_t rc = may_lend(p, job, pool, n, err);

    if (!rc && r->with_key)
        rc = px_fabric_key_make(key, err);
    if (rc)
        return rc;
    uint32_t *port = malloc((n + 1) * sizeof(*port));
    struct stretch *s = port ? px_vec_add(&job->lent, &job->n_lent, &job->cap_lent)
                             : NULL;
    if (!s) {
        free(port);
        return px_err_nomem(err, "give ports to job %s", job->is.nspace);
    }
    take(pool, port, n);
    *s = (struct stretch){.port = port, .n = n, .pool = number};
    PX_AUTOFREE char *text = px_ranges_format(port, n);
    rc = text ? px_fabric_answer(out, r->id ? r->id : pool->id, pool->type, text, r,
                                 r->with_key ? key : NULL, err)
              : px_err_nomem(err, "give ports to job %s", job->is.nspace);
    explicit_bzero(key, sizeof(key));
    return rc;
}

/* Returns the pool of a request; N_POOLS: the request is for another component. */
static unsigned pool_of(const struct ports *p, const char *type)
{
    unsigned i = 0;

    while (i < N_POOLS && (!type || strcmp(type, p->pools[i].type) != 0))
        i++;
    return i;
}

static pmix_status_t check_request(const struct ports *p, struct px_fabric_request *r,
                                   const struct px_pnet_job *job, struct px_err *err)
{
    if (!r->per_proc && !r->per_node)
        r->per_proc = (uint32_t)p->conf->per_process;
    const char *missing = !r->id                         ? PMIX_ALLOC_FABRIC_ID
                          : !r->per_proc && !r->per_node ? PMIX_ALLOC_FABRIC_ENDPTS
                          : r->per_proc && !most_on_a_node(job) ? PMIX_PROC_MAP
                                                                : NULL;
    if (missing)
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot give job %s ports of %s: there is no %s", job->nspace,
                          r->type, missing);
    return r->required ? px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                                    "cannot give job %s ports of %s with %s",
                                    job->nspace, r->type, r->required)
                       : PMIX_SUCCESS;
}

/* Lends all ports that the host asks for. For other protocols lends the configured
 * number. */
static pmix_status_t lend_all(struct ports *p, struct job *mine,
                              const struct px_pnet_job *job, px_infos *out,
                              struct px_err *err)
{
    const uint32_t n_procs = most_on_a_node(job);
    bool asked[N_POOLS + 1] = {false};
    pmix_status_t rc = PMIX_SUCCESS;
    struct px_fabric_request r;

    for (size_t at = 0; px_fabric_request_next(job, &at, &r, &rc, err);) {
        const unsigned pool = pool_of(p, r.type);

        asked[pool] = true;
        if (pool < N_POOLS)
            rc = check_request(p, &r, job, err);
        if (!rc && pool < N_POOLS)
            rc = lend(p, mine, pool, &r, n_procs, out, err);
    }
    for (unsigned i = 0; !rc && p->conf->per_process && i < N_POOLS; i++) {
        r = (struct px_fabric_request){.per_proc = (uint32_t)p->conf->per_process};
        if (asked[i] || !p->pools[i].n)
            continue;
        if (n_procs)
            rc = lend(p, mine, i, &r, n_procs, out, err);
        else
            p->services->log(p->services, PX_LOG_WARN,
                             "job %s gets no ports of %s: its host gave neither "
                             "PMIX_PROC_MAP nor PMIX_JOB_SIZE",
                             job->nspace, p->pools[i].type);
    }
    return rc;
}

/* Handles each call for the job. Ports lent by earlier calls stay lent until the job
 * ends. */
static pmix_status_t gather(void *self, const struct px_pnet_job *job,
                            px_pnet_add_fn add, void *arg)
{
    struct ports *p = self;
    PX_AUTO(px_infos) out = {0};
    struct px_err err = {0};
    struct job *mine;

    if (!px_fabric_is_wanted(job))
        return PMIX_SUCCESS;
    mine = px_fabric_job_get(&p->jobs, job->nspace, sizeof(struct job));
    if (!mine)
        return PMIX_ERR_NOMEM;
    const size_t before = mine->n_lent;
    pmix_status_t rc = lend_all(p, mine, job, &out, &err);
    if (rc && rc != PMIX_ERR_NOMEM)
        log_error(p, rc, &err);
    for (size_t i = 0; !rc && i < out.n; i++)
        rc = add(arg, &out.v[i]);
    if (rc)
        unlend(p, mine, before);
    if (!mine->n_lent && !mine->received)
        forget(p, job->nspace);
    return rc;
}

PX_FABRIC_CONTRIBUTE(gather);

/* ---- on each node ---------------------------------------------------------------- */

static pmix_status_t read_answer(const struct ports *p, const pmix_info_t *info,
                                 struct stretch *s)
{
    const pmix_info_t *part;
    size_t n;

    if (!px_fabric_is_answer(info, &part, &n))
        return PMIX_ERR_BAD_PARAM;
    s->pool = pool_of(p, px_info_str(part, n, PMIX_ALLOC_FABRIC_TYPE));
    s->per_proc = px_info_u32(part, n, PMIX_ALLOC_FABRIC_ENDPTS, 0);
    s->per_node = px_info_u32(part, n, PMIX_ALLOC_FABRIC_ENDPTS_NODE, 0);
    pmix_status_t rc = px_ranges_parse(part[0].value.data.string, N_PORTS, &s->port,
                                       &s->n);
    for (size_t i = 0; !rc && i < s->n; i++)
        if (s->port[i] == 0 || s->port[i] >= N_PORTS)
            rc = PMIX_ERR_BAD_PARAM;
    if (!rc && (s->pool == N_POOLS || s->per_node > s->n))
        rc = PMIX_ERR_BAD_PARAM;
    return rc == PMIX_ERR_NOMEM || !rc ? rc : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t apply(void *self, const char *nspace, const pmix_info_t *info,
                           size_t n)
{
    struct ports *p = self;
    px_infos answers = {0};
    struct stretch *received = calloc(n + 1, sizeof(*received));
    pmix_status_t rc = received ? px_infos_add_copy(&answers, info, n) : PMIX_ERR_NOMEM;

    for (size_t i = 0; !rc && i < n; i++)
        rc = px_info_find(info, i, info[i].key)
                 ? PMIX_ERR_BAD_PARAM
                 : read_answer(p, &info[i], &received[i]);
    struct job *job = rc ? NULL
                         : px_fabric_job_get(&p->jobs, nspace, sizeof(struct job));
    if (!job) {
        free_stretches(received, &answers);
        return rc ? rc : PMIX_ERR_NOMEM;
    }
    free_stretches(job->received, &job->answers);
    job->received = received;
    job->answers = answers;
    job->n_places = 0;
    return PMIX_SUCCESS;
}

/* Finds the ports of the process with this local number. */
static size_t find_own(const struct stretch *s, uint32_t local, const uint32_t **port)
{
    const uint64_t first = (uint64_t)local * s->per_proc;
    const bool has = first + s->per_proc <= s->n - s->per_node;

    *port = s->port + (has ? first : 0);
    return has ? s->per_proc : 0;
}

/* Lists the ports of one protocol: for one process, or all if place is NULL. Returns
 * NULL if out of memory. */
static char *list_ports(const struct job *job, unsigned pool, const struct place *place)
{
    uint32_t *all = NULL;
    size_t n = 0, cap = 0;
    char *text = NULL;
    bool fine = true;

    for (size_t i = 0; fine && i < job->answers.n; i++) {
        const struct stretch *s = &job->received[i];
        const uint32_t *port = s->port;
        const size_t many = place ? find_own(s, place->local, &port) : s->n;

        if (s->pool != pool || many == 0)
            continue;
        fine = px_vec_reserve(&all, n, &cap, many);
        if (fine)
            memcpy(all + n, port, many * sizeof(*port));
        n += many;
    }
    if (fine)
        text = px_ranges_format(all, n);
    free(all);
    return text;
}

static pmix_status_t set_list(const struct job *job, const struct pool *pool,
                              unsigned number, const struct place *place,
                              px_pnet_set_fn set, void *arg)
{
    PX_AUTOFREE char *text = list_ports(job, number, place);

    if (!text)
        return PMIX_ERR_NOMEM;
    if (!text[0])
        return PMIX_SUCCESS;
    return place ? set(arg, place->rank, pool->own, text)
                 : set(arg, PMIX_RANK_WILDCARD, pool->all, text);
}

static pmix_status_t envars(void *self, const char *nspace, px_pnet_set_fn set,
                            void *arg)
{
    const struct ports *p = self;
    const struct job *job = find_job(p, nspace);
    pmix_status_t rc = job ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    for (unsigned k = 0; !rc && k < N_POOLS; k++) {
        rc = set_list(job, &p->pools[k], k, NULL, set, arg);
        for (size_t i = 0; !rc && i < job->n_places; i++)
            rc = set_list(job, &p->pools[k], k, &job->places[i], set, arg);
    }
    return rc;
}

static pmix_status_t find_places(struct job *mine, const struct px_pnet_job *job)
{
    mine->n_places = 0;
    for (pmix_rank_t r = 0; job->this_node < job->n_nodes && r < job->n_procs; r++) {
        if (job->node_of[r] != job->this_node)
            continue;
        struct place *place = px_vec_add(&mine->places, &mine->n_places,
                                         &mine->cap_places);
        if (!place)
            return PMIX_ERR_NOMEM;
        *place = (struct place){r, job->local_of[r]};
    }
    return PMIX_SUCCESS;
}

/* Stores the own ports of a process of this node, under the same keys as the job's. */
static pmix_status_t put_own(const struct ports *p, const struct job *job,
                             const struct place *place, px_pnet_put_fn put, void *arg)
{
    PX_AUTO(px_infos) own = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < job->answers.n; i++) {
        const struct stretch *s = &job->received[i];
        const uint32_t *port;
        const size_t n = find_own(s, place->local, &port);
        PX_AUTOFREE char *text = px_ranges_format(port, n);

        rc = text ? px_fabric_answer(&own, job->answers.v[i].key,
                                     p->pools[s->pool].type, text, NULL, NULL, NULL)
                  : PMIX_ERR_NOMEM;
        if (!rc && n > 0)
            rc = put(arg, place->rank, &own.v[own.n - 1]);
    }
    return rc;
}

static pmix_status_t values(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg)
{
    struct ports *p = self;
    struct job *mine = find_job(p, job->nspace);
    pmix_status_t rc = mine && mine->received ? find_places(mine, job)
                                              : PMIX_ERR_NOT_FOUND;

    for (size_t i = 0; !rc && i < mine->answers.n; i++)
        rc = put(arg, PMIX_RANK_WILDCARD, &mine->answers.v[i]);
    for (size_t i = 0; !rc && i < mine->n_places; i++)
        rc = put_own(p, mine, &mine->places[i], put, arg);
    return rc;
}

/* ---- life ------------------------------------------------------------------------ */

static void ports_close(void *self)
{
    struct ports *p = self;

    PX_LIST_EACH (&p->jobs, struct job, job, is.link)
        forget(p, job->is.nspace);
    free(p);
}

/* Fails with a log line for a bad list. No port is lent then. */
static pmix_status_t ports_open(const struct px_services *services, const void *conf,
                                void **self)
{
    struct ports *p = calloc(1, sizeof(*p));
    struct px_err err = {0};

    if (!p)
        return PMIX_ERR_NOMEM;
    p->services = services;
    p->conf = conf;
    px_list_init(&p->jobs);
    p->pools[TCP] = (struct pool){.type = "tcp",
                                  .id = "tenon.ports.tcp",
                                  .own = "PNET_TCP_PORTS",
                                  .all = "PNET_JOB_TCP_PORTS"};
    p->pools[UDP] = (struct pool){.type = "udp",
                                  .id = "tenon.ports.udp",
                                  .own = "PNET_UDP_PORTS",
                                  .all = "PNET_JOB_UDP_PORTS"};
    pmix_status_t rc = fill(&p->pools[TCP], p->conf->tcp, &err);
    if (!rc)
        rc = fill(&p->pools[UDP], p->conf->udp, &err);
    if (rc) {
        log_error(p, rc, &err);
        ports_close(p);
        return rc;
    }
    *self = p;
    return PMIX_SUCCESS;
}

static pmix_status_t ports_query(void *self, struct px_query *answer)
{
    const struct ports *p = self;

    px_str_copy(answer->reason, sizeof(answer->reason),
                "pnet_ports_tcp and pnet_ports_udp name no ports");
    answer->priority = PRIORITY;
    return p->pools[TCP].n || p->pools[UDP].n ? PMIX_SUCCESS : PMIX_ERR_NOT_AVAILABLE;
}

static const struct px_pnet_ops ops = {
    .contribute = contribute,
    .apply = apply,
    .envars = envars,
    .forget = forget,
    .flags = PX_PNET_IN_PLACE,
    .gather = gather,
    .values = values,
};

PX_COMPONENT(pnet, ports) = {
    PX_COMPONENT_HEAD(pnet, PNET, ports),
    .version = "1.0",
    .params = params,
    .conf_size = sizeof(struct conf),
    .open = ports_open,
    .query = ports_query,
    .close = ports_close,
    .ops = &ops,
};

/* SPDX-License-Identifier: BSD-3-Clause */
/* Components of pnet that give each job its own resources: ports, and keys. */
#include "core/base/ranges.h"
#include "core/base/str.h"
#include "core/config/param_impl.h"
#include "core/types/type.h"
#include "core/wire/codec.h"
#include "px_test.h"
#include "seccomp.h"
#include "tenon/pnet.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>

extern const struct px_component px_pnet_ports_component, px_pnet_opx_component;

/* ---- a host ------------------------------------------------------------------------------ */

static char logged[4096]; /* all lines */

static void on_log(const struct px_services *services PX_UNUSED,
                   enum px_log_level level PX_UNUSED, const char *fmt, ...)
{
    const size_t len = strlen(logged);
    va_list args;

    va_start(args, fmt);
    vsnprintf(logged + len, sizeof(logged) - len, fmt, args);
    va_end(args);
    strncat(logged, "\n", sizeof(logged) - strlen(logged) - 1);
}

static const struct px_services services = {.size = sizeof(services), .log = on_log};

static struct module {
    const struct px_component *component;
    char *conf;
    void *self;
} modules[2]; /* two launchers, or a launcher and another node */

static const struct px_pnet_ops *ops(void)
{
    return modules[0].component->ops;
}

/* settings: "name=value", terminated by NULL. */
static pmix_status_t begin_at(struct module *m, const struct px_component *c,
                              const char *const *settings)
{
    *m = (struct module){c, calloc(1, c->conf_size), NULL};
    for (const struct px_param *p = c->params; p->kind != PX_PARAM_KIND_END; p++) {
        const size_t len = strlen(p->name);
        const char *text = p->def;

        for (size_t i = 0; settings[i]; i++)
            if (strncmp(settings[i], p->name, len) == 0 && settings[i][len] == '=')
                text = settings[i] + len + 1;
        ck_assert_msg(!text || px_param_from_text(p, text, m->conf + p->offset),
                      "%s=%s", p->name, text);
    }
    return c->open(&services, m->conf, &m->self);
}

static void begin(const struct px_component *c, const char *const *settings)
{
    ok(begin_at(&modules[0], c, settings));
    ok(begin_at(&modules[1], c, settings));
}

static void end(void)
{
    for (size_t i = 0; i < PX_COUNT(modules); i++) {
        if (modules[i].self)
            modules[i].component->close(modules[i].self);
        free(modules[i].conf);
        modules[i] = (struct module){0};
    }
    logged[0] = '\0';
}

static pmix_status_t on_add(void *arg, const pmix_info_t *info)
{
    return px_infos_add_copy(arg, info, 1);
}

typedef struct applied {
    px_infos job, rank[2]; /* values of the job and of these two ranks */
    char vars[4096];       /* "rank NAME=VALUE\n", of all ranks as "*" */
} applied;

static void applied_cleanup(struct applied *t)
{
    px_infos_cleanup(&t->job);
    px_infos_cleanup(&t->rank[0]);
    px_infos_cleanup(&t->rank[1]);
}

static pmix_status_t on_put(void *arg, pmix_rank_t rank, const pmix_info_t *info)
{
    struct applied *t = arg;

    return rank == PMIX_RANK_WILDCARD ? px_infos_add_copy(&t->job, info, 1)
           : rank < 2                 ? px_infos_add_copy(&t->rank[rank], info, 1)
                                      : PMIX_SUCCESS;
}

static pmix_status_t on_set(void *arg, pmix_rank_t rank, const char *name,
                            const char *value)
{
    struct applied *t = arg;
    const size_t len = strlen(t->vars);
    char who[12] = "*";

    if (rank != PMIX_RANK_WILDCARD)
        snprintf(who, sizeof(who), "%u", rank);
    snprintf(t->vars + len, sizeof(t->vars) - len, "%s %s=%s\n", who, name, value);
    return PMIX_SUCCESS;
}

/* ---- jobs --------------------------------------------------------------------------------- */

enum { MAX_PROCS = 100000, MAX_NODES = 1000 };
static const char *names[MAX_NODES];
static uint32_t node_of[MAX_PROCS], local_of[MAX_PROCS];

/* Returns a job with n_procs processes in blocks on the nodes. */
static struct px_pnet_job job_of(const char *nspace, uint32_t n_procs, uint32_t n_nodes,
                                 const px_infos *info)
{
    const uint32_t most = n_nodes ? (n_procs + n_nodes - 1) / n_nodes : 0;

    for (uint32_t r = 0; r < n_procs; r++) {
        node_of[r] = r / most;
        local_of[r] = r % most;
    }
    return (struct px_pnet_job){.size = sizeof(struct px_pnet_job),
                                .nspace = nspace,
                                .info = info->v,
                                .n_info = info->n,
                                .n_nodes = n_nodes,
                                .n_procs = n_procs,
                                .nodes = names,
                                .node_of = node_of,
                                .local_of = local_of,
                                .most_on_a_node = most};
}

struct request {
    const char *id, *type, *plane;
    uint64_t per_proc, per_node;
    enum { NO, NO_KEY, KEY, KEY_OF_BYTES } key;
    const char *required;
};

static void ask(px_infos *info, const struct request *r)
{
    const bool key = r->key == KEY;
    const pmix_byte_object_t bytes = {NULL, 0};
    px_infos parts = {0};
    const struct {
        const char *key;
        const void *data; /* NULL: absent */
        pmix_data_type_t type;
    } rows[] = {
        {PMIX_ALLOC_FABRIC_ID, r->id, PMIX_STRING},
        {PMIX_ALLOC_FABRIC_TYPE, r->type, PMIX_STRING},
        {PMIX_ALLOC_FABRIC_PLANE, r->plane, PMIX_STRING},
        {PMIX_ALLOC_FABRIC_ENDPTS, r->per_proc ? &r->per_proc : NULL, PMIX_UINT64},
        {PMIX_ALLOC_FABRIC_ENDPTS_NODE, r->per_node ? &r->per_node : NULL, PMIX_SIZE},
        {PMIX_ALLOC_FABRIC_SEC_KEY, r->key == KEY_OF_BYTES ? &bytes : NULL,
         PMIX_BYTE_OBJECT},
        {PMIX_ALLOC_FABRIC_SEC_KEY, r->key == KEY || r->key == NO_KEY ? &key : NULL,
         PMIX_BOOL},
        {PMIX_ALLOC_FABRIC_QOS, "best", PMIX_STRING},
        {r->required, r->required, PMIX_STRING},
    };
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < PX_COUNT(rows); i++)
        if (rows[i].data)
            rc = px_infos_add(&parts, rows[i].key, rows[i].data, rows[i].type);
    if (r->required)
        parts.v[parts.n - 1].flags = PMIX_INFO_REQD;
    ok(rc ? rc : px_infos_add_array(info, PMIX_ALLOC_FABRIC, &parts));
}

static pmix_status_t gather(const struct px_pnet_job *job, px_infos *out)
{
    return ops()->gather(modules[0].self, job, on_add, out);
}

static void forget(const char *nspace)
{
    ops()->forget(modules[0].self, nspace);
}

/* Applies the blob on the other node and collects the settings of rank 0. */
static void apply_on_second(const struct px_pnet_job *job, const px_infos *blob,
                            struct applied *t)
{
    void *self = modules[1].self;

    *t = (struct applied){0};
    ok(ops()->apply(self, job->nspace, blob->v, blob->n));
    ok(ops()->values(self, job, on_put, t));
    ok(ops()->envars(self, job->nspace, on_set, t));
}

/* Returns the part with this key; NULL: the first part. */
static const pmix_info_t *part_of(const pmix_info_t *info, const char *key)
{
    const pmix_info_t *parts;
    size_t n;

    if (!px_value_infos(&info->value, &parts, &n) || n == 0)
        ck_abort_msg("%s is not an array", info->key);
    return key ? px_info_find(parts, n, key) : parts;
}

/* Returns the text of the allocation, from the first part; checks its key. */
static const char *text_of(const pmix_info_t *info)
{
    const pmix_info_t *first = part_of(info, NULL);

    if (strcmp(first->key, info->key) != 0)
        ck_abort_msg("%s begins with %s", info->key, first->key);
    return px_value_string(&first->value);
}

/* ---- ports -------------------------------------------------------------------------------- */

#define PORTS(...) \
    begin(&px_pnet_ports_component, (const char *const[]){__VA_ARGS__, NULL})

static const struct {
    const char *tcp, *wrong; /* NULL: not set */
} lists[] = {
    {"32000-32100,33005", NULL}, {"1", NULL},
    {"65535,65535", NULL},       {"1-65535", NULL},
    {"0", "at byte 0"},          {"1-65536", "at byte 0"},
    {"5,65536", "at byte 2"},    {"32000-", "at byte 0"},
    {"32000-31999", "byte 0"},   {"32000,", "at byte 0"},
    {"32000, 5", "at byte 6"},   {"7,,8", "at byte 2"},
    {"x", "at byte 0"},          {"32000;5", "at byte"},
    {"99999999999", "byte 0"},
};

PX_TEST_LOOP(lists_of_ports_are_checked, PX_COUNT(lists))
{
    PX_AUTOFREE char *setting = px_strf("tcp=%s", lists[_i].tcp);
    const char *const settings[] = {setting, NULL};
    const pmix_status_t rc = begin_at(&modules[0], &px_pnet_ports_component, settings);

    ck_assert_int_eq(rc, lists[_i].wrong ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS);
    if (lists[_i].wrong)
        ck_assert_msg(strstr(logged, "cannot use pnet_ports_tcp \"") &&
                          strstr(logged, lists[_i].wrong),
                      "%s: %s", lists[_i].tcp, logged);
}

PX_TEST(without_ports_it_declines)
{
    struct px_query answer = {0};

    PORTS("per_process=2");
    fails(modules[0].component->query(modules[0].self, &answer), NOT_AVAILABLE);
    ck_assert_ptr_nonnull(strstr(answer.reason, "name no ports"));
}

/* The lists have 100 ports of TCP and 10 of UDP. The job has 3 processes on one node
 * and 2 on the other. */
static const struct {
    struct request r;
    pmix_status_t rc;
    const char *wanted; /* the ports, or the log line; NULL: neither */
} requests[] = {
    {{"net", "tcp", NULL, 2, 0, NO, NULL}, 0, "1000-1005"},
    {{"net", "udp", "p", 0, 4, NO_KEY, NULL}, 0, "2000-2003"},
    {{"net", "tcp", NULL, 2, 3, KEY, NULL}, 0, "1000-1008"},
    {{"net", "tcp", NULL, 33, 1, KEY_OF_BYTES, NULL}, 0, "1000-1098,4000"},
    {{"net", "tcp", NULL, 0, 0, NO, NULL}, 0, "1000-1002"}, /* like the default */
    {{"net", "ib", NULL, 2, 0, NO, NULL}, 0, NULL},
    {{"net", NULL, NULL, 2, 0, KEY, NULL}, 0, NULL},
    {{"net", "tcp", NULL, 34, 0, NO, NULL},
     PMIX_ERR_OUT_OF_RESOURCE,
     "cannot give job job 102 ports of tcp: of 100 in pnet_ports_tcp, 100 are left\n"},
    {{"net", "udp", NULL, UINT32_MAX, UINT32_MAX, NO, NULL},
     PMIX_ERR_OUT_OF_RESOURCE,
     "cannot give job job 17179869180 ports of udp: of 10 in pnet_ports_udp, 10 "},
    {{"net", "tcp", NULL, UINT64_MAX, 0, NO, NULL},
     PMIX_ERR_BAD_PARAM,
     "of job job: pmix.alloc.endpts is not a number"},
    {{NULL, "tcp", NULL, 1, 0, NO, NULL}, PMIX_ERR_BAD_PARAM, "no pmix.alloc.netid"},
    {{"pmix.lrank", "tcp", NULL, 1, 0, NO, NULL}, PMIX_ERR_BAD_PARAM, "netid is not a"},
    {{"", "tcp", NULL, 1, 0, NO, NULL},
     PMIX_ERR_BAD_PARAM,
     "pmix.alloc.netid is not a"},
    {{"net", "tcp", NULL, 1, 0, NO, PMIX_ALLOC_FABRIC_QOS},
     PMIX_ERR_NOT_SUPPORTED,
     "cannot give job job ports of tcp with pmix.alloc.netqos"},
};

PX_TEST_LOOP(requests_get_what_they_ask_for_or_are_refused, PX_COUNT(requests))
{
    const struct request *r = &requests[_i].r;
    PX_AUTO(px_infos) info = {0}, out = {0};

    ask(&info, r);
    PORTS("tcp=1000-1098,4000", "udp=2000-2009", r->per_proc ? "" : "per_process=1");
    struct px_pnet_job job = job_of("job", 5, 2, &info);
    ck_assert_int_eq(gather(&job, &out), requests[_i].rc);
    const pmix_info_t *net = px_info_find(out.v, out.n, "net");
    ck_assert(!net == (requests[_i].rc || !requests[_i].wanted));
    if (requests[_i].rc) {
        ck_assert_uint_eq(out.n, 0);
        ck_assert_msg(strstr(logged, requests[_i].wanted), "%s", logged);
        ck_assert_ptr_eq(strchr(logged, '\n'), logged + strlen(logged) - 1);
    }
    if (!net)
        return;
    ck_assert_str_eq(text_of(net), requests[_i].wanted);
    ck_assert_str_eq(part_of(net, PMIX_ALLOC_FABRIC_TYPE)->value.data.string, r->type);
    ck_assert_ptr_null(part_of(net, PMIX_ALLOC_FABRIC_QOS));
    ck_assert(!part_of(net, PMIX_ALLOC_FABRIC_PLANE) == !r->plane);
    const pmix_info_t *key = part_of(net, PMIX_ALLOC_FABRIC_SEC_KEY);
    ck_assert(!key == (r->key < KEY));
    if (key)
        ck_assert_uint_eq(key->value.data.bo.size, 16);
}

PX_TEST_LOOP(who_wants_variables_alone_gets_them_alone, 2)
{
    const bool yes = true;
    PX_AUTO(px_infos) info = {0}, out = {0};

    if (_i)
        begin(&px_pnet_opx_component, (const char *const[]){"enabled=true", NULL});
    else
        PORTS("tcp=1000-1001", "per_process=1");
    ok(px_infos_add(&info, PMIX_SETUP_APP_ENVARS, &yes, PMIX_BOOL));
    const struct px_pnet_job job = job_of("job", 2, 1, &info);
    ok(gather(&job, &out));
    ck_assert_uint_eq(out.n, 0);
    strcpy(info.v[0].key, PMIX_SETUP_APP_ALL);
    ok(gather(&job, &out));
    ck_assert_uint_eq(out.n, 1);
}

PX_TEST(each_process_learns_its_ports)
{
    const struct request r[] = {{"net", "tcp", NULL, 2, 1, NO, NULL},
                                {"more", "tcp", NULL, 1, 0, NO, NULL}};
    PX_AUTO(px_infos) info = {0}, blob = {0};
    PX_AUTO(applied) t;

    ask(&info, &r[0]);
    ask(&info, &r[1]);
    PORTS("tcp=1000-1006,1010-1099", "udp=2000-2009", "per_process=3");
    struct px_pnet_job job = job_of("job", 5, 2, &info);
    ok(gather(&job, &blob));
    apply_on_second(&job, &blob, &t);
    ck_assert_str_eq(t.vars, "* PNET_JOB_TCP_PORTS=1000-1006,1010-1012\n"
                             "0 PNET_TCP_PORTS=1000-1001,1010\n"
                             "1 PNET_TCP_PORTS=1002-1003,1011\n"
                             "2 PNET_TCP_PORTS=1004-1005,1012\n"
                             "* PNET_JOB_UDP_PORTS=2000-2008\n"
                             "0 PNET_UDP_PORTS=2000-2002\n"
                             "1 PNET_UDP_PORTS=2003-2005\n"
                             "2 PNET_UDP_PORTS=2006-2008\n");
    ck_assert_uint_eq(t.job.n, 3);
    ck_assert_uint_eq(t.rank[1].n, 3);
    ck_assert_str_eq(text_of(&t.job.v[0]), "1000-1006");
    ck_assert_str_eq(t.rank[1].v[1].key, "more");
    ck_assert_str_eq(text_of(&t.rank[1].v[1]), "1011");
    ck_assert_str_eq(t.rank[1].v[2].key, "tenon.ports.udp");
    /* Apply the blob on the other node, which has fewer processes. */
    applied_cleanup(&t);
    job.this_node = 1;
    apply_on_second(&job, &blob, &t);
    ck_assert_ptr_nonnull(strstr(t.vars, "\n3 PNET_TCP_PORTS=1000-1001,1010\n4 "));
    ck_assert_ptr_null(strstr(t.vars, "\n2 "));
}

PX_TEST(ports_come_back_and_a_job_has_a_bound)
{
    const struct request r = {"net", "tcp", NULL, 4, 0, NO, NULL};
    PX_AUTO(px_infos) info = {0}, out = {0};

    ask(&info, &r);
    ask(&info, &r);
    PORTS("tcp=1000-1009", "per_job=9");
    const struct px_pnet_job twice = job_of("twice", 1, 1, &info);
    fails(gather(&twice, &out), BAD_PARAM); /* one key for two allocations */
    ck_assert_ptr_nonnull(strstr(logged, "twice under the key net"));
    info.n--;
    struct px_pnet_job a = job_of("a", 1, 1, &info), b = job_of("b", 1, 1, &info);
    for (unsigned i = 0; i < 5; i++) {
        ok(gather(&a, &out));
        ok(gather(&a, &out)); /* adds to the first allocation */
        fails(gather(&a, &out), OUT_OF_RESOURCE);
        ck_assert_ptr_nonnull(strstr(logged, "it may have 9 (pnet_ports_per_job)"));
        fails(gather(&b, &out), OUT_OF_RESOURCE);
        forget("b");
        forget("a");
    }
    info.n++; /* freed with the infos */
}

/* Jobs come and go at random. A port belongs to at most one job, all come from the
 * lists, and free ports are never refused. */
enum { MANY_JOBS = 100000, ALIVE = 40, N_UDP = 100, N_TCP = 300 };
static struct owner {
    unsigned char of[65536]; /* the number of the living job, from 1 */
    size_t n_free;
} owners[2];

/* Checks without ck_assert, which writes to a file at each call. */
static void own(const px_infos *out, unsigned char who)
{
    for (size_t i = 0; i < out->n; i++) {
        const pmix_info_t *type = part_of(&out->v[i], PMIX_ALLOC_FABRIC_TYPE);
        const bool udp = strcmp(type->value.data.string, "udp") == 0;
        struct owner *o = &owners[udp];
        uint32_t *port = NULL;
        size_t n = 0;

        if (px_ranges_parse(text_of(&out->v[i]), 65536, &port, &n))
            ck_abort_msg("%s is not a list", text_of(&out->v[i]));
        for (size_t k = 0; k < n; k++) {
            if (udp ? port[k] < 500 || port[k] >= 500 + N_UDP
                    : port[k] < 40000 || port[k] >= 40000 + 2 * N_TCP || port[k] % 2)
                ck_abort_msg("port %u is in no list", port[k]);
            if (o->of[port[k]])
                ck_abort_msg("port %u is twice in use", port[k]);
            o->of[port[k]] = who;
        }
        o->n_free -= n;
        free(port);
    }
}

static void disown(unsigned char who)
{
    for (size_t p = 0; p < 2; p++)
        for (size_t i = p ? 500 : 40000; i < (p ? 600 : 40600); i++)
            if (owners[p].of[i] == who) {
                owners[p].of[i] = 0;
                owners[p].n_free++;
            }
}

/* Starts a job; the model decides if enough ports are free. */
static void come(unsigned char who, const char *nspace)
{
    size_t left[2] = {owners[0].n_free, owners[1].n_free};
    const uint32_t n_procs = 1 + (uint32_t)rand() % 12;
    PX_AUTO(px_infos) info = {0}, out = {0};
    bool fits = true;

    for (int i = rand() % 4; i-- > 0;) {
        const bool udp = rand() % 2;
        const struct request r = {i == 0 ? "a" : i == 1 ? "b" : "c",
                                  udp ? "udp" : "tcp",
                                  NULL,
                                  (uint64_t)(rand() % 4),
                                  1 + (uint64_t)(rand() % 4),
                                  rand() % 8 ? NO : KEY,
                                  NULL};
        const size_t n = r.per_proc * n_procs + r.per_node;

        fits &= n <= left[udp];
        left[udp] -= fits ? n : 0;
        ask(&info, &r);
    }
    const struct px_pnet_job job = job_of(nspace, n_procs, 1, &info);
    ck_assert_int_eq(gather(&job, &out), fits ? 0 : PMIX_ERR_OUT_OF_RESOURCE);
    own(&out, who);
    if (fits && (owners[0].n_free != left[0] || owners[1].n_free != left[1]))
        ck_abort_msg("not as many ports as were asked for");
    logged[0] = '\0';
}

PX_TEST(no_port_is_in_two_jobs_at_once_nor_lost)
{
    const char *seed = getenv("PX_TEST_SEED");
    const unsigned n = seed ? (unsigned)atoi(seed) : (unsigned)getpid();
    char text[12 * N_TCP] = "tcp=", nspace[16];
    bool alive[ALIVE + 1] = {false};
    PX_AUTO(px_infos) info = {0}, out = {0};

    printf("PX_TEST_SEED=%u\n", n);
    srand(n);
    for (size_t i = 0; i < N_TCP; i++)
        sprintf(text + strlen(text), "%s%zu", i ? "," : "", 40000 + 2 * i);
    PORTS(text, "udp=500-599");
    owners[0].n_free = N_TCP;
    owners[1].n_free = N_UDP;
    for (unsigned i = 0; i < MANY_JOBS; i++) {
        const unsigned char who = (unsigned char)(1 + rand() % ALIVE);

        sprintf(nspace, "job-%u", who);
        if (alive[who]) {
            forget(nspace);
            disown(who);
        }
        come(who, nspace);
        alive[who] = true;
    }
    for (unsigned who = 1; who <= ALIVE; who++) {
        sprintf(nspace, "job-%u", who);
        forget(nspace);
    }
    ask(&info, &(struct request){"a", "tcp", NULL, 0, N_TCP, NO, NULL});
    ask(&info, &(struct request){"b", "udp", NULL, 0, N_UDP, NO, NULL});
    const struct px_pnet_job all = job_of("all", 1, 1, &info);
    ok(gather(&all, &out));
}

PX_TEST(ports_of_a_job_of_any_size_travel_as_a_line)
{
    PX_AUTO(px_infos) info = {0}, blob = {0};
    PX_AUTO(px_writer) w;
    PX_AUTO(applied) t;

    PORTS("tcp=30000-39999", "per_process=2");
    const struct px_pnet_job job = job_of("job", MAX_PROCS, MAX_NODES, &info);
    ok(gather(&job, &blob));
    px_writer_init(&w, px_codec_default);
    px_pack_infos(&w, blob.v, blob.n);
    ok(w.status);
    ck_assert_uint_lt(w.buf.len, 200);
    apply_on_second(&job, &blob, &t);
    ck_assert_ptr_nonnull(strstr(t.vars, "\n99 PNET_TCP_PORTS=30198-30199\n"));
    ck_assert_ptr_null(strstr(t.vars, "\n100 "));
}

/* ---- blobs from the network ----------------------------------------------------------------- */

static const struct {
    bool opx;
    const char *text, *type;
    uint64_t per_node;
    size_t key_b;      /* 0: absent */
    const char *twice; /* a second part with this key */
    bool fits;
} strange[] = {
    {false, "1000-1003,1", "tcp", 1, 0, "other", true},
    {false, "", "udp", 0, 16, NULL, true},
    {false, "0", "tcp", 0, 0, NULL, false},
    {false, "65536", "tcp", 0, 0, NULL, false},
    {false, "1-65535,1-65535", "tcp", 0, 0, NULL, false},
    {false, "1000-999", "tcp", 0, 0, NULL, false},
    {false, "1000", "ib", 0, 0, NULL, false},
    {false, "1000", NULL, 0, 0, NULL, false},
    {false, "1000-1001", "tcp", 3, 0, NULL, false},
    {false, "1000", "tcp", 0, 0, "net", false},
    {true, "any", "opx", 0, 16, "other", true},
    {true, "any", "opx", 0, 15, NULL, false},
    {true, "any", "opx", 0, 0, NULL, false},
};

PX_TEST_LOOP(allocations_of_strangers_are_checked, PX_COUNT(strange))
{
    const pmix_byte_object_t key = {(char *)calloc(1, 16), strange[_i].key_b};
    const uint64_t per_node = strange[_i].per_node;
    PX_AUTO(px_infos) parts = {0}, blob = {0};
    struct applied t = {0};

    if (strange[_i].opx)
        begin(&px_pnet_opx_component, (const char *const[]){NULL});
    else
        PORTS("tcp=1000-1009");
    for (const char *id = "net"; id; id = blob.n < 2 ? strange[_i].twice : NULL) {
        ok(px_infos_add(&parts, id, strange[_i].text, PMIX_STRING));
        if (strange[_i].type)
            ok(px_infos_add(&parts, PMIX_ALLOC_FABRIC_TYPE, strange[_i].type,
                            PMIX_STRING));
        ok(px_infos_add(&parts, PMIX_ALLOC_FABRIC_ENDPTS_NODE, &per_node, PMIX_UINT64));
        if (key.size)
            ok(px_infos_add(&parts, PMIX_ALLOC_FABRIC_SEC_KEY, &key, PMIX_BYTE_OBJECT));
        ok(px_infos_add_array(&blob, id, &parts));
    }
    const pmix_status_t rc = ops()->apply(modules[0].self, "job", blob.v, blob.n);
    ck_assert_int_eq(rc, strange[_i].fits ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM);
    if (rc) /* nothing may stay */
        fails(ops()->envars(modules[0].self, "job", on_set, &t), NOT_FOUND);
    free(key.bytes);
}

/* ---- keys --------------------------------------------------------------------------------- */

#define OPX(...) begin(&px_pnet_opx_component, (const char *const[]){__VA_ARGS__, NULL})

/* Returns the key of a job in hexadecimal digits, as in the variables. */
static void key_of(const char *nspace, const char *parent, const px_infos *info,
                   char key[33])
{
    static const char forms[] = "* FI_OPX_UUID=%s\n"
                                "* FI_PSM2_UUID=%.8s-%.4s-%.4s-%.4s-%s\n"
                                "* FI_PSM3_UUID=%.8s-%.4s-%.4s-%.4s-%s\n"
                                "* OMPI_MCA_orte_precondition_transports=%.16s-%s\n";
    PX_AUTO(px_infos) blob = {0};
    PX_AUTO(applied) t;
    char wanted[512];
    struct px_pnet_job job = job_of(nspace, 2, 2, info);

    job.parents = &parent;
    job.n_parents = !!parent;
    ok(gather(&job, &blob));
    ck_assert_uint_eq(blob.n, 1);
    apply_on_second(&job, &blob, &t);
    ck_assert_int_eq(sscanf(t.vars, "* FI_OPX_UUID=%32[0-9a-f]\n", key), 1);
    snprintf(wanted, sizeof(wanted), forms, key, key, key + 8, key + 12, key + 16,
             key + 20, key, key + 8, key + 12, key + 16, key + 20, key, key + 16);
    ck_assert_str_eq(t.vars, wanted);
    const pmix_info_t *bytes = part_of(&t.job.v[0], PMIX_ALLOC_FABRIC_SEC_KEY);
    ck_assert_uint_eq(bytes->value.data.bo.size, 16);
    for (size_t i = 0; i < 16; i++) {
        char digits[3];

        snprintf(digits, sizeof(digits), "%02x",
                 (uint8_t)bytes->value.data.bo.bytes[i]);
        ck_assert_int_eq(strncmp(digits, key + 2 * i, 2), 0);
    }
    ck_assert_str_eq(text_of(&t.job.v[0]), "FI_OPX_UUID,FI_PSM2_UUID,FI_PSM3_UUID,"
                                           "OMPI_MCA_orte_precondition_transports");
}

/* 1: the job shares its parent's key. 2: the kernel lacks getrandom. */
PX_TEST_LOOP(each_job_has_a_key_of_its_own_unless_it_shares_its_parents, 3)
{
    const px_infos none = {0};
    char keys[4][33];

    if (_i == 2)
        PX_TEST_NEEDS(px_test_deny(SYS_getrandom, ENOSYS), "seccomp");
    OPX("enabled=true", _i == 1 ? "spawned=parent" : "");
    key_of("a", NULL, &none, keys[0]);
    key_of("b", NULL, &none, keys[1]);
    key_of("c", "a", &none, keys[2]);
    key_of("d", "unknown", &none, keys[3]);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            ck_assert((strcmp(keys[i], keys[k]) == 0) == (_i == 1 && i == 2 && k == 0));
    ck_assert_str_eq(logged, "");
}

static const struct {
    struct request r;
    const char *id; /* NULL: no key */
    pmix_status_t rc;
} asked[] = {
    {{"net", "opx", NULL, 0, 0, NO, NULL}, "net", 0},
    {{"net", NULL, NULL, 0, 0, KEY, NULL}, "net", 0},
    {{NULL, "opx", NULL, 0, 0, KEY_OF_BYTES, NULL}, "tenon.opx", 0},
    {{"net", NULL, NULL, 0, 0, NO_KEY, NULL}, NULL, 0},
    {{"net", "tcp", NULL, 1, 0, KEY, NULL}, NULL, 0},
    {{"net", "opx", NULL, 0, 0, KEY, PMIX_ALLOC_FABRIC_QOS},
     NULL,
     PMIX_ERR_NOT_SUPPORTED},
};

PX_TEST_LOOP(jobs_that_ask_for_a_key_get_one, PX_COUNT(asked))
{
    PX_AUTO(px_infos) info = {0}, out = {0};

    OPX("enabled=false");
    ask(&info, &asked[_i].r);
    const struct px_pnet_job job = job_of("job", 2, 2, &info);
    ck_assert_int_eq(gather(&job, &out), asked[_i].rc);
    ck_assert_uint_eq(out.n, asked[_i].id ? 1 : 0);
    if (out.n)
        ck_assert_str_eq(out.v[0].key, asked[_i].id);
}

PX_TEST(a_key_may_be_asked_for_without_more)
{
    const bool yes = true;
    PX_AUTO(px_infos) info = {0};
    char key[33];

    OPX("enabled=false");
    ok(px_infos_add(&info, PMIX_ALLOC_FABRIC_SEC_KEY, &yes, PMIX_BOOL));
    key_of("job", NULL, &info, key);
}

PX_TEST_MAIN("components/pnet", NULL, end)

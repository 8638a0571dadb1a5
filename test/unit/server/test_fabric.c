/* SPDX-License-Identifier: BSD-3-Clause */
/* What the server asks of fabric components beyond a launch: two that do as a test says. */
#include "core/model/lookup.h"
#include "core/server/launch/blob.h"
#include "fake_host.h"
#include "raw.h"
#include "tenon/pnet.h"

#include <semaphore.h>
#include <stdarg.h>
#include <string.h>

/* ---- two components --------------------------------------------------------------------------- */

static struct fake {
    const char *name;
    int priority;
    pmix_status_t status; /* of its operations */
    pmix_status_t (*values)(struct fake *f, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg);
    const char *plane;           /* of its fabric; NULL: it has none */
    pmix_data_type_t index_type; /* of its number, which is 3; UNDEF: it gives none */
    uint16_t *matrix;            /* while that is registered */
} fakes[] = {{.name = "best", .priority = 900}, {.name = "good", .priority = 800}};

static char calls[4096]; /* of their operations, "name.operation what\n" each */

static void __attribute__((format(printf, 2, 3)))
note(const struct fake *f, const char *fmt, ...)
{
    size_t n = strlen(calls);
    va_list args;

    n += (size_t)snprintf(calls + n, sizeof calls - n, "%s.", f->name);
    va_start(args, fmt);
    n += (size_t)vsnprintf(calls + n, sizeof calls - n, fmt, args);
    va_end(args);
    ck_assert_uint_lt(n + 1, sizeof calls);
    strcat(calls, "\n");
}

/* Since the last time. */
static void called(const char *wanted)
{
    raw_on_loop(NULL, NULL);
    raw_on_loop(NULL, NULL); /* also of a call that makes a request */
    ck_assert_str_eq(calls, wanted);
    calls[0] = '\0';
}

static pmix_status_t contribute(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                                const pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED,
                                px_pnet_add_fn add PX_UNUSED, void *arg PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static pmix_status_t apply(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                           const pmix_info_t *info PX_UNUSED, size_t n PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static pmix_status_t envars(void *self PX_UNUSED, const char *nspace PX_UNUSED,
                            px_pnet_set_fn set PX_UNUSED, void *arg PX_UNUSED)
{
    return PMIX_SUCCESS;
}

static void forget(void *self PX_UNUSED, const char *nspace PX_UNUSED)
{
}

static pmix_status_t values(void *self, const struct px_pnet_job *job,
                            px_pnet_put_fn put, void *arg)
{
    struct fake *f = self;

    ck_assert_uint_eq(job->size, sizeof *job);
    note(f, "values %s", job->nspace);
    return f->values ? f->values(f, job, put, arg) : f->status;
}

/* As many devices as the directive says; the first component alone has any. */
static pmix_status_t collect_inventory(void *self, const pmix_info_t *directives,
                                       size_t n, px_pnet_add_fn add, void *arg)
{
    struct fake *f = self;
    const pmix_info_t device = {
        .key = PMIX_FABRIC_DEVICE_NAME,
        .value = {.type = PMIX_STRING, .data.string = (char *)"nic"}};
    const pmix_info_t address = {.key = "bad", .value = {.type = PMIX_POINTER}};
    const uint32_t wanted = px_info_u32(directives, n, PMIX_FABRIC_NUM_DEVICES, 0);

    note(f, "collect");
    fails(add(arg, &address), BAD_PARAM);
    for (uint32_t i = 0; f == fakes && i < wanted; i++)
        ok(add(arg, &device));
    return f->status;
}

static pmix_status_t deliver_inventory(void *self, const pmix_info_t *info, size_t n,
                                       const pmix_info_t *directives,
                                       size_t n_directives)
{
    const struct fake *f = self;

    for (size_t i = 0; i < n; i++)
        ck_assert_str_eq(info[i].value.data.string, "nic");
    note(f, "deliver %zu for %u", n,
         px_info_u32(directives, n_directives, PMIX_TIMEOUT, 0));
    return f->status;
}

/* A matrix of its own, which counts how often it was told of. */
static pmix_status_t describe(struct fake *f, px_pnet_add_fn add, void *arg)
{
    const size_t number = 3;
    PX_AUTO(px_infos) l = {0};

    if (f->status)
        return f->status;
    if (!f->matrix)
        f->matrix = calloc(4, sizeof *f->matrix);
    f->matrix[1]++;
    ok(px_infos_add(&l, PMIX_FABRIC_VENDOR, f->name, PMIX_STRING));
    ok(px_infos_add(&l, PMIX_FABRIC_COST_MATRIX, f->matrix, PMIX_POINTER));
    if (f->index_type != PMIX_UNDEF)
        ok(px_infos_add(&l, PMIX_FABRIC_INDEX,
                        f->index_type == PMIX_STRING ? (const void *)"3" : &number,
                        f->index_type));
    fails(add(arg, NULL), BAD_PARAM);
    for (size_t i = 0; i < l.n; i++)
        ok(add(arg, &l.v[i]));
    return PMIX_SUCCESS;
}

static pmix_status_t register_fabric(void *self, const pmix_info_t *directives,
                                     size_t n, px_pnet_add_fn add, void *arg)
{
    struct fake *f = self;
    const char *plane = px_info_str(directives, n, PMIX_FABRIC_PLANE);

    if (!f->plane || !plane || strcmp(plane, f->plane) != 0)
        return PMIX_ERR_NOT_FOUND;
    note(f, "register");
    return describe(f, add, arg);
}

static pmix_status_t update_fabric(void *self, size_t index, px_pnet_add_fn add,
                                   void *arg)
{
    note(self, "update %zu", index);
    return describe(self, add, arg);
}

static void deregister_fabric(void *self, size_t index)
{
    struct fake *f = self;

    note(f, "deregister %zu", index);
    ck_assert_ptr_nonnull(f->matrix);
    free(px_take(&f->matrix));
}

static pmix_status_t query(void *self, struct px_query *answer)
{
    answer->priority = ((struct fake *)self)->priority;
    return PMIX_SUCCESS;
}

static void close_fake(void *self)
{
    *(struct fake *)self = (struct fake){.name = ((struct fake *)self)->name,
                                         .priority = ((struct fake *)self)->priority};
}

static const struct px_pnet_ops ops = {.contribute = contribute,
                                       .apply = apply,
                                       .envars = envars,
                                       .forget = forget,
                                       .flags = PX_PNET_IN_PLACE,
                                       .values = values,
                                       .collect_inventory = collect_inventory,
                                       .deliver_inventory = deliver_inventory,
                                       .register_fabric = register_fabric,
                                       .update_fabric = update_fabric,
                                       .deregister_fabric = deregister_fabric};

#define FAKE(n, text)                                                              \
    static pmix_status_t open_##text(const struct px_services *services PX_UNUSED, \
                                     const void *conf PX_UNUSED, void **self)      \
    {                                                                              \
        *self = &fakes[n];                                                         \
        return PMIX_SUCCESS;                                                       \
    }                                                                              \
    static const struct px_component text = {PX_COMPONENT_HEAD(pnet, PNET, text),  \
                                             .version = "1.0",                     \
                                             .open = open_##text,                  \
                                             .query = query,                       \
                                             .close = close_fake,                  \
                                             .ops = &ops,                          \
                                             .params = NULL}
FAKE(0, best);
FAKE(1, good);

extern const struct px_component *const px_builtin_components[];
const struct px_component *const px_builtin_components[] = {&best, &good, NULL};

static void start(void)
{
    setenv("PMIX_MCA_pnet", "best,good", 1);
    ok(PMIx_server_init((pmix_server_module_t *)(uintptr_t)&host_module, NULL, 0));
}

/* ---- values of processes ------------------------------------------------------------------------ */

/* As if these had contributed, "best", "good" or both. */
static pmix_status_t try_support(const char *nspace, const char *names)
{
    PX_AUTO(px_writer) body, blob;
    PX_AUTO(px_infos) share = {0};
    pmix_info_t info;

    px_writer_init(&body, px_codec_default);
    px_writer_init(&blob, px_codec_default);
    for (size_t i = 0; i < PX_COUNT(fakes); i++)
        if (strstr(names, fakes[i].name))
            px_blob_add(&body, fakes[i].name, "1.0", &share);
    ok(px_blob_seal(&body, &blob));
    const pmix_byte_object_t bytes = {(char *)blob.buf.data, blob.buf.len};
    ok(PMIx_Info_load(&info, "tenon.pnet", &bytes, PMIX_BYTE_OBJECT));
    pmix_status_t rc = PMIx_server_setup_local_support(raw_proc(nspace, 0).nspace,
                                                       &info, 1, NULL, NULL);
    PMIx_Info_destruct(&info);
    return rc;
}

static pmix_status_t put_u32(px_pnet_put_fn put, void *arg, pmix_rank_t rank,
                             const char *key, uint32_t value)
{
    pmix_info_t info = {.value = {.type = PMIX_UINT32, .data.uint32 = value}};

    strcpy(info.key, key);
    return put(arg, rank, &info);
}

/* Of each rank 1000 times its node, and its place there; of the job, and of each node. */
static pmix_status_t put_places(struct fake *f PX_UNUSED, const struct px_pnet_job *job,
                                px_pnet_put_fn put, void *arg)
{
    ck_assert_uint_eq(job->n_procs, 5);
    ck_assert_uint_eq(job->n_nodes, 2);
    ck_assert_str_eq(job->nodes[0], px_process.host);
    ck_assert_str_eq(job->nodes[1], "other");
    ck_assert_uint_eq(job->this_node, 0);
    ck_assert_uint_eq(job->most_on_a_node, 3);
    for (pmix_rank_t r = 0; r < job->n_procs; r++)
        ok(put_u32(put, arg, r, PMIX_FABRIC_ENDPT,
                   1000 * job->node_of[r] + job->local_of[r]));
    ok(put_u32(put, arg, PMIX_RANK_WILDCARD, PMIX_FABRIC_DEVICES, 7));
    return put_u32(put, arg, PMIX_RANK_WILDCARD, "vendor.key", 42);
}

/* What a process here finds; UINT32_MAX: nothing. */
static uint32_t find(const char *nspace, pmix_rank_t rank, const char *key)
{
    pmix_proc_t p = raw_proc(nspace, rank);
    pmix_value_t *v = NULL;
    pmix_info_t here = {.key = PMIX_OPTIONAL,
                        .value = {.type = PMIX_BOOL, .data.flag = true}};
    pmix_status_t rc = PMIx_Get(&p, key, &here, 1, &v);
    uint32_t n = rc ? UINT32_MAX : v->data.uint32;

    if (!rc)
        ck_assert_int_eq(v->type, PMIX_UINT32);
    PMIx_Value_free(v, rc ? 0 : 1);
    return n;
}

/* The same in what a client is sent when it begins. */
static uint32_t find_sent(int fd, pmix_rank_t wanted, const char *key)
{
    PX_AUTOFREE char *name = NULL;
    uint32_t found = UINT32_MAX;
    px_reader r;

    raw_send(fd, 500, raw_begin(PX_OP_REQ));
    ck_assert(raw_recv(fd, 500, &r));
    ok(px_unpack_str(&r, &name));
    while (!px_reader_done(&r)) {
        struct px_kval kv = {0};
        px_reader of_rank;
        pmix_rank_t rank = PMIX_RANK_WILDCARD;

        ok(px_unpack_kval(&r, &kv));
        if (strcmp(kv.key, PMIX_PROC_BLOB) == 0) {
            px_reader_init(&of_rank, px_codec_default, kv.value.data.bo.bytes,
                           kv.value.data.bo.size);
            ok(px_unpack_rank(&of_rank, &rank));
            while (!px_reader_done(&of_rank)) {
                struct px_kval inner = {0};

                ok(px_unpack_kval(&of_rank, &inner));
                if (rank == wanted && strcmp(inner.key, key) == 0)
                    found = inner.value.data.uint32;
                px_kval_fini(&inner);
            }
        } else if (rank == wanted && strcmp(kv.key, key) == 0) {
            found = kv.value.data.uint32;
        }
        px_kval_fini(&kv);
    }
    return found;
}

static void is_all_in_place(void *arg PX_UNUSED)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, "job");

    ok(px_store_noted(&ns->store, PX_STORE_JOB, NULL));
    ck_assert(px_store_has(&ns->store, PX_GDS_JOB, 4, PMIX_FABRIC_ENDPT));
    ck_assert(!px_store_keeps(&ns->store, PX_GDS_JOB, PMIX_RANK_UNDEF));
}

static void register_job(void)
{
    raw_add_job("job", 3, 2, geteuid());
}

static const struct {
    const char *steps; /* registers, applies */
    const char *called;
} orders[] = {
    {"ar", "best.values job\n"},
    {"ra", "best.values job\n"},
    {"rar", "best.values job\nbest.values job\n"},
    {"ara", "best.values job\nbest.values job\n"},
};

PX_TEST_LOOP(values_are_found_in_whichever_order_job_and_contribution_come,
             PX_COUNT(orders))
{
    start();
    fakes[0].values = put_places;
    for (const char *s = orders[_i].steps; *s; s++) {
        if (*s == 'r')
            register_job();
        else
            ok(try_support("job", "best"));
    }
    called(orders[_i].called);
    raw_on_loop(is_all_in_place, NULL);
    int fd = raw_client(0);
    for (pmix_rank_t r = 0; r < 5; r++) {
        uint32_t wanted = r < 3 ? r : 1000 + r - 3;

        ck_assert_uint_eq(find("job", r, PMIX_FABRIC_ENDPT), wanted);
        ck_assert_uint_eq(find_sent(fd, r, PMIX_FABRIC_ENDPT), wanted);
    }
    ck_assert_uint_eq(find("job", PMIX_RANK_WILDCARD, "vendor.key"), 42);
    ck_assert_uint_eq(find_sent(fd, PMIX_RANK_WILDCARD, "vendor.key"), 42);
    ck_assert_uint_eq(find("job", PMIX_RANK_WILDCARD, PMIX_FABRIC_DEVICES), 7);
}

PX_TEST(only_components_that_contribute_are_asked_and_only_for_that_job)
{
    start();
    raw_add_job("other", 1, 0, geteuid());
    register_job();
    ok(try_support("job", "good"));
    called("good.values job\n");
    ok(try_support("later", "good"));
    called("");
    raw_drop_job("later"); /* forgotten, though it was never registered */
    raw_add_job("later", 1, 0, geteuid());
    called("");
    ok(try_support("job", "best")); /* beside the other one */
    called("good.values job\nbest.values job\n");
}

static pmix_status_t put_priority(struct fake *f, const struct px_pnet_job *job,
                                  px_pnet_put_fn put, void *arg)
{
    for (pmix_rank_t r = 0; r < job->n_procs; r++)
        ok(put_u32(put, arg, r, PMIX_FABRIC_ENDPT, (uint32_t)f->priority));
    return put_u32(put, arg, PMIX_RANK_WILDCARD, "key", (uint32_t)f->priority);
}

/* And a component that has prepared the node knows better than the host. */
PX_TEST(of_two_values_that_of_the_best_component_counts)
{
    PX_AUTO(px_infos) rank = {0}, infos = {0};
    const uint32_t one_of_host = 1, in_rank = 1;

    start();
    register_job();
    ok(px_infos_add(&rank, PMIX_RANK, &in_rank, PMIX_PROC_RANK));
    ok(px_infos_add(&rank, PMIX_FABRIC_ENDPT, &one_of_host, PMIX_UINT32));
    ok(px_infos_add(&rank, "host.key", &one_of_host, PMIX_UINT32));
    ok(px_infos_add_array(&infos, PMIX_PROC_DATA, &rank));
    ok(px_infos_add(&infos, "key", &one_of_host, PMIX_UINT32));
    fakes[0].values = fakes[1].values = put_priority;
    for (int again = 0; again < 2; again++) {
        ok(PMIx_server_register_nspace(raw_proc("job", 0).nspace, 3, infos.v, infos.n,
                                       NULL, NULL));
        ck_assert_uint_eq(find("job", 1, PMIX_FABRIC_ENDPT), again ? 900 : 1);
        ck_assert_uint_eq(find("job", PMIX_RANK_WILDCARD, "key"), again ? 900 : 1);
        ok(try_support("job", "best good"));
        ck_assert_uint_eq(find("job", 1, PMIX_FABRIC_ENDPT), 900);
        ck_assert_uint_eq(find("job", PMIX_RANK_WILDCARD, "key"), 900);
        ck_assert_uint_eq(find("job", 1, "host.key"), 1);
    }
}

static struct {
    pmix_rank_t rank;
    const char *key;
    pmix_data_type_t type;
} const bad_values[] = {
    {0, "", PMIX_UINT32},
    {5, "key", PMIX_UINT32}, /* there are 5 */
    {PMIX_RANK_UNDEF, "key", PMIX_UINT32},
    {PMIX_RANK_LOCAL_NODE, "key", PMIX_UINT32},
    {0, "key", PMIX_UNDEF},
    {0, "key", PMIX_POINTER},
    {0, "key", PMIX_COMPRESSED_STRING},
    {0, PMIX_QUALIFIED_VALUE, PMIX_UINT32},
    {PMIX_RANK_WILDCARD, "key", PMIX_POINTER},
    {PMIX_RANK_WILDCARD, "key", 9999},
    {PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, PMIX_UINT32},
    {PMIX_RANK_WILDCARD, PMIX_NODE_MAP, PMIX_UINT32},
    {PMIX_RANK_WILDCARD, PMIX_PROC_MAP, PMIX_UINT32},
    {1, PMIX_LOCAL_RANK, PMIX_UINT32},
    {1, PMIX_HOSTNAME, PMIX_UINT32},
};
static unsigned bad_value;

static pmix_status_t put_bad(struct fake *f PX_UNUSED,
                             const struct px_pnet_job *job PX_UNUSED,
                             px_pnet_put_fn put, void *arg)
{
    pmix_info_t info = {.value = {.type = bad_values[bad_value].type}};

    strcpy(info.key, bad_values[bad_value].key);
    fails(put(arg, 0, NULL), BAD_PARAM);
    return put(arg, bad_values[bad_value].rank, &info);
}

/* The component returns what it was told, and the launch fails. */
PX_TEST_LOOP(values_that_cannot_be_are_refused, 2)
{
    pmix_info_t none[1] = {{.key = ""}};

    start();
    fakes[0].values = put_bad;
    for (bad_value = 0; bad_value < PX_COUNT(bad_values); bad_value++) {
        pmix_status_t rc = PMIX_SUCCESS;

        if (_i) {
            register_job();
            rc = try_support("job", "best");
        } else {
            ok(try_support("job", "best"));
            none[0].value = (pmix_value_t){.type = PMIX_UINT32, .data.uint32 = 5};
            strcpy(none[0].key, PMIX_JOB_SIZE);
            rc = PMIx_server_register_nspace(raw_proc("job", 0).nspace, 3, none, 1,
                                             NULL, NULL);
        }
        ck_assert_msg(rc == PMIX_ERR_BAD_PARAM, "row %u: %d", bad_value, rc);
        ck_assert_uint_eq(find("job", 0, "key"), UINT32_MAX);
        raw_drop_job("job");
    }
    calls[0] = '\0';
    register_job(); /* the failure has forgotten the contribution */
    called("");
}

/* ---- fabrics ------------------------------------------------------------------------------------ */

/* Under a host that knows of none: "best" has plane a, "good" b. */
static void start_fabrics(void)
{
    pmix_server_module_t module = host_module;

    module.fabric = NULL;
    setenv("PMIX_MCA_pnet", "best,good", 1);
    raw_start(&module, 1, 0);
    fakes[0].plane = "a";
    fakes[1].plane = "b";
    fakes[0].index_type = PMIX_SIZE;
}

static pmix_status_t try_register(pmix_fabric_t *f, const char *plane)
{
    pmix_info_t info;

    PMIx_Fabric_construct(f);
    ok(PMIx_Info_load(&info, PMIX_FABRIC_PLANE, plane, PMIX_STRING));
    pmix_status_t rc = PMIx_Fabric_register(f, &info, 1);
    PMIx_Info_destruct(&info);
    return rc;
}

static void is_of(const pmix_fabric_t *f, const struct fake *fake, size_t index,
                  unsigned times)
{
    const pmix_info_t *l = px_info_find(f->info, f->ninfo, PMIX_FABRIC_INDEX),
                      *m = px_info_find(f->info, f->ninfo, PMIX_FABRIC_COST_MATRIX);

    ck_assert_uint_eq(f->index, index);
    ck_assert_uint_eq(f->ninfo, 3);
    ck_assert_int_eq(l->value.type, PMIX_SIZE);
    ck_assert_uint_eq(l->value.data.size, index);
    ck_assert_str_eq(px_info_str(f->info, f->ninfo, PMIX_FABRIC_VENDOR), fake->name);
    ck_assert_int_eq(m->value.type, PMIX_POINTER);
    ck_assert_ptr_eq(m->value.data.ptr, fake->matrix);
    ck_assert_uint_eq(((uint16_t *)m->value.data.ptr)[1], times);
}

PX_TEST(a_fabric_of_a_component_is_described_until_it_is_deregistered)
{
    pmix_fabric_t a, b, again;

    start_fabrics();
    ok(try_register(&a, "a"));
    is_of(&a, &fakes[0], 0, 1);
    ok(try_register(&b, "b"));
    is_of(&b, &fakes[1], 1, 1);
    ok(try_register(&again, "a"));
    is_of(&again, &fakes[0], 0, 2);
    called("best.register\ngood.register\nbest.register\n");
    ok(PMIx_Fabric_update(&a));
    is_of(&a, &fakes[0], 0, 3);
    ok(PMIx_Fabric_update(&b));
    called("best.update 3\ngood.update 0\n");
    ok(PMIx_Fabric_deregister(&again));
    called("");
    ok(PMIx_Fabric_deregister(&a));
    ok(PMIx_Fabric_deregister(&a)); /* which it is not */
    called("best.deregister 3\n");
    a.index = 0;
    fails(PMIx_Fabric_update(&a), NOT_FOUND);
    ok(PMIx_Fabric_deregister(&a));
    a.index = 77;
    fails(PMIx_Fabric_update(&a), NOT_FOUND);
    called("");
    ok(try_register(&a, "a"));
    is_of(&a, &fakes[0], 0, 1);
    ok(PMIx_Fabric_deregister(&a));
    called("best.register\nbest.deregister 3\n");
    raw_server_stop();
    ck_assert_str_eq(calls, "good.deregister 0\n");
    px_type_free_array(PMIX_INFO, b.info, b.ninfo);
}

/* STATUS, infos. */
static pmix_status_t ask(uint8_t op, const char *plane, size_t index, px_infos *l)
{
    px_writer w = raw_begin(op);
    pmix_info_t info;
    px_reader r;

    px_infos_cleanup(l);
    ok(PMIx_Info_load(&info, PMIX_FABRIC_PLANE, plane, PMIX_STRING));
    if (op == PX_OP_FABRIC_REGISTER)
        px_pack_infos(&w, &info, 1);
    else
        px_pack_size(&w, index);
    PMIx_Info_destruct(&info);
    pmix_status_t rc = raw_request(one, w, &r);
    if (!px_reader_done(&r))
        ok(px_unpack_infos(&r, &l->v, &l->n));
    return rc;
}

PX_TEST(a_client_sees_no_address_and_holds_a_fabric_until_the_server_ends)
{
    PX_AUTO(px_infos) l = {0};
    pmix_fabric_t b;

    start_fabrics();
    for (unsigned op = PX_OP_FABRIC_REGISTER; op <= PX_OP_FABRIC_UPDATE; op++) {
        ok(ask((uint8_t)op, "b", 0, &l));
        ck_assert_uint_eq(l.n, 2);
        ck_assert_str_eq(px_info_str(l.v, l.n, PMIX_FABRIC_VENDOR), "good");
        ck_assert_uint_eq(px_info_u32(l.v, l.n, PMIX_FABRIC_INDEX, 99), 0);
    }
    fails(ask(PX_OP_FABRIC_UPDATE, NULL, 1, &l), NOT_FOUND);
    fails(ask(PX_OP_FABRIC_REGISTER, "c", 0, &l), NOT_FOUND);
    ok(try_register(&b, "b"));
    ok(PMIx_Fabric_deregister(&b));
    called("good.register\ngood.update 0\ngood.register\n");
    raw_server_stop();
    ck_assert_str_eq(calls, "good.deregister 0\n");
}

PX_TEST(a_host_that_knows_fabrics_is_asked_alone)
{
    uint16_t matrix[4];
    const size_t index = 5;
    PX_AUTO(px_infos) l = {0};
    pmix_fabric_t f;

    setenv("PMIX_MCA_pnet", "best,good", 1);
    raw_start(&host_module, 1, 0);
    fakes[0].plane = "a";
    ok(px_infos_add(&host.infos, PMIX_FABRIC_INDEX, &index, PMIX_SIZE));
    ok(px_infos_add(&host.infos, PMIX_FABRIC_COST_MATRIX, matrix, PMIX_POINTER));
    ok(try_register(&f, "a"));
    ck_assert_uint_eq(f.index, 5);
    ck_assert_ptr_eq(f.info[1].value.data.ptr, matrix);
    ck_assert_int_eq(f.info[1].value.type, PMIX_POINTER);
    ok(ask(PX_OP_FABRIC_REGISTER, "a", 0, &l));
    ck_assert_uint_eq(l.n, 1);
    ok(PMIx_Fabric_deregister(&f));
    called("");
    ck_assert_uint_eq(host_calls("fabric"), 2);
}

PX_TEST(a_fabric_that_fails_leaves_nothing)
{
    pmix_fabric_t f, known;

    start_fabrics();
    fails(try_register(&f, "c"), NOT_FOUND);
    called("");
    fakes[0].index_type = PMIX_STRING; /* which is no number */
    fails(try_register(&f, "a"), BAD_PARAM);
    fakes[0].index_type = PMIX_SIZE;
    fakes[0].status = PMIX_ERR_UNREACH;
    fails(try_register(&f, "a"), UNREACH);
    ck_assert_uint_eq(f.index, SIZE_MAX);
    ck_assert_ptr_null(f.info);
    ok(try_register(&known, "b"));
    fakes[1].status = PMIX_ERR_UNREACH;
    fails(PMIx_Fabric_update(&known), UNREACH);
    is_of(&known, &fakes[1], 0, 1);
    ok(PMIx_Fabric_deregister(&known));
    free(px_take(&fakes[0].matrix));
    raw_server_stop();
    setenv("PMIX_MCA_pnet", "envar", 1);
    ok(PMIx_server_init(&(pmix_server_module_t){0}, NULL, 0));
    fails(try_register(&f, "a"), NOT_SUPPORTED);
}

/* ---- inventories -------------------------------------------------------------------------------- */

static sem_t told;
static px_infos told_infos;
static pmix_status_t told_status;

static void on_inventory(pmix_status_t status, pmix_info_t *info, size_t n,
                         void *cbdata, pmix_release_cbfunc_t release,
                         void *release_data)
{
    ck_assert_ptr_eq(cbdata, &told);
    told_status = status;
    ok(px_infos_add_copy(&told_infos, info, n));
    release(release_data);
    sem_post(&told);
}

static void on_delivered(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &told);
    told_status = status;
    sem_post(&told);
}

/* Into told_infos, behind those of nodes before. */
static pmix_status_t collect(uint32_t devices)
{
    pmix_info_t n;

    ok(PMIx_Info_load(&n, PMIX_FABRIC_NUM_DEVICES, &devices, PMIX_UINT32));
    ok(PMIx_server_collect_inventory(&n, 1, on_inventory, &told));
    sem_wait(&told);
    return told_status;
}

/* With a callback, or without. */
static pmix_status_t deliver(bool waits)
{
    const int seconds = 9;
    pmix_info_t d;

    ok(PMIx_Info_load(&d, PMIX_TIMEOUT, &seconds, PMIX_INT));
    pmix_status_t rc = PMIx_server_deliver_inventory(
        told_infos.v, told_infos.n, &d, 1, waits ? NULL : on_delivered, &told);
    if (rc || waits)
        return rc;
    sem_wait(&told);
    return told_status;
}

static void start_inventory(void)
{
    sem_init(&told, 0, 0);
    start();
}

PX_TEST_LOOP(each_component_gets_the_inventory_of_its_own, 2)
{
    start_inventory();
    ok(collect(2));
    called("best.collect\ngood.collect\n");
    ck_assert_uint_eq(told_infos.n, 1);
    ok(collect(5)); /* another node */
    ok(px_infos_add(&told_infos, "of the host", NULL, PMIX_BOOL));
    calls[0] = '\0';
    ok(deliver(_i));
    called("best.deliver 2 for 9\ngood.deliver 0 for 9\n"
           "best.deliver 5 for 9\ngood.deliver 0 for 9\n");
}

PX_TEST(an_inventory_that_is_damaged_or_none_is_refused_before_any_component_sees_it)
{
    start_inventory();
    ok(collect(2));
    ok(collect(5));
    pmix_byte_object_t *second = &told_infos.v[1].value.data.bo;
    const size_t whole = second->size;

    calls[0] = '\0';
    for (size_t n = 0; n < whole; n++) {
        second->size = n;
        fails(deliver(n % 2), UNPACK_FAILURE);
    }
    second->size = whole;
    second->bytes[whole / 2] ^= 1;
    fails(deliver(true), UNPACK_FAILURE);
    second->bytes[whole / 2] ^= 1;
    strcpy(told_infos.v[0].key, "another");
    strcpy(told_infos.v[1].key, "another");
    fails(deliver(true), BAD_PARAM);
    called("");
}

PX_TEST(the_inventory_of_an_unknown_component_is_skipped_and_failures_are_told)
{
    start_inventory();
    fakes[1].status = PMIX_ERR_UNREACH;
    fails(collect(1), UNREACH);
    ck_assert_uint_eq(told_infos.n, 0);
    fakes[1].status = PMIX_SUCCESS;
    ok(collect(1));
    raw_server_stop();
    setenv("PMIX_MCA_pnet", "good", 1);
    ok(PMIx_server_init(&(pmix_server_module_t){0}, NULL, 0));
    calls[0] = '\0';
    ok(deliver(true));
    called("good.deliver 0 for 9\n");
    raw_server_stop();
    start();
    fakes[0].status = PMIX_ERR_UNREACH;
    fails(deliver(true), UNREACH);
    called("best.deliver 1 for 9\ngood.deliver 0 for 9\n"); /* no less */
}

PX_TEST_MAIN("server/fabric", NULL, host_end)

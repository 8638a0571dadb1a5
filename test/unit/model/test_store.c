/* SPDX-License-Identifier: BSD-3-Clause */
/* Which component of the datastore holds what, and how a server and its reader agree on it. A
 * component "shared", better than hash, stands for one that peers read in place. */
#include "model_test.h"

#include "frameworks/gds/gds.h"

#include <string.h>

static const struct px_gds_ops *hash;
static bool declines, cannot_attach;
static unsigned n_attached;

static pmix_status_t create(void *self, const char *nspace, struct px_gds_ns **ns)
{
    return declines ? PMIX_ERR_NOT_SUPPORTED : hash->create(self, nspace, ns);
}

/* Both are in one process: an address says where. */
static pmix_status_t describe(void *self PX_UNUSED, struct px_gds_ns *ns,
                              const pmix_proc_t *reader, pmix_info_t **infos, size_t *n,
                              int *fd)
{
    px_infos l = {0};
    uint64_t where = (uintptr_t)ns;

    ck_assert_uint_eq(reader->rank, 2);
    ok(px_infos_add(&l, "where", &where, PMIX_UINT64));
    *infos = l.v;
    *n = l.n;
    *fd = -1;
    return PMIX_SUCCESS;
}

static pmix_status_t copy_job(void *arg, pmix_rank_t rank, const char *key,
                              const pmix_value_t *value)
{
    return hash->store(NULL, arg, PX_GDS_JOB, rank, key, value);
}

static pmix_status_t attach(void *self, const char *nspace, const pmix_info_t *infos,
                            size_t n, int fd, struct px_gds_ns **ns)
{
    uint64_t where = 0;

    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(fd, -1);
    ck_assert_str_eq(infos[0].key, "where");
    ck_assert(px_value_to_u64(&infos[0].value, &where));
    if (cannot_attach)
        return PMIX_ERR_NO_PERMISSIONS;
    n_attached++;
    ok(hash->create(self, nspace, ns));
    return hash->walk(self, (struct px_gds_ns *)(uintptr_t)where, PX_GDS_JOB,
                      PMIX_RANK_UNDEF, copy_job, *ns);
}

static struct px_component shared_component = {.name = "shared"};
static struct px_gds_ops shared_ops;
static const struct px_module *const shared = &model_modules[0], *const by_messages =
                                                                     &model_modules[1];
static struct px_model *server;
static struct px_nspace *job;

static void setup(void)
{
    hash = px_gds_ops(&model_modules[0]);
    shared_ops = *hash;
    shared_ops.create = create;
    shared_ops.describe = describe;
    shared_ops.attach = attach;
    shared_component.ops = &shared_ops;
    model_modules[1] = model_modules[0];
    model_modules[0].component = &shared_component;
    n_model_modules = 2;
    server = model_make("n0", JOB, PMIX_RANK_UNDEF);
    job = nspace_of(server, JOB);
}

static void teardown(void)
{
    px_model_destroy(server);
    model_teardown();
}

static void put(struct px_nspace *to, pmix_rank_t rank, const char *key, uint32_t n)
{
    const pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};

    ok(px_store_put(&to->store, PX_GDS_JOB, rank, key, &v));
}

/* As the client has it; 0: not at all. */
static uint32_t job_u32(pmix_rank_t rank, const char *key)
{
    uint32_t n;

    return px_store_u32(&ns->store, PX_GDS_JOB, rank, key, &n) ? n : 0;
}

/* Rank 2, told only where the server's data are. */
static void read_description(const struct px_module *named)
{
    PX_AUTO(px_writer) w;
    pmix_proc_t reader;

    px_proc_set(&reader, JOB, 2);
    be("n0", 2);
    px_writer_init(&w, px_codec_default);
    px_store_describe(&job->store, job->name, named, &reader, &w);
    ok(w.status);
    ok(read_answer(px_codec_default, &w.buf));
}

PX_TEST(the_best_component_that_does_not_decline_takes_a_namespace)
{
    ck_assert_ptr_eq(job->store.own.module, shared);
    declines = true;
    ck_assert_ptr_eq(nspace_of(server, "next")->store.own.module, by_messages);
    n_model_modules = 1;
    ck_assert_int_eq(px_nspace_get(server, "none", &ns), PMIX_ERR_NOT_AVAILABLE);
}

PX_TEST(a_reader_and_its_server_agree_on_a_component)
{
    static const struct {
        const char *names;
        const struct px_module *chosen, *served;
    } rows[] = {
        {"shared", shared, shared},    {"hash", by_messages, by_messages},
        {"hash,shared", shared, NULL}, /* a peer names one */
        {"ds21", by_messages, NULL},   {"", by_messages, by_messages},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_ptr_eq(px_store_choose(rows[i].names), rows[i].chosen);
        ck_assert_ptr_eq(px_store_of_peer(rows[i].names), rows[i].served);
    }
    ck_assert_ptr_eq(px_store_choose(NULL), by_messages);
    n_model_modules = 1; /* shared alone */
    ck_assert_ptr_null(px_store_choose(NULL));
    ck_assert_ptr_null(px_store_of_peer(""));
}

PX_TEST(what_is_described_is_read_in_place)
{
    put(job, 2, "a", 7);
    put(job, PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, 3);
    read_description(shared);
    ck_assert_uint_eq(n_attached, 1);
    ck_assert_uint_eq(job_u32(2, "a"), 7);
    assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 3);
    put(ns, 2, "a", 8); /* what it keeps itself counts first */
    ck_assert_uint_eq(job_u32(2, "a"), 8);
    ck_assert_uint_eq(job_u32(2, "b"), 0);
}

PX_TEST(who_cannot_attach_or_named_another_component_goes_on_with_messages)
{
    put(job, 2, "a", 7);
    for (int i = 0; i < 2; i++) {
        cannot_attach = i == 0;
        read_description(i == 0 ? shared : by_messages);
        ck_assert_uint_eq(n_attached, 0);
        ck_assert_uint_eq(job_u32(2, "a"), 0);
        put(ns, 2, "a", 8);
        ck_assert_uint_eq(job_u32(2, "a"), 8);
    }
}

PX_TEST(strange_descriptions_are_left_alone)
{
    const pmix_value_t number = {.type = PMIX_UINT32};
    PX_AUTO(px_infos) infos = {0};
    pmix_data_array_t array = {.type = PMIX_INFO};
    const pmix_value_t whole = {.type = PMIX_DATA_ARRAY, .data.darray = &array};

    px_store_attach(&job->store, job->name, &number);
    px_store_attach(&job->store, job->name, &whole); /* of nothing */
    add_num(&infos, "shared", 1, PMIX_UINT32);
    array.array = infos.v;
    array.size = infos.n;
    px_store_attach(&job->store, job->name, &whole);
    ck_assert_ptr_null(job->store.shared.ns);
    ck_assert_uint_eq(n_attached, 0);
}

PX_TEST_MAIN("model/store", setup, teardown)

/* SPDX-License-Identifier: BSD-3-Clause */
/* The datastore component for each table, and its negotiation between server and
 * reader. A component "shared", better than hash, stands for a component that peers
 * read in place. */
#include "model_test.h"

#include "core/model/lookup.h"
#include "frameworks/framework.h"
#include "tenon/gds.h"

#include <fcntl.h>
#include <string.h>

static const struct px_gds_ops *hash;
static bool declines, cannot_attach, is_full;
static unsigned n_attached;

static pmix_status_t create(void *self, const char *nspace, struct px_gds_ns **ns)
{
    return declines ? PMIX_ERR_NOT_SUPPORTED : hash->create(self, nspace, ns);
}

static pmix_status_t store(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                           pmix_rank_t rank, const char *key, const pmix_value_t *value)
{
    return is_full && value->type != PMIX_UNDEF
               ? PMIX_ERR_OUT_OF_RESOURCE
               : hash->store(self, ns, table, rank, key, value);
}

/* Server and reader share this process, so the description is an address. */
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
    *fd = 7;
    return PMIX_SUCCESS;
}

struct copying {
    struct px_gds_ns *to;
    enum px_gds_table table;
};

static pmix_status_t copy_one(void *arg, pmix_rank_t rank, const char *key,
                              const pmix_value_t *value)
{
    const struct copying *c = arg;

    return hash->store(NULL, c->to, c->table, rank, key, value);
}

static pmix_status_t attach(void *self, const char *nspace, const pmix_info_t *infos,
                            size_t n, int fd, struct px_gds_ns **ns)
{
    struct copying c;
    uint64_t where = 0;

    ck_assert_uint_eq(n, 1);
    ck_assert_int_eq(fd, 7);
    ck_assert_str_eq(infos[0].key, "where");
    ck_assert(px_value_to_u64(&infos[0].value, &where));
    if (cannot_attach)
        return PMIX_ERR_NO_PERMISSIONS;
    n_attached++;
    ok(hash->create(self, nspace, ns));
    c.to = *ns;
    for (c.table = 0; c.table < PX_GDS_N_TABLES; c.table++)
        ok(hash->walk(self, (struct px_gds_ns *)(uintptr_t)where, c.table,
                      PMIX_RANK_UNDEF, copy_one, &c));
    return PMIX_SUCCESS;
}

static unsigned n_fetched; /* fetches from shared tables */

static pmix_status_t fetch(void *self, struct px_gds_ns *ns, enum px_gds_table table,
                           pmix_rank_t rank, const char *key, const pmix_info_t *quals,
                           size_t n_quals, pmix_value_t *out)
{
    n_fetched++;
    return hash->fetch(self, ns, table, rank, key, quals, n_quals, out);
}

static uint64_t n_changes;

static uint64_t changes(void *self PX_UNUSED, struct px_gds_ns *ns PX_UNUSED)
{
    return n_changes;
}

static struct px_component shared_component = {.name = "shared"};
static struct px_gds_ops shared_ops;
static const struct px_module *const shared = &model_modules[0], *const by_messages =
                                                                     &model_modules[1];
static struct px_model *server;
static struct px_nspace *job;

static void setup(void)
{
    hash = PX_OPS(gds, &model_modules[0]);
    shared_ops = *hash;
    shared_ops.create = create;
    shared_ops.store = store;
    shared_ops.fetch = fetch;
    shared_ops.describe = describe;
    shared_ops.attach = attach;
    shared_component.ops = &shared_ops;
    model_modules[1] = model_modules[0];
    model_modules[0].component = &shared_component;
    n_model_modules = 2;
    server = model_make("n0", JOB, PMIX_RANK_UNDEF);
    job = nspace_of(server, JOB);
    px_store_share(&job->store, JOB);
}

static void teardown(void)
{
    px_model_destroy(server);
    model_teardown();
}

static void put_in(struct px_nspace *to, enum px_gds_table table, pmix_rank_t rank,
                   const char *key, uint32_t n)
{
    const pmix_value_t v = {.type = n ? PMIX_UINT32 : PMIX_UNDEF, .data.uint32 = n};

    ok(px_store_put(&to->store, table, rank, key, &v));
}

/* Returns a number, or 0 if there is none. */
static uint32_t u32_in(const struct px_nspace *from, enum px_gds_table table,
                       pmix_rank_t rank, const char *key)
{
    uint32_t n;

    return px_store_u32(&from->store, table, rank, key, &n) ? n : 0;
}

/* Reads as rank 2, from a reply that has only the place of the server's data. If the
 * job is among these data, the reply has that, too. */
static pmix_status_t read_description(const struct px_module *named)
{
    PX_AUTO(px_writer) w = writer_in(px_codec_default);
    PX_AUTO(px_writer) answer = writer_in(px_codec_default);
    pmix_proc_t reader;
    int fd = -1;

    px_proc_set(&reader, JOB, 2);
    px_pack_str(&w, JOB);
    pmix_status_t rc = px_store_describe(&job->store, named, &reader, &w, &fd);
    be("n0", 2);
    px_reader r = reader_of(px_codec_default, &w.buf);
    if (!rc)
        rc = px_jobinfo_attach(model, &r, fd);
    px_jobinfo_pack_in_place(server, job, &answer);
    ok(read_answer(px_codec_default, &answer.buf));
    return rc;
}

static void learn_job(px_infos *l)
{
    struct px_err err = {0};

    ok(px_jobinfo_register(server, job, l->v, l->n, &err));
    px_infos_cleanup(l);
}

static struct px_fence_futex word;
static unsigned n_described;

static pmix_status_t view_word(void *self, struct px_gds_ns *ns,
                               enum px_gds_table table, pmix_rank_t rank,
                               const char *key, const void **bytes, size_t *n)
{
    *bytes = &word;
    *n = sizeof(word);
    return hash->fetch(self, ns, table, rank, key, NULL, 0, NULL);
}

static pmix_status_t describe_file(void *self PX_UNUSED, struct px_gds_ns *ns PX_UNUSED,
                                   const pmix_proc_t *reader PX_UNUSED,
                                   pmix_info_t **infos PX_UNUSED, size_t *n PX_UNUSED,
                                   int *fd)
{
    static int root = -1;

    n_described++;
    if (root < 0)
        root = open("/", O_RDONLY | O_CLOEXEC);
    *fd = root;
    return PMIX_SUCCESS;
}

/* A description takes memory and system calls, so a fence asks for one description. */
PX_TEST(a_fence_asks_for_the_file_of_its_futex_once)
{
    shared_ops.describe = describe_file;
    shared_ops.view = NULL;
    ck_assert_ptr_null(px_store_make_fence_futex(&job->store));
    fails(px_store_noted(&job->store, PX_STORE_FENCE_FUTEX, NULL), NOT_FOUND);
    ck_assert_uint_eq(n_described, 0);
    shared_ops.view = view_word;
    ck_assert_ptr_null(px_store_fence_futex(&job->store));
    for (unsigned i = 1; i < 4; i++) {
        word.id = 0;
        ck_assert_ptr_eq(px_store_make_fence_futex(&job->store), &word);
        ck_assert_ptr_eq(px_store_make_fence_futex(&job->store), &word);
        ck_assert_uint_ne(word.id, 0);
        ck_assert_uint_eq(n_described, i);
        put_in(job, PX_GDS_LOCAL, 0, "k", i); /* may replace the file */
    }
}

PX_TEST(the_best_component_that_does_not_decline_takes_a_namespace)
{
    struct px_nspace *next = nspace_of(server, "next");

    ck_assert_ptr_eq(job->store.own.module, by_messages);
    ck_assert_ptr_eq(job->store.shared.module, shared);
    declines = true;
    px_store_share(&next->store, "next");
    ck_assert_ptr_eq(next->store.own.module, by_messages);
    ck_assert_ptr_null(next->store.shared.ns);
    put_in(next, PX_GDS_LOCAL, 0, "a", 1);
    ck_assert_uint_eq(u32_in(next, PX_GDS_LOCAL, 0, "a"), 1);
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
        {"hash,shared", shared, NULL}, /* the peer names a component */
        {"ds21", by_messages, NULL},   {"", by_messages, by_messages},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_ptr_eq(px_store_choose(rows[i].names), rows[i].chosen);
        ck_assert_ptr_eq(px_store_of_peer(rows[i].names), rows[i].served);
    }
    ck_assert_ptr_eq(px_store_choose(NULL), by_messages);
    n_model_modules = 1; /* only the shared component */
    ck_assert_ptr_null(px_store_choose(NULL));
    ck_assert_ptr_null(px_store_of_peer(""));
}

/* Node ids differ from positions; counts the lookups. */
PX_TEST(nodes_are_found_by_any_id_at_once)
{
    enum { N = 200 };
    char name[16];

    for (uint32_t i = 0; i < N; i++) {
        px_infos node = {0};
        snprintf(name, sizeof(name), "n%u", i);
        add_str(&node, PMIX_HOSTNAME, name);
        add_num(&node, PMIX_NODEID, i == 7 ? 7 : 1000 - i, PMIX_UINT32);
        add_array(&given, PMIX_NODE_INFO_ARRAY, &node);
    }
    add_maps(&given, "pmix[n[1:0-9],n[2:10-99],n[3:100-199]]", "0-3");
    learn_job(&given);
    ok(read_description(shared));
    const struct px_nspace *const both[] = {job, ns};
    for (size_t i = 0; i < PX_COUNT(both); i++) {
        n_fetched = 0;
        ck_assert_uint_eq(px_node_by_id(both[i], 7), 7);
        ck_assert_uint_eq(px_node_by_id(both[i], 1000), 0);
        ck_assert_uint_eq(px_node_by_id(both[i], 801), 199);
        ck_assert_uint_eq(px_node_by_id(both[i], 3), UINT32_MAX);
        ck_assert_uint_eq(px_node_by_id(both[i], 993), UINT32_MAX);
        ck_assert_uint_le(n_fetched, 5 * 2);
    }
    /* One node gets a new id, another the id of a third. */
    const uint32_t ids[][3] = {{3, 997, UINT32_MAX}, {3, 2000, 3}, {0, 990, 0}};
    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        px_infos node = {0};
        snprintf(name, sizeof(name), "n%u", ids[i][0]);
        add_str(&node, PMIX_HOSTNAME, name);
        add_num(&node, PMIX_NODEID, i ? ids[i][1] : 3, PMIX_UINT32);
        add_array(&given, PMIX_NODE_INFO_ARRAY, &node);
        learn_job(&given);
        ck_assert_uint_eq(px_node_by_id(job, ids[i][1]), ids[i][2]);
    }
}

/* True if the value is in the shared component. */
static bool is_shared(enum px_gds_table table, const char *key)
{
    return hash->fetch(NULL, job->store.shared.ns, table, 2, key, NULL, 0, NULL) ==
           PMIX_SUCCESS;
}

PX_TEST(what_clients_may_read_is_shared_and_the_rest_is_not)
{
    for (enum px_gds_table t = 0; t < PX_GDS_N_TABLES; t++) {
        const pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 9};

        put_in(job, t, 2, "a", 7);
        ok(px_store_keep(&job->store, t, 2, "kept", &v));
        ck_assert_int_eq(is_shared(t, "a"), t != PX_GDS_INTERNAL);
        ck_assert(!is_shared(t, "kept"));
        ck_assert(px_store_keeps(&job->store, t, 2));
        ck_assert(!px_store_keeps(&job->store, t, 3));
        ck_assert_uint_eq(u32_in(job, t, 2, "a"), 7);
        ck_assert_uint_eq(u32_in(job, t, 2, "kept"), 9);
        px_store_clear(&job->store, t, 2);
        ck_assert_uint_eq(u32_in(job, t, 2, "a") + u32_in(job, t, 2, "kept"), 0);
    }
}

PX_TEST(what_finds_no_room_is_withdrawn_and_comes_back)
{
    put_in(job, PX_GDS_LOCAL, 2, "a", 7);
    is_full = true;
    put_in(job, PX_GDS_LOCAL, 2, "a", 8);
    ck_assert(!is_shared(PX_GDS_LOCAL, "a"));
    ck_assert_uint_eq(u32_in(job, PX_GDS_LOCAL, 2, "a"), 8);
    is_full = false;
    put_in(job, PX_GDS_LOCAL, 2, "a", 9);
    ck_assert(is_shared(PX_GDS_LOCAL, "a"));
    ck_assert(!px_store_keeps(&job->store, PX_GDS_LOCAL, 2));
    is_full = true;
    put_in(job, PX_GDS_LOCAL, 2, "b", 1);
    put_in(job, PX_GDS_LOCAL, 2, "a", 0); /* deleted */
    put_in(job, PX_GDS_LOCAL, 2, "b", 0);
    ck_assert_uint_eq(u32_in(job, PX_GDS_LOCAL, 2, "a"), 0);
    ck_assert_uint_eq(u32_in(job, PX_GDS_LOCAL, 2, "b"), 0);
}

/* Sums up the first bytes of values. */
static pmix_status_t add_first(void *sum, pmix_rank_t rank PX_UNUSED,
                               const char *key PX_UNUSED, const pmix_value_t *value)
{
    *(unsigned *)sum += (unsigned)value->data.bo.bytes[0];
    return PMIX_SUCCESS;
}

/* Checks the first bytes of the values for local and for remote readers, and the sum of
 * the values that only remote readers have. */
static void check_first(unsigned local, unsigned remote, unsigned remote_only)
{
    static const enum px_gds_table tables[] = {PX_GDS_LOCAL, PX_GDS_REMOTE};
    unsigned sum = 0;

    for (int t = 0; t < 2; t++) {
        const unsigned wanted = t == 0 ? local : remote;
        pmix_value_t v;

        ok(px_store_fetch(&job->store, tables[t], 2, "key", NULL, 0, &v));
        ck_assert_uint_eq((unsigned)v.data.bo.bytes[0], wanted);
        px_type_destruct(PMIX_VALUE, &v);
        sum = 0;
        ok(px_store_walk(&job->store, tables[t], 2, add_first, &sum));
        ck_assert_uint_eq(sum, wanted);
    }
    sum = 0;
    ok(px_store_walk_remote_only(&job->store, 2, add_first, &sum));
    ck_assert_uint_eq(sum, remote_only);
}

/* A later value for some readers leaves the other readers theirs. */
PX_TEST_LOOP(a_large_value_for_all_readers_is_stored_once, 2)
{
    const size_t size_b = _i ? PX_STORE_ONCE_B : 8;
    char bytes[PX_STORE_ONCE_B] = {0};
    const pmix_value_t v = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, size_b}};

    bytes[0] = 1;
    ok(px_store_put_global(&job->store, 2, "key", &v));
    check_first(1, 1, _i ? 0 : 1);
    bytes[0] = 2;
    ok(px_store_put(&job->store, PX_GDS_LOCAL, 2, "key", &v));
    check_first(2, 1, 1);
    bytes[0] = 3;
    ok(px_store_put_global(&job->store, 2, "key", &v));
    check_first(3, 3, _i ? 0 : 3);
    bytes[0] = 4;
    ok(px_store_keep(&job->store, PX_GDS_REMOTE, 2, "key", &v));
    check_first(3, 4, 4);
}

/* Reads mpirun's job in place: as registered, with a value in a later message, and
 * registered again. */
PX_TEST(a_job_is_read_in_place)
{
    for (int again = 0; again < 2; again++) {
        mpirun_job(&given);
        learn_job(&given);
        ok(read_description(shared));
        ck_assert_uint_eq(n_attached, again + 1);
        ck_assert(ns->complete && ns->in_place && !px_nspace_is_lost(ns));
        assert_mpirun_gets();
        put_in(ns, PX_GDS_JOB, ALL, PMIX_JOB_SIZE, 77);
        put_in(ns, PX_GDS_INTERNAL, 1, PMIX_LOCAL_RANK, 77);
        assert_num(ALL, PMIX_JOB_SIZE, PMIX_UINT32, 2);
        assert_num(1, PMIX_LOCAL_RANK, PMIX_UINT32, 77);
    }
}

/* Fetches nothing as long as nothing has changed; if the component cannot report
 * changes (0), it fetches. */
PX_TEST_LOOP(a_reader_notices_that_its_job_has_gone, 3)
{
    const pmix_value_t none = {.type = PMIX_UNDEF};

    shared_ops.changes = _i > 0 ? changes : NULL;
    n_changes = _i > 1;
    mpirun_job(&given);
    learn_job(&given);
    ok(read_description(shared));
    n_fetched = 0;
    ck_assert(!px_nspace_is_lost(ns));
    ck_assert_uint_eq(n_fetched, _i < 2);
    ok(hash->store(NULL, ns->store.shared.ns, PX_GDS_INTERNAL, ALL, PX_STORE_JOB,
                   &none));
    n_changes *= 2;
    ck_assert(px_nspace_is_lost(ns));
    assert_none(1, PMIX_HOSTNAME);
}

static void note_nodes(const char *list)
{
    const pmix_byte_object_t bytes = {(char *)(uintptr_t)list, strlen(list)};
    pmix_value_t v = {.type = PMIX_UNDEF};

    if (list[0])
        px_value_borrow(&v, &bytes, PMIX_BYTE_OBJECT);
    ok(hash->store(NULL, ns->store.shared.ns, PX_GDS_INTERNAL, ALL, PX_STORE_NODES,
                   &v));
}

/* The reader only copies a node list that the server has. */
PX_TEST(a_reader_makes_no_list_of_nodes_that_is_there)
{
    static const struct {
        const char *noted; /* NULL: as the server stored it */
        const char *list;
    } rows[] = {{NULL, "n8,n9,n10,n11"}, {"a,b", "a,b"}, {"", "n8,n9,n10,n11"}};
    const void *bytes;
    size_t n;

    add_maps(&given, "n8,n9,n10,n11", "0;1;2;3");
    learn_job(&given);
    ok(read_description(shared));
    ok(px_store_view(&ns->store, PX_STORE_NODES, &bytes, &n));
    ck_assert_uint_eq(n, strlen(rows[0].list));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (rows[i].noted)
            note_nodes(rows[i].noted);
        PX_AUTOFREE char *list = px_node_list(ns, &n);
        ck_assert_str_eq(list, rows[i].list);
        ck_assert_uint_eq(n, strlen(list));
        assert_str(ALL, PMIX_NODE_LIST, rows[i].list);
    }
}

PX_TEST(nodes_that_are_in_no_map_have_names_in_place)
{
    px_infos node = {0};

    add_maps(&given, "n0,n1", "0,1;2");
    add_str(&node, PMIX_HOSTNAME, "login");
    add_num(&node, PMIX_NODE_SIZE, 5, PMIX_UINT32);
    add_array(&given, PMIX_NODE_INFO_ARRAY, &node);
    learn_job(&given);
    ok(read_description(shared));
    ck_assert_uint_eq(ns->map->n_rows, 3);
    ck_assert_uint_eq(px_procmap_find(ns->map, "login"), 2);
    ck_assert(ns->map->bytes != ns->map->own); /* the map is read in place */
    ck_assert_uint_eq(ns->this_node, 1); /* the node of rank 2, not of the server */
    ck_assert_uint_eq(ns->job_size, 3);
    add_str(&quals, PMIX_HOSTNAME, "login");
    assert_num(ALL, PMIX_NODE_SIZE, PMIX_UINT32, 5);
    px_jobinfo_detach(ns);
    ck_assert(ns->map->bytes == ns->map->own);
    ck_assert_uint_eq(px_procmap_find(ns->map, "login"), 2);
}

/* Reasons why a job is not read in place, and the reader's reaction to each. */
PX_TEST_LOOP(a_reader_notices_that_it_cannot_read_its_job, 5)
{
    is_full = _i ==
              0; /* the store is full from the start, or a value does not fit later */
    mpirun_job(&given);
    learn_job(&given);
    is_full = _i == 1;
    put_in(job, PX_GDS_NODE, 0, "a", 1);
    is_full = false;
    if (_i == 2) { /* an invalid record */
        char abc[] = "abc";
        const pmix_byte_object_t bytes = {abc, 3};
        pmix_value_t v;

        px_value_borrow(&v, &bytes, PMIX_BYTE_OBJECT);
        ok(px_store_note(&job->store, PX_STORE_JOB, &v));
    }
    cannot_attach = _i == 3;
    pmix_status_t rc = read_description(_i == 4 ? by_messages : shared);
    ck_assert_int_eq(rc, _i == 2   ? PMIX_ERR_UNPACK_FAILURE
                         : _i == 3 ? PMIX_ERR_NO_PERMISSIONS
                         : _i == 4 ? PMIX_ERR_NOT_SUPPORTED
                                   : PMIX_SUCCESS);
    ck_assert(px_nspace_is_lost(ns));
    ck_assert(!ns->complete);
    PX_AUTO(px_writer) w = writer_in(px_codec_default);
    /* The reader asks and gets the whole reply. */
    px_jobinfo_pack(server, job, &w, PX_JOB_ARRAYS);
    ok(read_answer(px_codec_default, &w.buf));
    ck_assert(ns->complete && !px_nspace_is_lost(ns));
    assert_mpirun_gets();
}

PX_TEST(strange_descriptions_are_left_alone)
{
    const pmix_value_t number = {.type = PMIX_UINT32};
    PX_AUTO(px_infos) infos = {0};
    pmix_data_array_t array = {.type = PMIX_INFO};
    const pmix_value_t whole = {.type = PMIX_DATA_ARRAY, .data.darray = &array};

    be("n0", 2);
    ck_assert_int_ne(px_store_attach(&ns->store, JOB, &number, 7), PMIX_SUCCESS);
    ck_assert_int_ne(px_store_attach(&ns->store, JOB, &whole, 7), PMIX_SUCCESS);
    add_num(&infos, "shared", 1, PMIX_UINT32);
    array.array = infos.v;
    array.size = infos.n;
    ck_assert_int_ne(px_store_attach(&ns->store, JOB, &whole, 7), PMIX_SUCCESS);
    ck_assert_int_ne(px_store_attach(&job->store, JOB, &whole, 7), PMIX_SUCCESS);
    ck_assert_ptr_null(ns->store.shared.ns);
    ck_assert_uint_eq(n_attached, 0);
}

PX_TEST_MAIN("model/store", setup, teardown)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that fabric components answer: fabrics and inventories. */
#include "core/topo/topo.h"
#include "fabric_scene.h"

#include <string.h>

/* ---- fabrics ------------------------------------------------------------------------------------ */

/* Starts a server whose host has no fabrics. Component "best" has plane a, "good" has plane b. */
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
    ok(PMIx_Fabric_deregister(&a)); /* the second call has no effect */
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

/* Sends a request for a fabric. Returns its status, and the infos of the reply in *l. */
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
    fakes[0].index_type = PMIX_STRING; /* not a number */
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

static px_infos collected;

static void on_inventory(pmix_status_t status, pmix_info_t *info, size_t n,
                         void *cbdata, pmix_release_cbfunc_t release,
                         void *release_data)
{
    ok(px_infos_add_copy(&collected, info, n));
    release(release_data);
    raw_on_end(status, cbdata);
}

/* Collects the inventory of a node, and appends it to collected. */
static pmix_status_t collect(uint32_t devices)
{
    pmix_info_t n;

    ok(PMIx_Info_load(&n, PMIX_FABRIC_NUM_DEVICES, &devices, PMIX_UINT32));
    ok(PMIx_server_collect_inventory(&n, 1, on_inventory, &raw_ended));
    return raw_await_end();
}

/* Delivers the inventory, either waiting or with a callback. */
static pmix_status_t deliver(bool waits)
{
    const int seconds = 9;
    pmix_info_t d;

    ok(PMIx_Info_load(&d, PMIX_TIMEOUT, &seconds, PMIX_INT));
    pmix_status_t rc = PMIx_server_deliver_inventory(
        collected.v, collected.n, &d, 1, waits ? NULL : raw_on_end, &raw_ended);
    if (rc || waits)
        return px_test_completed(rc);
    return raw_await_end();
}

static void start_inventory(void)
{
    sem_init(&raw_ended, 0, 0);
    fabric_start();
}

/* Without a component of pnet that collects. */
PX_TEST(an_inventory_describes_the_node_and_may_be_empty)
{
    const char *host = "a.node";
    pmix_value_t *v = NULL;
    pmix_info_t of[2];
    const pmix_info_t *parts;
    size_t n;

    sem_init(&raw_ended, 0, 0);
    setenv("PMIX_MCA_pnet", "envar", 1);
    setenv("PMIX_HOSTNAME", host, 1);
    ok(PMIx_server_init(&(pmix_server_module_t){0}, NULL, 0));
    ok(collect(0));
    if (!px_topo_possible()) {
        ck_assert_uint_eq(collected.n, 0);
        return;
    }
    ck_assert_uint_eq(collected.n, 1);
    ck_assert(px_value_infos(&collected.v[0].value, &parts, &n));
    ck_assert_str_eq(px_info_str(parts, n, PMIX_HOSTNAME), host);
    ck_assert_ptr_nonnull(strstr(px_info_str(parts, n, PMIX_TOPOLOGY_SIGNATURE), "C:"));
    ok(deliver(true));
    ok(PMIx_Info_load(&of[0], PMIX_NODE_INFO, NULL, PMIX_BOOL));
    ok(PMIx_Info_load(&of[1], PMIX_HOSTNAME, host, PMIX_STRING));
    ok(PMIx_Get(NULL, PMIX_AVAIL_PHYS_MEMORY, of, 2, &v));
    ck_assert_uint_gt(v->data.uint64, 0);
    PMIx_Value_free(v, 1);
    PMIx_Info_destruct(&of[1]);
}

PX_TEST_LOOP(each_component_gets_the_inventory_of_its_own, 2)
{
    start_inventory();
    ok(collect(2));
    called("best.collect\ngood.collect\n");
    ck_assert_uint_eq(collected.n, px_topo_possible() ? 2 : 1);
    ok(collect(5)); /* a second node */
    ok(px_infos_add(&collected, "of the host", NULL, PMIX_BOOL));
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
    /* With hwloc each inventory has a second info. */
    pmix_byte_object_t *second = &collected.v[collected.n / 2].value.data.bo;
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
    for (size_t i = 0; i < collected.n; i++)
        strcpy(collected.v[i].key, "another");
    fails(deliver(true), BAD_PARAM);
    called("");
}

PX_TEST(the_inventory_of_an_unknown_component_is_skipped_and_failures_are_reported)
{
    start_inventory();
    fakes[1].status = PMIX_ERR_UNREACH;
    fails(collect(1), UNREACH);
    ck_assert_uint_eq(collected.n, 0);
    fakes[1].status = PMIX_SUCCESS;
    ok(collect(1));
    raw_server_stop();
    setenv("PMIX_MCA_pnet", "good", 1);
    ok(PMIx_server_init(&(pmix_server_module_t){0}, NULL, 0));
    calls[0] = '\0';
    ok(deliver(true));
    called("good.deliver 0 for 9\n");
    raw_server_stop();
    fabric_start();
    fakes[0].status = PMIX_ERR_UNREACH;
    fails(deliver(true), UNREACH);
    called("best.deliver 1 for 9\ngood.deliver 0 for 9\n"); /* despite the failure */
}

PX_TEST_MAIN("server/fabric_calls", NULL, host_end)

/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's topology, together with a server's job information. */
#include "core/model/topology.h"

#include "core/link/api.h"
#include "core/model/jobinfo.h"
#include "core/role/role.h"
#include "core/types/handle.h"
#include "files.h"
#include "pmix_deprecated.h"
#include "px_test.h"

#include <string.h>

PX_TEST_SUITE_NEEDS(px_topo_possible(), "hwloc")

static void begin(void)
{
    struct px_err err = {0};

    px_process_lock();
    ok(px_role_begin(PX_ROLE_CLIENT, NULL, 0, &err));
    px_process_unlock();
    px_process.init_count = 1;
}

static void end(void)
{
    px_process_lock();
    px_process.init_count = 0;
    px_role_end(PX_ROLE_CLIENT);
    px_process_unlock();
}

static void setup(void)
{
    setenv("HWLOC_SYNTHETIC", "package:1 core:3 pu:1", 1);
    begin();
}

struct entry {
    const char *key;
    char *text;
};

static void do_put(struct px_call *call, void *args)
{
    struct entry *t = args;
    pmix_value_t v = {.type = PMIX_STRING, .data.string = t->text};
    struct px_model *m = px_process.model;
    pmix_status_t rc = px_nspace_get(m, "job", &m->own);

    if (!rc)
        rc = px_store_put(&m->own->store, PX_GDS_JOB, PMIX_RANK_WILDCARD, t->key, &v);
    px_call_done(call, rc);
}

static void put_in_job(const char *key, char *text)
{
    struct entry t = {key, text};

    ok(px_call(px_process.loop, do_put, &t));
}

/* True if topo is the server's: it has devices, which hwloc would not find here. */
static bool is_the_servers(const pmix_topology_t *topo)
{
    struct px_opaque o = px_load_opaque(topo);
    PX_AUTOFREE char *xml = NULL;

    ok(px_handle_text(PX_TOPO, &o, &xml));
    return strstr(xml, "hfi1_0");
}

PX_TEST(xml_of_the_server_is_used_whatever_its_key)
{
    static const char *const keys[] = {PMIX_HWLOC_XML_V2, PMIX_HWLOC_XML_V1,
                                       PMIX_LOCAL_TOPO};
    PX_AUTOFREE char *xml = text_of_file(DEVICES_XML);
    pmix_topology_t topo = {0};

    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        put_in_job(keys[i], xml);
        ok(px_node_topology(&topo));
        ck_assert(is_the_servers(&topo));
        end();
        begin();
    }
}

PX_TEST(without_a_server_it_is_discovered)
{
    char broken[] = "<topology";
    pmix_topology_t topo = {0}, again = {0};

    ok(px_node_topology(&topo));
    ck_assert(!is_the_servers(&topo));
    put_in_job(PMIX_HWLOC_XML_V2, broken); /* too late, and invalid */
    ok(px_node_topology(&again));
    ck_assert_ptr_eq(topo.topology, again.topology);
    end();
    ck_assert(!px_topo_here(&topo));
    begin();
    put_in_job(PMIX_HWLOC_XML_V2, broken);
    ok(px_node_topology(&topo));
}

PX_TEST(without_a_role_there_is_none)
{
    pmix_topology_t topo = {0};

    end();
    ck_assert_int_eq(px_node_topology(&topo), PMIX_ERR_INIT);
    ck_assert_ptr_null(topo.topology);
    begin();
}

PX_TEST_MAIN("model/topology", setup, end)

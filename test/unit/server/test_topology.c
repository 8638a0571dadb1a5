/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances for clients that cannot compute them. */
#include "core/types/handle.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

static void setup(void)
{
    setenv("HWLOC_XMLFILE", DEVICES_XML, 1);
    raw_server_start(NULL, 2);
}

static bool has_hwloc(void)
{
    void *set = NULL;
    struct px_opaque o = {(char *)(uintptr_t) "hwloc", NULL};
    pmix_status_t rc = px_handle_parse(PX_CPUSET, "0", &set);

    o.handle = set;
    px_handle_free(PX_CPUSET, &o);
    return rc == PMIX_SUCCESS;
}

static void finish(int fd)
{
    raw_server_stop();
    close(fd);
}

/* topo: XML; cpus: a list; NULL sends none. */
static void begin(px_writer *w, const char *xml, const char *cpus)
{
    struct px_opaque topo = {(char *)(uintptr_t) "hwloc", NULL}, set = topo;

    if (xml)
        ok(px_handle_parse(PX_TOPO, xml, &topo.handle));
    if (cpus)
        ok(px_handle_parse(PX_CPUSET, cpus, &set.handle));
    raw_begin(w, PX_OP_DEVICE_DISTANCES);
    px_pack(w, &topo, 1, PMIX_TOPO);
    px_pack(w, &set, 1, PMIX_PROC_CPUSET);
    px_handle_free(PX_TOPO, &topo);
    px_handle_free(PX_CPUSET, &set);
}

static pmix_status_t ask(int fd, px_writer *w, pmix_device_distance_t **found,
                         size_t *n)
{
    px_reader r;
    pmix_status_t rc = raw_request(fd, w, &r);

    *found = NULL;
    *n = 0;
    if (rc)
        return rc;
    ok(px_unpack_size(&r, n));
    ok(px_unpack_array(&r, (void **)found, *n, PMIX_DEVICE_DIST));
    ck_assert(px_reader_done(&r));
    return rc;
}

PX_TEST(a_cpuset_is_measured_in_the_nodes_topology)
{
    pmix_device_type_t type = PMIX_DEVTYPE_NETWORK;
    pmix_device_distance_t *found;
    pmix_info_t info;
    px_writer w;
    size_t n;

    PX_TEST_NEEDS(has_hwloc(), "hwloc");
    int fd = raw_client(0);
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    begin(&w, NULL, "0");
    px_pack_infos(&w, &info, 1);
    ok(ask(fd, &w, &found, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(found[0].osname, "eth0");
    ck_assert_str_eq(found[1].osname, "ib0");
    ck_assert_uint_lt(found[0].maxdist, found[1].mindist);
    PMIx_Device_distance_free(found, n);
    finish(fd);
}

/* As if it had come through a transport that tells. */
static void tell_pids(void *arg)
{
    PX_LIST_EACH (&px_process.server->peers, struct px_peer, p, link)
        p->pid = *(pid_t *)arg;
}

PX_TEST(where_a_client_runs_is_found_out_if_its_process_is_known)
{
    pid_t unknown = 0, self = getpid();
    pmix_device_distance_t *found;
    px_writer w;
    size_t n;

    PX_TEST_NEEDS(has_hwloc(), "hwloc");
    int fd = raw_client(1);
    raw_on_loop(tell_pids, &unknown);
    begin(&w, NULL, NULL);
    px_pack_infos(&w, NULL, 0);
    ck_assert_int_eq(ask(fd, &w, &found, &n), PMIX_ERR_NOT_FOUND);
    raw_on_loop(tell_pids, &self);
    begin(&w, NULL, NULL);
    px_pack_infos(&w, NULL, 0);
    ok(ask(fd, &w, &found, &n));
    ck_assert_uint_eq(n, 5);
    PMIx_Device_distance_free(found, n);
    finish(fd);
}

PX_TEST(a_clients_own_topology_is_not_parsed)
{
    PX_AUTOFREE char *xml = calloc(1, 16384);
    FILE *f = fopen(DEVICES_XML, "re");
    px_writer w;

    PX_TEST_NEEDS(has_hwloc(), "hwloc");
    ck_assert_uint_gt(fread(xml, 1, 16383, f), 0);
    fclose(f);
    int fd = raw_client(0);
    begin(&w, xml, "0");
    px_pack_infos(&w, NULL, 0);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_SUPPORTED);
    finish(fd);
}

PX_TEST(bad_requests_are_answered)
{
    pmix_info_t info;
    px_writer w;

    PX_TEST_NEEDS(has_hwloc(), "hwloc");
    int fd = raw_client(0);
    raw_begin(&w, PX_OP_DEVICE_DISTANCES);
    ck_assert_int_ne(raw_request(fd, &w, NULL), PMIX_SUCCESS);
    begin(&w, NULL, "0"); /* and no infos */
    ck_assert_int_ne(raw_request(fd, &w, NULL), PMIX_SUCCESS);
    PMIx_Info_load(&info, PMIX_DEVICE_ID, "nothing of that name", PMIX_STRING);
    begin(&w, NULL, "0");
    px_pack_infos(&w, &info, 1);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_ERR_NOT_FOUND);
    PMIx_Info_destruct(&info);
    finish(fd);
}

PX_TEST_MAIN("server/topology", setup, raw_teardown)

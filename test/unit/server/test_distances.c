/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances to devices, for clients that cannot compute them. */
#include "fake_host.h"
#include "files.h"
#include "raw.h"

#include "core/rt/process.h"
#include "core/server/peer/peer.h"
#include "core/types/handle.h"

#include <unistd.h>

static bool has_hwloc(void)
{
    void *set = NULL;
    struct px_opaque o = {(char *)(uintptr_t) "hwloc", NULL};
    pmix_status_t rc = px_handle_parse(PX_CPUSET, "0", &set);

    o.handle = set;
    px_handle_free(PX_CPUSET, &o);
    return rc == PMIX_SUCCESS;
}

/* Begins a request for distances. xml: topology; cpus: list of CPUs. NULL sends none. */
static px_writer begin(const char *xml, const char *cpus)
{
    struct px_opaque topo = {(char *)(uintptr_t) "hwloc", NULL}, set = topo;
    px_writer w = raw_begin(PX_OP_DEVICE_DISTANCES);

    if (xml)
        ok(px_handle_parse(PX_TOPO, xml, &topo.handle));
    if (cpus)
        ok(px_handle_parse(PX_CPUSET, cpus, &set.handle));
    px_pack(&w, &topo, 1, PMIX_TOPO);
    px_pack(&w, &set, 1, PMIX_PROC_CPUSET);
    px_handle_free(PX_TOPO, &topo);
    px_handle_free(PX_CPUSET, &set);
    return w;
}

/* Sends the request and unpacks the reply. info may be NULL. */
static pmix_status_t ask(int fd, px_writer w, const pmix_info_t *info,
                         pmix_device_distance_t **found, size_t *n)
{
    px_reader r;

    px_pack_infos(&w, info, info ? 1 : 0);
    pmix_status_t rc = raw_request(fd, w, &r);
    if (rc)
        return rc;
    ok(px_unpack_size(&r, n));
    ok(px_unpack_array(&r, (void **)found, *n, PMIX_DEVICE_DIST));
    ck_assert(px_reader_done(&r));
    return rc;
}

/* Sets the pid of each peer, like a transport that reports pids. */
static void set_pids(void *arg)
{
    PX_LIST_EACH (&px_process.server->peers, struct px_peer, p, link)
        p->pid = *(pid_t *)arg;
}

/* The cpuset is named by the request, or is that of the client's process if it is known. */
PX_TEST(distances_are_measured_in_the_nodes_topology)
{
    pmix_device_type_t type = PMIX_DEVTYPE_NETWORK;
    pid_t unknown = 0, self = getpid();
    pmix_device_distance_t *found;
    pmix_info_t network, nothing;
    size_t n;

    PX_TEST_NEEDS(has_hwloc(), "hwloc");
    setenv("HWLOC_XMLFILE", DEVICES_XML, 1);
    raw_start(NULL, 2, 0);
    PMIx_Info_load(&network, PMIX_DEVICE_TYPE, &type, PMIX_DEVTYPE);
    ok(ask(one, begin(NULL, "0"), &network, &found, &n));
    ck_assert_uint_eq(n, 2);
    ck_assert_str_eq(found[0].osname, "eth0");
    ck_assert_str_eq(found[1].osname, "ib0");
    ck_assert_uint_lt(found[0].maxdist, found[1].mindist);
    PMIx_Device_distance_free(found, n);
    raw_on_loop(set_pids, &unknown);
    fails(ask(two, begin(NULL, NULL), NULL, &found, &n), NOT_FOUND);
    raw_on_loop(set_pids, &self);
    ok(ask(two, begin(NULL, NULL), NULL, &found, &n));
    ck_assert_uint_eq(n, 5);
    PMIx_Device_distance_free(found, n);
    PX_AUTOFREE char *xml = text_of_file(DEVICES_XML); /* a client's own topology */
    fails(ask(one, begin(xml, "0"), NULL, &found, &n), NOT_SUPPORTED);
    ck_assert_int_ne(raw_request(one, raw_begin(PX_OP_DEVICE_DISTANCES), NULL), 0);
    ck_assert_int_ne(raw_request(one, begin(NULL, "0"), NULL), 0); /* without infos */
    PMIx_Info_load(&nothing, PMIX_DEVICE_ID, "nothing of that name", PMIX_STRING);
    fails(ask(one, begin(NULL, "0"), &nothing, &found, &n), NOT_FOUND);
    PMIx_Info_destruct(&nothing);
}

PX_TEST_MAIN("server/distances", NULL, host_end)

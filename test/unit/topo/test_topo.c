/* SPDX-License-Identifier: BSD-3-Clause */
/* The node's topology, loaded once from the best source available. */
#include "core/topo/topo.h"
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"
#include "files.h"
#include "pmix_deprecated.h"
#include "px_test.h"

#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>

static struct px_hwloc h;

PX_TEST_SUITE_NEEDS(px_hwloc_open(&h), "hwloc")

static void setup(void)
{
    setenv("HWLOC_SYNTHETIC", "package:1 core:3 pu:1", 1);
}

static unsigned n_cpus(const pmix_topology_t *topo)
{
    int depth = h.topology_get_depth(topo->topology);

    return h.get_nbobjs_by_depth(topo->topology, depth - 1);
}

static void parse_devices(void **topology)
{
    PX_AUTOFREE char *xml = text_of_file(DEVICES_XML);

    ok(px_handle_parse(PX_TOPO, xml, topology));
}

PX_TEST(it_is_made_once_and_lent)
{
    pmix_topology_t a = {0}, b = {0};

    ck_assert(!px_topo_here(&a));
    ok(px_topo_load(NULL, &a));
    ok(px_topo_load(NULL, &b));
    ck_assert_ptr_eq(a.topology, b.topology);
    ck_assert_int_eq(strncmp(a.source, "hwloc:2.", 8), 0);
    ck_assert_uint_eq(n_cpus(&a), 3);
    ck_assert(px_topo_here(&b));
    ck_assert(!px_topo_is_real(a.topology));
    px_topo_drop();
    ck_assert(!px_topo_here(&b));
}

static void *load_in_thread(void *arg)
{
    ok(px_topo_load(NULL, arg));
    return NULL;
}

PX_TEST(threads_that_ask_at_once_get_the_same)
{
    pmix_topology_t topo[4] = {0};
    pthread_t threads[4];

    for (size_t i = 0; i < 4; i++)
        pthread_create(&threads[i], NULL, load_in_thread, &topo[i]);
    for (size_t i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 1; i < 4; i++)
        ck_assert_ptr_eq(topo[i].topology, topo[0].topology);
}

PX_TEST(the_servers_XML_spares_the_discovery_and_bad_hints_are_passed_over)
{
    PX_AUTOFREE char *xml = text_of_file(DEVICES_XML);
    struct px_topo_hints hints = {.xml = xml};
    pmix_topology_t topo = {0};

    ok(px_topo_load(&hints, &topo));
    ck_assert_uint_eq(n_cpus(&topo), 8);
    px_topo_drop();
    hints = (struct px_topo_hints){"/nonexistent", 1, 1, "<what"};
    ok(px_topo_load(&hints, &topo));
    ck_assert_uint_eq(n_cpus(&topo), 3);
}

/* Gives the topology of another machine to the library. */
static void give(void)
{
    pmix_topology_t given = {.source = strdup("hwloc")};
    pmix_info_t info;

    parse_devices(&given.topology);
    ok(PMIx_Info_load(&info, PMIX_TOPOLOGY2, &given, PMIX_TOPO));
    px_topo_given(&info, 1);
    PMIx_Info_destruct(&info);
    PMIx_Topology_destruct(&given);
}

/* Shares the topology of another machine as a server does. */
static void share(const char *file, struct px_topo_hints *hints)
{
    give();
    ok(px_topo_share(file, hints));
    px_topo_drop();
}

PX_TEST(a_shared_one_is_mapped_and_can_be_copied)
{
    struct px_topo_hints hints;
    pmix_topology_t topo = {0}, copy = {0};
    struct stat st;

    PX_TEST_NEEDS_PROC;
    share(px_test_path("topology"), &hints);
    ok(stat(hints.shmem_file, &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert_int_eq(px_topo_share(hints.shmem_file, &hints), PMIX_ERR_NOT_AVAILABLE);
    px_topo_drop();
    ok(px_topo_load(&hints, &topo));
    ck_assert_uint_eq(n_cpus(&topo), 8);
    ok(px_type_copy(PMIX_TOPO, &copy, &topo));
    px_topo_drop();
    ck_assert_uint_eq(n_cpus(&copy), 8);
    PMIx_Topology_destruct(&copy);
    /* Every user could have written pointers into the file. */
    chmod(hints.shmem_file, 0666);
    ok(px_topo_load(&hints, &topo));
    ck_assert_uint_eq(n_cpus(&topo), 3);
}

PX_TEST(what_init_is_given_is_kept_as_a_copy)
{
    pmix_topology_t topo = {0};

    give();
    ck_assert(px_topo_here(&topo));
    ck_assert_uint_eq(n_cpus(&topo), 8);
    px_topo_given(NULL, 0);
}

PX_TEST(an_older_host_gives_the_bare_handle)
{
    struct px_opaque o = {(char *)(uintptr_t) "hwloc", NULL};
    pmix_topology_t topo = {0};
    pmix_info_t info[2];

    parse_devices(&o.handle);
    PMIx_Info_load(&info[0], PMIX_TOPOLOGY, o.handle, PMIX_POINTER);
    px_topo_given(info, 1);
    px_topo_given(info, 1); /* giving the same again changes nothing */
    px_handle_free(PX_TOPO, &o);
    ck_assert(px_topo_here(&topo));
    ck_assert_uint_eq(n_cpus(&topo), 8);
    px_topo_drop();
    PMIx_Info_load(&info[0], PMIX_TOPOLOGY2, "no topology", PMIX_STRING);
    PMIx_Info_load(&info[1], PMIX_TOPOLOGY, NULL, PMIX_POINTER);
    px_topo_given(info, 2);
    ck_assert(!px_topo_here(&topo));
    PMIx_Info_destruct(&info[0]);
}

PX_TEST_MAIN("topo/topo", setup, px_topo_drop)

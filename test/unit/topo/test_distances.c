/* SPDX-License-Identifier: BSD-3-Clause */
/* Distances in a node with two packages that each have devices. */
#include "core/topo/topo.h"
#include "px_test.h"

#include <string.h>

static pmix_topology_t node;
static pmix_cpuset_t set;
static pmix_device_distance_t *found;
static size_t n_found;

static void setup(void)
{
    setenv("HWLOC_XMLFILE", DEVICES_XML, 1);
}

static bool load(const char *list)
{
    return px_topo_load(NULL, &node) == PMIX_SUCCESS &&
           px_cpuset_parse(list, &set) == PMIX_SUCCESS;
}

static void unload(void)
{
    PMIx_Cpuset_destruct(&set);
    px_topo_drop();
}

static pmix_status_t search(const pmix_info_t *info, size_t n)
{
    PMIx_Device_distance_free(found, n_found);
    found = NULL;
    n_found = 0;
    return px_distances(&node, &set, info, n, "here", &found, &n_found);
}

static void done(void)
{
    PMIx_Device_distance_free(found, n_found);
    unload();
}

static const pmix_device_distance_t *named(const char *osname)
{
    for (size_t i = 0; i < n_found; i++) {
        if (strcmp(found[i].osname, osname) == 0)
            return &found[i];
    }
    ck_abort_msg("no %s", osname);
    return NULL;
}

PX_TEST(every_device_has_a_name_and_a_type)
{
    static const struct {
        const char *osname, *uuid;
        pmix_device_type_t type;
    } rows[] = {
        {"eth0", "ipv4://02:00:00:00:00:01", PMIX_DEVTYPE_NETWORK},
        {"gpu0", "gpu://here::gpu0", PMIX_DEVTYPE_GPU},
        {"sda", "block://here::sda", PMIX_DEVTYPE_BLOCK},
        {"hfi1_0", "fab://0011:0002:0003:0004::0011:0002:0003:0005",
         PMIX_DEVTYPE_OPENFABRICS},
        {"ib0", "ipv6://20:00:55:04:01:fe:80:00:00:00:00:00:00:00:11:75:01:01:09:18",
         PMIX_DEVTYPE_NETWORK},
    };

    PX_TEST_NEEDS(load("0"), "hwloc");
    ok(search(NULL, 0));
    ck_assert_uint_eq(n_found, PX_COUNT(rows)); /* and not card0, a part of gpu0 */
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_str_eq(named(rows[i].osname)->uuid, rows[i].uuid);
        ck_assert_uint_eq(named(rows[i].osname)->type, rows[i].type);
    }
    done();
}

PX_TEST(what_is_in_the_same_package_is_closer)
{
    PX_TEST_NEEDS(load("0"), "hwloc");
    ok(search(NULL, 0));
    ck_assert_uint_eq(named("eth0")->mindist, named("eth0")->maxdist);
    ck_assert_uint_eq(named("ib0")->mindist, named("ib0")->maxdist);
    ck_assert_uint_lt(named("eth0")->maxdist, named("ib0")->mindist);
    PMIx_Cpuset_destruct(&set);
    ok(px_cpuset_parse("7", &set));
    ok(search(NULL, 0));
    ck_assert_uint_gt(named("eth0")->mindist, named("ib0")->maxdist);
    done();
}

PX_TEST(a_set_over_both_packages_has_a_least_and_a_greatest)
{
    PX_TEST_NEEDS(load("0-7"), "hwloc");
    ok(search(NULL, 0));
    ck_assert_uint_lt(named("eth0")->mindist, named("eth0")->maxdist);
    ck_assert_uint_eq(named("eth0")->mindist, named("ib0")->mindist);
    done();
}

PX_TEST(nobody_knows_the_distance_from_a_cpu_that_is_not_there)
{
    PX_TEST_NEEDS(load("100"), "hwloc");
    ok(search(NULL, 0));
    ck_assert_uint_eq(named("eth0")->mindist, UINT16_MAX);
    ck_assert_uint_eq(named("eth0")->maxdist, UINT16_MAX);
    done();
}

PX_TEST(only_what_is_wanted_is_found)
{
    pmix_device_type_t networks = PMIX_DEVTYPE_NETWORK | PMIX_DEVTYPE_OPENFABRICS;
    pmix_device_type_t memory = PMIX_DEVTYPE_MEMORY;
    pmix_info_t info[2];

    PX_TEST_NEEDS(load("0"), "hwloc");
    ok(PMIx_Info_load(&info[0], PMIX_DEVICE_TYPE, &networks, PMIX_DEVTYPE));
    ok(PMIx_Info_load(&info[1], PMIX_DEVICE_ID, "HFI1_0", PMIX_STRING));
    ok(search(info, 1));
    ck_assert_uint_eq(n_found, 3);
    ok(search(info, 2));
    ck_assert_uint_eq(n_found, 1);
    ck_assert_str_eq(found[0].osname, "hfi1_0");
    ok(search(&info[1], 1)); /* of whatever type */
    ck_assert_uint_eq(n_found, 1);
    PMIx_Info_destruct(&info[1]);
    PMIx_Info_load(&info[1], PMIX_DEVICE_ID, "gpu://here::gpu0", PMIX_STRING);
    ok(search(&info[1], 1));
    ck_assert_str_eq(found[0].osname, "gpu0");
    ck_assert_int_eq(search(info, 2), PMIX_ERR_NOT_FOUND); /* the one no network */
    PMIx_Info_load(&info[0], PMIX_DEVICE_TYPE, &memory, PMIX_DEVTYPE);
    ck_assert_int_eq(search(info, 1), PMIX_ERR_NOT_FOUND);
    PMIx_Info_destruct(&info[1]);
    done();
}

PX_TEST(bad_wishes_are_refused)
{
    pmix_info_t info;

    PX_TEST_NEEDS(load("0"), "hwloc");
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, "network", PMIX_STRING);
    ck_assert_int_eq(search(&info, 1), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&info);
    PMIx_Info_load(&info, PMIX_DEVICE_ID, NULL, PMIX_BOOL);
    ck_assert_int_eq(search(&info, 1), PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info, "test.unknown", NULL, PMIX_BOOL);
    ok(search(&info, 1));
    PMIx_Info_required(&info);
    ck_assert_int_eq(search(&info, 1), PMIX_ERR_NOT_SUPPORTED);
    node.source = (char *)(uintptr_t) "other";
    ck_assert_int_eq(search(NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    node.topology = NULL;
    ck_assert_int_eq(search(NULL, 0), PMIX_ERR_BAD_PARAM);
    done();
}

PX_TEST_MAIN("rt/distances", setup, NULL)

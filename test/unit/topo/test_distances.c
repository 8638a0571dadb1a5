/* SPDX-License-Identifier: BSD-3-Clause */
/* Localities and distances in a node with two packages that have devices each. */
#include "core/rt/process.h"
#include "core/topo/topo.h"
#include "px_test.h"

#include <string.h>

static pmix_topology_t node;
static pmix_cpuset_t set;
static pmix_device_distance_t *found;
static size_t n_found;

PX_TEST_SUITE_NEEDS(px_topo_possible(), "hwloc")

static void setup(void)
{
    setenv("HWLOC_XMLFILE", DEVICES_XML, 1);
    ok(px_topo_load(NULL, &node));
}

static void teardown(void)
{
    PMIx_Device_distance_free(found, n_found);
    PMIx_Cpuset_destruct(&set);
    px_topo_drop();
}

/* ---- distances ---------------------------------------------------------------------- */

static pmix_status_t search(const pmix_info_t *info, size_t n)
{
    PMIx_Device_distance_free(found, n_found);
    found = NULL;
    n_found = 0;
    return px_distances(&node, &set, info, n, "here", &found, &n_found);
}

/* Searches from these CPUs to all devices. */
static void search_from(const char *list)
{
    PMIx_Cpuset_destruct(&set);
    ok(px_cpuset_parse(list, &set));
    ok(search(NULL, 0));
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

    search_from("0");
    ck_assert_uint_eq(n_found, PX_COUNT(rows)); /* without card0, a part of gpu0 */
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_str_eq(named(rows[i].osname)->uuid, rows[i].uuid);
        ck_assert_uint_eq(named(rows[i].osname)->type, rows[i].type);
    }
}

PX_TEST(what_is_in_the_same_package_is_closer)
{
    search_from("0");
    ck_assert_uint_eq(named("eth0")->mindist, named("eth0")->maxdist);
    ck_assert_uint_eq(named("ib0")->mindist, named("ib0")->maxdist);
    ck_assert_uint_lt(named("eth0")->maxdist, named("ib0")->mindist);
    search_from("7");
    ck_assert_uint_gt(named("eth0")->mindist, named("ib0")->maxdist);
    search_from("0-7");
    ck_assert_uint_lt(named("eth0")->mindist, named("eth0")->maxdist);
    ck_assert_uint_eq(named("eth0")->mindist, named("ib0")->mindist);
    search_from("100"); /* not on this node */
    ck_assert_uint_eq(named("eth0")->mindist, UINT16_MAX);
    ck_assert_uint_eq(named("eth0")->maxdist, UINT16_MAX);
}

PX_TEST(only_what_is_wanted_is_found)
{
    pmix_device_type_t networks = PMIX_DEVTYPE_NETWORK | PMIX_DEVTYPE_OPENFABRICS;
    pmix_device_type_t memory = PMIX_DEVTYPE_MEMORY;
    pmix_info_t info[2];

    search_from("0");
    ok(PMIx_Info_load(&info[0], PMIX_DEVICE_TYPE, &networks, PMIX_DEVTYPE));
    ok(PMIx_Info_load(&info[1], PMIX_DEVICE_ID, "HFI1_0", PMIX_STRING));
    ok(search(info, 1));
    ck_assert_uint_eq(n_found, 3);
    ok(search(info, 2));
    ck_assert_uint_eq(n_found, 1);
    ck_assert_str_eq(found[0].osname, "hfi1_0");
    ok(search(&info[1], 1)); /* any type */
    ck_assert_uint_eq(n_found, 1);
    PMIx_Info_destruct(&info[1]);
    PMIx_Info_load(&info[1], PMIX_DEVICE_ID, "gpu://here::gpu0", PMIX_STRING);
    ok(search(&info[1], 1));
    ck_assert_str_eq(found[0].osname, "gpu0");
    ck_assert_int_eq(search(info, 2),
                     PMIX_ERR_NOT_FOUND); /* that device is not a network device */
    PMIx_Info_load(&info[0], PMIX_DEVICE_TYPE, &memory, PMIX_DEVTYPE);
    ck_assert_int_eq(search(info, 1), PMIX_ERR_NOT_FOUND);
    PMIx_Info_destruct(&info[1]);
}

PX_TEST(bad_requests_are_refused)
{
    pmix_info_t info;

    search_from("0");
    PMIx_Info_load(&info, PMIX_DEVICE_TYPE, "network", PMIX_STRING);
    ck_assert_int_eq(search(&info, 1), PMIX_ERR_BAD_PARAM);
    PMIx_Info_destruct(&info);
    PMIx_Info_load(&info, PMIX_DEVICE_ID, NULL, PMIX_BOOL);
    ck_assert_int_eq(search(&info, 1), PMIX_ERR_BAD_PARAM);
    PMIx_Info_load(&info, "test.unknown", NULL, PMIX_BOOL);
    ok(search(&info, 1));
    node.source = (char *)(uintptr_t) "other";
    ck_assert_int_eq(search(NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    node.topology = NULL;
    ck_assert_int_eq(search(NULL, 0), PMIX_ERR_BAD_PARAM);
}

/* ---- localities --------------------------------------------------------------------- */

static char *locality_of(const char *list)
{
    char *text = NULL;

    PMIx_Cpuset_destruct(&set);
    ok(px_cpuset_parse(list, &set));
    ok(px_locality_text(node.topology, set.bitmap, &text));
    return text;
}

PX_TEST(each_level_lists_what_is_touched)
{
    static const struct {
        const char *set, *text;
    } rows[] = {
        {"0", "SK0:L30:CR0:HT0:NM0"},
        {"0-1", "SK0:L30:CR0:HT0-1:NM0"},
        {"3-4", "SK0-1:L30-1:CR1-2:HT3-4:NM0-1"},
        {"hwloc:0,7", "SK0-1:L30-1:CR0,3:HT0,7:NM0-1"},
        {"0-7", "SK0-1:L30-1:CR0-3:HT0-7:NM0-1"},
        {"7-99", "SK1:L31:CR3:HT7:NM1"},
        {"0-", NULL}, /* not bound */
        {"100", NULL},
        {"", NULL},
    };
    char *none = NULL;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *text = locality_of(rows[i].set);

        ck_assert_pstr_eq(text, rows[i].text);
    }
    ok(px_locality_text(node.topology, NULL, &none));
    ck_assert_ptr_null(none);
}

PX_TEST(two_localities_share_what_overlaps)
{
    static const struct {
        const char *a, *b;
        pmix_locality_t bits;
    } rows[] = {
        {"SK0:L30:L20:L10:CR0:HT0:NM0", "SK0:L30:L20:L10:CR0:HT0:NM0", 0x407f},
        {"SK0:L30:CR0:HT0-1:NM0", "SK0:L30:CR0:HT1:NM0", 0x4073},
        {"SK0:L30:CR0:HT0:NM0", "SK0:L30:CR1:HT2:NM0", 0x4070},
        {"SK0:CR0:HT0", "SK1:CR1:HT2", 0x4000},
        {"HT0-3,8", "HT5,8-9", 0x4001},
        {"HT0-", "HT65000", 0x4001},
        {"SK0", "CR0", 0x4000},
        {"hwloc:SK0:CR1", "CR1:SK5", 0x4002},
        {"hwloc:", "SK0", 0x4000},
        {"", "", 0x4000},
        {"hwloc:SK0", "HWLOC:SK0", 0x4020},
        {"XY0:CR0", "XY0", 0x4000}, /* a level of a later release */
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_locality_t there, back;

        ok(px_locality_shared(rows[i].a, rows[i].b, &there));
        ok(px_locality_shared(rows[i].b, rows[i].a, &back));
        ck_assert_msg(there == rows[i].bits, "%s and %s: %x", rows[i].a, rows[i].b,
                      there);
        ck_assert_uint_eq(there, back);
    }
}

PX_TEST(what_is_no_locality_is_refused)
{
    static const struct {
        const char *text;
        pmix_status_t status;
    } rows[] = {
        {"S", PMIX_ERR_BAD_PARAM},
        {"SKx", PMIX_ERR_BAD_PARAM},
        {"SK0::CR0", PMIX_ERR_BAD_PARAM},
        {"SK0:CR3-1", PMIX_ERR_BAD_PARAM},
        {"SK99999999999", PMIX_ERR_BAD_PARAM},
        {"other:SK0", PMIX_ERR_NOT_SUPPORTED},
    };
    char longer[1024];
    pmix_locality_t bits = 7;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_msg(px_locality_shared(rows[i].text, "SK0", &bits) == rows[i].status,
                      "%s", rows[i].text);
        ck_assert_int_eq(px_locality_shared("SK0", rows[i].text, &bits),
                         rows[i].status);
    }
    memset(longer, '1', sizeof(longer));
    memcpy(longer, "SK", 2);
    longer[sizeof(longer) - 1] = '\0';
    ck_assert_int_eq(px_locality_shared(longer, "SK0", &bits), PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(bits, 7);
}

PX_TEST_MAIN("topo/distances", setup, teardown)

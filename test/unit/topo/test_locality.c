/* SPDX-License-Identifier: BSD-3-Clause */
/* Locality strings: what is written of a set, and what two of them share. */
#include "core/rt/process.h"
#include "core/topo/topo.h"
#include "core/types/handle.h"
#include "px_test.h"

#include <string.h>

static pmix_topology_t node;

static void setup(void)
{
    setenv("HWLOC_XMLFILE", DEVICES_XML, 1);
}

static bool load(void)
{
    return px_topo_load(NULL, &node) == PMIX_SUCCESS;
}

static char *locality_of(const char *list)
{
    pmix_cpuset_t set = {0};
    char *text = NULL;

    ok(px_cpuset_parse(list, &set));
    ok(px_locality_text(node.topology, set.bitmap, &text));
    PMIx_Cpuset_destruct(&set);
    return text;
}

PX_TEST(each_level_tells_what_is_touched)
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
    };

    PX_TEST_NEEDS(load(), "hwloc");
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE char *text = locality_of(rows[i].set);

        ck_assert_str_eq(text, rows[i].text);
    }
    px_topo_drop();
}

PX_TEST(who_is_not_bound_or_not_here_has_no_locality)
{
    char *text = NULL;

    PX_TEST_NEEDS(load(), "hwloc");
    ck_assert_ptr_null(locality_of("0-")); /* full */
    ck_assert_ptr_null(locality_of("100"));
    ck_assert_ptr_null(locality_of(""));
    ok(px_locality_text(node.topology, NULL, &text));
    ck_assert_ptr_null(text);
    px_topo_drop();
}

PX_TEST(what_two_share_is_what_meets)
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
        {"XY0:CR0", "XY0", 0x4000}, /* of a later release */
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

PX_TEST_MAIN("rt/locality", setup, NULL)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Cpusets and topologies of hwloc: copied, compared, freed, read and written; hwloc
 * itself is loaded for the first of them. */
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"
#include "files.h"
#include "px_test.h"

#include <dlfcn.h>
#include <string.h>

#define NEEDS_HWLOC() PX_TEST_NEEDS(topo.topology, "hwloc")

static pmix_topology_t topo;
static void *loaded_before;

static pmix_cpuset_t cpuset_of(const char *list)
{
    pmix_cpuset_t set = {.source = strdup("hwloc")};

    ok(px_handle_parse(PX_CPUSET, list, &set.bitmap));
    return set;
}

static void setup(void)
{
    PX_AUTOFREE char *xml = text_of_file(DEVICES_XML);

    loaded_before = dlopen(PX_HWLOC_FILE, RTLD_NOLOAD | RTLD_LAZY);
    topo = (pmix_topology_t){.source = strdup("hwloc:2")};
    px_handle_parse(PX_TOPO, xml, &topo.topology);
}

static void teardown(void)
{
    PMIx_Topology_destruct(&topo);
}

static char *text_of(enum px_store store, const void *obj)
{
    struct px_opaque o = px_load_opaque(obj);
    char *text = NULL;

    ok(px_handle_text(store, &o, &text));
    return text;
}

PX_TEST(hwloc_is_loaded_when_opened_and_stays)
{
    struct px_hwloc h;

    ck_assert_ptr_null(loaded_before);
    NEEDS_HWLOC();
    ck_assert_ptr_nonnull(dlopen(PX_HWLOC_FILE, RTLD_NOLOAD | RTLD_LAZY));
    ck_assert(px_hwloc_open(&h));
    hwloc_bitmap_t set = h.bitmap_alloc();
    ck_assert(h.bitmap_iszero(set));
    h.bitmap_free(set);
}

PX_TEST(a_source_names_hwloc_in_any_case_and_version)
{
    ck_assert(px_source_is_hwloc("hwloc"));
    ck_assert(px_source_is_hwloc("HWLoc:2.9.0"));
    ck_assert(!px_source_is_hwloc("hwloc2"));
    ck_assert(!px_source_is_hwloc("hw"));
    ck_assert(!px_source_is_hwloc(""));
    ck_assert(!px_source_is_hwloc(NULL));
}

PX_TEST(a_list_of_cpus_is_checked)
{
    static const char *const good[] = {"",    "0",    "0-3,8", "5-",     "1,0",
                                       "7-7", "0,4-", "65536", "0-65536"};
    static const char *const bad[] = {
        "x",     "-1",          "3-1",  "1,",   ",1",    "1,,2", "1 ",   " 1", "0x1",
        "65537", "99999999999", "1--2", "5-,1", "08-49", "010",  "1-02", "00"};

    for (size_t i = 0; i < PX_COUNT(good); i++)
        ck_assert_msg(px_cpus_valid(good[i]), "%s", good[i]);
    for (size_t i = 0; i < PX_COUNT(bad); i++)
        ck_assert_msg(!px_cpus_valid(bad[i]), "%s", bad[i]);
}

PX_TEST(a_list_becomes_a_set_and_a_list_again)
{
    static const char *const lists[] = {"", "0", "0-3,8", "5-", "65536"};

    NEEDS_HWLOC();
    for (size_t i = 0; i < PX_COUNT(lists); i++) {
        pmix_cpuset_t set = cpuset_of(lists[i]);
        PX_AUTOFREE char *text = text_of(PX_CPUSET, &set);

        ck_assert_str_eq(text, lists[i]);
        px_type_destruct(PMIX_PROC_CPUSET, &set);
        ck_assert_ptr_null(set.source);
        ck_assert_ptr_null(set.bitmap);
    }
}

PX_TEST(what_is_no_list_becomes_no_set)
{
    void *handle = (void *)(uintptr_t)1;

    NEEDS_HWLOC();
    fails(px_handle_parse(PX_CPUSET, "3-1", &handle), BAD_PARAM);
    ck_assert_uint_eq((uintptr_t)handle, 1);
}

PX_TEST(sets_are_copied_and_compared_by_content)
{
    pmix_cpuset_t a, b, copy;

    NEEDS_HWLOC();
    a = cpuset_of("0-3");
    b = cpuset_of("0-4");
    ok(px_type_copy(PMIX_PROC_CPUSET, &copy, &a));
    ck_assert_ptr_ne(copy.bitmap, a.bitmap);
    ck_assert_int_eq(px_type_compare(PMIX_PROC_CPUSET, &a, &copy), 0);
    ck_assert_int_lt(px_type_compare(PMIX_PROC_CPUSET, &a, &b), 0);
    ck_assert_int_gt(px_type_compare(PMIX_PROC_CPUSET, &b, &copy), 0);
    PMIx_Cpuset_destruct(&a);
    PMIx_Cpuset_destruct(&a); /* empty now */
    PMIx_Cpuset_destruct(&b);
    PMIx_Cpuset_destruct(&copy);
}

PX_TEST(a_set_prints_its_list_and_counts_its_size)
{
    pmix_cpuset_t set;

    NEEDS_HWLOC();
    set = cpuset_of("0-3,8");
    PX_AUTOFREE char *text = px_type_print(PMIX_PROC_CPUSET, &set);
    ck_assert_str_eq(text, "{source: \"hwloc\", cpus: 0-3,8}");
    ck_assert_uint_eq(px_type_size(PMIX_PROC_CPUSET, &set),
                      sizeof(set) + sizeof("hwloc") + sizeof("0-3,8"));
    PMIx_Cpuset_destruct(&set);
}

PX_TEST(a_set_in_a_value_goes_with_it)
{
    pmix_cpuset_t set, *out;
    pmix_value_t v, copy;

    NEEDS_HWLOC();
    set = cpuset_of("1,3");
    ok(PMIx_Value_load(&v, &set, PMIX_PROC_CPUSET));
    PMIx_Cpuset_destruct(&set);
    ok(PMIx_Value_xfer(&copy, &v));
    PMIx_Value_destruct(&v);
    out = copy.data.cpuset;
    PX_AUTOFREE char *text = text_of(PX_CPUSET, out);
    ck_assert_str_eq(text, "1,3");
    PMIx_Value_destruct(&copy);
}

PX_TEST(topologies_are_copied_and_compared_by_content)
{
    pmix_topology_t copy;

    NEEDS_HWLOC();
    ok(px_type_copy(PMIX_TOPO, &copy, &topo));
    ck_assert_ptr_ne(copy.topology, topo.topology);
    ck_assert_int_eq(px_type_compare(PMIX_TOPO, &topo, &copy), 0);
    ck_assert_uint_gt(px_type_size(PMIX_TOPO, &topo), 1000);
    PMIx_Topology_destruct(&topo);
    PX_AUTOFREE char *xml = text_of(PX_TOPO, &copy);
    ck_assert_ptr_nonnull(strstr(xml, "hfi1_0"));
    PMIx_Topology_destruct(&copy);
    PMIx_Topology_destruct(&copy);
}

PX_TEST(a_topology_that_is_lent_stays_and_its_copy_does_not)
{
    pmix_topology_t lent, copy;

    NEEDS_HWLOC();
    px_topo_set_shared(topo.topology, true);
    lent = (pmix_topology_t){strdup("hwloc"), topo.topology};
    ok(px_type_copy(PMIX_TOPO, &copy, &lent));
    PMIx_Topology_destruct(&lent);
    PMIx_Topology_destruct(&copy); /* leaks otherwise */
    PX_AUTOFREE char *xml = text_of(PX_TOPO, &topo);
    ck_assert_ptr_nonnull(strstr(xml, "eth0"));
    px_topo_set_shared(topo.topology, false);
}

PX_TEST(xml_that_could_reach_out_is_refused)
{
    static const char entities[] =
        "<?xml version=\"1.0\"?><!DOCTYPE topology [<!ENTITY a "
        "SYSTEM \"file:///etc/passwd\">]><topology/>";
    void *t = NULL;

    NEEDS_HWLOC();
    fails(px_handle_parse(PX_TOPO, entities, &t), BAD_PARAM);
    fails(px_handle_parse(PX_TOPO, "", &t), BAD_PARAM);
    fails(px_handle_parse(PX_TOPO, "<topology", &t), BAD_PARAM);
    PX_AUTOFREE char *large = malloc(PX_MAX_TOPO_B + 1);
    memset(large, ' ', PX_MAX_TOPO_B);
    large[PX_MAX_TOPO_B] = '\0';
    fails(px_handle_parse(PX_TOPO, large, &t), BAD_PARAM);
    ck_assert_ptr_null(t);
}

PX_TEST(handles_of_others_are_only_addresses)
{
    char thing[] = "thing";
    struct px_opaque theirs = {(char *)(uintptr_t) "other", thing};
    struct px_opaque nobodys = {NULL, thing},
                     none = {(char *)(uintptr_t) "hwloc", NULL};
    pmix_cpuset_t set = {strdup("other"), thing};
    void *copy = NULL;
    char *text = NULL;

    fails(px_handle_dup(PX_CPUSET, &theirs, &copy), NOT_SUPPORTED);
    fails(px_handle_dup(PX_TOPO, &nobodys, &copy), NOT_SUPPORTED);
    fails(px_handle_dup(PX_TOPO, &none, &copy), BAD_PARAM);
    fails(px_handle_text(PX_TOPO, &theirs, &text), NOT_SUPPORTED);
    px_handle_free(PX_TOPO, &theirs);
    px_handle_free(PX_CPUSET, &nobodys);
    PMIx_Cpuset_destruct(&set);
    ck_assert_ptr_null(set.bitmap);
    ck_assert_str_eq(thing, "thing");
}

PX_TEST(what_a_topology_supports_can_be_carried_over)
{
    uint8_t given[PX_TOPO_SUPPORT_MAX] = {1, 0, 1}, got[PX_TOPO_SUPPORT_MAX] = {0};

    NEEDS_HWLOC();
    given[px_topo_support_size() - 1] = 1;
    ck_assert(px_topo_support(topo.topology, NULL, given));
    ck_assert(px_topo_support(topo.topology, got, NULL));
    ck_assert_mem_eq(given, got, sizeof(got));
}

PX_TEST_MAIN("types/handle", setup, teardown)

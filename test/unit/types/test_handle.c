/* SPDX-License-Identifier: BSD-3-Clause */
/* Cpusets and topologies of hwloc: copied, compared, freed, and on the wire. hwloc
 * itself is loaded for the first of them. */
#include "../wire/wire_test.h"
#include "core/types/handle.h"
#include "core/types/hwloc_api.h"
#include "files.h"
#include "px_test.h"

#include <dlfcn.h>
#include <string.h>

#define NEEDS_HWLOC() PX_TEST_NEEDS(topo.topology, "hwloc")

static pmix_topology_t topo;
static void *loaded_before;
static px_writer w; /* the topology, packed */

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
    topo = (pmix_topology_t){.source = strdup("hwloc")};
    px_handle_parse(PX_TOPO, xml, &topo.topology);
    w = writer_in(px_codec_default);
    px_pack(&w, &topo, 1, PMIX_TOPO);
}

static void teardown(void)
{
    px_writer_cleanup(&w);
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
    void *handle = (void *)(uintptr_t)1;

    NEEDS_HWLOC();
    for (size_t i = 0; i < PX_COUNT(lists); i++) {
        pmix_cpuset_t set = cpuset_of(lists[i]);
        PX_AUTOFREE char *text = text_of(PX_CPUSET, &set);

        ck_assert_str_eq(text, lists[i]);
        px_type_destruct(PMIX_PROC_CPUSET, &set);
        ck_assert_ptr_null(set.source);
        ck_assert_ptr_null(set.bitmap);
    }
    fails(px_handle_parse(PX_CPUSET, "3-1", &handle), BAD_PARAM);
    ck_assert_uint_eq((uintptr_t)handle, 1);
}

PX_TEST(sets_are_compared_printed_and_sent_by_content)
{
    static const char sent[] = "\2\14"
                               "0-3,8";
    PX_AUTO(px_writer) out = writer_in(px_codec_default);
    pmix_cpuset_t a, b;

    NEEDS_HWLOC();
    a = cpuset_of("0-3,8");
    b = cpuset_of("0-4,8");
    ck_assert_int_lt(px_type_compare(PMIX_PROC_CPUSET, &a, &b), 0);
    ck_assert_int_gt(px_type_compare(PMIX_PROC_CPUSET, &b, &a), 0);
    PX_AUTOFREE char *text = px_type_print(PMIX_PROC_CPUSET, &a);
    ck_assert_str_eq(text, "{source: \"hwloc\", cpus: 0-3,8}");
    ck_assert_uint_eq(px_type_size(PMIX_PROC_CPUSET, &a),
                      sizeof(a) + sizeof("hwloc") + sizeof("0-3,8"));
    px_pack(&out, &a, 1, PMIX_PROC_CPUSET);
    ck_assert_uint_eq(out.buf.len, sizeof(sent));
    ck_assert_mem_eq(out.buf.data, sent, sizeof(sent));
    PMIx_Cpuset_destruct(&a);
    PMIx_Cpuset_destruct(&a); /* empty now */
    PMIx_Cpuset_destruct(&b);
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
    char thing[] = "thing", *other = (char *)(uintptr_t) "other";
    const struct {
        pmix_data_type_t type;
        struct px_opaque o;
        pmix_status_t status; /* of a copy */
    } rows[] = {
        {PMIX_PROC_CPUSET, {other, thing}, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_PROC_CPUSET, {NULL, thing}, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_TOPO, {other, thing}, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_TOPO, {NULL, thing}, PMIX_ERR_NOT_SUPPORTED},
        {PMIX_PROC_CPUSET, {other, NULL}, PMIX_SUCCESS},
    };
    void *copy = NULL;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_opaque own = rows[i].o, copied;
        PX_AUTO(px_writer) out = writer_in(px_codec_default);

        ck_assert_int_eq(px_type_copy(rows[i].type, &copied, &rows[i].o),
                         rows[i].status);
        px_pack(&out, &rows[i].o, 1, rows[i].type);
        ck_assert_int_eq(out.status, rows[i].status);
        if (!rows[i].status) {
            ck_assert_str_eq(copied.source, "other");
            px_type_destruct(rows[i].type, &copied);
        }
        own.source = own.source ? strdup(own.source) : NULL;
        px_type_destruct(rows[i].type, &own);
        ck_assert_ptr_null(own.handle);
    }
    fails(px_handle_dup(PX_TOPO, &rows[4].o, &copy), BAD_PARAM);
    ck_assert_str_eq(thing, "thing");
}

/* ---- messages ------------------------------------------------------------------------ */

PX_TEST(topologies_go_through_in_every_codec)
{
    static const char *const dialects[] = {"v21", "v3", "v4", "v41", "v51", "v61"};
    const pmix_topology_t none = {0};

    NEEDS_HWLOC();
    for (size_t i = 0; i < 4 * PX_COUNT(dialects); i++) {
        PX_AUTO(px_writer) out = writer_in(codec_of(dialects[i / 4], i & 1));
        const pmix_topology_t *sent = i & 2 ? &topo : &none;
        pmix_topology_t back;

        px_pack(&out, sent, 1, PMIX_TOPO);
        if (!px_dialect_knows(out.codec.dialect, PMIX_TOPO)) {
            fails(out.status, UNKNOWN_DATA_TYPE);
            continue;
        }
        ok(out.status);
        px_reader r = reader_of(out.codec, &out.buf);
        r.trusted = true;
        memset(&back, 0x5a, sizeof(back));
        ok(px_unpack1(&r, &back, PMIX_TOPO));
        ck_assert(px_reader_done(&r));
        ck_assert_int_eq(!back.topology, sent == &none);
        ck_assert(sent == &none || px_type_compare(PMIX_TOPO, &topo, &back) == 0);
        PMIx_Topology_destruct(&back);
    }
}

PX_TEST(what_a_topology_supports_goes_with_it)
{
    uint8_t given[PX_TOPO_SUPPORT_MAX] = {0, 1}, got[PX_TOPO_SUPPORT_MAX] = {0};
    pmix_data_buffer_t buffer = {0};
    pmix_topology_t back;
    int32_t n = 1;

    NEEDS_HWLOC();
    given[px_topo_support_size() - 1] = 1;
    ck_assert(px_topo_support(topo.topology, NULL, given));
    ok(PMIx_Data_pack(NULL, &buffer, &topo, 1, PMIX_TOPO));
    ok(PMIx_Data_unpack(NULL, &buffer, &back, &n, PMIX_TOPO));
    ck_assert(px_topo_support(back.topology, got, NULL));
    ck_assert_mem_eq(given, got, sizeof(got));
    PMIx_Data_buffer_destruct(&buffer);
    PMIx_Topology_destruct(&back);
}

/* Reads the first n bytes of the message. */
static pmix_status_t read_start(size_t n, bool trusted)
{
    PX_AUTOFREE uint8_t *bytes = malloc(n + !n); /* exact size, for sanitizers */
    pmix_topology_t back;
    px_reader r;

    memcpy(bytes, w.buf.data, n);
    px_reader_init(&r, px_codec_default, bytes, n);
    r.trusted = trusted;
    pmix_status_t rc = px_unpack1(&r, &back, PMIX_TOPO);
    if (!rc)
        PMIx_Topology_destruct(&back);
    return rc;
}

PX_TEST(a_topology_is_taken_whole_and_from_the_trusted_alone)
{
    NEEDS_HWLOC();
    fails(read_start(w.buf.len, false), NOT_SUPPORTED);
    ok(read_start(w.buf.len, true));
    for (size_t n = 0; n < 8; n++)
        ck_assert_int_ne(read_start(n, true), PMIX_SUCCESS);
    for (size_t cut = 1; cut <= px_topo_support_size(); cut++)
        fails(read_start(w.buf.len - cut, true), UNPACK_READ_PAST_END_OF_BUFFER);
}

PX_TEST(long_bitmaps_count_like_arrays_as_often_as_they_are_filled)
{
    static const struct {
        const char *list;
        size_t budget;
        pmix_status_t status;
    } rows[] = {
        {"65000", 8000, PMIX_ERR_UNPACK_FAILURE},
        {"0-65000,0-65000,0", 24000, PMIX_ERR_UNPACK_FAILURE},
        {"0-65000,0-65000,0", 25000, PMIX_SUCCESS},
    };

    NEEDS_HWLOC();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_writer) out = writer_in(px_codec_default);
        pmix_cpuset_t set = {0};

        px_pack_str(&out, rows[i].list); /* a cpuset without a head is a string */
        px_reader r = reader_of(out.codec, &out.buf);
        r.budget = rows[i].budget;
        ck_assert_int_eq(px_unpack1(&r, &set, PMIX_PROC_CPUSET), rows[i].status);
        px_type_destruct(PMIX_PROC_CPUSET, rows[i].status ? NULL : &set);
    }
}

PX_TEST_MAIN("types/handle", setup, teardown)

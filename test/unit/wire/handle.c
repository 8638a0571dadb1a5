/* SPDX-License-Identifier: BSD-3-Clause */
/* Cpusets and topologies on the wire. */
#include "core/types/handle.h"
#include "core/wire/ops.h"
#include "files.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

#define NEEDS_HWLOC() PX_TEST_NEEDS(topo.topology, "hwloc")

static pmix_topology_t topo;
static px_writer w;

static pmix_status_t handle_of(enum px_store store, const char *text, void *obj)
{
    struct px_opaque o = {strdup("hwloc"), NULL};
    pmix_status_t rc = px_handle_parse(store, text, &o.handle);

    memcpy(obj, &o, sizeof(o));
    return rc;
}

/* Packs a topology. */
static void setup(void)
{
    PX_AUTOFREE char *xml = text_of_file(DEVICES_XML);

    handle_of(PX_TOPO, xml, &topo);
    px_writer_init(&w, px_codec_default);
    px_pack(&w, &topo, 1, PMIX_TOPO);
}

static void teardown(void)
{
    px_writer_cleanup(&w);
    px_type_destruct(PMIX_TOPO, &topo);
}

/* Checks that an object is equal after a round trip in every codec that has the
 * type. */
static void goes_through(pmix_data_type_t type, const void *obj)
{
    for (size_t i = 0; i < 2 * n_dialects; i++) {
        struct px_codec codec = codec_of(all_dialects[i / 2], i & 1);
        struct px_opaque back;
        PX_AUTO(px_writer) out;
        px_reader r;

        px_writer_init(&out, codec);
        px_pack(&out, obj, 1, type);
        if (!px_dialect_knows(codec.dialect, type)) {
            fails(out.status, UNKNOWN_DATA_TYPE);
            continue;
        }
        ok(out.status);
        px_reader_init(&r, codec, out.buf.data, out.buf.len);
        r.trusted = true;
        memset(&back, 0x5a, sizeof(back));
        ok(px_unpack1(&r, &back, type));
        ck_assert(px_reader_done(&r));
        ck_assert_int_eq(px_type_compare(type, obj, &back), 0);
        px_type_destruct(type, &back);
    }
}

PX_TEST(cpusets_go_through_in_every_codec)
{
    static const char *const lists[] = {"", "0", "0-3,8", "5-"};
    pmix_cpuset_t set;

    NEEDS_HWLOC();
    for (size_t i = 0; i < PX_COUNT(lists); i++) {
        ok(handle_of(PX_CPUSET, lists[i], &set));
        goes_through(PMIX_PROC_CPUSET, &set);
        px_type_destruct(PMIX_PROC_CPUSET, &set);
    }
    goes_through(PMIX_PROC_CPUSET, &(pmix_cpuset_t){0});
}

PX_TEST(a_cpuset_travels_as_its_list)
{
    PX_AUTO(px_buf) expected = bytes_of("02 0c \"0-3,8\" 00");
    PX_AUTO(px_writer) out;
    pmix_cpuset_t set;

    NEEDS_HWLOC();
    ok(handle_of(PX_CPUSET, "0-3,8", &set));
    px_writer_init(&out, codec_of("v41", false));
    px_pack(&out, &set, 1, PMIX_PROC_CPUSET);
    ok(out.status);
    ck_assert_uint_eq(out.buf.len, expected.len);
    ck_assert_mem_eq(out.buf.data, expected.data, expected.len);
    px_type_destruct(PMIX_PROC_CPUSET, &set);
}

PX_TEST(topologies_go_through_in_every_codec)
{
    NEEDS_HWLOC();
    goes_through(PMIX_TOPO, &topo);
    goes_through(PMIX_TOPO, &(pmix_topology_t){0});
}

PX_TEST(what_a_topology_supports_goes_with_it)
{
    uint8_t given[PX_TOPO_SUPPORT_MAX] = {0, 1}, got[PX_TOPO_SUPPORT_MAX] = {0};
    pmix_data_buffer_t buffer = {0};
    pmix_topology_t back;
    int32_t n = 1;

    NEEDS_HWLOC();
    ck_assert(px_topo_support(topo.topology, NULL, given));
    ok(PMIx_Data_pack(NULL, &buffer, &topo, 1, PMIX_TOPO));
    ok(PMIx_Data_unpack(NULL, &buffer, &back, &n, PMIX_TOPO));
    ck_assert(px_topo_support(back.topology, got, NULL));
    ck_assert_mem_eq(given, got, sizeof(got));
    PMIx_Data_buffer_destruct(&buffer);
    px_type_destruct(PMIX_TOPO, &back);
}

/* Reads the first n bytes of the message. */
static pmix_status_t read_start(size_t n, bool trusted)
{
    PX_AUTOFREE uint8_t *bytes = malloc(
        n + !n); /* exact size, so that a sanitizer detects reads beyond the end */
    pmix_topology_t back;
    px_reader r;

    memcpy(bytes, w.buf.data, n);
    px_reader_init(&r, px_codec_default, bytes, n);
    r.trusted = trusted;
    pmix_status_t rc = px_unpack1(&r, &back, PMIX_TOPO);
    if (!rc)
        px_type_destruct(PMIX_TOPO, &back);
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
        const char *bytes;
        size_t budget;
        pmix_status_t status;
    } rows[] = {
        {"02 0c \"65000\" 00", 8000, PMIX_ERR_UNPACK_FAILURE},
        {"02 24 \"0-65000,0-65000,0\" 00", 24000, PMIX_ERR_UNPACK_FAILURE},
        {"02 24 \"0-65000,0-65000,0\" 00", 25000, PMIX_SUCCESS},
    };

    NEEDS_HWLOC();
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_buf) b = bytes_of(rows[i].bytes);
        pmix_cpuset_t set = {0};
        px_reader r;

        px_reader_init(&r, codec_of("v41", false), b.data, b.len);
        r.budget = rows[i].budget;
        ck_assert_int_eq(px_unpack1(&r, &set, PMIX_PROC_CPUSET), rows[i].status);
        px_type_destruct(PMIX_PROC_CPUSET, rows[i].status ? NULL : &set);
    }
}

PX_TEST(handles_of_others_are_not_packed)
{
    char thing[] = "thing";
    pmix_cpuset_t set = {(char *)(uintptr_t) "other", thing}, nobodys = {NULL, thing};
    pmix_topology_t topo = {(char *)(uintptr_t) "other", thing};
    const struct {
        const void *obj;
        pmix_data_type_t type;
    } rows[] = {
        {&set, PMIX_PROC_CPUSET}, {&nobodys, PMIX_PROC_CPUSET}, {&topo, PMIX_TOPO}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        px_writer out;

        px_writer_init(&out, px_codec_default);
        px_pack(&out, rows[i].obj, 1, rows[i].type);
        fails(out.status, NOT_SUPPORTED);
        px_writer_cleanup(&out);
    }
}

PX_TEST_MAIN("wire/handle", setup, teardown)

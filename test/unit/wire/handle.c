/* SPDX-License-Identifier: BSD-3-Clause */
/* Cpusets and topologies on the wire. */
#include "core/types/handle.h"
#include "core/wire/ops.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

/* What goes through the wire and back in every codec that has the type is the same. */
static void goes_through(pmix_data_type_t type, const void *obj, void *back)
{
    const size_t size = px_type_find(type)->size;

    for (size_t i = 0; i < 2 * n_dialects; i++) {
        struct px_codec codec = codec_of(all_dialects[i / 2], i & 1);
        px_writer w;
        px_reader r;

        px_writer_init(&w, codec);
        px_pack(&w, obj, 1, type);
        if (!px_dialect_knows(codec.dialect, type)) {
            fails(w.status, UNKNOWN_DATA_TYPE);
            px_writer_cleanup(&w);
            continue;
        }
        ok(w.status);
        px_reader_init(&r, codec, w.buf.data, w.buf.len);
        r.trusted = true;
        memset(back, 0x5a, size);
        ok(px_unpack1(&r, back, type));
        ck_assert(px_reader_done(&r));
        ck_assert_int_eq(px_type_compare(type, obj, back), 0);
        px_type_destruct(type, back);
        px_writer_cleanup(&w);
    }
}

static pmix_status_t handle_of(enum px_store store, const char *text, void *obj)
{
    struct px_opaque o = {strdup("hwloc"), NULL};
    pmix_status_t rc = px_handle_parse(store, text, &o.handle);

    memcpy(obj, &o, sizeof(o));
    if (rc)
        free(o.source);
    return rc;
}

static char *read_file(const char *path)
{
    char *text = calloc(1, 16384);
    FILE *f = fopen(path, "re");

    ck_assert_ptr_nonnull(f);
    ck_assert_uint_gt(fread(text, 1, 16383, f), 0);
    fclose(f);
    return text;
}

PX_TEST(a_cpuset_goes_through_in_every_codec)
{
    static const char *const lists[] = {"", "0", "0-3,8", "5-"};
    pmix_cpuset_t set, back;

    for (size_t i = 0; i < PX_COUNT(lists); i++) {
        PX_TEST_NEEDS(handle_of(PX_CPUSET, lists[i], &set) == PMIX_SUCCESS, "hwloc");
        goes_through(PMIX_PROC_CPUSET, &set, &back);
        px_type_destruct(PMIX_PROC_CPUSET, &set);
    }
    goes_through(PMIX_PROC_CPUSET, &(pmix_cpuset_t){0}, &back);
}

PX_TEST(a_cpuset_travels_as_its_list)
{
    PX_AUTO(px_buf) expected = bytes_of("02 0c \"0-3,8\" 00");
    pmix_cpuset_t set;
    px_writer w;

    PX_TEST_NEEDS(handle_of(PX_CPUSET, "0-3,8", &set) == PMIX_SUCCESS, "hwloc");
    px_writer_init(&w, codec_of("v41", false));
    px_pack(&w, &set, 1, PMIX_PROC_CPUSET);
    ok(w.status);
    ck_assert_uint_eq(w.buf.len, expected.len);
    ck_assert_mem_eq(w.buf.data, expected.data, expected.len);
    px_writer_cleanup(&w);
    px_type_destruct(PMIX_PROC_CPUSET, &set);
}

PX_TEST(a_topology_goes_through_in_every_codec)
{
    PX_AUTOFREE char *xml = read_file(DEVICES_XML);
    pmix_topology_t topo, back;

    PX_TEST_NEEDS(handle_of(PX_TOPO, xml, &topo) == PMIX_SUCCESS, "hwloc");
    goes_through(PMIX_TOPO, &topo, &back);
    goes_through(PMIX_TOPO, &(pmix_topology_t){0}, &back);
    px_type_destruct(PMIX_TOPO, &topo);
}

PX_TEST(what_a_topology_supports_goes_with_it)
{
    PX_AUTOFREE char *xml = read_file(DEVICES_XML);
    uint8_t given[PX_TOPO_SUPPORT_MAX] = {0, 1}, got[PX_TOPO_SUPPORT_MAX] = {0};
    pmix_data_buffer_t buffer = {0};
    pmix_topology_t topo, back;
    int32_t n = 1;

    PX_TEST_NEEDS(handle_of(PX_TOPO, xml, &topo) == PMIX_SUCCESS, "hwloc");
    ck_assert(px_topo_support_set(topo.topology, given));
    ok(PMIx_Data_pack(NULL, &buffer, &topo, 1, PMIX_TOPO));
    ok(PMIx_Data_unpack(NULL, &buffer, &back, &n, PMIX_TOPO));
    ck_assert(px_topo_support_get(back.topology, got));
    ck_assert_mem_eq(given, got, sizeof(got));
    PMIx_Data_buffer_destruct(&buffer);
    px_type_destruct(PMIX_TOPO, &topo);
    px_type_destruct(PMIX_TOPO, &back);
}

PX_TEST(a_topology_is_taken_from_nobody_who_is_not_trusted)
{
    PX_AUTOFREE char *xml = read_file(DEVICES_XML);
    pmix_topology_t topo, back;
    px_writer w;
    px_reader r;

    PX_TEST_NEEDS(handle_of(PX_TOPO, xml, &topo) == PMIX_SUCCESS, "hwloc");
    px_writer_init(&w, px_codec_default);
    px_pack(&w, &topo, 1, PMIX_TOPO);
    px_reader_init(&r, px_codec_default, w.buf.data, w.buf.len);
    fails(px_unpack1(&r, &back, PMIX_TOPO), NOT_SUPPORTED);
    r.trusted = true;
    ok(px_unpack1(&r, &back, PMIX_TOPO));
    px_type_destruct(PMIX_TOPO, &back);
    px_type_destruct(PMIX_TOPO, &topo);
    px_writer_cleanup(&w);
}

/* Reads the first n bytes of a trusted message that holds one topology. */
static pmix_status_t read_start(const px_buf *b, size_t n)
{
    PX_AUTOFREE uint8_t *bytes = malloc(n + !n); /* so that a sanitizer sees its end */
    pmix_topology_t back;
    px_reader r;

    memcpy(bytes, b->data, n);
    px_reader_init(&r, px_codec_default, bytes, n);
    r.trusted = true;
    pmix_status_t rc = px_unpack1(&r, &back, PMIX_TOPO);
    if (!rc)
        px_type_destruct(PMIX_TOPO, &back);
    return rc;
}

PX_TEST(a_topology_that_is_cut_short_is_refused)
{
    PX_AUTOFREE char *xml = read_file(DEVICES_XML);
    pmix_topology_t topo;
    px_writer w;

    PX_TEST_NEEDS(handle_of(PX_TOPO, xml, &topo) == PMIX_SUCCESS, "hwloc");
    px_writer_init(&w, px_codec_default);
    px_pack(&w, &topo, 1, PMIX_TOPO);
    for (size_t n = 0; n < 8; n++)
        ck_assert_int_ne(read_start(&w.buf, n), PMIX_SUCCESS);
    for (size_t cut = 1; cut <= px_topo_support_size(); cut++)
        fails(read_start(&w.buf, w.buf.len - cut), UNPACK_READ_PAST_END_OF_BUFFER);
    ok(read_start(&w.buf, w.buf.len));
    px_type_destruct(PMIX_TOPO, &topo);
    px_writer_cleanup(&w);
}

PX_TEST(a_list_that_lies_is_refused)
{
    static const char *const texts[] = {
        "02 08 \"3-1\" 00", "02 04 \"x\" 00",     "02 16 \"4000000000\" 00",
        "02 06 \"1,\" 00",  "02 0c \"08-49\" 00", /* octal to some: 0, then -49 */
    };
    pmix_cpuset_t set;

    for (size_t i = 0; i < PX_COUNT(texts); i++)
        ck_assert_msg(read_text("v41", texts[i], &set, PMIX_PROC_CPUSET) ==
                          PMIX_ERR_UNPACK_FAILURE,
                      "%s", texts[i]);
}

PX_TEST(long_bitmaps_count_like_arrays)
{
    PX_AUTO(px_buf) b = bytes_of("02 0c \"65000\" 00");
    pmix_cpuset_t set;
    px_reader r;

    px_reader_init(&r, codec_of("v41", false), b.data, b.len);
    r.budget = 8000;
    fails(px_unpack1(&r, &set, PMIX_PROC_CPUSET), UNPACK_FAILURE);
}

PX_TEST(filling_a_bitmap_again_and_again_counts_too)
{
    PX_AUTO(px_buf) b = bytes_of("02 24 \"0-65000,0-65000,0\" 00");
    pmix_cpuset_t set;
    px_reader r;

    px_reader_init(&r, codec_of("v41", false), b.data, b.len);
    r.budget = 24000;
    fails(px_unpack1(&r, &set, PMIX_PROC_CPUSET), UNPACK_FAILURE);
    px_reader_init(&r, codec_of("v41", false), b.data, b.len);
    r.budget = 25000;
    ok(px_unpack1(&r, &set, PMIX_PROC_CPUSET));
    px_type_destruct(PMIX_PROC_CPUSET, &set);
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
        px_writer w;

        px_writer_init(&w, px_codec_default);
        px_pack(&w, rows[i].obj, 1, rows[i].type);
        fails(w.status, NOT_SUPPORTED);
        px_writer_cleanup(&w);
    }
}

PX_TEST_MAIN("wire/handle", NULL, NULL)

/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/codec.h"
#include "px_test.h"

PX_TEST(finds_exactly_the_dialects_in_use)
{
    static const char *const names[] = {"v21", "v3", "v4", "v41", "v51", "v61"};

    for (size_t i = 0; i < PX_COUNT(names); i++) {
        const struct px_dialect *d = px_dialect_find(names[i]);
        ck_assert_ptr_nonnull(d);
        ck_assert_str_eq(d->name, names[i]);
    }
    ck_assert_ptr_null(px_dialect_find("v12"));
    ck_assert_ptr_null(px_dialect_find("v20"));
    ck_assert_ptr_null(px_dialect_find("v411"));
    ck_assert_ptr_null(px_dialect_find(""));
    ck_assert_ptr_null(px_dialect_find(NULL));
}

PX_TEST(speaks_v41_undescribed_by_default)
{
    ck_assert_ptr_eq(px_codec_default.dialect, px_dialect_find("v41"));
    ck_assert(!px_codec_default.described);
}

PX_TEST(takes_two_encodings_only)
{
    ck_assert_int_eq(px_dialect_find("v21")->encoding, PX_ENC_FIXED);
    ck_assert_int_eq(px_dialect_find("v3")->encoding, PX_ENC_FIXED);
    ck_assert_int_eq(px_dialect_find("v4")->encoding, PX_ENC_FLEX);
    ck_assert_int_eq(px_dialect_find("v61")->encoding, PX_ENC_FLEX);
}

static bool knows(const char *dialect, pmix_data_type_t id)
{
    return px_dialect_knows(px_dialect_find(dialect), id);
}

PX_TEST(knows_the_types_of_its_release)
{
    static const struct {
        pmix_data_type_t first, last;
        const char *from, *before; /* oldest that knows them, newest that does not */
        const char *gone;          /* where they were dropped */
    } rows[] = {
        {PMIX_UNDEF, PMIX_QUERY, "v21", NULL, NULL},
        {PMIX_ALLOC_DIRECTIVE, PMIX_ALLOC_DIRECTIVE, "v21", NULL, NULL},
        {PMIX_IOF_CHANNEL, PMIX_ENVAR, "v3", "v21", NULL},
        {PMIX_COORD, PMIX_COMPRESSED_BYTE_OBJECT, "v4", "v3", NULL},
        {PMIX_PROC_NSPACE, PMIX_PROC_NSPACE, "v41", "v4", NULL},
        {PMIX_PROC_STATS, PMIX_NODE_STATS, "v41", "v4", "v51"},
        {PMIX_DATA_BUFFER, PMIX_STOR_ACCESS_TYPE, "v41", "v4", NULL},
        {PMIX_DEVICE, PMIX_RESOURCE_UNIT, "v51", "v41", NULL},
        {PMIX_NODE_PID, PMIX_ALLOC_INHERIT, "v61", "v51", NULL},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        for (pmix_data_type_t id = rows[i].first; id <= rows[i].last; id++) {
            ck_assert_msg(knows(rows[i].from, id), "%s knows %u", rows[i].from, id);
            if (rows[i].before)
                ck_assert_msg(!knows(rows[i].before, id), "%s lacks %u", rows[i].before,
                              id);
            ck_assert_msg(knows("v61", id) == !rows[i].gone, "v61 and %u", id);
            if (rows[i].gone)
                ck_assert_msg(!knows(rows[i].gone, id), "%s lacks %u", rows[i].gone,
                              id);
        }
}

PX_TEST(keeps_compressed_strings_from_readers_that_refuse_them)
{
    ck_assert(!knows("v21", PMIX_COMPRESSED_STRING));
    ck_assert(!knows("v3", PMIX_COMPRESSED_STRING));
    ck_assert(knows("v4", PMIX_COMPRESSED_STRING));
}

PX_TEST(knows_no_number_beyond_its_table)
{
    for (unsigned id = PMIX_ALLOC_INHERIT + 1; id <= UINT16_MAX; id++)
        ck_assert(!knows("v61", (pmix_data_type_t)id));
}

PX_TEST(what_is_newest_keeps_the_encoding)
{
    static const char *const names[] = {"v21", "v3", "v4", "v41", "v51", "v61"};

    for (size_t i = 0; i < PX_COUNT(names); i++) {
        struct px_codec c = {.dialect = px_dialect_find(names[i]), .described = i % 2};
        struct px_codec n = px_codec_newest(c);
        bool flex = c.dialect->encoding == PX_ENC_FLEX;

        ck_assert_int_eq(n.dialect->encoding, c.dialect->encoding);
        ck_assert_int_eq(n.described, c.described);
        ck_assert_int_eq(px_dialect_knows(n.dialect, PMIX_RESOURCE_UNIT), flex);
    }
}

PX_TEST_MAIN("wire/dialect", NULL, NULL)

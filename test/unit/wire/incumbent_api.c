/* SPDX-License-Identifier: BSD-3-Clause */
/* What the other implementation's PMIx_Data_*, PMIx_Value_* and PMIx_Info_* calls do with the
 * objects we generate, ours do, too; and a buffer may pass from one to the other. */
#include "incumbent_lib.h"
#include "px_test.h"
#include "sample.h"
#include "wire_test.h"

#include <string.h>

enum { N_SEEDS = 120 };

/* A property of one generated object, or of two of a type. */
typedef bool check_one(const struct incumbent *lib, const struct px_type *t, void *a,
                       void *b);

/* What the other library cannot do, besides what it crashes on; each list ends in UNDEF. */
struct exempt {
    const pmix_data_type_t *inside;   /* of other objects */
    const pmix_data_type_t *in_array; /* as what a data array holds */
    const pmix_data_type_t *alone;
};

static bool is_exempt(const pmix_data_type_t *list, pmix_data_type_t id)
{
    while (*list && *list != id)
        list++;
    return *list != PMIX_UNDEF;
}

static bool for_every_type(const struct incumbent *lib, const struct exempt *e,
                           check_one *check)
{
    bool good = true;

    for (pmix_data_type_t type = 1; type <= PMIX_STOR_ACCESS_TYPE; type++) {
        struct gen g = {.dialect = px_codec_default.dialect,
                        .leave_out = e->inside,
                        .not_in_array = e->in_array};

        if (!gen_can(&g, type) || is_exempt(e->alone, type))
            continue;
        for (unsigned seed = 0; seed < N_SEEDS; seed++) {
            const struct px_type *t = px_type_find(type);

            g.state = (gen_seed() * 433 + seed) * 77 + type;
            g.wild = seed % 4 == 3;
            char *two = gen_array(&g, type, 2);
            bool passes = check(lib, t, two, two + t->size);
            if (!passes) {
                PX_AUTOFREE char *text = px_type_print(type, two);
                printf("%s, seed %u of PX_TEST_SEED=%llu: %.600s\n", t->name, seed,
                       (unsigned long long)gen_seed(), text);
            }
            px_type_free_array(type, two, 2);
            good = good && passes;
            if (!passes)
                break;
        }
    }
    return good;
}

/* ---- copies and text ------------------------------------------------------------------------ */

/* Strings go in and out as such, all else by address. */
static void *as_argument(const struct px_type *t, void *obj)
{
    return t->store == PX_STRING ? *(void **)obj : obj;
}

static bool is_copied(const struct incumbent *lib, const struct px_type *t, void *a,
                      void *b PX_UNUSED)
{
    void *theirs = NULL, *ours = NULL, *src = as_argument(t, a);

    if (!src)
        return true;
    pmix_status_t rc = lib->copy(&theirs, src, t->id);
    if (rc || PMIx_Data_copy(&ours, src, t->id)) {
        printf("status %d\n", rc);
        return false;
    }
    const void *left = t->store == PX_STRING ? &theirs : theirs,
               *right = t->store == PX_STRING ? &ours : ours;
    bool good = px_type_compare(t->id, left, a) == 0 &&
                px_type_compare(t->id, right, a) == 0;
    if (!good) {
        PX_AUTOFREE char *text = px_type_print(t->id, left);
        printf("theirs %.600s\n", text);
    }
    return good;
}

static const pmix_data_type_t nothing[] = {PMIX_UNDEF};

static const pmix_data_type_t not_copied[] = {
    PMIX_DOUBLE,    /* has no function for it */
    PMIX_DATA_TYPE, /* likewise */
    PMIX_APP,       /* wants a cmd, and loses the flags of its infos */
    PMIX_QUERY,     /* all qualifiers but the first are lost */
    PMIX_UNDEF,
};

/* It copies arrays element by element, each type by code of its own where there is any. */
static const pmix_data_type_t not_copied_in_array[] = {
    PMIX_DATA_ARRAY,
    PMIX_DATA_TYPE,
    PMIX_PROC_STATE,
    PMIX_ALLOC_DIRECTIVE,
    PMIX_IOF_CHANNEL,
    PMIX_JOB_STATE,
    PMIX_LINK_STATE,
    PMIX_DEVTYPE,
    PMIX_LOCTYPE,
    PMIX_STOR_MEDIUM,
    PMIX_STOR_ACCESS,
    PMIX_STOR_PERSIST,
    PMIX_APP,
    PMIX_QUERY,
    PMIX_STOR_ACCESS_TYPE,
    PMIX_COMPRESSED_BYTE_OBJECT,
    PMIX_UNDEF,
};

static bool copies_alike(const struct incumbent *lib, struct px_codec codec PX_UNUSED)
{
    static const struct exempt e = {incumbent_leave_out, not_copied_in_array,
                                    not_copied};

    return for_every_type(lib, &e, is_copied);
}

static bool is_printed(const struct incumbent *lib, const struct px_type *t, void *a,
                       void *b PX_UNUSED)
{
    char *theirs = NULL, *ours = NULL, prefix[] = "--";
    void *src = as_argument(t, a);

    if (!src)
        return true;
    pmix_status_t rc = lib->print(&theirs, prefix, src, t->id),
                  our_rc = PMIx_Data_print(&ours, prefix, src, t->id);
    bool good = rc == our_rc && theirs && ours && strncmp(ours, prefix, 2) == 0;

    if (!good)
        printf("status %d and %d\n", rc, our_rc);
    free(theirs);
    free(ours);
    return good;
}

static bool prints_alike(const struct incumbent *lib, struct px_codec codec PX_UNUSED)
{
    static const pmix_data_type_t not_printed[] = {
        PMIX_TIME, /* a year beyond four digits has no text */
        PMIX_REGEX, PMIX_DATA_BUFFER, PMIX_NODE_STATS, PMIX_PROC_CPUSET, /* as ever */
        PMIX_TOPO,  PMIX_UNDEF,
    };
    static const pmix_data_type_t not_printed_alone[] = {
        PMIX_APP,        /* succeeds with nothing */
        PMIX_DATA_ARRAY, /* refuses one of no type; others are printed in values */
        PMIX_UNDEF,
    };
    static const struct exempt e = {not_printed, nothing, not_printed_alone};

    return for_every_type(lib, &e, is_printed);
}

/* ---- values and infos ----------------------------------------------------------------------- */

static bool value_is_xferred(const struct incumbent *lib,
                             const struct px_type *t PX_UNUSED, void *a,
                             void *b PX_UNUSED)
{
    pmix_value_t theirs = {0}, ours = {0}, *v = a;
    pmix_status_t rc = lib->value_xfer(&theirs, v), our_rc = PMIx_Value_xfer(&ours, v);
    bool good = rc == our_rc && px_type_compare(PMIX_VALUE, &theirs, &ours) == 0;

    if (!good)
        printf("status %d and %d\n", rc, our_rc);
    return good;
}

static bool info_is_xferred(const struct incumbent *lib, void *a)
{
    pmix_info_t theirs = {0}, ours = {0}, *info = a;
    pmix_status_t rc = lib->info_xfer(&theirs, info),
                  our_rc = PMIx_Info_xfer(&ours, info);
    return rc == our_rc && px_type_compare(PMIX_INFO, &theirs, &ours) == 0;
}

static bool is_xferred(const struct incumbent *lib, const struct px_type *t, void *a,
                       void *b)
{
    return t->id == PMIX_VALUE  ? value_is_xferred(lib, t, a, b)
           : t->id == PMIX_INFO ? info_is_xferred(lib, a)
                                : true;
}

static bool xfers_alike(const struct incumbent *lib, struct px_codec codec PX_UNUSED)
{
    static const struct exempt e = {incumbent_leave_out, not_copied_in_array, nothing};

    return for_every_type(lib, &e, is_xferred);
}

/* It compares the memory of most types, so that 256 is less than 1: what both must agree on is
 * what is equal. Of bytes and strings there is but one order. */
static bool agrees_on(const struct incumbent *lib, const struct px_type *t,
                      pmix_value_t *a, pmix_value_t *b)
{
    pmix_value_cmp_t theirs = lib->value_compare(a, b), ours = PMIx_Value_compare(a, b);
    bool ordered = t->store == PX_STRING ||
                   (t->store == PX_BYTE1 && t->id != PMIX_INT8);
    bool good = ordered ? theirs == ours
                        : (theirs == PMIX_EQUAL) == (ours == PMIX_EQUAL);

    if (!good)
        printf("compared: %d, not %d\n", ours, theirs);
    return good;
}

static bool is_compared(const struct incumbent *lib, const struct px_type *t, void *a,
                        void *b)
{
    pmix_value_t left = {.type = t->id}, right = {.type = t->id},
                 number = {.type = t->id == PMIX_BOOL ? PMIX_STRING : PMIX_BOOL};
    bool real = t->store == PX_FLOAT || t->store == PX_DOUBLE;

    if (t->in_value != PX_VALUE_INLINE)
        return true;
    memcpy(&left.data, a, t->size);
    memcpy(&right.data, b, t->size);
    if (real &&
        px_type_compare(t->id, a, b) == 0) /* zeros differ in their sign there */
        right = left;
    return agrees_on(lib, t, &left, &right) && agrees_on(lib, t, &right, &left) &&
           agrees_on(lib, t, &left, &left) &&
           lib->value_compare(&left, &number) == PMIX_VALUE_TYPE_DIFFERENT;
}

static bool compares_alike(const struct incumbent *lib, struct px_codec codec PX_UNUSED)
{
    static const pmix_data_type_t not_compared[] = {
        PMIX_POINTER, /* reads what it points to */
        PMIX_ENVAR,   /* a greater separator is equal */
        PMIX_UNDEF,
    };
    static const struct exempt e = {incumbent_leave_out, nothing, not_compared};

    return for_every_type(lib, &e, is_compared);
}

/* ---- buffers and bytes ---------------------------------------------------------------------- */

static bool holds(const pmix_data_buffer_t *b, const char *bytes, size_t n)
{
    return b->bytes_used == n && memcmp(b->base_ptr, bytes, n) == 0 &&
           b->unpack_ptr == b->base_ptr && b->pack_ptr == b->base_ptr + n;
}

/* In one buffer each packs in turn, and then each unpacks in turn. */
static bool share_a_buffer(const struct incumbent *lib, struct px_codec codec PX_UNUSED)
{
    pmix_data_buffer_t b = {0}, end = {0};
    pmix_byte_object_t bo = {0}, rest = {0};
    bool good = true;

    for (uint32_t i = 0; good && i < 400; i++)
        good = (i & 1 ? PMIx_Data_pack : lib->pack)(NULL, &b, &i, 1, PMIX_UINT32) ==
               PMIX_SUCCESS;
    good = good &&
           PMIx_Data_embed(&end, &(pmix_byte_object_t){b.base_ptr, b.bytes_used}) ==
               PMIX_SUCCESS;
    good = good && holds(&end, b.base_ptr, b.bytes_used);
    good = good && lib->copy_payload(&end, &b) == PMIX_SUCCESS;
    good = good && PMIx_Data_copy_payload(&end, &b) == PMIX_SUCCESS &&
           end.bytes_used == 3 * b.bytes_used;
    good = good && lib->unload(&end, &bo) == PMIX_SUCCESS && !end.base_ptr;
    good = good && PMIx_Data_load(&end, &bo) == PMIX_SUCCESS && !bo.bytes;
    for (uint32_t i = 0; good && i < 1200; i++) {
        uint32_t v = UINT32_MAX;
        int32_t n = 1;

        if (i == 700) { /* what is left passes through the other one's hands */
            good = PMIx_Data_unload(&end, &rest) == PMIX_SUCCESS &&
                   lib->load(&end, &rest) == PMIX_SUCCESS && !rest.bytes;
        }
        good = good &&
               (i & 2 ? PMIx_Data_unpack : lib->unpack)(NULL, &end, &v, &n,
                                                        PMIX_UINT32) == PMIX_SUCCESS &&
               v == i % 400;
        if (!good)
            printf("at %u: %u\n", i, v);
    }
    free(b.base_ptr);
    free(end.base_ptr);
    return good;
}

static bool embed_alike(const struct incumbent *lib, struct px_codec codec PX_UNUSED)
{
    static char bytes[] = "any bytes";

    for (size_t n = 0; n < sizeof(bytes); n++) {
        pmix_byte_object_t payload = {n ? bytes : NULL, n};
        pmix_data_buffer_t theirs = {0}, ours = {0};

        if (lib->embed(&theirs, &payload) || PMIx_Data_embed(&ours, &payload))
            return false;
        if (theirs.bytes_used != n || ours.bytes_used != n ||
            (n && (!holds(&theirs, bytes, n) || !holds(&ours, bytes, n))))
            return false;
        free(theirs.base_ptr);
        free(ours.base_ptr);
    }
    return true;
}

static bool comes_back(const uint8_t *plain, size_t n, const uint8_t *packed,
                       size_t n_packed,
                       bool (*decompress)(const uint8_t *in, size_t n, uint8_t **out,
                                          size_t *n_out))
{
    PX_AUTOFREE uint8_t *out = NULL;
    size_t n_out = 0;

    return decompress(packed, n_packed, &out, &n_out) && n_out == n &&
           memcmp(out, plain, n) == 0;
}

/* 4.2.2 compresses nothing here: it asks for less room than zlib's bound, which is never less
 * than what goes in. Other releases do. */
static bool compress_for_each_other(const struct incumbent *lib,
                                    struct px_codec codec PX_UNUSED)
{
    struct gen g = {.state = gen_seed()};
    bool good = true;

    for (size_t n = 1; good && n < 3000000; n = 3 * n + 1) {
        PX_AUTOFREE uint8_t *plain = malloc(n);
        PX_AUTOFREE uint8_t *ours = NULL;
        PX_AUTOFREE uint8_t *theirs = NULL;
        size_t n_ours, n_theirs;

        for (size_t i = 0; i < n; i++)
            plain[i] = (uint8_t)('a' + gen_below(&g, 4));
        if (PMIx_Data_compress(plain, n, &ours, &n_ours))
            good = comes_back(plain, n, ours, n_ours, lib->decompress) &&
                   comes_back(plain, n, ours, n_ours, PMIx_Data_decompress);
        else
            good = n < 4096;
        if (good && lib->compress(plain, n, &theirs, &n_theirs))
            good = comes_back(plain, n, theirs, n_theirs, PMIx_Data_decompress);
        if (!good)
            printf("%zu bytes\n", n);
    }
    return good;
}

static void agrees(incumbent_check *check)
{
    int result = incumbent_apart(px_codec_default, check);

    PX_TEST_NEEDS(result != INCUMBENT_MISSING, "the other implementation");
    ck_assert_int_eq(result, INCUMBENT_GOOD);
}

PX_TEST(both_copy_alike)
{
    agrees(copies_alike);
}

PX_TEST(both_print_something)
{
    agrees(prints_alike);
}

PX_TEST(both_transfer_alike)
{
    agrees(xfers_alike);
}

PX_TEST(both_compare_alike)
{
    agrees(compares_alike);
}

PX_TEST(a_buffer_may_pass_from_one_to_the_other)
{
    agrees(share_a_buffer);
}

PX_TEST(both_embed_alike)
{
    agrees(embed_alike);
}

PX_TEST(both_decompress_what_either_compressed)
{
    agrees(compress_for_each_other);
}

PX_TEST_MAIN("wire/incumbent_api", NULL, NULL)

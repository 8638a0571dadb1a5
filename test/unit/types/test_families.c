/* SPDX-License-Identifier: BSD-3-Clause */
/* The public constructors and destructors of every structure, of data arrays and of
 * buffers; buffers pass their bytes in and out without copies. */
#include "px_test.h"
#include "sample.h"

#include <string.h>

#define FAMILY_FN(Type, verb, ret, args) ((ret(*) args)PMIx_##Type##_##verb)
#define FAMILY(Type, ID)                                       \
    {                                                          \
        PMIX_##ID, FAMILY_FN(Type, construct, void, (void *)), \
            FAMILY_FN(Type, destruct, void, (void *)),         \
            FAMILY_FN(Type, create, void *, (size_t)),         \
            FAMILY_FN(Type, free, void, (void *, size_t))      \
    }

static const struct {
    pmix_data_type_t id;
    void (*construct)(void *obj);
    void (*destruct)(void *obj);
    void *(*create)(size_t n);
    void (*free)(void *array, size_t n);
} families[] = {
    FAMILY(App, APP),
    FAMILY(Byte_object, BYTE_OBJECT),
    FAMILY(Device, DEVICE),
    FAMILY(Device_distance, DEVICE_DIST),
    FAMILY(Disk_stats, DISK_STATS),
    FAMILY(Endpoint, ENDPOINT),
    FAMILY(Envar, ENVAR),
    FAMILY(Geometry, GEOMETRY),
    FAMILY(Info, INFO),
    FAMILY(Net_stats, NET_STATS),
    FAMILY(Node_pid, NODE_PID),
    FAMILY(Node_stats, NODE_STATS),
    FAMILY(Pdata, PDATA),
    FAMILY(Proc, PROC),
    FAMILY(Proc_info, PROC_INFO),
    FAMILY(Proc_stats, PROC_STATS),
    FAMILY(Query, QUERY),
    FAMILY(Regattr, REGATTR),
    FAMILY(Regex2, REGEX2),
    FAMILY(Resource_unit, RESOURCE_UNIT),
    FAMILY(Value, VALUE),
};

PX_TEST(destructed_objects_are_constructed_again)
{
    for (size_t i = 0; i < PX_COUNT(families); i++) {
        size_t size = px_type_find(families[i].id)->size;
        union sample object, fresh;

        families[i].construct(&fresh);
        for (unsigned seed = 0; seed < SAMPLE_SEEDS; seed++) {
            sample_fill(families[i].id, &object, seed);
            families[i].destruct(&object);
            ck_assert_mem_eq(&object, &fresh, size);
        }
        families[i].construct(NULL);
        families[i].destruct(NULL);
    }
}

PX_TEST(created_arrays_are_constructed_and_freed_with_their_contents)
{
    for (size_t i = 0; i < PX_COUNT(families); i++) {
        size_t size = px_type_find(families[i].id)->size;
        union sample fresh;
        char *array = families[i].create(3);

        families[i].construct(&fresh);
        for (unsigned k = 0; k < 3; k++) {
            ck_assert_mem_eq(array + k * size, &fresh, size);
            sample_fill(families[i].id, array + k * size, k);
        }
        families[i].free(array, 3);
        ck_assert_ptr_null(families[i].create(0));
        families[i].free(NULL, 3);
    }
}

PX_TEST(release_frees_one_with_its_contents)
{
    pmix_app_t *app = PMIx_App_create(1);
    pmix_query_t *query = PMIx_Query_create(1);

    sample_fill(PMIX_APP, app, 1);
    sample_fill(PMIX_QUERY, query, 2);
    PMIx_App_release(app);
    PMIx_Query_release(query);
}

PX_TEST(applications_and_queries_get_room_for_infos)
{
    pmix_app_t app = {0};
    pmix_query_t query = {0};

    PMIx_App_info_create(&app, 2);
    PMIx_Query_qualifiers_create(&query, 3);
    ck_assert(app.ninfo == 2 && app.info[1].value.type == PMIX_UNDEF);
    ck_assert(query.nqual == 3 && query.qualifiers[2].flags == 0);
    PMIx_App_destruct(&app);
    PMIx_Query_destruct(&query);
    PMIx_App_info_create(&app, 0);
    ck_assert(app.ninfo == 0 && !app.info);
}

PX_TEST(every_coordinate_has_its_dimensions)
{
    pmix_coord_t *coords = PMIx_Coord_create(3, 2), *none = PMIx_Coord_create(0, 1);

    for (int i = 0; i < 2; i++) {
        ck_assert_uint_eq(coords[i].dims, 3);
        ck_assert_uint_eq(coords[i].coord[2], 0);
    }
    ck_assert(none->dims == 0 && !none->coord);
    ck_assert_ptr_null(PMIx_Coord_create(3, 0));
    PMIx_Coord_free(coords, 2);
    PMIx_Coord_free(none, 1);
}

PX_TEST(a_byte_object_takes_the_bytes_it_is_loaded_with)
{
    char *bytes = strdup("abc");
    pmix_byte_object_t object;

    PMIx_Byte_object_load(&object, bytes, 3);
    ck_assert_ptr_eq(object.bytes, bytes);
    ck_assert_uint_eq(object.size, 3);
    PMIx_Byte_object_destruct(&object);
    PMIx_Byte_object_load(&object, NULL, 3);
    ck_assert_uint_eq(object.size, 0);
}

PX_TEST(a_variable_copies_what_it_is_loaded_with)
{
    char name[] = "PATH", value[] = "/bin";
    pmix_envar_t envar;

    PMIx_Envar_load(&envar, name, value, ':');
    ck_assert_str_eq(envar.envar, "PATH");
    ck_assert_ptr_ne(envar.value, value);
    ck_assert_int_eq(envar.separator, ':');
    PMIx_Envar_destruct(&envar);
    PMIx_Envar_load(&envar, NULL, NULL, ';');
    ck_assert_ptr_null(envar.envar);
}

PX_TEST(an_attribute_is_described_line_by_line)
{
    pmix_regattr_t attr, copy;

    PMIx_Regattr_construct(&attr);
    PMIx_Regattr_load(&attr, "PMIX_TIMEOUT", PMIX_TIMEOUT, PMIX_INT, "seconds to wait");
    PMIx_Regattr_load(&attr, NULL, NULL, PMIX_INT, "0 waits for ever");

    ck_assert_str_eq(attr.name, "PMIX_TIMEOUT");
    ck_assert_str_eq(attr.string, PMIX_TIMEOUT);
    ck_assert_uint_eq(attr.type, PMIX_INT);
    ck_assert_str_eq(attr.description[0], "seconds to wait");
    ck_assert_str_eq(attr.description[1], "0 waits for ever");
    PMIx_Regattr_xfer(&copy, &attr);
    ck_assert_int_eq(px_type_compare(PMIX_REGATTR, &copy, &attr), 0);
    PMIx_Regattr_destruct(&attr);
    PMIx_Regattr_destruct(&copy);
}

PX_TEST(published_data_copies_what_it_is_loaded_with)
{
    pmix_proc_t proc = {"job", 3};
    pmix_pdata_t pdata, copy;

    PMIx_Pdata_load(&pdata, &proc, "key", "text", PMIX_STRING);
    ck_assert(px_proc_same(&pdata.proc, &proc));
    ck_assert_str_eq(pdata.key, "key");
    ck_assert_str_eq(pdata.value.data.string, "text");
    PMIx_Pdata_xfer(&copy, &pdata);
    ck_assert_int_eq(px_type_compare(PMIX_PDATA, &copy, &pdata), 0);
    PMIx_Pdata_destruct(&pdata);
    PMIx_Pdata_destruct(&copy);

    PMIx_Pdata_load(&pdata, NULL, NULL, "x", 29);
    ck_assert_uint_eq(pdata.proc.rank, PMIX_RANK_UNDEF);
    ck_assert_uint_eq(pdata.value.type, PMIX_UNDEF);
}

/* ---- data arrays ----------------------------------------------------------------------------- */

PX_TEST(an_array_of_any_type_has_room_for_its_elements)
{
    for (pmix_data_type_t id = 0; sample_type(&id); id++) {
        const struct px_type *t = px_type_find(id);
        pmix_data_array_t array;

        if (t->store == PX_NONE)
            continue;
        PMIx_Data_array_construct(&array, 3, id);
        ck_assert_uint_eq(array.type, id);
        ck_assert_uint_eq(array.size, 3);
        for (unsigned i = 0; i < 3; i++)
            sample_fill(id, (char *)array.array + i * t->size, i);
        PMIx_Data_array_destruct(&array);
        ck_assert_uint_eq(array.type, PMIX_UNDEF);
        ck_assert_ptr_null(array.array);
    }
}

PX_TEST(an_array_may_be_empty)
{
    pmix_data_array_t array = {PMIX_STRING, 7, &array};

    PMIx_Data_array_init(&array, PMIX_INFO);
    ck_assert_uint_eq(array.type, PMIX_INFO);
    ck_assert(array.size == 0 && !array.array);

    pmix_data_array_t *created = PMIx_Data_array_create(0, PMIX_INFO);
    ck_assert_ptr_nonnull(created);
    ck_assert(created->size == 0 && !created->array);
    PMIx_Data_array_free(created);
}

/* ---- data buffers ---------------------------------------------------------------------------- */

PX_TEST(a_loaded_buffer_owns_the_bytes_and_hands_over_the_rest)
{
    char *bytes = strdup("abcdef"), *out = NULL;
    pmix_data_buffer_t buffer;
    size_t n = 0;

    PMIx_Data_buffer_construct(&buffer);
    PMIx_Data_buffer_load(&buffer, bytes, 6);

    ck_assert_ptr_eq(buffer.base_ptr, bytes);
    ck_assert_ptr_eq(buffer.unpack_ptr, bytes);
    ck_assert_ptr_eq(buffer.pack_ptr, bytes + 6);
    ck_assert(buffer.bytes_used == 6 && buffer.bytes_allocated == 6);
    PMIx_Data_buffer_unload(&buffer, &out, &n);
    ck_assert_ptr_eq(out, bytes);
    ck_assert_uint_eq(n, 6);
    ck_assert_ptr_null(buffer.base_ptr);
    ck_assert_uint_eq(buffer.bytes_used, 0);

    PMIx_Data_buffer_load(&buffer, strdup("other"), 5);
    PMIx_Data_buffer_load(&buffer, bytes, 6); /* frees the previous bytes */
    buffer.unpack_ptr += 2;
    PMIx_Data_buffer_unload(&buffer, &out, &n);
    ck_assert_uint_eq(n, 4);
    ck_assert_mem_eq(out, "cdef", 4);
    PMIx_Data_buffer_load(&buffer, out, 4);
    buffer.unpack_ptr += 4;
    PMIx_Data_buffer_unload(&buffer, &out, &n);
    ck_assert_uint_eq(n, 0);
    ck_assert_ptr_null(out);
}

PX_TEST_MAIN("types/families", NULL, NULL)

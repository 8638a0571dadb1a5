/* SPDX-License-Identifier: BSD-3-Clause */
/* Values, infos, their lists: NULL for each pointer, types that do not exist, and values with missing
 * contents. */
#include "rows.h"

#include <stdlib.h>

const pmix_data_type_t no_types[N_NO_TYPES] = {29, 44, 99, 500, 9999, UINT16_MAX};

/* Lets an allocation that is too large fail, instead of ending the process, with a sanitizer. */
const char *__asan_default_options(void);
__attribute__((visibility("default"))) const char *__asan_default_options(void)
{
    return "allocator_may_return_null=1";
}

static const int number = 7;

/* Values with missing contents. */
static pmix_value_t hollow[] = {
    {.type = PMIX_STRING},
    {.type = PMIX_PROC},
    {.type = PMIX_DATA_ARRAY},
    {.type = PMIX_BYTE_OBJECT, .data = {.bo = {.size = 9}}},
    {.type = PMIX_ENVAR},
    {.type = PMIX_POINTER},
    {.type = PMIX_UNDEF},
    {.type = 29},
    {.type = 9999},
    {.type = UINT16_MAX},
};

enum { N_HOLLOW = sizeof(hollow) / sizeof(hollow[0]) };

static void loading(void)
{
    pmix_value_t v = {0}, none = {.type = 9999};
    void *data = NULL;
    size_t n = 7;

    BAD(PMIx_Value_load(NULL, &number, PMIX_INT))
    IS(PMIX_SUCCESS, PMIx_Value_load(&v, NULL, PMIX_INT)) /* empty of that type */
    IS(PMIX_SUCCESS, PMIx_Value_load(&v, NULL, PMIX_STRING))
    BAD(PMIx_Value_unload(NULL, &data, &n))
    BAD(PMIx_Value_unload(&v, NULL, &n))
    BAD(PMIx_Value_unload(&v, &data, NULL))
    UNKNOWN(PMIx_Value_unload(&none, &data, &n))
    BAD(PMIx_Value_xfer(NULL, &v))
    BAD(PMIx_Value_xfer(&v, NULL))
    BAD(PMIx_Value_get_size(NULL, &n))
    BAD(PMIx_Value_get_size(&v, NULL))
    BAD(PMIx_Value_get_number(NULL, &n, PMIX_INT))
    BAD(PMIx_Value_get_number(&v, NULL, PMIX_INT))
    BAD(PMIx_Value_get_number(&v, &n, PMIX_INT)) /* a string */
    IS(PMIX_NON_BOOL, PMIx_Value_true(NULL))
    FREED("NULL", PMIx_Value_string(NULL))
    IS(PMIX_VALUE_COMPARISON_NOT_AVAIL, PMIx_Value_compare(NULL, &v))
    IS(PMIX_VALUE_COMPARISON_NOT_AVAIL, PMIx_Value_compare(&v, NULL))
    for (size_t i = 0; i < N_NO_TYPES; i++) {
        UNKNOWN(PMIx_Value_load(&v, &number, no_types[i]))
        BAD(PMIx_Value_get_number(&v, &n, no_types[i]))
        none.type = no_types[i];
        UNKNOWN(PMIx_Value_xfer(&v, &none))
        UNKNOWN(PMIx_Value_get_size(&none, &n))
        IS(PMIX_NON_BOOL, PMIx_Value_true(&none))
        RUNS(PMIx_Value_destruct(&none))
    }
}

static void hollow_values(void)
{
    for (size_t i = 0; i < N_HOLLOW; i++) {
        pmix_value_t v = hollow[i], copy;
        size_t n;

        RUNS(free(PMIx_Value_string(&v)))
        RUNS(PMIx_Value_compare(&v, &v))
        RUNS(PMIx_Value_get_size(&v, &n))
        RUNS(PMIx_Value_true(&v))
        if (PMIx_Value_xfer(&copy, &v) == PMIX_SUCCESS)
            RUNS(PMIx_Value_destruct(&copy))
        RUNS(PMIx_Value_destruct(&v))
    }
}

static void infos(void)
{
    pmix_info_t info = {0}, other = {0};
    size_t n;

    BAD(PMIx_Info_load(NULL, "k", &number, PMIX_INT))
    BAD(PMIx_Info_load(&info, NULL, &number, PMIX_INT))
    BAD(PMIx_Info_xfer(NULL, &info))
    BAD(PMIx_Info_xfer(&info, NULL))
    BAD(PMIx_Info_get_size(NULL, &n))
    BAD(PMIx_Info_get_size(&info, NULL))
    FREED("NULL", PMIx_Info_string(NULL))
    IS(PMIX_NON_BOOL, PMIx_Info_true(NULL))
    IS(false, PMIx_Info_is_end(NULL))
    IS(false, PMIx_Info_is_optional(NULL))
    IS(false, PMIx_Info_is_persistent(NULL))
    IS(false, PMIx_Info_is_qualifier(NULL))
    IS(false, PMIx_Info_is_required(NULL))
    IS(false, PMIx_Info_was_processed(NULL))
    RUNS(PMIx_Info_optional(NULL))
    RUNS(PMIx_Info_persistent(NULL))
    RUNS(PMIx_Info_processed(NULL))
    RUNS(PMIx_Info_qualifier(NULL))
    RUNS(PMIx_Info_required(NULL))
    RUNS(PMIx_Info_set_end(NULL))
    for (size_t i = 0; i < N_NO_TYPES; i++) {
        UNKNOWN(PMIx_Info_load(&info, "k", &number, no_types[i]))
        other.value.type = no_types[i];
        UNKNOWN(PMIx_Info_xfer(&info, &other))
        UNKNOWN(PMIx_Info_get_size(&other, &n))
        RUNS(free(PMIx_Info_string(&other)))
        RUNS(PMIx_Info_destruct(&other))
    }
}

static void lists(void)
{
    void *list = PMIx_Info_list_start(), *next = NULL;
    pmix_data_array_t array;
    pmix_value_t v = {.type = PMIX_INT}, none = {.type = 9999};
    pmix_info_t info = {0};

    BAD(PMIx_Info_list_add(NULL, "k", &number, PMIX_INT))
    BAD(PMIx_Info_list_add(list, NULL, &number, PMIX_INT))
    BAD(PMIx_Info_list_add_unique(NULL, "k", &number, PMIX_INT, true))
    BAD(PMIx_Info_list_add_unique(list, NULL, &number, PMIX_INT, true))
    BAD(PMIx_Info_list_prepend(NULL, "k", &number, PMIX_INT))
    BAD(PMIx_Info_list_prepend(list, NULL, &number, PMIX_INT))
    BAD(PMIx_Info_list_add_value(NULL, "k", &v))
    BAD(PMIx_Info_list_add_value(list, NULL, &v))
    BAD(PMIx_Info_list_add_value(list, "k", NULL))
    UNKNOWN(PMIx_Info_list_add_value(list, "k", &none))
    BAD(PMIx_Info_list_add_value_unique(NULL, "k", &v, true))
    BAD(PMIx_Info_list_add_value_unique(list, NULL, &v, true))
    BAD(PMIx_Info_list_add_value_unique(list, "k", NULL, true))
    BAD(PMIx_Info_list_xfer(NULL, &info))
    BAD(PMIx_Info_list_xfer(list, NULL))
    BAD(PMIx_Info_list_xfer_unique(NULL, &info, true))
    BAD(PMIx_Info_list_xfer_unique(list, NULL, true))
    BAD(PMIx_Info_list_insert(NULL, &info))
    BAD(PMIx_Info_list_insert(list, NULL))
    BAD(PMIx_Info_list_convert(NULL, &array))
    BAD(PMIx_Info_list_convert(list, NULL))
    IS(PMIX_ERR_EMPTY, PMIx_Info_list_convert(list, &array))
    SO(!array.array && array.size == 0)
    IS(NULL, PMIx_Info_list_get_info(NULL, NULL, &next))
    IS(NULL, PMIx_Info_list_get_info(list, NULL, &next))
    IS(NULL, PMIx_Info_list_get_info(list, NULL, NULL))
    IS(0, PMIx_Info_list_get_size(NULL))
    for (size_t i = 0; i < N_NO_TYPES; i++) {
        UNKNOWN(PMIx_Info_list_add(list, "k", &number, no_types[i]))
        UNKNOWN(PMIx_Info_list_prepend(list, "k", &number, no_types[i]))
        UNKNOWN(PMIx_Info_list_add_unique(list, "k", &number, no_types[i], false))
    }
    IS(0, PMIx_Info_list_get_size(list))
    RUNS(PMIx_Info_list_release(NULL))
    RUNS(PMIx_Info_list_release(list))
    RUNS(PMIx_Info_list_release(PMIx_Info_list_start()))
}

static void loads_of_others(void)
{
    pmix_byte_object_t bo;
    pmix_envar_t envar;
    pmix_regattr_t regattr;
    pmix_pdata_t pdata, copy;

    RUNS(PMIx_Byte_object_load(NULL, NULL, 0))
    RUNS(PMIx_Byte_object_load(&bo, NULL, 9))
    SO(bo.size == 0)
    RUNS(PMIx_Envar_load(NULL, NULL, NULL, ':'))
    RUNS(PMIx_Envar_load(&envar, NULL, NULL, ':'))
    RUNS(PMIx_Envar_destruct(&envar))
    PMIx_Regattr_construct(&regattr);
    RUNS(PMIx_Regattr_load(NULL, NULL, NULL, 0, NULL))
    RUNS(PMIx_Regattr_load(&regattr, NULL, NULL, 9999, NULL))
    RUNS(PMIx_Regattr_xfer(NULL, &regattr))
    RUNS(PMIx_Regattr_xfer(&regattr, NULL))
    RUNS(PMIx_Regattr_destruct(&regattr))
    RUNS(PMIx_Pdata_load(NULL, NULL, NULL, NULL, 0))
    RUNS(PMIx_Pdata_load(&pdata, NULL, NULL, &number, 9999))
    SO(pdata.value.type == PMIX_UNDEF)
    RUNS(PMIx_Pdata_xfer(NULL, &pdata))
    RUNS(PMIx_Pdata_xfer(&copy, NULL))
    RUNS(PMIx_Pdata_destruct(&copy))
    RUNS(PMIx_Pdata_destruct(&pdata))
}

void rows_of_values(void)
{
    loading();
    hollow_values();
    infos();
    lists();
    loads_of_others();
}

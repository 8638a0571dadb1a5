/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of values: the same as the reference implementation's wherever it has one. */
#include "core/types/names.h"
#include "core/types/type.h"
#include "px_test.h"
#include "reference.h"

#include <dlfcn.h>
#include <string.h>

/* One function of each signature, made callable with any number. */
#define ENUMERATION(Name, c_type)                           \
    static const char *call_##Name(void *f, long value)     \
    {                                                       \
        return ((const char *(*)(c_type))f)((c_type)value); \
    }                                                       \
    static const char *own_##Name(long value)               \
    {                                                       \
        return PMIx_##Name##_string((c_type)value);         \
    }
ENUMERATION(Error, pmix_status_t)
ENUMERATION(Proc_state, pmix_proc_state_t)
ENUMERATION(Job_state, pmix_job_state_t)
ENUMERATION(Scope, pmix_scope_t)
ENUMERATION(Data_range, pmix_data_range_t)
ENUMERATION(Persistence, pmix_persistence_t)
ENUMERATION(Data_type, pmix_data_type_t)
ENUMERATION(Alloc_directive, pmix_alloc_directive_t)
ENUMERATION(IOF_channel, pmix_iof_channel_t)
ENUMERATION(Link_state, pmix_link_state_t)
ENUMERATION(Device_type, pmix_device_type_t)
ENUMERATION(Value_comparison, pmix_value_cmp_t)

#define ROW(Name, first, last, fallback)                                        \
    {                                                                           \
        "PMIx_" #Name "_string", call_##Name, own_##Name, first, last, fallback \
    }

static const struct {
    const char *function;
    const char *(*call)(void *f, long value);
    const char *(*own)(long value);
    long first, last;
    const char *fallback; /* for values without a name */
} enumerations[] = {
    ROW(Error, -1000, 100,
        "ERROR STRING NOT FOUND"), /* those below are internal to it */
    ROW(Proc_state, 0, 255, "UNKNOWN STATE"),
    ROW(Job_state, 0, 255, "UNKNOWN"),
    ROW(Scope, 0, 255, "UNKNOWN SCOPE"),
    ROW(Data_range, 0, 255, "UNKNOWN"),
    ROW(Persistence, 0, 255, "UNKNOWN PERSISTENCE"),
    ROW(Data_type, 0, 600, "NOT INITIALIZED"),
    ROW(Alloc_directive, 0, 255, "UNSPECIFIED"),
    ROW(IOF_channel, 0, 300, "NONE"),
    ROW(Link_state, 0, 255, "UNKNOWN"),
    ROW(Device_type, 0, 2100, "UNKNOWN"),
    ROW(Value_comparison, 0, 10, "UNKNOWN VALUE"),
};

/* Names for what the reference has a constant for, but no name, or neither. */
static const struct {
    const char *function;
    long value;
} additions[] = {
    {"PMIx_Error_string", PMIX_PROCESS_SET_DELETE},
    {"PMIx_Error_string", PMIX_ERR_NOT_A_MEMBER},
    {"PMIx_Error_string", PMIX_ERR_SYS_LIMITS_FILES},
    {"PMIx_Error_string", PMIX_ERR_LOST_CONNECTION_TO_SERVER},
    {"PMIx_Error_string", PMIX_ERR_LOST_PEER_CONNECTION},
    {"PMIx_Error_string", PMIX_ERR_LOST_CONNECTION_TO_CLIENT},
    {"PMIx_Error_string", PMIX_MONITOR_RESUSAGE_UPDATE},
    {"PMIx_Error_string", PMIX_MODEL_RESOURCES},
    {"PMIx_Error_string", PMIX_ALLOC_TIMEOUT_WARNING},
    {"PMIx_Error_string", PMIX_DVM_IS_READY},
    {"PMIx_Error_string", PMIX_ERR_DVM_MOD},
    {"PMIx_Error_string", PMIX_ERR_LOST_PRECISION},
    {"PMIx_Error_string", PMIX_ERR_CHANGE_SIGN},
    {"PMIx_Error_string", PMIX_ERR_IOF_XOFF},
    {"PMIx_Scope_string", PMIX_DEL_LOCAL},
    {"PMIx_Scope_string", PMIX_DEL_REMOTE},
    {"PMIx_Scope_string", PMIX_DEL_GLOBAL},
    {"PMIx_Scope_string", PMIX_DEL_INTERNAL},
    {"PMIx_Alloc_directive_string", PMIX_ALLOC_REQ_CANCEL},
    {"PMIx_Device_type_string", PMIX_DEVTYPE_MEMORY},
    {"PMIx_Device_type_string", PMIX_DEVTYPE_CORE},
    {"PMIx_Device_type_string", PMIX_DEVTYPE_HWT},
    {"PMIx_Device_type_string", PMIX_DEVTYPE_CPU},
    {"PMIx_Device_type_string", PMIX_DEVTYPE_NODE},
    {"PMIx_Data_type_string", PMIX_LOCTYPE},
    {"PMIx_Data_type_string", PMIX_COMPRESSED_BYTE_OBJECT},
    {"PMIx_Data_type_string", PMIX_STOR_MEDIUM},
    {"PMIx_Data_type_string", PMIX_STOR_ACCESS},
    {"PMIx_Data_type_string", PMIX_STOR_PERSIST},
    {"PMIx_Data_type_string", PMIX_STOR_ACCESS_TYPE},
    {"PMIx_Data_type_string", PMIX_DEVICE},
    {"PMIx_Data_type_string", PMIX_RESBLOCK_DIRECTIVE},
    {"PMIx_Data_type_string", PMIX_RESOURCE_UNIT},
    {"PMIx_Data_type_string", PMIX_NODE_PID},
    {"PMIx_Data_type_string", PMIX_REGEX2},
    {"PMIx_Data_type_string", PMIX_ALLOC_INHERIT},
};

static bool is_addition(const char *function, long value)
{
    for (size_t i = 0; i < PX_COUNT(additions); i++) {
        if (additions[i].value == value && strcmp(additions[i].function, function) == 0)
            return true;
    }
    return false;
}

PX_TEST(names_equal_those_of_the_reference_implementation)
{
    void *lib = reference_open();

    PX_TEST_NEEDS(lib, "an installed OpenPMIx 4.2");
    for (size_t e = 0; e < PX_COUNT(enumerations); e++) {
        const char *function = enumerations[e].function;
        void *theirs = dlsym(lib, function);

        ck_assert_msg(theirs, "%s", function);
        for (long v = enumerations[e].first; v <= enumerations[e].last; v++) {
            const char *expected = enumerations[e].call(theirs, v);

            if (is_addition(function, v))
                ck_assert_str_eq(expected, enumerations[e].fallback);
            else
                ck_assert_msg(strcmp(enumerations[e].own(v), expected) == 0,
                              "%s(%ld) is '%s', not '%s'", function, v, expected,
                              enumerations[e].own(v));
        }
    }
}

PX_TEST(flags_are_named_as_by_the_reference_implementation)
{
    void *lib = reference_open();

    PX_TEST_NEEDS(lib, "an installed OpenPMIx 4.2");
    char *(*theirs)(pmix_info_directives_t) = (char *(*)(pmix_info_directives_t))dlsym(
        lib, "PMIx_Info_directives_string");
    for (pmix_info_directives_t flags = 0; flags < 128; flags++) {
        char *expected = theirs(flags), *own = PMIx_Info_directives_string(flags);

        ck_assert_str_eq(own, expected);
        free(expected);
        free(own);
    }
}

PX_TEST(newer_constants_have_names)
{
    for (size_t i = 0; i < PX_COUNT(additions); i++) {
        for (size_t e = 0; e < PX_COUNT(enumerations); e++) {
            if (strcmp(enumerations[e].function, additions[i].function) == 0)
                ck_assert_str_ne(enumerations[e].own(additions[i].value),
                                 enumerations[e].fallback);
        }
    }
    ck_assert_str_eq(PMIx_Group_operation_string(PMIX_GROUP_CONSTRUCT), "CONSTRUCT");
    ck_assert_str_eq(PMIx_Resource_block_directive_string(PMIX_RESOURCE_BLOCK_DEFINE),
                     "DEFINE");
    ck_assert_str_eq(PMIx_Alloc_inheritance_string(PMIX_ALLOC_INHERIT_CHILD_DEFAULT),
                     "CHILD_DEFAULT");
    ck_assert_str_eq(px_name_of(PMIX_ALLOC_INHERIT, PMIX_ALLOC_INHERIT_CHILD), "CHILD");
}

PX_TEST(values_without_a_name_say_so)
{
    for (size_t e = 0; e < PX_COUNT(enumerations); e++) {
        long beyond = strcmp(enumerations[e].function, "PMIx_IOF_channel_string") ? 199
                                                                                  : 16;

        ck_assert_str_eq(enumerations[e].own(beyond), enumerations[e].fallback);
    }
    ck_assert_str_eq(PMIx_Group_operation_string((pmix_group_operation_t)99),
                     "UNKNOWN VALUE");
    ck_assert_str_eq(PMIx_Alloc_inheritance_string(99), "UNSPECIFIED");
    ck_assert_str_eq(PMIx_Resource_block_directive_string(99), "UNSPECIFIED");
}

PX_TEST(types_are_named_as_in_the_table)
{
    for (pmix_data_type_t id = 1; id <= 75; id++) {
        if (px_type_find(id))
            ck_assert_str_eq(PMIx_Data_type_string(id), px_type_find(id)->name);
    }
}

PX_TEST(types_that_are_no_enumerations_have_no_names)
{
    ck_assert_ptr_null(px_name_of(PMIX_UINT32, 1));
    ck_assert_ptr_null(px_name_of(29, 1));
    ck_assert_ptr_null(px_name_of(PMIX_PROC_RANK, 5));
    ck_assert_str_eq(px_name_of(PMIX_PROC_RANK, PMIX_RANK_WILDCARD), "WILDCARD");
    ck_assert_ptr_null(px_name_of(PMIX_DATA_TYPE, -1));
    ck_assert_ptr_null(px_name_of(PMIX_DATA_TYPE, 65536 + PMIX_BOOL));
}

PX_TEST_MAIN("types/names", NULL, NULL)

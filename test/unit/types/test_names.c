/* SPDX-License-Identifier: BSD-3-Clause */
/* Names of values, status codes and the dictionary of attributes: tested alone and
 * compared with the reference implementation where it is installed. */
#include "core/types/names.h"

#include "core/base/attr.h"
#include "pmix_connect.h"
#include "pmix_version.h"
#include "core/types/keys.h"
#include "core/types/type.h"
#include "incumbent.h"
#include "px_test.h"

#include <dlfcn.h>
#include <stdint.h>
#include <string.h>
#include <strings.h>

#ifndef REFERENCE_INCLUDEDIR
#define REFERENCE_INCLUDEDIR ""
#endif

/* Returns a handle for dlsym, or NULL if OpenPMIx 4.2 is not installed. */
static void *reference_open(void)
{
    void *lib = px_test_incumbent();
    const char *(*version)(void) = NULL;

    if (lib)
        *(void **)&version = dlsym(lib, "PMIx_Get_version");
    return version && strstr(version(), "OpenPMIx 4.2") ? lib : NULL;
}

/* ---- values ---------------------------------------------------------------------------------- */

/* Wraps one function of each signature so that it takes any number. */
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
    const char *fallback; /* text for values without a name */
} enumerations[] = {
    ROW(Error, -1000, 100,
        "ERROR STRING NOT FOUND"), /* constants below are internal to the reference */
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

/* Compares the names that the reference has; newer constants have none there. */
PX_TEST(names_equal_those_of_the_reference_implementation)
{
    void *lib = reference_open();

    PX_TEST_NEEDS(lib, "an installed OpenPMIx 4.2");
    for (size_t e = 0; e < PX_COUNT(enumerations); e++) {
        const char *function = enumerations[e].function;
        void *theirs = dlsym(lib, function);

        ck_assert_msg(theirs, "%s", function);
        if (strcmp(function, "PMIx_Error_string") == 0 && PMIX_VERSION_MAJOR >= 5)
            continue; /* texts differ from 4.2 */
        for (long v = enumerations[e].first; v <= enumerations[e].last; v++) {
            const char *expected = enumerations[e].call(theirs, v);

            if (strcmp(expected, enumerations[e].fallback) != 0)
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
    ck_assert_str_eq(PMIx_Scope_string(PMIX_DEL_INTERNAL), "DELETE INTERNALLY");
    ck_assert_str_eq(PMIx_Alloc_directive_string(PMIX_ALLOC_REQ_CANCEL),
                     "CANCEL REQUEST");
    ck_assert_str_eq(PMIx_Device_type_string(PMIX_DEVTYPE_NODE), "NODE");
    ck_assert_str_eq(PMIx_Group_operation_string(PMIX_GROUP_CONSTRUCT), "CONSTRUCT");
    ck_assert_str_eq(PMIx_Resource_block_directive_string(PMIX_RESOURCE_BLOCK_DEFINE),
                     "DEFINE");
    ck_assert_str_eq(PMIx_Alloc_inheritance_string(PMIX_ALLOC_INHERIT_CHILD_DEFAULT),
                     "CHILD_DEFAULT");
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

/* ---- statuses -------------------------------------------------------------------------------- */

PX_TEST(a_status_is_found_by_its_text_its_constant_and_a_former_one)
{
    static const char *const names[] = {"NOT-FOUND", "not-found", "PMIX_ERR_NOT_FOUND",
                                        "err_not_found"};

    for (size_t i = 0; i < PX_COUNT(names); i++)
        fails(PMIx_Error_code(names[i]), NOT_FOUND);
    fails(PMIx_Error_code("PMIX_EXISTS"), EXISTS);
    ok(PMIx_Error_code("SUCCESS"));
}

PX_TEST(a_status_goes_by_the_form_of_the_claimed_release)
{
    ck_assert_str_eq(px_status_name(PMIX_ERR_NOT_FOUND, false), "NOT-FOUND");
    ck_assert_str_eq(px_status_name(PMIX_ERR_NOT_FOUND, true), "PMIX_ERR_NOT_FOUND");
    ck_assert_str_eq(px_status_name(PMIX_DEBUGGER_RELEASE, true),
                     "PMIX_DEBUGGER_RELEASE");
    ck_assert_ptr_null(px_status_name(1, true));
    unsigned n_named = 0;
    for (pmix_status_t s = -4000; s <= 100; s++) {
        const char *text = px_status_name(s, false), *name = px_status_name(s, true);

        ck_assert_int_eq(!text, !name);
        if (!text)
            continue;
        ck_assert_int_eq(PMIx_Error_code(text), s);
        ck_assert_int_eq(PMIx_Error_code(name), s);
        ck_assert_str_eq(PMIx_Error_string(s), PMIX_VERSION_MAJOR >= 5 ? name : text);
        ck_assert_str_eq(px_name_of(PMIX_STATUS, s), PMIx_Error_string(s));
        n_named++;
    }
    ck_assert_uint_gt(n_named, 150);
}

/* Checks the statuses among the constants of a header: negative numbers and names of
 * other statuses. */
static unsigned check_header(const char *path)
{
    FILE *f = fopen(path, "r");
    char line[512], name[128], value[128];
    unsigned n = 0;
    int number;

    ck_assert_ptr_nonnull(f);
    while (fgets(line, sizeof(line), f)) {
        if (sscanf(line, "#define %127[A-Z0-9_] %127s", name, value) != 2 ||
            strcmp(name, "PMIX_EXTERNAL_ERR_BASE") == 0)
            continue;
        bool is_number = sscanf(value, "(%d)", &number) == 1 && number < 0;
        if (!is_number && PMIx_Error_code(value) == INT32_MIN)
            continue;
        n++;
        ck_assert_msg(PMIx_Error_code(name) ==
                          (is_number ? number : PMIx_Error_code(value)),
                      "%s", name);
        ck_assert_str_ne(PMIx_Error_string(PMIx_Error_code(name)),
                         "ERROR STRING NOT FOUND");
    }
    fclose(f);
    return n;
}

PX_TEST(every_status_of_the_headers_has_a_name)
{
    ck_assert_uint_ge(check_header(PX_INCLUDE_DIR "/pmix_status.h"), 100);
    ck_assert_uint_ge(check_header(PX_INCLUDE_DIR "/pmix_deprecated.h"), 40);
}

/* ---- attributes ------------------------------------------------------------------------------ */

PX_TEST(names_and_keys_are_found_in_any_case)
{
    ck_assert_str_eq(PMIx_Get_attribute_string("PMIX_TIMEOUT"), PMIX_TIMEOUT);
    ck_assert_str_eq(PMIx_Get_attribute_string("pmix_Timeout"), PMIX_TIMEOUT);
    ck_assert_str_eq(PMIx_Get_attribute_name(PMIX_TIMEOUT), "PMIX_TIMEOUT");
    ck_assert_str_eq(PMIx_Get_attribute_name("PMIX.timeout"), "PMIX_TIMEOUT");
}

PX_TEST(what_is_unknown_is_its_own_answer)
{
    static const char key[] = PMIX_TIMEOUT, name[] = "PMIX_TIMEOUT";
    static const char *const unknown[] = {
        "",        "PMIX_",           "pmix.",
        "PMIX_T",  "PMIX_TIMEOUTS",   "pmix.timeouts",
        "zzz",     "PMIX.TIMEOUT_",   "\xff\xfe",
        "foo.bar", "PMIX_UNHEARD_OF", PMIX_KEEPALIVE_PIPE};

    for (size_t i = 0; i < PX_COUNT(unknown); i++) {
        ck_assert_ptr_eq(PMIx_Get_attribute_string(unknown[i]), unknown[i]);
        ck_assert_ptr_eq(PMIx_Get_attribute_name(unknown[i]), unknown[i]);
    }
    ck_assert_ptr_eq(PMIx_Get_attribute_string(key), key); /* not a name */
    ck_assert_ptr_eq(PMIx_Get_attribute_name(name), name); /* not a key */
}

PX_TEST(every_row_is_found)
{
    for (size_t i = 0; i < px_n_keys; i++) {
        const struct px_key *row = &px_keys[i];
        const struct px_key *owner = px_key_by_string(row->key);

        ck_assert_ptr_eq(px_key_by_name(row->name), row);
        ck_assert_ptr_nonnull(owner);
        ck_assert_str_eq(owner->key, row->key);
        if (row->newer)
            ck_assert_ptr_eq(px_key_by_string(row->newer), row);
        ck_assert(strlen(row->key) <= PMIX_MAX_KEYLEN);
        ck_assert_str_ne(row->text, "");
    }
    for (size_t i = 0; i < px_n_key_owners; i++)
        ck_assert_ptr_eq(px_key_by_string(px_key_owners[i].key),
                         &px_keys[px_key_owners[i].index]);
}

PX_TEST(a_shared_key_has_the_name_in_use)
{
    static const struct {
        const char *key, *name, *other;
    } shared[] = {
        {"pmix.alloc.net", "PMIX_ALLOC_FABRIC", "PMIX_ALLOC_NETWORK"},
        {"pmix.pdata", "PMIX_PROC_INFO_ARRAY", "PMIX_PROC_DATA"},
        {"pmix.qry.quals", "PMIX_QUERY_QUALIFIERS", "PMIX_QUERY_SUPPORTED_QUALIFIERS"},
        {"pmix.evname", "PMIX_EVENT_HDLR_NAME", "PMIX_PROGRESS_THREAD_NAME"},
        {"pmix.fab.coord", "PMIX_FABRIC_COORDINATES", "PMIX_FABRIC_DEVICE_COORDINATES"},
        {"pmix.jctrl.ckptsig", "PMIX_JOB_CTRL_CHECKPOINT_SIGNAL",
         "PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT"},
    };

    for (size_t i = 0; i < PX_COUNT(shared); i++) {
        ck_assert_str_eq(PMIx_Get_attribute_name(shared[i].key), shared[i].name);
        ck_assert_str_eq(PMIx_Get_attribute_string(shared[i].name), shared[i].key);
        ck_assert_str_eq(PMIx_Get_attribute_string(shared[i].other), shared[i].key);
    }
}

PX_TEST(types_are_those_of_the_values)
{
    static const struct {
        const char *key;
        pmix_data_type_t type;
    } rows[] = {
        {PMIX_COLLECT_DATA, PMIX_BOOL},
        {PMIX_NODE_LIST, PMIX_STRING},
        {PMIX_PARENT_ID, PMIX_PROC},
        {PMIX_APPLDR, PMIX_PROC_RANK},
        {PMIX_LOCAL_PROCS, PMIX_DATA_ARRAY},
        {PMIX_SET_ENVAR, PMIX_ENVAR},
        {PMIX_EVENT_RETURN_OBJECT, PMIX_POINTER},
        {PMIX_ALLOC_INHERITANCE, PMIX_ALLOC_INHERIT},
        {PMIX_MAX_VALUE, PMIX_UNDEF},
        {PMIX_ATTR_UNDEF, PMIX_UNDEF},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert_int_eq(px_key_by_string(rows[i].key)->type, rows[i].type);
}

typedef const char *(*lookup_fn)(const char *);

/* Compares names and keys of attributes with the definitions in a header of the
 * reference. */
static unsigned compare_header(const char *path, lookup_fn string_of, lookup_fn name_of)
{
    FILE *f = fopen(path, "r");
    char line[1024], name[128], key[512];
    unsigned n = 0;

    while (f && fgets(line, sizeof(line), f)) {
        if (sscanf(line, "#define %127s \"%511[^\"]\"", name, key) != 2 ||
            strncmp(key, "pmix.", 5) != 0)
            continue;
        n++;
        ck_assert_str_eq(PMIx_Get_attribute_string(name), key);
        ck_assert_str_eq(string_of(name), key);
        ck_assert_msg(strcmp(PMIx_Get_attribute_name(key), name_of(key)) == 0,
                      "%s is called '%s', not '%s'", key, name_of(key),
                      PMIx_Get_attribute_name(key));
    }
    if (f)
        fclose(f);
    return n;
}

PX_TEST(the_dictionary_agrees_with_the_reference_implementation)
{
    static const char folder[] = REFERENCE_INCLUDEDIR;
    void *lib = reference_open();

    PX_TEST_NEEDS(lib && folder[0], "an installed OpenPMIx 4.2 with its headers");
    lookup_fn string_of = (lookup_fn)dlsym(lib, "PMIx_Get_attribute_string");
    lookup_fn name_of = (lookup_fn)dlsym(lib, "PMIx_Get_attribute_name");
    unsigned n = compare_header(REFERENCE_INCLUDEDIR "/pmix_common.h", string_of,
                                name_of);

    n += compare_header(REFERENCE_INCLUDEDIR "/pmix_deprecated.h", string_of, name_of);
    ck_assert_uint_ge(n, 500);
}

PX_TEST_MAIN("types/names", NULL, NULL)

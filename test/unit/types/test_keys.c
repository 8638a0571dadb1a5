/* SPDX-License-Identifier: BSD-3-Clause */
/* The dictionary of attributes: by itself, and against the reference implementation's for every
 * attribute of the headers that were installed with it. */
#include "core/types/keys.h"

#include "core/base/attr.h"
#include "px_test.h"
#include "reference.h"

#include <dlfcn.h>
#include <string.h>
#include <strings.h>

PX_TEST(names_and_keys_are_found_in_any_case)
{
    ck_assert_str_eq(PMIx_Get_attribute_string("PMIX_TIMEOUT"), PMIX_TIMEOUT);
    ck_assert_str_eq(PMIx_Get_attribute_string("pmix_Timeout"), PMIX_TIMEOUT);
    ck_assert_str_eq(PMIx_Get_attribute_name(PMIX_TIMEOUT), "PMIX_TIMEOUT");
    ck_assert_str_eq(PMIx_Get_attribute_name("PMIX.timeout"), "PMIX_TIMEOUT");
}

PX_TEST(what_is_unknown_is_its_own_answer)
{
    static const char *const unknown[] = {
        "",        "PMIX_",           "pmix.",
        "PMIX_T",  "PMIX_TIMEOUTS",   "pmix.timeouts",
        "zzz",     "PMIX.TIMEOUT_",   "\xff\xfe",
        "foo.bar", "PMIX_UNHEARD_OF", PMIX_KEEPALIVE_PIPE};

    for (size_t i = 0; i < PX_COUNT(unknown); i++) {
        ck_assert_ptr_eq(PMIx_Get_attribute_string(unknown[i]), unknown[i]);
        ck_assert_ptr_eq(PMIx_Get_attribute_name(unknown[i]), unknown[i]);
    }
    ck_assert_ptr_null(PMIx_Get_attribute_string(NULL));
    ck_assert_ptr_null(PMIx_Get_attribute_name(NULL));
}

PX_TEST(a_key_is_not_a_name)
{
    static const char key[] = PMIX_TIMEOUT, name[] = "PMIX_TIMEOUT";

    ck_assert_ptr_eq(PMIx_Get_attribute_string(key), key);
    ck_assert_ptr_eq(PMIx_Get_attribute_name(name), name);
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

PX_TEST(newer_keys_have_names)
{
    ck_assert_str_eq(PMIx_Get_attribute_name("pmix.pthrdnm"),
                     "PMIX_PROGRESS_THREAD_NAME");
    ck_assert_str_eq(PMIx_Get_attribute_name("pmix.qry.supqual"),
                     "PMIX_QUERY_SUPPORTED_QUALIFIERS");
    ck_assert_str_eq(PMIx_Get_attribute_name("pmix.fabdev.coord"),
                     "PMIX_FABRIC_DEVICE_COORDINATES");
    ck_assert_str_eq(PMIx_Get_attribute_name("pmix.jctrl.ckpttime"),
                     "PMIX_JOB_CTRL_CHECKPOINT_TIMEOUT");
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

#ifndef REFERENCE_INCLUDEDIR
#define REFERENCE_INCLUDEDIR ""
#endif

typedef const char *(*lookup_fn)(const char *);

/* The attributes of one of its headers: names and keys as it defines them. */
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

/* What it does not know, newer attributes, it echoes. */
PX_TEST(the_reference_implementation_contradicts_no_row)
{
    void *lib = reference_open();

    PX_TEST_NEEDS(lib, "an installed OpenPMIx 4.2");
    lookup_fn string_of = (lookup_fn)dlsym(lib, "PMIx_Get_attribute_string");

    for (size_t i = 0; i < px_n_keys; i++) {
        const char *theirs = string_of(px_keys[i].name);

        if (strcmp(theirs, px_keys[i].name) != 0)
            ck_assert_str_eq(theirs, px_keys[i].key);
    }
}

PX_TEST_MAIN("types/keys", NULL, NULL)

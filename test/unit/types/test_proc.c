/* SPDX-License-Identifier: BSD-3-Clause */
/* Identities of processes, keys and namespaces of other clusters; string vectors and
 * environments under their public names. */
#include "alloc_fail.h"
#include "core/base/strv.h"
#include "core/types/type.h"
#include "px_test.h"

#include <string.h>

PX_TEST(loading_cuts_to_fit_and_clears_the_rest)
{
    char text[1000];
    pmix_key_t key;
    pmix_nspace_t nspace;

    memset(text, 'x', sizeof(text));
    text[sizeof(text) - 1] = '\0';
    PMIx_Load_key(key, text);
    PMIx_Load_nspace(nspace, text);
    ck_assert_uint_eq(strlen(key), PMIX_MAX_KEYLEN);
    ck_assert_uint_eq(strlen(nspace), PMIX_MAX_NSLEN);

    PMIx_Load_nspace(nspace, "a");
    for (size_t i = 1; i < sizeof(nspace); i++)
        ck_assert_int_eq(nspace[i], '\0');
    PMIx_Load_key(key, NULL);
    ck_assert_str_eq(key, "");
}

PX_TEST(processes_are_loaded_and_copied)
{
    pmix_proc_t proc, copy;

    memset(&proc, 0xaa, sizeof(proc));
    PMIx_Load_procid(&proc, "job", 3);
    PMIx_Xfer_procid(&copy, &proc);
    ck_assert_str_eq(copy.nspace, "job");
    ck_assert_uint_eq(copy.rank, 3);
    PMIx_Proc_load(&proc, NULL, 4);
    ck_assert_str_eq(proc.nspace, "");
    ck_assert_uint_eq(proc.rank, 4);
    px_proc_set(&copy, copy.nspace, 5); /* the structure's own namespace */
    ck_assert_str_eq(copy.nspace, "job");
}

PX_TEST(sameness_is_exact_and_matching_takes_wildcards)
{
    pmix_proc_t one = {"job", 1}, two = {"job", 2}, all = {"job", PMIX_RANK_WILDCARD};
    pmix_proc_t other = {"other", 1};

    ck_assert(px_proc_same(&one, &one) && !px_proc_same(&one, &two));
    ck_assert(!px_proc_same(&one, &all) && !px_proc_same(&one, &other));
    ck_assert(px_proc_match(&one, &all) && px_proc_match(&all, &two));
    ck_assert(!px_proc_match(&one, &two) && !px_proc_match(&other, &all));
}

PX_TEST(keys_are_compared_whole_and_namespaces_and_ranks_with_their_wildcards)
{
    ck_assert(PMIx_Check_key("pmix.a", "pmix.a"));
    ck_assert(!PMIx_Check_key("pmix.a", "pmix.ab"));
    ck_assert(!PMIx_Check_key("pmix.ab", "pmix.a"));

    ck_assert(PMIx_Check_reserved_key("pmix.rank") && PMIx_Check_reserved_key("pmix"));
    ck_assert(!PMIx_Check_reserved_key("my.pmix") && !PMIx_Check_reserved_key(""));

    ck_assert(PMIx_Check_nspace("a", "a") && !PMIx_Check_nspace("a", "b"));
    ck_assert(PMIx_Check_nspace("", "b") && PMIx_Check_nspace("a", NULL));
    ck_assert(!PMIx_Check_nspace("a", "ab"));
    ck_assert(PMIx_Nspace_invalid(NULL) && PMIx_Nspace_invalid(""));
    ck_assert(!PMIx_Nspace_invalid("a"));

    ck_assert(PMIx_Check_rank(1, 1) && !PMIx_Check_rank(1, 2));
    ck_assert(PMIx_Check_rank(1, PMIX_RANK_WILDCARD));
    ck_assert(PMIx_Check_rank(PMIX_RANK_WILDCARD, 1));
    ck_assert(!PMIx_Check_rank(1, PMIX_RANK_UNDEF));

    ck_assert(PMIx_Rank_valid(0) && PMIx_Rank_valid(PMIX_RANK_VALID - 1));
    ck_assert(!PMIx_Rank_valid(PMIX_RANK_VALID) &&
              !PMIx_Rank_valid(PMIX_RANK_WILDCARD));
    ck_assert(!PMIx_Rank_valid(PMIX_RANK_UNDEF));
}

PX_TEST(processes_match_by_namespace_and_rank)
{
    pmix_proc_t one = {"job", 1}, any = {"", PMIX_RANK_WILDCARD}, two = {"job", 2};
    pmix_proc_t invalid = {"job", PMIX_RANK_INVALID};

    ck_assert(PMIx_Check_procid(&one, &any) && !PMIx_Check_procid(&one, &two));
    ck_assert(!PMIx_Check_procid(&one, NULL));
    ck_assert(PMIx_Procid_invalid(&any) && PMIx_Procid_invalid(&invalid));
    ck_assert(PMIx_Procid_invalid(NULL) && !PMIx_Procid_invalid(&one));
}

PX_TEST(a_namespace_of_another_cluster_is_joined_and_parted)
{
    pmix_nspace_t cluster = "east", nspace = "job", joined, a, b;

    PMIx_Multicluster_nspace_construct(joined, cluster, nspace);
    ck_assert_str_eq(joined, "east:job");
    memset(a, 0x55, sizeof(a));
    memset(b, 0x55, sizeof(b));
    PMIx_Multicluster_nspace_parse(joined, a, b);
    ck_assert_str_eq(a, "east");
    ck_assert_str_eq(b, "job");
    PMIx_Multicluster_nspace_parse(nspace, a, b);
    ck_assert_str_eq(a, "");
    ck_assert_str_eq(b, "job");
}

PX_TEST(a_joined_namespace_is_cut_to_fit)
{
    pmix_nspace_t longest, joined;

    memset(longest, 'x', sizeof(longest));
    longest[PMIX_MAX_NSLEN] = '\0';
    PMIx_Multicluster_nspace_construct(joined, longest, longest);
    ck_assert_uint_eq(strlen(joined), PMIX_MAX_NSLEN);
    PMIx_Multicluster_nspace_construct(longest, longest,
                                       joined); /* output and input overlap */
    ck_assert_uint_eq(strlen(longest), PMIX_MAX_NSLEN);
}

/* ---- vectors and environments ---------------------------------------------------------------- */

static void assert_split(const char *s, bool keep_empty, const char *expected)
{
    PX_AUTO(px_strv) argv = PMIx_Argv_split_inter(s, ',', keep_empty);
    PX_AUTOFREE char *joined = PMIx_Argv_join(argv, '|');

    ck_assert_str_eq(joined, expected);
}

PX_TEST(vectors_grow_at_both_ends)
{
    PX_AUTO(px_strv) argv = NULL;

    ok(PMIx_Argv_append_nosize(&argv, "b"));
    ok(PMIx_Argv_append_nosize(&argv, "b"));
    ok(PMIx_Argv_prepend_nosize(&argv, "a"));
    ok(PMIx_Argv_append_unique_nosize(&argv, "b"));
    ok(PMIx_Argv_append_unique_nosize(&argv, "c"));

    PX_AUTOFREE char *joined = PMIx_Argv_join(argv, ' ');
    ck_assert_str_eq(joined, "a b b c");
    ck_assert_int_eq(PMIx_Argv_count(argv), 4);
}

PX_TEST(splitting_leaves_out_or_keeps_empty_parts)
{
    assert_split("a,,b,", false, "a|b");
    assert_split("a,,b,", true, "a||b");
    assert_split(",a", true, "|a");
    assert_split("abc", true, "abc");

    PX_AUTO(px_strv) plain = PMIx_Argv_split("a,,b", ',');
    PX_AUTO(px_strv) all = PMIx_Argv_split_with_empty("a,,b", ',');
    ck_assert_int_eq(PMIx_Argv_count(plain), 2);
    ck_assert_int_eq(PMIx_Argv_count(all), 3);
}

PX_TEST(copies_share_nothing)
{
    PX_AUTO(px_strv) argv = PMIx_Argv_split("a,b", ',');
    PX_AUTO(px_strv) copy = PMIx_Argv_copy(argv);

    ck_assert_ptr_ne(copy[1], argv[1]);
    ck_assert_str_eq(copy[1], "b");
    ck_assert_ptr_null(copy[2]);
}

PX_TEST(variables_are_set_and_only_overwritten_when_asked)
{
    PX_AUTO(px_strv) env = NULL;

    ok(PMIx_Setenv("A", "1", false, &env));
    fails(PMIx_Setenv("A", "2", false, &env), EXISTS);
    ck_assert_str_eq(env[0], "A=1");
    ok(PMIx_Setenv("A", "2", true, &env));
    ck_assert_str_eq(env[0], "A=2");
    ok(PMIx_Setenv("B", NULL, true, &env));
    ck_assert_str_eq(env[1], "B=");
    ck_assert_ptr_null(env[2]);
}

PX_TEST(the_processs_own_environment_is_libcs_to_change)
{
    ok(PMIx_Setenv("TENON_TEST", "1", false, &environ));
    ck_assert_str_eq(getenv("TENON_TEST"), "1");
    fails(PMIx_Setenv("TENON_TEST", "2", false, &environ), EXISTS);
    ok(PMIx_Setenv("TENON_TEST", NULL, true, &environ));
    ck_assert_ptr_null(getenv("TENON_TEST"));
}

PX_TEST(want_of_memory_is_want_of_resources)
{
    PX_AUTO(px_strv) argv = NULL;

    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(1);
    pmix_status_t rc = PMIx_Argv_append_nosize(&argv, "a");
    ck_assert(px_alloc_fail_end());
    fails(rc, OUT_OF_RESOURCE);
    ck_assert_ptr_null(argv);
}

PX_TEST_MAIN("types/proc", NULL, NULL)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Identities of processes, keys, namespaces of other clusters. */
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
    px_proc_set(&copy, copy.nspace, 5); /* its own namespace */
    ck_assert_str_eq(copy.nspace, "job");
    PMIx_Load_procid(NULL, "job", 3);
    PMIx_Xfer_procid(NULL, &proc);
    PMIx_Xfer_procid(&proc, NULL);
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

PX_TEST(keys_are_compared_whole)
{
    ck_assert(PMIx_Check_key("pmix.a", "pmix.a"));
    ck_assert(!PMIx_Check_key("pmix.a", "pmix.ab"));
    ck_assert(!PMIx_Check_key("pmix.ab", "pmix.a"));
    ck_assert(!PMIx_Check_key(NULL, "pmix.a") && !PMIx_Check_key("pmix.a", NULL));
}

PX_TEST(reserved_keys_begin_with_pmix)
{
    ck_assert(PMIx_Check_reserved_key("pmix.rank") && PMIx_Check_reserved_key("pmix"));
    ck_assert(!PMIx_Check_reserved_key("my.pmix") && !PMIx_Check_reserved_key(""));
    ck_assert(!PMIx_Check_reserved_key(NULL));
}

PX_TEST(an_invalid_namespace_matches_all)
{
    ck_assert(PMIx_Check_nspace("a", "a") && !PMIx_Check_nspace("a", "b"));
    ck_assert(PMIx_Check_nspace("", "b") && PMIx_Check_nspace("a", NULL));
    ck_assert(!PMIx_Check_nspace("a", "ab"));
    ck_assert(PMIx_Nspace_invalid(NULL) && PMIx_Nspace_invalid(""));
    ck_assert(!PMIx_Nspace_invalid("a"));
}

PX_TEST(the_wildcard_alone_matches_other_ranks)
{
    ck_assert(PMIx_Check_rank(1, 1) && !PMIx_Check_rank(1, 2));
    ck_assert(PMIx_Check_rank(1, PMIX_RANK_WILDCARD));
    ck_assert(PMIx_Check_rank(PMIX_RANK_WILDCARD, 1));
    ck_assert(!PMIx_Check_rank(1, PMIX_RANK_UNDEF));
}

PX_TEST(ranks_below_the_special_ones_are_valid)
{
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
    ck_assert_str_eq(a, "job");
    ck_assert_str_eq(b, "");
}

PX_TEST(a_joined_namespace_is_cut_to_fit)
{
    pmix_nspace_t longest, joined;

    memset(longest, 'x', sizeof(longest));
    longest[PMIX_MAX_NSLEN] = '\0';
    PMIx_Multicluster_nspace_construct(joined, longest, longest);
    ck_assert_uint_eq(strlen(joined), PMIX_MAX_NSLEN);
    PMIx_Multicluster_nspace_construct(longest, longest, joined); /* in place */
    ck_assert_uint_eq(strlen(longest), PMIX_MAX_NSLEN);
}

PX_TEST_MAIN("types/proc", NULL, NULL)

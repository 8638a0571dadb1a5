/* SPDX-License-Identifier: BSD-3-Clause */
/* Processes, keys, vectors of strings, and the texts of numbers that have no name. */
#include "rows.h"

#include <stdlib.h>

static void processes(void)
{
    char endless[2 * PMIX_MAX_NSLEN];
    pmix_nspace_t a = "a", b = "b", whole = "c:d";
    pmix_key_t key;
    pmix_proc_t p;

    memset(endless, 'x', sizeof(endless) - 1);
    endless[sizeof(endless) - 1] = '\0';
    RUNS(PMIx_Load_key(NULL, "k"))
    RUNS(PMIx_Load_key(key, NULL))
    SO(!key[0])
    RUNS(PMIx_Load_nspace(NULL, "n"))
    RUNS(PMIx_Load_nspace(p.nspace, NULL))
    SO(!p.nspace[0])
    RUNS(PMIx_Load_nspace(p.nspace, endless)) /* cut off, and it ends */
    SO(strnlen(p.nspace, sizeof(p.nspace)) == PMIX_MAX_NSLEN)
    RUNS(PMIx_Load_procid(NULL, "n", 0))
    RUNS(PMIx_Load_procid(&p, NULL, 3))
    SO(!p.nspace[0] && p.rank == 3)
    RUNS(PMIx_Proc_load(NULL, NULL, 0))
    RUNS(PMIx_Proc_load(&p, endless, 0))
    SO(strnlen(p.nspace, sizeof(p.nspace)) == PMIX_MAX_NSLEN)
    RUNS(PMIx_Xfer_procid(NULL, &p))
    RUNS(PMIx_Xfer_procid(&p, NULL))
    FREED("NULL", PMIx_Proc_string(NULL))
    IS(false, PMIx_Check_key(NULL, "k"))
    IS(false, PMIx_Check_key("k", NULL))
    IS(false, PMIx_Check_key(NULL, NULL))
    IS(false, PMIx_Check_reserved_key(NULL))
    IS(false, PMIx_Check_reserved_key(""))
    IS(true, PMIx_Nspace_invalid(NULL))
    IS(true, PMIx_Nspace_invalid(""))
    IS(true, PMIx_Check_nspace(NULL, "n")) /* none stands for any */
    IS(true, PMIx_Check_nspace("n", NULL))
    IS(false, PMIx_Check_procid(NULL, &p))
    IS(false, PMIx_Check_procid(&p, NULL))
    IS(true, PMIx_Procid_invalid(NULL))
    IS(false, PMIx_Rank_valid(PMIX_RANK_INVALID))
    IS(false, PMIx_Rank_valid(UINT32_MAX))
    IS(false, PMIx_Check_rank(PMIX_RANK_INVALID, 0))
    RUNS(PMIx_Multicluster_nspace_construct(NULL, a, b))
    RUNS(PMIx_Multicluster_nspace_construct(whole, NULL, b))
    RUNS(PMIx_Multicluster_nspace_construct(whole, a, NULL))
    RUNS(PMIx_Multicluster_nspace_parse(NULL, a, b))
    RUNS(PMIx_Multicluster_nspace_parse(whole, NULL, b))
    RUNS(PMIx_Multicluster_nspace_parse(whole, a, NULL))
    SO(strcmp(whole, "c:d") == 0 && strcmp(a, "a") == 0 && strcmp(b, "b") == 0)
    memset(a, 'a', PMIX_MAX_NSLEN);
    memset(b, 'b', PMIX_MAX_NSLEN);
    RUNS(PMIx_Multicluster_nspace_construct(whole, a, b)) /* too long together */
    SO(strnlen(whole, sizeof(whole)) <= PMIX_MAX_NSLEN)
    RUNS(PMIx_Multicluster_nspace_parse(whole, a, b))
}

static void vectors(void)
{
    char *none[] = {NULL}, **argv = NULL, **env = NULL;

    BAD(PMIx_Argv_append_nosize(NULL, "a"))
    BAD(PMIx_Argv_append_nosize(&argv, NULL))
    BAD(PMIx_Argv_append_unique_nosize(NULL, "a"))
    BAD(PMIx_Argv_append_unique_nosize(&argv, NULL))
    BAD(PMIx_Argv_prepend_nosize(NULL, "a"))
    BAD(PMIx_Argv_prepend_nosize(&argv, NULL))
    SO(!argv)
    IS(0, PMIx_Argv_count(NULL))
    IS(0, PMIx_Argv_count(none))
    IS(NULL, PMIx_Argv_copy(NULL))
    FREED("", PMIx_Argv_join(NULL, ','))
    FREED("", PMIx_Argv_join(none, ','))
    IS(NULL, PMIx_Argv_split(NULL, ','))
    IS(NULL, PMIx_Argv_split("", ','))
    IS(NULL, PMIx_Argv_split(",,,", ','))
    IS(NULL, PMIx_Argv_split_with_empty(NULL, ','))
    IS(NULL, PMIx_Argv_split_with_empty("", ','))
    IS(NULL, PMIx_Argv_split_inter(NULL, ',', true))
    IS(NULL, PMIx_Argv_split_inter("", ',', false))
    RUNS(PMIx_Argv_free(NULL))
    BAD(PMIx_Setenv("A", "b", true, NULL))
    BAD(PMIx_Setenv(NULL, "b", true, &env))
    BAD(PMIx_Setenv("", "b", true, &env))
    BAD(PMIx_Setenv("A=", "b", true, &env))
    SO(!env)
}

static void texts(void)
{
    pmix_value_t v = {.type = 9999};
    pmix_app_t app = {0};

    TEXT("UNSPECIFIED", PMIx_Alloc_directive_string(77))
    TEXT("UNSPECIFIED", PMIx_Alloc_inheritance_string(77))
    TEXT("UNKNOWN", PMIx_Data_range_string(77))
    for (size_t i = 0; i < N_NO_TYPES; i++)
        TEXT("NOT INITIALIZED", PMIx_Data_type_string(no_types[i]))
    TEXT("UNKNOWN", PMIx_Device_type_string(UINT64_MAX))
    TEXT("ERROR STRING NOT FOUND", PMIx_Error_string(INT32_MIN))
    TEXT("ERROR STRING NOT FOUND", PMIx_Error_string(4711))
    TEXT("UNKNOWN VALUE", PMIx_Group_operation_string((pmix_group_operation_t)77))
    TEXT("NONE", PMIx_IOF_channel_string(0))
    RUNS(PMIx_IOF_channel_string(UINT16_MAX))
    TEXT("UNKNOWN", PMIx_Job_state_string(177))
    TEXT("UNKNOWN", PMIx_Link_state_string(77))
    TEXT("UNKNOWN PERSISTENCE", PMIx_Persistence_string(77))
    TEXT("UNKNOWN STATE", PMIx_Proc_state_string(177))
    TEXT("UNSPECIFIED", PMIx_Resource_block_directive_string(77))
    TEXT("UNKNOWN SCOPE", PMIx_Scope_string(77))
    TEXT("UNKNOWN VALUE", PMIx_Value_comparison_string((pmix_value_cmp_t)77))
    RUNS(free(PMIx_Info_directives_string(UINT32_MAX)))
    FREED("NULL", PMIx_App_string(NULL))
    RUNS(free(PMIx_App_string(&app)))
    FREED("NULL", PMIx_Resource_unit_string(NULL))
    RUNS(free(PMIx_Value_string(&v)))
    IS(INT32_MIN, PMIx_Error_code(NULL))
    IS(INT32_MIN, PMIx_Error_code(""))
    IS(INT32_MIN, PMIx_Error_code("NO SUCH NAME"))
    IS(NULL, PMIx_Get_attribute_string(NULL))
    TEXT("PMIX_NO_SUCH", PMIx_Get_attribute_string("PMIX_NO_SUCH"))
    TEXT("", PMIx_Get_attribute_string(""))
    IS(NULL, PMIx_Get_attribute_name(NULL))
    TEXT("no.such", PMIx_Get_attribute_name("no.such"))
    SO(PMIx_Get_version() != NULL)
}

static void maps(void)
{
    pmix_regex2_t regex = {0},
                  odd = {.type = (char *)"odd", .bytes = (uint8_t *)"a", .len = 2},
                  cut = {.type = (char *)"raw", .bytes = (uint8_t *)"abc", .len = 2},
                  damaged = {.type = (char *)"compress",
                             .bytes = (uint8_t *)"abc",
                             .len = 3},
                  hollow = {.type = (char *)"raw", .len = 9};
    pmix_info_t required = {.key = "what", .flags = PMIX_INFO_REQD};
    char *text = NULL;

    BAD(PMIx_generate_regex(NULL, &text))
    BAD(PMIx_generate_regex("a,b", NULL))
    BAD(PMIx_generate_ppn(NULL, &text))
    BAD(PMIx_generate_ppn("0,1", NULL))
    BAD(PMIx_generate_regex2(NULL, NULL, 0, &regex))
    BAD(PMIx_generate_regex2("a", NULL, 0, NULL))
    BAD(PMIx_generate_regex2("a", NULL, 1, &regex))
    IS(PMIX_ERR_NOT_SUPPORTED, PMIx_generate_regex2("a", &required, 1, &regex))
    BAD(PMIx_parse_regex2(NULL, NULL, 0, &text))
    BAD(PMIx_parse_regex2(&cut, NULL, 0, NULL))
    BAD(PMIx_parse_regex2(&cut, NULL, 1, &text))
    IS(PMIX_ERR_NOT_SUPPORTED, PMIx_parse_regex2(&cut, &required, 1, &text))
    IS(PMIX_ERR_NOT_SUPPORTED, PMIx_parse_regex2(&odd, NULL, 0, &text))
    BAD(PMIx_parse_regex2(&regex, NULL, 0, &text))
    BAD(PMIx_parse_regex2(&hollow, NULL, 0, &text))
    BAD(PMIx_parse_regex2(&damaged, NULL, 0, &text))
    SO(!text && !regex.bytes)
    IS(PMIX_SUCCESS, PMIx_parse_regex2(&cut, NULL, 0, &text)) /* without its NUL */
    TEXT("ab", text)
    free(text);
}

void rows_of_names(void)
{
    processes();
    vectors();
    texts();
    maps();
}

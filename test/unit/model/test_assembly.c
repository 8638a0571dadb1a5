/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces whose ranks are processes of other namespaces, and the names of processes
 * there. */
#include "core/model/assembly.h"

#include "core/model/proc_index.h"
#include "model_test.h"

#include <string.h>

static const pmix_proc_t ends[] = {{"other", 1}, {"other", 2}, {JOB, 0}, {JOB, 3}};

static pmix_status_t learn_members(const pmix_proc_t *procs, size_t n,
                                   pmix_data_type_t type)
{
    PX_AUTO(px_infos) l = {0};
    struct px_err err;
    pmix_data_array_t array = {type, n, (void *)(uintptr_t)procs};

    ok(px_infos_add(&l, PX_ASSEMBLY_RUNS, &array, PMIX_DATA_ARRAY));
    return px_jobinfo_register(model, nspace_of(model, "joint"), l.v, l.n, &err);
}

/* Makes "joint", with ranks 1 and 2 of "other" and all of JOB, which is in cluster
 * "west". */
static void setup(void)
{
    serve("n0");
    slurm_job(&given, 0);
    add_str(&given, PMIX_CLUSTER_ID, "west");
    learn(&given);
    ok(learn_members(ends, PX_COUNT(ends), PMIX_PROC));
}

static struct px_assembly *joint(void)
{
    return nspace_of(model, "joint")->assembly;
}

PX_TEST(ranks_are_members_in_the_order_of_the_runs)
{
    static const pmix_proc_t members[] = {{"other", 1}, {"other", 2}, {JOB, 0},
                                          {JOB, 1},     {JOB, 2},     {JOB, 3}};
    pmix_proc_t p;

    ck_assert_uint_eq(joint()->size, 6);
    for (pmix_rank_t r = 0; r < 6; r++) {
        ck_assert(px_assembly_member(joint(), r, &p) && px_proc_same(&p, &members[r]));
        ck_assert_uint_eq(px_assembly_rank(joint(), &members[r]), r);
    }
    ck_assert(!px_assembly_member(joint(), 6, &p) && !px_assembly_member(NULL, 0, &p));
    px_proc_set(&p, "other", 0);
    ck_assert_uint_eq(px_assembly_rank(joint(), &p), PMIX_RANK_INVALID);
    ok(learn_members(ends, 2, PMIX_PROC)); /* members keep their identity */
    ck_assert_uint_eq(joint()->size, 6);
}

PX_TEST(a_value_that_names_no_members_is_refused)
{
    static const struct {
        pmix_proc_t ends[3];
        size_t n;
        pmix_data_type_t type;
    } rows[] = {
        {{{"a", 0}, {"a", 1}}, 2, PMIX_INFO},
        {{{"a", 0}, {"a", 1}, {"a", 2}}, 3, PMIX_PROC},
        {{{"a", 1}, {"a", 0}}, 2, PMIX_PROC},
        {{{"a", 0}, {"a", PMIX_RANK_WILDCARD}}, 2, PMIX_PROC},
        {{{"a", 0}, {"a", PX_MAX_RANKS}}, 2, PMIX_PROC},
        {{{"a", 0}}, 0, PMIX_PROC},
    };

    px_nspace_remove(model, nspace_of(model, "joint"));
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_data_array_t array = {rows[i].type, rows[i].n,
                                         (void *)(uintptr_t)rows[i].ends};
        const pmix_value_t v = {.type = PMIX_DATA_ARRAY,
                                .data.darray = (pmix_data_array_t *)(uintptr_t)&array};

        ck_assert_ptr_null(px_assembly_create(&v));
    }
    fails(learn_members(rows[2].ends, 2, PMIX_PROC), BAD_PARAM);
    ck_assert_ptr_null(joint());
}

/* Expands a text: digits are ranks of "joint", "*" all of it; "w" is all of "west:JOB",
 * "o" rank 5 of "other". */
static size_t expand(const char *text, pmix_proc_t **procs, pmix_status_t wanted)
{
    size_t n = strlen(text);

    *procs = calloc(n, sizeof(**procs));
    for (size_t i = 0; i < n; i++)
        px_proc_set(&(*procs)[i],
                    text[i] == 'w'   ? "west:" JOB
                    : text[i] == 'o' ? "other"
                                     : "joint",
                    text[i] == 'w' || text[i] == '*' ? PMIX_RANK_WILDCARD
                    : text[i] == 'o'                 ? 5
                                                     : (pmix_rank_t)(text[i] - '0'));
    ck_assert_int_eq(px_procs_expand(model, procs, &n), wanted);
    return n;
}

PX_TEST(names_of_members_become_those_of_processes)
{
    static const struct {
        const char *named, *left;
        pmix_status_t status;
        size_t n;
        pmix_proc_t first, last;
    } rows[] = {
        {"*", "", PMIX_SUCCESS, 3, {"other", 1}, {JOB, ALL}},
        {"*", "4", PMIX_SUCCESS, 5, {"other", 1}, {JOB, 3}},
        {"***", "4", PMIX_SUCCESS, 5, {"other", 1}, {JOB, 3}},
        {"*", "01", PMIX_SUCCESS, 1, {JOB, ALL}, {JOB, ALL}},
        {"o2", "", PMIX_SUCCESS, 2, {"other", 5}, {JOB, 0}},
        {"w", "", PMIX_SUCCESS, 1, {JOB, ALL}, {JOB, ALL}},
        {"w5", "", PMIX_SUCCESS, 2, {JOB, ALL}, {JOB, 3}},
        {"05", "5", PMIX_ERR_NOT_FOUND, 0, {"", 0}, {"", 0}},
        {"6", "", PMIX_ERR_NOT_FOUND, 0, {"", 0}, {"", 0}},
        {"*", "012345", PMIX_ERR_NOT_FOUND, 0, {"", 0}, {"", 0}},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTOFREE pmix_proc_t *procs = NULL;
        size_t n;

        memset(joint()->presence, PX_PRESENT, 6);
        for (const char *c = rows[i].left; *c; c++)
            joint()->presence[*c - '0'] = PX_LEFT;
        n = expand(rows[i].named, &procs, rows[i].status);
        if (rows[i].status)
            continue;
        ck_assert_uint_eq(n, rows[i].n);
        ck_assert(px_proc_same(&procs[0], &rows[i].first) &&
                  px_proc_same(&procs[n - 1], &rows[i].last));
    }
}

PX_TEST(a_process_is_meant_by_each_of_its_names)
{
    static const struct {
        pmix_proc_t named;
        bool meant;
    } rows[] = {
        {{JOB, 1}, true},          {{JOB, ALL}, true},      {{"west:" JOB, 1}, true},
        {{"east:" JOB, 1}, false}, {{"joint", 3}, true},    {{"joint", ALL}, true},
        {{"joint", 2}, false},     {{"joint", 9}, false},   {{"west:" JOB, 2}, false},
        {{"other", 1}, false},     {{"unknown", 1}, false},
    };
    const pmix_proc_t proc = {JOB, 1};

    for (size_t i = 0; i < PX_COUNT(rows); i++)
        ck_assert(px_proc_means(model, &rows[i].named, &proc) == rows[i].meant);
    joint()->presence[3] = PX_LEFT;
    ck_assert(!px_proc_means(model, &rows[4].named, &proc) &&
              !px_proc_means(model, &rows[5].named, &proc));
    joint()->presence[3] = PX_LOST;
    ck_assert(px_proc_means(model, &rows[5].named, &proc));
}

/* Each pair of names has the same answer in a small set and in a large one, which has an
 * index. */
PX_TEST(a_set_of_names_answers_as_its_names_do)
{
    enum { N_OTHERS = 20 };
    static const pmix_proc_t names[] = {
        {JOB, 1},           {JOB, 2},        {JOB, ALL},   {"west:" JOB, 1},
        {"west:" JOB, ALL}, {"joint", 3},    {"joint", 0}, {"joint", ALL},
        {"east:" JOB, 1},   {"other", 1},    {"other", 2}, {"joint", 9},
        {"unknown", 1},     {"unknown", ALL}};
    pmix_proc_t procs[N_OTHERS + 1];

    for (pmix_rank_t r = 0; r < N_OTHERS; r++)
        px_proc_set(&procs[r], "elsewhere", r);
    for (size_t i = 0; i < 2 * PX_COUNT(names) * PX_COUNT(names); i++) {
        const pmix_proc_t *a = &names[i % PX_COUNT(names)],
                          *b = &names[i / PX_COUNT(names) % PX_COUNT(names)];
        bool left = i / PX_COUNT(names) >= PX_COUNT(names), both;

        /* px_proc_means compares a joint rank with names without a cluster only. */
        if ((strchr(a->nspace, ':') && b->nspace[0] == 'j') ||
            (strchr(b->nspace, ':') && a->nspace[0] == 'j'))
            continue;
        joint()->presence[3] = left ? PX_LEFT : PX_PRESENT;
        both = px_proc_means(model, a, b) || px_proc_means(model, b, a);
        procs[N_OTHERS] = *a;
        for (size_t n = 1; n <= PX_COUNT(procs); n += N_OTHERS) {
            struct px_proc_index s = px_proc_index_of(model, &procs[PX_COUNT(procs) - n],
                                                  n);

            ck_assert_msg(px_proc_index_meets(&s, b) == both, "%s.%u and %s.%u",
                          a->nspace, a->rank, b->nspace, b->rank);
            ck_assert(px_proc_index_meets(&s, b) == both); /* also by its memory */
            if (!strchr(b->nspace, ':'))
                ck_assert(px_proc_index_has(&s, b) == px_proc_means(model, a, b));
            px_proc_index_fini(&s);
        }
    }
}

PX_TEST(the_steps_of_a_set_are_linear)
{
    enum { N = 3000 };
    PX_AUTOFREE pmix_proc_t *procs = calloc(N, sizeof(*procs));
    struct px_proc_index s = px_proc_index_of(model, procs, N);
    pmix_proc_t p;

    for (pmix_rank_t r = 0; r < N; r++)
        px_proc_set(&procs[r], r % 2 ? "joint" : "elsewhere", r % 2 ? ALL : r);
    for (pmix_rank_t r = 0; r < N; r++) {
        px_proc_set(&p, r % 2 ? "joint" : "nowhere", r % 4 == 1 ? ALL : r);
        ck_assert(px_proc_index_meets(&s, &p) == (r % 2 == 1));
    }
    ck_assert_uint_le(s.n_steps, 12 * N);
    px_proc_index_fini(&s);
}

PX_TEST(its_members_are_listed)
{
    pmix_value_t v;

    ns = nspace_of(model, "joint");
    ok(get(ALL, PMIX_GROUP_MEMBERSHIP, &v));
    ck_assert(v.type == PMIX_DATA_ARRAY && v.data.darray->type == PMIX_PROC &&
              v.data.darray->size == 6);
    px_type_destruct(PMIX_VALUE, &v);
    ok(get(1, PMIX_PROCID, &v));
    ck_assert(v.type == PMIX_PROC && px_proc_same(v.data.proc, &ends[1]));
    px_type_destruct(PMIX_VALUE, &v);
    assert_none(6, PMIX_PROCID);
    ns = nspace_of(model, JOB);
    assert_none(1, PMIX_PROCID);
    assert_none(ALL, PMIX_GROUP_MEMBERSHIP);
}

PX_TEST_MAIN("model/assembly", setup, model_teardown)

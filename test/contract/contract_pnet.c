/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pnet: contributions to a launch, their use on a node, the settings of
 * processes, and cleanup after the job; inventories and fabrics. */
#include "alloc_fail.h"
#include "contract.h"
#include "core/base/attr.h"
#include "core/types/type.h"
#include "core/wire/codec.h"
#include "tenon/pnet.h"

#include <string.h>

enum { N_JOBS = 50, N_PROCS = 4 };

static const struct px_pnet_ops *ops(void)
{
    return contract.component->ops;
}

/* ---- the host's side of the operations --------------------------------------------- */

/* The host's answers. They run while allocations are counted, so they avoid ck_assert,
 * which allocates. */
typedef struct sink {
    px_infos infos;
    char text[4096]; /* "rank NAME=VALUE\n" of each value and variable */
    size_t n;
    size_t refuse_at; /* number of the value answered with NOMEM; 0: none */
    uint32_t n_procs; /* processes of the job */
} sink;

static void sink_cleanup(struct sink *s)
{
    px_infos_cleanup(&s->infos);
}

static pmix_status_t on_add(void *arg, const pmix_info_t *info)
{
    struct sink *s = arg;

    if (!info || !info->key[0])
        ck_abort_msg("adds an info without a key");
    if (++s->n == s->refuse_at)
        return PMIX_ERR_NOMEM;
    return px_infos_add_copy(&s->infos, info, 1);
}

static pmix_status_t on_set(void *arg, pmix_rank_t rank, const char *name,
                            const char *value)
{
    struct sink *s = arg;
    size_t len = strlen(s->text);

    if (!name || !*name || strchr(name, '=') || !value)
        ck_abort_msg("sets a variable that cannot be: %s", name ? name : "NULL");
    if (strncmp(name, "PMIX_", 5) == 0 || strncmp(name, "TENON_", 6) == 0)
        ck_abort_msg("sets %s, which is not its own", name);
    if (rank >= PMIX_RANK_VALID && rank != PMIX_RANK_WILDCARD)
        ck_abort_msg("sets %s for no rank", name);
    if (++s->n == s->refuse_at)
        return PMIX_ERR_NOMEM;
    snprintf(s->text + len, sizeof(s->text) - len, "%u %s=%s\n", rank, name, value);
    return PMIX_SUCCESS;
}

/* Takes a value. Values also travel to clients that do not read in place. */
static pmix_status_t on_put(void *arg, pmix_rank_t rank, const pmix_info_t *info)
{
    struct sink *s = arg;
    size_t len = strlen(s->text);
    px_writer w;

    if (!info || !info->key[0])
        ck_abort_msg("puts a value without a key");
    if (rank >= s->n_procs && rank != PMIX_RANK_WILDCARD)
        ck_abort_msg("puts %s for a rank that the job has not", info->key);
    if (info->value.type == PMIX_POINTER || info->value.type == PMIX_UNDEF)
        ck_abort_msg("puts nothing that others can read as %s", info->key);
    if (++s->n == s->refuse_at)
        return PMIX_ERR_NOMEM;
    px_writer_init(&w, px_codec_default);
    px_pack_bare(&w, &info->value, PMIX_VALUE);
    pmix_status_t rc = w.status;
    px_writer_cleanup(&w);
    PX_AUTOFREE char *text = px_type_print(PMIX_VALUE, &info->value);
    if (rc == PMIX_ERR_NOMEM || !text)
        return PMIX_ERR_NOMEM;
    if (rc)
        ck_abort_msg("puts what does not pack: %s, status %d", info->key, rc);
    snprintf(s->text + len, sizeof(s->text) - len, "%u %s=%s\n", rank, info->key, text);
    return PMIX_SUCCESS;
}

/* Returns a job with two nodes of two processes each. */
static struct px_pnet_job job_of(const char *nspace, const pmix_info_t *info, size_t n)
{
    static const char *const nodes[] = {"a", "b"};
    static const uint32_t node_of[N_PROCS] = {0, 0, 1, 1},
                          local_of[N_PROCS] = {0, 1, 0, 1};

    return (struct px_pnet_job){.size = sizeof(struct px_pnet_job),
                                .nspace = nspace,
                                .info = info,
                                .n_info = n,
                                .n_nodes = 2,
                                .n_procs = N_PROCS,
                                .nodes = nodes,
                                .node_of = node_of,
                                .local_of = local_of,
                                .most_on_a_node = 2};
}

/* Describes the job as its host does. */
static pmix_status_t contribute(const char *nspace, struct sink *s)
{
    static char map[] = "a,b";
    static const pmix_info_t info[] = {
        {.key = PMIX_JOB_SIZE, .value = {.type = PMIX_UINT32, .data.uint32 = N_PROCS}},
        {.key = PMIX_NODE_MAP, .value = {.type = PMIX_STRING, .data.string = map}}};
    const struct px_pnet_job job = job_of(nspace, info, 2);

    return ops()->gather ? ops()->gather(contract.self, &job, on_add, s)
                         : ops()->contribute(contract.self, nspace, info, 2, on_add, s);
}

static void contribute_well(const char *nspace, struct sink *s)
{
    *s = (struct sink){0};
    ok(contribute(nspace, s));
}

/* Packs and unpacks the values, as if they had crossed the network. */
static void travel(struct sink *s)
{
    px_writer w;
    px_reader r;
    px_infos there = {0};

    px_writer_init(&w, px_codec_default);
    px_pack_infos(&w, s->infos.v, s->infos.n);
    ck_assert_msg(w.status == PMIX_SUCCESS, "adds what does not pack: status %d",
                  w.status);
    px_reader_init(&r, px_codec_default, w.buf.data, w.buf.len);
    ok(px_unpack_infos(&r, &there.v, &there.n));
    px_writer_cleanup(&w);
    px_infos_cleanup(&s->infos);
    s->infos = there;
}

static pmix_status_t apply(const char *nspace, const struct sink *s)
{
    return ops()->apply(contract.self, nspace, s->infos.v, s->infos.n);
}

/* Calls envars; values must come before variables. */
static pmix_status_t envars(const char *nspace, struct sink *s)
{
    const struct px_pnet_job job = job_of(nspace, NULL, 0);

    s->n = 0;
    s->text[0] = '\0';
    s->n_procs = job.n_procs;
    pmix_status_t rc = ops()->values ? ops()->values(contract.self, &job, on_put, s)
                                     : PMIX_SUCCESS;
    return rc ? rc : ops()->envars(contract.self, nspace, on_set, s);
}

static void forget(const char *nspace)
{
    ops()->forget(contract.self, nspace);
}

static void launch(const char *nspace, struct sink *s)
{
    contribute_well(nspace, s);
    travel(s);
    ok(apply(nspace, s));
    ok(envars(nspace, s));
}

/* ---- rules --------------------------------------------------------------------------- */

PX_TEST(what_it_contributes_travels_and_is_applied)
{
    PX_AUTO(sink) s = {0};

    launch("job", &s);
    forget("job");
}

PX_TEST(another_server_than_the_contributing_one_applies_it)
{
    PX_AUTO(sink) s = {0};
    char here[sizeof(s.text)];

    launch("job", &s);
    strcpy(here, s.text);
    contract_close();
    ok(contract_open());
    ok(apply("job", &s));
    ok(envars("job", &s));
    ck_assert_str_eq(s.text, here);
}

PX_TEST(values_and_variables_stay_what_they_are)
{
    PX_AUTO(sink) s = {0};
    char first[sizeof(s.text)];

    launch("job", &s);
    strcpy(first, s.text);
    ok(envars("job", &s));
    ck_assert_str_eq(s.text, first);
    ok(apply("job", &s));
    ok(envars("job", &s));
    ck_assert_str_eq(s.text, first);
}

PX_TEST(jobs_do_not_disturb_each_other)
{
    PX_AUTO(sink) a, b;
    char of_a[sizeof(a.text)];

    launch("a", &a);
    strcpy(of_a, a.text);
    launch("b", &b);
    forget("b");
    ok(envars("a", &a));
    ck_assert_str_eq(a.text, of_a);
    forget("a");
}

PX_TEST(jobs_it_never_knew_and_jobs_without_information_are_fine)
{
    PX_AUTO(sink) s = {0};

    ck_assert_int_le(envars("never", &s), PMIX_SUCCESS);
    forget("job");
    ok(ops()->contribute(contract.self, "job", NULL, 0, on_add, &s));
    forget("another");
    forget("job");
    forget("job");
    forget("");
}

/* Damages an info; how selects the kind of damage. */
static void distort(pmix_info_t *info, unsigned how)
{
    pmix_byte_object_t bytes = {malloc(1), 1};
    PX_AUTOFREE char *text = malloc(100001);

    memset(text, 'x', 100000);
    text[100000] = '\0';
    bytes.bytes[0] = '\x80';
    if (how < 4)
        PMIx_Value_destruct(&info->value);
    if (how == 0)
        memset(&info->value, 0, sizeof(info->value)); /* of type UNDEF */
    else if (how == 1)
        ok(PMIx_Value_load(&info->value, text, PMIX_STRING));
    else if (how == 2)
        ok(PMIx_Value_load(&info->value, &bytes, PMIX_BYTE_OBJECT));
    else if (how == 3)
        info->value = (pmix_value_t){.type = PMIX_STRING}; /* a NULL string */
    else if (how == 4)
        memset(info->key, 'k', PMIX_MAX_KEYLEN);
    else
        info->key[0] = '\0';
    free(bytes.bytes);
}

/* Passes each damaged form of good to take. */
static void damage_each(const struct sink *good, void (*take)(struct sink *bad))
{
    for (unsigned how = 0; how < 6; how++) {
        for (size_t i = 0; i < good->infos.n; i++) {
            PX_AUTO(sink) bad = {0};

            ok(px_infos_add_copy(&bad.infos, good->infos.v, good->infos.n));
            distort(&bad.infos.v[i], how);
            take(&bad);
        }
    }
}

static void take_share(struct sink *bad)
{
    if (apply("job", bad) == PMIX_SUCCESS)
        ok(envars("job", bad));
    forget("job");
}

/* Any answer is allowed, but no crash, and nothing may stay after the job is
 * forgotten. */
PX_TEST(what_a_stranger_sends_is_survived)
{
    PX_AUTO(sink) good = {0};

    contribute_well("job", &good);
    travel(&good);
    damage_each(&good, take_share);
    ops()->apply(contract.self, "job", NULL, 0);
    forget("job");
    ok(apply("job", &good));
}

PX_TEST(what_the_core_refuses_is_passed_on)
{
    PX_AUTO(sink) s, refusing = {.refuse_at = 1};

    contribute_well("job", &s);
    if (s.n)
        ck_assert_int_eq(contribute("job", &refusing), PMIX_ERR_NOMEM);
    ok(apply("job", &s));
    ok(envars("job", &s));
    for (size_t i = 1, n = s.n; i <= n;
         i += n > 1 ? n - 1 : 1) { /* only the first and the last part */
        s.refuse_at = i;
        ck_assert_int_eq(envars("job", &s), PMIX_ERR_NOMEM);
    }
    forget("job");
}

PX_TEST(a_job_whose_places_are_unknown_is_survived)
{
    const struct px_pnet_job job = {
        .size = sizeof(job), .nspace = "job", .this_node = UINT32_MAX};
    PX_AUTO(sink) s = {0};

    PX_TEST_NEEDS(ops()->values, "values");
    launch("job", &s);
    s.n_procs = 0;
    ck_assert_int_le(ops()->values(contract.self, &job, on_put, &s), PMIX_SUCCESS);
    forget("job");
}

/* Ends a process, and the job if the process is the last one. */
static void end(const char *nspace, pmix_rank_t rank, bool is_last)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, rank);
    if (ops()->child_finalized)
        ops()->child_finalized(contract.self, &p);
    if (is_last && ops()->local_app_finalized)
        ops()->local_app_finalized(contract.self, nspace);
}

/* The component may start others. */
PX_TEST(a_job_whose_processes_end_is_as_it_was)
{
    PX_AUTO(sink) s = {0};
    char first[sizeof(s.text)];

    PX_TEST_NEEDS(ops()->child_finalized || ops()->local_app_finalized, "ends");
    launch("job", &s);
    strcpy(first, s.text);
    for (pmix_rank_t r = 0; r < N_PROCS; r++) {
        end("job", r, r == N_PROCS - 1);
        end("never", r, true);
        ok(envars("job", &s));
        ck_assert_str_eq(s.text, first);
    }
    forget("job");
    end("job", 0, true);
}

/* Runs use in a life of the component, which must leave nothing. */
static void live_cleanly(void (*use)(void))
{
    contract_close();
    px_alloc_fail_at(0);
    ok(contract_open());
    use();
    contract_close();
    px_alloc_fail_end();
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

static void live_through_jobs(void)
{
    for (int i = 0; i < N_JOBS; i++) {
        PX_AUTO(sink) s = {0};
        char nspace[32];

        snprintf(nspace, sizeof(nspace), "job-%d", i);
        launch(nspace, &s);
        end(nspace, 0, false);
        end(nspace, 1, true);
        forget(nspace);
    }
}

PX_TEST(a_job_that_is_forgotten_leaves_nothing)
{
    size_t n_held = fake_host_held(&contract.host);

    live_through_jobs(); /* a table may grow once */
    px_alloc_fail_at(0);
    live_through_jobs();
    px_alloc_fail_end();
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(fake_host_held(&contract.host), n_held);
}

static void leave_a_job(void)
{
    PX_AUTO(sink) s = {0};

    launch("job", &s);
}

PX_TEST(jobs_that_are_left_go_when_it_closes)
{
    live_cleanly(leave_a_job);
}

PX_TEST(out_of_memory_is_reported_and_leaves_nothing)
{
    PX_AUTO(sink) good = {0};

    PX_TEST_NEEDS_ALLOC;
    contribute_well("job", &good);
    forget("job");
    live_through_jobs();
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        struct sink s = {0};
        pmix_status_t rc = contribute("job", &s);

        if (!rc)
            rc = apply("job", &good);
        if (!rc)
            rc = envars("job", &s);
        sink_cleanup(&s);
        forget("job");
        px_alloc_check(rc);
    }
}

/* ---- inventories ----------------------------------------------------------------------- */

static pmix_status_t collect(struct sink *s)
{
    return ops()->collect_inventory(contract.self, NULL, 0, on_add, s);
}

static pmix_status_t deliver(const struct sink *s)
{
    return ops()->deliver_inventory(contract.self, s->infos.v, s->infos.n, NULL, 0);
}

static void inventory(struct sink *s)
{
    ok(collect(s));
    travel(s);
    ok(deliver(s));
}

PX_TEST(an_inventory_travels_and_is_taken)
{
    PX_AUTO(sink) s = {0}, again = {0};

    PX_TEST_NEEDS(ops()->collect_inventory && ops()->deliver_inventory, "inventories");
    inventory(&s);
    ok(deliver(&s)); /* same node */
    inventory(&again);
    ck_assert_uint_eq(again.n, s.n);
    contract_close();
    ok(contract_open()); /* plays another server */
    ok(deliver(&s));
    again.refuse_at = again.n ? 1 : 0;
    again.n = 0;
    if (again.refuse_at)
        ck_assert_int_eq(collect(&again), PMIX_ERR_NOMEM);
}

static void take_inventory(struct sink *bad)
{
    ck_assert_int_le(deliver(bad), PMIX_SUCCESS);
}

PX_TEST(an_inventory_of_a_stranger_is_survived)
{
    PX_AUTO(sink) good = {0};

    PX_TEST_NEEDS(ops()->collect_inventory && ops()->deliver_inventory, "inventories");
    inventory(&good);
    damage_each(&good, take_inventory);
    ck_assert_int_le(ops()->deliver_inventory(contract.self, NULL, 0, NULL, 0),
                     PMIX_SUCCESS);
    ok(deliver(&good));
}

static void leave_an_inventory(void)
{
    PX_AUTO(sink) s = {0};

    inventory(&s);
}

PX_TEST(inventories_go_when_it_closes)
{
    PX_TEST_NEEDS(ops()->collect_inventory && ops()->deliver_inventory, "inventories");
    live_cleanly(leave_an_inventory);
}

/* ---- fabrics ----------------------------------------------------------------------------- */

/* Asks for any fabric; *number gets the component's own number of it. */
static pmix_status_t describe(struct sink *s, size_t *number)
{
    const pmix_info_t *index;
    uint64_t n = 0;

    sink_cleanup(s);
    pmix_status_t rc = ops()->register_fabric(contract.self, NULL, 0, on_add, s);
    index = px_info_find(s->infos.v, s->infos.n, PMIX_FABRIC_INDEX);
    if (!rc && index && !px_value_to_u64(&index->value, &n))
        ck_abort_msg("a fabric's number is none");
    *number = (size_t)n;
    return rc;
}

PX_TEST(a_fabric_keeps_its_number_until_it_is_deregistered)
{
    PX_AUTO(sink) s = {0};
    size_t number, again;

    PX_TEST_NEEDS(ops()->register_fabric, "fabrics");
    ck_assert_msg(ops()->deregister_fabric, "fabrics are never deregistered");
    pmix_status_t rc = describe(&s, &number);
    PX_TEST_NEEDS(rc != PMIX_ERR_NOT_FOUND, "a fabric");
    ok(rc);
    ok(describe(&s, &again));
    ck_assert_uint_eq(again, number);
    if (ops()->update_fabric) {
        s.n = 0;
        ok(ops()->update_fabric(contract.self, number, on_add, &s));
        ck_assert_uint_gt(s.n, 0);
        ck_assert_int_ne(ops()->update_fabric(contract.self, SIZE_MAX - 1, on_add, &s),
                         PMIX_SUCCESS);
    }
    ops()->deregister_fabric(contract.self, number);
    ops()->deregister_fabric(contract.self, SIZE_MAX - 1); /* an unknown number */
    ok(describe(&s, &again));                              /* the number may differ */
    s.n = 0;
    s.refuse_at = 1;
    ck_assert_int_eq(describe(&s, &again), PMIX_ERR_NOMEM);
}

static void leave_fabrics(void)
{
    PX_AUTO(sink) s = {0};
    size_t number;

    for (int i = 0; i < N_JOBS; i++) {
        if (describe(&s, &number) == PMIX_SUCCESS && i % 2)
            ops()->deregister_fabric(contract.self, number);
    }
    (void)describe(&s, &number);
}

PX_TEST(fabrics_go_when_they_are_deregistered_or_it_closes)
{
    PX_TEST_NEEDS(ops()->register_fabric, "fabrics");
    live_cleanly(leave_fabrics);
}

static pmix_status_t describe_all(struct sink *s)
{
    size_t number;
    pmix_status_t rc = describe(s, &number);

    if (rc)
        return rc == PMIX_ERR_NOT_FOUND ? PMIX_SUCCESS : rc;
    if (ops()->update_fabric)
        rc = ops()->update_fabric(contract.self, number, on_add, s);
    ops()->deregister_fabric(contract.self, number);
    return rc;
}

/* The component may keep delivered inventories until it closes. */
PX_TEST(calls_without_memory_fail_and_leave_nothing)
{
    struct sink s = {0};

    PX_TEST_NEEDS_ALLOC;
    PX_TEST_NEEDS(ops()->collect_inventory || ops()->register_fabric,
                  "inventories or fabrics");
    for (unsigned nth = 0; ops()->collect_inventory && px_alloc_next(&nth);) {
        pmix_status_t rc = collect(&s);

        sink_cleanup(&s);
        px_alloc_check(rc);
    }
    if (ops()->register_fabric)
        ok(describe_all(&s)); /* a table may grow once */
    sink_cleanup(&s);
    for (unsigned nth = 0; ops()->register_fabric && px_alloc_next(&nth);) {
        pmix_status_t rc = describe_all(&s);

        sink_cleanup(&s);
        px_alloc_check(rc);
    }
}

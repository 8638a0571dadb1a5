/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of pnet: what is contributed to a launch, applied on a node, and gone after the
 * job. */
#include "alloc_fail.h"
#include "contract.h"
#include "core/base/attr.h"
#include "core/types/type.h"
#include "core/wire/codec.h"
#include "tenon/pnet.h"

#include <string.h>

enum { N_JOBS = 50 };

static const struct px_pnet_ops *ops(void)
{
    return contract.component->ops;
}

/* ---- a host's side of the operations ----------------------------------------------- */

/* What it answers is used while allocations are counted, and Check allocates: it looks without
 * ck_assert. */
typedef struct sink {
    px_infos infos;
    char text[4096]; /* "rank NAME=VALUE\n" of each variable */
    size_t n;
    size_t refuse_at; /* the how manieth is answered with NOMEM; 0: none */
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

static pmix_status_t contribute(const char *nspace, struct sink *s)
{
    pmix_info_t info[2] = {0};
    uint32_t size = 4;

    ok(PMIx_Info_load(&info[0], PMIX_JOB_SIZE, &size, PMIX_UINT32));
    ok(PMIx_Info_load(&info[1], PMIX_NODE_MAP, "a,b", PMIX_STRING));
    pmix_status_t rc = ops()->contribute(contract.self, nspace, info, 2, on_add, s);
    PMIx_Info_destruct(&info[1]);
    return rc;
}

static void contribute_well(const char *nspace, struct sink *s)
{
    *s = (struct sink){0};
    ok(contribute(nspace, s));
}

/* As it comes out of the network at the other end. */
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

static pmix_status_t envars(const char *nspace, struct sink *s)
{
    s->n = 0;
    s->text[0] = '\0';
    return ops()->envars(contract.self, nspace, on_set, s);
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

/* ---- the rules ----------------------------------------------------------------------- */

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

PX_TEST(variables_stay_what_they_are)
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

/* One info after the other is taken for something else. */
static void distort(pmix_info_t *info, unsigned how)
{
    pmix_byte_object_t bytes = {malloc(1), 1};
    char *text = malloc(100001);

    memset(text, 'x', 100000);
    text[100000] = '\0';
    bytes.bytes[0] = '\x80';
    if (how < 4)
        PMIx_Value_destruct(&info->value);
    if (how == 0)
        memset(&info->value, 0, sizeof(info->value)); /* type UNDEF */
    else if (how == 1)
        ok(PMIx_Value_load(&info->value, text, PMIX_STRING));
    else if (how == 2)
        ok(PMIx_Value_load(&info->value, &bytes, PMIX_BYTE_OBJECT));
    else if (how == 3)
        info->value = (pmix_value_t){.type = PMIX_STRING}; /* NULL */
    else if (how == 4)
        memset(info->key, 'k', PMIX_MAX_KEYLEN);
    else
        info->key[0] = '\0';
    free(bytes.bytes);
    free(text);
}

/* Whatever it answers, it survives, and leaves nothing once the job is forgotten. */
PX_TEST(what_a_stranger_sends_is_survived)
{
    PX_AUTO(sink) good = {0};

    contribute_well("job", &good);
    travel(&good);
    for (unsigned how = 0; how < 6; how++) {
        for (size_t i = 0; i < good.infos.n; i++) {
            PX_AUTO(sink) bad = {0};

            ok(px_infos_add_copy(&bad.infos, good.infos.v, good.infos.n));
            distort(&bad.infos.v[i], how);
            if (apply("job", &bad) == PMIX_SUCCESS)
                ok(envars("job", &bad));
            forget("job");
        }
    }
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
    s.refuse_at = s.n ? 1 : 0;
    if (s.n)
        ck_assert_int_eq(envars("job", &s), PMIX_ERR_NOMEM);
    forget("job");
}

static void live_through_jobs(void)
{
    for (int i = 0; i < N_JOBS; i++) {
        PX_AUTO(sink) s = {0};
        char nspace[32];

        snprintf(nspace, sizeof(nspace), "job-%d", i);
        launch(nspace, &s);
        forget(nspace);
    }
}

PX_TEST(a_job_that_is_forgotten_leaves_nothing)
{
    size_t n_held = fake_host_held(&contract.host);

    live_through_jobs(); /* a table may have grown, once */
    px_alloc_fail_at(0);
    live_through_jobs();
    px_alloc_fail_end();
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(fake_host_held(&contract.host), n_held);
}

PX_TEST(jobs_that_are_left_go_when_it_closes)
{
    PX_AUTO(sink) s = {0};

    contract_close();
    px_alloc_fail_at(0);
    ok(contract_open());
    launch("job", &s);
    sink_cleanup(&s);
    contract_close();
    px_alloc_fail_end();
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}

PX_TEST(out_of_memory_is_told_and_leaves_nothing)
{
    PX_AUTO(sink) good = {0};

    PX_TEST_NEEDS_ALLOC;
    contribute_well("job", &good);
    forget("job");
    live_through_jobs();
    for (unsigned nth = 0; px_alloc_next(&nth);) {
        struct sink s = {0};
        pmix_status_t rc = ops()->contribute(contract.self, "job", NULL, 0, on_add, &s);

        if (!rc)
            rc = apply("job", &good);
        if (!rc)
            rc = ops()->envars(contract.self, "job", on_set, &s);
        sink_cleanup(&s);
        forget("job");
        px_alloc_check(rc);
    }
}

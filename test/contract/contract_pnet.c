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
struct sink {
    px_infos infos;
    char text[4096]; /* "rank NAME=VALUE\n" of each variable */
    size_t n;
    size_t refuse_at; /* the how manieth is answered with NOMEM; 0: none */
};

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

    ck_assert_int_eq(PMIx_Info_load(&info[0], PMIX_JOB_SIZE, &size, PMIX_UINT32), 0);
    ck_assert_int_eq(PMIx_Info_load(&info[1], PMIX_NODE_MAP, "a,b", PMIX_STRING), 0);
    pmix_status_t rc = ops()->contribute(contract.self, nspace, info, 2, on_add, s);
    PMIx_Info_destruct(&info[0]);
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

START_TEST(what_it_contributes_travels_and_is_applied)
{
    struct sink s;

    launch("job", &s);
    forget("job");
    sink_cleanup(&s);
}
END_TEST

START_TEST(a_job_of_which_nothing_is_known_is_fine)
{
    struct sink s = {0};

    ok(ops()->contribute(contract.self, "job", NULL, 0, on_add, &s));
    forget("job");
    sink_cleanup(&s);
}
END_TEST

START_TEST(another_server_than_the_contributing_one_applies_it)
{
    struct sink s;
    char here[sizeof(s.text)];
    pmix_status_t rc;

    launch("job", &s);
    strcpy(here, s.text);
    contract_close();
    rc = contract.component->open(&contract.host.host, contract.conf, &contract.self);
    ok(rc);
    contract.is_open = true;
    ok(apply("job", &s));
    ok(envars("job", &s));
    ck_assert_str_eq(s.text, here);
    sink_cleanup(&s);
}
END_TEST

START_TEST(variables_stay_what_they_are)
{
    struct sink s;
    char first[sizeof(s.text)];

    launch("job", &s);
    strcpy(first, s.text);
    ok(envars("job", &s));
    ck_assert_str_eq(s.text, first);
    ok(apply("job", &s));
    ok(envars("job", &s));
    ck_assert_str_eq(s.text, first);
    sink_cleanup(&s);
}
END_TEST

START_TEST(jobs_do_not_disturb_each_other)
{
    struct sink a, b;
    char of_a[sizeof(a.text)];

    launch("a", &a);
    strcpy(of_a, a.text);
    launch("b", &b);
    forget("b");
    ok(envars("a", &a));
    ck_assert_str_eq(a.text, of_a);
    forget("a");
    sink_cleanup(&a);
    sink_cleanup(&b);
}
END_TEST

START_TEST(forgetting_what_it_never_knew_is_fine)
{
    struct sink s;

    forget("job");
    launch("job", &s);
    forget("another");
    forget("job");
    forget("job");
    forget("");
    sink_cleanup(&s);
}
END_TEST

START_TEST(variables_of_an_unknown_job_do_no_harm)
{
    struct sink s = {0};

    ck_assert_int_le(envars("never", &s), PMIX_SUCCESS);
}
END_TEST

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
        ck_assert_int_eq(PMIx_Value_load(&info->value, text, PMIX_STRING), 0);
    else if (how == 2)
        ck_assert_int_eq(PMIx_Value_load(&info->value, &bytes, PMIX_BYTE_OBJECT), 0);
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
START_TEST(what_a_stranger_sends_is_survived)
{
    struct sink good;

    contribute_well("job", &good);
    travel(&good);
    for (unsigned how = 0; how < 6; how++) {
        for (size_t i = 0; i < good.infos.n; i++) {
            struct sink bad = {0};

            ck_assert_int_eq(px_infos_add_copy(&bad.infos, good.infos.v, good.infos.n),
                             0);
            distort(&bad.infos.v[i], how);
            if (apply("job", &bad) == PMIX_SUCCESS)
                ok(envars("job", &bad));
            forget("job");
            sink_cleanup(&bad);
        }
    }
    ops()->apply(contract.self, "job", NULL, 0);
    forget("job");
    ok(apply("job", &good));
    sink_cleanup(&good);
}
END_TEST

START_TEST(what_the_core_refuses_is_passed_on)
{
    struct sink s, refusing = {.refuse_at = 1};

    contribute_well("job", &s);
    if (s.n)
        ck_assert_int_eq(contribute("job", &refusing), PMIX_ERR_NOMEM);
    ok(apply("job", &s));
    ok(envars("job", &s));
    s.refuse_at = s.n ? 1 : 0;
    if (s.n)
        ck_assert_int_eq(envars("job", &s), PMIX_ERR_NOMEM);
    forget("job");
    sink_cleanup(&s);
    sink_cleanup(&refusing);
}
END_TEST

static void live_through_jobs(void)
{
    char nspace[32];

    for (int i = 0; i < N_JOBS; i++) {
        struct sink s;

        snprintf(nspace, sizeof(nspace), "job-%d", i);
        launch(nspace, &s);
        forget(nspace);
        sink_cleanup(&s);
    }
}

START_TEST(a_job_that_is_forgotten_leaves_nothing)
{
    size_t n_held = fake_host_held(&contract.host);

    live_through_jobs(); /* a table may have grown, once */
    px_alloc_fail_at(0);
    live_through_jobs();
    px_alloc_fail_end();
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(fake_host_held(&contract.host), n_held);
}
END_TEST

START_TEST(jobs_that_are_left_go_when_it_closes)
{
    struct sink s;

    contract_close();
    px_alloc_fail_at(0);
    ok(contract.component->open(&contract.host.host, contract.conf, &contract.self));
    launch("job", &s);
    sink_cleanup(&s);
    contract.component->close(contract.self);
    px_alloc_fail_end();
    ck_assert_int_eq(px_alloc_balance(), 0);
    ck_assert_uint_eq(fake_host_held(&contract.host), 0);
}
END_TEST

START_TEST(out_of_memory_is_told_and_leaves_nothing)
{
    struct sink good;

    PX_TEST_NEEDS_ALLOC;
    contribute_well("job", &good);
    forget("job");
    live_through_jobs();
    for (unsigned nth = 1, has_failed = 1; has_failed; nth++) {
        struct sink s = {0};

        px_alloc_fail_at(nth);
        pmix_status_t rc = ops()->contribute(contract.self, "job", NULL, 0, on_add, &s);
        if (!rc)
            rc = apply("job", &good);
        if (!rc)
            rc = ops()->envars(contract.self, "job", on_set, &s);
        sink_cleanup(&s);
        forget("job");
        has_failed = px_alloc_fail_end();
        ck_assert_int_eq(rc, has_failed ? PMIX_ERR_NOMEM : PMIX_SUCCESS);
        ck_assert_int_eq(px_alloc_balance(), 0);
    }
    sink_cleanup(&good);
}
END_TEST

size_t contract_pnet(const TTest **tests)
{
    const TTest *const own[] = {
        what_it_contributes_travels_and_is_applied,
        a_job_of_which_nothing_is_known_is_fine,
        another_server_than_the_contributing_one_applies_it,
        variables_stay_what_they_are,
        jobs_do_not_disturb_each_other,
        forgetting_what_it_never_knew_is_fine,
        variables_of_an_unknown_job_do_no_harm,
        what_a_stranger_sends_is_survived,
        what_the_core_refuses_is_passed_on,
        a_job_that_is_forgotten_leaves_nothing,
        jobs_that_are_left_go_when_it_closes,
        out_of_memory_is_told_and_leaves_nothing,
    };

    memcpy(tests, own, sizeof(own));
    return PX_COUNT(own);
}

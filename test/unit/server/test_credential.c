/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials that the server makes and checks for a host without such functions, by a component whose service
 * may not answer: each way in which its child process ends. */
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"
#include "tenon/psec.h"

#include "core/base/str.h"

#include <signal.h>
#include <string.h>
#include <unistd.h>

/* ---- the component ------------------------------------------------------------------------ */

static enum { GIVES, FAILS, CRASHES, HANGS } how;

static pmix_status_t behave(void)
{
    if (how == CRASHES) {
        signal(SIGABRT, SIG_DFL);
        raise(SIGABRT);
    }
    return how == HANGS ? (pmix_status_t)pause() : PMIX_SUCCESS;
}

static pmix_status_t issue(void *self PX_UNUSED, uid_t uid, gid_t gid PX_UNUSED,
                           uint8_t **cred, size_t *n)
{
    pmix_status_t rc = behave();

    if (rc || how == FAILS)
        return PMIX_ERR_NOT_AVAILABLE;
    *cred = (uint8_t *)px_strf("proof of %u", (unsigned)uid);
    *n = strlen((char *)*cred) + 1;
    return PMIX_SUCCESS;
}

static pmix_status_t inspect(void *self PX_UNUSED, const uint8_t *cred, size_t n,
                             uid_t *uid, gid_t *gid)
{
    pmix_status_t rc = behave();

    if (rc || how == FAILS || n == 0 || cred[n - 1] != '\0' ||
        !px_str_starts((const char *)cred, "proof of "))
        return PMIX_ERR_INVALID_CRED;
    *uid = 4711;
    *gid = 4712;
    return PMIX_SUCCESS;
}

static pmix_status_t create(void *self PX_UNUSED, uint8_t **cred PX_UNUSED,
                            size_t *n PX_UNUSED)
{
    return PMIX_ERR_NOT_AVAILABLE;
}

static pmix_status_t validate(void *self PX_UNUSED, const uint8_t *cred PX_UNUSED,
                              size_t n PX_UNUSED, uid_t uid PX_UNUSED,
                              gid_t gid PX_UNUSED,
                              const struct px_ptl_peer *peer PX_UNUSED)
{
    return PMIX_ERR_INVALID_CRED;
}

static pmix_status_t open_waits(const struct px_services *services PX_UNUSED,
                                const void *conf PX_UNUSED, void **self)
{
    *self = &how;
    return PMIX_SUCCESS;
}

static pmix_status_t query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = 1;
    return PMIX_SUCCESS;
}

static void close_waits(void *self PX_UNUSED)
{
}

static const struct px_psec_ops ops = {.create = create,
                                       .validate = validate,
                                       .issue = issue,
                                       .inspect = inspect,
                                       .flags = PX_PSEC_WAITS};
static const struct px_component waits = {PX_COMPONENT_HEAD(psec, PSEC, waits),
                                          .version = "1.0",
                                          .open = open_waits,
                                          .query = query,
                                          .close = close_waits,
                                          .ops = &ops,
                                          .params = NULL};

extern const struct px_component *const px_builtin_components[];
const struct px_component *const px_builtin_components[] = {&waits, NULL};

/* ---- requests of the server's own process --------------------------------------------------- */

static void setup(void)
{
    pmix_server_module_t module = host_module;

    module.get_credential = NULL;
    module.validate_credential = NULL;
    setenv("PMIX_MCA_psec", "native,waits", 1);
    ok(PMIx_server_init(&module, NULL, 0));
}

/* Asks with the types, a time limit of a second if it is limited, and without bytes for a credential. */
static pmix_status_t ask(const char *types, bool is_limited,
                         const pmix_byte_object_t *bytes, px_infos *results,
                         pmix_byte_object_t *cred)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc;

    ok(px_infos_add(&infos, PMIX_CRED_TYPE, types, PMIX_STRING));
    if (is_limited)
        ok(px_infos_add(&infos, PMIX_TIMEOUT, &(uint32_t){1}, PMIX_UINT32));
    if (bytes)
        rc = PMIx_Validate_credential(bytes, infos.v, infos.n, &results->v,
                                      &results->n);
    else
        rc = PMIx_Get_credential(infos.v, infos.n, cred);
    return rc;
}

PX_TEST(a_credential_comes_from_the_first_component_that_makes_one)
{
    static const struct {
        int how;
        const char *types;
        bool is_limited;
        pmix_status_t status;
        bool is_of_waits;
    } rows[] = {
        {GIVES, "waits", false, PMIX_SUCCESS, true},
        {GIVES, "waits,native", true, PMIX_SUCCESS, true},
        {GIVES, "nonesuch", false, PMIX_ERR_NOT_SUPPORTED, false},
        {FAILS, "waits", false, PMIX_ERR_NOT_AVAILABLE, false},
        {FAILS, "waits,native,waits", false, PMIX_SUCCESS, false},
        {CRASHES, "waits", false, PMIX_ERR_NOT_AVAILABLE, false},
        {CRASHES, "waits,native", false, PMIX_SUCCESS, false},
        {HANGS, "waits", true, PMIX_ERR_TIMEOUT, false},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_byte_object_t cred = {0};

        how = rows[i].how;
        ck_assert_int_eq(ask(rows[i].types, rows[i].is_limited, NULL, NULL, &cred),
                         rows[i].status);
        ck_assert_int_eq(cred.size > 6 && memcmp(cred.bytes, "proof ", 6) == 0,
                         rows[i].is_of_waits);
        PMIx_Byte_object_destruct(&cred);
    }
}

PX_TEST(a_credential_proves_what_its_component_finds)
{
    static char large[65537];
    static const struct {
        int how;
        pmix_byte_object_t bytes;
        pmix_status_t status;
    } rows[] = {
        {GIVES, {(char *)"proof of x", 11}, PMIX_SUCCESS},
        {GIVES, {(char *)"nonsense", 9}, PMIX_ERR_INVALID_CRED},
        {GIVES, {large, sizeof(large)}, PMIX_ERR_INVALID_CRED},
        {FAILS, {(char *)"proof of x", 11}, PMIX_ERR_INVALID_CRED},
        {CRASHES, {(char *)"proof of x", 11}, PMIX_ERR_NOT_AVAILABLE},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) results = {0};

        how = rows[i].how;
        ck_assert_int_eq(ask("waits", false, &rows[i].bytes, &results, NULL),
                         rows[i].status);
        if (rows[i].status)
            continue;
        ck_assert_uint_eq(px_info_u32(results.v, results.n, PMIX_USERID, 0), 4711);
        ck_assert_uint_eq(px_info_u32(results.v, results.n, PMIX_GRPID, 0), 4712);
        ck_assert_str_eq(px_info_str(results.v, results.n, PMIX_CRED_TYPE), "waits");
    }
}

static atomic_int n_late;

static void on_late(pmix_status_t status, pmix_byte_object_t *cred PX_UNUSED,
                    pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                    void *cbdata PX_UNUSED)
{
    n_late += status == PMIX_ERR_TIMEOUT;
    raw_on_end(status, &raw_ended);
}

/* More requests than children that run at a time. */
PX_TEST(requests_that_wait_for_a_child_end_in_time_and_with_the_server)
{
    enum { N = 6 };
    pmix_info_t infos[2];

    how = HANGS;
    PMIx_Info_load(&infos[0], PMIX_CRED_TYPE, "waits", PMIX_STRING);
    PMIx_Info_load(&infos[1], PMIX_TIMEOUT, &(uint32_t){1}, PMIX_UINT32);
    for (int i = 0; i < N; i++)
        ok(PMIx_Get_credential_nb(infos, 2, on_late, NULL));
    for (int i = 0; i < N; i++)
        fails(raw_await_end(), TIMEOUT);
    ck_assert_int_eq(n_late, N);
    PMIx_Info_load(&infos[1], PMIX_TIMEOUT, "soon", PMIX_STRING);
    fails(PMIx_Get_credential(infos, 2, &(pmix_byte_object_t){0}), BAD_PARAM);
    for (int i = 0; i < N; i++)
        ok(PMIx_Get_credential_nb(infos, 1, on_late, NULL));
    ok(PMIx_server_finalize());
    for (int i = 0; i < N; i++)
        ck_assert_int_ne(raw_await_end(), PMIX_SUCCESS);
    PMIx_Info_destruct(&infos[0]);
    PMIx_Info_destruct(&infos[1]);
}

PX_TEST_MAIN("server/credential", setup, host_end)

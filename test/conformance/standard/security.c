/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's chapter "Security": credentials. */
#include "standard.h"

#include <string.h>
#include <unistd.h>

/* ---- a host with functions for credentials ------------------------------------------------- */

static struct {
    pmix_status_t admits; /* status for clients that connect */
    unsigned n_connected;
    pmix_info_t info[8];
    size_t n_info;
    char cred[8];
    unsigned n_calls;
} host;

static void keep(const pmix_info_t *info, size_t n)
{
    host.n_calls++;
    ck_assert_uint_le(n, 8);
    for (host.n_info = 0; host.n_info < n; host.n_info++)
        ok(PMIx_Info_xfer(&host.info[host.n_info], &info[host.n_info]));
}

static pmix_status_t host_get(const pmix_proc_t *proc PX_UNUSED,
                              const pmix_info_t *info, size_t n,
                              pmix_credential_cbfunc_t cb, void *cbdata)
{
    pmix_byte_object_t cred = {.bytes = (char *)"made", .size = 4};

    keep(info, n);
    cb(PMIX_SUCCESS, &cred, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t host_validate(const pmix_proc_t *proc PX_UNUSED,
                                   const pmix_byte_object_t *cred,
                                   const pmix_info_t *info, size_t n,
                                   pmix_validation_cbfunc_t cb, void *cbdata)
{
    keep(info, n);
    ck_assert_uint_lt(cred->size, sizeof(host.cred));
    memcpy(host.cred, cred->bytes, cred->size);
    cb(PMIX_SUCCESS, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t host_connected(const pmix_proc_t *proc PX_UNUSED,
                                    void *object PX_UNUSED,
                                    pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED,
                                    pmix_op_cbfunc_t cb PX_UNUSED,
                                    void *cbdata PX_UNUSED)
{
    host.n_connected++;
    return host.admits ? host.admits : PMIX_OPERATION_SUCCEEDED;
}

static void host_tool(pmix_info_t *info, size_t n, pmix_tool_connection_cbfunc_t cb,
                      void *cbdata)
{
    pmix_proc_t tool = {"tool", 0};

    keep(info, n);
    cb(host.admits, &tool, cbdata);
}

static void start(bool has_functions)
{
    static pmix_server_module_t none, all = {.get_credential = host_get,
                                             .validate_credential = host_validate,
                                             .client_connected2 = host_connected,
                                             .tool_connected = host_tool};
    pmix_info_t tools;

    PMIx_Info_load(&tools, PMIX_SERVER_TOOL_SUPPORT, NULL, PMIX_BOOL);
    ok(PMIx_server_init(has_functions ? &all : &none, &tools, 1));
}

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

static pmix_info_t own_info(void)
{
    pmix_info_t info;

    PMIx_Info_load(&info, "example.own", "text", PMIX_STRING);
    return info;
}

static void host_has_user(void)
{
    const pmix_info_t *uid = standard_find(host.info, host.n_info, PMIX_USERID);
    const pmix_info_t *gid = standard_find(host.info, host.n_info, PMIX_GRPID);

    ck_assert(uid && uid->value.data.uint32 == geteuid());
    ck_assert(gid && gid->value.data.uint32 == getegid());
}

static void host_has_all(unsigned n_calls)
{
    ck_assert_uint_eq(host.n_calls, n_calls);
    host_has_user();
    ck_assert(standard_find(host.info, host.n_info, "example.own"));
}

static void on_cred(pmix_status_t status, pmix_byte_object_t *cred, pmix_info_t *info,
                    size_t n, void *cbdata)
{
    const pmix_info_t *type = standard_find(info, n, PMIX_CRED_TYPE);

    if (!status && (!cred || cred->size == 0 || (!type && host.n_calls == 0)))
        status = PMIX_ERROR;
    standard_on_op(status, cbdata);
}

static void on_valid(pmix_status_t status, pmix_info_t info[] PX_UNUSED,
                     size_t n PX_UNUSED, void *cbdata)
{
    standard_on_op(status, cbdata);
}

PX_TEST(attributes_of_get_credential_must_be_passed_with_user_and_group)
{
    pmix_info_t info = own_info();
    pmix_byte_object_t cred = {0};

    start(true);
    ok(PMIx_Get_credential(&info, 1, &cred));
    ck_assert_uint_eq(cred.size, 4);
    ck_assert_mem_eq(cred.bytes, "made", 4);
    host_has_all(1);
    free(cred.bytes);
    ok(standard_wait(PMIx_Get_credential_nb(&info, 1, on_cred, NULL)));
    host_has_all(2);
}

PX_TEST(attributes_of_validate_credential_must_be_passed_with_user_and_group)
{
    pmix_info_t info = own_info(), *results = NULL;
    pmix_byte_object_t cred = {.bytes = (char *)"given", .size = 5};
    size_t n = 0;

    start(true);
    ok(PMIx_Validate_credential(&cred, &info, 1, &results, &n));
    ck_assert_str_eq(host.cred, "given");
    host_has_all(1);
    ok(standard_wait(PMIx_Validate_credential_nb(&cred, &info, 1, on_valid, NULL)));
    host_has_all(2);
}

/* ---- connections --------------------------------------------------------------------------- */

STANDARD_CLIENT(connects)
{
}

/* Runs a client that the host has registered with a user and a group. Returns its exit status. */
static int connect_as(uid_t uid, gid_t gid)
{
    static pmix_rank_t next;
    pmix_proc_t proc = {"job", next++};
    uint32_t size = 4;
    pmix_info_t info;

    PMIx_Info_load(&info, PMIX_JOB_SIZE, &size, PMIX_UINT32);
    if (proc.rank == 0)
        ok(standard_wait(PMIx_server_register_nspace(proc.nspace, 4, &info, 1,
                                                     standard_on_op, NULL)));
    ok(standard_wait(
        PMIx_server_register_client(&proc, uid, gid, NULL, standard_on_op, NULL)));
    return standard_fork(&proc, "connects");
}

PX_TEST(the_server_is_required_to_drop_a_connection_of_another_user_than_registered)
{
    start(true);
    ck_assert_int_eq(connect_as(geteuid(), getegid()), 0);
    ck_assert_uint_eq(host.n_connected, 1);
    ck_assert_int_ne(connect_as(geteuid() + 1, getegid()), 0);
    ck_assert_int_ne(connect_as(geteuid(), getegid() + 1), 0);
    ck_assert_uint_eq(host.n_connected, 1);
}

PX_TEST(clients_must_be_preregistered)
{
    const pmix_proc_t stranger = {"job", 3};

    start(true);
    ck_assert_int_eq(connect_as(geteuid(), getegid()), 0);
    ck_assert_int_ne(standard_fork(&stranger, "connects"), 0);
    ck_assert_uint_eq(host.n_connected, 1);
}

PX_TEST(the_server_is_required_to_drop_a_connection_that_the_host_refuses)
{
    start(true);
    host.admits = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_ne(connect_as(geteuid(), getegid()), 0);
    ck_assert_uint_eq(host.n_connected, 1);
}

STANDARD_TOOL(tool)
{
    STANDARD_CHECK(PMIx_Check_nspace(standard_me.nspace, "tool"));
}

PX_TEST(the_server_is_required_to_report_the_user_and_the_group_of_a_tool)
{
    start(true);
    ck_assert_int_eq(standard_fork(NULL, "tool"), 0);
    host_has_user();
    host.admits = PMIX_ERR_NO_PERMISSIONS;
    ck_assert_int_ne(standard_fork(NULL, "tool"), 0);
    ck_assert_uint_eq(host.n_calls, 2);
}

/* ---- the library serves -------------------------------------------------------------------- */

/* Validates a credential, which must prove this user. */
static void proves_this_user(const pmix_byte_object_t *cred, pmix_info_t *how,
                             size_t n_how)
{
    pmix_info_t *results = NULL;
    size_t n = 0;

    ok(PMIx_Validate_credential(cred, how, n_how, &results, &n));
    const pmix_info_t *uid = standard_find(results, n, PMIX_USERID);
    const pmix_info_t *gid = standard_find(results, n, PMIX_GRPID);
    const pmix_info_t *type = standard_find(results, n, PMIX_CRED_TYPE);

    ck_assert(uid && uid->value.data.uint32 == geteuid());
    ck_assert(gid && gid->value.data.uint32 == getegid());
    ck_assert(type && strcmp(type->value.data.string, "native") == 0);
}

PX_TEST(success_indicates_that_the_credential_was_valid)
{
    pmix_info_t type, *results = NULL;
    pmix_byte_object_t cred = {0};
    size_t n = 0;

    start(false);
    PMIx_Info_load(&type, PMIX_CRED_TYPE, "example,native", PMIX_STRING);
    PMIx_Info_required(&type);
    ok(PMIx_Get_credential(&type, 1, &cred));
    proves_this_user(&cred, NULL, 0);
    proves_this_user(&cred, &type, 1);
    for (size_t i = 0; i < cred.size; i++) {
        cred.bytes[i] ^= 1;
        fails(PMIx_Validate_credential(&cred, &type, 1, &results, &n), INVALID_CRED);
        cred.bytes[i] ^= 1;
    }
    cred.size--;
    fails(PMIx_Validate_credential(&cred, &type, 1, &results, &n), INVALID_CRED);
}

PX_TEST(a_type_that_nobody_makes_is_refused)
{
    pmix_info_t type, *results = NULL;
    pmix_byte_object_t cred = {.bytes = (char *)"x", .size = 1};
    size_t n = 0;

    start(false);
    PMIx_Info_load(&type, PMIX_CRED_TYPE, "example", PMIX_STRING);
    fails(PMIx_Validate_credential(&cred, &type, 1, &results, &n), NOT_SUPPORTED);
    fails(PMIx_Get_credential(&type, 1, &cred), NOT_SUPPORTED);
}

PX_TEST(a_required_crypto_key_is_refused)
{
    pmix_byte_object_t key = {.bytes = (char *)"key", .size = 3}, cred = {0};
    pmix_info_t info;

    start(false);
    PMIx_Info_load(&info, PMIX_CRYPTO_KEY, &key, PMIX_BYTE_OBJECT);
    PMIx_Info_required(&info);
    fails(PMIx_Get_credential(&info, 1, &cred), NOT_SUPPORTED);
}

PX_TEST(the_callback_gets_the_type_of_the_credential)
{
    start(false);
    ok(standard_wait(PMIx_Get_credential_nb(NULL, 0, on_cred, NULL)));
}

/* A credential of one client is valid for another client of the server. */
STANDARD_CLIENT(exchange)
{
    pmix_byte_object_t cred = {0};
    pmix_info_t *results = NULL, type;
    pmix_value_t value, *got = NULL;
    pmix_proc_t other = standard_me;
    size_t n = 0;

    PMIx_Info_load(&type, PMIX_CRED_TYPE, "native", PMIX_STRING);
    STANDARD_CHECK(PMIx_Get_credential(&type, 1, &cred) == PMIX_SUCCESS);
    PMIx_Value_load(&value, &cred, PMIX_BYTE_OBJECT);
    STANDARD_CHECK(PMIx_Put(PMIX_GLOBAL, "cred", &value) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Commit() == PMIX_SUCCESS);
    other.rank = 1 - standard_me.rank;
    STANDARD_CHECK(PMIx_Get(&other, "cred", NULL, 0, &got) == PMIX_SUCCESS);
    STANDARD_CHECK(PMIx_Validate_credential(&got->data.bo, NULL, 0, &results, &n) ==
                   PMIX_SUCCESS);
    const pmix_info_t *uid = standard_find(results, n, PMIX_USERID);
    STANDARD_CHECK(uid && uid->value.data.uint32 == geteuid());
    STANDARD_CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
}

PX_TEST(credentials_travel_between_clients)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 2", "exchange");
}

STANDARD_MAIN("standard/security", NULL, stop)

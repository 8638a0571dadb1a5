/* SPDX-License-Identifier: BSD-3-Clause */
/* The Standard's chapter "Publish/Lookup Operations". */
#include "standard.h"

#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static char key[] = "example.key", other[] = "example.other", *keys[] = {key, NULL};

static void stop(void)
{
    if (PMIx_Initialized())
        (void)PMIx_server_finalize();
}

/* ---- a host with a datastore --------------------------------------------------------------- */

static struct {
    pmix_info_t info[8];
    size_t n;
} host;

static pmix_status_t keep(const pmix_info_t info[], size_t n)
{
    ck_assert_uint_le(n, 8);
    for (host.n = 0; host.n < n; host.n++)
        ok(PMIx_Info_xfer(&host.info[host.n], &info[host.n]));
    return PMIX_OPERATION_SUCCEEDED;
}

static pmix_status_t host_publish(const pmix_proc_t *proc PX_UNUSED,
                                  const pmix_info_t info[], size_t n,
                                  pmix_op_cbfunc_t cb PX_UNUSED, void *cbdata PX_UNUSED)
{
    return keep(info, n);
}

static pmix_status_t host_lookup(const pmix_proc_t *proc PX_UNUSED,
                                 char **wanted PX_UNUSED, const pmix_info_t info[],
                                 size_t n, pmix_lookup_cbfunc_t cb, void *cbdata)
{
    (void)keep(info, n);
    cb(PMIX_ERR_NOT_FOUND, NULL, 0, cbdata);
    return PMIX_SUCCESS;
}

static pmix_status_t host_unpublish(const pmix_proc_t *proc PX_UNUSED,
                                    char **wanted PX_UNUSED, const pmix_info_t info[],
                                    size_t n, pmix_op_cbfunc_t cb PX_UNUSED,
                                    void *cbdata PX_UNUSED)
{
    return keep(info, n);
}

static pmix_pdata_t *found;
static size_t n_found;

static void on_found(pmix_status_t status, pmix_pdata_t data[], size_t n, void *cbdata)
{
    found = data;
    n_found = n;
    standard_on_op(status, cbdata);
}

PX_TEST_LOOP(attributes_must_be_passed_with_the_user_and_the_group, 6)
{
    static pmix_server_module_t module = {
        .publish = host_publish, .lookup = host_lookup, .unpublish = host_unpublish};
    pmix_pdata_t data = {.key = "example.key"};
    pmix_info_t own;

    ok(PMIx_server_init(&module, NULL, 0));
    PMIx_Info_load(&own, "example.own", NULL, PMIX_BOOL);
    const pmix_status_t rc =
        _i == 0   ? PMIx_Publish(&own, 1)
        : _i == 1 ? standard_wait(PMIx_Publish_nb(&own, 1, standard_on_op, NULL))
        : _i == 2 ? PMIx_Lookup(&data, 1, &own, 1)
        : _i == 3 ? standard_wait(PMIx_Lookup_nb(keys, &own, 1, on_found, NULL))
        : _i == 4
            ? PMIx_Unpublish(keys, &own, 1)
            : standard_wait(PMIx_Unpublish_nb(keys, &own, 1, standard_on_op, NULL));
    ck_assert_int_eq(rc, _i == 2 || _i == 3 ? PMIX_ERR_NOT_FOUND : PMIX_SUCCESS);
    ck_assert(standard_find(host.info, host.n, "example.own"));
    const pmix_info_t *uid = standard_find(host.info, host.n, PMIX_USERID);
    const pmix_info_t *gid = standard_find(host.info, host.n, PMIX_GRPID);
    ck_assert(uid && uid->value.data.uint32 == geteuid());
    ck_assert(gid && gid->value.data.uint32 == getegid());
}

/* ---- the built-in host's datastore --------------------------------------------------------- */

static pmix_status_t publish(const char *name, const char *how, const void *value,
                             pmix_data_type_t type)
{
    pmix_info_t info[2];

    PMIx_Info_load(&info[0], name, "text", PMIX_STRING);
    PMIx_Info_load(&info[1], how ? how : "example.own", value, how ? type : PMIX_BOOL);
    pmix_status_t rc = PMIx_Publish(info, how ? 2 : 1);
    PMIx_Info_destruct(&info[0]);
    PMIx_Info_destruct(&info[1]);
    return rc;
}

PX_TEST(duplicate_keys_on_the_same_range_shall_return_an_error)
{
    ok(PMIx_server_init(NULL, NULL, 0));
    ok(publish(key, NULL, NULL, PMIX_BOOL));
    fails(publish(key, NULL, NULL, PMIX_BOOL), DUPLICATE_KEY);
}

PX_TEST_LOOP(duplicate_keys_are_permitted_on_different_ranges, 2)
{
    static const pmix_data_range_t ranges[] = {PMIX_RANGE_NAMESPACE, PMIX_RANGE_GLOBAL};
    pmix_pdata_t data = {.key = "example.key"};

    ok(PMIx_server_init(NULL, NULL, 0));
    ok(publish(key, NULL, NULL, PMIX_BOOL));
    ok(publish(key, PMIX_RANGE, &ranges[_i], PMIX_DATA_RANGE));
    fails(publish(key, PMIX_RANGE, &ranges[_i], PMIX_DATA_RANGE), DUPLICATE_KEY);
    ok(PMIx_Lookup(&data, 1, NULL, 0));
    PMIx_Value_destruct(&data.value);
    ok(PMIx_Unpublish(keys, NULL, 0)); /* in the session, by default */
    fails(publish(key, PMIX_RANGE, &ranges[_i], PMIX_DATA_RANGE), DUPLICATE_KEY);
}

PX_TEST(pdata_shall_be_null_and_npdata_zero_if_nothing_is_found)
{
    ok(PMIx_server_init(NULL, NULL, 0));
    n_found = 1;
    found = (pmix_pdata_t *)&n_found;
    fails(standard_wait(PMIx_Lookup_nb(keys, NULL, 0, on_found, NULL)), NOT_FOUND);
    ck_assert_ptr_null(found);
    ck_assert_uint_eq(n_found, 0);
}

PX_TEST(the_status_shall_be_that_of_all_some_or_no_data)
{
    pmix_pdata_t data[] = {{.key = "example.key"}, {.key = "example.other"}};

    ok(PMIx_server_init(NULL, NULL, 0));
    fails(PMIx_Lookup(data, 2, NULL, 0), NOT_FOUND);
    ok(publish(key, NULL, NULL, PMIX_BOOL));
    fails(PMIx_Lookup(data, 2, NULL, 0), PARTIAL_SUCCESS);
    ck_assert_str_eq(data[0].value.data.string, "text");
    ck_assert_int_eq(data[1].value.type, PMIX_UNDEF);
    PMIx_Value_destruct(&data[0].value);
    ok(publish(other, NULL, NULL, PMIX_BOOL));
    ok(PMIx_Lookup(data, 2, NULL, 0));
    PMIx_Value_destruct(&data[0].value);
    PMIx_Value_destruct(&data[1].value);
}

/* ---- permissions --------------------------------------------------------------------------- */

/* Users of the processes, which are also their groups. The test's user is the server's. */
enum { PUBLISHER = 12345, READER = 12346, GROUP = 12347 };

/* Takes the user that the test names, before the program is a client. */
__attribute__((constructor)) static void become(void)
{
    const char *user = getenv("PX_TEST_USER");
    const uid_t uid = user ? (uid_t)atoi(user) : 0;

    if (user && (setresgid(uid, uid, uid) || setresuid(uid, uid, uid) ||
                 prctl(PR_SET_DUMPABLE, 1)))
        _exit(126);
}

/* Data that the publisher shares: with users, with groups, or with both. */
static const struct {
    const char *key;
    uint32_t uid, gid; /* 0: no list */
    pmix_data_range_t asked;
    pmix_status_t wanted; /* by the reader */
} shared[] = {
    {"of.reader", READER, 0, PMIX_RANGE_GLOBAL, PMIX_SUCCESS},
    {"of.readers", 0, READER, PMIX_RANGE_LOCAL, PMIX_SUCCESS},
    {"of.both", READER, READER, PMIX_RANGE_GLOBAL, PMIX_SUCCESS},
    {"of.publisher", PUBLISHER, 0, PMIX_RANGE_GLOBAL, PMIX_ERR_NO_PERMISSIONS},
    {"of.group", 0, GROUP, PMIX_RANGE_GLOBAL, PMIX_ERR_NO_PERMISSIONS},
    {"of.user.and.group", READER, GROUP, PMIX_RANGE_GLOBAL, PMIX_ERR_NO_PERMISSIONS},
    {"of.session", READER, 0, PMIX_RANGE_SESSION, PMIX_ERR_NOT_FOUND},
    {"own", 0, 0, PMIX_RANGE_GLOBAL, PMIX_ERR_NOT_FOUND}};
enum { N_SHARED = sizeof(shared) / sizeof(shared[0]) };

STANDARD_CLIENT(shares)
{
    static const pmix_data_range_t all = PMIX_RANGE_GLOBAL;

    for (size_t i = 0; i < N_SHARED; i++) {
        const pmix_data_array_t users = {.type = PMIX_UINT32,
                                         .size = 1,
                                         .array = (void *)&shared[i].uid},
                                groups = {.type = PMIX_UINT32,
                                          .size = 1,
                                          .array = (void *)&shared[i].gid};
        pmix_info_t inner[2], info[3];
        size_t n = 0;

        if (shared[i].uid)
            PMIx_Info_load(&inner[n++], PMIX_ACCESS_USERIDS, &users, PMIX_DATA_ARRAY);
        if (shared[i].gid)
            PMIx_Info_load(&inner[n++], PMIX_ACCESS_GRPIDS, &groups, PMIX_DATA_ARRAY);
        const pmix_data_array_t permissions = {
            .type = PMIX_INFO, .size = n, .array = inner};
        PMIx_Info_load(&info[0], shared[i].key, "text", PMIX_STRING);
        PMIx_Info_load(&info[1], PMIX_RANGE, &all, PMIX_DATA_RANGE);
        PMIx_Info_load(&info[2], PMIX_ACCESS_PERMISSIONS, &permissions,
                       PMIX_DATA_ARRAY);
        PMIx_Info_required(&info[2]);
        STANDARD_CHECK(PMIx_Publish(info, n > 0 ? 3 : 2) == PMIX_SUCCESS);
        for (size_t k = 0; k < n; k++)
            PMIx_Info_destruct(&inner[k]);
        for (size_t k = 0; k < 3; k++)
            PMIx_Info_destruct(&info[k]);
    }
}

STANDARD_CLIENT(reads)
{
    for (size_t i = 0; i < N_SHARED; i++) {
        pmix_pdata_t data = {0};
        pmix_info_t range;

        snprintf(data.key, sizeof(data.key), "%s", shared[i].key);
        PMIx_Info_load(&range, PMIX_RANGE, &shared[i].asked, PMIX_DATA_RANGE);
        STANDARD_CHECK(PMIx_Lookup(&data, 1, &range, 1) == shared[i].wanted);
        STANDARD_CHECK(shared[i].wanted ||
                       PMIx_Check_nspace(data.proc.nspace, "PUBLISHER"));
        PMIx_Value_destruct(&data.value);
    }
}

/* Runs a client as a user of a server of root. */
static int run_as(uid_t uid, const char *nspace, const char *client)
{
    pmix_proc_t proc = {.rank = 0};
    char user[16];

    PMIx_Load_nspace(proc.nspace, nspace);
    ok(standard_wait(
        PMIx_server_register_nspace(proc.nspace, 1, NULL, 0, standard_on_op, NULL)));
    ok(standard_wait(
        PMIx_server_register_client(&proc, uid, uid, NULL, standard_on_op, NULL)));
    snprintf(user, sizeof(user), "%u", uid);
    setenv("PX_TEST_USER", user, 1);
    const int status = standard_fork(&proc, client);
    unsetenv("PX_TEST_USER");
    return status;
}

PX_TEST(effective_users_and_groups_shall_be_checked_against_the_permissions)
{
    PX_TEST_NEEDS(geteuid() == 0, "root");
    ok(PMIx_server_init(NULL, NULL, 0));
    ck_assert_int_eq(run_as(PUBLISHER, "PUBLISHER", "shares"), 0);
    ck_assert_int_eq(run_as(READER, "READER", "reads"), 0);
}

STANDARD_CLIENT(ranges)
{
    static const struct {
        pmix_data_range_t of_publisher, of_requester;
        pmix_status_t wanted;
    } rows[] = {{PMIX_RANGE_SESSION, PMIX_RANGE_SESSION, PMIX_SUCCESS},
                {PMIX_RANGE_NAMESPACE, PMIX_RANGE_GLOBAL, PMIX_SUCCESS},
                {PMIX_RANGE_PROC_LOCAL, PMIX_RANGE_GLOBAL, PMIX_ERR_NOT_FOUND},
                {PMIX_RANGE_SESSION, PMIX_RANGE_PROC_LOCAL, PMIX_ERR_NOT_FOUND}};

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        pmix_pdata_t data = {0};
        pmix_info_t range;

        snprintf(data.key, sizeof(data.key), "key.%zu", i);
        PMIx_Info_load(&range, PMIX_RANGE, &rows[i].of_requester, PMIX_DATA_RANGE);
        if (standard_me.rank == 0)
            STANDARD_CHECK(publish(data.key, PMIX_RANGE, &rows[i].of_publisher,
                                   PMIX_DATA_RANGE) == PMIX_SUCCESS);
        STANDARD_CHECK(PMIx_Fence(NULL, 0, NULL, 0) == PMIX_SUCCESS);
        if (standard_me.rank == 1)
            STANDARD_CHECK(PMIx_Lookup(&data, 1, &range, 1) == rows[i].wanted);
        STANDARD_CHECK(rows[i].wanted || standard_me.rank == 0 ||
                       PMIx_Check_nspace(data.proc.nspace, standard_me.nspace));
        PMIx_Value_destruct(&data.value);
    }
}

PX_TEST(processes_outside_of_the_range_shall_be_rejected)
{
    STANDARD_NEEDS_PMIXRUN;
    standard_run("-n 2", "ranges");
}

STANDARD_MAIN("standard/publish", NULL, stop)

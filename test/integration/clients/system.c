/* SPDX-License-Identifier: BSD-3-Clause */
/* system served|served-but-fabrics|refused: what a process may ask of the system around its job, under a
 * host that answers (host/host_system.c), or under one that offers none of it. */
#include "client.h"

static pmix_info_t how;
static atomic_int done;
static pmix_status_t result;

static const pmix_info_t *find(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIX_CHECK_KEY(&info[i], key))
            return &info[i];
    return NULL;
}

static void on_done(pmix_status_t status, void *arg)
{
    CHECK(arg == &done);
    result = status;
    done = 1;
}

static pmix_status_t await(pmix_status_t rc)
{
    if (rc == PMIX_SUCCESS) {
        CHECK(wait_for(&done, 20));
        done = 0;
        return result;
    }
    return rc;
}

/* ---- allocations ----------------------------------------------------------------- */

static void good_allocation(const pmix_info_t *info, size_t n)
{
    const pmix_info_t *id = find(info, n, PMIX_ALLOC_ID);
    const pmix_info_t *directive = find(info, n, "test.directive");

    CHECK(id && strcmp(id->value.data.string, "number 17") == 0);
    CHECK(directive && directive->value.type == PMIX_ALLOC_DIRECTIVE);
    CHECK(directive->value.data.adir == PMIX_ALLOC_EXTEND);
}

static void on_allocated(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                         pmix_release_cbfunc_t release, void *data)
{
    if (status == PMIX_SUCCESS)
        good_allocation(info, n);
    if (release)
        release(data);
    on_done(status, arg);
}

static void allocate(pmix_status_t wanted)
{
    pmix_info_t *info = NULL;
    size_t n = 0;

    EXPECT(PMIx_Allocation_request(PMIX_ALLOC_EXTEND, &how, 1, &info, &n), wanted);
    if (wanted == PMIX_SUCCESS)
        good_allocation(info, n);
    if (info)
        PMIX_INFO_FREE(info, n);
    EXPECT(await(PMIx_Allocation_request_nb(PMIX_ALLOC_EXTEND, &how, 1, on_allocated,
                                            (void *)&done)),
           wanted);
}

/* ---- credentials ----------------------------------------------------------------- */

static void on_credential(pmix_status_t status, pmix_byte_object_t *cred,
                          pmix_info_t info[], size_t n, void *arg)
{
    if (status == PMIX_SUCCESS) {
        const pmix_info_t *type = find(info, n, PMIX_CRED_TYPE);

        CHECK(strncmp(cred->bytes, "this is ", 8) == 0);
        CHECK(type && strcmp(type->value.data.string, "test") == 0);
    }
    on_done(status, arg);
}

static void on_validation(pmix_status_t status, pmix_info_t info[], size_t n, void *arg)
{
    if (status == PMIX_SUCCESS) {
        const pmix_info_t *uid = find(info, n, PMIX_USERID);

        CHECK(uid && uid->value.data.uint32 == getuid());
    }
    on_done(status, arg);
}

static void credentials(pmix_status_t wanted)
{
    pmix_byte_object_t cred = {NULL, 0}, wrong = {(char *)"wrong", 6};
    pmix_info_t *info = NULL;
    size_t n = 0;

    EXPECT(PMIx_Get_credential(&how, 1, &cred), wanted);
    EXPECT(await(PMIx_Get_credential_nb(&how, 1, on_credential, (void *)&done)),
           wanted);
    if (wanted != PMIX_SUCCESS) {
        EXPECT(PMIx_Validate_credential(&wrong, &how, 1, &info, &n), wanted);
        return;
    }
    GOOD(PMIx_Validate_credential(&cred, &how, 1, &info, &n));
    CHECK(find(info, n, PMIX_USERID));
    PMIX_INFO_FREE(info, n);
    GOOD(await(
        PMIx_Validate_credential_nb(&cred, &how, 1, on_validation, (void *)&done)));
    EXPECT(PMIx_Validate_credential(&wrong, &how, 1, &info, &n), PMIX_ERR_INVALID_CRED);
    free(cred.bytes);
}

/* ---- monitoring ------------------------------------------------------------------ */

static void monitor(pmix_status_t wanted)
{
    pmix_info_t what = info_bool("test.monitor"), beat = info_bool(PMIX_SEND_HEARTBEAT);
    pmix_info_t *info = NULL;
    pmix_status_t rc;
    size_t n = 0;

    EXPECT(PMIx_Process_monitor(&what, PMIX_MONITOR_FILE_ALERT, &how, 1, &info, &n),
           wanted);
    if (info) {
        const pmix_info_t *error = find(info, n, "test.error");

        CHECK(error && error->value.data.status == PMIX_MONITOR_FILE_ALERT);
        PMIX_INFO_FREE(info, n);
    } else { /* the foreign server answers by itself, whatever is to be watched */
        CHECK(wanted != PMIX_SUCCESS || !strict());
    }
    rc = PMIx_Process_monitor_nb(&beat, PMIX_SUCCESS, NULL, 0, NULL, NULL);
    /* Goes, whether somebody listens or not. */
    CHECK(rc == PMIX_OPERATION_SUCCEEDED || !strict());
}

/* ---- fabrics --------------------------------------------------------------------- */

static uint32_t generation(const pmix_fabric_t *f)
{
    const pmix_info_t *g = find(f->info, f->ninfo, "test.generation");

    return g ? g->value.data.uint32 : 0;
}

static void fabrics(pmix_status_t wanted)
{
    pmix_fabric_t f = PMIX_FABRIC_STATIC_INIT;

    EXPECT(PMIx_Fabric_register(&f, &how, 1), wanted);
    if (wanted != PMIX_SUCCESS)
        return;
    CHECK(generation(&f) == 1);
    if (find(f.info, f.ninfo, PMIX_FABRIC_INDEX))
        f.index = find(f.info, f.ninfo, PMIX_FABRIC_INDEX)->value.data.size;
    CHECK(f.index == 5);
    GOOD(PMIx_Fabric_update(&f));
    CHECK(generation(&f) == 2);
    GOOD(await(PMIx_Fabric_update_nb(&f, on_done, (void *)&done)));
    CHECK(generation(&f) == 2);
    GOOD(PMIx_Fabric_deregister(&f));
    CHECK(!f.info);
}

int main(int argc, char **argv)
{
    bool served = argc > 1 && strncmp(argv[1], "served", 6) == 0;
    pmix_status_t wanted = served ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;

    begin();
    PMIX_INFO_LOAD(&how, "test.how", "well", PMIX_STRING);
    allocate(wanted);
    credentials(wanted);
    monitor(wanted);
    if (argc > 1 && strcmp(argv[1], "served-but-fabrics") != 0)
        fabrics(wanted);
    PMIX_INFO_DESTRUCT(&how);
    barrier(); /* the connection is as good as before */
    return end("system");
}

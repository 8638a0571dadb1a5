/* SPDX-License-Identifier: BSD-3-Clause */
/* nulls: under a host that implements nothing. What one server can do alone works,
 * the rest is refused in so many words. */
#include "client.h"

static atomic_int done;
static pmix_status_t result;

static void on_done(pmix_status_t status, void *arg)
{
    (void)arg;
    result = status;
    done = 1;
}

static void refused(void)
{
    char *keys[] = {(char *)"k", NULL};
    pmix_info_t info = info_bool("k");
    pmix_pdata_t pd;
    pmix_nspace_t child;
    pmix_status_t rc;
    pmix_app_t app;

    EXPECT(PMIx_Publish(&info, 1), PMIX_ERR_NOT_SUPPORTED);
    PMIX_PDATA_CONSTRUCT(&pd);
    PMIX_LOAD_KEY(pd.key, "k");
    EXPECT(PMIx_Lookup(&pd, 1, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    EXPECT(PMIx_Unpublish(keys, NULL, 0), PMIX_ERR_NOT_SUPPORTED);
    PMIX_APP_CONSTRUCT(&app);
    app.cmd = strdup("true");
    app.maxprocs = 1;
    PMIX_ARGV_APPEND(rc, app.argv, "true");
    GOOD(rc);
    EXPECT(PMIx_Spawn(NULL, 0, &app, 1, child), PMIX_ERR_NOT_SUPPORTED);
    PMIX_APP_DESTRUCT(&app);
    rc = PMIx_Publish_nb(&info, 1, on_done, NULL);
    if (rc == PMIX_SUCCESS) {
        CHECK(wait_for(&done, 10));
        rc = result;
    }
    EXPECT(rc, PMIX_ERR_NOT_SUPPORTED);
}

int main(void)
{
    pmix_proc_t next;
    uint32_t n;

    begin();
    next = rank_of((me.rank + 1) % job_size);
    put_u32(PMIX_GLOBAL, "mine", me.rank);
    GOOD(PMIx_Commit());
    barrier();
    GOOD(fence_with_data());
    GOOD(get_u32(&next, "mine", NULL, 0, &n));
    CHECK(n == next.rank);
    refused();
    barrier();
    return end("nulls");
}

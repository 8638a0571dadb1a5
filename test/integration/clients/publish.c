/* SPDX-License-Identifier: BSD-3-Clause */
/* publish: publish, lookup of what is there, of what is not, of what comes later;
 * unpublish. */
#include "client.h"

static atomic_int answered;
static pmix_status_t answer;

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t n, void *arg)
{
    (void)data;
    (void)arg;
    answer = status;
    if (status == PMIX_SUCCESS && n != 1)
        answer = PMIX_ERROR;
    answered = 1;
}

static pmix_status_t look(const char *key, const pmix_info_t *info, size_t n,
                          uint32_t *value, pmix_proc_t *owner)
{
    pmix_pdata_t pd;
    pmix_status_t rc;

    PMIX_PDATA_CONSTRUCT(&pd);
    PMIX_LOAD_KEY(pd.key, key);
    rc = PMIx_Lookup(&pd, 1, info, n);
    if (rc == PMIX_SUCCESS) {
        CHECK(pd.value.type == PMIX_UINT32);
        *value = pd.value.data.uint32;
        *owner = pd.proc;
    }
    PMIX_PDATA_DESTRUCT(&pd);
    return rc;
}

static void publish(const char *key, uint32_t value)
{
    pmix_info_t info[3];
    pmix_data_range_t range = PMIX_RANGE_NAMESPACE;
    pmix_persistence_t until = PMIX_PERSIST_APP;

    PMIX_INFO_LOAD(&info[0], key, &value, PMIX_UINT32);
    PMIX_INFO_LOAD(&info[1], PMIX_RANGE, &range, PMIX_DATA_RANGE);
    PMIX_INFO_LOAD(&info[2], PMIX_PERSISTENCE, &until, PMIX_PERSIST);
    GOOD(PMIx_Publish(info, 3));
}

int main(void)
{
    char *keys[] = {(char *)"pub.now", NULL};
    pmix_info_t wait[2] = {info_bool(PMIX_WAIT), info_timeout(10)};
    pmix_proc_t owner;
    uint32_t n = 0;

    begin();
    if (me.rank == 0)
        publish("pub.now", 42);
    barrier();
    GOOD(look("pub.now", NULL, 0, &n, &owner));
    CHECK(n == 42 && owner.rank == 0 && PMIX_CHECK_NSPACE(owner.nspace, me.nspace));
    EXPECT(look("pub.never", NULL, 0, &n, &owner), PMIX_ERR_NOT_FOUND);
    GOOD(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, NULL));
    CHECK(wait_for(&answered, 10) && answer == PMIX_SUCCESS);
    barrier();
    /* A host may answer a waiting lookup at once, too: the foreign ones do. */
    if (me.rank == 1)
        tell("lookup-wait", look("pub.late", wait, 2, &n, &owner));
    if (me.rank == 0) {
        sleep_ms(300);
        publish("pub.late", 43);
    }
    barrier();
    if (me.rank == 0)
        GOOD(PMIx_Unpublish(keys, NULL, 0));
    barrier();
    EXPECT(look("pub.now", NULL, 0, &n, &owner), PMIX_ERR_NOT_FOUND);
    GOOD(look("pub.late", NULL, 0, &n, &owner));
    CHECK(n == 43);
    barrier();
    if (me.rank == 0)
        GOOD(PMIx_Unpublish(NULL, NULL, 0));
    barrier();
    return end("publish");
}

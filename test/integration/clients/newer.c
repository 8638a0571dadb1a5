/* SPDX-License-Identifier: BSD-3-Clause */
/* newer served|refused: as system, with what release 4.2.2 has neither in its headers
 * nor in its library. */
#include "client.h"

static pmix_info_t how;
static atomic_int done;
static pmix_status_t result;

static void on_done(pmix_status_t status, void *arg)
{
    CHECK(arg == &done);
    result = status;
    done = 1;
}

static void on_session(pmix_status_t status, pmix_info_t *info, size_t n, void *arg,
                       pmix_release_cbfunc_t release, void *data)
{
    if (status == PMIX_SUCCESS)
        CHECK(n == 1 && PMIX_CHECK_KEY(&info[0], PMIX_SESSION_ID) &&
              info[0].value.data.uint32 == 3);
    release(data);
    on_done(status, arg);
}

static void result_is(pmix_status_t rc, pmix_status_t wanted)
{
    GOOD(rc);
    CHECK(wait_for(&done, 20));
    done = 0;
    EXPECT(result, wanted);
}

static void ask(pmix_status_t wanted)
{
    pmix_resource_unit_t units[] = {{1, 4}, {2, 9}};

    EXPECT(PMIx_Session_control(3, &how, 1, NULL, NULL),
           wanted ? wanted : PMIX_OPERATION_SUCCEEDED);
    result_is(PMIx_Session_control(3, &how, 1, on_session, (void *)&done), wanted);
    EXPECT(PMIx_Resource_block(2, (char *)"mine", units, 2, &how, 1), wanted);
    result_is(PMIx_Resource_block_nb(2, (char *)"mine", units, 2, &how, 1, on_done,
                                     (void *)&done),
              wanted);
}

int main(int argc, char **argv)
{
    bool served = argc > 1 && strcmp(argv[1], "served") == 0;

    begin();
    PMIX_INFO_LOAD(&how, "test.how", "well", PMIX_STRING);
    ask(served ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED);
    PMIX_INFO_DESTRUCT(&how);
    PMIx_Heartbeat();
    barrier(); /* the connection is as good as before */
    return end("newer");
}

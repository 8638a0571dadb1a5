/* SPDX-License-Identifier: BSD-3-Clause */
#include "seeker.h"

#include "core/rt/process.h"
#include "px_test.h"

#include <string.h>

pmix_proc_t seeker;
px_infos seeker_infos;

void seeker_setup(void)
{
    tool_dir_make();
    tool_server_start();
    unsetenv(PMIX_LAUNCHER_RNDZ_URI);
}

void seeker_teardown(void)
{
    px_infos_cleanup(&seeker_infos);
    tool_server_stop();
    tool_dir_remove();
}

void add(const char *key, const void *data, pmix_data_type_t type)
{
    ok(px_infos_add(&seeker_infos, key, data, type));
}

void add_u32(const char *key, uint32_t n)
{
    add(key, &n, PMIX_UINT32);
}

void add_yes(const char *key)
{
    add(key, &(bool){true}, PMIX_BOOL);
}

const char *content(const char *version)
{
    static char text[512];
    PX_AUTOFREE char *uri = tool_server_uri("server-1");

    snprintf(text, sizeof(text), "%s\n%s\n4711\n0:0\ntoday\n", uri,
             version ? version : "");
    if (!version)
        *(strchr(text, '\n') + 1) = '\0';
    return text;
}

void finds_it(void)
{
    ok(PMIx_tool_init(&seeker, seeker_infos.v, seeker_infos.n));
    ck_assert(PMIx_tool_is_connected());
    ok(PMIx_tool_finalize());
    ck_assert(!PMIx_Initialized());
    px_infos_cleanup(&seeker_infos);
    ck_assert_int_eq(tool_server.accepted, 1);
    tool_server.accepted = 0;
}

void fails_with(pmix_status_t status)
{
    memset(&seeker, 0x55, sizeof(seeker));
    ck_assert_int_eq(PMIx_tool_init(&seeker, seeker_infos.v, seeker_infos.n), status);
    ck_assert_uint_eq(seeker.rank, 0x55555555); /* as it was */
    ck_assert(!PMIx_Initialized());
    ck_assert_ptr_null(px_process.loop);
    ck_assert_ptr_null(px_process.tool);
    px_infos_cleanup(&seeker_infos);
}

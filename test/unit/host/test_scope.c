/* SPDX-License-Identifier: BSD-3-Clause */
/* Scopes of publications: permissions that cannot be read, and bounds. */
#include "core/host/pubs/scope.h"

#include <stdlib.h>
#include <string.h>

#include "px_test.h"

static struct px_pubs pubs;

static void setup(void)
{
    px_pubs_init(&pubs, NULL);
}

static void teardown(void)
{
    px_pubs_fini(&pubs);
    ck_assert_uint_eq(pubs.size_b, 0);
}

PX_TEST(permissions_that_cannot_be_read_are_refused)
{
    static uint32_t many[PX_MAX_PUB_CHOSEN + 1];
    const pmix_proc_t proc = {"a", 0};
    pmix_info_t unknown = {.key = "example.permission"};
    pmix_data_array_t odd = {PMIX_UINT64, 1, many}, few = {PMIX_UINT32, 2, many},
                      permissions = {PMIX_INFO, 1, &unknown},
                      long_list = {PMIX_UINT32, PX_MAX_PUB_CHOSEN + 1, many};
    const struct {
        const char *key;
        pmix_data_array_t *value;
        pmix_status_t status;
    } rows[] = {{PMIX_ACCESS_USERIDS, &odd, PMIX_ERR_BAD_PARAM},
                {PMIX_ACCESS_GRPIDS, &long_list, PMIX_ERR_OUT_OF_RESOURCE},
                {PMIX_ACCESS_PERMISSIONS, &permissions, PMIX_ERR_NOT_SUPPORTED},
                {PMIX_ACCESS_PERMISSIONS, &odd, PMIX_ERR_BAD_PARAM},
                {PMIX_ACCESS_USERIDS, &few, PMIX_ERR_BAD_PARAM}, /* twice */
                {PMIX_ACCESS_GRPIDS, &few, PMIX_SUCCESS}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) l = {0};
        struct px_scope *scope = NULL;

        ok(px_infos_add(&l, rows[i].key, rows[i].value, PMIX_DATA_ARRAY));
        if (strcmp(rows[i].key, PMIX_ACCESS_USERIDS) == 0)
            ok(px_infos_add(&l, rows[i].key, rows[i].value, PMIX_DATA_ARRAY));
        ck_assert_int_eq(px_scope_create(&pubs, &proc, l.v, l.n, false, &scope),
                         rows[i].status);
        ck_assert(!scope || px_scope_is_shared(scope));
        px_scope_unref(scope);
    }
}

PX_TEST(a_process_has_a_key_on_a_limited_number_of_ranges)
{
    static const pmix_data_range_t custom = PMIX_RANGE_CUSTOM;
    const pmix_proc_t owner = {"a", 0};

    for (pmix_rank_t r = 0; r <= PX_MAX_PUB_RANGES; r++) {
        const pmix_proc_t other = {"b", r};
        PX_AUTO(px_infos) l = {0};

        ok(px_infos_add(&l, PMIX_RANGE, &custom, PMIX_DATA_RANGE));
        ok(px_infos_add(&l, PMIX_EVENT_CUSTOM_RANGE, &other, PMIX_PROC));
        ok(px_infos_add(&l, "key", "value", PMIX_STRING));
        ck_assert_int_eq(px_pubs_publish(&pubs, &owner, l.v, l.n),
                         r < PX_MAX_PUB_RANGES ? PMIX_SUCCESS
                                               : PMIX_ERR_OUT_OF_RESOURCE);
    }
    ck_assert_uint_eq(pubs.n_pubs, PX_MAX_PUB_RANGES);
}

PX_TEST_MAIN("host/scope", setup, teardown)

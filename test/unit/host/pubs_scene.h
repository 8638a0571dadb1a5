/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the tests of core/host/pubs: processes, requests, and the answer of the last
 * lookup. */
#ifndef PUBS_SCENE_H
#define PUBS_SCENE_H

#include "core/wire/requests.h"
#include "core/host/pubs/pubs.h"

#include <stdio.h>
#include <string.h>

#include "alloc_fail.h"
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/rt/loop.h"
#include "px_test.h"

#define ME 4711 /* user id of all but strangers */

static struct px_pubs pubs;
static pmix_proc_t a0, a1, a_all, b0;

/* Answer of the last lookup; entries in all answers. */
static int n_answers;
static pmix_status_t answer;
static size_t n_found, n_found_in_all;
static uint32_t first_value;
static pmix_proc_t first_owner;

static inline void setup(void)
{
    px_pubs_init(&pubs, NULL);
    px_proc_set(&a0, "a", 0);
    px_proc_set(&a1, "a", 1);
    px_proc_set(&a_all, "a", PMIX_RANK_WILDCARD);
    px_proc_set(&b0, "b", 0);
    n_answers = 0;
}

static inline void teardown(void)
{
    px_pubs_fini(&pubs);
    ck_assert_uint_eq(pubs.n_pubs, 0);
    ck_assert_uint_eq(pubs.size_b, 0);
}

static inline void on_found(pmix_status_t status, pmix_pdata_t data[], size_t n,
                            void *cbdata PX_UNUSED)
{
    n_answers++;
    answer = status;
    n_found = n;
    n_found_in_all += n;
    if (n > 0) {
        first_value = data[0].value.data.uint32;
        first_owner = data[0].proc;
    }
    px_type_free_array(PMIX_PDATA, data, n);
}

struct how { /* a member of 0 is not passed */
    uint32_t uid, gid, of_user, of_group;
    pmix_data_range_t range;
    pmix_persistence_t persistence;
    bool wait;
    int wait_for;
};

static inline void add_list(px_infos *l, const char *key, uint32_t id)
{
    const pmix_data_array_t ids = {PMIX_UINT32, 1, &id};

    if (id)
        ok(px_infos_add(l, key, &ids, PMIX_DATA_ARRAY));
}

static inline px_infos infos_of(const struct how *how)
{
    px_infos l = {0};
    uint32_t uid = how->uid ? how->uid : ME;
    bool yes = true;

    ok(px_infos_add(&l, PMIX_USERID, &uid, PMIX_UINT32));
    if (how->gid)
        ok(px_infos_add(&l, PMIX_GRPID, &how->gid, PMIX_UINT32));
    add_list(&l, PMIX_ACCESS_USERIDS, how->of_user);
    add_list(&l, PMIX_ACCESS_GRPIDS, how->of_group);
    if (how->range)
        ok(px_infos_add(&l, PMIX_RANGE, &how->range, PMIX_DATA_RANGE));
    if (how->persistence)
        ok(px_infos_add(&l, PMIX_PERSISTENCE, &how->persistence, PMIX_PERSIST));
    if (how->wait_for)
        ok(px_infos_add(&l, PMIX_WAIT, &how->wait_for, PMIX_INT));
    else if (how->wait)
        ok(px_infos_add(&l, PMIX_WAIT, &yes, PMIX_BOOL));
    return l;
}

/* Publishes keys, separated by commas. Their values are 1, 2 ... */
static inline pmix_status_t try_publish(const pmix_proc_t *who, struct how how,
                                        const char *keys)
{
    PX_AUTO(px_infos) l = infos_of(&how);
    PX_AUTO(px_strv) v = px_strv_split(keys, ',', false);

    for (uint32_t i = 0; v && v[i]; i++)
        ok(px_infos_add(&l, v[i], &(uint32_t){i + 1}, PMIX_UINT32));
    return px_pubs_publish(&pubs, who, l.v, l.n);
}

/* Returns the immediate answer, or PMIX_OPERATION_IN_PROGRESS if the lookup waits. */
static inline pmix_status_t try_lookup(const pmix_proc_t *who, struct how how,
                                       const char *keys)
{
    PX_AUTO(px_infos) l = infos_of(&how);
    PX_AUTO(px_strv) v = px_strv_split(keys, ',', false);
    int before = n_answers;
    pmix_status_t rc = px_pubs_lookup(&pubs, who, v, l.v, l.n, on_found, NULL);

    return rc ? rc : n_answers == before ? PMIX_OPERATION_IN_PROGRESS : answer;
}

/* Requests with their expected results. */
#define publish(who, how, keys) ok(try_publish(who, how, keys))
#define refuse(who, how, keys, status) \
    ck_assert_int_eq(try_publish(who, how, keys), status)
#define lookup(who, how, keys, status, n)                     \
    do {                                                      \
        n_found = 0;                                          \
        ck_assert_int_eq(try_lookup(who, how, keys), status); \
        ck_assert_uint_eq(n_found, n);                        \
    } while (0)
#define await(who, how, keys) lookup(who, how, keys, PMIX_OPERATION_IN_PROGRESS, 0)
/* Checks the number of answered lookups, and the status and size of the last answer. */
#define answered(so_many, status, n)          \
    do {                                      \
        ck_assert_int_eq(n_answers, so_many); \
        ck_assert_int_eq(answer, status);     \
        ck_assert_uint_eq(n_found, n);        \
    } while (0)

static inline void unpublish(const pmix_proc_t *who, const char *key)
{
    char *keys[] = {(char *)key, NULL};

    ok(px_pubs_unpublish(&pubs, who, key ? keys : NULL, NULL, 0));
}

static const struct how PX_UNUSED plain,
    wait = {.wait = true}, wait_for_1 = {.wait_for = 1}, wait_for_2 = {.wait_for = 2},
    first_read = {.persistence = PMIX_PERSIST_FIRST_READ},
    of_proc = {.persistence = PMIX_PERSIST_PROC},
    of_session = {.persistence = PMIX_PERSIST_SESSION};

/* Keys of a request: "0", "1" ... */
static inline char **numbered(size_t n)
{
    char **keys = calloc(n + 1, sizeof(*keys));

    for (size_t i = 0; i < n; i++)
        keys[i] = px_strf("%zu", i);
    return keys;
}

static inline void publish_numbered(size_t n)
{
    PX_AUTO(px_infos) l = infos_of(&plain);
    PX_AUTO(px_strv) keys = numbered(n);

    for (size_t i = 0; i < n; i++)
        ok(px_infos_add(&l, keys[i], &(bool){true}, PMIX_BOOL));
    ok(px_pubs_publish(&pubs, &a0, l.v, l.n));
}

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls that carry infos to the server and bring results back: publish and lookup, spawn, query,
 * job control, log. */
#include "core/base/str.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <semaphore.h>
#include <string.h>

static void start(bool (*hook)(int fd, struct fake_req *req))
{
    fake.hook = hook;
    client_begin();
}

/* ---- publish, lookup, unpublish -------------------------------------------------- */

static char seen[256];
static pmix_status_t answer;
static const char *const *found_keys;
static size_t n_found;

static void reply_found(int fd, uint32_t tag)
{
    px_writer w = fake_begin();

    px_pack_status(&w, answer);
    if (n_found || !answer)
        px_pack_size(&w, n_found);
    for (size_t i = 0; i < n_found; i++) {
        pmix_pdata_t one = {
            .value = {.type = PMIX_UINT32, .data.uint32 = 10u + (unsigned)i}};
        px_writer element = fake_begin();

        PMIx_Load_key(one.key, found_keys[i]);
        px_proc_set(&one.proc, "job", 1);
        px_pack(&element, &one, 1, PMIX_PDATA);
        if (i == 0) /* one operation of n_found values: its count, then the elements */
            element.buf.data[0] = (uint8_t)(2 * n_found);
        ok(px_buf_add(&w.buf, element.buf.data + (i > 0), element.buf.len - (i > 0)));
        px_writer_cleanup(&element);
    }
    fake_reply(fd, tag, &w);
}

static bool data_store(int fd, struct fake_req *req)
{
    uint32_t uid;
    size_t n = 0;

    if (req->op != PX_OP_LOOKUP && req->op != PX_OP_UNPUBLISH &&
        req->op != PX_OP_PUBLISH)
        return false;
    ok(px_unpack1(&req->in, &uid, PMIX_UINT32));
    ck_assert_uint_eq(uid, geteuid());
    seen[0] = '\0';
    if (req->op != PX_OP_PUBLISH)
        ok(px_unpack_size(&req->in, &n));
    for (; n > 0; n--) {
        PX_AUTOFREE char *key = NULL;

        ok(px_unpack_str(&req->in, &key));
        strcat(strcat(seen, seen[0] ? " " : ""), key);
    }
    if (req->op == PX_OP_LOOKUP)
        reply_found(fd, req->tag);
    else
        fake_status(fd, req->tag, answer);
    return true;
}

PX_TEST(values_found_go_to_the_entries_that_asked_for_them)
{
    static const char *const keys[] = {"shape", "colour", "surplus"};
    pmix_pdata_t data[] = {{.key = "colour"}, {.key = "nothing"}, {.key = "shape"}};

    found_keys = keys;
    n_found = 3;
    answer = PMIX_ERR_PARTIAL_SUCCESS;
    start(data_store);
    ck_assert_int_eq(PMIx_Lookup(data, 3, NULL, 0), PMIX_ERR_PARTIAL_SUCCESS);
    ck_assert_str_eq(seen, "colour nothing shape");
    ck_assert_uint_eq(data[0].value.data.uint32, 11);
    ck_assert_uint_eq(data[0].proc.rank, 1);
    ck_assert_int_eq(data[1].value.type, PMIX_UNDEF);
    ck_assert_uint_eq(data[2].value.data.uint32, 10);
}

PX_TEST(a_key_asked_for_twice_gets_each_value_once)
{
    static const char *const keys[] = {"colour", "colour"};
    pmix_pdata_t data[] = {{.key = "colour"}, {.key = "colour"}};

    found_keys = keys;
    n_found = 2;
    start(data_store);
    ok(PMIx_Lookup(data, 2, NULL, 0));
    ck_assert_uint_eq(data[0].value.data.uint32, 10);
    ck_assert_uint_eq(data[1].value.data.uint32, 11);
}

static size_t n_looked_up;

static void on_lookup(pmix_status_t status, pmix_pdata_t data[], size_t n, void *cbdata)
{
    n_looked_up = n;
    if (n)
        ck_assert_str_eq(data[0].key, "colour");
    on_op(status, cbdata);
}

PX_TEST(a_lookup_without_waiting_gets_what_was_found)
{
    static const char *const found[] = {"colour"};
    char *keys[] = {strdup("colour"), NULL};

    found_keys = found;
    n_found = 1;
    start(data_store);
    ok(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &done));
    free(keys[0]); /* was copied */
    ok(await_op());
    ck_assert_uint_eq(n_looked_up, 1);
    keys[0] = (char *)"colour";
    n_found = 0;
    answer = PMIX_ERR_NOT_FOUND;
    finished(PMIx_Lookup_nb(keys, NULL, 0, on_lookup, &done), PMIX_ERR_NOT_FOUND);
    ck_assert_uint_eq(n_looked_up, 0);
}

/* ---- spawn and abort ------------------------------------------------------------- */

static const char *spawned;

static bool spawner(int fd, struct fake_req *req)
{
    px_writer w = fake_begin();

    if (req->op != PX_OP_SPAWN) {
        px_writer_cleanup(&w);
        return false;
    }
    px_pack_status(&w, answer);
    px_pack_str(&w, spawned);
    if (!answer)
        fake_usual_job_info(&w);
    fake_reply(fd, req->tag, &w);
    return true;
}

static void on_spawned(pmix_status_t status, pmix_nspace_t nspace, void *cbdata)
{
    ck_assert_str_eq(nspace, status ? "" : "child");
    on_op(status, cbdata);
}

PX_TEST(a_spawned_job_is_named_and_known)
{
    char *argv[] = {(char *)"prog", NULL};
    pmix_app_t app = {.argv = argv, .maxprocs = 2};
    pmix_nspace_t nspace;
    pmix_value_t *v = NULL;
    pmix_proc_t p;

    spawned = "child";
    start(spawner);
    ok(PMIx_Spawn(NULL, 0, &app, 1, nspace));
    ck_assert_str_eq(nspace, "child");
    px_proc_set(&p, nspace, PMIX_RANK_WILDCARD);
    ok(PMIx_Get(&p, PMIX_JOB_SIZE, NULL, 0, &v));
    ck_assert_uint_eq(v->data.uint32, 2);
    PMIX_VALUE_RELEASE(v);
    finished(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, &done), PMIX_SUCCESS);
}

PX_TEST(a_failed_spawn_leaves_no_name)
{
    char *argv[] = {(char *)"prog", NULL};
    pmix_app_t app = {.argv = argv, .maxprocs = 2};
    pmix_nspace_t nspace = "before";

    answer = PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    start(spawner);
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, &app, 1, nspace), answer);
    ck_assert_str_eq(nspace, "");
    finished(PMIx_Spawn_nb(NULL, 0, &app, 1, on_spawned, &done), answer);
    answer = PMIX_SUCCESS; /* success without a name is none */
    ck_assert_int_eq(PMIx_Spawn(NULL, 0, &app, 1, nspace), PMIX_ERR_UNPACK_FAILURE);
}

/* ---- query, job control, log ----------------------------------------------------- */

PX_TEST_MAIN("client/infos", NULL, client_end)

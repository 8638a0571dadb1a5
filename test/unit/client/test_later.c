/* SPDX-License-Identifier: BSD-3-Clause */
/* A process without a server that connects to a server later. */
#include "core/os/proc.h"
#include "core/base/str.h"
#include "fake_server.h"
#include "pmix_tool.h"
#include "px_test.h"

#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_committed[2];

/* Records which keys a commit contains exactly once. */
static bool take_commit(int fd PX_UNUSED, struct fake_req *req)
{
    const char *at = (char *)req->payload.data;
    const char *end = at + req->payload.len;

    for (int i = 0; req->op == PX_OP_COMMIT && i < 2; i++) {
        const char *key = i ? "later.key" : "early.key";
        const char *found = memmem(at, (size_t)(end - at), key, strlen(key));

        is_committed[i] = found && !memmem(found + 1, (size_t)(end - found) - 1, key,
                                           strlen(key));
    }
    return false;
}

static bool refuse_job(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_REQ)
        fake_status(fd, req->tag, PMIX_ERR_NOT_FOUND);
    return req->op == PX_OP_REQ || take_commit(fd, req);
}

static void serve_tool(void)
{
    int fd = fake_accept();

    ck_assert_uint_eq(fake.hello.flag, PX_FLAG_TOOL_HAS_ID);
    fake_tool_words(fd, PMIX_SUCCESS, NULL, "server");
    fake_serve_on(fd);
}

static pmix_status_t connect_to(bool attach, const char *uri)
{
    pmix_info_t info;
    pmix_proc_t server = {0};

    PMIx_Info_load(&info, PMIX_SERVER_URI, uri, PMIX_STRING);
    pmix_status_t rc = attach ? PMIx_tool_attach_to_server(NULL, &server, &info, 1)
                              : PMIx_Init(NULL, &info, 1);
    if (!rc && attach)
        ck_assert_str_eq(server.nspace, "server");
    PMIx_Info_destruct(&info);
    return rc;
}

static void put(const char *key)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 7};

    ok(PMIx_Put(PMIX_GLOBAL, key, &v));
}

/* Case in practice: Open MPI starts a server for a singleton that spawns. */
PX_TEST(a_singleton_connects_to_a_given_server)
{
    static const struct {
        bool attach, launched, knows_job;
        const char *uri; /* prefix of the server's address */
        unsigned job_size;
    } rows[] = {{false, false, false, "", 1},
                {false, false, true, "PMIX_SERVER_URI41:PMIX_SERVER_URI4;", 1},
                {false, true, true, "", 2},
                {false, true, false, "", 1},
                {true, false, true, "", 2},
                {true, false, false, "", 1}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        memset(fake.n_ops, 0, sizeof(fake.n_ops));
        client_finalize();
        if (rows[i].launched) {
            setenv("PMIX_NAMESPACE", "job", 1);
            setenv("PMIX_RANK", "0", 1);
            fails(PMIx_Init(&client_self, NULL, 0), UNREACH);
        } else {
            client_alone();
        }
        put("early.key");
        handle_code(PMIX_EVENT_JOB_END, ignore_event);
        handle_code(PMIX_EVENT_JOB_END, ignore_event);
        handle_code(0, ignore_event);
        ok(PMIx_Commit());
        put("early.key");
        put("later.key");
        fails(connect_to(rows[i].attach, "x.0;tcp4://127.0.0.1:1"), UNREACH);
        fails(connect_to(rows[i].attach, "nonsense"), BAD_PARAM);
        if (!rows[i].attach)
            ok(PMIx_Finalize(NULL, 0));
        ck_assert_uint_eq(own_u32(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE), 1);
        fake.nspace = client_self.nspace;
        fake.hook = rows[i].knows_job ? take_commit : refuse_job;
        fake.script = rows[i].attach ? serve_tool : NULL;
        fake_start();
        PX_AUTOFREE char *uri = px_strf("%s%s%s", rows[i].uri,
                                        getenv("PMIX_SERVER_URI41"),
                                        rows[i].uri[0] ? "\n" : "");
        unsetenv("PMIX_SERVER_URI41");
        unsetenv("PMIX_NAMESPACE");
        ok(connect_to(rows[i].attach, uri));
        if (!rows[i].attach)
            ok(PMIx_Finalize(NULL, 0));
        ck_assert_str_eq(fake.hello.proc.nspace, client_self.nspace);
        ck_assert_uint_eq(own_u32(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), rows[i].job_size);
        ck_assert_uint_eq(own_u32(0, "later.key"), 7);
        ok(PMIx_Commit());
        ok(PMIx_Fence(NULL, 0, NULL, 0));
        ck_assert_uint_eq(fake.n_ops[PX_OP_FENCE], 1);
        ck_assert_uint_eq(fake.n_ops[PX_OP_REGEVENTS], 2); /* codes once, and any */
        ck_assert(is_committed[0] && is_committed[1]);
        ok(PMIx_Init(NULL, NULL, 0)); /* connected now */
        ok(PMIx_Finalize(NULL, 0));
        client_end();
        client_alone();
    }
}

/* ---- a host that the singleton starts ------------------------------------------------ */

static void make_program(const char *path, const char *body)
{
    FILE *f = fopen(path, "we");

    fprintf(f,
            "#!/bin/bash\n"
            "[ \"$1 $3 $5\" = '--singleton --keepalive --report-uri' ] || exit 9\n"
            "%s\n",
            body);
    fclose(f);
    ok(chmod(path, 0700));
}

static bool log_has(const char *text)
{
    char log[8192];

    ck_assert(px_osproc_read(px_test_path("log"), log, sizeof(log)));
    return strstr(log, text);
}

/* Begins a singleton which runs that program as its host. */
static void begin_with(const char *program)
{
    client_finalize();
    ck_assert_ptr_nonnull(freopen(px_test_path("log"), "w", stderr));
    setvbuf(stderr, NULL, _IONBF, 0);
    unsetenv("PMIX_NAMESPACE");
    unsetenv("PMIX_SERVER_URI41");
    setenv("PMIX_MCA_client_singleton_host", "true", 1);
    setenv("PMIX_MCA_client_singleton_program", program, 1);
    setenv("PMIX_MCA_client_singleton_timeout", "1s", 1);
    fails(PMIx_Init(&client_self, NULL, 0), UNREACH);
}

static pmix_status_t publish(void)
{
    pmix_info_t info = flag("later.key");

    return PMIx_Publish(&info, 1);
}

PX_TEST(a_singleton_starts_its_host_at_the_first_request)
{
    PX_TEST_NEEDS(access("/bin/bash", X_OK) == 0, "bash");
    make_program(
        px_test_path("host"),
        "cd \"${0%/*}\"; : >begun; echo \"$TEST_URI\" >&$6; cat <&$4; : >ended");
    begin_with(px_test_path("host"));
    fake.nspace = client_self.nspace;
    fake_start();
    setenv("TEST_URI", getenv("PMIX_SERVER_URI41"), 1);
    unsetenv("PMIX_SERVER_URI41");
    ok(PMIx_Commit()); /* starts nothing */
    ck_assert(access(px_test_path("begun"), F_OK) < 0);
    ok(publish());
    ok(publish());
    ck_assert(access(px_test_path("ended"), F_OK) < 0);
    ck_assert_uint_eq(fake.n_ops[PX_OP_PUBLISH], 2);
    ck_assert_str_eq(fake.hello.proc.nspace, client_self.nspace);
    ck_assert_uint_eq(fake.hello.proc.rank, client_self.rank);
    client_end();
    ck_assert(access(px_test_path("ended"), F_OK) == 0);
    ck_assert(!log_has("singleton"));
}

PX_TEST(a_host_that_does_not_start_is_named)
{
    static const struct {
        const char *reports, *program, *line;
    } rows[] = {
        {NULL, "pmixrun",
         "client_singleton_program: \"pmixrun\": expected an absolute path"},
        {NULL, "/no/such/program", "/no/such/program: No such file or directory"},
        {"exit 0", NULL, "/host has ended without an address"},
        {"echo nonsense >&$6", NULL, "nonsense"},
        {"echo 'x.0;tcp4://127.0.0.1:1' >&$6", NULL, "127.0.0.1"},
        {"cat <&$4", NULL,
         "/host has reported no address within client_singleton_timeout"},
    };

    PX_TEST_NEEDS(access("/bin/bash", X_OK) == 0, "bash");
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (rows[i].reports)
            make_program(px_test_path("host"), rows[i].reports);
        begin_with(rows[i].program ? rows[i].program : px_test_path("host"));
        fails(publish(), UNREACH);
        fails(publish(), UNREACH); /* no other start */
        ck_assert_msg(log_has("cannot start a host for this singleton: ") &&
                          log_has(rows[i].line),
                      "%s", rows[i].line);
    }
}

PX_TEST_MAIN("client/later", client_alone, client_end)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Whom a client claims to be never reaches a host, which decides by it. */
#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>

#define CLAIMED 77u

static px_infos claims;

static void setup(void)
{
    uint32_t other = CLAIMED;

    raw_server_start(&host_module, 2);
    for (int twice = 0; twice < 2; twice++) {
        ok(px_infos_add(&claims, PMIX_USERID, &other, PMIX_UINT32));
        ok(px_infos_add(&claims, "pmix.how", "well", PMIX_STRING));
        ok(px_infos_add(&claims, PMIX_GRPID, &other, PMIX_UINT32));
    }
}

static void teardown(void)
{
    host_end();
    px_infos_cleanup(&claims);
}

static void pack_claims(px_writer *w)
{
    px_pack_infos(w, claims.v, claims.n);
}

static void pack_target(px_writer *w)
{
    pmix_proc_t target;

    px_proc_set(&target, "job", 0);
    px_pack_procs(w, &target, 1);
}

/* ---- requests --------------------------------------------------------------------------- */

static void spawn(px_writer *w)
{
    pmix_app_t app = {.cmd = (char *)(uintptr_t) "./prog", .maxprocs = 1};

    pack_claims(w);
    px_pack_size(w, 1);
    px_pack(w, &app, 1, PMIX_APP);
}

static void query(px_writer *w)
{
    char *keys[] = {(char *)(uintptr_t) "pmix.qry.ns", NULL};
    pmix_query_t q = {.keys = keys, .qualifiers = claims.v, .nqual = claims.n};

    px_pack_size(w, 1);
    px_pack(w, &q, 1, PMIX_QUERY);
}

static void log_line(px_writer *w)
{
    time_t stamp = 0;

    px_pack(w, &stamp, 1, PMIX_TIME);
    px_pack_infos(w, NULL, 0);
    pack_claims(w);
}

static void job_control(px_writer *w)
{
    pack_target(w);
    pack_claims(w);
}

static void monitor(px_writer *w)
{
    px_pack(w, &claims.v[0], 1, PMIX_INFO);
    px_pack_status(w, PMIX_MONITOR_FILE_ALERT);
    pack_claims(w);
}

static void allocate(px_writer *w)
{
    px_pack_u8(w, PMIX_ALLOC_EXTEND, PMIX_ALLOC_DIRECTIVE);
    pack_claims(w);
}

static void block(px_writer *w)
{
    w->codec = px_codec_newest(w->codec);
    px_pack_u8(w, 1, PMIX_RESBLOCK_DIRECTIVE);
    px_pack_str(w, "mine");
    px_pack_size(w, 0);
    pack_claims(w);
}

static void session(px_writer *w)
{
    px_pack_u32(w, 1);
    pack_claims(w);
}

static void validate(px_writer *w)
{
    px_pack_bytes(w, "secret", sizeof("secret"));
    pack_claims(w);
}

static void update(px_writer *w)
{
    px_pack_size(w, 3);
}

static void publish(px_writer *w)
{
    px_pack_u32(w, CLAIMED);
    pack_claims(w);
}

static void lookup(px_writer *w)
{
    px_pack_u32(w, CLAIMED);
    px_pack_size(w, 1);
    px_pack_str(w, "colour");
    pack_claims(w);
}

static void pull(px_writer *w)
{
    pmix_iof_channel_t out = PMIX_FWD_STDOUT_CHANNEL;

    pack_target(w);
    pack_claims(w);
    px_pack(w, &out, 1, PMIX_IOF_CHANNEL);
}

static void push(px_writer *w)
{
    pack_target(w);
    pack_claims(w);
    px_pack_bytes(w, "in", 2);
}

static void regevents(px_writer *w)
{
    pmix_status_t code = PMIX_ERR_NODE_DOWN;

    px_pack_size(w, 1);
    px_pack(w, &code, 1, PMIX_STATUS);
    pack_claims(w);
}

static const struct {
    void (*pack)(px_writer *w);
    const char *slot;
    uint8_t op;
} requests[] = {
    {spawn, "spawn", PX_OP_SPAWN},
    {query, "query", PX_OP_QUERY},
    {log_line, "log", PX_OP_LOG},
    {job_control, "job_control", PX_OP_JOB_CONTROL},
    {monitor, "monitor", PX_OP_MONITOR},
    {allocate, "allocate", PX_OP_ALLOC},
    {block, "resource_block", PX_OP_RESBLK},
    {session, "session_control", PX_OP_SESSION_CTRL},
    {pack_claims, "get_credential", PX_OP_GET_CREDENTIAL},
    {validate, "validate_credential", PX_OP_VALIDATE_CRED},
    {pack_claims, "fabric", PX_OP_FABRIC_REGISTER},
    {update, "fabric", PX_OP_FABRIC_UPDATE},
    {publish, "publish", PX_OP_PUBLISH},
    {lookup, "lookup", PX_OP_LOOKUP},
    {lookup, "unpublish", PX_OP_UNPUBLISH},
    {pull, "iof_pull", PX_OP_IOF_PULL},
    {push, "push_stdin", PX_OP_IOF_PUSH},
    {regevents, "register_events", PX_OP_REGEVENTS},
};

static unsigned n_of(const char *key)
{
    unsigned n = 0;

    for (size_t i = 0; i < host.given.n; i++)
        n += PMIx_Check_key(host.given.v[i].key, key);
    return n;
}

static uint32_t given(const char *key)
{
    return px_info_u32(host.given.v, host.given.n, key, CLAIMED);
}

START_TEST(every_request_bears_the_user_that_the_connection_proves)
{
    int fd = raw_client(1);

    host.nspace = "child";
    for (size_t i = 0; i < PX_COUNT(requests); i++) {
        px_writer w;

        raw_begin(&w, requests[i].op);
        requests[i].pack(&w);
        ok(raw_request(fd, &w, NULL));
        ck_assert_str_eq(host.name, requests[i].slot);
        ck_assert_msg(n_of(PMIX_USERID) == 1 && given(PMIX_USERID) == geteuid(),
                      "user of %s", requests[i].slot);
        ck_assert_msg(n_of(PMIX_GRPID) == 1 && given(PMIX_GRPID) == getegid(),
                      "group of %s", requests[i].slot);
        if (requests[i].pack != update)
            ck_assert_uint_eq(n_of("pmix.how"), 2);
    }
}
END_TEST

START_TEST(a_group_that_nobody_tells_is_not_claimed_either)
{
    pmix_proc_t proc;
    px_writer w;
    int fd = raw_client(1);

    px_proc_set(&proc, "job", 1);
    px_peer_find(px_process.server, &proc)->gid = (gid_t)-1;
    raw_begin(&w, PX_OP_GET_CREDENTIAL);
    pack_claims(&w);
    ok(raw_request(fd, &w, NULL));
    ck_assert_uint_eq(n_of(PMIX_USERID), 1);
    ck_assert_uint_eq(n_of(PMIX_GRPID), 0);
}
END_TEST

static int unix_socket(void)
{
    static const char scheme[] = "usock://";
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const char *at = strstr(px_process.server->own_uri, scheme);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_ptr_nonnull(at);
    ck_assert(px_str_copy(a.sun_path, sizeof a.sun_path, at + strlen(scheme)));
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
    return fd;
}

START_TEST(a_group_that_the_host_does_not_know_is_told_by_the_kernel)
{
    struct px_hello hello = raw_hello("job", 1);
    int by_tcp = raw_socket(), fd;

    ok(PMIx_server_register_client(&hello.proc, geteuid(), (gid_t)-1, NULL, NULL,
                                   NULL));
    ok(raw_say_hello(by_tcp, &hello));
    ck_assert_uint_eq(px_peer_find(px_process.server, &hello.proc)->gid, (gid_t)-1);
    close(by_tcp);
    raw_await_gone(1);
    fd = unix_socket();
    ok(raw_say_hello(fd, &hello));
    ck_assert_uint_eq(px_peer_find(px_process.server, &hello.proc)->gid, getegid());
}
END_TEST

START_TEST(who_spawns_is_the_parent_and_what_it_is)
{
    pmix_proc_t other;
    px_writer w;
    int fd = raw_client(1);

    host.nspace = "child";
    px_proc_set(&other, "other", 9);
    for (int twice = 0; twice < 2; twice++) {
        ok(px_infos_add(&claims, PMIX_PARENT_ID, &other, PMIX_PROC));
        ok(px_infos_add(&claims, PMIX_REQUESTOR_IS_TOOL, NULL, PMIX_BOOL));
    }
    raw_begin(&w, PX_OP_SPAWN);
    spawn(&w);
    ok(raw_request(fd, &w, NULL));
    ck_assert_uint_eq(n_of(PMIX_PARENT_ID), 1);
    const pmix_info_t *parent = px_info_find(host.given.v, host.given.n,
                                             PMIX_PARENT_ID);
    ck_assert_str_eq(parent->value.data.proc->nspace, "job");
    ck_assert_uint_eq(n_of(PMIX_REQUESTOR_IS_TOOL), 0);
    ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_REQUESTOR_IS_CLIENT));
    ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_SPAWNED));
}
END_TEST

PX_TEST_MAIN_WITH("server/identity", setup, teardown,
                  every_request_bears_the_user_that_the_connection_proves,
                  a_group_that_nobody_tells_is_not_claimed_either,
                  a_group_that_the_host_does_not_know_is_told_by_the_kernel,
                  who_spawns_is_the_parent_and_what_it_is)

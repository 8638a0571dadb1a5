/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests that go to the host, as a table. Each request reaches the host completely, with the user
 * that the connection proves, and its answer comes back. Claims of another user have no effect.
 * Further cases are about single requests. */
#include "../rt/rt_test.h"

#include "core/rt/process.h"
#include "core/server/peer/peer.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"

#include <string.h>

#define CLAIMED 77u

static px_infos claims;

static void setup(void)
{
    uint32_t other = CLAIMED;

    raw_start(&host_module, 2, 0);
    ok(px_infos_add(&host.infos, "pmix.answer", "yes", PMIX_STRING));
    strcpy(host.nspace, "child");
    for (int twice = 0; twice < 2; twice++) {
        ok(px_infos_add(&claims, PMIX_USERID, &other, PMIX_UINT32));
        ok(px_infos_add(&claims, "pmix.how", "well", PMIX_STRING));
        ok(px_infos_add(&claims, PMIX_GRPID, &other, PMIX_UINT32));
    }
}

static void restart(const pmix_server_module_t *module)
{
    raw_server_stop();
    raw_start(module, 2, 0);
}

/* ---- requests --------------------------------------------------------------------------- */

static void pack_claims(px_writer *w)
{
    px_pack_infos(w, claims.v, claims.n);
}

static void pack_info(px_writer *w, const char *key, const char *value)
{
    pmix_info_t info;

    PMIx_Info_load(&info, key, value, PMIX_STRING);
    px_pack(w, &info, 1, PMIX_INFO);
    PMIx_Info_destruct(&info);
}

static void pack_lookup(px_writer *w, const char *const *keys, size_t n)
{
    px_pack_u32(w, CLAIMED);
    px_pack_size(w, n);
    for (size_t i = 0; i < n; i++)
        px_pack_str(w, keys[i]);
    pack_claims(w);
}

static void pack_log(px_writer *w, time_t stamp)
{
    px_pack(w, &stamp, 1, PMIX_TIME);
    px_pack_size(w, 1);
    pack_info(w, PMIX_LOG_STDERR, "hello");
    pack_claims(w);
}

static void pack_block(px_writer *w, const char *name, size_t n_units)
{
    pmix_resource_unit_t units[] = {{.type = 1, .count = 4}, {.type = 2, .count = 9}};

    w->codec = px_codec_newest(w->codec);
    px_pack_u8(w, 3, PMIX_RESBLOCK_DIRECTIVE);
    px_pack_str(w, name);
    px_pack_size(w, n_units);
    if (n_units)
        px_pack(w, units, (int32_t)n_units, PMIX_RESOURCE_UNIT);
    pack_claims(w);
}

/* Makes a valid request of this kind. */
static px_writer sound(uint8_t op)
{
    static const char *const colour[] = {"colour"};
    char *keys[] = {(char *)(uintptr_t)PMIX_QUERY_AUTHORIZATIONS, NULL};
    pmix_query_t q = {.keys = keys, .qualifiers = claims.v, .nqual = claims.n};
    pmix_app_t app = {.cmd = (char *)(uintptr_t) "./prog", .maxprocs = 1};
    pmix_iof_channel_t out = PMIX_FWD_STDOUT_CHANNEL;
    pmix_status_t code = PMIX_ERR_NODE_DOWN;
    pmix_proc_t target = raw_proc("job", 0);
    px_writer w = raw_begin(op);

    switch (op) {
    case PX_OP_QUERY:
        px_pack_size(&w, 1);
        px_pack(&w, &q, 1, PMIX_QUERY);
        return w;
    case PX_OP_LOG:
        pack_log(&w, 0);
        return w;
    case PX_OP_LOOKUP:
    case PX_OP_UNPUBLISH:
        pack_lookup(&w, colour, 1);
        return w;
    case PX_OP_RESBLK:
        pack_block(&w, "mine", 2);
        return w;
    case PX_OP_FABRIC_UPDATE:
        px_pack_size(&w, 12);
        return w;
    case PX_OP_JOB_CONTROL:
    case PX_OP_IOF_PULL:
    case PX_OP_IOF_PUSH:
        px_pack_procs(&w, &target, 1);
        break;
    case PX_OP_MONITOR:
        pack_info(&w, "test.monitor", "/some/file");
        px_pack_status(&w, PMIX_MONITOR_FILE_ALERT);
        break;
    case PX_OP_ALLOC:
        px_pack_u8(&w, PMIX_ALLOC_EXTEND, PMIX_ALLOC_DIRECTIVE);
        break;
    case PX_OP_SESSION_CTRL:
        px_pack_u32(&w, 4711);
        break;
    case PX_OP_VALIDATE_CRED:
        px_pack_bytes(&w, "secret", sizeof("secret"));
        break;
    case PX_OP_PUBLISH:
        px_pack_u32(&w, CLAIMED);
        break;
    case PX_OP_REGEVENTS:
        px_pack_size(&w, 1);
        px_pack(&w, &code, 1, PMIX_STATUS);
        break;
    default:
        break;
    }
    pack_claims(&w);
    if (op == PX_OP_SPAWN) {
        px_pack_size(&w, 1);
        px_pack(&w, &app, 1, PMIX_APP);
    } else if (op == PX_OP_IOF_PULL) {
        px_pack(&w, &out, 1, PMIX_IOF_CHANNEL);
    } else if (op == PX_OP_IOF_PUSH) {
        px_pack_bytes(&w, "in", 2);
    }
    return w;
}

enum { ANY = -1 };

static const struct row {
    const char *slot;
    int code; /* code that the host records, or ANY */
    uint8_t op;
    bool infos;     /* the reply has a status and the host's infos */
    bool anonymous; /* the host does not get the name of the process */
} rows[] = {
    {"spawn", 1, PX_OP_SPAWN, false, false},
    {"query", 1, PX_OP_QUERY, true, false},
    {"log", ANY, PX_OP_LOG, false, false},
    {"job_control", ANY, PX_OP_JOB_CONTROL, true, false},
    {"monitor", PMIX_MONITOR_FILE_ALERT, PX_OP_MONITOR, true, false},
    {"allocate", PMIX_ALLOC_EXTEND, PX_OP_ALLOC, true, false},
    {"resource_block", 3, PX_OP_RESBLK, false, false},
    {"session_control", 4711, PX_OP_SESSION_CTRL, true, false},
    {"get_credential", ANY, PX_OP_GET_CREDENTIAL, false, false},
    {"validate_credential", sizeof("secret"), PX_OP_VALIDATE_CRED, true, false},
    {"fabric", PMIX_FABRIC_REQUEST_INFO, PX_OP_FABRIC_REGISTER, true, false},
    {"fabric", PMIX_FABRIC_UPDATE_INFO, PX_OP_FABRIC_UPDATE, true, false},
    {"publish", ANY, PX_OP_PUBLISH, false, false},
    {"lookup", ANY, PX_OP_LOOKUP, false, false},
    {"unpublish", ANY, PX_OP_UNPUBLISH, false, false},
    {"iof_pull", PMIX_FWD_STDOUT_CHANNEL, PX_OP_IOF_PULL, false, true},
    {"push_stdin", ANY, PX_OP_IOF_PUSH, false, false},
    {"register_events", PMIX_ERR_NODE_DOWN, PX_OP_REGEVENTS, false, true},
};

static pmix_status_t ask(int fd, uint8_t op, px_reader *rest)
{
    return raw_request(fd, sound(op), rest);
}

/* ---- all of them ---------------------------------------------------------------------------- */

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

static void check_answer(px_reader *r)
{
    PX_AUTO(px_infos) got = {0};

    ok(px_unpack_infos(r, &got.v, &got.n));
    ck_assert_str_eq(px_info_str(got.v, got.n, "pmix.answer"), "yes");
    ck_assert(px_reader_done(r));
}

PX_TEST(each_reaches_the_host_as_the_user_that_the_connection_proves)
{
    static const enum host_how hows[] = {HOST_INSIDE, HOST_THREAD};
    unsigned n_released = 0;

    for (size_t i = 0; i < PX_COUNT(rows) * PX_COUNT(hows); i++) {
        const struct row *row = &rows[i / PX_COUNT(hows)];
        px_reader r;

        host.how = hows[i % PX_COUNT(hows)];
        host.status = row->infos && host.how == HOST_THREAD ? PMIX_ERR_PARTIAL_SUCCESS
                                                            : PMIX_SUCCESS;
        host.code = 0;
        ck_assert_int_eq(ask(two, row->op, &r), host.status);
        ck_assert_str_eq(host.name, row->slot);
        if (row->code != ANY)
            ck_assert_int_eq(host.code, row->code);
        if (!row->anonymous)
            ck_assert_uint_eq(host.proc.rank, 1);
        ck_assert(host.args_lived);
        ck_assert_msg(n_of(PMIX_USERID) == 1 && given(PMIX_USERID) == geteuid(),
                      "user of %s", row->slot);
        ck_assert_msg(n_of(PMIX_GRPID) == 1 && given(PMIX_GRPID) == getegid(),
                      "group of %s", row->slot);
        if (row->op != PX_OP_FABRIC_UPDATE)
            ck_assert_uint_eq(n_of("pmix.how"), 2);
        if (row->infos)
            check_answer(&r);
        n_released += row->infos && row->op != PX_OP_VALIDATE_CRED;
    }
    /* The loop releases, as a host may hold a lock that its release function takes. */
    ck_assert(raw_quiet(two));
    ck_assert_uint_eq(host.released, n_released);
}

PX_TEST(damaged_ones_never_reach_the_host)
{
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_int_lt(raw_request(one, raw_begin(rows[i].op), NULL), 0);
        if (rows[i].op != PX_OP_FABRIC_UPDATE) { /* any index is valid */
            px_writer w = raw_begin(rows[i].op);

            px_pack_str(&w, "nothing of the kind");
            px_pack_str(&w, "nor this");
            px_pack_size(&w, SIZE_MAX);
            ck_assert_int_lt(raw_request(one, w, NULL), 0);
        }
        ck_assert_uint_eq(host_calls(rows[i].slot), 0);
    }
}

PX_TEST(a_module_without_slots_supports_none)
{
    static const pmix_server_module_t nothing = {0};

    restart(&nothing);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) none = {0};
        px_reader r;
        pmix_status_t rc = ask(one, rows[i].op, &r);

        /* The server itself keeps events, writes logs, and has credentials. */
        bool served = rows[i].op == PX_OP_REGEVENTS || rows[i].op == PX_OP_LOG ||
                      rows[i].op == PX_OP_GET_CREDENTIAL;
        ck_assert_msg(rc == (served                              ? PMIX_SUCCESS
                             : rows[i].op == PX_OP_VALIDATE_CRED ? PMIX_ERR_INVALID_CRED
                             : rows[i].op == PX_OP_QUERY         ? PMIX_ERR_NOT_FOUND
                                                         : PMIX_ERR_NOT_SUPPORTED),
                      "%s: %d", rows[i].slot, rc);
        if (rows[i].infos && !px_reader_done(&r))
            ok(px_unpack_infos(&r, &none.v, &none.n));
        /* Some refusals come with the reason. */
        ck_assert_uint_eq(none.n, rows[i].op == PX_OP_MONITOR ||
                                      rows[i].op == PX_OP_JOB_CONTROL);
    }
    ok(raw_finalize(one));
}

PX_TEST(processes_of_another_user_are_not_named)
{
    static const uint8_t ops[] = {PX_OP_JOB_CONTROL, PX_OP_IOF_PULL, PX_OP_IOF_PUSH};

    px_peer_find(px_process.server, &(pmix_proc_t){"job", 0})->uid = 4711;
    for (size_t i = 0; i < PX_COUNT(ops); i++)
        fails(ask(one, ops[i], NULL), NO_PERMISSIONS);
    ck_assert_uint_eq(host_calls("job_control") + host_calls("iof_pull") +
                          host_calls("push_stdin"),
                      0);
}

/* ---- memory ---------------------------------------------------------------------------------- */

enum {
    LIMIT_B = 320 << 10,
    N_REMOTE = 400,
    FIRST_ANSWERED = PX_COUNT(rows) +
                     6, /* the server answers these at once, but keeps their contents */
    N_KINDS = FIRST_ANSWERED + 2
};

static px_writer collect_with(uint8_t op, pmix_rank_t rank)
{
    pmix_info_t all;

    const pmix_proc_t procs[] = {raw_proc("job", 0), raw_proc("job", rank)};
    px_writer w = raw_begin(op);

    PMIx_Info_load(&all, PMIX_COLLECT_DATA, NULL, PMIX_BOOL);
    px_pack_procs(&w, procs, 2);
    px_pack_infos(&w, &all, op == PX_OP_FENCE);
    return w;
}

static px_writer pull_of(unsigned n)
{
    pmix_iof_channel_t out = PMIX_FWD_STDOUT_CHANNEL;
    px_writer w = raw_begin(PX_OP_IOF_PULL);
    pmix_proc_t procs[16];

    for (unsigned i = 0; i < PX_COUNT(procs); i++)
        procs[i] = raw_proc("job", n + i);
    px_pack_procs(&w, procs, PX_COUNT(procs));
    px_pack_infos(&w, NULL, 0);
    px_pack(&w, &out, 1, PMIX_IOF_CHANNEL);
    return w;
}

/* Registers for events about 64 processes. */
static px_writer want_about_many(void)
{
    static const pmix_status_t code = -777;
    PX_AUTO(px_infos) infos = {0};
    pmix_proc_t procs[64] = {0};
    pmix_data_array_t array = {PMIX_PROC, PX_COUNT(procs), procs};

    ok(px_infos_add(&infos, PMIX_EVENT_AFFECTED_PROCS, &array, PMIX_DATA_ARRAY));
    return raw_want(&code, 1, &infos);
}

/* Makes message n of a kind. Each message makes the server keep something. */
static px_writer keep_one(size_t kind, unsigned n)
{
    pmix_info_t uncached;
    px_writer w;

    PMIx_Info_load(&uncached, PMIX_EVENT_DO_NOT_CACHE, NULL, PMIX_BOOL);
    if (kind < PX_COUNT(rows))
        return sound(rows[kind].op);
    switch (kind - PX_COUNT(rows)) {
    case 0:
        return raw_get("job", 1, "colour", NULL); /* waits for a commit */
    case 1:
        return raw_get("job", 2 + n, "colour", NULL);
    case 2:
        return collect_with(PX_OP_FENCE, 1);
    case 3:
        return collect_with(PX_OP_FENCE, 2);
    case 4:
        return collect_with(PX_OP_CONNECT, 2 + n);
    case 5:
        w = raw_begin(PX_OP_NOTIFY);
        px_pack_status(&w, PMIX_ERR_NODE_DOWN);
        px_pack_u8(&w, PMIX_RANGE_GLOBAL, PMIX_DATA_RANGE);
        px_pack_infos(&w, &uncached, 1); /* a cached event would outlive its sender */
        return w;
    case 6:
        host.how = HOST_INSIDE;
        return want_about_many();
    default:
        host.how = HOST_INSIDE;
        return pull_of(2);
    }
}

/* Sends messages of a kind until the server refuses more. Returns the number of bytes kept for the
 * client. */
static size_t fill(size_t kind)
{
    enum { N = N_REMOTE - 2 };
    pmix_status_t rc = PMIX_SUCCESS;
    size_t kept_b;

    for (unsigned n = 0; kind < FIRST_ANSWERED && n < N; n++)
        raw_send(one, 5000 + n, keep_one(kind, n));
    if (kind < FIRST_ANSWERED)
        rc = raw_status(one, 5000 + N - 1);
    for (unsigned n = 0; !rc && n < N; n++)
        rc = raw_request(one, keep_one(kind, n), NULL);
    fails(rc, OUT_OF_RESOURCE);
    kept_b = raw_charged_b(0);
    return kept_b;
}

static void end_one(void)
{
    close(one);
    raw_await_gone(0);
    while (host_answer(PMIX_SUCCESS))
        raw_on_loop(NULL, NULL);
}

static void limit(void)
{
    setenv("PMIX_MCA_server_committed_per_user", "320k", 1);
    raw_server_stop();
    raw_start(&host_module, 2, N_REMOTE);
    host.how = HOST_HELD;
}

PX_TEST_LOOP(what_requests_make_a_server_keep_is_charged_to_their_user, N_KINDS)
{
    limit();
    size_t kept_b = fill((size_t)_i);
    ck_assert_uint_ge(kept_b, LIMIT_B - LIMIT_B / 16); /* without the last message */
    ck_assert_uint_lt(kept_b, LIMIT_B + LIMIT_B / 16);
    ok(raw_request(two, raw_get("job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL), NULL));
    if (geteuid() == 0) {
        raw_add_job("theirs", 1, 0, 4711);
        ok(raw_commit(raw_client_as(4711, "theirs", 0), "colour", 7));
    }
    end_one();
    one = raw_client(0);
    ck_assert_uint_eq(fill((size_t)_i), kept_b);
    host.how = HOST_INSIDE;
    ok(raw_finalize(one)); /* finalize is always possible */
    end_one();
    ok(raw_commit(two, "colour", 7));
}

PX_TEST(so_is_what_the_host_has_of_fences)
{
    enum { SIZE_B = LIMIT_B / 20 };
    PX_AUTOFREE char *bytes = calloc(1, SIZE_B);
    const pmix_value_t v = {.type = PMIX_BYTE_OBJECT, .data.bo = {bytes, SIZE_B}};

    limit();
    ok(raw_request(one, raw_commit_of(PMIX_REMOTE, "much", &v), NULL));
    fill(PX_COUNT(rows) + 3);
    ck_assert_uint_le(host_calls("fence_nb"), 20);
    ck_assert_uint_gt(host_calls("fence_nb"), 10);
}

/* Empty infos take some bytes each in the message, and half a kilobyte in memory. */
PX_TEST(a_request_is_charged_as_it_is_decoded)
{
    enum { N = 1000 };
    PX_AUTOFREE pmix_info_t *empty = calloc(N, sizeof(*empty));
    px_writer w = raw_begin(PX_OP_GET);
    size_t kept_b;

    px_pack_str(&w, "job");
    px_pack_rank(&w, 1);
    px_pack_infos(&w, empty, N);
    px_pack_str(&w, "colour");
    raw_send(one, 600, w);
    ck_assert(raw_quiet(one));
    kept_b = raw_charged_b(0);
    ck_assert_uint_ge(kept_b, N * sizeof(*empty));
    ok(raw_commit(two, "colour", 7));
    ok(raw_status(one, 600));
    kept_b = raw_charged_b(0);
    ck_assert_uint_eq(kept_b, 0);
}

/* ---- groups ---------------------------------------------------------------------------------- */

PX_TEST(a_group_that_is_not_known_is_not_claimed_either)
{
    px_peer_find(px_process.server, &(pmix_proc_t){"job", 1})->gid = (gid_t)-1;
    ok(ask(two, PX_OP_GET_CREDENTIAL, NULL));
    ck_assert_uint_eq(n_of(PMIX_USERID), 1);
    ck_assert_uint_eq(n_of(PMIX_GRPID), 0);
}

PX_TEST(a_group_that_the_host_does_not_know_comes_from_the_kernel)
{
    struct px_hello hello = raw_hello("job", 1);

    at_once(PMIx_server_register_client(&hello.proc, geteuid(), (gid_t)-1, NULL, NULL,
                                        NULL));
    close(two);
    raw_await_gone(1);
    two = raw_client(1);
    ck_assert_uint_eq(px_peer_find(px_process.server, &hello.proc)->gid, (gid_t)-1);
    close(two);
    raw_await_gone(1);
    ok(raw_send_hello(raw_near_socket(), &hello));
    ck_assert_uint_eq(px_peer_find(px_process.server, &hello.proc)->gid, getegid());
}

/* ---- spawn ----------------------------------------------------------------------------------- */

PX_TEST(a_spawn_reply_names_the_job_and_describes_it)
{
    PX_AUTOFREE char *name = NULL;
    size_t n = 0;
    px_reader r;

    raw_add_job("child", 1, 0, geteuid());
    ok(ask(one, PX_OP_SPAWN, &r));
    ck_assert_str_eq(host.text, "./prog");
    ok(px_unpack_str(&r, &name));
    ck_assert_str_eq(name, "child");
    for (; !px_reader_done(&r); n++) {
        struct px_kval kv = {0};

        ok(px_unpack_kval(&r, &kv));
        px_kval_fini(&kv);
    }
    ck_assert_uint_gt(n, 3);
}

PX_TEST(a_failed_spawn_names_no_job)
{
    PX_AUTOFREE char *name = NULL;
    px_writer w = raw_begin(PX_OP_SPAWN);
    px_reader r;

    host.status = PMIX_ERR_JOB_FAILED_TO_LAUNCH;
    fails(ask(one, PX_OP_SPAWN, &r), JOB_FAILED_TO_LAUNCH);
    ok(px_unpack_str(&r, &name));
    ck_assert_ptr_null(name);
    ck_assert(px_reader_done(&r));
    pack_claims(&w);
    px_pack_size(&w, 0); /* number of applications */
    fails(raw_request(one, w, NULL), BAD_PARAM);
    ck_assert_uint_eq(host_calls("spawn"), 1);
}

PX_TEST(the_parent_is_the_process_that_asks_whatever_it_claims)
{
    pmix_proc_t other = raw_proc("other", 9);

    for (int claimed = 0; claimed < 3; claimed++) {
        ok(ask(two, PX_OP_SPAWN, NULL));
        const pmix_info_t *parent = px_info_find(host.given.v, host.given.n,
                                                 PMIX_PARENT_ID);
        ck_assert_uint_eq(n_of(PMIX_PARENT_ID), 1);
        ck_assert_str_eq(parent->value.data.proc->nspace, "job");
        ck_assert_uint_eq(parent->value.data.proc->rank, 1);
        ck_assert_uint_eq(n_of(PMIX_REQUESTOR_IS_TOOL), 0);
        ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_REQUESTOR_IS_CLIENT));
        ck_assert(px_info_flag(host.given.v, host.given.n, PMIX_SPAWNED));
        ok(px_infos_add(&claims, PMIX_PARENT_ID, &other, PMIX_PROC));
        ok(px_infos_add(&claims, PMIX_REQUESTOR_IS_TOOL, NULL, PMIX_BOOL));
    }
}

/* ---- others ---------------------------------------------------------------------------------- */

PX_TEST(what_requests_carry_is_what_the_host_gets)
{
    ok(ask(one, PX_OP_JOB_CONTROL, NULL));
    ck_assert_str_eq(host.procs[0].nspace, "job");
    ok(ask(one, PX_OP_QUERY, NULL));
    ck_assert_str_eq(host.keys[0], PMIX_QUERY_AUTHORIZATIONS);
    ok(ask(one, PX_OP_VALIDATE_CRED, NULL));
    ck_assert_str_eq(host.text, "secret");
    ok(ask(one, PX_OP_MONITOR, NULL));
    ck_assert_str_eq(px_info_str(host.given_data.v, host.given_data.n, "test.monitor"),
                     "/some/file");
    ok(ask(one, PX_OP_FABRIC_UPDATE, NULL));
    const pmix_info_t *index = px_info_find(host.given.v, host.given.n,
                                            PMIX_FABRIC_INDEX);
    ck_assert_ptr_nonnull(index);
    ck_assert_uint_eq(index->value.data.size, 12);
}

PX_TEST(a_resource_block_is_named_and_made_of_units)
{
    px_writer empty = raw_begin(PX_OP_RESBLK), unnamed = raw_begin(PX_OP_RESBLK);
    px_reader r;

    ok(ask(one, PX_OP_RESBLK, &r));
    ck_assert(px_reader_done(&r));
    ck_assert_str_eq(host.text, "mine");
    ck_assert_uint_eq(host.n_keys, 9);
    pack_block(&empty, "mine", 0);
    host.status = PMIX_ERR_NOT_FOUND;
    host.how = HOST_ERROR;
    fails(raw_request(one, empty, NULL), NOT_FOUND);
    pack_block(&unnamed, NULL, 1);
    fails(raw_request(one, unnamed, NULL), BAD_PARAM);
    ck_assert_uint_eq(host_calls("resource_block"), 2);
}

PX_TEST(a_credential_comes_with_infos_or_not_at_all)
{
    pmix_byte_object_t bo;
    px_reader r;

    host.bytes = "\0\1\2";
    host.n_bytes = 3;
    host.how = HOST_THREAD;
    ok(ask(one, PX_OP_GET_CREDENTIAL, &r));
    ok(px_unpack_bytes(&r, &bo));
    ck_assert_uint_eq(bo.size, 3);
    ck_assert_mem_eq(bo.bytes, "\0\1\2", 3);
    check_answer(&r);
    px_type_destruct(PMIX_BYTE_OBJECT, &bo);
    host.status = PMIX_ERR_NO_PERMISSIONS;
    fails(ask(one, PX_OP_GET_CREDENTIAL, &r), NO_PERMISSIONS);
    ck_assert(px_reader_done(&r));
}

PX_TEST(a_log_carries_its_time_and_ends_with_the_callback)
{
    host.how = HOST_THREAD;
    host.status = PMIX_ERR_NOT_AVAILABLE;
    for (int timed = 1; timed >= 0; timed--) {
        px_writer w = raw_begin(PX_OP_LOG);

        pack_log(&w, timed ? 1700000000 : 0);
        fails(raw_request(one, w, NULL), NOT_AVAILABLE);
        ck_assert_uint_eq(n_of(PMIX_LOG_TIMESTAMP), timed);
        ck_assert_str_eq(
            px_info_str(host.given_data.v, host.given_data.n, PMIX_LOG_STDERR),
            "hello");
        host.how = HOST_INSIDE;
    }
}

PX_TEST(the_newer_form_of_a_slot_is_used_where_it_is_there)
{
    pmix_server_module_t both = host_module;
    const pmix_server_module_t alone = {.log2 = host_log2};

    both.log2 = host_log2;
    restart(&both);
    host.how = HOST_THREAD;
    ok(ask(one, PX_OP_LOG, NULL));
    host.how = HOST_ERROR; /* an error that the older form cannot return */
    host.status = PMIX_ERR_NO_PERMISSIONS;
    fails(ask(one, PX_OP_LOG, NULL), NO_PERMISSIONS);
    ck_assert_uint_eq(host_calls("log2"), 2);
    ck_assert_uint_eq(host_calls("log"), 0);
    host.status = PMIX_SUCCESS;
    host.how = HOST_INSIDE;
    restart(&alone);
    ok(ask(one, PX_OP_LOG, NULL));
    ck_assert_uint_eq(host_calls("log2"), 3);
}

/* ---- refusals ------------------------------------------------------------------------------ */

/* The host, a host without the function, the library, or a lack of components refuses. Each refusal
 * logs one line per peer. */
PX_TEST(who_refuses_a_request_is_logged_once_for_each_peer)
{
    const pmix_server_module_t none = {0};
    static const struct {
        uint8_t op;
        bool has_function;
        const char *line;
    } rows[] = {
        {PX_OP_GET_CREDENTIAL, true,
         "cannot serve PMIx_Get_credential of job.0: the host does not support the request"},
        {PX_OP_ALLOC, false,
         "cannot serve PMIx_Allocation_request of job.0: the host has no function for that"},
        {PX_OP_GROUP_INVITE, true,
         "of job.0: this library does not support the request"},
        {PX_OP_FABRIC_REGISTER, false,
         "cannot serve PMIx_Fabric_register of job.0: the host has no function for that, "
         "and no component of pnet supports the request"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        host.how = HOST_INSIDE;
        host.status = PMIX_SUCCESS;
        restart(rows[i].has_function ? &host_module : &none);
        host.how = HOST_ERROR;
        host.status = PMIX_ERR_NOT_SUPPORTED;
        struct rt_capture c = rt_capture_begin();
        for (int k = 0; k < 3; k++)
            fails(raw_request(k == 2 ? two : one,
                              rows[i].op == PX_OP_GROUP_INVITE ? raw_begin(rows[i].op)
                                                               : sound(rows[i].op),
                              NULL),
                  NOT_SUPPORTED);
        PX_AUTOFREE char *text = rt_capture_end(&c);
        ck_assert_msg(rt_count(text, rows[i].line) == 1, "%s", text);
        ck_assert_int_eq(rt_count(text, "\n"), 2); /* one of job.0, one of job.1 */
    }
}

/* ---- publish and lookup ------------------------------------------------------------------- */

PX_TEST(keys_go_to_the_host_and_what_it_found_comes_back)
{
    static const char *const keys[] = {"colour", "shape"};
    px_writer w = raw_begin(PX_OP_LOOKUP), none = raw_begin(PX_OP_UNPUBLISH);
    pmix_pdata_t found[2] = {{.key = "colour"}, {.key = "shape"}}, *got = NULL;
    size_t n = 0;
    px_reader r;

    found[1].proc = raw_proc("job", 1);
    found[1].value = (pmix_value_t){.type = PMIX_UINT32, .data.uint32 = 11};
    host.pdata = found;
    host.n_pdata = 2;
    pack_lookup(&w, keys, 2);
    ok(raw_request(one, w, &r));
    ck_assert_uint_eq(host.n_keys, 2);
    ck_assert_str_eq(host.keys[1], "shape");
    ok(px_unpack_size(&r, &n));
    ck_assert_uint_eq(n, 2);
    ok(px_unpack_array(&r, (void **)&got, n, PMIX_PDATA));
    ck_assert_uint_eq(got[1].value.data.uint32, 11);
    ck_assert(px_proc_same(&got[1].proc, &found[1].proc));
    px_type_free_array(PMIX_PDATA, got, n);
    pack_lookup(&none, NULL, 0); /* all keys */
    ok(raw_request(one, none, NULL));
    ck_assert_uint_eq(host.n_keys, 0);
}

PX_TEST(part_of_an_answer_comes_with_its_status)
{
    pmix_pdata_t found = {.key = "colour"};
    size_t n = 0;
    px_reader r;

    host.status = PMIX_ERR_PARTIAL_SUCCESS;
    host.pdata = &found;
    host.n_pdata = 1;
    fails(ask(one, PX_OP_LOOKUP, &r), PARTIAL_SUCCESS);
    ok(px_unpack_size(&r, &n));
    ck_assert_uint_eq(n, 1);
    host.status = PMIX_ERR_NOT_FOUND;
    host.pdata = NULL;
    host.n_pdata = 3; /* the host counts data that are not there */
    fails(ask(one, PX_OP_LOOKUP, &r), NOT_FOUND);
    ck_assert(px_reader_done(&r));
}

PX_TEST(nonsense_is_looked_up_nowhere)
{
    static const char *const hole[] = {"colour", NULL, "shape"};
    px_writer none = raw_begin(PX_OP_LOOKUP), holed = raw_begin(PX_OP_LOOKUP);

    pack_lookup(&none, NULL, 0);
    fails(raw_request(one, none, NULL), BAD_PARAM);
    pack_lookup(&holed, hole, 3);
    fails(raw_request(one, holed, NULL), BAD_PARAM);
    ck_assert_uint_eq(host_calls("lookup"), 0);
}

PX_TEST_MAIN("server/forward", setup, host_end)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Life of a client: connect, handshake, job information and finalize, with every behaviour of a
 * server. Also repeated lives, calls in progress at the end, and a server role in the process. */
#include "core/base/clock.h"
#include "core/base/str.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "pmix_server.h"
#include "pmix_version.h"
#include "px_test.h"

#include <pthread.h>
#include <string.h>
#include <sys/socket.h>

static pmix_status_t init(void)
{
    return PMIx_Init(NULL, NULL, 0);
}

static void assert_nothing_is_left(void)
{
    ck_assert(!PMIx_Initialized());
    ck_assert_ptr_null(px_process.loop);
    ck_assert_ptr_null(px_process.client);
    fails(PMIx_Finalize(NULL, 0), INIT);
}

static void serve_well(void)
{
    pmix_proc_t self;

    fake_start();
    ok(PMIx_Init(&self, NULL, 0));
    ck_assert_str_eq(self.nspace, "job");
    ck_assert_uint_eq(self.rank, 0);
    ck_assert_uint_eq(get_u32("job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 2);
    ck_assert_uint_eq(get_u32("job", 1, PMIX_LOCAL_RANK), 1);
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    client_end();
    ck_assert_uint_eq(fake.n_ops[PX_OP_FINALIZE], 1);
}

/* ---- dialects and buffers -------------------------------------------------------- */

PX_TEST(the_newest_address_decides_about_the_dialect)
{
    static const struct {
        const char *variable, *dialect;
    } rows[] = {
        {"PMIX_SERVER_URI41", "v41"},
        {"PMIX_SERVER_URI4", "v4"},
        {"PMIX_SERVER_URI3", "v3"},
        {"PMIX_SERVER_URI21", "v21"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        for (int described = 0; described < 2; described++) {
            memset(fake.n_ops, 0, sizeof(fake.n_ops));
            fake.uri_variable = rows[i].variable;
            fake.codec.dialect = px_dialect_find(rows[i].dialect);
            fake.codec.described = described;
            serve_well();
        }
    }
}

/* ---- debuggers ------------------------------------------------------------------- */

static const pmix_value_t *stops;

static void job_with_stops(px_writer *w)
{
    fake_usual_job_info(w);
    px_pack_kval(w, PMIX_DEBUG_STOP_IN_INIT, stops);
}

static bool release_it(int fd, struct fake_req *req)
{
    if (req->op != PX_OP_NOTIFY)
        return false;
    fake_status(fd, req->tag, PMIX_SUCCESS);
    fake_event(fd, PMIX_DEBUGGER_RELEASE, &(px_infos){0});
    return true;
}

static bool leave_it(int fd, struct fake_req *req)
{
    if (req->op != PX_OP_NOTIFY)
        return false;
    fake_status(fd, req->tag, PMIX_SUCCESS);
    shutdown(fd, SHUT_RDWR);
    return true;
}

/* Rank 0 notifies once that rank 0 waits. A lost server ends the wait, too. */
PX_TEST(init_waits_for_a_debugger_if_this_rank_is_to_stop)
{
    pmix_rank_t both[] = {1, 0}, other[] = {1};
    pmix_data_array_t with = {PMIX_PROC_RANK, 2, both},
                      without = {PMIX_PROC_RANK, 1, other};
    const struct {
        pmix_value_t value;
        bool waits;
    } rows[] = {{{PMIX_BOOL, {.flag = true}}, true},
                {{PMIX_BOOL, {.flag = false}}, false},
                {{PMIX_PROC_RANK, {.rank = 0}}, true},
                {{PMIX_PROC_RANK, {.rank = PMIX_RANK_WILDCARD}}, true},
                {{PMIX_PROC_RANK, {.rank = 1}}, false},
                {{PMIX_DATA_ARRAY, {.darray = &with}}, true},
                {{PMIX_DATA_ARRAY, {.darray = &without}}, false}};

    fake.job_info = job_with_stops;
    for (size_t i = 0; i < 2 * PX_COUNT(rows); i++) {
        stops = &rows[i / 2].value;
        memset(fake.n_ops, 0, sizeof(fake.n_ops));
        fake.hook = i % 2 ? leave_it : release_it;
        fake_start();
        ok(init());
        ok(init()); /* does not wait again */
        ck_assert_uint_eq(fake.n_ops[PX_OP_NOTIFY], rows[i / 2].waits);
        ok(PMIx_Finalize(NULL, 0));
        client_end();
    }
}

/* ---- servers that do not serve --------------------------------------------------- */

/* A server that reads the connect message, sends bytes, and leaves, or stays until the
 * client leaves. */
static const struct bad_server {
    bool reads_hello, reads_request, stays;
    const char *bytes;
    size_t n;
    pmix_status_t word;   /* sent in place of bytes, unless 0 */
    pmix_status_t status; /* UNREACH: the process works without a server */
} bad_servers[] = {
    {true, false, false, "", 0, 0, PMIX_ERR_UNREACH},
    /* init returns the status of a server that refuses */
    {true, false, false, NULL, 0, PMIX_ERR_INVALID_CRED, PMIX_ERR_INVALID_CRED},
    {true, false, false, NULL, 0, PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_FOUND},
    {true, false, false, NULL, 0, PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED},
    {true, false, false, NULL, 0, PMIX_ERR_READY_FOR_HANDSHAKE,
     PMIX_ERR_READY_FOR_HANDSHAKE},
    {true, false, false, "HTTP", 4, 0, PMIX_ERR_UNREACH},
    {true, false, false, "\0\0\0\0", 4, 0, PMIX_ERR_UNREACH}, /* without an index */
    {false, false, false, "", 0, 0, PMIX_ERR_UNREACH},
    {true, false, false, "\0\0", 2, 0, PMIX_ERR_UNREACH}, /* half a word */
    {true, true, false, "\0\0\0\0\0\0\0\7", 8, 0, PMIX_ERR_LOST_CONNECTION},
    {true, false, true,
     "\0\0\0\0\0\0\0\7\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff",
     24, 0, PMIX_ERR_LOST_CONNECTION}, /* garbage after the handshake */
    {false, false, true, "", 0, 0, PMIX_ERR_UNREACH},
    {true, false, true, "\0\0\0\0\0\0\0\7", 8, 0,
     PMIX_ERR_TIMEOUT}, /* no job information */
};
static const struct bad_server *bad_server;

static void check_hello(void)
{
    ck_assert_str_eq(fake.hello.psec, "native");
    ck_assert_uint_eq(fake.hello.cred_len, 8);
    ck_assert_uint_eq(fake.hello.flag, PX_FLAG_CLIENT);
    ck_assert_str_eq(fake.hello.proc.nspace, "job");
    ck_assert_uint_eq(fake.hello.proc.rank, 0);
    ck_assert_str_eq(fake.hello.dialect, "v41");
    ck_assert_str_eq(fake.hello.gds, "hash");
    ck_assert_uint_eq(fake.hello.version.major, PMIX_VERSION_MAJOR);
    ck_assert_uint_eq(fake.hello.blob_len, 0);
}

static void serve_badly(void)
{
    struct fake_req req = {0};
    char rest[256];
    int fd = fake_accept_mute();

    if (bad_server->reads_hello) {
        fake_read_hello(fd);
        check_hello();
    }
    if (bad_server->word)
        fake_words(fd, bad_server->word, -1);
    else
        fake_answer_with(fd, bad_server->bytes, bad_server->n);
    if (bad_server->reads_request)
        ck_assert(fake_next(fd, &req));
    px_buf_cleanup(&req.payload);
    while (bad_server->stays && read(fd, rest, sizeof(rest)) > 0)
        ;
    close(fd);
}

PX_TEST(a_server_that_does_not_serve_is_an_error)
{
    fake.script = serve_badly;
    for (size_t i = 0; i < PX_COUNT(bad_servers); i++) {
        if (i >= PX_COUNT(bad_servers) - 2) /* the silent servers */
            setenv("PMIX_MCA_client_connect_timeout", "30ms", 1);
        bad_server = &bad_servers[i];
        fake_start();
        pmix_status_t rc = init();
        ck_assert_msg(rc == bad_server->status, "row %zu: %s", i,
                      PMIx_Error_string(rc));
        client_lives_alone(rc);
        assert_nothing_is_left();
        fake_stop();
    }
}

/* ---- garbage --------------------------------------------------------------------- */

static const char *bad_info;
static size_t bad_info_len;

static bool answer_badly(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_REQ)
        fake_raw(fd, req->tag, bad_info, bad_info_len);
    return req->op == PX_OP_REQ;
}

PX_TEST(malformed_job_information_is_an_error)
{
    static const struct {
        const char *bytes;
        size_t n;
        pmix_status_t status; /* 0: some error */
    } rows[] = {
        {"", 0, 0},
        {"\x02\x08job", 5, 0},               /* a truncated name */
        {"\x02\x00", 2, 0},                  /* no name */
        {"\x02\x02\x00", 3, 0},              /* an empty name */
        {"\x02\x08job\0\x02\xff\xff", 9, 0}, /* a damaged pair */
        {"\x02\x08job\0\x02\x04k\0\x27\x18\xff\xff\xff\xff\x0f", 17,
         0},                                 /* a giant array */
        {"\x02\x5b", 2, PMIX_ERR_NOT_FOUND}, /* a status in place of the name */
    };

    fake.hook = answer_badly;
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        bad_info = rows[i].bytes;
        bad_info_len = rows[i].n;
        fake_start();
        pmix_status_t rc = init();
        ck_assert_msg(rows[i].status ? rc == rows[i].status : rc < 0, "row %zu: %s", i,
                      PMIx_Error_string(rc));
        assert_nothing_is_left();
        fake_stop();
    }
}

static bool answer_in_part(int fd, struct fake_req *req)
{
    px_writer w = fake_begin();

    if (req->op != PX_OP_REQ)
        return false;
    px_pack_str(&w, fake.nspace);
    fake_usual_job_info(&w);
    w.buf.len -= bad_info_len < w.buf.len ? bad_info_len : w.buf.len;
    bad_info = w.buf.len ? "more" : NULL;
    fake_reply(fd, req->tag, &w);
    return true;
}

/* Cuts each number of bytes. Information that ends between two pairs is valid. */
PX_TEST(truncated_job_information_is_an_error_or_valid)
{
    int unused = dup(0); /* lowest free descriptor */
    unsigned n_errors = 0;

    close(unused);
    fake.hook = answer_in_part;
    bad_info = "more";
    for (bad_info_len = 1; bad_info; bad_info_len++) {
        fake_start();
        if (init() == PMIX_SUCCESS)
            ok(PMIx_Finalize(NULL, 0));
        else
            n_errors++;
        assert_nothing_is_left();
        fake_stop();
    }
    ck_assert_uint_gt(n_errors, bad_info_len / 2);
    ck_assert_int_eq(dup(0), unused);
}

static bool strange_frames_first(int fd, struct fake_req *req)
{
    static const uint32_t tags[] = {0, 1, 2, 50, 100, 4711};

    for (size_t i = 0; req->op == PX_OP_REQ && i < PX_COUNT(tags); i++) {
        px_writer w = fake_begin();

        px_pack_status(&w, PMIX_SUCCESS);
        fake_reply(fd, tags[i], &w);
    }
    return false;
}

PX_TEST(unexpected_frames_do_no_harm)
{
    fake.hook = strange_frames_first;
    serve_well();
}

/* ---- job information of other servers -------------------------------------------- */

static void put_string(px_writer *w, const char *key, const char *s)
{
    pmix_value_t v = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t)s};

    px_pack_kval(w, key, &v);
}

/* Packs the form of 3.2: single keys of other realms, arrays of process data. */
static void older_job_info(px_writer *w)
{
    PX_AUTO(px_infos) holder = {0};
    px_infos members = {0};
    pmix_rank_t rank = 1;
    uint16_t one = 1;

    fake_put_u32(w, PMIX_JOB_SIZE, 2);
    fake_put_u32(w, PMIX_UNIV_SIZE, 2);
    fake_put_u32(w, PMIX_LOCAL_SIZE, 2);
    put_string(w, PMIX_LOCAL_PEERS, "0,1");
    fake_put_u32(w, "some.key.of.the.host", 5);
    ok(px_infos_add(&members, PMIX_RANK, &rank, PMIX_PROC_RANK));
    ok(px_infos_add(&members, PMIX_LOCAL_RANK, &one, PMIX_UINT16));
    ok(px_infos_add_array(&holder, PMIX_PROC_DATA, &members));
    px_pack_kval(w, PMIX_PROC_DATA, &holder.v[0].value);
}

/* Packs the form of 2.x and 3.1: the map as a blob. */
static void map_blob_job_info(px_writer *w)
{
    px_writer body = fake_begin();
    pmix_value_t blob = {.type = PMIX_BYTE_OBJECT};

    fake_put_u32(w, PMIX_JOB_SIZE, 2);
    px_pack_size(&body, 1);
    put_string(&body, "here", "0,1");
    blob.data.bo.bytes = (char *)body.buf.data;
    blob.data.bo.size = body.buf.len;
    px_pack_kval(w, PMIX_MAP_BLOB, &blob);
    px_writer_cleanup(&body);
}

PX_TEST_LOOP(older_forms_of_job_information_are_understood, 2)
{
    fake.job_info = _i == 0 ? older_job_info : map_blob_job_info;
    client_begin();
    ck_assert_uint_eq(get_u32("job", PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE), 2);
    ck_assert_uint_eq(get_u32("job", 1, PMIX_LOCAL_RANK), 1);
    if (_i == 0) {
        ck_assert_uint_eq(get_u32("job", PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE), 2);
        ck_assert_uint_eq(get_u32("job", PMIX_RANK_WILDCARD, "some.key.of.the.host"),
                          5);
    }
}

/* ---- the environment ------------------------------------------------------------- */

PX_TEST(an_environment_that_makes_no_sense_is_refused_before_anything_is_done)
{
    static const struct {
        const char *name, *value;
        pmix_status_t status;
    } rows[] = {
        {"PMIX_RANK", NULL, PMIX_ERR_DATA_VALUE_NOT_FOUND},
        {"PMIX_RANK", "", PMIX_ERR_BAD_PARAM},
        {"PMIX_RANK", "x", PMIX_ERR_BAD_PARAM},
        {"PMIX_RANK", "-1", PMIX_ERR_BAD_PARAM},
        {"PMIX_RANK", "4294967245", PMIX_ERR_BAD_PARAM}, /* PMIX_RANK_VALID */
        {"PMIX_RANK", "4294967294", PMIX_ERR_BAD_PARAM}, /* PMIX_RANK_WILDCARD */
        {"PMIX_NAMESPACE", "", PMIX_ERR_INVALID_NAMESPACE},
        {"PMIX_SECURITY_MODE", "munge", PMIX_ERR_NOT_SUPPORTED},
        {"PMIX_SERVER_URI41", NULL, PMIX_ERR_UNREACH},
        {"PMIX_SERVER_URI41", "nonsense", PMIX_ERR_BAD_PARAM},
        {"PMIX_SERVER_URI41", DEAD_URI, PMIX_ERR_UNREACH},
        {"PMIX_SERVER_URI41", "server.0;carrier-pigeon://home", PMIX_ERR_UNREACH},
        {"PMIX_MCA_mca_base_strict", "error", PMIX_ERR_BAD_PARAM},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        setenv("PMIX_NAMESPACE", "job", 1);
        setenv("PMIX_RANK", "0", 1);
        setenv("PMIX_SECURITY_MODE", "native", 1);
        setenv("PMIX_SERVER_URI41", DEAD_URI, 1);
        setenv("PMIX_MCA_client_connect_timeout", "soon", 1); /* warns only */
        unsetenv("PMIX_MCA_mca_base_strict");
        if (rows[i].value)
            setenv(rows[i].name, rows[i].value, 1);
        else
            unsetenv(rows[i].name);
        pmix_status_t rc = init();
        ck_assert_msg(rc == rows[i].status, "%s=%s: %s", rows[i].name, rows[i].value,
                      PMIx_Error_string(rc));
        client_lives_alone(rc);
        assert_nothing_is_left();
    }
    PX_AUTOFREE char *longer = px_strf("%0300d", 1);
    setenv("PMIX_NAMESPACE", longer, 1);
    fails(init(), INVALID_NAMESPACE);
}

/* Expects a request with the connect message if TENON_SERVER_URI is set. */
static void serve_at_once(void)
{
    struct fake_req req = {0};
    int fd = fake_accept();
    char byte;
    fake.unasked = getenv("TENON_SERVER_URI");
    if (fake.unasked) { /* the request comes before any reply */
        ck_assert(fake_next(fd, &req));
        ck_assert_uint_eq(req.op, PX_OP_REQ);
        fake.unasked = false;
    } else {
        ck_assert_int_eq(recv(fd, &byte, 1, MSG_PEEK | MSG_DONTWAIT), -1);
    }
    fake_words(fd, PMIX_SUCCESS, 7);
    if (req.payload.len)
        fake_answer(fd, &req);
    px_buf_cleanup(&req.payload);
    fake_serve_on(fd);
}

PX_TEST(a_client_of_our_server_requests_the_job_with_the_connect_message)
{
    fake.script = serve_at_once;
    for (int ours = 0; ours < 2; ours++) {
        fake_start();
        PX_AUTOFREE char *own = px_strf("%s;%s", getenv("PMIX_SERVER_URI41"),
                                        strchr(getenv("PMIX_SERVER_URI41"), ';') + 1);
        if (ours)
            setenv("TENON_SERVER_URI", own, 1);
        ok(init());
        client_end();
        ck_assert_uint_eq(fake.n_ops[PX_OP_REQ], ours + 1);
    }
}

PX_TEST(a_bad_faster_address_does_not_prevent_init)
{
    fake_start();
    PX_AUTOFREE char *own = px_strf("%s;usock:///nonexistent/socket",
                                    getenv("PMIX_SERVER_URI41"));
    const char *const faster[] = {
        own, /* unreachable */
        "server.0;tcp4://127.0.0.1:1;tcp4://127.0.0.1:2" /* address of another server */};

    for (size_t i = 0; i < PX_COUNT(faster); i++) {
        if (!fake.runs)
            fake_start();
        setenv("TENON_SERVER_URI", faster[i], 1);
        ok(init());
        client_end();
    }
}

/* ---- the end --------------------------------------------------------------------- */

PX_TEST(finalize_is_sent_once_waits_for_its_reply_and_init_works_again)
{
    pmix_info_t barrier = flag(PMIX_EMBED_BARRIER);

    for (unsigned i = 0; i < 5; i++) {
        client_begin();
        ok(init());
        ok(PMIx_Finalize(NULL, 0));
        ok(PMIx_Commit());
        ck_assert_uint_eq(fake.n_ops[PX_OP_FINALIZE], i);
        client_end();
        ck_assert_uint_eq(fake.n_ops[PX_OP_REQ], i + 1);
        ck_assert_uint_eq(fake.n_ops[PX_OP_FINALIZE], i + 1);
        fails(PMIx_Finalize(NULL, 0), INIT);
    }
    client_begin();
    ok(PMIx_Finalize(&barrier, 1)); /* a fence before the end */
    fake_stop();
    ck_assert_uint_eq(fake.n_ops[PX_OP_FENCE], 1);
}

/* ---- servers that do not answer -------------------------------------------------- */

static bool die_at_goodbye(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_FINALIZE)
        shutdown(fd, SHUT_RDWR);
    return req->op == PX_OP_FINALIZE;
}

static bool ignore_goodbye(int fd PX_UNUSED, struct fake_req *req)
{
    return req->op == PX_OP_FINALIZE;
}

PX_TEST(finalize_without_a_reply_ends_after_its_timeout)
{
    uint64_t began;

    client_of_hook(die_at_goodbye);
    client_end();
    setenv("PMIX_MCA_client_finalize_timeout", "50ms", 1);
    client_of_hook(ignore_goodbye);
    began = px_clock_ms();
    client_end();
    ck_assert_uint_ge(px_clock_ms() - began, 40);
}

static sem_t gone;

static void serve_and_leave(void)
{
    close(fake_serve_job());
    sem_post(&gone);
}

PX_TEST_HANDLER(on_event)
{
    ck_assert_str_eq(source->nspace, "server");
    cb(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
    on_op(code, &done);
}

PX_TEST(the_loss_of_the_server_is_an_event_and_the_end_still_works)
{
    sem_init(&gone, 0, 0);
    fake.script = serve_and_leave;
    client_begin();
    handle_code(PMIX_ERR_LOST_CONNECTION, on_event);
    sem_wait(&gone);
    fails(await_op(), LOST_CONNECTION);
    ck_assert(PMIx_Initialized());
    ok(init()); /* a further reference needs no server */
    ok(PMIx_Finalize(NULL, 0));
}

/* ---- calls under way ------------------------------------------------------------- */

static sem_t received;

static bool hold_all_but_goodbye(int fd, struct fake_req *req)
{
    if (req->op == PX_OP_FINALIZE) {
        fake_status(fd, req->tag, PMIX_SUCCESS);
    } else if (req->op != PX_OP_REQ) {
        sem_post(&received);
        return true;
    }
    return req->op == PX_OP_FINALIZE;
}

static void *fence(void *arg)
{
    *(pmix_status_t *)arg = PMIx_Fence(NULL, 0, NULL, 0);
    return NULL;
}

PX_TEST(calls_without_an_answer_end_with_the_client)
{
    pmix_status_t waited = PMIX_SUCCESS;
    pmix_info_t data = flag("key");
    pthread_t thread;

    sem_init(&received, 0, 0);
    client_of_hook(hold_all_but_goodbye);
    ok(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &done));
    ok(PMIx_Publish_nb(&data, 1, on_op, &done));
    ok(pthread_create(&thread, NULL, fence, &waited));
    for (int i = 0; i < 3; i++)
        sem_wait(&received);
    client_end();
    for (int i = 0; i < 2; i++)
        fails(await_op(), UNREACH);
    pthread_join(thread, NULL);
    ck_assert_int_eq(waited, PMIX_ERR_UNREACH);
}

/* ---- event handlers that answer late --------------------------------------------- */

static pmix_event_notification_cbfunc_fn_t late_cb;
static void *late_cbdata;

PX_TEST_HANDLER(answer_later)
{
    late_cb = cb;
    late_cbdata = cbdata;
    on_op(code, &done);
}

static void *answer_now(void *arg PX_UNUSED)
{
    late_cb(PMIX_SUCCESS, NULL, 0, NULL, NULL, late_cbdata);
    return NULL;
}

/* Replies after the end, in the next life, and in a thread while the client ends. */
PX_TEST(a_handler_may_answer_late)
{
    for (int i = 0; i < 32; i++) {
        pthread_t thread;

        client_begin();
        handle_code(0, answer_later);
        ok(PMIx_Notify_event(-700, NULL, PMIX_RANGE_PROC_LOCAL, NULL, 0, NULL, NULL));
        sem_wait(&done);
        if (i > 1)
            ok(pthread_create(&thread, NULL, answer_now, NULL));
        client_end();
        if (i == 1)
            client_begin();
        if (i > 1)
            pthread_join(thread, NULL);
        else
            answer_now(NULL);
        client_end();
    }
}

/* ---- lives and roles ------------------------------------------------------------- */

static void *serve_parent(void *arg PX_UNUSED)
{
    int fd = fake_serve_job();

    sem_wait(&received);
    fake_serve_on(fd);
    return NULL;
}

static void serve_parent_then_child(void)
{
    pthread_t thread;

    ok(pthread_create(&thread, NULL, serve_parent, NULL));
    sem_wait(&gone);
    fake_serve(); /* the child */
    sem_post(&received);
    pthread_join(thread, NULL);
}

PX_TEST(a_forked_child_is_a_client_of_its_own_and_ends_alone)
{
    sem_init(&gone, 0, 0);
    sem_init(&received, 0, 0);
    fake.script = serve_parent_then_child;
    client_begin();
    pid_t pid = fork();
    if (pid == 0)
        _exit(PMIx_Fence(NULL, 0, NULL, 0) != PMIX_ERR_INIT ||
              PMIx_Init(NULL, NULL, 0) || PMIx_Commit() || PMIx_Finalize(NULL, 0));
    sem_post(&gone);
    exits_with_0(pid);
    ok(PMIx_Commit()); /* the parent is still connected */
}

static const pmix_server_module_t no_module;

static void host_a_job(void)
{
    PX_AUTO(px_infos) infos = {0};
    pmix_server_module_t module = no_module;
    pmix_nspace_t hosted = "hosted";
    uint32_t three = 3;

    ok(PMIx_server_init(&module, NULL, 0));
    ok(px_infos_add(&infos, PMIX_JOB_SIZE, &three, PMIX_UINT32));
    at_once(PMIx_server_register_nspace(hosted, 3, infos.v, infos.n, NULL, NULL));
}

PX_TEST(a_client_may_be_a_server_too_and_either_may_end_first)
{
    for (int server_first = 0; server_first < 2; server_first++) {
        client_begin();
        host_a_job();
        ck_assert_uint_eq(get_u32("job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 2);
        ck_assert_uint_eq(get_u32("hosted", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
        ok(PMIx_Fence(NULL, 0, NULL, 0)); /* at the client's server */
        if (server_first) {
            ok(PMIx_server_finalize());
            ck_assert_uint_eq(get_u32("hosted", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE),
                              UINT32_MAX);
            ok(PMIx_Fence(NULL, 0, NULL, 0));
            client_end();
        } else {
            pmix_info_t data = flag("key");

            client_end();
            ck_assert(PMIx_Initialized());
            ck_assert_uint_eq(get_u32("hosted", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
            fails(PMIx_Publish(&data, 1), NOT_SUPPORTED); /* from its own host */
            fails(PMIx_Finalize(NULL, 0), INIT);
            ok(PMIx_server_finalize());
        }
        ck_assert(!PMIx_Initialized());
        ck_assert_ptr_null(px_process.loop);
    }
}

PX_TEST(data_of_served_jobs_survives_own_fences_and_refreshes)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = 5}, *got = NULL;
    pmix_info_t collect = flag(PMIX_COLLECT_DATA),
                refresh = flag(PMIX_GET_REFRESH_CACHE);
    pmix_proc_t p = proc_of("hosted", 1);

    client_begin();
    host_a_job();
    ok(px_store_put(&px_nspace_find(px_process.model, "hosted")->store, PX_GDS_REMOTE,
                    1, "colour", &v));
    ok(PMIx_Fence(NULL, 0, &collect, 1));
    ok(PMIx_Get(&p, "colour", &refresh, 1, &got));
    ck_assert_uint_eq(got->data.uint32, 5);
    PMIX_VALUE_RELEASE(got);
    ok(PMIx_server_finalize());
}

PX_TEST(init_in_a_server_is_a_guest_of_it)
{
    pmix_server_module_t module = no_module;
    pmix_proc_t self;

    host_a_job();
    fails(PMIx_Finalize(NULL, 0), INIT);
    ok(PMIx_Init(&self, NULL, 0));
    ck_assert(px_proc_same(&self, &px_process.model->self));
    ok(PMIx_Finalize(NULL, 0));
    fails(PMIx_Finalize(NULL, 0), INIT);

    ok(PMIx_Init(NULL, NULL, 0));
    ok(PMIx_server_init(&module, NULL, 0)); /* needs a finalize of its own */
    ok(PMIx_server_finalize());
    ck_assert_uint_eq(get_u32("hosted", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 3);
    ok(PMIx_server_finalize()); /* ends the guest, too */
    ck_assert(!PMIx_Initialized());
    fails(PMIx_Fence(NULL, 0, NULL, 0), INIT);
    fails(PMIx_Finalize(NULL, 0), INIT);
    fails(PMIx_server_finalize(), INIT);
}

PX_TEST_MAIN("client/life", NULL, client_end)

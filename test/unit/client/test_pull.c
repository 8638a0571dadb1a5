/* SPDX-License-Identifier: BSD-3-Clause */
/* Output that a pull receives: its forms and destinations, the ends of lines, and readers that do
 * not read. */
#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/client/client.h"
#include "core/iof/format.h"
#include "fake_server.h"
#include "px_test.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#define OUT PMIX_FWD_STDOUT_CHANNEL
#define ERR PMIX_FWD_STDERR_CHANNEL

struct piece {
    pmix_rank_t rank; /* 0 ends the list */
    pmix_iof_channel_t channel;
    const char *text;
    uint64_t dropped_b;
};

/* Pieces that the server sends before its reply to a fence. */
static const struct piece *pieces;
static size_t flood_b; /* further bytes of output of rank 1 */
static size_t piece_id;
static pid_t life = 41; /* pid of rank 1 */
static bool dies;       /* the server disconnects instead of a reply */
static int out;         /* read end of this process's stdout */
static char got[1024];
static uint64_t got_dropped;

static char byte_at(size_t i)
{
    return i % 61 == 60 ? '\n' : (char)('a' + i * 7 % 26);
}

static void send_bytes(int fd, const struct piece *p, const char *bytes, size_t n)
{
    pmix_proc_t source = rank(p->rank);
    PX_AUTO(px_infos) infos = {0};

    if (p->dropped_b)
        ok(px_infos_add(&infos, TENON_IOF_DROPPED, &p->dropped_b, PMIX_UINT64));
    if (p->rank == 1) { /* the server sends no infos about rank 2 */
        ok(px_infos_add(&infos, PMIX_HOSTNAME, "n1", PMIX_STRING));
        ok(px_infos_add(&infos, PMIX_PROC_PID, &life, PMIX_PID));
    }
    const struct px_args piece = {
        .procs = &source,
        .channels = p->channel,
        .id = piece_id,
        .info = infos,
        .bytes = {.bytes = (char *)(uintptr_t)bytes, .size = n}};
    fake_send_piece(fd, &piece);
}

static bool serve(int fd, struct fake_req *req)
{
    static char block[50021];
    const struct piece flood = {.rank = 1, .channel = OUT};

    if (req->op == PX_OP_IOF_PULL)
        piece_id = fake.received.id;
    if (req->op != PX_OP_FENCE)
        return false;
    for (const struct piece *p = pieces; p && p->rank; p++)
        send_bytes(fd, p, p->text, strlen(p->text));
    for (size_t at = 0, n; at < flood_b; at += n) {
        n = flood_b - at < sizeof(block) ? flood_b - at : sizeof(block);
        for (size_t i = 0; i < n; i++)
            block[i] = byte_at(at + i);
        send_bytes(fd, &flood, block, n);
    }
    if (dies)
        shutdown(fd, SHUT_RDWR);
    return dies;
}

static pmix_status_t let_send(const struct piece *p)
{
    pieces = p;
    return PMIx_Fence(NULL, 0, NULL, 0);
}

static void setup(void)
{
    int ends[2];

    setenv("PMIX_MCA_iof_gather_time", "1h", 1); /* the gather time never ends */
    setenv("PMIX_MCA_iof_drain_timeout", "200ms", 1);
    ok(pipe(ends));
    ck_assert_int_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    close(ends[1]);
    out = ends[0];
    client_of_hook(serve);
}

static void on_bytes(size_t id PX_UNUSED, pmix_iof_channel_t channel,
                     pmix_proc_t *source PX_UNUSED, pmix_byte_object_t *payload,
                     pmix_info_t info[], size_t n_info)
{
    const pmix_info_t *dropped = px_info_find(info, n_info, TENON_IOF_DROPPED);
    size_t n = strlen(got);

    if (dropped)
        got_dropped += dropped->value.data.uint64;
    ck_assert_uint_le(n + payload->size + 3, sizeof(got));
    sprintf(got + n, "%s%.*s|", channel == OUT ? "" : "!", (int)payload->size,
            payload->size ? payload->bytes : "");
}

/* ---- forms ----------------------------------------------------------------------- */

/* how: directives, separated by blanks: "key" is true, "key=text" a text or a number. */
static pmix_status_t pull(const char *how, pmix_iof_cbfunc_t fn)
{
    PX_AUTO(px_strv) keys = px_strv_split(how, ' ', false);
    pmix_proc_t p = rank(PMIX_RANK_WILDCARD);
    PX_AUTO(px_infos) infos = {0};

    for (char **key = keys; key && *key; key++) {
        char *text = strchr(*key, '=');
        uint32_t n = text ? (uint32_t)atoi(text + 1) : 0;

        if (text)
            *text++ = '\0';
        ok(px_infos_add(&infos, *key, n ? (const void *)&n : text,
                        n      ? PMIX_UINT32
                        : text ? PMIX_STRING
                               : PMIX_BOOL));
    }
    return PMIx_IOF_pull(&p, 1, infos.v, infos.n, OUT | ERR, fn, NULL, NULL);
}

static const struct piece usual[] = {
    {1, OUT, "ab", 0}, {2, OUT, "x\n", 0}, {1, OUT, "c\nd", 0}, {0}};
static const struct piece torn[] = {
    {1, OUT, "ab", 0}, {1, OUT, "c", 0}, {1, OUT, "def", 0}, {1, OUT, "g", 0}, {0}};
static const struct piece gathered[] = {
    {1, OUT, "ab", 0}, {2, OUT, "x\n", 0}, {1, OUT, "c\n", 0}, {0}};
static const struct piece both[] = {{1, OUT, "a\n", 0}, {1, ERR, "b\n", 0}, {0}};
static const struct piece gone[] = {{1, OUT, "a\n", 700}, {1, OUT, "b\n", 1}, {0}};
static const struct piece ended[] = {
    {1, OUT, "ab", 0}, {2, OUT, "c\n", 0}, {1, OUT, "", 0}, {1, OUT, "d", 0}, {0}};

#define TWO_TAGS PMIX_IOF_TAG_OUTPUT " " PMIX_IOF_MERGE_STDERR_STDOUT
#define CACHED   " " PMIX_IOF_CACHE_SIZE "=70000"
static const struct row {
    const char *how;
    bool fn;
    const struct piece *pieces;
    const char *expected; /* '|' ends the bytes of each call of the function */
    uint64_t dropped_b;
} rows[] = {
    {"", false, usual, "x\nabc\nd", 0},
    {"", false, ended, "c\nabd", 0},
    {PMIX_IOF_OUTPUT_RAW, false, usual, "abx\nc\nd", 0},
    {PMIX_IOF_RANK_OUTPUT, false, usual,
     "[2]<stdout>:x\n[1]<stdout>:abc\n[1]<stdout>:d\n", 0},
    {PMIX_IOF_TAG_DETAILED_OUTPUT, false, usual,
     "[job,2]<stdout>:x\n[job,1][n1:41]<stdout>:abc\n[job,1][n1:41]<stdout>:d\n", 0},
    {PMIX_IOF_TAG_DETAILED_OUTPUT CACHED, true, ended,
     "[job,2]<stdout>:c\n|[job,1][n1:41]<stdout>:ab\n||[job,1][n1:41]<stdout>:d\n|", 0},
    {PMIX_IOF_TAG_OUTPUT, false, both + 1, "", 0},
    {TWO_TAGS, false, both, "[job,1]<stdout>:a\n[job,1]<stdout>:b\n", 0},
    {TENON_IOF_JSON_OUTPUT, false, both,
     "{\"nspace\":\"job\",\"rank\":1,\"channel\":\"stdout\",\"data\":\"a\\n\"}\n", 0},
    {PMIX_IOF_XML_OUTPUT, false, both,
     "<stdout nspace=\"job\" rank=\"1\">a&#10;</stdout>\n", 0},
    {PMIX_IOF_BUFFERING_SIZE "=4", false, gathered, "abc\nx\n", 0},
    {"", true, usual, "ab|x\n|c\nd|", 0},
    {"", true, ended, "ab|c\n||d|", 0},
    {PMIX_IOF_OUTPUT_RAW, true, both, "a\n|!b\n|", 0},
    {PMIX_IOF_MERGE_STDERR_STDOUT, true, both, "a\n|b\n|", 0},
    {PMIX_IOF_BUFFERING_SIZE "=4", true, torn, "abcdef|g|", 0},
    {PMIX_IOF_BUFFERING_SIZE "=4", true, ended + 2, "|d|", 0},
    {PMIX_IOF_RANK_OUTPUT CACHED, true, usual,
     "[2]<stdout>:x\n|[1]<stdout>:abc\n|[1]<stdout>:d\n|", 0},
    {"", true, gone, "a\n|b\n|", 701},
    {PMIX_IOF_RANK_OUTPUT, true, gone, "[1]<stdout>:a\n|[1]<stdout>:b\n|", 701},
    {"", false, gone, "a\nb\n", 0},
};

/* Expects exactly this text in this process's stdout. */
static void expect_out(const char *expected)
{
    char text[1024] = "";
    size_t n = 0;
    int more = 0;

    while (n < strlen(expected)) {
        ssize_t some = read(out, text + n, sizeof(text) - 1 - n);

        ck_assert_int_gt(some, 0);
        n += (size_t)some;
    }
    ck_assert_str_eq(text, expected);
    ok(ioctl(out, FIONREAD, &more));
    ck_assert_int_eq(more, 0);
}

/* The end of a pull also ends lines. */
PX_TEST_LOOP(output_has_the_requested_form, PX_COUNT(rows))
{
    const struct row *row = &rows[_i];
    pmix_status_t id = pull(row->how, row->fn ? on_bytes : NULL);

    ck_assert_int_gt(id, 0);
    /* The server gets only the cache size. */
    ck_assert_uint_eq(fake.received.info.n, strstr(row->how, CACHED) != NULL);
    ok(let_send(row->pieces));
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    if (row->fn)
        ck_assert_str_eq(got, row->expected);
    else
        expect_out(row->expected);
    ck_assert_uint_eq(got_dropped, row->dropped_b);
}

/* A restart between two pieces of a line ends the line. */
PX_TEST(output_of_a_restarted_process_has_its_new_pid)
{
    pmix_status_t id = pull(PMIX_IOF_TAG_DETAILED_OUTPUT, NULL);

    ck_assert_int_gt(id, 0);
    for (life = 41; life < 43; life++)
        ok(let_send(torn + 2));
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    expect_out("[job,1][n1:41]<stdout>:defg\n[job,1][n1:42]<stdout>:defg\n");
}

static const struct {
    const char *key, *path, *also;
    const char *name; /* file in the test's folder */
    bool only;
} files[] = {
    {PMIX_IOF_OUTPUT_TO_FILE, "f", "", "f.job.1.stdout", false},
    {PMIX_IOF_OUTPUT_TO_FILE, "a/f", PMIX_IOF_FILE_ONLY, "a/f.job.1.stdout", true},
    {PMIX_IOF_OUTPUT_TO_DIRECTORY, "d/e", PMIX_IOF_FILE_ONLY, "d/e/job/rank.1/stdout",
     true},
    {PMIX_IOF_OUTPUT_TO_FILE, "p-%n-%r", PMIX_IOF_FILE_PATTERN, "p-job-1.stdout",
     false},
};

PX_TEST_LOOP(output_goes_to_files_also_or_only, PX_COUNT(files))
{
    PX_AUTOFREE char *how = px_strf("%s=%s %s", files[_i].key,
                                    px_test_path(files[_i].path), files[_i].also);
    char text[64] = "";
    pmix_status_t id = pull(how, NULL);

    ck_assert_int_gt(id, 0);
    ok(let_send(usual));
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    expect_out(files[_i].only ? "" : "x\nabc\nd");
    PX_AUTOCLOSE int fd = open(px_test_path(files[_i].name), O_RDONLY);
    ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
    ck_assert_str_eq(text, "abc\nd");
}

PX_TEST(contradictory_directives_are_never_sent)
{
    static const char *const bad[] = {
        PMIX_IOF_OUTPUT_RAW " " PMIX_IOF_TAG_OUTPUT,
        PMIX_IOF_XML_OUTPUT " " TENON_IOF_JSON_OUTPUT,
        PMIX_IOF_DROP_OLDEST " " PMIX_IOF_DROP_NEWEST,
        PMIX_IOF_COPY " " PMIX_IOF_REDIRECT,
        PMIX_IOF_OUTPUT_TO_FILE "=f " PMIX_IOF_OUTPUT_TO_DIRECTORY "=d",
        PMIX_IOF_OUTPUT_TO_FILE,
        PMIX_IOF_OUTPUT_TO_FILE "=%x " PMIX_IOF_FILE_PATTERN,
        PMIX_IOF_FILE_PATTERN,
        PMIX_IOF_FILE_ONLY,
        PMIX_IOF_CACHE_SIZE "=many",
        PMIX_IOF_BUFFERING_SIZE "=many",
    };

    for (size_t i = 0; i < PX_COUNT(bad); i++)
        fails(pull(bad[i], i % 2 ? NULL : on_bytes), BAD_PARAM);
    ck_assert_uint_eq(fake.n_ops[PX_OP_IOF_PULL], 0);
}

/* Output of spawned processes has id 0, or a number of the server. */
PX_TEST(output_without_a_pull_goes_to_our_own_stdout)
{
    static const struct piece line[] = {{1, OUT, "hello\n", 0}, {0}};

    static const size_t ids[] = {0, 7, SIZE_MAX}; /* numbers of servers */

    ck_assert_int_gt(pull("", on_bytes), 0); /* makes the client forward output */
    ck_assert_int_gt(pull("", NULL), 0);
    for (size_t i = 0; i < PX_COUNT(ids); i++) {
        piece_id = ids[i];
        ok(let_send(line));
        expect_out("hello\n");
    }
    ck_assert_str_eq(got, "");
}

/* ---- ends ------------------------------------------------------------------------ */

/* The end of the connection or of the client writes an incomplete line. */
PX_TEST_LOOP(an_incomplete_line_is_not_lost, 2)
{
    static const struct piece tail[] = {{1, OUT, "tail", 0}, {0}};

    ck_assert_int_gt(pull("", NULL), 0);
    dies = _i == 0;
    ck_assert_int_eq(let_send(tail), dies ? PMIX_ERR_LOST_CONNECTION : PMIX_SUCCESS);
    if (!dies)
        ok(PMIx_Finalize(NULL, 0));
    expect_out("tail");
}

static void do_probe(struct px_call *call, void *held)
{
    struct px_uplink *link = px_process.client->role->primary;

    *(bool *)held = link && px_conn_is_held(link->conn);
    px_call_done(call, PMIX_SUCCESS);
}

static bool is_held(void)
{
    bool held = false;

    ok(px_call(px_process.loop, do_probe, &held));
    return held;
}

static void *read_slowly(void *n)
{
    static char block[65536];
    size_t at = 0;

    while (!is_held()) /* until the client stops reading its connection */
        ;
    while (at < flood_b) {
        ssize_t some = read(out, block, sizeof(block));

        ck_assert_int_gt(some, 0);
        for (ssize_t i = 0; i < some; i++, at++)
            if (block[i] != byte_at(at))
                ck_abort_msg("byte %zu", at);
    }
    *(size_t *)n = at;
    return NULL;
}

PX_TEST(a_slow_reader_holds_up_the_server_and_loses_nothing)
{
    pthread_t reader;
    size_t n = 0;
    pmix_status_t id = pull("", NULL);

    flood_b = 8 * 1024 * 1024 + 11;
    ck_assert_int_gt(id, 0);
    ok(pthread_create(&reader, NULL, read_slowly, &n));
    ok(let_send(NULL));
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    pthread_join(reader, NULL);
    ck_assert_uint_eq(n, flood_b);
    ck_assert(!is_held());
}

static void on_resume(void *n)
{
    ++*(unsigned *)n;
}

static void do_fill(struct px_call *call, void *id)
{
    unsigned n_resumed[2] = {0};
    struct px_iof_producer producers[2];
    struct px_iof_receivers *all = px_process.client->receivers;
    struct px_iof_receiver *r = px_iof_receivers_find(all, *(size_t *)id);

    for (pmix_rank_t i = 0; i < 2; i++) {
        producers[i] = (struct px_iof_producer){
            .server = proc_of("server", i), .resume = on_resume, .arg = &n_resumed[i]};
        px_iof_producer_attach(&producers[i], all);
    }
    r->limit_b = 10;
    px_iof_receiver_hold(r, 10);
    ck_assert(!px_iof_producer_is_stopped(&producers[0]));
    px_iof_receiver_hold(r, 2);
    ck_assert(px_iof_producer_is_stopped(&producers[0]));
    ck_assert(!px_iof_producer_is_stopped(&producers[1]));
    px_iof_receiver_hold(r, -1);
    ck_assert_uint_eq(n_resumed[0], 0);
    px_iof_receiver_hold(r, -1);
    ck_assert_uint_eq(n_resumed[0], 1);
    px_iof_receiver_hold(r, 1);
    px_iof_receiver_end(r); /* discards later output */
    ck_assert_uint_eq(n_resumed[0], 2);
    ck_assert(!px_iof_producer_is_stopped(&producers[0]));
    px_iof_producer_detach(&producers[0]);
    px_iof_receivers_resume(all);
    ck_assert_uint_eq(n_resumed[0], 2);
    px_iof_producer_detach(&producers[1]);
    px_call_done(call, PMIX_SUCCESS);
}

PX_TEST(a_receiver_without_room_stops_its_server_and_no_other)
{
    size_t id = (size_t)pull("", on_bytes);

    ok(px_call(px_process.loop, do_fill, &id));
}

static size_t received_b;

static void on_flood(size_t id PX_UNUSED, pmix_iof_channel_t channel PX_UNUSED,
                     pmix_proc_t *source PX_UNUSED, pmix_byte_object_t *payload,
                     pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED)
{
    for (size_t i = 0; i < payload->size; i++, received_b++)
        if (payload->bytes[i] != byte_at(received_b))
            ck_abort_msg("byte %zu", received_b);
}

/* The thread that waits for the fence may run the loop, but not the function. The second round
 * gathers output for the function. */
PX_TEST_LOOP(a_function_gets_all_in_order, 2)
{
    pmix_status_t id = pull(_i == 0 ? "" : PMIX_IOF_BUFFERING_SIZE "=3000", on_flood);

    flood_b = 8 * 1024 * 1024 + 11;
    ck_assert_int_gt(id, 0);
    ok(let_send(NULL));
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    ck_assert_uint_eq(received_b, flood_b);
}

/* The reader of round 0 is gone. The reader of round 1 never reads. */
PX_TEST_LOOP(a_missing_reader_does_not_delay_finalize, 2)
{
    pmix_status_t id = pull("", NULL);

    flood_b = _i == 0 ? 2 * 1024 * 1024 : 200 * 1024;
    if (_i == 0)
        close(out);
    ck_assert_int_gt(id, 0);
    ok(let_send(NULL));
    if (_i == 0)
        ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    ok(PMIx_Finalize(NULL, 0));
}

/* ---- spawned output -------------------------------------------------------------- */

static void on_spawned(pmix_status_t status PX_UNUSED, pmix_nspace_t nspace PX_UNUSED,
                       void *arg PX_UNUSED)
{
}

static void do_spawn(struct px_call *call, void *arg)
{
    pmix_info_t forward = flag(PMIX_FWD_STDOUT);
    pmix_app_t app = {.cmd = (char *)"program", .maxprocs = 1};

    *(pmix_status_t *)arg = PMIx_Spawn_nb(&forward, 1, &app, 1, on_spawned, NULL);
    px_call_done(call, PMIX_SUCCESS);
}

static void *spawn_in_callback(void *status)
{
    ok(px_call(px_process.loop, do_spawn, status));
    return NULL;
}

/* PMIx_Init and PMIx_Finalize hold the lock and may wait for the callback that spawns. */
PX_TEST(a_spawn_in_a_callback_does_not_wait_for_the_end_of_an_init_or_finalize)
{
    static const struct {
        bool locked;
        pmix_status_t status;
        unsigned n_sent;
    } rows[] = {{true, PMIX_ERR_WOULD_BLOCK, 0},
                {false, PMIX_SUCCESS, 1},
                {true, PMIX_SUCCESS, 2}}; /* components are open by then */

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_status_t status = PMIX_ERROR;
        pthread_t caller;

        if (rows[i].locked)
            px_process_lock();
        ok(pthread_create(&caller, NULL, spawn_in_callback, &status));
        pthread_join(caller, NULL);
        if (rows[i].locked)
            px_process_unlock();
        ck_assert_int_eq(status, rows[i].status);
        ok(PMIx_Fence(NULL, 0, NULL, 0)); /* the server has the spawn request by then */
        ck_assert_uint_eq(fake.n_ops[PX_OP_SPAWN], rows[i].n_sent);
    }
}

/* ---- the last output ------------------------------------------------------------- */

static bool is_silent(int fd PX_UNUSED, struct fake_req *req)
{
    return req->op == PX_OP_FINALIZE || serve(fd, req);
}

/* The server never replies to finalize. In the second round nothing reads this process's output. */
PX_TEST_LOOP(a_finalize_that_gives_up_names_the_limit, 2)
{
    static const char *const lines[] = {
        "the server has sent nothing for",
        "the reader of this process's output has not read for"};
    static const char *const limits[] = {"(client_finalize_timeout)",
                                         "(iof_drain_timeout)"};
    char text[4096] = "";

    PX_AUTOCLOSE int log = open(px_test_path("log"), O_CREAT | O_RDWR | O_APPEND, 0600);
    client_end();
    setenv("PMIX_MCA_client_finalize_timeout", "1s", 1);
    setenv("PMIX_MCA_iof_drain_timeout", "1500ms", 1);
    client_of_hook(is_silent);
    flood_b = _i == 0 ? 0 : 200 * 1024;
    ck_assert_int_gt(pull("", NULL), 0);
    ok(let_send(NULL));
    ck_assert_int_eq(dup2(log, STDERR_FILENO), STDERR_FILENO);
    ok(PMIx_Finalize(NULL, 0));
    ck_assert_int_ge(pread(log, text, sizeof(text) - 1, 0), 0);
    ck_assert_msg(strstr(text, "PMIx_Finalize: forwarded output may be lost") &&
                      strstr(text, lines[_i]) && strstr(text, limits[_i]),
                  "%s", text);
}

PX_TEST_MAIN("client/pull", setup, client_end)

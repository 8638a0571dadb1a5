/* SPDX-License-Identifier: BSD-3-Clause */
#include "fake_server.h"
#include "px_test.h"

#include "pmix.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/wire/frame.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

struct fake fake = {.listener = -1};

static pthread_t thread;

/* ---- life ------------------------------------------------------------------------ */

static void *run(void *arg PX_UNUSED)
{
    if (fake.script)
        fake.script();
    else
        fake_serve();
    return NULL;
}

void fake_start(void)
{
    static const char *const uris[] = {"PMIX_SERVER_URI41", "PMIX_SERVER_URI4",
                                       "PMIX_SERVER_URI3", "PMIX_SERVER_URI21",
                                       "TENON_SERVER_URI"};
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t len = sizeof(a);

    if (!fake.codec.dialect)
        fake.codec.dialect = px_codec_default.dialect;
    if (!fake.nspace)
        fake.nspace = "job";
    fake.listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ok(bind(fake.listener, (struct sockaddr *)&a, sizeof(a)));
    ok(listen(fake.listener, 8));
    ok(getsockname(fake.listener, (struct sockaddr *)&a, &len));
    PX_AUTOFREE char *uri = px_strf("server.0;tcp4://127.0.0.1:%u", ntohs(a.sin_port));
    for (size_t i = 0; i < PX_COUNT(uris); i++)
        unsetenv(uris[i]);
    setenv(fake.uri_variable ? fake.uri_variable : "PMIX_SERVER_URI41", uri, 1);
    setenv("PMIX_NAMESPACE", fake.nspace, 1);
    setenv("PMIX_RANK", "0", 1);
    setenv("PMIX_HOSTNAME", "here", 1);
    setenv("PMIX_SECURITY_MODE", "native", 1);
    setenv("PMIX_VERSION", fake.version ? fake.version : "4.2.9", 1);
    setenv("PMIX_BFROP_BUFFER_TYPE",
           fake.codec.described ? "PMIX_BFROP_BUFFER_FULLY_DESC"
                                : "PMIX_BFROP_BUFFER_NON_DESC",
           1);
    sem_init(&done, 0, 0);
    fake.runs = true;
    ok(pthread_create(&thread, NULL, run, NULL));
}

void fake_stop(void)
{
    pthread_join(thread, NULL);
    px_hello_fini(&fake.hello);
    px_args_cleanup(&fake.received);
    close(fake.listener);
    fake.runs = false;
}

/* ---- a client -------------------------------------------------------------------- */

sem_t done;
pmix_status_t done_status;

void client_begin(void)
{
    fake_start();
    ok(PMIx_Init(NULL, NULL, 0));
}

void client_of_hook(bool (*hook)(int fd, struct fake_req *req))
{
    fake.hook = hook;
    client_begin();
}

pmix_proc_t client_self;

void client_alone(void)
{
    sem_init(&done, 0, 0);
    unsetenv("PMIX_NAMESPACE");
    setenv("PMIX_MCA_client_singleton_host", "false", 1); /* starts no program */
    fails(PMIx_Init(&client_self, NULL, 0), UNREACH);
}

uint32_t own_u32(pmix_rank_t r, const char *key)
{
    return get_u32(client_self.nspace, r, key);
}

void client_finalize(void)
{
    ok(PMIx_Finalize(NULL, 0));
    ck_assert(!PMIx_Initialized());
}

void client_end(void)
{
    if (PMIx_Initialized())
        ok(PMIx_Finalize(NULL, 0));
    if (fake.runs)
        fake_stop();
}

void on_op(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &done);
    done_status = status;
    sem_post(&done);
}

pmix_status_t await_op(void)
{
    sem_wait(&done);
    return done_status;
}

void finished(pmix_status_t rc, pmix_status_t with)
{
    ok(rc);
    ck_assert_int_eq(await_op(), with);
}

pmix_proc_t proc_of(const char *nspace, pmix_rank_t r)
{
    pmix_proc_t p;

    px_proc_set(&p, nspace, r);
    return p;
}

pmix_proc_t rank(pmix_rank_t r)
{
    return proc_of("job", r);
}

pmix_info_t flag(const char *key)
{
    pmix_info_t i;

    PMIx_Info_load(&i, key, NULL, PMIX_BOOL);
    return i;
}

uint32_t get_u32(const char *nspace, pmix_rank_t r, const char *key)
{
    pmix_proc_t p = proc_of(nspace, r);
    pmix_value_t *v = NULL;
    uint32_t n = UINT32_MAX;

    if (PMIx_Get(&p, key, NULL, 0, &v) == PMIX_SUCCESS) {
        ck_assert(px_value_to_u32(v, &n));
        PMIX_VALUE_RELEASE(v);
    }
    return n;
}

void handle_code(pmix_status_t code, pmix_notification_fn_t fn)
{
    ck_assert_int_ge(
        PMIx_Register_event_handler(&code, code ? 1 : 0, NULL, 0, fn, NULL, NULL), 0);
}

PX_TEST_HANDLER(on_event)
{
    cb(PMIX_SUCCESS, NULL, 0, NULL, NULL, cbdata);
}

const pmix_notification_fn_t ignore_event = on_event;

void client_lives_alone(pmix_status_t rc)
{
    pmix_value_t v = {.type = PMIX_UINT32};

    if (rc != PMIX_ERR_UNREACH)
        return;
    ck_assert(PMIx_Initialized());
    ck_assert_uint_eq(get_u32("job", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 1);
    ck_assert_uint_eq(get_u32("job", 0, PMIX_LOCAL_RANK), 0);
    ok(PMIx_Put(PMIX_GLOBAL, "key", &v));
    ok(PMIx_Commit());
    finished(PMIx_Fence_nb(NULL, 0, NULL, 0, on_op, &done), PMIX_SUCCESS);
    handle_code(0, ignore_event);
    setenv("PMIX_SERVER_URI41", DEAD_URI, 1);
    fails(PMIx_Init(NULL, NULL, 0), UNREACH);
    ok(PMIx_Finalize(NULL, 0));
    ck_assert(PMIx_Initialized());
    ok(PMIx_Finalize(NULL, 0));
}

void exits_with_0(pid_t pid)
{
    int status;

    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), 0);
}

/* ---- the connect message --------------------------------------------------------- */

int fake_accept_mute(void)
{
    int fd = accept4(fake.listener, NULL, NULL, SOCK_CLOEXEC);

    ck_assert_int_ge(fd, 0);
    return fd;
}

void fake_read_hello(int fd)
{
    uint8_t header[PX_HELLO_HEADER_B], body[8192];
    size_t n;

    ok(px_fd_read_all(fd, header, sizeof(header), 0));
    ok(px_hello_header(header, &n));
    ck_assert_uint_le(n, sizeof(body));
    ok(px_fd_read_all(fd, body, n, 0));
    px_hello_fini(&fake.hello);
    ok(px_hello_decode(body, n, &fake.hello, NULL));
}

int fake_accept(void)
{
    int fd = fake_accept_mute();

    fake_read_hello(fd);
    return fd;
}

int fake_welcome(void)
{
    int fd = fake_accept();

    fake_words(fd, PMIX_SUCCESS, 7);
    return fd;
}

void fake_answer_with(int fd, const void *bytes, size_t n)
{
    (void)px_fd_write_all(fd, bytes, n, 0); /* fails if the client is gone */
}

void fake_words(int fd, pmix_status_t status, int index)
{
    uint32_t words[] = {htonl((uint32_t)status), htonl((uint32_t)index)};

    fake_answer_with(fd, words, index < 0 ? sizeof(words[0]) : sizeof(words));
}

static void send_proc(int fd, pmix_proc_t p)
{
    p.rank = htonl(p.rank);
    fake_answer_with(fd, &p, sizeof(p));
}

void fake_tool_words(int fd, pmix_status_t status, const pmix_proc_t *tool,
                     const char *server)
{
    fake_words(fd, status, -1);
    if (tool)
        send_proc(fd, *tool);
    send_proc(fd, proc_of(server, 0));
    fake_words(fd, PMIX_SUCCESS, -1);
}

/* ---- frames ---------------------------------------------------------------------- */

bool fake_next(int fd, struct fake_req *req)
{
    uint8_t header[PX_FRAME_HEADER_B];
    struct px_frame f = {.tag = PX_TAG_HEARTBEAT};

    px_buf_cleanup(&req->payload);
    while (f.tag == PX_TAG_HEARTBEAT) {
        if (px_fd_read_all(fd, header, sizeof(header), 0))
            return false;
        ok(px_frame_decode(header, &f));
        /* 7 is the index from the reply; tools and unasked requests have index 0 */
        ck_assert_int_eq(f.pindex,
                         fake.hello.flag == PX_FLAG_CLIENT && !fake.unasked ? 7 : 0);
        if (f.tag == PX_TAG_HEARTBEAT) {
            ck_assert_uint_eq(f.nbytes, 0);
            __atomic_add_fetch(&fake.n_beats, 1, __ATOMIC_SEQ_CST);
        }
    }
    ok(px_buf_reserve(&req->payload, f.nbytes + 1));
    req->payload.len = f.nbytes;
    if (px_fd_read_all(fd, req->payload.data, f.nbytes, 0)) {
        px_buf_cleanup(&req->payload);
        return false;
    }
    req->tag = f.tag;
    px_reader_init(&req->in, fake.codec, req->payload.data, req->payload.len);
    ok(px_unpack_u8(&req->in, &req->op, PMIX_COMMAND));
    ck_assert_uint_lt(req->op, PX_OP_MAX);
    __atomic_add_fetch(&fake.n_ops[req->op], 1, __ATOMIC_SEQ_CST);
    return true;
}

px_writer fake_begin(void)
{
    px_writer w;

    px_writer_init(&w, fake.codec);
    return w;
}

void fake_reply(int fd, uint32_t tag, px_writer *w)
{
    PX_AUTO(px_buf) frame = {0};
    uint8_t header[PX_FRAME_HEADER_B];
    struct px_frame f = {.tag = tag, .nbytes = (uint32_t)w->buf.len};

    ok(w->status);
    px_frame_encode(header, &f);
    ok(px_buf_add(&frame, header, sizeof(header)));
    ok(px_buf_add(&frame, w->buf.data, w->buf.len));
    fake_answer_with(fd, frame.data, frame.len);
    px_writer_cleanup(w);
}

void fake_raw(int fd, uint32_t tag, const char *bytes, size_t n)
{
    px_writer w = fake_begin();

    ok(px_buf_add(&w.buf, bytes, n));
    fake_reply(fd, tag, &w);
}

int fake_serve_job(void)
{
    struct fake_req req = {0};
    int fd = fake_welcome();

    ck_assert(fake_next(fd, &req));
    fake_answer(fd, &req);
    px_buf_cleanup(&req.payload);
    return fd;
}

void fake_status(int fd, uint32_t tag, pmix_status_t status)
{
    px_writer w = fake_begin();

    px_pack_status(&w, status);
    fake_reply(fd, tag, &w);
}

void fake_event_of(int fd, pmix_status_t code, const pmix_proc_t *source,
                   const px_infos *infos)
{
    px_writer w = fake_begin();

    px_pack_op(&w, PX_OP_NOTIFY);
    px_pack_status(&w, code);
    px_pack(&w, source, 1, PMIX_PROC);
    px_pack_infos(&w, infos ? infos->v : NULL, infos ? infos->n : 0);
    fake_reply(fd, PX_TAG_NOTIFY, &w);
}

void fake_event(int fd, pmix_status_t code, const px_infos *infos)
{
    const pmix_proc_t source = proc_of(fake.nspace, 1);

    fake_event_of(fd, code, &source, infos);
}

void fake_send_piece(int fd, const struct px_args *piece)
{
    px_writer w = fake_begin();

    px_pack_args(&w, piece, px_request_piece.args);
    fake_reply(fd, PX_TAG_IOF, &w);
}

/* ---- serving --------------------------------------------------------------------- */

void fake_put_u32(px_writer *w, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};

    px_pack_kval(w, key, &v);
}

static void put_array(px_writer *w, const char *key, px_infos *members)
{
    PX_AUTO(px_infos) one = {0};

    ok(px_infos_add_array(&one, key, members));
    px_pack_kval(w, key, &one.v[0].value);
}

void fake_usual_job_info(px_writer *w)
{
    px_infos node = {0};
    uint32_t two = 2;

    fake_put_u32(w, PMIX_JOB_SIZE, 2);
    fake_put_u32(w, PMIX_UNIV_SIZE, 2);
    ok(px_infos_add(&node, PMIX_HOSTNAME, "here", PMIX_STRING));
    ok(px_infos_add(&node, PMIX_LOCAL_PEERS, "0,1", PMIX_STRING));
    ok(px_infos_add(&node, PMIX_LOCAL_SIZE, &two, PMIX_UINT32));
    put_array(w, PMIX_NODE_INFO_ARRAY, &node);
    for (uint16_t r = 0; r < 2; r++) {
        pmix_value_t lrank = {.type = PMIX_UINT16, .data.uint16 = r};
        px_writer body = fake_begin();
        pmix_value_t blob = {.type = PMIX_BYTE_OBJECT};

        px_pack_rank(&body, r);
        px_pack_kval(&body, PMIX_LOCAL_RANK, &lrank);
        blob.data.bo.bytes = (char *)body.buf.data;
        blob.data.bo.size = body.buf.len;
        px_pack_kval(w, PMIX_PROC_BLOB, &blob);
        px_writer_cleanup(&body);
    }
}

/* Reads a request that has a table into fake.received. */
static void receive(struct fake_req *req)
{
    const struct px_request *const requests[] = {
        &px_request_abort,
        &px_request_fence,
        &px_request_connect,
        &px_request_publish,
        &px_request_lookup,
        &px_request_unpublish,
        &px_request_spawn,
        &px_request_notify,
        &px_request_regevents,
        &px_request_query,
        &px_request_get,
        &px_request_iof_pull,
        &px_request_iof_push,
        &px_request_iof_dereg,
        &px_request_group_construct,
        fake.no_members ? &px_request_group_destruct_old : &px_request_group_destruct,
        &px_request_group_leave};
    px_reader in = req->in;

    for (size_t i = 0; i < PX_COUNT(requests); i++)
        if (requests[i]->op == req->op) {
            px_args_cleanup(&fake.received);
            fake.received_op = req->op;
            ok(px_unpack_args(&in, &fake.received, requests[i]->args));
            ck_assert(px_reader_done(&in));
        }
}

void fake_answer(int fd, struct fake_req *req)
{
    px_writer w = fake_begin();

    if (req->op == PX_OP_REQ) {
        px_pack_str(&w, fake.nspace);
        (fake.job_info ? fake.job_info : fake_usual_job_info)(&w);
    } else if (req->op == PX_OP_GET && !fake.add && !fake.answer) {
        px_pack_status(&w, PMIX_ERR_NOT_FOUND);
    } else {
        px_pack_status(&w, req->op == PX_OP_FINALIZE ? PMIX_SUCCESS : fake.answer);
        if (fake.add && req->op != PX_OP_FINALIZE)
            fake.add(&w, req);
    }
    if (req->op == PX_OP_DEREGEVENTS)
        px_writer_cleanup(&w);
    else
        fake_reply(fd, req->tag, &w);
}

void fake_serve_on(int fd)
{
    struct fake_req req = {0};

    while (fake_next(fd, &req)) {
        receive(&req);
        if (!fake.hook || !fake.hook(fd, &req))
            fake_answer(fd, &req);
    }
    close(fd);
}

void fake_serve(void)
{
    fake_serve_on(fake_welcome());
}

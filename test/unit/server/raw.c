/* SPDX-License-Identifier: BSD-3-Clause */
/* The raw client. */
#include "raw.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/rt/loop.h"
#include "pmix_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>

#define WAIT_MS 5000

/* ---- the server ---------------------------------------------------------------------- */

static char objects[64];

void *raw_object(pmix_rank_t rank)
{
    return &objects[rank];
}

static char *ranks_of(uint32_t first, uint32_t n)
{
    char *text = px_strf("%u", first);

    for (uint32_t i = 1; i < n; i++) {
        char *longer = px_strf("%s,%u", text, first + i);

        free(text);
        text = longer;
    }
    return text;
}

void raw_add_job(const char *nspace, uint32_t n_local, uint32_t n_remote, uid_t uid)
{
    PX_AUTO(px_infos) infos = {0};
    PX_AUTOFREE char *here = ranks_of(0, n_local), *there = ranks_of(n_local, n_remote);
    PX_AUTOFREE char *nodes = NULL, *ranks = NULL;
    uint32_t n = n_local + n_remote;
    pmix_proc_t p;

    nodes = px_strf("%s%s", px_process.host, n_remote ? ",other" : "");
    ranks = px_strf("%s%s%s", here, n_remote ? ";" : "", n_remote ? there : "");
    ok(px_infos_add(&infos, PMIX_NODE_MAP, nodes, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_PROC_MAP, ranks, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_JOB_SIZE, &n, PMIX_UINT32));
    px_proc_set(&p, nspace, 0);
    ok(PMIx_server_register_nspace(p.nspace, (int)n_local, infos.v, infos.n, NULL,
                                   NULL));
    for (; p.rank < n_local; p.rank++)
        ok(PMIx_server_register_client(&p, uid, getegid(), raw_object(p.rank), NULL,
                                       NULL));
}

void raw_server_start_part(const pmix_server_module_t *module, uint32_t n_local,
                           uint32_t n_remote)
{
    pmix_server_module_t copy;

    if (module)
        copy = *module;
    ok(PMIx_server_init(module ? &copy : NULL, NULL, 0));
    raw_add_job("job", n_local, n_remote, geteuid());
}

void raw_server_start(const pmix_server_module_t *module, uint32_t n)
{
    raw_server_start_part(module, n, 0);
}

struct job_on_loop {
    void (*fn)(void *arg);
    void *arg;
};

static void do_on_loop(struct px_call *call, void *args)
{
    struct job_on_loop *job = args;

    if (job->fn)
        job->fn(job->arg);
    px_call_done(call, PMIX_SUCCESS);
}

void raw_on_loop(void (*fn)(void *arg), void *arg)
{
    struct job_on_loop job = {fn, arg};

    ok(px_call(px_process.loop, do_on_loop, &job));
}

static void look_for_peer(void *arg)
{
    pmix_proc_t *p = arg;

    if (!px_peer_find(px_process.server, p))
        p->rank = PMIX_RANK_UNDEF;
}

void raw_await_gone(pmix_rank_t rank)
{
    pmix_proc_t p;

    for (px_proc_set(&p, "job", rank); p.rank != PMIX_RANK_UNDEF; sched_yield())
        raw_on_loop(look_for_peer, &p);
}

void raw_server_stop(void)
{
    ok(PMIx_server_finalize());
}

void raw_teardown(void)
{
    if (px_process.server)
        raw_server_stop();
}

void raw_connect_socket(int fd)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *port = strrchr(px_process.server->uri, ':');

    ck_assert_ptr_nonnull(port);
    a.sin_port = htons((uint16_t)atoi(port + 1));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&a, sizeof a), 0);
}

int raw_socket(void)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    raw_connect_socket(fd);
    return fd;
}

struct px_hello raw_hello(const char *nspace, pmix_rank_t rank)
{
    static uint32_t ids[2];
    struct px_hello h = {.psec = "native",
                         .flag = PX_FLAG_CLIENT,
                         .has_proc = true,
                         .version_text = "4.2.2",
                         .dialect = "v41",
                         .gds = "hash"};

    ids[0] = geteuid();
    ids[1] = getegid();
    h.cred = (uint8_t *)ids;
    h.cred_len = sizeof ids;
    px_proc_set(&h.proc, nspace, rank);
    return h;
}

pmix_status_t raw_say_hello(int fd, const struct px_hello *hello)
{
    PX_AUTO(px_buf) bytes = {0};
    uint32_t word;

    ok(px_hello_encode(hello, &bytes));
    ok(px_fd_write_all(fd, bytes.data, bytes.len, 0));
    pmix_status_t rc = px_fd_read_all(fd, &word, sizeof word, px_clock_ms() + WAIT_MS);
    if (!rc)
        rc = (pmix_status_t)ntohl(word);
    if (!rc)
        rc = px_fd_read_all(fd, &word, sizeof word, px_clock_ms() + WAIT_MS);
    return rc;
}

pmix_status_t raw_connect(struct px_hello *hello, int *fd)
{
    int s = raw_socket();
    pmix_status_t rc = raw_say_hello(s, hello);

    if (rc)
        close(s);
    *fd = rc ? -1 : s;
    return rc;
}

int raw_client(pmix_rank_t rank)
{
    return raw_client_of("job", rank);
}

int raw_client_of(const char *nspace, pmix_rank_t rank)
{
    struct px_hello h = raw_hello(nspace, rank);
    int fd;

    ok(raw_connect(&h, &fd));
    return fd;
}

/* The user is that of the thread that makes the socket; glibc would change all threads. */
static void *socket_as(void *arg)
{
    int *fd = arg;

    ck_assert_int_eq(syscall(SYS_setresuid, -1, *fd, -1), 0);
    *fd = raw_socket();
    return NULL;
}

int raw_socket_as(uid_t uid)
{
    int fd = (int)uid;
    pthread_t thread;

    ck_assert_int_eq(pthread_create(&thread, NULL, socket_as, &fd), 0);
    pthread_join(thread, NULL);
    return fd;
}

int raw_client_as(uid_t uid, const char *nspace, pmix_rank_t rank)
{
    struct px_hello h = raw_hello(nspace, rank);
    uint32_t ids[] = {uid, getegid()};
    int fd = raw_socket_as(uid);

    h.cred = (uint8_t *)ids;
    ok(raw_say_hello(fd, &h));
    return fd;
}

void raw_begin(px_writer *w, uint8_t op)
{
    px_writer_init(w, px_codec_default);
    px_pack_op(w, op);
}

/* In one piece: the server sees all of it or nothing. */
void raw_send(int fd, uint32_t tag, px_writer *w)
{
    PX_AUTO(px_buf) frame = {0};
    uint8_t header[PX_FRAME_HEADER_B];
    struct px_frame f = {.tag = tag, .nbytes = (uint32_t)w->buf.len};

    ok(w->status);
    px_frame_encode(header, &f);
    ok(px_buf_add(&frame, header, sizeof header));
    ok(px_buf_add(&frame, w->buf.data, w->buf.len));
    ok(px_fd_write_all(fd, frame.data, frame.len, 0));
    px_writer_cleanup(w);
}

/* The header of the next frame, within five seconds. */
static bool next_header(int fd, struct px_frame *f)
{
    uint8_t header[PX_FRAME_HEADER_B];

    if (px_fd_read_all(fd, header, sizeof header, px_clock_ms() + WAIT_MS))
        return false;
    ok(px_frame_decode(header, f));
    return true;
}

bool raw_recv(int fd, uint32_t tag, px_reader *reply)
{
    static uint8_t payload[1 << 20];
    struct px_frame f;

    do {
        if (!next_header(fd, &f))
            return false;
        ck_assert_uint_le(f.nbytes, sizeof payload);
        if (px_fd_read_all(fd, payload, f.nbytes, px_clock_ms() + WAIT_MS))
            return false;
    } while (f.tag != tag);
    px_reader_init(reply, px_codec_default, payload, f.nbytes);
    return true;
}

bool raw_quiet(int fd)
{
    static uint32_t tag = 900000;
    struct px_frame f;
    char rest[64];
    px_writer w;

    raw_on_loop(NULL, NULL);
    raw_begin(&w, PX_OP_MAX); /* answered at once, and after all that came before */
    raw_send(fd, ++tag, &w);
    ck_assert(next_header(fd, &f));
    if (f.tag != tag)
        return false;
    ck_assert_uint_le(f.nbytes, sizeof rest);
    ok(px_fd_read_all(fd, rest, f.nbytes, px_clock_ms() + WAIT_MS));
    return true;
}

bool raw_closed(int fd)
{
    char byte;

    return px_fd_read_all(fd, &byte, 1, px_clock_ms() + WAIT_MS) == PMIX_ERR_UNREACH;
}

pmix_status_t raw_status(int fd, uint32_t tag)
{
    pmix_status_t status;
    px_reader r;

    ck_assert(raw_recv(fd, tag, &r));
    ok(px_unpack_status(&r, &status));
    return status;
}

pmix_status_t raw_request(int fd, px_writer *w, px_reader *rest)
{
    static uint32_t tag = 1000;
    pmix_status_t status;
    px_reader r;

    raw_send(fd, ++tag, w);
    ck_assert(raw_recv(fd, tag, &r));
    ok(px_unpack_status(&r, &status));
    if (rest)
        *rest = r;
    return status;
}

void raw_collect(int fd, uint32_t tag, uint8_t op, const pmix_proc_t *procs, size_t n)
{
    px_writer w;

    raw_begin(&w, op);
    px_pack_procs(&w, procs, n);
    px_pack_infos(&w, NULL, 0);
    raw_send(fd, tag, &w);
}

pmix_status_t raw_finalize(int fd)
{
    px_writer w;

    raw_begin(&w, PX_OP_FINALIZE);
    return raw_request(fd, &w, NULL);
}

pmix_status_t raw_want_event(int fd, pmix_status_t code)
{
    px_writer w;

    raw_begin(&w, PX_OP_REGEVENTS);
    px_pack_size(&w, 1);
    px_pack_status(&w, code);
    px_pack_infos(&w, NULL, 0);
    return raw_request(fd, &w, NULL);
}

pmix_status_t raw_notify(int fd, pmix_status_t code, pmix_data_range_t range)
{
    px_writer w;

    raw_begin(&w, PX_OP_NOTIFY);
    px_pack_status(&w, code);
    px_pack_u8(&w, range, PMIX_DATA_RANGE);
    px_pack_infos(&w, NULL, 0);
    return raw_request(fd, &w, NULL);
}

pmix_status_t raw_next_event(int fd)
{
    pmix_status_t code = 0;
    px_reader r;
    uint8_t op;

    if (!raw_recv(fd, PX_TAG_NOTIFY, &r))
        return 0;
    ok(px_unpack_u8(&r, &op, PMIX_COMMAND));
    ok(px_unpack_status(&r, &code));
    return code;
}

uint32_t raw_value_in(px_reader *r, const char *key)
{
    px_reader part;
    pmix_proc_t p;
    uint32_t found = UINT32_MAX;

    ok(px_unpack_view(r, &part, PMIX_BYTE_OBJECT));
    ok(px_unpack1(&part, &p, PMIX_PROC));
    while (!px_reader_done(&part)) {
        struct px_kval kv = {0};

        ok(px_unpack_kval(&part, &kv));
        if (strcmp(kv.key, key) == 0 && kv.value.type == PMIX_UINT32)
            found = kv.value.data.uint32;
        px_kval_fini(&kv);
    }
    return found;
}

void raw_fence(int fd, uint32_t tag, bool collect)
{
    pmix_proc_t all;
    pmix_info_t info;
    px_writer w;

    px_proc_set(&all, "job", PMIX_RANK_WILDCARD);
    raw_begin(&w, PX_OP_FENCE);
    px_pack_procs(&w, &all, 1);
    PMIx_Info_load(&info, PMIX_COLLECT_DATA, &collect, PMIX_BOOL);
    px_pack_infos(&w, &info, 1);
    raw_send(fd, tag, &w);
}

pmix_status_t raw_commit(int fd, const char *key, uint32_t value)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = value};
    px_writer w, body;
    pmix_status_t rc;

    px_writer_init(&body, px_codec_default);
    px_pack_kval(&body, key, &v);
    raw_begin(&w, PX_OP_COMMIT);
    px_pack_u8(&w, PMIX_LOCAL, PMIX_SCOPE);
    px_pack_buffer(&w, &body.buf);
    px_pack_u8(&w, PMIX_REMOTE, PMIX_SCOPE);
    px_pack_buffer(&w, &body.buf);
    rc = raw_request(fd, &w, NULL);
    px_writer_cleanup(&body);
    return rc;
}

void raw_get(px_writer *w, const char *nspace, pmix_rank_t rank, const char *key,
             const char *flag)
{
    pmix_info_t info;
    bool yes = true;

    raw_begin(w, PX_OP_GET);
    px_pack_str(w, nspace);
    px_pack_rank(w, rank);
    if (flag)
        PMIx_Info_load(&info, flag, &yes, PMIX_BOOL);
    px_pack_infos(w, flag ? &info : NULL, flag ? 1 : 0);
    px_pack_str(w, key);
}

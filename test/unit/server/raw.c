/* SPDX-License-Identifier: BSD-3-Clause */
/* Raw client. */
#include "raw.h"

#include "../rt/rt_test.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/rt/process.h"
#include "core/server/peer/peer.h"
#include "core/wire/frame.h"
#include "pmix_server.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>

/* Returns the deadline of a wait. A case has a longer time limit, whose message does not name a
 * line. */
static uint64_t deadline(void)
{
    return px_clock_ms() + 20000;
}

/* ---- the server ---------------------------------------------------------------------- */

int one = -1, two = -1, three = -1;
static char objects[64];

void *raw_object(pmix_rank_t rank)
{
    return &objects[rank];
}

struct charged {
    pmix_proc_t proc;
    size_t b;
};

static void read_charged(void *arg)
{
    struct charged *c = arg;
    const struct px_peer *peer = px_peer_find(px_process.server, &c->proc);

    c->b = peer ? peer->pending_b : 0;
}

size_t raw_charged_b(pmix_rank_t rank)
{
    struct charged c = {.proc = raw_proc("job", rank)};

    raw_on_loop(read_charged, &c);
    return c.b;
}

void raw_add_job(const char *nspace, uint32_t n_local, uint32_t n_remote, uid_t uid)
{
    PX_AUTO(px_infos) infos = {0};
    PX_AUTOFREE char *nodes = px_strf("%s%s", px_process.host,
                                      n_remote ? ",other" : "");
    PX_AUTOFREE char *ranks = px_strf(n_remote ? "0-%u;%u-%u" : "0-%u", n_local - 1,
                                      n_local, n_local + n_remote - 1);
    uint32_t n = n_local + n_remote;
    pmix_proc_t p = raw_proc(nspace, 0);

    ok(px_infos_add(&infos, PMIX_NODE_MAP, nodes, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_PROC_MAP, ranks, PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_JOB_SIZE, &n, PMIX_UINT32));
    at_once(PMIx_server_register_nspace(p.nspace, (int)n_local, infos.v, infos.n, NULL,
                                        NULL));
    for (; p.rank < n_local; p.rank++)
        at_once(PMIx_server_register_client(&p, uid, getegid(), raw_object(p.rank),
                                            NULL, NULL));
}

void raw_drop_job(const char *nspace)
{
    PMIx_server_deregister_nspace(raw_proc(nspace, 0).nspace, NULL, NULL);
}

void raw_drop_it(void)
{
    raw_drop_job("job");
}

void raw_server_start(const pmix_server_module_t *module, uint32_t n_local,
                      uint32_t n_remote)
{
    ok(PMIx_server_init((pmix_server_module_t *)(uintptr_t)module, NULL, 0));
    raw_add_job("job", n_local, n_remote, geteuid());
}

void raw_start(const pmix_server_module_t *module, uint32_t n_local, uint32_t n_remote)
{
    int *const fds[] = {&one, &two, &three};

    raw_server_start(module, n_local, n_remote);
    for (pmix_rank_t r = 0; r < PX_COUNT(fds) && r < n_local; r++)
        *fds[r] = raw_client(r);
}

static void nothing(void *arg PX_UNUSED)
{
}

void raw_on_loop(void (*fn)(void *arg), void *arg)
{
    rt_on_loop(px_process.loop, fn ? fn : nothing, arg);
}

sem_t raw_ended;
static pmix_status_t end_status;

void raw_on_end(pmix_status_t status, void *cbdata)
{
    ck_assert_ptr_eq(cbdata, &raw_ended);
    end_status = status;
    sem_post(&raw_ended);
}

pmix_status_t raw_await_end(void)
{
    sem_wait(&raw_ended);
    return end_status;
}

static void find_peer(void *arg)
{
    pmix_proc_t *p = arg;

    if (!px_peer_find(px_process.server, p))
        p->rank = PMIX_RANK_UNDEF;
}

void raw_await_left(pmix_proc_t proc)
{
    for (; proc.rank != PMIX_RANK_UNDEF; sched_yield())
        raw_on_loop(find_peer, &proc);
}

void raw_await_gone(pmix_rank_t rank)
{
    raw_await_left(raw_proc("job", rank));
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

/* ---- connections --------------------------------------------------------------------- */

void raw_connect_socket(int fd)
{
    struct sockaddr_in a = {.sin_family = AF_INET,
                            .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    const char *port = strrchr(px_process.server->uri, ':');

    ck_assert_ptr_nonnull(port);
    a.sin_port = htons((uint16_t)atoi(port + 1));
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    ok(connect(fd, (struct sockaddr *)&a, sizeof(a)));
}

/* Makes a socket as user *arg, if not 0. The system call changes this thread alone; glibc's
 * function would change all threads. */
static void *socket_as(void *arg)
{
    int *fd = arg;

    if (*fd)
        ok((int)syscall(SYS_setresuid, -1, *fd, -1));
    /* Without a proof of owners, a server does not listen by TCP. */
    if (!strstr(px_process.server->uri, ";tcp4://")) {
        *fd = raw_near_socket();
        return NULL;
    }
    *fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    raw_connect_socket(*fd);
    return NULL;
}

int raw_socket_as(uid_t uid)
{
    int fd = (int)uid;
    pthread_t thread;

    ok(pthread_create(&thread, NULL, socket_as, &fd));
    pthread_join(thread, NULL);
    return fd;
}

int raw_socket(void)
{
    int fd = 0;

    socket_as(&fd);
    return fd;
}

int raw_near_socket(void)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    const struct px_server *srv = px_process.server;
    const char *path = strstr(srv->own_uri[0] ? srv->own_uri : srv->uri, "usock://");
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

    ck_assert_ptr_nonnull(path);
    ck_assert(px_str_copy(a.sun_path, sizeof(a.sun_path), path + strlen("usock://")));
    ok(connect(fd, (struct sockaddr *)&a, sizeof(a)));
    return fd;
}

struct px_hello raw_hello(const char *nspace, pmix_rank_t rank)
{
    static uint32_t ids[2];

    ids[0] = geteuid();
    ids[1] = getegid();
    return (struct px_hello){.psec = "native",
                             .flag = PX_FLAG_CLIENT,
                             .has_proc = true,
                             .version_text = "4.2.2",
                             .dialect = "v41",
                             .gds = "hash",
                             .cred = (uint8_t *)ids,
                             .cred_len = sizeof(ids),
                             .proc = raw_proc(nspace, rank)};
}

pmix_status_t raw_send_hello(int fd, const struct px_hello *hello)
{
    PX_AUTO(px_buf) bytes = {0};
    uint32_t word;

    ok(px_hello_encode(hello, &bytes));
    ok(px_fd_write_all(fd, bytes.data, bytes.len, 0));
    pmix_status_t rc = px_fd_read_all(fd, &word, sizeof(word), deadline());
    if (!rc)
        rc = (pmix_status_t)ntohl(word);
    return rc ? rc : px_fd_read_all(fd, &word, sizeof(word), deadline());
}

pmix_status_t raw_connect(const struct px_hello *hello, int *fd)
{
    *fd = raw_socket();
    pmix_status_t rc = raw_send_hello(*fd, hello);
    if (rc) {
        close(*fd);
        *fd = -1;
    }
    return rc;
}

int raw_client_as(uid_t uid, const char *nspace, pmix_rank_t rank)
{
    struct px_hello h = raw_hello(nspace, rank);
    uint32_t ids[] = {uid, getegid()};
    int fd = uid == geteuid() ? raw_socket() : raw_socket_as(uid);

    h.cred = (uint8_t *)ids;
    ok(raw_send_hello(fd, &h));
    return fd;
}

int raw_client_of(const char *nspace, pmix_rank_t rank)
{
    return raw_client_as(geteuid(), nspace, rank);
}

int raw_client(pmix_rank_t rank)
{
    return raw_client_of("job", rank);
}

bool raw_closed(int fd)
{
    char byte;

    return px_fd_read_all(fd, &byte, 1, deadline()) == PMIX_ERR_UNREACH;
}

/* ---- requests ------------------------------------------------------------------------ */

px_writer raw_begin(uint8_t op)
{
    px_writer w;

    px_writer_init(&w, px_codec_default);
    px_pack_op(&w, op);
    return w;
}

/* Sends a request in one write: the server sees all of the request or nothing. */
void raw_send(int fd, uint32_t tag, px_writer w)
{
    PX_AUTO(px_buf) frame = {0};
    uint8_t header[PX_FRAME_HEADER_B];
    struct px_frame f = {.tag = tag, .nbytes = (uint32_t)w.buf.len};

    ok(w.status);
    px_frame_encode(header, &f);
    ok(px_buf_add(&frame, header, sizeof(header)));
    ok(px_buf_add(&frame, w.buf.data, w.buf.len));
    ok(px_fd_write_all(fd, frame.data, frame.len, 0));
    px_writer_cleanup(&w);
}

static bool next_frame(int fd, uint32_t *tag, px_reader *r)
{
    static uint8_t payload[8 << 20];
    uint8_t header[PX_FRAME_HEADER_B];
    struct px_frame f;

    if (px_fd_read_all(fd, header, sizeof(header), deadline()))
        return false;
    ok(px_frame_decode(header, &f));
    ck_assert_uint_le(f.nbytes, sizeof(payload));
    *tag = f.tag;
    px_reader_init(r, px_codec_default, payload, f.nbytes);
    return !px_fd_read_all(fd, payload, f.nbytes, deadline());
}

bool raw_recv(int fd, uint32_t tag, px_reader *reply)
{
    uint32_t got;

    do {
        if (!next_frame(fd, &got, reply))
            return false;
    } while (got != tag);
    return true;
}

bool raw_quiet(int fd)
{
    static uint32_t tag = 900000;
    uint32_t got;
    px_reader r;

    raw_on_loop(NULL, NULL);
    /* The reply follows all earlier messages. */
    raw_send(fd, ++tag, raw_begin(PX_OP_MAX));
    ck_assert(next_frame(fd, &got, &r));
    return got == tag;
}

pmix_status_t raw_reply(int fd, uint32_t tag, px_reader *rest)
{
    pmix_status_t status;
    px_reader r;

    ck_assert(raw_recv(fd, tag, &r));
    ok(px_unpack_status(&r, &status));
    if (rest)
        *rest = r;
    return status;
}

pmix_status_t raw_status(int fd, uint32_t tag)
{
    return raw_reply(fd, tag, NULL);
}

pmix_status_t raw_request(int fd, px_writer w, px_reader *rest)
{
    static uint32_t tag = 1000;

    raw_send(fd, ++tag, w);
    return raw_reply(fd, tag, rest);
}

void raw_collect(int fd, uint32_t tag, uint8_t op, const pmix_proc_t *procs, size_t n,
                 const pmix_info_t *info)
{
    px_writer w = raw_begin(op);

    px_pack_procs(&w, procs, n);
    px_pack_infos(&w, info, info ? 1 : 0);
    raw_send(fd, tag, w);
}

pmix_status_t raw_finalize(int fd)
{
    return raw_request(fd, raw_begin(PX_OP_FINALIZE), NULL);
}

px_writer raw_commit_of(uint8_t scope, const char *key, const pmix_value_t *value)
{
    px_writer w = raw_begin(PX_OP_COMMIT);

    px_pack_u8(&w, scope, PMIX_SCOPE);
    const struct px_pack_nest body = px_pack_buffer_begin(&w);
    px_pack_kval(&w, key, value);
    px_pack_buffer_end(&w, body);
    return w;
}

pmix_status_t raw_commit(int fd, const char *key, uint32_t value)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = value};

    return raw_request(fd, raw_commit_of(PMIX_GLOBAL, key, &v), NULL);
}

px_writer raw_get(const char *nspace, pmix_rank_t rank, const char *key,
                  const char *flag)
{
    px_writer w = raw_begin(PX_OP_GET);
    pmix_info_t info = {0};

    px_pack_str(&w, nspace);
    px_pack_rank(&w, rank);
    if (flag)
        PMIx_Info_load(&info, flag, NULL, PMIX_BOOL);
    px_pack_infos(&w, &info, flag ? 1 : 0);
    if (key)
        px_pack_str(&w, key);
    return w;
}

px_reader raw_part(px_reader *r)
{
    px_reader part;
    pmix_proc_t p;

    ok(px_unpack_view(r, &part, PMIX_BYTE_OBJECT));
    ok(px_unpack1(&part, &p, PMIX_PROC));
    return part;
}

bool raw_next_kval(px_reader *part, struct px_kval *kv)
{
    if (px_reader_done(part))
        return false;
    ok(px_unpack_kval(part, kv));
    return true;
}

uint32_t raw_value_in(px_reader *r, const char *key)
{
    uint32_t found = UINT32_MAX;
    struct px_kval kv = {0};

    while (!px_reader_done(r)) {
        px_reader part = raw_part(r);

        while (raw_next_kval(&part, &kv)) {
            if (strcmp(kv.key, key) == 0 && kv.value.type == PMIX_UINT32)
                found = kv.value.data.uint32;
            px_kval_fini(&kv);
        }
    }
    return found;
}

uint32_t raw_value(int fd, const char *nspace, pmix_rank_t rank, const char *key)
{
    px_reader r;

    return raw_request(fd, raw_get(nspace, rank, key, PMIX_IMMEDIATE), &r)
               ? UINT32_MAX
               : raw_value_in(&r, key);
}

px_writer raw_want(const pmix_status_t *codes, size_t n, const px_infos *infos)
{
    px_writer w = raw_begin(PX_OP_REGEVENTS);

    px_pack_size(&w, n);
    if (n)
        px_pack(&w, codes, (int32_t)n, PMIX_STATUS);
    px_pack_infos(&w, infos ? infos->v : NULL, infos ? infos->n : 0);
    return w;
}

pmix_status_t raw_next_event(int fd, px_infos *infos)
{
    pmix_status_t code = 0;
    pmix_proc_t source;
    px_reader r;
    uint8_t op;

    if (!raw_recv(fd, PX_TAG_NOTIFY, &r))
        return 0;
    ok(px_unpack_u8(&r, &op, PMIX_COMMAND));
    ok(px_unpack_status(&r, &code));
    ok(px_unpack1(&r, &source, PMIX_PROC));
    if (infos)
        ok(px_unpack_infos(&r, &infos->v, &infos->n));
    return code;
}

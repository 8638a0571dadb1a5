/* SPDX-License-Identifier: BSD-3-Clause */
/* Clients that read tables in place: the notices that they get, the time of these notices, and
 * their other messages. */
#include "core/base/fd.h"
#include "core/model/jobinfo.h"
#include "core/plugin/select.h"
#include "core/wire/frame.h"
#include "fake_host.h"
#include "raw.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <poll.h>
#include <pthread.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Ways in which a client connects. Only BY_USOCK gets notices of tables. */
enum way { BY_USOCK, BY_TCP, NAMES_HASH };

static int come(pmix_rank_t rank, enum way way)
{
    struct px_hello h = raw_hello("job", rank);
    int fd = way == BY_TCP ? raw_socket() : raw_near_socket();

    if (way != NAMES_HASH)
        strcpy(h.gds, "shm");
    ok(raw_send_hello(fd, &h));
    return fd;
}

/* Reply to a request, its length, and the number of namespaces that notices before the reply
 * announced. */
struct answer {
    uint8_t bytes[1 << 16];
    uint32_t n;
    unsigned n_notices;
    px_reader r;
};

static struct answer *ask(int fd, px_writer w)
{
    static struct answer a;
    static uint32_t tag = 5000;
    uint8_t header[PX_FRAME_HEADER_B];
    struct px_frame f;

    raw_send(fd, ++tag, w);
    for (a.n_notices = 0;; a.n_notices++) {
        ok(px_fd_read_all(fd, header, sizeof(header), 0));
        ok(px_frame_decode(header, &f));
        ck_assert_uint_le(f.nbytes, sizeof(a.bytes));
        ok(px_fd_read_all(fd, a.bytes, f.nbytes, 0));
        if (f.tag == tag)
            break;
        ck_assert_uint_eq(f.tag, PX_TAG_STORE);
    }
    a.n = f.nbytes;
    px_reader_init(&a.r, px_codec_default, a.bytes, a.n);
    return &a;
}

static struct answer *get(int fd, const char *nspace, pmix_rank_t rank, const char *key,
                          const char *flag, pmix_status_t wanted)
{
    struct answer *a = ask(fd, raw_get(nspace, rank, key, flag));
    pmix_status_t status;

    ok(px_unpack_status(&a->r, &status));
    ck_assert_int_eq(status, wanted);
    return a;
}

PX_TEST(a_job_is_announced_once_to_clients_that_can_read_it)
{
    uint32_t lengths[3];

    raw_server_start(NULL, 3, 300);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    for (enum way way = BY_USOCK; way <= NAMES_HASH; way++) {
        int fd = come(way, way);

        ck_assert_uint_eq(ask(fd, raw_begin(PX_OP_REQ))->n_notices, way == BY_USOCK);
        struct answer *a = ask(fd, raw_begin(PX_OP_REQ));
        ck_assert_uint_eq(a->n_notices, 0);
        lengths[way] = a->n;
        close(fd);
    }
    ck_assert_uint_lt(lengths[BY_USOCK], 256);
    ck_assert_uint_gt(lengths[NAMES_HASH], 300 * 8);
    ck_assert_uint_gt(lengths[BY_TCP], lengths[BY_USOCK]);
}

/* The rank is local, or on another node, with values from the host. */
PX_TEST_LOOP(values_that_are_there_to_be_read_are_not_sent, 2)
{
    const pmix_value_t number = {.type = PMIX_UINT32, .data.uint32 = 7};
    pmix_rank_t of = _i ? 3 : 2;
    PX_AUTO(px_writer) w;

    px_writer_init(&w, px_codec_default);
    px_pack_kval(&w, "a", &number);
    raw_start(&host_module, 3, 1);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    if (_i) {
        host.bytes = w.buf.data;
        host.n_bytes = w.buf.len;
    } else {
        ok(raw_request(three, raw_commit_of(PMIX_GLOBAL, "a", &number), NULL));
        ok(raw_request(three, raw_commit_of(PMIX_REMOTE, "far", &number), NULL));
    }
    int reader = come(0, BY_USOCK), other = come(1, NAMES_HASH);
    struct answer *a = get(reader, "job", of, "a", NULL, PMIX_SUCCESS);
    ck_assert_uint_eq(a->n_notices, 1);
    ck_assert(px_reader_done(&a->r));
    a = get(other, "job", of, "a", NULL, PMIX_SUCCESS);
    ck_assert_uint_eq(a->n_notices, 0);
    ck_assert_uint_eq(raw_value_in(&a->r, "a"), 7);
    (void)get(reader, "job", of, "far", PMIX_IMMEDIATE, PMIX_ERR_NOT_FOUND);
    /* The client reports that it cannot read the tables after all. */
    a = get(reader, "job", PMIX_RANK_WILDCARD, NULL, PX_STORE_MESSAGES, PMIX_SUCCESS);
    ck_assert_uint_eq(a->n_notices, 0);
    ck_assert_uint_gt(a->n, 128);
    a = get(reader, "job", of, "a", NULL, PMIX_SUCCESS);
    ck_assert_uint_eq(raw_value_in(&a->r, "a"), 7);
    close(reader);
    close(other);
}

/* The reply to a commit comes with the next message. A reply comes at once if the commit is large
 * or empty, or if many replies wait. */
PX_TEST(a_client_that_reads_in_place_waits_for_no_small_commit)
{
    static char large[1 << 17];
    static const struct {
        size_t size_b;
        bool is_answered;
    } rows[] = {{8, false}, {8, false}, {sizeof(large), true}, {8, false}, {0, true}};
    uint32_t answered = 0;

    raw_server_start(NULL, 1, 0);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    int fd = come(0, BY_USOCK);
    ck_assert_uint_eq(ask(fd, raw_begin(PX_OP_REQ))->n_notices, 1);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_value_t v = {.type = PMIX_BYTE_OBJECT,
                                .data.bo = {large, rows[i].size_b}};
        struct pollfd p = {.fd = fd, .events = POLLIN};

        raw_send(fd, 300 + (uint32_t)i,
                 rows[i].size_b ? raw_commit_of(PMIX_LOCAL, "a", &v)
                                : raw_begin(PX_OP_COMMIT));
        ck_assert_int_eq(poll(&p, 1, rows[i].is_answered ? 10000 : 100),
                         rows[i].is_answered);
        for (; rows[i].is_answered && answered <= i; answered++)
            ok(raw_status(fd, 300 + answered));
    }
    for (uint32_t i = 0; i < 128; i++)
        raw_send(fd, 400 + i, raw_commit_of(PMIX_LOCAL, "a", &(pmix_value_t){0}));
    /* At least 32 of these replies come without a further message. */
    for (uint32_t i = 0; i < 32; i++)
        ok(raw_status(fd, 400 + i));
    close(fd);
}

PX_TEST(another_job_is_announced_to_its_user_alone)
{
    raw_server_start(NULL, 1, 0);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    raw_add_job("mine", 1, 0, geteuid());
    raw_add_job("theirs", 1, 0, geteuid() + 1);
    bool is_root = geteuid() == 0;
    int fd = come(0, BY_USOCK);

    struct answer *a = get(fd, "mine", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL,
                           PMIX_SUCCESS);
    ck_assert_uint_eq(a->n_notices, 1); /* of job "mine", not of the client's own job */
    a = get(fd, "theirs", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL,
            is_root ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_eq(a->n_notices, is_root);
    close(fd);
    raw_drop_job("mine"); /* a new job has other tables */
    raw_add_job("mine", 1, 0, geteuid());
    fd = come(0, BY_USOCK);
    for (unsigned i = 0; i < 2; i++) {
        a = get(fd, "mine", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, PMIX_SUCCESS);
        ck_assert_uint_eq(a->n_notices, 1);
        raw_drop_job("mine");
        raw_add_job("mine", 1, 0, geteuid());
    }
    close(fd);
}

static unsigned count_of(int fd)
{
    struct stat it, other;
    unsigned n = 0;

    ok(fstat(fd, &it));
    for (int i = 0; i < 1024; i++)
        n += fstat(i, &other) == 0 && other.st_dev == it.st_dev &&
             other.st_ino == it.st_ino;
    return n;
}

/* Each byte of each request carries descriptors. The last request is incomplete. */
PX_TEST(descriptors_that_a_client_sends_are_closed)
{
    enum { N = 3, ROUNDS = 20 };
    union {
        struct cmsghdr header;
        char room[CMSG_SPACE(N * sizeof(int))];
    } control = {.header = {.cmsg_len = CMSG_LEN(N * sizeof(int)),
                            .cmsg_level = SOL_SOCKET,
                            .cmsg_type = SCM_RIGHTS}};
    px_writer w = raw_begin(PX_OP_MAX);
    uint8_t bytes[PX_FRAME_HEADER_B + 16];
    const size_t n = PX_FRAME_HEADER_B + w.buf.len;

    raw_server_start(NULL, 1, 0);
    int fd = come(0, BY_USOCK);
    PX_AUTOCLOSE int sent = memfd_create("sent", MFD_CLOEXEC);
    const int fds[N] = {sent, sent, sent};
    memcpy(CMSG_DATA(&control.header), fds, sizeof(fds));
    memcpy(bytes + PX_FRAME_HEADER_B, w.buf.data, w.buf.len);
    for (uint32_t i = 0; i < ROUNDS; i++) {
        px_frame_encode(
            bytes, &(struct px_frame){.tag = 5000 + i, .nbytes = (uint32_t)w.buf.len});
        for (size_t at = 0; at < (i + 1 < ROUNDS ? n : n - 1); at++) {
            struct iovec iov = {.iov_base = bytes + at, .iov_len = 1};
            struct msghdr msg = {.msg_iov = &iov,
                                 .msg_iovlen = 1,
                                 .msg_control = &control,
                                 .msg_controllen = control.header.cmsg_len};

            ck_assert_int_eq(sendmsg(fd, &msg, 0), 1);
        }
        if (i + 1 == ROUNDS)
            break;
        fails(raw_status(fd, 5000 + i), NOT_SUPPORTED);
        ck_assert_uint_eq(count_of(sent), 1);
    }
    px_writer_cleanup(&w);
    close(fd);
    raw_await_gone(0);
    ck_assert_uint_eq(count_of(sent), 1);
}

/* Collectives of ranks 0 and 1. A rank waits on the futex with an id, or for a message. Rank 1 may
 * have another connection. All collectives succeed. */
static const struct {
    uint8_t op;
    const char *futexes; /* "b": the futex, "x": a previous futex, "-": none */
    const char *key;     /* key that rank 0 commits first; NULL: no commit */
    bool twice;
    bool wakes;
    const char *messages;  /* "y": the rank gets a message */
    const char *directive; /* of a group */
} collectives[] = {
    {PX_OP_FENCE, "bb", NULL, false, true, "nn", NULL},
    {PX_OP_FENCE, "b-", NULL, false, true, "ny", NULL},
    {PX_OP_FENCE, "xb", NULL, false, true, "yn", NULL},
    {PX_OP_FENCE, "xx", NULL, false, false, "yy", NULL},
    {PX_OP_FENCE, "--", NULL, false, false, "yy", NULL},
    {PX_OP_FENCE, "bb", NULL, true, false, "yy", NULL},
    {PX_OP_FENCE, "bb", "k", false, true, "nn", NULL},
    {PX_OP_FENCE, "bb", "", false, false, "yy", NULL},
    {PX_OP_FENCE, "bb", NULL, false, true, "nn", NULL},
    {PX_OP_CONNECT, "bb", NULL, false, true, "nn", NULL},
    {PX_OP_DISCONNECT, "bb", NULL, false, true, "nn", NULL},
    {PX_OP_GROUP_CONSTRUCT, "bb", NULL, false, true, "nn", NULL},
    {PX_OP_GROUP_CONSTRUCT, "b-", NULL, false, true, "ny",
     PMIX_GROUP_ASSIGN_CONTEXT_ID},
    {PX_OP_GROUP_CONSTRUCT, "bb", NULL, false, false, "yy", PMIX_GROUP_INFO},
};

static struct px_fence_futex *fence_futex(void)
{
    return px_store_fence_futex(&px_nspace_find(px_process.model, "job")->store);
}

/* Adds a flag, or a value that the sender shares. */
static void add_directive(px_infos *infos, const char *key)
{
    px_infos own = {0};

    if (key && strcmp(key, PMIX_GROUP_INFO) == 0) {
        ok(px_infos_add(&own, "number", &(uint32_t){7}, PMIX_UINT32));
        ok(px_infos_add_array(infos, key, &own));
    } else if (key) {
        ok(px_infos_add(infos, key, NULL, PMIX_BOOL));
    }
}

static void collect(int fd, uint32_t tag, uint8_t op, uint32_t id,
                    const char *directive)
{
    px_writer w = raw_begin(op);
    const pmix_proc_t all = raw_proc("job", PMIX_RANK_WILDCARD);
    PX_AUTO(px_infos) infos = {0};

    add_directive(&infos, op == PX_OP_FENCE ? PMIX_COLLECT_DATA : directive);
    if (op == PX_OP_GROUP_CONSTRUCT)
        px_pack_str(&w, "g");
    px_pack_procs(&w, &all, 1);
    px_pack_infos(&w, infos.v, infos.n);
    if (id)
        px_pack_u32(&w, id);
    raw_send(fd, tag, w);
}

/* Checks the number that the end of a group leaves beside the futex. */
static void check_number(const char *directive)
{
    uint64_t number = 0;

    ck_assert(px_fence_futex_number(fence_futex(), fence_futex()->turns, &number));
    ck_assert((number == SIZE_MAX) == !directive);
    ck_assert(!px_fence_futex_number(fence_futex(), fence_futex()->turns + 1, &number));
}

PX_TEST(one_futex_ends_a_collective_of_all_that_wait_on_it)
{
    int fd[2], more = -1;

    raw_server_start(NULL, 2, 0);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    for (pmix_rank_t i = 0; i < 2; i++) {
        fd[i] = come(i, BY_USOCK);
        ck_assert_uint_eq(ask(fd[i], raw_begin(PX_OP_REQ))->n_notices, 1);
    }
    for (size_t k = 0; k < PX_COUNT(collectives); k++) {
        const uint32_t before = fence_futex()->turns, id = fence_futex()->id;

        if (collectives[k].key)
            raw_send(
                fd[0], 210,
                raw_commit_of(PMIX_GLOBAL, collectives[k].key, &(pmix_value_t){0}));
        if (collectives[k].twice)
            (void)ask(more = come(1, BY_USOCK), raw_begin(PX_OP_REQ));
        for (int i = 0; i < 2; i++)
            collect(fd[i], 208, collectives[k].op,
                    collectives[k].futexes[i] == 'b'   ? id
                    : collectives[k].futexes[i] == 'x' ? id + 1
                                                       : 0,
                    collectives[k].directive);
        if (collectives[k].key && !collectives[k].wakes) {
            fails(raw_status(fd[0], 210), BAD_PARAM);
        } else if (collectives[k].key) { /* answered with the next message */
            raw_send(fd[0], 211, raw_begin(PX_OP_COMMIT));
            ok(raw_status(fd[0], 210));
            ok(raw_status(fd[0], 211));
        }
        for (int i = 0; i < 2; i++) /* ask() accepts only its own reply */
            if (collectives[k].messages[i] == 'y')
                ok(raw_status(fd[i], 208));
        for (int i = 0; i < 2; i++)
            (void)ask(fd[i], raw_begin(PX_OP_REQ));
        ck_assert_uint_eq(fence_futex()->turns - before, collectives[k].wakes);
        if (collectives[k].op == PX_OP_GROUP_CONSTRUCT && collectives[k].wakes)
            check_number(collectives[k].directive);
        if (more >= 0)
            ok(raw_finalize(more));
        px_drop_fd(&more);
    }
    /* A rank leaves. The futex does not wake for that. */
    const uint32_t before = fence_futex()->turns;
    collect(fd[0], 209, PX_OP_FENCE, fence_futex()->id, NULL);
    (void)ask(fd[0], raw_begin(PX_OP_REQ));
    ok(raw_finalize(fd[1]));
    ck_assert_int_eq(raw_status(fd[0], 209), PMIX_ERR_LOST_CONNECTION);
    ck_assert_uint_eq(fence_futex()->turns, before);
    close(fd[0]);
    close(fd[1]);
}

static void *sleep_on(void *futex)
{
    _Atomic uint32_t *word = &((struct px_fence_futex *)futex)->turns;
    const struct timespec limit = {.tv_sec = 10};

    return (void *)syscall(SYS_futex, word, FUTEX_WAIT, *word, &limit, NULL, 0);
}

/* A client without a thread of the library that is not woken looks for messages after 8 ms. */
PX_TEST(a_message_rouses_a_client_that_sleeps_on_the_futex)
{
    pthread_t sleeper;
    void *rc;
    int fd[3];

    raw_server_start(NULL, 2, 0);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    for (pmix_rank_t i = 0; i < 3; i++) /* two connections of rank 1: no futex ends a fence */
        (void)ask(fd[i] = come(i > 0, BY_USOCK), raw_begin(PX_OP_REQ));
    ok(pthread_create(&sleeper, NULL, sleep_on, fence_futex()));
    do {
        for (int i = 0; i < 2; i++)
            collect(fd[i], 208, PX_OP_FENCE, fence_futex()->id, NULL);
        for (int i = 0; i < 2; i++)
            ok(raw_status(fd[i], 208));
    } while (pthread_tryjoin_np(sleeper, &rc) == EBUSY);
    ck_assert_ptr_null(rc); /* otherwise the limit has ended the sleep */
    for (int i = 0; i < 3; i++)
        close(fd[i]);
}

/* Two threads of rank 0 are in different collectives. The end of one does not wake the other. */
PX_TEST(a_futex_does_not_wake_a_rank_with_two_collectives)
{
    int fd[2];

    raw_server_start(NULL, 2, 0);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    for (pmix_rank_t i = 0; i < 2; i++) {
        fd[i] = come(i, BY_USOCK);
        ck_assert_uint_eq(ask(fd[i], raw_begin(PX_OP_REQ))->n_notices, 1);
    }
    for (int i = 0; i < 2; i++)
        collect(fd[i], 207, PX_OP_FENCE, 0, NULL);
    for (int i = 0; i < 2; i++)
        ok(raw_status(fd[i], 207));
    const uint32_t before = fence_futex()->turns, id = fence_futex()->id;
    collect(fd[0], 208, PX_OP_CONNECT, id, NULL);
    collect(fd[0], 209, PX_OP_FENCE, 0, NULL);
    collect(fd[1], 209, PX_OP_FENCE, id, NULL);
    for (int i = 0; i < 2; i++)
        ok(raw_status(fd[i], 209));
    ck_assert_uint_eq(fence_futex()->turns, before);
    collect(fd[1], 208, PX_OP_CONNECT, id, NULL);
    (void)ask(fd[1], raw_begin(PX_OP_REQ));
    ck_assert_uint_eq(fence_futex()->turns, before + 1);
    close(fd[0]);
    close(fd[1]);
}

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

PX_TEST_MAIN("server/share", NULL, host_end)

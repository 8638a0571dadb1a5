/* SPDX-License-Identifier: BSD-3-Clause */
/* Which clients are told of tables to read in place, when, and what they are sent besides. */
#include "core/base/fd.h"
#include "core/model/jobinfo.h"
#include "core/plugin/select.h"
#include "core/wire/frame.h"
#include "fake_host.h"
#include "raw.h"

#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>

/* How a client comes, and whether it is told. */
enum way { BY_USOCK, BY_TCP, NAMES_HASH };

static int come(pmix_rank_t rank, enum way way)
{
    struct px_hello h = raw_hello("job", rank);
    const char *path = strstr(px_process.server->own_uri, "usock://");
    struct sockaddr_un sa = {.sun_family = AF_UNIX};
    int fd;

    if (way != NAMES_HASH)
        strcpy(h.gds, "shm");
    if (way == BY_TCP) {
        ok(raw_connect(&h, &fd));
        return fd;
    }
    ck_assert_ptr_nonnull(path);
    ck_assert_uint_lt(strlen(path + 8), sizeof(sa.sun_path));
    strcpy(sa.sun_path, path + 8);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    ck_assert_int_eq(connect(fd, (struct sockaddr *)&sa, sizeof(sa)), 0);
    ok(raw_send_hello(fd, &h));
    return fd;
}

/* The answer to a request, its length, and of how many namespaces it was told before. */
struct answer {
    uint8_t bytes[1 << 16];
    uint32_t n;
    unsigned n_told;
    px_reader r;
};

static struct answer *ask(int fd, px_writer w)
{
    static struct answer a;
    static uint32_t tag = 5000;
    uint8_t header[PX_FRAME_HEADER_B];
    struct px_frame f;

    raw_send(fd, ++tag, w);
    for (a.n_told = 0;; a.n_told++) {
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

PX_TEST(a_job_is_told_once_to_those_that_can_read_it)
{
    uint32_t lengths[3];

    raw_server_start(NULL, 3, 300);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    for (enum way way = BY_USOCK; way <= NAMES_HASH; way++) {
        int fd = come(way, way);

        ck_assert_uint_eq(ask(fd, raw_begin(PX_OP_REQ))->n_told, way == BY_USOCK);
        struct answer *a = ask(fd, raw_begin(PX_OP_REQ));
        ck_assert_uint_eq(a->n_told, 0);
        lengths[way] = a->n;
        close(fd);
    }
    ck_assert_uint_lt(lengths[BY_USOCK], 256);
    ck_assert_uint_gt(lengths[NAMES_HASH], 300 * 8);
    ck_assert_uint_gt(lengths[BY_TCP], lengths[BY_USOCK]);
}

/* Of a local rank, and of one of another node that the host knows of. */
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
    ck_assert_uint_eq(a->n_told, 1);
    ck_assert(px_reader_done(&a->r));
    a = get(other, "job", of, "a", NULL, PMIX_SUCCESS);
    ck_assert_uint_eq(a->n_told, 0);
    ck_assert_uint_eq(raw_value_in(&a->r, "a"), 7);
    (void)get(reader, "job", of, "far", PMIX_IMMEDIATE, PMIX_ERR_NOT_FOUND);
    /* It cannot read them after all. */
    a = get(reader, "job", PMIX_RANK_WILDCARD, NULL, PX_STORE_MESSAGES, PMIX_SUCCESS);
    ck_assert_uint_eq(a->n_told, 0);
    ck_assert_uint_gt(a->n, 128);
    a = get(reader, "job", of, "a", NULL, PMIX_SUCCESS);
    ck_assert_uint_eq(raw_value_in(&a->r, "a"), 7);
    close(reader);
    close(other);
}

/* A commit is answered with the next message, unless it is large or empty, or many wait. */
PX_TEST(a_client_that_reads_in_place_waits_for_no_small_commit)
{
    static char large[1 << 17];
    static const struct {
        size_t size_b;
        bool is_told;
    } rows[] = {{8, false}, {8, false}, {sizeof(large), true}, {8, false}, {0, true}};
    uint32_t answered = 0;

    raw_server_start(NULL, 1, 0);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    int fd = come(0, BY_USOCK);
    ck_assert_uint_eq(ask(fd, raw_begin(PX_OP_REQ))->n_told, 1);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_value_t v = {.type = PMIX_BYTE_OBJECT,
                                .data.bo = {large, rows[i].size_b}};
        struct pollfd p = {.fd = fd, .events = POLLIN};

        raw_send(fd, 300 + (uint32_t)i,
                 rows[i].size_b ? raw_commit_of(PMIX_LOCAL, "a", &v)
                                : raw_begin(PX_OP_COMMIT));
        ck_assert_int_eq(poll(&p, 1, rows[i].is_told ? 10000 : 100), rows[i].is_told);
        for (; rows[i].is_told && answered <= i; answered++)
            ok(raw_status(fd, 300 + answered));
    }
    for (uint32_t i = 0; i < 128; i++)
        raw_send(fd, 400 + i, raw_commit_of(PMIX_LOCAL, "a", &(pmix_value_t){0}));
    for (uint32_t i = 0; i < 32; i++) /* no more of them are kept back than that */
        ok(raw_status(fd, 400 + i));
    close(fd);
}

PX_TEST(another_job_is_told_to_its_user_alone)
{
    raw_server_start(NULL, 1, 0);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    raw_add_job("mine", 1, 0, geteuid());
    raw_add_job("theirs", 1, 0, geteuid() + 1);
    bool is_root = geteuid() == 0;
    int fd = come(0, BY_USOCK);

    struct answer *a = get(fd, "mine", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL,
                           PMIX_SUCCESS);
    ck_assert_uint_eq(a->n_told,
                      1); /* this one, not its own, which it asked nothing of */
    a = get(fd, "theirs", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL,
            is_root ? PMIX_SUCCESS : PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_eq(a->n_told, is_root);
    close(fd);
    raw_drop_job("mine"); /* and again: its tables are others */
    raw_add_job("mine", 1, 0, geteuid());
    fd = come(0, BY_USOCK);
    for (unsigned i = 0; i < 2; i++) {
        a = get(fd, "mine", PMIX_RANK_WILDCARD, PMIX_JOB_SIZE, NULL, PMIX_SUCCESS);
        ck_assert_uint_eq(a->n_told, 1);
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

/* Each byte of each request brings some, and of the last half is missing. */
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

/* A collective of ranks 0 and 1, each of which sleeps by the bell of that number, if not
 * by messages; then one of them may have another connection. All end well. */
static const struct {
    uint8_t op;
    const char *bells; /* "b": the bell, "x": one that has gone, "-": none */
    const char *key;   /* rank 0 commits it first; NULL: it does not */
    bool twice;
    bool rings;
    const char *told; /* by a message */
} rings[] = {
    {PX_OP_FENCE, "bb", NULL, false, true, "nn"},
    {PX_OP_FENCE, "b-", NULL, false, true, "ny"},
    {PX_OP_FENCE, "xb", NULL, false, true, "yn"},
    {PX_OP_FENCE, "xx", NULL, false, false, "yy"},
    {PX_OP_FENCE, "--", NULL, false, false, "yy"},
    {PX_OP_FENCE, "bb", NULL, true, false, "yy"},
    {PX_OP_FENCE, "bb", "k", false, true, "nn"},
    {PX_OP_FENCE, "bb", "", false, false, "yy"},
    {PX_OP_FENCE, "bb", NULL, false, true, "nn"},
    {PX_OP_CONNECT, "bb", NULL, false, true, "nn"},
    {PX_OP_DISCONNECT, "bb", NULL, false, true, "nn"},
};

static struct px_fence_futex *bell(void)
{
    return px_store_bell(&px_nspace_find(px_process.model, "job")->store);
}

static void collect(int fd, uint32_t tag, uint8_t op, uint32_t id)
{
    px_writer w = raw_begin(op);
    const pmix_proc_t all = raw_proc("job", PMIX_RANK_WILDCARD);
    const pmix_info_t data = {.key = PMIX_COLLECT_DATA,
                              .value = {.type = PMIX_BOOL, .data.flag = true}};

    px_pack_procs(&w, &all, 1);
    px_pack_infos(&w, &data, op == PX_OP_FENCE);
    if (id)
        px_pack_u32(&w, id);
    raw_send(fd, tag, w);
}

PX_TEST(one_bell_ends_a_collective_of_all_that_sleep_by_it)
{
    int fd[2], more = -1;

    raw_server_start(NULL, 2, 0);
    PX_TEST_NEEDS(px_module_find("gds", "shm"), "gds/shm");
    for (pmix_rank_t i = 0; i < 2; i++) {
        fd[i] = come(i, BY_USOCK);
        ck_assert_uint_eq(ask(fd[i], raw_begin(PX_OP_REQ))->n_told, 1);
    }
    ck_assert_ptr_null(bell()); /* until it is needed */
    for (int i = 0; i < 2; i++)
        collect(fd[i], 207, PX_OP_FENCE, 0);
    for (int i = 0; i < 2; i++)
        ok(raw_status(fd[i], 207));
    for (size_t k = 0; k < PX_COUNT(rings); k++) {
        const uint32_t before = bell()->turns, id = bell()->id;

        if (rings[k].key)
            raw_send(fd[0], 210,
                     raw_commit_of(PMIX_GLOBAL, rings[k].key, &(pmix_value_t){0}));
        if (rings[k].twice)
            (void)ask(more = come(1, BY_USOCK), raw_begin(PX_OP_REQ));
        for (int i = 0; i < 2; i++)
            collect(fd[i], 208, rings[k].op,
                    rings[k].bells[i] == 'b'   ? id
                    : rings[k].bells[i] == 'x' ? id + 1
                                               : 0);
        if (rings[k].key && !rings[k].rings) {
            fails(raw_status(fd[0], 210), BAD_PARAM);
        } else if (rings[k].key) { /* with what is said next */
            raw_send(fd[0], 211, raw_begin(PX_OP_COMMIT));
            ok(raw_status(fd[0], 210));
            ok(raw_status(fd[0], 211));
        }
        for (int i = 0; i < 2; i++) /* ask() takes no other message for its answer */
            if (rings[k].told[i] == 'y')
                ok(raw_status(fd[i], 208));
        for (int i = 0; i < 2; i++)
            (void)ask(fd[i], raw_begin(PX_OP_REQ));
        ck_assert_uint_eq(bell()->turns - before, rings[k].rings);
        if (more >= 0)
            ok(raw_finalize(more));
        px_drop_fd(&more);
    }
    /* One leaves: no bell tells of that. */
    const uint32_t before = bell()->turns;
    collect(fd[0], 209, PX_OP_FENCE, bell()->id);
    (void)ask(fd[0], raw_begin(PX_OP_REQ));
    ok(raw_finalize(fd[1]));
    ck_assert_int_eq(raw_status(fd[0], 209), PMIX_ERR_LOST_CONNECTION);
    ck_assert_uint_eq(bell()->turns, before);
    close(fd[0]);
    close(fd[1]);
}

PX_TEST_SUITE_NEEDS(px_test_has_proc(), "/proc")

PX_TEST_MAIN("server/share", NULL, host_end)

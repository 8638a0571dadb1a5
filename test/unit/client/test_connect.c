/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the server, shaking hands, reading the job's information: with all a server may do. */
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <semaphore.h>
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
    ck_assert_int_eq(PMIx_Finalize(NULL, 0), PMIX_ERR_INIT);
}

/* PMIx_Init fails with this, and all is as before. */
static void refused_with(pmix_status_t status)
{
    fake_start();
    ck_assert_int_eq(init(), status);
    assert_nothing_is_left();
    fake_stop();
}

static uint32_t get_u32(pmix_rank_t rank, const char *key)
{
    pmix_value_t *v = NULL;
    uint32_t n = UINT32_MAX;
    pmix_proc_t p;

    px_proc_set(&p, "job", rank);
    if (PMIx_Get(&p, key, NULL, 0, &v) == PMIX_SUCCESS) {
        ck_assert(px_value_to_u32(v, &n));
        PMIX_VALUE_RELEASE(v);
    }
    return n;
}

static void serve_well(void)
{
    pmix_proc_t self;

    fake_start();
    ok(PMIx_Init(&self, NULL, 0));
    ck_assert_str_eq(self.nspace, "job");
    ck_assert_uint_eq(self.rank, 0);
    ck_assert_uint_eq(get_u32(PMIX_RANK_WILDCARD, PMIX_JOB_SIZE), 2);
    ck_assert_uint_eq(get_u32(1, PMIX_LOCAL_RANK), 1);
    ok(PMIx_Fence(NULL, 0, NULL, 0));
    ok(PMIx_Finalize(NULL, 0));
    fake_stop();
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

static void keep_hello(void)
{
    int fd = fake_accept();

    ck_assert_str_eq(fake.hello.psec, "native");
    ck_assert_uint_eq(fake.hello.cred_len, 8);
    ck_assert_uint_eq(fake.hello.flag, PX_FLAG_CLIENT);
    ck_assert_str_eq(fake.hello.proc.nspace, "job");
    ck_assert_uint_eq(fake.hello.proc.rank, 0);
    ck_assert_str_eq(fake.hello.dialect, "v41");
    ck_assert_str_eq(fake.hello.gds, "hash");
    ck_assert_uint_eq(fake.hello.version.major, 4);
    ck_assert_uint_eq(fake.hello.blob_len, 0);
    close(fd);
}

PX_TEST(it_says_who_it_is_as_the_protocol_asks)
{
    fake.script = keep_hello;
    refused_with(PMIX_ERR_UNREACH);
}

/* ---- refusals -------------------------------------------------------------------- */

static pmix_status_t word;

static void say_word(void)
{
    int fd = fake_accept();

    fake_words(fd, word, -1);
    close(fd);
}

PX_TEST(a_refusal_is_the_servers_status)
{
    static const pmix_status_t words[] = {PMIX_ERR_INVALID_CRED, PMIX_ERR_NOT_FOUND,
                                          PMIX_ERR_NOT_SUPPORTED,
                                          PMIX_ERR_READY_FOR_HANDSHAKE};

    fake.script = say_word;
    for (size_t i = 0; i < PX_COUNT(words); i++) {
        word = words[i];
        refused_with(word);
    }
}

PX_TEST(words_that_no_server_says_are_none)
{
    fake.script = say_word;
    word = 0x48545450; /* "HTTP" */
    refused_with(PMIX_ERR_UNREACH);
    word = PMIX_SUCCESS; /* and no index follows */
    refused_with(PMIX_ERR_UNREACH);
}

static void hang_up(void)
{
    close(fake_accept_mute());
}

static void hang_up_after_hello(void)
{
    close(fake_accept());
}

static void half_a_word(void)
{
    int fd = fake_accept();

    fake_say(fd, "\0\0", 2);
    close(fd);
}

static void hang_up_instead_of_job_info(void)
{
    struct fake_req req = {0};
    int fd = fake_accept();

    fake_words(fd, PMIX_SUCCESS, 7);
    ck_assert(fake_next(fd, &req));
    ck_assert_uint_eq(req.op, PX_OP_REQ);
    px_buf_cleanup(&req.payload);
    close(fd);
}

PX_TEST(a_server_that_dies_meanwhile_is_unreachable)
{
    static void (*const scripts[])(void) = {hang_up, hang_up_after_hello, half_a_word};

    for (size_t i = 0; i < PX_COUNT(scripts); i++) {
        fake.script = scripts[i];
        refused_with(PMIX_ERR_UNREACH);
    }
    fake.script = hang_up_instead_of_job_info;
    refused_with(PMIX_ERR_LOST_CONNECTION);
}

/* ---- silence --------------------------------------------------------------------- */

static sem_t heard;

static void say_nothing(void)
{
    int fd = fake_accept_mute();

    sem_wait(&heard);
    close(fd);
}

static void say_nothing_about_the_job(void)
{
    int fd = fake_accept();

    fake_words(fd, PMIX_SUCCESS, 7);
    sem_wait(&heard);
    close(fd);
}

PX_TEST(a_silent_server_is_given_up_after_its_time)
{
    static void (*const scripts[])(void) = {say_nothing, say_nothing_about_the_job};

    sem_init(&heard, 0, 0);
    setenv("PMIX_MCA_client_connect_timeout", "30ms", 1);
    for (size_t i = 0; i < PX_COUNT(scripts); i++) {
        fake.script = scripts[i];
        fake_start();
        ck_assert_int_eq(init(), PMIX_ERR_TIMEOUT);
        assert_nothing_is_left();
        sem_post(&heard);
        fake_stop();
    }
}

/* ---- garbage --------------------------------------------------------------------- */

static void garbage_after_welcome(void)
{
    uint8_t junk[64];
    int fd = fake_accept();
    char rest[256];

    memset(junk, 0xff, sizeof(junk));
    fake_words(fd, PMIX_SUCCESS, 7);
    fake_say(fd, junk, sizeof(junk));
    while (read(fd, rest, sizeof(rest)) > 0)
        ;
    close(fd);
}

PX_TEST(garbage_in_place_of_frames_is_an_error)
{
    fake.script = garbage_after_welcome;
    fake_start();
    ck_assert_int_lt(init(), 0);
    assert_nothing_is_left();
    fake_stop();
}

static const char *bad_info;
static size_t bad_info_len;

static bool answer_badly(int fd, struct fake_req *req)
{
    px_writer w = fake_begin();

    if (req->op != PX_OP_REQ)
        return false;
    ok(px_buf_add(&w.buf, bad_info, bad_info_len));
    fake_reply(fd, req->tag, &w);
    return true;
}

PX_TEST(job_information_that_is_none_is_an_error)
{
    static const struct {
        const char *bytes;
        size_t n;
    } rows[] = {
        {"", 0},
        {"\x02\x08job", 5},               /* a name without its end */
        {"\x02\x00", 2},                  /* no name */
        {"\x02\x02\x00", 3},              /* an empty one */
        {"\x02\x08job\0\x02\xff\xff", 9}, /* a damaged pair */
        {"\x02\x08job\0\x02\x04k\0\x27\x18\xff\xff\xff\xff\x0f",
         17}, /* a giant array */
    };

    fake.hook = answer_badly;
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        bad_info = rows[i].bytes;
        bad_info_len = rows[i].n;
        fake_start();
        ck_assert_msg(init() < 0, "%zu", i);
        assert_nothing_is_left();
        fake_stop();
    }
}

static bool know_no_such_job(int fd, struct fake_req *req)
{
    fake_status(fd, req->tag, PMIX_ERR_NOT_FOUND);
    return true;
}

PX_TEST(a_server_that_cannot_tell_about_the_job_says_why)
{
    fake.hook = know_no_such_job;
    refused_with(PMIX_ERR_NOT_FOUND);
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

PX_TEST(frames_nobody_asked_for_do_no_harm)
{
    fake.hook = strange_frames_first;
    serve_well();
}

/* ---- job information of other servers -------------------------------------------- */

static void put_u32(px_writer *w, const char *key, uint32_t n)
{
    pmix_value_t v = {.type = PMIX_UINT32, .data.uint32 = n};

    px_pack_kval(w, key, &v);
}

static void put_string(px_writer *w, const char *key, const char *s)
{
    pmix_value_t v = {.type = PMIX_STRING, .data.string = (char *)(uintptr_t)s};

    px_pack_kval(w, key, &v);
}

/* 3.2: lone keys of other realms, arrays of process data. */
static void older_job_info(px_writer *w)
{
    PX_AUTO(px_infos) holder = {0};
    px_infos members = {0};
    pmix_rank_t rank = 1;
    uint16_t one = 1;

    put_u32(w, PMIX_JOB_SIZE, 2);
    put_u32(w, PMIX_UNIV_SIZE, 2);
    put_u32(w, PMIX_LOCAL_SIZE, 2);
    put_string(w, PMIX_LOCAL_PEERS, "0,1");
    put_u32(w, "some.key.of.the.host", 5);
    ok(px_infos_add(&members, PMIX_RANK, &rank, PMIX_PROC_RANK));
    ok(px_infos_add(&members, PMIX_LOCAL_RANK, &one, PMIX_UINT16));
    ok(px_infos_add_array(&holder, PMIX_PROC_DATA, &members));
    px_pack_kval(w, PMIX_PROC_DATA, &holder.v[0].value);
}

/* 2.x and 3.1: the map as a blob. */
static void map_blob_job_info(px_writer *w)
{
    px_writer body = fake_begin();
    pmix_value_t blob = {.type = PMIX_BYTE_OBJECT};

    put_u32(w, PMIX_JOB_SIZE, 2);
    px_pack_size(&body, 1);
    put_string(&body, "here", "0,1");
    blob.data.bo.bytes = (char *)body.buf.data;
    blob.data.bo.size = body.buf.len;
    px_pack_kval(w, PMIX_MAP_BLOB, &blob);
    px_writer_cleanup(&body);
}

PX_TEST(older_forms_of_job_information_are_understood)
{
    fake.job_info = older_job_info;
    fake_start();
    ok(init());
    ck_assert_uint_eq(get_u32(PMIX_RANK_WILDCARD, PMIX_UNIV_SIZE), 2);
    ck_assert_uint_eq(get_u32(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE), 2);
    ck_assert_uint_eq(get_u32(PMIX_RANK_WILDCARD, "some.key.of.the.host"), 5);
    ck_assert_uint_eq(get_u32(1, PMIX_LOCAL_RANK), 1);
    ok(PMIx_Finalize(NULL, 0));
    fake_stop();

    fake.job_info = map_blob_job_info;
    fake_start();
    ok(init());
    ck_assert_uint_eq(get_u32(PMIX_RANK_WILDCARD, PMIX_LOCAL_SIZE), 2);
    ck_assert_uint_eq(get_u32(1, PMIX_LOCAL_RANK), 1);
    ok(PMIx_Finalize(NULL, 0));
    fake_stop();
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
        {"PMIX_SERVER_URI41", "server.0;tcp4://127.0.0.1:1", PMIX_ERR_UNREACH},
        {"PMIX_SERVER_URI41", "server.0;carrier-pigeon://home", PMIX_ERR_UNREACH},
        {"PMIX_MCA_mca_base_strict", "error", PMIX_ERR_BAD_PARAM},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        setenv("PMIX_NAMESPACE", "job", 1);
        setenv("PMIX_RANK", "0", 1);
        setenv("PMIX_SECURITY_MODE", "native", 1);
        setenv("PMIX_SERVER_URI41", "server.0;tcp4://127.0.0.1:1", 1);
        setenv("PMIX_MCA_client_connect_timeout", "soon", 1); /* warns only */
        unsetenv("PMIX_MCA_mca_base_strict");
        if (rows[i].value)
            setenv(rows[i].name, rows[i].value, 1);
        else
            unsetenv(rows[i].name);
        pmix_status_t rc = init();
        ck_assert_msg(rc == rows[i].status, "%s=%s: %s", rows[i].name, rows[i].value,
                      PMIx_Error_string(rc));
        assert_nothing_is_left();
    }
    char *longer = px_strf("%0300d", 1);
    setenv("PMIX_NAMESPACE", longer, 1);
    ck_assert_int_eq(init(), PMIX_ERR_INVALID_NAMESPACE);
    free(longer);
}

PX_TEST(a_faster_address_that_cannot_be_reached_is_no_obstacle)
{
    fake_start();
    PX_AUTOFREE char *own = px_strf("%s;usock:///nonexistent/socket",
                                    getenv("PMIX_SERVER_URI41"));
    setenv("TENON_SERVER_URI", own, 1);
    ok(init());
    ok(PMIx_Finalize(NULL, 0));
    fake_stop();
}

PX_TEST(a_faster_address_of_another_server_is_not_for_us)
{
    fake_start();
    setenv("TENON_SERVER_URI", "server.0;tcp4://127.0.0.1:1;tcp4://127.0.0.1:2", 1);
    ok(init());
    ok(PMIx_Finalize(NULL, 0));
    fake_stop();
}

PX_TEST_MAIN("client/connect", NULL, NULL)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Finding the server, shaking hands, reading the job's information: with all a server may do. */
#include "core/base/str.h"
#include "core/client/client.h"
#include "fake_server.h"
#include "px_test.h"

#include <string.h>

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

/* ---- servers that do not serve --------------------------------------------------- */

static void check_hello(void)
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

static pmix_status_t word;

static void say_word(void)
{
    int fd = fake_accept();

    fake_words(fd, word, -1);
    close(fd);
}

static void hang_up(void)
{
    close(fake_accept_mute());
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

static void await_end(int fd)
{
    char rest[256];

    while (read(fd, rest, sizeof(rest)) > 0)
        ;
    close(fd);
}

static void say_nothing(void)
{
    await_end(fake_accept_mute());
}

static void say_nothing_about_the_job(void)
{
    int fd = fake_accept();

    fake_words(fd, PMIX_SUCCESS, 7);
    await_end(fd);
}

static void garbage_after_welcome(void)
{
    uint8_t junk[64];
    int fd = fake_accept();

    memset(junk, 0xff, sizeof(junk));
    fake_words(fd, PMIX_SUCCESS, 7);
    fake_say(fd, junk, sizeof(junk));
    await_end(fd);
}

/* PMIx_Init fails, and all is as before. */
PX_TEST(a_server_that_does_not_serve_is_an_error)
{
    static const struct {
        void (*script)(void);
        pmix_status_t word, status;
    } rows[] = {
        {check_hello, 0, PMIX_ERR_UNREACH},
        /* a refusal is the server's status */
        {say_word, PMIX_ERR_INVALID_CRED, PMIX_ERR_INVALID_CRED},
        {say_word, PMIX_ERR_NOT_FOUND, PMIX_ERR_NOT_FOUND},
        {say_word, PMIX_ERR_NOT_SUPPORTED, PMIX_ERR_NOT_SUPPORTED},
        {say_word, PMIX_ERR_READY_FOR_HANDSHAKE, PMIX_ERR_READY_FOR_HANDSHAKE},
        {say_word, 0x48545450, PMIX_ERR_UNREACH},   /* "HTTP" */
        {say_word, PMIX_SUCCESS, PMIX_ERR_UNREACH}, /* and no index follows */
        {hang_up, 0, PMIX_ERR_UNREACH},
        {half_a_word, 0, PMIX_ERR_UNREACH},
        {hang_up_instead_of_job_info, 0, PMIX_ERR_LOST_CONNECTION},
        {garbage_after_welcome, 0, PMIX_ERR_LOST_CONNECTION},
        {say_nothing, 0, PMIX_ERR_TIMEOUT},
        {say_nothing_about_the_job, 0, PMIX_ERR_TIMEOUT},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        if (rows[i].status == PMIX_ERR_TIMEOUT)
            setenv("PMIX_MCA_client_connect_timeout", "30ms", 1);
        fake.script = rows[i].script;
        word = rows[i].word;
        fake_start();
        pmix_status_t rc = init();
        ck_assert_msg(rc == rows[i].status, "row %zu: %s", i, PMIx_Error_string(rc));
        assert_nothing_is_left();
        fake_stop();
    }
}

/* ---- garbage --------------------------------------------------------------------- */

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
        pmix_status_t status; /* 0: some error */
    } rows[] = {
        {"", 0, 0},
        {"\x02\x08job", 5, 0},               /* a name without its end */
        {"\x02\x00", 2, 0},                  /* no name */
        {"\x02\x02\x00", 3, 0},              /* an empty one */
        {"\x02\x08job\0\x02\xff\xff", 9, 0}, /* a damaged pair */
        {"\x02\x08job\0\x02\x04k\0\x27\x18\xff\xff\xff\xff\x0f", 17,
         0},                                 /* a giant array */
        {"\x02\x5b", 2, PMIX_ERR_NOT_FOUND}, /* a status says why there is none */
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

/* 2.x and 3.1: the map as a blob. */
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

PX_TEST(a_faster_address_is_no_obstacle)
{
    fake_start();
    PX_AUTOFREE char *own = px_strf("%s;usock:///nonexistent/socket",
                                    getenv("PMIX_SERVER_URI41"));
    const char *const faster[] = {
        own, /* out of reach */
        "server.0;tcp4://127.0.0.1:1;tcp4://127.0.0.1:2" /* of another server */};

    for (size_t i = 0; i < PX_COUNT(faster); i++) {
        if (!fake.runs)
            fake_start();
        setenv("TENON_SERVER_URI", faster[i], 1);
        ok(init());
        client_end();
    }
}

PX_TEST_MAIN("client/connect", NULL, client_end)

/* SPDX-License-Identifier: BSD-3-Clause */
/* The start of a connection: connect messages with every recorded quirk, server
 * addresses, and the frame header. */
#include "alloc_fail.h"
#include "core/wire/frame.h"
#include "core/wire/hello.h"
#include "px_test.h"
#include "wire_test.h"

#include <string.h>

/* Messages of a client of 4.2.2 and of one of 3.2.5: rank 0 of job-ns, uid and gid
 * 0. */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define SENDERS(byte) "00 00 00 " byte
#else
#define SENDERS(byte) byte " 00 00 00"
#endif
#define HEAD(nbytes)   "ff ff ff ff ff ff ff ff " SENDERS(nbytes) " 00 00 00 00 "
#define NATIVE         "6e 61 74 69 76 65 00 00 00 00 08 00 00 00 00 00 00 00 00 "
#define JOB_NS_0       "6a 6f 62 2d 6e 73 00 00 00 00 00 "
#define VERSION_4_2_2  "34 2e 32 2e 32 72 63 32 00 "
#define V41_PLAIN_HASH "76 34 31 00 01 68 61 73 68 00 "
#define BODY_4_2_2     NATIVE "00 " JOB_NS_0 VERSION_4_2_2 V41_PLAIN_HASH
#define BODY_3_2_5 \
    NATIVE "00 " JOB_NS_0 "33 2e 32 2e 35 61 31 00 \"v3\" 00 01 \"hash\" 00"

static struct px_hello hello;
static struct px_err err;

static pmix_status_t decode(const char *text)
{
    PX_AUTO(px_buf) b = bytes_of(text);

    px_hello_fini(&hello);
    return px_hello_decode(b.data, b.len, &hello, &err);
}

static void teardown(void)
{
    px_hello_fini(&hello);
}

PX_TEST(reads_the_message_of_4_2_2_with_its_stray_byte)
{
    PX_AUTO(px_buf) b = bytes_of(HEAD("33") BODY_4_2_2 "00");
    size_t len;

    ok(px_hello_header(b.data, &len));
    ck_assert_uint_eq(len, 51);
    ck_assert_uint_eq(len, b.len - PX_HELLO_HEADER_B);
    ok(px_hello_decode(b.data + PX_HELLO_HEADER_B, len, &hello, &err));
    ck_assert_str_eq(hello.psec, "native");
    ck_assert_uint_eq(hello.cred_len, 8);
    ck_assert_mem_eq(hello.cred, "\0\0\0\0\0\0\0\0", 8);
    ck_assert_uint_eq(hello.flag, PX_FLAG_CLIENT);
    ck_assert(!hello.has_ids && hello.has_proc);
    ck_assert_str_eq(hello.proc.nspace, "job-ns");
    ck_assert_uint_eq(hello.proc.rank, 0);
    ck_assert_str_eq(hello.version_text, "4.2.2rc2");
    ck_assert_uint_eq(hello.version.major, 4);
    ck_assert_uint_eq(hello.version.minor, 2);
    ck_assert_uint_eq(hello.version.release, 2);
    ck_assert_str_eq(hello.dialect, "v41");
    ck_assert(!hello.described);
    ck_assert_str_eq(hello.gds, "hash");
    ck_assert_ptr_null(hello.blob);
    ck_assert_uint_eq(hello.blob_len, 0);
}

PX_TEST(writes_the_message_of_4_2_2_but_for_the_stray_byte)
{
    PX_AUTO(px_buf) expected = bytes_of(HEAD("32") BODY_4_2_2);
    PX_AUTO(px_buf) out = {0};
    uint8_t cred[8] = {0};
    struct px_hello h = {.psec = "native",
                         .cred = cred,
                         .cred_len = sizeof(cred),
                         .proc = {"job-ns", 0},
                         .version_text = "4.2.2rc2",
                         .dialect = "v41",
                         .gds = "hash"};

    ok(px_hello_encode(&h, &out));
    ck_assert_uint_eq(out.len, expected.len);
    ck_assert_mem_eq(out.data, expected.data, expected.len);
}

/* Makes a message of a role with all members that the role requires. */
static struct px_hello hello_of_role(uint8_t flag)
{
    static uint8_t cred[3] = {1, 2, 3}, blob[4] = {2, 1, 2, 0};

    return (struct px_hello){.psec = "munge",
                             .cred = cred,
                             .cred_len = sizeof(cred),
                             .flag = flag,
                             .uid = 1000,
                             .gid = 0xfffffffe,
                             .proc = {"ns", PMIX_RANK_WILDCARD},
                             .version_text = "6.1.0",
                             .dialect = "v61",
                             .described = true,
                             .gds = "hash",
                             .blob = blob,
                             .blob_len = sizeof(blob)};
}

PX_TEST(every_role_reads_back_with_its_own_fields)
{
    static const struct {
        bool ids, proc;
    } roles[PX_FLAG_MAX] = {{0, 1}, {1, 0}, {1, 0}, {1, 0}, {1, 1}, {1, 1},
                            {1, 0}, {1, 1}, {1, 1}, {1, 1}, {1, 1}};

    for (uint8_t flag = 0; flag < PX_FLAG_MAX; flag++) {
        PX_AUTO(px_buf) out = {0};
        struct px_hello h = hello_of_role(flag);
        size_t len;

        ok(px_hello_encode(&h, &out));
        ok(px_hello_header(out.data, &len));
        ck_assert_uint_eq(len, out.len - PX_HELLO_HEADER_B);
        px_hello_fini(&hello);
        ok(px_hello_decode(out.data + PX_HELLO_HEADER_B, len, &hello, &err));
        ck_assert_uint_eq(hello.flag, flag);
        ck_assert_uint_eq(hello.has_ids, roles[flag].ids);
        ck_assert_uint_eq(hello.uid, roles[flag].ids ? 1000 : 0);
        ck_assert_uint_eq(hello.gid, roles[flag].ids ? 0xfffffffe : 0);
        ck_assert_uint_eq(hello.has_proc, roles[flag].proc);
        ck_assert_str_eq(hello.proc.nspace, roles[flag].proc ? "ns" : "");
        ck_assert(hello.described);
        ck_assert_uint_eq(hello.blob_len, 4);
        ck_assert_mem_eq(hello.blob, h.blob, 4);
    }
}

PX_TEST(cut_anywhere_it_is_refused_with_a_text)
{
    PX_AUTO(px_buf) whole = bytes_of(BODY_4_2_2);

    for (size_t len = 0; len < whole.len; len++) {
        uint8_t *part = malloc(len ? len : 1);

        memcpy(part, whole.data, len);
        err.text[0] = '\0';
        ck_assert_int_lt(px_hello_decode(part, len, &hello, &err), 0);
        ck_assert_str_ne(err.text, "");
        ck_assert_ptr_null(hello.cred);
        free(part);
    }
}

PX_TEST(the_sender_may_have_the_other_byte_order)
{
    static const char *const headers[] = {
        "ff ff ff ff ff ff ff ff 00 00 12 34 00 00 00 00",
        "ff ff ff ff ff ff ff ff 34 12 00 00 00 00 00 00",
    };

    for (size_t i = 0; i < PX_COUNT(headers); i++) {
        PX_AUTO(px_buf) b = bytes_of(headers[i]);
        size_t len;

        ok(px_hello_header(b.data, &len));
        ck_assert_uint_eq(len, 0x1234);
    }
}

PX_TEST(a_header_of_something_else_is_refused)
{
    static const char *const headers[] = {
        "00 00 00 00 ff ff ff ff 33 00 00 00 00 00 00 00", /* a frame */
        "ff ff ff ff 00 00 00 00 33 00 00 00 00 00 00 00",
        "\"GET / HTTP/1.1\" 0d 0a",
        HEAD("ff") /* at the limit; the next one is too long */,
        "ff ff ff ff ff ff ff ff 01 00 01 00 00 00 00 00",
        "ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff ff",
    };

    for (size_t i = 0; i < PX_COUNT(headers); i++) {
        PX_AUTO(px_buf) b = bytes_of(headers[i]);
        size_t len;

        ck_assert_uint_eq(b.len, PX_HELLO_HEADER_B);
        ck_assert_int_eq(px_hello_header(b.data, &len),
                         i == 3 ? PMIX_SUCCESS : PMIX_ERR_BAD_PARAM);
    }
}

PX_TEST(a_message_too_large_is_not_written)
{
    PX_AUTO(px_buf) out = {0};
    struct px_hello h = hello_of_role(PX_FLAG_CLIENT);

    h.blob_len = PX_MAX_HANDSHAKE_B;
    h.blob = calloc(1, h.blob_len);
    fails(px_hello_encode(&h, &out), BAD_PARAM);
    ck_assert_uint_eq(out.len, 0);
    free(h.blob);
    h = hello_of_role(PX_FLAG_MAX);
    fails(px_hello_encode(&h, &out), BAD_PARAM);
}

PX_TEST(versions_are_read_up_to_their_suffix)
{
    static const struct {
        const char *text;
        struct px_version v;
    } rows[] = {
        {"4.2.2rc2", {4, 2, 2}}, {"6.1.0", {6, 1, 0}},   {"v3.2.5", {3, 2, 5}},
        {"3.2.5a1", {3, 2, 5}},  {"5.0", {5, 0, 0}},     {"7", {7, 0, 0}},
        {"", {0, 0, 0}},         {"unknown", {0, 0, 0}}, {"5.x.3", {5, 0, 0}},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_version v = {9, 9, 9};

        px_version_parse(rows[i].text, &v);
        ck_assert_msg(memcmp(&v, &rows[i].v, sizeof(v)) == 0, "%s", rows[i].text);
    }
}

PX_TEST(reads_the_message_of_3_2_5)
{
    PX_AUTO(px_buf) b = bytes_of(HEAD("30") BODY_3_2_5);
    size_t len;

    ok(px_hello_header(b.data, &len));
    ck_assert_uint_eq(len, b.len - PX_HELLO_HEADER_B);
    ok(decode(BODY_3_2_5));
    ck_assert_str_eq(hello.dialect, "v3");
    ck_assert(hello.version.major == 3 && hello.version.release == 5);
    ck_assert_ptr_null(hello.blob);
}

PX_TEST(keeps_what_trails_and_needs_no_credential)
{
    ok(decode(BODY_4_2_2 "02 00 00"));
    ck_assert_uint_eq(hello.blob_len, 3);
    ok(decode("\"none\" 00 00 00 00 00 00 " JOB_NS_0 VERSION_4_2_2 V41_PLAIN_HASH));
    ck_assert_ptr_null(hello.cred);
    ck_assert_uint_eq(hello.cred_len, 0);
}

PX_TEST(what_is_wrong_is_refused_by_name)
{
    static const char long_ns[PMIX_MAX_NSLEN + 1] = {[0 ... PMIX_MAX_NSLEN] = 'n'};
    char long_name[PMIX_MAX_NSLEN + 200];
    const struct {
        const char *message, *name;
        pmix_status_t status;
    } rows[] = {
        {NATIVE "00 " JOB_NS_0 "\"2.0.3\" 00", "2.0.3", PMIX_ERR_NOT_SUPPORTED},
        {NATIVE "00 " JOB_NS_0 "\"2.0.3\" 00", "dialect", PMIX_ERR_NOT_SUPPORTED},
        {NATIVE "0b " JOB_NS_0 VERSION_4_2_2 V41_PLAIN_HASH, "11", PMIX_ERR_BAD_PARAM},
        {NATIVE "00 " JOB_NS_0 VERSION_4_2_2 "\"v41\" 00 03 \"hash\" 00", "",
         PMIX_ERR_BAD_PARAM},
        /* a credential that exceeds the message */
        {"\"native\" 00 ff ff ff ff 00 00 00", "", PMIX_ERR_BAD_PARAM},
        {"\"native\" 00 00 00 00 04 00 00 00", "", PMIX_ERR_BAD_PARAM},
        /* longer than the member */
        {long_name, "namespace", PMIX_ERR_BAD_PARAM},
        {"\"a security module with a very long name\" 00 00 00 00 00", "",
         PMIX_ERR_BAD_PARAM},
        {NATIVE "00 " JOB_NS_0 VERSION_4_2_2
                "\"a dialect of its own\" 00 01 \"hash\" 00",
         "", PMIX_ERR_BAD_PARAM},
    };

    snprintf(long_name, sizeof(long_name), NATIVE "00 \"%.*s\" 00",
             (int)sizeof(long_ns), long_ns);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_msg(decode(rows[i].message) == rows[i].status, "%s", rows[i].message);
        ck_assert_msg(strstr(err.text, rows[i].name), "%s: %s", rows[i].name, err.text);
    }
}

PX_TEST(want_of_memory_is_reported)
{
    PX_TEST_NEEDS_ALLOC;
    PX_AUTO(px_buf) b = bytes_of(BODY_4_2_2 "02 00");

    for (unsigned nth = 0; px_alloc_next(&nth);)
        px_alloc_check(px_hello_decode(b.data, b.len, &hello, &err));
    ck_assert_uint_eq(hello.blob_len, 2);
}

/* ---- the address of a server ----------------------------------------------------------------- */

static struct px_uri uri;

PX_TEST(an_address_has_a_namespace_a_rank_and_a_scheme)
{
    static const struct {
        const char *text, *nspace;
        pmix_rank_t rank;
        const char *address;
    } rows[] = {
        {"srv.0;tcp4://127.0.0.1:4321", "srv", 0, "tcp4://127.0.0.1:4321"},
        {"slurm.pmix.12.0.7;tcp4://127.0.0.1:1", "slurm.pmix.12.0", 7,
         "tcp4://127.0.0.1:1"},
        {"s.0;tcp6://[::1]:80", "s", 0, "tcp6://[::1]:80"},
        {"s.0;usock:///run/x y", "s", 0, "usock:///run/x y"},
        /* a rank printed as a signed number */
        {"s.-2;tcp4://127.0.0.1:1", "s", PMIX_RANK_WILDCARD, "tcp4://127.0.0.1:1"},
        {"s.4294967294;tcp4://127.0.0.1:1", "s", PMIX_RANK_WILDCARD,
         "tcp4://127.0.0.1:1"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ok(px_uri_parse(rows[i].text, &uri));
        ck_assert_str_eq(uri.server.nspace, rows[i].nspace);
        ck_assert_uint_eq(uri.server.rank, rows[i].rank);
        ck_assert_str_eq(uri.address, rows[i].address);
    }
}

PX_TEST(accepts_the_longest_namespace_and_no_longer_nor_too_long_an_address)
{
    char text[PMIX_MAX_NSLEN + 64], name[PMIX_MAX_NSLEN + 2];

    memset(name, 'n', sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    snprintf(text, sizeof(text), "%s.4294967295;tcp4://127.0.0.1:1", name + 1);
    ok(px_uri_parse(text, &uri));
    ck_assert_uint_eq(strlen(uri.server.nspace), PMIX_MAX_NSLEN);
    snprintf(text, sizeof(text), "%s.0;tcp4://127.0.0.1:1", name);
    fails(px_uri_parse(text, &uri), BAD_PARAM);
    snprintf(text, sizeof(text), "srv.0;usock://%s", name);
    fails(px_uri_parse(text, &uri), BAD_PARAM);
}

PX_TEST(refuses_what_is_no_uri_and_changes_nothing)
{
    static const char *const texts[] = {
        "",
        ";",
        "srv.0",
        "srv;tcp4://127.0.0.1:1",
        ".0;tcp4://127.0.0.1:1",
        "srv.;tcp4://127.0.0.1:1",
        "srv.x;tcp4://127.0.0.1:1",
        "srv.0x;tcp4://127.0.0.1:1",
        "srv.4294967296;tcp4://127.0.0.1:1",
        "srv.0;127.0.0.1:1",
        "srv.0;://127.0.0.1:1",
        "srv.0;tcp4://",
        "srv.0;tcp4://127.0.0.1:1;more",
        NULL,
    };

    memset(&uri, 0x5a, sizeof(uri));
    for (size_t i = 0; i < PX_COUNT(texts); i++)
        ck_assert_msg(px_uri_parse(texts[i], &uri) == PMIX_ERR_BAD_PARAM, "%s",
                      texts[i]);
    ck_assert_int_eq(uri.address[0], 0x5a);
}

/* ---- frames ---------------------------------------------------------------------------------- */

PX_TEST(the_header_is_big_endian_with_a_limited_payload)
{
    struct px_frame back, f = {.pindex = 1, .tag = 101, .nbytes = 0x010203},
                          largest = {-1, UINT32_MAX, PX_MAX_FRAME_B};
    uint8_t out[PX_FRAME_HEADER_B];

    memset(out, 0xff, sizeof(out));
    px_frame_encode(out, &f);
    ck_assert_mem_eq(out, "\0\0\0\1\0\0\0\x65\0\1\2\3\0\0\0\0", sizeof(out));
    memset(out + 12, 'x', 4); /* ignored */
    ok(px_frame_decode(out, &back));
    ck_assert(back.pindex == 1 && back.tag == 101 && back.nbytes == 0x010203);
    px_frame_encode(out, &largest);
    ok(px_frame_decode(out, &back));
    ck_assert(back.pindex == -1 && back.tag == UINT32_MAX &&
              back.nbytes == PX_MAX_FRAME_B);
    out[11]++;
    fails(px_frame_decode(out, &back), BAD_PARAM);
}

PX_TEST_MAIN("wire/hello", NULL, teardown)

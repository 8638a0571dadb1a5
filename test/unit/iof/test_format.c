/* SPDX-License-Identifier: BSD-3-Clause */
/* Directives of output and the resulting lines: for people, and for strict parsers. */
#include "core/iof/format.h"

#include <stdio.h>
#include <string.h>

#include "core/base/str.h"
#include "core/rt/process.h"
#include "core/types/number.h"
#include "pmix.h"
#include "px_test.h"

/* ---- directives ------------------------------------------------------------------ */

static const bool yes = true, no = false;

/* Members not given are false, or 250 ms. */
PX_TEST(directives_are_read_by_one_table)
{
    static const struct {
        const char *key;
        pmix_data_type_t type;
        uint64_t n;
        struct px_iof_way way;
    } rows[] = {{PMIX_IOF_OUTPUT_RAW, PMIX_BOOL, 1, {.raw = true}},
                {PMIX_IOF_XML_OUTPUT, PMIX_BOOL, 1, {.xml = true}},
                {TENON_IOF_JSON_OUTPUT, PMIX_BOOL, 1, {.json = true}},
                {PMIX_IOF_TAG_OUTPUT, PMIX_BOOL, 1, {.tag = true}},
                {PMIX_TAG_OUTPUT, PMIX_BOOL, 1, {.tag = true}},
                {PMIX_TAG_OUTPUT, PMIX_BOOL, 0, {.tag = false}},
                {PMIX_IOF_TAG_DETAILED_OUTPUT, PMIX_UNDEF, 0, {.tag_detailed = true}},
                {PMIX_IOF_TAG_FULLNAME_OUTPUT, PMIX_BOOL, 1, {.tag_full = true}},
                {PMIX_IOF_RANK_OUTPUT, PMIX_BOOL, 1, {.tag_rank = true}},
                {PMIX_IOF_TIMESTAMP_OUTPUT, PMIX_BOOL, 1, {.timed = true}},
                {PMIX_TIMESTAMP_OUTPUT, PMIX_BOOL, 1, {.timed = true}},
                {PMIX_IOF_MERGE_STDERR_STDOUT, PMIX_BOOL, 1, {.merged = true}},
                {PMIX_IOF_BUFFERING_SIZE,
                 PMIX_UINT32,
                 7,
                 {.gather_b = 7, .gather_ms = PX_IOF_FOR_EVER}},
                {PMIX_IOF_BUFFERING_TIME, PMIX_UINT32, 3, {.gather_ms = 3000}},
                {PMIX_IOF_BUFFERING_TIME, PMIX_INT, 0, {.gather_ms = 0}},
                {PMIX_IOF_CACHE_SIZE, PMIX_STRING, 0, {0}}}; /* a different attribute */

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_info_t info = {.value.type = rows[i].type};
        struct px_iof_way way = {.gather_ms = rows[i].way.gather_ms},
                          wanted = rows[i].way;

        px_str_copy(info.key, sizeof(info.key), rows[i].key);
        px_store_int(&info.value.data, px_type_find(rows[i].type)->size, rows[i].n);
        ok(px_iof_way_read(&way, &info, 1, NULL));
        ck_assert_msg(memcmp(&way, &wanted, sizeof(way)) == 0, "row %zu", i);
    }
}

/* A size alone waits without a limit, as the Standard defines, even if the parameter is
 * set; in either order, and in infos of two levels. */
PX_TEST(a_time_counts_beside_a_size)
{
    static const uint32_t seven = 7;
    static const char *const keys[] = {PMIX_IOF_BUFFERING_TIME,
                                       PMIX_IOF_BUFFERING_SIZE};

    ck_assert_uint_eq(px_iof_way_default().gather_ms, PX_IOF_FOR_EVER);
    for (int first = 0; first < 2; first++) {
        px_process.iof_gather_ms = 250;
        struct px_iof_way way = px_iof_way_default();

        ck_assert_uint_eq(way.gather_ms, 250);

        for (int i = 0; i < 2; i++) {
            PX_AUTO(px_infos) infos = {0};

            ok(px_infos_add(&infos, keys[first ^ i], &seven, PMIX_UINT32));
            ok(px_iof_way_read(&way, infos.v, infos.n, NULL));
            if (i == 0 && first == 1)
                ck_assert_uint_eq(way.gather_ms, PX_IOF_FOR_EVER);
        }
        ck_assert_uint_eq(way.gather_ms, 7000);
        ck_assert_uint_eq(way.gather_b, 7);
    }
}

PX_TEST(what_contradicts_or_makes_no_sense_is_named_and_changes_nothing)
{
    static const struct {
        const char *keys[2];
        const char *text;
    } rows[] = {{{PMIX_IOF_OUTPUT_RAW, PMIX_TAG_OUTPUT},
                 "PMIX_IOF_OUTPUT_RAW contradicts PMIX_IOF_TAG_OUTPUT"},
                {{PMIX_IOF_OUTPUT_RAW, PMIX_IOF_TIMESTAMP_OUTPUT},
                 "PMIX_IOF_OUTPUT_RAW contradicts PMIX_IOF_TIMESTAMP_OUTPUT"},
                {{PMIX_IOF_RANK_OUTPUT, PMIX_IOF_OUTPUT_RAW},
                 "PMIX_IOF_OUTPUT_RAW contradicts PMIX_IOF_RANK_OUTPUT"},
                {{PMIX_IOF_OUTPUT_RAW, PMIX_IOF_XML_OUTPUT},
                 "PMIX_IOF_OUTPUT_RAW contradicts PMIX_IOF_XML_OUTPUT"},
                {{TENON_IOF_JSON_OUTPUT, PMIX_IOF_OUTPUT_RAW},
                 "PMIX_IOF_OUTPUT_RAW contradicts TENON_IOF_JSON_OUTPUT"},
                {{TENON_IOF_JSON_OUTPUT, PMIX_IOF_XML_OUTPUT},
                 "PMIX_IOF_XML_OUTPUT contradicts TENON_IOF_JSON_OUTPUT"},
                {{PMIX_IOF_BUFFERING_SIZE, ""},
                 "cannot take PMIX_IOF_BUFFERING_SIZE: expected a number"},
                {{PMIX_IOF_OUTPUT_RAW, PMIX_IOF_MERGE_STDERR_STDOUT}, NULL},
                {{PMIX_IOF_XML_OUTPUT, PMIX_IOF_TAG_DETAILED_OUTPUT}, NULL},
                {{TENON_IOF_JSON_OUTPUT, PMIX_IOF_TIMESTAMP_OUTPUT}, NULL}};
    pmix_info_t text = {.key = PMIX_TAG_OUTPUT,
                        .value = {.type = PMIX_STRING, .data.string = (char *)"x"}};
    const struct px_iof_way none = {.gather_ms = 250};
    struct px_iof_way way = none;
    struct px_err err = {0};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) infos = {0};

        for (int k = 0; k < 2; k++)
            ok(px_infos_add(&infos, rows[i].keys[k], &yes, PMIX_BOOL));
        way = none;
        err = (struct px_err){0};
        ck_assert_int_eq(px_iof_way_read(&way, infos.v, infos.n, &err),
                         rows[i].text ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS);
        ck_assert_str_eq(err.text, rows[i].text ? rows[i].text : "");
        ck_assert_int_eq(memcmp(&way, &none, sizeof(way)) == 0, rows[i].text != NULL);
        ok(px_infos_add(&infos, rows[i].keys[0], &no, PMIX_BOOL)); /* withdrawn */
        if (i < 6)
            ok(px_iof_way_read(&way, infos.v, infos.n, NULL));
    }
    way = none;
    fails(px_iof_way_read(&way, &text, 1, &err), BAD_PARAM);
    ck_assert_int_eq(memcmp(&way, &none, sizeof(way)), 0);
}

/* ---- lines ----------------------------------------------------------------------- */

static const struct px_iof_origin origin = {.nspace = "a<b>\"&\\",
                                            .job = "7",
                                            .rank = 1,
                                            .channel = "stdout",
                                            .host = "h",
                                            .pid = 42};

#define X_HEAD "<stdout nspace=\"a&lt;b&gt;&quot;&amp;\\\" rank=\"1\""
#define J_HEAD "{\"nspace\":\"a<b>\\\"&\\\\\",\"rank\":1,\"channel\":\"stdout\""

static const struct px_iof_way ranked = {.tag_rank = true},
                               detailed = {.tag_detailed = true},
                               two_tags = {.tag = true, .tag_rank = true},
                               full = {.tag_full = true, .tag = true},
                               xml = {.xml = true},
                               xml_detailed = {.xml = true, .tag_detailed = true},
                               json = {.json = true},
                               json_detailed = {.json = true, .tag_detailed = true};

PX_TEST(each_line_is_shown_as_asked_for)
{
    static const struct {
        const struct px_iof_way *way;
        const char *in;
        size_t n, room;
        const char *out;
        size_t used;
    } rows[] = {{&ranked, "", 0, 100, "", 0},
                {&ranked, "a\n\nrest", 7, 100,
                 "[1]<stdout>:a\n[1]<stdout>:\n[1]<stdout>:rest\n", 7},
                {&ranked, "a\nb\nc", 5, 29, "[1]<stdout>:a\n[1]<stdout>:b\n", 4},
                {&ranked, "a\nb\n", 4, 13, "", 0},
                {&two_tags, "\xff\r\n", 3, 100, "[7,1]<stdout>:\xff\r\n", 3},
                {&full, "a", 1, 100, "[a<b>\"&\\,1]<stdout>:a\n", 1},
                {&detailed, "a", 1, 100, "[7,1][h:42]<stdout>:a\n", 1},
                {&xml, "a<\t\"&>\n\r\n", 9, 9000,
                 X_HEAD ">a&lt;&#9;&quot;&amp;&gt;&#10;</stdout>\n" X_HEAD
                        ">&#13;&#10;</stdout>\n",
                 9},
                {&xml_detailed, "\xc3\xa4", 2, 9000,
                 X_HEAD " host=\"h\" pid=\"42\">\xc3\xa4</stdout>\n", 2},
                {&xml, "\x1b[m\n", 4, 9000,
                 X_HEAD " encoding=\"base64\">G1ttCg==</stdout>\n", 4},
                {&xml, "\xef\xbf\xbf", 3, 9000,
                 X_HEAD " encoding=\"base64\">77+/</stdout>\n", 3},
                {&json, "a\"\\\x1b\n\xc3\xa4<", 8, 9000,
                 J_HEAD ",\"data\":\"a\\\"\\\\\\u001b\\n\"}\n" J_HEAD
                        ",\"data\":\"\xc3\xa4<\"}\n",
                 8},
                {&json_detailed, "\xc3", 1, 9000,
                 J_HEAD ",\"host\":\"h\",\"pid\":42,\"data64\":\"ww==\"}\n", 1},
                {&json, "\0a", 2, 9000, J_HEAD ",\"data64\":\"AGE=\"}\n", 2},
                {&json, "\xed\xa0\x80", 3, 9000, J_HEAD ",\"data64\":\"7aCA\"}\n", 3}};
    struct px_iof_format f;
    uint8_t out[9000];
    size_t used;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert(px_iof_format_make(&f, rows[i].way, &origin));
        size_t n = px_iof_format_apply(&f, (const uint8_t *)rows[i].in, rows[i].n,
                                       &used, out, rows[i].room);
        ck_assert_msg(n == strlen(rows[i].out) && memcmp(out, rows[i].out, n) == 0 &&
                          used == rows[i].used,
                      "row %zu: \"%.*s\", used %zu", i, (int)n, out, used);
    }
    for (int i = 0; i < 4; i++) { /* with host, with pid, with neither, with both */
        static const char *const heads[] = {
            "[a,1][h:?]<e>:", "[a,1][?:9]<e>:", "[a,1]<e>:", "[a,1][h:9]<e>:"};
        const struct px_iof_origin some = {.nspace = "a",
                                           .rank = 1,
                                           .channel = "e",
                                           .host = i % 3 ? NULL : "h",
                                           .pid = i % 2 ? 9 : 0};

        ck_assert(px_iof_format_make(&f, &detailed, &some));
        ck_assert_str_eq(f.head, heads[i]);
    }
    ck_assert(!px_iof_format_make(&f, &(struct px_iof_way){.raw = true}, &origin));
    ck_assert(!px_iof_format_make(&f, &(struct px_iof_way){.merged = true}, &origin));
}

/* Long names are truncated; the text around them is not. */
PX_TEST(a_head_is_whole_whatever_the_names)
{
    char name[PMIX_MAX_NSLEN + 1] = "", host[256] = "";
    const struct px_iof_origin longest = {.nspace = name,
                                          .rank = PMIX_RANK_UNDEF,
                                          .channel = "stddiag",
                                          .host = host,
                                          .pid = 4194304};
    static const struct px_iof_way ways[] = {
        {.tag_detailed = true, .timed = true},
        {.xml = true, .tag_detailed = true, .timed = true},
        {.json = true, .tag_detailed = true, .timed = true}};
    uint8_t out[PX_IOF_HEAD_MAX_B + 4];
    struct px_iof_format f;
    size_t used;

    memset(name, '"', sizeof(name) - 1);
    memset(host, 0xff, sizeof(host) - 1);
    for (size_t i = 0; i < PX_COUNT(ways); i++) {
        ck_assert(px_iof_format_make(&f, &ways[i], &longest));
        size_t n = px_iof_format_apply(&f, (const uint8_t *)"abcd", 4, &used, out,
                                       sizeof(out));
        ck_assert_uint_eq(used, 4);
        ck_assert_int_eq(out[n - 1], '\n');
        ck_assert_ptr_nonnull(memmem(out, n, i == 1 ? "</stddiag>" : "abcd", 4));
    }
}

/* ---- parsers --------------------------------------------------------------------- */

static const char parse[] =
    "import base64, json, re, sys, xml.etree.ElementTree as et\n"
    "stamp = re.compile(r'\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}[+-]\\d\\d:\\d\\d')\n"
    "for line in open(sys.argv[1], 'rb').read().split(b'\\n')[:-1]:\n"
    "    if sys.argv[2] == 'xml':\n"
    "        e = et.fromstring(line)\n"
    "        d, channel, text = e.attrib, e.tag, e.text or ''\n"
    "        data = base64.b64decode(text, validate=True) if 'encoding' in d else text.encode()\n"
    "    else:\n"
    "        d = json.loads(line.decode('utf-8', 'strict'))\n"
    "        channel = d['channel']\n"
    "        data = (base64.b64decode(d['data64'], validate=True) if 'data64' in d else\n"
    "                d['data'].encode())\n"
    "    assert channel == 'stdout' and int(d['rank']) == 1 and d['nspace'] == 'a<b>\"&\\\\', line\n"
    "    assert stamp.fullmatch(d['time']), line\n"
    "    sys.stdout.buffer.write(data)\n";

/* Makes lines of all kinds, one of them very long; parsers must return each byte. */
static size_t make_bytes(uint8_t *bytes, size_t n)
{
    static const char *const pieces[] = {
        "\n",   "plain text", "\xc3\xa4\xe2\x82\xac", "\xf0\x9f\x98\x80", "<&>\"'\\",
        "\t\r", "]]>",        "\x01\x1b\x7f",         "\xff\xfe",         "\xc2\x85"};
    uint64_t x = 1;
    size_t at = 0;

    while (at < n - 64) {
        x = x * 6364136223846793005u + 1442695040888963407u;
        const char *piece = pieces[(x >> 33) % PX_COUNT(pieces)];
        bool is_long = at > n / 2 && at < n - n / 8;

        if (is_long && strchr("\n\xff\x01", *piece))
            continue;
        memcpy(bytes + at, piece, strlen(piece));
        at += strlen(piece);
        if ((x >> 20) % 50 == 0)
            bytes[at++] = (uint8_t)(x >> 40);
        if (!is_long && (x >> 24) % 5 == 0)
            bytes[at++] = '\n';
    }
    return at;
}

PX_TEST_LOOP(strict_parsers_get_every_byte_back, 2)
{
    enum { N = 300000, ROOM = 65536 + PX_IOF_HEAD_MAX_B };
    const struct px_iof_way way = {.xml = _i == 0, .json = _i == 1, .timed = true};
    PX_AUTOFREE uint8_t *bytes = malloc(N), *out = malloc(ROOM), *got = malloc(N);
    PX_AUTOFREE char *command = NULL;
    struct px_iof_format f;
    size_t n = make_bytes(bytes, N), used = 0;
    FILE *file = fopen(px_test_path("out"), "we"), *parser;

    ck_assert(px_iof_format_make(&f, &way, &origin));
    for (size_t at = 0; at < n; at += used) {
        size_t len = px_iof_format_apply(&f, bytes + at, n - at, &used, out, ROOM);

        ck_assert(used > 0 && len <= ROOM);
        ck_assert_uint_eq(fwrite(out, 1, len, file), len);
    }
    fclose(file);
    file = fopen(px_test_path("parse.py"), "we");
    ck_assert_int_ge(fputs(parse, file), 0);
    fclose(file);
    command = px_strf("exec " PYTHON " '%s/parse.py' '%s/out' %s", px_test_dir(),
                      px_test_dir(), _i == 0 ? "xml" : "json");
    parser = popen(command, "re");
    ck_assert_ptr_nonnull(parser);
    ck_assert_uint_eq(fread(got, 1, N, parser), n);
    ck_assert_int_eq(pclose(parser), 0);
    ck_assert_mem_eq(got, bytes, n);
}

PX_TEST_MAIN("iof/format", NULL, NULL)

/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/wire/hello.h"
#include "px_test.h"

#include <string.h>

static struct px_uri uri;

PX_TEST(splits_namespace_rank_and_address)
{
    ok(px_uri_parse("srv.0;tcp4://127.0.0.1:4321", &uri));
    ck_assert_str_eq(uri.server.nspace, "srv");
    ck_assert_uint_eq(uri.server.rank, 0);
    ck_assert_str_eq(uri.address, "tcp4://127.0.0.1:4321");
}

PX_TEST(the_rank_follows_the_last_dot)
{
    ok(px_uri_parse("slurm.pmix.12.0.7;tcp4://127.0.0.1:1", &uri));
    ck_assert_str_eq(uri.server.nspace, "slurm.pmix.12.0");
    ck_assert_uint_eq(uri.server.rank, 7);
}

PX_TEST(accepts_any_scheme)
{
    ok(px_uri_parse("s.0;tcp6://[::1]:80", &uri));
    ck_assert_str_eq(uri.address, "tcp6://[::1]:80");
    ok(px_uri_parse("s.0;usock:///run/x y", &uri));
    ck_assert_str_eq(uri.address, "usock:///run/x y");
}

PX_TEST(accepts_ranks_printed_as_signed)
{
    ok(px_uri_parse("s.-2;tcp4://127.0.0.1:1", &uri));
    ck_assert_uint_eq(uri.server.rank, PMIX_RANK_WILDCARD);
    ok(px_uri_parse("s.4294967294;tcp4://127.0.0.1:1", &uri));
    ck_assert_uint_eq(uri.server.rank, PMIX_RANK_WILDCARD);
}

PX_TEST(accepts_the_longest_namespace_and_no_longer)
{
    char text[PMIX_MAX_NSLEN + 64];

    memset(text, 'n', PMIX_MAX_NSLEN);
    strcpy(text + PMIX_MAX_NSLEN, ".4294967295;tcp4://127.0.0.1:1");
    ok(px_uri_parse(text, &uri));
    ck_assert_uint_eq(strlen(uri.server.nspace), PMIX_MAX_NSLEN);

    memset(text, 'n', PMIX_MAX_NSLEN + 1);
    strcpy(text + PMIX_MAX_NSLEN + 1, ".0;tcp4://127.0.0.1:1");
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

PX_TEST(refuses_an_address_too_long_to_keep)
{
    char text[600];

    strcpy(text, "srv.0;usock://");
    memset(text + strlen(text), 'a', 300);
    text[14 + 300] = '\0';
    fails(px_uri_parse(text, &uri), BAD_PARAM);
}

PX_TEST_MAIN("wire/uri", NULL, NULL)

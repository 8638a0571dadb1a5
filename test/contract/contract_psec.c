/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of psec: a credential proves who made it, and nothing else is
 * accepted. */
#include "alloc_fail.h"
#include "contract.h"
#include "core/base/attr.h"
#include "tenon/psec.h"

#include <string.h>

static const struct px_psec_ops *ops(void)
{
    return contract.component->ops;
}

static uint8_t *own_credential(size_t *n)
{
    uint8_t *cred = NULL;

    ok(ops()->create(contract.self, &cred, n));
    ck_assert(*n == 0 || cred);
    return cred;
}

static struct px_ptl_peer own_peer(void)
{
    return (struct px_ptl_peer){.has_uid = true,
                                .has_gid = true,
                                .has_pid = true,
                                .uid = geteuid(),
                                .gid = getegid(),
                                .pid = getpid()};
}

/* Of a fresh one, as some credentials are good for one use. */
static pmix_status_t validate_own(uid_t uid, gid_t gid, const struct px_ptl_peer *peer)
{
    size_t n;
    PX_AUTOFREE uint8_t *cred = own_credential(&n);

    return ops()->validate(contract.self, cred, n, uid, gid, peer);
}

static pmix_status_t validate(const void *cred, size_t n)
{
    const struct px_ptl_peer peer = own_peer();

    return ops()->validate(contract.self, cred, n, geteuid(), getegid(), &peer);
}

START_TEST(own_credential_is_valid)
{
    const struct px_ptl_peer peer = own_peer();

    ok(validate_own(geteuid(), getegid(), &peer));
}
END_TEST

START_TEST(is_valid_where_the_kernel_attests_less)
{
    const struct px_ptl_peer uid_only = {.has_uid = true, .uid = geteuid()};
    const struct px_ptl_peer nothing = {.uid = geteuid() + 1, .gid = getegid() + 1};

    ok(validate_own(geteuid(), getegid(), &uid_only));
    ok(validate_own(geteuid(), getegid(), &nothing));
}
END_TEST

START_TEST(another_uid_is_refused)
{
    const struct px_ptl_peer peer = own_peer();

    ck_assert_int_eq(validate_own(geteuid() + 1, getegid(), &peer),
                     PMIX_ERR_INVALID_CRED);
    ck_assert_int_eq(validate_own((uid_t)-1, getegid(), &peer), PMIX_ERR_INVALID_CRED);
}
END_TEST

START_TEST(another_gid_is_refused_unless_any_will_do)
{
    const struct px_ptl_peer peer = own_peer();

    ck_assert_int_eq(validate_own(geteuid(), getegid() + 1, &peer),
                     PMIX_ERR_INVALID_CRED);
    ok(validate_own(geteuid(), (gid_t)-1, &peer));
}
END_TEST

START_TEST(what_the_kernel_contradicts_is_refused)
{
    struct px_ptl_peer other_uid = own_peer();
    struct px_ptl_peer other_gid = own_peer();

    other_uid.uid++;
    other_gid.gid++;
    ck_assert_int_eq(validate_own(geteuid(), getegid(), &other_uid),
                     PMIX_ERR_INVALID_CRED);
    ck_assert_int_eq(validate_own(geteuid(), getegid(), &other_gid),
                     PMIX_ERR_INVALID_CRED);
    ck_assert_int_eq(validate_own(geteuid(), (gid_t)-1, &other_gid),
                     PMIX_ERR_INVALID_CRED);
}
END_TEST

START_TEST(an_empty_one_is_refused)
{
    ck_assert_int_eq(validate(NULL, 0), PMIX_ERR_INVALID_CRED);
    ck_assert_int_eq(validate("", 0), PMIX_ERR_INVALID_CRED);
}
END_TEST

/* In memory of just that size, so that a sanitizer sees who reads on. */
START_TEST(a_short_one_is_refused)
{
    size_t n;
    PX_AUTOFREE uint8_t *cred = own_credential(&n);

    for (size_t len = 1; len < n; len++) {
        PX_AUTOFREE uint8_t *cut = malloc(len);
        memcpy(cut, cred, len);
        ck_assert_int_eq(validate(cut, len), PMIX_ERR_INVALID_CRED);
    }
}
END_TEST

START_TEST(a_long_one_is_refused)
{
    size_t n;
    PX_AUTOFREE uint8_t *cred = own_credential(&n);
    PX_AUTOFREE uint8_t *longer = calloc(2, n + 1);

    memcpy(longer, cred, n);
    ck_assert_int_eq(validate(longer, n + 1), PMIX_ERR_INVALID_CRED);
    memcpy(longer + n, cred, n);
    ck_assert_int_eq(validate(longer, 2 * n), PMIX_ERR_INVALID_CRED);
}
END_TEST

START_TEST(an_altered_one_is_refused)
{
    size_t n;
    PX_AUTOFREE uint8_t *cred = own_credential(&n);

    for (size_t bit = 0; bit < 8 * n; bit++) {
        cred[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(validate(cred, n), PMIX_ERR_INVALID_CRED);
        cred[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}
END_TEST

START_TEST(may_stand_at_any_address)
{
    size_t n;
    PX_AUTOFREE uint8_t *cred = own_credential(&n);
    PX_AUTOFREE uint8_t *at = malloc(n + 1);

    memcpy(at + 1, cred, n);
    ok(validate(at + 1, n));
}
END_TEST

START_TEST(creating_without_memory_fails)
{
    PX_TEST_NEEDS_ALLOC;

    for (unsigned nth = 1;; nth++) {
        uint8_t *cred = NULL;
        size_t n = 0;

        px_alloc_fail_at(nth);
        pmix_status_t rc = ops()->create(contract.self, &cred, &n);
        bool has_failed = px_alloc_fail_end();
        if (!has_failed) {
            ok(rc);
            free(cred);
            break;
        }
        ck_assert_int_eq(rc, PMIX_ERR_NOMEM);
        ck_assert_int_eq(px_alloc_balance(), 0);
        ck_assert(!cred && n == 0);
    }
}
END_TEST

size_t contract_psec(const TTest **tests)
{
    const TTest *const own[] = {
        own_credential_is_valid,
        is_valid_where_the_kernel_attests_less,
        another_uid_is_refused,
        another_gid_is_refused_unless_any_will_do,
        what_the_kernel_contradicts_is_refused,
        an_empty_one_is_refused,
        a_short_one_is_refused,
        a_long_one_is_refused,
        an_altered_one_is_refused,
        may_stand_at_any_address,
        creating_without_memory_fails,
    };

    memcpy(tests, own, sizeof(own));
    return PX_COUNT(own);
}

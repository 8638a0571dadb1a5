/* SPDX-License-Identifier: BSD-3-Clause */
/* The contract of psec: a credential proves the identity of its creator; every other
 * credential is refused. */
#include "alloc_fail.h"
#include "contract.h"
#include "core/base/attr.h"
#include "tenon/psec.h"

#include <string.h>

static const struct px_psec_ops *ops(void)
{
    return contract.component->ops;
}

/* A component that waits has no service here, unless the command line names one. */
static bool has_service(void)
{
    struct px_query answer = {0};

    return contract.component->query(contract.self, &answer) == PMIX_SUCCESS;
}

#define NEEDS_SERVICE PX_TEST_NEEDS(has_service(), "its service")

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

/* Creates and validates a new credential; some are valid only once. */
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

PX_TEST(is_valid_for_its_maker_and_refused_for_others)
{
    const uid_t uid = geteuid();
    const gid_t gid = getegid(), any = (gid_t)-1;
    const struct px_ptl_peer self = own_peer(),
                             only_uid = {.has_uid = true, .uid = uid},
                             nothing = {.uid = uid + 1, .gid = gid + 1};
    struct px_ptl_peer other_uid = self, other_gid = self;
    const struct {
        const char *name;
        uid_t uid;
        gid_t gid;
        const struct px_ptl_peer *peer;
        bool valid;
    } rows[] = {
        {"own", uid, gid, &self, true},
        {"the kernel attests a user only", uid, gid, &only_uid, true},
        {"the kernel attests nothing", uid, gid, &nothing, true},
        {"any group will do", uid, any, &self, true},
        {"another user", uid + 1, gid, &self, false},
        {"no user", (uid_t)-1, gid, &self, false},
        {"another group", uid, gid + 1, &self, false},
        {"the kernel contradicts the user", uid, gid, &other_uid, false},
        {"the kernel contradicts the group", uid, gid, &other_gid, false},
        {"the kernel contradicts any group", uid, any, &other_gid, false},
    };

    NEEDS_SERVICE;
    other_uid.uid++;
    other_gid.gid++;
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        pmix_status_t rc = validate_own(rows[i].uid, rows[i].gid, rows[i].peer);

        ck_assert_msg(rc == (rows[i].valid ? PMIX_SUCCESS : PMIX_ERR_INVALID_CRED),
                      "%s: %d", rows[i].name, rc);
    }
}

/* The copy has any address, and ends with its memory, so that a sanitizer detects reads
 * beyond its end. */
PX_TEST(another_length_is_refused)
{
    size_t n;

    NEEDS_SERVICE;
    PX_AUTOFREE uint8_t *cred = own_credential(&n);
    const bool is_once = ops()->flags & PX_PSEC_WAITS; /* valid only once */

    ck_assert_int_eq(validate(NULL, 0), PMIX_ERR_INVALID_CRED);
    for (size_t len = 0; len <= 2 * n; len += is_once && len == n - 1 ? 2 : 1) {
        PX_AUTOFREE uint8_t *other = malloc(len + 1);

        for (size_t i = 0; i < len; i++)
            other[i + 1] = cred[i % n];
        ck_assert_int_eq(validate(other + 1, len),
                         len == n ? PMIX_SUCCESS : PMIX_ERR_INVALID_CRED);
    }
}

/* The last bits of a text may mean nothing. */
PX_TEST(an_altered_one_is_refused)
{
    size_t n;

    NEEDS_SERVICE;
    PX_AUTOFREE uint8_t *cred = own_credential(&n);
    const size_t n_bits = 8 * (ops()->flags & PX_PSEC_WAITS ? n - 8 : n);

    for (size_t bit = 0; bit < n_bits; bit++) {
        cred[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(validate(cred, n), PMIX_ERR_INVALID_CRED);
        cred[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
}

/* ---- credentials for programs ------------------------------------------------------------ */

#define NEEDS_ISSUE                                          \
    PX_TEST_NEEDS(ops()->issue, "credentials for programs"); \
    NEEDS_SERVICE;                                           \
    PX_AUTOFREE uint8_t *cred = NULL;                        \
    size_t n = 0;                                            \
    uid_t uid = geteuid() + 1;                               \
    gid_t gid = getegid() + 1;                               \
    ok(ops()->issue(contract.self, geteuid(), getegid(), &cred, &n))

static pmix_status_t inspect(const uint8_t *cred, size_t n)
{
    uid_t uid;
    gid_t gid;

    return ops()->inspect(contract.self, cred, n, &uid, &gid);
}

PX_TEST(issue_and_inspect_come_together)
{
    ck_assert_int_eq(ops()->issue != NULL, ops()->inspect != NULL);
}

PX_TEST(an_issued_credential_proves_its_user)
{
    NEEDS_ISSUE;
    ok(ops()->inspect(contract.self, cred, n, &uid, &gid));
    ck_assert_uint_eq(uid, geteuid());
    ck_assert_uint_eq(gid, getegid());
}

PX_TEST(what_is_not_issued_proves_nothing)
{
    size_t other_n;

    NEEDS_ISSUE;
    const size_t n_bits = 8 * (ops()->flags & PX_PSEC_WAITS ? n - 8 : n);
    for (size_t bit = 0; bit < n_bits; bit++) {
        cred[bit / 8] ^= (uint8_t)(1 << bit % 8);
        ck_assert_int_eq(inspect(cred, n), PMIX_ERR_INVALID_CRED);
        cred[bit / 8] ^= (uint8_t)(1 << bit % 8);
    }
    for (size_t len = 0; len < n; len++) {
        PX_AUTOFREE uint8_t *part = malloc(len + 1);

        memcpy(part, cred, len);
        ck_assert_int_eq(inspect(part, len), PMIX_ERR_INVALID_CRED);
    }
    if (ops()->flags & PX_PSEC_WAITS)
        return; /* its service makes one kind of credentials */
    PX_AUTOFREE uint8_t *claim = own_credential(&other_n);
    ck_assert_int_eq(inspect(claim, other_n), PMIX_ERR_INVALID_CRED);
    ck_assert_int_eq(validate(cred, n), PMIX_ERR_INVALID_CRED);
    contract_close(); /* another process has another key */
    ok(contract_open());
    ck_assert_int_eq(inspect(cred, n), PMIX_ERR_INVALID_CRED);
    (void)uid;
    (void)gid;
}

PX_TEST(an_issued_credential_expires)
{
    PX_TEST_NEEDS(contract_has_param("lifetime"), "a parameter for the lifetime");
    ok(contract_reopen("lifetime", "20ms"));
    NEEDS_ISSUE;
    for (pmix_status_t rc = PMIX_SUCCESS; !rc;) {
        rc = ops()->inspect(contract.self, cred, n, &uid, &gid);
        ck_assert(rc == PMIX_SUCCESS || rc == PMIX_ERR_INVALID_CRED);
    }
}

PX_TEST(creating_without_memory_fails)
{
    PX_TEST_NEEDS_ALLOC;
    NEEDS_SERVICE;
    PX_TEST_NEEDS(!(ops()->flags & PX_PSEC_WAITS), "memory of its own");

    for (unsigned nth = 0; px_alloc_next(&nth);) {
        uint8_t *cred = NULL;
        size_t n = 0;
        pmix_status_t rc = ops()->create(contract.self, &cred, &n);

        if (px_alloc_check(rc))
            ck_assert(!cred && n == 0);
        free(cred);
    }
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The journal of a server: records that are all there or not at all, and what it says of things the server
 * makes. */
#include "core/base/path.h"
#include "core/reclaim/rmtree.h"
#include "px_test.h"
#include "session_scene.h"

#include <sys/resource.h>

/* ---- records ------------------------------------------------------------------------------------------ */

static struct px_journal_record item(uint64_t scope, uint32_t slot, const char *path)
{
    return (struct px_journal_record){.type = PX_JOURNAL_ITEM,
                                      .kind = PX_RM_FILE,
                                      .scope = scope,
                                      .slot = slot,
                                      .uid = geteuid(),
                                      .gid = getegid(),
                                      .path = path};
}

START_TEST(several_records_are_all_there_in_order)
{
    struct px_journal_record r[3] = {item(1, 0, "/a/1"), item(1, 1, "/a/2"),
                                     item(2, 0, "/a/3")};
    struct entry e[8];

    session_start(session_top, false);
    size_t before = journal(e, 8);
    ck_assert_int_eq(px_session_record_all(server(), r, 3), PMIX_SUCCESS);
    ck_assert_uint_eq(journal(e, 8), before + 3);
    ck_assert_str_eq(e[before].path, "/a/1");
    ck_assert_str_eq(e[before + 2].path, "/a/3");
    ck_assert_uint_eq(e[before + 2].scope, 2);
    PMIx_server_finalize();
}
END_TEST

START_TEST(a_record_that_does_not_fit_the_disk_leaves_no_trace)
{
    struct rlimit was, limit;
    struct px_journal_record r[40];
    struct entry e[64];
    struct stat st;

    for (size_t i = 0; i < PX_COUNT(r); i++)
        r[i] = item(1, (uint32_t)i, "/some/file/of/somebody");
    session_start(session_top, false);
    size_t before = journal(e, 64);
    PX_AUTOFREE char *path = px_path_join(server()->dir, PX_JOURNAL_NAME);
    ck_assert_int_eq(stat(path, &st), 0);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = was;
    limit.rlim_cur = (rlim_t)st.st_size + 100; /* in the middle of the second */
    (void)setrlimit(RLIMIT_FSIZE, &limit); /* Check writes files, too: no asserts now */
    pmix_status_t part = px_session_record_all(server(), r, PX_COUNT(r));
    limit.rlim_cur = (rlim_t)st.st_size; /* no byte: with a signal, which nobody sees */
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    pmix_status_t none = px_session_record(server(), r);
    (void)setrlimit(RLIMIT_FSIZE, &was);
    ck_assert_int_eq(part, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(none, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_uint_eq(journal(e, 64), before);
    ck_assert_int_eq(px_session_record_all(server(), r, PX_COUNT(r)), PMIX_SUCCESS);
    ck_assert_uint_eq(journal(e, 64), before + PX_COUNT(r));
    PMIx_server_finalize();
}
END_TEST

/* On the loop: the component is told of the new one. */
static void do_compact(struct px_call *call, void *each)
{
    px_session_compact(server(), each ? *(void (**)(struct px_server *))each : NULL);
    px_call_done(call, PMIX_SUCCESS);
}

static void compact(void (*each)(struct px_server *srv))
{
    (void)px_call(px_process.loop, do_compact, each ? &each : NULL);
}

static void keep_one(struct px_server *srv)
{
    struct px_journal_record r = item(7, 3, "/kept");

    ck_assert_int_eq(px_session_record(srv, &r), PMIX_SUCCESS);
}

START_TEST(a_journal_full_of_what_is_void_is_written_anew)
{
    struct px_journal_record r = item(7, 3, "/kept"), none = r;
    struct entry e[16];
    uint32_t slot = PX_SESSION_NEW;

    none.type = PX_JOURNAL_NONE;
    none.path = "";
    session_start(session_top, false);
    ck_assert_int_eq(px_session_made(server(), at("mine"), PX_RM_FILE, 0, NULL, &slot),
                     PMIX_SUCCESS);
    compact(keep_one);
    ck_assert_uint_eq(journal(e, 16), 2); /* not worth it yet */
    for (int i = 0; i < 3000; i++) {
        ck_assert_int_eq(px_session_record(server(), &r), PMIX_SUCCESS);
        ck_assert_int_eq(px_session_record(server(), &none), PMIX_SUCCESS);
    }
    compact(keep_one);
    ck_assert_uint_eq(journal(e, 16), 3);
    ck_assert_uint_eq(e[0].type, PX_JOURNAL_HEAD);
    ck_assert_str_eq(e[1].path, at("mine"));
    ck_assert_uint_eq(e[1].scope, 0);
    ck_assert_uint_eq(e[1].slot, slot);
    ck_assert_str_eq(e[2].path, "/kept");
    ck_assert_int_eq(px_session_record(server(), &r), PMIX_SUCCESS);
    ck_assert_uint_eq(journal(e, 16), 4);
    PMIx_server_finalize();
}
END_TEST

START_TEST(a_journal_that_cannot_be_written_anew_stays)
{
    struct px_journal_record r = item(7, 3, "/kept");
    struct rlimit was, limit;
    static struct entry e[4096];

    session_start(session_top, false);
    for (int i = 0; i < 2000; i++)
        ck_assert_int_eq(px_session_record(server(), &r), PMIX_SUCCESS);
    size_t before = journal(e, 4096);
    ck_assert_int_eq(getrlimit(RLIMIT_FSIZE, &was), 0);
    limit = was;
    limit.rlim_cur = 16;
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    compact(NULL);
    (void)setrlimit(RLIMIT_FSIZE, &was);
    ck_assert_uint_eq(journal(e, 4096), before);
    ck_assert_int_eq(px_session_record(server(), &r), PMIX_SUCCESS);
    ck_assert_uint_eq(journal(e, 4096), before + 1);
    PMIx_server_finalize();
}
END_TEST

/* ---- items -------------------------------------------------------------------------------------------- */

START_TEST(an_item_gets_its_identity_in_the_same_slot)
{
    struct entry e[16];
    struct stat st;
    uint32_t slot = PX_SESSION_NEW, other = PX_SESSION_NEW;

    session_start(session_top, false);
    ck_assert_int_eq(px_session_made(server(), at("f"), PX_RM_FILE, 0, NULL, &slot), 0);
    touch(at("f"));
    ck_assert_int_eq(lstat(at("f"), &st), 0);
    uint32_t was = slot;
    ck_assert_int_eq(px_session_made(server(), at("f"), PX_RM_FILE, 0, &st, &slot), 0);
    ck_assert_uint_eq(slot, was);
    ck_assert_int_eq(px_session_made(server(), at("g"), PX_RM_FILE, 0, NULL, &other),
                     0);
    ck_assert_uint_ne(other, slot);
    px_session_unmade(server(), other);
    size_t n = journal(e, 16);
    ck_assert_uint_eq(entry_of(e, n, at("f"))->flags, PX_RM_SAME | PX_RM_ANY_GID);
    ck_assert_uint_eq(e[n - 1].type, PX_JOURNAL_NONE);
    ck_assert_uint_eq(e[n - 1].slot, other);
    uint32_t again = PX_SESSION_NEW;
    ck_assert_int_eq(px_session_made(server(), at("h"), PX_RM_FILE, 0, NULL, &again),
                     0);
    ck_assert_uint_eq(again, other); /* slots are used again */
    PMIx_server_finalize();
    ck_assert(!is_there(at("f")));
}
END_TEST

PX_TEST_MAIN_WITH("server/session_journal", session_setup, session_teardown,
                  several_records_are_all_there_in_order,
                  a_record_that_does_not_fit_the_disk_leaves_no_trace,
                  a_journal_full_of_what_is_void_is_written_anew,
                  a_journal_that_cannot_be_written_anew_stays,
                  an_item_gets_its_identity_in_the_same_slot)

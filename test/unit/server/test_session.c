/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server makes in the file system, and that all of it goes: the private folder, folders of the
 * session. Its journal is in test_session_journal.c. */
#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"
#include "px_test.h"
#include "seccomp.h"
#include "session_scene.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* The C library's, but things of that name are removed only at the second attempt. */
static const char *reluctant;

int unlinkat(int at, const char *name, int flags)
{
    if (reluctant && strcmp(name, reluctant) == 0) {
        reluctant = NULL;
        errno = EIO;
        return -1;
    }
    return (int)syscall(SYS_unlinkat, at, name, flags);
}

/* ---- the folder ------------------------------------------------------------------------------------- */

START_TEST(the_private_folder_is_private_locked_and_has_a_journal)
{
    struct entry e[8];
    struct stat st;

    session_start(session_top, false);
    ck_assert_ptr_nonnull(server()->dir);
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    ck_assert_int_eq(lstat(server()->dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    ck_assert_uint_eq(st.st_uid, geteuid());
    PX_AUTOCLOSE int fd = open(server()->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), -1);
    ck_assert_int_eq(errno, EWOULDBLOCK);
    PX_AUTOFREE char *file = px_path_join(server()->dir, PX_JOURNAL_NAME);
    ck_assert_int_eq(lstat(file, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert(px_session_can_record(server()));

    ck_assert_uint_ge(journal(e, 8), 1);
    ck_assert_uint_eq(e[0].type, PX_JOURNAL_HEAD);
    ck_assert_uint_eq(e[0].x, (uint64_t)getpid());
    ck_assert_uint_eq(e[0].y, px_journal_start_time(getpid()));
    ck_assert_ptr_nonnull(strchr(e[0].path, ' '));
    PMIx_server_finalize();
    ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), 0);
}
END_TEST

START_TEST(bits_that_folders_inherit_do_not_make_it_less_private)
{
    struct stat st;

    ck_assert_int_eq(chmod(session_top, 02777), 0);
    session_start(session_top, false);
    ck_assert_int_eq(lstat(server()->dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    PMIx_server_finalize();
}
END_TEST

START_TEST(what_others_put_into_the_private_folder_goes_with_it)
{
    session_start(session_top, false);
    PX_AUTOFREE char *dir = px_path_join(server()->dir, "sub");
    PX_AUTOFREE char *file = px_path_join(dir, "file");
    ck_assert_int_eq(mkdir(dir, 0700), 0);
    touch(file);
    PMIx_server_finalize();
}
END_TEST

START_TEST(a_link_in_the_private_folder_is_not_followed)
{
    ck_assert_int_eq(mkdir(at("outside"), 0700), 0);
    touch(at("outside/file"));
    session_start(session_top, false);
    PX_AUTOFREE char *link = px_path_join(server()->dir, "link");
    ck_assert_int_eq(symlink(at("outside"), link), 0);
    PMIx_server_finalize();
    ck_assert_int_eq(unlink(at("outside/file")), 0);
    ck_assert_int_eq(rmdir(at("outside")), 0);
}
END_TEST

START_TEST(its_path_has_no_links)
{
    ck_assert_int_eq(mkdir(at("real"), 0700), 0);
    ck_assert_int_eq(symlink("real", at("link")), 0);
    session_start(at("link"), false);
    ck_assert(px_str_starts(server()->dir, at("real/" PX_JOURNAL_DIR)));
    PMIx_server_finalize();
    ck_assert_int_eq(unlink(at("link")), 0);
    ck_assert_int_eq(rmdir(at("real")), 0);
}
END_TEST

START_TEST(where_the_directory_is_absent_the_systems_has_the_folder)
{
    session_start(at("absent/deep"), false);
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    ck_assert(!is_there(at("absent"))); /* nothing has to go there yet */
    PMIx_server_finalize();
}
END_TEST

START_TEST(where_no_directory_is_there_tmp_has_the_folder)
{
    setenv("TMPDIR", at("absent"), 1);
    session_start(NULL, false);
    ck_assert(px_str_starts(server()->dir, "/tmp/" PX_JOURNAL_DIR));
    PX_AUTOFREE char *dir = strdup(server()->dir);
    PMIx_server_finalize();
    ck_assert(!is_there(dir));
}
END_TEST

START_TEST(a_file_in_place_of_the_directory_is_no_reason_to_fail)
{
    touch(at("file"));
    session_start(at("file"), false);
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    PMIx_server_finalize();
    ck_assert_int_eq(unlink(at("file")), 0);
}
END_TEST

START_TEST(servers_come_and_go)
{
    for (int i = 0; i < 50; i++) {
        session_start(session_top, false);
        ck_assert(px_session_can_record(server()));
        PMIx_server_finalize();
    }
}
END_TEST

static void try_without(long call, int errnum, bool folder)
{
    struct entry e[8];

    ck_assert(px_test_deny(call, errnum));
    session_start(session_top, false);
    ck_assert(!folder || journal(e, 8) > 0);
    ck_assert(!folder ||
              (e->type == PX_JOURNAL_HEAD && e->flags == PX_JOURNAL_UNLOCKED));
    ck_assert_int_eq(server()->dir != NULL, folder);
    ck_assert_int_eq(px_session_can_record(server()), folder);
    ck_assert_ptr_nonnull(strstr(server()->uri, ";tcp4://"));
    PMIx_server_finalize();
}

START_TEST(without_locks_there_is_a_folder_and_its_journal_says_so)
{
    PX_TEST_NEEDS(px_test_deny(SYS_personality, ENOSYS), "seccomp");
    try_without(SYS_flock, ENOLCK, true);
}
END_TEST

#ifdef SYS_mkdir
enum { CALL_MKDIR = SYS_mkdir };
#else
enum { CALL_MKDIR = SYS_mkdirat };
#endif

START_TEST(without_a_folder_there_is_tcp)
{
    PX_TEST_NEEDS(px_test_deny(SYS_personality, ENOSYS), "seccomp");
    try_without(CALL_MKDIR, EROFS, false);
}
END_TEST

/* ---- folders ------------------------------------------------------------------------------------------ */

START_TEST(absent_parents_are_made_and_removed)
{
    struct entry e[32];
    struct stat st;

    session_start(at("a/b/c"), false);
    ck_assert_int_eq(px_session_make_dir(server(), at("a/b/c"), 0700, NULL),
                     PMIX_SUCCESS);
    ck_assert_int_eq(lstat(at("a/b/c"), &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    size_t n = journal(e, 32);
    const struct entry *c = entry_of(e, n, at("a/b/c"));
    ck_assert_uint_eq(c->flags, PX_RM_SAME | PX_RM_RECURSE | PX_RM_ANY_GID);
    ck_assert_uint_eq(c->x, st.st_dev);
    ck_assert_uint_eq(c->y, st.st_ino);
    ck_assert_uint_eq(entry_of(e, n, at("a"))->flags,
                      PX_RM_SAME | PX_RM_EMPTY | PX_RM_ANY_GID);
    touch(at("a/b/c/file")); /* in the session's own folder */
    ck_assert_int_eq(mkdir(at("a/b/c/dir"), 0700), 0);
    touch(at("a/b/c/dir/file"));
    PMIx_server_finalize();
    ck_assert(!is_there(at("a")));
}
END_TEST

START_TEST(what_does_not_go_at_once_is_tried_again)
{
    session_start(at("a/b"), false);
    ck_assert_int_eq(px_session_make_dir(server(), at("a/b"), 0700, NULL),
                     PMIX_SUCCESS);
    reluctant = "b";
    PMIx_server_finalize();
    ck_assert_ptr_null(reluctant);
    ck_assert(!is_there(at("a")));
}
END_TEST

START_TEST(what_there_is_no_memory_to_remove_is_left_to_the_janitor)
{
    PX_TEST_NEEDS(px_test_deny(SYS_personality, ENOSYS), "seccomp");
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    session_start(at("a/b"), false);
    PX_TEST_NEEDS(px_session_cleaner(server()), "a janitor");
    ck_assert_int_eq(px_session_make_dir(server(), at("a/b"), 0700, NULL),
                     PMIX_SUCCESS);
    ck_assert(px_test_deny(SYS_mmap, ENOMEM));
    PMIx_server_finalize();
    for (uint64_t until = px_clock_ms() + 10000;
         is_there(at("a")) && px_clock_ms() < until;)
        usleep(1000);
    ck_assert(!is_there(at("a")));
    for (uint64_t until = px_clock_ms() + 10000;
         rmdir(session_top) < 0 && px_clock_ms() < until;)
        usleep(1000);
    ck_assert_int_eq(mkdir(session_top, 0700), 0);
}
END_TEST

START_TEST(the_sessions_own_goes_as_a_whole_as_a_parent_too)
{
    session_start(at("a/b"), false);
    ck_assert_int_eq(px_session_make_dir(server(), at("a/b/c/d"), 0700, NULL),
                     PMIX_SUCCESS);
    touch(at("a/b/file"));
    touch(at("a/b/c/file"));
    PMIx_server_finalize();
    ck_assert(!is_there(at("a")));
}
END_TEST

START_TEST(a_parent_with_something_of_others_stays)
{
    session_start(at("a/b"), false);
    ck_assert_int_eq(px_session_make_dir(server(), at("a/b"), 0700, NULL),
                     PMIX_SUCCESS);
    touch(at("a/others"));
    ck_assert_int_eq(mkdir(at("a/empty"), 0700), 0);
    PMIx_server_finalize();
    ck_assert(!is_there(at("a/b")));
    ck_assert_int_eq(unlink(at("a/others")), 0);
    ck_assert_int_eq(rmdir(at("a/empty")), 0);
    ck_assert_int_eq(rmdir(at("a")), 0);
}
END_TEST

START_TEST(a_directory_that_was_there_is_not_removed)
{
    ck_assert_int_eq(mkdir(at("host"), 0700), 0);
    session_start(at("host"), false);
    ck_assert_int_eq(px_session_make_dir(server(), at("host"), 0700, NULL),
                     PMIX_SUCCESS);
    ck_assert_int_eq(px_session_make_dir(server(), at("host/new"), 0700, NULL),
                     PMIX_SUCCESS);
    PMIx_server_finalize();
    ck_assert(!is_there(at("host/new")));
    ck_assert_int_eq(rmdir(at("host")), 0);
}
END_TEST

START_TEST(a_directory_that_took_the_place_of_ours_stays)
{
    session_start(at("made"), false);
    ck_assert_int_eq(px_session_make_dir(server(), at("made"), 0700, NULL),
                     PMIX_SUCCESS);
    ck_assert_int_eq(rename(at("made"), at("moved")), 0);
    ck_assert_int_eq(mkdir(at("made"), 0700), 0);
    touch(at("made/file"));
    PMIx_server_finalize();
    ck_assert_int_eq(unlink(at("made/file")), 0);
    ck_assert_int_eq(rmdir(at("made")), 0);
    ck_assert_int_eq(rmdir(at("moved")), 0);
}
END_TEST

START_TEST(with_rmclean_the_host_removes_the_directories)
{
    struct entry e[32];

    session_start(at("made/deep"), true);
    ck_assert_int_eq(px_session_make_dir(server(), at("made/deep"), 0700, NULL),
                     PMIX_SUCCESS);
    size_t n = journal(e, 32);
    for (size_t i = 0; i < n; i++) /* nor does anybody else if we are killed */
        ck_assert_str_ne(e[i].path, at("made/deep"));
    PMIx_server_finalize();
    ck_assert_int_eq(rmdir(at("made/deep")), 0);
    ck_assert_int_eq(rmdir(at("made")), 0);
}
END_TEST

START_TEST(bad_paths_are_refused)
{
    struct px_err err = {0};

    session_start(session_top, false);
    ck_assert_int_eq(px_session_make_dir(server(), "relative", 0700, &err),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(px_session_make_dir(server(), at("x/../y"), 0700, &err),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_nonnull(strstr(err.text, "x/../y"));
    touch(at("file"));
    ck_assert_int_ne(px_session_make_dir(server(), at("file/dir"), 0700, &err),
                     PMIX_SUCCESS);
    ck_assert_int_eq(symlink("nowhere", at("dangling")), 0);
    ck_assert_int_ne(px_session_make_dir(server(), at("dangling"), 0700, &err),
                     PMIX_SUCCESS);
    ck_assert(!is_there(at("nowhere")));
    PMIx_server_finalize();
    ck_assert_int_eq(unlink(at("file")), 0);
    ck_assert_int_eq(unlink(at("dangling")), 0);
}
END_TEST

START_TEST(through_a_link_the_real_directory_is_noted)
{
    struct entry e[32];

    ck_assert_int_eq(mkdir(at("real"), 0700), 0);
    ck_assert_int_eq(symlink("real", at("link")), 0);
    session_start(session_top, false);
    ck_assert_int_eq(px_session_make_dir(server(), at("link/a/b"), 0700, NULL),
                     PMIX_SUCCESS);
    size_t n = journal(e, 32);
    (void)entry_of(e, n, at("real/a/b"));
    PMIx_server_finalize();
    ck_assert(!is_there(at("real/a")));
    ck_assert_int_eq(unlink(at("link")), 0);
    ck_assert_int_eq(rmdir(at("real")), 0);
}
END_TEST

PX_TEST_MAIN_WITH("server/session", session_setup, session_teardown,
                  the_private_folder_is_private_locked_and_has_a_journal,
                  bits_that_folders_inherit_do_not_make_it_less_private,
                  what_others_put_into_the_private_folder_goes_with_it,
                  a_link_in_the_private_folder_is_not_followed, its_path_has_no_links,
                  where_the_directory_is_absent_the_systems_has_the_folder,
                  where_no_directory_is_there_tmp_has_the_folder,
                  a_file_in_place_of_the_directory_is_no_reason_to_fail,
                  servers_come_and_go,
                  without_locks_there_is_a_folder_and_its_journal_says_so,
                  without_a_folder_there_is_tcp, absent_parents_are_made_and_removed,
                  what_does_not_go_at_once_is_tried_again,
                  what_there_is_no_memory_to_remove_is_left_to_the_janitor,
                  the_sessions_own_goes_as_a_whole_as_a_parent_too,
                  a_parent_with_something_of_others_stays,
                  a_directory_that_was_there_is_not_removed,
                  a_directory_that_took_the_place_of_ours_stays,
                  with_rmclean_the_host_removes_the_directories, bad_paths_are_refused,
                  through_a_link_the_real_directory_is_noted)

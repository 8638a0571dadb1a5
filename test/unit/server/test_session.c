/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a server makes, and their removal: the private folder, folders of the session, and the
 * journal. The journal has several records completely or not at all. */
#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"
#include "fake_host.h"
#include "px_test.h"
#include "seccomp.h"
#include "session_scene.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* Replaces unlinkat of the C library. The removal of a file with this name fails once. */
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

PX_TEST(the_private_folder_is_private_locked_and_has_a_journal)
{
    struct entry e[8];
    struct stat st;

    session_start(session_top, false);
    ck_assert_ptr_nonnull(server()->dir);
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    ok(lstat(server()->dir, &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    ck_assert_uint_eq(st.st_uid, geteuid());
    PX_AUTOCLOSE int fd = open(server()->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), -1);
    ck_assert_int_eq(errno, EWOULDBLOCK);
    PX_AUTOFREE char *file = px_path_join(server()->dir, PX_JOURNAL_NAME);
    ok(lstat(file, &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert(px_session_can_record(server()));

    ck_assert_uint_ge(journal(e, 8), 1);
    ck_assert_uint_eq(e[0].type, PX_JOURNAL_HEAD);
    ck_assert_uint_eq(e[0].x, (uint64_t)getpid());
    ck_assert_uint_eq(e[0].y, px_journal_start_time(getpid()));
    ck_assert_ptr_nonnull(strchr(e[0].path, ' '));
    PMIx_server_finalize();
    ok(flock(fd, LOCK_EX | LOCK_NB));
}

PX_TEST(bits_that_folders_inherit_do_not_make_it_less_private)
{
    struct stat st;

    ok(chmod(session_top, 02777));
    session_start(session_top, false);
    ok(lstat(server()->dir, &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
}

PX_TEST(what_others_put_into_the_private_folder_goes_with_it)
{
    session_start(session_top, false);
    PX_AUTOFREE char *dir = px_path_join(server()->dir, "sub");
    PX_AUTOFREE char *file = px_path_join(dir, "file");
    ok(mkdir(dir, 0700));
    touch(file);
}

PX_TEST(a_link_in_the_private_folder_is_not_followed)
{
    ok(mkdir(at("outside"), 0700));
    touch(at("outside/file"));
    session_start(session_top, false);
    PX_AUTOFREE char *link = px_path_join(server()->dir, "link");
    ok(symlink(at("outside"), link));
    PMIx_server_finalize();
    ok(unlink(at("outside/file")));
    ok(rmdir(at("outside")));
}

PX_TEST(its_path_has_no_links)
{
    ok(mkdir(at("real"), 0700));
    ok(symlink("real", at("link")));
    session_start(at("link"), false);
    ck_assert(px_str_starts(server()->dir, at("real/" PX_JOURNAL_DIR)));
    PMIx_server_finalize();
    ok(unlink(at("link")));
    ok(rmdir(at("real")));
}

PX_TEST(where_the_directory_is_absent_the_systems_has_the_folder)
{
    session_start(at("absent/deep"), false);
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    ck_assert(!is_there(at("absent"))); /* no file goes there yet */
}

PX_TEST(where_no_directory_is_there_tmp_has_the_folder)
{
    setenv("TMPDIR", at("absent"), 1);
    session_start(NULL, false);
    ck_assert(px_str_starts(server()->dir, "/tmp/" PX_JOURNAL_DIR));
    PX_AUTOFREE char *dir = strdup(server()->dir);
    PMIx_server_finalize();
    ck_assert(!is_there(dir));
}

PX_TEST(a_file_in_place_of_the_directory_is_no_reason_to_fail)
{
    touch(at("file"));
    session_start(at("file"), false);
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    PMIx_server_finalize();
    ok(unlink(at("file")));
}

PX_TEST(servers_come_and_go)
{
    for (int i = 0; i < 50; i++) {
        session_start(session_top, false);
        ck_assert(px_session_can_record(server()));
        PMIx_server_finalize();
    }
}

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

PX_TEST(without_locks_there_is_a_folder_and_its_journal_records_it)
{
    PX_TEST_NEEDS(px_test_deny(SYS_personality, ENOSYS), "seccomp");
    try_without(SYS_flock, ENOLCK, true);
}

#ifdef SYS_mkdir
enum { CALL_MKDIR = SYS_mkdir };
#else
enum { CALL_MKDIR = SYS_mkdirat };
#endif

PX_TEST(without_a_folder_there_is_tcp)
{
    PX_TEST_NEEDS(px_test_deny(SYS_personality, ENOSYS), "seccomp");
    try_without(CALL_MKDIR, EROFS, false);
}

/* ---- directories of the host -------------------------------------------------------------------------- */

static void start_with(const px_infos *infos)
{
    ok(PMIx_server_init((pmix_server_module_t *)&host_module, infos->v, infos->n));
}

/* Checks a value of the server itself, and of a job without a value of its own. Both are read for
 * all ranks and for one rank. */
static void get_is(const char *key, const char *wanted)
{
    static const pmix_nspace_t job = "job";
    pmix_proc_t procs[4];

    px_proc_set(&procs[0], server()->proc.nspace, server()->proc.rank);
    px_proc_set(&procs[1], server()->proc.nspace, PMIX_RANK_WILDCARD);
    px_proc_set(&procs[2], job, 0);
    px_proc_set(&procs[3], job, PMIX_RANK_WILDCARD);
    for (size_t i = 0; i < PX_COUNT(procs); i++) {
        pmix_value_t *v = NULL;
        int rc = PMIx_Get(&procs[i], key, NULL, 0, &v);

        ck_assert_msg(rc == 0, "%s of %s.%u: %d", key, procs[i].nspace, procs[i].rank,
                      rc);
        if (v->type == PMIX_BOOL)
            ck_assert_int_eq(v->data.flag, strcmp(wanted, "true") == 0);
        else
            ck_assert_str_eq(v->data.string, wanted);
        PMIx_Value_free(v, 1);
    }
}

PX_TEST(programs_learn_which_directories_the_host_gave)
{
    static const char *const keys[] = {PMIX_TMPDIR, PMIX_NSDIR, PMIX_SYSTEM_TMPDIR,
                                       PMIX_LAUNCHER_RENDEZVOUS_FILE};
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    for (size_t i = 0; i < PX_COUNT(keys); i++)
        ok(px_infos_add(&infos, keys[i], at(keys[i]), PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL));
    start_with(&infos);
    raw_add_job("job", 1, 0, geteuid());
    for (size_t i = 0; i < PX_COUNT(keys); i++)
        get_is(keys[i], at(keys[i]));
    get_is(PMIX_TDIR_RMCLEAN, "true");
    get_is(PMIX_SERVER_TMPDIR, at(PMIX_TMPDIR)); /* default: PMIX_TMPDIR */
}

PX_TEST(the_session_s_directory_is_the_server_s_unless_that_has_one)
{
    PX_AUTO(px_infos) infos = {0};

    ok(mkdir(at("session"), 0700));
    ok(mkdir(at("server"), 0700));
    ok(px_infos_add(&infos, PMIX_TMPDIR, at("session"), PMIX_STRING));
    start_with(&infos);
    ck_assert(px_str_starts(server()->dir, at("session/" PX_JOURNAL_DIR)));
    PMIx_server_finalize();
    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, at("server"), PMIX_STRING));
    start_with(&infos);
    ck_assert(px_str_starts(server()->dir, at("server/" PX_JOURNAL_DIR)));
    PMIx_server_finalize();
    ok(rmdir(at("session")));
    ok(rmdir(at("server")));
}

/* Starts a server and returns all that this process logs meanwhile. */
static const char *log_of_start(const px_infos *infos)
{
    static char text[4096];
    int fds[2], was = dup(STDERR_FILENO);

    ok(pipe2(fds, O_CLOEXEC | O_NONBLOCK));
    ck_assert_int_ge(dup2(fds[1], STDERR_FILENO), 0);
    start_with(infos);
    ck_assert_int_ge(dup2(was, STDERR_FILENO), 0);
    ssize_t n = read(fds[0], text, sizeof(text) - 1);
    text[n > 0 ? n : 0] = '\0';
    close(was);
    close(fds[0]);
    close(fds[1]);
    return text;
}

PX_TEST(a_directory_that_is_none_gets_a_line)
{
    static const char *const keys[] = {PMIX_SERVER_TMPDIR, PMIX_SYSTEM_TMPDIR,
                                       PMIX_TMPDIR, PMIX_NSDIR};
    const char *text;
    int one = 1;

    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        for (int empty = 0; empty < 2; empty++) {
            PX_AUTO(px_infos) infos = {0};

            ok(empty ? px_infos_add(&infos, keys[i], "", PMIX_STRING)
                     : px_infos_add(&infos, keys[i], &one, PMIX_INT));
            text = log_of_start(&infos);
            ck_assert_msg(strstr(text, keys[i]) &&
                              strstr(text, empty ? "it is empty" : "no string"),
                          "%s", text);
            ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
            PMIx_server_finalize();
        }
    }
}

/* ---- folders ------------------------------------------------------------------------------------------ */

PX_TEST(absent_parents_are_made_and_removed)
{
    struct entry e[32];
    struct stat st;

    session_start(at("a/b/c"), false);
    ok(px_made_dir(server(), at("a/b/c"), 0700, NULL));
    ok(lstat(at("a/b/c"), &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    size_t n = journal(e, 32);
    const struct entry *c = entry_of(e, n, at("a/b/c"));
    ck_assert_uint_eq(c->flags, PX_RM_SAME | PX_RM_RECURSE | PX_RM_ANY_GID);
    ck_assert_uint_eq(c->x, st.st_dev);
    ck_assert_uint_eq(c->y, st.st_ino);
    ck_assert_uint_eq(entry_of(e, n, at("a"))->flags,
                      PX_RM_SAME | PX_RM_EMPTY | PX_RM_ANY_GID);
    touch(at("a/b/c/file")); /* in the session's own folder */
    ok(mkdir(at("a/b/c/dir"), 0700));
    touch(at("a/b/c/dir/file"));
    PMIx_server_finalize();
    ck_assert(!is_there(at("a")));
}

PX_TEST(what_does_not_go_at_once_is_tried_again)
{
    session_start(at("a/b"), false);
    ok(px_made_dir(server(), at("a/b"), 0700, NULL));
    reluctant = "b";
    PMIx_server_finalize();
    ck_assert_ptr_null(reluctant);
    ck_assert(!is_there(at("a")));
}

PX_TEST(what_there_is_no_memory_to_remove_is_left_to_the_janitor)
{
    PX_TEST_NEEDS(px_test_deny(SYS_personality, ENOSYS), "seccomp");
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    session_start(at("a/b"), false);
    PX_TEST_NEEDS(server()->part.session->cleaner, "a janitor");
    ok(px_made_dir(server(), at("a/b"), 0700, NULL));
    ck_assert(px_test_deny(SYS_mmap, ENOMEM));
    PMIx_server_finalize();
    for (uint64_t until = px_clock_ms() + 10000;
         is_there(at("a")) && px_clock_ms() < until;)
        usleep(1000);
    ck_assert(!is_there(at("a")));
    for (uint64_t until = px_clock_ms() + 10000;
         rmdir(session_top) < 0 && px_clock_ms() < until;)
        usleep(1000);
    ok(mkdir(session_top, 0700));
}

PX_TEST(the_sessions_own_goes_as_a_whole_as_a_parent_too)
{
    session_start(at("a/b"), false);
    ok(px_made_dir(server(), at("a/b/c/d"), 0700, NULL));
    touch(at("a/b/file"));
    touch(at("a/b/c/file"));
    PMIx_server_finalize();
    ck_assert(!is_there(at("a")));
}

PX_TEST(a_parent_with_something_of_others_stays)
{
    session_start(at("a/b"), false);
    ok(px_made_dir(server(), at("a/b"), 0700, NULL));
    touch(at("a/others"));
    ok(mkdir(at("a/empty"), 0700));
    PMIx_server_finalize();
    ck_assert(!is_there(at("a/b")));
    ok(unlink(at("a/others")));
    ok(rmdir(at("a/empty")));
    ok(rmdir(at("a")));
}

PX_TEST(a_directory_that_was_there_is_not_removed)
{
    ok(mkdir(at("host"), 0700));
    session_start(at("host"), false);
    ok(px_made_dir(server(), at("host"), 0700, NULL));
    ok(px_made_dir(server(), at("host/new"), 0700, NULL));
    PMIx_server_finalize();
    ck_assert(!is_there(at("host/new")));
    ok(rmdir(at("host")));
}

PX_TEST(a_directory_that_took_the_place_of_ours_stays)
{
    session_start(at("made"), false);
    ok(px_made_dir(server(), at("made"), 0700, NULL));
    ok(rename(at("made"), at("moved")));
    ok(mkdir(at("made"), 0700));
    touch(at("made/file"));
    PMIx_server_finalize();
    ok(unlink(at("made/file")));
    ok(rmdir(at("made")));
    ok(rmdir(at("moved")));
}

PX_TEST(with_rmclean_the_host_removes_the_directories)
{
    struct entry e[32];

    session_start(at("made/deep"), true);
    ok(px_made_dir(server(), at("made/deep"), 0700, NULL));
    size_t n = journal(e, 32);
    for (size_t i = 0; i < n; i++) /* nor may the next server remove it after a kill */
        ck_assert_str_ne(e[i].path, at("made/deep"));
    PMIx_server_finalize();
    ok(rmdir(at("made/deep")));
    ok(rmdir(at("made")));
}

/* Starts a server with rendezvous files in directories of every kind. All these directories are
 * absent. */
static void start_with_files(void)
{
    static const char *const flags[] = {PMIX_SERVER_SYSTEM_SUPPORT,
                                        PMIX_SERVER_SESSION_SUPPORT,
                                        PMIX_SERVER_TOOL_SUPPORT};
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    for (size_t i = 0; i < PX_COUNT(flags); i++)
        ok(px_infos_add(&infos, flags[i], &yes, PMIX_BOOL));
    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, at("a/server/x"), PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_SYSTEM_TMPDIR, at("a/system/x"), PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_LAUNCHER_RENDEZVOUS_FILE, at("a/launcher/x/file"),
                    PMIX_STRING));
    ok(PMIx_server_init(NULL, infos.v, infos.n));
}

PX_TEST(what_is_above_goes_when_it_is_empty)
{
    start_with_files();
    ck_assert(is_there(at("a/server/x")));
    ck_assert(is_there(at("a/system/x")));
    ck_assert(is_there(at("a/launcher/x/file")));
    PMIx_server_finalize();
    ck_assert(!is_there(at("a")));
    start_with_files();
    touch(at("a/system/x/others"));
    touch(at("a/launcher/others"));
    PMIx_server_finalize();
    ck_assert(!is_there(at("a/server")) && !is_there(at("a/launcher/x")));
    ok(unlink(at("a/launcher/others")));
    ok(unlink(at("a/system/x/others")));
    ok(rmdir(at("a/launcher")) || rmdir(at("a/system/x")) || rmdir(at("a/system")) ||
       rmdir(at("a")));
}

PX_TEST(bad_paths_are_refused)
{
    struct px_err err = {0};

    session_start(session_top, false);
    ck_assert_int_eq(px_made_dir(server(), "relative", 0700, &err), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(px_made_dir(server(), at("x/../y"), 0700, &err),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_ptr_nonnull(strstr(err.text, "x/../y"));
    touch(at("file"));
    ck_assert_int_ne(px_made_dir(server(), at("file/dir"), 0700, &err), PMIX_SUCCESS);
    ok(symlink("nowhere", at("dangling")));
    ck_assert_int_ne(px_made_dir(server(), at("dangling"), 0700, &err), PMIX_SUCCESS);
    ck_assert(!is_there(at("nowhere")));
    PMIx_server_finalize();
    ok(unlink(at("file")));
    ok(unlink(at("dangling")));
}

PX_TEST(through_a_link_the_real_directory_is_noted)
{
    struct entry e[32];

    ok(mkdir(at("real"), 0700));
    ok(symlink("real", at("link")));
    session_start(session_top, false);
    ok(px_made_dir(server(), at("link/a/b"), 0700, NULL));
    size_t n = journal(e, 32);
    (void)entry_of(e, n, at("real/a/b"));
    PMIx_server_finalize();
    ck_assert(!is_there(at("real/a")));
    ok(unlink(at("link")));
    ok(rmdir(at("real")));
}

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

PX_TEST(several_records_are_all_there_in_order)
{
    struct px_journal_record r[3] = {item(1, 0, "/a/1"), item(1, 1, "/a/2"),
                                     item(2, 0, "/a/3")};
    struct entry e[8];

    session_start(session_top, false);
    size_t before = journal(e, 8);
    ok(px_session_record(server(), r, 3));
    ck_assert_uint_eq(journal(e, 8), before + 3);
    ck_assert_str_eq(e[before].path, "/a/1");
    ck_assert_str_eq(e[before + 2].path, "/a/3");
    ck_assert_uint_eq(e[before + 2].scope, 2);
}

PX_TEST(a_record_that_does_not_fit_the_disk_leaves_no_trace)
{
    struct rlimit was, limit;
    struct px_journal_record r[40];
    struct entry e[64];
    struct stat st;

    for (size_t i = 0; i < PX_COUNT(r); i++)
        r[i] = item(1, (uint32_t)i, "/some/file/of/any-user");
    session_start(session_top, false);
    size_t before = journal(e, 64);
    PX_AUTOFREE char *path = px_path_join(server()->dir, PX_JOURNAL_NAME);
    ok(stat(path, &st));
    ok(getrlimit(RLIMIT_FSIZE, &was));
    limit = was;
    limit.rlim_cur = (rlim_t)st.st_size + 100; /* in the middle of the second record */
    /* Check writes files, too; assertions come later. */
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    pmix_status_t part = px_session_record(server(), r, PX_COUNT(r));
    limit.rlim_cur =
        (rlim_t)st.st_size; /* room for no byte; SIGXFSZ must not get through */
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    pmix_status_t none = px_session_record(server(), r, 1);
    (void)setrlimit(RLIMIT_FSIZE, &was);
    ck_assert_int_eq(part, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(none, PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_uint_eq(journal(e, 64), before);
    ok(px_session_record(server(), r, PX_COUNT(r)));
    ck_assert_uint_eq(journal(e, 64), before + PX_COUNT(r));
}

/* Compacts the journal on the loop, which informs the component. limit: limit of file sizes, or
 * NULL. Check must not write under this limit. */
static void compact(void *limit)
{
    struct rlimit was;

    ok(getrlimit(RLIMIT_FSIZE, &was));
    if (limit)
        (void)setrlimit(RLIMIT_FSIZE, limit);
    px_cleanup_compact(server()->part.cleanup);
    (void)setrlimit(RLIMIT_FSIZE, &was);
}

/* Adds records that are void, or not from the registry. Compaction drops such records. */
static void fill_journal(const struct px_journal_record *r, int n)
{
    for (int i = 0; i < n; i++)
        ok(px_session_record(server(), r, 1));
}

PX_TEST(a_journal_full_of_what_is_void_is_written_anew)
{
    const struct px_journal_record r = item(7, 3, "/passing");
    struct entry e[16];
    struct px_cleanup_entry *mine = NULL;

    session_start(session_top, false);
    ok(px_made_record(server(), at("mine"), PX_RM_FILE, 0, NULL, &mine));
    raw_on_loop(compact, NULL);
    ck_assert_uint_eq(journal(e, 16), 2); /* too few records to compact */
    fill_journal(&r, 3000);
    raw_on_loop(compact, NULL);
    ck_assert_uint_eq(journal(e, 16), 2);
    ck_assert_uint_eq(e[0].type, PX_JOURNAL_HEAD);
    ck_assert_str_eq(e[1].path, at("mine"));
    ck_assert_uint_eq(e[1].scope, PX_CLEANUP_MADE);
    ck_assert_uint_eq(e[1].slot, mine->r.slot);
    ok(px_session_record(server(), &r, 1));
    ck_assert_uint_eq(journal(e, 16), 3);
}

PX_TEST(a_journal_that_cannot_be_written_anew_stays)
{
    const struct px_journal_record r = item(7, 3, "/passing");
    struct rlimit limit = {16, RLIM_INFINITY};
    static struct entry e[4096];

    session_start(session_top, false);
    fill_journal(&r, 2000);
    size_t before = journal(e, 4096);
    raw_on_loop(compact, &limit);
    ck_assert_uint_eq(journal(e, 4096), before);
    fill_journal(&r, 1);
    ck_assert_uint_eq(journal(e, 4096), before + 1);
}

/* ---- items -------------------------------------------------------------------------------------------- */

PX_TEST(an_item_gets_its_identity_in_the_same_slot)
{
    struct entry e[16];
    struct stat st;
    struct px_cleanup_entry *slot = NULL, *other = NULL;

    session_start(session_top, false);
    ok(px_made_record(server(), at("f"), PX_RM_FILE, 0, NULL, &slot));
    touch(at("f"));
    ok(lstat(at("f"), &st));
    uint32_t was = slot->r.slot;
    ok(px_made_record(server(), at("f"), PX_RM_FILE, 0, &st, &slot));
    ck_assert_uint_eq(slot->r.slot, was);
    ok(px_made_record(server(), at("g"), PX_RM_FILE, 0, NULL, &other));
    ck_assert_ptr_ne(other, slot);
    uint32_t place = other->r.slot;
    px_made_forget(server(), other);
    size_t n = journal(e, 16);
    ck_assert_uint_eq(entry_of(e, n, at("f"))->flags, PX_RM_SAME | PX_RM_ANY_GID);
    ck_assert_uint_eq(e[n - 1].type, PX_JOURNAL_NONE);
    ck_assert_uint_eq(e[n - 1].slot, place);
    struct px_cleanup_entry *again = NULL;
    ok(px_made_record(server(), at("h"), PX_RM_FILE, 0, NULL, &again));
    ck_assert_uint_eq(again->r.slot, place); /* slots are reused */
    PMIx_server_finalize();
    ck_assert(!is_there(at("f")));
}

PX_TEST_MAIN("server/session", session_setup, session_teardown)

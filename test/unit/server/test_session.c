/* SPDX-License-Identifier: BSD-3-Clause */
/* What a server makes in the file system, and that all of it goes: the private folder, the journal,
 * folders of the session. */
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/path.h"
#include "core/base/rmtree.h"
#include "core/base/str.h"
#include "core/server/session.h"
#include "fake_host.h"
#include "px_test.h"
#include "raw.h"
#include "seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
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

static char top[64];

static void setup(void)
{
    px_str_copy(top, sizeof(top), "/tmp/tnsession.XXXXXX");
    ck_assert_ptr_nonnull(mkdtemp(top));
    unsetenv("PMIX_SERVER_TMPDIR");
    unsetenv("PMIX_SYSTEM_TMPDIR");
    setenv("TMPDIR", top, 1);
}

static void teardown(void)
{
    host_done();
    ck_assert_msg(rmdir(top) == 0, "something is left in %s: %m", top);
}

static char *at(const char *name)
{
    static char path[8][PX_RM_MAX_PATH];
    static unsigned n;
    char *p = path[n++ % PX_COUNT(path)];

    snprintf(p, sizeof(path[0]), "%s/%s", top, name);
    return p;
}

static bool is_there(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void touch(const char *path)
{
    int fd = open(path, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);

    ck_assert_int_ge(fd, 0);
    close(fd);
}

/* A server with a directory of its own to work in and maybe more to say. */
static void start(const char *server_tmpdir, bool rmclean)
{
    PX_AUTO(px_infos) infos = {0};
    bool yes = true;

    if (server_tmpdir)
        ck_assert_int_eq(
            px_infos_add(&infos, PMIX_SERVER_TMPDIR, server_tmpdir, PMIX_STRING), 0);
    if (rmclean)
        ck_assert_int_eq(px_infos_add(&infos, PMIX_TDIR_RMCLEAN, &yes, PMIX_BOOL), 0);
    ck_assert_int_eq(
        PMIx_server_init((pmix_server_module_t *)&host_module, infos.v, infos.n),
        PMIX_SUCCESS);
}

static struct px_server *server(void)
{
    return px_process.server;
}

/* ---- the journal, read again ---------------------------------------------------------------------- */

struct entry {
    uint8_t type, kind;
    uint16_t flags;
    uint32_t slot;
    uint64_t scope, x, y;
    char path[256];
};

static size_t journal(struct entry *e, size_t max)
{
    static uint8_t bytes[1 << 20];
    PX_AUTOFREE char *path = px_path_join(server()->dir, PX_JOURNAL_NAME);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t n = read(fd, bytes, sizeof(bytes));
    struct px_journal_record r;
    size_t at_byte = 0, count = 0;

    ck_assert_int_ge(n, 0);
    while (px_journal_next(bytes, (size_t)n, &at_byte, &r) && count < max) {
        e[count] = (struct entry){.type = r.type,
                                  .kind = r.kind,
                                  .flags = r.flags,
                                  .slot = r.slot,
                                  .scope = r.scope,
                                  .x = r.x,
                                  .y = r.y};
        px_str_copy(e[count++].path, sizeof(e->path), r.path);
    }
    ck_assert_uint_eq(at_byte, (size_t)n); /* no torn end */
    close(fd);
    return count;
}

/* ---- the folder ------------------------------------------------------------------------------------- */

START_TEST(the_private_folder_is_private_locked_and_has_a_journal)
{
    struct entry e[8];
    struct stat st;

    start(top, false);
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

    ck_assert_int_eq(chmod(top, 02777), 0);
    start(top, false);
    ck_assert_int_eq(lstat(server()->dir, &st), 0);
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    PMIx_server_finalize();
}
END_TEST

START_TEST(what_others_put_into_the_private_folder_goes_with_it)
{
    start(top, false);
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
    start(top, false);
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
    start(at("link"), false);
    ck_assert(px_str_starts(server()->dir, at("real/" PX_JOURNAL_DIR)));
    PMIx_server_finalize();
    ck_assert_int_eq(unlink(at("link")), 0);
    ck_assert_int_eq(rmdir(at("real")), 0);
}
END_TEST

START_TEST(where_the_directory_is_absent_the_systems_has_the_folder)
{
    start(at("absent/deep"), false);
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    ck_assert(!is_there(at("absent"))); /* nothing has to go there yet */
    PMIx_server_finalize();
}
END_TEST

START_TEST(where_no_directory_is_there_tmp_has_the_folder)
{
    setenv("TMPDIR", at("absent"), 1);
    start(NULL, false);
    ck_assert(px_str_starts(server()->dir, "/tmp/" PX_JOURNAL_DIR));
    PX_AUTOFREE char *dir = strdup(server()->dir);
    PMIx_server_finalize();
    ck_assert(!is_there(dir));
}
END_TEST

START_TEST(a_file_in_place_of_the_directory_is_no_reason_to_fail)
{
    touch(at("file"));
    start(at("file"), false);
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    PMIx_server_finalize();
    ck_assert_int_eq(unlink(at("file")), 0);
}
END_TEST

START_TEST(servers_come_and_go)
{
    for (int i = 0; i < 50; i++) {
        start(top, false);
        ck_assert(px_session_can_record(server()));
        PMIx_server_finalize();
    }
}
END_TEST

static void try_without(long call, int errnum, bool folder)
{
    struct entry e[8];

    ck_assert(px_test_deny(call, errnum));
    start(top, false);
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

    start(top, false);
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
    start(top, false);
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
    start(top, false);
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

    start(top, false);
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

/* ---- folders ------------------------------------------------------------------------------------------ */

static const struct entry *entry_of(const struct entry *e, size_t n, const char *path)
{
    const struct entry *last = NULL;

    for (size_t i = 0; i < n; i++)
        if (strcmp(e[i].path, path) == 0)
            last = &e[i];
    ck_assert_msg(last, "no record of %s", path);
    return last;
}

START_TEST(absent_parents_are_made_and_removed)
{
    struct entry e[32];
    struct stat st;

    start(at("a/b/c"), false);
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
    start(at("a/b"), false);
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
    start(at("a/b"), false);
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
         rmdir(top) < 0 && px_clock_ms() < until;)
        usleep(1000);
    ck_assert_int_eq(mkdir(top, 0700), 0);
}
END_TEST

START_TEST(the_sessions_own_goes_as_a_whole_as_a_parent_too)
{
    start(at("a/b"), false);
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
    start(at("a/b"), false);
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
    start(at("host"), false);
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
    start(at("made"), false);
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

    start(at("made/deep"), true);
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

    start(top, false);
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
    start(top, false);
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

/* ---- items -------------------------------------------------------------------------------------------- */

START_TEST(an_item_gets_its_identity_in_the_same_slot)
{
    struct entry e[16];
    struct stat st;
    uint32_t slot = PX_SESSION_NEW, other = PX_SESSION_NEW;

    start(top, false);
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

PX_TEST_MAIN_WITH("server/session", setup, teardown,
                  the_private_folder_is_private_locked_and_has_a_journal,
                  bits_that_folders_inherit_do_not_make_it_less_private,
                  what_others_put_into_the_private_folder_goes_with_it,
                  a_link_in_the_private_folder_is_not_followed, its_path_has_no_links,
                  where_the_directory_is_absent_the_systems_has_the_folder,
                  where_no_directory_is_there_tmp_has_the_folder,
                  a_file_in_place_of_the_directory_is_no_reason_to_fail,
                  servers_come_and_go,
                  without_locks_there_is_a_folder_and_its_journal_says_so,
                  without_a_folder_there_is_tcp, several_records_are_all_there_in_order,
                  a_record_that_does_not_fit_the_disk_leaves_no_trace,
                  a_journal_full_of_what_is_void_is_written_anew,
                  a_journal_that_cannot_be_written_anew_stays,
                  absent_parents_are_made_and_removed,
                  what_does_not_go_at_once_is_tried_again,
                  what_there_is_no_memory_to_remove_is_left_to_the_janitor,
                  the_sessions_own_goes_as_a_whole_as_a_parent_too,
                  a_parent_with_something_of_others_stays,
                  a_directory_that_was_there_is_not_removed,
                  a_directory_that_took_the_place_of_ours_stays,
                  with_rmclean_the_host_removes_the_directories, bad_paths_are_refused,
                  through_a_link_the_real_directory_is_noted,
                  an_item_gets_its_identity_in_the_same_slot)

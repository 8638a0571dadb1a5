/* SPDX-License-Identifier: BSD-3-Clause */
/* Files that a server makes, and their removal: the private folder, folders of the session, and the
 * journal. The journal has several records completely or not at all. */
#include "alloc_fail.h"
#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/base/str.h"
#include "core/reclaim/rmtree.h"
#include "px_test.h"
#include "seccomp.h"
#include "session_scene.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/syscall.h>

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

/* Folders may inherit mode bits. */
PX_TEST(the_private_folder_is_private_locked_and_has_a_journal)
{
    struct stat st;

    ok(chmod(px_tree_root(), 03777));
    session_start("");
    ck_assert(px_str_starts(server()->dir, at(PX_JOURNAL_DIR)));
    ok(lstat(server()->dir, &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0700);
    ck_assert_uint_eq(st.st_uid, geteuid());
    PX_AUTOCLOSE int fd = open(server()->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_eq(flock(fd, LOCK_EX | LOCK_NB), -1);
    ck_assert_int_eq(errno, EWOULDBLOCK);
    ok(lstat(inside(PX_JOURNAL_NAME), &st));
    ck_assert_uint_eq(st.st_mode & 07777, 0600);
    ck_assert(px_session_can_record(server()));

    ck_assert_uint_ge(journal(), 1);
    ck_assert_uint_eq(entries[0].r.type, PX_JOURNAL_HEAD);
    ck_assert_uint_eq(entries[0].r.x, (uint64_t)getpid());
    ck_assert_uint_eq(entries[0].r.y, px_journal_start_time(getpid()));
    ck_assert_ptr_nonnull(strchr(entries[0].path, ' '));
    PMIx_server_finalize();
    ok(flock(fd, LOCK_EX | LOCK_NB));
}

PX_TEST(what_others_put_into_the_private_folder_goes_with_it_but_no_link_is_followed)
{
    px_tree_make("outside/file");
    session_start("");
    ok(mkdir(inside("sub"), 0700));
    touch(inside("sub/file"));
    ok(symlink(at("outside"), inside("link")));
    session_left = "outside/ outside/file";
}

/* Directories, and the place of the private folder in the tree; NULL: /tmp. */
static const struct {
    const char *made, *tmpdir, *session, *server, *wanted, *left;
} places[] = {
    {"", "", NULL, "absent/deep", "", ""},
    {"", "absent", NULL, NULL, NULL, ""},
    {"file", "", NULL, "file", "", "file"},
    {"real/ link@real", "", NULL, "link", "real/", "link@ real/"},
    {"session/ server/", "", "session", NULL, "session/", "server/ session/"},
    {"session/ server/", "", "session", "server", "server/", "server/ session/"},
};

PX_TEST_LOOP(the_folder_is_in_the_first_directory_that_is_there, PX_COUNT(places))
{
    const char *wanted = places[_i].wanted;
    PX_AUTO(px_infos) infos = {0};

    px_tree_make(places[_i].made);
    setenv("TMPDIR", at(places[_i].tmpdir), 1);
    if (places[_i].session)
        ok(px_infos_add(&infos, PMIX_TMPDIR, at(places[_i].session), PMIX_STRING));
    if (places[_i].server)
        ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, at(places[_i].server),
                        PMIX_STRING));
    session_start_with(&infos);
    PX_AUTOFREE char *dir = strdup(server()->dir);
    PX_AUTOFREE char *begin = px_strf(
        "%s/%s" PX_JOURNAL_DIR, wanted ? px_tree_root() : "/tmp", wanted ? wanted : "");
    ck_assert_msg(px_str_starts(dir, begin), "%s", dir);
    ck_assert(!px_tree_has("absent")); /* no file goes there yet */
    PMIx_server_finalize();
    ck_assert(!is_there(dir));
    session_left = places[_i].left;
}

#ifdef SYS_mkdir
enum { CALL_MKDIR = SYS_mkdir };
#else
enum { CALL_MKDIR = SYS_mkdirat };
#endif

/* In the last two rows another process always takes the name first. */
static const struct {
    long call;
    int errnum;
    bool has_folder;
} lacks[] = {{SYS_flock, ENOLCK, true},
             {CALL_MKDIR, EROFS, false},
             {SYS_flock, EWOULDBLOCK, false},
             {CALL_MKDIR, EEXIST, false}};

PX_TEST_LOOP(without_locks_the_journal_records_that_and_without_a_folder_there_is_tcp,
             PX_COUNT(lacks))
{
    const bool has_folder = lacks[_i].has_folder;

    PX_TEST_NEEDS(px_test_deny(lacks[_i].call, lacks[_i].errnum), "seccomp");
    session_start("");
    ck_assert(!has_folder || (journal() > 0 && entries->r.type == PX_JOURNAL_HEAD &&
                              entries->r.flags == PX_JOURNAL_UNLOCKED));
    ck_assert_int_eq(server()->dir != NULL, has_folder);
    ck_assert_int_eq(px_session_can_record(server()), has_folder);
    ck_assert_ptr_nonnull(strstr(server()->uri, ";tcp4://"));
}

/* ---- directories of the host -------------------------------------------------------------------------- */

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

    for (size_t i = 0; i < PX_COUNT(keys); i++)
        ok(px_infos_add(&infos, keys[i], at(keys[i]), PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_TDIR_RMCLEAN, NULL, PMIX_BOOL));
    session_start_with(&infos);
    raw_add_job("job", 1, 0, geteuid());
    for (size_t i = 0; i < PX_COUNT(keys); i++)
        get_is(keys[i], at(keys[i]));
    get_is(PMIX_TDIR_RMCLEAN, "true");
    get_is(PMIX_SERVER_TMPDIR, at(PMIX_TMPDIR)); /* default: PMIX_TMPDIR */
}

/* Starts a server and returns all that this process logs meanwhile. */
static const char *log_of_start(const px_infos *infos)
{
    static char text[4096];
    int fds[2], was = dup(STDERR_FILENO);

    ok(pipe2(fds, O_CLOEXEC | O_NONBLOCK));
    ck_assert_int_ge(dup2(fds[1], STDERR_FILENO), 0);
    session_start_with(infos);
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

enum { RECURSE = PX_RM_RECURSE, EMPTY = PX_RM_EMPTY };

/* Content of the tree at first, the server's directory, the folder that the server makes, content
 * that others add, a path with its flags in the journal, and the content at the end. */
static const struct {
    const char *before, *server, *made, *after, *noted;
    int flags;
    const char *left;
} folders[] = {
    {"", "a/b/c", "a/b/c", "a/b/c/file a/b/c/dir/file", "a/b/c", RECURSE, ""},
    {"", "a/b/c", "a/b/c", "", "a", EMPTY, ""},
    {"", "a/b", "a/b/c/d", "a/b/file a/b/c/file", "a/b", RECURSE, ""},
    {"", "a/b", "a/b", "a/others a/empty/", "a/b", RECURSE, "a/ a/empty/ a/others"},
    {"host/", "host", "host", "", NULL, 0, "host/"},
    {"host/", "host", "host/new", "", "host/new", EMPTY, "host/"},
    {"real/ link@real", "", "link/a/b", "", "real/a/b", EMPTY, "link@ real/"},
};

PX_TEST_LOOP(what_was_made_is_recorded_and_removed, PX_COUNT(folders))
{
    const char *noted = folders[_i].noted;
    struct stat st;

    px_tree_make(folders[_i].before);
    session_start(folders[_i].server);
    ok(px_made_dir(server(), at(folders[_i].made), 0700, NULL));
    if (noted) {
        const struct px_journal_record *r = record_of(at(noted));

        ok(lstat(at(noted), &st));
        ck_assert_uint_eq(st.st_mode & 07777, 0700);
        ck_assert_uint_eq(r->flags, PX_RM_SAME | PX_RM_ANY_GID | folders[_i].flags);
        ck_assert_uint_eq(r->x, st.st_dev);
        ck_assert_uint_eq(r->y, st.st_ino);
    }
    px_tree_make(folders[_i].after);
    session_left = folders[_i].left;
}

PX_TEST(what_does_not_go_at_once_is_tried_again)
{
    session_start("a/b");
    ok(px_made_dir(server(), at("a/b"), 0700, NULL));
    reluctant = "b";
    PMIx_server_finalize();
    ck_assert_ptr_null(reluctant);
}

static int end_without_memory(void)
{
    session_start("a/b");
    ok(px_made_dir(server(), at("a/b"), 0700, NULL));
    bool has_janitor = server()->part.session->cleaner;
    session_deny(SYS_mmap, ENOMEM);
    PMIx_server_finalize();
    return !has_janitor;
}

PX_TEST(what_there_is_no_memory_to_remove_is_left_to_the_janitor)
{
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    PX_TEST_NEEDS(px_test_in_child(end_without_memory) == 0, "seccomp and a janitor");
    for (uint64_t until = px_clock_ms() + 10000;
         rmdir(px_tree_root()) < 0 && px_clock_ms() < until;)
        usleep(1000);
    ok(mkdir(px_tree_root(), 0700));
}

PX_TEST(a_directory_that_took_the_place_of_ours_stays)
{
    session_start("made");
    ok(px_made_dir(server(), at("made"), 0700, NULL));
    ok(rename(at("made"), at("moved")));
    px_tree_make("made/file");
    session_left = "made/ made/file moved/";
}

PX_TEST(with_rmclean_the_host_removes_the_directories)
{
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_SERVER_TMPDIR, px_tree_root(), PMIX_STRING));
    ok(px_infos_add(&infos, PMIX_TDIR_RMCLEAN, NULL, PMIX_BOOL));
    session_start_with(&infos);
    ok(px_made_dir(server(), at("made/deep"), 0700, NULL));
    for (size_t n = journal(); n-- > 0;) /* nor may the next server remove it */
        ck_assert_str_ne(entries[n].path, at("made/deep"));
    session_left = "made/ made/deep/";
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
    ck_assert(px_tree_has("a/server/x") && px_tree_has("a/system/x") &&
              px_tree_has("a/launcher/x/file"));
    PMIx_server_finalize();
    px_assert_tree("", "");
    start_with_files();
    px_tree_make("a/system/x/others a/launcher/others");
    session_left =
        "a/ a/launcher/ a/launcher/others a/system/ a/system/x/ a/system/x/others";
}

PX_TEST(bad_paths_are_refused)
{
    struct px_err err = {0};

    px_tree_make("file dangling@nowhere");
    session_start("");
    fails(px_made_dir(server(), "relative", 0700, &err), BAD_PARAM);
    fails(px_made_dir(server(), at("x/../y"), 0700, &err), BAD_PARAM);
    ck_assert_ptr_nonnull(strstr(err.text, "x/../y"));
    ck_assert_int_ne(px_made_dir(server(), at("file/dir"), 0700, &err), PMIX_SUCCESS);
    ck_assert_int_ne(px_made_dir(server(), at("dangling"), 0700, &err), PMIX_SUCCESS);
    session_left = "dangling@ file";
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

PX_TEST(a_record_that_does_not_fit_the_disk_leaves_no_trace)
{
    struct px_journal_record r[40];
    struct rlimit was, limit;

    for (size_t i = 0; i < PX_COUNT(r); i++)
        r[i] = item(1, (uint32_t)i, "/some/file/of/any-user");
    session_start("");
    const size_t before = journal();
    ok(getrlimit(RLIMIT_FSIZE, &was));
    limit = was;
    limit.rlim_cur = (rlim_t)journal_b() + 100; /* in the middle of the second record */
    /* Check writes files, too; assertions come later. */
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    pmix_status_t part = px_session_record(server(), r, PX_COUNT(r));
    limit.rlim_cur -= 100; /* room for no byte; SIGXFSZ must not get through */
    (void)setrlimit(RLIMIT_FSIZE, &limit);
    pmix_status_t none = px_session_record(server(), r, 1);
    (void)setrlimit(RLIMIT_FSIZE, &was);
    fails(part, OUT_OF_RESOURCE);
    fails(none, OUT_OF_RESOURCE);
    ck_assert_uint_eq(journal(), before);
    for (size_t i = 0; i < PX_COUNT(r); i++)
        r[i].scope = i;
    ok(px_session_record(server(), r, PX_COUNT(r)));
    ck_assert_uint_eq(journal(), before + PX_COUNT(r));
    for (size_t i = 0; i < PX_COUNT(r); i++)
        ck_assert_uint_eq(entries[before + i].r.scope, i); /* in order */
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
    struct px_cleanup_entry *mine = NULL;

    session_start("");
    ok(px_made_record(server(), at("mine"), PX_RM_FILE, 0, NULL, &mine));
    raw_on_loop(compact, NULL);
    ck_assert_uint_eq(journal(), 2); /* too few records to compact */
    fill_journal(&r, 3000);
    raw_on_loop(compact, NULL);
    ck_assert_uint_eq(journal(), 2);
    ck_assert_uint_eq(entries[0].r.type, PX_JOURNAL_HEAD);
    ck_assert_uint_eq(record_of(at("mine"))->scope, PX_CLEANUP_MADE);
    ck_assert_uint_eq(record_of(at("mine"))->slot, mine->r.slot);
    ok(px_session_record(server(), &r, 1));
    ck_assert_uint_eq(journal(), 3);
}

PX_TEST(a_journal_that_cannot_be_written_anew_stays)
{
    const struct px_journal_record r = item(7, 3, "/passing");
    struct rlimit limit = {16, RLIM_INFINITY};

    session_start("");
    fill_journal(&r, 2000);
    size_t before = journal();
    raw_on_loop(compact, &limit);
    ck_assert_uint_eq(journal(), before);
    fill_journal(&r, 1);
    ck_assert_uint_eq(journal(), before + 1);
}

/* ---- items -------------------------------------------------------------------------------------------- */

PX_TEST(an_item_gets_its_identity_in_the_same_slot)
{
    struct px_cleanup_entry *slot = NULL, *other = NULL, *again = NULL;
    struct stat st;

    session_start("");
    ok(px_made_record(server(), at("f"), PX_RM_FILE, 0, NULL, &slot));
    px_tree_make("f");
    ok(lstat(at("f"), &st));
    uint32_t was = slot->r.slot;
    ok(px_made_record(server(), at("f"), PX_RM_FILE, 0, &st, &slot));
    ck_assert_uint_eq(slot->r.slot, was);
    ok(px_made_record(server(), at("g"), PX_RM_FILE, 0, NULL, &other));
    ck_assert_ptr_ne(other, slot);
    uint32_t place = other->r.slot;
    px_made_forget(server(), other);
    ck_assert_uint_eq(record_of(at("f"))->flags, PX_RM_SAME | PX_RM_ANY_GID);
    size_t n = journal();
    ck_assert_uint_eq(entries[n - 1].r.type, PX_JOURNAL_NONE);
    ck_assert_uint_eq(entries[n - 1].r.slot, place);
    ok(px_made_record(server(), at("h"), PX_RM_FILE, 0, NULL, &again));
    ck_assert_uint_eq(again->r.slot, place); /* slots are reused */
}

PX_TEST_MAIN("server/session", session_setup, session_teardown)

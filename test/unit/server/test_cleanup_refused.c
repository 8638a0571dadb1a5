/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for clean-up that are refused, or fail: they change nothing. */
#include "alloc_fail.h"
#include "cleaner.h"
#include "core/base/str.h"
#include "core/server/cleanup/session_impl.h"
#include "fake_host.h"
#include "px_test.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

static void setup(void)
{
    cleaner_setup();
    cleaner_server(&host_module, 2);
}

/* ---- what is refused ------------------------------------------------------------------------ */

START_TEST(a_bad_path_anywhere_registers_nothing_of_the_request)
{
    static const char *const bad[] = {
        "a",  "./a",   "t/../a",  "/t/..",      "/t/../a", "",
        ",",  "/t/a,", ",/t/a",   "/t/a,,/t/b", "/t/a,b",  "/",
        "//", "/.",    "/proc/1", "/proc",      "/sys/x",  "/t/a, /t/b",
    };
    static const char *const lists[] = {FILES, DIRS, KEEP};
    char *name = malloc(300), *path = malloc(8192);
    int fd = raw_client(0);

    for (size_t k = 0; k < PX_COUNT(lists); k++) {
        for (size_t i = 0; i < PX_COUNT(bad); i++)
            ck_assert_msg(ASK(fd, &me, FILES, "/t/f", lists[k], bad[i], DIRS, "/t/d") ==
                              PMIX_ERR_BAD_PARAM,
                          "%s \"%s\"", lists[k], bad[i]);
        memset(name, 'n', 299);
        name[0] = '/';
        name[299] = '\0';
        ck_assert_int_eq(ASK(fd, &me, lists[k], name), PMIX_ERR_BAD_PARAM);
        for (size_t n = 0; n < 8190; n += 2)
            memcpy(path + n, "/p", 3);
        ck_assert_int_eq(ASK(fd, &me, lists[k], path), PMIX_ERR_BAD_PARAM);
        path[4094] = '\0';
        ck_assert_int_eq(ASK(fd, &job, lists[k], path), PMIX_SUCCESS);
        cleaner_stop();
        close(fd);
        cleaner_server(&host_module, 2);
        fd = raw_client(0);
    }
    ck_assert_str_eq(cleaner_scope("job", 0), "");
    ck_assert_str_eq(cleaner_journal(), "");
    free(name);
    free(path);
    cleaner_end(fd);
}
END_TEST

static pmix_status_t ask_typed(int fd, const char *key, const void *data,
                               pmix_data_type_t type)
{
    PX_AUTO(px_infos) infos = {0};
    px_writer w;

    ck_assert_int_eq(px_infos_add(&infos, DIRS, "/t/d", PMIX_STRING), 0);
    ck_assert_int_eq(px_infos_add(&infos, key, data, type), 0);
    raw_begin(&w, PX_OP_JOB_CONTROL);
    px_pack_procs(&w, &me, 1);
    px_pack_infos(&w, infos.v, infos.n);
    return raw_request(fd, &w, NULL);
}

START_TEST(values_of_the_wrong_type_register_nothing)
{
    static const char *const lists[] = {FILES, DIRS, KEEP, "pmix.cleanup.ignore"};
    static const char *const flags[] = {PMIX_CLEANUP_RECURSIVE, PMIX_CLEANUP_EMPTY,
                                        PMIX_CLEANUP_LEAVE_TOPDIR,
                                        "pmix.cleanup.recurse"};
    int fd = raw_client(0), one = 1;
    bool yes = true;

    for (size_t i = 0; i < PX_COUNT(lists); i++) {
        ck_assert_int_eq(ask_typed(fd, lists[i], &yes, PMIX_BOOL), PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(ask_typed(fd, lists[i], &one, PMIX_INT), PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(ask_typed(fd, lists[i], NULL, PMIX_STRING),
                         PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(ask_typed(fd, flags[i], &one, PMIX_INT), PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(ask_typed(fd, flags[i], "true", PMIX_STRING),
                         PMIX_ERR_BAD_PARAM);
    }
    ck_assert_str_eq(cleaner_scope("job", 0), "");
    ck_assert_uint_eq(cleaner_n_entries(), 0);
    cleaner_end(fd);
}
END_TEST

START_TEST(directives_want_a_folder_and_ignoring_does_not)
{
    static const char *const flags[] = {PMIX_CLEANUP_RECURSIVE, PMIX_CLEANUP_EMPTY,
                                        PMIX_CLEANUP_LEAVE_TOPDIR};
    int fd = raw_client(0);

    for (size_t i = 0; i < PX_COUNT(flags); i++) {
        ck_assert_int_eq(ASK(fd, &me, flags[i], YES), PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(ASK(fd, &me, FILES, "/t/f", flags[i], YES),
                         PMIX_ERR_BAD_PARAM);
        ck_assert_int_eq(ASK(fd, &me, KEEP, "/t/f", flags[i], YES), PMIX_ERR_BAD_PARAM);
    }
    ck_assert_str_eq(cleaner_scope("job", 0), "");
    ck_assert_int_eq(ASK(fd, &me, KEEP, "/t/f"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/f keep");
    cleaner_end(fd);
}
END_TEST

START_TEST(a_client_has_4096_entries_and_a_mebibyte_of_paths)
{
    int fd = raw_client(0), fd1 = raw_client(1);
    PX_AUTOFREE char *most = cleaner_numbered(0, 4095, 8),
                     *two = cleaner_numbered(5000, 2, 8);
    PX_AUTOFREE char *one = cleaner_numbered(5000, 1, 8);
    PX_AUTOFREE char *more = cleaner_numbered(0, 4097, 8),
                     *longest = cleaner_numbered(0, 4096, 253);
    PX_AUTOFREE char *longer = cleaner_numbered(0, 4096, 254);

    ck_assert_int_eq(ASK(fd, &me, FILES, more), PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_uint_eq(cleaner_n_entries(), 0);
    ck_assert_int_eq(ASK(fd, &me, FILES, most), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &job, FILES, two), PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_str_eq(cleaner_scope("job", WILD), "");
    ck_assert_int_eq(ASK(fd, &job, FILES, one), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &me, FILES, most), PMIX_SUCCESS); /* they are there */
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/x"), PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_uint_eq(cleaner_n_entries(), 4096);
    /* Others have their own. */
    ck_assert_int_eq(ASK(fd1, &other, FILES, longer), PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_int_eq(ASK(fd1, &other, FILES, longest), PMIX_SUCCESS);
    close(fd1);
    cleaner_end(fd);
}
END_TEST

START_TEST(what_is_named_too_often_is_refused_before_it_is_all_read)
{
    int fd = raw_client(0);
    const size_t n = 20000;
    PX_AUTOFREE char *list = malloc(5 * n + 1);

    for (size_t i = 0; i < n; i++)
        memcpy(list + 5 * i, i + 1 < n ? "/t/a," : "/t/a\0", 6);
    ck_assert_int_eq(ASK(fd, &me, FILES, list), PMIX_ERR_OUT_OF_RESOURCE);
    ck_assert_uint_eq(cleaner_n_entries(), 0);
    list[5 * 10000 - 1] = '\0';
    ck_assert_int_eq(ASK(fd, &me, FILES, list), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/a file");
    cleaner_end(fd);
}
END_TEST

/* ---- what fails ------------------------------------------------------------------------------- */

static void without_component(void *arg)
{
    static const struct px_module *ours;
    struct px_session *s = px_process.server->session;

    if (arg)
        ours = s->cleaner;
    s->cleaner = arg ? NULL : ours;
}

static void without_group(void *arg)
{
    px_peer_find(px_process.server, arg)->gid = (gid_t)-1;
}

START_TEST(without_component_or_group_it_is_not_supported)
{
    int fd = raw_client(0);

    raw_on_loop(without_component, &fd);
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a"), PMIX_ERR_NOT_SUPPORTED);
    raw_on_loop(without_component, NULL);
    raw_on_loop(without_group, &me);
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a"), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_uint_eq(cleaner_n_entries(), 0);
    cleaner_end(fd);
}
END_TEST

struct limited {
    px_infos infos;
    rlim_t journal_b;
    pmix_status_t rc;
};

/* On the loop, as Check writes files, too. */
static void take_limited(void *arg)
{
    struct limited *l = arg;
    struct px_server *srv = px_process.server;
    struct rlimit was, small;
    bool only;

    getrlimit(RLIMIT_FSIZE, &was);
    small = (struct rlimit){l->journal_b, was.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    l->rc = px_cleanup_take(srv, px_peer_find(srv, &me), &me, 1, &l->infos, &only);
    setrlimit(RLIMIT_FSIZE, &was);
}

START_TEST(a_journal_that_cannot_be_written_leaves_everything_as_it_was)
{
    struct stat st;
    int fd = raw_client(0);
    PX_AUTOFREE char *path = NULL, *many = cleaner_numbered(0, 1000, 8);

    signal(SIGXFSZ, SIG_IGN);
    path = px_strf("%s/%s", px_process.server->dir, PX_JOURNAL_NAME);
    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d", KEEP, "/t/k"), PMIX_SUCCESS);
    ck_assert_int_eq(stat(path, &st), 0);
    for (rlim_t room = 0; room < 4000; room += 499) {
        struct limited l = {.journal_b = (rlim_t)st.st_size + room};

        ck_assert_int_eq(px_infos_add(&l.infos, DIRS, "/t/d", PMIX_STRING), 0);
        ck_assert_int_eq(
            px_infos_add(&l.infos, PMIX_CLEANUP_RECURSIVE, NULL, PMIX_BOOL), 0);
        ck_assert_int_eq(px_infos_add(&l.infos, FILES, many, PMIX_STRING), 0);
        raw_on_loop(take_limited, &l);
        ck_assert_int_lt(l.rc, 0);
        px_infos_cleanup(&l.infos);
        ck_assert_str_eq(cleaner_scope("job", 0), "/t/k keep; /t/d dir");
        ck_assert_str_eq(cleaner_journal(), "/t/k keep; /t/d dir");
    }
    /* And no trace of it hinders the next. */
    ck_assert_int_eq(ASK(fd, &me, KEEP, many), PMIX_SUCCESS);
    ck_assert_uint_eq(cleaner_n_entries(), 1002);
    cleaner_end(fd);
}
END_TEST

struct starved {
    px_infos infos;
    pmix_proc_t procs[2];
    unsigned nth;
    bool failed;
    pmix_status_t rc;
};

static void take_starved(void *arg)
{
    struct starved *s = arg;
    struct px_server *srv = px_process.server;
    struct px_peer *peer = px_peer_find(srv, &me);
    bool only;

    px_alloc_fail_at(s->nth);
    s->rc = px_cleanup_take(srv, peer, s->procs, 2, &s->infos, &only);
    s->failed = px_alloc_fail_end();
}

START_TEST(without_memory_nothing_is_registered)
{
    struct starved s = {.procs = {me, job}, .nth = 1};
    int fd;

    cleaner_stop();
    PX_TEST_NEEDS(px_alloc_can_fail(), "the plain allocator");
    cleaner_server(&host_module, 2);
    fd = raw_client(0);
    ck_assert_int_eq(ASK(fd, &job, DIRS, "/t/d", FILES, "/t/a"), PMIX_SUCCESS);
    for (;; s.nth++) {
        ck_assert_int_eq(px_infos_add(&s.infos, DIRS, "/t/d,/t/e", PMIX_STRING), 0);
        ck_assert_int_eq(px_infos_add(&s.infos, FILES, "/t/a,/t/b", PMIX_STRING), 0);
        ck_assert_int_eq(px_infos_add(&s.infos, KEEP, "/t/x", PMIX_STRING), 0);
        ck_assert_int_eq(
            px_infos_add(&s.infos, PMIX_CLEANUP_RECURSIVE, NULL, PMIX_BOOL), 0);
        raw_on_loop(take_starved, &s);
        px_infos_cleanup(&s.infos);
        if (!s.rc)
            break;
        ck_assert_int_eq(s.rc, PMIX_ERR_NOMEM);
        ck_assert(s.failed);
        ck_assert_str_eq(cleaner_scope("job", 0), "");
        ck_assert_str_eq(cleaner_scope("job", WILD), "/t/d dir; /t/a file");
        ck_assert_str_eq(cleaner_journal(), "/t/d dir; /t/a file");
        ck_assert_uint_eq(cleaner_n_entries(), 2);
    }
    ck_assert_uint_gt(s.nth, 10);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/x keep; /t/d dir recurse; "
                                              "/t/e dir recurse; /t/a file; /t/b file");
    ck_assert_str_eq(
        cleaner_scope("job", WILD),
        "/t/d dir recurse; /t/a file; /t/x keep; /t/e dir recurse; /t/b file");
    cleaner_end(fd);
}
END_TEST

PX_TEST_MAIN_WITH("server/cleanup_refused", setup, cleaner_teardown,
                  a_bad_path_anywhere_registers_nothing_of_the_request,
                  values_of_the_wrong_type_register_nothing,
                  directives_want_a_folder_and_ignoring_does_not,
                  a_client_has_4096_entries_and_a_mebibyte_of_paths,
                  what_is_named_too_often_is_refused_before_it_is_all_read,
                  without_component_or_group_it_is_not_supported,
                  a_journal_that_cannot_be_written_leaves_everything_as_it_was,
                  without_memory_nothing_is_registered)

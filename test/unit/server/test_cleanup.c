/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be registered for clean-up, and what not: the rules of RFC 0027, one by one. */
#include "alloc_fail.h"
#include "cleaner.h"
#include "core/base/str.h"
#include "core/server/session_impl.h"
#include "fake_host.h"
#include "px_test.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define WILD PMIX_RANK_WILDCARD

#define FILES PMIX_REGISTER_CLEANUP
#define DIRS  PMIX_REGISTER_CLEANUP_DIR
#define KEEP  PMIX_CLEANUP_IGNORE

static pmix_proc_t me, job, other;

static void setup(void)
{
    cleaner_setup();
    px_proc_set(&me, "job", 0);
    px_proc_set(&job, "job", WILD);
    px_proc_set(&other, "job", 1);
    cleaner_server(&host_module, 2);
}

static void end(int fd)
{
    cleaner_stop();
    if (fd >= 0)
        close(fd);
}

static void teardown(void)
{
    cleaner_teardown();
}

/* ---- what is taken ------------------------------------------------------------------------- */

START_TEST(several_of_each_in_one_call_and_over_calls_are_all_registered)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a,/t/b", DIRS, "/t/d", FILES, "/t/c", DIRS,
                         "/t/e,/t/f"),
                     PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0),
                     "/t/a file; /t/b file; /t/d dir; /t/c file; "
                     "/t/e dir; /t/f dir");
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/g", KEEP, "/t/d/x,/t/d/y", KEEP, "/t/d/z"),
                     PMIX_SUCCESS);
    ck_assert_uint_eq(cleaner_n_entries(), 10);
    ck_assert_str_eq(cleaner_journal(),
                     "/t/a file; /t/b file; /t/d dir; /t/c file; /t/e dir; /t/f dir; "
                     "/t/d/z keep; /t/d/y keep; /t/d/x keep; /t/g file");
    end(fd);
}
END_TEST

START_TEST(paths_are_normal_before_they_are_compared)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, FILES, "/t//a,/t/./a,/t/a", DIRS, "/t/d/,/t/d"),
                     PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/a file; /t/d dir");
    end(fd);
}
END_TEST

START_TEST(commas_are_split_before_duplicates_are_compared)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a,/t/b"), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/b,/t/a,/t/c"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/a file; /t/b file; /t/c file");
    end(fd);
}
END_TEST

START_TEST(directives_pertain_to_all_folders_of_their_request)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/a", PMIX_CLEANUP_RECURSIVE, YES, DIRS,
                         "/t/b,/t/c", FILES, "/t/f"),
                     PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &me, PMIX_CLEANUP_LEAVE_TOPDIR, YES, DIRS, "/t/d"),
                     PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &me, PMIX_CLEANUP_EMPTY, YES, DIRS, "/t/e"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0),
                     "/t/a dir recurse; /t/b dir recurse; /t/c dir recurse; /t/f file; "
                     "/t/d dir leave-top; /t/e dir empty");
    ck_assert_str_eq(cleaner_journal(),
                     "/t/a dir recurse; /t/b dir recurse; /t/c dir recurse; /t/f file; "
                     "/t/d dir leave-top; /t/e dir empty");
    end(fd);
}
END_TEST

START_TEST(a_directive_without_a_value_is_true_and_a_false_one_is_not_given)
{
    int fd = raw_client(0);
    PX_AUTO(px_infos) infos = {0};
    px_writer w;

    ck_assert_int_eq(px_infos_add(&infos, DIRS, "/t/a", PMIX_STRING), 0);
    ck_assert_int_eq(px_infos_add(&infos, PMIX_CLEANUP_RECURSIVE, NULL, PMIX_BOOL), 0);
    infos.v[1].value.type = PMIX_UNDEF;
    raw_begin(&w, PX_OP_JOB_CONTROL);
    px_pack_procs(&w, &me, 1);
    px_pack_infos(&w, infos.v, infos.n);
    ck_assert_int_eq(raw_request(fd, &w, NULL), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/b", PMIX_CLEANUP_RECURSIVE, NO),
                     PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/a dir recurse; /t/b dir");
    /* It is not there, so it does not want a folder either. */
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/f", PMIX_CLEANUP_LEAVE_TOPDIR, NO),
                     PMIX_SUCCESS);
    end(fd);
}
END_TEST

START_TEST(the_rfc_s_own_spellings_are_understood)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/a", "pmix.cleanup.recurse", YES,
                         "pmix.cleanup.lvtop", YES, "pmix.cleanup.ignore", "/t/a/x"),
                     PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0),
                     "/t/a/x keep; /t/a dir recurse leave-top");
    ck_assert_uint_eq(host_calls("job_control"), 0);
    end(fd);
}
END_TEST

/* ---- duplicates ----------------------------------------------------------------------------- */

START_TEST(recursive_wins_and_so_does_leave_top)
{
    static const struct {
        const char *first, *second, *result;
    } rows[] = {
        {NULL, PMIX_CLEANUP_RECURSIVE, "/t/d dir recurse"},
        {PMIX_CLEANUP_RECURSIVE, NULL, "/t/d dir recurse"},
        {PMIX_CLEANUP_LEAVE_TOPDIR, NULL, "/t/d dir leave-top"},
        {NULL, PMIX_CLEANUP_LEAVE_TOPDIR, "/t/d dir leave-top"},
        {PMIX_CLEANUP_LEAVE_TOPDIR, PMIX_CLEANUP_RECURSIVE,
         "/t/d dir recurse leave-top"},
        {PMIX_CLEANUP_RECURSIVE, PMIX_CLEANUP_LEAVE_TOPDIR,
         "/t/d dir recurse leave-top"},
        {PMIX_CLEANUP_EMPTY, PMIX_CLEANUP_RECURSIVE, "/t/d dir recurse"},
        {PMIX_CLEANUP_RECURSIVE, PMIX_CLEANUP_EMPTY, "/t/d dir recurse"},
        {PMIX_CLEANUP_EMPTY, PMIX_CLEANUP_EMPTY, "/t/d dir empty"},
        {PMIX_CLEANUP_EMPTY, NULL, "/t/d dir"},
    };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        int fd = raw_client(0);

        ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d", rows[i].first, YES), PMIX_SUCCESS);
        ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d", rows[i].second, YES), PMIX_SUCCESS);
        ck_assert_str_eq(cleaner_scope("job", 0), rows[i].result);
        ck_assert_str_eq(cleaner_journal(), rows[i].result);
        ck_assert_uint_eq(cleaner_n_entries(), 1);
        end(fd);
        cleaner_server(&host_module, 2);
    }
    end(-1);
}
END_TEST

START_TEST(folders_within_folders_are_not_duplicates)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d,/t/d/e", PMIX_CLEANUP_RECURSIVE, YES),
                     PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d/e/f"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0),
                     "/t/d dir recurse; /t/d/e dir recurse; /t/d/e/f dir");
    end(fd);
}
END_TEST

START_TEST(a_path_may_be_registered_as_file_and_as_folder)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d", FILES, "/t/d"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/d dir; /t/d file");
    end(fd);
}
END_TEST

static void become_4711(void *arg)
{
    struct px_peer *p = px_peer_find(px_process.server, arg);

    p->uid = 4711;
}

static void become_4712(void *arg)
{
    struct px_peer *p = px_peer_find(px_process.server, arg);

    p->uid = geteuid();
    p->gid = 4712;
}

START_TEST(user_and_group_are_kept_per_entry)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    raw_on_loop(become_4711, &me);
    ck_assert_int_eq(ASK(fd, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    /* Nor does one user's wish to keep it hinder the other's to have his own removed. */
    raw_on_loop(become_4712, &me);
    ck_assert_int_eq(ASK(fd, NULL, KEEP, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, NULL, KEEP, "/t/a"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", WILD), "/t/a file; /t/a file; /t/a keep");
    end(fd);
}
END_TEST

/* ---- conflicts ------------------------------------------------------------------------------ */

START_TEST(to_remove_and_to_ignore_a_file_is_a_conflict_that_changes_nothing)
{
    static const struct {
        const char *first, *second;
    } rows[] = {{FILES, KEEP}, {KEEP, FILES}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        int fd = raw_client(0);
        const char *was = i ? "/t/a keep" : "/t/a file";

        ck_assert_int_eq(
            ASK(fd, &me, FILES, "/t/b", rows[i].first, "/t/a", rows[i].second, "/t/a"),
            PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
        ck_assert_str_eq(cleaner_scope("job", 0), "");
        ck_assert_int_eq(ASK(fd, &me, rows[i].first, "/t/a"), PMIX_SUCCESS);
        ck_assert_int_eq(
            ASK(fd, &me, FILES, "/t/b", DIRS, "/t/d", rows[i].second, "/t/c,/t/./a"),
            PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
        ck_assert_str_eq(cleaner_scope("job", 0), was);
        ck_assert_str_eq(cleaner_journal(), was);
        ck_assert_uint_eq(cleaner_n_entries(), 1);
        /* What the refused request named besides is free. */
        ck_assert_int_eq(ASK(fd, &me, KEEP, "/t/b"), PMIX_SUCCESS);
        end(fd);
        cleaner_server(&host_module, 2);
    }
    end(-1);
}
END_TEST

START_TEST(scopes_do_not_conflict_with_each_other)
{
    int fd = raw_client(0), fd1 = raw_client(1);

    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &job, KEEP, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd1, &other, KEEP, "/t/a"), PMIX_SUCCESS);
    /* But a peer's wish for the whole job does with mine for it. */
    ck_assert_int_eq(ASK(fd1, NULL, FILES, "/t/a"),
                     PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
    close(fd1);
    end(fd);
}
END_TEST

START_TEST(the_same_folder_to_remove_and_to_ignore_is_no_conflict)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d", KEEP, "/t/d"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/d keep; /t/d dir");
    end(fd);
}
END_TEST

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
    end(fd);
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
    end(fd);
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
    end(fd);
}
END_TEST

static char *numbered(size_t first, size_t n, size_t pad)
{
    char *list = malloc(n * (pad + 16) + 1), *at = list;

    for (size_t i = first; i < first + n; i++)
        at += sprintf(at, "%s/t/%0*zu", i > first ? "," : "", (int)pad, i);
    return list;
}

START_TEST(a_client_has_4096_entries_and_a_mebibyte_of_paths)
{
    int fd = raw_client(0), fd1 = raw_client(1);
    PX_AUTOFREE char *most = numbered(0, 4095, 8), *two = numbered(5000, 2, 8);
    PX_AUTOFREE char *one = numbered(5000, 1, 8);
    PX_AUTOFREE char *more = numbered(0, 4097, 8), *longest = numbered(0, 4096, 253);
    PX_AUTOFREE char *longer = numbered(0, 4096, 254);

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
    end(fd);
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
    end(fd);
}
END_TEST

/* ---- whose end -------------------------------------------------------------------------------- */

START_TEST(without_a_target_it_is_the_requestor_s_namespace)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &job, FILES, "/t/b"), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/c"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", WILD), "/t/a file; /t/b file");
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/c file");
    end(fd);
}
END_TEST

START_TEST(another_process_is_a_target_only_of_the_same_user)
{
    int fd = raw_client(0);
    pmix_proc_t far = other;

    ck_assert_int_eq(ASK(fd, &other, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 1), "/t/a file");
    far.rank = 2;
    ck_assert_int_eq(ASK(fd, &far, FILES, "/t/a"), PMIX_ERR_NOT_FOUND);
    ck_assert_str_eq(cleaner_scope("job", 2), "");
    far.rank = PMIX_RANK_LOCAL_PEERS;
    ck_assert_int_eq(ASK(fd, &far, FILES, "/t/a"), PMIX_ERR_NOT_FOUND);
    raw_on_loop(become_4711, &me);
    ck_assert_int_lt(ASK(fd, &other, FILES, "/t/b"), 0);
    ck_assert_str_eq(cleaner_scope("job", 1), "/t/a file");
    end(fd);
}
END_TEST

START_TEST(other_namespaces_are_targets_if_their_clients_are_here_and_of_the_same_user)
{
    int fd = raw_client(0);
    pmix_proc_t target;

    raw_add_job("mine", 1, 0, geteuid());
    raw_add_job("theirs", 1, 0, geteuid() + 1);
    px_proc_set(&target, "elsewhere", WILD);
    ck_assert_int_eq(PMIx_server_register_nspace(target.nspace, 0, NULL, 0, NULL, NULL),
                     PMIX_SUCCESS);
    px_proc_set(&target, "mine", WILD);
    ck_assert_int_eq(ASK(fd, &target, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("mine", WILD), "/t/a file");
    px_proc_set(&target, "elsewhere", WILD);
    ck_assert_int_eq(ASK(fd, &target, FILES, "/t/a"), PMIX_ERR_NOT_FOUND);
    px_proc_set(&target, "unheard", WILD);
    ck_assert_int_eq(ASK(fd, &target, FILES, "/t/a"), PMIX_ERR_NOT_FOUND);
    ck_assert_ptr_null(px_nspace_find(px_process.model, "unheard"));
    px_proc_set(&target, "theirs", WILD);
    raw_on_loop(become_4711, &me);
    ck_assert_int_eq(ASK(fd, &target, FILES, "/t/a"), PMIX_ERR_NO_PERMISSIONS);
    px_proc_set(&target, "mine", WILD);
    ck_assert_int_eq(ASK(fd, &target, FILES, "/t/b"), PMIX_ERR_NO_PERMISSIONS);
    ck_assert_uint_eq(cleaner_n_entries(), 1);
    end(fd);
}
END_TEST

static pmix_status_t ask_for(int fd, const pmix_proc_t *procs, size_t n,
                             const char *file)
{
    PX_AUTO(px_infos) infos = {0};
    px_writer w;

    ck_assert_int_eq(px_infos_add(&infos, FILES, file, PMIX_STRING), 0);
    raw_begin(&w, PX_OP_JOB_CONTROL);
    px_pack_procs(&w, procs, n);
    px_pack_infos(&w, infos.v, infos.n);
    return raw_request(fd, &w, NULL);
}

START_TEST(each_of_several_targets_gets_the_entries_or_none_does)
{
    int fd = raw_client(0);
    pmix_proc_t procs[] = {me, other, me, job};

    ck_assert_int_eq(ask_for(fd, procs, 4, "/t/a"), PMIX_SUCCESS);
    ck_assert_uint_eq(cleaner_n_entries(), 3);
    ck_assert_str_eq(cleaner_scope("job", 1), "/t/a file");
    procs[3].rank = 77;
    ck_assert_int_eq(ask_for(fd, procs, 4, "/t/b"), PMIX_ERR_NOT_FOUND);
    ck_assert_uint_eq(cleaner_n_entries(), 3);
    ck_assert_int_eq(ASK(fd, &other, KEEP, "/t/c"), PMIX_SUCCESS);
    ck_assert_int_eq(ask_for(fd, procs, 3, "/t/c"),
                     PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/a file");
    ck_assert_str_eq(cleaner_journal(), "/t/a file; /t/a file; /t/a file; /t/c keep");
    end(fd);
}
END_TEST

/* ---- strictly local --------------------------------------------------------------------------- */

START_TEST(the_host_hears_nothing_of_clean_up)
{
    int fd = raw_client(0);

    host.how = HOST_INSIDE;
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a", PMIX_JOB_CTRL_ID, "id"), PMIX_SUCCESS);
    ck_assert_uint_eq(host_calls("job_control"), 0);
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/b", PMIX_JOB_CTRL_PAUSE, YES, DIRS, "/t/d",
                         PMIX_CLEANUP_RECURSIVE, YES, "pmix.cleanup.ignore", "/t/d/x"),
                     PMIX_SUCCESS);
    ck_assert_uint_eq(host_calls("job_control"), 1);
    ck_assert_ptr_nonnull(
        px_info_find(host.given.v, host.given.n, PMIX_JOB_CTRL_PAUSE));
    for (size_t i = 0; i < host.given.n; i++) {
        ck_assert_ptr_null(strstr(host.given.v[i].key, "clean"));
        ck_assert_ptr_null(strstr(host.given.v[i].key, "clnup"));
    }
    ck_assert_str_eq(cleaner_scope("job", 0),
                     "/t/a file; /t/d/x keep; /t/b file; /t/d dir recurse");
    /* A request that is refused here does not get there. */
    ck_assert_int_eq(ASK(fd, &me, FILES, "b", PMIX_JOB_CTRL_PAUSE, YES),
                     PMIX_ERR_BAD_PARAM);
    ck_assert_uint_eq(host_calls("job_control"), 1);
    end(fd);
}
END_TEST

START_TEST(a_host_without_job_control_is_not_needed)
{
    pmix_server_module_t module = host_module;

    module.job_control = NULL;
    cleaner_stop();
    cleaner_server(&module, 2);
    int fd = raw_client(0);
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/a file");
    ck_assert_int_eq(ASK(fd, &me, PMIX_JOB_CTRL_PAUSE, YES), PMIX_ERR_NOT_SUPPORTED);
    end(fd);
}
END_TEST

START_TEST(nor_is_any_host_at_all)
{
    cleaner_stop();
    cleaner_server(NULL, 2);
    int fd = raw_client(0);
    ck_assert_int_eq(ASK(fd, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", WILD), "/t/a file");
    end(fd);
}
END_TEST

START_TEST(the_server_s_own_call_registers_for_its_clients_and_itself)
{
    pmix_info_t info;

    PMIx_Info_load(&info, FILES, "/t/a", PMIX_STRING);
    ck_assert_int_eq(PMIx_Job_control(&job, 1, &info, 1, NULL, NULL), PMIX_SUCCESS);
    ck_assert_int_eq(PMIx_Job_control(&other, 1, &info, 1, NULL, NULL), PMIX_SUCCESS);
    ck_assert_int_eq(PMIx_Job_control(NULL, 0, &info, 1, NULL, NULL), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", WILD), "/t/a file");
    ck_assert_str_eq(cleaner_scope("job", 1), "/t/a file");
    ck_assert_str_eq(cleaner_scope(px_process.server->proc.nspace, WILD), "/t/a file");
    ck_assert_uint_eq(cleaner_n_ran(), 0);
    PMIx_Info_destruct(&info);
    end(-1);
    ck_assert_uint_ne(cleaner_ran[0], 0); /* at its end */
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
    end(fd);
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
    PX_AUTOFREE char *path = NULL, *many = numbered(0, 1000, 8);

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
    end(fd);
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
    end(fd);
}
END_TEST

START_TEST(totals_are_known_by_query)
{
    static const struct {
        const char *key;
        uint64_t value;
    } rows[] = {
        {"tenon.cleanup.registered", 3},      {"tenon.cleanup.scopes", 2},
        {"tenon.cleanup.files", 0},           {"tenon.cleanup.failed", 0},
        {"tenon.cleanup.reclaimed.files", 0},
    };
    int fd = raw_client(0);
    char *keys[] = {(char *)"tenon.cleanup", NULL};
    pmix_query_t q = {.keys = keys};
    pmix_info_t *got = NULL;
    size_t n = 0;

    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a,/t/b"), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_int_eq(PMIx_Query_info(&q, 1, &got, &n), PMIX_SUCCESS);
    ck_assert_uint_eq(host_calls("query"), 0);
    ck_assert_uint_eq(n, 1);
    ck_assert_str_eq(got[0].key, "tenon.cleanup");
    ck_assert_uint_eq(got[0].value.type, PMIX_DATA_ARRAY);
    const pmix_data_array_t *a = got[0].value.data.darray;
    ck_assert_uint_eq(a->type, PMIX_INFO);
    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_info_t *info = px_info_find(a->array, a->size, rows[i].key);
        uint64_t value;

        ck_assert_ptr_nonnull(info);
        ck_assert(px_value_to_u64(&info->value, &value));
        ck_assert_uint_eq(value, rows[i].value);
    }
    PMIx_Info_free(got, n);
    end(fd);
}
END_TEST

PX_TEST_MAIN_WITH(
    "server/cleanup", setup, teardown,
    several_of_each_in_one_call_and_over_calls_are_all_registered,
    paths_are_normal_before_they_are_compared,
    commas_are_split_before_duplicates_are_compared,
    directives_pertain_to_all_folders_of_their_request,
    a_directive_without_a_value_is_true_and_a_false_one_is_not_given,
    the_rfc_s_own_spellings_are_understood, recursive_wins_and_so_does_leave_top,
    folders_within_folders_are_not_duplicates,
    a_path_may_be_registered_as_file_and_as_folder, user_and_group_are_kept_per_entry,
    to_remove_and_to_ignore_a_file_is_a_conflict_that_changes_nothing,
    scopes_do_not_conflict_with_each_other,
    the_same_folder_to_remove_and_to_ignore_is_no_conflict,
    a_bad_path_anywhere_registers_nothing_of_the_request,
    values_of_the_wrong_type_register_nothing,
    directives_want_a_folder_and_ignoring_does_not,
    a_client_has_4096_entries_and_a_mebibyte_of_paths,
    what_is_named_too_often_is_refused_before_it_is_all_read,
    without_a_target_it_is_the_requestor_s_namespace,
    another_process_is_a_target_only_of_the_same_user,
    other_namespaces_are_targets_if_their_clients_are_here_and_of_the_same_user,
    each_of_several_targets_gets_the_entries_or_none_does,
    the_host_hears_nothing_of_clean_up, a_host_without_job_control_is_not_needed,
    nor_is_any_host_at_all, the_server_s_own_call_registers_for_its_clients_and_itself,
    without_component_or_group_it_is_not_supported,
    a_journal_that_cannot_be_written_leaves_everything_as_it_was,
    without_memory_nothing_is_registered, totals_are_known_by_query)

/* SPDX-License-Identifier: BSD-3-Clause */
/* What may be registered for clean-up, and for whose end: the rules of RFC 0027, one by one. What is
 * refused, and what fails, is in test_cleanup_refused.c. */
#include "cleaner.h"
#include "fake_host.h"
#include "px_test.h"

#include <string.h>

static void setup(void)
{
    cleaner_setup();
    cleaner_server(&host_module, 2);
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
    cleaner_end(fd);
}
END_TEST

START_TEST(paths_are_normal_before_they_are_compared)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, FILES, "/t//a,/t/./a,/t/a", DIRS, "/t/d/,/t/d"),
                     PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/a file; /t/d dir");
    cleaner_end(fd);
}
END_TEST

START_TEST(commas_are_split_before_duplicates_are_compared)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/a,/t/b"), PMIX_SUCCESS);
    ck_assert_int_eq(ASK(fd, &me, FILES, "/t/b,/t/a,/t/c"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/a file; /t/b file; /t/c file");
    cleaner_end(fd);
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
    cleaner_end(fd);
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
    cleaner_end(fd);
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
    cleaner_end(fd);
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
        cleaner_end(fd);
        cleaner_server(&host_module, 2);
    }
    cleaner_end(-1);
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
    cleaner_end(fd);
}
END_TEST

START_TEST(a_path_may_be_registered_as_file_and_as_folder)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d", FILES, "/t/d"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/d dir; /t/d file");
    cleaner_end(fd);
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
    cleaner_end(fd);
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
        cleaner_end(fd);
        cleaner_server(&host_module, 2);
    }
    cleaner_end(-1);
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
    cleaner_end(fd);
}
END_TEST

START_TEST(the_same_folder_to_remove_and_to_ignore_is_no_conflict)
{
    int fd = raw_client(0);

    ck_assert_int_eq(ASK(fd, &me, DIRS, "/t/d", KEEP, "/t/d"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", 0), "/t/d keep; /t/d dir");
    cleaner_end(fd);
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
    cleaner_end(fd);
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
    cleaner_end(fd);
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
    cleaner_end(fd);
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
    cleaner_end(fd);
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
    cleaner_end(fd);
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
    cleaner_end(fd);
}
END_TEST

START_TEST(nor_is_any_host_at_all)
{
    cleaner_stop();
    cleaner_server(NULL, 2);
    int fd = raw_client(0);
    ck_assert_int_eq(ASK(fd, NULL, FILES, "/t/a"), PMIX_SUCCESS);
    ck_assert_str_eq(cleaner_scope("job", WILD), "/t/a file");
    cleaner_end(fd);
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
    cleaner_end(-1);
    ck_assert_uint_ne(cleaner_ran[0], 0); /* at its end */
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
    cleaner_end(fd);
}
END_TEST

PX_TEST_MAIN_WITH(
    "server/cleanup", setup, cleaner_teardown,
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
    without_a_target_it_is_the_requestor_s_namespace,
    another_process_is_a_target_only_of_the_same_user,
    other_namespaces_are_targets_if_their_clients_are_here_and_of_the_same_user,
    each_of_several_targets_gets_the_entries_or_none_does,
    the_host_hears_nothing_of_clean_up, a_host_without_job_control_is_not_needed,
    nor_is_any_host_at_all, the_server_s_own_call_registers_for_its_clients_and_itself,
    totals_are_known_by_query)

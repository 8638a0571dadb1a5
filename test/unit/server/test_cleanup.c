/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests for clean-up, accepted or refused: the rules of RFC 0027 and the habits of programs.
 * test_cleanup_model.c has random requests: lists of paths in every form, with conflicts. */
#include "cleaner.h"
#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "fake_host.h"
#include "px_test.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>

enum {
    BAD = PMIX_ERR_BAD_PARAM,
    CONFLICT = PMIX_ERR_CONFLICTING_CLEANUP_DIRECTIVES,
    FULL = PMIX_ERR_OUT_OF_RESOURCE,
    UNKNOWN = PMIX_ERR_NOT_FOUND,
    DENIED = PMIX_ERR_NO_PERMISSIONS,
    UNABLE = PMIX_ERR_NOT_SUPPORTED,
};

/* Rank that sends a request, the status of the reply, and the registry afterwards (NULL:
 * unchanged). */
struct row {
    pmix_rank_t who;
    const char *request;
    int status;
    const char *after;
};

static int fds[2] = {-1, -1};

static void setup(void)
{
    cleaner_setup();
    for (pmix_rank_t rank = 0; rank < PX_COUNT(fds); rank++)
        fds[rank] = raw_client(rank);
}

static void teardown(void)
{
    cleaner_teardown();
    for (size_t i = 0; i < PX_COUNT(fds); i++)
        close(fds[i]);
}

static void ask_rows(const struct row *rows, size_t n)
{
    static char was[1 << 16];

    px_str_copy(was, sizeof(was), cleaner_registry());
    for (size_t i = 0; i < n; i++) {
        int rc = cleaner_ask(fds[rows[i].who], rows[i].request);
        const char *is = cleaner_registry();

        ck_assert_msg(rc == rows[i].status, "%s: %d", rows[i].request, rc);
        ck_assert_msg(strcmp(is, rows[i].after ? rows[i].after : was) == 0, "%s: %s",
                      rows[i].request, is);
        px_str_copy(was, sizeof(was), is);
    }
}

#define ASK_ROWS(...)                             \
    do {                                          \
        const struct row rows_[] = {__VA_ARGS__}; \
        ask_rows(rows_, PX_COUNT(rows_));         \
    } while (0)

/* ---- accepted requests --------------------------------------------------------------------- */

PX_TEST(directives_pertain_to_all_folders_of_their_request)
{
    ASK_ROWS({0, "0 d=/t/a recurse d=/t/b f=/t/f", 0,
              "0: /t/a dir recurse, /t/b dir recurse, /t/f file"},
             {0, "1 leave d=/t/d", 0,
              "0: /t/a dir recurse, /t/b dir recurse, /t/f file | "
              "1: /t/d dir leave-top"},
             {0, "1 empty d=/t/e", 0,
              "0: /t/a dir recurse, /t/b dir recurse, /t/f file | "
              "1: /t/d dir leave-top, /t/e dir empty"});
}

PX_TEST(a_directive_without_a_value_is_true_and_a_false_one_is_not_given)
{
    ASK_ROWS({0, "0 d=/t/a ~recurse", 0, "0: /t/a dir recurse"},
             {0, "0 d=/t/b -recurse", 0, "0: /t/a dir recurse, /t/b dir"});
}

PX_TEST(the_spellings_of_the_rfc_are_understood)
{
    ASK_ROWS(
        {0,
         "0 d=/t/a pmix.cleanup.recurse pmix.cleanup.lvtop pmix.cleanup.ignore=/t/a/x",
         0, "0: /t/a/x keep, /t/a dir recurse leave-top"});
}

/* Open MPI and others send such requests, and OpenPMIx accepts them. */
PX_TEST(what_has_no_effect_does_no_harm)
{
    ASK_ROWS({0, "0 recurse", 0, ""}, {0, "0 f=/t/f leave empty", 0, "0: /t/f file"},
             {0, "0 k=/t/k recurse", 0, "0: /t/f file, /t/k keep"},
             {0, "0 f= d=, k=,,", 0, NULL},
             {0, "job f=,/t/a,,/t/b, d=/t/d,", 0,
              "0: /t/f file, /t/k keep | *: /t/a file, /t/b file, /t/d dir"});
}

PX_TEST(dots_are_resolved)
{
    ASK_ROWS({0, "0 f=/t/x/../a,/t/../t/a,/../t/b d=/t/d/..", 0,
              "0: /t/a file, /t/b file, /t dir"},
             {0, "0 k=/t/c/.././a", CONFLICT, NULL}, {0, "0 f=/t/..", BAD, NULL},
             {0, "0 f=/../proc/1/x", BAD, NULL});
}

PX_TEST(recursive_wins_and_so_does_leave_top)
{
    static const char *const rows[][3] = {
        {"", "recurse", " recurse"},
        {"recurse", "", " recurse"},
        {"leave", "", " leave-top"},
        {"", "leave", " leave-top"},
        {"empty", "recurse", " recurse"},
        {"recurse", "empty", " recurse"},
        {"empty", "empty", " empty"},
        {"empty", "", ""},
        {"leave", "recurse", " recurse leave-top"},
        {"recurse", "leave", " recurse leave-top"},
    };
    char first[64], second[64], is[64];

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        snprintf(first, sizeof(first), "0 d=/t/%zu %s", i, rows[i][0]);
        snprintf(second, sizeof(second), "0 d=/t/%zu %s", i, rows[i][1]);
        snprintf(is, sizeof(is), "/t/%zu dir%s", i, rows[i][2]);
        ok(cleaner_ask(fds[0], first));
        ok(cleaner_ask(fds[0], second));
        const char *found = strstr(cleaner_registry(), is);
        ck_assert_msg(found && strchr(",", found[strlen(is)]), "%s", is);
    }
}

/* ---- conflicts ------------------------------------------------------------------------------ */

static uid_t next_uid;
static gid_t next_gid;

static void become(void *arg)
{
    struct px_peer *p = px_peer_find(px_process.server, arg);

    p->uid = next_uid;
    p->gid = next_gid;
}

static void ask_as(uid_t uid, gid_t gid)
{
    pmix_proc_t me;

    px_proc_set(&me, "job", 0);
    next_uid = uid;
    next_gid = gid;
    raw_on_loop(become, &me);
}

PX_TEST(users_do_not_conflict_and_groups_have_entries_of_their_own)
{
    ASK_ROWS({0, "- f=/t/a", 0, "*: /t/a file"});
    ask_as(4711, getegid());
    ASK_ROWS({0, "- k=/t/a", 0, "*: /t/a file, /t/a keep"}, {0, "- k=/t/a", 0, NULL});
    ask_as(geteuid(), 4712);
    ASK_ROWS({0, "- f=/t/a", 0, "*: /t/a file, /t/a keep, /t/a file"},
             {0, "- f=/t/a", 0, NULL}, {0, "- k=/t/a", CONFLICT, NULL});
}

/* ---- targets -------------------------------------------------------------------------------- */

PX_TEST(targets_are_the_process_its_peers_and_its_job)
{
    ASK_ROWS(
        {0, "- f=/t/a", 0, "*: /t/a file"},
        {0, "job f=/t/b", 0, "*: /t/a file, /t/b file"},
        {0, "0 f=/t/c", 0, "*: /t/a file, /t/b file | 0: /t/c file"},
        {0, "1 f=/t/d", 0, "*: /t/a file, /t/b file | 0: /t/c file | 1: /t/d file"},
        {0, "4 f=/t/a", UNKNOWN, NULL}, {0, "4294967290 f=/t/a", UNKNOWN, NULL},
        {0, "0,1,0,4 f=/t/e", UNKNOWN, NULL},
        {0, "0,1,0,job f=/t/a,/t/d", 0,
         "*: /t/a file, /t/b file, /t/d file | 0: /t/c file, /t/a file, /t/d file "
         "| 1: /t/d file, /t/a file"});
}

PX_TEST(of_other_users_only_theirs_are)
{
    ask_as(4711, getegid());
    ASK_ROWS({0, "1 f=/t/a", DENIED, ""});
}

PX_TEST(other_namespaces_are_if_their_clients_are_here_and_of_the_same_user)
{
    static const pmix_nspace_t elsewhere = "elsewhere";

    raw_add_job("mine", 1, 0, geteuid());
    raw_add_job("theirs", 1, 0, geteuid() + 1);
    at_once(PMIx_server_register_nspace(elsewhere, 0, NULL, 0, NULL, NULL));
    ASK_ROWS({0, "mine.* f=/t/a", 0, "mine.*: /t/a file"},
             {0, "elsewhere.* f=/t/a", UNKNOWN, NULL},
             {0, "unheard.* f=/t/a", UNKNOWN, NULL});
    ck_assert_ptr_null(px_nspace_find(px_process.model, "unheard"));
    ask_as(4711, getegid());
    ASK_ROWS({0, "theirs.* f=/t/a", DENIED, NULL}, {0, "mine.* f=/t/b", DENIED, NULL});
}

PX_TEST(the_server_s_own_call_registers_for_its_clients_and_itself)
{
    PX_TEST_NEEDS_PROC;
    static const char *const targets[] = {"job", "1", "-"};
    char is[600];

    for (size_t i = 0; i < PX_COUNT(targets); i++) {
        pmix_proc_t proc[1];
        PX_AUTO(px_infos) infos = {0};
        size_t n;

        cleaner_parse(targets[i], proc, &n, &infos);
        ok(px_infos_add(&infos, PMIX_REGISTER_CLEANUP, "/t/a", PMIX_STRING));
        ok(PMIx_Job_control(n ? proc : NULL, n, infos.v, infos.n, NULL, NULL));
    }
    snprintf(is, sizeof(is), "*: /t/a file | 1: /t/a file | %s.*: /t/a file",
             px_process.server->proc.nspace);
    ck_assert_str_eq(cleaner_registry(), is);
    snprintf(is, sizeof(is), "%s.*", px_process.server->proc.nspace);
    (void)cleaner_ran(0);
    cleaner_stop();
    ck_assert_str_eq(cleaner_ran(1), is); /* at the end of the server */
}

/* ---- the host --------------------------------------------------------------------------------- */

PX_TEST(the_host_gets_no_request_for_clean_up)
{
    host.how = HOST_INSIDE;
    ASK_ROWS({0, "0 f=/t/a id=me", 0, "0: /t/a file"},
             {0, "0 f=/t/b vendor.option", 0, "0: /t/a file, /t/b file"});
    ck_assert_uint_eq(host_calls("job_control"), 0);
    ASK_ROWS({0, "0 f=/t/c pause d=/t/d recurse pmix.cleanup.ignore=/t/d/x", 0,
              "0: /t/a file, /t/b file, /t/d/x keep, /t/c file, /t/d dir recurse"});
    ck_assert_uint_eq(host_calls("job_control"), 1);
    ck_assert_ptr_nonnull(
        px_info_find(host.given.v, host.given.n, PMIX_JOB_CTRL_PAUSE));
    for (size_t i = 0; i < host.given.n; i++) {
        ck_assert_ptr_null(strstr(host.given.v[i].key, "clean"));
        ck_assert_ptr_null(strstr(host.given.v[i].key, "clnup"));
    }
    /* The host does not get a refused request. */
    ASK_ROWS({0, "0 f=b pause", BAD, NULL}, {0, "0 k=/t/a pause", CONFLICT, NULL});
    ck_assert_uint_eq(host_calls("job_control"), 1);
}

PX_TEST(what_the_host_refuses_registers_nothing)
{
    host.how = HOST_INSIDE;
    host.status = PMIX_ERR_NOT_SUPPORTED;
    ASK_ROWS({0, "0 f=/t/a pause", UNABLE, ""}, {0, "0 f=/t/a !vendor", UNABLE, ""},
             {0, "0 f=/t/a vendor", 0, "0: /t/a file"});
    host.how = HOST_ERROR;
    host.status = PMIX_ERR_NOMEM;
    ASK_ROWS({0, "0 f=/t/b pause", PMIX_ERR_NOMEM, NULL});
    host.how = HOST_DONE;
    ASK_ROWS({0, "0 f=/t/b pause", 0, "0: /t/a file, /t/b file"});
}

static void start_anew(const pmix_server_module_t *module)
{
    cleaner_restart(module, 2);
    close(fds[0]);
    fds[0] = raw_client(0);
}

PX_TEST(no_host_is_needed)
{
    pmix_server_module_t module = host_module;

    module.job_control = NULL;
    start_anew(&module);
    ASK_ROWS({0, "0 f=/t/a", 0, "0: /t/a file"}, {0, "0 ckpt", UNABLE, NULL},
             {0, "0 f=/t/b ckpt", UNABLE, NULL});
    start_anew(NULL);
    ASK_ROWS({0, "- f=/t/a", 0, "*: /t/a file"});
}

/* ---- refused requests ----------------------------------------------------------------------- */

PX_TEST(a_bad_path_anywhere_registers_nothing_of_the_request)
{
    static const char *const bad[] = {"a",       "./a",   "/",      "//",
                                      "/.",      "/..",   "t/../a", "/t/a,b",
                                      "/proc/1", "/proc", "/sys/x"};
    PX_AUTOFREE char *name = cleaner_numbered("", 0, 1, 255), *request;
    char path[8193] = "";

    for (const char *kind = "fdk"; *kind; kind++) {
        for (size_t i = 0; i < PX_COUNT(bad); i++) {
            request = px_strf("0 f=/t/f %c=%s d=/t/d", *kind, bad[i]);
            ASK_ROWS({0, request, BAD, ""});
            free(px_take(&request));
        }
        request = px_strf("0 %c=%s0", *kind, name);
        ASK_ROWS({0, request, BAD, ""});
        free(px_take(&request));
        for (size_t n = 0; n < 8190; n += 2)
            memcpy(path + n, "/p", 3);
        request = px_strf("0 %c=%s", *kind, path);
        ASK_ROWS({0, request, BAD, ""});
        free(px_take(&request));
    }
    path[4094] = '\0';
    request = px_strf("0 f=%s", path);
    ok(cleaner_ask(fds[0], request));
}

static void read_rests(void *n)
{
    *(size_t *)n = px_process.server->part.turns->n_rests;
}

PX_TEST(many_paths_are_read_in_several_turns)
{
    enum { PATHS = 1000, IN_A_TURN = 16 };
    PX_AUTOFREE char *many = cleaner_numbered("0 f=", 0, PATHS, 8),
                     *wrong = px_strf("%s,relative", many);
    size_t before, after;

    ASK_ROWS({0, wrong, BAD, ""});
    raw_on_loop(read_rests, &before);
    ok(cleaner_ask(fds[0], many));
    raw_on_loop(read_rests, &after);
    ck_assert_uint_ge(after - before, PATHS / IN_A_TURN);
    fails(cleaner_ask(fds[0], "0 k=/t/00000999"), CONFLICTING_CLEANUP_DIRECTIVES);
}

/* Ends the connection of rank 1 when some of its paths have been read. */
static void lose_reader(void *timer)
{
    struct px_server *srv = px_process.server;
    const pmix_proc_t who = raw_proc("job", 1);

    if (px_list_empty(&srv->part.readings))
        px_timer_set(*(struct px_timer **)timer, 0);
    else
        px_server_peer_lost(srv, px_peer_find(srv, &who), PMIX_SUCCESS);
}

static void make_timer(void *timer)
{
    *(struct px_timer **)timer = px_timer_create(px_process.server->loop, lose_reader,
                                                 timer);
    lose_reader(timer);
}

static void free_timer(void *timer)
{
    px_timer_free(*(struct px_timer **)timer);
}

PX_TEST(a_client_that_is_lost_before_its_paths_are_read_registers_nothing)
{
    PX_AUTOFREE char *many = cleaner_numbered("job f=", 0, 1000, 8);
    struct px_timer *timer = NULL;

    raw_on_loop(make_timer, &timer);
    cleaner_send(fds[1], many);
    raw_await_gone(1);
    raw_on_loop(free_timer, &timer);
    ck_assert_str_eq(cleaner_registry(), "");
}

PX_TEST(values_of_the_wrong_type_register_nothing)
{
    ASK_ROWS({0, "0 d=/t/d f:bool", BAD, ""}, {0, "0 d=/t/d f:int", BAD, ""},
             {0, "0 d=/t/d f:null", BAD, ""}, {0, "0 d=/t/d d:bool", BAD, ""},
             {0, "0 d=/t/d d:null", BAD, ""}, {0, "0 d=/t/d k:int", BAD, ""},
             {0, "0 d=/t/d pmix.cleanup.ignore:bool", BAD, ""},
             {0, "0 d=/t/d recurse:int", BAD, ""}, {0, "0 d=/t/d leave=true", BAD, ""},
             {0, "0 d=/t/d empty:int", BAD, ""},
             {0, "0 d=/t/d pmix.cleanup.recurse=true", BAD, ""});
}

PX_TEST(a_client_has_4096_entries_and_a_mebibyte_of_paths)
{
    PX_AUTOFREE char *most = cleaner_numbered("0 f=", 0, 4095, 8),
                     *two = cleaner_numbered("job f=", 5000, 2, 8),
                     *one = cleaner_numbered("job f=", 5000, 1, 8),
                     *more = cleaner_numbered("0 f=", 0, 4097, 8),
                     *longest = cleaner_numbered("1 f=", 0, 4096, 253),
                     *longer = cleaner_numbered("1 f=", 0, 4096, 254);
    const struct {
        pmix_rank_t who;
        const char *request;
        int status;
        size_t n;
    } rows
        [] =
            {
                {0, more, FULL, 0},
                {0, most, 0, 4095},
                {0, two, FULL, 4095},
                {0, one, 0, 4096},
                {0, most, 0, 4096},
                {0, "0 f=/t/x", FULL, 4096},
                {1, longer, FULL, 4096},
                {1, longest, 0, 8192}, /* another client has its own limits */
            };

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        ck_assert_int_eq(cleaner_ask(fds[rows[i].who], rows[i].request),
                         rows[i].status);
        ck_assert_uint_eq(px_process.server->part.cleanup->n_entries, rows[i].n);
    }
}

PX_TEST(what_is_named_too_often_is_refused_before_it_is_all_read)
{
    const size_t n = 20000, begin = strlen("0 f=");
    PX_AUTOFREE char *list = malloc(begin + 5 * n + 1);

    strcpy(list, "0 f=");
    for (size_t i = 0; i < n; i++)
        memcpy(list + begin + 5 * i, i + 1 < n ? "/t/a," : "/t/a\0", 6);
    ASK_ROWS({0, list, FULL, ""});
    list[begin + 5 * 10000 - 1] = '\0';
    ASK_ROWS({0, list, 0, "0: /t/a file"});
}

static void without_component(void *arg)
{
    static const struct px_module *ours;
    struct px_session *s = px_process.server->part.session;

    if (arg)
        ours = s->cleaner;
    s->cleaner = arg ? NULL : ours;
}

PX_TEST(without_component_or_group_it_is_not_supported)
{
    raw_on_loop(without_component, fds);
    ASK_ROWS({0, "0 f=/t/a", UNABLE, ""});
    raw_on_loop(without_component, NULL);
    ask_as(geteuid(), (gid_t)-1);
    ASK_ROWS({0, "0 f=/t/a", UNABLE, ""});
}

struct limited {
    px_infos infos;
    pmix_proc_t proc;
    rlim_t journal_b;
    pmix_status_t rc;
};

/* Registers with a limit for file sizes. Runs on the loop, as Check writes files, too. */
static void register_limited(void *arg)
{
    struct limited *l = arg;
    struct px_server *srv = px_process.server;
    struct rlimit was, small;

    getrlimit(RLIMIT_FSIZE, &was);
    small = (struct rlimit){l->journal_b, was.rlim_max};
    setrlimit(RLIMIT_FSIZE, &small);
    l->rc = cleaner_register(px_peer_find(srv, &l->proc), &l->proc, 1, &l->infos);
    setrlimit(RLIMIT_FSIZE, &was);
}

PX_TEST(a_journal_that_cannot_be_written_leaves_everything_as_it_was)
{
    PX_AUTOFREE char *many = cleaner_numbered("0 d=/t/d recurse f=", 0, 1000, 8),
                     *keep = cleaner_numbered("0 k=", 0, 1000, 8);

    signal(SIGXFSZ, SIG_IGN);
    ok(cleaner_ask(fds[0], "0 d=/t/d k=/t/k"));
    for (rlim_t room = 0; room < 4000; room += 499) {
        struct limited l = {.journal_b = (rlim_t)cleaner_journal_b() + room};
        size_t n;

        cleaner_parse(many, &l.proc, &n, &l.infos);
        raw_on_loop(register_limited, &l);
        px_infos_cleanup(&l.infos);
        ck_assert_int_lt(l.rc, 0);
        ck_assert_str_eq(cleaner_registry(), "0: /t/k keep, /t/d dir");
    }
    /* The failed requests do not hinder the next request. */
    ok(cleaner_ask(fds[0], keep));
}

PX_TEST_MAIN("server/cleanup", setup, teardown)

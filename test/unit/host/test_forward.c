/* SPDX-License-Identifier: BSD-3-Clause */
/* Streams of jobs for other programs: pushes to the stdin of processes, and pulls of their output. */
#include "jobs.h"

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "alloc_fail.h"
#include "core/base/fd.h"
#include "core/model/nspace.h"
#include "core/rt/process.h"
#include "core/server/host.h"
#include "core/server/peer/peer.h"
#include "pmix_tool.h"
#include "tenon/component.h"

static const pmix_proc_t other = {.nspace = "a-tool"};

/* Spawns n processes for another program. to: rank that gets stdin; NULL: the first rank. */
static void spawn_fed(int n, const pmix_rank_t *to, const char *script)
{
    const pmix_app_t app = shell_of(n, script);
    PX_AUTO(px_infos) infos = {0};

    ok(px_infos_add(&infos, PMIX_FWD_STDIN, NULL, PMIX_BOOL));
    if (to)
        ok(px_infos_add(&infos, PMIX_STDIN_TGT, to, PMIX_PROC_RANK));
    ok(spawn_by(&other, infos.v, infos.n, &app));
}

static pmix_proc_t rank_of_job(pmix_rank_t rank)
{
    pmix_proc_t proc;

    px_proc_set(&proc, job_name, rank);
    return proc;
}

static pmix_status_t push_to(const pmix_proc_t *targets, size_t n, const char *text)
{
    pmix_byte_object_t bytes = {(char *)text, strlen(text)};

    return PMIx_IOF_push(targets, n, &bytes, NULL, 0, NULL, NULL);
}

static pmix_status_t push(pmix_rank_t rank, const char *text)
{
    pmix_proc_t target = rank_of_job(rank);

    return push_to(&target, 1, text);
}

static void assert_file(const char *name, const char *wanted)
{
    char text[256] = "";
    PX_AUTOCLOSE int fd = open(px_test_path(name), O_RDONLY | O_CLOEXEC);

    ck_assert_msg(fd >= 0, "no file %s", name);
    ck_assert_int_ge(read(fd, text, sizeof(text) - 1), 0);
    ck_assert_str_eq(text, wanted);
    remove_file(name);
}

PX_TEST(what_is_pushed_comes_to_one_to_some_or_to_all_until_its_end)
{
    const pmix_rank_t all = PMIX_RANK_WILDCARD;

    spawn_fed(3, &all, "cat >in.$PMIX_RANK");
    const pmix_proc_t some[] = {rank_of_job(0), rank_of_job(2), rank_of_job(0)};
    ok(push(1, "one "));
    ok(push_to(some, 3, "some "));
    ok(push(PMIX_RANK_WILDCARD, "all"));
    ok(push(0, ""));
    ok(push(0, "too late"));
    ok(push(PMIX_RANK_WILDCARD, ""));
    await_end(PMIX_SUCCESS);
    assert_file("in.0", "some all");
    assert_file("in.1", "one all");
    assert_file("in.2", "some all");
}

/* Job and the tool that requests the job. */
struct brief {
    pmix_info_t *info;
    size_t n;
    pmix_app_t app;
};

/* Adds a connected tool that never reads. */
static struct px_peer *connect_tool(void)
{
    struct px_peer *tool = calloc(1, sizeof(*tool));

    ck_assert_ptr_nonnull(tool);
    *tool = (struct px_peer){
        .proc = other, .server = px_process.server, .tool = true, .refs = 1};
    px_list_append(&px_process.server->peers, &tool->link);
    return tool;
}

static void do_connect(struct px_call *call, void *tool)
{
    *(struct px_peer **)tool = connect_tool();
    px_call_done(call, PMIX_SUCCESS);
}

static void do_leave(struct px_call *call, void *tool)
{
    px_server_peer_lost(px_process.server, tool, PMIX_SUCCESS);
    px_call_done(call, PMIX_SUCCESS);
}

static void on_launched(pmix_status_t status, char nspace[] PX_UNUSED, void *cbdata)
{
    px_call_done(cbdata, status);
}

static void do_spawn_and_leave(struct px_call *call, void *arg)
{
    const struct brief *b = arg;
    struct px_server *srv = px_process.server;
    struct px_peer *tool = connect_tool();
    pmix_status_t rc;

    rc = srv->module.spawn(&other, b->info, b->n, &b->app, 1, on_launched, call);
    px_server_peer_lost(srv, tool, PMIX_SUCCESS);
    if (rc)
        px_call_done(call, rc);
}

PX_TEST(input_of_a_job_ends_if_its_spawner_leaves_during_the_launch)
{
    PX_AUTO(px_infos) infos = {0};

    make_file("file"); /* the copy makes the launch wait for another thread */
    ok(px_infos_add(&infos, PMIX_FWD_STDIN, NULL, PMIX_BOOL));
    ok(px_infos_add(&infos, PMIX_PRELOAD_FILES, px_test_path("file"), PMIX_STRING));
    ok(px_call(px_process.loop, do_spawn_and_leave,
               &(struct brief){infos.v, infos.n, shell_of(1, "cat >in")}));
    await_end(PMIX_SUCCESS);
    assert_file("in", "");
}

/* A tool of another library tags its output itself. */
PX_TEST(only_tools_of_other_libraries_tag_their_output_themselves)
{
    static const struct {
        bool is_ours, tool, connected, tags;
    } rows[] = {{true, true, true, false},
                {false, true, true, true},
                {false, false, true, false},
                {false, true, false, false}};
    struct px_server *srv = px_process.server;

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        struct px_peer peer = {
            .proc = other, .tool = rows[i].tool, .is_ours = rows[i].is_ours};

        if (rows[i].connected)
            px_list_append(&srv->peers, &peer.link);
        ck_assert_msg(px_server_iof_tags(srv, &other) == rows[i].tags, "row %zu", i);
        px_list_remove(&peer.link);
    }
}

static void do_nothing(struct px_call *call, void *arg PX_UNUSED)
{
    px_call_done(call, PMIX_SUCCESS);
}

/* The server writes the output itself, as for a tool that has gone. */
PX_TEST(output_that_cannot_be_forwarded_is_not_lost_and_the_log_has_a_line)
{
    const pmix_app_t app = shell_of(
        1, "while ! test -f go; do sleep 0.01; done; echo text");
    const char *go = px_test_path("go");
    char text[2][1024] = {""};
    struct px_peer *tool;
    pmix_info_t info;
    int fds[2];

    PX_TEST_NEEDS_ALLOC;
    for (int i = 0; i < 2; i++) {
        fds[i] = open(px_test_path(i ? "err" : "out"),
                      O_CREAT | O_RDWR | O_APPEND | O_CLOEXEC, 0600);
        ck_assert_int_eq(dup2(fds[i], STDOUT_FILENO + i), STDOUT_FILENO + i);
    }
    ok(px_call(px_process.loop, do_connect, &tool));
    ok(PMIx_Info_load(&info, PMIX_FWD_STDOUT, NULL, PMIX_BOOL));
    ok(spawn_by(&other, &info, 1, &app));
    ok(px_call(px_process.loop, do_nothing, NULL)); /* the launch is over */
    px_alloc_fail_at(1);                            /* fails the delivery of the line */
    close(open(go, O_CREAT | O_WRONLY | O_CLOEXEC, 0600));
    await_end(PMIX_SUCCESS);
    ck_assert(px_alloc_fail_end());
    for (int i = 0; i < 2; i++)
        ck_assert_int_ge(pread(fds[i], text[i], sizeof(text[i]) - 1, 0), 0);
    ck_assert_str_eq(text[0], "text\n");
    ck_assert_msg(strstr(text[1], "cannot forward output of rank 0 of ") &&
                      strstr(text[1], " to a-tool.0: "),
                  "%s", text[1]);
    ok(px_call(px_process.loop, do_leave, tool));
    remove_file("go");
}

/* The host does not buffer input. */
PX_TEST(a_required_directive_of_a_push_that_has_no_effect_is_refused)
{
    static const char *const keys[] = {PMIX_IOF_BUFFERING_SIZE,
                                       PMIX_IOF_BUFFERING_TIME};
    pmix_byte_object_t bytes = {(char *)"x", 1};

    spawn_fed(1, NULL, "cat >in");
    const pmix_proc_t target = rank_of_job(0);
    for (size_t i = 0; i < PX_COUNT(keys); i++) {
        pmix_info_t info;

        ok(PMIx_Info_load(&info, keys[i], &(uint32_t){8}, PMIX_UINT32));
        ok(PMIx_IOF_push(&target, 1, &bytes, &info, 1, NULL, NULL));
        PMIx_Info_required(&info);
        fails(PMIx_IOF_push(&target, 1, &bytes, &info, 1, NULL, NULL), NOT_SUPPORTED);
    }
    ok(push(0, ""));
    await_end(PMIX_SUCCESS);
    assert_file("in", "xx");
}

PX_TEST(a_push_may_be_the_last)
{
    const bool yes = true;
    pmix_byte_object_t bytes = {(char *)"text", 4};
    pmix_info_t last;

    spawn_fed(1, NULL, "cat >in");
    const pmix_proc_t target = rank_of_job(0);
    ok(PMIx_Info_load(&last, PMIX_IOF_COMPLETE, &yes, PMIX_BOOL));
    ok(PMIx_IOF_push(&target, 1, &bytes, &last, 1, NULL, NULL));
    await_end(PMIX_SUCCESS);
    assert_file("in", "text");
}

PX_TEST(what_cannot_be_pushed_is_an_error_and_pushes_nothing)
{
    spawn_fed(2, NULL, "exec cat >in.$PMIX_RANK"); /* stdin for rank 0 alone */
    const struct {
        pmix_proc_t proc;
        pmix_status_t status;
    } rows[] = {{rank_of_job(1), PMIX_ERR_NOT_SUPPORTED},
                {rank_of_job(2), PMIX_ERR_NOT_FOUND},
                {{.nspace = "none"}, PMIX_ERR_NOT_FOUND}};

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        const pmix_proc_t targets[] = {rank_of_job(0), rows[i].proc};

        ck_assert_int_eq(push_to(targets, 2, "text"), rows[i].status);
    }
    ok(push(PMIX_RANK_WILDCARD, "")); /* reaches only ranks that have a stdin */
    await_end(PMIX_SUCCESS);
    assert_file("in.0", "");
    assert_file("in.1", "");
    spawn_sleepers(1);
    fails(push(0, "text"), NOT_SUPPORTED);
    fails(push(PMIX_RANK_WILDCARD, "text"), NOT_SUPPORTED);
}

/* Processes that never read, or have ended, delay neither their job nor other processes. */
PX_TEST(pushes_without_a_reader_end_with_the_job)
{
    enum { N = 3 << 20 };
    PX_AUTOFREE char *text = calloc(1, N);

    memset(text, 'x', N - 1);
    spawn_fed(2, &(pmix_rank_t){PMIX_RANK_WILDCARD},
              "test $PMIX_RANK = 1 || exit 0; while ! test -f go; do sleep 0.01; done");
    make_file("go");
    /* Exceeds all buffers; completes when the last process has ended. */
    ok(push(PMIX_RANK_WILDCARD, text));
    await_end(PMIX_SUCCESS);
    remove_file("go");
}

/* ---- pulls ------------------------------------------------------------------------ */

static char pulled[2][4096]; /* from stdout, from stderr */
static atomic_int n_ended;   /* ended channels of all processes */

static void on_bytes(size_t id PX_UNUSED, pmix_iof_channel_t channel,
                     pmix_proc_t *source PX_UNUSED, pmix_byte_object_t *bytes,
                     pmix_info_t info[] PX_UNUSED, size_t n PX_UNUSED)
{
    char *to = pulled[channel == PMIX_FWD_STDERR_CHANNEL];

    strncat(to, bytes->bytes ? bytes->bytes : "", bytes->size);
    n_ended += bytes->size == 0;
}

static pmix_status_t pull(pmix_rank_t rank, pmix_iof_channel_t channels,
                          const char *directive)
{
    const pmix_proc_t source = rank_of_job(rank);
    pmix_info_t info;

    if (directive)
        ok(PMIx_Info_load(&info, directive, &(const bool){true}, PMIX_BOOL));
    return PMIx_IOF_pull(&source, 1, directive ? &info : NULL, directive ? 1 : 0,
                         channels, on_bytes, NULL, NULL);
}

static void await_ends(int n)
{
    for (int i = 0; i < 5000 && n_ended < n; i++)
        usleep(1000);
    ck_assert_int_eq(n_ended, n);
}

/* Spawns two processes. Each prints its rank when the file "go" exists, and "more" when the file
 * "on" exists. */
static void spawn_talkers(void)
{
    spawn(2, "while ! test -f go; do sleep 0.01; done; printf $PMIX_RANK; echo e >&2;"
             "while ! test -f on; do sleep 0.01; done; echo more");
}

PX_TEST(output_is_pulled_as_asked_for_and_goes_on_as_it_did_unless_redirected)
{
    static const struct {
        pmix_rank_t rank;
        pmix_iof_channel_t channels;
        const char *directive;
        const char *out, *errors,
            *own; /* own: output of the server itself, from both ranks */
        int n_ends;
    } rows[] = {{1, PMIX_FWD_STDOUT_CHANNEL, NULL, "1more\n", "", "0more\n1more\n", 1},
                {0, PMIX_FWD_STDOUT_CHANNEL | PMIX_FWD_STDERR_CHANNEL, PMIX_IOF_COPY,
                 "0more\n", "e\n", "0more\n1more\n", 2},
                {0, PMIX_FWD_ALL_CHANNELS & ~PMIX_FWD_STDIN_CHANNEL, PMIX_IOF_REDIRECT,
                 "0more\n", "e\n", "1more\n", 2},
                {PMIX_RANK_WILDCARD, PMIX_FWD_STDERR_CHANNEL, NULL, "", "e\ne\n",
                 "0more\n1more\n", 2}};
    const char *name = px_test_path("stdout");

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        int out = open(name, O_CREAT | O_RDWR | O_TRUNC | O_APPEND | O_CLOEXEC, 0600);
        char own[64] = "";

        if (i == 0)
            ck_assert_int_eq(dup2(out, STDOUT_FILENO), STDOUT_FILENO);
        memset(pulled, 0, sizeof(pulled));
        n_ended = 0;
        spawn_talkers();
        pmix_status_t id = pull(rows[i].rank, rows[i].channels, rows[i].directive);
        ck_assert_int_gt(id, 0);
        make_file("go");
        make_file("on");
        await_end(PMIX_SUCCESS);
        await_ends(rows[i].n_ends);
        ck_assert_str_eq(pulled[0], rows[i].out);
        ck_assert_str_eq(pulled[1], rows[i].errors);
        ck_assert_int_ge(pread(out, own, sizeof(own) - 1, 0), 0);
        if (own[0] == '1' && strlen(own) > 6) /* ranks print in either order */
            ck_assert_str_eq(own, "1more\n0more\n");
        else
            ck_assert_str_eq(own, rows[i].own);
        ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
        remove_file("go");
        remove_file("on");
        close(out);
    }
}

PX_TEST(a_pull_may_tag_lines_with_host_and_pid)
{
    char host[256] = "";
    int tagged = -1, printed = 0;

    spawn(1, "while ! test -f go; do sleep 0.01; done; echo $$");
    ck_assert_int_gt(pull(0, PMIX_FWD_STDOUT_CHANNEL, PMIX_IOF_TAG_DETAILED_OUTPUT), 0);
    make_file("go");
    await_end(PMIX_SUCCESS);
    await_ends(1);
    ck_assert_int_eq(sscanf(strrchr(pulled[0], ',') ? strrchr(pulled[0], ',') : "",
                            ",0][%255[^:]:%d]<stdout>:%d", host, &tagged, &printed),
                     3);
    ck_assert_str_eq(host, px_process.model->hostname);
    ck_assert_int_eq(tagged, printed);
    remove_file("go");
}

PX_TEST(what_is_redirected_comes_out_here_again_when_none_pulls_it)
{
    int ends[2];
    char own[6] = "";

    ok(pipe2(ends, O_CLOEXEC));
    ck_assert_int_eq(dup2(ends[1], STDOUT_FILENO), STDOUT_FILENO);
    spawn_talkers();
    pmix_status_t id = pull(0, PMIX_FWD_STDOUT_CHANNEL, PMIX_IOF_REDIRECT);
    pmix_status_t other_id = pull(1, PMIX_FWD_STDOUT_CHANNEL, PMIX_IOF_REDIRECT);
    ck_assert(id > 0 && other_id > 0);
    make_file("go");
    while (!pulled[0][0])
        usleep(1000);
    ok(PMIx_IOF_deregister((size_t)id, NULL, 0, NULL, NULL));
    make_file("on");
    await_end(PMIX_SUCCESS);
    ok(px_fd_read_all(ends[0], own, 5, 0));
    ck_assert_str_eq(own + (own[0] == '0'), own[0] == '0' ? "more" : "more\n");
    remove_file("go");
    remove_file("on");
}

PX_TEST(a_pull_of_none_is_an_error)
{
    spawn_sleepers(1);
    fails(pull(1, PMIX_FWD_STDOUT_CHANNEL, NULL), NOT_FOUND);
    strcat(job_name, "x");
    fails(pull(0, PMIX_FWD_STDOUT_CHANNEL, NULL), NOT_FOUND);
}

PX_TEST_MAIN("host/forward", jobs_setup, jobs_teardown)

/* SPDX-License-Identifier: BSD-3-Clause */
/* Monitors that the server serves: their life, refusals, files, usage. */
#include "core/rt/process.h"
#include "core/server/monitor/monitor.h"
#include "core/server/peer/peer.h"
#include "core/wire/ops.h"
#include "core/wire/requests.h"
#include "monitor_scene.h"

#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#define CODE  (-777)
#define OTHER 12345u
/* ---- the life of monitors ----------------------------------------------------------------- */

PX_TEST(cancel_ends_the_monitors_of_that_name_and_process)
{
    ok(watch_beats(one, "a", 0));
    ok(watch_beats(one, "a", 0));
    ok(watch_beats(one, "b", 0));
    ok(watch_beats(one, NULL, 0));
    ok(watch_beats(two, "a", 0));
    ok(cancel(one, "a"));
    ck_assert_uint_eq(n_monitors(), 3);
    fails(cancel(one, "a"), NOT_FOUND);
    fails(cancel(three, "b"), NOT_FOUND);
    ok(cancel(one, NULL));
    ck_assert_uint_eq(n_monitors(), 1);
    ok(cancel(one, NULL));
    fails(monitor_as(one, PMIX_MONITOR_CANCEL, &(uint32_t){1}, PMIX_UINT32, NULL, NULL),
          BAD_PARAM);
    ok(cancel(two, ""));
    ck_assert_uint_eq(n_monitors(), 0);
    ck_assert_uint_eq(raw_charged_b(0), 0);
}

PX_TEST(monitors_end_with_their_process)
{
    want(three, ALERT);
    ok(watch_beats(one, NULL, 0));
    ok(watch_beats(two, NULL, 0));
    ok(raw_finalize(one));
    close(two);
    raw_await_gone(1);
    ck_assert_uint_eq(n_monitors(), 0);
    pass(2);
    ck_assert(raw_quiet(three));
}

PX_TEST(monitors_of_a_process_are_charged_and_limited)
{
    enum { LIMIT = 64 };

    for (int i = 0; i < LIMIT; i++)
        ok(watch_beats(one, "x", 0));
    ck_assert_uint_gt(raw_charged_b(0), LIMIT * 100);
    fails(watch_beats(one, "x", 0), OUT_OF_RESOURCE);
    ok(watch_beats(two, "x", 0));
    ok(cancel(one, "x"));
    ck_assert_uint_eq(raw_charged_b(0), 0);
    ok(watch_beats(one, "x", 0));
}

/* ---- refusals ----------------------------------------------------------------------------- */

static const struct refused {
    const char *what;
    const void *value;
    pmix_data_type_t type;
    const char *key; /* of a directive besides a period */
    const void *directive;
    pmix_data_type_t directive_type;
    bool required;
    pmix_status_t status;
} refused[] = {
    {"test.monitor", NULL, PMIX_BOOL, NULL, NULL, 0, false, PMIX_ERR_NOT_SUPPORTED},
    {PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL, "test.how", "x", PMIX_STRING, true,
     PMIX_ERR_NOT_SUPPORTED},
    {PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL, PMIX_MONITOR_HEARTBEAT_DROPS, "x",
     PMIX_STRING, false, PMIX_ERR_BAD_PARAM},
    {PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL, PMIX_RANGE, "x", PMIX_STRING, false,
     PMIX_ERR_BAD_PARAM},
    {PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL, PMIX_RANGE, &(pmix_data_range_t){77},
     PMIX_DATA_RANGE, false, PMIX_ERR_BAD_PARAM},
    {PMIX_MONITOR_FILE, "/etc/passwd", PMIX_STRING, NULL, NULL, 0, false,
     PMIX_ERR_BAD_PARAM},
    {PMIX_MONITOR_FILE, "", PMIX_STRING, PMIX_MONITOR_FILE_SIZE, NULL, PMIX_BOOL, false,
     PMIX_ERR_BAD_PARAM},
    {PMIX_MONITOR_FILE, &(uint32_t){1}, PMIX_UINT32, PMIX_MONITOR_FILE_SIZE, NULL,
     PMIX_BOOL, false, PMIX_ERR_BAD_PARAM},
    {PMIX_MONITOR_FILE, "/etc/passwd/x", PMIX_STRING, PMIX_MONITOR_FILE_SIZE, NULL,
     PMIX_BOOL, false, PMIX_ERR_BAD_PARAM},
    {PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL, PMIX_MONITOR_TARGET_PROCS, "x",
     PMIX_STRING, false, PMIX_ERR_BAD_PARAM},
    {PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL, PMIX_MONITOR_RESOURCE_RATE,
     &(uint32_t){0}, PMIX_UINT32, false, PMIX_ERR_BAD_PARAM},
};

PX_TEST_LOOP(a_bad_request_is_refused_with_a_reason, PX_COUNT(refused))
{
    const struct refused *row = &refused[_i];
    PX_AUTO(px_infos) how = {0}, results = {0};

    if (row->key) {
        ok(px_infos_add(&how, row->key, row->directive, row->directive_type));
        if (row->required)
            PMIX_INFO_REQUIRED(&how.v[0]);
    }
    add_u32(&how, PMIX_MONITOR_HEARTBEAT_TIME, PERIOD_S);
    add_u32(&how, PMIX_MONITOR_FILE_CHECK_TIME, PERIOD_S);
    ck_assert_int_eq(monitor_as(one, row->what, row->value, row->type, &how, &results),
                     row->status);
    ck_assert_ptr_nonnull(px_info_str(results.v, results.n, PMIX_EVENT_TEXT_MESSAGE));
    ck_assert_uint_eq(n_monitors(), 0);
    ck_assert_uint_eq(raw_charged_b(0), 0);
}

PX_TEST(a_monitor_without_a_time_is_refused)
{
    fails(monitor_as(one, PMIX_MONITOR_HEARTBEAT, NULL, PMIX_BOOL, NULL, NULL),
          BAD_PARAM);
}

/* ---- files -------------------------------------------------------------------------------- */

static pmix_status_t watch_file(int fd, const char *path, const char *what,
                                uint32_t drops)
{
    PX_AUTO(px_infos) how = {0};

    add_u32(&how, PMIX_MONITOR_FILE_CHECK_TIME, PERIOD_S);
    add_u32(&how, PMIX_MONITOR_FILE_DROPS, drops);
    ok(px_infos_add(&how, what, NULL, PMIX_BOOL));
    return monitor_as(fd, PMIX_MONITOR_FILE, path, PMIX_STRING, &how, NULL);
}

/* Waits for the readings so far: the reader of a user answers in order. */
static void await_reader(void)
{
    ok(monitor_as(three, PMIX_MONITOR_NODE_RESOURCE_USAGE, NULL, PMIX_BOOL, NULL,
                  NULL));
}

static void pass_reading(unsigned periods)
{
    for (; periods > 0; periods--) {
        pass(1);
        await_reader();
    }
}

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND, 0644);

    ck_assert_int_ge(fd, 0);
    ck_assert_int_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static void set_times(const char *path, long accessed, long modified)
{
    const struct timespec times[] = {{accessed, 0}, {modified, 0}};

    ok(utimensat(AT_FDCWD, path, times, 0));
}

static void grow(const char *path)
{
    write_file(path, "more");
    set_times(path, 1000, 1000);
}

static void access_it(const char *path)
{
    set_times(path, 2000, 1000);
}

static void modify(const char *path)
{
    set_times(path, 1000, 2000);
}

static const struct change {
    const char *what;
    void (*change)(const char *path), (*others[2])(const char *path);
} changes[] = {
    {PMIX_MONITOR_FILE_SIZE, grow, {access_it, modify}},
    {PMIX_MONITOR_FILE_ACCESS, access_it, {grow, modify}},
    {PMIX_MONITOR_FILE_MODIFY, modify, {grow, access_it}},
};

PX_TEST_LOOP(a_file_without_the_change_causes_an_alert, PX_COUNT(changes))
{
    const struct change *row = &changes[_i];
    const char *path = px_test_path("file");
    PX_AUTO(px_infos) got = {0};

    want(one, PMIX_MONITOR_FILE_ALERT);
    write_file(path, "x");
    set_times(path, 1000, 1000);
    ok(watch_file(one, path, row->what, 1));
    row->change(path);
    pass_reading(1);
    row->others[0](path);
    pass_reading(1); /* size and times may change back here */
    ck_assert(raw_quiet(one));
    set_times(path, 1000, 1000);
    pass_reading(1);
    row->others[1](path);
    set_times(path, 1000, 1000);
    pass_reading(2);
    ck_assert_int_eq(raw_next_event(one, &got), PMIX_MONITOR_FILE_ALERT);
    ck_assert_str_eq(px_info_str(got.v, got.n, PMIX_MONITOR_FILE), path);
    ck_assert_ptr_nonnull(px_info_find(got.v, got.n, PMIX_EVENT_AFFECTED_PROC));
    pass_reading(5);
    ck_assert(raw_quiet(one));
}

PX_TEST(a_file_may_come_later)
{
    const char *path = px_test_path("late");

    want(one, PMIX_MONITOR_FILE_ALERT);
    ok(watch_file(one, path, PMIX_MONITOR_FILE_SIZE, 0));
    pass_reading(3);
    ck_assert(raw_quiet(one));
    write_file(path, "x");
    pass_reading(1);
    ck_assert(raw_quiet(one));
    pass_reading(1);
    ck_assert_int_eq(raw_next_event(one, NULL), PMIX_MONITOR_FILE_ALERT);
    unlink(path);
}

PX_TEST(a_file_is_read_with_the_rights_of_the_user)
{
    const char *dir = px_test_path("closed"), *path = px_test_path("closed/file"),
               *link = px_test_path("link");
    int other;

    PX_TEST_NEEDS_ROOT;
    ok(mkdir(dir, 0700));
    write_file(path, "x");
    ok(symlink(path, link));
    raw_add_job("others", 1, 0, OTHER);
    other = raw_client_as(OTHER, "others", 0);
    ok(watch_file(one, path, PMIX_MONITOR_FILE_SIZE, 0));
    fails(watch_file(other, path, PMIX_MONITOR_FILE_SIZE, 0), NO_PERMISSIONS);
    fails(watch_file(other, link, PMIX_MONITOR_FILE_SIZE, 0), NO_PERMISSIONS);
    ok(watch_file(other, "/etc/passwd", PMIX_MONITOR_FILE_SIZE, 0));
    unlink(link);
    unlink(path);
    rmdir(dir);
}

/* ---- usage -------------------------------------------------------------------------------- */

/* Connects a rank of "job" over a socket that proves its pid, which is this process. */
static int near_client(pmix_rank_t rank, const char *dialect)
{
    struct px_hello h = raw_hello("job", rank);
    int fd = raw_near_socket();

    strcpy(h.dialect, dialect);
    ok(raw_send_hello(fd, &h));
    return fd;
}

static px_infos members_of(const px_infos *results, size_t i)
{
    const pmix_info_t *v = NULL;
    size_t n = 0;

    ck_assert_uint_lt(i, results->n);
    ck_assert(px_value_infos(&results->v[i].value, &v, &n));
    return px_infos_borrow(v, n);
}

/* Adds an array of targets. */
static void add_targets(px_infos *how, const char *key, const void *targets, size_t n,
                        pmix_data_type_t type)
{
    pmix_data_array_t array = {
        .type = type, .size = n, .array = (void *)(uintptr_t)targets};

    ok(px_infos_add(how, key, &array, PMIX_DATA_ARRAY));
}

PX_TEST(usage_of_processes_begins_with_their_names)
{
    PX_AUTO(px_infos) results = {0};
    int near = near_client(2, "v41");
    px_infos m;

    ok(monitor_as(near, PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL, NULL,
                  &results));
    ck_assert_uint_ge(results.n, 1); /* clients over TCP may be found, too */
    ck_assert(PMIx_Check_key(results.v[0].key, PMIX_PROC_RESOURCE_USAGE));
    m = members_of(&results, results.n - 1);
    ck_assert(PMIx_Check_key(m.v[0].key, PMIX_PROCID));
    ck_assert_uint_eq(m.v[0].value.data.proc->rank, 2);
    ck_assert_int_eq(px_info_find(m.v, m.n, PMIX_PROC_PID)->value.data.pid, getpid());
    ck_assert(px_info_find(m.v, m.n, PMIX_PROC_RSS)->value.data.fval > 0);
    ck_assert(px_info_find(m.v, m.n, PMIX_PROC_PSS)->value.data.fval > 0);
    ck_assert_uint_ge(px_info_find(m.v, m.n, PMIX_PROC_NUM_THREADS)->value.data.uint16,
                      2);
    ck_assert_int_ge(px_info_find(m.v, m.n, PMIX_PROC_SAMPLE_TIME)->value.data.time,
                     time(NULL) - 60);
    ck_assert_ptr_nonnull(px_info_str(m.v, m.n, PMIX_CMD_LINE));
    ck_assert_uint_eq(n_monitors(), 0);
    close(near);
}

PX_TEST(targets_choose_processes)
{
    const pmix_proc_t second = raw_proc("job", 1),
                      all = raw_proc("job", PMIX_RANK_WILDCARD);
    const pmix_node_pid_t self = {NULL, UINT32_MAX, getpid()},
                          none = {NULL, UINT32_MAX, 1};
    char *const here[] = {px_process.host};
    const struct {
        const char *key;
        const void *targets;
        pmix_data_type_t type;
        size_t n_found;
    } rows[] = {
        {PMIX_MONITOR_TARGET_PROCS, &second, PMIX_PROC, 1},
        {PMIX_MONITOR_TARGET_PROCS, &all, PMIX_PROC, 2},
        {PMIX_MONITOR_TARGET_PIDS, &self, PMIX_NODE_PID, 2},
        {PMIX_MONITOR_TARGET_PIDS, &none, PMIX_NODE_PID, 0},
        {PMIX_MONITOR_TARGET_NODES, here, PMIX_STRING, 2},
        {PMIX_MONITOR_TARGET_NODEIDS, &(uint32_t){0}, PMIX_UINT32, 2},
    };
    int near[] = {near_client(1, "v41"), near_client(2, "v61")};

    monitor_newest_fd = near[1];

    for (size_t i = 0; i < PX_COUNT(rows); i++) {
        PX_AUTO(px_infos) how = {0}, results = {0};

        add_targets(&how, rows[i].key, rows[i].targets, 1, rows[i].type);
        ok(monitor_as(near[1], PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL, &how,
                      &results));
        /* clients over TCP may be found, too */
        ck_assert_msg(rows[i].n_found > 1 ? results.n >= rows[i].n_found
                                          : results.n == rows[i].n_found,
                      "row %zu: %zu", i, results.n);
    }
    close(near[0]);
    close(near[1]);
}

PX_TEST(processes_of_other_users_are_not_shown)
{
    const pmix_proc_t theirs = raw_proc("others", PMIX_RANK_WILDCARD),
                      ours = raw_proc("job", PMIX_RANK_WILDCARD);
    PX_AUTO(px_infos) how = {0}, results = {0};
    int near, other;

    PX_TEST_NEEDS_ROOT;
    near = near_client(2, "v41");
    raw_add_job("others", 1, 0, OTHER);
    other = raw_client_as(OTHER, "others", 0);
    add_targets(&how, PMIX_MONITOR_TARGET_PROCS, &ours, 1, PMIX_PROC);
    fails(monitor_as(other, PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL, &how,
                     NULL),
          NO_PERMISSIONS);
    ok(monitor_as(other, PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL, NULL,
                  &results));
    for (size_t i = 0; i < results.n; i++)
        ck_assert_str_eq(members_of(&results, i).v[0].value.data.proc->nspace,
                         "others");
    add_targets(&how, PMIX_MONITOR_TARGET_PROCS, &theirs, 1, PMIX_PROC);
    ok(monitor_as(one, PMIX_MONITOR_PROC_RESOURCE_USAGE, NULL, PMIX_BOOL, &how, NULL));
    close(near);
}

PX_TEST(the_node_its_disks_and_nets_have_figures)
{
    PX_AUTO(px_infos) keys = {0}, what = {0}, node = {0}, nets = {0}, how = {0};
    char *const lo[] = {(char *)(uintptr_t) "lo"};
    px_infos m;

    ok(px_infos_add(&keys, PMIX_NODE_MEM_TOTAL, NULL, PMIX_BOOL));
    ok(px_infos_add(&keys, PMIX_NETWORK_RESOURCE_USAGE, NULL, PMIX_BOOL));
    ok(px_infos_add_array(&what, PMIX_MONITOR_NODE_RESOURCE_USAGE, &keys));
    ok(monitor(one, what.v, PMIX_SUCCESS, NULL, &node));
    ck_assert_uint_eq(node.n, 1);
    m = members_of(&node, 0);
    ck_assert_str_eq(m.v[0].value.data.string, px_process.host);
    ck_assert(px_info_find(m.v, m.n, PMIX_NODE_MEM_TOTAL)->value.data.fval > 1);
    ck_assert_ptr_null(px_info_find(m.v, m.n, PMIX_NODE_MEM_FREE));
    ck_assert_ptr_nonnull(px_info_find(m.v, m.n, PMIX_NODE_SAMPLE_TIME));
    ck_assert_ptr_nonnull(px_info_find(m.v, m.n, PMIX_NETWORK_RESOURCE_USAGE));
    add_targets(&how, PMIX_MONITOR_TARGET_NETS, lo, 1, PMIX_STRING);
    ok(monitor_as(one, PMIX_MONITOR_NET_RESOURCE_USAGE, NULL, PMIX_BOOL, &how, &nets));
    ck_assert_uint_eq(nets.n, 1);
    m = members_of(&nets, 0);
    ck_assert_str_eq(px_info_str(m.v, m.n, PMIX_NETWORK_ID), "lo");
    ok(monitor_as(one, PMIX_MONITOR_DISK_RESOURCE_USAGE, NULL, PMIX_BOOL, NULL, NULL));
}

PX_TEST(a_rate_repeats_the_report_to_the_requestor_alone)
{
    PX_AUTO(px_infos) how = {0}, got = {0};

    want(one, PMIX_MONITOR_RESUSAGE_UPDATE);
    want(two, PMIX_MONITOR_RESUSAGE_UPDATE);
    const size_t before_b = raw_charged_b(0); /* for the registration */
    add_u32(&how, PMIX_MONITOR_RESOURCE_RATE, PERIOD_S);
    ok(px_infos_add(&how, PMIX_MONITOR_ID, "r", PMIX_STRING));
    ok(monitor_as(one, PMIX_MONITOR_NODE_RESOURCE_USAGE, NULL, PMIX_BOOL, &how, NULL));
    ck_assert(raw_quiet(one));
    pass_reading(1);
    ck_assert_int_eq(raw_next_event(one, &got), PMIX_MONITOR_RESUSAGE_UPDATE);
    ck_assert_str_eq(px_info_str(got.v, got.n, PMIX_MONITOR_ID), "r");
    ck_assert_ptr_nonnull(px_info_find(got.v, got.n, PMIX_NODE_RESOURCE_USAGE));
    pass_reading(1);
    ck_assert_int_eq(raw_next_event(one, NULL), PMIX_MONITOR_RESUSAGE_UPDATE);
    ck_assert(raw_quiet(two));
    ok(cancel(one, "r"));
    pass_reading(2);
    ck_assert(raw_quiet(one));
    ck_assert_uint_eq(raw_charged_b(0), before_b);
}

/* ---- the host ----------------------------------------------------------------------------- */

static void restart(const pmix_server_module_t *with)
{
    raw_server_stop();
    raw_start(with, 3, 1);
}

PX_TEST(only_monitors_of_other_nodes_go_to_the_host)
{
    char *const other[] = {(char *)(uintptr_t) "other"};
    PX_AUTO(px_infos) how = {0};

    restart(&host_module);
    ok(watch_beats(one, "x", 0));
    ok(cancel(one, "x"));
    add_targets(&how, PMIX_MONITOR_TARGET_NODES, other, 1, PMIX_STRING);
    ck_assert_uint_eq(host_calls("monitor"), 0);
    ok(monitor_as(one, PMIX_MONITOR_NODE_RESOURCE_USAGE, NULL, PMIX_BOOL, &how, NULL));
    ck_assert_uint_eq(host_calls("monitor"), 1);
    ok(px_infos_add(&how, PMIX_MONITOR_LOCAL_ONLY, NULL, PMIX_BOOL));
    ok(monitor_as(one, PMIX_MONITOR_NODE_RESOURCE_USAGE, NULL, PMIX_BOOL, &how, NULL));
    ck_assert_uint_eq(host_calls("monitor"), 1);
    ok(cancel(one, "of the host"));
    ck_assert_uint_eq(host_calls("monitor"), 2);
}

PX_TEST(other_nodes_are_refused_without_a_host)
{
    char *const other[] = {(char *)(uintptr_t) "other"};
    PX_AUTO(px_infos) how = {0};

    restart(&module);
    add_targets(&how, PMIX_MONITOR_TARGET_NODES, other, 1, PMIX_STRING);
    fails(
        monitor_as(one, PMIX_MONITOR_NODE_RESOURCE_USAGE, NULL, PMIX_BOOL, &how, NULL),
        NOT_SUPPORTED);
}

/* ---- job control without a function of the host ------------------------------------------- */

static volatile sig_atomic_t n_signals;

static void on_signal(int signum PX_UNUSED)
{
    n_signals++;
}

/* Sends an order for a rank of a job. Returns the status; a refusal must have a reason. */
static pmix_status_t order(int fd, const char *nspace, pmix_rank_t rank,
                           const char *key, int signum)
{
    const pmix_proc_t target = raw_proc(nspace, rank);
    px_writer w = raw_begin(PX_OP_JOB_CONTROL);
    PX_AUTO(px_infos) how = {0}, results = {0};
    pmix_status_t rc;
    px_reader r;

    ok(px_infos_add(&how, key, signum ? (void *)&signum : NULL,
                    signum ? PMIX_INT : PMIX_BOOL));
    px_pack_procs(&w, &target, 1);
    px_pack_infos(&w, how.v, how.n);
    rc = raw_request(fd, w, &r);
    if (!px_reader_done(&r))
        ok(px_unpack_infos(&r, &results.v, &results.n));
    ck_assert(!rc || rc == PMIX_ERR_NO_PERMISSIONS ||
              px_info_str(results.v, results.n, PMIX_EVENT_TEXT_MESSAGE));
    return rc;
}

PX_TEST(signals_reach_processes_of_this_node)
{
    int near;

    module.job_control = NULL;
    restart(&module);
    near = near_client(2, "v41"); /* this process */
    signal(SIGUSR1, on_signal);
    ok(order(one, "job", 2, PMIX_JOB_CTRL_SIGNAL, SIGUSR1));
    ck_assert_int_eq(n_signals, 1);
    ok(order(one, "job", 2, PMIX_JOB_CTRL_RESUME, 0));
    fails(order(one, "job", 2, PMIX_JOB_CTRL_SIGNAL, 1000), BAD_PARAM);
    fails(order(one, "job", 2, PMIX_JOB_CTRL_CHECKPOINT_EVENT, 0), NOT_SUPPORTED);
    fails(order(one, "job", 3, PMIX_JOB_CTRL_SIGNAL, SIGUSR1), NOT_SUPPORTED);
    fails(order(one, "job", PMIX_RANK_WILDCARD, PMIX_JOB_CTRL_KILL, 0), NOT_SUPPORTED);
    fails(order(one, "unknown", 0, PMIX_JOB_CTRL_KILL, 0), NOT_SUPPORTED);
    ck_assert_int_eq(n_signals, 1);
    ck_assert_uint_eq(raw_charged_b(0), 0);
    close(near);
}

PX_TEST(another_user_cannot_signal)
{
    int near, other;

    PX_TEST_NEEDS_ROOT;
    module.job_control = NULL;
    restart(&module);
    near = near_client(2, "v41");
    raw_add_job("others", 1, 0, OTHER);
    other = raw_client_as(OTHER, "others", 0);
    signal(SIGUSR1, on_signal);
    fails(order(other, "job", 2, PMIX_JOB_CTRL_SIGNAL, SIGUSR1), NO_PERMISSIONS);
    ck_assert_int_eq(n_signals, 0);
    close(near);
}

PX_TEST_MAIN("server/monitor", monitor_setup, monitor_teardown)

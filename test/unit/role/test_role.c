/* SPDX-License-Identifier: BSD-3-Clause */
/* Start and end of a process's roles. */
#include "core/role/role.h"

#include "core/config/param.h"
#include "core/plugin/select.h"
#include "alloc_fail.h"
#include "test/unit/plugin/fake.h"
#include "test/unit/plugin/fake_files.h"

static rt_path dir;
static struct px_err err;

static void set_up(void)
{
    rt_make_dir(dir);
    rt_install_all(dir);
    setenv("PMIX_MCA_mca_base_component_path", dir, 1);
    setenv("HOME", dir, 1);
    unsetenv("PMIX_HOSTNAME");
}

static pmix_status_t begin_with(enum px_role role, const pmix_info_t *info, size_t n)
{
    px_process_lock();
    pmix_status_t rc = px_role_begin(role, info, n, &err);
    px_process_unlock();
    return rc;
}

static pmix_status_t try_begin(enum px_role role)
{
    return begin_with(role, NULL, 0);
}

static void begin(enum px_role role)
{
    ck_assert_msg(try_begin(role) == PMIX_SUCCESS, "%s", err.text);
}

static void end(enum px_role role)
{
    px_process_lock();
    px_role_end(role);
    px_process_unlock();
}

static size_t count(const char *framework)
{
    size_t n;

    px_modules(framework, &n);
    return n;
}

static void assert_nothing_is_left(void)
{
    ck_assert_uint_eq(px_process.users, 0);
    ck_assert_uint_eq(px_process.roles, 0);
    ck_assert_ptr_null(px_process.model);
    ck_assert_ptr_null(px_process.notify);
    ck_assert_ptr_null(px_process.loop);
    ck_assert_ptr_null(px_process.params);
    ck_assert_ptr_null(px_process.selection);
    ck_assert_uint_eq(count("ptl"), 0);
}

PX_TEST(a_role_starts_the_machine_and_its_end_stops_it)
{
    PX_TEST_NEEDS_PROC;
    int fds = (int)px_test_count_fds();

    for (int i = 0; i < 100; i++) {
        begin(PX_ROLE_CLIENT);
        ck_assert_int_eq(rt_count_threads(), 0);
        ok(px_loop_need_thread(px_process.loop));
        rt_await_threads(1);
        ck_assert_uint_eq(count("ptl"), 1);
        ck_assert_ptr_nonnull(px_module_find("ptl", "a"));
        ck_assert_ptr_null(px_module_find("ptl", "b"));
        ck_assert_ptr_null(px_module_find("nonesuch", "a"));
        end(PX_ROLE_CLIENT);
        assert_nothing_is_left();
        rt_await_threads(0);
    }
    ck_assert_int_eq((int)px_test_count_fds(), fds);
}

PX_TEST(a_failed_begin_leaves_nothing_and_another_may_follow)
{
    PX_TEST_NEEDS_PROC;
    static const struct {
        const char *name, *value, *wanted;
        pmix_status_t status;
    } cases[] = {
        {"PMIX_MCA_mca_base_strict", "error", "PMIX_MCA_mca_base_verbos = \"loud\"",
         PMIX_ERR_BAD_PARAM},
        {"PMIX_MCA_mca_base_component_path", "pmix",
         "environment: mca_base_component_path", PMIX_ERR_BAD_PARAM},
        {"PMIX_MCA_psec", "nonesuch", "unknown component nonesuch", PMIX_ERR_BAD_PARAM},
        {"PMIX_MCA_gds", "^a", "no component is left for framework gds",
         PMIX_ERR_NOT_FOUND},
    };
    int fds = (int)px_test_count_fds();

    setenv("PMIX_MCA_mca_base_verbos", "loud", 1);
    for (size_t i = 0; i < PX_COUNT(cases); i++) {
        setenv(cases[i].name, cases[i].value, 1);
        ck_assert_int_eq(try_begin(PX_ROLE_CLIENT), cases[i].status);
        rt_assert_has(err.text, cases[i].wanted);
        assert_nothing_is_left();
        unsetenv(cases[i].name);
        setenv("PMIX_MCA_mca_base_component_path", dir, 1);
        unsetenv("PMIX_MCA_mca_base_verbos");
    }
    ck_assert_int_eq((int)px_test_count_fds(), fds);
    rt_await_threads(0);
    begin(PX_ROLE_CLIENT);
    end(PX_ROLE_CLIENT);
}

PX_TEST(a_role_that_cannot_start_does_not_disturb_one_that_has)
{
    begin(PX_ROLE_CLIENT);
    ok(px_params_add(px_process.params, "mca_base_strict", "error", PX_SOURCE_ARG, 0,
                     "x"));
    ok(px_params_add(px_process.params, "pfexec", "nonesuch", PX_SOURCE_ARG, 0, "x"));
    fails(try_begin(PX_ROLE_SERVER), BAD_PARAM);
    ck_assert_uint_eq(px_process.roles, PX_ROLE_CLIENT);
    ck_assert_uint_eq(px_process.users, 1);
    ck_assert_uint_eq(count("ptl"), 1);
    end(PX_ROLE_CLIENT);
    assert_nothing_is_left();
}

PX_TEST(external_progress_starts_no_thread_and_the_launchers_name_of_the_node_wins)
{
    PX_TEST_NEEDS_PROC;
    pmix_info_t info = {.value.type = PMIX_BOOL, .value.data.flag = true};

    setenv("PMIX_HOSTNAME", "node42", 1);
    strcpy(info.key, PMIX_EXTERNAL_PROGRESS);
    ck_assert_msg(begin_with(PX_ROLE_CLIENT, &info, 1) == PMIX_SUCCESS, "%s", err.text);
    ck_assert_int_eq(rt_count_threads(), 0);
    ck_assert_str_eq(px_process.host, "node42");
    end(PX_ROLE_CLIENT);
}

/* Returns the output of a client, and optionally a server, on stderr; the caller frees
 * the text. */
static char *output_of(bool server)
{
    struct rt_capture c = rt_capture_begin();

    begin(PX_ROLE_CLIENT);
    if (server)
        begin(PX_ROLE_SERVER);
    end(PX_ROLE_CLIENT);
    if (server)
        end(PX_ROLE_SERVER);
    return rt_capture_end(&c);
}

PX_TEST(the_level_of_messages_is_a_parameter)
{
    setenv("PMIX_MCA_mca_base_verbose", "3", 1);
    PX_AUTOFREE char *text = output_of(false);

    rt_assert_has(text, "] ptl/a: opened with level 3\n");
    rt_assert_has(text, "component ptl/a selected, priority 50");
    ck_assert_int_eq(atomic_load(&px_process.log_level), PX_LOG_WARN);
}

PX_TEST(an_unknown_parameter_is_reported_once_however_many_roles)
{
    setenv("PMIX_MCA_mca_base_verbos", "3", 1);
    PX_AUTOFREE char *text = output_of(true);

    ck_assert_int_eq(rt_count(text, "\n"), 1);
    rt_assert_has(text, "mca_base_verbos = \"3\"; did you mean mca_base_verbose?");
}

static void do_nothing(void *arg PX_UNUSED)
{
}

struct posted {
    struct px_msg msg;
    _Atomic int n;
};

static void on_posted(struct px_msg *msg)
{
    PX_CONTAINER_OF(msg, struct posted, msg)->n++;
}

PX_TEST(
    posts_from_outside_are_taken_while_the_machine_runs_and_refused_before_and_after)
{
    struct posted p = {.msg = {.run = on_posted}};

    ck_assert(!px_process_post(&p.msg));
    begin(PX_ROLE_CLIENT);
    ck_assert(px_process_post(&p.msg));
    rt_on_loop(px_process.loop, do_nothing, NULL);
    ck_assert_int_eq(p.n, 1);
    ck_assert(px_process_post(&p.msg)); /* runs before the loop ends */
    end(PX_ROLE_CLIENT);
    ck_assert_int_eq(p.n, 2);
    ck_assert(!px_process_post(&p.msg));
    assert_nothing_is_left();
}

static _Atomic bool stop_posting;

static void *post_all_the_time(void *arg)
{
    struct posted *p = arg;
    int n = 0;

    while (!stop_posting) {
        if (px_process_post(&p->msg)) {
            n++;
            while (p->n < n)
                sched_yield();
        }
    }
    return NULL;
}

PX_TEST(posts_may_come_while_machines_start_and_end)
{
    struct posted p = {.msg = {.run = on_posted}};
    pthread_t thread;

    ok(pthread_create(&thread, NULL, post_all_the_time, &p));
    for (int i = 0; i < 50; i++) {
        begin(PX_ROLE_CLIENT);
        end(PX_ROLE_CLIENT);
    }
    stop_posting = true;
    pthread_join(thread, NULL);
    assert_nothing_is_left();
}

PX_TEST(few_messages_wait_for_the_next_allocation_to_be_freed)
{
    enum { N = 100, MOST = 16 };
    void *msgs[N];

    PX_TEST_NEEDS_ALLOC;
    px_alloc_fail_at(0);
    for (int i = 0; i < N; i++)
        msgs[i] = px_process_alloc_msg(sizeof(struct px_msg));
    for (int i = 0; i < N; i++)
        px_process_free_msg(msgs[i]);
    const int kept = px_alloc_balance();
    px_process_free_msg(px_process_alloc_msg(sizeof(struct px_msg)));
    const int kept_of_one = px_alloc_balance();
    px_process_end_loop();
    const int left = px_alloc_balance();
    px_alloc_fail_end();
    ck_assert_int_eq(kept, MOST);
    ck_assert_int_eq(kept_of_one, 1);
    ck_assert_int_eq(left, 0);
}

PX_TEST(running_out_of_memory_leaves_nothing)
{
    bool failed = true;

    PX_TEST_NEEDS_ALLOC;
    for (unsigned nth = 1; failed; nth++) {
        struct rt_capture c = rt_capture_begin();

        px_process_lock();
        px_alloc_fail_at(nth);
        pmix_status_t rc = px_role_begin(PX_ROLE_SERVER, NULL, 0, &err);
        failed = px_alloc_fail_end();
        px_process_unlock();
        free(rt_capture_end(&c));
        if (!rc)
            end(PX_ROLE_SERVER);
        assert_nothing_is_left();
        if (!failed)
            ok(rc);
    }
}

PX_TEST_MAIN("role/role", set_up, NULL)

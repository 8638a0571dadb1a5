/* SPDX-License-Identifier: BSD-3-Clause */
/* launch_host applied|refused|canceled: a host that gathers launch information and applies the information
 * on the same node, once with a callback and once without. Prints ROGUE_KEY from the environment of a
 * process of the job. With "canceled" the host deregisters the job before the first reply, and ends the
 * server before the second. */
#include "host.h"

#define WAIT_S 60

static const pmix_nspace_t job_name = "launched";
static volatile int n_answers;
static volatile pmix_status_t answer;

static void on_answer(pmix_status_t status, void *cbdata)
{
    (void)cbdata;
    answer = status;
    __atomic_fetch_add(&n_answers, 1, __ATOMIC_SEQ_CST);
}

static void print_key(void)
{
    char **env = NULL, *value = NULL;
    pmix_proc_t proc;

    PMIX_LOAD_PROCID(&proc, job_name, 0);
    HOST_GOOD(PMIx_server_setup_fork(&proc, &env));
    for (char **e = env; e && *e; e++)
        if (strncmp(*e, "ROGUE_KEY=", 10) == 0)
            value = *e + 10;
    printf("key %s\n", value ? value : "none");
    PMIX_ARGV_FREE(env);
}

static void apply(pmix_info_t *info, size_t n, bool refused)
{
    struct host_job job;

    HOST_EXPECT(host_setup_local_support(job_name, info, n),
                refused ? PMIX_ERR_NOT_AVAILABLE : PMIX_SUCCESS);
    HOST_EXPECT(PMIx_server_setup_local_support(job_name, info, n, NULL, NULL),
                refused ? PMIX_ERR_NOT_AVAILABLE : PMIX_OPERATION_SUCCEEDED);
    host_register_map(&job, job_name, 1,
                      &(struct host_map){"here", "0", "0", 1, 1, 0, NULL});
    HOST_GOOD(host_register_client(job_name, 0, NULL));
    print_key();
    host_deregister_nspace(job_name);
}

static void await_answer(int n)
{
    const double end = host_now_s() + WAIT_S;

    while (__atomic_load_n(&n_answers, __ATOMIC_SEQ_CST) < n) {
        HOST_CHECK(host_now_s() < end);
        usleep(1000);
    }
    HOST_EXPECT(answer, PMIX_ERR_JOB_CANCELED);
}

int main(int argc, char **argv)
{
    const char *wanted = argc > 1 ? argv[1] : "";
    const bool ends = strcmp(wanted, "canceled") == 0;
    size_t n;

    HOST_GOOD(host_init((pmix_server_module_t *)&host_module));
    pmix_info_t *info = host_unpack_infos(host_setup_application(job_name, NULL, 0),
                                          &n);
    if (ends) {
        HOST_GOOD(PMIx_server_setup_local_support(job_name, info, n, on_answer, NULL));
        host_deregister_nspace(job_name);
        await_answer(1);
        HOST_GOOD(PMIx_server_setup_local_support(job_name, info, n, on_answer, NULL));
    } else {
        apply(info, n, strcmp(wanted, "refused") == 0);
    }
    HOST_GOOD(PMIx_server_finalize());
    if (ends)
        await_answer(2);
    if (n)
        PMIX_INFO_FREE(info, n);
    return 0;
}

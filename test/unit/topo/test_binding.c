/* SPDX-License-Identifier: BSD-3-Clause */
/* CPU bindings of processes and threads. */
#include "core/base/ranges.h"
#include "core/topo/topo.h"
#include "core/types/handle.h"
#include "px_test.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>

/* Returns the CPUs of this thread, as the C library reports them. */
static cpu_set_t own_cpus(void)
{
    cpu_set_t set;

    ck_assert_int_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    return set;
}

static void bind_to_one(void)
{
    cpu_set_t all = own_cpus(), one;
    int cpu = 0;

    while (!CPU_ISSET(cpu, &all))
        cpu++;
    CPU_ZERO(&one);
    CPU_SET(cpu, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof(one), &one), 0);
}

static size_t list_length(pid_t pid)
{
    PX_AUTOFREE char *list = NULL;
    PX_AUTOFREE uint32_t *cpus = NULL;
    size_t n = 0;

    ok(px_binding_list(pid, &list));
    ck_assert(px_cpus_valid(list));
    ok(px_ranges_parse(list, 70000, &cpus, &n));
    return n;
}

static void *bound_thread(void *arg)
{
    size_t *n = arg;

    bind_to_one();
    n[0] = list_length(0);
    n[1] = list_length(getpid());
    return NULL;
}

PX_TEST(a_thread_has_its_own_binding_and_the_process_that_of_all)
{
    cpu_set_t cpus = own_cpus();
    size_t n[2], all = (size_t)CPU_COUNT(&cpus);
    pthread_t thread;

    ck_assert_uint_eq(list_length(0), all);
    ck_assert_int_eq(pthread_create(&thread, NULL, bound_thread, n), 0);
    pthread_join(thread, NULL);
    ck_assert_uint_eq(n[0], 1);
    ck_assert_uint_eq(n[1], all);
}

PX_TEST(another_process_can_be_asked_about)
{
    int gate[2];
    char byte;

    ck_assert_int_eq(pipe(gate), 0);
    pid_t pid = fork();
    if (pid == 0) {
        bind_to_one();
        if (write(gate[1], "x", 1) == 1)
            pause();
        _exit(0);
    }
    ck_assert_int_eq(read(gate[0], &byte, 1), 1);
    ck_assert_uint_eq(list_length(pid), 1);
    kill(pid, SIGKILL);
    waitpid(pid, NULL, 0);
}

PX_TEST(a_process_that_is_gone_is_not_available)
{
    char *list = NULL;
    pid_t pid = fork();

    if (pid == 0)
        _exit(0);
    waitpid(pid, NULL, 0);
    ck_assert_int_eq(px_binding_list(pid, &list), PMIX_ERR_NOT_AVAILABLE);
    ck_assert_ptr_null(list);
}

PX_TEST(a_list_becomes_a_mask)
{
    cpu_set_t *mask = NULL;
    size_t size;

    ok(px_cpus_mask("0-2,70,65535", &mask, &size));
    ck_assert_int_eq(CPU_COUNT_S(size, mask), 5);
    ck_assert(CPU_ISSET_S(2, size, mask) && CPU_ISSET_S(65535, size, mask));
    free(mask);
    fails(px_cpus_mask("0-", &mask, &size), BAD_PARAM);
    fails(px_cpus_mask("0,65536", &mask, &size), BAD_PARAM);
    fails(px_cpus_mask("x", &mask, &size), BAD_PARAM);
}

PX_TEST(a_cpuset_is_read_with_its_source_or_without)
{
    pmix_cpuset_t a = {0}, b = {.source = strdup("HWLOC")};

    PX_TEST_NEEDS(px_cpuset_parse("hwloc:0-3", &a) == PMIX_SUCCESS, "hwloc");
    ck_assert_str_eq(a.source, "hwloc");
    ok(px_cpuset_parse("0-3", &b));
    ck_assert_str_eq(b.source, "HWLOC");
    free(b.source);
    b.source = strdup("hwloc");
    ck_assert_int_eq(px_type_compare(PMIX_PROC_CPUSET, &a, &b), 0);
    PMIx_Cpuset_destruct(&a);
    PMIx_Cpuset_destruct(&b);
}

PX_TEST(what_is_no_cpuset_changes_nothing)
{
    char other[] = "other";
    pmix_cpuset_t a = {0}, b = {other, NULL};

    PX_TEST_NEEDS(px_cpuset_parse("x", &a) != PMIX_ERR_NOT_SUPPORTED, "hwloc");
    ck_assert_int_eq(px_cpuset_parse("x", &a), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(px_cpuset_parse("hwloc:3-1", &a), PMIX_ERR_BAD_PARAM);
    ck_assert_int_eq(px_cpuset_parse("other:0", &a), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_int_eq(px_cpuset_parse("0", &b), PMIX_ERR_NOT_SUPPORTED);
    ck_assert_ptr_null(a.source);
    ck_assert_ptr_null(a.bitmap);
    ck_assert_ptr_null(b.bitmap);
}

PX_TEST_MAIN("rt/binding", NULL, NULL)

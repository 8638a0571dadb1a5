/* SPDX-License-Identifier: BSD-3-Clause */
/* A filter of four instructions. */
#include "seccomp.h"

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif
#ifndef SYS_clone3
#define SYS_clone3 435
#endif
#ifndef SYS_close_range
#define SYS_close_range 436
#endif
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#endif

/* Calls that have a second number on 32-bit machines, with wider ids, offsets or structures. */
static const long wide[][2] = {
#ifdef SYS_setresuid32
    {SYS_setresuid, SYS_setresuid32},
    {SYS_setresgid, SYS_setresgid32},
    {SYS_getresuid, SYS_getresuid32},
    {SYS_getresgid, SYS_getresgid32},
    {SYS_setgroups, SYS_setgroups32},
    {SYS_getgroups, SYS_getgroups32},
    {SYS_setuid, SYS_setuid32},
    {SYS_setgid, SYS_setgid32},
#endif
#ifdef SYS_fcntl64
    {SYS_fcntl, SYS_fcntl64},
    {SYS_fstatfs, SYS_fstatfs64},
    {SYS_ftruncate, SYS_ftruncate64},
    {SYS_mmap, SYS_mmap2},
    {SYS_lseek, SYS__llseek},
#endif
    {-1, -1}};

static bool deny_number(long number, int errnum)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned int)number, 0, 1),
        BPF_STMT(BPF_RET | BPF_K,
                 SECCOMP_RET_ERRNO | ((unsigned int)errnum & SECCOMP_RET_DATA)),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

bool px_test_deny(long number, int errnum)
{
    for (size_t i = 0; i < sizeof(wide) / sizeof(wide[0]); i++)
        if (wide[i][0] == number && !deny_number(wide[i][1], errnum))
            return false;
    return deny_number(number, errnum);
}

static struct {
    void (*does)(void *);
    void *arg;
    atomic_long first_call;
} traced;

static void on_call(int sig, siginfo_t *info, void *context)
{
    (void)sig, (void)context;
    atomic_store(&traced.first_call, info->si_syscall);
    syscall(SYS_exit, 0);
}

static void *trace(void *arg)
{
    struct sock_filter code[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_TRAP),
    };
    struct sock_fprog program = {sizeof(code) / sizeof(code[0]), code};

    traced.does(traced.arg); /* a thread's first allocations map memory */
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program)) {
        atomic_store(&traced.first_call, -2);
        return arg;
    }
    traced.does(traced.arg);
    syscall(SYS_exit, 0); /* an ordinary end makes others before */
    return arg;
}

long px_test_first_call_of(void (*does)(void *), void *arg)
{
    struct sigaction trap = {.sa_sigaction = on_call, .sa_flags = SA_SIGINFO};
    pthread_t thread;

    traced.does = does;
    traced.arg = arg;
    atomic_store(&traced.first_call, -1);
    if (sigaction(SIGSYS, &trap, NULL) || pthread_create(&thread, NULL, trace, NULL) ||
        pthread_join(thread, NULL))
        return -2;
    return atomic_load(&traced.first_call);
}

int px_test_in_child(int (*does)(void))
{
    int status;
    pid_t child = fork();

    if (child == 0)
        _exit(does());
    return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status)
               ? WEXITSTATUS(status)
               : -1;
}

static const struct {
    const char *name;
    long number;
} calls[] = {
    {"statx", SYS_statx},
    {"pidfd_open", SYS_pidfd_open},
    {"clone3", SYS_clone3},
    {"pidfd_send_signal", SYS_pidfd_send_signal},
    {"close_range", SYS_close_range},
    {"landlock_create_ruleset", SYS_landlock_create_ruleset},
};

static const struct {
    const char *name;
    int number;
} errors[] = {
    {"ENOSYS", ENOSYS}, {"EPERM", EPERM}, {"EACCES", EACCES}, {"EINVAL", EINVAL}};

static void deny_named(const char *call, const char *error)
{
    for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
        for (size_t k = 0; k < sizeof(errors) / sizeof(errors[0]); k++)
            if (!strcmp(calls[i].name, call) && !strcmp(errors[k].name, error) &&
                px_test_deny(calls[i].number, errors[k].number))
                return;
    fprintf(stderr, "PX_TEST_DENY: cannot let %s fail with %s\n", call, error);
    exit(EXIT_FAILURE);
}

void px_test_deny_by_env(void)
{
    const char *wanted = getenv("PX_TEST_DENY");
    char call[32], error[32];
    int n;

    while (wanted && *wanted) {
        if (sscanf(wanted, "%31[^:,]:%31[^:,]%n", call, error, &n) != 2 ||
            (wanted[n] && wanted[n] != ',')) {
            fprintf(stderr, "PX_TEST_DENY: no CALL:ERROR at \"%s\"\n", wanted);
            exit(EXIT_FAILURE);
        }
        deny_named(call, error);
        wanted += n + (wanted[n] == ',');
    }
}

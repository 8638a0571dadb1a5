/* SPDX-License-Identifier: BSD-3-Clause */
#include "standard.h"

#include "pmix_tool.h"

#include <fcntl.h>
#include <semaphore.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { WAIT_S = 20 };

/* ---- clients ------------------------------------------------------------------------------- */

pmix_proc_t standard_me;
char standard_out[1 << 16], standard_err[1 << 16];
static struct standard_client *clients;

void standard_list(struct standard_client *client)
{
    client->next = clients;
    clients = client;
}

void standard_check(bool condition, const char *text, const char *file, int line)
{
    if (condition)
        return;
    fprintf(stderr, "%s:%d: not true: %s\n", file, line, text);
    _exit(EXIT_FAILURE);
}

static int run_client(const char *name)
{
    for (struct standard_client *c = clients; c; c = c->next)
        if (strcmp(c->name, name) == 0) {
            STANDARD_CHECK((c->is_tool ? PMIx_tool_init : PMIx_Init)(
                               &standard_me, NULL, 0) == PMIX_SUCCESS);
            c->run();
            STANDARD_CHECK((c->is_tool ? PMIx_tool_finalize()
                                       : PMIx_Finalize(NULL, 0)) == PMIX_SUCCESS);
            return EXIT_SUCCESS;
        }
    fprintf(stderr, "no client %s\n", name);
    return EXIT_FAILURE;
}

static void read_file(const char *path, char *text, size_t size)
{
    int fd = open(path, O_RDONLY);
    ssize_t n = read(fd, text, size - 1);

    ck_assert_int_ge(n, 0);
    close(fd);
    text[n] = '\0';
}

int standard_try(const char *options, const char *client)
{
    const char *out = px_test_path("out"), *err = px_test_path("err");
    char self[4096], command[16384];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);

    ck_assert_int_gt(n, 0);
    self[n] = '\0';
    snprintf(command, sizeof(command), "'%s' %s '%s' %s >'%s' 2>'%s'",
             getenv("PX_TEST_PMIXRUN"), options, self, client, out, err);
    int status = system(command);
    ck_assert(WIFEXITED(status));
    read_file(out, standard_out, sizeof(standard_out));
    read_file(err, standard_err, sizeof(standard_err));
    return WEXITSTATUS(status);
}

void standard_run(const char *options, const char *client)
{
    int status = standard_try(options, client);

    ck_assert_msg(status == 0, "%s: status %d\n%s%s", client, status, standard_out,
                  standard_err);
}

int standard_fork(const pmix_proc_t *proc, const char *client)
{
    char **environment = NULL;
    int status;
    pid_t pid;

    if (proc)
        ok(PMIx_server_setup_fork(proc, &environment));
    pid = fork();
    ck_assert_int_ge(pid, 0);
    if (pid == 0) {
        for (char **e = environment; e && *e; e++)
            putenv(*e);
        execl("/proc/self/exe", "client", client, NULL);
        _exit(127);
    }
    PMIx_Argv_free(environment);
    ck_assert_int_eq(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

unsigned standard_count(const char *lines, const char *text)
{
    unsigned n = 0;

    for (const char *at = lines; (at = strstr(at, text)) != NULL; n++)
        at += strcspn(at, "\n");
    return n;
}

/* ---- answers ------------------------------------------------------------------------------- */

static sem_t answered;
static pmix_status_t answer;
static unsigned n_answers;

void standard_on_op(pmix_status_t status, void *cbdata PX_UNUSED)
{
    answer = status;
    __atomic_add_fetch(&n_answers, 1, __ATOMIC_SEQ_CST);
    sem_post(&answered);
}

pmix_status_t standard_wait(pmix_status_t rc)
{
    struct timespec end;

    if (rc)
        return rc == PMIX_OPERATION_SUCCEEDED ? PMIX_SUCCESS : rc;
    clock_gettime(CLOCK_REALTIME, &end);
    end.tv_sec += WAIT_S;
    return sem_timedwait(&answered, &end) ? PMIX_ERR_TIMEOUT : answer;
}

unsigned standard_answers(void)
{
    return __atomic_load_n(&n_answers, __ATOMIC_SEQ_CST);
}

const pmix_info_t *standard_find(const pmix_info_t *info, size_t n, const char *key)
{
    for (size_t i = 0; i < n; i++)
        if (PMIx_Check_key(info[i].key, key))
            return &info[i];
    return NULL;
}

int standard_main(int argc, char **argv, const char *suite, SFun setup, SFun teardown)
{
    sem_init(&answered, 0, 0);
    return argc > 1 ? run_client(argv[1]) : px_test_run(suite, setup, teardown);
}

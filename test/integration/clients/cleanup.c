/* SPDX-License-Identifier: BSD-3-Clause */
/* cleanup ORDER...: does one thing after the other; in paths and names %r is the rank.
 *   file PATH, dir PATH         makes it
 *   there PATH                  it has to exist
 *   wait PATH, gone PATH        until it exists, or does no more
 *   job, nspace NAME, rank N    of whom the next request is: NULL, a namespace, a rank of
 *                               the own one; without any of these: this process
 *   remove LIST, tree LIST, ignore LIST, recursive, leave-top, pause
 *                               for the next request
 *   ask, refused                the request, which has to succeed or fail
 *   finalize, init              PMIx_Finalize, and PMIx_Init again
 *   disconnect                  closes all sockets and goes on
 *   kill, exit                  by SIGKILL; at once, without finalizing */
#include "client.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>

#define MAX_INFOS 16
#define WAIT_S    20

static pmix_info_t infos[MAX_INFOS];
static size_t n_infos;
static pmix_proc_t target;
static bool for_job;

static const char *filled(const char *pattern)
{
    static char text[4096];
    const char *r = strstr(pattern, "%r");

    if (!r)
        return pattern;
    snprintf(text, sizeof text, "%.*s%u%s", (int)(r - pattern), pattern, me.rank,
             r + 2);
    return text;
}

static bool exists(const char *path)
{
    struct stat st;

    return lstat(path, &st) == 0;
}

static void make_file(const char *path)
{
    int fd = open(path, O_CREAT | O_WRONLY, 0600);

    CHECK(fd >= 0);
    close(fd);
}

static void await(const char *path, bool there)
{
    double end = now_s() + WAIT_S;

    while (exists(path) != there) {
        CHECK(now_s() < end);
        sleep_ms(5);
    }
}

static void add(const char *key, const char *value)
{
    CHECK(n_infos < MAX_INFOS);
    PMIX_INFO_LOAD(&infos[n_infos], key, value, value ? PMIX_STRING : PMIX_BOOL);
    n_infos++;
}

static pmix_status_t ask(void)
{
    pmix_info_t *results = NULL;
    size_t n = 0;
    pmix_status_t rc = for_job
                           ? PMIx_Job_control(NULL, 0, infos, n_infos, &results, &n)
                           : PMIx_Job_control(&target, 1, infos, n_infos, &results, &n);

    for (size_t i = 0; i < n_infos; i++)
        PMIX_INFO_DESTRUCT(&infos[i]); /* a macro, which wants its argument twice */
    n_infos = 0;
    for_job = false;
    target = me;
    return rc;
}

static void close_sockets(void)
{
    struct stat st;

    for (int fd = 3; fd < 256; fd++)
        if (fstat(fd, &st) == 0 && S_ISSOCK(st.st_mode))
            close(fd);
}

/* Orders without an operand. */
static bool simple(const char *order)
{
    if (strcmp(order, "job") == 0)
        for_job = true;
    else if (strcmp(order, "recursive") == 0)
        add(PMIX_CLEANUP_RECURSIVE, NULL);
    else if (strcmp(order, "leave-top") == 0)
        add(PMIX_CLEANUP_LEAVE_TOPDIR, NULL);
    else if (strcmp(order, "pause") == 0)
        add(PMIX_JOB_CTRL_PAUSE, NULL);
    else if (strcmp(order, "ask") == 0)
        GOOD(ask());
    else if (strcmp(order, "refused") == 0)
        CHECK(ask() != PMIX_SUCCESS);
    else if (strcmp(order, "finalize") == 0)
        GOOD(PMIx_Finalize(NULL, 0));
    else if (strcmp(order, "init") == 0)
        GOOD(PMIx_Init(&me, NULL, 0));
    else if (strcmp(order, "disconnect") == 0)
        close_sockets();
    else if (strcmp(order, "kill") == 0)
        raise(SIGKILL);
    else if (strcmp(order, "exit") == 0)
        _exit(0);
    else
        return false;
    return true;
}

static void with_operand(const char *order, const char *operand)
{
    const char *path = filled(operand);

    if (strcmp(order, "file") == 0)
        make_file(path);
    else if (strcmp(order, "dir") == 0)
        CHECK(mkdir(path, 0700) == 0);
    else if (strcmp(order, "there") == 0)
        CHECK(exists(path));
    else if (strcmp(order, "wait") == 0)
        await(path, true);
    else if (strcmp(order, "gone") == 0)
        await(path, false);
    else if (strcmp(order, "nspace") == 0)
        PMIX_LOAD_PROCID(&target, path, PMIX_RANK_WILDCARD);
    else if (strcmp(order, "rank") == 0)
        target.rank = (pmix_rank_t)atoi(path);
    else if (strcmp(order, "remove") == 0)
        add(PMIX_REGISTER_CLEANUP, path);
    else if (strcmp(order, "tree") == 0)
        add(PMIX_REGISTER_CLEANUP_DIR, path);
    else if (strcmp(order, "ignore") == 0)
        add(PMIX_CLEANUP_IGNORE, path);
    else
        CHECK(!"such an order");
}

int main(int argc, char **argv)
{
    alarm(ALARM_S);
    GOOD(PMIx_Init(&me, NULL, 0));
    target = me;
    for (int i = 1; i < argc; i++) {
        if (simple(argv[i]))
            continue;
        CHECK(i + 1 < argc);
        with_operand(argv[i], argv[i + 1]);
        i++;
    }
    printf("OK cleanup %u\n", me.rank);
    return 0;
}

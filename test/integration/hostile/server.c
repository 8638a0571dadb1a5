/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile_server [user|inproc|container]: the cases against servers with clients of the attacker. The
 * default are servers of root. user, inproc: servers of the attacker with one of the components, which
 * must protect other users from the attacker, and the attacker from other users and from mistakes.
 * container: the attacker is root of a container. Variables as in walker.c. */
#include "server.h"

#include "core/reclaim/journal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define SWAPS 10000
/* Limits of a walk. */
#define WALK_LIMIT "5s"
#define OWN_LIMIT  "3s"
#define TIMEOUT    "PMIX_MCA_pcleanup_janitor_timeout" /* whose default is minutes */
#define SKIPPED    77
#define IDLE_S     60
#define LEFT_S     10   /* limit for the end of processes */
#define FAILED     0x40 /* in the exit status of a server */

static char client_path[4096];

uid_t server_uid(const struct scene *s)
{
    return s->level->own ? USER : 0;
}

uid_t attacker_uid(const struct scene *s)
{
    return s->level->own ? OTHER : USER;
}

void give(const char *path, uid_t uid)
{
    if (lchown(path, uid, uid))
        die("cannot give %s away", path);
}

/* ---- clients --------------------------------------------------------------------------------- */

/* Returns the client's arguments: the registrations, and orders of the program cleanup, with "@name" as a path
 * of the scene. */
static char **arguments(const struct scene *s, const char *orders)
{
    static const char *const kinds[] = {
        [REG_FILE] = "remove", [REG_DIR] = "tree", [REG_KEEP] = "ignore"};
    const char **argv = calloc(2 * s->n_regs + 16, sizeof(*argv));
    char *rest = strdup(orders);
    bool folders = false;
    size_t n = 0;

    if (!argv || !rest)
        die("no memory");
    argv[n++] = client_path;
    argv[n++] = "cleanup";
    for (size_t i = 0; i < s->n_regs; i++) {
        argv[n++] = kinds[s->regs[i].kind];
        argv[n++] = s->regs[i].path;
        folders = folders || s->regs[i].kind == REG_DIR;
    }
    if (folders && s->recurse) /* without a folder they would be a mistake */
        argv[n++] = "recursive";
    if (folders && s->leave_top)
        argv[n++] = "leave_top";
    for (char *word; (word = next_word(&rest));)
        argv[n++] = *word == '@' ? strdup(at(s, word + 1)) : word;
    return (char **)argv;
}

static void start_client(struct host_job *job, const struct scene *s, uid_t uid,
                         const char *orders)
{
    static unsigned n;
    char nspace[32];

    snprintf(nspace, sizeof(nspace), "hostile%u", n++);
    host_owner(s->level->own ? geteuid() : uid, s->level->own ? getegid() : uid);
    host_register_job(job, nspace, 1);
    host_start_rank(job, 0, arguments(s, orders));
}

int run_client(struct scene *s, uid_t uid, const char *orders)
{
    struct host_job job;
    int rc;

    start_client(&job, s, uid, orders);
    rc = host_wait(&job, 90);
    if (rc != 0 && rc != 3)
        bad(s, "the client ended with %d", rc);
    host_deregister_nspace(job.nspace);
    return rc;
}

/* Returns a count of the query's result; -1: not included. */
static int64_t member(const pmix_info_t *result, const char *key)
{
    const pmix_data_array_t *all = result->value.data.darray;

    HOST_CHECK(result->value.type == PMIX_DATA_ARRAY && all->type == PMIX_INFO);
    for (size_t k = 0; k < all->size; k++) {
        const pmix_info_t *info = &((const pmix_info_t *)all->array)[k];

        if (PMIX_CHECK_KEY(info, key) && info->value.type == PMIX_UINT64)
            return (int64_t)info->value.data.uint64;
    }
    return -1;
}

static bool is_idle(void)
{
    char *keys[] = {(char *)"tenon.cleanup", NULL};
    pmix_query_t query = {.keys = keys};
    int64_t scopes, reclaiming;
    pmix_info_t *results = NULL;
    size_t n = 0;

    HOST_GOOD(PMIx_Query_info(&query, 1, &results, &n));
    HOST_CHECK(n == 1);
    scopes = member(results, "tenon.cleanup.scopes");
    reclaiming = member(results, "tenon.cleanup.reclaiming");
    HOST_CHECK(scopes >= 0 && reclaiming >= 0);
    PMIX_INFO_FREE(results, n);
    return scopes == 0 && reclaiming == 0;
}

void await_idle(struct scene *s)
{
    double end = now_s() + (s->timeout_s > IDLE_S ? s->timeout_s : IDLE_S);

    for (; !is_idle(); usleep(1000))
        if (now_s() > end) {
            bad(s, "clean-up is not done after %d s", IDLE_S);
            return;
        }
}

/* ---- servers ----------------------------------------------------------------------------------- */

static void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
        die("cannot write %s", path);
    close(fd);
}

/* Enters a user namespace with the attacker as root, and a mount namespace below ours; false if this
 * machine does not allow that. */
static bool enter_container(void)
{
    char map[40];

    become(USER, USER);
    if (prctl(PR_SET_DUMPABLE, 1) || unshare(CLONE_NEWUSER | CLONE_NEWNS))
        return false;
    snprintf(map, sizeof(map), "0 %d 1\n", USER);
    write_file("/proc/self/setgroups", "deny");
    write_file("/proc/self/gid_map", map);
    write_file("/proc/self/uid_map", map);
    return geteuid() == 0 && getegid() == 0;
}

static void begin_here(const struct scene *s, uid_t uid, const char *tmp)
{
    static pmix_server_module_t module;

    module = host_module;
    if (tmp)
        setenv("TMPDIR", tmp, 1);
    if (s->full_time)
        unsetenv(TIMEOUT);
    if (s->level->contained && !enter_container())
        _exit(SKIPPED);
    if (uid && !s->level->contained)
        become(uid, uid);
    alarm(100);
    host_answers(HOST_AT_ONCE);
    HOST_GOOD(host_init(&module));
}

int in_server(struct scene *s, uid_t uid, const char *tmp, int (*fn)(struct scene *s))
{
    pid_t pid = fork_or_die();
    int how;

    if (pid == 0) {
        s->failed = false;
        begin_here(s, uid, tmp);
        how = fn(s);
        await_idle(s);
        HOST_GOOD(PMIx_server_finalize());
        host_stop_answering();
        fflush(NULL);
        _exit(how | (s->failed ? FAILED : 0));
    }
    how = end_process(pid, false);
    if (how & ~(FAILED | 3))
        bad(s, "the server has ended with %d", how);
    s->failed |= how & FAILED;
    return how & 3;
}

int do_nothing(struct scene *s)
{
    (void)s;
    return 0;
}

void begin_server(struct own *own)
{
    struct host_job job;
    char ready;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        die("no pipe");
    own->pid = fork_or_die();
    if (own->pid == 0) {
        begin_here(own->s, own->uid, own->tmp);
        if (dup2(ends[1], 1) < 0) /* the client prints its status there */
            _exit(90);
        start_client(&job, own->s, own->uid ? own->uid : USER, "try wait @go finalize");
        close(1);
        close(ends[1]);
        _exit(host_wait(&job, 70));
    }
    close(ends[1]);
    if (read(ends[0], &ready, 1) != 1)
        bad(own->s, "the client has not registered");
    close(ends[0]);
}

void go(struct scene *s)
{
    make(s, "f:go");
}

void kill_server(struct own *own)
{
    end_process(own->pid, true);
}

/* ---- checks ---------------------------------------------------------------------------------- */

bool soon(const struct scene *s, const char *name, bool there)
{
    struct stat st;

    for (int i = 0; i < 1000; i++) {
        if ((lstat(at(s, name), &st) == 0) == there)
            return true;
        usleep(10000);
    }
    return false;
}

void expect_none_left(struct scene *s)
{
    static const char *const names[] = {"tenon-", "client"};
    double end = now_s() + LEFT_S;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        while (find_process(names[i], 0)) {
            if (now_s() > end) {
                bad(s, "a process %s... is left", names[i]);
                return;
            }
            usleep(10000);
        }
}

const char *private_folder(const char *tmp)
{
    static char path[600];
    DIR *d = opendir(tmp);

    path[0] = '\0';
    for (struct dirent *e; d && (e = readdir(d));)
        if (strncmp(e->d_name, PX_JOURNAL_DIR, strlen(PX_JOURNAL_DIR)) == 0)
            snprintf(path, sizeof(path), "%s/%s", tmp, e->d_name);
    if (d)
        closedir(d);
    return path[0] ? path : NULL;
}

/* ---- kinds of servers -------------------------------------------------------------------------- */

static int remove_regs(struct scene *s)
{
    return run_client(s, USER, REGISTERS);
}

static bool server_remove(struct scene *s)
{
    return in_server(s, server_uid(s), NULL, remove_regs) == 0;
}

/* Kinds of servers. In a container the server has root's powers over the attacker's files only. */
static const struct kind {
    const char *arg, *component;
    struct level level;
} kinds[] = {
    {"root", "janitor", {.name = "server"}},
    {"user", "janitor", {.name = "the user's server", .own = true}},
    {"inproc", "inproc", {.name = "the user's server, inproc", .own = true}},
    {"container",
     "janitor",
     {.name = "container", .own = true, .contained = true, .powers = true}},
};

static struct level level_of(const char *arg)
{
    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
        if (strcmp(kinds[i].arg, arg) == 0) {
            struct level level = kinds[i].level;

            setenv("PMIX_MCA_pcleanup", kinds[i].component, 1);
            level.server = level.no_wait = level.resolves = true;
            level.janitor = strcmp(kinds[i].component, "janitor") == 0;
            level.remove = server_remove;
            return level;
        }
    die("there is no '%s'", arg);
}

static bool may_be_contained(void)
{
    pid_t pid = fork_or_die();

    if (pid == 0)
        _exit(!enter_container());
    return end_process(pid, false) == 0;
}

int main(int argc, char **argv)
{
    const struct level level = level_of(argc > 1 ? argv[1] : "root");
    const char *swaps = getenv("HOSTILE_SWAPS");
    char tmp[300];
    struct scene s;

    if (!realpath(argv[0], client_path))
        die("where is this program?");
    snprintf(strrchr(client_path, '/') + 1, 32, "../client");
    scene_begin(&s, &level);
    snprintf(tmp, sizeof(tmp), "%s/tmp", s.base);
    if (mkdir(tmp, 0755) || chmod(tmp, 01777) || setenv("TMPDIR", tmp, 1))
        die("cannot make %s", tmp);
    setenv("HOME", "/nonexistent", 1); /* the attacker may not look into root's */
    setenv(TIMEOUT, level.own ? OWN_LIMIT : WALK_LIMIT, 1);
    setenv("PMIX_MCA_pcleanup_inproc_timeout", OWN_LIMIT, 1);
    if (level.contained && !may_be_contained()) {
        wipe(&s, s.base);
        printf("LEFT OUT %s: users may not make user namespaces here\n", level.name);
        return SKIPPED;
    }
    if (!level.contained)
        cases_own_servers(&s);
    cases_requests(&s);
    cases_rows(&s);
    if (!level.own || level.janitor) /* what walks is the same in both */
        cases_special(&s);
    cases_faulty(&s);
    cases_swaps(&s, swaps ? strtoull(swaps, NULL, 10) : SWAPS);
    return scene_end(&s);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A server of a case's own, in a child, and what is left of it. */
#include "server_one.h"

#include "core/reclaim/journal.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define LIMIT_S 10

uid_t who_serves(const struct scene *s)
{
    return s->level->own ? USER : 0;
}

uid_t who_attacks(const struct scene *s)
{
    return s->level->own ? OTHER : USER;
}

void give(const char *path, uid_t uid)
{
    if (lchown(path, uid, uid))
        die("cannot give %s away", path);
}

void begin_here(const struct own *own)
{
    static pmix_server_module_t module;

    module = host_module;
    setenv("TMPDIR", own->tmp, 1);
    if (own->uid)
        become(own->uid, own->uid);
    alarm(80);
    host_answers(HOST_AT_ONCE);
    HOST_GOOD(host_init(&module));
    if (!own->uid)
        host_owner(USER, USER);
}

void end_here(void)
{
    HOST_GOOD(PMIx_server_finalize());
    host_stop_answering();
}

void pass_by(struct scene *s, uid_t uid, const char *tmp)
{
    struct own own = {.s = s, .uid = uid, .tmp = tmp};
    int how;

    fflush(NULL);
    own.pid = fork();
    if (own.pid < 0)
        die("cannot fork");
    if (own.pid == 0) {
        s->failed = false;
        begin_here(&own);
        await_idle(s);
        end_here();
        _exit(s->failed);
    }
    how = end_process(own.pid, false);
    if (how)
        bad(s, "a server that came by ended with %d", how);
}

void begin_server(struct own *own)
{
    char wait_for[400], ready;
    struct host_job job;
    struct args a;
    int ends[2];

    if (pipe2(ends, O_CLOEXEC))
        die("no pipe");
    fflush(NULL);
    own->pid = fork();
    if (own->pid < 0)
        die("cannot fork");
    if (own->pid == 0) {
        begin_here(own);
        snprintf(wait_for, sizeof wait_for, "%s/go", own->s->home);
        args_begin(&a);
        args_add(&a, "-w", wait_for, NULL);
        args_add_regs(&a, own->s);
        if (dup2(ends[1], 1) < 0) /* where the client says how it went */
            _exit(90);
        host_register_job(&job, "own", 1);
        host_start_rank(&job, 0, a.v);
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

pid_t find_process(const char *name_begin)
{
    DIR *d = opendir("/proc");
    pid_t found = 0;

    for (struct dirent *e; d && (e = readdir(d));) {
        char path[64], comm[64] = "";
        FILE *f;

        snprintf(path, sizeof path, "/proc/%.20s/comm", e->d_name);
        f = e->d_name[0] >= '0' && e->d_name[0] <= '9' ? fopen(path, "re") : NULL;
        if (f && fgets(comm, sizeof comm, f) &&
            strncmp(comm, name_begin, strlen(name_begin)) == 0)
            found = atoi(e->d_name);
        if (f)
            fclose(f);
    }
    if (d)
        closedir(d);
    return found;
}

void nobody_left(struct scene *s)
{
    static const char *const names[] = {"tenon-j", "tenon-s", "tenon-w",
                                        "hostile_client"};
    double end = now_s() + LIMIT_S;

    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        while (find_process(names[i])) {
            if (now_s() > end) {
                bad(s, "a process %s... is left", names[i]);
                return;
            }
            usleep(10000);
        }
}

void kill_server(struct own *own)
{
    end_process(own->pid, true);
}

const char *private_folder(const char *tmp)
{
    static char path[600];
    DIR *d = opendir(tmp);

    path[0] = '\0';
    for (struct dirent *e; d && (e = readdir(d));)
        if (strncmp(e->d_name, PX_JOURNAL_DIR, strlen(PX_JOURNAL_DIR)) == 0)
            snprintf(path, sizeof path, "%s/%s", tmp, e->d_name);
    if (d)
        closedir(d);
    return path[0] ? path : NULL;
}

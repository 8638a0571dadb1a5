/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks on a server's folder, its journal and its janitor, and sudden ends of servers. Each case has a
 * server of its own, in a child. */
#include "server.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- the end of servers ---------------------------------------------------------------------------- */

static void rename_folder(const char *from, const char *to)
{
    if (!from || rename(from, to))
        die("cannot move %s", from ? from : "the server's folder");
}

/* Replaces the server's folder. The attacker may write to its parent. */
static void folder_exchanged(struct scene *s)
{
    struct own own = {.s = s, .uid = server_uid(s)};
    char folder[700], tmp[300];

    if (!case_begin(s, "the attacker replaces the server's folder"))
        return;
    make(s, "d:tmp m:tmp>777 T:top d:d f:d/x o:d>0:0");
    give(at(s, "tmp"), attacker_uid(s));
    snprintf(tmp, sizeof(tmp), "%s", at(s, "tmp"));
    reg(s, "D:top");
    own.tmp = tmp;
    begin_server(&own);
    if (private_folder(tmp)) {
        snprintf(folder, sizeof(folder), "%s", private_folder(tmp));
        rename_folder(folder, at(s, "moved"));
        if (mkdir(folder, 0700))
            die("cannot make %s", folder);
        write_journal(s, at(s, "j"));
        rename_folder(at(s, "j"), strcat(folder, "/journal"));
        *strrchr(folder, '/') = '\0';
        give(folder, attacker_uid(s));
    } /* else the server does not make a folder in such a place */
    kill_server(&own);
    canary_stays(s);
    go(s);
    if (s->level->janitor) {
        soon(s, "top", false);
        gone(s, "top");
    }
    expect_none_left(s);
    in_server(s, server_uid(s), tmp, do_nothing);
    canary_stays(s);
    case_end(s);
}

/* Limits the descriptors of a process, as its user: root of a container may not do that for others. */
static bool limit_descriptors(uid_t uid, pid_t of)
{
    const struct rlimit few = {16, 16};
    pid_t pid = fork_or_die();

    if (pid == 0) {
        if (uid)
            become(uid, uid);
        _exit(prlimit(of, RLIMIT_NOFILE, &few, NULL) ? 1 : 0);
    }
    return end_process(pid, false) == 0;
}

/* Kills a server whose janitor has few descriptors. */
static void few_descriptors(struct scene *s)
{
    struct own own = {.s = s, .uid = server_uid(s), .tmp = getenv("TMPDIR")};
    double end = now_s() + 10;
    pid_t janitor;

    if (!s->level->janitor || !case_begin(s, "the janitor has 16 descriptors"))
        return;
    make(s, "T:top T:top/sub/deep/x T:top/sub/deep/x/sub/deep/y f:x");
    reg(s, "D:top F:x");
    begin_server(&own);
    while ((janitor = find_process("tenon-janitor", 0)) <= 0 && now_s() < end)
        usleep(1000); /* until the process has set its name */
    if (janitor <= 0 || !limit_descriptors(own.uid, janitor))
        bad(s, "no janitor found");
    kill_server(&own);
    go(s);
    soon(s, "top", false);
    gone(s, "top x");
    expect_none_left(s);
    case_end(s);
}

/* Changes the journal of a server. A server cannot resist its own user, but must not crash, or remove
 * files of others. */
static void journal_changed(struct scene *s, const char *name, const char *how)
{
    struct own own = {.s = s, .uid = USER};
    char folder[700], tmp[300];
    int fd;

    if (!case_begin(s, name))
        return;
    make(s, "d:tmp T:top d:d f:d/x o:d>0:0");
    snprintf(tmp, sizeof(tmp), "%s", at(s, "tmp"));
    reg(s, "D:top");
    own.tmp = tmp;
    begin_server(&own);
    if (private_folder(tmp)) {
        char *end;

        snprintf(folder, sizeof(folder), "%s/journal", private_folder(tmp));
        end = folder + strlen(folder);
        if (strcmp(how, "appended") == 0) {
            fd = open(folder, O_WRONLY | O_APPEND | O_CLOEXEC);
            for (int i = 0; fd >= 0 && i < 5000; i++)
                if (write(fd, "\x02\x02\xff\xff\x01\0\0\0", 8) != 8)
                    break;
            close(fd);
        } else if (strcmp(how, "cut") == 0) {
            if (truncate(folder, 100))
                die("cannot cut the journal");
        } else {
            unlink(folder);
            if (strcmp(how, "link") == 0 ? symlink(at(s, "C/root/f0"), folder)
                                         : mkfifo(folder, 0600))
                die("cannot put %s", how);
            give(folder, USER);
        }
        *end = '\0';
    } else {
        bad(s, "the server has no folder");
    }
    kill_server(&own);
    go(s);
    expect_none_left(s);
    in_server(s, USER, tmp, do_nothing);
    canary_stays(s);
    expect_none_left(s);
    case_end(s);
}

/* Kills a server while the attacker swaps names on the registered path. */
static void killed_amid_swaps(struct scene *s)
{
    struct own own = {.s = s, .uid = server_uid(s), .tmp = getenv("TMPDIR")};
    pid_t pid;

    if (!case_begin(s, "the server is killed while the attacker swaps"))
        return;
    make(s, "T:side d:way T:way/top l:evil>C/locked d:d f:d/x o:d>0:0");
    reg(s, "D:way/top");
    begin_server(&own);
    pid = spawn_swapper(s, "way", "evil");
    kill_server(&own);
    go(s);
    expect_none_left(s);
    end_process(pid, true);
    canary_stays(s);
    stays(s, "side/f0 side/sub/f0");
    in_server(s, server_uid(s), NULL, do_nothing);
    case_end(s);
}

void cases_own_servers(struct scene *s)
{
    cases_squatters(s);
    folder_exchanged(s);
    journal_changed(s, "a user appends to the journal of an own server", "appended");
    journal_changed(s, "a user cuts the journal of an own server", "cut");
    journal_changed(s, "a user makes the journal of an own server a link", "link");
    journal_changed(s, "a user makes the journal of an own server a FIFO", "fifo");
    few_descriptors(s);
    killed_amid_swaps(s);
}

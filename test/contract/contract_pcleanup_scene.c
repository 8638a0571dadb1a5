/* SPDX-License-Identifier: BSD-3-Clause */
/* Functions of contract_pcleanup.h. */
#include "contract_pcleanup.h"

#include "core/base/clock.h"
#include "core/os/proc.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "px_test.h"

#define NODE "node"

const struct px_pcleanup_ops *pcleanup_ops(void)
{
    return contract.component->ops;
}

/* ---- a server ------------------------------------------------------------------- */

struct srv srv_of(void *self, const char *name)
{
    struct srv s = {.self = self, .dir = -1, .journal = -1};

    snprintf(s.path, sizeof(s.path), "%s/" PX_JOURNAL_DIR "%s", contract.dir, name);
    ok(pcleanup_ops()->start(self, s.path, NODE));
    return s;
}

void srv_make_dir(struct srv *s)
{
    ck_assert_int_eq(mkdir(s->path, 0700), 0);
    s->dir = open(s->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    ck_assert_int_ge(s->dir, 0);
    ck_assert_int_eq(flock(s->dir, LOCK_EX | LOCK_NB), 0);
}

void srv_record(struct srv *s, const struct px_journal_record *r)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    size_t len = px_journal_encode(r, bytes);

    ck_assert_uint_gt(len, 0);
    ck_assert_int_eq(write(s->journal, bytes, len), (ssize_t)len);
}

void srv_begin_journal(struct srv *s, uint64_t start_time)
{
    char where[320];
    struct px_journal_record head = {.type = PX_JOURNAL_HEAD,
                                     .x = (uint64_t)getpid(),
                                     .y = start_time,
                                     .path = where};

    s->journal = openat(s->dir, PX_JOURNAL_NAME,
                        O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_CLOEXEC, 0600);
    ck_assert_int_ge(s->journal, 0);
    px_journal_whereabouts(NODE, where);
    srv_record(s, &head);
}

void srv_make_journal(struct srv *s)
{
    if (s->dir < 0)
        srv_make_dir(s);
    if (s->journal >= 0)
        close(s->journal);
    (void)unlinkat(s->dir, PX_JOURNAL_NAME, 0);
    srv_begin_journal(s, px_journal_start_time(getpid()));
    ok(pcleanup_ops()->journal(s->self, s->dir, s->journal));
}

struct srv srv_begin(void)
{
    struct srv s = srv_of(contract.self, "first1");

    srv_make_journal(&s);
    return s;
}

void srv_end(struct srv *s)
{
    if (s->journal >= 0)
        ck_assert_int_eq(unlinkat(s->dir, PX_JOURNAL_NAME, 0), 0);
    if (s->dir >= 0)
        ck_assert_int_eq(rmdir(s->path), 0);
    pcleanup_ops()->finish(s->self, false);
    if (s->journal >= 0)
        close(s->journal);
    if (s->dir >= 0)
        close(s->dir);
    s->dir = s->journal = -1;
}

static uint32_t next_slot(void)
{
    static uint32_t slot;

    return ++slot;
}

void srv_item(struct srv *s, uint64_t scope, const char *path, enum px_rm_kind kind,
              unsigned flags)
{
    const struct px_journal_record r = {
        .type = PX_JOURNAL_ITEM,
        .kind = (uint8_t)kind,
        .flags = (uint16_t)flags,
        .slot = next_slot(),
        .scope = scope,
        .uid = geteuid(),
        .gid = getegid(),
        .path = path,
    };

    srv_record(s, &r);
}

void srv_proc(struct srv *s, uint64_t scope, pid_t pid, unsigned flags)
{
    const struct px_journal_record r = {
        .type = PX_JOURNAL_PROC,
        .flags = (uint16_t)flags,
        .slot = next_slot(),
        .scope = scope,
        .x = (uint64_t)pid,
        .y = px_journal_start_time(pid),
        .path = "",
    };

    srv_record(s, &r);
}

/* ---- files ---------------------------------------------------------------------- */

const char *in_dir(const char *name)
{
    static char paths[8][PATH_MAX];
    static unsigned i;
    char *path = paths[i++ % PX_COUNT(paths)];

    snprintf(path, PATH_MAX, "%s/%s", contract.dir, name);
    return path;
}

const char *make_file(const char *name)
{
    const char *path = in_dir(name);

    process_write_file(path, "", 0600);
    return path;
}

const char *make_folder(const char *name)
{
    const char *path = in_dir(name);

    ck_assert_int_eq(mkdir(path, 0700), 0);
    return path;
}

const char *make_tree(const char *name, unsigned n)
{
    char file[64];
    const char *path = make_folder(name);
    PX_AUTOCLOSE int dir = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

    ck_assert_int_ge(dir, 0);
    for (unsigned i = 0; i < n; i++) {
        snprintf(file, sizeof(file), "file%u", i);
        int fd = openat(dir, file, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
        ck_assert_int_ge(fd, 0);
        close(fd);
    }
    return path;
}

/* ---- answers -------------------------------------------------------------------- */

void on_done(void *arg, pmix_status_t status, const struct px_pcleanup_totals *totals)
{
    struct answer *a = arg;

    a->n++;
    a->status = status;
    a->totals = *totals;
}

static bool has_come(void *arg)
{
    return ((struct answer *)arg)->n > 0;
}

void answer_wait(struct answer *a)
{
    ck_assert_msg(fake_host_run(&contract.host, LATE_MS, has_come, a),
                  "done is not called");
}

struct answer sweep(struct srv *s, uint64_t scope)
{
    struct answer a = {0};

    ok(pcleanup_ops()->run(s->self, scope, on_done, &a));
    ck_assert_uint_eq(a.n, 0);
    answer_wait(&a);
    ok(a.status);
    ck_assert_uint_eq(a.n, 1);
    return a;
}

/* ---- processes ------------------------------------------------------------------ */

void adopt_orphans(void)
{
    ck_assert_int_eq(prctl(PR_SET_CHILD_SUBREAPER, 1), 0);
}

bool are_all_gone(uint64_t ms)
{
    const uint64_t deadline_ms = px_clock_ms() + ms;

    for (;;) {
        pid_t r = waitpid(-1, NULL, WNOHANG | __WALL);

        if (r < 0 && errno == ECHILD)
            return true;
        if (r == 0 && px_clock_ms() >= deadline_ms)
            return false;
        if (r == 0)
            process_pause(1);
    }
}

/* Returns the parent of a process, or 0 if the process is missing or has ended. */
static pid_t parent_of(pid_t pid)
{
    struct px_osproc_stat st;

    return px_osproc_stat(pid, &st) && st.state != 'Z' ? (pid_t)st.parent : 0;
}

/* Returns the first process for which is_it returns true, or 0. */
static pid_t find(bool (*is_it)(pid_t pid, const void *arg), const void *arg)
{
    const struct dirent *entry;
    pid_t pid = 0;
    DIR *d = opendir("/proc");

    ck_assert_ptr_nonnull(d);
    while (!pid && (entry = readdir(d))) {
        if (entry->d_name[0] >= '1' && entry->d_name[0] <= '9' &&
            is_it((pid_t)strtol(entry->d_name, NULL, 10), arg))
            pid = (pid_t)strtol(entry->d_name, NULL, 10);
    }
    closedir(d);
    return pid;
}

static bool is_named(pid_t pid, const void *name)
{
    char path[64], comm[64];

    return parent_of(pid) == getpid() &&
           px_osproc_path(pid, "/comm", path, sizeof(path)) &&
           px_osproc_read(path, comm, sizeof(comm)) &&
           strcmp(strtok(comm, "\n"), name) == 0;
}

pid_t find_process(const char *name)
{
    return find(is_named, name);
}

static bool kill_below(pid_t pid, const void *top)
{
    pid_t up = pid == getpid() ? 0 : pid;

    while (up > 1 && up != *(const pid_t *)top)
        up = parent_of(up);
    if (up > 1 && up != pid)
        kill(pid, SIGKILL);
    return false;
}

void kill_all_below(pid_t top)
{
    find(kill_below, &top);
}

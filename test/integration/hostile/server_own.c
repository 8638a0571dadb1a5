/* SPDX-License-Identifier: BSD-3-Clause */
/* What stands around a server: folders that others have made where it makes its own, its journal,
 * its janitor, and its sudden end. Each case has a server of its own, in a child. */
#include "server.h"

#include "core/base/journal.h"
#include "core/base/rmtree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIMIT_S 10

struct own {
    struct scene *s;
    uid_t uid;       /* whose server it is */
    const char *tmp; /* where it makes its files */
    pid_t pid;
};

/* ---- a server --------------------------------------------------------------------------------- */

static void begin_here(const struct own *own)
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

static void end_here(void)
{
    HOST_GOOD(PMIx_server_finalize());
    host_stop_answering();
}

/* Begins, and ends in order: on its way it looks for what others have left. */
static void pass_by(struct scene *s, uid_t uid, const char *tmp)
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

/* The client has registered what the scene has, and lives on until "go" is there. */
static void begin_server(struct own *own)
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

static void go(struct scene *s)
{
    make(s, "f:go");
}

/* In this pid namespace all are ours. */
static pid_t find_process(const char *name_begin)
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

/* What the library names its processes, its thread aside. */
static void nobody_left(struct scene *s)
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

static void kill_server(struct own *own)
{
    end_process(own->pid, true);
}

/* "pmix-server.XXXXXX" in tmp; a server of ours is there alone. */
static const char *private_folder(const char *tmp)
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

/* ---- hostile journals ---------------------------------------------------------------------------- */

static void put_record(int fd, const struct px_journal_record *r)
{
    uint8_t out[PX_JOURNAL_RECORD_B];
    size_t n = px_journal_encode(r, out);

    if (fd < 0 || n == 0 || write(fd, out, n) != (ssize_t)n)
        die("cannot write a journal");
}

/* Of a server that is no more, on this node. */
static int begin_journal(const char *path)
{
    struct px_journal_record head = {.type = PX_JOURNAL_HEAD, .x = 999999, .y = 1};
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char where[320], node[256] = "";

    gethostname(node, sizeof node - 1);
    px_journal_whereabouts(node, where);
    head.path = where;
    put_record(fd, &head);
    return fd;
}

/* Names what must stay, in the name of those who could remove it. */
static void write_journal(struct scene *s, const char *path)
{
    static const struct {
        const char *name;
        uint8_t kind;
        uint32_t uid;
    } items[] = {
        {"C/root", PX_RM_DIR, 0},      {"C/root/f0", PX_RM_FILE, 0},
        {"C/other", PX_RM_DIR, OTHER}, {"C/mine", PX_RM_DIR, USER},
        {"O/top", PX_RM_DIR, OTHER},   {"C/bait", PX_RM_DIR, USER},
        {"d/x", PX_RM_FILE, USER},     {"d/x", PX_RM_FILE, 0},
    };
    int fd = begin_journal(path);

    for (uint32_t i = 0; i < 2 * (sizeof items / sizeof items[0]); i++) {
        struct px_journal_record r = {
            .type = PX_JOURNAL_ITEM,
            .kind = items[i / 2].kind,
            .flags = PX_RM_ANY_GID,
            .slot = i,
            .scope = i % 2, /* the server's own, and of processes that are gone */
            .uid = items[i / 2].uid,
            .gid = items[i / 2].uid,
            .path = at(s, items[i / 2].name)};

        if (r.kind == PX_RM_DIR)
            r.flags |= PX_RM_RECURSE;
        put_record(fd, &r);
    }
    close(fd);
}

static void canary_stays(struct scene *s)
{
    stays(s, "C/root/f0 C/root/sub/f0 C/other/f0 C/mine/top/f0 C/bait/f0 O/top/f0 d/x");
}

/* A folder as a server's, of whomever, and with what as journal. */
struct squat {
    const char *name, *make; /* $ stands for the folder */
    uid_t uid;
    mode_t mode;
    bool has_journal;
    uid_t journal_uid;
};

static const struct squat squats[] = {
    {"a folder of the attacker's", "", USER, 0700, true, USER},
    {"a folder of the attacker's, open to all", "", USER, 0777, true, USER},
    {"a folder of the attacker's with a journal of root's", "", USER, 0700, true, 0},
    {"a folder of root's, open to all", "", 0, 0777, true, 0},
    {"a folder of root's, sticky", "", 0, 01777, true, 0},
    {"a folder of root's with a journal of the attacker's", "", 0, 0700, true, USER},
    {"a journal that is a link", "l:$/journal>C/root/f0", USER, 0700, false, 0},
    {"a journal that is a FIFO", "p:$/journal", USER, 0700, false, 0},
    {"a journal that is a folder", "T:$/journal", USER, 0700, false, 0},
    {"a journal that is a link, in a folder of root's", "l:$/journal>squat/real", 0,
     0700, false, 0},
    {"a journal that is a FIFO, in a folder of root's", "p:$/journal", 0, 0700, false,
     0},
    {"a journal that has another name, too", "h:$/journal>squat/real", 0, 0700, false,
     0},
    {"a folder that is a link", "", 0, 0, false, 0},
};

static void squatted(struct scene *s, const struct squat *q)
{
    static const char folder[] = "squat/" PX_JOURNAL_DIR "aBcDeF";
    char words[300] = "", *out = words, tmp[300];

    if (!case_begin(s, q->name))
        return;
    make(s, "d:squat o:squat>0:0 m:squat>1777 d:d f:d/x o:d>0:0");
    snprintf(tmp, sizeof tmp, "%s", at(s, "squat"));
    write_journal(s, at(s, "squat/real"));
    if (q->mode) {
        if (mkdir(at(s, folder), 0700))
            die("cannot make %s", folder);
    } else {
        make(s, "l:squat/" PX_JOURNAL_DIR "aBcDeF>C/bait "
                "l:squat/" PX_JOURNAL_DIR "gHiJkL>C/root");
    }
    for (const char *p = q->make; *p; p++)
        out += sprintf(out, *p == '$' ? folder : "%c", *p);
    make(s, words);
    if (q->has_journal) {
        char *journal = strdup(at(s, "squat/" PX_JOURNAL_DIR "aBcDeF/journal"));

        write_journal(s, journal);
        if (lchown(journal, q->journal_uid, q->journal_uid))
            die("cannot give %s away", journal);
        free(journal);
    }
    if (q->mode &&
        (lchown(at(s, folder), q->uid, q->uid) || chmod(at(s, folder), q->mode)))
        die("cannot give %s away", folder);
    pass_by(s, 0, tmp);
    canary_stays(s);
    if (q->uid || !q->mode) /* what is not its own it does not touch */
        stays(s, folder);
    nobody_left(s);
    case_end(s);
}

/* The folders above are left alone for what they are, not because nobody would look. */
static void not_squatted(struct scene *s)
{
    struct px_journal_record r = {.type = PX_JOURNAL_ITEM,
                                  .kind = PX_RM_DIR,
                                  .flags = PX_RM_RECURSE,
                                  .scope = 1,
                                  .uid = USER,
                                  .gid = USER};
    char tmp[300];
    int fd;

    if (!case_begin(s, "what a server of root has left in earnest"))
        return;
    make(s, "d:squat o:squat>0:0 m:squat>1777 T:top");
    snprintf(tmp, sizeof tmp, "%s", at(s, "squat"));
    if (mkdir(at(s, "squat/" PX_JOURNAL_DIR "aBcDeF"), 0700))
        die("cannot make a folder");
    fd = begin_journal(at(s, "squat/" PX_JOURNAL_DIR "aBcDeF/journal"));
    r.path = at(s, "top");
    put_record(fd, &r);
    close(fd);
    pass_by(s, 0, tmp);
    gone(s, "top squat/" PX_JOURNAL_DIR "aBcDeF");
    nobody_left(s);
    case_end(s);
}

/* ---- the end of servers ---------------------------------------------------------------------------- */

static void rename_folder(const char *from, const char *to)
{
    if (!from || rename(from, to))
        die("cannot move %s", from ? from : "the server's folder");
}

/* He may write where the server has made its folder, and puts one of his own in its place. */
static void folder_exchanged(struct scene *s)
{
    struct own own = {.s = s};
    char folder[700], tmp[300];

    if (!case_begin(s, "the server's folder is exchanged for his"))
        return;
    make(s, "d:tmp m:tmp>777 T:top d:d f:d/x o:d>0:0");
    snprintf(tmp, sizeof tmp, "%s", at(s, "tmp"));
    reg(s, "D:top");
    own.tmp = tmp;
    begin_server(&own);
    if (private_folder(tmp)) {
        snprintf(folder, sizeof folder, "%s", private_folder(tmp));
        rename_folder(folder, at(s, "moved"));
        if (mkdir(folder, 0700))
            die("cannot make %s", folder);
        write_journal(s, at(s, "j"));
        rename_folder(at(s, "j"), strcat(folder, "/journal"));
        *strrchr(folder, '/') = '\0';
        if (lchown(folder, USER, USER))
            die("cannot give %s away", folder);
    } /* else it has none in such a place: just as well */
    kill_server(&own);
    canary_stays(s);
    go(s);
    soon(s, "top", false);
    gone(s, "top");
    nobody_left(s);
    pass_by(s, 0, tmp);
    canary_stays(s);
    case_end(s);
}

/* The janitor has hardly a descriptor when it has to finish. */
static void few_descriptors(struct scene *s)
{
    const struct rlimit few = {16, 16};
    struct own own = {.s = s, .tmp = getenv("TMPDIR")};
    pid_t janitor;

    if (!case_begin(s, "the janitor has 16 descriptors"))
        return;
    make(s, "T:top T:top/sub/deep/x T:top/sub/deep/x/sub/deep/y f:x");
    reg(s, "D:top F:x");
    begin_server(&own);
    janitor = find_process("tenon-janitor");
    if (janitor <= 0 || prlimit(janitor, RLIMIT_NOFILE, &few, NULL))
        bad(s, "there is no janitor");
    kill_server(&own);
    go(s);
    soon(s, "top", false);
    gone(s, "top x");
    nobody_left(s);
    case_end(s);
}

/* Who cannot become the user must not remove for him as root. */
static void only_inproc(struct scene *s)
{
    struct own own = {.s = s, .tmp = getenv("TMPDIR")};
    pid_t pid;

    if (!case_begin(s, "a server of root that is told to do without the janitor"))
        return;
    make(s, "T:top d:d f:d/x o:d>0:0");
    reg(s, "D:top F:d/x");
    fflush(NULL);
    pid = fork();
    if (pid == 0) {
        setenv("PMIX_MCA_pcleanup", "inproc", 1);
        begin_here(&own);
        sweep_refused(s);
        end_here();
        _exit(s->failed);
    }
    if (end_process(pid, false))
        s->failed = true;
    stays(s, "top/f0 d/x");
    case_end(s);
}

/* A server of the same user's is no match for him; but it must not end badly, or be led to others. */
static void journal_changed(struct scene *s, const char *name, const char *how)
{
    struct own own = {.s = s, .uid = USER};
    char folder[700], tmp[300];
    int fd;

    if (!case_begin(s, name))
        return;
    make(s, "d:tmp T:top d:d f:d/x o:d>0:0");
    snprintf(tmp, sizeof tmp, "%s", at(s, "tmp"));
    reg(s, "D:top");
    own.tmp = tmp;
    begin_server(&own);
    if (private_folder(tmp)) {
        char *end;

        snprintf(folder, sizeof folder, "%s/journal", private_folder(tmp));
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
            if (lchown(folder, USER, USER))
                die("cannot give %s away", how);
        }
        *end = '\0';
    } else {
        bad(s, "the server has no folder");
    }
    kill_server(&own);
    go(s);
    nobody_left(s);
    pass_by(s, USER, tmp);
    canary_stays(s);
    nobody_left(s);
    case_end(s);
}

/* Its end finds somebody at work on the way to what he has registered. */
static void killed_amid_swaps(struct scene *s)
{
    struct own own = {.s = s, .tmp = getenv("TMPDIR")};
    pid_t pid;

    if (!case_begin(s, "the server is killed while he swaps"))
        return;
    make(s, "T:side d:way T:way/top l:evil>C/bait d:d f:d/x o:d>0:0");
    reg(s, "D:way/top");
    begin_server(&own);
    pid = spawn_swapper(s, "way", "evil");
    kill_server(&own);
    go(s);
    nobody_left(s);
    end_process(pid, true);
    canary_stays(s);
    stays(s, "side/f0 side/sub/f0");
    pass_by(s, 0, getenv("TMPDIR"));
    case_end(s);
}

/* ---- a disk that is full ------------------------------------------------------------------------------ */

static void fill_disk(const char *path)
{
    static char block[65536];
    int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);

    for (size_t n = sizeof block; fd >= 0 && n > 0;)
        if (write(fd, block, n) <= 0)
            n /= 2;
    close(fd);
}

static void serve_without_disk(struct scene *s, const char *tmp)
{
    struct own own = {.s = s, .tmp = tmp};
    char name[200];

    begin_here(&own);
    reg(s, "F:x");
    for (int i = 0; i < 200; i++) { /* more than what may be left of a page */
        snprintf(name, sizeof name, "top/%0150d", i);
        reg_path(s, REG_FILE, at(s, name));
    }
    fill_disk(at(s, "small/fill"));
    sweep_refused(s);
    stays(s, "x");
    unlink(at(s, "small/fill"));
    forget_regs(s);
    reg(s, "D:top");
    sweep(s);
    gone(s, "top");
    stays(s, "x");
    end_here();
    _exit(s->failed);
}

static void full_disk(struct scene *s)
{
    char tmp[300];
    pid_t pid;

    if (!case_begin(s, "the disk is full when it has to be written down"))
        return;
    make(s, "T:top f:x d:small");
    snprintf(tmp, sizeof tmp, "%s", at(s, "small"));
    if (mount("hostile", tmp, "tmpfs", 0, "mode=1777,size=256k"))
        die("no small file system");
    fflush(NULL);
    pid = fork();
    if (pid == 0)
        serve_without_disk(s, tmp);
    if (end_process(pid, false))
        s->failed = true;
    gone(s, "top");
    stays(s, "x");
    umount2(tmp, MNT_DETACH);
    nobody_left(s);
    case_end(s);
}

void cases_own_servers(struct scene *s)
{
    for (size_t i = 0; i < sizeof squats / sizeof squats[0]; i++)
        squatted(s, &squats[i]);
    not_squatted(s);
    folder_exchanged(s);
    journal_changed(s, "he appends to the journal of his own server", "appended");
    journal_changed(s, "he cuts the journal of his own server", "cut");
    journal_changed(s, "he makes the journal of his own server a link", "link");
    journal_changed(s, "he makes the journal of his own server a FIFO", "fifo");
    few_descriptors(s);
    only_inproc(s);
    killed_amid_swaps(s);
    full_disk(s);
}

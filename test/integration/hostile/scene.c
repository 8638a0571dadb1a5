/* SPDX-License-Identifier: BSD-3-Clause */
/* See hostile.h. */
#include "hostile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <grp.h>
#include <inttypes.h>
#include <linux/fs.h>
#include <linux/magic.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BIG_FOLDER 1000

void die(const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    fprintf(stderr, "hostile: ");
    vfprintf(stderr, fmt, args);
    fprintf(stderr, " (%s)\n", strerror(errno));
    va_end(args);
    exit(99);
}

void bad(struct scene *s, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    printf("FAIL %s, %s: ", s->level->name, s->name);
    vprintf(fmt, args);
    putchar('\n');
    va_end(args);
    s->failed = true;
}

double now_s(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

const char *at(const struct scene *s, const char *name)
{
    static char ring[16][8192];
    static unsigned next;
    char *out = ring[next++ % 16];
    const char *base = s->home;

    if (name[0] == '=') {
        snprintf(out, sizeof(ring[0]), "%s", name + 1);
        return out;
    }
    if ((name[0] == 'C' || name[0] == 'O') && (name[1] == '/' || !name[1])) {
        base = name[0] == 'C' ? s->canary : s->other;
        name += name[1] ? 2 : 1;
    }
    snprintf(out, sizeof(ring[0]), "%s%s%s", base, *name ? "/" : "", name);
    return out;
}

/* ---- processes --------------------------------------------------------------------------- */

void become(uid_t uid, gid_t gid)
{
    if (setgroups(0, NULL) || setresgid(gid, gid, gid) || setresuid(uid, uid, uid))
        _exit(96);
}

pid_t fork_or_die(void)
{
    pid_t pid;

    fflush(NULL);
    pid = fork();
    if (pid < 0)
        die("cannot fork");
    return pid;
}

pid_t spawn_user(void (*fn)(void *arg), void *arg)
{
    pid_t pid = fork_or_die();

    if (pid == 0) {
        become(USER, USER);
        fn(arg);
        _exit(0);
    }
    return pid;
}

int end_process(pid_t pid, bool kill_it)
{
    int how;

    if (kill_it)
        kill(pid, SIGKILL);
    while (waitpid(pid, &how, 0) < 0)
        if (errno != EINTR)
            die("cannot wait for a process");
    return WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how);
}

pid_t find_process(const char *name_begin, pid_t after)
{
    DIR *d = opendir("/proc");
    pid_t found = 0;

    for (struct dirent *e; !found && d && (e = readdir(d));) {
        char path[64], comm[64] = "";
        pid_t pid = atoi(e->d_name);
        int fd;

        snprintf(path, sizeof(path), "/proc/%d/comm", pid);
        fd = pid > after ? open(path, O_RDONLY | O_CLOEXEC) : -1;
        if (fd >= 0 && read(fd, comm, sizeof(comm) - 1) > 0 &&
            strncmp(comm, name_begin, strlen(name_begin)) == 0)
            found = pid;
        if (fd >= 0)
            close(fd);
    }
    if (d)
        closedir(d);
    return found;
}

/* ---- making ------------------------------------------------------------------------------ */

static bool put_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
    bool ok;

    if (fd < 0)
        return false;
    ok = dprintf(fd, "%s\n", path) > 0;
    close(fd);
    return ok;
}

static bool own(const char *path, uid_t uid, gid_t gid)
{
    return geteuid() != 0 || lchown(path, uid, gid) == 0;
}

bool grow(const char *path, uid_t uid, gid_t gid)
{
    static const char *const names[] = {
        "",       "/sub", "/sub/deep", "/sub/f0", "/sub/f1", "/sub/deep/f0",
        "/empty", "/f0",  "/f1",       "/f2",     "/f3"};
    char p[4200];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        size_t n = (size_t)snprintf(p, sizeof(p), "%s%s", path, names[i]);
        bool file = n > 2 && p[n - 2] == 'f' && i > 0;

        if (n >= sizeof(p) || (file ? !put_file(p) : mkdir(p, 0755) != 0) ||
            !own(p, uid, gid))
            return false;
    }
    return true;
}

static bool make_socket(const char *path)
{
    struct sockaddr_un a = {.sun_family = AF_UNIX};
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    const char *slash = strrchr(path, '/');
    char dir[4200], cwd[4200];
    bool ok;

    /* Binds the last name, because a whole path may be too long. */
    snprintf(dir, sizeof(dir), "%.*s", (int)(slash - path), path);
    snprintf(a.sun_path, sizeof(a.sun_path), "%s", slash + 1);
    ok = fd >= 0 && getcwd(cwd, sizeof(cwd)) && chdir(dir) == 0;
    ok = ok && bind(fd, (struct sockaddr *)&a, sizeof(a)) == 0 && chdir(cwd) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool set_flag(const char *path, int flag, bool on)
{
    int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC);
    int flags = 0;
    bool ok = fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0;

    flags = on ? flags | flag : flags & ~flag;
    ok = ok && ioctl(fd, FS_IOC_SETFLAGS, &flags) == 0;
    if (fd >= 0)
        close(fd);
    return ok;
}

static bool big_folder(const char *path)
{
    char name[4300];

    if (mkdir(path, 0755))
        return false;
    for (int i = 0; i < BIG_FOLDER; i++) {
        snprintf(name, sizeof(name), "%s/%d", path, i);
        if (!put_file(name) || !own(name, USER, USER))
            return false;
    }
    return true;
}

static bool make_one(struct scene *s, char verb, const char *path, const char *arg)
{
    char options[80];
    unsigned uid, gid;

    switch (verb) {
    case 'd':
        return mkdir(path, 0755) == 0;
    case 'f':
        return put_file(path);
    case 'T':
        return grow(path, USER, USER);
    case 'B':
        return big_folder(path);
    case 'l':
        return symlink(arg, path) == 0;
    case 'h':
        return link(arg, path) == 0;
    case 'p':
        return mkfifo(path, 0644) == 0;
    case 's':
        return make_socket(path);
    case 'n':
        return mknod(path, S_IFCHR | 0600, makedev(1, 3)) == 0;
    case 'o':
        return sscanf(arg, "%u:%u", &uid, &gid) == 2 && lchown(path, uid, gid) == 0;
    case 'm':
        return chmod(path, (mode_t)strtoul(arg, NULL, 8)) == 0;
    case 'i':
    case 'a':
        s->flagged = true;
        if (!set_flag(path, verb == 'i' ? FS_IMMUTABLE_FL : FS_APPEND_FL, true))
            s->missing = "immutable file here";
        return true;
    case 'b':
        return mount(arg, path, NULL, MS_BIND, NULL) == 0;
    case 't':
        snprintf(options, sizeof(options), "uid=%d,gid=%d,mode=755", USER, USER);
        return mount("hostile", path, "tmpfs", 0, options) == 0;
    default:
        errno = EINVAL;
        return false;
    }
}

size_t each(void)
{
    const char *text = getenv("HOSTILE_EACH");

    return text ? strtoul(text, NULL, 10) : 1;
}

char *next_word(char **rest)
{
    char *word;

    do
        word = strsep(rest, " ");
    while (word && !*word);
    return word;
}

void make(struct scene *s, const char *what)
{
    char *copy = strdup(what), *rest = copy;

    for (char *word; (word = next_word(&rest));) {
        char *arg = strchr(word, '>');
        const char *path;

        if (arg)
            *arg++ = '\0';
        path = at(s, word + 2);
        if (arg && !strchr("om", word[0]))
            arg = (char *)at(s, arg);
        errno = 0;
        if (word[1] != ':' || !make_one(s, word[0], path, arg))
            die("case '%s': cannot make %s", s->name, word);
        if (strchr("dfTlpsnB", word[0]) && lchown(path, USER, USER))
            die("case '%s': cannot give away %s", s->name, word);
    }
    free(copy);
}

/* ---- registering and checking ---------------------------------------------------------- */

void reg_path(struct scene *s, enum reg_kind kind, const char *path)
{
    if (s->n_regs % 256 == 0)
        s->regs = realloc(s->regs, (s->n_regs + 256) * sizeof(*s->regs));
    if (!s->regs)
        die("no memory");
    s->regs[s->n_regs++] = (struct reg){kind, strdup(path)};
}

void forget_regs(struct scene *s)
{
    for (size_t i = 0; i < s->n_regs; i++)
        free(s->regs[i].path);
    free(s->regs);
    s->regs = NULL;
    s->n_regs = 0;
}

void reg(struct scene *s, const char *what)
{
    static const char kinds[] = "FDK"; /* as enum reg_kind */
    char *copy = strdup(what), *rest = copy;

    for (char *word; (word = next_word(&rest));) {
        const char *kind = strchr(kinds, word[0]);

        if (!kind || word[1] != ':')
            die("case '%s': cannot register %s", s->name, word);
        reg_path(s, (enum reg_kind)(kind - kinds), at(s, word + 2));
    }
    free(copy);
}

static void each_name(struct scene *s, const char *names, bool wanted)
{
    char *copy = strdup(names), *rest = copy;
    struct stat st;

    for (char *word; (word = next_word(&rest));)
        if ((lstat(at(s, word), &st) == 0) != wanted)
            bad(s, "%s %s", word, wanted ? "is gone" : "is still there");
    free(copy);
}

void gone(struct scene *s, const char *names)
{
    each_name(s, names, false);
}

void stays(struct scene *s, const char *names)
{
    each_name(s, names, true);
}

void sweep(struct scene *s)
{
    double begin = now_s();

    if (!s->level->remove(s))
        bad(s, "the request was refused");
    s->n_sweeps++;
    if (now_s() - begin > s->timeout_s)
        bad(s, "it took %.1f s", now_s() - begin);
}

void sweep_refused(struct scene *s)
{
    if (s->level->remove(s))
        bad(s, "the request was taken");
}

/* ---- scenes -------------------------------------------------------------------------------- */

/* Unmounts all mounts below path, the last first. */
static void unmount_below(const char *path)
{
    size_t n = strlen(path);

    for (bool again = true; again;) {
        FILE *f = fopen("/proc/self/mountinfo", "re");
        char line[8192], where[4200], last[4200] = "";

        if (!f)
            die("no mountinfo");
        while (fgets(line, sizeof(line), f))
            if (sscanf(line, "%*s %*s %*s %*s %4199s", where) == 1 &&
                strncmp(where, path, n) == 0 && where[n] == '/')
                strcpy(last, where);
        fclose(f);
        again = last[0] && umount2(last, MNT_DETACH | UMOUNT_NOFOLLOW) == 0;
        if (last[0] && !again)
            die("cannot unmount %s", last);
    }
}

/* Runs a program by fork: posix_spawn fails where clone3 is denied. */
static int run_program(const char *const *argv)
{
    pid_t pid = fork_or_die();

    if (pid == 0) {
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    return end_process(pid, false);
}

/* Clears the flags of all files below path, so that they can be removed. */
static void clear_flags(const char *path)
{
    char *roots[] = {strdup(path), NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);

    for (FTSENT *e; fts && (e = fts_read(fts));)
        if (e->fts_info == FTS_D || e->fts_info == FTS_F)
            set_flag(e->fts_path, FS_IMMUTABLE_FL | FS_APPEND_FL, false);
    if (fts)
        fts_close(fts);
    free(roots[0]);
}

void wipe(struct scene *s, const char *path)
{
    const char *const rm[] = {"rm", "-rf", "--one-file-system", path, NULL};
    struct stat st;

    if (lstat(path, &st))
        return;
    unmount_below(path);
    if (s->flagged)
        clear_flags(path); /* rm reports failures */
    s->flagged = false;
    if (run_program(rm))
        die("cannot remove %s", path);
}

bool case_begin(struct scene *s, const char *name)
{
    const char *only = getenv("HOSTILE_ONLY");

    if (only && !strstr(name, only))
        return false;
    s->name = name;
    s->failed = false;
    s->missing = NULL;
    s->recurse = true;
    s->leave_top = false;
    s->timeout_s = 60;
    s->full_time = false;
    s->begun = now_s();
    wipe(s, s->home);
    if (mkdir(s->home, 0755) || lchown(s->home, USER, USER))
        die("cannot make %s", s->home);
    return true;
}

void case_end(struct scene *s)
{
    const char *what = canary_differs(s);

    forget_regs(s);
    if (what) {
        bad(s, "CANARY: %s", what);
        canary_make(s);
    }
    s->n_cases++;
    if (s->failed)
        s->n_failed++;
    if (getenv("HOSTILE_VERBOSE"))
        printf("%s %s (%.2f s)\n", s->failed ? "bad " : "good", s->name,
               now_s() - s->begun);
    fflush(stdout);
}

bool left_out(struct scene *s)
{
    if (!s->missing)
        return false;
    printf("LEFT OUT %s, %s: there is no %s\n", s->level->name, s->name, s->missing);
    s->n_left_out++;
    s->n_cases--; /* case_end counts it */
    return true;
}

/* Enters new namespaces, so that the attacker can kill or stop only processes of this test. The first
 * process of the pid namespace reaps; the caller continues as its child. */
static void isolate(bool for_container)
{
    int how;
    pid_t pid;

    if (unshare(CLONE_NEWNS | CLONE_NEWPID) ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) ||
        /* cases mount file systems outside of the namespace */
        (for_container && mount(NULL, "/", NULL, MS_REC | MS_SHARED, NULL)))
        die("no namespaces of our own");
    pid = fork();
    if (pid > 0)
        exit(end_process(pid, false));
    if (pid < 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) ||
        mount("proc", "/proc", "proc", 0, NULL))
        die("no processes of our own");
    pid = fork();
    if (pid == 0)
        return;
    for (pid_t ended = 0; ended != pid;) {
        ended = wait(&how);
        if (ended < 0 && errno != EINTR)
            _exit(95);
    }
    _exit(WIFEXITED(how) ? WEXITSTATUS(how) : 128 + WTERMSIG(how));
}

static void own_shm(void)
{
    const char *is = getenv("TENON_PRIVATE_SHM");

    if (!(is && strcmp(is, "yes") == 0) &&
        mount("hostile", "/dev/shm", "tmpfs", 0, "mode=1777"))
        die("no /dev/shm of our own");
}

void scene_begin(struct scene *s, const struct level *level)
{
    const char *tmp = getenv("TMPDIR");
    struct statfs fs;

    memset(s, 0, sizeof(*s));
    s->level = level;
    if (geteuid() != 0)
        die("this needs root");
    isolate(level->contained);
    own_shm();
    umask(022);
    snprintf(s->base, sizeof(s->base), "%s/hostile.XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(s->base) || chmod(s->base, 0755))
        die("cannot make %s", s->base);
    snprintf(s->home, sizeof(s->home), "%s/h", s->base);
    snprintf(s->other, sizeof(s->other), "%s/o", s->base);
    snprintf(s->canary, sizeof(s->canary), "%s/canary", s->base);
    if (statfs(s->base, &fs))
        die("what is %s?", s->base);
    s->renames_open = fs.f_type == NFS_SUPER_MAGIC || fs.f_type == FUSE_SUPER_MAGIC;
    canary_make(s);
}

int scene_end(struct scene *s)
{
    wipe(s, s->base);
    printf("%s: %u cases, %u failed, %u left out, %" PRIu64 " sweeps, %" PRIu64
           " swaps, canary %s\n",
           s->level->name, s->n_cases, s->n_failed, s->n_left_out, s->n_sweeps,
           s->n_swaps, s->n_failed ? "see above" : "intact every time");
    return s->n_failed || s->n_cases == 0;
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/host/files/files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>

#include "core/base/fd.h"
#include "core/iof/ends.h"
#include "core/reclaim/process.h"
#include "core/rt/child.h"
#include "core/rt/process.h"

/* Message of the child. A file was made: errnum 0, with a descriptor for an output
 * file. All files were made: the number of files. The first failure is the last
 * message. */
struct report {
    uint32_t file;
    int32_t errnum; /* errno, or a negative enum why */
};

enum why { IS_LINK = 1, IS_FOLDER, NO_FILE, TOO_BIG, FOREIGN };

static const char *const whys[] = {
    [IS_LINK] = "it is a symbolic link",
    [IS_FOLDER] = "it is a folder",
    [NO_FILE] = "it is not a regular file",
    [TOO_BIG] = "it is too big (parameter embedded_preload_limit)",
    [FOREIGN] = "it is a file of another user",
};

/* ---- the child: async-signal-safe calls only ----------------------------------- */

/* Opens a file without blocking, except for a process that holds a lease on the
 * file. */
static int open_at(int folder, const char *name, int flags)
{
    int fd = openat(folder, name, flags | O_NONBLOCK);

    return fd < 0 && errno == EWOULDBLOCK ? openat(folder, name, flags) : fd;
}

static int failed_to_open(void)
{
    return errno == ELOOP ? -IS_LINK : errno;
}

/* Copies all bytes. Returns 0, an errno, or a negative enum why. */
static int copy_bytes(int from, int to, uint64_t *left)
{
    char bytes[65536];
    ssize_t n, put;

    while ((n = PX_RETRY(read(from, bytes, sizeof(bytes)))) > 0) {
        if ((uint64_t)n > *left) /* the file has grown, or its size was not known */
            return -TOO_BIG;
        *left -= (uint64_t)n;
        for (ssize_t at = 0; at < n; at += put)
            if ((put = PX_RETRY(write(to, bytes + at, (size_t)(n - at)))) < 0)
                return errno;
    }
    return n < 0 ? errno : 0;
}

/* Copies a file into a folder that only this user can write. */
static int copy_file(const struct px_file *f, uint64_t *left)
{
    PX_AUTOCLOSE int from = open_at(AT_FDCWD, f->from,
                                    O_RDONLY | O_NOCTTY | O_CLOEXEC |
                                        (f->follows ? 0 : O_NOFOLLOW));
    struct stat st;

    if (from < 0)
        return failed_to_open();
    if (fstat(from, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -IS_FOLDER : -NO_FILE;
    if ((uint64_t)st.st_size > *left)
        return -TOO_BIG;
    PX_AUTOCLOSE int to = open(f->to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
    if (to < 0)
        return errno;
    int why = copy_bytes(from, to, left);
    if (!why && (fchmod(to, (st.st_mode & 0111 ? 0700 : 0600)) < 0 ||
                 close(px_take_fd(&to)) < 0))
        why = errno;
    return why;
}

/* Opens the folder of an output file, and makes missing folders. */
static int open_folder(const struct px_file *f)
{
    int folder = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
    const char *name = f->to + 1, *end;

    for (; folder >= 0 && (end = strchr(name, '/')); name = end + 1) {
        PX_AUTOCLOSE int up = folder;
        bool is_given = (size_t)(name - f->to) < f->n_given;
        int flags = O_PATH | O_DIRECTORY | O_CLOEXEC | (is_given ? 0 : O_NOFOLLOW);
        char one[NAME_MAX + 1] = ".";

        if ((size_t)(end - name) >= sizeof(one)) {
            errno = ENAMETOOLONG;
            return -1;
        }
        if (end > name)
            memcpy(one, name, (size_t)(end - name));
        folder = openat(up, one, flags);
        if (folder < 0 && errno == ENOENT &&
            (mkdirat(up, one, 0777) == 0 || errno == EEXIST))
            folder = openat(up, one, flags | O_NOFOLLOW);
    }
    return folder;
}

static int open_output(struct px_file *f)
{
    const int flags = O_WRONLY | O_APPEND | O_NOFOLLOW | O_NOCTTY | O_CLOEXEC;
    PX_AUTOCLOSE int folder = open_folder(f);
    const char *name = strrchr(f->to, '/') + 1;
    struct stat st;

    if (folder < 0)
        return errno;
    f->fd = openat(folder, name, flags | O_CREAT | O_EXCL, 0666);
    f->is_new = f->fd >= 0;
    if (!f->is_new && errno == EEXIST)
        f->fd = open_at(folder, name, flags);
    if (f->fd < 0)
        return failed_to_open();
    if (fstat(f->fd, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return -NO_FILE;
    return f->is_new || st.st_uid == geteuid() ? 0 : -FOREIGN;
}

/* Removes output files that this child made, and the folders that become empty. */
static void take_back(const struct px_files *files)
{
    char path[PATH_MAX];

    for (size_t i = 0; i < files->n; i++) {
        const struct px_file *f = &files->v[i];
        size_t n = strlen(f->to);

        if (!f->is_new || n >= sizeof(path))
            continue;
        memcpy(path, f->to, n + 1);
        for (int flags = 0; n > f->n_given && unlinkat(AT_FDCWD, path, flags) == 0;
             flags = AT_REMOVEDIR) {
            n = (size_t)(strrchr(path, '/') - path);
            path[n] = '\0';
        }
    }
}

static void send_report(int line, const struct px_files *files, size_t i, int errnum)
{
    struct report r = {.file = (uint32_t)i, .errnum = errnum};
    int fd = i < files->n && errnum == 0 ? files->v[i].fd : -1;
    struct iovec bytes = {&r, sizeof(r)};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } u = {.head = {.cmsg_len = CMSG_LEN(sizeof(int)),
                    .cmsg_level = SOL_SOCKET,
                    .cmsg_type = SCM_RIGHTS}};
    struct msghdr m = {.msg_iov = &bytes, .msg_iovlen = 1};

    if (fd >= 0) {
        memcpy(CMSG_DATA(&u.head), &fd, sizeof(fd));
        m.msg_control = &u;
        m.msg_controllen = sizeof(u.room);
    }
    if (errnum)
        take_back(files);
    bool is_sent = PX_RETRY(sendmsg(line, &m, MSG_NOSIGNAL)) >= 0;
    if (!is_sent && !errnum)
        take_back(files);
    if (!is_sent || errnum)
        _exit(EXIT_FAILURE);
}

/* Makes all files. Truncates output files only after all files have been made. */
static PX_NORETURN void run_child(struct px_files *files, int line)
{
    uint64_t left = files->limit_b;

    for (size_t i = 0; i < files->n; i++) {
        struct px_file *f = &files->v[i];

        if (f->is_folder)
            (void)mkdir(f->to, 0700);
        else
            send_report(line, files, i, f->from ? copy_file(f, &left) : open_output(f));
    }
    for (size_t i = 0; i < files->n; i++)
        if (files->v[i].fd >= 0 && ftruncate(files->v[i].fd, 0) < 0)
            send_report(line, files, i, errno);
    send_report(line, files, files->n, 0);
    _exit(EXIT_SUCCESS);
}

/* ---- the parent ----------------------------------------------------------------- */

void px_files_cancel(struct px_files *files)
{
    px_watch_free(px_take(&files->watch));
    px_drop_fd(&files->line);
    if (files->pid > 0) {
        kill(files->pid, SIGKILL);
        px_child_forget(files->loop, files->pid);
    }
    files->pid = 0;
}

static void finish(struct px_files *files, const struct report *r)
{
    const struct px_file *f = &files->v[r->file];
    struct px_err err = {0};

    px_files_cancel(files);
    if (r->file == files->n && r->errnum)
        px_err_set(
            &err, PMIX_ERR_JOB_FAILED_TO_LAUNCH,
            "cannot make the files of the job: the process that does it is gone");
    else if (r->errnum)
        px_err_set(&err,
                   r->errnum < 0 ? PMIX_ERR_BAD_PARAM : px_status_of_errno(r->errnum),
                   "cannot %s %.300s: %s", f->from ? "preload" : "write to",
                   f->from ? f->from : f->to,
                   r->errnum < 0 ? whys[-r->errnum] : strerror(r->errnum));
    files->done(files->arg, err.status, err.text);
}

/* Fails for want of a descriptor. The child notices the closed line, and removes the
 * files that it made, so nothing kills the child. */
static void give_up(struct px_files *files, uint32_t file)
{
    px_child_forget(files->loop, files->pid);
    files->pid = 0;
    finish(files, &(struct report){file, EMFILE});
}

static void on_line(void *arg, int fd, unsigned events PX_UNUSED)
{
    struct px_files *files = arg;
    struct report r;
    struct iovec bytes = {&r, sizeof(r)};
    union {
        struct cmsghdr head;
        char room[CMSG_SPACE(sizeof(int))];
    } u;
    struct msghdr m = {.msg_iov = &bytes,
                       .msg_iovlen = 1,
                       .msg_control = &u,
                       .msg_controllen = sizeof(u.room)};
    ssize_t n = recvmsg(fd, &m, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

    if (n < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (n != (ssize_t)sizeof(r) || r.file > files->n) /* the child was killed */
        r = (struct report){.file = (uint32_t)files->n, .errnum = ECHILD};
    if (r.errnum || r.file == files->n) {
        finish(files, &r);
    } else if (!files->v[r.file].from) {
        if (CMSG_FIRSTHDR(&m) && u.head.cmsg_type == SCM_RIGHTS)
            memcpy(&files->v[r.file].fd, CMSG_DATA(&u.head), sizeof(int));
        else
            give_up(files, r.file);
    }
}

static void on_ended(void *arg, pid_t pid PX_UNUSED, int wait_status PX_UNUSED)
{
    ((struct px_files *)arg)->pid = 0;
}

pmix_status_t px_files_make(struct px_files *files, struct px_err *err)
{
    const pid_t parent = getpid();
    int ends[2];

    if (files->n == 0) {
        files->done(files->arg, PMIX_SUCCESS, NULL);
        return PMIX_SUCCESS;
    }
    if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
        return px_err_errno(err, "cannot make a socket");
    PX_AUTOCLOSE int far_end = ends[1];
    files->line = ends[0];
    files->watch = px_watch_create(files->loop, files->line, PX_READABLE, on_line,
                                   files);
    if (!files->watch)
        return px_err_nomem(err, "make files");
    files->pid = px_reclaim_fork();
    if (files->pid == 0) {
        const mode_t mask = umask(0);

        px_reclaim_detach("tenon-files", &far_end, 1);
        px_reclaim_bind(parent);
        umask(mask);
        run_child(files, far_end);
    }
    if (files->pid < 0)
        return px_err_errno(err, "cannot fork");
    return px_child_watch(files->loop, files->pid, on_ended, files)
               ? px_err_nomem(err, "watch a process")
               : PMIX_SUCCESS;
}

void px_files_free(struct px_files *files)
{
    px_files_cancel(files);
    for (size_t i = 0; i < files->n; i++) {
        free(files->v[i].from);
        free(files->v[i].to);
        px_iof_sink_close(files->v[i].sink);
        px_drop_fd(&files->v[i].fd);
    }
    free(px_take(&files->v));
    files->n = 0;
}

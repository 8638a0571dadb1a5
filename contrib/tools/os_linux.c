/* SPDX-License-Identifier: BSD-3-Clause */
#include "os.h"

#include "toolkit.h"

#include <dirent.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Newer than the headers of some supported systems. */
#ifndef SYS_pidfd_open
#define SYS_pidfd_open 434
#endif

int os_signals(const sigset_t *set)
{
    return signalfd(-1, set, SFD_CLOEXEC | SFD_NONBLOCK);
}

int os_next_signal(int fd)
{
    struct signalfd_siginfo s;

    return read(fd, &s, sizeof(s)) == (ssize_t)sizeof(s) ? (int)s.ssi_signo : 0;
}

int os_process_fd(pid_t pid)
{
    return (int)syscall(SYS_pidfd_open, pid, 0);
}

pid_t os_peer(int fd)
{
    struct ucred peer = {0};
    socklen_t size = sizeof(peer);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &size) < 0 || peer.pid < 0
               ? 0
               : peer.pid;
}

void os_end_with_parent(int signum)
{
    (void)prctl(PR_SET_PDEATHSIG, signum);
}

/* Any other limit than that of px_osproc_rlimit_tag. */
void os_leave_server(void)
{
    struct rlimit tag;

    if (getrlimit(RLIMIT_RTTIME, &tag) < 0 || tag.rlim_max == RLIM_INFINITY)
        return;
    tag.rlim_max--;
    tag.rlim_cur = tag.rlim_cur < tag.rlim_max ? tag.rlim_cur : tag.rlim_max;
    (void)setrlimit(RLIMIT_RTTIME, &tag);
}

/* Works since Linux 3.4. If prctl fails, orphans become children of init. */
void os_adopt_orphans(void)
{
    (void)prctl(PR_SET_CHILD_SUBREAPER, 1);
}

FILE *os_process_file(pid_t pid, const char *name)
{
    char path[64];

    snprintf(path, sizeof(path), "/proc/%ld/%s", (long)pid, name);
    return fopen(path, "re");
}

/* The kernel lists orphans, and children of threads that have ended, with the first
 * thread. */
FILE *os_children(void)
{
    char name[32];

    snprintf(name, sizeof(name), "task/%ld/children", (long)getpid());
    return os_process_file(getpid(), name);
}

char *os_path_of_fd(int fd)
{
    return need_text("/proc/%ld/fd/%d", (long)getpid(), fd);
}

int os_memory_file(const char *name)
{
    return memfd_create(name, 0);
}

void os_close_others(int one, int two)
{
    DIR *folder = opendir("/proc/self/fd");
    const struct dirent *entry;

    while (folder && (entry = readdir(folder))) {
        int fd = atoi(entry->d_name);

        if (fd > STDERR_FILENO && fd != one && fd != two && fd != dirfd(folder))
            close(fd);
    }
    if (folder)
        closedir(folder);
}

void os_widen_pipe(int fd, int size_b)
{
    (void)fcntl(fd, F_SETPIPE_SZ, size_b);
}

/* Without fixed thresholds glibc raises them to the size of the largest block, and
 * keeps twice as much. */
void os_limit_free_memory(void)
{
#ifdef M_MMAP_THRESHOLD
    mallopt(M_MMAP_THRESHOLD, 1 << 20);
    mallopt(M_TRIM_THRESHOLD, 2 << 20);
#endif
}

bool os_program(char *path, size_t size)
{
    const ssize_t n = readlink("/proc/self/exe", path, size - 1);

    path[n > 0 ? n : 0] = '\0';
    return n > 0;
}

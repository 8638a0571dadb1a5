/* SPDX-License-Identifier: BSD-3-Clause */
#include "log_sockets.h"
#include "others.h"

#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

enum { WAIT_MS = 10000 };

/* Enters a mount namespace; an ordinary user as root of a user namespace. */
static bool enter(void)
{
    if (geteuid() ? !px_test_become_inner_root(CLONE_NEWNS) : unshare(CLONE_NEWNS))
        return false;
    return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) == 0;
}

/* Makes a folder to put over /dev, in which the usual devices are. */
static bool fill_dev(const char *dir)
{
    static const char *const names[] = {"null", "zero", "urandom", "random"};
    char from[64], to[64];

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        snprintf(from, sizeof(from), "/dev/%s", names[i]);
        snprintf(to, sizeof(to), "%s/%s", dir, names[i]);
        int fd = open(to, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
        if (fd < 0 || close(fd) || mount(from, to, NULL, MS_BIND, NULL))
            return false;
    }
    snprintf(to, sizeof(to), "%s/shm", dir);
    if (mkdir(to, 01777))
        return false;
    snprintf(to, sizeof(to), "%s/fd", dir);
    return symlink("/proc/self/fd", to) == 0;
}

int log_sockets_open(void)
{
    static const char journal[] = "/run/systemd/journal/socket";
    const struct sockaddr_un address = {AF_UNIX, "/dev/log"};
    int fd;

    if (!enter() || mount("none", "/run", "tmpfs", 0, "mode=755") ||
        mkdir("/run/dev", 0755) || mount("none", "/run/dev", "tmpfs", 0, "mode=755") ||
        !fill_dev("/run/dev") || mount("/run/dev", "/dev", NULL, MS_MOVE, NULL))
        return -1;
    fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (fd < 0 || bind(fd, (const void *)&address, sizeof(address)) ||
        chmod(address.sun_path, 0666) || mkdir("/run/systemd", 0755) ||
        mkdir("/run/systemd/journal", 0755) || symlink(address.sun_path, journal)) {
        if (fd >= 0)
            close(fd);
        return -1;
    }
    return fd;
}

long log_sockets_receive(int fd, char *text, size_t size)
{
    struct pollfd readable = {.fd = fd, .events = POLLIN};
    ssize_t n = poll(&readable, 1, WAIT_MS) == 1 ? recv(fd, text, size - 1, 0) : -1;

    text[n > 0 ? n : 0] = '\0';
    return n;
}

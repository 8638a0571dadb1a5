/* SPDX-License-Identifier: BSD-3-Clause */
/* piof/pty: a pseudo terminal as source, for programs that behave differently on a
 * terminal. The end of the output is EIO, after all bytes have been read. */
#include "tenon/piof.h"

#include "components/piof/pipes.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/ioctl.h>

enum { PRIORITY = 40 };

static pmix_status_t pty_query(void *self PX_UNUSED, struct px_query *answer)
{
    answer->priority = PRIORITY;
    return PMIX_SUCCESS;
}

static pmix_status_t pty_open_sink(void *self PX_UNUSED,
                                   const struct px_piof_target *target PX_UNUSED,
                                   void **sink PX_UNUSED)
{
    return PMIX_ERR_NOT_SUPPORTED;
}

/* Opens the process's end. Avoids the name of the terminal if possible, which may be in
 * another mount namespace. */
static int open_slave(int master)
{
    const int flags = O_RDWR | O_NOCTTY | O_CLOEXEC;
    char name[64];
    int fd = -1;

    if (grantpt(master) < 0 || unlockpt(master) < 0)
        return -1;
#ifdef TIOCGPTPEER
    fd = ioctl(master, TIOCGPTPEER, flags);
#endif
    if (fd < 0 && ptsname_r(master, name, sizeof(name)) == 0)
        fd = open(name, flags);
    return fd;
}

/* Turns off output processing and echo, so that bytes pass unchanged. */
static int set_up(int slave, const struct px_piof_source *wanted)
{
    struct termios t;

    if (tcgetattr(slave, &t) < 0)
        return -1;
    t.c_oflag &= ~(tcflag_t)OPOST;
    t.c_lflag &= ~(tcflag_t)ECHO;
    if (tcsetattr(slave, TCSANOW, wanted->termios ? wanted->termios : &t) < 0)
        return -1;
    return wanted->winsize ? ioctl(slave, TIOCSWINSZ, wanted->winsize) : 0;
}

static pmix_status_t pty_open_source(void *self PX_UNUSED,
                                     const struct px_piof_source *wanted,
                                     struct px_piof_ends *ends)
{
    struct px_piof_ends made = {{-1, -1, -1}, {-1, -1, -1}};
    pmix_status_t rc = PMIX_SUCCESS;

    if (wanted->kind != PX_PIOF_TERMINAL)
        return PMIX_ERR_NOT_SUPPORTED;
    made.ours[1] = posix_openpt(O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
    if (made.ours[1] >= 0)
        made.child[1] = open_slave(made.ours[1]);
    if (made.child[1] < 0 || set_up(made.child[1], wanted) < 0)
        rc = px_status_of_errno(errno);
    if (!rc && !wanted->merged)
        rc = piof_pipe(&made, 2);
    if (rc) {
        piof_drop(&made);
        return rc;
    }
    made.ours[0] = made.ours[1];
    made.child[0] = made.child[1];
    if (wanted->merged)
        made.child[2] = made.child[1];
    *ends = made;
    return PMIX_SUCCESS;
}

static const struct px_piof_ops ops = {
    .open_sink = pty_open_sink,
    .open_source = pty_open_source,
};

PX_COMPONENT(piof, pty) = {
    PX_COMPONENT_HEAD(piof, PIOF, pty),
    .version = "1.0",
    .query = pty_query,
    .ops = &ops,
};

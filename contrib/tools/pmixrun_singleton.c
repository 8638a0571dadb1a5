/* SPDX-License-Identifier: BSD-3-Clause */
/* Host of a singleton: a server for one process that was not launched, and for the jobs
 * of that process. Ends with the process. */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <pmix_server.h>

#include "pmixrun.h"

enum {
    LEAVE_MS = 1000, /* for jobs to end after PMIx_Finalize of the singleton */
    NAP_MS = 5,
};

/* ---- descriptors ----------------------------------------------------------------- */

void singleton_begin(const struct options *o)
{
    if (fcntl(o->report, F_SETFD, FD_CLOEXEC) < 0)
        usage("--report-uri %d: %s", o->report, strerror(errno));
    os_close_others(o->keepalive, o->report); /* jobs must not inherit others */
}

/* Returns a descriptor that becomes readable when the singleton ends, or -1. A child
 * that the singleton has forked keeps a copy of its end of the socket, so the end of
 * the socket alone is not enough. */
static int watch_process(int keepalive)
{
    const pid_t peer = os_peer(keepalive); /* 0: a pipe */

    return peer ? os_process_fd(peer) : -1;
}

/* ---- the server's address -------------------------------------------------------- */

/* Writes the server's address as a line, in the form of PMIX_TCP_REPORT_URI, and closes
 * the descriptor. */
static pmix_status_t report_address(int fd)
{
    char key[] = PMIX_SERVER_URI, *keys[] = {key, NULL};
    pmix_query_t query = {.keys = keys};
    pmix_info_t *info = NULL;
    size_t n = 0;
    pmix_status_t rc = PMIx_Query_info(&query, 1, &info, &n);

    if (!rc && (n == 0 || info[0].value.type != PMIX_STRING))
        rc = PMIX_ERR_NOT_FOUND;
    if (!rc && dprintf(fd,
                       "PMIX_SERVER_URI41:PMIX_SERVER_URI4:PMIX_SERVER_URI3:"
                       "PMIX_SERVER_URI21;%s\n",
                       info[0].value.data.string) < 0)
        rc = PMIX_ERR_UNREACH;
    close(fd);
    PMIx_Info_free(info, n);
    return rc;
}

/* ---- the wait -------------------------------------------------------------------- */

/* Returns the status for a signal that ends the program, or 0. */
static int read_signals(int signal_fd)
{
    int status = 0, signum;

    while ((signum = guard_next_signal(signal_fd)))
        if (!guard_is_passed_on(signum))
            status = EXIT_SIGNAL + signum;
    return status;
}

bool singleton_has_left(int keepalive)
{
    char bytes[64];
    ssize_t n = read(keepalive, bytes, sizeof(bytes));

    return n == 0 || (n < 0 && errno != EINTR && errno != EAGAIN);
}

/* True if a job of the singleton runs. */
static bool jobs_run(const char *singleton)
{
    char key[] = PMIX_QUERY_NAMESPACES, *keys[] = {key, NULL}, **names = NULL;
    pmix_query_t query = {.keys = keys};
    pmix_info_t *info = NULL;
    size_t n = 0;
    bool any = false;

    if (PMIx_Query_info(&query, 1, &info, &n) == PMIX_SUCCESS && n == 1 &&
        info[0].value.type == PMIX_STRING)
        names = PMIx_Argv_split(info[0].value.data.string, ',');
    for (size_t i = 0; names && names[i]; i++)
        any = any || strcmp(names[i], singleton) != 0;
    PMIx_Argv_free(names);
    PMIx_Info_free(info, n);
    return any;
}

/* Waits for the end of the singleton, or for a signal. Jobs of a singleton that has
 * called PMIx_Finalize have a moment to end by themselves. Returns the exit status. */
static int wait_for_end(const struct options *o, int signal_fd)
{
    enum { SIGNALS, KEEPALIVE, PROCESS };
    struct pollfd fds[] = {{.fd = signal_fd, .events = POLLIN},
                           {.fd = o->keepalive, .events = POLLIN},
                           {.fd = watch_process(o->keepalive), .events = POLLIN}};
    int64_t end_ms = INT64_MAX;
    int status = 0;

    while (!status && !fds[PROCESS].revents && now_ms() < end_ms &&
           (end_ms == INT64_MAX || jobs_run(o->singleton.nspace))) {
        if (poll(fds, sizeof(fds) / sizeof(fds[0]), end_ms == INT64_MAX ? -1 : NAP_MS) <
                0 &&
            errno != EINTR)
            break;
        status = read_signals(signal_fd);
        if (fds[KEEPALIVE].revents && singleton_has_left(o->keepalive)) {
            fds[KEEPALIVE].fd = -1;
            end_ms = now_ms() + LEAVE_MS;
        }
    }
    if (fds[PROCESS].fd >= 0)
        close(fds[PROCESS].fd);
    return status;
}

int singleton_serve(const struct options *o, int signal_fd)
{
    pmix_status_t rc = report_address(o->report);

    if (rc)
        complain("cannot report the address to descriptor %d: %s", o->report,
                 PMIx_Error_string(rc));
    return rc ? EXIT_TROUBLE : wait_for_end(o, signal_fd);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The door of a server: listeners, connections that have not proved their name yet,
 * tools that wait for the host, and the files by which tools find this server. */
#ifndef PX_SERVER_DOOR_DOOR_H
#define PX_SERVER_DOOR_DOOR_H

#include "core/base/err.h"
#include "core/base/list.h"
#include "core/rt/log.h"
#include "core/types/type.h"
#include "core/wire/hello.h"
#include "tenon/psec.h"
#include "tenon/ptl.h"

#include <errno.h>
#include <sys/socket.h>
#include <sys/stat.h>

struct px_cleanup_entry;
struct px_module;
struct px_peer;
struct px_server;
struct px_timer;
struct px_watch;

struct px_listener {
    const struct px_module *ptl;
    int fd;
    char address[256];
    struct px_watch *watch;
    struct px_timer *pause; /* out of descriptors: when to accept again */
    struct px_server *server;
};
#define PX_MAX_LISTENERS 4

struct px_door {
    struct px_listener listeners[PX_MAX_LISTENERS];
    size_t n_listeners;
    struct px_list handshakes; /* connections that have not proved their name */
    unsigned n_handshakes;
    bool tools, tools_foreign; /* may connect; those of other users, too */
    unsigned n_visits;         /* tools that the host has not answered yet */
    struct px_list files;      /* rendezvous files */
    struct px_log_rate *rate;  /* of lines that strangers cause */
};

/* The end of a handshake, which fits any socket's empty buffer, so this never waits. A
 * peer that cannot be answered finds the connection closed. */
static inline void px_door_answer(int fd, const void *bytes, size_t n)
{
    ssize_t sent;

    do
        sent = send(fd, bytes, n, MSG_NOSIGNAL);
    while (sent < 0 && errno == EINTR);
    if (sent != (ssize_t)n)
        shutdown(fd, SHUT_RDWR);
}

/* ---- handshake.c ----------------------------------------------------------------- */

/* Takes fd. */
void px_handshake_start(struct px_server *srv, int fd, const struct px_ptl_peer *who);
/* Ends the one that has been silent longest among those of the user with most. */
void px_handshake_evict(struct px_server *srv);
void px_handshakes_stop(struct px_server *srv);
/* Forgets the job of one that stood for a tool. */
void px_door_peer_gone(struct px_server *srv, struct px_peer *peer);

/* ---- rendezvous.c ---------------------------------------------------------------- */

/* Returns the path of a launcher's own file, from the attribute or from a variable, or
 * NULL. The variable may be meant for a launcher that started this process. */
const char *px_rendezvous_launcher_file(const pmix_info_t *info, size_t n_info);
/* Do info, the environment or a parameter want tools to find this server? */
bool px_rendezvous_wanted(const struct px_server *srv, const pmix_info_t *info,
                          size_t n_info);
/* Writes the files that info and the environment ask for, once the server listens,
 * if tools are let in. PMIX_ERR_EXISTS, PMIX_ERR_NO_PERMISSIONS: a name of which
 * there is one per node is another server's. Files that cannot be written otherwise
 * are logged. */
pmix_status_t px_rendezvous_publish(struct px_server *srv, const pmix_info_t *info,
                                    size_t n_info, struct px_err *err);
/* Removes those that are still ours. */
void px_rendezvous_withdraw(struct px_server *srv);

struct px_rendezvous_file {
    struct px_list link; /* of srv->part.door->files */
    int fd;              /* holds the lock by which others know that the owner lives */
    dev_t device;
    ino_t inode;
    struct px_cleanup_entry *made;
    char path[];
};

struct px_rendezvous_request {
    const char *dir, *name; /* dir is made if it is absent */
    const char *text;
    bool well_known; /* a name that is ours: root takes it from any other user */
};

/* PMIX_SUCCESS, also if we have that file already. PMIX_ERR_EXISTS: its owner lives,
 * and err names it. PMIX_ERR_NO_PERMISSIONS: what is there is another user's, or no
 * file; or any other status of the file system. Blocks for at most a second or so. */
pmix_status_t px_rendezvous_file_publish(struct px_server *srv,
                                         const struct px_rendezvous_request *placement,
                                         struct px_err *err);
/* Removes it if it is still ours; takes f. */
void px_rendezvous_file_withdraw(struct px_server *srv, struct px_rendezvous_file *f);

#endif

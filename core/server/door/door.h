/* SPDX-License-Identifier: BSD-3-Clause */
/* The door of a server: listeners, connections before their handshake, tools that wait
 * for the host, and the rendezvous files. */
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
struct px_local;
struct px_module;
struct px_peer;
struct px_remote;
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
    bool is_remote; /* for tools on other machines, whose users nothing attests */
};
#define PX_MAX_LISTENERS 4 /* besides the one for other machines */

struct px_door {
    struct px_listener listeners[PX_MAX_LISTENERS + 1];
    size_t n_listeners;
    struct px_list handshakes; /* connections that are not authenticated yet */
    unsigned n_handshakes;
    bool tools, tools_foreign; /* tools may connect; those of other users, too */
    bool tools_asked;          /* the host has asked for tools */
    bool tools_private;        /* files in the private folder lead tools here */
    unsigned n_visits;         /* tools without the host's answer yet */
    struct px_list files;      /* rendezvous files */
    struct px_log_rate *rate;  /* for log lines that strangers cause */
    struct px_remote
        *remote;          /* checks tools on other machines; NULL: none may connect */
    char remote_uri[768]; /* the server's address for these tools, or "" */
};

/* Sends the end of a handshake, without blocking: it fits any socket's empty buffer. If
 * it cannot be sent, the connection is closed. */
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

/* Starts a handshake at a listener. Takes fd. */
void px_handshake_start(const struct px_listener *l, int fd,
                        const struct px_ptl_peer *who);
/* Ends the oldest handshake of the user with the most handshakes. */
void px_handshake_evict(struct px_server *srv);
void px_handshakes_stop(struct px_server *srv);
/* Lists a new peer of a registered client, and notifies the parts and the host. The
 * peer may be gone then. After an error the caller closes the peer. */
pmix_status_t px_door_join(struct px_server *srv, struct px_peer *peer,
                           struct px_local *local);
/* Removes the job that was made for a tool. */
void px_door_peer_gone(struct px_server *srv, struct px_peer *peer);

/* ---- rendezvous.c ---------------------------------------------------------------- */

/* Returns the path of a launcher's own file, from the attribute or from a variable, or
 * NULL. The variable may be meant for a launcher that started this process. */
const char *px_rendezvous_launcher_file(const pmix_info_t *info, size_t n_info);
/* True if info, the environment or a parameter ask for tool connections. */
bool px_rendezvous_wanted(const struct px_server *srv, const pmix_info_t *info,
                          size_t n_info);
/* Writes the files that info and the environment ask for, once the server listens, if
 * tools may connect. PMIX_ERR_EXISTS, PMIX_ERR_NO_PERMISSIONS: another server has a
 * name that is unique on the node. Other failures are logged. */
pmix_status_t px_rendezvous_publish(struct px_server *srv, const pmix_info_t *info,
                                    size_t n_info, struct px_err *err);
/* Removes the files that still belong to this server. */
void px_rendezvous_withdraw(struct px_server *srv);

struct px_rendezvous_file {
    struct px_list link; /* in srv->part.door->files */
    int fd;              /* holds the lock that shows others that the owner lives */
    dev_t device;
    ino_t inode;
    struct px_cleanup_entry *made;
    char path[];
};

struct px_rendezvous_request {
    const char *dir, *name; /* dir is made if it is missing */
    const char *text;
    bool well_known; /* a name of this library: root takes it from any other user */
};

/* Publishes a file. PMIX_SUCCESS, also if the server has published it already.
 * PMIX_ERR_EXISTS: its owner lives, and err names it. PMIX_ERR_NO_PERMISSIONS: another
 * user's file, or not a regular file. Any other status of the file system. Blocks for
 * about a second at most. */
pmix_status_t px_rendezvous_file_publish(struct px_server *srv,
                                         const struct px_rendezvous_request *placement,
                                         struct px_err *err);
/* Removes the file if it still belongs to this server, and frees f. */
void px_rendezvous_file_withdraw(struct px_server *srv, struct px_rendezvous_file *f);

#endif

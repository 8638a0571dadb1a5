/* SPDX-License-Identifier: BSD-3-Clause */
/* One rendezvous file: published at once and whole, and no other server's while its
 * owner lives. */
#ifndef PX_SERVER_DOOR_RENDEZVOUS_FILE_H
#define PX_SERVER_DOOR_RENDEZVOUS_FILE_H

#include "core/base/err.h"
#include "core/server/server.h"

#include <sys/stat.h>

struct px_rendezvous_file {
    struct px_list link; /* of srv->part.door->files */
    int fd;              /* holds the lock by which others know that the owner lives */
    dev_t device;
    ino_t inode;
    struct px_cleanup_entry *made;
    char path[];
};

struct px_rendezvous_wish {
    const char *dir, *name; /* dir is made if it is absent */
    const char *text;
    bool well_known; /* a name that is ours: root takes it from any other user */
};

/* PMIX_SUCCESS, also if we have that file already. PMIX_ERR_EXISTS: its owner lives,
 * and err names it. PMIX_ERR_NO_PERMISSIONS: what is there is another user's, or no
 * file; or any other status of the file system. Blocks for at most a second or so. */
pmix_status_t px_rendezvous_file_publish(struct px_server *srv,
                                         const struct px_rendezvous_wish *wish,
                                         struct px_err *err);
/* Removes it if it is still ours; takes f. */
void px_rendezvous_file_withdraw(struct px_server *srv, struct px_rendezvous_file *f);

#endif

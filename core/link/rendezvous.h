/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files, in which servers publish their address for tools. Lines: the URI,
 * the version of the server's library, its process id, uid:gid, the date. Blocking file
 * access: not for the loop, except when a server starts or ends. */
#ifndef PX_LINK_RENDEZVOUS_H
#define PX_LINK_RENDEZVOUS_H

#include "core/base/err.h"
#include "core/types/type.h"
#include "core/wire/hello.h"

#include <sys/types.h>

struct px_rendezvous {
    struct px_uri uri;
    struct px_version version; /* all 0 if the file has none */
    pid_t pid;                 /* 0 if the file has none */
    uid_t owner;               /* the file's owner, who must also own the server */
    char started[32];          /* date in the form of ctime(3); "" if there is none */
    char faster[256];          /* address for this library alone; "" if there is none */
};

/* Begins the line of the faster address, after the lines that all libraries write. */
#define PX_RENDEZVOUS_FASTER "TENON_SERVER_ADDRESS="

/* Returns the directory for a server's files, from the first that is set: info's key,
 * variable env, TMPDIR, TEMP, TMP (absolute paths only), /tmp. malloc'd; NULL if memory
 * is exhausted. */
char *px_rendezvous_dir(const pmix_info_t *info, size_t n_info, const char *key,
                        const char *env);

/* Reads a file. Accepts only a regular file with one name, owned by this user or root,
 * of a few lines. Returns PMIX_ERR_NOT_FOUND, PMIX_ERR_NO_PERMISSIONS, or
 * PMIX_ERR_BAD_PARAM for invalid content; err names the file and the reason. */
pmix_status_t px_rendezvous_read(const char *path, struct px_rendezvous *r,
                                 struct px_err *err);

/* Parses the text of a file, and cuts it into pieces. Sets all members of *r except
 * owner. Returns PMIX_ERR_BAD_PARAM. */
pmix_status_t px_rendezvous_parse(char *text, struct px_rendezvous *r);

/* Searches files in dir, then in its accessible subdirectories, to a depth of 8. Visits
 * at most 65536 entries of subdirectories to which only this user or root can write,
 * and as many of the others. names (ends with NULL) are the files' names, or with
 * prefix, their beginnings. Calls found with each path until found returns true, and
 * returns that result. Does not follow symbolic links. */
typedef bool (*px_rendezvous_fn)(void *arg, const char *path);
bool px_rendezvous_search(const char *dir, const char *const *names, bool prefix,
                          px_rendezvous_fn found, void *arg);

/* Lists the servers whose files this user may trust, and which live: an info
 * PMIX_SERVER_INFO_ARRAY for each, with PMIX_NSPACE first. Returns PMIX_ERR_NOMEM. */
pmix_status_t px_rendezvous_list(px_infos *servers);

#endif

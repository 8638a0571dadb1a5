/* SPDX-License-Identifier: BSD-3-Clause */
/* Rendezvous files: where servers write down how tools reach them. One item a line:
 * the URI, the version of the server's library, its process id, uid:gid, the date.
 * Blocking file access: not for the loop, except when a server starts or ends. */
#ifndef PX_LINK_RENDEZVOUS_H
#define PX_LINK_RENDEZVOUS_H

#include "core/base/err.h"
#include "core/types/type.h"
#include "core/wire/hello.h"

#include <sys/types.h>

struct px_rendezvous {
    struct px_uri uri;
    struct px_version version; /* all 0: the file does not tell */
    pid_t pid;                 /* 0: the file does not tell */
    uid_t owner;               /* the file's: who the server must be, too */
};

/* The folder for a server's files: what info says under key, else the variable env,
 * else TMPDIR, TEMP, TMP (absolute paths only), else /tmp. malloc'd; NULL when out
 * of memory. */
char *px_rendezvous_dir(const pmix_info_t *info, size_t n_info, const char *key,
                        const char *env);

/* Reads one. Only a regular file of one name, owned by this user or root and no
 * longer than a few lines, is believed. PMIX_ERR_NOT_FOUND, PMIX_ERR_NO_PERMISSIONS,
 * PMIX_ERR_BAD_PARAM if its content makes no sense; err says which and why. */
pmix_status_t px_rendezvous_read(const char *path, struct px_rendezvous *r,
                                 struct px_err *err);

/* Reads the text of one, which this cuts into pieces. Adds to *r, whose owner it
 * leaves alone. PMIX_ERR_BAD_PARAM. */
pmix_status_t px_rendezvous_parse(char *text, struct px_rendezvous *r);

/* Looks for files in dir, then in its folders, those that can be entered, to a depth
 * of 8. In all folders together to which only we or root can write no more than
 * 65536 entries are looked at, and as many in all others. It is for those of one of
 * the names (NULL ends them), or with prefix, all that begin with one. Calls found
 * for each with its path until that returns true, which is then the result. Symbolic
 * links are not followed. */
typedef bool (*px_rendezvous_fn)(void *arg, const char *path);
bool px_rendezvous_search(const char *dir, const char *const *names, bool prefix,
                          px_rendezvous_fn found, void *arg);

#endif

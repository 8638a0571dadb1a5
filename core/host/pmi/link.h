/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket of one process (link.c), and its messages (message.c). */
#ifndef PX_HOST_PMI_LINK_H
#define PX_HOST_PMI_LINK_H

#include "core/base/attr.h"
#include "core/base/buf.h"

#include <stdbool.h>
#include <stddef.h>

struct px_launch_job;
struct px_proxy;
struct px_task;
struct px_watch;

/* Limits that clients can query, and the limit of a whole message. */
#define PX_PMI_NAME_B    256u /* name of a key space, with the NUL */
#define PX_PMI_KEY_B     64u
#define PX_PMI_VALUE_B   1024u
#define PX_PMI_MESSAGE_B 4096u
#define PX_PMI_PAIRS     32u /* of one message */

struct px_pmi_message {
    const char *name;
    struct {
        const char *key, *value;
    } pairs[PX_PMI_PAIRS];
    size_t n;
};

/* Splits the text of a message, "cmd=NAME KEY=VALUE ..." (version 1) or
 * "cmd=NAME;KEY=VALUE;..." (version 2), in place. Values keep their escapes. False: not
 * a message, or too many pairs. */
bool px_pmi_parse(char *text, int version, struct px_pmi_message *m);
/* Returns the value of a key, or NULL. */
const char *px_pmi_find(const struct px_pmi_message *m, const char *key);

struct px_pmi_command;

struct px_pmi {
    struct px_task *task;
    int fd; /* -1: closed */
    struct px_watch *watch;
    struct px_proxy *proxy;            /* from init to finalize; else NULL */
    int version;                       /* 1 before init, too */
    const struct px_pmi_command *busy; /* request without a reply yet; NULL: none */
    char thread[24];                   /* "thrid" of that request, or "" */
    char *key;                         /* of that request, or NULL */
    bool waits;                        /* busy until another process puts the key */
    bool spawning;                     /* within the lines of a spawn request */
    unsigned n_spawns, spawn;          /* blocks of that request; the present one */
    char *in;                          /* PX_PMI_MESSAGE_B bytes; NULL: nothing came */
    size_t n_in;
    px_buf out; /* reply that the socket has no room for */
};

/* ---- replies --------------------------------------------------------------------- */

/* Begins the reply to the present request. name: command of the reply. */
void px_pmi_reply(struct px_pmi *pmi, const char *name);
void px_pmi_add(struct px_pmi *pmi, const char *key, const char *fmt, ...)
    PX_PRINTF(3, 4);
/* Sends the reply. The next request may follow. */
void px_pmi_send(struct px_pmi *pmi);

/* Closes the socket, and logs text unless NULL. why PMIX_SUCCESS: the process lives;
 * otherwise the process is lost unless it has finalized. */
void px_pmi_end(struct px_pmi *pmi, pmix_status_t why, const char *text);
/* Continues after a reply that came later than its request. */
void px_pmi_go_on(struct px_pmi *pmi);

/* ---- commands.c ------------------------------------------------------------------ */

/* Serves a message: replies, or sets busy, or ends the link. */
void px_pmi_serve(struct px_pmi *pmi, const struct px_pmi_message *m);
/* Refuses a spawn request, whose last line has come. */
void px_pmi_refuse_spawn(struct px_pmi *pmi);
/* Ends the waits for attributes of the node once no process can put one. */
void px_pmi_check_waits(struct px_launch_job *job);

#endif

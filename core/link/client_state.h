/* SPDX-License-Identifier: BSD-3-Clause */
/* Client side of a process: state that its API calls share. A process has it in every
 * role. A server process answers its own calls. */
#ifndef PX_LINK_CLIENT_STATE_H
#define PX_LINK_CLIENT_STATE_H

#include "core/base/list.h"
#include "core/link/channel.h"

struct px_model;
struct px_notify;
struct px_client_role;
struct px_iof_receivers;

/* Members of a group. Servers up to 4.2.3 keep the members, later servers expect them
 * in the request to destruct the group. */
struct px_group {
    struct px_list link; /* in px_client.groups */
    char name[PMIX_MAX_NSLEN + 1];
    size_t n_procs;
    pmix_proc_t procs[];
};

/* Loop thread only. The members up to model do not change. */
struct px_client {
    struct px_loop *loop;
    struct px_model *model;
    struct px_notify *notify;
    struct px_channel channel;   /* to the server that answers the API calls */
    struct px_channel own;       /* to the server in this process; send NULL: none */
    bool standalone;             /* a singleton, which has no server */
    struct px_client_role *role; /* of a client or tool; NULL in a process that is only
                                  * a server */
    px_writer put;               /* values since the last commit */
    struct px_map put_alone;     /* values put without a server; see note_scope */
    unsigned commits_alone;      /* number of commits without a server */
    size_t unanswered_b;         /* bytes in unanswered commits */
    size_t n_unanswered;         /* number of unanswered commits */
    pmix_status_t commit_failed; /* an error that the next fence or commit returns */
    struct px_map pending_gets;  /* process -> pending gets (client/get.c) */
    struct px_list fences;       /* pending calls of PMIx_Fence_nb (client/fence.c) */
    struct px_list late_gets;    /* gets that wait for such a call (client/get.c) */
    struct px_map lent;          /* "namespace:rank:key" -> values of px_client_lend */
    struct px_list groups;       /* struct px_group, constructed by this process */
    struct px_list invitations;  /* pending invites and joins (client/invite.c) */
    struct px_iof_receivers *receivers; /* receivers of forwarded output; core/role
                                         * makes them */
};

/* Creates the state. Returns NULL if memory is exhausted. */
struct px_client *px_client_create(struct px_loop *loop, struct px_model *model);
/* Frees the state. client may be NULL. */
void px_client_destroy(struct px_client *client);
/* Drops the values since the last commit. codec: encoding of later values. */
void px_client_reset_put(struct px_client *client, struct px_codec codec);
/* Returns the value that equals *v among those that programs have pointers to
 * (PMIX_GET_POINTER_VALUES). Adds *v if no value does, and otherwise frees *v. key
 * may be NULL. Returns NULL if memory is exhausted. The value lives as long as the
 * state. */
pmix_value_t *px_client_lend(struct px_client *client, const pmix_proc_t *proc,
                             const char *key, pmix_value_t *v);

#endif

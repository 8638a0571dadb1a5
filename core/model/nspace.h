/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces: the data of jobs. A client fills the object from its server's answer, a
 * server from its host. Only the loop thread uses the model, except for lookups.
 * Lookups run in any thread inside the model's gate (reader.h). The loop closes the
 * gate while it changes data that lookups read: the tables, and members with comment
 * R. */
#ifndef PX_MODEL_NSPACE_H
#define PX_MODEL_NSPACE_H

#include "core/base/gate.h"
#include "core/base/list.h"
#include "core/base/map.h"
#include "core/model/procmap.h"
#include "core/model/store.h"
#include "core/types/type.h"
#include "core/wire/codec.h"

struct px_nspace {
    char name[PMIX_MAX_NSLEN + 1];
    struct px_stores store; /* R */
    struct px_procmap *map; /* R; includes the rows of the node table; NULL if none */
    bool complete;          /* job information has been registered or received */
    bool in_place;          /* R; only the shared tables have the job information */
    bool hosted;            /* this process serves the job; its data are the
                             * originals */
    bool of_tool;           /* a server's namespace for a tool that brought its name */
    bool noted;             /* has values that this process stores for itself */
    uint64_t received;      /* sequence number, see px_nspace_received; 0: not
                             * received */
    uint32_t job_size;      /* R; 0: unknown */
    uint32_t n_local;       /* number of local clients that the host announced */
    uint32_t this_node;     /* R; row of this process's node; UINT32_MAX: unknown */
    uint32_t session;       /* R; id of the job's session; UINT32_MAX: the default
                         * session */
    bool many_apps;         /* R; has more applications than number 0 */
    struct px_assembly *assembly; /* R; NULL: not an assembly */
    struct px_list locals;        /* server: struct px_local, registered clients */
};

/* True if a namespace is read in place, and the shared tables do not hold all its job
 * information any more. The server must be asked. Any thread inside the gate. */
static inline bool px_nspace_is_lost(const struct px_nspace *ns)
{
    return ns->in_place && !px_store_has_job(&ns->store);
}

/* True for a server's namespace of tools, which no host has registered. */
static inline bool px_nspace_is_tools(const struct px_nspace *ns)
{
    return ns->of_tool && !ns->hosted;
}

/* Forms of job information. Ranks are blobs, or arrays (replies to get, spawn and
 * connect). Clients of this library get the map itself, without values that follow from
 * the map. */
enum px_job_form { PX_JOB_BLOBS, PX_JOB_ARRAYS, PX_JOB_COMPACT };

/* Cached answer to the first request of a job's clients. */
struct px_packed_job {
    const struct px_nspace *ns; /* NULL: empty */
    struct px_codec codec;
    enum px_job_form form;
    uint64_t changes; /* of the model's gate */
    px_buf bytes;
};

struct px_model {
    struct px_read_gate *gate; /* closed while the loop changes members with comment
                                * R */
    struct px_map nspaces;     /* R */
    pmix_proc_t self;          /* R */
    struct px_nspace *own;     /* R; self's namespace; NULL until known */
    _Atomic(struct px_nspace *) likely; /* see px_nspace_expect; NULL: none */
    char hostname[256];
    uint32_t appnum;     /* R; self's application */
    uint64_t n_received; /* makes the next px_nspace.received */
    struct px_resources {
        struct px_resource_row *v;
        size_t n, cap;
    } resources;                      /* R; see resources.h */
    bool nodes_alike;                 /* R; PMIX_HOMOGENEOUS_SYSTEM of a server */
    struct px_packed_job last_packed; /* see px_jobinfo_pack_again */
};

/* Creates a model. hostname: this node's name. */
pmix_status_t px_model_create(struct px_read_gate *gate, const char *hostname,
                              struct px_model **model);
void px_model_destroy(struct px_model *model);
struct px_nspace *px_nspace_find(const struct px_model *m, const char *name);
/* Makes the search for a namespace cheap until the next call. A server handles a
 * message with a dozen searches, most of them for the sender's namespace. Without a
 * call, searches for the own namespace are cheap. Loop thread only. */
void px_nspace_expect(struct px_model *m, const char *name);
/* Finds a namespace or creates it. */
pmix_status_t px_nspace_get(struct px_model *m, const char *name,
                            struct px_nspace **ns);
/* Records that a server sent another job's data, which can be requested again. Removes
 * the oldest such namespace above PX_MAX_RECEIVED. */
#define PX_MAX_RECEIVED 256u
void px_nspace_received(struct px_model *m, struct px_nspace *ns);
/* Sets the name of this process, the value of PMIX_PROCID and PMIX_RANK. */
pmix_status_t px_model_set_self(struct px_model *m, const pmix_proc_t *self);
/* Removes a namespace without locals. ns may be NULL. */
void px_nspace_remove(struct px_model *m, struct px_nspace *ns);

#endif

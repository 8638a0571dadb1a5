/* SPDX-License-Identifier: BSD-3-Clause */
/* Namespaces: what this process knows of a job. The same object serves a client (filled
 * from its server's answer) and a server (filled by its host).
 *
 * Loop thread only, but for lookups, which any thread may make inside the gate of the
 * model (reader.h). The loop closes the gate while it changes what lookups read: the
 * tables, and the members marked R below. */
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
    struct px_procmap *map; /* R; with the rows of the node table; NULL: none */
    bool complete;          /* job info has been registered, or received */
    bool no_data;           /* registered with PMIX_REGISTER_NODATA */
    bool in_place;          /* R; job info lies in the shared tables alone */
    bool hosted;            /* this process serves it: its data are the clients' own */
    bool of_tool;           /* a server's, for a tool that brought the name */
    bool noted;             /* it has values that this process keeps for itself */
    uint64_t received;      /* see px_nspace_received; 0: it is not one of those */
    uint32_t job_size;      /* R; 0: unknown */
    uint32_t n_local;       /* local clients the host announced */
    uint32_t this_node; /* R; row of this process's node; UINT32_MAX: none is known */
    uint32_t session;   /* R; id of the job's session; UINT32_MAX: the default one */
    bool many_apps;     /* R; more than application 0 */
    struct px_assembly
        *assembly;         /* R; its ranks are processes of others; NULL: of its own */
    struct px_list locals; /* server: struct px_local, registered clients */
};

/* It was to be read in place, and the shared tables do not hold all of its job's
 * information any more: the server has to be asked. Inside the gate. */
static inline bool px_nspace_is_lost(const struct px_nspace *ns)
{
    return ns->in_place && !px_store_has_job(&ns->store);
}

/* Data of ranks as blobs; as arrays in replies to get, spawn and connect; or, for
 * clients of this library, the map itself and only what does not follow from it. */
enum px_job_form { PX_JOB_BLOBS, PX_JOB_ARRAYS, PX_JOB_COMPACT };

/* The answer to the clients of one job when they begin. */
struct px_packed_job {
    const struct px_nspace *ns; /* NULL: none */
    struct px_codec codec;
    enum px_job_form form;
    uint64_t changes; /* of the model's gate */
    px_buf bytes;
};

struct px_model {
    struct px_read_gate *gate; /* closed while the loop changes what is marked R */
    struct px_map nspaces;     /* R */
    pmix_proc_t self;          /* R */
    struct px_nspace *own;     /* R; self's namespace; NULL until known */
    char hostname[256];
    uint32_t appnum;     /* R; of self */
    uint64_t n_received; /* makes the next px_nspace.received */
    struct px_resources {
        struct px_resource_row *v;
        size_t n, cap;
    } resources;                      /* R; see resources.h */
    struct px_packed_job last_packed; /* see px_jobinfo_pack_again */
};

/* hostname: of this node. */
pmix_status_t px_model_create(struct px_read_gate *gate, const char *hostname,
                              struct px_model **model);
void px_model_destroy(struct px_model *model);
struct px_nspace *px_nspace_find(const struct px_model *m, const char *name);
/* Finds or makes. */
pmix_status_t px_nspace_get(struct px_model *m, const char *name,
                            struct px_nspace **ns);
/* A server has told of another's job, which it can be asked for again: only so many are
 * kept, and the oldest goes. */
#define PX_MAX_RECEIVED 256u
void px_nspace_received(struct px_model *m, struct px_nspace *ns);
/* Sets the name of this process, which programs find as PMIX_PROCID and PMIX_RANK. */
pmix_status_t px_model_set_self(struct px_model *m, const pmix_proc_t *self);
/* locals must be empty. NULL is fine. */
void px_nspace_remove(struct px_model *m, struct px_nspace *ns);

#endif

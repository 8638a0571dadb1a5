/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: jobs, ranks, scopes and their entries, in memory and in the journal. */
#include "core/server/cleanup/registry.h"

#include "core/base/str.h"
#include "core/model/nspace.h"
#include "core/rt/log.h"
#include "core/server/peer/peer.h"
#include "core/server/server.h"

#include <string.h>

enum {
    PLACES = 64,                          /* processes of a rank */
    PROC_SLOTS = PX_JOURNAL_MAX_SLOT / 2, /* first slot of processes */
};

/* ---- jobs, ranks ----------------------------------------------------------------- */

static struct px_cleanup_job *job_new(struct px_cleanup *c, const char *nspace)
{
    struct px_cleanup_job *job = calloc(1, sizeof(*job));

    if (!job)
        return NULL;
    job->registry = c;
    px_list_init(&job->ranks);
    px_list_init(&job->scopes);
    px_str_copy(job->nspace, sizeof(job->nspace), nspace);
    px_list_append(&c->jobs, &job->link);
    return job;
}

struct px_cleanup_job *px_cleanup_job_find(struct px_cleanup *c, const char *nspace)
{
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        if (job != c->own && !job->gone && strcmp(job->nspace, nspace) == 0)
            return job;
    return NULL;
}

struct px_cleanup_job *px_cleanup_job_get(struct px_cleanup *c, const char *nspace)
{
    struct px_cleanup_job *job = px_cleanup_job_find(c, nspace);

    return job ? job : job_new(c, nspace);
}

struct px_nspace *px_cleanup_nspace(const struct px_cleanup_job *job)
{
    return job->gone ? NULL : px_nspace_find(job->registry->server->model, job->nspace);
}

static void job_free(struct px_cleanup_job *job)
{
    PX_CLEANUP_EACH_PROC (job, p)
        px_cleanup_proc_free(p);
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        free(r);
    px_list_remove(&job->link);
    free(job);
}

/* Frees a job that is not needed any more. A job is kept while the host serves it, as
 * its processes may still register something. It is also kept while one of its ranks
 * pays for an entry elsewhere. */
void px_cleanup_job_release(struct px_cleanup_job *job)
{
    const struct px_nspace *ns = px_cleanup_nspace(job);

    if (!px_list_empty(&job->scopes) || (ns && ns->hosted))
        return;
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        if (r->n_paid > 0)
            return;
    PX_CLEANUP_EACH_PROC (job, p)
        if (p->n_conns > 0)
            return;
    job_free(job);
}

struct px_cleanup_rank *px_cleanup_rank_find(const struct px_cleanup_job *job,
                                             pmix_rank_t rank)
{
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        if (r->rank == rank)
            return r;
    return NULL;
}

struct px_cleanup_rank *px_cleanup_rank_get(struct px_cleanup_job *job,
                                            pmix_rank_t rank)
{
    struct px_cleanup_rank *r = px_cleanup_rank_find(job, rank);

    if (r)
        return r;
    r = calloc(1, sizeof(*r));
    if (!r)
        return NULL;
    r->job = job;
    r->rank = rank;
    r->index = job->n_ranks++;
    px_list_init(&r->procs);
    px_list_append(&job->ranks, &r->link);
    return r;
}

struct px_cleanup_rank *px_cleanup_payer(struct px_cleanup *c,
                                         const struct px_peer *peer)
{
    struct px_cleanup_job *job = peer->tool ? c->own
                                            : px_cleanup_job_get(c, peer->proc.nspace);

    return job ? px_cleanup_rank_get(job, peer->tool ? peer->uid : peer->proc.rank)
               : NULL;
}

/* ---- scopes ---------------------------------------------------------------------- */

struct px_cleanup_scope *px_cleanup_scope_new(struct px_cleanup_job *job,
                                              struct px_cleanup_rank *rank)
{
    struct px_cleanup_scope *s = calloc(1, sizeof(*s));

    if (!s)
        return NULL;
    s->job = job;
    s->rank = rank;
    s->id = job->registry->last_id++;
    px_list_init(&s->entries);
    px_list_append(&job->scopes, &s->link);
    return s;
}

struct px_cleanup_scope *px_cleanup_scope_get(struct px_cleanup_job *job,
                                              pmix_rank_t rank)
{
    struct px_cleanup_rank *r = NULL;

    PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
        if (s->state == PX_CLEANUP_WAITS &&
            (s->rank ? s->rank->rank : PMIX_RANK_WILDCARD) == rank)
            return s;
    if (rank != PMIX_RANK_WILDCARD && !(r = px_cleanup_rank_get(job, rank)))
        return NULL;
    return px_cleanup_scope_new(job, r);
}

void px_cleanup_scope_free(struct px_cleanup_scope *s)
{
    PX_LIST_EACH (&s->entries, struct px_cleanup_entry, e, link)
        px_cleanup_entry_free(e);
    px_list_remove(&s->link);
    free(s);
}

/* ---- entries --------------------------------------------------------------------- */

struct key {
    uint8_t bytes[sizeof(uid_t) + 1 + PX_RM_MAX_PATH];
    size_t n;
};

/* Makes the key of a path. Removed or kept, a file has one key; a folder to remove has
 * another. */
static void make_key(struct key *k, uid_t uid, uint8_t kind, const char *path)
{
    size_t len = strlen(path);

    memcpy(k->bytes, &uid, sizeof(uid));
    k->bytes[sizeof(uid)] = kind == PX_RM_DIR;
    memcpy(k->bytes + sizeof(uid) + 1, path, len);
    k->n = sizeof(uid) + 1 + len;
}

struct px_cleanup_entry *px_cleanup_find(const struct px_cleanup *c, uid_t uid,
                                         uint8_t kind, const char *path)
{
    struct key k;

    make_key(&k, uid, kind, path);
    return px_map_get(&c->index, k.bytes, k.n);
}

/* Removes an entry from the index. Replacing a value of the index needs no memory. */
static void index_remove(struct px_cleanup *c, struct px_cleanup_entry *e)
{
    struct px_cleanup_entry *first, **at;
    struct key k;

    make_key(&k, e->r.uid, e->r.kind, e->path);
    first = px_map_get(&c->index, k.bytes, k.n);
    for (at = &first; *at != e; at = &(*at)->same)
        ;
    *at = e->same;
    if (first)
        (void)px_map_put(&c->index, k.bytes, k.n, first, NULL);
    else
        (void)px_map_remove(&c->index, k.bytes, k.n);
}

pmix_status_t px_cleanup_entry_add(struct px_cleanup_scope *s,
                                   struct px_cleanup_rank *payer,
                                   const struct px_journal_record *r,
                                   struct px_cleanup_entry **out)
{
    const size_t path_b = strlen(r->path) + 1;
    struct px_cleanup *c = s->job->registry;
    struct px_cleanup_entry *e;
    void *same = NULL;
    struct key k;

    if (s->next_slot == PROC_SLOTS)
        return PMIX_ERR_OUT_OF_RESOURCE;
    e = calloc(1, sizeof(*e) + path_b);
    if (!e)
        return PMIX_ERR_NOMEM;
    e->scope = s;
    e->r = *r;
    e->r.path = memcpy(e->path, r->path, path_b);
    if (s->job != c->own) {
        make_key(&k, r->uid, r->kind, r->path);
        if (px_map_put(&c->index, k.bytes, k.n, e, &same)) {
            free(e);
            return PMIX_ERR_NOMEM;
        }
        e->same = same;
    }
    e->r.scope = s->id;
    e->r.slot = s->next_slot++;
    px_list_append(&s->entries, &e->link);
    s->n_entries++;
    e->payer = payer;
    if (payer) {
        payer->n_paid++;
        payer->paid_b += path_b - 1;
        c->n_entries++;
    }
    *out = e;
    return PMIX_SUCCESS;
}

void px_cleanup_entry_free(struct px_cleanup_entry *e)
{
    struct px_cleanup *c = e->scope->job->registry;

    if (e->scope->job != c->own)
        index_remove(c, e);
    px_list_remove(&e->link);
    e->scope->n_entries--;
    e->scope->next_slot -= e->r.slot + 1 == e->scope->next_slot;
    if (e->payer) {
        e->payer->n_paid--;
        e->payer->paid_b -= strlen(e->path);
        c->n_entries--;
    }
    free(e);
}

/* ---- the journal ----------------------------------------------------------------- */

pmix_status_t px_cleanup_record_proc(const struct px_cleanup_scope *s,
                                     const struct px_cleanup_proc *p)
{
    const struct px_journal_record r = {.type = PX_JOURNAL_PROC,
                                        .slot = PROC_SLOTS + p->rank->index * PLACES +
                                                p->place,
                                        .scope = s->id,
                                        .uid = geteuid(),
                                        .gid = getegid(),
                                        .x = (uint64_t)p->pid,
                                        .y = p->start};

    return p->pid && p->start ? px_session_record(s->job->registry->server, &r, 1)
                              : PMIX_SUCCESS;
}

void px_cleanup_record_done(const struct px_cleanup_scope *s)
{
    const struct px_journal_record r = {.type = PX_JOURNAL_DONE, .scope = s->id};
    pmix_status_t rc = PMIX_SUCCESS;

    if (s->next_slot > 0)
        rc = px_session_record(s->job->registry->server, &r, 1);
    if (rc)
        px_log(PX_LOG_WARN, "cleanup",
               "cannot record in the journal that clean-up of %s is done: %s",
               s->job->nspace, PMIx_Error_string(rc));
}

/* Writes all records to a new journal. If one cannot be written, the caller drops the
 * new journal. */
static void write_all(struct px_server *srv)
{
    PX_CLEANUP_EACH_SCOPE (srv->part.cleanup, s) {
        uint32_t slot = 0;

        if (s->n_entries > 0)
            PX_CLEANUP_EACH_PROC (s->job, p)
                if (px_cleanup_waits_for(s, p->rank))
                    (void)px_cleanup_record_proc(s, p);
        PX_LIST_EACH (&s->entries, struct px_cleanup_entry, e, link) {
            struct px_journal_record r = e->r;

            r.slot = slot++;
            (void)px_session_record(srv, &r, 1);
        }
    }
}

void px_cleanup_compact(struct px_cleanup *c)
{
    if (!px_session_compact(c->server, write_all))
        return;
    PX_CLEANUP_EACH_SCOPE (c, s) {
        s->next_slot = 0;
        PX_LIST_EACH (&s->entries, struct px_cleanup_entry, e, link)
            e->r.slot = s->next_slot++;
    }
}

/* ---- life ------------------------------------------------------------------------ */

pmix_status_t px_registry_create(struct px_server *srv,
                                 const struct px_server_start *start PX_UNUSED)
{
    struct px_cleanup *c = srv->part.cleanup;

    c->server = srv;
    px_list_init(&c->jobs);
    c->own = job_new(c, "");
    c->made = c->own ? px_cleanup_scope_new(c->own, NULL) : NULL;
    c->groups = c->made ? px_cleanup_scope_new(c->own, NULL) : NULL;
    if (c->groups)
        return PMIX_SUCCESS;
    px_registry_destroy(srv);
    return PMIX_ERR_NOMEM;
}

void px_registry_destroy(struct px_server *srv)
{
    struct px_cleanup *c = srv->part.cleanup;

    PX_CLEANUP_EACH_SCOPE (c, s)
        px_cleanup_scope_free(s);
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        job_free(job);
    px_map_fini(&c->index);
    px_timer_free(c->poll);
    px_timer_free(c->deadline);
}

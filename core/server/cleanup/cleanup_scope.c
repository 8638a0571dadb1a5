/* SPDX-License-Identifier: BSD-3-Clause */
/* The registry: jobs, ranks, scopes and their entries. What was registered stands in the journal, too,
 * for whoever has to see to it if this process is killed. */
#include "core/server/cleanup/cleanup_impl.h"

#include "core/base/str.h"
#include "core/rt/log.h"

#include <string.h>

/* ---- jobs, ranks -------------------------------------------------------------------------------- */

struct px_cleanup_job *px_cleanup_job_find(struct px_cleanup *c, const char *nspace)
{
    PX_LIST_EACH (&c->jobs, struct px_cleanup_job, job, link)
        if (!job->gone && strcmp(job->nspace, nspace) == 0)
            return job;
    return NULL;
}

struct px_cleanup_job *px_cleanup_job_get(struct px_cleanup *c, const char *nspace)
{
    struct px_cleanup_job *job = px_cleanup_job_find(c, nspace);

    if (job)
        return job;
    job = calloc(1, sizeof *job);
    if (!job)
        return NULL;
    job->registry = c;
    px_list_init(&job->ranks);
    px_list_init(&job->scopes);
    px_str_copy(job->nspace, sizeof job->nspace, nspace);
    px_list_append(&c->jobs, &job->link);
    return job;
}

struct px_nspace *px_cleanup_nspace(const struct px_cleanup_job *job)
{
    return job->gone ? NULL : px_nspace_find(px_process.model, job->nspace);
}

static struct px_local *local_of(const struct px_cleanup_job *job, pmix_rank_t rank)
{
    pmix_proc_t proc;

    if (job->gone)
        return NULL;
    px_proc_set(&proc, job->nspace, rank);
    return px_local_find(job->registry->server, &proc);
}

static struct px_cleanup_rank *rank_find(struct px_cleanup_job *job, pmix_rank_t rank)
{
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        if (r->rank == rank)
            return r;
    return NULL;
}

struct px_cleanup_rank *px_cleanup_rank_get(struct px_cleanup_job *job,
                                            pmix_rank_t rank)
{
    struct px_cleanup_rank *r = rank_find(job, rank);
    struct px_local *local = local_of(job, rank);

    if (!r) {
        r = calloc(1, sizeof *r);
        if (!r)
            return NULL;
        r->job = job;
        r->rank = rank;
        px_list_init(&r->procs);
        px_list_append(&job->ranks, &r->link);
    }
    if (local)
        local->cleanup = r;
    return r;
}

void px_cleanup_job_free(struct px_cleanup_job *job)
{
    struct px_nspace *ns = px_cleanup_nspace(job);

    if (ns)
        PX_LIST_EACH (&ns->locals, struct px_local, l, link)
            l->cleanup = NULL;
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link) {
        PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
            px_cleanup_proc_free(p);
        free(r);
    }
    px_list_remove(&job->link);
    free(job);
}

static bool has_connections(const struct px_cleanup_job *job)
{
    PX_LIST_EACH (&job->ranks, struct px_cleanup_rank, r, link)
        PX_LIST_EACH (&r->procs, struct px_cleanup_proc, p, link)
            if (p->n_conns > 0)
                return true;
    return false;
}

/* What is known of processes is kept as long as the host serves their job: somebody may still
 * register what waits for their end. */
void px_cleanup_job_tidy(struct px_cleanup_job *job)
{
    const struct px_nspace *ns = px_cleanup_nspace(job);

    if (px_list_empty(&job->scopes) && !(ns && ns->hosted) && !has_connections(job))
        px_cleanup_job_free(job);
}

/* ---- scopes ------------------------------------------------------------------------------------- */

struct px_cleanup_scope *px_cleanup_scope_find(struct px_cleanup_job *job,
                                               pmix_rank_t rank)
{
    PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
        if (s->state == PX_CLEANUP_WAITS &&
            (s->who ? s->who->rank : PMIX_RANK_WILDCARD) == rank)
            return s;
    return NULL;
}

struct px_cleanup_scope *px_cleanup_scope_get(struct px_cleanup_job *job,
                                              pmix_rank_t rank)
{
    struct px_cleanup_scope *s = px_cleanup_scope_find(job, rank);
    struct px_cleanup_rank *who = NULL;

    if (s)
        return s;
    if (rank != PMIX_RANK_WILDCARD) {
        who = px_cleanup_rank_get(job, rank);
        if (!who)
            return NULL;
    }
    s = calloc(1, sizeof *s);
    if (!s)
        return NULL;
    s->job = job;
    s->who = who;
    s->id = ++job->registry->last_id;
    px_list_init(&s->entries);
    px_list_init(&s->seats);
    px_list_append(&job->scopes, &s->link);
    return s;
}

bool px_cleanup_waits_for(const struct px_cleanup_scope *s,
                          const struct px_cleanup_rank *r)
{
    return !s->who || s->who == r;
}

static void account_pay(struct px_cleanup_account *a, const struct px_cleanup_entry *e)
{
    a->n--;
    a->path_b -= strlen(e->path);
    if (a->n > 0)
        return;
    px_list_remove(&a->link);
    free(a);
}

void px_cleanup_entry_free(struct px_cleanup_scope *s, struct px_cleanup_entry *e)
{
    uint8_t key[PX_CLEANUP_KEY_B];

    (void)px_map_remove(&s->index, key,
                        px_cleanup_key(e->uid, e->gid, e->kind, e->path, key));
    if (px_list_linked(&e->link)) {
        px_list_remove(&e->link);
        s->n_entries--;
        s->job->registry->n_entries--;
        account_pay(e->account, e);
    }
    free(e);
}

void px_cleanup_scope_free(struct px_cleanup_scope *s)
{
    PX_LIST_EACH (&s->entries, struct px_cleanup_entry, e, link)
        px_cleanup_entry_free(s, e);
    PX_LIST_EACH (&s->seats, struct px_cleanup_seat, seat, link)
        free(seat);
    px_map_fini(&s->index);
    px_list_remove(&s->link);
    free(s);
}

/* ---- the journal -------------------------------------------------------------------------------- */

struct px_journal_record px_cleanup_item(const struct px_cleanup_scope *s,
                                         const struct px_cleanup_entry *e)
{
    return (struct px_journal_record){.type = PX_JOURNAL_ITEM,
                                      .kind = e->kind,
                                      .flags = e->flags,
                                      .slot = e->slot,
                                      .scope = s->id,
                                      .uid = e->uid,
                                      .gid = e->gid,
                                      .path = e->path};
}

static struct px_journal_record seat_record(const struct px_cleanup_scope *s,
                                            const struct px_cleanup_seat *seat)
{
    const struct px_cleanup_proc *p = seat->proc;

    return (struct px_journal_record){.type = PX_JOURNAL_PROC,
                                      .slot = seat->slot,
                                      .scope = s->id,
                                      .uid = geteuid(),
                                      .gid = getegid(),
                                      .x = (uint64_t)p->pid,
                                      .y = p->start,
                                      .path = ""};
}

static struct px_cleanup_seat *seat_get(struct px_cleanup_scope *s)
{
    struct px_cleanup_seat *seat;

    PX_LIST_EACH (&s->seats, struct px_cleanup_seat, vacant, link)
        if (!vacant->proc)
            return vacant;
    if (s->n_slots >= PX_JOURNAL_MAX_SLOT)
        return NULL;
    seat = calloc(1, sizeof *seat);
    if (!seat)
        return NULL;
    seat->slot = s->n_slots++;
    px_list_append(&s->seats, &seat->link);
    return seat;
}

static bool is_seated(const struct px_cleanup_scope *s, const struct px_cleanup_proc *p)
{
    PX_LIST_EACH (&s->seats, struct px_cleanup_seat, seat, link)
        if (seat->proc == p)
            return true;
    return false;
}

pmix_status_t px_cleanup_seat(struct px_cleanup_scope *s, struct px_cleanup_proc *p,
                              struct px_journal_record *r)
{
    struct px_cleanup_seat *seat;

    if (p->pid == 0 || p->start == 0 || is_seated(s, p))
        return PMIX_ERR_NOT_FOUND;
    seat = seat_get(s);
    if (!seat)
        return PMIX_ERR_NOMEM;
    seat->proc = p;
    *r = seat_record(s, seat);
    return PMIX_SUCCESS;
}

void px_cleanup_unseat(struct px_cleanup_scope *s, const struct px_cleanup_proc *p)
{
    PX_LIST_EACH (&s->seats, struct px_cleanup_seat, seat, link)
        if (seat->proc == p)
            seat->proc = NULL;
}

/* Records of a scope, written several at once. What cannot be written fails the whole journal. */
struct batch {
    struct px_server *server;
    struct px_journal_record records[64];
    size_t n;
};

static void batch_write(struct batch *b)
{
    if (b->n > 0)
        (void)px_session_record_all(b->server, b->records, b->n);
    b->n = 0;
}

static void batch_add(struct batch *b, struct px_journal_record r)
{
    b->records[b->n++] = r;
    if (b->n == PX_COUNT(b->records))
        batch_write(b);
}

static void rewrite_scope(struct px_server *srv, const struct px_cleanup_scope *s)
{
    struct batch b = {.server = srv};

    PX_LIST_EACH (&s->seats, struct px_cleanup_seat, seat, link)
        if (seat->proc)
            batch_add(&b, seat_record(s, seat));
    PX_LIST_EACH (&s->entries, struct px_cleanup_entry, e, link)
        batch_add(&b, px_cleanup_item(s, e));
    batch_write(&b);
}

void px_cleanup_rewrite(struct px_server *srv)
{
    pmix_status_t rc = px_cleanup_groups_rewrite(srv->cleanup);

    if (rc)
        px_log(PX_LOG_WARN, "cleanup",
               "the journal does not say which processes end with this one: %s",
               PMIx_Error_string(rc));
    PX_LIST_EACH (&srv->cleanup->jobs, struct px_cleanup_job, job, link)
        PX_LIST_EACH (&job->scopes, struct px_cleanup_scope, s, link)
            rewrite_scope(srv, s);
}

void px_cleanup_record_done(const struct px_cleanup_scope *s)
{
    struct px_server *srv = s->job->registry->server;
    const struct px_journal_record r = {
        .type = PX_JOURNAL_DONE, .scope = s->id, .path = ""};
    pmix_status_t rc = s->n_slots > 0 ? px_session_record(srv, &r) : PMIX_SUCCESS;

    if (rc)
        px_log(PX_LOG_WARN, "cleanup",
               "the journal does not say that clean-up of %s is done: %s",
               s->job->nspace, PMIx_Error_string(rc));
}

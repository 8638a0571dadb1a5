/* SPDX-License-Identifier: BSD-3-Clause */
/* Construction of groups: the participants and their directives, the host, the result,
 * and the reply of each release. */
#include "core/base/vec.h"
#include "core/model/group_values.h"
#include "core/model/nspace.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"
#include "core/server/collective/groups.h"
#include "core/server/host.h"
#include "core/server/nspaces/nspaces.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"

#include <string.h>

#define NO_CONTEXT      SIZE_MAX    /* in replies to clients before 6.0 */
#define CONSTRUCT_ITEMS 512         /* work of a request, see px_work */
#define MAX_SENT_B      (64 * 1024) /* of values that a reply to clients since 6.1 has */

struct procs {
    pmix_proc_t *v;
    size_t n, cap;
};

/* The construction of a group. Directives of all participants count together. */
struct px_forming {
    bool assigns;         /* the group gets a context id */
    bool optional;        /* participants may be missing */
    bool adjusts;         /* ends of members do not fail operations of the group */
    bool notifies;        /* members get events about ends of members */
    bool open;            /* requests name different participants */
    uint32_t n_leaders;   /* leaders of a bootstrap; 0: any */
    uint32_t n_leading;   /* leaders that have come */
    struct procs leaders; /* participants that get the events of the construction */
    struct procs order;   /* members in their order; empty: the order of names */
    px_infos infos;       /* values that members share, see groups.h */
    /* the result */
    struct procs members;
    bool partial; /* a participant is missing */
    size_t context_id;
    /* the reply of the last peer, which the next one may share */
    px_buf packed;
    struct px_codec codec;
    int form; /* enum form */
};

/* Forms of the reply, by the version of the client. */
enum form { FORM_NONE, FORM_4_0, FORM_4_2_4, FORM_6_0, FORM_6_1 };

void px_forming_free(struct px_forming *f)
{
    if (!f)
        return;
    free(f->leaders.v);
    free(f->order.v);
    free(f->members.v);
    px_infos_cleanup(&f->infos);
    px_buf_cleanup(&f->packed);
    free(f);
}

static pmix_status_t add_procs(struct procs *l, const pmix_proc_t *procs, size_t n)
{
    if (n == 0)
        return PMIX_SUCCESS;
    if (!px_vec_reserve(&l->v, l->n, &l->cap, n))
        return PMIX_ERR_NOMEM;
    memcpy(l->v + l->n, procs, n * sizeof(*procs));
    l->n += n;
    return PMIX_SUCCESS;
}

/* ---- construct: requests --------------------------------------------------------- */

/* True if the host has to find the participants of the construction: each request goes
 * to it alone. */
static bool is_for_host(const struct px_server *srv, const struct px_args *a)
{
    return srv->module.group &&
           (a->n_procs == 0 ||
            px_info_u32(a->info.v, a->info.n, PMIX_GROUP_BOOTSTRAP, 0) > 0);
}

/* Reads the processes under a key. */
static pmix_status_t read_procs(const px_infos *l, const char *key,
                                const pmix_proc_t **procs, size_t *n)
{
    const pmix_info_t *info = px_info_find(l->v, l->n, key);

    *n = 0;
    return info ? px_value_borrow_procs(&info->value, procs, n) : PMIX_SUCCESS;
}

/* Adds the members that the request adds to the participants. */
static pmix_status_t add_members(struct px_args *a, px_collective_key *key)
{
    const pmix_proc_t *more;
    struct procs all = {a->procs, a->n_procs, a->n_procs};
    size_t n;
    pmix_status_t rc = read_procs(&a->info, PMIX_GROUP_ADD_MEMBERS, &more, &n);

    if (rc)
        return rc;
    rc = add_procs(&all, more, n);
    a->procs = all.v;
    a->n_procs = all.n;
    key->open |= n > 0;
    return rc;
}

static pmix_status_t prepare_construct(struct px_server *srv PX_UNUSED,
                                       const struct px_req *req, struct px_args *a,
                                       px_collective_key *key)
{
    pmix_status_t rc = px_group_read_name(a, key);

    (void)px_work(req->peer, CONSTRUCT_ITEMS);
    key->n_leaders = px_info_u32(a->info.v, a->info.n, PMIX_GROUP_BOOTSTRAP, 0);
    key->follows = a->n_procs == 0;
    key->open = key->follows || key->n_leaders > 0;
    if (!rc && key->follows)
        rc = px_group_name_one(a, req->peer->proc.nspace, req->peer->proc.rank);
    return rc || key->kind->single ? rc : add_members(a, key);
}

/* Requests of a bootstrap, or with added members, meet by the group's name and user.
 * All other participants name the same processes. */
static bool is_same_construct(const struct px_collective *c,
                              const px_collective_key *key)
{
    return px_members_same(c->procs, c->n_procs, key->set.v, key->set.n) ||
           ((c->forming->open || key->open) && c->user == key->user);
}

/* Adds the participants that a request names. */
static pmix_status_t merge(struct px_collective *c, const struct px_req *req,
                           const px_members *set)
{
    struct procs all = {0};
    pmix_proc_t *for_host;
    pmix_status_t rc = px_charge(&c->charge, req->peer, 2 * set->n * sizeof(*set->v));

    if (!rc)
        rc = add_procs(&all, c->procs, c->n_procs);
    if (!rc)
        rc = add_procs(&all, set->v, set->n);
    if (!rc)
        px_members_sort(c->server, all.v, &all.n);
    for_host = rc ? NULL : malloc(all.n * sizeof(*for_host));
    if (!for_host) {
        free(all.v);
        return rc ? rc : PMIX_ERR_NOMEM;
    }
    memcpy(for_host, all.v, all.n * sizeof(*for_host));
    free(c->procs);
    free(c->host_procs);
    c->procs = all.v;
    c->host_procs = for_host;
    c->n_procs = c->n_host_procs = all.n;
    return PMIX_SUCCESS;
}

static pmix_status_t begin_forming(struct px_collective *c, const struct px_req *req)
{
    pmix_status_t rc = px_charge(&c->charge, req->peer, sizeof(*c->forming));

    if (rc)
        return rc;
    c->forming = calloc(1, sizeof(*c->forming));
    if (!c->forming)
        return PMIX_ERR_NOMEM;
    c->forming->context_id = NO_CONTEXT;
    return PMIX_SUCCESS;
}

/* Adds the directives of a request. */
static pmix_status_t direct(struct px_collective *c, const struct px_req *req,
                            const px_infos *l)
{
    struct px_forming *f = c->forming;
    const pmix_proc_t *order;
    size_t n;
    pmix_status_t rc = read_procs(l, PMIX_GROUP_FINAL_MEMBERSHIP_ORDER, &order, &n);

    if (!rc && n > 0)
        rc = px_charge(&c->charge, req->peer, n * sizeof(*order));
    if (!rc && n > 0) {
        f->order.n = 0;
        rc = add_procs(&f->order, order, n);
    }
    if (!rc)
        rc = px_group_infos_take(c, req, l, &f->infos);
    if (!rc && px_info_flag(l->v, l->n, PMIX_GROUP_LEADER))
        rc = add_procs(&f->leaders, &req->peer->proc, 1);
    if (rc)
        return rc;
    f->assigns |= px_info_flag(l->v, l->n, PMIX_GROUP_ASSIGN_CONTEXT_ID);
    f->optional |= px_info_flag(l->v, l->n, PMIX_GROUP_OPTIONAL);
    f->adjusts |= px_info_flag(l->v, l->n, PMIX_GROUP_FT_COLLECTIVE);
    f->notifies |= px_info_flag(l->v, l->n, PMIX_GROUP_NOTIFY_TERMINATION);
    return PMIX_SUCCESS;
}

static pmix_status_t contribute(struct px_collective *c, const struct px_req *req,
                                const struct px_args *a, px_collective_key *key)
{
    const bool first = !c->forming;
    pmix_status_t rc = first ? begin_forming(c, req) : PMIX_SUCCESS;
    struct px_forming *f = c->forming;

    if (!rc && key->n_leaders && f->n_leaders && key->n_leaders != f->n_leaders)
        rc = PMIX_ERR_BAD_PARAM;
    if (!rc && !first && (f->open || key->open))
        rc = merge(c, req, &key->set);
    if (!rc)
        rc = direct(c, req, &a->info);
    if (rc)
        return rc;
    f->open |= key->open;
    f->n_leaders = key->n_leaders ? key->n_leaders : f->n_leaders;
    f->n_leading += !key->follows;
    c->forgives = f->optional || f->adjusts || f->notifies;
    if (f->open)
        c->n_awaited = 0;
    return PMIX_SUCCESS;
}

static bool awaits_leaders(const struct px_collective *c)
{
    const struct px_forming *f = c->forming;

    return f->open && (f->n_leaders ? f->n_leading < f->n_leaders : f->n_leading == 0);
}

static bool may_be_partial(const struct px_collective *c)
{
    return c->forming->optional && !px_list_empty(&c->reqs);
}

/* The host assigns context ids, if it can. */
static bool needs_context(const struct px_collective *c)
{
    return c->forming->assigns && c->server->module.group;
}

/* ---- construct: ends of participants --------------------------------------------- */

static pmix_status_t lose_construct(struct px_collective *c)
{
    px_collective_log_away(c, "has left before it took part");
    return PMIX_ERR_LOST_CONNECTION;
}

/* Reports a participant that has ended, once, to the leaders or to all. */
static void report_end(void *arg, struct px_local *local)
{
    struct px_collective *c = arg;
    const struct px_forming *f = c->forming;
    const bool led = f->leaders.n > 0;
    const struct px_joint j = {.procs = led ? f->leaders.v : c->procs,
                               .n_procs = led ? f->leaders.n : c->n_procs,
                               .id = "",
                               .nspace = c->label,
                               .is_group = true};
    pmix_proc_t proc;

    px_proc_set(&proc, local->ns->name, local->rank);
    if ((local->lost || local->finalized) && !px_collective_has_come(c, local, &proc) &&
        !px_collective_refuse(c, &proc))
        px_joint_event(c->server, &j, PMIX_GROUP_MEMBER_FAILED, &proc,
                       !px_collective_is_here(c));
}

static void report_ends(struct px_collective *c)
{
    if (c->forming->notifies && !c->forming->optional)
        px_collective_locals(c, report_end, c);
}

/* Reports also those that have ended before. */
static void on_joined(struct px_collective *c, const px_collective_key *key PX_UNUSED,
                      const pmix_proc_t *proc PX_UNUSED, bool first PX_UNUSED)
{
    report_ends(c);
}

/* ---- construct: the host --------------------------------------------------------- */

/* Adds the data of the local participants, in the form of a fence that collects. The
 * host joins the data of all servers. */
static pmix_status_t add_data(const struct px_collective *c, px_infos *infos)
{
    px_buf data = {0};
    pmix_status_t rc = px_modex_pack(c, &data);
    pmix_byte_object_t bo = {.bytes = (char *)data.data, .size = data.len};

    if (!rc)
        rc = px_infos_set(infos, PMIX_GROUP_ENDPT_DATA, &bo, PMIX_BYTE_OBJECT);
    px_buf_cleanup(&data);
    return rc;
}

/* Stores the data of all servers, if the host's answer has them. */
static pmix_status_t store_data(const struct px_collective *c, const px_infos *answer)
{
    const pmix_info_t *data = px_info_find(answer->v, answer->n, PMIX_GROUP_ENDPT_DATA);
    pmix_status_t rc;

    if (!data || data->value.type != PMIX_BYTE_OBJECT || data->value.data.bo.size == 0)
        return PMIX_SUCCESS;
    const px_buf all = {.data = (uint8_t *)data->value.data.bo.bytes,
                        .len = data->value.data.bo.size};
    rc = px_modex_unpack(c, &all);
    if (rc)
        px_log(PX_LOG_ERROR, "server", "cannot read the data of group %s: %s", c->label,
               PMIx_Error_string(rc));
    return rc;
}

static pmix_status_t describe_construct(const struct px_collective *c, px_infos *infos)
{
    const struct px_forming *f = c->forming;
    const bool is_here = px_collective_is_here(c);
    const struct {
        const char *key;
        bool is_set;
    } flags[] = {
        {PMIX_GROUP_ASSIGN_CONTEXT_ID, f->assigns},
        {PMIX_GROUP_OPTIONAL, f->optional},
        {PMIX_GROUP_FT_COLLECTIVE, f->adjusts},
        {PMIX_GROUP_NOTIFY_TERMINATION, f->notifies},
        {PMIX_GROUP_LOCAL_ONLY, is_here && !c->kind->single},
    };
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < PX_COUNT(flags); i++)
        if (flags[i].is_set)
            rc = px_infos_set(infos, flags[i].key, NULL, PMIX_BOOL);
    px_infos_drop(infos, PMIX_GROUP_INFO); /* of the first request alone */
    if (!rc)
        rc = px_infos_add_copy(infos, f->infos.v, f->infos.n);
    return rc || is_here ? rc : add_data(c, infos);
}

/* ---- construct: the result ------------------------------------------------------- */

static uint64_t next_context(struct px_server *srv)
{
    uint64_t *last = &srv->part.last_context;

    if (*last == 0) { /* the first half differs between servers */
        uint32_t hash = 2166136261u;

        for (const char *p = srv->proc.nspace; *p; p++)
            hash = (hash ^ (uint8_t)*p) * 16777619u; /* FNV-1a */
        *last = (uint64_t)((hash ^ srv->proc.rank) & 0x7fffffff) << 32;
    }
    return ++*last;
}

/* Lists all ranks of a job, which are on several nodes. */
static pmix_status_t list_job(struct px_forming *f, const struct px_nspace *ns)
{
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t proc;

    for (pmix_rank_t r = 0; !rc && r < ns->job_size; r++) {
        px_proc_set(&proc, ns->name, r);
        rc = add_procs(&f->members, &proc, 1);
    }
    return rc;
}

/* Lists one participant, or all ranks of a job. checks: only those on this node that
 * take part. */
static pmix_status_t list_one(struct px_collective *c, const pmix_proc_t *p,
                              bool is_here, bool checks)
{
    struct px_forming *f = c->forming;
    const struct px_nspace *ns = px_nspace_find(c->server->model, p->nspace);
    pmix_status_t rc = PMIX_SUCCESS;
    pmix_proc_t proc;

    if (!is_here && ns && p->rank == PMIX_RANK_WILDCARD && ns->job_size > 0 &&
        ns->job_size <= PX_GROUP_MOST_LISTED)
        return list_job(f, ns);
    if (!is_here || !ns)
        return add_procs(&f->members, p, 1);
    PX_LIST_EACH (&ns->locals, struct px_local, l, link) {
        if (p->rank != PMIX_RANK_WILDCARD && p->rank != l->rank)
            continue;
        px_proc_set(&proc, ns->name, l->rank);
        if (checks && !px_collective_takes_part(c, &proc))
            f->partial = true;
        else if (!rc)
            rc = add_procs(&f->members, &proc, 1);
    }
    return rc;
}

/* Lists the members. The host's list counts, if it gives one. */
static pmix_status_t list_members(struct px_collective *c, const px_infos *answer)
{
    struct px_forming *f = c->forming;
    const bool is_here = px_collective_is_here(c);
    const bool checks = px_list_length(&c->reqs) < px_collective_count(c).n_locals;
    const pmix_proc_t *given;
    size_t n;
    pmix_status_t rc = read_procs(answer, PMIX_GROUP_MEMBERSHIP, &given, &n);

    if (!rc && n > 0)
        return add_procs(&f->members, given, n);
    for (size_t i = 0; !rc && i < c->n_procs; i++)
        rc = list_one(c, &c->procs[i], is_here, checks);
    return rc;
}

/* Brings the members into the order that a participant has given.
 * PMIX_ERR_BAD_PARAM: the order has other processes. */
static pmix_status_t sort_members(struct px_forming *f)
{
    PX_AUTOFREE pmix_proc_t *sorted = NULL;

    if (f->order.n == 0)
        return PMIX_SUCCESS;
    if (f->order.n != f->members.n)
        return PMIX_ERR_BAD_PARAM;
    sorted = malloc(f->order.n * sizeof(*sorted));
    if (!sorted)
        return PMIX_ERR_NOMEM;
    memcpy(sorted, f->order.v, f->order.n * sizeof(*sorted));
    qsort(sorted, f->order.n, sizeof(*sorted), px_members_order);
    qsort(f->members.v, f->members.n, sizeof(*sorted), px_members_order);
    if (!px_members_same(sorted, f->order.n, f->members.v, f->members.n))
        return PMIX_ERR_BAD_PARAM;
    memcpy(f->members.v, f->order.v, f->order.n * sizeof(*sorted));
    return PMIX_SUCCESS;
}

/* True if a group has these members, and none has left. */
static bool has_members(const struct px_joined *j, const struct procs *members)
{
    PX_AUTOFREE pmix_proc_t *a = NULL;
    PX_AUTOFREE pmix_proc_t *b = malloc((members->n + 1) * sizeof(*b));
    size_t n_a = 0, n_b = members->n;

    a = px_joined_members(j, &n_a);
    if (!a || !b)
        return false;
    memcpy(b, members->v, n_b * sizeof(*b));
    px_members_sort(j->server, a, &n_a);
    px_members_sort(j->server, b, &n_b);
    return px_members_same(a, n_a, b, n_b);
}

/* Makes the namespace of the group. A group of the same name and members is replaced,
 * unless its other members have just made it. */
static pmix_status_t make_group(struct px_collective *c, bool ours)
{
    const struct px_forming *f = c->forming;
    struct px_joined *old = px_group_find(c->server, c->label);
    const struct px_nspace *made = NULL;
    PX_AUTO(px_infos) infos = {0};
    pmix_status_t rc = PMIX_SUCCESS;
    const struct px_joint j = {.procs = f->members.v,
                               .n_procs = f->members.n,
                               .infos = &infos,
                               .id = "",
                               .nspace = c->label,
                               .is_group = true,
                               .in_order = f->order.n > 0};

    if (old && has_members(old, &f->members)) {
        if (c->kind->single)
            return PMIX_SUCCESS;
        px_joint_end(old);
    }
    if (f->adjusts)
        rc = px_infos_add(&infos, PMIX_GROUP_FT_COLLECTIVE, NULL, PMIX_BOOL);
    if (!rc && f->notifies)
        rc = px_infos_add(&infos, PMIX_GROUP_NOTIFY_TERMINATION, NULL, PMIX_BOOL);
    if (!rc)
        rc = px_joint_make(c->server, &j, ours, &made);
    if (rc == PMIX_ERR_NOT_FOUND) /* a member's job is unknown here */
        return PMIX_SUCCESS;
    if (!rc)
        px_joined_find(c->server, c->label)->at_host = !ours;
    return rc;
}

static pmix_status_t settle_construct(struct px_collective *c, pmix_status_t status,
                                      const struct px_upcall *answer)
{
    static const px_infos nothing;
    struct px_forming *f = c->forming;
    const bool ours = !answer || px_collective_is_left_to_us(c, status);
    const px_infos *l = ours ? &nothing : &answer->infos;
    const pmix_info_t *id = px_info_find(l->v, l->n, PMIX_GROUP_CONTEXT_ID);
    uint64_t number;

    if (ours && status == PMIX_ERR_NOT_SUPPORTED)
        status = PMIX_SUCCESS;
    if ((status && status != PMIX_ERR_PARTIAL_SUCCESS) || px_list_empty(&c->reqs))
        return status;
    f->partial = status != PMIX_SUCCESS;
    status = store_data(c, l);
    if (!status)
        status = px_group_infos_read(&f->infos, l);
    if (!status)
        status = list_members(c, l);
    if (!status)
        status = sort_members(f);
    if (!status)
        status = make_group(c, ours);
    if (status)
        return status;
    if (ours && f->assigns)
        f->context_id = next_context(c->server);
    else if (id && px_value_to_u64(&id->value, &number))
        f->context_id = number;
    if (f->context_id != NO_CONTEXT)
        status = px_group_infos_keep(c, &f->infos, f->context_id);
    if (status) {
        px_joint_end(px_group_find(c->server, c->label));
        return status;
    }
    return f->partial && f->optional ? PMIX_ERR_PARTIAL_SUCCESS : PMIX_SUCCESS;
}

/* True if the members are all ranks of one job in their order, which clients know, and
 * share no values. */
static bool number_of(const struct px_collective *c, uint64_t *number)
{
    const struct px_forming *f = c->forming;
    const struct px_nspace *ns = px_nspace_find(c->server->model, c->procs[0].nspace);

    if (f->infos.n > 0 || !ns || f->members.n != ns->job_size)
        return false;
    for (size_t i = 0; i < f->members.n; i++)
        if (f->members.v[i].rank != i || strcmp(f->members.v[i].nspace, ns->name) != 0)
            return false;
    *number = f->context_id;
    return true;
}

static enum form form_for(const struct px_peer *peer)
{
    const struct px_version *v = &peer->version;

    if (!px_version_since(v, 4, 2, 4))
        return FORM_4_0;
    if (!px_version_since(v, 6, 0, 0))
        return FORM_4_2_4;
    return px_version_since(v, 6, 1, 0) ? FORM_6_1 : FORM_6_0;
}

/* Packs the values that members share. Large values do not go to each member: clients
 * get them one by one. */
static void pack_infos(px_writer *w, const px_infos *infos)
{
    const size_t before = w->buf.len;

    px_pack_size(w, infos->n);
    for (size_t i = 0; i < infos->n; i++)
        px_pack(w, &infos->v[i], 1, PMIX_INFO);
    if (w->buf.len - before <= MAX_SENT_B)
        return;
    w->buf.len = before;
    px_pack_size(w, 0);
}

/* Packs what is the same for all peers of a codec and form. */
static pmix_status_t pack_result(struct px_forming *f, struct px_codec codec,
                                 enum form form)
{
    const bool has_context = f->context_id != NO_CONTEXT;
    px_writer w;

    px_writer_init(&w, codec);
    if (form > FORM_4_0)
        px_pack_procs(&w, f->members.v, f->members.n);
    if (form >= FORM_6_0)
        px_pack(&w, &has_context, 1, PMIX_BOOL);
    if (form < FORM_6_0 || has_context)
        px_pack_size(&w, f->context_id);
    if (form >= FORM_6_1)
        pack_infos(&w, &f->infos);
    px_buf_cleanup(&f->packed);
    f->form = form;
    f->codec = codec;
    f->packed = px_buf_take(&w.buf);
    return w.status;
}

static void pack_constructed(const struct px_collective *c, struct px_peer *to,
                             px_writer *w)
{
    struct px_forming *f = c->forming;
    const enum form form = form_for(to);
    pmix_status_t rc = PMIX_SUCCESS;

    if ((int)form != f->form || f->codec.dialect != to->codec.dialect ||
        f->codec.described != to->codec.described)
        rc = pack_result(f, to->codec, form);
    if (!rc)
        rc = px_buf_add(&w->buf, f->packed.data, f->packed.len);
    if (rc)
        w->status = rc;
    else if (form == FORM_4_2_4)
        px_collective_pack_jobs(c, to, w);
}

/* ---- the kinds ------------------------------------------------------------------- */

#define CONSTRUCTS                                                     \
    .request = &px_request_group_construct, .name = "construct group", \
    .function = "PMIx_Group_construct", .prepare = prepare_construct,  \
    .same = is_same_construct, .contribute = contribute,               \
    .describe = describe_construct, .call_host = px_group_call_host,   \
    .settle = settle_construct, .pack_reply = pack_constructed

const struct px_collective_kind px_group_alone_kind = {
    CONSTRUCTS,
    .single = true,
    .matches = is_for_host,
};

const struct px_collective_kind px_group_construct_kind = {
    CONSTRUCTS,
    .local = true,
    .wakes = true,
    .number = number_of,
    .awaits_more = awaits_leaders,
    .goes_on = may_be_partial,
    .wants_host = needs_context,
    .joined = on_joined,
    .renew = report_ends,
    .lost = lose_construct,
};

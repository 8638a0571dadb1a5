/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups by invitation. Leader and invited processes exchange events, as in OpenPMIx.
 * Processes of this library then construct the group at their servers. */
#include "core/client/client.h"
#include "core/client/group.h"
#include "core/notify/notify.h"
#include "core/rt/log.h"

#include <string.h>

#define MAX_INVITED 65536u

enum answer { WAITING, ACCEPTED, DECLINED };

/* A pending invite or join. */
struct invitation {
    struct px_list link; /* in px_client.invitations */
    struct px_client *client;
    struct px_api *op;
    bool leads;
    bool elects;        /* the leader has ended, and a new one is being chosen */
    pmix_proc_t leader; /* of a join; an empty name: unknown */
    bool foreign;       /* a member of another library does not construct the group */
    struct px_timer *timer;
    pmix_proc_t *procs; /* invited processes, without this one */
    uint8_t *answers;   /* enum answer of each */
    size_t n_procs, n_waiting;
};

static void invitation_free(struct invitation *inv)
{
    px_list_remove(&inv->link);
    px_timer_free(inv->timer);
    free(inv->procs);
    free(inv->answers);
    free(inv);
}

static void end(struct invitation *inv, pmix_status_t status)
{
    struct px_api *op = inv->op;
    struct px_client *client = inv->client;

    invitation_free(inv);
    if (px_list_empty(&client->invitations))
        px_notify_unwatch(client->notify);
    px_api_done(op, status);
}

void px_invitations_end(struct px_client *client, pmix_status_t why)
{
    PX_LIST_EACH (&client->invitations, struct invitation, inv, link)
        end(inv, why);
}

/* ---- events ---------------------------------------------------------------------- */

/* Sends an event of the group to processes; n 0: to the session. constructs: adds that
 * info. members may be NULL. */
static pmix_status_t send_event(struct px_api *op, pmix_status_t code,
                                const pmix_proc_t *to, size_t n, bool constructs,
                                const pmix_data_array_t *members, px_reply_fn fn,
                                void *arg)
{
    const pmix_data_array_t range = {PMIX_PROC, n, (pmix_proc_t *)to};
    const struct px_fact facts[] = {
        {PMIX_EVENT_CUSTOM_RANGE, n ? &range : NULL, PMIX_DATA_ARRAY},
        {PMIX_EVENT_NON_DEFAULT, &(bool){true}, PMIX_BOOL},
        {PMIX_GROUP_ID, op->args.text, PMIX_STRING},
        {PX_GROUP_CONSTRUCTS, constructs ? &constructs : NULL, PMIX_BOOL},
        {PMIX_GROUP_MEMBERSHIP, members, PMIX_DATA_ARRAY},
    };
    struct px_args args = {.code = code,
                           .directive = n ? PMIX_RANGE_CUSTOM : PMIX_RANGE_SESSION};
    pmix_status_t rc = px_facts_add(&args.info, facts, PX_COUNT(facts));

    if (!rc)
        rc = px_channel_ask(&op->client->channel, &px_request_notify, &args, fn, arg);
    px_infos_cleanup(&args.info);
    return rc;
}

static struct invitation *find(struct px_client *client, const void *inv)
{
    PX_LIST_EACH (&client->invitations, struct invitation, i, link)
        if (i == inv)
            return i;
    return NULL;
}

/* Ends the invite or join if the server refuses the event. */
static void on_sent(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_client *client = px_process.client;
    struct invitation *inv = client ? find(client, arg) : NULL;

    status = px_api_answer(status, reply);
    if (inv && status)
        end(inv, status);
}

/* Ignores the reply: the event matters to others only. */
static void on_delivered(void *arg PX_UNUSED, pmix_status_t status PX_UNUSED,
                         px_reader *reply PX_UNUSED)
{
}

/* ---- completion ------------------------------------------------------------------ */

static void on_met(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_client *client = px_process.client;
    struct invitation *inv = client ? find(client, arg) : NULL;
    bool declined = false;

    if (!inv)
        return;
    status = px_group_constructed(inv->op, status, reply);
    for (size_t i = 0; i < inv->n_procs; i++)
        declined |= inv->answers[i] != ACCEPTED;
    end(inv, !status && declined ? PMIX_ERR_PARTIAL_SUCCESS : status);
}

/* Constructs the group at the servers, or ends with the members alone. */
static void meet(struct invitation *inv, pmix_proc_t *members, size_t n,
                 bool constructs)
{
    struct px_api *op = inv->op;
    struct px_args args = op->args;
    PX_AUTO(px_infos) named = {0};
    bool all = true;
    pmix_status_t rc;

    args.procs = members;
    args.n_procs = n;
    if (constructs) {
        rc = px_group_name_shared(inv->client, &args, &named);
        if (!rc)
            rc = px_channel_ask(&inv->client->channel, &px_request_group_construct,
                                &args, on_met, inv);
        if (rc)
            end(inv, rc);
        return;
    }
    for (size_t i = 0; i < inv->n_procs; i++)
        all &= inv->answers[i] == ACCEPTED;
    rc = px_group_made(op, members, n);
    end(inv, rc ? rc : all ? PMIX_SUCCESS : PMIX_ERR_PARTIAL_SUCCESS);
}

/* Completes an invite: the members are this process and those that have accepted. */
static void conclude(struct invitation *inv)
{
    PX_AUTOFREE pmix_proc_t *members = calloc(inv->n_procs + 1, sizeof(*members));
    pmix_data_array_t array = {PMIX_PROC, 1, members};
    pmix_status_t rc = PMIX_SUCCESS;

    if (!members) {
        end(inv, PMIX_ERR_NOMEM);
        return;
    }
    members[0] = inv->client->model->self;
    for (size_t i = 0; i < inv->n_procs; i++)
        if (inv->answers[i] == ACCEPTED)
            members[array.size++] = inv->procs[i];
    px_timer_free(px_take(&inv->timer));
    if (array.size > 1)
        rc = send_event(inv->op, PMIX_GROUP_CONSTRUCT_COMPLETE, members + 1,
                        array.size - 1, !inv->foreign, &array, on_delivered, NULL);
    if (rc)
        end(inv, rc);
    else
        meet(inv, members, array.size, !inv->foreign);
}

/* Ends an invite, and all joins of it. */
static void abort_all(struct invitation *inv, pmix_status_t status)
{
    if (inv->n_procs > 0)
        (void)send_event(inv->op, PMIX_GROUP_CONSTRUCT_ABORT, inv->procs, inv->n_procs,
                         false, NULL, on_delivered, NULL);
    end(inv, status);
}

/* Withdraws from an invitation. */
static void decline(struct invitation *inv)
{
    if (inv->leader.nspace[0])
        (void)send_event(inv->op, PMIX_GROUP_INVITE_DECLINED, &inv->leader, 1, false,
                         NULL, on_delivered, NULL);
}

static void on_deadline(void *arg)
{
    struct invitation *inv = arg;
    const px_infos *l = &inv->op->args.info;

    if (inv->leads && px_info_flag(l->v, l->n, PMIX_GROUP_OPTIONAL))
        conclude(inv);
    else if (inv->leads)
        abort_all(inv, PMIX_ERR_TIMEOUT);
    else {
        decline(inv); /* the others do not wait for this process */
        end(inv, PMIX_ERR_TIMEOUT);
    }
}

/* ---- events from others ---------------------------------------------------------- */

/* Handles an answer, or the end of an invited process. May free inv. */
static void on_answer(struct invitation *inv, const pmix_proc_t *from,
                      enum answer answer, bool constructs)
{
    for (size_t i = 0; i < inv->n_procs; i++) {
        if (!px_proc_same(&inv->procs[i], from) || inv->answers[i] == DECLINED ||
            inv->answers[i] == answer)
            continue;
        inv->n_waiting -= inv->answers[i] == WAITING;
        inv->answers[i] = (uint8_t)answer;
        inv->foreign |= answer == ACCEPTED && !constructs;
        if (inv->n_waiting == 0 && inv->timer != NULL && inv->leads)
            conclude(inv);
        return;
    }
}

/* Completes a join. Other libraries name the members in the event's range only. */
static void on_complete(struct invitation *inv, const pmix_proc_t *leader,
                        const px_infos *l)
{
    const pmix_info_t *named = px_info_find(l->v, l->n, PMIX_GROUP_MEMBERSHIP);
    const pmix_proc_t *procs = NULL;
    PX_AUTOFREE pmix_proc_t *members = NULL;
    size_t n = 0;
    bool complete = named != NULL;

    if (!named)
        named = px_info_find(l->v, l->n, PMIX_EVENT_CUSTOM_RANGE);
    if (named)
        (void)px_value_borrow_procs(&named->value, &procs, &n);
    members = calloc(n + 1, sizeof(*members));
    if (!members) {
        end(inv, PMIX_ERR_NOMEM);
        return;
    }
    if (n)
        memcpy(members, procs, n * sizeof(*members));
    if (!complete)
        members[n++] = *leader;
    px_timer_free(px_take(&inv->timer));
    meet(inv, members, n, px_info_flag(l->v, l->n, PX_GROUP_CONSTRUCTS));
}

/* ---- a new leader ---------------------------------------------------------------- */

/* Returns the invited processes that an event names. */
static const pmix_proc_t *invited_in(const px_infos *l, size_t *n)
{
    const pmix_info_t *named = px_info_find(l->v, l->n, PMIX_GROUP_MEMBERSHIP);
    const pmix_proc_t *procs = NULL;

    *n = 0;
    if (named && px_value_borrow_procs(&named->value, &procs, n))
        *n = 0;
    return procs;
}

/* Takes the other invited processes, whose answers a new leader awaits. */
static pmix_status_t take_invited(struct invitation *inv, const px_infos *l)
{
    const pmix_proc_t *self = &inv->client->model->self;
    size_t n;
    const pmix_proc_t *procs = invited_in(l, &n);

    free(inv->procs);
    free(inv->answers);
    inv->procs = calloc(n + 1, sizeof(*inv->procs));
    inv->answers = calloc(n + 1, sizeof(*inv->answers));
    inv->n_procs = 0;
    if (!inv->procs || !inv->answers)
        return PMIX_ERR_NOMEM;
    for (size_t i = 0; i < n; i++)
        if (!px_proc_same(&procs[i], self))
            inv->procs[inv->n_procs++] = procs[i];
    inv->n_waiting = inv->n_procs;
    return PMIX_SUCCESS;
}

/* Stops to await answers of processes that have ended or declined since the choice
 * began. */
static void drop_missing(struct invitation *inv, const px_infos *l)
{
    size_t n;
    const pmix_proc_t *procs = invited_in(l, &n);

    for (size_t k = 0; k < inv->n_procs; k++) {
        size_t i = 0;

        while (i < n && !px_proc_same(&procs[i], &inv->procs[k]))
            i++;
        if (i < n)
            continue;
        inv->n_waiting -= inv->answers[k] == WAITING;
        inv->answers[k] = DECLINED;
    }
}

/* Answers the server, which chooses a leader among the processes whose handlers want to
 * lead. */
static void on_leader_lost(struct invitation *inv, const pmix_proc_t *leader,
                           const px_infos *l, const struct px_handled *handled)
{
    const pmix_data_array_t range = {PMIX_PROC, 1, (pmix_proc_t *)leader};
    const bool leads = handled->leads;
    const struct px_fact facts[] = {
        {PMIX_EVENT_CUSTOM_RANGE, &range, PMIX_DATA_ARRAY},
        {PMIX_EVENT_DO_NOT_CACHE, &(bool){true}, PMIX_BOOL},
        {PMIX_GROUP_ID, inv->op->args.text, PMIX_STRING},
        {PMIX_GROUP_LEADER, leads ? &leads : NULL, PMIX_BOOL},
    };
    struct px_args args = {.code = PMIX_GROUP_LEADER_SELECTED,
                           .directive = PMIX_RANGE_CUSTOM};
    pmix_status_t rc = take_invited(inv, l);

    if (!rc && handled->aborts) {
        abort_all(inv, PMIX_GROUP_CONSTRUCT_ABORT);
        return;
    }
    if (!rc && !px_info_flag(l->v, l->n, PX_GROUP_ELECTS))
        rc = PMIX_GROUP_LEADER_FAILED; /* the server does not choose */
    if (!rc)
        rc = px_facts_add(&args.info, facts, PX_COUNT(facts));
    inv->elects = true;
    if (!rc)
        rc = px_channel_ask(&inv->client->channel, &px_request_notify, &args, on_sent,
                            inv);
    px_infos_cleanup(&args.info);
    if (rc)
        end(inv, rc);
}

/* True if the process was invited. */
static bool is_invited(const struct invitation *inv, const pmix_proc_t *proc)
{
    for (size_t i = 0; i < inv->n_procs; i++)
        if (px_proc_same(&inv->procs[i], proc))
            return true;
    return px_proc_same(proc, &inv->client->model->self);
}

/* Becomes the leader, accepts the new one, or ends without a leader. */
static void on_leader_chosen(struct invitation *inv, const px_infos *l)
{
    const pmix_info_t *chosen = px_info_find(l->v, l->n, PMIX_GROUP_LEADER);
    pmix_status_t rc = PMIX_SUCCESS;

    if (chosen && chosen->value.type == PMIX_PROC && chosen->value.data.proc &&
        !is_invited(inv, chosen->value.data.proc))
        return; /* not from the server */
    inv->elects = false;
    if (!chosen || chosen->value.type != PMIX_PROC || !chosen->value.data.proc) {
        end(inv, PMIX_GROUP_LEADER_FAILED);
        return;
    }
    inv->leader = *chosen->value.data.proc;
    inv->leads = px_proc_same(&inv->leader, &inv->client->model->self);
    drop_missing(inv, l);
    if (inv->leads && inv->n_waiting == 0) {
        conclude(inv);
    } else if (!inv->leads) {
        inv->n_procs = inv->n_waiting = 0;
        rc = send_event(inv->op, PMIX_GROUP_INVITE_ACCEPTED, &inv->leader, 1, true,
                        NULL, on_sent, inv);
    }
    if (rc)
        end(inv, rc);
}

/* ---- dispatch -------------------------------------------------------------------- */

/* True if the event belongs to the invite or join. Releases of OpenPMIx leave the
 * group's name out of answers. */
static bool concerns(const struct invitation *inv, const pmix_proc_t *source,
                     const px_infos *l)
{
    const char *id = px_info_str(l->v, l->n, PMIX_GROUP_ID);

    if (id ? strcmp(id, inv->op->args.text) != 0 : !inv->leads)
        return false;
    return inv->leads || inv->elects || !inv->leader.nspace[0] ||
           px_proc_same(&inv->leader, source);
}

/* True if the process may abort. A join of any leader does not know the others. */
static bool may_abort(const struct invitation *inv, const pmix_proc_t *proc)
{
    return (!inv->leads && !inv->leader.nspace[0]) || is_invited(inv, proc) ||
           px_proc_same(&inv->leader, proc);
}

/* Handles an event of one invite or join, and may free inv. */
static void on_own_event(struct invitation *inv, pmix_status_t code,
                         const pmix_proc_t *source, const pmix_proc_t *affected,
                         const px_infos *l, const struct px_handled *handled)
{
    const bool constructs = px_info_flag(l->v, l->n, PX_GROUP_CONSTRUCTS);
    const bool counts = inv->leads || inv->elects; /* answers of others */

    if (inv->leads && handled->aborts)
        abort_all(inv, PMIX_GROUP_CONSTRUCT_ABORT);
    else if (counts && code == PMIX_GROUP_INVITE_ACCEPTED)
        on_answer(inv, source, ACCEPTED, constructs);
    else if (counts && code == PMIX_GROUP_INVITE_DECLINED)
        on_answer(inv, source, DECLINED, constructs);
    else if (counts && code == PMIX_GROUP_INVITE_FAILED)
        on_answer(inv, affected, DECLINED, constructs);
    else if (!counts && code == PMIX_GROUP_CONSTRUCT_COMPLETE)
        on_complete(inv, source, l);
    else if (code == PMIX_GROUP_CONSTRUCT_ABORT && may_abort(inv, source))
        end(inv, PMIX_GROUP_CONSTRUCT_ABORT);
    else if (!inv->leads && code == PMIX_GROUP_LEADER_FAILED)
        on_leader_lost(inv, affected, l, handled);
    else if (inv->elects && code == PMIX_GROUP_LEADER_SELECTED)
        on_leader_chosen(inv, l);
}

/* True if a process reports the end of another one, which only servers do. */
static bool is_lie(const struct px_client *client, pmix_status_t code,
                   const pmix_proc_t *source, const pmix_proc_t *affected)
{
    return (code == PMIX_GROUP_INVITE_FAILED || code == PMIX_GROUP_LEADER_FAILED) &&
           !px_proc_same(source, affected) &&
           (strcmp(source->nspace, affected->nspace) == 0 ||
            strcmp(source->nspace, client->model->self.nspace) == 0);
}

static void on_event(void *ctx, pmix_status_t code, const pmix_proc_t *source,
                     const px_infos *l, const struct px_handled *handled)
{
    struct px_client *client = ctx;
    const pmix_info_t *about = px_info_find(l->v, l->n, PMIX_EVENT_AFFECTED_PROC);
    const pmix_proc_t *affected = about && about->value.type == PMIX_PROC
                                      ? about->value.data.proc
                                      : source;

    if (is_lie(client, code, source, affected))
        return;
    PX_LIST_EACH (&client->invitations, struct invitation, inv, link)
        if (concerns(inv, code == PMIX_GROUP_LEADER_FAILED ? affected : source, l))
            on_own_event(inv, code, source, affected, l, handled);
}

/* ---- invite and join ------------------------------------------------------------- */

static const pmix_status_t codes[] = {
    PMIX_GROUP_INVITE_ACCEPTED, PMIX_GROUP_INVITE_DECLINED,    PMIX_GROUP_INVITE_FAILED,
    PMIX_GROUP_CONSTRUCT_ABORT, PMIX_GROUP_CONSTRUCT_COMPLETE, PMIX_GROUP_LEADER_FAILED,
    PMIX_GROUP_LEADER_SELECTED,
};

/* Creates the state of an invite or join. Returns NULL, and ends op, on failure. */
static struct invitation *begin(struct px_api *op, bool leads)
{
    struct px_client *client = op->client;
    const struct px_event_watch watch = {on_event, client};
    uint32_t seconds = px_info_u32(op->args.info.v, op->args.info.n, PMIX_TIMEOUT, 0);
    struct invitation *inv = calloc(1, sizeof(*inv));
    pmix_status_t rc = inv ? PMIX_SUCCESS : PMIX_ERR_NOMEM;

    if (!rc) {
        inv->timer = px_timer_create(client->loop, on_deadline, inv);
        rc = inv->timer
                 ? px_notify_watch(client->notify, codes, PX_COUNT(codes), &watch)
                 : PMIX_ERR_NOMEM;
    }
    if (rc) {
        if (inv)
            px_timer_free(inv->timer);
        free(inv);
        px_api_done(op, rc);
        return NULL;
    }
    inv->client = client;
    inv->op = op;
    inv->leads = leads;
    px_list_append(&client->invitations, &inv->link);
    if (seconds)
        px_timer_set(inv->timer, seconds * 1000ull);
    return inv;
}

/* Adds one process, or all ranks of a job, without this process. */
static pmix_status_t add_invited(struct invitation *inv, const pmix_proc_t *p)
{
    const struct px_model *m = inv->client->model;
    const struct px_nspace *ns = px_nspace_find(m, p->nspace);
    const bool all = p->rank == PMIX_RANK_WILDCARD;
    pmix_rank_t first = all ? 0 : p->rank, n = all ? ns ? ns->job_size : 0 : 1;
    pmix_proc_t *grown;

    if (n == 0)
        return PMIX_ERR_NOT_FOUND;
    if (inv->n_procs + n > MAX_INVITED)
        return PMIX_ERR_OUT_OF_RESOURCE;
    grown = realloc(inv->procs, (inv->n_procs + n) * sizeof(*grown));
    if (!grown)
        return PMIX_ERR_NOMEM;
    inv->procs = grown;
    for (pmix_rank_t r = first; r < first + n; r++) {
        px_proc_set(&inv->procs[inv->n_procs], p->nspace, r);
        inv->n_procs += !px_proc_same(&inv->procs[inv->n_procs], &m->self);
    }
    return PMIX_SUCCESS;
}

static bool is_alone(struct px_api *op)
{
    if (!op->client->standalone && px_notify_is_client(op->client->notify))
        return false;
    px_api_done(op,
                op->client->channel.send ? PMIX_ERR_NOT_SUPPORTED : PMIX_ERR_UNREACH);
    return true;
}

void px_group_invite(struct px_api *op)
{
    struct invitation *inv = is_alone(op) ? NULL : begin(op, true);
    pmix_status_t rc = PMIX_SUCCESS;

    if (!inv)
        return;
    for (size_t i = 0; !rc && i < op->args.n_procs; i++)
        rc = add_invited(inv, &op->args.procs[i]);
    inv->n_waiting = inv->n_procs;
    inv->answers = calloc(inv->n_procs + 1, sizeof(*inv->answers));
    if (!rc && !inv->answers)
        rc = PMIX_ERR_NOMEM;
    if (!rc && inv->n_procs > 0)
        rc = send_event(op, PMIX_GROUP_INVITED, inv->procs, inv->n_procs, false, NULL,
                        on_sent, inv);
    if (rc)
        end(inv, rc);
    else if (inv->n_procs == 0)
        conclude(inv);
}

void px_group_join(struct px_api *op)
{
    const pmix_proc_t *leader = op->args.procs;
    const size_t n = op->args.n_procs;
    struct invitation *inv;
    pmix_status_t rc;

    if (is_alone(op))
        return;
    if (!op->args.accept) {
        rc = send_event(op, PMIX_GROUP_INVITE_DECLINED, leader, n, false, NULL,
                        px_api_status_reply, op);
        if (rc)
            px_api_done(op, rc);
        return;
    }
    inv = begin(op, false);
    if (!inv)
        return;
    if (n > 0)
        inv->leader = *leader;
    rc = send_event(op, PMIX_GROUP_INVITE_ACCEPTED, leader, n, true, NULL, on_sent,
                    inv);
    if (rc)
        end(inv, rc);
}

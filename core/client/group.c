/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: construct, destruct, leave, invite, join. */
#include "core/model/group.h"

#include "core/base/str.h"
#include "core/client/ask.h"

struct group_op {
    struct px_ask ask;
    char name[PMIX_MAX_NSLEN + 1];
    const pmix_proc_t
        *procs; /* members; of invite who is invited, of join the leader */
    size_t n_procs;
    const pmix_info_t *info;
    size_t n_info;
    bool accept;
};

static const struct px_arg args[] = {
    PX_ARGS(struct group_op, procs, n_procs, PMIX_PROC),
    PX_ARGS(struct group_op, info, n_info, PMIX_INFO),
    PX_ARGS_END,
};

/* ---- construct ------------------------------------------------------------------------------ */

static bool is_since(const struct px_version *v, unsigned major, unsigned minor,
                     unsigned release)
{
    if (v->major != major)
        return v->major > major;
    return v->minor != minor ? v->minor > minor : v->release >= release;
}

/* What each release of the field's servers answers after the status. */
struct constructed {
    pmix_proc_t *procs; /* NULL: not told */
    size_t n_procs;
    size_t context; /* SIZE_MAX: none */
    px_infos infos;
};

static pmix_status_t read_extras(px_reader *r, px_infos *infos)
{
    size_t n;
    pmix_status_t rc = px_unpack_size(r, &n);

    for (; !rc && n > 0; n--) {
        pmix_info_t one;

        rc = px_unpack1(r, &one, PMIX_INFO);
        if (rc)
            break;
        rc = px_infos_add_copy(infos, &one, 1);
        px_type_destruct(PMIX_INFO, &one);
    }
    return rc;
}

static pmix_status_t read_context(px_reader *r, const struct px_version *v,
                                  size_t *context)
{
    bool given = true;
    pmix_status_t rc = is_since(v, 6, 0, 0) ? px_unpack1(r, &given, PMIX_BOOL)
                                            : PMIX_SUCCESS;

    return rc || !given ? rc : px_unpack_size(r, context);
}

static pmix_status_t read_constructed(px_reader *r, struct constructed *c)
{
    const struct px_version *v = &px_process.channel->server_version;
    pmix_status_t answer, rc = px_unpack_status(r, &answer);

    if (rc || answer)
        return rc ? rc : answer;
    if (!px_reader_done(r) && is_since(v, 4, 2, 4))
        rc = px_unpack_procs(r, &c->procs, &c->n_procs);
    if (!rc && !px_reader_done(r))
        rc = read_context(r, v, &c->context);
    if (rc || px_reader_done(r))
        return rc;
    if (is_since(v, 6, 1, 0))
        return read_extras(r, &c->infos);
    return is_since(v, 5, 0, 2) ? px_client_store_jobs(r) : PMIX_SUCCESS;
}

static pmix_status_t take_results(struct group_op *op, struct constructed *c)
{
    pmix_data_array_t members = {
        .type = PMIX_PROC, .size = c->n_procs, .array = c->procs};
    pmix_status_t rc = PMIX_SUCCESS;

    if (c->context != SIZE_MAX)
        rc = px_infos_add(&c->infos, PMIX_GROUP_CONTEXT_ID, &c->context, PMIX_SIZE);
    if (!rc && c->n_procs > 0)
        rc = px_infos_add(&c->infos, PMIX_GROUP_MEMBERSHIP, &members, PMIX_DATA_ARRAY);
    if (!rc && c->n_procs > 0)
        rc = px_group_put(px_process.model, op->name, c->procs, c->n_procs);
    else if (!rc)
        rc = px_group_put(px_process.model, op->name, op->procs, op->n_procs);
    if (rc)
        return rc;
    op->ask.results = c->infos.v;
    op->ask.n_results = c->infos.n;
    c->infos = (px_infos){0};
    return PMIX_SUCCESS;
}

static void on_constructed(void *arg, pmix_status_t status, px_reader *reply)
{
    struct group_op *op = arg;
    struct constructed c = {.context = SIZE_MAX};

    if (!status)
        status = read_constructed(reply, &c);
    if (!status)
        status = take_results(op, &c);
    free(c.procs);
    px_infos_cleanup(&c.infos);
    px_api_done(&op->ask.api, status);
}

static void begin(const struct group_op *op, px_writer *w, uint8_t command)
{
    px_channel_begin(px_process.channel, w, command);
    px_pack_str(w, op->name);
}

static void on_construct(struct px_api *api)
{
    struct group_op *op = PX_CONTAINER_OF(api, struct group_op, ask.api);
    px_writer w;

    begin(op, &w, PX_OP_GROUP_CONSTRUCT);
    px_pack_procs(&w, op->procs, op->n_procs);
    px_pack_infos(&w, op->info, op->n_info);
    px_api_request(api, &w, on_constructed);
}

/* ---- destruct and leave --------------------------------------------------------------------- */

static void on_left(void *arg, pmix_status_t status, px_reader *reply)
{
    struct group_op *op = arg;
    pmix_status_t answer = px_api_answer(status, reply);

    if (!answer)
        px_group_remove(px_group_find(px_process.model, op->name));
    px_api_done(&op->ask.api, answer);
}

/* Servers up to 4.2.3 know the members; later ones are told them. */
static void on_destruct(struct px_api *api)
{
    struct group_op *op = PX_CONTAINER_OF(api, struct group_op, ask.api);
    const struct px_group *g = px_group_find(px_process.model, op->name);
    px_writer w;

    begin(op, &w, PX_OP_GROUP_DESTRUCT);
    if (is_since(&px_process.channel->server_version, 4, 2, 4))
        px_pack_procs(&w, g ? g->procs : NULL, g ? g->n_procs : 0);
    px_pack_infos(&w, op->info, op->n_info);
    px_api_request(api, &w, on_left);
}

static void on_leave(struct px_api *api)
{
    struct group_op *op = PX_CONTAINER_OF(api, struct group_op, ask.api);
    px_writer w;

    begin(op, &w, PX_OP_GROUP_LEAVE);
    px_pack_infos(&w, op->info, op->n_info);
    px_api_request(api, &w, on_left);
}

/* ---- invite and join ------------------------------------------------------------------------ */

/* The field's clients never send these two commands: they do with events what we leave to the
 * server, whichever it is, to refuse. */
static void on_invite(struct px_api *api)
{
    struct group_op *op = PX_CONTAINER_OF(api, struct group_op, ask.api);
    px_writer w;

    begin(op, &w, PX_OP_GROUP_INVITE);
    px_pack_procs(&w, op->procs, op->n_procs);
    px_pack_infos(&w, op->info, op->n_info);
    px_ask_send(&op->ask, &w);
}

static void on_join(struct px_api *api)
{
    struct group_op *op = PX_CONTAINER_OF(api, struct group_op, ask.api);
    px_writer w;

    begin(op, &w, PX_OP_GROUP_JOIN);
    px_pack_procs(&w, op->procs, op->n_procs);
    px_pack(&w, &op->accept, 1, PMIX_BOOL);
    px_pack_infos(&w, op->info, op->n_info);
    px_ask_send(&op->ask, &w);
}

/* ---- the public functions ------------------------------------------------------------------- */

/* Fills op in. PMIX_ERR_INIT, PMIX_ERR_BAD_PARAM; whoever constructs or invites names processes. */
static pmix_status_t make(struct group_op *op, void (*start)(struct px_api *api),
                          const char *grp, const pmix_proc_t *procs, size_t n_procs,
                          const pmix_info_t *info, size_t n_info)
{
    bool wants_procs = start == on_construct || start == on_invite;
    pmix_status_t rc = px_api_check(procs, n_procs, info, n_info);

    *op = (struct group_op){.ask.api = {.start = start, .args = args},
                            .procs = procs,
                            .n_procs = n_procs,
                            .info = info,
                            .n_info = n_info};
    if (rc)
        return rc;
    return grp && grp[0] && px_str_copy(op->name, sizeof op->name, grp) &&
                   !(wants_procs && n_procs == 0)
               ? PMIX_SUCCESS
               : PMIX_ERR_BAD_PARAM;
}

/* Both refuse an answer that would reach nobody. */
static pmix_status_t post_ask(struct group_op *op, pmix_info_cbfunc_t cb, void *cbdata)
{
    return cb ? px_ask_post(&op->ask, sizeof *op, cb, cbdata) : PMIX_ERR_BAD_PARAM;
}

static pmix_status_t post(struct group_op *op, pmix_op_cbfunc_t cb, void *cbdata)
{
    op->ask.api.cb = cb;
    op->ask.api.cbdata = cbdata;
    return cb ? px_api_post(&op->ask.api, sizeof *op) : PMIX_ERR_BAD_PARAM;
}

PX_EXPORT pmix_status_t PMIx_Group_construct(const char grp[],
                                             const pmix_proc_t procs[], size_t nprocs,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_t **results,
                                             size_t *nresults)
{
    struct group_op op;
    pmix_status_t rc = make(&op, on_construct, grp, procs, nprocs, directives, ndirs);

    return rc ? rc : px_ask_wait(&op.ask, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Group_construct_nb(const char grp[],
                                                const pmix_proc_t procs[],
                                                size_t nprocs,
                                                const pmix_info_t directives[],
                                                size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                void *cbdata)
{
    struct group_op op;
    pmix_status_t rc = make(&op, on_construct, grp, procs, nprocs, directives, ndirs);

    return rc ? rc : post_ask(&op, cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_destruct(const char grp[],
                                            const pmix_info_t directives[],
                                            size_t ndirs)
{
    struct group_op op;
    pmix_status_t rc = make(&op, on_destruct, grp, NULL, 0, directives, ndirs);

    return rc ? rc : px_api_wait(&op.ask.api);
}

PX_EXPORT pmix_status_t PMIx_Group_destruct_nb(const char grp[],
                                               const pmix_info_t directives[],
                                               size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                               void *cbdata)
{
    struct group_op op;
    pmix_status_t rc = make(&op, on_destruct, grp, NULL, 0, directives, ndirs);

    return rc ? rc : post(&op, cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_leave(const char grp[],
                                         const pmix_info_t directives[], size_t ndirs)
{
    struct group_op op;
    pmix_status_t rc = make(&op, on_leave, grp, NULL, 0, directives, ndirs);

    return rc ? rc : px_api_wait(&op.ask.api);
}

PX_EXPORT pmix_status_t PMIx_Group_leave_nb(const char grp[],
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct group_op op;
    pmix_status_t rc = make(&op, on_leave, grp, NULL, 0, directives, ndirs);

    return rc ? rc : post(&op, cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[],
                                          size_t nprocs, const pmix_info_t directives[],
                                          size_t ndirs, pmix_info_t **results,
                                          size_t *nresults)
{
    struct group_op op;
    pmix_status_t rc = make(&op, on_invite, grp, procs, nprocs, directives, ndirs);

    return rc ? rc : px_ask_wait(&op.ask, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Group_invite_nb(const char grp[],
                                             const pmix_proc_t procs[], size_t nprocs,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                             void *cbdata)
{
    struct group_op op;
    pmix_status_t rc = make(&op, on_invite, grp, procs, nprocs, directives, ndirs);

    return rc ? rc : post_ask(&op, cbfunc, cbdata);
}

static pmix_status_t make_join(struct group_op *op, const char *grp,
                               const pmix_proc_t *leader, pmix_group_opt_t opt,
                               const pmix_info_t *info, size_t n_info)
{
    pmix_status_t rc = make(op, on_join, grp, leader, leader ? 1 : 0, info, n_info);

    op->accept = opt == PMIX_GROUP_ACCEPT;
    return !rc && !op->accept && opt != PMIX_GROUP_DECLINE ? PMIX_ERR_BAD_PARAM : rc;
}

PX_EXPORT pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t *leader,
                                        pmix_group_opt_t opt,
                                        const pmix_info_t directives[], size_t ndirs,
                                        pmix_info_t **results, size_t *nresults)
{
    struct group_op op;
    pmix_status_t rc = make_join(&op, grp, leader, opt, directives, ndirs);

    return rc ? rc : px_ask_wait(&op.ask, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t *leader,
                                           pmix_group_opt_t opt,
                                           const pmix_info_t directives[], size_t ndirs,
                                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct group_op op;
    pmix_status_t rc = make_join(&op, grp, leader, opt, directives, ndirs);

    return rc ? rc : post_ask(&op, cbfunc, cbdata);
}

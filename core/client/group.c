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
    pmix_op_cbfunc_t op_cb;
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
    const struct px_version *v = &px_process.model->uplink.server_version;
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
    px_uplink_begin(&px_process.model->uplink, w, command);
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
    pmix_status_t answer = status;

    if (!status && px_unpack_status(reply, &answer))
        answer = PMIX_ERR_UNPACK_FAILURE;
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
    if (is_since(&px_process.model->uplink.server_version, 4, 2, 4))
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

static pmix_status_t set_name(struct group_op *op, const char *grp)
{
    pmix_status_t rc = px_api_check(op->procs, op->n_procs, op->info, op->n_info);

    if (!rc && (!grp || !grp[0] || !px_str_copy(op->name, sizeof op->name, grp)))
        rc = PMIX_ERR_BAD_PARAM;
    return rc;
}

/* Those who must name processes, and those whose answer would reach nobody, are refused. */
static pmix_status_t post(struct group_op *op, const char *grp, bool wants_procs)
{
    pmix_status_t rc = set_name(op, grp);

    if (!rc && ((wants_procs && op->n_procs == 0) || (!op->ask.cb && !op->op_cb)))
        rc = PMIX_ERR_BAD_PARAM;
    op->ask.api.args = args;
    return rc ? rc : px_api_post(&op->ask.api, sizeof *op);
}

static pmix_status_t wait_for(struct group_op *op, const char *grp, bool wants_procs,
                              pmix_info_t **results, size_t *n)
{
    pmix_status_t rc = set_name(op, grp);

    if (!rc && wants_procs && op->n_procs == 0)
        rc = PMIX_ERR_BAD_PARAM;
    return rc ? rc : px_ask_wait(&op->ask, results, n);
}

static void finish_op(struct px_api *api)
{
    struct group_op *op = PX_CONTAINER_OF(api, struct group_op, ask.api);

    op->op_cb(api->status, op->ask.cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_construct(const char grp[],
                                             const pmix_proc_t procs[], size_t nprocs,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_t **results,
                                             size_t *nresults)
{
    struct group_op op = {.ask.api = {.start = on_construct},
                          .procs = procs,
                          .n_procs = nprocs,
                          .info = directives,
                          .n_info = ndirs};

    return wait_for(&op, grp, true, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Group_construct_nb(const char grp[],
                                                const pmix_proc_t procs[],
                                                size_t nprocs,
                                                const pmix_info_t directives[],
                                                size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                void *cbdata)
{
    struct group_op op = {
        .ask = {.api = {.start = on_construct, .finish = px_ask_finish},
                .cb = cbfunc,
                .cbdata = cbdata},
        .procs = procs,
        .n_procs = nprocs,
        .info = directives,
        .n_info = ndirs};

    return post(&op, grp, true);
}

PX_EXPORT pmix_status_t PMIx_Group_destruct(const char grp[],
                                            const pmix_info_t directives[],
                                            size_t ndirs)
{
    struct group_op op = {
        .ask.api = {.start = on_destruct}, .info = directives, .n_info = ndirs};

    return wait_for(&op, grp, false, NULL, NULL);
}

PX_EXPORT pmix_status_t PMIx_Group_destruct_nb(const char grp[],
                                               const pmix_info_t directives[],
                                               size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                               void *cbdata)
{
    struct group_op op = {
        .ask = {.api = {.start = on_destruct, .finish = finish_op}, .cbdata = cbdata},
        .info = directives,
        .n_info = ndirs,
        .op_cb = cbfunc};

    return post(&op, grp, false);
}

PX_EXPORT pmix_status_t PMIx_Group_leave(const char grp[],
                                         const pmix_info_t directives[], size_t ndirs)
{
    struct group_op op = {
        .ask.api = {.start = on_leave}, .info = directives, .n_info = ndirs};

    return wait_for(&op, grp, false, NULL, NULL);
}

PX_EXPORT pmix_status_t PMIx_Group_leave_nb(const char grp[],
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    struct group_op op = {
        .ask = {.api = {.start = on_leave, .finish = finish_op}, .cbdata = cbdata},
        .info = directives,
        .n_info = ndirs,
        .op_cb = cbfunc};

    return post(&op, grp, false);
}

PX_EXPORT pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[],
                                          size_t nprocs, const pmix_info_t directives[],
                                          size_t ndirs, pmix_info_t **results,
                                          size_t *nresults)
{
    struct group_op op = {.ask.api = {.start = on_invite},
                          .procs = procs,
                          .n_procs = nprocs,
                          .info = directives,
                          .n_info = ndirs};

    return wait_for(&op, grp, true, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Group_invite_nb(const char grp[],
                                             const pmix_proc_t procs[], size_t nprocs,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                             void *cbdata)
{
    struct group_op op = {.ask = {.api = {.start = on_invite, .finish = px_ask_finish},
                                  .cb = cbfunc,
                                  .cbdata = cbdata},
                          .procs = procs,
                          .n_procs = nprocs,
                          .info = directives,
                          .n_info = ndirs};

    return post(&op, grp, true);
}

static bool is_option(pmix_group_opt_t opt)
{
    return opt == PMIX_GROUP_ACCEPT || opt == PMIX_GROUP_DECLINE;
}

PX_EXPORT pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t *leader,
                                        pmix_group_opt_t opt,
                                        const pmix_info_t directives[], size_t ndirs,
                                        pmix_info_t **results, size_t *nresults)
{
    struct group_op op = {.ask.api = {.start = on_join},
                          .procs = leader,
                          .n_procs = leader ? 1 : 0,
                          .info = directives,
                          .n_info = ndirs,
                          .accept = opt == PMIX_GROUP_ACCEPT};

    if (px_initialized() && !is_option(opt))
        return PMIX_ERR_BAD_PARAM;
    return wait_for(&op, grp, false, results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t *leader,
                                           pmix_group_opt_t opt,
                                           const pmix_info_t directives[], size_t ndirs,
                                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    struct group_op op = {.ask = {.api = {.start = on_join, .finish = px_ask_finish},
                                  .cb = cbfunc,
                                  .cbdata = cbdata},
                          .procs = leader,
                          .n_procs = leader ? 1 : 0,
                          .info = directives,
                          .n_info = ndirs,
                          .accept = opt == PMIX_GROUP_ACCEPT};

    if (px_initialized() && !is_option(opt))
        return PMIX_ERR_BAD_PARAM;
    return post(&op, grp, false);
}

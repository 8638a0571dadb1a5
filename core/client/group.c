/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups: construct, destruct, leave, invite, join. */
#include "core/base/str.h"
#include "core/client/client.h"
#include "core/client/group.h"
#include "core/model/group_values.h"
#include "core/model/nspace.h"

#include <string.h>

/* ---- members of groups ----------------------------------------------------------- */

static struct px_group *find_group(const struct px_client *client, const char *name)
{
    PX_LIST_EACH (&client->groups, struct px_group, g, link)
        if (strcmp(g->name, name) == 0)
            return g;
    return NULL;
}

static void forget_group(struct px_client *client, const char *name)
{
    struct px_group *g = find_group(client, name);

    if (g)
        px_list_remove(&g->link);
    free(g);
}

/* Stores a group; replaces a group of the same name. */
static pmix_status_t keep_group(struct px_client *client, const char *name,
                                const pmix_proc_t *procs, size_t n)
{
    struct px_group *g = calloc(1, sizeof(*g) + n * sizeof(*procs));

    if (!g)
        return PMIX_ERR_NOMEM;
    px_str_copy(g->name, sizeof(g->name), name);
    g->n_procs = n;
    if (n)
        memcpy(g->procs, procs, n * sizeof(*procs));
    forget_group(client, name);
    px_list_append(&client->groups, &g->link);
    return PMIX_SUCCESS;
}

/* ---- construct ------------------------------------------------------------------- */

/* Stores the values that a member shares. The array has the member's name first. */
static pmix_status_t store_shared(struct px_client *client, const pmix_value_t *value,
                                  size_t context)
{
    const pmix_info_t *infos;
    const pmix_proc_t *member;
    struct px_nspace *ns;
    size_t n;
    pmix_status_t rc;

    if (!px_value_infos(value, &infos, &n) || n == 0 ||
        infos->value.type != PMIX_PROC || !infos->value.data.proc)
        return PMIX_ERR_UNPACK_FAILURE;
    member = infos->value.data.proc;
    rc = px_nspace_get(client->model, member->nspace, &ns);
    return rc ? rc
              : px_group_values_put(ns, PX_GDS_REMOTE, member->rank, infos + 1, n - 1,
                                    context);
}

/* Reads the values that members share, each in an array, or all in one array. */
static pmix_status_t read_shared(struct px_client *client, px_reader *r, size_t context)
{
    size_t n, n_all;
    pmix_status_t rc = px_unpack_size(r, &n);

    for (; !rc && n > 0; n--) {
        const pmix_info_t *all;
        pmix_info_t one;

        rc = px_unpack1(r, &one, PMIX_INFO);
        if (rc)
            break;
        if (strcmp(one.key, PMIX_GROUP_INFO) == 0)
            rc = store_shared(client, &one.value, context);
        else if (px_value_infos(&one.value, &all, &n_all))
            for (size_t i = 0; !rc && i < n_all; i++)
                rc = store_shared(client, &all[i].value, context);
        px_type_destruct(PMIX_INFO, &one);
    }
    return rc;
}

/* Answer to construct after the status. Releases of OpenPMIx differ in it. */
struct constructed {
    pmix_proc_t *procs; /* NULL if the answer does not contain members */
    size_t n_procs;
    size_t context; /* SIZE_MAX if the answer does not contain a context */
    px_infos infos;
};

static pmix_status_t read_constructed(struct px_client *client, px_reader *r,
                                      struct constructed *c)
{
    const struct px_version *v = &client->channel.server_version;
    pmix_status_t rc = PMIX_SUCCESS;
    bool given = true;

    if (!px_reader_done(r) && px_version_since(v, 4, 2, 4))
        rc = px_unpack_procs(r, &c->procs, &c->n_procs);
    if (!rc && !px_reader_done(r) && px_version_since(v, 6, 0, 0))
        rc = px_unpack1(r, &given, PMIX_BOOL);
    if (!rc && !px_reader_done(r) && given)
        rc = px_unpack_size(r, &c->context);
    if (rc || px_reader_done(r))
        return rc;
    if (px_version_since(v, 6, 1, 0))
        return read_shared(client, r, c->context);
    return px_version_since(v, 5, 0, 2) ? px_client_store_jobs(client, r, NULL)
                                        : PMIX_SUCCESS;
}

/* Makes the results, which take the members. A server of this library knows all
 * members, if the request names them all. */
static pmix_status_t take_results(struct px_api *op, struct constructed *c,
                                  bool is_request_enough)
{
    const struct px_args *args = &op->args;
    const bool has_members = c->n_procs > 0;
    const pmix_data_array_t none = {.type = PMIX_PROC};
    pmix_status_t rc;

    rc = px_infos_add(&c->infos, PMIX_GROUP_ID, args->text, PMIX_STRING);
    if (!rc && c->context != SIZE_MAX)
        rc = px_infos_add(&c->infos, PMIX_GROUP_CONTEXT_ID, &c->context, PMIX_SIZE);
    if (!rc && has_members)
        rc = px_infos_add(&c->infos, PMIX_GROUP_MEMBERSHIP, &none, PMIX_DATA_ARRAY);
    if (!rc)
        rc = has_members && !is_request_enough
                 ? keep_group(op->client, args->text, c->procs, c->n_procs)
                 : keep_group(op->client, args->text, args->procs, args->n_procs);
    if (rc)
        return rc;
    if (has_members) {
        pmix_data_array_t *members = c->infos.v[c->infos.n - 1].value.data.darray;

        members->array = px_take(&c->procs);
        members->size = c->n_procs;
    }
    op->n_results = c->infos.n;
    op->results = px_take(&c->infos.v);
    c->infos.n = 0;
    return PMIX_SUCCESS;
}

pmix_status_t px_group_constructed(struct px_api *op, pmix_status_t status,
                                   px_reader *reply)
{
    struct constructed c = {.context = SIZE_MAX};
    pmix_status_t rc;

    status = px_api_answer(status, reply);
    if (!status || status == PMIX_ERR_PARTIAL_SUCCESS) {
        rc = read_constructed(op->client, reply, &c);
        if (!rc)
            rc = take_results(op, &c, false);
        status = rc ? rc : status;
    }
    free(c.procs);
    px_infos_cleanup(&c.infos);
    return status;
}

/* Copies the infos. The values that this process shares begin with its name, as servers
 * since 6.1 expect. */
static pmix_status_t name_shared(const struct px_client *client, const px_infos *in,
                                 px_infos *out)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < in->n; i++) {
        const pmix_info_t *info = &in->v[i], *given;
        px_infos own = {0};
        size_t n;

        if (strcmp(info->key, PMIX_GROUP_INFO) != 0 ||
            !px_value_infos(&info->value, &given, &n) || n == 0 ||
            given->value.type == PMIX_PROC) {
            rc = px_infos_add_copy(out, info, 1);
            continue;
        }
        rc = px_infos_add(&own, PMIX_PROCID, &client->model->self, PMIX_PROC);
        if (!rc)
            rc = px_infos_add_copy(&own, given, n);
        if (!rc)
            rc = px_infos_add_array(out, PMIX_GROUP_INFO, &own);
        px_infos_cleanup(&own);
    }
    return rc;
}

pmix_status_t px_group_name_shared(const struct px_client *client, struct px_args *args,
                                   px_infos *named)
{
    pmix_status_t rc;

    if (!px_version_since(&client->channel.server_version, 6, 1, 0) ||
        !px_info_find(args->info.v, args->info.n, PMIX_GROUP_INFO))
        return PMIX_SUCCESS;
    rc = name_shared(client, &args->info, named);
    args->info = *named;
    return rc;
}

static void on_constructed(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *op = arg;

    px_api_done(op, px_group_constructed(op, status, reply));
}

/* Completes a construction by all ranks of the job, which are the members. */
static void on_woken(struct px_api *op, bool has_number, uint64_t number)
{
    const struct px_nspace *own = op->client->model->own;
    struct constructed c = {.procs = calloc(own->job_size, sizeof(*c.procs)),
                            .context = (size_t)number};
    pmix_status_t rc = has_number ? PMIX_SUCCESS : PMIX_ERR_NOT_FOUND;

    if (!rc && !c.procs)
        rc = PMIX_ERR_NOMEM;
    for (; !rc && c.n_procs < own->job_size; c.n_procs++)
        px_proc_set(&c.procs[c.n_procs], own->name, (pmix_rank_t)c.n_procs);
    if (!rc)
        rc = take_results(op, &c, true);
    free(c.procs);
    px_infos_cleanup(&c.infos);
    px_api_done(op, rc);
}

/* True if the request has no directive besides a context id: a number is then the whole
 * result. */
static bool is_plain(const px_infos *l)
{
    for (size_t i = 0; i < l->n; i++)
        if (!PMIx_Check_key(l->v[i].key, PMIX_GROUP_ASSIGN_CONTEXT_ID) &&
            !PMIx_Check_key(l->v[i].key, PMIX_GROUP_LOCAL_ONLY))
            return false;
    return true;
}

static bool is_listed(const struct px_client *client)
{
    const struct px_nspace *own = client->model->own;

    return own && own->job_size <= PX_GROUP_MOST_LISTED;
}

static void on_construct(struct px_api *op)
{
    PX_AUTO(px_infos) named = {0};
    struct px_args args = op->args;
    pmix_status_t rc = px_group_name_shared(op->client, &args, &named);

    op->reply = on_constructed;
    if (rc)
        px_api_done(op, rc);
    else if (!is_plain(&args.info) || !is_listed(op->client) ||
             !px_client_sleep(op, &args, on_constructed))
        px_api_send_args(op, &args);
}

pmix_status_t px_group_made(struct px_api *op, const pmix_proc_t *procs, size_t n)
{
    struct constructed c = {.n_procs = n, .context = SIZE_MAX};
    PX_AUTOFREE void *copy = NULL;
    pmix_status_t rc = px_type_copy_array(PMIX_PROC, &copy, procs, n);

    c.procs = copy;
    if (!rc)
        rc = take_results(op, &c, false);
    if (!c.procs)
        (void)px_take(&copy);
    px_infos_cleanup(&c.infos);
    return rc;
}

/* ---- destruct and leave ---------------------------------------------------------- */

static void on_left(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_api *op = arg;

    status = px_api_answer(status, reply);
    if (!status)
        forget_group(op->client, op->args.text);
    px_api_done(op, status);
}

/* Adds the members, which servers since 4.2.4 expect in the message. */
static void on_destruct(struct px_api *op)
{
    struct px_group *g = find_group(op->client, op->args.text);
    struct px_args args = op->args;

    args.procs = g ? g->procs : NULL;
    args.n_procs = g ? g->n_procs : 0;
    if (!px_version_since(&op->client->channel.server_version, 4, 2, 4))
        op->request = &px_request_group_destruct_old;
    px_api_send_args(op, &args);
}

/* ---- the public functions -------------------------------------------------------- */

static struct px_api make(const struct px_request *request, const char *grp,
                          const pmix_info_t *info, size_t n_info)
{
    return (struct px_api){
        .request = request,
        .args = {.text = (char *)grp, .info = px_infos_borrow(info, n_info)},
        .invalid = !grp || !grp[0] ||
                   strnlen(grp, PMIX_MAX_NSLEN + 1) > PMIX_MAX_NSLEN};
}

/* Makes a request with processes. */
static struct px_api make_with(const struct px_request *request, const char *grp,
                               const pmix_proc_t *procs, size_t n_procs,
                               const pmix_info_t *info, size_t n_info)
{
    struct px_api op = make(request, grp, info, n_info);

    if (request == &px_request_group_construct)
        op.start = on_construct;
    else
        op.start = request == &px_request_group_invite ? px_group_invite
                                                       : px_group_join;
    op.args.procs = (pmix_proc_t *)procs;
    op.args.n_procs = n_procs;
    return op;
}

static struct px_api make_join(const char *grp, const pmix_proc_t *leader,
                               pmix_group_opt_t opt, const pmix_info_t *info,
                               size_t n_info)
{
    struct px_api op = make_with(&px_request_group_join, grp, leader, leader ? 1 : 0,
                                 info, n_info);

    op.args.accept = opt == PMIX_GROUP_ACCEPT;
    op.invalid |= opt != PMIX_GROUP_ACCEPT && opt != PMIX_GROUP_DECLINE;
    return op;
}

/* Makes a request to destruct or leave. */
static struct px_api make_end(const struct px_request *request, const char *grp,
                              const pmix_info_t *info, size_t n)
{
    struct px_api op = make(request, grp, info, n);

    op.start = request == &px_request_group_destruct ? on_destruct : NULL;
    op.reply = on_left;
    return op;
}

/* post_infos and post refuse a call without a callback. */
static pmix_status_t post_infos(struct px_api op, pmix_info_cbfunc_t cb, void *cbdata)
{
    op.invalid |= !cb;
    return px_api_infos_nb(op, cb, cbdata);
}

static pmix_status_t post(struct px_api op, pmix_op_cbfunc_t cb, void *cbdata)
{
    op.invalid |= !cb;
    return px_api_call_nb(op, cb, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_construct(const char grp[],
                                             const pmix_proc_t procs[], size_t nprocs,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_t **results,
                                             size_t *nresults)
{
    struct px_blocking_op f = {.op = make_with(&px_request_group_construct, grp, procs,
                                               nprocs, directives, ndirs),
                               .woken = on_woken};
    pmix_status_t rc = px_api_check(&f.op);

    if (rc)
        return rc;
    rc = px_api_wait(&f.op);
    px_api_give(&f.op, results, nresults);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_Group_construct_nb(const char grp[],
                                                const pmix_proc_t procs[],
                                                size_t nprocs,
                                                const pmix_info_t directives[],
                                                size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                                void *cbdata)
{
    return post_infos(
        make_with(&px_request_group_construct, grp, procs, nprocs, directives, ndirs),
        cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_destruct(const char grp[],
                                            const pmix_info_t directives[],
                                            size_t ndirs)
{
    return px_api_call(make_end(&px_request_group_destruct, grp, directives, ndirs));
}

PX_EXPORT pmix_status_t PMIx_Group_destruct_nb(const char grp[],
                                               const pmix_info_t directives[],
                                               size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                               void *cbdata)
{
    return post(make_end(&px_request_group_destruct, grp, directives, ndirs), cbfunc,
                cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_leave(const char grp[],
                                         const pmix_info_t directives[], size_t ndirs)
{
    return px_api_call(make_end(&px_request_group_leave, grp, directives, ndirs));
}

PX_EXPORT pmix_status_t PMIx_Group_leave_nb(const char grp[],
                                            const pmix_info_t directives[],
                                            size_t ndirs, pmix_op_cbfunc_t cbfunc,
                                            void *cbdata)
{
    return post(make_end(&px_request_group_leave, grp, directives, ndirs), cbfunc,
                cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_invite(const char grp[], const pmix_proc_t procs[],
                                          size_t nprocs, const pmix_info_t directives[],
                                          size_t ndirs, pmix_info_t **results,
                                          size_t *nresults)
{
    return px_api_infos(
        make_with(&px_request_group_invite, grp, procs, nprocs, directives, ndirs),
        results, nresults);
}

PX_EXPORT pmix_status_t PMIx_Group_invite_nb(const char grp[],
                                             const pmix_proc_t procs[], size_t nprocs,
                                             const pmix_info_t directives[],
                                             size_t ndirs, pmix_info_cbfunc_t cbfunc,
                                             void *cbdata)
{
    return post_infos(
        make_with(&px_request_group_invite, grp, procs, nprocs, directives, ndirs),
        cbfunc, cbdata);
}

PX_EXPORT pmix_status_t PMIx_Group_join(const char grp[], const pmix_proc_t *leader,
                                        pmix_group_opt_t opt,
                                        const pmix_info_t directives[], size_t ndirs,
                                        pmix_info_t **results, size_t *nresults)
{
    return px_api_infos(make_join(grp, leader, opt, directives, ndirs), results,
                        nresults);
}

PX_EXPORT pmix_status_t PMIx_Group_join_nb(const char grp[], const pmix_proc_t *leader,
                                           pmix_group_opt_t opt,
                                           const pmix_info_t directives[], size_t ndirs,
                                           pmix_info_cbfunc_t cbfunc, void *cbdata)
{
    return post_infos(make_join(grp, leader, opt, directives, ndirs), cbfunc, cbdata);
}

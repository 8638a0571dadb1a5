/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_IOF_push: sends input to other processes, from the program or from standard
 * input. */
#include "core/client/client.h"
#include "core/iof/iof_input.h"
#include "core/link/required.h"
#include "core/rt/log.h"

/* ---- standard input -------------------------------------------------------------- */

/* Stops reading. Frees the pusher, unless an answer is pending: that answer frees the
 * pusher. */
static void stop(struct px_stdin_pusher *p)
{
    px_iof_input_close(px_take(&p->input));
    if (!p->under_way)
        px_stdin_pusher_free(p->client->receivers);
}

static void on_chunk_pushed(void *arg, pmix_status_t status, px_reader *reply)
{
    struct px_stdin_pusher *p = arg;

    status = px_api_answer(status, reply);
    p->under_way = false;
    if (status) {
        /* Nothing is reported when this process leaves (PMIX_ERR_UNREACH), or when the
         * server ends after the end of the input. */
        if (status != PMIX_ERR_UNREACH &&
            (p->input || status != PMIX_ERR_LOST_CONNECTION))
            px_log(PX_LOG_ERROR, "iof", "cannot push standard input: %s",
                   PMIx_Error_string(status));
        stop(p);
    } else if (p->input) {
        px_iof_input_go_on(p->input);
    } else {
        stop(p);
    }
}

/* Pushes a chunk; an empty chunk is the end of the input. */
static void on_chunk(void *arg, const uint8_t *bytes, size_t n)
{
    struct px_stdin_pusher *p = arg;
    struct px_channel *up = px_uplink_way_to(p->client, &p->server);
    struct px_args args = p->args;
    pmix_status_t rc;

    args.bytes = (pmix_byte_object_t){.bytes = (char *)(uintptr_t)bytes, .size = n};
    rc = up ? px_channel_ask(up, &px_request_iof_push, &args, on_chunk_pushed, p)
            : PMIX_ERR_LOST_CONNECTION;
    p->under_way = !rc;
    if (rc && up) /* otherwise this process leaves, or an event reports the loss */
        px_log(PX_LOG_ERROR, "iof", "cannot push standard input: %s",
               PMIx_Error_string(rc));
    if (rc || n == 0)
        stop(p);
}

static void on_push_stdin(struct px_api *api)
{
    struct px_iof_receivers *all = api->client->receivers;
    struct px_stdin_pusher *p = all->pusher ? NULL : calloc(1, sizeof(*p));
    const struct px_iof_input_user user = {.take = on_chunk, .arg = p};
    struct px_err err = {0};
    pmix_status_t rc = all->pusher ? PMIX_ERR_RESOURCE_BUSY
                       : p         ? px_loop_need_thread(api->loop)
                                   : PMIX_ERR_NOMEM;

    if (!rc) {
        p->client = api->client;
        p->args = api->args;
        rc = px_args_copy(&p->args, px_request_iof_push.args);
    }
    if (rc) {
        free(p);
        px_api_done(api, rc);
        return;
    }
    px_infos_drop(&p->args.info, PMIX_IOF_PUSH_STDIN);
    p->server = api->client->channel.server;
    all->pusher = p;
    rc = px_iof_input_open(api->loop, &user, &p->input, &err);
    if (rc) {
        px_log(PX_LOG_ERROR, "iof", "cannot push standard input: %s", err.text);
        px_stdin_pusher_free(all);
    } else {
        px_iof_input_go_on(p->input);
    }
    px_api_done(api, rc);
}

/* Ends the input of the named targets. Without targets ends the input of the standard
 * input's targets. */
static void on_push_end(struct px_api *api)
{
    struct px_stdin_pusher *p = api->client->receivers->pusher;
    struct px_args args = api->args;

    if (p && args.n_procs == 0) {
        args.procs = p->args.procs;
        args.n_procs = p->args.n_procs;
    }
    px_api_send_args(api, &args);
    if (p && p->input && args.procs == p->args.procs)
        stop(p);
}

/* ---- push ------------------------------------------------------------------------ */

static pmix_status_t check(const struct px_args *args, bool of_stdin, bool ends)
{
    const px_infos *info = &args->info;
    bool none = args->n_procs == 0;

    if (px_info_flag(info->v, info->n, PMIX_IOF_DROP_OLDEST) &&
        px_info_flag(info->v, info->n, PMIX_IOF_DROP_NEWEST))
        return PMIX_ERR_BAD_PARAM;
    if (of_stdin)
        return none || ends || args->bytes.size > 0 ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
    return none && !ends ? PMIX_ERR_BAD_PARAM : PMIX_SUCCESS;
}

/* Refuses required directives about reading standard input. The server refuses other
 * directives at the first chunk. */
static pmix_status_t check_reading(const pmix_info_t *info, size_t n)
{
    static const char *const keys[] = {PMIX_IOF_BUFFERING_SIZE,
                                       PMIX_IOF_BUFFERING_TIME};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        for (size_t k = 0; !rc && k < PX_COUNT(keys); k++)
            if (PMIx_Check_key(info[i].key, keys[k]))
                rc = px_required_check("PMIx_IOF_push", NULL, &info[i], 1);
    return rc;
}

PX_EXPORT pmix_status_t PMIx_IOF_push(const pmix_proc_t targets[], size_t ntargets,
                                      pmix_byte_object_t *bo,
                                      const pmix_info_t directives[], size_t ndirs,
                                      pmix_op_cbfunc_t cbfunc, void *cbdata)
{
    struct px_api op = {.request = &px_request_iof_push,
                        .args = {.procs = (pmix_proc_t *)targets,
                                 .n_procs = ntargets,
                                 .info = px_infos_borrow(directives, ndirs),
                                 .bytes = bo ? *bo : (pmix_byte_object_t){0}},
                        .cb = cbfunc,
                        .cbdata = cbdata};
    pmix_status_t rc = px_api_check(&op);

    if (rc)
        return rc;
    bool of_stdin = px_info_flag(directives, ndirs, PMIX_IOF_PUSH_STDIN);
    bool ends = px_info_flag(directives, ndirs, PMIX_IOF_COMPLETE);
    if (!bo && !of_stdin && !ends)
        return PMIX_ERR_BAD_PARAM;
    rc = check(&op.args, of_stdin, ends);
    if (!rc && of_stdin)
        rc = check_reading(directives, ndirs);
    if (rc)
        return rc;
    op.start = of_stdin ? on_push_stdin : ends ? on_push_end : NULL;
    return px_api_run(&op, sizeof(op), "PMIx_IOF_push");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Stores what a server has sent about jobs: job information, and values of ranks. */
#include "core/client/client.h"
#include "core/model/jobinfo.h"

#include <string.h>

pmix_status_t px_client_store_job(struct px_client *client, px_reader *r,
                                  struct px_nspace **stored)
{
    struct px_model *m = client->model;
    PX_AUTOFREE char *name = NULL;
    struct px_nspace *ns = NULL;
    pmix_status_t rc = px_unpack_str(r, &name);

    if (!rc && (!name || !name[0] || strlen(name) > PMIX_MAX_NSLEN))
        rc = PMIX_ERR_UNPACK_FAILURE;
    if (!rc)
        rc = px_nspace_get(m, name, &ns);
    if (!rc)
        rc = px_jobinfo_unpack(m, ns, r);
    if (!rc)
        px_nspace_received(m, ns);
    if (!rc && stored)
        *stored = ns;
    return rc;
}

pmix_status_t px_client_store_jobs(struct px_client *client, px_reader *reply,
                                   struct px_nspace **last)
{
    pmix_status_t rc = PMIX_SUCCESS;

    while (!rc && !px_reader_done(reply)) {
        px_reader job;

        rc = px_unpack_view(reply, &job, PMIX_BYTE_OBJECT);
        if (!rc)
            rc = px_client_store_job(client, &job, last);
    }
    return rc;
}

pmix_status_t px_client_read_values(struct px_client *client, pmix_status_t status,
                                    px_reader *reply)
{
    struct px_model *m = client->model;
    pmix_status_t answer, rc = status ? status : px_unpack_status(reply, &answer);

    if (rc || answer)
        return rc ? rc : answer;
    while (!rc && !px_reader_done(reply)) {
        struct px_nspace *ns = NULL;
        px_reader part;
        pmix_proc_t proc;

        rc = px_unpack_view(reply, &part, PMIX_BYTE_OBJECT);
        if (!rc)
            rc = px_unpack1(&part, &proc, PMIX_PROC);
        if (!rc)
            rc = px_nspace_get(m, proc.nspace, &ns);
        if (!rc)
            rc = px_jobinfo_unpack_rank(m, ns, proc.rank, &part);
        if (!rc)
            px_nspace_received(m, ns);
    }
    return rc;
}

pmix_status_t px_client_ask_job(struct px_client *client, const struct px_nspace *ns,
                                bool in_messages, px_reply_fn fn, void *arg)
{
    PX_AUTO(px_infos) info = {0};
    struct px_args args = {.nspace = (char *)(uintptr_t)ns->name,
                           .rank = PMIX_RANK_WILDCARD};
    pmix_status_t rc = in_messages
                           ? px_infos_add(&info, PX_STORE_MESSAGES, NULL, PMIX_BOOL)
                           : PMIX_SUCCESS;

    args.info = info;
    return rc ? rc : px_channel_ask(&client->channel, &px_request_get, &args, fn, arg);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The query for the state of this server. The server answers only its own user and
 * root, because the state names the processes of all users. */
#include "core/config/param.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/query/answers.h"
#include "core/server/section.h"
#include "core/server/server.h"
#include "pmix_tool.h"

#include <stdio.h>
#include <unistd.h>

/* Connections that an answer lists. */
#define MAX_LISTED 1024u

/* ---- sections -------------------------------------------------------------------- */

static pmix_status_t add_server(const struct px_server *srv, px_infos *sections)
{
    const struct px_report_number numbers[] = {
        {"pid", (uint64_t)getpid()},
        {"user", geteuid()},
        {"connections", px_list_length(&srv->peers)},
        {"calls_of_host", px_list_length(&srv->upcalls)},
        {"lost_processes", srv->n_lost},
        {0}};
    const char *const texts[][2] = {{"version", PMIx_Get_version()},
                                    {"namespace", srv->proc.nspace},
                                    {"node", srv->node_name},
                                    {"uri", srv->uri},
                                    {"folder", srv->dir ? srv->dir : ""},
                                    {"host", srv->host ? "built-in" : "module"}};
    px_infos infos = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < PX_COUNT(texts); i++)
        rc = px_infos_add(&infos, texts[i][0], texts[i][1], PMIX_STRING);
    if (!rc)
        rc = px_report_numbers(&infos, numbers);
    return px_report_add(sections, "server", &infos, rc);
}

static pmix_status_t add_connection(const struct px_peer *p, px_infos *section)
{
    const struct px_report_number numbers[] = {
        {"pid", (uint64_t)p->pid}, {"user", p->uid}, {"charged_b", p->pending_b}, {0}};
    char name[PMIX_MAX_NSLEN + 16], version[48];
    px_infos infos = {0};
    pmix_status_t rc = px_infos_add(&infos, "kind", p->tool ? "tool" : "client",
                                    PMIX_STRING);

    snprintf(name, sizeof(name), "%s.%u", p->proc.nspace, p->proc.rank);
    snprintf(version, sizeof(version), "%u.%u.%u", p->version.major, p->version.minor,
             p->version.release);
    if (!rc)
        rc = px_infos_add(&infos, "version", version, PMIX_STRING);
    if (!rc)
        rc = px_report_numbers(&infos, numbers);
    return px_report_add(section, name, &infos, rc);
}

static pmix_status_t add_connections(const struct px_server *srv, px_infos *sections)
{
    px_infos section = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    PX_LIST_EACH (&srv->peers, const struct px_peer, p, link)
        if (!rc && section.n < MAX_LISTED)
            rc = add_connection(p, &section);
    return px_report_add(sections, "connections", &section, rc);
}

static pmix_status_t add_parameter(void *section, const char *name, const char *value,
                                   const char *where)
{
    px_infos infos = {0};
    pmix_status_t rc = px_infos_add(&infos, "value", value ? value : "", PMIX_STRING);

    if (!rc)
        rc = px_infos_add(&infos, "source", where, PMIX_STRING);
    return px_report_add(section, name, &infos, rc);
}

/* Adds the parameters in effect. Leaves them out while another thread starts or ends a
 * role, which may change them. */
static pmix_status_t add_parameters(px_infos *sections)
{
    px_infos section = {0};
    pmix_status_t rc;

    if (!px_process_trylock())
        return PMIX_SUCCESS;
    rc = px_params_walk(px_process.params, add_parameter, &section);
    px_process_unlock();
    return px_report_add(sections, "parameters", &section, rc);
}

/* ---- the answer ------------------------------------------------------------------ */

pmix_status_t px_answer_server(struct px_server *srv, const pmix_query_t *q PX_UNUSED,
                               const char *key, struct px_answers *a)
{
    PX_AUTO(px_infos) sections = {0};
    size_t cost_b = 0;
    pmix_status_t rc = px_user_may(a->req->peer->uid, geteuid())
                           ? px_answers_work(a,
                                             px_list_length(&srv->peers) + MAX_LISTED)
                           : PMIX_ERR_NO_PERMISSIONS;

    if (!rc)
        rc = add_server(srv, &sections);
    for (const struct px_server_part *const *p = srv->parts; !rc && *p; p++)
        if ((*p)->report)
            rc = (*p)->report(srv, &sections);
    if (!rc)
        rc = add_connections(srv, &sections);
    if (!rc)
        rc = add_parameters(&sections);
    for (size_t i = 0; i < sections.n; i++)
        cost_b += px_type_size(PMIX_INFO, &sections.v[i]);
    return rc ? rc : px_answer_array(a, key, sections.v, sections.n, PMIX_INFO, cost_b);
}

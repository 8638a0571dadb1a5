/* SPDX-License-Identifier: BSD-3-Clause */
/* Tools that connect: checked against what the kernel attests, shown to the host, who
 * gives them their name or turns them away, answered. */
#include "core/server/door/door.h"

#include "core/base/str.h"
#include "core/plugin/select.h"
#include "core/server/upcall.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>

#define MAX_VISITS 64 /* whom the host has not answered yet */

/* From the whole connect message to the answer. */
struct visit {
    struct px_server *srv;
    int fd;
    struct px_hello hello;
    struct px_ptl_peer who;
};

bool px_tool_is(const struct px_hello *hello)
{
    return hello->flag != PX_FLAG_CLIENT && hello->flag != PX_FLAG_SINGLETON;
}

/* ---- who it is ------------------------------------------------------------------- */

/* No stranger may take a name that the host has registered, or this server's. */
static pmix_status_t check_name(struct px_server *srv, const struct px_hello *hello,
                                uid_t uid, struct px_err *err)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, hello->proc.nspace);
    const struct px_local *local = px_local_find(srv, &hello->proc);
    const struct px_peer *peer = px_peer_find(srv, &hello->proc);

    if (!hello->proc.nspace[0] || hello->proc.rank > PMIX_RANK_VALID)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "that is no name");
    if (strcmp(hello->proc.nspace, srv->proc.nspace) == 0)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "that is the server's name");
    if (local ? local->uid != uid : ns && ns->hosted)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "the name is not that of a process of uid %u here",
                          (unsigned)uid);
    if (peer && peer->uid != uid)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS, "uid %u has that name",
                          (unsigned)peer->uid);
    return PMIX_SUCCESS;
}

static pmix_status_t check_user(const struct px_server *srv,
                                const struct px_hello *hello,
                                const struct px_ptl_peer *who, struct px_err *err)
{
    const struct px_module *m = px_module_find("psec", hello->psec);
    const struct px_psec_ops *ops;
    pmix_status_t rc;

    if (!who->has_uid || who->uid != hello->uid)
        return px_err_set(err, PMIX_ERR_INVALID_CRED,
                          "the kernel does not confirm its uid");
    if (who->uid != geteuid() && !srv->part.door->tools_foreign)
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "tools of other users are not allowed");
    if (!m)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "security module \"%s\" is not available", hello->psec);
    ops = m->component->ops;
    rc = ops->validate(m->self, hello->cred, hello->cred_len, who->uid, (gid_t)-1, who);
    return rc ? px_err_set(err, rc, "credential refused by psec/%s", hello->psec)
              : PMIX_SUCCESS;
}

pmix_status_t px_tool_check(struct px_server *srv, const struct px_hello *hello,
                            const struct px_ptl_peer *who, struct px_err *err)
{
    pmix_status_t rc;

    if (!srv->part.door->tools || hello->flag == PX_FLAG_TOOL_LEGACY ||
        hello->flag == PX_FLAG_LAUNCHER_LEGACY)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "role %u is not served",
                          hello->flag);
    rc = check_user(srv, hello, who, err);
    if (!rc && hello->has_proc)
        rc = check_name(srv, hello, who->uid, err);
    if (rc)
        return rc;
    if (!px_dialect_find(hello->dialect))
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED, "dialect \"%s\" is not spoken",
                          hello->dialect);
    if (srv->part.door->n_visits >= MAX_VISITS)
        return px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE, "too many tools wait");
    return PMIX_SUCCESS;
}

/* ---- the answer ------------------------------------------------------------------ */

struct words {
    uint8_t bytes[2 * sizeof(pmix_proc_t) + 2 * sizeof(uint32_t)];
    size_t n;
};

static void say(struct words *w, const void *bytes, size_t n)
{
    memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}

static void say_u32(struct words *w, uint32_t n)
{
    uint32_t be = htonl(n);

    say(w, &be, sizeof be);
}

static void say_proc(struct words *w, const pmix_proc_t *p)
{
    say(w, p->nspace, sizeof p->nspace);
    say_u32(w, p->rank);
}

static void answer(const struct visit *v, pmix_status_t status, const pmix_proc_t *name)
{
    struct words w = {.n = 0};

    say_u32(&w, (uint32_t)status);
    if (!status && !v->hello.has_proc)
        say_proc(&w, name);
    if (!status) {
        say_proc(&w, &v->srv->proc);
        say_u32(&w, 0);
    }
    px_door_answer(v->fd, w.bytes, w.n);
}

static void visit_end(struct visit *v)
{
    v->srv->part.door->n_visits--;
    if (v->fd >= 0)
        close(v->fd);
    px_hello_fini(&v->hello);
    free(v);
}

static void turn_away(struct visit *v, pmix_status_t why)
{
    px_log_limited(v->srv->part.door->rate, v->who.uid, why, "server",
                   "tool of uid %u refused: %s", (unsigned)v->who.uid,
                   PMIx_Error_string(why));
    answer(v, why, NULL);
    visit_end(v);
}

static void let_in(struct visit *v, const pmix_proc_t *name)
{
    struct px_peer *peer = px_peer_create(v->srv, v->fd, &v->who, &v->hello);

    if (!peer) {
        turn_away(v, PMIX_ERR_NOMEM);
        return;
    }
    peer->tool = true;
    peer->proc = *name;
    peer->uid = v->who.uid;
    /* Over TCP the kernel attests no group, and a claim is none. */
    peer->gid = v->who.has_gid            ? v->who.gid
                : v->who.uid == geteuid() ? getegid()
                                          : (gid_t)-1;
    px_list_append(&v->srv->peers, &peer->link);
    PX_PARTS_NOTIFY(v->srv, peer_here, peer);
    answer(v, PMIX_SUCCESS, name);
    v->fd = -1; /* the connection's now */
    visit_end(v);
}

/* ---- the host -------------------------------------------------------------------- */

static void on_host_answer(void *arg, const struct px_upcall *host)
{
    struct visit *v = arg;
    pmix_proc_t name = v->hello.proc;

    if (!host->status && !v->hello.has_proc)
        name = host->name;
    pmix_status_t rc = host->status;

    /* The host may have registered the very name while it was asked. */
    if (!rc && v->hello.has_proc)
        rc = check_name(v->srv, &v->hello, v->who.uid, NULL);
    if (rc || v->srv->stopping)
        turn_away(v, rc ? rc : PMIX_ERR_LOST_CONNECTION);
    else if (!name.nspace[0])
        turn_away(v, PMIX_ERR_NOT_FOUND); /* a host that gives no name has none */
    else
        let_in(v, &name);
}

/* Adds the infos of the tool itself, but for those that are known better here. */
static pmix_status_t add_own(const struct visit *v, px_infos *out)
{
    static const char *const known[] = {PMIX_NSPACE, PMIX_RANK,  PMIX_VERSION_INFO,
                                        PMIX_USERID, PMIX_GRPID, PMIX_REALUID,
                                        PMIX_REALGID};
    struct px_codec codec = {.dialect = px_dialect_find(v->hello.dialect),
                             .described = v->hello.described};
    PX_AUTO(px_infos) own = {0};
    pmix_status_t rc = PMIX_SUCCESS;
    px_reader r;

    if (!v->hello.blob)
        return PMIX_SUCCESS;
    px_reader_init(&r, codec, v->hello.blob, v->hello.blob_len);
    if (px_unpack_infos(&r, &own.v, &own.n))
        return PMIX_SUCCESS; /* older ones append what is no information */
    for (size_t i = 0; !rc && i < own.n; i++) {
        size_t k = 0;

        while (k < PX_COUNT(known) && strcmp(own.v[i].key, known[k]) != 0)
            k++;
        if (k == PX_COUNT(known))
            rc = px_infos_add_copy(out, &own.v[i], 1);
    }
    return rc;
}

static pmix_status_t describe(const struct visit *v, px_infos *out)
{
    const struct px_hello *h = &v->hello;
    pmix_status_t rc = add_own(v, out);

    if (!rc)
        rc = px_infos_add(out, PMIX_VERSION_INFO, h->version_text, PMIX_STRING);
    if (!rc)
        rc = px_infos_add(out, PMIX_USERID, &v->who.uid, PMIX_UINT32);
    if (!rc && (v->who.has_gid || v->who.uid == geteuid())) {
        uint32_t gid = v->who.has_gid ? v->who.gid : getegid();

        rc = px_infos_add(out, PMIX_GRPID, &gid, PMIX_UINT32);
    }
    if (!rc && h->has_proc)
        rc = px_infos_add(out, PMIX_NSPACE, h->proc.nspace, PMIX_STRING);
    if (!rc && h->has_proc)
        rc = px_infos_add(out, PMIX_RANK, &h->proc.rank, PMIX_PROC_RANK);
    return rc;
}

static void ask_host(struct visit *v)
{
    const pmix_server_module_t *m = &v->srv->module;
    struct px_upcall *u = px_upcall_new(on_host_answer, v);
    pmix_status_t rc = u ? describe(v, &u->args.info) : PMIX_ERR_NOMEM;

    if (rc) {
        px_upcall_drop(u);
        turn_away(v, rc);
        return;
    }
    if (m->tool_connected2)
        px_upcall_returned(u, m->tool_connected2(u->args.info.v, u->args.info.n,
                                                 px_upcall_tool_cb, u));
    else
        m->tool_connected(u->args.info.v, u->args.info.n, px_upcall_tool_cb, u);
}

void px_tool_visit(struct px_server *srv, int fd, const struct px_ptl_peer *who,
                   struct px_hello *hello)
{
    struct visit *v = calloc(1, sizeof *v);

    if (!v) {
        close(fd);
        return;
    }
    *v = (struct visit){.srv = srv, .fd = fd, .hello = *hello, .who = *who};
    *hello = (struct px_hello){0};
    srv->part.door->n_visits++;
    if (srv->module.tool_connected2 || srv->module.tool_connected)
        ask_host(v);
    else /* the host has no say, so there is none to be had */
        turn_away(v, PMIX_ERR_NOT_SUPPORTED);
}

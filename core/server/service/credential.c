/* SPDX-License-Identifier: BSD-3-Clause */
/* Credentials for a host without functions for them. The components of psec are tried
 * in order. A component whose service may not answer runs in a child process with the
 * ids of the user that asks. Few such children run at a time; other requests wait. */
#include "core/server/service/credential.h"

#include "core/base/clock.h"
#include "core/base/strv.h"
#include "core/base/fd.h"
#include "core/plugin/errand.h"
#include "core/plugin/select.h"
#include "core/reclaim/process.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/req.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/codec.h"
#include "frameworks/framework.h"
#include "tenon/psec.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum {
    MAX_CHILDREN = 4,
    MAX_CRED_B = 65536, /* of a credential */
    MAX_TIMEOUT_S = 1 << 20,
};

struct px_credentials {
    struct px_list requests;
    struct px_list queue; /* requests that wait for a child */
    unsigned n_children;
};

/* The result of a component. */
struct proof {
    uint8_t *cred; /* malloc'd; of issue */
    size_t cred_b;
    uid_t uid; /* of inspect */
    gid_t gid;
};

struct request {
    struct px_list link, queue_link;
    struct px_server *srv;
    struct px_upcall *upcall;
    bool issues; /* false: checks */
    uid_t uid;
    gid_t gid;
    uint64_t end_ms;
    struct px_errand errand;
    pmix_status_t status;
    size_t n, n_tried;
    const struct px_module *modules[];
};

/* ---- the request ----------------------------------------------------------------- */

/* Adds a component to those of a request, once. */
static void add_module(struct request *r, const struct px_module *m)
{
    bool is_new = PX_OPS(psec, m)->issue && PX_OPS(psec, m)->inspect;

    for (size_t i = 0; i < r->n; i++)
        is_new = is_new && r->modules[i] != m;
    if (is_new)
        r->modules[r->n++] = m;
}

/* Chooses the components that serve a request, in the order of PMIX_CRED_TYPE or of
 * their priorities. A validation without a type tries components without a child
 * first. */
static void choose_modules(struct request *r, const px_infos *infos)
{
    const char *types = px_info_str(infos->v, infos->n, PMIX_CRED_TYPE);
    PX_AUTO(px_strv) names = types ? px_strv_split(types, ',', false) : NULL;
    size_t n;
    const struct px_module *m = px_modules("psec", &n);

    for (size_t t = 0; names && names[t]; t++)
        for (size_t i = 0; i < n; i++)
            if (strcmp(names[t], m[i].component->name) == 0)
                add_module(r, &m[i]);
    for (size_t i = 0; !types && !r->issues && i < n; i++)
        if (!(PX_OPS(psec, &m[i])->flags & PX_PSEC_WAITS))
            add_module(r, &m[i]);
    for (size_t i = 0; !types && i < n; i++)
        add_module(r, &m[i]);
}

static pmix_status_t read_timeout(const struct px_server *srv, const px_infos *infos,
                                  uint64_t *end_ms)
{
    const pmix_info_t *info = px_info_find(infos->v, infos->n, PMIX_TIMEOUT);
    uint64_t ms = srv->conf.service_timeout, s = 0;

    if (info && (!px_value_to_u64(&info->value, &s) || s > MAX_TIMEOUT_S))
        return PMIX_ERR_BAD_PARAM;
    if (s > 0 && s * 1000 < ms)
        ms = s * 1000;
    *end_ms = px_clock_ms() + ms;
    return PMIX_SUCCESS;
}

/* ---- the answer ------------------------------------------------------------------ */

static void request_end(struct request *r)
{
    px_list_remove(&r->link);
    px_list_remove(&r->queue_link);
    px_errand_stop(&r->errand);
    free(r);
}

/* Answers with a proof of the component that was tried last. Takes the proof. */
static void succeed(struct request *r, struct proof *proof)
{
    PX_AUTO(px_infos) out = {0};
    pmix_byte_object_t cred = {(char *)proof->cred, proof->cred_b};
    const char *type = r->modules[r->n_tried - 1]->component->name;
    pmix_status_t rc = px_infos_add(&out, PMIX_CRED_TYPE, type, PMIX_STRING);

    if (!rc && !r->issues)
        rc = px_infos_add(&out, PMIX_USERID, &proof->uid, PMIX_UINT32);
    if (!rc && !r->issues)
        rc = px_infos_add(&out, PMIX_GRPID, &proof->gid, PMIX_UINT32);
    if (r->issues)
        px_upcall_credential_cb(rc, &cred, out.v, out.n, r->upcall);
    else
        px_upcall_validation_cb(rc, out.v, out.n, r->upcall);
    free(px_take(&proof->cred));
    request_end(r);
}

static void fail(struct request *r)
{
    if (r->issues)
        px_upcall_credential_cb(r->status, NULL, NULL, 0, r->upcall);
    else
        px_upcall_validation_cb(r->status, NULL, 0, r->upcall);
    request_end(r);
}

/* ---- components ------------------------------------------------------------------ */

static pmix_status_t call(const struct request *r, const struct px_module *m,
                          struct proof *proof)
{
    const struct px_psec_ops *ops = PX_OPS(psec, m);
    const pmix_byte_object_t *cred = &r->upcall->args.bytes;

    return r->issues ? ops->issue(m->self, r->uid, r->gid, &proof->cred, &proof->cred_b)
                     : ops->inspect(m->self, (const uint8_t *)cred->bytes, cred->size,
                                    &proof->uid, &proof->gid);
}

_Noreturn static void run_child(const struct request *r, const struct px_module *m,
                                int out)
{
    struct proof proof = {0};
    PX_AUTO(px_writer) w;

    px_drop_privileges(r->uid, r->gid);
    px_writer_init(&w, px_codec_default);
    px_pack_u32(&w, (uint32_t)call(r, m, &proof));
    px_pack_u32(&w, proof.uid);
    px_pack_u32(&w, proof.gid);
    px_pack_bytes(&w, proof.cred, proof.cred_b);
    _exit(w.status || px_fd_write_all(out, w.buf.data, w.buf.len, 0) ? EXIT_FAILURE
                                                                     : EXIT_SUCCESS);
}

static void try_next(struct request *r);

static pmix_status_t read_answer(const px_buf *answer, struct proof *proof)
{
    px_reader reader;
    uint32_t status, uid, gid;
    pmix_byte_object_t cred = {0};

    px_reader_init(&reader, px_codec_default, answer->data, answer->len);
    if (px_unpack1(&reader, &status, PMIX_UINT32) ||
        px_unpack1(&reader, &uid, PMIX_UINT32) ||
        px_unpack1(&reader, &gid, PMIX_UINT32) || px_unpack_bytes(&reader, &cred))
        return PMIX_ERR_NOT_AVAILABLE;
    *proof = (struct proof){(uint8_t *)cred.bytes, cred.size, uid, gid};
    return (pmix_status_t)status;
}

/* Starts the requests that wait for a child. */
static void start_waiting(struct px_credentials *all)
{
    while (all->n_children < MAX_CHILDREN && !px_list_empty(&all->queue)) {
        struct request *r = PX_CONTAINER_OF(all->queue.next, struct request,
                                            queue_link);
        const uint64_t now = px_clock_ms();
        struct px_err err = {0};
        int out;

        px_list_remove(&r->queue_link);
        if (now >= r->end_ms) {
            r->status = PMIX_ERR_TIMEOUT;
            fail(r);
            continue;
        }
        pid_t pid = px_errand_start(&r->errand, "tenon-psec", r->end_ms - now, &out,
                                    &err);
        if (pid == 0)
            run_child(r, r->modules[r->n_tried - 1], out);
        if (pid < 0) {
            r->status = err.status;
            fail(r);
        } else {
            all->n_children++;
        }
    }
}

static void on_child_end(struct px_errand *e, enum px_errand_end how,
                         int wait_status PX_UNUSED)
{
    struct request *r = PX_CONTAINER_OF(e, struct request, errand);
    struct px_credentials *all = r->srv->part.credentials;
    struct proof proof = {0};

    all->n_children--;
    r->status = how == PX_ERRAND_LATE ? PMIX_ERR_TIMEOUT
                                      : read_answer(&e->answer, &proof);
    px_errand_stop(e);
    if (!r->status)
        succeed(r, &proof);
    else if (how == PX_ERRAND_LATE)
        fail(r);
    else
        try_next(r);
    start_waiting(all);
}

/* Tries components in order, until one succeeds or one needs a child process. */
static void try_next(struct request *r)
{
    struct px_credentials *all = r->srv->part.credentials;

    while (r->n_tried < r->n) {
        const struct px_module *m = r->modules[r->n_tried++];
        struct proof proof = {0};

        if (!(PX_OPS(psec, m)->flags & PX_PSEC_WAITS)) {
            r->status = call(r, m, &proof);
            if (!r->status) {
                succeed(r, &proof);
                return;
            }
        } else if (r->uid != geteuid() && geteuid() != 0) {
            r->status = PMIX_ERR_NO_PERMISSIONS;
        } else {
            px_list_append(&all->queue, &r->queue_link);
            start_waiting(all);
            return;
        }
    }
    fail(r);
}

static pmix_status_t serve(struct px_server *srv, struct px_upcall *u, bool issues)
{
    struct px_req *req = u->arg;
    const struct px_peer *peer = req->peer;
    const gid_t own = peer->uid == geteuid() ? getegid() : (gid_t)-1;
    size_t n;
    uint64_t end_ms;
    struct request *r;
    pmix_status_t rc = read_timeout(srv, &u->args.info, &end_ms);

    if (rc)
        return rc;
    (void)px_modules("psec", &n);
    r = calloc(1, sizeof(*r) + n * sizeof(r->modules[0]));
    if (!r)
        return PMIX_ERR_NOMEM;
    *r = (struct request){
        .srv = srv,
        .upcall = u,
        .issues = issues,
        .uid = peer->uid,
        .gid = peer->gid != (gid_t)-1 ? peer->gid : own,
        .end_ms = end_ms,
        .errand = {.loop = srv->loop, .max_b = 2 * MAX_CRED_B, .done = on_child_end}};
    choose_modules(r, &u->args.info);
    if (r->n == 0)
        rc = PMIX_ERR_NOT_SUPPORTED;
    else if (r->gid == (gid_t)-1)
        rc = PMIX_ERR_NO_PERMISSIONS;
    else if (!issues && u->args.bytes.size > MAX_CRED_B)
        rc = PMIX_ERR_INVALID_CRED;
    if (rc) {
        if (rc == PMIX_ERR_NOT_SUPPORTED)
            px_req_refused(req, u->function,
                           "no component of psec has such credentials");
        free(r);
        return rc;
    }
    px_list_init(&r->queue_link);
    px_list_append(&srv->part.credentials->requests, &r->link);
    try_next(r);
    return PMIX_SUCCESS;
}

pmix_status_t px_credential_issue(struct px_server *srv, struct px_upcall *u)
{
    return serve(srv, u, true);
}

pmix_status_t px_credential_check(struct px_server *srv, struct px_upcall *u)
{
    return serve(srv, u, false);
}

/* ---- the part -------------------------------------------------------------------- */

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    px_list_init(&srv->part.credentials->requests);
    px_list_init(&srv->part.credentials->queue);
    return PMIX_SUCCESS;
}

static void destroy(struct px_server *srv)
{
    PX_LIST_EACH (&srv->part.credentials->requests, struct request, r, link) {
        r->status = PMIX_ERR_LOST_CONNECTION;
        fail(r);
    }
}

const struct px_server_part px_credentials_part = {
    .name = "credentials",
    PX_PART_STATE(credentials, struct px_credentials),
    .create = create,
    .destroy = destroy,
};

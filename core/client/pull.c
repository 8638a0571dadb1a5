/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/client/pull.h"

#include <stdlib.h>

#include "core/rt/log.h"
#include "core/rt/process.h"

/* The function runs in the loop's own thread, which may wait for a lock that a thread
 * holds which waits in one of our calls: its answer may be behind that many bytes. */
#define HANDED_MAX_B ((size_t)16 * 1024 * 1024)

struct pull {
    struct px_iof iof;
    pmix_iof_cbfunc_t fn;
    struct px_list handed; /* to it */
};

/* ---- the program's function ------------------------------------------------------ */

struct handed {
    struct px_msg msg;
    struct px_list link; /* in pull.handed */
    struct pull *of;     /* NULL: it has gone */
    struct px_args args;
};

static void settle(struct pull *p)
{
    if (p->iof.ending && px_list_empty(&p->handed))
        px_iof_gone(&p->iof);
}

static void on_handed(struct px_msg *msg)
{
    struct handed *h = PX_CONTAINER_OF(msg, struct handed, msg);
    struct px_args *a = &h->args;
    struct pull *p = h->of;

    if (p) {
        p->fn(p->iof.id, a->channels, a->procs, &a->bytes, a->info.v, a->info.n);
        px_list_remove(&h->link);
        px_iof_hold(&p->iof, -(ssize_t)a->bytes.size);
        settle(p);
    }
    px_args_cleanup(a);
    free(h);
}

/* In the order in which they came. */
static void hand(struct pull *p, struct px_args *piece)
{
    struct handed *h = malloc(sizeof(*h));
    bool is_next = px_list_empty(&p->handed);

    if (!h) {
        px_log(PX_LOG_ERROR, "iof", "forwarded output lost: no memory");
        return;
    }
    *h = (struct handed){.msg.run = on_handed, .of = p, .args = *piece};
    *piece = (struct px_args){0};
    px_list_append(&p->handed, &h->link);
    px_iof_hold(&p->iof, (ssize_t)h->args.bytes.size);
    if (!is_next) {
        h->msg.for_user = true;
        px_post(px_process.loop, &h->msg);
    } else if (!px_loop_defer(px_process.loop, &h->msg)) {
        on_handed(&h->msg);
    }
}

/* ---- a receiver ------------------------------------------------------------------ */

static void pull_take(struct px_iof *iof, struct px_args *piece)
{
    hand(PX_CONTAINER_OF(iof, struct pull, iof), piece);
}

static void pull_flush(struct px_iof *iof PX_UNUSED)
{
}

static void pull_end(struct px_iof *iof)
{
    settle(PX_CONTAINER_OF(iof, struct pull, iof));
}

static void pull_destroy(struct px_iof *iof)
{
    struct pull *p = PX_CONTAINER_OF(iof, struct pull, iof);

    PX_LIST_EACH (&p->handed, struct handed, h, link) {
        px_list_remove(&h->link);
        h->of = NULL;
    }
    free(p);
}

static const struct px_iof_ops ops = {
    .take = pull_take, .flush = pull_flush, .end = pull_end, .destroy = pull_destroy};

pmix_status_t px_pull_create(pmix_iof_cbfunc_t fn, struct px_iof **iof)
{
    struct pull *p = calloc(1, sizeof(*p));

    if (!p)
        return PMIX_ERR_NOMEM;
    p->iof.ops = &ops;
    p->iof.limit_b = HANDED_MAX_B;
    p->fn = fn;
    px_list_init(&p->handed);
    *iof = &p->iof;
    return PMIX_SUCCESS;
}

void px_pull_destroy(struct px_iof *iof)
{
    if (iof)
        iof->ops->destroy(iof);
}

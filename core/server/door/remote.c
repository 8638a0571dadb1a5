/* SPDX-License-Identifier: BSD-3-Clause */
/* The child process that validates credentials. It serves one check after the other, so
 * that a flood of connections costs the server no forks. A check without an answer ends
 * the child, and the next check starts another. Server and child exchange packets. */
#include "core/server/door/remote.h"

#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/reclaim/jobs.h"
#include "core/reclaim/process.h"
#include "core/rt/child.h"
#include "core/rt/log.h"
#include "core/server/door/door.h"
#include "core/server/server.h"
#include "frameworks/framework.h"
#include "tenon/psec.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    MAX_PROOF_B = 4096, /* of a credential */
    CHECK_MS = 3000,    /* limit of a check */
};

struct answer {
    int32_t status;
    uint32_t uid, gid;
};

struct px_remote {
    struct px_server *server;
    struct px_loop *loop;
    const struct px_module *psec;
    struct px_list waiting;        /* checks, oldest first */
    struct px_remote_check *asked; /* the child has it; NULL: cancelled, or none */
    bool is_busy;                  /* the child has not answered yet */
    pid_t pid;                     /* 0: no child */
    int fd;
    struct px_watch *watch;
    struct px_timer *limit; /* of the check that the child has */
    struct px_timer *turn;  /* starts a check outside of px_remote_check */
};

/* ---- in the child ---------------------------------------------------------------- */

_Noreturn static void run_child(const struct px_module *psec, int fd)
{
    uint8_t cred[MAX_PROOF_B];

    for (;;) {
        const ssize_t n = PX_RETRY(recv(fd, cred, sizeof(cred), 0));
        uid_t uid = (uid_t)-1;
        gid_t gid = (gid_t)-1;
        struct answer a;

        if (n <= 0)
            _exit(EXIT_SUCCESS); /* the server has ended */
        a.status = PX_OPS(psec, psec)->inspect(psec->self, cred, (size_t)n, &uid, &gid);
        a.uid = uid;
        a.gid = gid;
        if (PX_RETRY(send(fd, &a, sizeof(a), MSG_NOSIGNAL)) != sizeof(a))
            _exit(EXIT_FAILURE);
    }
}

/* ---- in the server --------------------------------------------------------------- */

static void end_child(struct px_remote *r)
{
    px_watch_free(px_take(&r->watch)); /* before its descriptor is closed */
    px_drop_fd(&r->fd);
    px_timer_clear(r->limit);
    r->is_busy = false;
    if (r->pid > 0) {
        kill(r->pid, SIGKILL);
        px_child_forget(r->loop, r->pid);
    }
    r->pid = 0;
}

/* Ends the present check, and has the next one begin. */
static void settle(struct px_remote *r, const struct answer *a)
{
    struct px_remote_check *c = r->asked;

    r->asked = NULL;
    r->is_busy = false;
    px_timer_clear(r->limit);
    if (!px_list_empty(&r->waiting))
        px_timer_set(r->turn, 0);
    if (c)
        c->done(c, a->status, a->uid, a->gid);
}

static void lose_child(struct px_remote *r, pmix_status_t why)
{
    const struct answer a = {.status = why};

    end_child(r);
    settle(r, &a);
}

static void on_answer(void *arg, int fd, unsigned events PX_UNUSED)
{
    struct px_remote *r = arg;
    struct answer a;
    const ssize_t n = PX_RETRY(recv(fd, &a, sizeof(a), 0));

    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return;
    if (n == sizeof(a) && r->is_busy)
        settle(r, &a);
    else
        lose_child(r, PMIX_ERR_NOT_AVAILABLE);
}

static void on_end(void *arg, pid_t pid PX_UNUSED, int wait_status PX_UNUSED)
{
    struct px_remote *r = arg;

    r->pid = 0;
    lose_child(r, PMIX_ERR_NOT_AVAILABLE);
}

static void on_limit(void *arg)
{
    struct px_remote *r = arg;

    px_log_limited(r->server->part.door->rate, (uid_t)-1, PMIX_ERR_TIMEOUT, "server",
                   "cannot check a credential: psec/%s does not answer within %d ms",
                   r->psec->component->name, CHECK_MS);
    lose_child(r, PMIX_ERR_TIMEOUT);
}

static pmix_status_t start_child(struct px_remote *r)
{
    int ends[2];
    const int errnum = px_reclaim_socket(ends);

    if (errnum)
        return px_reclaim_status(errnum);
    PX_AUTOCLOSE int far_end = ends[1];
    r->fd = ends[0];
    r->watch = px_watch_create(r->loop, r->fd, PX_READABLE, on_answer, r);
    r->pid = r->watch ? px_reclaim_fork_component("tenon-remote", far_end) : -1;
    if (r->pid == 0)
        run_child(r->psec, far_end);
    if (r->pid > 0 && !px_child_watch(r->loop, r->pid, on_end, r))
        return PMIX_SUCCESS;
    end_child(r);
    return PMIX_ERR_OUT_OF_RESOURCE;
}

/* Gives the oldest check to the child. */
static void on_turn(void *arg)
{
    struct px_remote *r = arg;
    pmix_status_t rc = PMIX_SUCCESS;

    if (r->is_busy || px_list_empty(&r->waiting))
        return;
    r->asked = PX_CONTAINER_OF(r->waiting.next, struct px_remote_check, link);
    px_list_remove(&r->asked->link);
    if (r->fd < 0)
        rc = start_child(r);
    if (!rc &&
        PX_RETRY(send(r->fd, r->asked->cred, r->asked->cred_b, MSG_NOSIGNAL)) < 0)
        rc = PMIX_ERR_NOT_AVAILABLE;
    if (rc) {
        lose_child(r, rc);
        return;
    }
    r->is_busy = true;
    px_timer_set(r->limit, CHECK_MS);
}

pmix_status_t px_remote_check(struct px_remote *r, struct px_remote_check *c)
{
    if (c->cred_b == 0 || c->cred_b > MAX_PROOF_B)
        return PMIX_ERR_INVALID_CRED;
    px_list_append(&r->waiting, &c->link);
    if (!r->is_busy)
        px_timer_set(r->turn, 0);
    return PMIX_SUCCESS;
}

void px_remote_cancel(struct px_remote *r, struct px_remote_check *c)
{
    px_list_remove(&c->link);
    if (r && r->asked == c)
        r->asked = NULL; /* the child's answer will be dropped */
}

struct px_remote *px_remote_create(struct px_server *srv, const struct px_module *psec)
{
    struct px_remote *r = calloc(1, sizeof(*r));

    if (!r)
        return NULL;
    r->server = srv;
    r->loop = srv->loop;
    r->psec = psec;
    r->fd = -1;
    px_list_init(&r->waiting);
    r->limit = px_timer_create(r->loop, on_limit, r);
    r->turn = px_timer_create(r->loop, on_turn, r);
    if (r->limit && r->turn)
        return r;
    px_remote_destroy(r);
    return NULL;
}

void px_remote_destroy(struct px_remote *r)
{
    if (!r)
        return;
    if (r->limit)
        end_child(r);
    px_timer_free(r->limit);
    px_timer_free(r->turn);
    free(r);
}

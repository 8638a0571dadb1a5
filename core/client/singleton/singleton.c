/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of a singleton that need a server. The first request starts a thread, which
 * starts the host and connects to it, because both wait. Requests are kept
 * meanwhile. */
#include "core/client/singleton/singleton.h"

#include "core/base/clock.h"
#include "core/base/fd.h"
#include "core/client/client.h"
#include "core/os/os.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"
#include "core/rt/owner.h"

#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/socket.h>

struct px_singleton {
    struct px_client *client;
    pthread_t thread;
    bool has_thread;
    bool is_starting;       /* requests are kept */
    int keepalive;          /* -1: no host */
    struct px_msg *kept;    /* requests in order; each is the msg of a struct px_api */
    struct px_msg **at_end; /* end of kept */
};

/* ---- the thread ------------------------------------------------------------------ */

/* Sends the kept requests. After a failure of the start they fail with
 * PMIX_ERR_UNREACH. */
static void on_started(struct px_call *call, void *singleton)
{
    struct px_singleton *s = singleton;
    struct px_msg *next = px_take(&s->kept);

    s->is_starting = false;
    while (next) {
        struct px_api *op = PX_CONTAINER_OF(next, struct px_api, msg);

        next = next->next;
        px_api_send(op);
    }
    px_call_done(call, PMIX_SUCCESS);
}

static uint64_t left_ms(uint64_t deadline_ms)
{
    uint64_t now_ms = px_clock_ms();

    return deadline_ms > now_ms ? deadline_ms - now_ms : 1;
}

/* Starts the host and connects to it, as PMIx_Init with PMIX_SERVER_URI does. */
static pmix_status_t start_and_connect(struct px_singleton *s, struct px_start *start)
{
    const struct px_client_conf *conf = &s->client->role->conf;
    const uint64_t deadline_ms = px_clock_ms() + conf->singleton_timeout;
    struct px_server_addr *addr = &start->addr;
    PX_AUTOFREE char *uri = NULL;
    pmix_status_t rc = px_singleton_start_host(conf->singleton_program,
                                               &s->client->model->self, deadline_ms,
                                               &s->keepalive, &uri, &start->err);

    if (!rc)
        rc = px_server_addr_from_uri(addr, uri, &start->err);
    if (rc)
        return rc;
    addr->flag = PX_FLAG_CLIENT;
    addr->self = s->client->model->self;
    addr->has_owner = true;
    addr->owner = geteuid();
    rc = px_server_addr_connect(addr, left_ms(deadline_ms), &start->err);
    return rc ? rc : px_client_start(start);
}

static void *run(void *singleton)
{
    struct px_singleton *s = singleton;
    struct px_start start = {.client = s->client, .addr = {.fd = -1}, .primary = true};
    pmix_status_t rc = start_and_connect(s, &start);

    if (rc) {
        px_drop_fd(&s->keepalive); /* ends a host that runs */
        px_log(PX_LOG_ERROR, "client", "cannot start a host for this singleton: %s",
               start.err.text[0] ? start.err.text : PMIx_Error_string(rc));
    }
    (void)px_call(s->client->loop, on_started, s);
    return NULL;
}

/* ---- requests: on the loop ------------------------------------------------------- */

static pmix_status_t start_thread(struct px_singleton *s, struct px_err *err)
{
    sigset_t all, was;

    if (px_os_is_setuid()) /* the user's program must not start one of ours */
        return px_err_set(err, PMIX_ERR_NO_PERMISSIONS,
                          "the program has more rights than its user");
    pmix_status_t rc = px_modules_open_deferred(err); /* not in the thread */
    if (rc)
        return rc;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &was);
    int errnum = pthread_create(&s->thread, NULL, run, s);
    pthread_sigmask(SIG_SETMASK, &was, NULL);
    s->has_thread = s->is_starting = errnum == 0;
    return errnum == 0 ? PMIX_SUCCESS
                       : px_err_set(err, PMIX_ERR_OUT_OF_RESOURCE,
                                    "cannot start a thread: %s", strerror(errnum));
}

/* Begins a start. Returns false if memory is exhausted. */
static bool begin(struct px_client *client)
{
    struct px_singleton *s = calloc(1, sizeof(*s));
    struct px_err err = {0};

    if (!s)
        return false;
    s->client = client;
    s->keepalive = -1;
    s->at_end = &s->kept;
    client->role->singleton = s;
    if (start_thread(s, &err))
        px_log(PX_LOG_ERROR, "client", "cannot start a host for this singleton: %s",
               err.text);
    return true;
}

/* True if a request of this process may start a host. */
static bool may_have_host(const struct px_client *client)
{
    const struct px_client_role *role = client->role;

    return client->standalone && role && role->role == PX_ROLE_CLIENT &&
           role->self_named && role->conf.singleton_host;
}

void px_singleton_send(struct px_api *op)
{
    struct px_client *client = op->client;

    if (may_have_host(client) && !client->role->singleton && !begin(client)) {
        px_api_done(op, PMIX_ERR_NOMEM);
        return;
    }
    struct px_singleton *s = client->role ? client->role->singleton : NULL;
    if (!s || !s->is_starting) {
        px_api_send(op);
        return;
    }
    op->msg.next = NULL;
    *s->at_end = &op->msg;
    s->at_end = &op->msg.next;
}

/* ---- end ------------------------------------------------------------------------- */

static void on_settle(struct px_call *call, void *args)
{
    struct px_client *client = args;

    client->role->conf.singleton_host = false;
    px_call_done(call, PMIX_SUCCESS);
}

void px_singleton_settle(struct px_client *client)
{
    (void)px_call(client->loop, on_settle, client);
    struct px_singleton *s = client->role->singleton;
    if (s && s->has_thread)
        pthread_join(s->thread, NULL);
    if (s)
        s->has_thread = false;
}

void px_singleton_end(struct px_client *client)
{
    struct px_singleton *s = px_take(&client->role->singleton);
    const uint64_t limit_ms = client->role->conf.finalize_timeout;

    if (s && s->keepalive >= 0) {
        (void)shutdown(s->keepalive, SHUT_WR);
        if (px_fd_await(s->keepalive, POLLIN, px_clock_ms() + limit_ms))
            px_log(
                PX_LOG_ERROR, "client",
                "PMIx_Finalize: the host of this singleton has not ended within %llu "
                "ms (client_finalize_timeout)",
                (unsigned long long)limit_ms);
        close(s->keepalive);
    }
    free(s);
}

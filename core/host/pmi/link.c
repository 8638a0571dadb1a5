/* SPDX-License-Identifier: BSD-3-Clause */
/* The socket of one process: reads whole messages, one after the other, and writes
 * replies. A process that does not read its replies gets no further ones. */
#include "core/host/pmi/link.h"

#include "core/base/map.h"
#include "core/base/strv.h"
#include "core/host/job.h"
#include "core/host/pmi/pmi.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/host.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

enum { LENGTH_B = 6 }; /* decimal length before each message of PMI-2 */

/* ---- the end --------------------------------------------------------------------- */

/* Ends the present request. */
static void settle(struct px_pmi *pmi)
{
    pmi->task->job->n_pmi_waits -= pmi->waits;
    pmi->waits = false;
    pmi->busy = NULL;
    free(px_take(&pmi->key));
}

void px_pmi_end(struct px_pmi *pmi, pmix_status_t why, const char *text)
{
    const struct px_task *task = pmi->task;
    struct px_proxy *proxy = px_take(&pmi->proxy);

    if (text)
        px_log(PX_LOG_WARN, "pmi", "cannot serve rank %u of %s: %s", task->rank,
               task->job->proc.nspace, text);
    px_watch_free(px_take(&pmi->watch));
    px_drop_fd(&pmi->fd);
    settle(pmi);
    free(px_take(&pmi->in));
    px_buf_cleanup(&pmi->out);
    px_server_proxy_close(proxy, why);
    px_pmi_check_waits(task->job);
}

/* ---- replies --------------------------------------------------------------------- */

void px_pmi_reply(struct px_pmi *pmi, const char *name)
{
    pmi->out.len = 0;
    if (px_buf_reserve(&pmi->out, PX_PMI_MESSAGE_B))
        return; /* px_pmi_send ends the link */
    const char *form = pmi->version == 1 ? "cmd=%s" : "      cmd=%s;";
    pmi->out.len = (size_t)snprintf((char *)pmi->out.data, PX_PMI_MESSAGE_B, form,
                                    name);
    if (pmi->version == 2 && pmi->thread[0])
        px_pmi_add(pmi, "thrid", "%s", pmi->thread);
}

void px_pmi_add(struct px_pmi *pmi, const char *key, const char *fmt, ...)
{
    char *text = (char *)pmi->out.data;
    va_list args;

    if (!text || pmi->out.len >= PX_PMI_MESSAGE_B)
        return;
    size_t at = pmi->out.len;
    at += (size_t)snprintf(text + at, PX_PMI_MESSAGE_B - at,
                           pmi->version == 1 ? " %s=" : "%s=", key);
    if (at < PX_PMI_MESSAGE_B) {
        va_start(args, fmt);
        at += (size_t)vsnprintf(text + at, PX_PMI_MESSAGE_B - at, fmt, args);
        va_end(args);
    }
    if (at < PX_PMI_MESSAGE_B && pmi->version == 2)
        text[at++] = ';';
    pmi->out.len = at;
}

/* Writes the reply as far as there is room. */
static void flush(struct px_pmi *pmi)
{
    ssize_t n = PX_RETRY(
        send(pmi->fd, pmi->out.data, pmi->out.len, MSG_DONTWAIT | MSG_NOSIGNAL));

    if (n < 0 && errno != EAGAIN) {
        px_pmi_end(pmi, PMIX_ERR_LOST_CONNECTION, NULL);
        return;
    }
    n = n < 0 ? 0 : n;
    memmove(pmi->out.data, pmi->out.data + n, pmi->out.len - (size_t)n);
    pmi->out.len -= (size_t)n;
}

void px_pmi_send(struct px_pmi *pmi)
{
    char digits[LENGTH_B + 1];

    settle(pmi);
    if (pmi->out.len == 0 || pmi->out.len >= PX_PMI_MESSAGE_B) {
        px_pmi_end(pmi, PMIX_SUCCESS, "no memory is left");
        return;
    }
    if (pmi->version == 1) {
        pmi->out.data[pmi->out.len++] = '\n';
    } else {
        snprintf(digits, sizeof(digits), "%6u", (unsigned)(pmi->out.len - LENGTH_B));
        memcpy(pmi->out.data, digits, LENGTH_B);
    }
    flush(pmi);
}

/* ---- requests -------------------------------------------------------------------- */

/* Removes n bytes from the front. */
static void consume(struct px_pmi *pmi, size_t n)
{
    pmi->n_in -= n;
    memmove(pmi->in, pmi->in + n, pmi->n_in);
}

/* Reads a line of a spawn request. The last line is the "endcmd" of the last block. */
static void spawn_line(struct px_pmi *pmi, const char *line)
{
    if (sscanf(line, "totspawns=%u", &pmi->n_spawns) == 1 ||
        sscanf(line, "spawnssofar=%u", &pmi->spawn) == 1 || strcmp(line, "endcmd") != 0)
        return;
    if (pmi->spawn < pmi->n_spawns)
        return;
    pmi->spawning = false;
    px_pmi_refuse_spawn(pmi);
}

/* Finds the text of the first message: *text, its end, and the bytes of the whole
 * message. False: more bytes must come, or the link has ended. */
static bool find_message(struct px_pmi *pmi, char **text, size_t *end, size_t *size_b)
{
    unsigned n = 0;

    if (pmi->version == 1) {
        const char *line_end = memchr(pmi->in, '\n', pmi->n_in);

        *text = pmi->in;
        *end = line_end ? (size_t)(line_end - pmi->in) : 0;
        *size_b = *end + 1;
        return line_end != NULL;
    }
    for (size_t i = 0; i < LENGTH_B && i < pmi->n_in; i++) {
        if (pmi->in[i] >= '0' && pmi->in[i] <= '9') {
            n = 10 * n + (unsigned)(pmi->in[i] - '0');
        } else if (pmi->in[i] != ' ') {
            px_pmi_end(pmi, PMIX_SUCCESS, "its message has no length");
            return false;
        }
    }
    if (pmi->n_in < LENGTH_B)
        return false;
    *text = pmi->in + LENGTH_B;
    *end = n;
    *size_b = LENGTH_B + n;
    if (*size_b < PX_PMI_MESSAGE_B)
        return pmi->n_in >= *size_b;
    px_pmi_end(pmi, PMIX_SUCCESS, "its message is too long");
    return false;
}

/* Serves the text of a message. */
static void serve(struct px_pmi *pmi, char *text)
{
    struct px_pmi_message m;

    if (pmi->spawning)
        spawn_line(pmi, text);
    else if (pmi->version == 1 && strcmp(text, "mcmd=spawn") == 0)
        pmi->spawning = true;
    else if (px_pmi_parse(text, pmi->version, &m))
        px_pmi_serve(pmi, &m);
    else
        px_pmi_end(pmi, PMIX_SUCCESS, "its message cannot be read");
}

/* Serves all whole messages, until one waits for its reply. */
static void serve_all(struct px_pmi *pmi)
{
    size_t end, size_b;
    char *text;

    while (pmi->fd >= 0 && !pmi->busy && pmi->out.len == 0 && pmi->n_in > 0 &&
           find_message(pmi, &text, &end, &size_b)) {
        char message[PX_PMI_MESSAGE_B];

        memcpy(message, text, end);
        message[end] = '\0';
        consume(pmi, size_b);
        serve(pmi, message);
    }
    if (pmi->fd < 0)
        return;
    const bool full = pmi->n_in == PX_PMI_MESSAGE_B;
    const bool held = pmi->busy || pmi->out.len > 0;
    if (full && !held)
        px_pmi_end(pmi, PMIX_SUCCESS, "its message is too long");
    else if (px_watch_set(pmi->watch, (pmi->out.len > 0 ? PX_WRITABLE : 0) |
                                          (full ? 0 : PX_READABLE)))
        px_pmi_end(pmi, PMIX_SUCCESS, "the kernel has no room");
}

void px_pmi_go_on(struct px_pmi *pmi)
{
    if (pmi->fd >= 0)
        serve_all(pmi);
}

static void on_ready(void *arg, int fd, unsigned events)
{
    struct px_pmi *pmi = arg;

    if (pmi->out.len > 0 && events & PX_WRITABLE)
        flush(pmi);
    if (pmi->fd >= 0 && !pmi->in && !(pmi->in = malloc(PX_PMI_MESSAGE_B)))
        px_pmi_end(pmi, PMIX_SUCCESS, "no memory is left");
    if (pmi->fd >= 0 && events & PX_READABLE && pmi->n_in < PX_PMI_MESSAGE_B) {
        ssize_t n = PX_RETRY(
            recv(fd, pmi->in + pmi->n_in, PX_PMI_MESSAGE_B - pmi->n_in, MSG_DONTWAIT));

        if (n > 0)
            pmi->n_in += (size_t)n;
        else if (n == 0 || errno != EAGAIN)
            px_pmi_end(pmi, PMIX_ERR_LOST_CONNECTION, NULL);
    }
    px_pmi_go_on(pmi);
}

/* ---- open and close -------------------------------------------------------------- */

/* Variables of another launcher, which would name its own sockets. */
static const char *const foreign[] = {"PMI_PORT", "PMI_ID", "PMI_SPAWNED",
                                      "PMI_CONTROL_PORT"};

static pmix_status_t set_variables(const struct px_task *task, char ***env)
{
    char rank[16], size[16];
    const char *const vars[][2] = {{"PMI_FD", "3"},
                                   {"PMI_RANK", rank},
                                   {"PMI_SIZE", size},
                                   {"PMI_JOBID", task->job->proc.nspace}};
    pmix_status_t rc = PMIX_SUCCESS;

    snprintf(rank, sizeof(rank), "%u", task->rank);
    snprintf(size, sizeof(size), "%u", task->job->n_tasks);
    for (size_t i = 0; i < PX_COUNT(foreign); i++)
        px_env_unset(*env, foreign[i]);
    for (size_t i = 0; !rc && i < PX_COUNT(vars); i++)
        rc = px_env_set(env, vars[i][0], vars[i][1], true);
    return rc;
}

pmix_status_t px_pmi_open(struct px_task *task, char ***env, int *fd,
                          struct px_err *err)
{
    struct px_pmi *pmi = calloc(1, sizeof(*pmi));
    int ends[2];

    if (!pmi || set_variables(task, env)) {
        free(pmi);
        return px_err_nomem(err, "make a socket for PMI");
    }
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0) {
        pmix_status_t rc = px_err_errno(err, "cannot make a socket for PMI");

        free(pmi);
        return rc;
    }
    *pmi = (struct px_pmi){.task = task, .fd = ends[0], .version = 1};
    *fd = ends[1];
    px_pmi_close(task);
    task->pmi = pmi;
    pmi->watch = px_watch_create(task->job->launcher->loop, pmi->fd, PX_READABLE,
                                 on_ready, pmi);
    return pmi->watch ? PMIX_SUCCESS : px_err_nomem(err, "watch a socket for PMI");
}

void px_pmi_close(struct px_task *task)
{
    struct px_pmi *pmi = px_take(&task->pmi);

    if (!pmi)
        return;
    px_pmi_end(pmi, PMIX_ERR_LOST_CONNECTION, NULL);
    free(pmi);
}

void px_pmi_forget(struct px_launch_job *job)
{
    px_map_fini(&job->pmi_keys);
}

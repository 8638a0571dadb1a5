/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Log for a host without a log function. The rows of a table are channels, each
 * with a standard stream of this process. */
#include "core/server/upcall/plog.h"

#include "core/base/str.h"
#include "core/iof/stream.h"
#include "core/rt/log.h"
#include "core/server/server.h"
#include "core/server/upcall/upcall.h"
#include "core/wire/requests.h"

#include <string.h>

/* ---- channels -------------------------------------------------------------------- */

static const struct channel {
    const char *key;
    int stream; /* index of px_iof_std.of */
} channels[] = {{PMIX_LOG_STDOUT, 0}, {PMIX_LOG_STDERR, 1}};

static const struct channel *find_channel(const pmix_info_t *info)
{
    for (size_t i = 0; i < PX_COUNT(channels); i++)
        if (PMIx_Check_key(info->key, channels[i].key))
            return &channels[i];
    return NULL;
}

/* Checks a request before anything of it is written. *n is how many texts to write. */
static pmix_status_t check(const struct px_args *args, size_t *n)
{
    const px_infos *data = &args->info;

    for (size_t i = *n = 0; i < data->n; i++) {
        const pmix_info_t *info = &data->v[i];

        if (!find_channel(info))
            continue;
        if (info->value.type != PMIX_STRING || !info->value.data.string) {
            px_log(PX_LOG_WARN, "log", "cannot log %s: got %s, expected PMIX_STRING",
                   info->key, PMIx_Data_type_string(info->value.type));
            return PMIX_ERR_BAD_PARAM;
        }
        ++*n;
    }
    return *n > 0 ? PMIX_SUCCESS : PMIX_ERR_NOT_SUPPORTED;
}

/* ---- requests under way ---------------------------------------------------------- */

struct px_plog {
    const struct px_iof_std *std; /* NULL before the first text */
    struct px_list requests;
};

struct text {
    struct request *request;
    struct px_iof_sink *sink;
    struct px_stream *stream; /* NULL once written */
};

struct request {
    struct px_list link;
    struct px_upcall *upcall;
    pmix_status_t status;
    size_t n_left; /* texts not written, and 1 while texts are added */
    size_t n;
    struct text texts[];
};

static void request_put(struct request *r)
{
    if (--r->n_left > 0)
        return;
    px_list_remove(&r->link);
    px_upcall_op_cb(r->status, r->upcall);
    free(r);
}

/* Counts a text that the sink has taken or failed to write. */
static void on_written(void *arg)
{
    struct text *t = arg;

    t->stream = NULL;
    if (px_iof_sink_is_broken(t->sink))
        t->request->status = PMIX_ERR_NOT_AVAILABLE;
    request_put(t->request);
}

/* Writes whole lines, so that other output begins on a new line. */
static void write_text(struct request *r, struct px_iof_sink *sink, const char *text)
{
    const size_t len = strlen(text);
    char *lines = px_strf("%s%s", text, len > 0 && text[len - 1] == '\n' ? "" : "\n");
    struct text *t = &r->texts[r->n++];

    *t = (struct text){.request = r, .sink = sink};
    r->n_left++;
    if (lines &&
        px_stream_report(sink, lines, on_written, t, &t->stream) == PMIX_SUCCESS)
        return;
    free(lines);
    r->status = PMIX_ERR_NOMEM;
    request_put(r);
}

pmix_status_t px_plog(struct px_server *srv, struct px_upcall *u)
{
    struct px_plog *plog = srv->part.plog;
    const px_infos *data = &u->args.info;
    bool once = px_info_flag(u->args.more.v, u->args.more.n, PMIX_LOG_ONCE);
    struct request *r;
    size_t n = 0;
    pmix_status_t rc = check(&u->args, &n);

    if (rc)
        return rc;
    if (!plog->std && px_iof_std_get(&plog->std))
        return PMIX_ERR_NOMEM;
    r = malloc(sizeof(*r) + n * sizeof(r->texts[0]));
    if (!r)
        return PMIX_ERR_NOMEM;
    *r = (struct request){.upcall = u, .n_left = 1};
    if (n < data->n && !once)
        r->status = PMIX_ERR_PARTIAL_SUCCESS;
    px_list_append(&plog->requests, &r->link);
    for (size_t i = 0; i < data->n && !(once && r->n > 0); i++) {
        const struct channel *c = find_channel(&data->v[i]);

        if (c)
            write_text(r, plog->std->of[c->stream], data->v[i].value.data.string);
    }
    request_put(r);
    return PMIX_SUCCESS;
}

/* ---- the part -------------------------------------------------------------------- */

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    px_list_init(&srv->part.plog->requests);
    return PMIX_SUCCESS;
}

/* Drops texts that no reader has taken. */
static void destroy(struct px_server *srv)
{
    struct px_plog *plog = srv->part.plog;

    PX_LIST_EACH (&plog->requests, struct request, r, link) {
        px_log(PX_LOG_WARN, "log", "text of PMIx_Log lost: the reader stopped reading");
        for (size_t i = 0; i < r->n; i++)
            px_stream_close(r->texts[i].stream);
        r->n_left = 1;
        request_put(r);
    }
    if (plog->std)
        px_iof_std_put();
}

const struct px_server_part px_plog_part = {
    .name = "plog",
    PX_PART_STATE(plog, struct px_plog),
    .create = create,
    .destroy = destroy,
};

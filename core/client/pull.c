/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/client/pull.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/base/map.h"
#include "core/iof/name.h"
#include "core/iof/stream.h"
#include "core/link/api.h"
#include "core/model/lookup.h"
#include "core/plugin/select.h"
#include "core/rt/log.h"

/* So much may wait, for a function that the loop's own thread is to call, or for sinks,
 * beside what is in each px_stream. */
#define WAITING_MAX_B ((size_t)1024 * 1024)

struct pull {
    struct px_iof iof;
    pmix_iof_cbfunc_t fn; /* NULL: the own streams */
    bool plain;           /* it gets pieces as they come */
    struct px_iof_way way;
    enum px_iof_files files;
    bool files_only;
    char *path;
    const struct px_iof_std *std;
    struct px_map outlets; /* struct key -> struct outlet */
    size_t n_live;         /* streams of these */
    struct px_list handed; /* to the function */
    bool told;             /* that nothing can be written */
};

/* One stream of one process. */
struct outlet {
    struct pull *of;
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    struct px_stream *stream; /* NULL before its first byte, and after its end */
    struct px_iof_sink *sink; /* the function */
    struct px_iof_sink *file;
    char *file_name;
    bool file_made;
    px_buf rest;    /* what the stream has not taken begins here: */
    size_t at;      /* it has been read */
    bool finishing; /* ends behind the rest */
    bool flushing;  /* is not to wait for more behind the rest */
    bool closing;   /* its end has been said to the stream */
    bool waits;     /* the function is too far behind */
    bool lossy;     /* the log says so already */
    uint64_t dropped_b;
    bool placed; /* the two below have been looked for, as marks name the place */
    char *host;  /* NULL: unknown */
    pid_t pid;   /* 0: unknown */
};

struct key {
    pmix_proc_t source;
    pmix_iof_channel_t channel;
};

static void settle(struct pull *p)
{
    if (p->iof.ending && p->n_live == 0 && px_list_empty(&p->handed) &&
        !p->iof.finished)
        px_iof_gone(&p->iof);
}

/* ---- the program's function ------------------------------------------------------ */

struct handed {
    struct px_msg msg;
    struct px_list link; /* in pull.handed */
    struct pull *of;     /* NULL: it has gone */
    struct px_args args;
};

static void wake_outlets(struct pull *p)
{
    struct outlet *o;
    size_t pos = 0;

    while ((o = px_map_next(&p->outlets, &pos, NULL, NULL))) {
        if (o->waits) {
            o->waits = false;
            px_iof_sink_has_room(o->sink);
        }
    }
}

static void on_handed(struct px_msg *msg)
{
    struct handed *h = PX_CONTAINER_OF(msg, struct handed, msg);
    struct px_args *a = &h->args;
    struct pull *p = h->of;

    if (p) {
        bool was_full = p->iof.held_b > p->iof.limit_b;

        p->fn(p->iof.id, a->channels, a->procs, &a->bytes, a->info.v, a->info.n);
        px_list_remove(&h->link);
        px_iof_hold(&p->iof, -(ssize_t)a->bytes.size);
        if (was_full && p->iof.held_b <= p->iof.limit_b)
            wake_outlets(p);
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

/* Tells with these bytes how many were dropped before. */
static bool hand_bytes(struct outlet *o, const void *bytes, size_t n)
{
    PX_AUTO(px_args) piece = {.channels = o->channel};
    bool made = px_type_copy_array(PMIX_PROC, (void **)&piece.procs, &o->source, 1) ==
                PMIX_SUCCESS;

    piece.n_procs = made;
    piece.bytes.bytes = n > 0 && made ? malloc(n) : NULL;
    if (!made || (n > 0 && !piece.bytes.bytes) ||
        (o->dropped_b &&
         px_infos_add(&piece.info, TENON_IOF_DROPPED, &o->dropped_b, PMIX_UINT64)))
        return false;
    piece.bytes.size = n;
    if (n > 0)
        memcpy(piece.bytes.bytes, bytes, n);
    o->dropped_b = 0;
    hand(o->of, &piece);
    return true;
}

static ssize_t write_to_function(void *arg, const struct iovec *v, int n PX_UNUSED)
{
    struct outlet *o = arg;

    o->waits = o->of->iof.held_b > o->of->iof.limit_b;
    if (o->waits || !hand_bytes(o, v->iov_base, v->iov_len)) {
        errno = o->waits ? EAGAIN : ENOMEM;
        return -1;
    }
    return (ssize_t)v->iov_len;
}

/* ---- streams --------------------------------------------------------------------- */

static void make_folders(char *path)
{
    for (char *at = strchr(path + 1, '/'); at; at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0777); /* else the file cannot be made, which says why */
        *at = '/';
    }
}

static const char *name_of(pmix_iof_channel_t channel)
{
    return channel == PMIX_FWD_STDOUT_CHANNEL   ? "stdout"
           : channel == PMIX_FWD_STDERR_CHANNEL ? "stderr"
                                                : "stddiag";
}

/* Emptied the first time alone: a stream may end, and go on. */
static void open_file(struct outlet *o)
{
    struct pull *p = o->of;
    char rank[16];
    const struct px_iof_of of = {
        .nspace = o->source.nspace, .rank = rank, .channel = name_of(o->channel)};
    struct px_piof_target target = {
        .size = sizeof(target), .fd = -1, .mode = 0666, .keep = o->file_made};
    struct px_err err = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    snprintf(rank, sizeof(rank), "%u", o->source.rank);
    if (!o->file_name)
        rc = px_iof_file_name(p->files, p->path, &of, &o->file_name, &err);
    if (!rc) {
        make_folders(o->file_name);
        target.path = o->file_name;
        rc = px_iof_sink_open(&target, o->file_name, &o->file, &err);
    }
    o->file_made |= !rc;
    if (rc && !p->told)
        px_log(PX_LOG_ERROR, "iof", "%s", err.text);
    p->told |= rc != PMIX_SUCCESS;
}

static void on_done(void *outlet);
static void on_room(void *outlet);

static struct px_iof_origin origin_of(const struct outlet *o)
{
    return (struct px_iof_origin){.nspace = o->source.nspace,
                                  .rank = o->source.rank,
                                  .channel = name_of(o->channel),
                                  .host = o->host,
                                  .pid = o->pid};
}

/* False: nothing can be written. */
static bool open_stream(struct outlet *o)
{
    struct pull *p = o->of;
    struct px_stream_way way = {.how = p->way,
                                .origin = origin_of(o),
                                .done = on_done,
                                .on_room = on_room,
                                .arg = o};
    pmix_status_t rc = PMIX_SUCCESS;

    if (p->files != PX_IOF_NO_FILES)
        open_file(o);
    way.copy = o->file;
    if (p->fn && !o->sink)
        rc = px_iof_sink_create(write_to_function, o, "a function", &o->sink);
    if (!p->files_only)
        way.sink = p->fn ? o->sink : p->std->of[o->channel != PMIX_FWD_STDOUT_CHANNEL];
    if (!rc)
        rc = px_stream_open(&way, -1, &o->stream);
    if (!rc && o->stream) {
        p->n_live++;
        return true;
    }
    px_iof_sink_close(px_take(&o->file));
    if (!p->told)
        px_log(PX_LOG_WARN, "iof", "forwarded output is thrown away: %s",
               rc ? PMIx_Error_string(rc) : "nothing takes it any more");
    p->told = true;
    return false;
}

static size_t left(const struct outlet *o)
{
    return o->rest.len - o->at;
}

static void drop_rest(struct outlet *o)
{
    px_iof_hold(&o->of->iof, -(ssize_t)left(o));
    px_buf_cleanup(&o->rest);
    o->at = 0;
}

static void keep(struct outlet *o, const uint8_t *bytes, size_t n)
{
    if (o->at > left(o)) { /* else what has been read would stay for ever */
        o->rest.len = left(o);
        memmove(o->rest.data, o->rest.data + o->at, o->rest.len);
        o->at = 0;
    }
    if (px_buf_add(&o->rest, bytes, n))
        px_log(PX_LOG_ERROR, "iof", "forwarded output lost: no memory");
    else
        px_iof_hold(&o->of->iof, (ssize_t)n);
}

/* The stream has had all. */
static void finish(struct outlet *o)
{
    o->finishing = left(o) > 0;
    if (o->finishing || o->closing)
        return;
    if (o->stream) {
        o->closing = true;
        px_stream_finish(o->stream);
    } else if (o->of->fn && !o->of->iof.ending) {
        (void)hand_bytes(o, NULL, 0);
    }
}

static void on_room(void *outlet)
{
    struct outlet *o = outlet;

    if (o->closing)
        return;
    if (o->stream && left(o) > 0) {
        size_t n = px_stream_put(o->stream, o->rest.data + o->at, left(o));

        if (!o->stream) /* which has seen to the rest */
            return;
        o->at += n;
        px_iof_hold(&o->of->iof, -(ssize_t)n);
    }
    if (left(o) > 0)
        return;
    drop_rest(o);
    if (o->finishing)
        finish(o);
    else if (o->flushing && o->stream)
        px_stream_flush(o->stream);
    o->flushing = false;
}

static void on_done(void *outlet)
{
    struct outlet *o = outlet;
    struct pull *p = o->of;
    bool was_end = o->closing;

    o->stream = NULL;
    o->closing = false;
    p->n_live--;
    px_iof_sink_close(px_take(&o->file));
    if (left(o) > 0 && was_end && open_stream(o))
        on_room(o); /* it goes on */
    else if (left(o) > 0)
        drop_rest(o);
    else if (was_end)
        finish(o);
    settle(p);
}

static void put(struct outlet *o, const pmix_byte_object_t *bo)
{
    const uint8_t *bytes = (const uint8_t *)bo->bytes;
    size_t n = 0;

    if (bo->size == 0) {
        finish(o);
        return;
    }
    o->finishing = false;
    if (!o->stream && !open_stream(o))
        return;
    if (left(o) == 0 && !o->closing)
        n = px_stream_put(o->stream, bytes, bo->size);
    if (n < bo->size)
        keep(o, bytes + n, bo->size - n);
}

/* ---- a receiver ------------------------------------------------------------------ */

static struct outlet *outlet_get(struct pull *p, const struct px_args *piece)
{
    struct key key;
    struct outlet *o;

    memset(&key, 0, sizeof(key)); /* with what is between members */
    px_proc_set(&key.source, piece->procs->nspace, piece->procs->rank);
    key.channel = piece->channels;
    o = px_map_get(&p->outlets, &key, sizeof(key));
    if (o)
        return o;
    o = calloc(1, sizeof(*o));
    if (!o || px_map_put(&p->outlets, &key, sizeof(key), o, NULL)) {
        free(o);
        return NULL;
    }
    o->of = p;
    o->source = key.source;
    o->channel = key.channel;
    return o;
}

static void note_dropped(struct outlet *o, const pmix_info_t *dropped)
{
    uint64_t n = 0;

    if (!dropped || !px_value_to_u64(&dropped->value, &n) || n == 0)
        return;
    o->dropped_b += n;
    if (!o->lossy)
        px_log(PX_LOG_WARN, "iof",
               "the server has dropped %llu bytes, or more later, of the %s of %s.%u",
               (unsigned long long)n, name_of(o->channel), o->source.nspace,
               o->source.rank);
    o->lossy = true;
}

/* Returns the host of a process as its job's information has it, or NULL. malloc'd. */
static char *find_host(const pmix_proc_t *source)
{
    const struct px_nspace *ns = px_nspace_find(px_process.model, source->nspace);
    struct px_lookup l;
    pmix_value_t v;

    px_lookup_init(&l, PMIX_HOSTNAME, source->rank, NULL, 0);
    if (!ns || px_lookup_find(px_process.model, ns, &l, &v))
        return NULL;
    if (v.type == PMIX_STRING)
        return v.data.string;
    PMIx_Value_destruct(&v);
    return NULL;
}

/* Notes where the source runs, if marks name the place. The piece has it from our
 * servers' hosts; else the job's information may have the host. Lines that came before
 * a change keep their mark. */
static void note_place(struct outlet *o, const px_infos *info)
{
    const char *host = px_info_str(info->v, info->n, PMIX_HOSTNAME);
    const pmix_info_t *pid = px_info_find(info->v, info->n, PMIX_PROC_PID);
    bool is_other = pid && pid->value.type == PMIX_PID && pid->value.data.pid != o->pid;
    struct px_iof_origin origin;

    if (!o->of->way.tag_detailed || (o->placed && !is_other))
        return;
    o->placed = true;
    if (is_other)
        o->pid = pid->value.data.pid;
    if (!o->host)
        o->host = host ? strdup(host) : find_host(&o->source);
    if (!o->stream || o->closing)
        return;
    px_stream_flush(o->stream);
    origin = origin_of(o);
    px_stream_set_origin(o->stream, &origin);
}

/* Passes on what has come, without waiting for the end of a line. */
static void flush(struct outlet *o)
{
    o->flushing = left(o) > 0;
    if (!o->flushing && o->stream && !o->closing)
        px_stream_flush(o->stream);
}

static void pull_take(struct px_iof *iof, struct px_args *piece)
{
    struct pull *p = PX_CONTAINER_OF(iof, struct pull, iof);
    const px_infos *info = &piece->info;
    const pmix_info_t *dropped = px_info_find(info->v, info->n, TENON_IOF_DROPPED);
    struct outlet *o = NULL;

    if (p->way.merged && piece->channels == PMIX_FWD_STDERR_CHANNEL)
        piece->channels = PMIX_FWD_STDOUT_CHANNEL;
    if (!p->plain || dropped) {
        o = outlet_get(p, piece);
        if (!o) {
            px_log(PX_LOG_ERROR, "iof", "forwarded output lost: no memory");
            return;
        }
        note_dropped(o, dropped);
        note_place(o, info);
    }
    if (p->plain) {
        hand(p, piece);
        return;
    }
    put(o, &piece->bytes);
    if (piece->bytes.size > 0 && px_info_flag(info->v, info->n, PMIX_IOF_OUTPUT_RAW))
        flush(o);
    if (piece->bytes.size > 0 && px_info_flag(info->v, info->n, PMIX_IOF_COMPLETE))
        finish(o);
}

static void pull_flush(struct px_iof *iof)
{
    struct pull *p = PX_CONTAINER_OF(iof, struct pull, iof);
    struct outlet *o;
    size_t pos = 0;

    while ((o = px_map_next(&p->outlets, &pos, NULL, NULL)))
        flush(o);
}

static void pull_end(struct px_iof *iof)
{
    struct pull *p = PX_CONTAINER_OF(iof, struct pull, iof);
    struct outlet *o;
    size_t pos = 0;

    p->n_live++;
    while ((o = px_map_next(&p->outlets, &pos, NULL, NULL)))
        finish(o);
    p->n_live--;
    settle(p);
}

static size_t pull_has(const struct px_iof *iof)
{
    const struct pull *p = PX_CONTAINER_OF(iof, struct pull, iof);
    const struct outlet *o;
    size_t pos = 0, sum = 0;

    while ((o = px_map_next(&p->outlets, &pos, NULL, NULL)))
        sum += o->stream ? px_stream_held(o->stream) : 0;
    return sum;
}

static void outlet_free(struct outlet *o)
{
    px_stream_close(o->stream);
    px_iof_sink_close(o->sink);
    px_iof_sink_close(o->file);
    px_buf_cleanup(&o->rest);
    free(o->file_name);
    free(o->host);
    free(o);
}

static void pull_destroy(struct px_iof *iof)
{
    struct pull *p = PX_CONTAINER_OF(iof, struct pull, iof);
    struct outlet *o;
    size_t pos = 0;

    PX_LIST_EACH (&p->handed, struct handed, h, link) {
        px_list_remove(&h->link);
        h->of = NULL;
    }
    while ((o = px_map_next(&p->outlets, &pos, NULL, NULL)))
        outlet_free(o);
    px_map_fini(&p->outlets);
    if (p->std)
        px_iof_std_put();
    free(p->path);
    free(p);
}

/* ---- what is asked for ----------------------------------------------------------- */

static const char *const file_keys[] = {PMIX_IOF_OUTPUT_TO_FILE,
                                        PMIX_IOF_OUTPUT_TO_DIRECTORY,
                                        PMIX_IOF_FILE_PATTERN, PMIX_IOF_FILE_ONLY};

static pmix_status_t read_files(struct pull *p, const pmix_info_t *info, size_t n,
                                struct px_err *err)
{
    const struct px_iof_of any = {.nspace = "", .rank = "0", .channel = "stdout"};
    PX_AUTOFREE char *name = NULL;
    const char *path[2];
    bool is_pattern = px_info_flag(info, n, PMIX_IOF_FILE_PATTERN);

    for (int i = 0; i < 2; i++) {
        path[i] = px_info_str(info, n, file_keys[i]);
        if (px_info_find(info, n, file_keys[i]) && (!path[i] || !path[i][0]))
            return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot take %s: it is no path",
                              PMIx_Get_attribute_name(file_keys[i]));
    }
    p->files_only = px_info_flag(info, n, PMIX_IOF_FILE_ONLY);
    if (path[0] && path[1])
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "PMIX_IOF_OUTPUT_TO_FILE contradicts "
                          "PMIX_IOF_OUTPUT_TO_DIRECTORY");
    if ((is_pattern && !path[0]) || (p->files_only && !path[0] && !path[1]))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s needs a file",
                          is_pattern ? "PMIX_IOF_FILE_PATTERN" : "PMIX_IOF_FILE_ONLY");
    if (!path[0] && !path[1])
        return PMIX_SUCCESS;
    p->files = path[1] ? PX_IOF_DIR : is_pattern ? PX_IOF_PATTERN : PX_IOF_FILE;
    p->path = strdup(path[1] ? path[1] : path[0]);
    if (!p->path)
        return px_err_nomem(err, "pull output");
    return px_iof_file_name(p->files, p->path, &any, &name, err);
}

/* The server's work, but what contradicts itself never gets there. */
static pmix_status_t check_others(const pmix_info_t *info, size_t n, struct px_err *err)
{
    static const char *const pairs[][2] = {{PMIX_IOF_DROP_OLDEST, PMIX_IOF_DROP_NEWEST},
                                           {PMIX_IOF_COPY, PMIX_IOF_REDIRECT}};
    const pmix_info_t *size = px_info_find(info, n, PMIX_IOF_CACHE_SIZE);
    uint64_t number;

    for (size_t i = 0; i < PX_COUNT(pairs); i++)
        if (px_info_flag(info, n, pairs[i][0]) && px_info_flag(info, n, pairs[i][1]))
            return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s contradicts %s",
                              PMIx_Get_attribute_name(pairs[i][0]),
                              PMIx_Get_attribute_name(pairs[i][1]));
    if (size && !px_value_to_u64(&size->value, &number))
        return px_err_set(err, PMIX_ERR_BAD_PARAM,
                          "cannot take PMIX_IOF_CACHE_SIZE: it is no number");
    return PMIX_SUCCESS;
}

static pmix_status_t list_rest(const pmix_info_t *info, size_t n, px_infos *rest)
{
    rest->v = n > 0 ? calloc(n, sizeof(*info)) : NULL;
    rest->n = 0;
    for (size_t i = 0; rest->v && i < n; i++) {
        bool is_ours = px_iof_way_has(info[i].key);

        for (size_t k = 0; k < PX_COUNT(file_keys); k++)
            is_ours |= PMIx_Check_key(info[i].key, file_keys[k]);
        if (!is_ours)
            rest->v[rest->n++] = info[i];
    }
    return n == 0 || rest->v ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Bytes are gathered as they are, unless lines are asked for. */
static void choose(struct pull *p)
{
    const struct px_iof_way *w = &p->way, usual = px_iof_way_default();
    bool shows = w->xml || w->json || w->timed || w->tag || w->tag_full ||
                 w->tag_rank || w->tag_detailed;
    bool gathers = w->gather_b > 0 || w->gather_ms != usual.gather_ms;

    p->iof.limit_b = WAITING_MAX_B;
    p->plain = p->fn && !shows && !gathers && p->files == PX_IOF_NO_FILES;
    if (p->fn && !shows && gathers && p->files == PX_IOF_NO_FILES)
        p->way.raw = true;
}

pmix_status_t px_pull_prepare(struct px_err *err)
{
    pmix_status_t rc;
    size_t n;

    if (!px_process_on_loop())
        px_process_lock();
    else if (px_modules("piof", &n))
        return PMIX_SUCCESS;
    else if (!px_process_trylock()) /* whose holder may be waiting for this thread */
        return px_err_set(err, PMIX_ERR_WOULD_BLOCK,
                          "cannot open components of piof in a callback: the library "
                          "begins or ends in another thread");
    rc = px_initialized() ? px_modules_open_deferred(err) : PMIX_ERR_INIT;
    px_process_unlock();
    return rc;
}

static const struct px_iof_ops ops = {.take = pull_take,
                                      .flush = pull_flush,
                                      .end = pull_end,
                                      .has = pull_has,
                                      .destroy = pull_destroy};

static struct pull *make_pull(pmix_iof_cbfunc_t fn)
{
    struct pull *p = calloc(1, sizeof(*p));

    if (!p)
        return NULL;
    p->iof.ops = &ops;
    p->fn = fn;
    p->way = px_iof_way_default();
    px_list_init(&p->handed);
    return p;
}

pmix_status_t px_pull_create(pmix_iof_cbfunc_t fn, const pmix_info_t *info, size_t n,
                             px_infos *rest, struct px_iof **iof, struct px_err *err)
{
    struct pull *p = make_pull(fn);
    pmix_status_t rc = p ? px_iof_way_read(&p->way, info, n, err)
                         : px_err_nomem(err, "pull output");

    if (!rc)
        rc = read_files(p, info, n, err);
    if (!rc)
        rc = check_others(info, n, err);
    if (!rc && (!fn || p->files != PX_IOF_NO_FILES))
        rc = px_pull_prepare(err);
    if (!rc)
        rc = list_rest(info, n, rest);
    if (rc) {
        if (p)
            px_pull_destroy(&p->iof);
        return rc;
    }
    choose(p);
    *iof = &p->iof;
    return PMIX_SUCCESS;
}

pmix_status_t px_pull_start(struct px_iof *iof)
{
    struct pull *p = PX_CONTAINER_OF(iof, struct pull, iof);

    return p->fn ? PMIX_SUCCESS : px_iof_std_get(&p->std);
}

struct px_iof *px_pull_unasked(void)
{
    struct pull *p = make_pull(NULL);

    if (!p)
        return NULL;
    choose(p);
    if (px_pull_start(&p->iof)) {
        px_pull_destroy(&p->iof);
        return NULL;
    }
    return &p->iof;
}

void px_pull_destroy(struct px_iof *iof)
{
    if (iof)
        iof->ops->destroy(iof);
}

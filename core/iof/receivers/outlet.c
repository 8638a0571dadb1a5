/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/iof/receivers/outlet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "core/iof/stream.h"
#include "core/model/lookup.h"
#include "core/rt/log.h"
#include "core/rt/process.h"

struct px_iof_outlet {
    struct px_iof_receiver *of;
    pmix_proc_t source;
    pmix_iof_channel_t channel;
    struct px_stream *stream; /* NULL before the first byte and after the end */
    struct px_iof_sink *sink; /* writes to the receiver's function */
    struct px_iof_sink *file;
    char *file_name;
    bool file_made;
    px_buf rest;    /* bytes beyond the stream's room, from offset at */
    size_t at;      /* bytes of rest that the stream has taken */
    bool finishing; /* the stream ends after the rest */
    bool flushing;  /* the stream is flushed after the rest */
    bool closing;   /* px_stream_finish has been called */
    bool waits;     /* for the receiver's function */
    bool lossy;     /* the log has a line about dropped bytes */
    uint64_t dropped_b;
    bool placed; /* host and pid have been searched for heads */
    char *host;  /* NULL if unknown */
    pid_t pid;   /* 0 if unknown */
};

struct key {
    pmix_proc_t source;
    pmix_iof_channel_t channel;
};

/* ---- the receiver's function ----------------------------------------------------- */

/* Calls the function with a copy of bytes and the count of dropped bytes. Returns false
 * if memory is exhausted. */
static bool call_with(struct px_iof_outlet *o, const void *bytes, size_t n)
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
    px_iof_receiver_call(o->of, &piece);
    return true;
}

/* Implements px_iof_write_fn for the receiver's function. */
static ssize_t write_to_function(void *arg, const struct iovec *v, int n PX_UNUSED)
{
    struct px_iof_outlet *o = arg;

    o->waits = px_iof_receiver_is_full(o->of);
    if (o->waits || !call_with(o, v->iov_base, v->iov_len)) {
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
        (void)mkdir(path, 0777); /* px_iof_sink_open reports the reason of a failure */
        *at = '/';
    }
}

static const char *name_of(pmix_iof_channel_t channel)
{
    return channel == PMIX_FWD_STDOUT_CHANNEL   ? "stdout"
           : channel == PMIX_FWD_STDERR_CHANNEL ? "stderr"
                                                : "stddiag";
}

/* Opens the file, and truncates it the first time: a stream may continue after its
 * end. */
static void open_file(struct px_iof_outlet *o)
{
    struct px_iof_receiver *r = o->of;
    char rank[16];
    const struct px_iof_of of = {
        .nspace = o->source.nspace, .rank = rank, .channel = name_of(o->channel)};
    struct px_piof_target target = {
        .size = sizeof(target), .fd = -1, .mode = 0666, .keep = o->file_made};
    struct px_err err = {0};
    pmix_status_t rc = PMIX_SUCCESS;

    snprintf(rank, sizeof(rank), "%u", o->source.rank);
    if (!o->file_name)
        rc = px_iof_file_name(r->files, r->path, &of, &o->file_name, &err);
    if (!rc) {
        make_folders(o->file_name);
        target.path = o->file_name;
        rc = px_iof_sink_open(&target, o->file_name, &o->file, &err);
    }
    o->file_made |= !rc;
    if (rc && !r->failed)
        px_log(PX_LOG_ERROR, "iof", "%s", err.text);
    r->failed |= rc != PMIX_SUCCESS;
}

static void on_done(void *outlet);
static void on_room(void *outlet);

static struct px_iof_origin origin_of(const struct px_iof_outlet *o)
{
    return (struct px_iof_origin){.nspace = o->source.nspace,
                                  .rank = o->source.rank,
                                  .channel = name_of(o->channel),
                                  .host = o->host,
                                  .pid = o->pid};
}

/* Opens the stream. Returns false if output cannot be written. */
static bool open_stream(struct px_iof_outlet *o)
{
    struct px_iof_receiver *r = o->of;
    struct px_stream_way way = {.how = r->way,
                                .origin = origin_of(o),
                                .done = on_done,
                                .on_room = on_room,
                                .arg = o};
    pmix_status_t rc = PMIX_SUCCESS;

    if (r->files != PX_IOF_NO_FILES)
        open_file(o);
    way.copy = o->file;
    if (r->fn && !o->sink)
        rc = px_iof_sink_create(write_to_function, o, "a function", &o->sink);
    if (!r->files_only)
        way.sink = r->fn ? o->sink : r->std->of[o->channel != PMIX_FWD_STDOUT_CHANNEL];
    if (!rc)
        rc = px_stream_open(&way, -1, &o->stream);
    if (!rc && o->stream) {
        r->n_live++;
        return true;
    }
    px_iof_sink_close(px_take(&o->file));
    if (!r->failed)
        px_log(PX_LOG_WARN, "iof", "forwarded output lost: %s",
               rc ? PMIx_Error_string(rc) : "every sink is closed");
    r->failed = true;
    return false;
}

static size_t left(const struct px_iof_outlet *o)
{
    return o->rest.len - o->at;
}

static void drop_rest(struct px_iof_outlet *o)
{
    px_iof_receiver_hold(o->of, -(ssize_t)left(o));
    px_buf_cleanup(&o->rest);
    o->at = 0;
}

/* Adds bytes to the rest. */
static void keep(struct px_iof_outlet *o, const uint8_t *bytes, size_t n)
{
    if (o->at > left(o)) { /* removes bytes that the stream has taken */
        o->rest.len = left(o);
        memmove(o->rest.data, o->rest.data + o->at, o->rest.len);
        o->at = 0;
    }
    if (px_buf_add(&o->rest, bytes, n))
        px_log(PX_LOG_ERROR, "iof", "forwarded output lost: no memory");
    else
        px_iof_receiver_hold(o->of, (ssize_t)n);
}

void px_iof_outlet_finish(struct px_iof_outlet *o)
{
    o->finishing = left(o) > 0;
    if (o->finishing || o->closing)
        return;
    if (o->stream) {
        o->closing = true;
        px_stream_finish(o->stream);
    } else if (o->of->fn && !o->of->ending) {
        (void)call_with(o, NULL, 0);
    }
}

static void on_room(void *outlet)
{
    struct px_iof_outlet *o = outlet;

    if (o->closing)
        return;
    if (o->stream && left(o) > 0) {
        size_t n = px_stream_put(o->stream, o->rest.data + o->at, left(o));

        if (!o->stream) /* on_done has dropped the rest */
            return;
        o->at += n;
        px_iof_receiver_hold(o->of, -(ssize_t)n);
    }
    if (left(o) > 0)
        return;
    drop_rest(o);
    if (o->finishing)
        px_iof_outlet_finish(o);
    else if (o->flushing && o->stream)
        px_stream_flush(o->stream);
    o->flushing = false;
}

static void on_done(void *outlet)
{
    struct px_iof_outlet *o = outlet;
    struct px_iof_receiver *r = o->of;
    bool was_end = o->closing;

    o->stream = NULL;
    o->closing = false;
    r->n_live--;
    px_iof_sink_close(px_take(&o->file));
    if (left(o) > 0 && was_end && open_stream(o))
        on_room(o);
    else if (left(o) > 0)
        drop_rest(o);
    else if (was_end)
        px_iof_outlet_finish(o);
    px_iof_receiver_settle(r);
}

/* ---- infos of a piece ------------------------------------------------------------ */

struct px_iof_outlet *px_iof_outlet_get(struct px_iof_receiver *r,
                                        const pmix_proc_t *source,
                                        pmix_iof_channel_t channel)
{
    struct key key;
    struct px_iof_outlet *o;

    memset(&key, 0, sizeof(key)); /* clears the padding, too */
    px_proc_set(&key.source, source->nspace, source->rank);
    key.channel = channel;
    o = px_map_get(&r->outlets, &key, sizeof(key));
    if (o)
        return o;
    o = calloc(1, sizeof(*o));
    if (!o || px_map_put(&r->outlets, &key, sizeof(key), o, NULL)) {
        free(o);
        return NULL;
    }
    o->of = r;
    o->source = key.source;
    o->channel = key.channel;
    return o;
}

static void note_dropped(struct px_iof_outlet *o, const pmix_info_t *dropped)
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

/* Returns the host of a process from its job information, or NULL; the caller frees
 * it. */
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

/* Records host and pid of the source for heads, from the piece, or the host from job
 * information. Lines before a change keep their head. */
static void note_place(struct px_iof_outlet *o, const px_infos *info)
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

void px_iof_outlet_note(struct px_iof_outlet *o, const px_infos *info)
{
    note_dropped(o, px_info_find(info->v, info->n, TENON_IOF_DROPPED));
    note_place(o, info);
}

/* ---- pieces ---------------------------------------------------------------------- */

void px_iof_outlet_flush(struct px_iof_outlet *o)
{
    o->flushing = left(o) > 0;
    if (!o->flushing && o->stream && !o->closing)
        px_stream_flush(o->stream);
}

static void put(struct px_iof_outlet *o, const pmix_byte_object_t *bo)
{
    const uint8_t *bytes = (const uint8_t *)bo->bytes;
    size_t n = 0;

    if (bo->size == 0) {
        px_iof_outlet_finish(o);
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

void px_iof_outlet_take(struct px_iof_outlet *o, const struct px_args *piece)
{
    const px_infos *info = &piece->info;

    put(o, &piece->bytes);
    if (piece->bytes.size > 0 && px_info_flag(info->v, info->n, PMIX_IOF_OUTPUT_RAW))
        px_iof_outlet_flush(o);
    if (piece->bytes.size > 0 && px_info_flag(info->v, info->n, PMIX_IOF_COMPLETE))
        px_iof_outlet_finish(o);
}

void px_iof_outlet_wake(struct px_iof_outlet *o)
{
    if (!o->waits)
        return;
    o->waits = false;
    px_iof_sink_has_room(o->sink);
}

size_t px_iof_outlet_held(const struct px_iof_outlet *o)
{
    return o->stream ? px_stream_held(o->stream) : 0;
}

void px_iof_outlet_destroy(struct px_iof_outlet *o)
{
    px_stream_close(o->stream);
    px_iof_sink_close(o->sink);
    px_iof_sink_close(o->file);
    px_buf_cleanup(&o->rest);
    free(o->file_name);
    free(o->host);
    free(o);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Framed connection. The payload buffer grows with the bytes that arrive, never with
 * what a header claims, so a lying peer pays for the memory it costs us. */
#include "core/link/conn.h"

#include "core/base/list.h"

#include <errno.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define READ_CHUNK_B (64u * 1024u)
/* One peer may not keep the loop to itself: after this many bytes the others have
 * their turn. */
#define READ_TURN_B (1024u * 1024u)
#define MAX_IOV     16

struct out_frame {
    struct px_list link;
    uint8_t header[PX_FRAME_HEADER_B];
    px_buf payload;
    size_t sent; /* of header and payload together */
};

struct px_conn {
    struct px_watch *watch;
    int fd;
    const struct px_conn_ops *ops;
    void *arg;
    struct px_list out;
    size_t unsent;
    uint8_t header[PX_FRAME_HEADER_B];
    size_t header_len;
    struct px_frame frame;
    px_buf in;
    bool lost;
    bool dispatching; /* inside a callback: destroy only marks */
    bool doomed;
    struct px_msg
        report; /* tells of a loss noticed while sending, outside the caller */
    bool report_posted;
    pmix_status_t why;
    struct px_loop *loop;
};

static void conn_free(struct px_conn *c)
{
    PX_LIST_EACH (&c->out, struct out_frame, f, link) {
        px_list_remove(&f->link);
        px_buf_cleanup(&f->payload);
        free(f);
    }
    px_buf_cleanup(&c->in);
    free(c);
}

/* The socket goes at once; the object lives until no callback and no posted report
 * uses it. */
static void conn_shut(struct px_conn *c)
{
    px_watch_free(c->watch);
    c->watch = NULL;
    px_drop_fd(&c->fd);
}

static void conn_lost(struct px_conn *c, pmix_status_t why)
{
    if (c->lost)
        return;
    c->lost = true;
    conn_shut(c);
    if (!c->doomed && c->ops->on_lost)
        c->ops->on_lost(c->arg, why);
}

static void on_report(struct px_msg *msg)
{
    struct px_conn *c = PX_CONTAINER_OF(msg, struct px_conn, report);

    c->report_posted = false;
    c->dispatching = true;
    if (!c->doomed)
        conn_lost(c, c->why);
    c->dispatching = false;
    if (c->doomed)
        conn_free(c);
}

/* A loss found while the owner is sending: it must not be called back in the middle
 * of that. */
void px_conn_fail(struct px_conn *c, pmix_status_t why)
{
    if (c->lost || c->doomed || c->report_posted)
        return;
    c->why = why;
    c->report.run = on_report;
    c->report_posted = true;
    px_post(c->loop, &c->report);
}

static size_t fill_iov(struct px_conn *c, struct iovec iov[MAX_IOV])
{
    size_t n = 0;

    PX_LIST_EACH (&c->out, struct out_frame, f, link) {
        size_t skip = f->sent;

        if (n + 2 > MAX_IOV)
            break;
        if (skip < sizeof f->header) {
            iov[n].iov_base = f->header + skip;
            iov[n++].iov_len = sizeof f->header - skip;
            skip = 0;
        } else {
            skip -= sizeof f->header;
        }
        if (f->payload.len > skip) {
            iov[n].iov_base = f->payload.data + skip;
            iov[n++].iov_len = f->payload.len - skip;
        }
    }
    return n;
}

static void account_sent(struct px_conn *c, size_t sent)
{
    c->unsent -= sent;
    while (sent > 0) {
        struct out_frame *f = PX_CONTAINER_OF(c->out.next, struct out_frame, link);
        size_t left = sizeof f->header + f->payload.len - f->sent;

        if (sent < left) {
            f->sent += sent;
            return;
        }
        sent -= left;
        px_list_remove(&f->link);
        px_buf_cleanup(&f->payload);
        free(f);
    }
}

/* PMIX_SUCCESS when all went out or the socket is full. */
static pmix_status_t flush(struct px_conn *c)
{
    while (!px_list_empty(&c->out)) {
        struct iovec iov[MAX_IOV];
        struct msghdr msg = {.msg_iov = iov};

        msg.msg_iovlen = fill_iov(c, iov);
        ssize_t n = sendmsg(c->fd, &msg, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            if (errno == EAGAIN || errno == EWOULDBLOCK)
                return PMIX_SUCCESS;
            return PMIX_ERR_LOST_CONNECTION;
        }
        account_sent(c, (size_t)n);
    }
    return PMIX_SUCCESS;
}

static void set_interest(struct px_conn *c)
{
    if (c->watch)
        px_watch_set(c->watch,
                     PX_READABLE | (px_list_empty(&c->out) ? 0u : PX_WRITABLE));
}

/* Consumes from [p,p+n) what belongs to the current frame; hands over whole frames. */
static pmix_status_t feed(struct px_conn *c, const uint8_t *p, size_t n)
{
    while (n > 0 ||
           (c->header_len == sizeof c->header && c->in.len == c->frame.nbytes)) {
        if (c->header_len < sizeof c->header) {
            size_t take = sizeof c->header - c->header_len;

            take = take < n ? take : n;
            memcpy(c->header + c->header_len, p, take);
            c->header_len += take;
            p += take;
            n -= take;
            if (c->header_len < sizeof c->header)
                return PMIX_SUCCESS;
            pmix_status_t rc = px_frame_decode(c->header, &c->frame);
            if (rc)
                return rc;
        }
        size_t want = c->frame.nbytes - c->in.len;
        const uint8_t *payload = p;

        if (c->in.len > 0 || n < want) { /* in pieces: collect */
            size_t take = want < n ? want : n;
            pmix_status_t rc = px_buf_add(&c->in, p, take);

            if (rc)
                return rc;
            p += take;
            n -= take;
            if (c->in.len < c->frame.nbytes)
                return PMIX_SUCCESS;
            payload = c->in.data;
        } else { /* whole in what was read: no copy */
            p += want;
            n -= want;
        }
        px_buf body = px_buf_take(&c->in);

        c->header_len = 0;
        c->ops->on_frame(c->arg, &c->frame, body.data ? body.data : payload);
        px_buf_cleanup(&body);
        if (c->doomed || c->lost)
            return PMIX_SUCCESS;
    }
    return PMIX_SUCCESS;
}

static void receive(struct px_conn *c)
{
    uint8_t chunk[READ_CHUNK_B];

    for (size_t turn = 0; turn < READ_TURN_B && !c->lost && !c->doomed;) {
        ssize_t n = recv(c->fd, chunk, sizeof chunk, 0);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            conn_lost(c, PMIX_ERR_LOST_CONNECTION);
            return;
        }
        pmix_status_t rc = feed(c, chunk, (size_t)n);
        if (rc) {
            conn_lost(c, rc);
            return;
        }
        if ((size_t)n < sizeof chunk)
            return; /* drained: the next recv would only say EAGAIN */
        turn += (size_t)n;
    }
}

static void on_ready(void *arg, int fd PX_UNUSED, unsigned events)
{
    struct px_conn *c = arg;

    c->dispatching = true;
    if (events & PX_WRITABLE) {
        if (flush(c))
            conn_lost(c, PMIX_ERR_LOST_CONNECTION);
        else
            set_interest(c);
    }
    if ((events & PX_READABLE) && !c->lost && !c->doomed)
        receive(c);
    c->dispatching = false;
    if (c->doomed && !c->report_posted)
        conn_free(c);
}

pmix_status_t px_conn_create(struct px_loop *loop, int fd,
                             const struct px_conn_ops *ops, void *arg,
                             struct px_conn **conn)
{
    struct px_conn *c = calloc(1, sizeof *c);

    if (!c)
        return PMIX_ERR_NOMEM;
    px_list_init(&c->out);
    c->ops = ops;
    c->arg = arg;
    c->loop = loop;
    c->fd = -1;
    c->watch = px_watch_create(loop, fd, PX_READABLE, on_ready, c);
    if (!c->watch) {
        free(c);
        return PMIX_ERR_NOMEM;
    }
    c->fd = fd;
    *conn = c;
    return PMIX_SUCCESS;
}

pmix_status_t px_conn_send(struct px_conn *c, int32_t pindex, uint32_t tag,
                           px_buf *payload)
{
    PX_AUTO(px_buf) body = px_buf_take(payload);
    struct px_frame frame = {
        .pindex = pindex, .tag = tag, .nbytes = (uint32_t)body.len};

    if (c->lost || c->doomed || c->report_posted)
        return PMIX_ERR_LOST_CONNECTION;
    if (body.len > PX_MAX_FRAME_B)
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (c->unsent + body.len > PX_MAX_QUEUED_B) {
        px_conn_fail(c, PMIX_ERR_OUT_OF_RESOURCE);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    struct out_frame *f = calloc(1, sizeof *f);
    if (!f)
        return PMIX_ERR_NOMEM;
    px_frame_encode(f->header, &frame);
    f->payload = px_buf_take(&body);
    c->unsent += sizeof f->header + f->payload.len;
    bool idle = px_list_empty(&c->out);
    px_list_append(&c->out, &f->link);
    if (!idle) /* the socket is full already: on_ready goes on */
        return PMIX_SUCCESS;
    pmix_status_t rc = flush(c);
    if (rc) {
        px_conn_fail(c, rc);
        return rc;
    }
    if (!px_list_empty(&c->out))
        set_interest(c);
    return PMIX_SUCCESS;
}

size_t px_conn_unsent(const struct px_conn *c)
{
    return c->unsent;
}

void px_conn_destroy(struct px_conn *c)
{
    if (!c || c->doomed)
        return;
    if (!c->lost && c->fd >= 0)
        (void)flush(c);
    c->doomed = true;
    conn_shut(c);
    if (!c->dispatching && !c->report_posted)
        conn_free(c);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Framed connection. The payload buffer grows with the bytes that arrive, never with a
 * header's claim: a peer must send the bytes to make us use the memory. A descriptor
 * travels with the first bytes of its frame, which begin a message of the socket. So
 * descriptors arrive in the order of their frames, and never late. */
#include "core/link/conn.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/list.h"
#include "core/os/os.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#define MAX_IOV 64
/* Bytes collected during one pass of the loop before they are sent. */
#define GATHER_B (32u * 1024u)
/* Shorter payloads are copied one behind another. Copying costs less than a separate
 * allocation and I/O vector for each. */
#define COPY_B 1024u
/* Allowance above the limit for answers to requests that were accepted while there was
 * room. */
#define BEYOND_B ((int64_t)PX_MAX_FRAME_B)
/* Limit of waiting descriptors. A correct peer has at most the current frame's and the
 * next one's. */
#define MAX_FDS 4

/* Room for one descriptor. */
union control {
    struct cmsghdr header;
    char bytes[CMSG_SPACE(sizeof(int))];
};

/* Frames that are sent together. */
struct out_part {
    struct px_list link;
    int fd;      /* sent with the first byte, then closed; or -1 */
    px_buf head; /* the frames, without the last one's payload if that is long */
    struct px_payload *body;
    size_t sent; /* bytes of head and body already sent */
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
    px_buf body;                 /* memory of the frame that is being delivered */
    size_t in_b;                 /* charged size of the current frame, which arrives in
                                  * pieces */
    px_buf rest;                 /* bytes of a read that were left when the peer was
                                  * stopped */
    bool held;                   /* the peer must read first: see on_room */
    bool starved;                /* the current frame found no room */
    bool goes_on;                /* there may be room again */
    bool paused;                 /* by the owner */
    bool resumed;                /* the owner has ended the pause */
    bool awaited;                /* the owner waits for room to send */
    size_t charged, charged_out; /* in both directions; only for sending */
    uint64_t in_since_ms, out_since_ms; /* time when the frame began; when the socket
                                         * became full */
    unsigned interest;                  /* current events of the watch */
    int fds[MAX_FDS]; /* arrived descriptors without their frames; -1: lost on
                       * arrival */
    unsigned n_fds;
    int brought; /* descriptor of the frame that is being delivered; or -1 */
    bool full;   /* the socket has no room */
    bool lost;
    bool dispatching; /* inside a callback: destroy only sets doomed */
    bool doomed;
    struct px_msg later; /* sends the queue, or reports a loss if failed */
    bool posted, failed;
    pmix_status_t why;
    struct px_loop *loop;
    bool wanted;   /* the owner wants all bytes that the kernel has */
    int least;     /* number of bytes that make the socket readable between frames */
    int least_set; /* present number of the socket */
};

static void part_free(struct out_part *p)
{
    px_list_remove(&p->link);
    px_drop_fd(&p->fd);
    px_buf_cleanup(&p->head);
    px_payload_unref(p->body);
    free(p);
}

/* Charges incoming pieces, and bytes that the socket did not take at once. Does not
 * charge rest: a frame that finds no room becomes a rest, and would reduce the room of
 * all that wait. */
static void charge(struct px_conn *c)
{
    size_t out = c->doomed || !c->full ? 0 : c->unsent;
    size_t b = c->doomed ? 0 : c->in_b + out;

    if ((b == c->charged && out == c->charged_out) || !c->ops->charge)
        return;
    c->ops->charge(c->arg, (int64_t)b - (int64_t)c->charged,
                   (int64_t)out - (int64_t)c->charged_out);
    c->charged = b;
    c->charged_out = out;
}

static bool has_room(struct px_conn *c, int64_t more)
{
    return !c->ops->has_room || c->ops->has_room(c->arg, more);
}

static void drop_fds(struct px_conn *c)
{
    while (c->n_fds > 0)
        px_drop_fd(&c->fds[--c->n_fds]);
}

static void conn_free(struct px_conn *c)
{
    PX_LIST_EACH (&c->out, struct out_part, p, link)
        part_free(p);
    drop_fds(c);
    px_buf_cleanup(&c->in);
    px_buf_cleanup(&c->rest);
    free(c);
}

/* Closes the socket at once. The object lives until no callback and no posted message
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

static void post_later(struct px_conn *c)
{
    if (!c->posted)
        px_post(c->loop, &c->later);
    c->posted = true;
}

/* Reports a failure later, because the owner may be sending and must not be called back
 * here. */
void px_conn_fail(struct px_conn *c, pmix_status_t why)
{
    if (c->lost || c->doomed || c->failed)
        return;
    c->why = why;
    c->failed = true;
    post_later(c);
}

static size_t fill_iov(struct px_conn *c, struct iovec iov[MAX_IOV])
{
    size_t n = 0;

    PX_LIST_EACH (&c->out, struct out_part, p, link) {
        const px_buf *const bufs[] = {&p->head, p->body ? &p->body->bytes : NULL};
        size_t skip = p->sent;

        if (n + PX_COUNT(bufs) > MAX_IOV || (n > 0 && p->fd >= 0))
            break;
        for (size_t i = 0; i < PX_COUNT(bufs) && bufs[i]; i++) {
            size_t done = skip < bufs[i]->len ? skip : bufs[i]->len;

            skip -= done;
            if (done < bufs[i]->len)
                iov[n++] = (struct iovec){.iov_base = bufs[i]->data + done,
                                          .iov_len = bufs[i]->len - done};
        }
    }
    return n;
}

static void account_sent(struct px_conn *c, size_t sent)
{
    c->unsent -= sent;
    while (sent > 0) {
        struct out_part *p = PX_CONTAINER_OF(c->out.next, struct out_part, link);
        size_t left = p->head.len + (p->body ? p->body->bytes.len : 0) - p->sent;

        if (sent < left) {
            p->sent += sent;
            return;
        }
        sent -= left;
        part_free(p);
    }
}

static void add_fd(struct msghdr *msg, union control *control, int fd)
{
    *control = (union control){.header = {.cmsg_len = CMSG_LEN(sizeof(fd)),
                                          .cmsg_level = SOL_SOCKET,
                                          .cmsg_type = SCM_RIGHTS}};
    memcpy(CMSG_DATA(&control->header), &fd, sizeof(fd));
    msg->msg_control = control;
    msg->msg_controllen = CMSG_LEN(sizeof(fd));
}

/* Sends the queue. Returns PMIX_SUCCESS when all is sent or the socket is full. */
static pmix_status_t flush(struct px_conn *c)
{
    while (!px_list_empty(&c->out)) {
        struct iovec iov[MAX_IOV];
        struct msghdr msg = {.msg_iov = iov};
        struct out_part *first = PX_CONTAINER_OF(c->out.next, struct out_part, link);
        union control control;

        msg.msg_iovlen = fill_iov(c, iov);
        if (first->fd >= 0)
            add_fd(&msg, &control, first->fd);
        ssize_t n = sendmsg(c->fd, &msg, MSG_NOSIGNAL);
        if (n < 0) {
            if (errno == EINTR)
                continue;
            c->full = errno == EAGAIN || errno == EWOULDBLOCK;
            c->out_since_ms = px_clock_ms();
            return c->full ? PMIX_SUCCESS : PMIX_ERR_LOST_CONNECTION;
        }
        px_drop_fd(&first->fd);
        account_sent(c, (size_t)n);
    }
    return PMIX_SUCCESS;
}

static void set_interest(struct px_conn *c)
{
    unsigned interest = (px_conn_is_held(c) ? 0u : PX_READABLE) |
                        (c->full ? PX_WRITABLE : 0u);

    if (!c->watch || interest == c->interest)
        return;
    pmix_status_t rc = px_watch_set(c->watch, interest);
    if (rc)
        px_conn_fail(c, rc); /* the connection would wait forever */
    else
        c->interest = interest;
}

/* Sets the number of bytes that make the socket readable. Inside a frame each byte
 * counts. */
static void set_least(struct px_conn *c)
{
    const int least = c->header_len == 0 ? c->least : 1;

    if (least == c->least_set || c->fd < 0)
        return;
    if (!setsockopt(c->fd, SOL_SOCKET, SO_RCVLOWAT, &least, sizeof(least)))
        c->least_set = least;
    else if (least == 1)
        px_conn_fail(c, px_status_of_errno(errno)); /* the rest might not be read */
}

/* ---- incoming descriptors -------------------------------------------------------- */

/* Collects the message's descriptors and keeps at most one. A descriptor that did not
 * fit into this process's table is lost, and -1 takes its place. */
static void collect_fds(struct px_conn *c, struct msghdr *msg)
{
    struct cmsghdr *h = CMSG_FIRSTHDR(msg);
    int got = -1;

    if (!h && !(msg->msg_flags & MSG_CTRUNC))
        return;
    for (; h; h = CMSG_NXTHDR(msg, h)) {
        int fd;

        if (h->cmsg_level != SOL_SOCKET || h->cmsg_type != SCM_RIGHTS)
            continue;
        for (size_t at = 0; CMSG_LEN(at + sizeof(fd)) <= h->cmsg_len;
             at += sizeof(fd)) {
            memcpy(&fd, CMSG_DATA(h) + at, sizeof(fd));
            if (got < 0)
                got = fd;
            else
                close(fd);
        }
    }
    if (c->n_fds < MAX_FDS)
        c->fds[c->n_fds++] = got;
    else
        px_drop_fd(&got);
}

/* Reads bytes. Without a control buffer the kernel closes incoming descriptors. */
static ssize_t read_some(struct px_conn *c, uint8_t *bytes, size_t n)
{
    union control control;
    struct iovec iov = {.iov_base = bytes, .iov_len = n};
    struct msghdr msg = {.msg_iov = &iov,
                         .msg_iovlen = 1,
                         .msg_control = &control,
                         .msg_controllen = CMSG_LEN(sizeof(int))};

    if (!c->ops->fd_tag)
        return recv(c->fd, bytes, n, 0);
    ssize_t got = recvmsg(c->fd, &msg, MSG_CMSG_CLOEXEC);
    if (got > 0)
        collect_fds(c, &msg);
    return got;
}

/* Closes descriptors that do not belong to a frame that has begun to arrive. */
static void drop_strays(struct px_conn *c)
{
    bool begun = c->header_len > 0 &&
                 (c->header_len < sizeof(c->header) || c->frame.tag == c->ops->fd_tag);

    if (!begun)
        drop_fds(c);
}

int px_conn_take_fd(struct px_conn *c)
{
    return px_take_fd(&c->brought);
}

/* ---- incoming frames ------------------------------------------------------------- */

px_buf px_conn_take_payload(struct px_conn *c)
{
    return px_buf_take(&c->body);
}

/* True if the frame's bytes may be taken. A frame in pieces is charged completely at
 * its beginning. So frames that have begun can end one after another, even if the room
 * shrinks. */
static bool may_take(struct px_conn *c, size_t want, size_t n)
{
    bool is_last = n >= want;

    if (!is_last && c->in_b > 0)
        return true;
    c->starved = !has_room(c, is_last ? -(int64_t)c->in_b : (int64_t)want);
    if (c->starved || is_last)
        return !c->starved;
    c->in_b = want;
    c->in_since_ms = px_clock_ms();
    charge(c);
    return true;
}

/* Parses n bytes and delivers complete frames. A stopped peer's bytes go to rest. */
static pmix_status_t feed(struct px_conn *c, const uint8_t *p, size_t n)
{
    while (n > 0 ||
           (c->header_len == sizeof(c->header) && c->in.len == c->frame.nbytes)) {
        if (c->header_len < sizeof(c->header)) {
            size_t take = sizeof(c->header) - c->header_len;

            take = take < n ? take : n;
            memcpy(c->header + c->header_len, p, take);
            c->header_len += take;
            p += take;
            n -= take;
            if (c->header_len < sizeof(c->header))
                return PMIX_SUCCESS;
            pmix_status_t rc = px_frame_decode(c->header, &c->frame);
            if (rc)
                return rc;
        }
        size_t want = c->frame.nbytes - c->in.len;
        const uint8_t *payload = p;

        if (!may_take(c, want, n))
            return px_buf_add(&c->rest, p, n);
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
        } else { /* complete in the read buffer: no copy */
            p += want;
            n -= want;
        }
        c->body = px_buf_take(&c->in);
        c->header_len = 0;
        c->in_b = 0;
        charge(c);
        if (c->frame.tag == c->ops->fd_tag && c->n_fds > 0) {
            c->brought = c->fds[0];
            memmove(c->fds, c->fds + 1, --c->n_fds * sizeof(c->fds[0]));
        }
        c->ops->on_frame(c->arg, &c->frame, payload);
        px_drop_fd(&c->brought);
        px_buf_cleanup(&c->body);
        if (c->doomed || c->lost)
            return PMIX_SUCCESS;
        if (px_conn_is_held(c))
            return px_buf_add(&c->rest, p, n);
    }
    return PMIX_SUCCESS;
}

/* Returns room for the next read: in the payload buffer for a long rest of a frame,
 * whose bytes then need no copy, else in the scratch buffer. The payload buffer doubles
 * at most. */
static uint8_t *room_to_read(struct px_conn *c, size_t *n)
{
    const size_t want = c->in_b > 0 ? c->frame.nbytes - c->in.len : 0;
    const size_t had = c->in.cap - c->in.len;
    size_t more = c->in.len > PX_SCRATCH_B ? c->in.len : PX_SCRATCH_B;

    *n = PX_SCRATCH_B;
    more = want < more ? want : more;
    if (want < PX_SCRATCH_B || px_buf_reserve(&c->in, more))
        return px_loop_scratch(c->loop);
    *n = c->in.cap - c->in.len < want ? c->in.cap - c->in.len : want;
    if (*n > had)
        px_os_populate(c->in.data + c->in.len + had, *n - had);
    return c->in.data + c->in.len;
}

static void receive(struct px_conn *c)
{
    const uint8_t *scratch = px_loop_scratch(c->loop);

    for (size_t turn = 0;
         turn < PX_READ_TURN_B && !c->lost && !c->doomed && !px_conn_is_held(c);) {
        size_t room;
        uint8_t *to = room_to_read(c, &room);
        ssize_t n = read_some(c, to, room);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
            return;
        if (n <= 0) {
            conn_lost(c, PMIX_ERR_LOST_CONNECTION);
            return;
        }
        if (to != scratch)
            c->in.len += (size_t)n;
        pmix_status_t rc = feed(c, to, to == scratch ? (size_t)n : 0);
        drop_strays(c);
        if (rc) {
            conn_lost(c, rc);
            return;
        }
        if ((size_t)n < room)
            return; /* drained: the next recv would return EAGAIN */
        turn += (size_t)n;
    }
}

/* Updates the reasons to stop. Calls the owner's on_room if there is room again, and
 * continues with a peer that is not stopped any more. */
static void let_go(struct px_conn *c)
{
    bool was_held = px_conn_is_held(c), was_full = px_conn_is_full(c);
    bool drained = c->awaited && c->unsent <= PX_DRAINED_B;

    c->held = c->held && c->unsent > PX_UNREAD_B / 4;
    c->starved = c->starved && !c->goes_on;
    c->goes_on = false;
    c->paused = c->paused && !c->resumed;
    c->resumed = false;
    c->awaited = c->awaited && !drained;
    drained |= was_full && !px_conn_is_full(c);
    if (px_conn_is_held(c) || !was_held) {
        if (drained && c->ops->on_room)
            c->ops->on_room(c->arg);
        return;
    }
    PX_AUTO(px_buf) rest = px_buf_take(&c->rest);
    if (drained && c->ops->on_room)
        c->ops->on_room(c->arg);
    if (c->lost || c->doomed)
        return;
    if (px_conn_is_held(c)) { /* stopped again */
        c->rest = px_buf_take(&rest);
        return;
    }
    pmix_status_t rc = feed(c, rest.data, rest.len);
    if (rc)
        conn_lost(c, rc);
}

static void settle(struct px_conn *c)
{
    set_interest(c);
    set_least(c);
    charge(c);
    c->dispatching = false;
    if (c->doomed && !c->posted)
        conn_free(c);
}

static void on_ready(void *arg, int fd PX_UNUSED, unsigned events)
{
    struct px_conn *c = arg;

    c->dispatching = true;
    if (events & PX_WRITABLE) {
        c->full = false;
        if (flush(c))
            conn_lost(c, PMIX_ERR_LOST_CONNECTION);
        else if (c->held || c->awaited)
            let_go(c);
    }
    if ((events & PX_READABLE) && !c->lost && !c->doomed)
        receive(c);
    settle(c);
}

static void on_later(struct px_msg *msg)
{
    struct px_conn *c = PX_CONTAINER_OF(msg, struct px_conn, later);

    c->posted = false;
    c->dispatching = true;
    if (!c->doomed && !c->lost && !c->failed && !c->full && flush(c))
        conn_lost(c, PMIX_ERR_LOST_CONNECTION);
    if (!c->doomed && !c->lost && !c->failed &&
        (c->goes_on || c->resumed || c->awaited))
        let_go(c);
    if (!c->doomed && !c->lost && !c->failed && c->wanted)
        receive(c);
    c->wanted = false;
    if (!c->doomed && c->failed)
        conn_lost(c, c->why);
    settle(c);
}

pmix_status_t px_conn_create(struct px_loop *loop, int fd,
                             const struct px_conn_ops *ops, void *arg,
                             struct px_conn **conn)
{
    struct px_conn *c = calloc(1, sizeof(*c));

    if (!c)
        return PMIX_ERR_NOMEM;
    px_list_init(&c->out);
    c->ops = ops;
    c->arg = arg;
    c->loop = loop;
    c->later.run = on_later;
    c->fd = c->brought = -1;
    c->least = c->least_set = 1;
    c->watch = px_watch_create(loop, fd, PX_READABLE, on_ready, c);
    if (!c->watch) {
        free(c);
        return PMIX_ERR_NOMEM;
    }
    c->fd = fd;
    c->interest = PX_READABLE;
    *conn = c;
    return PMIX_SUCCESS;
}

/* Returns the part for a frame of n bytes that are copied; adds a part if necessary. */
static struct out_part *part_for(struct px_conn *c, size_t n, int fd)
{
    struct out_part *p = PX_CONTAINER_OF(c->out.prev, struct out_part, link);

    if (px_list_empty(&c->out) || fd >= 0 || p->body || p->head.len >= GATHER_B) {
        p = malloc(sizeof(*p));
        if (!p)
            return NULL;
        *p = (struct out_part){.fd = -1};
        px_list_append(&c->out, &p->link);
    }
    /* After a second frame, further frames probably come. */
    const size_t more = p->head.len > 0 && n < COPY_B ? COPY_B : n;
    if (p->head.cap - p->head.len >= n || !px_buf_reserve(&p->head, more))
        return p;
    if (p->head.len == 0)
        part_free(p);
    return NULL;
}

/* Queues a frame of bytes, which are short, and body. A long body gets another
 * reference, a short one is copied. bytes and body may be NULL. Takes fd on success. */
static pmix_status_t queue(struct px_conn *c, struct px_frame frame,
                           const px_buf *bytes, struct px_payload *body, int fd)
{
    const px_buf none = {0}, *tail = body ? &body->bytes : &none;
    bool is_long = tail->len > COPY_B;
    size_t len, copied;

    bytes = bytes ? bytes : &none;
    len = bytes->len + tail->len;
    copied = PX_FRAME_HEADER_B + bytes->len + (is_long ? 0 : tail->len);
    if (c->lost || c->doomed || c->failed)
        return PMIX_ERR_LOST_CONNECTION;
    if (len > PX_MAX_FRAME_B)
        return PMIX_ERR_OUT_OF_RESOURCE;
    if (c->unsent > PX_MAX_QUEUED_B) {
        px_conn_fail(c, PMIX_ERR_OUT_OF_RESOURCE);
        return PMIX_ERR_OUT_OF_RESOURCE;
    }
    if ((c->unsent > PX_UNREAD_B || len > GATHER_B) &&
        !has_room(c, (int64_t)len - BEYOND_B))
        return PMIX_ERR_OUT_OF_RESOURCE;
    struct out_part *p = part_for(c, copied, fd);
    if (!p)
        return PMIX_ERR_NOMEM;
    frame.nbytes = (uint32_t)len;
    px_frame_encode(p->head.data + p->head.len, &frame);
    p->head.len += PX_FRAME_HEADER_B;
    px_buf_put(&p->head, bytes->data, bytes->len);
    if (is_long)
        p->body = px_payload_ref(body);
    else
        px_buf_put(&p->head, tail->data, tail->len);
    if (fd >= 0)
        p->fd = fd;
    c->unsent += PX_FRAME_HEADER_B + len;
    c->held |= c->ops->on_room && c->unsent > PX_UNREAD_B;
    charge(c);
    return PMIX_SUCCESS;
}

/* Sends the queue at the end of the pass, or now if it is long. */
static pmix_status_t queued(struct px_conn *c)
{
    pmix_status_t rc;

    if (c->full) /* on_ready continues */
        return PMIX_SUCCESS;
    if (c->unsent <= GATHER_B) {
        post_later(c);
        return PMIX_SUCCESS;
    }
    rc = flush(c);
    if (rc)
        px_conn_fail(c, rc);
    c->held &= c->unsent > PX_UNREAD_B;
    set_interest(c);
    charge(c);
    return rc;
}

pmix_status_t px_conn_send(struct px_conn *c, int32_t pindex, uint32_t tag,
                           px_buf *bytes)
{
    const struct px_frame frame = {.pindex = pindex, .tag = tag};
    PX_AUTO(px_buf) own = px_buf_take(bytes);
    struct px_payload *payload = NULL;

    if (own.len > COPY_B && !(payload = px_payload_take(&own))) /* empties own */
        return PMIX_ERR_NOMEM;
    pmix_status_t rc = queue(c, frame, &own, payload, -1);
    px_payload_unref(payload);
    return rc ? rc : queued(c);
}

pmix_status_t px_conn_share(struct px_conn *c, uint32_t tag, const px_buf *head,
                            struct px_payload *payload, bool waits)
{
    pmix_status_t rc = queue(c, (struct px_frame){.tag = tag}, head, payload, -1);

    return rc || (waits && c->unsent <= GATHER_B) ? rc : queued(c);
}

void px_conn_flush(struct px_conn *c)
{
    if (c->unsent > 0)
        (void)queued(c);
}

pmix_status_t px_conn_append(struct px_conn *c, uint32_t tag, px_buf *bytes)
{
    PX_AUTO(px_buf) own = px_buf_take(bytes);

    return queue(c, (struct px_frame){.tag = tag}, &own, NULL, -1);
}

static bool is_unix(const struct px_conn *c)
{
    int domain = AF_UNSPEC;
    socklen_t len = sizeof(domain);

    return c->fd >= 0 && !getsockopt(c->fd, SOL_SOCKET, SO_DOMAIN, &domain, &len) &&
           domain == AF_UNIX;
}

pmix_status_t px_conn_enclose(struct px_conn *c, uint32_t tag, px_buf *payload, int fd)
{
    if (!is_unix(c))
        return PMIX_ERR_NOT_SUPPORTED;
    PX_AUTOCLOSE int own = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    pmix_status_t rc = own < 0 ? px_status_of_errno(errno)
                               : queue(c, (struct px_frame){.tag = tag}, payload, NULL,
                                       own);

    if (rc)
        return rc;
    (void)px_take_fd(&own);
    px_buf_cleanup(payload);
    return rc;
}

size_t px_conn_unsent(const struct px_conn *c)
{
    return c->unsent;
}

bool px_conn_is_held(const struct px_conn *c)
{
    return px_conn_is_full(c) || c->paused;
}

bool px_conn_is_full(const struct px_conn *c)
{
    return c->held || c->starved;
}

void px_conn_go_on(struct px_conn *c)
{
    if (!(c->starved || c->awaited) || c->lost || c->doomed)
        return;
    c->goes_on = true;
    post_later(c);
}

void px_conn_pause(struct px_conn *c, bool pause)
{
    if (c->lost || c->doomed)
        return;
    c->resumed = c->paused && !pause;
    c->paused |= pause;
    if (c->resumed)
        post_later(c);
    else
        set_interest(c);
}

pmix_status_t px_conn_set_least(struct px_conn *c, size_t n)
{
    if (is_unix(c))
        return PMIX_ERR_NOT_SUPPORTED;
    c->least = (int)n;
    if (!c->dispatching)
        set_least(c);
    return PMIX_SUCCESS;
}

void px_conn_read(struct px_conn *c)
{
    if (c->lost || c->doomed)
        return;
    c->wanted = true;
    post_later(c);
}

void px_conn_await_room(struct px_conn *c)
{
    c->awaited = true;
}

bool px_conn_is_stuck(const struct px_conn *c, uint64_t since_ms, bool room_wanted)
{
    bool out = c->full && (c->held || c->awaited || room_wanted) &&
               c->out_since_ms <= since_ms;
    bool in = c->in_b > 0 && !c->starved && room_wanted && c->in_since_ms <= since_ms;

    return !c->lost && !c->doomed && !c->failed && (out || in);
}

void px_conn_destroy(struct px_conn *c)
{
    if (!c || c->doomed)
        return;
    if (!c->lost && c->fd >= 0)
        (void)flush(c);
    c->doomed = true;
    charge(c);
    conn_shut(c);
    if (!c->dispatching && !c->posted)
        conn_free(c);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* A framed connection: whole messages in and out of a non-blocking socket. Loop
 * thread only. */
#ifndef PX_LINK_CONN_H
#define PX_LINK_CONN_H

#include "core/base/buf.h"
#include "core/rt/loop.h"
#include "core/wire/frame.h"

struct px_conn;

struct px_conn_ops {
    /* payload is borrowed for the call. The callee may destroy the connection. */
    void (*on_frame)(void *arg, const struct px_frame *frame, const uint8_t *payload);
    /* Once: peer closed (PMIX_ERR_LOST_CONNECTION), or it broke the rules. The
     * connection is dead but still the owner's to destroy. */
    void (*on_lost)(void *arg, pmix_status_t why);
    /* With this, nothing is read while the peer leaves PX_UNREAD_B unread; called when
     * it has read most of that, and as px_conn_await_room says. For the side that
     * answers: if both did so, each might wait for the other. */
    void (*on_room)(void *arg);
    /* With these, the bytes of frames on their way are charged as they change; unread
     * is for those among them that the peer has to read. A frame that finds no room is
     * not begun to be read, or not delivered, until px_conn_go_on; to send one is
     * PMIX_ERR_OUT_OF_RESOURCE, except if it is short or the first of those beyond.
     * more > 0: to begin; less: without so many that are charged. */
    void (*charge)(void *arg, int64_t change, int64_t unread);
    bool (*has_room)(void *arg, int64_t more);
    /* The frames that may bring a descriptor: on_frame takes it, or it is closed, as
     * are all that come otherwise. 0: none. */
    uint32_t fd_tag;
};

/* Takes fd on success. */
pmix_status_t px_conn_create(struct px_loop *loop, int fd,
                             const struct px_conn_ops *ops, void *arg,
                             struct px_conn **conn);
/* Takes the payload's memory, also on failure. The frame goes out as the socket
 * allows, with others of the same pass of the loop; one behind more than
 * PX_MAX_QUEUED_B is PMIX_ERR_OUT_OF_RESOURCE and ends the connection. A payload larger
 * than PX_MAX_FRAME_B is PMIX_ERR_OUT_OF_RESOURCE, too, and the connection goes on, as
 * after PMIX_ERR_NOMEM. */
pmix_status_t px_conn_send(struct px_conn *conn, int32_t pindex, uint32_t tag,
                           px_buf *payload);
/* A payload that frames of several connections share; its memory goes with the last of
 * them. */
struct px_payload {
    unsigned refs;
    px_buf bytes;
};
/* Takes the bytes, unless it is NULL: no memory. */
struct px_payload *px_payload_take(px_buf *bytes);
static inline struct px_payload *px_payload_ref(struct px_payload *p)
{
    p->refs++;
    return p;
}
void px_payload_unref(struct px_payload *p); /* NULL is fine */
/* As px_conn_send, but the payload stays the caller's, and is sent behind a head, which
 * is short (NULL: none). PMIX_ERR_OUT_OF_RESOURCE may also mean that there is no room
 * for now. */
pmix_status_t px_conn_share(struct px_conn *conn, uint32_t tag, const px_buf *head,
                            struct px_payload *payload);
/* As px_conn_send, but with the next frame that is sent; bytes are short. */
pmix_status_t px_conn_append(struct px_conn *conn, uint32_t tag, px_buf *bytes);
/* A frame with a descriptor, of which a duplicate is kept, over a Unix socket. It goes
 * out with the next frame that is sent. The payload's memory is taken on success.
 * PMIX_ERR_NOT_SUPPORTED: it is another socket. */
pmix_status_t px_conn_enclose(struct px_conn *conn, uint32_t tag, px_buf *payload,
                              int fd);
/* Inside on_frame: the descriptor that the frame has brought, the caller's from now on;
 * -1: none, or there was no room for it in this process. */
int px_conn_take_fd(struct px_conn *conn);
/* Gives the connection up: what is queued is lost, and on_lost is called later. */
void px_conn_fail(struct px_conn *conn, pmix_status_t why);
/* Bytes not yet handed to the kernel. */
size_t px_conn_unsent(const struct px_conn *conn);
/* Nothing is read; on_room will be called. */
bool px_conn_is_held(const struct px_conn *conn);
/* There may be room again. */
void px_conn_go_on(struct px_conn *conn);
/* While the owner has no use for them, no frames are delivered, and nothing is read. */
void px_conn_pause(struct px_conn *conn, bool pause);
/* The owner has more to send: on_room is called once when most of what is unsent has
 * gone, or where there was no room, there may be some. */
void px_conn_await_room(struct px_conn *conn);
/* Since that time (of px_clock_ms) the peer has read nothing, although it has more than
 * PX_UNREAD_B to read, or its owner has more for it; or, where room is wanted, although
 * it has anything, or it has not sent the rest of a frame. */
bool px_conn_is_stuck(const struct px_conn *conn, uint64_t since_ms, bool room_wanted);
/* Tries once more to send what is queued, closes. NULL is fine; safe inside a
 * callback. */
void px_conn_destroy(struct px_conn *conn);

#define PX_MAX_QUEUED_B (256u * 1024u * 1024u)
#define PX_UNREAD_B     (4u * 1024u * 1024u)
/* So much is unsent at most when most of it has gone. */
#define PX_DRAINED_B (64u * 1024u)

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Framed connection: whole messages in and out of a non-blocking socket. Loop thread
 * only. */
#ifndef PX_LINK_CONN_H
#define PX_LINK_CONN_H

#include "core/base/buf.h"
#include "core/link/payload.h"
#include "core/rt/loop.h"
#include "core/wire/frame.h"

struct px_conn;

struct px_conn_ops {
    /* Delivers a frame. payload is borrowed for the call. The callee may destroy the
     * connection. */
    void (*on_frame)(void *arg, const struct px_frame *frame, const uint8_t *payload);
    /* Reports once that the peer closed (PMIX_ERR_LOST_CONNECTION) or broke the
     * protocol. The connection is dead, and the owner must still destroy it. */
    void (*on_lost)(void *arg, pmix_status_t why);
    /* Called when the peer has read most of its data, and as px_conn_await_room
     * describes. If set, reading stops while the peer leaves PX_UNREAD_B unread. Only
     * for the answering side: if both sides did so, each might wait for the other. */
    void (*on_room)(void *arg);
    /* charge reports changes of the number of bytes in transit; unread is the part that
     * the peer has to read. has_room is asked whether more bytes fit (more > 0: for a
     * new frame; less than 0: without charged bytes). An incoming frame without room is
     * not read or not delivered until px_conn_go_on. An outgoing frame without room
     * fails with PMIX_ERR_OUT_OF_RESOURCE, unless it is short or the first above the
     * limit. Both may be NULL. */
    void (*charge)(void *arg, int64_t change, int64_t unread);
    bool (*has_room)(void *arg, int64_t more);
    /* Tag of frames that may have a descriptor, which on_frame takes; other descriptors
     * are closed. 0: descriptors are not accepted. */
    uint32_t fd_tag;
};

/* Creates a connection. Takes fd on success. */
pmix_status_t px_conn_create(struct px_loop *loop, int fd,
                             const struct px_conn_ops *ops, void *arg,
                             struct px_conn **conn);
/* Sends a frame when the socket allows, with other frames of the same pass. Takes the
 * payload's memory, also on failure. Returns PMIX_ERR_OUT_OF_RESOURCE for a payload
 * above PX_MAX_FRAME_B, or PMIX_ERR_NOMEM; the connection then continues. A queue above
 * PX_MAX_QUEUED_B is PMIX_ERR_OUT_OF_RESOURCE, too, and ends the connection. */
pmix_status_t px_conn_send(struct px_conn *conn, int32_t pindex, uint32_t tag,
                           px_buf *payload);
/* Works like px_conn_send, but shares the payload and sends it behind a short head (may
 * be NULL). waits: for another frame, for px_conn_flush, or until many bytes wait.
 * PMIX_ERR_OUT_OF_RESOURCE may also mean a temporary lack of room. */
pmix_status_t px_conn_share(struct px_conn *conn, uint32_t tag, const px_buf *head,
                            struct px_payload *payload, bool waits);
/* Sends frames that wait. */
void px_conn_flush(struct px_conn *conn);
/* Works like px_conn_send for short bytes, but sends them with the next frame. */
pmix_status_t px_conn_append(struct px_conn *conn, uint32_t tag, px_buf *bytes);
/* Queues a frame with a duplicate of fd on a Unix socket. The next frame sends both.
 * Takes the payload's memory on success. Returns PMIX_ERR_NOT_SUPPORTED on other
 * sockets. */
pmix_status_t px_conn_enclose(struct px_conn *conn, uint32_t tag, px_buf *payload,
                              int fd);
/* Returns, inside on_frame, the frame's descriptor, which the caller then owns. Returns
 * -1 if there is none, or it did not fit into this process's table. */
int px_conn_take_fd(struct px_conn *conn);
/* Returns, inside on_frame, the memory of the payload, which the caller then owns. The
 * payload stays where it is. Empty if other frames share the memory. */
px_buf px_conn_take_payload(struct px_conn *conn);
/* Ends the connection. The queue is lost, and on_lost is called later. */
void px_conn_fail(struct px_conn *conn, pmix_status_t why);
/* Returns the number of bytes not yet passed to the kernel. */
size_t px_conn_unsent(const struct px_conn *conn);
/* True if reading has stopped. */
bool px_conn_is_held(const struct px_conn *conn);
/* True if reading has stopped for lack of room; on_room will be called. */
bool px_conn_is_full(const struct px_conn *conn);
/* Continues after has_room refused: there may be room again. */
void px_conn_go_on(struct px_conn *conn);
/* Stops or restarts reading and delivery of frames. */
void px_conn_pause(struct px_conn *conn, bool pause);
/* Leaves frames shorter than n bytes with their headers in the kernel until more bytes
 * come, or px_conn_read. n 1: reads each frame at once. Returns PMIX_ERR_NOT_SUPPORTED
 * on Unix sockets, whose frames are read at once. */
pmix_status_t px_conn_set_least(struct px_conn *conn, size_t n);
/* Reads what the kernel has, before messages that are posted later. */
void px_conn_read(struct px_conn *conn);
/* Requests one call of on_room: when most unsent bytes have been sent, or there may be
 * room again. */
void px_conn_await_room(struct px_conn *conn);
/* True if the peer has made no progress since since_ms (of px_clock_ms). The peer has
 * more than PX_UNREAD_B to read, or the owner waits for room. With room_wanted, any
 * unread byte or an incomplete frame counts. */
bool px_conn_is_stuck(const struct px_conn *conn, uint64_t since_ms, bool room_wanted);
/* Tries once more to send the queue, then closes. conn may be NULL; allowed inside a
 * callback. */
void px_conn_destroy(struct px_conn *conn);

#define PX_MAX_QUEUED_B (256u * 1024u * 1024u)
#define PX_UNREAD_B     (4u * 1024u * 1024u)
/* Bytes read from one peer before other descriptors get their turn. */
#define PX_READ_TURN_B (1024u * 1024u)
/* Most of the queue has been sent if at most this number of bytes is left. */
#define PX_DRAINED_B (64u * 1024u)

#endif

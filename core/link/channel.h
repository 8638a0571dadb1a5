/* SPDX-License-Identifier: BSD-3-Clause */
/* Channel from this process's API to its server: sends requests with tags, and receives
 * one reply for each. A client's channel uses a socket. A server process's channel
 * leads to its own dispatcher, so that every call has one implementation. Loop thread
 * only. */
#ifndef PX_LINK_CHANNEL_H
#define PX_LINK_CHANNEL_H

#include "core/base/map.h"
#include "core/wire/hello.h"
#include "core/wire/requests.h"

/* Receives a reply, exactly once, never from inside px_channel_request. With status
 * PMIX_SUCCESS, reply holds the payload. Otherwise the connection is gone, or the time
 * limit is over (status has the reason), and reply is NULL. */
typedef void (*px_reply_fn)(void *arg, pmix_status_t status, px_reader *reply);

struct px_loop;

struct px_channel {
    /* Sends and takes the payload. NULL: this process has no server. */
    pmix_status_t (*send)(void *ctx, uint32_t tag, px_buf *payload);
    void *ctx;
    struct px_codec codec;
    struct px_version server_version;
    pmix_proc_t server;
    uint32_t last_tag;
    struct px_map pending; /* tag -> struct px_pending */
};

/* Starts a request: initialises the writer and packs the command. */
void px_channel_begin(const struct px_channel *up, px_writer *w, uint8_t op);
/* Sends the content of w, which is freed in any case. Returns PMIX_ERR_UNREACH without
 * a server, or w's error if packing failed; fn is not called then. fn NULL: no reply is
 * expected. */
pmix_status_t px_channel_request(struct px_channel *up, px_writer *w, px_reply_fn fn,
                                 void *arg);
/* Sends the message that a table makes of args. */
pmix_status_t px_channel_ask(struct px_channel *up, const struct px_request *request,
                             const struct px_args *args, px_reply_fn fn, void *arg);
/* Limits the time of the last request. Its function then gets PMIX_ERR_TIMEOUT, and a
 * later reply is dropped. Without memory the request has no limit. */
void px_channel_limit(struct px_channel *up, struct px_loop *loop, uint64_t ms);
/* Sends an empty frame with a tag that is not a request's. The server does
 * not reply. */
pmix_status_t px_channel_signal(struct px_channel *up, uint32_t tag);
/* Delivers a reply. Returns PMIX_ERR_NOT_FOUND if no request has the tag. */
pmix_status_t px_channel_reply(struct px_channel *up, uint32_t tag,
                               const uint8_t *payload, size_t n);
/* Removes the request with this tag, which will not get a reply. */
void px_channel_forget(struct px_channel *up, uint32_t tag);
/* Fails all pending requests and disconnects, after the loss of the server. */
void px_channel_fail(struct px_channel *up, pmix_status_t why);

#endif

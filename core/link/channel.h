/* SPDX-License-Identifier: BSD-3-Clause */
/* The way from this process's API to its server: requests with tags out, one reply
 * each back. In a client a socket carries them; in a server process they go round to
 * its own dispatcher, so that every call has one implementation. Loop thread only. */
#ifndef PX_LINK_CHANNEL_H
#define PX_LINK_CHANNEL_H

#include "core/base/map.h"
#include "core/wire/hello.h"
#include "core/wire/requests.h"

/* status PMIX_SUCCESS: reply holds the payload. Otherwise the connection is gone
 * (status says why) and reply is NULL. Called exactly once, never from inside
 * px_channel_request. */
typedef void (*px_reply_fn)(void *arg, pmix_status_t status, px_reader *reply);

struct px_channel {
    /* Takes the payload. Set by the one that connects; NULL: this process has no
     * server. */
    pmix_status_t (*send)(void *ctx, uint32_t tag, px_buf *payload);
    void *ctx;
    struct px_codec codec;
    struct px_version server_version;
    pmix_proc_t server;
    uint32_t last_tag;
    struct px_map pending; /* tag -> struct px_pending */
};

/* Starts a request: an initialised writer with the command packed. */
void px_channel_begin(const struct px_channel *up, px_writer *w, uint8_t op);
/* Sends what w holds, which is freed in any case. PMIX_ERR_UNREACH without a server;
 * w's own error if packing failed; then fn is not called. fn NULL: no reply is
 * expected. */
pmix_status_t px_channel_request(struct px_channel *up, px_writer *w, px_reply_fn fn,
                                 void *arg);
/* The same of the message that a table makes of args. */
pmix_status_t px_channel_ask(struct px_channel *up, const struct px_request *request,
                             const struct px_args *args, px_reply_fn fn, void *arg);
/* Sends a frame without content under a tag that is no request's; there is no
 * answer. */
pmix_status_t px_channel_signal(struct px_channel *up, uint32_t tag);
/* A reply has come. PMIX_ERR_NOT_FOUND if no request has the tag. */
pmix_status_t px_channel_reply(struct px_channel *up, uint32_t tag,
                               const uint8_t *payload, size_t n);
/* No reply will come to the request of the tag. */
void px_channel_forget(struct px_channel *up, uint32_t tag);
/* The server is gone: fails everything pending and disconnects. */
void px_channel_fail(struct px_channel *up, pmix_status_t why);

#endif

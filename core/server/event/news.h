/* SPDX-License-Identifier: BSD-3-Clause */
/* An event on its way to peers. Loop thread only. */
#ifndef PX_SERVER_EVENT_NEWS_H
#define PX_SERVER_EVENT_NEWS_H

#include "core/notify/notify.h"
#include "core/wire/codec.h"

struct px_payload;
struct px_peer;
struct px_server;

/* Info that shows hosts and servers that an event has passed a server. */
#define PX_PASSED_SERVER "pmix.srvr.internal.notify"

/* An event that is being delivered. */
struct px_news {
    uint64_t number; /* later events have greater numbers */
    pmix_status_t code;
    const pmix_proc_t *source; /* borrowed, like the infos */
    uid_t uid;                 /* of the source; root's events reach all */
    struct px_peer *sender;    /* NULL: this server, or its host */
    pmix_data_range_t range;
    bool to_source;  /* the source gets the event, too */
    bool is_bounded; /* delivery may take several turns */
    bool follows;    /* begins in a later turn, after another event of the sender */
    bool lost;       /* a peer misses the event for lack of memory */
    uint32_t last;   /* pindex of the last peer that was considered */
    unsigned done;   /* enum px_event_receivers: have the event already */
    const pmix_info_t *info;
    size_t n;
    struct px_aim aim;          /* of the infos */
    struct px_payload *message; /* packed for the last peer, in its codec */
    struct px_codec codec;
    size_t n_steps; /* work so far, in items; see px_work */
};

/* Begins a turn of a delivery: reads the infos. */
void px_news_begin(struct px_server *srv, struct px_news *e);
/* Ends the turn, and counts the work for the sender. The message stays for the next
 * turn. */
void px_news_end_turn(struct px_news *e);
/* Ends the delivery, also within a turn. */
void px_news_end(struct px_news *e);
/* False if the source, the user or the range excludes the peer. Reads no custom range:
 * aim.is_custom alone must be set. */
bool px_news_may_concern(const struct px_news *e, const struct px_peer *peer);
/* True if the peer may get the event. A source runs its own handlers itself. */
bool px_news_may_reach(struct px_news *e, const struct px_peer *peer);
/* Sends the event to a peer. Consecutive peers of the same codec share the message. */
void px_news_send(struct px_peer *peer, struct px_news *e);
/* Sends the event to peers after e->last, in the order of their connections. Returns
 * false if the work of a turn is done and peers may be left. */
bool px_news_spread(struct px_server *srv, struct px_news *e, size_t *n_sent);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/server/event/news.h"

#include "core/link/conn.h"
#include "core/rt/log.h"
#include "core/server/event/interests.h"
#include "core/server/host.h"
#include "core/server/peer/authority.h"
#include "core/server/peer/peer.h"
#include "core/server/peer/turn.h"
#include "core/server/server.h"

#include <string.h>

/* Work in items; see px_work. */
#define PEERS_PER_ITEM 8u    /* peers that an event is compared with */
#define SEND_ITEMS     32u   /* of an event that is sent to one peer */
#define JOIN_ITEMS     1u    /* of an event that leaves with earlier ones */
#define SHARED_ITEM_B  4096u /* bytes of a message that all peers share: an item */

void px_news_begin(struct px_server *srv, struct px_news *e)
{
    e->aim = px_aim_of(srv->model, e->code, e->info, e->n);
    e->n_steps = e->n;
}

void px_news_end_turn(struct px_news *e)
{
    px_aim_fini(&e->aim);
    if (e->sender)
        (void)px_work(e->sender, e->n_steps);
}

void px_news_end(struct px_news *e)
{
    px_payload_unref(e->message);
    e->message = NULL;
    px_aim_fini(&e->aim);
}

bool px_news_may_concern(const struct px_news *e, const struct px_peer *peer)
{
    return (e->to_source || !px_proc_same(&peer->proc, e->source)) &&
           px_user_may(e->uid, peer->uid) &&
           (e->aim.is_custom ||
            px_range_includes(NULL, e->range, e->source, &peer->proc));
}

bool px_news_may_reach(struct px_news *e, const struct px_peer *peer)
{
    size_t before = e->aim.range.n_steps;
    bool may = px_news_may_concern(e, peer) &&
               (!e->aim.is_custom ||
                px_range_includes(&e->aim, e->range, e->source, &peer->proc));

    e->n_steps += e->aim.range.n_steps - before;
    return may;
}

/* Packs the message, with info PX_PASSED_SERVER. NULL, with a log line, on failure. */
static struct px_payload *pack(struct px_codec codec, const struct px_news *e)
{
    PX_AUTOFREE pmix_info_t *infos = calloc(e->n + 1, sizeof(*infos));
    struct px_payload *message = NULL;
    px_writer w;

    px_writer_init(&w, codec);
    if (infos) {
        if (e->n)
            memcpy(infos, e->info, e->n * sizeof(*infos));
        w.status = PMIx_Info_load(&infos[e->n], PX_PASSED_SERVER, NULL, PMIX_BOOL);
        px_pack_op(&w, PX_OP_NOTIFY);
        px_pack_status(&w, e->code);
        px_pack(&w, e->source, 1, PMIX_PROC);
        px_pack_infos(&w, infos, e->n + 1);
        px_pack_u8(&w, e->range, PMIX_DATA_RANGE);
        message = w.status ? NULL : px_payload_take(&w.buf);
    }
    if (!message)
        px_log(PX_LOG_WARN, "server", "cannot pack event %s: %s",
               PMIx_Error_string(e->code),
               PMIx_Error_string(w.status ? w.status : PMIX_ERR_NOMEM));
    px_writer_cleanup(&w);
    return message;
}

void px_news_send(struct px_peer *peer, struct px_news *e)
{
    if (e->codec.dialect != peer->codec.dialect ||
        e->codec.described != peer->codec.described) {
        px_payload_unref(e->message);
        e->codec = peer->codec;
        e->message = pack(peer->codec, e);
        e->n_steps += e->n;
    }
    e->lost |= !e->message;
    if (!e->message || !peer->conn)
        return;
    e->n_steps += e->message->bytes.len / SHARED_ITEM_B;
    e->n_steps += px_conn_unsent(peer->conn) > 0 ? JOIN_ITEMS : SEND_ITEMS;
    pmix_status_t rc = px_conn_share(peer->conn, PX_TAG_NOTIFY, NULL, e->message,
                                     true);
    px_send_late(peer);
    if (rc == PMIX_ERR_NOMEM)
        px_log(PX_LOG_ERROR, "server", "cannot send event %s to %s.%u: out of memory",
               PMIx_Error_string(e->code), peer->proc.nspace, peer->proc.rank);
    e->lost |= rc == PMIX_ERR_NOMEM;
    if (rc == PMIX_ERR_OUT_OF_RESOURCE && e->message->bytes.len <= PX_MAX_FRAME_B)
        px_conn_fail(peer->conn, rc); /* it does not read; events must not be lost */
}

bool px_news_spread(struct px_server *srv, struct px_news *e, size_t *n_sent)
{
    size_t n_peers = 0;

    PX_LIST_EACH (&srv->peers, struct px_peer, p, link) {
        n_peers++;
        if (p->pindex <= e->last)
            continue;
        if (e->is_bounded && e->n_steps > PX_TURN_ITEMS)
            return false;
        e->last = p->pindex;
        if (p->finalized ||
            !px_interests_want(p->interests, &e->aim, UINT64_MAX, e->number,
                               &e->n_steps) ||
            !px_news_may_reach(e, p))
            continue;
        px_news_send(p, e);
        ++*n_sent;
    }
    e->n_steps += n_peers / PEERS_PER_ITEM;
    if (!e->lost)
        e->done |= PX_EVENT_AT_PEERS;
    return true;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* The codes of events that this process has asked its server for. */
#include "core/link/api.h"
#include "core/notify/notify_impl.h"

struct code_count {
    pmix_status_t code;
    size_t n;
};

void px_notify_codes_fini(struct px_notify *n)
{
    struct code_count *c;
    size_t pos = 0;

    while ((c = px_map_next(&n->codes, &pos, NULL, NULL)))
        free(c);
    px_map_fini(&n->codes);
}

bool px_notify_code_added(struct px_notify *n, pmix_status_t code)
{
    struct code_count *c = px_map_get(&n->codes, &code, sizeof code);

    if (c) {
        c->n++;
        return false;
    }
    c = calloc(1, sizeof *c);
    if (!c)
        return true;
    c->code = code;
    c->n = 1;
    if (px_map_put(&n->codes, &code, sizeof code, c, NULL))
        free(c);
    return true;
}

/* True if that was the last handler for the code. */
static bool code_dropped(struct px_notify *n, pmix_status_t code)
{
    struct code_count *c = px_map_get(&n->codes, &code, sizeof code);

    if (!c || --c->n > 0)
        return false;
    px_map_remove(&n->codes, &code, sizeof code);
    free(c);
    return true;
}

bool px_notify_has_server(void)
{
    return px_process.channel->send && !px_process.notify->hooks.own_event;
}

/* No reply is made to this message. */
static void withdraw(const pmix_status_t *codes, size_t n)
{
    struct px_channel *up = px_process.channel;
    px_writer w;

    px_channel_begin(up, &w, PX_OP_DEREGEVENTS);
    for (size_t i = 0; i < n; i++)
        px_pack_status(&w, codes[i]);
    (void)px_channel_request(up, &w, NULL, NULL);
}

void px_notify_retire(struct px_notify *n, struct px_handler *h)
{
    PX_AUTOFREE pmix_status_t *gone = malloc((h->n_codes + 1) * sizeof *gone);
    size_t n_gone = 0;

    /* Without memory the server goes on sending what is not wanted, which does no
     * harm. */
    for (size_t i = 0; gone && i < h->n_codes; i++)
        if (code_dropped(n, h->codes[i]))
            gone[n_gone++] = h->codes[i];
    if (gone && h->n_codes == 0 && code_dropped(n, PX_DEFAULT_CODE))
        gone[n_gone++] = PX_DEFAULT_CODE;
    px_handlers_remove(&n->handlers, h);
    if (n_gone > 0 && px_notify_has_server())
        withdraw(gone, n_gone);
}

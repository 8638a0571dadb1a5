/* SPDX-License-Identifier: BSD-3-Clause */
/* Creation and destruction of the state that the API calls of a process share. */
#include "core/link/client_state.h"

struct px_client *px_client_create(struct px_loop *loop, struct px_model *model)
{
    struct px_client *c = calloc(1, sizeof(*c));

    if (!c)
        return NULL;
    c->loop = loop;
    c->model = model;
    c->channel.codec = px_codec_default;
    px_writer_init(&c->put, px_codec_default);
    px_list_init(&c->fences);
    px_list_init(&c->late_gets);
    px_list_init(&c->groups);
    px_list_init(&c->invitations);
    return c;
}

static void free_lent(struct px_map *lent)
{
    struct px_lent *l, *older;
    size_t pos = 0;

    while ((l = px_map_next(lent, &pos, NULL, NULL)))
        for (; l; l = older) {
            older = l->older;
            px_type_destruct(PMIX_VALUE, &l->value);
            free(l);
        }
    px_map_fini(lent);
}

void px_client_destroy(struct px_client *c)
{
    if (!c)
        return;
    free_lent(&c->lent);
    px_map_fini(&c->channel.pending);
    px_writer_cleanup(&c->put);
    px_writer_cleanup(&c->section);
    px_map_fini(&c->put_alone);
    px_map_fini(&c->pending_gets);
    PX_LIST_EACH (&c->groups, struct px_group, g, link)
        free(g);
    free(c);
}

void px_client_reset_put(struct px_client *c, struct px_codec codec)
{
    px_writer_cleanup(&c->put);
    px_writer_init(&c->put, codec);
}

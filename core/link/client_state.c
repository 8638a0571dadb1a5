/* SPDX-License-Identifier: BSD-3-Clause */
/* State that all API calls of a process share, and values that programs borrow. */
#include "core/link/client_state.h"

#include "core/base/str.h"

/* A value that the library has lent to the program. */
struct lent {
    struct lent *older;
    pmix_value_t value;
};

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
    struct lent *l, *older;
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

pmix_value_t *px_client_lend(struct px_client *c, const pmix_proc_t *proc,
                             const char *key, pmix_value_t *v)
{
    PX_AUTOFREE char *name = px_strf("%s:%u:%s", proc->nspace, proc->rank,
                                     key ? key : "");
    struct lent *newest = name ? px_map_sget(&c->lent, name) : NULL, *l = newest;

    while (l && px_type_compare(PMIX_VALUE, &l->value, v) != 0)
        l = l->older;
    if (l) {
        px_type_destruct(PMIX_VALUE, v);
        return &l->value;
    }
    l = name ? malloc(sizeof(*l)) : NULL;
    if (l) {
        *l = (struct lent){.older = newest, .value = *v};
        if (px_map_sput(&c->lent, name, l, NULL) == PMIX_SUCCESS)
            return &l->value;
        free(l);
    }
    px_type_destruct(PMIX_VALUE, v);
    return NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* PMIx_Info_list_*: lists of infos with an opaque form. A linked list, because programs
 * keep pointers to infos while they add others. */
#include "core/base/list.h"
#include "core/types/type.h"
#include "pmix_common.h"

struct node {
    struct px_list link;
    pmix_info_t info;
};

struct info_list {
    struct px_list nodes;
    size_t n;
};

static pmix_info_t *find(struct info_list *l, const char *key)
{
    PX_LIST_EACH (&l->nodes, struct node, node, link)
        if (PMIx_Check_key(node->info.key, key))
            return &node->info;
    return NULL;
}

enum how { AT_FRONT, AT_BACK, ONCE, IN_PLACE };

/* Adds *info and takes ownership of its contents. A status rc other than PMIX_SUCCESS
 * means that *info was not made, and is returned. ONCE keeps an existing info with the
 * key; IN_PLACE replaces it. */
static pmix_status_t insert(void *list, pmix_status_t rc, pmix_info_t *info,
                            enum how how)
{
    struct info_list *l = list;

    if (rc)
        return rc;
    if (!l) {
        PMIx_Info_destruct(info);
        return PMIX_ERR_BAD_PARAM;
    }
    pmix_info_t *found = how < ONCE ? NULL : find(l, info->key);
    if (found) {
        pmix_info_t old = how == IN_PLACE ? *found : *info;
        if (how == IN_PLACE)
            *found = *info;
        PMIx_Info_destruct(&old);
        return PMIX_SUCCESS;
    }
    struct node *node = malloc(sizeof(*node));
    if (!node) {
        PMIx_Info_destruct(info);
        return PMIX_ERR_NOMEM;
    }
    node->info = *info;
    if (how == AT_FRONT)
        px_list_prepend(&l->nodes, &node->link);
    else
        px_list_append(&l->nodes, &node->link);
    l->n++;
    return PMIX_SUCCESS;
}

static pmix_status_t load_value(pmix_info_t *info, const char *key,
                                const pmix_value_t *value)
{
    pmix_status_t rc = value ? PMIx_Info_load(info, key, NULL, PMIX_UNDEF)
                             : PMIX_ERR_BAD_PARAM;

    return rc ? rc : PMIx_Value_xfer(&info->value, value);
}

/* -- public: a NULL list is PMIX_ERR_BAD_PARAM ------------------------------------- */

PX_EXPORT void *PMIx_Info_list_start(void)
{
    struct info_list *l = calloc(1, sizeof(*l));

    if (l)
        px_list_init(&l->nodes);
    return l;
}

PX_EXPORT void PMIx_Info_list_release(void *list)
{
    struct info_list *l = list;

    if (!l)
        return;
    PX_LIST_EACH (&l->nodes, struct node, node, link) {
        PMIx_Info_destruct(&node->info);
        free(node);
    }
    free(l);
}

PX_EXPORT pmix_status_t PMIx_Info_list_add(void *list, const char *key,
                                           const void *data, pmix_data_type_t type)
{
    pmix_info_t info;

    return insert(list, PMIx_Info_load(&info, key, data, type), &info, AT_BACK);
}

PX_EXPORT pmix_status_t PMIx_Info_list_prepend(void *list, const char *key,
                                               const void *data, pmix_data_type_t type)
{
    pmix_info_t info;

    return insert(list, PMIx_Info_load(&info, key, data, type), &info, AT_FRONT);
}

PX_EXPORT pmix_status_t PMIx_Info_list_add_unique(void *list, const char *key,
                                                  const void *data,
                                                  pmix_data_type_t type, bool overwrite)
{
    pmix_info_t info;

    return insert(list, PMIx_Info_load(&info, key, data, type), &info,
                  overwrite ? IN_PLACE : ONCE);
}

PX_EXPORT pmix_status_t PMIx_Info_list_add_value(void *list, const char *key,
                                                 const pmix_value_t *value)
{
    pmix_info_t info;

    return insert(list, load_value(&info, key, value), &info, AT_BACK);
}

PX_EXPORT pmix_status_t PMIx_Info_list_add_value_unique(void *list, const char *key,
                                                        const pmix_value_t *value,
                                                        bool overwrite)
{
    pmix_info_t info;

    return insert(list, load_value(&info, key, value), &info,
                  overwrite ? IN_PLACE : ONCE);
}

PX_EXPORT pmix_status_t PMIx_Info_list_xfer(void *list, const pmix_info_t *src)
{
    pmix_info_t info;

    return insert(list, PMIx_Info_xfer(&info, src), &info, AT_BACK);
}

PX_EXPORT pmix_status_t PMIx_Info_list_xfer_unique(void *list, const pmix_info_t *src,
                                                   bool overwrite)
{
    pmix_info_t info;

    return insert(list, PMIx_Info_xfer(&info, src), &info, overwrite ? IN_PLACE : ONCE);
}

PX_EXPORT pmix_status_t PMIx_Info_list_insert(void *list, pmix_info_t *src)
{
    if (!list || !src)
        return PMIX_ERR_BAD_PARAM;
    pmix_info_t lent = *src;
    lent.flags |= PMIX_INFO_PERSISTENT;
    return insert(list, PMIX_SUCCESS, &lent, AT_BACK);
}

PX_EXPORT pmix_status_t PMIx_Info_list_convert(void *list, pmix_data_array_t *array)
{
    struct info_list *l = list;
    pmix_status_t rc;
    size_t n = 0;

    if (!l || !array)
        return PMIX_ERR_BAD_PARAM;
    PMIx_Data_array_init(array, PMIX_INFO);
    if (l->n == 0)
        return PMIX_ERR_EMPTY;
    pmix_info_t *infos = PMIx_Info_create(l->n);
    if (!infos)
        return PMIX_ERR_NOMEM;
    PX_LIST_EACH (&l->nodes, struct node, node, link) {
        rc = PMIx_Info_xfer(&infos[n], &node->info);
        if (rc) {
            PMIx_Info_free(infos, n);
            return rc;
        }
        n++;
    }
    array->array = infos;
    array->size = n;
    return PMIX_SUCCESS;
}

PX_EXPORT size_t PMIx_Info_list_get_size(void *list)
{
    return list ? ((struct info_list *)list)->n : 0;
}

PX_EXPORT pmix_info_t *PMIx_Info_list_get_info(void *list, void *current, void **next)
{
    struct info_list *l = list;
    struct node *node = current;

    if (!next)
        return NULL;
    *next = NULL;
    if (!l || px_list_empty(&l->nodes))
        return NULL;
    if (!node)
        node = PX_CONTAINER_OF(l->nodes.next, struct node, link);
    if (node->link.next != &l->nodes)
        *next = PX_CONTAINER_OF(node->link.next, struct node, link);
    return &node->info;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers and their order: first, those of one code, of several, the default ones,
 * last; within a category the latest comes first unless it asked otherwise (PMIx
 * Standard, Event Notification). */
#include "core/notify/handlers.h"

#include <string.h>

void px_handlers_init(struct px_handlers *h)
{
    for (int c = 0; c < PX_N_CATEGORIES; c++)
        px_list_init(&h->category[c]);
}

static void handler_free(struct px_handler *h)
{
    if (!h)
        return;
    free(h->name);
    free(h->codes);
    free(h->affected);
    free(h->sources);
    free(h);
}

void px_handlers_fini(struct px_handlers *h)
{
    for (int c = 0; c < PX_N_CATEGORIES; c++) {
        PX_LIST_EACH (&h->category[c], struct px_handler, x, link) {
            px_list_remove(&x->link);
            handler_free(x);
        }
    }
    handler_free(h->first);
    handler_free(h->last);
    h->first = h->last = NULL;
}

pmix_status_t px_value_borrow_procs(const pmix_value_t *v, const pmix_proc_t **procs,
                                    size_t *n)
{
    const pmix_data_array_t *a = v->data.darray;

    if (v->type == PMIX_PROC && v->data.proc) {
        *n = 1;
        *procs = v->data.proc;
        return PMIX_SUCCESS;
    }
    if (v->type != PMIX_DATA_ARRAY || !a || a->type != PMIX_PROC ||
        (a->size && !a->array))
        return PMIX_ERR_BAD_PARAM;
    *n = a->size;
    *procs = a->array;
    return PMIX_SUCCESS;
}

pmix_status_t px_value_procs(const pmix_value_t *v, pmix_proc_t **procs, size_t *n)
{
    const pmix_proc_t *borrowed;
    pmix_status_t rc = px_value_borrow_procs(v, &borrowed, n);

    return rc ? rc : px_type_copy_array(PMIX_PROC, (void **)procs, borrowed, *n);
}

static pmix_status_t copy_str(char **out, const pmix_info_t *info)
{
    const char *s = px_value_string(&info->value);

    if (!s)
        return PMIX_ERR_BAD_PARAM;
    free(*out);
    *out = strdup(s);
    return *out ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static pmix_status_t read_range(struct px_handler *x, const pmix_info_t *info)
{
    uint64_t range;

    if (info->value.type == PMIX_DATA_RANGE)
        x->range = info->value.data.range;
    else if (px_value_to_u64(&info->value, &range) && range <= PMIX_RANGE_INVALID)
        x->range = (pmix_data_range_t)range;
    else
        return PMIX_ERR_BAD_PARAM;
    return PMIX_SUCCESS;
}

/* An attribute of the handler itself; place() reads those of its place. */
static pmix_status_t read_info(struct px_handler *x, const pmix_info_t *info)
{
    const char *key = info->key;

    if (strcmp(key, PMIX_EVENT_HDLR_NAME) == 0)
        return copy_str(&x->name, info);
    if (strcmp(key, PMIX_EVENT_AFFECTED_PROC) == 0 ||
        strcmp(key, PMIX_EVENT_AFFECTED_PROCS) == 0) {
        free(x->affected);
        x->affected = NULL;
        return px_value_procs(&info->value, &x->affected, &x->n_affected);
    }
    if (strcmp(key, PMIX_EVENT_CUSTOM_RANGE) == 0) {
        free(x->sources);
        x->sources = NULL;
        return px_value_procs(&info->value, &x->sources, &x->n_sources);
    }
    if (strcmp(key, PMIX_RANGE) == 0)
        return read_range(x, info);
    if (strcmp(key, PMIX_EVENT_RETURN_OBJECT) == 0) {
        x->object = info->value.data.ptr;
        x->has_object = true;
    } else if (strcmp(key, PMIX_EVENT_ONESHOT) == 0) {
        x->oneshot = px_value_truth(&info->value);
    }
    return PMIX_SUCCESS;
}

static struct px_handler *find_named(const struct px_list *category, const char *name)
{
    PX_LIST_EACH (category, struct px_handler, x, link)
        if (x->name && strcmp(x->name, name) == 0)
            return x;
    return NULL;
}

/* Before everything that did not ask to be first of its category; likewise at the
 * end. */
static void insert_default(struct px_list *category, struct px_handler *x, bool append)
{
    struct px_handler *edge = px_list_empty(category)
                                  ? NULL
                                  : PX_CONTAINER_OF(append ? category->prev
                                                           : category->next,
                                                    struct px_handler, link);

    if (append && edge && edge->in_category_last)
        px_list_insert_before(&edge->link, &x->link);
    else if (append)
        px_list_append(category, &x->link);
    else if (edge && edge->in_category_first)
        px_list_insert_before(edge->link.next, &x->link);
    else
        px_list_prepend(category, &x->link);
}

static pmix_status_t place_edge(struct px_list *category, struct px_handler *x,
                                bool at_end)
{
    PX_LIST_EACH (category, struct px_handler, y, link)
        if (at_end ? y->in_category_last : y->in_category_first)
            return PMIX_ERR_EVENT_REGISTRATION;
    if (at_end) {
        x->in_category_last = true;
        px_list_append(category, &x->link);
    } else {
        x->in_category_first = true;
        px_list_prepend(category, &x->link);
    }
    return PMIX_SUCCESS;
}

static pmix_status_t place_overall(struct px_handler **slot, struct px_handler *x)
{
    if (*slot)
        return PMIX_ERR_EVENT_REGISTRATION;
    *slot = x;
    return PMIX_SUCCESS;
}

static pmix_status_t place(struct px_handlers *h, struct px_handler *x,
                           const pmix_info_t *info, size_t n)
{
    struct px_list *category = &h->category[x->n_codes == 0   ? PX_DEFAULT_CODE
                                            : x->n_codes == 1 ? PX_SINGLE_CODE
                                                              : PX_MULTI_CODE];
    const char *before = px_info_str(info, n, PMIX_EVENT_HDLR_BEFORE);
    const char *after = px_info_str(info, n, PMIX_EVENT_HDLR_AFTER);
    struct px_handler *other;

    if (px_info_flag(info, n, PMIX_EVENT_HDLR_FIRST))
        return place_overall(&h->first, x);
    if (px_info_flag(info, n, PMIX_EVENT_HDLR_LAST))
        return place_overall(&h->last, x);
    if (px_info_flag(info, n, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY))
        return place_edge(category, x, false);
    if (px_info_flag(info, n, PMIX_EVENT_HDLR_LAST_IN_CATEGORY))
        return place_edge(category, x, true);
    if (before || after) {
        other = find_named(category, before ? before : after);
        if (!other)
            return PMIX_ERR_EVENT_REGISTRATION;
        px_list_insert_before(before ? &other->link : other->link.next, &x->link);
        return PMIX_SUCCESS;
    }
    insert_default(category, x, px_info_flag(info, n, PMIX_EVENT_HDLR_APPEND));
    return PMIX_SUCCESS;
}

pmix_status_t px_handlers_add(struct px_handlers *h, const pmix_status_t *codes,
                              size_t n_codes, const pmix_info_t *info, size_t n_info,
                              pmix_notification_fn_t fn, struct px_handler **added)
{
    struct px_handler *x = calloc(1, sizeof *x);
    pmix_status_t rc = PMIX_SUCCESS;

    if (!x)
        return PMIX_ERR_NOMEM;
    x->fn = fn;
    if (n_codes > 0) {
        x->codes = malloc(n_codes * sizeof *codes);
        if (!x->codes)
            rc = PMIX_ERR_NOMEM;
        else
            memcpy(x->codes, codes, n_codes * sizeof *codes);
        x->n_codes = n_codes;
    }
    for (size_t i = 0; !rc && i < n_info; i++)
        rc = read_info(x, &info[i]);
    if (!rc)
        rc = place(h, x, info, n_info);
    if (rc) {
        handler_free(x);
        return rc;
    }
    x->id = h->next_id++;
    *added = x;
    return PMIX_SUCCESS;
}

struct px_handler *px_handlers_find(const struct px_handlers *h, size_t id)
{
    if (h->first && h->first->id == id)
        return h->first;
    if (h->last && h->last->id == id)
        return h->last;
    for (int c = 0; c < PX_N_CATEGORIES; c++)
        PX_LIST_EACH (&h->category[c], struct px_handler, x, link)
            if (x->id == id)
                return x;
    return NULL;
}

void px_handlers_remove(struct px_handlers *h, struct px_handler *x)
{
    if (h->first == x)
        h->first = NULL;
    else if (h->last == x)
        h->last = NULL;
    else
        px_list_remove(&x->link);
    handler_free(x);
}

struct px_handler *px_handlers_next(const struct px_handlers *h, size_t after)
{
    bool passed = after == SIZE_MAX;

    if (h->first) {
        if (passed)
            return h->first;
        passed = h->first->id == after;
    }
    for (int c = 0; c < PX_N_CATEGORIES; c++) {
        PX_LIST_EACH (&h->category[c], struct px_handler, x, link) {
            if (passed)
                return x;
            passed = x->id == after;
        }
    }
    return passed && h->last && h->last->id != after ? h->last : NULL;
}

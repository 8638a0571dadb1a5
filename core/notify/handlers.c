/* SPDX-License-Identifier: BSD-3-Clause */
/* Handlers in call order: the first handler, handlers of one code, of several codes,
 * default handlers, the last handler. In a category later registrations come first,
 * unless info asks for another position (PMIx Standard, Event Notification). */
#include "core/notify/notify_impl.h"
#include "core/rt/log.h"

#include <string.h>

static void handler_free(struct px_handler *h)
{
    free(h->name);
    free(h->codes);
    free(h->affected);
    free(h->sources);
    free(h);
}

void px_handlers_fini(struct px_handlers *all)
{
    PX_LIST_EACH (&all->list, struct px_handler, h, link)
        handler_free(h);
    px_list_init(&all->list);
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

static pmix_status_t read_procs(const pmix_info_t *info, pmix_proc_t **procs, size_t *n)
{
    free(*procs);
    *procs = NULL;
    return px_value_procs(&info->value, procs, n);
}

/* Reads an attribute of the handler. place() reads the attributes of its position. */
static pmix_status_t read_info(struct px_handler *h, const pmix_info_t *info)
{
    const char *key = info->key, *text = px_value_string(&info->value);
    uint64_t range;

    if (strcmp(key, PMIX_EVENT_HDLR_NAME) == 0) {
        free(h->name);
        h->name = text ? strdup(text) : NULL;
        return h->name ? PMIX_SUCCESS : text ? PMIX_ERR_NOMEM : PMIX_ERR_BAD_PARAM;
    }
    if (strcmp(key, PMIX_EVENT_AFFECTED_PROC) == 0 ||
        strcmp(key, PMIX_EVENT_AFFECTED_PROCS) == 0)
        return read_procs(info, &h->affected, &h->n_affected);
    if (strcmp(key, PMIX_EVENT_CUSTOM_RANGE) == 0)
        return read_procs(info, &h->sources, &h->n_sources);
    if (strcmp(key, PMIX_RANGE) == 0) {
        if (info->value.type == PMIX_DATA_RANGE)
            h->range = info->value.data.range;
        else if (px_value_to_u64(&info->value, &range) && range <= PMIX_RANGE_INVALID)
            h->range = (pmix_data_range_t)range;
        else
            return PMIX_ERR_BAD_PARAM;
    } else if (strcmp(key, PMIX_EVENT_RETURN_OBJECT) == 0) {
        h->object = info->value.data.ptr;
        h->has_object = true;
    } else if (strcmp(key, PMIX_EVENT_ONESHOT) == 0) {
        h->oneshot = px_value_truth(&info->value);
    }
    return PMIX_SUCCESS;
}

static void read_place(struct px_handler *h, const pmix_info_t *info, size_t n)
{
    bool first = px_info_flag(info, n, PMIX_EVENT_HDLR_FIRST);
    bool last = px_info_flag(info, n, PMIX_EVENT_HDLR_LAST);

    h->category = first             ? PX_FIRST_OF_ALL
                  : last            ? PX_LAST_OF_ALL
                  : h->n_codes == 0 ? PX_DEFAULT
                  : h->n_codes == 1 ? PX_SINGLE_CODE
                                    : PX_MULTI_CODE;
    if (first || (!last && px_info_flag(info, n, PMIX_EVENT_HDLR_FIRST_IN_CATEGORY)))
        h->edge = -1;
    else if (last || px_info_flag(info, n, PMIX_EVENT_HDLR_LAST_IN_CATEGORY))
        h->edge = 1;
}

static struct px_handler *find_named(const struct px_handlers *all, const char *name)
{
    PX_LIST_EACH (&all->list, struct px_handler, h, link)
        if (h->name && strcmp(h->name, name) == 0)
            return h;
    return NULL;
}

static pmix_status_t refuse(const char *attribute, const char *name, const char *reason)
{
    px_log(PX_LOG_WARN, "event", "cannot register the handler with %s \"%s\": %s",
           attribute, name, reason);
    return PMIX_ERR_EVENT_REGISTRATION;
}

/* Puts h beside the named handler and gives h its category, so that the list stays in
 * order. Nothing goes before a first handler or after a last one. */
static pmix_status_t place_beside(struct px_handlers *all, struct px_handler *h,
                                  const char *name, bool before)
{
    const char *attribute = before ? "PMIX_EVENT_HDLR_BEFORE" : "PMIX_EVENT_HDLR_AFTER";
    struct px_handler *beside = find_named(all, name);

    if (!beside)
        return refuse(attribute, name, "no handler has this name");
    if (before ? beside->edge < 0 : beside->edge > 0)
        return refuse(attribute, name,
                      before ? "it is registered as the first"
                             : "it is registered as the last");
    h->category = beside->category;
    px_list_insert_before(before ? &beside->link : beside->link.next, &h->link);
    return PMIX_SUCCESS;
}

/* Reads a handler's side in its category: the front, unless PMIX_EVENT_HDLR_APPEND is
 * true or PMIX_EVENT_HDLR_PREPEND false. */
static pmix_status_t read_side(const pmix_info_t *info, size_t n, bool *append)
{
    const pmix_info_t *prepend = px_info_find(info, n, PMIX_EVENT_HDLR_PREPEND);
    const pmix_info_t *at_end = px_info_find(info, n, PMIX_EVENT_HDLR_APPEND);
    bool to_front = prepend && px_value_truth(&prepend->value);

    *append = at_end ? px_value_truth(&at_end->value) : prepend && !to_front;
    if (!prepend || !at_end || to_front != *append)
        return PMIX_SUCCESS;
    px_log(PX_LOG_WARN, "event",
           "cannot register a handler: PMIX_EVENT_HDLR_PREPEND and "
           "PMIX_EVENT_HDLR_APPEND are both %s, expected one of them",
           to_front ? "true" : "false");
    return PMIX_ERR_BAD_PARAM;
}

/* Inserts h into the list. An edge of a category has room for one handler. */
static pmix_status_t place(struct px_handlers *all, struct px_handler *h,
                           const pmix_info_t *info, size_t n)
{
    const char *before = px_info_str(info, n, PMIX_EVENT_HDLR_BEFORE);
    const char *beside = before ? before : px_info_str(info, n, PMIX_EVENT_HDLR_AFTER);
    struct px_list *at = NULL; /* the successor of h */
    bool append;
    pmix_status_t rc = read_side(info, n, &append);

    if (rc)
        return rc;
    read_place(h, info, n);
    if (beside && !h->edge)
        return place_beside(all, h, beside, before);
    PX_LIST_EACH (&all->list, struct px_handler, x, link) {
        int order = x->category == h->category ? x->edge - h->edge
                                               : (int)x->category - (int)h->category;

        if (h->edge && order == 0)
            return PMIX_ERR_EVENT_REGISTRATION;
        if (!at && (order > 0 || (order == 0 && !append)))
            at = &x->link;
    }
    px_list_insert_before(at ? at : &all->list, &h->link);
    return PMIX_SUCCESS;
}

pmix_status_t px_handlers_add(struct px_handlers *all, const pmix_status_t *codes,
                              size_t n_codes, const pmix_info_t *info, size_t n_info,
                              pmix_notification_fn_t fn, struct px_handler **added)
{
    struct px_handler *h = calloc(1, sizeof(*h));
    pmix_status_t rc = PMIX_SUCCESS;

    if (!h)
        return PMIX_ERR_NOMEM;
    h->fn = fn;
    h->codes = malloc((n_codes + 1) * sizeof(*codes));
    if (!h->codes)
        rc = PMIX_ERR_NOMEM;
    else if (n_codes > 0)
        memcpy(h->codes, codes, n_codes * sizeof(*codes));
    if (!rc)
        h->n_codes = px_codes_sort(h->codes, n_codes);
    for (size_t i = 0; !rc && i < n_info; i++)
        rc = read_info(h, &info[i]);
    if (!rc)
        rc = place(all, h, info, n_info);
    if (rc) {
        handler_free(h);
        return rc;
    }
    h->id = all->next_id++;
    *added = h;
    return PMIX_SUCCESS;
}

struct px_handler *px_handlers_find(const struct px_handlers *all, size_t id)
{
    PX_LIST_EACH (&all->list, struct px_handler, h, link)
        if (h->id == id)
            return h;
    return NULL;
}

void px_handlers_remove(struct px_handler *h)
{
    px_list_remove(&h->link);
    handler_free(h);
}

static bool has_code(const struct px_handler *h, pmix_status_t code)
{
    return h->n_codes == 0 ? code == PX_DEFAULT_CODE
                           : px_codes_have(h->codes, h->n_codes, code);
}

pmix_status_t *px_handlers_only_of(const struct px_handlers *all,
                                   const struct px_handler *h, size_t *n)
{
    const pmix_status_t any = PX_DEFAULT_CODE;
    const pmix_status_t *codes = h->n_codes ? h->codes : &any;
    pmix_status_t *only = malloc((h->n_codes + 1) * sizeof(*only));

    *n = 0;
    for (size_t i = 0; only && i < (h->n_codes ? h->n_codes : 1); i++) {
        bool shared = false;

        PX_LIST_EACH (&all->list, struct px_handler, x, link)
            shared |= x != h && has_code(x, codes[i]);
        if (!shared)
            only[(*n)++] = codes[i];
    }
    return only;
}

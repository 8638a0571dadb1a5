/* SPDX-License-Identifier: BSD-3-Clause */
/* Answers to queries, whose memory is charged to the request before. */
#include "core/server/query/answers.h"

#include "core/server/data/memory.h"
#include "core/server/peer/req.h"
#include "core/server/peer/turn.h"

#include <string.h>

pmix_status_t px_answers_charge(struct px_answers *a, size_t cost_b)
{
    pmix_status_t rc = cost_b > a->left_b
                           ? PMIX_ERR_OUT_OF_RESOURCE
                           : px_charge(&a->req->charge, a->req->peer, cost_b);

    if (!rc)
        a->left_b -= cost_b;
    return rc;
}

pmix_status_t px_answers_work(struct px_answers *a, size_t n_items)
{
    if (n_items > a->left_items)
        return PMIX_ERR_OUT_OF_RESOURCE;
    a->left_items -= n_items;
    (void)px_work(a->req->peer, n_items);
    return PMIX_SUCCESS;
}

pmix_status_t px_answer(struct px_answers *a, const char *key, const void *data,
                        pmix_data_type_t type, size_t cost_b)
{
    pmix_status_t rc = px_answers_charge(a, sizeof(pmix_info_t) + cost_b);

    return rc ? rc : px_infos_add(&a->infos, key, data, type);
}

pmix_status_t px_answer_text(struct px_answers *a, const char *key, const char *text)
{
    return px_answer(a, key, text, PMIX_STRING, strlen(text));
}

pmix_status_t px_answer_array(struct px_answers *a, const char *key, const void *array,
                              size_t n, pmix_data_type_t type, size_t cost_b)
{
    pmix_data_array_t borrowed = {.type = type, .size = n, .array = (void *)array};

    return px_answer(a, key, &borrowed, PMIX_DATA_ARRAY, cost_b);
}

pmix_status_t px_answer_names(struct px_answers *a, const char *key, char **names)
{
    size_t n = 0, len = 0;

    for (; names && names[n]; n++)
        len += strlen(names[n]) + 1;
    return px_answer_array(a, key, names, n, PMIX_STRING, len);
}

void px_slow_free(struct px_slow *s)
{
    free(s->procs);
    free(s);
}

pmix_status_t px_answer_slowly(struct px_answers *a, const char *key,
                               const struct px_slow_ops *ops, const char *nspace,
                               pmix_proc_t *procs, size_t n, size_t row_b,
                               struct px_slow **out)
{
    size_t cost_b = sizeof(struct px_slow) + n * row_b +
                    (procs ? n * sizeof(*procs) : 0);
    struct px_slow *s = NULL;
    pmix_status_t rc = px_answers_charge(a, cost_b);

    if (!rc && !(s = calloc(1, sizeof(*s))))
        rc = PMIX_ERR_NOMEM;
    if (rc) {
        free(procs);
        return rc;
    }
    *s = (struct px_slow){
        .key = key, .ops = ops, .procs = procs, .n = n, .row_b = row_b};
    px_proc_set(&s->job, nspace, 0);
    *(a->slow ? &a->last_slow->next : &a->slow) = s;
    a->last_slow = s;
    if (out)
        *out = s;
    return PMIX_SUCCESS;
}

void px_answers_cleanup(struct px_answers *a)
{
    px_infos_cleanup(&a->infos);
    for (struct px_slow *s = a->slow, *next; s; s = next) {
        next = s->next;
        px_slow_free(s);
    }
    a->slow = NULL;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Intrusive doubly linked list. A node that is in no list has next == NULL. */
#ifndef PX_BASE_LIST_H
#define PX_BASE_LIST_H

#include "core/base/attr.h"

#include <stdbool.h>
#include <stddef.h>

struct px_list {
    struct px_list *next;
    struct px_list *prev;
};

static inline void px_list_init(struct px_list *head)
{
    head->next = head->prev = head;
}

static inline bool px_list_empty(const struct px_list *head)
{
    return head->next == head;
}

static inline bool px_list_linked(const struct px_list *node)
{
    return node->next != NULL;
}

static inline void px_list_insert_before(struct px_list *at, struct px_list *node)
{
    node->prev = at->prev;
    node->next = at;
    at->prev->next = node;
    at->prev = node;
}

static inline void px_list_append(struct px_list *head, struct px_list *node)
{
    px_list_insert_before(head, node);
}

static inline void px_list_prepend(struct px_list *head, struct px_list *node)
{
    px_list_insert_before(head->next, node);
}

static inline void px_list_remove(struct px_list *node)
{
    if (!node->next)
        return;
    node->prev->next = node->next;
    node->next->prev = node->prev;
    node->next = node->prev = NULL;
}

static inline size_t px_list_length(const struct px_list *head)
{
    size_t n = 0;

    for (const struct px_list *l = head->next; l != head; l = l->next)
        n++;
    return n;
}

/* Iterates over the list. The body may remove and free the current element. */
#define PX_LIST_EACH(head, type, var, member)                                \
    for (type *var = PX_CONTAINER_OF((head)->next, type, member),            \
              *var##_next = PX_CONTAINER_OF(var->member.next, type, member); \
         &var->member != (head); var = var##_next,                           \
              var##_next = PX_CONTAINER_OF(var->member.next, type, member))

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* What the files of the store share: embedded_pubs.c (entries) and embedded_lookup.c
 * (who asks). */
#ifndef PX_HOST_PUBS_IMPL_H
#define PX_HOST_PUBS_IMPL_H

#include "core/host/pubs.h"

/* Who, in which range: of an entry its owner, of a request who made it. */
struct px_pub_scope {
    pmix_proc_t proc;
    uint32_t uid;
    pmix_data_range_t range;
    pmix_proc_t *chosen; /* custom range */
    size_t n_chosen;
};

struct px_pub {
    struct px_list link;
    struct px_pub_scope scope;
    pmix_persistence_t persistence;
    pmix_key_t key;
    pmix_value_t value;
    size_t size_b;
};

pmix_status_t px_pub_scope_init(struct px_pub_scope *s, const pmix_proc_t *proc,
                                const pmix_info_t *info, size_t n);
void px_pub_scope_fini(struct px_pub_scope *s);
bool px_pub_visible(const struct px_pub *pub, const struct px_pub_scope *to);
void px_pub_remove(struct px_pubs *p, struct px_pub *pub);

/* Something was published: answers those for whom it was the last missing piece. */
void px_pubs_satisfy(struct px_pubs *p);
/* Answers the lookups of one job, or with proc of one process, or with neither of all,
 * in the way of a lost connection. */
void px_pubs_give_up(struct px_pubs *p, const char *nspace, const pmix_proc_t *proc);

#endif

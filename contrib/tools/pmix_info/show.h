/* SPDX-License-Identifier: BSD-3-Clause */
/* Output: one walker over all there is to show (show.c), and an emitter for each format
 * (pretty.c, parsable.c, json.c), which gets one thing at a time. */
#ifndef PMIX_INFO_SHOW_H
#define PMIX_INFO_SHOW_H

#include "contrib/tools/pmix_info/info.h"

struct page {
    const struct info *info;
    const struct options *o;
    void *state; /* the emitter's */
};

struct emitter {
    /* In the order people like: components by framework, the weakest file first, what
     * is wrong at the end. Else in that of the tables. */
    bool for_people;
    size_t state_b; /* zeroed */
    void (*begin)(struct page *p);
    void (*end)(struct page *p);
    /* The things that follow are of this section; width: of the longest of their names.
     * May be NULL, as begin and end. */
    void (*section)(struct page *p, enum section section, int width);
    /* Of the section of versions, or of folders. */
    void (*pair)(struct page *p, enum section section, const char *name,
                 const char *value);
    void (*file)(struct page *p, const struct px_param_file *f);
    void (*framework)(struct page *p, enum px_framework_id id);
    void (*component)(struct page *p, const struct component *c);
    void (*parameter)(struct page *p, const struct parameter *param);
    void (*problem)(struct page *p, const struct problem *problem);
    void (*leftover)(struct page *p, const struct leftover *l);
    void (*synonym)(struct page *p, const struct px_param_foreign *f);
};

extern const struct emitter emit_pretty, emit_parsable, emit_json;

void show(const struct info *info, const struct options *o);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Copies of plans, for children that share the memory of their parent until exec. */
#include "components/pfexec/child.h"

#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Memory that is filled, or only counted: base NULL. */
struct room {
    char *base;
    size_t n;
};

static void *put(struct room *r, const void *bytes, size_t n)
{
    enum { ALIGN = _Alignof(max_align_t) };
    char *to = r->base && bytes ? r->base + r->n : NULL;

    if (to)
        memcpy(to, bytes, n);
    if (bytes)
        r->n += (n + ALIGN - 1) / ALIGN * ALIGN;
    return to;
}

static char *put_text(struct room *r, const char *text)
{
    return put(r, text, text ? strlen(text) + 1 : 0);
}

static char **put_list(struct room *r, char *const *list)
{
    size_t n = 0;

    while (list && list[n])
        n++;
    char **to = put(r, list, (n + 1) * sizeof(*list));
    for (size_t i = 0; i < n; i++) {
        char *text = put_text(r, list[i]);

        if (to)
            to[i] = text;
    }
    return to;
}

static struct px_pfexec_plan *put_plan(struct room *r,
                                       const struct px_pfexec_plan *plan)
{
    const struct px_pfexec_spec *spec = plan->spec;
    struct px_pfexec_plan *to = put(r, plan, sizeof(*plan));
    struct px_pfexec_spec copy = *spec, *spec_to = put(r, spec, sizeof(*spec));

    copy.program = put_text(r, spec->program);
    copy.argv = put_list(r, spec->argv);
    copy.env = put_list(r, spec->env);
    copy.cwd = put_text(r, spec->cwd);
    copy.cpus = put(r, spec->cpus, spec->cpus_size);
    copy.limits = put(r, spec->limits, spec->n_limits * sizeof(*spec->limits));
    copy.umask = put(r, spec->umask, sizeof(*spec->umask));
    copy.more = put(r, spec->more, sizeof(*spec->more));
    if (to) {
        *spec_to = copy;
        to->spec = spec_to;
    }
    return to;
}

struct px_pfexec_plan *px_pfexec_plan_copy(const struct px_pfexec_plan *plan)
{
    struct room r = {0};

    (void)put_plan(&r, plan);
    r = (struct room){.base = malloc(r.n)};
    return r.base ? put_plan(&r, plan) : NULL;
}

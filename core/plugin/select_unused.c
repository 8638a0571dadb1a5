/* SPDX-License-Identifier: BSD-3-Clause */
/* Components that are not in use, but that somebody has set parameters of. */
#include "core/plugin/select_impl.h"

#include "core/base/str.h"
#include "core/base/strv.h"
#include "core/plugin/choice.h"
#include "core/config/param_impl.h"

/* Those that are used have declared theirs. */
static bool is_loaded(const struct px_selection *s, const struct px_found *f)
{
    const struct px_slot *slot = &s->slots[f->framework];

    for (size_t i = 0; i < slot->n; i++) {
        if (slot->components[i]->found == f)
            return true;
    }
    return false;
}

/* Nobody wants to be told that a component which was left out does not load. */
static pmix_status_t ask(struct px_selection *s, const struct px_found *f,
                         const char *prefix)
{
    struct px_loaded loaded;

    if (f->broken || px_loader_load(f, &loaded, NULL))
        return px_params_ignore_prefix(s->params, prefix);
    pmix_status_t rc = px_choice_declare_of(s->params, f, loaded.component.params);
    if (!rc && loaded.component.params)
        rc = px_params_check(s->params, prefix, loaded.component.params, NULL);
    px_loader_unload(&loaded);
    return rc;
}

/* What the user has excluded is not to be touched. */
static pmix_status_t declare_unused(struct px_selection *s, const struct px_found *f)
{
    const char *framework = px_frameworks[f->framework].name;
    PX_AUTOFREE char *prefix = px_strf("%s_%s_", framework, f->name);
    PX_AUTO(px_choice) c = {0};

    if (!prefix)
        return PMIX_ERR_NOMEM;
    if (is_loaded(s, f) || !px_params_has(s->params, prefix))
        return PMIX_SUCCESS;
    if (px_choice_parse(s->params, framework, &c, NULL))
        return PMIX_ERR_NOMEM;
    if (c.exclude && px_strv_has(c.names, f->name))
        return px_params_ignore_prefix(s->params, prefix);
    return ask(s, f, prefix);
}

pmix_status_t px_selection_declare_unused(struct px_selection *s)
{
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; i < s->catalog.n && rc != PMIX_ERR_NOMEM; i++)
        rc = declare_unused(s, &s->catalog.v[i]);
    return rc == PMIX_ERR_NOMEM ? rc : PMIX_SUCCESS;
}

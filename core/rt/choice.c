/* SPDX-License-Identifier: BSD-3-Clause */
/* The user's choice among components. */
#include "core/rt/choice.h"

#include "core/base/str.h"

#include <string.h>

pmix_status_t px_choice_parse(const struct px_params *params, const char *framework,
                              px_choice *c, struct px_err *err)
{
    c->text = px_params_text(params, framework, NULL, &c->where);
    if (!c->text)
        return PMIX_SUCCESS;
    PX_AUTOFREE char *copy = strdup(c->text);
    if (!copy)
        return px_err_set(err, PMIX_ERR_NOMEM,
                          "cannot select components: out of memory");
    char *rest = px_str_trim(copy);
    c->exclude = *rest == '^';
    rest += c->exclude;
    for (char *name; (name = strsep(&rest, ","));) {
        name = px_str_trim(name);
        if (*name == '^')
            return px_err_set(
                err, PMIX_ERR_BAD_PARAM,
                "%s: %s = \"%.80s\": a ^ stands at the beginning, for the whole list",
                c->where, framework, c->text);
        if (*name && px_strv_append(&c->names, name))
            return px_err_set(err, PMIX_ERR_NOMEM,
                              "cannot select components: out of memory");
    }
    return PMIX_SUCCESS;
}

bool px_choice_lets_in(const px_choice *c, const char *name, size_t *rank)
{
    *rank = 0;
    if (!c->names || c->exclude)
        return !px_strv_has(c->names, name);
    while (c->names[*rank] && strcmp(c->names[*rank], name) != 0)
        ++*rank;
    return c->names[*rank] != NULL;
}

static bool is_known(const px_catalog *catalog, enum px_framework_id id,
                     const char *name)
{
    const struct px_found *f;
    size_t n = px_catalog_part(catalog, id, &f);

    for (size_t i = 0; i < n; i++) {
        if (strcmp(f[i].name, name) == 0)
            return true;
    }
    return false;
}

/* To exclude what is not there is no mistake: one list may serve several
 * installations. */
pmix_status_t px_choice_check(const px_choice *c, const px_catalog *catalog,
                              enum px_framework_id id, struct px_err *err)
{
    char known[200];

    for (size_t i = 0; !c->exclude && c->names && c->names[i]; i++) {
        if (is_known(catalog, id, c->names[i]))
            continue;
        px_catalog_list(catalog, id, known, sizeof(known));
        return px_err_set(
            err, PMIX_ERR_BAD_PARAM,
            "unknown component %.64s for framework %s, known: %s (from %s)",
            c->names[i], px_frameworks[id].name, known, c->where);
    }
    return PMIX_SUCCESS;
}

void px_choice_cleanup(px_choice *c)
{
    px_strv_free(c->names);
}

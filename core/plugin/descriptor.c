/* SPDX-License-Identifier: BSD-3-Clause */
/* Conversion of a component's descriptor, built with any header version, to this
 * library's structures. */
#include "core/plugin/loader.h"

#include "core/config/param_impl.h"

#include <stdalign.h>
#include <string.h>

/* Minimum sizes of a descriptor and a row. */
#define LEAST_COMPONENT (offsetof(struct px_component, param_size) + sizeof(uint32_t))
#define LEAST_PARAM     (offsetof(struct px_param, help) + sizeof(char *))

/* Returns row i of the component's table, whose rows may have another size. */
static const struct px_param *row(const struct px_component *c, size_t i)
{
    return (const void *)((const char *)c->params + i * c->param_size);
}

static pmix_status_t take_params(const char *file, struct px_loaded *l,
                                 struct px_err *err)
{
    struct px_component *c = &l->component;
    size_t n = 0;

    if (!c->params)
        return PMIX_SUCCESS;
    if (c->param_size < LEAST_PARAM || c->param_size % alignof(struct px_param) != 0)
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "component %s has parameters of %u bytes each, wanted %zu",
                          file, c->param_size, LEAST_PARAM);
    for (; row(c, n)->kind != PX_PARAM_KIND_END; n++) {
        size_t size = px_param_size(row(c, n)->kind), offset = row(c, n)->offset;
        if (!row(c, n)->name || size == 0 || offset > c->conf_size ||
            size > c->conf_size - offset)
            return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                              "component %s has parameters outside its configuration",
                              file);
    }
    if (c->param_size == sizeof(struct px_param))
        return PMIX_SUCCESS;
    l->params = calloc(n + 1, sizeof(*l->params)); /* the last row ends the table */
    if (!l->params)
        return px_err_nomem(err, "load %s", file);
    size_t known = c->param_size < sizeof(*l->params) ? c->param_size
                                                      : sizeof(*l->params);
    for (size_t i = 0; i < n; i++)
        memcpy(&l->params[i], row(c, i), known);
    c->params = l->params;
    c->param_size = sizeof(*l->params);
    return PMIX_SUCCESS;
}

/* Copies the operations. Operations that the component lacks are NULL. */
static pmix_status_t take_ops(const char *file, const struct px_framework *fw,
                              struct px_loaded *l, struct px_err *err)
{
    struct px_component *c = &l->component;

    if (c->ops_size < sizeof(void (*)(void)))
        return px_err_set(err, PMIX_ERR_NOT_SUPPORTED,
                          "component %s has operations of %u bytes, wanted %u", file,
                          c->ops_size, fw->ops_size);
    if (c->ops_size >= fw->ops_size)
        return PMIX_SUCCESS;
    l->ops = calloc(1, fw->ops_size);
    if (!l->ops)
        return px_err_nomem(err, "load %s", file);
    memcpy(l->ops, c->ops, c->ops_size);
    c->ops = l->ops;
    c->ops_size = fw->ops_size;
    return PMIX_SUCCESS;
}

static pmix_status_t keep_conf(const struct px_services *services PX_UNUSED,
                               const void *conf, void **self)
{
    *self = (void *)(uintptr_t)conf;
    return PMIX_SUCCESS;
}

static void close_nothing(void *self PX_UNUSED)
{
}

/* Checks a descriptor. Checks the size before it reads further members. */
static pmix_status_t check(const char *file, const struct px_framework *fw,
                           const char *name, const struct px_component *c,
                           struct px_component *copy, struct px_err *err)
{
    const pmix_status_t no = PMIX_ERR_NOT_SUPPORTED;

    if (c->abi != PX_COMPONENT_ABI)
        return px_err_set(err, no, "component %s has component ABI %u, wanted %u", file,
                          c->abi, PX_COMPONENT_ABI);
    if (c->size < LEAST_COMPONENT)
        return px_err_set(err, no,
                          "component %s has a descriptor of %u bytes, wanted %zu", file,
                          c->size, LEAST_COMPONENT);
    *copy = (struct px_component){0};
    memcpy(copy, c, c->size < sizeof(*copy) ? c->size : sizeof(*copy));
    if (!copy->framework || !copy->name || strcmp(copy->framework, fw->name) != 0 ||
        strcmp(copy->name, name) != 0)
        return px_err_set(err, no,
                          "component %s calls itself %.32s/%.64s, wanted %s/%s", file,
                          copy->framework ? copy->framework : "?",
                          copy->name ? copy->name : "?", fw->name, name);
    if (copy->framework_abi != fw->abi)
        return px_err_set(err, no, "component %s has %s ABI %u, wanted %u", file,
                          fw->name, copy->framework_abi, fw->abi);
    if (!copy->query || !copy->ops)
        return px_err_set(err, no, "component %s lacks query or ops", file);
    copy->open = copy->open ? copy->open : keep_conf;
    copy->close = copy->close ? copy->close : close_nothing;
    return PMIX_SUCCESS;
}

pmix_status_t px_descriptor_take(const struct px_found *found,
                                 const struct px_component *c, struct px_loaded *out,
                                 struct px_err *err)
{
    const struct px_framework *fw = &px_frameworks[found->framework];
    const char *file = found->file ? found->file : found->name;
    pmix_status_t rc = check(file, fw, found->name, c, &out->component, err);

    if (!rc)
        rc = take_params(file, out, err);
    if (!rc)
        rc = take_ops(file, fw, out, err);
    if (rc)
        px_descriptor_release(out);
    return rc;
}

void px_descriptor_release(struct px_loaded *l)
{
    free(l->params);
    free(l->ops);
    l->params = NULL;
    l->ops = NULL;
}

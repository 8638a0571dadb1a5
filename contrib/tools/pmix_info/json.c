/* SPDX-License-Identifier: BSD-3-Clause */
/* One object, for programs. Every member is always there; what is not known is null. */
#include "contrib/tools/pmix_info/info.h"

#include "core/base/str.h"
#include "pmix.h"

#include <jansson.h>
#include <string.h>

static void set(json_t *object, const char *key, json_t *value)
{
    if (json_object_set_new(object, key, need(value)))
        need(NULL);
}

static void append(json_t *array, json_t *value)
{
    if (json_array_append_new(array, need(value)))
        need(NULL);
}

/* Environment and files may hold bytes that are no UTF-8. */
static json_t *text(const char *s)
{
    json_t *value = s ? json_string(s) : json_null();

    if (value)
        return value;
    PX_AUTOFREE char *copy = need(strdup(s));
    for (char *c = copy; *c; c++)
        *c = (unsigned char)*c > 0x7e ? '?' : *c;
    return need(json_string(copy));
}

static json_t *versions(void)
{
    json_t *o = need(json_object());

    set(o, "tenon", text(INFO_VERSION));
    set(o, "library", text(PMIx_Get_version()));
    return o;
}

static json_t *paths(const struct info *info, const struct options *o)
{
    json_t *v = need(json_object());

    for (size_t i = 0; i < N_PLACES; i++) {
        if (strcmp(o->path, "all") == 0 || strcmp(o->path, info->places[i].name) == 0)
            set(v, info->places[i].name, text(info->places[i].path));
    }
    return v;
}

static json_t *files(const struct info *info)
{
    json_t *v = need(json_array());

    for (size_t i = 0; i < info->params->n_files; i++) {
        const struct px_param_file *f = &info->params->files[i];
        json_t *o = need(json_object());

        set(o, "path", text(f->path));
        set(o, "source", text(source_name(f->source)));
        set(o, "read", json_boolean(f->read));
        append(v, o);
    }
    return v;
}

static json_t *roles(unsigned bits)
{
    json_t *v = need(json_array());

    if (bits & PX_ROLE_CLIENT)
        append(v, text("client"));
    if (bits & PX_ROLE_SERVER)
        append(v, text("server"));
    if (bits & PX_ROLE_TOOL)
        append(v, text("tool"));
    return v;
}

static json_t *frameworks(void)
{
    json_t *v = need(json_array());

    for (int i = 0; i < PX_FW_COUNT; i++) {
        const struct px_framework *fw = &px_frameworks[i];
        json_t *o = need(json_object());

        set(o, "name", text(fw->name));
        set(o, "abi", json_integer(fw->abi));
        set(o, "keeps", text(fw->many ? "all" : "best"));
        set(o, "required", json_boolean(fw->required));
        set(o, "roles", roles(fw->roles));
        append(v, o);
    }
    return v;
}

static json_t *components(const struct info *info)
{
    json_t *v = need(json_array());

    for (size_t i = 0; i < info->n_components; i++) {
        const struct component *c = &info->components[i];
        json_t *o = need(json_object());

        set(o, "framework", text(px_frameworks[c->found->framework].name));
        set(o, "name", text(c->found->name));
        set(o, "file", text(c->found->file));
        set(o, "version", text(c->probe.version));
        set(o, "state", text(component_state(c)));
        set(o, "reason", text(c->probe.why ? c->probe.why : c->left_out));
        append(v, o);
    }
    return v;
}

static json_t *names(const struct px_param_name *n)
{
    json_t *v = need(n ? json_array() : json_null());

    for (; n && n->name; n++)
        append(v, text(n->name));
    return v;
}

static json_t *settings(const struct parameter *p)
{
    json_t *v = need(json_array());

    for (size_t i = 0; i < p->history.n; i++) {
        const struct px_setting *s = p->history.v[i].setting;
        json_t *o = need(json_object());

        set(o, "name", text(s->name));
        set(o, "value", text(s->value));
        set(o, "source", text(source_name(s->source)));
        set(o, "where", text(s->where));
        set(o, "fate", text(parameter_fate(p, i)));
        append(v, o);
    }
    return v;
}

static json_t *parameter(const struct parameter *p)
{
    const struct px_param *d = &p->declared->param;
    json_t *o = need(json_object());
    char expected[256];

    px_param_expected(d, expected, sizeof(expected));
    set(o, "name", text(p->declared->name));
    set(o, "framework", text(p->framework));
    set(o, "component", text(p->component));
    set(o, "type", text(px_param_kind_name(d->kind)));
    set(o, "expected", text(expected));
    set(o, "choices", names(d->names));
    set(o, "default", text(d->def));
    set(o, "value", text(parameter_value(p)));
    set(o, "set_by", text(parameter_source(p)));
    set(o, "level", json_integer(parameter_level(p)));
    set(o, "help", text(d->help));
    set(o, "old_names", text(d->old_names));
    set(o, "settings", settings(p));
    return o;
}

static json_t *parameters(const struct info *info, const struct options *o)
{
    json_t *v = need(json_array());

    for (size_t i = 0; i < info->n_parameters; i++) {
        const struct parameter *p = &info->parameters[i];
        if (parameter_wanted(p, o))
            append(v, parameter(p));
    }
    return v;
}

static json_t *problems(const struct info *info)
{
    json_t *v = need(json_array());

    for (size_t i = 0; i < info->n_problems; i++) {
        json_t *o = need(json_object());

        set(o, "severity", text(severity_name(info->problems[i].severity)));
        set(o, "text", text(info->problems[i].text));
        append(v, o);
    }
    return v;
}

static json_t *leftovers(const struct info *info)
{
    json_t *v = need(json_array());

    for (size_t i = 0; i < info->n_leftovers; i++) {
        const struct leftover *l = &info->leftovers[i];
        json_t *o = need(json_object());

        set(o, "kind", text(leftover_kind_name(l->kind)));
        set(o, "path", text(l->path));
        set(o, "uid", json_integer(l->uid));
        set(o, "age_s", json_integer(l->age_s));
        set(o, "pid", l->pid ? json_integer(l->pid) : json_null());
        set(o, "things", json_integer((json_int_t)l->things));
        set(o, "living", json_integer((json_int_t)l->living));
        set(o, "note", text(l->note));
        append(v, o);
    }
    return v;
}

static json_t *synonyms(void)
{
    const struct px_param_foreign *f;
    json_t *v = need(json_array());

    for (size_t i = 0; (f = px_param_foreign_at(i)); i++) {
        json_t *o = need(json_object());

        set(o, "name", text(f->name));
        set(o, "means", text(f->ours));
        set(o, "why_not", text(f->why));
        append(v, o);
    }
    return v;
}

void print_json(const struct info *info, const struct options *o)
{
    json_t *all = need(json_object());

    if (o->sections & SECTION_VERSION)
        set(all, "version", versions());
    if (o->sections & SECTION_PATHS)
        set(all, "paths", paths(info, o));
    if (o->sections & SECTION_FILES)
        set(all, "files", files(info));
    if (o->sections & SECTION_FRAMEWORKS) {
        set(all, "frameworks", frameworks());
        set(all, "components", components(info));
    }
    if (o->sections & SECTION_PARAMS)
        set(all, "parameters", parameters(info, o));
    if (o->sections & SECTION_PROBLEMS)
        set(all, "problems", problems(info));
    if (o->check)
        set(all, "leftovers", leftovers(info));
    if (o->sections & SECTION_SYNONYMS)
        set(all, "synonyms", synonyms());
    PX_AUTOFREE char *out = need(json_dumps(all, JSON_INDENT(2)));
    puts(out);
    json_decref(all);
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* Output as one JSON object. All members are always present. Unknown values are
 * null. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/base/attr.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static struct {
    json_t *all;
    json_t *things;     /* of the section; borrowed */
    json_t *components; /* beside its frameworks */
} out;

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

/* Makes a text. Environment and files may hold bytes that are not valid UTF-8. */
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

/* Makes an object of text members, in order. */
static json_t *object_of(const char *const (*members)[2], size_t n)
{
    json_t *o = need(json_object());

    for (size_t i = 0; i < n; i++)
        set(o, members[i][0], text(members[i][1]));
    return o;
}

#define OBJECT(...)                                  \
    object_of((const char *const[][2]){__VA_ARGS__}, \
              sizeof((const char *const[][2]){__VA_ARGS__}) / sizeof(char *[2]))

static void on_begin(void)
{
    out.all = need(json_object());
}

static void on_chapter(const struct page *p PX_UNUSED, const struct chapter *c)
{
    out.things = c->is_object ? json_object() : json_array();
    set(out.all, c->name, out.things);
    if (c->section == SECTION_FRAMEWORKS) {
        out.components = json_array();
        set(out.all, "components", out.components);
    }
}

static void on_pair(const struct page *p PX_UNUSED, enum section section PX_UNUSED,
                    const char *name, const char *value)
{
    set(out.things, name, text(value));
}

static void on_file(const struct px_param_file *f)
{
    json_t *o = OBJECT({"path", f->path}, {"source", source_name(f->source)});

    set(o, "read", json_boolean(f->read));
    append(out.things, o);
}

static void on_framework(enum px_framework_id id)
{
    static const struct {
        unsigned bit;
        const char *name;
    } roles[] = {
        {PX_ROLE_CLIENT, "client"}, {PX_ROLE_SERVER, "server"}, {PX_ROLE_TOOL, "tool"}};
    const struct px_framework *fw = &px_frameworks[id];
    json_t *o = OBJECT({"name", fw->name}), *v = need(json_array());

    set(o, "abi", json_integer(fw->abi));
    set(o, "keeps", text(fw->many ? "all" : "best"));
    set(o, "required", json_boolean(fw->required));
    for (size_t i = 0; i < PX_COUNT(roles); i++)
        if (fw->roles & roles[i].bit)
            append(v, text(roles[i].name));
    set(o, "roles", v);
    append(out.things, o);
}

static void on_component(const struct component *c)
{
    append(out.components,
           OBJECT({"framework", px_frameworks[c->found->framework].name},
                  {"name", c->found->name}, {"file", c->found->file},
                  {"version", c->loaded.component.version},
                  {"state", component_state(c)},
                  {"reason", c->why ? c->why : c->left_out}));
}

static json_t *settings(const struct parameter *param)
{
    json_t *v = need(json_array());

    for (size_t i = 0; i < param->history.n; i++) {
        const struct px_setting *s = param->history.v[i].setting;

        append(v, OBJECT({"name", s->name}, {"value", s->value},
                         {"source", source_name(s->source)}, {"where", s->where},
                         {"fate", parameter_fate(param, i)}));
    }
    return v;
}

static void on_parameter(const struct page *p PX_UNUSED, const struct parameter *param)
{
    const struct px_param *d = &param->declared->param;
    json_t *choices = need(d->names ? json_array() : json_null());
    char expected[256];

    px_param_expected(d, expected, sizeof(expected));
    for (const struct px_param_name *n = d->names; n && n->name; n++)
        append(choices, text(n->name));
    json_t *o = OBJECT({"name", param->declared->name}, {"framework", param->framework},
                       {"component", param->component},
                       {"type", px_param_kind_name(d->kind)}, {"expected", expected});
    set(o, "choices", choices);
    set(o, "default", text(d->def));
    set(o, "value", text(parameter_value(param)));
    set(o, "set_by", text(parameter_source(param)));
    set(o, "level", json_integer(parameter_level(param)));
    set(o, "help", text(d->help));
    set(o, "old_names", text(d->old_names));
    set(o, "settings", settings(param));
    append(out.things, o);
}

static void on_problem(const struct page *p PX_UNUSED, const struct px_problem *problem)
{
    append(out.things, OBJECT({"severity", severity_name(problem->severity)},
                              {"text", problem->text}));
}

static void on_leftover(const struct leftover *l)
{
    json_t *o = OBJECT({"kind", l->kind}, {"path", l->path});

    set(o, "uid", json_integer(l->uid));
    set(o, "age_s", json_integer(l->age_s));
    set(o, "pid", l->pid ? json_integer(l->pid) : json_null());
    set(o, "things", json_integer((json_int_t)l->things));
    set(o, "living", json_integer((json_int_t)l->living));
    set(o, "note", text(l->note));
    append(out.things, o);
}

static void on_synonym(const struct px_param_foreign *f)
{
    append(out.things,
           OBJECT({"name", f->name}, {"means", f->ours}, {"why_not", f->why}));
}

/* Returns the member object, which is made if absent. */
static json_t *object_in(json_t *object, const char *key)
{
    json_t *member = json_object_get(object, key);

    if (!member)
        set(object, key, member = need(json_object()));
    return member;
}

static void on_host(const char *section, const char *entry, const pmix_info_t *member)
{
    json_t *o = object_in(out.things, section);

    if (entry)
        o = object_in(o, entry);
    if (member->value.type == PMIX_UINT64)
        set(o, member->key, json_integer((json_int_t)member->value.data.uint64));
    else
        set(o, member->key, text(member->value.data.string));
}

static void on_end(void)
{
    PX_AUTOFREE char *all = need(json_dumps(out.all, JSON_INDENT(2)));

    puts(all);
    json_decref(out.all);
}

const struct emitter emit_json = {
    .begin = on_begin,
    .end = on_end,
    .chapter = on_chapter,
    .pair = on_pair,
    .file = on_file,
    .framework = on_framework,
    .component = on_component,
    .parameter = on_parameter,
    .problem = on_problem,
    .leftover = on_leftover,
    .synonym = on_synonym,
    .host = on_host,
};

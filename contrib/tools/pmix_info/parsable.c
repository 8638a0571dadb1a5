/* SPDX-License-Identifier: BSD-3-Clause */
/* Output for scripts: one fact a line, fields separated by colons. The last field is
 * free text up to the end of the line. Formats of lines do not change. Later releases
 * may add lines. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/base/attr.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

/* Prints free text. Escapes the backslash and bytes that would end the line. */
static void put_free(const char *s)
{
    for (; s && *s; s++) {
        if (*s == '\\')
            fputs("\\\\", stdout);
        else if (*s == '\n')
            fputs("\\n", stdout);
        else if ((unsigned char)*s < ' ' || *s == 0x7f)
            printf("\\x%02x", (unsigned char)*s);
        else
            putchar(*s);
    }
}

static void PX_PRINTF(2, 3) line(const char *value, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar(':');
    put_free(value);
    putchar('\n');
}

static void on_pair(const struct page *p PX_UNUSED, enum section section,
                    const char *name, const char *value)
{
    line(value, "%s:%s", section == SECTION_PATHS ? "path" : "version", name);
}

static void on_file(const struct px_param_file *f)
{
    line(f->path, "file:%s:%s", source_name(f->source), f->read ? "read" : "not read");
}

static void on_framework(enum px_framework_id id)
{
    const struct px_framework *fw = &px_frameworks[id];

    printf("framework:%s:abi:%u\n", fw->name, (unsigned)fw->abi);
    line(fw->many ? "all" : "best", "framework:%s:keeps", fw->name);
    line(fw->required ? "yes" : "no", "framework:%s:required", fw->name);
}

static void on_component(const struct component *c)
{
    const char *why = c->why ? c->why : c->left_out;
    PX_AUTOFREE char *prefix = need_text(
        "component:%s:%s", px_frameworks[c->found->framework].name, c->found->name);

    line(c->found->file ? c->found->file : "built in", "%s:file", prefix);
    line(component_state(c), "%s:state", prefix);
    if (c->loaded.component.version)
        line(c->loaded.component.version, "%s:version", prefix);
    if (why)
        line(why, "%s:reason", prefix);
}

static void on_parameter(const struct page *p, const struct parameter *param)
{
    const struct px_param *d = &param->declared->param;
    PX_AUTOFREE char *prefix = need_text("mca:%s:%s:param:%s", param->framework,
                                         param->component, param->declared->name);
    char expected[256];

    px_param_expected(d, expected, sizeof(expected));
    line(parameter_value(param), "%s:value", prefix);
    line(d->def, "%s:default", prefix);
    line(parameter_source(param), "%s:source", prefix);
    printf("%s:level:%d\n", prefix, parameter_level(param));
    line(px_param_kind_name(d->kind), "%s:type", prefix);
    line(expected, "%s:expected", prefix);
    line(d->help, "%s:help", prefix);
    if (d->old_names)
        line(d->old_names, "%s:old_names", prefix);
    for (size_t i = 0; p->o->source && i < param->history.n; i++) {
        const struct px_setting *s = param->history.v[i].setting;

        line(s->name, "%s:setting:%zu:name", prefix, i);
        line(s->value, "%s:setting:%zu:value", prefix, i);
        line(source_name(s->source), "%s:setting:%zu:source", prefix, i);
        line(s->where, "%s:setting:%zu:where", prefix, i);
        line(parameter_fate(param, i), "%s:setting:%zu:fate", prefix, i);
    }
}

static void on_problem(const struct page *p PX_UNUSED, const struct px_problem *problem)
{
    line(problem->text, "problem:%s", severity_name(problem->severity));
}

static void on_leftover(const struct leftover *l)
{
    line(l->path, "left:%s:%u:%lld:%lld:%zu:%zu", l->kind, (unsigned)l->uid,
         (long long)l->age_s, (long long)l->pid, l->things, l->living);
}

static void on_synonym(const struct px_param_foreign *f)
{
    line(f->ours ? f->ours : f->why, "synonym:%s:%s", f->name,
         f->ours ? "means" : "does not apply");
}

static void on_host(const char *section, const char *entry, const pmix_info_t *member)
{
    PX_AUTOFREE char *text = host_text(&member->value);

    if (entry)
        line(text, "host:%s:%s:%s", section, entry, member->key);
    else
        line(text, "host:%s:%s", section, member->key);
}

const struct emitter emit_parsable = {
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

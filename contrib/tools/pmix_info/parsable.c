/* SPDX-License-Identifier: BSD-3-Clause */
/* A fact a line, for scripts: fields separated by colons, the last of which, free of
 * form, is all the rest of the line. These lines stay as they are; new ones may be
 * added. */
#include "contrib/tools/pmix_info/info.h"

#include "core/base/str.h"
#include "pmix.h"

#include <stdarg.h>
#include <string.h>

/* What would end the line, and the backslash. */
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

static void line(const char *value, const char *fmt, ...) PX_PRINTF(2, 3);

static void line(const char *value, const char *fmt, ...)
{
    va_list args;

    va_start(args, fmt);
    vprintf(fmt, args);
    va_end(args);
    putchar(':');
    put_free(value);
    putchar('\n');
}

static const char *yes_no(bool yes)
{
    return yes ? "yes" : "no";
}

static void number(long n, const char *prefix, const char *field)
{
    char text[24];

    snprintf(text, sizeof(text), "%ld", n);
    line(text, "%s:%s", prefix, field);
}

static void print_versions(void)
{
    line(INFO_VERSION, "version:tenon");
    line(PMIx_Get_version(), "version:library");
}

static void print_paths(const struct info *info, const struct options *o)
{
    for (size_t i = 0; i < N_PLACES; i++) {
        if (strcmp(o->path, "all") == 0 || strcmp(o->path, info->places[i].name) == 0)
            line(info->places[i].path, "path:%s", info->places[i].name);
    }
}

static void print_files(const struct info *info)
{
    for (size_t i = 0; i < info->params->n_files; i++) {
        const struct px_param_file *f = &info->params->files[i];
        line(f->path, "file:%s:%s", source_name(f->source),
             f->read ? "read" : "not read");
    }
}

static void print_components(const struct info *info)
{
    for (int i = 0; i < PX_FW_COUNT; i++) {
        const struct px_framework *fw = &px_frameworks[i];
        PX_AUTOFREE char *prefix = need_text("framework:%s", fw->name);

        number(fw->abi, prefix, "abi");
        line(fw->many ? "all" : "best", "%s:keeps", prefix);
        line(yes_no(fw->required), "%s:required", prefix);
    }
    for (size_t i = 0; i < info->n_components; i++) {
        const struct component *c = &info->components[i];
        PX_AUTOFREE char *prefix = need_text(
            "component:%s:%s", px_frameworks[c->found->framework].name, c->found->name);

        line(c->found->file ? c->found->file : "built in", "%s:file", prefix);
        line(component_state(c), "%s:state", prefix);
        if (c->probe.version)
            line(c->probe.version, "%s:version", prefix);
        if (c->probe.why || c->left_out)
            line(c->probe.why ? c->probe.why : c->left_out, "%s:reason", prefix);
    }
}

static void print_parameter(const struct parameter *p, bool source)
{
    const struct px_param *d = &p->declared->param;
    PX_AUTOFREE char *prefix = need_text("mca:%s:%s:param:%s", p->framework,
                                         p->component, p->declared->name);
    char expected[256];

    px_param_expected(d, expected, sizeof(expected));
    line(parameter_value(p), "%s:value", prefix);
    line(d->def, "%s:default", prefix);
    line(parameter_source(p), "%s:source", prefix);
    number(parameter_level(p), prefix, "level");
    line(px_param_kind_name(d->kind), "%s:type", prefix);
    line(expected, "%s:expected", prefix);
    line(d->help, "%s:help", prefix);
    if (d->old_names)
        line(d->old_names, "%s:old_names", prefix);
    for (size_t i = 0; source && i < p->history.n; i++) {
        const struct px_setting *s = p->history.v[i].setting;

        line(s->name, "%s:setting:%zu:name", prefix, i);
        line(s->value, "%s:setting:%zu:value", prefix, i);
        line(source_name(s->source), "%s:setting:%zu:source", prefix, i);
        line(s->where, "%s:setting:%zu:where", prefix, i);
        line(parameter_fate(p, i), "%s:setting:%zu:fate", prefix, i);
    }
}

static void print_synonyms(void)
{
    const struct px_param_foreign *f;

    for (size_t i = 0; (f = px_param_foreign_at(i)); i++)
        line(f->ours ? f->ours : f->why, "synonym:%s:%s", f->name,
             f->ours ? "means" : "does not apply");
}

static void print_leftovers(const struct info *info)
{
    for (size_t i = 0; i < info->n_leftovers; i++) {
        const struct leftover *l = &info->leftovers[i];

        line(l->path, "left:%s:%u:%lld:%lld:%zu:%zu", leftover_kind_name(l->kind),
             (unsigned)l->uid, (long long)l->age_s, (long long)l->pid, l->things,
             l->living);
    }
}

void print_parsable(const struct info *info, const struct options *o)
{
    if (o->sections & SECTION_VERSION)
        print_versions();
    if (o->sections & SECTION_PATHS)
        print_paths(info, o);
    if (o->sections & SECTION_FILES)
        print_files(info);
    if (o->sections & SECTION_FRAMEWORKS)
        print_components(info);
    for (size_t i = 0; (o->sections & SECTION_PARAMS) && i < info->n_parameters; i++) {
        if (parameter_wanted(&info->parameters[i], o))
            print_parameter(&info->parameters[i], o->source);
    }
    for (size_t i = 0; (o->sections & SECTION_PROBLEMS) && i < info->n_problems; i++)
        line(info->problems[i].text, "problem:%s",
             severity_name(info->problems[i].severity));
    print_leftovers(info);
    if (o->sections & SECTION_SYNONYMS)
        print_synonyms();
}

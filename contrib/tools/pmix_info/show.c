/* SPDX-License-Identifier: BSD-3-Clause */
#include "contrib/tools/pmix_info/info.h"

#include "pmix.h"

#include <stdio.h>
#include <string.h>

static int longer(int width, const char *name)
{
    int len = (int)strlen(name);

    return len > width ? len : width;
}

static void walk_version(const struct page *p, const struct emitter *e)
{
    e->pair(p, SECTION_VERSION, "tenon", INFO_VERSION);
    e->pair(p, SECTION_VERSION, "library", PMIx_Get_version());
}

static void walk_paths(const struct page *p, const struct emitter *e)
{
    for (size_t i = 0; i < N_PLACES; i++)
        if (strcmp(p->o->path, "all") == 0 ||
            strcmp(p->o->path, p->info->places[i].name) == 0)
            e->pair(p, SECTION_PATHS, p->info->places[i].name, p->info->places[i].path);
}

static void walk_files(const struct page *p, const struct emitter *e)
{
    for (int source = 0; source <= PX_SOURCE_OVERRIDE_FILE; source++)
        for (size_t i = 0; i < p->info->params->n_files; i++)
            if ((int)p->info->params->files[i].source == source)
                e->file(&p->info->params->files[i]);
}

static int width_of_components(const struct page *p)
{
    int width = 0;

    for (size_t i = 0; i < p->info->n_components; i++)
        width = longer(width, p->info->components[i].found->name);
    return width;
}

static void walk_frameworks(const struct page *p, const struct emitter *e)
{
    for (int id = 0; id < PX_FW_COUNT; id++) {
        e->framework((enum px_framework_id)id);
        for (size_t i = 0; i < p->info->n_components; i++)
            if ((int)p->info->components[i].found->framework == id)
                e->component(&p->info->components[i]);
    }
}

static int width_of_parameters(const struct page *p)
{
    int width = 0;

    for (size_t i = 0; i < p->info->n_parameters; i++)
        if (parameter_wanted(&p->info->parameters[i], p->o))
            width = longer(width, p->info->parameters[i].declared->name);
    return width;
}

static void walk_parameters(const struct page *p, const struct emitter *e)
{
    for (size_t i = 0; i < p->info->n_parameters; i++)
        if (parameter_wanted(&p->info->parameters[i], p->o))
            e->parameter(p, &p->info->parameters[i]);
}

static void walk_problems(const struct page *p, const struct emitter *e)
{
    for (size_t i = 0; i < p->info->n_problems; i++)
        e->problem(p, &p->info->problems[i]);
}

static void walk_leftovers(const struct page *p, const struct emitter *e)
{
    for (size_t i = 0; i < p->info->n_leftovers; i++)
        e->leftover(&p->info->leftovers[i]);
}

static void walk_synonyms(const struct page *p PX_UNUSED, const struct emitter *e)
{
    const struct px_param_foreign *f;

    for (size_t i = 0; (f = px_param_foreign_at(i)); i++)
        e->synonym(f);
}

/* Passes the infos of an array; NULL entry: those of a section, whose own arrays are
 * entries. */
static void walk_members(const struct emitter *e, const char *section,
                         const char *entry, const pmix_value_t *of)
{
    const bool is_array = of->type == PMIX_DATA_ARRAY && of->data.darray &&
                          of->data.darray->type == PMIX_INFO;
    const pmix_info_t *v = is_array ? of->data.darray->array : NULL;

    for (size_t i = 0; v && i < of->data.darray->size; i++) {
        if (v[i].value.type != PMIX_DATA_ARRAY)
            e->host(section, entry, &v[i]);
        else if (!entry)
            walk_members(e, section, v[i].key, &v[i].value);
    }
}

static void walk_host(const struct page *p, const struct emitter *e)
{
    for (size_t i = 0; i < p->info->n_host; i++)
        walk_members(e, p->info->host[i].key, NULL, &p->info->host[i].value);
}

void show(const struct info *info, const struct options *o)
{
    static const struct emitter *const emitters[] = {
        [FORMAT_TABLE] = &emit_pretty,
        [FORMAT_PARSABLE] = &emit_parsable,
        [FORMAT_JSON] = &emit_json,
    };
    static const struct chapter chapters[] = {
        {SECTION_VERSION, "version", walk_version, .is_object = true},
        {SECTION_PATHS, "paths", walk_paths, .is_object = true, .head = "Folders"},
        {SECTION_FILES, "files", walk_files, .head = "Parameter files, weakest first"},
        {SECTION_FRAMEWORKS, "frameworks", walk_frameworks,
         .width = width_of_components},
        {SECTION_PARAMS, "parameters", walk_parameters, .width = width_of_parameters},
        {SECTION_SYNONYMS, "synonyms", walk_synonyms,
         .head = "Names of other implementations"},
        {SECTION_PROBLEMS, "problems", walk_problems, .head = "Problems"},
        {SECTION_LEFTOVERS, "leftovers", walk_leftovers, .head = NULL},
        {SECTION_HOST, "host", walk_host, .is_object = true},
    };
    const struct emitter *e = emitters[format_now()];
    const struct page page = {info, o};

    if (e->begin)
        e->begin();
    for (size_t i = 0; i < PX_COUNT(chapters); i++) {
        if (!(o->sections & chapters[i].section))
            continue;
        if (e->chapter)
            e->chapter(&page, &chapters[i]);
        chapters[i].walk(&page, e);
    }
    if (e->end)
        e->end();
}

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
    e->section(p, SECTION_VERSION, 0);
    e->pair(p, SECTION_VERSION, "tenon", INFO_VERSION);
    e->pair(p, SECTION_VERSION, "library", PMIx_Get_version());
}

static void walk_paths(const struct page *p, const struct emitter *e)
{
    e->section(p, SECTION_PATHS, 0);
    for (size_t i = 0; i < N_PLACES; i++)
        if (strcmp(p->o->path, "all") == 0 ||
            strcmp(p->o->path, p->info->places[i].name) == 0)
            e->pair(p, SECTION_PATHS, p->info->places[i].name, p->info->places[i].path);
}

static void walk_files(const struct page *p, const struct emitter *e)
{
    int n_passes = e->for_people ? PX_SOURCE_OVERRIDE_FILE + 1 : 1;

    e->section(p, SECTION_FILES, 0);
    for (int source = 0; source < n_passes; source++)
        for (size_t i = 0; i < p->info->params->n_files; i++)
            if (!e->for_people || (int)p->info->params->files[i].source == source)
                e->file(&p->info->params->files[i]);
}

static void walk_components(const struct page *p, const struct emitter *e,
                            int framework)
{
    for (size_t i = 0; i < p->info->n_components; i++)
        if (framework < 0 || (int)p->info->components[i].found->framework == framework)
            e->component(&p->info->components[i]);
}

static void walk_frameworks(const struct page *p, const struct emitter *e)
{
    int width = 0;

    for (size_t i = 0; i < p->info->n_components; i++)
        width = longer(width, p->info->components[i].found->name);
    e->section(p, SECTION_FRAMEWORKS, width);
    for (int id = 0; id < PX_FW_COUNT; id++) {
        e->framework((enum px_framework_id)id);
        if (e->for_people)
            walk_components(p, e, id);
    }
    if (!e->for_people)
        walk_components(p, e, -1);
}

static void walk_parameters(const struct page *p, const struct emitter *e)
{
    int width = 0;

    for (size_t i = 0; i < p->info->n_parameters; i++)
        if (parameter_wanted(&p->info->parameters[i], p->o))
            width = longer(width, p->info->parameters[i].declared->name);
    e->section(p, SECTION_PARAMS, width);
    for (size_t i = 0; i < p->info->n_parameters; i++)
        if (parameter_wanted(&p->info->parameters[i], p->o))
            e->parameter(p, &p->info->parameters[i]);
}

static void walk_problems(const struct page *p, const struct emitter *e)
{
    e->section(p, SECTION_PROBLEMS, 0);
    for (size_t i = 0; i < p->info->n_problems; i++)
        e->problem(p, &p->info->problems[i]);
}

static void walk_leftovers(const struct page *p, const struct emitter *e)
{
    e->section(p, SECTION_LEFTOVERS, 0);
    for (size_t i = 0; i < p->info->n_leftovers; i++)
        e->leftover(&p->info->leftovers[i]);
}

static void walk_synonyms(const struct page *p, const struct emitter *e)
{
    const struct px_param_foreign *f;

    e->section(p, SECTION_SYNONYMS, 0);
    for (size_t i = 0; (f = px_param_foreign_at(i)); i++)
        e->synonym(f);
}

void show(const struct info *info, const struct options *o)
{
    static const struct emitter *const emitters[] = {
        [FORMAT_PRETTY] = &emit_pretty,
        [FORMAT_PARSABLE] = &emit_parsable,
        [FORMAT_JSON] = &emit_json,
    };
    static const struct {
        enum section section;
        void (*walk)(const struct page *p, const struct emitter *e);
        bool people, programs; /* at this place in the order for people, for programs */
    } rows[] = {
        {SECTION_VERSION, walk_version, true, true},
        {SECTION_PATHS, walk_paths, true, true},
        {SECTION_FILES, walk_files, true, true},
        {SECTION_FRAMEWORKS, walk_frameworks, true, true},
        {SECTION_PARAMS, walk_parameters, true, true},
        {SECTION_SYNONYMS, walk_synonyms, true, false},
        {SECTION_PROBLEMS, walk_problems, true, true},
        {SECTION_LEFTOVERS, walk_leftovers, true, true},
        {SECTION_SYNONYMS, walk_synonyms, false, true},
    };
    const struct emitter *e = emitters[o->format];
    const struct page page = {info, o};

    e->begin();
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if ((o->sections & rows[i].section) &&
            (e->for_people ? rows[i].people : rows[i].programs))
            rows[i].walk(&page, e);
    e->end();
}

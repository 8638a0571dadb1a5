/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_info: tells how the library is configured, who configured it so, and what is
 * wrong with that. */
#include "contrib/tools/pmix_info/info.h"

#include <stdlib.h>
#include <string.h>

static int print(const struct info *info, const struct options *o)
{
    switch (o->format) {
    case FORMAT_JSON:
        print_json(info, o);
        break;
    case FORMAT_PARSABLE:
        print_parsable(info, o);
        break;
    case FORMAT_PRETTY:
        print_pretty(info, o);
        break;
    }
    if (fflush(stdout) || ferror(stdout)) {
        perror("pmix_info: standard output");
        return EXIT_TROUBLE;
    }
    return o->check && (!info_is_well(info) || info->n_leftovers) ? EXIT_TROUBLE
                                                                  : EXIT_SUCCESS;
}

static bool is(const char *wanted, const char *name)
{
    return !wanted || strcmp(wanted, name) == 0;
}

static bool is_there(const struct info *info, const struct wanted *w)
{
    for (size_t i = 0; i < info->n_parameters; i++) {
        if (is(w->framework, info->parameters[i].framework) &&
            is(w->component, info->parameters[i].component))
            return true;
    }
    for (size_t i = 0; i < info->n_components; i++) {
        const struct px_found *f = info->components[i].found;
        if (is(w->framework, px_frameworks[f->framework].name) &&
            is(w->component, f->name))
            return true;
    }
    return false;
}

static void look_for_wanted(const struct info *info, const struct options *o)
{
    for (size_t i = 0; i < o->n_wanted; i++) {
        const struct wanted *w = &o->wanted[i];
        if (!is_there(info, w))
            usage("--param %s %s: there is no such component",
                  w->framework ? w->framework : "all",
                  w->component ? w->component : "all");
    }
}

int main(int argc, char **argv)
{
    struct info info = {0};
    struct options o;

    options_parse(&o, argc, argv);
    info_gather(&info, o.sections & ~(unsigned)(SECTION_VERSION | SECTION_PATHS));
    look_for_wanted(&info, &o);
    if (o.check)
        leftovers_find(&info, &o);
    int status = print(&info, &o);
    info_free(&info);
    options_free(&o);
    return status;
}

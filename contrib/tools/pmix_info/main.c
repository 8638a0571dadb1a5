/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_info: tells how the library is configured, who configured it so, and what is
 * wrong with that. */
#include "contrib/tools/pmix_info/show.h"
#include "contrib/tools/toolkit.h"

#include <errno.h>
#include <stdlib.h>
#include <stdio.h>
#include <string.h>

const char tool_name[] = "pmix_info";

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
    show(&info, &o);
    if (fflush(stdout) || ferror(stdout))
        fail("standard output: %s", strerror(errno));
    int status = o.check && (!info_is_well(&info) || info.n_leftovers) ? EXIT_TROUBLE
                                                                       : EXIT_SUCCESS;
    info_free(&info);
    options_free(&o);
    return status;
}

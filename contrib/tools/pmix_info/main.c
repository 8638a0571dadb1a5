/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_info: prints the library's configuration, the source of each setting, and all
 * problems. */
#include "contrib/tools/pmix_info/info.h"

#include <limits.h>
#include <string.h>

const char *tool_name = "pmix_info";

/* ---- the command line ------------------------------------------------------------ */

static struct options given;
static bool all;

static char *unless_all(const char *text, size_t len)
{
    return len == 3 && memcmp(text, "all", 3) == 0 ? NULL : need(strndup(text, len));
}

/* Reads the argument of --param: "ptl=tcp" for two, "ptl:tcp" or "ptl". */
static void take_param(const char *text)
{
    const size_t len = strcspn(text, ":=");
    const char *second = text[len] ? text + len + 1 : "all";

    given.wanted = grow(given.wanted, given.n_wanted + 1, sizeof(*given.wanted));
    given.wanted[given.n_wanted++] = (struct wanted){
        unless_all(text, len), unless_all(second, strlen(second))};
    given.sections |= SECTION_PARAMS;
}

static void take_level(const char *text)
{
    given.level = number("--level", text, MAX_LEVEL);
}

static void take_path(const char *text)
{
    const char *const *name = place_names;

    while (*name && strcmp(*name, text) != 0)
        name++;
    if (!*name && strcmp(text, "all") != 0)
        usage("--path \"%s\": no such path", text);
    given.path = text;
    given.sections |= SECTION_PATHS;
}

static void take_host(const char *text)
{
    given.host = number("--host", text, INT_MAX);
    given.sections |= SECTION_HOST;
}

static void take_version(void)
{
    given.sections |= SECTION_VERSION;
}

/* clang-format off */
static const struct tool_option table[] = {
    TAKES_FLAG("a|all", all, "everything"),
    TAKES_CALL("param", "FRAMEWORK [COMPONENT]", take_param, "parameters of a component; each may be \"all\"; also FRAMEWORK:COMPONENT, or FRAMEWORK alone; may be repeated"),
    TAKES_CALL("level", "N", take_level, "parameters up to this level only, from 1 (users) to 9 (developers); default 9"),
    TAKES_FLAG("source", given.source, "with each parameter, every setting that was found, strongest first"),
    TAKES_CALL("path", "prefix|bindir|libdir|includedir|sysconfdir|pkglibdir|all", take_path, "a folder; pkglibdir is that of components"),
    TAKES_FLAG("check", given.check, "problems of configuration and components only, and leftovers of dead servers in the folders for temporary files and in each DIR; status 1 if there are any"),
    TAKES_CALL("host", "PID", take_host, "the state of the running server with this process number: connections, memory by account, its loop, parameters in effect; for its user and root"),
    {0},
};
/* clang-format on */

static bool wants(const struct wanted *w, const char *framework, const char *component)
{
    return (!w->framework || strcmp(w->framework, framework) == 0) &&
           (!w->component || strcmp(w->component, component) == 0);
}

bool options_want(const struct options *o, const char *framework, const char *component)
{
    for (size_t i = 0; i < o->n_wanted; i++)
        if (wants(&o->wanted[i], framework, component))
            return true;
    return o->n_wanted == 0;
}

static bool is_there(const struct info *info, const struct wanted *w)
{
    for (size_t i = 0; i < info->n_parameters; i++)
        if (wants(w, info->parameters[i].framework, info->parameters[i].component))
            return true;
    for (size_t i = 0; i < info->n_components; i++) {
        const struct px_found *f = info->components[i].found;

        if (wants(w, px_frameworks[f->framework].name, f->name))
            return true;
    }
    return false;
}

/* ---- the program ----------------------------------------------------------------- */

static int run(char **dirs)
{
    static struct info info; /* lives until the end */

    if (dirs[0] && !given.check)
        usage("unexpected argument %s", dirs[0]);
    given.dirs = dirs;
    given.sections |= (all ? SECTIONS_ALL : 0) | (given.source ? SECTION_PARAMS : 0) |
                      (given.check ? SECTION_PROBLEMS | SECTION_LEFTOVERS : 0);
    if (!given.sections)
        given.sections = SECTIONS_SUMMARY;
    info_gather(&info, given.sections &
                           ~(unsigned)(SECTION_VERSION | SECTION_PATHS | SECTION_HOST));
    for (size_t i = 0; i < given.n_wanted; i++)
        if (!is_there(&info, &given.wanted[i]))
            usage("--param %s %s: component not found",
                  given.wanted[i].framework ? given.wanted[i].framework : "all",
                  given.wanted[i].component ? given.wanted[i].component : "all");
    if (given.check)
        leftovers_find(&info, &given);
    if (given.host)
        host_ask(&info, given.host);
    show(&info, &given);
    return given.check && (!info_is_well(&info) || info.n_leftovers) ? EXIT_TROUBLE
                                                                     : EXIT_SUCCESS;
}

static const struct tool tool = {
    .name = "pmix_info",
    .operands = "[DIR]...",
    .summary = "Show the configuration of the PMIx library, and what is wrong with it.",
    .options = table,
    .alone = true,
    .version = take_version,
    .run = run,
};

int main(int argc PX_UNUSED, char **argv)
{
    given = (struct options){.level = MAX_LEVEL, .path = "all"};
    return tool_main(&tool, argv);
}

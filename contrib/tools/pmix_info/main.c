/* SPDX-License-Identifier: BSD-3-Clause */
/* pmix_info: prints the library's configuration, the source of each setting, and all
 * problems. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

const char *tool_name = "pmix_info";

/* ---- the command line ------------------------------------------------------------ */

static const char help[] =
    "usage: pmix_info [OPTIONS] [--check [DIR]...]\n"
    "Show how the PMIx library is configured: its version and folders, components,\n"
    "parameters, where their values come from, and what is wrong with them.\n"
    "\n"
    "Selection (default: a summary):\n"
    "  -a, --all          everything\n"
    "  --param FRAMEWORK COMPONENT\n"
    "                     parameters of a component; each may be \"all\"; also\n"
    "                     FRAMEWORK:COMPONENT, or FRAMEWORK alone; may be repeated\n"
    "  --level N          parameters up to this level only, from 1 (users) to 9\n"
    "                     (developers); default 9\n"
    "  --source           with each parameter, every setting that was found,\n"
    "                     strongest first\n"
    "  --path NAME        a folder: prefix, bindir, libdir, includedir, sysconfdir,\n"
    "                     pkglibdir (of components) or all\n"
    "  --check            problems of configuration and components only, and\n"
    "                     leftovers of dead servers in the folders for temporary\n"
    "                     files and in each DIR\n"
    "  --host PID         the state of the running server with this process number:\n"
    "                     connections, memory by account, its loop, parameters in\n"
    "                     effect; for its user and root\n"
    "  -V, --version      the version\n"
    "  -h, --help         this list\n"
    "\n"
    "Format (default: for people):\n"
    "  --parsable         one fact per line, fields separated by colons; also\n"
    "                     --parseable\n"
    "  --json             one JSON object\n"
    "\n"
    "The exit status is 0; 1 if --check finds something; 2 if the command line is\n"
    "wrong. Components are loaded, those of vendors in a child process first, and only\n"
    "opened with --host. It ends with status 1 without an answer, and with 124 after 60\n"
    "seconds.\n";

static char *unless_all(const char *text, size_t len)
{
    return len == 3 && memcmp(text, "all", 3) == 0 ? NULL : need(strndup(text, len));
}

/* Reads the argument of --param: "ptl tcp", "ptl:tcp" or "ptl". */
static void add_wanted(struct options *o, char ***at)
{
    const char *first = argument(at);
    const char *colon = strchr(first, ':');
    const char *second = colon ? colon + 1 : "all";
    struct wanted *w;

    if (!colon && (*at)[1] && (*at)[1][0] != '-')
        second = *++*at;
    o->wanted = grow(o->wanted, o->n_wanted + 1, sizeof(*o->wanted));
    w = &o->wanted[o->n_wanted++];
    w->framework = unless_all(first, colon ? (size_t)(colon - first) : strlen(first));
    w->component = unless_all(second, strlen(second));
    o->sections |= SECTION_PARAMS;
}

/* Reads an option that selects the output format; false for any other option. */
static bool parse_format(struct options *o, const char *option)
{
    enum format format = FORMAT_PRETTY;

    if (is_option(option, "--json", NULL))
        format = FORMAT_JSON;
    else if (is_option(option, "--parsable", "--parseable"))
        format = FORMAT_PARSABLE;
    else
        return false;
    if (o->format != FORMAT_PRETTY && o->format != format)
        usage("--json and --parsable exclude each other");
    o->format = format;
    return true;
}

static void parse_one(struct options *o, char ***at)
{
    const char *option = **at;

    if (is_option(option, "-a", "--all")) {
        o->sections |= SECTIONS_ALL;
    } else if (is_option(option, "--param", NULL)) {
        add_wanted(o, at);
    } else if (is_option(option, "--level", NULL)) {
        o->level = number(option, argument(at), MAX_LEVEL);
    } else if (is_option(option, "--source", NULL)) {
        o->source = true;
        o->sections |= SECTION_PARAMS;
    } else if (is_option(option, "--path", NULL)) {
        const char *const *name = place_names;

        o->path = argument(at);
        while (*name && strcmp(*name, o->path) != 0)
            name++;
        if (!*name && strcmp(o->path, "all") != 0)
            usage("--path \"%s\": no such path", o->path);
        o->sections |= SECTION_PATHS;
    } else if (is_option(option, "--check", NULL)) {
        o->check = true;
        o->sections |= SECTION_PROBLEMS | SECTION_LEFTOVERS;
    } else if (is_option(option, "--host", NULL)) {
        o->host = number(option, argument(at), INT_MAX);
        o->sections |= SECTION_HOST;
    } else if (is_option(option, "-V", "--version")) {
        o->sections |= SECTION_VERSION;
    } else if (is_option(option, "-h", "--help")) {
        print_and_exit(help);
    } else if (option[0] != '-') {
        o->dirs = grow(o->dirs, o->n_dirs + 1, sizeof(*o->dirs));
        o->dirs[o->n_dirs++] = option;
    } else if (!parse_format(o, option)) {
        usage("unknown option %s", option);
    }
}

static void options_parse(struct options *o, int argc, char **argv)
{
    *o = (struct options){.level = MAX_LEVEL, .path = "all"};
    for (char **at = argv + (argc > 0); *at; at++)
        parse_one(o, &at);
    if (o->n_dirs && !o->check)
        usage("unexpected argument %s", o->dirs[0]);
    if (!o->sections)
        o->sections = SECTIONS_SUMMARY;
}

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

int main(int argc, char **argv)
{
    static struct info info; /* lives until the end */
    static struct options o;

    options_parse(&o, argc, argv);
    info_gather(&info, o.sections &
                           ~(unsigned)(SECTION_VERSION | SECTION_PATHS | SECTION_HOST));
    for (size_t i = 0; i < o.n_wanted; i++)
        if (!is_there(&info, &o.wanted[i]))
            usage("--param %s %s: component not found",
                  o.wanted[i].framework ? o.wanted[i].framework : "all",
                  o.wanted[i].component ? o.wanted[i].component : "all");
    if (o.check)
        leftovers_find(&info, &o);
    if (o.host)
        host_ask(&info, o.host);
    show(&info, &o);
    if (fflush(stdout) || ferror(stdout))
        fail("standard output: %s", strerror(errno));
    return o.check && (!info_is_well(&info) || info.n_leftovers) ? EXIT_TROUBLE
                                                                 : EXIT_SUCCESS;
}

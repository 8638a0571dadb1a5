/* SPDX-License-Identifier: BSD-3-Clause */
/* For people: aligned columns; on a terminal in colour, unless NO_COLOR is set, and no
 * wider than that. */
#include "contrib/tools/pmix_info/info.h"

#include "core/base/str.h"
#include "pmix.h"

#include <string.h>
#include <sys/ioctl.h>

enum { WIDE = 1 << 20, NARROWEST = 40, VALUE_COLUMN = 24 };

struct paper {
    bool colour;
    int width;
};

enum style { STYLE_HEAD, STYLE_NAME, STYLE_BAD, STYLE_ODD };

static struct paper look_at_paper(void)
{
    const char *no_colour = getenv("NO_COLOR");
    struct paper paper = {.width = WIDE};
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return paper;
    paper.colour = !no_colour || !*no_colour;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST)
        paper.width = size.ws_col;
    return paper;
}

static void begin(const struct paper *paper, enum style style)
{
    static const char *const codes[] = {
        [STYLE_HEAD] = "\033[1m",
        [STYLE_NAME] = "\033[36m",
        [STYLE_BAD] = "\033[31m",
        [STYLE_ODD] = "\033[33m",
    };

    if (paper->colour)
        fputs(codes[style], stdout);
}

static void end(const struct paper *paper)
{
    if (paper->colour)
        fputs("\033[0m", stdout);
}

static void head(const struct paper *paper, const char *text)
{
    begin(paper, STYLE_HEAD);
    fputs(text, stdout);
    end(paper);
    putchar('\n');
}

/* What would drive the terminal is not passed on; returns the width. */
static int put_tame(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool tame = (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
        putchar(tame ? text[i] : '?');
    }
    return (int)len;
}

static void column(const char *text, int width)
{
    int used = put_tame(text, strlen(text));

    printf("%*s", used < width ? width - used : 0, "");
}

static void name(const struct paper *paper, const char *text, int width)
{
    begin(paper, STYLE_NAME);
    int used = put_tame(text, strlen(text));
    end(paper);
    printf("%*s", used < width ? width - used : 0, "");
}

/* Breaks lines between words; "at" columns are used already, further lines begin at
 * indent. */
static void wrap(const struct paper *paper, const char *text, int at, int indent)
{
    bool first = true;

    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t len = strcspn(text, " ");

        if (!first && at + 1 + (int)len >= paper->width) {
            printf("\n%*s", indent, "");
            at = indent;
        } else if (!first) {
            putchar(' ');
            at++;
        }
        at += put_tame(text, len);
        text += len;
        first = false;
    }
    putchar('\n');
}

/* ---- sections -------------------------------------------------------------------------- */

static void print_paths(const struct info *info, const struct options *o,
                        const struct paper *paper)
{
    bool alone = o->sections == SECTION_PATHS;

    if (!alone)
        head(paper, "Folders");
    for (size_t i = 0; i < N_PLACES; i++) {
        const struct place *p = &info->places[i];

        if (strcmp(o->path, "all") != 0 && strcmp(o->path, p->name) != 0)
            continue;
        if (!alone || strcmp(o->path, "all") == 0) {
            fputs("  ", stdout);
            name(paper, p->name, 12);
        }
        column(p->path ? p->path : "?", 0);
        putchar('\n');
    }
}

static void print_files(const struct info *info, const struct paper *paper)
{
    head(paper, "Parameter files, weakest first");
    for (int source = 0; source <= PX_SOURCE_OVERRIDE_FILE; source++) {
        for (size_t i = 0; i < info->params->n_files; i++) {
            const struct px_param_file *f = &info->params->files[i];

            if ((int)f->source != source)
                continue;
            fputs("  ", stdout);
            column(source_name(f->source), 15);
            column(f->read ? "read" : "not read", 10);
            column(f->path, 0);
            putchar('\n');
        }
    }
}

static void print_component(const struct component *c, const struct paper *paper,
                            int width)
{
    const char *state = component_state(c);

    fputs("  ", stdout);
    name(paper, c->found->name, width);
    if (c->probe.why)
        begin(paper, STYLE_BAD);
    column(state, 10);
    if (c->probe.why)
        end(paper);
    column(c->probe.version ? c->probe.version : "?", 8);
    column(c->found->file ? c->found->file : "built in", 0);
    putchar('\n');
    if (c->probe.why || c->left_out) {
        printf("%*s", 2 + width, "");
        wrap(paper, c->probe.why ? c->probe.why : c->left_out, 2 + width, 2 + width);
    }
}

static void print_components(const struct info *info, const struct paper *paper)
{
    int width = 0;

    for (size_t i = 0; i < info->n_components; i++) {
        int len = (int)strlen(info->components[i].found->name);
        width = len > width ? len : width;
    }
    for (int id = 0; id < PX_FW_COUNT; id++) {
        PX_AUTOFREE char *title = need_text(
            "Framework %s, keeps %s", px_frameworks[id].name,
            px_frameworks[id].many ? "all that answer" : "the best");
        bool any = false;

        head(paper, title);
        for (size_t i = 0; i < info->n_components; i++) {
            if ((int)info->components[i].found->framework != id)
                continue;
            any = true;
            print_component(&info->components[i], paper, width + 2);
        }
        if (!any)
            puts("  no components");
    }
}

static void print_history(const struct parameter *p)
{
    for (size_t i = 0; i < p->history.n; i++) {
        const struct px_setting *s = p->history.v[i].setting;

        printf("      %-13s ", parameter_fate(p, i));
        PX_AUTOFREE char *text = need_text("%s = \"%s\" (%s)", s->name, s->value,
                                           s->where);
        column(text, 0);
        putchar('\n');
    }
    printf("      %-13s ", p->used == p->history.n ? "used" : "overruled");
    column(p->declared->param.def ? p->declared->param.def : "unset", 0);
    puts(" (default)");
}

static void print_parameter(const struct parameter *p, const struct paper *paper,
                            int width, bool source)
{
    const struct px_param *d = &p->declared->param;
    const char *value = parameter_value(p);
    char expected[256];

    fputs("  ", stdout);
    name(paper, p->declared->name, width);
    column(value ? value : "unset", VALUE_COLUMN);
    printf("  ");
    column(px_param_kind_name(d->kind), 10);
    column(parameter_source(p), 0);
    putchar('\n');
    px_param_expected(d, expected, sizeof(expected));
    PX_AUTOFREE char *text = need_text("%s (level %d; %s)", d->help ? d->help : "?",
                                       parameter_level(p), expected);
    fputs("      ", stdout);
    wrap(paper, text, 6, 6);
    if (source)
        print_history(p);
}

static bool is_same_group(const struct parameter *a, const struct parameter *b)
{
    return strcmp(a->framework, b->framework) == 0 &&
           strcmp(a->component, b->component) == 0;
}

static void print_parameters(const struct info *info, const struct options *o,
                             const struct paper *paper)
{
    const struct parameter *before = NULL;
    int width = 0;

    for (size_t i = 0; i < info->n_parameters; i++) {
        int len = (int)strlen(info->parameters[i].declared->name);
        if (parameter_wanted(&info->parameters[i], o) && len > width)
            width = len;
    }
    for (size_t i = 0; i < info->n_parameters; i++) {
        const struct parameter *p = &info->parameters[i];

        if (!parameter_wanted(p, o))
            continue;
        if (!before || !is_same_group(before, p)) {
            PX_AUTOFREE char *title = need_text("Parameters of %s %s", p->framework,
                                                p->component);
            head(paper, title);
        }
        print_parameter(p, paper, width + 2, o->source);
        before = p;
    }
}

static void print_problems(const struct info *info, const struct options *o,
                           const struct paper *paper)
{
    bool alone = o->sections == SECTION_PROBLEMS;
    bool well = info_is_well(info);

    if (!alone)
        head(paper, "What is wrong");
    if (well)
        printf("%sconfiguration and components are all right\n", alone ? "" : "  ");
    for (size_t i = 0; i < info->n_problems; i++) {
        const struct problem *p = &info->problems[i];

        if (p->severity == PX_PARAM_NOTE && alone)
            continue;
        fputs(alone ? "" : "  ", stdout);
        if (p->severity != PX_PARAM_NOTE)
            begin(paper, p->severity == PX_PARAM_WRONG ? STYLE_BAD : STYLE_ODD);
        fputs(severity_name(p->severity), stdout);
        if (p->severity != PX_PARAM_NOTE)
            end(paper);
        fputs(": ", stdout);
        column(p->text, 0);
        putchar('\n');
    }
}

static void print_leftovers(const struct info *info, const struct paper *paper)
{
    for (size_t i = 0; i < info->n_leftovers; i++) {
        PX_AUTOFREE char *text = leftover_text(&info->leftovers[i]);

        begin(paper, STYLE_ODD);
        fputs("left", stdout);
        end(paper);
        fputs(": ", stdout);
        column(text, 0);
        putchar('\n');
    }
}

static void print_synonyms(const struct paper *paper)
{
    const struct px_param_foreign *f;

    head(paper, "Names of other implementations");
    for (size_t i = 0; (f = px_param_foreign_at(i)); i++) {
        fputs("  ", stdout);
        name(paper, f->name, 40);
        printf("%s%s\n",
               f->ours ? "means " : "does not apply: ", f->ours ? f->ours : f->why);
    }
}

void print_pretty(const struct info *info, const struct options *o)
{
    struct paper paper = look_at_paper();

    if (o->sections & SECTION_VERSION)
        printf("pmix_info, %s\n", PMIx_Get_version());
    if (o->sections & SECTION_PATHS)
        print_paths(info, o, &paper);
    if (o->sections & SECTION_FILES)
        print_files(info, &paper);
    if (o->sections & SECTION_FRAMEWORKS)
        print_components(info, &paper);
    if (o->sections & SECTION_PARAMS)
        print_parameters(info, o, &paper);
    if (o->sections & SECTION_SYNONYMS)
        print_synonyms(&paper);
    if (o->sections & SECTION_PROBLEMS)
        print_problems(info, o, &paper);
    print_leftovers(info, &paper);
}

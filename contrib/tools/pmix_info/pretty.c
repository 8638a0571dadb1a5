/* SPDX-License-Identifier: BSD-3-Clause */
/* For people: aligned columns; on a terminal in colour, unless NO_COLOR is set, and no
 * wider than that. */
#include "contrib/tools/pmix_info/show.h"

#include "contrib/tools/toolkit.h"
#include "core/base/attr.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

enum { WIDE = 1 << 20, NARROWEST = 40, VALUE_COLUMN = 24 };

struct paper {
    bool colour;
    int width;
    int name_width;                 /* of the column of names */
    const struct parameter *before; /* the one that was printed last */
    bool is_empty;                  /* a framework without components so far */
};

enum style { STYLE_HEAD, STYLE_NAME, STYLE_BAD, STYLE_ODD };

static void on_begin(struct page *p)
{
    const char *no_colour = getenv("NO_COLOR");
    struct paper *paper = p->state;
    struct winsize size;

    paper->width = WIDE;
    if (!isatty(STDOUT_FILENO))
        return;
    paper->colour = !no_colour || !*no_colour;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST)
        paper->width = size.ws_col;
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

/* Bytes that would drive the terminal are not passed on; returns the width. */
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

/* ---- sections ------------------------------------------------------------------- */

static void end_framework(struct paper *paper)
{
    if (paper->is_empty)
        puts("  no components");
    paper->is_empty = false;
}

/* Is it all that was asked for? Then it needs no headline. */
static bool is_alone(const struct page *p, enum section section)
{
    return (p->o->sections & ~(unsigned)SECTION_LEFTOVERS) == section;
}

static void on_section(struct page *p, enum section section, int width)
{
    static const struct {
        enum section section;
        const char *head;
    } rows[] = {{SECTION_PATHS, "Folders"},
                {SECTION_FILES, "Parameter files, weakest first"},
                {SECTION_SYNONYMS, "Names of other implementations"},
                {SECTION_PROBLEMS, "Problems"}};
    struct paper *paper = p->state;

    end_framework(paper);
    paper->name_width = width + 2;
    for (size_t i = 0; i < PX_COUNT(rows); i++)
        if (rows[i].section == section && !is_alone(p, section))
            head(paper, rows[i].head);
    if (section == SECTION_PROBLEMS && info_is_well(p->info))
        printf("%sconfiguration and components are all right\n",
               is_alone(p, section) ? "" : "  ");
}

static void on_pair(struct page *p, enum section section, const char *what,
                    const char *value)
{
    if (section == SECTION_VERSION) {
        if (strcmp(what, "library") == 0)
            printf("pmix_info, %s\n", value);
        return;
    }
    if (!is_alone(p, SECTION_PATHS) || strcmp(p->o->path, "all") == 0) {
        fputs("  ", stdout);
        name(p->state, what, 12);
    }
    column(value ? value : "?", 0);
    putchar('\n');
}

static void on_file(struct page *p PX_UNUSED, const struct px_param_file *f)
{
    fputs("  ", stdout);
    column(source_name(f->source), 15);
    column(f->read ? "read" : "not read", 10);
    column(f->path, 0);
    putchar('\n');
}

static void on_framework(struct page *p, enum px_framework_id id)
{
    struct paper *paper = p->state;
    PX_AUTOFREE char *title = need_text(
        "Framework %s, keeps %s", px_frameworks[id].name,
        px_frameworks[id].many ? "all that answer" : "the best");

    end_framework(paper);
    head(paper, title);
    paper->is_empty = true;
}

static void on_component(struct page *p, const struct component *c)
{
    struct paper *paper = p->state;
    const char *why = c->probe.why ? c->probe.why : c->left_out;
    int indent = 2 + paper->name_width;

    paper->is_empty = false;
    fputs("  ", stdout);
    name(paper, c->found->name, paper->name_width);
    if (c->probe.why)
        begin(paper, STYLE_BAD);
    column(component_state(c), 10);
    if (c->probe.why)
        end(paper);
    column(c->probe.version ? c->probe.version : "?", 8);
    column(c->found->file ? c->found->file : "built in", 0);
    putchar('\n');
    if (why) {
        printf("%*s", indent, "");
        wrap(paper, why, indent, indent);
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

static void on_parameter(struct page *p, const struct parameter *param)
{
    struct paper *paper = p->state;
    const struct px_param *d = &param->declared->param;
    const char *value = parameter_value(param);
    char expected[256];

    if (!paper->before || strcmp(paper->before->framework, param->framework) != 0 ||
        strcmp(paper->before->component, param->component) != 0) {
        PX_AUTOFREE char *title = need_text("Parameters of %s %s", param->framework,
                                            param->component);
        head(paper, title);
    }
    paper->before = param;
    fputs("  ", stdout);
    name(paper, param->declared->name, paper->name_width);
    column(value ? value : "unset", VALUE_COLUMN);
    printf("  ");
    column(px_param_kind_name(d->kind), 10);
    column(parameter_source(param), 0);
    putchar('\n');
    px_param_expected(d, expected, sizeof(expected));
    PX_AUTOFREE char *text = need_text("%s (level %d; %s)", d->help ? d->help : "?",
                                       parameter_level(param), expected);
    fputs("      ", stdout);
    wrap(paper, text, 6, 6);
    if (p->o->source)
        print_history(param);
}

static void on_problem(struct page *p, const struct problem *problem)
{
    bool alone = is_alone(p, SECTION_PROBLEMS);
    bool note = problem->severity == PX_PARAM_NOTE;

    if (note && alone)
        return;
    fputs(alone ? "" : "  ", stdout);
    if (!note)
        begin(p->state, problem->severity == PX_PARAM_WRONG ? STYLE_BAD : STYLE_ODD);
    fputs(severity_name(problem->severity), stdout);
    if (!note)
        end(p->state);
    fputs(": ", stdout);
    column(problem->text, 0);
    putchar('\n');
}

static void on_leftover(struct page *p, const struct leftover *l)
{
    PX_AUTOFREE char *text = leftover_text(l);

    begin(p->state, STYLE_ODD);
    fputs("left", stdout);
    end(p->state);
    fputs(": ", stdout);
    column(text, 0);
    putchar('\n');
}

static void on_synonym(struct page *p, const struct px_param_foreign *f)
{
    fputs("  ", stdout);
    name(p->state, f->name, 40);
    printf("%s%s\n",
           f->ours ? "means " : "does not apply: ", f->ours ? f->ours : f->why);
}

static void on_end(struct page *p)
{
    end_framework(p->state);
}

const struct emitter emit_pretty = {
    .for_people = true,
    .state_b = sizeof(struct paper),
    .begin = on_begin,
    .end = on_end,
    .section = on_section,
    .pair = on_pair,
    .file = on_file,
    .framework = on_framework,
    .component = on_component,
    .parameter = on_parameter,
    .problem = on_problem,
    .leftover = on_leftover,
    .synonym = on_synonym,
};

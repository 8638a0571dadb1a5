/* SPDX-License-Identifier: BSD-3-Clause */
/* Output for people, in aligned columns. On a terminal in colour unless NO_COLOR is
 * set, and at most as wide as the terminal. */
#include "contrib/tools/pmix_info/info.h"

#include "contrib/tools/toolkit.h"
#include "core/base/attr.h"

#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>

enum { WIDE = 1 << 20, NARROWEST = 40, VALUE_COLUMN = 24 };

enum style { STYLE_PLAIN, STYLE_HEAD, STYLE_NAME, STYLE_BAD, STYLE_ODD };

static struct {
    bool colour;
    int width;
    int name_width;                 /* of the column of names */
    const struct parameter *before; /* printed last */
    bool is_empty;                  /* a framework without components so far */
    char *entry;                    /* of a server, printed last: "SECTION\nENTRY" */
} paper = {.width = WIDE};

static void on_begin(void)
{
    const char *no_colour = getenv("NO_COLOR");
    struct winsize size;

    if (!isatty(STDOUT_FILENO))
        return;
    paper.colour = !no_colour || !*no_colour;
    if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col >= NARROWEST)
        paper.width = size.ws_col;
}

/* Prints a text without control bytes for the terminal; returns the width. */
static int put_tame(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        bool tame = (unsigned char)text[i] >= ' ' && text[i] != 0x7f;
        putchar(tame ? text[i] : '?');
    }
    return (int)len;
}

/* Prints a text in a column of that width; 0: without padding. */
static void put(enum style style, const char *text, int width)
{
    static const char *const codes[] = {
        [STYLE_HEAD] = "\033[1m",
        [STYLE_NAME] = "\033[36m",
        [STYLE_BAD] = "\033[31m",
        [STYLE_ODD] = "\033[33m",
    };
    bool colour = paper.colour && style != STYLE_PLAIN;

    fputs(colour ? codes[style] : "", stdout);
    int used = put_tame(text, strlen(text));
    fputs(colour ? "\033[0m" : "", stdout);
    printf("%*s", used < width ? width - used : 0, "");
}

/* Prints the rest of a line. */
static void put_last(const char *text)
{
    put(STYLE_PLAIN, text, 0);
    putchar('\n');
}

static void head(const char *text)
{
    put(STYLE_HEAD, text, 0);
    putchar('\n');
}

/* Breaks lines between words; "at" columns are used already, further lines begin at
 * indent. */
static void wrap(const char *text, int at, int indent)
{
    bool first = true;

    for (text += strspn(text, " "); *text; text += strspn(text, " ")) {
        size_t len = strcspn(text, " ");

        if (!first && at + 1 + (int)len >= paper.width) {
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

static void end_framework(void)
{
    if (paper.is_empty)
        puts("  no components");
    paper.is_empty = false;
}

/* True if the section is the only one in the output; no headline is needed then. */
static bool is_alone(const struct page *p, enum section section)
{
    return (p->o->sections & ~(unsigned)SECTION_LEFTOVERS) == section;
}

static void on_chapter(const struct page *p, const struct chapter *c)
{
    const bool alone = is_alone(p, c->section);

    end_framework();
    paper.name_width = c->width ? c->width(p) + 2 : 0;
    if (c->head && !alone)
        head(c->head);
    if (c->section == SECTION_PROBLEMS && info_is_well(p->info))
        printf("%sconfiguration and components are all right\n", alone ? "" : "  ");
}

static void on_pair(const struct page *p, enum section section, const char *what,
                    const char *value)
{
    if (section == SECTION_VERSION) {
        if (strcmp(what, "library") == 0)
            printf("pmix_info, %s\n", value);
        return;
    }
    if (!is_alone(p, SECTION_PATHS) || strcmp(p->o->path, "all") == 0) {
        fputs("  ", stdout);
        put(STYLE_NAME, what, 12);
    }
    put_last(value ? value : "?");
}

static void on_file(const struct px_param_file *f)
{
    fputs("  ", stdout);
    put(STYLE_PLAIN, source_name(f->source), 15);
    put(STYLE_PLAIN, f->read ? "read" : "not read", 10);
    put_last(f->path);
}

static void on_framework(enum px_framework_id id)
{
    PX_AUTOFREE char *title = need_text(
        "Framework %s, keeps %s", px_frameworks[id].name,
        px_frameworks[id].many ? "all that answer" : "the best");

    end_framework();
    head(title);
    paper.is_empty = true;
}

static void on_component(const struct component *c)
{
    const char *why = c->why ? c->why : c->left_out;
    int indent = 2 + paper.name_width;

    paper.is_empty = false;
    fputs("  ", stdout);
    put(STYLE_NAME, c->found->name, paper.name_width);
    put(c->why ? STYLE_BAD : STYLE_PLAIN, component_state(c), 10);
    put(STYLE_PLAIN, c->loaded.component.version ? c->loaded.component.version : "?",
        8);
    put_last(c->found->file ? c->found->file : "built in");
    if (why) {
        printf("%*s", indent, "");
        wrap(why, indent, indent);
    }
}

static void print_history(const struct parameter *p)
{
    for (size_t i = 0; i < p->history.n; i++) {
        const struct px_setting *s = p->history.v[i].setting;

        PX_AUTOFREE char *text = need_text("%s = \"%s\" (%s)", s->name, s->value,
                                           s->where);

        printf("      %-13s ", parameter_fate(p, i));
        put_last(text);
    }
    printf("      %-13s ", p->used == p->history.n ? "used" : "overruled");
    put(STYLE_PLAIN, p->declared->param.def ? p->declared->param.def : "unset", 0);
    puts(" (default)");
}

static void on_parameter(const struct page *p, const struct parameter *param)
{
    const struct px_param *d = &param->declared->param;
    const char *value = parameter_value(param);
    char expected[256];

    if (!paper.before || strcmp(paper.before->framework, param->framework) != 0 ||
        strcmp(paper.before->component, param->component) != 0) {
        PX_AUTOFREE char *title = need_text("Parameters of %s %s", param->framework,
                                            param->component);
        head(title);
    }
    paper.before = param;
    fputs("  ", stdout);
    put(STYLE_NAME, param->declared->name, paper.name_width);
    put(STYLE_PLAIN, value ? value : "unset", VALUE_COLUMN);
    printf("  ");
    put(STYLE_PLAIN, px_param_kind_name(d->kind), 10);
    put_last(parameter_source(param));
    px_param_expected(d, expected, sizeof(expected));
    PX_AUTOFREE char *text = need_text("%s (level %d; %s)", d->help ? d->help : "?",
                                       parameter_level(param), expected);
    fputs("      ", stdout);
    wrap(text, 6, 6);
    if (p->o->source)
        print_history(param);
}

static void on_problem(const struct page *p, const struct px_problem *problem)
{
    static const enum style styles[] = {[PX_PARAM_WRONG] = STYLE_BAD,
                                        [PX_PARAM_ODD] = STYLE_ODD,
                                        [PX_PARAM_NOTE] = STYLE_PLAIN};
    bool alone = is_alone(p, SECTION_PROBLEMS);

    if (problem->severity == PX_PARAM_NOTE && alone)
        return;
    fputs(alone ? "" : "  ", stdout);
    put(styles[problem->severity], severity_name(problem->severity), 0);
    fputs(": ", stdout);
    put_last(problem->text);
}

static void on_leftover(const struct leftover *l)
{
    PX_AUTOFREE char *text = leftover_text(l);

    put(STYLE_ODD, "left", 0);
    fputs(": ", stdout);
    put_last(text);
}

static void on_synonym(const struct px_param_foreign *f)
{
    fputs("  ", stdout);
    put(STYLE_NAME, f->name, 40);
    printf("%s%s\n",
           f->ours ? "means " : "does not apply: ", f->ours ? f->ours : f->why);
}

/* Prints a member of a section in a line. The members of an entry share a line. */
static void on_host(const char *section, const char *entry, const pmix_info_t *member)
{
    PX_AUTOFREE char *text = host_text(&member->value);
    PX_AUTOFREE char *place = need_text("%s\n%s", section, entry ? entry : "");
    const bool is_new = !paper.entry || strcmp(paper.entry, place) != 0;
    const size_t len = strlen(section);

    if (is_new && paper.entry && strchr(paper.entry, '\n')[1])
        putchar('\n');
    if (!paper.entry || strncmp(paper.entry, place, len + 1) != 0) {
        PX_AUTOFREE char *title = need_text("Server: %s", section);

        head(title);
    }
    if (!entry || is_new)
        fputs("  ", stdout);
    if (entry && is_new)
        put(STYLE_NAME, entry, 36);
    put(entry ? STYLE_PLAIN : STYLE_NAME, member->key, entry ? 0 : 36);
    putchar(' ');
    put(STYLE_PLAIN, text, 0);
    putchar(entry ? ' ' : '\n');
    free(paper.entry);
    paper.entry = need(strdup(place));
}

static void on_end(void)
{
    end_framework();
    if (paper.entry && strchr(paper.entry, '\n')[1])
        putchar('\n');
}

const struct emitter emit_pretty = {
    .begin = on_begin,
    .end = on_end,
    .chapter = on_chapter,
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

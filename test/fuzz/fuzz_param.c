/* SPDX-License-Identifier: BSD-3-Clause */
/* Any text as a parameter file. Each line is a setting, an include or an error. A setting can be written
 * again. Each value is valid or not for a parameter of each kind. Then all lines are the settings of one
 * table, and all values of the configuration are within their ranges. */
#include "fuzz.h"
#include "core/rt/log.h"
#include "core/config/param_impl.h"

#include <inttypes.h>
#include <string.h>

static const struct px_param_name colours[] = {{"red", 1}, {"green", 2}, {NULL, 0}};

struct conf {
    bool on;
    int64_t count, colour;
    uint64_t ports, size, wait;
    const char *label, *dir;
    const char *const *list;
    struct px_param_version version;
};

static const struct px_param table[] = {
    PX_PARAM_BOOL(struct conf, on, "true", "", .old_names = "was_on, x_active"),
    PX_PARAM_INT(struct conf, count, "7", -1000, 1000, ""),
    PX_PARAM_UINT(struct conf, ports, "8", 1, 65535, "", .old_names = "x_port"),
    PX_PARAM_SIZE(struct conf, size, "4K", 1, INT64_MAX, ""),
    PX_PARAM_DURATION(struct conf, wait, "5s", 0, INT64_MAX, ""),
    PX_PARAM_ENUM(struct conf, colour, "red", colours, ""),
    PX_PARAM_STRING(struct conf, label, NULL, ""),
    PX_PARAM_PATH(struct conf, dir, NULL, ""),
    PX_PARAM_LIST(struct conf, list, NULL, ""),
    PX_PARAM_VERSION(struct conf, version, "1.2", ""),
    PX_PARAM_END,
};

/* Replaces the process's log, which is in another room. */
void px_log(enum px_log_level level, const char *area, const char *fmt, ...)
{
    char text[2048];
    va_list args;

    (void)level;
    (void)area;
    va_start(args, fmt);
    FUZZ_MUST(vsnprintf(text, sizeof(text), fmt, args) < (int)sizeof(text));
    va_end(args);
}

static void in_range(const struct conf *c)
{
    FUZZ_MUST(c->count >= -1000 && c->count <= 1000);
    FUZZ_MUST(c->colour == 1 || c->colour == 2);
    FUZZ_MUST(c->ports >= 1 && c->ports <= 65535);
    FUZZ_MUST(c->size >= 1 && c->size <= INT64_MAX);
    FUZZ_MUST(c->wait <= INT64_MAX);
    FUZZ_MUST(!c->dir || c->dir[0] == '/');
    for (size_t i = 0; c->list && c->list[i]; i++)
        FUZZ_MUST(c->list[i][0] && !strchr(c->list[i], ','));
}

/* ---- one value ------------------------------------------------------------------- */

/* Checks that a number is the same after it is read, printed and read again. */
static void number_again(const struct px_param *param, const char *text)
{
    uint64_t n = 77, again = 78;
    char plain[32];

    if (!px_param_from_text(param, text, &n)) {
        FUZZ_MUST(n == 77);
        return;
    }
    snprintf(plain, sizeof(plain),
             param->kind == PX_PARAM_KIND_INT        ? "%" PRId64
             : param->kind == PX_PARAM_KIND_DURATION ? "%" PRIu64 "ms"
                                                     : "%" PRIu64,
             n);
    FUZZ_MUST(px_param_from_text(param, plain, &again) && again == n);
}

static void as_each_kind(const char *text)
{
    const char *unit = text + strspn(text, "0123456789");

    for (const struct px_param *p = table; p->kind != PX_PARAM_KIND_END; p++) {
        union {
            bool flag;
            int64_t number;
            const char *text;
            struct px_param_version version;
        } member = {.number = -1};

        switch (p->kind) {
        case PX_PARAM_KIND_INT:
        case PX_PARAM_KIND_UINT:
        case PX_PARAM_KIND_SIZE:
        case PX_PARAM_KIND_DURATION:
            number_again(p, text);
            break;
        case PX_PARAM_KIND_STRING:
            FUZZ_MUST(px_param_from_text(p, text, &member) && member.text == text);
            break;
        case PX_PARAM_KIND_PATH:
            FUZZ_MUST(px_param_from_text(p, text, &member) == (text[0] == '/'));
            break;
        case PX_PARAM_KIND_VERSION:
            FUZZ_MUST(!px_param_from_text(p, text, &member) ||
                      (unit > text && !unit[strspn(unit, ".0123456789")]));
            break;
        case PX_PARAM_KIND_ENUM:
            FUZZ_MUST(!px_param_from_text(p, text, &member) || member.number == 1 ||
                      member.number == 2);
            break;
        default:
            px_param_from_text(p, text, &member);
        }
    }
}

/* ---- lines ----------------------------------------------------------------------- */

/* Checks that a setting is the same with quotes. */
static void line_again(const struct px_param_line *line)
{
    char quote = !strchr(line->value, '"') ? '"' : '\'';
    size_t room = strlen(line->name) + strlen(line->value) + 8;
    struct px_param_line out, none;

    if (strchr(line->value, quote))
        return; /* has both */
    PX_AUTOFREE char *text = malloc(room);
    FUZZ_MUST(text);
    snprintf(text, room, "%s = %c%s%c", line->name, quote, line->value, quote);
    struct px_param_text again = {.rest = text, .line = 1};
    FUZZ_MUST(px_param_next_line(&again, &out) && !out.wrong && out.number == 1);
    FUZZ_MUST(strcmp(out.name, line->name) == 0);
    FUZZ_MUST(strcmp(out.value, line->value) == 0);
    FUZZ_MUST(!px_param_next_line(&again, &none));
}

static void take(struct px_params *params, const struct px_param_line *line)
{
    char where[64];

    snprintf(where, sizeof(where), "file:%lu", line->number);
    FUZZ_MUST(strlen(line->shown) < sizeof(line->shown));
    if (line->wrong) {
        px_params_complain(params, PX_PARAM_WRONG, "%s: \"%s\": %s", where, line->shown,
                           line->wrong);
        return;
    }
    FUZZ_MUST(!line->include != !line->name);
    if (line->include) {
        FUZZ_MUST(line->include[0] && !strchr(line->include, '\n'));
        return;
    }
    FUZZ_MUST(px_param_is_name(line->name) && !strchr(line->value, '\n'));
    line_again(line);
    as_each_kind(line->value);
    FUZZ_MUST(px_params_add(params, line->name, line->value, PX_SOURCE_USER_FILE, 1,
                            where) == PMIX_SUCCESS);
}

static void judge_all(struct px_params *params)
{
    struct conf conf = {0};
    struct px_err err;

    FUZZ_MUST(px_params_parse(params, "x_", table, &conf, &err) == PMIX_SUCCESS);
    in_range(&conf);
    pmix_status_t rc = px_params_report(params, &err);
    FUZZ_MUST(rc == PMIX_SUCCESS || rc == PMIX_ERR_BAD_PARAM);
    FUZZ_MUST(px_params_report(params, &err) ==
              PMIX_SUCCESS); /* reports all problems */
    FUZZ_MUST(params->n_problems <= PX_PARAM_MAX_PROBLEMS + 1);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    PX_AUTOFREE char *text = fuzz_text(data, size);
    struct px_params *params = px_params_empty("/h");
    unsigned long lines = 1, last = 0;
    struct px_param_line line;

    FUZZ_MUST(params);
    for (const char *s = text; (s = strchr(s, '\n')); s++)
        lines++;
    struct px_param_text rest = {.rest = text, .line = 1};
    while (px_param_next_line(&rest, &line)) {
        FUZZ_MUST(line.number > last && line.number <= lines);
        last = line.number;
        take(params, &line);
    }
    judge_all(params);
    px_params_destroy(params);
    return 0;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    static const char *const texts[] = {
        "# comment\nx_on = no\r\n\n x_count=-12 # why\nx_ports = 8080\n",
        "x_size = 64K\nx_wait = 250ms\nx_colour = green\nx_version = 1.2.3\n",
        "x_label = \"a # b\" # c\nx_dir = ~/there\nx_list = a, b, \\\n  c\n",
        "include other.conf\ninclude 'a b.conf'\ninclude = 1\n[section]\nnothing",
        "was_on = 1\nx_on = 0\nx_on = 1\nx_label = 'open\nx_conut = 5\nmca_verbose = 3\n",
        "mca_base_strict = error\nptl_base_if_include = eth0\nx_ports = banana\n\\\n\\",
    };

    return fuzz_seed_text(texts, PX_COUNT(texts), i, out);
}

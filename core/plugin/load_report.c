/* SPDX-License-Identifier: BSD-3-Clause */
/* Reports why components are not in use, at the level the user chose. */
#include "core/plugin/load_report.h"

#include "core/base/str.h"
#include "core/rt/log.h"

#include <stdio.h>
#include <string.h>
#include <strings.h>

static bool is_one_of(const char *text, const char *const *words)
{
    while (*words && strcasecmp(text, *words) != 0)
        words++;
    return *words;
}

pmix_status_t px_load_verbosity_parse(const char *text, px_load_verbosity *verbosity)
{
    static const char *const none[] = {"none", "false", "no", "off", "0", "", NULL};
    static const char *const all[] = {"all", "true", "yes", "on", "1", NULL};
    PX_AUTOFREE char *copy = strdup(text ? text : "none");

    *verbosity = (px_load_verbosity){0};
    if (!copy)
        return PMIX_ERR_NOMEM;
    char *rest = px_str_trim(copy);
    if (is_one_of(rest, none))
        return PMIX_SUCCESS;
    if (is_one_of(rest, all)) {
        verbosity->others = true;
        return PMIX_SUCCESS;
    }
    verbosity->others = *rest == '^';
    rest += verbosity->others;
    for (char *item; (item = strsep(&rest, ","));) {
        item = px_str_trim(item);
        if (*item && px_strv_append(&verbosity->items, item))
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

void px_load_verbosity_cleanup(px_load_verbosity *verbosity)
{
    px_strv_free(verbosity->items);
    *verbosity = (px_load_verbosity){0};
}

static bool names(const char *item, const struct px_found *f)
{
    const char *framework = px_frameworks[f->framework].name;
    size_t len = strlen(framework);

    return strncmp(item, framework, len) == 0 &&
           (!item[len] || (item[len] == '/' && strcmp(item + len + 1, f->name) == 0));
}

void px_load_report(const px_load_verbosity *verbosity, const struct px_found *f,
                    bool requested, const char *fmt, ...)
{
    bool named = false;
    char text[1024];
    va_list args;

    for (char **item = verbosity->items; item && *item; item++)
        named |= names(*item, f);
    bool loud = requested || named != verbosity->others;
    if (!px_log_wants(loud ? PX_LOG_WARN : PX_LOG_INFO))
        return;
    va_start(args, fmt);
    vsnprintf(text, sizeof(text), fmt, args);
    va_end(args);
    if (f->file && !strstr(text, f->file))
        px_log(loud ? PX_LOG_WARN : PX_LOG_INFO, "loader", "%s (%s)", text, f->file);
    else
        px_log(loud ? PX_LOG_WARN : PX_LOG_INFO, "loader", "%s", text);
}

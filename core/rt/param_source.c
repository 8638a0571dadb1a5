/* SPDX-License-Identifier: BSD-3-Clause */
/* Where settings come from: parameter files and the environment.
 *
 * A file holds lines "name = value". White space around both is dropped; a value in
 * single or double quotes keeps its own. An unquoted value ends where white space and a
 * # begin a comment. Later lines overrule earlier ones. */
#include "core/base/str.h"
#include "core/rt/config.h"
#include "core/rt/log.h"
#include "core/rt/param_impl.h"
#include "core/rt/trust.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define ENV_PREFIX "PMIX_MCA_"

enum { FILE_MAX = 1 << 20 };

/* ---- lines ----------------------------------------------------------------------- */

/* Ends the value at its closing quote; false if there is none, or more than a comment
 * after it. */
static bool unquote(char **value)
{
    char *s = *value;
    char *end = strchr(s + 1, s[0]);

    if (!end)
        return false;
    *end = '\0';
    *value = s + 1;
    s = px_str_trim(end + 1);
    return *s == '\0' || *s == '#';
}

static void cut_comment(char *value)
{
    for (char *s = value; *s; s++) {
        if (*s == '#' && (s == value || isspace((unsigned char)s[-1]))) {
            *s = '\0';
            return;
        }
    }
}

/* Splits line in place. *name is NULL for a line that sets nothing; returns what is
 * wrong, or NULL. */
static const char *split_line(char *line, char **name, char **value)
{
    *name = NULL;
    line = px_str_trim(line);
    if (*line == '\0' || *line == '#')
        return NULL;
    char *equals = strchr(line, '=');
    if (!equals)
        return "expected name = value";
    *equals = '\0';
    *value = px_str_trim(equals + 1);
    if (**value == '"' || **value == '\'') {
        if (!unquote(value))
            return "a quoted value must end with the same quote, and the line with it";
    } else {
        cut_comment(*value);
        *value = px_str_trim(*value);
    }
    *name = px_str_trim(line);
    return NULL;
}

static pmix_status_t parse_line(struct px_params *p, char *line,
                                enum px_param_source source, const char *where,
                                struct px_err *err)
{
    char shown[64];
    char *name = NULL;
    char *value = NULL;

    px_str_copy(shown, sizeof(shown), px_str_trim(line));
    const char *wrong = split_line(line, &name, &value);
    if (wrong)
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s: \"%s\": %s", where, shown,
                          wrong);
    if (!name)
        return PMIX_SUCCESS;
    pmix_status_t rc = px_params_set(p, name, value, source, where);
    if (rc == PMIX_ERR_BAD_PARAM)
        return px_err_set(err, rc,
                          "%s: \"%s\": a name has letters, digits and _ - . only",
                          where, shown);
    return rc ? px_err_set(err, rc, "%s: out of memory", where) : rc;
}

static pmix_status_t parse_text(struct px_params *p, char *text,
                                enum px_param_source source, const char *path,
                                struct px_err *err)
{
    unsigned long number = 1;
    char *rest = text;
    char *line;

    for (; (line = strsep(&rest, "\n")); number++) {
        PX_AUTOFREE char *where = px_strf("%s:%lu", path, number);
        if (!where)
            return px_err_set(err, PMIX_ERR_NOMEM, "%s: out of memory", path);
        pmix_status_t rc = parse_line(p, line, source, where, err);
        if (rc)
            return rc;
    }
    return PMIX_SUCCESS;
}

/* ---- files ----------------------------------------------------------------------- */

/* The whole of a regular file, malloc'd and terminated; NULL and errno otherwise.
 * O_NONBLOCK because somebody may have put a FIFO there. */
static char *read_text(const char *path, size_t *len)
{
    struct stat st;

    PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0 || fstat(fd, &st) < 0)
        return NULL;
    if (!S_ISREG(st.st_mode) || st.st_size > FILE_MAX) {
        errno = S_ISREG(st.st_mode) ? EFBIG : EINVAL;
        return NULL;
    }
    PX_AUTOFREE char *text = malloc((size_t)st.st_size + 1);
    if (!text)
        return NULL;
    for (*len = 0; *len < (size_t)st.st_size;) {
        ssize_t n = read(fd, text + *len, (size_t)st.st_size - *len);
        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return NULL;
        if (n == 0)
            break;
        *len += (size_t)n;
    }
    text[*len] = '\0';
    return px_take(&text);
}

/* A path that is absent, or that a guarded process must not believe, leaves *out
 * NULL. */
static pmix_status_t resolve(const char *path, bool guarded, char **out)
{
    struct px_err why = {0};

    *out = NULL;
    if (!guarded) {
        *out = strdup(path);
        return *out ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
    }
    pmix_status_t rc = px_trust(path, out, &why);
    if (rc == PMIX_ERR_NOMEM)
        return rc;
    if (rc && rc != PMIX_ERR_NOT_FOUND)
        px_log(PX_LOG_WARN, "param", "parameter file not read: %s", why.text);
    return PMIX_SUCCESS;
}

pmix_status_t px_params_read_file(struct px_params *p, const char *path,
                                  enum px_param_source source, bool guarded,
                                  struct px_err *err)
{
    PX_AUTOFREE char *real = NULL;
    size_t len = 0;

    if (resolve(path, guarded, &real))
        return px_err_set(err, PMIX_ERR_NOMEM, "%s: out of memory", path);
    if (!real)
        return PMIX_SUCCESS;
    PX_AUTOFREE char *text = read_text(real, &len);
    if (!text) {
        if (errno == ENOMEM)
            return px_err_set(err, PMIX_ERR_NOMEM, "%s: out of memory", path);
        if (errno != ENOENT && errno != ENOTDIR)
            px_log(PX_LOG_WARN, "param", "parameter file %s not read: %m", path);
        return PMIX_SUCCESS;
    }
    if (memchr(text, '\0', len))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s: not a text file", path);
    return parse_text(p, text, source, path, err);
}

/* ---- environment ----------------------------------------------------------------- */

pmix_status_t px_params_read_env(struct px_params *p, char *const *env)
{
    for (; env && *env; env++) {
        if (!px_str_starts(*env, ENV_PREFIX))
            continue;
        const char *name = *env + strlen(ENV_PREFIX);
        const char *equals = strchr(name, '=');
        if (!equals)
            continue;
        PX_AUTOFREE char *copy = strndup(name, (size_t)(equals - name));
        if (!copy)
            return PMIX_ERR_NOMEM;
        pmix_status_t rc = px_params_set(p, copy, equals + 1, PX_SOURCE_ENV,
                                         "environment");
        if (rc && rc != PMIX_ERR_BAD_PARAM) /* a name that none of ours can have */
            return rc;
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_params_create(struct px_params **out, struct px_err *err)
{
    bool is_setuid = px_is_setuid();
    const char *home = is_setuid ? NULL : getenv("HOME");
    struct px_param_origin origin = {
        .sysconfdir = PX_SYSCONFDIR,
        .home = home && home[0] == '/' ? home : NULL,
        .env = is_setuid ? NULL : environ,
        .guarded = px_is_guarded(),
    };

    return px_params_create_from(&origin, out, err);
}

/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/base/env_edit.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/attr.h"
#include "core/base/vec.h"

/* One variable. The value of an extended one is apart, in a buffer with room at both
 * ends. */
struct px_env_entry {
    char *buf; /* NULL: removed */
    size_t name_len, start, len, cap;
    bool is_whole; /* buf is "NAME=VALUE" */
    size_t next;   /* index of the next entry of the name + 1; 0: none */
};

/* True for a variable; an inherited string without a name has no entry in the map. */
static bool is_name(const char *name, size_t len)
{
    return name && len > 0 && !memchr(name, '=', len);
}

static struct px_env_entry *add(px_env_edit *d, const char *name, size_t len)
{
    struct px_env_entry *e = px_vec_add(&d->v, &d->n, &d->cap);

    if (!e)
        return NULL;
    e->name_len = len;
    const uintptr_t first = (uintptr_t)px_map_get(&d->at, name, len);
    if (first) {
        e->next = d->v[first - 1].next;
        d->v[first - 1].next = d->n;
        return e;
    }
    if (!px_map_put(&d->at, name, len, (void *)d->n, NULL))
        return e;
    d->n--;
    return NULL;
}

pmix_status_t px_env_edit_begin(px_env_edit *d, char *const *env)
{
    for (; env && *env; env++) {
        const size_t len = strcspn(*env, "=");
        struct px_env_entry *e = is_name(*env, len) && (*env)[len]
                                     ? add(d, *env, len)
                                     : px_vec_add(&d->v, &d->n, &d->cap);

        if (!e)
            return PMIX_ERR_NOMEM;
        e->is_whole = true;
        e->buf = strdup(*env);
        if (!e->buf)
            return PMIX_ERR_NOMEM;
    }
    return PMIX_SUCCESS;
}

static bool set(struct px_env_entry *e, const char *name, const char *value)
{
    const size_t value_b = strlen(value) + 1;
    char *text = malloc(e->name_len + 1 + value_b);

    if (!text)
        return false;
    memcpy(text, name, e->name_len);
    text[e->name_len] = '=';
    memcpy(text + e->name_len + 1, value, value_b);
    free(e->buf);
    *e = (struct px_env_entry){.buf = text, .name_len = e->name_len, .is_whole = true};
    return true;
}

/* Makes room before and behind the value. A new buffer has as much room at each end as
 * text, so each byte moves a bounded number of times. */
static bool make_room(struct px_env_entry *e, size_t front, size_t back)
{
    if (!e->is_whole && e->start >= front && e->cap - e->start - e->len > back)
        return true;
    const char *value = e->buf + (e->is_whole ? e->name_len + 1 : e->start);
    const size_t len = e->is_whole ? strlen(value) : e->len;
    const size_t room = len + front + back;
    char *buf = malloc(3 * room + 1);

    if (!buf)
        return false;
    memcpy(buf + room, value, len);
    free(e->buf);
    *e = (struct px_env_entry){.buf = buf,
                               .name_len = e->name_len,
                               .start = room,
                               .len = len,
                               .cap = 3 * room + 1};
    return true;
}

static pmix_status_t extend(struct px_env_entry *e, bool first, const char *value,
                            char separator)
{
    const size_t len = strlen(value), more = len + (separator != '\0');

    if (!make_room(e, first ? more : 0, first ? 0 : more))
        return PMIX_ERR_NOMEM;
    char *at = first ? e->buf + e->start - more : e->buf + e->start + e->len;
    if (!first && separator)
        *at++ = separator;
    memcpy(at, value, len);
    if (first && separator)
        at[len] = separator;
    e->start -= first ? more : 0;
    e->len += more;
    return PMIX_SUCCESS;
}

/* True if the text of a variable begins with the value. */
static bool is_first(const struct px_env_entry *e, const char *value, char separator)
{
    const char *text = e->buf + (e->is_whole ? e->name_len + 1 : e->start);
    const size_t len = strlen(value), text_len = e->is_whole ? strlen(text) : e->len;

    return text_len >= len && memcmp(text, value, len) == 0 &&
           (text_len == len || !separator || text[len] == separator);
}

/* Removes the entries of a name behind the first. */
static void drop_others(px_env_edit *d, struct px_env_entry *e)
{
    for (size_t i = e->next; i > 0; i = d->v[i - 1].next)
        free(px_take(&d->v[i - 1].buf));
    e->next = 0;
}

static struct px_env_entry *find(const px_env_edit *d, const char *name, size_t len)
{
    const uintptr_t at = (uintptr_t)px_map_get(&d->at, name, len);

    return at ? &d->v[at - 1] : NULL;
}

pmix_status_t px_env_edit_change(px_env_edit *d, enum px_env_how how, const char *name,
                                 size_t name_len, const char *value, char separator)
{
    struct px_env_entry *e;

    if (!is_name(name, name_len))
        return PMIX_ERR_BAD_PARAM;
    e = find(d, name, name_len);
    if ((how == PX_ENV_UNSET && !e) || (how == PX_ENV_ADD && e && e->buf))
        return PMIX_SUCCESS;
    if (!e && !(e = add(d, name, name_len)))
        return PMIX_ERR_NOMEM;
    drop_others(d, e);
    if (how == PX_ENV_UNSET) {
        free(px_take(&e->buf));
        return PMIX_SUCCESS;
    }
    if (e->buf && how == PX_ENV_FIRST && is_first(e, value, separator))
        return PMIX_SUCCESS;
    if (e->buf && how >= PX_ENV_PREPEND)
        return extend(e, how != PX_ENV_APPEND, value, separator);
    return set(e, name, value) ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

/* Makes the strings of the extended entries. */
static pmix_status_t finish(const px_env_edit *d)
{
    const void *name;
    size_t pos = 0;
    uintptr_t at;

    while ((at = (uintptr_t)px_map_next(&d->at, &pos, &name, NULL))) {
        struct px_env_entry *e = &d->v[at - 1];

        if (e->buf && !e->is_whole) {
            e->buf[e->start + e->len] = '\0'; /* a buffer has one byte more */
            if (!set(e, name, e->buf + e->start))
                return PMIX_ERR_NOMEM;
        }
    }
    return PMIX_SUCCESS;
}

pmix_status_t px_env_edit_end(px_env_edit *d, char ***env)
{
    char **out = calloc(d->n + 1, sizeof(*out));
    pmix_status_t rc = out ? finish(d) : PMIX_ERR_NOMEM;
    size_t n = 0;

    for (size_t i = 0; !rc && i < d->n; i++)
        if (d->v[i].buf)
            out[n++] = px_take(&d->v[i].buf);
    if (rc)
        free(out);
    else
        *env = out;
    px_env_edit_cleanup(d);
    return rc;
}

void px_env_edit_cleanup(px_env_edit *d)
{
    for (size_t i = 0; i < d->n; i++)
        free(d->v[i].buf);
    free(d->v);
    px_map_fini(&d->at);
    *d = (px_env_edit){0};
}

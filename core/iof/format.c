/* SPDX-License-Identifier: BSD-3-Clause */
#include "core/iof/format.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/attr.h"
#include "core/rt/process.h"
#include "core/types/type.h"
#include "pmix.h"

/* ---- format directives ----------------------------------------------------------- */

enum kind { FLAG, BYTES, SECONDS };

#define ROW(key, member, kind)                               \
    {                                                        \
        key, #key, offsetof(struct px_iof_way, member), kind \
    }

/* Rows that shape lines come first. Raw output excludes them. */
enum { RAW, XML, JSON, N_SHAPING = 8 };
static const struct row {
    const char *key, *name;
    size_t offset;
    enum kind kind;
} rows[] = {
    ROW(PMIX_IOF_OUTPUT_RAW, raw, FLAG),
    ROW(PMIX_IOF_XML_OUTPUT, xml, FLAG),
    ROW(TENON_IOF_JSON_OUTPUT, json, FLAG),
    ROW(PMIX_IOF_TAG_OUTPUT, tag, FLAG),
    ROW(PMIX_IOF_TAG_DETAILED_OUTPUT, tag_detailed, FLAG),
    ROW(PMIX_IOF_TAG_FULLNAME_OUTPUT, tag_full, FLAG),
    ROW(PMIX_IOF_RANK_OUTPUT, tag_rank, FLAG),
    ROW(PMIX_IOF_TIMESTAMP_OUTPUT, timed, FLAG),
    ROW(PMIX_IOF_MERGE_STDERR_STDOUT, merged, FLAG),
    ROW(PMIX_IOF_BUFFERING_SIZE, gather_b, BYTES),
    ROW(PMIX_IOF_BUFFERING_TIME, gather_ms, SECONDS),
    /* Older names of attributes. */
    ROW(PMIX_TAG_OUTPUT, tag, FLAG),
    ROW(PMIX_TIMESTAMP_OUTPUT, timed, FLAG),
    ROW(PMIX_MERGE_STDERR_STDOUT, merged, FLAG),
};

bool px_iof_way_has(const char *key)
{
    for (size_t r = 0; r < PX_COUNT(rows); r++)
        if (strncmp(key, rows[r].key, PMIX_MAX_KEYLEN) == 0)
            return true;
    return false;
}

struct px_iof_way px_iof_way_default(void)
{
    const uint64_t ms = px_process.iof_gather_ms;

    return (struct px_iof_way){.gather_ms = ms ? ms : PX_IOF_FOR_EVER};
}

static pmix_status_t set(const struct row *row, struct px_iof_way *way,
                         const pmix_value_t *value, struct px_err *err)
{
    void *member = (char *)way + row->offset;
    uint64_t n = 0;

    if (row->kind == FLAG ? value->type != PMIX_BOOL && value->type != PMIX_UNDEF
                          : !px_value_to_u64(value, &n))
        return px_err_set(err, PMIX_ERR_BAD_PARAM, "cannot take %s: expected a %s",
                          row->name, row->kind == FLAG ? "truth value" : "number");
    if (row->kind == FLAG)
        *(bool *)member = px_value_truth(value);
    else
        *(uint64_t *)member = row->kind == BYTES ? n
                              : n > UINT32_MAX   ? PX_IOF_FOR_EVER
                                                 : n * 1000;
    return PMIX_SUCCESS;
}

/* Sets an infinite time if a size comes without a time, as the Standard specifies. */
pmix_status_t px_iof_way_read(struct px_iof_way *way, const pmix_info_t *info, size_t n,
                              struct px_err *err)
{
    struct px_iof_way now = *way;
    bool sized = false, timed = false;
    pmix_status_t rc = PMIX_SUCCESS;

    for (size_t i = 0; !rc && i < n; i++)
        for (size_t r = 0; !rc && r < PX_COUNT(rows); r++) {
            if (strncmp(info[i].key, rows[r].key, PMIX_MAX_KEYLEN) != 0)
                continue;
            rc = set(&rows[r], &now, &info[i].value, err);
            sized |= rows[r].kind == BYTES;
            timed |= rows[r].kind == SECONDS;
        }
    if (!rc && sized && !timed && now.gather_ms == px_iof_way_default().gather_ms)
        now.gather_ms = PX_IOF_FOR_EVER;
    if (!rc)
        rc = px_iof_way_check(&now, err);
    if (!rc)
        *way = now;
    return rc;
}

pmix_status_t px_iof_way_check(const struct px_iof_way *way, struct px_err *err)
{
    const size_t first = way->raw ? RAW : XML;
    const size_t end = way->raw ? N_SHAPING : way->xml ? JSON + 1 : 0;

    for (size_t i = first + 1; i < end; i++)
        if (*(const bool *)((const char *)way + rows[i].offset))
            return px_err_set(err, PMIX_ERR_BAD_PARAM, "%s contradicts %s",
                              rows[first].name, rows[i].name);
    return PMIX_SUCCESS;
}

/* ---- text ------------------------------------------------------------------------ */

struct text {
    uint8_t *at, *end;
};

static bool put(struct text *to, const void *bytes, size_t n)
{
    if (n > (size_t)(to->end - to->at))
        return false;
    memcpy(to->at, bytes, n);
    to->at += n;
    return true;
}

static bool put_str(struct text *to, const char *s)
{
    return put(to, s, strlen(s));
}

/* Returns the number of bytes of the character at s. Returns 0 for invalid UTF-8: an
 * overlong form, a surrogate, or a truncated character. */
static size_t utf8_char(const uint8_t *s, size_t n, uint32_t *c)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    size_t len = *s < 0x80       ? 1
                 : *s >> 5 == 6  ? 2
                 : *s >> 4 == 14 ? 3
                 : *s >> 3 == 30 ? 4
                                 : 0;

    if (len == 0 || len > n)
        return 0;
    *c = len == 1 ? *s : *s & (0x7fu >> len);
    for (size_t i = 1; i < len; i++) {
        if (s[i] >> 6 != 2)
            return 0;
        *c = *c << 6 | (s[i] & 0x3fu);
    }
    return *c < least[len] || *c > 0x10ffff || (*c >= 0xd800 && *c < 0xe000) ? 0 : len;
}

/* True if the form can express the character, escaped if necessary. Character 0 is
 * excluded, because some parsers reject it. */
static bool is_showable(int form, uint32_t c)
{
    return form == PX_IOF_JSON ? c != 0
                               : (c >= 0x20 || c == '\t' || c == '\n' || c == '\r') &&
                                     c != 0xfffe && c != 0xffff;
}

/* Returns the number of bytes from s on that every form writes unchanged. Most lines
 * consist mainly of such bytes. */
static size_t plain_run(const uint8_t *s, size_t n)
{
    size_t i = 0;

    while (i < n && s[i] >= 0x20 && s[i] < 0x7f && s[i] != '"' && s[i] != '&' &&
           s[i] != '<' && s[i] != '>' && s[i] != '\\')
        i++;
    return i;
}

static bool is_text(int form, const uint8_t *s, size_t n)
{
    uint32_t c = 0;

    for (size_t len; n > 0; s += len, n -= len) {
        len = plain_run(s, n);
        if (len > 0)
            continue;
        len = utf8_char(s, n, &c);
        if (len == 0 || !is_showable(form, c))
            return false;
    }
    return true;
}

/* Returns the character's escape sequence; NULL if it needs none. */
static const char *escape_of(int form, uint32_t c, char own[8])
{
    static const char *const xml[] = {
        ['\t'] = "&#9;", ['\n'] = "&#10;", ['\r'] = "&#13;", ['"'] = "&quot;",
        ['&'] = "&amp;", ['<'] = "&lt;",   ['>'] = "&gt;"};
    static const char *const json[] = {['\t'] = "\\t",
                                       ['\n'] = "\\n",
                                       ['\r'] = "\\r",
                                       ['"'] = "\\\"",
                                       ['\\'] = "\\\\"};

    if (form == PX_IOF_XML)
        return c < PX_COUNT(xml) ? xml[c] : NULL;
    if (c < PX_COUNT(json) && json[c])
        return json[c];
    if (c >= 0x20 && c != 0x7f)
        return NULL;
    snprintf(own, 8, "\\u00%02x", (uint8_t)c);
    return own;
}

/* Writes as many whole characters as fit. Returns the number of bytes of s that were
 * used. Invalid bytes become U+FFFD. */
static size_t put_text(struct text *to, int form, const uint8_t *s, size_t n)
{
    size_t used = 0;
    char own[8];

    while (used < n) {
        size_t run = plain_run(s + used, n - used), room = (size_t)(to->end - to->at);
        uint32_t c = 0;

        run = run < room ? run : room;
        if (run > 0) {
            put(to, s + used, run);
            used += run;
            continue;
        }
        size_t len = utf8_char(s + used, n - used, &c);
        bool shown = len > 0 && is_showable(form, c);
        const char *other = shown ? escape_of(form, c, own) : "\xef\xbf\xbd";

        if (other ? !put_str(to, other) : !put(to, s + used, len))
            break;
        used += len ? len : 1;
    }
    return used;
}

/* Writes base64 (RFC 4648), like put_text. Only the last group is padded with '='. */
static size_t put_base64(struct text *to, const uint8_t *s, size_t n)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                 "0123456789+/";
    size_t used = 0;

    while (used < n) {
        size_t len = n - used < 3 ? n - used : 3;
        uint32_t bits = (uint32_t)s[used] << 16 |
                        (len > 1 ? (uint32_t)s[used + 1] << 8 : 0) |
                        (len > 2 ? s[used + 2] : 0);
        const char group[4] = {digits[bits >> 18], digits[bits >> 12 & 63],
                               len > 1 ? digits[bits >> 6 & 63] : '=',
                               len > 2 ? digits[bits & 63] : '='};

        if (!put(to, group, sizeof(group)))
            break;
        used += len;
    }
    return used;
}

/* Formats the time as ISO 8601: "2026-11-22T14:35:00.123456+01:00". stamp_s 0: the
 * current time. */
static void format_time(char *text, size_t size, int64_t stamp_s)
{
    struct timespec now = {.tv_sec = stamp_s};
    struct tm local;
    char zone[8] = "";

    if (!stamp_s)
        clock_gettime(CLOCK_REALTIME, &now);
    if (!localtime_r(&now.tv_sec, &local)) /* a year without a number */
        local = (struct tm){.tm_mday = 1};
    strftime(zone, sizeof(zone), "%z", &local); /* "+0100" */
    size_t n = strftime(text, size, "%Y-%m-%dT%H:%M:%S", &local);
    snprintf(text + n, size - n, ".%06ld%.3s:%s", now.tv_nsec / 1000, zone, zone + 3);
}

/* ---- heads ----------------------------------------------------------------------- */

enum {
    ID_MAX_B = 560,
    HOST_MAX_B = 420
}; /* limits of the written form; longer names are cut */

static void make_plain_head(struct px_iof_format *f, const struct px_iof_way *way,
                            const struct px_iof_origin *o)
{
    char id[ID_MAX_B] = "", details[HOST_MAX_B] = "";
    const char *job = o->job && !way->tag_full ? o->job : o->nspace;

    if (way->tag_full || way->tag || way->tag_detailed)
        snprintf(id, sizeof(id), "[%s,%u]", job ? job : "", o->rank);
    else if (way->tag_rank)
        snprintf(id, sizeof(id), "[%u]", o->rank);
    if (way->tag_detailed && o->pid > 0)
        snprintf(details, sizeof(details), "[%s:%ld]", o->host ? o->host : "?",
                 (long)o->pid);
    else if (way->tag_detailed && o->host)
        snprintf(details, sizeof(details), "[%s:?]", o->host);
    snprintf(f->head, sizeof(f->head), "%s%s<%s>:", id, details, f->channel);
}

/* Writes name="value" or "name":"value", unless value is NULL. */
static void put_field(struct text *to, int form, const char *name, const char *value,
                      size_t max_b)
{
    struct text part = {to->at, to->end};

    if (!value)
        return;
    put_str(&part, form == PX_IOF_XML ? " " : ",\"");
    put_str(&part, name);
    put_str(&part, form == PX_IOF_XML ? "=\"" : "\":\"");
    part.end = (size_t)(part.end - part.at) > max_b ? part.at + max_b : part.end;
    put_text(&part, form, (const uint8_t *)value, strlen(value));
    part.end = to->end;
    put_str(&part, "\"");
    to->at = part.at;
}

static void put_number(struct text *to, int form, const char *name, unsigned long n)
{
    char field[64];

    snprintf(field, sizeof(field), form == PX_IOF_XML ? " %s=\"%lu\"" : ",\"%s\":%lu",
             name, n);
    put_str(to, field);
}

static void make_head(struct px_iof_format *f, const struct px_iof_way *way,
                      const struct px_iof_origin *o)
{
    struct text to = {(uint8_t *)f->head, (uint8_t *)f->head + sizeof(f->head) - 1};

    if (f->form == PX_IOF_XML) {
        put_str(&to, "<");
        put_str(&to, f->channel);
    }
    put_field(&to, f->form, "nspace", o->nspace ? o->nspace : "", ID_MAX_B);
    put_number(&to, f->form, "rank", o->rank);
    if (f->form == PX_IOF_JSON)
        put_field(&to, f->form, "channel", f->channel, ID_MAX_B);
    if (way->tag_detailed && o->host)
        put_field(&to, f->form, "host", o->host, HOST_MAX_B);
    if (way->tag_detailed && o->pid > 0)
        put_number(&to, f->form, "pid", (unsigned long)o->pid);
    *to.at = '\0';
    if (f->form == PX_IOF_JSON)
        f->head[0] = '{'; /* replaces the comma */
}

bool px_iof_format_make(struct px_iof_format *f, const struct px_iof_way *way,
                        const struct px_iof_origin *origin)
{
    *f = (struct px_iof_format){.form = way->xml    ? PX_IOF_XML
                                        : way->json ? PX_IOF_JSON
                                                    : PX_IOF_PLAIN,
                                .timed = way->timed};
    snprintf(f->channel, sizeof(f->channel), "%s", origin->channel);
    if (f->form == PX_IOF_PLAIN)
        make_plain_head(f, way, origin);
    else
        make_head(f, way, origin);
    return !way->raw && (f->form != PX_IOF_PLAIN || way->timed || way->tag_full ||
                         way->tag || way->tag_detailed || way->tag_rank);
}

/* ---- lines ----------------------------------------------------------------------- */

/* Writes a whole line, or nothing. */
static size_t show_plain(struct text *to, const struct px_iof_format *f,
                         const char *now, const uint8_t *line, size_t n)
{
    size_t len = n > 0 && line[n - 1] == '\n' ? n - 1 : n;
    struct text part = *to;

    if (!put_str(&part, now) || !put_str(&part, f->head) || !put(&part, line, len) ||
        !put_str(&part, "\n"))
        return 0;
    *to = part;
    return n;
}

/* Writes a line as XML or JSON. The data include the newline, so that readers detect
 * incomplete lines. */
static size_t show_structured(struct text *to, const struct px_iof_format *f,
                              const char *now, const uint8_t *line, size_t n,
                              bool pieces)
{
    const bool xml = f->form == PX_IOF_XML, text = is_text(f->form, line, n);
    struct text part = *to;
    char tail[32];

    snprintf(tail, sizeof(tail), xml ? "</%s>\n" : "\"}\n", f->channel);
    if ((size_t)(part.end - part.at) < PX_IOF_HEAD_MAX_B)
        return 0;
    put_str(&part, f->head);
    if (*now)
        put_field(&part, f->form, "time", now, PX_IOF_HEAD_MAX_B);
    put_str(&part, xml    ? text ? ">" : " encoding=\"base64\">"
                   : text ? ",\"data\":\""
                          : ",\"data64\":\"");
    part.end -= strlen(tail);
    size_t used = text ? put_text(&part, f->form, line, n) : put_base64(&part, line, n);
    if (used < n && (!pieces || used == 0))
        return 0;
    part.end = to->end;
    put_str(&part, tail);
    *to = part;
    return used;
}

size_t px_iof_format_apply(const struct px_iof_format *f, const uint8_t *bytes,
                           size_t n, size_t *used, uint8_t *out, size_t room)
{
    struct text to = {out, out + room};
    char now[48] = "";

    if (f->timed)
        format_time(now, sizeof(now), f->stamp_s);
    for (*used = 0; *used < n;) {
        const uint8_t *line = bytes + *used;
        const uint8_t *newline = memchr(line, '\n', n - *used);
        size_t len = newline ? (size_t)(newline - line) + 1 : n - *used;
        size_t shown = f->form == PX_IOF_PLAIN
                           ? show_plain(&to, f, now, line, len)
                           : show_structured(&to, f, now, line, len, to.at == out);

        if (shown == 0)
            break;
        *used += shown;
    }
    return (size_t)(to.at - out);
}

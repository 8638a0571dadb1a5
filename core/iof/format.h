/* SPDX-License-Identifier: BSD-3-Clause */
/* How forwarded output is shown: as it is, marked line by line with its source and the
 * time, or as XML or JSON. And how long it is gathered before. Knows nothing of where
 * bytes come from or go; docs/output.md has the formats for those who read them. */
#ifndef PX_IOF_FORMAT_H
#define PX_IOF_FORMAT_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- the way that was asked for -------------------------------------------------- */

#define PX_IOF_FOR_EVER UINT64_MAX
/* At a terminal programs write by lines, and people wait for prompts. */
#define PX_IOF_TERMINAL_MS 100u

struct px_iof_way {
    bool raw; /* bytes go on as they come: no lines, no marks */
    bool xml, json;
    bool timed;        /* with the time */
    bool tag_detailed; /* with host and pid, beside one of these two */
    bool tag_full;     /* with namespace and rank */
    bool tag;          /* with job and rank */
    bool tag_rank;     /* with the rank */
    bool merged;       /* errors go where output goes */
    /* Nothing goes on before there are so many bytes; 0: whatever is ready does. */
    uint64_t gather_b;
    /* So long do bytes wait that are not ready: a line without its end, or fewer than
     * gather_b. */
    uint64_t gather_ms;
};

/* As parameters say, nothing else being asked for. */
struct px_iof_way px_iof_way_default(void);
/* Takes from infos all that is the library's own work, over what *way says before;
 * leaves the rest alone. A later info counts before an earlier one. On failure *way is
 * as it was. PMIX_ERR_BAD_PARAM: a value of the wrong type, or px_iof_way_check. */
pmix_status_t px_iof_way_read(struct px_iof_way *way, const pmix_info_t *info, size_t n,
                              struct px_err *err);
/* Whether an attribute is one of those. */
bool px_iof_way_has(const char *key);
/* PMIX_ERR_BAD_PARAM: two attributes contradict each other, which err names. */
pmix_status_t px_iof_way_check(const struct px_iof_way *way, struct px_err *err);

/* ---- lines ----------------------------------------------------------------------- */

/* The process that wrote it. Members that are not known are NULL or 0. */
struct px_iof_origin {
    const char *nspace;
    const char *job; /* its short name in marks; NULL: nspace */
    pmix_rank_t rank;
    const char *channel; /* "stdout" */
    const char *host;
    pid_t pid;
};

/* No line grows by more than this, but by what has to be written in another way. */
#define PX_IOF_MARK_MAX_B 1280u

/* A way and an origin, worked out. May be copied. */
struct px_iof_format {
    enum { PX_IOF_PLAIN, PX_IOF_XML, PX_IOF_JSON } form;
    bool timed;
    char head[PX_IOF_MARK_MAX_B - 128]; /* what stands beside the time */
    char channel[16];
};

/* False: bytes go on as they are, and *f is of no use. */
bool px_iof_format_make(struct px_iof_format *f, const struct px_iof_way *way,
                        const struct px_iof_origin *origin);
/* Writes the lines of bytes[0..n) to out as far as they fit; a rest without a newline
 * is a line, too. Returns how much was written; *used is how much of bytes that was.
 * Something is used if room is PX_IOF_MARK_MAX_B + n. Of a line of XML or JSON that
 * finds no room although it is the first, as much as fits is written. */
size_t px_iof_format_apply(const struct px_iof_format *f, const uint8_t *bytes,
                           size_t n, size_t *used, uint8_t *out, size_t room);

#endif

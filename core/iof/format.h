/* SPDX-License-Identifier: BSD-3-Clause */
/* Formats of forwarded output: unchanged, or each line with its source and time, or XML
 * or JSON. Also the directives for gathering output. docs/output.md describes the
 * formats for their readers. */
#ifndef PX_IOF_FORMAT_H
#define PX_IOF_FORMAT_H

#include "core/base/err.h"

#include <stdbool.h>
#include <stdint.h>

/* ---- format directives ----------------------------------------------------------- */

#define PX_IOF_FOR_EVER UINT64_MAX
/* Gather time at a terminal: programs write lines there, and people wait for
 * prompts. */
#define PX_IOF_TERMINAL_MS 100u

struct px_iof_way {
    bool raw; /* passes bytes on unchanged: no lines, no heads */
    bool xml, json;
    bool timed;        /* adds the time */
    bool tag_detailed; /* adds host and pid to tag or tag_full */
    bool tag_full;     /* adds namespace and rank */
    bool tag;          /* adds job and rank */
    bool tag_rank;     /* adds the rank */
    bool merged;       /* shows stderr as stdout */
    /* Minimum number of bytes to pass on; 0: passes on every complete line. */
    uint64_t gather_b;
    /* Time limit for bytes that wait: an incomplete line, or less than gather_b. */
    uint64_t gather_ms;
};

/* Returns the default, set by parameters. */
struct px_iof_way px_iof_way_default(void);
/* Reads the library's own directives from infos into *way, and ignores other infos.
 * Later infos override earlier ones and the values in *way. On failure *way is
 * unchanged. Returns PMIX_ERR_BAD_PARAM for a value of the wrong type, or
 * px_iof_way_check's error. */
pmix_status_t px_iof_way_read(struct px_iof_way *way, const pmix_info_t *info, size_t n,
                              struct px_err *err);
/* True if px_iof_way_read reads this attribute. */
bool px_iof_way_has(const char *key);
/* Returns PMIX_ERR_BAD_PARAM if two attributes contradict each other; err names
 * them. */
pmix_status_t px_iof_way_check(const struct px_iof_way *way, struct px_err *err);

/* ---- lines ----------------------------------------------------------------------- */

/* The process that wrote the output. Unknown members are NULL or 0. */
struct px_iof_origin {
    const char *nspace;
    const char *job; /* short name in heads; NULL: nspace */
    pmix_rank_t rank;
    const char *channel; /* "stdout" */
    const char *host;
    pid_t pid;
};

/* Maximum growth of a line, apart from escape sequences. */
#define PX_IOF_HEAD_MAX_B 1280u

/* A format prepared for an origin. May be copied. */
struct px_iof_format {
    enum { PX_IOF_PLAIN, PX_IOF_XML, PX_IOF_JSON } form;
    bool timed;
    int64_t stamp_s;                    /* time to show; 0: the current time */
    char head[PX_IOF_HEAD_MAX_B - 128]; /* text beside the time */
    char channel[16];
};

/* Prepares a format. Returns false if bytes pass unchanged; *f is then unused. */
bool px_iof_format_make(struct px_iof_format *f, const struct px_iof_way *way,
                        const struct px_iof_origin *origin);
/* Writes the lines of bytes[0..n) to out while they fit. An incomplete last line counts
 * as a line. Returns the number of bytes written; *used is the number of bytes
 * consumed. At least one line is consumed if room is PX_IOF_HEAD_MAX_B + n. An XML or
 * JSON line that does not fit is split if it is the first. */
size_t px_iof_format_apply(const struct px_iof_format *f, const uint8_t *bytes,
                           size_t n, size_t *used, uint8_t *out, size_t room);

#endif

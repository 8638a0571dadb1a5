/* SPDX-License-Identifier: BSD-3-Clause */
/* Shared by the files of the parameters and by the loader: param.c (settings and
 * tables), param_report.c (what is wrong with them), param_source.c (files and
 * environment), param_file.c (their syntax), param_type.c (text to value),
 * param_names.c (names of other implementations). */
#ifndef PX_CONFIG_PARAM_IMPL_H
#define PX_CONFIG_PARAM_IMPL_H

#include "core/base/map.h"
#include "core/config/param.h"

/* ---- settings (param.c) ---------------------------------------------------------- */

struct px_setting {
    char *name;
    char *value;
    char *where; /* "/etc/x.conf:12", "environment" */
    enum px_param_source source;
    unsigned file;                  /* which one, of those read; 0: none */
    unsigned long number;           /* in the order found */
    const struct px_setting *older; /* the one found before of the same name */
    struct px_setting *next;        /* of any name */
};

/* A name that some table declares. */
struct px_declared {
    char *name;            /* in full */
    char *owner;           /* "core", "ptl/tcp" */
    struct px_param param; /* texts are the table's */
    char **old_names;      /* NULL: none */
};

struct px_problem {
    enum px_param_severity severity;
    char *text;
    bool reported;
};

/* One that was looked for. Its number is its place here, from 1. */
struct px_param_file {
    char *path;
    enum px_param_source source;
    bool read;
};

struct px_params {
    struct px_setting *first, **end;
    struct px_setting **unseen; /* from here on names were not looked at */
    unsigned long n_settings;
    struct px_map by_name;  /* the last found of each name */
    struct px_map declared; /* struct px_declared */
    struct px_map old;      /* former names of those */
    char **hidden;          /* prefixes, see px_params_ignore_prefix */
    char *home;             /* or NULL */
    char ***kept;           /* vectors that configurations borrow */
    size_t n_kept, cap_kept;
    struct px_problem *problems;
    size_t n_problems, cap_problems;
    struct px_param_file *files;
    size_t n_files, cap_files;
    char *sysconfdir; /* or NULL */
    bool one_of_many; /* other processes have the same settings and tell of them */
    unsigned n_tried; /* files, read or not */
};

/* Nothing in it. home: what ~ in paths stands for, or NULL. */
struct px_params *px_params_empty(const char *home);
/* As px_params_set, from the file of this number. */
pmix_status_t px_params_add(struct px_params *p, const char *name, const char *value,
                            enum px_param_source source, unsigned file,
                            const char *where);

struct px_param_candidate {
    const struct px_setting *setting;
    bool synonym; /* it goes by another name */
    bool fits;
};

typedef struct px_param_candidates {
    struct px_param_candidate *v;
    size_t n, cap;
} px_param_candidates;

/* All that was said of a parameter, under whatever name, strongest first. */
pmix_status_t px_params_candidates(const struct px_params *p, const char *name,
                                   px_param_candidates *out);
void px_param_candidates_cleanup(px_param_candidates *h);
/* Is text a value for param? */
bool px_params_fits(const struct px_params *p, const struct px_param *param,
                    const char *text);

/* ---- what is wrong (param_report.c) ---------------------------------------------- */

enum { PX_PARAM_MAX_PROBLEMS = 200 };

/* Keeps one line for px_params_report. The same line is kept once. */
void px_params_complain(struct px_params *p, enum px_param_severity severity,
                        const char *fmt, ...) PX_PRINTF(3, 4);
/* Names that begin so belong to a component that cannot be asked what it declares. */
pmix_status_t px_params_ignore_prefix(struct px_params *p, const char *prefix);
/* Looks at names that were not looked at yet. */
void px_params_look_for_unknown(struct px_params *p);

/* ---- sources (param_source.c) ---------------------------------------------------- */

/* Where to read from; px_params_create fills it in for this process. */
struct px_param_origin {
    const char *sysconfdir;
    const char *home; /* NULL: no user file */
    char *const *env; /* NULL: none */
    const pmix_info_t *info;
    size_t n_info;
    const char *where; /* info was given */
    bool privileged;   /* more rights than its user: mistrust files of others */
    bool one_of_many;  /* a rank of a job, not the first */
};

pmix_status_t px_params_create_from(const struct px_param_origin *origin,
                                    struct px_params **out, struct px_err *err);

/* One file and those it includes. needed: that it is absent is wrong, too. Each error
 * is kept as a problem. PMIX_ERR_NOMEM only. */
pmix_status_t px_params_read_file(struct px_params *p, const char *path,
                                  enum px_param_source source, bool needed,
                                  bool privileged);
pmix_status_t px_params_read_env(struct px_params *p, char *const *env);
pmix_status_t px_params_read_info(struct px_params *p, const pmix_info_t *info,
                                  size_t n_info, const char *where);

/* ---- syntax (param_file.c) ------------------------------------------------------- */

struct px_param_text {
    char *rest;         /* NUL-terminated, cut up on the way; NULL at the end */
    unsigned long line; /* number of the next one */
};

struct px_param_line {
    unsigned long number; /* of its first line */
    char *name, *value;   /* a setting */
    char *include;        /* or the name of a file */
    const char *wrong;    /* or what was expected instead */
    char shown[64];       /* the line itself, perhaps cut */
};

bool px_param_is_name(const char *name);
/* False at the end. Blank lines and comments are passed over. */
bool px_param_next_line(struct px_param_text *text, struct px_param_line *out);

/* ---- types (param_type.c) -------------------------------------------------------- */

/* Stores text in *member as param's kind wants it; false, and *member unchanged, if it
 * is not such a value or out of range. A string is borrowed, and so is a path; of a
 * list the member is not touched: px_params_parse makes it. */
bool px_param_from_text(const struct px_param *param, const char *text, void *member);
/* "an integer from 1 to 65535", for messages. */
void px_param_expected(const struct px_param *param, char *text, size_t size);
/* Writes what is wrong with a text that does not fit: the words of param's own check,
 * or "expected an integer from 1 to 65535". */
void px_param_mistake(const struct px_param *param, const char *value, char *text,
                      size_t size);
/* How many bytes of the configuration structure a parameter of this kind takes; 0: no
 * such kind. */
size_t px_param_size(enum px_param_kind kind);
/* "bool", "integer" ... as in docs/params.md. */
const char *px_param_kind_name(enum px_param_kind kind);

/* ---- names of other implementations (param_names.c) ------------------------------ */

struct px_param_foreign {
    const char *name; /* a trailing or leading * stands for anything */
    const char *ours; /* means the same; NULL: does not apply */
    const char *why;  /* it does not, and what to use instead */
    bool missed;      /* also where launchers set it, its effect is missed */
};

/* NULL: no other implementation has such a parameter. */
const struct px_param_foreign *px_param_foreign_find(const char *name);
/* Of the i-th; NULL behind the last. For lists of them. */
const struct px_param_foreign *px_param_foreign_at(size_t i);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Internals of the parameters, also used by the loader.
 *   param.c         settings and tables
 *   param_report.c  problems
 *   param_source.c  files and environment
 *   param_file.c    syntax
 *   param_type.c    text to value
 *   param_names.c   names of other implementations */
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
    unsigned file;                  /* number of the file; 0: none */
    unsigned long number;           /* order of discovery */
    const struct px_setting *older; /* previous setting of the same name */
    struct px_setting *next;        /* next setting of any name */
};

/* A declared name. */
struct px_declared {
    const char *name;      /* with prefix */
    const char *owner;     /* "core", "ptl/tcp" */
    struct px_param param; /* borrows the table's texts */
    char **old_names;      /* NULL: none */
    char text[];           /* name and owner */
};

struct px_problem {
    enum px_param_severity severity;
    char *text;
    bool reported;
};

/* A file that was looked for. Its number is its index plus 1. */
struct px_param_file {
    char *path;
    enum px_param_source source;
    bool read;
};

struct px_params {
    struct px_setting *first, **end;
    struct px_setting **unseen; /* settings from here on are not checked yet */
    unsigned long n_settings;
    struct px_map by_name;  /* latest setting of each name */
    struct px_map declared; /* struct px_declared */
    struct px_map old;      /* former names, struct px_declared */
    char **hidden;          /* prefixes of px_params_ignore_prefix */
    char *home;             /* NULL: this process must not read its user's files */
    char ***kept;           /* vectors that configurations borrow */
    size_t n_kept, cap_kept;
    struct px_problem *problems;
    size_t n_problems, cap_problems;
    struct px_param_file *files;
    size_t n_files, cap_files;
    char *sysconfdir; /* or NULL */
    bool one_of_many; /* other processes have the same settings and report them */
    unsigned n_tried; /* files, read or not */
};

/* Returns empty parameters. home replaces ~ in paths; may be NULL. */
struct px_params *px_params_empty(const char *home);
/* Adds a setting, from the file with this number; 0: from another source.
 * PMIX_ERR_BAD_PARAM if name is not a valid parameter name. */
pmix_status_t px_params_add(struct px_params *p, const char *name, const char *value,
                            enum px_param_source source, unsigned file,
                            const char *where);

struct px_param_candidate {
    const struct px_setting *setting;
    bool synonym; /* set by another name */
    bool fits;
};

typedef struct px_param_candidates {
    struct px_param_candidate *v;
    size_t n, cap;
} px_param_candidates;

/* Collects all settings of a parameter and its synonyms, strongest first. */
pmix_status_t px_params_candidates(const struct px_params *p, const char *name,
                                   px_param_candidates *out);
/* Sets fits of each. Returns the index of the setting in effect, n for the default. */
size_t px_param_candidates_judge(const struct px_params *p,
                                 const struct px_param *param, px_param_candidates *h);
void px_param_candidates_cleanup(px_param_candidates *h);
/* True if text is a value for param. */
bool px_params_fits(const struct px_params *p, const struct px_param *param,
                    const char *text);

/* ---- problems (param_report.c) --------------------------------------------------- */

enum { PX_PARAM_MAX_PROBLEMS = 200 };

/* Keeps one line for px_params_report. A repeated line is kept once. */
void px_params_complain(struct px_params *p, enum px_param_severity severity,
                        const char *fmt, ...) PX_PRINTF(3, 4);
/* Ignores unknown names with this prefix, for a component whose declarations cannot be
 * read. */
pmix_status_t px_params_ignore_prefix(struct px_params *p, const char *prefix);
/* Checks the names of new settings. */
void px_params_look_for_unknown(struct px_params *p);

/* ---- sources (param_source.c) ---------------------------------------------------- */

/* The sources to read. px_params_create fills in this process's. */
struct px_param_origin {
    const char *sysconfdir;
    const char *home; /* NULL: no user file */
    char *const *env; /* NULL: none */
    const pmix_info_t *info;
    size_t n_info;
    const char *where; /* origin of info */
    bool privileged;   /* more rights than the user: distrusts others' files */
    bool one_of_many;  /* a rank of a job other than 0 */
};

pmix_status_t px_params_create_from(const struct px_param_origin *origin,
                                    struct px_params **out, struct px_err *err);

/* Reads a file and its included files. With needed, a missing file is a problem, too.
 * Each error becomes a problem. Returns PMIX_ERR_NOMEM only. */
pmix_status_t px_params_read_file(struct px_params *p, const char *path,
                                  enum px_param_source source, bool needed,
                                  bool privileged);
pmix_status_t px_params_read_env(struct px_params *p, char *const *env);
pmix_status_t px_params_read_info(struct px_params *p, const pmix_info_t *info,
                                  size_t n_info, const char *where);

/* ---- syntax (param_file.c) ------------------------------------------------------- */

struct px_param_text {
    char *rest;         /* NUL-terminated, modified by parsing; NULL at the end */
    unsigned long line; /* number of the next line */
};

struct px_param_line {
    unsigned long number; /* of the first line */
    char *name, *value;   /* a setting */
    char *include;        /* or a file name */
    const char *wrong;    /* or the expected syntax */
    char shown[64];       /* the line itself, perhaps truncated */
};

bool px_param_is_name(const char *name);
/* Parses the next line. Skips blank lines and comments. False at the end. */
bool px_param_next_line(struct px_param_text *text, struct px_param_line *out);

/* ---- types (param_type.c) -------------------------------------------------------- */

/* Converts text to param's kind and stores the value in *member. False, with *member
 * unchanged, if text is invalid or out of range. Strings and paths are borrowed. Lists
 * are not stored; px_params_parse makes them. */
bool px_param_from_text(const struct px_param *param, const char *text, void *member);
/* Describes valid values for messages, e.g. "an integer from 1 to 65535". */
void px_param_expected(const struct px_param *param, char *text, size_t size);
/* Describes the problem of an invalid text: the text of param's own check, or "expected
 * an integer from 1 to 65535". */
void px_param_mistake(const struct px_param *param, const char *value, char *text,
                      size_t size);
/* Returns the size of a member for this kind of parameter; 0 for unknown kinds. */
size_t px_param_size(enum px_param_kind kind);
/* Returns "bool", "integer" ..., the names in docs/params.md. */
const char *px_param_kind_name(enum px_param_kind kind);

/* ---- names of other implementations (param_names.c) ------------------------------ */

struct px_param_foreign {
    const char *name; /* a trailing or leading * matches any text */
    const char *ours; /* our equivalent; NULL: does not apply */
    const char *why;  /* reason, and what to use instead */
    bool missed;      /* report it even if a launcher sets it */
};

/* Returns the row that matches name, or NULL. */
const struct px_param_foreign *px_param_foreign_find(const char *name);
/* Returns the i-th row, or NULL after the last. */
const struct px_param_foreign *px_param_foreign_at(size_t i);

#endif

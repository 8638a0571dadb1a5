/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's configuration as pmix_info sees it. It has the core linked into it, and
 * is the only tool that may look inside; out of memory ends it. Of what is
 * gathered nothing is freed before the end. */
#ifndef PMIX_INFO_INFO_H
#define PMIX_INFO_INFO_H

#include "core/config/param_impl.h"
#include "core/plugin/choice.h"
#include "core/plugin/loader.h"

/* ---- the command line (main.c) -------------------------------------------------- */

enum { MAX_LEVEL = 9 };

enum section {
    SECTION_VERSION = 1,
    SECTION_PATHS = 2,
    SECTION_FILES = 4,
    SECTION_FRAMEWORKS = 8, /* and components */
    SECTION_PARAMS = 16,
    SECTION_PROBLEMS = 32,
    SECTION_SYNONYMS = 64,
    SECTION_LEFTOVERS = 128, /* of dead servers */

    SECTIONS_SUMMARY = SECTION_VERSION | SECTION_PATHS | SECTION_FILES |
                       SECTION_FRAMEWORKS | SECTION_PROBLEMS,
    SECTIONS_ALL = SECTIONS_SUMMARY | SECTION_PARAMS | SECTION_SYNONYMS,
};

enum format { FORMAT_PRETTY, FORMAT_PARSABLE, FORMAT_JSON };

struct wanted { /* of --param; NULL: all */
    char *framework;
    char *component;
};

struct options {
    unsigned sections;
    enum format format;
    bool check;
    bool source;
    int level;             /* the highest to show */
    const char *path;      /* which; "all" */
    struct wanted *wanted; /* all, if there is none */
    size_t n_wanted;
    const char **dirs; /* where to look for leftovers, besides the usual places */
    size_t n_dirs;
};

/* Is it one of those of --param? */
bool options_want(const struct options *o, const char *framework,
                  const char *component);

/* ---- folders of this installation (place.c) ------------------------------------- */

struct place {
    const char *name; /* "bindir" */
    char *path;       /* or NULL: not known */
};

enum { N_PLACES = 6 };

/* The names, ending in NULL. */
extern const char *const place_names[N_PLACES + 1];
void places_find(struct place places[N_PLACES], const char *sysconfdir);

/* ---- a component, loaded in a process of its own (probe.c) ---------------------- */

struct probe {
    const char *why; /* it does not load; NULL: it does */
    const char *version;
    struct px_param *params; /* a copy of its table; NULL if it does not load */
    const char **refused;    /* by parameter: a line on the value in use; NULL: none */
    pid_t pid;               /* of the process that loads it */
    int fd;                  /* it answers here; -1: it has */
};

/* Several may be started before the first is finished. */
void probe_start(const struct px_found *found, const struct px_params *settings,
                 struct probe *out);
void probe_finish(struct probe *p); /* waits for it */

/* ---- the whole (gather.c) ------------------------------------------------------- */

struct component {
    const struct px_found *found;
    struct probe probe;
    char *left_out; /* "ptl = ^tcp (environment)"; NULL: it may be used */
};

struct parameter {
    const struct px_declared *declared;
    char *framework, *component; /* ptl tcp, ptl base, mca base, core server */
    px_param_candidates history; /* strongest first */
    size_t used;                 /* of these; history.n: the default */
};

struct problem {
    enum px_param_severity severity;
    char *text;
};

/* Something a dead server has left. */
struct leftover {
    const char *kind; /* "folder" or "file" */
    char *path;
    uid_t uid;
    int64_t age_s; /* since it was last written */
    int64_t pid;   /* of the server; 0: not known */
    /* of a folder, as its journal says: */
    size_t things;    /* to remove */
    size_t living;    /* processes that it waits for */
    const char *note; /* why that is not all; NULL: it is */
};

struct info {
    struct px_params *params;
    px_catalog catalog;
    px_choice choices[PX_FW_COUNT];
    struct place places[N_PLACES];
    struct component *components;
    size_t n_components;
    struct parameter *parameters; /* sorted */
    size_t n_parameters;
    struct problem *problems;
    size_t n_problems;
    struct leftover *leftovers; /* by path */
    size_t n_leftovers;
};

/* deep: look at components and parameters, too. */
void info_gather(struct info *info, bool deep);
/* Takes text. */
void add_problem(struct info *info, enum px_param_severity severity, char *text);
/* There is no problem that calls for action; a note does not. */
bool info_is_well(const struct info *info);

const char *source_name(enum px_param_source source);
const char *severity_name(enum px_param_severity severity);
/* "ok", "failed" or "excluded". */
const char *component_state(const struct component *c);
/* In effect; NULL: unset. */
const char *parameter_value(const struct parameter *p);
const char *parameter_source(const struct parameter *p);
int parameter_level(const struct parameter *p);
/* "used", "overruled" or "does not fit". */
const char *parameter_fate(const struct parameter *p, size_t i);
/* Does o ask for it? */
bool parameter_wanted(const struct parameter *p, const struct options *o);

/* leftover.c */
void leftovers_find(struct info *info, const struct options *o);
char *leftover_text(const struct leftover *l); /* malloc'd */

/* ---- output: one walker over all there is to show, which hands one thing at a time to
 * the emitter of a format (show.c; pretty.c, parsable.c, json.c) ------------------- */

struct page {
    const struct info *info;
    const struct options *o;
};

struct emitter {
    /* In the order people like: components by framework, the weakest file first, what
     * is wrong at the end. Else in that of the tables. */
    bool for_people;
    void (*begin)(void);
    void (*end)(void);
    /* The things that follow are of this section; width: of the longest of their
     * names. */
    void (*section)(const struct page *p, enum section section, int width);
    /* Of the section of versions, or of folders. */
    void (*pair)(const struct page *p, enum section section, const char *name,
                 const char *value);
    void (*file)(const struct px_param_file *f);
    void (*framework)(enum px_framework_id id);
    void (*component)(const struct component *c);
    void (*parameter)(const struct page *p, const struct parameter *param);
    void (*problem)(const struct page *p, const struct problem *problem);
    void (*leftover)(const struct leftover *l);
    void (*synonym)(const struct px_param_foreign *f);
};

extern const struct emitter emit_pretty, emit_parsable, emit_json;

void show(const struct info *info, const struct options *o);

#endif

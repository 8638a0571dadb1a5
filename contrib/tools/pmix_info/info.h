/* SPDX-License-Identifier: BSD-3-Clause */
/* The library's configuration as pmix_info shows it. pmix_info is the only tool with
 * the core linked in and with access to internals. The program ends when out of
 * memory. All gathered data lives until the end. */
#ifndef PMIX_INFO_INFO_H
#define PMIX_INFO_INFO_H

#include "core/config/param_impl.h"
#include "core/plugin/choice.h"
#include "core/plugin/loader.h"

#include "contrib/tools/query/tool.h"

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
    SECTION_HOST = 256,      /* state of a running server */

    SECTIONS_SUMMARY = SECTION_VERSION | SECTION_PATHS | SECTION_FILES |
                       SECTION_FRAMEWORKS | SECTION_PROBLEMS,
    SECTIONS_ALL = SECTIONS_SUMMARY | SECTION_PARAMS | SECTION_SYNONYMS,
};

struct wanted { /* of --param; NULL: all */
    char *framework;
    char *component;
};

struct options {
    unsigned sections;
    bool check;
    bool source;
    int level;             /* highest level to show */
    const char *path;      /* name of --path; or "all" */
    struct wanted *wanted; /* empty: all */
    size_t n_wanted;
    pid_t host;  /* process of the server to ask */
    char **dirs; /* more folders to search for leftovers, NULL-terminated */
};

/* True if --param selects the component. */
bool options_want(const struct options *o, const char *framework,
                  const char *component);

/* ---- folders of this installation (place.c) ------------------------------------- */

struct place {
    const char *name; /* "bindir" */
    char *path;       /* NULL: unknown */
};

enum { N_PLACES = 6 };

/* Names of all places, NULL-terminated. */
extern const char *const place_names[N_PLACES + 1];
void places_find(struct place places[N_PLACES], const char *sysconfdir);

/* ---- a component (probe.c) ------------------------------------------------------ */

struct component {
    const struct px_found *found;
    struct px_loaded loaded; /* never unloaded; all zero if not loaded */
    char *why;               /* reason why the component does not load; or NULL */
    char *left_out;          /* "ptl = ^tcp (environment)"; NULL: not excluded */
};

/* Loads the component. trial_ms: limit of the child process that loads a vendor's
 * component first; 0: no child. */
void component_load(struct component *c, uint64_t trial_ms);

/* ---- the whole (gather.c) ------------------------------------------------------- */

struct parameter {
    const struct px_declared *declared;
    char *framework, *component; /* ptl tcp, ptl base, mca base, core server */
    px_param_candidates history; /* strongest first */
    size_t used;                 /* index in history; history.n: the default */
};

/* A leftover of a dead server. */
struct leftover {
    const char *kind; /* "folder" or "file" */
    char *path;
    uid_t uid;
    int64_t age_s; /* since the last write */
    int64_t pid;   /* of the server; 0: unknown */
    /* from a folder's journal: */
    size_t things;    /* files and folders to remove */
    size_t living;    /* processes that must end first */
    const char *note; /* reason why the counts are incomplete; or NULL */
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
    struct px_problem *problems;
    size_t n_problems;
    struct leftover *leftovers; /* by path */
    size_t n_leftovers;
    pmix_info_t *host; /* sections: TENON_QUERY_SERVER */
    size_t n_host;
};

/* Gathers all facts. deep: with components and parameters. */
void info_gather(struct info *info, bool deep);
/* Adds a problem. Takes ownership of text. */
void add_problem(struct info *info, enum px_param_severity severity, char *text);
/* True if all problems are notes. */
bool info_is_well(const struct info *info);

const char *source_name(enum px_param_source source);
const char *severity_name(enum px_param_severity severity);
/* "ok", "failed" or "excluded". */
const char *component_state(const struct component *c);
/* Returns the value in effect; NULL: unset. */
const char *parameter_value(const struct parameter *p);
const char *parameter_source(const struct parameter *p);
int parameter_level(const struct parameter *p);
/* "used", "overruled" or "does not fit". */
const char *parameter_fate(const struct parameter *p, size_t i);
/* True if o selects the parameter. */
bool parameter_wanted(const struct parameter *p, const struct options *o);

/* leftover.c */
void leftovers_find(struct info *info, const struct options *o);
char *leftover_text(const struct leftover *l); /* malloc'd */

/* ---- a running server (host.c) --------------------------------------------------- */

/* Asks the server with this process number for its state. */
void host_ask(struct info *info, pid_t pid);
/* Returns a number or a text of the answer, malloc'd. */
char *host_text(const pmix_value_t *v);

/* ---- output: show.c passes each item to the emitter of a format (pretty.c, ...) -- */

struct page {
    const struct info *info;
    const struct options *o;
};

struct emitter;

/* A section of the output. */
struct chapter {
    enum section section;
    const char *name; /* in JSON */
    void (*walk)(const struct page *p, const struct emitter *e);
    bool is_object;                     /* in JSON; otherwise an array */
    const char *head;                   /* for people; NULL: none */
    int (*width)(const struct page *p); /* of the longest name; NULL: does not matter */
};

struct emitter {
    void (*begin)(void);                                            /* or NULL */
    void (*end)(void);                                              /* or NULL */
    void (*chapter)(const struct page *p, const struct chapter *c); /* or NULL */
    /* Emits an item of the section of versions, or of folders. */
    void (*pair)(const struct page *p, enum section section, const char *name,
                 const char *value);
    void (*file)(const struct px_param_file *f);
    void (*framework)(enum px_framework_id id);
    void (*component)(const struct component *c);
    void (*parameter)(const struct page *p, const struct parameter *param);
    void (*problem)(const struct page *p, const struct px_problem *problem);
    void (*leftover)(const struct leftover *l);
    void (*synonym)(const struct px_param_foreign *f);
    /* Emits a value of a server. entry NULL: a value of the section itself. */
    void (*host)(const char *section, const char *entry, const pmix_info_t *member);
};

extern const struct emitter emit_pretty, emit_parsable, emit_json;

void show(const struct info *info, const struct options *o);

#endif

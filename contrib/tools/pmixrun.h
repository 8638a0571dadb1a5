/* SPDX-License-Identifier: BSD-3-Clause */
/* Interfaces between the parts of pmixrun. */
#ifndef PMIXRUN_H
#define PMIXRUN_H

#include "os.h"
#include "toolkit.h"

#include <pmix.h>

/* ---- the command line (pmixrun_options.c) --------------------------------------- */

/* A program of the command line, between two colons. */
struct program {
    int n;           /* processes; 0: --map-by decides */
    char **argv;     /* NULL-terminated; points into the command line */
    char **env;      /* of -x, also of all programs, NULL-terminated, or NULL */
    const char *dir; /* of --wdir after the colon; NULL: that of all programs */
};

/* Options of a server that stays, and of its commands (pmixrun_dvm.c). */
struct dvm {
    enum dvm_task { DVM_NONE, DVM_SERVE, DVM_SUBMIT, DVM_TERMINATE } task;
    bool daemonize;
    bool quiet;         /* no line when the server is ready */
    bool no_wait;       /* the job must start at once */
    int slots;          /* of the server; 0: not given */
    const char *server; /* the option that names the server; NULL: none */
    const char *name;   /* argument of --dvm-name; NULL: not given */
};

struct options {
    struct dvm dvm;
    struct program *programs;
    size_t n_programs;
    char **env;          /* "NAME=VALUE" of -x, NULL-terminated */
    char *forwards;      /* patterns of -x, for PMIx_Forward_envars; NULL: none */
    char self[32];       /* namespace of the launcher; set with forwards */
    pmix_info_t *params; /* for PMIx_server_init: --mca, --tune, --tools */
    size_t n_params;
    char *tune_files;   /* of --tune so far, separated by colons; or NULL */
    const char *dir;    /* NULL: the working directory */
    pmix_info_t *asked; /* attributes of the job, all required */
    size_t n_asked;
    int output;           /* words of --output, as bits */
    const char *stdin_to; /* argument of --stdin; NULL: not given */
    int timeout_s;        /* 0: none */
    bool reports;         /* at the timeout the library reports, and ends the job */
    bool verbose;
    bool progress, top;
    const char *timeline; /* file for the times of the jobs; NULL: none */
    bool runs;            /* true: an option for programs was given */
    bool chooses;         /* true: --launcher, --host or --hostfile was given */
    bool serves;          /* true: an option for pmixrun's server was given */
    bool tools, no_tools; /* --tools, --no-tools */
    bool clean;
    pmix_proc_t singleton; /* the process that is served; "": none */
    char host[256];        /* name of this node, with a singleton */
    int keepalive;         /* descriptor whose other end may be closed; -1: not given */
    int report;            /* descriptor for the address, with a singleton; or -1 */
    const char *report_uri; /* argument of --report-uri; NULL: not given */
    const char *report_pid; /* "-", "+" or a file; NULL: not given */
    char *translated;       /* another launcher's command line as ours, or NULL */
    char **dirs; /* of --clean, absolute, NULL-terminated; NULL: without --clean */

    const char *launcher;        /* argument of --launcher; NULL: not given */
    const struct engine *engine; /* launcher of an allocation (engine/); NULL: none */
    char **line;                 /* the command line, to which members refer */
    char **words;                /* a copy in pmixrun's words */
};

/* Reads the command line, by the name that argv[0] has (names/). Ends the program with
 * one line after an error, and for --help and --version. The options live until the
 * end. */
void options_parse(struct options *o, char **argv);
/* Adds an attribute of the own server, or of the own tool. */
void add_param(struct options *o, const char *key, const void *value,
               pmix_data_type_t type);
/* Sets a parameter, unless --mca has set the parameter. */
void add_default(struct options *o, const char *key, const char *value);
/* Finds the option that sets an attribute of a job. *text: its argument, malloc'd, or
 * NULL. False: there is none. */
bool options_find(const pmix_info_t *info, const char **option, char **text);
/* Sets a required attribute of the job, or replaces an earlier value. */
void add_asked(struct options *o, const char *key, const void *value,
               pmix_data_type_t type);

/* ---- progress (pmixrun_progress.c) ----------------------------------------------- */

enum { PROGRESS_MS = 100 }; /* between two changes of the line */

/* Begins and ends the line of progress, or the lines of --top: before PMIx_server_init,
 * and after PMIx_server_finalize. Without a terminal no function of this part has any
 * effect. */
void progress_begin(void);
void progress_end(void);
/* Queries the states of the job's processes for the line. */
void progress_look(const char *job);
/* Shows lines in place of those before; false without a terminal. */
bool progress_show(const char *lines);

/* ---- state and usage of the ranks (pmixrun_top.c) -------------------------------- */

enum { TOP_MS = 1000 }; /* between two looks */

/* Shows the ranks of a job: in place on a terminal, else as lines on stderr. */
void top_look(const char *job);

/* ---- times of the jobs (pmixrun_timeline.c) -------------------------------------- */

/* True for a name of --timeline: it ends in .json or .html, or is "-". */
bool timeline_is_name(const char *name);
/* Opens the file; ends the program if that fails. Without this call the other functions
 * do nothing. */
void timeline_begin(const char *name);
/* Asks the server for the times of a job that has ended, once. */
void timeline_take(const char *job);
/* Writes all times; false after a failure, which is reported. */
bool timeline_end(void);

/* ---- signals (pmixrun.c) --------------------------------------------------------- */

/* Blocks the signals that pmixrun handles. Returns a descriptor for them. An ignored
 * signal, as after nohup, stays ignored. */
int catch_signals(void);

/* ---- signals, and a library that does not return (pmixrun_guard.c) --------------- */

/* Times from a forwarded signal, or from the time limit, to KILL, and from KILL to
 * giving up. After KILL the job may still wait for a reader of its output. */
enum { GRACE_MS = 2000, LAST_MS = 500 };
/* Time from the signal to the end by the guard, if the main thread has not given up. */
enum { GUARD_MS = GRACE_MS + LAST_MS + 400 };

/* Starts a thread that reads the signals from signal_fd. Returns a non-blocking
 * descriptor, from which the main thread takes them by guard_next_signal; or -1 and
 * errno. A signal that ends the program limits the time until guard_end to GUARD_MS.
 * Then the program ends with the signal's status. */
int guard_begin(int signal_fd);
/* Returns the next signal that the guard has read, or 0. */
int guard_next_signal(int fd);
/* Limits the time from now on, as a signal does. */
void guard_expect_end(int status);
/* Ends the guard. PMIx_server_finalize has time limits of its own. */
void guard_end(void);
/* True for signals that are passed on to the processes and do not end the job. */
bool guard_is_passed_on(int signum);

/* ---- a process that was not launched (pmixrun_singleton.c) ---------------------- */

/* Checks the descriptor for the address, and closes all others but the keepalive. Ends
 * the program after an error. */
void singleton_begin(const struct options *o);
/* True if the other end of the readable descriptor is closed. Discards bytes. */
bool singleton_has_left(int keepalive);
/* Serves the process of the options until it ends, or until a signal. The server runs.
 * Returns the exit status. */
int singleton_serve(const struct options *o, int signal_fd);

/* ---- processes that outlive the job's processes (pmixrun_orphans.c) -------------- */

/* Makes pmixrun the parent of orphans. Records earlier children, which are not
 * killed. */
void orphans_adopt(void);
/* Kills and reaps all orphans. The caller has ended all threads that start
 * processes. */
void orphans_end(void);
/* Waits for orphans that end by themselves, up to ms. */
void orphans_await(int ms);
/* True if there may be orphans: a short look for many jobs that have ended. */
bool orphans_exist(void);
/* Kills and reaps the orphans of a job that has ended. A process of the job that has
 * changed PMIX_NAMESPACE in its environment is not found. */
void orphans_end_of(const char *job);

/* ---- a server that stays (pmixrun_dvm.c) ----------------------------------------- */

enum { DVM_MAX_SLOTS = 1 << 20 };

/* Reads an option of a server that stays; false if the option is another. */
bool dvm_take_option(struct options *o, char ***at);
/* Checks these options, and sets the attributes that follow from them. */
void dvm_check(struct options *o);
/* Returns the namespace of the server. */
const char *dvm_name(const struct options *o);
/* With --daemonize, goes on in a child process. The command ends when the child serves,
 * or has ended. */
void dvm_begin(const struct options *o);
/* Serves until a signal, or until a command ends the server. Returns the exit
 * status. */
int dvm_serve(const struct options *o, int signal_fd);

/* ---- commands for a server that stays (pmixrun_submit.c) ------------------------- */

/* Checks the options of --submit or --terminate, and sets the attributes. */
void submit_check(struct options *o);
/* Connects to the server; false after a line about an error. */
bool submit_begin(const struct options *o);
/* Returns the environment of a program: the own one, and that of the options. The
 * caller frees the array. */
char **submit_environment(const struct program *p);
/* Forwards the own input to a job that has started. */
void submit_started(const struct options *o, const char *job);
/* Returns the reason of a refused job. */
const char *submit_refusal(pmix_status_t status);
/* Ends the server. Returns the exit status. */
int submit_terminate(const struct options *o);

/* ---- leftovers of dead servers (pmixrun_clean.c) --------------------------------- */

/* Removes leftovers from the usual folders, or from the folders of the options. Reports
 * the number of files. Returns the exit status. */
int clean(const struct options *o);

#endif

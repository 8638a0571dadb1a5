/* SPDX-License-Identifier: BSD-3-Clause */
/* Jobs on several nodes: the launcher of the allocation starts them, srun of Slurm or
 * flux run. Options of pmixrun are translated into options of this engine. */
#ifndef ENGINE_H
#define ENGINE_H

#include "../pmixrun.h"

#include <stdbool.h>
#include <stddef.h>

/* For the end of engines whose pmixrun was killed. */
enum { ENGINE_END_MS = 5000 };

/* An option of pmixrun, or one word of its argument. */
struct engine_row {
    const char *options; /* names with "|" between them */
    /* Words that the row is for: NULL: no argument; "*": any, which is %1 in the
     * meaning; else a pattern, whose star is %1. */
    const char *words;
    /* Meaning for each engine: its options; "" nothing to do; "~ TEXT" pmixrun's own
     * work; "! REASON" refused. */
    const char *slurm, *flux;
};

/* Ends with a row without options (engine_rows.c). */
extern const struct engine_row engine_rows[];

/* A launcher of an allocation. */
struct engine {
    const char *name, *program;
    const char *always[8]; /* arguments before all others, NULL-terminated */
    const char *strict;    /* option that ends the job when a process fails */
    const char *label;     /* option that begins each line of output with its rank */
    bool is_slurm;
};

/* A command line for an engine. */
struct engine_job {
    const struct engine *engine;
    const struct options *options;
    char *path;   /* of the program */
    char **words; /* the command line, NULL-terminated */
    size_t n;
    bool labelled;    /* pmixrun shapes the output */
    bool recoverable; /* a process that fails does not end the others */
    bool binds;       /* the processes are bound */
};

/* Returns the engine, or NULL for this node. wanted: the argument of --launcher, or
 * NULL. Ends the program if wanted is not a launcher. */
const struct engine *engine_choose(const char *wanted);
/* Translates a command line of pmixrun, and runs the job. Returns the exit status. */
int engine_run(const struct engine *engine, const struct options *options);
/* True if the engine refuses an option of pmixrun. An argument of several words counts
 * only if the engine refuses any argument. */
bool engine_refuses(const struct engine *engine, const char *option, const char *word);
/* Makes the own server one of an allocation (engine_serve.c): the engine of the options
 * runs the jobs, on the named nodes, or on all. Returns the number of slots. Ends the
 * program after an error. */
struct engine_nodes;
int engine_serve(struct options *options, const struct engine_nodes *named);
/* Shows the launcher, for --verbose and --display-map. */
void engine_show(const struct options *options, const char *text);

/* ---- parts of the engine --------------------------------------------------------- */

/* Appends a malloc'd word. */
void engine_put(struct engine_job *job, char *word);
/* Returns the path of a program in PATH, malloc'd, or NULL. */
char *engine_find(const char *program);
/* Appends the program, or a file with several programs (engine_programs.c). */
void engine_put_programs(struct engine_job *job);
/* Starts the engine and stays to its end (engine_run.c). Returns the exit status. */
int engine_start(struct engine_job *job);

/* Nodes that --host and --hostfile name (engine_nodes.c). */
struct engine_nodes {
    char **names; /* NULL-terminated */
    int *slots;   /* of each name; 0: not given */
    size_t n;
    bool has_slots;
};

/* Reads the argument of --host or --hostfile. Ends the program after an error. */
void engine_nodes_read(struct engine_nodes *nodes, const char *option,
                       const char *text);
/* Adds the nodes of a list as Slurm writes it: "n[0-2],m1". */
void engine_nodes_expand(struct engine_nodes *nodes, const char *list);
/* Ends the program if a node is not in such a list. */
void engine_nodes_check(const struct engine_nodes *nodes, const char *allocation);
bool engine_nodes_has(const struct engine_nodes *nodes, const char *name);
/* Returns the first n names with commas between them, malloc'd. */
char *engine_nodes_list(const struct engine_nodes *nodes, size_t n);
/* Returns the name of a file with the node of each rank. per_node: ranks on a node
 * before the next one; 0: its slots. *n_used: number of different nodes. */
char *engine_nodes_file(const struct engine_nodes *nodes, int per_node, int ranks,
                        int *n_used);
/* Returns the number of slots of all nodes. */
long engine_nodes_slots(const struct engine_nodes *nodes);

/* ---- output in forms (engine_output.c) ------------------------------------------- */

/* True if options shape the output or copy it to files. */
bool engine_output_is_shaped(const struct options *options);
/* Starts the library, which writes the output; false after a failure, which the library
 * has logged. */
bool engine_output_begin(const struct options *options);
/* Returns a descriptor that is readable when deliveries have completed. */
int engine_output_ready(void);
/* Gives whole lines of a rank to the library. Each stream has one delivery until
 * engine_output_is_free. */
void engine_output_give(long rank, bool is_stderr, const char *bytes, size_t n);
/* True if all deliveries have completed. */
bool engine_output_is_free(void);
/* Writes the rest. */
void engine_output_end(void);

#endif

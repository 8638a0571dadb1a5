/* SPDX-License-Identifier: BSD-3-Clause */
/* Options of pmixrun for srun of Slurm and for flux run. docs/launcher.md is made from
 * these rows (contrib/check/names.py). */
#include "engine.h"

#define NO_OBJECT "it has no such object"
#define NO_CORE   "it binds to cores only"
#define NO_SERVER "the server of each node belongs to the engine"
#define NO_NODE   "it is for one node"
#define NO_COPY   "copy the files to the nodes first"
#define NO_STOP   "it has no such stop"
#define OWN_ENV   "the processes get the variable with the environment of `pmixrun`"
#define OWN_FORM  "the form is made by `pmixrun`, from lines that the engine labels"
#define OWN_TIME  "`pmixrun` ends the job"

/* clang-format off */
const struct engine_row engine_rows[] = {
    {"--launcher", "*", "", ""},
    {"--verbose|--display-map", NULL, "~ the command line is shown", "~ the command line is shown"},
    {"-n|-np", "*", "--ntasks=%1", "--ntasks=%1"},
    {"--mca|--tune|-x|--cluster-id", "*", "~ " OWN_ENV, "~ " OWN_ENV},
    {"--wdir", "*", "--chdir=%1", "--cwd=%1"},
    {"--host|--hostfile", "NODES", "--nodelist=%1", "--requires=host:%1"},
    {"--host|--hostfile", "NODE:SLOTS", "--distribution=arbitrary --nodelist=%1", "! it counts the cores of a node"},
    {"--map-by", "slot", "", ""},
    {"--map-by", "node", "--distribution=arbitrary --nodelist=%1", "--taskmap=cyclic"},
    {"--map-by", "package", "--distribution=block:cyclic --cpu-bind=sockets", "! " NO_OBJECT},
    {"--map-by", "core", "--distribution=block:block --cpu-bind=cores", "--setopt=cpu-affinity=per-task"},
    {"--map-by", "hwthread", "--distribution=block:block --cpu-bind=threads", "! " NO_OBJECT},
    {"--map-by", "ppr:*:node", "--distribution=arbitrary --nodelist=%1", "--tasks-per-node=%1"},
    {"--map-by", "ppr:1:core", "~ a process for each task of the allocation", "! name the number by -n"},
    {"--map-by", "pe=*", "--cpus-per-task=%1", "--cores-per-task=%1"},
    {"--map-by", "oversubscribe", "--overcommit --overlap", "! each process has a core"},
    {"--map-by", "nooversubscribe", "", ""},
    {"--map-by", "*", "! " NO_OBJECT, "! " NO_OBJECT},
    {"--rank-by", "*", "! it numbers processes as they are mapped", "! it numbers processes as they are mapped"},
    {"--cpus-per-proc", "*", "--cpus-per-task=%1", "--cores-per-task=%1"},
    {"--nooversubscribe", NULL, "", ""},
    {"--bind-to", "none", "--cpu-bind=none", "--setopt=cpu-affinity=off"},
    {"--bind-to", "core", "--cpu-bind=cores", "--setopt=cpu-affinity=per-task"},
    {"--bind-to", "package", "--cpu-bind=sockets", "! " NO_CORE},
    {"--bind-to", "numa", "--cpu-bind=ldoms", "! " NO_CORE},
    {"--bind-to", "hwthread", "--cpu-bind=threads", "! " NO_CORE},
    {"--bind-to", "*", "! " NO_OBJECT, "! " NO_OBJECT},
    {"--cpu-list", "*", "! nodes have CPUs of their own", "! nodes have CPUs of their own"},
    {"--report-bindings", NULL, "! " NO_NODE, "! " NO_NODE},
    {"--stdin", "all", "--input=all", ""},
    {"--stdin", "none", "--input=none", "--input=/dev/null"},
    {"--stdin", "*", "--input=%1", "--input=%1"},
    {"--pty", NULL, "! " NO_NODE, "! " NO_NODE},
    {"--output", "raw", "--unbuffered", "--unbuffered"},
    {"--output", "*", "~ " OWN_FORM, "~ " OWN_FORM},
    {"--tag-output|--timestamp-output|--merge-stderr-to-stdout", NULL, "~ " OWN_FORM, "~ " OWN_FORM},
    {"--output-dir|--output-filename", "*", "~ " OWN_FORM, "~ " OWN_FORM},
    {"--output-file", "*", "! use --output file=NAME", "! use --output file=NAME"},
    {"--preload", NULL, "--bcast", "! " NO_COPY},
    {"--preload-files", "*", "! " NO_COPY, "! " NO_COPY},
    {"--session-dir", NULL, "! " NO_SERVER, "! " NO_SERVER},
    {"--tmpdir|--exec-agent|--report-uri", "*", "! " NO_SERVER, "! " NO_SERVER},
    {"--tools|--no-tools", NULL, "! " NO_SERVER, "! " NO_SERVER},
    {"--report-pid", "*", "~ the number is that of `pmixrun`", "~ the number is that of `pmixrun`"},
    {"--stop-on-exec|--stop-in-init|--stop-in-app", NULL, "! " NO_STOP, "! " NO_STOP},
    {"--recoverable|--continuous", NULL, "--kill-on-bad-exit=0", "--setopt=exit-timeout=none"},
    {"--restarts", "*", "! a process that failed stays away", "! a process that failed stays away"},
    {"--timeout", "*", "~ " OWN_TIME, "~ " OWN_TIME},
    {"--spawn-timeout", "*", "! use --timeout", "! use --timeout"},
    {"--report-state-on-timeout|--get-stack-traces", NULL, "! " NO_NODE, "! " NO_NODE},
    {"--progress|--top", NULL, "! " NO_NODE, "! " NO_NODE},
    {"--timeline", "*", "! " NO_NODE, "! " NO_NODE},
    {NULL, NULL, NULL, NULL},
};
/* clang-format on */

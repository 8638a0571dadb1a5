/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line of PRRTE 3 and Open MPI 5 as tables. docs/launcher.md is made from
 * these rows (contrib/check/names.py). */
#include "names.h"

#define NO_NODE   "this node is the only one"
#define NO_DAEMON "processes start without daemons"
#define NO_SYSTEM "name the server by --dvm-uri, --pid or --namespace"

/* clang-format off */
const struct names_row names_options[] = {
    /* General */
    {"help|h", "[TOPIC]", "--help", NULL},
    {"version|V", NULL, "--version", NULL},
    {"verbose|v", NULL, "--verbose", NULL},
    {"parsable|parseable|p", NULL, "? it is for the output of other options", NULL},
    {"personality", "NAME", "@personality", NULL},

    /* Parameters */
    {"mca|omca|gmca|gomca", "NAME VALUE", "-x OMPI_MCA_%1=%2", NULL},
    {"pmixmca|gpmixmca", "NAME VALUE", "--mca %1 %2", NULL},
    {"prtemca", "NAME VALUE", "@prtemca", NULL},
    {"tune|amca|am", "FILES", "! use --mca, --pmixmca and -x for its lines", NULL},

    /* Processes */
    {"np|n|c", "N", "-n %1", NULL},
    {"npernode|N", "N", "--map-by ppr:%1:node", NULL},
    {"pernode", NULL, "--map-by ppr:1:node", NULL},
    {"npersocket", "N", "--map-by ppr:%1:package", NULL},
    {"ppr", "N:OBJECT", "--map-by ppr:%1", NULL},
    {"app", "FILE", "! write its programs with \":\" between them", NULL},
    {"x", "NAME[=VALUE]", "-x %1", NULL},
    {"wdir|wd", "DIR", "--wdir %1", NULL},
    {"set-cwd-to-session-dir", NULL, "--session-dir", NULL},
    {"path", "DIRS", "-x PATH=%1:%P", NULL},
    {"pset", "NAME", "! a program is not a process set", NULL},
    {"preload-binary|s", NULL, "--preload", NULL},
    {"preload-files", "FILES", "--preload-files %1", NULL},
    {"stdin", "RANK", "--stdin %1", NULL},
    {"fwd-environment", "[BOOL]", "", "! processes have the launcher's environment"},
    {"prefix", "DIR", "", NULL},
    {"noprefix", NULL, "", NULL},
    {"soft", NULL, "! the number of processes is exact", NULL},
    {"arch", "NAME", "! " NO_NODE, NULL},
    {"file", "NAME", "! write its programs with \":\" between them", NULL},

    /* Nodes */
    {"host|H", "NODES", "--host %1", NULL},
    {"hostfile|machinefile|default-hostfile", "FILE", "--hostfile %1", NULL},
    {"add-host", "NODES", "! " NO_NODE, NULL},
    {"add-hostfile", "FILE", "! " NO_NODE, NULL},

    /* Places */
    {"map-by", "POLICY", "@map", NULL},
    {"rank-by", "POLICY", "@rank", NULL},
    {"bind-to", "POLICY", "@bind", NULL},
    {"cpu-list|cpu-set", "CPUS", "--cpu-list %1", NULL},
    {"cpus-per-proc|cpus-per-rank", "N", "--cpus-per-proc %1", NULL},
    {"oversubscribe", NULL, "--map-by :oversubscribe", NULL},
    {"nooversubscribe", NULL, "--map-by :nooversubscribe", NULL},
    {"use-hwthread-cpus", NULL, "--map-by :hwtcpus", NULL},
    {"nolocal", NULL, "! " NO_NODE, NULL},
    {"bind-to-core", NULL, "--bind-to core", NULL},
    {"bind-to-socket", NULL, "--bind-to package", NULL},
    {"bynode", NULL, "--map-by node", NULL},
    {"byslot", NULL, "--map-by slot", NULL},
    {"bycore", NULL, "--map-by core", NULL},
    {"rankfile", "FILE", "! use --map-by, --rank-by and --bind-to", NULL},

    /* Output */
    {"output", "WORDS", "@output", NULL},
    {"tag-output", NULL, "--output tag", NULL},
    {"timestamp-output", NULL, "--output timestamp", NULL},
    {"xml", NULL, "--output xml", NULL},
    {"merge-stderr-to-stdout", NULL, "--output merge", NULL},
    {"output-directory", "DIR", "--output-dir %1", NULL},
    {"output-filename", "FILE", "--output-file %1", NULL},
    {"stream-buffering", "0|1|2", "-x OMPI_MCA_ompi_stream_buffering=%1", NULL},
    {"xterm", "RANKS", "! no window is opened; see --output", NULL},

    /* Reports */
    {"display", "WORDS", "@display", NULL},
    {"display-map", NULL, "--display-map", NULL},
    {"display-devel-map", NULL, "--display-map", NULL},
    {"report-bindings", NULL, "--report-bindings", NULL},
    {"display-allocation", NULL, "? " NO_NODE, NULL},
    {"display-devel-allocation", NULL, "? " NO_NODE, NULL},
    {"display-topo", "[NODES]", "? lstopo shows the topology", NULL},
    {"display-comm", NULL, "-x OMPI_MCA_ompi_display_comm=mpi_init", NULL},
    {"display-comm-finalize", NULL, "-x OMPI_MCA_ompi_display_comm=mpi_finalize", NULL},
    {"show-progress", NULL, "--progress", NULL},
    {"output-proctable", "[TO]", "! tools get the table from --report-uri", NULL},
    {"report-pid", "TO", "--report-pid %1", NULL},
    {"report-uri", "TO", "--report-uri %1", NULL},

    /* Ends */
    {"timeout", "SECONDS", "--timeout %1", NULL},
    {"spawn-timeout", "SECONDS", "--spawn-timeout %1", NULL},
    {"report-state-on-timeout", NULL, "--report-state-on-timeout", NULL},
    {"get-stack-traces", NULL, "--get-stack-traces", NULL},
    {"runtime-options", "WORDS", "@runtime", NULL},
    {"enable-recovery", NULL, "--recoverable", NULL},
    {"disable-recovery", NULL, "", NULL},
    {"continuous", NULL, "--continuous", NULL},
    {"max-restarts", "N", "--restarts %1", NULL},
    {"with-ft", "WORD", "@ft", NULL},
    {"initial-errhandler", "NAME", "-x OMPI_MCA_mpi_initial_errhandler=%1", NULL},
    {"memory-alloc-kinds", "KINDS", "-x OMPI_MCA_mpi_memory_alloc_kinds=%1", NULL},
    {"report-child-jobs-separately", NULL, "! the status is that of the first process that failed", NULL},
    {"forward-signals", "SIGNALS", "? USR1, USR2, TSTP and CONT are forwarded", NULL},
    {"stop-on-exec", NULL, "--stop-on-exec --tools", NULL},
    {"stop-in-init", NULL, "--stop-in-init --tools", NULL},
    {"stop-in-app", NULL, "--stop-in-app --tools", NULL},
    {"do-not-launch", NULL, "! each job starts; see --display map", NULL},

    /* Servers and daemons */
    {"singleton", "NSPACE.RANK", "--singleton %1", NULL},
    {"keepalive", "FD", "--keepalive %1", NULL},
    {"no-ready-msg", NULL, "--no-ready-msg", NULL},
    {"allow-run-as-root", NULL, "", NULL},
    {"no-aggregate-help", NULL, "", NULL},
    {"tmpdir", "DIR", "--tmpdir %1", NULL},
    {"dvm-uri", "URI", "--dvm-uri %1", NULL},
    {"pid", "PID", "--dvm-pid %1", NULL},
    {"namespace", "NAME", "--dvm-name %1", NULL},
    {"dvm", "SERVER", "! " NO_SYSTEM, NULL},
    {"system-server|system-server-only", NULL, "! " NO_SYSTEM, NULL},
    {"system-server-first", NULL, "", NULL},
    {"daemonize", NULL, "--daemonize", NULL},
    {"no-wait", NULL, "--no-wait", NULL},
    {"do-not-connect", NULL, "", NULL},
    {"launch-agent", "PROGRAM", "? " NO_DAEMON, NULL},
    {"max-vm-size", "N", "? " NO_DAEMON, NULL},
    {"debug-daemons", NULL, "? " NO_DAEMON, NULL},
    {"debug-daemons-file", NULL, "? " NO_DAEMON, NULL},
    {"leave-session-attached", NULL, "? " NO_DAEMON, NULL},
    {"set-sid", NULL, "? " NO_DAEMON, NULL},
    {"debug", NULL, "? use --verbose", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row personality[] = {
    {"ompi", NULL, "", NULL},
    {"ompi5", NULL, "", NULL},
    {"prte", NULL, "", NULL},
    {"pmix", NULL, "", NULL},
    {"mpich", NULL, "", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row prtemca[] = {
    {"schizo", "NAME", "", NULL},
    {"schizo_proxy", "NAME", "", NULL},
    {"rmaps_default_mapping_policy", "POLICY", "@map", NULL},
    {"rmaps_default_ranking_policy", "POLICY", "@rank", NULL},
    {"hwloc_default_binding_policy", "POLICY", "@bind", NULL},
    {"hwloc_default_cpu_list", "CPUS", "--cpu-list %1", NULL},
    {"*", "VALUE", "? it is a parameter of PRRTE's daemons", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row map[] = {
    {"slot", NULL, "slot", NULL},
    {"node", NULL, "node", NULL},
    {"package|socket|skt", NULL, "package", NULL},
    {"numa", NULL, "numa", NULL},
    {"l3cache", NULL, "l3cache", NULL},
    {"l2cache", NULL, "l2cache", NULL},
    {"l1cache", NULL, "l1cache", NULL},
    {"core", NULL, "core", NULL},
    {"hwthread", NULL, "hwthread", NULL},
    {"ppr", NULL, "ppr", NULL},
    {"pe-list", "CPUS", "--cpu-list %1", NULL},
    {"seq", NULL, "! " NO_NODE, NULL},
    {"dist", NULL, "! no distance is measured", NULL},
    {"rankfile", NULL, "! use --map-by, --rank-by and --bind-to", NULL},
    {"pe", "N", "pe=%1", NULL},
    {"span", NULL, "span", NULL},
    {"oversubscribe", NULL, "oversubscribe", NULL},
    {"nooversubscribe", NULL, "nooversubscribe", NULL},
    {"nolocal", NULL, "! " NO_NODE, NULL},
    {"hwtcpus", NULL, "hwtcpus", NULL},
    {"corecpus", NULL, "corecpus", NULL},
    {"ordered", NULL, "--bind-to cpu-list:ordered", NULL},
    {"inherit", NULL, "? each job has places of its own", NULL},
    {"noinherit", NULL, "", NULL},
    {"file", "FILE", "! use --map-by, --rank-by and --bind-to", NULL},
    {"device", "NAME", "! no distance is measured", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row rank[] = {
    {"slot", NULL, "slot", NULL},
    {"node", NULL, "node", NULL},
    {"package|socket|skt", NULL, "package", NULL},
    {"numa", NULL, "numa", NULL},
    {"l3cache", NULL, "l3cache", NULL},
    {"l2cache", NULL, "l2cache", NULL},
    {"l1cache", NULL, "l1cache", NULL},
    {"core", NULL, "core", NULL},
    {"hwthread", NULL, "hwthread", NULL},
    {"fill", NULL, "*:fill", NULL},
    {"span", NULL, "*", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row bind[] = {
    {"none", NULL, "none", NULL},
    {"package|socket|skt", NULL, "package", NULL},
    {"numa", NULL, "numa", NULL},
    {"l3cache", NULL, "l3cache", NULL},
    {"l2cache", NULL, "l2cache", NULL},
    {"l1cache", NULL, "l1cache", NULL},
    {"core", NULL, "core", NULL},
    {"hwthread", NULL, "hwthread", NULL},
    {"cpu-list", NULL, "cpu-list", NULL},
    {"ordered", NULL, "ordered", NULL},
    {"overload-allowed", NULL, "overload-allowed", NULL},
    {"no-overload", NULL, "", NULL},
    {"if-supported", NULL, "if-supported", NULL},
    {"report", NULL, "--report-bindings", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row output[] = {
    {"tag", NULL, "--output tag", NULL},
    {"tag-detailed", NULL, "--output tag-detailed", NULL},
    {"tag-fullname", NULL, "--output tag-fullname", NULL},
    {"rank", NULL, "--output rank", NULL},
    {"timestamp", NULL, "--output timestamp", NULL},
    {"xml", NULL, "--output xml", NULL},
    {"merge-stderr-to-stdout", NULL, "--output merge", NULL},
    {"directory", "DIR", "--output dir=%1", NULL},
    {"filename", "FILE", "--output-file %1", NULL},
    {"pattern", NULL, "--pattern", NULL},
    {"nocopy", NULL, "--nocopy", NULL},
    {"raw", NULL, "--output raw", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row display[] = {
    {"map", NULL, "--display-map", NULL},
    {"map-devel", NULL, "--display-map", NULL},
    {"bindings", NULL, "--report-bindings", NULL},
    {"allocation", NULL, "? " NO_NODE, NULL},
    {"topo", "[NODES]", "? lstopo shows the topology", NULL},
    {"cpus", "[NODES]", "? lstopo shows the topology", NULL},
    {"parsable", NULL, "? the map has one form", NULL},
    {"parseable", NULL, "? the map has one form", NULL},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row runtime[] = {
    {"error-nonzero-status", "[BOOL]", "", "! a status other than 0 is a failure; see --enable-recovery"},
    {"donotlaunch", NULL, "! each job starts; see --display map", NULL},
    {"show-progress", "[BOOL]", "--progress", NULL},
    {"notifyerrors", "[BOOL]", "", NULL},
    {"recoverable", "[BOOL]", "--recoverable", NULL},
    {"autorestart", "[BOOL]", "", NULL},
    {"continuous", "[BOOL]", "--continuous", NULL},
    {"max-restarts", "N", "--restarts %1", NULL},
    {"exec-agent", "PROGRAM", "--exec-agent %1", NULL},
    {"default-exec-agent", NULL, "", NULL},
    {"output-proctable", "[TO]", "! tools get the table from --report-uri", NULL},
    {"stop-on-exec", "[BOOL]", "--stop-on-exec --tools", NULL},
    {"stop-in-init", "[BOOL]", "--stop-in-init --tools", NULL},
    {"stop-in-app", "[BOOL]", "--stop-in-app --tools", NULL},
    {"timeout", "TIME", "--timeout %t", NULL},
    {"spawn-timeout", "TIME", "--spawn-timeout %t", NULL},
    {"report-state-on-timeout", "[BOOL]", "--report-state-on-timeout", NULL},
    {"get-stack-traces", "[BOOL]", "--get-stack-traces", NULL},
    {"report-child-jobs-separately", "[BOOL]", "! the status is that of the first process that failed", NULL},
    {"aggregate-help-messages", "[BOOL]", "", NULL},
    {"fwd-environment", "[BOOL]", "", "! processes have the launcher's environment"},
    {NULL, NULL, NULL, NULL},
};

static const struct names_row ft[] = {
    {"yes|true|1|ulfm|mpi", NULL, "--recoverable -x OMPI_MCA_mpi_ft_enable=1", NULL},
    {"no|false|0", NULL, "", NULL},
    {NULL, NULL, NULL, NULL},
};
/* clang-format on */

const struct names_list names_lists[] = {
    {"map", ":", map},         {"rank", ":", rank},        {"bind", ":", bind},
    {"output", ",:", output},  {"display", ",:", display}, {"runtime", ",", runtime},
    {"prtemca", "", prtemca},  {"ft", "", ft},             {"personality", ",", personality},
    {NULL, NULL, NULL},
};

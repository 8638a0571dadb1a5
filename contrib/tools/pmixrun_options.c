/* SPDX-License-Identifier: BSD-3-Clause */
/* The command line, parsed without getopt: getopt would also parse the program's
 * options, or need a separator that differs between systems. */
#include "pmixrun.h"

#include "engine/engine.h"
#include "names/names.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pmix.h>

#define MAX_TIMEOUT_S   (INT_MAX / 1000)
#define MAX_COLLECTIVES "1000" /* of a rank, that --timeline records */

static const char help[] =
    "usage: pmixrun [OPTIONS] PROGRAM [ARGS]\n"
    "               [: [-n M] [-x VAR=VALUE] [--wdir DIR] PROGRAM2 [ARGS]]...\n"
    "       pmixrun [--mca NAME VALUE] [--tune FILE] [--timeout S] --clean [DIR]...\n"
    "       pmixrun [--mca NAME VALUE] [--tune FILE] --singleton NSPACE.RANK\n"
    "               --keepalive FD --report-uri FD\n"
    "       pmixrun --serve|--daemonize [--slots N] [--dvm-name NAME] [--mca NAME VALUE]\n"
    "               [--launcher WHICH] [--host A,B:2] [--hostfile FILE]\n"
    "       pmixrun --submit [--no-wait] [OPTIONS] PROGRAM [ARGS]...\n"
    "       pmixrun --terminate [--dvm-uri URI|--dvm-pid PID|--dvm-name NAME]\n"
    "Run processes of one or more programs as one PMIx job: on this node, or by Slurm or\n"
    "Flux on the nodes of an allocation.\n"
    "\n"
    "  -n N, -np N        start N processes of the program; default 1, or as many as\n"
    "                     --map-by ppr makes\n"
    "  --mca NAME VALUE   set a parameter of the library, here and in the processes\n"
    "  --tune FILE        read parameters from FILE, here and in the processes\n"
    "  -x VAR[=VALUE]     set an environment variable for the processes, or forward ours,\n"
    "                     which must be set, or those whose names fit a pattern: 'VAR_*'\n"
    "  --launcher WHICH   auto: in an allocation of several nodes, srun of Slurm or flux run\n"
    "                     starts the job; local: this node; slurm, flux: that engine\n"
    "  --wdir DIR         run in this folder\n"
    "  --session-dir      run in the job's folder for scratch files\n"
    "  --host A,B         nodes of the allocation to run on, with slots: A:2; without an\n"
    "                     allocation only this node\n"
    "  --hostfile FILE    the same, from a file with a host in each line: A slots=2\n"
    "  --cluster-id NAME  the cluster that this node is part of, for PMIX_CLUSTER_ID\n"
    "  --map-by OBJECT    give each process an object of this node, in turn: slot (the\n"
    "                     node itself), package, numa, l3cache, l2cache, l1cache, core,\n"
    "                     hwthread; ppr:N:OBJECT: N processes to each. :PE=N gives each\n"
    "                     N CPUs; :NOOVERSUBSCRIBE, :HWTCPUS\n"
    "  --rank-by OBJECT   number them by object, not as they were mapped\n"
    "  --bind-to OBJECT   what each is bound to: one of these, none, or cpu-list;\n"
    "                     :overload-allowed, :ordered\n"
    "  --cpu-list LIST    use only these cores, or hardware threads\n"
    "  --cpus-per-proc N  bind each to N cores\n"
    "  --nooversubscribe  no more processes than cores\n"
    "  --display-map      print where processes go\n"
    "  --report-bindings  the same, on stderr\n"
    "  --stdin TO         who gets the input: all, none, or a rank; default 0\n"
    "  --pty              give the processes a terminal\n"
    "  --tools            let tools find the job in the folder for temporary files, and\n"
    "                     keep the last output for them\n"
    "  --no-tools         admit no tools; otherwise those of this user may attach\n"
    "  --tmpdir DIR       make the server's files below this folder\n"
    "  --exec-agent PROGRAM  start processes by this program, with its arguments\n"
    "  --stop-on-exec, --stop-in-init, --stop-in-app\n"
    "                     stop processes there until a debugger releases them\n"
    "  --recoverable      a process that fails does not end the others\n"
    "  --continuous       the same, for a job that runs until it is ended\n"
    "  --restarts N       start a process that fails again, up to N times\n"
    "  --output HOW,...   tag, tag-detailed, tag-fullname, timestamp, rank: begin lines\n"
    "                     with that; xml, json: write them so; raw: as it comes, not by\n"
    "                     lines; merge: stderr goes where stdout goes; dir=DIR,\n"
    "                     file=PATTERN: to files, too (%n namespace, %r rank, %h host);\n"
    "                     only: to these alone\n"
    "  --tag-output       begin each line of output with [JOB,RANK]<CHANNEL>:\n"
    "  --output-dir DIR   output goes to DIR/JOB/rank.N/stdout and stderr, too; only\n"
    "                     there with DIR:nocopy. --output-filename is the same\n"
    "  --output-file NAME  the same to NAME.N, stdout and stderr of each rank N\n"
    "  --preload          run a copy of the program, in the job's folder for scratch files\n"
    "  --preload-files A,B  copy these files there\n"
    "  --timestamp-output  begin it with the time\n"
    "  --merge-stderr-to-stdout  stderr of each process goes where its stdout goes\n"
    "  --timeout SECONDS  end the job after this time, with status 124\n"
    "  --spawn-timeout SECONDS  end the job if its start takes longer\n"
    "  --report-state-on-timeout  then print the state of each process\n"
    "  --get-stack-traces  then print their stacks, by a debugger of the system\n"
    "  --clean            run nothing: remove the files that dead servers of yours left\n"
    "                     in the folders for temporary files, or in each DIR\n"
    "  --serve            run nothing: stay as a server for jobs of --submit, on this node or\n"
    "                     on those of the allocation that --launcher and --host choose\n"
    "  --daemonize        the same, in the background\n"
    "  --slots N          processes that jobs may have at once there; others wait\n"
    "  --no-ready-msg     no line when the server is ready\n"
    "  --submit           run the job in a server that stays\n"
    "  --no-wait          fail if the job cannot start at once there\n"
    "  --terminate        end a server that stays\n"
    "  --dvm-uri URI      its address, or file:FILE; --dvm-pid PID: its number;\n"
    "                     --dvm-name NAME: its name\n"
    "  --singleton NSPACE.RANK  run nothing: serve this process, which was not launched,\n"
    "                     and its jobs; the library starts pmixrun so\n"
    "  --keepalive FD     a socket or pipe; end when the other end is closed\n"
    "  --report-uri TO    write the server's address as a line: \"-\" stdout, \"+\" stderr,\n"
    "                     a descriptor, or a file\n"
    "  --report-pid TO    the same for the number of this process; no descriptor\n"
    "  --progress         on a terminal, show how many ranks have started, initialised\n"
    "                     and ended\n"
    "  --timeline FILE    write the times of each rank, from its start to its end:\n"
    "                     FILE.json for trace viewers, FILE.html as a page; -: a table\n"
    "  --top              show state, CPU, memory and output of each rank, each second\n"
    "  --verbose          report each step\n"
    "  -h, --help         print this\n"
    "  --version          print the version\n"
    "\n"
    "Output appears in whole lines. SIGINT, SIGTERM and SIGHUP go to all processes and\n"
    "end the job; a second one kills it. SIGUSR1, SIGUSR2, SIGTSTP and SIGCONT only go\n"
    "to the processes. When a process fails, the others are ended,\n"
    "too, and so are jobs that it has spawned or that have spawned it, unless they are\n"
    "apart. The exit status is that of the first process that failed, 128 plus the\n"
    "number of the signal if it was killed, the low eight\n"
    "bits of the status if it called PMIx_Abort (1 if they are 0), 126 if the program\n"
    "cannot be run, 127 if it was not found, 2 if the command line is wrong.\n";

static size_t count(char **v)
{
    size_t n = 0;

    while (v && v[n])
        n++;
    return n;
}

/* Adds a variable to an environment of processes, which is not pmixrun's own. */
static void add_variable(char ***env, char *text)
{
    size_t n = count(*env);

    *env = grow(*env, n + 2, sizeof(**env));
    (*env)[n] = text;
    (*env)[n + 1] = NULL;
}

/* Reads the argument of -x: "NAME=VALUE", the name of a set variable, or patterns,
 * which may match no variable. */
static void export_variable(struct options *o, char *text)
{
    char *all;

    if (!*text || *text == '=')
        usage("-x \"%s\" is not a variable", text);
    if (strchr(text, '=')) {
        add_variable(&o->env, text);
        return;
    }
    if (!strpbrk(text, "*?;!^") && !getenv(text))
        usage("-x %s: no such variable is set", text);
    if (asprintf(&all, "%s%s%s", o->forwards ? o->forwards : "", o->forwards ? ";" : "",
                 text) < 0)
        need(NULL);
    free(o->forwards);
    o->forwards = all;
}

void add_param(struct options *o, const char *key, const void *value,
               pmix_data_type_t type)
{
    o->params = grow(o->params, o->n_params + 1, sizeof(*o->params));
    if (PMIx_Info_load(&o->params[o->n_params], key, value, type))
        need(NULL);
    o->n_params++;
}

static void set_parameter(struct options *o, const char *name, const char *value)
{
    char key[256];

    if (!*name || strchr(name, '='))
        usage("--mca \"%s\" is not the name of a parameter", name);
    if (snprintf(key, sizeof(key), "PMIX_MCA_%s", name) >= (int)sizeof(key))
        usage("--mca \"%s\": too long a name", name);
    add_param(o, key, value, PMIX_STRING);
    add_variable(&o->env, need_text("%s=%s", key, value));
}

void add_default(struct options *o, const char *key, const char *value)
{
    for (size_t i = 0; i < o->n_params; i++)
        if (strcmp(o->params[i].key, key) == 0)
            return;
    add_param(o, key, value, PMIX_STRING);
}

/* Adds a file to the list of --tune. */
static void add_tune_file(struct options *o, const char *file)
{
    const char *before = o->tune_files ? o->tune_files
                                       : getenv("PMIX_MCA_mca_base_tune_files");
    char *path = realpath(file, NULL);

    if (!path)
        usage("--tune %s: %s", file, strerror(errno));
    o->tune_files = need_text("%s%s%s", before ? before : "", before ? ":" : "", path);
    set_parameter(o, "mca_base_tune_files", o->tune_files);
}

/* Options that set an attribute: of pmixrun's server, and of the job. */
enum { N_OF_SERVER = 2 };
static const struct {
    const char *option;
    const char *key;
    pmix_data_type_t type; /* PMIX_BOOL: without an argument */
} attributes[] = {
    {"--tools", PMIX_SERVER_TOOL_SUPPORT, PMIX_BOOL},
    {"--tmpdir", PMIX_SERVER_TMPDIR, PMIX_STRING},
    {"--host", PMIX_HOST, PMIX_STRING},
    {"--hostfile", PMIX_HOSTFILE, PMIX_STRING},
    {"--map-by", PMIX_MAPBY, PMIX_STRING},
    {"--rank-by", PMIX_RANKBY, PMIX_STRING},
    {"--bind-to", PMIX_BINDTO, PMIX_STRING},
    {"--cpu-list", PMIX_CPU_LIST, PMIX_STRING},
    {"--cpus-per-proc", PMIX_CPUS_PER_PROC, PMIX_UINT32},
    {"--nooversubscribe", PMIX_NO_OVERSUBSCRIBE, PMIX_BOOL},
    {"--display-map", PMIX_DISPLAY_MAP, PMIX_BOOL},
    {"--report-bindings", PMIX_REPORT_BINDINGS, PMIX_BOOL},
    {"--recoverable", PMIX_JOB_RECOVERABLE, PMIX_BOOL},
    {"--restarts", PMIX_MAX_RESTARTS, PMIX_UINT32},
    {"--report-state-on-timeout", PMIX_TIMEOUT_REPORT_STATE, PMIX_BOOL},
    {"--get-stack-traces", PMIX_TIMEOUT_STACKTRACES, PMIX_BOOL},
    {"--tag-output", PMIX_TAG_OUTPUT, PMIX_BOOL},
    {"--timestamp-output", PMIX_TIMESTAMP_OUTPUT, PMIX_BOOL},
    {"--merge-stderr-to-stdout", PMIX_MERGE_STDERR_STDOUT, PMIX_BOOL},
    {"--output-dir", PMIX_OUTPUT_TO_DIRECTORY, PMIX_STRING},
    {"--output-filename", PMIX_OUTPUT_TO_DIRECTORY, PMIX_STRING}, /* of Open MPI 4 */
    {"--output-file", PMIX_OUTPUT_TO_FILE, PMIX_STRING},
    {"--preload", PMIX_PRELOAD_BIN, PMIX_BOOL},
    {"--preload-files", PMIX_PRELOAD_FILES, PMIX_STRING},
    {"--session-dir", PMIX_SET_SESSION_CWD, PMIX_BOOL},
    {"--continuous", PMIX_JOB_CONTINUOUS, PMIX_BOOL},
    {"--spawn-timeout", PMIX_SPAWN_TIMEOUT, PMIX_UINT32},
    {"--exec-agent", PMIX_EXEC_AGENT, PMIX_STRING},
    {"--stop-on-exec", PMIX_DEBUG_STOP_ON_EXEC, PMIX_BOOL},
    {"--stop-in-init", PMIX_DEBUG_STOP_IN_INIT, PMIX_BOOL},
    {"--stop-in-app", PMIX_DEBUG_STOP_IN_APP, PMIX_BOOL},
};

void add_asked(struct options *o, const char *key, const void *value,
               pmix_data_type_t type)
{
    size_t i = 0;

    while (i < o->n_asked && !PMIx_Check_key(o->asked[i].key, key))
        i++;
    if (i == o->n_asked)
        o->asked = grow(o->asked, ++o->n_asked, sizeof(*o->asked));
    else
        PMIx_Info_destruct(&o->asked[i]);
    if (PMIx_Info_load(&o->asked[i], key, value, type))
        need(NULL);
    PMIx_Info_required(&o->asked[i]);
}

/* Cuts the suffix off "NAME:nocopy", and disables the copy on our output (Open MPI). */
static char *files_only(struct options *o, char *name)
{
    static const char suffix[] = ":nocopy";
    size_t n = strlen(name), n_suffix = sizeof(suffix) - 1;

    if (n < n_suffix || strcasecmp(name + n - n_suffix, suffix) != 0)
        return name;
    name[n - n_suffix] = '\0';
    add_asked(o, PMIX_OUTPUT_NOCOPY, &(const bool){true}, PMIX_BOOL);
    return name;
}

/* ---- the words of --output ------------------------------------------------------- */

enum {
    TAG = 1,
    TIME = 2,
    RANK = 4,
    XML = 8,
    JSON = 16,
    RAW = 32,
    DIR = 64,
    PATTERN = 128,
    ONLY = 256,
    MERGE = 512,
};

static const struct word {
    const char *word, *key;
    bool is_named; /* "word=NAME" */
    int bit, against;
} words[] = {
    {"tag", PMIX_IOF_TAG_OUTPUT, false, TAG, RAW},
    {"tag-detailed", PMIX_IOF_TAG_DETAILED_OUTPUT, false, TAG, RAW},
    {"tag-fullname", PMIX_IOF_TAG_FULLNAME_OUTPUT, false, TAG, RAW},
    {"timestamp", PMIX_IOF_TIMESTAMP_OUTPUT, false, TIME, RAW},
    {"rank", PMIX_IOF_RANK_OUTPUT, false, RANK, RAW},
    {"xml", PMIX_IOF_XML_OUTPUT, false, XML, RAW | JSON},
    {"json", TENON_IOF_JSON_OUTPUT, false, JSON, RAW | XML},
    {"raw", PMIX_IOF_OUTPUT_RAW, false, RAW, TAG | TIME | RANK | XML | JSON},
    {"dir", PMIX_IOF_OUTPUT_TO_DIRECTORY, true, DIR, PATTERN},
    {"file", PMIX_IOF_OUTPUT_TO_FILE, true, PATTERN, DIR},
    {"only", PMIX_IOF_FILE_ONLY, false, ONLY, 0},
    {"merge", PMIX_IOF_MERGE_STDERR_STDOUT, false, MERGE, 0},
    {NULL, NULL, false, 0, 0},
};

/* Reads a word of --output. given: bits of all words so far. */
static void take_word(struct options *o, const char *text, int *given)
{
    const bool yes = true;
    size_t len = strcspn(text, "=");
    const struct word *w = words, *other = words;

    while (w->word && (strlen(w->word) != len || strncmp(w->word, text, len) != 0))
        w++;
    if (!w->word)
        usage("--output \"%s\" is not known", text);
    if (w->is_named ? !text[len] || !text[len + 1] : text[len] != '\0')
        usage("--output %s: %s", w->word,
              w->is_named ? "a name is needed" : "it has no value");
    while (other->word && !(other->bit & w->against & *given))
        other++;
    if (other->word)
        usage("--output: %s contradicts %s", w->word, other->word);
    if (w->bit == PATTERN)
        add_asked(o, PMIX_IOF_FILE_PATTERN, &yes, PMIX_BOOL);
    add_asked(o, w->key, w->is_named ? (const void *)(text + len + 1) : &yes,
              w->is_named ? PMIX_STRING : PMIX_BOOL);
    *given |= w->bit;
}

static void take_output(struct options *o, const char *list)
{
    char *copy = need_text("%s", list), *rest = copy, *word;

    if (!*list)
        usage("--output needs words");
    while ((word = strsep(&rest, ",")))
        take_word(o, word, &o->output);
    free(copy);
}

bool options_find(const pmix_info_t *info, const char **option, char **text)
{
    const pmix_value_t *v = &info->value;
    const char *string = v->type == PMIX_STRING && v->data.string ? v->data.string : "";
    uint32_t n;

    *text = NULL;
    for (size_t i = N_OF_SERVER; i < sizeof(attributes) / sizeof(attributes[0]); i++) {
        if (!PMIx_Check_key(info->key, attributes[i].key))
            continue;
        *option = attributes[i].option;
        if (attributes[i].type == PMIX_STRING)
            *text = need_text("%s", string);
        else if (attributes[i].type == PMIX_UINT32)
            *text = PMIx_Value_get_number(v, &n, PMIX_UINT32) ? need_text("?")
                                                              : need_text("%u", n);
        return true;
    }
    for (const struct word *w = words; w->word; w++) {
        if (!PMIx_Check_key(info->key, w->key))
            continue;
        *option = "--output";
        *text = need_text("%s%s%s", w->word, w->is_named ? "=" : "",
                          w->is_named ? string : "");
        return true;
    }
    return false;
}

/* Asks for a pseudo terminal, as large as pmixrun's terminal if there is one. */
static void take_terminal(struct options *o)
{
    struct winsize size;
    pmix_byte_object_t bytes = {(char *)&size, sizeof(size)};

    add_asked(o, PMIX_SPAWN_PTY, &(const bool){true}, PMIX_BOOL);
    for (int fd = 0; fd < 3; fd++)
        if (ioctl(fd, TIOCGWINSZ, &size) == 0) {
            add_asked(o, PMIX_PTY_WSIZE, &bytes, PMIX_BYTE_OBJECT);
            break;
        }
}

/* Selects the receivers of pmixrun's input. */
static void take_stdin(struct options *o, const char *to)
{
    const bool any = strcmp(to, "none") != 0;
    pmix_rank_t rank = PMIX_RANK_WILDCARD;
    char *end;

    if (any && strcmp(to, "all") != 0) {
        unsigned long value = strtoul(to, &end, 10);

        if (*to < '0' || *to > '9' || *end || value > INT_MAX)
            usage("--stdin \"%s\": all, none, or a rank is needed", to);
        rank = (pmix_rank_t)value;
    }
    add_asked(o, PMIX_FWD_STDIN, &any, PMIX_BOOL);
    if (any)
        add_asked(o, PMIX_STDIN_TGT, &rank, PMIX_PROC_RANK);
}

/* Reads the option at *at; false if the option is not in the table. */
static bool take_attribute(struct options *o, char ***at)
{
    size_t n = sizeof(attributes) / sizeof(attributes[0]), i = 0;
    const bool yes = true;

    while (i < n && strcmp(**at, attributes[i].option) != 0)
        i++;
    if (i == n)
        return false;
    if (i < N_OF_SERVER) {
        add_param(o, attributes[i].key,
                  attributes[i].type == PMIX_BOOL ? (const void *)&yes : argument(at),
                  attributes[i].type);
    } else if (attributes[i].type == PMIX_BOOL) {
        add_asked(o, attributes[i].key, &yes, PMIX_BOOL);
    } else if (attributes[i].type == PMIX_UINT32) {
        const uint32_t n = (uint32_t)number(attributes[i].option, argument(at),
                                            INT_MAX);

        add_asked(o, attributes[i].key, &n, PMIX_UINT32);
    } else {
        char *text = argument(at);

        if (!*text)
            usage("%s \"\" is empty", attributes[i].option);
        if (strncmp(attributes[i].option, "--output", strlen("--output")) == 0)
            text = files_only(o, text);
        add_asked(o, attributes[i].key, text, PMIX_STRING);
    }
    o->reports |= PMIx_Check_key(attributes[i].key, PMIX_TIMEOUT_REPORT_STATE) ||
                  PMIx_Check_key(attributes[i].key, PMIX_TIMEOUT_STACKTRACES);
    o->tools |= PMIx_Check_key(attributes[i].key, PMIX_SERVER_TOOL_SUPPORT);
    if (is_option(attributes[i].option, "--host", "--hostfile"))
        o->chooses = true;
    else
        o->runs |= i >= N_OF_SERVER;
    o->serves |= i < N_OF_SERVER;
    return true;
}

/* Reads the process of --singleton. */
static void take_singleton(struct options *o, const char *text)
{
    const char *dot = strrchr(text, '.');
    const size_t len = dot ? (size_t)(dot - text) : 0;
    char *end = NULL;
    unsigned long rank = dot && dot[1] >= '0' && dot[1] <= '9'
                             ? strtoul(dot + 1, &end, 10)
                             : PMIX_RANK_VALID;

    if (len == 0 || len > PMIX_MAX_NSLEN || rank >= PMIX_RANK_VALID || *end)
        usage("--singleton \"%s\": a namespace, a dot and a rank are needed", text);
    memcpy(o->singleton.nspace, text, len);
    o->singleton.nspace[len] = '\0';
    o->singleton.rank = (pmix_rank_t)rank;
    add_param(o, PMIX_SINGLETON, text, PMIX_STRING);
    /* tools find the singleton by its server */
    add_param(o, PMIX_SERVER_TOOL_SUPPORT, &(const bool){true}, PMIX_BOOL);
}

/* Reads an option for the program that starts pmixrun; false if the option is
 * another. */
static bool take_starter_option(struct options *o, char ***at)
{
    char *option = **at;

    if (strcmp(option, "--singleton") == 0)
        take_singleton(o, argument(at));
    else if (strcmp(option, "--keepalive") == 0)
        o->keepalive = number(option, argument(at), INT_MAX);
    else if (strcmp(option, "--report-uri") == 0)
        o->report_uri = argument(at);
    else if (strcmp(option, "--report-pid") == 0)
        o->report_pid = argument(at);
    else if (strcmp(option, "--no-tools") == 0)
        o->serves = o->no_tools = true;
    else
        return false;
    return true;
}

static void parse_general(struct options *o, char ***at)
{
    char *option = **at;

    if (strcmp(option, "--mca") == 0) {
        if (!(*at)[1] || !(*at)[2])
            usage("--mca needs a name and a value");
        char *name = argument(at);

        set_parameter(o, name, argument(at));
    } else if (strcmp(option, "--tune") == 0) {
        add_tune_file(o, argument(at));
    } else if (strcmp(option, "-x") == 0) {
        export_variable(o, argument(at));
        o->runs = true;
    } else if (strcmp(option, "--wdir") == 0) {
        o->dir = argument(at);
        o->runs = true;
    } else if (strcmp(option, "--stdin") == 0) {
        o->stdin_to = argument(at);
        o->runs = true;
    } else if (strcmp(option, "--cluster-id") == 0) {
        set_parameter(o, "embedded_cluster_id", argument(at));
        o->runs = true;
    } else if (strcmp(option, "--launcher") == 0) {
        o->launcher = argument(at);
        o->chooses = true;
    } else if (strcmp(option, "--timeout") == 0) {
        o->timeout_s = number(option, argument(at), MAX_TIMEOUT_S);
    } else if (strcmp(option, "--clean") == 0) {
        o->clean = true;
    } else if (strcmp(option, "--verbose") == 0) {
        o->verbose = true;
    } else if (strcmp(option, "--pty") == 0) {
        take_terminal(o);
        o->runs = true;
    } else if (strcmp(option, "--progress") == 0) {
        o->progress = o->runs = true;
    } else if (strcmp(option, "--top") == 0) {
        o->top = o->runs = true;
    } else if (strcmp(option, "--timeline") == 0) {
        o->timeline = argument(at);
        if (!timeline_is_name(o->timeline))
            usage("--timeline %s: a name that ends in .json or .html, or - is needed",
                  o->timeline);
        o->runs = true;
    } else if (strcmp(option, "--output") == 0) {
        take_output(o, argument(at));
        o->runs = true;
    } else if (is_option(option, "--help", "-h")) {
        print_and_exit(o->translated ? names_help(tool_name) : help);
    } else if (strcmp(option, "--version") == 0) {
        print_and_exit(o->translated ? names_version(tool_name)
                                     : need_text("pmixrun, %s\n", PMIx_Get_version()));
    } else if (!take_starter_option(o, at) && !dvm_take_option(o, at) &&
               !take_attribute(o, at)) {
        usage("unknown option %s", option);
    }
}

/* Returns the absolute path of a folder for the server. */
static char *folder(const char *name)
{
    char *path = realpath(name, NULL);
    struct stat st;

    if (!path || stat(path, &st))
        usage("--clean %s: %s", name, strerror(errno));
    if (!S_ISDIR(st.st_mode))
        usage("--clean %s: %s", name, strerror(ENOTDIR));
    return path;
}

/* Reads the folders of --clean: the rest of the command line. */
static void take_dirs(struct options *o, char ***at)
{
    size_t n = 0;

    if (o->runs || o->chooses || o->serves)
        usage("--clean runs no program, so options for programs have no meaning");
    o->dirs = grow(NULL, count(*at) + 1, sizeof(*o->dirs));
    for (; **at; ++*at)
        o->dirs[n++] = folder(**at);
    o->dirs[n] = NULL;
}

/* True if --map-by determines the number of processes. */
static bool counts(const struct options *o)
{
    for (size_t i = 0; i < o->n_asked; i++)
        if (PMIx_Check_key(o->asked[i].key, PMIX_MAPBY))
            return strncasecmp(o->asked[i].value.data.string, "ppr:", 4) == 0;
    return false;
}

/* Reads an option of one program, after a colon. */
static void take_own_option(struct program *p, char ***at)
{
    char *option = **at;

    if (strcmp(option, "--wdir") == 0) {
        p->dir = argument(at);
    } else if (strcmp(option, "-x") == 0) {
        char *text = argument(at);
        const char *value = strchr(text, '=') ? "" : getenv(text);

        if (!*text || *text == '=' || !value)
            usage("-x \"%s\" after \":\": a variable is needed", text);
        add_variable(&p->env,
                     strchr(text, '=') ? text : need_text("%s=%s", text, value));
    } else {
        usage("option %s after \":\"; only -n, -x and --wdir can stand there", option);
    }
}

/* Reads a program and its options. Leaves *at at the colon or the end. */
static void parse_program(struct options *o, char ***at)
{
    struct program *p;

    o->programs = grow(o->programs, o->n_programs + 1, sizeof(*o->programs));
    p = &o->programs[o->n_programs++];
    *p = (struct program){0};
    for (; **at && (**at)[0] == '-' && (**at)[1]; ++*at) {
        if (strcmp(**at, "--") == 0) {
            ++*at;
            break;
        }
        if (is_option(**at, "-n", "-np")) {
            const char *option = **at;

            p->n = number(option, argument(at), INT_MAX);
            o->runs = true;
        } else if (o->n_programs == 1) {
            parse_general(o, at);
        } else {
            take_own_option(p, at);
        }
    }
    if (o->clean) {
        take_dirs(o, at);
        return;
    }
    const bool serves = o->singleton.nspace[0] || o->dvm.task == DVM_SERVE ||
                        o->dvm.task == DVM_TERMINATE;

    if (serves && **at)
        usage("%s runs no program", o->singleton.nspace[0]         ? "--singleton"
                                    : o->dvm.task == DVM_TERMINATE ? "--terminate"
                                    : o->dvm.daemonize             ? "--daemonize"
                                                                   : "--serve");
    if (serves) {
        o->n_programs = 0;
        return;
    }
    if (!**at || strcmp(**at, ":") == 0)
        usage("no program is named");
    if (p->n == 0 && !counts(o))
        p->n = 1;
    p->argv = *at;
    while (**at && strcmp(**at, ":") != 0)
        ++*at;
}

/* Puts the variables of all programs before those of each. */
static void share_variables(struct options *o)
{
    for (struct program *p = o->programs; p < o->programs + o->n_programs; p++) {
        char **own = p->env;

        p->env = NULL;
        for (char **at = o->env; at && *at; at++)
            add_variable(&p->env, *at);
        for (char **at = own; at && *at; at++)
            add_variable(&p->env, *at);
        free(own);
    }
}

/* Checks the options for the program that starts pmixrun. */
static void check_starter_options(struct options *o)
{
    if (o->singleton.nspace[0]) {
        if (o->runs || o->chooses || o->serves || o->clean || o->timeout_s ||
            o->keepalive < 0 || !o->report_uri)
            usage("--singleton needs --keepalive and --report-uri, and goes without "
                  "options for programs");
        o->report = number("--report-uri", o->report_uri, INT_MAX);
    } else if (o->report_uri) {
        add_param(o, PMIX_TCP_REPORT_URI, o->report_uri, PMIX_STRING);
    }
    if (o->no_tools &&
        (o->report_uri || o->tools || o->dvm.task || o->singleton.nspace[0]))
        usage("--no-tools contradicts %s", o->report_uri ? "--report-uri"
                                           : o->tools    ? "--tools"
                                                         : "a server for commands");
    if (o->no_tools)
        add_param(o, PMIX_SERVER_TOOL_SUPPORT, &(const bool){false}, PMIX_BOOL);
    if (o->keepalive >= 0 && fcntl(o->keepalive, F_SETFD, FD_CLOEXEC) < 0)
        usage("--keepalive %d: %s", o->keepalive, strerror(errno));
}

/* Returns a command line of pmixrun's own. Another launcher's is translated. */
static char **translate(struct options *o, char **argv)
{
    const char *name = argv[0] ? names_known(argv[0]) : NULL;
    struct names_result result;

    if (!name)
        return argv;
    tool_name = name;
    names_translate(argv, &result);
    for (char **note = result.notes; note && *note; note++)
        complain("%s", *note);
    if (result.error)
        usage("%s", result.error);
    o->translated = need(PMIx_Argv_join(result.argv, ' '));
    return result.argv;
}

void options_parse(struct options *o, char **argv)
{
    char *line = need(PMIx_Argv_join(argv, ' ')), **at;

    *o = (struct options){.keepalive = -1, .report = -1};
    o->line = at = translate(o, argv);
    o->words = need(PMIx_Argv_copy(at));
    at += *at != NULL;
    add_asked(o, PMIX_CMD_LINE, line, PMIX_STRING);
    free(line);
    add_asked(o, PMIX_FWD_STDIN, &(const bool){true}, PMIX_BOOL);
    for (;;) {
        parse_program(o, &at);
        if (!*at)
            break;
        if (o->translated)
            free(*at);
        *at++ = NULL; /* ends the argv before the colon */
    }
    share_variables(o);
    check_starter_options(o);
    if (o->dvm.server && !o->dvm.task) /* of another launcher's command line */
        o->dvm.task = DVM_SUBMIT;
    if (o->dvm.task == DVM_SERVE ||
        (o->n_programs && !o->clean && o->dvm.task != DVM_SUBMIT))
        o->engine = engine_choose(o->launcher);
    if (o->translated && o->verbose)
        complain("as %s", o->translated);
    if ((o->output & ONLY) && !(o->output & (DIR | PATTERN)))
        usage("--output only: dir or file is needed");
    dvm_check(o);
    if (o->stdin_to)
        take_stdin(o, o->stdin_to);
    if (o->forwards) {
        snprintf(o->self, sizeof(o->self), "tenon-%ld", (long)getpid());
        add_param(o, PMIX_SERVER_NSPACE, o->self, PMIX_STRING);
    }
    if (o->timeline)
        add_default(o, "PMIX_MCA_server_timeline", MAX_COLLECTIVES);
    if (o->top && o->progress)
        usage("--top contradicts --progress");
    if (o->reports && !o->timeout_s)
        usage("reports on a timeout need --timeout");
    if (o->reports)
        add_asked(o, PMIX_JOB_TIMEOUT, &o->timeout_s, PMIX_INT);
}

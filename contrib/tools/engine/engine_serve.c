/* SPDX-License-Identifier: BSD-3-Clause */
/* A server of an allocation: each job is one pmixrun with --launcher, which the server
 * starts on its own node. A spawn request becomes the command line of this pmixrun. */
#include "engine.h"

#include "../os.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

#include <pmix_server.h>

/* The server's part of the allocation. */
static struct {
    const struct engine *engine;
    char program[PATH_MAX]; /* path of pmixrun */
    char *hosts;  /* nodes of --host or --hostfile, for jobs that name none; or NULL */
    long n_nodes; /* 0: unknown */
    int n_slots;
} served;

/* ---- attributes ------------------------------------------------------------------ */

/* Attributes that the server itself serves: they are for the local pmixrun, too. */
static const char kept[] = PMIX_WDIR
    "|" PMIX_WDIR_USER_SPECIFIED "|" PMIX_PREFIX "|" PMIX_SET_ENVAR "|" PMIX_ADD_ENVAR
    "|" PMIX_UNSET_ENVAR "|" PMIX_PREPEND_ENVAR "|" PMIX_APPEND_ENVAR
    "|" PMIX_FIRST_ENVAR "|" PMIX_FWD_ENVIRONMENT "|" PMIX_FWD_STDIN "|" PMIX_FWD_STDOUT
    "|" PMIX_FWD_STDERR "|" PMIX_FWD_STDDIAG "|" PMIX_CMD_LINE "|" PMIX_SPAWN_CHILD_SEP
    "|" PMIX_NOTIFY_COMPLETION "|" PMIX_NOTIFY_JOB_EVENTS
    "|" PMIX_EVENT_SILENT_TERMINATION "|" PMIX_NOHUP "|" PMIX_ALLOC_NOT_WAITING
    "|" PMIX_JOB_TIMEOUT "|" PMIX_SPAWN_TIMEOUT "|" PMIX_TIMEOUT "|" PMIX_PERSONALITY
    "|" PMIX_PARENT_ID "|" PMIX_SPAWNED "|" PMIX_REQUESTOR_IS_TOOL
    "|" PMIX_REQUESTOR_IS_CLIENT "|" PMIX_USERID "|" PMIX_GRPID;

/* Attributes whose option differs from the one that pmixrun makes them of. */
static const struct {
    const char *key, *option;
    const char *form; /* of the argument, where %s stands for the value; NULL: none */
} forms[] = {
    {PMIX_PPR, "--map-by", "ppr:%s"},
    {PMIX_OUTPUT_TO_DIRECTORY, "--output", "dir=%s"},
    {PMIX_OUTPUT_NOCOPY, "--output", "only"},
    {PMIX_SPAWN_PTY, "--pty", NULL},
    {PMIX_PTY_WSIZE, "--pty", NULL},
    {PMIX_PTY_TERMIO, "--pty", NULL},
};

/* A request during the translation. */
struct request {
    struct tenon_spawn *out;
    struct engine_job line; /* words of the command line */
    const char *map, *hosts;
    bool has_file;   /* of hosts */
    bool is_pattern; /* the name for files of output, as that of --output */
};

static pmix_status_t refuse(struct request *r, pmix_status_t status, const char *what,
                            const char *why)
{
    snprintf(r->out->why, sizeof(r->out->why), "%s: %s", what, why);
    return status;
}

/* Finds the option for an attribute. *text: its argument, malloc'd, or NULL. */
static bool find_option(const pmix_info_t *info, bool is_pattern, const char **option,
                        char **text)
{
    const pmix_value_t *v = &info->value;
    const char *string = v->type == PMIX_STRING && v->data.string ? v->data.string : "";
    uint32_t rank;

    for (size_t i = 0; i < sizeof(forms) / sizeof(forms[0]); i++)
        if (PMIx_Check_key(info->key, forms[i].key)) {
            const char *form = forms[i].form, *star = form ? strstr(form, "%s") : NULL;

            *option = forms[i].option;
            *text = star   ? need_text("%.*s%s", (int)(star - form), form, string)
                    : form ? need_text("%s", form)
                           : NULL;
            return true;
        }
    if (PMIx_Check_key(info->key, PMIX_IOF_OUTPUT_TO_FILE)) {
        *option = "--output";
        *text = need_text("file=%s%s", string, is_pattern ? "" : ".%n.%r");
        return true;
    }
    if (!PMIx_Check_key(info->key, PMIX_STDIN_TGT))
        return options_find(info, option, text);
    if (v->type == PMIX_PROC && v->data.proc)
        rank = v->data.proc->rank;
    else if (PMIx_Value_get_number(v, &rank, PMIX_UINT32))
        return false;
    *option = "--stdin";
    *text = rank == PMIX_RANK_WILDCARD ? need_text("all") : need_text("%u", rank);
    return true;
}

/* Keeps an attribute, or translates the attribute into an option. Attributes that are
 * not required, and have no option or one that the engine refuses, have no effect. */
static pmix_status_t take_info(struct request *r, const pmix_info_t *info)
{
    const bool is_required = PMIx_Info_is_required(info);
    const char *option;
    char *text = NULL;

    if (match_names(kept, info->key, strlen(info->key)) == EQUAL)
        return PMIx_Info_xfer(&r->out->info[r->out->n_info++], info);
    if ((info->value.type == PMIX_BOOL && !info->value.data.flag) ||
        PMIx_Check_key(info->key, PMIX_IOF_FILE_PATTERN)) /* is_pattern */
        return PMIX_SUCCESS;
    if (!find_option(info, r->is_pattern, &option, &text))
        return is_required
                   ? refuse(r, PMIX_ERR_NOT_SUPPORTED,
                            PMIx_Get_attribute_name(info->key),
                            "pmixrun has no option for this attribute in an allocation")
                   : PMIX_SUCCESS;
    /* pmixrun reports the reason for a required one to the submitter. */
    if (!is_required && engine_refuses(served.engine, option, text)) {
        free(text);
        return PMIX_SUCCESS;
    }
    engine_put(&r->line, need_text("%s", option));
    if (text)
        engine_put(&r->line, text);
    r->map = strcmp(option, "--map-by") == 0 ? text : r->map;
    r->hosts = strcmp(option, "--host") == 0 ? text : r->hosts;
    r->has_file |= strcmp(option, "--hostfile") == 0;
    return PMIX_SUCCESS;
}

/* ---- programs -------------------------------------------------------------------- */

/* True for a variable of the allocation, which is the server's and not the
 * submitter's. */
static bool is_of_allocation(const char *variable)
{
    return strncmp(variable, "SLURM_", strlen("SLURM_")) == 0 ||
           strncmp(variable, "FLUX_", strlen("FLUX_")) == 0;
}

static bool has_text(char **list, const char *text)
{
    while (list && *list && strcmp(*list, text) != 0)
        list++;
    return list && *list;
}

/* Appends the options of a program after the first: its folder, and variables that
 * differ from those of the first program. */
static void put_own(struct request *r, const pmix_app_t *first, const pmix_app_t *app)
{
    for (char **at = app->env; at && *at; at++)
        if (!is_of_allocation(*at) && !has_text(first->env, *at)) {
            engine_put(&r->line, need_text("-x"));
            engine_put(&r->line, need_text("%s", *at));
        }
    if (app->cwd && (!first->cwd || strcmp(app->cwd, first->cwd) != 0)) {
        engine_put(&r->line, need_text("--wdir"));
        engine_put(&r->line, need_text("%s", app->cwd));
    }
}

static pmix_status_t put_program(struct request *r, const pmix_app_t *apps, size_t i)
{
    const pmix_app_t *app = &apps[i];
    const char *cmd = app->cmd || !app->argv ? app->cmd : app->argv[0];

    if (!cmd || !*cmd)
        return refuse(r, PMIX_ERR_JOB_NO_EXE_SPECIFIED, "cannot run a job",
                      "no program is named");
    if (strcmp(cmd, ":") == 0 || has_text(app->argv, ":"))
        return refuse(r, PMIX_ERR_NOT_SUPPORTED, cmd,
                      "pmixrun takes the argument \":\" for the end of a program");
    if (i > 0)
        engine_put(&r->line, need_text(":"));
    if (app->maxprocs > 0) {
        engine_put(&r->line, need_text("-n"));
        engine_put(&r->line, need_text("%d", app->maxprocs));
    }
    if (i > 0)
        put_own(r, apps, app);
    engine_put(&r->line, need_text("--"));
    engine_put(&r->line, need_text("%s", cmd));
    for (char **at = app->argv && *app->argv ? app->argv + 1 : NULL; at && *at; at++)
        engine_put(&r->line, need_text("%s", *at));
    return PMIX_SUCCESS;
}

/* Returns the number of processes that --map-by makes of one program; 0: none. */
static int64_t count_mapped(const struct request *r)
{
    int per = 0, end = 0;
    long n_nodes = r->has_file ? 0 : r->hosts ? 1 : served.n_nodes;

    if (r->map && strcmp(r->map, "ppr:1:core") == 0)
        return served.n_slots;
    for (const char *at = r->hosts; at && *at; at++)
        n_nodes += *at == ',';
    if (!r->map || sscanf(r->map, "ppr:%d:node%n", &per, &end) != 1 || end == 0 ||
        per < 1)
        return 0;
    return (int64_t)per * n_nodes;
}

static pmix_status_t count_slots(struct request *r, const pmix_app_t *apps, size_t n)
{
    int64_t slots = 0;

    for (size_t i = 0; i < n; i++) {
        if (apps[i].maxprocs < 0 || (apps[i].maxprocs == 0 && n > 1))
            return refuse(r, PMIX_ERR_BAD_PARAM, "cannot run a job",
                          "the number of processes is missing");
        slots += apps[i].maxprocs;
    }
    slots = slots ? slots : count_mapped(r);
    if (slots < 1 || slots > INT32_MAX)
        return refuse(r, PMIX_ERR_BAD_PARAM, "cannot run a job",
                      slots ? "too many processes"
                            : "--map-by does not determine the number of processes");
    r->out->n_slots = (uint32_t)slots;
    for (const char *at = r->map; at; at = strpbrk(at, ":,")) {
        at += strspn(at, ":,");
        r->out->may_exceed |= strncasecmp(at, "oversubscribe", 13) == 0;
    }
    return PMIX_SUCCESS;
}

/* Makes the local pmixrun, with the environment and the folder of the first program. */
static pmix_status_t make_app(struct request *r, const pmix_app_t *first)
{
    pmix_app_t *app = r->out->app;
    const bool yes = true;

    app->cmd = need_text("%s", served.program);
    app->argv = r->line.words;
    r->line.words = NULL;
    app->cwd = first->cwd ? need_text("%s", first->cwd) : NULL;
    app->maxprocs = 1;
    for (char **at = first->env; at && *at; at++)
        if (!is_of_allocation(*at) && PMIx_Argv_append_nosize(&app->env, *at))
            return PMIX_ERR_NOMEM;
    /* srun passes the environment on, and processes have servers of their own. */
    return PMIx_Info_load(&r->out->info[r->out->n_info++], PMIX_NON_PMI, &yes,
                          PMIX_BOOL);
}

static pmix_status_t translate(const pmix_info_t info[], size_t n_info,
                               const pmix_app_t apps[], size_t n_apps,
                               struct tenon_spawn *out)
{
    struct request r = {.out = out};
    const pmix_info_t *lists[] = {info, n_apps == 1 ? apps->info : NULL};
    const size_t counts[] = {n_info, n_apps == 1 ? apps->ninfo : 0};
    pmix_status_t rc = PMIX_SUCCESS;

    out->info = need(PMIx_Info_create(counts[0] + counts[1] + 1));
    out->app = need(PMIx_App_create(1));
    engine_put(&r.line, need_text("pmixrun"));
    engine_put(&r.line, need_text("--launcher"));
    engine_put(&r.line, need_text("%s", served.engine->name));
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; i < counts[l]; i++)
            r.is_pattern |= PMIx_Check_key(lists[l][i].key, PMIX_IOF_FILE_PATTERN);
    for (size_t l = 0; l < 2; l++)
        for (size_t i = 0; !rc && i < counts[l]; i++)
            rc = take_info(&r, &lists[l][i]);
    for (size_t a = 0; !rc && n_apps > 1 && a < n_apps; a++)
        for (size_t i = 0; !rc && i < apps[a].ninfo; i++)
            if (PMIx_Info_is_required(&apps[a].info[i]))
                rc = refuse(&r, PMIX_ERR_NOT_SUPPORTED,
                            PMIx_Get_attribute_name(apps[a].info[i].key),
                            "one of several programs has no attributes of its own");
    if (!rc && served.hosts && !r.hosts && !r.has_file) {
        engine_put(&r.line, need_text("--host"));
        engine_put(&r.line, need_text("%s", served.hosts));
    }
    if (!rc)
        rc = count_slots(&r, apps, n_apps);
    for (size_t i = 0; !rc && i < n_apps; i++)
        rc = put_program(&r, apps, i);
    if (!rc)
        rc = make_app(&r, apps);
    PMIx_Argv_free(r.line.words);
    return rc;
}

/* ---- the server ------------------------------------------------------------------ */

/* Returns the sum of the numbers of "4(x2),3" for the named nodes of the allocation, or
 * for all nodes; 0: unknown. */
static long count_of(const char *text, const struct engine_nodes *all,
                     const struct engine_nodes *named)
{
    long sum = 0;

    for (size_t i = 0; text && *text && i < all->n;) {
        char *end;
        const long n = strtol(text, &end, 10);
        long nodes = strncmp(end, "(x", 2) == 0 ? strtol(end + 2, &end, 10) : 1;

        for (; nodes > 0 && i < all->n; nodes--, i++)
            if (!named->n || engine_nodes_has(named, all->names[i]))
                sum += n;
        text = end + strcspn(end, ",");
        text += *text == ',';
    }
    return sum;
}

/* Returns the slots of the allocation's nodes: tasks, else CPUs. */
static long count_allocated(const struct engine_nodes *all,
                            const struct engine_nodes *named)
{
    const long tasks = count_of(secure_getenv("SLURM_TASKS_PER_NODE"), all, named);

    return tasks > 0 ? tasks
                     : count_of(secure_getenv("SLURM_JOB_CPUS_PER_NODE"), all, named);
}

int engine_serve(struct options *o, const struct engine_nodes *named)
{
    static struct tenon_spawner spawner = {.size = sizeof(spawner),
                                           .translate = translate};
    const char *list = o->engine->is_slurm ? secure_getenv("SLURM_JOB_NODELIST") : NULL;
    struct engine_nodes all = {0};
    char *path = engine_find(o->engine->program);
    long slots = o->dvm.slots;

    if (!path)
        usage("--launcher %s: %s is not in PATH", o->engine->name, o->engine->program);
    free(path);
    if (list)
        engine_nodes_expand(&all, list);
    if (list && named->n)
        engine_nodes_check(named, list);
    if (!slots)
        slots = named->has_slots ? engine_nodes_slots(named)
                                 : count_allocated(&all, named);
    if (slots < 1 || slots > DVM_MAX_SLOTS)
        usage("--slots is needed: the allocation %s",
              slots < 1 ? "does not name the tasks or CPUs of its nodes"
                        : "has too many");
    served.engine = o->engine;
    if (!os_program(served.program, sizeof(served.program)))
        fail("cannot find the program of this server");
    served.n_slots = (int)slots;
    served.n_nodes = named->n ? (long)named->n : (long)all.n;
    if (named->n) {
        served.hosts = engine_nodes_list(named, named->n);
        /* Jobs have the nodes of this server, and no others of the allocation. */
        if (list && setenv("SLURM_JOB_NODELIST", served.hosts, 1))
            need(NULL);
    }
    add_param(o, TENON_SERVER_SPAWNER, &spawner, PMIX_POINTER);
    return (int)slots;
}

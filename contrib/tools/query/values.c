/* SPDX-License-Identifier: BSD-3-Clause */
/* Values as JSON, and values, processes, statuses and signals read from words. */
#include "tool.h"

#include <ctype.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- to JSON --------------------------------------------------------------------- */

char *proc_text(const pmix_proc_t *proc)
{
    return proc->rank == PMIX_RANK_WILDCARD
               ? need_text("%s:*", proc->nspace)
               : need_text("%s:%u", proc->nspace, proc->rank);
}

static json_t *proc_json(const pmix_proc_t *proc)
{
    char *text = proc_text(proc);
    json_t *value = text_json(text);

    free(text);
    return value;
}

static json_t *row_json(const pmix_proc_info_t *row)
{
    return need(json_pack("{s:o, s:o, s:o, s:i, s:i, s:s}", "process",
                          proc_json(&row->proc), "node", text_json(row->hostname),
                          "program", text_json(row->executable_name), "pid",
                          (int)row->pid, "exit_code", row->exit_code, "state",
                          PMIx_Proc_state_string(row->state)));
}

static json_t *attribute_json(const pmix_regattr_t *a)
{
    json_t *lines = need(json_array());

    for (char **line = a->description; line && *line; line++)
        if (json_array_append_new(lines, text_json(*line)))
            need(NULL);
    return need(json_pack("{s:o, s:o, s:s, s:o}", "name", text_json(a->name), "key",
                          text_json(a->string), "type", PMIx_Data_type_string(a->type),
                          "description", lines));
}

json_t *infos_json(const pmix_info_t *infos, size_t n)
{
    json_t *object = need(json_object());

    for (size_t i = 0; i < n; i++) {
        json_t *name = text_json(PMIx_Get_attribute_name(infos[i].key));

        if (json_object_set_new(object, json_string_value(name),
                                value_json(&infos[i].value)))
            need(NULL);
        json_decref(name);
    }
    return object;
}

/* Returns one element of an array; NULL: the type has no form of its own. */
static json_t *element_json(const pmix_data_array_t *a, size_t i)
{
    switch (a->type) {
    case PMIX_STRING:
        return text_json(((char **)a->array)[i]);
    case PMIX_PROC:
        return proc_json(&((pmix_proc_t *)a->array)[i]);
    case PMIX_PROC_INFO:
        return row_json(&((pmix_proc_info_t *)a->array)[i]);
    case PMIX_REGATTR:
        return attribute_json(&((pmix_regattr_t *)a->array)[i]);
    case PMIX_VALUE:
        return value_json(&((pmix_value_t *)a->array)[i]);
    case PMIX_UINT64:
        return json_integer((json_int_t)((uint64_t *)a->array)[i]);
    case PMIX_UINT32:
        return json_integer(((uint32_t *)a->array)[i]);
    case PMIX_INT:
        return json_integer(((int *)a->array)[i]);
    case PMIX_FLOAT:
        return json_real((double)((float *)a->array)[i]);
    default:
        return NULL;
    }
}

static json_t *whole_json(const pmix_value_t *v)
{
    char *text = need(PMIx_Value_string(v));
    json_t *value = text_json(text);

    free(text);
    return value;
}

/* True if the members of an array of infos have keys that differ. */
static bool is_object(const pmix_info_t *infos, size_t n)
{
    for (size_t i = 1; i < n; i++)
        if (PMIx_Check_key(infos[i].key, infos[i - 1].key))
            return false;
    return true;
}

static json_t *array_json(const pmix_value_t *v)
{
    const pmix_data_array_t *a = v->data.darray;
    json_t *list, *element = NULL;

    if (!a)
        return json_null();
    if (a->type == PMIX_INFO && is_object(a->array, a->size))
        return infos_json(a->array, a->size);
    list = need(json_array());
    for (size_t i = 0; i < a->size; i++) {
        element = a->type == PMIX_INFO ? infos_json((pmix_info_t *)a->array + i, 1)
                                       : element_json(a, i);
        if (!element) {
            json_decref(list);
            return whole_json(v);
        }
        if (json_array_append_new(list, element))
            need(NULL);
    }
    return list;
}

json_t *value_json(const pmix_value_t *v)
{
    int64_t n;

    switch (v->type) {
    case PMIX_UNDEF:
        return json_null();
    case PMIX_BOOL:
        return json_boolean(v->data.flag);
    case PMIX_STRING:
        return text_json(v->data.string);
    case PMIX_FLOAT:
        return need(json_real((double)v->data.fval));
    case PMIX_DOUBLE:
        return need(json_real(v->data.dval));
    case PMIX_TIMEVAL:
        return need(
            json_real((double)v->data.tv.tv_sec + (double)v->data.tv.tv_usec / 1e6));
    case PMIX_STATUS:
        return text_json(PMIx_Error_string(v->data.status));
    case PMIX_PROC_STATE:
        return text_json(PMIx_Proc_state_string(v->data.state));
    case PMIX_PROC:
        return v->data.proc ? proc_json(v->data.proc) : json_null();
    case PMIX_DATA_ARRAY:
        return array_json(v);
    case PMIX_PROC_RANK:
        return need(json_integer(v->data.rank));
    case PMIX_PID:
        return need(json_integer(v->data.pid));
    default:
        return PMIx_Value_get_number(v, &n, PMIX_INT64) == PMIX_SUCCESS
                   ? need(json_integer(n))
                   : whole_json(v);
    }
}

/* ---- processes ------------------------------------------------------------------- */

/* Reads a number of digits; false if there are none or too many. */
static bool read_rank(const char **at, pmix_rank_t *rank)
{
    char *end;

    if (!isdigit((unsigned char)**at))
        return false;
    const unsigned long n = strtoul(*at, &end, 10);
    *at = end;
    *rank = (pmix_rank_t)n;
    return n < PMIX_RANK_VALID;
}

static void proc_add(pmix_proc_t **procs, size_t *n, const char *nspace,
                     pmix_rank_t rank)
{
    *procs = grow(*procs, *n + 1, sizeof(**procs));
    PMIx_Load_procid(&(*procs)[(*n)++], nspace, rank);
}

void procs_add(const char *text, pmix_proc_t **procs, size_t *n)
{
    const char *colon = strrchr(text, ':'), *at = colon ? colon + 1 : "*";
    char *nspace = need_text("%.*s", (int)(colon ? colon - text : (long)strlen(text)),
                             text);
    pmix_rank_t first = 0, last = 0;
    bool good = *nspace && strlen(nspace) <= PMIX_MAX_NSLEN;

    if (good && strcmp(at, "*") == 0) {
        proc_add(procs, n, nspace, PMIX_RANK_WILDCARD);
        free(nspace);
        return;
    }
    good = good && read_rank(&at, &first);
    last = first;
    if (good && *at == '-') {
        at++;
        good = read_rank(&at, &last) && last >= first && last - first < 1 << 20;
    }
    if (!good || *at)
        usage("\"%s\": a process is NAMESPACE, NAMESPACE:RANK, NAMESPACE:FIRST-LAST or "
              "NAMESPACE:*",
              text);
    for (pmix_rank_t r = first; r <= last; r++)
        proc_add(procs, n, nspace, r);
    free(nspace);
}

/* ---- attributes ------------------------------------------------------------------ */

static const struct {
    const char *name;
    pmix_data_type_t type;
    uint64_t most; /* of a number without a sign */
} types[] = {
    {"string", PMIX_STRING, 0},
    {"bool", PMIX_BOOL, 0},
    {"int", PMIX_INT, INT32_MAX},
    {"uint32", PMIX_UINT32, UINT32_MAX},
    {"uint64", PMIX_UINT64, INT64_MAX},
    {"size", PMIX_SIZE, INT64_MAX},
    {"rank", PMIX_PROC_RANK, UINT32_MAX},
    {"status", PMIX_STATUS, 0},
    {"proc", PMIX_PROC, 0},
    {"float", PMIX_FLOAT, 0},
};

/* Returns the type of an attribute that is not a string as a rule. */
static pmix_data_type_t usual_type(const char *key, const char *value)
{
    static const struct {
        const char *key;
        pmix_data_type_t type;
    } known[] = {{PMIX_RANK, PMIX_PROC_RANK},    {PMIX_PROCID, PMIX_PROC},
                 {PMIX_NODEID, PMIX_UINT32},     {PMIX_APPNUM, PMIX_UINT32},
                 {PMIX_SESSION_ID, PMIX_UINT32}, {PMIX_TIMEOUT, PMIX_INT}};

    for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
        if (PMIx_Check_key(known[i].key, key))
            return known[i].type;
    return strcmp(value, "true") == 0 || strcmp(value, "false") == 0 ? PMIX_BOOL
                                                                     : PMIX_STRING;
}

/* Adds a number, unless the value is not a number up to most. */
static bool number_add(struct infos *infos, const char *key, const char *value,
                       pmix_data_type_t type, uint64_t most)
{
    char *end;
    const uint64_t n = strtoull(value, &end, 10);
    const uint32_t narrow = (uint32_t)n;

    if (!isdigit((unsigned char)*value) || *end || n > most)
        return false;
    infos_add(infos, key,
              type == PMIX_UINT64 || type == PMIX_SIZE ? (const void *)&n : &narrow,
              type);
    return true;
}

/* Adds a value; false if the text does not fit the type. */
static bool typed_add(struct infos *infos, const char *key, const char *value,
                      pmix_data_type_t type)
{
    const bool yes = strcmp(value, "true") == 0 || strcmp(value, "1") == 0;
    pmix_proc_t *procs = NULL;
    size_t n = 0;
    float real;
    char *end;

    switch (type) {
    case PMIX_STRING:
        infos_add(infos, key, value, type);
        return true;
    case PMIX_BOOL:
        infos_add(infos, key, &yes, type);
        return yes || strcmp(value, "false") == 0 || strcmp(value, "0") == 0;
    case PMIX_STATUS:
        infos_add(infos, key, &(const pmix_status_t){status_read(value)}, type);
        return true;
    case PMIX_PROC:
        procs_add(value, &procs, &n);
        infos_add(infos, key, procs, type);
        free(procs);
        return n == 1;
    case PMIX_FLOAT:
        real = strtof(value, &end);
        infos_add(infos, key, &real, type);
        return *value && !*end;
    default:
        for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++)
            if (types[i].type == type)
                return number_add(infos, key, value, type, types[i].most);
        return false;
    }
}

void infos_read(const char *text, struct infos *infos)
{
    const char *equal = strchr(text, '=');
    const size_t len = equal ? (size_t)(equal - text) : 0;
    char *name = need_text("%.*s", (int)len, text), *colon = strchr(name, ':');
    pmix_data_type_t type = PMIX_UNDEF;

    if (!equal || !len)
        usage("\"%s\": NAME=VALUE or NAME:TYPE=VALUE is needed", text);
    for (size_t i = 0; colon && i < sizeof(types) / sizeof(types[0]); i++)
        if (strcmp(colon + 1, types[i].name) == 0)
            type = types[i].type;
    if (colon && type == PMIX_UNDEF)
        usage("\"%s\": unknown type \"%s\"", text, colon + 1);
    if (colon)
        *colon = '\0';
    const char *key = PMIx_Get_attribute_string(name);
    if (strlen(key) > PMIX_MAX_KEYLEN)
        usage("\"%s\": the name is too long", text);
    if (!colon)
        type = usual_type(key, equal + 1);
    if (!typed_add(infos, key, equal + 1, type))
        usage("\"%s\": the value is not of type %s", text, PMIx_Data_type_string(type));
    free(name);
}

/* ---- statuses and signals -------------------------------------------------------- */

pmix_status_t status_read(const char *text)
{
    char *end;
    const long n = strtol(text, &end, 10);

    if (*text && !*end && n >= INT32_MIN && n <= INT32_MAX)
        return (pmix_status_t)n;
    const pmix_status_t status = PMIx_Error_code(text);
    if (status == INT32_MIN)
        usage("\"%s\" is neither the name of a status nor a number", text);
    return status;
}

int signal_read(const char *text)
{
    static const struct {
        const char *name;
        int signum;
    } signals[] = {
        {"HUP", SIGHUP},   {"INT", SIGINT},    {"QUIT", SIGQUIT}, {"ILL", SIGILL},
        {"TRAP", SIGTRAP}, {"ABRT", SIGABRT},  {"BUS", SIGBUS},   {"FPE", SIGFPE},
        {"KILL", SIGKILL}, {"USR1", SIGUSR1},  {"SEGV", SIGSEGV}, {"USR2", SIGUSR2},
        {"PIPE", SIGPIPE}, {"ALRM", SIGALRM},  {"TERM", SIGTERM}, {"CHLD", SIGCHLD},
        {"CONT", SIGCONT}, {"STOP", SIGSTOP},  {"TSTP", SIGTSTP}, {"TTIN", SIGTTIN},
        {"TTOU", SIGTTOU}, {"WINCH", SIGWINCH}};
    const char *name = strncasecmp(text, "SIG", 3) == 0 ? text + 3 : text;
    char *end;
    const long n = strtol(text, &end, 10);

    if (*text && !*end && n > 0 && n < NSIG)
        return (int)n;
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++)
        if (strcasecmp(signals[i].name, name) == 0)
            return signals[i].signum;
    usage("\"%s\" is not a signal", text);
}

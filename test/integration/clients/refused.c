/* SPDX-License-Identifier: BSD-3-Clause */
/* refused LOG: table of spawns that fail, each with the status of the call and the one line of its
 * launcher in the file LOG. Some rows look wrong and succeed. Root skips the rows of operations that root
 * may do. */
#include "client.h"

#include <fnmatch.h>
#include <limits.h>
#include <sys/resource.h>

#define TRUE "/bin/true"

enum { ZERO = INT_MIN, BIG = 200000 };

/* Spawns and their results. "@" stands for this program's folder, which is also the working directory.
 * The folder has these files: "plain", a script that is not executable; "noise", which is not a program;
 * "orphan", a script without its interpreter; "loop", a link to itself. The folder "closed", with a
 * program and a file "hosts", denies access. */
static const struct row {
    const char *cmd, *argv[3], *env, *cwd;
    const char *key, *value; /* key and value of an info */
    int n;                   /* 0: one; ZERO: none */
    int limit;               /* resource that the launcher has none of */
    bool user;               /* fails only for users other than root */
    pmix_status_t status;
    const char *line; /* line of the log, or NULL */
} rows[] = {
    /* the program */
    {"/no/such", .status = PMIX_ERR_JOB_EXE_NOT_FOUND,
     .line = "cannot run /no/such: No such file or directory"},
    {"./missing", .status = PMIX_ERR_JOB_EXE_NOT_FOUND,
     .line = "cannot run @/./missing: No such file or directory"},
    {"plain/x", .status = PMIX_ERR_JOB_EXE_NOT_FOUND,
     .line = "cannot run @/plain/x: Not a directory"},
    {"no-such", .env = "PATH=/bin:.", .status = PMIX_ERR_JOB_EXE_NOT_FOUND,
     .line = "cannot run no-such: not found in /bin:."},
    {"orphan", .env = "PATH=.", .status = PMIX_ERR_JOB_EXE_NOT_FOUND,
     .line =
         "cannot run @/./orphan: its interpreter /no/such/interpreter does not exist"},
    {"./plain", .status = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
     .line = "cannot run @/./plain: it is not executable"},
    {"plain", .env = "PATH=/no/such:@", .status = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
     .line = "cannot run @/plain: it is not executable"},
    {"/bin", .status = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
     .line = "cannot run /bin: it is a directory"},
    {"/dev/null", .status = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
     .line = "cannot run /dev/null: it is not a regular file"},
    {"closed/true", .user = true, .status = PMIX_ERR_JOB_APP_NOT_EXECUTABLE,
     .line = "cannot run @/closed/true: Permission denied"},
    {"./noise", .status = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
     .line = "cannot run @/./noise: Exec format error"},
    {"./loop", .status = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
     .line = "cannot run @/./loop: Too many levels of symbolic links"},
    /* the directory */
    {TRUE, .cwd = "/no/such", .status = PMIX_ERR_JOB_WDIR_NOT_FOUND,
     .line = "cannot enter directory /no/such: No such file or directory"},
    {TRUE, .cwd = "@/plain", .status = PMIX_ERR_JOB_WDIR_NOT_FOUND,
     .line = "cannot enter directory @/plain: Not a directory"},
    {TRUE, .cwd = "@/closed", .user = true, .status = PMIX_ERR_JOB_WDIR_NOT_FOUND,
     .line = "cannot enter directory @/closed: Permission denied"},
    {TRUE, .key = PMIX_WDIR, .value = "/no/such", .status = PMIX_ERR_JOB_WDIR_NOT_FOUND,
     .line = "cannot enter directory /no/such: No such file or directory"},
    /* the host */
    {TRUE, .key = PMIX_HOSTFILE, .value = "/no/such",
     .status = PMIX_ERR_JOB_ALLOC_FAILED,
     .line = "cannot spawn: host file /no/such: No such file or directory"},
    {TRUE, .key = PMIX_HOSTFILE, .value = "@/closed/hosts", .user = true,
     .status = PMIX_ERR_JOB_ALLOC_FAILED,
     .line = "cannot spawn: host file @/closed/hosts: Permission denied"},
    {TRUE, .key = PMIX_HOSTFILE, .value = "/bin", .status = PMIX_ERR_JOB_ALLOC_FAILED,
     .line = "cannot spawn: host file /bin: Is a directory"},
    {TRUE, .key = PMIX_HOST, .value = "no.such,localhost",
     .status = PMIX_ERR_JOB_ALLOC_FAILED,
     .line =
         "cannot spawn: host no.such is not this node, *; a resource manager is needed to "
         "run on others"},
    /* the number of processes */
    {TRUE, .n = ZERO, .status = PMIX_ERR_BAD_PARAM,
     .line = "cannot run " TRUE ": 0 processes asked for"},
    {TRUE, .n = -7, .status = PMIX_ERR_BAD_PARAM,
     .line = "cannot run " TRUE ": -7 processes asked for"},
    {TRUE, .n = INT_MAX, .status = PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
     .line = "cannot run " TRUE ": more than 16384 processes"},
    {TRUE, .user = true, .limit = RLIMIT_NPROC,
     .status = PMIX_ERR_JOB_INSUFFICIENT_RESOURCES,
     .line = "cannot run " TRUE ": cannot fork: Resource temporarily unavailable"},
    /* arguments */
    {"", .status = PMIX_ERR_JOB_NO_EXE_SPECIFIED,
     .line = "cannot spawn: no program is named"},
    {.argv = {""},
     .status = PMIX_ERR_JOB_NO_EXE_SPECIFIED,
     .line = "cannot spawn: no program is named"},
    {TRUE,
     {"true", "#"},
     .status = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
     .line = "cannot run " TRUE ": Argument list too long"},
    {TRUE, .env = "BIG=#", .status = PMIX_ERR_JOB_FAILED_TO_LAUNCH,
     .line = "cannot run " TRUE ": Argument list too long"},
    {TRUE, .env = "novalue", .status = PMIX_ERR_BAD_PARAM,
     .line = "cannot spawn: \"novalue\" is not an environment variable"},
    {TRUE, .env = "=1", .status = PMIX_ERR_BAD_PARAM,
     .line = "cannot spawn: \"=1\" is not an environment variable"},
    {TRUE, .env = "", .status = PMIX_ERR_BAD_PARAM,
     .line = "cannot spawn: \"\" is not an environment variable"},
    /* successful spawns */
    {TRUE, .n = 1},
    {.argv = {TRUE}, .n = 1},
    {TRUE, {"whatever", "it", "reads"}, .n = 1},
    {.argv = {"/bin/sh", "-c", "test \"$0$A\" = /bin/sh1=2"}, .env = "A=1=2", .n = 1},
};

static char folder[4096];
static FILE *log_file;

static void make(const char *name, const char *text, mode_t mode)
{
    int fd = open(name, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, mode);

    CHECK(fd >= 0 && write(fd, text, strlen(text)) == (ssize_t)strlen(text));
    close(fd);
}

static void make_folder(void)
{
    static const char script[] = "#!/bin/sh\n";
    const char *top = getenv("TMPDIR");

    snprintf(folder, sizeof(folder), "%s/refused", top ? top : "/tmp");
    CHECK(mkdir(folder, 0700) == 0 && chdir(folder) == 0);
    make("plain", script, 0600);
    make("noise", "\1\2", 0700);
    make("orphan", "#!/no/such/interpreter\n", 0700);
    CHECK(symlink("loop", "loop") == 0 && mkdir("closed", 0700) == 0);
    make("closed/true", script, 0700);
    make("closed/hosts", "localhost\n", 0600);
    CHECK(chmod("closed", 0) == 0);
}

static void remove_folder(void)
{
    CHECK(chmod("closed", 0700) == 0);
    CHECK(system("exec rm -r \"$PWD\"") == 0);
}

/* Returns a text, malloc'd, with "@" replaced by the folder and "#" by a long text. */
static char *full(const char *text)
{
    char *out = text ? calloc(1, sizeof(folder) + BIG) : NULL;

    for (char *end = out; text && *text; text++, end += strlen(end)) {
        if (*text == '@')
            strcpy(end, folder);
        else
            memset(end, *text, *text == '#' ? BIG : 1);
    }
    return out;
}

/* Allows the launcher none of the row's resource, or removes the limit. */
static void limit_launcher(const struct row *row, bool on)
{
    static struct rlimit was;
    struct rlimit now = {0};

    if (!row->limit)
        return;
    if (!on) {
        CHECK(prlimit(getppid(), row->limit, &was, NULL) == 0);
        return;
    }
    CHECK(prlimit(getppid(), row->limit, NULL, &was) == 0);
    now.rlim_max = was.rlim_max;
    CHECK(prlimit(getppid(), row->limit, &now, NULL) == 0);
}

/* Reads the new line of the log, at most one; returns its text without prefix, or NULL. */
static const char *read_line(void)
{
    static char line[2 * BIG], more[2 * BIG];
    char *text = NULL;

    clearerr(log_file);
    if (fgets(line, sizeof(line), log_file)) {
        CHECK(!fgets(more, sizeof(more), log_file));
        line[strcspn(line, "\n")] = '\0';
        text = strstr(line, "] spawn: ");
        CHECK(text);
    }
    return text ? text + strlen("] spawn: ") : NULL;
}

static int n_wrong;

static void on_spawned(pmix_status_t status, pmix_nspace_t job, void *arg)
{
    on_done(status, arg);
}

static pmix_status_t spawn(const pmix_info_t *info, const pmix_app_t *app, bool later)
{
    pmix_nspace_t job = "";

    if (!later)
        return PMIx_Spawn(info, info ? 1 : 0, app, 1, job);
    return result(PMIx_Spawn_nb(info, info ? 1 : 0, app, 1, on_spawned, NULL));
}

static void try(const struct row *row, bool later)
{
    pmix_info_t info;
    pmix_app_t app;
    char *value = full(row->value), *line = full(row->line);

    PMIX_APP_CONSTRUCT(&app);
    app.cmd = row->cmd ? strdup(row->cmd) : NULL;
    app.cwd = full(row->cwd ? row->cwd : "@");
    app.maxprocs = row->n == ZERO ? 0 : row->n ? row->n : 1;
    if (row->argv[0])
        app.argv = calloc(4, sizeof(*app.argv));
    for (int i = 0; i < 3 && row->argv[i]; i++)
        app.argv[i] = full(row->argv[i]);
    app.env = calloc(2, sizeof(*app.env));
    app.env[0] = full(row->env);
    if (row->key)
        PMIX_INFO_LOAD(&info, row->key, value, PMIX_STRING);
    limit_launcher(row, true);
    pmix_status_t rc = spawn(row->key ? &info : NULL, &app, later);
    limit_launcher(row, false);
    const char *got = read_line();
    if (rc != row->status || !got != !line || (line && fnmatch(line, got, 0) != 0)) {
        printf("row %td: %s, '%.300s', expected %s, '%s'\n", row - rows,
               PMIx_Error_string(rc), got ? got : "", PMIx_Error_string(row->status),
               line ? line : "");
        n_wrong++;
    }
    if (row->key)
        PMIX_INFO_DESTRUCT(&info);
    PMIX_APP_DESTRUCT(&app);
    free(value);
    free(line);
}

/* True if the row applies to this user and library. Release 4.2.2 needs cmd. */
static bool applies(const struct row *row)
{
    return (!row->user || geteuid() > 0) && (row->cmd || strict());
}

JOINS(refused)
{
    pmix_nspace_t job;

    CHECK(argc >= 2 && (log_file = fopen(argv[1], "r")) &&
          fseek(log_file, 0, SEEK_END) == 0);
    EXPECT(PMIx_Spawn(NULL, 0, NULL, 0, job), PMIX_ERR_BAD_PARAM);
    make_folder();
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        for (int later = 0; later < 2 && applies(&rows[i]); later++)
            try(&rows[i], later);
    remove_folder();
    CHECK(n_wrong == 0);
}

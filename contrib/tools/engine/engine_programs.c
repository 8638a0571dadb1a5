/* SPDX-License-Identifier: BSD-3-Clause */
/* The programs of a job: one on the command line, several in a step configuration
 * file. */
#include "engine.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Characters that have no meaning for Slurm outside of quotes. */
static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                            "0123456789_@+=:,./-";

/* Writes an argument. In single quotes each character means itself. */
static void write_argument(const struct engine_job *job, FILE *f, const char *text)
{
    if (strchr(text, '\n'))
        usage("argument \"%s\" of one of several programs cannot be given to %s", text,
              job->engine->program);
    if (*text && text[strspn(text, plain)] == '\0') {
        fprintf(f, " %s", text);
        return;
    }
    fputs(" '", f);
    for (; *text; text++)
        fputs(*text == '\'' ? "'\\''" : (char[]){*text, '\0'}, f);
    fputc('\'', f);
}

/* Writes env(1) before a program with a folder or variables of its own. n_shared:
 * number of variables that all programs have. */
static void write_env(const struct engine_job *job, FILE *f, const struct program *p,
                      size_t n_shared)
{
    char *env, *folder;

    if (!p->dir && !(p->env && p->env[n_shared]))
        return;
    env = engine_find("env");
    if (!env)
        fail("cannot run env: it is not in PATH");
    write_argument(job, f, env);
    free(env);
    if (p->dir) {
        folder = need_text("--chdir=%s", p->dir);
        write_argument(job, f, folder);
        free(folder);
    }
    for (char **at = p->env + n_shared; p->env && *at; at++)
        write_argument(job, f, *at);
}

static size_t count(char **v)
{
    size_t n = 0;

    while (v && v[n])
        n++;
    return n;
}

/* Writes the lines "RANKS PROGRAM ARGUMENTS". */
static void write_programs(const struct engine_job *job, FILE *f)
{
    const struct options *o = job->options;
    int first = 0;

    for (size_t i = 0; i < o->n_programs; i++) {
        const struct program *p = &o->programs[i];

        if (!p->n)
            usage("several programs with --map-by ppr need -n");
        fprintf(f, "%d-%d", first, first + p->n - 1);
        write_env(job, f, p, count(o->env));
        for (char **at = p->argv; *at; at++)
            write_argument(job, f, *at);
        fputc('\n', f);
        first += p->n;
    }
}

void engine_put_programs(struct engine_job *job)
{
    const struct options *o = job->options;
    const int fd = o->n_programs > 1 ? os_memory_file("programs") : -1;
    FILE *f;

    if (o->n_programs == 1) {
        if (o->programs->argv[0][0] == '-')
            engine_put(job, need_text("--"));
        for (char **at = o->programs->argv; *at; at++)
            engine_put(job, need_text("%s", *at));
        return;
    }
    if (!job->engine->is_slurm)
        usage("several programs cannot be given to %s", job->engine->program);
    f = fd < 0 ? NULL : fdopen(fd, "w");
    if (f)
        write_programs(job, f);
    if (!f || fflush(f) || ferror(f))
        fail("cannot write the list of programs: %s", strerror(errno));
    engine_put(job, need_text("--multi-prog")); /* the file stays open for srun */
    engine_put(job, os_path_of_fd(fd));
}

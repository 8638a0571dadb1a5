/* SPDX-License-Identifier: BSD-3-Clause */
#include "scenario.h"

static struct scenario *first, **last = &first;
static const char *client_path;

void list_scenario(struct scenario *scenario)
{
    *last = scenario;
    last = &scenario->next;
}

char **client(const char *words)
{
    static char text[2][16384], *args[2][64];
    static unsigned turn;
    const char *dir = getenv("CLEANUP_DIR");
    char *at = text[++turn % 2], **argv = args[turn % 2];
    size_t n = 1;

    argv[0] = (char *)client_path;
    for (const char *w = words; *w; w++)
        at += *w == '@' ? sprintf(at, "%s/", dir) : sprintf(at, "%c", *w);
    at = text[turn % 2];
    if (*at == '!') {
        argv[0] = (char *)"/bin/sh";
        argv[n++] = (char *)"-c";
        argv[n++] = at + 1;
        argv[n++] = (char *)client_path;
    } else {
        for (char *w; (w = strsep(&at, " ")); argv[n++] = w)
            HOST_CHECK(n < 62);
    }
    argv[n] = NULL;
    return argv;
}

void open_server(enum host_answers how, const pmix_server_module_t *module)
{
    static pmix_server_module_t kept;

    kept = module ? *module : host_module;
    host_reset_counts();
    host_answers(how);
    HOST_GOOD(host_init(&kept));
}

void close_server(void)
{
    host_stop_answering();
    HOST_GOOD(PMIx_server_finalize());
}

void start_job(struct host_job *job, const char *nspace, int n, const char *words)
{
    host_register_job(job, nspace, n);
    host_start_all(job, client(words));
}

void end_job(struct host_job *job, int status)
{
    HOST_CHECK(host_wait(job, 60) == status);
    host_deregister_nspace(job->nspace);
}

void run_job(const char *nspace, int n, const char *words)
{
    HOST_CHECK(host_run(nspace, n, client(words)) == 0);
}

int main(int argc, char **argv)
{
    bool cleanup = argc > 1 && strcmp(argv[1], "cleanup") == 0;

    for (struct scenario *s = first; s; s = s->next) {
        if (argc == 2 && !(s->how & CLEANUP) == !cleanup)
            printf("%s%s\n", s->name, s->how & FOREIGN ? " *" : "");
        if (argc != 3 || strcmp(s->name, argv[1]) != 0)
            continue;
        alarm(90);
        client_path = argv[2];
        if (s->how & SERVED)
            open_server(HOST_LATER, NULL);
        s->play();
        if (s->how & SERVED)
            close_server();
        printf("OK %s\n", s->name);
        return 0;
    }
    return argc == 2 ? 0 : 2;
}

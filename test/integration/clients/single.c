/* SPDX-License-Identifier: BSD-3-Clause */
/* single SCENE: a process that was not launched, and gets a host when it needs one. Of "single offspring"
 * it makes a job. Scenes that wait end with the line "READY" and a byte of input. */
#include "client.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

static atomic_int n_ended, n_children;

HANDLER(on_job_end)
{
    n_ended = 1;
    HANDLED();
}

static void on_child(int signum)
{
    n_children++;
}

static pmix_info_t named(const char *key, uint32_t n)
{
    pmix_info_t info;

    PMIX_INFO_LOAD(&info, key, &n, PMIX_UINT32);
    return info;
}

/* Publishes a number that stays when its publisher has ended. */
static pmix_status_t publish(const char *key, uint32_t n)
{
    pmix_persistence_t stays = PMIX_PERSIST_SESSION;
    pmix_info_t info[2] = {named(key, n)};

    PMIX_INFO_LOAD(&info[1], PMIX_PERSISTENCE, &stays, PMIX_PERSIST);
    return PMIx_Publish(info, 2);
}

static pmix_status_t look_up(const char *key, uint32_t *n)
{
    pmix_pdata_t data;

    PMIX_PDATA_CONSTRUCT(&data);
    PMIX_LOAD_KEY(data.key, key);
    pmix_status_t rc = PMIx_Lookup(&data, 1, NULL, 0);
    if (!rc) {
        CHECK(data.value.type == PMIX_UINT32);
        *n = data.value.data.uint32;
    }
    PMIX_PDATA_DESTRUCT(&data);
    return rc;
}

static pmix_status_t spawn(const char *scene, int n, pmix_nspace_t job)
{
    const char *library = getenv("CHILD_LIBRARY"), *program = getenv("CHILD_PROGRAM");
    pmix_app_t app = app_of(program, n, (const char *[]){"client", scene, NULL});
    pmix_info_t info[] = {info_bool(PMIX_NOTIFY_COMPLETION),
                          info_bool(PMIX_FWD_STDOUT)};
    pmix_status_t rc = PMIX_SUCCESS;

    if (library)
        PMIX_SETENV(rc, "LD_LIBRARY_PATH", library, &app.env);
    GOOD(rc);
    rc = PMIx_Spawn(info, 2, &app, 1, job);
    PMIX_APP_DESTRUCT(&app);
    return rc;
}

static void wait_for_input(void)
{
    char byte;

    printf("READY\n");
    CHECK(read(STDIN_FILENO, &byte, 1) >= 0);
}

/* ---- scenes ------------------------------------------------------------------------ */

JOINS(offspring)
{
    pmix_proc_t parent;
    uint32_t n = 0;

    VALUE_OF(&me, PMIX_PARENT_ID, PMIX_PROC, (parent = *v->data.proc).rank == 0);
    VALUE_OF(&parent, "early", PMIX_UINT32, v->data.uint32 == 41);
    GOOD(look_up("from.parent", &n));
    CHECK(n == 42);
    if (me.rank == 0)
        GOOD(publish("from.child", 43));
    printf("OFFSPRING %u\n", me.rank);
}

JOINS(stays)
{
    printf("STAYS\n");
    fflush(stdout);
    signal(SIGTERM, SIG_DFL);
    sleep(ALARM_S);
}

/* The event handler and the value are older than the host. */
static void parent(void)
{
    pmix_status_t code = PMIX_EVENT_JOB_END;
    pmix_nspace_t job;
    uint32_t n = 0;

    signal(SIGCHLD, on_child);
    watch(&code, 1, NULL, 0, on_job_end);
    put_u32(PMIX_GLOBAL, "early", 41);
    GOOD(PMIx_Commit());
    GOOD(publish("from.parent", 42));
    GOOD(spawn("offspring", 2, job));
    CHECK(wait_for(&n_ended, 20));
    GOOD(look_up("from.child", &n));
    CHECK(n == 43);
    EXPECT(look_up("from.none", &n), PMIX_ERR_NOT_FOUND);
    CHECK(waitpid(-1, NULL, 0) == -1 && errno == ECHILD);
    CHECK(n_children == 0);
    EXPECT(PMIx_Init(NULL, NULL, 0), PMIX_SUCCESS); /* connected now */
    GOOD(PMIx_Finalize(NULL, 0));
}

static void *publish_one(void *key)
{
    GOOD(publish(key, 7));
    return NULL;
}

static void threads(void)
{
    static char keys[8][16];
    pthread_t threads[8];
    uint32_t n = 0;

    for (int i = 0; i < 8; i++) {
        snprintf(keys[i], sizeof(keys[i]), "key.%d", i);
        CHECK(!pthread_create(&threads[i], NULL, publish_one, keys[i]));
    }
    for (int i = 0; i < 8; i++) {
        CHECK(!pthread_join(threads[i], NULL));
        GOOD(look_up(keys[i], &n));
    }
    wait_for_input();
}

static void job(void)
{
    pmix_nspace_t job;

    GOOD(spawn("stays", 1, job));
    wait_for_input();
}

/* A forked child keeps copies of this process's descriptors. */
static void forks(void)
{
    pmix_nspace_t name;

    GOOD(spawn("stays", 1, name));
    if (fork() == 0) {
        sleep(ALARM_S);
        _exit(0);
    }
    wait_for_input();
}

/* A call without waiting, which PMIx_Finalize does not lose. */
static void later(void)
{
    static pmix_info_t info;
    pmix_info_t text;

    info = named("later", 1);
    PMIX_INFO_LOAD(&text, PMIX_LOG_STDERR, "logged by the host\n", PMIX_STRING);
    GOOD(result(PMIx_Log_nb(&text, 1, NULL, 0, on_done, NULL)));
    GOOD(PMIx_Publish_nb(&info, 1, on_done, NULL));
    PMIX_INFO_DESTRUCT(&text);
}

/* Every call that would start a host. */
static void refused(void)
{
    pmix_info_t info = named("key", 1), text;
    char key[] = "key", *keys[] = {key, NULL};
    pmix_nspace_t job;
    uint32_t n;

    PMIX_INFO_LOAD(&text, PMIX_LOG_STDERR, "a line", PMIX_STRING);
    for (int i = 0; i < 2; i++) {
        EXPECT(spawn("offspring", 1, job), PMIX_ERR_UNREACH);
        EXPECT(publish("key", 1), PMIX_ERR_UNREACH);
        EXPECT(look_up("key", &n), PMIX_ERR_UNREACH);
        EXPECT(PMIx_Unpublish(keys, NULL, 0), PMIX_ERR_UNREACH);
        EXPECT(PMIx_Log(&text, 1, NULL, 0), PMIX_ERR_UNREACH);
        EXPECT(result(PMIx_Publish_nb(&info, 1, on_done, NULL)), PMIX_ERR_UNREACH);
    }
    PMIX_INFO_DESTRUCT(&text);
    EXPECT(PMIx_Init(NULL, NULL, 0), PMIX_ERR_UNREACH);
    GOOD(PMIx_Finalize(NULL, 0));
}

/* Calls that need no server, and calls that return an error without one, start no host. */
static void alone(void)
{
    pmix_info_t kill = info_bool(PMIX_JOB_CTRL_KILL), *results = NULL;
    pmix_proc_t other;
    size_t n = 0;

    PMIX_LOAD_PROCID(&other, "other", 0);
    put_u32(PMIX_GLOBAL, "key", 1);
    GOOD(PMIx_Commit());
    barrier();
    U32_IS(0, "key", 1);
    EXPECT(PMIx_Connect(&other, 1, NULL, 0), PMIX_ERR_NOT_FOUND);
    EXPECT(PMIx_Job_control(&other, 1, &kill, 1, &results, &n), PMIX_ERR_UNREACH);
    wait_for_input();
}

JOINS(single)
{
    static const struct {
        const char *name;
        void (*run)(void);
    } scenes[] = {{"parent", parent}, {"threads", threads}, {"job", job},
                  {"forks", forks},   {"later", later},     {"refused", refused},
                  {"alone", alone}};
    size_t i = 0;

    while (i < sizeof(scenes) / sizeof(scenes[0]) && strcmp(argv[1], scenes[i].name))
        i++;
    CHECK(i < sizeof(scenes) / sizeof(scenes[0]));
    scenes[i].run();
}

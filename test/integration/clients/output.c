/* SPDX-License-Identifier: BSD-3-Clause */
/* Output with a known source of each byte. Each line is a record, and the last record of a stream lacks a
 * newline. A checker (output.py) finds the records of each stream in mixed output, and finds every torn
 * record. */
#include "client.h"

#include <sched.h>
#include <signal.h>

static uint64_t state = 1; /* state of the random generator (xorshift) */

/* Returns a random number below the limit. */
static uint32_t any(uint32_t below)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return (uint32_t)(state >> 33) % below;
}

static uint32_t checksum(const char *text, size_t n)
{
    uint32_t sum = 2166136261u; /* FNV-1a */

    for (size_t i = 0; i < n; i++)
        sum = (sum ^ (uint8_t)text[i]) * 16777619u;
    return sum;
}

/* Writes bytes in random parts, so that a line comes in fragments. */
static void put(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        size_t part = any(4) ? n : 1 + any((uint32_t)n);
        ssize_t put = write(fd, bytes, part);

        CHECK(put > 0);
        bytes += put;
        n -= (size_t)put;
        if (n > 0 && any(2))
            sched_yield();
    }
}

/* Writes "<RANK CHANNEL NUMBER TEXT SUM>"; the text of a stream's last record is "end". */
static void put_record(int rank, int fd, unsigned number, bool last)
{
    static char line[8192 + 64];
    size_t n_text = last ? 0 : any(8) ? any(160) : any(8192);
    int n = snprintf(line, sizeof(line), "<%d %d %u %s", rank, fd, number,
                     last ? "end" : "");

    for (size_t i = 0; i < n_text; i++)
        line[n++] = (char)('!' + any(26)); /* neither '<' nor '>' */
    n += snprintf(line + n, sizeof(line) - (size_t)n, " %08x>%s",
                  checksum(line + 1, (size_t)n - 1), last ? "" : "\n");
    put(fd, line, (size_t)n);
}

/* writer SEED LINES END: writes up to LINES records to each of stdout and stderr, in random order, and
 * may close a stream after its last record. END is exit, _exit, abort or a signal. */
ALONE(writer)
{
    const char *rank = getenv("PMIX_RANK");
    unsigned left[3] = {0}, number[3] = {0};

    CHECK(argc == 4 && rank);
    state = strtoull(argv[1], NULL, 10) * 2654435761u + strtoul(rank, NULL, 10) + 1;
    for (int fd = 1; fd <= 2; fd++)
        left[fd] = any(8) ? (unsigned)atoi(argv[2]) : any((unsigned)atoi(argv[2])) + 1;
    while (left[1] + left[2] > 0) {
        int fd = left[1] == 0 ? 2 : left[2] == 0 ? 1 : any(4) ? 1 : 2;
        bool last = --left[fd] == 0;

        put_record(atoi(rank), fd, number[fd]++, last);
        if (last && any(2))
            close(fd);
    }
    if (strcmp(argv[3], "_exit") == 0)
        _exit(0);
    if (strcmp(argv[3], "exit") != 0)
        raise(strcmp(argv[3], "abort") == 0 ? SIGABRT : SIGKILL);
}

/* bytes: writes each byte value in a line of its own, characters that XML and JSON escape, and valid and
 * invalid UTF-8. */
ALONE(bytes)
{
    static const char *const lines[] = {"plain",
                                        "",
                                        "<a href=\"x\">&amp;</a>]]>",
                                        "back\\slash \"quoted\"",
                                        "caf\xc3\xa9 \xe2\x82\xac",
                                        "half \xe2\x82",
                                        "over \xc0\xaf",
                                        "end\r"};

    for (int c = 0; c < 256; c++) {
        char line[] = {'0', (char)c, '1', '\n'};

        if (c != '\n')
            put(1, line, sizeof(line));
    }
    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        put(1, lines[i], strlen(lines[i]));
        put(1, "\n", 1);
    }
    put(1, "no end", 6);
}

/* ---- forwarder HOW KEYS COMMAND...: starts a job whose output this process gets. KEYS are further
 * attributes, separated by commas, or "-". HOW: attributes of the "job" or of the "app", or "event"
 * for a spawn in a handler. The process ends after the job, or at once with "leave" before HOW. */

static struct {
    pmix_info_t info[8];
    size_t n;
    pmix_app_t app;
    bool of_app;
    pmix_nspace_t job;
    atomic_int started, ended;
} forwarded;

static void on_started(pmix_status_t status, pmix_nspace_t job, void *arg)
{
    GOOD(status);
    PMIX_LOAD_NSPACE(forwarded.job, job);
    forwarded.started = 1;
}

static void start_forwarded(void)
{
    forwarded.app.info = forwarded.of_app ? forwarded.info + 1 : NULL;
    forwarded.app.ninfo = forwarded.of_app ? forwarded.n - 1 : 0;
    GOOD(PMIx_Spawn_nb(forwarded.info, forwarded.of_app ? 1 : forwarded.n,
                       &forwarded.app, 1, on_started, NULL));
}

HANDLER(on_go)
{
    start_forwarded();
    HANDLED();
}

HANDLER(on_job_end)
{
    HANDLED();
    forwarded.ended = 1;
}

static void add_forwarded(const char *key)
{
    CHECK(forwarded.n < 8);
    forwarded.info[forwarded.n] = info_bool(key);
    PMIX_INFO_REQUIRED(&forwarded.info[forwarded.n]);
    forwarded.n++;
}

/* Fills the attributes, the program and its arguments. */
static void read_forwarded(const char *keys, char **argv)
{
    char *all = strdup(keys), *rest = all, *key;

    add_forwarded(PMIX_NOTIFY_COMPLETION);
    add_forwarded(PMIX_FWD_STDOUT);
    add_forwarded(PMIX_FWD_STDERR);
    while ((key = strsep(&rest, ",")))
        if (strcmp(key, "-") != 0)
            add_forwarded(key);
    free(all);
    forwarded.app.cmd = argv[0];
    forwarded.app.argv = argv;
    forwarded.app.maxprocs = 1;
}

JOINS(forwarder)
{
    pmix_status_t end = PMIX_EVENT_JOB_END, go = PMIX_EXTERNAL_ERR_BASE - 21;
    bool leaves = strcmp(argv[1], "leave") == 0;
    const char *how = argv[1 + leaves];

    read_forwarded(argv[2 + leaves], argv + 3 + leaves);
    forwarded.of_app = strcmp(how, "app") == 0;
    if (!leaves)
        watch(&end, 1, NULL, 0, on_job_end);
    if (strcmp(how, "event") == 0) {
        watch(&go, 1, NULL, 0, on_go);
        GOOD(result(
            PMIx_Notify_event(go, &me, PMIX_RANGE_PROC_LOCAL, NULL, 0, on_done, NULL)));
        CHECK(wait_for(&forwarded.started, 20));
    } else if (forwarded.of_app) {
        start_forwarded();
        CHECK(wait_for(&forwarded.started, 20));
    } else {
        GOOD(PMIx_Spawn(forwarded.info, forwarded.n, &forwarded.app, 1, forwarded.job));
    }
    CHECK(leaves || wait_for(&forwarded.ended, 40));
}

/* ---- feeder HOW: rank 0 starts a job that copies its input into the file "fed". No process ends the
 * input explicitly. HOW: "spawner": rank 0 pushes and ends. "mute": rank 0 ends without a push.
 * "pusher": rank 1 pushes and ends while rank 0 waits for the job. "killed": rank 1 is killed. --- */

static void push_text(const char *job, const char *text)
{
    pmix_byte_object_t bytes = {(char *)text, strlen(text)};
    pmix_proc_t to;

    PMIX_LOAD_PROCID(&to, job, 0);
    GOOD(result(PMIx_IOF_push(&to, 1, &bytes, NULL, 0, on_done, NULL)));
}

JOINS(feeder)
{
    char sh[] = "sh", flag[] = "-c", line[] = "cat >fed",
         *copy[] = {sh, flag, line, NULL};
    bool mute = strcmp(argv[1], "mute") == 0, own = mute || !strcmp(argv[1], "spawner");
    pmix_value_t name = {.type = PMIX_STRING}, *job = NULL;
    pmix_status_t end = PMIX_EVENT_JOB_END;
    pmix_proc_t first = rank_of(0);

    if (me.rank == 0) {
        read_forwarded(PMIX_FWD_STDIN, copy);
        watch(&end, 1, NULL, 0, on_job_end);
        GOOD(PMIx_Spawn(forwarded.info, forwarded.n, &forwarded.app, 1, forwarded.job));
        name.data.string = forwarded.job;
        GOOD(PMIx_Put(PMIX_GLOBAL, "job", &name));
        GOOD(PMIx_Commit());
    }
    GOOD(fence_with_data());
    GOOD(PMIx_Get(&first, "job", NULL, 0, &job));
    if (me.rank == (own ? 0 : 1) && !mute)
        push_text(job->data.string, "text\n");
    PMIX_VALUE_RELEASE(job);
    if (me.rank == 1 && strcmp(argv[1], "killed") == 0)
        kill(getpid(), SIGKILL);
    if (me.rank == 0 && !own)
        CHECK(wait_for(&forwarded.ended, 40));
}

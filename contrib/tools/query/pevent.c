/* SPDX-License-Identifier: BSD-3-Clause */
/* pevent: sends an event, or shows events as lines of JSON. */
#include "../os.h"
#include "tool.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <unistd.h>

const char *tool_name = "pevent";

static char **codes; /* of --event; NULL: none */
static bool awaits, follows;
static int count = 1;
static struct infos infos;
static pmix_data_range_t range = PMIX_RANGE_SESSION;
static pmix_proc_t *targets;
static size_t n_targets;

/* ---- options --------------------------------------------------------------------- */

static void take_info(const char *text)
{
    infos_read(text, &infos);
}

static void take_target(const char *text)
{
    procs_add(text, &targets, &n_targets);
    range = PMIX_RANGE_CUSTOM;
}

static void take_range(const char *text)
{
    static const struct {
        const char *name;
        pmix_data_range_t range;
    } ranges[] = {{"rm", PMIX_RANGE_RM},
                  {"local", PMIX_RANGE_LOCAL},
                  {"namespace", PMIX_RANGE_NAMESPACE},
                  {"session", PMIX_RANGE_SESSION},
                  {"global", PMIX_RANGE_GLOBAL}};
    const char *name = strncasecmp(text, "PMIX_RANGE_", 11) == 0 ? text + 11 : text;
    size_t i = 0;

    while (i < sizeof(ranges) / sizeof(ranges[0]) &&
           strcasecmp(ranges[i].name, name) != 0)
        i++;
    if (i == sizeof(ranges) / sizeof(ranges[0]))
        usage("--range \"%s\": rm, local, namespace, session or global is needed; --to "
              "names processes",
              text);
    range = ranges[i].range;
}

/* clang-format off */
static const struct tool_option options[] = {
    TAKES_ARGUMENT("event", "EVENT", OPTION_LIST, codes, "an event, as an operand is"),
    TAKES_FLAG("await", awaits, "wait for one of the events, or for any, and print it"),
    TAKES_FLAG("follow", follows, "print the events, or all, as they come, until the server ends"),
    TAKES_ARGUMENT("count", "N", OPTION_NUMBER, count, "with --await: wait for N events"),
    TAKES_CALL("range", "rm|local|namespace|session|global", take_range, "receivers of a sent event; default session"),
    TAKES_CALL("to", "PROCESS", take_target, "send the event to this process, NSPACE:RANK; the option may be repeated"),
    TAKES_CALL("info", "NAME=VALUE", take_info, "a value that the event carries; the option may be repeated"),
    TAKES_INFO("text", "MESSAGE", infos, PMIX_EVENT_TEXT_MESSAGE, PMIX_STRING, "a text that the event carries"),
    {0},
};
/* clang-format on */

/* ---- events that come ------------------------------------------------------------ */

/* Pipe of pointers to objects. A handler must not wait for a reader of the output, so
 * that the main thread prints. */
static int news_fds[2] = {-1, -1};

static json_t *event_json(pmix_status_t code, const pmix_proc_t *source,
                          const pmix_info_t *info, size_t n)
{
    char *from = proc_text(source);
    json_t *object = need(
        json_pack("{s:s, s:i, s:o, s:o}", "event", PMIx_Error_string(code), "code",
                  (int)code, "source", text_json(from), "info", infos_json(info, n)));

    free(from);
    return object;
}

static void on_event(size_t id, pmix_status_t code, const pmix_proc_t *source,
                     pmix_info_t info[], size_t n_info, pmix_info_t *results,
                     size_t n_results, pmix_event_notification_cbfunc_fn_t done,
                     void *cbdata)
{
    json_t *object = event_json(code, source, info, n_info);
    ssize_t put;

    (void)id;
    (void)results;
    (void)n_results;
    do
        put = write(news_fds[1], &object, sizeof(object));
    while (put < 0 && errno == EINTR);
    if (put < 0) { /* the reader of the output has stopped reading */
        json_decref(object);
        complain("an event is lost: %s", strerror(errno));
    }
    if (done)
        done(PMIX_EVENT_ACTION_COMPLETE, NULL, 0, NULL, NULL, cbdata);
}

/* Registers for the events, or for all, and for the loss of the server. */
static void subscribe(pmix_status_t *wanted, size_t n)
{
    pmix_status_t rc;

    if (pipe2(news_fds, O_CLOEXEC | O_NONBLOCK) < 0)
        fail("cannot wait for events: %s", strerror(errno));
    os_widen_pipe(news_fds[1], 1 << 20);
    if (n > 0) {
        wanted = grow(wanted, n + 1, sizeof(*wanted));
        wanted[n++] = PMIX_ERR_LOST_CONNECTION;
    }
    rc = PMIx_Register_event_handler(wanted, n, NULL, 0, on_event, NULL, NULL);
    if (rc < 0)
        fail_status(rc, "cannot register for events");
    free(wanted);
    complain("waiting for events");
}

/* Waits for a pointer to an event; NULL after the time limit. */
static json_t *next_event(int64_t end_ms)
{
    struct pollfd f = {.fd = news_fds[0], .events = POLLIN};
    json_t *object = NULL;

    for (;;) {
        const int64_t left_ms = end_ms - now_ms();

        if (read(news_fds[0], &object, sizeof(object)) == (ssize_t)sizeof(object))
            return object;
        if (left_ms <= 0)
            return NULL;
        (void)poll(&f, 1, left_ms > INT_MAX ? -1 : (int)left_ms);
    }
}

/* Prints events until enough have come. Returns the exit status. */
static int receive(void)
{
    const int64_t end_ms = server_timeout()
                               ? now_ms() + server_timeout() * INT64_C(1000)
                               : INT64_MAX / 2;
    json_t *object;

    server_limit(0);
    for (int n = 0; follows || n < count; n++) {
        object = next_event(end_ms);
        if (!object) {
            complain("no event within %d seconds", server_timeout());
            return EXIT_TIMEOUT;
        }
        const bool lost = json_integer_value(json_object_get(object, "code")) ==
                          PMIX_ERR_LOST_CONNECTION;
        json_line(object);
        if (lost && !follows)
            complain("the connection to the server is lost");
        if (lost || ferror(stdout))
            return follows && lost ? EXIT_SUCCESS : EXIT_TROUBLE;
    }
    return EXIT_SUCCESS;
}

/* ---- events that are sent -------------------------------------------------------- */

static void on_sent(pmix_status_t status, void *fd)
{
    (void)!write(*(const int *)fd, &status, sizeof(status));
}

/* Sends the event, and waits until the server has passed it on. */
static void send_event(pmix_status_t code)
{
    pmix_data_array_t to = {.type = PMIX_PROC, .size = n_targets, .array = targets};
    static int fds[2];
    pmix_status_t rc;

    if (pipe2(fds, O_CLOEXEC) < 0)
        fail("cannot wait for the server: %s", strerror(errno));
    if (n_targets > 0)
        infos_add(&infos, PMIX_EVENT_CUSTOM_RANGE, &to, PMIX_DATA_ARRAY);
    rc = PMIx_Notify_event(code, NULL, range, infos.v, infos.n, on_sent, &fds[1]);
    if (!rc && read(fds[0], &rc, sizeof(rc)) != (ssize_t)sizeof(rc))
        rc = PMIX_ERROR;
    if (rc && rc != PMIX_OPERATION_SUCCEEDED)
        fail_status(rc, "cannot send %s", PMIx_Error_string(code));
}

static int run(char **operands)
{
    pmix_status_t *wanted = NULL;
    size_t n = 0;

    for (char **list[] = {codes, operands}, ***l = list; l < list + 2; l++)
        for (char **code = *l; code && *code; code++) {
            wanted = grow(wanted, n + 1, sizeof(*wanted));
            wanted[n++] = status_read(*code);
        }
    if (awaits || follows) {
        if (infos.n || n_targets || (awaits && follows))
            usage("--%s goes without options for sent events",
                  follows ? "follow" : "await");
        subscribe(wanted, n);
        return receive();
    }
    if (n != 1)
        usage("one event to send is needed, or --await, or --follow");
    send_event(wanted[0]);
    free(wanted);
    return EXIT_SUCCESS;
}

static const struct tool tool = {
    .name = "pevent",
    .operands = "[EVENT]...",
    .summary = "Send an event to processes of a PMIx server, or show events.",
    .description =
        "Sends an event through the server. An event is the name of a status, such as "
        "PMIX_EVENT_JOB_END, or a number.\n\n"
        "With --await and --follow the program prints each event as one line of JSON with "
        "the members event, code, source and info. A line on stderr confirms that the "
        "program waits. --follow ends with status 0 when the server ends; --await has "
        "status 1 then, and 124 after --timeout.",
    .options = options,
    .one_format = true,
    .run = run,
};

int main(int argc, char **argv)
{
    (void)argc;
    return tool_main(&tool, argv);
}

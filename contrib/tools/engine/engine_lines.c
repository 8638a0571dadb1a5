/* SPDX-License-Identifier: BSD-3-Clause */
/* Lines of the processes are passed on. Slurm's messages about processes become lines
 * as those of pmixrun on one node. */
#include "engine_lines.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Messages that repeat what pmixrun has done or reported. */
static const char *const noise[] = {
    "error: *** STEP ",        "Terminating StepId",        "forcing job termination",
    "Force Terminated StepId", "Job step aborted: Waiting", "sending Ctrl-C to",
};

/* Message about --cpu-bind=none where Slurm binds no process anyway. */
static const char cannot_bind[] = "lacks support for cpu binding";

void engine_lines_init(struct engine_lines *lines, const struct engine_job *job)
{
    lines->job = job;
    for (int i = 0; i < ENGINE_SOURCES; i++)
        lines->fds[i] = -1;
}

static void write_all(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        const ssize_t put = write(fd, bytes, n);

        if (put < 0 && errno != EINTR)
            return; /* without a reader */
        bytes += put < 0 ? 0 : put;
        n -= put < 0 ? 0 : (size_t)put;
    }
}

/* ---- messages of Slurm ----------------------------------------------------------- */

/* Reads how a process ended. Returns its exit status, or -1. *text: the words of
 * pmixrun, malloc'd. */
static int read_end(const char *end, char **text)
{
    static const char exited[] = "Exited with exit code ";

    if (strncmp(end, exited, strlen(exited)) == 0) {
        const int status = atoi(end + strlen(exited));

        *text = need_text("exited with status %d", status);
        return status;
    }
    for (int signum = 1; signum < SIGRTMIN; signum++) {
        const char *name = strsignal(signum);
        const size_t n = strlen(name);

        if (strncmp(end, name, n) == 0 && (!end[n] || end[n] == ' ')) {
            *text = need_text("killed by signal %d (%s)", signum, name);
            return EXIT_SIGNAL + signum;
        }
    }
    return -1;
}

/* Reports the end of a process that may have been none: after the daemon's message. */
static void show_held(struct engine_lines *lines)
{
    if (lines->held && !lines->exec_status)
        complain("%s", lines->held);
    free(lines->held);
    lines->held = NULL;
}

/* Reports the end of processes: "NODES: tasks 0-1,4: END". False for another line. */
static bool take_failure(struct engine_lines *lines, const char *line)
{
    static const char key[] = ": task";
    const char *task = strstr(line, key), *ranks, *end;
    char *text;
    bool several;
    int status;

    if (!task)
        return false;
    ranks = task + strlen(key);
    several = *ranks == 's';
    ranks += several;
    end = *ranks == ' ' ? strstr(ranks, ": ") : NULL;
    status = end ? read_end(end + 2, &text) : -1;
    if (status < 0)
        return false;
    /* The others end after the first, if the job is not to go on. */
    if (!lines->is_ending && (!lines->failed || lines->job->recoverable)) {
        show_held(lines);
        lines->held = need_text("rank%s%.*s (host %.*s) %s", several ? "s" : "",
                                (int)(end - ranks), ranks, (int)(task - line), line,
                                text);
        if (status != ENOENT && status != EACCES) /* statuses of a failed exec */
            show_held(lines);
    }
    if (!lines->failed)
        lines->failure_status = status;
    lines->failed = true;
    free(text);
    return true;
}

/* True for a message that the user need not see. */
static bool is_noise(const struct engine_lines *lines, const char *line)
{
    if (lines->job->options->verbose)
        return false;
    for (size_t i = 0; i < sizeof(noise) / sizeof(noise[0]); i++)
        if (strstr(line, noise[i]))
            return true;
    if (!strstr(line, cannot_bind))
        return false;
    for (char **word = lines->job->words; *word; word++)
        if (strcmp(*word, "--cpu-bind=none") == 0)
            return true;
    return false;
}

/* Handles a message of srun. */
static void on_own(struct engine_lines *lines, const char *line)
{
    static const char error[] = "srun: error: ";

    if (strncmp(line, error, strlen(error)) == 0 &&
        take_failure(lines, line + strlen(error)))
        return;
    if (!is_noise(lines, line))
        dprintf(STDERR_FILENO, "%s\n", line);
}

static const char daemon_name[] = "slurmstepd";

/* Handles a message of a step daemon among the output of the processes. False for
 * another line. */
static bool on_daemon(struct engine_lines *lines, const char *text, size_t n)
{
    static const char failed[] = "error: execve(): ";
    char *line = need_text("%.*s", (int)n, text), *at = strstr(line, failed);
    bool handled = false;

    if (strncmp(line, daemon_name, strlen(daemon_name)) == 0) {
        if (at) {
            if (!lines->exec_status)
                complain("cannot run %s", at + strlen(failed));
            lines->exec_status = strstr(at, strerror(ENOENT)) ? EXIT_NOT_FOUND
                                                              : EXIT_NOT_EXECUTABLE;
            lines->failed = true;
        }
        handled = at || is_noise(lines, line);
    }
    free(line);
    return handled;
}

/* ---- output of the processes ----------------------------------------------------- */

/* True if the line may be that of a step daemon, as far as it is there. */
static bool may_be_daemon(const char *line, size_t n)
{
    const size_t len = strlen(daemon_name);

    return strncmp(line, daemon_name, n < len ? n : len) == 0;
}

/* Writes bytes while the reader takes them. Returns their number. */
static size_t write_some(struct engine_lines *lines, const char *bytes, size_t n)
{
    struct pollfd fd = {.fd = STDERR_FILENO, .events = POLLOUT};
    ssize_t put;

    lines->is_blocked = poll(&fd, 1, 0) == 0;
    if (lines->is_blocked)
        return 0;
    do
        put = write(STDERR_FILENO, bytes, n < PIPE_BUF ? n : PIPE_BUF);
    while (put < 0 && errno == EINTR);
    return put < 0 ? n : (size_t)put; /* without a reader the bytes are lost */
}

/* Passes stderr of the processes on. Returns the number of bytes used. */
static size_t pass_on(struct engine_lines *lines, struct engine_buffer *b, bool at_end)
{
    size_t from = 0;

    while (from < b->n) {
        char *line = b->bytes + from, *end = memchr(line, '\n', b->n - from);
        const size_t n = end ? (size_t)(end - line) : b->n - from;
        const size_t length = n + (end != NULL);
        size_t put;

        if (!b->is_inside && may_be_daemon(line, n)) {
            if (!end && !at_end && b->n < sizeof(b->bytes))
                break;
            if (end && on_daemon(lines, line, n)) {
                from += length;
                continue;
            }
        }
        put = write_some(lines, line, length);
        if (!put)
            break;
        b->is_inside = put < length || !end;
        from += put;
    }
    return from;
}

/* Returns the length of a label "  12: " and its rank, or 0. */
static size_t read_label(const char *line, size_t n, long *rank)
{
    size_t at = 0, digits;

    while (at < n && line[at] == ' ')
        at++;
    digits = at;
    *rank = 0;
    while (at < n && at - digits < 9 && isdigit((unsigned char)line[at]))
        *rank = *rank * 10 + (line[at++] - '0');
    return at > digits && at + 1 < n && line[at] == ':' && line[at + 1] == ' ' ? at + 2
                                                                               : 0;
}

/* A line of a buffer, without its label. */
struct line {
    long rank;
    const char *text;
    size_t n;
};

static int compare(const void *a, const void *b)
{
    const struct line *x = a, *y = b;

    return x->rank != y->rank ? (x->rank > y->rank) - (x->rank < y->rank)
                              : (x->text > y->text) - (x->text < y->text);
}

/* Gives lines to the library: those of a rank as one piece. */
static void give(struct line *all, size_t n_lines, enum engine_source source)
{
    static char piece[sizeof(((struct engine_buffer *)NULL)->bytes)];
    size_t n = 0;

    qsort(all, n_lines, sizeof(*all), compare);
    for (size_t i = 0; i < n_lines; i++) {
        memcpy(piece + n, all[i].text, all[i].n);
        n += all[i].n;
        piece[n++] = '\n';
        if (i + 1 == n_lines || all[i + 1].rank != all[i].rank) {
            engine_output_give(all[i].rank, source == ENGINE_STDERR, piece, n);
            n = 0;
        }
    }
}

/* Gives lines with labels to the library. Returns the number of bytes used. */
static size_t shape(struct engine_lines *lines, struct engine_buffer *b,
                    enum engine_source source, bool at_end)
{
    static struct line all[sizeof(b->bytes) / 3]; /* a label has three bytes or more */
    size_t from = 0, n_lines = 0;

    while (from < b->n) {
        char *line = b->bytes + from, *end = memchr(line, '\n', b->n - from);
        const size_t n = end ? (size_t)(end - line) : b->n - from;
        struct line *l = &all[n_lines];
        const size_t label = read_label(line, n, &l->rank);

        if (!end && !at_end && (from > 0 || b->n < sizeof(b->bytes)))
            break;
        l->text = line + label;
        l->n = n - label;
        if (!label) /* the engine's own */
            write_all(STDERR_FILENO, line, n + (end != NULL));
        else if (source != ENGINE_STDERR || !on_daemon(lines, l->text, l->n))
            n_lines++;
        from += n + (end != NULL);
    }
    give(all, n_lines, source);
    return from;
}

/* Handles the messages of srun. Returns the number of bytes used. */
static size_t take_own(struct engine_lines *lines, struct engine_buffer *b, bool at_end)
{
    size_t from = 0;

    while (from < b->n) {
        char *line = b->bytes + from, *end = memchr(line, '\n', b->n - from);
        const size_t n = end ? (size_t)(end - line) : b->n - from;

        if (!end && !at_end && b->n < sizeof(b->bytes))
            break;
        char *text = need_text("%.*s", (int)n, line);
        on_own(lines, text);
        free(text);
        from += n + (end != NULL);
    }
    return from;
}

static void take(struct engine_lines *lines, enum engine_source source, bool at_end)
{
    struct engine_buffer *b = &lines->buffers[source];
    const size_t used = source == ENGINE_OWN   ? take_own(lines, b, at_end)
                        : lines->job->labelled ? shape(lines, b, source, at_end)
                                               : pass_on(lines, b, at_end);

    b->n -= used;
    memmove(b->bytes, b->bytes + used, b->n);
}

/* ---- sources --------------------------------------------------------------------- */

/* True if output can be passed on now. */
static bool can_pass(const struct engine_lines *lines)
{
    return lines->job->labelled ? engine_output_is_free() : !lines->is_blocked;
}

int engine_lines_poll(const struct engine_lines *lines, struct pollfd *fds)
{
    const bool can = can_pass(lines); /* may change at any time */
    int n = 0;

    for (int i = 0; i < ENGINE_SOURCES; i++)
        if (lines->fds[i] >= 0 && (can || i == ENGINE_OWN))
            fds[n++] = (struct pollfd){.fd = lines->fds[i], .events = POLLIN};
    if (!can && lines->job->labelled)
        fds[n++] = (struct pollfd){.fd = engine_output_ready(), .events = POLLIN};
    else if (!can)
        fds[n++] = (struct pollfd){.fd = STDERR_FILENO, .events = POLLOUT};
    return n;
}

/* Reads a source until it is empty or its output has to wait. */
static void read_source(struct engine_lines *lines, int source)
{
    struct engine_buffer *b = &lines->buffers[source];

    while (lines->fds[source] >= 0 && (source == ENGINE_OWN || can_pass(lines))) {
        const size_t room = sizeof(b->bytes) - b->n;
        const ssize_t got = room ? read(lines->fds[source], b->bytes + b->n, room) : 1;

        if (got < 0 && errno != EINTR && b->n == 0)
            return;
        if (got == 0 && b->n == 0) {
            close(lines->fds[source]);
            lines->fds[source] = -1;
            return;
        }
        const size_t before = b->n += room && got > 0 ? (size_t)got : 0;

        take(lines, source, got == 0);
        if (got < 0 && errno != EINTR && b->n == before)
            return; /* waits for the rest of a line */
    }
}

void engine_lines_read(struct engine_lines *lines)
{
    lines->is_blocked = false;
    /* A program that cannot be run is reported before the end of its process. */
    for (int i = 0; i < ENGINE_SOURCES; i++)
        read_source(lines, i);
}

bool engine_lines_left(const struct engine_lines *lines)
{
    for (int i = 0; i < ENGINE_SOURCES; i++)
        if (lines->fds[i] >= 0)
            return true;
    return false;
}

void engine_lines_end(struct engine_lines *lines)
{
    show_held(lines);
}

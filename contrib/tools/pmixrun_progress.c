/* SPDX-License-Identifier: BSD-3-Clause */
/* --progress and --top: lines at the bottom of the terminal about the job. Output to
 * the same terminal goes through a pipe to this part, which removes the lines before
 * each piece of output. */
#include "pmixrun.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static const char take_away[] = "\r\033[K", take_next[] = "\033[A\033[K";

/* Descriptors: stdout and stderr if they are terminals, then a pipe that ends the
 * pump. */
enum { N_STREAMS = 2, STOP = N_STREAMS, N_FDS };
static int terminals[N_STREAMS] = {-1, -1}; /* destinations of the output */
static struct pollfd fds[N_FDS];            /* sources of the output; of the pump */
static int stop_fd = -1;
static pthread_t pump_thread;
static bool pumps;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char *wanted; /* lines to show, or NULL; guarded by lock */

/* ---- the terminal: by one thread ------------------------------------------------- */

static char *shown;  /* lines on the terminal; NULL: none */
static bool in_line; /* the output's last line is incomplete */

/* Writes all bytes. Blocks only the pump's thread while the terminal is stopped. */
static void put(int fd, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t put = write(fd, bytes, n);

        if (put < 0 && errno == EINTR)
            continue;
        if (put < 0)
            return;
        bytes += put;
        n -= (size_t)put;
    }
}

static void hide(void)
{
    if (shown)
        put(terminals[1], take_away, sizeof(take_away) - 1);
    for (const char *c = shown; c && *c; c++)
        if (*c == '\n')
            put(terminals[1], take_next, sizeof(take_next) - 1);
    free(shown);
    shown = NULL;
}

/* Copies text without what does not fit the terminal: a wrapped line, or one that has
 * scrolled away, cannot be removed. malloc'd; NULL without memory. */
static char *fit(const char *text)
{
    struct winsize size = {0};
    char *fitted = malloc(strlen(text) + 1), *to = fitted;

    (void)ioctl(terminals[1], TIOCGWINSZ, &size);
    for (int row = 1; fitted && *text && (size.ws_row == 0 || row < size.ws_row);
         row++) {
        const size_t len = strcspn(text, "\n");

        if (row > 1)
            *to++ = '\n';
        to = mempcpy(to, text,
                     size.ws_col > 0 && len >= size.ws_col ? size.ws_col - 1u : len);
        text += len + (text[len] == '\n');
    }
    if (fitted)
        *to = '\0';
    return fitted;
}

static void show(void)
{
    char *text = NULL;

    pthread_mutex_lock(&lock);
    if (wanted)
        text = fit(wanted);
    pthread_mutex_unlock(&lock);
    if (in_line || !text || (shown && strcmp(text, shown) == 0)) {
        free(text);
        return;
    }
    hide();
    put(terminals[1], text, strlen(text));
    shown = text;
}

/* Copies a piece of output to the terminal; false if there was none. */
static bool pass_on(int which)
{
    char bytes[65536];
    ssize_t n = read(fds[which].fd, bytes, sizeof(bytes));

    if (n <= 0)
        return false;
    hide();
    put(terminals[which], bytes, (size_t)n);
    in_line = bytes[n - 1] != '\n';
    return true;
}

static void *pump(void *arg)
{
    int64_t next_ms = 0;

    while (!fds[STOP].revents) {
        int64_t left = next_ms - now_ms();

        if (left <= 0) {
            show();
            next_ms = now_ms() + PROGRESS_MS;
            left = PROGRESS_MS;
        }
        if (poll(fds, N_FDS, (int)left) <= 0)
            continue;
        for (int i = 0; i < N_STREAMS; i++)
            if (fds[i].revents)
                (void)pass_on(i);
    }
    for (int i = 0; i < N_STREAMS; i++)
        while (fds[i].fd >= 0 && pass_on(i))
            ;
    hide();
    return arg;
}

/* ---- beginning and end ----------------------------------------------------------- */

/* Redirects a stream into a pipe to the pump. */
static bool lead(int which)
{
    int ends[2], fd = STDOUT_FILENO + which;

    terminals[which] = fcntl(fd, F_DUPFD_CLOEXEC, 3);
    if (terminals[which] < 0 || pipe2(ends, O_CLOEXEC) < 0)
        return false;
    fds[which] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    bool led = fcntl(ends[0], F_SETFL, O_NONBLOCK) == 0 && dup2(ends[1], fd) == fd;
    close(ends[1]);
    return led;
}

void progress_begin(void)
{
    const char *kind = getenv("TERM");
    int ends[2];

    fds[0].fd = fds[1].fd = -1;
    if (!isatty(STDERR_FILENO) || !kind || !*kind || strcmp(kind, "dumb") == 0)
        return;
    if (pipe2(ends, O_CLOEXEC) < 0)
        fail("cannot show progress: %s", strerror(errno));
    fds[STOP] = (struct pollfd){.fd = ends[0], .events = POLLIN};
    stop_fd = ends[1];
    if ((isatty(STDOUT_FILENO) && !lead(0)) || !lead(1) ||
        pthread_create(&pump_thread, NULL, pump, NULL))
        fail("cannot show progress: %s", strerror(errno));
    pumps = true;
}

void progress_end(void)
{
    if (!pumps)
        return;
    pumps = false;
    fflush(NULL);
    close(stop_fd);
    pthread_join(pump_thread, NULL);
    free(wanted);
    for (int i = 0; i < N_STREAMS; i++)
        if (terminals[i] >= 0)
            (void)dup2(terminals[i], STDOUT_FILENO + i);
}

bool progress_show(const char *lines)
{
    char *copy = pumps ? need_text("%s", lines) : NULL;

    if (!pumps)
        return false;
    pthread_mutex_lock(&lock);
    free(wanted);
    wanted = copy;
    pthread_mutex_unlock(&lock);
    return true;
}

/* ---- the job --------------------------------------------------------------------- */

/* Flags of ranks that have been initialised. The state of an ended rank does not show
 * this. */
static bool *initialised;
static size_t n_ranks;

static void count(const pmix_proc_info_t *ranks, size_t n)
{
    size_t n_started = 0, n_initialised = 0, n_ended = 0;

    if (n > n_ranks) {
        initialised = grow(initialised, n, sizeof(*initialised));
        memset(initialised + n_ranks, 0, (n - n_ranks) * sizeof(*initialised));
        n_ranks = n;
    }
    for (size_t i = 0; i < n; i++) {
        n_started += ranks[i].pid != 0;
        initialised[i] |= ranks[i].state == PMIX_PROC_STATE_CONNECTED;
        n_initialised += initialised[i];
        n_ended += ranks[i].state == PMIX_PROC_STATE_TERMINATED ||
                   ranks[i].state == PMIX_PROC_STATE_ABORTED;
    }
    char *line = need_text(
        "pmixrun: of %zu ranks %zu started, %zu initialised, %zu ended", n, n_started,
        n_initialised, n_ended);

    (void)progress_show(line);
    free(line);
}

void progress_look(const char *job)
{
    char key[] = PMIX_QUERY_PROC_TABLE, *keys[] = {key, NULL};
    pmix_info_t *found = NULL, of_job;
    pmix_query_t query = {.keys = keys, .qualifiers = &of_job, .nqual = 1};
    size_t n = 0;

    if (!pumps || !*job || PMIx_Info_load(&of_job, PMIX_NSPACE, job, PMIX_STRING))
        return;
    if (PMIx_Query_info(&query, 1, &found, &n) == PMIX_SUCCESS && n == 1 &&
        found[0].value.type == PMIX_DATA_ARRAY && found[0].value.data.darray &&
        found[0].value.data.darray->type == PMIX_PROC_INFO)
        count(found[0].value.data.darray->array, found[0].value.data.darray->size);
    PMIx_Info_free(found, n);
    PMIx_Info_destruct(&of_job);
}

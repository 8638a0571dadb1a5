/* SPDX-License-Identifier: BSD-3-Clause */
/* Readers: child processes that read files with the rights of a user. Server and reader
 * exchange packets. A request has a head, and paths that each end with a NUL. An answer
 * has a head, and for each path a section with its bytes. */
#include "core/server/monitor/probe.h"

#include "core/base/clock.h"
#include "core/base/err.h"
#include "core/base/fd.h"
#include "core/os/os.h"
#include "core/os/proc.h"
#include "core/reclaim/jobs.h"
#include "core/rt/log.h"
#include "core/rt/loop.h"
#include "core/server/server.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    MAX_READERS = 64, /* users with a reader at a time */
    IDLE_MS = 30000,  /* a reader without probes ends after this time */
    PACKET_B = 60000, /* fits into the default buffer of a socket */
};

struct head {
    uint64_t id;
    uint32_t op, n;
};

struct section {
    int32_t errnum;
    uint32_t n; /* bytes that follow */
};

struct reader {
    struct px_list link;
    struct px_server *server;
    uid_t uid;
    gid_t gid;
    pid_t pid;
    int fd; /* -1: killed, and waits to be reaped */
    struct px_watch *watch;
    struct px_list waiting; /* probes, oldest first */
    bool proved;            /* it has answered, so it is the user */
    uint64_t used_ms;
};

/* ---- in the child: async-signal-safe --------------------------------------------- */

/* Reads a whole file into to[0..n), and adds a NUL. Returns an errno. EFBIG: size is
 * too small. */
static int read_file(const char *path, char *to, size_t size, uint32_t *n)
{
    const int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
    ssize_t got = -1;
    int errnum;

    if (fd < 0)
        return errno;
    for (*n = 0; *n < size; *n += (uint32_t)got) {
        got = PX_RETRY(read(fd, to + *n, size - *n));
        if (got <= 0)
            break;
    }
    errnum = got < 0 ? errno : *n == size ? EFBIG : 0;
    close(fd);
    if (!errnum)
        to[(*n)++] = '\0';
    return errnum;
}

static int read_state(const char *path, char *to, size_t size, uint32_t *n)
{
    struct px_probe_state state;
    struct stat st;

    if (size < sizeof(state))
        return EFBIG;
    if (stat(path, &st) < 0)
        return errno;
    state = (struct px_probe_state){
        .size = st.st_size,
        .accessed_ns = (int64_t)st.st_atim.tv_sec * 1000000000 + st.st_atim.tv_nsec,
        .modified_ns = (int64_t)st.st_mtim.tv_sec * 1000000000 + st.st_mtim.tv_nsec,
    };
    memcpy(to, &state, sizeof(state));
    *n = sizeof(state);
    return 0;
}

/* Signals the process that order names, unless the process is another by now. Returns
 * an errno. */
static int send_signal(const char *order)
{
    int64_t pid = 0, start = 0, signum = 0, *to[] = {&pid, &start, &signum};
    struct px_osproc_stat st;
    int pidfd, errnum = 0;

    for (size_t i = 0; i < PX_COUNT(to); i++)
        for (order += *order == ' '; *order >= '0' && *order <= '9'; order++)
            *to[i] = 10 * *to[i] + (*order - '0');
    pidfd = px_os_pidfd_open(pid);
    if (!px_osproc_stat(pid, &st) || px_osproc_stat_ended(&st) ||
        (start && st.start != (uint64_t)start))
        errnum = ESRCH;
    else if (pidfd >= 0)
        errnum = px_os_pidfd_signal(pidfd, (int)signum, false);
    else if (kill((pid_t)pid, (int)signum) < 0)
        errnum = errno;
    px_drop_fd(&pidfd);
    return errnum;
}

/* Makes the answer to a request of n bytes. Returns the length of the answer. */
static size_t answer(const char *request, size_t n, char *to)
{
    const char *path = request + sizeof(struct head), *end = request + n;
    struct head head;
    size_t at = sizeof(head);

    memcpy(&head, request, sizeof(head));
    memcpy(to, &head, sizeof(head));
    for (uint32_t i = 0; i < head.n && path < end; i++, path += strlen(path) + 1) {
        const size_t later_b = (head.n - i - 1) * sizeof(struct section);
        struct section s = {0};
        char *bytes = to + at + sizeof(s);
        const size_t room = PACKET_B - at - sizeof(s) - later_b;

        s.errnum = head.op == PX_PROBE_STATE     ? read_state(path, bytes, room, &s.n)
                   : head.op == PX_PROBE_CONTENT ? read_file(path, bytes, room, &s.n)
                                                 : send_signal(path);
        s.n = s.errnum ? 0 : s.n;
        memcpy(to + at, &s, sizeof(s));
        at += sizeof(s) + s.n;
    }
    return at;
}

_Noreturn static void run_child(int fd, uid_t uid, gid_t gid)
{
    char *buffers;

    px_reclaim_detach("tenon-reader", &fd, 1);
    px_drop_privileges(uid, gid);
    buffers = mmap(NULL, 2 * PACKET_B, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (buffers == MAP_FAILED)
        _exit(EXIT_FAILURE);
    for (;;) {
        /* one byte stays free: the last path ends with a NUL */
        const ssize_t n = PX_RETRY(recv(fd, buffers, PACKET_B - 1, 0));
        size_t len;

        if (n < (ssize_t)sizeof(struct head))
            _exit(EXIT_SUCCESS); /* the server has ended */
        buffers[n] = '\0';
        len = answer(buffers, (size_t)n, buffers + PACKET_B);
        if (PX_RETRY(send(fd, buffers + PACKET_B, len, MSG_NOSIGNAL)) < 0)
            _exit(EXIT_SUCCESS);
    }
}

/* ---- readers --------------------------------------------------------------------- */

static void reader_free(struct reader *r)
{
    r->server->part.probes->n_readers--;
    px_list_remove(&r->link);
    free(r);
}

/* Kills a reader. A reader that hangs in the kernel is reaped later. */
static void reader_end(struct reader *r)
{
    px_watch_free(px_take(&r->watch));
    px_drop_fd(&r->fd);
    kill(r->pid, SIGKILL);
    px_timer_set(r->server->part.probes->timer, 10);
}

/* Fails the probes of a reader that has ended. */
static void reader_lost(struct reader *r)
{
    const int errnum = r->proved ? EIO : EPERM;
    struct px_probe_file files[PX_PROBE_FILES];
    struct px_list failed;

    for (size_t i = 0; i < PX_PROBE_FILES; i++)
        files[i] = (struct px_probe_file){.errnum = errnum};
    px_list_init(&failed);
    while (!px_list_empty(&r->waiting)) {
        struct px_list *node = r->waiting.next;

        px_list_remove(node);
        px_list_append(&failed, node);
    }
    reader_end(r);
    while (!px_list_empty(&failed)) {
        struct px_probe *p = PX_CONTAINER_OF(failed.next, struct px_probe, link);

        px_list_remove(&p->link);
        p->fn(p->arg, files);
    }
}

/* Reads the sections of an answer between at and end. The texts stay in the packet.
 * False if the packet is damaged. */
static bool read_sections(const char *at, const char *end, enum px_probe_op op,
                          size_t n, struct px_probe_file *files)
{
    const bool state = op == PX_PROBE_STATE;
    struct section s;

    for (size_t i = 0; i < n; i++, at += s.n) {
        if ((size_t)(end - at) < sizeof(s))
            return false;
        memcpy(&s, at, sizeof(s));
        at += sizeof(s);
        files[i] = (struct px_probe_file){.errnum = s.errnum};
        if ((size_t)(end - at) < s.n)
            return false;
        if (s.errnum || op == PX_PROBE_SIGNAL)
            continue;
        if (s.n == 0 || (state ? s.n != sizeof(files[i].state) : at[s.n - 1] != '\0'))
            return false;
        if (state)
            memcpy(&files[i].state, at, s.n);
        else
            files[i].text = at;
    }
    return true;
}

/* Calls the probe that an answer of n bytes is for. False if the packet is damaged. */
static bool handle_answer(struct reader *r, const char *packet, size_t n)
{
    struct px_probe_file files[PX_PROBE_FILES];
    struct head head;

    if (n < sizeof(head))
        return false;
    memcpy(&head, packet, sizeof(head));
    r->proved = true;
    r->used_ms = px_clock_ms();
    PX_LIST_EACH (&r->waiting, struct px_probe, p, link) {
        if (p->id != head.id)
            continue;
        if (!read_sections(packet + sizeof(head), packet + n, head.op, p->n, files))
            return false;
        px_list_remove(&p->link);
        p->fn(p->arg, files); /* may ask this reader again */
        return true;
    }
    return true; /* cancelled */
}

static void on_answer(void *arg, int fd, unsigned events PX_UNUSED)
{
    struct reader *r = arg;
    char *scratch = px_loop_scratch(r->server->loop);
    const ssize_t n = PX_RETRY(recv(fd, scratch, PX_SCRATCH_B, 0));
    PX_AUTOFREE char *packet = NULL;

    if (n < 0 && (errno == EAGAIN || errno == EWOULDBLOCK))
        return;
    packet = n > 0 ? malloc((size_t)n)
                   : NULL; /* callbacks may use the scratch buffer */
    if (packet)
        memcpy(packet, scratch, (size_t)n);
    if (!packet || !handle_answer(r, packet, (size_t)n))
        reader_lost(r);
}

/* Reaps readers that have ended, and ends idle ones. */
static void on_timer(void *arg)
{
    struct px_probes *probes = arg;
    const uint64_t now = px_clock_ms();
    uint64_t next_ms = IDLE_MS;
    int status;

    PX_LIST_EACH (&probes->readers, struct reader, r, link) {
        if (r->fd >= 0 && px_list_empty(&r->waiting) && now - r->used_ms >= IDLE_MS)
            reader_end(r);
        if (r->fd < 0 && px_reclaim_reap(r->pid, &status))
            reader_free(r);
        else if (r->fd < 0)
            next_ms = 100;
    }
    if (!px_list_empty(&probes->readers))
        px_timer_set(probes->timer, next_ms);
}

static pmix_status_t reader_start(struct reader *r)
{
    int ends[2];
    const int errnum = px_reclaim_socket(ends);

    if (errnum)
        return PMIX_ERR_OUT_OF_RESOURCE;
    PX_AUTOCLOSE int far_end = ends[1];
    r->fd = ends[0];
    r->watch = px_watch_create(r->server->loop, r->fd, PX_READABLE, on_answer, r);
    r->pid = r->watch ? px_reclaim_fork() : -1;
    if (r->pid == 0)
        run_child(far_end, r->uid, r->gid);
    if (r->pid > 0)
        return PMIX_SUCCESS;
    px_watch_free(r->watch);
    px_drop_fd(&r->fd);
    return PMIX_ERR_OUT_OF_RESOURCE;
}

/* Returns the reader of a user. *rc if there is none. */
static struct reader *reader_of(struct px_server *srv, uid_t uid, gid_t gid,
                                pmix_status_t *rc)
{
    struct px_probes *probes = srv->part.probes;
    struct reader *r;

    PX_LIST_EACH (&probes->readers, struct reader, known, link)
        if (known->fd >= 0 && known->uid == uid && known->gid == gid)
            return known;
    *rc = PMIX_ERR_OUT_OF_RESOURCE;
    if (probes->n_readers >= MAX_READERS)
        return NULL;
    r = malloc(sizeof(*r));
    if (!r) {
        *rc = PMIX_ERR_NOMEM;
        return NULL;
    }
    *r = (struct reader){.server = srv, .uid = uid, .gid = gid, .fd = -1};
    px_list_init(&r->waiting);
    *rc = reader_start(r);
    if (*rc) {
        px_log(PX_LOG_WARN, "monitor", "cannot start a reader for user %u: %s",
               (unsigned)uid, strerror(errno));
        free(r);
        return NULL;
    }
    probes->n_readers++;
    px_list_append(&probes->readers, &r->link);
    px_timer_set(probes->timer, IDLE_MS);
    return r;
}

pmix_status_t px_probe_ask(struct px_server *srv, struct px_probe *p, uid_t uid,
                           gid_t gid, enum px_probe_op op, const char *const *paths,
                           size_t n)
{
    struct head head = {.op = op, .n = (uint32_t)n};
    struct iovec iov[1 + PX_PROBE_FILES] = {{&head, sizeof(head)}};
    struct msghdr msg = {.msg_iov = iov, .msg_iovlen = 1 + n};
    pmix_status_t rc = PMIX_SUCCESS;
    struct reader *r;

    for (size_t i = 0; i < n; i++) {
        iov[1 + i] = (struct iovec){(void *)(uintptr_t)paths[i], strlen(paths[i]) + 1};
        if (iov[1 + i].iov_len > PATH_MAX)
            return PMIX_ERR_BAD_PARAM;
    }
    r = reader_of(srv, uid, gid, &rc);
    if (!r)
        return rc;
    head.id = ++srv->part.probes->last_id;
    if (PX_RETRY(sendmsg(r->fd, &msg, MSG_NOSIGNAL)) < 0)
        return errno == EAGAIN || errno == EWOULDBLOCK ? PMIX_ERR_WOULD_BLOCK
                                                       : PMIX_ERR_OUT_OF_RESOURCE;
    r->used_ms = px_clock_ms();
    p->id = head.id;
    p->n = n;
    px_list_append(&r->waiting, &p->link);
    return PMIX_SUCCESS;
}

/* ---- the part -------------------------------------------------------------------- */

static pmix_status_t create(struct px_server *srv,
                            const struct px_server_start *start PX_UNUSED)
{
    struct px_probes *probes = srv->part.probes;

    px_list_init(&probes->readers);
    probes->timer = px_timer_create(srv->loop, on_timer, probes);
    return probes->timer ? PMIX_SUCCESS : PMIX_ERR_NOMEM;
}

static void destroy(struct px_server *srv)
{
    struct px_probes *probes = srv->part.probes;

    PX_LIST_EACH (&probes->readers, struct reader, r, link) {
        if (r->fd >= 0)
            reader_end(r);
        px_reclaim_end(r->pid);
        reader_free(r);
    }
    px_timer_free(probes->timer);
}

const struct px_server_part px_probes_part = {
    .name = "probes",
    PX_PART_STATE(probes, struct px_probes),
    .create = create,
    .destroy = destroy,
};

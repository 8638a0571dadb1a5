/* SPDX-License-Identifier: BSD-3-Clause */
/* Linux: reads /proc without the C library's buffered functions, which allocate and
 * lock. */
#include "core/os/proc.h"

#include "core/base/attr.h"
#include "core/base/str.h"
#include "core/os/os.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

enum {
    STAT_B = 1024,         /* stat has about 330 bytes; the name in it at most 64 */
    STATUS_B = 8192,       /* of status */
    LIMITS_B = 4096,       /* limits has about 1400 bytes */
    MAX_FIELD = UINT8_MAX, /* of stat; more fields than stat has */
    TAG_BITS = 48,         /* of a tag; the level is above these bits */
    MIN_LEVEL = 4,         /* 35 years */
    MAX_LEVEL = 1 << 13,
};

/* Field numbers of /proc/<pid>/stat from proc(5). */
enum { STATE = 3, PARENT = 4, PGRP = 5, THREADS = 20, START = 22 };

/* Writes "<before><number><after>" to out. False if out is too small. */
static bool compose(const char *before, uint64_t number, const char *after, char *out,
                    size_t size)
{
    char digits[24];
    size_t n = sizeof(digits), before_n = strlen(before), after_n = strlen(after);

    do {
        digits[--n] = (char)('0' + number % 10);
        number /= 10;
    } while (number);
    size_t digits_n = sizeof(digits) - n;
    if (before_n + digits_n + after_n >= size)
        return false;
    memcpy(out, before, before_n);
    memcpy(out + before_n, digits + n, digits_n);
    memcpy(out + before_n + digits_n, after, after_n + 1);
    return true;
}

bool px_osproc_path(int64_t pid, const char *rest, char *out, size_t size)
{
    return pid > 0 && compose("/proc/", (uint64_t)pid, rest, out, size);
}

bool px_osproc_fd_path(int fd, char *out, size_t size)
{
    char link[64];

    if (fd < 0 || size == 0 ||
        !compose("/proc/self/fd/", (uint64_t)fd, "", link, sizeof(link)))
        return false;
    ssize_t n = readlink(link, out, size);
    if (n <= 0 || (size_t)n >= size || out[0] != '/')
        return false;
    out[n] = '\0';
    return true;
}

bool px_osproc_read(const char *path, char *out, size_t size)
{
    size_t have = 0;
    PX_AUTOCLOSE int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);

    if (fd < 0)
        return false;
    while (have < size) {
        ssize_t n = PX_RETRY(read(fd, out + have, size - have));

        if (n == 0) {
            out[have] = '\0';
            return true;
        }
        if (n < 0)
            return false;
        have += (size_t)n;
    }
    return false;
}

/* Parses an unsigned number that ends at a space, newline or NUL. False if s has
 * none. */
static bool number(const char *s, uint64_t *out)
{
    uint64_t n = 0;

    if (!isdigit((unsigned char)*s))
        return false;
    for (; isdigit((unsigned char)*s); s++) {
        if (n > (UINT64_MAX - 9) / 10)
            return false;
        n = n * 10 + (uint64_t)(*s - '0');
    }
    *out = n;
    return *s == ' ' || *s == '\n' || *s == '\0';
}

/* Starts after the last bracket. The process name may contain spaces and brackets; the
 * later fields contain no bracket. */
bool px_osproc_stat_parse(const char *text, struct px_osproc_stat *out)
{
    const char *at = strrchr(text, ')');
    struct px_osproc_stat st = {0};
    uint64_t parent = 0, pgrp = 0, threads = 0;

    if (!at || at[1] != ' ')
        return false;
    at += 2;
    for (int field = STATE; field <= START; field++, at++) {
        if (field == STATE)
            st.state = *at;
        if ((field == PARENT && !number(at, &parent)) ||
            (field == PGRP && !number(at, &pgrp)) ||
            (field == THREADS && !number(at, &threads)) ||
            (field == START && !number(at, &st.start)))
            return false;
        if (field < START && !(at = strchr(at, ' ')))
            return false;
    }
    if (!isalpha((unsigned char)st.state) || parent > INT32_MAX || pgrp > INT32_MAX ||
        threads > INT32_MAX)
        return false;
    st.parent = (int64_t)parent;
    st.pgrp = (int64_t)pgrp;
    st.threads = (int64_t)threads;
    *out = st;
    return true;
}

bool px_osproc_stat(int64_t pid, struct px_osproc_stat *out)
{
    char path[64], text[STAT_B];

    return px_osproc_path(pid, "/stat", path, sizeof(path)) &&
           px_osproc_read(path, text, sizeof(text)) && px_osproc_stat_parse(text, out);
}

bool px_osproc_stat_ended(const struct px_osproc_stat *st)
{
    return (st->state == 'Z' && st->threads <= 1) || st->state == 'X';
}

bool px_osproc_ended(int64_t pid, uint64_t start)
{
    struct px_osproc_stat st;

    if (pid <= 0 || pid > INT32_MAX)
        return true;
    if (!px_osproc_stat(pid, &st)) /* without /proc, ask the kernel */
        return kill((pid_t)pid, 0) < 0 && errno == ESRCH;
    return (start && st.start != start) || px_osproc_stat_ended(&st);
}

/* ---- one process, all processes ------------------------------------------------- */

struct walk {
    bool (*each)(void *arg, int64_t pid);
    void *arg;
};

static bool visit(void *arg, const char *name)
{
    const struct walk *w = arg;
    int64_t pid;

    return !px_str_to_i64(name, 2, INT32_MAX, &pid) || w->each(w->arg, pid);
}

int px_osproc_each(bool (*each)(void *arg, int64_t pid), void *arg)
{
    PX_AUTOCLOSE int proc = open(PX_OSPROC, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    struct walk w = {each, arg};

    return proc < 0 ? errno : px_os_each_name(proc, visit, &w);
}

bool px_osproc_owner(int64_t pid, uid_t *uid)
{
    struct stat st;
    char path[64];

    if (!px_osproc_path(pid, "", path, sizeof(path)) || stat(path, &st) < 0)
        return false;
    *uid = st.st_uid;
    return true;
}

/* Reads a text of the process. Cuts the newline at the end. */
static bool read_text(int64_t pid, const char *file, char *out, size_t size)
{
    char path[64];

    if (!px_osproc_path(pid, file, path, sizeof(path)) ||
        !px_osproc_read(path, out, size))
        return false;
    out[strlen(out) - (*out && out[strlen(out) - 1] == '\n')] = '\0';
    return true;
}

bool px_osproc_name(int64_t pid, char *out, size_t size)
{
    return read_text(pid, "/comm", out, size);
}

bool px_osproc_is_traced(int64_t pid)
{
    static const char label[] = "\nTracerPid:\t";
    char text[STATUS_B];
    const char *at;

    if (!read_text(pid, "/status", text, sizeof(text)) || !(at = strstr(text, label)))
        return true;
    return at[sizeof(label) - 1] != '0';
}

bool px_osproc_command_line(char *out, size_t size)
{
    PX_AUTOCLOSE int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);

    if (n <= 0)
        return false;
    out[n] = '\0';
    for (ssize_t i = 0; i + 1 < n; i++)
        if (!out[i])
            out[i] = ' ';
    return true;
}

size_t px_osproc_space(char out[128])
{
    char boot[64], space[64];
    size_t n = 0;

    if (px_osproc_read("/proc/sys/kernel/random/boot_id", boot, sizeof(boot))) {
        n = strcspn(boot, " \n");
        memcpy(out, boot, n);
        ssize_t link_n = readlink("/proc/self/ns/pid", space, sizeof(space) - 1);
        space[link_n > 0 ? link_n : 0] = '\0';
        const char *digits = space + strcspn(space, "0123456789");
        size_t digits_n = strspn(digits, "0123456789");
        if (link_n > 0) {
            out[n++] = '.';
            memcpy(out + n, digits, digits_n);
            n += digits_n;
        }
    }
    out[n] = '\0';
    return n;
}

/* ---- resource limit tags -------------------------------------------------------- */

/* Computes a tag one level below limit. An unprivileged process can only lower a hard
 * limit, so each nested launcher uses the next lower level. */
uint64_t px_osproc_rlimit_tag(int64_t pid, uint64_t start, uint64_t limit)
{
    uint64_t level = limit >> TAG_BITS;
    uint64_t bits = start * UINT64_C(0x9e3779b97f4a7c15) + (uint64_t)pid;

    if (level > MAX_LEVEL)
        level = MAX_LEVEL + 1;
    if (!start || level <= MIN_LEVEL)
        return 0;
    bits = (bits ^ bits >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    bits = (bits ^ bits >> 27) * UINT64_C(0x94d049bb133111eb);
    return (level - 1) << TAG_BITS | bits >> (64 - TAG_BITS);
}

bool px_osproc_has_rlimit_tag(int64_t pid, uint64_t tag)
{
    static const char label[] = "\nMax realtime timeout ";
    static const uint64_t bits = (UINT64_C(1) << TAG_BITS) - 1;
    char path[64], text[LIMITS_B];
    uint64_t hard;

    if (!tag || !px_osproc_path(pid, "/limits", path, sizeof(path)) ||
        !px_osproc_read(path, text, sizeof(text)))
        return false;
    const char *at = strstr(text, label);
    if (!at)
        return false;
    at += sizeof(label) - 1;
    at += strspn(at, " ");
    at += strcspn(at, " "); /* skip the soft limit */
    at += strspn(at, " ");
    return number(at, &hard) && hard >> TAG_BITS >= MIN_LEVEL &&
           hard >> TAG_BITS <= MAX_LEVEL && (hard & bits) == (tag & bits);
}

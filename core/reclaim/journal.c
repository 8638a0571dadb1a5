/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of the journal: a head of fixed size in the byte order of the machine, and a
 * path. Each carries a checksum, so that a torn end is seen for what it is. */
#include "core/reclaim/journal.h"

#include "core/base/attr.h"
#include "core/base/proc.h"
#include "core/reclaim/rmtree.h"
#include "core/base/str.h"

#include <string.h>

enum { ALIGN = 8 };

static const uint32_t magic = 0x314a4e54; /* "TNJ1", where the lowest byte is first */

struct head {
    uint32_t magic;
    uint32_t length; /* of all of it */
    uint64_t sum;    /* of all that follows this member */
    uint8_t type;
    uint8_t kind;
    uint16_t flags;
    uint32_t slot;
    uint64_t scope;
    uint32_t uid, gid;
    uint64_t x, y;
};

enum { SUMMED_FROM = offsetof(struct head, type) };

_Static_assert(sizeof(struct head) == 56, "the same on every machine");
_Static_assert(sizeof(struct head) + PX_RM_MAX_PATH + ALIGN < PX_JOURNAL_RECORD_B,
               "the longest path fits");

/* FNV-1a. Against accidents, not against forgers: those could write a right one. */
static uint64_t sum_of(const uint8_t *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

/* With a path of n bytes and what terminates it. */
static size_t length_with(size_t n)
{
    return (sizeof(struct head) + n + 1 + ALIGN - 1) / ALIGN * ALIGN;
}

size_t px_journal_encode(const struct px_journal_record *r,
                         uint8_t out[PX_JOURNAL_RECORD_B])
{
    const char *path = r->path ? r->path : "";
    size_t n = strnlen(path, PX_RM_MAX_PATH + 1);
    size_t length = length_with(n);
    struct head head = {.magic = magic,
                        .length = (uint32_t)length,
                        .type = r->type,
                        .kind = r->kind,
                        .flags = r->flags,
                        .slot = r->slot,
                        .scope = r->scope,
                        .uid = r->uid,
                        .gid = r->gid,
                        .x = r->x,
                        .y = r->y};

    if (n > PX_RM_MAX_PATH)
        return 0;
    memcpy(out, &head, sizeof(head));
    memcpy(out + sizeof(head), path, n);
    memset(out + sizeof(head) + n, 0, length - sizeof(head) - n);
    head.sum = sum_of(out + SUMMED_FROM, length - SUMMED_FROM);
    memcpy(out + offsetof(struct head, sum), &head.sum, sizeof(head.sum));
    return length;
}

/* ---- reading what may be anything ----------------------------------------------- */

/* The path fills its room but for zeros: fewer than a unit, and at least one. */
static bool is_terminated(const uint8_t *path, size_t room)
{
    size_t n = strnlen((const char *)path, room);

    if (n == room || room != length_with(n) - sizeof(struct head))
        return false;
    for (size_t i = n; i < room; i++) {
        if (path[i])
            return false;
    }
    return true;
}

static bool is_item(const struct px_journal_record *r)
{
    char normal[PX_RM_MAX_PATH + 1];
    const uint16_t known = PX_RM_RECURSE | PX_RM_LEAVE_TOP | PX_RM_EMPTY |
                           PX_RM_ANY_GID | PX_RM_SAME;

    return r->kind >= PX_RM_FILE && r->kind <= PX_RM_KEEP && !(r->flags & ~known) &&
           !px_rm_path_check(r->path, normal) && strcmp(normal, r->path) == 0;
}

static bool is_pid(uint64_t n)
{
    return n >= 1 && n <= INT32_MAX;
}

/* What is of no meaning to a type is zero. */
static bool is_right(const struct px_journal_record *r, bool first)
{
    bool bare = !r->kind && !r->path[0];

    if (r->slot >= PX_JOURNAL_MAX_SLOT)
        return false;
    switch (r->type) {
    case PX_JOURNAL_HEAD:
        return first && !r->kind && !(r->flags & ~PX_JOURNAL_UNLOCKED) && !r->slot &&
               !r->scope && is_pid(r->x);
    case PX_JOURNAL_ITEM:
        return is_item(r);
    case PX_JOURNAL_PROC:
        return bare && !(r->flags & ~PX_JOURNAL_END) && is_pid(r->x);
    case PX_JOURNAL_NONE:
        return bare && !r->flags;
    case PX_JOURNAL_DONE:
        return bare && !r->flags && !r->slot;
    default:
        return false;
    }
}

bool px_journal_next(const uint8_t *bytes, size_t n, size_t *at,
                     struct px_journal_record *r)
{
    struct head head;

    if (*at > n || n - *at < length_with(0))
        return false;
    const uint8_t *from = bytes + *at;
    memcpy(&head, from, sizeof(head));
    if (head.magic != magic || head.length < length_with(0) ||
        head.length > length_with(PX_RM_MAX_PATH) || head.length > n - *at ||
        head.sum != sum_of(from + SUMMED_FROM, head.length - SUMMED_FROM) ||
        !is_terminated(from + sizeof(head), head.length - sizeof(head)))
        return false;
    struct px_journal_record found = {.type = head.type,
                                      .kind = head.kind,
                                      .flags = head.flags,
                                      .slot = head.slot,
                                      .scope = head.scope,
                                      .uid = head.uid,
                                      .gid = head.gid,
                                      .x = head.x,
                                      .y = head.y,
                                      .path = (const char *)from + sizeof(head)};
    if (!is_right(&found, *at == 0))
        return false;
    *r = found;
    *at += head.length;
    return true;
}

/* ---- who and where -------------------------------------------------------------- */

uint64_t px_journal_start_time(int64_t pid)
{
    struct px_proc_stat st;

    return px_proc_stat(pid, &st) && !px_proc_stat_ended(&st) ? st.start : 0;
}

/* Pids mean something within a namespace only, which may be gone while the system is
 * not. */
static size_t add_pid_namespace(char *out, size_t size)
{
    char link[64];
    ssize_t n = readlink("/proc/self/ns/pid", link, sizeof(link) - 1);

    if (n <= 0)
        return 0;
    link[n] = '\0';
    const char *from = link + strcspn(link, "0123456789");
    size_t digits = strspn(from, "0123456789");
    if (digits + 1 >= size)
        return 0;
    out[0] = '.';
    memcpy(out + 1, from, digits);
    return digits + 1;
}

void px_journal_whereabouts(const char *node, char *out)
{
    enum { SIZE = 320, BOOT_B = 64 };
    char boot[BOOT_B];
    size_t n = 0;

    if (px_proc_read("/proc/sys/kernel/random/boot_id", boot, sizeof(boot))) {
        n = strcspn(boot, " \n");
        memcpy(out, boot, n);
        n += add_pid_namespace(out + n, SIZE - n);
    }
    out[n++] = ' ';
    px_str_copy(out + n, SIZE - n, node);
}

bool px_journal_is_here(const struct px_journal_record *head, const char *node)
{
    char here[320];

    px_journal_whereabouts(node, here);
    return here[0] != ' ' && strcmp(here, head->path) == 0;
}

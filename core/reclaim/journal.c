/* SPDX-License-Identifier: BSD-3-Clause */
/* Records of the journal: a fixed-size head in the machine's byte order, and a path. A
 * checksum in each record detects a torn end. A server may append during the read, and
 * any user may have written the file. So the reader copies the file with read calls and
 * uses the copy only. A mapping could be truncated while in use. */
#include "core/reclaim/journal.h"

#include "core/base/attr.h"
#include "core/os/proc.h"
#include "core/base/str.h"
#include "core/reclaim/rmtree.h"

#include <string.h>
#include <sys/stat.h>

/* "TNJ1", lowest byte first. Before each record stand this magic, the record's total
 * length, and the checksum of the bytes after the checksum. */
static const uint32_t magic = 0x314a4e54;

enum {
    LENGTH_AT = 4,
    SUM_AT = 8,
    RECORD_AT = 16,
    PATH_AT = RECORD_AT + offsetof(struct px_journal_record, path),
    ALIGN = 8,
    MIN_B = PATH_AT + ALIGN,
};

_Static_assert(PATH_AT == 56, "the same on every machine");
_Static_assert(PATH_AT + PX_RM_MAX_PATH + ALIGN < PX_JOURNAL_RECORD_B,
               "the longest path fits");

/* Computes the FNV-1a checksum. It detects accidents, not forgery. */
static uint64_t sum_of(const uint8_t *bytes, size_t n)
{
    uint64_t sum = 0xcbf29ce484222325u;

    for (size_t i = 0; i < n; i++)
        sum = (sum ^ bytes[i]) * 0x100000001b3u;
    return sum;
}

size_t px_journal_encode(const struct px_journal_record *r,
                         uint8_t out[PX_JOURNAL_RECORD_B])
{
    const char *path = r->path ? r->path : "";
    size_t n = strnlen(path, PX_RM_MAX_PATH + 1);
    uint32_t length = (uint32_t)((PATH_AT + n + 1 + ALIGN - 1) / ALIGN * ALIGN);

    if (n > PX_RM_MAX_PATH)
        return 0;
    memcpy(out, &magic, sizeof(magic));
    memcpy(out + LENGTH_AT, &length, sizeof(length));
    memcpy(out + RECORD_AT, r, PATH_AT - RECORD_AT);
    memcpy(out + PATH_AT, path, n);
    memset(out + PATH_AT + n, 0, length - PATH_AT - n);
    uint64_t sum = sum_of(out + RECORD_AT, length - RECORD_AT);
    memcpy(out + SUM_AT, &sum, sizeof(sum));
    return length;
}

/* ---- reading untrusted bytes ---------------------------------------------------- */

static bool is_item(const struct px_journal_record *r)
{
    char normal[PX_RM_MAX_PATH + 1];

    return r->kind >= PX_RM_FILE && r->kind <= PX_RM_KEEP &&
           r->flags < 2 * PX_RM_SAME && !px_rm_path_check(r->path, normal) &&
           strcmp(normal, r->path) == 0;
}

/* True if r is valid. Members that the type does not use must be zero. */
static bool is_right(const struct px_journal_record *r, bool first)
{
    bool bare = !r->kind && !r->path[0], is_pid = r->x >= 1 && r->x <= INT32_MAX;

    if (r->slot >= PX_JOURNAL_MAX_SLOT)
        return false;
    switch (r->type) {
    case PX_JOURNAL_HEAD:
        return first && !r->kind && !(r->flags & ~PX_JOURNAL_UNLOCKED) && !r->slot &&
               !r->scope && is_pid;
    case PX_JOURNAL_ITEM:
        return is_item(r);
    case PX_JOURNAL_PROC:
        return bare && !(r->flags & ~PX_JOURNAL_END) && is_pid;
    case PX_JOURNAL_NONE:
        return bare && !r->flags;
    case PX_JOURNAL_DONE:
        return bare && !r->flags && !r->slot;
    default:
        return false;
    }
}

/* Accepts a record only if px_journal_encode would write exactly the same bytes. */
bool px_journal_next(const uint8_t *bytes, size_t n, size_t *at,
                     struct px_journal_record *r)
{
    uint8_t again[PX_JOURNAL_RECORD_B];
    struct px_journal_record found;

    if (*at > n || n - *at < MIN_B)
        return false;
    const uint8_t *from = bytes + *at;
    size_t room = n - *at - PATH_AT;
    memcpy(&found, from + RECORD_AT, PATH_AT - RECORD_AT);
    found.path = (const char *)from + PATH_AT;
    if (room > PX_RM_MAX_PATH)
        room = PX_RM_MAX_PATH + 1;
    if (memcmp(from, &magic, sizeof(magic)) || strnlen(found.path, room) == room)
        return false;
    size_t length = px_journal_encode(&found, again);
    if (length > n - *at || memcmp(from, again, length) || !is_right(&found, *at == 0))
        return false;
    *r = found;
    *at += length;
    return true;
}

/* ---- node and processes --------------------------------------------------------- */

uint64_t px_journal_start_time(int64_t pid)
{
    struct px_osproc_stat st;

    return px_osproc_stat(pid, &st) && !px_osproc_stat_ended(&st) ? st.start : 0;
}

/* Adds the pid namespace because pids are valid only inside a namespace, which may end
 * before the system. */
void px_journal_whereabouts(const char *node, char *out)
{
    enum { SIZE = 320 };
    char space[128];
    size_t n = px_osproc_space(space);

    memcpy(out, space, n);
    out[n++] = ' ';
    px_str_copy(out + n, SIZE - n, node);
}

bool px_journal_is_here(const struct px_journal_record *head, const char *node)
{
    char here[320];

    px_journal_whereabouts(node, here);
    return here[0] != ' ' &&
           (node ? strcmp(here, head->path) == 0 : px_str_starts(head->path, here));
}

/* ---- order: scope, slot, age ---------------------------------------------------- */

static bool is_before(const struct px_journal_entry *a,
                      const struct px_journal_entry *b)
{
    if (a->scope != b->scope)
        return a->scope < b->scope;
    return a->slot != b->slot ? a->slot < b->slot : a->at < b->at;
}

static void swap(struct px_journal_entry *a, struct px_journal_entry *b)
{
    struct px_journal_entry was = *a;

    *a = *b;
    *b = was;
}

/* Heap sort, because qsort may allocate. */
static void sort(struct px_journal_entry *all, size_t n)
{
    for (size_t heap = n / 2, end = n; end > 1;) {
        if (heap)
            heap--;
        else
            swap(&all[0], &all[--end]);
        for (size_t i = heap, child; (child = 2 * i + 1) < end; i = child) {
            if (child + 1 < end && is_before(&all[child], &all[child + 1]))
                child++;
            if (!is_before(&all[i], &all[child]))
                break;
            swap(&all[i], &all[child]);
        }
    }
}

size_t px_journal_view_scope(const struct px_journal_view *view, size_t first)
{
    size_t end = first;

    while (end < view->n && view->entries[end].scope == view->entries[first].scope)
        end++;
    return end - first;
}

/* Keeps the last record of each slot, unless the record is NONE or precedes the scope's
 * last DONE. */
static void keep_last(struct px_journal_view *view)
{
    struct px_journal_entry *all = view->entries;
    size_t kept = 0;

    for (size_t first = 0, n; first < view->n; first += n) {
        uint64_t void_to = 0; /* offset after the last DONE */

        n = px_journal_view_scope(view, first);
        for (size_t i = first; i < first + n; i++) {
            if (all[i].type == PX_JOURNAL_DONE && all[i].at + 1 > void_to)
                void_to = all[i].at + 1;
        }
        for (size_t i = first; i < first + n; i++) {
            bool is_last = i + 1 == first + n || all[i + 1].slot != all[i].slot;

            if (is_last && all[i].at >= void_to && all[i].type != PX_JOURNAL_NONE)
                all[kept++] = all[i];
        }
    }
    view->n = kept;
}

/* ---- the view ------------------------------------------------------------------- */

/* True if the view needs the record. Other scopes' KEEP paths count, too, and so do
 * records that cancel them. */
static bool is_wanted(const struct px_journal_record *r, const uint64_t *only)
{
    return !only || *only == r->scope || r->type == PX_JOURNAL_NONE ||
           r->type == PX_JOURNAL_DONE ||
           (r->type == PX_JOURNAL_ITEM && r->kind == PX_RM_KEEP);
}

static void decode(struct px_journal_view *view, const uint64_t *only)
{
    struct px_journal_record r;

    for (size_t at = 0; px_journal_next(view->bytes, view->size_b, &view->valid_b, &r);
         at = view->valid_b) {
        if (r.type == PX_JOURNAL_HEAD) {
            view->has_head = true;
            view->head = r;
        } else if (is_wanted(&r, only)) {
            view->entries[view->n++] = (struct px_journal_entry){
                .scope = r.scope, .at = at, .slot = r.slot, .type = r.type};
        }
    }
    sort(view->entries, view->n);
    keep_last(view);
}

/* Reads the file into the view. The file may have become shorter. */
static int read_all(int fd, struct px_journal_view *view)
{
    ssize_t n = 1;

    for (; n > 0 && view->size_b < view->mapped_b; view->size_b += (size_t)n) {
        n = PX_RETRY(pread(fd, view->bytes + view->size_b,
                           view->mapped_b - view->size_b, (off_t)view->size_b));
        if (n < 0)
            return errno;
    }
    return 0;
}

int px_journal_view_load(int journal, const uint64_t *only,
                         struct px_journal_view *view)
{
    struct stat st;

    *view = (struct px_journal_view){0};
    if (fstat(journal, &st) < 0)
        return errno;
    if (!S_ISREG(st.st_mode))
        return EPERM;
    if (st.st_size > PX_JOURNAL_MAX_B)
        return EFBIG;
    if (st.st_size == 0)
        return 0;
    view->mapped_b = (size_t)st.st_size;
    view->entries_b = (view->mapped_b / MIN_B + 1) * sizeof(struct px_journal_entry);
    view->bytes = px_reclaim_map(view->mapped_b);
    view->entries = px_reclaim_map(view->entries_b);
    int errnum = view->bytes && view->entries ? read_all(journal, view) : ENOMEM;
    if (errnum)
        px_journal_view_unload(view);
    else
        decode(view, only);
    return errnum;
}

void px_journal_view_unload(struct px_journal_view *view)
{
    px_reclaim_unmap(view->bytes, view->mapped_b);
    px_reclaim_unmap(view->entries, view->entries_b);
    *view = (struct px_journal_view){0};
}

/* Decodes the record again. Cannot fail, because the view contains valid records
 * only. */
void px_journal_view_get(const struct px_journal_view *view,
                         const struct px_journal_entry *entry,
                         struct px_journal_record *r)
{
    size_t at = entry->at;

    *r = (struct px_journal_record){.path = ""};
    (void)px_journal_next(view->bytes, view->size_b, &at, r);
}

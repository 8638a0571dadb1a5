/* SPDX-License-Identifier: BSD-3-Clause */
/* What a journal says in the end. A server appends to it while it is read, and it may
 * have been written by anybody: so it is copied first, by reads (a mapping of the file
 * could be cut off under us), and then only the copy is looked at. */
#include "core/reclaim/journal_view.h"

#include "core/base/proc.h"
#include "core/reclaim/rmitem.h"
#include "core/reclaim/sort.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

/* The shortest record: no journal has more of them than fit. */
enum { MIN_RECORD_B = 64 };

void *px_reclaim_map(size_t size_b)
{
    void *mapped = mmap(NULL, size_b, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    return mapped == MAP_FAILED ? NULL : mapped;
}

void px_reclaim_unmap(void *mapped, size_t size_b)
{
    if (mapped)
        munmap(mapped, size_b);
}

/* ---- the order: scope, slot, age ------------------------------------------------ */

static bool is_before(const void *x, const void *y)
{
    const struct px_journal_entry *a = x, *b = y;

    if (a->scope != b->scope)
        return a->scope < b->scope;
    return a->slot != b->slot ? a->slot < b->slot : a->at < b->at;
}

size_t px_journal_view_scope(const struct px_journal_view *view, size_t first)
{
    size_t end = first;

    while (end < view->n && view->entries[end].scope == view->entries[first].scope)
        end++;
    return end - first;
}

/* Keeps the last record of each slot, if it came after the scope was last done and says
 * something. */
static void keep_last(struct px_journal_view *view)
{
    struct px_journal_entry *all = view->entries;
    size_t kept = 0;

    for (size_t first = 0, n; first < view->n; first += n) {
        uint64_t void_to = 0; /* offset behind the last DONE */

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

/* ---- reading -------------------------------------------------------------------- */

/* What other scopes want kept counts, too, and what makes that void. */
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
    px_heap_sort(view->entries, view->n, sizeof(*view->entries), is_before);
    keep_last(view);
}

static int read_all(int fd, struct px_journal_view *view)
{
    while (view->size_b < view->mapped_b) {
        ssize_t n = pread(fd, view->bytes + view->size_b, view->mapped_b - view->size_b,
                          (off_t)view->size_b);

        if (n == 0)
            break; /* shorter than it was */
        if (n < 0 && errno != EINTR)
            return errno;
        if (n > 0)
            view->size_b += (size_t)n;
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
    view->entries_b = (view->mapped_b / MIN_RECORD_B + 1) *
                      sizeof(struct px_journal_entry);
    view->bytes = px_reclaim_map(view->mapped_b);
    view->entries = px_reclaim_map(view->entries_b);
    int errnum = view->bytes && view->entries ? read_all(journal, view) : ENOMEM;
    if (errnum) {
        px_journal_view_unload(view);
        return errnum;
    }
    decode(view, only);
    return 0;
}

void px_journal_view_unload(struct px_journal_view *view)
{
    px_reclaim_unmap(view->bytes, view->mapped_b);
    px_reclaim_unmap(view->entries, view->entries_b);
    *view = (struct px_journal_view){0};
}

void px_journal_view_get(const struct px_journal_view *view,
                         const struct px_journal_entry *entry,
                         struct px_journal_record *r)
{
    size_t at = entry->at;

    if (!px_journal_next(view->bytes, view->size_b, &at, r))
        *r = (struct px_journal_record){.path = ""}; /* cannot be: it was read before */
}

bool px_journal_view_in_use(const struct px_journal_view *view, bool is_here,
                            bool unlocked, bool shared, bool found)
{
    bool has_no_lock = view->has_head && view->head.flags & PX_JOURNAL_UNLOCKED;

    if (!unlocked && !(shared && view->has_head) && !(found && has_no_lock))
        return false;
    return !is_here || !px_proc_ended((int64_t)view->head.x, view->head.y);
}

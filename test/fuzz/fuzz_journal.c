/* SPDX-License-Identifier: BSD-3-Clause */
/* Any bytes as the journal of a server. Each decoded record is valid, and is encoded as the same bytes
 * again. The plan has each item once, at a path in normal form. The target removes nothing. */
#include "fuzz.h"
#include "core/os/proc.h"
#include "core/reclaim/reclaim.h"

#include <string.h>
#include <sys/mman.h>

static const char spare[] = "/tmp/pmix-server.x";

static void plausible(const struct px_journal_record *r)
{
    char normal[PX_RM_MAX_PATH + 1];

    FUZZ_MUST(r->type <= PX_JOURNAL_DONE);
    FUZZ_MUST(r->slot < PX_JOURNAL_MAX_SLOT);
    FUZZ_MUST(r->path && strlen(r->path) <= PX_RM_MAX_PATH);
    if (r->type == PX_JOURNAL_ITEM) {
        FUZZ_MUST(r->kind >= PX_RM_FILE && r->kind <= PX_RM_KEEP && r->flags < 32);
        FUZZ_MUST(!px_rm_path_check(r->path, normal));
        FUZZ_MUST(strcmp(r->path, normal) == 0);
    }
    if (r->type == PX_JOURNAL_PROC)
        FUZZ_MUST(r->x >= 1 && r->x <= INT32_MAX);
}

/* Reads records; returns the length of the valid part. */
static size_t read_records(const uint8_t *data, size_t size)
{
    uint8_t again[PX_JOURNAL_RECORD_B];
    struct px_journal_record r;
    size_t at = 0, from = 0;

    for (; px_journal_next(data, size, &at, &r); from = at) {
        FUZZ_MUST(at > from && at <= size);
        FUZZ_MUST(r.type != PX_JOURNAL_HEAD || from == 0);
        plausible(&r);
        FUZZ_MUST(px_journal_encode(&r, again) == at - from);
        FUZZ_MUST(memcmp(again, data + from, at - from) == 0);
    }
    FUZZ_MUST(at == from);
    return at;
}

static void in_order(const struct px_journal_view *view)
{
    for (size_t i = 0; i < view->n; i++) {
        const struct px_journal_entry *e = &view->entries[i];
        struct px_journal_record r;

        FUZZ_MUST(e->type == PX_JOURNAL_ITEM || e->type == PX_JOURNAL_PROC);
        FUZZ_MUST(!i || e[-1].scope < e->scope ||
                  (e[-1].scope == e->scope && e[-1].slot < e->slot));
        px_journal_view_get(view, e, &r);
        FUZZ_MUST(r.type == e->type && r.scope == e->scope && r.slot == e->slot);
    }
}

/* Checks each item of a record's owner; returns the number of items. */
static size_t plan_of(const struct px_journal_view *view, size_t first, size_t n,
                      const struct px_journal_record *owner,
                      const struct px_reclaim_pick *pick, struct px_rm_item *items)
{
    size_t n_items = px_reclaim_collect(view, first, n, owner, pick, items),
           removed = 0;

    FUZZ_MUST(n_items <= view->n + 1);
    for (size_t i = 0; i < n_items; i++) {
        FUZZ_MUST(items[i].path[0] == '/');
        if (items[i].kind == PX_RM_KEEP)
            continue;
        FUZZ_MUST(!pick || (items[i].kind == PX_RM_FILE &&
                            !px_rm_path_is_in(items[i].path, pick->spare)));
        removed++;
    }
    FUZZ_MUST(!n_items || removed);
    return removed;
}

static void plan(const struct px_journal_view *view, size_t first, size_t n,
                 const struct px_reclaim_pick *pick)
{
    size_t wanted = 0, planned = 0;
    struct px_rm_item *items = calloc(view->n + 1, sizeof(*items));

    FUZZ_MUST(items);
    for (size_t i = first; i < first + n; i++)
        view->entries[i].done = view->entries[i].type != PX_JOURNAL_ITEM;
    for (size_t i = first; i < first + n; i++) {
        struct px_journal_record r;

        px_journal_view_get(view, &view->entries[i], &r);
        if (r.type != PX_JOURNAL_ITEM || r.kind == PX_RM_KEEP)
            continue;
        wanted++;
        if (!view->entries[i].done)
            planned += plan_of(view, first, n, &r, pick, items);
        FUZZ_MUST(view->entries[i].done);
    }
    FUZZ_MUST(pick ? planned <= wanted : planned == wanted);
    free(items);
}

static void judge(const uint8_t *data, size_t size)
{
    static const struct px_reclaim_pick files = {.which = PX_RECLAIM_FILES,
                                                 .spare = spare};
    struct px_journal_view view;
    struct px_osproc_stat st;
    size_t good = read_records(data, size);
    int fd = memfd_create("journal", MFD_CLOEXEC);

    FUZZ_MUST(fd >= 0 && write(fd, data, size) == (ssize_t)size);
    FUZZ_MUST(px_journal_view_load(fd, NULL, &view) == 0);
    FUZZ_MUST(view.valid_b == good);
    in_order(&view);
    for (size_t first = 0, n; first < view.n; first += n) {
        n = px_journal_view_scope(&view, first);
        plan(&view, first, n, NULL);
        plan(&view, first, n, &files);
    }
    if (view.has_head) {
        FUZZ_MUST(!px_journal_is_here(&view.head, "node") ||
                  strstr(view.head.path, " node"));
        if (px_osproc_stat_parse(view.head.path, &st)) /* a text like any other */
            FUZZ_MUST(st.pgrp >= 0 && st.threads >= 0);
    }
    px_journal_view_unload(&view);
    close(fd);
}

/* Corrects magic number, length and checksum, so that the fuzzer reaches the code after these checks.
 * Shortens the last record to the end of the input. */
static void mend(uint8_t *bytes, size_t size)
{
    enum { LENGTH = 4, SUM = 8, SUMMED = 16, SHORTEST = 64, LONGEST = 4152 };
    uint8_t right[PX_JOURNAL_RECORD_B];
    uint32_t length;

    FUZZ_MUST(px_journal_encode(&(struct px_journal_record){0}, right) == SHORTEST);
    for (; size >= SHORTEST; bytes += length, size -= length) {
        uint64_t sum = 0xcbf29ce484222325u;

        memcpy(&length, bytes + LENGTH, sizeof(length));
        length = length % (LONGEST + 1) / 8 * 8;
        if (length < SHORTEST)
            length = SHORTEST;
        if (length > size)
            length = (uint32_t)(size / 8 * 8);
        memcpy(bytes, right, LENGTH);
        memcpy(bytes + LENGTH, &length, sizeof(length));
        for (size_t i = SUMMED; i < length; i++)
            sum = (sum ^ bytes[i]) * 0x100000001b3u;
        memcpy(bytes + SUM, &sum, sizeof(sum));
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    uint8_t *mended = malloc(size ? size : 1);

    FUZZ_MUST(mended);
    if (size)
        memcpy(mended, data, size);
    mend(mended, size);
    judge(data, size);
    judge(mended, size);
    free(mended);
    return 0;
}

static bool add(px_buf *out, const struct px_journal_record *r)
{
    uint8_t bytes[PX_JOURNAL_RECORD_B];
    size_t n = px_journal_encode(r, bytes);

    return px_buf_add(out, bytes, n) == PMIX_SUCCESS;
}

bool fuzz_seed(unsigned i, px_buf *out)
{
    const struct px_journal_record records[] = {
        {.type = PX_JOURNAL_HEAD, .x = 1, .y = 2, .path = "1 (a) S 1 2 3 node"},
        {.type = PX_JOURNAL_ITEM, .kind = PX_RM_FILE, .path = "/tmp/pmix-server.x/a"},
        {.type = PX_JOURNAL_ITEM,
         .kind = PX_RM_DIR,
         .flags = PX_RM_RECURSE | PX_RM_SAME,
         .scope = 1,
         .slot = 1,
         .x = 3,
         .y = 4,
         .path = "/tmp/b"},
        {.type = PX_JOURNAL_ITEM,
         .kind = PX_RM_FILE,
         .scope = 1,
         .slot = 2,
         .uid = 5,
         .gid = 6,
         .path = "/tmp/c"},
        {.type = PX_JOURNAL_ITEM,
         .kind = PX_RM_KEEP,
         .scope = 1,
         .slot = 3,
         .path = "/tmp/b/d"},
        {.type = PX_JOURNAL_PROC,
         .flags = PX_JOURNAL_END,
         .scope = 1,
         .slot = 4,
         .x = 7},
        {.type = PX_JOURNAL_NONE, .scope = 1, .slot = 2},
        {.type = PX_JOURNAL_DONE, .scope = 2},
    };
    const size_t n = sizeof(records) / sizeof(records[0]);

    if (i < n) /* one alone */
        return add(out, &records[i]);
    for (size_t k = 0; i == n && k < n; k++) {
        if (!add(out, &records[k]))
            return false;
    }
    return i == n;
}

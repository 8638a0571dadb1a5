/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking at folders of servers, in places where any user may make one. */
#include "core/reclaim/inspect.h"

#include "core/base/attr.h"
#include "core/base/map.h"
#include "core/base/proc.h"
#include "core/reclaim/server_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>

#define MAX_JOURNAL_B (64l << 20) /* a longer one takes too long to look at */

/* Pids of another boot or container mean nothing here. The name of the node does not
 * matter: one machine may play several. */
static bool is_from_here(const struct px_journal_view *view)
{
    char here[320];

    px_journal_whereabouts("", here);
    return view->has_head && here[0] != ' ' &&
           strncmp(here, view->head.path, strlen(here)) == 0;
}

/* The journal is none if it is not the folder's owner's alone. */
static const char *load(int dir, uid_t owner, struct px_journal_view *view,
                        time_t *changed)
{
    PX_AUTOCLOSE int fd = openat(dir, PX_JOURNAL_NAME,
                                 O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
    struct stat st;

    if (fd < 0)
        return errno == ENOENT ? "it has no journal" : "its journal cannot be read";
    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode) || st.st_uid != owner ||
        st.st_nlink != 1)
        return "its journal is none";
    if (st.st_mtime > *changed)
        *changed = st.st_mtime;
    if (st.st_size > MAX_JOURNAL_B)
        return "its journal is too long to be looked at";
    if (px_journal_view_load(fd, NULL, view))
        return "its journal cannot be read";
    if (!view->has_head)
        return "its journal is none";
    if (!is_from_here(view))
        return "of another boot or container";
    return view->valid_b < view->size_b ? "the end of its journal is torn" : NULL;
}

static bool has_lock(int dir, bool *unlocked)
{
    if (flock(dir, LOCK_SH | LOCK_NB) == 0) {
        flock(dir, LOCK_UN);
        return false;
    }
    *unlocked = errno != EWOULDBLOCK;
    return !*unlocked;
}

/* A process may be in several scopes. */
static int count_process(struct px_reclaim_left *out, struct px_map *seen,
                         const struct px_journal_record *r)
{
    const uint64_t key[] = {r->x, r->y};
    void *before = NULL;

    if (px_proc_ended((int64_t)r->x, r->y))
        return 0;
    if (px_map_put(seen, key, sizeof(key), out, &before))
        return ENOMEM;
    out->living += !before;
    return 0;
}

static int count(struct px_reclaim_left *out, const struct px_journal_view *view,
                 bool from_here)
{
    struct px_map seen = {0};
    int errnum = 0;

    for (size_t i = 0; i < view->n && !errnum; i++) {
        struct px_journal_record r;

        px_journal_view_get(view, &view->entries[i], &r);
        if (r.type == PX_JOURNAL_ITEM)
            out->things += r.kind != PX_RM_KEEP;
        else if (r.type == PX_JOURNAL_PROC && from_here)
            errnum = count_process(out, &seen, &r);
    }
    px_map_fini(&seen);
    return errnum;
}

int px_reclaim_inspect(int dir, struct px_reclaim_left *out)
{
    struct px_reclaim_left left = {0};
    struct px_journal_view view = {0};
    bool unlocked = false;
    struct stat st;
    int errnum = 0;

    if (fstat(dir, &st) < 0)
        return errno;
    left.changed = st.st_mtime;
    left.alive = has_lock(dir, &unlocked);
    if (!left.alive) {
        left.note = load(dir, st.st_uid, &view, &left.changed);
        left.alive = px_journal_view_in_use(&view, is_from_here(&view), unlocked,
                                            !px_reclaim_is_local(dir), true);
    }
    if (!left.alive && view.has_head) {
        left.pid = (int64_t)view.head.x;
        errnum = count(&left, &view, is_from_here(&view));
    }
    px_journal_view_unload(&view);
    if (!errnum)
        *out = left;
    return errnum;
}

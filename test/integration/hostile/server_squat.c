/* SPDX-License-Identifier: BSD-3-Clause */
/* Foreign folders in the place of a server's folder, with journals of files that must stay. */
#include "server.h"

#include "core/reclaim/journal.h"
#include "core/reclaim/rmtree.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- hostile journals ---------------------------------------------------------------------------- */

static void put_record(int fd, const struct px_journal_record *r)
{
    uint8_t out[PX_JOURNAL_RECORD_B];
    size_t n = px_journal_encode(r, out);

    if (fd < 0 || n == 0 || write(fd, out, n) != (ssize_t)n)
        die("cannot write a journal");
}

/* Begins the journal of a dead server of this node. */
static int begin_journal(const char *path)
{
    struct px_journal_record head = {.type = PX_JOURNAL_HEAD, .x = 999999, .y = 1};
    int fd = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    char where[320], node[256] = "";

    gethostname(node, sizeof(node) - 1);
    px_journal_whereabouts(node, where);
    head.path = where;
    put_record(fd, &head);
    return fd;
}

void write_journal(struct scene *s, const char *path)
{
    static const struct {
        const char *name;
        uint8_t kind;
        uint32_t uid;
    } items[] = {
        {"C/root", PX_RM_DIR, 0},      {"C/root/f0", PX_RM_FILE, 0},
        {"C/other", PX_RM_DIR, OTHER}, {"C/mine", PX_RM_DIR, USER},
        {"O/top", PX_RM_DIR, OTHER},   {"C/bait", PX_RM_DIR, USER},
        {"d/x", PX_RM_FILE, USER},     {"d/x", PX_RM_FILE, 0},
    };
    int fd = begin_journal(path);

    for (uint32_t i = 0; i < 2 * (sizeof(items) / sizeof(items[0])); i++) {
        struct px_journal_record r = {
            .type = PX_JOURNAL_ITEM,
            .kind = items[i / 2].kind,
            .flags = PX_RM_ANY_GID,
            .slot = i,
            .scope = i % 2, /* the server's own, and of processes that are gone */
            .uid = items[i / 2].uid,
            .gid = items[i / 2].uid,
            .path = at(s, items[i / 2].name)};

        if (r.kind == PX_RM_DIR)
            r.flags |= PX_RM_RECURSE;
        put_record(fd, &r);
    }
    close(fd);
}

void canary_stays(struct scene *s)
{
    stays(s, "C/root/f0 C/root/sub/f0 C/other/f0 C/mine/top/f0 C/bait/f0 O/top/f0 d/x");
}

/* Owners of a folder or a journal: the attacker, or the user of the server. */
enum whose { ATTACKER, SERVER_USER };

struct squat {
    const char *name, *make; /* $ stands for the folder */
    enum whose whose;
    mode_t mode;
    bool has_journal;
    enum whose journal_whose;
};

static const struct squat squats[] = {
    {"a folder of the attacker's", "", ATTACKER, 0700, true, ATTACKER},
    {"a folder of the attacker's, open to all", "", ATTACKER, 0777, true, ATTACKER},
    {"a folder of the attacker's with a journal of the server's", "", ATTACKER, 0700,
     true, SERVER_USER},
    {"a folder of the server's, open to all", "", SERVER_USER, 0777, true, SERVER_USER},
    {"a folder of the server's, sticky", "", SERVER_USER, 01777, true, SERVER_USER},
    {"a folder of the server's with a journal of the attacker's", "", SERVER_USER, 0700,
     true, ATTACKER},
    {"a journal that is a link", "l:$/journal>C/root/f0", ATTACKER, 0700, false,
     ATTACKER},
    {"a journal that is a FIFO", "p:$/journal", ATTACKER, 0700, false, ATTACKER},
    {"a journal that is a folder", "T:$/journal", ATTACKER, 0700, false, ATTACKER},
    {"a journal that is a link, in a folder of the server's", "l:$/journal>squat/real",
     SERVER_USER, 0700, false, ATTACKER},
    {"a journal that is a FIFO, in a folder of the server's", "p:$/journal",
     SERVER_USER, 0700, false, ATTACKER},
    {"a journal that has another name, too", "h:$/journal>squat/real", SERVER_USER,
     0700, false, ATTACKER},
    {"a folder that is a link", "", SERVER_USER, 0, false, ATTACKER},
};

static uid_t uid_of(const struct scene *s, enum whose whose)
{
    return whose == ATTACKER ? attacker_uid(s) : server_uid(s);
}

static void squatted(struct scene *s, const struct squat *q)
{
    static const char folder[] = "squat/" PX_JOURNAL_DIR "aBcDeF";
    char words[300] = "", *out = words, tmp[300];

    if (!case_begin(s, q->name))
        return;
    make(s, "d:squat o:squat>0:0 m:squat>1777 d:d f:d/x o:d>0:0");
    snprintf(tmp, sizeof(tmp), "%s", at(s, "squat"));
    write_journal(s, at(s, "squat/real"));
    if (q->mode) {
        if (mkdir(at(s, folder), 0700))
            die("cannot make %s", folder);
    } else {
        make(s, "l:squat/" PX_JOURNAL_DIR "aBcDeF>C/bait "
                "l:squat/" PX_JOURNAL_DIR "gHiJkL>C/root");
    }
    for (const char *p = q->make; *p; p++)
        out += sprintf(out, *p == '$' ? folder : "%c", *p);
    make(s, words);
    if (q->has_journal) {
        char *journal = strdup(at(s, "squat/" PX_JOURNAL_DIR "aBcDeF/journal"));

        write_journal(s, journal);
        give(journal, uid_of(s, q->journal_whose));
        free(journal);
    }
    give(at(s, "squat/real"), server_uid(s));
    if (q->mode) {
        give(at(s, folder), uid_of(s, q->whose));
        if (chmod(at(s, folder), q->mode))
            die("cannot change %s", folder);
    }
    in_server(s, server_uid(s), tmp, do_nothing);
    canary_stays(s);
    if (q->whose == ATTACKER || !q->mode) /* the server leaves foreign folders alone */
        stays(s, folder);
    expect_none_left(s);
    case_end(s);
}

/* Expects that a server removes a valid leftover in the place of the folders above. */
static void not_squatted(struct scene *s)
{
    struct px_journal_record r = {.type = PX_JOURNAL_ITEM,
                                  .kind = PX_RM_DIR,
                                  .flags = PX_RM_RECURSE,
                                  .scope = 1,
                                  .uid = USER,
                                  .gid = USER};
    char tmp[300];
    int fd;

    if (!case_begin(s, "what such a server has left in earnest"))
        return;
    make(s, "d:squat o:squat>0:0 m:squat>1777 T:top");
    snprintf(tmp, sizeof(tmp), "%s", at(s, "squat"));
    if (mkdir(at(s, "squat/" PX_JOURNAL_DIR "aBcDeF"), 0700))
        die("cannot make a folder");
    fd = begin_journal(at(s, "squat/" PX_JOURNAL_DIR "aBcDeF/journal"));
    r.path = at(s, "top");
    put_record(fd, &r);
    close(fd);
    give(at(s, "squat/" PX_JOURNAL_DIR "aBcDeF/journal"), server_uid(s));
    give(at(s, "squat/" PX_JOURNAL_DIR "aBcDeF"), server_uid(s));
    in_server(s, server_uid(s), tmp, do_nothing);
    gone(s, "top squat/" PX_JOURNAL_DIR "aBcDeF");
    expect_none_left(s);
    case_end(s);
}

void cases_squatters(struct scene *s)
{
    for (size_t i = 0; i < sizeof(squats) / sizeof(squats[0]); i++)
        squatted(s, &squats[i]);
    not_squatted(s);
}

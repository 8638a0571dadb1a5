/* SPDX-License-Identifier: BSD-3-Clause */
/* Cases in one row each: existing files, registered paths, files that must be gone afterwards, and files
 * that must stay. make, reg and at in hostile.h explain the words. */
#include "hostile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    FLAT = 1,       /* not recursive */
    LEAVE = 2,      /* keeps the top */
    REFUSED = 4,    /* the request is refused, and then nothing happens */
    AS_USER = 8,    /* tests the kernel's permissions: not with powers */
    ON_SERVER = 16, /* tests requests: only with a server */
    DOTS = 32,      /* refused where ".." is not resolved */
    POWERS = 64,    /* links of the client are not followed with root's powers */
    OUTSIDE = 128,  /* root is not the attacker: not in a container of the attacker */
    BARRED = 256,   /* a link on the way is not followed: refused by servers */
};

struct row {
    const char *name;
    const char *make, *reg, *gone, *stay;
    unsigned how;
};

#define NAME_255                                                      \
    "n23456789012345678901234567890123456789012345678901234567890123" \
    "n23456789012345678901234567890123456789012345678901234567890123" \
    "n23456789012345678901234567890123456789012345678901234567890123" \
    "n23456789012345678901234567890123456789012345678901234567890123..."

_Static_assert(sizeof(NAME_255) == 256, "as long as a name may be");

static const struct row rows[] = {
    /* Invalid paths. "T" checks that the whole request is refused. */
    {"slash", "T:top", "D:top D:=/", "", "top/f0", REFUSED},
    {"two slashes", "T:top", "D:top D:=//", "", "top/f0", REFUSED},
    {"slash dot", "T:top", "D:top D:=/.", "", "top/f0", REFUSED},
    {"slash dot dot", "T:top", "D:top D:=/..", "", "top/f0", REFUSED},
    {"slash as a file", "T:top", "D:top F:=/", "", "top/f0", REFUSED},
    {"relative", "T:top", "D:top F:=top/f0", "", "top/f0", REFUSED},
    {"relative with a dot", "T:top", "D:top F:=./top/f0", "", "top/f0", REFUSED},
    {"relative that climbs", "T:top", "D:top F:=../../etc/x", "", "top/f0", REFUSED},
    {"relative to keep", "T:top", "D:top K:=top/f0", "", "top/f0 top/f1", REFUSED},
    {"tilde", "T:top", "D:top D:=~/x", "", "top/f0", REFUSED},
    {"dot dot to /", "T:top", "D:top D:=/tmp/../..", "", "top/f0", REFUSED},
    {"dot dot to /proc", "T:top", "D:top D:=/tmp/../proc/self", "", "top/f0", REFUSED},
    {"/proc", "T:top", "D:top D:=/proc", "", "top/f0", REFUSED},
    {"/proc/self", "T:top", "D:top D:=/proc/self", "", "top/f0", REFUSED},
    {"a link of /proc", "T:top", "D:top D:=/proc/self/cwd/top", "", "top/f0", REFUSED},
    {"/proc with slashes", "T:top", "D:top D:=//proc//self/", "", "top/f0", REFUSED},
    {"/proc with dots", "T:top", "D:top D:=/./proc/1", "", "top/f0", REFUSED},
    {"/sys", "T:top", "D:top D:=/sys", "", "top/f0", REFUSED},
    {"control groups by name", "T:top", "D:top D:=/sys/fs/cgroup", "", "top/f0",
     REFUSED},
    {"/sys with dots", "T:top", "D:top D:=/.//sys/./kernel", "", "top/f0", REFUSED},
    {"a name of 256 bytes", "T:top", "D:top F:" NAME_255 "12345", "", "top/f0",
     REFUSED},

    /* Valid paths that look invalid. */
    {"dot dot at the end", "T:top f:x", "D:top/sub/..", "top", "x", DOTS},
    {"dot dot out of the folder", "T:top", "D:top D:top/../../canary/root", "top",
     "C/root/f0", DOTS},
    {"dot dot behind what is not there", "T:top", "F:nothing/../top/f0", "top/f0",
     "top/f1", DOTS},
    {"dot dot with slashes", "T:top", "F:top//..//top/f0", "top/f0", "top/f1", DOTS},
    {"dot dot to keep", "T:top", "D:top K:top/sub/../f0", "top/f1 top/sub", "top/f0",
     DOTS},
    {"dot dot behind an own link", "T:top d:a T:a/b l:way>a/b", "F:way/../b/f0",
     "a/b/f0", "top/f0 a/b/f1", DOTS},
    {"dot dot behind a link to the canary", "T:top l:way>C/root/sub",
     "D:top D:way/../f0 F:way/../f0", "top", "C/root/f0", DOTS},
    {"what is not there", "T:top", "F:none D:none F:top/none/x D:top", "top", "", 0},
    {"a name that begins as /proc", "", "D:=/proc-hostile/x D:=/systematic", "", "", 0},
    {"names of dots", "d:... f:.../x d:..x f:..x/y f:x..", "D:... D:..x F:x..",
     "... ..x x..", "", 0},
    {"a name of 255 bytes", "d:" NAME_255 " f:" NAME_255 "/" NAME_255, "D:" NAME_255,
     NAME_255, "", 0},
    {"trailing slashes", "T:top", "D:top///", "top", "", 0},
    {"doubled slashes", "T:top f:x", "D:.//top//sub F:.//x", "top/sub x", "top/f0", 0},
    {"dots inside", "T:top f:x", "D:./top/./sub/. F:././x", "top/sub x", "top/f0", 0},
    {"one folder in three spellings", "T:top", "D:top D:top/ D:.//top", "top", "", 0},
    {"names with newlines", "d:a\nb f:a\nb/c\nd f:e\n", "D:a\nb F:e\n", "a\nb e\n", "",
     0},
    {"names with control characters",
     "d:a\x1b[2J f:a\x1b[2J/\x07\x08\x7f f:\x01\x02\r\t", "D:a\x1b[2J F:\x01\x02\r\t",
     "a\x1b[2J \x01\x02\r\t", "", 0},
    {"names that are no UTF-8", "d:\xff\xfe f:\xff\xfe/\xc0\xaf\x80 f:\xed\xa0\x80",
     "D:\xff\xfe F:\xed\xa0\x80", "\xff\xfe \xed\xa0\x80", "", 0},
    {"a slash that is overlong UTF-8", "d:..\xc0\xaf.. f:..\xc0\xaf../x f:x",
     "D:..\xc0\xaf..", "..\xc0\xaf..", "x", 0},
    {"names that a shell would take", "d:* f:*/-rf f:$(id) f:;id f:`x` f:x f:%s%n",
     "D:* F:$(id) F:;id F:`x` F:%s%n", "* $(id) ;id `x` %s%n", "x", 0},
    {"a star is not a pattern", "f:a1 f:a2 d:d1 f:d1/x", "F:a* F:? D:d* D:*", "",
     "a1 a2 d1/x", 0},
    {"commas in names inside", "d:top f:top/a,b f:top/,", "D:top", "top", "", 0},
    {"commas in a name", "T:top f:a,b", "D:top F:a,b", "", "top/f0 a,b",
     REFUSED | ON_SERVER},
    {"nothing but a comma", "T:top", "D:top F:=,", "top", "", ON_SERVER},

    /* The rules of the RFC, where a mistake removes too much. */
    {"a tree", "T:top f:x", "D:top", "top", "x", 0},
    {"a tree not recursively", "T:top", "D:top", "top/f0 top/f3",
     "top top/sub top/sub/f0 top/sub/deep/f0", FLAT},
    {"a flat folder", "d:top f:top/a f:top/b", "D:top", "top", "", FLAT},
    {"the top left", "T:top", "D:top", "top/f0 top/sub top/empty", "top", LEAVE},
    {"the top left of three", "T:a T:b T:c", "D:a D:b D:c", "a/f0 b/sub c/empty",
     "a b c", LEAVE},
    {"a file kept", "T:top", "D:top K:top/sub/deep/f0", "top/f0 top/sub/f0 top/empty",
     "top/sub/deep/f0", 0},
    {"a folder kept with all in it", "T:top", "D:top K:top/sub", "top/f0 top/empty",
     "top/sub/f0 top/sub/deep/f0", 0},
    {"the top kept", "T:top", "D:top K:top", "", "top/f0 top/sub/deep/f0", 0},
    {"kept in another spelling", "T:top", "D:top K:top//sub/./f0/", "top/f0",
     "top/sub/f0", 0},
    {"kept through a link", "T:top l:way>top", "D:top K:way/f0", "top/f1", "way", 0},
    {"a folder as a file", "T:top d:e", "F:top F:e", "", "top/f0 e", 0},
    {"a file as a folder", "f:x f:y", "D:x D:y", "", "x y", 0},
    {"a folder inside another", "T:top", "D:top/sub D:top", "top", "", 0},

    /* Links. */
    {"a link as a file", "l:x>C/root/f0 l:y>C/bait", "F:x F:y", "x y", "", 0},
    {"a link as a folder", "l:x>C/bait", "D:x", "", "C/bait/f0", 0},
    {"a link as a folder, with a slash", "l:x>C/bait", "D:x/", "", "C/bait/f0", 0},
    {"a link as a folder, with a dot", "l:x>C/bait", "D:x/.", "", "C/bait/f0", 0},
    {"a link on the way to a file", "l:way>C/locked", "F:way/f0", "", "C/locked/f0 way",
     0},
    {"a link on the way to a folder", "l:way>C/locked", "D:way/sub", "",
     "C/locked/sub/f0 way", 0},
    {"a link on the way to a folder of root", "l:way>C/root", "D:way/sub F:way/f0", "",
     "C/root/sub/f0 C/root/f0 way", 0},
    {"two links on the way", "d:w l:w/x>C l:w/x2>w l:way>w",
     "D:way/x/locked/top D:w/x2/x", "", "C/locked/top/f0", 0},
    {"a link on the way to an own file", "T:real l:way>real", "F:way/f0 D:way/sub",
     "real/f0 real/sub", "real/f1 way", AS_USER},
    {"a link on the way, with powers", "T:real l:way>real", "F:way/f0 D:way/sub", "",
     "real/f0 real/sub/f0 way", POWERS},
    {"links that lead to links", "T:real l:a>real l:b>a d:d l:d/c>b", "F:d/c/f0",
     "real/f0", "real/f1 a b d/c", AS_USER},
    {"links on the way in a ring", "T:real l:a>b l:b>a l:c>c", "F:a/f0 D:c/sub", "",
     "real/f0 a b c", BARRED},
    {"an own link in a place like /tmp", "T:real d:t l:t/way>real o:t>0:0 m:t>1777",
     "F:t/way/f0", "real/f0", "real/f1 t/way", AS_USER},
    {"an own link that has two names", "T:real l:way>real h:way2>way", "F:way2/f0", "",
     "real/f0 way way2", OUTSIDE | BARRED},
    {"an own link where another may put it",
     "T:real d:t l:t/way>real o:t>12346:12346 m:t>777", "F:t/way/f0", "",
     "real/f0 t/way", BARRED},
    {"an own link where all may put it", "T:real d:t l:t/way>real o:t>0:0 m:t>777",
     "F:t/way/f0", "", "real/f0 t/way", BARRED},
    {"a link of another on the way", "T:real l:way>real o:way>12346:12346", "F:way/f0",
     "", "real/f0 way", BARRED},
    {"a link of root on the way", "T:real d:r l:r/way>real o:r/way>0:0 o:r>0:0",
     "F:r/way/f0", "real/f0", "real/f1 r/way", OUTSIDE},
    {"a link of root in an own folder", "T:real l:way>real o:way>0:0", "F:way/f0", "",
     "real/f0 way", OUTSIDE | BARRED},
    {"a link of root in a place like /tmp",
     "T:real d:t l:t/way>real o:t/way>0:0 o:t>0:0 m:t>1777", "F:t/way/f0", "",
     "real/f0 t/way", OUTSIDE | BARRED},
    {"a link of root to what is root's", "d:r l:r/way>C/root o:r/way>0:0 o:r>0:0",
     "F:r/way/f0 D:r/way/sub", "", "C/root/f0 C/root/sub/f0", OUTSIDE},
    {"links to the canary at every depth",
     "T:top l:top/r>C/root l:top/sub/b>C/bait l:top/sub/deep/m>C/mine l:top/empty/f>"
     "C/bait/f0 l:top/sub/deep/u>C",
     "D:top", "top", "C/bait/f0", 0},
    {"links up the tree",
     "T:top l:top/up>top l:top/sub/up>top l:top/sub/dot>=. "
     "l:top/sub/slash>=/ l:top/sub/dots>=../../../..",
     "D:top", "top", "", 0},
    {"links in a ring", "d:top l:top/a>top/b l:top/b>top/a l:top/c>top/c", "D:top",
     "top", "", 0},
    {"links to nowhere", "d:top l:top/a>top/none l:x>=none/", "D:top F:x", "top x", "",
     0},
    {"links into /proc", "d:top l:top/a>=/proc/self/root l:top/b>=/proc/1/cwd", "D:top",
     "top", "", 0},
    {"a link of another user inside", "T:top l:top/sub/x>C/bait o:top/sub/x>0:0",
     "D:top", "top/f0 top/sub/f0", "top/sub/x", 0},
    {"a hard link to a file of root", "T:top h:top/sub/x>C/root/f0", "D:top",
     "top/f0 top/sub/f0 top/sub/deep", "top/sub/x C/root/f0", 0},
    {"a hard link to a file of another", "h:x>C/other/f0 h:y>C/group/f0", "F:x F:y", "",
     "x y", 0},
    {"a hard link to an own file", "T:top h:top/sub/x>C/bait/f0", "D:top", "top",
     "C/bait/f0", 0},
    {"a file with many names", "f:x d:top h:top/a>x h:top/b>x h:top/c>x", "D:top",
     "top", "x", 0},

    /* Files of others. */
    {"a file of root inside", "T:top f:top/sub/x o:top/sub/x>0:0", "D:top",
     "top/f0 top/sub/f0 top/empty", "top/sub/x", 0},
    {"a file of another user inside", "T:top f:top/x o:top/x>12346:12346", "D:top",
     "top/f0 top/sub", "top/x", 0},
    {"a file of another user with the own group", "T:top f:top/x o:top/x>12346:12345",
     "D:top", "top/f0 top/sub", "top/x", 0},
    {"a file of the other group inside", "T:top f:top/sub/x o:top/sub/x>12345:12399",
     "D:top", "top/f0 top/sub/f0", "top/sub/x", 0},
    {"a file of group root inside", "T:top f:top/x o:top/x>12345:0", "D:top",
     "top/f0 top/sub", "top/x", 0},
    {"a folder of root inside", "T:top d:top/sub/x f:top/sub/x/y o:top/sub/x>0:0",
     "D:top", "top/f0 top/sub/f0", "top/sub/x/y", 0},
    {"a folder of another user inside, open to all",
     "T:top d:top/x f:top/x/y o:top/x>12346:12346 m:top/x>777", "D:top",
     "top/f0 top/sub", "top/x/y", 0},
    {"an empty folder of another inside", "T:top d:top/x o:top/x>12346:12346", "D:top",
     "top/f0 top/sub", "top/x", 0},
    {"a folder of the other group inside",
     "T:top d:top/x f:top/x/y o:top/x>12345:12399", "D:top", "top/f0 top/sub",
     "top/x/y", 0},
    {"the top is of another", "T:top o:top>12346:12346", "D:top", "", "top/f0 top/sub",
     0},
    {"the top is of the other group", "T:top o:top>12345:12399", "D:top", "",
     "top/f0 top/sub", 0},
    {"the folder of a bystander", "", "D:O D:O/top F:O/f0/f0 F:O/top/f0 D:O/top/sub",
     "", "O/top/f0 O/f0/f0 O/top/sub/deep/f0", 0},
    {"the canary itself", "", "D:C D:C/root D:C/other D:C/group D:C/mine F:C/root/f0",
     "", "C/mine/top/f0", 0},
    {"an own file in a folder of another, open to all",
     "d:d f:d/x o:d>12346:12346 m:d>777", "F:d/x", "d/x", "d", 0},
    {"an own file in a folder of root", "d:d f:d/x o:d>0:0", "F:d/x", "", "d/x",
     AS_USER},
    {"an own folder in a folder of root", "d:d T:d/x o:d>0:0", "D:d/x",
     "d/x/f0 d/x/sub", "d/x", AS_USER},
    {"behind a folder that may not be entered", "d:d T:d/x o:d>0:0 m:d>700",
     "D:d/x F:d/x/f0", "", "d/x/f0 d/x/sub/f0", AS_USER},
    {"a place like /tmp", "d:t f:t/a f:t/b o:t/b>12346:12346 T:t/c o:t>0:0 m:t>1777",
     "D:t", "", "t t/b", 0},
    {"an own file in a place like /tmp", "d:t f:t/a f:t/b o:t>0:0 m:t>1777", "F:t/a",
     "t/a", "t/b", 0},
    {"another's file in a place like /tmp",
     "d:t f:t/b o:t/b>12346:12346 T:t/c o:t/c>0:0 o:t>0:0 m:t>1777", "F:t/b D:t/c", "",
     "t/b t/c/f0", 0},
    {"an own sticky folder", "T:top m:top>1777 f:top/x o:top/x>12346:12346", "D:top",
     "top/f0 top/sub", "top/x", 0},
    {"a setgid folder of the own group", "T:top m:top>2755 f:top/y", "D:top", "top", "",
     0},
    {"a setgid folder of the other group",
     "T:top o:top/sub>12345:12399 m:top/sub>2775 f:top/sub/x o:top/sub/x>12345:12399",
     "D:top", "top/f0 top/empty", "top/sub/x top/sub", 0},

    /* Modes, attributes, odd kinds. */
    {"a file without read permission", "f:x m:x>0 d:top f:top/y m:top/y>0", "F:x D:top",
     "x top", "", 0},
    {"an empty folder without read permission", "T:top m:top/empty>0", "D:top",
     "top/empty top/f0", "", 0},
    {"a folder without read permission", "T:top m:top/sub>0", "D:top", "top/f0",
     "top/sub/f0", AS_USER},
    {"a folder without write permission", "T:top m:top/sub>555", "D:top",
     "top/f0 top/sub/deep/f0", "top/sub/f0", AS_USER},
    {"a setuid program", "d:top f:top/x m:top/x>6755", "D:top", "top", "", 0},
    {"an immutable file", "T:top i:top/sub/f0", "D:top", "top/f0 top/sub/f1",
     "top/sub/f0", 0},
    {"an append-only file", "T:top a:top/sub/f0", "D:top", "top/f0 top/sub/f1",
     "top/sub/f0", 0},
    {"an immutable folder", "T:top i:top/sub", "D:top", "top/f0 top/empty",
     "top/sub/f0 top/sub/f1", 0},
    {"an append-only folder", "T:top a:top/sub", "D:top", "top/f0 top/empty",
     "top/sub/f0 top/sub/f1", 0},
    {"FIFO, socket, device", "d:top p:top/p s:top/s n:top/n p:p s:s n:n",
     "D:top F:p F:s F:n", "top p s n", "", 0},
    {"FIFO, socket, device as folders", "p:p s:s n:n", "D:p D:s D:n D:p/x", "", "p s n",
     0},
    {"FIFO, socket, device on the way", "p:p s:s n:n", "F:p/x F:s/x D:n/x", "", "p s n",
     0},

    /* Mounts. */
    {"a folder of root mounted inside", "T:top b:top/sub>C/root", "D:top",
     "top/f0 top/empty", "C/root/f0 C/root/sub/f0 top/sub/f0", 0},
    {"an own folder mounted inside", "T:top b:top/sub>C/bait", "D:top",
     "top/f0 top/empty", "C/bait/f0 C/bait/sub/f0 top/sub/f0", 0},
    {"an own folder mounted deep inside", "T:top b:top/sub/deep>C/bait", "D:top",
     "top/f0 top/sub/f0", "C/bait/f0 top/sub/deep/f0", 0},
    {"a file mounted inside", "T:top b:top/sub/f0>C/bait/f0", "D:top",
     "top/f0 top/sub/f1", "C/bait/f0 top/sub/f0", 0},
    {"a part of the tree mounted in it again",
     "T:top T:elsewhere b:top/sub/deep>"
     "elsewhere",
     "D:top", "top/f0", "elsewhere/f0 elsewhere/sub/f0", 0},
    {"the tree mounted inside itself", "T:top b:top/sub/deep>top", "D:top",
     "top/f0 top/sub/f0", "top/sub/deep", 0},
    {"another file system inside", "T:top t:top/sub f:top/sub/x d:top/sub/y", "D:top",
     "top/f0 top/empty", "top/sub/x top/sub/y", 0},
    {"mounted over twice", "T:top t:top/sub b:top/sub>C/bait", "D:top", "top/f0",
     "C/bait/f0 top/sub/f0", 0},
    {"a folder of root mounted on the top", "T:top b:top>C/root", "D:top", "",
     "C/root/f0 C/root/sub/f0 top", 0},
    {"the top is another file system", "d:top t:top T:top/x f:top/y", "D:top",
     "top/x top/y", "top", 0},
    {"a file mounted on a registered file", "f:x b:x>C/root/f0", "F:x", "",
     "x C/root/f0", 0},
    {"a mount on the way", "d:way t:way T:way/top f:way/x", "D:way/top", "way/top",
     "way/x", 0},
    {"/proc mounted elsewhere", "d:p b:p>=/proc", "D:p D:p/self F:p/self/environ", "",
     "p/self", 0},
};

static void one(struct scene *s, const struct row *r)
{
    if ((r->how & AS_USER && s->level->powers) ||
        (r->how & POWERS && (!s->level->powers || s->level->contained)) ||
        (r->how & OUTSIDE && s->level->contained) ||
        (r->how & ON_SERVER && !s->level->server) || !case_begin(s, r->name))
        return;
    make(s, r->make);
    if (left_out(s)) {
        case_end(s);
        return;
    }
    reg(s, r->reg);
    s->recurse = !(r->how & FLAT);
    s->leave_top = r->how & LEAVE;
    bool refused = r->how & REFUSED || (r->how & DOTS && !s->level->resolves) ||
                   (r->how & BARRED && s->level->server);
    if (refused)
        sweep_refused(s);
    else
        sweep(s);
    if (!refused)
        gone(s, r->gone);
    stays(s, r->stay);
    case_end(s);
}

void cases_rows(struct scene *s)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i += each())
        one(s, &rows[i]);
}

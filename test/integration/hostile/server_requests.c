/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests in the name of others, and clients that end in odd ways. */
#include "server.h"

#define HELD_UP_S 3 /* less than a walk may hang: WALK_LIMIT */

/* User and orders of the client that the server's child starts. */
static uid_t client_uid;
static const char *client_orders;

static int one_client(struct scene *s)
{
    return run_client(s, client_uid, client_orders);
}

static const struct row {
    const char *name, *make, *reg;
    uid_t uid;
    const char *orders; /* of the program cleanup */
    const char *gone, *stay;
    enum {
        ANYHOW = 1,
        NOT_OWN = 2
    } how; /* ANYHOW: refused, or accepted without the invalid part */
} rows[] = {
    {"a client claims to be another user", "T:top", "D:O/top F:O/top/f0", USER,
     "user 12346 " REGISTERS, "", "O/top/f0 O/top/sub/f0", ANYHOW},
    {"a client claims to be root", "d:d f:d/x o:d>0:0", "D:C/root F:C/root/f0 F:d/x",
     USER, "user 0 " REGISTERS, "", "C/root/f0 d/x", ANYHOW},
    {"another user registers files of the attacker", "T:top", "D:top F:top/f0", OTHER,
     REGISTERS, "", "top/f0 top/sub/f0", NOT_OWN},
    {"a client that ends without a word", "T:top", "D:top", USER, "try exit", "top", "",
     0},
    {"a child keeps the client's connection open", "T:top", "D:top", USER,
     "try child exit", "top", "", 0},
    {"a client registers for all of its namespace", "T:top T:other", "D:top K:top/sub",
     USER, "job " REGISTERS, "top/f0", "top/sub/f0 other/f0", 0},
};

static void one(struct scene *s, const struct row *r)
{
    if ((r->how & NOT_OWN && s->level->own) || !case_begin(s, r->name))
        return;
    make(s, r->make);
    reg(s, r->reg);
    client_uid = r->uid;
    client_orders = r->orders;
    if (in_server(s, server_uid(s), NULL, one_client) && !(r->how & ANYHOW))
        bad(s, "the request was refused");
    gone(s, r->gone);
    stays(s, r->stay);
    case_end(s);
}

static int two_clients(struct scene *s)
{
    double begin;

    reg(s, "D:m/hangs");
    if (run_client(s, USER, REGISTERS))
        bad(s, "the request was refused");
    forget_regs(s);
    reg(s, "F:d/y");
    begin = now_s();
    if (run_client(s, OTHER, REGISTERS) || !soon(s, "d/y", false) ||
        now_s() - begin > HELD_UP_S)
        bad(s, "it took %.1f s", now_s() - begin);
    return 0;
}

/* Expects that a walk for another user ends while the attacker's walk hangs. */
static void held_up(struct scene *s)
{
    pid_t pid;

    if (s->level->own || !case_begin(s, "a walk that hangs does not delay others"))
        return;
    make(s, "T:top f:x o:x>12346:12346 d:d o:d>12346:12346 f:d/y o:d/y>12346:12346");
    pid = faulty_mount(s);
    if (!left_out(s)) {
        in_server(s, server_uid(s), NULL, two_clients);
        stays(s, "m/hangs x");
    }
    faulty_unmount(s, pid);
    case_end(s);
}

void cases_requests(struct scene *s)
{
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        one(s, &rows[i]);
    held_up(s);
}

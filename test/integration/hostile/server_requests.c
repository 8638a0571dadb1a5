/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests of which something must be refused, and clients that end in odd ways. */
#include "server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define MAX_ENTRIES 4096
#define HELD_UP_S   3 /* less than a walk may hang: WALK_LIMIT */

/* A client with these arguments, and the scene's registrations; refused if wanted so. */
static void client(struct scene *s, uid_t uid, bool refused, const char *const *words)
{
    struct args a;
    int rc;

    args_begin(&a);
    while (*words)
        args_add(&a, *words++, NULL);
    args_add_regs(&a, s);
    rc = run_client(s, uid, &a);
    args_end(&a);
    if ((rc == 3) != refused)
        bad(s, "the request was %s", rc == 3 ? "refused" : "taken");
}

#define WORDS(...)                      \
    (const char *const[])               \
    {                                   \
        __VA_ARGS__ __VA_OPT__(, ) NULL \
    }

static void of_others(struct scene *s)
{
    if (case_begin(s, "he claims to be another")) {
        make(s, "T:top");
        reg(s, "D:O/top F:O/top/f0");
        /* Whether the claim is refused or not heard is all the same. */
        struct args a;
        args_begin(&a);
        args_add(&a, "-u", "12346", NULL);
        args_add_regs(&a, s);
        run_client(s, USER, &a);
        args_end(&a);
        stays(s, "O/top/f0 O/top/sub/f0");
        case_end(s);
    }
    if (case_begin(s, "he claims to be root")) {
        struct args a;

        make(s, "d:d f:d/x o:d>0:0");
        reg(s, "D:C/root F:C/root/f0 F:d/x");
        args_begin(&a);
        args_add(&a, "-u", "0", NULL);
        args_add_regs(&a, s);
        run_client(s, USER, &a);
        args_end(&a);
        stays(s, "C/root/f0 d/x");
        case_end(s);
    }
    if (!s->level->own && case_begin(s, "another user registers what is his")) {
        make(s, "T:top");
        reg(s, "D:top F:top/f0");
        client(s, OTHER, false, WORDS());
        stays(s, "top/f0 top/sub/f0");
        case_end(s);
    }
    if (case_begin(s, "for a namespace that is not there")) {
        make(s, "T:top");
        reg(s, "D:top");
        client(s, USER, true, WORDS("-n", "no such namespace"));
        stays(s, "top/f0");
        case_end(s);
    }
    if (!s->level->contained && /* there root may */
        case_begin(s, "for the namespace of another user")) {
        make(s, "T:top");
        reg(s, "D:top");
        begin_nspace(s, OTHER, "somebody else's");
        client(s, USER, true, WORDS("-n", "somebody else's"));
        end_nspace(s, "somebody else's");
        stays(s, "top/f0");
        case_end(s);
    }
    if (!s->level->contained && case_begin(s, "for a namespace of root")) {
        make(s, "T:top d:d f:d/x o:d>0:0");
        reg(s, "D:top F:d/x");
        begin_nspace(s, 0, "root's");
        client(s, USER, true, WORDS("-n", "root's"));
        end_nspace(s, "root's");
        stays(s, "top/f0 d/x");
        case_end(s);
    }
}

static void contradictions(struct scene *s)
{
    static const struct {
        const char *name, *reg;
        const char *words[3];
    } all[] = {
        {"a file to remove and to keep", "D:top F:x K:x", {NULL}},
        {"a file to remove and to keep, spelled differently",
         "D:top F:.//x K:x/",
         {NULL}},
        {"a value of the wrong type", "F:x", {"-T", NULL}},
    };

    for (size_t i = 0; i < sizeof all / sizeof all[0]; i++) {
        if (!case_begin(s, all[i].name))
            continue;
        make(s, "T:top f:x");
        reg(s, all[i].reg);
        client(s, USER, true, all[i].words);
        stays(s, "top/f0 x");
        case_end(s);
    }
    if (case_begin(s, "commas between folders")) {
        make(s, "T:a T:b T:c");
        reg_path(s, REG_DIR, at(s, "a,"));
        size_t n = s->n_regs - 1;
        char both[1024];
        snprintf(both, sizeof both, "%s,%s", at(s, "a"), at(s, "b"));
        free(s->regs[n].path);
        s->regs[n].path = strdup(both);
        sweep(s);
        gone(s, "a b");
        stays(s, "c/f0");
        case_end(s);
    }
}

static void quotas(struct scene *s)
{
    char name[4000];

    if (case_begin(s, "4,096 entries")) {
        make(s, "d:many f:many/0 f:many/4095");
        for (int i = 0; i < MAX_ENTRIES; i++) {
            snprintf(name, sizeof name, "many/%d", i);
            reg_path(s, REG_FILE, at(s, name));
        }
        sweep(s);
        gone(s, "many/0 many/4095");
        stays(s, "many");
        case_end(s);
    }
    if (case_begin(s, "4,097 entries")) {
        make(s, "d:many f:many/0 f:many/4096");
        for (int i = 0; i <= MAX_ENTRIES; i++) {
            snprintf(name, sizeof name, "many/%d", i);
            reg_path(s, REG_FILE, at(s, name));
        }
        sweep_refused(s);
        stays(s, "many/0 many/4096");
        case_end(s);
    }
    if (case_begin(s, "more than a MiB of paths")) {
        make(s, "T:top");
        reg(s, "D:top");
        for (int i = 0; i < 300; i++) {
            size_t n = (size_t)snprintf(name, sizeof name, "%s/%d", s->home, i);

            while (n < 3800)
                n += (size_t)snprintf(name + n, sizeof name - n, "/%099d", i);
            reg_path(s, REG_FILE, name);
        }
        sweep_refused(s);
        stays(s, "top/f0");
        case_end(s);
    }
}

static void ends(struct scene *s)
{
    if (case_begin(s, "a client that ends without a word")) {
        make(s, "T:top");
        reg(s, "D:top");
        client(s, USER, false, WORDS("-x"));
        gone(s, "top");
        case_end(s);
    }
    if (case_begin(s, "a child keeps the client's connection open")) {
        make(s, "T:top");
        reg(s, "D:top");
        client(s, USER, false, WORDS("-x", "-c"));
        gone(s, "top");
        case_end(s);
    }
    if (case_begin(s, "he registers for all of his namespace")) {
        make(s, "T:top T:other");
        reg(s, "D:top K:top/sub");
        client(s, USER, false, WORDS("-n", ""));
        gone(s, "top/f0");
        stays(s, "top/sub/f0 other/f0");
        case_end(s);
    }
}

static void begin_client(struct scene *s, uid_t uid)
{
    struct args a;

    args_begin(&a);
    args_add_regs(&a, s);
    if (start_client(s, uid, &a))
        bad(s, "the request was refused");
    args_end(&a);
}

/* While his walk is held up, another user's is done. */
static void held_up(struct scene *s)
{
    double begin;
    pid_t pid;

    if (s->level->own || !case_begin(s, "a walk that hangs keeps nobody else"))
        return;
    make(s, "T:top f:x o:x>12346:12346 d:d o:d>12346:12346 f:d/y o:d/y>12346:12346");
    pid = faulty_mount(s);
    if (!left_out(s)) {
        reg(s, "D:m/hangs");
        begin_client(s, USER);
        forget_regs(s);
        reg(s, "F:d/y");
        begin = now_s();
        begin_client(s, OTHER);
        if (!soon(s, "d/y", false) || now_s() - begin > HELD_UP_S)
            bad(s, "it took %.1f s", now_s() - begin);
        await_idle(s);
        stays(s, "m/hangs x");
    }
    faulty_unmount(s, pid);
    case_end(s);
}

void cases_requests(struct scene *s)
{
    of_others(s);
    contradictions(s);
    quotas(s);
    ends(s);
    held_up(s);
}

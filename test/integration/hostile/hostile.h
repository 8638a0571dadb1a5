/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks on registered clean-up. A case makes a scene in the attacker's folder. A level (the walker
 * alone, or a whole server) removes files there. The case checks the removed and the remaining files. A
 * canary tree beside the folder is compared after every case. */
#ifndef TEST_HOSTILE_H
#define TEST_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define USER           12345 /* uid and gid of the attacker, which is the client */
#define USER_OTHER_GID 12399 /* another group of the attacker */
#define OTHER          12346 /* uid and gid of a bystander */

enum reg_kind { REG_FILE, REG_DIR, REG_KEEP };

struct reg {
    enum reg_kind kind;
    char *path;
};

struct scene;

/* A remover under test. */
struct level {
    const char *name;
    bool powers;    /* runs with root's powers, without the kernel's protection */
    bool server;    /* registers through a server, which may have limits of its own */
    bool no_wait;   /* rounds are slow: fewer of them */
    bool own;       /* the server belongs to the attacker, which may damage it */
    bool contained; /* in a user namespace of the attacker */
    bool janitor;   /* a server with a janitor, which outlives the server */
    bool resolves;  /* resolves ".." at registration */
    bool naive;     /* must lose */
    /* Registers s->regs in one request, and returns after the removal. False: the request was refused, and
     * nothing may be removed. */
    bool (*remove)(struct scene *s);
};

struct scene {
    const struct level *level;
    const char *name; /* of the case under way */
    char base[200];   /* all of it */
    char home[216];   /* the attacker's folder */
    char other[216];  /* the bystander's */
    char canary[216];
    struct reg *regs;
    size_t n_regs;
    bool recurse, leave_top;
    bool renames_open;   /* the file system renames files that are removed while open */
    bool flagged;        /* files have attributes that rm can not overcome */
    const char *missing; /* requirement of the case that this machine lacks */
    bool failed;
    unsigned timeout_s; /* limit of the removal */
    bool full_time;     /* servers have the same limit */
    double begun;
    unsigned n_cases, n_failed, n_left_out;
    uint64_t n_swaps, n_sweeps, n_removed;
};

/* scene.c ------------------------------------------------------------------------------ */

/* Begins a scene in a new mount namespace. Ends the program on failure. */
void scene_begin(struct scene *s, const struct level *level);
/* Prints the counts. Returns the exit status. */
int scene_end(struct scene *s);

/* Begins a case, and ends it with the common checks. case_begin returns false if the case is not selected
 * (HOSTILE_ONLY: a part of its name). */
bool case_begin(struct scene *s, const char *name);
void case_end(struct scene *s);
/* Ends the case without checks, and returns true, if s->missing is set. */
bool left_out(struct scene *s);
void bad(struct scene *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Cuts the next word off; NULL after the last. */
char *next_word(char **rest);
/* Returns the path of a name in a case: "C/..." in the canary, "O/..." in the bystander's folder, "=..."
 * unchanged, and any other name in the attacker's folder. Valid for 16 more calls. */
const char *at(const struct scene *s, const char *name);

/* Makes files as root, then gives them to the attacker. what: "verb:name[>argument]..." separated by spaces:
 *   d folder  f file  T a tree (TREE)  l link to  h hard link to  p FIFO  s socket  n device
 *   o owner "uid:gid"  m mode  i immutable  a append-only  b bind mount of  t tmpfs  B big folder
 */
void make(struct scene *s, const char *what);
/* Adds "D:name F:name K:name" to s->regs. */
void reg(struct scene *s, const char *what);
/* Adds one path unchanged. */
void reg_path(struct scene *s, enum reg_kind kind, const char *path);
void forget_regs(struct scene *s);
void gone(struct scene *s, const char *names);
void stays(struct scene *s, const char *names);
/* Lets the level remove s->regs, and expects that the request is accepted, or refused. */
void sweep(struct scene *s);
void sweep_refused(struct scene *s);

/* Forks, after flushing all output. */
pid_t fork_or_die(void);
/* Starts a process of the attacker that runs fn. */
pid_t spawn_user(void (*fn)(void *arg), void *arg);
/* Waits for a process, or kills it. Returns the exit status, or 128 + signal. */
int end_process(pid_t pid, bool kill_it);
/* Returns the first process after a pid with that begin of its name, in our pid namespace; or 0. */
pid_t find_process(const char *name_begin, pid_t after);
void become(uid_t uid, gid_t gid);
double now_s(void);
void wipe(struct scene *s, const char *path);
/* Makes TREE at a path that does not exist; false on failure. */
bool grow(const char *path, uid_t uid, gid_t gid);
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* canary.c ----------------------------------------------------------------------------- */

/* Makes the canary anew, and records it. */
void canary_make(struct scene *s);
/* Describes a difference from the record; NULL: none. */
const char *canary_differs(const struct scene *s);

/* faulty.c ----------------------------------------------------------------------------- */

/* Mounts the faulty file system at "m" in the attacker's folder. Returns 0 and sets s->missing if the
 * machine is without FUSE. */
pid_t faulty_mount(struct scene *s);
void faulty_unmount(struct scene *s, pid_t pid);

/* The cases ---------------------------------------------------------------------------- */

/* Returns HOSTILE_EACH: only each so many rows, points of swaps, and ways to change a tree are tested. */
size_t each(void);
void cases_rows(struct scene *s);
void cases_special(struct scene *s);
void cases_faulty(struct scene *s);
/* Runs the cases with swaps. total: number of swaps over all points. */
void cases_swaps(struct scene *s, uint64_t total);
/* Starts a process that exchanges two names for ever. */
pid_t spawn_swapper(struct scene *s, const char *a, const char *b);
/* decoy.c: a naive remover, which must lose. */
extern const struct level decoy;
void case_decoy(struct scene *s);

#endif

/* SPDX-License-Identifier: BSD-3-Clause */
/* Attacks on registered clean-up. A case makes a scene in the attacker's folder, has something
 * removed there by what is under test (a level: the walker alone, or a whole server), and says
 * what must be gone and what must stay. A canary tree beside it is compared after every case. */
#ifndef TEST_HOSTILE_H
#define TEST_HOSTILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define USER           12345 /* uid and gid of the attacker, who is the client */
#define USER_OTHER_GID 12399 /* another group of his */
#define OTHER          12346 /* uid and gid of a bystander */

enum reg_kind { REG_FILE, REG_DIR, REG_KEEP };

struct reg {
    enum reg_kind kind;
    char *path;
};

struct scene;

/* What removes. */
struct level {
    const char *name;
    bool powers;    /* it keeps root's powers: the kernel does not help it */
    bool server;    /* registered through a server, which may have limits of its own */
    bool no_wait;   /* rounds are dear: fewer of them */
    bool own;       /* it is the attacker's own: what he does to it is his affair */
    bool contained; /* in a user namespace of his */
    bool janitor;   /* a server that something outlives */
    bool resolves;  /* ".." at registration */
    bool naive;     /* must be beaten */
    /* Registers s->regs in one request, and returns when what was registered has been done.
     * False: the request was refused, and nothing may have happened. */
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
    bool renames_open;   /* the file system renames what is removed while it is open */
    bool flagged;        /* files have attributes that rm can not overcome */
    const char *missing; /* the machine has not what the case needs */
    bool failed;
    unsigned timeout_s; /* what removing may take */
    bool patient;       /* servers cut it off no sooner */
    double begun;
    unsigned n_cases, n_failed, n_left_out;
    uint64_t n_swaps, n_sweeps, n_removed;
};

/* scene.c ------------------------------------------------------------------------------ */

/* In a mount namespace of its own. Ends the program if that can not be. */
void scene_begin(struct scene *s, const struct level *level);
/* Prints the counts. The exit status. */
int scene_end(struct scene *s);

/* Everything for a case, and what is checked after it. case_begin is false if it is not selected
 * (HOSTILE_ONLY: a part of its name). */
bool case_begin(struct scene *s, const char *name);
void case_end(struct scene *s);
/* Instead of checks; if s->missing says what there is not, and then true. */
bool left_out(struct scene *s);
void bad(struct scene *s, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* Takes a word off; NULL: there are no more. */
char *next_word(char **rest);
/* The path that a name of a case means: "C/..." the canary's, "O/..." the bystander's, "=..." as
 * it is, else in the attacker's folder. Good for the next 16 calls. */
const char *at(const struct scene *s, const char *name);

/* "verb:name[>argument]..." separated by spaces; made by root, and then the attacker's:
 *   d folder  f file  T a tree (TREE)  l link to  h hard link to  p FIFO  s socket  n device
 *   o owner "uid:gid"  m mode  i immutable  a append-only  b bind mount of  t tmpfs  B big folder
 */
void make(struct scene *s, const char *what);
/* "D:name F:name K:name": added to s->regs. */
void reg(struct scene *s, const char *what);
/* Adds one path as it is. */
void reg_path(struct scene *s, enum reg_kind kind, const char *path);
void forget_regs(struct scene *s);
void gone(struct scene *s, const char *names);
void stays(struct scene *s, const char *names);
/* Has it removed, and expects that to be taken. */
void sweep(struct scene *s);
void sweep_refused(struct scene *s);

/* A child, with nothing of ours that is not printed yet. */
pid_t fork_or_die(void);
/* A process of the attacker; forever if fn does not return. */
pid_t spawn_user(void (*fn)(void *arg), void *arg);
/* Ends it; its exit status, or 128 + signal. */
int end_process(pid_t pid, bool kill_it);
/* The first process above after, of this pid namespace, where all are ours, whose name begins so; 0. */
pid_t find_process(const char *name_begin, pid_t after);
void become(uid_t uid, gid_t gid);
double now_s(void);
void wipe(struct scene *s, const char *path);
/* TREE, below an existing folder's name that does not exist. False: it could not. */
bool grow(const char *path, uid_t uid, gid_t gid);
void die(const char *fmt, ...) __attribute__((noreturn, format(printf, 1, 2)));

/* canary.c ----------------------------------------------------------------------------- */

/* Anew, if it is there; and records what it is. */
void canary_make(struct scene *s);
/* What differs from the record, in words, or NULL. */
const char *canary_differs(const struct scene *s);

/* faulty.c ----------------------------------------------------------------------------- */

/* Mounts it at "m" in the attacker's folder; what is there stands in faulty.c. 0 and s->missing if
 * the machine has no FUSE. */
pid_t faulty_mount(struct scene *s);
void faulty_unmount(struct scene *s, pid_t pid);

/* The cases ---------------------------------------------------------------------------- */

void cases_rows(struct scene *s);
void cases_special(struct scene *s);
void cases_faulty(struct scene *s);
/* total: swaps, over all points. */
void cases_swaps(struct scene *s, uint64_t total);
/* Exchanges two names for ever. */
pid_t spawn_swapper(struct scene *s, const char *a, const char *b);
/* A naive remover must lose. decoy.c */
extern const struct level decoy;
void case_decoy(struct scene *s);

#endif

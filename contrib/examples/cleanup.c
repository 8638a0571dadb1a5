/* SPDX-License-Identifier: BSD-3-Clause */
/* Clean-up of temporary files when a process ends, also after a crash or a kill.
 * Each rank makes a folder and a backing file. Two files of the folder are to stay.
 * The ranks share one more folder, which the server removes after the last rank.
 * Each rank prints its requests.
 *
 *     cleanup [FOLDER]      parent of all folders; default: $TMPDIR, or /tmp */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <pmix.h>

#define JOB_FOLDER "cleanup.job.folder"

static pmix_proc_t me, job;

static void check(pmix_status_t rc, const char *what)
{
    if (rc == PMIX_SUCCESS)
        return;
    fprintf(stderr, "cleanup: rank %u: %s: %s\n", me.rank, what, PMIx_Error_string(rc));
    exit(EXIT_FAILURE);
}

static void die_unless(bool good, const char *what)
{
    if (good)
        return;
    perror(what);
    exit(EXIT_FAILURE);
}

/* ---- files ---------------------------------------------------------------------- */

/* Returns "a" + "b" in malloc'd memory. */
static char *join(const char *a, const char *b)
{
    size_t n = strlen(a) + strlen(b) + 1;
    char *text = malloc(n);

    die_unless(text, a);
    snprintf(text, n, "%s%s", a, b);
    return text;
}

/* Makes a folder with a new name, and returns the path. */
static char *make_folder(const char *where)
{
    char *path = join(where, "/cleanup.XXXXXX");

    die_unless(mkdtemp(path), path);
    return path;
}

static void make_file(const char *folder, const char *name)
{
    char *path = join(folder, name);
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    die_unless(fd >= 0 && write(fd, "scratch\n", 8) == 8, path);
    close(fd);
    free(path);
}

/* ---- requests ------------------------------------------------------------------- */

static void print_request(const char *when, const pmix_info_t *info)
{
    const char *what = PMIX_CHECK_KEY(info, PMIX_REGISTER_CLEANUP)       ? "remove file"
                       : PMIX_CHECK_KEY(info, PMIX_REGISTER_CLEANUP_DIR) ? "remove tree"
                       : PMIX_CHECK_KEY(info, PMIX_CLEANUP_IGNORE)       ? "leave"
                                                                         : NULL;

    if (what)
        printf("rank %u: when %s has ended: %s %s\n", me.rank, when, what,
               info->value.data.string);
}

/* Asks the server to remove files at the end of who: one process, or all processes of a
 * job on this node. The server removes nothing yet. */
static void request(const pmix_proc_t *who, pmix_info_t *info, size_t n)
{
    pmix_info_t *results = NULL;
    size_t n_results = 0;

    check(PMIx_Job_control(who, 1, info, n, &results, &n_results), "job control");
    PMIX_INFO_FREE(results, n_results);
    for (size_t i = 0; i < n; i++) {
        print_request(who == &me ? "it" : "the job", &info[i]);
        PMIX_INFO_DESTRUCT(&info[i]);
    }
}

/* Makes the files after the request. A crash between the two leaves nothing. */
static void use_own_folder(const char *where)
{
    char *folder = make_folder(where);
    char *backing = join(folder, ".backing"); /* beside the folder, not in it */
    char *output = join(folder, "/output.txt");
    char *contact = join(folder, "/sub/contact.info");
    char *sub = join(folder, "/sub");
    bool yes = true;
    pmix_info_t info[5];

    PMIX_INFO_LOAD(&info[0], PMIX_REGISTER_CLEANUP_DIR, folder, PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
    PMIX_INFO_LOAD(&info[2], PMIX_REGISTER_CLEANUP, backing, PMIX_STRING);
    PMIX_INFO_LOAD(&info[3], PMIX_CLEANUP_IGNORE, output, PMIX_STRING);
    PMIX_INFO_LOAD(&info[4], PMIX_CLEANUP_IGNORE, contact, PMIX_STRING);
    request(&me, info, 5);

    die_unless(mkdir(sub, 0700) == 0, sub);
    make_file(backing, "");
    make_file(output, "");
    make_file(contact, "");
    make_file(folder, "/scratch");
    make_file(sub, "/scratch");
    free(sub);
    free(contact);
    free(output);
    free(backing);
    free(folder);
}

/* Makes a folder in rank 0. All ranks ask for the removal, which happens once. */
static void use_job_folder(const char *where)
{
    pmix_proc_t first = me;
    pmix_value_t *found = NULL;
    bool yes = true;
    pmix_info_t info[2], collect;

    if (me.rank == 0) {
        char *folder = make_folder(where);
        pmix_value_t value;

        PMIX_VALUE_LOAD(&value, folder, PMIX_STRING);
        check(PMIx_Put(PMIX_GLOBAL, JOB_FOLDER, &value), "put");
        check(PMIx_Commit(), "commit");
        PMIX_VALUE_DESTRUCT(&value);
        free(folder);
    }
    PMIX_INFO_LOAD(&collect, PMIX_COLLECT_DATA, &yes, PMIX_BOOL);
    check(PMIx_Fence(NULL, 0, &collect, 1), "fence");
    PMIX_INFO_DESTRUCT(&collect);
    first.rank = 0;
    check(PMIx_Get(&first, JOB_FOLDER, NULL, 0, &found), "get");

    PMIX_INFO_LOAD(&info[0], PMIX_REGISTER_CLEANUP_DIR, found->data.string,
                   PMIX_STRING);
    PMIX_INFO_LOAD(&info[1], PMIX_CLEANUP_RECURSIVE, &yes, PMIX_BOOL);
    request(&job, info, 2);

    char name[32];
    snprintf(name, sizeof(name), "/of-rank-%u", me.rank);
    make_file(found->data.string, name);
    PMIX_VALUE_RELEASE(found);
}

int main(int argc, char **argv)
{
    const char *where = argc > 1 ? argv[1] : getenv("TMPDIR");

    check(PMIx_Init(&me, NULL, 0), "init");
    PMIX_LOAD_PROCID(&job, me.nspace, PMIX_RANK_WILDCARD);
    if (!where || where[0] != '/') /* the server has another working directory */
        where = "/tmp";
    use_own_folder(where);
    use_job_folder(where);
    check(PMIx_Finalize(NULL, 0), "finalize");
    return EXIT_SUCCESS;
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* dirs make: the host has made directories for the job and for each rank, private and writable.
 * dirs told TOP: it has told of directories which may not be there. dirs none: of none. */
#include "client.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>

/* What it says of the job (rank WILDCARD) or of this rank, to be freed. */
static char *dir_of(const pmix_proc_t *p, const char *key)
{
    pmix_value_t *v = NULL;
    char *dir;

    GOOD(PMIx_Get(p, key, NULL, 0, &v));
    CHECK(v->type == PMIX_STRING && v->data.string[0] == '/');
    dir = strdup(v->data.string);
    PMIX_VALUE_RELEASE(v);
    return dir;
}

static void use(const char *dir)
{
    char path[512];
    struct stat st;
    int fd;

    CHECK(lstat(dir, &st) == 0 && S_ISDIR(st.st_mode));
    CHECK((st.st_mode & 07777) == 0700 && st.st_uid == geteuid());
    snprintf(path, sizeof path, "%s/scratch-of-%u", dir, me.rank);
    fd = open(path, O_CREAT | O_EXCL | O_WRONLY, 0600);
    CHECK(fd >= 0 && write(fd, "scratch", 7) == 7);
    close(fd);
    snprintf(path, sizeof path, "%s/sub-of-%u", dir, me.rank);
    CHECK(mkdir(path, 0700) == 0);
}

static bool is_below(const char *dir, const char *top)
{
    size_t n = strlen(top);

    return strncmp(dir, top, n) == 0 && dir[n] == '/';
}

static void made(void)
{
    char *top = dir_of(&everyone, PMIX_TMPDIR), *job = dir_of(&everyone, PMIX_NSDIR);
    char *own = dir_of(&me, PMIX_PROCDIR), rank[16];
    pmix_value_t *v = NULL;

    GOOD(PMIx_Get(&everyone, PMIX_TDIR_RMCLEAN, NULL, 0, &v));
    CHECK(v->type == PMIX_BOOL && v->data.flag);
    PMIX_VALUE_RELEASE(v);
    snprintf(rank, sizeof rank, "/%u", me.rank);
    CHECK(is_below(job, top) && is_below(own, job));
    CHECK(strcmp(own + strlen(own) - strlen(rank), rank) == 0);
    use(job);
    use(own);
    printf("DIRS %u %s %s\n", me.rank, job, own);
    free(top);
    free(job);
    free(own);
}

static void told(const char *top)
{
    char want[512], *dir = dir_of(&everyone, PMIX_TMPDIR);

    CHECK(strcmp(dir, top) == 0);
    free(dir);
    dir = dir_of(&everyone, PMIX_NSDIR);
    snprintf(want, sizeof want, "%s/job", top);
    CHECK(strcmp(dir, want) == 0);
    free(dir);
    dir = dir_of(&me, PMIX_PROCDIR);
    snprintf(want, sizeof want, "%s/job/%u", top, me.rank);
    CHECK(strcmp(dir, want) == 0);
    free(dir);
}

/* Where the server itself has its files is told by the host or not. */
static void of_the_server(void)
{
    char *server = dir_of(&everyone, PMIX_SERVER_TMPDIR);
    char *system = dir_of(&everyone, PMIX_SYSTEM_TMPDIR);

    CHECK(getenv("PMIX_SERVER_TMPDIR") && getenv("PMIX_SYSTEM_TMPDIR"));
    CHECK(strcmp(server, getenv("PMIX_SERVER_TMPDIR")) == 0);
    CHECK(strcmp(system, getenv("PMIX_SYSTEM_TMPDIR")) == 0);
    free(server);
    free(system);
}

int main(int argc, char **argv)
{
    const char *what = argc > 1 ? argv[1] : "make";
    pmix_value_t *v = NULL;

    begin();
    of_the_server();
    if (strcmp(what, "make") == 0)
        made();
    else if (strcmp(what, "told") == 0 && argc > 2)
        told(argv[2]);
    else
        EXPECT(PMIx_Get(&everyone, PMIX_NSDIR, NULL, 0, &v), PMIX_ERR_NOT_FOUND);
    barrier();
    if (getenv("DIRS_STAY"))
        sleep(30);
    return end("dirs");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* fill: registers a file that it makes, then long names without end, until the server has no room for
 * what it has to remember. All else goes on as before. The file is $FILL_FILE.RANK. */
#include "client.h"

#include <fcntl.h>

enum { LIMIT = 4096 }; /* names a process may register */

static pmix_status_t ask(const char *path)
{
    pmix_info_t info, *results = NULL;
    size_t n_results = 0;
    pmix_status_t rc;

    PMIX_INFO_LOAD(&info, PMIX_REGISTER_CLEANUP, path, PMIX_STRING);
    rc = PMIx_Job_control(&me, 1, &info, 1, &results, &n_results);
    PMIX_INFO_DESTRUCT(&info);
    PMIX_INFO_FREE(results, n_results);
    return rc;
}

static void make_file(const char *path)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    CHECK(fd >= 0);
    close(fd);
}

/* "/nonexistent/", folders with names of 199 bytes, and a number. */
static int fill(void)
{
    char path[1800] = "/nonexistent";
    size_t n = strlen(path);
    int i;

    while (n + 220 < sizeof(path)) {
        path[n] = '/';
        memset(path + n + 1, 'a', 199);
        n += 200;
    }
    for (i = 0; i < LIMIT; i++) {
        pmix_status_t rc;

        snprintf(path + n, sizeof(path) - n, "/%u.%d", me.rank, i);
        rc = ask(path);
        if (rc == PMIX_SUCCESS)
            continue;
        CHECK(rc == PMIX_ERR_OUT_OF_RESOURCE);
        EXPECT(ask(path), PMIX_ERR_OUT_OF_RESOURCE);
        break;
    }
    CHECK(i > 0);
    return i;
}

int main(void)
{
    const char *name = getenv("FILL_FILE");
    char path[256];
    uint32_t n;
    int took;

    begin();
    CHECK(name && snprintf(path, sizeof(path), "%s.%u", name, me.rank) < 250);
    GOOD(ask(path));
    make_file(path);
    barrier();
    took = fill();
    barrier();
    put_u32(PMIX_GLOBAL, "fill", me.rank);
    GOOD(PMIx_Commit());
    GOOD(fence_with_data());
    for (uint32_t r = 0; r < job_size; r++) {
        pmix_proc_t p = rank_of(r);

        GOOD(get_u32(&p, "fill", NULL, 0, &n));
        CHECK(n == r);
    }
    printf("took %d\n", took);
    return end("fill");
}

/* SPDX-License-Identifier: BSD-3-Clause */
/* hostile_innocent FILE: a rank that every millisecond does a fence of itself or a
 * look-up of a missing key, until a signal ends it. FILE gets two 64-bit numbers for
 * each call: the times of its begin and end, in nanoseconds of CLOCK_MONOTONIC. The end
 * of a call that has not returned is 0. */
#include <fcntl.h>
#include <pmix.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#define PAUSE_NS 1000000

static int64_t now_ns(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * INT64_C(1000000000) + t.tv_nsec;
}

/* Returns true if the call has the expected status. */
static bool call(const pmix_proc_t *self, unsigned turn)
{
    pmix_pdata_t missing;
    pmix_status_t rc;

    if (turn % 2 == 0)
        return PMIx_Fence(self, 1, NULL, 0) == PMIX_SUCCESS;
    PMIX_PDATA_CONSTRUCT(&missing);
    PMIX_LOAD_KEY(missing.key, "never-published");
    rc = PMIx_Lookup(&missing, 1, NULL, 0);
    PMIX_PDATA_DESTRUCT(&missing);
    return rc == PMIX_ERR_NOT_FOUND;
}

int main(int argc, char **argv)
{
    const struct timespec pause = {.tv_nsec = PAUSE_NS};
    int fd = argc == 2 ? open(argv[1], O_WRONLY | O_CREAT | O_CLOEXEC, 0600) : -1;
    pmix_proc_t self;

    if (fd < 0 || PMIx_Init(&self, NULL, 0)) {
        fprintf(stderr, "hostile_innocent: cannot begin\n");
        return 1;
    }
    for (unsigned turn = 0;; turn++) {
        int64_t times[2] = {now_ns(), 0};
        off_t at = (off_t)turn * (off_t)sizeof(times);

        if (pwrite(fd, times, sizeof(times), at) != sizeof(times))
            return 1;
        if (!call(&self, turn)) {
            fprintf(stderr, "hostile_innocent: a call has failed\n");
            return 1;
        }
        times[1] = now_ns();
        if (pwrite(fd, times, sizeof(times), at) != sizeof(times))
            return 1;
        nanosleep(&pause, NULL);
    }
}
